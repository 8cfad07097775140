//! Takes upstream's text for a resource that dest left alone: with upstream's order, quotes, blank lines and comments.
//!
//! The merge decides the values of the resource, including the host's annotations. Where the text of updated has other values, it is
//! edited. So a null that clears a field is removed from the text, and dest keeps its path.

use krm_merge_core::host::is_transport;
use krm_tree::child::{By, Value};
use krm_tree::limit::Budget;
use krm_tree::sides::Sides;
use krm_tree::splice::{self, Lines, Unwritable};
use krm_tree::tree::{Branch, Entry, Key, Tree, View};
use krm_yaml::{
    Chomping, Edit, Kind, NodeRef, Place, Style, TextEdits, below_all, ends_line, gap_above, same_lines,
    split_after_feeds, without_break,
};

use crate::resource::Resource;
use crate::transport;

/// The change that upstream made to the text of a resource. Annotations of the host do not count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Upstream {
    /// The text is the same.
    Same,
    /// The text differs.
    Changed,
    /// Unknown: the resource is new, or one of its states is not on lines of its own.
    Unknown,
}

impl Upstream {
    /// Compares original and updated.
    pub fn between(original: Option<NodeRef<'_>>, updated: NodeRef<'_>, budget: &Budget) -> Self {
        match original.and_then(|original| is_written_alike(original, updated, budget)) {
            Some(true) => Self::Same,
            Some(false) => Self::Changed,
            None => Self::Unknown,
        }
    }
}

/// Updated's resource, if upstream changed its text and dest still has original's text.
pub fn of<'a>(sides: Sides<Option<&Resource<'a>>>, upstream: Upstream, budget: &Budget) -> Option<NodeRef<'a>> {
    let (original, updated, dest) = (sides.original?.node(), sides.updated?.node(), sides.dest?.node());
    (upstream == Upstream::Changed && is_written_alike(original, dest, budget)?).then_some(updated)
}

/// Whether two resources have the same lines except for the annotations of the host; `None` if one is not on lines of its own.
fn is_written_alike(a: NodeRef<'_>, b: NodeRef<'_>, budget: &Budget) -> Option<bool> {
    let (of_a, of_b) = of_both(a, b)?;
    if let (Some(a), Some(b)) = (around_host_values(&of_a, a), around_host_values(&of_b, b))
        && a == b
    {
        return Some(true);
    }
    // Nothing needs to be printed if both have the same layout and the host's lines can be removed.
    if of_a.column == of_b.column
        && of_a.dash.is_some() == of_b.dash.is_some()
        && let (Some(a), Some(b)) = (without_host(&of_a, a), without_host(&of_b, b))
    {
        // Mostly the host's lines part both texts at the same places.
        return Some(a == b || same_lines(&a.concat(), &b.concat()));
    }
    Some(same_lines(&own_text(a, &of_a, budget)?, &own_text(b, &of_b, budget)?))
}

/// Whose text a resource has after a merge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextOf {
    /// Dest's, with edits.
    Own,
    /// Upstream's: its lines replace dest's.
    Upstream,
}

/// The edits of dest's text that give a resource the values of a tree, and whose text it then has. It takes upstream's text `like`, unless
/// its own text with these values is the same, or `like` cannot be used in its place.
///
/// # Errors
/// Same as [`splice::edits`].
pub fn edits<'a>(
    dest: NodeRef<'a>,
    tree: &Tree<'a>,
    like: Option<NodeRef<'a>>,
    budget: &Budget,
) -> Result<(TextEdits, TextOf), Unwritable> {
    let own = splice::edits(dest, tree, budget)?;
    Ok(match like.map(|like| upstreams(dest, tree, like, &own, budget)).transpose()?.flatten() {
        Some(edits) => (edits, TextOf::Upstream),
        None => (own, TextOf::Own),
    })
}

