//! Reads the conflicts between markers in a text, and writes the text with answers in their place.
//!
//! A marker is a line that begins with at least seven `<`, `|`, `=` or `>`, as git, diff3, Mercurial and Subversion write it. All markers
//! of one conflict have the same length. If an inner merge has conflicts, git gives their markers a greater length and puts them into the
//! original of the outer conflict. So a conflict may contain other conflicts. The text is bytes, because files of any encoding that extends
//! ASCII may have markers.

use std::borrow::Cow;
use std::collections::HashSet;
use std::ops::Range;

use crate::newest::newest_lines;
use krm_tree::sides::Side;

/// The end of a label that says that this side deleted the whole file.
pub const DELETED: &str = ", which deleted the file";

/// The end of a label that says that the lines are of a Secret, although the text does not say it: it was one on another side.
pub const OF_SECRET: &str = ", of a Secret";

/// A label without what this program adds to it.
pub fn bare(label: &str) -> &str {
    let label = label.strip_suffix(DELETED).unwrap_or(label);
    label.strip_suffix(OF_SECRET).unwrap_or(label)
}

/// A text with the conflicts in it.
#[derive(Debug)]
pub struct Marked<'t> {
    /// The text.
    pub text: &'t [u8],
    /// The conflicts, disjoint and in the order of the text.
    pub conflicts: Vec<Conflict>,
    /// Markers that cannot be read as a conflict, in the order of the text.
    pub faults: Vec<MarkerFault>,
}

/// A conflict between markers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflict {
    /// The range in bytes, with the markers.
    pub range: Range<usize>,
    /// The lines of the first and the last marker, from 1.
    pub lines: (usize, usize),
    /// Our side.
    pub ours: Half,
    /// The original, if the tool wrote it.
    pub original: Option<Half>,
    /// Their side.
    pub theirs: Half,
}

/// One side of a conflict.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Half {
    /// The range of the label, after the characters of the marker.
    pub label: Range<usize>,
    /// The range of the side's lines.
    pub text: Range<usize>,
}

/// Markers that cannot be read as a conflict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MarkerFault {
    /// The line of the first marker, from 1.
    pub line: usize,
    /// The kind of the fault.
    pub what: Wrong,
}

/// A kind of fault in markers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wrong {
    /// The first marker has no last one.
    Open,
    /// Several lines may be the marker that separates the sides.
    Ambiguous,
}

/// The answer to a conflict: what to write in its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The lines of our side.
    Ours,
    /// The lines of their side.
    Theirs,
    /// The lines of our side, followed by those of theirs.
    Both,
    /// The lines of the side with the newer version, which is this one.
    Newest(Newer),
    /// Lines that the user wrote.
    Edited(Vec<u8>),
}

/// The side of a conflict that has the newer version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Newer {
    /// Ours.
    Ours,
    /// Theirs.
    Theirs,
}

impl<'t> Marked<'t> {
    /// Reads a text.
    pub fn read(text: &'t [u8]) -> Self {
        let (mut found, mut open, mut at) = (Vec::new(), Vec::new(), 0);
        for (i, line) in text.split_inclusive(|byte| *byte == b'\n').enumerate() {
            if let Some(marker) = Marker::read(line) {
                let label = at + marker.label.start..at + marker.label.end;
                meet(Met { marker, label, line: i + 1, range: at..at + line.len() }, &mut open, &mut found);
            }
            at += line.len();
        }
        open.into_iter().for_each(|left| left.give_up(&mut found));
        found.sort_by_key(FoundMarkers::line);
        let mut marked = Self { text, conflicts: Vec::new(), faults: Vec::new() };
        for found in found {
            match found {
                FoundMarkers::Conflict(conflict) => marked.conflicts.push(conflict),
                FoundMarkers::Fault(fault) => marked.faults.push(fault),
            }
        }
        marked
    }

