//! What is said of a [`Report`] in English.

use krm_merge::child::{find, nearest};
use krm_merge::limit::Budget;
use krm_merge::path::FieldPath;
use krm_merge::policy::{OnConflict, Settled};
use krm_merge::resource::{Identity, Resource};
use krm_merge::schema::{Inference, ListRule};
use krm_merge::splice::{json_of, to_json};
use krm_merge::tree::{Conflict, Taking, Tree, View};
use krm_merge::warning::{Combined, Notice, Warning};
use krm_merge::yaml::{Kind, NodeRef};

use super::{Clash, Field, Outcome, REASON, Severity, value_of};
use crate::config::{NamedRule, Role};
use crate::report::{Alike, Counts, Lacks, LeftUpstream, Missed, Report, Stays};

impl Outcome {
    /// What is told of something that happened. Values come off the budget.
    pub fn of(report: &Report<'_, '_>, budget: &Budget) -> Self {
        let info = |message: String| Self::new(Severity::Info, message);
        let error = |message: String| Self::new(Severity::Error, message);
        match report {
            Report::Conflict { dest, conflict, policy } => of_conflict(conflict, dest, *policy, budget),
            Report::Warning { about, warning, side } => of_warning(warning, about, *side, budget),
            Report::DeletedUpstream { dest, places, original, policy } => {
                let what = "the resource was deleted in updated and changed in dest";
                let told = of_resource(dest, what, places, original, *policy, policy.settled(&Taking::Deletion));
                Self { here: Some(dest.node.start()), ..told }
            }
            Report::DeletedHere { updated, places, original, policy } => {
                let what = "the resource was deleted in dest and changed in updated";
                of_resource(updated, what, places, original, *policy, Settled::StaysDeleted)
            }
            Report::Moved { dest, to } => {
                let from = dest.path.unwrap_or_default();
                let mut outcome = info(format!("moved from \"{from}\" to \"{to}\", as upstream moved it")).about(dest);
                outcome.tags.insert(REASON.into(), "moved".into());
                outcome
            }
            Report::NotMoved { dest, to } => {
                let message = format!(
                    "upstream moved it to \"{to}\", in another package: move it by hand, for it stays where it is"
                );
                Self::new(Severity::Warning, message).about(dest)
            }
            Report::Followed { dest, updated } => info(followed(dest, updated)).about(dest),
            Report::MovedApart { dest, from, to, policy } => moved_apart(dest, from, to, *policy),
            Report::MayHaveMoved { came, left, fate } => info(may_have_moved(came, left, *fate)).about(came),
            Report::Counts(Counts { merged, added, deleted, unchanged, conflicts }) => info(format!(
                "{merged} merged, {added} added, {deleted} deleted, {unchanged} unchanged, {conflicts} in conflict"
            )),
            Report::Added { source, alike } => {
                info(format!("added, for no item is {}{}", named(source), hint(*alike))).about(source)
            }
            Report::NoPartner { source, alike } => {
                error(format!("a patch must hit an item, and no item is {}{}", named(source), hint(*alike)))
                    .about(source)
            }
            Report::SourceIsItem { source, field } => error(format!(
                "`{field}` must name the source of a merge into other items, but this item is all that is {}: name another file, or give the source as `yaml`",
                named(source)
            ))
            .about(source),
            Report::NoneSelected(target) => error(format!(
                "{} must select at least one item, and none fits {target} (regular expressions for the whole value)",
                target.name()
            )),
            Report::DeletedBefore(item) => {
                let message = "a source must have an item to be merged into, and one before it deleted this one";
                error(message.to_owned()).about(item)
            }
            Report::UnknownType { api_version, kind, inference } => info(unknown_type(api_version, kind, *inference)),
            Report::IdleRule { rule, lacks } => {
                let NamedRule { name, rule: ListRule { api_version, kind, path, .. } } = rule;
                let lacks = match lacks {
                    Lacks::Type => format!("is of the type `{api_version} {kind}`"),
                    Lacks::List => format!("of the type `{api_version} {kind}` has a list `{}`", path.join(".")),
                };
                info(format!("{name} is not used, for no resource {lacks}"))
            }
            Report::Apart { item, missed, stays } => apart(item, missed, *stays),
        }
    }
}

