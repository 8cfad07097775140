//! The CustomResourceDefinitions in git's index, which say how the lists of custom resources merge.
//!
//! git starts a process for each file that it merges. So the index is searched once, and a list of what was found is kept in the git
//! directory. The list has the name of each YAML blob and the types that the blob defines. A blob never changes, so it is read once. The
//! checksum of the index shows whether the list is still current. Only definitions of types that a merge needs are parsed.
//!
//! In a partial clone, files of the index may not be here. git could fetch them, but a merge must not wait for a network. The list says how many
//! there are until the user was told, so that one command of git tells it once.
//!
//! The kept list is never trusted. If a definition is not in the blob that the list names, the list is rebuilt. Without a list, or if
//! anything fails, the merge goes on with the other sources of types.

use std::collections::{HashMap, HashSet};
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use krm_files::made;
use krm_folders::held::parse;
use krm_git::program::{In, git};
use krm_package::list;
use krm_package::resource::{Origin, Resource};
use krm_yaml::{Document, NodeRef};

/// The first line of the kept file.
const FORMAT: &str = "krm-merge definitions 2";
/// The largest file that is read as a definition, in bytes, and the largest kept list.
const MOST: u64 = 1 << 26;
/// A string that every definition contains.
const MARK: &str = "CustomResourceDefinition";

/// The index of a repository, and the file that keeps the list of its definitions.
#[derive(Debug)]
pub struct Index {
    /// The index.
    pub file: PathBuf,
    /// The file with the kept list, in the git directory.
    pub cache: PathBuf,
}

/// A YAML file in the index: the name of its blob, and the types that it defines, as `group/Kind`.
#[derive(Clone, Debug, PartialEq, Eq)]
struct IndexedBlob {
    name: String,
    types: Vec<String>,
}

/// The YAML files of an index that has this checksum, in the order of the index.
#[derive(Debug, Default, PartialEq, Eq)]
struct Listing {
    checksum: Option<String>,
    /// How many files could not be read, if nobody was told of them.
    missing: usize,
    blobs: Vec<IndexedBlob>,
}

/// The definitions of some types in the index.
#[derive(Debug, Default)]
pub struct Definitions {
    /// The documents that define them, in the order of the index.
    pub documents: Vec<Document<'static>>,
    /// How many files of the index are not here, if one of them may define a type, and nobody was told of them.
    pub missing: usize,
}

/// The documents of the index that define a type in `wanted` (`group/Kind`).
pub fn definitions(index: &Index, wanted: &HashSet<String>) -> Definitions {
    let known = Listing::kept(&index.cache);
    let is_known = known.is_some();
    let mut listing = Listing::of(index, known.unwrap_or_default());
    let mut documents = listing.defining(wanted);
    if documents.is_none() && is_known {
        // The kept list is wrong.
        listing = Listing::of(index, Listing::default());
        documents = listing.defining(wanted);
    }
    let types: HashSet<&String> = listing.blobs.iter().flat_map(|blob| &blob.types).collect();
    let missing = if wanted.iter().all(|name| types.contains(name)) { 0 } else { listing.missing };
    if missing > 0 {
        // If this fails, the user is told again.
        let _ = Listing { missing: 0, ..listing }.keep(&index.cache);
    }
    Definitions { documents: documents.unwrap_or_default(), missing }
}

impl Listing {
    /// Lists the files of the index. Blobs that `known` has are not read again.
    fn of(index: &Index, known: Self) -> Self {
        let checksum = checksum(&index.file);
        if checksum.is_some() && known.checksum == checksum {
            return known;
        }
        let mut types: HashMap<String, Vec<String>> = known.blobs.into_iter().map(|b| (b.name, b.types)).collect();
        let names = files();
        let unknown: Vec<&str> = names.iter().filter(|name| !types.contains_key(*name)).map(String::as_str).collect();
        for (name, bytes) in read(&unknown) {
            let found = types_in(bytes);
            types.insert(name, found);
        }
        // A blob that cannot be read now is not listed, because the next run may find it.
        let count = names.len();
        let blobs = names.into_iter().filter_map(|name| types.remove(&name).map(|types| IndexedBlob { name, types }));
        let blobs: Vec<IndexedBlob> = blobs.collect();
        let listing = Self { checksum: checksum.clone(), missing: count - blobs.len(), blobs };
        if checksum == self::checksum(&index.file) {
            // If this fails, the next run only takes longer.
            let _ = listing.keep(&index.cache);
        }
        listing
    }

