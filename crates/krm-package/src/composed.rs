//! [`Composed`]: the text of a file after a merge, composed of documents of its own and of new ones.
//!
//! All that stays is copied from the old text, so nothing else can change. A `---` is written where other readers need one: kubectl splits a
//! text at each `---`, and knows no other border. What is composed is read again, before it is anybody's file.

use std::ops::Range;

use krm_tree::splice::WriteFault;
use krm_yaml::{
    Document, DocumentParts, Edit, NodeRef, Overlap, TextEdits, TextParts, below_header, byte_order_mark, ends_line,
    holds_no_value, same, same_words, trim_end,
};

use crate::documents::{Item, NewDocument, ended, order_of};

/// A document of a composed text.
#[derive(Clone, Debug)]
pub enum Piece {
    /// A document of the old text, by its number, with what happens to it.
    Own(usize, Own),
    /// A new document.
    New(NewDocument),
}

/// A document of a text that stays.
#[derive(Clone, Debug, Default)]
pub struct Own {
    /// The edits of the text that it gets.
    pub edits: TextEdits,
    /// Its body, if it is written anew.
    pub body: Option<String>,
    /// The comment on the line of its `---`, if it has none and gets one.
    pub mark: String,
    /// The lines above it, set apart from it, if those that it has stay at the top of the text.
    pub apart: String,
}

impl From<TextEdits> for Own {
    fn from(edits: TextEdits) -> Self {
        Self { edits, ..Self::default() }
    }
}

/// The documents of a new text, each with its key in the order of the resources.
#[derive(Clone, Debug)]
pub struct Pieces<K>(Vec<(Option<K>, Piece)>);

impl<K> Default for Pieces<K> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<K: Ord> Pieces<K> {
    /// Adds documents. One without a key follows the one before it.
    pub fn add(&mut self, key: Option<K>, piece: Piece) {
        self.0.push((key, piece));
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The documents in the order of their keys. Directives cannot move, so a text that has some stays in its order.
    pub fn in_order(self, old: &TextParts<'_>, text: &str) -> Vec<Piece> {
        let (keys, pieces): (Vec<Option<K>>, Vec<Piece>) = self.0.into_iter().unzip();
        let mut keys: Vec<Option<&K>> = keys.iter().map(Option::as_ref).collect();
        let is_fixed =
            |piece: &Piece| matches!(piece, Piece::Own(number, _) if old.documents[*number].has_directives(text));
        if keys.iter().flatten().is_sorted() || pieces.iter().any(is_fixed) {
            return pieces;
        }
        for at in 1..keys.len() {
            keys[at] = keys[at].or(keys[at - 1]);
        }
        let mut pieces: Vec<Option<Piece>> = pieces.into_iter().map(Some).collect();
        order_of(&keys).into_iter().filter_map(|at| pieces[at].take()).collect()
    }
}

/// What becomes of what a text begins with.
#[derive(Clone, Debug, Default)]
pub struct Top {
    /// The comments at the top of the first document that a blank line sets apart.
    pub apart: Apart,
    /// What it has above its first document instead, if that changes.
    pub opening: Option<Opening>,
}

/// What becomes of comments at the top of a text that a blank line sets apart, if another document comes first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Apart {
    /// They stay at the top: they are about the text.
    #[default]
    Stays,
    /// They follow their document, and go with it.
    Follows,
}

/// What a text has above its first document.
#[derive(Clone, Debug)]
pub struct Opening {
    /// The comments above the first `---`.
    pub header: String,
    /// Whether there is a `---`.
    pub is_marked: bool,
}

/// A text that is composed of pieces.
#[derive(Debug)]
pub struct Composed<'d> {
    document: &'d Document<'d>,
    parts: TextParts<'d>,
    chunks: Vec<Chunk>,
    /// The chunks of each piece, without the `...` around it. The first one has the header.
    pieces: Vec<Range<usize>>,
    /// The comments at the top of the first document that a blank line sets apart.
    top_gap: Range<usize>,
    /// The same, if they stay there without their document.
    top: Option<Range<usize>>,
}

