//! One side of a merge: the resources, and the other files, of a file, a folder, a release in git or stdin.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Result, bail};
use krm_files::cores;
use krm_files::walk::Tree;
use krm_git::tree::Raw;
use krm_job::event::WhyUnread;
use krm_job::forms::{at, complex_key};
use krm_names::file_path;
use krm_package::resource::{Located, Origin, Resource, is_kustomization, why_no_resource};
use krm_yaml::template::{RENDER, is_template};
use krm_yaml::{Document, NodeRef};

use crate::held::{Before, Blob, Content, Held, document, parse};

/// The origin of a side.
#[derive(Debug)]
pub enum Root {
    /// All files below a folder.
    Folder(Box<Tree>),
    /// All files below a folder of a commit, except those that are not read.
    Release(Unread),
    /// One file.
    File(PathBuf),
    /// Stdin.
    Stdin,
    /// A pipe or a device, which can be read once and not written.
    Stream,
    /// The command line.
    Text,
    /// A cluster, or the states that are merged with it: one file for each object.
    Cluster,
}

/// The paths of a release that are not read, each with the reason.
#[derive(Debug, Default)]
pub struct Unread(BTreeMap<String, WhyUnread>);

/// A side of a merge.
#[derive(Debug)]
pub struct Side {
    /// Its name, as the user typed it.
    pub name: String,
    /// Its origin.
    pub root: Root,
    /// Its files, in the order of their paths.
    pub files: Vec<Held>,
}

impl Side {
    /// A side with the files of a folder of a commit. `name` is its address, and `before` is what was read before.
    ///
    /// # Errors
    /// A file with resources is no YAML, or a document in it is no map.
    pub fn of_release(name: String, files: Vec<Raw>, unread: Unread, before: &Before<'_>) -> Result<Self> {
        let mut files: Vec<Held> = cores::map_each(files, |raw| Held::raw(&name, raw, before));
        files.sort_by(|a, b| a.path.cmp(&b.path));
        let side = Self { name, root: Root::Release(unread), files };
        side.check()?;
        Ok(side)
    }

    /// A side with one file of a commit, which must hold resources.
    ///
    /// # Errors
    /// The file is no YAML, or not one of resources.
    pub fn of_file(name: String, bytes: Vec<u8>) -> Result<Self> {
        Self::one(Root::Stream, name, None, bytes)
    }

    /// A side with the resources of a text, which may have none.
    ///
    /// # Errors
    /// The errors of [`Side::of_file`].
    pub fn of_text(name: &str, text: &str) -> Result<Self> {
        Self::one(Root::Text, name.to_owned(), None, text.as_bytes().to_vec())
    }

    /// A side of one file with resources, which may have none. `disk` is its place on disk.
    ///
    /// # Errors
    /// The file is no YAML, or a document is no map.
    pub fn one(root: Root, name: String, disk: Option<PathBuf>, bytes: Vec<u8>) -> Result<Self> {
        let document = parse(&name, bytes)?;
        if let Some(other) = document.roots().find(|r| !r.is_map() && !r.is_null()) {
            let what = why_no_resource(other);
            bail!("{name}:{}", other.error(format!("a document must be a resource, which is a map{what}")));
        }
        if let Some(fault) = complex_key(&document).filter(|_| is_template(document.source())) {
            bail!("{}: {}; {RENDER}", fault.place(&name), fault.why);
        }
        let path = disk.as_deref().and_then(Path::file_name).map(|n| n.to_string_lossy().into_owned());
        let content = Content::Resources(Arc::new(document));
        let held = Held { path: path.unwrap_or_default(), name: name.clone(), disk, blob: None, content };
        let side = Self { name, root, files: vec![held] };
        side.check()?;
        Ok(side)
    }

    /// Checks that no path annotation leads to a file that must not be written, and that no two items are for the same place of a file.
    pub fn check(&self) -> Result<()> {
        let mut places = std::collections::HashMap::new();
        for (file, resource) in self.all() {
            let name = &self.files[file].name;
            let Some(path) = resource.path else { continue };
            if let Err(fault) = file_path::of_new_file(path) {
                let at = resource.node().position();
                bail!("{name}:{at}: the path annotation {path:?} must {fault}; correct it, or remove it");
            }
            let in_list = !resource.node().is_root();
            if let Some(first) = places.insert((path, resource.index), resource.node()).filter(|_| in_list) {
                bail!(
                    "{name}:{}: two items must not be for one place in one file, but the one in line {} is for \"{path}\", too",
                    resource.node().position(),
                    first.position().line
                );
            }
        }
        Ok(())
    }

