//! The walker: a [`Change`] applied to dest gives a [`Plan`], and says what was in conflict.
//!
//! It knows no mode, no directive and no text, and it visits only what the change names. A conflict is data, not an error: the walk goes
//! on, and the policy says which side is taken.

use std::collections::HashMap;

use schemars::JsonSchema;
use serde::Deserialize;

use crate::change::{By, Change, Child, ChildId, Expects, Inside, Others, Wants};
use crate::path::FieldPath;
use crate::schema::element_key;
use crate::yaml::{Error, Kind, NodeRef, Place, comment_text, same};

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

/// A place among the children of a map or list.
#[derive(Clone, Debug)]
pub enum Slot<'a> {
    /// A child that dest has.
    Dest {
        /// Its number among the children as they are written.
        index: usize,
        /// What becomes of it.
        plan: Plan<'a>,
        /// The comment that is to stand on its line; `None`: the one that is there.
        comment: Option<&'a str>,
    },
    /// A child that dest lacks.
    New(New<'a>),
}

/// A node of the other side on its way into dest, with the comments that belong to it.
#[derive(Clone, Debug)]
pub struct New<'a> {
    /// The key, where it goes into a map.
    pub key: Option<NodeRef<'a>>,
    /// The value.
    pub value: NodeRef<'a>,
    /// What of the value is left out: a plan for the value itself.
    pub trim: Plan<'a>,
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
    /// A list that has merge keys was replaced whole, for this reason.
    Unkeyed(String),
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
    fn node(&mut self, dest: Option<NodeRef<'a>>, change: &Change<'a>, identity: &[&str]) -> Result<Plan<'a>, Error> {
        let updated = match &change.wants {
            Wants::Nothing => None,
            Wants::Value(node) => Some(*node),
            Wants::Inside(inside) => match dest {
                Some(d) if d.resolve().kind() == inside.like.resolve().kind() => return self.inside(d, inside),
                _ => Some(inside.like),
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
        if let Expects::Exactly(original) = change.expects {
            let untouched = match (dest, original) {
                (None, None) => true,
                (Some(d), Some(o)) => same(d, o),
                _ => false,
            };
            if !untouched {
                self.conflicts.push(Conflict { path: self.path.clone(), dest, original, updated });
                if self.policy.on_conflict != OnConflict::TakeUpdated {
                    return Ok(Plan::Keep);
                }
            }
        }
        let Some(updated) = updated else {
            return Ok(Plan::Remove);
        };
        if let Some(d) = dest.filter(|d| !d.is_null()) {
            if d.resolve().kind() != updated.resolve().kind() {
                self.warn(Notice::Clash, Some(d), Some(updated));
            } else if d.is_list() && matches!(change.wants, Wants::Value(_)) {
                return Ok(self.enter(d, list_over_list(d, updated)));
            }
        }
        let trim = match &change.wants {
            Wants::Inside(inside) => cut_down(inside, identity),
            _ => Plan::Keep,
        };
        Ok(Plan::Put(Box::new(New { key: None, value: updated, trim })))
    }

    fn warn(&mut self, notice: Notice, dest: Option<NodeRef<'a>>, proposed: Option<NodeRef<'a>>) {
        self.warnings.push(Warning { path: self.path.clone(), notice, dest, proposed });
    }

    /// Notes that a plan goes into an alias.
    fn enter(&mut self, dest: NodeRef<'a>, plan: Plan<'a>) -> Plan<'a> {
        if dest.kind() == Kind::Alias && matches!(plan, Plan::Inside(_)) {
            self.entered.push(dest);
        }
        plan
    }

    /// Dest and the other side have a map each, or a list each.
    fn inside(&mut self, dest: NodeRef<'a>, inside: &Inside<'a>) -> Result<Plan<'a>, Error> {
        let map = dest.resolve();
        if let Some(key) = map.duplicate_key() {
            return Err(key.error(format!("the key `{}` must stand once in a map that is to be merged", key.string())));
        }
        let old = Children::of(map, &inside.by, inside.children.len());
        let mut plans: Vec<Option<(Plan<'a>, Option<&'a str>)>> = vec![None; old.written.len()];
        let mut asked = vec![false; old.written.len()];
        let mut new: Vec<New<'a>> = Vec::new();
        for child in &inside.children {
            let (found, more) = old.find(&child.id);
            self.path.push(child.id.step(&inside.by), found);
            if self.brought_in(map, child, found)? {
                self.path.pop();
                continue;
            }
            let Some(found) = found else {
                if let Plan::Put(mut put) = self.node(None, &child.change, inside.by.keys())? {
                    put.key = child.node.and_then(|n| n.0);
                    new.push(*put);
                }
                self.path.pop();
                continue;
            };
            plans[found] = Some(self.child(old.written[found], map, child)?);
            asked[found] = true;
            let removes = matches!(child.change.wants, Wants::Nothing);
            if !more.is_empty() && !removes {
                self.warn(Notice::Repeated, Some(old.written[found].1), None);
            }
            for i in more {
                asked[i] = true;
                if removes {
                    plans[i] = Some(self.child(old.written[i], map, child)?);
                }
            }
            self.path.pop();
        }
        if inside.others == Others::Go {
            for i in (0..plans.len()).filter(|&i| !asked[i]) {
                plans[i] = Some((Plan::Remove, None));
            }
        }
        let untouched = |p: &Option<(Plan<'a>, Option<&str>)>| matches!(p, None | Some((Plan::Keep, None)));
        if new.is_empty() && plans.iter().all(untouched) {
            return Ok(Plan::Keep);
        }
        let slots = match inside.by {
            By::Field => fields_in_order(plans, behind_siblings(inside.like, &old, new)),
            _ => elements_in_order(plans, new, self.policy.new_elements),
        };
        Ok(self.enter(dest, Plan::Inside(slots)))
    }

    fn child(
        &mut self,
        (key, value): (Option<NodeRef<'a>>, NodeRef<'a>),
        map: NodeRef<'a>,
        child: &Child<'a>,
    ) -> Result<(Plan<'a>, Option<&'a str>), Error> {
        let plan = self.node(Some(value), &child.change, &[])?;
        let comment = child.change.comment.filter(|_| !matches!(plan, Plan::Remove)).filter(|wanted| {
            let place = key.map_or_else(|| Place::of_element(map, value), |k| Place::of_entry(k, value));
            comment_text(&place, value) != Some(*wanted)
        });
        Ok((plan, comment))
    }

    /// Whether `<<` brings in the field just as it is asked for. Where it brings it in otherwise, or would bring it back, the entry has
    /// to be written out.
    fn brought_in(&mut self, map: NodeRef<'a>, child: &Child<'a>, own: Option<usize>) -> Result<bool, Error> {
        let ChildId::Field(name) = child.id else { return Ok(false) };
        let Some((_, merged)) = map.entries().find(|(k, _)| k.is_merge_key()) else {
            return Ok(false);
        };
        let value = if merged.is_list() { merged.elements().find_map(|m| m.get(name)) } else { merged.get(name) };
        let Some(value) = value else { return Ok(false) };
        let removes = matches!(child.change.wants, Wants::Nothing);
        if own.is_none() && matches!(self.node(Some(value), &child.change, &[])?, Plan::Keep) {
            return Ok(true);
        }
        if own.is_none() || removes {
            self.entered.push(merged);
        }
        Ok(false)
    }
}