/// The edits that replace the lines of dest with those of upstream; `None` if the edits of dest's own text give the same text, or if
/// upstream's lines cannot be used there.
fn upstreams<'a>(
    dest: NodeRef<'a>,
    tree: &Tree<'a>,
    like: NodeRef<'a>,
    own: &TextEdits,
    budget: &Budget,
) -> Result<Option<TextEdits>, Unwritable> {
    let Some((place, from)) = of_both(dest, like) else { return Ok(None) };
    let Some(laid) = tree.view().and_then(|view| written_as(view, like)) else { return Ok(None) };
    let Some(text) = from.text(&splice::unread_edits(like, &laid, budget)?) else { return Ok(None) };
    // Mostly upstream changed only values, so this is the end.
    if place.text(own).is_some_and(|own| own == text) {
        return Ok(None);
    }
    let is_behind = has_comment_behind_dash(&place) || has_comment_behind_dash(&from);
    let text = written(&place, &text, if is_behind { Head::BehindDash } else { Head::AboveDash });
    if !budget.take(text.len()) {
        return Ok(budget.check(krm_tree::limit::Kind::Text).map(|()| None)?);
    }
    // Dest keeps the end of its last line, unless a block scalar needs a line break there.
    let needs_end = || splice::last_block(&text).is_some_and(|block| block.chomping != Chomping::Strip);
    let has_end = ends_line(&dest.document().source()[place.range.clone()]) || needs_end();
    let text = if has_end { &text } else { without_break(&text) };
    let text = text.replace("\r\n", "\n").replace('\n', dest.document().line_break());
    let edits = TextEdits::from(Edit { range: place.range, text });
    Ok(splice::means(dest, &laid, &edits, budget).then_some(edits))
}

/// The lines of a resource without the annotations of the host.
fn own_text(node: NodeRef<'_>, lines: &Lines<'_>, budget: &Budget) -> Option<String> {
    let own = transport::without_host(Tree::Node(node));
    lines.text(&splice::unread_edits(node, &own, budget).ok()?)
}

/// The places of the host's annotations in a resource, or of all annotations if there are no others, in the order of the text.
fn host_places(root: NodeRef<'_>) -> Vec<Place> {
    fn field<'d>(map: NodeRef<'d>, name: &str) -> Option<(NodeRef<'d>, NodeRef<'d>)> {
        map.entries().find(|(key, _)| key.is_called(name))
    }
    let metadata = field(root, "metadata").map(|(_, metadata)| metadata);
    let Some((key, annotations)) = metadata.and_then(|metadata| field(metadata, "annotations")) else {
        return Vec::new();
    };
    let of_host = annotations.entries().filter(|(name, _)| is_transport(name.string()));
    let places: Vec<Place> = of_host.map(|(name, value)| Place::of_entry(name, value)).collect();
    let has_others = annotations.entries().nth(places.len()).is_some();
    if has_others || places.is_empty() { places } else { vec![Place::of_entry(key, annotations)] }
}

/// The map `like` with the values of another map, in the order of `like`. A field that only the other map has goes beside its neighbour
/// there. `None` if an alias or a `<<` is in the way.
fn written_as<'a>(values: View<'_, 'a>, like: NodeRef<'a>) -> Option<Tree<'a>> {
    if values.same(like) {
        return Some(Tree::Node(like));
    }
    if !values.is_map() || like.kind() != Kind::Map {
        return Some(values.to_tree());
    }
    if like.has_merge_entry() || like.duplicate_key().is_some() {
        return None;
    }
    let mut branch = Branch::of(like, By::Field);
    for entry in &mut branch.entries {
        let (Some(key), Some(Tree::Node(own))) = (entry.key, entry.value.take()) else { return None };
        entry.value = match values.field(key.name()) {
            Some(value) => Some(written_as(value, own)?),
            None => None,
        };
    }
    let mut before: Option<&str> = None;
    for (key, value) in fields(values) {
        let name = key.name();
        if like.get(name).is_none() {
            let at = |name: &str| branch.entries.iter().position(|e| e.key.is_some_and(|key| key.name() == name));
            let at = before.and_then(at).map_or(0, |at| at + 1);
            branch.reorder(|mut entries| {
                entries.insert(at, Entry::new(Some(key), value));
                entries
            });
        }
        before = Some(name);
    }
    Some(branch.into_tree())
}

