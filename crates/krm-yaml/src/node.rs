//! [`Document`] and [`NodeRef`]: an arena of byte spans in the order of the text, and a view of one of its nodes.
//!
//! A node is 16 bytes; its children are the nodes after it, and its link skips its whole subtree. The parser decodes text once, and only
//! where it differs from the source. Anchors, tags and aliases are rare, so they are in tables beside the arena and cost nothing if there
//! are none.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::OnceLock;

use crate::error::{Error, Position};
use crate::hashed::{Empty, HashMap, HashSet};
use crate::line::{LineStarts, byte_order_mark, line_end, line_start_by, next_line_by};
use crate::scalar::Scalar;

/// The kinds of node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A mapping.
    Map,
    /// A sequence.
    List,
    /// A scalar, or an empty value.
    Scalar,
    /// `*name`; see [`NodeRef::resolve`].
    Alias,
}

/// How a node is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// A map or list by indentation.
    Block,
    /// A map or list in brackets, or the one-pair map of `[a: b]`, which has no brackets.
    Flow,
    /// A bare scalar or an alias.
    Plain,
    /// A scalar in `'…'`.
    Single,
    /// A scalar in `"…"`.
    Double,
    /// A scalar after `|`.
    Literal,
    /// A scalar after `>`.
    Folded,
}

/// How many children a map or list has at most if a look-up compares them one by one.
const FEW: usize = 32;

/// The link of a node that links to nothing.
pub(super) const NONE: u32 = u32::MAX;

/// One node of the arena. Offsets are bytes of the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Node {
    /// The first byte of the content: after anchor and tag; the `|` of a block scalar; the first key of a block map.
    pub start: u32,
    /// The offset after the last byte of the content, without its line break.
    pub end: u32,
    /// Map and list: the node after the subtree. Scalar: the index of its decoded text, or [`NONE`]. Alias: the node that it refers to.
    pub link: u32,
    pub kind: Kind,
    pub style: Style,
    /// Whether an anchor or a tag is before it.
    pub has_props: bool,
}

impl Node {
    fn len(&self) -> usize {
        (self.end - self.start) as usize
    }
}

/// An anchor or a tag in front of a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Props {
    pub node: u32,
    pub start: u32,
    pub end: u32,
    pub anchor: Option<(u32, u32)>,
    pub tag: Option<Box<str>>,
}

/// The prefix of the tags of YAML's own types.
pub(super) const CORE: &str = "tag:yaml.org,2002:";

/// The deepest nesting of maps and lists. Real manifests stay below 50. The functions that walk a tree recurse; with this limit they fit
/// into a stack of 1 MiB, as Windows and wasm have it (`tests/depth.rs`).
pub(super) const MAX_DEPTH: usize = 200;

/// A parsed text: every node and every comment by its place.
#[derive(Debug)]
pub struct Document<'s> {
    pub(super) source: Cow<'s, str>,
    pub(super) nodes: Vec<Node>,
    pub(super) roots: Vec<u32>,
    pub(super) comments: Vec<(u32, u32)>,
    pub(super) props: Vec<Props>,
    pub(super) aliases: Vec<u32>,
    /// The aliases by the node that each refers to, computed on first use.
    pub(super) aliases_by_target: OnceLock<Vec<(u32, u32)>>,
    /// The keys of long maps, each after its map, sorted by map and text, computed on first use.
    pub(super) keys_of_long_maps: OnceLock<Vec<(u32, u32)>>,
    /// The fields in the elements of long lists, each as list, element and key, sorted by list, key, text of the value, and place, computed on
    /// first use.
    pub(super) fields_in_long_lists: OnceLock<Vec<[u32; 3]>>,
    /// Where the lines of the text begin, computed on first use for a long line.
    pub(super) line_starts: OnceLock<LineStarts>,
    pub(super) decoded: Vec<(u32, u32)>,
    /// The block scalars, in order, each with the indentation of its content.
    pub(super) blocks: Vec<(u32, u32)>,
    pub(super) buffer: String,
    pub(super) has_merges: bool,
    /// Set if aliases and `<<` are links, which mean themselves; see [`Document::keep_links`].
    pub(super) links: OnceLock<()>,
    /// Whether a key may have a `?` before it. The fast reader takes no such text.
    pub(super) may_have_questions: bool,
    pub(super) line_break: &'static str,
    /// The scalars that are null, in order.
    pub(super) nulls: Vec<u32>,
}

/// The line break that ends the first line.
pub(super) fn line_break(text: &str) -> &'static str {
    match text.as_bytes().get(line_end(text, 0)..) {
        Some([b'\r', b'\n', ..]) => "\r\n",
        Some([b'\r', ..]) => "\r",
        _ => "\n",
    }
}

