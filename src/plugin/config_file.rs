//! A functionConfig in a file, with the OpenAPI document that it names.
//!
//! The function reads no files, so its functionConfig contains the OpenAPI document. In a file, `openapi` may name another file, as in a
//! kustomization: `openapi: {path: schema.json}`. The path is relative to the folder of the file, and must not lead out of it, because the
//! file may have come with a package.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, anyhow, bail};
use krm_merge::file_path;
use krm_merge::schema::{NoTypes, Types};
use krm_merge::yaml::{Document, NodeRef};
use krm_merge_function::config::{Config, Given};

use crate::regular;
use crate::side::parse;
use crate::walk::shown;

/// The largest OpenAPI document that is read, in bytes. A cluster's document has 4 to 10 MB.
const MOST: u64 = 1 << 26;

/// A functionConfig in a file.
#[derive(Debug)]
pub struct ConfigFile {
    name: String,
    document: Document<'static>,
    openapi: Option<Document<'static>>,
}

impl ConfigFile {
    /// Reads a functionConfig and the OpenAPI document that it names. `name` is the name of the file in messages.
    ///
    /// # Errors
    /// A file cannot be read or is not YAML; or the path of the OpenAPI document leads out of the folder.
    pub fn read(name: String, file: &Path) -> Result<Self> {
        let document = parse(&name, fs::read(file).with_context(|| name.clone())?)?;
        let mut read = Self { name, document, openapi: None };
        let path = read.root()?.at(&["spec", "openapi"]).and_then(path_of);
        let found = path.map(|path| {
            read.openapi(file, path.string())
                .map_err(|e| anyhow!("{}:{}: `spec.openapi.path`: {e:#}", read.name, path.position()))
        });
        read.openapi = found.transpose()?;
        Ok(read)
    }

    /// Its name in messages.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The functionConfig.
    ///
    /// # Errors
    /// The file is empty.
    pub fn root(&self) -> Result<NodeRef<'_>> {
        self.document.roots().next().ok_or_else(|| anyhow!("{}: there must be a functionConfig", self.name))
    }

    /// Reads the functionConfig into a [`Config`]. Settings in `given` may be missing in the file.
    ///
    /// # Errors
    /// An invalid functionConfig, with the place in the file.
    pub fn config<'a>(&'a self, given: Given<'a>) -> Result<Config<'a>> {
        let root = self.root()?;
        let named = self.openapi.as_ref().and_then(|document| document.roots().next());
        let says_it = root.at(&["spec", "openapi"]).is_some();
        let openapi = named.or(given.openapi.filter(|_| !says_it));
        Config::read_with(root, Given { openapi, ..given }).map_err(|e| anyhow!("{}:{e}", self.name))
    }

    /// Reads the OpenAPI document. `path` is relative to the folder of the file.
    fn openapi(&self, file: &Path, path: &str) -> Result<Document<'static>> {
        let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        if !file_path::is_within(path) {
            bail!("it must be a path below the folder of the file, without `..`, not \"{path}\"");
        }
        let folder = fs::canonicalize(folder)?;
        let named = folder.join(path);
        if fs::symlink_metadata(&named).is_err() {
            bail!("there must be a file \"{path}\"");
        }
        let found = regular::within_of(&folder, &named, MOST)?;
        let name = shown(&named);
        let document = parse(&name, fs::read(&found)?)?;
        let root = document.roots().next().ok_or_else(|| anyhow!("{name}: there must be an OpenAPI document"))?;
        if let Err(NoTypes::NoDefinitions(at) | NoTypes::NoResource(at)) = Types::default().with_openapi(root) {
            let what = "there must be `definitions` with `x-kubernetes-group-version-kind`, which say of which resource they are";
            bail!("{name}:{}: {what}", at.position());
        }
        Ok(document)
    }
}

/// The path, if the functionConfig has one instead of an OpenAPI document.
fn path_of(openapi: NodeRef<'_>) -> Option<NodeRef<'_>> {
    let path = openapi.get("path").filter(|path| path.as_str().is_some())?;
    (openapi.fields().count() == 1).then_some(path)
}
