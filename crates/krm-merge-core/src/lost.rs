//! Comments that a merge loses: those that only dest has and that it removes, and those that upstream added and that it does not take.
//!
//! A field takes its comments along when a side deletes it. A comment is no value, so no conflict shows that somebody's words are gone. git
//! would stop there. The edits of dest's text show every such comment, whatever part of the merge lost it.

use std::ops::Range;

use krm_schema::schema::{Cursor, list_kind};
use krm_tree::child::{By, ChildId};
use krm_tree::path::{FieldPath, Step};
use krm_tree::tree::{Conflict, Taking, Tree, View};
use krm_yaml::hashed::HashSet;
use krm_yaml::{
    DocumentParts, Kind, NodeRef, Place, TextEdits, comment_of, extent, gap_above, holds_no_value, line_end, trim_end,
};

use crate::host::known_to_kpt;
use crate::warning::{Notice, Warning};

/// What the conflicts of a resource tell, so that nobody misses a comment there.
#[derive(Debug, Default)]
pub struct Disputed<'a> {
    /// The nodes of dest and of updated in conflict.
    pub nodes: Vec<NodeRef<'a>>,
    /// The lines of comments in conflict.
    pub comments: Vec<String>,
}

impl<'a> Disputed<'a> {
    /// Adds what a conflict tells.
    pub fn add(&mut self, conflict: &Conflict<'a>) {
        self.nodes.extend(conflict.dest.as_ref().and_then(Tree::like));
        self.nodes.extend(conflict.updated);
        if let Taking::Comments(texts) = &conflict.taking {
            let lines = texts.iter().flat_map(|(_, text)| text.lines());
            self.comments.extend(lines.map(|line| line.trim().to_owned()));
        }
    }
}

/// Whether others tell already that both sides changed the comments of a warning.
pub fn is_told<'w, 'a: 'w>(warning: &Warning<'_>, others: impl IntoIterator<Item = &'w Warning<'a>>) -> bool {
    let Notice::CommentsNotTaken(comments) = &warning.notice else { return false };
    let is_in = |text: &str| comments.iter().all(|comment| text.contains(&**comment));
    others.into_iter().any(|other| matches!(&other.notice, Notice::Contradiction { updated, .. } if is_in(updated)))
}

/// A resource of dest, and what a merge does to its text.
pub struct Comments<'d, 'a> {
    /// The resource.
    pub dest: NodeRef<'a>,
    /// The edits of its text.
    pub edits: &'d TextEdits,
    /// The nodes in conflict, of dest and of updated. The comments of the losing side go, as the conflict says.
    pub disputed: &'d [NodeRef<'d>],
    /// The lines of comments in conflict.
    pub told: &'d [String],
}

