//! The whole function: from the text of a ResourceList to the text of a ResourceList.
//!
//! Each source is lowered to a change and applied to its partner; what comes of it is edits of the text that came in. Where anything is
//! wrong, the items go out as they came, with the reason among the results.

use std::collections::HashMap;
use std::ops::Range;

use crate::alias;
use crate::change::{Change, Wants};
use crate::config::{Config, Mode, Role};
use crate::diff::{asks_for_values, diff};
use crate::merge::{New, OnConflict, Plan, Policy, merge};
use crate::patch::lower;
use crate::resource::{Identity, Index, PATH, ROLE, Resource};
use crate::resource_list::ResourceList;
use crate::results::{self, Outcome, Severity};
use crate::roles::{Roles, Texts, assign};
use crate::schema::{Cursor, Types};
use crate::splice::{self, Edit};
use crate::transport;
use crate::yaml::{Document, Error, NodeRef, Place, plain_or_quoted};

/// What the function answers.
#[derive(Clone, Debug, PartialEq)]
pub struct Output {
    /// The ResourceList to write; empty only where what came in was none.
    pub stdout: String,
    /// The errors and warnings, one line each; a text that cannot be read is shown with a caret.
    pub stderr: Vec<String>,
    /// Whether any result is an error.
    pub verdict: Verdict,
}

/// Whether a run went through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// No result is an error: exit 0.
    Passed,
    /// Some result is an error, and the items are as they came: exit 1.
    Failed,
}

/// Runs the function on the text of a ResourceList.
pub fn run(stdin: &str) -> Output {
    let doc = match Document::parse(stdin) {
        Ok(doc) => doc,
        Err(e) => return unreadable(&e),
    };
    let list = match ResourceList::read(&doc) {
        Ok(list) => list,
        Err(e) => return unreadable(&e),
    };
    let (merged, mut results) = match merge_list(&list) {
        Ok((merged, results)) if verdict(&results) == Verdict::Passed => (merged, results),
        Ok((_, results)) => (Merged::default(), results),
        Err(error) => (Merged::default(), vec![*error]),
    };
    results::sort(&mut results);
    match write(&list, merged, &results) {
        Ok(stdout) => Output { stdout, stderr: lines(&results), verdict: verdict(&results) },
        Err(e) => {
            let results = vec![Outcome::unreadable("stdin", &e)];
            let stdout = write(&list, Merged::default(), &results).unwrap_or_else(|_| stdin.to_owned());
            Output { stdout, stderr: lines(&results), verdict: Verdict::Failed }
        }
    }
}

fn unreadable(error: &Error) -> Output {
    let stderr = lines(&[Outcome::unreadable("stdin", error)]);
    Output { stdout: String::new(), stderr, verdict: Verdict::Failed }
}

fn lines(results: &[Outcome]) -> Vec<String> {
    let shown = results.iter().filter(|r| r.severity != Severity::Info);
    shown.flat_map(|r| [Some(r.line()), r.excerpt.clone()]).flatten().collect()
}

fn verdict(results: &[Outcome]) -> Verdict {
    if results.iter().any(|r| r.severity == Severity::Error) { Verdict::Failed } else { Verdict::Passed }
}

/// What becomes of the items.
#[derive(Debug, Default)]
struct Merged {
    /// Edits inside of items.
    edits: Vec<Edit>,
    /// For each item, whether it goes.
    gone: Vec<bool>,
    /// The texts of new resources.
    added: Vec<String>,
}

fn write(list: &ResourceList<'_>, merged: Merged, results: &[Outcome]) -> Result<String, Error> {
    let docs = merged.added.into_iter().map(Document::parse).collect::<Result<Vec<_>, _>>()?;
    let added = docs.iter().flat_map(Document::roots).map(|value| New { key: None, value, trim: Plan::Keep }).collect();
    list.write(merged.edits, &merged.gone, added, results)
}

