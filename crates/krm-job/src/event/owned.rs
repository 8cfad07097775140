//! Makes events of what the engine says: values that borrow from the texts of the user become [`What`], which owns all that it shows.

use krm_merge_core::parts::Composed;
use krm_merge_core::policy::{OnConflict, Settled, Treatment};
use krm_merge_core::refine::{lines_apart, source_lines};
use krm_merge_core::warning::{EditLine, Notice, Warning};
use krm_package::package::{self, NameNote, NewName, Note};
use krm_package::resource::{Identity, Resource};
use krm_schema::immutable::Refused;
use krm_schema::reference::NamedResource;
use krm_schema::schema::ListKind;
use krm_tree::child::{Value as _, find, nearest};
use krm_tree::limit::Budget;
use krm_tree::path::{FieldPath, Step, cut};
use krm_tree::sides::{Side, Sides};
use krm_tree::splice::{json_of, to_json};
use krm_tree::tree::{Conflict, Taking, Tree, View};

use krm_yaml::secret::Secret;
use krm_yaml::{Kind, NodeRef};

use super::value::{own_tag, value_of};
use super::what::{Clash, ClashNote, ClashPlace, Did, Dispute, Inside, Majority, Noticed, Privacy, RuleParts, What};
use super::{Event, Field, Severity};
use crate::decision::{Idle, Ruling, Take};
use crate::role::Role;

/// A resource, and what of it no message may show. What is secret on one side of a merge is secret.
#[derive(Clone, Copy, Debug)]
pub struct About<'r, 'a> {
    /// The resource.
    pub resource: &'r Resource<'a>,
    /// What is secret.
    pub secret: Secret,
}

impl About<'_, '_> {
    /// Whether messages may show the value at a place.
    fn privacy(&self, path: &FieldPath<'_>) -> Privacy {
        let is_secret = self.secret != Secret::Nothing && self.secret.hides(&path.keyed());
        if is_secret { Privacy::Secret } else { Privacy::Public }
    }
}

/// The identity of a resource; empty if it has none.
pub fn named(resource: &Resource<'_>) -> String {
    resource.identity.map(|identity| identity.to_string()).unwrap_or_default()
}

/// The identity of a resource in its package; empty if it has none.
fn known(resource: &Resource<'_>) -> String {
    resource.package_identity().map(|identity| identity.to_string()).unwrap_or_default()
}

/// How messages call a resource that a reference names.
pub fn called(NamedResource { kind, namespace, name, .. }: &NamedResource<'_>) -> String {
    Identity { api_version: "", kind, namespace, name }.called()
}

impl Event {
    /// A conflict of a merge. `original` is original's resource as JSON, if the conflict is about a whole resource. The values that it shows are
    /// taken from the budget.
    pub fn of_conflict(
        conflict: &package::Conflict<'_, '_, '_>,
        original: String,
        ruling: Ruling<'_>,
        budget: &Budget,
    ) -> Self {
        match *conflict {
            package::Conflict::Place { sides, dest, conflict } => {
                of_place(conflict, About { resource: dest, secret: Resource::secret(sides) }, ruling, budget)
            }
            package::Conflict::MovedApart { dest, from, to, .. } => moved_apart(dest, [from, to], ruling),
            package::Conflict::DeletedUpstream { dest, places, .. } => {
                let settled = ruling.treatment.settled(&Taking::Deletion);
                let told = of_resource(dest, [Did::Changed, Did::Deleted], places, original, ruling, settled);
                Self { here: Some(dest.node().start()), ..told }
            }
            package::Conflict::DeletedHere { updated, places, .. } => {
                let settled = ruling.treatment.settled_as(Settled::StaysDeleted);
                of_resource(updated, [Did::Deleted, Did::Changed], places, original, ruling, settled)
            }
        }
    }

