//! Bad input, each kind with a message that a user can act on: exit 1, and what came in goes out where it can.

mod support;

use support::{fails, items, items_of, passes, resource_list, results, side};

const THING: &str = "apiVersion: example.com/v1\nkind: Thing\nmetadata:\n  name: a\nspec:\n  b: 1\n";

fn two_way(rest: &str) -> String {
    resource_list(&items(THING), &format!("mode: TwoWay\n{rest}"))
}

/// Checks that the run fails and its message holds every one of the parts.
fn says(stdin: &str, parts: &[&str]) {
    let stderr = fails(stdin);
    for part in parts {
        assert!(stderr.contains(part), "{part:?} is not in:\n{stderr}");
    }
    assert!(stderr.starts_with("error: "), "{stderr}");
}

#[test]
fn stdin_that_is_no_resource_list() {
    says("", &["stdin 1:1: stdin is empty, but must hold a ResourceList"]);
    says("# only a comment\n", &["is empty, but must hold a ResourceList"]);
    says("a: \"x\nb: 1\n", &["stdin 2:1: the text must be YAML", "the closing quote is missing", "  | b: 1\n  | ^"]);
    says("a:\n\tb: 1\n", &["not with tabs"]);
    says(
        "items:\n<<<<<<< ours\n- a: 1\n=======\n- a: 2\n>>>>>>> theirs\n",
        &["stdin 2:1: conflicts must be resolved before the next merge, by `resolve` of krm-merge or in an editor"],
    );
    says(
        "hello",
        &["stdin must hold a ResourceList, but it has no `kind: ResourceList`. To merge plain YAML, name the file"],
    );
    says("[]", &["it has no `kind: ResourceList`"]);
    says(
        "kind: Deployment\napiVersion: apps/v1\n",
        &["stdin 1:7: stdin must hold a ResourceList, but its kind is \"Deployment\""],
    );
    says(
        "kind: ResourceList\napiVersion: v1\n",
        &["stdin 2:13: `apiVersion` of a ResourceList must be `config.kubernetes.io/v1`,", "not \"v1\""],
    );
    let v1 = "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\n";
    says(&format!("{v1}items: {{}}\n"), &["stdin 3:8: `items` must be a list"]);
    says(&format!("{v1}items:\n- {{}}\n- x\n"), &["stdin 5:3: `items[1]` must be a map"]);
    says(&format!("{v1}items: []\n---\n{v1}"), &["stdin 5:1: stdin must hold one document"]);
    says(&format!("{v1}items: []\nitems: []\n"), &["stdin 4:1: the key `items` must be in a ResourceList only once"]);
    says(&"[".repeat(10_000), &["nested deeper than 200 levels"]);
    says(&format!("{v1}items: [&a {{x: *a}}]\n"), &["must not be inside of its own value"]);
    let bomb: String =
        (1..9).map(|i| format!("  b{i}: &b{i} [{}]\n", vec![format!("*b{}", i - 1); 10].join(", "))).collect();
    says(&format!("{v1}items:\n- b0: &b0 [x]\n{bomb}"), &["must not stand for more than"]);
}

#[test]
fn a_function_config_that_is_none_of_ours() {
    let v1 = "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems: []\n";
    says(v1, &["`functionConfig` must be given"]);
    says(&format!("{v1}functionConfig: 1\n"), &["`functionConfig` must be a map"]);
    let config = |api: &str, kind: &str| format!("{v1}functionConfig:\n  apiVersion: {api}\n  kind: {kind}\n");
    says(&config("v1", "Secret"), &["stdin 6:9: `functionConfig` must be of kind `Merge`", "not \"Secret\" of \"v1\""]);
    says(&config("v1", "Merge"), &["stdin 5:15:", "apiVersion `krm-merge.dev/v1alpha1`"]);
    says(&config("krm-merge.dev/v1alpha1", "Merge"), &["must have the field `spec`"]);
}