    /// The documents that define one of these types; `None` if the list names a definition that does not exist.
    fn defining(&self, wanted: &HashSet<String>) -> Option<Vec<Document<'static>>> {
        let is_meant = |blob: &&IndexedBlob| blob.types.iter().any(|name| wanted.contains(name));
        let blobs: Vec<&IndexedBlob> = self.blobs.iter().filter(is_meant).collect();
        let names: Vec<&str> = blobs.iter().map(|blob| blob.name.as_str()).collect();
        let mut found = HashMap::new();
        for (name, bytes) in read(&names) {
            found.insert(name, parse("", bytes).ok()?);
        }
        let documents = blobs.into_iter().map(|blob| {
            let document = found.remove(&blob.name)?;
            (types_of(&document) == blob.types).then_some(document)
        });
        documents.collect()
    }

    /// The kept list; `None` if it cannot be read.
    fn kept(cache: &Path) -> Option<Self> {
        if !fs::symlink_metadata(cache).is_ok_and(|found| found.is_file() && found.len() <= MOST) {
            return None;
        }
        Self::parse(&fs::read_to_string(cache).ok()?)
    }

    fn parse(text: &str) -> Option<Self> {
        let mut lines = text.strip_suffix("end\n")?.strip_suffix('\n')?.split('\n');
        let (missing, checksum) = lines.next()?.strip_prefix(FORMAT)?.trim_start().split_once(' ')?;
        let blobs = lines.map(|line| {
            let mut words = line.split(' ').map(str::to_owned);
            let blob = IndexedBlob { name: words.next()?, types: words.collect() };
            (is_name(&blob.name) && blob.types.iter().all(|name| is_type(name))).then_some(blob)
        });
        Some(Self {
            checksum: (!checksum.is_empty()).then(|| checksum.to_owned()),
            missing: missing.parse().ok()?,
            blobs: blobs.collect::<Option<_>>()?,
        })
    }

    fn text(&self) -> String {
        let mut text = format!("{FORMAT} {} {}\n", self.missing, self.checksum.as_deref().unwrap_or_default());
        for IndexedBlob { name, types } in &self.blobs {
            text.push_str(name);
            types.iter().for_each(|name| text.extend([" ", name]));
            text.push('\n');
        }
        text + "end\n"
    }

    /// Writes the list as a whole.
    fn keep(&self, cache: &Path) -> io::Result<()> {
        let folder = cache.parent().unwrap_or(Path::new("."));
        fs::create_dir_all(folder)?;
        if !fs::symlink_metadata(folder)?.is_dir() {
            return Ok(());
        }
        made::replace(cache, self.text().as_bytes())
    }
}

/// The checksum at the end of an index; `None` if git wrote no checksum, because `index.skipHash` is set.
fn checksum(index: &Path) -> Option<String> {
    let mut file = File::open(index).ok()?;
    file.seek(SeekFrom::End(-20)).ok()?;
    let mut bytes = Vec::new();
    file.take(20).read_to_end(&mut bytes).ok()?;
    let hex = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    bytes.iter().any(|byte| *byte != 0).then_some(hex)
}

/// The blobs of the YAML and JSON files in the index, each once, in the order of their paths; for a file in conflict, our side's blob.
fn files() -> Vec<String> {
    let patterns = ["*.yaml", "*.yml", "*.json"].map(|pattern| format!(":(top){pattern}"));
    let output = git(In::Environment).args(["ls-files", "--stage", "-z", "--"]).args(patterns).output();
    let Some(output) = output.ok().filter(|output| output.status.success()) else { return Vec::new() };
    let mut seen = HashSet::new();
    let entries = output.stdout.split(|byte| *byte == 0).filter_map(|entry| {
        // An entry of the index is `100644 0123… 0`, a tab and the path.
        let head = std::str::from_utf8(entry.split(|byte| *byte == b'\t').next()?).ok()?;
        let mut words = head.split(' ');
        let (mode, name, stage) = (words.next()?, words.next()?, words.next()?);
        let is_meant = mode.starts_with("100") && is_name(name) && ["0", "2"].contains(&stage);
        is_meant.then(|| name.to_owned())
    });
    entries.filter(|name| seen.insert(name.clone())).collect()
}

/// The content of the blobs that exist and are not huge, each with its name. A blob that git would have to fetch counts as missing.
fn read(names: &[&str]) -> Vec<(String, Vec<u8>)> {
    if names.is_empty() {
        return Vec::new();
    }
    let mut git = git(In::Environment);
    git.args(["cat-file", "--batch", "--buffer"]);
    let child = git.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn();
    let Ok(mut child) = child else { return Vec::new() };
    let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
    let asked: String = names.iter().map(|name| format!("{name}\n")).collect();
    let blobs = std::thread::scope(|scope| {
        // git writes its output while it still reads names, so another thread sends the names.
        scope.spawn(move || stdin.map(|mut stdin| stdin.write_all(asked.as_bytes())));
        stdout.map(|stdout| blobs(BufReader::new(stdout))).unwrap_or_default()
    });
    // All its output has been read, so git is about to exit.
    let _ = child.wait();
    blobs
}

