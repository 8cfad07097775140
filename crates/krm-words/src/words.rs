//! The English of events: what a merge tells gets its sentence here, and nowhere else.

use std::borrow::Cow;
use std::collections::BTreeSet;

use krm_job::config::one_of;
use krm_job::decision::Miss;
use krm_job::event::{
    Alike, AsText, Cause, Clash, ClashNote, ClashPlace, Counts, Did, Dispute, Event, FileForm, InTheWay, Inside,
    ItemFiles, Lacks, LeftUpstream, Majority, Margin, Missed, MovedResource, NoYaml, Noticed, RoleFault, RuleParts,
    Stays, TextForm, TextPlace, What, WhyUnread,
};
use krm_job::name::Name;
use krm_job::role::Role;
use krm_merge_core::host::ROLE;
use krm_merge_core::patch::PATCH;
use krm_merge_core::policy::Settled;
use krm_merge_core::warning::{Combined, CommentOf, EditLine, Notice, Replaced};
use krm_schema::grounds::Ground;
use krm_schema::immutable::Refuser;
use krm_schema::schema::{ASSOCIATIVE_KEYS, Basis, Inference, ListKind};
use krm_tree::sides::{Side, Sides};
use krm_yaml::{Kind, shown};

/// The names of the sides, as the functionConfig has them.
pub fn own_names() -> Sides<&'static str> {
    Sides::of(Side::name)
}

/// A resource as a whole, in a sentence.
const THE_RESOURCE: &str = "the resource";

