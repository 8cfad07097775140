//! Finds the files that may have conflict markers: the named ones; without names, those that git lists as unmerged; or else all.
//!
//! git lists some files as unmerged that have no markers: files that a side lacks, and files that are not text.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail};
use ignore::WalkBuilder;
use krm_files::walk::{path_of, shown, there};
use krm_folders::package::package_of;
use krm_git::program::{In, git};
use krm_names::file_path;
use krm_names::file_path::RULES;
use krm_tree::sides::Sides;

use krm_job::carried;
use krm_job::marked::has_markers;

use crate::mark::BESIDE;

/// Files to search for markers.
#[derive(Debug)]
pub struct NamedFiles {
    /// The files without duplicates, in order.
    pub files: Vec<File>,
    /// Why they are searched.
    pub why: WhySearched,
    /// The unmerged files among the named ones whose conflict markers cannot show.
    pub unmarked: Vec<Unmarked>,
    /// The unmerged files among the named ones that have no markers. Someone may have resolved or deleted them, or git kept ours.
    pub bare: Vec<PathBuf>,
}

/// An unmerged file whose conflict markers cannot show.
#[derive(Debug)]
pub struct Unmarked {
    /// Its path relative to the current folder.
    pub name: PathBuf,
    /// Its conflict.
    pub what: Unshown,
}

/// A conflict that markers cannot show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unshown {
    /// Only ours has the file.
    Ours,
    /// Only theirs has the file.
    Theirs,
    /// Neither side has the file.
    Neither,
    /// Both sides have the file, and git does not merge it by line: it is not text, or has the attribute `-merge`.
    NoLines,
}

/// A file that is no text, and the other side's version of it, which a merge left beside it.
#[derive(Debug)]
pub struct Twin {
    /// The file.
    pub own: File,
    /// The other side's version.
    pub other: File,
}

/// A file that git lists as unmerged.
#[derive(Debug)]
struct Unmerged {
    name: PathBuf,
    /// Whether each side has it.
    is_there: Sides<bool>,
}

impl Unmerged {
    /// Whether it has markers.
    fn is_marked(&self) -> bool {
        fs::read(&self.name).is_ok_and(|text| has_markers(&text))
    }

    /// Its conflict, if markers cannot show it.
    fn unmarked(&self) -> Option<Unshown> {
        match (self.is_there.dest, self.is_there.updated) {
            (true, true) => (is_no_text(&self.name) || is_without_lines(&self.name)).then_some(Unshown::NoLines),
            (true, false) => Some(Unshown::Ours),
            (false, true) => Some(Unshown::Theirs),
            (false, false) => Some(Unshown::Neither),
        }
    }
}

/// A file as the user knows it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct File {
    /// Its path as the user named it, or relative to the current folder.
    pub name: PathBuf,
    /// Its path on disk, without symbolic links.
    pub disk: PathBuf,
}

/// Why a file is searched for markers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WhySearched {
    /// The user or git named it.
    Named,
    /// It is below the current folder.
    There,
}

/// The file for rules, and the files to search. Without a name, or with that of a package, rules stand in the `.krm-merge.yaml` of the
/// package.
///
/// # Errors
/// The files are in no package, or in several.
pub fn book_of(record: Option<&Option<PathBuf>>, named: &[PathBuf]) -> Result<(Option<PathBuf>, Vec<PathBuf>)> {
    let Some(record) = record else { return Ok((None, named.to_vec())) };
    match record {
        Some(package) if package.is_dir() => {
            let named = if named.is_empty() { std::slice::from_ref(package) } else { named };
            return Ok((Some(package.join(RULES)), named.to_vec()));
        }
        Some(file) => return Ok((Some(file.clone()), named.to_vec())),
        None => {}
    }
    let here = [PathBuf::from(".")];
    let paths = if named.is_empty() { &here } else { named };
    let mut packages = paths.iter().map(|path| package_of(path)).collect::<Result<Vec<_>>>()?;
    if packages.contains(&None) {
        // The packages may be below.
        let found = files(named)?.files.into_iter();
        let marked = found.filter(|file| fs::read(&file.disk).is_ok_and(|text| has_markers(&text)));
        packages = marked.map(|file| package_of(&file.name)).collect::<Result<Vec<_>>>()?;
        packages.sort();
    }
    packages.dedup();
    match packages.as_slice() {
        [Some(package)] => Ok((Some(package.join(RULES)), named.to_vec())),
        [None] | [] => bail!("`--record` must name a file, because no package here records its upstream"),
        _ => bail!("`--record` must name a file, because the files are in several packages"),
    }
}

