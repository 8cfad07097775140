//! A functionConfig in a file, with the OpenAPI document that it names.
//!
//! The function reads no files, so its functionConfig contains the OpenAPI document. In a file, `openapi` may name another file, as in a
//! kustomization: `openapi: {path: schema.json}`. The path is relative to the folder of the file, and must not lead out of it, because the
//! file may have come with a package.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, anyhow, bail};
use krm_files::regular;
use krm_files::walk::{file_there, shown};
use krm_job::config::{Config, Given, KIND, Mode, Settings, openapi_path};
use krm_job::name::Name;
use krm_merge_core::policy::OnConflict;
use krm_names::file_path::{self, RULES};
use krm_schema::schema::{Inference, NoTypes, Types};
use krm_yaml::{Document, NodeRef};

use crate::held::parse;

/// The largest OpenAPI document that is read, in bytes. A cluster's document has 4 to 10 MB.
const MOST: u64 = 1 << 26;

/// The text of a new `.krm-merge.yaml` of a package.
pub const NEW: &str = "# Where this package comes from, and how it merges: see `krm-merge upgrade --help`.\napiVersion: krm-merge.dev/v1alpha1\nkind: Merge\nmetadata:\n  name: package\n  annotations:\n    config.kubernetes.io/local-config: \"true\"\nspec:\n  mode: ThreeWay\n";

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
        let document = parse(&name, regular::read(file).with_context(|| name.clone())?)?;
        let mut read = Self { name, document, openapi: None };
        let path = openapi_path(read.root()?);
        let found = path.map(|path| {
            read.openapi(file, path.string())
                .map_err(|e| anyhow!("{}:{}: `spec.openapi.path`: {e:#}", read.name, path.position()))
        });
        read.openapi = found.transpose()?;
        Ok(read)
    }

    /// Reads the functionConfig that `--config` names.
    ///
    /// # Errors
    /// The errors of [`ConfigFile::read`].
    pub fn of_flag(file: &Path) -> Result<Self> {
        file_there("--config", file)?;
        Self::read(shown(file), file)
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

    /// The rules of the package at a folder; `None` if it has none.
    ///
    /// # Errors
    /// The file with the rules cannot be read, or leads out of the package. `name` is the name of the folder.
    pub fn of_package(folder: &Path, name: &Path) -> Result<Option<Self>> {
        let file = folder.join(RULES);
        if fs::symlink_metadata(&file).is_err() {
            return Ok(None);
        }
        let name = shown(&name.join(RULES));
        let file = regular::within(folder, &file).map_err(|e| anyhow!("{name}: {e}"))?;
        Ok(Some(Self::read(name, &file)?))
    }

    /// Reads the functionConfig as the rules of a package or a repository, which have no sides.
    ///
    /// # Errors
    /// The rules are invalid. The error has the place in the file.
    pub fn rules(&self, on_conflict: OnConflict) -> Result<Config<'_>> {
        let root = self.root()?;
        let wrong = |position, message: String| anyhow!("{}:{position}: {message}", self.name);
        if let Some(kind) = root.get("kind").filter(|kind| kind.string() == "ConfigMap") {
            return Err(wrong(kind.position(), format!("it must be of kind `{KIND}`, not `ConfigMap`")));
        }
        let config = self.config(Given { mode: Some(Mode::ThreeWay), on_conflict, openapi: None })?;
        if config.mode() != Mode::ThreeWay {
            let at = root.at(&["spec", "mode"]).unwrap_or(root);
            return Err(wrong(
                at.position(),
                "`spec.mode` must be `ThreeWay`, as releases and branches merge, or be left out".to_owned(),
            ));
        }
        if let Some((role, _)) = config.task.inputs().next() {
            let at = root.at(&["spec", role.name()]).unwrap_or(root);
            let message = format!("`spec.{}` must not be given: the command gives the sides of a merge", role.name());
            return Err(wrong(at.position(), message));
        }
        Ok(config)
    }

    /// The settings of a package's rules that all modes have.
    pub fn settings<'a>(&'a self, config: &Config<'a>) -> Result<Settings<'a>> {
        let spec = |field| Ok::<_, anyhow::Error>(self.root()?.at(&["spec", field]));
        let openapi = self.openapi.as_ref().and_then(|document| document.roots().next()).or(spec("openapi")?);
        Ok(Settings {
            new_elements: config.new_elements,
            infer_merge_keys: spec("inferMergeKeys")?.map(|_| config.inference == Inference::On),
            merge_keys: config.merge_keys.clone(),
            openapi: openapi.map(|at| (Name::Field("spec.openapi".to_owned()), at)),
            limit: config.limit,
        })
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
