//! The text of a merge in parts: what is the same whoever wins, and what someone has to choose.
//!
//! Whoever wins, the merge is edits of our text. Where these are the same, so is the text; the lines in which they differ are what is chosen.
//! So either half is a side's whole, and no line counts as a conflict that none lies in.

use std::ops::Range;

use krm_merge::edits::{Edit, TextEdits};
use krm_merge::sides::Sides;
use krm_merge::yaml::next_line;
use similar::{Algorithm, DiffOp, capture_diff_slices};

/// A part of a text.
#[derive(Debug, PartialEq, Eq)]
pub enum Part {
    /// It is the same whoever wins.
    Same(String),
    /// Someone has to choose.
    Choice(Choice),
}

/// The lines between which someone has to choose.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Choice {
    /// Of each side.
    pub texts: Sides<String>,
    /// How much of them is chosen at once.
    pub grain: Grain,
}

/// How much is chosen at once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Grain {
    /// All of it.
    #[default]
    Whole,
    /// Each run of lines, as in a text.
    Lines,
}

impl Part {
    /// What is no choice where ours and theirs say the same.
    pub fn of(choice: Choice) -> Self {
        if choice.texts.dest == choice.texts.updated { Self::Same(choice.texts.dest) } else { Self::Choice(choice) }
    }
}

/// The lines of a place in conflict in our text.
#[derive(Clone, Debug)]
pub struct Lines {
    /// The bytes.
    pub range: Range<usize>,
    /// How much of them is chosen at once.
    pub grain: Grain,
}

/// A range of our text as edits change it, which are sorted by their places; where they differ, someone has to choose.
pub fn parts(text: &str, range: Range<usize>, edits: &Sides<Vec<Edit>>, places: &[Lines]) -> Vec<Part> {
    let mut parts = Vec::new();
    let regions = regions(text, edits, places);
    let mut at = range.start;
    for region in &regions {
        parts.push(Part::Same(between(text, at..region.start, &edits.dest, &regions)));
        let is_in_text = |place: &&Lines| place.range.start <= region.start && region.end <= place.range.end;
        let grain = places.iter().find(is_in_text).map_or(Grain::Whole, |place| place.grain);
        let within = |edits: &Vec<Edit>| {
            let own = edits.iter().filter(|edit| touches(text, edit, region)).cloned().collect();
            applied(text, region.clone(), own)
        };
        let texts = Sides::of(|side| within(&edits[side]));
        parts.push(Part::of(Choice { texts, grain }));
        at = region.end;
    }
    parts.push(Part::Same(between(text, at..range.end, &edits.dest, &regions)));
    parts
}

/// The text between two regions.
fn between(text: &str, range: Range<usize>, edits: &[Edit], regions: &[Range<usize>]) -> String {
    let is_free = |edit: &&Edit| {
        range.start <= edit.range.start
            && edit.range.end <= range.end
            && regions.iter().all(|region| !touches(text, edit, region))
    };
    applied(text, range.clone(), edits.iter().filter(is_free).cloned().collect())
}

/// A range of the text with edits carried out, which are disjoint.
fn applied(text: &str, range: Range<usize>, edits: Vec<Edit>) -> String {
    TextEdits::of(edits).unwrap_or_default().apply(text, range)
}

/// The lines of our text in which edits differ, sorted and disjoint. An empty one lies between two lines.
fn regions(text: &str, edits: &Sides<Vec<Edit>>, places: &[Lines]) -> Vec<Range<usize>> {
    let around = |edit: &Edit| {
        let lines = lines_of(text, edit);
        let within = |place: &&Lines| overlaps(&lines, &place.range) && lines.end <= place.range.end;
        places.iter().find(within).map_or(lines.clone(), |place| place.range.clone())
    };
    let mut all: Vec<Range<usize>> = differing(&edits.dest, &edits.updated).into_iter().map(around).collect();
    loop {
        all = joined(text, all);
        let mut grown = all.clone();
        for edit in [&edits.original, &edits.updated, &edits.dest].into_iter().flatten() {
            let lines = lines_of(text, edit);
            for region in grown.iter_mut().filter(|region| overlaps(&lines, region)) {
                *region = region.start.min(lines.start)..region.end.max(lines.end);
            }
        }
        if grown == all {
            return all;
        }
        all = grown;
    }
}

