//! The check that both readers build the same arena of a text, and that an item read alone has the nodes that it has in the text. Only the tests next to it and the fuzzer use it; no build for users has it.

use super::super::node::{Document, Kind, NONE, Node, NodeRef};
use super::super::parse::library;
use super::{Keep, Keeps, Moves, Place, Text, has_lines_of_blanks, outline, parse, reread};

/// Checks that both readers read a text the same way, unless the fast one leaves it to the library. Returns whether the fast one took it.
///
/// # Panics
/// The arenas differ.
pub fn is_taken(text: &str) -> bool {
    let Some(fast) = parse(text) else { return false };
    let library = library(text).unwrap_or_else(|error| panic!("{text:?} must be refused: {error}"));
    // All fields are named, so that the test covers any field that is added.
    let Document {
        source,
        nodes,
        roots,
        comments,
        props,
        aliases,
        aliases_by_target,
        keys_of_long_maps,
        line_starts,
        decoded,
        blocks,
        buffer,
        has_merges,
        may_have_questions,
        line_break,
        nulls,
    } = &fast;
    assert_eq!(nodes, &library.nodes, "{text:?}");
    assert_eq!((roots, nulls, blocks), (&library.roots, &library.nulls, &library.blocks), "{text:?}");
    assert_eq!((comments, has_merges), (&library.comments, &library.has_merges), "{text:?}");
    assert_eq!((decoded, buffer), (&library.decoded, &library.buffer), "{text:?}");
    assert_eq!((props, aliases), (&library.props, &library.aliases), "{text:?}");
    assert_eq!((source, *line_break), (&library.source, library.line_break), "{text:?}");
    // The library's reader also sets this if a `?` is in a scalar.
    assert!(!may_have_questions || library.may_have_questions, "{text:?}");
    assert!(aliases_by_target.get().is_none() && library.aliases_by_target.get().is_none());
    assert!(keys_of_long_maps.get().is_none() && library.keys_of_long_maps.get().is_none());
    assert!(line_starts.get().is_none() && library.line_starts.get().is_none());
    if let Some(usual) = Text::of(text) {
        has_parts_alike(usual, &fast);
    }
    true
}

/// Keeps only places. Each item is likely to repeat the one before it.
#[derive(Default)]
pub struct Places {
    /// How many items were read.
    read: usize,
    /// How many items were taken for ones that repeat another.
    pub repeated: usize,
}

impl Keeps for Places {
    fn of_item(&mut self, _: NodeRef<'_>) -> Keep {
        self.read += 1;
        Keep::Place
    }

    fn likely(&self) -> Option<usize> {
        (self.read + self.repeated).checked_sub(1)
    }

    fn of_repeated(&mut self, _: &Moves) -> Keep {
        self.repeated += 1;
        Keep::Place
    }
}

/// Checks that the outline of a text has the nodes of the whole text, but for its parts, and that each part has the nodes that it has in
/// the whole text.
fn has_parts_alike(text: Text<'_>, whole: &Document<'_>) {
    let shown = text.slice(0..text.len());
    let Some((outline, places)) = outline(text, &mut Places::default()) else {
        assert!(has_lines_of_blanks(shown), "all nodes stay only in a text with lines of blanks: {shown:?}");
        return;
    };
    assert_eq!((&outline.comments, outline.has_merges), (&whole.comments, whole.has_merges), "{shown:?}");
    // For each node of the outline, its number in the whole text, and one more for the end.
    let mut numbers = Vec::new();
    let (mut next, mut parts) = (0, places.iter().peekable());
    for id in 0..outline.nodes.len() as u32 {
        numbers.push(next);
        next = match parts.next_if(|part| part.stub == id) {
            Some(part) => {
                assert_eq!(outline.nodes[id as usize].link, id + 1, "{shown:?}");
                is_alike(text, part, whole, next);
                whole.nodes[next as usize].link
            }
            None => next + 1,
        };
    }
    numbers.push(next);
    assert!(parts.next().is_none() && next as usize == whole.nodes.len(), "{shown:?}");
    for (node, number) in outline.nodes.iter().zip(&numbers) {
        let other = &whole.nodes[*number as usize];
        assert_eq!(about(node), about(other), "{shown:?}");
        if matches!(node.kind, Kind::Map | Kind::List) {
            assert_eq!(numbers[node.link as usize], other.link, "{shown:?}");
        }
    }
    let roots: Vec<u32> = outline.roots.iter().map(|root| numbers[*root as usize]).collect();
    assert_eq!(roots, whole.roots, "{shown:?}");
}

/// Checks that a part has the nodes and comments of a node of the whole text.
fn is_alike(text: Text<'_>, place: &Place, whole: &Document<'_>, first: u32) {
    let shown = text.slice(0..text.len());
    let part = reread(text, place);
    let nodes = &whole.nodes[first as usize..whole.nodes[first as usize].link as usize];
    assert_eq!((part.nodes.len(), place.nodes as usize), (nodes.len() + 1, nodes.len() - 1), "{shown:?}");
    let decoded = |doc: &Document<'_>, link: u32| {
        doc.decoded.get(link as usize).map(|(start, end)| doc.buffer[*start as usize..*end as usize].to_owned())
    };
    for (node, other) in part.nodes[1..].iter().zip(nodes) {
        assert_eq!(about(node), about(other), "{shown:?}");
        match node.kind {
            Kind::Map | Kind::List => assert_eq!(node.link - 1, other.link - first, "{shown:?}"),
            Kind::Scalar => {
                assert_eq!(node.link == NONE, other.link == NONE, "{shown:?}");
                assert_eq!(decoded(&part, node.link), decoded(whole, other.link), "{shown:?}");
            }
            Kind::Alias => panic!("{shown:?}"),
        }
    }
    let ids = first..first + nodes.len() as u32;
    let nulls: Vec<u32> = whole.nulls.iter().filter(|id| ids.contains(id)).map(|id| id - first + 1).collect();
    let blocks = whole.blocks.iter().filter(|(id, _)| ids.contains(id)).map(|(id, indent)| (id - first + 1, *indent));
    assert_eq!((part.nulls, part.blocks), (nulls, blocks.collect()), "{shown:?}");
    let (start, end) = (nodes[0].start, place.lines().end as u32);
    let comments: Vec<_> = whole.comments.iter().filter(|(at, _)| (start..end).contains(at)).copied().collect();
    assert!(part.comments.ends_with(&comments), "{shown:?}");
    assert!(part.comments.iter().all(|comment| whole.comments.contains(comment)), "{shown:?}");
    assert!(part.roots.is_empty() && part.props.is_empty() && part.aliases.is_empty(), "{shown:?}");
    assert_eq!((part.may_have_questions, part.line_break), (false, whole.line_break), "{shown:?}");
}

/// What a node says without its number.
fn about(node: &Node) -> (u32, u32, Kind, super::Style, bool) {
    (node.start, node.end, node.kind, node.style, node.has_props)
}
