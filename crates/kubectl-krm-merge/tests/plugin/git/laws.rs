//! What holds for every three-way merge, over generated files in many styles: that nothing is lost, and that each half of a conflict is whole.

use std::collections::{BTreeMap, BTreeSet};

use krm_yaml::{Document, NodeRef, Style};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::{Half, resolved};
use crate::render;
use crate::shared;
use crate::support::{Folder, has};

/// The specs of a file's resources, by the number in their name.
type File = BTreeMap<usize, Value>;

fn value() -> impl Strategy<Value = Value> {
    let scalar = prop_oneof![
        (0i64..4).prop_map(|n| json!(n)),
        prop::sample::select(vec!["a", "yes", "two\nlines\n", "x, y", "# no comment\nb"]).prop_map(|s| json!(s))
    ];
    scalar.prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 1..3).prop_map(Value::Array),
            prop::collection::btree_map("[a-d]", inner.clone(), 1..4)
                .prop_map(|m| Value::Object(m.into_iter().collect())),
            prop::collection::btree_map("[a-c]", inner, 1..4).prop_map(|elements| Value::Array(
                elements.into_iter().map(|(name, value)| json!({"name": name, "value": value})).collect()
            )),
        ]
    })
}

fn map() -> impl Strategy<Value = Value> {
    prop::collection::btree_map("[a-d]", value(), 1..5).prop_map(|m| Value::Object(m.into_iter().collect()))
}

fn name(value: &Value) -> Option<&str> {
    value.get("name").and_then(Value::as_str)
}

/// A value with parts of another one in it, and without parts of its own.
fn mixed(base: &Value, other: &Value, one_in: &mut dyn FnMut(u8) -> bool) -> Value {
    match (base, other) {
        (Value::Object(a), Value::Object(b)) => {
            let mut out = Map::new();
            for (key, value) in a {
                match b.get(key) {
                    Some(other) => drop(out.insert(key.clone(), mixed(value, other, one_in))),
                    None if !one_in(4) => drop(out.insert(key.clone(), value.clone())),
                    None => {}
                }
            }
            for (key, value) in b.iter().filter(|(k, _)| !a.contains_key(*k)) {
                if one_in(3) {
                    out.insert(key.clone(), value.clone());
                }
            }
            Value::Object(out)
        }
        (Value::Array(a), Value::Array(b)) if a.iter().chain(b).all(|v| name(v).is_some()) => {
            let mut out = Vec::new();
            for element in a {
                match b.iter().find(|other| name(other) == name(element)) {
                    Some(other) => out.push(mixed(element, other, one_in)),
                    None if !one_in(3) => out.push(element.clone()),
                    None => {}
                }
            }
            out.extend(b.iter().filter(|e| a.iter().all(|o| name(o) != name(e)) && one_in(3)).cloned());
            Value::Array(out)
        }
        _ if !one_in(3) => base.clone(),
        _ => other.clone(),
    }
}

/// A file of some resources: one is changed, and perhaps one goes or comes.
fn changed(file: &File, other: &Value, one_in: &mut dyn FnMut(u8) -> bool) -> File {
    let mut out = File::new();
    for (i, spec) in file {
        if !one_in(8) {
            out.insert(*i, if !one_in(3) { mixed(spec, other, one_in) } else { spec.clone() });
        }
    }
    if one_in(5) || out.is_empty() {
        out.insert(9, other.clone());
    }
    out
}

