//! A merge as a unified diff, with the resource and the place of each hunk in its header, followed by a block for each conflict.

use std::collections::HashSet;
use std::ops::Range;

use krm_files::walk::c_quoted;
use krm_folders::change::Change;
use krm_folders::merge::Merge;
use krm_folders::side::Side;
use krm_job::carried::text;
use krm_job::event::Event;
use krm_schema::schema::Types;
use krm_tree::path::cut;
use krm_words::{Word, counted};
use krm_yaml::shown;
use similar::{Algorithm, ChangeTag, DiffOp, DiffTag, TextDiff};

use crate::clash::{self, Line, Shown, Values};
use crate::place;
use crate::screen::{Page, Paint, Reader};
use crate::spot::{Finder, Spot, document_of};

/// How many lines around a change are shown.
pub const CONTEXT: usize = 3;

/// All changes as one diff, which `git apply` and `patch -p1` accept.
///
/// It has git's headers. Only they express that an empty file is added or deleted, that a file which becomes empty stays, and that a new
/// file is executable. A file that is not text is only named. git then refuses the diff; patch applies the rest of it. Both report the file
/// and fail. `types` says how to match the elements of lists.
pub fn diff(changes: &[Change], types: &Types<'_>, reader: Reader) -> Page {
    let mut page = Page::new(reader);
    changes.iter().for_each(|change| of_file(change, types, &mut page));
    page
}

fn of_file(change: &Change, types: &Types<'_>, page: &mut Page) {
    let name = |side: &str, bytes: &Option<Vec<u8>>| match bytes {
        // A stream has no name.
        Some(_) if change.path.is_empty() => format!("{side}/-"),
        Some(_) => git_name(&format!("{side}/{}", change.path)),
        None => "/dev/null".to_owned(),
    };
    let names = [name("a", &change.old), name("b", &change.new)];
    opening(change).lines().for_each(|line| page.painted(Paint::Bold, line));
    if change.old.as_deref().unwrap_or_default() == change.new.as_deref().unwrap_or_default() {
        return;
    }
    let [Some(old_text), Some(new_text)] = texts(change) else {
        // Without an index line, git and patch skip the file without a message.
        page.painted(Paint::Bold, "index 0000000..0000000");
        return page.painted(Paint::Bold, &format!("Binary files {} and {} differ", names[0], names[1]));
    };
    let documents = [old_text, new_text].map(document_of);
    let finders = documents.each_ref().map(|document| document.as_ref().map(|document| Finder::new(document, types)));
    let starts = [old_text, new_text].map(line_starts);
    let [old, new] = [old_text, new_text].map(lines);
    let diff = aligned([&old, &new]);
    // A name with a space is followed by a tab, as in GNU diff and git. Without the tab, patch ends the name at the space.
    for (mark, name) in ["---", "+++"].into_iter().zip(&names) {
        match name.contains(' ') && !name.starts_with('"') {
            true => page.painted_with_tab(Paint::Bold, &format!("{mark} {name}")),
            false => page.painted(Paint::Bold, &format!("{mark} {name}")),
        }
    }
    for hunk in diff.grouped_ops(CONTEXT) {
        page.painted(Paint::Cyan, header(&hunk, &starts, [old_text, new_text], &finders).trim_end());
        for piece in hunk.iter().flat_map(|op| diff.iter_changes(op)) {
            let text = piece.value();
            let bare = text.strip_suffix('\n').unwrap_or(text);
            match piece.tag() {
                ChangeTag::Equal => page.line_of_file(Paint::Plain, ' ', bare),
                ChangeTag::Delete => page.line_of_file(Paint::Red, '-', bare),
                ChangeTag::Insert => page.line_of_file(Paint::Green, '+', bare),
            }
            if !text.ends_with('\n') {
                page.line("\\ No newline at end of file");
            }
        }
    }
}

/// The header lines of a file: its name for git, and the changes of its mode.
fn opening(change: &Change) -> String {
    let path = if change.path.is_empty() { "-" } else { &change.path };
    let [a, b] = ["a", "b"].map(|side| {
        let name = format!("{side}/{path}");
        // This line has two names, and patch ends a name at a space.
        if name.contains(' ') { c_quoted(&name, is_bare) } else { git_name(&name) }
    });
    let mode = match (&change.old, &change.new) {
        (None, _) if change.executable == Some(true) => "\nnew file mode 100755",
        (None, _) => "\nnew file mode 100644",
        (_, None) => "\ndeleted file mode 100644",
        _ => match change.executable {
            Some(true) => "\nold mode 100644\nnew mode 100755",
            Some(false) => "\nold mode 100755\nnew mode 100644",
            None => "",
        },
    };
    format!("diff --git {a} {b}{mode}")
}

