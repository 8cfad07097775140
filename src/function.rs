//! The whole function: from the text of a ResourceList to the text of a ResourceList.
//!
//! Each source is lowered to a change and applied to its partner; what comes of it is edits of the text that came in. Where anything is
//! wrong, the items go out as they came, with the reason among the results.

use std::collections::HashMap;
use std::ops::Range;

use crate::alias;
use crate::change::{Change, Wants};
use crate::config::{Config, Mode, Role};
use crate::merge::{New, Plan, Policy, merge};
use crate::patch::lower;
use crate::resource::{Identity, Index, PATH, Resource};
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
        mode => Err(in_stdin(node.error(format!("`spec.mode` must be `TwoWay`: mode `{mode:?}` is not built yet")))),
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
    /// It stays, with these edits of the text that it lies in.
    Edited(Vec<Edit>),
    /// Its whole text is this; [`OwnText::pad`] blanks stand before it.
    Text(String),
    /// It goes, or there is none.
    Gone,
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

    /// Merges sources into a dest item, one after the other.
    fn merge_item(&mut self, item: &Resource<'_>, sources: &[&Resource<'_>]) -> Result<(), Box<Outcome>> {
        let fate = self.merge_all(Some(item), sources)?;
        if !matches!(fate, Fate::Unchanged) {
            own_anchors(item, item.node)?;
        }
        match fate {
            Fate::Unchanged => {}
            Fate::Edited(edits) => self.merged.edits.extend(edits),
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
            Some(item) => self.merge_one(item, item.node, sources.next().copied())?,
            None => Fate::Gone,
        };
        for source in sources {
            // Only a resource that is hit more than once is parsed again.
            let text = match (fate, item) {
                (Fate::Gone, _) | (Fate::Unchanged | Fate::Edited(_), None) => {
                    fate = self.added(source)?;
                    continue;
                }
                (Fate::Unchanged, Some(item)) => OwnText::of(item.node).edited(item.node, &[]),
                (Fate::Edited(edits), Some(item)) => OwnText::of(item.node).edited(item.node, &edits),
                (Fate::Text(text), _) => text,
            };
            fate = self.merge_text(item.unwrap_or(source), text, Some(source))?;
        }
        Ok(fate)
    }

    /// Merges into a resource that has a text of its own.
    fn merge_text(
        &mut self,
        about: &Resource<'_>,
        text: String,
        source: Option<&Resource<'_>>,
    ) -> Result<Fate, Box<Outcome>> {
        let doc = Document::parse(text).map_err(|e| unreadable_source(about, &e))?;
        let Some(root) = OwnText::resource(&doc) else { return Ok(Fate::Gone) };
        Ok(match self.merge_one(about, root, source)? {
            Fate::Unchanged => Fate::Text(doc.source().to_owned()),
            Fate::Edited(edits) => Fate::Text(splice::apply(doc.source(), 0..doc.source().len(), &edits)),
            fate => fate,
        })
    }

    fn cursor(&self, resource: &Resource<'_>) -> Cursor<'c> {
        let identity = resource.identity.unwrap_or(Identity { api_version: "", kind: "", namespace: "", name: "" });
        self.types.root(identity.api_version, identity.kind)
    }

    /// Merges one source, or none, into dest; `about` says who dest is.
    fn merge_one(
        &mut self,
        about: &Resource<'_>,
        dest: NodeRef<'_>,
        source: Option<&Resource<'_>>,
    ) -> Result<Fate, Box<Outcome>> {
        let mut warnings = Vec::new();
        let mut change = match source {
            Some(source) => {
                let lowered =
                    lower(source.node, Some(dest), self.cursor(source)).map_err(|e| unreadable_source(source, &e))?;
                warnings.extend(lowered.warnings.iter().map(|w| Outcome::warning(w, about, "source")));
                lowered.change
            }
            None => transport::no_change(dest),
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
            return self.merge_text(about, text, source);
        }
        self.results.extend(warnings);
        self.results.extend(merged.warnings.iter().map(|w| Outcome::warning(w, about, "source")));
        Ok(match merged.plan {
            Plan::Keep => Fate::Unchanged,
            Plan::Remove | Plan::Put(_) => Fate::Gone,
            plan => Fate::Edited(splice::edits(dest, &plan)),
        })
    }

    /// The text of a resource that dest lacks.
    fn added(&mut self, source: &Resource<'_>) -> Result<Fate, Box<Outcome>> {
        let path = source.relative_path.map(|p| format!("{PATH}: {}\n", plain_or_quoted(p)));
        let path = path.map(Document::parse).transpose().map_err(|e| unreadable_source(source, &e))?;
        let lowered = lower(source.node, None, self.cursor(source)).map_err(|e| unreadable_source(source, &e))?;
        let mut change: Change<'_> = lowered.change;
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
