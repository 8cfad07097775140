//! `extract`: the patch that it prints turns original into dest, to the byte, or it says what no patch can express.

use std::fs;

use crate::shared::files_below;
use crate::support::{Folder, Ran, map, root};

const HEAD: &str = "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\n";

/// A Deployment with this below `spec`.
fn web(spec: &str) -> String {
    format!("# ours\n{HEAD}  labels: {{app: web}}\nspec:\n{spec}")
}

const SPEC: &str = "  replicas: 1 # few\n  template:\n    spec:\n      # who runs\n      containers:\n      - name: app\n        image: \"web:1\"\n      - name: proxy\n        image: p:1\n      nodeName: n\n";

/// Runs `extract` on two files, and checks that a patch makes the one of the other.
fn extracted(original: &str, dest: &str, args: &[&str]) -> Ran {
    let folder = Folder::with(&[("original.yaml", original), ("dest.yaml", dest)]);
    let ran = folder.run(&[&["extract", "original.yaml", "dest.yaml"], args].concat());
    if ran.code == Some(0) && !ran.stdout.is_empty() && !args.contains(&"--values") {
        let mode = if args.contains(&"strategic") { "strategic" } else { "two-way" };
        let keys = args.iter().position(|arg| *arg == "--merge-keys").map_or(&[][..], |at| &args[at..at + 2]);
        let apply = [&[mode, "--source", "-", "--dest", "original.yaml"], keys].concat();
        let merged = folder.run_with(&ran.stdout, &apply);
        assert_eq!(merged.passed(), dest, "{}", ran.stdout);
    }
    ran
}

#[test]
fn the_patch_is_the_smallest_that_makes_of_original_what_dest_is() {
    let container = |body: &str| format!("spec:\n  template:\n    spec:\n      containers:\n{body}");
    for (from, to, want) in [
        ("1 # few", "3 # few", "spec:\n  replicas: 3\n".to_owned()),
        ("1 # few", "1 # enough", "spec:\n  replicas: 1 # enough\n".to_owned()),
        ("  replicas: 1 # few\n", "", "spec:\n  replicas: null\n".to_owned()),
        ("\"web:1\"", "'web:2'", container("      - name: app\n        image: 'web:2'\n")),
        ("      - name: proxy\n        image: p:1\n", "", container("      - name: proxy\n        $patch: delete\n")),
        (
            "p:1\n",
            "p:1\n      - name: new # ours\n        image: n\n",
            container("      - name: new # ours\n        image: n\n"),
        ),
        // The patch takes nothing back of this neighbour.
        (
            "# few\n",
            "# few\n  # ours\n  paused: true\n",
            "spec:\n  # ours\n  paused: true\n  template: {}\n".to_owned(),
        ),
        ("  replicas", "  paused: true\n  replicas", "spec:\n  paused: true\n  replicas: 1\n".to_owned()),
        ("n\n", "n\n  paused: true\n", "spec:\n  paused: true\n".to_owned()),
    ] {
        let at = SPEC.rfind(from).expect(from);
        let dest = web(&format!("{}{to}{}", &SPEC[..at], &SPEC[at + from.len()..]));
        assert_eq!(extracted(&web(SPEC), &dest, &[]).passed(), format!("{HEAD}{want}"), "{from}");
    }
}

#[test]
fn where_nothing_differs_there_is_no_patch() {
    assert_eq!(extracted(&web(SPEC), &web(SPEC), &[]).passed(), "");
    // Also where no resource is.
    assert_eq!(extracted("a: 1\n", "a: 1\n", &[]).passed(), "");
}

