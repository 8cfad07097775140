//! Which of two versions is the newer one, for rules with `take: Newest`.
//!
//! What a text means depends on its field. In a field that holds versions, such as `version` or `tag`, a version is two numbers with dots or
//! more, `v` and a number, or a date, with what follows it. In another field two numbers may be a size or a threshold, so there a version has
//! three numbers or a `v`. A version stands alone or in a text whose rest is equal on both sides: the tag of an image, the name of a chart with
//! its version, the ref of a base. Versions of different forms have no order, because nobody knows what the difference means: `1.2` and
//! `1.2.0`, `1.2.0` and `1.2.0-alpine`, a version and a date. Points in time have an order in every field. A wrong answer costs more than
//! none, so in doubt there is none.

mod time;

use std::cmp::Ordering;
use std::ops::RangeInclusive;

use krm_merge_core::parts::Composed;
use krm_merge_core::things;
use krm_tree::path::{FieldPath, Step};
use krm_tree::sides::{Side, Sides};

/// What a field holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holds {
    /// Versions.
    Versions,
    /// Anything.
    Anything,
}

impl Holds {
    /// What the field at a path holds, by its name. The value of a variable or a parameter has the name of the variable.
    pub fn at(path: &FieldPath<'_>) -> Self {
        let steps: Vec<&Step<'_>> = path.steps().collect();
        match steps[..] {
            [.., Step::Element(keys), Step::Field(name)] if name == "value" => {
                keys.first().map_or(Self::Anything, |key| Self::named(&key.value))
            }
            [.., Step::Field(name)] => Self::named(name),
            [.., Step::Field(name), Step::Index(_) | Step::Value(_)] => Self::named(name.trim_end_matches('s')),
            _ => Self::Anything,
        }
    }

    /// What a field with this name holds.
    pub fn named(name: &str) -> Self {
        let ends_with = |word: &str| {
            let Some((before, end)) = name.len().checked_sub(word.len()).and_then(|at| name.split_at_checked(at))
            else {
                return false;
            };
            let is_word_alone = !before.ends_with(|c: char| c.is_ascii_alphabetic())
                || end.starts_with(|c: char| c.is_ascii_uppercase());
            end.eq_ignore_ascii_case(word) && is_word_alone
        };
        if OF_VERSIONS.iter().any(|word| ends_with(word)) { Self::Versions } else { Self::Anything }
    }
}

/// The last words of the names of fields that hold versions. Sources: Kubernetes (`image`, `apiVersion`), Helm (`version`, `appVersion`, `chart`),
/// kustomize (`newTag`), Flux (`semver`, `tag`), Argo CD (`targetRevision`), OLM (`startingCSV`, `replaces`, `skipRange`), GitHub (`uses`).
const OF_VERSIONS: [&str; 12] =
    ["chart", "csv", "image", "ref", "replaces", "rev", "revision", "semver", "skipRange", "tag", "uses", "version"];

/// The side whose version is newer; `None` if the values of all sides, original's too if it has one, are no versions of one form.
pub fn newest(values: Sides<Option<&str>>, holds: Holds) -> Option<Side> {
    let (updated, dest) = (values.updated?, values.dest?);
    if let Some(original) = values.original
        && [updated, dest].into_iter().any(|side| original != side && compared(original, side, holds).is_none())
    {
        return None;
    }
    match compared(updated, dest, holds)? {
        Ordering::Greater => Some(Side::Updated),
        Ordering::Less => Some(Side::Dest),
        Ordering::Equal => None,
    }
}

/// The side whose lines have the newer version; `None` if the lines differ in anything but one version, and a hash that goes with it.
pub fn newest_lines(updated: &str, dest: &str) -> Option<Side> {
    let [theirs, ours] = [updated, dest].map(|text| text.lines().map(Line::read).collect::<Vec<_>>());
    let mut differing = theirs.iter().zip(&ours).filter(|(one, other)| one != other && !one.has_hash_beside(other));
    let ((one, other), None) = (differing.next()?, differing.next()) else { return None };
    if theirs.len() != ours.len() || one.key != other.key {
        return None;
    }
    let order = match (one.pinned(), other.pinned()) {
        (Some(one), Some(other)) if one.0 == other.0 => compared(one.1, other.1, Holds::Versions),
        _ if one.comment == other.comment => compared(one.value, other.value, Holds::named(one.key)),
        _ => None,
    };
    order.map(|order| if order.is_gt() { Side::Updated } else { Side::Dest })
}

