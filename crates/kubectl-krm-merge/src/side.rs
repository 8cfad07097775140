//! One side of a merge: the resources, and the other files, of a file, a folder, a release in git or stdin.
//!
//! A file of a folder holds resources if it is called `*.yaml`, `*.yml`, `*.json`, `Kptfile` or `Kustomization` and one of its documents
//! has an apiVersion, a kind and a name, or is a List, which may be empty. Any other file is a plain file, even if it is not YAML, like a
//! Helm template. A warning names files that should be YAML, because they may have a mistake. A file that the command line names must hold
//! resources.
//!
//! A side that is only read may be a pipe, such as `<(…)` of a shell, or a device. If a side holds nothing, its path is mostly wrong, or a
//! command failed. So these sides must hold a resource: a pipe, a source, the files for a cluster, and updated if original has resources.
//! Original may be empty, because a package may have no earlier release. Dest may be empty, too.

use std::borrow::Cow;
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail};
use krm_merge::file_path;
use krm_merge::package::TextFile;
use krm_merge::refine::names_document;
use krm_merge::resource::{Identity, Located, Origin, Resource, are_in, why_no_resource};
use krm_merge::yaml::{Document, NodeRef, utf_16_or_32};

use crate::cores;
use crate::disk::is_executable;
use crate::release;
use crate::walk::{Tree, Unread, shown};

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

/// The error for a user who names stdin twice.
pub const STDIN_ONCE: &str = "only one side must be `-`, for stdin can be read once";

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

/// A file of a side.
#[derive(Debug)]
pub struct Held {
    /// Its path relative to the side's folder, with `/`.
    pub path: String,
    /// Its name for messages, as the user would type it.
    pub name: String,
    /// Its path on disk; `None` for stdin, text and the files of a release.
    pub disk: Option<PathBuf>,
    /// What a file of a release has beside its content.
    pub blob: Option<Blob>,
    /// Its content.
    pub content: Content,
}

/// The content of a file.
#[derive(Debug)]
pub enum Content {
    /// Resources.
    Resources(Box<Document<'static>>),
    /// Resources. But the file is merged as text.
    AsText(AsText, Box<Document<'static>>),
    /// A file that has the name of a resource file but is not YAML, like a Helm template.
    NoYaml(Fault),
    /// Anything else. It is read only if it has to be compared.
    Other,
}

/// Why a file with resources is merged as text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AsText {
    /// In original or updated, one of its resources has `generateName` and no name. Nobody knows which resource it is on another side.
    Unnamed,
    /// A resource stands in it more often on one side than on another. Nobody knows which of them it is on another side.
    Repeated,
    /// Another side has something else at this path.
    Mixed,
}

/// A file of a release, in memory.
#[derive(Debug)]
pub struct Blob {
    /// Its bytes, unless its content has them.
    bytes: Vec<u8>,
    is_executable: bool,
}

/// A file of a release, before it is read.
#[derive(Debug)]
pub struct Raw {
    /// Its path in the release, with `/`.
    pub path: String,
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// Whether anyone may execute it.
    pub is_executable: bool,
}

impl Side {
    /// Reads a side: `-` is stdin, anything else a file, a folder, or the address of a release in git. `of` is the flag or the argument that
    /// names it.
    ///
    /// # Errors
    /// A file cannot be read; a file that the user named is not YAML; or a path leads out of the folder.
    pub fn read(of: &str, path: &str) -> Result<Self> {
        if path == "-" {
            let mut bytes = Vec::new();
            io::stdin().lock().read_to_end(&mut bytes).context("stdin must be readable")?;
            return Self::one(Root::Stdin, "stdin".into(), None, bytes)?.not_empty();
        }
        let disk = Path::new(path);
        let found = match fs::metadata(disk) {
            Ok(found) => found,
            Err(e) => return release::side_at(of, path, e),
        };
        if !found.is_dir() {
            let bytes = fs::read(disk).with_context(|| shown(disk))?;
            // A pipe has no path on disk, and neither has the file of a here-document.
            let canonical = if found.is_file() { fs::canonicalize(disk).ok() } else { None };
            let Some(canonical) = canonical else {
                let side = Self::one(Root::Stream, shown(disk), None, bytes)?;
                return if is_pipe(&found) { side.not_empty() } else { Ok(side) };
            };
            return Self::one(Root::File(canonical.clone()), shown(disk), Some(canonical), bytes);
        }
        let tree = Tree::read(disk)?;
        let read = cores::map(&tree.files, |path| Held::read(disk, &tree.root, path));
        let mut files = read.into_iter().collect::<Result<Vec<Held>>>()?;
        files.sort_by(|a, b| a.path.cmp(&b.path));
        let side = Self { name: shown(disk), root: Root::Folder(Box::new(tree)), files };
        side.check()?;
        Ok(side)
    }