#[test]
fn errors_of_the_spec() {
    let spec = |text: &str| resource_list(&items(THING), text);
    says(&spec("newElements: Append\n"), &["`spec.mode` must be given: `TwoWay`, `ThreeWay` or `Strategic`"]);
    says(
        &spec("mode: twoway\n"),
        &["stdin 16:11:", "`spec.mode` must be `TwoWay`, `ThreeWay` or `Strategic`, not \"twoway\""],
    );
    says(
        &two_way("sources: []\n"),
        &["stdin 17:5: `spec` must not have the field \"sources\"; allowed: `mode`, `source`"],
    );
    says(&two_way("original: [{path: x}]\n"), &["`spec.original` must not be given: mode `TwoWay` has `source`"]);
    says(&two_way("source: []\n"), &["`spec.source` must hold at least one input"]);
    says(&two_way("source: {path: x}\n"), &["`spec.source` must be a list, not a map"]);
    says(
        &two_way("source: [{path: nowhere}]\n"),
        &["`spec.source[0].path` must select at least one item", "\"nowhere\", because no item names its file"],
    );
    says(&two_way("source: [{path: ../x}]\n"), &["must be a path in the package", "not \"../x\""]);
    says(&two_way("source: [{path: ./}]\n"), &["it names a file or a folder in the package"]);
    says(&two_way("source: [{}]\n"), &["must have exactly one of `resources`, `yaml`, `edits` and `path`, not none"]);
    says(&two_way("source: [{path: a, yaml: b}]\n"), &["not `yaml` and `path`"]);
    says(
        &two_way("source: [{yaml: 'a: 1', keep: true}]\n"),
        &["`spec.source[0].keep` must not be given without `path`"],
    );
    says(
        &two_way("source: [{path: a, keep: maybe}]\n"),
        &["`spec.source[0].keep` must be `true` or `false`, not \"maybe\""],
    );
    says(&two_way("source: [{resources: [1]}]\n"), &["`spec.source[0].resources` must hold maps only"]);
    says(&two_way("onConflict: Fail\n"), &["`spec.onConflict` must not be given: only mode `ThreeWay` has conflicts"]);
    says(&two_way("rules: [{take: Dest}]\n"), &["`spec.rules` must not be given: only mode `ThreeWay` has conflicts"]);
    let rules = |rules: &str| resource_list(&items(THING), &format!("mode: ThreeWay\nrules: {rules}\n"));
    says(&rules("[]"), &["`spec.rules` must hold at least one rule, or be left out"]);
    says(&rules("[{path: spec}]"), &["`spec.rules[0].take` must be given: `Dest`, `Updated`, `Newest` or `Fail`"]);
    says(
        &rules("[{take: Theirs}]"),
        &["`spec.rules[0].take` must be `Dest`, `Updated`, `Newest` or `Fail`, not \"Theirs\""],
    );
    says(
        &rules("[{path: 'a[', take: Fail}]"),
        &["`spec.rules[0].path` must be a path, as `spec.replicas`, not \"a[\": `[` must"],
    );
    says(&rules("[{target: {}, take: Fail}]"), &["`spec.rules[0].target` must have at least one field"]);
    says(&rules("[{target: {kind: '('}, take: Fail}]"), &["`spec.rules[0].target.kind` must be a regular expression"]);
    says(&two_way("conflictLevel: Line\n"), &["`spec.conflictLevel` must not be given: only mode `ThreeWay` has"]);
    says(&two_way("renames: Ignore\n"), &["`spec.renames` must not be given: only mode `ThreeWay` follows renames"]);
    says(&two_way("renames: No\n"), &["`spec.renames`", "\"No\"", "`Follow`", "`Ignore`"]);
    says(&two_way("conflictLevel: Word\n"), &["`spec.conflictLevel`", "\"Word\"", "`Line`", "`Value`"]);
    says(&two_way("newElements: First\n"), &["`spec.newElements` must be `Append` or `Prepend`, not \"First\""]);
    says(&two_way("inferMergeKeys: 1\n"), &["`spec.inferMergeKeys` must be `true` or `false`, not \"1\""]);
    let rule = |rest: &str| two_way(&format!("mergeKeys: [{{apiVersion: v1, kind: K, path: spec.l, {rest}}}]\n"));
    says(&rule("keys: []"), &["`spec.mergeKeys[0].keys` must name at least one field"]);
    says(&rule("keys: [a], set: true"), &["must have exactly one of `keys: […]`, `set: true` and `atomic: true`"]);
    says(&rule("set: false"), &["must have exactly one of"]);
    says(&two_way("mergeKeys: [{apiVersion: v1, kind: K, path: a..b, set: true}]\n"), &["not \"a..b\""]);
    for path in ["spec.l[0].m", "spec.l[name=x].m", "spec.l[name=a.b].m", "spec[l].m", "[0]"] {
        let rule = format!("{{apiVersion: v1, kind: K, path: '{path}', set: true}}");
        says(
            &two_way(&format!("mergeKeys: [{rule}]\n")),
            &[
                "stdin 17:",
                &format!(
                    "`spec.mergeKeys[0].path` must be field names joined by dots, as `spec.steps`, not \"{path}\""
                ),
                "a list on the way is passed through",
            ],
        );
    }
    says(
        &two_way("mergeKeys: [{kind: K, path: a, set: true}]\n"),
        &["`spec.mergeKeys[0]` must have the field `apiVersion`"],
    );
}

#[test]
fn a_rule_goes_through_the_lists_on_its_way_however_they_are_written() {
    for path in ["spec.l.m", "spec.l[].m", "spec.l[*].m", "spec.l[*].m[]"] {
        let thing = |m: &str| THING.replace("b: 1", &format!("l: [{{name: x, m: [{m}]}}]"));
        let rule = format!("mergeKeys: [{{apiVersion: example.com/v1, kind: Thing, path: '{path}', set: true}}]\n");
        let stdin = resource_list(&items(&thing("a")), &format!("mode: TwoWay\n{rule}{}", side("source", &thing("b"))));
        let output = passes(&stdin).stdout;
        assert!(output.contains("m: [a, b]"), "{output}");
        assert_eq!(results(&output), []);
    }
}

#[test]
fn errors_of_a_config_map() {
    let v1 = "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems: []\n";
    let data = |data: &str| format!("{v1}functionConfig:\n  apiVersion: v1\n  kind: ConfigMap\n  data: {data}\n");
    says(&data("{}"), &["`data.mode` must be given: `two-way`, `three-way` or `strategic`"]);
    says(&data("{mode: both}"), &["`data.mode` must be `two-way`, `three-way` or `strategic`, not \"both\""]);
    says(&data("{mode: two-way, path: x}"), &["`data` must not have the field \"path\"; allowed: `mode`, `source`"]);
    says(&data("{mode: two-way, updated: x}"), &["`data.updated` must not be given: mode `TwoWay` has `source`"]);
    says(&data("{mode: three-way, source: x}"), &["mode `ThreeWay` has `original` and `updated`"]);
    says(&data("{mode: two-way, source: x}"), &["`data.source` must select at least one item"]);
    says(&data("{mode: two-way, onConflict: Fail}"), &["`data.onConflict` must not be given"]);
    says(&data("{mode: two-way, conflictLevel: Line}"), &["`data.conflictLevel` must not be given"]);
    says(&data("{mode: two-way, renames: Follow}"), &["`data.renames` must not be given: only mode `three-way`"]);
    says(&data("{mode: three-way, renames: follow}"), &["`data.renames` must be", "\"follow\""]);
    says(&data("{mode: three-way, conflictLevel: line}"), &["`data.conflictLevel` must be", "\"line\""]);
    says(&data("{mode: two-way, newElements: x}"), &["`data.newElements` must be `Append` or `Prepend`, not \"x\""]);
    says(&data("{mode: two-way, inferMergeKeys: x}"), &["`data.inferMergeKeys` must be `true` or `false`"]);
    says(&data("{mode: [a]}"), &["`data.mode` must be a string"]);
}

