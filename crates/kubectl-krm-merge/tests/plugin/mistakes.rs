//! Mistakes that people make. Each message names the file or the flag, what must hold, and what to do.

use std::process::Command;

use crate::support::{Folder, Ran, has, map, skipped};

/// What a message must have, in any order.
fn says(ran: &Ran, parts: &[&str]) {
    let told = format!("{}{}", ran.stdout, ran.stderr);
    for part in parts {
        assert!(told.contains(part), "{part}\n{ran:?}");
    }
}

fn releases() -> Folder {
    let [v1, v2] = ["1", "2"].map(|x| map("c", &[("x", x), ("own", "0")]));
    Folder::with(&[("v1/c.yaml", &v1), ("v2/c.yaml", &v2), ("here/c.yaml", &v1.replace("own: 0", "own: 9"))])
}

/// A usual mistake: what is run, how it ends, and what the message must have.
type Mistake<'a> = (Vec<&'a str>, i32, Vec<&'a str>);

/// Makes each mistake in a folder.
fn each_is_told(folder: &Folder, mistakes: &[Mistake<'_>]) {
    for (args, code, parts) in mistakes {
        let ran = folder.run(args);
        assert_eq!(ran.code, Some(*code), "{args:?}: {ran:?}");
        says(&ran, parts);
    }
}

const RECORD: &str = "`kubectl krm-merge upgrade PACKAGE --upstream REPO.git/DIRECTORY --from REF` makes the record";

#[test]
fn each_mistake_with_flags_and_files_is_told_with_what_to_do() {
    let folder = releases();
    folder.write("empty/.keep", "");
    folder.write("twice.yaml", map("c", &[("x", "1"), ("x", "2")]));
    folder.write("chart.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {{ .Release.Name }}\n");
    folder.write("if.yaml", "apiVersion: v1\n{{- if .on }}\nkind: A\n{{- end }}\n");
    folder.write("marked/c.yaml", "<<<<<<< a\na: 1\n=======\na: 2\n>>>>>>> b\n");
    folder.write("rules.yaml", "rules: []\n");
    let three = ["three-way", "--original", "v1", "--updated", "v2", "--dest"];
    let two = ["two-way", "--patch", "{data: {y: b}}", "--target", "kind=ConfigMap", "--dest"];
    let patch = ["strategic", "--dest", "here", "--patch"];
    let render = "it is a template: render it first, as `helm template` does";
    let flag = |args: &[&'static str], more: &[&'static str]| [args, more].concat();
    let mistakes: Vec<Mistake<'_>> = vec![
        // The sides.
        (
            vec!["three-way", "--original", "v2", "--updated", "v1", "--dest", "here"],
            0,
            vec!["`--original` and `--updated` are swapped"],
        ),
        (
            vec!["three-way", "--original", "v1", "--dest", "here"],
            2,
            vec!["--updated <PATH>", "Usage: kubectl krm-merge"],
        ),
        (
            vec!["three-way", "--original", "v1", "--updated", "v3", "--dest", "here"],
            2,
            vec!["`--updated` \"v3\": there must be a file or a folder, but nothing is there; correct the path"],
        ),
        (flag(&three, &[""]), 2, vec!["`--dest` must name a file or a folder, but it is empty"]),
        (
            flag(&three, &["empty"]),
            0,
            vec!["empty: dest holds no resource", "look whether `--dest` is the folder of the package"],
        ),
        (flag(&three, &["-", "--in-place"]), 2, vec!["`--in-place` must not be given with `--dest -`"]),
        (
            flag(&three, &["marked"]),
            2,
            vec!["marked/c.yaml: conflicts must be resolved", "by `resolve` of krm-merge or in an editor"],
        ),
        (flag(&two, &["chart.yaml"]), 2, vec!["chart.yaml:4:", render]),
        (flag(&two, &["if.yaml"]), 2, vec!["if.yaml:2:", render]),
        (
            flag(&two, &["twice.yaml"]),
            2,
            vec!["twice.yaml:7:3: ", "the key `x` must be in a map only once", "delete the other one"],
        ),
        // The flags.
        (
            flag(&three, &["here", "-o", "diffs"]),
            2,
            vec!["'diffs' for '--output <OUTPUT>'", "[possible values: ", "tip: a similar value exists: 'diff'"],
        ),
        (
            flag(&three, &["here", "--on-conflict", "keep"]),
            2,
            vec!["--on-conflict", "[possible values: ", "tip: a similar value exists: 'keep-dest'"],
        ),
        (
            vec!["three-way", "--orignal", "v1", "--updated", "v2", "--dest", "here"],
            2,
            vec!["unexpected argument '--orignal'", "tip: a similar argument exists: '--original'"],
        ),
        (
            flag(&three, &["here", "--max-output", "3x"]),
            2,
            vec!["--max-output", "must be a number of bytes, as `64Mi`"],
        ),
        (vec!["upgrad", "here"], 2, vec!["tip: a similar subcommand exists: 'upgrade'"]),
        (vec!["help", "upgrad"], 2, vec!["a similar subcommand exists: 'upgrade'"]),
        (vec!["completion", "tcsh"], 2, vec!["'tcsh' for '<SHELL>'", "[possible values: bash, zsh, fish, kubectl]"]),
        // A functionConfig.
        (
            flag(&three, &["here", "--config", "nope.yaml"]),
            2,
            vec!["`--config` \"nope.yaml\": there must be a file, but nothing is there; correct the path"],
        ),
        (
            flag(&three, &["here", "--config", "v1"]),
            2,
            vec!["`--config` \"v1\": there must be a file, but a folder is there; name a file in it"],
        ),
        (
            flag(&three, &["here", "--config", "rules.yaml"]),
            2,
            vec!["rules.yaml:1:1: `functionConfig` must be of kind `Merge` and apiVersion", ", but has neither"],
        ),
        (
            flag(&three, &["here", "--config", "v1/c.yaml"]),
            2,
            vec!["v1/c.yaml:6:3: `data` must not have the field \"x\"; allowed: `mode`"],
        ),
        // Patches.
        (
            vec!["two-way", "--dest", "here"],
            2,
            vec!["`--patch` or `--source` must be given: a file, a folder, or `-` for stdin"],
        ),
        (
            vec!["two-way", "--source", "v1/c.yaml", "--dest", "v1/c.yaml"],
            2,
            vec!["v1/c.yaml: the source must not be dest itself: name what has the new values"],
        ),
        (flag(&patch, &["{data: {y: b}"]), 2, vec!["--patch:1:1: the text must be YAML: unclosed bracket '{'"]),
        (
            flag(&patch, &["{data: {y: b}}"]),
            2,
            vec!["--patch:1:1: the resource must have `apiVersion` to be merged, or a `target` that says which items"],
        ),
        (
            flag(&patch, &["{apiVersion: v1, kind: ConfigMap, metadata: {name: nope}}"]),
            2,
            vec!["ConfigMap nope: a patch must hit an item", "the only ConfigMap is `v1 ConfigMap c`"],
        ),
        (
            flag(&patch, &["{data: {y: b}}", "--target", "kind=Deployment"]),
            2,
            vec![
                "`--target` \"kind=Deployment\" must select at least one item",
                "regular expressions for the whole value",
            ],
        ),
        (
            flag(&patch, &["{data: {y: b}}", "--target", "kind=["]),
            2,
            vec!["`kind` of `--target` \"kind=[\" must be a regular expression", "unclosed character class"],
        ),
        (
            flag(&patch, &["{data: {y: b}}", "--target", "deployment"]),
            2,
            vec!["as `kind=Deployment,name=web`, or as `deployment/web`"],
        ),
        // Packages.
        (vec!["get", "gate"], 2, vec!["\"gate\" must be REPO.git/DIRECTORY@REF, such as `https://example.com/"]),
        (
            vec!["get", "https://token@example.com/team.git/gate@v1"],
            2,
            vec!["must hold no password, token or query", "let a credential helper of git give the password"],
        ),
        (
            vec!["get", "https://example.com/team.git/gate@v1", "here"],
            2,
            vec!["here: the folder must be new or empty; `upgrade` brings a release into a package that is there"],
        ),
        (
            vec!["upgrade", "nope"],
            2,
            vec!["`PACKAGE` \"nope\": there must be the folder of a package, but nothing is there; correct the path"],
        ),
        (
            vec!["upgrade", "here/c.yaml"],
            2,
            vec![
                "`PACKAGE` \"here/c.yaml\": there must be the folder of a package, but a file is there; name its folder",
            ],
        ),
        (
            vec!["upgrade", "here"],
            2,
            vec!["here: the package must record where it comes from", "add `--upstream REPO.git/DIRECTORY --from REF`"],
        ),
        (
            vec!["upgrade", "--all", "nope"],
            2,
            vec!["`PACKAGE` \"nope\": there must be a folder with packages, but nothing is there; correct the path"],
        ),
        (vec!["upgrade", "--all", "v1"], 2, vec!["v1: there must be a package that records its upstream; ", RECORD]),
        (
            vec!["list", "nope"],
            2,
            vec!["`FOLDER` \"nope\": there must be a folder with packages, but nothing is there; correct the path"],
        ),
        (vec!["list", "v1"], 2, vec!["v1: there must be a package that records its upstream; ", RECORD]),
        (vec!["log", "nope"], 2, vec!["`PACKAGE` \"nope\": there must be the folder of a package"]),
        (vec!["log", "here"], 2, vec!["here: a package must record where it comes from", RECORD]),
        (vec!["diff", "v1"], 2, vec!["`B` must be given, because \"v1\" is no package that records its upstream"]),
        (vec!["extract", "v1"], 2, vec!["<DEST>", "Usage: kubectl krm-merge extract"]),
        // Conflicts.
        (vec!["resolve", "here", "--take", "mine"], 2, vec!["--take", "[possible values: ours, theirs, merged]"]),
        (
            vec!["resolve", "here", "--answers", "nope"],
            2,
            vec!["`--answers` \"nope\": there must be a file, but nothing is there; correct the path"],
        ),
        (
            vec!["resolve", "marked"],
            2,
            vec!["stdin and stdout must be a terminal, or `--take` or `--answers` must be given"],
        ),
        (
            vec!["resolve", "marked", "--record", "--take", "ours"],
            2,
            vec!["`--record` must name a file, because no package here records its upstream"],
        ),
        // Types.
        (
            vec!["explain", "deploymnt"],
            2,
            vec!["\"deploymnt\" must be a type that is known", "like it is `Deployment`"],
        ),
        (vec!["explain", "Rolout.argoproj.io"], 2, vec!["like it is `rollout`"]),
        (vec!["explain", "xxxxxxxx"], 2, vec!["`--filename`; with `--live`, say KIND.VERSION.GROUP\n"]),
        (
            vec!["explain", "deployment", "spec.templat"],
            2,
            vec!["`PATH` must be that of a list of `apps/v1 Deployment`", "without it, all lists are printed"],
        ),
    ];
    each_is_told(&folder, &mistakes);
}