/// The file in a style. Its comments say what they are of, so that those of one thing are one in all versions, and a side may add a word.
fn text(file: &File, style: &[u8], word: &str, one_in: &mut dyn FnMut(u8) -> bool) -> String {
    let mut documents = Vec::new();
    for (i, spec) in file {
        let document = render::Style::new(style).document(&shared::resource(*i, spec));
        let lines: Vec<&str> = document.lines().collect();
        let key = |line: &str| line.trim().trim_start_matches("- ").split(':').next().unwrap_or_default().to_owned();
        let mut out = String::new();
        for (n, line) in lines.iter().enumerate() {
            let Some((content, _)) = line.split_once("# c").filter(|(_, n)| n.parse::<u8>().is_ok()) else {
                out.push_str(&format!("{line}\n"));
                continue;
            };
            let below = || lines[n..].iter().find(|line| !line.trim_start().starts_with("# c"));
            let what = if content.trim().is_empty() { below().map_or("end".into(), |l| key(l)) } else { key(content) };
            let word = if one_in(7) { word } else { "" };
            out.push_str(&format!("{content}# of {what} of {i}{word}\n"));
        }
        documents.push(out);
    }
    documents.join("---\n")
}

/// The resources of a text by name; `None` where it is no YAML.
fn values(text: &str) -> Option<BTreeMap<String, Value>> {
    let document = Document::parse(text).ok()?;
    let resource = |root| {
        let value = in_order(&shared::value_of(root));
        Some((value.get("metadata")?.get("name")?.as_str()?.to_owned(), value))
    };
    Some(document.roots().filter_map(resource).collect())
}

/// The value with keyed lists in the order of their keys.
fn in_order(value: &Value) -> Value {
    match value {
        Value::Object(map) => Value::Object(map.iter().map(|(k, v)| (k.clone(), in_order(v))).collect()),
        Value::Array(list) => {
            let mut list: Vec<Value> = list.iter().map(in_order).collect();
            if list.iter().all(|v| name(v).is_some()) {
                list.sort_by_key(|v| name(v).map(str::to_owned));
            }
            Value::Array(list)
        }
        scalar => scalar.clone(),
    }
}

/// What stands at a path as messages write it.
fn at<'v>(resource: &'v Value, path: &str) -> Option<&'v Value> {
    path.split(['.', '[']).try_fold(resource, |value, step| match step.strip_suffix(']') {
        None => value.get(step),
        Some(key) => {
            let key = key.strip_prefix("name=").expect("a list by name");
            value.as_array()?.iter().find(|element| name(element) == Some(key))
        }
    })
}

/// The places in conflict that the driver tells: the name of the resource, and the path in it.
fn places(stderr: &str) -> Vec<(String, Option<String>)> {
    let place = |line: &str| {
        let line = line.strip_prefix("error: Thing ")?;
        let (name, said) = line.split_once([':', ' '])?;
        let (who, rest) = said.split_once('`').unwrap_or((said, ""));
        if who.contains("comment") {
            return None;
        }
        let path = rest.split('`').next().filter(|path| !path.is_empty() && !who.contains("the resource"));
        Some((name.to_owned(), path.map(str::to_owned)))
    };
    stderr.lines().filter_map(place).collect()
}

fn comments(text: &str) -> BTreeSet<String> {
    let document = Document::parse(text).expect("YAML");
    document.comments_in(0..text.len()).map(|(start, end)| text[start..end].trim().to_owned()).collect()
}

/// The fields of a file in block style that hold a scalar on one line, as they are written.
fn fields(text: &str) -> BTreeMap<String, String> {
    fn collect(node: NodeRef<'_>, path: &str, out: &mut BTreeMap<String, String>) {
        if node.style() == Style::Flow {
            return;
        }
        for (key, value) in node.entries() {
            let path = format!("{path}/{}", key.string());
            collect(value, &path, out);
            let text = &node.document().source()[key.start()..value.end()];
            if !value.is_container() && !text.contains('\n') {
                out.insert(path, text.to_owned());
            }
        }
        for element in node.elements() {
            if let Some(name) = element.get("name") {
                collect(element, &format!("{path}/[{}]", name.string()), out);
            }
        }
    }
    let document = Document::parse(text).expect("YAML");
    let mut out = BTreeMap::new();
    for root in document.roots() {
        collect(root, root.at(&["metadata", "name"]).map_or("", NodeRef::string), &mut out);
    }
    out
}

