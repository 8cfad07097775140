//! Splits the text of a merge into parts: parts that are the same whichever side wins, and parts that a person must choose.
//!
//! For each side that may win, the merge is a list of edits of our text. Where the edits are the same, so is the text; the lines in which
//! they differ are the choices. So each half of a choice is one side's whole text, and a line is only part of a choice if a conflict
//! touches it.

use std::ops::Range;

use krm_tree::sides::{Side, Sides};
use krm_yaml::hashed::HashSet;
use krm_yaml::{Edit, LineStarts, Overlap, TextEdits, ends_line};

use crate::hunks::{Finer, refined};
use crate::part::{Choice, Grain, Part};

/// The lines of our text at a place in conflict.
#[derive(Clone, Debug)]
pub struct Lines<'a> {
    /// The range in bytes.
    pub range: Range<usize>,
    /// How much of the lines a person chooses at once.
    pub grain: Grain,
    /// Whether lines that only one side changed are left out of the choice.
    pub finer: Finer<'a>,
}

/// A text in parts.
#[derive(Debug, Default)]
pub struct Parted {
    /// The parts.
    pub parts: Vec<Part>,
    /// The lines of our text that a person must choose, sorted and disjoint.
    pub open: Vec<Range<usize>>,
}

impl Parted {
    /// Whether a person must choose in these lines of our text.
    pub fn is_open(&self, lines: &Range<usize>) -> bool {
        near(&self.open, lines).any(|at| overlaps(lines, &self.open[at]))
    }
}

/// Splits a range of our text into parts. `edits` has the edits of each side that may win, sorted by their places. Where they differ, a
/// person must choose.
///
/// # Errors
/// The edits of a side overlap, which is a fault of the merge.
pub fn parts(
    text: &str,
    range: Range<usize>,
    edits: &Sides<Vec<Edit>>,
    places: &[Lines<'_>],
) -> Result<Parted, Overlap> {
    let starts = LineStarts::of(text);
    let ruled = Sides::of(|side| Ruled::of(&starts, &edits[side]));
    let places = Places::of(places);
    let regions = regions(text, &ruled, &places);
    // Our edits that are outside of all regions, in their order.
    let is_free = |lines: &Range<usize>| !near(&regions, lines).any(|at| overlaps(lines, &regions[at]));
    let of_ours = ruled.dest.edits.iter().zip(&ruled.dest.lines);
    let free: Vec<&Edit> = of_ours.filter(|(_, lines)| is_free(lines)).map(|(edit, _)| edit).collect();
    let between = |range: Range<usize>| {
        let first = free.partition_point(|edit| edit.range.start < range.start);
        let own = free[first..].iter().take_while(|edit| edit.range.end <= range.end);
        applied(text, range.clone(), own.map(|edit| (*edit).clone()).collect())
    };
    let mut parted = Parted::default();
    let mut at = range.start;
    for region in &regions {
        parted.parts.push(Part::Same(between(at..region.start)?));
        let place = places.around(region);
        let of = |side: Side| applied(text, region.clone(), ruled[side].within(region));
        let texts = Sides { original: of(Side::Original)?, updated: of(Side::Updated)?, dest: of(Side::Dest)? };
        let choice = Choice { texts, grain: place.map_or(Grain::Whole, |place| place.grain) };
        let parts = refined(choice, place.map_or(&Finer::Never, |place| &place.finer));
        if parts.iter().any(|part| matches!(part, Part::Choice(_))) {
            parted.open.push(region.clone());
        }
        parted.parts.extend(parts);
        at = region.end;
    }
    parted.parts.push(Part::Same(between(at..range.end)?));
    Ok(parted)
}

/// Edits of our text, sorted by their places, each with the lines that it changes.
struct Ruled<'e> {
    edits: &'e [Edit],
    lines: Vec<Range<usize>>,
}

impl<'e> Ruled<'e> {
    fn of(starts: &LineStarts, edits: &'e [Edit]) -> Self {
        Self { edits, lines: edits.iter().map(|edit| lines_of(starts, edit)).collect() }
    }

    /// The edits that belong to a region.
    fn within(&self, region: &Range<usize>) -> Vec<Edit> {
        near(&self.lines, region)
            .filter(|at| overlaps(&self.lines[*at], region))
            .map(|at| self.edits[at].clone())
            .collect()
    }
}

/// The indices of the sorted ranges that may overlap `range`.
fn near(sorted: &[Range<usize>], range: &Range<usize>) -> Range<usize> {
    let first = sorted.partition_point(|other| other.end < range.start);
    first..first + sorted[first..].partition_point(|other| other.start <= range.end)
}

/// The places in conflict without duplicates, sorted by their start.
struct Places<'p> {
    /// The places, each with its number in the unsorted list.
    sorted: Vec<(usize, &'p Lines<'p>)>,
    /// For each place, the end of the range that reaches farthest among it and all places before it.
    reach: Vec<usize>,
}

