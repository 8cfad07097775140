//! What new releases of charts do to the values over them, for people and for programs.
//!
//! The worst comes first. What a new release leaves as it is has no line.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use krm_overlay::{Finding, Hidden, HiddenAs, OverlayKind, Unread, Value, Verdict};
use krm_words::{counted, overlay as words};
use krm_yaml::Position;
use serde_json::{Value as Json, json};

use crate::args::Reviewed;
use crate::github::{data, property};
use crate::html;
use crate::markdown::{LONGEST, code};
use crate::output::indented;
use crate::place::from_here;
use crate::sarif::{fingerprints, log, logical, physical};
use crate::screen::{Page, Paint, Reader};

/// What a run found.
#[derive(Debug, Default)]
pub struct Review {
    /// The overlays, in the order of their files.
    pub overlays: Vec<Over>,
}

/// An overlay, and what a new release does to it.
#[derive(Debug)]
pub struct Over {
    /// What lays the values over the chart.
    pub kind: OverlayKind,
    /// Its name.
    pub name: String,
    /// Where it stands.
    pub at: FilePlace,
    /// The name of the chart; `None` if nobody can say.
    pub chart: Option<String>,
    /// The release that lies below.
    pub from: Option<String>,
    /// The release that it is compared with; `None` if there is no other.
    pub to: Option<String>,
    /// What the new release does.
    pub found: Vec<Found>,
    /// What could not be read.
    pub unread: Vec<Missed>,
}

/// A place of a file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FilePlace {
    /// The file on disk.
    pub file: PathBuf,
    /// The line.
    pub line: usize,
    /// The column.
    pub column: usize,
}

impl FilePlace {
    /// The place of an offset of a text.
    pub fn of(file: PathBuf, text: &str, offset: usize) -> Self {
        let Position { line, column } = Position::of(text, offset);
        Self { file, line, column }
    }

    fn path(&self) -> String {
        path(&self.file)
    }

    fn shown(&self) -> String {
        format!("{}:{}", self.path(), self.line)
    }
}

/// The path of a file, as the user would type it.
pub fn path(file: &Path) -> String {
    from_here(file)
}

/// What a new release does to a place.
#[derive(Debug)]
pub struct Found {
    /// Where the value stands.
    pub at: FilePlace,
    /// What the new release does.
    pub finding: Finding,
}

/// What could not be read.
#[derive(Debug)]
pub struct Missed {
    /// Where it is named.
    pub at: FilePlace,
    /// Why.
    pub why: String,
}

impl Missed {
    /// What could not be read of a file.
    pub fn of(at: FilePlace, unread: &Unread) -> Self {
        Self { at, why: words::unread(unread) }
    }
}

/// How much a verdict matters; the worst comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    Gone,
    OtherKind,
    Hides,
    Image,
    Appears,
    NewlySame,
    Unknown,
    Nowhere,
    Same,
    Holds,
}

impl Rank {
    fn of(verdict: &Verdict) -> Self {
        match verdict {
            Verdict::Gone { .. } => Self::Gone,
            Verdict::OtherKind { .. } => Self::OtherKind,
            Verdict::Hides(Hidden { hidden_as: HiddenAs::Image, .. }) => Self::Image,
            Verdict::Hides(_) => Self::Hides,
            Verdict::Appears { .. } => Self::Appears,
            Verdict::NewlySame => Self::NewlySame,
            Verdict::Unknown(_) => Self::Unknown,
            Verdict::Nowhere => Self::Nowhere,
            Verdict::Same => Self::Same,
            Verdict::Holds => Self::Holds,
        }
    }

    /// Whether somebody must look at it.
    fn is_bad(self) -> bool {
        self <= Self::Image
    }

    /// How loud a program is about it.
    fn level(self) -> Level {
        match self {
            Self::Gone | Self::OtherKind => Level::Error,
            Self::Hides | Self::Image | Self::Appears => Level::Warning,
            _ => Level::Note,
        }
    }

