//! [`Package`]: resources in their texts; and a package as a side of a merge.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::sync::Arc;

use krm_job::carried::AsText;
use krm_job::event::{InTheWay, What};
use krm_job::forms::{self, Holds, SideFile, YamlFault, as_texts, at, resources_in};
use krm_merge_core::refine::names_document;
use krm_names::file_path;
use krm_package::package::{FileChange, ItemsOfFiles, NewResource, Written};
use krm_package::resource::{Located, Origin, Resource, are_in};
use krm_schema::mode::Mode;
use krm_tree::limit::Budget;
use krm_tree::sides::{Side, Sides};
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
    /// Another text, such as a README.
    Text(String),
    /// A text that should be YAML and is not, such as a template.
    NoYaml(String, YamlFault),
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
    /// Its files, in the order of their paths.
    pub files: Vec<OwnFile<'a>>,
    /// Its resources.
    pub resources: Vec<Resource<'a>>,
    /// The numbers of their files.
    owners: Vec<usize>,
}

/// A file of a package as a side of a merge.
#[derive(Debug)]
pub struct OwnFile<'a> {
    file: &'a PackageFile,
    /// Its name in messages.
    name: String,
    /// Why it is merged as text although it might be merged by its resources.
    why: Option<AsText>,
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
    /// Two files have one path; or the path of a text that is not YAML is empty. With a path, such a text is a file without resources.
    ///
    /// # Examples
    /// ```
    /// let files = ["a", "a"].map(|path| (path.to_owned(), "# Read me\n".to_owned()));
    /// assert_eq!(krm_merge::Package::of_files(files).err(), Some(krm_merge::Error::Twice("a".to_owned())));
    /// ```
    pub fn of_files(files: impl IntoIterator<Item = (String, String)>) -> Result<Self, Error> {
        let parse = |(path, text): (String, String)| {
            if !path.is_empty() && !names_document(&path) {
                return Ok(PackageFile { path, content: Content::Text(text) });
            }
            let content = match (path.is_empty(), Document::parse(text.clone())) {
                (true, Ok(document)) => Content::Document(Box::new(document)),
                (true, Err(error)) => return Err(Error::Text { file: path, error }),
                (false, parsed) => match Holds::of(parsed.map_err(YamlFault::from)) {
                    Holds::Resources(document) | Holds::Documents(document) => Content::Document(Box::new(document)),
                    Holds::NoYaml(fault) => Content::NoYaml(text, fault),
                },
            };
            Ok(PackageFile { path, content })
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

    /// Whether it is a text alone without resources.
    pub(super) fn is_plain(&self) -> bool {
        let has_content = |document: &Document<'_>| !are_in(document) && document.roots().any(|root| !root.is_null());
        let first = self.files.first().filter(|file| file.path.is_empty());
        first.and_then(PackageFile::document).is_some_and(has_content)
    }

    /// Its text at a path.
    pub fn text_at(&self, path: &str) -> Option<&str> {
        self.files.iter().find(|file| file.path == path).map(PackageFile::text)
    }

    /// Its documents of YAML or JSON, by the paths of their files.
    pub fn documents(&self) -> BTreeMap<&str, &Document<'static>> {
        self.files.iter().filter_map(|file| Some((&file.path[..], file.document()?))).collect()
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

impl PackageFile {
    fn text(&self) -> &str {
        match &self.content {
            Content::Document(document) => document.source(),
            Content::Text(text) | Content::NoYaml(text, _) => text,
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

impl<'a> OwnFile<'a> {
    fn of(role: &str, file: &'a PackageFile) -> Self {
        let name = match &file.path[..] {
            "" => role.to_owned(),
            path => format!("{role}/{path}"),
        };
        Self { file, name, why: None }
    }

    /// Its document, if it merges by its resources.
    fn of_resources(&self) -> Option<&'a Document<'static>> {
        self.file.of_resources().filter(|_| self.why.is_none())
    }
}

impl SideFile for OwnFile<'_> {
    type Unread = Infallible;

    fn path(&self) -> &str {
        &self.file.path
    }

    fn name(&self) -> &str {
        &self.name
    }

    fn document(&self) -> Option<&Document<'static>> {
        self.of_resources()
    }

    fn merged_as_text(&self) -> Option<(AsText, &Document<'static>)> {
        self.why.zip(self.file.document())
    }

    fn fault(&self) -> Option<&YamlFault> {
        if let Content::NoYaml(_, fault) = &self.file.content { Some(fault) } else { None }
    }

    fn bytes(&self) -> Result<Cow<'_, [u8]>, Infallible> {
        Ok(self.file.text().as_bytes().into())
    }

    fn executable(&self) -> Option<bool> {
        None
    }
}

/// The packages as the sides of a merge. The rules of a package are no part of it. In a three-way merge, some files are texts, although they
/// hold resources; and so are texts alone without resources.
pub fn sides(mode: Mode, packages: &Sides<Package>) -> Sides<PackageSide<'_>> {
    let roles = Sides { updated: if mode == Mode::ThreeWay { "updated" } else { "source" }, ..ROLES };
    let is_rules = |path: &str| path.rsplit('/').next().is_some_and(file_path::is_rules);
    let mut files = Sides::of(|side| {
        let own = packages[side].files.iter().filter(|file| !is_rules(&file.path));
        own.map(|file| OwnFile::of(roles[side], file)).collect::<Vec<_>>()
    });
    if mode == Mode::ThreeWay {
        let is_alone = |side: Side| packages[side].files.iter().any(|file| file.path.is_empty());
        if Side::ALL.into_iter().all(|side| packages[side].is_plain()) {
            for side in Side::ALL {
                files[side].iter_mut().for_each(|file| file.why = Some(AsText::Document));
            }
        } else if !Side::ALL.into_iter().any(is_alone) {
            let Ok(texts) = as_texts(Sides::of(|side| &files[side][..]));
            for side in Side::ALL {
                let with_resources = files[side].iter_mut().filter(|file| file.of_resources().is_some());
                with_resources.for_each(|file| file.why = texts.get(&file.file.path).copied());
            }
        }
    }
    let Sides { original, updated, dest } = files;
    Sides {
        original: PackageSide::with(original, Part::Other),
        updated: PackageSide::with(updated, Part::Other),
        dest: PackageSide::with(dest, Part::Dest),
    }
}

/// The roles of packages in messages.
const ROLES: Sides<&str> = Sides { original: "original", updated: "updated", dest: "dest" };

/// The part that a package has in a merge.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    /// It is merged into, so all of its documents are items.
    Dest,
    /// It is another side.
    Other,
}

