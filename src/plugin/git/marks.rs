//! Conflict markers around what someone has to choose, in one text.

use std::ops::Range;

use similar::{Algorithm, DiffOp, capture_diff_slices};

/// How conflicts are marked.
#[derive(Clone, Copy, Debug)]
pub struct Marks<'l> {
    /// How many characters a marker has.
    pub size: usize,
    /// What stands between the markers.
    pub style: Style,
    /// The label of our side.
    pub ours: &'l str,
    /// The label of the original.
    pub original: &'l str,
    /// The label of their side.
    pub theirs: &'l str,
}

/// What stands between the markers: `merge.conflictStyle` of git.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// What the sides have: the shortest.
    Merge,
    /// The original as well, and what all three begin and end with: what each side did can be seen.
    Diff3,
    /// The original as well, without what both sides begin and end with.
    Zdiff3,
}

/// One of the texts between which someone chooses.
#[derive(Debug)]
pub struct Version<'t> {
    /// The text.
    pub text: &'t str,
    /// The lines of each place in conflict, with its number, in the order of the text.
    pub places: Vec<(Range<usize>, usize)>,
}

/// A line, or the lines of a place in conflict, which are chosen together.
#[derive(Clone, Copy, Debug)]
struct Piece<'t> {
    text: &'t str,
    place: Option<usize>,
}

/// What makes two pieces the same one.
#[derive(PartialEq, Eq, Hash)]
enum Same<'t> {
    Line(&'t str),
    Place(usize),
}

/// The pieces of ours, the original and theirs that belong together.
type Parts<'p, 't> = [&'p [Piece<'t>]; 3];

impl Marks<'_> {
    /// One text of the versions that ours, the original and theirs make: what they have in common, and their lines of each conflict, marked.
    pub fn text(&self, versions: [&Version<'_>; 3]) -> String {
        let [ours, original, theirs] = versions.map(pieces);
        let in_theirs = matches(&ours, &theirs);
        let in_original = if self.style == Style::Merge { Vec::new() } else { matches(&ours, &original) };
        let mut out = String::new();
        let mut from = [0; 3];
        for (i, piece) in ours.iter().enumerate() {
            let Some(t) = in_theirs[i] else { continue };
            let o = in_original.get(i).copied().flatten();
            if self.style != Style::Merge && piece.place.is_none() && o.is_none() {
                continue;
            }
            let o = o.unwrap_or(from[1]);
            self.gap(&mut out, [&ours[from[0]..i], &original[from[1]..o], &theirs[from[2]..t]]);
            let has_original = in_original.get(i).copied().flatten().is_some();
            let o_end = if has_original { o + 1 } else { o };
            self.block(&mut out, [&ours[i..=i], &original[o..o_end], &theirs[t..=t]]);
            from = [i + 1, o_end, t + 1];
        }
        let rest = if self.style == Style::Merge { original.len() } else { from[1] };
        self.gap(&mut out, [&ours[from[0]..], &original[rest..], &theirs[from[2]..]]);
        out
    }

    /// What lies between pieces that all have: if it is nothing but places in conflict, each is chosen for itself.
    fn gap(&self, out: &mut String, parts: Parts<'_, '_>) {
        let [ours, original, theirs] = parts;
        let ids = |pieces: &[Piece<'_>]| pieces.iter().map(|piece| piece.place).collect::<Option<Vec<usize>>>();
        let (Some(mine), Some(other)) = (ids(ours), ids(theirs)) else { return self.block(out, parts) };
        let mut order = mine.clone();
        for id in other.iter().rev().filter(|id| !mine.contains(id)) {
            let next = other.iter().skip_while(|o| *o != id).nth(1);
            let at = next.and_then(|next| order.iter().position(|o| o == next)).unwrap_or(order.len());
            order.insert(at, *id);
        }
        if !order.iter().filter(|id| other.contains(id)).eq(&other) || ids(original).is_none() {
            return self.block(out, parts);
        }
        for id in order {
            let of = |pieces: &'_ [Piece<'_>]| pieces.iter().position(|piece| piece.place == Some(id));
            let [ours, original, theirs] = parts.map(|pieces| of(pieces).map_or(&pieces[..0], |i| &pieces[i..=i]));
            self.block(out, [ours, original, theirs]);
        }
    }

    /// One conflict, or what is none.
    fn block(&self, out: &mut String, parts: Parts<'_, '_>) {
        let texts = parts.map(|pieces| pieces.iter().map(|piece| piece.text).collect::<String>());
        let [ours, original, theirs] = &texts;
        if ours == theirs {
            out.push_str(ours);
            return;
        }
        let lines = [ours, original, theirs].map(|text| text.split_inclusive('\n').collect::<Vec<_>>());
        let [ours, original, theirs] = &lines;
        let all = if self.style == Style::Diff3 { vec![theirs, original] } else { vec![theirs] };
        let begin = |other: &&Vec<&str>| ours.iter().zip(other.iter()).take_while(|(a, b)| a == b).count();
        let head = all.iter().map(begin).min().unwrap_or_default();
        let end = |other: &&Vec<&str>| {
            let most = ours.len().min(other.len()) - head;
            ours.iter().rev().zip(other.iter().rev()).take(most).take_while(|(a, b)| a == b).count()
        };
        let tail = all.iter().map(end).min().unwrap_or_default();
        let cut = |lines: &Vec<&str>| lines[head..lines.len() - tail].concat();
        let original = match self.style {
            Style::Merge => None,
            Style::Diff3 => Some(cut(original)),
            Style::Zdiff3 => Some(original.concat()),
        };
        out.push_str(&ours[..head].concat());
        out.push_str(&self.marked(&cut(ours), original.as_deref(), &cut(theirs)));
        out.push_str(&ours[ours.len() - tail..].concat());
    }

    fn marked(&self, ours: &str, original: Option<&str>, theirs: &str) -> String {
        let end = if ours.contains("\r\n") || theirs.contains("\r\n") { "\r\n" } else { "\n" };
        let mark = |c: &str, label: &str| {
            let label = if label.is_empty() { String::new() } else { format!(" {label}") };
            format!("{}{label}{end}", c.repeat(self.size))
        };
        let whole = |text: &str| {
            let open = !text.is_empty() && !text.ends_with('\n');
            format!("{text}{}", if open { end } else { "" })
        };
        let original = original.map(|text| mark("|", self.original) + &whole(text)).unwrap_or_default();
        [mark("<", self.ours), whole(ours), original, mark("=", ""), whole(theirs), mark(">", self.theirs)].concat()
    }
}