impl<'a> Comments<'_, 'a> {
    /// The comments that the edits remove. Those that original or updated has, too, are no loss (`upstream` has the resource on these sides),
    /// and neither are those that an edit writes again.
    pub fn lost(&self, upstream: &[NodeRef<'a>], cursor: impl FnOnce() -> Cursor<'a>) -> Vec<Warning<'a>> {
        let doc = self.dest.document();
        let edits = self.edits.iter().filter(|edit| !edit.range.is_empty());
        let removed = edits.flat_map(|edit| doc.comments_in(edit.range.clone()));
        let mut lost: Vec<Comment<'a>> =
            removed.map(|(start, end)| (start, trim_end(&doc.source()[start..end]))).collect();
        let upstream = upstream.iter().flat_map(|node| comments_of(*node)).map(|(_, text)| text);
        without(&mut lost, upstream.chain(self.written()).chain(self.told.iter().map(String::as_str)));
        self.search(self.dest, self.edits, &lost, Notice::CommentsLost, cursor)
    }

    /// The comments that updated has, that original lacks or the edits remove, and that are not in the text after the edits.
    pub fn not_taken(
        &self,
        original: NodeRef<'a>,
        updated: NodeRef<'a>,
        cursor: impl FnOnce() -> Cursor<'a>,
    ) -> Vec<Warning<'a>> {
        let texts = |node: NodeRef<'a>| comments_of(node).map(|(_, text)| text);
        let stays = |(at, _): &Comment<'_>| !self.edits.cover(&(*at..at + 1));
        let removed: HashSet<&str> = comments_of(self.dest).filter(|own| !stays(own)).map(|(_, text)| text).collect();
        // Mostly upstream changed no comment.
        if removed.is_empty() && texts(updated).eq(texts(original)) {
            return Vec::new();
        }
        // What is set apart at the top of a file belongs to the file.
        let (doc, first) = (updated.document(), Place::of_first(updated));
        let gap = first.and_then(|first| gap_above(&first, doc));
        let top = gap.filter(|gap| holds_no_value(&doc.source()[..gap.start])).map_or(0, |gap| gap.end);
        let mut new: Vec<Comment<'a>> = comments_of(updated).filter(|(at, _)| *at >= top).collect();
        let old = texts(original).filter(|text| !removed.contains(text));
        without(&mut new, old.chain(self.written()).chain(self.told.iter().map(String::as_str)));
        if new.is_empty() {
            return Vec::new();
        }
        let here: Vec<&str> = comments_of(self.dest).filter(stays).map(|(_, text)| text).collect();
        without(&mut new, here);
        self.search(updated, &TextEdits::default(), &new, Notice::CommentsNotTaken, cursor)
    }

    /// What may be comments in the texts of the edits.
    fn written(&self) -> impl Iterator<Item = &str> {
        self.edits.iter().flat_map(|edit| ends_like_comments(&edit.text))
    }

    /// A warning for each place of these comments of a resource.
    fn search(
        &self,
        of: NodeRef<'a>,
        edits: &TextEdits,
        comments: &[Comment<'a>],
        notice: fn(Vec<String>) -> Notice,
        cursor: impl FnOnce() -> Cursor<'a>,
    ) -> Vec<Warning<'a>> {
        if comments.is_empty() {
            return Vec::new();
        }
        let disputed = self.disputed.iter().filter(|node| node.is_of(of.document())).map(|node| node.full_start());
        let disputed = disputed.collect();
        let mut search = Search { edits, disputed, notice, path: FieldPath::default(), found: Vec::new() };
        if edits.cover(&(of.full_start()..of.end())) {
            search.tell(of, comments);
        } else {
            search.inside(of, comments, cursor());
        }
        search.found
    }
}

/// Leaves out comments in which nobody says something, and those that are among `others`.
fn without<'t>(comments: &mut Vec<Comment<'_>>, others: impl IntoIterator<Item = &'t str>) {
    comments.retain(|(_, text)| has_words(text));
    if comments.is_empty() {
        return;
    }
    let others: HashSet<&str> = others.into_iter().collect();
    comments.retain(|(_, text)| !others.contains(*text));
}

/// The offset of a comment, and its text.
type Comment<'a> = (usize, &'a str);

fn has_words(comment: &str) -> bool {
    comment.contains(|c: char| c != '#' && !c.is_whitespace()) && known_to_kpt(comment).is_none()
}

/// The bytes of a resource, with the comments on its lines and above it.
fn bytes_of(resource: NodeRef<'_>) -> Range<usize> {
    let doc = resource.document();
    match Place::behind_dash(resource) {
        _ if resource.is_root() => extent(resource),
        Some(place) => place.top(doc)..place.bottom(doc),
        None => resource.full_start()..resource.end(),
    }
}

/// The bytes that go with a resource. What is set apart at the top of a text that has other documents stays there, unless it is original's.
pub fn bytes_that_go(resource: NodeRef<'_>) -> Range<usize> {
    let (doc, bytes) = (resource.document(), bytes_of(resource));
    let is_first =
        resource.is_root() && doc.roots().len() > 1 && doc.roots().next().is_some_and(|first| first.is(resource));
    let top = if is_first { DocumentParts::of(resource).apart(doc.source()).end } else { bytes.start };
    top..bytes.end
}

fn comments_of<'a>(resource: NodeRef<'a>) -> impl Iterator<Item = Comment<'a>> {
    let doc = resource.document();
    doc.comments_in(bytes_of(resource)).map(|(start, end)| (start, trim_end(&doc.source()[start..end])))
}

