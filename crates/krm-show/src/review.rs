//! What new releases do to the values over charts and to the patches over bases, for people and for programs.
//!
//! The worst comes first. What a new release leaves as it is has no line.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use krm_overlay::{ChangedDefault, Finding, Hidden, HiddenAs, KnownBy, OverlayKind, Unread, Value, Verdict};
use krm_tree::path::FieldPath;
use krm_words::{counted, overlay as words};
use krm_yaml::Position;
use serde_json::{Value as Json, json};

use crate::args::Reviewed;
use crate::github::{data, property};
use crate::html;
use crate::markdown::{LONGEST, code, escaped};
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
    /// The defaults that change where no value hides them.
    pub changed: Vec<ChangedDefault>,
    /// A link to what the chart says of its changes.
    pub notes: Option<String>,
    /// Whether it is known what lies below.
    pub is_read: bool,
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
    DoesNotRender,
    AnotherElement,
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
            Verdict::DoesNotRender { .. } => Self::DoesNotRender,
            Verdict::AnotherElement { .. } => Self::AnotherElement,
            Verdict::Gone { .. } => Self::Gone,
            Verdict::OtherKind { .. } => Self::OtherKind,
            Verdict::Hides(Hidden { hidden_as: HiddenAs::Image, .. }) => Self::Image,
            Verdict::Hides(_) => Self::Hides,
            Verdict::Appears { .. } => Self::Appears,
            Verdict::NewlySame { .. } => Self::NewlySame,
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
            Self::DoesNotRender | Self::AnotherElement | Self::Gone | Self::OtherKind => Level::Error,
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

/// Changed defaults by their places.
type Defaults<'r> = BTreeMap<String, &'r ChangedDefault>;

/// A line of the output.
struct Line<'r> {
    over: &'r Over,
    found: &'r Found,
    rank: Rank,
    /// The map that the values are in, if the line is about all of them.
    lost: Option<Lost<'r>>,
}

/// A map that lost its defaults.
struct Lost<'r> {
    map: &'r FieldPath<'static>,
    /// The places in it that somebody sets.
    places: Vec<&'r FieldPath<'static>>,
}

impl Line<'_> {
    /// What the new release does, as a sentence.
    fn told(&self) -> String {
        match &self.lost {
            Some(lost) => words::lost_with(lost.map, &lost.places),
            None => words::finding(&self.found.finding),
        }
    }

    /// The place that it is about.
    fn place(&self) -> String {
        let place = self.lost.as_ref().map_or(&self.found.finding.place, |lost| lost.map).keyed();
        self.found.finding.object.iter().fold(place, |place, object| format!("{object} {place}"))
    }
}

impl Review {
    /// Whether somebody must look at something: a value that is gone, hides a change, or is of another kind.
    pub fn is_bad(&self) -> bool {
        self.lines().any(|line| line.rank.is_bad())
    }

    /// Why the first overlay was not read, with its place, if none of them was.
    pub fn unread(&self) -> Option<String> {
        let is_read = self.overlays.iter().any(|over| over.is_read);
        let (_, first) = missed(self).next().filter(|_| !is_read)?;
        Some(format!("{}: {}", first.at.shown(), first.why))
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
        let names = |is_base: bool| {
            let own = self.overlays.iter().filter(|over| (over.kind == OverlayKind::Kustomization) == is_base);
            own.filter_map(|over| over.chart.as_deref()).collect::<BTreeSet<&str>>().len()
        };
        let below = match [names(false), names(true)] {
            [charts, 0] => counted(charts, "chart"),
            [0, bases] => counted(bases, "base"),
            [charts, bases] => format!("{} and {}", counted(charts, "chart"), counted(bases, "base")),
        };
        let overlays = counted(self.overlays.len(), "overlay");
        let mut parts = vec![format!("{overlays} of {below}, {raised} with another version")];
        parts.extend(self.counts());
        let unread: usize = self.overlays.iter().map(|over| over.unread.len()).sum();
        parts.extend((unread > 0).then(|| format!("{unread} not read")));
        let changed: usize = self.changed().values().map(BTreeMap::len).sum();
        parts.extend((changed > 0).then(|| words::changed_defaults(changed)));
        parts.join("; ")
    }

