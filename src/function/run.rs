//! One run over the items: a resource merged, taken off its role, added, or gone.
//!
//! Items may lie in one text or in many: what becomes of an item is edits of the text that it lies in, so whoever read it can write it.

use std::collections::HashMap;
use std::ops::Range;

use crate::alias;
use crate::change::{Change, Wants};
use crate::config::Config;
use crate::diff::diff;
use crate::limit::{Budget, Exceeded};
use crate::merge::{Plan, Policy, merge};
use crate::patch::{Reader, lower};
use crate::resource::{IDENTITY, INDEX, Identity, Origin, PATH, Resource};
use crate::results::{Outcome, Results, Severity};
use crate::roles::Roles;
use crate::schema::{Cursor, Types};
use crate::splice::{self, Edit};
use crate::transport;
use crate::yaml::{Document, Error, NodeRef, Place, extent, plain_or_quoted};

/// What a merge does to the items of a package.
#[derive(Debug, Default)]
pub struct Merged {
    /// What becomes of each item, by its number.
    pub items: Vec<Item>,
    /// The resources that are new.
    pub added: Vec<Added>,
}

/// What becomes of one item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Item {
    /// It stays as it is.
    Stays,
    /// It stays, with these edits of the text that it lies in: disjoint, and in the order of the text.
    Edited(Vec<Edit>),
    /// It goes.
    Goes,
}

/// A resource that is new.
#[derive(Clone, Debug)]
pub struct Added {
    /// Its file, relative to the folder of the role that it comes from; `None` where it was in no file.
    pub path: Option<String>,
    /// Where it came from.
    pub origin: Origin,
    /// The resource, one YAML document. Where it came from an item of a ResourceList, it carries its path as an annotation.
    pub text: String,
}

