//! Writes conflict markers around the choices in a text.

use std::ops::Range;

use krm_tree::sides::{Side, Sides};
use krm_yaml::{ends_line, whole_lines};
use similar::{Algorithm, DiffOp, capture_diff_slices};

use crate::part::{Choice, Grain, Part};

/// The form of conflict markers.
#[derive(Clone, Copy, Debug)]
pub struct Marks<'l> {
    /// How many characters a marker has.
    pub size: usize,
    /// Which texts are between the markers.
    pub style: Style,
    /// The label of our side.
    pub ours: &'l str,
    /// The label of the original.
    pub original: &'l str,
    /// The label of their side.
    pub theirs: &'l str,
}

/// Which texts are between the markers: git's `merge.conflictStyle`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// Only the two sides: this is shortest.
    Merge,
    /// The two sides and the original, with the lines that all three have at the beginning and end. This shows what each side changed.
    Diff3,
    /// The two sides and the original, without the lines that both sides have at the beginning and end.
    Zdiff3,
}

impl Marks<'_> {
    /// The text of the parts, with markers around the choices.
    pub fn text(&self, parts: &[Part]) -> String {
        let mut out = String::new();
        parts.iter().for_each(|part| self.write(part, &mut out));
        out
    }

    /// Writes the next part of a text.
    pub fn write(&self, part: &Part, out: &mut String) {
        for run in part.runs(self.style) {
            match run {
                Part::Same(text) => out.push_str(&text),
                Part::Choice(Choice { texts, .. }) => self.block(out, each(&texts)),
            }
        }
    }

    /// Writes one choice with markers, or only the text if both sides have the same text.
    fn block(&self, out: &mut String, texts: Sides<&str>) {
        if texts.dest == texts.updated {
            out.push_str(texts.dest);
            return;
        }
        let mut lines = texts.map(whole_lines);
        let (mut head, mut tail) = (0, 0);
        // Lines that all shown texts have at the beginning or end are outside of the markers. `Zdiff3` also moves out lines that only both
        // sides have.
        let others = match self.style {
            Style::Merge => vec![vec![Side::Updated]],
            Style::Diff3 => vec![vec![Side::Updated, Side::Original]],
            Style::Zdiff3 => vec![vec![Side::Updated, Side::Original], vec![Side::Updated]],
        };
        let ours = lines.dest.clone();
        for others in others {
            let own = lines.dest.clone();
            let begin = |side: &Side| own.iter().zip(&lines[*side]).take_while(|(a, b)| a == b).count();
            let begin = others.iter().map(begin).min().unwrap_or_default();
            let end = |side: &Side| {
                let most = own.len().min(lines[*side].len()) - begin;
                own.iter().rev().zip(lines[*side].iter().rev()).take(most).take_while(|(a, b)| a == b).count()
            };
            let end = others.iter().map(end).min().unwrap_or_default();
            for side in others.into_iter().chain([Side::Dest]) {
                let all = &lines[side];
                lines[side] = all[begin..all.len() - end].to_vec();
            }
            (head, tail) = (head + begin, tail + end);
        }
        out.push_str(&ours[..head].concat());
        let original = (self.style != Style::Merge).then(|| lines.original.concat());
        // git recognises a marker only at the start of a line, and to git a lone `\r` does not end a line.
        if out.ends_with('\r') {
            out.push('\n');
        }
        out.push_str(&self.marked(&lines.dest.concat(), original.as_deref(), &lines.updated.concat()));
        out.push_str(&ours[ours.len() - tail..].concat());
    }

    fn marked(&self, ours: &str, original: Option<&str>, theirs: &str) -> String {
        let end = if ours.contains("\r\n") || theirs.contains("\r\n") { "\r\n" } else { "\n" };
        let mark = |c: &str, label: &str| {
            let label = if label.is_empty() { String::new() } else { format!(" {label}") };
            format!("{}{label}{end}", c.repeat(self.size))
        };
        let whole = |text: &str| {
            let end = match text {
                _ if text.ends_with('\r') => "\n",
                _ if text.is_empty() || ends_line(text) => "",
                _ => end,
            };
            format!("{text}{end}")
        };
        let original = original.map(|text| mark("|", self.original) + &whole(text)).unwrap_or_default();
        [mark("<", self.ours), whole(ours), original, mark("=", ""), whole(theirs), mark(">", self.theirs)].concat()
    }
}

impl Part {
    /// How many equal lines set two runs of differing lines apart, in git's eyes.
    const APART: usize = 4;

