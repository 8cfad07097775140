//! Decides which files are merged as texts although they hold resources: on another side they hold something else, or one of the resources
//! has no name.
//!
//! In the next release, a file of resources may become a template, a list of results, or YAML with a duplicate key. The engine could only
//! treat its resources as deleted, and refuse the new content. But git still merges its lines. So such a file is text on all sides. So is a
//! file of upstream with a resource that has `generateName`, because the API server makes its name: no side says which resource of another
//! side it is.

use std::collections::{HashMap, HashSet};

use anyhow::Result;
use krm_merge::refine::has_twins;
use krm_merge::resource::Identity;
use krm_merge::yaml::{Document, NodeRef};
use krm_merge_function::config::Role;

use crate::cores;
use crate::merge::is_empty;
use crate::side::{Content, Held, Side};

/// In a three-way merge of folders, makes a file text on all sides if upstream changed it and updated and dest hold it in different forms.
/// A file that has a duplicate key on a side does not count as a file of resources. A file that has a resource without a name in original or
/// updated becomes text on all sides, whoever changed it.
///
/// A file still counts as a file of resources if one of its resources is at another path on any side, because the resource may have moved.
/// It also does if it replaces a file that dest did not change. A file with only comments has no form.
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
    let (unnamed, mixed) = (unnamed(sides), mixed(sides)?);
    let texts = given.iter_mut().flat_map(|(_, sides)| sides).chain([dest]);
    for held in texts.flat_map(|side| &mut side.files) {
        held.content = match std::mem::replace(&mut held.content, Content::Other) {
            Content::Resources(document) if unnamed.contains(&held.path) => Content::Unnamed(document),
            Content::Resources(document) if mixed.contains(&held.path) => Content::Mixed(document),
            other => other,
        };
    }
    Ok(())
}

/// The paths of the files that become text.
fn mixed(sides: [&Side; 3]) -> Result<HashSet<String>> {
    let [original, updated, dest] = sides;
    let of_files = cores::map(&dest.files, |here| {
        let Some(new) = updated.at(&here.path) else { return Ok(None) };
        let old = original.at(&here.path);
        Ok(differ(old, new, here)?.then_some([old, Some(new), Some(here)]))
    });
    let differing = of_files.into_iter().filter_map(Result::transpose).collect::<Result<Vec<_>>>()?;
    if differing.is_empty() {
        return Ok(HashSet::new());
    }
    let lies = paths_of(sides);
    let stay = differing.into_iter().filter(|sides| sides.iter().flatten().all(|held| lies_only(held, &lies)));
    Ok(stay.flat_map(|sides| sides[2]).map(|held| held.path.clone()).collect())
}

/// The paths at which original or updated has a resource with `generateName` and no name. Such a resource of dest alone stays as it is.
fn unnamed(sides: [&Side; 3]) -> HashSet<String> {
    let [original, updated, _] = sides;
    let files = [original, updated].into_iter().flat_map(|side| &side.files);
    let paths: HashSet<&str> = files.filter(|held| has_no_name(held)).map(|held| held.path.as_str()).collect();
    if paths.is_empty() {
        return HashSet::new();
    }
    let lies = paths_of(sides);
    let stays = |path: &&str| sides.into_iter().filter_map(|side| side.at(path)).all(|held| lies_only(held, &lies));
    paths.into_iter().filter(stays).map(str::to_owned).collect()
}

/// Whether a resource in a file has `generateName` and no name.
fn has_no_name(held: &Held) -> bool {
    held.resources().any(|resource| resource.is_named_by_server())
}

/// Whether all resources of a file are at its path only.
fn lies_only(held: &Held, lies: &HashMap<Identity<'_>, Lies<'_>>) -> bool {
    held.identities().all(|identity| lies.get(&identity) == Some(&Lies::In(&held.path)))
}

/// Whether upstream changed a file, and updated and dest hold it in different forms.
fn differ(old: Option<&Held>, new: &Held, here: &Held) -> Result<bool> {
    let plain = match (new.document(), here.document()) {
        (Some(_), None) => here,
        (None, Some(_)) => new,
        (Some(theirs), Some(ours)) => {
            let was = old.and_then(Held::document).map(Document::source);
            let is_merged = was != Some(theirs.source()) && was != Some(ours.source());
            return Ok(is_merged && [old, Some(new), Some(here)].into_iter().flatten().any(has_key_twice));
        }
        (None, None) => return Ok(false),
    };
    let is_as = |side: &Held| Ok::<_, anyhow::Error>(old.map(Held::bytes).transpose()? == Some(side.bytes()?));
    let is_replaced = here.document().is_none() && is_as(here)?;
    Ok(!is_empty(plain)? && !is_as(new)? && !is_replaced)
}

/// Whether a map in a file has a duplicate key. The API server does not accept such a resource, and nobody knows which of the values
/// counts.
fn has_key_twice(held: &Held) -> bool {
    held.resources().any(|resource| has_twins(resource.node()))
}

/// Whether three texts have documents of the same kinds. Then fields with the same name mean the same in all of them, even if a document
/// lacks a name.
pub fn are_of_one_kind(texts: [&[u8]; 3]) -> bool {
    let kinds = |text: &[u8]| {
        let document = Document::parse(String::from_utf8(text.to_vec()).ok()?).ok()?;
        let kind = |root: NodeRef<'_>| root.get("kind").and_then(NodeRef::as_str).map(str::to_owned);
        document.roots().map(kind).collect::<Option<Vec<_>>>()
    };
    let [original, updated, dest] = texts.map(kinds);
    original.is_some() && original == updated && original == dest
}

/// The paths at which the resources of an identity are.
#[derive(Debug, PartialEq, Eq)]
enum Lies<'s> {
    In(&'s str),
    InSeveral,
}

fn paths_of<'s>(sides: [&'s Side; 3]) -> HashMap<Identity<'s>, Lies<'s>> {
    let mut lies = HashMap::new();
    for held in sides.into_iter().flat_map(|side| &side.files) {
        for identity in held.identities() {
            lies.entry(identity)
                .and_modify(|known| {
                    if *known != Lies::In(&held.path) {
                        *known = Lies::InSeveral;
                    }
                })
                .or_insert(Lies::In(&held.path));
        }
    }
    lies
}