/// The message about what happened, with these names for the sides in conflicts.
pub fn message(what: &What, names: Sides<&str>) -> String {
    match what {
        What::Said(text) | What::Differs(text, _) => text.clone(),
        What::Wrong { why, place } => at_place_of(place) + &inside(place) + why,
        What::Lacking { rest, place: Some(place), .. } if place.form == TextForm::File => {
            at_place_of(place) + &lacking(rest, place)
        }
        What::Lacking { whereabouts, rest, .. } => format!("{whereabouts} must have {rest}"),
        What::Conflict(clash) => format!("{}; {}", what_by(clash, names), outcome(clash)),
        What::Noticed(noticed) => of_notice(noticed),
        What::OtherKind { place, kinds, side } => {
            let [here, there] = kinds.map(|kind| kind.map_or("nothing", kind_of));
            let side = side.name();
            format!("`{place}` is {here} in dest, but {there} in {side}; took {side}'s")
        }
        What::Shortened { place, lost, by, rule, inside } => {
            let as_helm = if *inside == Inside::File { ", as with helm" } else { "" };
            let lost = counted(*lost, "element");
            let cause = match by {
                Some(ListKind::Set) => "krm-merge does not know that it is a set",
                Some(ListKind::Map(_) | ListKind::Atomic) => "krm-merge does not know its merge key",
                None => "it has no merge key",
            };
            let how = how_to_merge(by.as_ref(), rule.as_deref(), *inside);
            format!("`{place}` is replaced as a whole{as_helm}, and dest loses {lost}, because {cause}. {how}")
        }
        What::Commented { place, did, shown, stays } => {
            let told = changed_by(names, &format!("the comment{}", at_place(place)), *did);
            format!("{told}{}; {}", with_values(names, shown), in_words(*stays))
        }
        What::CommentsLost { of, count, place, shown } => {
            let place = at_place(place);
            let shown = shown.as_ref().map(|text| format!(": {text}")).unwrap_or_default();
            let (what, are, them) = match count {
                1 => ("a comment".to_owned(), "is", "it"),
                _ => (format!("{count} comments"), "are", "them"),
            };
            match of {
                Side::Updated => format!(
                    "{what} that upstream added{place} {are} not taken, because dest does not have the field or changed its line{shown}"
                ),
                Side::Dest | Side::Original => format!(
                    "{what} that only dest has{place} {are} lost, because the merge removes or replaces the text there{shown}. Copy {them} if you still need {them}"
                ),
            }
        }
        What::Refused { place, values, by } => refused(place, values, *by),
        What::Broken { place, to, cause } => broken(place, to, cause),
        What::Moved { from, to } => format!("moved from \"{from}\" to \"{to}\", as upstream moved it"),
        What::NotMoved { to } => {
            format!("not moved, because upstream moved it to \"{to}\", which is in another package. Move it by hand")
        }
        What::Followed { here, there } => followed(here, there, names.updated),
        What::AddedAs(new) => format!("added as `{new}`, because all resources of the package have names like this in dest"),
        What::AddedUnclear(unclear) => unclear_name(unclear),
        What::DeletedAs(original) => {
            format!("deleted, because upstream deleted {}, which has this name in dest", ticked(original))
        }
        What::MayHaveMoved { came, left, fate } => may_have_moved([came, left], *fate),
        What::LeftBehind { original } => format!(
            "upstream deleted {0}, and this resource has most of its text. If it is {0} under another name, delete it",
            ticked(original)
        ),
        What::Counts(Counts { merged, added, deleted, unchanged, conflicts }) => {
            let conflicts = counted(*conflicts, "conflict");
            format!("{merged} merged, {added} added, {deleted} deleted, {unchanged} unchanged; {conflicts}")
        }
        What::FileCounts { changed, added, deleted, conflicts } => format!(
            "files without resources: {changed} changed, {added} added, {deleted} deleted; {}",
            counted(*conflicts, "conflict")
        ),
        What::Added { source, alike } => {
            let hint = hint(alike.as_ref()).unwrap_or_default();
            format!("added as a new resource, because the package has no {}{hint}", ticked(source))
        }
        What::NoPartner { source, alike } => {
            let check = ". Check its apiVersion, kind, name and namespace, or select resources with a `target`";
            let hint = hint(alike.as_ref()).unwrap_or_else(|| check.to_owned());
            format!("no resource matches the patch for {}{hint}", ticked(source))
        }
        What::SourceIsItem { source, field } => format!(
            "`{field}` names this resource as the source, but the package has no other {} to merge it into. Name another file, or write the source as `yaml`",
            ticked(source)
        ),
        What::NoneSelected { aim, items: 0, .. } => {
            format!("{aim} must select at least one resource, but there are no resources")
        }
        What::NoneSelected { aim, targets, exclude, passed_over: 0, .. } => {
            let but = if *exclude == 0 { "" } else { " without being excluded" };
            format!(
                "{aim}: no resource matches {}{but}. A pattern must match the whole value: for a part of it, write `.*web.*`",
                targets.join(", or ")
            )
        }
        What::NoneSelected { aim, passed_over, .. } => {
            format!("{aim} matches only {}", configuring(*passed_over))
        }
        What::Selected { aim, count, passed_over } => {
            let selected = format!("{aim} selected {}", counted(*count, "resource"));
            match passed_over {
                0 => selected,
                _ => format!("{selected}, but not {}", configuring(*passed_over)),
            }
        }
        What::IdleExclude { name, target } => format!(
            "{name} excludes nothing, because no selected resource matches {target}. Check the names in it"
        ),
        What::NoPlace { aim, place } => {
            format!("{aim}: no resource that it applies to has `{place}`. Check the path")
        }
        What::GoneBefore(source) => format!("nothing to delete, because the package has no {}", ticked(source)),
        What::NotAdded(source) => format!("not merged, because the package has no {}", ticked(source)),
        What::Deleted(by) => format!("deleted by {by}"),
        What::United(into) => format!("removed, because it was merged into {into}, which has the same identity"),
        What::DeletedBefore => {
            "there is nothing to merge this source into, because an earlier source deleted its resource".to_owned()
        }
        What::UnknownType { of, inference } => unknown_type(of, *inference),
        What::Grounds { of, instead, lists } => merged_by(of, *instead, lists),
        What::IdleRule { rule, of: [api_version, kind], path, lacks } => {
            let lacks = match lacks {
                Lacks::Type => format!("is of the type `{api_version} {kind}`. Check its `apiVersion` and `kind`"),
                Lacks::List => {
                    format!("of the type `{api_version} {kind}` has a list `{}`. Check its `path`", path.join("."))
                }
            };
            format!("{rule} is not used, because no resource {lacks}")
        }
        What::IdleDecision { rule, miss, names } => idle_decision(rule, miss, *names),
        What::Deeper { side, folder } => {
            let side = side.name();
            format!(
                "the path of {side} is one directory too high: its Kptfile is in \"{folder}\", and dest's Kptfile is not. Let the path end with \"/{folder}\", or new files are written to \"{folder}/\""
            )
        }
        What::HasUpdated(commit) => format!(
            "dest already records the commit of updated, \"{commit}\" (`upstreamLock.git.commit`). Either this upgrade is done, or original and updated are swapped"
        ),
        What::OtherOriginal { commit, original } => format!(
            "original is the release of commit \"{original}\", but dest records the commit \"{commit}\" (`upstreamLock.git.commit`). Use the release of that commit as original"
        ),
        What::Apart { whereabouts, field, missed, stays } => apart(whereabouts, field, missed, *stays),
        What::FileMerged { form, how } => {
            format!("merged the changes of both sides to {} {}. Check the result", file(*form), how_of(*how))
        }
        What::Unreached { form, rules } => unreached(*form, rules),
        What::NotRead { place, why } => {
            format!("{place}: not read, because {}. The merge changes nothing there", unread(*why))
        }
        What::NotReadHere(path) => format!(
            "{path}: changed in updated, but not merged, because dest's file was not read. It is a symbolic link, `.krmignore` excludes it, or it belongs to another side of the merge"
        ),
        What::LeftOut { path, from } => {
            format!("{path}: new in {from}, but not added, because `.krmignore` excludes it")
        }
        What::StaysAt { here, to, why } => {
            let why = match why {
                InTheWay::Ignored => "`.krmignore` excludes that file",
                InTheWay::Unread => "that file of dest is not read",
                InTheWay::Other => "that file of dest holds something else",
            };
            format!("{here}: moved to {to} in updated, but not in dest, because {why}")
        }
        What::NeitherForm => "the file holds resources on another side, but not in updated, so it cannot be merged. Edit dest's file by hand, and remove the file from the other sides".to_owned(),
        What::DestIsAbove { folder, there, count } => format!(
            "the directory \"{folder}\" of dest has {there} of {} of original. Pass that directory as `--dest`, or the merge adds new files to the wrong directory",
            counted(*count, "resource")
        ),
        What::ReleaseInDest(folder) => format!(
            "the directory \"{folder}\" looks like another release of upstream, but it is merged as a part of dest. Move it out of dest, or delete it"
        ),
        What::Obeyed => "upstream changed this file, which git, GitHub or krm-merge obeys. Check it before you use the package".to_owned(),
        What::TakesRole(role) => format!(
            "upstream added the annotation `{ROLE}: {role}`, with which a function uses this resource as an input of a merge and removes it from the package. Check whether dest should have it"
        ),
        What::NoYaml(files) => no_yaml(files),
        What::NoMarkers { path, beside } => format!(
            "{path}: a file that is not text cannot have conflict markers. Dest's file is kept, and updated's is {beside}. To take updated's, use `resolve --take theirs`; to keep dest's, use `resolve --take ours`"
        ),
        What::NoConfig => "`functionConfig` must be given: a `Merge` of `krm-merge.dev/v1alpha1`, or a ConfigMap with `data.mode`. For kpt, add `--fn-config FILE` or `-- mode=two-way source=PATH` to `kpt fn eval`, or `configPath` to the pipeline".to_owned(),
        What::OneIdentity { items, folders } => one_identity(items, folders),
        What::Roles(fault) => of_roles(fault),
    }
}

