//! The values of a conflict for display: short values on one line, texts as a diff by line.

use krm_job::event::Event;
use krm_merge_function::results::yaml_of;
use krm_tree::path::cut;
use krm_words::counted;
use krm_yaml::shown::misleads;
use similar::{ChangeTag, TextDiff};
use yaml_serde::Value;

/// The values of the sides at the place of a conflict.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Values {
    /// The common original.
    pub original: Shown,
    /// Dest's value.
    pub dest: Shown,
    /// Updated's value.
    pub updated: Shown,
}

/// A value for display.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shown {
    /// JSON, shortened in the middle if it is long. If other texts are shown as differences from this text, its length.
    Whole(String),
    /// The differences from another text: from original's, or from dest's if original has none.
    Against(Vec<Line>),
}

/// A line of a text, without its line break, and shortened in the middle if it is long.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Line {
    /// It is in both texts.
    Same(String),
    /// It is only in the text that this one is compared with.
    Gone(String),
    /// It is only in this text.
    New(String),
    /// The number of lines left out.
    Omitted(usize),
}

/// The longest value and the longest line of a text that are shown, in bytes.
pub const WIDTH: usize = 240;

/// The most lines of a text that are shown.
const HEIGHT: usize = 40;

/// How many lines around a change are shown.
const CONTEXT: usize = 2;

/// The values of a conflict; `None` if it is not about values, or they are secret.
pub fn public_values(result: &Event) -> Option<Values> {
    values(result).filter(|_| !result.is_secret)
}

/// The values of a conflict, even of a Secret; `None` if it is not about values.
pub fn values(result: &Event) -> Option<Values> {
    let original = result.clash().and_then(|clash| clash.original.as_ref());
    let field = result.field.as_ref()?;
    let parsed: Option<Value> = original.and_then(|json| serde_json::from_str(json).ok());
    let values = [&field.current_value, &field.proposed_value].map(|value| value.as_ref().map(yaml_of));
    let [dest, updated] = values.each_ref().map(Option::as_ref);
    let from = text_of(parsed.as_ref());
    let jsons = [original.cloned(), dest.map(|value| json(Some(value))), updated.map(|value| json(Some(value)))];
    let start = same_start(&jsons.into_iter().flatten().collect::<Vec<_>>());
    let json = |value: Option<&Value>| shortened(&json(value), start);
    let by_line = |value: Option<&Value>, from: Option<&str>| match (from, text_of(value)) {
        (Some(from), Some(text)) if is_long([from, text]) => match lines(from, text) {
            // The texts differ only in the line break at their end.
            lines if lines.is_empty() => Shown::Whole(json(value)),
            lines => Shown::Against(lines),
        },
        _ => Shown::Whole(json(value)),
    };
    // Without an original, updated's text is compared with dest's.
    let (dest_shown, updated_shown) = match from {
        Some(from) => (by_line(dest, Some(from)), by_line(updated, Some(from))),
        None => {
            let updated_shown = by_line(updated, text_of(dest));
            let is_against = matches!(updated_shown, Shown::Against(_));
            (if is_against { length(text_of(dest)) } else { Shown::Whole(json(dest)) }, updated_shown)
        }
    };
    let is_against = from.is_some() && [&dest_shown, &updated_shown].iter().any(|s| matches!(s, Shown::Against(_)));
    let original = match original {
        Some(_) if is_against => length(from),
        Some(json) => Shown::Whole(shortened(json, start)),
        None => Shown::Whole(NOTHING.to_owned()),
    };
    Some(Values { original, dest: dest_shown, updated: updated_shown })
}

/// The display of a missing value.
pub const NOTHING: &str = "(none)";

fn text_of(value: Option<&Value>) -> Option<&str> {
    value.and_then(Value::as_str)
}

/// Whether texts are easier to read line by line: one of them has several lines, and none has characters that are invisible outside of
/// JSON.
fn is_long(texts: [&str; 2]) -> bool {
    let is_plain = |text: &str| text.chars().all(|c| !misleads(c) || matches!(c, '\n' | '\t'));
    texts.iter().any(|text| text.trim_end_matches('\n').contains('\n')) && texts.iter().all(|text| is_plain(text))
}

