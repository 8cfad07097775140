//! The envelope: where items, functionConfig and results are in the text of a ResourceList.
//!
//! Keys may come in any order, and unknown fields stay. Output is the input text with edits: only the changes to the items and the new
//! results touch the text. Source: the KRM functions specification; measured on kpt and kustomize (hosts.md).

use krm_merge_core::host::is_transport;
use krm_package::list::{self, ListPart, Listed};
use krm_package::resource::{Located, Origin, Resource};
use krm_tree::child::By;
use krm_tree::limit::{Budget, Limit};
use krm_tree::splice::{self, Unwritable};
use krm_tree::tree::{Branch, Entry, Key, Layout, Tree};
use krm_yaml::{Document, Edit, Error, NodeRef, Place, Position, Style, TextEdits, ends_line};

use krm_job::event::Event;

const VERSIONS: [&str; 3] =
    ["config.kubernetes.io/v1", "config.kubernetes.io/v1beta1", "config.kubernetes.io/v1alpha1"];

/// A ResourceList in its text.
#[derive(Debug)]
pub struct ResourceList<'a> {
    root: NodeRef<'a>,
    items: Option<NodeRef<'a>>,
    /// The functionConfig, if there is one.
    pub function_config: Option<NodeRef<'a>>,
}

impl<'a> ResourceList<'a> {
    /// Finds the parts of a ResourceList.
    ///
    /// # Errors
    /// The text holds no document or several documents; it is not a ResourceList of a known version; or its items are not a list of maps.
    pub fn read(doc: &'a Document<'_>) -> Result<Self, Error> {
        let mut roots = doc.roots();
        let Some(root) = roots.next() else {
            return Err(doc.error(0, "stdin is empty, but must hold a ResourceList"));
        };
        if let Some(second) = roots.next() {
            return Err(second.error("stdin must hold one document, a ResourceList"));
        }
        let text = |key| root.get(key).and_then(NodeRef::as_str).unwrap_or_default();
        if !root.is_map() || text("kind") != "ResourceList" {
            let found = match text("kind") {
                "" => "it has no `kind: ResourceList`".to_owned(),
                kind => format!("its kind is \"{kind}\""),
            };
            return Err(root.get("kind").unwrap_or(root).error(format!(
                "stdin must hold a ResourceList, but {found}. To merge plain YAML, name the file of the functionConfig: `krm-merge merge.yaml < file.yaml`"
            )));
        }
        if !VERSIONS.contains(&text("apiVersion")) {
            let at = root.get("apiVersion").unwrap_or(root);
            return Err(at.error(format!(
                "`apiVersion` of a ResourceList must be {}, not \"{}\"",
                krm_job::config::one_of(&VERSIONS),
                text("apiVersion")
            )));
        }
        if let Some(key) = root.duplicate_key() {
            return Err(key.error(format!("the key `{}` must be in a ResourceList only once", key.string())));
        }
        let items = root.get("items").filter(|i| !i.is_null());
        if let Some(items) = items.filter(|i| !i.is_list()) {
            return Err(items.error("`items` must be a list"));
        }
        if let Some((i, item)) = items.into_iter().flat_map(NodeRef::elements).enumerate().find(|(_, e)| !e.is_map()) {
            return Err(item.error(format!("`items[{i}]` must be a map")));
        }
        let function_config = root.get("functionConfig").filter(|c| !c.is_null());
        Ok(Self { root, items, function_config })
    }

