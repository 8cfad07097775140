//! Whole packages, upgraded: what users of `kpt pkg update` suffer does not happen here, and bad input is one clear error.

mod support;

use support::{fails, indent, items_of, passes, resource_list, results, side};

/// An item with its file, as kpt carries it.
fn at(path: &str, text: &str) -> String {
    let annotations = format!("  annotations:\n    internal.config.kubernetes.io/path: {path}\n");
    let (head, rest) = text.split_once("metadata:\n").expect("metadata");
    format!("- {}", indent(&format!("{head}metadata:\n{annotations}{rest}"), 2).trim_start())
}

fn thing(name: &str, spec: &str) -> String {
    format!("apiVersion: example.com/v1\nkind: Thing\nmetadata:\n  name: {name}\nspec: {spec}\n")
}

const BY_PATH: &str = "mode: ThreeWay\noriginal: [{path: up/v1}]\nupdated: [{path: up/v2}]\n";

fn messages(stdout: &str) -> Vec<String> {
    results(stdout).into_iter().map(|r| r.1).collect()
}

#[test]
fn a_file_that_moved_upstream_moves_here_with_what_dest_changed() {
    let stdin = format!(
        "{}{}{}",
        at("a.yaml", &thing("a", "{x: 1, own: 1}")),
        at("up/v1/a.yaml", &thing("a", "{x: 1}")),
        at("up/v2/b/new.yaml", &thing("a", "{x: 2}"))
    );
    let output = passes(&resource_list(&stdin, BY_PATH)).stdout;
    let want = stdin.replacen("{x: 1, own: 1}", "{x: 2, own: 1}", 1).replacen("a.yaml", "b/new.yaml", 1);
    assert_eq!(items_of(&output), want);
    let counts = "1 merged, 0 added, 0 deleted, 0 unchanged; 0 conflicts";
    let moved = "moved from \"a.yaml\" to \"b/new.yaml\", as upstream moved it";
    assert_eq!(messages(&output), [counts, moved]);
    assert_eq!(output.matches("krm-merge.dev/reason: moved").count(), 1);
    // Once more: it lies where upstream has it.
    let output = passes(&resource_list(&want, BY_PATH)).stdout;
    assert_eq!(items_of(&output), want);
    assert_eq!(messages(&output), ["0 merged, 0 added, 0 deleted, 1 unchanged; 0 conflicts"]);
}

#[test]
fn thousands_of_resources_that_upstream_renames_keep_what_dest_changed() {
    let side = |folder: &str, prefix: &str, own: &str| {
        let item = |i: usize| {
            let spec = format!("{{a: {i}, b: {}, c: 1, d: 2{own}}}", i % 97);
            at(&format!("{folder}{prefix}{i}.yaml"), &thing(&format!("{prefix}{i}"), &spec))
        };
        (0..3000).map(item).collect::<String>()
    };
    let sides = [side("up/v1/", "a-", ""), side("up/v2/", "b-", "")].concat();
    let stdin = side("", "a-", ", own: 1") + &sides;
    let output = passes(&resource_list(&stdin, BY_PATH)).stdout;
    assert!(items_of(&output) == side("", "b-", ", own: 1") + &sides);
}

#[test]
fn a_hundred_texts_that_upstream_renames_keep_what_dest_changed() {
    // Half of the lines of each text may be dest's own.
    let text = |name: &str, own: &str| {
        let line = |i: usize, n: usize| format!("      line {i}.{n}{}\n", if n < 10 { "" } else { own });
        let lines = |i: usize| (0..20).map(|n| line(i, n)).collect::<String>();
        let data = (0..100).map(|i| format!("    {name}-{i}: |\n{}", lines(i))).collect::<String>();
        format!("- apiVersion: v1\n  kind: ConfigMap\n  metadata:\n    name: a\n  data:\n{data}")
    };
    let of = |role: &str, text: &str| {
        text.replacen(
            "    name: a\n",
            &format!("    name: a\n    annotations: {{config.kubernetes.io/merge-source: {role}}}\n"),
            1,
        )
    };
    let stdin =
        [of("dest", &text("a", " own")), of("original", &text("a", "")), of("updated", &text("b", ""))].concat();
    let output = passes(&resource_list(&stdin, "mode: ThreeWay\n")).stdout;
    assert_eq!(items_of(&output), text("b", " own"));
}

/// Hosts put the comment above a resource above the dash of its item, or after it.
#[test]
fn the_comment_of_an_item_is_merged_wherever_it_is_written() {
    type Write = fn(&str) -> String;
    const FORMS: [Write; 3] = [|c| format!("# {c}\n- "), |c| format!("- # {c}\n  "), |c| format!("-\n  # {c}\n  ")];
    let item = |form: Write, comment: &str, role: &str, x: &str, y: &str| {
        let role = format!("    annotations: {{config.kubernetes.io/merge-source: {role}}}\n");
        let role = if role.contains("dest") { String::new() } else { role };
        let head = form(comment);
        format!(
            "{head}apiVersion: v1\n  kind: ConfigMap\n  metadata:\n    name: a\n{role}  data:\n    x: \"{x}\"\n    y: \"{y}\"\n"
        )
    };
    for number in 0..27 {
        let [of_dest, of_original, of_updated] = [number % 3, number / 3 % 3, number / 9].map(|form| FORMS[form]);
        let merged = |comment: &str, new: &str| {
            let dest = item(of_dest, comment, "dest", "1", "ours");
            let [original, updated] = [(of_original, "old", "original", "1"), (of_updated, new, "updated", "2")]
                .map(|(form, comment, role, x)| item(form, comment, role, x, "1"));
            let output = passes(&resource_list(&[dest, original, updated].concat(), "mode: ThreeWay\n")).stdout;
            (
                items_of(&output).to_owned(),
                messages(&output).iter().map(|message| format!("{message}\n")).collect::<String>(),
            )
        };
        let counts = "1 merged, 0 added, 0 deleted, 0 unchanged; 0 conflicts";
        let want = |comment: &str| item(of_dest, comment, "dest", "2", "ours");
        for (comment, new, stays) in [("old", "new", "new"), ("new", "new", "new"), ("own", "old", "own")] {
            assert_eq!(merged(comment, new), (want(stays), format!("{counts}\n")), "{comment} {new}");
        }
        let told = "both sides changed the comment at `apiVersion`: dest has \"# own\", updated has \"# new\", original had \"# old\"; kept dest's";
        assert_eq!(merged("own", "new"), (want("own"), format!("{told}\n{counts}\n")));
    }
}

