//! [`Package`]: resources in their texts; and a package as a side of a merge.

use std::collections::BTreeMap;
use std::sync::Arc;

use krm_merge_core::refine::names_document;
use krm_names::file_path;
use krm_package::package::{FileChange, FileMerge, Files, ItemsOfFiles, NewResource, TextFile, Written};
use krm_package::resource::{Located, Origin, Resource, are_in};
use krm_tree::limit::Budget;
use krm_tree::sides::Sides;
use krm_yaml::template::is_template;
use krm_yaml::{Document, NodeRef, same};
use serde::Serialize;

use super::Error;

/// A package: one text, or files with their paths. A clone is cheap.
///
/// A file holds resources if one of its documents has an apiVersion, a kind and a name, or is a list of resources, as `kubectl get` prints
/// it. Versions of another file merge as files: by field if it is YAML, else by line.
#[derive(Clone, Debug, Default)]
pub struct Package {
    files: Arc<[PackageFile]>,
}

#[derive(Debug)]
struct PackageFile {
    /// Its path; empty if the package is one text.
    path: String,
    content: Content,
}

/// What a file holds.
#[derive(Debug)]
enum Content {
    /// YAML or JSON, with or without resources.
    Document(Box<Document<'static>>),
    /// Another text, such as a README or a template.
    Text(String),
}

/// What a file holds beside resources.
#[derive(Debug)]
pub(super) enum Nameless<'a> {
    /// Documents without an identity.
    Documents(Vec<NodeRef<'a>>),
    /// A text that is no YAML.
    Text(&'a str),
}

impl Nameless<'_> {
    /// Whether another file means the same.
    pub(super) fn means(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Documents(one), Self::Documents(other)) => {
                one.len() == other.len() && one.iter().zip(other).all(|(one, other)| same(*one, *other))
            }
            (Self::Text(one), Self::Text(other)) => one == other,
            _ => false,
        }
    }
}

/// A package as a side of a merge.
#[derive(Debug, Default)]
pub struct PackageSide<'a> {
    /// The names of its files in messages.
    names: Vec<String>,
    files: &'a [PackageFile],
    /// The resources that take part in the merge, and all of dest's.
    pub resources: Vec<Resource<'a>>,
    /// The numbers of their files.
    owners: Vec<usize>,
    /// The others.
    apart: Vec<Resource<'a>>,
}

impl Package {
    /// The resources of one text: YAML documents, or JSON.
    ///
    /// # Errors
    /// The text is not YAML.
    pub fn of_text(text: impl Into<String>) -> Result<Self, Error> {
        Self::of_files([(String::new(), text.into())])
    }

    /// The resources of files, each with its path in the package and its text.
    ///
    /// # Errors
    /// A text is not YAML, or two files have one path.
    ///
    /// # Examples
    /// ```
    /// let files = [("web.yaml".to_owned(), "a: [".to_owned())];
    /// let error = krm_merge::Package::of_files(files).expect_err("no YAML");
    /// assert!(error.to_string().starts_with("web.yaml:1:4: "));
    /// ```
    pub fn of_files(files: impl IntoIterator<Item = (String, String)>) -> Result<Self, Error> {
        let parse = |(path, text): (String, String)| {
            if !may_hold_resources(&path, &text) {
                return Ok(PackageFile { path, content: Content::Text(text) });
            }
            match Document::parse(text) {
                Ok(document) => Ok(PackageFile { path, content: Content::Document(Box::new(document)) }),
                Err(error) => Err(Error::Text { file: path, error }),
            }
        };
        let mut files = files.into_iter().map(parse).collect::<Result<Vec<_>, _>>()?;
        files.sort_by(|a, b| a.path.cmp(&b.path));
        match files.windows(2).find(|two| two[0].path == two[1].path) {
            Some(two) => Err(Error::Twice(two[0].path.clone())),
            None => Ok(Self { files: files.into() }),
        }
    }

    /// The resources of objects, such as those of k8s-openapi, or JSON values. They are one text.
    ///
    /// # Errors
    /// An object has no JSON.
    ///
    /// # Examples
    /// ```
    /// use krm_merge::{Merge, Package, Pick};
    /// use serde_json::{Value, json};
    ///
    /// let map = |data: Value| json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": data});
    /// let patch = Package::of_objects([map(json!({"b": "2"}))])?;
    /// let dest = Package::of_objects([map(json!({"a": "1"}))])?;
    /// let merged: Vec<Value> = Merge::strategic(&patch, &dest).run()?.objects(Pick::Updated)?;
    /// assert_eq!(merged, [map(json!({"a": "1", "b": "2"}))]);
    /// # Ok::<(), krm_merge::Error>(())
    /// ```
    pub fn of_objects(objects: impl IntoIterator<Item = impl Serialize>) -> Result<Self, Error> {
        let json = |object| serde_json::to_string(&object).map_err(|error| Error::Object(error.to_string()));
        let texts = objects.into_iter().map(json).collect::<Result<Vec<_>, _>>()?;
        Self::of_text(texts.join("\n---\n"))
    }