    fn paint(self) -> Paint {
        match self.level() {
            Level::Error => Paint::Red,
            Level::Warning => Paint::Yellow,
            Level::Note => Paint::Cyan,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Level {
    Error,
    Warning,
    Note,
}

/// A line of the output.
struct Line<'r> {
    over: &'r Over,
    found: &'r Found,
    rank: Rank,
}

impl Review {
    /// Whether somebody must look at something: a value that is gone, hides a change, or is of another kind.
    pub fn is_bad(&self) -> bool {
        self.lines().any(|line| line.rank.is_bad())
    }

    /// Keeps only what has something to say: without places that nothing reads, and that say what the chart says.
    pub fn without_idle(&mut self) {
        let is_told = |found: &Found| Rank::of(&found.finding.verdict) <= Rank::Unknown;
        self.overlays.iter_mut().for_each(|over| over.found.retain(is_told));
    }

    /// All lines, the worst first.
    fn lines(&self) -> impl Iterator<Item = Line<'_>> {
        lines(&self.overlays).into_iter()
    }

    /// How many overlays there are, how many have another release, and what it does to them.
    pub fn total(&self) -> String {
        let raised = self.overlays.iter().filter(|over| over.to.is_some()).count();
        let charts: BTreeSet<&str> = self.overlays.iter().filter_map(|over| over.chart.as_deref()).collect();
        let overlays = counted(self.overlays.len(), "overlay");
        let mut parts =
            vec![format!("{overlays} of {}, {raised} with another version", counted(charts.len(), "chart"))];
        parts.extend(self.counts());
        let unread: usize = self.overlays.iter().map(|over| over.unread.len()).sum();
        parts.extend((unread > 0).then(|| format!("{unread} not read")));
        parts.join("; ")
    }

    /// What was found, as `2 gone, 1 hides`; `None` if nothing was.
    fn counts(&self) -> Option<String> {
        let mut counts: BTreeMap<Rank, (&str, usize)> = BTreeMap::new();
        for line in self.lines() {
            // An image is hidden, too.
            let rank = if line.rank == Rank::Image { Rank::Hides } else { line.rank };
            counts.entry(rank).or_insert((words::verdict(&line.found.finding.verdict), 0)).1 += 1;
        }
        let counts: Vec<String> = counts.values().map(|(word, count)| format!("{count} {word}")).collect();
        (!counts.is_empty()).then(|| counts.join(", "))
    }
}

/// The lines of some overlays, the worst first.
fn lines<'r>(overlays: impl IntoIterator<Item = &'r Over>) -> Vec<Line<'r>> {
    let all = overlays.into_iter().flat_map(|over| over.found.iter().map(move |found| (over, found)));
    let all = all.map(|(over, found)| Line { over, found, rank: Rank::of(&found.finding.verdict) });
    let mut all: Vec<Line<'_>> = all.filter(|line| line.rank < Rank::Holds).collect();
    all.sort_by(|a, b| (a.rank, &a.found.at).cmp(&(b.rank, &b.found.at)));
    all
}

impl Over {
    /// The chart with both versions.
    fn raise(&self) -> String {
        let chart = self.chart.as_deref().unwrap_or("a chart");
        match (&self.from, &self.to) {
            (Some(from), Some(to)) => format!("{chart} {from} to {to}"),
            (None, Some(to)) => format!("{chart} to {to}"),
            (Some(from), None) => format!("{chart} {from}"),
            (None, None) => chart.to_owned(),
        }
    }

    fn called(&self) -> String {
        format!("{} {}", self.kind.name(), self.name)
    }
}

/// The output for a review in the format that the user chose.
pub fn of(review: &Review, output: Reviewed, reader: Reader) -> Page {
    let mut page = Page::new(match output {
        Reviewed::Text | Reviewed::Github => reader,
        _ => Reader::of_data(),
    });
    match output {
        Reviewed::Text => text(review, &mut page),
        Reviewed::Json => page.data(&json(review)),
        Reviewed::Github => github(review, &mut page),
        Reviewed::Sarif => page.data(&sarif(review)),
        Reviewed::Markdown => page.data(&markdown(review)),
        Reviewed::Html => page.data(&html::review::page(&title(review), &review.total(), &rows(review))),
    }
    page
}

fn text(review: &Review, page: &mut Page) {
    let (images, lines): (Vec<Line<'_>>, Vec<Line<'_>>) = review.lines().partition(|line| line.rank == Rank::Image);
    for Line { over, found, rank } in &lines {
        let word = words::verdict(&found.finding.verdict);
        page.pieces(&[
            (Paint::Plain, &found.at.shown()),
            (Paint::Plain, ": "),
            (rank.paint(), word),
            (Paint::Plain, &format!(": {} ({})", words::finding(&found.finding), over.raise())),
        ]);
    }
    if let Some(folded) = folded(&images) {
        page.line(&folded);
    }
    for (over, missed) in missed(review) {
        let about = over.called();
        page.line(&format!("{}: not read: {}: {}", missed.at.shown(), about, missed.why));
    }
    page.line(&format!("total: {}", review.total()));
}

