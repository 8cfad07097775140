//! Packages as a program merges them: files come, change, move and go; conflicts are decided; notes tell the rest.

use std::collections::BTreeMap;

use krm_merge::{
    ConflictLevel, EmptyUpdated, Error, Event, FileChange, InTheWay, ListKind, ListRule, Merge, MergedPackage, Package,
    Pick, Reveal, Treatment, What, words,
};

fn map(name: &str, data: &str) -> String {
    format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}}}\ndata: {{{data}}} # why\n")
}

fn files<'f>(files: impl IntoIterator<Item = (&'f str, String)>) -> BTreeMap<String, String> {
    files.into_iter().map(|(path, text)| (path.to_owned(), text)).collect()
}

fn package<'f>(of: impl IntoIterator<Item = (&'f str, String)>) -> Package {
    Package::of_files(files(of)).expect("YAML")
}

fn text(text: impl Into<String>) -> Package {
    Package::of_text(text).expect("YAML")
}

fn paths(merged: &MergedPackage) -> Vec<String> {
    merged.conflicts().map(|conflict| conflict.path().to_owned()).collect()
}

/// What is told if nobody decides.
fn events(merged: &MergedPackage) -> Vec<Event> {
    merged.plan(Treatment::Open(Pick::Dest)).expect("small").events
}

#[test]
fn what_a_file_begins_with_is_decided_as_any_other_conflict() {
    let file = |header: &str| text(format!("# {header}\n---\n{}", map("a", "x: 1")));
    let (original, updated, dest) = (file("old"), file("new"), file("mine"));
    let merge = Merge::three_way(&original, &updated, &dest);
    let merged = merge.run().expect("merged");
    assert_eq!(paths(&merged), [""]);
    assert_eq!(paths(&merged.decide(|_| Some(Pick::Dest))), [""; 0]);
}

#[test]
fn files_change_come_move_and_go() {
    let original = package(
        ["a", "b", "m", "n"]
            .map(|name| (format!("{name}.yaml"), map(name, "x: 1")))
            .each_ref()
            .map(|(path, text)| (&path[..], text.clone())),
    );
    let updated = package([
        ("a.yaml", map("a", "x: 2")),
        ("c.yaml", map("c", "z: 1")),
        ("to/m.yaml", map("m", "x: 2")),
        ("to/n.yaml", map("n", "x: 1")),
    ]);
    let dest = package([
        ("a.yaml", map("a", "x: 1, y: 1")),
        ("b.yaml", map("b", "x: 1")),
        ("d.yaml", map("d", "x: 1")),
        ("m.yaml", map("m", "x: 1, y: 1")),
        ("n.yaml", map("n", "x: 1")),
    ]);
    let merge = Merge::three_way(&original, &updated, &dest);
    let merged = merge.run().expect("merged");
    let told = merged.write(Pick::Updated).expect("small").into_iter().map(|change| match change {
        FileChange::Changed { path, text, .. } => format!("changed {path} {text}"),
        FileChange::Moved { from, to, text, .. } => format!("moved {from} {to} {text}"),
        FileChange::Added { path, text, .. } => format!("added {path} {text}"),
        FileChange::Removed { path } => format!("removed {path}"),
    });
    let want = [
        format!("changed a.yaml {}", map("a", "x: 2, y: 1")),
        "removed b.yaml".to_owned(),
        format!("added c.yaml {}", map("c", "z: 1")),
        format!("moved m.yaml to/m.yaml {}", map("m", "x: 2, y: 1")),
        format!("moved n.yaml to/n.yaml {}", map("n", "x: 1")),
    ];
    assert_eq!(told.collect::<Vec<_>>(), want);
    let after = [
        ("a.yaml", map("a", "x: 2, y: 1")),
        ("c.yaml", map("c", "z: 1")),
        ("d.yaml", map("d", "x: 1")),
        ("to/m.yaml", map("m", "x: 2, y: 1")),
        ("to/n.yaml", map("n", "x: 1")),
    ];
    assert_eq!(merged.files(Pick::Updated).expect("small"), files(after.clone()));
    assert_eq!(paths(&merged), [""; 0]);
    let moved = |event: &Event| if let What::Moved { to, .. } = &event.what { Some(to.clone()) } else { None };
    let moved: Vec<String> = events(&merged).iter().filter_map(moved).collect();
    assert_eq!(moved, ["to/m.yaml", "to/n.yaml"]);
    let result = package(after);
    let again = Merge::three_way(&original, &updated, &result);
    assert_eq!(again.run().expect("merged").write(Pick::Updated).expect("small"), []);
}