#[test]
fn each_mistake_with_git_is_told_with_what_to_do() {
    if !has("git") {
        return skipped("git", "is not on PATH");
    }
    let folder = releases();
    let git = |at: &str, args: &[&str]| {
        let mut git = Command::new("git");
        for who in ["AUTHOR", "COMMITTER"] {
            git.env(format!("GIT_{who}_NAME"), "me").env(format!("GIT_{who}_EMAIL"), "me@example.com");
        }
        assert!(git.arg("-C").arg(folder.path(at)).args(args).output().expect("git").status.success(), "{args:?}");
    };
    let commit = |at: &str| {
        git(at, &["add", "--all"]);
        git(at, &["commit", "--quiet", "--message", "all"]);
    };
    let outside: Vec<Mistake<'_>> = vec![
        (
            vec!["git-install"],
            2,
            vec!["git must find a repository here", "begin one with `git init`, or add `--global`"],
        ),
        (vec!["git-install", "--pattern", ""], 2, vec!["a value is required for '--pattern <PATTERN>'"]),
        (vec!["git-history"], 2, vec!["git must find a repository here: go to the folder of one"]),
    ];
    each_is_told(&folder, &outside);

    for (version, tag) in [("v1", "v1"), ("v2", "v2")] {
        let text = folder.read(&format!("{version}/c.yaml"));
        folder.write("up.git/gate/c.yaml", text);
        if tag == "v1" {
            git("up.git", &["init", "--quiet"]);
        }
        commit("up.git");
        git("up.git", &["tag", tag]);
    }
    let upstream = folder.path("up.git").display().to_string();
    let at = |rest: &str| format!("{upstream}/{rest}");
    folder.run(&["get", &at("gate@v1"), "package"]).passed();
    git(".", &["init", "--quiet"]);
    folder.write(".gitignore", "up.git\n");
    let uncommitted: Vec<Mistake<'_>> = vec![(
        vec!["upgrade", "package"],
        2,
        vec!["package: all of it must be committed", "commit it, or add `--allow-dirty`"],
    )];
    each_is_told(&folder, &uncommitted);
    folder.write("package/c.yaml", map("c", &[("x", "7"), ("own", "0")]));
    commit(".");
    let [no_tag, no_folder, gate] = [at("gate@v9"), at("gat@v1"), at("gate")];
    let mistakes: Vec<Mistake<'_>> = vec![
        (
            vec!["get", &no_tag, "new"],
            2,
            vec!["has no tag, branch or whole commit \"v9\"; the newest releases are v2, v1"],
        ),
        (
            vec!["get", &no_folder, "new"],
            2,
            vec!["must have \"gat\" in v1, and has not: if it moved, name the new directory"],
        ),
        (vec!["upgrade", "package", "--to", "v9"], 2, vec!["package: ", "\"v9\"; the newest releases are v2, v1"]),
        (
            vec!["upgrade", "here", "--upstream", &gate],
            2,
            vec!["here: nobody knows which release", "nearest is v1", "If it comes from there, add `--from v1`"],
        ),
        (
            vec!["upgrade", "here", "--upstream", "nope/x.git/gate", "--from", "v1"],
            2,
            vec!["nope/x\" must be a git repository that `git ls-remote` reaches from here"],
        ),
        (vec!["upgrade", "here", "--from", "v1"], 2, vec!["add `--upstream REPO.git/DIRECTORY --from REF`"]),
        // The first one writes markers.
        (
            vec!["upgrade", "package"],
            1,
            vec!["conflict: ", "c.yaml:", "decide them with `kubectl krm-merge resolve package`"],
        ),
        (vec!["upgrade", "package"], 2, vec!["package/c.yaml: conflicts must be resolved", "`resolve` of krm-merge"]),
    ];
    each_is_told(&folder, &mistakes);
}