/// The tags of images in one line: they change with each release.
fn folded(images: &[Line<'_>]) -> Option<String> {
    let first = images.first()?;
    let places: Vec<String> = images.iter().map(|line| line.found.at.shown()).collect();
    let count = counted(images.len(), "image tag");
    let verdict = words::verdict(&first.found.finding.verdict);
    Some(format!("{}: {verdict}: {count} or digests, at {}", first.found.at.shown(), places.join(", ")))
}

fn missed(review: &Review) -> impl Iterator<Item = (&Over, &Missed)> {
    review.overlays.iter().flat_map(|over| over.unread.iter().map(move |missed| (over, missed)))
}

fn json(review: &Review) -> String {
    let value = |value: Option<&Value>| {
        value.map_or(Json::Null, |value| serde_json::from_str(&value.to_string()).unwrap_or(Json::Null))
    };
    let found = |found: &Found| {
        let mut out = json!({
            "verdict": id(&found.finding.verdict),
            "place": found.finding.place.keyed(),
            "file": found.at.path(),
            "line": found.at.line,
            "column": found.at.column,
            "message": words::finding(&found.finding),
        });
        match &found.finding.verdict {
            Verdict::Gone { moved_to: Some(to) } => out["movedTo"] = to.place.keyed().into(),
            Verdict::Hides(hidden) => {
                out["original"] = value(hidden.original.as_ref());
                out["updated"] = value(hidden.updated.as_ref());
                out["ours"] = value(Some(&hidden.ours));
                out["siblings"] = hidden.siblings.clone().into();
                out["isImage"] = (hidden.hidden_as == HiddenAs::Image).into();
            }
            Verdict::Appears { updated } => out["updated"] = value(Some(updated)),
            Verdict::OtherKind { original, updated } => {
                out["original"] = value(original.as_ref());
                out["updated"] = value(Some(updated));
            }
            _ => {}
        }
        out
    };
    let overlays = review.overlays.iter().map(|over| {
        json!({
            "kind": over.kind.name(),
            "name": over.name,
            "file": over.at.path(),
            "line": over.at.line,
            "chart": over.chart,
            "from": over.from,
            "to": over.to,
            "findings": over.found.iter().map(found).collect::<Vec<_>>(),
            // TODO: the defaults that change where no value hides them. Nobody looks for them yet.
            "changedDefaults": [],
            "unread": over.unread.iter().map(|missed| json!({
                "file": missed.at.path(), "line": missed.at.line, "message": missed.why,
            })).collect::<Vec<_>>(),
        })
    });
    indented(&Json::from(overlays.collect::<Vec<_>>()).to_string())
}

/// The name of a verdict for programs.
fn id(verdict: &Verdict) -> &'static str {
    match Rank::of(verdict) {
        Rank::Gone => "gone",
        Rank::OtherKind => "other-kind",
        Rank::Hides | Rank::Image => "hides",
        Rank::Appears => "appears",
        Rank::NewlySame => "newly-same",
        Rank::Unknown => "unknown",
        Rank::Nowhere => "nowhere",
        Rank::Same => "same",
        Rank::Holds => "holds",
    }
}

fn github(review: &Review, page: &mut Page) {
    let mut command = |name: &str, at: &FilePlace, title: &str, told: &str| {
        let (file, title) = (property(&at.path()), property(title));
        page.line(&format!("::{name} file={file},line={},col={},title={title}::{}", at.line, at.column, data(told)));
    };
    for Line { over, found, rank } in review.lines().filter(|line| line.rank <= Rank::Unknown) {
        let name = match rank.level() {
            Level::Error => "error",
            Level::Warning => "warning",
            Level::Note => "notice",
        };
        let title = format!("{} in {}", words::verdict(&found.finding.verdict), over.raise());
        command(name, &found.at, &title, &words::finding(&found.finding));
    }
    for (over, missed) in missed(review) {
        command("notice", &missed.at, &format!("not read: {}", over.called()), &missed.why);
    }
}

/// The rules of SARIF, each with its description and its default level.
const RULES: [(&str, &str, &str); 7] = [
    ("gone", "The new release of a chart does not read a value that the old one reads.", "error"),
    ("other-kind", "The new release of a chart has another kind of value here.", "error"),
    ("hides", "A value hides a default that the new release of a chart changes.", "warning"),
    ("appears", "The new release of a chart has a default here, which a value hides.", "warning"),
    ("newly-same", "The new release of a chart has this value by itself.", "note"),
    ("unknown", "Nobody can say what the new release of a chart does to this value.", "note"),
    ("unread", "What lies below values, or some of the values, could not be read.", "note"),
];

