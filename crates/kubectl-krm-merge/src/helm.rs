//! `helm`, which renders a chart. A chart is data: what its templates do, helm does, and nothing else runs.
//!
//! So the arguments are ours alone. A rendering gets nothing of the user's configuration of helm: no plugins, no repositories, no logins, no
//! cluster. The chart is written into a temporary folder, and helm runs there, for a bounded time. The values come as texts, for they may be
//! those of another time, or be inside of another file.

use std::collections::BTreeMap;
use std::env::{self, consts};
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::time::Duration;

use anyhow::Context as _;
use krm_files::temporary::TemporaryFolder;
use krm_files::{errors, made};
use krm_names::{file_path, shown};
use serde_json::Value;

use crate::bounded::{self, Ended, MOST, Unfinished};

/// How long helm may take for one rendering.
const MOST_TIME: Duration = Duration::from_secs(120);

/// How many bytes of helm's message are shown.
const MOST_SHOWN: usize = 4096;

/// The folder of the chart in the temporary folder.
const CHART: &str = "chart";

/// The schema of a chart's values.
const SCHEMA: &str = "values.schema.json";

/// The program `helm`, of version 3 or 4.
#[derive(Clone, Debug)]
pub struct Helm {
    program: PathBuf,
    version: String,
}

/// Why helm renders nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HelmError {
    /// There is no `helm` on `PATH`.
    Missing,
    /// It is neither version 3 nor version 4. The text is what it says of its version.
    OtherVersion(String),
    /// helm refuses the chart or the values. The text is its message, which may have several lines.
    Refused(String),
    /// It printed more than a release may have.
    TooLarge,
    /// It took longer than it may.
    TookTooLong,
    /// helm cannot be run, or the temporary folder cannot be written.
    Io(String),
}

impl fmt::Display for HelmError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing => write!(f, "the program `helm` must be on PATH: install helm 3 or 4"),
            Self::OtherVersion(version) => write!(f, "`helm` must be of version 3 or 4, not \"{version}\""),
            Self::Refused(message) => {
                let lines: Vec<&str> = message.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
                write!(f, "helm: {}", lines.join(" "))
            }
            Self::TooLarge => write!(f, "helm must print at most {MOST} bytes for a release, but it printed more"),
            Self::TookTooLong => {
                write!(f, "helm must render a release within {} seconds, but it took longer", MOST_TIME.as_secs())
            }
            Self::Io(why) => write!(f, "helm cannot be run: {why}"),
        }
    }
}

impl std::error::Error for HelmError {}

/// What a chart is rendered with.
#[derive(Clone, Copy, Debug, Default)]
pub struct Rendering<'r> {
    /// The name of the release.
    pub release: &'r str,
    /// Its namespace; without one, it is `default`.
    pub namespace: Option<&'r str>,
    /// The values, the later ones over the earlier ones.
    pub values: &'r [Values<'r>],
    /// Whether the CustomResourceDefinitions of the chart's folder `crds` come with it.
    pub crds: Crds,
    /// The version of Kubernetes that the chart sees; without one, it is the one that helm knows.
    pub kube_version: Option<&'r str>,
    /// The API versions that the chart sees besides those that helm knows.
    pub api_versions: &'r [String],
}

/// What becomes of the CustomResourceDefinitions in a chart's folder `crds`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Crds {
    /// They are left out.
    #[default]
    LeftOut,
    /// They come with the rest.
    Included,
}

/// The text of a values file.
#[derive(Clone, Copy, Debug)]
pub struct Values<'v> {
    /// What helm's messages call it.
    pub name: &'v str,
    /// Its text.
    pub text: &'v str,
}

/// A chart in a temporary folder, which goes with its end.
#[derive(Debug)]
pub struct ChartOnDisk {
    helm: &'static Helm,
    folder: TemporaryFolder,
}

