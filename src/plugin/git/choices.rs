//! The texts between which someone chooses: a merge with ours, with theirs, or with the original at the places in conflict.
//!
//! Each is a merge of the engine in which one side is made to agree at these places. So what is chosen is that side's whole, be it a field, an
//! element or a resource, and it stands where the engine would put it; everything else is the same in all three.

use anyhow::Result;
use krm_merge::child::By;
use krm_merge::edits::{Edit, TextEdits};
use krm_merge::limit::{Budget, Limit};
use krm_merge::splice;
use krm_merge::tree::{Branch, Comments, Entry, Key, Tree};
use krm_merge::yaml::{Document, comment_text, comments_above, extent};
use krm_merge_function::config::{API_VERSION, Config, KIND, Role};
use krm_merge_function::results::Outcome;

use super::versions::{Address, Here, Spot, Versions, Wanted, address, outermost};
use crate::merge::{is_conflict, merge};
use crate::side::{Side, parse};

/// The numbers of the versions that are merged.
pub const ORIGINAL: usize = 0;
/// Theirs.
pub const THEIRS: usize = 1;
/// Ours.
pub const OURS: usize = 2;

/// The texts between which someone chooses, and where they differ.
pub struct Choices {
    /// With ours at the places in conflict.
    pub ours: String,
    /// With theirs.
    pub theirs: String,
    /// With the original.
    pub original: String,
    /// The places.
    pub places: Vec<Address>,
    /// What the engine says of them.
    pub conflicts: Vec<Outcome>,
}

/// Merges original, theirs and ours; `None` where the engine cannot. At the places `asked` one chooses although no values are in conflict.
///
/// # Errors
/// What the engine cannot read, and texts that take more than the limit.
pub fn choices(name: &str, versions: &Versions<'_, 3>, asked: &[Address]) -> Result<Option<Choices>> {
    let sources = versions.documents.map(Document::source);
    let [original, theirs, ours] = sources;
    // Who asks for nothing at a place leaves ours there.
    let quiet = |places: &[Address]| with(versions, THEIRS, ORIGINAL, places);
    let Some((kept, conflicts)) = merged(name, [original, &quiet(asked)?, ours], "KeepDest")? else { return Ok(None) };
    let resources = versions.resources();
    let places = conflicts.iter().filter_map(|conflict| address(&resources, conflict)).chain(asked.iter().cloned());
    let places = outermost(places.collect());
    // Where ours is as it was, theirs is taken whole.
    let open = with(versions, ORIGINAL, OURS, &places)?;
    let take = |theirs: &str| -> Result<Option<String>> {
        let taken = merged(name, [&open, theirs, ours], "TakeUpdated").ok().flatten();
        let taken =
            taken.map_or_else(|| merged(name, [original, theirs, ours], "TakeUpdated"), |taken| Ok(Some(taken)));
        Ok(taken?.map(|(text, _)| text))
    };
    let (Some(taken), Some(based)) = (take(theirs)?, take(&quiet(&places)?)?) else { return Ok(None) };
    Ok(Some(Choices { ours: kept, theirs: taken, original: based, places, conflicts }))
}

/// What the engine makes of original, theirs and ours under a policy, with the conflicts; `None` where it cannot merge them.
fn merged(name: &str, [original, theirs, ours]: [&str; 3], policy: &str) -> Result<Option<(String, Vec<Outcome>)>> {
    let config = format!("{{apiVersion: {API_VERSION}, kind: {KIND}, spec: {{mode: ThreeWay, onConflict: {policy}}}}}");
    let config = Document::parse(config)?;
    let Some(config) = config.roots().next() else { return Ok(None) };
    let given =
        [(Role::Original, vec![Side::of_text(name, original)?]), (Role::Updated, vec![Side::of_text(name, theirs)?])];
    let dest = Side::of_text(name, ours)?;
    let merge = merge(&dest, &given, || Ok(Config::read(config)?))?;
    if merge.has_failed() {
        return Ok(None);
    }
    let text = match merge.changes.into_iter().next() {
        Some(change) => String::from_utf8(change.new.unwrap_or_default())?,
        None => ours.to_owned(),
    };
    Ok(Some((text, merge.results.into_iter().filter(is_conflict).collect())))
}

