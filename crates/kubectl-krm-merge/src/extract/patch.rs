//! A patch between two sides: one document for each resource that differs.

use std::collections::{BTreeMap, HashSet};
use std::hash::Hash;

use anyhow::{Result, anyhow};
use krm_folders::documents;
use krm_folders::held::Held;
use krm_folders::merge::merge;
use krm_folders::side::{Side, SidePart};
use krm_job::event::Severity;
use krm_job::forms::is_in_the_way;
use krm_job::role::Role;
use krm_merge::extract::{Extent, Extraction, ListDirectives, deletion};
use krm_merge_core::policy::Renames;
use krm_package::package::{Member, members};
use krm_package::resource::{Identity, Resource};
use krm_package::rules::blamed;
use krm_package::transport::{with_path, with_type};
use krm_schema::mode::Mode;
use krm_schema::schema::Types;
use krm_tree::limit::Budget;
use krm_tree::sides::Sides;
use krm_tree::splice::standalone;
use krm_tree::tree::Tree;
use krm_words::Message;

use super::left::{Left, WhyLeft};
use crate::pairs::{Pair, pairs};
use crate::setting::Setting;

/// The name of the patch in messages.
const NAME: &str = "the patch";

/// A patch, and the differences that it lacks.
pub struct Patch {
    /// Its documents; empty if nothing differs.
    pub text: String,
    /// The resources that the patch would have to change, but cannot name.
    pub unnamed: Vec<Left>,
    /// What a user of the patch should know about its lists and maps.
    pub held: Vec<Left>,
}

impl Patch {
    /// The patch that turns original into dest, as far as a patch can express the difference.
    ///
    /// # Errors
    /// Resources cannot be compared; or the patch takes more than the budget.
    pub fn between(
        original: &Side,
        dest: &Side,
        types: &Types<'_>,
        mode: Mode,
        extent: Extent,
        budget: &Budget,
    ) -> Result<Self> {
        let directives = ListDirectives::of(dest.files.iter().chain(&original.files).filter_map(Held::document));
        let extraction = Extraction { extent, directives: &directives };
        let [old, new] = [original, dest].map(resources);
        let known: HashSet<Identity<'_>> = old.iter().filter_map(|resource| resource.identity).collect();
        let shared = repeated(&old, |resource| resource.identity);
        let twins = repeated(&old, |resource| resource.identity.map(|identity| (identity, resource.place())));
        let is_twin = |old: &Resource<'_>| old.identity.is_some_and(|own| twins.contains(&(own, old.place())));
        let (mut documents, mut unnamed, mut held) = (Vec::new(), Vec::new(), Vec::new());
        for Pair { old, new } in pairs(old, new) {
            let is_known = |new: &Resource<'_>| new.identity.is_some_and(|identity| known.contains(&identity));
            let beyond = match (&old, &new) {
                (Some(old), _) if is_twin(old) => Some(Left::of_resource(old, WhyLeft::Several)),
                (None, Some(new)) if is_known(new) => Some(Left::of_resource(new, WhyLeft::Another)),
                (None, Some(new)) if is_taken(original, new)? => Some(Left::of_resource(new, WhyLeft::Taken)),
                _ => None,
            };
            let tree = match (&old, &new) {
                (Some(old), Some(new)) if old.identity.is_some() => {
                    let identity = old.identity.unwrap_or(NOBODY);
                    let cursor = types.root(identity.api_version, identity.kind, mode);
                    let patch = extraction.patch(old, new, cursor);
                    let patch = patch.map_err(|e| anyhow!("{}:{e}", blamed(&e, [old], new).origin.text()))?;
                    patch.map(|patch| {
                        held.extend(patch.held.iter().filter_map(|one| Left::of_held(one, new)));
                        placed(patch.tree, path_of(old, &shared))
                    })
                }
                (Some(old), None) if old.identity.is_some() => Some(placed(deletion(old), path_of(old, &shared))),
                // In mode Strategic, a patch for a resource that does not exist is an error.
                (None, Some(new)) if new.identity.is_some() && mode != Mode::Strategic => {
                    Some(placed(with_type(Tree::Node(new.node()), new), new.path.filter(|_| original.is_folder())))
                }
                // No patch can express the other differences. [`Left`] reports them after the merge.
                _ => None,
            };
            match (tree, beyond) {
                (Some(_), Some(left)) => unnamed.push(left),
                (Some(tree), None) => documents.push(standalone(&tree, budget)?),
                (None, _) => {}
            }
        }
        Ok(Self { text: documents.join("---\n"), unnamed, held })
    }

