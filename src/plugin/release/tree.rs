//! The files of a folder of a commit, read from git's objects.
//!
//! Whoever wrote the commit chose its names and modes, so all of them are checked: no name leads out of the folder or into `.git`, no two
//! names are one on a file system that ignores case, and no link is followed.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

use anyhow::{Context, Result, anyhow, bail};
use krm_merge::file_path;
use krm_merge::shown;

use super::program;
use super::store::Store;
use crate::side::Raw;
use crate::walk::{Tree, Unread, Why};

/// The largest file of a release, in bytes.
const MOST: u64 = 1 << 26;
/// The largest release, in bytes.
const MOST_OF_ALL: u64 = 1 << 28;

/// What is at a path of a commit.
#[derive(Debug)]
pub enum Found {
    /// A file, by its object.
    File(String),
    /// A folder.
    Folder(Vec<Entry>),
}

/// A file of a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its path in the folder.
    pub path: String,
    /// The object with its content.
    pub object: String,
    kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    File,
    Executable,
    Link,
    Submodule,
}

impl Found {
    /// The objects with the content of all files.
    pub fn objects(&self) -> BTreeSet<String> {
        match self {
            Self::File(object) => [object.clone()].into(),
            Self::Folder(entries) => {
                let files = entries.iter().filter(|entry| entry.kind != Kind::Submodule);
                files.map(|entry| entry.object.clone()).collect()
            }
        }
    }
}

/// What is at a path of a commit; `None` if nothing is there. The path of the root is empty.
///
/// # Errors
/// git cannot be run; or the folder holds a name that must not be there.
pub fn find(store: &Store, commit: &str, path: &str) -> Result<Option<Rc<Found>>> {
    store.remembered(commit, path, || look(store, commit, path))
}

fn look(store: &Store, commit: &str, path: &str) -> Result<Option<Found>> {
    let asked = if path.is_empty() { format!("{commit}^{{tree}}") } else { format!("{commit}:{path}") };
    let found = store.ask(&[asked])?.concat();
    let mut words = found.split(' ');
    match (words.next(), words.next()) {
        (Some(object), Some("blob")) => Ok(Some(Found::File(object.to_owned()))),
        (Some(object), Some("tree")) => Ok(Some(Found::Folder(entries(store, object)?))),
        _ => Ok(None),
    }
}

fn entries(store: &Store, tree: &str) -> Result<Vec<Entry>> {
    let listed = program::run(store.git().args(["ls-tree", "-r", "-z", "--full-tree", tree]), b"")?;
    let lines = listed.split(|byte| *byte == 0).filter(|line| !line.is_empty());
    let entries = lines.map(entry).collect::<Result<Vec<_>>>()?;
    check_case(&entries)?;
    Ok(entries.into_iter().filter(|entry| !entry.path.split('/').any(file_path::is_git)).collect())
}

/// An entry of the output of `ls-tree`: its mode, type and object, and its path after a tab.
fn entry(line: &[u8]) -> Result<Entry> {
    let line = String::from_utf8(line.to_vec())
        .map_err(|e| anyhow!("{}: a file name must be UTF-8", shown::name_of_bytes(e.as_bytes())))?;
    let (about, path) = line.split_once('\t').context("git must list a file with its path")?;
    let name = shown::name(path);
    if !file_path::is_within(path) || path.split('/').any(|part| part.is_empty() || part == ".") {
        bail!("{name}: a file of a release must lie within it");
    }
    if path.contains(['\n', '\r']) {
        bail!("{name}: a file name must have no line break");
    }
    let mut words = about.split(' ');
    let kind = match words.next() {
        Some("100644" | "100664") => Kind::File,
        Some("100755") => Kind::Executable,
        Some("120000") => Kind::Link,
        Some("160000") => Kind::Submodule,
        _ => bail!("{name}: it must be a file, a folder or a link"),
    };
    let object = words.nth(1).context("git must list a file with its object")?.to_owned();
    Ok(Entry { path: path.to_owned(), object, kind })
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

/// Reads the files of a folder, and says which are not read.
///
/// # Errors
/// A file is missing or too large; or a `.krmignore` is wrong.
pub fn read(store: &Store, entries: &[Entry]) -> Result<(Vec<Raw>, Unread)> {
    let meant: Vec<&Entry> = entries.iter().filter(|entry| entry.kind != Kind::Submodule).collect();
    let objects: BTreeSet<&str> = meant.iter().map(|entry| entry.object.as_str()).collect();
    let contents = contents(store, &objects.into_iter().collect::<Vec<_>>(), &meant)?;
    let content = |entry: &Entry| contents.get(&entry.object).map(Vec::as_slice).unwrap_or_default();
    let is_file = |entry: &Entry| matches!(entry.kind, Kind::File | Kind::Executable);
    let files = entries.iter().filter(|entry| is_file(entry));
    let rules = Tree::rules_in(files.map(|entry| (entry.path.as_str(), content(entry))))?;
    let paths: BTreeSet<&str> = entries.iter().map(|entry| entry.path.as_str()).collect();
    let (mut raw, mut unread) = (Vec::new(), Unread::default());
    for entry in entries {
        let path = entry.path.clone();
        match entry.kind {
            _ if rules.ignores(&entry.path) => unread.add(path, Why::Ignored),
            Kind::Submodule => unread.add(path, Why::Submodule),
            Kind::Link if leads_within(&entry.path, content(entry), &paths) => unread.add(path, Why::Link),
            Kind::Link => unread.add(path, Why::LinkOut),
            Kind::File | Kind::Executable => {
                let (bytes, is_executable) = (content(entry).to_vec(), entry.kind == Kind::Executable);
                raw.push(Raw { path, bytes, is_executable });
            }
        }
    }
    Ok((raw, unread))
}

/// Reads one file.
///
/// # Errors
/// It is missing or too large.
pub fn read_file(store: &Store, object: &str) -> Result<Vec<u8>> {
    let mut contents = contents(store, &[object], &[])?;
    contents.remove(object).context("git must print the file")
}

/// Whether a link leads to a file or folder of the release by its text alone.
fn leads_within(link: &str, target: &[u8], paths: &BTreeSet<&str>) -> bool {
    let Ok(target) = std::str::from_utf8(target) else { return false };
    if target.starts_with('/') {
        return false;
    }
    let mut parts: Vec<&str> = link.split('/').collect();
    parts.pop();
    for part in target.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.pop().is_none() => return false,
            ".." => {}
            name => parts.push(name),
        }
    }
    let target = parts.join("/");
    let below = format!("{target}/");
    target.is_empty()
        || paths.contains(target.as_str())
        || paths.range(below.as_str()..).next().is_some_and(|path| path.starts_with(&below))
}

