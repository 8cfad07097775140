//! A merge as a unified diff, with the resource and the place of each hunk in its header, and a block for each conflict behind it.

use std::io::IsTerminal;

use krm_merge::results::{Outcome, Told};
use krm_merge::yaml::Document;
use serde_json::Value;
use similar::{Algorithm, ChangeTag, DiffOp, DiffTag, TextDiff};

use crate::merge::{Change, is_conflict};
use crate::spot::{Depth, spot};

/// Whether colours help whoever reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Paint {
    /// Escape codes of a terminal.
    Colour,
    /// Bare text.
    Plain,
}

impl Paint {
    /// Colours on a terminal, unless `NO_COLOR` says otherwise. Source: no-color.org.
    pub fn of_stdout() -> Self {
        let refused = std::env::var_os("NO_COLOR").is_some_and(|v| !v.is_empty());
        let is_dumb = std::env::var_os("TERM").is_some_and(|t| t == "dumb");
        if std::io::stdout().is_terminal() && !refused && !is_dumb { Self::Colour } else { Self::Plain }
    }

    /// A line in a colour.
    pub fn line(self, code: &str, text: &str) -> String {
        match self {
            Self::Colour => format!("\x1b[{code}m{text}\x1b[0m\n"),
            Self::Plain => format!("{text}\n"),
        }
    }
}

const BOLD: &str = "1";
const RED: &str = "31";
const GREEN: &str = "32";
/// The colour of what someone should look at.
pub const YELLOW: &str = "33";
const CYAN: &str = "36";

/// How many lines around a change are shown.
const CONTEXT: usize = 3;

/// All changes as one diff, which `patch -p1` takes.
pub fn diff(changes: &[Change], paint: Paint) -> String {
    changes.iter().map(|change| of_file(change, paint)).collect()
}

fn of_file(change: &Change, paint: Paint) -> String {
    let path = shown(&change.path);
    let name = |side: &str, bytes: &Option<Vec<u8>>| match bytes {
        Some(_) => format!("{side}/{path}"),
        None => "/dev/null".to_owned(),
    };
    let names = [name("a", &change.old), name("b", &change.new)];
    let [Some(old), Some(new)] = texts(change) else {
        return paint.line(BOLD, &format!("Binary files {} and {} differ", names[0], names[1]));
    };
    let documents = [old, new].map(|text| Document::parse(text).ok());
    let starts = [old, new].map(line_starts);
    let diff = TextDiff::configure().algorithm(Algorithm::Patience).diff_lines(old, new);
    let mut out = paint.line(BOLD, &format!("--- {}", names[0])) + &paint.line(BOLD, &format!("+++ {}", names[1]));
    for hunk in diff.grouped_ops(CONTEXT) {
        out.push_str(&paint.line(CYAN, header(&hunk, &starts, &documents).trim_end()));
        for piece in hunk.iter().flat_map(|op| diff.iter_changes(op)) {
            let text = piece.value();
            let bare = text.strip_suffix('\n').unwrap_or(text);
            match piece.tag() {
                ChangeTag::Equal => out.push_str(&format!(" {bare}\n")),
                ChangeTag::Delete => out.push_str(&paint.line(RED, &format!("-{bare}"))),
                ChangeTag::Insert => out.push_str(&paint.line(GREEN, &format!("+{bare}"))),
            }
            if !text.ends_with('\n') {
                out.push_str("\\ No newline at end of file\n");
            }
        }
    }
    out
}

