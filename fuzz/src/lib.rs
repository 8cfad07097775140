//! What each fuzz target checks: one function for each target, which takes any bytes and panics at a fault.
//!
//! libfuzzer calls them by the files in `fuzz_targets/`, and `tests/fuzz_corpus.rs` of the repository calls them with the seeds of
//! `corpus/`. The shapes of texts, and what a merge means, are those of the laws in `tests/support/`.

pub mod bytes;
pub mod diff;
pub mod merge;
pub mod parse;
pub mod stdin;

#[path = "../../tests/support/alias.rs"]
pub mod alias;
#[path = "../../tests/support/blanked.rs"]
pub mod blanked;
#[path = "../../tests/support/reference.rs"]
pub mod reference;
#[path = "../../tests/support/render.rs"]
pub mod render;
#[path = "../../tests/support/texts.rs"]
pub mod texts;
