//! YAML documents as a tree of byte spans over the user's own text.
//!
//! Nothing here prints a document: a [`Document`] only says where each node and each comment is, what a scalar means, and whether two nodes
//! mean the same. The text stays the single truth, so unedited text cannot change. `granit-parser` supplies the events. The tree, the
//! typing of scalars and the corrections of wrong events are ours, because no library keeps spans, comments and go-yaml's typing at once.
//!
//! ```
//! use krm_yaml::{Document, Edit, TextEdits};
//!
//! let text = "image:   web:1   # pinned\n";
//! let document = Document::parse(text)?;
//! let image = document.roots().next().and_then(|root| root.get("image")).expect("an image");
//! let edits = TextEdits::from(Edit { range: image.start()..image.end(), text: "web:2".to_owned() });
//! assert_eq!(edits.apply(text, 0..text.len()), "image:   web:2   # pinned\n");
//! # Ok::<(), krm_yaml::Error>(())
//! ```
//!
//! An [`Error`] shows the line that is wrong. So what misleads a reader ([`shown`]) and what may be secret ([`secret`]) is known here, too.
//! Nothing here knows a merge: that a text is of Kubernetes shows only in what may be secret.
//!
//! The modules in reading order, from the whole down to the bytes:

mod read;

mod fast;
mod parse;

mod node;
mod same;
mod unresolved;
mod written_child;

mod place;
mod text_parts;

mod edits;
mod quote;

mod block_scalar;
mod scalar;

pub mod secret;
pub mod template;

mod error;
mod foreign_anchor;
mod foreign_break;
mod source_lines;

mod blank;
mod chunk;
mod encoding;
pub mod hashed;
mod line;

pub use blank::{is_blank, trim, trim_end, trim_start};
pub use block_scalar::{BlockScalar, Chomping};
pub use edits::{Edit, Edited, Overlap, TextEdits};
pub use encoding::utf_16_or_32;
pub use error::{Error, Position};
#[cfg(fuzzing)]
pub use fast::agreement::is_taken as is_taken_by_the_fast_reader;
pub use krm_names::shown;
pub use line::{
    LineStarts, byte_order_mark, ends_line, line_end, line_start, lines, next_line, same_lines, split_after_feeds,
    starts_line, whole_lines, without_break,
};
pub use node::{Document, Kind, NodeRef, Style};
pub use place::{
    Place, below, below_all, can_end_with_comments, comment_of, comment_place, comment_text, comments_above,
    comments_at_end, comments_below, extent, foot, gap_above, gap_from, holds_no_value, is_in_rows, is_item,
    opening_place, same_comment, same_words,
};
pub use quote::{Context, fits_flow, needs_escapes, plain_or_quoted, quoted_json, scalar as quoted};
pub use read::parsed;
pub use same::{are_written_alike, same};
pub use scalar::{Number, Scalar, is_canonical};
pub use source_lines::{SourceLines, has_source_lines};
pub use text_parts::{DocumentParts, TextParts, below_header};
pub use unresolved::RESOLVE;
pub use written_child::WrittenChild;