/// The contents of objects. `entries` say whose they are.
fn contents(store: &Store, objects: &[&str], entries: &[&Entry]) -> Result<BTreeMap<String, Vec<u8>>> {
    let names: Vec<String> = objects.iter().map(|object| (*object).to_owned()).collect();
    let mut all = 0;
    for (object, told) in names.iter().zip(store.ask(&names)?) {
        let path = || entries.iter().find(|entry| entry.object == *object).map_or(object, |entry| &entry.path);
        let size = told.rsplit(' ').next().and_then(|size| size.parse::<u64>().ok());
        let size = size.with_context(|| format!("{}: git must have the content of the file", shown::name(path())))?;
        if size > MOST {
            bail!("{}: a file of a release must have at most {MOST} bytes, but it has {size}", shown::name(path()));
        }
        all += size;
    }
    if all > MOST_OF_ALL {
        bail!("the files of a release must have at most {MOST_OF_ALL} bytes together, but they have {all}");
    }
    let input: String = names.iter().map(|object| format!("{object}\n")).collect();
    if names.is_empty() {
        return Ok(BTreeMap::new());
    }
    let printed = program::run(store.git().args(["cat-file", "--batch"]), input.as_bytes())?;
    let mut rest = printed.as_slice();
    let mut contents = BTreeMap::new();
    for object in names {
        let (content, more) = next(rest).context("git must print each file with its size")?;
        contents.insert(object, content.to_vec());
        rest = more;
    }
    Ok(contents)
}

/// The first object that `cat-file --batch` printed, and what follows it.
fn next(printed: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = printed.iter().position(|byte| *byte == b'\n')?;
    let size: usize = std::str::from_utf8(&printed[..end]).ok()?.rsplit(' ').next()?.parse().ok()?;
    let start = end + 1;
    Some((printed.get(start..start.checked_add(size)?)?, printed.get(start + size + 1..)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_or_mode_that_must_not_be_there_is_refused() {
        for (line, want) in [
            ("100644 blob a\t../x", "must lie within"),
            ("100644 blob a\ta/../../x", "must lie within"),
            ("100644 blob a\t/x", "must lie within"),
            ("100644 blob a\ta\\..\\..\\x", "must lie within"),
            ("100644 blob a\ta\nb", "no line break"),
            ("100600 blob a\ta", "a file, a folder or a link"),
        ] {
            let error = entry(line.as_bytes()).expect_err(line).to_string();
            assert!(error.contains(want), "{line}: {error}");
        }
        assert!(entry(b"100644 blob a\t\xff").is_err());
    }

    #[test]
    fn two_names_that_differ_only_in_case_are_refused() {
        let entries = |paths: &[&str]| -> Vec<Entry> {
            paths.iter().map(|path| entry(format!("100644 blob a\t{path}").as_bytes()).expect("valid")).collect()
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

    #[test]
    fn a_link_leads_within_only_to_what_is_there() {
        let paths = BTreeSet::from(["a.yaml", "d/b.yaml", "d/link"]);
        for (target, want) in [
            ("b.yaml", true),
            ("../a.yaml", true),
            ("../d", true),
            ("..", true),
            ("../..", false),
            ("../../a.yaml", false),
            ("/etc/passwd", false),
            ("gone.yaml", false),
        ] {
            assert_eq!(leads_within("d/link", target.as_bytes(), &paths), want, "{target}");
        }
    }
}