impl Helm {
    /// The `helm` on `PATH`, which is looked for once in a run.
    ///
    /// # Errors
    /// There is none, or it is of another version.
    pub fn on_path() -> Result<&'static Self, HelmError> {
        static FOUND: OnceLock<Result<Helm, HelmError>> = OnceLock::new();
        let found = FOUND.get_or_init(|| Self::at(program().ok_or(HelmError::Missing)?));
        found.as_ref().map_err(Clone::clone)
    }

    fn at(program: PathBuf) -> Result<Self, HelmError> {
        let folder = temporary()?;
        let mut command = command(&program, folder.path());
        let printed = printed(command.args(["version", "--template", "{{.Version}}"]), &[])?;
        let version = shown::line(printed.trim()).into_owned();
        let is_known = ["v3.", "v4."].iter().any(|known| version.starts_with(known));
        if is_known { Ok(Self { program, version }) } else { Err(HelmError::OtherVersion(version)) }
    }

    /// Writes a chart for helm: the files by their paths in the folder of the chart, with `/`.
    ///
    /// # Errors
    /// A path leads out of the folder, or the temporary folder cannot be written.
    pub fn chart(&'static self, files: &BTreeMap<String, Vec<u8>>) -> Result<ChartOnDisk, HelmError> {
        let folder = temporary()?;
        for (path, bytes) in files {
            let is_schema = path.rsplit('/').next() == Some(SCHEMA);
            if is_schema && asks_for_others(bytes) {
                continue;
            }
            write(&folder.path().join(CHART), path, bytes).map_err(|why| HelmError::Io(errors::chain(&why)))?;
        }
        Ok(ChartOnDisk { helm: self, folder })
    }
}

impl ChartOnDisk {
    /// The version of helm, such as `v4.1.4`.
    pub fn version(&self) -> &str {
        &self.helm.version
    }

    /// What helm makes of the chart: YAML documents.
    ///
    /// # Errors
    /// helm refuses the chart or the values, prints too much, or takes too long.
    pub fn render(&self, asked: &Rendering<'_>) -> Result<String, HelmError> {
        let mut helm = command(&self.helm.program, self.folder.path());
        helm.arg("template");
        for (number, values) in asked.values.iter().enumerate() {
            let file = self.folder.path().join(values_file(number));
            made::replace(&file, values.text.as_bytes()).map_err(|why| HelmError::Io(why.to_string()))?;
            helm.args(["--values", &values_file(number)]);
        }
        if asked.crds == Crds::Included {
            helm.arg("--include-crds");
        }
        let one = |name: &str, value: &str| format!("--{name}={value}");
        helm.args(asked.namespace.map(|namespace| one("namespace", namespace)));
        helm.args(asked.kube_version.map(|version| one("kube-version", version)));
        helm.args(asked.api_versions.iter().map(|version| one("api-versions", version)));
        // The name of a release may look like a flag.
        helm.args(["--", asked.release, &format!("./{CHART}")]);
        printed(&mut helm, asked.values)
    }
}

/// The `helm` that `PATH` finds. A relative folder there would be one of the chart.
fn program() -> Option<PathBuf> {
    let name = format!("helm{}", consts::EXE_SUFFIX);
    let path = env::var_os("PATH")?;
    env::split_paths(&path)
        .filter(|folder| folder.is_absolute())
        .map(|folder| folder.join(&name))
        .find(|file| is_program(file))
}

fn is_program(file: &Path) -> bool {
    let Ok(found) = fs::metadata(file) else { return false };
    #[cfg(unix)]
    let may_run = std::os::unix::fs::PermissionsExt::mode(&found.permissions()) & 0o111 != 0;
    #[cfg(not(unix))]
    let may_run = true;
    found.is_file() && may_run
}

fn temporary() -> Result<TemporaryFolder, HelmError> {
    TemporaryFolder::new("helm").map_err(|why| HelmError::Io(errors::chain(&why)))
}