    /// The resources in order.
    ///
    /// A list among the items stands for the resources in it. The role, path and index of such a list apply to every resource in it. The
    /// resources move with the list, so none of them can move alone.
    pub fn resources(&self) -> Vec<Resource<'a>> {
        let items = self.items.into_iter().flat_map(NodeRef::elements);
        // There is one for each item, except where lists are among the items.
        let mut all: Vec<Resource<'a>> = Vec::with_capacity(items.clone().count());
        for (i, item) in items.enumerate() {
            match ListPart::of(item) {
                ListPart::List(_) => collect(Listed { node: item, list: None }, &format!("items[{i}]"), None, &mut all),
                ListPart::Resource if all.len() == i => all.push(Resource::read(item, Origin::Item(i))),
                ListPart::Resource => {
                    let origin = Origin::Listed { item: all.len(), field: format!("items[{i}]") };
                    all.push(Resource::read(item, origin));
                }
                ListPart::Neither => {}
            }
        }
        all
    }

    /// A place in stdin as a place in the file that the host names. This works for the functionConfig, and for an item that is the first of
    /// its file. For other items the place is unknown, because nobody can tell how long the items before them are in the file. Lines that
    /// the host added do not count.
    pub fn in_file(&self, position: Position) -> Option<(String, Position)> {
        let items =
            self.items.into_iter().flat_map(|items| items.elements().map(move |e| (e, Place::of_element(items, e))));
        let config = self.root.entries().find(|(key, _)| key.string() == "functionConfig");
        let config = config.map(|(key, value)| (value, Place::of_entry(key, value)));
        let document = self.root.document();
        let at = |offset: usize| Position::of(document.source(), offset);
        let is_within = |place: &Place| (at(place.lead).line..=at(place.end).line).contains(&position.line);
        let (node, place) = config.into_iter().chain(items).find(|(_, place)| is_within(place))?;
        let resource = Resource::read(node, Origin::Item(0));
        let is_first = node.style() == Style::Block && resource.index.is_none_or(|index| index == "0");
        let path = resource.path.filter(|_| is_first)?;
        let head = node.position();
        // A comment above the first field belongs to the file. If the line of the item's dash or key holds nothing else, the file begins
        // after it.
        let first =
            if at(place.open).line < head.line { at(place.open).line + 1 } else { at(place.top(document)).line };
        let hosts: usize = lines_of_host(node).into_iter().filter(|line| (first..position.line).contains(line)).count();
        let line = (position.line + 1).saturating_sub(first + hosts).max(1);
        let column = (position.column + 1).saturating_sub(head.column).max(1);
        Some((path.to_owned(), Position { line, column }))
    }

    /// A place in a text of the functionConfig as a place in stdin. Only a literal block has the same lines as its text.
    pub fn in_text(&self, field: &str, position: Position) -> Option<Position> {
        let steps = field.split(['.', '[', ']']).filter(|step| !step.is_empty());
        let text = steps.fold(self.function_config, |node, step| match step.parse::<usize>() {
            Ok(index) => node?.elements().nth(index),
            Err(_) => node?.get(step),
        })?;
        let (header, content) = text.text().split_once('\n')?;
        let is_plain = header.strip_prefix('|').is_some_and(|rest| !rest.contains(|c: char| c.is_ascii_digit()));
        let first = content.lines().find(|line| !line.trim().is_empty()).filter(|_| is_plain)?;
        let indent = first.len() - first.trim_start_matches(' ').len();
        Some(Position { line: text.position().line + position.line, column: indent + position.column })
    }

    /// All edits of the text: the edits inside of items, and edits that delete items, add items at the end, and add results after earlier
    /// results.
    ///
    /// # Errors
    /// Items are to be added, but there is no list of items; or the text to write takes more than the limit.
    pub fn edits(
        &self,
        edits: impl IntoIterator<Item = TextEdits>,
        gone: &[bool],
        added: Vec<Tree<'_>>,
        results: &[Event],
        limit: Limit,
    ) -> Result<TextEdits, Box<Event>> {
        let in_stdin = |e: Error| Box::new(Event::unreadable("stdin", &e));
        if self.items.is_none() && !added.is_empty() {
            return Err(in_stdin(self.root.error("`items` must be a list, so that resources can be added to it")));
        }
        let budget = Budget::new(limit);
        let text = match results {
            [] => None,
            results => Some(crate::results::to_yaml(results, |_| None, &budget)?),
        };
        let is_usual = !results.is_empty() && splice::has_usual_layout(self.root, &budget);
        let (budget, edits) = (Budget::new(limit), TextEdits::default().union(edits).map_err(Unwritable::from)?);
        // Most results come below all else as they are. Elsewhere they are spliced in like a user's text.
        if is_usual && self.ends_with_a_field() && text.as_deref().is_some_and(are_simple) {
            let (end, text) = (self.root.document().source().len(), text.unwrap_or_default());
            budget.take(text.len());
            let edits = splice::edits_around(self.root, &self.tree(gone, added, None, Layout::Value), edits, &budget)?;
            return Ok(edits.union([Edit { range: end..end, text }.into()]).map_err(Unwritable::from)?);
        }
        let of_results = text.as_deref().map(Document::parse).transpose().map_err(in_stdin)?;
        let is_simple = of_results.as_ref().is_some_and(Document::is_simple);
        let layout = if is_usual && is_simple { Layout::Value } else { Layout::Host };
        let of_results = of_results.as_ref().and_then(|document| document.roots().next());
        Ok(splice::edits_around(self.root, &self.tree(gone, added, of_results, layout), edits, &budget)?)
    }

    /// Whether one more field can be written at the end of the text, and `results` is none of the fields there.
    fn ends_with_a_field(&self) -> bool {
        let (root, doc) = (self.root, self.root.document());
        let last = Place::of_children(root).last().map(|place| place.bottom(doc));
        let is_last = last == Some(doc.source().len()) && ends_line(doc.source());
        let is_usual = root.style() == Style::Block && root.column() == 0 && doc.line_break() == "\n";
        is_last && is_usual && root.get("results").is_none() && splice::closed_end(doc).is_none()
    }

    /// The ResourceList as it is to be. Its results get this layout.
    fn tree<'p>(&self, gone: &[bool], added: Vec<Tree<'p>>, results: Option<NodeRef<'p>>, layout: Layout) -> Tree<'p>
    where
        'a: 'p,
    {
        let results = results.and_then(|r| r.entries().next());
        let mut root = Branch::of(self.root, By::Field);
        if let Some(items) = self.items.filter(|_| gone.contains(&true) || !added.is_empty()) {
            let mut gone = gone.iter();
            let mut list = list::left(items, &mut |_| gone.next() == Some(&true));
            list.entries.reserve_exact(added.len());
            list.entries.extend(added.into_iter().map(|tree| Entry { layout: Layout::Own, ..Entry::new(None, tree) }));
            set(&mut root, "items", Tree::Branch(Box::new(list)));
        }
        let Some((key, new)) = results else { return root.into_tree() };
        match self.root.get("results") {
            None => root.push(Entry { layout, ..Entry::new(Some(Key::Node(key)), Tree::Node(new)) }),
            Some(old) if old.is_list() => {
                let mut list = Branch::of(old, By::Index);
                list.entries
                    .extend(new.elements().map(|result| Entry { layout, ..Entry::new(None, Tree::Node(result)) }));
                set(&mut root, "results", Tree::Branch(Box::new(list)));
            }
            Some(_) => {
                set(&mut root, "results", Tree::Node(new));
            }
        }
        root.into_tree()
    }
}