#[test]
fn each_mistake_with_the_function_is_told_with_what_to_do() {
    let item = "- apiVersion: v1\n  kind: ConfigMap\n  metadata: {name: c}\n  data: {x: \"1\"}\n";
    let list = |rest: &str| format!("apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n{item}{rest}");
    let merge = |spec: &str| {
        let spec: String = spec.lines().map(|line| format!("    {line}\n")).collect();
        list(&format!("functionConfig:\n  apiVersion: krm-merge.dev/v1alpha1\n  kind: Merge\n  spec:\n{spec}"))
    };
    let data =
        |data: &str| list(&format!("functionConfig:\n  apiVersion: v1\n  kind: ConfigMap\n  data:\n    {data}\n"));
    let old = "updated: [{yaml: \"{apiVersion: v1, kind: ConfigMap, metadata: {name: c}}\"}]";
    let mistakes: Vec<(String, &[&str])> = vec![
        (String::new(), &["stdin must hold a ResourceList, but it is empty"]),
        (map("c", &[]), &["stdin 2:7: stdin must hold a ResourceList, not \"ConfigMap\""]),
        (list(""), &["`functionConfig` must be given", "for kpt, add `--fn-config FILE`"]),
        (
            list("functionConfig:\n  apiVersion: krm-merge.dev/v1\n  kind: Merge\n"),
            &["stdin 9:15: ", "apiVersion `krm-merge.dev/v1alpha1`", "not \"Merge\" of \"krm-merge.dev/v1\""],
        ),
        (list("functionConfig:\n  spec: {}\n"), &["stdin 9:3: `functionConfig` must be of kind", ", but has neither"]),
        (
            list("functionConfig:\n  kind: Merge\n"),
            &["stdin 9:3: `functionConfig` must be of", ", but has no apiVersion"],
        ),
        (
            list("functionConfig:\n  apiVersion: krm-merge.dev/v1alpha1\n  kind: Merge\n"),
            &["stdin 9:3: `functionConfig` must have the field `spec`"],
        ),
        (
            merge("mode: TwoWay\nsources: []"),
            &["stdin 13:5: `spec` must not have the field \"sources\"; allowed: `mode`"],
        ),
        (merge("onConflict: Fail"), &["stdin 12:5: `spec.mode` must be given: `TwoWay`, `ThreeWay` or `Strategic`"]),
        (merge("mode: three-way"), &["stdin 12:11: `spec.mode` must be `TwoWay`, `ThreeWay` or", "not \"three-way\""]),
        (
            merge(&format!("mode: ThreeWay\n{old}")),
            &["`spec.original` must be given, or items must carry the annotation"],
        ),
        (
            merge("mode: ThreeWay\noriginal: [{path: a/}]\nupdated: [{path: b/}]"),
            &["`spec.original[0].path` must select at least one item, but no item of the package lies in \"a\""],
        ),
        (
            merge("mode: ThreeWay\nsource: [{path: a/}]"),
            &["`spec.source` must not be given: mode `ThreeWay` has `original` and `updated`"],
        ),
        (
            merge("mode: TwoWay\nonConflict: Fail"),
            &["stdin 13:17: `spec.onConflict` must not be given: only mode `ThreeWay` has conflicts"],
        ),
        (
            merge("mode: ThreeWay\nrules: [{take: Mine}]"),
            &["`spec.rules[0].take` must be `Dest`, `Updated`, `Newest` or `Fail`, not \"Mine\""],
        ),
        (
            merge("mode: ThreeWay\nrules: [{take: Dest, path: spec..x}]"),
            &["`spec.rules[0].path` must be a path, as `spec.replicas`, not \"spec..x\""],
        ),
        (merge("mode: TwoWay\nsource: a/"), &["stdin 13:13: `spec.source` must be a list, not \"a/\""]),
        (
            merge("mode: TwoWay\nsource: [{yaml: \"a: [\"}]"),
            &["`spec.source[0].yaml` 1:4: the text must be YAML: unclosed bracket '['"],
        ),
        (
            merge("mode: TwoWay\nsource: [{yaml: \"data: {x: 2}\"}]"),
            &["`spec.source[0].yaml` must have `apiVersion` to be merged, or a `target` that says which items"],
        ),
        (
            merge("mode: TwoWay\nsource: [{target: {kind: Pod}, yaml: \"a: 2\"}]"),
            &["`spec.source[0].target` must select at least one item, and none fits `kind: Pod`"],
        ),
        (
            merge("mode: TwoWay\nsource: [{target: {kinds: Pod}, yaml: \"a: 2\"}]"),
            &["`spec.source[0].target` must not have the field \"kinds\"; allowed: `group`"],
        ),
        (
            merge("mode: TwoWay\nsource: [{yaml: \"a: 2\", path: b/}]"),
            &[
                "`spec.source[0]` must have exactly one of `resources`, `yaml`, `edits` and `path`, not `yaml` and `path`",
            ],
        ),
        (
            merge("mode: TwoWay\nmergeKeys: [{kind: A, path: b, keys: [c]}]"),
            &["`spec.mergeKeys[0]` must have the field `apiVersion`"],
        ),
        (
            data("mode: threeway"),
            &["stdin 12:11: `data.mode` must be `two-way`, `three-way` or `strategic`, not \"threeway\""],
        ),
        (data("rules: x"), &["stdin 12:5: `data` must not have the field \"rules\"; allowed: `mode`"]),
        ("kind: ResourceList\n\titems: []\n".to_owned(), &["YAML is indented with blanks, not with tabs"]),
    ];
    for (stdin, parts) in mistakes {
        let told = krm_merge_function::run(&stdin).stderr.join("\n");
        assert!(told.starts_with("error: "), "{stdin}{told}");
        for part in parts {
            assert!(told.contains(part), "{part}\n{told}");
        }
    }
}

