//! Writing files so that each is old or new at every moment, and all of them or none are.
//!
//! Each new text goes into a temporary file next to the file that it replaces, and is synced. When all are written, they are renamed over
//! the old files; last, deleted files are renamed to temporary ones. A failure before the first rename leaves no traces; a later failure is
//! undone. A request to end the run is honoured until the first rename and also leaves no traces; renaming takes almost no time, so it is
//! finished. A run that is killed leaves whole files and, at worst, temporary ones, which the next run removes. A run locks only the folder
//! of the package; whoever writes or cleans anywhere below asks for that lock.

use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Error, Result, anyhow, bail};
use krm_merge::file_path;

use crate::walk::shown;

/// The replacement of one file.
#[derive(Debug)]
pub struct Replacement {
    /// Its path.
    pub file: PathBuf,
    /// The bytes that were read from it; `None` if it did not exist.
    pub old: Option<Vec<u8>>,
    /// The bytes to write; `None` to delete it.
    pub new: Option<Vec<u8>>,
    /// The file whose executable bit this one gets; `None` if the bit stays.
    pub like: Option<PathBuf>,
}

/// Removes what killed runs left, unless another run is still at work there.
pub fn clean(leftovers: &[PathBuf]) -> Result<()> {
    let folders: BTreeSet<&Path> = leftovers.iter().filter_map(|l| l.parent()).collect();
    for folder in folders {
        if is_taken(folder, None) {
            continue;
        }
        for file in leftovers.iter().filter(|l| l.parent() == Some(folder)) {
            fs::remove_file(file).with_context(|| shown(file))?;
        }
    }
    Ok(())
}

/// The temporary files of a folder.
pub fn leftovers_in(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
    entries.filter(|e| e.file_name().to_str().is_some_and(file_path::is_temporary)).map(|e| e.path()).collect()
}

/// How often to try a lock that another process may hold only for a moment, to check it.
const TRIES: usize = 20;

/// Locks a folder for as long as the returned file lives. On a file system without locks, nothing is locked.
///
/// # Errors
/// Another run has locked it, or one of the folders that contain it.
fn lock(folder: &Path) -> Result<Option<File>> {
    let other = || anyhow!("another run is writing in this folder");
    let above = std::path::absolute(folder)?.parent().map(Path::to_owned);
    if above.is_some_and(|above| is_taken(&above, None)) {
        return Err(other());
    }
    let Ok(file) = File::open(folder) else { return Ok(None) };
    for _ in 0..TRIES {
        match file.try_lock() {
            Ok(()) => return Ok(Some(file)),
            Err(TryLockError::Error(_)) => return Ok(None),
            // A process that only checks the lock releases it at once.
            Err(TryLockError::WouldBlock) => std::thread::sleep(Duration::from_millis(2)),
        }
    }
    Err(other())
}

/// Whether another run has locked a folder, or one that contains it; `own` is the one that this run has locked.
fn is_taken(folder: &Path, own: Option<&Path>) -> bool {
    let is_locked = |folder: &Path| {
        File::open(folder).is_ok_and(|file| matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)))
    };
    std::path::absolute(folder).is_ok_and(|folder| folder.ancestors().any(|f| Some(f) != own && is_locked(f)))
}

/// Carries out all replacements, below a folder that must hold every file; `go_on` fails if someone wants the run to end.
///
/// # Errors
/// A file that cannot be written, or that changed since it was read. The error has its name; everything is as before, unless it says
/// otherwise. An error of `go_on`, with everything as before.
pub fn write(root: &Path, replacements: &[Replacement], go_on: impl Fn() -> Result<()>) -> Result<()> {
    look(root, replacements)?;
    let Some(first) = replacements.first() else { return Ok(()) };
    let mut run = Run::default();
    run.lock = told(lock(root), &first.file)?;
    run.root = std::path::absolute(root)?;
    for replacement in replacements {
        go_on()?;
        told(run.stage(replacement), &replacement.file)?;
    }
    go_on()?;
    if let Err((at, e)) = run.commit(root) {
        let left = run.undo();
        let Some(first) = left.first() else { return told(Err(e), &at) };
        let more = if left.len() > 1 { format!(" and {} more", left.len() - 1) } else { String::new() };
        return Err(e).with_context(|| format!("{}, and {}{more} could not be put back", shown(&at), shown(first)));
    }
    run.done(root);
    Ok(())
}