impl<'a> PackageSide<'a> {
    /// A package in a role of this name, which is not dest.
    pub fn of(role: &str, package: &'a Package) -> Self {
        Self::with(package.files.iter().map(|file| OwnFile::of(role, file)).collect(), Part::Other)
    }

    fn with(files: Vec<OwnFile<'a>>, part: Part) -> Self {
        let mut side = Self { files, ..Self::default() };
        for (owner, own) in side.files.iter().enumerate() {
            let Some(document) = own.of_resources() else { continue };
            let all = document.roots().flat_map(|root| Resource::of_document(root, |_| Origin::Item(0)));
            for resource in all {
                let item = (part == Part::Dest).then_some(side.resources.len());
                let origin = Origin::File { name: own.name.clone(), item };
                side.owners.push(owner);
                side.resources.push(located(Resource { origin, ..resource }, &own.file.path));
            }
        }
        side
    }

    /// Whether no file holds a resource.
    pub fn is_empty(&self) -> bool {
        let holds = |text: &Document<'static>| resources_in(text).next().is_some();
        !self.files.iter().filter_map(|own| own.file.of_resources()).any(holds)
    }

    /// Its files of YAML or JSON, each with its path and its document.
    pub fn documents(&self) -> impl Iterator<Item = (&'a str, &'a Document<'static>)> {
        self.files.iter().filter_map(|own| Some((&own.file.path[..], own.file.document()?)))
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
        let all = self.files.iter().map(|own| (&own.file.path[..], of_file(own.file)));
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

/// The new resources by the files of dest that get them.
///
/// # Errors
/// A resource has a path at which no file may be, or goes to a file of dest that holds something else; or there is more to write than the limit allows.
pub(super) fn placed(
    sides: &Sides<PackageSide<'_>>,
    written: &Written<'_, '_>,
    budget: &Budget,
) -> Result<BTreeMap<String, Vec<NewResource>>, Error> {
    let mut placed: BTreeMap<String, Vec<NewResource>> = BTreeMap::new();
    for added in &written.added {
        let new = added.in_file(budget)?;
        let path = match &sides.dest.files[..] {
            [only] if only.path().is_empty() => String::new(),
            _ => {
                let path = new.path.clone().or_else(|| new.default_path()).unwrap_or_default();
                let path = file_path::of_new_file(&path).map_err(|fault| Error::misplaced(&path, fault))?;
                path.to_owned()
            }
        };
        if is_in_the_way(sides, &path) {
            return Err(Error::InTheWay { path });
        }
        placed.entry(path).or_default().push(new);
    }
    Ok(placed)
}

/// Whether dest has a file at a path that holds something else than resources, so that none may come to it.
fn is_in_the_way(sides: &Sides<PackageSide<'_>>, path: &str) -> bool {
    let own = at(&sides.dest.files, path);
    let Ok(is_other) = own.map_or(Ok(false), |own| forms::is_in_the_way(own, at(&sides.original.files, path)));
    is_other
}

/// Why a resource of dest stays in the file `here`, though upstream moved it to the file `to`.
pub(super) fn why_stays(sides: &Sides<PackageSide<'_>>, [here, to]: [&str; 2]) -> Option<What> {
    let [here, to] = [here, to].map(str::to_owned);
    is_in_the_way(sides, &to).then_some(What::StaysAt { here, to, why: InTheWay::Other })
}
