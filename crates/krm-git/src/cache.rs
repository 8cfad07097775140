//! The cache: what was fetched and what commands printed, in a folder of the user, and the end of what nobody uses any more.
//!
//! Beside the repository `NAME` stand `NAME.used`, with its address and, as its time, when it was last used; and `NAME.lock`, for the one run
//! that fetches. A run holds `NAME.used` for reading as long as it may read the repository. A locked entry is never removed. At the end of a run that
//! fetched, entries go that nobody used for long, and as many others as make the cache small enough, from the one that was used the longest ago.
//!
//! git obeys what stands in a repository, so `krm-files/cache.rs` refuses a folder that someone else could have written.

use std::fs::{self, File, Metadata, TryLockError};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};

use anyhow::{Context, Result, bail};
pub use krm_files::cache::root;
use krm_files::cache::{folder, full, full_disk};
use krm_files::made;
use krm_files::walk::shown;
use krm_names::file_path;

/// The folder of repositories.
const REPOSITORIES: &str = "git";

/// The folder of the lists of repositories of charts.
const INDEXES: &str = "indexes";

/// The folder of what commands printed.
const OUTPUTS: &str = "produced";

/// How large the cache may be after a run that fetched, in bytes.
const MOST: u64 = 1 << 30;

/// How long something stays that nobody uses.
const LONGEST: Duration = Duration::from_secs(90 * 24 * 60 * 60);

/// Entries used within this time are never removed.
const LATELY: Duration = Duration::from_secs(60 * 60);

/// A repository, an output or a list in the cache.
#[derive(Debug)]
pub struct Entry {
    /// Its address.
    pub name: String,
    /// Its size in bytes.
    pub size: u64,
    /// When it was last used.
    pub used: SystemTime,
    kind: EntryKind,
}

#[derive(Debug)]
enum EntryKind {
    /// A repository in a folder.
    Repository(PathBuf),
    /// A file, with perhaps another one.
    Output(PathBuf),
}

/// What became of an entry that should go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Removed {
    /// It is gone.
    Gone,
    /// It is still there, because a run uses it.
    InUse,
}

/// The folder of the repositories.
///
/// # Errors
/// The errors of [`root`].
pub fn repositories() -> Result<PathBuf> {
    folder(root()?.join(REPOSITORIES))
}

/// The folder of the lists of repositories of charts.
///
/// # Errors
/// The errors of [`root`].
pub fn indexes() -> Result<PathBuf> {
    folder(root()?.join(INDEXES))
}

/// The folder of what commands printed.
///
/// # Errors
/// The errors of [`root`].
pub fn outputs() -> Result<PathBuf> {
    folder(root()?.join(OUTPUTS))
}

/// Holds a repository of the cache, which is used now, for as long as the returned file lives; `None` if the cache can only be read.
pub fn hold(repository: &Path, address: &str) -> Option<File> {
    let path = repository.with_extension("used");
    loop {
        let mut file = opened(&path).ok()?;
        // On a file system without locks, nothing is locked.
        let _ = file.lock_shared();
        if file.metadata().is_ok_and(|found| found.len() == 0) {
            // On a full disk, the next use notes it.
            let _ = file.write_all(address.as_bytes());
        }
        let _ = file.set_modified(SystemTime::now());
        // A run that removes it may have been faster.
        if path.exists() {
            return Some(file);
        }
    }
}

/// Locks a repository of the cache against other runs that fetch, for as long as the returned file lives.
///
/// # Errors
/// The cache cannot be written.
pub fn lock(repository: &Path) -> Result<File> {
    let lock = opened(&repository.with_extension("lock"))?;
    let _ = lock.lock();
    // What a killed run left while it made the cache, or git while it fetched.
    ["new", "old"].into_iter().try_for_each(|left| remove(&repository.with_extension(left)))?;
    remove_packs(repository);
    Ok(lock)
}

/// Removes the packs that git did not finish.
pub fn remove_packs(repository: &Path) {
    remove_left(&repository.join("objects/pack"), |name| name.starts_with("tmp_"));
}

fn opened(file: &Path) -> Result<File> {
    made::held(file).map_err(full).with_context(|| shown(file))
}

/// Removes files that a killed run left in a folder.
fn remove_left(folder: &Path, is_left: impl Fn(&str) -> bool) {
    let left = entries_in(folder).filter(|entry| entry.file_name().to_str().is_some_and(&is_left));
    left.for_each(|entry| _ = fs::remove_file(entry.path()));
}