#[test]
fn the_mode_says_how_a_list_gets_another_order() {
    let (app, proxy) = ("      - name: app\n        image: \"web:1\"\n", "      - name: proxy\n        image: p:1\n");
    let dest = web(&SPEC.replace(&format!("{app}{proxy}"), &format!("{proxy}{app}")));
    let spec = "spec:\n  template:\n    spec:\n";
    let whole = format!("{HEAD}{spec}      containers:\n      - $patch: replace\n{proxy}{app}");
    assert_eq!(extracted(&web(SPEC), &dest, &[]).passed(), whole);
    let order = format!("{HEAD}{spec}      $setElementOrder/containers:\n      - name: proxy\n      - name: app\n");
    assert_eq!(extracted(&web(SPEC), &dest, &["--mode", "strategic"]).passed(), order);
    let pod = |finalizers: &str| {
        format!("apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\n  finalizers: [{finalizers}]\nspec: {{}}\n")
    };
    let patch = |text: &str| format!("apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\n  {text}\n");
    for (args, want) in [
        (&[][..], "finalizers: [{$patch: replace}, x]"),
        (&["--mode", "strategic"], "$deleteFromPrimitiveList/finalizers: [y]"),
    ] {
        assert_eq!(extracted(&pod("x, y"), &pod("x"), args).passed(), patch(want));
    }
}

#[test]
fn resources_come_and_go_in_the_files_of_a_folder() {
    let (a, b, c) = (map("a", &[("x", "'1'")]), map("b", &[("x", "'1'")]), map("c", &[("x", "'1'")]));
    let folder = Folder::with(&[
        ("original/maps.yaml", &format!("{a}---\n{b}")),
        ("original/gone.yaml", &c),
        ("original/README.md", "read\n"),
        (
            "dest/maps.yaml",
            &format!("{}---\n{}", a.replace("'1'", "'2'"), map("d", &[]).replace("\ndata:\n", "\ndata: {}\n")),
        ),
        ("dest/new/e.yaml", &map("e", &[("x", "'1' # why")])),
        ("dest/README.md", "read\n"),
    ]);
    let patch = folder.run(&["extract", "original", "dest"]).passed();
    let deleted = |name: &str| format!("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {name}\n$patch: delete\n");
    assert!(patch.contains(&deleted("b")) && patch.contains(&deleted("c")), "{patch}");
    assert!(patch.contains("internal.config.kubernetes.io/path: new/e.yaml\n"), "{patch}");
    folder.write("patch.yaml", &patch);
    folder.run(&["two-way", "--source", "patch.yaml", "--dest", "original", "--in-place"]).passed();
    assert_eq!(folder.files("original"), folder.files("dest"));
    // Once more, there is nothing to say.
    assert_eq!(folder.run(&["extract", "original", "dest"]).passed(), "");
}

#[test]
fn what_no_patch_can_express_is_named_with_its_line() {
    let spec = |from: &str, to: &str| web(&SPEC.replacen(from, to, 1));
    let proxy = "spec.template.spec.containers[name=proxy]";
    for (dest, line, place, why) in [
        (spec("# who runs", "# who works"), 12, "spec.template.spec.containers", "no comments above"),
        (spec(" # few", ""), 8, "spec.replicas", "leaves another comment"),
        (spec("\"web:1\"", "web:1"), 14, "spec.template.spec.containers[name=app].image", "no layout"),
        (spec("replicas: 1 # few", "replicas: null # few"), 8, "spec.replicas", "a null in a patch removes"),
        (spec("name: proxy\n        image: p:1", "image: p:1\n        name: proxy"), 15, proxy, "does not move fields"),
        (spec("      nodeName", "\n      nodeName"), 17, "", "no blank lines"),
    ] {
        let ran = extracted(&web(SPEC), &dest, &[]);
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(1), ""), "{ran:?}");
        let first = ran.stderr.lines().next().unwrap_or_default();
        assert!(first.starts_with(&format!("error: dest.yaml:{line}: Deployment web: ")), "{}", ran.stderr);
        assert!(first.contains(&format!("`{place}")) || place.is_empty(), "{}", ran.stderr);
        assert!(first.contains(why), "{}", ran.stderr);
        let last = "a patch cannot express 1 difference; `--values` makes one of the values alone";
        assert_eq!(ran.stderr.lines().collect::<Vec<_>>()[1..], [last], "{}", ran.stderr);
        // The values are the same, but for none.
        assert_eq!(extracted(&web(SPEC), &dest, &["--values"]).code, Some(0));
    }
    let of_file = spec("# who runs", "# who runs") + "# the end\n";
    assert!(extracted(&web(SPEC), &of_file, &[]).failed(1).contains("dest.yaml:18: "));
}

