//! The walker: a [`Change`] applied to dest gives a [`Plan`], and says what was in conflict.
//!
//! It knows no mode, no directive and no text, and it visits only what the change names. A conflict is data, not an error: the walk goes
//! on, and the policy says which side is taken.

mod order;
mod union;

use std::cell::LazyCell;
use std::collections::{HashMap, HashSet};

use schemars::JsonSchema;
use serde::Deserialize;

use crate::change::{By, Change, Child, ChildId, Emptied, Expects, Inside, NoteChange, Others, Wants};
use crate::path::FieldPath;
use crate::schema::{Members, MergeKey, Unkeyed};
use crate::yaml::{Error, Kind, NodeRef, Place, comment_text, comments_above, same, same_comment};
use order::{behind_siblings, elements_as_ordered, elements_in_order, fields_in_order, list_over_list};
use union::{crowded, fields_after};

/// What becomes of one node of dest.
#[derive(Clone, Debug)]
pub enum Plan<'a> {
    /// It stays as it is, to the byte.
    Keep,
    /// It goes, with the comments that are its own.
    Remove,
    /// A value of the other side takes its place.
    Put(Box<New<'a>>),
    /// Its children, in their final order; every child of dest is named once.
    Inside(Vec<Slot<'a>>),
}

impl<'a> Plan<'a> {
    /// Whether a host that knows the old state, and puts comments back by place, would be misled below the node that this is the plan for:
    /// another element stands in a place of a list with comments in it, or a map, a list or a scalar in the place of another kind.
    pub fn misleads_by_place(&self, dest: NodeRef<'a>) -> bool {
        let Self::Inside(slots) = self else { return false };
        let old: Vec<NodeRef<'a>> = dest.written().map(|child| child.1).collect();
        let has_comments = LazyCell::new(|| {
            let (doc, places) = (dest.document(), Place::of_children(dest));
            let lines = places.first().zip(places.last()).map(|(first, last)| first.top(doc)..last.bottom(doc));
            lines.is_some_and(|lines| doc.comments_in(lines).next().is_some())
        });
        let stays = slots.iter().filter(|s| !matches!(s, Slot::Dest { plan: Plan::Remove, .. }));
        let misleads = |(place, slot): (usize, &Slot<'a>)| match slot {
            Slot::Dest { index, plan: plan @ (Plan::Keep | Plan::Inside(_)), .. }
                if *index == place || !dest.is_list() =>
            {
                old.get(*index).is_some_and(|child| plan.misleads_by_place(*child))
            }
            Slot::Dest { index, plan: Plan::Put(new), .. } if !dest.is_list() => {
                old.get(*index).is_some_and(|child| !alike(*child, new.value))
            }
            Slot::Dest { index, plan, .. } => {
                let new = if let Plan::Put(new) = plan { new.value } else { old[*index] };
                old.get(place).is_some_and(|child| *has_comments || !alike(*child, new))
            }
            Slot::New(new) => dest.is_list() && old.get(place).is_some_and(|c| *has_comments || !alike(*c, new.value)),
        };
        stays.enumerate().any(misleads)
    }
}

/// Whether two nodes are of one kind, and so is all that they have in the same places.
fn alike(a: NodeRef<'_>, b: NodeRef<'_>) -> bool {
    let (a, b) = (a.resolve(), b.resolve());
    a.kind() == b.kind()
        && a.elements().zip(b.elements()).all(|(a, b)| alike(a, b))
        && a.entries().all(|(key, value)| b.get(key.string()).is_none_or(|other| alike(value, other)))
}

/// A place among the children of a map or list.
#[derive(Clone, Debug)]
pub enum Slot<'a> {
    /// A child that dest has.
    Dest {
        /// Its number among the children as they are written.
        index: usize,
        /// What becomes of it.
        plan: Plan<'a>,
        /// What becomes of its comments.
        comments: Comments<'a>,
    },
    /// A child that dest lacks.
    New(New<'a>),
}

/// The comments that are to be a node's own, as they are written; empty for none, `None` for those that are there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Comments<'a> {
    /// The comment lines above it.
    pub above: Option<&'a str>,
    /// The comment on its line.
    pub behind: Option<&'a str>,
}

