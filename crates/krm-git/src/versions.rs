//! Versions in the names of releases, ranges of them, and which one follows another.
//!
//! Upstreams write versions in many ways, so a version may have fewer than three numbers or more, and a text before it. A wish may be a range, in
//! the forms of helm, npm and cargo, but a version alone is a name.

use anyhow::{Error, anyhow};
use semver::{Prerelease, Version};

/// Versions of a series, of which somebody wants the newest one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Range {
    /// The text before the versions, if the range names it.
    pub series: Option<String>,
    /// A version must be in one of them.
    any: Vec<Part>,
}

/// What stands between `||`.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Part {
    /// A version must be in all of them.
    all: Vec<Span>,
    /// As for helm, pre-releases count only if one of the versions is one.
    takes_pre_releases: bool,
}

/// The versions from one, which belongs to them, to another one, which does not.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Span {
    from: Option<Version>,
    to: Option<Version>,
    /// All others are meant.
    is_not: bool,
}

/// The signs before a version of a range. A longer one comes before its beginning.
const OPERATORS: [&str; 12] = [">=", "=>", "<=", "=<", "!=", "~>", ">", "<", "=", "~", "^", ""];

impl Range {
    /// Reads a range; `None` if the text is not a range.
    pub fn read(text: &str) -> Option<Self> {
        starts(text).filter(|_| !text.contains(char::is_control)).find_map(|at| {
            let (series, range) = text.split_at(at);
            let is_range = is_meant(range) || [".x", ".X"].iter().any(|end| range.ends_with(end));
            if !is_range || is_meant(series) {
                return None;
            }
            let part = |part: &str| Part::read(part.trim_start().strip_prefix(series).unwrap_or(part));
            let any = range.split("||").map(part).collect::<Option<_>>()?;
            Some(Self { series: (!series.is_empty()).then(|| series.to_owned()), any })
        })
    }

    /// Whether it names dates, not versions.
    fn is_of_dates(&self) -> bool {
        let spans = self.any.iter().flat_map(|part| &part.all);
        spans.flat_map(|span| span.from.iter().chain(&span.to)).any(is_date)
    }

    /// Whether a version is in the range.
    pub fn has(&self, version: &Version) -> bool {
        let is_in = |part: &Part| {
            (version.pre.is_empty() || part.takes_pre_releases) && part.all.iter().all(|span| span.has(version))
        };
        self.any.iter().any(is_in)
    }
}

/// Whether a text must be a range, for it has what only ranges have.
fn is_meant(text: &str) -> bool {
    text.starts_with(['^', '~', '>', '<', '=', '!']) || text.contains([' ', '*']) || text.contains("||")
}

/// The error for a text that is neither a name nor a range; `None` if the text does not look like a range.
pub fn unread(text: &str) -> Option<Error> {
    let has_operator = text.starts_with(['^', '~', '>', '<', '=', '!', '*']);
    let has_number = text.contains(|c: char| c.is_ascii_digit());
    (is_meant(text) && (has_operator || has_number)).then(|| {
        anyhow!(
            "a range of versions must be such as `^1.4`, `~1.4`, `1.x`, `>=1.4 <2`, `1.2 - 1.4`, `1.x || 3.x` or `*`, not \"{text}\""
        )
    })
}

impl Part {
    fn read(text: &str) -> Option<Self> {
        if let Some((from, to)) = text.split_once(" - ") {
            let (from, to) = (Partial::read(from.trim())?, Partial::read(to.trim())?);
            return Some(Self::of(&[(">=", from), ("<=", to)]));
        }
        let (mut rest, mut all) = (text.trim(), Vec::new());
        while !rest.is_empty() {
            let operator = OPERATORS.into_iter().find(|operator| rest.starts_with(operator))?;
            rest = rest[operator.len()..].trim_start();
            let end = rest.find([' ', ',']).unwrap_or(rest.len());
            all.push((operator, Partial::read(&rest[..end])?));
            let next = rest[end..].trim_start();
            let after_comma = next.strip_prefix(',').map(str::trim_start);
            rest = after_comma.unwrap_or(next);
            if after_comma.is_some_and(str::is_empty) {
                return None;
            }
        }
        (!all.is_empty()).then(|| Self::of(&all))
    }

    fn of(all: &[(&str, Partial)]) -> Self {
        let takes_pre_releases = all.iter().any(|(_, version)| !version.pre.is_empty());
        Self { all: all.iter().map(|(operator, version)| version.span(operator)).collect(), takes_pre_releases }
    }
}

impl Span {
    fn has(&self, version: &Version) -> bool {
        let is_before = |end: &Version| version.cmp_precedence(end).is_lt();
        let is_in = !self.from.as_ref().is_some_and(is_before) && self.to.as_ref().is_none_or(is_before);
        is_in != self.is_not
    }
}

/// A version of a range, which may lack numbers at its end.
struct Partial {
    numbers: Vec<u64>,
    pre: Prerelease,
}

