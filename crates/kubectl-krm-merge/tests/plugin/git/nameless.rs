//! Files whose documents have no name for the driver, such as a kustomization or the values of a chart: they are merged as documents.

use super::{Half, Repository, resolved};
use crate::support::{Folder, Ran, has};

/// What the driver makes of a file: its exit code, the text, and what it tells.
fn driven(path: &str, [original, ours, theirs]: [&str; 3]) -> (Option<i32>, String, String) {
    let folder = Folder::with(&[("o", original), ("a", ours), ("b", theirs)]);
    let Ran { code, stderr, .. } = folder.run(&["git-driver", "o", "a", "b", path]);
    (code, folder.read("a"), stderr)
}

fn merges(path: &str, sides: [&str; 3], want: &str) {
    if has("git") {
        assert_eq!(driven(path, sides), (Some(0), want.to_owned(), String::new()), "{path}");
    }
}

fn is_in_conflict(path: &str, sides: [&str; 3], want: &str, told: &str) {
    if has("git") {
        let (code, text, stderr) = driven(path, sides);
        assert_eq!((code, text.as_str()), (Some(1), want), "{path}: {stderr}");
        assert_eq!(stderr, format!("conflict: {path}: {told}\n"));
    }
}

#[test]
fn both_sides_add_to_the_lists_of_a_kustomization() {
    let of = |resources: &str| format!("resources:\n{resources}images:\n- name: web\n  newTag: v1\n");
    for path in ["kustomization.yaml", "base/kustomization.yml", "a/Kustomization"] {
        for head in ["", "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n"] {
            let [old, ours, theirs, both] = ["a", "ab", "ac", "abc"].map(|names| {
                let lines: String = names.chars().map(|name| format!("- {name}.yaml\n")).collect();
                head.to_owned() + &of(&lines)
            });
            merges(path, [&old, &ours, &theirs], &both);
            let break_with = |text: &str| text.replace('\n', "\r\n");
            let sides = [&old, &ours, &theirs].map(|text| break_with(text));
            merges(path, sides.each_ref().map(String::as_str), &break_with(&both));
        }
    }
    // One side alone writes the type, or a name.
    let ours = "kind: Kustomization\nresources:\n- a.yaml\n- b.yaml\n";
    let theirs = "metadata:\n  name: x\nresources:\n- a.yaml\n- c.yaml\n";
    let (code, text, told) = driven("kustomization.yaml", ["resources:\n- a.yaml\n", ours, theirs]);
    assert_eq!(code, Some(0), "{told}");
    for line in ["kind: Kustomization\n", "  name: x\n", "- a.yaml\n- b.yaml\n- c.yaml\n"] {
        assert!(text.contains(line), "{text}");
    }
}

#[test]
fn a_first_child_that_only_theirs_has_comes_also_beside_a_conflict() {
    let [ours, theirs] = ["2", "3"].map(|value| format!("a: 1\nb: {value}\n"));
    let marked = "a: 1\n<<<<<<< ours\nb: 2\n=======\nb: 3\n>>>>>>> theirs\n";
    let told = "both sides changed `b`: ours has 2, theirs has 3, original had 1; unresolved";
    // The comments above all fields are the file's, and come once.
    for [head, new] in [["", "n: 1\n"], ["# head\n\n", "n: 1\n"], ["# head\n\n", "# of n\nn: 1\n"]] {
        let sides = [format!("{head}a: 1\nb: 1\n"), format!("{head}{ours}"), format!("{head}{new}{theirs}")];
        let sides = sides.each_ref().map(String::as_str);
        is_in_conflict("values.yaml", sides, &format!("{head}{new}{marked}"), told);
    }
    let list = |elements: &[&str]| elements.iter().map(|name| format!("- {name}\n")).collect::<String>();
    let sides = [list(&["a", "b"]), list(&["a", "c"]), list(&["n", "a", "d"])];
    let want = "- n\n- a\n<<<<<<< ours\n- c\n=======\n- d\n>>>>>>> theirs\n";
    let told = "both sides changed `[1]`: ours has \"c\", theirs has \"d\", original had \"b\"; unresolved";
    is_in_conflict("list.yaml", sides.each_ref().map(String::as_str), want, told);
}