#[test]
fn ours_and_theirs_are_taken_wherever_a_side_is_chosen() {
    let folder = releases();
    folder.write("here/c.yaml", map("c", &[("x", "3")]));
    let three = ["three-way", "--original", "v1", "--updated", "v2", "--dest", "here"];
    let rule = |word: &str| format!("apiVersion: krm-merge.dev/v1alpha1\nkind: Merge\nspec: {{{word}}}\n");
    for (word, want) in [("ours", "3"), ("theirs", "2")] {
        let of_flag = folder.run(&[&three[..], &["--on-conflict", word]].concat()).passed();
        assert!(of_flag.contains(&format!("x: {want}\n")), "{of_flag}");
        for said in [format!("onConflict: {word}"), format!("rules: [{{take: {word}}}]")] {
            folder.write("config.yaml", rule(&said));
            let of_file = folder.run(&[&three[..], &["--config", "config.yaml"]].concat()).passed();
            assert_eq!(of_file, of_flag, "{said}");
        }
    }
}

#[test]
fn help_and_version_are_commands_and_the_daily_ones_come_first() {
    let folder = Folder::new();
    let run = |args: &[&str]| folder.run(args).passed();
    assert_eq!(run(&["version"]), run(&["--version"]));
    assert_eq!(run(&["help"]), run(&["--help"]));
    assert_eq!(run(&["help", "upgrade"]), run(&["upgrade", "--help"]));
    let help = run(&["help"]);
    let at = |name: &str| help.find(&format!("\n  {name} ")).unwrap_or_else(|| panic!("{name}\n{help}"));
    let order =
        ["get", "upgrade", "resolve", "list", "diff", "three-way", "git-install", "completion", "version"].map(at);
    assert!(order.is_sorted(), "{help}");
}