impl Partial {
    fn read(text: &str) -> Option<Self> {
        let text = text.strip_prefix(['v', 'V']).unwrap_or(text);
        // What comes after `+` has no order.
        let text = text.split('+').next()?;
        let (numbers, pre) = text.split_at(text.find('-').unwrap_or(text.len()));
        let parts: Vec<&str> = numbers.split('.').collect();
        let given = parts.iter().take_while(|part| !matches!(**part, "x" | "X" | "*")).count();
        let numbers = parts[..given].iter().map(|part| number(part)?.parse().ok()).collect::<Option<Vec<u64>>>()?;
        let may_be_pre = given == parts.len() && pre.len() > 1;
        let has_others = parts[given..].iter().any(|part| !matches!(*part, "x" | "X" | "*"));
        if parts.len() > 3 || has_others || !(may_be_pre || pre.is_empty()) {
            return None;
        }
        Some(Self { numbers, pre: Prerelease::new(counted(pre).get(1..).unwrap_or_default()).ok()? })
    }

    /// The versions that an operator before it means.
    fn span(&self, operator: &str) -> Span {
        let first = Some(self.first());
        let (from, to) = match operator {
            ">" => (self.end(), None),
            ">=" | "=>" => (first, None),
            "<" => (None, first),
            "<=" | "=<" => (None, self.end()),
            "~" | "~>" => (first, self.after(2)),
            // The first number that is not 0 stays.
            "^" => (first, self.after(self.numbers.iter().take(2).take_while(|number| **number == 0).count() + 1)),
            _ => (first, self.end()),
        };
        Span { from, to, is_not: operator == "!=" }
    }

    fn first(&self) -> Version {
        let number = |at: usize| self.numbers.get(at).copied().unwrap_or_default();
        Version { pre: self.pre.clone(), ..Version::new(number(0), number(1), number(2)) }
    }

    /// The first version after all that are meant without an operator.
    fn end(&self) -> Option<Version> {
        if self.pre.is_empty() || self.numbers.len() < 3 {
            return self.after(3);
        }
        Some(Version { pre: Prerelease::new(&format!("{}.0", self.pre)).ok()?, ..self.first() })
    }