    /// The same text in parts each of which is chosen as a whole, if the markers have this style.
    pub fn runs(&self, style: Style) -> Vec<Self> {
        let Self::Choice(Choice { texts, grain }) = self else { return vec![self.clone()] };
        let least = match grain {
            Grain::Lines => 1,
            Grain::Hunks if style == Style::Merge => Self::APART,
            // With the original between the markers, git does not look for lines that only the sides have.
            Grain::Whole | Grain::Hunks => return vec![self.clone()],
        };
        let lines = each(texts).map(whole_lines);
        let theirs = matches(&lines.dest, &lines.updated);
        // Without the original, only the lines that both sides have separate the choices.
        let original = match style {
            Style::Merge => vec![Some(0); lines.dest.len()],
            Style::Diff3 | Style::Zdiff3 => matches(&lines.dest, &lines.original),
        };
        let step = usize::from(style != Style::Merge);
        let equal = (0..lines.dest.len())
            .filter_map(|dest| Some(Sides { original: original[dest]? * step, updated: theirs[dest]?, dest }));
        let mut stretches: Vec<Sides<Range<usize>>> = Vec::new();
        for at in equal {
            let next = Sides { original: at.original + step, updated: at.updated + 1, dest: at.dest + 1 };
            match stretches.last_mut() {
                Some(last) if Side::ALL.iter().all(|side| last[*side].end == at[*side]) => {
                    Side::ALL.iter().for_each(|side| last[*side].end = next[*side]);
                }
                _ => stretches.push(Sides::of(|side| at[side]..next[side])),
            }
        }
        stretches.retain(|stretch| stretch.dest.len() >= least);
        let mut runs = Vec::new();
        let mut from = Sides::default();
        let end = Sides::of(|side| lines[side].len()..lines[side].len());
        for stretch in stretches.into_iter().chain([end]) {
            let texts = Sides::of(|side| lines[side][from[side]..stretch[side].start].concat());
            runs.push(Self::of(Choice { texts, grain: Grain::Whole }));
            runs.push(Self::Same(lines.dest[stretch.dest.clone()].concat()));
            from = stretch.map(|stretch| stretch.end);
        }
        runs
    }
}

fn each(texts: &Sides<String>) -> Sides<&str> {
    Sides::of(|side| texts[side].as_str())
}

/// For each line, the index of the same line in the other text.
fn matches(lines: &[&str], others: &[&str]) -> Vec<Option<usize>> {
    let mut matches = vec![None; lines.len()];
    for op in capture_diff_slices(Algorithm::Patience, lines, others) {
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

    /// The marked text for ours, the original and theirs.
    fn text(style: Style, grain: Grain, [dest, original, updated]: [&str; 3]) -> String {
        let texts = Sides { original, updated, dest }.map(str::to_owned);
        let parts = [Part::Same("-\n".to_owned()), Part::of(Choice { texts, grain }), Part::Same("+\n".to_owned())];
        Marks { style, ..MARKS }.text(&parts)
    }

    #[test]
    fn only_the_lines_that_differ_are_marked() {
        let text = |ours, theirs| text(Style::Merge, Grain::Lines, [ours, "", theirs]);
        assert_eq!(
            text("a\nb: 1\nc\nd: 1\n", "a\nb: 2\nc\nd: 2\ne\n"),
            "-\na\n<<< HEAD\nb: 1\n===\nb: 2\n>>> topic\nc\n<<< HEAD\nd: 1\n===\nd: 2\ne\n>>> topic\n+\n"
        );
        assert_eq!(text("a\r\nb\r\n", "a\r\n"), "-\na\r\n<<< HEAD\r\nb\r\n===\r\n>>> topic\r\n+\n");
        assert_eq!(text("a\rb\r", "a\rc\r"), "-\na\r\n<<< HEAD\nb\r\n===\nc\r\n>>> topic\n+\n");
        assert_eq!(text("a\n", "a\n"), "-\na\n+\n");
    }

    #[test]
    fn what_is_chosen_whole_is_one_conflict() {
        let out = text(Style::Merge, Grain::Whole, ["a\nb: 1\nc\nd: 1\n", "", "a\nb: 2\nc\nd: 2\n"]);
        assert_eq!(out, "-\na\n<<< HEAD\nb: 1\nc\nd: 1\n===\nb: 2\nc\nd: 2\n>>> topic\n+\n");
        assert_eq!(text(Style::Merge, Grain::Whole, ["", "", "b"]), "-\n<<< HEAD\n===\nb\n>>> topic\n+\n");
    }

    #[test]
    fn the_original_stands_between() {
        for grain in [Grain::Whole, Grain::Lines] {
            let text = |style, texts| text(style, grain, texts);
            let sides = ["x\na1\ny\n", "x\na0\ny\n", "x\na2\ny\n"];
            let want = "-\nx\n<<< HEAD\na1\n||| base\na0\n===\na2\n>>> topic\ny\n+\n";
            assert_eq!(text(Style::Diff3, sides), want);
            assert_eq!(text(Style::Zdiff3, sides), want);
            // Both added the same lines.
            let sides = ["n\na1\n", "a0\n", "n\na2\n"];
            let want = "-\n<<< HEAD\nn\na1\n||| base\na0\n===\nn\na2\n>>> topic\n+\n";
            assert_eq!(text(Style::Diff3, sides), want);
            let want = "-\nn\n<<< HEAD\na1\n||| base\na0\n===\na2\n>>> topic\n+\n";
            assert_eq!(text(Style::Zdiff3, sides), want);
        }
    }
}