/// Both families of annotations, and numbers where files come together.
#[test]
fn what_moves_says_so_in_all_annotations_of_the_host() {
    let numbered = |path: &str, n: &str, name: &str| {
        let both = |n: &str| {
            format!(
                "config.kubernetes.io/path: {path}\n      internal.config.kubernetes.io/index: '{n}'\n      config.kubernetes.io/index: '{n}'\n"
            )
        };
        at(path, &thing(name, "{}")).replace(&format!("path: {path}\n"), &format!("path: {path}\n      {}", both(n)))
    };
    let side = |folder: &str, paths: [&str; 3]| {
        let all =
            paths.iter().zip(["a", "b", "c"]).map(|(path, name)| at(&format!("{folder}{path}"), &thing(name, "{}")));
        all.collect::<String>()
    };
    let dest = |a: (&str, &str), b: (&str, &str), c: (&str, &str)| {
        [numbered(a.0, a.1, "a"), numbered(b.0, b.1, "b"), numbered(c.0, c.1, "c")].concat()
    };
    let before = dest(("x.yaml", "0"), ("x.yaml", "1"), ("y.yaml", "0"));
    for (to, want) in [
        // To a file of its own, with its numbers.
        (["n.yaml", "n.yaml", "y.yaml"], dest(("n.yaml", "0"), ("n.yaml", "1"), ("y.yaml", "0"))),
        (["x.yaml", "n.yaml", "y.yaml"], dest(("x.yaml", "0"), ("n.yaml", "1"), ("y.yaml", "0"))),
        // Into a file that is there, before what updated has behind them; and two files into a new one.
        (["y.yaml", "y.yaml", "y.yaml"], dest(("y.yaml", "0"), ("y.yaml", "1"), ("y.yaml", "2"))),
        (["n.yaml", "n.yaml", "n.yaml"], dest(("n.yaml", "0"), ("n.yaml", "1"), ("n.yaml", "2"))),
        // Each to the place of the other.
        (["y.yaml", "y.yaml", "x.yaml"], dest(("y.yaml", "1"), ("y.yaml", "2"), ("x.yaml", "2"))),
    ] {
        let sides = format!("{}{}", side("up/v1/", ["x.yaml", "x.yaml", "y.yaml"]), side("up/v2/", to));
        let output = passes(&resource_list(&format!("{before}{sides}"), BY_PATH)).stdout;
        assert_eq!(items_of(&output), format!("{want}{sides}"), "{to:?}");
        let again = passes(&resource_list(items_of(&output), BY_PATH)).stdout;
        assert_eq!(items_of(&again), items_of(&output), "{to:?}");
    }
}

#[test]
fn a_file_that_both_sides_moved_is_a_conflict() {
    let stdin = format!(
        "{}{}{}",
        at("here/a.yaml", &thing("a", "{x: 1}")),
        at("up/v1/a.yaml", &thing("a", "{x: 1}")),
        at("up/v2/b/a.yaml", &thing("a", "{x: 2}"))
    );
    let output = passes(&resource_list(&stdin, BY_PATH)).stdout;
    let want = stdin.replacen("{x: 1}", "{x: 2}", 1);
    assert_eq!(items_of(&output), want);
    let apart = "both sides moved the resource: dest has it in \"here/a.yaml\", updated has it in \"b/a.yaml\", original had it in \"a.yaml\"; left it where dest has it";
    assert_eq!(messages(&output), [apart, "1 merged, 0 added, 0 deleted, 0 unchanged; 1 conflict"]);
    assert_eq!(items_of(&passes(&resource_list(&want, BY_PATH)).stdout), want);
    let failed = fails(&resource_list(&stdin, &format!("{BY_PATH}onConflict: Fail\n")));
    assert!(failed.contains("original had it in \"a.yaml\"; unresolved"), "{failed}");
}

/// An item of a sub-package says where it lies by its path in there, and cannot say that it lies elsewhere.
#[test]
fn what_upstream_moves_to_another_package_stays_and_is_told() {
    let item = |package: &str, path: &str| {
        let package = format!("path: {path}\n      internal.config.kubernetes.io/package-path: {package}\n");
        at(path, &thing("a", "{}")).replace(&format!("path: {path}\n"), &package)
    };
    let root = item("shop", "Kptfile").replace("name: a", "name: root");
    let sides = |to: &str| format!("{}{}", item("shop/up/v1/db", "a.yaml"), item("shop/up/v2", to));
    let run = |to: &str| {
        let stdin = format!("{root}{}{}", item("shop/db", "a.yaml"), sides(to));
        passes(&resource_list(&stdin, BY_PATH)).stdout
    };
    assert!(items_of(&run("db/new/a.yaml")).contains(&item("shop/db", "new/a.yaml")));
    let output = run("front/a.yaml");
    assert!(items_of(&output).contains(&item("shop/db", "a.yaml")));
    let told = "not moved, because upstream moved it to \"front/a.yaml\", which is in another package. Move it by hand";
    assert_eq!(messages(&output)[0], told);
}

/// As kyaml's sources do it: files that play a role one by one, and items that are marked, lie in no folder that dest could be compared with.
#[test]
fn what_is_no_folder_of_its_role_moves_nothing() {
    let stdin = format!(
        "{}{}{}",
        at("a.yaml", &thing("a", "{x: 1}")),
        at("up/a.yaml", &thing("a", "{x: 1}")),
        at("up/a-2.yaml", &thing("a", "{x: 2}"))
    );
    let files = "mode: ThreeWay\noriginal: [{path: up/a.yaml}]\nupdated: [{path: up/a-2.yaml}]\n";
    let want = stdin.replacen("{x: 1}", "{x: 2}", 1);
    assert_eq!(items_of(&passes(&resource_list(&stdin, files)).stdout), want);
    let marked = |role: &str, path: &str, spec: &str| {
        at(path, &thing("a", spec))
            .replace("annotations:\n", &format!("annotations:\n      config.kubernetes.io/merge-source: {role}\n"))
    };
    let dest = at("a.yaml", &thing("a", "{x: 1}"));
    let stdin = format!("{dest}{}{}", marked("original", "a.yaml", "{x: 1}"), marked("updated", "b.yaml", "{x: 2}"));
    let output = passes(&resource_list(&stdin, "mode: ThreeWay\n")).stdout;
    assert_eq!(items_of(&output), dest.replace("x: 1", "x: 2"));
    assert_eq!(messages(&output), ["1 merged, 0 added, 0 deleted, 0 unchanged; 0 conflicts"]);
}

