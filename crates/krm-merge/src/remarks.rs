//! The comments that belong to a child of a map or list, as they are written.

use crate::tree::Comments;
use crate::yaml::{NodeRef, Place, Style, comment_text, comments_above, comments_below};

/// The comments of a child. A text is empty if there is no comment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Remarks<'a> {
    /// The comment lines above it.
    pub above: &'a str,
    /// The comment on its line.
    pub behind: &'a str,
    /// The comment lines at the end of its block; `None` if its value is no block, and has no place for them.
    pub below: Option<&'a str>,
}

impl<'a> Remarks<'a> {
    /// The comments of the child at a place.
    pub fn at(place: &Place, value: NodeRef<'a>) -> Self {
        let behind = comment_text(place, value).unwrap_or_default();
        let below = (value.style() == Style::Block).then(|| comments_below(place, value));
        Self { above: comments_above(place, value.document()), behind, below }
    }

    /// The comments of an element of this list.
    pub fn of_element(list: NodeRef<'_>, element: NodeRef<'a>) -> Self {
        Self::at(&Place::of_element(list, element), element)
    }

    /// The comments that a child gets along with its value. Those at the end of its block are a part of the value.
    pub fn along_with_value(self) -> Comments<'a> {
        Comments { above: Some(self.above), behind: Some(self.behind), ..Comments::default() }
    }

    /// The comments of a field, or of an element of a list; none for a root.
    pub fn of((key, value): (Option<NodeRef<'a>>, NodeRef<'a>)) -> Self {
        let place = key.map_or_else(|| Place::behind_dash(value), |key| Some(Place::of_entry(key, value)));
        place.map(|place| Self::at(&place, value)).unwrap_or_default()
    }
}
