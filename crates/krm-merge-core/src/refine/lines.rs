//! Three versions of a text, merged line by line as diff3 does it.

use std::ops::Range;

use krm_tree::sides::Sides;

use super::Sources;
use super::three::{Changed, Hunk, Matches, Part, matches, matches_of_lines, numbered, parts};

/// A text with the changes of both sides in it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct TextLines {
    /// The text if dest wins where the changes overlap or touch.
    pub dest: String,
    /// The text if updated wins where the changes overlap or touch.
    pub updated: String,
    /// The changes that it has.
    pub sources: Sources,
}

/// Merges three versions of a text.
pub(super) fn merged(original: &str, updated: &str, dest: &str) -> TextLines {
    let (lines, parts) = compared_parts(Sides { original, updated, dest });
    let mut out = TextLines { dest: String::new(), updated: String::new(), sources: Sources::default() };
    for part in parts {
        let (lines_of_dest, lines_of_updated) = match part {
            Part::Anchor(at) => (&lines.dest[at.dest..=at.dest], &lines.dest[at.dest..=at.dest]),
            Part::Hunk(hunk) => {
                let changed = hunk.changed(&lines.original, &lines.updated, &lines.dest);
                out.sources.add(changed);
                let (u, d) = (&lines.updated[hunk.updated], &lines.dest[hunk.dest]);
                match changed {
                    Changed::Updated => (u, u),
                    Changed::Apart => (d, u),
                    Changed::Nowhere | Changed::Dest | Changed::Alike => (d, d),
                }
            }
        };
        out.dest.extend(lines_of_dest.iter().copied());
        out.updated.extend(lines_of_updated.iter().copied());
    }
    out
}

/// The numbers of the lines that both sides changed in different ways, place by place.
pub fn apart(texts: Sides<&str>) -> Vec<Sides<Range<usize>>> {
    let (lines, parts) = compared_parts(texts);
    let hunks = parts.into_iter().filter_map(|part| match part {
        Part::Hunk(hunk) if hunk.changed(&lines.original, &lines.updated, &lines.dest) == Changed::Apart => Some(hunk),
        Part::Hunk(_) | Part::Anchor(_) => None,
    });
    hunks.map(|Hunk { original, updated, dest }| Sides { original, updated, dest }).collect()
}

/// The lines of three versions of a text, and what they have in common.
fn compared_parts(texts: Sides<&str>) -> (Sides<Vec<&str>>, Vec<Part>) {
    let lines = texts.map(|text| text.split_inclusive('\n').collect::<Vec<&str>>());
    let Sides { original, updated, dest } = numbered(&lines);
    (lines, parts_of([&original, &updated, &dest]))
}

/// The parts of three lists of scalars as git finds them in their lines, and the merged list. `None` if there is a conflict, or if either side,
/// merged into the list again, would change it, whichever of the two comes first.
pub(super) fn settled([original, updated, dest]: [&[u32]; 3]) -> Option<(Vec<Part>, Vec<u32>)> {
    let merged = |updated, dest| {
        let sides = [original, updated, dest];
        let parts = parts_of(sides);
        clean(&parts, sides).map(|merged| (parts, merged))
    };
    let (parts, found) = merged(updated, dest)?;
    let is_found = |updated, dest| merged(updated, dest).is_some_and(|(_, merged)| merged == found);
    let pairs = [[dest, updated], [updated, &found], [&found, updated], [dest, &found], [&found, dest]];
    let is_settled = pairs.into_iter().all(|[updated, dest]| is_found(updated, dest));
    is_settled.then_some((parts, found))
}

/// What three versions have in common. Lines of original have the first numbers.
fn parts_of(sides: [&[u32]; 3]) -> Vec<Part> {
    let gits = compared(sides, matches_of_lines);
    // As many lines as possible must match, or one that dest has could seem to be missing, and come again with each run. Where blocks are in
    // another order, only the matches that the first run found show what it did.
    let upgraded =
        |likeness| upgraded(sides, likeness, matches).or_else(|| upgraded(sides, likeness, matches_of_lines));
    let found = match clean(&gits, sides) {
        Some(_) => upgraded(Likeness::OnTheWay).filter(|parts| has_new_line(parts, sides)),
        None => upgraded(Likeness::More),
    };
    found.unwrap_or(gits)
}

/// Whether both sides have a line that original lacks, in a change that they share. That is a sign of a first run. A line that only stands
/// again is none: what one side added is not taken for the other side's because it reads the same.
fn has_new_line(parts: &[Part], [original, updated, dest]: [&[u32]; 3]) -> bool {
    let known = original.iter().max();
    parts.iter().any(|part| match part {
        Part::Hunk(hunk) if hunk.changed(original, updated, dest) == Changed::Alike => {
            updated[hunk.updated.clone()].iter().max() > known
        }
        Part::Hunk(_) | Part::Anchor(_) => false,
    })
}