#[test]
fn a_document_stands_beside_the_neighbours_that_it_has_upstream() {
    let file = |names: &str| names.split(' ').map(|name| map(name, "x: 1")).collect::<Vec<_>>().join("---\n");
    for (original, updated, dest, want) in [
        ("a b", "n a b", "a b", "n a b"),
        ("a b", "a n b", "a mine b", "a mine n b"),
        ("a b", "a n b", "b", "n b"),
        ("a b", "a b n", "a b mine", "a b mine n"),
        ("a b", "n m", "a b", "n m"),
        // If only one side changed the order, its order holds.
        ("a b c", "c a n b", "a b c", "c a n b"),
        // Within one gap, elements that only dest has come first.
        ("a b c", "a b c n", "c mine a b", "c mine n a b"),
        ("a b c", "b a c", "c a b", "c a b"),
    ] {
        let [original, updated, dest] = [original, updated, dest].map(|names| package([("f.yaml", file(names))]));
        let merge = Merge::three_way(&original, &updated, &dest);
        let merged = merge.run().expect("merged").files(Pick::Updated).expect("small");
        assert_eq!(merged, files([("f.yaml", file(want))]), "{want}");
    }
    let [one, two] = ["a b", "n b a"].map(|names| text(file(names)));
    let merged = Merge::three_way(&one, &two, &one).run().expect("merged").text(Pick::Updated);
    assert_eq!(merged.expect("small"), file("n b a"));
}

/// A text of these documents: `...` and a text with a `#` or a `-` stand for themselves, another word is a resource of that name with the
/// data `x: 1`, and a word such as `a=2` has other data.
fn documents(words: &str) -> String {
    let mut out = String::new();
    for word in words.split(' ') {
        match word.split_once('=').unwrap_or((word, "1")) {
            _ if word.starts_with(['.', '-']) => out.push_str(&format!("{}\n", word.replace('_', " "))),
            _ if word.starts_with('#') => out.push_str(&format!("{}\n", word.replace('_', "\n"))),
            (name, x) => out.push_str(&map(name, &format!("x: {x}, y: long, z: text"))),
        }
    }
    out
}

#[test]
fn documents_of_comments_and_marks_are_merged() {
    for (original, updated, dest, want) in [
        // They come behind what they are behind upstream.
        ("a --- #k --- b", "a --- #k --- #n --- b", "a --- #k --- b=2", "a --- #k --- #n --- b=2"),
        (
            "a --- #k --- #k --- b",
            "a --- #k --- #n --- #k --- b",
            "a --- #k --- #k --- b=2",
            "a --- #k --- #n --- #k --- b=2",
        ),
        // What dest deleted does not come back, even if what is above it goes or gets another name.
        ("a --- #k --- b", "a --- #k --- b", "a --- b=2", "a --- b=2"),
        ("a --- o --- #k --- b", "a --- #k --- b", "a --- o --- b=2", "a --- b=2"),
        ("a --- #k --- b", "n --- #k --- b", "a=2 --- b=2", "n=2 --- b=2"),
        // Comments at the top that upstream left alone stay there.
        ("#l_ a --- b", "#l_ b", "#l_ a --- b=2", "#l_ b=2"),
        // Empty documents stay, at the top and among others.
        ("a", "a=2", "--- --- a --- own", "--- --- a=2 --- own"),
        ("a", "a=2", "a --- --- own", "a=2 --- --- own"),
        // A document below dots gets the mark that upstream gave it, where it needs one.
        ("a ... b", "a --- n ---_#_m b", "a ... b=2", "a ... --- n ---_#_m b=2"),
    ] {
        let sides = [original, updated, dest].map(|words| package([("f.yaml", documents(words))]));
        let merge = Merge::three_way(&sides[0], &sides[1], &sides[2]);
        let merged = merge.run().expect("merged").files(Pick::Updated).expect("small");
        assert_eq!(
            merged.get("f.yaml").map(String::as_str),
            Some(&*documents(want)),
            "{original} | {updated} | {dest}"
        );
    }
}