/// helm in a folder, without anything of the user's own.
fn command(program: &Path, folder: &Path) -> Command {
    let mut helm = Command::new(program);
    helm.current_dir(folder);
    let is_of_helm = |name: &std::ffi::OsStr| name.to_string_lossy().to_ascii_uppercase().starts_with("HELM_");
    env::vars_os().map(|(name, _)| name).filter(|name| is_of_helm(name)).for_each(|name| _ = helm.env_remove(name));
    // None of them is there.
    for (name, place) in [
        ("HELM_CACHE_HOME", "own/cache"),
        ("HELM_CONFIG_HOME", "own/config"),
        ("HELM_DATA_HOME", "own/data"),
        ("HELM_PLUGINS", "own/plugins"),
        ("HELM_REGISTRY_CONFIG", "own/registry.json"),
        ("HELM_REPOSITORY_CONFIG", "own/repositories.yaml"),
        ("HELM_REPOSITORY_CACHE", "own/repositories"),
        ("KUBECONFIG", "own/kubeconfig"),
    ] {
        helm.env(name, folder.join(place));
    }
    helm.env("HELM_NO_PLUGINS", "1");
    // The schema in a packed chart may ask a server. Nobody answers here.
    for name in ["HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"] {
        helm.env(name, "http://127.0.0.1:9");
    }
    for name in ["NO_PROXY", "no_proxy", "ALL_PROXY", "all_proxy"] {
        helm.env_remove(name);
    }
    // A template may print a time of day, which must be the same on each machine.
    helm.env("TZ", "UTC");
    helm
}

/// What helm prints. `values` are the texts that its message may name.
fn printed(helm: &mut Command, values: &[Values<'_>]) -> Result<String, HelmError> {
    let Ended { printed, said, status } = bounded::run(helm, Some(MOST_TIME)).map_err(|why| match why {
        Unfinished::NotStarted(why) | Unfinished::Unread(why) => HelmError::Io(why.to_string()),
        Unfinished::TooLarge => HelmError::TooLarge,
        Unfinished::TookTooLong => HelmError::TookTooLong,
    })?;
    // Whoever ended it, it was not the chart.
    if status.code().is_none() {
        return Err(HelmError::Io(status.to_string()));
    }
    if !status.success() {
        let message = message(&String::from_utf8_lossy(&said), values);
        return Err(HelmError::Refused(if message.is_empty() { status.to_string() } else { message }));
    }
    String::from_utf8(printed).map_err(|_| HelmError::Refused("what it prints is not UTF-8".to_owned()))
}

/// helm's message about an error, with the names of the values and without its warnings and hints.
fn message(said: &str, values: &[Values<'_>]) -> String {
    let at = said.find("Error: ").map_or(0, |at| at + "Error: ".len());
    let lines = said[at..].lines().map(str::trim_end);
    let lines = lines.filter(|line| !line.is_empty() && !line.starts_with("Use --debug flag"));
    let told = lines.map(|line| shown::line(line).into_owned()).collect::<Vec<_>>().join("\n");
    let end = (0..=MOST_SHOWN.min(told.len())).rev().find(|at| told.is_char_boundary(*at)).unwrap_or_default();
    let named = |told: String, (number, values): (usize, &Values<'_>)| {
        told.replace(&values_file(number), &shown::line(values.name))
    };
    values.iter().enumerate().fold(told[..end].to_owned(), named)
}

/// The name of a values file in the temporary folder. None of them begins as another one.
fn values_file(number: usize) -> String {
    format!("values-of-krm-merge-{number}.yaml")
}

/// Whether a schema asks for other files, which may be those of the user or of a server. Whoever asks for them is checked by none.
fn asks_for_others(schema: &[u8]) -> bool {
    fn in_value(value: &Value) -> bool {
        match value {
            Value::Object(fields) => fields.iter().any(|(name, value)| {
                let text = value.as_str().unwrap_or("#");
                let is_of_others = match name.as_str() {
                    "$ref" | "$dynamicRef" | "$recursiveRef" => !text.starts_with('#'),
                    "$schema" => !text.starts_with('#') && !text.contains("://json-schema.org/"),
                    _ => false,
                };
                is_of_others || in_value(value)
            }),
            Value::Array(values) => values.iter().any(in_value),
            _ => false,
        }
    }
    serde_json::from_slice(schema).is_ok_and(|schema| in_value(&schema))
}

fn write(root: &Path, path: &str, bytes: &[u8]) -> anyhow::Result<()> {
    if !file_path::is_within(path) {
        anyhow::bail!("a file of a chart must be in its folder, and not {}", shown::quoted(path));
    }
    let file = root.join(path);
    let folder = file.parent().unwrap_or(root);
    fs::create_dir_all(folder).with_context(|| path.to_owned())?;
    made::new(&file, bytes).with_context(|| path.to_owned())
}

#[cfg(test)]
mod tests;