/// Why nobody can say who plays which role.
fn of_roles(fault: &RoleFault) -> String {
    match fault {
        RoleFault::NotGiven(role) => {
            let name = role.name();
            format!("`spec.{name}` must be given, or items must have the annotation `{ROLE}: {name}`")
        }
        RoleFault::GivenTwice(role) => {
            let name = role.name();
            format!("`spec.{name}` must not be given, because `{name}` is already given beside the functionConfig")
        }
        RoleFault::NoMap(field) => format!("`{field}` must hold resources, which are maps"),
        RoleFault::JsonPatch(field) => {
            format!(
                "`{field}` must hold resources, which are maps. A JSON patch (RFC 6902) is not a resource: write it as `edits`"
            )
        }
        RoleFault::NoResources(field) => format!("`{field}` must hold at least one resource"),
        RoleFault::AllGone => {
            "updated has no resources, so the merge would delete all resources of original. Check the path".to_owned()
        }
        RoleFault::NoTarget(aim) => {
            format!("{aim} must have a `target` or `targets`, which select the resources to edit")
        }
        RoleFault::TwoFields { item, fields: [one, other] } => {
            format!("{item} must play one role, but `{one}` and `{other}` both select it")
        }
        RoleFault::NoItem { field, path, items } => {
            let why = match items {
                ItemFiles::Named => "",
                ItemFiles::NoItems => ", because the package has no items",
                ItemFiles::Unnamed => {
                    ", because no item names its file (kustomize gives no file names). Write the resources as `yaml`, or annotate them with `config.kubernetes.io/path`"
                }
            };
            format!("`{field}` must select at least one item, but no item of the package is in \"{path}\"{why}")
        }
        RoleFault::FieldAndAnnotation { item, field, role } => format!(
            "{item} must play one role, but `{field}` selects it and its annotation `{ROLE}` says `{}`",
            role.name()
        ),
        RoleFault::Filled { item, role } => format!(
            "{item} must not have the annotation `{ROLE}: {}`, because the functionConfig already says which items play that role",
            role.name()
        ),
        RoleFault::KindsApart { aim, sources: [one, other] } => format!(
            "{aim} must be for sources of one kind, because each selected resource gets all of them, but these are {one} and {other}. Write an input for each kind, or leave the target out and name the directory of the resources to change by `into`"
        ),
        RoleFault::OnlyNames { aim, source } => format!(
            "{aim} must be for a source that changes something, but {source} holds only apiVersion, kind, name or namespace, which a target never changes. To set the namespace, write `edits: [{{set: metadata.namespace, value: …}}]`"
        ),
        RoleFault::Annotation { mode, value } => {
            let names: Vec<&str> = Role::of(*mode).iter().map(|role| role.name()).chain(["dest"]).collect();
            format!("the annotation `{ROLE}` must be {} in mode `{mode:?}`, not \"{value}\"", one_of(&names))
        }
    }
}

/// A place in a text, at the beginning of a message.
fn at_place_of(TextPlace { text, position, form, .. }: &TextPlace) -> String {
    match form {
        TextForm::Input | TextForm::Unknown => format!("{text} {position}: "),
        TextForm::File => format!("{text}:{position}: "),
    }
}

/// The field that has the YAML with the place, at the beginning of a message.
pub fn inside(place: &TextPlace) -> String {
    place.inside.as_ref().map(|field| format!("{field}: ")).unwrap_or_default()
}

/// The message about a field that a resource lacks, behind the place of the resource.
pub fn lacking(rest: &str, place: &TextPlace) -> String {
    format!("{}{THE_RESOURCE} must have {rest}", inside(place))
}

/// What the sides did in a conflict.
pub fn what(clash: &Clash) -> String {
    what_by(clash, own_names())
}