#[test]
fn a_new_resource_comes_without_the_annotations_of_the_host() {
    let new = |annotations: &str| {
        format!("# of n\n{}", map("n", "x: 1").replace("name: n", &format!("name: n{annotations}")))
    };
    let host = "config.kubernetes.io/path: n";
    for (annotations, left) in [
        (format!(", annotations: {{{host}}}"), ""),
        (format!(", annotations: {{{host}, mine: y}}"), ", annotations: {mine: y}"),
    ] {
        let (original, dest) = (text(map("a", "x: 1")), text(map("a", "x: 2")));
        let updated = text(format!("{}---\n{}", map("a", "x: 1"), new(&annotations)));
        let merged = Merge::three_way(&original, &updated, &dest).run().expect("merged").text(Pick::Updated);
        assert_eq!(merged.expect("small"), format!("{}---\n{}", map("a", "x: 2"), new(left)));
    }
}

#[test]
fn a_document_of_comments_may_be_indented() {
    let of = |top: &str, x: u8| text(format!("{top}{}", map("a", &format!("x: {x}"))));
    let (original, updated, dest) = (of("", 1), of("---\n  # k\n---\n", 1), of("", 2));
    let merged = Merge::three_way(&original, &updated, &dest).run().expect("merged").text(Pick::Updated);
    assert_eq!(merged.expect("small"), format!("---\n  # k\n---\n{}", map("a", "x: 2")));
}

#[test]
fn an_indented_comment_at_the_top_of_a_document_is_taken() {
    for above in ["", "# a licence\n---\n"] {
        let of = |top: &str, x: u8| text(format!("{above}{top}{}", map("a", &format!("x: {x}"))));
        for top in ["  # new\n", "  # new\n# of the first\n"] {
            let (original, updated, dest) = (of("", 1), of(top, 1), of("", 2));
            // It gets the column of the field below it. A second run changes nothing.
            let want = format!("{above}{}{}", top.trim_start(), map("a", "x: 2"));
            for dest in [dest, text(&*want)] {
                let merged = Merge::three_way(&original, &updated, &dest).run().expect("merged").text(Pick::Updated);
                assert_eq!(merged.expect("small"), want);
            }
        }
    }
}

#[test]
fn a_document_of_comments_comes_beside_a_list() {
    let item = |name: &str| format!("- {}", map(name, "x: 1").trim_end().replace('\n', "\n  ") + "\n");
    let list = |items: &str| format!("apiVersion: v1\nkind: List\nitems:\n{items}");
    let [original, updated] = ["a", "a --- n --- #k"].map(|words| {
        let texts = words
            .split(' ')
            .map(|word| if word.starts_with(['-', '#']) { format!("{word}\n") } else { map(word, "x: 1") });
        text(texts.collect::<String>())
    });
    let dest = text(list(&item("a")));
    let merged = Merge::three_way(&original, &updated, &dest).run().expect("merged").text(Pick::Updated);
    assert_eq!(merged.expect("small"), format!("{}---\n#k\n", list(&(item("a") + &item("n")))));
}

#[test]
fn a_file_whose_only_resource_makes_way_for_another_stays() {
    let [old, new] = [map("a", "x: 1"), map("n", "q: 7, r: 8")];
    let [original, updated] = [&old, &new].map(|text| package([("f", text.clone())]));
    let dest = package([("f", format!("# own\n---\n{old}"))]);
    let merged = Merge::three_way(&original, &updated, &dest).run().expect("merged").files(Pick::Updated);
    assert_eq!(merged.expect("small"), files([("f", format!("# own\n---\n{new}"))]));
}

