//! [`Held`]: a file of a side, and what it holds.
//!
//! `krm_job::forms` says which files hold resources. A file that the command line names must hold resources.

use std::borrow::Cow;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result, anyhow};
use krm_files::owner::is_executable;
use krm_files::walk::shown;
use krm_git::tree::Raw;
use krm_job::carried::{AsText, text};
use krm_job::forms::{self, Holds, SideFile, YamlFault, resources_in};
use krm_merge_core::refine::names_document;
use krm_package::resource::{Identity, Resource, are_in};
use krm_yaml::template::{RENDER, is_template};
use krm_yaml::{Document, NodeRef, utf_16_or_32};

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
    Resources(Arc<Document<'static>>),
    /// Resources. But the file is merged as text.
    AsText(AsText, Arc<Document<'static>>),
    /// A document that is no resource, and that merges like one: it is the only one of its file on each side.
    ByPath([&'static str; 2], Arc<Document<'static>>),
    /// A file that has the name of a resource file but is not YAML, like a Helm template.
    NoYaml(YamlFault),
    /// Anything else. It is read only if it has to be compared.
    Other,
}

/// A file of a release, in memory.
#[derive(Debug, Default)]
pub struct Blob {
    /// Its bytes, unless its content has them.
    bytes: Vec<u8>,
    /// The name that git gives to its bytes, if they are still those.
    object: Option<String>,
    is_executable: bool,
}

/// The files of the sides that were read before, of each side in the order of their paths.
pub type Before<'b> = [&'b [Held]];

impl Held {
    /// Reads a file of a folder. `root` is the folder without symbolic links. `before` is what was read before.
    pub fn read(folder: &Path, root: &Path, path: &str, before: &Before<'_>) -> Result<Self> {
        let (name, file) = (shown(&folder.join(path)), root.join(path));
        let content = match names_document(path) {
            true => content(path, fs::read(&file).with_context(|| name.clone())?, before),
            false => Content::Other,
        };
        Ok(Self { path: path.to_owned(), name, disk: Some(file), blob: None, content })
    }

    /// Reads a file of a release. `side` is the name of the release, and `before` is what was read before.
    pub fn raw(side: &str, raw: Raw, before: &Before<'_>) -> Self {
        let Raw { path, mut bytes, object, is_executable } = raw;
        let name = format!("{side}/{path}");
        let content = if names_document(&path) { content(&path, bytes.clone(), before) } else { Content::Other };
        if matches!(content, Content::Resources(_)) {
            bytes = Vec::new();
        }
        Self { path, name, disk: None, blob: Some(Blob { bytes, object, is_executable }), content }
    }

    /// Gives the file resources of another text.
    pub fn put(&mut self, document: Document<'static>) {
        self.content = Content::Resources(Arc::new(document));
        self.blob.iter_mut().for_each(|blob| blob.object = None);
    }

    /// Whether git gives this name to the bytes of the file.
    pub fn is_object(&self, name: &str) -> bool {
        self.blob.as_ref().is_some_and(|blob| blob.object.as_deref() == Some(name))
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
        let content = Content::Resources(Arc::new(Document::parse(text)?));
        Ok(Self { path: String::new(), name: String::new(), disk: None, blob: None, content })
    }

    /// The document, if it holds resources.
    pub fn document(&self) -> Option<&Document<'static>> {
        match &self.content {
            Content::Resources(document) | Content::ByPath(_, document) => Some(document),
            Content::AsText(..) | Content::NoYaml(_) | Content::Other => None,
        }
    }

    /// The document, if it is the only one of the file and holds no resources.
    pub fn plain_document(&self) -> Option<Arc<Document<'static>>> {
        let document = match &self.content {
            Content::Resources(document) => Arc::clone(document),
            Content::Other if names_document(&self.path) => Arc::new(document(self.bytes().ok()?.into_owned()).ok()?),
            Content::ByPath(..) | Content::AsText(..) | Content::NoYaml(_) | Content::Other => return None,
        };
        let is_one = document.roots().len() == 1 && document.roots().all(NodeRef::is_map);
        (is_one && !are_in(&document)).then_some(document)
    }

    /// The resources of the file.
    pub fn resources(&self) -> impl Iterator<Item = Resource<'_>> {
        self.document().into_iter().flat_map(|document| self.resources_of(document))
    }

    /// The resources of another text of the file.
    pub fn resources_of<'d>(&self, text: &'d Document<'static>) -> impl Iterator<Item = Resource<'d>> + use<'d> {
        let of_file = if let Content::ByPath(of_file, _) = &self.content { Some(*of_file) } else { None };
        resources_in(text).map(move |resource| match of_file {
            Some(of_file) => resource.of_file(of_file),
            None => resource,
        })
    }

    /// The identities of the resources that have one.
    pub fn identities(&self) -> impl Iterator<Item = Identity<'_>> {
        self.resources().filter_map(|resource| resource.identity)
    }

    /// The bytes of the file. A file that was not parsed is read again.
    pub fn bytes(&self) -> Result<Cow<'_, [u8]>> {
        match (&self.content, &self.disk) {
            (Content::Resources(document) | Content::AsText(_, document) | Content::ByPath(_, document), _) => {
                Ok(document.source().as_bytes().into())
            }
            (Content::NoYaml(_) | Content::Other, Some(disk)) => {
                Ok(fs::read(disk).with_context(|| self.name.clone())?.into())
            }
            (Content::NoYaml(_) | Content::Other, None) => {
                Ok(self.blob.as_ref().map(|blob| blob.bytes.as_slice()).unwrap_or_default().into())
            }
        }
    }
}

