//! Decides which files are merged as texts although they hold resources: on another side they hold something else, or nobody can tell which
//! resource is which.
//!
//! In the next release, a file of resources may become a template, a list of results, or YAML with a duplicate key. The engine could only
//! treat its resources as deleted, and refuse the new content. But git still merges its lines. So such a file is text on all sides. So is a
//! file of upstream with a resource that has no name, or one that the API server makes of its `generateName`: no side says which resource of
//! another side it is. So is a file that has a resource more often on one side than on another.

use std::collections::{HashMap, HashSet};

use crate::held::{Content, Held};
use crate::side::Side;
use anyhow::Result;
use krm_files::cores;
use krm_job::carried::AsText;
use krm_job::role::Role;
use krm_merge_core::refine::has_twins;
use krm_package::resource::Identity;
use krm_yaml::Document;

/// In a three-way merge of folders, makes a file text on all sides if upstream changed it and updated and dest hold it in different forms.
/// A file that has a duplicate key on a side does not count as a file of resources. A file becomes text on all sides, whoever changed it, if
/// it has a resource without a name in original or updated, or if it has a resource more often on one side than on another.
///
/// A file still counts as a file of resources if one of its resources is at another path on any side, because the resource may have moved.
/// The path of an overlay does not matter: there, original and updated both have the resource. A file also counts as one of resources if it
/// replaces a file that dest did not change. A file with only comments has no form.
///
/// # Errors
/// A file cannot be read.
pub fn agree(dest: &mut Side, given: &mut [(Role, Vec<Side>)]) -> Result<()> {
    let side = |role| given.iter().find(|(r, _)| *r == role).and_then(|(_, sides)| sides.first());
    let (Some(original), Some(updated)) = (side(Role::Original), side(Role::Updated)) else { return Ok(()) };
    let sides = [original, updated, &*dest];
    if !sides.iter().all(|side| side.is_folder()) {
        return Ok(());
    }
    let why = why_text(sides)?;
    let texts = given.iter_mut().flat_map(|(_, sides)| sides).chain([dest]);
    for held in texts.flat_map(|side| &mut side.files) {
        held.content = match std::mem::replace(&mut held.content, Content::Other) {
            Content::Resources(document) => match why.get(&held.path) {
                Some(why) => Content::AsText(*why, document),
                None => Content::Resources(document),
            },
            other => other,
        };
    }
    Ok(())
}

/// The paths of the files that become text, each with the reason.
fn why_text(sides: [&Side; 3]) -> Result<HashMap<String, AsText>> {
    let mut found: HashMap<&str, AsText> = HashMap::new();
    for path in differing(sides)? {
        found.insert(path, AsText::Mixed);
    }
    for path in repeating(sides) {
        found.insert(path, AsText::Repeated);
    }
    // Such a resource of dest alone stays as it is.
    for held in sides[..2].iter().flat_map(|side| &side.files).filter(|held| has_no_name(held)) {
        found.insert(&held.path, AsText::Unnamed);
    }
    if found.is_empty() {
        return Ok(HashMap::new());
    }
    let lies = paths_of(sides);
    let stays = |path: &str| sides.iter().filter_map(|side| side.at(path)).all(|held| lies_only(held, &lies));
    let found = found.into_iter().filter(|(path, _)| stays(path));
    Ok(found.map(|(path, why)| (path.to_owned(), why)).collect())
}

/// The paths at which updated and dest hold different forms.
fn differing([original, updated, dest]: [&Side; 3]) -> Result<Vec<&str>> {
    let of_files = cores::map(&dest.files, |here| {
        let Some(new) = updated.at(&here.path) else { return Ok(None) };
        Ok(differ(original.at(&here.path), new, here)?.then_some(here.path.as_str()))
    });
    of_files.into_iter().filter_map(Result::transpose).collect()
}

