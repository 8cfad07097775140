//! [`Glob`]: a path in a package, with wildcards. It is the one dialect of all paths that a user writes: `path` of a source, of a target and of a
//! rule, `paths` and `keep`. The wildcards are those of `.gitignore`.

use std::iter::Peekable;
use std::str::Chars;

use krm_names::file_path::is_within;
use regex_lite::Regex;

/// A file, or a folder with all that is in it. `*` and `?` stand for no `/`, `**` for any number of folders, `[a-c]` for one of these
/// characters, and `\` takes the next sign as it is.
#[derive(Clone, Debug)]
pub struct Glob {
    /// The path without `./` and without a `/` at the end.
    written: String,
    /// What stands for it; `None` if it has no wildcard.
    pattern: Option<Regex>,
}

/// A file that a path means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meant<'p> {
    /// The file itself.
    File,
    /// A file with this path below a folder that is meant.
    Below(&'p str),
}

impl Glob {
    /// Reads a path.
    ///
    /// # Errors
    /// It leads out of the package, names nothing in it, or has a `[` that is not closed; the message says so.
    pub fn new(path: &str) -> Result<Self, String> {
        if !is_within(&path.replace('\\', "")) {
            return Err("it begins at the root of the package, without a `/` and without `..`".to_owned());
        }
        let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
        // A folder with all that is in it.
        let end = parts.iter().rposition(|part| *part != "**").map_or(parts.len().min(1), |at| at + 1);
        let written = parts[..end].join("/");
        if written.is_empty() {
            return Err("it names a file or a folder in the package".to_owned());
        }
        let pattern = match written.contains(['*', '?', '[', '\\']) {
            true => Some(Regex::new(&expression(&written)?).map_err(|e| e.to_string())?),
            false => None,
        };
        Ok(Self { written, pattern })
    }

    /// The path, without `./` and without a `/` at the end.
    pub fn as_str(&self) -> &str {
        &self.written
    }

    /// Whether it may mean several files or folders.
    pub fn has_wildcards(&self) -> bool {
        self.pattern.is_some()
    }

    /// Whether it means a file.
    pub fn fits(&self, file: &str) -> bool {
        self.meant(file).is_some()
    }

    /// The file as it is meant: by the topmost folder that fits, or itself.
    pub fn meant<'p>(&self, file: &'p str) -> Option<Meant<'p>> {
        let file = file.strip_prefix("./").unwrap_or(file);
        let Some(pattern) = &self.pattern else {
            return match file.strip_prefix(&*self.written)? {
                "" => Some(Meant::File),
                rest => rest.strip_prefix('/').map(Meant::Below),
            };
        };
        let mut folders = file.match_indices('/').map(|(at, _)| at);
        let below = folders.find(|at| pattern.is_match(&file[..*at])).map(|at| Meant::Below(&file[at + 1..]));
        below.or_else(|| pattern.is_match(file).then_some(Meant::File))
    }
}

/// The regular expression for a path with wildcards.
fn expression(path: &str) -> Result<String, String> {
    let (mut out, mut rest) = (String::from("^"), path.chars().peekable());
    while let Some(c) = rest.next() {
        match c {
            '*' if rest.next_if_eq(&'*').is_some() => match rest.next_if_eq(&'/') {
                Some(_) => out.push_str("(?:.*/)?"),
                None => out.push_str(".*"),
            },
            '*' => out.push_str("[^/]*"),
            '?' => out.push_str("[^/]"),
            '[' => out.push_str(&class(&mut rest)?),
            '\\' => out.push_str(&escaped(rest.next().unwrap_or('\\'))),
            c => out.push_str(&escaped(c)),
        }
    }
    Ok(out + "$")
}

fn escaped(c: char) -> String {
    regex_lite::escape(c.encode_utf8(&mut [0; 4]))
}

/// A set of characters, behind its `[`. No set has a `/`.
fn class(rest: &mut Peekable<Chars<'_>>) -> Result<String, String> {
    let mut out = String::from("[");
    if rest.next_if(|c| matches!(c, '!' | '^')).is_some() {
        out.push_str("^/");
    }
    for c in rest {
        match c {
            ']' => return Ok(out + "]"),
            '-' => out.push('-'),
            c => out.push_str(&escaped(c)),
        }
    }
    Err("a `[` must have its `]`".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wildcards_stand_for_what_git_ignores_by_them() {
        for (pattern, path, want) in [
            ("Chart.yaml", "Chart.yaml", true),
            ("Chart.yaml", "charts/Chart.yaml", false),
            ("Chart.yaml", "Chartxyaml", false),
            ("./charts/a", "charts/a/Chart.yaml", true),
            ("charts/", "charts/a/Chart.yaml", true),
            ("charts", "charts.yaml", false),
            ("charts/*/Chart.yaml", "charts/a/Chart.yaml", true),
            ("charts/*/Chart.yaml", "charts/a/b/Chart.yaml", false),
            ("charts/**/Chart.yaml", "charts/a/b/Chart.yaml", true),
            ("charts/**/Chart.yaml", "charts/Chart.yaml", true),
            ("**/Chart.yaml", "Chart.yaml", true),
            ("**/Chart.yaml", "a/b/Chart.yaml", true),
            ("**/Chart.yaml", "a/bChart.yaml", false),
            ("charts/**", "charts/a", true),
            ("*.yaml", "a.yaml", true),
            ("*.yaml", "a/b.yaml", false),
            ("?.yaml", "ab.yaml", false),
            ("[a-c]?.yaml", "b1.yaml", true),
            ("[!a-c].yaml", "b.yaml", false),
            ("[!a-c].yaml", "d.yaml", true),
            ("[.].yaml", "a.yaml", false),
            ("a[!b]c", "a/c", false),
            ("\\*.yaml", "a.yaml", false),
            ("\\*.yaml", "*.yaml", true),
            ("a.b", "./a.b/c", true),
            ("**", "a/b.yaml", true),
        ] {
            assert_eq!(Glob::new(pattern).expect(pattern).fits(path), want, "{pattern} {path}");
        }
        for wrong in ["", "/", "/a", "a[b", "../a", "a/..", ".", "./"] {
            assert!(Glob::new(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_file_is_meant_by_the_topmost_folder() {
        for (pattern, path, want) in [
            ("a", "a/b/c", Some(Meant::Below("b/c"))),
            ("a/*", "a/b/c", Some(Meant::Below("c"))),
            ("a/*", "a/c", Some(Meant::File)),
            ("a/**", "a/b/c", Some(Meant::Below("b/c"))),
            ("a/**/c", "a/b/c/d/c", Some(Meant::Below("d/c"))),
            ("a/b", "a/b", Some(Meant::File)),
            ("a/b", "a/bc", None),
        ] {
            assert_eq!(Glob::new(pattern).expect(pattern).meant(path), want, "{pattern} {path}");
        }
    }
}
