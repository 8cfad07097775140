//! Writes files so that each is old or new at every moment, and writes all of them or none.
//!
//! Each new text goes into a temporary file next to the file that it replaces, and is synced. Once all are written, a journal says what
//! follows: they are renamed over the old files. At last, the files to delete are renamed to temporary names. A failure before the first
//! rename leaves no traces; a later failure is undone. The run obeys a request to end until the first rename, and also leaves no traces then.
//! Renaming takes almost no time, so it is finished.
//!
//! A run may be killed at any moment, and the machine may lose its power. Without a journal, all files are old, and the next run that writes
//! there removes the temporary files. With one, the next run finishes what is left. What is undone has a journal, too. Each step that others
//! build upon lasts before they begin: texts and names before the journal, the journal before the first rename, all renames before the journal
//! goes. One file alone needs none, and neither does a new folder, which gets its name at last.
//!
//! A run locks only the folder of the package, by a file in it that goes with the run. Every run that writes or cleans anywhere below checks
//! this lock. A lock that another program has on a folder is none.
//!
//! The folders of all files are entered from the folder of the package, never through a symbolic link, and held open until the end. If
//! someone moves a folder away meanwhile, the run fails, but it still removes its temporary files there. If there are more folders than the
//! process may hold open, each of the others is entered again for each call. The run then also writes nothing elsewhere, but its temporary
//! files stay in a folder that was moved.

mod journal;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::fs::{self, File, TryLockError};
use std::io::{self, ErrorKind, Read};
use std::path::{Component, Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Error, Result, anyhow, bail};
use krm_names::file_path::{self, JOURNAL, LOCK, RULES};

use crate::folder::root::{FolderRoot, parts};
use crate::folder::{Folder, fill, most_open, sync};
use crate::walk::{Tree, is_leftover, shown};
use crate::{cache, cores, made, owner};
pub use journal::{Ended, Finished, Step, hash};
use journal::{Entry, Journal};

/// How many temporary files are written at the same time at most, on all cores. A request to end waits for them.
const BATCH: usize = 16;

/// What a run has open beside folders and temporary files: its streams, its root, the lock, and what one step opens; with some room.
const BESIDE: usize = 16;

/// The replacement of one file.
#[derive(Debug)]
pub struct Replacement<'r> {
    /// Its path.
    pub file: PathBuf,
    /// The bytes that were read from it; `None` if it did not exist.
    pub old: Option<Cow<'r, [u8]>>,
    /// The bytes to write; `None` to delete it.
    pub new: Option<Cow<'r, [u8]>>,
    /// Whether anyone may execute it; `None` if that stays as it is.
    pub executable: Option<bool>,
}

/// What was done about a run that was killed while it wrote.
#[derive(Clone, Debug)]
pub struct Repaired {
    /// Its folder, as the user named it.
    pub folder: PathBuf,
    /// How it ended, and which files changed.
    pub finished: Finished,
}

/// The folders in which a run of this user was killed while it wrote, so that [`repair`] has something to finish: a folder, those below it and
/// those above it. Nothing is changed.
///
/// # Errors
/// The folder cannot be read.
pub fn unfinished(path: &Path) -> Result<Vec<PathBuf>> {
    let Ok(root) = fs::canonicalize(path) else { return Ok(Vec::new()) };
    let leftovers = if root.is_dir() { Tree::read(&root)?.leftovers } else { Vec::new() };
    let folders = journals(&root, &leftovers).into_iter().filter(|folder| taken(folder, None).is_none());
    Ok(folders.filter(|folder| journal::is_in(folder)).collect())
}

/// Checks leftovers of killed runs in a folder before they are removed: fails if git tracks one, so that it is none.
pub type Check = fn(&Path, &[PathBuf]) -> Result<()>;

