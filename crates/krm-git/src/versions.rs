//! Versions in the names of releases, ranges of them, and which one follows another.
//!
//! Upstreams write versions in many ways, so a version may have fewer than three numbers, and a text before it. A wish may be a range:
//! `^1.4`, `~1.4`, `>=1.4,<2` or `v1.x`, as cargo reads them, but a version alone is a name.

use semver::{Version, VersionReq};

/// Versions of a series, of which somebody wants the newest one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Range {
    /// The text before the versions, if the range names it.
    pub series: Option<String>,
    versions: VersionReq,
}

impl Range {
    /// Reads a range; `None` if the text is not a range.
    pub fn read(text: &str) -> Option<Self> {
        starts(text).find_map(|at| {
            let (series, range) = text.split_at(at);
            let is_range =
                range.starts_with(['^', '~', '>', '<', '=']) || [".x", ".X"].iter().any(|end| range.ends_with(end));
            // A tag has the `v` that a range does without.
            let bare = |part: &str| {
                let operator = part.len() - part.trim_start_matches(['^', '~', '>', '<', '=']).len();
                let (operator, version) = part.split_at(operator);
                let version = version.strip_prefix(['v', 'V']).unwrap_or(version);
                let pre = version.find('-').unwrap_or(version.len());
                format!("{operator}{}{}", &version[..pre], counted(&version[pre..]))
            };
            let parts: Vec<String> = range.split(',').map(bare).collect();
            let versions = VersionReq::parse(&parts.join(",")).ok().filter(|_| is_range)?;
            Some(Self { series: (!series.is_empty()).then(|| series.to_owned()), versions })
        })
    }

    /// Whether it names dates, not versions.
    fn is_of_dates(&self) -> bool {
        self.versions.comparators.iter().any(|one| is_date(&Version::new(one.major, 0, 0)))
    }

    /// Whether a version is in the range.
    pub fn has(&self, version: &Version) -> bool {
        self.versions.matches(version)
    }
}

/// The releases that may follow a version, in the order of their versions, with older ones. A pre-release leads to the
/// others of its own release alone. Date tags and version tags are never compared with each other.
pub fn followed<T>(releases: Vec<(Version, T)>, current: Option<&Version>, range: Option<&Range>) -> Vec<(Version, T)> {
    let of_one_release = |current: &Version, version: &Version| {
        !current.pre.is_empty()
            && (current.major, current.minor, current.patch) == (version.major, version.minor, version.patch)
    };
    let is_stable =
        |version: &Version| version.pre.is_empty() || current.is_some_and(|current| of_one_release(current, version));
    let has_versions = releases.iter().any(|(version, _)| version.pre.is_empty() && !is_date(version));
    let takes_dates = match range {
        Some(range) => range.is_of_dates() || !has_versions,
        None => current.map_or(!has_versions, is_date),
    };
    // A range says which versions, also which pre-releases.
    let counts = |version: &Version| range.map_or_else(|| is_stable(version), |range| range.has(version));
    releases.into_iter().filter(|(version, _)| is_date(version) == takes_dates && counts(version)).collect()
}

/// The text before the version of a release, and the version; `None` if the name does not end with a version.
pub fn split(name: &str) -> Option<(&str, Version)> {
    starts(name).find_map(|at| Some((&name[..at], version(&name[at..])?)))
}

/// Where a version may begin in a name.
fn starts(name: &str) -> impl Iterator<Item = usize> {
    let begins = |at: usize| name[..at].chars().next_back().is_none_or(|c| "/-_@".contains(c));
    name.char_indices().map(|(at, _)| at).filter(move |at| begins(*at))
}

/// Whether a version is a date, such as `2024.1.15`, `20240115` or `202401151230`, or another stamp, such as `1705321800`. Among versions, it is
/// none of them.
pub fn is_date(version: &Version) -> bool {
    (1900..3000).contains(&version.major) || version.major >= LEAST_STAMP
}

/// The least number that counts days, seconds or builds, and no releases.
const LEAST_STAMP: u64 = 100_000;

/// A version, with or without `v`. It may have fewer than three numbers, and zeros before them.
pub fn version(text: &str) -> Option<Version> {
    let text = text.strip_prefix(['v', 'V']).unwrap_or(text);
    let end = text.find(['-', '+']).unwrap_or(text.len());
    let (numbers, rest) = text.split_at(end);
    let mut numbers: Vec<&str> = numbers.split('.').collect();
    if numbers.len() > 3
        || numbers.iter().any(|number| number.is_empty() || !number.bytes().all(|b| b.is_ascii_digit()))
    {
        return None;
    }
    let whole = |number: &&str| number.trim_start_matches('0').to_owned();
    numbers.resize(3, "0");
    let numbers: Vec<String> =
        numbers.iter().map(whole).map(|number| if number.is_empty() { "0".to_owned() } else { number }).collect();
    Version::parse(&format!("{}{}", numbers.join("."), counted(rest))).ok()
}

