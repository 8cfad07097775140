//! The tags and branches of a repository, and which of them are releases. Another source of releases has only names: those with a version count as
//! tags, and others, which go on, as branches.
//!
//! A release is a tag that ends with a version: `v1.2.3`, `1.2`, `web-1.2.3`. As for kpt, the tag `apps/v1` is the release `v1` of the
//! directory `apps` and of all directories in it, and counts before the tag `v1`. The text before the version is the series. A package
//! follows the series that it came with, for a repository may have versions of its own beside those of its packages.

use std::collections::BTreeMap;

use anyhow::{Context, Result, bail};
use semver::Version;

use crate::address::{ReleaseAddress, check_name};
use crate::source::Listed;
use crate::versions::{Range, followed, split, unread, version};

/// The tags and branches of a repository, each with its commit.
#[derive(Debug, Default)]
pub struct Refs {
    tags: BTreeMap<String, String>,
    branches: BTreeMap<String, String>,
    /// The name of the default branch, and its commit.
    head: Option<(Option<String>, String)>,
}

/// A release, or another state of upstream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct State {
    /// The name by which the user knows it.
    pub name: String,
    /// The tag, branch or commit that it is.
    pub reference: String,
    /// Its commit, or its digest; empty if it was only listed: [`Store::resolved`](crate::store::Store::resolved) asks for it.
    pub commit: String,
    /// What it is.
    pub kind: RefKind,
}

/// What a name of a state is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RefKind {
    /// A tag.
    Tag,
    /// A branch.
    Branch,
    /// A commit, by its hash.
    Commit,
}

/// A line as `git ls-remote` prints it, for a release that another source lists; empty if no record can name it.
pub fn line(Listed { name, digest }: &Listed) -> String {
    let digest = digest.as_deref().filter(|digest| is_commit(digest)).unwrap_or_default();
    let place = if kind(name) == RefKind::Tag { "tags" } else { "heads" };
    if check_name(name).is_ok() { format!("{digest}\trefs/{place}/{name}\n") } else { String::new() }
}

/// What a name of another source than git is.
pub fn kind(name: &str) -> RefKind {
    if split(name).is_some() { RefKind::Tag } else { RefKind::Branch }
}

impl Refs {
    /// Reads what `git ls-remote --symref` prints. A tag or a branch that no record can name is left out.
    pub fn read(lines: &[u8]) -> Self {
        let mut refs = Self::default();
        let mut head = None;
        for line in String::from_utf8_lossy(lines).lines() {
            let Some((object, name)) = line.split_once('\t') else { continue };
            let is_recordable = |name: &&str| check_name(name.strip_suffix("^{}").unwrap_or(name)).is_ok();
            if let Some(branch) = object.strip_prefix("ref: refs/heads/").filter(|_| name == "HEAD") {
                head = Some(branch.to_owned());
            } else if name == "HEAD" {
                refs.head = Some((None, object.to_owned()));
            } else if let Some(branch) = name.strip_prefix("refs/heads/").filter(is_recordable) {
                refs.branches.insert(branch.to_owned(), object.to_owned());
            } else if let Some(tag) = name.strip_prefix("refs/tags/").filter(is_recordable) {
                // The second line of an annotated tag has its commit.
                refs.tags.insert(tag.strip_suffix("^{}").unwrap_or(tag).to_owned(), object.to_owned());
            }
        }
        if let Some((name, _)) = &mut refs.head {
            *name = head;
        }
        refs
    }

    /// The state that an address names.
    ///
    /// # Errors
    /// The repository has no such tag or branch, and the name is not that of a commit.
    pub fn find(&self, address: &ReleaseAddress) -> Result<State> {
        let Some(name) = &address.reference else {
            let Some((branch, commit)) = &self.head else {
                let newest = followed(self.releases(address, &self.series(address, None, None)), None, None).pop();
                let newest = newest.filter(|_| !address.repo.is_git()).map(|(_, state)| state);
                return newest.with_context(|| {
                    let (repo, names) = (&address.repo, address.repo.names());
                    if repo.is_git() {
                        format!("\"{repo}\" has no default branch, so the address must end with `@` and a tag or branch")
                    } else {
                        format!("nobody knows which release of \"{repo}\" is the newest, so the address must end with a {names}")
                    }
                });
            };
            let name = branch.clone().unwrap_or_else(|| commit.clone());
            let kind = if branch.is_some() { RefKind::Branch } else { RefKind::Commit };
            // A package records it, and reads it again.
            check_name(&name).with_context(|| format!("the default branch of \"{}\"", address.repo))?;
            return Ok(State { reference: name.clone(), name, commit: commit.clone(), kind });
        };
        let newest = || {
            let range = Range::read(name)?;
            let all = self.releases(address, &self.series(address, Some(&range), None));
            followed(all, None, Some(&range)).pop().map(|(_, state)| state)
        };
        match self.named(address, name).or_else(newest) {
            Some(found) => Ok(found),
            None if Range::read(name).is_some() => {
                let releases = self.releases(address, &self.series(address, None, None));
                bail!("\"{}\" has no release in the range \"{name}\"{}", address.repo, offer(releases))
            }
            None => {
                if let Some(why) = unread(name) {
                    return Err(why);
                }
                let releases = self.of_all_series(address);
                bail!("\"{}\" has no {} \"{name}\"{}", address.repo, address.repo.names(), offer(releases))
            }
        }
    }

