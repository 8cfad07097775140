//! [`Anchors`]: what has which anchor in a resource, so that an alias that upstream adds stands for what dest has under its name, and no link
//! follows an anchor that its value has lost.

use std::cell::OnceCell;

use krm_tree::sides::{Side, Sides};
use krm_yaml::hashed::HashMap;
use krm_yaml::{Error, NodeRef, same};

/// The nodes with an anchor of a resource, by the anchor; `None` if several have it.
type ByAnchor<'a> = HashMap<&'a str, Option<NodeRef<'a>>>;

/// The nodes with an anchor on each side of a resource.
#[derive(Default)]
pub(super) struct Anchors<'a> {
    roots: Sides<Option<NodeRef<'a>>>,
    /// Those of original, updated and dest, found on first use.
    found: OnceCell<Sides<ByAnchor<'a>>>,
}

impl<'a> Anchors<'a> {
    pub fn of(roots: Sides<Option<NodeRef<'a>>>) -> Self {
        Self { roots, found: OnceCell::new() }
    }

    /// What an alias of updated is to stand for in dest: what has its anchor there. `None` if that is something else, because it has neither
    /// updated's value, nor did upstream leave original's alone.
    pub fn in_dest(&self, alias: NodeRef<'a>) -> Option<NodeRef<'a>> {
        let target = alias.resolve();
        let anchor = target.anchor_text()?;
        let with_anchor = |side: Side| self.found()[side].get(anchor).copied().flatten();
        let own = with_anchor(Side::Dest).filter(|_| self.roots.updated.is_some_and(|root| root.holds(target)))?;
        let is_meant = same(own, alias) || with_anchor(Side::Original).is_some_and(|was| same(was, alias));
        is_meant.then_some(own)
    }

    /// Checks that a side gave the anchor of a value to another one only if the other side left the anchor its name and, if the other value is a
    /// part of this one, left the value alone. Otherwise the links and changes of the other side would be at the wrong value.
    ///
    /// # Errors
    /// The sides changed the anchor in these ways.
    #[inline(never)]
    pub fn check(&self, value: Sides<Option<NodeRef<'a>>>) -> Result<(), Error> {
        let (Some(original), Some(updated), Some(_)) = (value.original, value.updated, value.dest) else {
            return Ok(());
        };
        let Some(was) = original.anchor_text().filter(|_| updated.document().keeps_links()) else { return Ok(()) };
        let anchor = value.map(|side| side.and_then(NodeRef::anchor_text));
        let is_moved = |side: Side, other: Side| {
            let Some(holder) = self.found()[side].get(was).filter(|_| anchor[side].is_none()) else { return false };
            let is_part = || holder.zip(value[side]).is_some_and(|(holder, value)| value.holds(holder));
            let is_changed = || value[other].is_some_and(|value| !same(value, original));
            anchor[other].is_some_and(|name| name != was) || is_part() && is_changed()
        };
        if is_moved(Side::Updated, Side::Dest) || is_moved(Side::Dest, Side::Updated) {
            return Err(updated.error(format!(
                "the anchor \"{was}\" must be on one value on both sides if both change that: move it on the other side, too"
            )));
        }
        Ok(())
    }

    fn found(&self) -> &Sides<ByAnchor<'a>> {
        self.found.get_or_init(|| self.roots.map(|root| root.map(by_anchor).unwrap_or_default()))
    }
}

fn by_anchor(root: NodeRef<'_>) -> ByAnchor<'_> {
    let mut found = ByAnchor::default();
    for node in root.document().anchored_in(root) {
        let Some(anchor) = node.anchor_text() else { continue };
        found.entry(anchor).and_modify(|only| *only = None).or_insert(Some(node));
    }
    found
}
