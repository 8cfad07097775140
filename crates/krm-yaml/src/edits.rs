//! [`TextEdits`]: changes of a text, disjoint and in the order of the text.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

/// A piece of a text and its replacement.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Edit {
    /// The bytes to remove; empty for an insertion.
    pub range: Range<usize>,
    /// The new text.
    pub text: String,
}

impl Edit {
    /// Whether it changes only bytes that the other edit removes.
    fn lies_in(&self, other: &Self) -> bool {
        !self.range.is_empty() && other.range.start <= self.range.start && self.range.end <= other.range.end
    }

    /// Whether the other edit does all that this one does: it is the same edit, or removes these bytes as well.
    pub fn is_done_by(&self, other: &Self) -> bool {
        self.lies_in(other) && (self.text.is_empty() || self == other)
    }
}

/// Changes of one text. They are disjoint, and in the order of the text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TextEdits(Vec<Edit>);

/// Two edits that cannot both be made: they change the same bytes, and neither removes everything that the other changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Overlap {
    /// The bytes of the first edit.
    pub first: Range<usize>,
    /// The bytes of the second edit.
    pub second: Range<usize>,
}

impl fmt::Display for Overlap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { first, second } = self;
        write!(f, "edits of a text must be disjoint, but bytes {first:?} and {second:?} overlap")
    }
}

impl std::error::Error for Overlap {}

impl From<Edit> for TextEdits {
    fn from(edit: Edit) -> Self {
        Self(vec![edit])
    }
}

impl TextEdits {
    /// These edits, in any order. Insertions at one place stay in their order. An edit that removes bytes that another one removes or replaces
    /// is dropped.
    ///
    /// # Errors
    /// Edits that overlap in any other way.
    ///
    /// # Examples
    /// ```
    /// use krm_yaml::{Edit, TextEdits};
    ///
    /// let edit = |range, text: &str| Edit { range, text: text.to_owned() };
    /// let edits = TextEdits::of(vec![edit(4..5, "c"), edit(0..1, "A")])?;
    /// assert_eq!(edits.apply("a b d", 0..5), "A b c");
    /// assert!(TextEdits::of(vec![edit(0..3, ""), edit(2..5, "")]).is_err());
    /// # Ok::<(), krm_yaml::Overlap>(())
    /// ```
    pub fn of(mut edits: Vec<Edit>) -> Result<Self, Overlap> {
        edits.sort_by_key(|e| (e.range.start, e.range.end));
        let mut out: Vec<Edit> = Vec::with_capacity(edits.len());
        for edit in edits {
            match out.last() {
                Some(last) if edit.is_done_by(last) => continue,
                Some(last) if last.is_done_by(&edit) => {
                    out.pop();
                }
                Some(last) if edit.range.start < last.range.end => {
                    return Err(Overlap { first: last.range.clone(), second: edit.range });
                }
                _ => {}
            }
            out.push(edit);
        }
        Ok(Self(out))
    }

    /// Edits of disjoint ranges in the order of the text, as the caller knows.
    pub fn sorted(edits: Vec<Edit>) -> Self {
        debug_assert!(edits.windows(2).all(|pair| pair[0].range.end <= pair[1].range.start), "{edits:?}");
        Self(edits)
    }

    /// Edits that should be disjoint, in the order of the text.
    ///
    /// # Errors
    /// Two of them overlap.
    pub fn in_order(edits: Vec<Edit>) -> Result<Self, Overlap> {
        match edits.windows(2).find(|pair| pair[0].range.end > pair[1].range.start) {
            Some(pair) => Err(Overlap { first: pair[0].range.clone(), second: pair[1].range.clone() }),
            None => Ok(Self(edits)),
        }
    }

    /// Adds other edits of the same text.
    ///
    /// # Errors
    /// Same as [`TextEdits::of`].
    pub fn union(self, others: impl IntoIterator<Item = Self>) -> Result<Self, Overlap> {
        Self::of(self.0.into_iter().chain(others.into_iter().flat_map(|edits| edits.0)).collect())
    }

    /// The edits themselves, in the order of the text.
    pub fn into_vec(self) -> Vec<Edit> {
        self.0
    }

    /// Whether there are no edits.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The edits, in the order of the text.
    pub fn iter(&self) -> impl Iterator<Item = &Edit> {
        self.0.iter()
    }

    /// Whether an edit changes a range, or is at one of its ends.
    pub fn touch(&self, range: &Range<usize>) -> bool {
        let first = self.0.partition_point(|edit| edit.range.end < range.start);
        self.0.get(first).is_some_and(|edit| edit.range.start <= range.end)
    }

    /// The edits that begin at an offset or after it.
    fn from(&self, start: usize) -> &[Edit] {
        &self.0[self.0.partition_point(|edit| edit.range.start < start)..]
    }