/// About how many bytes of results are read at once. All together take far more memory than their text.
const AT_ONCE: usize = 1 << 16;

/// Whether results can be copied as they are written.
fn are_simple(results: &str) -> bool {
    let is_simple = |some: &str| Document::parse(some).is_ok_and(|some| some.is_simple());
    let mut start = 0;
    // Each begins with a dash in the first column.
    for (at, _) in results.match_indices("\n- ") {
        if at - start > AT_ONCE {
            if !is_simple(&results[start..=at]) {
                return false;
            }
            start = at + 1;
        }
    }
    is_simple(&results[start..])
}

/// Collects the resources of a list among the items, each with its field: `items[3].items[0]`.
fn collect<'a>(listed: Listed<'a>, field: &str, list: Option<&Resource<'a>>, all: &mut Vec<Resource<'a>>) {
    let node = listed.node;
    let own = Resource::listed(listed, Origin::Listed { item: all.len(), field: field.to_owned() });
    let own = match list {
        Some(list) => within(own, list),
        None => own,
    };
    match ListPart::of(node) {
        ListPart::List(items) => {
            for (i, element) in items.elements().enumerate() {
                collect(Listed { node: element, list: Some(node) }, &format!("{field}.items[{i}]"), Some(&own), all);
            }
        }
        ListPart::Resource => all.push(own),
        ListPart::Neither => {}
    }
}

/// A resource in a list among the items. Where it lacks a path, an index or a role, it takes the list's.
fn within<'a>(resource: Resource<'a>, list: &Resource<'a>) -> Resource<'a> {
    let path = resource.path.or(list.path);
    Resource {
        path,
        relative_path: path,
        index: resource.index.or(list.index),
        package: resource.package.or(list.package),
        role: resource.role.or(list.role),
        located: Located::Nowhere,
        ..resource
    }
}

/// The lines of an item that its host wrote: its annotations, and the fields around them that hold nothing else.
fn lines_of_host(item: NodeRef<'_>) -> Vec<usize> {
    let text = item.document().source();
    let lines = |(key, value): (NodeRef<'_>, NodeRef<'_>)| {
        let place = Place::of_entry(key, value);
        Position::of(text, place.lead).line..=Position::of(text, place.end).line
    };
    fn field<'a>(map: NodeRef<'a>, name: &str) -> Option<(NodeRef<'a>, NodeRef<'a>)> {
        map.entries().find(|(key, _)| key.string() == name)
    }
    let Some(metadata) = field(item, "metadata") else { return Vec::new() };
    let Some(annotations) = field(metadata.1, "annotations") else { return Vec::new() };
    let (of_host, others): (Vec<_>, Vec<_>) = annotations.1.entries().partition(|(key, _)| is_transport(key.string()));
    if of_host.is_empty() || annotations.1.style() == Style::Flow {
        return Vec::new();
    }
    match others.is_empty() {
        false => of_host.into_iter().flat_map(lines).collect(),
        true if metadata.1.entries().count() > 1 => lines(annotations).collect(),
        true => lines(metadata).collect(),
    }
}

/// Sets a field that exists.
fn set<'a>(map: &mut Branch<'a>, name: &str, value: Tree<'a>) {
    if let Some(entry) = map.entries.iter_mut().find(|entry| entry.key.is_some_and(|key| key.name() == name)) {
        entry.value = Some(value);
    }
}