    /// The tag, branch or commit of a name, for the directory of an address.
    fn named(&self, address: &ReleaseAddress, name: &str) -> Option<State> {
        let state = |reference: &str, commit: &str, kind| State {
            name: name.to_owned(),
            reference: reference.to_owned(),
            commit: commit.to_owned(),
            kind,
        };
        let tag = |tag: &str| self.tags.get(tag).map(|commit| state(tag, commit, RefKind::Tag));
        let branch = |branch: &str| self.branches.get(branch).map(|commit| state(branch, commit, RefKind::Branch));
        // The default branch goes on as any other branch does.
        let head =
            || self.head.as_ref().filter(|_| name == "HEAD").map(|(_, commit)| state(name, commit, RefKind::Branch));
        let full = || match name.strip_prefix("refs/")?.split_once('/')? {
            ("tags", name) => tag(name),
            // Its full name stays, because a tag may have the short one.
            ("heads", short) => Some(state(name, self.branches.get(short)?, RefKind::Branch)),
            _ => None,
        };
        let commit = || is_commit(name).then(|| state(name, name, RefKind::Commit));
        let own = || folders(&address.directory).find_map(|folder| tag(&format!("{folder}/{name}")));
        match name.starts_with("refs/") {
            // It says what it is, so nothing else takes its place.
            true => full(),
            false => own().or_else(|| tag(name)).or_else(|| branch(name)).or_else(head).or_else(commit),
        }
    }

    /// Whether nothing is there, or nobody lists it.
    pub fn is_empty(&self) -> bool {
        self.tags.is_empty() && self.branches.is_empty() && self.head.is_none()
    }

    /// The digest of a release with a name.
    pub fn digest_of(&self, name: &str) -> Option<&str> {
        self.tags.get(name).or_else(|| self.branches.get(name)).map(String::as_str)
    }

    /// The name of a release with a digest.
    pub fn name_of(&self, digest: &str) -> Option<&str> {
        let mut all = self.tags.iter().chain(&self.branches);
        all.find(|(_, known)| *known == digest).map(|(name, _)| name.as_str())
    }

    /// The range of versions that an address names; `None` if it names anything else.
    pub fn range(&self, address: &ReleaseAddress) -> Option<Range> {
        let name = address.reference.as_deref()?;
        Range::read(name).filter(|_| self.named(address, name).is_none())
    }

    /// The address under which a state is asked for again: with the range that it was asked for by, or else with the name of the state.
    pub fn wish(&self, asked: &ReleaseAddress, state: &State) -> ReleaseAddress {
        let range = asked.reference.clone().filter(|_| self.range(asked).is_some());
        ReleaseAddress { reference: range.or_else(|| Some(state.name.clone())), ..asked.clone() }
    }

    /// The releases that an address can name: those of its directory, of the directories above and of the repository.
    fn of_all_series(&self, address: &ReleaseAddress) -> Vec<(Version, State)> {
        let series = folders(&address.directory).map(|folder| format!("{folder}/")).chain([String::new()]);
        let mut all: Vec<(Version, State)> = series.flat_map(|series| self.releases(address, &series)).collect();
        all.sort_by(|a, b| (&a.0, &a.1.name).cmp(&(&b.0, &b.1.name)));
        all.dedup_by(|a, b| a.1.name == b.1.name);
        all
    }