#[test]
fn an_added_resource_gets_its_path_relative_to_its_side() {
    let sides = format!("{}{}", at("up/v1/a.yaml", &thing("a", "{}")), at("up/v2/a.yaml", &thing("a", "{}")));
    let new = at("up/v2/sub/new.yaml", &thing("n", "{}"));
    let stdin = format!("{}{sides}{new}", at("a.yaml", &thing("a", "{}")));
    let output = passes(&resource_list(&stdin, BY_PATH)).stdout;
    assert_eq!(items_of(&output), format!("{stdin}{}", new.replace("up/v2/sub/new.yaml", "sub/new.yaml")));
    let consumed = "mode: ThreeWay\noriginal: [{path: up/v1, keep: false}]\nupdated: [{path: up/v2, keep: false}]\n";
    let output = passes(&resource_list(&stdin, consumed)).stdout;
    let want = format!("{}{}", at("a.yaml", &thing("a", "{}")), new.replace("up/v2/sub/new.yaml", "sub/new.yaml"));
    assert_eq!(items_of(&output), want);
}

#[test]
fn two_resources_of_one_identity_are_paired_by_their_files() {
    let side = |folder: &str, x: &str, y: &str| {
        format!("{}{}", at(&format!("{folder}x.yaml"), &thing("a", x)), at(&format!("{folder}y.yaml"), &thing("a", y)))
    };
    let sides = format!("{}{}", side("up/v1/", "{v: 1}", "{v: 1}"), side("up/v2/", "{v: 1}", "{v: 2}"));
    let stdin = format!("{}{sides}", side("", "{v: 1, own: x}", "{v: 1, own: y}"));
    let output = passes(&resource_list(&stdin, BY_PATH)).stdout;
    assert_eq!(items_of(&output), format!("{}{sides}", side("", "{v: 1, own: x}", "{v: 2, own: y}")));
}

