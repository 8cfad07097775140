//! [`TextFile`]: a file of a side, and what a merge does to the resources in it.

use std::fmt;

use krm_tree::sides::Sides;
use krm_tree::splice::Unwritable;
use krm_yaml::{Document, NodeRef, Overlap, TextEdits};

use super::Spot;
use crate::documents::{Item, NewDocument};
use crate::resource::{Origin, Resource};

/// A file of a side of a merge.
#[derive(Clone, Copy, Debug)]
pub struct TextFile<'f> {
    /// Its path in the folder of its side.
    pub path: &'f str,
    /// Its name in messages, by which the [`Origin`] of its resources knows it.
    pub name: &'f str,
    /// Its text. The host may leave it out if the file holds no resources and gets none.
    pub text: &'f str,
    /// Its documents, if it holds resources.
    pub document: Option<&'f Document<'f>>,
}

/// A new resource of a file.
#[derive(Clone, Debug)]
pub struct NewResource {
    /// Its file, relative to the folder of its role.
    pub path: Option<String>,
    /// The item, field or file that it came from.
    pub origin: Origin,
    /// The resource.
    pub document: NewDocument,
    /// Its position among the items of dest.
    pub spot: Spot,
}

impl NewResource {
    /// The path for a resource that came from no file: `namespace/kind_name.yaml`, as with kpt. `None` if it has no name.
    pub fn default_path(&self) -> Option<String> {
        let document = Document::parse(self.document.body.as_str()).ok()?;
        let identity = Resource::read(document.roots().next()?, self.origin.clone()).identity?;
        let name = format!("{}_{}.yaml", identity.kind.to_lowercase(), identity.name).replace('/', "_");
        Some(if identity.namespace.is_empty() { name } else { format!("{}/{name}", identity.namespace) })
    }

    /// Whether it came from this file.
    pub(super) fn comes_from(&self, file: &TextFile<'_>) -> bool {
        matches!(&self.origin, Origin::File { name, .. } if name == file.name)
    }
}

/// Why a file cannot get the text that a merge asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileFault {
    /// The file of this name is JSON, so it holds one resource, and it would get another one.
    Json(String),
    /// New text cannot be written.
    Unwritable(Unwritable),
    /// New text is not YAML. This is a fault of the program, and it must not become a fault of the file.
    Unreadable(krm_yaml::Error),
}

impl fmt::Display for FileFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Json(name) => {
                write!(f, "{name}: a JSON file must hold one resource, so another one cannot be added to it")
            }
            Self::Unwritable(unwritable) => unwritable.fmt(f),
            Self::Unreadable(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for FileFault {}

impl From<Unwritable> for FileFault {
    fn from(unwritable: Unwritable) -> Self {
        Self::Unwritable(unwritable)
    }
}

impl From<Overlap> for FileFault {
    fn from(overlap: Overlap) -> Self {
        Self::Unwritable(overlap.into())
    }
}

impl From<krm_yaml::Error> for FileFault {
    fn from(error: krm_yaml::Error) -> Self {
        Self::Unreadable(error)
    }
}

/// A resource of a file of dest, and what the merge does to it.
#[derive(Clone, Copy, Debug)]
pub struct FileItem<'m> {
    /// The resource.
    pub node: NodeRef<'m>,
    /// What the merge does to it.
    pub item: &'m Item,
    /// The file that it moves to, if it moves.
    pub to: Option<&'m str>,
    /// Its identity in updated, if that is another one: apiVersion, kind, namespace and name.
    pub followed: Option<&'m [&'m str; 4]>,
    /// The edits of its list beside the items of that list, if the list notes them here.
    pub list: Option<&'m TextEdits>,
    /// The comment on the line of its `---`, if it has no `---` and gets one.
    pub mark: Option<&'m str>,
    /// The lines above it, set apart from it, if those that it has stay at the top of the file.
    pub apart: Option<&'m str>,
    /// Its position among the items.
    pub spot: Spot,
}

impl<'m> FileItem<'m> {
    /// A resource at a position, to which the merge does nothing but this.
    pub fn new(node: NodeRef<'m>, item: &'m Item, spot: Spot) -> Self {
        Self { node, item, to: None, followed: None, list: None, mark: None, apart: None, spot }
    }
}

impl TextFile<'_> {
    pub(super) fn is_json(&self) -> bool {
        self.path.ends_with(".json")
    }
}

/// The files of a merge, those of each side in the order of their paths.
#[derive(Clone, Copy, Debug)]
pub struct Files<'f> {
    /// Dest's files, and those of original and updated that are versions of them, by their paths.
    pub sides: Sides<&'f [TextFile<'f>]>,
    /// The files that new resources come from.
    pub sources: &'f [TextFile<'f>],
}

impl<'f> Files<'f> {
    /// The file of dest at a path.
    pub(super) fn dest_at(&self, path: &str) -> Option<TextFile<'f>> {
        at(self.sides.dest, path)
    }

    /// The file of updated at a path.
    pub(super) fn updated_at(&self, path: &str) -> Option<TextFile<'f>> {
        at(self.sides.updated, path)
    }

    /// The file of original at a path.
    pub(super) fn original_at(&self, path: &str) -> Option<TextFile<'f>> {
        at(self.sides.original, path)
    }

    /// Whether a file of dest is byte for byte the same as original's.
    pub(super) fn is_original(&self, file: &TextFile<'_>) -> bool {
        self.original_at(file.path).is_some_and(|original| original.text == file.text)
    }

    /// The file of another side that new resources come from.
    pub(super) fn origin_of(&self, new: &[NewResource]) -> Option<TextFile<'f>> {
        new.iter().find_map(|new| self.sources.iter().find(|file| new.comes_from(file)).copied())
    }
}

fn at<'f>(files: &[TextFile<'f>], path: &str) -> Option<TextFile<'f>> {
    files.binary_search_by(|file| file.path.cmp(path)).ok().map(|at| files[at])
}
