//! A card of the page: the results and changes of a resource, or of a file outside of its resources.

use std::collections::{HashMap, HashSet};
use std::slice;

use krm_folders::change::Change;
use krm_folders::package::KPTFILE;
use krm_folders::side::Side;
use krm_job::event::{Clash, Event, ResourceRef, Severity};
use krm_merge_core::policy::Settled;
use krm_names::file_path::RULES;
use krm_schema::schema::Types;
use krm_tree::sides::Side as Version;
use krm_words::counted;

use super::markup::Markup;
use super::rows::{self, Block, Elsewhere, Fate, Piece, Row, blocks};
use crate::clash::{Line, Shown, Values, public_values};
use crate::place;

/// The most results of one kind that are shown together.
pub const MOST: usize = 100;

/// How urgently someone should look at a card; the most urgent first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rank {
    /// It is unresolved, or there is an error.
    Open,
    /// There is a conflict with a winner.
    Conflict,
    /// There is a warning.
    Warning,
    /// Something changes.
    Change,
    /// There is only information.
    Note,
}

/// A card of the page, for a resource, or for a file outside of its resources.
#[derive(Debug)]
pub struct Card<'r> {
    /// How urgently someone should look at it.
    pub rank: Rank,
    number: usize,
    file: String,
    names: Vec<ResourceRef>,
    blocks: Vec<Block>,
    results: Vec<Told<'r>>,
}

/// A result with its line in dest.
#[derive(Debug)]
struct Told<'r> {
    result: &'r Event,
    line: Option<usize>,
}

/// Whether a result is about the whole run.
pub fn is_about_all(result: &Event) -> bool {
    result.resource_ref.is_none() && result.file.is_none() && result.at().is_none()
}

/// The cards of all resources and files that change or have results. Those with changes come first, in the order of the files; then those
/// with results alone, in the order of the results.
pub fn cards<'r>(
    dest: &Side,
    changes: &[Change],
    results: &'r [Event],
    secrets: &[ResourceRef],
    types: &Types<'_>,
) -> Vec<Card<'r>> {
    let mut deck = Deck { cards: Vec::new(), known: HashMap::new() };
    let secret = secrets.iter().map(ResourceRef::identity).collect();
    let of_files = results.iter().filter(|result| result.is_secret && result.resource_ref.is_none());
    let files: HashSet<&str> = of_files.filter_map(|result| Some(result.file.as_ref()?.path.as_str())).collect();
    for change in changes {
        let elsewhere = Elsewhere { resources: &secret, is_file: files.contains(change.path.as_str()) };
        for block in blocks(change, types, elsewhere) {
            deck.card(&change.path, &block.names).blocks.push(block);
        }
    }
    for result in results.iter().filter(|result| !is_about_all(result)) {
        let path = result.file.as_ref().map(|file| file.path.as_str());
        let path = path.or_else(|| result.at().map(|at| at.text.as_str())).unwrap_or_default();
        let line = place::of(dest, result).map(|at| at.position.line);
        deck.card(path, result.resource_ref.as_deref().map_or(&[], slice::from_ref))
            .results
            .push(Told { result, line });
    }
    for card in &mut deck.cards {
        card.rank = card.rank();
        if card.file.is_empty() {
            card.file.clone_from(&dest.name);
        }
    }
    // What the program writes for itself says nothing about the release.
    deck.cards.sort_by_key(Card::is_of_record);
    deck.cards
}

/// Cards that can be found by file and identity.
struct Deck<'r> {
    cards: Vec<Card<'r>>,
    known: HashMap<(String, Option<[String; 4]>), usize>,
}