#[test]
fn whole_resources_can_be_beyond_a_patch_too() {
    let (a, b) = (map("a", &[("x", "'1'")]), map("b", &[("x", "'1'")]));
    let kustomization = |name: &str| format!("kind: Kustomization\nresources: [{name}.yaml]\n");
    for (original, dest, args, want) in [
        (a.clone(), format!("{b}---\n{a}"), &[][..], "dest.yaml:1: ConfigMap b: a patch adds resources at the end"),
        (
            format!("{a}---\n{b}"),
            format!("{b}---\n{a}"),
            &[],
            "dest.yaml:1: ConfigMap b: a patch adds resources at the",
        ),
        (
            format!("{}---\n{a}", kustomization("a")),
            format!("{}---\n{a}", kustomization("b")),
            &[],
            "dest.yaml:1: a patch names a resource by apiVersion, kind and",
        ),
        (
            a.clone(),
            format!("{a}---\n{b}"),
            &["--mode", "strategic"],
            "dest.yaml:8: ConfigMap b: a patch of mode Strat",
        ),
        (
            a.clone(),
            format!("{a}---\n{b}"),
            &["--mode=strategic", "--values"],
            "ConfigMap b: a patch of mode Strategic",
        ),
    ] {
        let told = extracted(&original, &dest, args).failed(1);
        assert!(told.contains(want), "{told}");
    }
    let twice = format!("{a}---\n{a}");
    let told = extracted(&twice, &twice.replacen("'1'", "'2'", 1), &[]).failed(1);
    assert!(
        told.starts_with("error: original.yaml:1: ConfigMap a: a patch names a resource by apiVersion, kind, n"),
        "{told}"
    );
    let odd = a.replace("  x: '1'\n", "  x: '1'\n  x: '1'\n");
    assert!(
        extracted(&odd, &a, &[])
            .failed(2)
            .starts_with("error: original.yaml:7:3: the key `x` must be in a map only once")
    );
    // A file that is named alone may be left empty, and may have been.
    let deleted = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n$patch: delete\n";
    assert_eq!(extracted(&a, "", &[]).passed(), deleted);
    assert_eq!(extracted("", &a, &[]).passed(), a);
    // Of the values, the place is none.
    extracted(&a, &format!("{b}---\n{a}"), &["--values"]).passed();
    let folder = Folder::with(&[("original/a.yaml", &a), ("dest/a.yaml", &a), ("dest/README.md", "read\n")]);
    let told = folder.run(&["extract", "original", "dest"]).failed(1);
    assert!(told.starts_with("error: dest/README.md: a patch changes resources alone"), "{told}");
}

#[test]
fn a_document_that_is_a_list_or_a_scalar_is_no_less_a_difference() {
    let with = |other: &str| format!("{}{other}", map("a", &[("x", "'1'")]));
    for (original, dest, line) in [
        ("---\n- a\n", "---\n- b\n", 8),
        ("---\na\n", "---\nb\n", 8),
        ("", "---\n- b\n", 8),
        ("---\n- a\n", "", 8),
        ("---\n- a\n---\n- b\n", "---\n- a\n---\n- c\n", 10),
    ] {
        let folder = Folder::with(&[("original/a.yaml", &with(original)), ("dest/a.yaml", &with(dest))]);
        for extent in [&[][..], &["--values"]] {
            let told = folder.run(&[&["extract", "original", "dest"], extent].concat()).failed(1);
            let want =
                format!("a.yaml:{line}: a patch names a resource by apiVersion, kind and name, and this document");
            assert!(told.starts_with("error: ") && told.contains(&want), "{extent:?}: {told}");
            assert!(told.ends_with("a patch cannot express 1 difference\n"), "{extent:?}: {told}");
        }
    }
    // What is only written otherwise is no difference in values.
    let folder = Folder::with(&[("original/a.yaml", &with("---\n- a\n")), ("dest/a.yaml", &with("---\n[\"a\"]\n"))]);
    assert_eq!(folder.run(&["extract", "--values", "original", "dest"]).passed(), "");
}

