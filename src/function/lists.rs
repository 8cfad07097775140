//! What a list of resources says besides its items, such as its metadata: it merges three-way, like any map.
//!
//! A list has no identity, so the lists of three sides are one where they hold the same resource.

use krm_merge::edits::TextEdits;
use krm_merge::package::Member;
use krm_merge::resource::{Located, Resource};
use krm_merge::sides::Sides;
use krm_merge::yaml::NodeRef;

use super::run::{Fate, Run};
use crate::results::Outcome;

/// Merges the lists of dest with those of original and updated that hold the same resources.
///
/// # Errors
/// A list cannot be merged, such as one with a repeated key.
pub(super) fn merge<'a>(members: &[Member<'_, 'a>], run: &mut Run<'a>) -> Result<(), Box<Outcome>> {
    let mut done: Vec<NodeRef<'a>> = Vec::new();
    for Member { sides, .. } in members {
        let Sides { original: Some(original), updated: Some(updated), dest: Some(dest) } = sides else { continue };
        let (Some(old), Some(new), Some(here)) = (original.list, updated.list, dest.list) else { continue };
        // The resources of a list mostly follow each other.
        if done.iter().rev().any(|list| list.is(here)) {
            continue;
        }
        done.push(here);
        let list = |node, of: &Resource<'a>| Resource {
            path: of.path,
            located: Located::Nowhere,
            ..Resource::read(node, of.origin.clone())
        };
        let lists = Sides { original: list(old, original), updated: list(new, updated), dest: list(here, dest) };
        let edits = merged(&lists, run)?;
        if let Some(item) = dest.origin.item().filter(|_| !edits.is_empty()) {
            run.merged.lists.insert(item, edits);
        }
    }
    Ok(())
}

/// The edits that make a list of dest what it becomes, apart from its items. Its conflicts are settled and reported.
fn merged<'a>(lists: &Sides<Resource<'a>>, run: &mut Run<'a>) -> Result<TextEdits, Box<Outcome>> {
    let Sides { updated, dest, .. } = lists;
    let sides = Sides::of(|side| &lists[side]);
    let merged = run.rules.upgraded_list(sides).map_err(|e| Box::new(Outcome::unmergeable(&e)))?;
    match run.upgrade(sides.map(Some), [dest, updated], merged, None)?.0 {
        Fate::Changed(tree) => run.edits(dest, &tree, None).map(|(edits, _)| edits),
        Fate::Unchanged | Fate::Unmarked(_) | Fate::Written(..) | Fate::Gone => Ok(TextEdits::default()),
    }
}