    /// The text before the version in the tags that a package follows: the one that the range names, or else that of the tag that the
    /// package came with. Without one, the tags of its directory count, or else those of the nearest directory above, or else those of the
    /// repository.
    pub fn series(&self, address: &ReleaseAddress, range: Option<&Range>, came_with: Option<&str>) -> String {
        if let Some(series) = range.and_then(|range| range.series.clone()) {
            let own = folders(&address.directory).map(|folder| format!("{folder}/{series}"));
            let has_tags = |series: &String| {
                self.tags.keys().any(|tag| tag.strip_prefix(series.as_str()).and_then(version).is_some())
            };
            return own.chain([series.clone()]).find(has_tags).unwrap_or(series);
        }
        if let Some((prefix, _)) = came_with.and_then(split) {
            return prefix.to_owned();
        }
        let mut own = folders(&address.directory).map(|folder| format!("{folder}/"));
        own.find(|own| self.tags.keys().any(|tag| tag.strip_prefix(own.as_str()).and_then(version).is_some()))
            .unwrap_or_default()
    }

    /// The releases of a series, from the oldest to the newest.
    pub fn releases(&self, address: &ReleaseAddress, series: &str) -> Vec<(Version, State)> {
        let release = |(tag, commit): (&String, &String)| {
            let version = version(tag.strip_prefix(series)?)?;
            let (name, reference, commit) = (short(tag, address).to_owned(), tag.clone(), commit.clone());
            Some((version, State { name, reference, commit, kind: RefKind::Tag }))
        };
        let mut all: Vec<(Version, State)> = self.tags.iter().filter_map(release).collect();
        all.sort_by(|a, b| (&a.0, &a.1.name).cmp(&(&b.0, &b.1.name)));
        all
    }
}

/// What there is instead of a name that is not there.
fn offer(releases: Vec<(Version, State)>) -> String {
    let newest = followed(releases, None, None).into_iter().rev().take(3).map(|(_, state)| state.name);
    let newest: Vec<String> = newest.collect();
    if newest.is_empty() { String::new() } else { format!("; the newest releases are {}", newest.join(", ")) }
}

/// A directory of a repository and those above it, without the root, from the inside out.
fn folders(directory: &str) -> impl Iterator<Item = &str> {
    let above = directory.rmatch_indices('/').map(|(at, _)| &directory[..at]);
    Some(directory).into_iter().chain(above).filter(|folder| !folder.is_empty())
}

/// The name of a tag without the directory that it is for.
pub fn short<'t>(tag: &'t str, address: &ReleaseAddress) -> &'t str {
    let own = |folder| tag.strip_prefix(folder).and_then(|rest| rest.strip_prefix('/'));
    folders(&address.directory).find_map(own).unwrap_or(tag)
}