#[test]
fn each_state_of_real_packages_becomes_each_other_one_or_it_is_said_why_not() {
    let packages = fs::read_dir(root().join("tests/upgrades")).expect("a folder");
    let mut made = 0;
    for package in packages.map(|entry| entry.expect("an entry").path()) {
        let states = ["original", "updated", "dest", "merged"].map(|state| files_below(&package.join(state)));
        for (original, dest) in states.iter().flat_map(|original| states.iter().map(move |dest| (original, dest))) {
            let folder = Folder::new();
            for (state, files) in [("original", original), ("dest", dest)] {
                files.iter().for_each(|(path, text)| folder.write(&format!("{state}/{path}"), text));
            }
            let ran = folder.run(&["extract", "original", "dest"]);
            if ran.code == Some(1) {
                assert!(ran.stdout.is_empty() && ran.stderr.starts_with("error: dest/"), "{ran:?}");
                continue;
            }
            folder.write("patch.yaml", ran.passed());
            if !folder.read("patch.yaml").is_empty() {
                folder.run(&["two-way", "-s", "patch.yaml", "-d", "original", "-i"]).passed();
            }
            assert_eq!(folder.files("original"), folder.files("dest"), "{}", package.display());
            made += 1;
        }
    }
    assert!(made >= 100, "{made}");
}

#[test]
fn lists_of_custom_resources_merge_as_the_flags_say() {
    let gate =
        |doors: &str| format!("apiVersion: example.com/v1\nkind: Gate\nmetadata:\n  name: a\nspec:\n  doors:\n{doors}");
    let (hall, attic) = ("  - room: hall\n    wide: 1\n", "  - room: attic\n    wide: 1\n");
    let (original, dest) = (gate(&format!("{hall}{attic}")), gate(&format!("{hall}{}", attic.replace('1', "2"))));
    assert_eq!(extracted(&original, &dest, &[]).passed(), dest);
    let folder = Folder::with(&[("original.yaml", &original), ("dest.yaml", &dest)]);
    let rule = ["--merge-keys", "apiVersion=example.com/v1,kind=Gate,path=spec.doors,keys=room"];
    let patch = folder.run(&[&["extract", "original.yaml", "dest.yaml"], &rule[..]].concat()).passed();
    assert_eq!(patch, gate("  - room: attic\n    wide: 2\n"));
    let merge = ["two-way", "--source", "-", "--dest", "original.yaml"];
    assert_eq!(folder.run_with(&patch, &[&merge[..], &rule[..]].concat()).passed(), dest);
}

