//! Decides where in a package a new file may be written; no other code decides this.
//!
//! The path of a new item comes from upstream, mostly from an annotation, and the host writes a file there. So it must not lead out of the
//! package, nor to a file that gives instructions to git or this program. One file has many names: file systems of macOS and Windows ignore
//! case, drop invisible characters and dots and blanks at the end, read `NAME:STREAM`, and know a short name for a long one. A path is
//! written on one system and checked out on another, so all of these are refused everywhere. Source: git's `verify_path`, `is_ntfs_dotgit`
//! and `is_hfs_dotgit`.

use std::fmt;

/// The name of the file with the rules of a package or a repository.
pub const RULES: &str = ".krm-merge.yaml";

/// Why no new file may be written at a path. Its text continues a message that begins with "the path must".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathFault {
    /// It leads out of the package.
    Outside,
    /// It has a part that is not a name.
    NoName,
    /// It leads into the folder of git.
    Git,
    /// It is a file with rules: what is not part of the package, or how it merges.
    Rules,
    /// It is a name of our temporary files.
    Temporary,
}

impl fmt::Display for PathFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Outside => "lie within the package: relative to it, and without `..`",
            Self::NoName => "be names with one `/` between them and no `\\`, as `web/deployment.yaml`",
            Self::Git => "not lead into `.git`, however that is spelled, because git runs files there",
            Self::Rules => "not be `.krmignore` or `.krm-merge.yaml`, however that is spelled, because these files hold the rules of the package",
            Self::Temporary => "not be the name of a temporary file of krm-merge, which removes it",
        })
    }
}

/// The path of a new file, relative to the package, without `./` before it.
///
/// # Errors
/// No new file may be written there.
pub fn of_new_file(path: &str) -> Result<&str, PathFault> {
    if !is_within(path) {
        return Err(PathFault::Outside);
    }
    let path = path.strip_prefix("./").unwrap_or(path);
    path.split('/').try_for_each(check)?;
    Ok(path)
}

/// Whether a path is relative and never leads above its start.
pub fn is_within(path: &str) -> bool {
    let has_drive = path.as_bytes().first().is_some_and(u8::is_ascii_alphabetic) && path[1..].starts_with(":/");
    !path.starts_with('/') && !has_drive && !path.split(['/', '\\']).any(|part| only_dots(part).is_some_and(|n| n > 1))
}

/// The number of dots in a name of only dots and blanks; Windows drops the blanks.
fn only_dots(name: &str) -> Option<usize> {
    name.chars().all(|c| c == '.' || c == ' ').then(|| name.matches('.').count())
}

fn check(name: &str) -> Result<(), PathFault> {
    let folded = folded(name);
    if only_dots(name).is_some() || name.contains(|c: char| c == '\\' || c.is_control()) {
        Err(PathFault::NoName)
    } else if is_git(name) {
        Err(PathFault::Git)
    } else if is_short_name(&folded, "krmign") || folded == ".krmignore" || is_rules(name) {
        Err(PathFault::Rules)
    } else if is_of_a_run(name) {
        Err(PathFault::Temporary)
    } else {
        Ok(())
    }
}

/// Whether some file system takes a name for `.git`.
pub fn is_git(name: &str) -> bool {
    let folded = folded(name);
    folded == ".git" || is_short_name(&folded, "git")
}

/// Whether some file system takes a name for `.krm-merge.yaml`, which holds rules of the package and the record of its upstream.
pub fn is_rules(name: &str) -> bool {
    let folded = folded(name);
    folded == RULES || is_short_name(folded.strip_suffix(".yam").unwrap_or(&folded), "krm-me")
}

/// Whether some file system takes a name for `Kptfile`, which holds the record of a package's upstream.
pub fn is_kptfile(name: &str) -> bool {
    folded(name) == "kptfile"
}

/// Whether git, a host of git, or this program may obey the file at a path, so that it does more than describe resources.
pub fn is_obeyed(path: &str) -> bool {
    const NAMES: [&str; 4] = [".gitattributes", ".gitmodules", ".github", ".krmignore"];
    path.split('/').any(|name| NAMES.contains(&&*folded(name)))
}

/// A name in lower case, without the parts that some file system ignores.
fn folded(name: &str) -> String {
    let name = name.split(':').next().unwrap_or(name);
    let seen = name.chars().filter(|c| !is_unseen(*c)).flat_map(char::to_lowercase);
    seen.collect::<String>().trim_end_matches(['.', ' ']).to_owned()
}

/// Whether HFS+ leaves a character out of a name.
fn is_unseen(c: char) -> bool {
    matches!(c, '\u{200c}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{206a}'..='\u{206f}' | '\u{feff}')
}

/// Whether a folded name is the short name that Windows gives a file: `GIT~1` for `.git`.
fn is_short_name(folded: &str, of: &str) -> bool {
    folded.strip_prefix(of).and_then(|rest| rest.strip_prefix('~')).is_some_and(is_number)
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())
}

const PREFIX: &str = ".krm-merge-";
const SUFFIX: &str = ".tmp";

/// The name of the journal in the folder of a package: what a run that was killed still has to do there.
pub const JOURNAL: &str = ".krm-merge-journal.tmp";

