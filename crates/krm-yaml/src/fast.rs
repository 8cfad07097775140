//! A fast reader of the usual YAML: block maps and lists with all kinds of scalars and flow collections, into the arena of [`Document`].
//!
//! **It accepts only texts for which it surely builds the same arena as `parse.rs` builds from the library's events. In doubt it answers
//! `None`.** Then the library reads the text from its beginning, so all errors and their places come from the library. `tests.rs` compares
//! both arenas bit for bit.
//!
//! It decides once for each line (`line.rs`), with a stack of open blocks that mirrors the library's stack of indentation. The library
//! reads anchors, aliases, tags and `? `, item by item of a list (`item.rs`). This reader refuses on purpose: directives, `...`, a scalar at
//! the root, a lone CR, tabs outside of comments and block scalars, characters that are not printable, and those that some readers take
//! for line breaks.

#[cfg(any(test, fuzzing))]
pub mod agreement;
mod block_scalar;
mod crlf;
mod flow;
mod item;
mod line;
mod plain;
mod quoted;
mod scan;

use crate::blank::is_blank;
use crate::node::{Document, Kind, MAX_DEPTH, NONE, Node, Style};
use scan::ScannedText;

/// The most maps and lists around a node: fewer than the library takes, so that the library reports its own limit.
const MAX_OPEN: usize = MAX_DEPTH - 1;

/// The most bytes of a key: the library ends keys at 1,024 characters.
const KEY: usize = 1000;

/// A block map or list whose end has not come yet.
struct OpenBlock {
    node: u32,
    column: usize,
    kind: Kind,
    /// The start of the last item of a list; `None` if another token is before its dash in the line.
    item: Option<item::Mark>,
}

/// The kind of the last token.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Last {
    /// A colon or a dash that waits for its value.
    Indicator,
    /// A plain scalar, which a deeper line may continue.
    Plain,
    /// Any other token, or none: the next line cannot continue it.
    Whole,
}

struct Reader<'t> {
    text: ScannedText<'t>,
    doc: Document<'static>,
    open: Vec<OpenBlock>,
    last: Last,
    /// The end of the last token.
    cursor: usize,
    /// How many roots came before this document.
    roots_before: usize,
    /// Whether a `---` begins this document.
    is_marked: bool,
    /// The first node that is `<<`.
    merge_key: Option<u32>,
    /// The budget for single items that the library may still read.
    library: item::ItemBudget,
}

/// The arena of a usual text, without its source.
pub(super) fn parse(text: &str) -> Option<Document<'static>> {
    match ScannedText::of(text) {
        Some(usual) => read(usual, Document::empty(text)),
        None => parse_odd_lines(text),
    }
}

/// The arena of a text with carriage returns, or without a line break at its end; see [`parse`].
#[cold]
fn parse_odd_lines(text: &str) -> Option<Document<'static>> {
    if text.contains('\r') {
        return crlf::parse(text);
    }
    if text.ends_with('\n') {
        return None;
    }
    let whole = [text, "\n"].concat();
    let doc = read(ScannedText::of(&whole)?, Document::empty(text))?;
    // Without its line break, a block scalar at the end has another meaning.
    let last = doc.blocks.last().map_or(0, |(id, _)| doc.nodes[*id as usize].end as usize);
    (last == 0 || !is_blank(text.get(last..)?)).then_some(doc)
}

fn read(text: ScannedText<'_>, doc: Document<'static>) -> Option<Document<'static>> {
    let mut reader = Reader {
        text,
        doc,
        open: Vec::with_capacity(32),
        last: Last::Whole,
        cursor: 0,
        roots_before: 0,
        is_marked: false,
        merge_key: None,
        library: item::ItemBudget::of(text),
    };
    reader.read_lines()?;
    reader.end_document();
    reader.doc.has_merges = reader.merge_key.is_some();
    Some(reader.doc)
}