#[test]
fn sources_that_cannot_be_merged() {
    let with = |yaml: &str| two_way(&side("source", yaml));
    let head = "apiVersion: example.com/v1\nkind: Thing\n";
    says(&with("a: 1\n"), &["`spec.source[0].yaml` must have `apiVersion` to be merged"]);
    says(&with("apiVersion: v1\n"), &["must have `kind`"]);
    says(&with(head), &["must have `metadata.name`"]);
    says(&with(&format!("{THING}---\n{head}")), &["`spec.source[0].yaml, document 2` must have `metadata.name`"]);
    says(&with("- a\n"), &["must hold resources, which are maps"]);
    says(
        &with("- {op: add, path: /spec/b, value: 1}\n"),
        &["`spec.source[0]` must have a `target` or `targets`, which select the resources to edit"],
    );
    says(&with("# nothing\n"), &["must hold at least one resource"]);
    says(&with("a: [\n"), &["`spec.source[0].yaml` 1:4: the text must be YAML"]);
    says(&with(&format!("{THING}  b: 2\n")), &["`spec.source[0].yaml` 7:3: the key `b` must be in a map only once"]);
    let container = |key: &str| with(&format!("{THING}  ? {key}\n  : 2\n"));
    says(&container("[1]"), &["`spec.source[0].yaml` 7:5: a key must be a scalar, not a map or list"]);
    says(&container("{a: 1}"), &["7:5: a key must be a scalar, not a map or list"]);
    says(
        &with(&format!("{THING}  c:\n    $patch: remove\n")),
        &["`$patch` must be `merge`, `replace` or `delete`, not \"remove\""],
    );
    let marked = |role: &str| {
        format!("{}- {}\n", items(THING), support::indent(&THING.replace("name: a", &format!("name: a\n  annotations:\n    config.kubernetes.io/merge-source: {role}\n    config.kubernetes.io/path: x/y.yaml")), 2).trim())
    };
    says(
        &resource_list(&marked("upstream"), "mode: TwoWay\n"),
        &["Thing a (x/y.yaml)", "must be `source` or `dest` in mode `TwoWay`, not \"upstream\""],
    );
    says(&resource_list(&marked("updated"), "mode: TwoWay\n"), &["not \"updated\""]);
    says(
        &resource_list(&marked("source"), &format!("mode: TwoWay\n{}", side("source", THING))),
        &["`items[1]` (x/y.yaml)", "must not have the annotation"],
    );
    says(
        &resource_list(&marked("source"), "mode: TwoWay\nsource: [{path: x}]\n"),
        &["`spec.source[0].path` selects it and its annotation"],
    );
    says(
        &resource_list(&marked("dest"), "mode: TwoWay\nsource: [{path: x}, {path: x/y.yaml}]\n"),
        &["`spec.source[0].path` and `spec.source[1].path` both select it"],
    );
}

/// A source that is an item, with this path annotation.
fn marked(annotation: &str, path: &str) -> String {
    let name = path.chars().filter(char::is_ascii_lowercase).collect::<String>();
    format!(
        "apiVersion: v1\nkind: Thing\nmetadata:\n  name: n{name}\n  annotations:\n    config.kubernetes.io/merge-source: source\n    {annotation}: {path:?}\n"
    )
}

#[test]
fn a_new_item_for_a_file_that_must_not_be_written() {
    let remedy = "; correct its path annotation, or remove it";
    for (path, fault) in [
        ("../x.yaml", "must lie within the package: relative to it, and without `..`"),
        ("a/../../x.yaml", "must lie within the package"),
        ("/etc/x.yaml", "must lie within the package"),
        ("C:/x.yaml", "must lie within the package"),
        ("a\\x.yaml", "must be names with one `/` between them and no `\\`, as `web/deployment.yaml`"),
        (".git/hooks/pre-commit", "must not lead into `.git`, however that is spelled, because git runs files there"),
        ("a/.GIT/config", "must not lead into `.git`"),
        ("git~1/config", "must not lead into `.git`"),
        (
            ".krmignore",
            "must not be `.krmignore` or `.krm-merge.yaml`, however that is spelled, because these files hold the rules of the package",
        ),
        ("a/.krm-merge-1-0.tmp", "must not be the name of a temporary file of krm-merge, which removes it"),
    ] {
        let path_told = format!("the path {path:?} of `items[1]`, which is new, {fault}");
        for annotation in ["internal.config.kubernetes.io/path", "config.kubernetes.io/path"] {
            let source = marked(annotation, path);
            let stdin = resource_list(&items(&format!("{THING}---\n{source}")), "mode: TwoWay\n");
            says(&stdin, &[&path_told, remedy]);
            let updated = source.replace("merge-source: source", "merge-source: updated");
            let original = side("original", "{apiVersion: v1, kind: Thing, metadata: {name: left}}\n");
            let stdin =
                resource_list(&items(&format!("{THING}---\n{updated}")), &format!("mode: ThreeWay\n{original}"));
            says(&stdin, &[&path_told, remedy]);
            let field = source.replace("    config.kubernetes.io/merge-source: source\n", "");
            says(&two_way(&side("source", &field)), &["of `spec.source[0].yaml`, which is new, ", fault, remedy]);
        }
    }
    // The folder of its role is no part of its path.
    let source = marked("config.kubernetes.io/path", "up/../../x.yaml");
    let source = source.replace("    config.kubernetes.io/merge-source: source\n", "");
    let stdin = resource_list(&items(&format!("{THING}---\n{source}")), "mode: TwoWay\nsource: [{path: up/}]\n");
    says(&stdin, &["(up/../../x.yaml): the path \"../../x.yaml\" of `items[1]`, which is new, must lie within"]);
}

#[test]
fn an_item_of_dest_has_any_path_and_keeps_it() {
    for path in ["../x.yaml", "/etc/x.yaml", ".git/config", ".krmignore"] {
        let source = marked("internal.config.kubernetes.io/path", path);
        let dest = source.replace("    config.kubernetes.io/merge-source: source\n", "");
        let here = resource_list(&items(&dest), "mode: TwoWay\n");
        assert_eq!(passes(&here).stdout, here);
        let other = dest.replace(path, "other.yaml");
        // Nor does it take that of what is merged into it.
        for (dest, source) in [(&dest, &other), (&other, &dest)] {
            let source = format!("{source}spec: {{a: 1}}\n");
            let stdin = resource_list(&items(dest), &format!("mode: TwoWay\n{}", side("source", &source)));
            let output = passes(&stdin).stdout;
            let want = resource_list(&items(&format!("{dest}spec: {{a: 1}}\n")), "");
            assert_eq!(items_of(&output), items_of(&want));
        }
    }
}