/// A line of YAML.
#[derive(Debug, PartialEq, Eq)]
struct Line<'t> {
    /// The text before the key or value, and the key.
    key: &'t str,
    value: &'t str,
    comment: &'t str,
}

impl<'t> Line<'t> {
    fn read(line: &'t str) -> Self {
        let (field, comment) = line.find(" #").map_or((line, ""), |at| line.split_at(at));
        let is_sign = |c: char| c == '"' || c == '\'' || c == ',' || c.is_whitespace();
        let dash = field.trim_start().strip_prefix("- ").map_or(0, |rest| field.len() - rest.len());
        let (key, value) = match field[dash..].split_once(": ") {
            Some((key, value)) => (&field[..dash + key.len()], value),
            None => field.split_at(dash),
        };
        let key = key.trim_end_matches(is_sign);
        Self { key, value: value.trim_matches(is_sign), comment: comment.trim() }
    }

    /// Whether it is a field with a hash, and so is the other line.
    fn has_hash_beside(&self, other: &Self) -> bool {
        let name = self.key.trim_start_matches(|c: char| !c.is_ascii_alphabetic());
        self.key == other.key && things::is_hash(name)
    }

    /// The action that is pinned by a hash, and the version in the comment behind it.
    fn pinned(&self) -> Option<(&'t str, &'t str)> {
        pinned(self.value, self.comment).filter(|_| self.key.ends_with("uses"))
    }
}

/// The action of `a@hash # v1.2.3`, and its version.
pub fn pinned<'t>(value: &'t str, comment: &'t str) -> Option<(&'t str, &'t str)> {
    let (action, hash) = value.split_once('@')?;
    let is_hash = hash.len() == 40 && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
    let version = comment.trim_start_matches('#').split_whitespace().next()?;
    is_hash.then_some((action, version))
}

/// The order of two texts that differ in nothing but a version; `None` if they have none.
fn compared(a: &str, b: &str, holds: Holds) -> Option<Ordering> {
    if let (Some(one), Some(other)) = (time::Time::read(a), time::Time::read(b)) {
        return one.order(&other);
    }
    let [a, b] = [a, b].map(without_digest);
    let is_of_text = |byte: u8| byte.is_ascii_alphanumeric() || b"-._+/:@?=&".contains(&byte);
    let is_plain = |text: &str| text.bytes().all(is_of_text) && !text.starts_with('=');
    let order = match (is_plain(a) && is_plain(b), holds) {
        (true, _) => in_text(a, b, holds),
        (false, Holds::Versions) => in_requirement(a, b),
        (false, Holds::Anything) => None,
    };
    order.filter(|order| order.is_ne())
}

/// A text without the digest of an image, which goes with the tag. The same tag with another digest was pushed again, and nobody knows which came
/// first.
fn without_digest(text: &str) -> &str {
    let is_digest = |digest: &str| digest.len() == 64 && digest.bytes().all(|byte| byte.is_ascii_hexdigit());
    text.split_once("@sha256:").filter(|(_, digest)| is_digest(digest)).map_or(text, |(text, _)| text)
}

/// The one piece in which two texts differ, each with the pieces before it; `None` if they differ in several.
fn differing<'t>([a, b]: [&'t str; 2], between: &[char]) -> Option<(Vec<&'t str>, [&'t str; 2])> {
    let [pieces, others] = [a, b].map(|text| text.split_inclusive(between).collect::<Vec<_>>());
    let mut apart = (0..pieces.len()).filter(|at| others.get(*at) != Some(&pieces[*at]));
    let (at, None) = (apart.next()?, apart.next()) else { return None };
    (pieces.len() == others.len()).then(|| (pieces[..at].to_vec(), [pieces[at], others[at]]))
}