/// The `---` of a document that is not in its place.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mark {
    /// Its own, if it has one.
    Own,
    /// Its own, or else a new one.
    Needed,
    /// None.
    None,
}

/// What the `---` of a document says.
#[derive(Clone, Copy, PartialEq, Eq)]
enum MarkOf {
    /// Nothing, or the document has none.
    Bare,
    /// It has a comment, or directives.
    SaysMore,
    /// Without it there is no such document, so nothing comes between the two.
    Inside,
}

/// A run of bytes of a composed text.
#[derive(Clone, Debug)]
enum Chunk {
    /// Bytes of the old text.
    Kept(Range<usize>),
    /// New bytes.
    New(String),
}

impl<'d> Composed<'d> {
    /// Composes a text of pieces. A document that no piece names is removed. `parts` are those of the old text.
    pub fn of(document: &'d Document<'_>, parts: TextParts<'d>, pieces: &[Piece], top: &Top) -> Self {
        let top_gap = parts.documents.first().map(|first| first.apart(document.source())).unwrap_or_default();
        let mut composed = Self { document, parts, chunks: Vec::new(), pieces: Vec::new(), top_gap, top: None };
        let header = composed.parts.header.clone();
        match &top.opening {
            Some(opening) => {
                let bom = Chunk::Kept(header.start..byte_order_mark(document.source()));
                composed.chunks.push(bom);
                composed.new_lines(&opening.header);
            }
            None => composed.chunks.push(Chunk::Kept(header)),
        }
        let mut before = None;
        for (at, piece) in pieces.iter().enumerate() {
            composed.piece(before, piece, top);
            if at + 1 < pieces.len() {
                composed.end_line();
            }
            before = Some(piece);
        }
        composed
    }

    /// The text.
    pub fn text(&self) -> String {
        self.text_of(0..self.chunks.len())
    }

    /// The edits that turn the old text into this one; `None` if documents have changed their order.
    ///
    /// # Errors
    /// Cannot occur: two edits overlap.
    pub fn edits(&self) -> Result<Option<TextEdits>, Overlap> {
        let end = Chunk::Kept(self.source().len()..self.source().len());
        let (mut edits, mut at, mut new) = (Vec::new(), 0, String::new());
        for chunk in self.chunks.iter().chain([&end]) {
            match chunk {
                Chunk::New(text) => new.push_str(text),
                Chunk::Kept(range) if range.start < at => return Ok(None),
                Chunk::Kept(range) => {
                    if at < range.start || !new.is_empty() {
                        edits.push(Edit { range: at..range.start, text: std::mem::take(&mut new) });
                    }
                    at = range.end;
                }
            }
        }
        TextEdits::of(edits).map(Some)
    }

    /// Reads the text again: each piece must be a document, and mean what it means alone, with the same comments.
    ///
    /// # Errors
    /// It is not so.
    pub fn check(&self, text: &str) -> Result<(), WriteFault> {
        let whole = Document::parse(text).map_err(|_| WriteFault::unreadable())?;
        let parts = TextParts::of(&whole);
        let is_meant = |(at, piece): (usize, &Range<usize>)| {
            let own = &parts.documents[at];
            let alone = self.text_of(piece.clone());
            let alone = Document::parse(alone.as_str()).ok()?;
            let [meant] = &TextParts::of(&alone).documents[..] else { return None };
            let comments = alone.comments_in(0..alone.source().len()).map(|(from, to)| &alone.source()[from..to]);
            let from = if at == 0 { 0 } else { own.mark.start };
            let written = whole.comments_in(from..own.body.end).map(|(from, to)| &text[from..to]);
            Some(same(meant.root, own.root) && comments.map(trim_end).eq(written.map(trim_end)))
        };
        let is_meant = parts.documents.len() == self.pieces.len()
            && self.pieces.iter().enumerate().all(|piece| is_meant(piece) == Some(true));
        if is_meant { Ok(()) } else { Err(WriteFault::unreadable()) }
    }