    /// What the owner of a resource should know of its merge; `None` if something else tells it. `side` was merged into dest.
    pub fn of_note(note: Note<'_, '_>, side: Role, budget: &Budget) -> Option<Self> {
        Some(match note {
            Note::Warning { about: resource, secret, warning } => {
                Self::of_warning(&warning, About { resource, secret }, side, budget)
            }
            Note::DeletedBefore(dest) => Self::of(What::DeletedBefore).about(dest),
            Note::Deleted { dest, source } => Self::of(What::Deleted(source.origin.to_string())).about(dest),
            Note::United { dest, into } => Self::of(What::United(into.whereabouts())).about(dest),
            Note::Followed { dest, updated } => Self::followed([dest, updated]),
            Note::Renamed(note) => of_rename(&note),
            Note::Moved { dest, to } => {
                let from = dest.path.unwrap_or_default().to_owned();
                Self::of(What::Moved { from, to: to.to_owned() }).about(dest)
            }
            Note::NotMoved { dest, to } => Self::of(What::NotMoved { to: to.to_owned() }).about(dest),
            // Which items are no resources was told before the merge.
            _ => return None,
        })
    }

    /// Dest and updated have the same resource under different identities.
    pub fn followed([dest, updated]: [&Resource<'_>; 2]) -> Self {
        Self::of(What::Followed { here: known(dest), there: known(updated) }).about(dest)
    }

    /// A resource of dest's own may be a renamed one that upstream deleted.
    pub fn left_behind([dest, original]: [&Resource<'_>; 2]) -> Self {
        Self::of(What::LeftBehind { original: known(original) }).about(dest)
    }

    /// A place of a merged resource that its owner should check. `side` was merged into dest.
    pub fn of_warning(warning: &Warning<'_>, about: About<'_, '_>, side: Role, budget: &Budget) -> Self {
        let (resource, privacy) = (about.resource, about.privacy(&warning.path));
        let value = |node: Option<NodeRef<'_>>| node.map(|node| value_of(View::Node(node), budget));
        let field = Field {
            path: warning.path.indexed(),
            current_value: value(warning.dest),
            proposed_value: value(warning.proposed),
        };
        let here = Some(warning.dest.unwrap_or_else(|| nearest(resource.node(), &warning.path)).start());
        let what = noticed(warning, resource, side, privacy);
        Self { field: Some(field.into()), here, is_secret: privacy.hides(), ..Self::of(what) }.about(resource)
    }

    /// A field changes that the API server does not let change. For a Secret the message shows no values.
    pub fn of_refused(refused: &Refused<'_, '_>, about: About<'_, '_>, budget: &Budget) -> Self {
        let (dest, privacy) = (about.resource, about.privacy(&refused.path));
        let was = refused.was.map(|was| to_json(was, budget).unwrap_or_default());
        let is = refused.is.map(|is| json_of(&is.to_tree(), budget).unwrap_or_default());
        let start = first_difference([&was, &is].into_iter().flatten());
        let values = [was, is].map(|json| json.filter(|_| !privacy.hides()).map(|json| brief(&json, start)));
        let field = Field {
            path: refused.path.indexed(),
            current_value: refused.was.map(|was| value_of(View::Node(was), budget)),
            proposed_value: refused.is.map(|is| value_of(is, budget)),
        };
        let here = refused.was.unwrap_or_else(|| nearest(dest.node(), &refused.path)).start();
        let what = What::Refused { place: refused.path.shown(), values, by: refused.by };
        Self { field: Some(field.into()), here: Some(here), is_secret: privacy.hides(), ..Self::of(what) }.about(dest)
    }

    /// A rule decided nothing. The event names only fields that the rule has, because only these can be wrong.
    pub fn of_idle(Idle { rule, miss }: &Idle<'_, '_>) -> Self {
        let names = match (&rule.target, &rule.path) {
            (None, None) => RuleParts::Nothing,
            (None, Some(_)) => RuleParts::Path,
            (Some(_), None) => RuleParts::Target,
            (Some(_), Some(_)) => RuleParts::Both,
        };
        Self::of(What::IdleDecision { rule: rule.name.clone(), miss: (*miss).clone(), names })
    }
}

/// What a warning says. It has no more than a message shows, so that two that say the same are equal.
fn noticed(warning: &Warning<'_>, resource: &Resource<'_>, side: Role, privacy: Privacy) -> What {
    let place = warning.path.shown();
    let lost = |of: Side, texts: &[String]| {
        let shown = Some(quoted(&texts.join(" "))).filter(|_| !privacy.hides());
        What::CommentsLost { of, count: texts.len(), place: warning.path.shown(), shown }
    };
    let hidden = |instead: &EditLine| match privacy {
        Privacy::Public => instead.clone(),
        Privacy::Secret => EditLine { value: "…".to_owned(), ..instead.clone() },
    };
    let notice = match &warning.notice {
        Notice::Clash => {
            let kinds = [warning.dest, warning.proposed].map(|node| node.map(|node| node.resolve().kind()));
            return What::OtherKind { place, kinds, side };
        }
        Notice::Shortened { lost, by } => {
            let rule = by.as_ref().and_then(|by| rule_of(&warning.path, resource, by));
            let inside = if resource.is_file() { Inside::File } else { Inside::Resource };
            return What::Shortened { place, lost: *lost, by: by.clone(), rule, inside };
        }
        Notice::Contradiction { original, updated, dest, stays } => {
            let texts = Sides::<&str> { original, updated, dest };
            let (did, shown) = (Did::to_comment(texts), comments(texts, privacy));
            return What::Commented { place, did, shown, stays: *stays };
        }
        Notice::CommentsLost(texts) => return lost(Side::Dest, texts),
        Notice::CommentsNotTaken(texts) => return lost(Side::Updated, texts),
        Notice::Replaced { what, lost, instead } => {
            Notice::Replaced { what: *what, lost: *lost, instead: hidden(instead) }
        }
        Notice::Namesake { name, other, instead } => {
            Notice::Namesake { name: name.clone(), other: other.clone(), instead: hidden(instead) }
        }
        other => other.clone(),
    };
    What::Noticed(Box::new(Noticed { place, notice, side }))
}

impl Clash {
    /// An open conflict. It has nothing but what the sides did.
    pub fn open(dispute: Dispute) -> Self {
        let (place, shown, notes) = (ClashPlace::Field(String::new()), Sides::default(), Vec::new());
        Self { place, dispute, shown, original: None, settled: Settled::Open, notes }
    }

    /// The open conflict of a comment at a place. The text of a side without a comment is empty.
    pub fn of_comment(at: &str, texts: Sides<&str>, privacy: Privacy) -> Self {
        let dispute = Dispute::Comment { at: at.to_owned(), did: Did::to_comment(texts) };
        Self { shown: comments(texts, privacy), ..Self::open(dispute) }
    }
}

/// The texts of a comment that are shown.
fn comments(texts: Sides<&str>, privacy: Privacy) -> Sides<Option<String>> {
    // A comment next to a secret value may hold an older value.
    texts.map(|text| Some(quoted(text)).filter(|_| !text.is_empty() && !privacy.hides()))
}

/// A conflict at a place. For a Secret it shows no values, because messages go into the logs of pipelines. The fields of the event have the
/// values, because a user asks for the results.
fn of_place(conflict: &Conflict<'_>, about: About<'_, '_>, ruling: Ruling<'_>, budget: &Budget) -> Event {
    let (resource, privacy) = (about.resource, about.privacy(&conflict.path));
    // If the budget is used up, the event is not written.
    let json = |node: NodeRef<'_>| behind_tag(Some(node), to_json(node, budget).unwrap_or_default());
    // If changes overlap, or parts merge, the value in the conflict also holds changes of updated. Dest's own value shows what dest changed.
    let overlaps =
        matches!(conflict.taking, Taking::Overlap | Taking::Both(_)) || matches!(conflict.dest, Some(Tree::Made(_)));
    let own = if overlaps { find(resource.node(), &conflict.path).map(Tree::Node) } else { None };
    let in_dest = own.as_ref().or(conflict.dest.as_ref());
    let dest =
        in_dest.map(|dest| behind_tag(dest.view().and_then(View::like), json_of(dest, budget).unwrap_or_default()));
    let (original, updated) = (conflict.original.map(json), conflict.updated.map(json));
    let values = Sides { original: original.as_ref(), updated: updated.as_ref(), dest: dest.as_ref() };
    let texts = Sides {
        original: conflict.original.map(View::Node),
        updated: conflict.updated.map(View::Node),
        dest: in_dest.and_then(Tree::view),
    };
    let (dispute, shown) = disputed(conflict, values, texts, privacy);
    let field = Field {
        path: conflict.path.indexed(),
        current_value: in_dest.and_then(Tree::view).map(|view| value_of(view, budget)),
        proposed_value: conflict.updated.map(|node| value_of(View::Node(node), budget)),
    };
    let is_of_value = !matches!(conflict.taking, Taking::Comments(_));
    let field = (is_of_value && !conflict.path.is_empty()).then(|| Box::new(field));
    let settled = match (&conflict.taking, &conflict.comments) {
        (Taking::Comments(_), None) => ruling.treatment.settled_as(Settled::Dest),
        (taking, _) => ruling.treatment.settled(taking),
    };
    let mut notes = notes_of(conflict, settled, |tree| json_of(tree, budget).ok().filter(|_| !privacy.hides()));
    notes.extend(is_sum(&conflict.path).then_some(ClashNote::Sum));
    let place = ClashPlace::Field(conflict.path.keyed());
    let clash = Clash { place, dispute, shown, original, settled, notes };
    let event = of_clash(ruling, clash).about(resource);
    let here = conflict.dest.as_ref().and_then(Tree::like).unwrap_or_else(|| nearest(resource.node(), &conflict.path));
    Event { field, here: Some(here.start()), is_secret: privacy.hides(), ..event }
}

/// What the sides did at a place, and which values are shown.
fn disputed(
    conflict: &Conflict<'_>,
    values: Sides<Option<&String>>,
    texts: Sides<Option<View<'_, '_>>>,
    privacy: Privacy,
) -> (Dispute, Sides<Option<String>>) {
    let at = conflict.path.shown();
    match &conflict.taking {
        Taking::Order(moved) => {
            let moved = moved.iter().map(FieldPath::shown).collect();
            (Dispute::Order { at, moved }, Sides::default())
        }
        Taking::Comments(texts) => {
            let texts = Sides::of(|side| texts[side].as_str());
            (Dispute::Comment { at, did: Did::to_comment(texts) }, comments(texts, privacy))
        }
        Taking::Value | Taking::Delta | Taking::Deletion | Taking::CutDown | Taking::Overlap | Taking::Both(_) => {
            let start = first_difference([values.dest, values.original, values.updated].into_iter().flatten());
            let did = Sides::of(|side| Did::of_value(values.original, values[side]));
            let is_shown = |side: Side| side == Side::Original || did[side] != Did::Cleared;
            let lines = lines_in_conflict(texts);
            let words = |side: Side, json: &String| lines[side].clone().unwrap_or_else(|| brief(json, start));
            let shown = |side: Side| values[side].filter(|_| is_shown(side) && !privacy.hides());
            let shown = Sides::of(|side| shown(side).map(|json| words(side, json)));
            let outcomes = [&conflict.dest, &conflict.taken].map(|tree| tree.as_ref().and_then(Tree::view));
            let parts = match (&conflict.taking, outcomes) {
                (Taking::Overlap, [Some(dest), Some(taken)]) => differing(dest, taken),
                _ => parts_apart(&conflict.path, texts),
            };
            let of = |side: usize| {
                let has = |name: &&&str| outcomes[side].is_some_and(|map| map.field(name).is_some());
                parts.iter().filter(has).copied().collect::<Vec<_>>()
            };
            let owned = |names: Vec<&str>| names.into_iter().map(str::to_owned).collect::<Vec<_>>();
            let [of_dest, of_taken] = [of(0), of(1)];
            let are_apart = !of_dest.is_empty() && of_dest.iter().all(|name| !of_taken.contains(name));
            let dispute = match &conflict.taking {
                Taking::Both(_) => Dispute::Additions { at },
                _ if parts.is_empty() => Dispute::Value { at, did: [did.dest, did.updated] },
                _ if are_apart && !of_taken.is_empty() => Dispute::Apart { at, fields: [of_dest, of_taken].map(owned) },
                _ => Dispute::Parts { at, parts: owned(parts) },
            };
            (dispute, shown)
        }
    }
}

/// A value as JSON, with the tag that the value has in YAML.
fn behind_tag(node: Option<NodeRef<'_>>, json: String) -> String {
    node.and_then(own_tag).map_or_else(|| json.clone(), |tag| format!("{tag} {json}"))
}

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

impl Did {
    /// The action of a side that now has this value, as JSON.
    fn of_value(original: Option<&String>, value: Option<&String>) -> Self {
        match (original, value) {
            (_, Some(value)) if value == "null" => Self::Cleared,
            (Some(_), None) => Self::Deleted,
            (Some(_), Some(_)) => Self::Changed,
            (None, Some(_)) => Self::Added,
            // Without an original, only a null can remove a value: one in whose place dest has annotations of the host.
            (None, None) => Self::Cleared,
        }
    }

    /// The actions of dest and of updated on a comment. The text of a side without a comment is empty.
    pub fn to_comment(texts: Sides<&str>) -> [Self; 2] {
        [texts.dest, texts.updated].map(|text| match (texts.original, text) {
            (_, "") => Self::Deleted,
            ("", _) => Self::Added,
            _ => Self::Changed,
        })
    }
}

/// What else there is to say about the outcome: the value that the place has now, if no side has this value, or why a whole value was taken
/// although a part would be enough.
fn notes_of<'a>(
    conflict: &Conflict<'a>,
    settled: Settled,
    json: impl Fn(&Tree<'a>) -> Option<String>,
) -> Vec<ClashNote> {
    let note = match (settled, conflict.required) {
        (Settled::Delta | Settled::CutDown, _) => {
            conflict.taken.as_ref().and_then(json).map(|json| ClashNote::StandsNow(brief(&json, 0)))
        }
        (Settled::Updated | Settled::Deleted, Some(field)) => Some(ClashNote::Lacks(field.to_owned())),
        _ => None,
    };
    note.into_iter().collect()
}

/// A conflict of a whole resource. One side changed these places in it.
fn of_resource(
    resource: &Resource<'_>,
    did: [Did; 2],
    places: &[String],
    original: String,
    ruling: Ruling<'_>,
    settled: Settled,
) -> Event {
    let clash = Clash {
        place: ClashPlace::Fields(places.to_vec()),
        dispute: Dispute::Resource { did },
        shown: Sides::default(),
        original: Some(original),
        settled,
        notes: Vec::new(),
    };
    of_clash(ruling, clash).about(resource)
}

fn moved_apart(dest: &Resource<'_>, [from, to]: [&str; 2], ruling: Ruling<'_>) -> Event {
    let here = dest.path.unwrap_or_default();
    let clash = Clash {
        place: ClashPlace::ItsFile,
        dispute: Dispute::Moves(Sides { original: from, updated: to, dest: here }.map(str::to_owned)),
        shown: Sides::default(),
        original: None,
        settled: ruling.treatment.settled_as(Settled::StaysInPlace),
        notes: Vec::new(),
    };
    Event { here: Some(dest.node().start()), ..of_clash(ruling, clash).about(dest) }
}

/// A conflict and its winner. If a rule of the user decided it, the event is only an info. An open conflict does not stop the run.
fn of_clash(ruling: Ruling<'_>, mut clash: Clash) -> Event {
    clash.notes.extend(ruling.rule.map(|rule| match rule.take {
        Take::Newest => ClashNote::NewestRule(rule.name.clone()),
        Take::Policy(_) => ClashNote::Rule(rule.name.clone()),
    }));
    let severity = match (ruling.treatment, ruling.rule) {
        (Treatment::By(OnConflict::Fail), _) => Severity::Error,
        (Treatment::By(OnConflict::TakeUpdated | OnConflict::KeepDest), Some(_)) => Severity::Info,
        (Treatment::By(OnConflict::TakeUpdated | OnConflict::KeepDest), None)
        | (Treatment::Both | Treatment::Open(_), _) => Severity::Warning,
    };
    Event::conflict(severity, clash)
}

/// What a rename of the whole package means for a resource.
fn of_rename(note: &NameNote<'_, '_>) -> Event {
    let what = match note {
        NameNote::Added { updated, new: NewName { namespace, name } } => {
            let new = updated.identity.map(|identity| Identity { namespace, name, ..identity }.to_string());
            What::AddedAs(new.unwrap_or_default())
        }
        NameNote::Unclear { unclear, .. } => What::AddedUnclear(unclear.iter().map(Majority::of).collect()),
        NameNote::Deleted { original, .. } => What::DeletedAs(known(original)),
    };
    Event::of(what).about(note.resource())
}

impl Majority {
    fn of(unclear: &package::Unclear<'_>) -> Self {
        let package::Majority { count, all, example } = unclear.majority;
        Self { field: unclear.field, count, all, example: example.map(str::to_owned) }
    }
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

/// How many characters of a value a message shows; the other fields of the event have the whole value.
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

/// A comment on one line, in quotes, cut if it is long.
pub fn quoted(text: &str) -> String {
    format!("\"{}\"", brief(&text.split_whitespace().collect::<Vec<_>>().join(" "), 0))
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