/// Whether a name is that of a whole commit.
pub fn is_commit(name: &str) -> bool {
    matches!(name.len(), 40 | 64) && name.bytes().all(|byte| byte.is_ascii_hexdigit() && !byte.is_ascii_uppercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refs(lines: &[&str]) -> Refs {
        let object = |at: usize| format!("{at:040x}");
        let lines: String =
            lines.iter().enumerate().map(|(at, name)| format!("{}\trefs/{name}\n", object(at))).collect();
        Refs::read(format!("ref: refs/heads/main\tHEAD\n{}\tHEAD\n{lines}", object(0)).as_bytes())
    }

    fn address(text: &str) -> ReleaseAddress {
        ReleaseAddress::parse(text).expect(text)
    }

    #[test]
    fn a_name_is_a_tag_of_the_directory_a_tag_a_branch_or_a_commit() {
        let refs = refs(&["heads/main", "heads/v1", "tags/v1", "tags/d/v1", "tags/v2", "tags/v2^{}", "tags/d/e/v2"]);
        let commit = "a".repeat(40);
        for (text, want) in [
            ("r.git/d@v1", Some(("d/v1", 3))),
            ("r.git/e@v1", Some(("v1", 2))),
            ("r.git/d/e@v1", Some(("d/v1", 3))),
            ("r.git/d/e@v2", Some(("d/e/v2", 6))),
            ("r.git@v1", Some(("v1", 2))),
            ("r.git/d@v2", Some(("v2", 5))),
            ("r.git/d@main", Some(("main", 0))),
            ("r.git/d", Some(("main", 0))),
            ("r.git/d@refs/heads/v1", Some(("refs/heads/v1", 1))),
            ("r.git/d@refs/tags/v1", Some(("v1", 2))),
            ("r.git/d@HEAD", Some(("HEAD", 0))),
            ("r.git/d@v3", None),
        ] {
            let found = refs.find(&address(text)).ok();
            let found = found.as_ref().map(|state| (state.reference.as_str(), state.commit.as_str()));
            let want = want.map(|(reference, at)| (reference, format!("{at:040x}")));
            assert_eq!(found, want.as_ref().map(|(reference, commit)| (*reference, commit.as_str())), "{text}");
        }
        assert_eq!(refs.find(&address(&format!("r.git@{commit}"))).expect("a commit").commit, commit);
    }

    #[test]
    fn a_name_that_is_not_there_is_answered_by_the_releases_that_can_be_named() {
        let refs = refs(&["tags/v1.0.0", "tags/v2.0.0", "tags/d/v0.1.0", "tags/d/v2.0.0", "tags/web-3.0.0"]);
        for (text, want) in [
            (
                "r.git/d@v9",
                "\"r.git\" has no tag, branch or whole commit \"v9\"; the newest releases are v2.0.0, v1.0.0, v0.1.0",
            ),
            (
                "r.git/e@v9",
                "\"r.git\" has no tag, branch or whole commit \"v9\"; the newest releases are v2.0.0, v1.0.0",
            ),
            ("r.git/d@^9", "\"r.git\" has no release in the range \"^9\"; the newest releases are v2.0.0, v0.1.0"),
        ] {
            assert_eq!(refs.find(&address(text)).expect_err(text).to_string(), want);
        }
    }

    #[test]
    fn who_asked_for_a_range_asks_for_it_again_and_others_for_the_state() {
        let refs = refs(&["tags/v1.4.0", "tags/v2.0.0"]);
        let newest = refs.find(&address("r.git@v2.0.0")).expect("a tag");
        for (asked, want) in [("r.git/d@^1.4", "^1.4"), ("r.git/d@v1.4.0", "v2.0.0"), ("r.git/d", "v2.0.0")] {
            let wish = refs.wish(&address(asked), &newest);
            assert_eq!((wish.reference.as_deref(), wish.directory.as_str()), (Some(want), "d"), "{asked}");
        }
    }

    #[test]
    fn releases_are_in_the_order_of_their_versions() {
        let refs =
            refs(&["tags/v1.10.0", "tags/v1.9", "tags/v2.0.0-rc1", "tags/d/v1.2", "tags/latest", "tags/web-3.0.0"]);
        let names = |text: &str, came_with: Option<&str>| -> Vec<String> {
            let address = address(text);
            let all = refs.releases(&address, &refs.series(&address, None, came_with));
            all.into_iter().map(|(_, state)| format!("{} {}", state.name, state.reference)).collect()
        };
        let own = ["v1.2 d/v1.2"];
        let all = ["v1.9 v1.9", "v1.10.0 v1.10.0", "v2.0.0-rc1 v2.0.0-rc1"];
        assert_eq!(names("r.git/d", None), own);
        assert_eq!(names("r.git/d/e", None), own);
        assert_eq!(names("r.git/d/e", Some("d/v1.0")), own);
        assert_eq!(names("r.git/d", Some("v1.9")), all);
        assert_eq!(names("r.git/e", None), all);
        assert_eq!(names("r.git", Some("web-1.0.0")), ["web-3.0.0 web-3.0.0"]);
    }

    #[test]
    fn a_range_is_the_newest_release_in_it() {
        let refs = refs(&[
            "heads/v3.x",
            "tags/v1.3.0",
            "tags/v1.4.2",
            "tags/v1.5.0-rc1",
            "tags/v1.10.0",
            "tags/v2.0.0",
            "tags/web-1.1.0",
            "tags/web-2.0.0",
            "tags/d/v1.1",
            "tags/d/v1.2",
        ]);
        for (text, want) in [
            ("r.git@^1.4", Some("v1.10.0")),
            ("r.git@~1.4", Some("v1.4.2")),
            ("r.git@~v1.4", Some("v1.4.2")),
            ("r.git@v1.x", Some("v1.10.0")),
            ("r.git@1.x", Some("v1.10.0")),
            ("r.git@>=1.3,<1.4", Some("v1.3.0")),
            ("r.git@web-1.x", Some("web-1.1.0")),
            ("r.git/d@v1.x", Some("v1.2")),
            ("r.git/d/e@^1", Some("v1.2")),
            // A branch of this name is there.
            ("r.git@v3.x", Some("v3.x")),
            ("r.git@^3", None),
            ("r.git@v1.6", None),
            ("r.git@x", None),
        ] {
            let address = address(text);
            assert_eq!(refs.find(&address).ok().map(|state| state.name).as_deref(), want, "{text}");
            let is_range = refs.range(&address).is_some();
            assert_eq!(
                is_range,
                !text.ends_with("v3.x") && Range::read(text.rsplit('@').next().expect("a name")).is_some()
            );
        }
    }
}