    /// The defaults that each new version changes and that some overlay does not hide.
    fn changed(&self) -> BTreeMap<String, Defaults<'_>> {
        let mut out: BTreeMap<String, Defaults<'_>> = BTreeMap::new();
        for over in self.overlays.iter().filter(|over| !over.changed.is_empty()) {
            let of_chart = over.changed.iter().map(|changed| (changed.place.keyed(), changed));
            out.entry(over.raise()).or_default().extend(of_chart);
        }
        out
    }

    /// The new versions that many values are gone from, each with the link of its chart.
    fn notes(&self) -> BTreeMap<String, &str> {
        self.overlays.iter().filter_map(|over| Some((over.raise(), over.notes()?))).collect()
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

/// How many values of an overlay must be gone before the notes of the chart are named.
const MANY: usize = 10;

/// The lines of some overlays, the worst first.
fn lines<'r>(overlays: impl IntoIterator<Item = &'r Over>) -> Vec<Line<'r>> {
    let mut all: Vec<Line<'_>> = overlays.into_iter().flat_map(of_over).collect();
    all.sort_by(|a, b| (a.rank, &a.found.at).cmp(&(b.rank, &b.found.at)));
    all
}

/// The lines of an overlay. Values in one map that lost its defaults have one line.
fn of_over(over: &Over) -> Vec<Line<'_>> {
    let (mut out, mut maps): (Vec<Line<'_>>, BTreeMap<String, usize>) = (Vec::new(), BTreeMap::new());
    for found in &over.found {
        let rank = Rank::of(&found.finding.verdict);
        let map = match &found.finding.verdict {
            Verdict::Hides(hidden) => hidden.lost_with.as_ref(),
            _ => None,
        };
        let place = &found.finding.place;
        let number = map.map_or(out.len(), |map| *maps.entry(map.keyed()).or_insert(out.len()));
        match out.get_mut(number) {
            Some(Line { lost: Some(lost), .. }) if !lost.places.contains(&place) => lost.places.push(place),
            Some(_) => {}
            None if rank < Rank::Holds => {
                out.push(Line { over, found, rank, lost: map.map(|map| Lost { map, places: vec![place] }) });
            }
            None => {}
        }
    }
    for line in &mut out {
        line.lost.take_if(|lost| lost.places.len() == 1);
        if line.lost.is_some() {
            line.rank = Rank::Hides;
        }
    }
    out
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

    /// The link to what the chart says of its changes, if many values are gone.
    fn notes(&self) -> Option<&str> {
        let gone = self.found.iter().filter(|found| Rank::of(&found.finding.verdict) == Rank::Gone);
        self.notes.as_deref().filter(|_| gone.count() > MANY)
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
        Reviewed::Html => page.data(&html(review)),
    }
    page
}