/// The order of two texts without blanks: of an image, an address, a flag with its value, or a version with a name.
fn in_text(a: &str, b: &str, holds: Holds) -> Option<Ordering> {
    let (before, [one, other]) = differing([a, b], &['/', ':', '@', '?', '=', '&'])?;
    // What stands before a `:` or a `=` is a name.
    let is_name = |piece: &str| piece.ends_with([':', '=', '@', '?']);
    if is_name(one) || is_name(other) {
        return None;
    }
    let holds = match before.last().and_then(|piece| piece.strip_suffix('=')) {
        Some(name) => Holds::named(name),
        None => holds,
    };
    // In an address or a path, `v1` may be the API, or the layout of a folder.
    let is_place = |text: &str| text.contains("://") || text.starts_with('/');
    if holds == Holds::Anything && is_place(a) && !one.contains('.') {
        return None;
    }
    let value = |text: &'_ str| text.rfind('=').map_or(0, |at| at + 1);
    let has_registry = |text: &str| {
        let parts = Composed::Image.parts(&text[value(text)..]);
        parts.is_some_and(|parts| parts.named("registry").is_some_and(|registry| !registry.is_empty()))
    };
    let is_tag = before.last().is_some_and(|piece| piece.ends_with(':')) && has_registry(a) && has_registry(b);
    let holds = if is_tag { Holds::Versions } else { holds };
    let [one, other] = [one, other].map(|piece| piece.trim_end_matches(['/', '&']));
    in_part(one, other, holds)
}

