//! `cargo xtask dist`: builds what a release has, for the targets that this machine can build.
//!
//! A release runs this very command, so what it makes can be looked at before. The same commit, Rust and linker give the same bytes: no path of
//! the machine is in a program, and every date is the one of the commit.

mod build;
mod files;
mod front;
mod notices;
mod npm;
mod platform;
mod system;
mod vsix;
mod wheel;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::hex;
use crate::machine::{self, output, read};
use crate::release::{self, NAMES, PLUGIN};
use files::{Entry, Mode};
use platform::{PLATFORMS, Platform};

/// What a release has, before it is packed.
struct Dist {
    /// The checkout.
    root: PathBuf,
    /// Where the packages go.
    out: PathBuf,
    version: String,
    /// The time of the commit, in seconds.
    date: u64,
    platforms: Vec<Built>,
    /// The licences, and whatever else each archive has.
    notices: Vec<Entry>,
    /// The man pages and the completions, by both names.
    manual: Vec<Entry>,
    /// The page by which a registry shows the program.
    front: String,
}

/// The program for one platform.
struct Built {
    platform: &'static Platform,
    bytes: Vec<u8>,
}

impl Built {
    /// The program by one of its names, in a folder.
    fn program(&self, name: &str, folder: &str) -> Entry {
        let path = format!("{folder}{name}{}", self.platform.suffix());
        Entry { path, bytes: self.bytes.clone(), mode: Mode::Program }
    }

    /// The program by its own name, and kubectl's plugin: a link to it, where the platform has links.
    fn programs(&self, folder: &str) -> [Entry; 2] {
        let [own, plugin] = NAMES;
        let link = Entry { path: format!("{folder}{plugin}"), bytes: own.into(), mode: Mode::Link };
        let is_linked = self.platform.suffix().is_empty();
        [self.program(own, folder), if is_linked { link } else { self.program(plugin, folder) }]
    }
}

/// Runs the command.
///
/// # Errors
/// A target is unknown, or something cannot be built.
pub fn run(args: impl Iterator<Item = String>) -> Result<(), String> {
    let args: Vec<String> = args.collect();
    let root = machine::root()?;
    match args.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["pack"] => pack(root),
        ["build", targets @ ..] => build(&root, targets),
        targets => build(&root, targets).and_then(|()| pack(root)),
    }
}

/// Builds the programs for targets; for this machine where none is named.
fn build(root: &Path, targets: &[&str]) -> Result<(), String> {
    let named = targets.iter().map(|target| platform::of_target(target)).collect::<Result<Vec<_>, _>>()?;
    let platforms = if named.is_empty() { vec![platform::here()?] } else { named };
    platforms.into_iter().try_for_each(|platform| build::program(root, platform))
}

/// Packs what was built, by this run and by earlier ones.
fn pack(root: PathBuf) -> Result<(), String> {
    let out = machine::target_folder(&root).join("dist");
    fs::create_dir_all(&out).map_err(|e| format!("{}: {e}", out.display()))?;
    let version = release::current(&read(&root.join("Cargo.toml"))?)?.to_string();
    let date = match std::env::var("SOURCE_DATE_EPOCH") {
        Ok(date) => date,
        Err(_) => output(&root, "git", &["log", "-1", "--format=%ct"])?,
    };
    let date = date.trim().parse().map_err(|e| format!("the date of the commit: {e}"))?;
    let (platforms, notices) = (built(&root), notices::of(&root)?);
    let front = front::page(&read(&root.join("README.md"))?, &version);
    let dist = Dist { platforms, manual: Vec::new(), notices, front, root, out, version, date };
    let dist = Dist { manual: build::manual(&dist)?, ..dist };
    packages(&dist)
}

/// The programs that were built.
fn built(root: &Path) -> Vec<Built> {
    let mut all = Vec::new();
    for platform in &PLATFORMS {
        let folder = build::folder(root, platform);
        if let Ok(bytes) = fs::read(folder.join(format!("{PLUGIN}{}", platform.suffix()))) {
            all.push(Built { platform, bytes });
        }
    }
    all
}

/// Makes all packages, and the file with their checksums.
fn packages(dist: &Dist) -> Result<(), String> {
    if dist.platforms.is_empty() {
        return Err("there must be programs to pack: name a target".to_owned());
    }
    for entry in fs::read_dir(&dist.out).map_err(|e| format!("{}: {e}", dist.out.display()))?.flatten() {
        fs::remove_file(entry.path()).map_err(|e| format!("{}: {e}", entry.path().display()))?;
    }
    for built in &dist.platforms {
        for name in NAMES {
            let file = format!("{name}-{}.tar.gz", built.platform.name);
            dist.put(&file, &files::tar_gz(&archived(dist, built, name), dist.date)?)?;
        }
        wheel::make(dist, built)?;
        npm::of_platform(dist, built)?;
        system::make(dist, built)?;
    }
    npm::of_all(dist)?;
    npm::of_module(dist)?;
    npm::of_function(dist)?;
    vsix::make(dist)?;
    for notice in dist.notices.iter().filter(|notice| notice.path.ends_with(".json")) {
        dist.put(&notice.path, &notice.bytes)?;
    }
    dist.sums()
}

/// The files of the archive with a name of the program. That of the plugin is krew's, which takes no links: it has this name alone.
fn archived(dist: &Dist, built: &Built, name: &str) -> Vec<Entry> {
    let is_plugin = name == PLUGIN;
    let programs = if is_plugin { vec![built.program(name, "")] } else { built.programs("").into() };
    let manual = dist.manual.iter().filter(|page| !is_plugin || page.path.contains("kubectl"));
    programs.into_iter().chain(dist.notices.iter().chain(manual).cloned()).collect()
}

impl Dist {
    /// Writes a package.
    fn put(&self, file: &str, bytes: &[u8]) -> Result<(), String> {
        let path = self.out.join(file);
        fs::write(&path, bytes).map_err(|e| format!("{}: {e}", path.display()))?;
        println!("{:>9} {file}", bytes.len());
        Ok(())
    }

    /// Writes the checksums, and what is made with them: the krew manifest, the formula, and the script that installs.
    fn sums(&self) -> Result<(), String> {
        let mut digests = BTreeMap::new();
        for entry in fs::read_dir(&self.out).map_err(|e| format!("{}: {e}", self.out.display()))?.flatten() {
            let bytes = fs::read(entry.path()).map_err(|e| format!("{}: {e}", entry.path().display()))?;
            digests.insert(entry.file_name().to_string_lossy().into_owned(), hex(&bytes));
        }
        let sums: String = digests.iter().map(|(file, digest)| format!("{digest}  {file}\n")).collect();
        self.put("krm-merge.yaml", release::krew(&self.root, &digests)?.as_bytes())?;
        if let Some(formula) = system::formula(self, &digests)? {
            self.put("krm-merge.rb", formula.as_bytes())?;
        }
        self.put("checksums.txt", sums.as_bytes())?;
        let script = read(&self.root.join("packaging/install.sh"))?.replace("@VERSION@", &self.version);
        self.put("install.sh", script.as_bytes())
    }
}