/// A source with a `<<` entry, as a text in which it is written out; what is lowered has fields and nothing behind them.
pub(super) fn flatten(source: &Resource<'_>, budget: &Budget) -> Result<Option<Document<'static>>, Box<Outcome>> {
    let exceeded = |e| Outcome::exceeded(e, source);
    let mut flat = flattened(source.node, budget).map_err(exceeded)?;
    // A copy may hold `<<` entries of its own, as they were written in the first one.
    while let Some(text) = flat {
        let doc = Document::parse(text).map_err(|e| unreadable_source(source, &e))?;
        flat = match OwnText::resource(&doc) {
            Some(node) => flattened(node, budget).map_err(exceeded)?,
            None => None,
        };
        if flat.is_none() {
            return Ok(Some(doc));
        }
    }
    Ok(None)
}

/// The text of a resource with its `<<` entries written out, where it has any.
fn flattened(node: NodeRef<'_>, budget: &Budget) -> Result<Option<String>, Exceeded> {
    let uses = alias::merged(node);
    if uses.is_empty() {
        return Ok(None);
    }
    let edits = splice::edits(node, &alias::write_out(node, &uses), budget)?;
    Ok((!edits.is_empty()).then(|| OwnText::of(node).edited(node, &edits)))
}

/// Checks that no alias binds an item that changes or goes to another one, whose meaning would change with it.
pub(super) fn own_anchors(item: &Resource<'_>, node: NodeRef<'_>) -> Result<(), Box<Outcome>> {
    match alias::shared(node) {
        Some(alias) => {
            let message = format!(
                "the alias `{}` must stand in the same item as its anchor, for one of the two is to be changed",
                alias.text()
            );
            Err(unreadable_source(item, &alias.error(message)))
        }
        None => Ok(()),
    }
}

fn unreadable_source(source: &Resource<'_>, error: &Error) -> Box<Outcome> {
    Box::new(Outcome::unreadable(&source.origin.text(), error).about(source))
}

/// A source as it is, or as its flat text has it.
pub(super) fn with_flat<'b>(source: &'b Resource<'_>, flat: Option<&'b Document<'b>>) -> Resource<'b> {
    let node = flat.and_then(OwnText::resource).unwrap_or(source.node);
    Resource { node, ..source.clone() }
}

/// The piece of text that is a resource: what a merge of it alone reads and writes. In a block list it begins with its dash, so that
/// the piece is a list of one and every line means what it means in the whole.
struct OwnText {
    range: Range<usize>,
    /// Blanks before the dash, so that all lines stand in the columns that they have in the whole.
    pad: usize,
}

impl OwnText {
    fn of(node: NodeRef<'_>) -> Self {
        let doc = node.document();
        match Place::behind_dash(node) {
            _ if node.is_root() => Self { range: extent(node), pad: 0 },
            Some(place) => Self { range: place.lead..place.bottom(doc), pad: place.column(doc) },
            None => Self { range: node.start()..node.end(), pad: 0 },
        }
    }

    /// The text with edits made in it, a document of its own.
    fn edited(&self, node: NodeRef<'_>, edits: &[Edit]) -> String {
        " ".repeat(self.pad) + &splice::apply(node.document().source(), self.range.clone(), edits)
    }

    /// The resource in such a document.
    fn resource<'d>(doc: &'d Document<'_>) -> Option<NodeRef<'d>> {
        let root = doc.roots().next()?;
        if root.is_list() { root.elements().next() } else { Some(root) }
    }
}

/// What becomes of one resource.
pub(super) enum Fate {
    /// It stays as it is.
    Unchanged,
    /// It stays as it is but for the annotation of its role, which these edits take off.
    Unmarked(Vec<Edit>),
    /// It stays, with these edits of the text that it lies in.
    Edited(Vec<Edit>),
    /// Its whole text is this; [`OwnText::pad`] blanks stand before it.
    Text(String),
    /// It goes, or there is none.
    Gone,
}

/// What is asked of a resource.
#[derive(Clone, Copy)]
pub(super) enum Ask<'r, 'a> {
    /// Nothing but that the annotation of its role goes.
    Nothing,
    /// That a source is merged into it.
    Source(&'r Resource<'a>),
    /// That what changed upstream is made in it; without an original both added it.
    Upgrade { original: Option<&'r Resource<'a>>, updated: &'r Resource<'a> },
}

impl Ask<'_, '_> {
    /// The word for the other side.
    fn side(self) -> &'static str {
        match self {
            Self::Nothing | Self::Source(_) => "source",
            Self::Upgrade { .. } => "updated",
        }
    }
}

/// The numbers that new resources of one file need. kpt takes one item without a number into a file, and refuses a second one.
#[derive(Default)]
pub(super) struct Numbering(HashMap<String, u64>);

impl Numbering {
    /// Of resources that dest lacks: files that get several of them number these behind dest's.
    pub(super) fn of<'r, 'a: 'r>(new: impl Iterator<Item = &'r Resource<'a>>, dest: &[Resource<'_>]) -> Self {
        let mut count: HashMap<&str, usize> = HashMap::new();
        for path in new.filter_map(|r| r.relative_path) {
            *count.entry(path).or_default() += 1;
        }
        count.retain(|_, n| *n > 1);
        let mut next: HashMap<String, u64> = count.into_keys().map(|path| (path.to_owned(), 0)).collect();
        let dest = if next.is_empty() { &[] } else { dest };
        for item in dest {
            if let Some(next) = item.path.and_then(|p| next.get_mut(p)) {
                let number = item.index.and_then(|i| i.parse::<u64>().ok()).unwrap_or_default();
                *next = (*next).max(number + 1);
            }
        }
        Self(next)
    }

    fn next(&mut self, path: &str) -> Option<u64> {
        let next = self.0.get_mut(path)?;
        *next += 1;
        Some(*next - 1)
    }
}

/// One run over the items of a package.
pub(super) struct Run<'c> {
    types: &'c Types<'c>,
    reader: Reader,
    pub policy: Policy,
    /// What is left for new text and results.
    budget: &'c Budget,
    pub results: Results<'c>,
    pub merged: Merged,
    pub numbering: Numbering,
}