/// The same, with these names for the sides.
pub fn what_by(clash: &Clash, names: Sides<&str>) -> String {
    let what = match &clash.dispute {
        Dispute::Value { at, did } => changed_by(names, &at_or_resource(at), *did),
        Dispute::Parts { at, parts } => {
            format!("both sides changed the {} of {}", parts.join(" and the "), at_or_resource(at))
        }
        Dispute::Apart { at, fields } => {
            let [of_dest, of_taken] = fields.each_ref().map(|fields| fields.join(" and the "));
            let Sides { updated, dest, .. } = names;
            let place = at_or_resource(at);
            format!("{dest} set the {of_dest} of {place} and {updated} set the {of_taken}, which exclude each other")
        }
        Dispute::Additions { at } => {
            format!("both sides added elements to {} at the same position", at_or_resource(at))
        }
        Dispute::Order { at, moved } => {
            let Sides { updated, dest, .. } = names;
            let place = at_or_resource(at);
            format!("{dest} and {updated} put elements of {place} in different orders ({})", listed(moved))
        }
        Dispute::Comment { at, did } => changed_by(names, &format!("the comment{}", at_place(at)), *did),
        Dispute::CommentOrOwner { at } => {
            let place = if at.is_empty() { String::new() } else { format!(" of `{at}`") };
            format!(
                "one side changed a comment{place}, and the other side changed this comment or the text that it belongs to"
            )
        }
        Dispute::Margin(margin) => {
            let Sides { updated, dest, .. } = names;
            let place = if *margin == Margin::Above { "above" } else { "below" };
            format!("{dest} and {updated} changed the comments {place} all resources in different ways")
        }
        Dispute::Resource { did } => {
            format!("{} ({})", changed_by(names, THE_RESOURCE, *did), listed(clash.fields()))
        }
        Dispute::Moves(paths) => {
            let paths = Sides::of(|side| Some(format!("it in \"{}\"", paths[side])));
            format!("both sides moved the resource{}", with_values(names, &paths))
        }
        Dispute::File { form, did } => changed_by(names, file(*form), *did),
        Dispute::MergedFile { form, how, overlaps } => {
            let changed = changed_by(names, file(*form), [Did::Changed; 2]);
            let at = if overlaps.is_empty() {
                String::new()
            } else {
                format!("; the changes overlap in {}", listed(overlaps))
            };
            format!("{changed}, and it was merged {}{at}", how_of(*how))
        }
    };
    what + &with_values(names, &clash.shown)
}

/// The place of a conflict.
pub fn place(clash: &Clash) -> String {
    match &clash.place {
        ClashPlace::Field(field) => field.clone(),
        ClashPlace::Fields(fields) => few(fields.clone()),
        ClashPlace::ItsFile => "its file".to_owned(),
        ClashPlace::File => "the file".to_owned(),
        ClashPlace::WholeFile => "the whole file".to_owned(),
    }
}

/// The outcome of a conflict.
pub fn outcome(clash: &Clash) -> String {
    let is_sum = |note: &&ClashNote| **note == ClashNote::Sum;
    let (last, notes): (Vec<_>, Vec<_>) = clash.notes.iter().partition(is_sum);
    let notes = notes.into_iter().chain(last).map(|note| match note {
        ClashNote::StandsNow(json) => format!(", so the value is {json} now"),
        ClashNote::Lacks(field) => {
            let side = if clash.settled == Settled::Deleted { "dest" } else { "upstream" };
            format!(", all of it, because the part that {side} changed lacks `{field}`, which its type requires")
        }
        ClashNote::Sum => "; this is a checksum of other content. Recompute it".to_owned(),
        ClashNote::Rule(rule) => format!(", as {rule} says"),
        ClashNote::NewestRule(rule) => format!(", the newer version, as {rule} says"),
        ClashNote::HasResources => ", because its resources stay in this file".to_owned(),
        ClashNote::Alien => ", because it looks unrelated to upstream's file of the same name".to_owned(),
        ClashNote::MadeBy(command) => {
            format!(", because the parts of a lock file belong together. Make it again with `{command}`")
        }
        ClashNote::SetBy(by) => format!("; the value in the cluster was set by {}", by.join(", ")),
    });
    of_settled(clash.settled).to_owned() + &notes.collect::<String>()
}

/// A place in a sentence.
fn at_or_resource(at: &str) -> Cow<'_, str> {
    if at.is_empty() { THE_RESOURCE.into() } else { format!("`{at}`").into() }
}

/// A text between back-quotes; nothing for an empty one.
fn ticked(text: &str) -> String {
    if text.is_empty() { String::new() } else { format!("`{text}`") }
}

/// A file, as a message calls it.
fn file(form: FileForm) -> &'static str {
    match form {
        FileForm::NoResources | FileForm::AsText(AsText::Document) => "the file (it holds no resources)",
        FileForm::NoResourcesAnyMore => "the file (it no longer holds resources)",
        FileForm::AsText(AsText::Unnamed) => {
            "the file (a resource in it has no `apiVersion`, no `kind` or no `metadata.name`)"
        }
        FileForm::AsText(AsText::Repeated) => "the file (a resource is in it more often on one side than on another)",
        FileForm::AsText(AsText::Mixed) => "the file (it holds resources on one side, and something else on another)",
    }
}