/// The text of one version with what another one has at some places; as it is where that cannot be read any more.
fn with(versions: &Versions<'_, 3>, into: usize, from: usize, places: &[Address]) -> Result<String> {
    let source = versions.documents[into].source();
    let input = versions.documents.iter().map(|document| document.source().len()).sum();
    let budget = Budget::new(Limit::default().with_input(input));
    let mut edits: Vec<TextEdits> = Vec::new();
    let mut added = String::new();
    for spot in versions.resources() {
        let own = places.iter().filter(|place| spot.is(&place.resource));
        let paths: Vec<String> = own.map(|place| place.path.clone()).collect();
        if paths.is_empty() {
            continue;
        }
        let is_whole = paths.iter().any(String::is_empty);
        match (spot.here[into], spot.here[from]) {
            (Some(here), None) if is_whole => {
                edits.push(TextEdits::of(vec![Edit { range: extent(here.value), text: String::new() }])?);
            }
            (Some(here), _) if !is_whole => {
                edits.push(splice::edits(here.value, &set(&spot, &here, from, into, &paths), &budget)?);
            }
            (None, Some(other)) if is_whole => added.push_str(&document(&other)),
            (None, Some(other)) => {
                let cut = cut(&spot, &other, from, &paths);
                added.push_str(&format!("---\n{}", splice::standalone(&cut, &budget)?));
            }
            _ => {}
        }
    }
    let mut text = TextEdits::default().union(edits)?.apply(source, 0..source.len());
    if !added.is_empty() && !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    text.push_str(&added);
    Ok(if parse("", text.clone().into_bytes()).is_ok() { text } else { source.to_owned() })
}

/// The whole document of a resource, with the mark that sets it apart.
fn document(here: &Here<'_>) -> String {
    let text = &here.value.document().source()[extent(here.value)];
    let mark = if text.starts_with("---") { "" } else { "---\n" };
    let end = if text.ends_with('\n') { "" } else { "\n" };
    format!("{mark}{text}{end}")
}

/// A spot of one version with what another one has at some paths below it.
fn set<'a>(spot: &Spot<'a, 3>, container: &Here<'a>, from: usize, into: usize, paths: &[String]) -> Tree<'a> {
    let mut branch = Branch::of(container.value, By::Index);
    let mut new = Vec::new();
    for child in spot.children() {
        let wanted = Wanted::of(&child.path.keyed(), paths);
        let key = |here: &Here<'a>| here.key.map(Key::Node);
        match (wanted, child.here[into], child.here[from]) {
            (Wanted::Not, ..) | (_, None, None) => {}
            (Wanted::Here, Some(here), None) => branch.entries[here.index].value = None,
            (Wanted::Here, Some(here), Some(other)) => {
                let entry = &mut branch.entries[here.index];
                entry.value = Some(Tree::Node(other.value));
                entry.comments = comments(&other);
            }
            (Wanted::Here, None, Some(other)) => new.push(Entry::new(key(&other), Tree::Node(other.value))),
            (Wanted::Below, Some(here), _) => {
                branch.entries[here.index].value = Some(set(&child, &here, from, into, paths));
            }
            (Wanted::Below, None, Some(other)) => {
                new.push(Entry::new(key(&other), cut(&child, &other, from, paths)));
            }
        }
    }
    branch.entries.extend(new);
    branch.into_tree()
}

/// What of a spot lies at some paths, with what makes it the resource or the element that it is.
fn cut<'a>(spot: &Spot<'a, 3>, whole: &Here<'a>, from: usize, paths: &[String]) -> Tree<'a> {
    let mut entries = Vec::new();
    for child in spot.children() {
        let Some(here) = child.here[from] else { continue };
        let path = child.path.keyed();
        let is_key = here.key.is_some_and(|key| spot.keys.iter().any(|k| *k == key.string()));
        let is_head = ["apiVersion", "kind", "metadata.namespace", "metadata.name"].contains(&&*path);
        let entry = Entry::kept(here.index, here.key, here.value);
        match Wanted::of(&path, paths) {
            Wanted::Here => entries.push(entry),
            Wanted::Not if is_key || is_head => entries.push(entry),
            Wanted::Below => entries.push(Entry { value: Some(cut(&child, &here, from, paths)), ..entry }),
            Wanted::Not if path == "metadata" => {
                entries.push(Entry { value: Some(cut(&child, &here, from, paths)), ..entry });
            }
            Wanted::Not => {}
        }
    }
    entries.sort_by_key(|entry| entry.place);
    Branch::with(whole.value, By::Index, entries).into_tree()
}

/// The comments that are a child's own.
fn comments<'a>(here: &Here<'a>) -> Comments<'a> {
    let Some(place) = here.place else { return Comments::default() };
    let above = comments_above(&place, here.value.document());
    Comments { above: Some(above), behind: Some(comment_text(&place, here.value).unwrap_or_default()) }
}
