//! The English text of a [`Report`].

use std::borrow::Cow;
use std::collections::BTreeSet;

use krm_merge::package::{Majority, NameNote, NewName, Unclear};
use krm_merge::resource::{Identity, Resource};
use krm_merge_core::parts::Composed;
use krm_merge_core::patch::PATCH;
use krm_merge_core::policy::{OnConflict, Settled, Treatment};
use krm_merge_core::refine::{lines_apart, source_lines};
use krm_merge_core::warning::{Combined, CommentOf, EditLine, Notice, Replaced, Warning};
use krm_schema::grounds::Ground;
use krm_schema::immutable::{Refused, Refuser};
use krm_schema::reference::{NamedResource, Reference};
use krm_schema::schema::{ASSOCIATIVE_KEYS, Basis, Inference, ListKind, ListRule};
use krm_tree::child::{Value as _, find, nearest};
use krm_tree::limit::Budget;
use krm_tree::path::{FieldPath, Step, cut};
use krm_tree::sides::{Side, Sides};
use krm_tree::splice::{json_of, to_json};
use krm_tree::tree::{Conflict, Taking, Tree, View};
use krm_yaml::secret::Secret;
use krm_yaml::{Kind, NodeRef, shown};

use super::{Clash, Field, IDLE_RULE, OTHER_ORIGINAL, Outcome, Severity, own_tag, value_of};
use crate::aim::Aim;
use crate::config::{NamedRule, Role};
use crate::decision::{Idle, Miss, Ruling};
use crate::report::{About, Alike, Cause, Counts, Lacks, LeftUpstream, Missed, Report, Stays};
use crate::target::Target;

/// A resource as a whole, in a sentence.
const THE_RESOURCE: &str = "the resource";

/// What to do after a conflict that stopped the function, with a rule that would decide it.
pub fn next_step(conflict: &Outcome) -> String {
    let rule = rule_for(conflict).map(|rule| format!(", such as `{rule}` (or `take: Updated`),")).unwrap_or_default();
    format!(
        "next: write a rule for each conflict into `rules` of the functionConfig{rule} or decide all with `onConflict`: TakeUpdated or KeepDest"
    )
}

/// The line of `rules` by which dest wins a conflict; `None` if the line would need quotes for more than the path.
fn rule_for(conflict: &Outcome) -> Option<String> {
    let (resource, clash) = (conflict.resource_ref.as_ref()?, conflict.clash.as_ref()?);
    let is_plain = |text: &str| {
        text.starts_with(|c: char| c.is_ascii_alphabetic())
            && text.chars().all(|c| c.is_ascii_alphanumeric() || "-.".contains(c))
    };
    if !is_plain(&resource.kind) || !is_plain(&resource.name) {
        return None;
    }
    // A conflict of a whole resource names no field.
    let path = conflict.field.as_ref().map(|_| format!(", path: '{}'", clash.place.replace('\'', "''")));
    Some(format!(
        "{{target: {{kind: {}, name: {}}}{}, take: Dest}}",
        resource.kind,
        resource.name,
        path.unwrap_or_default()
    ))
}

impl Outcome {
    /// The result for an event of a run. The values that it shows are taken from the budget.
    pub fn of(report: &Report<'_, '_>, budget: &Budget) -> Self {
        Self::in_words_of(Sides::of(Side::name), report, budget)
    }

    /// The result for an event of a run, with these names for the sides in messages about conflicts.
    pub fn in_words_of(names: Sides<&str>, report: &Report<'_, '_>, budget: &Budget) -> Self {
        let info = |message: String| Self::new(Severity::Info, message);
        let error = |message: String| Self::new(Severity::Error, message);
        let done = |message: String| Self { is_done: true, ..info(message) };
        match report {
            Report::Conflict { dest, conflict, ruling } => of_conflict(names, conflict, *dest, *ruling, budget),
            Report::Warning { about, warning, side } => of_warning(warning, *about, *side, budget),
            Report::Refused { dest, refused } => of_refused(refused, *dest, budget),
            Report::Broken { about, reference, cause } => of_broken(about, reference, cause),
            Report::DeletedUpstream { dest, places, original, ruling } => {
                let what = &changed_by(names, THE_RESOURCE, [Did::Changed, Did::Deleted]);
                let settled = ruling.treatment.settled(&Taking::Deletion);
                let told = of_resource(dest, what, places, original, *ruling, settled);
                Self { here: Some(dest.node().start()), ..told }
            }
            Report::DeletedHere { updated, places, original, ruling } => {
                let what = &changed_by(names, THE_RESOURCE, [Did::Deleted, Did::Changed]);
                of_resource(updated, what, places, original, *ruling, ruling.treatment.settled_as(Settled::StaysDeleted))
            }
            Report::Moved { dest, to } => moved(dest, to),
            Report::NotMoved { dest, to } => {
                let message = format!(
                    "upstream moved it to \"{to}\", in another package: move it by hand, because it stays where it is"
                );
                Self::new(Severity::Warning, message).about(dest)
            }
            Report::Followed { dest, updated } => info(followed(dest, updated, "updated")).about(dest),
            Report::Renamed(note) => of_rename(note),
            Report::MovedApart { dest, from, to, ruling } => moved_apart(dest, from, to, *ruling),
            Report::MayHaveMoved { came, left, fate } => info(may_have_moved(came, left, *fate)).about(came),
            Report::LeftBehind { dest, original } => {
                let was = known(original);
                let message = format!(
                    "upstream deleted {was}, and this resource has most of its text: delete it if it is the same one under another name"
                );
                Self::new(Severity::Warning, message).about(dest)
            }
            Report::Counts(counts) => of_counts(*counts),
            Report::Added { source, alike } => added(source, *alike),
            Report::NoPartner { source, alike } => {
                error(format!("a patch must hit an item, and no item is {}{}", named(source), hint(*alike)))
                    .about(source)
            }
            Report::SourceIsItem { source, field } => error(format!(
                "`{field}` must name the source of a merge into other items, but this item is all that is {}: name another file, or give the source as `yaml`",
                named(source)
            ))
            .about(source),
            Report::NoneSelected { aim, items: 0, .. } => error(format!("{} must select at least one item, and no resource is there", aim.name)),
            Report::NoneSelected { aim, passed_over, .. } => error(none_selected(aim, *passed_over)),
            Report::Selected { aim, count, passed_over } => done(selected(aim, *count, *passed_over)),
            Report::IdleExclude(target) => info(format!(
                "{} leaves out no item, for none that is selected fits {target}: look whether a name in it is wrong",
                target.name()
            )),
            Report::NoPlace { aim, place } => {
                let is = if aim.targets.is_empty() { "is for" } else { "selected" };
                info(format!("no item that {} {is} has the place `{place}`: look at the path", aim.name))
            }
            Report::GoneBefore(source) => {
                info(format!("nothing is left to delete, for no item is {}", named(source))).about(source)
            }
            Report::NotAdded(source) => {
                info(format!("not merged, for no item is {}", named(source))).about(source)
            }
            Report::Deleted { dest, source } => done(format!("deleted by {}", source.origin)).about(dest),
            Report::United { dest, into } => united(dest, into),
            Report::DeletedBefore(item) => {
                let message = "a source must have an item to be merged into, and one before it deleted this one";
                error(message.to_owned()).about(item)
            }
            Report::UnknownType { api_version, kind, inference } => info(unknown_type(api_version, kind, *inference)),
            Report::Grounds { api_version, kind, instead, lists } => info(merged_by([api_version, kind], *instead, lists)),
            Report::IdleRule { rule, lacks } => {
                let NamedRule { name, rule: ListRule { api_version, kind, path, .. } } = rule;
                let lacks = match lacks {
                    Lacks::Type => format!("is of the type `{api_version} {kind}`"),
                    Lacks::List => format!("of the type `{api_version} {kind}` has a list `{}`", path.join(".")),
                };
                info(format!("{name} is not used, for no resource {lacks}"))
            }
            Report::IdleDecision(idle) => idle_decision(idle),
            Report::Deeper { about, side, folder } => deeper(about, *side, folder),
            Report::HasUpdated { dest, commit } => info(has_updated(commit)).about(dest),
            Report::OtherOriginal { dest, commit, original } => other_original(commit, original).about(dest),
            Report::Apart { item, missed, stays } => apart(item, missed, *stays),
        }
    }
}