    /// Reads two sides, of which stdin can be only one. The rules of a package are no part of it.
    ///
    /// # Errors
    /// The errors of [`Side::read`]; or both sides are stdin.
    pub fn read_both(of: [&str; 2], paths: [&str; 2]) -> Result<[Self; 2]> {
        if paths == ["-", "-"] {
            bail!(STDIN_ONCE);
        }
        let mut sides = [Self::read(of[0], paths[0])?, Self::read(of[1], paths[1])?];
        sides.iter_mut().filter(|side| side.is_folder()).for_each(|side| side.leave_out_of_package(&[]));
        Ok(sides)
    }

    /// A side with the files of a folder of a commit. `name` is its address.
    ///
    /// # Errors
    /// The errors of [`Side::read`].
    pub fn of_release(name: String, files: Vec<Raw>, unread: Unread) -> Result<Self> {
        let mut files: Vec<Held> = cores::map_each(files, |raw| Held::raw(&name, raw));
        files.sort_by(|a, b| a.path.cmp(&b.path));
        let side = Self { name, root: Root::Release(unread), files };
        side.check()?;
        Ok(side)
    }

    /// A side with one file of a commit, which must hold resources.
    ///
    /// # Errors
    /// The errors of [`Side::read`].
    pub fn of_file(name: String, bytes: Vec<u8>) -> Result<Self> {
        Self::one(Root::Stream, name, None, bytes)
    }

    /// A side with the resources of a text, which may have none.
    pub fn of_text(name: &str, text: &str) -> Result<Self> {
        Self::one(Root::Text, name.to_owned(), None, text.as_bytes().to_vec())
    }

    fn one(root: Root, name: String, disk: Option<PathBuf>, bytes: Vec<u8>) -> Result<Self> {
        let document = parse(&name, bytes)?;
        if let Some(other) = document.roots().find(|r| !r.is_map() && !r.is_null()) {
            let what = why_no_resource(other);
            bail!("{name}:{}", other.error(format!("a document must be a resource, which is a map{what}")));
        }
        let path = disk.as_deref().and_then(Path::file_name).map(|n| n.to_string_lossy().into_owned());
        let content = Content::Resources(Box::new(document));
        let held = Held { path: path.unwrap_or_default(), name: name.clone(), disk, blob: None, content };
        let side = Self { name, root, files: vec![held] };
        side.check()?;
        Ok(side)
    }