impl<'c> Run<'c> {
    /// A run in which nothing has happened yet.
    pub(super) fn new(config: &'c Config<'_>, roles: &Roles<'_>, budget: &'c Budget) -> Self {
        Self {
            types: &config.types,
            reader: config.reader(),
            policy: config.policy,
            budget,
            results: Results::new(budget),
            merged: Merged {
                items: roles.gone.iter().map(|gone| if *gone { Item::Goes } else { Item::Stays }).collect(),
                added: Vec::new(),
            },
            numbering: Numbering::default(),
        }
    }

    pub(super) fn set_gone(&mut self, item: &Resource<'_>) {
        self.set(item, Item::Goes);
    }

    /// Says what becomes of an item; one that goes is gone.
    fn set(&mut self, item: &Resource<'_>, becomes: Item) {
        let slot = item.origin.item().and_then(|i| self.merged.items.get_mut(i));
        if let Some(slot) = slot.filter(|s| **s != Item::Goes) {
            *slot = becomes;
        }
    }

    /// Adds a resource that dest lacks.
    pub(super) fn add(&mut self, source: &Resource<'_>, text: String) {
        let path = source.relative_path.map(str::to_owned);
        self.merged.added.push(Added { path, origin: source.origin.clone(), text });
    }

    /// A dest item stays, without the annotation of its role.
    pub(super) fn keep(&mut self, dest: &Resource<'_>) -> Result<(), Box<Outcome>> {
        if dest.role.is_some() { self.merge_item(dest, &[]) } else { Ok(()) }
    }

    /// A resource as JSON, without the annotations of the host.
    pub(super) fn own_json(&self, resource: &Resource<'_>) -> Result<String, Box<Outcome>> {
        let unreadable = |e| unreadable_source(resource, &e);
        let found = diff(None, resource.node, None, self.cursor(resource)).map_err(unreadable)?;
        let mut change = found.change.unwrap_or_else(|| transport::no_change(resource.node));
        transport::leave_out(&mut change, None);
        let merged = merge(None, &change, self.policy).map_err(unreadable)?;
        let json = match merged.plan {
            Plan::Put(new) => splice::json_of(new.value, &new.trim, self.budget),
            _ => splice::to_json(resource.node, self.budget),
        };
        json.map_err(|e| Outcome::exceeded(e, resource))
    }

    /// Where two states of a resource differ in more than comments and the annotations of the host.
    pub(super) fn differs(&self, old: &Resource<'_>, new: &Resource<'_>) -> Result<Vec<String>, Box<Outcome>> {
        let unreadable = |e| unreadable_source(new, &e);
        let found = diff(Some(old.node), new.node, None, self.cursor(new)).map_err(unreadable)?;
        let Some(mut change) = found.change else { return Ok(Vec::new()) };
        transport::leave_out(&mut change, None);
        Ok(change.places())
    }