#[test]
fn a_dest_that_cannot_be_merged() {
    let twice = resource_list(
        &items(&format!("{THING}  b: 2\n")),
        &format!("mode: TwoWay\n{}", side("source", &THING.replace("b: 1", "c: 1"))),
    );
    says(&twice, &["stdin 10:5: the key `b` must be in a map only once if the map is merged"]);
    let two =
        resource_list(&items(&format!("{THING}---\n{THING}")), &format!("mode: TwoWay\n{}", side("source", THING)));
    says(&two, &["`example.com/v1 Thing a` must be one item", "`items[0]`, `items[1]`"]);
}

#[test]
fn anchors_and_aliases_that_a_merge_cannot_keep() {
    let with = |item: &str, more: &str, source: &str| {
        let items = format!("{}{more}", items(&format!("{}{item}", THING.replace("spec:\n  b: 1\n", ""))));
        let source = format!("{}{source}", THING.replace("spec:\n  b: 1\n", ""));
        resource_list(&items, &format!("mode: TwoWay\n{}", side("source", &source)))
    };
    let other = "- {apiVersion: v1, kind: O, metadata: {name: o}, d: *x}\n";
    says(&with("a: &x {b: 1}\n", other, "a: null\n"), &["the alias `*x` must be in the same item as its anchor"]);
    says(&with("a: &x {b: 1}\n", other, "a: {b: 2}\n"), &["the alias `*x` must be in the same item as its anchor"]);
    says(&with("a: {c: &x {b: 1}}\n", other, "a: 2\n"), &["the alias `*x` must be in the same item as its anchor"]);
    // Nothing inside of the anchored node changes.
    for source in ["a: {b: 1}\n", "c: 1\n", "a: {b: 1}\nc: 3\n"] {
        assert_eq!(passes(&with("a: &x {b: 1}\nc: 2\n", other, source)).stderr, [""; 0]);
    }
    // Nor where the alias's own place changes.
    let first = "{apiVersion: v1, kind: O, metadata: {name: o}, d: &x {b: 1}}\n";
    let source = format!("{}d: {{b: 2}}\n", THING.replace("spec:\n  b: 1\n", ""));
    let dest = format!("- {first}{}", items(&format!("{}d: *x\n", THING.replace("spec:\n  b: 1\n", ""))));
    let output = passes(&resource_list(&dest, &format!("mode: TwoWay\n{}", side("source", &source)))).stdout;
    assert!(output.contains("d: &x {b: 1}") && output.contains("d: {b: 2}\n"), "{output}");
}

#[test]
fn an_element_that_cannot_be_deleted_is_not_passed_over() {
    let stdin = two_way(&side("source", &THING.replace("b: 1", "l: [{x: y, $patch: delete}]")));
    says(&stdin, &["an element with `$patch: delete` must be in a list that merges by a key, which `spec.l` does not"]);
}

/// TwoWay knows `$patch` only. Any other directive would be merged as data.
#[test]
fn a_directive_that_only_strategic_reads_is_an_error_in_two_way() {
    for (spec, place, name) in [
        ("$retainKeys: [a]", "6:3", "$retainKeys"),
        ("a: {b: {$setElementOrder/c: [{name: x}]}}", "6:11", "$setElementOrder/c"),
        ("$deleteFromPrimitiveList/l: [x]", "6:3", "$deleteFromPrimitiveList/l"),
        // In lists of every kind, and in what dest lacks.
        ("l: [{name: x, $retainKeys: [name]}]", "6:17", "$retainKeys"),
        ("l: [{x: {$retainKeys: [name]}}]", "6:12", "$retainKeys"),
        ("a: &a {$retainKeys: [b]}\nl: [{x: *a}]", "6:10", "$retainKeys"),
        ("{\"l\": [[{\"$retainKeys\": []}]]}", "6:12", "$retainKeys"),
    ] {
        let source = THING.replace("  b: 1\n", &support::indent(&format!("{spec}\n"), 2));
        let want = format!(
            "{place}: a directive must be `$patch`, not \"{name}\", which only mode Strategic reads: use that mode, or remove it"
        );
        says(&two_way(&side("source", &source)), &[&want]);
    }
    for (spec, place) in [("$retainkeys: []", "6:3"), ("l: [{$Patch: delete}]", "6:8")] {
        let source = THING.replace("  b: 1\n", &support::indent(&format!("{spec}\n"), 2));
        says(&two_way(&side("source", &source)), &[place, ": a directive must be `$patch`, not \"$"]);
    }
}

#[test]
fn a_directive_in_a_list_without_keys_is_an_error_in_two_way() {
    for (list, said) in [
        ("[a, {$patch: merge}]", "merge"),
        ("[{$patch: merge}, {x: y}]", "merge"),
        ("[{x: y, $patch: merge}]", "merge"),
        ("[{x: y, $patch: replace}]", "replace"),
        ("[a, {$patch: delete}]", "delete"),
    ] {
        let stdin = two_way(&side("source", &THING.replace("b: 1", &format!("l: {list}"))));
        let want =
            format!("an element with `$patch: {said}` must be in a list that merges by a key, which `spec.l` does not");
        says(&stdin, &[&want]);
    }
    let of_ingress = |http: &str| {
        let head = "apiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata:\n  name: i\nspec:\n  rules:\n";
        let dest =
            format!("{head}  - host: a\n    http:\n      paths:\n      - path: /\n      - path: /b\n  - host: b\n");
        let source = format!("{head}  - host: a\n    http: {http}\n");
        resource_list(&items(&dest), &format!("mode: TwoWay\n{}", side("source", &source)))
    };
    for (http, place) in [
        ("{paths: [{path: /b, $patch: delete}]}", "spec.rules[0].http.paths[0]"),
        ("{paths: [{$patch: replace}]}", "spec.rules[0].http.paths[0]"),
        ("{$patch: delete}", "spec.rules[0].http"),
    ] {
        says(
            &of_ingress(http),
            &[&format!("in `{place}` must not be below a list that has no merge key: `spec.rules`")],
        );
    }
    passes(&of_ingress("{paths: []}"));
    // After a first run, dest has the list that the patch asks for, and loses nothing.
    let stdin = two_way(&side("source", &THING.replace("b: 1", "b: 1\n  l: [{x: {$patch: replace, y: 1}}]")));
    let once = passes(&stdin);
    assert!(once.stdout.contains("y: 1"), "{}", once.stdout);
    passes(&once.stdout);
    // Nothing is there to delete, so nothing shows what the list is.
    passes(&two_way(&side("source", &THING.replace("b: 1", "l: [{$patch: delete}]"))));
}

