//! The repository's settings for a merge: the `.krm-merge.yaml` at its root, and the definitions of types in its index.
//!
//! The `.krm-merge.yaml` is read from the work tree, because the user sees that file and can correct it. During git's merge, it is still
//! our version.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Result, anyhow, bail};
use krm_files::errors;
use krm_files::regular;
use krm_files::temporary::TemporaryFolder;
use krm_files::walk;
use krm_folders::config_file::ConfigFile;
use krm_git::program::{In, git};
use krm_job::config::{Config, Mode, Settings, Task};
use krm_merge_core::policy::OnConflict;
use krm_names::file_path::RULES;
use krm_package::resource::Resource;
use krm_schema::schema::{Inference, Types};
use krm_words::counted;
use krm_yaml::Document;

use crate::definitions::{Definitions, Index, definitions};
use krm_job::marked::has_markers;

/// The file in the git directory that keeps the list of definitions in the index.
pub const CACHE: &str = "krm-merge/definitions";

/// A folder for temporary files: in the git directory of the current repository, or else where the system has such files.
///
/// # Errors
/// It cannot be made.
pub fn temporary_folder(purpose: &str) -> Result<TemporaryFolder> {
    let here = Repository::here();
    let own = here.as_ref().and_then(Repository::own_folder).map(|own| TemporaryFolder::below(own, purpose));
    own.unwrap_or_else(|| TemporaryFolder::new(purpose))
}

/// A repository with a work tree.
#[derive(Debug)]
pub struct Repository {
    top: PathBuf,
    index: Index,
}

impl Repository {
    /// The repository in which git started the driver; `None` outside of a repository, and in a bare one.
    pub fn here() -> Option<Self> {
        Self::plain().or_else(Self::asked)
    }

    /// The repository whose git directory lies in the current folder, as in a usual merge: git starts a driver at the top. To ask git costs as
    /// much as the merge of a small file. `None` if anything may be elsewhere.
    fn plain() -> Option<Self> {
        const ELSEWHERE: [&str; 4] = ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR"];
        let own = Path::new(".git");
        let is_usual = !ELSEWHERE.into_iter().any(|name| std::env::var_os(name).is_some())
            && fs::symlink_metadata(own).is_ok_and(|found| found.is_dir())
            && own.join("HEAD").exists();
        let config = fs::read_to_string(own.join("config")).ok().filter(|_| is_usual)?.to_ascii_lowercase();
        // `core.worktree` and `core.bare`.
        let is_elsewhere = |line: &str| line.contains("worktree") || line.replace([' ', '\t'], "") == "bare=true";
        if config.lines().any(is_elsewhere) {
            return None;
        }
        let index = Index { file: own.join("index"), cache: own.join(CACHE) };
        Some(Self { top: fs::canonicalize(".").ok()?, index })
    }

    /// The repository that git knows.
    fn asked() -> Option<Self> {
        let paths = ["--show-toplevel", "--git-path", "index", "--git-path", CACHE];
        let output = git(In::Environment).arg("rev-parse").args(paths).output().ok()?;
        let lines = output.stdout.strip_suffix(b"\n").filter(|_| output.status.success())?;
        let paths: Vec<PathBuf> = lines.split(|byte| *byte == b'\n').map(walk::path_of).collect();
        let [top, index, cache] = <[PathBuf; 3]>::try_from(paths).ok()?;
        Some(Self { top: fs::canonicalize(top).ok()?, index: Index { file: index, cache } })
    }

    /// The folder of this program in the git directory, which no clone can bring along; `None` if there is none, and it cannot be made.
    pub fn own_folder(&self) -> Option<&Path> {
        let folder = self.index.cache.parent()?;
        // A failure shows below.
        let _ = fs::create_dir(folder);
        fs::symlink_metadata(folder).is_ok_and(|found| found.is_dir()).then_some(folder)
    }

    /// The rules of the repository. If they cannot be read, `tell` gets the reason, and the merge goes on without them.
    pub fn rules(&self, tell: impl FnOnce(&str)) -> Option<ConfigFile> {
        let file = self.top.join(RULES);
        fs::symlink_metadata(&file).ok()?;
        match self.read(&file) {
            Ok(rules) => Some(rules),
            Err(e) => {
                tell(&format!("{}: this file is merged without these rules", errors::chain(&e)));
                None
            }
        }
    }

    fn read(&self, file: &Path) -> Result<ConfigFile> {
        let found = regular::within(&self.top, file).map_err(|e| anyhow!("{RULES}: {e}"))?;
        if fs::read(&found).is_ok_and(|bytes| has_markers(&bytes)) {
            bail!("{RULES}: it must have no conflict markers; decide what it says first");
        }
        let rules = ConfigFile::read(RULES.to_owned(), file)?;
        config_of(&rules).map(|_| ())?;
        Ok(rules)
    }

    /// The definitions in the index for the types of these resources. Built-in types are left out. `tell` gets to know of files that may hold
    /// more of them.
    pub fn definitions<'r>(
        &self,
        resources: impl Iterator<Item = &'r Resource<'r>>,
        tell: impl FnOnce(&str),
    ) -> Vec<Document<'static>> {
        let known = Types::new([], Inference::On);
        let types = resources.filter_map(|resource| resource.identity);
        let types = types.filter(|i| !known.know(i.api_version, i.kind));
        let wanted: HashSet<String> =
            types.filter_map(|i| Some(format!("{}/{}", i.api_version.split_once('/')?.0, i.kind))).collect();
        if wanted.is_empty() {
            return Vec::new();
        }
        let Definitions { documents, missing } = definitions(&self.index, &wanted);
        if missing > 0 {
            let files = counted(missing, "YAML or JSON file");
            tell(&format!(
                "{files} of git's index cannot be read, as in a partial clone: a CustomResourceDefinition there does not say how lists merge; to fetch the content, run `git grep --cached CustomResourceDefinition -- ':(top)*.yaml' ':(top)*.yml' ':(top)*.json'`, and merge again"
            ));
        }
        documents
    }
}

/// The config that the rules of a repository give. Conflicts that no rule decides stay open.
///
/// # Errors
/// The rules are invalid. The error has the place in the file.
pub fn config_of(rules: &ConfigFile) -> Result<Config<'_>> {
    rules.rules(OnConflict::Fail)
}

/// The config of a repository without rules.
///
/// # Errors
/// Cannot occur: without an OpenAPI document, nothing can be invalid.
pub fn without_rules<'a>() -> Result<Config<'a>> {
    let mut task = Task::of(Mode::ThreeWay);
    if let Task::Upgrade { on_conflict, .. } = &mut task {
        *on_conflict = OnConflict::Fail;
    }
    Config::new(task, Settings::default()).map_err(|e| anyhow!(e.message))
}
