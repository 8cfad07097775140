//! Comments that the merge of the resources does not see: those around all resources, those that belong to nothing, and those of what the other
//! side changed or deleted.
//!
//! One that belongs to something is put to choice with it; one that stands free is carried over.

use std::cell::LazyCell;
use std::collections::HashMap;
use std::ops::Range;

use krm_merge::edits::{Edit, TextEdits};
use krm_merge::yaml::Document;

use super::choices::{ORIGINAL, OURS, THEIRS};
use super::versions::{Address, Here, Spot, Versions, identity, line_start};

/// Our text with their comments above and below all resources, where only they changed these. From original, theirs and ours.
pub fn with_margins([original, theirs, ours]: [&str; 3]) -> String {
    let [(top, _, bottom), (their_top, _, their_bottom), (our_top, body, our_bottom)] =
        [original, theirs, ours].map(split);
    let merged = |original: &str, theirs: &str, ours: &str| if ours == original { theirs } else { ours }.to_owned();
    // What is added to either side is between the marks that the other one has.
    format!("{}{body}{}", merged(top, their_top, our_top), merged(bottom, their_bottom, our_bottom))
}

/// The comment block at the top that a blank line or a mark sets apart, with that blank line, the resources, and the comments at the very end.
fn split(text: &str) -> (&str, &str, &str) {
    let (mut at, mut top) = (0, 0);
    for line in text.split_inclusive('\n') {
        let content = line.trim_start_matches('\u{feff}').trim_end();
        if content.is_empty() {
            top = at + line.len();
        } else if content == "---" {
            top = at;
        } else if !content.starts_with('#') {
            break;
        }
        at += line.len();
    }
    let (mut at, mut bottom) = (text.len(), text.len());
    for line in text[top..].split_inclusive('\n').rev() {
        at -= line.len();
        if line.starts_with('#') {
            bottom = at;
        } else if !line.trim().is_empty() {
            break;
        }
    }
    (&text[..top], &text[top..bottom], &text[bottom..])
}

/// A comment of one side that is in none of the texts.
#[derive(Clone, Copy, Debug)]
pub struct Lost {
    /// The side that added it.
    pub version: usize,
    /// Where it begins there.
    pub at: usize,
}

/// The comments that a side added, and that neither text has, in the order of each side.
pub fn lost(versions: &Versions<'_, 3>, texts: [&Document<'static>; 2]) -> Vec<Lost> {
    let counts = versions.documents.map(count);
    let shown = texts.map(count);
    let of = |all: &HashMap<&str, usize>, comment: &str| all.get(comment).copied().unwrap_or_default();
    let missing = |version: usize, comment: &str| {
        let before = of(&counts[ORIGINAL], comment);
        let own = of(&counts[version], comment);
        if own <= before {
            return 0;
        }
        let taken_away = before.saturating_sub(of(&counts[THEIRS + OURS - version], comment));
        let shown = of(&shown[0], comment).max(of(&shown[1], comment));
        own.saturating_sub(taken_away + shown)
    };
    let mut lost = Vec::new();
    let [original, theirs, ours] = versions.documents;
    let all = Versions::new([original, theirs, ours, texts[0], texts[1]]);
    let resources = LazyCell::new(|| all.resources());
    for version in [THEIRS, OURS] {
        let mut left: HashMap<&str, usize> = HashMap::new();
        for (at, comment) in comments(versions.documents[version]) {
            let left = left.entry(comment).or_insert_with(|| missing(version, comment));
            if *left == 0 {
                continue;
            }
            let lineage = lineage(&resources, version, at);
            let stands = |other: usize| {
                let lines = lineage.last().and_then(|spot| spot.lines(other));
                lines.is_some_and(|lines| within(all.documents[other], lines).any(|c| c.1 == comment))
            };
            if ![ORIGINAL, 3, 4].into_iter().any(stands) {
                *left -= 1;
                lost.push(Lost { version, at });
            }
        }
    }
    lost
}

