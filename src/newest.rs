//! Which of two versions is the newer one, for rules with `take: Newest`.
//!
//! A version stands alone or in a text whose rest is equal on both sides: the tag of an image, the name of a chart with its version, the ref of a
//! base. It is two numbers with dots or more, `v` and a number, or a date, with what follows it. Versions of different forms have no order,
//! because nobody knows what the difference means: `1.2` and `1.2.0`, `1.2.0` and `1.2.0-alpine`, a version and a date. A wrong answer costs
//! more than none, so in doubt there is none.

use std::cmp::Ordering;

use krm_tree::sides::{Side, Sides};

/// The side whose version is newer; `None` if the values of all sides, original's too if it has one, are no versions of one form.
pub fn newest(values: Sides<Option<&str>>) -> Option<Side> {
    let (updated, dest) = (values.updated?, values.dest?);
    if let Some(original) = values.original
        && [updated, dest].into_iter().any(|side| compared(original, side).is_none())
    {
        return None;
    }
    match compared(updated, dest)? {
        Ordering::Greater => Some(Side::Updated),
        Ordering::Less => Some(Side::Dest),
        Ordering::Equal => None,
    }
}

/// The characters that separate a version from what is not part of it.
const BETWEEN: [char; 15] = ['/', ':', '@', ',', ' ', '=', '<', '>', '^', '~', '(', ')', '|', '&', '\n'];

/// The order of two texts that differ in nothing but a version.
fn compared(a: &str, b: &str) -> Option<Ordering> {
    let [(a, of_a), (b, of_b)] = [a, b].map(without_digest);
    let [parts, others] = [a, b].map(|text| text.split_inclusive(BETWEEN).collect::<Vec<_>>());
    if parts.len() != others.len() {
        return None;
    }
    let mut differing = parts.into_iter().zip(others).filter(|(one, other)| one != other);
    match (differing.next(), differing.next()) {
        // The same tag with another digest was pushed again, and nobody knows which came first.
        (None, _) => (of_a == of_b).then_some(Ordering::Equal),
        (Some((one, other)), None) => in_part(one, other).filter(|order| order.is_ne()),
        (Some(_), Some(_)) => None,
    }
}

/// A text without the digest of an image, which goes with the tag; and the digest.
fn without_digest(text: &str) -> (&str, &str) {
    let is_digest = |digest: &str| digest.len() == 64 && digest.bytes().all(|byte| byte.is_ascii_hexdigit());
    text.split_once("@sha256:").filter(|(_, digest)| is_digest(digest)).unwrap_or((text, ""))
}

/// A piece of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Token<'t> {
    Number(&'t str),
    Word(&'t str),
    /// A hash, which says nothing about the order.
    Hash(&'t str),
    Mark(char),
}

fn tokens(text: &str) -> Vec<Token<'_>> {
    let (mut all, mut rest) = (Vec::new(), text);
    while let Some(first) = rest.chars().next() {
        if !first.is_ascii_alphanumeric() {
            all.push(Token::Mark(first));
            rest = &rest[first.len_utf8()..];
            continue;
        }
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(rest.len());
        let (run, more) = rest.split_at(end);
        if is_hash(run) {
            all.push(Token::Hash(run));
        } else {
            let mut run = run;
            while let Some(first) = run.chars().next() {
                let is_number = first.is_ascii_digit();
                let end = run.find(|c: char| c.is_ascii_digit() != is_number).unwrap_or(run.len());
                let (piece, after) = run.split_at(end);
                all.push(if is_number { Token::Number(piece) } else { Token::Word(piece) });
                run = after;
            }
        }
        rest = more;
    }
    all
}

/// Whether a run of letters and digits is the beginning of a hash. A number alone may be a date.
fn is_hash(run: &str) -> bool {
    run.len() >= 7
        && run.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
        && run.bytes().any(|byte| byte.is_ascii_digit())
        && run.bytes().any(|byte| byte.is_ascii_alphabetic())
}

/// A version in a part of a text.
#[derive(Debug)]
struct Version<'t> {
    /// What stands before it.
    before: Vec<Token<'t>>,
    /// Whether it begins with `v`.
    has_v: bool,
    /// Its numbers.
    numbers: Vec<&'t str>,
    /// What stands between its numbers.
    mark: char,
    /// What follows its numbers.
    behind: Vec<Token<'t>>,
}

impl<'t> Version<'t> {
    /// The first version in a part of a text.
    fn of(part: &'t str) -> Option<Self> {
        let tokens = tokens(part);
        let starts = (0..tokens.len()).filter(|at| match tokens[..*at] {
            // The numbers of an address, or of something else, are no version from the second one on.
            [.., Token::Number(_), Token::Mark('.')] => false,
            [.., Token::Mark(_)] | [] => true,
            _ => false,
        });
        starts.into_iter().find_map(|at| Self::at(&tokens, at))
    }

