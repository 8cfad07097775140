//! Releases that are made, not fetched: by a command of the package, or by helm of a chart.
//!
//! Each release is made twice, so that what is [volatile](super::volatile) is known. The hash of the rest stands in the record. So on each
//! machine the release that a package has can be made again, with the files of the package as they were when the record was written. The
//! cache only saves time.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use anyhow::{Context, Result, anyhow, bail};
use krm_files::disk::hash;
use krm_files::errors;
use krm_folders::held::Held;
use krm_folders::side::Side;
use krm_git::cache;
use krm_git::refs::State;
use krm_names::file_path::RULES;
use krm_yaml::Document;

use super::past::Past;
use super::volatile::{Kept, Volatile};

/// What was made for releases, by the hashes.
#[derive(Debug, Default)]
pub struct Outputs(RefCell<BTreeMap<String, Rc<Output>>>);

/// A release that a package has, and that may have to be made again.
#[derive(Clone, Copy, Debug)]
pub struct MadeBefore<'m> {
    /// Its name.
    pub release: &'m str,
    /// The hash of what was made.
    pub hash: &'m str,
    /// Who makes it, for messages.
    pub maker: &'m str,
    /// The folder of the package.
    pub folder: &'m Path,
}

/// What was made for a release, twice.
#[derive(Debug)]
struct Output {
    first: Vec<u8>,
    second: Vec<u8>,
    /// What is volatile; `None` if both are equal, or no YAML.
    volatile: Option<Volatile>,
    /// The hash of what stays.
    hash: String,
}

impl Outputs {
    /// Makes a release, and returns the hash of what stays. The cache keeps it.
    ///
    /// # Errors
    /// It cannot be made, or the cache cannot be written.
    pub fn made(&self, make: impl FnMut() -> Result<Vec<u8>>) -> Result<String> {
        let hash = self.twice(make)?;
        if let Some(output) = self.output(&hash) {
            output.cache()?;
        }
        Ok(hash)
    }

    /// Finds the release that a package has: in the cache, or made again with the files of the package as they are or as they were.
    /// `make` makes it with the files of a folder.
    ///
    /// # Errors
    /// It cannot be made again.
    pub fn locked(&self, was: MadeBefore<'_>, make: impl Fn(&Path) -> Result<Vec<u8>>) -> Result<()> {
        if let Some(output) = Output::cached(was.hash)? {
            self.0.borrow_mut().insert(was.hash.to_owned(), Rc::new(output));
            return Ok(());
        }
        self.make_again(was, make).map_err(|why| {
            let MadeBefore { release, maker, .. } = was;
            anyhow!(
                "the release that the package has, {release}, must be made again by {maker}, because the cache does not have it; {}: `--from {release}` takes what it prints with the files as they are now",
                errors::chain(&why)
            )
        })
    }

    fn make_again(&self, was: MadeBefore<'_>, make: impl Fn(&Path) -> Result<Vec<u8>>) -> Result<()> {
        let is_made = |folder: &Path| self.twice(|| make(folder)).map(|hash| hash == was.hash);
        let now = is_made(was.folder);
        if matches!(now, Ok(true)) {
            return Ok(());
        }
        let Some(past) = Past::of(was.folder, RULES, was.hash)? else {
            now?;
            bail!("it prints something else now, and no commit tells how the files of the package were");
        };
        let with = || format!("with the files of commit {}{}", past.commit, past.lacks);
        if !is_made(&past.package()).with_context(with)? {
            bail!("{} it prints something else", with());
        }
        Ok(())
    }

    /// Makes a release twice. What is known by its hash is not replaced, for its volatile values are those of the package.
    fn twice(&self, mut make: impl FnMut() -> Result<Vec<u8>>) -> Result<String> {
        let first = make()?;
        let output = Output::new(first, make()?);
        let hash = output.hash.clone();
        self.0.borrow_mut().entry(hash.clone()).or_insert_with(|| Rc::new(output));
        Ok(hash)
    }