    /// Merges the patch into original. Returns the content of the files by their paths.
    ///
    /// # Errors
    /// The patch cannot be merged.
    pub fn merged(&self, original: &Side, setting: &Setting) -> Result<BTreeMap<String, Vec<u8>>> {
        let mut files = BTreeMap::new();
        for held in &original.files {
            files.insert(held.path.clone(), held.bytes()?.into_owned());
        }
        if self.text.is_empty() {
            return Ok(files);
        }
        let mut patch = Side::of_text(NAME, &self.text)?;
        documents::follow(&mut patch, original);
        let merge = merge(original, &[(Role::Source, vec![patch])], || setting.config())?;
        if let Some(error) = merge.results.iter().find(|result| result.severity == Severity::Error) {
            return Err(anyhow!("{NAME} must be one that can be merged: {}", Message::of(error)));
        }
        for change in merge.changes {
            match change.new {
                Some(text) => files.insert(change.path, text),
                None => files.remove(&change.path),
            };
        }
        Ok(files)
    }
}

/// Whether original holds something else in the file of a new resource.
fn is_taken(original: &Side, new: &Resource<'_>) -> Result<bool> {
    let there = new.path.filter(|_| original.is_folder()).and_then(|path| original.at(path));
    there.map_or(Ok(false), |held| is_in_the_way(held, None))
}

const NOBODY: Identity<'static> = Identity { api_version: "", kind: "", namespace: "", name: "" };

/// A document of the patch. It gets a path if its identity is not enough to find the resource, or if the resource is new and must go to a
/// file.
fn placed<'a>(tree: Tree<'a>, path: Option<&'a str>) -> Tree<'a> {
    match path {
        Some(path) => with_path(tree, path.into(), None),
        None => tree,
    }
}

/// The path of a resource, if other resources have its identity, too.
fn path_of<'a>(resource: &Resource<'a>, shared: &HashSet<Identity<'_>>) -> Option<&'a str> {
    resource.path.filter(|_| resource.identity.is_some_and(|identity| shared.contains(&identity)))
}

fn resources(side: &Side) -> Vec<Resource<'_>> {
    side.resources(SidePart::Role).into_iter().map(|(_, resource)| resource).collect()
}

/// The resources of dest that a three-way merge would take for resources of original with another identity. From now on, the aliases of both
/// sides are links, as in that merge.
pub fn renamed(original: &Side, dest: &Side) -> Vec<Left> {
    let [old, new] = [original, dest].map(resources);
    let sides = Sides { original: &old[..], updated: &old[..], dest: &new[..] };
    // If the merge cannot tell resources apart, it names no pairs.
    let members = members(sides, Renames::Follow).unwrap_or_default();
    let left = |Member { sides, .. }: &Member<'_, '_>| {
        let (old, new) = (sides.original?, sides.dest?);
        (old.identity? != new.identity?).then(|| Left::of_resource(new, WhyLeft::Renamed))
    };
    members.iter().filter_map(left).collect()
}

/// The values that `read` gives for more than one resource.
fn repeated<'a, T: Copy + Eq + Hash>(
    resources: &[Resource<'a>],
    read: impl Fn(&Resource<'a>) -> Option<T>,
) -> HashSet<T> {
    let mut known = HashSet::new();
    resources.iter().filter_map(read).filter(|one| !known.insert(*one)).collect()
}