fn header(hunk: &[DiffOp], starts: &[Vec<usize>; 2], documents: &[Option<Document<'_>>; 2]) -> String {
    let (Some(first), Some(last)) = (hunk.first(), hunk.last()) else { return String::new() };
    let span = |start: usize, end: usize| match end - start {
        0 => format!("{start},0"),
        1 => format!("{}", start + 1),
        count => format!("{},{count}", start + 1),
    };
    // Of a file that comes or goes no field is the one that changed.
    let is_whole = starts.iter().any(Vec::is_empty);
    let line = |side: usize, line: usize| {
        let start = starts[side].get(line).copied().unwrap_or_default();
        let text = documents[side].as_ref().map(Document::source).unwrap_or_default();
        text[start..].lines().next().unwrap_or_default()
    };
    let old = span(first.old_range().start, last.old_range().end);
    let new = span(first.new_range().start, last.new_range().end);
    let changed: Vec<&DiffOp> =
        hunk.iter().skip_while(|op| op.tag() == DiffTag::Equal).take_while(|op| op.tag() != DiffTag::Equal).collect();
    let place = changed.first().map(|op| {
        let (was, is) = (op.old_range().start, op.new_range().start);
        let goes = changed.iter().any(|op| !op.old_range().is_empty());
        let comes = changed.iter().any(|op| !op.new_range().is_empty());
        // What comes is named by where it stands now, what goes by where it stood.
        let (side, number) = if comes { (1, is) } else { (0, was) };
        // Of a line that changed, as the one line of a JSON file, the place is where it does.
        let common = if comes && goes { common_prefix([line(0, was), line(1, is)]) } else { 0 };
        let at = starts[side].get(number).copied().unwrap_or_default() + common;
        let depth = if is_whole { Depth::Resource } else { Depth::Field };
        documents[side].as_ref().map(|document| spot(document, at, depth)).unwrap_or_default()
    });
    format!("@@ -{old} +{new} @@ {}", place.unwrap_or_default())
}

/// How long two lines are the same; less than the second one.
fn common_prefix([a, b]: [&str; 2]) -> usize {
    let common: usize = a.chars().zip(b.chars()).take_while(|(a, b)| a == b).map(|(c, _)| c.len_utf8()).sum();
    common.min(b.len().saturating_sub(1))
}

/// Where each line begins, its indentation passed.
fn line_starts(text: &str) -> Vec<usize> {
    let mut at = 0;
    let starts = text.split_inclusive('\n').map(|line| {
        let start = at + (line.len() - line.trim_start_matches(' ').len());
        at += line.len();
        start
    });
    starts.collect()
}

/// Both sides as text, where they are; a side that is not there is empty.
fn texts(change: &Change) -> [Option<&str>; 2] {
    [&change.old, &change.new].map(|bytes| {
        let bytes = bytes.as_deref().unwrap_or_default();
        std::str::from_utf8(bytes).ok().filter(|text| !text.contains('\0'))
    })
}

/// How many lines come and go in each file, as `git diff --stat` has it.
pub fn stat(changes: &[Change], paint: Paint) -> String {
    const WIDTH: usize = 40;
    let counts: Vec<Option<(usize, usize)>> = changes
        .iter()
        .map(|change| {
            let [Some(old), Some(new)] = texts(change) else { return None };
            let diff = TextDiff::from_lines(old, new);
            let count = |tag| diff.iter_all_changes().filter(|c| c.tag() == tag).count();
            Some((count(ChangeTag::Insert), count(ChangeTag::Delete)))
        })
        .collect();
    let names: Vec<String> = changes.iter().map(|c| shown(&c.path)).collect();
    let widest = names.iter().map(|n| n.chars().count()).max().unwrap_or_default();
    let most = counts.iter().flatten().map(|(i, d)| i + d).max().unwrap_or_default().max(1);
    let digits = most.to_string().len().max(3);
    let mut out = String::new();
    for (name, count) in names.iter().zip(&counts) {
        let Some((come, go)) = count else {
            out.push_str(&format!(" {name:widest$} | {:>digits$}\n", "Bin"));
            continue;
        };
        let scale = |n: usize| if most <= WIDTH { n } else { (n * WIDTH).div_ceil(most) };
        let (plus, minus) = ("+".repeat(scale(*come)), "-".repeat(scale(*go)));
        let bar = match paint {
            Paint::Colour => format!("\x1b[{GREEN}m{plus}\x1b[0m\x1b[{RED}m{minus}\x1b[0m"),
            Paint::Plain => plus + &minus,
        };
        out.push_str(&format!(" {name:widest$} | {:>digits$} {bar}\n", come + go));
    }
    let sum = |pick: fn(&(usize, usize)) -> usize| counts.iter().flatten().map(pick).sum::<usize>();
    let (come, go) = (sum(|c| c.0), sum(|c| c.1));
    let plural = |n: usize| if n == 1 { "" } else { "s" };
    out.push_str(&format!(
        " {} file{} changed, {come} insertion{}(+), {go} deletion{}(-)\n",
        changes.len(),
        plural(changes.len()),
        plural(come),
        plural(go)
    ));
    out
}

/// The conflicts, one block each.
pub fn conflicts(results: &[Outcome], paint: Paint) -> String {
    let blocks = results.iter().filter(|r| is_conflict(r)).map(|result| {
        let told = result.told.clone().unwrap_or(Told { place: String::new(), settled: "" });
        let mut about = Vec::new();
        if let Some(r) = &result.resource_ref {
            let namespace = if r.namespace.is_empty() { String::new() } else { format!("{}/", r.namespace) };
            about.push(format!("{} {namespace}{}", r.kind, r.name));
        }
        about.extend(result.file.as_ref().map(|f| format!("({})", shown(&f.path))));
        let mut out = paint.line(YELLOW, &format!("conflict: {}: {}", about.join(" "), told.place));
        let field = result.field.as_ref();
        let json = |value: Option<&serde_yaml::Value>| {
            let value = value.and_then(|v| serde_json::to_string(v).ok());
            value.unwrap_or_else(|| "(none)".to_owned())
        };
        let original = result.tags.get("krm-merge.dev/original").cloned();
        if field.is_some() || original.is_some() {
            out.push_str(&format!("  original: {}\n", original.unwrap_or_else(|| "(none)".to_owned())));
        }
        if let Some(field) = field {
            out.push_str(&format!("  dest:     {}\n", json(field.current_value.as_ref())));
            out.push_str(&format!("  updated:  {}\n", json(field.proposed_value.as_ref())));
        } else {
            out.push_str(&format!("  {}\n", result.message));
        }
        out + &format!("  taken:    {}\n", told.settled)
    });
    blocks.collect()
}

/// A path on one line.
fn shown(path: &str) -> String {
    if path.chars().any(char::is_control) { Value::String(path.to_owned()).to_string() } else { path.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(path: &str, old: Option<&str>, new: Option<&str>) -> Change {
        let bytes = |text: Option<&str>| text.map(|t| t.as_bytes().to_vec());
        Change { path: path.to_owned(), old: bytes(old), new: bytes(new), like: None }
    }

    #[test]
    fn hunks_name_the_resource_and_the_place() {
        let old = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: c\ndata:\n  a: 1\n  b: 1\n  c: 1\n  d: 1\n  e: 1\n  f: 1\n  g: 1\n  h: 1\n  i: 1\n  j: 1";
        let new = old.replace("  a: 1\n", "  a: 2\n").replace("\n  j: 1", "");
        let want = "\
--- a/c.yaml
+++ b/c.yaml
@@ -3,7 +3,7 @@ ConfigMap c data.a
 metadata:
   name: c
 data:
-  a: 1
+  a: 2
   b: 1
   c: 1
   d: 1
@@ -11,5 +11,4 @@ ConfigMap c data.i
   f: 1
   g: 1
   h: 1
-  i: 1
-  j: 1
\\ No newline at end of file
+  i: 1
\\ No newline at end of file
";
        assert_eq!(diff(&[change("c.yaml", Some(old), Some(&new))], Paint::Plain), want);
    }

    #[test]
    fn files_that_come_go_or_hold_bytes_are_told_as_such() {
        let text = diff(&[change("new", None, Some("a\n")), change("old", Some("b\n"), None)], Paint::Plain);
        assert_eq!(text, "--- /dev/null\n+++ b/new\n@@ -0,0 +1 @@\n+a\n--- a/old\n+++ /dev/null\n@@ -1 +0,0 @@\n-b\n");
        assert_eq!(diff(&[change("x", Some("a\0"), Some("b"))], Paint::Plain), "Binary files a/x and b/x differ\n");
        assert!(diff(&[change("new", None, Some("a\n"))], Paint::Colour).contains("\x1b[32m+a\x1b[0m\n"));
    }

    #[test]
    fn the_stat_counts_lines() {
        let changes = [change("a.yaml", Some("1\n2\n"), Some("1\n3\n4\n")), change("bin", Some("\0"), None)];
        assert_eq!(
            stat(&changes, Paint::Plain),
            " a.yaml |   3 ++-\n bin    | Bin\n 2 files changed, 2 insertions(+), 1 deletion(-)\n"
        );
    }
}