    /// The text with answers in the place of conflicts. `answer` gives the answer by the number of a conflict. Conflicts without an answer
    /// stay.
    pub fn answered<'s>(&'s self, answer: impl Fn(usize) -> Option<&'s Answer>) -> Vec<u8> {
        let (mut out, mut at) = (Vec::with_capacity(self.text.len()), 0);
        for (i, conflict) in self.conflicts.iter().enumerate() {
            if let Some(answer) = answer(i) {
                out.extend_from_slice(&self.text[at..conflict.range.start]);
                out.extend_from_slice(&self.answer(conflict, answer));
                at = conflict.range.end;
            }
        }
        out.extend_from_slice(&self.text[at..]);
        out
    }

    /// Whether one side keeps none of the original's fields and elements at a conflict, and the other side adds something to them. The side may
    /// have moved them. Then the lines around the conflict are not those around the original's, and the addition belongs elsewhere.
    pub fn may_have_moved(&self, conflict: &Conflict) -> bool {
        let Some(original) = &conflict.original else { return false };
        let [was, ours, theirs] =
            [original, &conflict.ours, &conflict.theirs].map(|half| names(self.bytes(&half.text)));
        let keeps = |side: &HashSet<&[u8]>| !was.is_disjoint(side);
        let adds = |side: &HashSet<&[u8]>| keeps(side) && !side.is_subset(&was);
        (!keeps(&ours) && adds(&theirs)) || (!keeps(&theirs) && adds(&ours))
    }

    /// Whether a conflict is about the existence of the file, because one side deleted it.
    pub fn is_of_whole_file(&self, conflict: &Conflict) -> bool {
        let has_deleted = |half: &Half| half.text.is_empty() && self.shown(&half.label).ends_with(DELETED);
        conflict.range == (0..self.text.len()) && (has_deleted(&conflict.ours) || has_deleted(&conflict.theirs))
    }

    /// The answer with the newer version, if the sides differ in nothing but a version.
    pub fn newest(&self, conflict: &Conflict) -> Option<Answer> {
        let text = |half: &Half| str::from_utf8(self.bytes(&half.text)).ok();
        let newer = match newest_lines(text(&conflict.theirs)?, text(&conflict.ours)?)? {
            Side::Updated => Newer::Theirs,
            Side::Original | Side::Dest => Newer::Ours,
        };
        Some(Answer::Newest(newer))
    }

    /// The text with ours in each conflict, and the text with theirs.
    pub fn both(&self) -> [Vec<u8>; 2] {
        [Answer::Ours, Answer::Theirs].map(|side| self.answered(|_| Some(&side)))
    }

    /// The text with one side of each conflict: ours, or theirs where ours has no lines. All else between the markers is blank, so each place of
    /// it is that of the text.
    pub fn one_side(&self) -> Vec<u8> {
        let mut text = self.text.to_vec();
        for conflict in &self.conflicts {
            let (range, kept) = (conflict.range.clone(), conflict.shown_side());
            let blank = |byte: &mut u8| *byte = if matches!(byte, b'\n' | b'\r') { *byte } else { b' ' };
            text[range.start..kept.start].iter_mut().for_each(blank);
            text[kept.end..range.end].iter_mut().for_each(blank);
        }
        text
    }

    /// Whether a conflict is about values of a Secret, as its labels say.
    pub fn is_of_secret(&self, conflict: &Conflict) -> bool {
        [&conflict.ours, &conflict.theirs].into_iter().any(|half| {
            let label = self.shown(&half.label);
            label.strip_suffix(DELETED).unwrap_or(&label).ends_with(OF_SECRET)
        })
    }

    /// The content of the file with answers in the place of conflicts; `None` if the answers delete the file.
    pub fn file<'s>(&'s self, answer: impl Fn(usize) -> Option<&'s Answer>) -> Option<Vec<u8>> {
        let new = self.answered(answer);
        let is_deleted = new.is_empty() && self.conflicts.iter().any(|conflict| self.is_of_whole_file(conflict));
        (!is_deleted).then_some(new)
    }

    /// The bytes of a part of the text.
    pub fn bytes(&self, range: &Range<usize>) -> &'t [u8] {
        &self.text[range.clone()]
    }

    /// A part of the text for display.
    pub fn shown(&self, range: &Range<usize>) -> Cow<'t, str> {
        String::from_utf8_lossy(self.bytes(range))
    }

    /// The bytes that an answer puts in the place of a conflict.
    pub fn answer<'a>(&'a self, conflict: &Conflict, answer: &'a Answer) -> Cow<'a, [u8]> {
        let (ours, theirs) = (self.bytes(&conflict.ours.text), self.bytes(&conflict.theirs.text));
        match answer {
            Answer::Ours | Answer::Newest(Newer::Ours) => Cow::Borrowed(ours),
            Answer::Theirs | Answer::Newest(Newer::Theirs) => Cow::Borrowed(theirs),
            Answer::Both => Cow::Owned([ours, theirs].concat()),
            Answer::Edited(bytes) => Cow::Borrowed(bytes),
        }
    }
}