/// Finds the files to search.
///
/// # Errors
/// A file cannot be read.
pub fn files(named: &[PathBuf]) -> Result<NamedFiles> {
    let mut files = Vec::new();
    let mut why = WhySearched::Named;
    for name in named {
        let found = there("FILES", "a file or a folder", name)?;
        if found.is_dir() {
            files.extend(below(name)?);
        } else if found.is_file() {
            files.push(file(name)?);
        } else {
            bail!("{}: it must be a file or a folder", shown(name));
        }
    }
    let unmerged = unmerged(named);
    // A rule may ignore a file that git knows.
    for name in unmerged.iter().map(|unmerged| &*unmerged.name).filter(|name| is_file(name)) {
        files.push(file(name)?);
    }
    if named.is_empty() && unmerged.is_empty() {
        (files, why) = (below(Path::new("."))?, WhySearched::There);
    }
    // A file with two names is searched and written only once.
    files.sort_by(|a, b| (&a.name, &a.disk).cmp(&(&b.name, &b.disk)));
    let mut known = std::collections::HashSet::new();
    files.retain(|file| known.insert(file.disk.clone()));
    let (mut unmarked, mut bare) = (Vec::new(), Vec::new());
    for unmerged in unmerged.into_iter().filter(|unmerged| !unmerged.is_marked()) {
        match unmerged.unmarked() {
            Some(what) => unmarked.push(Unmarked { what, name: unmerged.name }),
            None => bare.push(unmerged.name),
        }
    }
    Ok(NamedFiles { files, why, unmarked, bare })
}

/// The files beside which a merge left the other side's version: among the named ones; without names, below the current folder. `found` are the
/// files that are searched.
///
/// # Errors
/// A file cannot be read.
pub fn twins(named: &[PathBuf], found: &NamedFiles) -> Result<Vec<Twin>> {
    let beside = |name: &PathBuf| {
        let mut other = name.clone().into_os_string();
        other.push(BESIDE);
        PathBuf::from(other)
    };
    // git lists no file as unmerged for the sake of another one beside it.
    let is_walked = !named.is_empty() || found.why == WhySearched::There;
    let mut others = if is_walked { Vec::new() } else { names_below(Path::new("."))? };
    others.extend(found.files.iter().map(|file| file.name.clone()));
    others.retain(|name| own_of(name).is_some());
    others.extend(named.iter().map(beside));
    others.sort();
    others.dedup();
    let is_no_text = |name: &Path| fs::read(name).is_ok_and(|bytes| carried::text(&bytes).is_none());
    let mut twins = Vec::new();
    for other in others.iter().filter(|other| is_file(other)) {
        let Some(own) = own_of(other).filter(|own| is_file(own)) else { continue };
        if is_no_text(&own) || is_no_text(other) {
            twins.push(Twin { own: file(&own)?, other: file(other)? });
        }
    }
    Ok(twins)
}

/// The file beside which a file of this name lies, if a merge gave it the name.
fn own_of(other: &Path) -> Option<PathBuf> {
    (other.extension()? == &BESIDE[1..]).then(|| other.with_extension(""))
}

fn file(name: &Path) -> Result<File> {
    Ok(File { name: name.to_owned(), disk: fs::canonicalize(name).with_context(|| shown(name))? })
}

/// Whether a path is a file. A symbolic link to a file does not count.
fn is_file(name: &Path) -> bool {
    fs::symlink_metadata(name).is_ok_and(|found| found.is_file())
}

/// Whether a path is there and git writes no markers into it: a file with a zero byte near its beginning, or no file.
fn is_no_text(name: &Path) -> bool {
    // As many bytes as git looks at.
    const NEAR: u64 = 8000;
    let Ok(found) = fs::symlink_metadata(name) else { return false };
    let head = || {
        let mut head = Vec::new();
        fs::File::open(name)?.take(NEAR).read_to_end(&mut head).map(|_| head)
    };
    !found.is_file() || head().is_ok_and(|head: Vec<u8>| head.contains(&0))
}