fn sarif(review: &Review) -> String {
    let result = |rule: &str, level: Level, at: &FilePlace, told: String, name: String| {
        let level = match level {
            Level::Error => "error",
            Level::Warning => "warning",
            Level::Note => "note",
        };
        let place = physical(&at.path(), Position { line: at.line, column: at.column });
        json!({
            "ruleId": rule,
            "level": level,
            "message": {"text": told},
            "ruleIndex": RULES.iter().position(|known| known.0 == rule),
            "locations": [{"physicalLocation": place, "logicalLocations": logical(&name)}],
            "partialFingerprints": fingerprints(rule, &name),
        })
    };
    let of_line = |Line { over, found, rank }: Line<'_>| {
        let told = format!("{} ({})", words::finding(&found.finding), over.raise());
        let name = format!("{} {}", over.called(), found.finding.place.keyed());
        result(id(&found.finding.verdict), rank.level(), &found.at, told, name)
    };
    let found = review.lines().filter(|line| line.rank <= Rank::Unknown).map(of_line);
    let unread = missed(review)
        .map(|(over, missed)| result("unread", Level::Note, &missed.at, missed.why.clone(), over.called()));
    log(&RULES, found.chain(unread).collect(), true)
}

fn title(review: &Review) -> String {
    format!("krm-merge: {}", review.counts().unwrap_or_else(|| "no value is affected".to_owned()))
}

/// The first line of a comment, by which its author finds it again.
const MARK: &str = "<!-- krm-merge review -->\n";

/// A comment for a pull request: a table for each chart, and what could not be read.
fn markdown(review: &Review) -> String {
    let mut out = format!("{MARK}### {}\n", title(review));
    let mut charts: BTreeMap<String, Vec<&Over>> = BTreeMap::new();
    for over in review.overlays.iter().filter(|over| over.to.is_some()) {
        charts.entry(over.raise()).or_default().push(over);
    }
    for (raise, overs) in &charts {
        let part = chart_part(raise, overs);
        if out.len() + part.len() > LONGEST {
            out.push_str("\n… and more, which is in the log of the run\n");
            break;
        }
        out.push_str(&part);
    }
    let unread: Vec<String> = missed(review)
        .map(|(over, missed)| {
            format!("<li>{} {}: {}</li>\n", code(&missed.at.shown()), code(&over.called()), code(&missed.why))
        })
        .collect();
    if !unread.is_empty() && out.len() + unread.concat().len() < LONGEST {
        let count = unread.len();
        out.push_str(&format!(
            "\n<details>\n<summary>{count} not read</summary>\n\n<ul>\n{}</ul>\n\n</details>\n",
            unread.concat()
        ));
    }
    out
}

fn chart_part(raise: &str, overs: &[&Over]) -> String {
    let mut out = format!("\n#### {}\n", code(raise));
    let told = lines(overs.iter().copied()).into_iter().filter(|line| line.rank <= Rank::Unknown);
    let (images, lines): (Vec<Line<'_>>, Vec<Line<'_>>) = told.partition(|line| line.rank == Rank::Image);
    match lines.is_empty() {
        true => out.push_str("\nNo value of yours is affected.\n"),
        false => {
            out.push_str("\n<table>\n<tr><th>place</th><th></th><th>what the new version does</th></tr>\n");
            for Line { found, .. } in &lines {
                out.push_str(&format!(
                    "<tr><td>{}</td><td>{}</td><td>{}</td></tr>\n",
                    code(&found.at.shown()),
                    words::verdict(&found.finding.verdict),
                    code(&words::finding(&found.finding))
                ));
            }
            out.push_str("</table>\n");
        }
    }
    if let Some(folded) = folded(&images) {
        out.push_str(&format!("\n{}\n", code(&folded)));
    }
    out
}

/// A row of a table: where, the verdict, what it does, and the chart.
fn rows(review: &Review) -> Vec<[String; 4]> {
    let row = |Line { over, found, .. }: Line<'_>| {
        let verdict = words::verdict(&found.finding.verdict).to_owned();
        [found.at.shown(), verdict, words::finding(&found.finding), over.raise()]
    };
    let missed = missed(review)
        .map(|(over, missed)| [missed.at.shown(), "not read".to_owned(), missed.why.clone(), over.called()]);
    review.lines().filter(|line| line.rank <= Rank::Unknown).map(row).chain(missed).collect()
}
