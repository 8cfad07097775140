//! Warns if dest holds another release of upstream beside original or updated.
//!
//! Original and updated may be folders in dest. The merge then does not take them for a part of dest. A third release in the folder that
//! holds them is a part of dest, so its resources look like dest's own: upstream's changes may go there, or a resource that dest moved may
//! look deleted.

use std::collections::{BTreeMap, HashSet};
use std::path::Path;

use krm_merge::resource::Identity;
use krm_merge_function::config::Role;
use krm_merge_function::results::{File, Outcome, Severity};

use crate::side::{Held, Root, Side};

/// One warning for each folder in dest that is beside original or updated and has a resource of them.
pub fn warnings(dest: &Side, given: &[(Role, Vec<Side>)]) -> Vec<Outcome> {
    let Root::Folder(tree) = &dest.root else { return Vec::new() };
    let is_release = |role: Role| matches!(role, Role::Original | Role::Updated);
    let releases: Vec<&Side> =
        given.iter().filter(|(role, _)| is_release(*role)).flat_map(|(_, sides)| sides).collect();
    let around = releases.iter().filter_map(|side| side.place()?.parent()?.strip_prefix(&tree.root).ok());
    // A release at the top of dest is beside dest's own folders.
    let around: HashSet<&Path> = around.filter(|path| !path.as_os_str().is_empty()).collect();
    if around.is_empty() {
        return Vec::new();
    }
    let known: HashSet<Identity<'_>> =
        releases.iter().flat_map(|side| &side.files).flat_map(Held::identities).collect();
    let mut found: BTreeMap<&Path, &str> = BTreeMap::new();
    for held in dest.files.iter().filter(|held| held.identities().any(|identity| known.contains(&identity))) {
        let is_beside = |folder: &&Path| folder.parent().is_some_and(|above| around.contains(above));
        if let Some(folder) = Path::new(&held.path).ancestors().skip(1).find(is_beside) {
            found.entry(folder).or_insert(&held.path);
        }
    }
    found.into_iter().map(|(folder, path)| warning(folder, path)).collect()
}

fn warning(folder: &Path, path: &str) -> Outcome {
    let message = format!(
        "the folder \"{}\" must not be another release of upstream, because it is merged as a part of dest: move it out, or delete it",
        folder.display()
    );
    let file = Some(File { path: path.to_owned(), index: None });
    Outcome { file, ..Outcome::new(Severity::Warning, message) }
}
