//! What is no resource is one document under its path: the values of a chart that the user names, and a file that a target names.
//!
//! In folders, such files are paired by their paths, and [`carry`](crate::carry) merges them. A single file without resources is the same file
//! on all sides, whatever its name is.

use std::collections::HashSet;

use crate::held::{Content, Held};
use crate::side::{Root, Side};
use anyhow::{Result, bail};
use krm_job::carried::AsText;
use krm_job::config::Config;
use krm_job::role::Role;
use krm_package::resource::are_in;
use krm_schema::mode::Mode;
use krm_schema::schema::files;

/// What targets say of the sources and of dest.
#[derive(Debug)]
pub struct Aimed {
    mode: Mode,
    has_target: bool,
    /// The files of dest that a target names.
    files: HashSet<String>,
}

impl Aimed {
    /// Reads the targets of a functionConfig.
    pub fn of(config: &Config<'_>, dest: &Side) -> Self {
        let inputs = config.task.inputs().flat_map(|(_, inputs)| inputs).map(|input| &input.aim);
        let mut targets = config.aim_of_given.iter().chain(inputs).flat_map(|aim| &aim.targets).peekable();
        let has_target = targets.peek().is_some();
        let files = targets.filter_map(|target| target.file());
        let files = files.filter(|path| dest.at(path).is_some()).map(str::to_owned).collect();
        Self { mode: config.mode(), has_target, files }
    }
}

/// Makes documents of the files that have no resources and that the user named.
///
/// # Errors
/// Dest is such a file, and a side has none for it; or the sides are such files, and dest is a folder.
pub fn agree(dest: &mut Side, given: &mut [(Role, Vec<Side>)], aimed: &Aimed) -> Result<()> {
    if aimed.mode == Mode::ThreeWay {
        return versions(dest, given);
    }
    for held in dest.files.iter_mut().filter(|held| aimed.files.contains(&held.path)) {
        let of_file = files::of_file(&held.path);
        stand_by_path(held, of_file);
    }
    let Some(own) = dest.files.first().filter(|_| !dest.is_folder()) else { return Ok(()) };
    let of_file = files::of_file(&own.path);
    if !dest.files.iter_mut().all(|own| stand_by_path(own, of_file)) || aimed.has_target {
        return Ok(());
    }
    for side in given.iter_mut().flat_map(|(_, sides)| sides) {
        alone(side, dest)?;
        if !side.files.iter_mut().all(|held| stand_by_path(held, of_file)) {
            bail!("{}: the source must hold no resources, but one map, as {} does", side.name, dest.name);
        }
    }
    Ok(())
}

/// Makes two single files without resources one document in two states.
pub fn pair(sides: [&mut Side; 2]) {
    let of_file = files::of_file(sides[1].files.first().map_or("", |held| &held.path));
    let is_plain = |side: &&mut Side| is_plain(side) && side.files.iter().all(|held| held.plain_document().is_some());
    if sides.iter().all(is_plain) {
        sides.into_iter().flat_map(|side| &mut side.files).for_each(|held| _ = stand_by_path(held, of_file));
    }
}

/// Makes a source stand for the file that dest is.
pub fn follow(source: &mut Side, dest: &Side) {
    if let Some(Content::ByPath(of_file, _)) = dest.files.first().map(|own| &own.content) {
        source.files.iter_mut().for_each(|held| _ = stand_by_path(held, *of_file));
    }
}

/// Makes a file take part as the document that it holds, and says whether it is one.
fn stand_by_path(held: &mut Held, of_file: [&'static str; 2]) -> bool {
    let Some(document) = held.plain_document() else { return false };
    held.content = Content::ByPath(of_file, document);
    true
}

/// In a three-way merge, makes documents of the versions of a single file.
fn versions(dest: &mut Side, given: &mut [(Role, Vec<Side>)]) -> Result<()> {
    let sides = || given.iter().flat_map(|(_, sides)| sides);
    if dest.is_folder() {
        let Some(side) = sides().find(|side| is_plain(side)) else { return Ok(()) };
        let must = "`--dest` must be the file that it is a version of";
        bail!("{}: {must}, and not the directory {}, because it holds no resources", side.name, dest.name);
    }
    // A file with resources is no version of one without any, and the merge of resources says what it lacks.
    if !is_plain(dest) || sides().any(|side| !side.is_folder() && !is_plain(side)) {
        return Ok(());
    }
    for side in given.iter_mut().flat_map(|(_, sides)| sides) {
        alone(side, dest)?;
        side.files.iter_mut().for_each(become_text);
    }
    dest.files.iter_mut().for_each(become_text);
    Ok(())
}

/// Whether a side is one file without resources.
fn is_plain(side: &Side) -> bool {
    let [held] = &side.files[..] else { return false };
    !side.is_folder()
        && held.document().is_some_and(|document| !are_in(document) && document.roots().any(|root| !root.is_null()))
}

fn become_text(held: &mut Held) {
    held.content = match std::mem::replace(&mut held.content, Content::Other) {
        Content::Resources(document) => Content::AsText(AsText::Document, document),
        other => other,
    };
}

/// Leaves the one file of a side that is a version of dest's file: in a folder the one of its name.
///
/// # Errors
/// A folder has no such file.
fn alone(side: &mut Side, dest: &Side) -> Result<()> {
    let Some(own) = dest.files.first().filter(|_| side.is_folder()) else { return Ok(()) };
    side.files.retain(|held| held.path == own.path && held.document().is_none());
    let Some(held) = side.files.first() else {
        let must = format!("there must be a file \"{}\" without resources, as {} is", own.path, dest.name);
        bail!("{}: {must}: name that file, or give all sides as folders", side.name);
    };
    (side.name, side.root) = (held.name.clone(), Root::Stream);
    Ok(())
}