    /// How many bytes its texts have.
    pub fn size(&self) -> usize {
        self.files.iter().map(|file| file.text().len()).sum()
    }

    /// Its texts, by their paths.
    pub fn texts(&self) -> BTreeMap<String, String> {
        self.files.iter().map(|file| (file.path.clone(), file.text().to_owned())).collect()
    }

    /// Its texts after these changes, by their paths.
    pub fn with(&self, changes: Vec<FileChange>) -> BTreeMap<String, String> {
        let mut texts = self.texts();
        for change in &changes {
            if let FileChange::Moved { from: path, .. } | FileChange::Removed { path } = change {
                texts.remove(path);
            }
        }
        for change in changes {
            if let FileChange::Changed { path, text, .. }
            | FileChange::Moved { to: path, text, .. }
            | FileChange::Added { path, text, .. } = change
            {
                texts.insert(path, text);
            }
        }
        texts
    }
}

/// Whether a file may hold resources. A text alone has no name, and a template is no YAML yet.
fn may_hold_resources(path: &str, text: &str) -> bool {
    path.is_empty() || names_document(path) && !(is_template(text) && Document::parse(text).is_err())
}

impl PackageFile {
    fn text(&self) -> &str {
        match &self.content {
            Content::Document(document) => document.source(),
            Content::Text(text) => text,
        }
    }

    fn document(&self) -> Option<&Document<'static>> {
        if let Content::Document(document) = &self.content { Some(document) } else { None }
    }

    /// Its document, if it holds resources.
    fn of_resources(&self) -> Option<&Document<'static>> {
        self.document().filter(|document| self.path.is_empty() || are_in(document))
    }
}

impl<'a> PackageSide<'a> {
    /// A package in the role of this name.
    pub fn of(role: &str, package: &'a Package) -> Self {
        let name = |file: &PackageFile| match &file.path[..] {
            "" => role.to_owned(),
            path => format!("{role}/{path}"),
        };
        let files = &package.files[..];
        let mut side = Self { names: files.iter().map(name).collect(), files, ..Self::default() };
        let is_dest = role == "dest";
        let with_resources =
            files.iter().enumerate().filter_map(|(owner, file)| Some((owner, file, file.of_resources()?)));
        for (owner, file, document) in with_resources {
            let all = document.roots().flat_map(|root| Resource::of_document(root, |_| Origin::Item(0)));
            for resource in all {
                let item = is_dest.then_some(side.resources.len());
                let origin = Origin::File { name: side.names[owner].clone(), item };
                let resource = located(Resource { origin, ..resource }, &file.path);
                if resource.identity.is_some() || is_dest {
                    side.owners.push(owner);
                    side.resources.push(resource);
                } else {
                    side.apart.push(resource);
                }
            }
        }
        side
    }

    /// The documents that take no part in the merge, because they have no identity.
    pub fn unnamed(&self) -> impl Iterator<Item = &Resource<'a>> {
        self.resources.iter().chain(&self.apart).filter(|resource| resource.identity.is_none())
    }

    /// The text of a file.
    pub fn text_at(&self, path: &str) -> Option<&'a str> {
        let at = self.files.binary_search_by(|file| file.path.as_str().cmp(path)).ok()?;
        Some(self.files[at].text())
    }

    /// The paths of its files.
    pub fn paths(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        self.files.iter().map(|file| &file.path[..])
    }

    /// Its files of YAML or JSON, each with its path and its document.
    pub fn documents(&self) -> impl Iterator<Item = (&'a str, &'a Document<'static>)> + use<'a> {
        self.files.iter().filter_map(|file| Some((&file.path[..], file.document()?)))
    }

    /// Its files.
    pub fn text_files(&self) -> Vec<TextFile<'_>> {
        let all = self.files.iter().zip(&self.names).map(|(file, name)| TextFile {
            path: &file.path,
            name,
            text: file.text(),
            document: file.of_resources(),
        });
        all.collect()
    }

    /// What its files hold beside resources, by their paths. A file that holds nothing else has no entry.
    pub(super) fn nameless(&self) -> BTreeMap<&'a str, Nameless<'a>> {
        let of_file = |file: &'a PackageFile| match file.document() {
            None => Nameless::Text(file.text()),
            Some(document) => {
                let is_nameless = |root: &NodeRef<'_>| {
                    let all = Resource::of_document(*root, |_| Origin::Item(0));
                    !root.is_null() && all.iter().all(|resource| resource.identity.is_none())
                };
                Nameless::Documents(document.roots().filter(is_nameless).collect())
            }
        };
        let all = self.files.iter().map(|file| (&file.path[..], of_file(file)));
        all.filter(|(_, nameless)| !matches!(nameless, Nameless::Documents(all) if all.is_empty())).collect()
    }

    /// What happens to its resources, if it is dest.
    pub fn items<'w>(&'w self, written: &'w Written<'_, '_>) -> ItemsOfFiles<'w> {
        let mut items = ItemsOfFiles::new();
        for (number, (resource, owner)) in self.resources.iter().zip(&self.owners).enumerate() {
            items.entry(*owner).or_default().push(written.file_item(number, resource.node()));
        }
        items
    }
}