/// Checks whether all replacements could be carried out, and writes nothing.
///
/// # Errors
/// As [`write`], except for what only writing shows.
pub fn look(root: &Path, replacements: &[Replacement]) -> Result<()> {
    replacements.iter().try_for_each(|replacement| told(check(root, replacement), &replacement.file))
}

fn told<T>(result: Result<T>, file: &Path) -> Result<T> {
    result.with_context(|| format!("nothing is written: {}", shown(file)))
}

fn check(root: &Path, replacement: &Replacement) -> Result<()> {
    let file = &replacement.file;
    let folders = file.ancestors().skip(1).take_while(|folder| folder.starts_with(root) && *folder != root);
    for folder in folders {
        match fs::symlink_metadata(folder) {
            Ok(found) if found.is_symlink() => {
                bail!("the file must lie in the folder, but {} is a symbolic link", shown(folder))
            }
            Ok(found) if !found.is_dir() => bail!("{} must be a folder", shown(folder)),
            _ => {}
        }
    }
    if file.parent().is_none_or(|folder| !folder.starts_with(root)) {
        bail!("the file must lie in {}", shown(root));
    }
    let found = match fs::symlink_metadata(file) {
        Ok(found) => found,
        Err(_) if replacement.old.is_none() => return Ok(()),
        Err(e) => return Err(e.into()),
    };
    let Some(old) = &replacement.old else {
        bail!("the file is new in the package, but there is one already, which is no part of the package");
    };
    if !found.is_file() {
        bail!("it must be a file");
    }
    if found.permissions().readonly() {
        bail!("the file must be writable, but it is read-only");
    }
    OpenOptions::new().write(true).open(file).context("the file must be writable")?;
    if fs::read(file)? != *old {
        bail!("the file changed while it was merged");
    }
    Ok(())
}

/// What a run has done so far.
#[derive(Default)]
struct Run<'r> {
    /// The lock on the folder of the package.
    lock: Option<File>,
    /// That folder.
    root: PathBuf,
    /// The folders that hold a file of the run.
    touched: BTreeSet<PathBuf>,
    /// The folders that it made.
    folders: Vec<PathBuf>,
    temporary: Vec<PathBuf>,
    staged: Vec<Staged<'r>>,
    committed: Vec<Staged<'r>>,
}

/// A replacement that waits to be carried out.
struct Staged<'r> {
    of: &'r Replacement,
    /// The temporary file: the new content, or the place for a deleted file.
    temporary: PathBuf,
    /// The metadata of the old file.
    was: Option<fs::Metadata>,
}

impl<'r> Run<'r> {
    /// Writes the new content of a file next to it; a file to delete only gets a name there.
    fn stage(&mut self, replacement: &'r Replacement) -> Result<()> {
        let Some(folder) = replacement.file.parent() else { bail!("it must be a file") };
        let missing: Vec<&Path> = folder.ancestors().take_while(|f| !f.exists()).collect();
        for folder in missing.into_iter().rev() {
            if replacement.new.is_some() {
                fs::create_dir(folder)?;
                self.folders.push(folder.to_owned());
            }
        }
        if self.touched.insert(folder.to_owned()) && is_taken(folder, Some(&self.root)) {
            bail!("another run is writing in this folder");
        }
        let temporary = folder.join(file_path::temporary(std::process::id(), self.staged.len()));
        let was = fs::symlink_metadata(&replacement.file).ok();
        if let Some(new) = &replacement.new {
            self.temporary.push(temporary.clone());
            put(&temporary, new, was.as_ref(), replacement.like.as_deref())?;
        }
        self.staged.push(Staged { of: replacement, temporary, was });
        Ok(())
    }