/// The edits that only one of two lists has.
fn differing<'e>(ours: &'e [Edit], theirs: &'e [Edit]) -> Vec<&'e Edit> {
    let key = |edits: &'e [Edit]| edits.iter().map(|e| (e.range.start, e.range.end, &*e.text)).collect::<Vec<_>>();
    let mut out = Vec::new();
    for op in capture_diff_slices(Algorithm::Myers, &key(ours), &key(theirs)) {
        if !matches!(op, DiffOp::Equal { .. }) {
            out.extend(&ours[op.old_range()]);
            out.extend(&theirs[op.new_range()]);
        }
    }
    out
}

/// Ranges of lines as disjoint ones in their order. Blank lines go with what stands above them.
fn joined(text: &str, mut all: Vec<Range<usize>>) -> Vec<Range<usize>> {
    all.sort_by_key(|range| (range.start, range.end));
    let mut out: Vec<Range<usize>> = Vec::new();
    for range in all {
        match out.last_mut() {
            Some(last) if overlaps(last, &range) => last.end = last.end.max(range.end),
            Some(last) if last.end == range.start && !range.is_empty() && text[range.clone()].trim().is_empty() => {
                last.end = range.end;
            }
            _ => out.push(range),
        }
    }
    out
}

/// The lines that an edit changes: empty where it only adds whole lines.
fn lines_of(text: &str, edit: &Edit) -> Range<usize> {
    let Range { start, end } = edit.range;
    let is_start = |at: usize| at == 0 || text[..at].ends_with('\n');
    if is_start(start) && is_start(end) && (edit.text.is_empty() || edit.text.ends_with('\n')) {
        return edit.range.clone();
    }
    let first = text[..start].rfind('\n').map_or(0, |at| at + 1);
    first..if is_start(end) && end > start { end } else { next_line(text, end) }
}

/// Whether two ranges are one, or have more in common than an edge. What is inserted where a range begins belongs to it.
fn overlaps(one: &Range<usize>, other: &Range<usize>) -> bool {
    let begins = |empty: &Range<usize>, other: &Range<usize>| empty.is_empty() && other.contains(&empty.start);
    one == other || (one.start < other.end && other.start < one.end) || begins(one, other) || begins(other, one)
}

/// Whether an edit belongs to a region.
fn touches(text: &str, edit: &Edit, region: &Range<usize>) -> bool {
    overlaps(&lines_of(text, edit), region)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "a: 1\nb: 1\nc: 1\n";

    /// The parts of the text, of which ours and theirs are edited so; choices as `ours|theirs`.
    fn parts_of(
        ours: &[(Range<usize>, &str)],
        theirs: &[(Range<usize>, &str)],
        places: &[Range<usize>],
    ) -> Vec<String> {
        let edits = |edits: &[(Range<usize>, &str)]| {
            edits
                .iter()
                .map(|(range, text)| Edit { range: range.clone(), text: (*text).to_owned() })
                .collect::<Vec<_>>()
        };
        let edits = Sides { original: Vec::new(), updated: edits(theirs), dest: edits(ours) };
        let places: Vec<Lines> = places.iter().map(|r| Lines { range: r.clone(), grain: Grain::Whole }).collect();
        let shown = |part| match part {
            Part::Same(text) => text,
            Part::Choice(Choice { texts, .. }) => format!("{}|{}", texts.dest, texts.updated),
        };
        parts(TEXT, 0..TEXT.len(), &edits, &places).into_iter().map(shown).filter(|part| !part.is_empty()).collect()
    }

    #[test]
    fn the_lines_are_chosen_in_which_edits_differ() {
        assert_eq!(parts_of(&[], &[], &[]), [TEXT]);
        assert_eq!(parts_of(&[(8..9, "2")], &[(8..9, "2")], &[]), ["a: 1\nb: 2\nc: 1\n"]);
        assert_eq!(parts_of(&[(3..4, "2")], &[(3..4, "2"), (8..9, "3")], &[]), ["a: 2\n", "b: 1\n|b: 3\n", "c: 1\n"]);
        // Each for itself: what goes, and what comes behind it.
        let want = ["a: 1\n", "b: 1\n|", "|n: 1\n", "c: 1\n"];
        assert_eq!(parts_of(&[], &[(5..10, ""), (10..10, "n: 1\n")], &[]), want);
    }

    #[test]
    fn a_place_is_chosen_whole() {
        let want = ["a: 1\n", "b: 1\nc: 1\n|b: 2\nc: 2\n"];
        assert_eq!(parts_of(&[], &[(8..9, "2"), (13..14, "2")], std::slice::from_ref(&(5..15))), want);
        let want = ["a: 1\n", "b: 1\n|# b\nb: 2\n", "c: 1\n"];
        assert_eq!(parts_of(&[], &[(5..5, "# b\n"), (8..9, "2")], std::slice::from_ref(&(5..10))), want);
    }
}