/// A resource at its place: in the file with this path or, if that is empty, where its annotation says.
fn located<'a>(resource: Resource<'a>, path: &'a str) -> Resource<'a> {
    match path {
        "" => resource,
        path => Resource { path: Some(path), relative_path: Some(path), located: Located::ByFile, ..resource },
    }
}

/// The documents without identity of updated, or of the source, that upstream changed and that dest does not get.
pub fn missed<'s, 'a>(sides: &'s Sides<PackageSide<'a>>) -> impl Iterator<Item = &'s Resource<'a>> {
    let Sides { original, updated, dest } = sides;
    let is_known = |side: &PackageSide<'_>, resource: &Resource<'_>| {
        side.unnamed().any(|other| same(other.node(), resource.node()))
    };
    // A file that dest left alone becomes updated's.
    let is_left_alone = |resource: &Resource<'_>| {
        let text = |side: &PackageSide<'a>| side.text_at(resource.path.unwrap_or_default());
        text(original).is_some_and(|was| text(dest) == Some(was))
    };
    updated.unnamed().filter(move |r| !is_known(original, r) && !is_known(dest, r) && !is_left_alone(r))
}

/// The files of dest that change when a merge of these sides is written. In a merge of sources, updated's are the sources.
///
/// # Errors
/// The errors of [`MergedPackage::write`](super::MergedPackage::write).
pub fn changes(
    sides: &Sides<PackageSide<'_>>,
    written: &Written<'_, '_>,
    budget: &Budget,
) -> Result<Vec<FileChange>, Error> {
    let files = Sides::of(|side| sides[side].text_files());
    let new = placed(sides, written, &files.dest, budget)?;
    let items = sides.dest.items(written);
    let view = Files { sides: Sides::of(|side| &files[side][..]), sources: &files.updated };
    Ok(FileMerge::of(view, items, new, budget)?.changes()?)
}

/// The new resources by the files of dest that get them.
fn placed(
    sides: &Sides<PackageSide<'_>>,
    written: &Written<'_, '_>,
    dest: &[TextFile<'_>],
    budget: &Budget,
) -> Result<BTreeMap<String, Vec<NewResource>>, Error> {
    let mut placed: BTreeMap<String, Vec<NewResource>> = BTreeMap::new();
    for added in &written.added {
        let new = added.in_file(budget)?;
        let path = match dest {
            [only] if only.path.is_empty() => String::new(),
            _ => {
                let path = new.path.clone().or_else(|| new.default_path()).unwrap_or_default();
                let path = file_path::of_new_file(&path).map_err(|fault| Error::misplaced(&path, fault))?;
                path.to_owned()
            }
        };
        let is_in_the_way = |file: &&TextFile<'_>| file.path == path && file.document.is_none();
        if dest.iter().find(is_in_the_way).is_some_and(|file| !is_free(sides, file)) {
            return Err(Error::InTheWay { path });
        }
        placed.entry(path).or_default().push(new);
    }
    Ok(placed)
}

/// Whether a file without resources may get some: it is original's, or holds only comments.
fn is_free(sides: &Sides<PackageSide<'_>>, file: &TextFile<'_>) -> bool {
    sides.original.text_at(file.path) == Some(file.text)
        || Document::parse(file.text).is_ok_and(|document| document.roots().all(|root| root.is_null()))
}
