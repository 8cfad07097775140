//! The journal of a run: what a run that was killed still has to do, so that the next one finishes it.
//!
//! A run renames one file after the other. Before the first rename, the journal says for each file what it was and what it becomes, by hashes,
//! and which temporary file has the new content. So whoever finds it can tell for each file whether it is old or new, and go on. If the user
//! took back what was done, the rest is taken back, too. If a file is neither old nor new, somebody changed it, and nothing is touched.
//!
//! A stranger's repository may hold a journal, too. So a journal counts only if it ends with a seal that needs the user's key. Beside that, it
//! leads to no file outside of its folder, through no symbolic link, and not into `.git`. A file changes only if it has the old content to the
//! byte, and gets only what a temporary file beside it has. Without a key, as where no cache can be written, a run has no journal.

use std::ffi::{OsStr, OsString};
use std::fmt::Write;
use std::fs;
use std::io::{ErrorKind, Read};
use std::path::{Component, Path, PathBuf};

use anyhow::{Context, Result, bail};
use krm_names::file_path::{self, JOURNAL};
use sha2::{Digest, Sha256};

use crate::folder::root::{FolderRoot, parts};
use crate::folder::{Folder, fill, sync};
use crate::walk::{path_of, shown};
use crate::{cache, made};

/// What a journal begins with: that of a run, and that of one which failed and puts its files back.
const HEADS: [(Ended, &[u8]); 2] =
    [(Ended::Finished, b"krm-merge journal 2\n"), (Ended::TakenBack, b"krm-merge journal 2, back\n")];

/// The largest journal that is read, in bytes.
const MOST: u64 = 64 << 20;

/// What became of a run that was killed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// Each of its files is new.
    Finished,
    /// Each of its files is old.
    TakenBack,
}

/// What a run does, file by file.
#[derive(Debug)]
pub struct Journal {
    /// The files, in the order in which they change.
    entries: Vec<Entry>,
    /// What it is when all of it is done.
    end: Ended,
}

/// What a run does to a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its path, relative to the folder of the journal.
    path: PathBuf,
    /// The name beside it that has the new content before the file has it. A file to delete gets this name first.
    temporary: OsString,
    /// The hash of the old content; `None` if it did not exist.
    old: Option<String>,
    /// The hash of the new content; `None` if it is deleted.
    new: Option<String>,
}

/// What the next run did about a run that was killed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finished {
    /// What became of the run.
    pub end: Ended,
    /// The files that changed, relative to the folder of the journal.
    pub files: Vec<(PathBuf, Step)>,
}

/// What is left to do for a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// The temporary file takes its place.
    Rename,
    /// It goes.
    Remove,
    /// Nothing.
    Nothing,
}

/// The journals in a folder and above it, each with its folder: those of runs that were killed, or that are still at work.
pub fn around(folder: &Path) -> Vec<PathBuf> {
    // A path through symbolic links has other folders above it.
    let Ok(folder) = fs::canonicalize(folder) else { return Vec::new() };
    folder.ancestors().filter(|above| is_in(above)).map(Path::to_owned).collect()
}

/// Whether there is a journal in a folder that a run of this user wrote.
pub fn is_in(folder: &Path) -> bool {
    has_file(folder) && FolderRoot::open(folder).is_ok_and(|root| matches!(Journal::read(&root), Ok(Some(_))))
}

/// Whether there is a file in a folder that looks like a journal.
pub fn has_file(folder: &Path) -> bool {
    fs::symlink_metadata(folder.join(JOURNAL)).is_ok_and(|found| found.is_file())
}

/// Finishes what the journal of a folder says, or takes all of it back; `None` without a journal.
///
/// # Errors
/// A file is neither old nor new; then nothing is changed. Or the journal is broken, or a file cannot be changed; then the journal stays.
pub fn finish(root: &FolderRoot) -> Result<Option<Finished>> {
    let file = root.path().join(JOURNAL);
    let Some(journal) = Journal::read(root).with_context(|| shown(&file))? else { return Ok(None) };
    let journal = match journal.check(root) {
        Ok(()) => journal,
        Err(why) => {
            let back = journal.reversed();
            if back.check(root).is_err() {
                return Err(why);
            }
            back
        }
    };
    let files = journal.carry_out(root)?;
    remove(root).with_context(|| shown(&file))?;
    Ok(Some(Finished { end: journal.end, files }))
}