    /// Checks that no path annotation leads to a file that must not be written, and that no two items are for the same place of a file.
    fn check(&self) -> Result<()> {
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
    pub fn resources(&self, part: Part) -> Vec<(usize, Resource<'_>)> {
        let is_folder = matches!(self.root, Root::Folder(_) | Root::Release(_) | Root::Cluster);
        self.all()
            .enumerate()
            .map(|(i, (file, resource))| {
                let held = &self.files[file];
                let origin = Origin::File { name: held.name.clone(), item: (part == Part::Package).then_some(i) };
                // In a file that the user named, an item of a list or of a source gets its path from its annotation.
                let is_apart = !is_folder && (!resource.node().is_root() || part == Part::Source);
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
        let of_files = cores::map(&self.files, |held| held.resources().collect::<Vec<_>>());
        of_files.into_iter().enumerate().flat_map(|(file, all)| all.into_iter().map(move |resource| (file, resource)))
    }

    /// A side with objects of a cluster: for each, its path, its name for messages, and its text.
    pub fn of_cluster(objects: impl IntoIterator<Item = (String, String, String)>) -> Result<Self> {
        let file = |(path, name, text): (String, String, String)| {
            let content = Content::Resources(Box::new(parse(&name, text.into_bytes())?));
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
        let files =
            self.files.iter().filter(is_meant).map(|held| Ok(document(&held.name, held.bytes()?.into_owned()).ok()));
        files.filter_map(Result::transpose).collect()
    }

    /// The files that should be YAML but are not, each with its path.
    pub fn no_yaml(&self) -> impl Iterator<Item = (&str, &Fault)> {
        self.files.iter().filter_map(|held| match &held.content {
            Content::NoYaml(fault) => Some((held.path.as_str(), fault)),
            Content::Resources(_) | Content::AsText(..) | Content::Other => None,
        })
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

    /// The links that lead out of the folder, or nowhere.
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
        let content = Content::Resources(Box::new(parse(&name, text.into_bytes())?));
        match self.files.binary_search_by(|held| held.path.as_str().cmp(path)) {
            Ok(at) => self.files[at].content = content,
            Err(at) => {
                let blob = Some(Blob { bytes: Vec::new(), is_executable: false });
                self.files.insert(at, Held { path: path.to_owned(), name, disk: None, blob, content });
            }
        }
        Ok(())
    }

    /// The file at a path.
    pub fn at(&self, path: &str) -> Option<&Held> {
        self.files.binary_search_by(|h| h.path.as_str().cmp(path)).ok().map(|i| &self.files[i])
    }

    /// Whether the side is a folder.
    pub fn is_folder(&self) -> bool {
        matches!(self.root, Root::Folder(_) | Root::Release(_))
    }
}

/// The part of a side in a merge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The package that is merged into.
    Package,
    /// A side in another role than source.
    Role,
    /// A side in the role of a source, such as a patch for a whole package.
    Source,
}

impl Held {
    /// Reads a file of a folder. `root` is the folder without symbolic links.
    fn read(folder: &Path, root: &Path, path: &str) -> Result<Self> {
        let (name, file) = (shown(&folder.join(path)), root.join(path));
        let content = match names_document(path) {
            true => content(&name, fs::read(&file).with_context(|| name.clone())?),
            false => Content::Other,
        };
        Ok(Self { path: path.to_owned(), name, disk: Some(file), blob: None, content })
    }

    /// Reads a file of a release. `side` is the name of the release.
    fn raw(side: &str, raw: Raw) -> Self {
        let Raw { path, mut bytes, is_executable } = raw;
        let name = format!("{side}/{path}");
        let content = if names_document(&path) { content(&name, bytes.clone()) } else { Content::Other };
        if matches!(content, Content::Resources(_)) {
            bytes = Vec::new();
        }
        Self { path, name, disk: None, blob: Some(Blob { bytes, is_executable }), content }
    }

    /// Whether anyone may execute the file; `None` if it is neither on disk nor in a release.
    pub fn executable(&self) -> Option<bool> {
        let of_blob = self.blob.as_ref().map(|blob| blob.is_executable);
        of_blob.or_else(|| self.disk.as_deref().map(is_executable))
    }

    /// A file with the resources of a text.
    ///
    /// # Errors
    /// The text is not YAML.
    pub fn of_text(text: String) -> Result<Self> {
        let content = Content::Resources(Box::new(Document::parse(text)?));
        Ok(Self { path: String::new(), name: String::new(), disk: None, blob: None, content })
    }

    /// The document, if it holds resources.
    pub fn document(&self) -> Option<&Document<'static>> {
        match &self.content {
            Content::Resources(document) => Some(document),
            Content::AsText(..) | Content::NoYaml(_) | Content::Other => None,
        }
    }

    /// The file as the engine sees it. `text` is its text if it holds no resources.
    pub fn as_text<'h>(&'h self, text: &'h str) -> TextFile<'h> {
        let document = self.document();
        let text = document.map_or(text, Document::source);
        TextFile { path: &self.path, name: &self.name, text, document }
    }

    /// The resources of the file.
    pub fn resources(&self) -> impl Iterator<Item = Resource<'_>> {
        self.document().into_iter().flat_map(of_document)
    }

    /// The identities of the resources that have one.
    pub fn identities(&self) -> impl Iterator<Item = Identity<'_>> {
        self.resources().filter_map(|resource| resource.identity)
    }