const POD: &str = "apiVersion: v1
kind: Pod
metadata:
  name: web
  finalizers: [a, b]
spec:
  containers:
  - name: app
    image: app:1
    args: [run]
  tolerations:
  - key: a
";

/// A patch of the pod, whose `spec` is this.
fn strategic(spec: &str) -> String {
    let patch = format!("apiVersion: v1\nkind: Pod\nmetadata:\n  name: web\nspec:\n{}", support::indent(spec, 2));
    resource_list(&items(POD), &format!("mode: Strategic\n{}", side("source", &patch)))
}

#[test]
fn errors_of_directives_name_the_place() {
    for (spec, want) in [
        ("$patch: remove\n", "6:11: `$patch` must be `merge`, `replace` or `delete`, not \"remove\""),
        ("containers:\n- name: app\n  $patch: [x]\n", "8:13: `$patch` must be"),
        (
            "containers:\n- image: app:2\n",
            "7:3: `spec.containers` must be a list that can be merged, but in the patch element [0] has no merge key `name`",
        ),
        ("containers:\n- $patch: delete\n", "but in the patch element [0] has no merge key `name`"),
        ("containers: [app]\n", "element [0] has no merge key `name`"),
        (
            "containers:\n- $patch: merge\n- $patch: replace\n",
            "8:5: `spec.containers` must have one `$patch` of its own, not two that differ",
        ),
        (
            "tolerations:\n- key: a\n  $patch: delete\n",
            "7:5: an element with `$patch: delete` must be in a list that merges by a key, which `spec.tolerations` does not",
        ),
        ("tolerations:\n- $patch: delete\n", "which `spec.tolerations` does not"),
        (
            "tolerations:\n- key: b\n- $patch: merge\n",
            "8:5: an element with `$patch: merge` must be in a list that merges by a key, which `spec.tolerations` does not: only `- $patch: replace` may stand in it",
        ),
        ("tolerations: [{key: b, $patch: merge}]\n", "6:17: an element with `$patch: merge` must be in a list"),
        ("containers:\n- name: app\n  args: [{$patch: merge}, x]\n", "which `spec.containers[name=app].args` does not"),
        // Dest would lose all its tolerations, and not only what is named.
        (
            "tolerations:\n- key: a\n  below:\n    deep:\n    - $patch: replace\n",
            "10:9: `$patch: replace` in `spec.tolerations[0].below.deep[0]` must not be below a list that has no merge key: `spec.tolerations` is replaced whole, so name all its elements, without directives",
        ),
        (
            "tolerations: [{key: b, $retainKeys: [key]}]\n",
            "6:26: `$retainKeys` in `spec.tolerations[0]` must not be below",
        ),
        ("tolerations: [{l: [], $setElementOrder/l: []}]\n", "`$setElementOrder/l` in `spec.tolerations[0]` must not"),
        ("$retainKeys: name\n", "6:16: `$retainKeys` must be a list, not \"name\""),
        ("$retainKeys: [[a]]\n", "`$retainKeys` must hold names of fields only"),
        (
            "$retainKeys: [containers]\nhostname: x\n",
            "7:3: `$retainKeys` must name every field of its map, `hostname`, too",
        ),
        ("$setElementOrder/containers: app\n", "`$setElementOrder/containers` must be a list, not \"app\""),
        (
            "$setElementOrder/containers: [app]\n",
            "6:33: an element of the `$setElementOrder` of `spec.containers` must have the merge key `name`",
        ),
        ("$setElementOrder/tolerations: [{key: a}]\n", "must belong to a list that merges by a key"),
        (
            "$setElementOrder/containers: [{name: app}]\ncontainers:\n- name: new\n",
            "8:5: `spec.containers[name=new]` must stand in the `$setElementOrder` of its list as well",
        ),
        (
            "$setElementOrder/containers: [{name: app}, {name: new}]\ncontainers:\n- name: new\n- name: app\n",
            "9:5: `spec.containers[name=app]` must stand in the `$setElementOrder` of its list in the same order",
        ),
        (
            "$setElementOrder/hostname: [a]\nhostname: x\n",
            "`spec.hostname` must be a list, because a directive names it as a list",
        ),
        ("$deleteFromPrimitiveList/containers: [app]\n", "must speak of a list of scalars, not of `spec.containers`"),
        ("$deleteFromPrimitiveList/args: x\n", "`$deleteFromPrimitiveList/args` must be a list, not \"x\""),
        ("$deleteFromPrimitiveList/args: [{a: b}]\n", "must hold scalars only"),
        (
            "containers:\n- name: app\n  args: [a]\n  $setElementOrder/args: [b]\n",
            "`spec.containers[name=app].args[=a]` must stand in the `$setElementOrder`",
        ),
        ("a: 1\na: 2\n", "7:3: the key `a` must be in a map only once"),
        (
            "containers: null\n$setElementOrder/containers: []\n",
            "`spec.containers` must be a list, because a directive",
        ),
        (
            "$setElementorder/containers: []\n",
            "6:3: a directive must be `$patch`, `$retainKeys`, `$setElementOrder/…` or `$deleteFromPrimitiveList/…`, not \"$setElementorder/containers\"",
        ),
        ("$retainkeys: []\n", "not \"$retainkeys\""),
    ] {
        says(&strategic(spec), &["error: Pod web: `spec.source[0].yaml` ", want]);
    }
}