impl<'a> Slot<'a> {
    /// A child of dest with its own comments.
    pub fn dest(index: usize, plan: Plan<'a>) -> Self {
        Self::Dest { index, plan, comments: Comments::default() }
    }
}

/// A node of the other side on its way into dest, with the comments that belong to it.
#[derive(Clone, Debug)]
pub struct New<'a> {
    /// The key, where it goes into a map.
    pub key: Option<NodeRef<'a>>,
    /// The value.
    pub value: NodeRef<'a>,
    /// The comment that is to be on its line; `None` for the one that the other side has there.
    pub comment: Option<&'a str>,
    /// What of the value is left out: a plan for the value itself.
    pub trim: Plan<'a>,
}

impl<'a> New<'a> {
    /// A node with all that it holds.
    pub fn whole(key: Option<NodeRef<'a>>, value: NodeRef<'a>) -> Self {
        Self { key, value, comment: None, trim: Plan::Keep }
    }
}

/// Dest and the other side both changed a node, and not in the same way.
#[derive(Clone, Debug)]
pub struct Conflict<'a> {
    /// Where.
    pub path: FieldPath<'a>,
    /// What dest holds.
    pub dest: Option<NodeRef<'a>>,
    /// What both came from.
    pub original: Option<NodeRef<'a>>,
    /// What the other side holds.
    pub updated: Option<NodeRef<'a>>,
    /// What became of it.
    pub settled: Settled,
}

/// What became of a conflict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Settled {
    /// Updated's value was taken.
    Updated,
    /// Dest's was kept.
    Dest,
    /// It is deleted, as updated has it.
    Deleted,
    /// What upstream had in it is deleted; what dest has of its own stays.
    CutDown,
    /// It is deleted, as a null in dest has it.
    Cleared,
    /// Someone must decide.
    Open,
}

/// Something that the user should hear of, and that is no conflict.
#[derive(Clone, Debug)]
pub struct Warning<'a> {
    /// Where.
    pub path: FieldPath<'a>,
    /// What.
    pub notice: Notice,
    /// What dest holds.
    pub dest: Option<NodeRef<'a>>,
    /// What the other side holds.
    pub proposed: Option<NodeRef<'a>>,
}

/// What a [`Warning`] is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Notice {
    /// A map, a list or a scalar met another kind; the other side's was taken.
    Clash,
    /// Dest has several elements of one merge key; the first was merged.
    Repeated,
    /// A list that merges by its schema was replaced whole, for this reason.
    Unkeyed(Unkeyed),
    /// What a patch has here counts for nothing, for this reason.
    Ignored(String),
    /// A union has members that exclude each other, these.
    Union(String),
}

/// Who wins where dest and updated both changed a node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
pub enum OnConflict {
    /// Updated wins, as kpt does it, and every case is reported: upgrades go through, local edits may have to be made again.
    #[default]
    TakeUpdated,
    /// Dest wins, and every case is reported: local edits are safe, upstream's fixes may not arrive.
    KeepDest,
    /// Nothing is merged: someone decides first.
    Fail,
}

/// Where elements go that a merged list does not have yet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
pub enum NewElements {
    /// Behind dest's: comments stay with their elements under kpt, which puts them back by position.
    #[default]
    Append,
    /// Before dest's, as kustomize does it: what is matched first-come-first-served sees the patch's first.
    Prepend,
}

/// What the user chose.
#[derive(Clone, Copy, Debug, Default)]
pub struct Policy {
    /// Who wins.
    pub on_conflict: OnConflict,
    /// Where new elements go.
    pub new_elements: NewElements,
}

/// The outcome of a walk.
#[derive(Debug)]
pub struct Merged<'a> {
    /// What becomes of dest.
    pub plan: Plan<'a>,
    /// What both sides changed.
    pub conflicts: Vec<Conflict<'a>>,
    /// What else the user should hear of.
    pub warnings: Vec<Warning<'a>>,
    /// Aliases of dest, or maps with a `<<` entry, that the plan goes into: they have to be written out before it can be carried out.
    pub entered: Vec<NodeRef<'a>>,
}

