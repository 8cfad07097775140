//! The files of packages that hold no resources, and their merge.
//!
//! A file may be a README, a template of a chart, or the values of one. Versions of it merge as files. A text alone that holds no resources merges
//! like such a file. Its path is empty.

use krm_job::carried::{Carried, CarriedChange, Combiner};
use krm_job::forms::{Taken, Versions};
use krm_job::role::Role;
use krm_names::file_path;
use krm_package::package::FileChange;
use krm_package::resource::{Resource, are_in, is_kustomization};
use krm_schema::mode::Mode;
use krm_schema::schema::files;
use krm_tree::sides::Sides;
use krm_yaml::NodeRef;

use super::Error;
use super::side::PackageSide;

/// The resources of each role besides dest.
pub type Given<'a> = Vec<(Role, Vec<Resource<'a>>)>;

/// Whether a source and dest are each a text alone that is one map and no resource.
fn are_plain(mode: Mode, sides: &Sides<PackageSide<'_>>) -> bool {
    let is_plain = |side: &PackageSide<'_>| {
        let first = side.documents().next().filter(|(path, _)| path.is_empty());
        first.is_some_and(|(_, text)| text.roots().len() == 1 && text.roots().all(NodeRef::is_map) && !are_in(text))
    };
    mode != Mode::ThreeWay && is_plain(&sides.updated) && is_plain(&sides.dest)
}

/// Dest's resources, and those of the other roles.
pub fn resources<'a>(mode: Mode, sides: &Sides<PackageSide<'a>>) -> (Vec<Resource<'a>>, Given<'a>) {
    let of_file = are_plain(mode, sides).then(|| files::of_file(""));
    let of_type = |resource: &Resource<'a>| match of_file {
        Some(of_file) => resource.clone().of_file(of_file),
        None => resource.clone(),
    };
    let given = Role::of(mode).iter().map(|role| {
        let side = if *role == Role::Original { &sides.original } else { &sides.updated };
        (*role, side.resources.iter().map(of_type).collect())
    });
    (sides.dest.resources.iter().map(of_type).collect(), given.collect())
}

/// The merge of the files of packages that are merged as files, by their paths.
pub fn carried<'s, 'c>(
    sides: &'s Sides<PackageSide<'_>>,
    taken: &Taken<'_>,
    combiner: impl Fn(&str) -> Combiner<'c>,
) -> Vec<(&'s str, Carried)> {
    let files = Sides::of(|side| &sides[side].files[..]);
    let of_versions = |versions: Versions<'s, _>| {
        let Ok(file) = versions.carried(taken);
        let file = file?;
        let carried = match versions.in_neither_form(files) {
            Some(told) => Carried { results: vec![told], ..Carried::default() },
            None => file.carry(&combiner(versions.path)),
        };
        Some((versions.path, carried))
    };
    Versions::by_path(files).into_iter().filter_map(of_versions).collect()
}

/// The change of a file without resources; `None` if it stays.
///
/// # Errors
/// Upstream has a file where no new file may be.
pub fn change(path: &str, CarriedChange { old, new, .. }: CarriedChange) -> Result<Option<FileChange>, Error> {
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    if old.is_none() && !path.is_empty() {
        file_path::of_new_file(path).map_err(|fault| Error::misplaced(path, fault))?;
    }
    let path = path.to_owned();
    Ok(match (old, new) {
        (old, new) if old == new => None,
        (None, Some(new)) => Some(FileChange::Added { path, text: text(new), like: None }),
        (Some(_), Some(new)) => Some(FileChange::Changed { path, text: text(new), edits: None }),
        (_, None) => Some(FileChange::Removed { path }),
    })
}

/// The path that a file has after its change.
pub fn path_of(change: &FileChange) -> &str {
    match change {
        FileChange::Added { path, .. } | FileChange::Changed { path, .. } | FileChange::Removed { path } => path,
        FileChange::Moved { to, .. } => to,
    }
}

/// The kustomizations of dest and updated, because they make resources that others refer to.
pub fn kustomizations<'a>(sides: &Sides<PackageSide<'a>>) -> Vec<NodeRef<'a>> {
    let files = [&sides.updated, &sides.dest].into_iter().flat_map(PackageSide::documents);
    files.filter(|(path, _)| is_kustomization(path)).flat_map(|(_, document)| document.roots()).collect()
}