fn pieces<'t>(version: &Version<'t>) -> Vec<Piece<'t>> {
    let mut pieces = Vec::new();
    let mut at = 0;
    let lines = |range: Range<usize>| version.text[range].split_inclusive('\n').map(|text| Piece { text, place: None });
    for (range, place) in &version.places {
        pieces.extend(lines(at..range.start));
        pieces.push(Piece { text: &version.text[range.clone()], place: Some(*place) });
        at = range.end;
    }
    pieces.extend(lines(at..version.text.len()));
    pieces
}

fn identities<'t>(pieces: &[Piece<'t>]) -> Vec<Same<'t>> {
    pieces.iter().map(|piece| piece.place.map_or(Same::Line(piece.text), Same::Place)).collect()
}

/// For each piece, which one of another version is the same.
fn matches(pieces: &[Piece<'_>], others: &[Piece<'_>]) -> Vec<Option<usize>> {
    let mut matches = vec![None; pieces.len()];
    for op in capture_diff_slices(Algorithm::Patience, &identities(pieces), &identities(others)) {
        if let DiffOp::Equal { old_index, new_index, len } = op {
            (0..len).for_each(|i| matches[old_index + i] = Some(new_index + i));
        }
    }
    matches
}

#[cfg(test)]
mod tests {
    use super::*;

    const MARKS: Marks<'static> =
        Marks { size: 3, style: Style::Merge, ours: "HEAD", original: "base", theirs: "topic" };

    /// The marked text of three versions, with the lines of these numbers as places.
    fn text(style: Style, versions: [(&str, &[usize]); 3]) -> String {
        let versions = versions.map(|(text, places)| {
            let lines: Vec<&str> = text.split_inclusive('\n').collect();
            let start = |n: usize| lines[..n].concat().len();
            Version { text, places: places.iter().map(|n| (start(*n)..start(n + 1), *n)).collect() }
        });
        Marks { style, ..MARKS }.text([&versions[0], &versions[1], &versions[2]])
    }

    #[test]
    fn only_the_lines_that_differ_are_marked() {
        let text = |ours, theirs| text(Style::Merge, [(ours, &[]), ("", &[]), (theirs, &[])]);
        assert_eq!(
            text("a\nb: 1\nc\nd: 1", "a\nb: 2\nc\nd: 2\ne\n"),
            "a\n<<< HEAD\nb: 1\n===\nb: 2\n>>> topic\nc\n<<< HEAD\nd: 1\n===\nd: 2\ne\n>>> topic\n"
        );
        assert_eq!(text("a\r\nb\r\n", "a\r\n"), "a\r\n<<< HEAD\r\nb\r\n===\r\n>>> topic\r\n");
        assert_eq!(text("a\n", "a\n"), "a\n");
        assert_eq!(text("", ""), "");
    }

    #[test]
    fn places_are_chosen_one_by_one() {
        let out = text(Style::Merge, [("a1\nb1\n", &[0, 1]), ("", &[]), ("a2\nb2\n", &[0, 1])]);
        assert_eq!(out, "<<< HEAD\na1\n===\na2\n>>> topic\n<<< HEAD\nb1\n===\nb2\n>>> topic\n");
    }

    #[test]
    fn the_original_stands_between() {
        let versions = [("x\na1\ny\n", &[1][..]), ("x\na0\ny\n", &[1][..]), ("x\na2\ny\n", &[1][..])];
        let want = "x\n<<< HEAD\na1\n||| base\na0\n===\na2\n>>> topic\ny\n";
        assert_eq!(text(Style::Diff3, versions), want);
        assert_eq!(text(Style::Zdiff3, versions), want);
        // What both added alike is in the markers of the one, and not of the other.
        let added = [("x\nn\na1\n", &[][..]), ("x\na0\n", &[][..]), ("x\nn\na2\n", &[][..])];
        assert_eq!(text(Style::Diff3, added), "x\n<<< HEAD\nn\na1\n||| base\na0\n===\nn\na2\n>>> topic\n");
        assert_eq!(text(Style::Zdiff3, added), "x\nn\n<<< HEAD\na1\n||| base\na0\n===\na2\n>>> topic\n");
    }
}