impl Document<'static> {
    /// An empty document for a text, without the text.
    pub(super) fn empty(text: &str) -> Self {
        Self {
            source: Cow::Borrowed(""),
            // A manifest has about one node in 14 bytes. The system never has to provide memory for unused capacity.
            nodes: Vec::with_capacity(text.len() / 14 + 1),
            roots: Vec::new(),
            comments: Vec::new(),
            props: Vec::new(),
            aliases: Vec::new(),
            aliases_by_target: OnceLock::new(),
            keys_of_long_maps: OnceLock::new(),
            fields_in_long_lists: OnceLock::new(),
            line_starts: OnceLock::new(),
            decoded: Vec::new(),
            blocks: Vec::new(),
            buffer: String::new(),
            has_merges: false,
            links: OnceLock::new(),
            may_have_questions: false,
            line_break: line_break(text),
            nulls: Vec::new(),
        }
    }
}

impl<'s> Document<'s> {
    /// The roots of the documents in the text; a document without content has no root.
    pub fn roots(&self) -> impl ExactSizeIterator<Item = NodeRef<'_>> {
        self.roots.iter().map(move |&id| NodeRef { doc: self, id })
    }

    /// Whether any key may be `<<`, which brings in fields.
    pub fn has_merge_keys(&self) -> bool {
        self.has_merges && !self.keeps_links()
    }

    /// Makes links of the aliases: from now on each is a scalar that means its own text, and `<<` is a field like any other.
    ///
    /// So a merge of texts keeps them: a use of an anchor changes only if its own text does, and one change of the value at the anchor is
    /// one change. [`NodeRef::target`] says what a link refers to, and [`NodeRef::string`] has the text of the scalar there.
    pub fn keep_links(&self) {
        self.links.get_or_init(|| ());
    }

    /// Whether it has an anchor or an alias.
    pub fn has_anchors(&self) -> bool {
        !self.aliases.is_empty() || self.props.iter().any(|props| props.anchor.is_some())
    }

    /// The anchors and aliases of a subtree, in the order of the text.
    pub fn anchors_and_uses_in<'d>(&'d self, node: NodeRef<'_>) -> impl Iterator<Item = NodeRef<'d>> {
        let mut all: Vec<u32> = self.anchored_in(node).chain(self.uses_in(node)).map(|node| node.id).collect();
        all.sort_unstable();
        all.into_iter().map(|id| NodeRef { doc: self, id })
    }

    /// Whether its aliases are links.
    pub fn keeps_links(&self) -> bool {
        self.links.get().is_some()
    }

    /// The text.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// The place of an offset, as [`Position::of`]. The cost does not depend on the length of the text or of the line.
    pub fn position(&self, offset: usize) -> Position {
        let mut offset = offset.min(self.source.len());
        while !self.source.is_char_boundary(offset) {
            offset -= 1;
        }
        let (lines, start) = (self.line_starts(), self.line_start(offset));
        let before = lines.characters_between(&self.source, [start, offset]);
        Position { line: 1 + lines.line_of(offset), column: 1 + before }
    }

    /// The start of the line after the line of an offset, or the end of the text. The cost does not depend on the length of the line.
    pub fn next_line(&self, offset: usize) -> usize {
        next_line_by(&self.source, offset, || self.line_starts())
    }

    fn line_starts(&self) -> &LineStarts {
        self.line_starts.get_or_init(|| LineStarts::of(&self.source))
    }

    /// The start of the line that holds an offset. The cost does not depend on the length of the line.
    ///
    /// A byte order mark at the beginning of the text is before the first line: it takes no column.
    pub fn line_start(&self, offset: usize) -> usize {
        match line_start_by(&self.source, offset, || self.line_starts()) {
            0 => Some(byte_order_mark(&self.source)).filter(|mark| *mark <= offset).unwrap_or_default(),
            start => start,
        }
    }

    /// Whether it surely has no block scalar, and no key with a `?`.
    pub fn is_simple(&self) -> bool {
        self.blocks.is_empty() && !self.may_have_questions
    }

    /// The comments that begin in a range, as byte ranges in the order of the text; line breaks are not in them.
    pub fn comments_in(&self, range: std::ops::Range<usize>) -> impl Iterator<Item = (usize, usize)> + '_ {
        let first = self.comments.partition_point(|c| (c.0 as usize) < range.start);
        self.comments[first..].iter().map(|&(s, e)| (s as usize, e as usize)).take_while(move |c| c.0 < range.end)
    }

    /// The comment on the rest of the line after `offset`, with only blanks between.
    pub fn comment_behind(&self, offset: usize) -> Option<(usize, usize)> {
        // Most lines have no comment, and the text shows that at once.
        let at = offset + self.source.as_bytes()[offset..].iter().position(|byte| !matches!(byte, b' ' | b'\t'))?;
        if self.source.as_bytes()[at] != b'#' {
            return None;
        }
        self.comments_in(at..at + 1).next()
    }

    /// The start of the comment that contains the byte before an offset.
    pub(super) fn comment_before(&self, offset: usize) -> Option<usize> {
        let behind = self.comments.partition_point(|c| (c.0 as usize) < offset);
        let (start, end) = *self.comments.get(behind.checked_sub(1)?)?;
        (end as usize >= offset).then_some(start as usize)
    }

    /// Whether a comment begins at this offset.
    pub(super) fn is_comment(&self, start: usize) -> bool {
        self.comments.binary_search_by_key(&(start as u32), |c| c.0).is_ok()
    }

    /// The line break of the text: that of its first line.
    pub fn line_break(&self) -> &'static str {
        self.line_break
    }

    /// An error at a place of this text.
    pub fn error(&self, offset: usize, message: impl Into<String>) -> Error {
        Error::at(&self.source, offset, message)
    }

    pub(super) fn props_of(&self, id: u32) -> Option<&Props> {
        let i = self.props.binary_search_by_key(&id, |p| p.node).ok()?;
        Some(&self.props[i])
    }

    /// The aliases whose nodes are in a subtree. A link is none of them.
    pub fn aliases_in(&self, node: NodeRef<'_>) -> impl Iterator<Item = NodeRef<'_>> {
        self.uses_in(node).filter(|_| !self.keeps_links())
    }

    /// The aliases whose nodes are in a subtree, also if they are links.
    pub fn uses_in(&self, node: NodeRef<'_>) -> impl Iterator<Item = NodeRef<'_>> {
        let end = node.next_id();
        let first = self.aliases.partition_point(|&a| a < node.id);
        self.aliases[first..].iter().take_while(move |&&a| a < end).map(|&id| NodeRef { doc: self, id })
    }

    /// The aliases anywhere in the text that refer to a node of a subtree.
    pub fn aliases_of(&self, node: NodeRef<'_>) -> impl Iterator<Item = NodeRef<'_>> {
        let by_target = self.aliases_by_target.get_or_init(|| {
            let target = |&id: &u32| (NodeRef { doc: self, id }.target().id, id);
            let mut by_target: Vec<(u32, u32)> = self.aliases.iter().map(target).collect();
            by_target.sort_unstable();
            by_target
        });
        let range = node.id..node.next_id();
        let first = by_target.partition_point(|(target, _)| *target < range.start);
        let found = by_target[first..].iter().take_while(move |(target, _)| *target < range.end);
        found.map(|&(_, id)| NodeRef { doc: self, id })
    }

    /// The keys of the maps that have more than a few fields, without keys that are no scalars.
    fn keys_of_long_maps(&self) -> &[(u32, u32)] {
        self.keys_of_long_maps.get_or_init(|| {
            let maps = (0..self.nodes.len() as u32).map(|id| NodeRef { doc: self, id });
            let long = maps.filter(|map| map.kind() == Kind::Map && map.entries().size_hint().0 > FEW);
            let keys_of = |map: NodeRef<'_>| {
                let keys = map.entries().map(|(key, _)| key).filter(|key| !key.is_container());
                let mut keys: Vec<(u32, u32)> = keys.map(|key| (map.id, key.id)).collect();
                keys.sort_by_key(|(_, id)| NodeRef { doc: self, id: *id }.string());
                keys
            };
            long.flat_map(keys_of).collect()
        })
    }

    /// The scalars in the elements of the lists that have more than a few.
    fn fields_in_long_lists(&self) -> &[[u32; 3]] {
        self.fields_in_long_lists.get_or_init(|| {
            let lists = (0..self.nodes.len() as u32).map(|id| NodeRef { doc: self, id });
            let long = lists.filter(|list| list.kind() == Kind::List && list.elements().nth(FEW).is_some());
            let fields_in = |list: NodeRef<'_>| {
                let fields = list.elements().flat_map(|element| element.entries().map(move |field| (element, field)));
                let scalars = fields.filter(|(_, (key, value))| !key.is_container() && !value.is_container());
                let mut fields: Vec<[u32; 3]> =
                    scalars.map(|(element, (key, _))| [list.id, element.id, key.id]).collect();
                let texts = |key: u32| {
                    let key = NodeRef { doc: self, id: key };
                    (key.string(), NodeRef { doc: self, id: key.next_id() }.string())
                };
                fields.sort_by_key(|[_, _, key]| texts(*key));
                fields
            };
            long.flat_map(fields_in).collect()
        })
    }

    /// Whether a part of the text has an anchor, a tag or an alias, so that the same text may mean something else elsewhere. The part begins
    /// and ends outside of them. Links and their anchors mean the same everywhere.
    pub fn has_props_in(&self, part: Range<usize>) -> bool {
        if self.props.is_empty() {
            return false;
        }
        if self.keeps_links() {
            let first = self.props.partition_point(|props| (props.start as usize) < part.start);
            let mut props = self.props[first..].iter().take_while(|props| (props.start as usize) < part.end);
            return props.any(|props| props.tag.is_some());
        }
        let prop = self.props.partition_point(|props| (props.start as usize) < part.start);
        let start_of = |alias: &u32| self.nodes[*alias as usize].start as usize;
        let alias = self.aliases.partition_point(|alias| start_of(alias) < part.start);
        self.props.get(prop).is_some_and(|props| (props.start as usize) < part.end)
            || self.aliases.get(alias).is_some_and(|alias| start_of(alias) < part.end)
    }

    /// The nodes of a subtree that have an anchor, in the order of the text.
    pub fn anchored_in(&self, node: NodeRef<'_>) -> impl Iterator<Item = NodeRef<'_>> {
        let end = node.next_id();
        let first = self.props.partition_point(|props| props.node < node.id);
        let props = self.props[first..].iter().take_while(move |props| props.node < end);
        props.filter(|props| props.anchor.is_some()).map(|props| NodeRef { doc: self, id: props.node })
    }

    /// The anchors, each with its `&`, that a subtree has again. An alias means the last one before it, and some readers refuse the text.
    pub fn repeated_anchors<'d>(&'d self, node: NodeRef<'_>) -> impl Iterator<Item = &'d str> {
        let mut seen = HashSet::new();
        self.anchored_in(node).filter_map(NodeRef::anchor_text).filter(move |anchor| !seen.insert(*anchor))
    }

    /// Whether any node of a subtree has an anchor that a copy of the text must not have. The anchors of links are copied.
    pub fn has_anchors_in(&self, node: NodeRef<'_>) -> bool {
        !self.keeps_links() && self.anchored_in(node).next().is_some()
    }
}

/// One node of a [`Document`]: two words, cheap to copy.
#[derive(Clone, Copy)]
pub struct NodeRef<'a> {
    pub(super) doc: &'a Document<'a>,
    pub(super) id: u32,
}