    /// The side of a release. It has the volatile values of an older release. `name` is its name for messages.
    ///
    /// # Errors
    /// The output holds something else than resources.
    pub fn side(&self, name: String, state: &State, older: Option<&State>) -> Result<Side> {
        let kept = self.kept(state, older).map(|kept| kept.text.into_bytes());
        let bytes = kept.or_else(|| Some(self.output(&state.commit)?.first.clone()));
        Side::of_file(name, bytes.unwrap_or_default())
    }

    /// The side of a release, to be compared with a package. It has the volatile values of the package.
    ///
    /// # Errors
    /// The output holds something else than resources.
    pub fn side_beside(&self, name: String, state: &State, dest: &Side) -> Result<Side> {
        let Some(output) = self.output(&state.commit).filter(|output| output.volatile.is_some()) else {
            return self.side(name, state, None);
        };
        let texts = dest.files.iter().filter_map(Held::document).map(Document::source);
        let own = texts.map(|text| format!("---\n{text}\n")).collect::<String>().into_bytes();
        // Each value of the package that differs is in a place that may be volatile.
        let own = volatile(&own, &output.first);
        let first = std::str::from_utf8(&output.first).ok();
        let kept = first.zip(output.volatile.as_ref()).map(|(first, places)| places.kept(first, own.as_ref()).text);
        Side::of_file(name, kept.map_or_else(|| output.first.clone(), String::into_bytes))
    }

    /// The places of a release that have the volatile values of an older release.
    pub fn kept_places(&self, state: &State, older: &State) -> Vec<String> {
        self.kept(state, Some(older)).map_or_else(Vec::new, |kept| kept.places)
    }

    fn kept(&self, state: &State, older: Option<&State>) -> Option<Kept> {
        let output = self.output(&state.commit)?;
        let older = older.and_then(|older| self.output(&older.commit));
        let older = older.as_ref().and_then(|older| older.volatile.as_ref());
        Some(output.volatile.as_ref()?.kept(std::str::from_utf8(&output.first).ok()?, older))
    }

    fn output(&self, hash: &str) -> Option<Rc<Output>> {
        self.0.borrow().get(hash).cloned()
    }
}

impl Output {
    fn new(first: Vec<u8>, second: Vec<u8>) -> Self {
        let volatile = if first == second { None } else { volatile(&first, &second) };
        let hash = hash(volatile.as_ref().map_or(&first, |volatile| volatile.stable.as_bytes()));
        Self { first, second, volatile, hash }
    }

    /// Writes it into the cache. What is there stays, for its volatile values are those of the package.
    fn cache(&self) -> Result<()> {
        if Self::cached(&self.hash)?.is_some() {
            return Ok(());
        }
        let [first, second] = files(&self.hash)?;
        if self.first != self.second {
            cache::write(&second, &self.second)?;
        }
        cache::write(&first, &self.first)?;
        cache::grew();
        Ok(())
    }

    /// The output of the cache with a hash; `None` if it is not there, or not whole.
    fn cached(hash: &str) -> Result<Option<Self>> {
        let [first, second] = files(hash)?;
        let Ok(read) = fs::read(&first) else { return Ok(None) };
        let second = fs::read(second).unwrap_or_else(|_| read.clone());
        let output = Some(Self::new(read, second)).filter(|output| output.hash == hash);
        if output.is_some() {
            cache::touch(&first);
        }
        Ok(output)
    }
}

fn volatile(first: &[u8], second: &[u8]) -> Option<Volatile> {
    Volatile::of(std::str::from_utf8(first).ok()?, std::str::from_utf8(second).ok()?).ok()
}

/// The files of the cache with the two outputs of this hash. Without the second one, they are equal.
fn files(hash: &str) -> Result<[PathBuf; 2]> {
    let first = cache::outputs()?.join(hash);
    let second = cache::again(&first);
    Ok([first, second])
}
