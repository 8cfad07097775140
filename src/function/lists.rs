//! What a list of resources says besides its items, such as its metadata: it merges three-way, like any map.
//!
//! A list has no identity, so the lists of three sides are one where they hold the same resource.

use krm_merge::package::Member;
use krm_merge::resource::{Located, Resource};
use krm_merge::sides::Sides;
use krm_merge::yaml::NodeRef;

use super::lints::{After, Subject};
use super::run::{Fate, Run};
use crate::results::Outcome;

/// The lists of dest with those of original and updated that hold the same resources.
pub(super) fn of<'a>(members: &[Member<'_, 'a>]) -> Vec<Sides<Resource<'a>>> {
    let mut done: Vec<NodeRef<'a>> = Vec::new();
    let mut all = Vec::new();
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
        all.push(Sides { original: list(old, original), updated: list(new, updated), dest: list(here, dest) });
    }
    all
}

/// Merges a list apart from its items. Its conflicts are settled and reported.
///
/// # Errors
/// The list cannot be merged, for example because of a repeated key.
pub(super) fn merge<'r, 'a>(list: &'r Sides<Resource<'a>>, run: &mut Run<'a>) -> Result<Subject<'r, 'a>, Box<Outcome>> {
    let (sides, dest) = (Sides::of(|side| &list[side]), &list.dest);
    let merged = run.rules.upgraded_list(sides).map_err(|e| Box::new(Outcome::unmergeable(&e)))?;
    let (fate, replaced) = run.upgrade(sides.map(Some), dest, merged, None)?;
    let after = match fate {
        Fate::Changed(tree) => {
            let (edits, _) = run.edits(dest, &tree, None)?;
            if let Some(item) = dest.origin.item().filter(|_| !edits.is_empty()) {
                run.merged.lists.insert(item, edits);
            }
            After::Made(tree)
        }
        Fate::Unchanged | Fate::Unmarked(_) | Fate::Written(..) | Fate::Gone => After::Kept(dest),
    };
    Ok(Subject { after: Some(after), replaced, ..Subject::of(sides.map(Some)) })
}