#[test]
fn colours_are_chosen_at_each_command() {
    let folder = releases();
    let coloured = |args: &[&str], name: &str, value: &str| {
        let ran = Ran::of(folder.command(args).env(name, value).env_remove("TERM").output().expect("runs"));
        assert_eq!((ran.code, ran.stderr.as_str()), (Some(1), ""), "{ran:?}");
        ran.stdout.contains('\x1b')
    };
    let diff = ["diff", "v1", "v2"];
    assert!(!coloured(&diff, "NO_COLOR", ""));
    assert!(coloured(&diff, "CLICOLOR_FORCE", "1") && !coloured(&diff, "CLICOLOR_FORCE", "0"));
    assert!(coloured(&[&diff[..], &["--color", "always"]].concat(), "NO_COLOR", "1"));
    assert!(!coloured(&[&diff[..], &["--color", "never"]].concat(), "CLICOLOR_FORCE", "1"));
    for command in
        ["get", "list", "log", "cache", "extract", "resolve", "git-install", "git-history", "upgrade", "live"]
    {
        let help = folder.run(&[command, "--help"]).passed();
        assert!(help.contains("--color <WHEN>"), "{command}");
    }
    // Data are never coloured, so nothing of them changes.
    let three = ["two-way", "-p", "{data: {y: \"\u{200b}\"}}", "--target", "configmap/c", "-d", "here/c.yaml"];
    let ran = Ran::of(folder.command(&three).env("CLICOLOR_FORCE", "1").output().expect("runs"));
    assert!(ran.passed().contains("\u{200b}"));
}