#[test]
fn a_first_child_that_ours_deleted_and_theirs_changed_stands_between_markers() {
    for [first, changed, rest, place] in [
        ["a: {x: 1}\n", "a: {x: 2}\n", "b: 1\n", "a"],
        ["- name: a\n  x: 1\n", "- name: a\n  x: 2\n", "- name: b\n  x: 1\n", "[name=a]"],
    ] {
        let sides = [format!("{first}{rest}"), rest.to_owned(), format!("{changed}{rest}")];
        let (code, text, told) = driven("values.yaml", sides.each_ref().map(String::as_str));
        assert_eq!(code, Some(1), "{told}");
        assert_eq!(text, format!("<<<<<<< ours\n=======\n{changed}>>>>>>> theirs\n{rest}"));
        assert!(told.contains(&format!("ours does not have `{place}`, and theirs changed it")), "{told}");
    }
}

#[test]
fn a_kustomization_gets_the_type_that_theirs_adds() {
    let old = "resources:\n- a.yaml\n";
    let typed = "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n";
    merges(
        "kustomization.yaml",
        [old, &format!("{old}- b.yaml\n"), &format!("{typed}{old}")],
        &format!("{typed}{old}- b.yaml\n"),
    );
}

/// In the driver, and in a merge of folders, also the second time.
#[test]
fn an_element_that_one_side_renamed_gets_the_changes_of_the_other_side() {
    let host =
        |name: &str, path: &str| format!("  - host: {name}\n    paths:\n    - path: {path}\n      type: Prefix\n");
    let hosts = |all: &[String]| format!("ingress:\n  hosts:\n{}  tls: []\n", all.concat());
    let step = |name: &str, uses: &str| format!("- name: {name}\n  uses: {uses}\n  with: {{depth: 1, token: t}}\n");
    let steps = |all: &[String]| format!("steps:\n{}", all.concat());
    let image =
        |name: &str, tag: &str| format!("images:\n- name: {name}\n  newName: r/app\n  newTag: {tag}\n  digest: x\n");
    for (path, [original, renamed, changed], want) in [
        // An element without a key, of two.
        (
            "values.yaml",
            [
                hosts(&[host("a", "/"), host("b", "/b")]),
                hosts(&[host("mine", "/"), host("b", "/b")]),
                hosts(&[host("a", "/app"), host("b", "/b")]),
            ],
            hosts(&[host("mine", "/app"), host("b", "/b")]),
        ),
        // One with a key, and one like it that comes.
        (
            "ci.yml",
            [
                steps(&[step("get", "v1")]),
                steps(&[step("mine", "v1")]),
                steps(&[step("get", "v2"), step("again", "v2")]),
            ],
            steps(&[step("mine", "v2"), step("again", "v2")]),
        ),
        ("kustomization.yaml", [image("a", "1"), image("b", "1"), image("a", "2")], image("b", "2")),
    ] {
        for [ours, theirs] in [[&renamed, &changed], [&changed, &renamed]] {
            merges(path, [&original, ours, theirs], &want);
            let folder = Folder::new();
            for (side, text) in [("o", &original), ("u", theirs), ("d", ours)] {
                folder.write(&format!("{side}/{path}"), text);
            }
            for run in ["the first", "the second"] {
                let args = "three-way --original o --updated u --dest d --in-place --on-conflict fail";
                folder.run(&args.split(' ').collect::<Vec<_>>()).passed();
                assert_eq!(folder.read(&format!("d/{path}")), want, "{path}, {run} run");
            }
        }
    }
}

const VALUES: &str = "# the image\nimage: app\nservice: ClusterIP\ningress: false\nresources: {}\nnodeSelector: {}\n";

