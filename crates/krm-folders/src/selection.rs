//! Which files of upstream a package takes, and which of its own files upgrades leave alone.
//!
//! Both are lists of paths in `spec` of the package's `.krm-merge.yaml`, because kpt refuses a Kptfile with fields that it does not know. A path
//! is one in the package, as every [`Glob`]. `!` before it takes it out of what the paths before it name.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use crate::held::Held;
use crate::side::Side;
use anyhow::{Result, anyhow};
use krm_job::glob::Glob;
use krm_names::file_path;
use krm_package::resource::{Identity, Resource};
use krm_yaml::{Document, NodeRef};

/// The field with what a package takes of upstream.
pub const PATHS: &str = "paths";
/// The field with the files that upgrades leave alone.
const KEEP: &str = "keep";

/// Which files of upstream a package takes, and which of its own files upgrades leave alone.
#[derive(Debug, Default)]
pub struct Selection {
    /// What it takes; `None` if it takes all.
    paths: Option<Patterns>,
    /// What upgrades leave alone.
    keep: Option<Patterns>,
}

impl Selection {
    /// The selection of these paths, each in the form of the field.
    ///
    /// # Errors
    /// One of them is no path.
    pub fn of_paths(paths: &[String]) -> Result<Self> {
        let paths = (!paths.is_empty()).then(|| Patterns::of(paths.iter().map(String::as_str)));
        Ok(Self { paths: paths.transpose()?, keep: None })
    }

    /// Reads the selection of a `.krm-merge.yaml`. `name` is the name of the file.
    ///
    /// # Errors
    /// A list is wrong. The error has the place in the file.
    pub fn read(document: &Document<'_>, name: &str) -> Result<Self> {
        let spec = document.roots().next().and_then(|root| root.get("spec"));
        let read = |field: &str| {
            let Some(list) = spec.and_then(|spec| spec.get(field)).filter(|list| !list.is_null()) else {
                return Ok(None);
            };
            let wrong = |at: NodeRef<'_>, why: String| anyhow!("{name}:{}: {why}", at.position());
            let is_text = |node: NodeRef<'_>| !node.is_map() && !node.is_list() && !node.is_null();
            if !list.is_list() || !list.elements().all(is_text) {
                return Err(wrong(
                    list,
                    format!("`spec.{field}` must be a list of paths, such as `[base, \"!base/dev\"]`"),
                ));
            }
            let patterns = Patterns::of(list.elements().map(NodeRef::string));
            // An empty list says nothing.
            patterns
                .map(|patterns| list.elements().next().map(|_| patterns))
                .map_err(|why| wrong(list, format!("`spec.{field}`: {why:#}")))
        };
        Ok(Self { paths: read(PATHS)?, keep: read(KEEP)? })
    }

    /// The paths that fit no file of any of these sides, such as one that is misspelled.
    pub fn fitting_nothing(&self, sides: &[&Side]) -> Vec<FitsNothing> {
        let fields = [(PATHS, &self.paths), (KEEP, &self.keep)];
        let all = fields.into_iter().flat_map(|(field, patterns)| {
            patterns.iter().flat_map(|patterns| &patterns.each).map(move |pattern| (field, pattern))
        });
        let fits = |one: &Glob| sides.iter().flat_map(|side| &side.files).any(|held| one.fits(&held.path));
        let idle = all.filter(|(_, pattern)| !fits(&pattern.path));
        idle.map(|(field, pattern)| FitsNothing { field, path: pattern.written.clone() }).collect()
    }

    /// Whether the package says which part of upstream it takes.
    pub fn has_paths(&self) -> bool {
        self.paths.is_some()
    }

    /// Leaves out of a release what the package does not take, and what it keeps as its own.
    pub fn part_of_release(&self, release: &mut Side) {
        // What a command prints has no files.
        if !release.is_folder() {
            return;
        }
        release.files.retain(|held| self.takes(&held.path) && !self.keeps(&held.path));
    }

