//! The files of a folder that belong to a package.
//!
//! A symbolic link is never followed. If its target is in the folder, it is read at its own path; otherwise it is not part of the package.
//! `.krmignore` has the rules of `.gitignore`, in each folder for everything below it. `.git`, in any letter case, is never part of a
//! package. As with kpt (1.0.0-beta.56), the rules of a package end where a sub-package begins, which is a folder with a Kptfile. The rules
//! may leave the sub-package out as a whole, but its files follow its own rules. kpt reads `.krmignore` only in packages; here it counts in
//! every folder.

#[cfg(unix)]
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Context, Error, Result, anyhow, bail};
use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use krm_names::file_path;
use krm_names::shown;

use crate::regular;

/// The contents of a folder.
#[derive(Debug)]
pub struct Tree {
    /// The folder, without symbolic links in its path.
    pub root: PathBuf,
    /// The paths of its files, relative to it and with `/`, in order.
    pub files: Vec<String>,
    /// The paths of symbolic links that lead out of the folder, or nowhere.
    pub links: Vec<String>,
    /// The temporary files and folders that killed runs left.
    pub leftovers: Vec<PathBuf>,
    /// The rules of each `.krmignore`, with its folder.
    rules: Vec<(String, Gitignore)>,
    /// The folders of sub-packages.
    packages: Vec<String>,
    /// What becomes of names that no package may have.
    odd: Odd,
}

/// What becomes of names that no package may have, and of links that lead nowhere.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Odd {
    /// They are errors.
    #[default]
    Refused,
    /// They are left out.
    LeftOut,
}

/// The target of a symbolic link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Leads {
    /// A target in the folder, which is read at its own path.
    Within,
    /// A target outside of the folder, or none.
    Out,
}

impl Tree {
    /// Reads a folder.
    ///
    /// # Errors
    /// The folder cannot be entered; a name has a line break or is not UTF-8; or a symbolic link leads back to itself.
    pub fn read(folder: &Path) -> Result<Self> {
        let root = fs::canonicalize(folder).with_context(|| shown(folder))?;
        let mut tree = Self::of(root);
        tree.enter("")?;
        Ok(tree)
    }

    /// Reads a folder that holds packages and is none. What could be in no package is left out.
    ///
    /// # Errors
    /// A folder cannot be entered, or a `.krmignore` cannot be read.
    pub fn around_packages(folder: &Path) -> Result<Self> {
        let root = fs::canonicalize(folder).with_context(|| shown(folder))?;
        let mut tree = Self { odd: Odd::LeftOut, ..Self::of(root) };
        tree.enter("")?;
        Ok(tree)
    }

    fn of(root: PathBuf) -> Self {
        let (files, links, leftovers, rules, packages, odd) = Default::default();
        Self { root, files, links, leftovers, rules, packages, odd }
    }

    fn enter(&mut self, folder: &str) -> Result<()> {
        let here = self.root.join(folder);
        let mut names = Vec::new();
        for entry in fs::read_dir(&here).with_context(|| shown(&here))? {
            let entry = entry.with_context(|| shown(&here))?;
            match entry.file_name().into_string() {
                // Most systems tell it with the name.
                Ok(name) => names.push((name, entry.file_type())),
                Err(_) if self.odd == Odd::LeftOut => {}
                Err(name) => bail!("{}: a file name must be UTF-8", shown(&here.join(name))),
            }
        }
        names.sort_by(|(a, _), (b, _)| a.cmp(b));
        let has = |called: &str| names.iter().any(|(name, _)| name == called);
        if has(".krmignore") {
            let file = here.join(".krmignore");
            let rules = self.rules_of(&file).with_context(|| shown(&file))?;
            self.rules.push((folder.to_owned(), rules));
        }
        if !folder.is_empty() && has("Kptfile") {
            self.packages.push(folder.to_owned());
        }
        for (name, kind) in names {
            let path = if folder.is_empty() { name.clone() } else { format!("{folder}/{name}") };
            let disk = here.join(&name);
            let kind = kind.with_context(|| shown(&disk))?;
            if is_leftover(&name, kind) {
                self.leftovers.push(disk);
                continue;
            }
            if file_path::is_git(&name) || self.ignores_here(&path, kind.is_dir()) {
                continue;
            }
            if name.contains(['\n', '\r']) {
                if self.odd == Odd::LeftOut {
                    continue;
                }
                bail!("{}: a file name must have no line break", shown(&disk));
            }
            if kind.is_symlink() {
                if self.odd == Odd::Refused && self.check_link(&disk)? == Leads::Out {
                    self.links.push(path);
                }
            } else if kind.is_dir() {
                self.enter(&path)?;
            } else if kind.is_file() {
                self.files.push(path);
            }
        }
        Ok(())
    }