/// Where someone has to choose for a comment to be seen: at the outermost spot around it that the other side deleted, or at the spot that it
/// belongs to. `None` where it belongs to none that both sides have.
pub fn disputed(versions: &Versions<'_, 3>, lost: Lost) -> Option<Address> {
    let resources = versions.resources();
    let lineage = lineage(&resources, lost.version, lost.at);
    let root = lineage.first()?;
    let resource = root.here[lost.version].and_then(|here| identity(here.value))?;
    let other = THEIRS + OURS - lost.version;
    let spot = match lineage.iter().find(|spot| spot.here[other].is_none()) {
        Some(gone) if gone.here[ORIGINAL].is_none() => return None,
        Some(gone) => gone,
        None => lineage.last().filter(|spot| is_own(spot, lost))?,
    };
    Some(Address { resource, path: spot.path.keyed() })
}

/// Whether a comment belongs to the innermost spot around it, and does not stand free among its children.
fn is_own<const N: usize>(spot: &Spot<'_, N>, lost: Lost) -> bool {
    let Some(here) = spot.here[lost.version] else { return false };
    let text = here.value.document().source();
    here.place.is_some_and(|place| lost.at < line_end(text, place.lead)) || spot.children().is_empty()
}

/// Two texts with the comments put where they stand in their side: above the next spot that the text has, or below the one before. Where our
/// side says something else there, only the second text has them, so that someone chooses.
pub fn carried(versions: &Versions<'_, 3>, texts: [&Document<'static>; 2], lost: &[Lost]) -> [String; 2] {
    let [original, theirs, ours] = versions.documents;
    let all = Versions::new([original, theirs, ours, texts[0], texts[1]]);
    let resources = all.resources();
    let mut edits = [Vec::new(), Vec::new()];
    for comment in lost {
        let source = all.documents[comment.version].source();
        let line = &source[comment.at..line_end(source, comment.at)];
        let next = &source[next_line(source, comment.at)..];
        let is_alone = source[line_start(source, comment.at)..comment.at].trim().is_empty();
        let is_apart = is_alone && next.lines().next().is_some_and(|line| line.trim().is_empty());
        for (text, edits) in edits.iter_mut().enumerate() {
            let Some((spot, edge)) = anchor(&resources, comment, 3 + text) else { continue };
            let differs = || said_above(spot.here[ORIGINAL]) != said_above(spot.here[OURS]);
            if text == 0 && comment.version == THEIRS && edge == Edge::Above && differs() {
                continue;
            }
            let (Some(here), Some(lines)) = (spot.here[3 + text], spot.lines(3 + text)) else { continue };
            let document = texts[text];
            let column = here.place.map_or(0, |place| match place.is_inline(document) {
                true => indentation(document.source(), place.lead),
                false => place.column(document),
            });
            let at = if edge == Edge::Above { lines.start } else { lines.end };
            let open = at > 0 && !document.source()[..at].ends_with('\n');
            let line_break = document.line_break();
            let indent = " ".repeat(column);
            edits.push(Edit {
                range: at..at,
                text: format!(
                    "{}{indent}{}{line_break}{}",
                    if open { line_break } else { "" },
                    line.trim_end(),
                    if is_apart && edge == Edge::Above { line_break } else { "" }
                ),
            });
        }
    }
    let mut all_edits = edits.into_iter();
    texts.map(|document| {
        let edits = TextEdits::of(all_edits.next().unwrap_or_default()).unwrap_or_default();
        edits.apply(document.source(), 0..document.source().len())
    })
}

/// On which side of a spot a comment stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Edge {
    Above,
    Below,
}