    /// The same for two releases. What upstream moved out of what the package takes is left out of the older one, too, so that it is no
    /// deletion. Returns these files.
    pub fn part_of_releases(&self, original: &mut Side, updated: &mut Side) -> Vec<MovedOut> {
        let elsewhere = updated.files.iter().filter(|held| !self.takes(&held.path));
        let elsewhere: HashMap<Identity<'_>, &str> = elsewhere
            .flat_map(|held| held.resources().filter_map(|resource| Some((resource.identity?, held.path.as_str()))))
            .collect();
        let gone = original.files.iter().filter(|held| self.takes(&held.path) && updated.at(&held.path).is_none());
        let moved = gone.filter_map(|held| {
            let to = held.resources().find_map(|resource| elsewhere.get(&resource.identity?).copied())?;
            Some(MovedOut { from: held.path.clone(), to: to.to_owned() })
        });
        let moved: Vec<MovedOut> = moved.collect();
        original.files.retain(|held| moved.iter().all(|moved| moved.from != held.path));
        [original, updated].into_iter().for_each(|side| self.part_of_release(side));
        moved
    }

    /// Leaves out of a package what an upgrade must not change.
    pub fn part_of_package(&self, dest: &mut Side) {
        dest.files.retain(|held| !self.keeps(&held.path));
    }

    fn takes(&self, path: &str) -> bool {
        self.paths.as_ref().is_none_or(|paths| paths.has(path))
    }

    fn keeps(&self, path: &str) -> bool {
        self.keep.as_ref().is_some_and(|keep| keep.has(path))
    }
}

/// A file that upstream moved out of what a package takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MovedOut {
    /// Where it was.
    pub from: String,
    /// Where it is now.
    pub to: String,
}

/// A path of `paths` or `keep` that fits no file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FitsNothing {
    /// The field.
    pub field: &'static str,
    /// The path, as it is in the field.
    pub path: String,
}

/// Paths with wildcards, of which the last one that fits a file decides.
#[derive(Debug)]
struct Patterns {
    each: Vec<Pattern>,
}

/// A path of a list.
#[derive(Debug)]
struct Pattern {
    /// As the user wrote it.
    written: String,
    /// What it does with the files that it fits.
    does: Does,
    path: Glob,
}

/// What a path does with the files that it fits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Does {
    /// It takes them.
    Takes,
    /// It takes them out of what the paths before it name.
    TakesOut,
}

impl Patterns {
    fn of<'p>(paths: impl Iterator<Item = &'p str>) -> Result<Self> {
        let pattern = |written: &'p str| {
            let (does, path) = match written.strip_prefix('!') {
                Some(path) => (Does::TakesOut, path),
                None => (Does::Takes, written),
            };
            // It begins at the package anyway.
            let path = path.strip_prefix('/').unwrap_or(path);
            let path = Glob::new(path).map_err(|why| anyhow!("\"{written}\" must be a path in the package: {why}"))?;
            Ok(Pattern { written: written.to_owned(), does, path })
        };
        Ok(Self { each: paths.map(pattern).collect::<Result<_>>()? })
    }

    /// Whether they take a file. If the first path takes something out, everything else is taken.
    fn has(&self, path: &str) -> bool {
        let last = self.each.iter().rev().find(|pattern| pattern.path.fits(path));
        match last {
            Some(pattern) => pattern.does == Does::Takes,
            None => self.each.first().is_some_and(|first| first.does == Does::TakesOut),
        }
    }
}

/// What a package lacks of a release: folders, which end with `/`, and files. A file is there if the package has one of its name, or one of its
/// resources in another file or namespace. A package that has nothing of the release lacks nothing of it.
pub fn lacks(release: &Side, dest: &Side) -> Vec<String> {
    // Who copies a release may put it into a namespace.
    fn kind_and_name<'a>(resource: &Resource<'a>) -> Option<[&'a str; 3]> {
        let Identity { api_version, kind, name, .. } = resource.identity?;
        Some([api_version.rsplit_once('/').map_or("", |(group, _)| group), kind, name])
    }
    let here: HashSet<_> = dest.files.iter().flat_map(Held::resources).filter_map(|own| kind_and_name(&own)).collect();
    let is_here = |held: &Held| {
        dest.at(&held.path).is_some()
            || held.resources().any(|resource| kind_and_name(&resource).is_some_and(|own| here.contains(&own)))
    };
    let of_release = release.files.iter();
    let there: BTreeMap<&str, bool> = of_release
        .filter(|held| !file_path::is_rules(&held.path) && !file_path::is_kptfile(&held.path))
        .map(|held| (held.path.as_str(), is_here(held)))
        .collect();
    if !there.values().any(|there| *there) {
        return Vec::new();
    }
    let ends = |path: &'_ str| path.match_indices('/').map(|(at, _)| at + 1).collect::<Vec<_>>();
    let known: BTreeSet<&str> = there
        .iter()
        .filter(|(_, there)| **there)
        .flat_map(|(path, _)| ends(path).into_iter().map(|end| &path[..end]))
        .collect();
    let missing = there.iter().filter(|(_, there)| !**there).map(|(path, _)| {
        let folder = ends(path).into_iter().map(|end| &path[..end]).find(|folder| !known.contains(folder));
        folder.unwrap_or(path).to_owned()
    });
    missing.collect::<BTreeSet<_>>().into_iter().collect()
}