    /// Whether all documents of the old text stay in their places, and nothing is new.
    pub fn is_in_place(&self, pieces: &[Piece], top: &Top) -> bool {
        let is_own =
            |(at, piece): (usize, &Piece)| matches!(piece, Piece::Own(number, Own { body: None, .. }) if *number == at);
        top.opening.is_none() && pieces.len() == self.parts.documents.len() && pieces.iter().enumerate().all(is_own)
    }

    fn piece(&mut self, before: Option<&Piece>, piece: &Piece, top: &Top) {
        let is_in_place = match (before, piece) {
            (None, Piece::Own(0, _)) => true,
            (Some(Piece::Own(before, _)), Piece::Own(number, _)) => before + 1 == *number,
            _ => false,
        };
        let is_ended = match before {
            Some(Piece::Own(before, _)) => self.source()[self.parts.documents[*before].end.clone()].starts_with("..."),
            _ => before.is_none(),
        };
        if self.has_directives(piece) && !is_ended {
            self.new_lines("...\n");
        }
        // The header belongs to the first piece.
        let from = before.map_or(0, |_| self.chunks.len());
        let mark = match before {
            _ if is_in_place && (before.is_some() || top.opening.is_none()) => Mark::Own,
            None => self.top(piece, top),
            Some(_) => Mark::Needed,
        };
        match piece {
            Piece::Own(number, own) => self.own(*number, own, mark),
            Piece::New(new) => {
                if mark != Mark::None {
                    self.new_mark(&new.mark);
                }
                let is_twice = before.is_some() && has_same_top(&new.body, &self.source()[self.top_gap.clone()]);
                self.new_lines(&new.body[if is_twice { below_header(&new.body) } else { 0 }..]);
            }
        }
        self.pieces.push(from..self.chunks.len());
        if let Piece::Own(number, _) = piece {
            let end = self.parts.documents[*number].end.clone();
            if !end.is_empty() {
                self.end_line();
            }
            self.chunks.push(Chunk::Kept(end));
        }
    }

    /// Adds a document of the old text.
    fn own(&mut self, number: usize, own: &Own, mark: Mark) {
        let parts = &self.parts.documents[number];
        let DocumentParts { mark: own_mark, body, .. } = parts.clone();
        if mark == Mark::Needed && own_mark.is_empty() && !parts.has_mark_in_body(self.source()) {
            self.new_mark(&own.mark);
        }
        let start = if mark == Mark::None { body.start } else { own_mark.start };
        let top = self.top.clone().filter(|_| number == 0);
        match (&own.body, top) {
            (None, None) => self.keep(start..body.end, &own.edits),
            (None, Some(top)) => {
                self.keep(start..body.start, &own.edits);
                self.new_lines(&own.apart.replace("\r\n", "\n"));
                self.keep(top.end..body.end, &own.edits);
            }
            (Some(new), _) => {
                self.keep(start..body.start, &own.edits);
                self.chunks.push(Chunk::New(new.clone()));
            }
        }
    }