/// The result for a conflict at a place. For a Secret the message shows no values, because messages go into the logs of pipelines. The
/// fields of the result have the values, because a user asks for the results.
fn of_conflict(
    names: Sides<&str>,
    conflict: &Conflict<'_>,
    about: About<'_, '_>,
    ruling: Ruling<'_>,
    budget: &Budget,
) -> Outcome {
    let (resource, is_secret) = (about.resource, about.hides(&conflict.path));
    // If the budget is used up, the result is not written.
    let json = |node: NodeRef<'_>| behind_tag(Some(node), to_json(node, budget).unwrap_or_default());
    // If changes overlap, or parts merge, the value in the conflict also holds changes of updated. Dest's own value shows what dest changed.
    let overlaps =
        matches!(conflict.taking, Taking::Overlap | Taking::Both(_)) || matches!(conflict.dest, Some(Tree::Made(_)));
    let own = if overlaps { find(resource.node(), &conflict.path).map(Tree::Node) } else { None };
    let in_dest = own.as_ref().or(conflict.dest.as_ref());
    let dest =
        in_dest.map(|dest| behind_tag(dest.view().and_then(View::like), json_of(dest, budget).unwrap_or_default()));
    let (original, updated) = (conflict.original.map(json), conflict.updated.map(json));
    let start = first_difference([&dest, &original, &updated].into_iter().flatten());
    let texts = Sides {
        original: conflict.original.map(View::Node),
        updated: conflict.updated.map(View::Node),
        dest: in_dest.and_then(Tree::view),
    };
    let place = if conflict.path.is_empty() { THE_RESOURCE.into() } else { format!("`{}`", conflict.path.shown()) };
    let what = match &conflict.taking {
        Taking::Order(moved) => {
            let moved: Vec<String> = moved.iter().map(FieldPath::shown).collect();
            let Sides { updated, dest, .. } = names;
            format!("{dest} and {updated} put elements of {place} in different orders ({})", listed(&moved))
        }
        Taking::Comments(texts) => {
            let (place, texts) = (conflict.path.shown(), Sides::of(|side| texts[side].as_str()));
            // A comment next to a secret value may hold an older value.
            if is_secret { at_comment(names, &place, texts) } else { contradicting(names, &place, texts) }
        }
        Taking::Value | Taking::Delta | Taking::Deletion | Taking::CutDown | Taking::Overlap | Taking::Both(_) => {
            let values = Sides { original: original.as_ref(), updated: updated.as_ref(), dest: dest.as_ref() };
            let did = Sides::of(|side| did(values.original, values[side]));
            let is_shown = |side: Side| side == Side::Original || did[side] != Did::Cleared;
            let shown = |side: Side| values[side].filter(|_| is_shown(side) && !is_secret);
            let lines = lines_in_conflict(texts);
            let words = |side: Side, json| lines[side].clone().unwrap_or_else(|| brief(json, start));
            let shown = Sides::of(|side| shown(side).map(|json| words(side, json)));
            let outcomes = [&conflict.dest, &conflict.taken].map(|tree| tree.as_ref().and_then(Tree::view));
            let parts = match (&conflict.taking, outcomes) {
                (Taking::Overlap, [Some(dest), Some(taken)]) => differing(dest, taken),
                _ => parts_apart(&conflict.path, texts),
            };
            let what = match &conflict.taking {
                Taking::Both(_) => format!("both sides added elements to {place} at one place"),
                _ if !parts.is_empty() => {
                    let of = |side: usize| {
                        let has = |name: &&&str| outcomes[side].is_some_and(|map| map.field(name).is_some());
                        parts.iter().filter(has).copied().collect::<Vec<_>>()
                    };
                    let [of_dest, of_taken] = [of(0), of(1)];
                    let are_apart = !of_dest.is_empty() && of_dest.iter().all(|name| !of_taken.contains(name));
                    if are_apart && !of_taken.is_empty() {
                        let [dest, updated] = [(names.dest, of_dest), (names.updated, of_taken)]
                            .map(|(side, fields)| format!("{side} the {}", fields.join(" and the ")));
                        format!("the sides set what does not go together in {place}, {dest} and {updated}")
                    } else {
                        format!("both sides changed the {} of {place}", parts.join(" and the "))
                    }
                }
                _ => changed_by(names, &place, [did.dest, did.updated]),
            };
            what + &with_values(names, shown)
        }
    };
    let field = Field {
        path: conflict.path.indexed(),
        current_value: in_dest.and_then(Tree::view).map(|view| value_of(view, budget)),
        proposed_value: conflict.updated.map(|node| value_of(View::Node(node), budget)),
    };
    let is_of_value = !matches!(conflict.taking, Taking::Comments(_));
    let field = (is_of_value && !conflict.path.is_empty()).then_some(field);
    let settled = match (&conflict.taking, conflict.comments) {
        (Taking::Comments(_), None) => ruling.treatment.settled_as(Settled::Dest),
        (taking, _) => ruling.treatment.settled(taking),
    };
    let more = more_of(conflict, settled, |tree| json_of(tree, budget).ok().filter(|_| !is_secret));
    let more = if is_sum(&conflict.path) { more + SUM } else { more };
    let clash = Clash { place: conflict.path.keyed(), what, settled, more };
    let outcome = of_clash(ruling, clash).about(resource).with_original(original);
    let here = conflict.dest.as_ref().and_then(Tree::like).unwrap_or_else(|| nearest(resource.node(), &conflict.path));
    Outcome { field, here: Some(here.start()), is_secret, ..outcome }
}

