//! [`Seen`]: what was seen of a resource before its nodes were dropped, so that a merge that changes nothing of it needs no nodes.

use std::ops::Range;

use super::Unread;
use crate::host::is_transport;
use crate::yaml::{Kind, NodeRef, Style};

/// What was seen of a resource while its nodes were there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seen {
    /// The lines of its annotations, from the first one, by the offsets in the text. Empty if it has none.
    annotations: (u32, u32),
}

impl Seen {
    /// Looks at a resource. `None` if a merge without a change may find something in it: a null, or a key twice in a map that a merge
    /// looks at.
    pub(super) fn of(resource: NodeRef<'_>, metadata: NodeRef<'_>, annotations: Option<NodeRef<'_>>) -> Option<Self> {
        let is_sound = |map: &NodeRef<'_>| map.kind() == Kind::Map && map.duplicate_key().is_none();
        if resource.has_nulls() || ![Some(resource), Some(metadata), annotations].iter().flatten().all(is_sound) {
            return None;
        }
        let Some(annotations) = annotations else { return Some(Self { annotations: (0, 0) }) };
        let document = annotations.document();
        let start = document.line_start(annotations.start());
        // A block scalar at the end may have more lines than its node.
        let has_own_lines = annotations.style() == Style::Block
            && document.source()[start..annotations.start()].bytes().all(|byte| byte == b' ')
            && annotations.entries().all(|(_, value)| !matches!(value.style(), Style::Literal | Style::Folded));
        let end = document.next_line(annotations.end());
        has_own_lines.then_some(Self { annotations: (start as u32, end as u32) })
    }
}

/// The lines of a resource: those of its annotations one by one.
pub(super) struct Lines<'t> {
    before: &'t str,
    annotations: Vec<Line<'t>>,
    behind: &'t str,
}

/// A line of the annotations.
struct Line<'t> {
    /// Its bytes in the text of the document.
    range: Range<usize>,
    text: &'t str,
    /// The annotation of the host that it holds, if it holds one.
    of_host: Option<&'t str>,
}

impl<'t> Lines<'t> {
    /// The lines of a resource. `None` if an annotation of the host takes more than a line, or may have a comment on lines of its own.
    pub fn of(place: &'t dyn Unread, seen: Seen) -> Option<Self> {
        let range = place.lines();
        let (start, text) = (range.start, place.source().get(range)?);
        let [from, to] = match seen.annotations {
            (0, 0) => [text.len(); 2],
            (from, to) => [(from as usize).checked_sub(start)?, (to as usize).checked_sub(start)?],
        };
        let (before, annotations, behind) = (text.get(..from)?, text.get(from..to)?, text.get(to..)?);
        let (column, mut at) = (indent_of(annotations), start + from);
        let mut lines: Vec<Line<'t>> = Vec::new();
        let mut is_below_comment = before.lines().rfind(|line| !line.trim().is_empty()).is_some_and(is_comment);
        for text in annotations.split_inclusive('\n') {
            let indent = indent_of(text);
            let of_host = text.get(column..).filter(|_| indent == column).and_then(of_host);
            let is_long = lines.last().is_some_and(|last| last.of_host.is_some() && indent > column);
            if is_long || of_host.is_some() && is_below_comment {
                return None;
            }
            if !text.trim().is_empty() {
                is_below_comment = is_comment(text);
            }
            lines.push(Line { range: at..at + text.len(), text, of_host });
            at += text.len();
        }
        // The comment below the last annotation may belong to it.
        let is_end_clear = lines.last().is_none_or(|last| last.of_host.is_none()) || indent_of(behind) <= column;
        is_end_clear.then_some(Self { before, annotations: lines, behind })
    }

    /// Whether both have the same lines, apart from the annotations of the host.
    pub fn are_alike(&self, other: &Self) -> bool {
        let own = |lines: &Self| -> Vec<&'t str> {
            lines.annotations.iter().filter(|line| line.of_host.is_none()).map(|line| line.text).collect()
        };
        (self.before, self.behind) == (other.before, other.behind) && own(self) == own(other)
    }

    /// The bytes of the line of an annotation of the host, if other annotations stay, and no comment goes with the line.
    pub fn of_host(&self, name: &str) -> Option<Range<usize>> {
        let is_meant = |line: &Line<'_>| line.of_host == Some(name);
        let is_other = |line: &Line<'_>| !is_meant(line) && !is_comment(line.text) && !line.text.trim().is_empty();
        let has_others = self.annotations.iter().any(is_other);
        let found = self.annotations.iter().find(|line| is_meant(line));
        found.filter(|line| has_others && !line.text.contains('#')).map(|line| line.range.clone())
    }
}

/// The annotation of the host at the beginning of a text.
fn of_host(text: &str) -> Option<&str> {
    let colon = text.bytes().position(|byte| byte == b':')?;
    let (key, value) = text.split_at_checked(colon)?;
    (is_transport(key) && value.starts_with(": ")).then_some(key)
}

fn is_comment(line: &str) -> bool {
    line.trim_start_matches(' ').starts_with('#')
}

/// The column at which the first line of a text begins.
fn indent_of(text: &str) -> usize {
    text.bytes().take_while(|byte| *byte == b' ').count()
}
