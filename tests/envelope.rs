//! Whole ResourceLists: the envelope in all its forms, roles, and the annotations that belong to the host.

mod support;

use krm_yaml::Document;

use support::{items_of, passes, resource_list, results};

/// A ResourceList in the order in which kpt writes it, functionConfig last.
fn list(items: &str, config: &str) -> String {
    format!("apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n{items}functionConfig:\n{config}")
}

const CONFIG: &str = "  apiVersion: krm-merge.dev/v1alpha1
  kind: Merge
  spec:
    mode: TwoWay
    source:
    - resources:
      - {apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {k: new}}
";

const ITEM: &str = "- apiVersion: v1
  kind: ConfigMap
  metadata:
    name: a
  data:
    k: old # why
";

/// The text up to its results.
fn without_results(stdout: &str) -> String {
    stdout.split_inclusive('\n').take_while(|l| *l != "results:\n").collect()
}

/// What differs between two texts, as lines that went and lines that came.
fn diff(before: &str, after: &str) -> (String, String) {
    let (before, after): (Vec<&str>, Vec<&str>) =
        (before.split_inclusive('\n').collect(), after.split_inclusive('\n').collect());
    let prefix = before.iter().zip(&after).take_while(|(a, b)| a == b).count();
    let suffix = before[prefix..].iter().rev().zip(after[prefix..].iter().rev()).take_while(|(a, b)| a == b).count();
    (before[prefix..before.len() - suffix].concat(), after[prefix..after.len() - suffix].concat())
}

#[test]
fn every_version_and_any_order_of_keys_is_taken_and_kept() {
    for version in ["v1", "v1beta1", "v1alpha1"] {
        let config = format!("functionConfig:\n{CONFIG}");
        for stdin in [
            format!("apiVersion: config.kubernetes.io/{version}\nkind: ResourceList\nitems:\n{ITEM}{config}"),
            format!("{config}items:\n{ITEM}kind: ResourceList\napiVersion: config.kubernetes.io/{version}\n"),
            format!(
                "# first\nmetadata: {{name: x}}\nitems:\n{ITEM}unknown:\n- 1\nkind: ResourceList\n{config}# last\napiVersion: \"config.kubernetes.io/{version}\""
            ),
        ] {
            let output = passes(&stdin);
            assert_eq!(diff(&stdin, &output.stdout), ("    k: old # why\n".into(), "    k: new # why\n".into()));
        }
    }
}