/// The ends of the lines of a text that may be comments. In quotes, a `#` begins no comment, so a line may have several; a few are enough.
fn ends_like_comments(text: &str) -> impl Iterator<Item = &str> {
    const MOST: usize = 4;
    let (mut end, mut ends) = (0, 0);
    text.match_indices('#').filter(|(at, _)| text[..*at].ends_with([' ', '\t', '\n']) || *at == 0).filter_map(
        move |(at, _)| {
            (end, ends) = if at < end { (end, ends + 1) } else { (line_end(text, at), 1) };
            (ends <= MOST).then(|| trim_end(&text[at..end]))
        },
    )
}

struct Search<'a, 'e> {
    edits: &'e TextEdits,
    /// The offsets of the values in conflict.
    disputed: HashSet<usize>,
    /// What to tell of the comments.
    notice: fn(Vec<String>) -> Notice,
    path: FieldPath<'a>,
    found: Vec<Warning<'a>>,
}

impl<'a> Search<'a, '_> {
    /// Finds the places of the comments in a map or list. The comments are in the order of the text.
    fn inside(&mut self, node: NodeRef<'a>, mut lost: &[Comment<'a>], cursor: Cursor<'a>) {
        let doc = node.document();
        let by = match node.kind() {
            Kind::List => {
                let elements: Vec<View<'_, 'a>> = node.elements().map(View::Node).collect();
                list_kind(cursor, &[elements]).map_or(By::Index, By::from)
            }
            _ => By::Field,
        };
        let mut own = Vec::new();
        for (index, (place, (key, value))) in Place::of_children(node).iter().zip(node.written()).enumerate() {
            let (top, bottom) = (place.top(doc), place.bottom(doc));
            let (before, rest) = lost.split_at(lost.partition_point(|(at, _)| *at < top));
            let (here, rest) = rest.split_at(rest.partition_point(|(at, _)| *at < bottom));
            lost = rest;
            own.extend_from_slice(before);
            if here.is_empty() || self.disputed.contains(&value.full_start()) {
                continue;
            }
            let cursor = key.map_or(cursor, |key| cursor.child(key.string(), [View::Node(value)]));
            let id = key.map_or_else(|| by.id_of(View::Node(value)), ChildId::of_field);
            let step = id.map_or(Step::Index(index), |id| id.step(&by));
            self.path.push(step, Some(index));
            self.child(place, value, here, cursor);
            self.path.pop();
        }
        own.extend_from_slice(lost);
        self.tell(node, &own);
    }

    /// Finds the places of the comments at a child. If the child is removed, they all go with it.
    fn child(&mut self, place: &Place, value: NodeRef<'a>, lost: &[Comment<'a>], cursor: Cursor<'a>) {
        if self.edits.cover(&(place.lead..place.end)) || !matches!(value.kind(), Kind::Map | Kind::List) {
            return self.tell(value, lost);
        }
        let line = comment_of(place, value).map(|(start, _)| start);
        let is_own = |(at, _): &Comment<'a>| *at < place.lead || Some(*at) == line;
        let (own, inner): (Vec<_>, Vec<_>) = lost.iter().copied().partition(is_own);
        self.tell(value, &own);
        if !inner.is_empty() {
            self.inside(value, &inner, cursor);
        }
    }

    fn tell(&mut self, at: NodeRef<'a>, lost: &[Comment<'a>]) {
        if !lost.is_empty() {
            let notice = (self.notice)(lost.iter().map(|(_, text)| (*text).to_owned()).collect());
            let [dest, proposed] = match notice {
                Notice::CommentsNotTaken(_) => [None, Some(at)],
                _ => [Some(at), None],
            };
            self.found.push(Warning { path: self.path.clone(), notice, dest, proposed });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use krm_schema::mode::Mode;
    use krm_schema::schema::Types;
    use krm_yaml::Document;
    use krm_yaml::Edit;

    /// The lost comments, each with its path, if these pieces of dest's text are replaced.
    fn lost(dest: &str, original: &str, disputed: Option<&str>, edits: &[(&str, &str)]) -> Vec<String> {
        let [dest, original] = [dest, original].map(|text| Document::parse(text).expect("valid"));
        let [root, was] = [&dest, &original].map(|doc| doc.roots().next().expect("a root"));
        let edits = edits.iter().map(|(old, new)| {
            let start = dest.source().find(old).expect("in dest");
            Edit { range: start..start + old.len(), text: (*new).to_owned() }
        });
        let edits = TextEdits::of(edits.collect()).expect("disjoint");
        let disputed: Vec<_> = disputed.iter().filter_map(|name| root.get(name)).collect();
        let types = Types::default();
        let comments = Comments { dest: root, edits: &edits, disputed: &disputed, told: &[] };
        let found = comments.lost(&[was], || types.root("v1", "Pod", Mode::ThreeWay));
        let shown = |warning: Warning<'_>| match warning.notice {
            Notice::CommentsLost(texts) => format!("{}: {}", warning.path.shown(), texts.join(" ")),
            other => panic!("{other:?}"),
        };
        found.into_iter().map(shown).collect()
    }

    #[test]
    fn comments_that_only_dest_has_are_lost() {
        let dest = "# top\na: 1 # x\nb:\n  # of c\n  c: 1 # y\n  d: 2\n# e\ne: 3\n";
        let all = |edits: &[(&str, &str)]| lost(dest, "a: 1\nb: 2\n", None, edits);
        assert_eq!(all(&[("1 # x", "2 # x")]), [""; 0], "it is written again");
        assert_eq!(all(&[("a: 1 # x\n", ""), ("e: 3", "e: 3 # x")]), [""; 0], "it moves");
        assert_eq!(all(&[("1 # x", "'#' # x")]), [""; 0], "it comes after a `#` in quotes");
        assert_eq!(all(&[(" # x", ""), (" # y", "")]), ["a: # x", "b.c: # y"]);
        assert_eq!(all(&[("b:\n  # of c\n  c: 1 # y\n  d: 2\n", "")]), ["b: # of c # y"]);
        assert_eq!(all(&[(dest, "")]), [": # top # x # of c # y # e"]);
        assert_eq!(
            lost(dest, "a: 1 # e\n# x\n", None, &[("# e\ne: 3\n", ""), (" # x", "")]),
            [""; 0],
            "known upstream"
        );
        assert_eq!(lost(dest, "a: 1\n", Some("b"), &[(" # x", ""), (" # y", "")]), ["a: # x"], "in conflict");
    }

    #[test]
    fn a_comment_that_moved_upstream_is_not_lost_without_a_word() {
        let texts = ["# x\na: 1\nb: 1\n", "a: 1\nb:\n  c: 1\n  # x\n", "# x\na: 1\nb: 2\n"];
        let documents = texts.map(|text| Document::parse(text).expect("valid"));
        let [original, updated, dest] = documents.each_ref().map(|doc| doc.roots().next().expect("a root"));
        let types = Types::default();
        let places = |text: &str| {
            let edits = Edit { range: 0..4, text: text.to_owned() }.into();
            let comments = Comments { dest, edits: &edits, disputed: &[], told: &[] };
            let found = comments.not_taken(original, updated, || types.root("v1", "Pod", Mode::ThreeWay));
            found.into_iter().map(|warning| warning.path.shown()).collect::<Vec<_>>()
        };
        assert_eq!(places(""), ["b"]);
        assert_eq!(places("# x\n"), [""; 0], "it is written again");
    }

    #[test]
    fn lost_comments_have_places_in_lists() {
        let dest = "kind: Pod\nspec:\n  containers:\n  - name: a\n    # of b\n    b: 1\n  # free\n\n  - {name: c} # x\n  l:\n  - 1\n  - 2 # y\n";
        let got = lost(dest, "a: 1\n", None, &[("    # of b\n    b: 1\n  # free\n", ""), (" # x", ""), (" # y", "")]);
        let containers = "spec.containers";
        let want = [
            format!("{containers}[name=a].b: # of b"),
            format!("{containers}[name=c]: # x"),
            format!("{containers}: # free"),
            "spec.l[1]: # y".to_owned(),
        ];
        assert_eq!(got, want);
        // A comment without words is no loss.
        assert_eq!(lost("a: 1 #\n#  ##\nb: 2\n", "a: 1\n", None, &[("a: 1 #\n#  ##\n", "")]), [""; 0]);
    }
}
