//! [`AtPath`]: what is at a path of a commit.

use std::collections::BTreeSet;

/// What is at a path of a commit.
#[derive(Debug)]
pub enum AtPath {
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
    /// What it is.
    pub kind: EntryKind,
}

/// What a name in a tree stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryKind {
    /// A file.
    File,
    /// A file that anyone may execute.
    Executable,
    /// A symbolic link.
    Link,
    /// A commit of another repository.
    Submodule,
}

impl EntryKind {
    /// Whether it has a content that is read.
    pub fn is_file(self) -> bool {
        matches!(self, Self::File | Self::Executable)
    }
}

impl AtPath {
    /// The objects with the content of all files.
    pub fn objects(&self) -> BTreeSet<String> {
        match self {
            Self::File(object) => [object.clone()].into(),
            Self::Folder(entries) => {
                let files = entries.iter().filter(|entry| entry.kind.is_file());
                files.map(|entry| entry.object.clone()).collect()
            }
        }
    }
}