    fn rules_of(&self, file: &Path) -> Result<Gitignore> {
        compiled(&fs::read(regular::within(&self.root, file)?)?)
    }

    /// Finds where a link leads. The link is not followed. A link that leads only to itself is an error, because it must be a mistake.
    fn check_link(&self, link: &Path) -> Result<Leads> {
        match fs::canonicalize(link) {
            Ok(target) if link.starts_with(&target) => {
                bail!("{}: a symbolic link must not lead back to a folder that it lies in", shown(link))
            }
            Ok(target) if target.starts_with(&self.root) => Ok(Leads::Within),
            Ok(_) => Ok(Leads::Out),
            Err(e) if matches!(e.kind(), io::ErrorKind::NotFound | io::ErrorKind::PermissionDenied) => Ok(Leads::Out),
            Err(e) => Err(e).with_context(|| format!("{}: the symbolic link leads nowhere", shown(link))),
        }
    }

    /// The rules of the `.krmignore` files among the files of a release, each with its path and its text.
    ///
    /// # Errors
    /// A line is not a rule.
    pub fn rules_in<'f>(files: impl Iterator<Item = (&'f str, &'f [u8])> + Clone) -> Result<Self> {
        let folder = |path: &str| path.rsplit_once('/').map(|(folder, _)| folder.to_owned());
        let is_called = |path: &str, name: &str| path.rsplit('/').next() == Some(name);
        let mut tree = Self::of(PathBuf::new());
        tree.packages =
            files.clone().filter(|(path, _)| is_called(path, "Kptfile")).filter_map(|(path, _)| folder(path)).collect();
        for (path, text) in files.filter(|(path, _)| is_called(path, ".krmignore")) {
            let rules = compiled(text).with_context(|| path.to_owned())?;
            tree.rules.push((folder(path).unwrap_or_default(), rules));
        }
        tree.rules.sort_by(|a, b| a.0.cmp(&b.0));
        tree.packages.sort();
        Ok(tree)
    }

    /// Whether a `.krmignore` leaves out a path, or a folder that contains the path.
    pub fn ignores(&self, path: &str) -> bool {
        let folders = path.match_indices('/').map(|(at, _)| &path[..at]);
        folders.into_iter().any(|folder| self.ignores_here(folder, true)) || self.ignores_here(path, false)
    }

    fn ignores_here(&self, path: &str, is_folder: bool) -> bool {
        let package = self.packages.iter().rev().find(|package| below(path, package).is_some());
        // The rules in the deepest folder decide.
        for (folder, rules) in self.rules.iter().rev() {
            if package.is_some_and(|package| folder != package && below(folder, package).is_none()) {
                continue;
            }
            match below(path, folder).map(|r| rules.matched(r, is_folder)) {
                Some(Match::Ignore(_)) => return true,
                Some(Match::Whitelist(_)) => return false,
                _ => {}
            }
        }
        false
    }
}

/// The rules of a `.krmignore`.
///
/// # Errors
/// A line is not a rule, or the rules up to a line are too large. The error names the line.
fn compiled(text: &[u8]) -> Result<Gitignore> {
    let text = String::from_utf8_lossy(text);
    let lines: Vec<&str> = text.trim_start_matches('\u{feff}').lines().collect();
    let upto = |count: usize| {
        let mut builder = GitignoreBuilder::new("");
        for (at, line) in lines[..count].iter().enumerate() {
            builder.add_line(None, line).with_context(|| format!("line {}", at + 1))?;
        }
        Ok::<_, Error>(builder.build()?)
    };
    let error = match upto(lines.len()) {
        Err(error) if error.downcast_ref::<String>().is_none() => error,
        done => return done,
    };
    // More lines never compile where fewer do not.
    let counts: Vec<usize> = (1..=lines.len()).collect();
    let line = counts.partition_point(|count| upto(*count).is_ok()) + 1;
    Err(error.context(format!("line {line}")))
}