/// Applies a change to dest.
///
/// # Errors
/// A key that stands twice in a map of dest that the change goes into: which of the two is meant cannot be known.
pub fn merge<'a>(dest: Option<NodeRef<'a>>, change: &Change<'a>, policy: Policy) -> Result<Merged<'a>, Error> {
    let mut walk =
        Walk { policy, path: FieldPath::default(), conflicts: Vec::new(), warnings: Vec::new(), entered: Vec::new() };
    let plan = walk.node(dest, change, &[])?;
    Ok(Merged { plan, conflicts: walk.conflicts, warnings: walk.warnings, entered: walk.entered })
}

struct Walk<'a> {
    policy: Policy,
    path: FieldPath<'a>,
    conflicts: Vec<Conflict<'a>>,
    warnings: Vec<Warning<'a>>,
    entered: Vec<NodeRef<'a>>,
}

impl<'a> Walk<'a> {
    /// `identity` are the merge keys by which the node is an element of its list.
    fn node(
        &mut self,
        dest: Option<NodeRef<'a>>,
        change: &Change<'a>,
        identity: &[MergeKey<'a>],
    ) -> Result<Plan<'a>, Error> {
        let updated = match &change.wants {
            Wants::Same => return Ok(Plan::Keep),
            Wants::Nothing => None,
            Wants::Value(node) => Some(*node),
            Wants::Inside(inside) => match dest.filter(|d| !d.is_null()) {
                // A comment is no reason to write an alias out.
                Some(d) if d.kind() == Kind::Alias && !change.asks_for_values() => return Ok(Plan::Keep),
                Some(d) if d.resolve().kind() == inside.like.resolve().kind() => {
                    return if inside.emptied == Emptied::Goes {
                        self.dropped(d, inside, change)
                    } else {
                        self.inside(d, inside)
                    };
                }
                None => return self.absent(dest, inside, change, identity),
                Some(_) if !change.asks_for_values() => return Ok(Plan::Keep),
                Some(_) if inside.emptied == Emptied::Goes => None,
                Some(_) => Some(inside.like),
            },
        };
        let agrees = match (&change.wants, dest, updated) {
            (_, None, None) => true,
            (Wants::Value(_), Some(d), Some(u)) => same(d, u),
            _ => false,
        };
        if agrees {
            return Ok(Plan::Keep);
        }
        // A null clears what the other side removes, too.
        let agrees = updated.is_none() && dest.is_some_and(NodeRef::is_null);
        if !agrees && change.expects.finds_another(dest) {
            let taken = if updated.is_some() { Settled::Updated } else { Settled::Deleted };
            self.conflict(dest, change.expects.value(), updated, taken);
            if self.policy.on_conflict != OnConflict::TakeUpdated {
                return Ok(as_dest_has_it(dest));
            }
        }
        let Some(updated) = updated else {
            return Ok(Plan::Remove);
        };
        if let Some(d) = dest.filter(|d| !d.is_null()) {
            if d.resolve().kind() != updated.resolve().kind() {
                self.warn(Notice::Clash, Some(d), Some(updated));
            } else if d.is_list() && matches!(change.wants, Wants::Value(_)) {
                let before = self.entered.len();
                return Ok(self.enter(d, list_over_list(d, updated), before));
            }
        }
        // A map that meets another kind is taken whole; from a patch, without its directives and nulls.
        let trim = match (&change.wants, change.expects) {
            (Wants::Inside(inside), Expects::Anything) => self.cut_down(inside, identity)?,
            _ => Plan::Keep,
        };
        Ok(Plan::Put(Box::new(New { key: None, value: updated, comment: None, trim })))
    }

    /// Records a conflict; `taken` is what becomes of it where updated wins.
    fn conflict(
        &mut self,
        dest: Option<NodeRef<'a>>,
        original: Option<NodeRef<'a>>,
        updated: Option<NodeRef<'a>>,
        taken: Settled,
    ) {
        let settled = match self.policy.on_conflict {
            OnConflict::TakeUpdated => taken,
            OnConflict::KeepDest if dest.is_some_and(NodeRef::is_null) => Settled::Cleared,
            OnConflict::KeepDest => Settled::Dest,
            OnConflict::Fail => Settled::Open,
        };
        self.conflicts.push(Conflict { path: self.path.clone(), dest, original, updated, settled });
    }