/// A value as JSON, with the tag that the value has in YAML.
fn behind_tag(node: Option<NodeRef<'_>>, json: String) -> String {
    node.and_then(own_tag).map_or_else(|| json.clone(), |tag| format!("{tag} {json}"))
}

/// The advice for a sum.
const SUM: &str = ", but it is a sum of other content: make it again";

/// Whether a value is a sum of other content, which neither side's change can give. Source: the annotations `checksum/…` of Helm's "Automatically
/// Roll Deployments".
fn is_sum(path: &FieldPath<'_>) -> bool {
    matches!(path.steps().last(), Some(Step::Field(name)) if name.starts_with("checksum/"))
}

/// The fields in which two maps differ.
fn differing<'a>(one: View<'_, 'a>, other: View<'_, 'a>) -> Vec<&'a str> {
    let mut names = Vec::new();
    for (name, _) in other.fields().into_iter().chain(one.fields()) {
        if !names.contains(&name) && one.field(name).map(View::meaning) != other.field(name).map(View::meaning) {
            names.push(name);
        }
    }
    names
}

/// The parts of a value that both sides changed, in different ways; empty if it has no parts.
fn parts_apart(path: &FieldPath<'_>, texts: Sides<Option<View<'_, '_>>>) -> Vec<&'static str> {
    let Some(kind) = Composed::of_place(path) else { return Vec::new() };
    let texts = texts.map(|view| view.and_then(View::text));
    let [Some(original), Some(updated), Some(dest)] = [&texts.original, &texts.updated, &texts.dest] else {
        return Vec::new();
    };
    kind.apart(Sides { original: &**original, updated: &**updated, dest: &**dest }).unwrap_or_default()
}

/// A count with its noun, given in the singular: `1 file`, `2 files`.
pub fn counted(count: usize, one: &str) -> String {
    format!("{count} {one}{}", if count == 1 { "" } else { "s" })
}

/// The action of a side on a value or file in conflict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Did {
    /// It added the value or file.
    Added,
    /// It changed the value or file.
    Changed,
    /// It removed the value or file.
    Deleted,
    /// It set the value to null.
    Cleared,
    /// It has resources in the file, where the other side has none.
    ReplacedByResources,
}

impl Did {
    /// The predicate of a sentence: `changed the file`.
    fn to(self, what: &str) -> String {
        match self {
            Self::Added => format!("added {what}"),
            Self::Changed => format!("changed {what}"),
            Self::Deleted => format!("deleted {what}"),
            Self::Cleared => format!("cleared {what} with null"),
            Self::ReplacedByResources => format!("replaced {what} by resources"),
        }
    }
}

/// The action of a side that now has this value, as JSON.
fn did(original: Option<&String>, value: Option<&String>) -> Did {
    match (original, value) {
        (_, Some(value)) if value == "null" => Did::Cleared,
        (Some(_), None) => Did::Deleted,
        (Some(_), Some(_)) => Did::Changed,
        (None, Some(_)) => Did::Added,
        // Without an original, only a null can remove a value: one in whose place dest has annotations of the host.
        (None, None) => Did::Cleared,
    }
}

/// A clause that says which side did what, for a conflict: `both sides changed the file`, `updated deleted the file and dest changed it`.
/// Dest comes first, or the one side that removed the value.
pub fn changed_by(names: Sides<&str>, what: &str, [dest, updated]: [Did; 2]) -> String {
    let (first, second) = ((names.dest, dest), (names.updated, updated));
    let (first, second) = match dest {
        _ if dest == updated => return format!("both sides {}", dest.to(what)),
        Did::Added | Did::Changed => (second, first),
        Did::Deleted | Did::Cleared | Did::ReplacedByResources => (first, second),
    };
    format!("{} {} and {} {}", first.0, first.1.to(what), second.0, second.1.to("it"))
}

/// The values of the sides, after a colon. A side without a value, or with a value that must not be shown, is left out.
fn with_values(names: Sides<&str>, Sides { original, updated, dest }: Sides<Option<String>>) -> String {
    let values = [(names.dest, "has", dest), (names.updated, "has", updated), (names.original, "had", original)];
    let values = values.into_iter().filter_map(|(side, has, value)| Some(format!("{side} {has} {}", value?)));
    let values: Vec<String> = values.collect();
    if values.is_empty() { String::new() } else { format!(": {}", values.join(", ")) }
}

