//! [`by_field()`]: merges a file with git's markers as the driver would have merged it.
//!
//! Who has no driver gets git's markers around whole blocks. The three sides are still there: in git's index, in the commits that the labels
//! name, or between the markers, if these have the original. So the driver can merge the file later.
//!
//! Someone may have edited the file since. Then ours and theirs are the file with that side's lines in each conflict. An edit is in both, so
//! the merge keeps it.

use anyhow::Result;
use krm_git::program::{In, git, run};
use krm_job::line_end::LineEnd;
use krm_tree::sides::Sides;

use super::find::{File, staged};
use crate::driver::{self, MarkedVersions, VersionFiles};
use crate::marks::Style;
use krm_job::marked::{Answer, Conflict, Marked, bare};

/// What a merge by field makes of a file with markers.
pub enum ByField {
    /// A text, with markers around what is left.
    Merged(Vec<u8>),
    /// Nothing that would be better.
    Nothing,
    /// Nothing, because nobody knows the original.
    NoOriginal,
}

/// Merges a file by field.
///
/// # Errors
/// git cannot be run, or the folder for temporary files cannot be written.
pub fn by_field(file: &File, marked: &Marked<'_>) -> Result<ByField> {
    // Markers of the driver do not say that a file was deleted, or that lines are of a Secret.
    let says_more = |conflict: &Conflict| marked.is_of_whole_file(conflict) || marked.is_of_secret(conflict);
    let Some(first) = marked.conflicts.first() else { return Ok(ByField::Nothing) };
    if !marked.faults.is_empty() || marked.conflicts.iter().any(says_more) {
        return Ok(ByField::Nothing);
    }
    let size = marked.bytes(&first.range).iter().take_while(|byte| **byte == b'<').count();
    let Ok(marker_size) = u16::try_from(size) else { return Ok(ByField::Nothing) };
    let label = |range| bare(&marked.shown(range)).to_owned();
    let labels = Sides {
        original: first.original.as_ref().map(|half| label(&half.label)).unwrap_or_default(),
        updated: label(&first.theirs.label),
        dest: label(&first.ours.label),
    };
    let style = match (&first.original, driver::style()) {
        (None, _) => Style::Merge,
        (Some(_), Some(Style::Zdiff3)) => Style::Zdiff3,
        (Some(_), _) => Style::Diff3,
    };
    let files = |texts: &Sides<Vec<u8>>| {
        let (path, texts) = (path_in_repository(file).into(), Sides::of(|side| &texts[side][..]));
        VersionFiles::of(MarkedVersions { path, texts, labels: labels.clone(), marker_size, style })
    };
    let read = |sides: Sides<Option<Vec<u8>>>| sides.map(|text| like(marked.text, text.unwrap_or_default()));
    let in_index = staged(file).map(read);
    let [dest, updated] = marked.both();
    // The answers say whether git made this file of these sides, and nobody edited it since, whatever its markers are.
    let is_this = |lines: &[u8]| Marked::read(lines).both() == [&dest[..], &updated[..]];
    let mut of_git = None;
    for sides in [in_index.clone(), committed(file, &labels).map(read)].into_iter().flatten() {
        let files = files(&sides)?;
        if files.git_makes(is_this)? {
            of_git = Some(files);
            break;
        }
    }
    let original = || in_index.map(|sides| sides.original).or_else(|| between(marked));
    // The lines around a conflict are the same on all sides there, so what a side moved cannot be followed.
    if of_git.is_none() && marked.conflicts.iter().any(|conflict| marked.may_have_moved(conflict)) {
        return Ok(ByField::Nothing);
    }
    let is_as_git_left_it = of_git.is_some();
    let merged = match of_git {
        Some(files) => files.merged()?,
        None => match original() {
            Some(original) => files(&Sides { original, updated, dest })?.merged()?,
            None => return Ok(ByField::NoOriginal),
        },
    };
    let is_better = |merged: &Vec<u8>| {
        merged != marked.text && (is_as_git_left_it || in_conflict(&Marked::read(merged)) < in_conflict(marked))
    };
    Ok(merged.filter(is_better).map_or(ByField::Nothing, ByField::Merged))
}

/// How many lines of both sides are in conflict.
fn in_conflict(marked: &Marked<'_>) -> usize {
    let lines = |text: &[u8]| text.iter().filter(|byte| **byte == b'\n').count();
    let of = |conflict: &Conflict| [&conflict.ours, &conflict.theirs].map(|half| lines(marked.bytes(&half.text)));
    marked.conflicts.iter().flat_map(of).sum()
}

/// The path of a file in its repository; outside of one, as the user named it.
fn path_in_repository(file: &File) -> String {
    let name = || file.name.to_string_lossy().into_owned();
    let Some((folder, own)) = file.disk.parent().zip(file.disk.file_name()) else { return name() };
    match run(git(In::Environment).current_dir(folder).args(["rev-parse", "--show-prefix"]), &[]) {
        Ok(prefix) => String::from_utf8_lossy(prefix.trim_ascii()).into_owned() + &own.to_string_lossy(),
        Err(_) => name(),
    }
}

/// A version with the line ends of the file.
fn like(file: &[u8], version: Vec<u8>) -> Vec<u8> {
    match LineEnd::of_dest(&version, file) {
        Some(end) => end.end_all(&version),
        None => version,
    }
}

/// The sides in the commits that the labels name, with the best common ancestor as original.
fn committed(file: &File, labels: &Sides<String>) -> Option<Sides<Option<Vec<u8>>>> {
    let folder = file.disk.parent()?;
    let ran = |args: &[&str]| run(git(In::Environment).current_dir(folder).args(args), &[]).ok();
    let name = file.disk.file_name()?.to_str()?;
    let commit = |label: &str| {
        let name = label.split([' ', ':']).next().filter(|name| !name.is_empty() && !name.starts_with('-'))?;
        let commit = ran(&["rev-parse", "--verify", "--quiet", &format!("{name}^{{commit}}")])?;
        String::from_utf8(commit.trim_ascii().to_vec()).ok()
    };
    let (dest, updated) = (commit(&labels.dest)?, commit(&labels.updated)?);
    let base = String::from_utf8(ran(&["merge-base", &dest, &updated])?).ok()?;
    let text = |commit: &str| ran(&["show", &format!("{}:./{name}", commit.trim())]);
    Some(Sides { original: text(&base), updated: Some(text(&updated)?), dest: Some(text(&dest)?) })
}

/// The original between the markers, if each conflict has it.
fn between(marked: &Marked<'_>) -> Option<Vec<u8>> {
    let halves =
        marked.conflicts.iter().map(|c| Some(Answer::Edited(marked.bytes(&c.original.as_ref()?.text).to_vec())));
    let halves: Vec<Answer> = halves.collect::<Option<_>>()?;
    Some(marked.answered(|number| halves.get(number)))
}
