//! Builds the arena of [`Document`] from granit-parser's events, and corrects events whose places are wrong.
//!
//! `fast.rs` reads first. This module reads the text that `fast.rs` refuses: the whole text, or single items of a list.
//!
//! The corrections, each with a test below: the span of a block scalar has no header and runs into the next line; an absent value is placed
//! before its colon; a block ends at the next token, after comments that do not belong to it; a comment on the header line of a block
//! scalar is reported after the scalar; a block scalar that ends with the text has no final line break.

mod joined;

use std::borrow::Cow;
use std::ops::Range;

use granit_parser::{Event, Parser, ScalarStyle, ScanError, StructureStyle, Tag};

use crate::block_scalar::BlockScalar;
use crate::error::Error;
use crate::hashed::{Empty, HashMap};
use crate::node::{Document, Kind, MAX_DEPTH, NONE, Node, Props, Style};
use joined::Joined;

/// How many MiB all aliases together may always expand to, and how many times the text. A text that expands to more is an alias bomb.
const EXPANDED_MIB: usize = 128;
const EXPANDED_MULTIPLE: usize = 20;

/// What a value costs that an alias expands to, in bytes, besides its text.
const VALUE: usize = 32;

/// The range in which granit reports a node, and the tag before the node.
struct Token<'t> {
    range: Range<usize>,
    tag: Option<(&'t Tag, Range<usize>)>,
}

/// A container whose end has not come yet.
struct OpenContainer {
    node: u32,
    /// How many children it has so far; in a map, keys and values both count.
    children: usize,
    anchor: usize,
    expanded: usize,
    height: usize,
}

/// A node with an anchor, to which aliases may refer.
struct Anchor {
    node: u32,
    expanded: usize,
    height: usize,
    closed: bool,
}

struct Builder<'b> {
    doc: &'b mut Document<'static>,
    open: Vec<OpenContainer>,
    anchors: HashMap<usize, Anchor>,
    /// The end of the last token. The next token begins after it.
    cursor: usize,
    expanded: usize,
}

/// The arena of a text, without its source.
pub(super) fn library(text: &str) -> Result<Document<'static>, Error> {
    let mut joined = Joined::of(text);
    loop {
        let mut doc = Document::empty(text);
        doc.may_have_questions = text.contains('?');
        let mut builder = Builder { doc: &mut doc, open: Vec::new(), anchors: HashMap::new(), cursor: 0, expanded: 0 };
        let mut refused = None;
        for (event, range, tag) in joined.events().map_while(|seen| seen.map_err(|e| refused = Some(e)).ok()) {
            builder.event(text, event, range, tag)?;
        }
        match refused {
            Some(refused) if joined.joins(&refused) => {}
            Some(refused) => return Err(scan_error(text, &refused)),
            None => {
                sort_comments(&mut doc, 0);
                return Ok(doc);
            }
        }
    }
}

/// The state before an item: a block list of which all earlier items are read.
pub(super) struct AroundItem {
    /// The node of the list.
    pub list: u32,
    /// How many maps and lists are open, including the list.
    pub depth: usize,
    /// How many bytes the aliases before the item expand to.
    pub expanded: usize,
}

/// The state after an item.
pub(super) struct Behind {
    /// The end of its last token.
    pub cursor: usize,
    /// How many bytes all aliases up to the end of the item expand to.
    pub expanded: usize,
}

/// Appends the next item of a list to the arena. `part` of the text begins with the line of the item's dash. `None` if the library cannot
/// read this part alone; then the arena may already hold nodes of it.
pub(super) fn item(doc: &mut Document<'static>, text: &str, part: Range<usize>, around: &AroundItem) -> Option<Behind> {
    let AroundItem { list, depth, expanded } = *around;
    let (first_comment, is_first) = (doc.comments.len(), list as usize + 1 == doc.nodes.len());
    let dash = skip(text.as_bytes(), part.start, b"");
    doc.may_have_questions |= text[part.clone()].contains('?');
    let open = |_| OpenContainer { node: list, children: 0, anchor: 0, expanded: VALUE, height: 0 };
    let mut builder = Builder {
        doc,
        open: (0..depth).map(open).collect(),
        anchors: HashMap::new(),
        // The builder passes the dashes of all items but the first.
        cursor: if is_first { dash + 1 } else { dash },
        expanded,
    };
    let mut is_in_list = false;
    for event in events(text, part.clone()) {
        let (event, range, tag) = event.ok()?;
        match event {
            Event::SequenceStart(StructureStyle::Block, ..) if !is_in_list => is_in_list = true,
            Event::SequenceEnd if builder.open.len() == depth => {}
            Event::Scalar(..) | Event::MappingStart(..) | Event::SequenceStart(..) if !is_in_list => return None,
            _ => builder.event(text, event, range, tag).ok()?,
        }
    }
    let behind = Behind { cursor: builder.cursor, expanded: builder.expanded };
    if skip(text.as_bytes(), behind.cursor, b"") < part.end {
        return None;
    }
    sort_comments(doc, first_comment);
    Some(behind)
}