/// More words about the outcome. They show the value that the place has now, if no side has this value. Or they say why a whole value was
/// taken although a part would be enough.
fn more_of<'a>(conflict: &Conflict<'a>, settled: Settled, json: impl Fn(&Tree<'a>) -> Option<String>) -> String {
    match (settled, conflict.required) {
        (Settled::Delta | Settled::CutDown, _) => {
            let stands = conflict.taken.as_ref().and_then(json);
            stands.map(|json| format!(", so {} stands there now", brief(&json, 0))).unwrap_or_default()
        }
        (Settled::Updated, Some(field)) => {
            format!(", all of it, because the part that upstream changed lacks `{field}`, which its type requires")
        }
        (Settled::Deleted, Some(field)) => {
            format!(", all of it, because the part that dest changed lacks `{field}`, which its type requires")
        }
        _ => String::new(),
    }
}

/// The result for a conflict of a whole resource, of which one side changed these places.
fn of_resource(
    resource: &Resource<'_>,
    what: &str,
    places: &[String],
    original: &str,
    ruling: Ruling<'_>,
    settled: Settled,
) -> Outcome {
    let (place, what) = (few(places.to_vec()), format!("{what} ({})", listed(places)));
    let clash = Clash { place, what, settled, more: String::new() };
    of_clash(ruling, clash).about(resource).with_original(Some(original.to_owned()))
}

/// The result for a rule that decided nothing. The message names only fields that the rule has, because only these can be wrong.
fn idle_decision(Idle { rule, miss }: &Idle<'_, '_>) -> Outcome {
    let how = "copy `path` from the message of a conflict, and leave it out if the resource was deleted";
    let place = |place: &str| if place.is_empty() { THE_RESOURCE.into() } else { format!("`{place}`") };
    let over = "its conflict may be over, or";
    let why = match (miss, &rule.target, &rule.path) {
        (Miss::Value(side, at), _, _) => {
            let side = side.name();
            format!("{side} has another value of {} than `when.{side}`, so someone must decide again", place(at))
        }
        (Miss::Type(side, at), _, _) => {
            let side = side.name();
            format!("{side}'s {} and `when.{side}` differ in type: `1` is a number, `\"1\"` a text", place(at))
        }
        (Miss::Place(at), _, _) => {
            format!(
                "the conflict of {} has the values of its `when`, but its `target` or `path` is for others: {how}",
                place(at)
            )
        }
        (Miss::Versions(at), _, _) => {
            format!(
                "the values of {} are no versions of one thing that have an order, so decide it with another `take`",
                place(at)
            )
        }
        (Miss::All, None, None) => format!("{over} another rule decides it first"),
        (Miss::All, None, Some(_)) => format!("{over} its `path` is wrong: {how}"),
        (Miss::All, Some(_), None) => format!("{over} its `target` is wrong"),
        (Miss::All, Some(_), Some(_)) => format!("{over} its `target` or `path` is wrong: {how}"),
    };
    let told = Outcome::new(Severity::Info, format!("{} decided nothing: {why}", rule.name));
    Outcome { idle: Some(rule.name.clone()), ..told.because(IDLE_RULE) }
}

/// The result for a release that is one folder deeper than dest.
fn deeper(about: &Resource<'_>, side: Role, folder: &str) -> Outcome {
    let side = side.name();
    let message = format!(
        "{side} is one folder deeper than dest: its Kptfile is in its folder \"{folder}\", and dest's Kptfile is not, so that new files go to \"{folder}/\": let the path of {side} end with \"/{folder}\""
    );
    Outcome::new(Severity::Warning, message).about(about)
}

fn has_updated(commit: &str) -> String {
    format!(
        "dest has the commit of updated already, \"{commit}\" (`upstreamLock.git.commit`): this upgrade is done, or original and updated are swapped"
    )
}

fn other_original(commit: &str, original: &str) -> Outcome {
    let message = format!(
        "original must be the release of commit \"{commit}\", which dest came from (`upstreamLock.git.commit`), not that of commit \"{original}\""
    );
    Outcome::new(Severity::Warning, message).because(OTHER_ORIGINAL)
}

fn moved(dest: &Resource<'_>, to: &str) -> Outcome {
    let from = dest.path.unwrap_or_default();
    let message = format!("moved from \"{from}\" to \"{to}\", as upstream moved it");
    Outcome::new(Severity::Info, message).about(dest).because("moved")
}

fn moved_apart(dest: &Resource<'_>, from: &str, to: &str, ruling: Ruling<'_>) -> Outcome {
    let here = dest.path.unwrap_or_default();
    let places = Sides { original: from, updated: to, dest: here }.map(|path| Some(format!("it in \"{path}\"")));
    let what = format!("both sides moved the resource{}", with_values(Sides::of(Side::name), places));
    let settled = ruling.treatment.settled_as(Settled::StaysInPlace);
    let clash = Clash { place: "its file".to_owned(), what, settled, more: String::new() };
    Outcome { here: Some(dest.node().start()), ..of_clash(ruling, clash).about(dest) }
}

fn of_counts(counts: Counts) -> Outcome {
    let Counts { merged, added, deleted, unchanged, conflicts } = counts;
    let conflicts = counted(conflicts, "conflict");
    let message = format!("{merged} merged, {added} added, {deleted} deleted, {unchanged} unchanged; {conflicts}");
    Outcome { counts: Some(counts), ..Outcome::new(Severity::Info, message) }
}

/// The message for a resource that has two identities. Differences between the identities are merged like any field.
/// Reports that dest's resource has another identity in updated. `side` names updated.
pub fn followed(dest: &Resource<'_>, updated: &Resource<'_>, side: &str) -> String {
    let (here, there) = (known(dest), known(updated));
    format!("{here} is {there} in {side}: it is one resource that moved, and its edits are kept")
}