fn text(review: &Review, page: &mut Page) {
    let (images, lines): (Vec<Line<'_>>, Vec<Line<'_>>) = review.lines().partition(|line| line.rank == Rank::Image);
    for line in &lines {
        page.pieces(&[
            (Paint::Plain, &line.found.at.shown()),
            (Paint::Plain, ": "),
            (line.rank.paint(), words::verdict(&line.found.finding.verdict)),
            (Paint::Plain, &format!(": {} ({})", line.told(), line.over.raise())),
        ]);
    }
    if let Some(folded) = folded(&images) {
        page.line(&folded);
    }
    for (raise, link) in review.notes() {
        page.line(&format!("{raise}: {}", words::notes(link)));
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
        if let Some(object) = &found.finding.object {
            out["object"] = object.as_str().into();
        }
        match &found.finding.verdict {
            Verdict::Gone { moved_to, known_by } => {
                out["movedTo"] = moved_to.as_ref().map(|to| to.place.keyed()).into();
                out["knownBy"] = witness(*known_by).into();
            }
            Verdict::NewlySame { known_by } => out["knownBy"] = witness(*known_by).into(),
            Verdict::AnotherElement { original, updated } => {
                (out["original"], out["updated"]) = (original.as_str().into(), updated.as_str().into());
            }
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
    let changed = |changed: &ChangedDefault| {
        json!({
            "place": changed.place.keyed(),
            "original": value(changed.original.as_ref()),
            "updated": value(changed.updated.as_ref()),
            "isImage": changed.changed_as == HiddenAs::Image,
        })
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
            "changedDefaults": over.changed.iter().map(changed).collect::<Vec<_>>(),
            "notes": over.notes,
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
        Rank::DoesNotRender => "does-not-render",
        Rank::AnotherElement => "another-element",
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

/// The name for programs of what says something.
fn witness(known_by: KnownBy) -> &'static str {
    match known_by {
        KnownBy::Chart => "chart",
        KnownBy::Rendering => "helm",
    }
}

fn github(review: &Review, page: &mut Page) {
    let mut command = |name: &str, at: &FilePlace, title: &str, told: &str| {
        let (file, title) = (property(&at.path()), property(title));
        page.line(&format!("::{name} file={file},line={},col={},title={title}::{}", at.line, at.column, data(told)));
    };
    for line in review.lines().filter(|line| line.rank <= Rank::Unknown) {
        let name = match line.rank.level() {
            Level::Error => "error",
            Level::Warning => "warning",
            Level::Note => "notice",
        };
        let title = format!("{} in {}", words::verdict(&line.found.finding.verdict), line.over.raise());
        command(name, &line.found.at, &title, &line.told());
    }
    for (over, missed) in missed(review) {
        command("notice", &missed.at, &format!("not read: {}", over.called()), &missed.why);
    }
}

/// The rules of SARIF, each with its description and its default level.
const RULES: [(&str, &str, &str); 9] = [
    (
        "does-not-render",
        "The new release of a chart does not render with values that the old one renders with.",
        "error",
    ),
    ("another-element", "The index of a patch names another element in the new release of a base.", "error"),
    ("gone", "The new release does not have what a value or patch is for.", "error"),
    ("other-kind", "The new release has another kind of value here.", "error"),
    ("hides", "A value or patch hides what the new release changes.", "warning"),
    ("appears", "The new release has a value here, which yours hides.", "warning"),
    ("newly-same", "The new release has this value by itself.", "note"),
    ("unknown", "Nobody can say what the new release does here.", "note"),
    ("unread", "What lies below, or some of what lies over it, could not be read.", "note"),
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
    let of_line = |line: Line<'_>| {
        let told = format!("{} ({})", line.told(), line.over.raise());
        let name = format!("{} {}", line.over.called(), line.place());
        result(id(&line.found.finding.verdict), line.rank.level(), &line.found.at, told, name.trim_end().to_owned())
    };
    let found = review.lines().filter(|line| line.rank <= Rank::Unknown).map(of_line);
    let unread = missed(review)
        .map(|(over, missed)| result("unread", Level::Note, &missed.at, missed.why.clone(), over.called()));
    log(&RULES, found.chain(unread).collect(), true)
}

fn title(review: &Review) -> String {
    let nothing = || if review.unread().is_some() { "no value could be reviewed" } else { "no value is affected" };
    format!("krm-merge: {}", review.counts().unwrap_or_else(|| nothing().to_owned()))
}

/// How many changed defaults of a chart a comment shows.
const MOST_DEFAULTS: usize = 100;

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
    for (raise, defaults) in review.changed() {
        let part = defaults_part(&raise, &defaults);
        if out.len() + part.len() < LONGEST {
            out.push_str(&part);
        }
    }
    out
}

/// The defaults that a new version changes and nobody hides, folded.
fn defaults_part(raise: &str, defaults: &Defaults<'_>) -> String {
    let count = words::changed_defaults(defaults.len());
    let mut out = format!("\n<details>\n<summary>{}: {count}</summary>\n\n", code(raise));
    let rows = default_rows(defaults);
    if !rows.is_empty() {
        out.push_str("<table>\n<tr><th>place</th><th>old default</th><th>new default</th></tr>\n");
        let cells = |row: &[String; 3]| row.each_ref().map(|cell| format!("<td>{}</td>", code(cell))).concat();
        rows.iter().take(MOST_DEFAULTS).for_each(|row| out.push_str(&format!("<tr>{}</tr>\n", cells(row))));
        out.push_str("</table>\n\n");
    }
    if rows.len() > MOST_DEFAULTS {
        out.push_str(&format!("… and {} more\n\n", rows.len() - MOST_DEFAULTS));
    }
    if let Some(images) = folded_defaults(defaults) {
        out.push_str(&format!("{}\n\n", code(&images)));
    }
    out.push_str("</details>\n");
    out
}

/// A row for each default but those of images: the place, the old and the new default.
fn default_rows(defaults: &Defaults<'_>) -> Vec<[String; 3]> {
    let all = defaults.values().filter(|changed| changed.changed_as == HiddenAs::Value);
    let shown = |value: &Option<Value>| words::default(value.as_ref());
    all.map(|changed| [changed.place.shown(), shown(&changed.original), shown(&changed.updated)]).collect()
}

/// The tags of images among the defaults, in one line.
fn folded_defaults(defaults: &Defaults<'_>) -> Option<String> {
    let all = defaults.values().filter(|changed| changed.changed_as == HiddenAs::Image);
    let places: Vec<String> = all.map(|changed| changed.place.shown()).collect();
    let count = counted(places.len(), "image tag");
    (!places.is_empty()).then(|| format!("{count} or digests: {}", places.join(", ")))
}

fn chart_part(raise: &str, overs: &[&Over]) -> String {
    let mut out = format!("\n#### {}\n", code(raise));
    let told = lines(overs.iter().copied()).into_iter().filter(|line| line.rank <= Rank::Unknown);
    let (images, lines): (Vec<Line<'_>>, Vec<Line<'_>>) = told.partition(|line| line.rank == Rank::Image);
    match lines.is_empty() {
        true => out.push_str("\nNo value of yours is affected.\n"),
        false => {
            out.push_str("\n<table>\n<tr><th>place</th><th></th><th>what the new version does</th></tr>\n");
            for line in &lines {
                out.push_str(&format!(
                    "<tr><td>{}</td><td>{}</td><td>{}</td></tr>\n",
                    code(&line.found.at.shown()),
                    words::verdict(&line.found.finding.verdict),
                    code(&line.told())
                ));
            }
            out.push_str("</table>\n");
        }
    }
    if let Some(folded) = folded(&images) {
        out.push_str(&format!("\n{}\n", code(&folded)));
    }
    if let Some(link) = overs.iter().find_map(|over| over.notes()) {
        out.push_str(&format!("\n{}\n", escaped(&words::notes(link))));
    }
    out
}

fn html(review: &Review) -> String {
    let defaults = review.changed().into_iter().map(|(raise, defaults)| html::review::Folded {
        summary: format!("{raise}: {}", words::changed_defaults(defaults.len())),
        rows: default_rows(&defaults),
        images: folded_defaults(&defaults),
    });
    let notes = review.notes().into_iter().map(|(raise, link)| format!("{raise}: {}", words::notes(link)));
    html::review::page(&html::review::Content {
        title: title(review),
        total: review.total(),
        rows: rows(review),
        notes: notes.collect(),
        defaults: defaults.collect(),
    })
}

/// A row of a table: where, the verdict, what it does, and the chart.
fn rows(review: &Review) -> Vec<[String; 4]> {
    let row = |line: Line<'_>| {
        let verdict = words::verdict(&line.found.finding.verdict).to_owned();
        [line.found.at.shown(), verdict, line.told(), line.over.raise()]
    };
    let missed = missed(review)
        .map(|(over, missed)| [missed.at.shown(), "not read".to_owned(), missed.why.clone(), over.called()]);
    review.lines().filter(|line| line.rank <= Rank::Unknown).map(row).chain(missed).collect()
}