fn unreached(form: FileForm, rules: &[Name]) -> String {
    let why = match form {
        FileForm::AsText(AsText::Mixed) => "the file holds resources on one side and something else on another",
        FileForm::AsText(AsText::Repeated) => "a resource is in the file more often on one side than on another",
        FileForm::AsText(AsText::Unnamed) => {
            "a resource in the file has no `apiVersion`, no `kind` or no `metadata.name`, and the file did not merge by field"
        }
        FileForm::NoResources | FileForm::NoResourcesAnyMore | FileForm::AsText(AsText::Document) => {
            "the file did not merge by field"
        }
    };
    let rules: Vec<String> = rules.iter().map(Name::to_string).collect();
    format!("{why}, so rules do not apply inside it: {} decided nothing here", rules.join(", "))
}

fn unread(why: WhyUnread) -> &'static str {
    match why {
        WhyUnread::Link => "it is a symbolic link",
        WhyUnread::Submodule => "it is a git submodule",
        WhyUnread::Ignored => "`.krmignore` excludes it there",
        WhyUnread::IgnoredOrSide => "`.krmignore` excludes it there, or it is another side of the merge",
        WhyUnread::NoFile => "it is not a regular file",
    }
}

fn no_yaml(files: &[NoYaml]) -> String {
    let are = match files.iter().map(|of_reason| of_reason.places.len()).sum() {
        1 => "1 file is not valid YAML and is treated as a plain file".to_owned(),
        count => format!("{count} files are not valid YAML and are treated as plain files"),
    };
    let told = files.iter().map(|NoYaml { why, places }| format!("{}: {why}", places.join(", ")));
    format!("{are}, without resources: {}", told.collect::<Vec<_>>().join("; "))
}

/// The error for items of one identity in different folders, as in a base and an overlay of it.
fn one_identity([one, other]: &[String; 2], [base, overlay]: &[String; 2]) -> String {
    let so = match (base.is_empty(), overlay.is_empty()) {
        (false, false) => {
            format!("`source: [{{path: {overlay}, into: {base}}}]`, or `source={overlay} into={base}` in a ConfigMap")
        }
        (true, _) => format!("`source: [{{path: {overlay}}}]`, or `source={overlay}` in a ConfigMap"),
        (false, true) => format!("`source: [{{path: {base}}}]`, or `source={base}` in a ConfigMap"),
    };
    format!(
        "`source` must say which directory is merged into the others, because {one} and {other} have the same identity. Write {so}"
    )
}

/// What to do after a conflict that stopped the function, with a rule that would decide it.
pub fn next_step(conflict: &Event) -> String {
    let rule = rule_for(conflict).map(|rule| format!(", such as `{rule}` (or `take: Updated`),")).unwrap_or_default();
    format!(
        "next: write a rule for each conflict into `rules` of the functionConfig{rule} or resolve all with `onConflict: TakeUpdated` or `onConflict: KeepDest`"
    )
}

/// The line of `rules` by which dest wins a conflict; `None` if the line would need quotes for more than the path.
fn rule_for(conflict: &Event) -> Option<String> {
    let (resource, clash) = (conflict.resource_ref.as_ref()?, conflict.clash()?);
    let is_plain = |text: &str| {
        text.starts_with(|c: char| c.is_ascii_alphabetic())
            && text.chars().all(|c| c.is_ascii_alphanumeric() || "-.".contains(c))
    };
    if !is_plain(&resource.kind) || !is_plain(&resource.name) {
        return None;
    }
    // A conflict of a whole resource names no field.
    let path = match &clash.place {
        ClashPlace::Field(field) if conflict.field.is_some() => {
            Some(format!(", path: '{}'", field.replace('\'', "''")))
        }
        _ => None,
    };
    Some(format!(
        "{{target: {{kind: {}, name: {}}}{}, take: Dest}}",
        resource.kind,
        resource.name,
        path.unwrap_or_default()
    ))
}

/// A count with its noun, given in the singular: `1 file`, `2 files`.
pub fn counted(count: usize, one: &str) -> String {
    format!("{count} {one}{}", if count == 1 { "" } else { "s" })
}

/// The predicate of a sentence: `changed the file`.
fn predicate(did: Did, what: &str) -> String {
    match did {
        Did::Added => format!("added {what}"),
        Did::Changed => format!("changed {what}"),
        // It may have another name or merge key there. That original had it and this side has not is all that was compared.
        Did::Deleted => format!("does not have {what}"),
        Did::Cleared => format!("set {what} to null"),
        Did::ReplacedByResources => format!("replaced {what} by resources"),
    }
}