/// Makes a file or a folder whole, before it is read to be written: finishes what killed runs left there, below it and above it, and removes
/// their temporary files. A run that is still at work is left out. What does not exist is whole.
///
/// # Errors
/// A file is neither what it was before such a run nor what it should become; or it cannot be changed; or `check` fails.
pub fn repair(path: &Path, check: Check) -> Result<Vec<Repaired>> {
    match fs::canonicalize(path) {
        Ok(root) if root.is_dir() => {
            let tree = Tree::read(&root)?;
            check(&root, &tree.leftovers)?;
            repaired(path, &root, &tree.leftovers)
        }
        Ok(file) => repair_beside(file.parent().context("it must be a file")?, check),
        Err(_) => Ok(Vec::new()),
    }
}

/// Does what [`repair`] does, for the files of a folder and not for what lies in folders below it.
///
/// # Errors
/// The errors of [`repair`].
pub fn repair_beside(folder: &Path, check: Check) -> Result<Vec<Repaired>> {
    let leftovers = leftovers_in(folder);
    check(folder, &leftovers)?;
    repaired(folder, folder, &leftovers)
}

fn repaired(name: &Path, root: &Path, leftovers: &[PathBuf]) -> Result<Vec<Repaired>> {
    let mut repaired = Vec::new();
    for folder in journals(root, leftovers) {
        let inside = FolderRoot::open(&folder)?;
        // Another run may be at work.
        let Ok(_lock) = lock(inside.path(), inside.folder().again()?) else { continue };
        if let Some(finished) = journal::finish(&inside)? {
            repaired.push(Repaired { folder: if folder == root { name.to_owned() } else { folder }, finished });
        }
    }
    clean(root, leftovers)?;
    Ok(repaired)
}

/// The folders with a journal among the leftovers of a folder, and above it. What looks like a journal there counts, too, for the user must
/// hear of it.
fn journals(root: &Path, leftovers: &[PathBuf]) -> BTreeSet<PathBuf> {
    let below = leftovers.iter().filter(|left| is_journal(left)).filter_map(|left| left.parent());
    below.filter(|folder| journal::has_file(folder)).map(Path::to_owned).chain(journal::around(root)).collect()
}

fn is_journal(left: &Path) -> bool {
    left.file_name().is_some_and(|name| name == JOURNAL)
}

fn is_lock(left: &Path) -> bool {
    left.file_name().is_some_and(|name| name == LOCK)
}

/// Removes the temporary files and folders of killed runs below a folder. Those of a run that is still at work, or that must be finished, are
/// left out.
pub fn clean(root: &Path, leftovers: &[PathBuf]) -> Result<()> {
    if leftovers.is_empty() {
        return Ok(());
    }
    let root = FolderRoot::open(root)?;
    let folders: BTreeSet<&Path> = leftovers.iter().filter_map(|l| l.parent()).collect();
    for folder in folders {
        // A lock would make others wait who write there.
        let left: Vec<&PathBuf> = leftovers.iter().filter(|l| l.parent() == Some(folder) && is_to_remove(l)).collect();
        if left.is_empty() || taken(folder, None).is_some() || !journal::around(folder).is_empty() {
            continue;
        }
        // It goes with the files of its run.
        let Some(inside) = root.enter(folder)? else { continue };
        let Ok(_lock) = lock(folder, inside) else { continue };
        // A lock that a killed run left goes with this one.
        for left in left.into_iter().filter(|left| !is_lock(left)) {
            match maker(left) {
                None => remove(&root, left),
                Some(_) => fs::remove_dir_all(left).map_err(Error::from),
            }
            .with_context(|| shown(left))?;
        }
    }
    Ok(())
}

/// Whether a leftover may go: it is no journal, and not the folder of a run that is still at work.
fn is_to_remove(left: &Path) -> bool {
    // The folder of a run is not locked in its first moment.
    let is_at_work = |process| is_locked(left) || may_run(process);
    !is_journal(left) && !maker(left).is_some_and(is_at_work)
}

/// The process that makes a new folder in this one; `None` if it is a file.
fn maker(left: &Path) -> Option<&str> {
    file_path::maker(left.file_name()?.to_str()?)
}

/// Whether a process may still run. Only Linux tells it without a call that is unsafe.
fn may_run(process: &str) -> bool {
    let all = Path::new("/proc");
    !all.join("self").exists() || all.join(process).exists()
}