/// Removes the journal of a folder.
///
/// # Errors
/// There is none, or it cannot be removed.
pub fn remove(root: &FolderRoot) -> Result<()> {
    root.folder().remove(OsStr::new(JOURNAL))?;
    sync(root.folder());
    Ok(())
}

impl Journal {
    /// The journal of these files, in the order in which they change.
    pub fn new(entries: Vec<Entry>, end: Ended) -> Self {
        Self { entries, end }
    }

    fn reversed(&self) -> Self {
        let end = match self.end {
            Ended::Finished => Ended::TakenBack,
            Ended::TakenBack => Ended::Finished,
        };
        Self::new(self.entries.iter().rev().map(Entry::reversed).collect(), end)
    }

    /// Writes it into its folder, as a whole.
    ///
    /// # Errors
    /// It cannot be written, or a file must not stand in a journal.
    pub fn write(&self, root: &FolderRoot, key: Key) -> Result<()> {
        if let Some(entry) = self.entries.iter().find(|entry| !entry.is_safe()) {
            bail!("{}: the file must not be one of git or of this program", shown(&entry.path));
        }
        // No file of a run has this number.
        let temporary = OsString::from(file_path::temporary(made::random(), usize::MAX));
        let folder = root.folder();
        // Hashes of Secrets are nothing for others.
        let out = folder.create_private(&temporary)?;
        let written = fill(&out, &self.bytes(key)).and_then(|()| Ok(folder.rename(&temporary, OsStr::new(JOURNAL))?));
        if written.is_err() {
            let _ = folder.remove(&temporary);
        }
        written?;
        sync(folder);
        Ok(())
    }

    fn read(root: &FolderRoot) -> Result<Option<Self>> {
        let mut bytes = Vec::new();
        match root.folder().read(OsStr::new(JOURNAL)) {
            Err(e) if e.kind() == ErrorKind::NotFound => return Ok(None),
            file => file?.take(MOST).read_to_end(&mut bytes)?,
        };
        let journal = cache::key().ok().and_then(|key| Self::parsed(&bytes, key));
        journal.map(Some).context("it must be the journal of a run of yours that was killed, but no such run wrote it. Delete it, and check the files beside it, which may be old or new")
    }

    /// The hashes, the temporary name and the path of each file; at the end the seal of all that.
    fn bytes(&self, key: Key) -> Vec<u8> {
        let head = HEADS.iter().find(|(end, _)| *end == self.end);
        let mut bytes = head.map_or_else(Vec::new, |(_, head)| head.to_vec());
        for Entry { path, temporary, old, new } in &self.entries {
            let hash = |hash: &Option<String>| hash.clone().unwrap_or_else(|| "-".to_owned());
            bytes.extend(format!("{} {} {} ", hash(old), hash(new), temporary.to_string_lossy()).into_bytes());
            bytes.extend(path.as_os_str().as_encoded_bytes());
            bytes.push(0);
        }
        let end = seal(key, &bytes);
        bytes.extend(end.into_bytes());
        bytes
    }

    fn parsed(bytes: &[u8], key: Key) -> Option<Self> {
        let (text, end) = bytes.split_last_chunk::<64>()?;
        if seal(key, text).as_bytes() != end {
            return None;
        }
        let (end, rest) = HEADS.iter().find_map(|(end, head)| Some((*end, text.strip_prefix(*head)?)))?;
        let entries = rest.split_inclusive(|byte| *byte == 0).map(|entry| {
            let mut fields = entry.strip_suffix(b"\0")?.splitn(4, |byte| *byte == b' ');
            let mut field = || str::from_utf8(fields.next()?).ok();
            let [old, new, temporary] = [field()?, field()?, field()?];
            let hash = |text: &str| (text != "-").then(|| text.to_owned());
            let path = path_of(fields.next()?);
            Some(Entry { path, temporary: temporary.into(), old: hash(old), new: hash(new) }).filter(Entry::is_safe)
        });
        entries.collect::<Option<_>>().map(|entries| Self::new(entries, end))
    }