    fn at(tokens: &[Token<'t>], start: usize) -> Option<Self> {
        let has_v = matches!(tokens[start], Token::Word("v" | "V"));
        let first = start + usize::from(has_v);
        let Some(Token::Number(number)) = tokens.get(first) else { return None };
        let (mut numbers, mut end) = (vec![*number], first + 1);
        let mark = match tokens.get(end) {
            Some(Token::Mark('-')) if is_year(number) => '-',
            _ => '.',
        };
        while let [Token::Mark(between), Token::Number(number), ..] = tokens[end..]
            && between == mark
        {
            numbers.push(number);
            end += 2;
        }
        let is_version = match numbers.len() {
            1 => has_v || is_day(number),
            // An address of a machine.
            4 => has_v || numbers.iter().any(|number| value(number) > 255),
            _ => true,
        };
        let behind = tokens[end..].to_vec();
        // `2.5Gi` is a size. A time goes with its day.
        let is_glued = match behind.first() {
            Some(Token::Word("T")) if mark == '-' => false,
            Some(Token::Word(word)) => place(word).is_none(),
            _ => false,
        };
        let version = Self { before: tokens[..start].to_vec(), has_v, numbers, mark, behind };
        (is_version && !is_glued).then_some(version)
    }

    fn is_date(&self) -> bool {
        is_year(self.numbers[0]) || is_day(self.numbers[0])
    }

    fn has_form_of(&self, other: &Self) -> bool {
        self.before == other.before
            && self.has_v == other.has_v
            && self.mark == other.mark
            && self.numbers.len() == other.numbers.len()
            && self.is_date() == other.is_date()
    }
}

/// The order of two parts of texts.
fn in_part(a: &str, b: &str) -> Option<Ordering> {
    let (one, other) = (Version::of(a)?, Version::of(b)?);
    if !one.has_form_of(&other) {
        return None;
    }
    let numbers = by_numbers(&one.numbers, &other.numbers);
    let behind = behind(&one.behind, &other.behind)?;
    let order = numbers.then(behind.order());
    // Of a Kubernetes API, `v1` is more than `v2alpha1`.
    let is_api = one.has_v && one.numbers.len() == 1;
    if is_api && numbers.is_ne() && matches!(behind, Behind::Stage(stage) if stage != numbers) {
        return None;
    }
    let semver = |version: &str| semver::Version::parse(version.strip_prefix(['v', 'V']).unwrap_or(version)).ok();
    match (semver(a), semver(b)) {
        // Its readers have another opinion.
        (Some(a), Some(b)) if a.cmp_precedence(&b).is_ne() && a.cmp_precedence(&b) != order => None,
        _ => Some(order),
    }
}

/// How the ends of two versions compare, which follow their numbers.
#[derive(Clone, Copy, Debug)]
enum Behind {
    /// One is a pre-release and the other one is the release, or a later stage.
    Stage(Ordering),
    /// Both have the same form.
    Numbers(Ordering),
}

impl Behind {
    fn order(self) -> Ordering {
        match self {
            Self::Stage(order) | Self::Numbers(order) => order,
        }
    }
}

/// Compares the ends of two versions, which follow their numbers; `None` if the forms differ.
fn behind(a: &[Token<'_>], b: &[Token<'_>]) -> Option<Behind> {
    let [(a, build), (b, other_build)] = [a, b].map(|all| {
        let plus = all.iter().position(|token| *token == Token::Mark('+'));
        all.split_at(plus.unwrap_or(all.len()))
    });
    let builds = by_form(build, other_build)?;
    let [(stage, a), (other, b)] = [a, b].map(stage);
    if stage == other {
        return by_form(a, b).map(|order| Behind::Numbers(order.then(builds)));
    }
    // Only what is known to come before a release does.
    let order = match (stage, other) {
        (Stage::Release, Stage::Before(_)) if a.is_empty() => Ordering::Greater,
        (Stage::Before(_), Stage::Release) if b.is_empty() => Ordering::Less,
        (Stage::Before(one), Stage::Before(other)) => match (place(one)?, place(other)?) {
            (Place::Known(one), Place::Known(other)) => one.cmp(&other),
            _ => return None,
        },
        _ => return None,
    };
    let is_numbers =
        |rest: &[Token<'_>]| rest.iter().all(|token| matches!(token, Token::Number(_) | Token::Mark('.' | '-')));
    (is_numbers(a) && is_numbers(b)).then_some(Behind::Stage(order))
}

/// The order of two texts of one form: their numbers may differ, and their hashes.
fn by_form(a: &[Token<'_>], b: &[Token<'_>]) -> Option<Ordering> {
    if a.len() != b.len() {
        // `rc` is `rc0` for some, and `rc1` for others.
        return None;
    }
    let mut order = Ordering::Equal;
    for pair in a.iter().zip(b) {
        let of_pair = match pair {
            (Token::Number(a), Token::Number(b)) => by_numbers(&[a], &[b]),
            (Token::Hash(_), Token::Hash(_)) => Ordering::Equal,
            (a, b) if a == b => Ordering::Equal,
            _ => return None,
        };
        order = order.then(of_pair);
    }
    Some(order)
}

/// What a version is: a release, or a stage before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage<'t> {
    Release,
    Before(&'t str),
}

/// The stage that stands behind the numbers of a version, and the rest.
fn stage<'s, 't>(behind: &'s [Token<'t>]) -> (Stage<'t>, &'s [Token<'t>]) {
    match behind {
        [Token::Word(word), rest @ ..] | [Token::Mark('-' | '.' | '_'), Token::Word(word), rest @ ..]
            if place(word).is_some() =>
        {
            (Stage::Before(word), rest)
        }
        rest => (Stage::Release, rest),
    }
}

/// The place of a stage among the others before a release.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// The greater, the later.
    Known(u8),
    /// Projects disagree.
    Unknown,
}

/// The place of a stage; `None` if the word is no stage.
fn place(word: &str) -> Option<Place> {
    Some(match word.to_ascii_lowercase().as_str() {
        "alpha" => Place::Known(0),
        "beta" => Place::Known(1),
        "rc" => Place::Known(2),
        "dev" | "m" | "milestone" | "nightly" | "pre" | "preview" | "snapshot" => Place::Unknown,
        _ => return None,
    })
}

/// The order of numbers, the first one first.
fn by_numbers(a: &[&str], b: &[&str]) -> Ordering {
    let values = |numbers: &[&str]| numbers.iter().map(|number| value(number)).collect::<Vec<_>>();
    values(a).cmp(&values(b))
}

fn value(number: &str) -> u128 {
    number.parse().unwrap_or(u128::MAX)
}

/// Whether a number is a year.
fn is_year(number: &str) -> bool {
    number.len() == 4 && (1990..2100).contains(&value(number))
}

/// Whether a number is a day, `20240115`, with perhaps a time.
fn is_day(number: &str) -> bool {
    let in_range = |at: usize, range: std::ops::RangeInclusive<u128>| {
        number.get(at..at + 2).is_some_and(|part| range.contains(&value(part)))
    };
    matches!(number.len(), 8 | 10 | 12 | 14) && is_year(&number[..4]) && in_range(4, 1..=12) && in_range(6, 1..=31)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `A < B` and `A ? B`, a line for each pair.
    const PAIRS: &str = include_str!("newest/pairs.txt");

    #[test]
    fn each_pair_has_the_order_that_people_mean() {
        let pairs = PAIRS.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
        let mut count = 0;
        for line in pairs {
            let (a, b, want) = match (line.split_once(" < "), line.split_once(" ? ")) {
                (Some((a, b)), None) => (a, b, Some(Ordering::Less)),
                (None, Some((a, b))) => (a, b, None),
                _ => panic!("{line}: it must be `A < B` or `A ? B`"),
            };
            count += 1;
            assert_eq!(compared(a, b), want, "{line}");
            assert_eq!(compared(b, a), want.map(Ordering::reverse), "{line}, the other way round");
        }
        assert!(count >= 200, "{count}");
    }

    #[test]
    fn all_sides_have_versions_of_one_form() {
        let newest = |original, updated, dest| newest(Sides { original, updated: Some(updated), dest: Some(dest) });
        assert_eq!(newest(Some("1.1.0"), "1.3.0", "1.2.0"), Some(Side::Updated));
        assert_eq!(newest(Some("1.1.0"), "1.2.0", "1.3.0"), Some(Side::Dest));
        assert_eq!(newest(None, "1.2.0", "1.3.0"), Some(Side::Dest));
        // A branch of fixes may be behind original, as where one picks a change.
        assert_eq!(newest(Some("1.2.0"), "1.3.0", "1.1.0"), Some(Side::Updated));
        assert_eq!(newest(Some("latest"), "1.3.0", "1.1.0"), None);
        assert_eq!(newest(Some("1.1"), "1.3.0", "1.2.0"), None);
        assert_eq!(newest(Some("1.1.0"), "1.2.0", "1.2.0"), None);
    }
}