    /// The resources of the side, each with the number of its file. Items of a package have their numbers in this order.
    pub fn resources(&self, part: SidePart) -> Vec<(usize, Resource<'_>)> {
        let is_folder = matches!(self.root, Root::Folder(_) | Root::Release(_) | Root::Cluster);
        self.all()
            .enumerate()
            .map(|(i, (file, resource))| {
                let held = &self.files[file];
                let origin = Origin::File { name: held.name.clone(), item: (part == SidePart::Package).then_some(i) };
                // In a file that the user named, an item of a list or of a source gets its path from its annotation.
                let is_apart = !is_folder && (!resource.node().is_root() || part == SidePart::Source);
                let own = if held.path.is_empty() || is_apart { resource.path } else { None };
                let path = own.or((!held.path.is_empty()).then_some(held.path.as_str()));
                let located = match own {
                    Some(_) => Located::ByAnnotation,
                    None if is_folder => Located::ByFile,
                    None => Located::Nowhere,
                };
                (file, Resource { origin, path, relative_path: path, located, ..resource })
            })
            .collect()
    }

    /// The resources of all files, each with the number of its file.
    fn all(&self) -> impl Iterator<Item = (usize, Resource<'_>)> {
        // A `Vec` would have room for four, and most files have one.
        let of_files = cores::map(&self.files, |held| held.resources().collect::<Box<[_]>>());
        of_files.into_iter().enumerate().flat_map(|(file, all)| all.into_iter().map(move |resource| (file, resource)))
    }

    /// A side with objects of a cluster: for each, its path, its name for messages, and its text.
    pub fn of_cluster(objects: impl IntoIterator<Item = (String, String, String)>) -> Result<Self> {
        let file = |(path, name, text): (String, String, String)| {
            let content = Content::Resources(Arc::new(parse(&name, text.into_bytes())?));
            Ok(Held { path, name, disk: None, blob: None, content })
        };
        let mut files = objects.into_iter().map(file).collect::<Result<Vec<_>>>()?;
        files.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(Self { name: "the cluster".to_owned(), root: Root::Cluster, files })
    }

    /// Returns the side if it has a resource.
    ///
    /// # Errors
    /// The side has no resource.
    pub fn not_empty(self) -> Result<Self> {
        self.check_not_empty().map(|()| self)
    }

    /// Checks that the side has a resource.
    ///
    /// # Errors
    /// The side has no resource.
    pub fn check_not_empty(&self) -> Result<()> {
        if self.is_empty() {
            bail!("{}: there must be at least one resource", self.name);
        }
        Ok(())
    }