fn json(value: Option<&Value>) -> String {
    let json = value.and_then(|value| match value {
        Value::Tagged(tagged) => Some(format!("{} {}", tagged.tag, serde_json::to_string(&tagged.value).ok()?)),
        value => serde_json::to_string(value).ok(),
    });
    json.unwrap_or_else(|| NOTHING.to_owned())
}

/// How many bytes are the same at the beginning of all texts.
fn same_start(texts: &[String]) -> usize {
    let Some((first, others)) = texts.split_first() else { return 0 };
    let same = |other: &String| first.bytes().zip(other.bytes()).take_while(|(a, b)| a == b).count();
    others.iter().map(same).min().unwrap_or_default()
}

/// A long value without its middle. Where that hides what differs, which begins at `start`, its beginning is left out, too.
fn shortened(json: &str, start: usize) -> String {
    const BEFORE: usize = WIDTH / 3;
    if json.len() <= WIDTH || start < WIDTH / 2 {
        return cut(json.to_owned(), WIDTH);
    }
    let skip = (start.min(json.len()) - BEFORE..json.len()).find(|at| json.is_char_boundary(*at)).unwrap_or_default();
    format!("…{}", cut(json[skip..].to_owned(), WIDTH))
}

fn length(text: Option<&str>) -> Shown {
    Shown::Whole(format!("a text of {}", counted(text.unwrap_or_default().lines().count(), "line")))
}

/// The differences of `text` from `from`, if one of them has several lines; `None` if both are better shown whole.
pub fn by_line(from: &str, text: &str) -> Option<Vec<Line>> {
    Some([from, text]).filter(|texts| is_long(*texts)).map(|[from, text]| lines(from, text)).filter(|l| !l.is_empty())
}

/// The differences of `text` from `from`, line by line; empty if at most the last line break differs.
pub fn lines(from: &str, text: &str) -> Vec<Line> {
    let [from, text] =
        [from, text].map(|text| if text.ends_with('\n') { text.to_owned() } else { format!("{text}\n") });
    let diff = TextDiff::from_lines(&from, &text);
    let (mut out, mut next) = (Vec::new(), 0);
    if from == text {
        return out;
    }
    for hunk in diff.grouped_ops(CONTEXT) {
        let (Some(first), Some(last)) = (hunk.first(), hunk.last()) else { continue };
        if first.old_range().start > next {
            out.push(Line::Omitted(first.old_range().start - next));
        }
        next = last.old_range().end;
        out.extend(hunk.iter().flat_map(|op| diff.iter_changes(op)).map(|change| {
            let text = cut(change.value().trim_end_matches(['\n', '\r']).to_owned(), WIDTH);
            match change.tag() {
                ChangeTag::Equal => Line::Same(text),
                ChangeTag::Delete => Line::Gone(text),
                ChangeTag::Insert => Line::New(text),
            }
        }));
    }
    let left = from.lines().count().saturating_sub(next);
    if left > 0 {
        out.push(Line::Omitted(left));
    }
    if out.len() > HEIGHT {
        let omitted: usize =
            out.split_off(HEIGHT).iter().map(|line| if let Line::Omitted(n) = line { *n } else { 1 }).sum();
        out.push(Line::Omitted(omitted));
    }
    out
}

impl Line {
    /// The line with its mark in a diff in front.
    pub fn marked(&self) -> String {
        match self {
            Self::Same(text) => format!(" {text}"),
            Self::Gone(text) => format!("-{text}"),
            Self::New(text) => format!("+{text}"),
            Self::Omitted(count) => format!("… {}", counted(*count, "more line")),
        }
    }
}

#[cfg(test)]
mod tests {

    use krm_job::event::{Clash, Did, Dispute, Field, Severity};

    use super::*;