impl Reader<'_> {
    /// Reads all lines of the text.
    ///
    /// It is a function of its own, so that all registers are for this loop.
    #[inline(never)]
    fn read_lines(&mut self) -> Option<()> {
        let text = self.text;
        let mut line = 0;
        while line < text.len() {
            let at = text.skip_blanks(line);
            line = match text.at(at) {
                b'\n' => at + 1,
                b'#' => self.comment(at),
                first => match self.line(line, at, first) {
                    Some(next) => next,
                    None => self.item_by_library(line)?,
                },
            };
        }
        Some(())
    }

    fn next_id(&self) -> u32 {
        self.doc.nodes.len() as u32
    }

    #[inline(always)]
    fn push(&mut self, start: usize, end: usize, kind: Kind, style: Style, link: u32) {
        self.doc.nodes.push(Node { start: start as u32, end: end as u32, link, kind, style, has_props: false });
    }

    /// Reads a comment. Returns the offset of the next line.
    fn comment(&mut self, at: usize) -> usize {
        let end = self.text.line_end(at);
        self.doc.comments.push((at as u32, end as u32));
        if self.last == Last::Plain {
            self.last = Last::Whole;
        }
        end + 1
    }

    /// Reads the rest of a line after a value: blanks, and perhaps a comment. Returns the offset of the next line.
    #[inline(always)]
    fn rest(&mut self, at: usize) -> Option<usize> {
        let next = self.text.skip_gap(at);
        match self.text.at(next) {
            b'\n' => Some(next + 1),
            b'#' if next > at => Some(self.comment(next)),
            _ => None,
        }
    }

    /// The column of the innermost block.
    fn indent(&self) -> Option<usize> {
        self.open.last().map(|open| open.column)
    }

    /// Notes that the next scalar is `<<`. A map that begins with it may be appended first.
    #[cold]
    fn sees_merge_key(&mut self) {
        let id = self.next_id();
        self.merge_key.get_or_insert(id);
    }

    /// Appends what line breaks between lines of a scalar mean: a single one is a blank, and of several, all but the first stay line
    /// breaks.
    fn fold(&mut self, breaks: usize) {
        match breaks {
            1 => self.doc.buffer.push(' '),
            more => self.doc.buffer.extend(std::iter::repeat_n('\n', more - 1)),
        }
    }

    /// Registers the text in the buffer from this offset on as the decoded text of a scalar. Returns its index.
    fn decoded(&mut self, from: usize) -> u32 {
        self.doc.decoded.push((from as u32, self.doc.buffer.len() as u32));
        self.doc.decoded.len() as u32 - 1
    }

    /// Appends an empty scalar for an absent value.
    fn absent(&mut self, at: usize) {
        self.doc.nulls.push(self.next_id());
        self.push(at, at, Kind::Scalar, Style::Plain, NONE);
    }

    /// Appends an absent value if the last token is an indicator.
    #[inline(always)]
    fn end_value(&mut self) {
        if self.last == Last::Indicator {
            self.last = Last::Whole;
            self.absent(self.cursor);
        }
    }

    /// Opens a block; `None` if it would be nested too deep.
    #[inline(always)]
    fn start(&mut self, kind: Kind, column: usize, at: usize) -> Option<()> {
        if self.open.len() >= MAX_OPEN {
            return None;
        }
        let node = self.next_id();
        if self.open.is_empty() {
            self.doc.roots.push(node);
        }
        self.push(at, at, kind, Style::Block, NONE);
        self.open.push(OpenBlock { node, column, kind, item: None });
        self.last = Last::Whole;
        Some(())
    }

    /// Closes the innermost block.
    fn close(&mut self) {
        self.end_value();
        self.last = Last::Whole;
        if let Some(open) = self.open.pop() {
            let next = self.next_id();
            let node = &mut self.doc.nodes[open.node as usize];
            node.link = next;
            node.end = self.cursor as u32;
        }
    }

    /// Closes the blocks that are deeper than a column.
    #[inline(always)]
    fn close_deeper(&mut self, column: usize) {
        while self.open.last().is_some_and(|open| open.column > column) {
            self.close();
        }
    }

    fn has_root(&self) -> bool {
        self.doc.roots.len() > self.roots_before
    }

    /// Ends the document. If it begins with `---`, it has a root even if it is empty.
    fn end_document(&mut self) {
        while !self.open.is_empty() {
            self.close();
        }
        self.last = Last::Whole;
        if self.is_marked && !self.has_root() {
            self.doc.roots.push(self.next_id());
            self.absent(self.cursor);
        }
    }
}

#[cfg(test)]
mod tests;