    /// Checks that each file is old or new, and can become new.
    fn check(&self, root: &FolderRoot) -> Result<()> {
        self.entries.iter().try_for_each(|entry| {
            let file = root.path().join(&entry.path);
            let step = parts(&file).and_then(|(folder, _)| entry.step(root.enter(folder)?.as_ref()));
            step.map(drop).with_context(|| {
                format!(
                    "{}: a run that was killed must be finished first, and it must find its files as it left them: take back your changes, or delete \"{}\" to keep all files as they are",
                    shown(&file),
                    shown(&root.path().join(JOURNAL))
                )
            })
        })
    }

    /// Returns what it did to each file that was not done yet.
    fn carry_out(&self, root: &FolderRoot) -> Result<Vec<(PathBuf, Step)>> {
        let mut done = Vec::new();
        for entry in &self.entries {
            let file = root.path().join(&entry.path);
            let (path, _) = parts(&file)?;
            let Some(folder) = root.enter(path)? else { continue };
            let step = entry.carry_out(&folder).with_context(|| shown(&file))?;
            done.extend((step != Step::Nothing).then(|| (entry.path.clone(), step)));
            sync(&folder);
            if entry.new.is_none() {
                // What a run deletes has the temporary name first.
                let _ = folder.remove(&entry.temporary);
                file.ancestors().skip(1).for_each(|folder| root.remove_folder(folder));
            }
        }
        Ok(done)
    }
}

impl Entry {
    /// What happens to a file below a folder. `temporary` is the name of its temporary file.
    ///
    /// # Errors
    /// The file is not below the folder.
    pub fn new(root: &Path, file: &Path, temporary: &OsStr, [old, new]: [Option<&[u8]>; 2]) -> Result<Self> {
        let path = std::path::absolute(file)?.strip_prefix(root)?.to_owned();
        Ok(Self { path, temporary: temporary.to_owned(), old: old.map(hash), new: new.map(hash) })
    }

    /// The way back from new to old.
    pub fn reversed(&self) -> Self {
        Self { old: self.new.clone(), new: self.old.clone(), ..self.clone() }
    }

    /// Makes the file new, in its folder. Returns what it did.
    ///
    /// # Errors
    /// It is neither old nor new, or cannot be changed.
    pub fn carry_out(&self, folder: &Folder) -> Result<Step> {
        let (_, name) = parts(&self.path)?;
        let step = self.step(Some(folder))?;
        match step {
            Step::Rename => folder.rename(&self.temporary, name)?,
            Step::Remove => folder.remove(name)?,
            Step::Nothing => {}
        }
        Ok(step)
    }

    fn step(&self, folder: Option<&Folder>) -> Result<Step> {
        let (_, name) = parts(&self.path)?;
        let file = hash_in(folder, name)?;
        let (is_old, is_new) = (file == self.old, file == self.new);
        // The content may be the same, and the file only become executable.
        if is_old && self.new.is_some() && hash_in(folder, &self.temporary)? == self.new {
            Ok(Step::Rename)
        } else if is_new {
            Ok(Step::Nothing)
        } else if is_old && self.new.is_none() {
            Ok(Step::Remove)
        } else if is_old {
            bail!("its new content is gone")
        } else {
            bail!("it changed since")
        }
    }

    /// Whether nobody can do harm by it: it stays below its folder, and out of what git and this program keep there.
    fn is_safe(&self) -> bool {
        let is_own = |name: &str| file_path::is_git(name) || file_path::is_of_a_run(name);
        let is_safe = |part: Component<'_>| match part {
            Component::Normal(name) => name.to_str().is_none_or(|name| !is_own(name)),
            _ => false,
        };
        self.path.file_name().is_some()
            && self.path.components().all(is_safe)
            && self.temporary.to_str().is_some_and(file_path::is_temporary)
    }
}

/// The key of the user.
type Key = [u8; 32];

/// What only who knows the key can make of these bytes.
fn seal(key: Key, bytes: &[u8]) -> String {
    let sealed = |bytes: &[u8]| hash(&[&key, bytes].concat());
    sealed(sealed(bytes).as_bytes())
}