    /// Merges sources into a dest item, one after the other.
    pub(super) fn merge_item(&mut self, item: &Resource<'_>, sources: &[&Resource<'_>]) -> Result<(), Box<Outcome>> {
        let fate = self.merge_all(Some(item), sources)?;
        self.carry_out(item, fate)
    }

    pub(super) fn carry_out(&mut self, item: &Resource<'_>, fate: Fate) -> Result<(), Box<Outcome>> {
        if !matches!(fate, Fate::Unchanged) {
            own_anchors(item, item.node)?;
        }
        match fate {
            Fate::Unchanged => {}
            Fate::Unmarked(edits) | Fate::Edited(edits) => self.set(item, Item::Edited(edits)),
            Fate::Text(text) => {
                let own = OwnText::of(item.node);
                self.set(item, Item::Edited(vec![Edit { text: text[own.pad..].to_owned(), range: own.range }]));
            }
            Fate::Gone => self.set_gone(item),
        }
        Ok(())
    }

    pub(super) fn merge_all(
        &mut self,
        item: Option<&Resource<'_>>,
        sources: &[&Resource<'_>],
    ) -> Result<Fate, Box<Outcome>> {
        if let (Some(item), true) = (item, sources.len() > 1) {
            own_anchors(item, item.node)?;
        }
        let mut sources = sources.iter();
        let mut fate = match item {
            Some(item) => self.merge_one(item, item.node, sources.next().map_or(Ask::Nothing, |s| Ask::Source(s)))?,
            None => Fate::Gone,
        };
        for source in sources {
            // Only a resource that has changed before it is hit again is parsed again.
            let text = match (fate, item) {
                (Fate::Unchanged, Some(item)) => {
                    fate = self.merge_one(item, item.node, Ask::Source(source))?;
                    continue;
                }
                // What a target selects is what is there when its turn comes.
                (Fate::Gone, Some(_)) if source.target.is_some() => {
                    fate = Fate::Gone;
                    continue;
                }
                (Fate::Gone, Some(item)) => {
                    let message = "a source must have an item to be merged into, and one before it deleted this one";
                    self.results.tell([Outcome::new(Severity::Error, message).about(item)])?;
                    return Ok(Fate::Gone);
                }
                (Fate::Gone | Fate::Unchanged | Fate::Unmarked(_) | Fate::Edited(_), None) => {
                    fate = self.added(source)?;
                    continue;
                }
                (Fate::Unmarked(edits) | Fate::Edited(edits), Some(item)) => {
                    OwnText::of(item.node).edited(item.node, &edits)
                }
                (Fate::Text(text), _) => text,
            };
            fate = self.merge_text(item.unwrap_or(source), text, Ask::Source(source))?;
        }
        Ok(fate)
    }

    /// Merges into a resource that has a text of its own.
    fn merge_text(&mut self, about: &Resource<'_>, text: String, ask: Ask<'_, '_>) -> Result<Fate, Box<Outcome>> {
        let doc = Document::parse(text).map_err(|e| unreadable_source(about, &e))?;
        let Some(root) = OwnText::resource(&doc) else { return Ok(Fate::Gone) };
        Ok(match self.merge_one(about, root, ask)? {
            Fate::Unchanged => Fate::Text(doc.source().to_owned()),
            Fate::Unmarked(edits) | Fate::Edited(edits) => {
                Fate::Text(splice::apply(doc.source(), 0..doc.source().len(), &edits))
            }
            fate => fate,
        })
    }

    fn cursor(&self, resource: &Resource<'_>) -> Cursor<'c> {
        let identity = resource.identity.unwrap_or(Identity { api_version: "", kind: "", namespace: "", name: "" });
        self.types.root(identity.api_version, identity.kind)
    }

    /// Merges what is asked into dest; `about` says who dest is.
    pub(super) fn merge_one(
        &mut self,
        about: &Resource<'_>,
        dest: NodeRef<'_>,
        ask: Ask<'_, '_>,
    ) -> Result<Fate, Box<Outcome>> {
        let mut warnings = Vec::new();
        let side = ask.side();
        let mut change = match ask {
            Ask::Nothing => transport::no_change(dest),
            Ask::Source(source) => {
                let lowered = lower(source.node, Some(dest), self.cursor(about), self.reader);
                let lowered = lowered.map_err(|e| unreadable_source(source, &e))?;
                warnings.extend(lowered.warnings);
                lowered.change
            }
            Ask::Upgrade { original, updated } => {
                let found = diff(original.map(|o| o.node), updated.node, Some(dest), self.cursor(updated));
                let found = found.map_err(|e| unreadable_source(updated, &e))?;
                warnings.extend(found.warnings);
                found.change.unwrap_or_else(|| transport::no_change(dest))
            }
        };
        if let Some(field) = transport::broken(&change, dest) {
            let message = format!("`{field}` must stay a map, for it says what the resource is and where it lies");
            let from = match ask {
                Ask::Source(source) | Ask::Upgrade { updated: source, .. } => source,
                Ask::Nothing => about,
            };
            return Err(unreadable_source(from, &from.node.error(message)));
        }
        if matches!(ask, Ask::Source(source) if source.target.is_some()) {
            change.keep_fields(&IDENTITY);
        }
        if !matches!(change.wants, Wants::Nothing) {
            transport::leave_out(&mut change, Some(dest));
            transport::take_off_role(&mut change, dest);
        }
        let mut merged = merge(Some(dest), &change, self.policy).map_err(|e| unreadable_source(about, &e))?;
        if transport::has_ids(dest) && merged.plan.misleads_by_place(dest) {
            transport::take_off_ids(&mut change, dest);
            merged = merge(Some(dest), &change, self.policy).map_err(|e| unreadable_source(about, &e))?;
        }
        let uses = alias::in_the_way(dest, &merged);
        if !uses.is_empty() {
            own_anchors(about, dest)?;
            let edits = self.edits(about, dest, &alias::write_out(dest, &uses))?;
            // Each round writes at least one use out; without progress there is no end.
            if edits.is_empty() {
                return Err(unreadable_source(
                    about,
                    &uses[0].error("this must be written out before it can be merged"),
                ));
            }
            let text = OwnText::of(dest).edited(dest, &edits);
            drop(edits);
            return self.merge_text(about, text, ask);
        }
        let (policy, budget) = (self.policy.on_conflict, self.budget);
        warnings.append(&mut merged.warnings);
        self.results.tell(warnings.iter().map(|w| Outcome::warning(w, about, side, budget)))?;
        self.results.tell(merged.conflicts.iter().map(|c| Outcome::conflict(c, about, policy, budget)))?;
        if transport::only_takes_off_role(dest, &merged.plan) {
            return self.edits(about, dest, &merged.plan).map(Fate::Unmarked);
        }
        match merged.plan {
            Plan::Keep => Ok(Fate::Unchanged),
            Plan::Remove | Plan::Put(_) => Ok(Fate::Gone),
            plan => self.edits(about, dest, &plan).map(Fate::Edited),
        }
    }

    fn edits(&self, about: &Resource<'_>, dest: NodeRef<'_>, plan: &Plan<'_>) -> Result<Vec<Edit>, Box<Outcome>> {
        splice::edits(dest, plan, self.budget).map_err(|e| Outcome::exceeded(e, about))
    }

    /// The text of a resource that dest lacks.
    fn added(&mut self, source: &Resource<'_>) -> Result<Fate, Box<Outcome>> {
        let lowered = lower(source.node, None, self.cursor(source), self.reader);
        let lowered = lowered.map_err(|e| unreadable_source(source, &e))?;
        self.put(source, lowered.change)
    }

    /// The text of a resource that came upstream.
    pub(super) fn arrived(&mut self, updated: &Resource<'_>) -> Result<Fate, Box<Outcome>> {
        let found = diff(None, updated.node, None, self.cursor(updated)).map_err(|e| unreadable_source(updated, &e))?;
        found.change.map_or(Ok(Fate::Gone), |change| self.put(updated, change))
    }

    fn put(&mut self, source: &Resource<'_>, change: Change<'_>) -> Result<Fate, Box<Outcome>> {
        let marks = |path: &str| {
            let number = self.numbering.next(path).map(|n| format!("{INDEX}: '{n}'\n")).unwrap_or_default();
            format!("{PATH}: {}\n{number}", plain_or_quoted(path))
        };
        let is_file = matches!(source.origin, Origin::File { .. });
        let path = source.relative_path.filter(|_| !is_file).map(marks);
        let path = path.map(Document::parse).transpose().map_err(|e| unreadable_source(source, &e))?;
        let mut change = change;
        transport::leave_out(&mut change, None);
        if let Some(path) = path.as_ref().and_then(|d| d.roots().next()) {
            transport::set_path(&mut change, path);
        }
        let merged = merge(None, &change, self.policy).map_err(|e| unreadable_source(source, &e))?;
        match merged.plan {
            Plan::Put(new) => {
                let text = splice::standalone(&new, self.budget).map_err(|e| Outcome::exceeded(e, source))?;
                Ok(Fate::Text(text))
            }
            _ => Ok(Fate::Gone),
        }
    }
}