    /// What is above the document that comes first instead of another one: the comments at the top, if they stay. It has a `---` if the text
    /// began with one, or if its `---` says more.
    fn top(&mut self, piece: &Piece, top: &Top) -> Mark {
        let (source, gap) = (self.source(), self.top_gap.clone());
        let of_piece = self.mark_of(piece);
        let is_marked = top.opening.as_ref().map_or(self.parts.is_marked(source), |opening| opening.is_marked);
        let mark = if is_marked || of_piece != MarkOf::Bare { Mark::Needed } else { Mark::None };
        let is_top = has_words(&source[gap.clone()]) && !has_same_top(&self.body_of(piece), &source[gap.clone()]);
        if top.apart == Apart::Follows || !is_top || matches!(piece, Piece::Own(0, _)) {
            return mark;
        }
        let is_below = is_marked && of_piece != MarkOf::Inside;
        if is_below {
            let first = self.parts.documents.first().filter(|first| first.has_bare_mark(source));
            match (piece, first.map(|first| first.mark.clone())) {
                (_, Some(mark)) if of_piece == MarkOf::Bare => self.chunks.push(Chunk::Kept(mark)),
                (Piece::New(new), _) => self.new_mark(&new.mark),
                (Piece::Own(number, own), _) => match self.parts.documents[*number].mark.clone() {
                    mark if mark.is_empty() => self.new_mark(&own.mark),
                    mark => self.keep(mark, &own.edits),
                },
            }
        }
        self.chunks.push(Chunk::Kept(gap.clone()));
        self.top = Some(gap);
        if is_below { Mark::None } else { mark }
    }

    /// What the `---` of a piece says.
    fn mark_of(&self, piece: &Piece) -> MarkOf {
        let (source, says_more) =
            (self.source(), |is_more: bool| if is_more { MarkOf::SaysMore } else { MarkOf::Bare });
        match piece {
            // Without its `---`, a document of comments is none.
            Piece::New(new) if holds_no_value(&new.body) => MarkOf::Inside,
            Piece::New(new) => says_more(!new.mark.is_empty()),
            Piece::Own(number, own) => match &self.parts.documents[*number] {
                parts if parts.root.is_absent() || parts.has_mark_in_body(source) => MarkOf::Inside,
                parts if parts.mark.is_empty() => MarkOf::Bare,
                parts => {
                    let is_in = |edit: &Edit| parts.mark.start < edit.range.start && edit.range.start < parts.mark.end;
                    says_more(!parts.has_bare_mark(source) || own.edits.iter().any(is_in))
                }
            },
        }
    }

    /// Keeps bytes of the old text, with these edits.
    fn keep(&mut self, range: Range<usize>, edits: &TextEdits) {
        let mut at = range.start;
        for edit in edits.iter().filter(|edit| range.start <= edit.range.start && edit.range.end <= range.end) {
            self.chunks.extend([Chunk::Kept(at..edit.range.start), Chunk::New(edit.text.clone())]);
            at = edit.range.end;
        }
        self.chunks.push(Chunk::Kept(at..range.end));
    }

    /// Adds a `---` with this comment.
    fn new_mark(&mut self, comment: &str) {
        self.new_lines(&format!("---{}{comment}\n", if comment.is_empty() { "" } else { " " }));
    }

    /// Adds new lines, with the line breaks of the text.
    fn new_lines(&mut self, lines: &str) {
        self.chunks.push(Chunk::New(lines.replace('\n', self.document.line_break())));
    }

    /// Ends the last line, because something comes below it.
    fn end_line(&mut self) {
        let last = self.chunks.iter().rev().map(|chunk| self.bytes(chunk)).find(|bytes| !bytes.is_empty());
        if last.is_none_or(ends_line) {
            return;
        }
        let from = self.pieces.last().map_or(0, |piece| piece.start);
        let text = self.text_of(from..self.chunks.len());
        let ended = ended(text.clone());
        match ended.strip_prefix(&*text) {
            Some(rest) => self.chunks.push(Chunk::New(rest.to_owned())),
            // A block scalar at the end keeps its value.
            None => {
                self.chunks.truncate(from);
                self.chunks.push(Chunk::New(ended));
                self.pieces.last_mut().into_iter().for_each(|piece| piece.end = from + 1);
            }
        }
    }

