//! A package on disk: its folder, its record, and whether it has changes that are not committed.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use crate::change::Change;
use crate::held::{Held, parse};
use crate::side::{Side, SidePart};
use anyhow::{Context, Result, anyhow, bail};
use krm_files::regular;
use krm_files::walk::{shown, there};
use krm_names::file_path::{self, RULES};
use krm_yaml::{Document, plain_or_quoted};

use crate::record::{Record, RecordDocument, Upstream, as_in_dest, with_paths, with_record, without_record};
use crate::selection::Selection;

/// The name of the file in which kpt records the upstream of a package.
pub const KPTFILE: &str = "Kptfile";

/// The folder of the package that a file or folder is in: the nearest one that records its upstream. The current folder is the empty path.
///
/// # Errors
/// A record cannot be read.
pub fn package_of(path: &Path) -> Result<Option<PathBuf>> {
    let absolute = std::path::absolute(path)?;
    for folder in absolute.ancestors().filter(|folder| folder.is_dir()) {
        if Package::open(folder)?.record.is_some() {
            let here = std::env::current_dir()?;
            return Ok(Some(folder.strip_prefix(&here).unwrap_or(folder).to_owned()));
        }
    }
    Ok(None)
}

/// A package on disk.
#[derive(Debug)]
pub struct Package {
    /// Its name, as the user typed it.
    pub name: String,
    /// Its folder, as the user typed it.
    pub path: PathBuf,
    /// Its folder, without symbolic links.
    pub root: PathBuf,
    /// What it records.
    pub record: Option<Record>,
    /// Which part of upstream it takes.
    pub selection: Selection,
    /// Where the record stands, if it has one.
    place: Option<RecordDocument>,
    kptfile: Option<String>,
    rules: Option<String>,
}

impl Package {
    /// Opens a package.
    ///
    /// # Errors
    /// It is no folder; or its record cannot be read.
    pub fn open(folder: &Path) -> Result<Self> {
        let name = shown(folder);
        there("PACKAGE", "the folder of a package", folder)?;
        let root = fs::canonicalize(folder).with_context(|| name.clone())?;
        if !root.is_dir() {
            bail!("`PACKAGE` \"{name}\": there must be the folder of a package, but a file is there; name its folder");
        }
        let text = |file: &str| text(&root, file).with_context(|| shown(&folder.join(file)));
        let [kptfile, rules] = [text(KPTFILE)?, text(RULES)?];
        let path = folder.to_owned();
        let (record, place, selection) = Default::default();
        let mut package = Self { name, path, root, record, selection, place, kptfile, rules };
        for (place, file, text) in
            [(RecordDocument::Kptfile, KPTFILE, &package.kptfile), (RecordDocument::Rules, RULES, &package.rules)]
        {
            let Some(text) = text else { continue };
            let file = shown(&folder.join(file));
            let document = parse(&file, text.clone().into_bytes())?;
            if place == RecordDocument::Rules {
                package.selection = Selection::read(&document, &file)?;
            }
            if package.record.is_none()
                && let Some(record) = Record::read(&document, place, &file)?
            {
                (package.record, package.place) = (Some(record), Some(place));
            }
        }
        Ok(package)
    }

    /// The place of a record.
    fn place(&self, record: &Record) -> RecordDocument {
        record.document(self.place.or_else(|| self.kptfile.as_ref().map(|_| RecordDocument::Kptfile)))
    }

    /// Prepares the sides of a merge: nothing of the record is merged, and the folders in `own`, which have an upstream of their own, take no
    /// part. The Kptfile of dest already has the new record.
    ///
    /// # Errors
    /// A Kptfile is not YAML; or a release writes into one.
    pub fn part(
        &self,
        record: &Record,
        original: &mut Side,
        updated: &mut Side,
        dest: &mut Side,
        own: &[String],
    ) -> Result<()> {
        [&mut *original, &mut *updated, &mut *dest].into_iter().for_each(|side| {
            side.leave_out_of_package(own);
            self.leave_out_values(side);
        });
        for side in [&mut *original, &mut *updated] {
            check_kptfiles(side)?;
            without_records(side, dest);
        }
        if let Some(text) = &self.kptfile {
            let record = Some(record).filter(|record| self.place(record) == RecordDocument::Kptfile);
            let text =
                record.map_or(Ok(text.clone()), |record| with_record(Some(text), RecordDocument::Kptfile, record))?;
            // A release that is one file has no Kptfile, so dest's has no part in the merge.
            if original.is_folder() && updated.is_folder() {
                let of = |side: &Side| as_in_dest(&text_at(side, KPTFILE)?, &text, record).ok();
                // What only dest has is the user's own. A Kptfile that upstream lacks, or that cannot be read, has no changes.
                let old = of(original).map_or_else(|| bare(&text, record), Ok)?;
                let new = of(updated).unwrap_or_else(|| old.clone());
                original.put(KPTFILE, old)?;
                updated.put(KPTFILE, new)?;
            }
            dest.put(KPTFILE, text)?;
        }
        Ok(())
    }