#[test]
fn a_new_file_is_upstreams_to_the_byte() {
    let new = documents("--- a --- --- b ...");
    let [old, updated, dest] = [package([]), package([("n", new.clone())]), package([("own", map("own", "x: 1"))])];
    let merged = Merge::three_way(&old, &updated, &dest).run().expect("merged").files(Pick::Updated);
    assert_eq!(merged.expect("small")["n"], new);
}

#[test]
fn a_conflict_of_a_whole_resource_is_one() {
    let [old, new, none] = [map("a", "x: 1"), map("a", "x: 2"), String::new()].map(text);
    let merge = Merge::three_way(&old, &none, &new);
    let error = merge.run().expect_err("updated is empty").to_string();
    assert_eq!(error, "updated has no resources, so the merge would delete all resources of original. Check the path");
    let merge = merge.empty_updated(EmptyUpdated::Deletes);
    let merged = merge.run().expect("merged");
    assert_eq!(paths(&merged), [""]);
    assert_eq!(merged.text(Pick::Updated).expect("small"), "");
    assert_eq!(merged.text(Pick::Dest).expect("small"), map("a", "x: 2"));
    assert_eq!(merged.text(Pick::Original).expect("small"), map("a", "x: 1"));
    let kept = merged.decide(|_| Some(Pick::Dest));
    assert_eq!((paths(&kept).len(), kept.text(Pick::Updated).expect("small")), (0, map("a", "x: 2")));
    let merge = Merge::three_way(&old, &new, &none);
    let deleted_here = merge.run().expect("merged");
    assert_eq!((paths(&deleted_here).len(), deleted_here.text(Pick::Updated).expect("small").as_str()), (1, ""));
}

#[test]
fn decisions_are_made_one_after_the_other() {
    let [original, updated, dest] = ["x: 1, y: 1", "x: 2, y: 2", "x: 3, y: 3"].map(|data| text(map("a", data)));
    let merge = Merge::three_way(&original, &updated, &dest);
    let merged = merge.run().expect("merged");
    assert_eq!(paths(&merged), ["data.x", "data.y"]);
    let merged = merged.decide(|conflict| (conflict.path() == "data.x").then_some(Pick::Dest));
    assert_eq!(paths(&merged), ["data.y"]);
    assert_eq!(merged.text(Pick::Updated).expect("small"), map("a", "x: 3, y: 2"));
    assert_eq!(merged.text(Pick::Dest).expect("small"), map("a", "x: 3, y: 3"));
    let merged = merged.decide(|conflict| {
        let values = conflict.values(Reveal::Public);
        assert_eq!(values.iter().filter_map(|(_, json)| *json).collect::<Vec<_>>(), ["1", "2", "3"]);
        Some(Pick::Original)
    });
    assert_eq!(merged.text(Pick::Updated).expect("small"), map("a", "x: 3, y: 1"));
}

/// A conflict of fields that do not go together has others in it, which the engine asks for only if it needs them.
#[test]
fn a_decision_is_for_the_conflict_that_it_names() {
    let of = |fields: &str, k: u8| {
        let budget =
            format!("apiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {{name: a}}\nspec: {{{fields}}}\n");
        text([budget, map("b", &format!("k: {k}"))].join("---\n"))
    };
    let original = of("unhealthyPodEvictionPolicy: A", 1);
    let updated = of("minAvailable: 1, unhealthyPodEvictionPolicy: B", 2);
    let dest = of("maxUnavailable: 1, unhealthyPodEvictionPolicy: C", 3);
    let merged = Merge::three_way(&original, &updated, &dest).run().expect("merged");
    assert_eq!(paths(&merged), ["spec", "spec.unhealthyPodEvictionPolicy", "data.k"]);
    let inner = "spec.unhealthyPodEvictionPolicy";
    let decided = merged.decide(|conflict| (conflict.path() == inner).then_some(Pick::Updated));
    assert!(decided.text(Pick::Dest).expect("small").contains("k: 3"));
}