    /// Carries out what is staged, deletions last. The first failure ends it and is returned with the file. Staging takes time, and an
    /// editor may have written the file meanwhile.
    fn commit(&mut self, root: &Path) -> std::result::Result<(), (PathBuf, Error)> {
        let (come, go): (Vec<_>, Vec<_>) = self.staged.drain(..).partition(|staged| staged.of.new.is_some());
        for staged in come.into_iter().chain(go) {
            let (file, temporary) = (&staged.of.file, &staged.temporary);
            let (from, to) = if staged.of.new.is_some() { (temporary, file) } else { (file, temporary) };
            let done = check(root, staged.of).and_then(|()| Ok(fs::rename(from, to)?));
            done.map_err(|e| (file.clone(), e))?;
            self.committed.push(staged);
        }
        Ok(())
    }

    /// Restores the old files, and returns those that it could not restore.
    fn undo(&mut self) -> Vec<PathBuf> {
        let put_back = |staged: &Staged<'_>| {
            let file = &staged.of.file;
            match (&staged.of.old, &staged.of.new) {
                // This is the file itself, with all its metadata.
                (_, None) => fs::rename(&staged.temporary, file).is_ok(),
                (None, _) => fs::remove_file(file).is_ok(),
                (Some(old), _) => {
                    let temporary = file.with_file_name(file_path::temporary(std::process::id(), file_path::OLD));
                    let done = put(&temporary, old, staged.was.as_ref(), None).is_ok();
                    let done = done && fs::rename(&temporary, file).is_ok();
                    if !done {
                        let _ = fs::remove_file(&temporary);
                    }
                    done
                }
            }
        };
        let committed = std::mem::take(&mut self.committed);
        let left = committed.into_iter().rev().filter(|staged| !put_back(staged));
        left.map(|staged| staged.of.file.clone()).collect()
    }

    /// Makes the new names durable, and removes folders that are now empty.
    fn done(&mut self, root: &Path) {
        for folder in &self.touched {
            if let Ok(folder) = File::open(folder) {
                let _ = folder.sync_all();
            }
        }
        for staged in self.committed.iter().filter(|staged| staged.of.new.is_none()) {
            // If this fails, the next run removes it.
            let _ = fs::remove_file(&staged.temporary);
            let file = &staged.of.file;
            let folders = file.ancestors().skip(1).take_while(|folder| folder.starts_with(root) && *folder != root);
            // A folder that is not empty stays: this only removes empty ones.
            for folder in folders {
                let _ = fs::remove_dir(folder);
            }
        }
        self.temporary.clear();
        self.folders.clear();
    }
}

impl Drop for Run<'_> {
    fn drop(&mut self) {
        for file in &self.temporary {
            let _ = fs::remove_file(file);
        }
        for folder in self.folders.iter().rev() {
            let _ = fs::remove_dir(folder);
        }
    }
}

/// Writes a new file, synced, with the permissions and the owner of the file that it replaces. They are set before the content is written,
/// because the replaced file may be a Secret.
fn put(file: &Path, bytes: &[u8], was: Option<&fs::Metadata>, like: Option<&Path>) -> Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    if was.is_some() {
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    }
    let mut out = options.open(file)?;
    if let Some(was) = was {
        own(file, was);
        out.set_permissions(was.permissions())?;
    }
    if let Some(like) = like {
        set_executable(&out, like)?;
    }
    out.write_all(bytes)?;
    out.sync_all()?;
    Ok(())
}

/// Gives a file the owner of another, if this user may.
#[cfg(unix)]
fn own(file: &Path, old: &fs::Metadata) {
    use std::os::unix::fs::{MetadataExt, chown};
    if chown(file, Some(old.uid()), Some(old.gid())).is_err() {
        let _ = chown(file, None, Some(old.gid()));
    }
}