/// An overlay that has a whole list takes back what the next release changes in it. Elements by keys are for those who know the keys.
#[test]
fn what_a_patch_has_whole_or_by_keys_is_told() {
    let told = |original: &str, dest: &str, args: &[&str]| {
        let ran = extracted(original, dest, args);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        ran.stderr
    };
    let (app, proxy) = ("      - name: app\n        image: \"web:1\"\n", "      - name: proxy\n        image: p:1\n");
    let first = SPEC.replace(&format!("{app}{proxy}"), &format!("{proxy}{app}"));
    let whole = "`spec.template.spec.containers`: the patch has all of it, and takes back what a later release changes";
    assert!(told(&web(SPEC), &web(&first), &[]).contains(&format!("info: dest.yaml:13: Deployment web: {whole}")));
    assert_eq!(told(&web(SPEC), &web(&first), &["--mode", "strategic"]), "");
    let with = |args: &str| {
        web(&SPEC.replace("        image: p:1\n", &format!("        image: p:1\n        args: [{args}]\n")))
    };
    assert!(told(&with("a, b"), &with("a, c"), &[]).contains("`spec.template.spec.containers[name=proxy].args`: "));
    // What original lacks, and what merges, takes nothing back.
    for dest in [
        SPEC.replace("name: proxy\n", "name: proxy\n        tty: true\n"),
        SPEC.replace("name: proxy\n", "name: proxy\n        args: [a]\n"),
    ] {
        assert_eq!(told(&web(SPEC), &web(&dest), &[]), "");
    }
    // Where a three-way merge takes a part of a value from each side, the patch has all of it.
    let taken_back = |path: &str, from: &str, to: &str, args: &[&str]| {
        let told = told(&web(SPEC), &web(&SPEC.replace(from, to)), args);
        assert!(told.contains(&format!("Deployment web: `{path}`: the patch has all of it, and takes back")), "{told}");
    };
    taken_back("spec.template.spec.containers[name=proxy].image", "p:1", "mirror/p:1", &[]);
    taken_back("spec.replicas", "1 # few", "1 # enough", &[]);
    // A neighbour that gives a new field its place, if none does that would take nothing back.
    let data = |new: &str| format!("{}{new}  y: c\n", map("m", &[("x", "a")]));
    assert!(told(&data(""), &data("  new: b\n"), &[]).contains("`data.x`: the patch has all of it"));
    assert_eq!(told(&data(""), &data("  new: b\n"), &["--values"]), "");
    assert_eq!(told(&web(SPEC), &web(&SPEC.replace("# few\n", "# few\n  paused: true\n")), &[]), "");
    let text = |line: &str| map("m", &[("x", &format!("|\n    one\n    {line}"))]);
    assert!(told(&text("two"), &text("three"), &[]).contains("`data.x`: the patch has all of it"));
    assert_eq!(told(&map("m", &[("x", "a")]), &map("m", &[("x", "b")]), &[]), "");
    // What has another name in original is deleted and added.
    let renamed = "original has this under another name; the patch deletes that and adds this, so it misses what";
    let container = |name: &str| {
        web(&SPEC.replace("- name: proxy\n", &format!("- name: {name}\n        tty: true\n        stdin: true\n")))
    };
    let told_of = told(&container("proxy"), &container("front"), &[]);
    assert!(told_of.contains(&format!("`spec.template.spec.containers[name=front]`: {renamed}")), "{told_of}");
    let told_of = told(&web(SPEC), &web(SPEC).replace("  name: web\n", "  name: shop\n"), &[]);
    assert!(told_of.contains(&format!("dest.yaml:2: Deployment shop: {renamed}")), "{told_of}");
    let null = web(&SPEC.replace("nodeName: n", "nodeName: null"));
    assert!(
        told(&web(SPEC), &null, &["--values"]).contains("`spec.template.spec.nodeName`: a null in a patch removes")
    );
    assert_eq!(told(&null, &null, &["--values"]), "");
    let policy = |message: &str| {
        let rule = format!("  - name: one\n    match: {{any: [x]}}\n    validate: {{message: {message}}}\n");
        format!("apiVersion: kyverno.io/v1\nkind: ClusterPolicy\nmetadata:\n  name: p\nspec:\n  rules:\n{rule}")
    };
    let by_keys = told(&policy("old"), &policy("new"), &[]);
    assert!(
        by_keys.contains("ClusterPolicy p: `spec.rules`: the patch names its elements by keys, which kustomize's"),
        "{by_keys}"
    );
    // A new order alone is `$setElementOrder`, which nobody else reads in a custom resource, and so is a set.
    let ordered = |rules: [&str; 2]| {
        let rules = rules.map(|name| format!("  - name: {name}\n    match: {{any: [x]}}\n")).concat();
        format!("apiVersion: kyverno.io/v1\nkind: ClusterPolicy\nmetadata:\n  name: p\nspec:\n  rules:\n{rules}")
    };
    let keys = "apiVersion=kyverno.io/v1,kind=ClusterPolicy,path=spec.rules,keys=name";
    let args = ["--mode", "strategic", "--merge-keys", keys];
    let of_order = told(&ordered(["one", "two"]), &ordered(["two", "one"]), &args);
    assert!(of_order.contains("`spec.rules`: the patch names its elements by keys"), "{of_order}");
    let set = |kind: &str, of: &str| format!("{kind}\nmetadata:\n  name: p\n  finalizers: [{of}]\n");
    let told_of = |kind: &str| told(&set(kind, "a, b"), &set(kind, "b"), &["--mode", "strategic"]);
    let of_set = told_of("apiVersion: kyverno.io/v1\nkind: ClusterPolicy");
    assert!(of_set.contains("`metadata.finalizers`: the patch changes its elements as those of a set"), "{of_set}");
    assert_eq!(told_of("apiVersion: v1\nkind: ConfigMap"), "");
}