/// A clause that says which side did what, for a conflict: `both sides changed the file`, `updated set the field to null, and dest changed it`.
/// Dest comes first, or the one side that removed the value.
fn changed_by(names: Sides<&str>, what: &str, [dest, updated]: [Did; 2]) -> String {
    let (first, second) = ((names.dest, dest), (names.updated, updated));
    let (first, second) = match dest {
        _ if dest == updated => return format!("both sides {}", predicate(dest, what)),
        Did::Added | Did::Changed => (second, first),
        Did::Deleted | Did::Cleared | Did::ReplacedByResources => (first, second),
    };
    format!("{} {}, and {} {}", first.0, predicate(first.1, what), second.0, predicate(second.1, "it"))
}

/// The values of the sides, after a colon. A side without a value, or with a value that must not be shown, is left out.
fn with_values(names: Sides<&str>, Sides { original, updated, dest }: &Sides<Option<String>>) -> String {
    let values = [(names.dest, "has", dest), (names.updated, "has", updated), (names.original, "had", original)];
    let values = values.into_iter().filter_map(|(side, has, value)| Some(format!("{side} {has} {}", value.as_ref()?)));
    let values: Vec<String> = values.collect();
    if values.is_empty() { String::new() } else { format!(": {}", values.join(", ")) }
}

/// Says that dest's resource has another identity in updated, which `side` names.
fn followed(here: &str, there: &str, side: &str) -> String {
    let (here, there) = (ticked(here), ticked(there));
    format!(
        "{here} is {there} in {side}. They are merged as one resource that was renamed, and the edits of both sides are kept"
    )
}

/// Says that a new resource of upstream has upstream's name, and most others of dest have not.
fn unclear_name(unclear: &[Majority]) -> String {
    let one = |Majority { field, count, all, example: [old, new] }: &Majority| {
        let [old, new] = [old, new].map(|name| shown::name(name));
        format!("dest changed `{field}` of {count} of {all} resources, such as \"{old}\" to \"{new}\"")
    };
    let all = unclear.iter().map(one).collect::<Vec<_>>().join(", and ");
    format!("added with upstream's name and namespace, but {all}. Check whether this resource needs the same change")
}

/// The message for a new resource that may be a moved one, because a deleted one has the same kind and name, but another version, group or
/// file.
fn may_have_moved(resources: [&MovedResource; 2], fate: LeftUpstream) -> String {
    let called = |MovedResource { name, path }: &MovedResource| {
        let path = path.as_ref().map(|path| format!(" (\"{path}\")"));
        format!("{}{}", ticked(name), path.unwrap_or_default())
    };
    let [came, left] = resources.map(called);
    let (fate, so) = match fate {
        LeftUpstream::Kept => ("dest keeps", "copy the edits of dest to it"),
        LeftUpstream::Deleted => ("the merge deletes", "copy the edits of dest to it"),
        LeftUpstream::WasNotHere => ("dest does not have", "check whether dest needs it"),
    };
    format!("upstream added {came} and deleted {left}, which {fate}. If the new resource replaces the old, {so}")
}

/// Says why a rule decided nothing. It names only fields that the rule has, because only these can be wrong.
fn idle_decision(rule: &Name, miss: &Miss, names: RuleParts) -> String {
    let how = "Copy `path` from the message of the conflict, or leave it out for a conflict of a whole resource";
    let place = |place: &str| if place.is_empty() { THE_RESOURCE.into() } else { format!("`{place}`") };
    let over = "either its conflict is resolved, or";
    let why = match (miss, names) {
        (Miss::Value(side, at), _) => {
            let side = side.name();
            format!("{side}'s value of {} is not the value in `when.{side}`. Resolve the conflict again", place(at))
        }
        (Miss::Type(side, at), _) => {
            let side = side.name();
            format!(
                "{side}'s value of {} and `when.{side}` differ in type. Write a number without quotes (`1`) and a string with quotes (`\"1\"`)",
                place(at)
            )
        }
        (Miss::Place(at), _) => {
            format!(
                "the conflict of {} has the values of its `when`, but its `target` or `path` names another place. {how}",
                place(at)
            )
        }
        (Miss::Versions(at), _) => {
            format!(
                "the values of {} cannot be compared as versions. Add a rule with `take: Dest` or `take: Updated` for this field",
                place(at)
            )
        }
        (Miss::All, RuleParts::Nothing) => format!("{over} another rule decides it first"),
        (Miss::All, RuleParts::Path) => format!("{over} its `path` is wrong. {how}"),
        (Miss::All, RuleParts::Target) => format!("{over} its `target` is wrong"),
        (Miss::All, RuleParts::Both) => format!("{over} its `target` or `path` is wrong. {how}"),
    };
    format!("{rule} decided nothing: {why}")
}