/// An event of the library, its range, and the range of its tag.
type Seen<'t> = (Event<'t>, Range<usize>, Option<Range<usize>>);

/// The library's events for a part of a text. Their ranges are offsets of the whole text.
fn events(text: &str, part: Range<usize>) -> impl Iterator<Item = Result<Seen<'_>, ScanError>> {
    let options = granit_parser::options! {
        emit_anchor_events: true,
        max_buffered_comment_events: usize::MAX,
        flow_nesting_limit: MAX_DEPTH + 1,
        block_nesting_limit: MAX_DEPTH + 1,
    };
    let start = part.start;
    Parser::new_from_str_with_options(&text[part], options).map(move |event| {
        let (event, span) = event?;
        let of_text = |range: Range<usize>| start + range.start..start + range.end;
        let tag = span.tag_span().and_then(|tag| tag.byte_range()).map(of_text);
        Ok((event, span.byte_range().map_or(0..0, of_text), tag))
    })
}

/// Sorts the comments from an index on. Trap: granit reports the comment on the header line of a block scalar after the scalar.
fn sort_comments(doc: &mut Document<'_>, first: usize) {
    if !doc.comments[first..].is_sorted() {
        doc.comments[first..].sort_unstable();
    }
}

impl Builder<'_> {
    /// Moves the cursor past the dash of the next list element, if there is a dash.
    fn pass_dash(&mut self, text: &str) {
        let Some(open) = self.open.last() else { return };
        let parent = &self.doc.nodes[open.node as usize];
        let is_first = open.node as usize + 1 == self.doc.nodes.len();
        if parent.kind == Kind::List && parent.style == Style::Block && !is_first {
            let dash = skip(text.as_bytes(), self.cursor, b"");
            if text.as_bytes().get(dash) == Some(&b'-') {
                self.cursor = dash + 1;
            }
        }
    }

    fn event(
        &mut self,
        text: &str,
        event: Event<'_>,
        range: Range<usize>,
        tag: Option<Range<usize>>,
    ) -> Result<(), Error> {
        match event {
            Event::Comment(..) => self.doc.comments.push((range.start as u32, range.end as u32)),
            Event::Anchor(id, _) => self.anchor(id, range),
            Event::Alias(id) => self.alias(text, id, range)?,
            Event::Scalar(value, style, _, resolved) => {
                let token = Token { range, tag: resolved.as_deref().zip(tag) };
                self.value(text, value, style, token)?;
            }
            Event::MappingStart(style, id, resolved) => {
                let token = Token { range, tag: resolved.as_deref().zip(tag) };
                self.start(text, Kind::Map, style, id, token)?;
            }
            Event::SequenceStart(style, id, resolved) => {
                let token = Token { range, tag: resolved.as_deref().zip(tag) };
                self.start(text, Kind::List, style, id, token)?;
            }
            Event::MappingEnd | Event::SequenceEnd => self.end(range),
            // Trap: granit reports an implicit start with the span of the first token, so only an explicit start moves the cursor.
            Event::DocumentStart(true, _) => self.cursor = self.cursor.max(range.end),
            // A text may begin with marks that end no document.
            Event::DocumentStart(false, _) => self.pass_end_marks(text),
            Event::DocumentEnd => {
                self.pass_end_marks(text);
                self.anchors.clear();
            }
            _ => {}
        }
        Ok(())
    }

    /// Moves the cursor behind the marks that end documents. Trap: the span of the event is not that of the mark.
    fn pass_end_marks(&mut self, text: &str) {
        loop {
            let mark = skip(text.as_bytes(), self.cursor, b"");
            let rest = text[mark..].strip_prefix("...");
            if !rest.is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '\t', '\n', '\r'])) {
                return;
            }
            self.cursor = mark + 3;
        }
    }

    /// Appends a node; outside of all containers, it is a root.
    fn push(&mut self, text: &str, node: Node) -> Result<u32, Error> {
        let id = self.doc.nodes.len() as u32;
        if self.open.is_empty() {
            self.doc.roots.push(id);
        }
        if self.open.len() > MAX_DEPTH {
            return Err(Error::at(
                text,
                node.start as usize,
                format!("maps and lists must not be nested deeper than {MAX_DEPTH} levels"),
            ));
        }
        self.doc.nodes.push(node);
        Ok(id)
    }

    fn tag(&mut self, id: u32, tag: Option<(&Tag, Range<usize>)>) {
        if let Some((tag, span)) = tag {
            self.doc.props.push(Props {
                node: id,
                start: span.start as u32,
                end: span.end as u32,
                anchor: None,
                tag: Some(format!("{}{}", tag.handle(), tag.suffix()).into()),
            });
            self.doc.nodes[id as usize].has_props = true;
        }
    }

    fn anchor(&mut self, id: usize, range: Range<usize>) {
        let node = self.doc.nodes.len() as u32 - 1;
        let (start, end) = (range.start as u32, range.end as u32);
        match self.doc.props.last_mut() {
            Some(props) if props.node == node => {
                props.anchor = Some((start, end));
                props.start = props.start.min(start);
                props.end = props.end.max(end);
            }
            _ => self.doc.props.push(Props { node, start, end, anchor: Some((start, end)), tag: None }),
        }
        let n = &mut self.doc.nodes[node as usize];
        let expanded = VALUE + (n.end - n.start) as usize;
        n.has_props = true;
        if n.kind == Kind::Scalar && n.start == n.end && n.style == Style::Plain {
            n.start = n.start.max(end);
            n.end = n.start;
        }
        self.cursor = self.cursor.max(range.end);
        let closed = n.kind == Kind::Scalar;
        self.anchors.insert(id, Anchor { node, expanded, height: 0, closed });
    }

    fn alias(&mut self, text: &str, id: usize, range: Range<usize>) -> Result<(), Error> {
        let name = &text[range.clone()];
        let Some(anchor) = self.anchors.get(&id) else {
            return Err(Error::at(text, range.start, format!("the alias `{name}` must have an anchor before it")));
        };
        let (target, expanded, height) = (anchor.node, anchor.expanded, anchor.height);
        if !anchor.closed {
            return Err(Error::at(
                text,
                range.start,
                format!("the alias `{name}` must not be inside of its own value"),
            ));
        }
        if self.open.len() + height > MAX_DEPTH {
            return Err(Error::at(
                text,
                range.start,
                format!(
                    "maps and lists, with those in the value of `{name}`, must not be nested deeper than {MAX_DEPTH} levels"
                ),
            ));
        }
        self.expanded += expanded;
        let most = (EXPANDED_MIB << 20).max(text.len().saturating_mul(EXPANDED_MULTIPLE));
        if self.expanded > most {
            return Err(Error::at(
                text,
                range.start,
                format!(
                    "the aliases of a text must not stand for more than {EXPANDED_MIB} MiB, or {EXPANDED_MULTIPLE} times the text"
                ),
            ));
        }
        let node = Node {
            start: range.start as u32,
            end: range.end as u32,
            link: target,
            kind: Kind::Alias,
            style: Style::Plain,
            has_props: false,
        };
        let id = self.push(text, node)?;
        self.doc.aliases.push(id);
        self.count(expanded, height);
        self.cursor = range.end;
        Ok(())
    }

    /// Counts a finished child in the size and the height of its container.
    fn count(&mut self, expanded: usize, height: usize) {
        if let Some(open) = self.open.last_mut() {
            open.children += 1;
            open.expanded += expanded;
            open.height = open.height.max(height);
        }
    }

    fn value(&mut self, text: &str, value: Cow<'_, str>, style: ScalarStyle, token: Token<'_>) -> Result<(), Error> {
        let Token { range, tag } = token;
        self.pass_dash(text);
        let id = self.doc.nodes.len() as u32;
        let cursor = tag.as_ref().map_or(self.cursor, |t| self.cursor.max(t.1.end));
        let mut value = value;
        let (style, (start, end)) = match style {
            ScalarStyle::SingleQuoted => (Style::Single, (range.start, range.end)),
            ScalarStyle::DoubleQuoted => (Style::Double, (range.start, range.end)),
            ScalarStyle::Literal | ScalarStyle::Folded => {
                let at = skip_props(text.as_bytes(), cursor, b":-?,");
                let (block, end) = BlockScalar::read(text, at, &range);
                // Trap: granit treats the end of the text as the end of a line.
                if end == block.header.end && range.end == text.len() {
                    value = Cow::Borrowed("");
                } else if end == text.len() && value.ends_with('\n') {
                    value.to_mut().pop();
                }
                self.doc.blocks.push((id, u32::try_from(block.indent).unwrap_or(u32::MAX)));
                let style = if style == ScalarStyle::Literal { Style::Literal } else { Style::Folded };
                (style, (block.header.start, end))
            }
            _ if range.is_empty() => {
                let at = if tag.is_some() { cursor } else { self.absent(text, range.start)? };
                (Style::Plain, (at, at))
            }
            _ => {
                self.is_sure(text, &range)?;
                (Style::Plain, (range.start, range.end))
            }
        };
        let inner = match style {
            Style::Single | Style::Double => &text[start + 1..end - 1],
            _ => &text[start..end],
        };
        let link = if inner == value || (style == Style::Plain && start == end) {
            NONE
        } else {
            let from = self.doc.buffer.len() as u32;
            self.doc.buffer.push_str(&value);
            self.doc.decoded.push((from, self.doc.buffer.len() as u32));
            self.doc.decoded.len() as u32 - 1
        };
        self.doc.has_merges |= inner == "<<";
        if style == Style::Plain && matches!(inner, "" | "~" | "null" | "Null" | "NULL") {
            self.doc.nulls.push(id);
        }
        let node = Node { start: start as u32, end: end as u32, link, kind: Kind::Scalar, style, has_props: false };
        self.push(text, node)?;
        self.tag(id, tag);
        self.count(VALUE + (end - start), 0);
        self.cursor = self.cursor.max(end);
        Ok(())
    }

    /// Checks that other readers read the same plain text in flow. Text from upstream could hide a field otherwise: go-yaml reads `{?a: b}`
    /// as `{a: b}`, and `{a:}` as a field with the name `a:`. Source: `yaml_parser_fetch_next_token` and `yaml_parser_scan_plain_scalar`.
    ///
    /// # Errors
    /// kubectl, kustomize and kpt read something else.
    fn is_sure(&self, text: &str, range: &Range<usize>) -> Result<(), Error> {
        let is_in_flow = self.open.last().is_some_and(|open| self.doc.nodes[open.node as usize].style == Style::Flow);
        let ends = |rest: &str| rest.starts_with([',', '[', ']', '{', '}']);
        let is_colon_unsure = text[range.end..].strip_prefix(':').is_some_and(ends);
        if !is_in_flow || !text[range.start..].starts_with(['?', ':']) && !is_colon_unsure {
            return Ok(());
        }
        let written = &text[range.start..range.end + usize::from(is_colon_unsure)];
        let message = format!(
            "between brackets, `{written}` must be in quotes, because kubectl and kustomize read it differently"
        );
        Err(Error::at(text, range.start, message))
    }

    /// The place for an absent value: after its colon or its dash. Trap: granit reports it before the colon, or after the comment that
    /// follows the dash.
    ///
    /// # Errors
    /// The name of a field is absent.
    fn absent(&self, text: &str, at: usize) -> Result<usize, Error> {
        let Some(open) = self.open.last() else {
            return Ok(at);
        };
        let parent = &self.doc.nodes[open.node as usize];
        let bytes = text.as_bytes();
        match (parent.kind, parent.style) {
            // No host delivers such a field: kubectl, kustomize and kpt cannot read it.
            (Kind::Map, _) if open.children.is_multiple_of(2) => {
                Err(Error::at(text, at, "a field must have a name before its colon"))
            }
            (Kind::Map, style) => {
                let colon = skip(bytes, self.cursor, b"");
                let is_own = style == Style::Flow || is_colon_of(bytes, parent, self.cursor..colon);
                Ok(if bytes.get(colon) == Some(&b':') && is_own { colon + 1 } else { self.cursor })
            }
            (_, Style::Block) => Ok(self.cursor),
            _ => Ok(at),
        }
    }

    fn start(
        &mut self,
        text: &str,
        kind: Kind,
        style: StructureStyle,
        anchor: usize,
        token: Token<'_>,
    ) -> Result<(), Error> {
        let Token { range, tag } = token;
        let style = if style == StructureStyle::Flow { Style::Flow } else { Style::Block };
        self.pass_dash(text);
        let mut start = range.start;
        if kind == Kind::List && style == Style::Block {
            // Trap: granit reports a block list at its first element. The dash is after the token before the list.
            let dash = skip_props(text.as_bytes(), self.cursor, b":?");
            if text.as_bytes().get(dash) == Some(&b'-') {
                start = dash;
                self.cursor = dash + 1;
            }
        }
        let node = Node { start: start as u32, end: start as u32, link: NONE, kind, style, has_props: false };
        let id = self.push(text, node)?;
        let tag_end = tag.as_ref().map(|t| t.1.end);
        self.tag(id, tag);
        self.open.push(OpenContainer { node: id, children: 0, anchor, expanded: VALUE, height: 0 });
        self.cursor = self.cursor.max(tag_end.unwrap_or(0));
        if style == Style::Flow {
            self.cursor = self.cursor.max(range.end);
        }
        Ok(())
    }

    fn end(&mut self, range: Range<usize>) {
        let Some(open) = self.open.pop() else { return };
        let next = self.doc.nodes.len() as u32;
        // Trap: granit ends a block at the next token, but it ends where its last child ends.
        let end = match self.doc.nodes[open.node as usize].style {
            Style::Flow => range.end as u32,
            _ => self.cursor as u32,
        };
        let node = &mut self.doc.nodes[open.node as usize];
        node.link = next;
        node.end = end.max(node.start);
        self.cursor = self.cursor.max(end as usize);
        if let Some(anchor) = self.anchors.get_mut(&open.anchor) {
            anchor.expanded = open.expanded;
            anchor.height = open.height + 1;
            anchor.closed = true;
        }
        self.count(open.expanded, open.height + 1);
    }
}