impl<'r> Deck<'r> {
    fn card(&mut self, file: &str, names: &[ResourceRef]) -> &mut Card<'r> {
        let key = |name: Option<&ResourceRef>| {
            let name = name.cloned().map(|name| [name.api_version, name.kind, name.namespace, name.name]);
            (file.to_owned(), name)
        };
        let keys: Vec<_> =
            if names.is_empty() { vec![key(None)] } else { names.iter().map(|n| key(Some(n))).collect() };
        let number = self.cards.len();
        let at = keys.iter().find_map(|key| self.known.get(key)).copied().unwrap_or(number);
        keys.into_iter().for_each(|key| _ = self.known.entry(key).or_insert(at));
        if at == number {
            let (file, names) = (file.to_owned(), names.to_vec());
            self.cards.push(Card { rank: Rank::Note, number, file, names, blocks: Vec::new(), results: Vec::new() });
        }
        &mut self.cards[at]
    }
}

impl Told<'_> {
    fn is_open(&self) -> bool {
        let is_undecided = self.result.clash().is_some_and(|clash| clash.settled == Settled::Open);
        self.result.severity == Severity::Error || (self.result.is_conflict() && is_undecided)
    }

    fn is_conflict(&self) -> bool {
        self.result.is_conflict()
    }

    /// Whether it is a warning or an error, but not a conflict.
    fn is_warning(&self) -> bool {
        !self.result.is_conflict() && self.result.severity != Severity::Info
    }
}

