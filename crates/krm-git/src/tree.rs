//! The files of a folder of a commit, read from git's objects.
//!
//! Whoever wrote the commit chose its names and modes, so all of them are checked: no name leads out of the folder or into `.git`, no two
//! names are one on a file system that ignores case, and no link is followed.

use std::collections::HashMap;
use std::rc::Rc;

use anyhow::{Context, Result, bail};
use krm_names::file_path;
use krm_names::shown;

use crate::found::{AtPath, Entry, EntryKind};
use crate::objects::GitObject;
use crate::store::Store;

/// The largest file of a release, in bytes.
const MOST: u64 = 1 << 26;
/// The largest release, in bytes.
const MOST_OF_ALL: usize = 1 << 28;
/// How many files and folders a release may have.
const MOST_FILES: usize = 100_000;
/// How many folders may lie in each other.
const DEEPEST: usize = 100;

/// What is at a path of a commit; `None` if nothing is there. The path of the root is empty.
///
/// # Errors
/// git cannot be run; or the folder holds a name that must not be there.
pub fn find(store: &Store, commit: &str, path: &str) -> Result<Option<Rc<AtPath>>> {
    store.remembered(commit, path, || look(store, commit, path))
}

fn look(store: &Store, commit: &str, path: &str) -> Result<Option<AtPath>> {
    let Some(found) = at(store, commit, path)? else { return file_in_tree(store, commit, path) };
    match found.kind.as_str() {
        "blob" => Ok(Some(AtPath::File(found.name))),
        "tree" => {
            let mut walk = TreeWalk { store, hash: found.name.len() / 2, count: 0, entries: Vec::new() };
            walk.enter("", &found.bytes)?;
            let mut entries = walk.entries;
            entries.sort_by(|a, b| a.path.cmp(&b.path));
            check_case(&entries)?;
            entries.retain(|entry| !entry.path.split('/').any(file_path::is_git));
            Ok(Some(AtPath::Folder(entries)))
        }
        _ => Ok(None),
    }
}

/// The object at a path of a commit; `None` if it is not here.
fn at(store: &Store, commit: &str, path: &str) -> Result<Option<GitObject>> {
    let commit = store.revision(commit);
    let asked = if path.is_empty() { format!("{commit}^{{tree}}") } else { format!("{commit}:{path}") };
    store.read(&asked, MOST)
}

/// A file whose content is not here yet: its tree names it.
fn file_in_tree(store: &Store, commit: &str, path: &str) -> Result<Option<AtPath>> {
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    let Some(tree) = at(store, commit, folder)?.filter(|tree| tree.kind == "tree") else { return Ok(None) };
    let mut rest = tree.bytes.as_slice();
    while let Some((line, more)) = first(rest, tree.name.len() / 2) {
        if line.name == name.as_bytes() {
            let is_file = kind(line.mode, path).is_ok_and(EntryKind::is_file);
            return Ok(is_file.then_some(AtPath::File(line.object)));
        }
        rest = more;
    }
    Ok(None)
}

/// The walk through the trees of a folder.
struct TreeWalk<'s> {
    store: &'s Store,
    /// The length of an object's name in a tree, in bytes.
    hash: usize,
    /// The number of files and folders so far.
    count: usize,
    entries: Vec<Entry>,
}

impl TreeWalk<'_> {
    /// Adds all files below a tree. `folder` is its path, which is empty or ends with `/`.
    fn enter(&mut self, folder: &str, tree: &[u8]) -> Result<()> {
        if folder.matches('/').count() > DEEPEST {
            bail!("{}: the folders of a release must be at most {DEEPEST} deep", shown::name(folder));
        }
        let mut rest = tree;
        while !rest.is_empty() {
            let (line, more) = first(rest, self.hash).context("git must print a tree")?;
            rest = more;
            self.count += 1;
            if self.count > MOST_FILES {
                bail!("a release must have at most {MOST_FILES} files and folders");
            }
            let path = path(folder, line.name)?;
            if line.mode == b"40000" {
                let below = self.store.read(&line.object, MOST)?.filter(|found| found.kind == "tree");
                let below = below.with_context(|| format!("{}: git must have the folder", shown::name(&path)))?;
                self.enter(&format!("{path}/"), &below.bytes)?;
            } else {
                self.entries.push(Entry { kind: kind(line.mode, &path)?, path, object: line.object });
            }
        }
        Ok(())
    }
}

/// An entry of a tree, as git stores it.
struct TreeLine<'t> {
    mode: &'t [u8],
    name: &'t [u8],
    object: String,
}

/// The first entry of a tree, and what follows it: `MODE NAME`, a zero byte, and the object in `hash` bytes.
fn first(tree: &[u8], hash: usize) -> Option<(TreeLine<'_>, &[u8])> {
    let end = tree.iter().position(|byte| *byte == 0)?;
    let space = tree[..end].iter().position(|byte| *byte == b' ')?;
    let (object, rest) = tree.get(end + 1..)?.split_at_checked(hash)?;
    let object = object.iter().map(|byte| format!("{byte:02x}")).collect();
    Some((TreeLine { mode: &tree[..space], name: &tree[space + 1..end], object }, rest))
}

/// The path of a name in a folder.
fn path(folder: &str, name: &[u8]) -> Result<String> {
    let Ok(name) = std::str::from_utf8(name) else {
        bail!("{folder}{}: a file name must be UTF-8", shown::name_of_bytes(name));
    };
    let path = format!("{folder}{name}");
    if name.is_empty() || name == "." || name.contains('/') || !file_path::is_within(&path) {
        bail!("{}: a file of a release must lie within it", shown::name(&path));
    }
    if name.contains(['\n', '\r']) {
        bail!("{}: a file name must have no line break", shown::name(&path));
    }
    Ok(path)
}