/// The fields of lines, each with its indentation, and the elements as they are written.
fn names(lines: &[u8]) -> HashSet<&[u8]> {
    let of_line = |line: &'_ [u8]| -> usize {
        let is_element = line.trim_ascii_start().starts_with(b"-");
        line.iter().position(|byte| *byte == b':').filter(|_| !is_element).unwrap_or(line.len())
    };
    let lines = lines.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii_end).filter(|line| !line.is_empty());
    lines.map(|line| &line[..of_line(line)]).collect()
}

/// A line that is a marker.
struct Marker {
    /// The character that the line begins with.
    kind: u8,
    /// How often the character is repeated.
    size: usize,
    /// The range of the rest of the line, without white space around it.
    label: Range<usize>,
}

impl Marker {
    fn read(line: &[u8]) -> Option<Self> {
        let kind = *line.first().filter(|first| b"<|=>".contains(first))?;
        let size = line.iter().take_while(|byte| **byte == kind).count();
        let rest = &line[size..];
        let is_apart = rest.first().is_none_or(u8::is_ascii_whitespace);
        // Only a bare run of `=` is a marker. In tables and headings of other formats, more text may follow it.
        let is_bare = kind != b'=' || rest.trim_ascii().is_empty();
        let start = line.len() - rest.trim_ascii_start().len();
        (size >= 7 && is_apart && is_bare).then(|| Self { kind, size, label: start..start + rest.trim_ascii().len() })
    }
}

/// A marker that was found, with its place in the text.
struct Met {
    marker: Marker,
    label: Range<usize>,
    line: usize,
    range: Range<usize>,
}

/// A result of the search.
enum FoundMarkers {
    Conflict(Conflict),
    Fault(MarkerFault),
}

impl FoundMarkers {
    fn line(&self) -> usize {
        match self {
            Self::Conflict(conflict) => conflict.lines.0,
            Self::Fault(fault) => fault.line,
        }
    }
}

/// A conflict whose last marker is not found yet.
struct OpenMarker {
    size: usize,
    start: usize,
    line: usize,
    part: MarkedPart,
    ours: Half,
    original: Option<Half>,
    theirs: Half,
    is_ambiguous: bool,
    /// The conflicts and faults inside of it. They count only if this turns out not to be a conflict.
    within: Vec<FoundMarkers>,
}

/// The part of a conflict that a line belongs to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum MarkedPart {
    Ours,
    Original,
    Theirs,
}

impl OpenMarker {
    fn new(met: Met) -> Self {
        let ours = Half { label: met.label, text: met.range.end..met.range.end };
        Self {
            size: met.marker.size,
            start: met.range.start,
            line: met.line,
            part: MarkedPart::Ours,
            ours,
            original: None,
            theirs: Half::default(),
            is_ambiguous: false,
            within: Vec::new(),
        }
    }

    /// Ends the current part.
    fn close(&mut self, at: usize) {
        match self.part {
            MarkedPart::Ours => self.ours.text.end = at,
            MarkedPart::Theirs => self.theirs.text.end = at,
            MarkedPart::Original => {
                if let Some(original) = &mut self.original {
                    original.text.end = at;
                }
            }
        }
    }