#[test]
fn neighbouring_values_of_a_chart_merge() {
    let ours = VALUES.replace("image: app", "image: ours # of our own");
    let theirs = VALUES.replace("service: ClusterIP", "service: LoadBalancer");
    merges("values.yaml", [VALUES, &ours, &theirs], &ours.replace("ClusterIP", "LoadBalancer"));
    // As JSON, and in one line.
    merges(
        "values.yml",
        [r#"{"a": 1, "b": {"c": 1}}"#, r#"{"a": 2, "b": {"c": 1}}"#, r#"{"a": 1, "b": {"c": 2}}"#],
        r#"{"a": 2, "b": {"c": 2}}"#,
    );
    // A patch is a list.
    let op = |path: &str, value: u8| format!("- op: replace\n  path: {path}\n  value: {value}\n");
    let patch = |a: u8, b: u8| op("/a", a) + &op("/b", b);
    merges("patch.yaml", [&patch(1, 1), &patch(2, 1), &patch(1, 2)], &patch(2, 2));
}

/// git would put the key there twice, without a conflict.
#[test]
fn a_key_never_stands_twice() {
    let first = |text: &str, line: &str| text.replace("service:", &format!("{line}\nservice:"));
    let last = |text: &str, line: &str| format!("{text}{line}\n");
    for line_break in ["\n", "\r\n"] {
        let [old, ours, theirs] = [VALUES.to_owned(), last(VALUES, "replicas: 3"), first(VALUES, "replicas: 2")]
            .map(|text| text.replace('\n', line_break));
        let block = "<<<<<<< ours\nreplicas: 3\n=======\nreplicas: 2\n>>>>>>> theirs\n";
        let told = "both sides added `replicas`: ours has 3, theirs has 2; unresolved";
        let want = last(VALUES, "replicas: 3").replace("replicas: 3\n", block).replace('\n', line_break);
        is_in_conflict("values.yaml", [&old, &ours, &theirs], &want, told);
        // Whoever added it where.
        let want = first(VALUES, "replicas: 2")
            .replace("replicas: 2\n", &block.replace('3', "x").replace('2', "3").replace('x', "2"));
        let told = told.replace("ours has 3, theirs has 2", "ours has 2, theirs has 3");
        is_in_conflict("values.yaml", [&old, &theirs, &ours], &want.replace('\n', line_break), &told);
    }
    // With one value, it comes once.
    let ours = last(VALUES, "replicas: 3");
    merges("values.yaml", [VALUES, &ours, &first(VALUES, "replicas: 3")], &ours);
    // Deeper, and lists; in a resource, too.
    let below = |text: &str| text.lines().map(|line| format!("  {line}\n")).collect::<String>();
    let web = |text: &str| format!("web:\n{}", below(text));
    let resource = |text: &str| format!("apiVersion: a/v1\nkind: A\nmetadata:\n  name: a\n{}", web(text));
    for value in ["3", "[3]", "{a: 3}"] {
        let (ours, theirs) = (last(VALUES, &format!("more: {value}")), first(VALUES, "more: [2]"));
        for within in [&web as &dyn Fn(&str) -> String, &resource] {
            let (code, text, told) = driven("values.yaml", [&within(VALUES), &within(&ours), &within(&theirs)]);
            assert!(code == Some(1) && text.contains("<<<<<<<"), "{told}{text}");
            for half in [Half::Ours, Half::Theirs] {
                assert_eq!(resolved(&text, half).matches("more:").count(), 1, "{text}");
            }
        }
    }
}

/// Several documents without names cannot be told apart, so git merges their lines. But what it takes for clean must be YAML.
#[test]
fn lines_that_git_merges_to_no_yaml_are_in_conflict() {
    let file = |first: &str, second: &str| format!("a: 1\n---\n{first}b: 1\nc: 1\nd: 1\n{second}");
    let (ours, theirs) = (file("r: 2\n", ""), file("", "r: 3\n"));
    let want = "a: 1\n---\n<<<<<<< ours\nr: 2\n=======\n>>>>>>> theirs\nb: 1\nc: 1\nd: 1\n<<<<<<< ours\n=======\nr: 3\n>>>>>>> theirs\n";
    let told = "git merged its lines, but the result would be invalid YAML, or repeat a key or an anchor; unresolved. Resolve the conflict markers in the file";
    is_in_conflict("values.yaml", [&file("", ""), &ours, &theirs], want, told);
    merges("values.yaml", [&file("", ""), &ours, &file("", "s: 3\n")], &file("r: 2\n", "s: 3\n"));
    // A template is no YAML on any side.
    let template = |first: &str, last: &str| format!("{{{{ a }}}}\n{first}x: 1\ny: 1\nz: 1\n{last}");
    merges(
        "t.yaml",
        [&template("", ""), &template("r: 1\n", ""), &template("", "r: 2\n")],
        &template("r: 1\n", "r: 2\n"),
    );
}

#[test]
fn a_conflict_is_marked_around_its_field() {
    let with = |image: &str, service: &str| VALUES.replace("image: app", image).replace("ClusterIP", service);
    let want = with("<<<<<<< ours\nimage: a\n=======\nimage: b\n>>>>>>> theirs", "LoadBalancer");
    is_in_conflict(
        "chart/values.yaml",
        [VALUES, &with("image: a", "ClusterIP"), &with("image: b", "LoadBalancer")],
        &want,
        "both sides changed `image`: ours has \"a\", theirs has \"b\", original had \"app\"; unresolved",
    );
    // The API server gives the name.
    let job = |image: &str, tail: &str| {
        format!(
            "apiVersion: batch/v1\nkind: Job\nmetadata:\n  generateName: job-\nspec:\n  template:\n    spec:\n      containers:\n      - name: a\n        image: {image}\n{tail}"
        )
    };
    is_in_conflict(
        "job.yaml",
        [&job("a:1", ""), &job("a:2", "      - name: b\n"), &job("a:3", "      - name: c\n")],
        &job("", "      - name: b\n      - name: c\n").replace(
            "        image: \n",
            "<<<<<<< ours\n        image: a:2\n=======\n        image: a:3\n>>>>>>> theirs\n",
        ),
        "both sides changed the tag of `spec.template.spec.containers[name=a].image`: ours has \"a:2\", theirs has \"a:3\", original had \"a:1\"; unresolved",
    );
}

/// The whole list is in conflict, but git finds the lines.
#[test]
fn a_conflict_in_a_list_without_keys_is_no_larger_than_git_s() {
    let step = |run: &str| format!("- run: {run}\n  with:\n  - {run}\n");
    let list = |runs: &[&str]| runs.iter().map(|run| step(run)).collect::<String>();
    let texts = [list(&["a", "b", "c", "d"]), list(&["b2", "c", "a", "d"]), list(&["b3", "c", "a", "d"])];
    if has("git") {
        let (code, text, told) = driven("steps.yaml", texts.each_ref().map(String::as_str));
        assert_eq!(code, Some(1), "{told}");
        assert!(text.ends_with(&list(&["c", "a", "d"])) && text.starts_with("<<<<<<< ours\n- run: b2\n"), "{text}");
    }
}

/// git's lines of the list alone would be clean, with a list that neither side has.
#[test]
fn a_list_in_conflict_is_between_markers() {
    if !has("git") {
        return;
    }
    let file = |list: &str| {
        let elements: String = list.chars().map(|element| format!("  - {element}\n")).collect();
        format!("a: 1\nl:\n{elements}z: 1\n")
    };
    for sides in [["11777", "177", "711177"], ["7744", "4774", "744"], ["17771", "717711", "177171"]] {
        let (code, text, told) = driven("values.yaml", sides.map(file).each_ref().map(String::as_str));
        assert!(code == Some(1) && text.contains("<<<<<<< ours\n"), "{text}{told}");
    }
}

/// Where git stops, a comment is there as often as the sides say, or git's own conflict stands.
#[test]
fn a_comment_at_the_end_of_a_block_is_neither_doubled_nor_brought_back() {
    if !has("git") {
        return;
    }
    for sides in [
        // A field comes below a comment that the other side changed, or to which it added another one.
        ["a: 1\n# end\n", "a: 1\n# end, ours\n", "a: 1\n# end\nb: 1\n"],
        ["a: 1\n# end\n", "a: 1\n# end\n# ours\n", "a: 1\n# end\nb: 1\n"],
        // The last field goes, and the comment below it stays, as if it was that of the element before.
        [
            "l:\n- a: 1\n  # a\n- b: 2\n  # b\nm: 1\n",
            "l:\n- a: 1\n- b: 2\n  # b\nm: 1\n",
            "l:\n- a: 1\n  # a\n  # b\nm: 1\n",
        ],
        // A field that one side uncommented, and the other side has the next one.
        ["a: 1\n# b: 2\nc: 1\n", "a: 1\nb: 2\nc: 1\n", "a: 1\n# b: 2\nd: 1\nc: 1\n"],
    ] {
        for sides in [sides, [sides[0], sides[2], sides[1]]] {
            let (code, text, told) = driven("values.yaml", sides);
            assert!(code == Some(1) && text.contains("<<<<<<< ours\n"), "{sides:?}\n{text}{told}");
        }
    }
}

/// As in a three-way merge, rules decide such a file by its path, its type or its fields, and `onConflict` what they leave.
#[test]
fn the_settings_of_the_repository_decide() {
    if !has("git") {
        return;
    }
    let merged = |spec: &str| {
        let repository = Repository::new("values.yaml", VALUES);
        repository
            .0
            .write(".krm-merge.yaml", format!("apiVersion: krm-merge.dev/v1alpha1\nkind: Merge\nspec:\n{spec}"));
        repository.commit("rules");
        let side = |image: &str| VALUES.replace("image: app", image);
        repository.branch("values.yaml", &side("image: a"), &side("image: b"));
        let ran = Ran::of(repository.command(&["merge", "topic", "-m", "m"]).output().expect("git"));
        (ran.code, repository.0.read("values.yaml"), ran.stderr)
    };
    let (code, text, told) = merged("  onConflict: TakeUpdated\n");
    assert_eq!((code, text), (Some(0), VALUES.replace("app", "b")), "{told}");
    let want =
        "info: values.yaml: both sides changed `image`; took theirs, as `spec.onConflict` of .krm-merge.yaml says\n";
    assert!(told.contains(want), "{told}");
    for (rule, wins) in [
        ("{path: image, take: Dest}", Some("a")),
        ("{target: {path: '*.yaml'}, take: Updated}", Some("b")),
        ("{target: {path: charts}, take: Updated}", None),
        ("{target: {kind: Deployment}, take: Updated}", None),
        ("{path: image, take: Fail}", None),
    ] {
        let (code, text, told) = merged(&format!("  rules:\n  - {rule}\n"));
        match wins {
            Some(image) => assert_eq!((code, text), (Some(0), VALUES.replace("app", image)), "{rule}: {told}"),
            None => assert!(code == Some(1) && text.contains("<<<<<<< HEAD\nimage: a\n======="), "{rule}: {text}"),
        }
    }
}

/// kustomize reads its own files by name, so no definition in the index is looked for.
#[test]
fn a_kustomization_needs_no_definition() {
    if !has("git") {
        return;
    }
    let repository = Repository::new("kustomization.yaml", "resources:\n- a\n");
    repository.branch("kustomization.yaml", "resources:\n- a\n- b\n", "resources:\n- a\n- c\n");
    repository.git(&["merge", "-q", "topic"]);
    assert_eq!(repository.0.read("kustomization.yaml"), "resources:\n- a\n- b\n- c\n");
    assert!(!repository.0.path(".git/krm-merge/definitions").exists());
}

/// What a side has twice stays, but the lines of both sides together must not make it more.
#[test]
fn a_key_that_a_side_has_twice_excuses_no_other_one() {
    let text = |first: &str, last: &str| format!("a: 1\na: 2\n{first}b: 1\nc: 1\nd: 1\n{last}");
    let sides = [&text("", ""), &text("r: 2\n", ""), &text("", "s: 3\n")];
    merges("values.yaml", sides.map(String::as_str), &text("r: 2\n", "s: 3\n"));
    // In a list that the merge of values takes whole, too.
    let list = |a: &str, z: &str| {
        let head = "apiVersion: v1\nkind: Thing\nmetadata:\n  name: a\nspec:\n";
        format!("{head}- k:\n    a:{a}\n    b: 1\n    c: 1\n    b: 2\n    d: 1\n    e: 1\n    z:{z}\n")
    };
    let sides = [&list(" 1", " 1"), &list(" 2", " 1"), &list(" 1", " 2")];
    merges("thing.yaml", sides.map(String::as_str), &list(" 2", " 2"));
    let told = "git merged its lines, but the result would be invalid YAML, or repeat a key or an anchor; unresolved. Resolve the conflict markers in the file";
    let want = text("<<<<<<< ours\nr: 2\n=======\n>>>>>>> theirs\n", "<<<<<<< ours\n=======\nr: 3\n>>>>>>> theirs\n");
    is_in_conflict("values.yaml", [&text("", ""), &text("r: 2\n", ""), &text("", "r: 3\n")], &want, told);
}

/// A template is no YAML, so git merges its lines, and in a large file, it first compares them quickly.
#[test]
fn a_large_file_is_merged_as_git_merge_does_it() {
    if !has("git") || Repository::new("a", "").is_old() {
        return;
    }
    let rest: String = (0..12_000).map(|line| format!("# a line of the rest, number {line:08}\n")).collect();
    let text = |lines: &str| lines.chars().map(|line| format!("{{{{ {line} }}}}\n")).collect::<String>() + &rest;
    let texts = ["zxxyyyyx", "zxyyyyx", "zxyyy"].map(text);
    merges("t.yaml", texts.each_ref().map(String::as_str), &texts[2]);
}

/// Ours changes what has an anchor, and theirs adds an alias of it.
#[test]
fn an_alias_that_theirs_adds_follows_what_ours_changed() {
    let head = "defaults: &defaults\n  dir: /go\n  env:\n    PATH: /go/bin\njobs:\n  build:\n    <<: *defaults\n    steps: [make]\n";
    let ours = |text: &str| text.replace("    PATH: /go/bin\n", "    PATH: /go/bin\n    KEEP: '1'\n");
    for new in ["  pack:\n    <<: *defaults\n    steps: [pack]\n", "  pack: *defaults\n", "  all: [{a: *defaults}]\n"] {
        let text = |new: &str| format!("{head}{new}flow:\n- build\n");
        let (old, theirs) = (text(""), text(new));
        merges("ci.yaml", [&old, &ours(&old), &theirs], &ours(&theirs));
        merges("ci.yaml", [&old, &theirs, &ours(&old)], &ours(&theirs));
        let resource = |text: &str| format!("apiVersion: example.com/v1\nkind: Ci\nmetadata:\n  name: a\n{text}");
        merges("ci.yaml", [&resource(&old), &resource(&ours(&old)), &resource(&theirs)], &resource(&ours(&theirs)));
    }
}

/// A reader takes the last anchor of a name before an alias, or refuses the file.
#[test]
fn no_anchor_comes_twice_that_each_side_has_once() {
    let text = |first: &str, last: &str| format!("{first}b: 1\nc: 1\nd: 1\n{last}");
    let told = "git merged its lines, but the result would be invalid YAML, or repeat a key or an anchor; unresolved. Resolve the conflict markers in the file";
    let want =
        text("<<<<<<< ours\nr: &x 2\n=======\n>>>>>>> theirs\n", "<<<<<<< ours\n=======\ns: &x 3\n>>>>>>> theirs\n");
    is_in_conflict("values.yaml", [&text("", ""), &text("r: &x 2\n", ""), &text("", "s: &x 3\n")], &want, told);
    // A side that has one twice means it.
    let (twice, both) = (text("r: &x 2\n", "s: &x 3\n"), text("r: &x 4\n", "s: &x 3\nt: 1\n"));
    merges("values.yaml", [&twice, &twice.replace('2', "4"), &format!("{twice}t: 1\n")], &both);
    // Ours moved the anchor below the first use that theirs added.
    let (app, log, job) = ("app: &app [a, b]\n", "log: [c]\n", "job:\n  run: *app\n");
    let (old, ours, new) = (format!("{app}{log}{job}"), format!("{log}{app}{job}"), "new:\n  run: *app\n");
    let theirs = format!("{app}{log}{new}{job}");
    for sides in [[&old, &ours, &theirs], [&old, &theirs, &ours]] {
        let (code, text, told) = driven("ci.yaml", sides.map(String::as_str));
        assert_eq!(code, Some(1), "{told}{text}");
    }
}

#[test]
fn an_anchor_that_moves_below_a_new_parent_is_followed_or_in_conflict() {
    let text =
        |anchor: &str, name: &str| format!("{anchor}jobs:\n  web:\n    run: *{name}\n  mail:\n    run: *{name}\n");
    let value = "image: a\n  restart: b\n  level: c\n";
    let old = text(&format!("app: &app\n  {value}"), "app");
    let below = |key: &str| text(&format!("{key}:\n  app: &app\n    {}", value.replace("\n ", "\n   ")), "app");
    let renamed = old.replace("&app", "&base").replace("*app", "*base");
    for theirs in [below("all"), below("app")] {
        for ours in [old.replace("level: c\n", "level: c\n  init: d\n"), old.replace("  restart: b\n", "")] {
            for sides in [[&old, &ours, &theirs], [&old, &theirs, &ours]] {
                let (code, text, told) = driven("ci.yaml", sides.map(String::as_str));
                assert_eq!(code, Some(1), "{told}{text}");
            }
        }
    }
    let (code, marked, told) = driven("ci.yaml", [&old, &renamed, &below("app")]);
    assert_eq!(code, Some(1), "{told}{marked}");
    merges("ci.yaml", [&old, &renamed, &below("all")], &below("all"));
}
