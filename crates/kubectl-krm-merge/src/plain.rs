//! [`Plain`]: the files without resources in which two sides differ.

use std::borrow::Cow;

use anyhow::Result;
use krm_folders::held::{Held, document};
use krm_folders::side::{Side, paths};
use krm_job::carried::text;
use krm_job::forms::complex_key;
use krm_merge_core::refine::names_document;
use krm_show::clash::{self, Line};
use krm_yaml::secret::Secret;
use krm_yaml::{Document, same};

/// How a resource, field or file differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Only the second side has it.
    Added,
    /// Only the first side has it.
    Removed,
    /// Both have it.
    Changed,
}

/// The files without resources that differ.
pub struct Plain {
    /// The YAML documents of files that both sides have and whose bytes differ.
    pub documents: Vec<PlainDocument>,
    /// The files that cannot be compared by field.
    pub files: Vec<PlainFile>,
}

/// A file of YAML without resources, as both sides have it.
pub struct PlainDocument {
    /// Its path on both sides.
    pub path: String,
    /// Its name on each side, for messages.
    pub names: [String; 2],
    /// What it holds on each side.
    pub texts: [Document<'static>; 2],
}

/// A file that cannot be compared by field.
pub struct PlainFile {
    pub kind: Kind,
    /// Its path in its folder.
    pub path: String,
    /// Its name for messages, on the second side; on the first side if the second lacks it.
    pub name: String,
    /// The lines that differ, of a template of YAML that both sides have, unless they may be secret.
    pub lines: Vec<Line>,
}

impl Plain {
    /// Compares two sides. Sides that are no folders have no such files.
    ///
    /// # Errors
    /// A file cannot be read.
    pub fn of(a: &Side, b: &Side) -> Result<Self> {
        let mut plain = Self { documents: Vec::new(), files: Vec::new() };
        if !a.is_folder() || !b.is_folder() {
            return Ok(plain);
        }
        for path in paths([a, b]) {
            let is_plain = |held: &Held| held.document().is_none();
            let (kind, held, lines) = match (a.at(path), b.at(path)) {
                (Some(old), Some(new)) if is_plain(old) || is_plain(new) => {
                    let texts = [old.bytes()?, new.bytes()?];
                    if texts[0] == texts[1] {
                        continue;
                    }
                    let is_by_field = names_document(path) && is_plain(old) && is_plain(new);
                    match texts.each_ref().map(|text| is_by_field.then(|| by_field(text)).flatten()) {
                        [Some(of_old), Some(of_new)] => {
                            let names = [old, new].map(|held| held.name.clone());
                            let texts = [of_old, of_new];
                            plain.documents.push(PlainDocument { path: path.to_owned(), names, texts });
                            continue;
                        }
                        _ => (Kind::Changed, new, lines(path, &texts)),
                    }
                }
                (Some(held), None) if is_plain(held) => (Kind::Removed, held, Vec::new()),
                (None, Some(held)) if is_plain(held) => (Kind::Added, held, Vec::new()),
                _ => continue,
            };
            let (path, name) = (path.to_owned(), held.name.clone());
            plain.files.push(PlainFile { kind, path, name, lines });
        }
        Ok(plain)
    }

    /// How many files differ in more than comments and layout.
    pub fn count(&self) -> usize {
        let differs = |document: &&PlainDocument| {
            let [mut old, mut new] = document.texts.each_ref().map(|text| text.roots().filter(|root| !root.is_null()));
            let are_same = old.all(|old| new.next().is_some_and(|new| same(old, new)));
            !are_same || new.next().is_some()
        };
        self.files.len() + self.documents.iter().filter(differs).count()
    }
}

/// The documents of a file, if each of their fields has a name. A value such as `{{ .Values.x }}` of a template can be read, but it is a map
/// in a key.
fn by_field(text: &[u8]) -> Option<Document<'static>> {
    document(text.to_vec()).ok().filter(|document| complex_key(document).is_none())
}

/// The lines in which two texts of YAML differ, unless they may be secret.
fn lines(path: &str, texts: &[Cow<'_, [u8]>; 2]) -> Vec<Line> {
    match texts.each_ref().map(|bytes| text(bytes).filter(|text| Secret::of_text(text) == Secret::Nothing)) {
        [Some(old), Some(new)] if names_document(path) => clash::lines(old, new),
        _ => Vec::new(),
    }
}
