//! The files of packages that hold no resources, and their merge.
//!
//! A file may be a README, a template of a chart, or the values of one. Versions of it merge as files. A text alone that holds no resources merges
//! like such a file. Its path is empty.

use std::collections::BTreeSet;

use krm_job::carried::{AsText, Carried, CarriedChange, CarriedFile, CarriedSide, Has, with_line_ends_of_dest};
use krm_job::event::{Event, File, What};
use krm_job::role::Role;
use krm_names::file_path;
use krm_package::package::{FileChange, Written};
use krm_package::resource::{Resource, are_in, is_kustomization};
use krm_schema::mode::Mode;
use krm_schema::schema::files;
use krm_tree::limit::Budget;
use krm_tree::sides::{Side, Sides};
use krm_yaml::{Document, NodeRef};

use super::Error;
use super::side::{self, PackageSide, missed};

/// The resources of each role besides dest.
pub type Given<'a> = Vec<(Role, Vec<Resource<'a>>)>;

/// Whether each side is a text alone without resources. Versions of one merge as files do; a source and what it changes must each be one map.
pub fn are_plain(mode: Mode, sides: &Sides<PackageSide<'_>>) -> bool {
    let has_content = |document: &Document<'_>| match mode {
        Mode::ThreeWay => document.roots().any(|root| !root.is_null()),
        Mode::TwoWay | Mode::Strategic => document.roots().len() == 1 && document.roots().all(NodeRef::is_map),
    };
    let is_plain = |side: Side| {
        let mut documents = sides[side].documents();
        documents.next().is_some_and(|(path, document)| path.is_empty() && has_content(document) && !are_in(document))
    };
    is_plain(Side::Updated) && is_plain(Side::Dest) && (mode != Mode::ThreeWay || is_plain(Side::Original))
}

/// Dest's resources, and those of the other roles.
pub fn resources<'a>(mode: Mode, sides: &Sides<PackageSide<'a>>, are_plain: bool) -> (Vec<Resource<'a>>, Given<'a>) {
    let of_file = are_plain.then(|| files::of_file(""));
    let of_type = |resource: &Resource<'a>| match of_file {
        Some(of_file) => resource.clone().of_file(of_file),
        None => resource.clone(),
    };
    let given = Role::of(mode).iter().map(|role| {
        let side = if *role == Role::Original { &sides.original } else { &sides.updated };
        // In a text alone, a user meant each document as a resource, so the merge says what it lacks. Versions of one that is none merge as files
        // do.
        let unnamed = side.unnamed().filter(|resource| resource.path.is_none());
        let unnamed = unnamed.filter(|_| !are_plain || mode != Mode::ThreeWay);
        (*role, side.resources.iter().chain(unnamed).map(of_type).collect())
    });
    let dest = match mode {
        Mode::ThreeWay => sides.dest.resources.clone(),
        Mode::TwoWay | Mode::Strategic => sides.dest.resources.iter().map(of_type).collect(),
    };
    (dest, given.collect())
}

/// The files without resources that upstream changed.
pub fn files<'s>(sides: &Sides<PackageSide<'s>>, are_plain: bool) -> Vec<CarriedFile<'s>> {
    let of_resources = [&sides.original, &sides.updated, &sides.dest].map(PackageSide::text_files);
    let of_resources = of_resources.iter().flatten().filter(|file| file.document.is_some() && !are_plain);
    let of_resources: BTreeSet<&str> = of_resources.map(|file| file.path).collect();
    let paths: BTreeSet<&'s str> = [&sides.original, &sides.updated].into_iter().flat_map(PackageSide::paths).collect();
    // The rules of a package are never taken from another side.
    let is_rules = |path: &str| path.rsplit('/').next().is_some_and(file_path::is_rules);
    let plain = paths.into_iter().filter(|path| !of_resources.contains(path) && !is_rules(path));
    let file = |path: &'s str| {
        let texts = [&sides.original, &sides.updated, &sides.dest].map(|side| side.text_at(path));
        let has = |text: Option<&str>| if text.is_some() { Has::Plain } else { Has::Nothing };
        CarriedFile {
            path,
            sides: texts.map(|text| CarriedSide { has: has(text), document: None }),
            why: are_plain.then_some(AsText::Document),
            bytes: with_line_ends_of_dest(texts.map(|text| text.map(|text| text.as_bytes().to_vec()))),
            executable: None,
            turned: None,
            is_left: false,
        }
    };
    plain.map(file).filter(CarriedFile::is_changed).collect()
}

/// The files of dest that change, with those without resources. In a text alone that holds none, nothing else changes.
///
/// # Errors
/// The result cannot be written; or upstream has a file where no new file may be.
pub fn changes(
    sides: &Sides<PackageSide<'_>>,
    written: &Written<'_, '_>,
    carried: Vec<(&str, Carried)>,
    are_plain: bool,
    budget: &Budget,
) -> Result<Vec<FileChange>, Error> {
    let is_carried = are_plain && !carried.is_empty();
    let mut changes = if is_carried { Vec::new() } else { side::changes(sides, written, budget)? };
    for (path, carried) in carried {
        changes.extend(carried.change.map(|one| change(path, one)).transpose()?.flatten());
    }
    Ok(changes)
}

/// The change of a file without resources; `None` if it stays.
fn change(path: &str, CarriedChange { old, new, .. }: CarriedChange) -> Result<Option<FileChange>, Error> {
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

/// The warnings for documents without a name in files with resources, that upstream changed and that dest does not have like that.
pub fn not_merged(sides: &Sides<PackageSide<'_>>) -> Vec<Event> {
    let unnamed: BTreeSet<&str> = missed(sides).filter_map(|resource| resource.path).collect();
    let warning = |path: &str| {
        let file = Some(File { path: path.to_owned(), index: None });
        Event { file, ..Event::of(What::UnnamedDocument) }
    };
    unnamed.into_iter().map(warning).collect()
}

/// The kustomizations of dest and updated, because they make resources that others refer to.
pub fn kustomizations<'a>(sides: &Sides<PackageSide<'a>>) -> Vec<NodeRef<'a>> {
    let files = [&sides.updated, &sides.dest].into_iter().flat_map(PackageSide::documents);
    files.filter(|(path, _)| is_kustomization(path)).flat_map(|(_, document)| document.roots()).collect()
}