/// Parses the output of `git cat-file --batch` as far as possible. A blob that cannot be a definition gets no bytes.
fn blobs(mut from: impl BufRead) -> Vec<(String, Vec<u8>)> {
    let mut out = Vec::new();
    loop {
        let mut head = String::new();
        if !from.read_line(&mut head).is_ok_and(|read| read > 0) {
            return out;
        }
        let words: Vec<&str> = head.split_whitespace().collect();
        // The line for a missing blob has only two words: `0123… missing`.
        let [name, kind, size] = words[..] else { continue };
        let Ok(size) = size.parse::<u64>() else { return out };
        let mut bytes = Vec::new();
        let mut blob = from.by_ref().take(size);
        let read = blob.by_ref().take(MOST).read_to_end(&mut bytes).and_then(|_| io::copy(&mut blob, &mut io::sink()));
        if read.is_err() || from.read_line(&mut String::new()).is_err() {
            return out;
        }
        if kind == "blob" {
            let may_define = size <= MOST && std::str::from_utf8(&bytes).is_ok_and(|text| text.contains(MARK));
            out.push((name.to_owned(), if may_define { bytes } else { Vec::new() }));
        }
    }
}

/// The types that a file defines, as `group/Kind`; empty if it is not YAML.
fn types_in(bytes: Vec<u8>) -> Vec<String> {
    if bytes.is_empty() {
        return Vec::new();
    }
    parse("", bytes).map(|document| types_of(&document)).unwrap_or_default()
}

fn types_of(document: &Document<'_>) -> Vec<String> {
    let of = |node: NodeRef<'_>| {
        let text = |path: &[&str]| node.at(path).and_then(NodeRef::as_str);
        Some(format!("{}/{}", text(&["spec", "group"])?, text(&["spec", "names", "kind"])?))
    };
    nodes(document).into_iter().filter_map(of).filter(|name| is_type(name)).collect()
}

/// The definitions in a document, including those in lists.
pub fn nodes<'d>(document: &'d Document<'_>) -> Vec<NodeRef<'d>> {
    let all = document.roots().flat_map(list::resources).map(|listed| listed.node);
    all.filter(|node| Resource::read(*node, Origin::Item(0)).is_definition()).collect()
}

/// Whether a text is the name of a blob.
fn is_name(text: &str) -> bool {
    [40, 64].contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Whether a text is a group and a kind that an API server accepts.
fn is_type(text: &str) -> bool {
    let is_word =
        |word: &str| !word.is_empty() && word.bytes().all(|b| b.is_ascii_alphanumeric() || b"-.".contains(&b));
    text.split_once('/').is_some_and(|(group, kind)| is_word(group) && is_word(kind))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_is_read_as_it_was_written() {
        let blob = |digit: &str, types: &[&str]| IndexedBlob {
            name: digit.repeat(40),
            types: types.iter().map(|name| (*name).to_owned()).collect(),
        };
        let blobs = vec![blob("a", &["example.com/Gate", "example.com/Door"]), blob("b", &[])];
        for checksum in [Some("0c".to_owned()), None] {
            let listing = Listing { checksum, missing: 12, blobs: blobs.clone() };
            let text = listing.text();
            assert_eq!(Listing::parse(&text), Some(listing), "{text}");
            // A truncated list is not a list.
            (0..text.len()).for_each(|end| assert_eq!(Listing::parse(&text[..end]), None, "{}", &text[..end]));
        }
        for text in [
            "krm-merge definitions 2 0 \n--help\nend\n",
            "krm-merge definitions 2 0 \n\nend\n",
            "krm-merge definitions 2 \nend\n",
            "x\nend\n",
            "\nend\n",
        ] {
            assert_eq!(Listing::parse(text), None, "{text}");
        }
    }

    #[test]
    fn blobs_are_read_as_far_as_git_has_written_them() {
        let define = "kind: CustomResourceDefinition";
        let text =
            format!("aa blob 3\nx\ny\nbb missing\ncc tree 2\n\0\n\ndd blob {}\n{define}\nee blob 9\nx", define.len());
        let found = blobs(text.as_bytes());
        let want = [("aa", ""), ("dd", define)].map(|(name, text)| (name.to_owned(), text.as_bytes().to_vec()));
        assert_eq!(found[..2], want);
        for end in 0..text.len() {
            assert!(blobs(&text.as_bytes()[..end]).len() <= 3);
        }
    }

    #[test]
    fn types_are_those_of_definitions_alone() {
        let define = |group: &str, kind: &str| {
            format!(
                "{{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {{name: a}}, spec: {{group: {group}, names: {{kind: {kind}}}}}}}"
            )
        };
        for (text, want) in [
            (define("example.com", "Gate"), &["example.com/Gate"][..]),
            (format!("{}\n---\n{}\n", define("a", "B"), define("c", "D")), &["a/B", "c/D"]),
            (format!("{{apiVersion: v1, kind: List, items: [{}]}}", define("a", "B")), &["a/B"]),
            // Nothing that would read as another word or line of the kept file.
            (define("'a b'", "C"), &[]),
            (define("a", "'B\n\n0'"), &[]),
            (define("a", "[B]"), &[]),
            ("{apiVersion: v1, kind: ConfigMap, metadata: {name: CustomResourceDefinition}}".to_owned(), &[]),
            ("[".to_owned(), &[]),
        ] {
            assert_eq!(types_in(text.clone().into_bytes()), want, "{text}");
        }
    }
}