    /// Prepares a release and the package to be compared: nothing of the record is compared, nor what has an upstream of its own, nor what the
    /// package does not take of upstream or keeps as its own.
    ///
    /// # Errors
    /// A Kptfile is not YAML.
    pub fn part_of(&self, release: &mut Side, dest: &mut Side) -> Result<()> {
        let own = leave_out_own(dest);
        self.selection.part_of_release(release);
        self.selection.part_of_package(dest);
        release.leave_out_of_package(&own);
        for side in [&mut *release, &mut *dest] {
            self.leave_out_values(side);
            // Its record and its name are the package's own, and kpt writes both.
            side.files.retain(|held| held.path != KPTFILE);
        }
        Ok(())
    }

    /// Leaves out the values with which helm makes the releases, for they are the package's own.
    fn leave_out_values(&self, side: &mut Side) {
        let render = self.record.as_ref().and_then(|record| record.render.as_ref());
        side.files.retain(|held| !render.is_some_and(|render| render.reads(&held.path)));
    }

    /// Adds the record to the changes of a merge, and what the package takes of upstream from now on, if `paths` are given.
    ///
    /// # Errors
    /// The file of the record is not YAML.
    pub fn record_in(&self, changes: &mut Vec<Change>, record: &Record, paths: &[String]) -> Result<()> {
        if self.place == Some(RecordDocument::Kptfile) && self.place(record) == RecordDocument::Rules {
            bail!(
                "{}: a Kptfile can only record an upstream in git: remove `upstream` and `upstreamLock` from the Kptfile, and add `--from` with the release that the package has",
                self.name
            );
        }
        let in_file = |path: &str, e: anyhow::Error| anyhow!("{}: {e:#}", shown(&Path::new(&self.name).join(path)));
        let rules = match paths {
            [] => self.rules.clone(),
            paths => Some(with_paths(self.rules.as_deref(), paths).map_err(|e| in_file(RULES, e))?),
        };
        let (path, text, old) = match self.place(record) {
            RecordDocument::Kptfile => (KPTFILE, &self.kptfile, &self.kptfile),
            RecordDocument::Rules => (RULES, &rules, &self.rules),
        };
        let old = old.clone().map(String::into_bytes);
        let new = with_record(text.as_deref(), self.place(record), record).map_err(|e| in_file(path, e))?;
        if path != RULES && rules != self.rules {
            let [old, new] = [self.rules.clone(), rules].map(|text| text.map(String::into_bytes));
            changes.push(Change { path: RULES.to_owned(), old, new, executable: None });
        }
        match changes.iter_mut().find(|change| change.path == path) {
            Some(change) => {
                change.old = old;
                // Whatever the merge made of the file: the record is this one. Between markers, it is the same on all sides.
                let text = change.new.take().and_then(|new| String::from_utf8(new).ok());
                let recorded = text.as_deref().map(|text| with_record(Some(text), self.place(record), record));
                let recorded = recorded.and_then(Result::ok).or(text).unwrap_or(new);
                change.new = Some(recorded.into_bytes());
            }
            None => changes.push(Change { path: path.to_owned(), old, new: Some(new.into_bytes()), executable: None }),
        }
        changes.retain(|change| change.old != change.new || change.executable.is_some());
        changes.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(())
    }

    /// Whether nothing but the record of the package, and what it takes of upstream, differs in a file.
    pub fn changes_record_alone(change: &Change) -> bool {
        let bare = |text: &Option<Vec<u8>>| without_record(std::str::from_utf8(text.as_deref()?).ok()?).ok();
        change.path == RULES
            || change.path == KPTFILE && bare(&change.old).is_some_and(|old| bare(&change.new) == Some(old))
    }