fn entries_in(folder: &Path) -> impl Iterator<Item = fs::DirEntry> + use<> {
    fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok)
}

/// Removes a folder, if it is there.
///
/// # Errors
/// It cannot be removed.
pub fn remove(folder: &Path) -> Result<()> {
    match fs::remove_dir_all(folder) {
        Err(e) if e.kind() != ErrorKind::NotFound => Err(e).with_context(|| shown(folder)),
        _ => Ok(()),
    }
}

/// Writes a file as a whole.
///
/// # Errors
/// It cannot be written. Then the old one stays.
pub fn write(file: &Path, bytes: &[u8]) -> Result<()> {
    let folder = file.parent().and_then(|folder| File::open(folder).ok());
    // One run at a time writes there, so what lies there is of killed ones.
    if folder.as_ref().is_some_and(|folder| folder.lock().is_ok()) {
        remove_left(file.parent().unwrap_or(file), file_path::is_temporary);
    }
    made::replace(file, bytes).map_err(full).with_context(|| shown(file))
}

/// Checks that git did not fail because the disk is full. `words` is what it said.
///
/// # Errors
/// It did.
pub fn check_not_full(words: &str) -> Result<()> {
    let is_full = ["No space left on device", "Disk quota exceeded"].iter().any(|full| words.contains(full));
    if is_full { bail!(full_disk()) } else { Ok(()) }
}

/// What is in the cache, from the one that was used last.
///
/// # Errors
/// The errors of [`root`].
pub fn entries() -> Result<Vec<Entry>> {
    Ok(all_in(&root()?).into_iter().filter(|entry| entry.size > 0).collect())
}

/// Whether this run put something into the cache.
static GREW: AtomicBool = AtomicBool::new(false);

/// Notes that something came into the cache.
pub fn grew() {
    GREW.store(true, Ordering::Relaxed);
}

/// Removes what nobody used for long, and what makes the cache too large, if something came into it. It does what it can. As it looks at each
/// file of the cache, a run calls it once, at its end.
pub fn trim() {
    if GREW.load(Ordering::Relaxed)
        && let Ok(root) = root()
    {
        trim_to(&root, MOST, SystemTime::now());
    }
}

fn trim_to(root: &Path, most: u64, now: SystemTime) {
    let all = all_in(root);
    let mut size: u64 = all.iter().map(|entry| entry.size).sum();
    for entry in all.iter().rev() {
        let age = now.duration_since(entry.used).unwrap_or_default();
        let is_over = size > most || age > LONGEST;
        if is_over && age > LATELY && matches!(entry.remove(), Ok(Removed::Gone)) {
            size -= entry.size;
        }
    }
}

/// All entries below a folder, from the one that was used last.
fn all_in(root: &Path) -> Vec<Entry> {
    let is_repository =
        |entry: &fs::DirEntry| entry.path().extension().is_none() && entry.file_type().is_ok_and(|kind| kind.is_dir());
    let repositories = entries_in(&root.join(REPOSITORIES)).filter(is_repository).map(|entry| repository(entry.path()));
    let is_output = |entry: &fs::DirEntry| {
        let name = entry.file_name();
        name.to_str().is_some_and(|name| name.len() == 64 && name.bytes().all(|byte| byte.is_ascii_hexdigit()))
    };
    let outputs = entries_in(&root.join(OUTPUTS)).filter(is_output).map(|entry| output(entry.path()));
    let is_list = |entry: &fs::DirEntry| entry.path().extension().is_some_and(|end| end == "json");
    let lists = entries_in(&root.join(INDEXES)).filter(is_list).map(|entry| list(entry.path()));
    let mut all: Vec<Entry> = repositories.chain(outputs).chain(lists).collect();
    all.sort_by(|a, b| (b.used, &a.name).cmp(&(a.used, &b.name)));
    all
}

fn repository(folder: PathBuf) -> Entry {
    let note = folder.with_extension("used");
    let address = fs::read_to_string(&note).unwrap_or_default();
    // An older version kept no address.
    let name = if address.is_empty() { name_in(&folder) } else { address };
    let used = used(&note).or_else(|| used(&folder.join("remote-refs"))).or_else(|| used(&folder));
    Entry {
        name,
        size: size(&folder),
        used: used.unwrap_or(SystemTime::UNIX_EPOCH),
        kind: EntryKind::Repository(folder),
    }
}

