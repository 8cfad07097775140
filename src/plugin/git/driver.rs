//! `git-driver %O %A %B %P`: merges theirs into ours, and says by its exit code whether a conflict is left.
//!
//! The merge is done once for each side that someone may choose: what the results make different is what is marked. Where git's own merge by line is clean and means the same, its text is taken, for it has what both sides did to comments,
//! layout and order as well; and where it is clean and the conflicts are in texts of several lines, or come of a resource that was renamed.

use std::borrow::Cow;
use std::collections::HashSet;
use std::fs;
use std::ops::Range;
use std::path::Path;
use std::process::{Command, Output};

use anyhow::{Context, Result};
use krm_merge::resource::{Origin, Resource};
use krm_merge::shown;
use krm_merge::yaml::{Document, NodeRef, same};
use krm_merge_function::results::Outcome;

use super::choices::{Choices, choices};
use super::comments;
use super::marks::{Marks, Style, Version};
use super::versions::{Address, Versions, outermost};
use crate::End;
use crate::cli::GitDriver;
use crate::screen;
use crate::side::{list_of, parse};
use crate::told;
use crate::walk;

/// Merges; the result is in our file.
///
/// # Errors
/// A file that cannot be read or written, and a git that cannot be run where its own merge is needed.
pub fn drive(args: &GitDriver) -> Result<End> {
    let name = args.path.clone().unwrap_or_else(|| walk::shown(&args.ours));
    let read = |path: &Path| fs::read(path).with_context(|| walk::shown(path));
    let [original, ours, theirs] = [read(&args.original)?, read(&args.ours)?, read(&args.theirs)?];
    let sides = [&original, &theirs, &ours].map(|bytes| kubernetes(&name, bytes));
    let [Some(original), Some(theirs), Some(ours)] = sides else { return by_line(args) };
    let margins = comments::with_margins([&original, &theirs, &ours].map(|document| document.source()));
    let ours = kubernetes(&name, margins.as_bytes()).unwrap_or(ours);
    let versions = Versions::new([&original, &theirs, &ours]);
    let Ok(Some(mut chosen)) = choices(&name, &versions, &[]) else { return by_line(args) };
    let write = |text: &str| fs::write(&args.ours, text).with_context(|| walk::shown(&args.ours));
    let by_git = git_merge_file(args, &["-p"])?;
    let is_clean = by_git.status.success();
    let lines = String::from_utf8(by_git.stdout).unwrap_or_default();
    let is_same = |text: &str| match chosen.conflicts.as_slice() {
        [] => means(text, &chosen.ours) || same_set(text, &chosen.ours, Texts::Compared),
        conflicts => settles(&name, text, &chosen.ours, conflicts, [&original, &ours, &theirs]),
    };
    if is_clean && is_same(&lines) {
        write(&lines)?;
        return Ok(End::Done);
    }
    let asked = with_comments(&name, &versions, &mut chosen)?;
    let is_lost = |chosen: &Choices| Some(!lost(&name, &versions, chosen)?.is_empty());
    if !is_clean && is_lost(&chosen).unwrap_or(true) {
        return by_line(args);
    }
    chosen.conflicts.iter_mut().for_each(Outcome::leave_open);
    chosen.conflicts.iter().for_each(|conflict| screen::tell(&told::line(conflict)));
    for Address { resource, path } in &asked {
        let place = if path.is_empty() { String::new() } else { format!(" of `{path}`") };
        let what = format!("a comment{place} was changed on one side, and it or what it is of on the other");
        let [kind, name] = [&resource.kind, &resource.name].map(|text| shown::name(text));
        screen::tell(&format!("error: {kind} {name}: {what}: someone must decide"));
    }
    let marks = Marks {
        size: usize::from(args.marker_size),
        style: style(),
        ours: &label("ours", "%X", &args.ours_label),
        original: &label("original", "%S", &args.original_label),
        theirs: &label("theirs", "%Y", &args.theirs_label),
    };
    write(&marked(&name, &marks, &chosen))?;
    let is_open = chosen.ours != chosen.theirs || !chosen.conflicts.is_empty();
    Ok(if is_open { End::Differs } else { End::Done })
}

/// The text of a merge with its conflicts marked.
fn marked(name: &str, marks: &Marks<'_>, chosen: &Choices) -> String {
    let texts = [&chosen.ours, &chosen.original, &chosen.theirs];
    let documents = texts.map(|text| kubernetes(name, text.as_bytes()));
    let places = match &documents {
        [Some(ours), Some(original), Some(theirs)] => lines(&Versions::new([ours, original, theirs]), &chosen.places),
        _ => Default::default(),
    };
    let mut places = places.into_iter();
    let [ours, original, theirs] = texts.map(|text| Version { text, places: places.next().unwrap_or_default() });
    marks.text([&ours, &original, &theirs])
}