/// The places below a value that hold no map, with what they hold.
fn leaves(value: &Value, path: &str, out: &mut BTreeMap<String, Value>) {
    match value {
        Value::Object(map) if !map.is_empty() => {
            map.iter().for_each(|(key, value)| leaves(value, &format!("{path}/{key}"), out))
        }
        Value::Array(list) if list.iter().all(|element| name(element).is_some()) => {
            let path = |element| format!("{path}/[{}]", name(element).unwrap_or_default());
            list.iter().for_each(|element| leaves(element, &path(element), out));
        }
        other => drop(out.insert(path.to_owned(), other.clone())),
    }
}

fn check([original, ours, theirs]: [&str; 3], style: &str) {
    let folder = Folder::with(&[("o.yaml", original), ("a.yaml", ours), ("b.yaml", theirs), ("x.yaml", ours)]);
    let mut command = folder.command(&["git-driver", "o.yaml", "x.yaml", "b.yaml", "web.yaml"]);
    command.env("GIT_CONFIG_COUNT", "1").env("GIT_CONFIG_KEY_0", "merge.conflictStyle");
    let ran = crate::support::Ran::of(command.env("GIT_CONFIG_VALUE_0", style).output().expect("runs"));
    let text = folder.read("x.yaml");
    let shown = || {
        format!(
            "{style}: {}\n== original\n{original}\n== ours\n{ours}\n== theirs\n{theirs}\n== gave {:?}\n{text}",
            ran.stderr, ran.code
        )
    };
    let three_way = |policy: &str| {
        let sides = ["three-way", "--original", "o.yaml", "--updated", "b.yaml", "--dest", "a.yaml"];
        folder.run(&[&sides[..], &["--on-conflict", policy]].concat()).passed()
    };
    let (kept, taken) = (three_way("KeepDest"), three_way("TakeUpdated"));
    let is_marked = text.contains("<<<<<<<");
    assert_eq!(ran.code, Some(i32::from(is_marked)), "{}", shown());
    let halves = [Half::Ours, Half::Theirs].map(|half| {
        let half = resolved(&text, half);
        values(&half).unwrap_or_else(|| panic!("no YAML: {half}\n{}", shown()))
    });
    let places = places(&ran.stderr);
    if !is_marked {
        let by_git = std::process::Command::new("git")
            .args(["merge-file", "-p", "a.yaml", "o.yaml", "b.yaml"])
            .current_dir(&folder.0)
            .output()
            .expect("git");
        // It is the merge's own text, with lines of theirs that differ in comments and free comments at most; or git's.
        if !by_git.status.success() || by_git.stdout != text.as_bytes() {
            assert_eq!(Some(&halves[0]), values(&kept).as_ref(), "{}", shown());
            // Only a comment can be in conflict. The driver keeps what a side changed in it.
            assert_eq!(values(&kept), values(&taken), "{}", shown());
            // A list that is taken from theirs has ours' layout: a dash may stand on the line of the next one.
            fn bare(line: &str) -> &str {
                line.trim_start_matches(['-', ' ']).trim_end()
            }
            let said: BTreeSet<&str> = kept.lines().chain(theirs.lines()).map(bare).collect();
            let is_new = |line: &&str| !said.contains(bare(line)) && !line.trim().is_empty();
            let own = text.lines().filter(is_new).all(|line| line.trim().starts_with('#'));
            assert!(own, "{}\n== three-way\n{kept}", shown());
        }
    }
    let sides = [ours, theirs].map(|side| values(side).expect("YAML"));
    for (name, path) in &places {
        // A resource that one side renamed has the new name in both halves.
        if path.is_some() && sides.iter().any(|side| side.get(name).is_none()) {
            continue;
        }
        for (half, side) in halves.iter().zip(&sides) {
            let [got, want] = [half, side].map(|side| match path {
                Some(path) => side.get(name).and_then(|resource| at(resource, path)),
                None => side.get(name),
            });
            if path.is_some() || !ran.stderr.contains("comment") {
                assert_eq!(got, want, "{name} {path:?}\n{}", shown());
            }
        }
    }
    for (name, resource) in &values(original).expect("YAML") {
        let (Some(ours), Some(theirs)) = (sides[0].get(name), sides[1].get(name)) else { continue };
        let [resource, ours, theirs] = [resource, ours, theirs].map(|value| {
            let mut all = BTreeMap::new();
            leaves(value, "", &mut all);
            all
        });
        for (path, value) in
            resource.iter().filter(|(path, value)| [&ours, &theirs].iter().all(|side| side.get(*path) == Some(value)))
        {
            for half in &halves {
                let mut all = BTreeMap::new();
                leaves(&half[name], "", &mut all);
                assert_eq!(all.get(path), Some(value), "{name} {path}\n{}", shown());
            }
        }
    }
    // What each marker is answered with has no say in whether the others can be.
    if let Some((before, rest)) = text.split_once(">>>>>>>") {
        let (label, rest) = rest.split_once('\n').expect("a line");
        let first = format!("{before}>>>>>>>{label}\n");
        for [a, b] in [[Half::Ours, Half::Theirs], [Half::Theirs, Half::Ours]] {
            let mixed = resolved(&first, a) + &resolved(rest, b);
            assert!(values(&mixed).is_some(), "no YAML: {mixed}\n{}", shown());
        }
    }
    let before = comments(original);
    for comment in comments(ours).union(&comments(theirs)).filter(|comment| !before.contains(*comment)) {
        assert!(text.lines().any(|line| line.ends_with(comment.as_str())), "{comment}\n{}", shown());
    }
    let [original, ours, theirs] = [original, ours, theirs].map(fields);
    for (path, field) in
        original.iter().filter(|(path, field)| [&ours, &theirs].iter().all(|s| s.get(*path) == Some(field)))
    {
        assert!(text.lines().any(|line| line.contains(field)), "{path}: {field}\n{}", shown());
    }
}