#[test]
fn the_patch_for_a_new_resource_has_the_path_of_its_file() {
    let new = map("b", &[]).replace("metadata:\n", "metadata:\n  annotations:\n");
    let folder = Folder::with(&[("v1/a.yaml", &map("a", &[])), ("here/a.yaml", &[map("a", &[]), new].join("---\n"))]);
    let patch = folder.run(&["extract", "--mode", "two-way", "--values", "v1", "here"]).passed();
    assert!(patch.contains("  annotations:\n    internal.config.kubernetes.io/path: a.yaml\n"), "{patch}");
    // Where original holds something else, no merge of the patch would add it.
    folder.write("v1/a.yaml", "- a\n");
    let ran = folder.run(&["extract", "--mode", "two-way", "--values", "v1", "here"]);
    let told = "here/a.yaml:1: ConfigMap a: a patch adds no resource to a file in which original holds something else";
    assert!(ran.code == Some(1) && ran.stderr.contains(told), "{ran:?}");
}

/// A file without resources is known by its path, so its apiVersion is a field like any other.
#[test]
fn the_patch_for_a_chart_holds_no_version_of_its_format() {
    let chart = |version: &str| format!("apiVersion: v1\nname: shop\nversion: {version}\n");
    assert_eq!(extracted(&chart("1.0.0"), &chart("1.0.1"), &[]).passed(), "version: 1.0.1\n");
}

/// In a patch, an alias has a value of its own: no merge of it changes another field.
#[test]
fn the_patch_has_the_value_of_each_alias_of_a_changed_anchor() {
    let map = |value: &str| map("m", &[("a", &format!("&x {value}")), ("b", "*x")]);
    let patch = extracted(&map("one"), &map("two"), &["--values"]).passed();
    assert!(patch.ends_with("data:\n  a: two\n  b: two\n"), "{patch}");
}

#[test]
fn sides_that_cannot_be_read_are_errors() {
    let folder = Folder::with(&[("a.yaml", &map("a", &[])), ("b/c.yaml", &map("a", &[]))]);
    for (args, want) in [
        (["-", "-"], "only one side must be `-`"),
        (["a.yaml", "b"], "must both be folders, or neither"),
        (["a.yaml", "none.yaml"], "none.yaml"),
    ] {
        let told = folder.run(&[&["extract"], &args[..]].concat()).failed(2);
        assert!(told.contains(want), "{told}");
    }
}

/// A file of values is no resource, so a patch cannot delete it.
#[test]
fn a_file_of_values_that_dest_lacks_is_told() {
    let resource = map("a", &[("x", "1")]);
    let folder = Folder::with(&[
        ("original/a.yaml", &resource),
        ("original/values.yaml", "x: 1\n"),
        ("original/empty.yaml", "# nothing\n"),
        ("original/README.md", "text\n"),
        ("dest/moved.yaml", &resource),
    ]);
    let ran = folder.run(&["extract", "--values", "original", "dest"]);
    assert_eq!(ran.code, Some(1), "{}", ran.stdout);
    let told: Vec<&str> = ran.stderr.lines().filter(|line| line.starts_with("error: ")).collect();
    assert!(matches!(told[..], [told] if told.starts_with("error: values.yaml: ")), "{told:?}");
}