    /// Reports an open conflict as a fault, because it has no last marker. The conflicts inside of it then count.
    fn give_up(self, found: &mut Vec<FoundMarkers>) {
        found.push(FoundMarkers::Fault(MarkerFault { line: self.line, what: Wrong::Open }));
        found.extend(self.within);
    }
}

/// Handles the next marker.
fn meet(met: Met, open: &mut Vec<OpenMarker>, found: &mut Vec<FoundMarkers>) {
    if met.marker.kind == b'<' {
        return open.push(OpenMarker::new(met));
    }
    // The marker belongs to the innermost open conflict with markers of this length. Conflicts that were opened inside of it with other
    // lengths were not conflicts.
    let Some(at) = open.iter().rposition(|open| open.size == met.marker.size) else { return };
    let part = open[at].part;
    let takes = match met.marker.kind {
        b'|' => part == MarkedPart::Ours,
        b'=' => part != MarkedPart::Theirs,
        _ => part == MarkedPart::Theirs,
    };
    if !takes {
        // This is a second line of the same kind, so either line could be the marker.
        open[at].is_ambiguous |= met.marker.kind != b'>';
        return;
    }
    let above = open.split_off(at + 1);
    let current = &mut open[at];
    above.into_iter().for_each(|open| open.give_up(&mut current.within));
    current.close(met.range.start);
    let half = Half { label: met.label.clone(), text: met.range.end..met.range.end };
    match met.marker.kind {
        b'|' => (current.original, current.part) = (Some(half), MarkedPart::Original),
        b'=' => (current.theirs, current.part) = (half, MarkedPart::Theirs),
        _ => {
            let Some(mut done) = open.pop() else { return };
            done.theirs.label = met.label;
            let done = if done.is_ambiguous {
                FoundMarkers::Fault(MarkerFault { line: done.line, what: Wrong::Ambiguous })
            } else {
                let OpenMarker { ours, original, theirs, .. } = done;
                let (range, lines) = (done.start..met.range.end, (done.line, met.line));
                FoundMarkers::Conflict(Conflict { range, lines, ours, original, theirs })
            };
            open.last_mut().map_or(found, |outer| &mut outer.within).push(done);
        }
    }
}

impl Conflict {
    /// The lines that [`Marked::one_side`] keeps.
    pub fn shown_side(&self) -> Range<usize> {
        if self.ours.text.is_empty() { self.theirs.text.clone() } else { self.ours.text.clone() }
    }
}