fn of_notice(Noticed { place, notice, side }: &Noticed) -> String {
    match notice {
        Notice::Repeated => {
            format!("dest has `{place}` more than once, and only the first is merged. Remove the duplicates")
        }
        Notice::Unkeyed(reason) => format!("`{place}` is replaced as a whole, because {reason}"),
        Notice::Combined(how) => {
            format!("merged the changes of both sides to `{place}` {}. Check the result", how_of(*how))
        }
        Notice::Renamed { side, place: there } => format!(
            "`{place}` is `{there}` in {}. They are merged as one field or element that was renamed, with the changes of both sides. Check the result",
            side.name()
        ),
        Notice::Union(members) => format!(
            "after the merge, `{place}` has {members}, but the API server accepts only one of them. Remove the others"
        ),
        Notice::Incomplete(fields) => format!(
            "`{place}` is new in dest and lacks {fields}, so the API server will reject it. If you meant an existing element, correct the merge key. Otherwise, add {fields}"
        ),
        Notice::Replaced { what, lost, instead } => {
            let instead = edit_line(instead);
            let counted_as = |one: &str| counted(*lost, one);
            match what {
                Replaced::List => format!(
                    "`{place}` is replaced as a whole, and dest loses {} that {} does not name. To keep them, use `edits` with `{instead}`. To replace the list without this warning, add `- {PATCH}: replace` to it",
                    counted_as("element"),
                    side.name()
                ),
                Replaced::Text => format!(
                    "the multi-line string `{place}` is replaced as a whole, and dest loses {} in it that {} does not name. To keep them, use `edits` with `{instead}`",
                    counted_as("field"),
                    side.name()
                ),
            }
        }
        Notice::Namesake { name, other, instead } => format!(
            "`{place}` is new in dest and has the same name as `{other}`, {}, so the API server will reject it. Choose another name, or change `{other}` with `edits`: `{}`",
            shown::name(name),
            edit_line(instead)
        ),
        Notice::Ignored(reason) => format!("`{place}`: {reason}"),
        Notice::WrittenOut(alias) => format!(
            "`{place}`: the alias `{alias}` is replaced by its value, because the result does not have its anchor before it"
        ),
        // The others are events of their own.
        _ => at_or_resource(place).into_owned(),
    }
}

/// Says that a field changes that the API server does not let change.
fn refused(place: &str, values: &[Option<String>; 2], by: Refuser) -> String {
    let what = match values {
        [None, None] => format!("`{place}` changes"),
        [None, Some(is)] => format!("`{place}` was not set and becomes {is}"),
        [Some(was), None] => format!("`{place}` was {was} and is removed"),
        [Some(was), Some(is)] => format!("`{place}` changes from {was} to {is}"),
    };
    let who = match by {
        Refuser::Server => "the API server",
        Refuser::Definition => "the definition of this type",
    };
    format!(
        "{what}, but {who} does not allow this change of an existing object. Keep the value, or delete the object and create it again"
    )
}

/// Says that a reference leads nowhere after the merge.
fn broken(place: &str, to: &str, cause: &Cause) -> String {
    match cause {
        Cause::Deleted => {
            format!("`{place}` refers to {to}, which the merge deletes. Keep {to}, or remove the reference")
        }
        Cause::Renamed(new) => {
            format!("`{place}` refers to {to}, which is {new} after the merge. Change the reference")
        }
        Cause::NotHere => {
            format!("`{place}` refers to {to}, which updated has, but not dest. Add {to}, or remove the reference")
        }
        Cause::KeyRemoved(key) => format!(
            "`{place}` refers to the key \"{key}\" of {to}, which the merge removes. Keep the key, or change the reference"
        ),
    }
}

/// Which comment stays, in words.
fn in_words(stays: CommentOf) -> &'static str {
    match stays {
        CommentOf::Dest => of_settled(Settled::Dest),
        CommentOf::Winner => "the side that wins the conflict of the value keeps its comment",
    }
}

/// A place in a message; nothing for the whole resource.
fn at_place(place: &str) -> String {
    if place.is_empty() { String::new() } else { format!(" at `{place}`") }
}

/// How to merge a list that was replaced because no source says how it merges, with the line of `mergeKeys` that would merge it.
fn how_to_merge(by: Option<&ListKind<String>>, rule: Option<&str>, inside: Inside) -> String {
    let Some(rule) = rule else {
        return "To merge it, `mergeKeys` needs a field or values that tell its elements apart".to_owned();
    };
    let is_inferred =
        matches!(by, Some(ListKind::Map(keys)) if keys.iter().all(|key| ASSOCIATIVE_KEYS.contains(&&**key)));
    match by {
        _ if inside == Inside::Resource && is_inferred => {
            format!("To merge it instead, set `inferMergeKeys: true`, or add to `mergeKeys`: `{rule}`")
        }
        _ => format!("To merge it instead, add to `mergeKeys`: `{rule}`"),
    }
}

/// An edit as a line of `edits`.
fn edit_line(EditLine { does, place, value }: &EditLine) -> String {
    format!("{{{does}: '{}', value: {value}}}", place.replace('\'', "''"))
}

fn unknown_type([api_version, kind]: &[String; 2], inference: Inference) -> String {
    let (so, what_helps) = match inference {
        Inference::Off | Inference::Never => (
            "its lists are replaced as a whole, unless they look like lists of a built-in type. To merge them",
            "`openapi`, `mergeKeys` or `inferMergeKeys: true`",
        ),
        Inference::On => (
            "the merge keys of its lists are guessed from their elements, and a list without a key is replaced as a whole. To be sure",
            "`openapi` or `mergeKeys`",
        ),
    };
    format!(
        "no schema for `{api_version} {kind}`, so {so}, add its CustomResourceDefinition to the package, or set {what_helps} in the functionConfig"
    )
}