#[test]
fn what_a_package_may_not_have_is_an_error() {
    let (none, outside) = (package([]), package([("../x.txt", "plain".to_owned())]));
    let error =
        Merge::three_way(&none, &outside, &none).run().expect("merged").write(Pick::Updated).expect_err("outside");
    assert!(matches!(&error, Error::Misplaced { path, .. } if path == "../x.txt"), "{error}");
    let map = text(map("a", "x: 1"));
    let other = "apiVersion: krm-merge.dev/v1alpha1\nkind: Merge\nspec:\n  mode: TwoWay\n";
    let error = Merge::three_way(&map, &map, &map).config(other).expect_err("another mode").to_string();
    assert_eq!(error, "functionConfig:4:9: `mode` must be `ThreeWay`, as the merge is, not \"TwoWay\"");
}

#[test]
fn documents_without_a_name_are_compared_too() {
    for (one, other, want) in [("a: 1", "a: 2", 1), ("- a", "- b", 1), ("a: 1", "", 1), ("a: 1 # why", "{\"a\": 1}", 0)]
    {
        let found = text(one).differences(&text(other)).expect("YAML");
        assert_eq!(found.len(), want, "{one} {other} {found:?}");
    }
    let values = |of: &str| package([("values.yaml", of.to_owned()), ("README.md", "# a\n".to_owned())]);
    assert_eq!(values("a: 1 # why\n").differences(&values("a: 1\n")).expect("YAML"), []);
    assert_eq!(values("a: 1\n").differences(&values("a: 2\n")).expect("YAML").len(), 1);
}

#[test]
fn a_null_of_dest_wins_where_nobody_decided() {
    let [original, updated, dest] = ["x: 1", "x: 2", "x: null"].map(|data| text(map("a", data)));
    let merge = Merge::three_way(&original, &updated, &dest);
    let merged = merge.run().expect("merged");
    assert_eq!(paths(&merged), ["data.x"]);
    assert_eq!(merged.text(Pick::Updated).expect("small"), map("a", "x: null"));
    assert_eq!(merged.decide(|_| Some(Pick::Updated)).text(Pick::Updated).expect("small"), map("a", "x: 2"));
}

#[test]
fn a_document_without_a_name_is_text_in_a_three_way_merge_and_else_an_error() {
    let unnamed = |x: u8| format!("kind: Anything\nx: {x}\n");
    let both = |x: u8, data: &str| [unnamed(x), map("a", data)].join("---\n");
    let file = |text: String| package([("f.yaml", text)]);
    let [original, updated, dest] = [both(1, "x: 1"), both(2, "x: 2"), both(3, "x: 1")].map(file);
    let want = files([("f.yaml", both(3, "x: 2"))]);
    for merge in [Merge::two_way(&updated, &dest), Merge::strategic(&updated, &dest)] {
        let error = merge.run().expect_err("no name").to_string();
        assert!(error.starts_with("source/f.yaml:1:1: the resource must have `apiVersion` to be merged"), "{error}");
    }
    // Versions of the file are texts, so its lines merge.
    let merged = Merge::three_way(&original, &updated, &dest).run().expect("merged");
    assert_eq!(paths(&merged).len(), 1);
    assert_eq!(merged.files(Pick::Dest).expect("small"), want);
    assert_eq!(merged.files(Pick::Updated).expect("small"), files([("f.yaml", both(2, "x: 2"))]));
    // A file that dest left alone becomes updated's, whatever is in it.
    let merged = Merge::three_way(&original, &updated, &original).run().expect("merged");
    assert_eq!(merged.files(Pick::Updated).expect("small"), files([("f.yaml", both(2, "x: 2"))]));
    // In a text alone, a user meant each document as a resource.
    let [original, updated, dest] = [both(1, "x: 1"), both(2, "x: 2"), both(3, "x: 1")].map(text);
    let error = Merge::three_way(&original, &updated, &dest).run().expect_err("no name").to_string();
    assert_eq!(error, "original:1:1: the resource must have `apiVersion` to be merged");
}