/// A conflict of a place. Of a Secret the message shows no values, for messages stand in the logs of pipelines; the fields have them, for
/// they are what a user asks the results for.
fn of_conflict(conflict: &Conflict<'_>, resource: &Resource<'_>, policy: OnConflict, budget: &Budget) -> Outcome {
    // Where the budget is used up nobody sees the result.
    let json = |node| to_json(node, budget).unwrap_or_default();
    // What stays of a value whose parts overlap holds changes of updated's, too; dest's own says what dest did.
    let overlaps = matches!(conflict.taking, Taking::Overlap);
    let own = if overlaps { find(resource.node, &conflict.path).map(Tree::Node) } else { None };
    let in_dest = own.as_ref().or(conflict.dest.as_ref());
    let dest = in_dest.map(|dest| json_of(dest, budget).unwrap_or_default());
    let (original, updated) = (conflict.original.map(json), conflict.updated.map(json));
    let start = first_difference([&dest, &original, &updated].into_iter().flatten());
    let show = |word: &str, value: &Option<String>| match value.as_ref().filter(|_| !is_secret(resource)) {
        Some(value) => format!(" {word} {}", brief(value, start)),
        None => String::new(),
    };
    let is_null = |value: &String| value == "null";
    let did = |value: &Option<String>, side: &str| match (&original, value) {
        (_, Some(value)) if is_null(value) => format!("cleared with null in {side}"),
        (Some(_), None) => format!("deleted in {side}"),
        (Some(_), Some(_)) => format!("changed in {side}{}", show("to", value)),
        (None, Some(_)) => format!("added in {side}{}", show("as", value)),
        // Without an original, only a null can remove.
        (None, None) => format!("cleared with null in {side}"),
    };
    let path = conflict.path.shown();
    let what = match &conflict.taking {
        Taking::Order(moved) => {
            let moved: Vec<String> = moved.iter().map(FieldPath::shown).collect();
            format!("the order of `{path}` was changed in dest and otherwise in updated ({})", listed(&moved))
        }
        Taking::Value | Taking::Deletion | Taking::CutDown | Taking::Overlap => {
            let (in_dest, in_updated) = (did(&dest, "dest"), did(&updated, "updated"));
            format!("`{path}` was {in_dest} and {in_updated}{}", show("from", &original))
        }
    };
    let field = Field {
        path: conflict.path.indexed(),
        current_value: in_dest.and_then(Tree::view).map(|view| value_of(view, budget)),
        proposed_value: conflict.updated.map(|node| value_of(View::Node(node), budget)),
    };
    let field = (!conflict.path.is_empty()).then_some(field);
    let clash = Clash { place: conflict.path.keyed(), what, settled: policy.settles(conflict) };
    let outcome = Outcome::conflict(severity_of(policy), clash).about(resource).with_original(original);
    let here = conflict.dest.as_ref().and_then(Tree::like).unwrap_or_else(|| nearest(resource.node, &conflict.path));
    Outcome { field, here: Some(here.start()), ..outcome }
}

/// A conflict of a whole resource, of which one side has changed these places.
fn of_resource(
    resource: &Resource<'_>,
    what: &str,
    places: &[String],
    original: &str,
    policy: OnConflict,
    settled: Settled,
) -> Outcome {
    let place = listed(places);
    let clash = Clash { what: format!("{what} ({place})"), place, settled };
    Outcome::conflict(severity_of(policy), clash).about(resource).with_original(Some(original.to_owned()))
}

fn moved_apart(dest: &Resource<'_>, from: &str, to: &str, policy: OnConflict) -> Outcome {
    let here = dest.path.unwrap_or_default();
    let what = format!("the resource was moved from \"{from}\" to \"{here}\" in dest and to \"{to}\" in updated");
    let settled = if policy == OnConflict::Fail { Settled::Open } else { Settled::StaysInPlace };
    let clash = Clash { place: "its file".to_owned(), what, settled };
    Outcome { here: Some(dest.node.start()), ..Outcome::conflict(severity_of(policy), clash).about(dest) }
}

/// One resource under two identities. What differs in them is merged as any field is.
fn followed(dest: &Resource<'_>, updated: &Resource<'_>) -> String {
    let (here, there) = (known(dest), known(updated));
    format!("{here} is {there} in updated: it is one resource that moved, and its edits are kept")
}

/// The identity by which a package knows a resource.
fn known(resource: &Resource<'_>) -> String {
    resource.package_identity().map(|identity| format!("`{identity}`")).unwrap_or_default()
}