proptest! {
    #![proptest_config(shared::tries(250))]

    #[test]
    fn nothing_is_lost_and_either_half_is_whole(
        specs in prop::collection::vec(map(), 1..3), one in map(), two in map(),
        choice in prop::collection::vec(any::<u8>(), 8..40), style in prop::collection::vec(any::<u8>(), 1..40),
    ) {
        if !has("git") {
            return Ok(());
        }
        let mut at = 0;
        let mut one_in = |n: u8| { at += 1; choice[at % choice.len()].is_multiple_of(n) };
        let original: File = specs.into_iter().enumerate().collect();
        let [ours, theirs] = [one, two].map(|other| changed(&original, &other, &mut one_in));
        let [original, ours, theirs] = [(&original, ""), (&ours, ", ours"), (&theirs, ", theirs")]
            .map(|(file, word)| text(file, &style, word, &mut one_in))
            .map(|text| if choice[1].is_multiple_of(5) { text.replace('\n', "\r\n") } else { text });
        let style = ["merge", "diff3", "zdiff3"][choice[0] as usize % 3];
        check([&original, &ours, &theirs], style);
    }
}

/// A manifest with comments at all places that have one owner.
const MANIFEST: &str = "\
# head

apiVersion: apps/v1
kind: Deployment
metadata:
  name: web # the name
  # about labels
  labels:
    app: web
    tier: front
spec:
  replicas: 1 # scaled
  # how to update
  strategy:
    type: RollingUpdate
    rollingUpdate: {maxSurge: 1, maxUnavailable: 0}
  template:
    spec:
      containers:
      # the product
      - name: app
        image: web:1 # pinned
        args:
        # log
        - --a
        - --b
        # see
        - --c
        env:
        - name: A # first
          value: a
        # second
        - name: B
          value: b
      tolerations:
      # one
      - key: a
        operator: Exists
      # two
      - key: b
        operator: Exists
---
# the config
apiVersion: v1
kind: ConfigMap
metadata:
  name: cfg
data:
  # how much
  level: info
  run.sh: |
    echo start
    sleep 1
    exec app
# tail
";