/// A text whose pre-releases have their numbers apart: `-rc.10` for `-rc10`. semver compares `rc10` and `rc9` as texts, people do not.
fn counted(text: &str) -> String {
    let build = text.find('+').unwrap_or(text.len());
    let (pre, build) = text.split_at(build);
    let pieces = pre.split_inclusive(['-', '.', ',']).map(|piece| {
        let is_letter = |c: char| c.is_ascii_alphabetic();
        let (word, number) = piece.split_at(piece.len() - piece.trim_start_matches(is_letter).len());
        let digits = number.trim_end_matches(['-', '.', ',']);
        let is_counted = !word.is_empty() && !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        let value = digits.trim_start_matches('0');
        let value = if value.is_empty() { "0" } else { value };
        if is_counted { format!("{word}.{value}{}", &number[digits.len()..]) } else { piece.to_owned() }
    });
    pieces.collect::<String>() + build
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The release that follows `current` among these tags.
    fn follows(current: &str, tags: &[&str], range: Option<&str>) -> String {
        let mut releases: Vec<(Version, &str)> = tags.iter().filter_map(|tag| Some((version(tag)?, *tag))).collect();
        releases.sort();
        let range = range.and_then(Range::read);
        let mut found = followed(releases, version(current).as_ref(), range.as_ref());
        found.pop().map_or_else(String::new, |(_, name)| name.to_owned())
    }

    #[test]
    fn a_pre_release_leads_to_its_own_release() {
        for (current, tags, want) in [
            ("v2.0.0-rc1", &["v1.9.0", "v2.0.0-rc1", "v2.0.0-rc2"][..], "v2.0.0-rc2"),
            ("v2.0.0-rc1", &["v2.0.0-rc1", "v2.0.0-rc2", "v2.0.0", "v2.1.0-rc1"], "v2.0.0"),
            ("v2.0.0-rc1", &["v2.0.0-rc1", "v2.0.0", "v2.0.1"], "v2.0.1"),
            ("v2.0.0-rc9", &["v2.0.0-rc9", "v2.0.0-rc10"], "v2.0.0-rc10"),
            ("v2.0.0-rc10", &["v2.0.0-rc9", "v2.0.0-rc10"], "v2.0.0-rc10"),
            ("v2.0.0-rc.9", &["v2.0.0-rc.9", "v2.0.0-rc.10"], "v2.0.0-rc.10"),
            ("v2.0.0-rc1", &["v2.0.0-rc1", "v2.1.0-rc1"], "v2.0.0-rc1"),
            ("v1.9.0", &["v1.9.0", "v2.0.0-rc1"], "v1.9.0"),
            ("main", &["v1.9.0", "v2.0.0-rc1"], "v1.9.0"),
        ] {
            assert_eq!(follows(current, tags, None), want, "{current} {tags:?}");
        }
    }

    #[test]
    fn a_date_and_a_version_do_not_follow_each_other() {
        for (current, tags, want) in [
            ("v1.0.0", &["v1.0.0", "v1.1.0", "2024.01.15", "20240301"][..], "v1.1.0"),
            ("v1.0.0", &["v1.1.0", "202401151230", "20240115123059", "1705321800", "240115"], "v1.1.0"),
            ("202401151230", &["v1.1.0", "202401151230", "202403011230"], "202403011230"),
            ("main", &["v1.0.0", "v1.1.0", "2024.01.15"], "v1.1.0"),
            ("2024.01.15", &["v1.1.0", "2024.01.15", "2024.03.01"], "2024.03.01"),
            ("main", &["2024.01.15", "2024.03.01"], "2024.03.01"),
            ("255", &["254", "255", "256"], "256"),
        ] {
            assert_eq!(follows(current, tags, None), want, "{current} {tags:?}");
        }
    }

    #[test]
    fn a_range_says_which_versions_count() {
        let dated = ["v1.3.0", "v2.0.0", "2024.01.15", "2024.03.01"];
        for (range, want) in [(">=1.4", "v2.0.0"), (">v1", "v2.0.0"), (">=2024.2", "2024.03.01")] {
            assert_eq!(follows("v1.3.0", &dated, Some(range)), want, "{range}");
        }
        let tags = ["v1.3.0", "v1.9.0", "v1.10.0-rc1", "v2.0.0"];
        for (range, want) in [
            ("^1.3", "v1.9.0"),
            ("v1.x", "v1.9.0"),
            (">=1.10.0-rc1,<2", "v1.10.0-rc1"),
            (">=1.10.0-rc2,<2", ""),
            ("^3", ""),
        ] {
            assert_eq!(follows("v1.3.0", &tags, Some(range)), want, "{range}");
        }
    }

    #[test]
    fn a_date_is_no_version_among_versions() {
        for (text, want) in [
            ("2024.01.15", true),
            ("20240115", true),
            ("202401151230", true),
            ("v1.2024.1", false),
            ("255", false),
            ("1000", false),
        ] {
            assert_eq!(is_date(&version(text).expect("a version")), want, "{text}");
        }
    }

    #[test]
    fn a_release_ends_with_a_version() {
        for (name, want) in [
            ("v1", Some(("", "1.0.0"))),
            ("1.2", Some(("", "1.2.0"))),
            ("web-1.2.3-rc1", Some(("web-", "1.2.3-rc.1"))),
            ("1.2.3-rc01+k3s1", Some(("", "1.2.3-rc.1+k3s1"))),
            ("1.2.3-0.rc1-x2y", Some(("", "1.2.3-0.rc.1-x2y"))),
            ("d/v2", Some(("d/", "2.0.0"))),
            ("2024.01.15", Some(("", "2024.1.15"))),
            ("a@1.0.0", Some(("a@", "1.0.0"))),
            ("main", None),
            ("v1.x", None),
            ("1.2.3.4", None),
        ] {
            let found = split(name).map(|(prefix, version)| (prefix, version.to_string()));
            assert_eq!(found.as_ref().map(|(prefix, version)| (*prefix, version.as_str())), want, "{name}");
        }
    }
}