/// Removes a file. It may have gone with the journal of its run.
fn remove(root: &FolderRoot, file: &Path) -> Result<()> {
    let (path, name) = parts(file)?;
    match root.enter(path)?.map(|folder| folder.remove(name)) {
        Some(Err(e)) if e.kind() != ErrorKind::NotFound => Err(e.into()),
        _ => Ok(()),
    }
}

/// Enters a folder that must exist.
fn entered(root: &FolderRoot, path: &Path) -> Result<Folder> {
    root.enter(path)?.ok_or_else(|| Error::from(io::Error::from(ErrorKind::NotFound)))
}

/// The temporary files and folders in a folder.
pub fn leftovers_in(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
    let is_left = |entry: &fs::DirEntry| {
        entry.file_type().is_ok_and(|kind| entry.file_name().to_str().is_some_and(|name| is_leftover(name, kind)))
    };
    entries.filter(is_left).map(|entry| entry.path()).collect()
}

/// How often to try a lock, with two milliseconds in between. Another process may hold it for a moment, only to check it, or to clear away what
/// a killed run left. On a busy disk, such a moment may take a second.
const TRIES: usize = 1000;

/// The lock of a run on a folder. It is a file, because another program may lock a folder for reasons of its own.
struct Lock {
    folder: Folder,
    _file: File,
}

impl Drop for Lock {
    fn drop(&mut self) {
        // The file goes while it is locked, so that nobody takes the next one away.
        let _ = self.folder.remove(OsStr::new(LOCK));
    }
}