    /// The other side has a map or list that dest lacks, or clears with a null: what is asked for of it is put. One that dest deleted is in
    /// conflict as a whole, where anything is to be put.
    fn absent(
        &mut self,
        dest: Option<NodeRef<'a>>,
        inside: &Inside<'a>,
        change: &Change<'a>,
        identity: &[MergeKey<'a>],
    ) -> Result<Plan<'a>, Error> {
        if inside.emptied == Emptied::Goes {
            return Ok(as_dest_has_it(dest));
        }
        let was_deleted = change.expects.finds_another(dest);
        if was_deleted {
            if !change.adds_values() {
                return Ok(as_dest_has_it(dest));
            }
            self.conflict(dest, change.expects.value(), Some(inside.like), Settled::Updated);
            if self.policy.on_conflict != OnConflict::TakeUpdated {
                return Ok(as_dest_has_it(dest));
            }
        }
        let known = self.conflicts.len();
        let trim = self.cut_down(inside, identity)?;
        if was_deleted {
            self.conflicts.truncate(known);
        }
        Ok(Plan::Put(Box::new(New { key: None, value: inside.like, comment: None, trim })))
    }

    /// The other side dropped a map or list whole: it goes as far as dest has nothing of its own in it. What dest added or changed in it is
    /// a conflict of the whole.
    fn dropped(&mut self, dest: NodeRef<'a>, inside: &Inside<'a>, change: &Change<'a>) -> Result<Plan<'a>, Error> {
        let before = self.conflicts.len();
        let policy = std::mem::replace(&mut self.policy.on_conflict, OnConflict::TakeUpdated);
        let entered = self.entered.len();
        let plan = self.inside(dest, inside)?;
        self.policy.on_conflict = policy;
        self.conflicts.truncate(before);
        let Expects::Exactly(original) = change.expects else { return Ok(plan) };
        let taken = if matches!(plan, Plan::Remove) { Settled::Deleted } else { Settled::CutDown };
        self.conflict(Some(dest), original, None, taken);
        if policy == OnConflict::TakeUpdated {
            return Ok(plan);
        }
        self.entered.truncate(entered);
        Ok(Plan::Keep)
    }

    /// A plan for the other side's map or list that leaves of it only what is asked for: without the directives and nulls of a patch,
    /// or down to what changed upstream. `identity` are the merge keys of the element that it is; they stay.
    fn cut_down(&mut self, inside: &Inside<'a>, identity: &[MergeKey<'a>]) -> Result<Plan<'a>, Error> {
        let mut children = inside.children.iter().peekable();
        let mut plans: Planned<'a> = Vec::new();
        for (key, value) in inside.like.written() {
            let is_identity = key.is_some_and(|k| identity.iter().any(|i| i.name == k.string()));
            let Some(child) = children.next_if(|c| c.node.is_some_and(|n| n.1.is(value))) else {
                plans.push(Some((if is_identity { Plan::Keep } else { Plan::Remove }, Comments::default())));
                continue;
            };
            let (plan, behind) = match self.put(child, inside)? {
                Some(new) if new.value.is(value) => (new.trim, new.comment),
                Some(new) => (Plan::Put(Box::new(new)), None),
                None if is_identity && !value.is_null() => (Plan::Keep, None),
                None => (Plan::Remove, None),
            };
            plans.push(Some((plan, Comments { above: None, behind })));
        }
        let mut new = Vec::new();
        for child in children {
            new.extend(self.put(child, inside)?.map(|n| (&child.id, n)));
        }
        let slots = if inside.order.is_empty() {
            elements_in_order(plans, new.into_iter().map(|(_, n)| n).collect(), NewElements::Append)
        } else {
            let like = Children::of(inside.like, &inside.by, 0);
            elements_as_ordered(plans, &like, new, (&inside.by, &inside.order))
        };
        if inside.members != Members::Any
            && let Some(notice) = crowded(inside.members, union::fields_of(inside.like, &slots))
        {
            self.warn(notice, None, Some(inside.like));
        }
        let is_kept = |(i, slot): (usize, &Slot<'a>)| match slot {
            Slot::Dest { index, plan: Plan::Keep, comments } => *index == i && *comments == Comments::default(),
            _ => false,
        };
        let whole = slots.iter().enumerate().all(is_kept);
        Ok(if whole { Plan::Keep } else { Plan::Inside(slots) })
    }

    /// What is put for a child of a map or list that dest lacks: nothing, where the other side lacks it too and only says what shall
    /// become of it.
    fn put(&mut self, child: &Child<'a>, inside: &Inside<'a>) -> Result<Option<New<'a>>, Error> {
        let Some((key, _)) = child.node else { return Ok(None) };
        self.path.push(child.id.step(&inside.by), None);
        let plan = self.node(None, &child.change, inside.by.keys())?;
        self.path.pop();
        Ok(match plan {
            Plan::Put(mut new) => {
                new.key = key;
                // A value that several elements of a patch speak of may have the comment of another one than its own.
                let own = key.map_or_else(|| Place::behind_dash(new.value), |k| Some(Place::of_entry(k, new.value)));
                let own = own.and_then(|place| comment_text(&place, new.value)).unwrap_or_default();
                new.comment = child.change.notes.behind.map(|note| note.wants).filter(|wanted| *wanted != own);
                Some(*new)
            }
            _ => None,
        })
    }

    fn warn(&mut self, notice: Notice, dest: Option<NodeRef<'a>>, proposed: Option<NodeRef<'a>>) {
        self.warnings.push(Warning { path: self.path.clone(), notice, dest, proposed });
    }

    /// Notes that a plan goes into an alias, which is all that has to be written out then: `before` aliases were noted before the walk
    /// came there.
    fn enter(&mut self, dest: NodeRef<'a>, plan: Plan<'a>, before: usize) -> Plan<'a> {
        if dest.kind() == Kind::Alias && (matches!(plan, Plan::Inside(_)) || self.entered.len() > before) {
            self.entered.truncate(before);
            self.entered.push(dest);
        }
        plan
    }

    /// Dest and the other side have a map each, or a list each.
    fn inside(&mut self, dest: NodeRef<'a>, inside: &Inside<'a>) -> Result<Plan<'a>, Error> {
        let before = self.entered.len();
        let plan = self.inside_resolved(dest, inside)?;
        Ok(self.enter(dest, plan, before))
    }

    fn inside_resolved(&mut self, dest: NodeRef<'a>, inside: &Inside<'a>) -> Result<Plan<'a>, Error> {
        let map = dest.resolve();
        if let Some(key) = map.duplicate_key() {
            return Err(key.error(format!("the key `{}` must stand once in a map that is to be merged", key.string())));
        }
        let old = Children::of(map, &inside.by, inside.children.len());
        let mut plans: Vec<Option<(Plan<'a>, Comments<'a>)>> = vec![None; old.written.len()];
        let mut asked = vec![false; old.written.len()];
        let mut new: Vec<(&ChildId<'a>, New<'a>)> = Vec::new();
        let merged = merged_fields(map);
        let mut brought_in = HashSet::new();
        for child in &inside.children {
            let (found, more) = old.find(&child.id);
            self.path.push(child.id.step(&inside.by), found);
            if self.brought_in(&merged, child, found)? {
                brought_in.insert(&child.id);
                self.path.pop();
                continue;
            }
            let Some(found) = found else {
                self.path.pop();
                new.extend(self.put(child, inside)?.map(|n| (&child.id, n)));
                continue;
            };
            plans[found] = Some(self.child(old.written[found], map, child)?);
            asked[found] = true;
            if matches!(plans[found], Some((Plan::Remove, _))) {
                self.entered.extend(merged_value(&merged, child).map(|m| m.0));
            }
            let removes = matches!(child.change.wants, Wants::Nothing);
            if !more.is_empty() && !removes && inside.others != Others::Once {
                self.warn(Notice::Repeated, Some(old.written[found].1), None);
            }
            self.path.pop();
            for i in more {
                asked[i] = true;
                if removes {
                    self.path.push(child.id.step(&inside.by), Some(i));
                    plans[i] = Some(self.child(old.written[i], map, child)?);
                    self.path.pop();
                }
            }
        }
        // Where the others go, a `<<` entry stays if all that it brings in is asked for, and is written out if only some of it is.
        let mut entries = Vec::new();
        if inside.others == Others::Go && map.document().has_merge_keys() {
            let own = |id: &ChildId<'a>| old.find(id).0;
            let stays = |id: &ChildId<'a>| own(id).map_or(brought_in.contains(id), |i| asked[i]);
            for (i, merged) in merge_entries(map) {
                let (here, gone): (Vec<_>, Vec<_>) =
                    fields_of_merged(merged).map(|f| ChildId::Field(f.0)).partition(stays);
                if gone.is_empty() {
                    entries.push(i);
                } else if here.iter().any(|id| own(id).is_none()) {
                    self.entered.push(merged);
                }
            }
        }
        for (i, plan) in plans.iter_mut().enumerate().filter(|(_, plan)| plan.is_none()) {
            let goes = match inside.others {
                Others::Stay => false,
                Others::Once => old.ids[i].as_ref().is_some_and(|id| old.find(id).0 != Some(i)),
                Others::Go => !asked[i] && !entries.contains(&i),
            };
            if goes {
                *plan = Some((Plan::Remove, Comments::default()));
            }
        }
        let is_gone = |p: &Option<(Plan<'a>, Comments<'a>)>| matches!(p, Some((Plan::Remove, _)));
        if inside.emptied == Emptied::Goes && new.is_empty() && plans.iter().all(is_gone) {
            return Ok(Plan::Remove);
        }
        let untouched = |p: &Option<(Plan<'a>, Comments<'a>)>| {
            p.as_ref().is_none_or(|(plan, c)| matches!(plan, Plan::Keep) && *c == Comments::default())
        };
        let unchanged = new.is_empty() && plans.iter().all(untouched);
        if unchanged && inside.order.is_empty() {
            return Ok(Plan::Keep);
        }
        if inside.members != Members::Any
            && let Some(notice) = crowded(inside.members, fields_after(map, &old, &plans, &new))
        {
            self.warn(notice, Some(dest), Some(inside.like));
        }
        let slots = if inside.order.is_empty() {
            let new = new.into_iter().map(|(_, n)| n).collect();
            match inside.by {
                By::Field => fields_in_order(plans, behind_siblings(inside.like, &old, new)),
                By::Index => elements_in_order(plans, new, NewElements::Append),
                By::Keys(_) | By::Value => elements_in_order(plans, new, self.policy.new_elements),
            }
        } else {
            elements_as_ordered(plans, &old, new, (&inside.by, &inside.order))
        };
        if unchanged && slots.iter().enumerate().all(|(i, s)| matches!(s, Slot::Dest { index, .. } if *index == i)) {
            return Ok(Plan::Keep);
        }
        Ok(Plan::Inside(slots))
    }

    fn child(
        &mut self,
        (key, value): (Option<NodeRef<'a>>, NodeRef<'a>),
        map: NodeRef<'a>,
        child: &Child<'a>,
    ) -> Result<(Plan<'a>, Comments<'a>), Error> {
        let before = self.conflicts.len();
        let mut plan = self.node(Some(value), &child.change, &[])?;
        if let (Plan::Put(new), Some((key, _))) = (&mut plan, child.node) {
            new.key = key;
        }
        let notes = child.change.notes;
        let dest_wins = self.conflicts.len() > before && self.policy.on_conflict != OnConflict::TakeUpdated;
        if matches!(plan, Plan::Remove) || dest_wins || (notes.above.is_none() && notes.behind.is_none()) {
            return Ok((plan, Comments::default()));
        }
        let place = key.map_or_else(|| Place::of_element(map, value), |k| Place::of_entry(k, value));
        let wanted = |note: Option<NoteChange<'a>>, has: &str| {
            let note = note.filter(|n| !same_comment(n.wants, has))?;
            note.expects.is_none_or(|e| same_comment(e, has)).then_some(note.wants)
        };
        let above = wanted(notes.above, comments_above(&place, value.document()));
        let behind = wanted(notes.behind, comment_text(&place, value).unwrap_or_default());
        let comments = Comments { above, behind };
        Ok((plan, comments))
    }

    /// Whether `<<` brings in a field that the map itself lacks just as it is asked for. Where it brings it in otherwise, the entry has
    /// to be written out.
    fn brought_in(&mut self, merged: &MergedFields<'a>, child: &Child<'a>, own: Option<usize>) -> Result<bool, Error> {
        let Some((merged, value)) = merged_value(merged, child).filter(|_| own.is_none()) else {
            return Ok(false);
        };
        let before = self.entered.len();
        let plan = self.node(Some(value), &child.change, &[])?;
        let stays = matches!(plan, Plan::Keep) && self.entered.len() == before;
        self.entered.truncate(before);
        if !stays {
            self.entered.push(merged);
        }
        Ok(stays)
    }
}

