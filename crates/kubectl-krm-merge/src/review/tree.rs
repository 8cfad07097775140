//! The files in which overlays are looked for: those of a work tree, or of a commit.
//!
//! A source of charts may stand anywhere in a repository, so all of it is read, whichever part of it the user names.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use krm_files::walk;
use krm_folders::sources;
use krm_git::address::Repo;
use krm_git::found::{AtPath, Entry};
use krm_git::ignored::ignored;
use krm_git::program::{self, In, git};
use krm_git::store::{Network, Store};
use krm_git::tree;
use krm_names::shown as escaped;
use krm_overlay::Spot;
use krm_show::review::FilePlace;

/// The largest file that is looked into, in bytes. What people write by hand is smaller.
const LARGEST: usize = 4 << 20;

/// The files of a tree.
#[derive(Debug)]
pub struct Tree {
    /// The folder at its top.
    pub top: PathBuf,
    /// The texts that may say something of charts and values. A packed chart has an empty text.
    pub texts: BTreeMap<String, String>,
    files: Files,
}

/// Where the files are.
#[derive(Debug)]
enum Files {
    Disk(Vec<String>),
    Commit { store: Box<Store>, entries: Vec<Entry> },
}

/// Whether a file may say something of charts and values.
fn is_looked_into(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    [".yaml", ".yml", ".tpl"].iter().any(|end| name.ends_with(end)) || ["Chart.lock", "Kustomization"].contains(&name)
}

fn is_packed(path: &str) -> bool {
    path.ends_with(".tgz")
}