/// The lines of each place in each version, in their order; none of a place that shares its lines with others in any of them, nor of a text,
/// whose lines are chosen one by one.
fn lines(versions: &Versions<'_, 3>, places: &[Address]) -> [Vec<(Range<usize>, usize)>; 3] {
    let resources = versions.resources();
    let mut found: [Vec<(Range<usize>, usize)>; 3] = Default::default();
    for (number, place) in places.iter().enumerate() {
        let Some(spot) = resources.iter().find(|spot| spot.is(&place.resource)) else { continue };
        let Some(spot) = spot.clone().in_block(&place.path).filter(|spot| !spot.is_text()) else { continue };
        let lines = [0, 1, 2].map(|version| spot.lines(version));
        let overlaps = |version: usize, lines: &Range<usize>| {
            found[version].iter().any(|(other, _)| other.start < lines.end && lines.start < other.end)
        };
        if lines.iter().enumerate().any(|(version, lines)| lines.as_ref().is_some_and(|l| overlaps(version, l))) {
            continue;
        }
        for (found, lines) in found.iter_mut().zip(lines) {
            found.extend(lines.map(|lines| (lines, number)));
        }
    }
    found.iter_mut().for_each(|lines| lines.sort_by_key(|(range, _)| range.start));
    found
}

/// Puts comments that the merge would lose to choice, and carries those over that belong to nothing. Answers where it asks.
fn with_comments(name: &str, versions: &Versions<'_, 3>, chosen: &mut Choices) -> Result<Vec<Address>> {
    let missing = lost(name, versions, chosen).unwrap_or_default();
    let asked: Vec<Address> = missing.iter().filter_map(|lost| comments::disputed(versions, *lost)).collect();
    let asked = outermost(asked);
    if !asked.is_empty()
        && let Some(with_asked) = choices(name, versions, &asked)?
    {
        *chosen = with_asked;
    }
    let documents = [&chosen.ours, &chosen.theirs].map(|text| kubernetes(name, text.as_bytes()));
    if let [Some(ours), Some(theirs)] = documents {
        let missing = comments::lost(versions, [&ours, &theirs]);
        if !missing.is_empty() {
            let [with_ours, with_theirs] = comments::carried(versions, [&ours, &theirs], &missing);
            if means(&with_ours, &chosen.ours) && means(&with_theirs, &chosen.theirs) {
                (chosen.ours, chosen.theirs) = (with_ours, with_theirs);
            }
        }
    }
    Ok(asked)
}

/// The comments that a side added and that are in none of the texts; `None` where these cannot be read.
fn lost(name: &str, versions: &Versions<'_, 3>, chosen: &Choices) -> Option<Vec<comments::Lost>> {
    let [ours, theirs] = [&chosen.ours, &chosen.theirs].map(|text| kubernetes(name, text.as_bytes()));
    Some(comments::lost(versions, [&ours?, &theirs?]))
}

/// How the user wants conflicts to be marked.
fn style() -> Style {
    let output = Command::new("git").args(["config", "--get", "merge.conflictStyle"]).output();
    match output.as_ref().map(|output| output.stdout.trim_ascii()) {
        Ok(b"diff3") => Style::Diff3,
        Ok(b"zdiff3") => Style::Zdiff3,
        _ => Style::Merge,
    }
}

/// A text as Kubernetes resources that can be told apart; `None` where it is anything else. No document at all is the original of a file
/// that both sides added.
fn kubernetes(name: &str, bytes: &[u8]) -> Option<Document<'static>> {
    let document = parse(name, bytes.to_vec()).ok()?;
    let is_resource = |root| list_of(root).is_none() && Resource::read(root, Origin::Item(0)).identity.is_some();
    let is_all = document.roots().filter(|r| !r.is_null()).all(is_resource);
    let identities = document.roots().filter_map(|root| Resource::read(root, Origin::Item(0)).identity);
    let mut seen = HashSet::new();
    let is_unique = identities.into_iter().all(|identity| seen.insert(identity));
    (is_all && is_unique).then_some(document)
}

/// Whether two texts hold the same resources, in one order.
fn means(a: &str, b: &str) -> bool {
    let (Ok(a), Ok(b)) = (Document::parse(a), Document::parse(b)) else { return false };
    let roots = |document: &Document<'_>| document.roots().filter(|r| !r.is_null()).count();
    let pairs = a.roots().filter(|r| !r.is_null()).zip(b.roots().filter(|r| !r.is_null()));
    roots(&a) == roots(&b) && pairs.into_iter().all(|(a, b)| same(a, b))
}

/// What of a text is compared.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Texts {
    /// Everything.
    Compared,
    /// Everything but what stands in text values of several lines.
    LeftOut,
}