    fn source(&self) -> &'d str {
        self.document.source()
    }

    fn body_of(&self, piece: &Piece) -> String {
        match piece {
            Piece::New(new) => new.body.clone(),
            Piece::Own(_, Own { body: Some(body), .. }) => body.clone(),
            Piece::Own(number, own) => own.edits.apply(self.source(), self.parts.documents[*number].body.clone()),
        }
    }

    fn has_directives(&self, piece: &Piece) -> bool {
        matches!(piece, Piece::Own(number, _) if self.parts.documents[*number].has_directives(self.source()))
    }

    fn text_of(&self, chunks: Range<usize>) -> String {
        self.chunks[chunks].iter().map(|chunk| self.bytes(chunk)).collect()
    }

    fn bytes<'c>(&'c self, chunk: &'c Chunk) -> &'c str {
        match chunk {
            Chunk::Kept(range) => &self.source()[range.clone()],
            Chunk::New(text) => text,
        }
    }
}

/// The edits of a text whose documents are edited and removed. `fates` says what happens to each document that is not empty, in order.
///
/// # Errors
/// Cannot occur: two edits overlap.
pub fn left(document: &Document<'_>, fates: &[Item]) -> Result<TextEdits, Overlap> {
    let mut fates = fates.iter();
    let mut piece = |(number, root): (usize, NodeRef<'_>)| {
        let edits = match if root.is_null() { &Item::Stays } else { fates.next()? } {
            Item::Goes => return None,
            Item::Edited(edits) => edits.clone(),
            Item::Stays => TextEdits::default(),
        };
        Some(Piece::Own(number, Own::from(edits)))
    };
    let pieces: Vec<Piece> = document.roots().enumerate().filter_map(&mut piece).collect();
    Ok(Composed::of(document, TextParts::of(document), &pieces, &Top::default()).edits()?.unwrap_or_default())
}

/// Whether comments at the top of a text, or blank lines, have words.
fn has_words(gap: &str) -> bool {
    !same_words(gap, "")
}

