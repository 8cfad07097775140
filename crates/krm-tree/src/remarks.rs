//! The comments that belong to a child of a map or list, as they are written.

use krm_yaml::{
    Document, NodeRef, Place, Style, comment_text, comments_above, comments_below, gap_above, opening_place,
};

use crate::slots::Slots;
use crate::tree::Comments;

/// The comments in the slots of a child: see [`Slots`]. A text is empty if there is no comment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Remarks<'a> {
    /// Every child has a place for these lines.
    pub above: &'a str,
    /// Every child has a place for this comment.
    pub behind: &'a str,
    /// `None` for a scalar, which has no place for them.
    pub below: Option<&'a str>,
    /// `None` if there is no place for it.
    pub opening: Option<&'a str>,
}

impl<'a> Remarks<'a> {
    /// The comments of the child at a place.
    pub fn at(place: &Place, value: NodeRef<'a>) -> Self {
        let behind = comment_text(place, value).unwrap_or_default();
        let below = matches!(value.style(), Style::Block | Style::Flow).then(|| comments_below(place, value));
        let doc = value.document();
        let opening =
            opening_place(value).map(|at| doc.comment_behind(at).map_or("", |(from, to)| &doc.source()[from..to]));
        Self { above: comments_above(place, doc), behind, below, opening }
    }

    /// The comments, where the child has a place for them. Comments in the gap belong to no child.
    pub fn slots(self) -> Slots<Option<&'a str>> {
        let Self { above, behind, below, opening } = self;
        Slots { gap: None, above: Some(above), behind: Some(behind), below, opening }
    }

    /// The comments of an element of this list.
    pub fn of_element(list: NodeRef<'_>, element: NodeRef<'a>) -> Self {
        Self::at(&Place::of_element(list, element), element)
    }

    /// The comments that a child gets along with its value. Those at the end of its block are a part of the value. A comment that stands in
    /// the gap above the child that it replaces is not written a second time.
    pub fn along_with_value(self, gap: &str) -> Comments<'a> {
        let above = Some(self.above).filter(|above| !stands_in(above, gap));
        Comments { above, behind: Some(self.behind), ..Comments::default() }
    }

    /// The comments of a field, or of an element of a list; none for a root.
    pub fn of((key, value): (Option<NodeRef<'a>>, NodeRef<'a>)) -> Self {
        let place = key.map_or_else(|| Place::of_any_element(value), |key| Some(Place::of_entry(key, value)));
        place.map(|place| Self::at(&place, value)).unwrap_or_default()
    }
}

/// What is above a child and belongs to no child.
pub fn gap_of<'a>(place: &Place, doc: &'a Document<'_>) -> &'a str {
    gap_above(place, doc).map_or("", |gap| &doc.source()[gap])
}

/// Whether a gap has all lines of a comment.
pub fn stands_in(comment: &str, gap: &str) -> bool {
    !comment.is_empty() && comment.lines().all(|line| gap.lines().any(|other| other.trim() == line.trim()))
}