/// What becomes of a node where dest wins: it stays, but a null leaves the text, for it said that the field is to go.
fn as_dest_has_it<'a>(dest: Option<NodeRef<'a>>) -> Plan<'a> {
    if dest.is_some_and(NodeRef::is_null) { Plan::Remove } else { Plan::Keep }
}

/// The `<<` entries of a map, by their number among the entries as they are written.
fn merge_entries<'a>(map: NodeRef<'a>) -> impl Iterator<Item = (usize, NodeRef<'a>)> {
    map.entries().enumerate().filter(|(_, (key, _))| key.is_merge_key()).map(|(i, (_, merged))| (i, merged))
}

/// The fields that a `<<` entry holds, in the order in which they count: of one name, the first.
fn fields_of_merged<'a>(merged: NodeRef<'a>) -> impl Iterator<Item = (&'a str, NodeRef<'a>)> {
    let one = Some(merged).filter(|m| !m.is_list());
    one.into_iter().chain(merged.elements()).flat_map(NodeRef::fields).map(|(key, value)| (key.string(), value))
}

/// By field that `<<` entries of a map bring in, the value of the entry that does, and what it brings in.
type MergedFields<'a> = HashMap<&'a str, (NodeRef<'a>, NodeRef<'a>)>;

fn merged_fields<'a>(map: NodeRef<'a>) -> MergedFields<'a> {
    let mut found = HashMap::new();
    if map.document().has_merge_keys() {
        for (_, merged) in merge_entries(map) {
            for (name, value) in fields_of_merged(merged) {
                found.entry(name).or_insert((merged, value));
            }
        }
    }
    found
}