/// Whether a document begins with these comments, set apart.
fn has_same_top(body: &str, gap: &str) -> bool {
    has_words(gap) && same_words(&body[..below_header(body)], gap)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The text of these pieces: a number is a document of the text, and a text is a new one.
    fn composed(text: &str, pieces: &[Result<usize, (&str, &str)>], apart: Apart) -> String {
        let document = Document::parse(text).expect("valid");
        let pieces: Vec<Piece> = pieces
            .iter()
            .map(|piece| match piece {
                Ok(number) => Piece::Own(*number, Own::default()),
                Err((mark, body)) => Piece::New(NewDocument { mark: (*mark).into(), body: (*body).into() }),
            })
            .collect();
        let composed = Composed::of(&document, TextParts::of(&document), &pieces, &Top { apart, opening: None });
        let new = composed.text();
        composed.check(&new).unwrap_or_else(|fault| panic!("{text:?} became {new:?}: {fault}"));
        if let Some(edits) = composed.edits().expect("disjoint") {
            assert_eq!(edits.apply(text, 0..text.len()), new);
        }
        new
    }

    #[test]
    fn documents_go_and_the_mark_of_the_first_one_is_as_the_text_had_it() {
        for (text, left, want) in [
            ("a: 1\n---\nb: 2\n", &[1][..], "b: 2\n"),
            ("# one\na: 1\n---\nb: 2\n", &[1], "b: 2\n"),
            ("a: 1\n--- # two\nb: 2\n", &[1], "--- # two\nb: 2\n"),
            ("--- # one\na: 1\n---\nb: 2\n", &[1], "---\nb: 2\n"),
            ("a: 1\n...\n---\nb: 2\n", &[1], "b: 2\n"),
            ("---\na: 1\n---\nb: 2\n---\nc: 3\n", &[0, 2], "---\na: 1\n---\nc: 3\n"),
            ("\u{feff}a: 1\r\n---\r\nb: 2\r\n", &[1], "\u{feff}b: 2\r\n"),
            ("a: 1\r...\r---\rb: 2\r", &[1], "b: 2\r"),
            ("a: 1\n---\n{b: 2}", &[0], "a: 1\n"),
            ("{a: 1}\n---\nb: 2", &[1], "b: 2"),
            ("---\n--- {b: 2}\n", &[1], "--- {b: 2}\n"),
            ("a: 1\n---\nb: 2\n---\nc: 3\n---\nd: 4\n", &[1, 3], "b: 2\n---\nd: 4\n"),
            // A comment above the first `---` is about the text.
            ("# licence\n---\na: 1\n---\nb: 2\n", &[1], "# licence\n---\nb: 2\n"),
            // Other readers need the `---` below three dots, and directives need the dots.
            ("a: 1\n---\nb: 2\n...\nc: 3\n", &[0, 2], "a: 1\n---\nc: 3\n"),
            ("a: 1\n---\nb: 2\n...\n%YAML 1.2\n---\nc: 3\n", &[2], "%YAML 1.2\n---\nc: 3\n"),
            ("a: 1\n---\nb: 2\n...\n%YAML 1.2\n---\nc: 3\n", &[0, 2], "a: 1\n...\n%YAML 1.2\n---\nc: 3\n"),
            // Documents of comments go as documents of resources do.
            ("a: 1\n---\n# none\n---\nb: 2\n", &[2], "b: 2\n"),
            ("a: 1\n---\n# none\n---\nb: 2\n", &[0, 2], "a: 1\n---\nb: 2\n"),
            ("---\n# none\n---\na: 1\n...\n---\nb: 2\n", &[2], "---\nb: 2\n"),
            ("a: 1\n---\n# none\n...\n---\nb: 2\n", &[0, 2], "a: 1\n---\nb: 2\n"),
        ] {
            let left: Vec<_> = left.iter().map(|number| Ok(*number)).collect();
            assert_eq!(composed(text, &left, Apart::Stays), want, "{text:?}");
        }
    }

    #[test]
    fn comments_at_the_top_stay_or_follow_their_document() {
        let one = "# licence\n\n# one\na: 1\n---\n# two\nb: 2\n";
        for (text, pieces, stays, follows) in [
            (one, &[Ok(1)][..], "# licence\n\n# two\nb: 2\n", "# two\nb: 2\n"),
            (
                one,
                &[Ok(1), Ok(0)],
                "# licence\n\n# two\nb: 2\n---\n# one\na: 1\n",
                "# two\nb: 2\n---\n# licence\n\n# one\na: 1\n",
            ),
            ("---\n# licence\n\na: 1\n---\nb: 2\n", &[Ok(1)], "---\n# licence\n\nb: 2\n", "---\nb: 2\n"),
            ("# licence\n\na: 1\n--- # b\nb: 2\n", &[Ok(1)], "# licence\n\n--- # b\nb: 2\n", "--- # b\nb: 2\n"),
            ("--- # a\n# licence\n\na: 1\n---\nb: 2\n", &[Ok(1)], "---\n# licence\n\nb: 2\n", "---\nb: 2\n"),
            ("---\n# l\n\na: 1\n--- # b\nb: 2\n", &[Ok(1)], "--- # b\n# l\n\nb: 2\n", "--- # b\nb: 2\n"),
            ("---\n# l\n\na: 1\n---\n# none\n", &[Ok(1)], "# l\n\n---\n# none\n", "---\n# none\n"),
            ("---\n# l\n\na: 1\n--- {b: 2}\n", &[Ok(1)], "# l\n\n--- {b: 2}\n", "--- {b: 2}\n"),
            // A new document has its own, and they stand once.
            (
                "# l\n\na: 1\n",
                &[Err(("", "# n\n\nn: 1\n")), Ok(0)],
                "# l\n\n# n\n\nn: 1\n---\na: 1\n",
                "# n\n\nn: 1\n---\n# l\n\na: 1\n",
            ),
            ("# l\n\na: 1\n", &[Err(("", "# l\n\nn: 1\n"))], "# l\n\nn: 1\n", "# l\n\nn: 1\n"),
            (
                "# l\n\na: 1\n",
                &[Ok(0), Err(("", "# l\n\nn: 1\n"))],
                "# l\n\na: 1\n---\nn: 1\n",
                "# l\n\na: 1\n---\nn: 1\n",
            ),
            // Blank lines alone are about nothing.
            ("\n\na: 1\n---\nb: 2\n", &[Ok(1)], "b: 2\n", "b: 2\n"),
        ] {
            assert_eq!(composed(text, pieces, Apart::Stays), stays, "{text:?}");
            assert_eq!(composed(text, pieces, Apart::Follows), follows, "{text:?}");
        }
    }

    #[test]
    fn documents_come_and_change_their_order() {
        let new = Err(("", "n: 1\n"));
        for (text, pieces, want) in [
            ("a: 1\n", &[Ok(0), new][..], "a: 1\n---\nn: 1\n"),
            ("a: 1", &[Ok(0), new], "a: 1\n---\nn: 1\n"),
            ("a: 1\r\n", &[Ok(0), new], "a: 1\r\n---\r\nn: 1\r\n"),
            ("a: 1\n", &[new, Ok(0)], "n: 1\n---\na: 1\n"),
            ("---\na: 1\n", &[new, Ok(0)], "---\nn: 1\n---\na: 1\n"),
            ("--- # a\na: 1\n", &[Err(("# n", "n: 1\n")), Ok(0)], "--- # n\nn: 1\n--- # a\na: 1\n"),
            ("a: 1\n", &[Err(("# n", "n: 1\n")), Ok(0)], "--- # n\nn: 1\n---\na: 1\n"),
            ("a: 1\n...\n", &[Ok(0), new], "a: 1\n...\n---\nn: 1\n"),
            ("a: 1\n...\nb: 1\n", &[Ok(0), new, Ok(1)], "a: 1\n...\n---\nn: 1\n---\nb: 1\n"),
            ("a: '|'", &[Ok(0), new], "a: '|'\n---\nn: 1\n"),
            ("a: 1\n---\nb: 2\n---\nc: 3\n", &[Ok(2), Ok(0), Ok(1)], "c: 3\n---\na: 1\n---\nb: 2\n"),
            ("a: 1\n---\nb: 2", &[Ok(1), Ok(0)], "b: 2\n---\na: 1\n"),
            // Each document takes its comments along, and a block scalar keeps its value.
            (
                "# of a\na: |+\n  x\n\n---\n# of b\nb: 2\n# foot\n",
                &[Ok(1), Ok(0)],
                "# of b\nb: 2\n# foot\n---\n# of a\na: |+\n  x\n\n",
            ),
            ("a: 1\n---\nb: |\n  x", &[Ok(1), Ok(0)], "b: |-\n  x\n---\na: 1\n"),
            ("a: |+\n  x\n  ", &[Ok(0), new], "a: |+\n  x\n---\nn: 1\n"),
            ("a: |\n  x\n   ", &[Ok(0), new], "a: |-\n  x\n   \n---\nn: 1\n"),
            ("---\na: 1\n--- # b\nb: 2\n", &[Ok(1), Ok(0)], "--- # b\nb: 2\n---\na: 1\n"),
            ("a: 1\n--- {b: 2}\n---\nc: 3\n", &[Ok(2), Ok(1), Ok(0)], "c: 3\n--- {b: 2}\n---\na: 1\n"),
            ("# licence\n---\na: 1\n---\nb: 2\n", &[Ok(1), Ok(0)], "# licence\n---\nb: 2\n---\na: 1\n"),
            ("\u{feff}a: 1\r\n---\r\nb: 2\r\n", &[Ok(1), Ok(0)], "\u{feff}b: 2\r\n---\r\na: 1\r\n"),
            ("a: 1\n...\nb: 2\n...\n", &[Ok(1), Ok(0)], "b: 2\n...\n---\na: 1\n...\n"),
            ("a: 1\n...\n--- # c\nc: 3\n---\nb: 2\n", &[Ok(0), Ok(2), Ok(1)], "a: 1\n...\n---\nb: 2\n--- # c\nc: 3\n"),
        ] {
            assert_eq!(composed(text, pieces, Apart::Stays), want, "{text:?}");
        }
    }

    /// The text of one with these pieces; `top` says what it begins with.
    fn text_of(text: &str, pieces: &[Piece], top: &Top) -> String {
        let document = Document::parse(text).expect("valid");
        Composed::of(&document, TextParts::of(&document), pieces, top).text()
    }

    #[test]
    fn a_text_begins_as_upstream_has_it() {
        let own = [Piece::Own(0, Own::default())];
        for (text, header, is_marked, want) in [
            ("# old\n---\na: 1\n", "# new\n", true, "# new\n---\na: 1\n"),
            ("a: 1\n", "# new\n", true, "# new\n---\na: 1\n"),
            ("\u{feff}# old\n---\na: 1\n", "", false, "\u{feff}a: 1\n"),
        ] {
            let top = Top { opening: Some(Opening { header: header.into(), is_marked }), ..Top::default() };
            assert_eq!(text_of(text, &own, &top), want, "{text:?}");
        }
    }

    #[test]
    fn a_mark_with_a_comment_to_come_is_written_above_what_comes_first() {
        let text = "a: 1\n---\nb: 2\n";
        let comment = TextEdits::from(Edit { range: 8..8, text: " # m".to_owned() });
        assert_eq!(text_of(text, &[Piece::Own(1, comment.into())], &Top::default()), "--- # m\nb: 2\n");
        let own = Own { mark: "# m".to_owned(), ..Own::default() };
        let text = "--- # a\n# l\n\na: 1\n...\nb: 2\n";
        assert_eq!(text_of(text, &[Piece::Own(1, own)], &Top::default()), "--- # m\n# l\n\nb: 2\n");
        // A comment that changes is written once.
        let text = "---\n# l\n\na: 1\n--- # b\nb: 2\n";
        let comment = TextEdits::from(Edit { range: 18..21, text: "# m".to_owned() });
        assert_eq!(text_of(text, &[Piece::Own(1, comment.into())], &Top::default()), "--- # m\n# l\n\nb: 2\n");
    }

    #[test]
    fn documents_without_a_key_follow_the_one_before_and_directives_stay() {
        let in_order = |text: &str, keys: [Option<u8>; 3]| {
            let document = Document::parse(text).expect("valid");
            let mut pieces = Pieces::default();
            (0..3).zip(keys).for_each(|(number, key)| pieces.add(key, Piece::Own(number, Own::default())));
            let pieces = pieces.in_order(&TextParts::of(&document), text);
            text_of(text, &pieces, &Top::default())
        };
        let keys = [Some(2), None, Some(1)];
        assert_eq!(in_order("a: 1\n---\n# k\n---\nb: 1\n", keys), "b: 1\n---\na: 1\n---\n# k\n");
        let fixed = "a: 1\n---\n# k\n...\n%YAML 1.2\n---\nb: 1\n";
        assert_eq!(in_order(fixed, keys), fixed);
    }

    #[test]
    fn a_text_that_lacks_a_comment_is_refused() {
        let document = Document::parse("a: 1 # c\n---\nb: 2\n").expect("valid");
        let pieces = [0, 1].map(|number| Piece::Own(number, Own::default()));
        let composed = Composed::of(&document, TextParts::of(&document), &pieces, &Top::default());
        for (text, is_good) in [
            ("a: 1 # c\n---\nb: 2\n", true),
            ("a: 1\n---\nb: 2\n", false),
            ("a: 1 # c\n---\nb: 3\n", false),
            ("a: 1 # c\n", false),
        ] {
            assert_eq!(composed.check(text).is_ok(), is_good, "{text:?}");
        }
    }
}