#[cfg(not(unix))]
fn own(_: &Path, _: &fs::Metadata) {}

/// Whether someone may execute a file.
#[cfg(unix)]
pub fn is_executable(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    fs::metadata(file).is_ok_and(|found| found.permissions().mode() & 0o111 != 0)
}

/// Whether someone may execute a file.
#[cfg(not(unix))]
pub fn is_executable(_: &Path) -> bool {
    false
}

/// Makes a file executable for everyone who may read it if someone may execute the other file, and for nobody otherwise.
#[cfg(unix)]
fn set_executable(file: &File, like: &Path) -> Result<()> {
    use std::os::unix::fs::PermissionsExt;
    let mode = file.metadata()?.permissions().mode();
    let bits = if is_executable(like) { mode | ((mode & 0o444) >> 2) } else { mode & !0o111 };
    file.set_permissions(fs::Permissions::from_mode(bits))?;
    Ok(())
}

#[cfg(not(unix))]
fn set_executable(_: &File, _: &Path) -> Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("krm-merge-disk-{}-{name}", std::process::id()));
        fs::create_dir_all(&folder).expect("a folder");
        folder
    }

    fn replacement(file: PathBuf, old: Option<&str>, new: Option<&str>) -> Replacement {
        let bytes = |text: Option<&str>| text.map(|t| t.as_bytes().to_vec());
        Replacement { file, old: bytes(old), new: bytes(new), like: None }
    }

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(folder)
            .expect("a folder")
            .map(|e| e.expect("an entry").file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn a_file_that_changed_since_it_was_read_is_not_overwritten() {
        let root = folder("changed");
        fs::write(root.join("a"), "now").expect("written");
        fs::write(root.join("b"), "then").expect("written");
        let all = [
            replacement(root.join("b"), Some("then"), Some("new")),
            replacement(root.join("a"), Some("then"), Some("new")),
            replacement(root.join("sub/c"), None, Some("new")),
        ];
        let error = format!("{:#}", write(&root, &all, || Ok(())).expect_err("it changed"));
        assert!(
            error.starts_with("nothing is written: ") && error.ends_with("/a: the file changed while it was merged"),
            "{error}"
        );
        assert_eq!(fs::read_to_string(root.join("b")).expect("there"), "then");
        assert_eq!(names(&root), ["a", "b"]);
        fs::remove_dir_all(root).expect("removed");
    }

    #[test]
    fn a_write_that_fails_in_the_middle_leaves_everything_as_it_was() {
        let root = folder("middle");
        for name in ["a", "gone"] {
            fs::write(root.join(name), "old").expect("written");
        }
        // Each of the last two may be there, but not both.
        let all = [
            replacement(root.join("a"), Some("old"), Some("new")),
            replacement(root.join("gone"), Some("old"), None),
            replacement(root.join("new"), None, Some("new")),
            replacement(root.join("x"), None, Some("new")),
            replacement(root.join("x/y"), None, Some("new")),
        ];
        let error = format!("{:#}", write(&root, &all, || Ok(())).expect_err("x is a folder by then"));
        assert!(error.contains("/x: "), "{error}");
        assert_eq!(names(&root), ["a", "gone"]);
        for name in ["a", "gone"] {
            assert_eq!(fs::read_to_string(root.join(name)).expect("there"), "old");
        }
        fs::remove_dir_all(root).expect("removed");
    }

    #[cfg(unix)]
    #[test]
    fn what_was_done_is_undone_where_a_later_step_fails() {
        use std::os::unix::fs::{MetadataExt, PermissionsExt};
        let root = folder("undone");
        for name in ["a", "gone", "z"] {
            fs::write(root.join(name), "old").expect("written");
            fs::set_permissions(root.join(name), fs::Permissions::from_mode(0o600)).expect("set");
        }
        let inode = || fs::metadata(root.join("gone")).expect("there").ino();
        let before = inode();
        let all = [
            replacement(root.join("a"), Some("old"), Some("new")),
            replacement(root.join("sub/new"), None, Some("new")),
            replacement(root.join("gone"), Some("old"), None),
            replacement(root.join("z"), Some("old"), None),
        ];
        let mut run = Run::default();
        all.iter().for_each(|replacement| run.stage(replacement).expect("staged"));
        // An editor was faster.
        fs::write(root.join("z"), "mine").expect("written");
        let (at, error) = run.commit(&root).expect_err("z changed");
        assert_eq!((at, error.to_string()), (root.join("z"), "the file changed while it was merged".to_owned()));
        assert!(run.committed.len() == 3 && !root.join("gone").exists());
        assert_eq!(run.undo(), Vec::<PathBuf>::new());
        drop(run);
        assert_eq!(names(&root), ["a", "gone", "z"]);
        for (name, text) in [("a", "old"), ("gone", "old"), ("z", "mine")] {
            assert_eq!(fs::read_to_string(root.join(name)).expect("there"), text);
            assert_eq!(fs::metadata(root.join(name)).expect("there").permissions().mode() & 0o777, 0o600, "{name}");
        }
        assert_eq!(inode(), before);
        fs::remove_dir_all(root).expect("removed");
    }

    #[test]
    fn a_file_that_someone_made_meanwhile_is_not_overwritten() {
        let root = folder("made");
        let all = [replacement(root.join("new"), None, Some("new"))];
        let mut run = Run::default();
        run.stage(&all[0]).expect("staged");
        fs::write(root.join("new"), "mine").expect("written");
        run.commit(&root).expect_err("it is there");
        drop(run);
        assert_eq!(names(&root), ["new"]);
        assert_eq!(fs::read_to_string(root.join("new")).expect("there"), "mine");
        fs::remove_dir_all(root).expect("removed");
    }

    #[test]
    fn a_run_that_shall_end_leaves_everything_as_it_was() {
        let root = folder("end");
        for name in ["a", "b", "gone"] {
            fs::write(root.join(name), "old").expect("written");
        }
        let all = [
            replacement(root.join("a"), Some("old"), Some("new")),
            replacement(root.join("gone"), Some("old"), None),
            replacement(root.join("sub/deep/new"), None, Some("new")),
            replacement(root.join("b"), Some("old"), Some("new")),
        ];
        let asked = std::cell::Cell::new(0);
        for end in 0..=all.len() {
            asked.set(0);
            let go_on = || {
                asked.set(asked.get() + 1);
                if asked.get() > end { bail!("the end") } else { Ok(()) }
            };
            assert_eq!(write(&root, &all, go_on).expect_err("ended").to_string(), "the end");
            assert_eq!(names(&root), ["a", "b", "gone"], "{end}");
            for name in ["a", "b", "gone"] {
                assert_eq!(fs::read_to_string(root.join(name)).expect("there"), "old");
            }
        }
        asked.set(0);
        let count = || {
            asked.set(asked.get() + 1);
            Ok(())
        };
        write(&root, &all, count).expect("written");
        assert_eq!(asked.get(), all.len() + 1, "once for each file, and once more before the first rename");
        assert_eq!(names(&root), ["a", "b", "sub"]);
        fs::remove_dir_all(root).expect("removed");
    }

    #[test]
    fn what_cannot_be_put_back_is_named() {
        let root = folder("left");
        fs::write(root.join("gone"), "old").expect("written");
        let all = [replacement(root.join("gone"), Some("old"), None)];
        let mut run = Run::default();
        run.stage(&all[0]).expect("staged");
        run.commit(&root).expect("committed");
        fs::remove_file(&run.committed[0].temporary).expect("removed");
        assert_eq!(run.undo(), [root.join("gone")]);
        drop(run);
        fs::remove_dir_all(root).expect("removed");
    }
}