/// What the mode of an entry says.
fn kind(mode: &[u8], path: &str) -> Result<EntryKind> {
    match mode {
        b"100644" | b"100664" => Ok(EntryKind::File),
        b"100755" => Ok(EntryKind::Executable),
        b"120000" => Ok(EntryKind::Link),
        b"160000" => Ok(EntryKind::Submodule),
        _ => bail!("{}: it must be a file, a folder or a link", shown::name(path)),
    }
}

/// Checks that no two names differ only in case.
fn check_case(entries: &[Entry]) -> Result<()> {
    let mut known: HashMap<String, &str> = HashMap::new();
    for entry in entries {
        let ends = entry.path.match_indices('/').map(|(at, _)| at).chain([entry.path.len()]);
        for path in ends.map(|end| &entry.path[..end]) {
            let other = known.entry(path.to_lowercase()).or_insert(path);
            if *other != path {
                let [a, b] = [shown::name(other), shown::name(path)];
                bail!("{b}: the names of two files must differ in more than case, but there is {a}, too");
            }
        }
    }
    Ok(())
}

/// Reads one file.
///
/// # Errors
/// It is missing or too large.
pub fn read_file(store: &Store, object: &str) -> Result<Vec<u8>> {
    let found = store.read(object, MOST)?;
    Ok(found.context("git must have the file")?.bytes)
}

/// A file of a commit, with its content.
#[derive(Debug)]
pub struct Raw {
    /// Its path in the folder, with `/`.
    pub path: String,
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// The name that git gives to these bytes, if it is known.
    pub object: Option<String>,
    /// Whether anyone may execute it.
    pub is_executable: bool,
}

/// The files of a folder, in the order of `entries`, without links and submodules. git is not asked for a file whose bytes `known` has.
///
/// # Errors
/// A file is missing or too large; or all of them are too large together, as they are read: a file counts under each of its names.
pub fn files(store: &Store, entries: &[Entry], known: impl Fn(&Entry) -> Option<Result<Vec<u8>>>) -> Result<Vec<Raw>> {
    let (mut files, mut all) = (Vec::<Raw>::new(), 0);
    let mut read: HashMap<&str, usize> = HashMap::new();
    for entry in entries.iter().filter(|entry| entry.kind.is_file()) {
        let name = || shown::name(&entry.path).into_owned();
        let bytes = match (known(entry), read.get(entry.object.as_str())) {
            (Some(bytes), _) => bytes?,
            (None, Some(at)) => files[*at].bytes.clone(),
            (None, None) => {
                let found = store.read(&entry.object, MOST).with_context(name)?;
                found.with_context(|| format!("{}: git must have the content of the file", name()))?.bytes
            }
        };
        all += bytes.len();
        if all > MOST_OF_ALL {
            bail!(
                "{}: the files of a release must have at most {MOST_OF_ALL} bytes together, and with this one they have more",
                name()
            );
        }
        read.entry(&entry.object).or_insert(files.len());
        let (object, is_executable) = (Some(entry.object.clone()), entry.kind == EntryKind::Executable);
        files.push(Raw { path: entry.path.clone(), bytes, object, is_executable });
    }
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_or_mode_that_must_not_be_there_is_refused() {
        for (name, want) in [
            ("..", "must lie within"),
            (".", "must lie within"),
            ("", "must lie within"),
            ("a/b", "must lie within"),
            ("/x", "must lie within"),
            ("a\\..\\..\\x", "must lie within"),
            ("a\nb", "no line break"),
        ] {
            let error = path("d/", name.as_bytes()).expect_err(name).to_string();
            assert!(error.contains(want), "{name}: {error}");
        }
        assert!(path("", b"\xff").is_err() && kind(b"100600", "a").is_err() && kind(b"100755", "a").is_ok());
    }

    #[test]
    fn a_tree_is_read_as_git_stores_it() {
        let tree = b"100644 a b\0\x01\x0240000 c\0\x03\x04";
        let (line, rest) = first(tree, 2).expect("an entry");
        assert_eq!((line.mode, line.name, line.object.as_str()), (&b"100644"[..], &b"a b"[..], "0102"));
        let (line, rest) = first(rest, 2).expect("an entry");
        assert_eq!((line.mode, line.name, line.object.as_str(), rest), (&b"40000"[..], &b"c"[..], "0304", &b""[..]));
        for broken in [&b"100644 a"[..], b"100644 a\0\x01", b"a\0\x01\x02", b"\0"] {
            assert!(first(broken, 2).is_none(), "{broken:?}");
        }
    }

    #[test]
    fn two_names_that_differ_only_in_case_are_refused() {
        let entries = |paths: &[&str]| -> Vec<Entry> {
            let entry = |path: &&str| Entry { path: (*path).to_owned(), object: String::new(), kind: EntryKind::File };
            paths.iter().map(entry).collect()
        };
        for (paths, is_refused) in [
            (&["a.yaml", "A.yaml"][..], true),
            (&["a/b", "A/c"], true),
            (&["a", "A/c"], true),
            (&["a/b", "a/c", "ab"], false),
        ] {
            assert_eq!(check_case(&entries(paths)).is_err(), is_refused, "{paths:?}");
        }
    }
}