fn merge_list(list: &ResourceList<'_>) -> Result<(Merged, Vec<Outcome>), Box<Outcome>> {
    let in_stdin = |e: Error| Box::new(Outcome::unreadable("stdin", &e));
    let Some(node) = list.function_config else {
        return Err(Box::new(Outcome::new(
            Severity::Error,
            "`functionConfig` must be given: a `Merge` of `krm-merge.dev/v1alpha1`, or a ConfigMap with `data.mode`",
        )));
    };
    let config = Config::read(node).map_err(in_stdin)?;
    let texts = Texts::parse(&config)?;
    let roles = assign(list, &config, &texts)?;
    match config.mode {
        Mode::TwoWay => two_way(roles, &config),
        Mode::ThreeWay => three_way(roles, &config),
        mode => Err(in_stdin(
            node.error(format!("`spec.mode` must be `TwoWay` or `ThreeWay`: mode `{mode:?}` is not built yet")),
        )),
    }
}

/// Merges the sources into dest; without any, the items that share an identity into the first of them.
fn two_way(roles: Roles<'_>, config: &Config<'_>) -> Result<(Merged, Vec<Outcome>), Box<Outcome>> {
    let flat = roles.of(Role::Source).iter().map(flatten).collect::<Result<Vec<_>, _>>()?;
    let sources: Vec<Resource<'_>> =
        roles.of(Role::Source).iter().zip(&flat).map(|(source, flat)| source.with_flat(flat.as_ref())).collect();
    let has_sources = roles.others.iter().any(|o| o.0 == Role::Source);
    let mut run = Run {
        types: &config.types,
        policy: config.policy,
        results: Vec::new(),
        merged: Merged { gone: roles.gone.clone(), ..Merged::default() },
    };
    let mut groups = Groups::default();
    for source in roles.of(Role::Source) {
        own_anchors(source, source.node)?;
    }
    if has_sources {
        let index = Index::of(&roles.dest);
        for source in &sources {
            let Some(identity) = source.identity else { continue };
            let partner = index
                .partner(identity, source.relative_path)
                .map_err(|m| Box::new(Outcome::new(Severity::Error, m).about(source)))?;
            groups.add(identity, partner, source);
        }
    } else {
        let mut first: HashMap<Identity<'_>, usize> = HashMap::new();
        for (i, item) in roles.dest.iter().enumerate() {
            let Some(identity) = item.identity else { continue };
            let first = *first.entry(identity).or_insert(i);
            if first != i {
                own_anchors(item, item.node)?;
                groups.add(identity, Some(first), item);
                run.set_gone(item);
            }
        }
    }
    let mut merged = vec![false; roles.dest.len()];
    for group in &groups.groups {
        match group.dest {
            Some(i) => {
                merged[i] = true;
                run.merge_item(&roles.dest[i], &group.sources)?;
            }
            None => {
                if let Fate::Text(text) = run.merge_all(None, &group.sources)? {
                    run.merged.added.push(text);
                }
            }
        }
    }
    for (item, _) in roles.dest.iter().zip(&merged).filter(|(item, merged)| !**merged && item.role.is_some()) {
        run.merge_item(item, &[])?;
    }
    Ok((run.merged, run.results))
}