/// A path relative to a folder that contains it.
fn below<'p>(path: &'p str, folder: &str) -> Option<&'p str> {
    if folder.is_empty() { Some(path) } else { path.strip_prefix(folder)?.strip_prefix('/') }
}

/// Checks that something is at a path of the command line. `of` is the flag or the argument with this path, and `what` is what it wants.
///
/// # Errors
/// Nothing is there, or the system does not say.
pub fn there(of: &str, what: &str, path: &Path) -> Result<fs::Metadata> {
    fs::metadata(path).map_err(|e| absent(of, what, path, e))
}

/// Checks that a path of the command line leads to what is read as one text: a file or a pipe.
///
/// # Errors
/// The errors of [`there`]; or a folder is there.
pub fn file_there(of: &str, path: &Path) -> Result<()> {
    if there(of, "a file", path)?.is_dir() {
        bail!("`{of}` \"{}\": there must be a file, but a folder is there; name a file in it", shown(path));
    }
    Ok(())
}

/// The error for a path of the command line at which nothing can be read: see [`there`].
pub fn absent(of: &str, what: &str, path: &Path, why: io::Error) -> Error {
    let name = shown(path);
    match why.kind() {
        io::ErrorKind::NotFound if path.as_os_str().is_empty() => {
            anyhow!("`{of}` must name {what}, but it is empty: a variable of the shell may not be set")
        }
        io::ErrorKind::NotFound => {
            anyhow!("`{of}` \"{name}\": there must be {what}, but nothing is there; correct the path")
        }
        _ => anyhow!(why).context(format!("`{of}` \"{name}\"")),
    }
}

/// Whether a file or folder of this name is one that only a killed run leaves, or one that is still at work.
pub fn is_leftover(name: &str, kind: fs::FileType) -> bool {
    if kind.is_dir() { file_path::maker(name).is_some() } else { file_path::is_file_of_a_run(name) }
}

/// A path for a message.
pub fn shown(path: &Path) -> String {
    shown::name_of_bytes(path.as_os_str().as_encoded_bytes())
}

/// A path as a text, with `\xe9` for each byte that is not UTF-8.
pub fn text(path: &Path) -> String {
    let part = |chunk: std::str::Utf8Chunk<'_>| {
        let bytes: String = chunk.invalid().iter().map(|byte| format!("\\x{byte:02x}")).collect();
        format!("{}{bytes}", chunk.valid())
    };
    path.as_os_str().as_encoded_bytes().utf8_chunks().map(part).collect()
}

/// A path as git prints it, in bytes that need not be UTF-8.
#[cfg(unix)]
pub fn path_of(bytes: &[u8]) -> PathBuf {
    use std::os::unix::ffi::OsStrExt;
    OsStr::from_bytes(bytes).into()
}

/// A path as git prints it.
#[cfg(not(unix))]
pub fn path_of(bytes: &[u8]) -> PathBuf {
    String::from_utf8_lossy(bytes).into_owned().into()
}

/// A C string, in the form that git and patch read. Only the characters that `is_bare` allows stay unescaped.
pub fn c_quoted(text: &str, is_bare: impl Fn(char) -> bool) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '\u{7}' => out.push_str("\\a"),
            '\u{8}' => out.push_str("\\b"),
            '\t' => out.push_str("\\t"),
            '\n' => out.push_str("\\n"),
            '\u{b}' => out.push_str("\\v"),
            '\u{c}' => out.push_str("\\f"),
            '\r' => out.push_str("\\r"),
            '"' | '\\' => out.extend(['\\', c]),
            c if is_bare(c) => out.push(c),
            c => c.encode_utf8(&mut [0; 4]).bytes().for_each(|byte| out.push_str(&format!("\\{byte:03o}"))),
        }
    }
    out + "\""
}

#[cfg(all(test, unix))]
mod tests;