#[test]
fn a_target_may_be_written_as_for_kubectl() {
    let folder = Folder::with(&[("d.yaml", &format!("{}---\n{}", map("a", &[]), map("b", &[])))]);
    for target in ["configmap/b", "cm/b", "ConfigMaps/b"] {
        let out = folder.run(&["two-way", "-p", "{data: {y: z}}", "--target", target, "-d", "d.yaml"]).passed();
        assert_eq!(out.matches("y: z").count(), 1, "{target}: {out}");
        assert!(out.find("y: z") > out.find("name: b"), "{target}: {out}");
    }
    let ran = folder.run(&["two-way", "-p", "{data: {y: z}}", "--target", "secret/b", "-d", "d.yaml"]);
    assert!(ran.failed(2).contains("none fits `secret/b`"));
}

#[test]
fn the_list_of_files_says_which_have_markers_and_where() {
    let folder = releases();
    folder.write("here/c.yaml", map("c", &[("x", "3"), ("own", "0")]));
    folder.write("v2/new.yaml", map("new", &[]));
    let ran = folder.run(&[
        "three-way",
        "--original",
        "v1",
        "--updated",
        "v2",
        "--dest",
        "here",
        "--in-place",
        "--on-conflict",
        "mark",
    ]);
    let marker = folder.read("here/c.yaml").lines().position(|line| line.starts_with("<<<<<<<")).expect("a marker");
    let want = format!("conflict c.yaml:{}\nadded new.yaml\n", marker + 1);
    assert!(ran.code == Some(1) && ran.stdout.starts_with(&want), "{ran:?}");
}