/// Whether a text has a conflict between markers.
pub fn has_markers(text: &[u8]) -> bool {
    !Marked::read(text).conflicts.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [Answer; 3] = [Answer::Ours, Answer::Theirs, Answer::Both];

    #[test]
    fn a_file_is_deleted_where_the_side_that_wins_deleted_it() {
        for (ours, theirs, want) in [
            (("dest", "a: 1\n"), ("updated, which deleted the file", ""), [Some("a: 1\n"), None, Some("a: 1\n")]),
            (("dest, which deleted the file", ""), ("updated", "a: 1\n"), [None, Some("a: 1\n"), Some("a: 1\n")]),
            // An empty file of a side is a file.
            (("dest", ""), ("updated", "a: 1\n"), [Some(""), Some("a: 1\n"), Some("a: 1\n")]),
        ] {
            let text = format!("<<<<<<< {}\n{}=======\n{}>>>>>>> {}\n", ours.0, ours.1, theirs.1, theirs.0);
            let marked = Marked::read(text.as_bytes());
            let files = ALL
                .map(|answer| marked.file(|_| Some(&answer)).map(|file| String::from_utf8_lossy(&file).into_owned()));
            assert_eq!(files.each_ref().map(Option::as_deref), want, "{text}");
            assert_eq!(marked.file(|_| None).as_deref(), Some(text.as_bytes()));
            // Other text of the file stays.
            let text = format!("{text}b: 1\n");
            let marked = Marked::read(text.as_bytes());
            assert!(ALL.iter().all(|answer| marked.file(|_| Some(answer)).is_some()), "{text}");
        }
    }

    /// The text with each answer given to all of its conflicts.
    fn answered(text: &str) -> [String; 3] {
        let marked = Marked::read(text.as_bytes());
        ALL.map(|answer| String::from_utf8(marked.answered(|_| Some(&answer))).expect("UTF-8"))
    }

    /// The conflicts, with ours, the original, theirs and their labels, and the places of unreadable markers.
    fn found(text: &str) -> (Vec<String>, Vec<MarkerFault>) {
        let marked = Marked::read(text.as_bytes());
        let half = |half: &Half| format!("{}={}", marked.shown(&half.label), marked.shown(&half.text));
        let shown = |c: &Conflict| {
            let halves: Vec<String> =
                [Some(&c.ours), c.original.as_ref(), Some(&c.theirs)].map(|h| h.map_or("-".into(), half)).into();
            format!("{}-{}: {}", c.lines.0, c.lines.1, halves.join(" ")).replace('\n', "/")
        };
        (marked.conflicts.iter().map(shown).collect(), marked.faults)
    }

    fn fault(line: usize, what: Wrong) -> MarkerFault {
        MarkerFault { line, what }
    }

    #[test]
    fn an_answer_is_that_sides_lines_and_changes_nothing_else() {
        let merge = "a\n<<<<<<< HEAD\nb1\n=======\nb2\n>>>>>>> topic\nc\n<<<<<<< HEAD\n=======\nd\n>>>>>>> topic";
        assert_eq!(answered(merge), ["a\nb1\nc\n", "a\nb2\nc\nd\n", "a\nb1\nb2\nc\nd\n"]);
        let diff3 = "<<<<<<< mine\nb1\n||||||| old\nb0\n=======\nb2\n>>>>>>> yours\n";
        assert_eq!(answered(diff3), ["b1\n", "b2\n", "b1\nb2\n"]);
        let crlf = "a\r\n<<<<<<< HEAD\r\nb1\r\n|||||||\r\n=======\r\n>>>>>>>\r\nc\r\n";
        assert_eq!(answered(crlf), ["a\r\nb1\r\nc\r\n", "a\r\nc\r\n", "a\r\nb1\r\nc\r\n"]);
        for plain in ["", "a", "a\n\r\n", "=======\n", ">>>>>>> a\n", "a\n=======\n>>>>>>> b\n"] {
            assert_eq!(answered(plain), [plain; 3]);
        }
    }

    #[test]
    fn what_a_side_may_have_moved_is_known_by_what_it_keeps() {
        for (ours, original, theirs, want) in [
            // Ours has other fields there, and theirs adds one to those that were there.
            ("  x: 1\n", "  a: 1\n  b: 1\n", "  a: 1\n  b: 1\n  c: 1\n", true),
            ("  a: 1\n  b: 1\n  c: 1\n", "  a: 1\n  b: 1\n", "", true),
            ("- x\n", "- a\n", "- a\n- b\n", true),
            // A field that stays shows where the others are, whatever its value is.
            ("  x: 1\n  b: 2\n", "  a: 1\n  b: 1\n", "  a: 1\n  b: 1\n  c: 1\n", false),
            // What nobody adds to, nobody puts elsewhere.
            ("  x: 1\n", "  a: 1\n", "  a: 2\n", false),
            ("  a: 2\n", "  a: 1\n", "", false),
            ("  x: 1\n", "", "  y: 1\n", false),
            ("  x: 1\n", "  a: 1\n", "  y: 1\n", false),
        ] {
            let text = format!("<<<<<<< a\n{ours}||||||| o\n{original}=======\n{theirs}>>>>>>> b\n");
            let marked = Marked::read(text.as_bytes());
            assert_eq!(marked.may_have_moved(&marked.conflicts[0]), want, "{text}");
        }
    }

    #[test]
    fn only_answered_conflicts_change() {
        let text = "<<<<<<< a\n1\n=======\n2\n>>>>>>> b\n-\n<<<<<<< a\n3\n=======\n4\n>>>>>>> b\n";
        let marked = Marked::read(text.as_bytes());
        assert_eq!(marked.answered(|_| None), text.as_bytes());
        let edited = Answer::Edited(b"x\n".to_vec());
        let out = marked.answered(|i| (i == 1).then_some(&edited));
        assert_eq!(String::from_utf8_lossy(&out), "<<<<<<< a\n1\n=======\n2\n>>>>>>> b\n-\nx\n");
    }

    #[test]
    fn bytes_that_are_no_text_stay() {
        let marked = Marked::read(b"\xff\n<<<<<<< a\n\xfe\n=======\n\0\n>>>>>>> b\n\xfd");
        assert_eq!(marked.answered(|_| Some(&Answer::Both)), b"\xff\n\xfe\n\0\n\xfd");
    }

    #[test]
    fn markers_are_known_by_their_length() {
        let text = "<<<<<<< a b\n1\n||||||| base\n<<<<<<<<< x\n2\n||||||||| y\n3\n=========\n4\n>>>>>>>>> z\n=======\n5\n>>>>>>> c\n";
        let want = "1-13: a b=1/ base=<<<<<<<<< x/2/||||||||| y/3/=========/4/>>>>>>>>> z/ c=5/";
        assert_eq!(found(text), (vec![want.to_owned()], vec![]));
        let long = "<<<<<<<<<<<<\n1\n=======\n============\n2\n>>>>>>> b\n>>>>>>>>>>>>\n";
        assert_eq!(found(long), (vec!["1-7: =1/=======/ - =2/>>>>>>> b/".to_owned()], vec![]));
    }

    #[test]
    fn an_inner_conflict_is_text_of_the_outer_one() {
        let inner = "<<<<<<< x\n2\n=======\n3\n>>>>>>> y\n";
        let text = format!("<<<<<<< a\n{inner}=======\n{inner}>>>>>>> b\n");
        assert_eq!(answered(&text), [inner.to_owned(), inner.to_owned(), inner.repeat(2)]);
    }

    #[test]
    fn other_lines_are_no_markers() {
        for line in ["<<<<<< a", " <<<<<<< a", "<<<<<<<a", "<<<<<<<- a", "x<<<<<<< a"] {
            assert_eq!(found(&format!("{line}\n1\n=======\n2\n>>>>>>> b\n")), (vec![], vec![]), "{line}");
        }
        for line in ["======= =======", "=======x", "======", "|||||||x", ">>>>>>", "========"] {
            let (conflicts, faults) = found(&format!("<<<<<<< a\n{line}\n=======\n2\n>>>>>>> b\n"));
            assert_eq!((conflicts, faults), (vec![format!("1-5: a={line}/ - b=2/")], vec![]));
        }
    }

    #[test]
    fn a_marker_without_its_end_hides_no_conflict() {
        let whole = "<<<<<<< a\n1\n=======\n2\n>>>>>>> b\n";
        for (before, line) in
            [("<<<<<<< lost\n", 2), ("<<<<<<<<< lost\n1\n=========\n", 4), ("<<<<<<< lost\n1\n=======\n", 4)]
        {
            let want = vec![format!("{line}-{}: a=1/ - b=2/", line + 4)];
            assert_eq!(found(&format!("{before}{whole}")), (want, vec![fault(1, Wrong::Open)]));
        }
        assert_eq!(found(&format!("{whole}<<<<<<< lost\n")).1, [fault(6, Wrong::Open)]);
        // Inside a conflict it is text, whatever its length.
        assert_eq!(answered("<<<<<<< a\n<<<<<<<< x\n=======\n2\n>>>>>>> b\n")[0], "<<<<<<<< x\n");
    }

    #[test]
    fn a_conflict_with_two_lines_between_its_sides_is_left() {
        for middle in [
            "=======\nTitle\n=======\n",
            "||||||| o\n||||||| p\n=======\n",
            "=======\n||||||| o\n",
            "||||||| o\n=======\n=======\n",
        ] {
            let text = format!("<<<<<<< a\n1\n{middle}2\n>>>>>>> b\n");
            assert_eq!(found(&text), (vec![], vec![fault(1, Wrong::Ambiguous)]), "{text}");
            assert_eq!(answered(&text), [text.clone(), text.clone(), text]);
        }
    }
}
