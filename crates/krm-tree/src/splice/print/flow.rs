//! Flow maps and lists: YAML, KYAML and JSON.

use krm_yaml::{
    Context, Kind, NodeRef, Place, Scalar, Style, comment_text, fits_flow, is_blank, is_in_rows, lines, quoted,
    quoted_json, trim,
};

use super::{HostLayout, NewChild, Rows, comment_lines, is_long, line_indent, nothing, own_anchor, with_tag};
use crate::child::Value as _;
use crate::splice::unwritable::{Unwritable, check_json};
use crate::tree::{Branch, Entry, Key, Quotes, Tree, View};

/// The ways to write a flow map or list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::splice) enum Flow {
    /// YAML: quotes where they are needed.
    Yaml,
    /// KYAML: texts in double quotes, and a line for each child.
    Kyaml,
    /// JSON, with a blank after `:` and `,`.
    Json,
    /// JSON without blanks.
    TightJson,
}

impl Flow {
    /// The way in which a resource is written.
    pub fn of(root: NodeRef<'_>) -> Self {
        let Some((key, value)) = root.written().next().filter(|_| root.style() == Style::Flow) else {
            return Self::Yaml;
        };
        // A list is written as its first element is.
        let Some(key) = key else { return Self::of(value) };
        match key.style() {
            Style::Double if value.start() == key.end() + 1 => Self::TightJson,
            Style::Double => Self::Json,
            _ if value.style() == Style::Double && is_in_rows(root) => Self::Kyaml,
            _ => Self::Yaml,
        }
    }

    fn of_document(node: NodeRef<'_>) -> Self {
        root_of(node).map_or(Self::Yaml, Self::of)
    }

    /// Whether it is JSON.
    pub const fn is_json(self) -> bool {
        matches!(self, Self::Json | Self::TightJson)
    }

    /// Checks that all new values of a tree can be written: the values that the node `old` lacks, or all values if there is no node.
    ///
    /// # Errors
    /// The style is JSON, and JSON lacks one of the values.
    pub fn check(self, tree: &Tree<'_>, old: Option<NodeRef<'_>>) -> Result<(), Unwritable> {
        match self {
            Self::Yaml | Self::Kyaml => Ok(()),
            Self::Json | Self::TightJson => check_json(tree, old).map_err(Unwritable::NotJson),
        }
    }
}

/// The root of the document that a node is in.
fn root_of<'d>(node: NodeRef<'d>) -> Option<NodeRef<'d>> {
    node.document().roots().find(|root| root.start() <= node.start() && node.end() <= root.end())
}

/// How the lines of the document of a node are indented.
fn rows_of(node: NodeRef<'_>) -> Rows {
    root_of(node).map_or(Rows::Shared, Rows::of)
}

/// Whether a map or list is on one line, between brackets, and means the same elsewhere. It keeps its blanks and quotes then.
fn is_on_one_line(node: NodeRef<'_>) -> bool {
    let text = node.text();
    let is_bracketed = node.style() == Style::Flow && text.starts_with(['{', '[']) && !text.contains(['\n', '\r']);
    is_bracketed && !node.has_props_within()
}

/// The text of a value with the anchor that it keeps.
fn with_anchor(like: NodeRef<'_>, text: String) -> String {
    match own_anchor(like) {
        Some(anchor) => format!("{anchor} {text}"),
        None => text,
    }
}