    /// The definitions of types among the resources.
    pub fn definitions(&self) -> impl Iterator<Item = NodeRef<'_>> {
        self.files.iter().flat_map(Held::resources).filter(Resource::is_definition).map(|resource| resource.node())
    }

    /// The kustomizations among the files without resources.
    ///
    /// # Errors
    /// A file cannot be read.
    pub fn kustomizations(&self) -> Result<Vec<Document<'static>>> {
        let is_meant = |held: &&Held| matches!(held.content, Content::Other) && is_kustomization(&held.path);
        let files = self.files.iter().filter(is_meant).map(|held| Ok(document(held.bytes()?.into_owned()).ok()));
        files.filter_map(Result::transpose).collect()
    }

    /// The size of the resources in bytes.
    pub fn size(&self) -> usize {
        self.files.iter().filter_map(Held::document).map(|document| document.source().len()).sum()
    }

    /// The number of resources.
    pub fn count(&self) -> usize {
        self.files.iter().map(|held| held.resources().count()).sum()
    }

    /// Whether the side has no resource.
    pub fn is_empty(&self) -> bool {
        self.files.iter().all(|held| held.resources().next().is_none())
    }

    /// The folder or file on disk; `None` for other sides.
    pub fn place(&self) -> Option<&Path> {
        match &self.root {
            Root::Folder(tree) => Some(&tree.root),
            Root::File(file) => Some(file),
            Root::Release(_) | Root::Stdin | Root::Stream | Root::Text | Root::Cluster => None,
        }
    }

    /// The links of a folder on disk that lead out of it, or nowhere; and all links and submodules of a release.
    pub fn links(&self) -> impl Iterator<Item = &str> {
        let (of_folder, of_release) = match &self.root {
            Root::Folder(tree) => (Some(tree.links.iter().map(String::as_str)), None),
            Root::Release(unread) => (None, Some(unread.links())),
            Root::File(_) | Root::Stdin | Root::Stream | Root::Text | Root::Cluster => (None, None),
        };
        of_folder.into_iter().flatten().chain(of_release.into_iter().flatten())
    }

    /// Leaves out the files of another side, if that is in the folder of this side. A package may contain the releases that upgrade it, or
    /// be inside of one.
    pub fn leave_out(&mut self, other: &Path) {
        if let Root::Folder(tree) = &self.root
            && *other != tree.root
            && other.starts_with(&tree.root)
        {
            self.files.retain(|held| held.disk.as_ref().is_none_or(|disk| !disk.starts_with(other)));
        }
    }

    /// Leaves out the rules of a package, and the folders that are packages of their own.
    pub fn leave_out_of_package(&mut self, folders: &[String]) {
        let is_in = |path: &str| {
            folders.iter().any(|folder| path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/')))
        };
        let is_rules = |path: &str| file_path::is_rules(path.rsplit('/').next().unwrap_or(path));
        self.files.retain(|held| !is_rules(&held.path) && !is_in(&held.path));
    }

    /// Gives a file another text, which must be YAML.
    ///
    /// # Errors
    /// The text is not YAML.
    pub fn put(&mut self, path: &str, text: String) -> Result<()> {
        let name = format!("{}/{path}", self.name);
        let document = parse(&name, text.into_bytes())?;
        match self.files.binary_search_by(|held| held.path.as_str().cmp(path)) {
            Ok(at) => self.files[at].put(document),
            Err(at) => {
                let (blob, content) = (Some(Blob::default()), Content::Resources(Arc::new(document)));
                self.files.insert(at, Held { path: path.to_owned(), name, disk: None, blob, content });
            }
        }
        Ok(())
    }

    /// The file at a path.
    pub fn at(&self, path: &str) -> Option<&Held> {
        at(&self.files, path)
    }

    /// Whether the side is a folder.
    pub fn is_folder(&self) -> bool {
        matches!(self.root, Root::Folder(_) | Root::Release(_))
    }
}

impl Unread {
    /// Adds a path.
    pub fn add(&mut self, path: String, why: WhyUnread) {
        self.0.insert(path, why);
    }

    /// Why a path is not read; `None` if the release does not have it, or reads it.
    pub fn why(&self, path: &str) -> Option<WhyUnread> {
        self.0.get(path).copied()
    }

    /// The links and submodules.
    pub fn links(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter(|(_, why)| **why != WhyUnread::Ignored).map(|(path, _)| path.as_str())
    }
}

/// The part of a side in a merge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SidePart {
    /// The package that is merged into.
    Package,
    /// A side in another role than source.
    Role,
    /// A side in the role of a source, such as a patch for a whole package.
    Source,
}

/// The paths of all files of some sides, in order.
pub fn paths<'s>(sides: impl IntoIterator<Item = &'s Side>) -> BTreeSet<&'s str> {
    sides.into_iter().flat_map(|s| &s.files).map(|f| f.path.as_str()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use krm_yaml::parsed;

    #[test]
    fn what_was_read_before_is_neither_parsed_nor_held_again() {
        let text = |name: &str| format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}}}\n");
        let raw = |path: &str, text: String| Raw {
            path: path.to_owned(),
            bytes: text.into_bytes(),
            object: None,
            is_executable: false,
        };
        let side = |name: &str, files: Vec<Raw>, before: &Before<'_>| {
            let files = files.into_iter().map(|file| Held::raw(name, file, before)).collect();
            Side { name: name.to_owned(), root: Root::Release(Unread::default()), files }
        };
        let first = side("1", vec![raw("a.yaml", text("a")), raw("b.yaml", text("b"))], &[]);
        let before = parsed();
        let second = side("2", vec![raw("a.yaml", text("a")), raw("b.yaml", text("x"))], &[&first.files]);
        assert_eq!(parsed() - before, 1, "only b.yaml is another text");
        let at = |side: &'static str, of: &Side| std::ptr::from_ref(of.at(side).and_then(Held::document).expect("it"));
        assert_eq!(at("a.yaml", &first), at("a.yaml", &second));
        assert_ne!(at("b.yaml", &first), at("b.yaml", &second));
        assert_eq!(second.at("a.yaml").map(|held| held.name.as_str()), Some("2/a.yaml"));
    }
}