/// A path as an element of the field that takes it out.
pub fn taken_out(path: &str) -> String {
    let escaped = |c: char| if "*?[]\\".contains(c) { format!("\\{c}") } else { c.to_string() };
    let path: String = path.chars().map(escaped).collect();
    // A space at the end would be none.
    format!("!{}", path.strip_suffix(' ').map_or(path.clone(), |rest| format!("{rest}\\ ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn takes(paths: &[&str], path: &str) -> bool {
        Patterns::of(paths.iter().copied()).expect("paths").has(path)
    }

    #[test]
    fn the_last_path_that_fits_decides() {
        for (paths, path, want) in [
            (&["a"][..], "a/x.yaml", true),
            (&["a"], "a", true),
            (&["a"], "b/a/x.yaml", false),
            (&["**/a"], "b/a/x.yaml", true),
            (&["a", "!a/b"], "a/b/x.yaml", false),
            (&["a", "!a/b"], "a/c/x.yaml", true),
            (&["a", "!a/b", "a/b/x.yaml"], "a/b/x.yaml", true),
            (&["!c/", "!d.yaml"], "a.yaml", true),
            (&["!c/", "!d.yaml"], "c/d/x.yaml", false),
            (&["!c/", "!d.yaml"], "d.yaml", false),
            (&["!c/", "!d.yaml"], "e/d.yaml", true),
            (&["*.yaml"], "a/x.yaml", false),
            (&["**/*.yaml"], "a/x.yaml", true),
            (&["./a/"], "a/x.yaml", true),
        ] {
            assert_eq!(takes(paths, path), want, "{paths:?} {path}");
        }
        for wrong in ["", "!", "../a", "a/../../b", "/"] {
            assert!(Patterns::of([wrong].into_iter()).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_path_that_is_taken_out_is_meant_to_the_letter() {
        for path in ["a*.yaml", "[a]/", "a?b", "a\\b", "end ", "!a", "#a"] {
            let file = if path.ends_with('/') { format!("{path}x") } else { path.to_owned() };
            let out = taken_out(path);
            assert!(!takes(&[&out], &file), "{out}");
            assert!(takes(&[&out], "ax.yaml") && takes(&[&out], "a/x") && takes(&[&out], "axb"), "{out}");
        }
    }

    #[test]
    fn a_path_that_fits_no_file_is_known() {
        let document = Document::parse("spec: {paths: [a, \"!a/x\", \"!a/z\"], keep: [b/c, a/]}").expect("YAML");
        let side = Side::of_release("r".to_owned(), Vec::new(), crate::side::Unread::default(), &[]);
        let mut side = side.expect("a side");
        for path in ["a/x.yaml", "a/x/y"] {
            side.put(path, "a: 1\n".to_owned()).expect("put");
        }
        let found = Selection::read(&document, "r").expect("valid").fitting_nothing(&[&side]);
        let found: Vec<_> = found.iter().map(|FitsNothing { field, path }| (*field, path.as_str())).collect();
        assert_eq!(found, [("paths", "!a/z"), ("keep", "b/c")]);
    }

    #[test]
    fn the_lists_are_checked_where_they_stand() {
        let read = |spec: &str| {
            let document = Document::parse(format!("spec:\n  {spec}\n")).expect("YAML");
            Selection::read(&document, "r")
        };
        assert!(read("paths: [a]").expect("valid").has_paths());
        assert!(!read("keep: [a]").expect("valid").has_paths());
        assert!(!read("paths: []").expect("valid").has_paths());
        for (spec, want) in [
            ("paths: a", "r:2:10: `spec.paths` must be a list of paths"),
            ("keep: [{a: b}]", "r:2:9: `spec.keep` must be a list of paths"),
            ("keep: [\"a[\"]", "r:2:9: `spec.keep`: \"a[\" must be a path in the package: a `[` must have its `]`"),
            ("keep: [../a]", "r:2:9: `spec.keep`: \"../a\" must be a path in the package"),
        ] {
            let error = format!("{:#}", read(spec).expect_err(spec));
            assert!(error.starts_with(want), "{error}");
        }
    }
}
