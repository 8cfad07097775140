//! A patch between two sides: one document for each resource that differs.

use std::collections::{BTreeMap, HashSet};

use anyhow::{Result, anyhow};
use krm_merge::extract::{Extent, Extraction, ListDirectives, deletion};
use krm_merge::limit::Budget;
use krm_merge::mode::Mode;
use krm_merge::resource::{Identity, Resource};
use krm_merge::schema::Types;
use krm_merge::splice::standalone;
use krm_merge::transport::{with_path, with_type};
use krm_merge::tree::Tree;
use krm_merge_function::config::Role;
use krm_merge_function::results::Severity;

use crate::merge::merge;
use crate::pairs::{Pair, pairs};
use crate::setting::Setting;
use crate::side::{Held, Part, Side};
use crate::told;

/// What messages call the patch.
const NAME: &str = "the patch";

/// A patch.
pub struct Patch {
    /// Its documents; empty where nothing differs.
    pub text: String,
}

impl Patch {
    /// The patch that makes of original what dest is, as far as a patch can.
    ///
    /// # Errors
    /// Resources that cannot be compared; more text than the budget has.
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
        let [old, new] = [original, dest].map(|side| {
            side.resources(Part::Role).into_iter().map(|(_, resource)| resource).collect::<Vec<Resource<'_>>>()
        });
        let repeated = repeated(&old);
        let is_one_of_several = |resource: &Resource<'_>| resource.identity.is_some_and(|own| repeated.contains(&own));
        let mut documents = Vec::new();
        for Pair { old, new } in pairs(old, new) {
            let tree = match (&old, &new) {
                (Some(old), Some(new)) if old.identity.is_some() => {
                    let identity = old.identity.unwrap_or(NOBODY);
                    let cursor = types.root(identity.api_version, identity.kind, mode);
                    let tree = extraction.patch(old, new, cursor).map_err(|e| anyhow!("{}:{e}", new.origin.text()))?;
                    tree.map(|tree| placed(tree, old, is_one_of_several(old)))
                }
                (Some(old), None) if old.identity.is_some() => Some(placed(deletion(old), old, is_one_of_several(old))),
                // A patch of Strategic that hits nothing is an error.
                (None, Some(new)) if new.identity.is_some() && mode != Mode::Strategic => {
                    Some(placed(with_type(Tree::Node(new.node), new), new, original.is_folder()))
                }
                // No patch can be for the others; that they differ shows in what is left.
                _ => None,
            };
            documents.extend(tree.map(|tree| standalone(&tree, budget)).transpose()?);
        }
        Ok(Self { text: documents.join("---\n") })
    }

    /// What a merge of the patch makes of original: the texts of its files by their paths.
    ///
    /// # Errors
    /// The patch cannot be merged.
    pub fn merged(&self, original: &Side, setting: &Setting) -> Result<BTreeMap<String, Vec<u8>>> {
        let mut files = BTreeMap::new();
        for held in &original.files {
            files.insert(held.path.clone(), held.bytes()?);
        }
        if self.text.is_empty() {
            return Ok(files);
        }
        let patch = vec![Side::of_text(NAME, &self.text)?];
        let merge = merge(original, &[(Role::Source, patch)], || setting.config())?;
        if let Some(error) = merge.results.iter().find(|result| result.severity == Severity::Error) {
            return Err(anyhow!("{NAME} must be one that can be merged: {}", told::line(error)));
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

const NOBODY: Identity<'static> = Identity { api_version: "", kind: "", namespace: "", name: "" };

/// A document of the patch, with the path of the resource where only that says which one is meant, or where a new one goes.
fn placed<'a>(tree: Tree<'a>, resource: &Resource<'a>, needs_path: bool) -> Tree<'a> {
    match resource.path.filter(|_| needs_path) {
        Some(path) => with_path(tree, path, None),
        None => tree,
    }
}

/// The identities that several resources share.
fn repeated<'a>(resources: &[Resource<'a>]) -> HashSet<Identity<'a>> {
    let mut known = HashSet::new();
    resources.iter().filter_map(|resource| resource.identity).filter(|identity| !known.insert(*identity)).collect()
}