#[test]
fn a_keyed_list_of_dest_without_a_key_is_an_error_in_strategic() {
    let stdin = strategic("containers:\n- name: app\n").replacen("  - name: app", "  - image: x", 1);
    says(
        &stdin,
        &["`spec.containers` must be a list that can be merged, but in dest element [0] has no merge key `name`"],
    );
}

#[test]
fn a_patch_that_hits_nothing_is_an_error() {
    let patch = |yaml: &str| resource_list(&items(POD), &format!("mode: Strategic\n{}", side("source", yaml)));
    let other = POD.replace("name: web", "name: web\n  namespace: prod");
    says(
        &patch(&other),
        &[
            "Pod prod/web: no resource matches the patch for `v1 Pod prod/web`. Did you mean `v1 Pod web`, which has another namespace?",
        ],
    );
    says(
        &patch(&POD.replace("name: web", "name: x")),
        &["no resource matches the patch for `v1 Pod x`. Did you mean `v1 Pod web`, the only Pod?"],
    );
    let two = format!("{}---\n{}", POD.replace("name: web", "name: x"), POD.replace("name: web", "name: y"));
    says(
        &patch(&two),
        &["no resource matches the patch for `v1 Pod x`", "no resource matches the patch for `v1 Pod y`"],
    );
    says(
        &resource_list(&items(POD), "mode: Strategic\n"),
        &["`spec.source` must be given, or items must have the annotation `config.kubernetes.io/merge-source: source`"],
    );
}

/// What a further key would say cannot be guessed where several elements have the first one.
#[test]
fn an_element_that_fits_several_is_an_error() {
    let dest = POD.replace("  tolerations:\n  - key: a\n", "  topologySpreadConstraints:\n  - {topologyKey: z, whenUnsatisfiable: DoNotSchedule}\n  - {topologyKey: z, whenUnsatisfiable: ScheduleAnyway}\n");
    let patch = "apiVersion: v1\nkind: Pod\nmetadata: {name: web}\nspec:\n  topologySpreadConstraints:\n  - {topologyKey: z, $patch: delete}\n";
    says(
        &resource_list(&items(&dest), &format!("mode: Strategic\n{}", side("source", patch))),
        &[
            "6:5: an element of `spec.topologySpreadConstraints` must have its merge key `whenUnsatisfiable`, because several of dest have the others",
        ],
    );
}

#[test]
fn errors_of_a_target() {
    let target = |target: &str| {
        resource_list(&items(POD), &format!("mode: Strategic\nsource: [{{yaml: 'spec: {{}}', target: {target}}}]\n"))
    };
    says(
        &target("{kind: Deployment, name: web-.*}"),
        &[
            "`spec.source[0].target`: no resource matches `kind: Deployment`, `name: web-.*`. A pattern must match the whole value",
        ],
    );
    says(&target("[]"), &["`spec.source[0].target` must be a map, not a list"]);
    says(&target("{}"), &["`spec.source[0].target` must have at least one field"]);
    says(&target("{kinds: Pod}"), &["`spec.source[0].target` must not have the field \"kinds\"; allowed: `group`"]);
    says(&target("{name: 'web-['}"), &["`spec.source[0].target.name` must be a regular expression, not \"web-[\""]);
    says(
        &target("{labelSelector: 'a in b'}"),
        &["`spec.source[0].target.labelSelector` must be a selector", "not \"a in b\": `(` must follow"],
    );
    says(
        &target("{path: 'a['}"),
        &["`spec.source[0].target.path` must be a path, as `charts/*/Chart.yaml`, not \"a[\": a `[` must have its `]`"],
    );
    says(&target("{annotationSelector: '=x'}"), &["`spec.source[0].target.annotationSelector` must be a selector"]);
    for empty in ["''", "' '"] {
        let why = "must be a selector, as `app=web,tier in (a, b)`, not \"";
        says(
            &target(&format!("{{kind: Pod, labelSelector: {empty}}}")),
            &[why, "it is empty, and would select everything"],
        );
    }
    let of =
        |aim: &str| resource_list(&items(POD), &format!("mode: TwoWay\nsource: [{{yaml: 'spec: {{a: 1}}', {aim}}}]\n"));
    says(&of("targets: []"), &["`spec.source[0].targets` must hold at least one target, or be left out"]);
    says(&of("targets: [{kind: Pod}, {}]"), &["`spec.source[0].targets[1]` must have at least one field"]);
    says(&of("targets: [{kind: A}, {kind: B}]"), &["no resource matches `kind: A`, or `kind: B`. A pattern"]);
    says(
        &of("target: {kind: Pod}, targets: [{kind: Pod}]"),
        &["`spec.source[0].targets` must not be given with `target`"],
    );
    says(
        &of("target: {kind: Pod}, exclude: [{name: web}]"),
        &["no resource matches `kind: Pod` without being excluded"],
    );
    says(&of("exclude: [{kind: Pod}]"), &["`spec.source[0].exclude` must not be given without `target` or `targets`"]);
    says(&of("target: {kind: Pod}, into: a"), &["`spec.source[0].into` must not be given with a target"]);
    says(&of("into: ../a"), &["`spec.source[0].into` must be a path in the package"]);
    let three_way = "mode: ThreeWay\noriginal: [{yaml: 'a: 1', target: {kind: Pod}}]\nupdated: [{yaml: 'a: 1'}]\n";
    says(
        &resource_list(&items(POD), three_way),
        &["`spec.original[0].target` must not be given: only a source has it"],
    );
}

