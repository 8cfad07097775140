//! Conflict markers around what the two sides of a conflict make different in one text.

use similar::{Algorithm, DiffTag, TextDiff};

/// How conflicts are marked.
#[derive(Clone, Copy, Debug)]
pub struct Marks<'l> {
    /// How many characters a marker has.
    pub size: usize,
    /// The label of our side.
    pub ours: &'l str,
    /// The label of their side.
    pub theirs: &'l str,
}

/// What git could not merge by line.
#[derive(Debug, Default, PartialEq)]
pub struct Hunk<'t> {
    /// Our lines.
    pub ours: Vec<&'t str>,
    /// Those that both sides come from.
    pub original: Vec<&'t str>,
    /// Their lines.
    pub theirs: Vec<&'t str>,
}

impl Marks<'_> {
    /// The conflicts of a text that git marked, with the original in them.
    pub fn hunks<'t>(&self, text: &'t str) -> Vec<Hunk<'t>> {
        let is = |line: &str, mark: &str| {
            let rest = line.strip_prefix(mark.repeat(self.size).as_str());
            rest.is_some_and(|rest| rest.trim_end().is_empty() || rest.starts_with(' '))
        };
        let mut hunks = Vec::new();
        let mut open: Option<(Hunk<'t>, char)> = None;
        for line in text.split_inclusive('\n') {
            match &mut open {
                None if is(line, "<") => open = Some((Hunk::default(), '<')),
                None => {}
                Some((_, part)) if *part == '<' && is(line, "|") => *part = '|',
                Some((_, part)) if *part == '|' && is(line, "=") => *part = '=',
                Some((hunk, '=')) if is(line, ">") => {
                    hunks.push(std::mem::take(hunk));
                    open = None;
                }
                Some((hunk, '<')) => hunk.ours.push(line),
                Some((hunk, '|')) => hunk.original.push(line),
                Some((hunk, _)) => hunk.theirs.push(line),
            }
        }
        hunks
    }

    /// A text with marks around our lines of a hunk; `None` where they are not in it once, outside of marks.
    pub fn around(&self, text: &str, hunk: &Hunk<'_>) -> Option<String> {
        let ours = hunk.ours.concat();
        let mut found = text.match_indices(&ours).filter(|(at, _)| *at == 0 || text[..*at].ends_with('\n'));
        let (Some((at, _)), None) = (found.next(), found.next()) else { return None };
        let count = |mark: &str| text[..at].lines().filter(|line| line.starts_with(&mark.repeat(self.size))).count();
        if ours.is_empty() || count("<") != count(">") {
            return None;
        }
        Some([&text[..at], &self.block(&ours, &hunk.theirs.concat()), &text[at + ours.len()..]].concat())
    }

    /// One text of two that differ in conflicts alone: our lines and their lines of each, marked.
    pub fn text(&self, ours: &str, theirs: &str) -> String {
        let diff = TextDiff::configure().algorithm(Algorithm::Patience).diff_lines(ours, theirs);
        let our_lines: Vec<&str> = ours.split_inclusive('\n').collect();
        let their_lines: Vec<&str> = theirs.split_inclusive('\n').collect();
        let mut out = String::new();
        let mut block: Option<(String, String)> = None;
        for op in diff.ops() {
            let ours: String = our_lines[op.old_range()].concat();
            if op.tag() == DiffTag::Equal {
                if let Some((a, b)) = block.take() {
                    out.push_str(&self.block(&a, &b));
                }
                out.push_str(&ours);
            } else {
                let (a, b) = block.get_or_insert_default();
                a.push_str(&ours);
                b.push_str(&their_lines[op.new_range()].concat());
            }
        }
        if let Some((a, b)) = block {
            out.push_str(&self.block(&a, &b));
        }
        out
    }

    /// One conflict.
    pub fn block(&self, ours: &str, theirs: &str) -> String {
        let end = if ours.contains("\r\n") || theirs.contains("\r\n") { "\r\n" } else { "\n" };
        let mark = |c: &str, label: &str| {
            let label = if label.is_empty() { String::new() } else { format!(" {label}") };
            format!("{}{label}{end}", c.repeat(self.size))
        };
        let whole = |text: &str| {
            let open = !text.is_empty() && !text.ends_with('\n');
            format!("{text}{}", if open { end } else { "" })
        };
        let (ours, theirs) = (whole(ours), whole(theirs));
        [mark("<", self.ours), ours, mark("=", ""), theirs, mark(">", self.theirs)].concat()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_lines_that_differ_are_marked() {
        let marks = Marks { size: 3, ours: "HEAD", theirs: "topic" };
        assert_eq!(
            marks.text("a\nb: 1\nc\nd: 1", "a\nb: 2\nc\nd: 2\ne\n"),
            "a\n<<< HEAD\nb: 1\n===\nb: 2\n>>> topic\nc\n<<< HEAD\nd: 1\n===\nd: 2\ne\n>>> topic\n"
        );
        assert_eq!(marks.text("a\r\nb\r\n", "a\r\n"), "a\r\n<<< HEAD\r\nb\r\n===\r\n>>> topic\r\n");
        assert_eq!(marks.text("a\n", "a\n"), "a\n");
    }
}