/// The fields of a map with their keys.
fn fields<'a>(map: View<'_, 'a>) -> Vec<(Key<'a>, Tree<'a>)> {
    match map {
        View::Node(node) => node.fields().map(|(key, value)| (Key::Node(key), Tree::Node(value))).collect(),
        View::Branch(branch) => branch.children().filter_map(|(key, value)| Some((key?, value.clone()))).collect(),
        View::Made(_) => Vec::new(),
    }
}

/// Where the comment lines above a resource go, if it is an element of a list.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Head {
    /// Above the dash.
    AboveDash,
    /// After the dash: the first of them is on the line of the dash, as kpt writes it.
    BehindDash,
}

/// The start of the comments at the top of a document.
fn top(root: NodeRef<'_>) -> usize {
    let first = Place::of_first(root);
    first.map_or(root.start(), |first| gap_above(&first, root.document()).map_or(first.lead, |gap| gap.start))
}

/// The lines of two resources. If both are documents, the comments at the top and at the end of a document count, too.
fn of_both<'d>(a: NodeRef<'d>, b: NodeRef<'d>) -> Option<(Lines<'d>, Lines<'d>)> {
    let (mut of_a, mut of_b) = (Lines::of(a)?, Lines::of(b)?);
    if a.is_root() && b.is_root() {
        (of_a.range, of_b.range) = (top(a)..below_all(a), top(b)..below_all(b));
    }
    Some((of_a, of_b))
}

/// The lines without the values of the host's annotations; `None` if one of these annotations may share its line with something else. Texts
/// with the same of these are the same without the annotations, too, and to find out takes less.
fn around_host_values<'d>(lines: &Lines<'d>, root: NodeRef<'_>) -> Option<Vec<&'d str>> {
    let source = lines.doc.source();
    let annotations = root.at(&["metadata", "annotations"]);
    if annotations.is_some_and(|annotations| annotations.style() != Style::Block) {
        return None;
    }
    let (mut parts, mut at) = (Vec::new(), lines.range.start);
    let all = annotations.into_iter().flat_map(NodeRef::entries);
    for (_, value) in all.filter(|(key, _)| is_transport(key.string())) {
        if matches!(value.style(), Style::Block | Style::Literal | Style::Folded) {
            return None;
        }
        parts.push(source.get(at..value.start())?);
        at = value.end();
    }
    parts.push(source.get(at..lines.range.end)?);
    Some(parts)
}

/// The lines without the host's annotations; `None` if one of these annotations shares its line with something else.
fn without_host<'d>(lines: &Lines<'d>, root: NodeRef<'_>) -> Option<Vec<&'d str>> {
    let source = lines.doc.source();
    let places = host_places(root);
    let (mut parts, mut at) = (Vec::with_capacity(places.len() + 1), lines.range.start);
    for place in places {
        let own = place.lines(lines.doc, at)?;
        parts.push(&source[at..own.start]);
        at = own.end;
    }
    parts.push(&source[at..lines.range.end]);
    Some(parts)
}

fn has_comment_behind_dash(lines: &Lines<'_>) -> bool {
    lines
        .dash
        .is_some_and(|dash| lines.doc.source()[dash.open..lines.range.end].trim_start_matches(' ').starts_with('#'))
}