/// The name of the file that a run locks in the folder in which it writes.
pub const LOCK: &str = ".krm-merge-lock.tmp";

/// The name of a temporary file of a run, which has a random number; `of` is the number of the file that it writes.
pub fn temporary(run: u64, of: usize) -> String {
    format!("{PREFIX}{run}-{of}{SUFFIX}")
}

/// Whether a name is one of our temporary files.
pub fn is_temporary(name: &str) -> bool {
    let run = name.strip_prefix(PREFIX).and_then(|rest| rest.strip_suffix(SUFFIX));
    run.and_then(|run| run.split_once('-')).is_some_and(|(process, of)| is_number(process) && is_number(of))
}

/// Whether a name is one of our temporary files, our journal, or our lock.
pub fn is_file_of_a_run(name: &str) -> bool {
    is_temporary(name) || name == JOURNAL || name == LOCK
}

/// Whether some file system takes a name for one of our temporary files or folders, our journal, or our lock.
pub fn is_of_a_run(name: &str) -> bool {
    let folded = folded(name);
    is_file_of_a_run(&folded) || maker(&folded).is_some()
}

const NEW_FOLDER: &str = ".krm-merge-get-";

/// The name of the folder in which a process makes the new folder `of`.
pub fn temporary_folder(process: u32, of: &str) -> String {
    format!(".{of}{NEW_FOLDER}{process}")
}

/// The number of the process that makes a new folder in a folder of this name; `None` if it is not such a name.
pub fn maker(name: &str) -> Option<&str> {
    let (of, process) = name.strip_prefix('.')?.rsplit_once(NEW_FOLDER)?;
    (!of.is_empty() && is_number(process)).then_some(process)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_file_lies_in_the_package_and_tells_nobody_what_to_do() {
        for (path, want) in [
            ("web.yaml", Ok("web.yaml")),
            ("./a/b c/web.yaml", Ok("a/b c/web.yaml")),
            (".github/x..yaml", Ok(".github/x..yaml")),
            ("git/.gitignore", Ok("git/.gitignore")),
            ("clusterrole_system:node.yaml", Ok("clusterrole_system:node.yaml")),
            ("git~x/.krm-merge-notes.tmp", Ok("git~x/.krm-merge-notes.tmp")),
            ("../x", Err(PathFault::Outside)),
            ("a/../../x", Err(PathFault::Outside)),
            ("a/..", Err(PathFault::Outside)),
            ("a/.. /x", Err(PathFault::Outside)),
            ("..\\x", Err(PathFault::Outside)),
            ("/etc/x", Err(PathFault::Outside)),
            ("C:/x", Err(PathFault::Outside)),
            ("", Err(PathFault::NoName)),
            ("a//x", Err(PathFault::NoName)),
            ("a/", Err(PathFault::NoName)),
            ("a/./x", Err(PathFault::NoName)),
            ("././x", Err(PathFault::NoName)),
            (".//etc/x", Err(PathFault::NoName)),
            ("a\\x", Err(PathFault::NoName)),
            ("a\nx", Err(PathFault::NoName)),
            ("a\0", Err(PathFault::NoName)),
            (".git", Err(PathFault::Git)),
            (".git/hooks/pre-commit", Err(PathFault::Git)),
            ("a/.GiT/config", Err(PathFault::Git)),
            (".git. ./x", Err(PathFault::Git)),
            (".git::$INDEX_ALLOCATION/x", Err(PathFault::Git)),
            ("GIT~1/x", Err(PathFault::Git)),
            (".g\u{200c}it/x", Err(PathFault::Git)),
            (".krmignore", Err(PathFault::Rules)),
            ("a/.KRMIGNORE", Err(PathFault::Rules)),
            (".\u{212a}rmignore", Err(PathFault::Rules)),
            ("KRMIGN~1", Err(PathFault::Rules)),
            ("a/.krm-merge-1-0.tmp", Err(PathFault::Temporary)),
            (".KRM-merge-12-0.tmp ", Err(PathFault::Temporary)),
            ("a/.krm-merge-Journal.tmp", Err(PathFault::Temporary)),
            (".web.krm-merge-get-12/x", Err(PathFault::Temporary)),
        ] {
            assert_eq!(of_new_file(path), want, "{path:?}");
        }
    }

    #[test]
    fn only_our_own_names_are_temporary() {
        for name in [&temporary(12, 0), ".krm-merge-1-34.tmp"] {
            assert!(is_temporary(name), "{name}");
        }
        for name in [
            ".krm-merge-notes.tmp",
            ".krm-merge-12.tmp",
            ".krm-merge-12-mine.tmp",
            JOURNAL,
            ".krm-merge--.tmp",
            ".krm-merge-1-0.tmp.bak",
        ] {
            assert!(!is_temporary(name), "{name}");
        }
        assert_eq!(maker(&temporary_folder(12, "a.b")), Some("12"));
        for name in [".krm-merge-get-12", "a.krm-merge-get-12", ".a.krm-merge-get-", ".a.krm-merge-get-12.bak"] {
            assert_eq!(maker(name), None, "{name}");
        }
    }
}