    /// Whether nothing of a release is here yet. Files without resources may be what a command reads.
    pub fn is_bare(&self, dest: &Side) -> bool {
        let record = self.record.as_ref();
        let is_made = record.is_some_and(|it| it.render.is_some() || matches!(it.upstream, Upstream::Run { .. }));
        let is_read = |held: &Held| is_made && held.document().is_none();
        dest.files.iter().all(|held| [KPTFILE, RULES].contains(&held.path.as_str()) || is_read(held))
    }
}

/// The text of a file of a package; `None` if there is none.
fn text(root: &Path, file: &str) -> Result<Option<String>> {
    let file = root.join(file);
    match fs::symlink_metadata(&file) {
        Err(e) if e.kind() == ErrorKind::NotFound => Ok(None),
        _ => Ok(Some(fs::read_to_string(regular::within(root, &file)?)?)),
    }
}

/// The name of the file at a path.
fn name_at(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// The text of a file of a side; `None` if it has none.
fn text_at(side: &Side, path: &str) -> Option<String> {
    String::from_utf8(side.at(path)?.bytes().ok()?.into_owned()).ok()
}

/// A Kptfile as kpt makes it for a release that has none: the record alone.
fn bare(dest: &str, record: Option<&Record>) -> Result<String> {
    let document = Document::parse(dest.to_owned())?;
    let root = document.roots().next();
    let field = |name| {
        root.and_then(|root| root.get(name))
            .map_or(String::new(), |value| format!("{name}: {}\n", plain_or_quoted(value.string())))
    };
    as_in_dest(&[field("apiVersion"), field("kind"), "metadata: {}\n".to_owned()].concat(), dest, record)
}

/// Takes the records out of the Kptfiles of a release. A package that dest does not have yet keeps its own.
fn without_records(side: &mut Side, dest: &Side) {
    // Where letter case does not count, another spelling is the same file.
    let is_new = |path: &str| name_at(path) == KPTFILE && path != KPTFILE && dest.at(path).is_none();
    let is_taken = |path: &str| file_path::is_kptfile(name_at(path)) && !is_new(path);
    let paths: Vec<String> =
        side.files.iter().filter(|held| is_taken(&held.path)).map(|held| held.path.clone()).collect();
    for path in paths {
        let bare = text_at(side, &path).and_then(|text| without_record(&text).ok());
        // What nobody can read, or what still has a record, does not come.
        if bare.is_none_or(|text| side.put(&path, text).is_err()) {
            side.files.retain(|held| held.path != path);
        }
    }
}

/// Checks that a release has a Kptfile only as a file of this name. Elsewhere, it would merge into the one of the package, by its identity or
/// by its path annotation.
fn check_kptfiles(side: &Side) -> Result<()> {
    for (file, resource) in side.resources(SidePart::Role) {
        let held = &side.files[file];
        let path = resource.path.unwrap_or_default();
        let is_meant = resource.node().get("kind").is_some_and(|kind| kind.is_called(KPTFILE));
        if (is_meant || file_path::is_kptfile(name_at(path))) && !file_path::is_kptfile(name_at(&held.path)) {
            bail!(
                "{}:{}: a release must not write a Kptfile from elsewhere, because it holds the record of a package. Make it a file of this name, or remove it",
                held.name,
                resource.node().position()
            );
        }
    }
    Ok(())
}

/// Leaves the packages out of a package that lie in it and have an upstream of their own. Returns their folders.
pub fn leave_out_own(dest: &mut Side) -> Vec<String> {
    let own = own_upstreams(dest);
    dest.leave_out_of_package(&own);
    own
}

/// The folders in a package that have an upstream of their own.
fn own_upstreams(dest: &Side) -> Vec<String> {
    let mut found = Vec::new();
    for held in &dest.files {
        let Some((folder, file)) = held.path.rsplit_once('/') else { continue };
        let place = match file {
            KPTFILE => RecordDocument::Kptfile,
            RULES => RecordDocument::Rules,
            _ => continue,
        };
        let document = held.bytes().ok().and_then(|bytes| parse(&held.name, bytes.into_owned()).ok());
        if document.is_some_and(|document| place.has_record(&document)) {
            found.push(folder.to_owned());
        }
    }
    found
}

/// The packages in a release that have an upstream of their own, and that dest gets with it.
pub fn new_packages(updated: &Side, dest: &Side) -> Vec<String> {
    own_upstreams(updated).into_iter().filter(|folder| dest.at(&format!("{folder}/{KPTFILE}")).is_none()).collect()
}
