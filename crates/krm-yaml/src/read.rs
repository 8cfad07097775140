//! Reads a text: the fast way where it is usual, and with the library otherwise.

use std::borrow::Cow;
use std::cell::Cell;

use crate::error::Error;
use crate::node::{Document, NONE};
use crate::parse::library;
use crate::{fast, foreign_anchor, foreign_break, unresolved};

thread_local! {
    static PARSED: Cell<usize> = const { Cell::new(0) };
}

/// How many texts this thread has parsed: tests use it to check that no text of a run is parsed twice.
pub fn parsed() -> usize {
    PARSED.get()
}

impl<'s> Document<'s> {
    /// Parses a text, which may hold several documents.
    ///
    /// # Errors
    /// Text that granit-parser rejects; nesting deeper than 200 levels; an alias inside the node that it refers to; aliases that expand to
    /// more than 128 MiB and 20 times the text; line breaks and anchors that other readers of YAML see elsewhere. Each error has its place.
    pub fn parse(source: impl Into<Cow<'s, str>>) -> Result<Self, Error> {
        let source: Cow<'s, str> = source.into();
        PARSED.set(PARSED.get() + 1);
        // Each offset must have a number that is not `NONE`.
        if source.len() >= NONE as usize {
            return Err(Error::at("", 0, "the text must be smaller than 4 GiB"));
        }
        let mut doc = match fast::parse(&source) {
            // It leaves any text with a foreign line break to the library.
            Some(doc) => doc,
            None => {
                let doc = library(&source).map_err(|error| unresolved::conflict(&source).unwrap_or(error))?;
                foreign_break::check(&doc, &source)?;
                doc
            }
        };
        doc.source = source;
        doc.nodes.shrink_to_fit();
        foreign_anchor::check(&doc)?;
        Ok(doc)
    }
}