    /// The first version after those that begin with as many of its numbers; `None` if all do.
    fn after(&self, count: usize) -> Option<Version> {
        let Version { major, minor, patch, .. } = self.first();
        let next = |number: u64| number.saturating_add(1);
        let (major, minor, patch) = match count.min(self.numbers.len()) {
            0 => return None,
            1 => (next(major), 0, 0),
            2 => (major, next(minor), 0),
            _ => (major, minor, next(patch)),
        };
        // Its own pre-releases come before it.
        Some(Version { pre: Prerelease::new("0").ok()?, ..Version::new(major, minor, patch) })
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

/// A version, with or without `v`. It may have fewer than three numbers, and zeros before them. A fourth number, and others after it, come before
/// those of the build, which has an order here: 1.2.3 < 1.2.3.4 < 1.2.3.10 < 1.2.4.
pub fn version(text: &str) -> Option<Version> {
    let text = text.strip_prefix(['v', 'V']).unwrap_or(text);
    let end = text.find(['-', '+']).unwrap_or(text.len());
    let (numbers, rest) = text.split_at(end);
    let mut numbers = numbers.split('.').map(number).collect::<Option<Vec<&str>>>()?;
    let more = numbers.split_off(numbers.len().min(3)).join(".");
    numbers.resize(3, "0");
    let rest = match (more.is_empty(), rest.strip_prefix('+')) {
        (true, _) => counted(rest),
        (false, Some(build)) => format!("+{more}.{build}"),
        (false, None) if rest.is_empty() => format!("+{more}"),
        // A pre-release of a fourth number has no place among them.
        (false, None) => return None,
    };
    Version::parse(&format!("{}{rest}", numbers.join("."))).ok()
}

/// A number without the zeros before it; `None` if the text is not one.
fn number(text: &str) -> Option<&str> {
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let value = text.trim_start_matches('0');
    is_number.then_some(if value.is_empty() { "0" } else { value })
}

/// A text whose pre-releases have their numbers apart: `-rc.10` for `-rc10`. semver compares `rc10` and `rc9` as texts, people do not.
fn counted(text: &str) -> String {
    let build = text.find('+').unwrap_or(text.len());
    let (pre, build) = text.split_at(build);
    let pieces = pre.split_inclusive(['-', '.', ',']).map(|piece| {
        let is_letter = |c: char| c.is_ascii_alphabetic();
        let (word, number) = piece.split_at(piece.len() - piece.trim_start_matches(is_letter).len());
        let digits = number.trim_end_matches(['-', '.', ',']);
        match self::number(digits).filter(|_| !word.is_empty()) {
            Some(value) => format!("{word}.{value}{}", &number[digits.len()..]),
            None => piece.to_owned(),
        }
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
    fn a_range_has_the_forms_of_helm_and_npm() {
        let all = [
            "0.0.3",
            "0.0.4",
            "0.2.3",
            "0.2.9",
            "0.3.0",
            "1.0.0",
            "1.2.0",
            "1.2.3",
            "1.3.0-rc1",
            "1.3.0",
            "1.4.5",
            "2.0.0-rc1",
            "2.0.0",
            "2.1.0",
            "3.0.0-beta.2",
        ];
        for (range, want) in [
            ("*", "2.1.0"),
            (">0.0.0-0", "3.0.0-beta.2"),
            (">= 1.0, < 2", "1.4.5"),
            (">=1.0 <2", "1.4.5"),
            (">=1.0 <2.0.0-0", "1.4.5"),
            (">=1.0 <=1.3", "1.3.0"),
            (">=1.0-0 <2", "2.0.0-rc1"),
            ("^1.3-0 <1.3", "1.3.0-rc1"),
            ("=1.3-0", "1.3.0"),
            (">=1.0.0-0 <2", "2.0.0-rc1"),
            ("^1 || ^2", "2.1.0"),
            ("^1||^0.2", "1.4.5"),
            ("1.x", "1.4.5"),
            ("1.2.x || 0.X", "1.2.3"),
            ("1.*", "1.4.5"),
            ("0.0.x", "0.0.4"),
            ("~1.2", "1.2.3"),
            ("~1", "1.4.5"),
            ("~>1.2.1", "1.2.3"),
            ("~1.2.3-rc1", "1.2.3"),
            ("1.2 - 1.3", "1.3.0"),
            ("1.2.0 - 2", "2.1.0"),
            ("v1.2.0 - v1.2.9", "1.2.3"),
            ("^0.2", "0.2.9"),
            ("^0.2.4", "0.2.9"),
            ("^0.0.3", "0.0.3"),
            ("^0.0", "0.0.4"),
            ("^0", "0.3.0"),
            ("^1.3.0-0", "1.4.5"),
            ("~1.3.0-rc0 <1.3.0", "1.3.0-rc1"),
            ("=1.2", "1.2.3"),
            ("=1.2.0", "1.2.0"),
            ("!=2.1.0 <3", "2.0.0"),
            ("!=2 >0", "1.4.5"),
            (">1.2 <2", "1.4.5"),
            (">1.4", "2.1.0"),
            ("<=1.2", "1.2.3"),
            ("=<1.2.0", "1.2.0"),
            ("=> 3", ""),
            ("<1 || >2", "0.3.0"),
        ] {
            let range = Range::read(range).ok_or(range);
            let found = |range: &Range| all.iter().rev().find(|one| range.has(&version(one).expect("a version")));
            assert_eq!(range.as_ref().map(|range| found(range).map_or("", |one| *one)), Ok(want), "{range:?}");
        }
        for text in [
            "1.2",
            "1.2.3",
            "v1",
            "x",
            "main",
            "a,b",
            "^",
            ">=",
            "^latest",
            ">=1 and <2",
            "1.2 -",
            "^1 ||",
            "|| ^1",
            "^1 | ^2",
            ">=1,,<2",
            ">=1,",
            "1.x.3",
            "^1.x-rc1",
            "1.2.3.x",
            "^1.2.3.4",
            "^1.2.3-",
            "1.2 - ^2",
            "web 1.x",
            "^x-1.x",
        ] {
            assert_eq!(Range::read(text), None, "{text}");
            let is_name = crate::address::check_name(text).is_ok() && !text.starts_with(['^', '>']);
            assert_eq!(unread(text).is_none(), is_name, "{text}");
        }
        for (text, series) in [("web-1.x || web-2.x", "web-"), ("web-^1 || ^2", "web-"), ("a/b-1.0 - 2", "a/b-")] {
            let range = Range::read(text).expect("a range");
            let has = |text: &str| range.has(&version(text).expect("a version"));
            assert_eq!(
                (range.series.as_deref(), has("1.1"), has("2.0"), has("3.0")),
                (Some(series), true, true, false)
            );
        }
    }

    #[test]
    fn a_fourth_number_counts() {
        let all = ["1.2.3", "1.2.3.1", "1.2.3.4", "1.2.3.04.9", "v1.2.3.10", "1.2.4"];
        let versions: Vec<Version> = all.iter().map(|text| version(text).expect("a version")).collect();
        assert!(versions.is_sorted() && versions.windows(2).all(|pair| pair[0] != pair[1]), "{versions:?}");
        assert_eq!(version("1.2.3.4-rc1"), None);
        assert_eq!(version("1.2.3.4+b.1"), version("1.2.3+4.b.1"));
        assert_eq!(follows("1.2.3.4", &all, Some("=1.2.3")), "v1.2.3.10");
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
            ("1.2.3.4", Some(("", "1.2.3+4"))),
            ("web-1.2.3.4", Some(("web-", "1.2.3+4"))),
            ("1.2.3.4-rc1", None),
        ] {
            let found = split(name).map(|(prefix, version)| (prefix, version.to_string()));
            assert_eq!(found.as_ref().map(|(prefix, version)| (*prefix, version.as_str())), want, "{name}");
        }
    }
}