impl<'p> Places<'p> {
    fn of(places: &'p [Lines<'p>]) -> Self {
        let mut sorted: Vec<(usize, &Lines<'p>)> = places.iter().enumerate().collect();
        sorted.sort_by_key(|(_, place)| (place.range.start, place.range.end));
        sorted.dedup_by(|b, a| a.1.range == b.1.range);
        let reach = sorted.iter().scan(0, |reach, (_, place)| {
            *reach = place.range.end.max(*reach);
            Some(*reach)
        });
        Self { reach: reach.collect(), sorted }
    }

    /// The place with the lowest number for which `is_meant` holds, among the places that touch a range.
    fn first(&self, range: &Range<usize>, is_meant: impl Fn(&Lines<'p>) -> bool) -> Option<&'p Lines<'p>> {
        let end = self.sorted.partition_point(|(_, place)| place.range.start <= range.end);
        let touching = (0..end).rev().take_while(|at| self.reach[*at] >= range.start);
        let meant = touching.map(|at| self.sorted[at]).filter(|(_, place)| is_meant(place));
        meant.min_by_key(|(number, _)| *number).map(|(_, place)| place)
    }

    /// The place that contains a region.
    fn around(&self, region: &Range<usize>) -> Option<&'p Lines<'p>> {
        self.first(region, |place| place.range.start <= region.start && region.end <= place.range.end)
    }
}

/// A range of the text with these edits made.
fn applied(text: &str, range: Range<usize>, edits: Vec<Edit>) -> Result<String, Overlap> {
    Ok(TextEdits::of(edits)?.apply(text, range))
}

/// The lines of our text in which the edits of the sides differ, sorted and disjoint. An empty range is between two lines.
fn regions(text: &str, edits: &Sides<Ruled<'_>>, places: &Places<'_>) -> Vec<Range<usize>> {
    let around = |lines: &Range<usize>| {
        let place = places.first(lines, |place| overlaps(lines, &place.range) && lines.end <= place.range.end);
        place.map_or(lines.clone(), |place| place.range.clone())
    };
    let differing = differing(&edits.dest, &edits.updated).into_iter().map(|lines| (around(lines), true));
    let others = edits.iter().flat_map(|(_, side)| side.lines.iter().map(|lines| (lines.clone(), false)));
    joined(text, differing.chain(others).collect())
}

/// The lines of the edits that only one of two lists has. At one place, edits are the same if they have the same number there, too.
fn differing<'e>(ours: &'e Ruled<'_>, theirs: &'e Ruled<'_>) -> Vec<&'e Range<usize>> {
    let numbered = |side: &'e Ruled<'_>| {
        let at_one_place = side.edits.chunk_by(|a, b| a.range == b.range);
        at_one_place.flat_map(|edits| edits.iter().enumerate())
    };
    let [in_ours, in_theirs] = [ours, theirs].map(|side| numbered(side).collect::<HashSet<(usize, &Edit)>>());
    let of_one = |side: &'e Ruled<'_>, others: HashSet<(usize, &'e Edit)>| {
        numbered(side).zip(&side.lines).filter(move |(edit, _)| !others.contains(edit)).map(|(_, lines)| lines)
    };
    of_one(ours, in_theirs).chain(of_one(theirs, in_ours)).collect()
}

/// Ranges of lines in which edits differ, each with `true`, and sorted: with all others that they overlap, and the ones that these overlap. Blank
/// lines belong to the range above them.
fn joined(text: &str, mut all: Vec<(Range<usize>, bool)>) -> Vec<Range<usize>> {
    all.sort_by_key(|(range, _)| (range.start, range.end));
    let mut overlapping: Vec<(Range<usize>, bool)> = Vec::new();
    for (range, differs) in all {
        match overlapping.last_mut() {
            Some((last, any)) if overlaps(last, &range) => {
                last.end = last.end.max(range.end);
                *any |= differs;
            }
            _ => overlapping.push((range, differs)),
        }
    }
    let mut out: Vec<Range<usize>> = Vec::new();
    for (range, _) in overlapping.into_iter().filter(|(_, differs)| *differs) {
        match out.last_mut() {
            Some(last) if last.end == range.start && !range.is_empty() && text[range.clone()].trim().is_empty() => {
                last.end = range.end;
            }
            _ => out.push(range),
        }
    }
    out
}

/// The lines that an edit changes; an empty range if the edit only adds whole lines.
fn lines_of(starts: &LineStarts, edit: &Edit) -> Range<usize> {
    let Range { start, end } = edit.range;
    let is_start = |at: usize| starts.starts_line(at);
    if is_start(start) && is_start(end) && (edit.text.is_empty() || ends_line(&edit.text)) {
        return edit.range.clone();
    }
    starts.line_start(start)..if is_start(end) && end > start { end } else { starts.next_line(end) }
}

/// Whether two ranges are equal, or share more than an edge. An insertion at the start of a range belongs to it.
fn overlaps(one: &Range<usize>, other: &Range<usize>) -> bool {
    let begins = |empty: &Range<usize>, other: &Range<usize>| empty.is_empty() && other.contains(&empty.start);
    one == other || (one.start < other.end && other.start < one.end) || begins(one, other) || begins(other, one)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "a: 1\nb: 1\nc: 1\n";

    /// The parts of the text for these edits of ours and theirs; choices as `ours|theirs`.
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
        let places: Vec<Lines<'_>> =
            places.iter().map(|r| Lines { range: r.clone(), grain: Grain::Whole, finer: Finer::Never }).collect();
        let shown = |part| match part {
            Part::Same(text) => text,
            Part::Choice(Choice { texts, .. }) => format!("{}|{}", texts.dest, texts.updated),
        };
        parts(TEXT, 0..TEXT.len(), &edits, &places)
            .expect("disjoint")
            .parts
            .into_iter()
            .map(shown)
            .filter(|part| !part.is_empty())
            .collect()
    }

    #[test]
    fn the_lines_are_chosen_in_which_edits_differ() {
        assert_eq!(parts_of(&[], &[], &[]), [TEXT]);
        assert_eq!(parts_of(&[(8..9, "2")], &[(8..9, "2")], &[]), ["a: 1\nb: 2\nc: 1\n"]);
        assert_eq!(parts_of(&[(3..4, "2")], &[(3..4, "2"), (8..9, "3")], &[]), ["a: 2\n", "b: 1\n|b: 3\n", "c: 1\n"]);
        // Separate choices: the removed lines, and the lines added after them.
        let want = ["a: 1\n", "b: 1\n|", "|n: 1\n", "c: 1\n"];
        assert_eq!(parts_of(&[], &[(5..10, ""), (10..10, "n: 1\n")], &[]), want);
    }

    #[test]
    fn a_line_ends_at_each_kind_of_break() {
        for line_break in ["\n", "\r\n", "\r"] {
            let text = TEXT.replace('\n', line_break);
            let at = 5 + line_break.len() - 1;
            let edit = |range: Range<usize>, text: &str| vec![Edit { range, text: text.to_owned() }];
            let (ours, theirs) = (edit(at + 3..at + 4, "2"), edit(at + 3..at + 4, "3"));
            let edits = Sides { original: Vec::new(), updated: theirs, dest: ours };
            let all = parts(&text, 0..text.len(), &edits, &[]).expect("disjoint").parts;
            let [Part::Same(above), Part::Choice(choice), Part::Same(below)] = &all[..] else { panic!("{all:?}") };
            assert_eq!([above, below], [&format!("a: 1{line_break}"), &format!("c: 1{line_break}")]);
            assert_eq!(choice.texts.dest, format!("b: 2{line_break}"));
            assert_eq!(choice.texts.updated, format!("b: 3{line_break}"));
        }
    }

    /// If each choice were compared with all others, this would take hours.
    #[test]
    fn the_work_grows_with_the_choices() {
        const COUNT: usize = 20_000;
        for line_break in ["\n", " "] {
            let text = ["ab", line_break].concat().repeat(COUNT);
            let edits = |to: &str| -> Vec<Edit> {
                (0..COUNT).map(|i| Edit { range: 3 * i..3 * i + 1, text: to.to_owned() }).collect()
            };
            let edits = Sides { original: Vec::new(), updated: edits("u"), dest: edits("d") };
            let lines = |i: usize| if line_break == "\n" { 3 * i..3 * i + 3 } else { 0..text.len() };
            let places: Vec<Lines<'_>> =
                (0..COUNT).map(|i| Lines { range: lines(i), grain: Grain::Whole, finer: Finer::Never }).collect();
            let all = parts(&text, 0..text.len(), &edits, &places).expect("disjoint").parts;
            let choices = all.iter().filter(|part| matches!(part, Part::Choice(_))).count();
            assert_eq!(choices, if line_break == "\n" { COUNT } else { 1 });
        }
    }

    #[test]
    fn a_place_is_chosen_whole() {
        let want = ["a: 1\n", "b: 1\nc: 1\n|b: 2\nc: 2\n"];
        assert_eq!(parts_of(&[], &[(8..9, "2"), (13..14, "2")], std::slice::from_ref(&(5..15))), want);
        let want = ["a: 1\n", "b: 1\n|# b\nb: 2\n", "c: 1\n"];
        assert_eq!(parts_of(&[], &[(5..5, "# b\n"), (8..9, "2")], std::slice::from_ref(&(5..10))), want);
    }
}