/// A manifest in which a side changed some values, some comments, or both.
fn edited(who: &str, next: &mut dyn FnMut(usize) -> usize) -> Vec<String> {
    let mut lines: Vec<String> = MANIFEST.lines().map(str::to_owned).collect();
    let words = [who, "same"];
    for _ in 0..=next(3) {
        let at = next(lines.len());
        let line = lines[at].clone();
        let indent = &line[..line.len() - line.trim_start().len()];
        let word = words[next(2)];
        let is_head = ["kind", "apiVersion", "name", "- name", "---", "- key", "#"]
            .iter()
            .any(|head| line.trim().starts_with(head));
        match (next(3), line.split_once(": ")) {
            (0, _) if !line.trim().is_empty() && line != "---" => lines.insert(at, format!("{indent}# note {word}")),
            (_, _) if line.trim().starts_with('#') => lines[at] = format!("{line} {word}"),
            (_, Some((key, value))) if !is_head && !value.contains(['{', '|']) => {
                let comment = value.split_once(" #").map(|(_, comment)| format!(" #{comment}")).unwrap_or_default();
                lines[at] = format!("{key}: {word}{comment}");
            }
            (_, None) if line.trim().starts_with("- --") => lines[at] = format!("{line}{word}"),
            _ => {}
        }
    }
    lines
}

/// How many lines stand between markers.
fn between(text: &str) -> usize {
    let (mut count, mut is_inside) = (0, false);
    for line in text.lines() {
        match &line[..line.len().min(7)] {
            "<<<<<<<" => is_inside = true,
            ">>>>>>>" => is_inside = false,
            "=======" => {}
            _ => count += usize::from(is_inside),
        }
    }
    count
}

/// Over all cases the driver marks no more lines than git, and stops nowhere where git is clean. In a single case it may mark more: git does not
/// know that a list, an element or a resource is one.
#[test]
fn no_more_lines_are_marked_than_git_marks() {
    if !has("git") {
        return;
    }
    let folder = Folder::in_memory();
    let mut state = 7_u64;
    let mut next = |n: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % n
    };
    let comments: Vec<&str> = MANIFEST.lines().filter(|line| line.trim().starts_with('#')).collect();
    let (mut by_git, mut by_driver, mut stopped) = (0, 0, 0);
    for case in 0..120 {
        let [mut ours, mut theirs] = ["ours", "theirs"].map(|who| edited(who, &mut next));
        if case % 2 == 0 {
            let both = comments[next(comments.len())];
            for (lines, who) in [(&mut ours, "ours"), (&mut theirs, "theirs")] {
                lines.iter_mut().filter(|line| *line == both).for_each(|line| *line = format!("{line} {who}"));
            }
        }
        let [ours, theirs] = [ours, theirs].map(|lines| lines.join("\n") + "\n");
        for (path, text) in [("o", MANIFEST), ("a", &*ours), ("b", &*theirs), ("x", &*ours)] {
            folder.write(path, text);
        }
        let mut git = std::process::Command::new("git");
        let git = git.args(["merge-file", "-p", "a", "o", "b"]).current_dir(&folder.0).output().expect("git");
        let ran = folder.run(&["git-driver", "o", "x", "b", "web.yaml"]);
        let text = folder.read("x");
        let shown = || format!("{}\n== ours\n{ours}\n== theirs\n{theirs}\n== gave\n{text}", ran.stderr);
        assert_eq!(ran.code, Some(i32::from(text.contains("<<<<<<<"))), "{}", shown());
        assert_eq!(ran.code == Some(1), ran.stderr.contains("unresolved"), "{}", shown());
        if git.status.success() {
            assert_eq!(ran.code, Some(0), "{}", shown());
        }
        stopped += usize::from(ran.code == Some(1));
        by_git += between(&String::from_utf8(git.stdout).expect("UTF-8"));
        by_driver += between(&text);
    }
    assert!(stopped > 40, "{stopped}");
    assert!(by_driver <= by_git, "the driver marks {by_driver} lines, git {by_git}");
}