fn output(file: PathBuf) -> Entry {
    let name = format!("output of a command, {}", name_in(&file).get(..16).unwrap_or_default());
    let size = size(&file) + size(&again(&file));
    Entry { name, size, used: used(&file).unwrap_or(SystemTime::UNIX_EPOCH), kind: EntryKind::Output(file) }
}

/// The list of a repository of charts.
fn list(file: PathBuf) -> Entry {
    let name = format!("list of charts, {}", name_in(&file).get(..16).unwrap_or_default());
    Entry { name, ..output(file) }
}

fn name_in(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// The file beside an output with the second one of the same command, if that differs.
pub fn again(output: &Path) -> PathBuf {
    output.with_file_name(format!("{}-again", name_in(output)))
}

/// Notes that an output is used now.
pub fn touch(output: &Path) {
    let _ = made::held(output).and_then(|file| file.set_modified(SystemTime::now()));
}

fn used(path: &Path) -> Option<SystemTime> {
    fs::metadata(path).and_then(|found| found.modified()).ok()
}

/// The size of a file, or of all files below a folder.
fn size(path: &Path) -> u64 {
    match fs::symlink_metadata(path) {
        Ok(found) if found.is_dir() => entries_in(path).map(|entry| size(&entry.path())).sum(),
        found => found.as_ref().map_or(0, Metadata::len),
    }
}

impl Entry {
    /// Removes it, unless a run uses it.
    ///
    /// # Errors
    /// It cannot be removed.
    pub fn remove(&self) -> Result<Removed> {
        match &self.kind {
            EntryKind::Repository(folder) => {
                let files = ["used", "lock"].map(|name| folder.with_extension(name));
                let mut held = Vec::new();
                for file in &files {
                    let file = opened(file)?;
                    if matches!(file.try_lock(), Err(TryLockError::WouldBlock)) {
                        return Ok(Removed::InUse);
                    }
                    held.push(file);
                }
                ["new", "old"].into_iter().try_for_each(|left| remove(&folder.with_extension(left)))?;
                let old = folder.with_extension("old");
                fs::rename(folder, &old).with_context(|| shown(folder))?;
                remove(&old)?;
                // Nobody can hold them, and who waits for them looks whether they are still there.
                files.iter().try_for_each(fs::remove_file).with_context(|| shown(folder))?;
            }
            EntryKind::Output(file) => {
                let folder = File::open(file.parent().unwrap_or(file))?;
                if matches!(folder.try_lock(), Err(TryLockError::WouldBlock)) {
                    return Ok(Removed::InUse);
                }
                // Without the first one, nobody reads the second one.
                for file in [file.clone(), again(file)] {
                    match fs::remove_file(&file) {
                        Err(e) if e.kind() != ErrorKind::NotFound => return Err(e).with_context(|| shown(&file)),
                        _ => {}
                    }
                }
            }
        }
        Ok(Removed::Gone)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: Duration = Duration::from_secs(24 * 60 * 60);

    /// A cache with repositories and outputs of 100 bytes each, which were used some time ago.
    struct Made {
        root: PathBuf,
        now: SystemTime,
    }

    impl Made {
        fn new(name: &str) -> Self {
            let root = std::env::temp_dir().join(format!("krm-merge-cache-{}-{name}", std::process::id()));
            for folder in [REPOSITORIES, OUTPUTS] {
                fs::create_dir_all(root.join(folder)).expect("a folder");
            }
            Self { root, now: SystemTime::now() }
        }

        fn repository(&self, name: &str, ago: Duration) -> PathBuf {
            let folder = self.root.join(REPOSITORIES).join(name);
            fs::create_dir_all(folder.join("objects")).expect("a folder");
            fs::write(folder.join("objects/pack"), [0; 60]).expect("written");
            fs::write(folder.join("HEAD"), [0; 40]).expect("written");
            let held = hold(&folder, &format!("https://example.com/{name}")).expect("held");
            held.set_modified(self.now - ago).expect("set");
            folder
        }

        fn output(&self, digit: char, ago: Duration) -> PathBuf {
            let file = self.root.join(OUTPUTS).join(digit.to_string().repeat(64));
            fs::write(&file, [0; 70]).expect("written");
            fs::write(again(&file), [0; 30]).expect("written");
            File::options().write(true).open(&file).and_then(|file| file.set_modified(self.now - ago)).expect("set");
            file
        }

        fn names(&self) -> Vec<String> {
            all_in(&self.root).into_iter().map(|entry| entry.name).collect()
        }
    }

    impl Drop for Made {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.root);
        }
    }

    #[test]
    fn what_was_used_the_longest_ago_goes_first() {
        let made = Made::new("oldest");
        let repositories = [3, 1, 5].map(|days| made.repository(&format!("r{days}"), days * DAY));
        let output = made.output('a', 4 * DAY);
        let of_output = format!("output of a command, {}", "a".repeat(16));
        let at = |name: &str| format!("https://example.com/{name}");
        assert_eq!(made.names(), [at("r1"), at("r3"), of_output.clone(), at("r5")]);
        trim_to(&made.root, 400, made.now);
        assert_eq!(made.names().len(), 4, "it is as large as it may be");
        trim_to(&made.root, 399, made.now);
        assert_eq!(made.names(), [at("r1"), at("r3"), of_output]);
        assert!(!repositories[2].with_extension("used").exists() && !repositories[2].with_extension("lock").exists());
        trim_to(&made.root, 150, made.now);
        assert_eq!(made.names(), [at("r1")]);
        assert!(!output.exists() && !again(&output).exists());
    }

    #[test]
    fn what_nobody_used_for_long_goes_and_what_is_used_stays() {
        let made = Made::new("used");
        made.repository("old", 91 * DAY);
        made.repository("younger", 89 * DAY);
        let held = hold(&made.repository("held", 91 * DAY), "").expect("held");
        held.set_modified(made.now - 91 * DAY).expect("set");
        let locked = lock(&made.repository("locked", 91 * DAY)).expect("locked");
        made.output('b', 91 * DAY);
        let list = made.root.join(INDEXES).join("0123456789abcdef0.json");
        fs::create_dir_all(made.root.join(INDEXES)).expect("made");
        fs::write(&list, "x").expect("written");
        File::options().write(true).open(&list).and_then(|f| f.set_modified(made.now - 91 * DAY)).expect("set");
        assert!(made.names().contains(&"list of charts, 0123456789abcdef".to_owned()), "{:?}", made.names());
        trim_to(&made.root, u64::MAX, made.now);
        assert!(!list.exists());
        let at = |name: &str| format!("https://example.com/{name}");
        assert_eq!(made.names(), [at("younger"), at("held"), at("locked")]);
        drop((held, locked));
        // What was used within the hour stays, however large it is.
        made.repository("now", Duration::from_secs(59 * 60));
        trim_to(&made.root, 0, made.now);
        assert_eq!(made.names(), [at("now")]);
    }

    #[test]
    fn a_repository_of_an_older_version_has_its_name() {
        let made = Made::new("older");
        let folder = made.repository("web-0123", DAY);
        fs::remove_file(folder.with_extension("used")).expect("removed");
        assert_eq!(made.names(), ["web-0123"]);
        // Its address comes with its next use.
        hold(&folder, "https://example.com/web").expect("held");
        assert_eq!(made.names(), ["https://example.com/web"]);
    }

    #[test]
    fn what_a_killed_run_left_beside_a_file_goes_when_that_is_written() {
        let made = Made::new("written");
        let [file, left, mine] = ["refs", ".krm-merge-1-0.tmp", "mine.tmp"].map(|name| made.root.join(name));
        for file in [&left, &mine] {
            fs::write(file, "x").expect("written");
        }
        write(&file, b"new").expect("written");
        assert!(fs::read(&file).is_ok_and(|bytes| bytes == b"new") && !left.exists() && mine.exists());
    }

    #[test]
    fn a_full_disk_is_told_in_plain_words() {
        for (words, is_full) in [
            ("git: fatal: write error: No space left on device", true),
            ("git: error: file write error: Disk quota exceeded", true),
            ("git: fatal: couldn't find remote ref x", false),
        ] {
            assert_eq!(check_not_full(words).is_err(), is_full, "{words}");
        }
        let told = full(ErrorKind::StorageFull.into()).to_string();
        assert!(told.starts_with("the disk of the cache is full: make room"), "{told}");
    }
}