/// The paths at which a side has a resource more often than another side that has it.
fn repeating(sides: [&Side; 3]) -> Vec<&str> {
    fn counts(held: Option<&Held>) -> HashMap<Identity<'_>, usize> {
        let mut counts = HashMap::new();
        let all = held.into_iter().flat_map(Held::resources);
        all.filter_map(|resource| resource.package_identity()).for_each(|identity| {
            *counts.entry(identity).or_default() += 1;
        });
        counts
    }
    let is_any_twice = |held: &Held| counts(Some(held)).values().any(|count| *count > 1);
    let unequal = |path: &str| {
        let of_sides = sides.map(|side| counts(side.at(path)));
        let mut all = of_sides.iter().flat_map(|of_side| of_side.iter());
        all.any(|(identity, count)| of_sides.iter().filter_map(|other| other.get(identity)).any(|other| other != count))
    };
    let paths = sides.into_iter().flat_map(|side| {
        let twice = cores::map(&side.files, |held| is_any_twice(held).then_some(held.path.as_str()));
        twice.into_iter().flatten()
    });
    paths.filter(|path| unequal(path)).collect()
}

/// Whether a resource in a file has no identity.
fn has_no_name(held: &Held) -> bool {
    held.resources().any(|resource| resource.identity.is_none())
}

/// Whether no resource of a file may have moved to another path, or from there.
fn lies_only(held: &Held, lies: &HashMap<Identity<'_>, Lies<'_>>) -> bool {
    held.identities().all(|identity| lies.get(&identity).is_none_or(|lies| *lies == Lies::In(&held.path)))
}

/// Whether upstream changed a file, and updated and dest hold it in different forms.
fn differ(old: Option<&Held>, new: &Held, here: &Held) -> Result<bool> {
    let plain = match (new.document(), here.document()) {
        (Some(_), None) => here,
        (None, Some(_)) => new,
        (Some(theirs), Some(ours)) => {
            let was = old.and_then(Held::document).map(Document::source);
            let is_merged = was != Some(theirs.source()) && was != Some(ours.source());
            // After a first run, dest has updated's form, and its resources.
            let had_another_form = new.identities().eq(here.identities())
                && old.filter(|old| old.document().is_none()).map(Held::is_empty).transpose()? == Some(false);
            let is_any_twice = || [old, Some(new), Some(here)].into_iter().flatten().any(has_key_twice);
            return Ok(is_merged && (had_another_form || is_any_twice()));
        }
        (None, None) => return Ok(false),
    };
    let is_as = |side: &Held| Ok::<_, anyhow::Error>(old.map(Held::bytes).transpose()? == Some(side.bytes()?));
    let is_replaced = here.document().is_none() && is_as(here)?;
    Ok(!plain.is_empty()? && !is_as(new)? && !is_replaced)
}

/// Whether a map in a file has a duplicate key. The API server does not accept such a resource, and nobody knows which of the values
/// counts.
fn has_key_twice(held: &Held) -> bool {
    held.resources().any(|resource| has_twins(resource.node()))
}

/// The paths at which the resources of an identity are. A path where original and updated both have it does not count: there, it stayed.
#[derive(Debug, PartialEq, Eq)]
enum Lies<'s> {
    In(&'s str),
    InSeveral,
}

fn paths_of<'s>(sides: [&'s Side; 3]) -> HashMap<Identity<'s>, Lies<'s>> {
    fn all(side: &Side) -> impl Iterator<Item = (&str, Identity<'_>)> {
        side.files.iter().flat_map(|held| held.identities().map(|identity| (held.path.as_str(), identity)))
    }
    let [original, updated, _] = sides;
    let was: HashSet<_> = all(original).collect();
    let stayed: HashSet<_> = all(updated).filter(|lies| was.contains(lies)).collect();
    let mut lies = HashMap::new();
    for (path, identity) in sides.into_iter().flat_map(all).filter(|lies| !stayed.contains(lies)) {
        lies.entry(identity)
            .and_modify(|known| {
                if *known != Lies::In(path) {
                    *known = Lies::InSeveral;
                }
            })
            .or_insert(Lies::In(path));
    }
    lies
}