/// A document of its own, indented for the place of this resource.
fn written(lines: &Lines<'_>, text: &str, head: Head) -> String {
    let Some(dash) = lines.dash else { return text.to_owned() };
    let outer = " ".repeat(dash.column(lines.doc));
    let mut out = String::new();
    let mut rest = text;
    while head == Head::AboveDash && rest.starts_with('#') {
        let end = rest.find('\n').map_or(rest.len(), |at| at + 1);
        out.push_str(&outer);
        out.push_str(&rest[..end]);
        rest = &rest[end..];
    }
    let gap = lines.column.saturating_sub(outer.len() + 1).max(1);
    for (i, line) in split_after_feeds(rest).enumerate() {
        match i {
            0 if line.starts_with('#') => out.push_str(&format!("{outer}- ")),
            0 => out.push_str(&format!("{outer}-{}", " ".repeat(gap))),
            _ if matches!(line, "\n" | "\r\n") => {}
            _ => out.push_str(&" ".repeat(lines.column)),
        }
        out.push_str(line);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use krm_yaml::Document;

    /// The resources of a text: its documents, or the elements of a list.
    fn texts(text: &str) -> Vec<String> {
        let doc = Document::parse(text).expect("valid");
        let root = doc.roots().next().expect("a root");
        let all: Vec<_> = if root.is_list() { root.elements().collect() } else { doc.roots().collect() };
        all.into_iter().map(text_of).collect()
    }

    fn text_of(resource: NodeRef<'_>) -> String {
        let lines = Lines::of(resource).expect("on lines of its own");
        own_text(resource, &lines, &Budget::default()).expect("no line is too far left")
    }

    #[test]
    fn what_is_written_alike_has_one_text() {
        let item = |host: &str, rest: &str| {
            format!("- # c\n  a: 1\n  metadata:\n    # d\n    annotations:{host}\n    # e\n    name: x\n  b: {rest}\n")
        };
        let host = |column: usize, path: &str, behind: &str| {
            let pad = " ".repeat(column);
            format!(
                "\n{pad}# of the path\n{pad}internal.config.kubernetes.io/path: {path}{behind}\n{pad}mine: 1\n{pad}internal.config.k8s.io/i: '{path}'"
            )
        };
        let own = item(&host(6, "p", ""), "1");
        for (other, want) in [
            (item(&host(6, "other", ""), "1"), true),
            (item(&host(6, "other", ""), "2"), false),
            (item(&host(5, "p", ""), "1"), false),
            (item(&host(6, "other", " # e"), "1"), true),
            (item(&host(6, "other", "").replace("mine: 1", "mine: 2"), "1"), false),
            (item(" {config.kubernetes.io/path: p, mine: 1}", "1"), false),
        ] {
            let text = format!("{own}{other}");
            let doc = Document::parse(text.as_str()).expect("valid");
            let items: Vec<_> = doc.roots().flat_map(NodeRef::elements).collect();
            assert_eq!(is_written_alike(items[0], items[1], &Budget::default()), Some(want), "{text}");
            let own = |i: usize| text_of(items[i]);
            assert!(!want || own(0) == own(1), "{text}");
        }
    }

    #[test]
    fn an_item_keeps_the_blanks_behind_its_dash_and_a_comment_has_one() {
        let doc = Document::parse("-   a: 1\n    b: 2\n").expect("valid");
        let item = doc.roots().flat_map(NodeRef::elements).next().expect("an item");
        let lines = Lines::of(item).expect("on lines of its own");
        for (text, head, want) in [
            ("a: 2\n\nb: 2\n", Head::AboveDash, "-   a: 2\n\n    b: 2\n"),
            ("# c\na: 2\n", Head::AboveDash, "# c\n-   a: 2\n"),
            ("# c\n# d\na: 2\n", Head::BehindDash, "- # c\n    # d\n    a: 2\n"),
        ] {
            assert_eq!(written(&lines, text, head), want);
        }
    }

    #[test]
    fn a_resource_is_read_as_a_document_of_its_own() {
        let text = "# top\na: 1 # x\n\n# b\nb:\n- |\n  x\n\n    y\n    # deep\n   # foot\n";
        for item in [
            "# top\n- a: 1 # x\n\n  # b\n  b:\n  - |\n    x\n\n      y\n      # deep\n     # foot\n",
            "- # top\n  a: 1 # x\n\n  # b\n  b:\n  - |\n    x\n\n      y\n      # deep\n     # foot\n",
            "-\n  # top\n  a: 1 # x\n\n  # b\n  b:\n  - |\n    x\n\n      y\n      # deep\n     # foot\n",
        ] {
            assert_eq!(texts(item), texts(text), "{item}");
            let [item, text] = [item, text].map(|text| text.replace('\n', "\r\n"));
            assert_eq!(texts(&item), texts(&text), "{item}");
        }
        let own = "a: 1\nmetadata:\n  name: x\n  annotations:\n    mine: y\n";
        let hosts = own.replace("    mine", "    internal.config.kubernetes.io/path: 'a'\n    mine");
        assert_eq!(texts(&hosts), [own]);
        let only_hosts = hosts.replace("    mine: y\n", "");
        assert_eq!(texts(&only_hosts), ["a: 1\nmetadata:\n  name: x\n"]);
    }
}
