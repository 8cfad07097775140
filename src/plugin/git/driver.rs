//! `git-driver %O %A %B %P`: merges theirs into ours, and says by its exit code whether a conflict is left.
//!
//! The merge is done once for each policy: what the two results make different is what is in conflict, so exactly these lines are
//! marked. Where git's own merge by line is clean and means the same, its text is taken, for it has what both sides did to comments
//! and layout as well.

use std::fs;
use std::io::{self, Write};
use std::path::Path;
use std::process::{Command, Output};

use anyhow::{Context, Result};
use krm_merge::config::{API_VERSION, Config, KIND, Role};
use krm_merge::resource::{Origin, Resource};
use krm_merge::results::Outcome;
use krm_merge::yaml::{Document, NodeRef, extent, same};

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
    let (Ok(kept), Ok(taken)) = (
        merged(&name, [&original, &theirs, &ours], "KeepDest"),
        merged(&name, [&original, &theirs, &ours], "TakeUpdated"),
    ) else {
        return by_line(args);
    };
    let (Some((kept, mut conflicts)), Some((taken, _))) = (kept, taken) else { return by_line(args) };
    let write = |text: &str| fs::write(&args.ours, text).with_context(|| shown(&args.ours));
    if conflicts.is_empty() {
        let lines = git_merge_file(args, &["-p"])?;
        let text = String::from_utf8(lines.stdout).ok().filter(|text| lines.status.success() && means(text, &kept));
        write(text.as_deref().unwrap_or(&kept))?;
        return Ok(End::Done);
    }
    for conflict in &mut conflicts {
        leave_open(conflict);
        writeln!(io::stderr(), "{}", conflict.line())?;
    }
    let (our_label, their_label) = (label("ours", &args.ours_label), label("theirs", &args.theirs_label));
    let marks = Marks { size: args.marker_size, ours: our_label, theirs: their_label };
    let mut text = marks.text(&kept, &taken);
    for deleted in conflicts.iter().filter_map(|c| deleted_here(c, &ours, &theirs)) {
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        text.push_str(&marks.block("", &deleted));
    }
    write(&text)?;
    Ok(End::Differs)
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