/// Whether two texts hold the same resources, but for the order of documents and of the elements of lists.
fn same_set(a: &str, b: &str, texts: Texts) -> bool {
    let sorted = |text: &str| {
        let document = Document::parse(text).ok()?;
        let mut all: Vec<String> = document.roots().filter(|r| !r.is_null()).map(|r| unordered(r, texts)).collect();
        all.sort();
        Some(all)
    };
    sorted(a).is_some_and(|a| Some(a) == sorted(b))
}

/// What a node holds, in an order of its own.
fn unordered(node: NodeRef<'_>, texts: Texts) -> String {
    let mut parts: Vec<String> = if node.is_map() {
        node.fields().map(|(key, value)| format!("{:?}: {}", key.string(), unordered(value, texts))).collect()
    } else if node.is_list() {
        node.elements().map(|element| unordered(element, texts)).collect()
    } else if texts == Texts::LeftOut && is_text(node.string()) {
        return "text".to_owned();
    } else {
        return format!("{:?}", node.scalar());
    };
    parts.sort();
    if node.is_map() { format!("{{{}}}", parts.join(", ")) } else { format!("[{}]", parts.join(", ")) }
}

/// Whether a value is a text of several lines, which git merges better than as one value.
fn is_text(value: &str) -> bool {
    value.trim_end().contains('\n')
}

/// Whether git's clean text is an answer to conflicts of ours: each is in a text value of several lines, and nothing else is otherwise in
/// it, or each is such or about a resource that one side renamed, and nothing else is otherwise in the resources that nobody renamed.
fn settles(name: &str, text: &str, kept: &str, conflicts: &[Outcome], sides: [&Document<'_>; 3]) -> bool {
    let in_text = |conflict: &Outcome| {
        conflict.field.as_ref().is_some_and(|field| {
            let values = [&field.current_value, &field.proposed_value];
            values.iter().all(|v| v.as_ref().and_then(|v| v.as_str()).is_some_and(is_text))
        })
    };
    let of_resource = |conflict: &Outcome| conflict.field.is_none() && conflict.resource_ref.is_some();
    if conflicts.iter().all(in_text) {
        return same_set(text, kept, Texts::LeftOut);
    }
    let parsed = [text, kept].map(|text| kubernetes(name, text.as_bytes()));
    let [Some(document), Some(kept)] = parsed else { return false };
    let found = resources(&document);
    let kept = resources(&kept);
    let sides = sides.map(resources);
    // Who renames a resource, or takes another version of its type, has as many as before.
    let is_rename = sides.iter().all(|side| side.len() == found.len());
    let mut names: Vec<[&str; 4]> = found.iter().map(|(name, _)| *name).collect();
    names.sort_unstable();
    names.dedup();
    // Where one side did the one and the other side the other, each part is a side's.
    let known = || sides.iter().flatten().map(|(name, _)| name);
    let is_known = |one: &[&str; 4]| (0..4).all(|i| known().any(|k| k[i] == one[i] && k[1] == one[1]));
    let stays = |(name, content): &([&str; 4], String)| {
        let everywhere = sides.iter().all(|side| side.iter().any(|(other, _)| other == name));
        !everywhere || kept.iter().any(|(other, same)| other == name && same == content)
    };
    conflicts.iter().all(|c| in_text(c) || of_resource(c))
        && is_rename
        && names.len() == found.len()
        && names.iter().all(is_known)
        && found.iter().all(stays)
}

/// apiVersion, kind, namespace and name of each resource, with what it holds.
fn resources<'d>(document: &'d Document<'_>) -> Vec<([&'d str; 4], String)> {
    let read = |root: NodeRef<'d>| {
        let i = Resource::read(root, Origin::Item(0)).identity?;
        Some(([i.api_version, i.kind, i.namespace, i.name], unordered(root, Texts::LeftOut)))
    };
    document.roots().filter_map(read).collect()
}

/// A label of git's on the one line of its marker; one that this git does not know stays as it was written, `%X`.
fn label<'l>(default: &'l str, unknown: &str, given: &'l str) -> Cow<'l, str> {
    if given == unknown { Cow::Borrowed(default) } else { shown::line(given) }
}

/// git's own merge, in place.
fn by_line(args: &GitDriver) -> Result<End> {
    let output = git_merge_file(args, &[])?;
    Ok(if output.status.success() { End::Done } else { End::Differs })
}

fn git_merge_file(args: &GitDriver, more: &[&str]) -> Result<Output> {
    Command::new("git")
        .arg("merge-file")
        .arg("-q")
        .args(more)
        .arg(format!("--marker-size={}", args.marker_size))
        .args(["-L", &label("ours", "%X", &args.ours_label)])
        .args(["-L", &label("original", "%S", &args.original_label)])
        .args(["-L", &label("theirs", "%Y", &args.theirs_label)])
        .args([&args.ours, &args.original, &args.theirs])
        .output()
        .context("git must be on PATH")
}