const MARK: &[u8] = "\u{feff}".as_bytes();

/// Whether the colon at the end of a gap belongs to the key of this block map before the gap. On a line below, it does if it stands in the
/// column of the map. Otherwise it belongs to a map outside, or to the name of a key like `::`, and the key before the gap is `? key`.
fn is_colon_of(bytes: &[u8], map: &Node, gap: Range<usize>) -> bool {
    let line_start = |at: usize| {
        let line = bytes[..at].iter().rposition(|b| matches!(b, b'\n' | b'\r')).map_or(0, |end| end + 1);
        // A byte order mark has no column.
        if bytes[line..].starts_with(MARK) { line + MARK.len() } else { line }
    };
    let line = line_start(gap.end);
    let ends = matches!(bytes.get(gap.end + 1), None | Some(b' ' | b'\t' | b'\n' | b'\r'));
    let start = map.start as usize;
    ends && (line <= gap.start || gap.end - line == start - line_start(start))
}

/// Skips blanks, line breaks, comments, byte order marks and the given indicators from an offset on.
pub(super) fn skip(bytes: &[u8], mut at: usize, indicators: &[u8]) -> usize {
    while let Some(&b) = bytes.get(at) {
        match b {
            b' ' | b'\t' | b'\n' | b'\r' => at += 1,
            _ if bytes[at..].starts_with(MARK) => at += MARK.len(),
            b'#' if matches!(bytes[..at].last(), None | Some(b' ' | b'\t' | b'\n' | b'\r'))
                || bytes[..at].ends_with(MARK) =>
            {
                while bytes.get(at).is_some_and(|b| !matches!(b, b'\n' | b'\r')) {
                    at += 1;
                }
            }
            b if indicators.contains(&b) => at += 1,
            _ => break,
        }
    }
    at
}