/// Whether git's attributes say that it merges no lines of a file.
fn is_without_lines(name: &Path) -> bool {
    let output = git(In::Environment).args(["check-attr", "-z", "merge", "--"]).arg(name).output();
    // Path, attribute and value, each with a zero byte behind it.
    let value = |stdout: &[u8]| stdout.split(|byte| *byte == 0).nth(2).map(<[u8]>::to_vec);
    let value = output.ok().and_then(|output| value(&output.stdout));
    value.is_some_and(|value| value == b"unset" || value == b"binary")
}

/// The files below a folder that git does not ignore, including hidden ones.
fn below(folder: &Path) -> Result<Vec<File>> {
    names_below(folder)?.iter().map(|name| file(name)).collect()
}

/// Their names.
fn names_below(folder: &Path) -> Result<Vec<PathBuf>> {
    let is_read = |name: &std::ffi::OsStr| {
        name.to_str().is_none_or(|name| !file_path::is_git(name) && !file_path::is_of_a_run(name))
    };
    let walk = WalkBuilder::new(folder)
        .hidden(false)
        .ignore(false)
        .filter_entry(move |entry| entry.depth() == 0 || is_read(entry.file_name()))
        .build();
    let mut names = Vec::new();
    for entry in walk {
        let entry = entry.map_err(|e| anyhow!(shown_error(&e)))?;
        if entry.file_type().is_some_and(|kind| kind.is_file()) {
            names.push(entry.path().strip_prefix("./").unwrap_or(entry.path()).to_owned());
        }
    }
    Ok(names)
}

fn shown_error(error: &ignore::Error) -> String {
    krm_yaml::shown::line(&error.to_string()).into_owned()
}

/// The files that git lists as unmerged, among the named ones; without names, below the current folder. Without git or outside of a
/// repository, there are none.
fn unmerged(named: &[PathBuf]) -> Vec<Unmerged> {
    let mut of_folders: BTreeMap<&Path, Vec<&OsStr>> = BTreeMap::new();
    for name in named {
        match name.parent().zip(name.file_name()).filter(|_| !name.is_dir()) {
            Some((folder, file)) => of_folders.entry(folder).or_default().push(file),
            None => of_folders.entry(name).or_default().push(OsStr::new(".")),
        }
    }
    if named.is_empty() {
        of_folders.insert(Path::new(""), Vec::new());
    }
    // Each folder may be in a repository of its own.
    of_folders.into_iter().flat_map(|(folder, names)| unmerged_in(folder, &names)).collect()
}

/// The same, for files in a folder.
fn unmerged_in(folder: &Path, names: &[&OsStr]) -> Vec<Unmerged> {
    let list = ["--literal-pathspecs", "ls-files", "--unmerged", "-z", "--"];
    let output = git(In::Environment).current_dir(Path::new(".").join(folder)).args(list).args(names).output();
    let Some(output) = output.ok().filter(|output| output.status.success()) else { return Vec::new() };
    let mut all: Vec<Unmerged> = Vec::new();
    // An entry is mode, object and stage, a tab, and the path.
    for (version, path) in output.stdout.split(|byte| *byte == 0).filter_map(split_at_tab) {
        let name = folder.join(path_of(path));
        let name = name.strip_prefix("./").map(Path::to_owned).unwrap_or(name);
        if all.last().is_none_or(|last| last.name != name) {
            all.push(Unmerged { name, is_there: Sides::default() });
        }
        let Some(last) = all.last_mut() else { continue };
        match version.last() {
            Some(b'1') => last.is_there.original = true,
            Some(b'2') => last.is_there.dest = true,
            Some(b'3') => last.is_there.updated = true,
            _ => {}
        }
    }
    all
}

fn split_at_tab(entry: &[u8]) -> Option<(&[u8], &[u8])> {
    let at = entry.iter().position(|byte| *byte == b'\t')?;
    Some((&entry[..at], &entry[at + 1..]))
}

/// The versions of an unmerged file in git's index; `None` if ours or theirs is missing there.
pub fn staged(file: &File) -> Option<Sides<Option<Vec<u8>>>> {
    let (folder, name) = (file.disk.parent()?, file.disk.file_name()?);
    let stage = |number: u8| {
        let mut git = git(In::Environment);
        let mut version = OsString::from(format!(":{number}:./"));
        version.push(name);
        let output = git.current_dir(folder).arg("show").arg(version).output().ok()?;
        output.status.success().then_some(output.stdout)
    };
    let (dest, updated) = (Some(stage(2)?), Some(stage(3)?));
    Some(Sides { original: stage(1), updated, dest })
}
