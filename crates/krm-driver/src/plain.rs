//! git's own merge by line where it is plain: clean, and the same in whichever way lines are compared.
//!
//! To start git takes longer than to merge a usual file. But which of several equal lines is the one that came or went is git's choice. Where
//! there is such a choice, git is asked. So a merge is plain if both ways to compare lines come to it, and if no stretch that a side removed or
//! added could be put elsewhere. Long texts are left to git, too.

use krm_merge_core::refine::three::{Changed, FEW, Matches, Part, matches, matches_of_lines, numbered, parts};
use krm_tree::sides::Sides;

/// The text of git's own merge; `None` if it is not plain.
pub fn merged(texts: Sides<&str>) -> Option<String> {
    let lines = texts.map(|text| text.split_inclusive('\n').collect::<Vec<&str>>());
    let numbers = numbered(&lines);
    if numbers.original.len() + numbers.updated.len().max(numbers.dest.len()) > FEW {
        return None;
    }
    let quick = Matched::of(&numbers, matches);
    if !quick.is_firm(&numbers) {
        return None;
    }
    let text = quick.clean(&lines)?;
    // Its steps grow with the square of the changes, so it comes last.
    let slow = Matched::of(&numbers, matches_of_lines);
    (slow.clean(&lines)? == text).then(|| text.concat())
}

/// The lines of original that each side has.
struct Matched {
    updated: Matches,
    dest: Matches,
}

impl Matched {
    fn of(lines: &Sides<Vec<u32>>, matches: fn(&[u32], &[u32]) -> Matches) -> Self {
        let Sides { original, updated, dest } = lines;
        Self { updated: matches(original, updated), dest: matches(original, dest) }
    }

    /// The lines of the merge; `None` if it has a conflict.
    fn clean<'t>(&self, lines: &Sides<Vec<&'t str>>) -> Option<Vec<&'t str>> {
        let Sides { original, updated, dest } = lines;
        let parts = parts(&self.updated, &self.dest, updated.len(), dest.len());
        let taken = parts.into_iter().map(|part| match part {
            Part::Anchor(at) => Some(&dest[at.dest..=at.dest]),
            Part::Hunk(hunk) => match hunk.changed(original, updated, dest) {
                Changed::Updated => Some(&updated[hunk.updated]),
                Changed::Nowhere | Changed::Dest | Changed::Alike => Some(&dest[hunk.dest]),
                Changed::Apart => None,
            },
        });
        taken.collect::<Option<Vec<&[&str]>>>().map(|taken| taken.concat())
    }

    /// Whether each removed or added stretch can only be where it is.
    fn is_firm(&self, lines: &Sides<Vec<u32>>) -> bool {
        [(&self.updated, &lines.updated), (&self.dest, &lines.dest)].into_iter().all(|(matches, side)| {
            let mut is_known = vec![false; side.len()];
            matches.iter().flatten().for_each(|line| is_known[*line] = true);
            let is_kept: Vec<bool> = matches.iter().map(Option::is_some).collect();
            stays(&lines.original, &is_kept) && stays(side, &is_known)
        })
    }
}

/// Whether no stretch of lines without a match can move by a line. It can if it ends like the line before it, or begins like the one after it.
fn stays(lines: &[u32], is_matched: &[bool]) -> bool {
    let mut end = 0;
    is_matched.chunk_by(|one, next| one == next).all(|stretch| {
        let start = end;
        end += stretch.len();
        let is_again = |line: u32, at: Option<usize>| at.and_then(|at| lines.get(at)) == Some(&line);
        stretch[0] || !(is_again(lines[end - 1], start.checked_sub(1)) || is_again(lines[start], Some(end)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The merge of three words by letter.
    fn of(original: &str, updated: &str, dest: &str) -> Option<String> {
        let lines = |word: &str| word.chars().map(|letter| format!("{letter}\n")).collect::<String>();
        let texts = [original, updated, dest].map(lines);
        let [original, updated, dest] = texts.each_ref().map(String::as_str);
        merged(Sides { original, updated, dest }).map(|text| text.replace('\n', ""))
    }

    #[test]
    fn changes_that_lines_set_apart_are_merged() {
        for (original, updated, dest, want) in [
            ("abc", "abc", "abc", "abc"),
            ("abc", "Xbc", "abY", "XbY"),
            ("abc", "aXbc", "ab", "aXb"),
            ("abc", "aXc", "aXc", "aXc"),
            ("", "X", "", "X"),
            ("a", "a", "", ""),
        ] {
            assert_eq!(of(original, updated, dest).as_deref(), Some(want), "{original} {updated} {dest}");
        }
    }

    #[test]
    fn git_is_asked_where_it_may_choose() {
        for (original, updated, dest) in [
            // A conflict.
            ("abc", "aXc", "aYc"),
            ("abcd", "aXcd", "abYd"),
            // Which of two equal lines came or went.
            ("abbc", "abc", "abbcX"),
            ("abc", "abbc", "abcX"),
            ("adc", "ac", "acc"),
            ("xyxyz", "xyz", "xyxyzX"),
        ] {
            assert_eq!(of(original, updated, dest), None, "{original} {updated} {dest}");
        }
    }

    #[test]
    fn a_last_line_without_a_break_is_another_line() {
        assert_eq!(merged(Sides { original: "a\nb", updated: "c\nb", dest: "a\nb" }).as_deref(), Some("c\nb"));
        assert_eq!(merged(Sides { original: "a\nb\n", updated: "a\nb", dest: "a\nc\n" }), None);
        assert_eq!(
            merged(Sides { original: "a\r\nb\r\n", updated: "a\r\n", dest: "a\r\nb\r\n" }).as_deref(),
            Some("a\r\n")
        );
    }
}
