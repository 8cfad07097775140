//! [`Texts`]: the files of a tree, each parsed when somebody looks into it, and [`At`], a place in one.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use krm_yaml::{Document, NodeRef};

use crate::unread::{Spot, Unread, Why};

/// The files of a tree. Each is parsed once.
pub struct Texts<'f> {
    files: &'f BTreeMap<String, String>,
    parsed: RefCell<BTreeMap<&'f str, Parsed>>,
}

/// A parsed text, or the message of the parser.
type Parsed = Result<Rc<Document<'static>>, String>;

/// A node of a document that is kept as long as somebody looks at it.
#[derive(Clone, Debug)]
pub struct At {
    /// The path of the file.
    pub file: String,
    document: Rc<Document<'static>>,
    root: usize,
    steps: Vec<Step>,
}

#[derive(Clone, Debug)]
enum Step {
    Field(String),
    Element(usize),
}

impl<'f> Texts<'f> {
    /// The files of a tree, by their paths.
    pub fn new(files: &'f BTreeMap<String, String>) -> Self {
        Self { files, parsed: RefCell::default() }
    }

    /// The files, each with its path.
    pub fn iter(&self) -> impl Iterator<Item = (&'f str, &'f str)> + use<'f> {
        self.files.iter().map(|(path, text)| (path.as_str(), text.as_str()))
    }

    /// Whether there is a file at a path.
    pub fn has(&self, path: &str) -> bool {
        self.files.contains_key(path)
    }

    /// The document of a file.
    ///
    /// # Errors
    /// There is no such file, or it is not YAML.
    pub fn document(&self, path: &str) -> Result<Rc<Document<'static>>, Why> {
        let Some((path, text)) = self.files.get_key_value(path) else { return Err(Why::NoFile(path.to_owned())) };
        let mut parsed = self.parsed.borrow_mut();
        let parsed = parsed.entry(path).or_insert_with(|| parse(text));
        parsed.clone().map_err(Why::NotYaml)
    }

    /// The roots of a file.
    ///
    /// # Errors
    /// Those of [`Texts::document`].
    pub fn roots(&self, path: &str) -> Result<Vec<At>, Why> {
        let document = self.document(path)?;
        Ok((0..document.roots().len()).map(|root| At::root(path, &document, root)).collect())
    }
}

fn parse(text: &str) -> Parsed {
    Document::parse(text.to_owned()).map(Rc::new).map_err(|e| e.to_string())
}

impl At {
    /// A root of a document.
    pub fn root(file: &str, document: &Rc<Document<'static>>, root: usize) -> Self {
        Self { file: file.to_owned(), document: Rc::clone(document), root, steps: Vec::new() }
    }

    /// The node; `None` if a step leads nowhere.
    pub fn node(&self) -> Option<NodeRef<'_>> {
        let root = self.document.roots().nth(self.root)?;
        self.steps.iter().try_fold(root, |node, step| match step {
            Step::Field(name) => node.get(name),
            Step::Element(at) => node.elements().nth(*at),
        })
    }

    /// What is at a path of fields below it.
    pub fn get(&self, path: &[&str]) -> Option<Self> {
        let node = self.node()?.at(path)?;
        if node.is_null() {
            return None;
        }
        let steps = path.iter().map(|name| Step::Field((*name).to_owned()));
        Some(Self { steps: self.steps.iter().cloned().chain(steps).collect(), ..self.clone() })
    }

    /// The text at a path of fields below it.
    pub fn text(&self, path: &[&str]) -> Option<String> {
        Some(self.node()?.at(path)?.as_str()?.to_owned())
    }

    /// The elements of a list at a path of fields below it; none if there is no list.
    pub fn elements(&self, path: &[&str]) -> Vec<Self> {
        let Some(list) = self.get(path) else { return Vec::new() };
        let count = list.node().map_or(0, |node| node.elements().count());
        let element =
            |at| Self { steps: list.steps.iter().cloned().chain([Step::Element(at)]).collect(), ..list.clone() };
        (0..count).map(element).collect()
    }

    /// Its place in the file.
    pub fn spot(&self) -> Spot {
        Spot { file: self.file.clone(), offset: self.node().map_or(0, NodeRef::start) }
    }

    /// What cannot be read here.
    pub fn unread(&self, why: Why) -> Unread {
        Unread { at: self.spot(), why }
    }
}

/// The folder of a file, without `/` at its end; empty at the top.
pub fn folder(file: &str) -> &str {
    file.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// The name of a file.
pub fn name(file: &str) -> &str {
    file.rsplit('/').next().unwrap_or(file)
}

/// A path from a folder; `None` if it leads out of the tree.
pub fn joined(folder: &str, path: &str) -> Option<String> {
    let mut parts: Vec<&str> = if path.starts_with('/') { Vec::new() } else { folder.split('/').collect() };
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => _ = parts.pop().filter(|part| !part.is_empty())?,
            part => parts.push(part),
        }
    }
    parts.retain(|part| !part.is_empty());
    Some(parts.join("/"))
}
