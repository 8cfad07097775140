//! [`Seen`]: what was seen of a resource before its nodes were dropped, so that a merge that changes nothing of it needs no nodes.

use std::ops::Range;

use super::Unread;
use super::head::DEST;
use crate::host::{ROLE, is_transport};
use crate::sieve::Known;
use crate::yaml::{Kind, Moves, NodeRef, Style, find_byte, is_blank, split_after_feeds};

/// What was seen of a resource while its nodes were there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seen {
    /// The lines of its annotations, from the first one, by the offsets in the text. Empty if it has none.
    annotations: (u32, u32),
    /// What goes with the annotation that makes it dest.
    pub(super) role: Leaves,
}

/// What goes with an annotation that is removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Leaves {
    /// Its line and nothing else: other annotations stay, and no comment goes.
    Alone,
    /// Perhaps more; or there is no such annotation.
    WithMore,
}

impl Seen {
    /// Looks at a resource. `role` is the annotation that makes it dest. `repeats` says whether one of these maps may have a key twice.
    /// `None` if a merge without a change may find something in it: a key twice in a map that a merge looks at.
    pub(super) fn of(
        [resource, metadata]: [NodeRef<'_>; 2],
        annotations: Option<NodeRef<'_>>,
        role: Option<(NodeRef<'_>, NodeRef<'_>)>,
        repeats: Known,
    ) -> Option<Self> {
        let has_once = |map: &NodeRef<'_>| repeats == Known::No || map.duplicate_key().is_none();
        let is_sound = |map: &NodeRef<'_>| map.kind() == Kind::Map && has_once(map);
        if ![Some(resource), Some(metadata), annotations].iter().flatten().all(is_sound) {
            return None;
        }
        let Some(annotations) = annotations else { return Some(Self { annotations: (0, 0), role: Leaves::WithMore }) };
        let document = annotations.document();
        let start = document.line_start(annotations.start());
        // A block scalar at the end may have more lines than its node.
        let has_own_lines = annotations.style() == Style::Block
            && document.source()[start..annotations.start()].bytes().all(|byte| byte == b' ')
            && annotations.entries().all(|(_, value)| !matches!(value.style(), Style::Literal | Style::Folded));
        let end = document.next_line(annotations.end());
        let goes_alone = annotations.entries().count() > 1 && role.is_some_and(is_line);
        let role = if goes_alone { Leaves::Alone } else { Leaves::WithMore };
        has_own_lines.then_some(Self { annotations: (start as u32, end as u32), role })
    }

    /// What was seen of a resource whose item repeats the item of this one, by the roles of both. `None` if only its nodes can tell.
    pub(super) fn repeated(self, moves: &Moves, [of_this, of_other]: [Option<&str>; 2]) -> Option<Self> {
        let role = match (of_this, of_other) {
            (Some(DEST), Some(DEST)) => self.role,
            (_, Some(DEST)) => return None,
            _ => Leaves::WithMore,
        };
        let (start, end) = self.annotations;
        let annotations = if end == 0 { (0, 0) } else { (moves.moved(start), moves.moved(end)) };
        Some(Self { annotations, role })
    }

    /// The line of the annotation that makes it dest, if the line can go alone.
    pub(super) fn line_of_role(self, source: &str) -> Option<Range<usize>> {
        let (start, end) = self.annotations;
        let annotations = source.get(start as usize..end as usize).filter(|_| self.role == Leaves::Alone)?;
        let (column, mut end) = (indent_of(annotations), start as usize);
        let mut lines = split_after_feeds(annotations).map(|line| {
            end += line.len();
            (end - line.len()..end, line)
        });
        // The lines of a longer value are deeper, and a comment may be anywhere.
        let is_meant = |line: &str| indent_of(line) == column && line[column..].starts_with(ROLE);
        lines.find(|(_, line)| is_meant(line)).map(|(range, _)| range)
    }
}

/// Whether an entry of a block map is one line that begins with its plain key, and no comment, anchor or alias may go with it.
fn is_line((key, value): (NodeRef<'_>, NodeRef<'_>)) -> bool {
    let document = key.document();
    let line = document.line_start(key.start())..document.next_line(value.end());
    key.style() == Style::Plain
        && document.source()[line.start..key.start()].bytes().all(|byte| byte == b' ')
        && document.line_start(value.end()) == line.start
        && !key.has_comments_around(value)
        && !document.has_props_in(line)
}

/// The lines of a resource, without the annotations of the host.
#[derive(PartialEq)]
pub(super) struct Lines<'t> {
    before: &'t str,
    annotations: Vec<&'t str>,
    behind: &'t str,
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
        let column = indent_of(annotations);
        let mut own = Vec::new();
        let mut is_below_comment = before.lines().rfind(|line| !is_blank(line)).is_some_and(is_comment);
        let mut is_below_host = false;
        for line in split_after_feeds(annotations) {
            let indent = indent_of(line);
            let content = &line[indent..];
            let is_of_host = indent == column && is_of_host(content);
            if is_below_host && indent > column || is_of_host && is_below_comment {
                return None;
            }
            if !is_of_host {
                own.push(line);
            }
            if !is_blank(content) {
                is_below_comment = is_comment(content);
            }
            is_below_host = is_of_host;
        }
        // The comment below the last annotation may belong to it.
        let is_end_clear = !is_below_host || indent_of(behind) <= column;
        is_end_clear.then_some(Self { before, annotations: own, behind })
    }
}

/// Whether an annotation of the host is at the beginning of a text.
fn is_of_host(text: &str) -> bool {
    find_byte(text, b':').is_some_and(|colon| is_transport(&text[..colon]) && text[colon + 1..].starts_with(' '))
}

fn is_comment(line: &str) -> bool {
    line.as_bytes().get(indent_of(line)) == Some(&b'#')
}

/// The column at which the first line of a text begins.
fn indent_of(text: &str) -> usize {
    text.bytes().take_while(|byte| *byte == b' ').count()
}