#[test]
fn an_explicit_null_wipes_no_sibling_and_a_local_resource_is_not_rewritten() {
    let local = at(
        "own.yaml",
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: own\ndata: { b : \"1\" ,   a: '2' }   # odd\n",
    );
    let sides = |v: &str| thing("a", &format!("{{x: {v}, y: 1, z: 1}}"));
    let dest = at("a.yaml", &thing("a", "{x: 1, y: null, z: 1, w: ~}"));
    let stdin = format!("{local}{dest}{}{}", at("up/v1/a.yaml", &sides("1")), at("up/v2/a.yaml", &sides("2")));
    let output = passes(&resource_list(&stdin, BY_PATH)).stdout;
    assert_eq!(items_of(&output), stdin.replace("{x: 1, y: null", "{x: 2, y: null"));
}

#[test]
fn a_run_that_a_conflict_stops_says_on_stderr_which_rules_missed_it_and_what_to_do() {
    let sides = [("a.yaml", "{n: 3}"), ("up/v1/a.yaml", "{n: 1}"), ("up/v2/a.yaml", "{n: 2}")];
    let stdin = sides.map(|(path, spec)| at(path, &thing("a", spec))).concat();
    let rules = "rules:\n\
        - {path: spec.n, when: {original: '1'}, take: Dest}\n\
        - {path: spec.n, when: {updated: 4}, take: Dest}\n\
        - {path: spec.m, when: {original: 1, updated: 2}, take: Dest}\n\
        - {path: spec.m, when: {original: 1, updated: 3}, take: Dest}\n\
        - {path: spec.m, take: Dest}\n";
    let spec = format!("{BY_PATH}onConflict: Fail\n");
    let output = krm_merge_function::run(&resource_list(&stdin, &format!("{spec}{rules}")));
    let conflict = "both sides changed `spec.n`: dest has 3, updated has 2, original had 1; unresolved";
    let how = "Copy `path` from the message of the conflict, or leave it out for a conflict of a whole resource";
    let rule = "{target: {kind: Thing, name: a}, path: 'spec.n', take: Dest}";
    let want = [
        format!("error: Thing a (a.yaml): {conflict}"),
        "info: `spec.rules[0]` decided nothing: original's value of `spec.n` and `when.original` differ in type. Write a number without quotes (`1`) and a string with quotes (`\"1\"`)".into(),
        "info: `spec.rules[1]` decided nothing: updated's value of `spec.n` is not the value in `when.updated`. Resolve the conflict again".into(),
        format!("info: `spec.rules[2]` decided nothing: the conflict of `spec.n` has the values of its `when`, but its `target` or `path` names another place. {how}"),
        format!("info: `spec.rules[4]` decided nothing: either its conflict is resolved, or its `path` is wrong. {how}"),
        format!("next: write a rule for each conflict into `rules` of the functionConfig, such as `{rule}` (or `take: Updated`), or resolve all with `onConflict: TakeUpdated` or `onConflict: KeepDest`"),
    ];
    assert_eq!(output.stderr, want);
    // The rule that it shows decides.
    passes(&resource_list(&stdin, &format!("{spec}rules: [{rule}]\n")));
    let passed = passes(&resource_list(&stdin, &format!("{BY_PATH}{rules}")));
    assert!(passed.stderr.iter().all(|line| line.starts_with("warning: ")), "{:?}", passed.stderr);
}

#[test]
fn a_null_of_dest_wins_over_a_change_of_upstream_which_is_told_and_which_a_rule_can_take() {
    let stdin = |dest: &str| {
        let sides = [("a.yaml", dest), ("up/v1/a.yaml", "{m: {k: v}}"), ("up/v2/a.yaml", "{m: {k: v, new: w}}")];
        sides.map(|(path, spec)| at(path, &thing("a", spec))).concat()
    };
    let spec = format!("{BY_PATH}onConflict: Fail\n");
    let output = krm_merge_function::run(&resource_list(&stdin("{m: null}"), &spec));
    assert_eq!(output.verdict, krm_merge_function::Verdict::Failed);
    let stdout = output.stdout;
    assert_eq!(items_of(&stdout), stdin("{m: null}"));
    let cleared = "dest set `spec.m` to null, and updated changed it: updated has {\"k\":\"v\",\"new\":\"w\"}, original had {\"k\":\"v\"}";
    assert_eq!(messages(&stdout)[0], format!("{cleared}; unresolved"));
    for policy in ["TakeUpdated", "KeepDest"] {
        let stdout = passes(&resource_list(&stdin("{m: null}"), &format!("{BY_PATH}onConflict: {policy}\n"))).stdout;
        assert_eq!(items_of(&stdout), stdin("{m: null}"));
        assert_eq!(messages(&stdout)[0], format!("{cleared}; kept dest's"));
    }
    let rule = "rules: [{path: spec.m, take: Updated}]\n";
    let stdout = passes(&resource_list(&stdin("{m: null}"), &format!("{BY_PATH}{rule}"))).stdout;
    assert_eq!(items_of(&stdout), stdin("{m: {k: v, new: w}}"));
}

#[test]
fn annotations_that_a_null_of_updated_clears_are_in_conflict_and_those_of_the_host_stay() {
    let item = |annotations: &str| {
        format!(
            "- apiVersion: example.com/v1\n  kind: Thing\n  metadata:\n    name: a\n    annotations:{annotations}\n      internal.config.kubernetes.io/path: a.yaml\n"
        )
    };
    let version = |rest: &str| format!("apiVersion: example.com/v1\nkind: Thing\nmetadata:\n  name: a\n{rest}");
    let sides = side("original", &version("")) + &side("updated", &version("  annotations: ~\n"));
    let spec = |policy: &str| format!("mode: ThreeWay\n{sides}onConflict: {policy}\n");
    let own = item("\n      own: x");
    let output = passes(&resource_list(&own, &spec("TakeUpdated"))).stdout;
    assert_eq!(items_of(&output), item(""));
    let place = "`metadata.annotations.own`";
    let lost = format!("updated set {place} to null, and dest added it: dest has \"x\"; deleted it");
    assert_eq!(messages(&output)[0], lost);
    let output = passes(&resource_list(&own, &spec("KeepDest"))).stdout;
    assert_eq!(items_of(&output), own);
    assert!(messages(&output)[0].contains(place));
}

#[test]
fn lists_of_custom_resources_merge_and_new_fields_come_in_order_with_their_comments() {
    let original = thing("a", "\n  steps:\n  - name: one\n    run: a\n  zeta: 1");
    let updated = thing(
        "a",
        "\n  steps:\n  - name: one\n    run: b\n  - name: two\n  zeta: 1\n  # why beta\n  beta: 2 # yes\n  alpha: 3",
    );
    let dest = thing("a", "\n  steps:\n  - name: one\n    run: a\n    mine: x # kept\n  zeta: 1\n  omega: 4");
    let stdin = format!("{}{}{}", at("a.yaml", &dest), at("up/v1/a.yaml", &original), at("up/v2/a.yaml", &updated));
    let output = passes(&resource_list(&stdin, BY_PATH)).stdout;
    let want = thing(
        "a",
        "\n  steps:\n  - name: one\n    run: b\n    mine: x # kept\n  - name: two\n  zeta: 1\n  omega: 4\n  # why beta\n  beta: 2 # yes\n  alpha: 3",
    );
    assert!(items_of(&output).starts_with(&at("a.yaml", &want)), "{output}");
}

#[test]
fn a_number_in_another_spelling_upstream_beats_no_local_edit() {
    let stdin = format!(
        "{}{}{}",
        at("a.yaml", &thing("a", "{x: 17}")),
        at("up/v1/a.yaml", &thing("a", "{x: 0x10}")),
        at("up/v2/a.yaml", &thing("a", "{x: 16}"))
    );
    let output = passes(&resource_list(&stdin, BY_PATH)).stdout;
    assert_eq!(items_of(&output), stdin);
}

#[test]
fn a_kptfile_is_merged_like_any_resource() {
    let kptfile = |rest: &str| format!("apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: base\n{rest}");
    let dest = kptfile("upstream:\n  type: git\ninfo:\n  description: old\n");
    let stdin = format!(
        "{}{}{}",
        at("Kptfile", &dest),
        at("up/v1/Kptfile", &kptfile("info:\n  description: old\n")),
        at("up/v2/Kptfile", &kptfile("info:\n  description: new\n"))
    );
    let output = passes(&resource_list(&stdin, BY_PATH)).stdout;
    assert_eq!(items_of(&output), stdin.replacen("description: old", "description: new", 1));
}

#[test]
fn a_conflict_is_a_result_with_its_place_and_three_values() {
    let spec = |image: &str| format!("\n  parts:\n  - name: side\n  - name: app\n    image: {image}");
    let stdin = format!(
        "{}{}{}",
        at("a.yaml", &thing("a", &spec("mine"))),
        at("up/v1/a.yaml", &thing("a", &spec("v1"))),
        at("up/v2/a.yaml", &thing("a", &spec("v2")))
    );
    let output = passes(&resource_list(&stdin, BY_PATH));
    let want = "results:
- message: 'both sides changed `spec.parts[name=app].image`: dest has \"mine\", updated has \"v2\", original had \"v1\"; took updated''s'
  severity: warning
  resourceRef:
    apiVersion: example.com/v1
    kind: Thing
    name: a
  field:
    path: spec.parts[1].image
    currentValue: mine
    proposedValue: v2
  file:
    path: a.yaml
  tags:
    krm-merge.dev/original: '\"v1\"'
    krm-merge.dev/reason: conflict
- message: 1 merged, 0 added, 0 deleted, 0 unchanged; 1 conflict
  severity: info
";
    assert!(output.stdout.ends_with(want), "{}", output.stdout);
    assert_eq!(output.stderr.len(), 1);
    let failing = resource_list(&stdin, &format!("{BY_PATH}onConflict: Fail\n"));
    assert!(fails(&failing).starts_with("error: Thing a (a.yaml): both sides changed `spec.parts[name=app].image`"));
}

#[test]
fn results_come_worst_first_then_by_file() {
    let one = |path: &str, name: &str, v: &str| at(path, &thing(name, &format!("{{v: {v}}}")));
    let stdin = [
        one("z.yaml", "z", "9"),
        one("b.yaml", "b", "9"),
        one("up/v1/z.yaml", "z", "1"),
        one("up/v1/b.yaml", "b", "1"),
        one("up/v2/z.yaml", "z", "2"),
        one("up/v2/b.yaml", "b", "2"),
        at("m.yaml", &thing("m", "1")),
        at("up/v1/m.yaml", &thing("m", "1")),
        at("up/v2/m.yaml", &thing("m", "{}")),
    ]
    .concat();
    let output = passes(&resource_list(&stdin, BY_PATH)).stdout;
    let severities: Vec<String> = results(&output).into_iter().map(|r| r.0).collect();
    assert_eq!(severities, ["warning", "warning", "warning", "info"]);
    let files: Vec<&str> =
        output.lines().filter_map(|l| l.strip_prefix("    path: ")).filter(|p| p.ends_with(".yaml")).collect();
    assert_eq!(files, ["b.yaml", "m.yaml", "z.yaml"]);
}

#[test]
fn bad_input_is_one_clear_error() {
    let (v1, v2) = (at("up/v1/a.yaml", &thing("a", "1")), at("up/v2/a.yaml", &thing("a", "1")));
    let says = |items: &str, spec: &str, parts: &[&str]| {
        let stderr = fails(&resource_list(items, spec));
        assert!(parts.iter().all(|p| stderr.contains(p)), "{stderr}");
        assert_eq!(stderr.lines().filter(|l| l.starts_with("error")).count(), 1, "{stderr}");
    };
    says(
        &v1,
        "mode: ThreeWay\noriginal: [{path: up/v1}]\n",
        &[
            "`spec.updated` must be given, or items must have the annotation `config.kubernetes.io/merge-source: updated`",
        ],
    );
    says(&v1, "mode: ThreeWay\n", &["`spec.original` must be given"]);
    says(&v1, BY_PATH, &["`spec.updated[0].path` must select at least one item", "\"up/v2\""]);
    let twice = format!("{v1}{v2}{}", at("up/v2/a.yaml", &thing("a", "2")));
    says(
        &twice,
        BY_PATH,
        &[
            "`example.com/v1 Thing a` must stand once in a file",
            "2 in updated (`items[1]` (up/v2/a.yaml) and `items[2]` (up/v2/a.yaml))",
            "remove those that are too many, or give them other names",
        ],
    );
    says(
        &format!("{v1}{v2}"),
        "mode: ThreeWay\noriginal: [{path: up}]\nupdated: [{path: up/v2}]\n",
        &["must play one role", "`spec.original[0].path` and `spec.updated[0].path` both select it"],
    );
    let marked = thing("a", "1")
        .replace("  name: a\n", "  name: a\n  annotations:\n    config.kubernetes.io/merge-source: theirs\n");
    says(
        &format!("- {}", indent(&marked, 2).trim_start()),
        "mode: ThreeWay\n",
        &["must be `original`, `updated` or `dest` in mode `ThreeWay`, not \"theirs\""],
    );
    says(
        &format!("{v1}{v2}"),
        &format!("{BY_PATH}source: [{{path: x}}]\n"),
        &["`spec.source` must not be given: mode `ThreeWay` has `original` and `updated`"],
    );
    let repeated = side("updated", &thing("a", "\n  b: 1\n  b: 2"));
    says(
        "",
        &format!("mode: ThreeWay\n{}{repeated}", side("original", &thing("a", "\n  b: 1"))),
        &["`spec.updated[0].yaml` 7:3: the key `b` must be in a map only once"],
    );
    let strange = side("updated", &thing("a", "\n  b: 1\n  ? [1]\n  : 2"));
    says(
        "",
        &format!("mode: ThreeWay\n{}{strange}", side("original", &thing("a", "\n  b: 1"))),
        &["`spec.updated[0].yaml` 7:5: a key must be a scalar, not a map or list"],
    );
}

#[test]
fn inline_sides_work_without_any_path() {
    let stdin = resource_list(
        &format!("- {}", indent(&thing("a", "{x: 1}"), 2).trim_start()),
        &format!(
            "mode: ThreeWay\n{}{}",
            side("original", &thing("a", "{x: 1}")),
            side("updated", &format!("{}---\n{}", thing("a", "{x: 2}"), thing("b", "{}")))
        ),
    );
    let output = passes(&stdin).stdout;
    let want =
        format!("- {}- {}", indent(&thing("a", "{x: 2}"), 2).trim_start(), indent(&thing("b", "{}"), 2).trim_start());
    assert_eq!(items_of(&output), want);
}

/// Upstream's is deleted here, and dest's are its own.
#[test]
fn several_dest_items_of_one_identity_and_none_at_the_path_stay() {
    let dest = format!("{}{}", at("a.yaml", &thing("a", "1")), at("b.yaml", &thing("a", "1")));
    let items = format!("{dest}{}{}", at("up/v1/c.yaml", &thing("a", "1")), at("up/v2/c.yaml", &thing("a", "2")));
    let output = passes(&resource_list(&items, BY_PATH)).stdout;
    assert_eq!(items_of(&output), items);
    let deleted = "dest does not have the resource, and updated changed it (`spec`); did not add it";
    assert_eq!(messages(&output), [deleted, "0 merged, 0 added, 0 deleted, 2 unchanged; 1 conflict"]);
}

#[test]
fn several_dest_items_of_one_identity_and_sides_without_paths_are_an_error() {
    let dest = format!("{}{}", at("a.yaml", &thing("a", "1")), at("b.yaml", &thing("a", "1")));
    let sides = format!("{}{}", side("original", &thing("a", "1")), side("updated", &thing("a", "2")));
    let stderr = fails(&resource_list(&dest, &format!("mode: ThreeWay\n{sides}")));
    for part in [
        "`example.com/v1 Thing a` must be one resource on each side",
        "(a.yaml)",
        "(b.yaml)",
        "give original and updated as folders, with the paths that dest has",
    ] {
        assert!(stderr.contains(part), "{stderr}");
    }
}

/// `name` in each of these files, with its spec.
fn in_files(folder: &str, files: &[(&str, &str)]) -> String {
    files.iter().map(|(path, spec)| at(&format!("{folder}{path}"), &thing("web", spec))).collect()
}

/// Of several, the one with at least half of its text at another place moved there. Local edits go along.
#[test]
fn one_of_several_that_moved_takes_its_edits_along() {
    let files = |folder: &str, last: &str, spec: &str| in_files(folder, &[("base/web.yaml", "{r: 1}"), (last, spec)]);
    let sides =
        format!("{}{}", files("up/v1/", "o/web.yaml", "{r: 1, s: 1}"), files("up/v2/", "n/web.yaml", "{r: 2, s: 1}"));
    let dest = files("", "o/web.yaml", "{r: 1, s: 1, own: 1}");
    let output = passes(&resource_list(&format!("{dest}{sides}"), BY_PATH)).stdout;
    assert_eq!(items_of(&output).replace(&sides, ""), files("", "n/web.yaml", "{r: 2, s: 1, own: 1}"));
    let told = "moved from \"o/web.yaml\" to \"n/web.yaml\", as upstream moved it";
    assert!(messages(&output).iter().any(|m| m == told), "{output}");
}

/// Where a folder with several of one identity moved, each goes to the file whose path ends as its own does.
#[test]
fn several_of_one_identity_move_with_their_folder() {
    let files = |folder: &str, spec: &str| in_files(folder, &[("base/web.yaml", "{r: 1}"), ("over/web.yaml", spec)]);
    let sides = format!("{}{}", files("up/v1/old/", "{r: 1}"), files("up/v2/new/", "{r: 1}"));
    let dest = files("old/", "{r: 1, own: 1}");
    let output = passes(&resource_list(&format!("{dest}{sides}"), BY_PATH)).stdout;
    assert_eq!(items_of(&output).replace(&sides, ""), files("new/", "{r: 1, own: 1}"));
}

/// With less than half of its text, nobody can tell whether one moved or one went and one came.
#[test]
fn one_of_several_that_may_have_moved_is_named_with_its_files() {
    let files = |folder: &str, last: &str, spec: &str| in_files(folder, &[("base/web.yaml", "{}"), (last, spec)]);
    let new = files("up/v2/", "n/web.yaml", "{r: 2}");
    let sides = format!("{}{new}", files("up/v1/", "o/web.yaml", "{r: 1}"));
    let output = passes(&resource_list(&format!("{}{sides}", files("", "o/web.yaml", "{r: 1}")), BY_PATH)).stdout;
    assert_eq!(items_of(&output).replace(&sides, ""), files("", "n/web.yaml", "{r: 2}"));
    let told = "upstream added `example.com/v1 Thing web` (\"n/web.yaml\") and deleted `example.com/v1 Thing web` (\"o/web.yaml\"), which the merge deletes. If the new resource replaces the old, copy the edits of dest to it";
    assert!(messages(&output).iter().any(|m| m == told), "{output}");
}

#[test]
fn a_third_file_of_an_identity_comes_and_goes_by_its_path() {
    let two = [("base/web.yaml", "{x: 1}"), ("dev/web.yaml", "{r: 1}")];
    let three = [("base/web.yaml", "{x: 2}"), ("dev/web.yaml", "{r: 1}"), ("prod/web.yaml", "{r: 9}")];
    for (old, new) in [(&two[..], &three[..]), (&three, &two)] {
        let sides = format!("{}{}", in_files("up/v1/", old), in_files("up/v2/", new));
        let mut dest = in_files("", old);
        for _ in ["once", "twice"] {
            let output = passes(&resource_list(&format!("{dest}{sides}"), BY_PATH)).stdout;
            assert_eq!(output.matches("severity: warning").count(), 0, "{output}");
            dest = items_of(&output).replace(&sides, "");
            assert_eq!(dest, in_files("", new));
        }
    }
}

#[test]
fn the_annotations_of_the_host_make_no_resource_differ() {
    let original = thing("a", "1")
        .replace("  name: a\n", "  name: a\n  annotations:\n    config.kubernetes.io/merge-source: original\n");
    let other = thing("z", "1").replace("kind: Thing", "kind: Other");
    let updated =
        other.replace("  name: z\n", "  name: z\n  annotations:\n    config.kubernetes.io/merge-source: updated\n");
    let items = format!(
        "- {}- {}- {}",
        indent(&original, 2).trim_start(),
        indent(&updated, 2).trim_start(),
        indent(&thing("a", "1"), 2).trim_start()
    );
    let output = passes(&resource_list(&items, "mode: ThreeWay\nonConflict: KeepDest\n")).stdout;
    assert_eq!(items_of(&output), format!("- {}", indent(&other, 2).trim_start()));
    assert_eq!(messages(&output), ["0 merged, 1 added, 1 deleted, 0 unchanged; 0 conflicts"]);
}

#[test]
fn the_role_annotation_goes_whatever_is_asked_of_the_others() {
    let with = |annotations: &str| format!("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n{annotations}");
    let dest = with("  annotations:\n    config.kubernetes.io/merge-source: dest\n");
    for (original, updated) in
        [(with(""), with("  annotations: {}\n")), (with("  annotations:\n    foo: bar\n"), with(""))]
    {
        let spec = format!(
            "mode: ThreeWay\nonConflict: KeepDest\n{}{}",
            side("original", &original),
            side("updated", &updated)
        );
        let output = passes(&resource_list(&format!("- {}", indent(&dest, 2).trim_start()), &spec)).stdout;
        assert_eq!(items_of(&output), format!("- {}", indent(&with(""), 2).trim_start()), "{updated}");
        assert_eq!(messages(&output), ["0 merged, 0 added, 0 deleted, 1 unchanged; 0 conflicts"]);
    }
}

#[test]
fn a_list_that_nobody_changed_gives_no_warning() {
    let pod = |x: &str| {
        format!(
            "apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\nspec:\n  containers:\n  - name: c\n{x}    env:\n    - name: A\n      value: p\n    - name: A\n      value: q\n"
        )
    };
    let spec = format!("mode: ThreeWay\n{}{}", side("original", &pod("")), side("updated", &pod("")));
    let stdin = resource_list(&format!("- {}", indent(&pod("    x: null\n"), 2).trim_start()), &spec);
    let output = passes(&stdin).stdout;
    assert_eq!(messages(&output), ["0 merged, 0 added, 0 deleted, 1 unchanged; 0 conflicts"]);
}

/// kpt takes one item without a number into a file, and refuses a second one.
#[test]
fn several_new_resources_of_one_file_are_numbered_behind_those_that_are_there() {
    let numbered = |path: &str, n: usize, name: &str| {
        at(path, &thing(name, "{}")).replace(
            &format!("path: {path}\n"),
            &format!("path: {path}\n      internal.config.kubernetes.io/index: '{n}'\n"),
        )
    };
    let sides = format!("{}{}", at("up/v1/a.yaml", &thing("a", "{}")), at("up/v2/a.yaml", &thing("a", "{}")));
    let new = |path: &str| format!("{}{}", at(path, &thing("x", "{}")), at(path, &thing("y", "{}")));
    let stdin = format!("{}{sides}{}", numbered("a.yaml", 0, "a"), new("up/v2/a.yaml"));
    let output = passes(&resource_list(&stdin, BY_PATH)).stdout;
    assert_eq!(items_of(&output), format!("{stdin}{}{}", numbered("a.yaml", 1, "x"), numbered("a.yaml", 2, "y")));
    let stdin = format!("{}{sides}{}", at("a.yaml", &thing("a", "{}")), new("up/v2/new.yaml"));
    let output = passes(&resource_list(&stdin, BY_PATH)).stdout;
    assert_eq!(items_of(&output), format!("{stdin}{}{}", numbered("new.yaml", 0, "x"), numbered("new.yaml", 1, "y")));
}

#[test]
fn long_values_in_a_message_begin_shortly_before_they_differ() {
    let long = |n: &str| thing("a", &format!("{{l: [{}, {n}]}}", "same, ".repeat(30).trim_end_matches(", ")));
    let stdin = format!(
        "{}{}{}",
        at("a.yaml", &long("dest")),
        at("up/v1/a.yaml", &long("original")),
        at("up/v2/a.yaml", &long("updated"))
    );
    let output = passes(&resource_list(&stdin, &format!("{BY_PATH}conflictLevel: Value\n")));
    for side in ["dest\"]", "original\"]", "updated\"]"] {
        assert!(output.stderr[0].contains(side), "{}", output.stderr[0]);
    }
    assert!(output.stderr[0].len() < 400, "{}", output.stderr[0]);
}

#[test]
fn under_fail_the_count_says_that_nothing_happened() {
    let stdin = format!(
        "{}{}{}",
        at("a.yaml", &thing("a", "{v: 1}")),
        at("up/v1/a.yaml", &thing("a", "{v: 2}")),
        at("up/v2/a.yaml", &thing("a", "{v: 3}"))
    );
    let output = krm_merge_function::run(&resource_list(&stdin, &format!("{BY_PATH}onConflict: Fail\n")));
    assert_eq!(messages(&output.stdout)[1], "0 merged, 0 added, 0 deleted, 1 unchanged; 1 conflict");
}

/// A kustomization as kustomize takes it and kpt sends it: without apiVersion, kind and name.
fn kustomization(folder: &str, rest: &str) -> String {
    at(&format!("{folder}kustomization.yaml"), &format!("# of the shop\nresources: [a.yaml]\n{rest}metadata:\n"))
}

/// A package whose sides hold such a file, each with these lines in it.
fn with_kustomizations(here: &str, old: &str, new: &str) -> String {
    let side = |folder: &str, x: u8| at(&format!("{folder}a.yaml"), &thing("a", &format!("{{x: {x}}}")));
    let dest = format!("{}{}", side("", 1), kustomization("", here));
    let original = format!("{}{}", side("up/v1/", 1), kustomization("up/v1/", old));
    format!("{dest}{original}{}{}", side("up/v2/", 2), kustomization("up/v2/", new))
}

#[test]
fn a_file_of_a_side_that_is_no_resource_stays_and_is_told() {
    let told = |here: &str, old: &str, new: &str| {
        let stdin = with_kustomizations(here, old, new);
        let output = passes(&resource_list(&stdin, BY_PATH));
        assert_eq!(items_of(&output.stdout), stdin.replacen("{x: 1}", "{x: 2}", 1));
        let mut of_file = results(&output.stdout).into_iter().filter(|r| r.1.contains("kustomization"));
        let (severity, message) = of_file.next().expect("a result");
        assert_eq!(of_file.next(), None, "one result");
        let word = "`items[5]` (up/v2/kustomization.yaml): skipped, because it has no `apiVersion`";
        (severity, message.strip_prefix(word).unwrap_or_else(|| panic!("{message}")).to_owned(), output.stderr)
    };
    let quiet = |what: &str| ("info".to_owned(), what.to_owned(), Vec::new());
    assert_eq!(told("namePrefix: own\n", "", ""), quiet(". Upstream did not change it"));
    assert_eq!(told("namePrefix: new\n", "", "namePrefix: new\n"), quiet(". Updated and dest are equal there"));
    let (severity, what, stderr) = told("", "", "namePrefix: new\n");
    assert_eq!(severity, "warning");
    assert_eq!(what, ". Upstream changed `namePrefix` in it. Make this change by hand");
    assert_eq!(stderr.len(), 1);
    assert_eq!(stderr[0].matches("up/v2/kustomization.yaml").count(), 1, "{stderr:?}");
}

#[test]
fn a_file_that_is_no_resource_is_told_where_a_side_lacks_it() {
    let all = with_kustomizations("", "", "");
    let without = |folder: &str| all.replacen(&kustomization(folder, ""), "", 1);
    for (stdin, severity, what) in [
        (without("up/v1/"), "info", ". Updated and dest are equal there"),
        (without("up/v1/").replacen(&kustomization("", ""), "", 1), "warning", ". It is new upstream. Add it by hand"),
        (without("up/v2/"), "warning", ". Upstream deleted it, and dest keeps it. Delete it by hand"),
        (without("up/v2/").replacen(&kustomization("", ""), "", 1), "info", ". Neither updated nor dest has it"),
        (without(""), "info", ". Upstream did not change it"),
    ] {
        let output = passes(&resource_list(&stdin, BY_PATH));
        assert_eq!(items_of(&output.stdout), stdin.replacen("{x: 1}", "{x: 2}", 1));
        let of_file: Vec<_> = results(&output.stdout).into_iter().filter(|r| r.1.contains("kustomization")).collect();
        assert!(matches!(of_file.as_slice(), [(s, m)] if s == severity && m.ends_with(what)), "{what}: {of_file:?}");
    }
}

#[test]
fn a_file_that_is_no_resource_is_consumed_with_its_side() {
    let stdin = with_kustomizations("", "", "namePrefix: new\n");
    let spec = "mode: ThreeWay\noriginal: [{path: up/v1, keep: false}]\nupdated: [{path: up/v2, keep: false}]\n";
    let output = passes(&resource_list(&stdin, spec)).stdout;
    assert_eq!(items_of(&output), format!("{}{}", at("a.yaml", &thing("a", "{x: 2}")), kustomization("", "")));
    assert!(
        messages(&output).iter().any(|m| m.ends_with(". It is removed with the other inputs of the merge")),
        "{output}"
    );
    // So it is with those that an annotation marks, and in the other modes.
    for mode in ["TwoWay", "Strategic"] {
        let mark = |item: &str| item.replace("internal", "config.kubernetes.io/merge-source: source\n      internal");
        let overlay = format!("{}{}", at("o/a.yaml", &thing("a", "{x: 2}")), kustomization("o/", ""));
        let stdin = format!("{}{}{}", at("a.yaml", &thing("a", "{x: 1}")), kustomization("", ""), mark(&overlay));
        let output = passes(&resource_list(&stdin, &format!("mode: {mode}\n")));
        let want = format!("{}{}", at("a.yaml", &thing("a", "{x: 2}")), kustomization("", ""));
        assert_eq!(items_of(&output.stdout), want);
        let word = "(o/kustomization.yaml): skipped, because it has no `apiVersion`. It is removed with the other inputs of the merge";
        assert!(output.stderr.iter().any(|line| line.contains(word)), "{:?}", output.stderr);
    }
}

#[test]
fn a_target_selects_resources_only() {
    let stdin = format!("{}{}", at("a.yaml", &thing("a", "{x: 1}")), kustomization("", ""));
    for (mode, target) in
        [("TwoWay", "{name: '.*'}"), ("Strategic", "{namespace: default}"), ("Strategic", "{kind: ''}")]
    {
        let spec = format!("mode: {mode}\nsource: [{{target: {target}, resources: [{{spec: {{x: 2}}}}]}}]\n");
        let stdin = resource_list(&stdin, &spec);
        if target.contains("kind") {
            assert!(fails(&stdin).contains("`spec.source[0].target`: no resource matches "));
        } else {
            assert_eq!(items_of(&passes(&stdin).stdout), items_of(&stdin).replace("x: 1", "x: 2"), "{target}");
        }
    }
}

#[test]
fn a_side_that_holds_no_resource_at_all_is_an_error() {
    let stdin = format!("{}{}", at("a.yaml", &thing("a", "{}")), kustomization("o/", ""));
    let stderr = fails(&resource_list(&stdin, "mode: TwoWay\nsource: [{path: o}]\n"));
    let want = "error: `items[1]` (o/kustomization.yaml) must have `apiVersion` to be merged, or a `target` that says which items it is for";
    assert_eq!(stderr, want);
    let marked = stdin.replace(
        "internal.config.kubernetes.io/path: o",
        "config.kubernetes.io/merge-source: source\n      internal.config.kubernetes.io/path: o",
    );
    assert_eq!(fails(&resource_list(&marked, "mode: TwoWay\n")), want);
}

#[test]
fn a_file_that_becomes_a_resource_upstream_is_an_error() {
    let stdin = with_kustomizations("", "", "");
    let name = |folder: &str| {
        let named = "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nmetadata:\n  name: k\nresources: [a.yaml]\n";
        let path = format!("{folder}kustomization.yaml");
        stdin.replacen(&kustomization(folder, ""), &at(&path, named), 1)
    };
    for (folder, unnamed) in
        [("up/v2/", "`items[3]` (up/v1/kustomization.yaml)"), ("up/v1/", "`items[5]` (up/v2/kustomization.yaml)")]
    {
        let stderr = fails(&resource_list(&name(folder), BY_PATH));
        assert!(stderr.starts_with(&format!("error: {unnamed} must have `apiVersion`, because ")), "{stderr}");
    }
    passes(&resource_list(&name(""), BY_PATH));
}

/// A Kptfile, with what kpt notes of the release that a package came from.
fn kptfile(commit: &str) -> String {
    format!(
        "apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: web\nupstreamLock:\n  type: git\n  git:\n    repo: https://example.com/r\n    directory: /web\n    ref: main\n    commit: {commit}\n"
    )
}

/// The results of an upgrade of items at these paths that hold one of these words: severity and message.
fn told(items: &[(&str, String)], words: &[&str]) -> Vec<String> {
    let stdin: String = items.iter().map(|(path, text)| at(path, text)).collect();
    let output = passes(&resource_list(&stdin, BY_PATH)).stdout;
    let lines = results(&output).into_iter().map(|(severity, message)| format!("{severity}: {message}"));
    lines.filter(|line| words.iter().any(|word| line.contains(word))).collect()
}

#[test]
fn a_release_one_folder_deeper_than_dest_is_told() {
    let package = |v1: &'static str, v2: &'static str, more: &[&'static str]| {
        let files = [("Kptfile", "k1"), (v1, "k1"), (v2, "k2")].map(|(path, commit)| (path, kptfile(commit)));
        files.into_iter().chain(more.iter().map(|path| (*path, thing("a", "{x: 1}")))).collect::<Vec<_>>()
    };
    let deeper = |side: &str| {
        format!(
            "warning: the path of {side} is one directory too high: its Kptfile is in \"web\", and dest's Kptfile is not. Let the path end with \"/web\", or new files are written to \"web/\""
        )
    };
    let of = |v1, v2, more| told(&package(v1, v2, more), &["one directory too high"]);
    assert_eq!(
        of("up/v1/web/Kptfile", "up/v2/web/Kptfile", &["up/v2/web/a.yaml"]),
        [deeper("original"), deeper("updated")]
    );
    assert_eq!(of("up/v1/Kptfile", "up/v2/web/Kptfile", &["up/v2/web/b/a.yaml"]), [deeper("updated")]);
    // Not everything is in the folder, or dest has it, too.
    assert!(of("up/v1/Kptfile", "up/v2/web/Kptfile", &["up/v2/a.yaml"]).is_empty());
    assert!(of("up/v1/Kptfile", "up/v2/Kptfile", &["up/v1/web/a.yaml", "up/v2/web/a.yaml"]).is_empty());
}

#[test]
fn an_original_that_dest_did_not_come_from_is_told() {
    const WORDS: [&str; 2] = ["original is the release", "dest already records"];
    let of = |dest: &str, v1: &str, v2: &str| {
        let files = [("Kptfile", kptfile(dest)), ("up/v1/Kptfile", kptfile(v1)), ("up/v2/Kptfile", kptfile(v2))];
        told(&files, &WORDS)
    };
    assert!(of("k1", "k1", "k2").is_empty());
    assert_eq!(
        of("k2", "k1", "k2"),
        [
            "info: dest already records the commit of updated, \"k2\" (`upstreamLock.git.commit`). Either this upgrade is done, or original and updated are swapped"
        ]
    );
    assert_eq!(
        of("k0", "k1", "k2"),
        [
            "warning: original is the release of commit \"k1\", but dest records the commit \"k0\" (`upstreamLock.git.commit`). Use the release of that commit as original"
        ]
    );
    // Another package has other commits.
    let own = |text: String| text.replace("/web", "/own");
    let other = [("Kptfile", own(kptfile("k0"))), ("up/v1/Kptfile", kptfile("k1")), ("up/v2/Kptfile", kptfile("k1"))];
    assert!(told(&other, &WORDS).is_empty());
}
