//! The check that both readers build the same arena of a text. Only the tests next to it and the fuzzer use it; no build for users has it.

use super::parse;
use crate::node::Document;
use crate::parse::library;

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
        fields_in_long_lists,
        line_starts,
        decoded,
        blocks,
        buffer,
        has_merges,
        // A merge sets it later.
        links: _,
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
    assert!(fields_in_long_lists.get().is_none() && library.fields_in_long_lists.get().is_none());
    assert!(line_starts.get().is_none() && library.line_starts.get().is_none());
    true
}