impl Card<'_> {
    /// Whether it is about the file in which a package records its upstream.
    fn is_of_record(&self) -> bool {
        let name = self.file.rsplit('/').next();
        name.is_some_and(|name| name == KPTFILE || name == RULES)
    }

    fn rank(&self) -> Rank {
        let any = |is: fn(&Told<'_>) -> bool| self.results.iter().any(is);
        match () {
            () if any(|told| told.is_open()) => Rank::Open,
            () if any(|told| told.is_conflict()) => Rank::Conflict,
            () if any(|told| told.is_warning()) => Rank::Warning,
            () if !self.blocks.is_empty() => Rank::Change,
            () => Rank::Note,
        }
    }

    /// The subject of the card: a resource, with both names if it was renamed, or the file.
    fn called(&self) -> String {
        match self.names.as_slice() {
            [] => self.file.clone(),
            names => names.iter().map(|name| name.identity().called()).collect::<Vec<_>>().join(" → "),
        }
    }

    /// The tags that summarise the content of the card, each with its CSS class.
    fn tags(&self) -> Vec<(&'static str, String)> {
        let count = |is: fn(&Told<'_>) -> bool| self.results.iter().filter(|told| is(told)).count();
        let (conflicts, warnings) = (count(|told| told.is_conflict()), count(|told| told.is_warning()));
        let mut tags = Vec::new();
        if conflicts > 0 {
            tags.push(("conflict", counted(conflicts, "conflict")));
        }
        if warnings > 0 {
            tags.push(("warning", counted(warnings, "warning")));
        }
        if let Some(block) = self.blocks.first() {
            let fate = match block.fate {
                Fate::Added => "added",
                Fate::Changed => "changed",
                Fate::Deleted => "deleted",
            };
            tags.push(("changed", fate.to_owned()));
        }
        tags
    }

    /// Writes the card as one line of a list.
    pub fn line(&self, out: &mut Markup) {
        out.raw("<li>").code(&self.called());
        if !self.names.is_empty() {
            out.raw(" in ").code(&self.file);
        }
        for (_, tag) in self.tags() {
            out.raw(", ").text(&tag);
        }
        out.raw("</li>\n");
    }

    /// The card as HTML.
    pub fn markup(&self) -> Markup {
        let mut out = Markup::default();
        let number = self.number.to_string();
        let kind = self.names.last().map_or("(file)", |name| name.kind.as_str());
        let tags = self.tags();
        let has = tags.iter().map(|(tag, _)| *tag).chain((self.rank == Rank::Open).then_some("open"));
        out.raw("<article aria-labelledby=\"r").text(&number).raw("\" data-kind=\"").text(kind);
        out.raw("\" data-file=\"").text(&self.file).raw("\" data-has=\"").text(&has.collect::<Vec<_>>().join(" "));
        out.raw("\">\n<h3 id=\"r").text(&number).raw("\">").code(&self.called()).raw("</h3>\n<p class=\"about\">");
        if !self.names.is_empty() {
            out.code(&self.file);
        }
        for (class, tag) in tags {
            out.raw(" <span class=\"tag ").raw(class).raw("\">").text(&tag).raw("</span>");
        }
        out.raw("</p>\n");
        for told in self.results.iter().filter(|told| told.is_conflict()).take(MOST) {
            conflict(&mut out, told);
        }
        let others = || self.results.iter().filter(|told| !told.is_conflict());
        if others().next().is_some() {
            out.raw("<ul class=\"notes\">\n");
            others().take(MOST).for_each(|told| note(&mut out, told));
            more(&mut out, others().count().saturating_sub(MOST));
            out.raw("</ul>\n");
        }
        let left = self.results.len() - others().count();
        if left > MOST {
            out.raw("<ul class=\"notes\">\n");
            more(&mut out, left - MOST);
            out.raw("</ul>\n");
        }
        self.blocks.iter().for_each(|block| changes(&mut out, block));
        out.raw("</article>\n");
        out
    }
}

/// Writes an entry of a list with the number of entries that are left out.
pub fn more(out: &mut Markup, left: usize) {
    if left > 0 {
        out.raw("<li>").text(&format!("… and {left} more")).raw("</li>\n");
    }
}

fn note(out: &mut Markup, told: &Told<'_>) {
    out.raw("<li><strong>");
    out.raw(match told.result.severity {
        Severity::Error => "Error",
        Severity::Warning => "Warning",
        Severity::Info => "Note",
    });
    out.raw(":</strong> ").text(&krm_words::without_place(told.result));
    line(out, told);
    out.raw("</li>\n");
}

fn line(out: &mut Markup, told: &Told<'_>) {
    if let Some(line) = told.line {
        out.raw(" <span class=\"line\">line ").text(&line.to_string()).raw("</span>");
    }
}

fn conflict(out: &mut Markup, told: &Told<'_>) {
    let Some(clash) = told.result.clash() else { return };
    out.raw("<section class=\"conflict\">\n<h4>Conflict: ");
    let place = krm_words::place(clash);
    _ = if told.result.field.is_some() { out.code(&place) } else { out.text(&place) };
    line(out, told);
    out.raw("</h4>\n");
    match public_values(told.result) {
        Some(Values { original, dest, updated }) => {
            out.raw("<dl class=\"sides\">\n");
            for (side, value) in [(Version::Original, original), (Version::Dest, dest), (Version::Updated, updated)] {
                of_side(out, side, &value, clash);
            }
            out.raw("</dl>\n");
        }
        None => _ = out.raw("<p>").text(&krm_words::what(clash)).raw("</p>\n"),
    }
    out.raw("<p class=\"outcome\"><strong>Outcome:</strong> ")
        .text(&krm_words::outcome(clash))
        .raw("</p>\n</section>\n");
}

/// The side that wins, and the word for what happens; `None` if nobody has decided.
fn winner(settled: Settled) -> Option<(Version, &'static str)> {
    match settled {
        Settled::Updated => Some((Version::Updated, "taken")),
        Settled::Delta | Settled::CutDown | Settled::OverlapOfUpdated => Some((Version::Updated, "taken in part")),
        Settled::Deleted => Some((Version::Updated, "deleted")),
        Settled::Dest | Settled::StaysInPlace => Some((Version::Dest, "kept")),
        Settled::OverlapOfDest => Some((Version::Dest, "kept in part")),
        Settled::StaysDeleted => Some((Version::Dest, "deleted")),
        Settled::Both | Settled::Open => None,
    }
}

fn of_side(out: &mut Markup, side: Version, value: &Shown, clash: &Clash) {
    let won = winner(clash.settled).filter(|(winner, _)| *winner == side);
    out.raw(if won.is_some() { "<div class=\"side won\">" } else { "<div class=\"side\">" });
    out.raw("<dt>").raw(side.name());
    if let Some((_, word)) = won {
        out.raw(" <span class=\"tag won\">").raw(word).raw("</span>");
    }
    out.raw("</dt><dd>");
    match value {
        Shown::Whole(text) => _ = out.raw("<pre>").text(text).raw("</pre>"),
        Shown::Against(lines) => {
            out.raw("<pre class=\"diff\">");
            for line in lines {
                out.raw(match line {
                    Line::Same(_) => "<span>  ",
                    Line::Gone(_) => "<del>- ",
                    Line::New(_) => "<ins>+ ",
                    Line::Omitted(_) => "<span class=\"gap\">",
                });
                out.text(&match line {
                    Line::Same(text) | Line::Gone(text) | Line::New(text) => text.clone(),
                    Line::Omitted(count) => format!("… {}", counted(*count, "more line")),
                });
                out.raw(match line {
                    Line::Same(_) | Line::Omitted(_) => "\n</span>",
                    Line::Gone(_) => "\n</del>",
                    Line::New(_) => "\n</ins>",
                });
            }
            out.raw("</pre>");
        }
    }
    out.raw("</dd></div>\n");
}

fn changes(out: &mut Markup, block: &Block) {
    match &block.shown {
        rows::ShownPart::Bytes => _ = out.raw("<p>The file is not text, so its changes are not shown.</p>\n"),
        rows::ShownPart::Executable(true) => _ = out.raw("<p>The file becomes executable.</p>\n"),
        rows::ShownPart::Executable(false) => _ = out.raw("<p>The file is no longer executable.</p>\n"),
        rows::ShownPart::Fields(fields) => {
            out.raw("<p>Values of Secrets are not shown. What changes:</p>\n<ul>\n");
            for field in fields.iter().take(MOST) {
                out.raw("<li>");
                _ = if field.is_empty() { out.raw("the whole resource") } else { out.code(field) };
                out.raw("</li>\n");
            }
            more(out, fields.len().saturating_sub(MOST));
            if fields.is_empty() {
                out.raw("<li>lines that belong to no field</li>\n");
            }
            out.raw("</ul>\n");
        }
        rows::ShownPart::Lines(rows) => {
            let count = |is: fn(&Row) -> bool| rows.iter().filter(|row| is(row)).count();
            let come = count(|row| matches!(row, Row::New(..)));
            let go = count(|row| matches!(row, Row::Gone(..)));
            out.raw("<details open>\n<summary>Changes: ");
            let told = format!("{} added, {} removed", counted(come, "line"), counted(go, "line"));
            out.text(&told).raw("</summary>\n<pre class=\"diff\">");
            rows.iter().for_each(|row| self::row(out, row));
            out.raw("</pre>\n</details>\n");
        }
    }
}

fn row(out: &mut Markup, row: &Row) {
    match row {
        Row::Same(at, text) => {
            out.raw("<span data-n=\"").text(&at.to_string()).raw("\">  ").text(text).raw("\n</span>");
        }
        Row::Gone(at, pieces) => {
            out.raw("<del data-n=\"").text(&at.to_string()).raw("\">- ");
            pieces.iter().for_each(|piece| self::piece(out, piece));
            out.raw("\n</del>");
        }
        Row::New(at, pieces) => {
            out.raw("<ins data-n=\"").text(&at.to_string()).raw("\">+ ");
            pieces.iter().for_each(|piece| self::piece(out, piece));
            out.raw("\n</ins>");
        }
        Row::Skipped(count) => {
            out.raw("<span class=\"gap\">").text(&format!("… {}", counted(*count, "unchanged line"))).raw("\n</span>");
        }
        Row::Omitted(count) => {
            let told = format!("… {}, which -o diff shows", counted(*count, "more line"));
            out.raw("<span class=\"gap\">").text(&told).raw("\n</span>");
        }
    }
}

fn piece(out: &mut Markup, piece: &Piece) {
    match piece.differs {
        true => out.raw("<mark>").text(&piece.text).raw("</mark>"),
        false => out.text(&piece.text),
    };
}