fn merged_value<'a>(fields: &MergedFields<'a>, child: &Child<'a>) -> Option<(NodeRef<'a>, NodeRef<'a>)> {
    let ChildId::Field(name) = child.id else { return None };
    fields.get(name).copied()
}

/// What becomes of each of dest's children; `None` of those that are not asked for.
type Planned<'a> = Vec<Option<(Plan<'a>, Comments<'a>)>>;

/// Dest's children as they are written, with a look-up that is hashed where that pays.
struct Children<'a> {
    written: Vec<(Option<NodeRef<'a>>, NodeRef<'a>)>,
    ids: Vec<Option<ChildId<'a>>>,
    index: Option<HashMap<ChildId<'a>, Vec<usize>>>,
}

impl<'a> Children<'a> {
    fn of(container: NodeRef<'a>, by: &By<'a>, asked: usize) -> Self {
        let written: Vec<_> = container.written().collect();
        let id = |i: usize, key: Option<NodeRef<'a>>, value: NodeRef<'a>| match by {
            By::Field => key.filter(|k| !k.is_container() && !k.is_merge_key()).map(|k| ChildId::Field(k.string())),
            By::Index => Some(ChildId::Index(i)),
            By::Keys(_) | By::Value => by.id_of(value),
        };
        let ids: Vec<Option<ChildId<'a>>> =
            written.iter().enumerate().map(|(i, (key, value))| id(i, *key, *value)).collect();
        let index = (ids.len() * asked > 256).then(|| {
            let mut index: HashMap<ChildId<'a>, Vec<usize>> = HashMap::with_capacity(ids.len());
            for (i, id) in ids.iter().enumerate() {
                if let Some(id) = id {
                    index.entry(id.clone()).or_default().push(i);
                }
            }
            index
        });
        Self { written, ids, index }
    }

    /// The first child of this identity, and the others.
    fn find(&self, id: &ChildId<'a>) -> (Option<usize>, Vec<usize>) {
        if let Some(index) = &self.index {
            return match index.get(id).map(Vec::as_slice) {
                Some([first, more @ ..]) => (Some(*first), more.to_vec()),
                _ => (None, Vec::new()),
            };
        }
        let mut found = self.ids.iter().enumerate().filter(|(_, i)| i.as_ref() == Some(id)).map(|(i, _)| i);
        (found.next(), found.collect())
    }
}