/// Reports what a rename of the whole package means for a resource.
pub fn of_rename(note: &NameNote<'_, '_>) -> Outcome {
    let info = |message: String| Outcome::new(Severity::Info, message);
    let told = match note {
        NameNote::Added { updated, new: NewName { namespace, name } } => {
            let new = updated.identity.map(|identity| Identity { namespace, name, ..identity }.to_string());
            let new = new.unwrap_or_default();
            info(format!("added as `{new}`, for dest renamed all resources of the package in this way"))
        }
        NameNote::Unclear { unclear, .. } => Outcome::new(Severity::Warning, unclear_name(unclear)),
        NameNote::Deleted { original, .. } => {
            info(format!("deleted, for upstream deleted {}, which has this name in dest", known(original)))
        }
    };
    told.about(note.resource())
}

/// Says that a new resource of upstream has upstream's name, and most others of dest have not.
fn unclear_name(unclear: &[Unclear<'_>]) -> String {
    let one = |Unclear { field, majority: Majority { count, all, example } }: &Unclear<'_>| {
        let [old, new] = example.map(shown::name);
        format!("dest changed `{field}` of {count} of {all} resources, such as \"{old}\" to \"{new}\"")
    };
    let all = unclear.iter().map(one).collect::<Vec<_>>().join(", and ");
    format!("added with upstream's name and namespace, but {all}: check whether this resource must follow")
}

/// The identity of a resource in its package.
fn known(resource: &Resource<'_>) -> String {
    resource.package_identity().map(|identity| format!("`{identity}`")).unwrap_or_default()
}

fn of_warning(warning: &Warning<'_>, about: About<'_, '_>, side: Role, budget: &Budget) -> Outcome {
    let (resource, is_secret) = (about.resource, about.hides(&warning.path));
    let place = warning.path.shown();
    let kind = |node: Option<NodeRef<'_>>| node.map_or("nothing", kind_of);
    // A comment next to a secret value may hold an older value.
    let shown = |text: &str| if is_secret { String::new() } else { format!(": \"{}\"", on_one_line(text)) };
    let message = match &warning.notice {
        Notice::Clash => format!(
            "`{place}` is {} in dest and {} in {side}; took {side}'s",
            kind(warning.dest),
            kind(warning.proposed),
            side = side.name()
        ),
        Notice::Repeated => {
            format!("dest has `{place}` more than once: the first one was merged, the others stay as they are")
        }
        Notice::Unkeyed(reason) => format!("`{place}` is replaced whole: {reason}"),
        Notice::Combined(how) => {
            format!("both sides changed `{place}`, and it was merged {}: look whether it is right", how_of(*how))
        }
        Notice::Renamed { side, place: there } => format!(
            "`{place}` is `{there}` in {}: it is one that was renamed, and the changes of both sides were made in it: look whether it is right",
            side.name()
        ),
        Notice::Union(members) => format!(
            "`{place}` has {members} after the merge, of which the API server allows one: remove the others with null"
        ),
        Notice::Incomplete(fields) => format!(
            "`{place}` is new in dest and lacks {fields}, which the API server requires: correct its merge key if dest has this element under another one, or add {fields}"
        ),
        Notice::Contradiction { original, updated, dest, stays } => {
            let (texts, stays) = (Sides::<&str> { original, updated, dest }, in_words(*stays));
            let names = Sides::of(Side::name);
            // A comment next to a secret value may hold an older value.
            let told = if is_secret { at_comment(names, &place, texts) } else { contradicting(names, &place, texts) };
            format!("{told}; {stays}")
        }
        Notice::CommentsLost(texts) => {
            let (what, place, shown) = (comments(texts.len()), at_place(&place), shown(&texts.join(" ")));
            format!("the merge removes {what} that only dest has{place}{shown}")
        }
        Notice::CommentsNotTaken(texts) => {
            let (what, place, shown) = (comments(texts.len()), at_place(&place), shown(&texts.join(" ")));
            format!(
                "the merge does not take {what} that upstream added{place}, because dest has no place for it{shown}"
            )
        }
        Notice::Replaced { what, lost, instead } => {
            let instead = edit_line(instead, is_secret);
            let counted_as = |one: &str| counted(*lost, one);
            match what {
                Replaced::List => format!(
                    "`{place}` is replaced whole, and dest loses {} that {} does not name: to keep them, use `edits` with `{instead}`; if you mean it, put `- {PATCH}: replace` into the list",
                    counted_as("element"),
                    side.name()
                ),
                Replaced::Text => format!(
                    "the text `{place}` is replaced whole, and dest loses {} in it that {} does not name: to keep them, use `edits` with `{instead}`",
                    counted_as("field"),
                    side.name()
                ),
            }
        }
        Notice::Namesake { name, other, instead } => format!(
            "`{place}` is new in dest and has the name {} of `{other}`, which the API server refuses: name it otherwise, or change the other one by `edits` with `{}`",
            shown::name(name),
            edit_line(instead, is_secret)
        ),
        Notice::Shortened { lost, by } => shortened(warning, resource, *lost, by.as_ref()),
        // That a part is ignored, and why.
        other => format!("`{place}`: {other}"),
    };
    let value = |node: Option<NodeRef<'_>>| node.map(|node| value_of(View::Node(node), budget));
    let field = Field {
        path: warning.path.indexed(),
        current_value: value(warning.dest),
        proposed_value: value(warning.proposed),
    };
    let outcome = match warning.notice {
        Notice::Combined(_) | Notice::Renamed { .. } => Outcome::new(Severity::Info, message).because("combined"),
        _ => Outcome::new(Severity::Warning, message),
    };
    let here = Some(warning.dest.unwrap_or_else(|| nearest(resource.node(), &warning.path)).start());
    Outcome { field: Some(field), here, is_secret, ..outcome }.about(resource)
}