/// The order of two requirements of versions, such as `>=1.2,<2`, that differ in one bound.
fn in_requirement(a: &str, b: &str) -> Option<Ordering> {
    let between = [' ', ',', '<', '>', '=', '^', '~', '|'];
    let is_requirement = |text: &str| {
        let mut bounds = text.split(between).filter(|bound| !bound.is_empty() && *bound != "-");
        let has_signs = text.starts_with(['<', '>', '=', '^', '~']) || text.contains(" - ");
        has_signs && bounds.all(|bound| Version::of(bound).is_some_and(|version| version.before.is_empty()))
    };
    let (_, [one, other]) = differing([a, b], &between).filter(|_| is_requirement(a) && is_requirement(b))?;
    let [one, other] = [one, other].map(|bound| bound.trim_end_matches(between));
    in_part(one, other, Holds::Versions)
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

impl Token<'_> {
    fn is_hash(&self) -> bool {
        matches!(self, Self::Hash(_))
    }
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
        let may_be_hash = matches!(all.last(), Some(Token::Mark('-' | '_' | '+')));
        if is_hash(run) || may_be_hash && is_hash_of_digits(run) {
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

/// Whether a run of letters and digits is the beginning of a hash, perhaps after the `g` of `git describe`.
fn is_hash(run: &str) -> bool {
    let run = run.strip_prefix('g').unwrap_or(run);
    run.len() >= 7
        && run.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
        && run.bytes().any(|byte| byte.is_ascii_digit())
        && run.bytes().any(|byte| byte.is_ascii_alphabetic())
}

/// Whether a run of letters and digits may be the beginning of a hash that has only digits. A day is none.
fn is_hash_of_digits(run: &str) -> bool {
    run.len() >= 7 && run.bytes().all(|byte| byte.is_ascii_digit()) && !is_day(run)
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
            // What stands before a version is a name.
            [Token::Word(_), .., Token::Mark('-' | '_' | '.')] => !tokens[..*at].iter().any(Token::is_hash),
            [.., Token::Mark(_)] => false,
            [] => true,
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
        let is_version = match numbers[..] {
            [number] => has_v || is_day(number),
            [.., month, day] if mark == '-' => is_in(month, 1..=12) && is_in(day, 1..=31),
            // A day whose year comes last, or whose year has two digits.
            [first, second, year] => {
                let has_zero = |number: &&str| number.starts_with('0');
                let has_two = |number: &&str| number.len() == 2;
                let is_short = numbers.iter().all(has_two) && numbers.iter().any(has_zero);
                !(is_year(year) && is_in(first, 1..=31) && is_in(second, 1..=31) || is_short)
            }
            // An address of a machine.
            [_, _, _, _] => has_v || numbers.iter().any(|number| !is_in(number, 0..=255)),
            _ => numbers.len() == 2,
        };
        // A time goes with its day.
        if let [
            Token::Word("T"),
            Token::Number(hour),
            Token::Mark('-'),
            Token::Number(minute),
            Token::Mark('-'),
            Token::Number(second),
            ..,
        ] = tokens[end..]
            && mark == '-'
        {
            numbers.extend([hour, minute, second]);
            end += 6;
        }
        let behind = tokens[end..].to_vec();
        let is_end = match behind[..] {
            [Token::Word("Z")] => numbers.len() == 6,
            // `2.5Gi` is a size, and so is `1.5M`.
            [Token::Word(word), ..] => place(word).is_some() && (word.len() > 1 || behind.len() > 1),
            // Two numbers and two more are a range.
            [Token::Mark('-'), Token::Number(_), Token::Mark('.'), ..] => numbers.len() != 2,
            _ => true,
        };
        let has_signs_alone = behind.windows(2).any(|pair| pair.iter().all(|token| matches!(token, Token::Mark(_))))
            || matches!(behind.last(), Some(Token::Mark(_)));
        let is_range = behind.iter().any(|token| matches!(token, Token::Word("x" | "X")));
        let version = Self { before: tokens[..start].to_vec(), has_v, numbers, mark, behind };
        (is_version && is_end && !has_signs_alone && !is_range && !version.is_in_host()).then_some(version)
    }

    /// Whether it is in the name of a machine: words with dots follow it, which are no ending of a file.
    fn is_in_host(&self) -> bool {
        let is_dot = |token: &&Token<'_>| **token == Token::Mark('.');
        let dotted = self.behind.windows(2).filter(|pair| matches!(pair, [Token::Mark('.'), Token::Word(_)])).count();
        let is_tar = matches!(self.behind[..], [.., Token::Word("tar"), Token::Mark('.'), Token::Word(_)]);
        self.behind.first().as_ref().is_some_and(is_dot) && dotted > 1 && !is_tar
    }

    fn is_date(&self) -> bool {
        is_year(self.numbers[0]) || is_day(self.numbers[0])
    }

    /// Whether it is a day alone.
    fn is_day_alone(&self) -> bool {
        let is_day = match self.numbers[..] {
            [_, month, day] => is_in(month, 1..=12) && is_in(day, 1..=31),
            [number] => is_day(number),
            _ => false,
        };
        self.is_date() && is_day && !self.has_v
    }

    /// Whether it is surely a version, whatever its field holds.
    fn is_sure(&self) -> bool {
        // Groups of three digits are the thousands of a number, or the parts of the number of a phone.
        let is_grouped = self.numbers[1..].iter().all(|number| number.len() >= 3);
        self.has_v || self.numbers.len() >= 3 && !is_grouped
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
fn in_part(a: &str, b: &str, holds: Holds) -> Option<Ordering> {
    let (one, other) = (Version::of(a)?, Version::of(b)?);
    let is_sure = one.is_sure() && other.is_sure() && !(one.is_day_alone() && other.is_day_alone());
    if !one.has_form_of(&other) || !is_sure && holds == Holds::Anything {
        return None;
    }
    let numbers = by_numbers(&one.numbers, &other.numbers);
    let behind = behind(&one.behind, &other.behind, numbers)?;
    // Of a Kubernetes API, `v1` is more than `v2alpha1`.
    let is_api = one.has_v && one.numbers.len() == 1;
    if is_api && numbers.is_ne() && matches!(behind, Behind::Stage(stage) if stage != numbers) {
        return None;
    }
    Some(numbers.then(behind.order()))
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

/// Compares the ends of two versions, which follow their numbers, given the order of their numbers; `None` if the forms differ, or if a number
/// says the opposite of the numbers before it.
fn behind(a: &[Token<'_>], b: &[Token<'_>], numbers: Ordering) -> Option<Behind> {
    let [(a, build), (b, other_build)] = [a, b].map(|all| {
        let plus = all.iter().position(|token| *token == Token::Mark('+'));
        all.split_at(plus.unwrap_or(all.len()))
    });
    let [(stage, rest), (other, rest_of_other)] = [a, b].map(stage);
    if stage == other {
        let order = by_form(a, b, numbers)?;
        return by_form(build, other_build, numbers.then(order)).map(|builds| Behind::Numbers(order.then(builds)));
    }
    by_form(build, other_build, Ordering::Equal)?;
    // Only what is known to come before a release does.
    let order = match (stage, other) {
        (Stage::Release, Stage::Before(_)) if rest.is_empty() => Ordering::Greater,
        (Stage::Before(_), Stage::Release) if rest_of_other.is_empty() => Ordering::Less,
        (Stage::Before(one), Stage::Before(other)) => match (place(one)?, place(other)?) {
            (Place::Known(one), Place::Known(other)) => one.cmp(&other),
            _ => return None,
        },
        _ => return None,
    };
    let is_numbers =
        |rest: &[Token<'_>]| rest.iter().all(|token| matches!(token, Token::Number(_) | Token::Mark('.' | '-')));
    (is_numbers(rest) && is_numbers(rest_of_other)).then_some(Behind::Stage(order))
}

/// The order of two texts of one form: their numbers may differ, and their hashes. `before` is the order of what stands before them. `None` if the
/// forms differ, or if a number says the opposite of what stands before it and is none that begins anew.
fn by_form(a: &[Token<'_>], b: &[Token<'_>], before: Ordering) -> Option<Ordering> {
    if a.len() != b.len() {
        // `rc` is `rc0` for some, and `rc1` for others.
        return None;
    }
    let mut order = Ordering::Equal;
    // Whether a number of the version that is being read, such as that of `alpine3.19`, has an order.
    let mut is_decided = false;
    for (at, pair) in a.iter().zip(b).enumerate() {
        let of_pair = match pair {
            (Token::Number(a), Token::Number(b)) => by_numbers(&[a], &[b]),
            (Token::Hash(_), Token::Hash(_)) => Ordering::Equal,
            (a, b) if a == b => Ordering::Equal,
            _ => return None,
        };
        is_decided &= matches!(a[..at], [.., Token::Number(_)] | [.., Token::Number(_), Token::Mark('.')]);
        if is_decided {
            continue;
        }
        is_decided = of_pair.is_ne();
        let so_far = before.then(order);
        if so_far.is_ne() && of_pair == so_far.reverse() && !begins_anew(&a[..at], pair.0) {
            return None;
        }
        order = order.then(of_pair);
    }
    Some(order)
}

/// Whether a number counts from the beginning with each new version, as the `2` of `1.2.3-r2` does: it follows the version or such a word.
fn begins_anew(before: &[Token<'_>], number: &Token<'_>) -> bool {
    match before {
        [Token::Mark(_)] => matches!(number, Token::Number(number) if !is_day(number)),
        [.., Token::Word(word)] | [.., Token::Word(word), Token::Mark(_)] => {
            place(word).is_some() || COUNTED.contains(&word.to_ascii_lowercase().as_str())
        }
        _ => false,
    }
}

/// The words before a number that counts builds or revisions: `r2`, `k3s1`, `rke2r1`, `gke.1200`.
const COUNTED: [&str; 8] = ["b", "build", "gke", "p", "post", "r", "rev", "s"];

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

/// The order of numbers of any length, the first one first.
fn by_numbers(a: &[&str], b: &[&str]) -> Ordering {
    let value = |number: &&str| {
        let digits = number.trim_start_matches('0').to_owned();
        (digits.len(), digits)
    };
    a.iter().map(value).cmp(b.iter().map(value))
}

/// Whether a number is in a range.
fn is_in(number: &str, range: RangeInclusive<u16>) -> bool {
    number.parse().is_ok_and(|value| range.contains(&value))
}

/// Whether a number is a year.
fn is_year(number: &str) -> bool {
    number.len() == 4 && is_in(number, 1990..=2099)
}

/// Whether a number is a day, `20240115`, with perhaps a time.
fn is_day(number: &str) -> bool {
    let has = |at: usize, range| number.get(at..at + 2).is_some_and(|part| is_in(part, range));
    matches!(number.len(), 8 | 10 | 12 | 14) && is_year(&number[..4]) && has(4, 1..=12) && has(6, 1..=31)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `A < B`, `A :< B` and `A ? B`, a line for each pair.
    const PAIRS: &str = include_str!("newest/pairs.txt");

    #[test]
    fn each_pair_has_the_order_that_people_mean() {
        let mut wrong = Vec::new();
        let pairs = PAIRS.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
        let all: Vec<&str> = pairs.collect();
        for line in &all {
            let signs = [(" :< ", [true, false]), (" < ", [true; 2]), (" ? ", [false; 2])];
            let found = signs.iter().find_map(|(sign, want)| Some((line.split_once(sign)?, want)));
            let ((a, b), want) = found.unwrap_or_else(|| panic!("{line}: it must be `A < B`, `A :< B` or `A ? B`"));
            for (holds, is_less) in [Holds::Versions, Holds::Anything].into_iter().zip(want) {
                let want = is_less.then_some(Ordering::Less);
                let found = [compared(a, b, holds), compared(b, a, holds).map(Ordering::reverse)];
                if found != [want; 2] {
                    wrong.push(format!("{line}: {found:?} in a field that holds {holds:?}"));
                }
            }
        }
        assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), all.len(), wrong.join("\n"));
        assert!(all.len() >= 400, "{}", all.len());
    }

    #[test]
    fn lines_differ_in_one_version_and_its_hash() {
        let [one, other] = ["a", "b"].map(|digit| digit.repeat(40));
        for (updated, dest, want) in [
            ("  tag: 1.2\n", "  tag: 1.3\n", Some(Side::Dest)),
            ("  ratio: 1.2\n", "  ratio: 1.3\n", None),
            ("  image: web:1.3 # a\n", "  image: web:1.2 # a\n", Some(Side::Updated)),
            ("  image: web:1.3 # a\n", "  image: web:1.2 # b\n", None),
            ("  tag: 1.2\n", "  newTag: 1.3\n", None),
            ("- v1.2.0\n", "- v1.3.0\n", Some(Side::Dest)),
            ("  \"version\": \"1.2\",\n", "  \"version\": \"1.3\",\n", Some(Side::Dest)),
            ("tag: '1.2'\ndigest: sha256:a\n", "tag: '1.3'\ndigest: sha256:b\n", Some(Side::Dest)),
            ("tag: '1.2'\ndigest: sha256:a\n", "tag: '1.3'\n", None),
            ("digest: sha256:a\n", "digest: sha256:b\n", None),
            ("repository: a\ntag: '1.2'\n", "repository: b\ntag: '1.3'\n", None),
            ("a: v1.0.1\nb: v1.0.2\n", "a: v1.0.3\nb: v1.0.4\n", None),
            ("expr: a > 0.8\n", "expr: a > 0.9\n", None),
            ("", "a: v1\n", None),
            (&format!("- uses: a/b@{one} # v1.2.3\n"), &format!("- uses: a/b@{other} # v1.10.0\n"), Some(Side::Dest)),
            (&format!("- uses: a/b@{one} # v1.2.3\n"), &format!("- uses: a/c@{other} # v1.10.0\n"), None),
            (&format!("- uses: a/b@{one}\n"), &format!("- uses: a/b@{other}\n"), None),
        ] {
            assert_eq!(newest_lines(updated, dest), want, "{updated} {dest}");
            let swapped = want.map(|side| if side == Side::Dest { Side::Updated } else { Side::Dest });
            assert_eq!(newest_lines(dest, updated), swapped, "{dest} {updated}");
        }
    }

    #[test]
    fn the_name_of_a_field_says_what_it_holds() {
        for (name, want) in [
            ("version", true),
            ("app.kubernetes.io/version", true),
            ("apiVersion", true),
            ("APP_VERSION", true),
            ("image", true),
            ("initImage", true),
            ("helm.sh/chart", true),
            ("olm.skipRange", true),
            ("startingCSV", true),
            ("--app-version", true),
            ("conversion", false),
            ("href", false),
            ("percentage", false),
            ("versions", false),
            ("ratio", false),
            ("", false),
        ] {
            assert_eq!(Holds::named(name) == Holds::Versions, want, "{name}");
        }
    }

    #[test]
    fn all_sides_have_versions_of_one_form() {
        let newest = |original, updated, dest| {
            newest(Sides { original, updated: Some(updated), dest: Some(dest) }, Holds::Anything)
        };
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