impl SideFile for Held {
    type Unread = anyhow::Error;

    fn path(&self) -> &str {
        &self.path
    }

    fn name(&self) -> &str {
        &self.name
    }

    fn document(&self) -> Option<&Document<'static>> {
        self.document()
    }

    fn merged_as_text(&self) -> Option<(AsText, &Document<'static>)> {
        if let Content::AsText(why, document) = &self.content { Some((*why, document)) } else { None }
    }

    fn fault(&self) -> Option<&YamlFault> {
        if let Content::NoYaml(fault) = &self.content { Some(fault) } else { None }
    }

    fn bytes(&self) -> Result<Cow<'_, [u8]>> {
        self.bytes()
    }

    fn executable(&self) -> Option<bool> {
        self.executable()
    }
}

/// Whether a file of a folder holds resources.
pub fn holds(path: &str, text: &str) -> bool {
    names_document(path) && Document::parse(text.to_owned()).is_ok_and(|document| are_in(&document))
}

/// The content of a file of a folder that should be YAML. What was read before, byte for byte and at the same path, is neither parsed again nor held twice: most files of a package are the same in all releases.
fn content(path: &str, bytes: Vec<u8>, before: &Before<'_>) -> Content {
    let mut known = before.iter().filter_map(|files| match &forms::at(files, path)?.content {
        Content::Resources(document) => Some(document),
        Content::ByPath(..) | Content::AsText(..) | Content::NoYaml(_) | Content::Other => None,
    });
    if let Some(document) = known.find(|document| document.source().as_bytes() == bytes) {
        return Content::Resources(Arc::clone(document));
    }
    match Holds::of(document(bytes)) {
        Holds::Resources(document) => Content::Resources(Arc::new(document)),
        Holds::Documents(_) => Content::Other,
        Holds::NoYaml(fault) => Content::NoYaml(fault),
    }
}

/// The documents of the bytes of a file.
///
/// # Errors
/// They are no UTF-8, or no YAML.
pub fn document(bytes: Vec<u8>) -> Result<Document<'static>, YamlFault> {
    let fault = |why: String| YamlFault { position: None, why };
    if let Some(encoding) = utf_16_or_32(&bytes) {
        return Err(fault(format!("the text must be UTF-8, not {encoding}: save it again as UTF-8")));
    }
    let text = String::from_utf8(bytes).map_err(|e| {
        fault(format!("the text must be UTF-8, but the byte at offset {} is not", e.utf8_error().valid_up_to()))
    })?;
    Ok(Document::parse(text)?)
}

/// Parses a file.
///
/// # Errors
/// The text is not UTF-8, or not YAML. The error has the file and the place, but not the text, because it may be secret.
pub fn parse(name: &str, bytes: Vec<u8>) -> Result<Document<'static>> {
    let is_template = text(&bytes).is_some_and(is_template);
    let more = if is_template { format!("; {RENDER}") } else { String::new() };
    document(bytes).map_err(|fault| anyhow!("{}: {}{more}", fault.place(name), fault.why))
}