/// A name as git and patch accept it: unquoted, or as a C string.
fn git_name(name: &str) -> String {
    if name.chars().all(is_bare) { name.to_owned() } else { c_quoted(name, is_bare) }
}

/// Whether git writes a character of a name without quotes, under the default of `core.quotePath`. Source: `quote_c_style` of git's
/// quote.c.
fn is_bare(c: char) -> bool {
    c.is_ascii() && !c.is_ascii_control() && !matches!(c, '"' | '\\')
}

/// The lines of an old and a new text, side by side.
pub fn aligned<'t>([old, new]: [&'t [&'t str]; 2]) -> TextDiff<'t, 't, str> {
    TextDiff::configure().algorithm(Algorithm::Patience).diff_slices(old, new)
}

/// The lines of a text, as git and patch count them: only a line feed ends a line.
fn lines(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}

fn header(hunk: &[DiffOp], starts: &[Vec<usize>; 2], texts: [&str; 2], finders: &[Option<Finder<'_>>; 2]) -> String {
    let (Some(first), Some(last)) = (hunk.first(), hunk.last()) else { return String::new() };
    let span = |start: usize, end: usize| match end - start {
        0 => format!("{start},0"),
        1 => format!("{}", start + 1),
        count => format!("{},{count}", start + 1),
    };
    let old = span(first.old_range().start, last.old_range().end);
    let new = span(first.new_range().start, last.new_range().end);
    let at = |side: usize, line: usize| starts[side].get(line).copied().unwrap_or_default();
    let mut ranges: [Vec<Range<usize>>; 2] = Default::default();
    let mut pieces = Vec::new();
    for changed in hunk.split(|op| op.tag() == DiffTag::Equal) {
        let (Some(first), Some(last)) = (changed.first(), changed.last()) else { continue };
        let lines = [first.old_range().start..last.old_range().end, first.new_range().start..last.new_range().end];
        let changed = narrowed(texts, [0, 1].map(|side| at(side, lines[side].start)..at(side, lines[side].end)));
        let changed = changed.map(|one| if one.is_empty() { Vec::new() } else { vec![one] });
        ranges.iter_mut().zip(&changed).for_each(|(all, one)| all.extend(one.iter().cloned()));
        pieces.push(changed);
    }
    let of_side = |side: usize, ranges: &[Range<usize>]| -> Vec<Spot> {
        finders[side].iter().flat_map(|finder| finder.spots(ranges)).collect()
    };
    let all: Vec<Spot> = [1, 0].into_iter().flat_map(|side| of_side(side, &ranges[side])).collect();
    // A place that only a single piece of the hunk names is inside of a place that the whole hunk names. So it is left out.
    let pieces = pieces.iter().flat_map(|[old, new]| in_order(of_side(0, old), of_side(1, new)));
    let (named, mut known): (HashSet<&Spot>, _) = (all.iter().collect(), HashSet::new());
    let pieces: Vec<Spot> = pieces.filter(|spot| named.contains(spot)).collect();
    let found: Vec<Spot> = pieces.into_iter().chain(all.clone()).filter(|spot| known.insert(spot.clone())).collect();
    format!("@@ -{old} +{new} @@ {}", listed(&found))
}

/// The places in the order of the new text. Removed places come where the old text has them, before the next place that both texts have.
fn in_order(old: Vec<Spot>, new: Vec<Spot>) -> Vec<Spot> {
    let in_new: HashSet<&Spot> = new.iter().collect();
    let stays: HashSet<Spot> = old.iter().filter(|spot| in_new.contains(spot)).cloned().collect();
    let (mut found, mut known, mut old) = (Vec::new(), HashSet::new(), old.into_iter().peekable());
    let mut push = |spot: Spot| {
        if known.insert(spot.clone()) {
            found.push(spot);
        }
    };
    for spot in new {
        if stays.contains(&spot) {
            while let Some(gone) = old.next_if(|old| !stays.contains(old)) {
                push(gone);
            }
            while old.next_if(|old| stays.contains(old)).is_some_and(|old| old != spot) {}
        }
        push(spot);
    }
    old.filter(|spot| !stays.contains(spot)).for_each(push);
    found
}

/// The ranges of two texts without their common beginning and end. Lines that are only added or removed stay whole.
fn narrowed(texts: [&str; 2], ranges: [Range<usize>; 2]) -> [Range<usize>; 2] {
    let [old, new] = [0, 1].map(|i| texts[i].get(ranges[i].clone()).unwrap_or_default());
    let length = |(a, b): (char, char)| if a == b { Some(a.len_utf8()) } else { None };
    let prefix: usize = old.chars().zip(new.chars()).map_while(length).sum();
    let rest = [&old[prefix..], &new[prefix..]];
    let suffix: usize = rest[0].chars().rev().zip(rest[1].chars().rev()).map_while(length).sum();
    let mut texts = [old, new].into_iter();
    ranges.map(|range| {
        let text = texts.next().unwrap_or_default();
        let left = &text[prefix..text.len() - suffix];
        // A line break belongs to the line before it, not to the lines that are added or removed after it.
        let breaks = left.len() - left.trim_start_matches(['\r', '\n']).len();
        range.start + prefix + if breaks < left.len() { breaks } else { 0 }..range.end - suffix
    })
}

/// The longest list of places in the header of a hunk, in characters.
const WIDTH: usize = 120;

/// The places for the header of a hunk: `Deployment web spec.template.spec.nodeName, …hostname; ConfigMap c data.x`. Each resource is named
/// once. A path omits a long beginning that it shares with the path before it. The first place is always listed. If not all places fit, the
/// number of the others follows.
fn listed(spots: &[Spot]) -> String {
    let mut resources: Vec<&str> = Vec::new();
    let mut known = HashSet::new();
    resources.extend(spots.iter().map(|s| s.resource.as_str()).filter(|r| known.insert(*r)));
    let mut out = String::new();
    let mut left = spots.len();
    for resource in resources {
        let mut before: Option<&str> = None;
        for spot in spots.iter().filter(|s| s.resource == resource) {
            let piece = match before.replace(&spot.path) {
                Some(before) => format!(", {}", shortened(&spot.path, before)),
                None => format!("{}{resource} {}", if out.is_empty() { "" } else { "; " }, spot.path),
            };
            if !out.is_empty() && out.chars().count() + piece.trim_end().chars().count() > WIDTH {
                return format!("{out}, … and {left} more");
            }
            out.push_str(piece.trim_end());
            left -= 1;
        }
    }
    out
}

/// A path without the steps that it shares with the path before it, if these steps are long.
fn shortened(path: &str, before: &str) -> String {
    const LONG: usize = 10;
    let (mut common, mut depth) = (0, 0usize);
    for ((at, a), b) in path.char_indices().zip(before.chars()).take_while(|((_, a), b)| a == b) {
        match (a, b) {
            ('.', _) if depth == 0 => common = at,
            ('[', _) => {
                common = if depth == 0 { at } else { common };
                depth += 1;
            }
            (']', _) => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    if common < LONG { path.to_owned() } else { format!("…{}", path[common..].trim_start_matches('.')) }
}

/// The offset at which each line begins, and the offset at which the last line ends.
fn line_starts(text: &str) -> Vec<usize> {
    let mut at = 0;
    let starts = text.split_inclusive('\n').map(|line| {
        at += line.len();
        at
    });
    [0].into_iter().chain(starts).collect()
}

/// The old and the new content as text; `None` for content that is not text. A side without the file counts as empty.
fn texts(change: &Change) -> [Option<&str>; 2] {
    [&change.old, &change.new].map(|bytes| text(bytes.as_deref().unwrap_or_default()))
}

/// The number of added and removed lines of each file, like `git diff --stat`.
pub fn stat(changes: &[Change], reader: Reader) -> Page {
    const WIDTH: usize = 40;
    let counts: Vec<Option<(usize, usize)>> = changes
        .iter()
        .map(|change| {
            let [Some(old), Some(new)] = texts(change) else { return None };
            let [old, new] = [old, new].map(lines);
            let diff = TextDiff::from_slices(&old, &new);
            let count = |tag| diff.iter_all_changes().filter(|c| c.tag() == tag).count();
            Some((count(ChangeTag::Insert), count(ChangeTag::Delete)))
        })
        .collect();
    let names: Vec<_> = changes.iter().map(|c| shown::name(&c.path)).collect();
    let widest = names.iter().map(|n| n.chars().count()).max().unwrap_or_default();
    let most = counts.iter().flatten().map(|(i, d)| i + d).max().unwrap_or_default().max(1);
    let digits = most.to_string().len().max(3);
    let mut page = Page::new(reader);
    for (name, count) in names.iter().zip(&counts) {
        let Some((come, go)) = count else {
            page.line(&format!(" {name:widest$} | {:>digits$}", "Bin"));
            continue;
        };
        let scale = |n: usize| if most <= WIDTH { n } else { (n * WIDTH).div_ceil(most) };
        let (plus, minus) = ("+".repeat(scale(*come)), "-".repeat(scale(*go)));
        let head = format!(" {name:widest$} | {:>digits$} ", come + go);
        page.pieces(&[(Paint::Plain, &head), (Paint::Green, &plus), (Paint::Red, &minus)]);
    }
    let sum = |pick: fn(&(usize, usize)) -> usize| counts.iter().flatten().map(pick).sum::<usize>();
    let (come, go) = (sum(|c| c.0), sum(|c| c.1));
    page.line(&format!(
        " {} changed, {}(+), {}(-)",
        counted(changes.len(), "file"),
        counted(come, "insertion"),
        counted(go, "deletion")
    ));
    page
}

/// A block for each conflict, and the number of conflicts.
pub fn conflicts(dest: &Side, merge: &Merge, reader: Reader) -> Page {
    let mut page = Page::new(reader);
    let conflicts: Vec<&Event> = merge.results.iter().filter(|r| r.is_conflict()).collect();
    conflicts.iter().for_each(|conflict| of_conflict(dest, conflict, &mut page));
    if !conflicts.is_empty() {
        let files: HashSet<&str> = conflicts.iter().filter_map(|r| r.file.as_ref()).map(|f| f.path.as_str()).collect();
        page.painted(
            Paint::Bold,
            &format!(
                "total: {} in {}, {} changed",
                counted(conflicts.len(), "conflict"),
                counted(files.len(), "file"),
                counted(merge.changes.len(), "file")
            ),
        );
    }
    page
}

fn of_conflict(dest: &Side, result: &Event, page: &mut Page) {
    let Some(clash) = result.clash() else { return };
    let mut about: Vec<String> = result.resource_ref.iter().map(|r| r.identity().called()).collect();
    let at = place::of(dest, result).filter(|_| result.here.is_some());
    let line = at.map(|at| format!(":{}", at.position.line)).unwrap_or_default();
    about.extend(result.file.as_ref().map(|f| format!("({}{line})", shown::name(&f.path))));
    page.painted(Paint::Yellow, &format!("conflict: {}: {}", about.join(" "), krm_words::place(clash)));
    match clash::values(result) {
        Some(values) => of_values(values, page),
        None => {
            if let Some(original) = &clash.original {
                page.line(&format!("  original: {}", cut(original.clone(), clash::WIDTH)));
            }
            // The outcome follows on a line of its own, so this line has only the actions.
            page.line(&format!("  {}", krm_words::what(clash)));
        }
    }
    page.line(&format!("  outcome:  {}", krm_words::outcome(clash)));
}

fn of_values(Values { original, dest, updated }: Values, page: &mut Page) {
    for (side, value) in [("original:", original), ("dest:    ", dest), ("updated: ", updated)] {
        match value {
            Shown::Whole(text) => page.line(&format!("  {side} {text}")),
            Shown::Against(lines) => {
                page.line(&format!("  {}", side.trim_end()));
                lines.iter().for_each(|line| page.painted(paint(line), &format!("  |{}", line.marked())));
            }
        }
    }
}

/// An open conflict as a person at a terminal sees it: where it is, and the values of the sides below one another. `None` if it has no values,
/// or if they are secret.
pub fn picture(result: &Event, reader: Reader) -> Option<Page> {
    let (clash, values) = (result.clash()?, clash::public_values(result).filter(|_| result.is_open())?);
    let mut about: Vec<String> = result.resource_ref.iter().map(|r| r.identity().called()).collect();
    about.extend(result.file.as_ref().map(|file| format!("({})", shown::name(&file.path))));
    let mut page = Page::new(reader);
    page.message(Word::Conflict, &format!("{}: {}", about.join(" "), krm_words::place(clash)));
    of_values(values, &mut page);
    Some(page)
}

fn paint(line: &Line) -> Paint {
    match line {
        Line::Gone(_) => Paint::Red,
        Line::New(_) => Paint::Green,
        Line::Same(_) | Line::Omitted(_) => Paint::Plain,
    }
}

#[cfg(test)]
mod tests {
    use krm_job::event::{Clash, ClashPlace, Did, Dispute, Field, FileForm, Severity};
    use krm_merge_core::policy::Settled;
    use krm_schema::schema::Inference;
    use krm_tree::limit::Limit;

    use super::*;
    use krm_folders::merge::Conflicts;
    use std::collections::BTreeMap;

    fn diffed(changes: &[Change], reader: Reader) -> Page {
        diff(changes, &Types::new([], Inference::On), reader)
    }

    fn change(path: &str, old: Option<&str>, new: Option<&str>) -> Change {
        let bytes = |text: Option<&str>| text.map(|t| t.as_bytes().to_vec());
        Change { path: path.to_owned(), old: bytes(old), new: bytes(new), executable: None }
    }

    #[test]
    fn hunks_name_the_resource_and_the_place() {
        let old = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: c\ndata:\n  a: 1\n  b: 1\n  c: 1\n  d: 1\n  e: 1\n  f: 1\n  g: 1\n  h: 1\n  i: 1\n  j: 1";
        let new = old.replace("  a: 1\n", "  a: 2\n").replace("\n  j: 1", "");
        let want = "\
diff --git a/c.yaml b/c.yaml
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
@@ -11,5 +11,4 @@ ConfigMap c data.j
   f: 1
   g: 1
   h: 1
-  i: 1
-  j: 1
\\ No newline at end of file
+  i: 1
\\ No newline at end of file
";
        assert_eq!(diffed(&[change("c.yaml", Some(old), Some(&new))], Reader::Program).text(), want);
    }

    #[test]
    fn a_hunk_names_all_that_changes_in_it() {
        let deployment = |replicas: u8, image: &str, env: &str| {
            format!(
                "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\nspec:\n  replicas: {replicas}\n  template:\n    spec:\n      containers:\n      - name: app\n        image: {image}\n        env:\n        - name: A\n          value: '1'\n{env}---\n"
            )
        };
        let map = |a: u8| format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: x}}\ndata:\n  a: '{a}'\n");
        let header = |old: &str, new: &str| {
            let text = diffed(&[change("c.yaml", Some(old), Some(new))], Reader::Program).text();
            let mut headers = text.lines().filter(|l| l.starts_with("@@"));
            let header = headers.next().expect("a hunk").to_owned();
            assert_eq!(headers.next(), None);
            header.rsplit_once(" @@").expect("a header").1.trim().to_owned()
        };
        let (old, new) = (
            deployment(1, "a:1", "") + &map(1),
            deployment(2, "a:2", "        - name: B\n          value: '2'\n") + &map(2),
        );
        let app = "spec.template.spec.containers[name=app]";
        assert_eq!(
            header(&old, &new),
            format!("Deployment web spec.replicas, {app}.image, …env[name=B]; ConfigMap x data.a")
        );
        // A renamed field is listed under both names; a resource added whole is listed alone.
        let (old, new) = (map(1), map(1).replace("a: '1'", "b: '1'"));
        assert_eq!(header(&old, &new), "ConfigMap x data.b, data.a");
        assert_eq!(header(&map(1), &(map(1) + "---\n" + &map(1).replace("name: x", "name: y"))), "ConfigMap y");
        // In the order of the file: added, changed and removed places alike.
        let three = map(1) + "  b: '1'\n  c: '1'\n";
        assert_eq!(
            header(&three, &three.replace("  a: '1'\n", "").replace("b: '1'", "b: '2'")),
            "ConfigMap x data.a, data.b"
        );
        assert_eq!(header(&three, &(three.replace("  b: '1'\n", "") + "  d: '1'\n")), "ConfigMap x data.b, data.d");
        // One line of JSON.
        let json = |x: u8, y: u8| {
            format!(
                "{{\"apiVersion\": \"v1\", \"kind\": \"ConfigMap\", \"metadata\": {{\"name\": \"j\"}}, \"data\": {{\"x\": \"{x}\", \"y\": \"{y}\"}}}}\n"
            )
        };
        assert_eq!(header(&json(1, 1), &json(1, 2)), "ConfigMap j data.y");
        assert_eq!(header(&json(1, 1), &json(2, 2)), "ConfigMap j data.x, data.y");
        // Beyond a width, only their number is reported.
        let many = |value: u8| {
            let data: String = (0..40).map(|i| format!("  key-number-{i}: '{value}'\n")).collect();
            format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: x}}\ndata:\n{data}")
        };
        let long = header(&many(1), &many(2));
        assert!(long.starts_with("ConfigMap x data.key-number-0, data.key-number-1, "), "{long}");
        assert!(long.ends_with(", … and 35 more") && long.chars().count() < WIDTH + 20, "{long}");
        // A comment counts as part of the value it belongs to; elsewhere nothing is named.
        assert_eq!(
            header(&map(1).replace("  a:", "  # one\n  a:"), &map(1).replace("  a:", "  # two\n  a:")),
            "ConfigMap x data.a"
        );
        assert_eq!(header("- a\n", "- b\n"), "");
    }

    #[test]
    fn how_a_conflict_was_settled_is_told_once() {
        let dispute = Dispute::File { form: FileForm::NoResources, did: [Did::Deleted, Did::Changed] };
        let (place, settled) = (ClashPlace::WholeFile, Settled::StaysDeleted);
        let clash = Clash { place, settled, ..Clash::open(dispute) };
        let result = Event::conflict(Severity::Warning, clash);
        let what = "dest does not have the file (it holds no resources), and updated changed it";
        assert_eq!(krm_words::message(&result), format!("{what}; did not add it"));
        let want = format!(
            "conflict: : the whole file\n  {what}\n  outcome:  did not add it\ntotal: 1 conflict in 0 files, 0 files changed\n"
        );
        let (changes, made, rules, secrets) = (Vec::new(), BTreeMap::new(), Vec::new(), Vec::new());
        let (limit, settled) = (Limit::default(), Conflicts::Settled);
        let merge = Merge {
            changes,
            results: vec![result],
            made,
            rules,
            limit,
            conflicts: settled,
            secrets,
            names: krm_tree::sides::Sides::default(),
        };
        let dest = Side::of_text("dest", "").expect("a side");
        assert_eq!(conflicts(&dest, &merge, Reader::Program).text(), want);
    }

    #[test]
    fn an_open_conflict_is_a_picture_of_three_lines() {
        let dispute = Dispute::Value { at: "spec.x".to_owned(), did: [Did::Changed; 2] };
        let (place, original) = (ClashPlace::Field("spec.x".to_owned()), Some("\"a\"".to_owned()));
        let clash = Clash { place, original, ..Clash::open(dispute) };
        let value = |text: &str| Some(krm_job::event::Value::String(text.to_owned()));
        let field = Field { path: "spec.x".into(), current_value: value("b"), proposed_value: value("c") };
        let mut result = Event { field: Some(field.into()), ..Event::conflict(Severity::Warning, clash) };
        let shown = |result: &Event| picture(result, Reader::Bare).map(Page::text);
        let want = "conflict: : spec.x\n  original: \"a\"\n  dest:     \"b\"\n  updated:  \"c\"\n";
        assert_eq!(shown(&result).as_deref(), Some(want));
        result.is_secret = true;
        assert_eq!(shown(&result), None);
    }

    #[test]
    fn files_that_come_go_or_hold_bytes_are_told_as_such() {
        let text =
            diffed(&[change("new", None, Some("a\n")), change("old", Some("b\n"), None)], Reader::Program).text();
        assert_eq!(
            text,
            "diff --git a/new b/new\nnew file mode 100644\n--- /dev/null\n+++ b/new\n@@ -0,0 +1 @@\n+a\ndiff --git a/old b/old\ndeleted file mode 100644\n--- a/old\n+++ /dev/null\n@@ -1 +0,0 @@\n-b\n"
        );
        let binary = "diff --git a/x b/x\nindex 0000000..0000000\nBinary files a/x and b/x differ\n";
        assert_eq!(diffed(&[change("x", Some("a\0"), Some("b"))], Reader::Program).text(), binary);
        assert!(diffed(&[change("new", None, Some("a\n"))], Reader::Colour).text().contains("\x1b[32m+a\x1b[0m\n"));
    }

    #[test]
    fn the_stat_counts_lines() {
        let changes = [change("a.yaml", Some("1\n2\n"), Some("1\n3\n4\n")), change("bin", Some("\0"), None)];
        assert_eq!(
            stat(&changes, Reader::Program).text(),
            " a.yaml |   3 ++-\n bin    | Bin\n 2 files changed, 2 insertions(+), 1 deletion(-)\n"
        );
    }
}