    /// The bytes of the file. A file that was not parsed is read again.
    pub fn bytes(&self) -> Result<Cow<'_, [u8]>> {
        match (&self.content, &self.disk) {
            (Content::Resources(document) | Content::AsText(_, document), _) => Ok(document.source().as_bytes().into()),
            (Content::NoYaml(_) | Content::Other, Some(disk)) => {
                Ok(fs::read(disk).with_context(|| self.name.clone())?.into())
            }
            (Content::NoYaml(_) | Content::Other, None) => {
                Ok(self.blob.as_ref().map(|blob| blob.bytes.as_slice()).unwrap_or_default().into())
            }
        }
    }
}

#[cfg(unix)]
fn is_pipe(found: &fs::Metadata) -> bool {
    use std::os::unix::fs::FileTypeExt;
    found.file_type().is_fifo() || found.is_file()
}

#[cfg(not(unix))]
fn is_pipe(found: &fs::Metadata) -> bool {
    found.is_file()
}

/// Whether a file of a folder holds resources.
pub fn holds(path: &str, text: &str) -> bool {
    names_document(path) && Document::parse(text.to_owned()).is_ok_and(|document| are_in(&document))
}

/// The resources of a document, without their origin.
fn of_document<'a>(document: &'a Document<'static>) -> impl Iterator<Item = Resource<'a>> {
    document.roots().flat_map(|root| Resource::of_document(root, |_| Origin::Field(String::new())))
}

/// Why a file is not YAML. It has nothing of the text, because that may be secret.
#[derive(Debug)]
pub struct Fault {
    /// The file, and the position if it is one of the text: `web.yaml:3:5`.
    pub place: String,
    /// The reason.
    pub why: String,
}

/// The annotation of a resource that is only for programs that read the package. Such a resource is not for a cluster. Source: kyaml, where
/// any value except `false` counts.
const LOCAL: &str = "config.kubernetes.io/local-config";

/// Whether a resource is only for programs that read the package: a Kptfile, or one with the annotation.
pub fn is_local(resource: &Resource<'_>) -> bool {
    let is_kptfile = resource.identity.is_some_and(|i| i.kind == "Kptfile" && i.api_version.starts_with("kpt.dev/"));
    let says = resource.node().at(&["metadata", "annotations", LOCAL]).map(NodeRef::string);
    is_kptfile || says.is_some_and(|value| value != "false")
}

/// Whether kustomize reads a file with this name as a kustomization.
pub fn is_kustomization(path: &str) -> bool {
    ["kustomization.yaml", "kustomization.yml", "Kustomization"].contains(&path.rsplit('/').next().unwrap_or(path))
}

/// The content of a file of a folder that should be YAML. `name` is the file's name for the user.
fn content(name: &str, bytes: Vec<u8>) -> Content {
    match document(name, bytes) {
        Ok(document) if are_in(&document) => Content::Resources(Box::new(document)),
        Ok(_) => Content::Other,
        Err(fault) => Content::NoYaml(fault),
    }
}

fn document(name: &str, bytes: Vec<u8>) -> Result<Document<'static>, Fault> {
    let fault = |why: String| Fault { place: name.to_owned(), why };
    if let Some(encoding) = utf_16_or_32(&bytes) {
        return Err(fault(format!("the text must be UTF-8, not {encoding}: save it again as UTF-8")));
    }
    let text = String::from_utf8(bytes).map_err(|e| {
        fault(format!("the text must be UTF-8, but the byte at offset {} is not", e.utf8_error().valid_up_to()))
    })?;
    Document::parse(text).map_err(|e| Fault { place: format!("{name}:{}", e.position), why: e.message })
}

/// Parses a file.
///
/// # Errors
/// The text is not UTF-8, or not YAML. The error has the file and the place, but not the text, because it may be secret.
pub fn parse(name: &str, bytes: Vec<u8>) -> Result<Document<'static>> {
    document(name, bytes).map_err(|Fault { place, why }| anyhow!("{place}: {why}"))
}