/// Locks a folder for as long as the returned lock lives. In a folder that cannot be locked, nothing is.
///
/// # Errors
/// Another run has locked the folder, or a folder that contains it.
fn lock(path: &Path, folder: Folder) -> Result<Option<Lock>> {
    let mut other = path.to_owned();
    for _ in 0..TRIES {
        if let Some(above) = path.parent().and_then(|above| taken(above, None)) {
            other = above;
        } else {
            let Ok(file) = made::held_in(&folder, OsStr::new(LOCK)) else { return Ok(None) };
            match file.try_lock() {
                Ok(()) if is_there(&file) => return Ok(Some(Lock { folder, _file: file })),
                // The run that had it took it away meanwhile.
                Ok(()) => continue,
                Err(TryLockError::Error(_)) => return Ok(None),
                Err(TryLockError::WouldBlock) => path.clone_into(&mut other),
            }
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    Err(other_run(&other))
}

fn other_run(folder: &Path) -> Error {
    anyhow!("another run is writing in {}: run this again when it has ended", shown(folder))
}

/// The folder that another run has locked: this one, or one that contains it. `own` is the folder that this run has locked.
fn taken(folder: &Path, own: Option<&Path>) -> Option<PathBuf> {
    let folder = fs::canonicalize(folder).ok()?;
    folder.ancestors().find(|above| Some(*above) != own && is_locked(above)).map(Path::to_owned)
}

/// Whether a run of this user has locked a folder.
fn is_locked(folder: &Path) -> bool {
    let name = OsStr::new(LOCK);
    let lock = Folder::open(folder).and_then(|folder| folder.read(name));
    let is_own = |lock: &File| lock.metadata().is_ok_and(|found| found.is_file() && owner::is_own(&found));
    lock.is_ok_and(|lock| is_own(&lock) && matches!(lock.try_lock_shared(), Err(TryLockError::WouldBlock)))
}

/// Whether a file that is open still has a name.
#[cfg(unix)]
fn is_there(file: &File) -> bool {
    use std::os::unix::fs::MetadataExt;
    file.metadata().is_ok_and(|found| found.nlink() > 0)
}

#[cfg(not(unix))]
fn is_there(_: &File) -> bool {
    true
}

/// Carries out all replacements. `root` must contain every file. `go_on` fails if the run is asked to end.
///
/// # Errors
/// A file cannot be written, or changed since it was read. The error names the file. Everything is as before, unless the error says
/// otherwise. If `go_on` fails, its error is returned, and everything is as before.
pub fn write(root: &Path, replacements: &[Replacement<'_>], go_on: impl Fn() -> Result<()>) -> Result<()> {
    let Some((root, first)) = checked(root, replacements)? else { return Ok(()) };
    let lock =
        told(root.folder().again().map_err(Error::from).and_then(|folder| lock(root.path(), folder)), &first.file)?;
    let mut run = DiskRun::new(root, lock);
    for batch in replacements.chunks(batch()) {
        let mut staged = Vec::with_capacity(batch.len());
        for replacement in batch {
            go_on()?;
            staged.push((replacement, told(run.stage(replacement), &replacement.file)?));
        }
        let filled = cores::map(&staged, |(replacement, out)| match (out, &replacement.new) {
            (Some(out), Some(new)) => told(fill(out, new), &replacement.file),
            _ => Ok(()),
        });
        filled.into_iter().collect::<Result<()>>()?;
    }
    go_on()?;
    told(run.note(), &first.file)?;
    if let Err((at, e)) = run.commit() {
        let left = run.undo();
        let Some(first) = left.first() else { return told(Err(e), &at) };
        let more = if left.len() > 1 { format!(" and {} more", left.len() - 1) } else { String::new() };
        return Err(e).with_context(|| format!("{}, and {}{more} could not be put back", shown(&at), shown(first)));
    }
    run.done();
    Ok(())
}

/// The deepest folder that contains all files, to write them as one run.
pub fn folder_of(replacements: &[Replacement<'_>]) -> PathBuf {
    let folders: BTreeSet<&Path> = replacements.iter().filter_map(|one| one.file.parent()).collect();
    let Some(first) = folders.first() else { return PathBuf::new() };
    let holds_all = |folder: &&Path| folder.is_dir() && folders.iter().all(|other| other.starts_with(folder));
    first.ancestors().find(holds_all).unwrap_or(first).to_owned()
}

/// How many temporary files are written at the same time: fewer if the process may open only a few.
fn batch() -> usize {
    BATCH.min(most_open() / 4).max(1)
}

/// How many folders a run holds open at most: half of what the process may open beside the rest.
fn most_held() -> usize {
    most_open().saturating_sub(BESIDE) / 2
}

/// Checks whether all replacements could be carried out, and writes nothing.
///
/// # Errors
/// The errors of [`write()`], except those that only writing shows.
pub fn look(root: &Path, replacements: &[Replacement<'_>]) -> Result<()> {
    checked(root, replacements).map(drop)
}

/// The folder of the package and the first replacement, if all replacements can be carried out there; `None` without replacements.
fn checked<'r>(root: &Path, replacements: &'r [Replacement<'r>]) -> Result<Option<(FolderRoot, &'r Replacement<'r>)>> {
    let Some(first) = replacements.first() else { return Ok(None) };
    let root = told(FolderRoot::open(root), &first.file)?;
    for replacement in replacements {
        told(check(&root, replacement), &replacement.file)?;
    }
    Ok(Some((root, first)))
}

fn told<T>(result: Result<T>, file: &Path) -> Result<T> {
    result.with_context(|| format!("nothing is written: {}", shown(file)))
}

/// Checks that a file still has the content that was read. Returns its folder, or `None` if the folder does not exist yet.
fn check(root: &FolderRoot, replacement: &Replacement<'_>) -> Result<Option<Folder>> {
    let (path, name) = parts(&replacement.file)?;
    let Some(old) = &replacement.old else {
        check_name(root, &replacement.file)?;
        let folder = root.enter(path)?;
        if folder.as_ref().is_some_and(|folder| folder.has(name)) {
            bail!("the file is new in the package, but there is one already, which is no part of the package");
        }
        return Ok(folder);
    };
    let folder = entered(root, path)?;
    if folder.is_link(name) {
        bail!("it must be a file");
    }
    let mut file = folder.read(name)?;
    let found = file.metadata()?;
    if !found.is_file() {
        bail!("it must be a file");
    }
    if found.permissions().readonly() {
        bail!("the file must be writable, but it is read-only");
    }
    folder.write(name).context("the file must be writable")?;
    let mut now = Vec::new();
    file.read_to_end(&mut now)?;
    if now != **old {
        bail!("the file changed while it was merged");
    }
    Ok(Some(folder))
}

/// Checks that a new file has no name that this program takes for one of its own.
fn check_name(root: &FolderRoot, file: &Path) -> Result<()> {
    let inside = file.strip_prefix(root.path()).unwrap_or(file);
    let is_own = |part: Component<'_>| part.as_os_str().to_str().is_some_and(file_path::is_of_a_run);
    if inside.components().any(is_own) {
        bail!(
            "its path must {}. Give the file another name on its side, or exclude it there with `.krmignore`",
            file_path::PathFault::Temporary
        );
    }
    Ok(())
}

/// The work of a run so far.
struct DiskRun<'r> {
    /// The folder of the package.
    root: FolderRoot,
    /// Its path without symbolic links.
    locked: Option<PathBuf>,
    /// The number in the names of its temporary files.
    number: u64,
    /// The lock on it.
    _lock: Option<Lock>,
    /// The folders that contain a file of the run. The run holds as many open as the system allows, so that it still finds them if they
    /// move.
    touched: BTreeMap<PathBuf, Option<Folder>>,
    /// The folders that the run made.
    folders: Vec<PathBuf>,
    temporary: Vec<PathBuf>,
    staged: Vec<Staged<'r>>,
    committed: Vec<Staged<'r>>,
    /// Whether the disk says what the run does.
    noted: Noted,
}

/// Whether there is a journal of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Noted {
    Yes,
    No,
}

/// A replacement that waits to be carried out.
struct Staged<'r> {
    of: &'r Replacement<'r>,
    /// The name of the temporary file. It has the new content; for a file to delete, it is the name to which that file is renamed.
    temporary: OsString,
    /// The metadata of the old file.
    was: Option<fs::Metadata>,
}

impl<'r> DiskRun<'r> {
    fn new(root: FolderRoot, lock: Option<Lock>) -> Self {
        Self {
            locked: fs::canonicalize(root.path()).ok(),
            number: made::random(),
            root,
            _lock: lock,
            touched: BTreeMap::new(),
            folders: Vec::new(),
            temporary: Vec::new(),
            staged: Vec::new(),
            committed: Vec::new(),
            noted: Noted::No,
        }
    }

    /// Makes a temporary file next to a file, for its new content. For a file to delete, only chooses the temporary name.
    fn stage(&mut self, replacement: &'r Replacement<'r>) -> Result<Option<File>> {
        let (path, name) = parts(&replacement.file)?;
        let folder = match self.held(path) {
            Some(folder) => folder?,
            None => self.root.make(path, &mut self.folders)?,
        };
        if !self.touched.contains_key(path) {
            if let Some(other) = taken(path, self.locked.as_deref()) {
                return Err(other_run(&other));
            }
            if !self.is_new_folder()
                && let Some(above) = journal::around(path).first()
            {
                bail!(
                    "a run that was killed must be finished first, as \"{}\" says: run this again",
                    shown(&above.join(JOURNAL))
                );
            }
            let held = if self.touched.len() < most_held() { Some(folder.again()?) } else { None };
            self.touched.insert(path.to_owned(), held);
        }
        let temporary = OsString::from(file_path::temporary(self.number, self.staged.len()));
        let was = replacement.old.as_ref().map(|_| folder.read(name)?.metadata()).transpose()?;
        let mut new = None;
        if replacement.new.is_some() {
            let out = create(&folder, &temporary, was.as_ref())?;
            self.temporary.push(path.join(&temporary));
            set_executable(&out, replacement)?;
            new = Some(out);
        }
        self.staged.push(Staged { of: replacement, temporary, was });
        Ok(new)
    }

    /// The folder at a path, if the run holds it open.
    fn held(&self, path: &Path) -> Option<Result<Folder>> {
        Some(self.touched.get(path)?.as_ref()?.again().map_err(Error::from))
    }

    /// A folder that the run has entered before. A folder that the run holds open may have moved to another path.
    fn folder(&self, path: &Path) -> Result<Folder> {
        self.held(path).unwrap_or_else(|| entered(&self.root, path))
    }

    /// Puts the staged replacements in their order, deletions after the others, and records of releases last. Writes the journal, if a kill
    /// between two of them would leave a half of them.
    fn note(&mut self) -> Result<()> {
        // Who looks at the files of a killed run must not find a record of a release that they do not have yet.
        let turn = |staged: &Staged<'_>| match staged.of.file.file_name().and_then(OsStr::to_str) {
            Some("Kptfile" | RULES) => 2,
            _ => u8::from(staged.of.new.is_none()),
        };
        self.staged.sort_by_key(turn);
        if self.staged.len() < 2 || self.is_new_folder() {
            return Ok(());
        }
        // The journal must not last without the files that it names.
        self.folders.iter().filter_map(|folder| folder.parent()).for_each(|above| self.sync(above));
        self.touched.keys().for_each(|folder| self.sync(folder));
        let journal = self.staged.iter().map(|staged| self.entry(staged)).collect::<Result<_>>()?;
        self.write_journal(Journal::new(journal, Ended::Finished))
    }

    /// Whether the run makes a folder that has another name until it is whole.
    fn is_new_folder(&self) -> bool {
        maker(self.root.path()).is_some()
    }

    fn write_journal(&mut self, journal: Journal) -> Result<()> {
        // Where no key can be kept, a kill leaves each file old or new.
        let Ok(key) = cache::key_or_new() else { return Ok(()) };
        self.noted = Noted::Yes;
        let written = journal.write(&self.root, key);
        if written.is_err() {
            self.remove_journal();
        }
        written
    }

    fn remove_journal(&mut self) {
        if self.noted == Noted::Yes {
            let _ = journal::remove(&self.root);
            self.noted = Noted::No;
        }
    }

    fn entry(&self, staged: &Staged<'_>) -> Result<Entry> {
        let Replacement { file, old, new, .. } = staged.of;
        Entry::new(self.root.path(), file, &staged.temporary, [old.as_deref(), new.as_deref()])
    }

    fn sync(&self, folder: &Path) {
        if let Ok(folder) = self.folder(folder) {
            sync(&folder);
        }
    }

    /// Carries out the staged replacements. Stops at the first failure, and returns it with the file. Each file is checked again, because
    /// during staging an editor may have written the file, or someone may have replaced its folder.
    fn commit(&mut self) -> std::result::Result<(), (PathBuf, Error)> {
        for staged in std::mem::take(&mut self.staged) {
            let file = &staged.of.file;
            self.carry_out(&staged).map_err(|e| (file.clone(), e))?;
            self.committed.push(staged);
        }
        Ok(())
    }

    fn carry_out(&self, staged: &Staged<'_>) -> Result<()> {
        let ((_, name), temporary) = (parts(&staged.of.file)?, &*staged.temporary);
        let folder = check(&self.root, staged.of)?.ok_or(io::Error::from(ErrorKind::NotFound))?;
        let (from, to) = if staged.of.new.is_some() { (temporary, name) } else { (name, temporary) };
        Ok(folder.rename(from, to)?)
    }

    /// Restores the old files, and returns the files that it could not restore.
    fn undo(&mut self) -> Vec<PathBuf> {
        let (mut back, mut left) = (Vec::new(), Vec::new());
        for staged in std::mem::take(&mut self.committed).into_iter().rev() {
            match self.way_back(&staged) {
                Ok(entry) => back.push((staged, entry)),
                Err(_) => left.push(staged.of.file.clone()),
            }
        }
        if self.noted == Noted::Yes {
            // Without a journal, it is undone all the same.
            let entries = back.iter().map(|(_, entry)| entry.clone()).collect();
            let _ = self.write_journal(Journal::new(entries, Ended::TakenBack));
        }
        let put_back = |staged: &Staged<'_>, entry: &Entry| entry.carry_out(&self.folder(parts(&staged.of.file)?.0)?);
        let failed = back.iter().filter(|(staged, entry)| put_back(staged, entry).is_err());
        left.extend(failed.map(|(staged, _)| staged.of.file.clone()));
        self.remove_journal();
        left
    }

    /// The way back for a file. Its old content, with all its metadata, has the temporary name, or gets it now.
    fn way_back(&mut self, staged: &Staged<'_>) -> Result<Entry> {
        if let (Some(old), Some(_)) = (&staged.of.old, &staged.of.new) {
            let (path, _) = parts(&staged.of.file)?;
            // It is removed with the temporary files if it is not needed.
            let out = create(&self.folder(path)?, &staged.temporary, staged.was.as_ref())?;
            fill(&out, old)?;
            if let Some(was) = &staged.was {
                out.set_permissions(was.permissions())?;
            }
        }
        Ok(self.entry(staged)?.reversed())
    }

    /// Syncs the folders, so that the new names last, and removes deleted files and folders that are now empty.
    fn done(&mut self) {
        self.touched.keys().for_each(|folder| self.sync(folder));
        for staged in self.committed.iter().filter(|staged| staged.of.new.is_none()) {
            let file = &staged.of.file;
            // If this fails, the next run removes the temporary file.
            let _ = self.remove(&file.with_file_name(&staged.temporary));
            file.ancestors().skip(1).for_each(|folder| self.root.remove_folder(folder));
        }
        self.remove_journal();
        self.temporary.clear();
        self.folders.clear();
    }

    /// Removes a file that the run made.
    fn remove(&self, file: &Path) -> Result<()> {
        let (path, name) = parts(file)?;
        Ok(self.folder(path)?.remove(name)?)
    }
}

impl Drop for DiskRun<'_> {
    fn drop(&mut self) {
        for file in &self.temporary {
            let _ = self.remove(file);
        }
        self.folders.iter().rev().for_each(|folder| self.root.remove_folder(folder));
    }
}