type Planned<'a> = Vec<Option<(Plan<'a>, Option<&'a str>)>>;

/// Each new field with the child of dest behind which it goes: the nearest sibling before it that dest has too.
fn behind_siblings<'a>(like: NodeRef<'a>, old: &Children<'a>, new: Vec<New<'a>>) -> Vec<(Option<usize>, New<'a>)> {
    let mut placed = Vec::with_capacity(new.len());
    let mut new = new.into_iter().peekable();
    let mut last = None;
    for (key, _) in like.entries() {
        match new.next_if(|n| n.key.is_some_and(|k| k.is(key))) {
            Some(entry) => placed.push((last, entry)),
            None if new.peek().is_none() => break,
            None => last = old.find(&ChildId::Field(key.string())).0.or(last),
        }
    }
    placed.extend(new.map(|entry| (None, entry)));
    placed
}

/// Dest's fields in their order, with the new ones where they belong; those that belong nowhere come last.
fn fields_in_order<'a>(plans: Planned<'a>, new: Vec<(Option<usize>, New<'a>)>) -> Vec<Slot<'a>> {
    let mut slots = Vec::with_capacity(plans.len() + new.len());
    let mut behind: HashMap<Option<usize>, Vec<New<'a>>> = HashMap::new();
    for (after, entry) in new {
        behind.entry(after).or_default().push(entry);
    }
    for (index, plan) in plans.into_iter().enumerate() {
        slots.push(dest_slot(index, plan));
        slots.extend(behind.remove(&Some(index)).into_iter().flatten().map(Slot::New));
    }
    slots.extend(behind.remove(&None).into_iter().flatten().map(Slot::New));
    slots
}

/// Dest's elements in their order, and the new ones before or behind them.
fn elements_in_order<'a>(plans: Planned<'a>, new: Vec<New<'a>>, place: NewElements) -> Vec<Slot<'a>> {
    let old = plans.into_iter().enumerate().map(|(index, plan)| dest_slot(index, plan));
    let new = new.into_iter().map(Slot::New);
    match place {
        NewElements::Append => old.chain(new).collect(),
        NewElements::Prepend => new.chain(old).collect(),
    }
}

fn dest_slot<'a>(index: usize, plan: Option<(Plan<'a>, Option<&'a str>)>) -> Slot<'a> {
    let (plan, comment) = plan.unwrap_or((Plan::Keep, None));
    Slot::Dest { index, plan, comment }
}

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
            By::Keys(keys) => element_key(value, keys).map(ChildId::Key),
            By::Value => value.scalar().map(ChildId::Value),
            By::Index => Some(ChildId::Index(i)),
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

/// The other side's map or list, where dest has none: a plan that leaves of it only what is asked for, directives and nulls taken out.
/// `identity` are the merge keys of the element that it is; they stay.
fn cut_down<'a>(inside: &Inside<'a>, identity: &[&str]) -> Plan<'a> {
    let keys = inside.by.keys();
    let put = |key: Option<NodeRef<'a>>, change: &Change<'a>| -> Option<New<'a>> {
        match &change.wants {
            Wants::Nothing => None,
            Wants::Value(value) => Some(New { key, value: *value, trim: Plan::Keep }),
            Wants::Inside(inner) => Some(New { key, value: inner.like, trim: cut_down(inner, keys) }),
        }
    };
    let mut children = inside.children.iter().peekable();
    let mut slots = Vec::new();
    for (index, (key, value)) in inside.like.written().enumerate() {
        let child = children.next_if(|c| c.node.is_some_and(|n| n.1.is(value)));
        let plan = match child.and_then(|c| put(key, &c.change)) {
            Some(new) if new.value.is(value) => new.trim,
            Some(new) => Plan::Put(Box::new(new)),
            None if child.is_none() && key.is_some_and(|k| identity.contains(&k.string())) => Plan::Keep,
            None => Plan::Remove,
        };
        slots.push(Slot::Dest { index, plan, comment: None });
    }
    slots.extend(children.filter_map(|c| put(c.node.and_then(|n| n.0), &c.change)).map(Slot::New));
    if slots.iter().all(|s| matches!(s, Slot::Dest { plan: Plan::Keep, .. })) {
        Plan::Keep
    } else {
        Plan::Inside(slots)
    }
}