/// The SHA-256 of bytes, in hexadecimal digits.
pub fn hash(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().fold(String::new(), |mut hash, byte| {
        let _ = write!(hash, "{byte:02x}");
        hash
    })
}

/// The hash of a file; `None` if it does not exist.
fn hash_in(folder: Option<&Folder>, name: &OsStr) -> Result<Option<String>> {
    let Some(folder) = folder else { return Ok(None) };
    let mut file = match folder.read(name) {
        Err(e) if e.kind() == ErrorKind::NotFound => return Ok(None),
        file => file?,
    };
    if !file.metadata()?.is_file() {
        bail!("it must be a file");
    }
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    Ok(Some(hash(&bytes)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(name: &str) -> (PathBuf, FolderRoot) {
        let folder = std::env::temp_dir().join(format!("krm-merge-journal-{}-{name}", std::process::id()));
        fs::create_dir_all(folder.join("sub")).expect("a folder");
        let root = FolderRoot::open(&folder).expect("a folder");
        (folder, root)
    }

    fn entry(path: &str, old: Option<&str>, new: Option<&str>) -> Entry {
        let hash = |text: Option<&str>| text.map(|text| hash(text.as_bytes()));
        Entry { path: path.into(), temporary: ".krm-merge-1-0.tmp".into(), old: hash(old), new: hash(new) }
    }

    fn key() -> Key {
        cache::key_or_new().expect("a key")
    }

    fn journal(entries: Vec<Entry>) -> Journal {
        Journal::new(entries, Ended::Finished)
    }

    #[test]
    fn a_file_goes_forward_or_back_or_stays() {
        let (path, root) = folder("ways");
        let temporary = ".krm-merge-1-0.tmp";
        // What the file was and becomes; what it and its temporary file are; what it is at last, or what the error says.
        for (was, becomes, file, beside, want) in [
            (Some("old"), Some("new"), Some("old"), Some("new"), Ok(Some("new"))),
            (Some("old"), Some("new"), Some("new"), None, Ok(Some("new"))),
            (Some("old"), Some("new"), Some("old"), None, Ok(Some("old"))),
            (Some("old"), Some("new"), Some("old"), Some("ne"), Ok(Some("old"))),
            (Some("old"), Some("new"), Some("mine"), Some("new"), Err("it changed since")),
            (Some("old"), Some("new"), None, Some("new"), Err("it changed since")),
            (None, Some("new"), None, Some("new"), Ok(Some("new"))),
            (None, Some("new"), None, None, Ok(None)),
            (None, Some("new"), Some("mine"), Some("new"), Err("it changed since")),
            (Some("old"), None, Some("old"), None, Ok(None)),
            (Some("old"), None, None, Some("old"), Ok(None)),
            (Some("old"), None, None, None, Ok(None)),
            (Some("old"), None, Some("mine"), None, Err("it changed since")),
        ] {
            let about = format!("{was:?} {becomes:?} {file:?} {beside:?}");
            for (name, text) in [("sub/a", file), (temporary, None), ("sub/.krm-merge-1-0.tmp", beside)] {
                fs::create_dir_all(path.join("sub")).expect("a folder");
                match text {
                    Some(text) => fs::write(path.join(name), text).expect("written"),
                    None => _ = fs::remove_file(path.join(name)),
                }
            }
            journal(vec![entry("sub/a", was, becomes)]).write(&root, key()).expect("written");
            let told = finish(&root).map_err(|e| format!("{e:#}"));
            match want {
                Ok(_) => assert!(told.is_ok() && !path.join(JOURNAL).exists(), "{about}: {told:?}"),
                Err(why) => {
                    let told = told.expect_err(&about);
                    assert!(told.ends_with(why) && told.contains("sub/a: a run that was killed"), "{about}: {told}");
                    assert!(path.join(JOURNAL).exists(), "{about}");
                }
            }
            let is = fs::read_to_string(path.join("sub/a")).ok();
            assert_eq!(is.as_deref(), want.unwrap_or(file), "{about}");
        }
        fs::remove_dir_all(path).expect("removed");
    }

    #[test]
    fn all_of_a_journal_is_done_or_nothing() {
        let (path, root) = folder("all");
        for (name, text) in [("a", "old"), (".krm-merge-1-0.tmp", "new"), ("b", "mine")] {
            fs::write(path.join(name), text).expect("written");
        }
        journal(vec![entry("a", Some("old"), Some("new")), entry("b", Some("old"), None)])
            .write(&root, key())
            .expect("written");
        finish(&root).expect_err("b changed");
        assert_eq!(fs::read_to_string(path.join("a")).expect("there"), "old");
        fs::write(path.join("b"), "old").expect("written");
        assert_eq!(finish(&root).expect("finished").map(|all| all.end), Some(Ended::Finished));
        assert_eq!(fs::read_to_string(path.join("a")).expect("there"), "new");
        assert!(!path.join("b").exists() && finish(&root).expect("there is none").is_none());
        fs::remove_dir_all(path).expect("removed");
    }

    #[cfg(unix)]
    #[test]
    fn a_strangers_journal_leads_nowhere_else() {
        let (path, root) = folder("strange");
        let other = path.with_extension("other");
        fs::create_dir_all(&other).expect("a folder");
        for file in [path.join(".git/HEAD"), path.join("a"), other.join("a")] {
            fs::create_dir_all(file.parent().expect("a folder")).expect("a folder");
            fs::write(file, "old").expect("written");
        }
        std::os::unix::fs::symlink(&other, path.join("link")).expect("a link");
        std::os::unix::fs::symlink(other.join("a"), path.join("linked")).expect("a link");
        let outside = format!("../{}/a", other.file_name().expect("a name").to_string_lossy());
        let absolute = other.join("a").to_string_lossy().into_owned();
        for name in [".git/HEAD", ".GIT/HEAD", &outside, &absolute, "", "sub/..", "link/a", "linked", JOURNAL] {
            // A stranger writes it without our checks.
            fs::write(path.join(JOURNAL), journal(vec![entry(name, Some("old"), None)]).bytes(key())).expect("written");
            let told = finish(&root).expect_err(name);
            for file in [path.join(".git/HEAD"), path.join("a"), other.join("a")] {
                assert_eq!(fs::read_to_string(&file).expect("there"), "old", "{name}: {told:#}");
            }
        }
        // Another file is no temporary one.
        let mut own = entry("new", None, Some("old"));
        own.temporary = "a".into();
        let good = journal(vec![entry("a", Some("old"), None)]).bytes(key());
        let mut cut: Vec<_> = (0..good.len()).map(|end| good[..end].to_vec()).collect();
        cut.extend((0..good.len()).map(|at| [&good[..at], &[good[at] ^ 1], &good[at + 1..]].concat()));
        cut.push(journal(vec![own]).bytes(key()));
        // The seal of another user, and what anybody can make.
        let entries = || vec![entry("a", Some("old"), None)];
        cut.push(journal(entries()).bytes([0; 32]));
        let text = &good[..good.len() - 64];
        cut.push([text, hash(text).as_bytes()].concat());
        for bytes in cut {
            fs::write(path.join(JOURNAL), &bytes).expect("written");
            let told = format!("{:#}", finish(&root).expect_err("broken"));
            assert!(told.contains("no such run wrote it. Delete it"), "{told}");
            assert!(path.join("a").exists() && path.join(JOURNAL).exists());
        }
        fs::remove_dir_all(path).expect("removed");
        fs::remove_dir_all(other).expect("removed");
    }

    #[test]
    fn a_journal_above_counts_if_a_run_of_this_user_wrote_it() {
        let (path, root) = folder("above");
        let path = fs::canonicalize(path).expect("there");
        let entries = || vec![entry("a", Some("old"), None)];
        let counts = || (around(&path).contains(&path), around(&path.join("sub")).contains(&path));
        journal(entries()).write(&root, key()).expect("written");
        assert_eq!(counts(), (true, true));
        journal(entries()).write(&root, [0; 32]).expect("written");
        assert_eq!(counts(), (false, false));
        assert!(has_file(&path));
        fs::remove_dir_all(path).expect("removed");
    }
}