/// What a target selects gets all of each source. So the sources must be of one kind, and say more than names.
#[test]
fn sources_that_no_target_can_take() {
    let of = |yaml: &str| {
        let spec = format!("mode: TwoWay\nsource:\n- target: {{kind: Pod}}\n  yaml: '{yaml}'\n");
        resource_list(&items(POD), &spec)
    };
    let kinds = "[{kind: A, metadata: {name: a}}, {kind: A}, {kind: B, metadata: {name: b}}]";
    let kinds = of(&format!("{{apiVersion: v1, kind: List, items: {kinds}}}"));
    says(&kinds, &["`spec.source[0].target` must be for sources of one kind", "A a of", "B b of", "by `into`"]);
    for nothing in ["metadata: {namespace: prod}", "{apiVersion: v1, kind: Pod, metadata: {name: a}}", "kind: Pod"] {
        let why =
            "`spec.source[0].target` must be for a source that changes something, but `spec.source[0].yaml` holds";
        says(&of(nothing), &[why]);
    }
}

/// A source that comes to an item which is gone must not leave a piece of text in its place.
#[test]
fn an_item_that_one_source_deletes_takes_no_other() {
    let run = |indent: &str, first: &str, second: &str| {
        let list = support::indent(&items(POD), indent.len());
        resource_list(&list, &format!("mode: Strategic\nsource:\n{first}{second}"))
    };
    let by_name = |patch: &str| side("source", &format!("apiVersion: v1\nkind: Pod\nmetadata:\n  name: web\n{patch}"));
    let by_name = |patch: &str| by_name(patch).replace("source:\n", "");
    let by_target = |patch: &str| format!("- target: {{kind: Pod}}\n  yaml: '{patch}'\n");
    let refused =
        "error: Pod web: there is nothing to merge this source into, because an earlier source deleted its resource";
    says(&run("", &by_name("$patch: delete\n"), &by_name("spec: {hostname: x}\n")), &[refused]);
    says(&run("  ", &by_target("$patch: delete"), &by_name("spec: {hostname: x}\n")), &[refused]);
    for indent in ["", "  "] {
        // What a target selects is what is there.
        let none_left = "error: `spec.source[1].target` must select at least one resource, but there are no resources";
        says(&run(indent, &by_target("$patch: delete"), &by_target("aé: 1")), &[none_left]);
        let output = passes(&run(indent, &by_target("$patch: delete"), &by_target("$patch: delete")));
        assert_eq!(support::items_of(&output.stdout), "[]\n");
    }
}

#[test]
fn metadata_must_stay_for_it_says_where_an_item_lies() {
    for (mode, metadata, field) in [
        ("Strategic", "{name: web, $patch: delete}", "metadata"),
        ("TwoWay", "{name: web, $patch: delete}", "metadata"),
        ("Strategic", "{name: web, annotations: x}", "metadata.annotations"),
        ("TwoWay", "{name: web, annotations: [x]}", "metadata.annotations"),
    ] {
        let dest = POD.replace("name: web", "name: web\n  annotations: {config.kubernetes.io/path: pod.yaml}");
        let patch = format!("apiVersion: v1\nkind: Pod\nmetadata: {metadata}\n");
        let stdin = resource_list(&items(&dest), &format!("mode: {mode}\n{}", side("source", &patch)));
        says(&stdin, &[&format!("`{field}` must stay a map, because it tells what the resource is and in which file")]);
    }
}

#[test]
fn an_order_of_what_is_no_list_in_dest_is_an_error() {
    let stdin = strategic("$setElementOrder/containers: [{name: app}]\n");
    let list = "containers:\n    - name: app\n      image: app:1\n      args: [run]\n";
    assert!(stdin.contains(list));
    says(&stdin.replace(list, "containers: {a: b}\n"), &["`spec.containers` must be a list, because a directive"]);
}

#[test]
fn errors_of_openapi() {
    let openapi = |openapi: &str| resource_list(&items(POD), &format!("mode: TwoWay\nopenapi: {openapi}\n"));
    says(&openapi("[]"), &["`spec.openapi` must have `definitions`, a map from names to schemas"]);
    says(&openapi("{swagger: '2.0'}"), &["`spec.openapi` must have `definitions`"]);
    says(&openapi("{definitions: {a: {}}}"), &["must have a definition with `x-kubernetes-group-version-kind`"]);
}

/// What the merge does not touch may be as it likes: kpt passes such things on, too.
#[test]
fn odd_items_without_a_partner_pass_through() {
    for item in [
        "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: [a]\n",
        "a: 1\na: 2\n",
        "{}\n",
        "apiVersion: v1\nkind: Thing\nmetadata: []\n",
        "apiVersion: v1\nkind: Thing\nmetadata:\n  name: [x]\n  annotations: no\n",
    ] {
        let list = format!("{}{}", items(item), items(THING));
        let stdin = resource_list(&list, &format!("mode: TwoWay\n{}", side("source", THING)));
        assert_eq!(passes(&stdin).stdout, stdin);
    }
}

#[test]
fn on_an_error_the_items_go_out_as_they_came_with_the_reason_among_the_results() {
    let stdin = two_way(&side("source", &format!("{}---\nkind: x\n", THING.replace("b: 1", "b: 2"))));
    let output = krm_merge_function::run(&stdin);
    assert!(output.stdout.starts_with(&stdin));
    assert_eq!(
        results(&output.stdout),
        [("error".into(), "`spec.source[0].yaml, document 2` must have `apiVersion` to be merged, or a `target` that says which items it is for".into())]
    );
}

