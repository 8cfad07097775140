//! Finds the resource and field of a conflict, if the text around its markers is YAML.

use std::ops::Range;

use krm_merge::schema::{Inference, Types};
use krm_merge::yaml::Document;

use super::marked::{Answer, Marked};
use crate::spot::{Spot, spots};

/// The resource and field of a conflict: `Deployment web spec.replicas`.
///
/// The text is read with ours in the place of every conflict. If that gives nothing, it is read with theirs. Only the YAML documents that
/// the conflict touches are read, because others may not be YAML.
pub fn about(marked: &Marked<'_>, number: usize) -> Option<String> {
    if marked.is_of_whole_file(&marked.conflicts[number]) {
        return Some("the whole file, which one side deleted".to_owned());
    }
    [Answer::Ours, Answer::Theirs].into_iter().find_map(|answer| {
        let (text, range) = taken(marked, number, &answer)?;
        let around = around(&text, &range);
        let document = Document::parse(&text[around.clone()]).ok()?;
        let range = range.start - around.start..range.end - around.start;
        listed(&spots(&document, &[range], &Types::new([], Inference::On)))
    })
}

/// The text with one answer in the place of all conflicts, and the range of this conflict in it.
fn taken(marked: &Marked<'_>, number: usize, answer: &Answer) -> Option<(String, Range<usize>)> {
    let (mut out, mut at, mut range) = (Vec::new(), 0, 0..0);
    for (i, conflict) in marked.conflicts.iter().enumerate() {
        out.extend_from_slice(marked.bytes(&(at..conflict.range.start)));
        let start = out.len();
        out.extend_from_slice(&marked.answer(conflict, answer));
        if i == number {
            range = start..out.len();
        }
        at = conflict.range.end;
    }
    out.extend_from_slice(marked.bytes(&(at..marked.text.len())));
    Some((String::from_utf8(out).ok()?, range))
}

/// The range of the documents that a range touches.
fn around(text: &str, range: &Range<usize>) -> Range<usize> {
    let start = text[..range.start].rfind("\n---").map_or(0, |at| at + 1);
    let end = text[range.end..].find("\n---").map_or(text.len(), |at| range.end + at + 1);
    start..end
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
        let marked = Marked::read(text.as_bytes());
        (0..marked.conflicts.len()).map(|number| about(&marked, number)).collect()
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