/// Like [`skip`], but also skips anchors and tags, because granit reports an anchor only after its node.
fn skip_props(bytes: &[u8], at: usize, indicators: &[u8]) -> usize {
    let mut at = skip(bytes, at, indicators);
    while matches!(bytes.get(at), Some(b'&' | b'!')) {
        while bytes.get(at).is_some_and(|b| !b.is_ascii_whitespace()) {
            at += 1;
        }
        at = skip(bytes, at, b"");
    }
    at
}

/// The offset of an error in what granit reads.
fn offset_of(error: &ScanError) -> Option<usize> {
    error.marker().byte_offset()
}

/// Turns granit's error in a text into ours, with a hint if Go's reader would have accepted the text.
fn scan_error(text: &str, error: &ScanError) -> Error {
    let offset = offset_of(error).unwrap_or(text.len());
    let info = error.info();
    let hint = if info.contains("multiline quoted") {
        "; the closing quote is missing"
    } else if info.contains("comments must be separated") {
        "; put a blank before the `#`"
    } else if info.contains("tab") {
        "; YAML is indented with blanks, not with tabs"
    } else if info.contains("nesting") || info.contains("recursion") {
        return Error::at(text, offset, format!("maps and lists must not be nested deeper than {MAX_DEPTH} levels"));
    } else {
        ""
    };
    let info = info.replace(['\n', '\r'], " ");
    Error::at(text, offset, format!("the text must be YAML: {info}{hint}"))
}

#[cfg(test)]
mod tests;