#[test]
fn a_file_that_holds_something_else_on_a_side_merges_as_text() {
    let config = |lines: &str| format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: a}}\ndata:\n{lines}");
    let twice = |value: u8| format!("{0}---\n{0}", map("a", &format!("x: {value}")));
    let unnamed = |value: u8, own: &str| {
        format!("apiVersion: v1\nkind: Pod\nmetadata: {{generateName: a}}\nx: {value}\n# 1\n# 2\n{own}")
    };
    for (original, updated, dest, want) in [
        // A template comes in a resource's place.
        (
            config("  x: 1\n  y: 1\n  z: 1\n"),
            config("{{- if .Values.x }}\n  x: 1\n{{- end }}\n  y: 1\n  z: 1\n"),
            config("  x: 1\n  y: 1\n  z: 1\n  own: 1\n"),
            config("{{- if .Values.x }}\n  x: 1\n{{- end }}\n  y: 1\n  z: 1\n  own: 1\n"),
        ),
        // A key is there twice.
        (
            config("  x: 1\n  x: 2\n  y: 1\n  z: 1\n"),
            config("  x: 1\n  x: 2\n  y: 2\n  z: 1\n"),
            config("  x: 1\n  x: 2\n  y: 1\n  z: 1\n  own: 1\n"),
            config("  x: 1\n  x: 2\n  y: 2\n  z: 1\n  own: 1\n"),
        ),
        // A resource is there twice, on one side.
        (map("a", "x: 1"), twice(1), map("a", "x: 1"), twice(1)),
        // No side says which resource of another side it is.
        (unnamed(1, ""), unnamed(2, ""), unnamed(1, "own: 1\n"), unnamed(2, "own: 1\n")),
    ] {
        let other = || ("b.yaml", map("b", "x: 1"));
        let [original, updated, dest] = [original, updated, dest].map(|text| package([("f.yaml", text), other()]));
        let merged = Merge::three_way(&original, &updated, &dest).run().expect("merged");
        assert_eq!(merged.files(Pick::Dest).expect("small"), files([("f.yaml", want), other()]));
    }
    let broken = |text: &str| package([("f.yaml", text.to_owned()), ("b.yaml", map("b", "x: 1"))]);
    let merged = Merge::three_way(&broken("a: ["), &broken("a: [1"), &broken("a: [")).run().expect("merged");
    assert_eq!(merged.files(Pick::Dest).expect("small")["f.yaml"], "a: [1");
    let told: Vec<String> = events(&merged).iter().map(words::line).collect();
    assert!(
        told.iter().any(|line| line.contains("1 file is not valid YAML and is treated as a plain file")),
        "{told:?}"
    );
}

#[test]
fn a_resource_moves_to_no_file_of_dest_that_holds_something_else() {
    let (original, updated) = (package([("a.yaml", map("a", "x: 1"))]), package([("b.yaml", map("a", "x: 2"))]));
    let moved = |there: &str| {
        let dest = package([("a.yaml", map("a", "x: 1")), ("b.yaml", there.to_owned())]);
        let merged = Merge::three_way(&original, &updated, &dest).run().expect("merged");
        (merged.files(Pick::Updated).expect("small"), events(&merged))
    };
    let (left, told) = moved("own: 1\n");
    assert_eq!(left, files([("a.yaml", map("a", "x: 2")), ("b.yaml", "own: 1\n".to_owned())]));
    let (here, to) = ("a.yaml".to_owned(), "b.yaml".to_owned());
    assert_eq!(told[0].what, What::StaysAt { here, to, why: InTheWay::Other });
    // Comments are not in the way, and stay.
    assert_eq!(moved("# own\n").0, files([("b.yaml", format!("# own\n---\n{}", map("a", "x: 2")))]));
}

