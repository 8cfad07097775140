//! `git-driver %O %A %B %P`: merges theirs into ours, and says by its exit code whether a conflict is left.
//!
//! The merge is done once for each policy: what the two results make different is what is in conflict, so exactly these lines are
//! marked. Where git's own merge by line is clean and means the same, its text is taken, for it has what both sides did to comments,
//! layout and order as well; and where it is clean and the conflicts are in texts of several lines, or come of a resource that was renamed.

use std::fs;
use std::io::{self, Write};
use std::path::Path;
use std::process::{Command, Output};

use anyhow::{Context, Result};
use krm_merge::config::{API_VERSION, Config, KIND, Role};
use krm_merge::resource::{Origin, Resource};
use krm_merge::results::Outcome;
use krm_merge::yaml::{Document, NodeRef, extent, same};

use super::comments;
use super::marks::Marks;
use crate::End;
use crate::cli::GitDriver;
use crate::merge::{is_conflict, leave_open, merge};
use crate::side::{Side, list_of, parse};
use crate::walk::shown;

/// Merges; the result is in our file.
///
/// # Errors
/// A file that cannot be read or written, and a git that cannot be run where its own merge is needed.
pub fn drive(args: &GitDriver) -> Result<End> {
    let name = args.path.clone().unwrap_or_else(|| shown(&args.ours));
    let read = |path: &Path| fs::read(path).with_context(|| shown(path));
    let [original, ours, theirs] = [read(&args.original)?, read(&args.ours)?, read(&args.theirs)?];
    let sides = [&original, &theirs, &ours].map(|bytes| kubernetes(&name, bytes));
    let [Some(original), Some(theirs), Some(ours)] = sides else { return by_line(args) };
    let margins = comments::with_margins([&original, &theirs, &ours].map(|document| document.source()));
    let ours = kubernetes(&name, margins.as_bytes()).unwrap_or(ours);
    let (Ok(kept), Ok(taken)) = (
        merged(&name, [&original, &theirs, &ours], "KeepDest"),
        merged(&name, [&original, &theirs, &ours], "TakeUpdated"),
    ) else {
        return by_line(args);
    };
    let (Some((kept, mut conflicts)), Some((taken, _))) = (kept, taken) else { return by_line(args) };
    let write = |text: &str| fs::write(&args.ours, text).with_context(|| shown(&args.ours));
    let by_git = git_merge_file(args, &["-p", "--diff3"])?;
    let is_clean = by_git.status.success();
    let lines = String::from_utf8(by_git.stdout).unwrap_or_default();
    let is_same = |text: &str| match conflicts.as_slice() {
        [] => means(text, &kept) || same_set(text, &kept, Texts::Compared),
        _ => settles(&name, text, &kept, &conflicts, [&original, &ours, &theirs]),
    };
    if is_clean && is_same(&lines) {
        write(&lines)?;
        return Ok(End::Done);
    }
    for conflict in &mut conflicts {
        leave_open(conflict);
        let _ = writeln!(io::stderr(), "{}", conflict.line());
    }
    let (our_label, their_label) = (label("ours", &args.ours_label), label("theirs", &args.theirs_label));
    let marks = Marks { size: usize::from(args.marker_size), ours: our_label, theirs: their_label };
    let mut text = marks.text(&kept, &taken);
    let hunks = if is_clean { Vec::new() } else { marks.hunks(&lines) };
    let lost = comments::lost(&hunks, &text);
    for hunk in &lost {
        let _ = writeln!(io::stderr(), "error: {name}: a comment was changed on both sides: someone must decide");
        match marks.around(&text, hunk) {
            Some(marked) => text = marked,
            None if conflicts.is_empty() => return by_line(args),
            None => {}
        }
    }
    for deleted in conflicts.iter().filter_map(|c| deleted_here(c, &ours, &theirs)) {
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        text.push_str(&marks.block("", &deleted));
    }
    write(&text)?;
    Ok(if conflicts.is_empty() && lost.is_empty() { End::Done } else { End::Differs })
}

/// A text as Kubernetes resources; `None` where it is anything else. No document at all is the original of a file that both sides added.
fn kubernetes(name: &str, bytes: &[u8]) -> Option<Document<'static>> {
    let document = parse(name, bytes.to_vec()).ok()?;
    let is_resource = |root| list_of(root).is_none() && Resource::read(root, Origin::Item(0)).identity.is_some();
    let is_all = document.roots().filter(|r| !r.is_null()).all(is_resource);
    is_all.then_some(document)
}

/// What the engine makes of original, theirs and ours under a policy, with the conflicts; `None` where it cannot merge them.
type Merged = Option<(String, Vec<Outcome>)>;

fn merged(name: &str, [original, theirs, ours]: [&Document<'static>; 3], policy: &str) -> Result<Merged> {
    let config = format!("{{apiVersion: {API_VERSION}, kind: {KIND}, spec: {{mode: ThreeWay, onConflict: {policy}}}}}");
    let config = Document::parse(config)?;
    let config = Config::read(config.roots().next().context("a map")?)?;
    let side = |document: &Document<'_>| Side::of_text(name, document.source());
    let given = [(Role::Original, vec![side(original)?]), (Role::Updated, vec![side(theirs)?])];
    let dest = side(ours)?;
    let merge = merge(&dest, &given, config)?;
    if merge.has_failed() {
        return Ok(None);
    }
    let text = match merge.changes.into_iter().next() {
        Some(change) => String::from_utf8(change.new.unwrap_or_default())?,
        None => ours.source().to_owned(),
    };
    Ok(Some((text, merge.results.into_iter().filter(is_conflict).collect())))
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

/// Their text of a resource that we deleted and they changed.
fn deleted_here(conflict: &Outcome, ours: &Document<'_>, theirs: &Document<'_>) -> Option<String> {
    let about = conflict.resource_ref.as_ref()?;
    let identity = [&*about.api_version, &*about.kind, &*about.namespace, &*about.name];
    let is_it = |root: &NodeRef<'_>| {
        let found = Resource::read(*root, Origin::Item(0)).identity;
        found.is_some_and(|i| [i.api_version, i.kind, i.namespace, i.name] == identity)
    };
    if ours.roots().any(|root| is_it(&root)) {
        return None;
    }
    let text = &theirs.source()[extent(theirs.roots().find(is_it)?)];
    let mark = if text.starts_with("---") { "" } else { "---\n" };
    Some(format!("{mark}{text}"))
}

/// A label of git's; one that this git does not know stays as it was written, `%X`.
fn label<'l>(default: &'l str, given: &'l str) -> &'l str {
    if given.starts_with('%') { default } else { given }
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
        .args(["-L", label("ours", &args.ours_label)])
        .args(["-L", label("original", &args.original_label)])
        .args(["-L", label("theirs", &args.theirs_label)])
        .args([&args.ours, &args.original, &args.theirs])
        .output()
        .context("git must be on PATH")
}