fn of_warning(warning: &Warning<'_>, resource: &Resource<'_>, side: Role, budget: &Budget) -> Outcome {
    let place = warning.path.shown();
    let kind = |node: Option<NodeRef<'_>>| node.map_or("nothing", kind_of);
    let message = match &warning.notice {
        Notice::Clash => format!(
            "`{place}` is {} in dest and {} in {side}: {side}'s was taken",
            kind(warning.dest),
            kind(warning.proposed),
            side = side.name()
        ),
        Notice::Repeated => {
            format!("`{place}` stands more than once in dest: the first was merged, the others stay as they are")
        }
        Notice::Unkeyed(reason) => format!("`{place}` is replaced whole: {reason}"),
        Notice::Combined(how) => format!(
            "`{place}` was changed in dest and in updated, and merged {}: look whether it is right",
            how_of(*how)
        ),
        Notice::Ignored(reason) => format!("`{place}`: {reason}"),
        Notice::Union(members) => format!(
            "`{place}` has {members} after the merge, of which the API server allows one: remove the others with null"
        ),
    };
    let value = |node: Option<NodeRef<'_>>| node.map(|node| value_of(View::Node(node), budget));
    let field = Field {
        path: warning.path.indexed(),
        current_value: value(warning.dest),
        proposed_value: value(warning.proposed),
    };
    let (severity, reason) = match warning.notice {
        Notice::Combined(_) => (Severity::Info, Some("combined")),
        _ => (Severity::Warning, None),
    };
    let here = Some(warning.dest.unwrap_or_else(|| nearest(resource.node, &warning.path)).start());
    let mut outcome = Outcome { field: Some(field), here, ..Outcome::new(severity, message) }.about(resource);
    outcome.tags.extend(reason.map(|reason| (REASON.to_owned(), reason.to_owned())));
    outcome
}

/// One of the same kind and name under another version or group, or in another file, may have moved.
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
        Inference::Off => ("its lists are replaced whole", "`openapi`, `mergeKeys` or `inferMergeKeys: true`"),
        Inference::On => (
            "its lists merge by an inferred key, or are replaced whole where their elements have none",
            "`openapi` or `mergeKeys`",
        ),
    };
    format!(
        "nothing is known of `{api_version} {kind}`: {so}, unless its CustomResourceDefinition is in the package or the functionConfig has {what_helps}"
    )
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

fn severity_of(policy: OnConflict) -> Severity {
    match policy {
        OnConflict::TakeUpdated | OnConflict::KeepDest => Severity::Warning,
        OnConflict::Fail => Severity::Error,
    }
}

fn is_secret(resource: &Resource<'_>) -> bool {
    resource.identity.is_some_and(holds_secrets)
}

/// Whether the values of a resource are not for messages.
pub fn holds_secrets(identity: Identity<'_>) -> bool {
    identity.api_version == "v1" && identity.kind == "Secret"
}

/// What became of a conflict.
pub fn of_settled(settled: Settled) -> &'static str {
    match settled {
        Settled::Updated => "updated's was taken",
        Settled::Dest => "dest's was kept",
        Settled::Deleted => "it is deleted",
        Settled::StaysDeleted => "it stays deleted",
        Settled::StaysInPlace => "it stays where dest has it",
        Settled::Cleared => "dest's was kept, and the field is removed",
        Settled::CutDown => "what upstream had in it is deleted, what dest added stays",
        Settled::OverlapOfUpdated => "updated's was taken where the changes overlap, and all other changes were made",
        Settled::OverlapOfDest => "dest's was kept where the changes overlap, and all other changes were made",
        Settled::Open => "someone must decide",
    }
}

/// In which parts a value was merged.
pub fn how_of(how: Combined) -> &'static str {
    match how {
        Combined::Elements => "element by element",
        Combined::Lines => "line by line",
        Combined::Document => "as the document that it holds",
    }
}

/// The first places of a list of them, quoted.
pub fn listed(places: &[String]) -> String {
    const SHOWN: usize = 3;
    let mut shown: Vec<String> = places.iter().take(SHOWN).map(|p| format!("`{p}`")).collect();
    if places.len() > SHOWN {
        shown.push(format!("and {} more", places.len() - SHOWN));
    }
    shown.join(", ")
}

/// The longest piece of a value that a message shows; the whole is in the other fields.
const BRIEF: usize = 60;

/// A value on one line, cut where it is long: what is shown of several values begins shortly before they differ.
fn brief(json: &str, start: usize) -> String {
    let count = json.chars().count();
    if count <= BRIEF {
        return json.to_owned();
    }
    let skip = start.saturating_sub(BRIEF / 3).min(count - BRIEF);
    let shown: String = json.chars().skip(skip).take(BRIEF).collect();
    format!("{}{shown}{}", if skip > 0 { "…" } else { "" }, if skip + BRIEF < count { "…" } else { "" })
}

/// How many characters the texts begin with in common.
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