#[test]
fn a_key_twice_is_an_error_of_the_text_that_has_it() {
    let [once, other, twice] = ["x: 1", "x: 2", "x: 1, x: 3"].map(|data| text(map("a", data)));
    let error =
        |original, updated, dest| Merge::three_way(original, updated, dest).run().expect_err("twice").to_string();
    assert!(error(&twice, &other, &once).starts_with("original:4:14: "), "{}", error(&twice, &other, &once));
    assert!(error(&once, &twice, &other).starts_with("updated:4:14: "), "{}", error(&once, &twice, &other));
    // Where upstream changed nothing, dest stays as it is.
    for [original, dest] in [[&twice, &other], [&once, &twice]] {
        let merged = Merge::three_way(original, original, dest).run().expect("merged");
        assert_eq!(merged.write(Pick::Updated).expect("small"), []);
    }
}

#[test]
fn the_items_of_a_list_are_resources() {
    let list = |items: &str| format!("apiVersion: v1\nkind: List\nitems:\n{items}");
    let item = |name: &str, x: u8| {
        format!("- apiVersion: v1\n  kind: ConfigMap\n  metadata: {{name: {name}}}\n  data: {{x: '{x}'}}\n")
    };
    let [original, updated, dest, want] = [
        list(&(item("a", 1) + &item("b", 1))),
        list(&(item("a", 2) + &item("n", 1))),
        list(&(item("own", 1) + &item("a", 1) + &item("b", 1))),
        list(&(item("own", 1) + &item("a", 2) + &item("n", 1))),
    ];
    let [original, updated, dest] = [original, updated, dest].map(text);
    let merged = Merge::three_way(&original, &updated, &dest).run().expect("merged").text(Pick::Updated);
    assert_eq!(merged.expect("small"), want);
    let source = text(map("b", "x: 3"));
    let merged = Merge::two_way(&source, &dest).run().expect("merged").text(Pick::Updated);
    assert!(merged.expect("small").contains("metadata: {name: b}\n  data: {x: 3}"));
}

#[test]
fn who_says_how_a_list_merges() {
    let site = |hosts: &str| {
        format!("apiVersion: example.com/v1\nkind: Site\nmetadata: {{name: a}}\nspec: {{hosts: [{hosts}]}}\n")
    };
    let definition = include_str!("site.yaml");
    let [original, updated, dest] =
        ["{host: a, x: 1}", "{host: a, x: 2}", "{host: b}, {host: a, x: 1, own: 1}"].map(site);
    let want = site("{host: b}, {host: a, x: 2, own: 1}");
    let [plain_original, plain_updated, plain_dest] = [&original, &updated, &dest].map(|own| text(own.as_str()));
    let merged = |merge: Merge| {
        let merged = merge.run().expect("merged");
        (paths(&merged), merged.files(Pick::Updated).expect("small"))
    };
    // So a list without keys is one value.
    let plain = || Merge::three_way(&plain_original, &plain_updated, &plain_dest).conflict_level(ConflictLevel::Value);
    assert_eq!(merged(plain()).0, ["spec.hosts"]);
    let rule = ListRule {
        api_version: "example.com/v1".into(),
        kind: "Site".into(),
        path: vec!["spec".into(), "hosts".into()],
        list: ListKind::Map(vec!["host".into()]),
    };
    assert_eq!(merged(plain().list_rules([rule])), (Vec::new(), files([("", want.clone())])));
    let schema = "{type: object, properties: {spec: {type: object, properties: {hosts: {type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [host], items: {type: object}}}}}, x-kubernetes-group-version-kind: [{group: example.com, version: v1, kind: Site}]}";
    let by_openapi = plain().openapi(&format!("{{definitions: {{site: {schema}}}}}")).expect("types");
    assert_eq!(merged(by_openapi), (Vec::new(), files([("", want.clone())])));
    let error = plain().openapi("{}").expect_err("no types").to_string();
    assert!(error.starts_with("openapi:1:1: an OpenAPI document must have `definitions`"), "{error}");
    // A definition of the package, whichever side has it.
    for has in 0..3 {
        let sides = [&original, &updated, &dest].map(|own| [("site.yaml", own.clone())]);
        let mut sides = sides.map(Vec::from);
        sides[has].push(("types.yaml", definition.to_owned()));
        let [original, updated, dest] = sides.map(package);
        let (conflicts, result) = merged(Merge::three_way(&original, &updated, &dest));
        assert_eq!((conflicts, &result["site.yaml"]), (Vec::new(), &want), "{has}");
    }
}