impl std::fmt::Debug for NodeRef<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?}@{}..{} {:?}", self.kind(), self.start(), self.end(), self.text())
    }
}

impl<'a> NodeRef<'a> {
    fn node(self) -> &'a Node {
        &self.doc.nodes[self.id as usize]
    }

    /// The number of the node after this subtree.
    fn next_id(self) -> u32 {
        match self.node() {
            Node { kind: Kind::Map | Kind::List, link, .. } => *link,
            _ => self.id + 1,
        }
    }

    /// The document of the node.
    pub fn document(self) -> &'a Document<'a> {
        self.doc
    }

    /// Whether the byte at an offset is in the text, the anchor or the tag of another node. Between the byte and this node there are only
    /// blanks and comments.
    pub(super) fn follows_content(self, offset: usize) -> bool {
        for id in (0..self.id).rev() {
            let other = NodeRef { doc: self.doc, id };
            if other.props().is_some_and(|props| (props.start..props.end).contains(&(offset as u32))) {
                return true;
            }
            // A map or list begins with its first child, so the nearest scalar or alias is what the text has before this node.
            if !matches!(other.kind(), Kind::Map | Kind::List) {
                return (other.start()..other.end()).contains(&offset);
            }
        }
        false
    }

    /// The numbers of the nodes in its subtree, in the order of the text. Its own is the first.
    pub(crate) fn subtree(self) -> Range<u32> {
        self.id..self.next_id()
    }

    /// Whether another node is this one or is below it.
    pub fn holds(self, other: NodeRef<'_>) -> bool {
        std::ptr::eq(self.doc.nodes.as_ptr(), other.doc.nodes.as_ptr()) && self.subtree().contains(&other.id)
    }

    /// Whether two views are of the same node, not only of equal ones.
    pub fn is(self, other: NodeRef<'_>) -> bool {
        std::ptr::eq(self.doc.nodes.as_ptr(), other.doc.nodes.as_ptr()) && self.id == other.id
    }

    /// Whether it is a node of this document.
    pub fn is_of(self, doc: &Document<'_>) -> bool {
        std::ptr::eq(self.doc.nodes.as_ptr(), doc.nodes.as_ptr())
    }

    /// Whether this node is the key of the field with this value.
    pub(super) fn is_key_of(self, value: NodeRef<'_>) -> bool {
        value.is_of(self.doc) && self.next_id() == value.id
    }

    /// Whether it is the root of a document.
    pub fn is_root(self) -> bool {
        self.doc.roots.binary_search(&self.id).is_ok()
    }

    /// Its kind, [`Kind::Alias`] for an alias. A link is a scalar.
    pub fn kind(self) -> Kind {
        match self.node().kind {
            Kind::Alias if self.doc.keeps_links() => Kind::Scalar,
            kind => kind,
        }
    }

    /// Whether it is an alias that means its own text; see [`Document::keep_links`].
    pub fn is_link(self) -> bool {
        self.node().kind == Kind::Alias && self.doc.keeps_links()
    }

    /// How it is written.
    pub fn style(self) -> Style {
        self.node().style
    }

    /// The offset of its first byte, without anchor and tag.
    pub fn start(self) -> usize {
        self.node().start as usize
    }

    /// The offset after its last byte.
    pub fn end(self) -> usize {
        self.node().end as usize
    }

    /// The offset of its first byte, anchor and tag included.
    pub fn full_start(self) -> usize {
        self.props().map_or(self.start(), |p| (p.start as usize).min(self.start()))
    }

    /// Its text as the user wrote it.
    pub fn text(self) -> &'a str {
        &self.doc.source[self.start()..self.end()]
    }

    /// Its tag as written, without its anchor: a copy of the node needs it.
    pub fn tag_text(self) -> Option<&'a str> {
        let props = self.props()?;
        props.tag.as_ref()?;
        let text = &self.doc.source[props.start as usize..props.end as usize];
        text.split_ascii_whitespace().find(|t| t.starts_with('!'))
    }

    /// The tag of a map or list that says more than its kind, as in `!If [a, b]`.
    pub fn container_tag(self) -> Option<&'a str> {
        let tag = self.tag()?;
        let is_kind = matches!(tag.strip_prefix(CORE), Some("map" | "seq"));
        (self.is_container() && !is_kind).then_some(tag)
    }

    /// Whether two values are of one kind: two maps of one tag, two lists of one tag, or two scalars. An alias counts as its value.
    pub fn is_kind_of(self, other: NodeRef<'_>) -> bool {
        let (own, other) = (self.resolve(), other.resolve());
        own.kind() == other.kind() && own.container_tag() == other.container_tag()
    }

    /// Its anchor as written.
    pub fn anchor_text(self) -> Option<&'a str> {
        let (start, end) = self.props()?.anchor?;
        Some(&self.doc.source[start as usize..end as usize])
    }

    /// Whether it is an absent value: nothing is written for it (`key:`).
    pub fn is_absent(self) -> bool {
        let n = self.node();
        n.kind == Kind::Scalar && n.start == n.end && n.style == Style::Plain
    }

    /// The position of its first byte, for a message.
    pub fn position(self) -> Position {
        self.doc.position(self.start())
    }

    /// An error at its place.
    pub fn error(self, message: impl Into<String>) -> Error {
        self.doc.error(self.start(), message)
    }

    /// The column of its first byte, from 0, in bytes; blanks of the indentation are one byte each.
    pub fn column(self) -> usize {
        let start = self.full_start();
        start - self.doc.line_start(start)
    }

    fn props(self) -> Option<&'a Props> {
        if self.node().has_props { self.doc.props_of(self.id) } else { None }
    }

    /// Its full tag, if it has one.
    pub fn tag(self) -> Option<&'a str> {
        self.props()?.tag.as_deref()
    }

    /// The node whose value an alias has; for any other node and for a link, the node itself.
    pub fn resolve(self) -> NodeRef<'a> {
        if self.is_link() { self } else { self.target() }
    }

    /// The node that an alias or a link refers to; for any other node, the node itself.
    pub fn target(self) -> NodeRef<'a> {
        let mut node = self;
        while node.node().kind == Kind::Alias {
            node.id = node.node().link;
        }
        node
    }

    /// Whether it is a map, or an alias of one.
    pub fn is_map(self) -> bool {
        self.resolve().kind() == Kind::Map
    }

    /// Whether it is a list, or an alias of one.
    pub fn is_list(self) -> bool {
        self.resolve().kind() == Kind::List
    }

    /// Whether it is a map or a list, or an alias of one.
    pub fn is_container(self) -> bool {
        matches!(self.resolve().kind(), Kind::Map | Kind::List)
    }

    /// Whether it is null, written or absent.
    pub fn is_null(self) -> bool {
        let node = self.resolve();
        // With a tag, a bare `~` may have another value, and a quoted one may be null.
        if node.node().has_props {
            return matches!(node.scalar(), Some(Scalar::Null));
        }
        // Most scalars are in quotes or longer than any spelling of null, so they are not looked up.
        let may_be = node.style() == Style::Plain && node.node().len() <= "null".len();
        may_be && node.doc.nulls.binary_search(&node.id).is_ok()
    }

    /// Whether it is a scalar with this text, or an alias of one. Most keys of a map have another length, so few texts are compared.
    #[inline(always)]
    pub fn is_called(self, text: &str) -> bool {
        let node = self.node();
        let is_as_written = (node.kind, node.style, node.link) == (Kind::Scalar, Style::Plain, NONE);
        (!is_as_written || node.len() == text.len()) && self.has_text(text)
    }

    fn has_text(self, text: &str) -> bool {
        !self.is_container() && self.bytes() == text.as_bytes()
    }

    /// The texts of all scalars in its subtree, keys included, in the order of the text. An alias has the text of its scalar, if any.
    pub fn strings(self) -> impl Iterator<Item = &'a str> {
        self.strings_like(|_, _| true)
    }

    /// Those of [`NodeRef::strings`] whose first byte (0 if there is none) and length are asked for, and perhaps others.
    pub fn strings_like(self, is_asked: impl Fn(u8, usize) -> bool) -> impl Iterator<Item = &'a str> {
        let (first, last) = (self.id as usize, self.next_id() as usize);
        let nodes = self.doc.nodes[first..last].iter().zip(self.id..);
        let may_be = move |node: &Node| match node.kind {
            // Most texts are as they are written.
            Kind::Scalar if node.link == NONE => {
                let quote = usize::from(matches!(node.style, Style::Single | Style::Double));
                let length = node.len() - 2 * quote;
                let first = self.doc.source.as_bytes().get(node.start as usize + quote);
                is_asked(first.copied().filter(|_| length > 0).unwrap_or_default(), length)
            }
            Kind::Scalar | Kind::Alias => true,
            Kind::Map | Kind::List => false,
        };
        let found = nodes.filter(move |(node, _)| may_be(node)).map(move |(_, id)| NodeRef { doc: self.doc, id });
        found.filter(|node| !node.is_container()).map(NodeRef::string)
    }

    /// The decoded text of a scalar: escapes resolved, lines folded; empty for an absent one and for a container.
    #[inline]
    pub fn string(self) -> &'a str {
        match self.between_quotes() {
            Some(range) => &self.doc.source[range],
            None => self.decoded(),
        }
    }

    /// The bytes of [`NodeRef::string`]. For a comparison, nobody needs to know where characters begin.
    #[inline]
    fn bytes(self) -> &'a [u8] {
        match self.between_quotes() {
            Some(range) => &self.doc.source.as_bytes()[range],
            None => self.decoded().as_bytes(),
        }
    }

    /// The range of its decoded text in the source; `None` if the text may not be the written one.
    #[inline]
    fn between_quotes(self) -> Option<Range<usize>> {
        let node = self.node();
        let quote = u32::from(matches!(node.style, Style::Single | Style::Double));
        let is_written = node.kind == Kind::Scalar && node.link == NONE;
        is_written.then(|| (node.start + quote) as usize..(node.end - quote) as usize)
    }

    /// Same as [`NodeRef::string`], if the text may not be the written one.
    fn decoded(self) -> &'a str {
        let node = self.node();
        match node.kind {
            Kind::Alias => self.target().string(),
            Kind::Scalar => {
                let (start, end) = self.doc.decoded[node.link as usize];
                &self.doc.buffer[start as usize..end as usize]
            }
            Kind::Map | Kind::List => "",
        }
    }

    /// The decoded text, if it is a scalar that is not null.
    pub fn as_str(self) -> Option<&'a str> {
        (self.resolve().kind() == Kind::Scalar && !self.is_null()).then(|| self.string())
    }

    /// The typed value of a scalar; `None` for a map or a list.
    pub fn scalar(self) -> Option<Scalar<'a>> {
        let node = self.resolve();
        let n = node.node();
        if node.is_link() {
            return Some(Scalar::Tagged(Cow::Borrowed("*"), Cow::Borrowed(node.text())));
        }
        if n.kind != Kind::Scalar {
            return None;
        }
        let text = node.string();
        Some(match node.tag() {
            Some(tag) => tag.strip_prefix(CORE).and_then(|core| Scalar::tagged(core, text)).unwrap_or(match tag {
                "!" => Scalar::String(Cow::Borrowed(text)),
                _ => Scalar::Tagged(Cow::Borrowed(tag), Cow::Borrowed(text)),
            }),
            None if n.style == Style::Plain => Scalar::plain(text),
            None => Scalar::String(Cow::Borrowed(text)),
        })
    }

    /// The children of a container, in the order of the text: the elements of a list, or each key of a map and then its value.
    pub fn children(self) -> Children<'a> {
        let node = self.resolve();
        Children { doc: node.doc, next: node.id + 1, end: node.next_id() }
    }

    /// The children, if the node is of this kind.
    fn children_of(self, kind: Kind) -> Children<'a> {
        let node = self.resolve();
        let end = if node.kind() == kind { node.next_id() } else { 0 };
        Children { doc: node.doc, next: node.id + 1, end }
    }

    /// The elements of a list; empty for anything else.
    pub fn elements(self) -> Children<'a> {
        self.children_of(Kind::List)
    }

    /// The entries of a map in the text, including `<<`; empty for anything else.
    pub fn entries(self) -> Entries<'a> {
        Entries(self.children_of(Kind::Map))
    }

    /// The children in the text: each value, with its key if this is a map.
    pub fn written(self) -> WrittenChildren<'a> {
        WrittenChildren { children: self.children(), kind: self.resolve().kind() }
    }

    /// Whether it is a map with a `<<` entry.
    pub fn has_merge_entry(self) -> bool {
        self.doc.has_merge_keys() && self.entries().any(|(key, _)| key.is_merge_key())
    }

    /// Whether any map of the subtree has a `<<` entry.
    pub fn has_merge_entries(self) -> bool {
        let maps = || (self.id..self.next_id()).map(|id| NodeRef { doc: self.doc, id });
        self.doc.has_merge_keys() && maps().any(|node| node.kind() == Kind::Map && node.has_merge_entry())
    }

    /// Whether this key is the merge key `<<`, bare or as `!!merge`.
    #[inline]
    pub fn is_merge_key(self) -> bool {
        self.doc.has_merge_keys() && self.is_merge_key_if_any()
    }

    fn is_merge_key_if_any(self) -> bool {
        self.kind() == Kind::Scalar
            && self.style() == Style::Plain
            && self.text() == "<<"
            && self.tag().is_none_or(|t| t.strip_prefix(CORE) == Some("merge"))
    }

    /// The fields of a map as a reader sees them: the fields that `<<` brings in come after the map's own.
    ///
    /// Source: go-yaml v3's `merge`: the map's own keys win, then the first map named by `<<`.
    pub fn fields(self) -> Fields<'a> {
        if self.has_merge_entry() { self.meant_fields() } else { Fields::Written(self.entries()) }
    }

    /// Same as [`NodeRef::fields`], also if `<<` is a link.
    pub fn meant_fields(self) -> Fields<'a> {
        if !self.doc.has_merges {
            return Fields::Written(self.entries());
        }
        let mut seen: HashMap<&str, ()> = HashMap::new();
        let mut fields = Vec::new();
        let mut maps = vec![self.target()];
        while let Some(map) = maps.pop() {
            let mut merged = Vec::new();
            for (key, value) in map.entries() {
                if key.is_merge_key_if_any() {
                    match value.target().kind() {
                        Kind::List => merged.extend(value.target().elements().map(NodeRef::target)),
                        _ => merged.push(value.target()),
                    }
                } else if !key.is_container() && seen.insert(key.string(), ()).is_none() {
                    fields.push((key, value));
                }
            }
            maps.extend(merged.into_iter().rev());
        }
        Fields::Merged(fields.into_iter())
    }

    /// The entries of a map, in the order that they have once its `<<` entries are written out. Each has its place among the written
    /// entries; an entry that `<<` brings in has no place.
    pub fn spelled_out(self) -> Vec<(Option<usize>, NodeRef<'a>, NodeRef<'a>)> {
        let written = || self.entries().enumerate().map(|(place, (key, value))| (Some(place), key, value));
        let Some(first) = written().find(|(_, key, _)| key.is_merge_key()).and_then(|entry| entry.0) else {
            return written().collect();
        };
        let own = self.entries().filter(|(key, _)| !key.is_merge_key()).count();
        let (before, behind): (Vec<_>, Vec<_>) =
            written().filter(|(_, key, _)| !key.is_merge_key()).partition(|(place, ..)| *place < Some(first));
        let is_own = |key: &NodeRef<'a>| self.entries().any(|(own, _)| own.is(*key));
        let brought_in = self.fields().filter(|(key, _)| !is_own(key)).map(|(key, value)| (None, key, value));
        let mut all = Vec::with_capacity(own);
        all.extend(before);
        all.extend(brought_in);
        all.extend(behind);
        all
    }

    /// The value of a field, including the fields of `<<`; `None` if there is no such field or this is not a map.
    pub fn get(self, key: &str) -> Option<NodeRef<'a>> {
        let has_more = || self.has_merge_entry();
        let brought_in = || if has_more() { self.fields().find(|(k, _)| k.is_called(key)) } else { None };
        self.own_entry(key).or_else(brought_in).map(|(_, v)| v)
    }

    /// The first entry of a map with this key.
    fn own_entry(self, key: &str) -> Option<(NodeRef<'a>, NodeRef<'a>)> {
        let mut entries = self.entries();
        let first = entries.by_ref().take(FEW).find(|(k, _)| k.is_called(key) && !k.is_merge_key());
        first.or_else(|| entries.next().and_then(|_| self.of_long_map(key)))
    }

    /// The first entry of a long map with this key.
    fn of_long_map(self, key: &str) -> Option<(NodeRef<'a>, NodeRef<'a>)> {
        let map = self.resolve();
        let named = |id: u32| NodeRef { doc: map.doc, id };
        let keys = map.doc.keys_of_long_maps();
        let first = keys.partition_point(|(of, id)| (*of, named(*id).string()) < (map.id, key));
        let is_found =
            |(of, id): &&(u32, u32)| *of == map.id && named(*id).string() == key && !named(*id).is_merge_key();
        let found = keys.get(first).filter(is_found)?;
        Some((named(found.1), named(named(found.1).next_id())))
    }

    /// The elements of a long list that have a scalar of this text in a field, in order; `None` if the list is short, or if an element may have
    /// its fields by `<<`.
    pub fn elements_with(self, field: &str, text: &str) -> Option<impl Iterator<Item = NodeRef<'a>> + use<'a>> {
        let list = self.resolve();
        if list.doc.has_merges || list.elements().nth(FEW).is_none() {
            return None;
        }
        let fields = list.doc.fields_in_long_lists();
        let place = move |[of, _, key]: &[u32; 3]| {
            let key = NodeRef { doc: list.doc, id: *key };
            (*of, key.string(), NodeRef { doc: list.doc, id: key.next_id() }.string())
        };
        let wanted = (list.id, field, text);
        let first = fields.partition_point(|found| place(found) < wanted);
        let end = first + fields[first..].partition_point(|found| place(found) == wanted);
        Some(fields[first..end].iter().map(move |[_, element, _]| NodeRef { doc: list.doc, id: *element }))
    }

    /// The value at the end of a path of fields.
    pub fn at(self, path: &[&str]) -> Option<NodeRef<'a>> {
        path.iter().try_fold(self, |node, key| node.get(key))
    }

    /// Checks that a map can be merged field by field. JSON has no other keys, and so `kubectl` reads no others.
    ///
    /// # Errors
    /// A key is in the map twice, or is a map or list. The place is that of the key.
    pub fn check_keys(self) -> Result<(), Error> {
        if let Some((key, _)) = self.entries().find(|(key, _)| key.is_container()) {
            return Err(key.error("a key must be a scalar, not a map or list"));
        }
        match self.duplicate_key() {
            Some(key) => Err(key.error(format!("the key `{}` must be in a map only once", key.string()))),
            None => Ok(()),
        }
    }

    /// The second key of the first pair of equal keys in a map. The text decides, as in JSON: `1` and `"1"` are the same key.
    pub fn duplicate_key(self) -> Option<NodeRef<'a>> {
        let mut keys = self.entries().map(|(k, _)| k).filter(|k| !k.is_container() && !k.is_merge_key());
        // Equal keys have the same mark, and mostly others do not. So few keys are looked up.
        let mut seen = 0_u64;
        keys.find(|key| {
            let text = key.bytes();
            let [first, last] = [text.first(), text.last()].map(|byte| byte.map_or(0, |byte| usize::from(*byte)));
            let mark = 1 << ((text.len() + first + last) % 64);
            let is_new = seen & mark == 0;
            seen |= mark;
            !is_new && self.own_entry(key.string()).is_some_and(|(first, _)| !first.is(*key))
        })
    }

    /// Whether the subtree holds a null, written or absent.
    pub fn has_nulls(self) -> bool {
        let first = self.doc.nulls.partition_point(|&n| n < self.id);
        self.doc.nulls.get(first).is_some_and(|&n| n < self.next_id())
    }

    /// Whether the subtree holds a list, or an alias of one.
    pub fn has_lists(self) -> bool {
        (self.id..self.next_id()).any(|id| NodeRef { doc: self.doc, id }.is_list())
    }

    /// How many bytes its scalars and keys take once each alias is written out.
    pub fn expanded_len(self) -> usize {
        let mut len: usize = 0;
        let mut todo = vec![self.resolve()];
        while let Some(node) = todo.pop() {
            len = len.saturating_add(node.string().len());
            todo.extend(node.children().map(NodeRef::resolve));
        }
        len
    }

    /// Whether the node, or any in its subtree, has an anchor or a tag or is an alias.
    pub fn has_props_within(self) -> bool {
        self.doc.has_props_in(self.full_start()..self.end())
    }

    /// Whether the subtree holds an alias, so that its text alone does not show its meaning.
    pub fn has_aliases(self) -> bool {
        self.doc.aliases_in(self).next().is_some()
    }
}