impl HostLayout<'_> {
    /// A flow map or list on the line of its key: as it is written if possible.
    pub(super) fn flow_value(&self, node: NodeRef<'_>, tree: &Tree<'_>, column: usize) -> String {
        let text = node.text();
        let bracketed = text.starts_with(['{', '[']);
        let is_cut = matches!(tree, Tree::Branch(_));
        if !bracketed || is_cut || node.has_aliases() || node.document().has_anchors_in(node) {
            return self.flow_without_anchor(tree);
        }
        with_tag(node, &self.reindent(node, column))
    }

    /// The text of a flow map or list on a line with this indentation. Its further lines move with it, but never left of its brackets.
    fn reindent(&self, node: NodeRef<'_>, new: usize) -> String {
        let (text, old) = (node.text(), line_indent(node));
        let mut out = String::new();
        if !self.budget.take(text.len()) {
            return out;
        }
        for (i, line) in lines(text).iter().enumerate() {
            if i > 0 {
                out.push('\n');
                let trimmed = line.trim_start_matches([' ', '\t']);
                if !trimmed.is_empty() {
                    let indent = line.len() - trimmed.len();
                    let closing = trimmed.starts_with(['}', ']']);
                    let floor = if closing { new } else { new + self.indent };
                    let inner = (indent + new).saturating_sub(old).max(floor);
                    out.push_str(&self.budget.paid(inner, || self.rows.blanks(inner)));
                    out.push_str(trimmed);
                }
                continue;
            }
            out.push_str(line);
        }
        out
    }

    /// A tree on one line, in flow style.
    pub fn flow(&self, tree: &Tree<'_>) -> String {
        let text = self.flow_without_anchor(tree);
        match tree.like() {
            Some(like) if !self.flow.is_json() => with_anchor(like, text),
            _ => text,
        }
    }

    /// Whether a value is in the form of this document already. In plain YAML each is, and a document of KYAML keeps the blanks of another one.
    fn keeps(&self, node: NodeRef<'_>) -> bool {
        match self.flow {
            Flow::Yaml => true,
            Flow::Kyaml => Flow::of_document(node) == Flow::Kyaml,
            Flow::Json | Flow::TightJson => false,
        }
    }

    fn flow_without_anchor(&self, tree: &Tree<'_>) -> String {
        let comma = if self.flow == Flow::TightJson { "," } else { ", " };
        // At least two bytes: a pair of brackets, or a comma with its blank.
        if !self.budget.take(2) {
            return String::new();
        }
        let node = match tree {
            Tree::Node(node) if is_on_one_line(node.resolve()) && self.keeps(node.resolve()) => {
                let text = node.resolve().text();
                return self.budget.paid(text.len(), || with_tag(node.resolve(), text));
            }
            Tree::Node(node) => node.resolve(),
            Tree::Branch(branch) => branch.like.resolve(),
            Tree::Made(made) => return self.paid(self.made(made, Context::Flow)),
            // Only settled trees are written. If a conflict is left, dest's side is written.
            Tree::Conflict(conflict) => {
                return conflict.dest.as_ref().map(|dest| self.flow(dest)).unwrap_or_default();
            }
        };
        let children: Vec<String> = match (node.kind(), tree) {
            // JSON has values alone.
            _ if node.is_link() && self.flow.is_json() => return self.flow(&Tree::Node(node.target())),
            _ if node.is_link() => return self.paid(node.text().to_owned()),
            (Kind::Scalar | Kind::Alias, _) => return self.flow_scalar(node),
            (_, Tree::Branch(branch)) => self.flow_entries(branch),
            (Kind::Map, _) if self.flow.is_json() => {
                node.meant_fields().map(|(k, v)| self.flow_field(Key::Node(k), &Tree::Node(v))).collect()
            }
            (Kind::Map, _) => node.fields().map(|(k, v)| self.flow_field(Key::Node(k), &Tree::Node(v))).collect(),
            (Kind::List, _) => node.elements().map(|e| self.flow(&Tree::Node(e))).collect(),
        };
        let children = children.join(comma);
        let text = if node.is_map() { format!("{{{children}}}") } else { format!("[{children}]") };
        if self.flow.is_json() { text } else { with_tag(node, &text) }
    }

    fn flow_entries(&self, branch: &Branch<'_>) -> Vec<String> {
        let brought_in = branch.brought_in();
        let entries = branch.entries.iter().filter(|entry| !entry.is_merge()).chain(&brought_in);
        entries.filter_map(NewChild::of).map(|new| self.flow_child(&new)).collect()
    }

    fn flow_field(&self, key: Key<'_>, value: &Tree<'_>) -> String {
        self.flow_name(key) + &self.flow(value)
    }

    /// A key with its colon.
    fn flow_name(&self, key: Key<'_>) -> String {
        let colon = if self.flow == Flow::TightJson { ":" } else { ": " };
        let key = self.flow_key(key);
        if self.needs_question(&key) {
            return self.budget.paid(5, || format!("? {key} : "));
        }
        self.budget.paid(colon.len(), || key + colon)
    }

    /// Whether a key of a flow map is too long to stand without a `?`.
    pub fn needs_question(&self, key: &str) -> bool {
        !self.flow.is_json() && is_long(key)
    }

    /// A new entry or element of a flow map or list.
    pub fn flow_child(&self, new: &NewChild<'_, '_>) -> String {
        match new.key {
            Some(key) => self.flow_field(key, new.tree),
            None => self.flow(new.tree),
        }
    }

    /// Like [`HostLayout::flow_child`], on a line with this indentation. The child may have several lines, if it is written so.
    pub fn flow_child_in_lines(&self, new: &NewChild<'_, '_>, indent: usize) -> String {
        let value = self.in_lines(new, indent);
        match new.key {
            Some(key) => self.flow_name(key) + &value,
            None => value,
        }
    }

    /// A new child of a flow map or list whose children have lines of their own, as lines at `column`. `comma` comes after it.
    pub fn new_row(&self, new: &NewChild<'_, '_>, column: usize, comma: &str) -> Vec<String> {
        let mut out = self.above(new, column);
        let mut line =
            self.budget.paid(column + 2, || self.rows.blanks(column)) + &self.flow_child_in_lines(new, column) + comma;
        let place = new.place();
        let own = || place.and_then(|(place, value)| comment_text(&place, value));
        if let Some(comment) = new.comments.behind.or_else(own).map(trim).filter(|comment| !comment.is_empty()) {
            line.push(' ');
            line.push_str(&self.budget.paid(comment.len(), || comment.to_owned()));
        }
        out.push(line);
        out
    }

    /// A value in flow style that begins on a line with this indentation: over several lines with its comments, if it is written so.
    fn in_lines(&self, new: &NewChild<'_, '_>, indent: usize) -> String {
        let tree = new.tree;
        let Some(like) = tree.like().map(NodeRef::resolve) else { return self.flow(tree) };
        let (doc, below) = (like.document(), new.comments_below());
        let is_laid = || {
            // A document without rows does not say how its values are to be written in rows.
            let is_free = || matches!(tree, Tree::Branch(_)) || self.flow.is_json() && rows_of(like) == Rows::Shared;
            like.text().contains('\n') || !below.is_empty() || self.has_rows() && is_free()
        };
        let has_comments = || doc.comments_in(like.start()..like.end()).next().is_some();
        let is_whole =
            matches!(tree, Tree::Node(node) if node.style() == Style::Flow && node.text().starts_with(['{', '[']));
        let is_fit = || match self.flow {
            Flow::Yaml => true,
            Flow::Kyaml => Flow::of_document(like) == Flow::Kyaml,
            Flow::Json | Flow::TightJson => is_json(like) && !has_comments() && self.is_indented_like(like),
        };
        let is_linked = || like.has_aliases() || doc.has_anchors_in(like);
        let is_copied = || is_whole && is_fit() && !is_linked();
        let text = match like.is_container() && is_laid() {
            true if is_copied() => self.reindent(like, indent),
            true if !self.flow.is_json() || self.has_rows() => self.rows(like, new, indent),
            true | false => return self.flow(tree),
        };
        if self.flow.is_json() { text } else { with_anchor(like, with_tag(like, &text)) }
    }

    /// Whether new children of brackets get lines of their own, as in KYAML and indented JSON.
    pub fn has_rows(&self) -> bool {
        self.flow != Flow::Yaml && self.rows != Rows::Shared
    }

    /// Whether the lines of a value in JSON can be taken over: whether its document is indented as this one is.
    fn is_indented_like(&self, value: NodeRef<'_>) -> bool {
        self.rows == Rows::Shared || rows_of(value) == self.rows
    }

    /// A map or list with each child on lines of its own, between brackets. Maps in a list share the lines of their brackets, as in KYAML.
    fn rows<'n>(&self, node: NodeRef<'n>, new: &NewChild<'_, 'n>, indent: usize) -> String {
        let made = |key: Option<NodeRef<'n>>, value| Entry::new(key.map(Key::Node), Tree::Node(value));
        let entries: Vec<Entry<'n>> = match new.tree {
            Tree::Branch(branch) => {
                let own = branch.entries.iter().filter(|entry| !entry.is_merge()).cloned();
                own.chain(branch.brought_in()).collect()
            }
            _ if node.is_map() => node.fields().map(|(key, value)| made(Some(key), value)).collect(),
            _ => node.elements().map(|value| made(None, value)).collect(),
        };
        let children: Vec<NewChild<'_, '_>> = entries.iter().filter_map(NewChild::of).collect();
        let [open, close] = if node.is_map() { ["{", "}"] } else { ["[", "]"] };
        let column = indent + self.indent;
        let is_alone = |new: &NewChild<'_, '_>| new.tree.view().is_some_and(View::is_container) && !new.has_comments();
        if children.is_empty() {
            return format!("{open}{close}");
        }
        let below = comment_lines(new.comments_below(), column, self.budget);
        let opening = new.comment_behind_bracket();
        let may_share = !node.is_map() && !self.flow.is_json();
        if may_share && below.is_empty() && opening.is_empty() && children.iter().all(is_alone) {
            let children = children.iter().map(|new| self.flow_child_in_lines(new, indent));
            return format!("{open}{}{close}", children.collect::<Vec<_>>().join(", "));
        }
        let mut lines = vec![format!("{open} {opening}").trim_end().to_owned()];
        let last = children.len() - 1;
        let comma = |at: usize| if at == last && self.flow.is_json() { "" } else { "," };
        lines.extend(children.iter().enumerate().flat_map(|(at, new)| self.new_row(new, column, comma(at))));
        lines.extend(below);
        lines.push(self.rows.blanks(indent) + close);
        self.paid(lines.join("\n"))
    }

    /// A key of a flow map.
    pub fn flow_key(&self, key: Key<'_>) -> String {
        match (key, self.flow) {
            (Key::Node(key), Flow::Yaml) => self.flow_scalar_or(key.target()),
            (Key::Node(key), Flow::Kyaml) if key.is_container() => self.flow(&Tree::Node(key)),
            (key, Flow::Kyaml) => self.paid(plain_or_double(key.name())),
            (Key::Made(name), Flow::Yaml) => self.paid(quoted(name, Context::Flow)),
            (key, Flow::Json | Flow::TightJson) => self.paid(quoted_json(key.name())),
        }
    }

    fn flow_scalar_or(&self, node: NodeRef<'_>) -> String {
        if node.is_container() { self.flow(&Tree::Node(node)) } else { self.flow_scalar(node) }
    }

    fn flow_scalar(&self, node: NodeRef<'_>) -> String {
        self.paid(self.flow_scalar_text(node))
    }

    fn flow_scalar_text(&self, node: NodeRef<'_>) -> String {
        if self.budget.is_exceeded() {
            return String::new();
        }
        let text = node.text();
        let one_line = !text.contains(['\n', '\r']);
        if self.flow.is_json() {
            return json_scalar(node);
        }
        match node.style() {
            _ if self.flow == Flow::Kyaml && matches!(node.scalar(), Some(Scalar::String(_))) => {
                with_tag(node, &quoted_json(node.string()))
            }
            _ if node.is_absent() => nothing(node),
            Style::Single | Style::Double if one_line => with_tag(node, text),
            Style::Plain if one_line && fits_flow(text) => with_tag(node, text),
            Style::Plain | Style::Single | Style::Double | Style::Literal | Style::Folded => {
                with_tag(node, &quoted(node.string(), Context::Flow))
            }
            Style::Block | Style::Flow => text.into(),
        }
    }

    /// A value that takes the place of another one in a flow map or list. If it may have several lines, its line has this indentation.
    pub fn in_flow(&self, new: &NewChild<'_, '_>, indent: Option<usize>) -> String {
        match new.tree {
            // The lines are as deep as those that they replace.
            Tree::Made(made) if matches!(made.quotes, Quotes::Lines(_)) => self.made_text(made, 0).head,
            tree => indent.map_or_else(|| self.flow(tree), |indent| self.in_lines(new, indent)),
        }
    }
}

