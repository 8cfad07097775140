//! Finds the resource and field of a conflict, if the text around its markers is YAML.

use std::ops::Range;

use krm_schema::schema::{Inference, Types};
use krm_show::spot::{Finder, Spot};
use krm_yaml::Document;

use krm_job::marked::{Answer, Marked};

/// The resource and field of each conflict of a text: `Deployment web spec.replicas`.
///
/// The text is read with ours in the place of every conflict. What this does not tell is read with theirs. Only the YAML documents that a
/// conflict touches are read, because others may not be YAML, and each is read once.
pub fn about(marked: &Marked<'_>) -> Vec<Option<String>> {
    let whole =
        |conflict| marked.is_of_whole_file(conflict).then(|| "the whole file, which one side deleted".to_owned());
    let mut found: Vec<Option<String>> = marked.conflicts.iter().map(whole).collect();
    for answer in [Answer::Ours, Answer::Theirs] {
        if found.iter().any(Option::is_none) {
            look(marked, &answer, &mut found);
        }
    }
    found
}

/// Looks for what is not found yet in the text with one answer in the place of all conflicts.
fn look(marked: &Marked<'_>, answer: &Answer, found: &mut [Option<String>]) {
    let Some((text, ranges)) = taken(marked, answer) else { return };
    let ends: Vec<usize> = text.match_indices("\n---").map(|(at, _)| at).collect();
    let all: Vec<(usize, Range<usize>)> =
        ranges.into_iter().enumerate().filter(|(number, _)| found[*number].is_none()).collect();
    let types = Types::new([], Inference::On);
    for group in all.chunk_by(|a, b| around(&text, &ends, &a.1) == around(&text, &ends, &b.1)) {
        let around = around(&text, &ends, &group[0].1);
        let Ok(document) = Document::parse(&text[around.clone()]) else { continue };
        let finder = Finder::new(&document, &types);
        for (number, range) in group {
            let own = range.start - around.start..range.end - around.start;
            found[*number] = listed(&finder.spots(std::slice::from_ref(&own)));
        }
    }
}

/// The text with one answer in the place of all conflicts, and the range of each conflict in it.
fn taken(marked: &Marked<'_>, answer: &Answer) -> Option<(String, Vec<Range<usize>>)> {
    let (mut out, mut at, mut ranges) = (Vec::new(), 0, Vec::new());
    for conflict in &marked.conflicts {
        out.extend_from_slice(marked.bytes(&(at..conflict.range.start)));
        let start = out.len();
        out.extend_from_slice(&marked.answer(conflict, answer));
        ranges.push(start..out.len());
        at = conflict.range.end;
    }
    out.extend_from_slice(marked.bytes(&(at..marked.text.len())));
    Some((String::from_utf8(out).ok()?, ranges))
}

/// The range of the documents that a range touches. `ends` are the offsets at which documents end.
fn around(text: &str, ends: &[usize], range: &Range<usize>) -> Range<usize> {
    let before = ends.partition_point(|end| end + "\n---".len() <= range.start);
    let start = before.checked_sub(1).map_or(0, |before| ends[before] + 1);
    let after = ends.partition_point(|end| *end < range.end);
    start..ends.get(after).map_or(text.len(), |end| end + 1)
}

fn listed(spots: &[Spot]) -> Option<String> {
    let first = spots.first()?;
    let place = if first.path.is_empty() { String::new() } else { format!(" {}", first.path) };
    let more = if spots.len() > 1 { format!(", and {} more", spots.len() - 1) } else { String::new() };
    Some(format!("{}{place}{more}", first.resource))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(text: &str) -> Vec<Option<String>> {
        about(&Marked::read(text.as_bytes()))
    }

    fn conflict(ours: &str, theirs: &str) -> String {
        format!("<<<<<<< a\n{ours}=======\n{theirs}>>>>>>> b\n")
    }

    const HEAD: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: c\n";

    #[test]
    fn a_conflict_is_about_what_stands_in_it_on_a_side() {
        let text = format!("{HEAD}data:\n{}{}", conflict("  a: 1\n", "  a: 2\n"), conflict("", "  b: 1\n  d: 1\n"));
        assert_eq!(
            all(&text),
            [Some("ConfigMap c data.a".to_owned()), Some("ConfigMap c data.b, and 1 more".to_owned())]
        );
        let text = format!("a: b: c\n---\n{}---\n{HEAD}", conflict(HEAD, ""));
        assert_eq!(all(&text), [Some("ConfigMap c apiVersion, and 2 more".to_owned())]);
        let text = format!("---\n{HEAD}data:\n{}", conflict("  a: [\n", "  a: [1]\n"));
        assert_eq!(all(&text), [Some("ConfigMap c data.a".to_owned())]);
    }

    #[test]
    fn a_deleted_file_is_named_as_such() {
        let text = format!("<<<<<<< a\n{HEAD}=======\n>>>>>>> b, which deleted the file\n");
        assert_eq!(all(&text), [Some("the whole file, which one side deleted".to_owned())]);
    }

    #[test]
    fn what_does_not_parse_is_about_nothing_known() {
        assert_eq!(all(&conflict("a\n", "b\n")), [None]);
        assert_eq!(all(&format!("{HEAD}data: [\n{}", conflict("a: 1\n", "b: 1\n"))), [None]);
    }
}