    /// Whether one edit replaces all of a range.
    pub fn cover(&self, range: &Range<usize>) -> bool {
        let before = self.0.partition_point(|edit| edit.range.start <= range.start);
        self.0[..before].last().is_some_and(|edit| range.end <= edit.range.end)
    }

    /// A range of the text with the edits inside it applied. Edits of another text, which do not fit this one, are left out.
    pub fn apply(&self, text: &str, range: Range<usize>) -> String {
        applied(self.from(range.start), text, range)
    }

    /// The same without what is inserted at the start of the range: that belongs to what is before it.
    pub fn apply_behind_start(&self, text: &str, range: Range<usize>) -> String {
        let edits = self.from(range.start);
        let inserted = edits.partition_point(|edit| edit.range.end <= range.start);
        applied(&edits[inserted..], text, range)
    }
}

fn applied(edits: &[Edit], text: &str, range: Range<usize>) -> String {
    let mut out = String::with_capacity(pieces(edits, text, range.clone()).map(str::len).sum());
    out.extend(pieces(edits, text, range));
    out
}

/// The pieces of a range of a text with edits, none of which begins before it: slices of the text and new text, in turn.
fn pieces<'t>(edits: &'t [Edit], text: &'t str, range: Range<usize>) -> impl Iterator<Item = &'t str> {
    let Range { start, end } = range;
    let mut at = start;
    let fits = move |edit: &&Edit| edit.range.end <= end && text.get(edit.range.clone()).is_some();
    let edits = edits.iter().take_while(move |edit| edit.range.start <= end).filter(fits).map(Some).chain([None]);
    edits.flat_map(move |edit| match edit {
        Some(edit) => {
            let kept = text.get(at..edit.range.start).unwrap_or_default();
            at = edit.range.end;
            [kept, &edit.text]
        }
        None => [text.get(at..end).unwrap_or_default(), ""],
    })
}

/// A text and its edits, which are not applied yet. Its pieces can be written without a copy of the text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Edited<'t> {
    text: Cow<'t, str>,
    edits: TextEdits,
}

impl From<String> for Edited<'_> {
    fn from(text: String) -> Self {
        Self { text: text.into(), edits: TextEdits::default() }
    }
}

impl<'t> Edited<'t> {
    /// A text with these edits.
    ///
    /// # Examples
    /// ```
    /// use krm_yaml::{Edit, Edited, TextEdits};
    ///
    /// let edits = TextEdits::of(vec![Edit { range: 2..3, text: "B".to_owned() }])?;
    /// let edited = Edited::of("a b c", edits);
    /// assert_eq!(edited.pieces().collect::<Vec<_>>(), ["a ", "B", " c"]);
    /// assert_eq!(edited.into_text(), "a B c");
    /// # Ok::<(), krm_yaml::Overlap>(())
    /// ```
    pub fn of(text: &'t str, edits: TextEdits) -> Self {
        Self { text: text.into(), edits }
    }

    /// The pieces of the edited text, in order; none is empty.
    pub fn pieces(&self) -> impl Iterator<Item = &str> {
        pieces(&self.edits.0, &self.text, 0..self.text.len()).filter(|piece| !piece.is_empty())
    }

    /// The edited text.
    pub fn into_text(self) -> String {
        if self.edits.is_empty() { self.text.into_owned() } else { self.edits.apply(&self.text, 0..self.text.len()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edits_that_overlap_are_refused_unless_one_only_removes() {
        let edit = |range, text: &str| Edit { range, text: text.to_owned() };
        for (a, b, want) in [
            (edit(0..2, ""), edit(1..3, ""), None),
            (edit(0..3, "x"), edit(1..2, "y"), None),
            (edit(0..3, ""), edit(1..2, "y"), None),
            (edit(0..3, ""), edit(1..1, "y"), None),
            (edit(0..3, "x"), edit(1..2, ""), Some("xd")),
            (edit(0..3, "x"), edit(0..3, "x"), Some("xd")),
            (edit(0..3, "x"), edit(3..3, "y"), Some("xyd")),
            (edit(1..1, "x"), edit(1..1, "x"), Some("axxbcd")),
        ] {
            for edits in [vec![a.clone(), b.clone()], vec![b.clone(), a.clone()]] {
                let edits = TextEdits::of(edits).ok().map(|edits| edits.apply("abcd", 0..4));
                assert_eq!(edits.as_deref(), want, "{a:?} {b:?}");
            }
        }
    }

    #[test]
    fn an_edit_covers_what_it_replaces_and_touches_its_ends() {
        let edits = TextEdits::sorted(vec![Edit { range: 2..4, text: "x".to_owned() }]);
        for (range, covers, touches) in [
            (2..4, true, true),
            (2..3, true, true),
            (1..3, false, true),
            (3..5, false, true),
            (4..5, false, true),
            (5..6, false, false),
        ] {
            assert_eq!((edits.cover(&range), edits.touch(&range)), (covers, touches), "{range:?}");
        }
    }
}
