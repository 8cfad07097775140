//! [`Moved`]: the comments that dest has moved from one child to another, as a deletion does that leaves the comment above what is deleted.

use krm_tree::sides::Side;
use krm_yaml::hashed::HashSet;
use krm_yaml::{comments_at_end, lines, trim};

use super::gap;
use super::placed::placed;
use crate::matched::{Matched, Row};

/// The comment lines that original has at one child, and dest has at another one, or at the end of the map or list. They stay there, so no
/// child brings them a second time.
#[derive(Default)]
pub(super) struct Moved<'a>(HashSet<&'a str>);

impl<'a> Moved<'a> {
    /// Finds them in a map or list.
    pub fn of(matched: &Matched<'a>) -> Self {
        let at_end = matched.containers.map(|side| side.map_or("", |side| comments_at_end(side)));
        let mut came: HashSet<&'a str> = only_first(at_end.dest, at_end.original).collect();
        let above = |row: &Row<'a>| placed(matched, row).map(|side| side.map_or("", gap::all_above));
        // What upstream removes takes its comments along.
        let stays = |row: &&Row<'a>| row.on.original.is_none() || row.on.updated.is_some();
        let in_dest = matched.rows_of(Side::Dest).filter(stays).map(above);
        came.extend(in_dest.flat_map(|lines| only_first(lines.dest, lines.original)));
        if came.is_empty() {
            return Self::default();
        }
        let in_original = matched.rows_of(Side::Original).map(above);
        let left = in_original.flat_map(|lines| only_first(lines.original, lines.dest));
        Self(left.filter(|line| came.contains(line)).collect())
    }

    /// The lines of a comment without those at its begin that dest has at another child.
    pub fn left_of<'c>(&self, comment: &'c str) -> &'c str {
        let all = comment.split_inclusive('\n').take_while(|line| self.0.contains(trim(line)));
        &comment[all.map(str::len).sum()..]
    }

    /// Whether dest has all comments among these lines at another child.
    pub fn has_all(&self, gap: &str) -> bool {
        let mut comments = comments(gap).peekable();
        comments.peek().is_some() && comments.all(|line| self.0.contains(line))
    }
}

/// The comments of some lines that are not among others.
fn only_first<'a>(lines: &'a str, others: &'a str) -> impl Iterator<Item = &'a str> {
    let others: Vec<&str> = comments(others).collect();
    comments(lines).filter(move |line| !others.contains(line))
}

fn comments(text: &str) -> impl Iterator<Item = &str> {
    lines(text).into_iter().map(trim).filter(|line| line.starts_with('#'))
}