/// A key of KYAML: as it is, or in double quotes.
fn plain_or_double(name: &str) -> String {
    let plain = quoted(name, Context::Flow);
    if plain == name { plain } else { quoted_json(name) }
}

/// A scalar as JSON; a number that JSON lacks becomes a text.
fn json_scalar(node: NodeRef<'_>) -> String {
    match node.scalar() {
        None | Some(Scalar::Null) => "null".into(),
        Some(Scalar::Bool(b)) => b.to_string(),
        Some(Scalar::Number(n)) => match n.to_decimal() {
            Some(_) if is_json_number(node.text()) => node.text().into(),
            Some(decimal) => decimal,
            None => quoted_json(node.string()),
        },
        Some(Scalar::String(s) | Scalar::Timestamp(s) | Scalar::Tagged(_, s)) => quoted_json(&s),
    }
}

/// Whether the text of a flow map or list is JSON.
fn is_json(node: NodeRef<'_>) -> bool {
    let source = node.document().source();
    let ends_well = |last: &Place| is_blank(&source[last.end..node.end() - 1]);
    match node.kind() {
        Kind::Scalar => node.tag_text().is_none() && json_scalar(node) == node.text(),
        Kind::Alias => false,
        Kind::Map | Kind::List => {
            node.text().starts_with(['{', '['])
                && node.tag_text().is_none()
                && node.entries().all(|(key, _)| key.style() == Style::Double)
                && Place::of_children(node).last().is_none_or(ends_well)
                && node.written().all(|(key, value)| key.is_none_or(is_json) && is_json(value))
        }
    }
}

fn is_json_number(text: &str) -> bool {
    let rest = text.strip_prefix('-').unwrap_or(text);
    let (mantissa, exponent) = rest.split_once(['e', 'E']).map_or((rest, None), |(m, e)| (m, Some(e)));
    let (whole, fraction) = mantissa.split_once('.').map_or((mantissa, None), |(w, f)| (w, Some(f)));
    let digits = |s: &str| !s.is_empty() && s.bytes().all(|b| b.is_ascii_digit());
    digits(whole)
        && (whole.len() == 1 || !whole.starts_with('0'))
        && fraction.is_none_or(digits)
        && exponent.is_none_or(|e| digits(e.strip_prefix(['-', '+']).unwrap_or(e)))
}
