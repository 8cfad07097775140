//! The fields that `<<` entries bring into a map of dest: an entry stays as long as no change alters its fields.
//!
//! A change of one brought-in field must not reach the other maps that share it. So the `<<` entry is then written out: its fields replace
//! it, and are merged like any others.

use krm_tree::child::ChildId;
use krm_tree::tree::{Branch, Entry, Tree, fields_in};
use krm_yaml::hashed::{Empty, HashMap, HashSet};
use krm_yaml::{Error, NodeRef};

use super::Walk;
use crate::change::{Inside, Others};

/// The fields that the `<<` entries of a map bring in.
#[derive(Default)]
pub(super) struct Merges<'a> {
    /// For each field, the value of the `<<` entry that brings it in.
    from: HashMap<&'a str, NodeRef<'a>>,
    /// The requested fields that an entry already brings in with the requested value.
    as_asked: HashSet<ChildId<'a>>,
}

impl<'a> Walk<'a> {
    /// Writes out the `<<` entries that bring in a field that a change alters.
    pub(super) fn merges(&mut self, branch: &mut Branch<'a>, inside: &Inside<'a>) -> Result<Merges<'a>, Error> {
        let mut merges = Merges::default();
        if !branch.like.document().has_merge_keys() {
            return Ok(merges);
        }
        let mut values = HashMap::new();
        for entry in branch.merge_entries() {
            for (key, value) in fields_in(entry) {
                let name = key.string();
                values.entry(name).or_insert(value);
                merges.from.entry(name).or_insert(entry);
            }
        }
        let mut used = Vec::new();
        for child in &inside.children {
            let ChildId::Field(name) = child.id else { continue };
            let (Some(value), Some(entry)) = (values.get(name), merges.from.get(name)) else { continue };
            if branch.find(&child.id).next().is_some() {
                continue;
            }
            let known = self.warnings.len();
            self.trail.push(child.id.step(&inside.by), None);
            let result = self.node(Some(Tree::Node(*value)), &child.change, &[])?;
            self.trail.pop();
            if result.is_some_and(|tree| tree.folded().is(*value)) {
                merges.as_asked.insert(child.id.clone());
            } else {
                self.warnings.truncate(known);
                used.push(*entry);
            }
        }
        write_out(branch, &used, |_| true);
        if !used.is_empty() {
            merges.as_asked.clear();
        }
        Ok(merges)
    }

    /// Writes out the `<<` entries that would bring back a removed field, or one that is removed if a conflict is decided so. If children
    /// without a request are removed, an entry stays only if each field that it brings in is requested.
    pub(super) fn settle_merges(&mut self, branch: &mut Branch<'a>, merges: &Merges<'a>, inside: &Inside<'a>) {
        if merges.from.is_empty() {
            return;
        }
        let mut used = Vec::new();
        for child in &inside.children {
            let ChildId::Field(name) = child.id else { continue };
            if branch.may_lose(&child.id) {
                used.extend(merges.from.get(name));
            }
        }
        let stays = |name| inside.others != Others::Go || merges.brings_in(&ChildId::Field(name));
        write_out(branch, &used, stays);
        if inside.others == Others::Go {
            let entries: Vec<NodeRef<'a>> = branch.merge_entries().collect();
            for entry in entries {
                let ids = fields_in(entry).map(|(key, _)| ChildId::Field(key.string()));
                let is_own = |branch: &mut Branch<'a>, id: &ChildId<'a>| branch.find(id).next().is_some();
                let goes = ids.filter(|id| !merges.brings_in(id) && !is_own(branch, id)).count();
                if goes > 0 {
                    write_out(branch, &[entry], stays);
                }
            }
        }
        // Fields that are written out now have a line for a comment.
        for child in inside.children.iter().filter(|child| merges.brings_in(&child.id)) {
            let Some(at) = branch.find(&child.id).next() else { continue };
            let (entry, parent) = (&mut branch.entries[at], branch.like);
            let was = (entry.key_of_value(), entry.value.as_ref().and_then(Tree::like));
            self.trail.push(child.id.step(&inside.by), None);
            self.annotate(entry, was, Some(parent), child);
            self.trail.pop();
        }
    }
}

impl<'a> Merges<'a> {
    /// Whether an entry brings in a field exactly as requested.
    pub(super) fn brings_in(&self, id: &ChildId<'a>) -> bool {
        self.as_asked.contains(id)
    }
}

/// Replaces `<<` entries, at the place of the first one, by the fields that they bring in and that the map does not have itself.
fn write_out<'a>(branch: &mut Branch<'a>, used: &[NodeRef<'a>], stays: impl Fn(&'a str) -> bool) {
    if used.is_empty() {
        return;
    }
    let mut copies = branch.brought_in();
    copies.retain(|entry| entry.key.is_some_and(|key| stays(key.name())));
    let is_used = |entry: &Entry<'a>| {
        let is_merge = entry.key.and_then(|k| k.node()).is_some_and(NodeRef::is_merge_key);
        is_merge && used.iter().any(|u| entry.value.as_ref().is_some_and(|v| v.is(*u)))
    };
    branch.reorder(|entries| {
        let mut out = Vec::with_capacity(entries.len() + copies.len());
        for mut entry in entries {
            let goes = is_used(&entry);
            if goes {
                entry.value = None;
            }
            out.push(entry);
            if goes {
                out.append(&mut copies);
            }
        }
        out
    });
}
