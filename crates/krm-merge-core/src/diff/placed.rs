//! [`Placed`]: a child of a map or list at its place in the text, and whether two have the same lines.

use std::ops::Range;

use krm_tree::sides::Sides;
use krm_yaml::{BlockScalar, Kind, NodeRef, Place, same_lines};

use crate::matched::{Matched, Row};

/// The value of a child, and the place of the child.
pub(super) type Placed<'a> = (Place, NodeRef<'a>);

/// A child on each side that has it.
pub(super) fn placed<'a>(matched: &Matched<'a>, row: &Row<'a>) -> Sides<Option<Placed<'a>>> {
    Sides::of(|side| {
        let child = row.on[side]?;
        Some((matched.place(side, child)?, child.value()))
    })
}

/// Whether the lines of updated fit into dest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LinesFit {
    /// What is around is in the same column in both.
    SameColumns,
    /// Something around is in another column, so the lines of updated do not fit. A child may be in the column that it has in dest, but only
    /// by chance.
    OtherColumns,
    /// The text is that of an anchor: an alias or a `<<` brings it in.
    Elsewhere,
}

impl LinesFit {
    pub fn of(dest: Option<NodeRef<'_>>, updated: NodeRef<'_>) -> Self {
        match dest {
            Some(dest) if dest.column() != updated.column() => Self::OtherColumns,
            _ => Self::SameColumns,
        }
    }

    /// The fit of what is in a child that dest and updated have at these places.
    pub fn below(self, dest: Option<Placed<'_>>, updated: Option<Placed<'_>>) -> Self {
        let is_alias = |side: Option<Placed<'_>>| side.is_some_and(|(_, value)| value.kind() == Kind::Alias);
        match dest.zip(updated) {
            _ if self == Self::Elsewhere || is_alias(dest) || is_alias(updated) => Self::Elsewhere,
            Some((dest, updated)) if !in_same_column(dest, updated) => Self::OtherColumns,
            _ => self,
        }
    }
}

fn in_same_column(a: Placed<'_>, b: Placed<'_>) -> bool {
    a.0.column(a.1.document()) == b.0.column(b.1.document())
}

/// Whether dest left a child alone that upstream changed, so that dest takes upstream's text, layout and comments. An anchor or alias may
/// mean something else elsewhere, and what comes after a block scalar may become a part of it; children with these are compared inside. So are children that are in dest's column by chance: the first run writes what is around them in dest's layout,
/// and a second run must not take theirs.
pub(super) fn is_left_alone(
    original: Option<Placed<'_>>,
    dest: Option<Placed<'_>>,
    updated: Placed<'_>,
    around: LinesFit,
) -> bool {
    let (Some(original), Some(dest)) = (original, dest) else { return false };
    let has_no_lines = match around {
        LinesFit::SameColumns => false,
        LinesFit::OtherColumns => in_same_column(dest, updated),
        LinesFit::Elsewhere => true,
    };
    let is_linked = || updated.1.document().has_props_in(lines_of(updated));
    let is_open = || [dest.1, updated.1].into_iter().any(BlockScalar::keeps_lines_below);
    !has_no_lines && !is_linked() && lines_of_same(original, dest).is_some() && !is_open()
}

/// The lines of a child with the comments above it, or its text if it shares its line with other children.
fn lines_of((place, value): Placed<'_>) -> Range<usize> {
    let doc = value.document();
    place.lines(doc, 0).unwrap_or_else(|| place.lead..place.bottom(doc))
}

/// The lines of two children, if they are the same, comments included, and mean the same. It makes no difference whether a child is on the
/// line of a dash. An anchor, alias or tag in them may mean something else elsewhere.
pub(super) fn lines_of_same(a: Placed<'_>, b: Placed<'_>) -> Option<[Range<usize>; 2]> {
    if !may_be_same(a.1, b.1) || !in_same_column(a, b) {
        return None;
    }
    let (doc, other) = (a.1.document(), b.1.document());
    let (range, other_range) = (lines_of(a), lines_of(b));
    let (mut lines, mut others) = (&doc.source()[range.clone()], &other.source()[other_range.clone()]);
    // A child on the line of a dash has no blanks before it. In the first column, none has.
    if (range.start == a.0.lead) != (other_range.start == b.0.lead) {
        (lines, others) = (lines.trim_start_matches(' '), others.trim_start_matches(' '));
    }
    // The last line of a text may lack its line break.
    let is_last = || range.end == doc.source().len() || other_range.end == other.source().len();
    let may_differ = || doc.line_break() != other.line_break() || is_last();
    let are_cut_off = || BlockScalar::is_cut_off(a.1) || BlockScalar::is_cut_off(b.1);
    let is_same = (lines == others || may_differ() && same_lines(lines, others) && !are_cut_off())
        && !doc.has_props_in(range.clone())
        && !other.has_props_in(other_range.clone());
    is_same.then_some([range, other_range])
}

/// Whether two values may have the same lines: a check that costs nothing.
fn may_be_same(a: NodeRef<'_>, b: NodeRef<'_>) -> bool {
    a.text().len() == b.text().len() || a.document().line_break() != b.document().line_break()
}