#[test]
fn notes_tell_of_comments_that_go_and_of_what_both_sides_changed() {
    let role = |verbs: &str| format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: a}}\ndata:\n{verbs}");
    let [original, updated, dest] =
        ["  x: '1'\n  y: '1'\n", "  y: '1'\n", "  x: '1' # mine\n  y: '1'\n"].map(|data| text(role(data)));
    let merge = Merge::three_way(&original, &updated, &dest);
    let merged = merge.run().expect("merged");
    let told: Vec<String> = events(&merged).iter().map(words::line).collect();
    let want = "warning: ConfigMap a: a comment that only dest has at `data.x` is lost, because the merge removes or replaces the text there: \"# mine\". Copy it if you still need it";
    assert!(told.iter().any(|line| line == want), "{told:?}");
}

#[test]
fn what_cannot_be_merged_is_an_error_with_its_place() {
    let error = Package::of_text("a: [").expect_err("no YAML");
    assert!(error.to_string().starts_with("1:4: "), "{error}");
    let twice = ["a", "a"].map(|path| (path.to_owned(), map("a", "")));
    assert_eq!(Package::of_files(twice).err(), Some(Error::Twice("a".to_owned())));
    let (dest, other) = (package([("a.yaml", map("a", "x: 1"))]), text(map("b", "x: 1")));
    let error = Merge::strategic(&other, &dest).run().err().map(|error| error.to_string());
    let want = "ConfigMap b: no resource matches the patch for `v1 ConfigMap b`. Did you mean `v1 ConfigMap a`, the only ConfigMap?";
    assert_eq!(error.as_deref(), Some(want));
    // A resource without a path gets one of its own.
    let merged = Merge::two_way(&other, &dest).run().expect("merged").files(Pick::Updated).expect("small");
    assert_eq!(merged["configmap_b.yaml"], map("b", "x: 1"));
    let limited = Merge::two_way(&other, &dest).limit(10);
    let error = limited.run().and_then(|merged| merged.files(Pick::Updated)).expect_err("too large");
    assert!(error.to_string().contains("`limit`"), "{error}");
    // New resources go to files where they may be.
    let at = |path: &str| package([(path, map("n", "x: 1"))]);
    let outside = at("../n.yaml");
    let error = Merge::two_way(&outside, &dest).run().expect("merged").write(Pick::Updated).expect_err("outside");
    assert!(matches!(&error, Error::Misplaced { path, .. } if path == "../n.yaml"), "{error}");
    let (taken, json) = (package([("n.yaml", "own: 1\n".to_owned())]), package([("n.yaml", "# own\n".to_owned())]));
    let new = at("n.yaml");
    let error = Merge::two_way(&new, &taken).run().expect("merged").write(Pick::Updated).expect_err("in the way");
    assert_eq!(error, Error::InTheWay { path: "n.yaml".to_owned() });
    let merged = Merge::two_way(&new, &json).run().expect("merged").files(Pick::Updated).expect("small");
    assert_eq!(merged, files([("n.yaml", format!("# own\n---\n{}", map("n", "x: 1")))]));
    let json = package([(
        "n.json",
        "{\"apiVersion\": \"v1\", \"kind\": \"A\", \"metadata\": {\"name\": \"a\"}}\n".to_owned(),
    )]);
    let new = at("n.json");
    let error = Merge::two_way(&new, &json).run().expect("merged").write(Pick::Updated).expect_err("JSON");
    assert_eq!(error, Error::Json("dest/n.json".to_owned()));
}