/// The lines of a merge; `None` if it has a conflict.
fn clean(parts: &[Part], [original, updated, dest]: [&[u32]; 3]) -> Option<Vec<u32>> {
    let mut out = Vec::with_capacity(dest.len());
    for part in parts {
        match (part, part.changed(original, updated, dest)) {
            (_, Changed::Apart) => return None,
            (Part::Hunk(hunk), Changed::Updated) => out.extend(&updated[hunk.updated.clone()]),
            (Part::Hunk(hunk), _) => out.extend(&dest[hunk.dest.clone()]),
            (Part::Anchor(at), _) => out.push(dest[at.dest]),
        }
    }
    Some(out)
}

/// The parts of three versions, as git finds them.
fn compared([original, updated, dest]: [&[u32]; 3], matches: impl Fn(&[u32], &[u32]) -> Matches) -> Vec<Part> {
    parts(&matches(original, updated), &matches(original, dest), updated.len(), dest.len())
}

/// How sure it must be that dest has upstream's change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Likeness {
    /// The shortest way from original to dest goes by way of updated. It counts where git is clean.
    OnTheWay,
    /// Dest is as much like updated as like original. It is enough where git stops.
    More,
}

/// The parts if dest has all of upstream's change already, as after a first run. Its matches go by way of updated: if both sides added equal
/// lines, a comparison of original and dest may take another line for the added one.
fn upgraded(
    [original, updated, dest]: [&[u32]; 3],
    likeness: Likeness,
    matches: impl Fn(&[u32], &[u32]) -> Matches,
) -> Option<Vec<Part>> {
    let (in_updated, of_updated) = (matches(original, updated), matches(updated, dest));
    let in_dest = matches(original, dest);
    let changed = |of: &Matches, from: &[u32], to: &[u32]| from.len() + to.len() - 2 * count(of);
    let is_alike = match likeness {
        Likeness::OnTheWay => {
            let way = changed(&in_updated, original, updated) + changed(&of_updated, updated, dest);
            way == changed(&in_dest, original, dest)
        }
        Likeness::More => count(&of_updated) >= count(&in_dest),
    };
    if !is_alike {
        return None;
    }
    let by_updated = in_updated.iter().map(|updated| of_updated[(*updated)?]).collect();
    let has = |part: &Part| !matches!(part.changed(original, updated, dest), Changed::Updated | Changed::Apart);
    let parts = parts(&in_updated, &by_updated, updated.len(), dest.len());
    parts.iter().all(has).then_some(parts)
}

