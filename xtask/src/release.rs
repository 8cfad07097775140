//! `cargo xtask release VERSION`: does the part of a release that one machine can do, and prints what a person does next.
//!
//! With `--dry-run`, everything happens in a copy of the repository below the target folder: the version is set, the crates are packaged
//! and verified, and `cargo xtask dist` makes the packages of this machine. Without it, the version is set in the repository itself, after a
//! check of all places.

mod changelog;
mod manifest;
mod places;
mod version;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{SystemTime, UNIX_EPOCH};

use crate::machine::{call, host, output, read, root, size, target_folder};
use version::Version;

/// The crates that are published on crates.io, each after the crates that it needs.
const CRATES: [&str; 20] = [
    "krm-names",
    "krm-yaml",
    "krm-tree",
    "krm-schema",
    "krm-merge-core",
    "krm-package",
    "krm-job",
    "krm-overlay",
    "krm-words",
    "krm-merge",
    "krm-merge-function",
    "krm-json",
    "krm-files",
    "krm-git",
    "krm-release",
    "krm-folders",
    "krm-show",
    "krm-driver",
    "krm-live",
    "kubectl-krm-merge",
];

/// The package with the program that a release has.
pub const PACKAGE: &str = "kubectl-krm-merge";

/// The names of the program: its own, and that of kubectl's plugin, by which cargo builds it.
pub const NAMES: [&str; 2] = ["krm-merge", PLUGIN];

/// The name of kubectl's plugin.
pub const PLUGIN: &str = "kubectl-krm_merge";

/// The steps that a person does after a run that changed the files.
const BY_HAND: &str = "\
What a person does now:
  1. Read the changes: git diff
  2. Commit them, and have them reviewed: git commit --all --message \"release: VERSION\"
  3. Tag the merged commit: git tag --annotate vVERSION --message vVERSION
  4. Push the tag: git push origin vVERSION
     .github/workflows/release.yml builds and checks everything, waits for a reviewer, and publishes.
     It needs the environment `release` with the secrets CARGO_REGISTRY_TOKEN and NPM_TOKEN, and PyPI's trust in the workflow.
  5. Send krm-merge.yaml of the release to krew's index.";

/// The words of the README before the first release, and the words that replace them.
const README: [(&str, &str); 3] = [
    (" is not released yet. ", " is the latest release. "),
    ("There is no release yet. From the first one on, each", "Each"),
    ("Until then, build it", "Or build it"),
];

/// A file of the repository before and after its version is set.
type Files = BTreeMap<String, (String, String)>;

/// Runs the command.
///
/// # Errors
/// Wrong arguments, or a fault that a release must not have.
pub fn run(args: impl Iterator<Item = String>) -> Result<(), String> {
    let (mut asked, mut is_dry) = (None, false);
    for arg in args {
        match arg.as_str() {
            "--dry-run" => is_dry = true,
            text if asked.is_none() && !text.starts_with('-') => asked = Some(Version::parse(text)?),
            _ => return Err(crate::USAGE.into()),
        }
    }
    let version = asked.ok_or(crate::USAGE)?;
    let root = root()?;
    let files = set(&root, &version)?;
    let changed = files.values().filter(|(old, new)| old != new).count();
    println!("version {version}: {changed} of {} files change", files.len());
    if is_dry { rehearse(&root, &version, &files) } else { write(&root, &version, &files) }
}

/// The krew manifest with the digests of archives, by their names. It says which archives are missing.
///
/// # Errors
/// The manifest cannot be read.
pub fn krew(root: &Path, digests: &BTreeMap<String, String>) -> Result<String, String> {
    let made = manifest::with_digests(&read(&root.join("plugin.yaml"))?, digests);
    let lacks = manifest::without_digest(&made);
    if !lacks.is_empty() {
        println!("the krew manifest lacks the checksums of {}", lacks.join(", "));
    }
    Ok(made)
}

/// The version of the workspace, by its Cargo.toml.
pub fn current(cargo: &str) -> Result<Version, String> {
    let after = cargo.split_once("[workspace.package]\nversion = \"").and_then(|(_, after)| after.split_once('"'));
    Version::parse(after.ok_or("Cargo.toml: `[workspace.package]` must begin with `version`")?.0)
}

/// All text files of the repository, with the version set.
fn set(root: &Path, version: &Version) -> Result<Files, String> {
    let cargo = read(&root.join("Cargo.toml"))?;
    let (old, new) = (current(&cargo)?, version.to_string());
    if version.is_before(&old) {
        return Err(format!("the version must not be before {old}, which Cargo.toml has, and {version} is"));
    }
    let old = old.to_string();
    if !output(root, "git", &["tag", "--list", &format!("v{version}")])?.trim().is_empty() {
        return Err(format!("the version must be a new one, and the tag v{version} is there"));
    }
    let missing = places::missing(&old, |file| fs::read_to_string(root.join(file)).ok());
    let mut faults: Vec<String> = missing.into_iter().map(|place| format!("{place} must be there")).collect();
    let mut files = Files::new();
    for path in output(root, "git", &["ls-files", "-z"])?.split('\0').filter(|path| !path.is_empty()) {
        // A file that is not text has no version.
        let Ok(text) = fs::read_to_string(root.join(path)) else { continue };
        let (mut made, unknown) = places::bumped(path, &text, &old, &new);
        let unknown =
            unknown.iter().map(|line| format!("{path}:{line}: {old} must stand at a place that this command knows"));
        faults.extend(unknown);
        if path == "CHANGELOG.md" {
            made = changelog::released(&made, &new, &today())?;
        }
        if path == "README.md" {
            README.iter().for_each(|(before, after)| made = made.replace(before, after));
        }
        files.insert(path.to_owned(), (text, made));
    }
    let made = |path: &str| files.get(path).map(|(_, new)| new.as_str()).ok_or(format!("{path}: it must be there"));
    let targets = manifest::targets(made(".github/workflows/release.yml")?)?;
    faults.extend(manifest::faults(made("plugin.yaml")?, &targets, &new)?);
    if faults.is_empty() { Ok(files) } else { Err(faults.join("\n")) }
}