    fn of(original: Option<&str>, dest: Option<&str>, updated: Option<&str>) -> Values {
        let value = |text: Option<&str>| text.map(|t| krm_job::event::Value::String(t.to_owned()));
        let field = Field { path: "data.x".into(), current_value: value(dest), proposed_value: value(updated) };
        let dispute = Dispute::Value { at: "data.x".to_owned(), did: [Did::Changed; 2] };
        let original = original.map(|text| serde_json::to_string(text).expect("JSON"));
        let clash = Clash { original, ..Clash::open(dispute) };
        let outcome = Event { field: Some(field.into()), ..Event::conflict(Severity::Warning, clash) };
        values(&outcome).expect("values")
    }

    fn marked(shown: &Shown) -> Vec<String> {
        match shown {
            Shown::Whole(text) => vec![text.clone()],
            Shown::Against(lines) => lines.iter().map(Line::marked).collect(),
        }
    }

    #[test]
    fn texts_are_shown_by_line_and_other_values_whole() {
        let found = of(Some("a\nb\nc\nd\ne\nf\n"), Some("a\nB\nc\nd\ne\nf\n"), Some("a\nb\nc\nd\ne\n"));
        assert_eq!(marked(&found.original), ["a text of 6 lines"]);
        assert_eq!(marked(&found.dest), [" a", "-b", "+B", " c", " d", "… 2 more lines"]);
        assert_eq!(marked(&found.updated), ["… 3 more lines", " d", " e", "-f"]);
        let found = of(Some("a"), Some("b"), None);
        assert_eq!([&found.original, &found.dest, &found.updated].map(marked), [["\"a\""], ["\"b\""], ["(none)"]]);
        // Characters that only JSON makes visible.
        assert_eq!(marked(&of(Some("a\nb\n"), Some("a\u{1b}\nc\n"), None).dest), ["\"a\\u001b\\nc\\n\""]);
        // Both added it.
        let found = of(None, Some("a\nb\n"), Some("a\nc\n"));
        assert_eq!(marked(&found.original), ["(none)"]);
        assert_eq!(marked(&found.dest), ["a text of 2 lines"]);
        assert_eq!(marked(&found.updated), [" a", "-b", "+c"]);
        // One side deleted it.
        let found = of(Some("a\nb\n"), None, Some("a\nc\n"));
        assert_eq!(
            (marked(&found.dest), marked(&found.updated)),
            (vec!["(none)".to_owned()], vec![" a".into(), "-b".into(), "+c".into()])
        );
    }

    #[test]
    fn of_long_values_the_part_that_differs_is_shown() {
        for before in [0, 100, 119, 120, 160, 300, 5000] {
            let long = |mark: &str| format!("{}{mark}{}", "é".repeat(before / 2), "x".repeat(5000));
            let found = of(Some(&long("one")), Some(&long("two")), Some(&long("three")));
            for (shown, mark) in [(&found.original, "one"), (&found.dest, "two"), (&found.updated, "three")] {
                let Shown::Whole(text) = shown else { panic!("{found:?}") };
                assert!(text.contains(mark) && text.len() < WIDTH + 10, "{before}: {text}");
            }
        }
        // One is short.
        let found = of(Some("a"), Some(&format!("a{}", "x".repeat(500))), None);
        assert_eq!(marked(&found.original), ["\"a\""]);
    }

    #[test]
    fn what_is_long_is_cut() {
        let long = "x".repeat(1000);
        let found = of(Some("a"), Some(&long), Some(&format!("a\n{long}")));
        let Shown::Whole(dest) = &found.dest else { panic!("{found:?}") };
        assert!(dest.len() < WIDTH + 10 && dest.contains('…'), "{dest}");
        let lines = marked(&found.updated);
        assert!(lines.iter().all(|line| line.len() < WIDTH + 10) && lines.len() == 2, "{lines:?}");
        let [many, others] = ["a", "b"].map(|c| (0..500).map(|i| format!("{c}{i}\n")).collect::<String>());
        let lines = marked(&of(Some(&many), Some("x"), Some(&others)).updated);
        assert_eq!((lines.len(), lines.last().map(String::as_str)), (HEIGHT + 1, Some("… 960 more lines")));
    }
}