/// The result for a field that the API server does not let change. For a Secret the message shows no values.
fn of_refused(refused: &Refused<'_, '_>, about: About<'_, '_>, budget: &Budget) -> Outcome {
    let (dest, is_secret) = (about.resource, about.hides(&refused.path));
    let was = refused.was.map(|was| to_json(was, budget).unwrap_or_default());
    let is = refused.is.map(|is| json_of(&is.to_tree(), budget).unwrap_or_default());
    let start = first_difference([&was, &is].into_iter().flatten());
    let place = refused.path.shown();
    let what = match (&was, &is) {
        (None, None) => format!("`{place}` changes"),
        _ if is_secret => format!("`{place}` changes"),
        (None, Some(is)) => format!("`{place}` was not set and becomes {}", brief(is, start)),
        (Some(was), None) => format!("`{place}` was {} and is removed", brief(was, start)),
        (Some(was), Some(is)) => format!("`{place}` changes from {} to {}", brief(was, start), brief(is, start)),
    };
    let who = match refused.by {
        Refuser::Server => "the API server",
        Refuser::Definition => "the API server, by the definition of this type,",
    };
    let message = format!(
        "{what}, which {who} refuses for an object that exists: keep the value, or delete the object and create it again"
    );
    let field = Field {
        path: refused.path.indexed(),
        current_value: refused.was.map(|was| value_of(View::Node(was), budget)),
        proposed_value: refused.is.map(|is| value_of(is, budget)),
    };
    let here = refused.was.unwrap_or_else(|| nearest(dest.node(), &refused.path)).start();
    Outcome { field: Some(field), here: Some(here), is_secret, ..Outcome::new(Severity::Warning, message) }.about(dest)
}

/// The result for a reference that leads nowhere after the merge.
fn of_broken(about: &Resource<'_>, reference: &Reference<'_>, cause: &Cause<'_>) -> Outcome {
    let (place, to) = (reference.path.shown(), called(&reference.to));
    let message = match cause {
        Cause::Deleted => {
            format!("`{place}` refers to {to}, which the merge deletes: keep {to}, or remove the reference")
        }
        Cause::Renamed(new) => {
            format!("`{place}` refers to {to}, which is {} after the merge: change the reference", called(new))
        }
        Cause::NotHere => {
            format!("`{place}` refers to {to}, which upstream has and dest deleted: add {to}, or remove the reference")
        }
        Cause::KeyRemoved(key) => format!(
            "`{place}` refers to the key \"{key}\" of {to}, which the merge removes: keep the key, or change the reference"
        ),
    };
    let field = Field { path: reference.path.indexed(), current_value: None, proposed_value: None };
    let here = nearest(about.node(), &reference.path).start();
    Outcome { field: Some(field), here: Some(here), ..Outcome::new(Severity::Warning, message) }.about(about)
}

fn called(NamedResource { kind, namespace, name, .. }: &NamedResource<'_>) -> String {
    Identity { api_version: "", kind, namespace, name }.called()
}

/// Which comment stays, in words.
fn in_words(stays: CommentOf) -> &'static str {
    match stays {
        CommentOf::Dest => of_settled(Settled::Dest),
        CommentOf::Winner => "it goes with the value, which is in conflict",
    }
}

/// How many comments there are, in words.
fn comments(count: usize) -> String {
    if count == 1 { "a comment".to_owned() } else { format!("{count} comments") }
}

/// A place in a message; nothing for the whole resource.
fn at_place(place: &str) -> String {
    if place.is_empty() { String::new() } else { format!(" at `{place}`") }
}

/// A comment as a message shows it.
fn on_one_line(text: &str) -> String {
    brief(&text.split_whitespace().collect::<Vec<_>>().join(" "), 0)
}

/// Reports that both sides changed a comment, and how; the text of a side without a comment is empty.
pub fn contradicting(names: Sides<&str>, place: &str, texts: Sides<&str>) -> String {
    let shown = texts.map(|text| Some(format!("\"{}\"", on_one_line(text))).filter(|_| !text.is_empty()));
    at_comment(names, place, texts) + &with_values(names, shown)
}

/// Reports that both sides changed a comment, without its texts.
pub fn at_comment(names: Sides<&str>, place: &str, texts: Sides<&str>) -> String {
    let did = |text: &str| match (texts.original, text) {
        (_, "") => Did::Deleted,
        ("", _) => Did::Added,
        _ => Did::Changed,
    };
    changed_by(names, &format!("the comment{}", at_place(place)), [did(texts.dest), did(texts.updated)])
}

/// The message for a list that was replaced because no source says how it merges. It shows the line of `mergeKeys` that would merge the
/// list.
fn shortened(warning: &Warning<'_>, resource: &Resource<'_>, lost: usize, by: Option<&ListKind<String>>) -> String {
    let place = warning.path.shown();
    let elements = if lost == 1 { "1 element".to_owned() } else { format!("{lost} elements") };
    let what = format!("`{place}` is replaced whole, for nothing says how it merges, and dest loses {elements}");
    let rule = by.and_then(|by| rule_of(&warning.path, resource, by));
    let is_inferred =
        matches!(by, Some(ListKind::Map(keys)) if keys.iter().all(|key| ASSOCIATIVE_KEYS.contains(&&**key)));
    match (rule, by) {
        (Some(rule), _) if resource.is_file() => {
            format!("{what}, as helm does it: to merge it, add to `mergeKeys` `{rule}`")
        }
        (Some(rule), _) if is_inferred => {
            format!("{what}: to merge it, set `inferMergeKeys: true`, or add to `mergeKeys` `{rule}`")
        }
        (Some(rule), Some(ListKind::Set)) => {
            format!("{what}: `inferMergeKeys` is for lists of maps; to merge it, add to `mergeKeys` `{rule}`")
        }
        (Some(rule), _) => {
            format!("{what}: `inferMergeKeys` finds no key in it; to merge it, add to `mergeKeys` `{rule}`")
        }
        (None, _) => format!(
            "{what}: `inferMergeKeys` finds no key in it, and `mergeKeys` needs a field that tells its elements apart"
        ),
    }
}

/// An edit as a line of `edits`.
fn edit_line(EditLine { does, place, value }: &EditLine, is_secret: bool) -> String {
    let value = if is_secret { "…" } else { value };
    format!("{{{does}: '{}', value: {value}}}", place.replace('\'', "''"))
}