fn today() -> String {
    changelog::day(SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs()))
}

/// Sets the version in the repository itself.
fn write(root: &Path, version: &Version, files: &Files) -> Result<(), String> {
    if !output(root, "git", &["status", "--porcelain"])?.trim().is_empty() {
        return Err("the checkout must have no changes: commit them first".to_owned());
    }
    for (path, (_, new)) in files.iter().filter(|(_, (old, new))| old != new) {
        fs::write(root.join(path), new).map_err(|e| format!("{path}: {e}"))?;
        println!("changed {path}");
    }
    println!("{}", BY_HAND.replace("VERSION", &version.to_string()));
    Ok(())
}

/// Carries out a release in a copy.
fn rehearse(root: &Path, version: &Version, files: &Files) -> Result<(), String> {
    let target = target_folder(root);
    let work = target.join("release-check");
    let copy = work.join("repository");
    if work.exists() {
        fs::remove_dir_all(&work).map_err(|e| format!("{}: {e}", work.display()))?;
    }
    fs::create_dir_all(&copy).map_err(|e| format!("{}: {e}", copy.display()))?;
    copied(root, &copy, files)?;
    println!("copied to {}", copy.display());
    let mut package = vec!["package", "--locked", "--quiet"];
    CRATES.iter().for_each(|name| package.extend(["--package", name]));
    call(&copy, &target, Command::new("cargo").args(&package))?;
    for name in CRATES {
        let packed = target.join(format!("package/{name}-{version}.crate"));
        println!("packaged and verified {}: {} bytes", packed.display(), size(&packed)?);
        let held = output(&copy, "tar", &["-tzf", &packed.display().to_string()])?;
        if let Some(test) = held.lines().find(|path| path.contains("/tests/")) {
            return Err(format!("{}: a package must hold no tests, and it holds {test}", packed.display()));
        }
    }
    let date = output(root, "git", &["log", "-1", "--format=%ct"])?;
    let mut dist = Command::new("cargo");
    dist.args(["run", "--quiet", "--locked", "--package", "xtask", "--", "dist"]).env("SOURCE_DATE_EPOCH", date.trim());
    call(&copy, &target, &mut dist)?;
    image(&copy, &target, &work)?;
    println!("nothing is wrong, and nothing is changed: run it again without --dry-run");
    Ok(())
}

/// Copies the files of the repository, with the version set.
fn copied(root: &Path, copy: &Path, files: &Files) -> Result<(), String> {
    for path in output(root, "git", &["ls-files", "-z"])?.split('\0').filter(|path| !path.is_empty()) {
        let (from, to) = (root.join(path), copy.join(path));
        let folder = to.parent().unwrap_or(copy);
        let made = fs::create_dir_all(folder).and_then(|()| fs::copy(&from, &to));
        made.map_err(|e| format!("{}: {e}", to.display()))?;
        if let Some((_, text)) = files.get(path) {
            fs::write(&to, text).map_err(|e| format!("{}: {e}", to.display()))?;
        }
    }
    Ok(())
}

/// Builds the program of the image and the files of the image around it, and lets it merge an example.
fn image(copy: &Path, target: &Path, work: &Path) -> Result<(), String> {
    if !cfg!(target_os = "linux") {
        println!("skipped: the image can only be built on Linux");
        return Ok(());
    }
    let arch = host()?.rsplit('-').next().unwrap_or_default().to_owned();
    let tree = work.join("image");
    fs::create_dir_all(tree.join("etc")).map_err(|e| format!("{}: {e}", tree.display()))?;
    let program = tree.join("krm-merge");
    call(copy, target, Command::new(copy.join("image/build")).arg(&arch).arg(&program))?;
    fs::copy(copy.join("image/passwd"), tree.join("etc/passwd")).map_err(|e| format!("image/passwd: {e}"))?;
    let example = copy.join("examples/merge-two-way/resource-list.yaml");
    let input = fs::File::open(&example).map_err(|e| format!("{}: {e}", example.display()))?;
    let ran = Command::new(&program).stdin(input).stdout(Stdio::null()).status();
    if !ran.map_err(|e| format!("{}: {e}", program.display()))?.success() {
        return Err(format!("{}: it must merge {}", program.display(), example.display()));
    }
    println!("made the files of the image in {}: {} bytes", tree.display(), size(&program)?);
    Ok(())
}
