//! [`Package`]: resources in their texts; and a package as a side of a merge.

use std::collections::BTreeMap;

use krm_yaml::Document;

use super::Error;
use krm_package::package::{FileChange, ItemsOfFiles, TextFile, Written};
use krm_package::resource::{Located, Origin, Resource, are_in};

/// Resources in their texts: one text, or files with their paths.
///
/// A file holds resources if one of its documents has an apiVersion, a kind and a name, or is a list of resources, as `kubectl get` prints
/// it. All other files, and all other documents, take no part in a merge: they stay as dest has them.
#[derive(Debug)]
pub struct Package {
    files: Vec<PackageFile>,
}

#[derive(Debug)]
struct PackageFile {
    /// Its path; empty if the package is one text.
    path: String,
    document: Document<'static>,
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
        let parse = |(path, text): (String, String)| match Document::parse(text) {
            Ok(document) => Ok(PackageFile { path, document }),
            Err(error) => Err(Error::Text { file: path, error }),
        };
        let mut files = files.into_iter().map(parse).collect::<Result<Vec<_>, _>>()?;
        files.sort_by(|a, b| a.path.cmp(&b.path));
        match files.windows(2).find(|two| two[0].path == two[1].path) {
            Some(two) => Err(Error::Twice(two[0].path.clone())),
            None => Ok(Self { files }),
        }
    }
}

impl PackageFile {
    fn holds_resources(&self) -> bool {
        self.path.is_empty() || are_in(&self.document)
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
        for (owner, file) in files.iter().enumerate().filter(|(_, file)| file.holds_resources()) {
            let all = file.document.roots().flat_map(|root| Resource::of_document(root, |_| Origin::Item(0)));
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

    /// How many bytes its texts have.
    pub fn size(&self) -> usize {
        self.files.iter().map(|file| file.document.source().len()).sum()
    }

    /// The documents that take no part in the merge, because they have no identity.
    pub fn unnamed(&self) -> impl Iterator<Item = &Resource<'a>> {
        self.resources.iter().chain(&self.apart).filter(|resource| resource.identity.is_none())
    }

    /// The text of a file.
    pub fn text_at(&self, path: &str) -> Option<&'a str> {
        let at = self.files.binary_search_by(|file| file.path.as_str().cmp(path)).ok()?;
        Some(self.files[at].document.source())
    }

    /// Its texts, by their paths.
    fn texts(&self) -> BTreeMap<String, String> {
        self.files.iter().map(|file| (file.path.clone(), file.document.source().to_owned())).collect()
    }

    /// Its files, each with its path and its document.
    pub fn documents(&self) -> impl Iterator<Item = (&'a str, &'a Document<'static>)> + use<'a> {
        self.files.iter().map(|file| (&file.path[..], &file.document))
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

    /// Its files.
    pub fn text_files(&self) -> Vec<TextFile<'_>> {
        let all = self.files.iter().zip(&self.names).map(|(file, name)| TextFile {
            path: &file.path,
            name,
            text: file.document.source(),
            document: Some(&file.document).filter(|_| file.holds_resources()),
        });
        all.collect()
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