/// The spot of a text beside which a comment of a side goes.
fn anchor<'a>(resources: &[Spot<'a, 5>], lost: &Lost, text: usize) -> Option<(Spot<'a, 5>, Edge)> {
    let lineage = lineage(resources, lost.version, lost.at);
    let is_there = |spot: &Spot<'a, 5>| spot.here[text].is_some() && spot.lines(text).is_some();
    let start = |spot: &Spot<'a, 5>| spot.here[lost.version].and_then(|here| here.place).map(|place| place.lead);
    if let Some(own) = lineage.last().filter(|spot| is_own(spot, *lost) && is_there(spot)) {
        return Some((own.clone(), Edge::Above));
    }
    for container in lineage.iter().rev() {
        let mut children: Vec<Spot<'a, 5>> = container.children();
        children.retain(|child| start(child).is_some() && is_there(child));
        children.sort_by_key(start);
        let next = children.partition_point(|child| start(child) < Some(lost.at));
        if let Some(child) = children.get(next) {
            return Some((child.clone(), Edge::Above));
        }
        if let Some(child) = children.pop() {
            return Some((child, Edge::Below));
        }
    }
    None
}

/// The spots around an offset of a version, from the resource inwards.
fn lineage<'a, const N: usize>(resources: &[Spot<'a, N>], version: usize, at: usize) -> Vec<Spot<'a, N>> {
    let holds = |spot: &&Spot<'a, N>| spot.lines(version).is_some_and(|lines| lines.contains(&at));
    let mut lineage: Vec<Spot<'a, N>> = resources.iter().find(holds).cloned().into_iter().collect();
    while let Some(spot) = lineage.last() {
        match spot.children().iter().find(holds) {
            Some(child) => lineage.push(child.clone()),
            None => break,
        }
    }
    lineage
}

/// The comment lines above a spot, those that a blank line sets apart included.
fn said_above(here: Option<Here<'_>>) -> Vec<&str> {
    let Some((here, place)) = here.and_then(|here| Some((here, here.place?))) else { return Vec::new() };
    let source = here.value.document().source();
    let lines = source[..line_start(source, place.lead)].lines().rev().map(str::trim);
    lines.take_while(|line| line.is_empty() || line.starts_with('#')).filter(|line| !line.is_empty()).collect()
}

/// The comments of a text: where each begins, and what it says.
fn comments<'d>(document: &'d Document<'_>) -> impl Iterator<Item = (usize, &'d str)> {
    within(document, 0..document.source().len())
}

fn within<'d>(document: &'d Document<'_>, lines: Range<usize>) -> impl Iterator<Item = (usize, &'d str)> {
    document.comments_in(lines).map(|(start, end)| (start, document.source()[start..end].trim_end()))
}

fn count<'d>(document: &'d Document<'static>) -> HashMap<&'d str, usize> {
    let mut counts = HashMap::new();
    for (_, comment) in comments(document) {
        *counts.entry(comment).or_default() += 1;
    }
    counts
}

/// The blanks before the first word of the line of an offset.
fn indentation(text: &str, at: usize) -> usize {
    text[line_start(text, at)..].bytes().take_while(|b| *b == b' ').count()
}

fn line_end(text: &str, at: usize) -> usize {
    text[at..].find('\n').map_or(text.len(), |i| at + i)
}

fn next_line(text: &str, at: usize) -> usize {
    (line_end(text, at) + 1).min(text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_split_at_the_comments_around_its_resources() {
        for (text, want) in [
            ("# a\n\n# of x\nx: 1\n", ("# a\n\n", "# of x\nx: 1\n", "")),
            ("# a\n---\nx: 1\n\n# end\n", ("# a\n", "---\nx: 1\n\n", "# end\n")),
            ("# of x\nx: |\n  # no comment\n", ("", "# of x\nx: |\n  # no comment\n", "")),
            ("# only", ("", "", "# only")),
            ("", ("", "", "")),
        ] {
            assert_eq!(split(text), want);
        }
        assert_eq!(with_margins(["x: 1\n", "# a\n\nx: 1\n", "x: 2\n"]), "# a\n\nx: 2\n");
        assert_eq!(with_margins(["# a\n\nx: 1\n", "# b\n\nx: 1\n# end\n", "# a\n\nx: 2\n"]), "# b\n\nx: 2\n# end\n");
        assert_eq!(with_margins(["# a\n\nx: 1\n", "# b\n\nx: 1\n", "# c\n\nx: 2\n"]), "# c\n\nx: 2\n");
    }
}