#[test]
fn json_stays_json() {
    let stdin = r#"{"apiVersion":"config.kubernetes.io/v1","kind":"ResourceList","items":[{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"k":"old"}}],"functionConfig":{"apiVersion":"krm-merge.dev/v1alpha1","kind":"Merge","spec":{"mode":"TwoWay","source":[{"yaml":"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata:\n  k: new # c\n  l: |\n    two\n    lines\n  n: {o: [yes, 0x10, ~]}\n"}]}}}"#;
    let output = passes(stdin).stdout;
    assert_eq!(output, stdin.replace(r#""k":"old""#, r#""k":"new","l":"two\nlines\n","n":{"o":["yes",16,null]}"#));
    serde_json::from_str::<serde_json::Value>(&output).expect("JSON");

    let failing = stdin.replace("TwoWay", "NoWay");
    let output = krm_merge_function::run(&failing).stdout;
    let value: serde_json::Value = serde_json::from_str(&output).expect("JSON");
    assert_eq!(value["results"][0]["severity"], "error");
    assert!(output.starts_with(failing.strip_suffix('}').expect("an object")));
}

#[test]
fn pretty_json_keeps_its_lines() {
    let stdin = "{\n  \"apiVersion\": \"config.kubernetes.io/v1\",\n  \"kind\": \"ResourceList\",\n  \"items\": [\n    {\n      \"apiVersion\": \"v1\",\n      \"kind\": \"ConfigMap\",\n      \"metadata\": {\n        \"name\": \"a\"\n      },\n      \"data\": {\n        \"k\": \"old\"\n      }\n    }\n  ],\n  \"functionConfig\": {\"apiVersion\": \"v1\", \"kind\": \"ConfigMap\", \"data\": {\"mode\": \"two-way\", \"source\": \"apiVersion: v1\\nkind: ConfigMap\\nmetadata: {name: a}\\ndata: {l: x}\\n\"}}\n}\n";
    let output = passes(stdin).stdout;
    assert_eq!(
        diff(stdin, &output),
        ("        \"k\": \"old\"\n".into(), "        \"k\": \"old\",\n        \"l\": \"x\"\n".into())
    );
    serde_json::from_str::<serde_json::Value>(&output).expect("JSON");
}

#[test]
fn a_json_file_among_yaml_items_stays_json() {
    let json = "- {\"apiVersion\": \"v1\", \"kind\": \"ConfigMap\", \"metadata\": {\"name\": \"a\"}, \"data\": {\"k\": \"old\"}}\n";
    let stdin = list(json, CONFIG);
    assert_eq!(passes(&stdin).stdout, stdin.replace("\"old\"", "\"new\""));
}

#[test]
fn line_breaks_byte_order_mark_and_the_missing_end_of_the_text_are_kept() {
    let config = CONFIG.replace("{k: new}", "{k: new, l: more}");
    let crlf = list(ITEM, &config).replace('\n', "\r\n");
    let output = passes(&crlf).stdout;
    assert_eq!(output, crlf.replace("k: old # why\r\n", "k: new # why\r\n    l: more\r\n"));

    let bom = format!("\u{feff}{}", list(ITEM, CONFIG));
    assert_eq!(passes(&bom).stdout, bom.replace("k: old", "k: new"));

    let open = format!(
        "functionConfig:\n{CONFIG}apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n{}",
        ITEM.trim_end()
    );
    assert_eq!(passes(&open).stdout, open.replace("k: old", "k: new"));
    let added = open.replace("name: a}", "name: n}");
    let want = "- apiVersion: v1\n  kind: ConfigMap\n  metadata: {name: n}\n  data: {k: new}\n";
    let flow = "- {apiVersion: v1, kind: ConfigMap, metadata: {name: n}, data: {k: new}}\n";
    let output = without_results(&passes(&added).stdout);
    assert!(output == format!("{added}\n{want}") || output == format!("{added}\n{flow}"), "{output}");
}

#[test]
fn a_block_scalar_in_which_the_text_ends_keeps_its_value_or_goes() {
    let item =
        "apiVersion: v1\n  kind: ConfigMap\n  metadata:\n    name: a\n  data:\n    k:\n      script: |\n        old";
    let head = "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nfunctionConfig:\n";
    let with = |config: &str| passes(&format!("{head}{config}items:\n- {item}")).stdout;
    let run = |data: &str| with(&CONFIG.replace("{k: new}", data));
    // The field that comes, and the results, would give it a line break that it does not have.
    let stdout = run("{k: {more: 1}, l: [x]}");
    assert!(stdout.ends_with("    k:\n      script: |-\n        old\n      more: 1\n    l: [x]\n"), "{stdout}");
    // Another kind in its place is warned of: the results follow what is no longer there.
    let stdout = run("{k: new}");
    let (merged, told) = stdout.split_once("results:\n").expect("results");
    assert!(merged.ends_with("  data:\n    k: new\n") && told.contains("`data.k` is a map in dest"), "{stdout}");
    // What follows is another item.
    let stdout = with(&CONFIG.replace("name: a", "name: b"));
    assert!(stdout.contains("      script: |-\n        old\n- {apiVersion: v1, "), "{stdout}");
}

/// What goes from below an item is an edit of the list, and what the item becomes is one of its own.
#[test]
fn what_goes_from_below_an_item_leaves_the_end_of_its_text() {
    let item = |role: &str, name: &str, text: &str| {
        let role = format!("config.kubernetes.io/merge-source: {role}");
        format!(
            "- apiVersion: v1\n  kind: ConfigMap\n  metadata: {{name: {name}, annotations: {{{role}}}}}\n  data:\n    x: {text}\n"
        )
    };
    let kept = "|+\n      a\n";
    for (dest, updated, want) in [("a", kept, "x: |+\n      a\n\n- apiVersion"), (kept, "a", "x: a\n\n\n- apiVersion")]
    {
        let items = [
            item("dest", "a", dest) + if dest == "a" { "\n" } else { "" },
            item("dest", "b", "a") + "\n\n",
            item("dest", "c", "a"),
            item("original", "a", dest),
            item("original", "b", "a"),
            item("updated", "a", updated),
        ];
        let output = passes(&resource_list(&items.concat(), "mode: ThreeWay\n")).stdout;
        assert!(output.contains(want), "{output}");
    }
}

#[test]
fn results_below_a_new_list_of_items_leave_the_end_of_its_text() {
    let source = ITEM.replace("name: a", "name: a\n    annotations: {config.kubernetes.io/merge-source: source}");
    let stdin = format!(
        "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nfunctionConfig:\n  apiVersion: v1\n  kind: ConfigMap\n  data: {{mode: two-way}}\nitems:\n{}",
        source.replace("old # why\n", "|+")
    );
    assert!(passes(&stdin).stdout.contains("    k: |+\nresults:\n"), "{}", passes(&stdin).stdout);
}

#[test]
fn a_comment_that_has_no_place_is_told() {
    let item = |role: &str, comment: &str, first: &str| {
        format!(
            "- # {comment}\n{first}  apiVersion: v1\n  kind: ConfigMap\n  metadata: {{name: a, annotations: {{config.kubernetes.io/merge-source: {role}}}}}\n"
        )
    };
    let first = "  first: 1\n";
    let dest = item("dest", "old", first) + "  own: 1\n";
    let items = dest + &item("original", "old", first) + &item("updated", "new", "");
    let output = passes(&resource_list(&items, "mode: ThreeWay\n")).stdout;
    assert!(output.contains("- # old\n  apiVersion"), "{output}");
    let told = results(&output);
    assert!(
        told.iter().any(
            |(_, message)| message.ends_with("because dest does not have the field or changed its line: \"# new\"")
        ),
        "{told:?}"
    );
}

#[test]
fn results_that_are_there_stay_and_new_ones_follow() {
    let old = "results:\n- message: earlier\n  severity: info\n";
    let clash = CONFIG.replace("{k: new}", "{k: {x: y}}");
    let stdin = format!("{old}{}", list(ITEM, &clash));
    let output = passes(&stdin).stdout;
    let warning = "`data.k` is a scalar in dest, but a map in source; took source's";
    assert_eq!(results(&output), [("info".into(), "earlier".into()), ("warning".into(), warning.into())]);
    assert!(output.starts_with("results:\n- message: earlier\n  severity: info\n- message:"), "{output}");
    let empty = format!("results: []\n{}", list(ITEM, &clash));
    assert_eq!(results(&passes(&empty).stdout).len(), 1);
    let quiet = format!("{old}{}", list(ITEM, CONFIG));
    assert_eq!(passes(&quiet).stdout, quiet.replace("k: old", "k: new"));
}

#[test]
fn results_have_the_layout_of_the_list() {
    let clash = CONFIG.replace("{k: new}", "{k: {x: y}}");
    let want = |indent: &str| {
        format!(
            "results:\n{indent}- message: '`data.k` is a scalar in dest, but a map in source; took source''s'\n{indent}  severity: warning\n{indent}  resourceRef:\n{indent}    apiVersion: v1\n"
        )
    };
    let compact = passes(&list(ITEM, &clash)).stdout;
    assert!(compact.contains(&want("")), "{compact}");
    let item = ITEM.replace("\n  ", "\n    ");
    let wide = passes(&list(&format!("  {item}"), &clash)).stdout;
    assert!(wide.contains(&want("  ")), "{wide}");
    let crlf = passes(&list(ITEM, &clash).replace('\n', "\r\n")).stdout;
    assert_eq!(crlf, compact.replace('\n', "\r\n"));
}

#[test]
fn a_result_says_where_and_what() {
    let item = ITEM.replace("    name: a\n", "    name: a\n    namespace: prod\n    annotations:\n      internal.config.kubernetes.io/path: app/cm.yaml\n      internal.config.kubernetes.io/index: '2'\n");
    let config = CONFIG.replace("{name: a}", "{name: a, namespace: prod}").replace("{k: new}", "{k: {x: y}}");
    let output = passes(&list(&item, &config));
    let want = "results:
- message: '`data.k` is a scalar in dest, but a map in source; took source''s'
  severity: warning
  resourceRef:
    apiVersion: v1
    kind: ConfigMap
    namespace: prod
    name: a
  field:
    path: data.k
    currentValue: old
    proposedValue:
      x: y
  file:
    path: app/cm.yaml
    index: 2
";
    assert!(output.stdout.ends_with(want), "{}", output.stdout);
    assert_eq!(
        output.stderr,
        ["warning: ConfigMap prod/a (app/cm.yaml): `data.k` is a scalar in dest, but a map in source; took source's"]
    );
}

const HOST: &str = "      internal.config.kubernetes.io/index: '0'
      internal.config.kubernetes.io/path: 'FILE'
      internal.config.kubernetes.io/annotations-migration-resource-id: '3'
      config.kubernetes.io/index: '0'
      config.kubernetes.io/path: 'FILE'
      config.k8s.io/id: '7'
      internal.config.k8s.io/kpt-resource-id: x
";

fn carried(file: &str, more: &str, data: &str) -> String {
    let host = HOST.replace("FILE", file);
    format!(
        "- apiVersion: v1\n  kind: ConfigMap\n  metadata:\n    name: a\n    annotations:\n{host}{more}  data:\n    k: {data}\n"
    )
}

#[test]
fn the_annotations_of_the_host_stay_as_dest_has_them() {
    let dest = carried("cm.yaml", "      note: mine\n", "old");
    let source =
        carried("overlay/cm.yaml", "      note: theirs\n      config.kubernetes.io/merge-source: source\n", "new");
    let config = "  apiVersion: v1\n  kind: ConfigMap\n  data: {mode: two-way}\n";
    let output = passes(&list(&format!("{dest}{source}"), config)).stdout;
    assert_eq!(output, list(&carried("cm.yaml", "      note: theirs\n", "new"), config));

    for wipe in ["null", "{$patch: delete}", "{$patch: replace}", "{$patch: replace, note: mine}"] {
        let config = format!(
            "  apiVersion: krm-merge.dev/v1alpha1\n  kind: Merge\n  spec:\n    mode: TwoWay\n    source:\n    - resources:\n      - {{apiVersion: v1, kind: ConfigMap, metadata: {{name: a, annotations: {wipe}}}}}\n"
        );
        let output = passes(&list(&dest, &config)).stdout;
        let left = if wipe.contains("mine") { "      note: mine\n" } else { "" };
        assert_eq!(output, list(&carried("cm.yaml", left, "old"), &config), "{wipe}");
    }
}

#[test]
fn an_added_resource_has_its_path_and_no_other_mark_of_the_host() {
    let source = carried("overlay/prod/cm.yaml", "", "new");
    let bare = "- apiVersion: v1\n  kind: ConfigMap\n  metadata:\n    name: a\n    annotations:\n      internal.config.kubernetes.io/path: cm.yaml\n  data:\n    k: new\n";
    let config = |keep: &str| {
        format!(
            "  apiVersion: krm-merge.dev/v1alpha1\n  kind: Merge\n  spec:\n    mode: TwoWay\n    source:\n    - path: overlay/prod/\n{keep}"
        )
    };
    let output = without_results(&passes(&list(&source, &config(""))).stdout);
    assert_eq!(output, list(&format!("{source}{bare}"), &config("")), "the folder is part of the package, so it stays");
    let output = without_results(&passes(&list(&source, &config("      keep: false\n"))).stdout);
    assert_eq!(output, list(bare, &config("      keep: false\n")));

    let marked = carried("sub/cm.yaml", "      config.kubernetes.io/merge-source: patch\n", "new");
    let config = "  apiVersion: v1\n  kind: ConfigMap\n  data: {mode: two-way}\n";
    let output = without_results(&passes(&list(&marked, config)).stdout);
    assert_eq!(output, list(&bare.replace("cm.yaml", "sub/cm.yaml"), config));
}

#[test]
fn the_role_annotation_never_reaches_the_output() {
    let config = "  apiVersion: v1\n  kind: ConfigMap\n  data: {mode: two-way}\n";
    let item = |annotations: &str| {
        format!("- apiVersion: v1\n  kind: ConfigMap\n  metadata:\n    name: a\n{annotations}  data: {{}}\n")
    };
    let role = "      config.kubernetes.io/merge-source: dest\n";
    for (before, after) in [
        (format!("    annotations:\n{role}"), String::new()),
        (format!("    annotations: # all\n      a: b\n{role}"), "    annotations: # all\n      a: b\n".into()),
    ] {
        let output = passes(&list(&item(&before), config)).stdout;
        assert_eq!(output, list(&item(&after), config));
    }
    // Merged and stripped at once.
    let source = "- apiVersion: v1\n  kind: ConfigMap\n  metadata:\n    name: a\n    annotations:\n      config.kubernetes.io/merge-source: source\n      c: d\n  data: {}\n";
    let output = passes(&list(&format!("{}{source}", item(&format!("    annotations:\n{role}"))), config)).stdout;
    assert_eq!(output, list(&item("    annotations:\n      c: d\n"), config));
}

#[test]
fn a_comment_that_goes_with_the_role_is_told() {
    let config = "  apiVersion: v1\n  kind: ConfigMap\n  data: {mode: three-way}\n";
    let item = |name: &str, role: &str, value: &str| {
        format!(
            "- apiVersion: v1\n  kind: ConfigMap\n  metadata:\n    name: {name}\n    annotations:\n      a: b\n{role}  data:\n    k: {value}\n"
        )
    };
    let role = |role: &str| format!("      config.kubernetes.io/merge-source: {role}\n");
    let sides = [item("both", &role("original"), "1"), item("both", &role("updated"), "2")].concat();
    for (above, want) in [("", 0), ("      # mine\n", 1)] {
        let of_dest = format!("{above}{}", role("dest"));
        for dest in [item("both", &of_dest, "1"), item("only", &of_dest, "1")] {
            let others = if dest.contains("only") { item("both", &role("dest"), "1") } else { String::new() };
            let told = results(&passes(&list(&format!("{sides}{others}{dest}"), config)).stdout);
            let lost = told.iter().filter(|(_, message)| message.contains("a comment that only dest has"));
            assert_eq!(lost.count(), want, "{told:?}");
        }
    }
}

#[test]
fn of_two_items_with_one_identity_the_one_at_the_same_path_is_meant() {
    let config = "  apiVersion: krm-merge.dev/v1alpha1\n  kind: Merge\n  spec:\n    mode: TwoWay\n    source:\n    - path: overlay\n      keep: false\n";
    let stdin = list(
        &format!("{}{}{}", carried("a.yaml", "", "1"), carried("b.yaml", "", "2"), carried("overlay/b.yaml", "", "3")),
        config,
    );
    assert_eq!(
        passes(&stdin).stdout,
        list(&format!("{}{}", carried("a.yaml", "", "1"), carried("b.yaml", "", "3")), config)
    );
}

#[test]
fn an_empty_list_takes_what_is_added_and_an_emptied_one_stays() {
    let stdin =
        format!("apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems: []\nfunctionConfig:\n{CONFIG}");
    let output = passes(&stdin).stdout;
    assert!(
        output.contains(
            "items:\n- {apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {k: new}}\nfunctionConfig:"
        ),
        "{output}"
    );
    let wipe = CONFIG.replace("data: {k: new}", "$patch: delete");
    let output = passes(&list(ITEM, &wipe)).stdout;
    assert!(output.contains("items: []\nfunctionConfig:"), "{output}");
}

#[test]
fn what_kpt_sends_by_default_is_a_clear_error() {
    let stdin = list(ITEM, "  apiVersion: v1\n  kind: ConfigMap\n  metadata:\n    name: function-input\n  data: {}\n");
    let output = krm_merge_function::run(&stdin);
    assert!(output.stdout.starts_with(&stdin));
    assert!(output.stderr[0].contains("`data.mode` must be given"), "{:?}", output.stderr);
}

#[test]
fn a_source_that_misses_its_item_by_a_namespace_is_told() {
    let item = ITEM.replace("    name: a\n", "    name: a\n    namespace: shop\n");
    let output = passes(&list(&item, CONFIG)).stdout;
    let message = "added as a new resource, because the package has no `v1 ConfigMap a`. Did you mean `v1 ConfigMap shop/a`, which has another namespace?";
    assert_eq!(results(&output), [("warning".into(), message.into())]);
}

/// kpt puts comments back by place. An item in which they would come to the wrong one, or at a value of another kind, goes out without
/// the marks by which kpt knows it again; its own text has them all. In a three-way merge, it may have the marks of updated's item.
#[test]
fn an_item_that_would_mislead_kpt_is_no_longer_known_by_its_id() {
    let ids = "      internal.config.kubernetes.io/id: '1'\n      config.k8s.io/id: '1'\n";
    let item = |containers: &str| {
        format!(
            "- apiVersion: v1\n  kind: Pod\n  metadata:\n    name: web\n    annotations:\n      internal.config.kubernetes.io/path: p.yaml\n{ids}  spec:\n    containers:\n{containers}"
        )
    };
    let ids_left = |containers: &str, patch: &str| {
        let source = format!("apiVersion: v1\nkind: Pod\nmetadata:\n  name: web\nspec:\n  containers:\n{patch}");
        let spec = format!("mode: TwoWay\n{}", support::side("source", &source));
        let output = passes(&support::resource_list(&item(containers), &spec)).stdout;
        assert!(output.contains("internal.config.kubernetes.io/path: p.yaml"), "{output}");
        output.matches("/id: '1'").count()
    };
    let with = "    - name: a # first\n    - name: b\n";
    let without = "    - name: a\n    - name: b\n";
    let delete = "  - {name: a, $patch: delete}\n";
    assert_eq!(ids_left(with, delete), 0, "`b` comes to the place of `a`");
    assert_eq!(ids_left(without, delete), 2, "there is no comment to be misplaced");
    assert_eq!(ids_left(with, "  - {name: b, $patch: delete}\n"), 2, "the last one goes");
    let other = "  - {name: b, $patch: delete}\n  - {name: c}\n";
    assert_eq!(ids_left(with, other), 2, "`c` comes to the place of `b`, which has no comment");
    let both = "    - name: a # first\n    - name: b # second\n";
    assert_eq!(ids_left(both, other), 0, "`c` comes to the place of `b`");
    let below = "    - name: a\n    # - name: z\n";
    assert_eq!(
        ids_left(below, "  - {name: c}\n"),
        0,
        "the comment stays at the end, and kpt would put it below `a`, too"
    );
    let args = "    - name: a\n      args: [x] # one\n";
    assert_eq!(ids_left(args, "  - {name: a, args: [x, y]}\n"), 2, "the comment of a field stays");
    assert_eq!(ids_left(with, "  - {name: c}\n  - {name: a, image: x}\n"), 2, "all keep their places");
    let args = "    - name: a\n      args: [x]\n";
    assert_eq!(ids_left(args, "  - {name: a, args: [y]}\n"), 2, "a text for a text");
    assert_eq!(ids_left(args, "  - {name: a, args: [{y: z}]}\n"), 0, "a map for a text");
    assert_eq!(ids_left(args, "  - {name: a, args: y}\n"), 0, "a text for a list");
}

#[test]
fn an_item_that_loses_its_ids_gets_its_comment() {
    let pod = |containers: &str| {
        format!("apiVersion: v1\nkind: Pod\nmetadata:\n  name: web\nspec:\n  containers:\n{containers}")
    };
    let (original, updated) =
        (format!("# old\n{}", pod("  - name: a # first\n  - name: b\n")), format!("# new\n{}", pod("  - name: b\n")));
    let item = |comment: &str, annotations: &str, containers: &str| {
        format!(
            "{comment}\n- apiVersion: v1\n  kind: Pod\n  metadata:\n    name: web\n    annotations:\n{annotations}      mine: x\n  spec:\n    containers:\n{containers}"
        )
    };
    let ids = "      internal.config.kubernetes.io/id: '1'\n      config.k8s.io/id: '1'\n";
    let dest = item("# old", ids, "    - name: a # first\n    - name: b\n");
    let sides = support::side("original", &original) + &support::side("updated", &updated);
    let output = passes(&resource_list(&dest, &format!("mode: ThreeWay\n{sides}"))).stdout;
    assert_eq!(items_of(&output), item("# new", "", "    - name: b\n"));
}

#[test]
fn an_item_that_goes_into_another_one_goes_whatever_it_is_marked_with() {
    let item = |x: u8| {
        format!(
            "- apiVersion: v1\n  kind: ConfigMap\n  metadata:\n    name: a\n    annotations:\n      config.kubernetes.io/merge-source: dest\n  data: {{x: '{x}'}}\n"
        )
    };
    let output = passes(&resource_list(&(item(1) + &item(2)), "mode: TwoWay\n"));
    let want = "- apiVersion: v1\n  kind: ConfigMap\n  metadata:\n    name: a\n  data: {x: '2'}\n";
    assert_eq!(items_of(&output.stdout), want);
}

#[test]
fn what_a_source_brings_is_looked_at_whether_it_is_an_item_or_a_text() {
    let dest = "- apiVersion: v1\n  kind: Pod\n  metadata:\n    name: a\n  spec:\n    volumes:\n    - name: x\n      emptyDir: {}\n";
    let volume = "spec: {volumes: [{name: new, emptyDir: {}, hostPath: {path: /}}]}";
    let pod =
        |annotations: &str| format!("{{apiVersion: v1, kind: Pod, metadata: {{name: a{annotations}}}, {volume}}}");
    let role = ", annotations: {config.kubernetes.io/merge-source: patch}";
    let as_item = list(
        &format!("{dest}- {}\n", pod(role)),
        "  {apiVersion: krm-merge.dev/v1alpha1, kind: Merge, spec: {mode: Strategic}}\n",
    );
    let as_text = resource_list(dest, &format!("mode: Strategic\nsource:\n- resources:\n  - {}\n", pod("")));
    let told = "after the merge, `spec.volumes[name=new]` has `emptyDir` and `hostPath`, but the API server accepts only one of them. Remove the others";
    for stdin in [as_item, as_text] {
        let messages: Vec<String> = results(&passes(&stdin).stdout).into_iter().map(|result| result.1).collect();
        assert!(messages.iter().any(|message| message == told), "{messages:?}");
    }
}

#[test]
fn an_item_that_goes_leaves_a_block_scalar_above_it_alone() {
    let source = "- apiVersion: v1\n  kind: ConfigMap\n  metadata:\n    name: b\n    annotations:\n      config.kubernetes.io/merge-source: source\n";
    for (header, blank) in
        [("|", "\n"), ("|", "          \n"), ("|-", "          \n"), ("|+", "\n"), (">+", "          \n")]
    {
        let dest = |name: &str| {
            format!(
                "- apiVersion: v1\n  kind: ConfigMap\n  metadata:\n    name: {name}\n  data:\n    text: {header}\n      c\n"
            )
        };
        let items = format!("{}{}{source}{blank}{}{source}{blank}{}", dest("x"), dest("a"), dest("b"), dest("c"));
        let stdin = resource_list(&items, "mode: TwoWay\n");
        let output = passes(&stdin).stdout;
        let texts = |text: &str| {
            let document = Document::parse(text.to_owned()).expect("YAML");
            let items = document.roots().next().and_then(|list| list.get("items")).expect("items");
            let data = items.elements().filter_map(|item| item.at(&["data", "text"]));
            data.map(|text| text.string().to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(texts(&output), texts(&stdin), "{output}");
    }
}

#[test]
fn blanks_below_a_scalar_of_an_item_that_goes_are_no_content_of_the_block_scalar_above_it() {
    let of_role = |role: &str, rest: &str| {
        format!(
            "- apiVersion: v1\n  kind: ConfigMap\n  metadata:\n    name: a\n    annotations:\n      config.kubernetes.io/merge-source: {role}\n{rest}"
        )
    };
    let block = "  data:\n    t: |\n      text\n";
    for (plain, blank) in [
        ("  x: a\n    b\n", "         \n"),
        ("  x: \"a\n    b\"\n", "         \n"),
        ("  x: [a,\n    b]\n", "         \n"),
    ] {
        let package = |role: &str, blank: &str| {
            let item = |rest: &str| of_role(role, rest);
            [item(&format!("{plain}{blank}")).replace("name: a", "name: b"), item(block)].concat()
        };
        let items = [package("dest", ""), package("original", blank), package("updated", "")].concat();
        let output = passes(&resource_list(&items, "mode: ThreeWay\n"));
        assert!(output.stdout.contains("      text\nfunctionConfig:"), "{}", output.stdout);
    }
}
