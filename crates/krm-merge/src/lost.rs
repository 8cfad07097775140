//! Comments that only dest has, and that a merge removes.
//!
//! A field takes its comments along when upstream deletes it. A comment is no value, so no conflict shows that the user's words are gone.
//! git would stop there. The edits of dest's text show every such comment, whatever part of the merge removed it.

use std::ops::Range;

use crate::child::{By, ChildId};
use crate::edits::TextEdits;
use crate::hashed::HashSet;
use crate::path::{FieldPath, Step};
use crate::schema::{Cursor, list_kind};
use crate::tree::View;
use crate::warning::{Notice, Warning};
use crate::yaml::{Kind, NodeRef, Place, comment_of, extent, line_end, trim_end};

/// Finds the comments of a resource of dest that edits of its text remove. These are no loss:
///
/// * comments that original or updated has, too (`upstream` has the resource on these sides), and comments that an edit writes again;
/// * comments at the nodes in `disputed`, which are in conflict: the comments of the losing side go, as the conflict says.
pub fn lost_comments<'a>(
    dest: NodeRef<'a>,
    edits: &TextEdits,
    upstream: &[NodeRef<'a>],
    disputed: &[NodeRef<'_>],
    cursor: impl FnOnce() -> Cursor<'a>,
) -> Vec<Warning<'a>> {
    let doc = dest.document();
    let removed =
        edits.iter().filter(|edit| !edit.range.is_empty()).flat_map(|edit| doc.comments_in(edit.range.clone()));
    let mut lost: Vec<Comment<'a>> = removed.map(|(start, end)| (start, trim_end(&doc.source()[start..end]))).collect();
    lost.retain(|(_, text)| has_words(text));
    if lost.is_empty() {
        return Vec::new();
    }
    let mut gone: HashSet<&str> = lost.iter().map(|(_, text)| *text).collect();
    let upstream = upstream.iter().flat_map(|node| comments_of(*node));
    let written = edits.iter().flat_map(|edit| ends_like_comments(&edit.text));
    for stays in upstream.chain(written) {
        gone.remove(stays);
    }
    lost.retain(|(_, text)| gone.contains(text));
    if lost.is_empty() {
        return Vec::new();
    }
    let disputed = disputed.iter().filter(|node| node.is_of(doc)).map(|node| node.full_start()).collect();
    let mut search = Search { edits, disputed, path: FieldPath::default(), found: Vec::new() };
    if edits.cover(&(dest.full_start()..dest.end())) {
        search.tell(dest, &lost);
    } else {
        search.inside(dest, &lost, cursor());
    }
    search.found
}

/// The offset of a comment, and its text.
type Comment<'a> = (usize, &'a str);

fn has_words(comment: &str) -> bool {
    comment.contains(|c: char| c != '#' && !c.is_whitespace())
}

/// The bytes of a resource, with the comments on its lines and above it.
pub fn bytes_of(resource: NodeRef<'_>) -> Range<usize> {
    let doc = resource.document();
    match Place::behind_dash(resource) {
        _ if resource.is_root() => extent(resource),
        Some(place) => place.top(doc)..place.bottom(doc),
        None => resource.full_start()..resource.end(),
    }
}

fn comments_of<'a>(resource: NodeRef<'a>) -> impl Iterator<Item = &'a str> {
    let doc = resource.document();
    doc.comments_in(bytes_of(resource)).map(|(start, end)| trim_end(&doc.source()[start..end]))
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
                list_kind(cursor, &[elements]).map_or(By::Index, By::list)
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
            let notice = Notice::CommentsLost(lost.iter().map(|(_, text)| (*text).to_owned()).collect());
            self.found.push(Warning { path: self.path.clone(), notice, dest: Some(at), proposed: None });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edits::Edit;
    use crate::mode::Mode;
    use crate::schema::Types;
    use crate::yaml::Document;

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
        let found = lost_comments(root, &edits, &[was], &disputed, || types.root("v1", "Pod", Mode::ThreeWay));
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