/// Makes a temporary file with the permissions and the owner of the file that it will replace. They are set before the content is written,
/// because the file may hold a Secret.
fn create(folder: &Folder, temporary: &OsString, was: Option<&fs::Metadata>) -> Result<File> {
    let Some(was) = was else { return Ok(folder.create(temporary)?) };
    let out = folder.create_private(temporary)?;
    own(&out, was);
    if let Err(e) = out.set_permissions(permissions(was)) {
        let _ = folder.remove(temporary);
        return Err(e.into());
    }
    Ok(out)
}

/// Gives a file the owner and group of another file, or else only its group, if this user may.
#[cfg(unix)]
fn own(file: &File, old: &fs::Metadata) {
    use std::os::unix::fs::{MetadataExt, fchown};
    if fchown(file, Some(old.uid()), Some(old.gid())).is_err() {
        let _ = fchown(file, None, Some(old.gid()));
    }
}

#[cfg(not(unix))]
fn own(_: &File, _: &fs::Metadata) {}

/// The permissions for the new content of a file. The setuid, setgid and sticky bits are left out, as the kernel does at a write, because
/// they were granted to the old content.
#[cfg(unix)]
fn permissions(old: &fs::Metadata) -> fs::Permissions {
    use std::os::unix::fs::PermissionsExt;
    fs::Permissions::from_mode(old.permissions().mode() & 0o777)
}

#[cfg(not(unix))]
fn permissions(old: &fs::Metadata) -> fs::Permissions {
    old.permissions()
}

/// Makes a file executable for everyone who may read it, or for nobody, as the replacement says.
#[cfg(unix)]
fn set_executable(file: &File, replacement: &Replacement<'_>) -> Result<()> {
    use std::os::unix::fs::PermissionsExt;
    let Some(executable) = replacement.executable else { return Ok(()) };
    let mode = file.metadata()?.permissions().mode();
    let bits = if executable { mode | ((mode & 0o444) >> 2) } else { mode & !0o111 };
    file.set_permissions(fs::Permissions::from_mode(bits))?;
    Ok(())
}

#[cfg(not(unix))]
fn set_executable(_: &File, _: &Replacement<'_>) -> Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests;