fn count(matches: &Matches) -> usize {
    matches.iter().flatten().count()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lines from words, the last one without a line break if the text ends in `$`.
    fn text(words: &str) -> String {
        let text: String = words.split(' ').filter(|w| !w.is_empty()).map(|w| format!("{w}\n")).collect();
        text.strip_suffix("$\n").map(str::to_owned).unwrap_or(text)
    }

    #[test]
    fn texts_are_merged_line_by_line() {
        for (original, updated, dest, want) in [
            ("a b c", "a b X", "Y b c", ("Y b X", "Y b X")),
            ("a b c", "a b c X", "Y a b c", ("Y a b c X", "Y a b c X")),
            ("a b c", "b c", "a b", ("b", "b")),
            ("a b c", "a X c", "a Y c", ("a Y c", "a X c")),
            ("a b c", "a X c", "a b Y", ("a b Y", "a X c")),
            ("a b c d e", "X b Y d e", "a b Z d E", ("X b Z d E", "X b Y d E")),
            ("a b c$", "a b c", "X b c$", ("X b c", "X b c")),
            ("a b c", "a b c$", "a b c d", ("a b c d", "a b c$")),
            ("a b c", "", "a b X", ("a b X", "")),
        ] {
            let found = merged(&text(original), &text(updated), &text(dest));
            assert_eq!((found.dest, found.updated), (text(want.0), text(want.1)), "{original} {updated} {dest}");
            let swapped = merged(&text(original), &text(dest), &text(updated));
            assert_eq!((swapped.updated, swapped.dest), (text(want.0), text(want.1)), "swapped");
            assert_eq!(swapped.sources.apart, found.sources.apart);
        }
    }

    #[test]
    fn a_change_stays_in_its_block_among_blocks_that_are_alike() {
        let block = |name: &str, cpu: &str| format!("{name}: on image: {name} tag limits: {cpu} memory env: {name} - ");
        let blocks = |blocks: [(&str, &str); 4]| text(&blocks.map(|(name, cpu)| block(name, cpu)).concat());
        let original = blocks([("web", "1"), ("api", "1"), ("mail", "1"), ("jobs", "1")]);
        let updated = blocks([("web", "1"), ("api", "1"), ("jobs", "1"), ("mail", "1")]);
        let dest = blocks([("web", "1"), ("api", "1"), ("mail", "1"), ("jobs", "4")]);
        let found = merged(&original, &updated, &dest);
        assert_eq!(found.dest, blocks([("web", "1"), ("api", "1"), ("jobs", "4"), ("mail", "1")]));
        assert_eq!(found.updated, found.dest);
    }

    #[test]
    fn a_line_that_stands_again_is_merged_as_git_merges_it() {
        for (original, updated, dest, want) in [
            ("s r r e", "s r r r e", "s p r r e", "s p r r r e"),
            ("a b a a a a", "a a a a a", "c a b a a a c a", "c a a a a c a"),
            ("b a a e", "b a X a e", "b a a Y e", "b a X a Y e"),
            ("r s e", "r s s e", "r r s e", "r r s s e"),
        ] {
            let [original, updated, dest, want] = [original, updated, dest, want].map(text);
            let found = merged(&original, &updated, &dest);
            assert_eq!((found.dest, found.updated), (want.clone(), want.clone()), "{original}{updated}{dest}");
            let swapped = merged(&original, &dest, &updated);
            assert_eq!((swapped.dest, swapped.updated), (want.clone(), want), "swapped");
        }
    }

    #[test]
    fn a_line_of_both_sides_that_stands_again_is_no_sign_of_a_first_run() {
        // TODO: A second run changes nothing. But no merge can tell what the first run makes of `a X b c` from what dest wrote itself, and
        // then git's text counts.
        assert_eq!(merged(&text("a o b c"), &text("a o b b c"), &text("a X b b c")).dest, text("a X b b b c"));
        assert_eq!(merged(&text("a o b c"), &text("a o b b c"), &text("a X b c")).dest, text("a X b b c"));
        // In the same way, dest may have removed its `a` or upstream's.
        assert_eq!(merged(&text("a b a a"), &text("a b a"), &text("X a a")).dest, text("X a"));
        // A line that original lacks is a sign: git would have it twice.
        let once = merged(&text("a c"), &text("a c d c"), &text("X c"));
        assert_eq!(once.dest, text("X c d c"));
        assert_eq!(merged(&text("a c"), &text("a c d c"), &once.dest).dest, once.dest);
    }

    #[test]
    fn a_text_that_one_side_left_alone_becomes_the_other() {
        for (original, changed) in [("a b c", "a X c d"), ("", "a b"), ("a b", ""), ("a b$", "b a$")] {
            let (original, changed) = (text(original), text(changed));
            for found in [merged(&original, &changed, &original), merged(&original, &original, &changed)] {
                assert_eq!((found.dest, found.updated), (changed.clone(), changed.clone()));
                assert!(!found.sources.is_combined() && !found.sources.apart);
            }
        }
    }

    #[test]
    fn a_second_run_changes_nothing() {
        let block = "s l { r } }";
        for (original, updated, dest, want) in [
            (block, "s l { r } m { t } }", "s l { r x } }", "s l { r x } m { t } }"),
            ("a fi fi fi e", "0 a fi fi e", "a fi fi e", "0 a fi fi e"),
        ] {
            let [original, updated, dest, want] = [original, updated, dest, want].map(text);
            let once = merged(&original, &updated, &dest);
            assert_eq!((once.dest.as_str(), once.updated.as_str()), (&*want, &*want));
            let twice = merged(&original, &updated, &once.dest);
            assert_eq!((twice.dest, twice.sources.is_combined()), (want, false));
        }
    }

    #[test]
    fn no_line_vanishes_that_no_side_removed() {
        let original: Vec<String> = (0..5000).map(|i| format!("line {i}")).collect();
        let with = |step: usize, word: &str| -> String {
            let line = |(i, line): (usize, &String)| {
                if i % step == 0 { format!("{line} {word}\n") } else { format!("{line}\n") }
            };
            original.iter().enumerate().map(line).collect()
        };
        let found = merged(&with(usize::MAX, ""), &with(14, "u"), &with(35, "d"));
        assert!(found.sources.apart && found.sources.is_combined());
        for (i, line) in original.iter().enumerate() {
            let is_there = |text: &str| {
                text.lines().any(|l| l == line || l.strip_prefix(&**line).is_some_and(|r| r.starts_with(' ')))
            };
            if i % 500 == 0 {
                assert!(is_there(&found.dest) && is_there(&found.updated), "{line}");
            }
        }
        assert_eq!((found.dest.lines().count(), found.updated.lines().count()), (5000, 5000));
    }
}