/// A list for a list: what both have at their ends stays to the byte, and only what lies between is replaced.
fn list_over_list<'a>(dest: NodeRef<'a>, updated: NodeRef<'a>) -> Plan<'a> {
    let (old, new): (Vec<_>, Vec<_>) = (dest.elements().collect(), updated.elements().collect());
    let prefix = old.iter().zip(&new).take_while(|(a, b)| same(**a, **b)).count();
    let suffix = old[prefix..].iter().rev().zip(new[prefix..].iter().rev()).take_while(|(a, b)| same(**a, **b)).count();
    let (old_middle, new_middle) = (prefix..old.len() - suffix, &new[prefix..new.len() - suffix]);
    let put = |value: NodeRef<'a>| New { key: None, value, trim: Plan::Keep };
    let keep = |index| Slot::Dest { index, plan: Plan::Keep, comment: None };
    let mut slots: Vec<Slot<'a>> = (0..prefix).map(keep).collect();
    for (i, index) in old_middle.clone().enumerate() {
        let (plan, comment) = match new_middle.get(i) {
            Some(value) if same(old[index], *value) => (Plan::Keep, None),
            Some(value) => {
                (Plan::Put(Box::new(put(*value))), comment_text(&Place::of_element(updated, *value), *value))
            }
            None => (Plan::Remove, None),
        };
        slots.push(Slot::Dest { index, plan, comment });
    }
    slots.extend(new_middle.iter().skip(old_middle.len()).map(|value| Slot::New(put(*value))));
    slots.extend((old.len() - suffix..old.len()).map(keep));
    Plan::Inside(slots)
}