/// Makes in dest what changed from original to updated.
fn three_way(roles: Roles<'_>, config: &Config<'_>) -> Result<(Merged, Vec<Outcome>), Box<Outcome>> {
    for role in config.mode.roles() {
        if !roles.others.iter().any(|o| o.0 == *role) {
            let name = role.name();
            let message = format!("`spec.{name}` must be given, or items must carry the annotation `{ROLE}: {name}`");
            return Err(Box::new(Outcome::new(Severity::Error, message)));
        }
    }
    for side in roles.others.iter().flat_map(|o| &o.1) {
        own_anchors(side, side.node)?;
    }
    let flat = |role| roles.of(role).iter().map(flatten).collect::<Result<Vec<_>, _>>();
    let (flat_original, flat_updated) = (flat(Role::Original)?, flat(Role::Updated)?);
    fn with<'b>(side: &'b [Resource<'_>], flat: &'b [Option<Document<'static>>]) -> Vec<Resource<'b>> {
        side.iter().zip(flat).map(|(s, f)| s.with_flat(f.as_ref())).collect()
    }
    let original = with(roles.of(Role::Original), &flat_original);
    let updated = with(roles.of(Role::Updated), &flat_updated);
    let mut run = Run {
        types: &config.types,
        policy: config.policy,
        results: Vec::new(),
        merged: Merged { gone: roles.gone.clone(), ..Merged::default() },
    };
    let mut counts = Counts::default();
    let triples =
        triples([&original, &updated, &roles.dest]).map_err(|m| Box::new(Outcome::new(Severity::Error, m)))?;
    let mut moves = Moves::default();
    for [o, u, d] in triples {
        let (o, u, d) = (o.map(|i| &original[i]), u.map(|i| &updated[i]), d.map(|i| &roles.dest[i]));
        if let (Some(o), None) = (o, u) {
            moves.left.push((o, d.is_some()));
        }
        match (o, u, d) {
            // Only in dest: kept untouched.
            (None, None, Some(dest)) => run.keep(dest, &mut counts)?,
            // Added upstream.
            (None, Some(updated), None) => {
                moves.came.push(updated);
                if let Fate::Text(text) = run.arrived(updated)? {
                    run.merged.added.push(text);
                    counts.added += 1;
                }
            }
            // Deleted upstream: it goes. What dest changed in it is a conflict, and stays under KeepDest.
            (Some(original), None, Some(dest)) => {
                let changed = run.differs(original, dest)?;
                if changed {
                    let json = run.own_json(original)?;
                    run.results.push(Outcome::deleted_and_changed(original, Some(dest), json, run.policy.on_conflict));
                }
                if changed && run.policy.on_conflict != OnConflict::TakeUpdated {
                    run.keep(dest, &mut counts)?;
                } else {
                    run.carry_out(dest, Fate::Gone)?;
                    counts.deleted += 1;
                }
            }
            // Deleted in dest: it stays deleted. What upstream changed in it is a conflict.
            (Some(original), Some(updated), None) => {
                if run.differs(original, updated)? {
                    let json = run.own_json(original)?;
                    run.results.push(Outcome::deleted_and_changed(original, None, json, run.policy.on_conflict));
                }
            }
            // In updated and dest: fields are merged. Without an original both added it.
            (original, Some(updated), Some(dest)) => {
                let fate = run.merge_one(dest, dest.node, Ask::Upgrade { original, updated })?;
                match fate {
                    Fate::Unchanged | Fate::Unmarked(_) => counts.unchanged += 1,
                    _ => counts.merged += 1,
                }
                run.carry_out(dest, fate)?;
            }
            // Gone on both sides.
            (_, None, None) => {}
        }
    }
    run.results.extend(moves.results());
    let conflicts = run.results.iter().filter(|r| r.tags.contains_key("krm-merge.dev/reason")).count();
    run.results.push(counts.result(conflicts));
    Ok((run.merged, run.results))
}

/// What a three-way merge did to resources.
#[derive(Default)]
struct Counts {
    merged: usize,
    added: usize,
    deleted: usize,
    unchanged: usize,
}

impl Counts {
    fn result(&self, conflicts: usize) -> Outcome {
        let Self { merged, added, deleted, unchanged } = self;
        let message = format!(
            "{merged} merged, {added} added, {deleted} deleted, {unchanged} unchanged, {conflicts} in conflict"
        );
        Outcome::new(Severity::Info, message)
    }
}

/// Resources that left upstream and that came there: one of the same kind and name under another version or group may have moved.
#[derive(Default)]
struct Moves<'r, 'a> {
    left: Vec<(&'r Resource<'a>, bool)>,
    came: Vec<&'r Resource<'a>>,
}

impl Moves<'_, '_> {
    fn results(&self) -> Vec<Outcome> {
        let key = |r: &Resource<'_>| r.identity.map(|i| (i.kind.to_owned(), i.namespace.to_owned(), i.name.to_owned()));
        let left: HashMap<_, _> = self.left.iter().filter_map(|(r, in_dest)| Some((key(r)?, (*r, *in_dest)))).collect();
        let moved = self.came.iter().filter_map(|came| {
            let (left, in_dest) = left.get(&key(came)?)?;
            let became = if *in_dest { "deleted" } else { "not in dest" };
            let message = format!(
                "`{}` is new and `{}` is {became}: it may be a move, and local edits of the old one are not carried over",
                came.identity?, left.identity?
            );
            Some(Outcome::new(Severity::Info, message).about(came))
        });
        moved.collect()
    }
}

/// A resource of original, of updated and of dest that are the same one, by their numbers.
type Triple = [Option<usize>; 3];

/// Pairs the resources of three sides: by identity, and by path where a side has several of one identity. In the order of dest, then of
/// updated, then of original.
///
/// # Errors
/// Two resources of a side with one identity and one path, or without a path: a message that names both.
fn triples(sides: [&[Resource<'_>]; 3]) -> Result<Vec<Triple>, String> {
    let mut groups: HashMap<Identity<'_>, [Vec<usize>; 3]> = HashMap::new();
    let mut order = Vec::new();
    let mut unnamed = Vec::new();
    for side in [2, 1, 0] {
        for (i, resource) in sides[side].iter().enumerate() {
            let Some(identity) = resource.package_identity() else {
                let mut alone = [None; 3];
                alone[side] = Some(i);
                unnamed.push(alone);
                continue;
            };
            groups.entry(identity).or_insert_with(|| {
                order.push(identity);
                Default::default()
            })[side]
                .push(i);
        }
    }
    let mut triples = unnamed;
    for identity in order {
        let Some(group) = groups.get(&identity) else { continue };
        if group.iter().all(|side| side.len() <= 1) {
            triples.push([0, 1, 2].map(|side| group[side].first().copied()));
            continue;
        }
        let mut by_path: Vec<(Option<&str>, Triple)> = Vec::new();
        for side in [2, 1, 0] {
            for &i in &group[side] {
                let resource = &sides[side][i];
                let path = resource.relative_path;
                let at = by_path.iter().position(|(p, _)| *p == path).unwrap_or_else(|| {
                    by_path.push((path, [None; 3]));
                    by_path.len() - 1
                });
                if let Some(other) = by_path[at].1[side].replace(i) {
                    let role = ["original", "updated", "dest"][side];
                    return Err(format!(
                        "`{identity}` must be one resource of {role}, or lie at different paths, not {} and {}",
                        sides[side][other].whereabouts(),
                        resource.whereabouts()
                    ));
                }
            }
        }
        triples.extend(by_path.into_iter().map(|(_, triple)| triple));
    }
    Ok(triples)
}

/// The sources of each dest item, and of each resource that dest lacks, in the order in which they come.
#[derive(Default)]
struct Groups<'r, 'a> {
    groups: Vec<Group<'r, 'a>>,
    by_dest: HashMap<usize, usize>,
    by_identity: HashMap<Identity<'a>, usize>,
}

struct Group<'r, 'a> {
    dest: Option<usize>,
    sources: Vec<&'r Resource<'a>>,
}

impl<'r, 'a> Groups<'r, 'a> {
    fn add(&mut self, identity: Identity<'a>, dest: Option<usize>, source: &'r Resource<'a>) {
        let next = self.groups.len();
        let at = match dest {
            Some(i) => *self.by_dest.entry(i).or_insert(next),
            None => *self.by_identity.entry(identity).or_insert(next),
        };
        if at == next {
            self.groups.push(Group { dest, sources: Vec::new() });
        }
        self.groups[at].sources.push(source);
    }
}

/// A source with a `<<` entry, as a text in which it is written out; what is lowered has fields and nothing behind them.
fn flatten(source: &Resource<'_>) -> Result<Option<Document<'static>>, Box<Outcome>> {
    let uses = alias::merged(source.node);
    if uses.is_empty() {
        return Ok(None);
    }
    let text = OwnText::of(source.node)
        .edited(source.node, &splice::edits(source.node, &alias::write_out(source.node, &uses)));
    Document::parse(text).map(Some).map_err(|e| unreadable_source(source, &e))
}

/// Checks that no alias binds an item that changes or goes to another one, whose meaning would change with it.
fn own_anchors(item: &Resource<'_>, node: NodeRef<'_>) -> Result<(), Box<Outcome>> {
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
    use crate::resource::Origin;
    let text = match &source.origin {
        Origin::Item(_) => "stdin".to_owned(),
        Origin::Field(field) => format!("`{field}`"),
    };
    Box::new(Outcome::unreadable(&text, error).about(source))
}

impl<'a> Resource<'a> {
    fn with_flat<'b>(&'b self, flat: Option<&'b Document<'b>>) -> Resource<'b>
    where
        'a: 'b,
    {
        let node = flat.and_then(OwnText::resource).unwrap_or(self.node);
        Resource { node, ..self.clone() }
    }
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
            _ if doc.roots().next().is_some_and(|r| r.is(node)) => Self { range: 0..doc.source().len(), pad: 0 },
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
enum Fate {
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
enum Ask<'r, 'a> {
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

/// One run over a ResourceList.
struct Run<'c> {
    types: &'c Types,
    policy: Policy,
    results: Vec<Outcome>,
    merged: Merged,
}

impl<'c> Run<'c> {
    fn set_gone(&mut self, item: &Resource<'_>) {
        if let crate::resource::Origin::Item(i) = item.origin {
            self.merged.gone[i] = true;
        }
    }

    /// A dest item stays, without the annotation of its role.
    fn keep(&mut self, dest: &Resource<'_>, counts: &mut Counts) -> Result<(), Box<Outcome>> {
        counts.unchanged += 1;
        if dest.role.is_some() { self.merge_item(dest, &[]) } else { Ok(()) }
    }

    /// A resource as JSON, without the annotations of the host.
    fn own_json(&self, resource: &Resource<'_>) -> Result<String, Box<Outcome>> {
        let unreadable = |e| unreadable_source(resource, &e);
        let found = diff(None, resource.node, None, self.cursor(resource)).map_err(unreadable)?;
        let mut change = found.change.unwrap_or_else(|| transport::no_change(resource.node));
        transport::leave_out(&mut change, None);
        let merged = merge(None, &change, self.policy).map_err(unreadable)?;
        Ok(match merged.plan {
            Plan::Put(new) => splice::json_of(new.value, &new.trim),
            _ => splice::to_json(resource.node),
        })
    }

    /// Whether two states of a resource differ in more than comments and the annotations of the host.
    fn differs(&self, old: &Resource<'_>, new: &Resource<'_>) -> Result<bool, Box<Outcome>> {
        let found = diff(Some(old.node), new.node, None, self.cursor(new)).map_err(|e| unreadable_source(new, &e))?;
        let Some(mut change) = found.change else { return Ok(false) };
        transport::leave_out(&mut change, None);
        Ok(asks_for_values(&change))
    }

    /// Merges sources into a dest item, one after the other.
    fn merge_item(&mut self, item: &Resource<'_>, sources: &[&Resource<'_>]) -> Result<(), Box<Outcome>> {
        let fate = self.merge_all(Some(item), sources)?;
        self.carry_out(item, fate)
    }

    fn carry_out(&mut self, item: &Resource<'_>, fate: Fate) -> Result<(), Box<Outcome>> {
        if !matches!(fate, Fate::Unchanged) {
            own_anchors(item, item.node)?;
        }
        match fate {
            Fate::Unchanged => {}
            Fate::Unmarked(edits) | Fate::Edited(edits) => self.merged.edits.extend(edits),
            Fate::Text(text) => {
                let own = OwnText::of(item.node);
                self.merged.edits.push(Edit { text: text[own.pad..].to_owned(), range: own.range });
            }
            Fate::Gone => self.set_gone(item),
        }
        Ok(())
    }

    fn merge_all(&mut self, item: Option<&Resource<'_>>, sources: &[&Resource<'_>]) -> Result<Fate, Box<Outcome>> {
        if let (Some(item), true) = (item, sources.len() > 1) {
            own_anchors(item, item.node)?;
        }
        let mut sources = sources.iter();
        let mut fate = match item {
            Some(item) => self.merge_one(item, item.node, sources.next().map_or(Ask::Nothing, |s| Ask::Source(s)))?,
            None => Fate::Gone,
        };
        for source in sources {
            // Only a resource that is hit more than once is parsed again.
            let text = match (fate, item) {
                (Fate::Gone, _) | (Fate::Unchanged | Fate::Unmarked(_) | Fate::Edited(_), None) => {
                    fate = self.added(source)?;
                    continue;
                }
                (Fate::Unchanged, Some(item)) => OwnText::of(item.node).edited(item.node, &[]),
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
    fn merge_one(&mut self, about: &Resource<'_>, dest: NodeRef<'_>, ask: Ask<'_, '_>) -> Result<Fate, Box<Outcome>> {
        let mut warnings = Vec::new();
        let side = ask.side();
        let mut change = match ask {
            Ask::Nothing => transport::no_change(dest),
            Ask::Source(source) => {
                let lowered =
                    lower(source.node, Some(dest), self.cursor(source)).map_err(|e| unreadable_source(source, &e))?;
                warnings.extend(lowered.warnings.iter().map(|w| Outcome::warning(w, about, side)));
                lowered.change
            }
            Ask::Upgrade { original, updated } => {
                let found = diff(original.map(|o| o.node), updated.node, Some(dest), self.cursor(updated));
                let found = found.map_err(|e| unreadable_source(updated, &e))?;
                warnings.extend(found.warnings.iter().map(|w| Outcome::warning(w, about, side)));
                found.change.unwrap_or_else(|| transport::no_change(dest))
            }
        };
        if !matches!(change.wants, Wants::Nothing) {
            transport::leave_out(&mut change, Some(dest));
            transport::take_off_role(&mut change, dest);
        }
        let merged = merge(Some(dest), &change, self.policy).map_err(|e| unreadable_source(about, &e))?;
        let uses = alias::in_the_way(dest, &merged);
        if !uses.is_empty() {
            let edits = splice::edits(dest, &alias::write_out(dest, &uses));
            if edits.is_empty() {
                let message = "an alias must not be a key in a resource that is to be merged";
                return Err(unreadable_source(about, &uses[0].error(message)));
            }
            own_anchors(about, dest)?;
            let text = OwnText::of(dest).edited(dest, &edits);
            return self.merge_text(about, text, ask);
        }
        self.results.extend(warnings);
        self.results.extend(merged.warnings.iter().map(|w| Outcome::warning(w, about, side)));
        let policy = self.policy.on_conflict;
        self.results.extend(merged.conflicts.iter().map(|c| Outcome::conflict(c, about, policy)));
        if transport::only_takes_off_role(dest, &merged.plan) {
            return Ok(Fate::Unmarked(splice::edits(dest, &merged.plan)));
        }
        Ok(match merged.plan {
            Plan::Keep => Fate::Unchanged,
            Plan::Remove | Plan::Put(_) => Fate::Gone,
            plan => Fate::Edited(splice::edits(dest, &plan)),
        })
    }

    /// The text of a resource that dest lacks.
    fn added(&mut self, source: &Resource<'_>) -> Result<Fate, Box<Outcome>> {
        let lowered = lower(source.node, None, self.cursor(source)).map_err(|e| unreadable_source(source, &e))?;
        self.put(source, lowered.change)
    }

    /// The text of a resource that came upstream.
    fn arrived(&mut self, updated: &Resource<'_>) -> Result<Fate, Box<Outcome>> {
        let found = diff(None, updated.node, None, self.cursor(updated)).map_err(|e| unreadable_source(updated, &e))?;
        found.change.map_or(Ok(Fate::Gone), |change| self.put(updated, change))
    }

    fn put(&mut self, source: &Resource<'_>, change: Change<'_>) -> Result<Fate, Box<Outcome>> {
        let path = source.relative_path.map(|p| format!("{PATH}: {}\n", plain_or_quoted(p)));
        let path = path.map(Document::parse).transpose().map_err(|e| unreadable_source(source, &e))?;
        let mut change = change;
        transport::leave_out(&mut change, None);
        if let Some(path) = path.as_ref().and_then(|d| d.roots().next()) {
            transport::set_path(&mut change, path);
        }
        let merged = merge(None, &change, self.policy).map_err(|e| unreadable_source(source, &e))?;
        Ok(match merged.plan {
            Plan::Put(new) => Fate::Text(splice::standalone(&new)),
            _ => Fate::Gone,
        })
    }
}