/// `.inf` and `.nan` are numbers of YAML alone.
#[test]
fn a_number_that_json_lacks() {
    let json =
        "{\"apiVersion\":\"example.com/v1\",\"kind\":\"Thing\",\"metadata\":{\"name\":\"a\"},\"spec\":{\"b\":1}}\n";
    let head = "apiVersion: example.com/v1\nkind: Thing\nmetadata:\n  name: a\nspec:\n";
    for (value, path) in [
        ("  b: .inf\n", "`spec.b` must be a number that JSON has, not \".inf\""),
        ("  c: -.Inf\n", "`spec.c` must be a number that JSON has, not \"-.Inf\""),
        ("  c: [1, {d: .nan}]\n", "`spec.c[1].d` must be a number that JSON has, not \".nan\""),
        ("  c: {d: &x .inf, e: *x}\n", "`spec.c.d` must be a number that JSON has"),
    ] {
        let source = side("source", &format!("{head}{value}"));
        for mode in ["TwoWay", "Strategic"] {
            let stdin = resource_list(&format!("- {json}"), &format!("mode: {mode}\n{source}"));
            // The item itself is YAML here.
            passes(&stdin.replace("{\"apiVersion\":", "{apiVersion: "));
            says(&stdin, &["resource a", path, "because the resource is written as JSON"]);
        }
        let original = side("original", &format!("{head}  b: 1\n"));
        let updated = side("updated", &format!("{head}{value}"));
        says(&resource_list(&format!("- {json}"), &format!("mode: ThreeWay\n{original}{updated}")), &[path]);
    }
    // A text is one in JSON, too, and what the merge leaves alone stays.
    let text = side("source", &format!("{head}  c: '.inf'\n"));
    assert!(
        passes(&resource_list(&format!("- {json}"), &format!("mode: TwoWay\n{text}")))
            .stdout
            .contains("\"c\":\".inf\"")
    );
    let there = json.replace("\"b\":1", "\"b\":.inf");
    let text = side("source", &format!("{head}  c: 1\n"));
    assert!(
        passes(&resource_list(&format!("- {there}"), &format!("mode: TwoWay\n{text}")))
            .stdout
            .contains("\"b\":.inf,\"c\":1")
    );
}

/// A base and its overlays have the same identities. Without a source, nobody said which of them is the base.
#[test]
fn items_of_one_identity_in_different_folders_need_a_source() {
    let at = |path: &str| {
        POD.replace("name: web", &format!("name: web\n  annotations: {{config.kubernetes.io/path: {path}}}"))
    };
    for (one, other, so) in [
        ("base/pod.yaml", "overlays/prod/pod.yaml", "Write `source: [{path: overlays/prod, into: base}]`"),
        ("pod.yaml", "overlay/pod.yaml", "Write `source: [{path: overlay}]`, or `source=overlay` in a ConfigMap"),
        ("overlay/pod.yaml", "pod.yaml", "Write `source: [{path: overlay}]`"),
    ] {
        let list = format!("{}{}", items(&at(one)), items(&at(other)));
        says(&resource_list(&list, "mode: TwoWay\n"), &["`source` must say", one, other, so]);
    }
    let list = format!("{}{}", items(&at("a/one.yaml")), items(&at("a/two.yaml")));
    let told = passes(&resource_list(&list, "mode: TwoWay\n")).stderr;
    assert_eq!(
        told,
        [
            "warning: Pod web (a/two.yaml): removed, because it was merged into `items[0]` (a/one.yaml), which has the same identity"
        ]
    );
}

/// A run that fails did nothing.
#[test]
fn a_run_that_fails_tells_nothing_as_done() {
    let spec = "mode: TwoWay\nsource:\n- {apiVersion: v1, kind: A, metadata: {name: new}}\n- {target: {kind: Pod}, yaml: '$patch: delete'}\n- {target: {kind: B}, yaml: 'a: 1'}\n";
    let output = krm_merge_function::run(&resource_list(&items(POD), spec));
    let told: Vec<String> = support::results(&output.stdout).into_iter().map(|result| result.1).collect();
    assert_eq!(
        told,
        [
            "`spec.source[2].target`: no resource matches `kind: B`. A pattern must match the whole value: for a part of it, write `.*web.*`"
        ]
    );
}

#[test]
fn errors_of_an_edit() {
    let of = |edits: &str| {
        resource_list(&items(POD), &format!("mode: TwoWay\nsource: [{{target: {{kind: Pod}}, edits: [{edits}]}}]\n"))
    };
    for (edit, want) in [
        ("", "`spec.source[0].edits` must hold at least one edit"),
        ("x", "`spec.source[0].edits[0]` must be a map, not \"x\""),
        ("{value: 1}", "`spec.source[0].edits[0]` must have exactly one of `set`, `append`, `delete` or `op`"),
        ("{set: a, delete: b, value: 1}", "must have exactly one of"),
        ("{set: a}", "`spec.source[0].edits[0]` must have a `value`"),
        ("{delete: a, value: 1}", "`spec.source[0].edits[0].value` must not be given here"),
        (
            "{set: 'a[', value: 1}",
            "`spec.source[0].edits[0].set` must be a path, as `spec.replicas`, not \"a[\": `[` must have",
        ),
        (
            "{op: move, path: /a}",
            "`spec.source[0].edits[0].op` must be `add`, `remove`, `replace` or `test`, not \"move\"",
        ),
        ("{op: add, path: a, value: 1}", "must be a path, as `/spec/replicas`, not \"a\": it must begin with `/`"),
        (
            "{set: spec.containers.image, value: x}",
            "it is a list in dest, which has no field `image`: name its elements, as `[*]`",
        ),
        ("{append: spec, value: x}", "it is a map in dest, and only a list gets elements"),
        ("{set: kind.x, value: x}", "it is a text in dest that is no YAML, no JSON and no lines of keys and values"),
        ("{op: replace, path: /spec/x, value: 1}", "`/spec/x` must be there, and it is not"),
        ("{op: test, path: /kind, value: Job}", "`kind` must have this value, or the patch is not for it"),
        (
            "{op: add, path: /spec/containers/9, value: {name: x}}",
            "it is a list of 1 in dest, so `9` is no place in it",
        ),
        ("{delete: metadata}", "`metadata` must stay a map"),
        (
            "{set: 'spec.containers[name=app].args[--x]', value: [a]}",
            "must be set to a scalar, or deleted, because it is a flag",
        ),
    ] {
        says(&of(edit), &[want]);
    }
    let no_target = resource_list(&items(POD), "mode: TwoWay\nsource: [{edits: [{set: a, value: 1}]}]\n");
    says(&no_target, &["`spec.source[0]` must have a `target` or `targets`"]);
    let patch = resource_list(&items(POD), "mode: TwoWay\nsource: [{yaml: '[{op: remove, path: /spec/x}]'}]\n");
    says(&patch, &["must have a `target` or `targets`, which select the resources to edit"]);
}