/// The message that says which source gave the merge keys of lists of a type.
fn merged_by([api_version, kind]: &[String; 2], instead: Option<&str>, lists: &BTreeSet<Ground>) -> String {
    let of = |basis: Basis| {
        let lists = lists.iter().filter(|ground| ground.basis == basis).map(|ground| {
            let path = ground.path.join(".");
            match ground.keys.as_slice() {
                [] => format!("`{path}` as a set"),
                keys => format!(
                    "`{path}` by {}",
                    keys.iter().map(|key| format!("`{key}`")).collect::<Vec<_>>().join(" and ")
                ),
            }
        });
        Some(few(lists.collect())).filter(|lists| !lists.is_empty())
    };
    let by_atlas = match instead {
        Some(version) => format!("as the public definition of {version} declares, the nearest version that is known"),
        None => "as its public definition declares".to_owned(),
    };
    let parts = [
        (Basis::Atlas, by_atlas),
        (Basis::Shape, "as the built-in types that they look like".to_owned()),
        (Basis::Inferred, "by a key that all elements have".to_owned()),
    ];
    let parts: Vec<String> =
        parts.into_iter().filter_map(|(basis, how)| Some(format!("{how} ({})", of(basis)?))).collect();
    format!("lists of `{api_version} {kind}` merged {}", parts.join(", and "))
}

/// Says that an item takes no part in the merge.
fn apart(whereabouts: &str, field: &str, missed: &Missed, stays: Stays) -> String {
    let what = match missed {
        Missed::Source => String::new(),
        Missed::SameInDest => ". Updated and dest are equal there".to_owned(),
        Missed::Unchanged => ". Upstream did not change it".to_owned(),
        Missed::Changed(places) => format!(". Upstream changed {} in it. Make this change by hand", listed(places)),
        Missed::New => ". It is new upstream. Add it by hand".to_owned(),
        Missed::Deleted => ". Upstream deleted it, and dest keeps it. Delete it by hand".to_owned(),
        Missed::Gone => ". Neither updated nor dest has it".to_owned(),
    };
    let becomes = if stays == Stays::Consumed { ". It is removed with the other inputs of the merge" } else { "" };
    format!("{whereabouts}: skipped, because it has no `{field}`{what}{becomes}")
}

/// Items that only configure, in words.
fn configuring(count: usize) -> String {
    let (configure, them, their) =
        if count == 1 { ("configures", "it", "its") } else { ("configure", "them", "their") };
    format!(
        "{} that only {configure} a tool (Kptfile, Kustomization, functionConfig, or `config.kubernetes.io/local-config`). To select {them}, name {their} kind",
        counted(count, "resource")
    )
}

/// Asks whether the user means another resource.
fn hint(alike: Option<&Alike>) -> Option<String> {
    let (identity, which) = match alike? {
        Alike::OtherNamespace(identity) => (identity, "which has another namespace".to_owned()),
        Alike::OtherVersion(identity) => (identity, "which has another apiVersion".to_owned()),
        Alike::OnlyOfKind(kind, identity) => (identity, format!("the only {kind}")),
    };
    Some(format!(". Did you mean `{identity}`, {which}?"))
}

/// The outcome of a conflict, in words.
fn of_settled(settled: Settled) -> &'static str {
    match settled {
        Settled::Updated => "took updated's",
        Settled::Delta => "added only the changes of updated",
        Settled::Both => "kept both, dest's first",
        Settled::Dest => "kept dest's",
        Settled::Deleted => "deleted it",
        Settled::StaysDeleted => "did not add it",
        Settled::StaysInPlace => "left it where dest has it",
        Settled::CutDown => "deleted upstream's part of it, and kept the part that dest added",
        Settled::OverlapOfUpdated => "took updated's where the changes overlap, and made all other changes",
        Settled::OverlapOfDest => "kept dest's where the changes overlap, and made all other changes",
        Settled::Open => "unresolved",
    }
}

/// The parts by which a value was merged, in words.
fn how_of(how: Combined) -> Cow<'static, str> {
    match how {
        Combined::Elements => "element by element".into(),
        Combined::Lines => "line by line".into(),
        Combined::Keys => "key by key".into(),
        Combined::Document => "as the document that it holds".into(),
        Combined::Parts(kind, side) => {
            let other = if side == Side::Dest { Side::Updated } else { Side::Dest };
            format!("with {}'s {} and {}'s {}", side.name(), kind.place(), other.name(), kind.version()).into()
        }
    }
}

/// The first places, quoted, and how many more there are.
fn listed(places: &[String]) -> String {
    few(places.iter().map(|place| format!("`{place}`")).collect())
}

/// The first texts, and how many more there are.
fn few(mut all: Vec<String>) -> String {
    const SHOWN: usize = 3;
    let more = all.len().saturating_sub(SHOWN);
    if more > 0 {
        all.truncate(SHOWN);
        all.push(format!("and {more} more"));
    }
    all.join(", ")
}

fn kind_of(kind: Kind) -> &'static str {
    match kind {
        Kind::Map => "a map",
        Kind::List => "a list",
        Kind::Scalar | Kind::Alias => "a scalar",
    }
}

#[cfg(test)]
mod tests;