/// The fields of a map, see [`NodeRef::fields`].
pub enum Fields<'a> {
    /// The map has no `<<`, so the fields are read from the arena.
    Written(Entries<'a>),
    /// The fields are collected from the map and the maps that `<<` names.
    Merged(std::vec::IntoIter<(NodeRef<'a>, NodeRef<'a>)>),
}

/// The children of a node, read from the arena. Their number is found by going from one to the next, so a list of them is made at once in
/// its size.
#[derive(Clone)]
pub struct Children<'a> {
    doc: &'a Document<'a>,
    next: u32,
    end: u32,
}

impl<'a> Iterator for Children<'a> {
    type Item = NodeRef<'a>;

    fn next(&mut self) -> Option<NodeRef<'a>> {
        if self.next >= self.end {
            return None;
        }
        let child = NodeRef { doc: self.doc, id: self.next };
        self.next = child.next_id();
        Some(child)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let (mut count, mut id) = (0, self.next);
        while id < self.end {
            id = NodeRef { doc: self.doc, id }.next_id();
            count += 1;
        }
        (count, Some(count))
    }
}

/// The children of a map or list in the text: each value, with its key if this is a map.
#[derive(Clone)]
pub struct WrittenChildren<'a> {
    children: Children<'a>,
    kind: Kind,
}

impl<'a> Iterator for WrittenChildren<'a> {
    type Item = (Option<NodeRef<'a>>, NodeRef<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        let key = if self.kind == Kind::Map { Some(self.children.next()?) } else { None };
        Some((key, self.children.next()?))
    }

    // Callers collect children, so a count saves them the growth of a list.
    fn size_hint(&self) -> (usize, Option<usize>) {
        let nodes = self.children.size_hint().0;
        let count = if self.kind == Kind::Map { nodes / 2 } else { nodes };
        (count, Some(count))
    }
}

/// The entries of a map, read from the arena: each key with its value.
#[derive(Clone)]
pub struct Entries<'a>(Children<'a>);

impl<'a> Iterator for Entries<'a> {
    type Item = (NodeRef<'a>, NodeRef<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        Some((self.0.next()?, self.0.next()?))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let (count, _) = self.0.size_hint();
        (count / 2, Some(count / 2))
    }
}

impl<'a> Iterator for Fields<'a> {
    type Item = (NodeRef<'a>, NodeRef<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        match self {
            Self::Written(w) => w.next(),
            Self::Merged(m) => m.next(),
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        match self {
            Self::Written(w) => w.size_hint(),
            Self::Merged(m) => m.size_hint(),
        }
    }
}