/// The line of `mergeKeys` by which a list would merge; `None` if no such line can name the list.
fn rule_of(path: &FieldPath<'_>, resource: &Resource<'_>, by: &ListKind<String>) -> Option<String> {
    let identity = resource.identity?;
    let names: Vec<&str> =
        path.steps().filter_map(|step| if let Step::Field(name) = step { Some(&**name) } else { None }).collect();
    // In a rule, names are joined by dots, and the rule is shown as one line of YAML. Names with other characters do not fit there.
    let is_plain =
        |text: &&str| !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || "-_/".contains(c));
    if !names.iter().all(is_plain) {
        return None;
    }
    let how = match by {
        ListKind::Map(keys) if keys.iter().all(|key| is_plain(&&**key)) => format!("keys: [{}]", keys.join(", ")),
        ListKind::Map(_) => return None,
        ListKind::Set => "set: true".to_owned(),
        ListKind::Atomic => "atomic: true".to_owned(),
    };
    let path = names.join(".");
    Some(format!("{{apiVersion: {}, kind: {}, path: {path}, {how}}}", identity.api_version, identity.kind))
}

/// The message for a new resource that may be a moved one, because a deleted one has the same kind and name, but another version, group or
/// file.
fn may_have_moved(came: &Resource<'_>, left: &Resource<'_>, fate: LeftUpstream) -> String {
    let is_same = came.identity == left.identity;
    let called = |resource: &Resource<'_>| {
        let path = resource.relative_path.filter(|_| is_same).map(|path| format!(" (\"{path}\")"));
        format!("{}{}", named(resource), path.unwrap_or_default())
    };
    let fate = match fate {
        LeftUpstream::Kept => "is kept",
        LeftUpstream::Deleted => "is deleted",
        LeftUpstream::WasNotHere => "was not here",
    };
    let (came, left) = (called(came), called(left));
    format!("{came} is new and {left} {fate}: it may be a move, and local edits of the old one are not carried over")
}

fn unknown_type(api_version: &str, kind: &str, inference: Inference) -> String {
    let (so, what_helps) = match inference {
        Inference::Off | Inference::Never => (
            "its lists, but for those that look like a built-in type's, are replaced whole",
            "`openapi`, `mergeKeys` or `inferMergeKeys: true`",
        ),
        Inference::On => (
            "its lists merge by an inferred key, or are replaced whole where their elements have none",
            "`openapi` or `mergeKeys`",
        ),
    };
    format!(
        "nothing is known of `{api_version} {kind}`: {so}, unless its CustomResourceDefinition is in the package or the functionConfig has {what_helps}"
    )
}

