//! [`Outline`]: a document that keeps only the place of most items in its `items`, and reads such an item when it is needed.
//!
//! The nodes of a document take as much memory as its text. A merge of a package changes few of its items, so it needs few of these nodes.
//! All of the text is read once, so a fault anywhere is an error as in [`Document::parse`].

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use super::error::Error;
use super::fast::{self, Keeps, Text};
use super::line::LineStarts;
use super::node::{Document, NodeRef};
use super::{foreign_anchor, parse};

/// A parsed text without the nodes of some items.
#[derive(Debug)]
pub struct Outline<'s> {
    document: Document<'s>,
    parts: Vec<Part<'s>>,
}

/// An unread item: its place is kept, and its nodes are made when they are asked for.
#[derive(Debug)]
pub struct Part<'s> {
    whole: Arc<Whole<'s>>,
    place: fast::Place,
    read: OnceLock<Box<PartRead<'s>>>,
}

/// What the parts of a text have in common.
#[derive(Debug)]
struct Whole<'s> {
    text: Text<'s>,
    line_starts: Arc<OnceLock<LineStarts>>,
}

impl<'s> Outline<'s> {
    /// Parses a text and keeps all nodes.
    ///
    /// # Errors
    /// Same as [`Document::parse`].
    pub fn whole(source: &'s str) -> Result<Self, Error> {
        Ok(Self { document: Document::parse(source)?, parts: Vec::new() })
    }

    /// Parses a text. `keeps` sees each usual map in the `items` of the root, and decides whether only its place is kept. Such maps are the
    /// [`Outline::parts`], in the order of the text. If there are no parts, all nodes are kept.
    ///
    /// # Errors
    /// Same as [`Document::parse`].
    pub fn parse(source: &'s str, keeps: &mut dyn Keeps) -> Result<Self, Error> {
        let text = Text::of(source).filter(|_| parse::is_short_enough(source));
        let Some((text, (document, places))) = text.and_then(|text| Some((text, fast::outline(text, keeps)?))) else {
            return Self::whole(source);
        };
        parse::count();
        foreign_anchor::check(&document)?;
        let whole = Arc::new(Whole { text, line_starts: document.line_starts.clone() });
        let part = |place| Part { whole: whole.clone(), place, read: OnceLock::new() };
        let parts = places.into_iter().map(part).collect();
        Ok(Self { document, parts })
    }

    /// The document. An unread item is a map without fields in it.
    pub fn document(&self) -> &Document<'s> {
        &self.document
    }

    /// The unread items, in the order of the text.
    pub fn parts(&self) -> &[Part<'s>] {
        &self.parts
    }

    /// The part that is at the place of a node of the document; `None` if the document has all nodes below it.
    pub fn part_of(&self, node: NodeRef<'_>) -> Option<&Part<'s>> {
        let at = self.parts.binary_search_by_key(&node.id, |part| part.place.stub).ok()?;
        self.parts.get(at).filter(|_| node.is_of(&self.document))
    }
}

/// The nodes of a [`Part`].
#[derive(Debug)]
pub struct PartRead<'s>(Document<'s>);

impl PartRead<'_> {
    /// The map of the part.
    pub fn node(&self) -> NodeRef<'_> {
        NodeRef { doc: &self.0, id: ROOT }
    }
}

/// The number of the map in the nodes of a part. The node before it is the list that it is an element of.
const ROOT: u32 = 1;

impl<'s> Part<'s> {
    /// Its map, which is read on first use and stays. Its offsets are those of the whole text.
    pub fn node(&self) -> NodeRef<'_> {
        NodeRef { doc: &self.read.get_or_init(|| Box::new(self.read())).0, id: ROOT }
    }

    /// Reads its map for a while.
    pub fn read(&self) -> PartRead<'s> {
        let document = fast::reread(self.whole.text, &self.place);
        PartRead(Document { line_starts: self.whole.line_starts.clone(), ..document })
    }

    /// The offset of the first byte of its map.
    pub fn start(&self) -> usize {
        self.place.start as usize
    }

    /// The whole text.
    pub fn source(&self) -> &'s str {
        self.whole.text.slice(0..self.whole.text.len())
    }

    /// The lines after the last token before the map, up to the next token.
    pub fn lines(&self) -> Range<usize> {
        self.place.lines()
    }

    /// Whether its map was read again.
    pub fn is_read(&self) -> bool {
        self.read.get().is_some()
    }
}
