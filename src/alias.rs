//! Aliases, anchors and `<<` in dest: they stay in the text until a plan goes into one, and then only that use is written out.
//!
//! A plan must not change what an alias stands for elsewhere, and must not leave an alias without its anchor. So before a plan is
//! carried out, the uses in its way are found ([`in_the_way`]) and written out ([`write_out`]), and the merge is done again on the new text.

use crate::merge::{Merged, New, Plan, Slot};
use crate::yaml::{Kind, NodeRef};

/// The aliases, and the values of `<<` entries, of a resource that have to be written out before its plan can be carried out.
pub fn in_the_way<'a>(dest: NodeRef<'a>, merged: &Merged<'a>) -> Vec<NodeRef<'a>> {
    // What a `<<` entry brings in may be written there itself, without any alias.
    let mut found = merged.entered.clone();
    if !dest.has_aliases() {
        return found;
    }
    let mut changed = Vec::new();
    collect_changed(dest, &merged.plan, &mut changed);
    for alias in dest.document().aliases_in(dest) {
        let target = alias.resolve();
        let is_changed = |c: &Changed<'a>| match c {
            Changed::Gone(node) => node.holds(target) || target.holds(*node),
            Changed::Within(node) => target.holds(*node),
            Changed::Moved(node) => {
                let may_mean_another = || node.holds(alias) && node.document().has_anchors_in(*node);
                node.holds(target) || target.holds(*node) || may_mean_another()
            }
        };
        if changed.iter().any(is_changed) {
            found.push(alias);
        }
    }
    found
}

enum Changed<'a> {
    /// The node is removed or replaced.
    Gone(NodeRef<'a>),
    /// Children of the node come or go.
    Within(NodeRef<'a>),
    /// Children of the node change places, and an alias may come to stand before its anchor, or behind another one of that name.
    Moved(NodeRef<'a>),
}

fn collect_changed<'a>(node: NodeRef<'a>, plan: &Plan<'a>, out: &mut Vec<Changed<'a>>) {
    match plan {
        Plan::Keep => {}
        // A plan that goes into an alias is in the way itself; what the alias stands for is not changed by it.
        Plan::Inside(_) if node.kind() == Kind::Alias => {}
        Plan::Put(_) | Plan::Remove => out.push(Changed::Gone(node)),
        Plan::Inside(slots) => {
            let written: Vec<_> = node.written().collect();
            if slots.iter().any(|s| matches!(s, Slot::New(_) | Slot::Dest { plan: Plan::Remove, .. })) {
                out.push(Changed::Within(node.resolve()));
            }
            let places =
                slots.iter().filter_map(|s| if let Slot::Dest { index, .. } = s { Some(*index) } else { None });
            if !places.is_sorted() {
                out.push(Changed::Moved(node.resolve()));
            }
            for slot in slots {
                if let Slot::Dest { index, plan, .. } = slot {
                    if let (Plan::Remove, Some(key)) = (plan, written[*index].0) {
                        out.push(Changed::Gone(key));
                    }
                    collect_changed(written[*index].1, plan, out);
                }
            }
        }
    }
}

/// The plan that writes out these uses and changes nothing that anything else stands for.
pub fn write_out<'a>(node: NodeRef<'a>, uses: &[NodeRef<'a>]) -> Plan<'a> {
    written_out(node, &with_orphans(node, uses))
}

/// These uses, with the aliases whose anchors stand in what is written out with them: a copy has no anchors.
fn with_orphans<'a>(node: NodeRef<'a>, uses: &[NodeRef<'a>]) -> Vec<NodeRef<'a>> {
    let mut uses = uses.to_vec();
    let mut copied = copied_whole(node);
    let mut aliases: Vec<_> = node.document().aliases_in(node).collect();
    loop {
        let (goes, stays): (Vec<_>, Vec<_>) = copied.into_iter().partition(|entry| is_used(*entry, &uses));
        let (orphans, others): (Vec<_>, Vec<_>) = aliases
            .into_iter()
            .partition(|alias| goes.iter().any(|(k, v)| k.holds(alias.resolve()) || v.holds(alias.resolve())));
        if orphans.is_empty() {
            return uses;
        }
        uses.extend(orphans);
        (copied, aliases) = (stays, others);
    }
}

/// The entries that cannot be written out from within, so that a copy of all they hold takes their place: `<<`, and those whose key is an
/// alias. What lies in a `<<` goes with it.
fn copied_whole(node: NodeRef<'_>) -> Vec<(NodeRef<'_>, NodeRef<'_>)> {
    fn collect<'a>(node: NodeRef<'a>, out: &mut Vec<(NodeRef<'a>, NodeRef<'a>)>) {
        for (key, value) in node.written().filter(|_| node.kind() != Kind::Alias) {
            let is_merge_key = key.is_some_and(NodeRef::is_merge_key);
            out.extend(key.filter(|k| is_merge_key || k.kind() == Kind::Alias).map(|k| (k, value)));
            if !is_merge_key {
                collect(value, out);
            }
        }
    }
    let mut out = Vec::new();
    if node.document().has_merge_keys() || node.has_aliases() {
        collect(node, &mut out);
    }
    out
}

/// Whether such an entry has to be written out: a `<<` for anything in it, any other for its key.
fn is_used((key, value): (NodeRef<'_>, NodeRef<'_>), uses: &[NodeRef<'_>]) -> bool {
    uses.iter().any(|u| u.is(key) || (key.is_merge_key() && value.holds(*u)))
}

fn written_out<'a>(node: NodeRef<'a>, uses: &[NodeRef<'a>]) -> Plan<'a> {
    if !uses.iter().any(|u| node.holds(*u)) {
        return Plan::Keep;
    }
    if node.kind() == Kind::Alias {
        return Plan::Put(Box::new(New::whole(None, node.resolve())));
    }
    let copy = |(key, value)| Slot::New(New::whole(Some(key), value));
    let mut is_merged = false;
    let mut slots = Vec::new();
    for (index, (key, value)) in node.written().enumerate() {
        match key.filter(|k| is_used((*k, value), uses)) {
            Some(key) => {
                slots.push(Slot::dest(index, Plan::Remove));
                if !key.is_merge_key() {
                    slots.push(copy((key, value)));
                } else if !std::mem::replace(&mut is_merged, true) {
                    let own = |k: NodeRef<'a>| node.entries().any(|(o, _)| o.is(k));
                    slots.extend(node.fields().filter(|(k, _)| !own(*k)).map(copy));
                }
            }
            None => slots.push(Slot::dest(index, written_out(value, uses))),
        }
    }
    Plan::Inside(slots)
}

/// The values of all `<<` entries of a resource: what is lowered to a change must have them written out.
pub fn merged(node: NodeRef<'_>) -> Vec<NodeRef<'_>> {
    copied_whole(node).into_iter().filter(|(key, _)| key.is_merge_key()).map(|(_, value)| value).collect()
}

/// An alias that stands in this item with its anchor in another one, or the other way round.
pub fn shared(item: NodeRef<'_>) -> Option<NodeRef<'_>> {
    item.document().aliases().find(|alias| item.holds(*alias) != item.holds(alias.resolve()))
}