/// The message that says which source gave the merge keys of lists of a type.
fn merged_by([api_version, kind]: [&str; 2], instead: Option<&str>, lists: &BTreeSet<Ground>) -> String {
    let of = |basis: Basis| {
        let lists = lists.iter().filter(|ground| ground.basis == basis).map(|ground| {
            let path = ground.path.join(".");
            match ground.keys.as_slice() {
                [] => format!("`{path}` by value"),
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

fn apart(item: &Resource<'_>, missed: &Missed, stays: Stays) -> Outcome {
    let (severity, what) = match missed {
        Missed::Source => (Severity::Warning, String::new()),
        Missed::SameInDest => (Severity::Info, ", and dest's says the same".to_owned()),
        Missed::Unchanged => (Severity::Info, ", and upstream did not change it".to_owned()),
        Missed::Changed(places) => {
            (Severity::Warning, format!(": upstream changed {} in it, and dest does not get that", listed(places)))
        }
        Missed::New => (Severity::Warning, ": it is new upstream, and dest does not get it".to_owned()),
        Missed::Deleted => (Severity::Warning, ": upstream deleted it, and dest's stays".to_owned()),
        Missed::Gone => (Severity::Info, ", and neither updated nor dest has it".to_owned()),
    };
    let field = item.missing().unwrap_or("metadata.name");
    let becomes = if stays == Stays::Consumed { "; it is consumed with its side" } else { "" };
    let message = format!("{} has no `{field}` and takes no part in the merge{what}{becomes}", item.whereabouts());
    Outcome::new(severity, message).about(item)
}

/// The result for a source that was added. If dest has the resource under another apiVersion, or one of both names no namespace, the source was
/// mostly meant for that resource.
fn added(source: &Resource<'_>, alike: Option<Alike<'_>>) -> Outcome {
    let is_meant = match alike {
        Some(Alike::OtherVersion(_)) => true,
        Some(Alike::OtherNamespace(other)) => other.namespace.is_empty() || source.named().namespace.is_empty(),
        Some(Alike::OnlyOfKind(_)) | None => false,
    };
    let severity = if is_meant { Severity::Warning } else { Severity::Info };
    let message = format!("added, for no item is {}{}", named(source), hint(alike));
    Outcome { is_done: true, ..Outcome::new(severity, message) }.about(source)
}

/// The message for targets that select no item.
fn none_selected(aim: &Aim, passed_over: usize) -> String {
    let all: Vec<String> = aim.targets.iter().map(Target::to_string).collect();
    let but = if aim.exclude.is_empty() { "" } else { " and is not excluded" };
    match passed_over {
        0 => format!(
            "{} must select at least one item, and none fits {}{but} (regular expressions for the whole value)",
            aim.name,
            all.join(", or ")
        ),
        _ => format!("{} must select at least one item, and it fits only {}", aim.name, configuring(passed_over)),
    }
}

/// The message that says how many items targets select.
fn selected(aim: &Aim, count: usize, passed_over: usize) -> String {
    let selected = format!("{} selected {}", aim.name, counted(count, "item"));
    match passed_over {
        0 => selected,
        _ => format!("{selected}, and not {}", configuring(passed_over)),
    }
}

/// Items that only configure, in words.
fn configuring(count: usize) -> String {
    let are = if count == 1 { "only configures" } else { "only configure" };
    format!(
        "{} that {are} (Kptfile, Kustomization, functionConfig, or `config.kubernetes.io/local-config`): name the kind to select one",
        counted(count, "item")
    )
}

/// The result for a resource that was merged into another one of its identity.
fn united(dest: &Resource<'_>, into: &Resource<'_>) -> Outcome {
    let message = format!("removed, for it was merged into {}, which has the same identity", into.whereabouts());
    Outcome { is_done: true, ..Outcome::new(Severity::Warning, message) }.about(dest)
}

fn named(resource: &Resource<'_>) -> String {
    resource.identity.map(|identity| format!("`{identity}`")).unwrap_or_default()
}

fn hint(alike: Option<Alike<'_>>) -> String {
    match alike {
        Some(Alike::OtherNamespace(identity)) => format!("; `{identity}` has another namespace"),
        Some(Alike::OtherVersion(identity)) => format!("; `{identity}` has another apiVersion"),
        Some(Alike::OnlyOfKind(identity)) => format!("; the only {} is `{identity}`", identity.kind),
        None => String::new(),
    }
}

/// The result for a conflict and its winner. If a rule of the user decided it, the result is only an info. An open conflict does not stop
/// the run.
fn of_clash(ruling: Ruling<'_>, mut clash: Clash) -> Outcome {
    if let Some(rule) = ruling.rule {
        clash.more.push_str(&format!("{}, as {} says", rule.because(), rule.name));
    }
    match (ruling.treatment, ruling.rule) {
        (Treatment::By(OnConflict::Fail), _) => Outcome::conflict(Severity::Error, clash),
        (Treatment::By(OnConflict::TakeUpdated | OnConflict::KeepDest), None)
        | (Treatment::Both | Treatment::Open(_), _) => Outcome::conflict(Severity::Warning, clash),
        (Treatment::By(OnConflict::TakeUpdated | OnConflict::KeepDest), Some(_)) => {
            Outcome::conflict(Severity::Info, clash).because("decided")
        }
    }
}

impl About<'_, '_> {
    /// Whether messages must not show the value at a place.
    fn hides(&self, path: &FieldPath<'_>) -> bool {
        self.secret != Secret::Nothing && self.secret.hides(&path.keyed())
    }
}

/// The outcome of a conflict, in words.
pub fn of_settled(settled: Settled) -> &'static str {
    match settled {
        Settled::Updated => "took updated's",
        Settled::Delta => "added only what updated changed",
        Settled::Both => "kept both, dest's first",
        Settled::Dest => "kept dest's",
        Settled::Deleted => "deleted it",
        Settled::StaysDeleted => "it stays deleted",
        Settled::StaysInPlace => "left it where dest has it",
        Settled::CutDown => "deleted what upstream had in it, and kept what dest added",
        Settled::OverlapOfUpdated => "took updated's where the changes overlap, and made all other changes",
        Settled::OverlapOfDest => "kept dest's where the changes overlap, and made all other changes",
        Settled::Open => "someone must decide",
    }
}

/// The parts by which a value was merged, in words.
pub fn how_of(how: Combined) -> Cow<'static, str> {
    match how {
        Combined::Elements => "element by element".into(),
        Combined::Lines => "line by line".into(),
        Combined::Keys => "key by key".into(),
        Combined::Document => "as the document that it holds".into(),
        Combined::Parts(kind, side) => {
            let other = if side == Side::Dest { Side::Updated } else { Side::Dest };
            format!("from {}'s {} and {}'s {}", side.name(), kind.place(), other.name(), kind.version()).into()
        }
    }
}

/// The first places, quoted, and how many more there are.
pub fn listed(places: &[String]) -> String {
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

/// How many characters of a value a message shows; the other fields of the result have the whole value.
const BRIEF: usize = 60;

/// A value on one line, cut if it is long. `start` is where several values begin to differ; the visible piece begins shortly before it.
fn brief(json: &str, start: usize) -> String {
    let count = json.chars().count();
    if count <= BRIEF {
        return json.to_owned();
    }
    let skip = start.saturating_sub(BRIEF / 3).min(count - BRIEF);
    let shown: String = json.chars().skip(skip).take(BRIEF).collect();
    format!("{}{shown}{}", if skip > 0 { "…" } else { "" }, if skip + BRIEF < count { "…" } else { "" })
}

/// How many bytes of the lines in conflict a message shows.
const LINES: usize = 1000;

/// The lines of each side that both sides changed, as one line of JSON, with `…` for other lines. A side without such lines, or without a
/// text that is too long to be shown whole, has none.
fn lines_in_conflict(texts: Sides<Option<View<'_, '_>>>) -> Sides<Option<String>> {
    let nodes = texts.map(|view| view.and_then(View::like));
    let written = match nodes {
        Sides { original: Some(original), updated: Some(updated), dest: Some(dest) } => {
            source_lines(Sides { original, updated, dest })
        }
        _ => None,
    };
    let values = || texts.map(|view| view.filter(|view| view.kind() == Kind::Scalar).map(|view| view.string()));
    let texts = written.map_or_else(values, |written| written.map(|text| Some(text.into())));
    let [Some(original), Some(updated), Some(dest)] = [&texts.original, &texts.updated, &texts.dest] else {
        return Sides::default();
    };
    let texts = Sides { original: &**original, updated: &**updated, dest: &**dest };
    if texts.iter().all(|(_, text)| text.chars().count() <= BRIEF || !text.trim_end().contains('\n')) {
        return Sides::default();
    }
    let places = lines_apart(texts);
    Sides::of(|side| {
        let lines: Vec<&str> = texts[side].split_inclusive('\n').collect();
        let of_places = places.iter().map(|place| lines[place[side].clone()].concat());
        let shown = of_places.collect::<Vec<_>>().join("…");
        let [first, last] = [places.first()?, places.last()?].map(|place| &place[side]);
        let before = if first.start > 0 { "…" } else { "" };
        let after = if last.end < lines.len() { "…" } else { "" };
        let json = serde_json::to_string(&format!("{before}{}{after}", shown.trim_end_matches('\n')));
        json.ok().map(|json| cut(json, LINES))
    })
}

/// How many characters the texts have in common at their beginning.
fn first_difference<'t>(mut texts: impl Iterator<Item = &'t String>) -> usize {
    let Some(first) = texts.next() else { return 0 };
    let common = |text: &String| first.chars().zip(text.chars()).take_while(|(a, b)| a == b).count();
    texts.map(common).min().unwrap_or_default()
}

fn kind_of(node: NodeRef<'_>) -> &'static str {
    match node.resolve().kind() {
        Kind::Map => "a map",
        Kind::List => "a list",
        Kind::Scalar | Kind::Alias => "a scalar",
    }
}
