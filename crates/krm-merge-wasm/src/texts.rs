//! [`diff`]: what differs between two texts.

use std::ops::Range;

use imara_diff::{Algorithm, Diff, Hunk, InternedInput, Token};

/// The lines around a change.
const CONTEXT: u32 = 3;

/// The differences between two texts of a file, as `git diff` prints them; empty if there are none.
pub fn diff(before: &str, after: &str, path: &str) -> String {
    let input = InternedInput::new(before, after);
    let mut diff = Diff::compute(Algorithm::Myers, &input);
    diff.postprocess_lines(&input);
    let hunks: Vec<Hunk> = diff.hunks().collect();
    if hunks.is_empty() {
        return String::new();
    }
    let mut out = format!("--- a/{path}\n+++ b/{path}\n");
    let line = |token: &Token| input.interner[*token];
    let (old, new) = (|at: Range<u32>| &input.before[indices(at)], |at: Range<u32>| &input.after[indices(at)]);
    for group in hunks.chunk_by(|one, next| next.before.start - one.before.end <= 2 * CONTEXT) {
        let (Some(first), Some(last)) = (group.first(), group.last()) else { continue };
        let above = CONTEXT.min(first.before.start);
        let below = CONTEXT.min(input.before.len() as u32 - last.before.end);
        let around = |of: fn(&Hunk) -> &Range<u32>| span(of(first).start - above..of(last).end + below);
        out.push_str(&format!("@@ -{} +{} @@\n", around(|hunk| &hunk.before), around(|hunk| &hunk.after)));
        let mut at = first.before.start - above;
        for hunk in group {
            old(at..hunk.before.start).iter().for_each(|same| push(&mut out, ' ', line(same)));
            old(hunk.before.clone()).iter().for_each(|gone| push(&mut out, '-', line(gone)));
            new(hunk.after.clone()).iter().for_each(|come| push(&mut out, '+', line(come)));
            at = hunk.before.end;
        }
        old(at..at + below).iter().for_each(|same| push(&mut out, ' ', line(same)));
    }
    out
}

fn indices(lines: Range<u32>) -> Range<usize> {
    lines.start as usize..lines.end as usize
}

/// The lines of a hunk, as its head names them. Source: POSIX, `diff -u`: a range without lines has the number of the line before it.
fn span(lines: Range<u32>) -> String {
    let first = lines.start + u32::from(!lines.is_empty());
    if lines.len() == 1 { first.to_string() } else { format!("{first},{}", lines.len()) }
}

fn push(out: &mut String, mark: char, line: &str) {
    out.push(mark);
    out.push_str(line);
    if !line.ends_with('\n') {
        out.push_str("\n\\ No newline at end of file\n");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_diff_has_three_lines_around_a_change() {
        let before: String = (1..=9).map(|line| format!("{line}\n")).collect();
        let after = before.replace('5', "five");
        let want = "--- a/x.yaml\n+++ b/x.yaml\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n";
        assert_eq!(diff(&before, &after, "x.yaml"), want);
        assert_eq!(diff(&before, &before, "x.yaml"), "");
        // Between these changes are six lines, so one hunk has both.
        let two = before.replace('2', "two").replace('9', "nine");
        assert_eq!(diff(&before, &two, "x").matches("@@").count(), 2);
    }

    #[test]
    fn a_diff_can_be_applied() {
        assert_eq!(diff("a", "a\n", "x"), "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+a\n");
        assert_eq!(diff("", "a\n", "x"), "--- a/x\n+++ b/x\n@@ -0,0 +1 @@\n+a\n");
    }
}