impl Tree {
    /// The work tree around a folder or file with a canonical path; outside of a repository, the folder, or that of the file.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn around(path: &Path) -> Result<Self> {
        let folder = if path.is_dir() { path } else { path.parent().unwrap_or(path) };
        let top = program::paths_told(folder, ["--show-toplevel"]).ok().and_then(|[top]| fs::canonicalize(top).ok());
        let top = top.unwrap_or_else(|| folder.to_owned());
        let mut files = walk::Tree::around_packages(&top)?.files;
        // A commit would not have what git ignores, such as a dependency.
        let named: Vec<&str> = files.iter().map(String::as_str).collect();
        let ignored = ignored(&top, &named);
        files.retain(|path| !ignored.contains(path));
        let mut texts = BTreeMap::new();
        for path in &files {
            let file = top.join(path);
            let is_small = || fs::metadata(&file).is_ok_and(|found| found.len() <= LARGEST as u64);
            let text = match is_looked_into(path) {
                true if is_small() => String::from_utf8(fs::read(&file).with_context(|| walk::shown(&file))?).ok(),
                true => None,
                false => is_packed(path).then(String::new),
            };
            texts.extend(text.map(|text| (path.clone(), text)));
        }
        Ok(Self { top, texts, files: Files::Disk(files) })
    }

    /// The tree of the commit from which this work tree and a ref of its repository come: what the work tree changes is against that.
    ///
    /// # Errors
    /// There is no such ref, or git cannot read its files.
    pub fn base(&self, reference: &str) -> Result<Self> {
        let found = |args: &[&str]| {
            let told = program::run(git(In::Around(&self.top)).args(args), b"").ok()?;
            Some(String::from_utf8_lossy(told.trim_ascii()).into_owned())
        };
        krm_git::address::check_reference(reference).context("`--base`")?;
        let commit = format!("{reference}^{{commit}}");
        let Some(tip) = found(&["rev-parse", "--verify", "--quiet", "--end-of-options", &commit]) else {
            bail!(
                "`--base` \"{}\" must be a branch, tag or commit of the repository of {}. If it is on the remote, run `git fetch origin {}`",
                escaped::name(reference),
                walk::shown(&self.top),
                escaped::name(reference.trim_start_matches("origin/"))
            )
        };
        // A shallow clone may not know where the two part.
        let commit = found(&["merge-base", &tip, "HEAD"]).unwrap_or(tip);
        let store = Store::open(&Repo::Here, &self.top, Network::Offline)?;
        let entries = match tree::find(&store, &commit, "")?.as_deref() {
            Some(AtPath::Folder(entries)) => entries.clone(),
            _ => bail!("git must have the files of {commit}"),
        };
        let looked: Vec<Entry> = entries.iter().filter(|entry| is_looked_into(&entry.path)).cloned().collect();
        let raw = tree::files(&store, &looked, |_| None)?.into_iter();
        let texts = raw.filter(|raw| raw.bytes.len() <= LARGEST);
        let texts = texts.filter_map(|raw| Some((raw.path, String::from_utf8(raw.bytes).ok()?)));
        let packed =
            entries.iter().filter(|entry| is_packed(&entry.path)).map(|entry| (entry.path.clone(), String::new()));
        let texts = texts.chain(packed).collect();
        Ok(Self { top: self.top.clone(), texts, files: Files::Commit { store: Box::new(store), entries } })
    }

    /// A place in one of its files.
    pub fn place(&self, spot: &Spot) -> FilePlace {
        let read = || self.text(&spot.file).ok().flatten().map(Cow::Owned);
        let text = self.texts.get(&spot.file).map(|text| Cow::Borrowed(text.as_str())).or_else(read);
        FilePlace::of(self.top.join(&spot.file), &text.unwrap_or_default(), spot.offset)
    }

    /// The text of any file; `None` if there is none, or if it is no text.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn text(&self, path: &str) -> Result<Option<String>> {
        if let Some(text) = self.texts.get(path) {
            return Ok(Some(text.clone()));
        }
        let bytes = match &self.files {
            Files::Disk(files) => {
                let file = self.top.join(path);
                let is_there = files.iter().any(|known| known == path);
                is_there.then(|| fs::read(&file).with_context(|| walk::shown(&file))).transpose()?
            }
            Files::Commit { store, entries } => {
                let entry = entries.iter().find(|entry| entry.path == path && entry.kind.is_file());
                entry.map(|entry| tree::read_file(store, &entry.object)).transpose()?
            }
        };
        Ok(bytes.and_then(|bytes| String::from_utf8(bytes).ok()))
    }

    /// The files of a folder, by their paths from it.
    ///
    /// # Errors
    /// One of them cannot be read.
    pub fn folder(&self, folder: &str) -> Result<BTreeMap<String, Vec<u8>>> {
        let below = |path: &str| path.strip_prefix(folder).and_then(|rest| rest.strip_prefix('/')).map(str::to_owned);
        match &self.files {
            Files::Disk(files) => {
                let inside = files.iter().filter_map(|path| Some((path, below(path)?)));
                inside
                    .map(|(path, name)| {
                        let file = self.top.join(path);
                        Ok((name, fs::read(&file).with_context(|| walk::shown(&file))?))
                    })
                    .collect()
            }
            Files::Commit { store, entries } => {
                let inside: Vec<Entry> = entries.iter().filter(|entry| below(&entry.path).is_some()).cloned().collect();
                let raw = tree::files(store, &inside, |_| None)?.into_iter();
                Ok(raw.filter_map(|raw| Some((below(&raw.path)?, raw.bytes))).collect())
            }
        }
    }

    /// The files of a packed chart.
    ///
    /// # Errors
    /// It cannot be read, or is no chart.
    pub fn packed(&self, path: &str) -> Result<BTreeMap<String, Vec<u8>>> {
        let bytes = match &self.files {
            Files::Disk(_) => fs::read(self.top.join(path)).with_context(|| walk::shown(&self.top.join(path)))?,
            Files::Commit { store, entries } => {
                let entry = entries.iter().find(|entry| entry.path == path).context("git must have the chart")?;
                tree::read_file(store, &entry.object)?
            }
        };
        let files = sources::packed_chart(&bytes).with_context(|| path.to_owned())?;
        Ok(files.into_iter().map(|file| (file.path, file.bytes)).collect())
    }
}
