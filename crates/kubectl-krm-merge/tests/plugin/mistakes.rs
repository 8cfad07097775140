//! Mistakes that people make. Each message says where, what is wrong, and what to do.

use std::process::Command;

use crate::support::{Folder, Ran, has, map, skipped};

/// What a message says: where, what is wrong, and what to do. One that does not say it has an empty text there.
type Says<'a> = [&'a str; 3];

/// A usual mistake: what is run, how it ends, and what the message says.
type Mistake<'a> = (Vec<&'a str>, i32, Says<'a>);

/// Checks a message. Returns whether it says all.
fn says_all(told: &str, says: Says<'_>) -> bool {
    for part in says {
        assert!(told.contains(part), "{part}\n{told}");
    }
    !says.contains(&"")
}

/// Makes each mistake in a folder. Returns how many of the messages say all.
fn told(folder: &Folder, mistakes: &[Mistake<'_>]) -> usize {
    let says = |(args, code, says): &&Mistake<'_>| {
        let ran = folder.run(args);
        assert_eq!(ran.code, Some(*code), "{args:?}: {ran:?}");
        says_all(&format!("{}{}", ran.stdout, ran.stderr), *says)
    };
    mistakes.iter().filter(says).count()
}

fn releases() -> Folder {
    let [v1, v2] = ["1", "2"].map(|x| map("c", &[("x", x), ("own", "0")]));
    Folder::with(&[("v1/c.yaml", &v1), ("v2/c.yaml", &v2), ("here/c.yaml", &v1.replace("own: 0", "own: 9"))])
}

const RECORD: &str = "`kubectl krm-merge upgrade PACKAGE --upstream REPO.git/DIRECTORY --from REF` makes the record";

#[test]
fn a_mistake_with_flags_and_files_is_told_with_what_to_do() {
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
    let render = "render it first, as `helm template` does";
    let no_file = "nothing is there; correct the path";
    let flag = |args: &[&'static str], more: &[&'static str]| [args, more].concat();
    let swapped = vec!["three-way", "--original", "v2", "--updated", "v1", "--dest", "here"];
    let no_updated = vec!["three-way", "--original", "v1", "--dest", "here"];
    let wrong_updated = vec!["three-way", "--original", "v1", "--updated", "v3", "--dest", "here"];
    let empty_updated = vec!["three-way", "--original", "v1", "--updated", "empty", "--dest", "here"];
    let misspelt = vec!["three-way", "--orignal", "v1", "--updated", "v2", "--dest", "here"];
    let other_patch = "{apiVersion: v1, kind: ConfigMap, metadata: {name: nope}}";
    let mistakes: Vec<Mistake<'_>> = vec![
        // The sides.
        (swapped, 0, ["dest", "is more like updated than original", "`--original` and `--updated` are swapped"]),
        (no_updated, 2, ["--updated <PATH>", "were not provided", "Usage: kubectl krm-merge three-way --dest <PATH>"]),
        (wrong_updated, 2, ["`--updated` \"v3\": ", "there must be a file or a folder", no_file]),
        (empty_updated, 2, ["empty: ", "updated has no resources, so the merge would delete all", "Check the path"]),
        (flag(&three, &[""]), 2, ["`--dest`", "but it is empty", "must name a file or a folder"]),
        (flag(&three, &["empty"]), 0, ["empty: ", "dest has no resources", "Check that `--dest` is the directory"]),
        (flag(&three, &["-", "--in-place"]), 2, ["`--dest -`", "`--in-place` must not be given with", ""]),
        (flag(&three, &["marked"]), 2, ["marked/c.yaml: ", "conflicts must be resolved", "by `resolve` of krm-merge"]),
        (flag(&two, &["chart.yaml"]), 2, ["chart.yaml:4:", "it is a template", render]),
        (flag(&two, &["if.yaml"]), 2, ["if.yaml:2:", "it is a template", render]),
        (
            flag(&two, &["twice.yaml"]),
            2,
            ["twice.yaml:7:3: ", "`x` must be in a map only once", "delete the other one"],
        ),
        // The flags.
        (flag(&three, &["here", "-o", "diffs"]), 2, ["'--output <OUTPUT>'", "invalid value 'diffs'", "exists: 'diff'"]),
        (
            flag(&three, &["here", "--on-conflict", "keep"]),
            2,
            ["--on-conflict", "invalid value 'keep'", "tip: a similar value exists: 'keep-dest'"],
        ),
        (misspelt, 2, ["'--orignal'", "unexpected argument", "tip: a similar argument exists: '--original'"]),
        (flag(&three, &["here", "--max-output", "3x"]), 2, ["--max-output", "invalid value '3x'", "as `64Mi`"]),
        (
            flag(&three, &["here", "--merge-keys", "path=x"]),
            2,
            [
                "`--merge-keys`",
                "not \"path=x\"",
                "must have exactly one of `keys=FIELD,…`, `set=true` and `atomic=true`",
            ],
        ),
        (flag(&three, &["here", "--openapi", "nope"]), 2, ["`--openapi` \"nope\"", "there must be a file", no_file]),
        (vec!["upgrad", "here"], 2, ["'upgrad'", "unrecognized subcommand", "similar subcommand exists: 'upgrade'"]),
        (vec!["help", "upgrad"], 2, ["'upgrad'", "unrecognized subcommand", "similar subcommand exists: 'upgrade'"]),
        (vec!["completion", "tcsh"], 2, ["'<SHELL>'", "invalid value 'tcsh'", "values: bash, zsh, fish, kubectl]"]),
        (vec!["cache", "x"], 2, ["'x'", "unexpected argument", "Usage: kubectl krm-merge cache [OPTIONS]"]),
        // A functionConfig.
        (flag(&three, &["here", "--config", "nope"]), 2, ["`--config` \"nope\": ", "there must be a file", no_file]),
        (
            flag(&three, &["here", "--config", "v1"]),
            2,
            ["`--config` \"v1\": ", "a folder is there", "name a file in it"],
        ),
        (
            flag(&three, &["here", "--config", "rules.yaml"]),
            2,
            ["rules.yaml:1:1: ", ", but has neither", "must be of kind `Merge` and apiVersion"],
        ),
        (
            flag(&three, &["here", "--config", "v1/c.yaml"]),
            2,
            ["v1/c.yaml:6:3: ", "`data` must not have the field \"x\"", "allowed: `mode`"],
        ),
        (
            flag(&three, &["here", "--on-conflict", "fail", "--config", "v1/c.yaml"]),
            2,
            ["`--on-conflict`", "must be `mark` or left out with `--config`", "Set `onConflict` in that file instead"],
        ),
        // Patches.
        (vec!["two-way", "--dest", "here"], 2, ["`--patch` or `--source`", "must be given", ": a file, a folder, or"]),
        (
            vec!["two-way", "--source", "v1/c.yaml", "--dest", "v1/c.yaml"],
            2,
            ["v1/c.yaml: ", "the source must not be dest itself", "name what has the new values"],
        ),
        (
            vec!["two-way", "-p", "nope.yaml", "--dest", "here"],
            2,
            ["`--patch` \"nope.yaml\": ", "there must be", no_file],
        ),
        (flag(&patch, &["{data: {y: b}"]), 2, ["--patch:1:1: ", "the text must be YAML: unclosed bracket '{'", ""]),
        (
            flag(&patch, &["{data: {y: b}}"]),
            2,
            ["--patch:1:1: ", "must have `apiVersion` to be merged", "or a `target` that says which items"],
        ),
        (flag(&patch, &[other_patch]), 2, ["`v1 ConfigMap nope`", "no resource matches", "mean `v1 ConfigMap c`"]),
        (
            flag(&patch, &["{data: {y: b}}", "--target", "kind=Deployment"]),
            2,
            ["`--target` \"kind=Deployment\": ", "no resource matches", "for a part of it, write `.*web.*`"],
        ),
        (
            flag(&patch, &["{data: {y: b}}", "--target", "kind=["]),
            2,
            ["`--target` \"kind=[\"", "must be a regular expression", ""],
        ),
        (
            flag(&patch, &["{data: {y: b}}", "--target", "deployment"]),
            2,
            ["`--target`", "not \"deployment\"", "as `kind=Deployment,name=web`, or as `deployment/web`"],
        ),
        // Packages.
        (vec!["get", "gate"], 2, ["\"gate\"", "must be REPO.git/DIRECTORY@REF", "such as `https://example.com/"]),
        (
            vec!["get", "https://token@example.com/team.git/gate@v1"],
            2,
            ["the address", "must not hold a password, token or query", "Let a credential helper of git supply the"],
        ),
        (
            vec!["get", "https://example.com/team.git/gate@v1", "here"],
            2,
            ["here: ", "the folder must be new or empty", "`upgrade` brings a release into a package that is there"],
        ),
        (vec!["upgrade", "nope"], 2, ["`PACKAGE` \"nope\": ", "there must be the folder of a package", no_file]),
        (vec!["upgrade", "here/c.yaml"], 2, ["\"here/c.yaml\": ", "but a file is there", "name its folder"]),
        (
            vec!["upgrade", "here"],
            2,
            ["here: ", "must record where it comes from", "pass `--upstream REPO.git/DIRECTORY --from REF`"],
        ),
        (vec!["upgrade", "--all", "nope"], 2, ["\"nope\": ", "there must be a folder with packages", no_file]),
        (vec!["upgrade", "--all", "v1"], 2, ["v1: ", "there must be a package that records its upstream", RECORD]),
        (vec!["list", "nope"], 2, ["`FOLDER` \"nope\": ", "there must be a folder with packages", no_file]),
        (vec!["list", "v1"], 2, ["v1: ", "there must be a package that records its upstream", RECORD]),
        (vec!["log", "nope"], 2, ["`PACKAGE` \"nope\": ", "there must be the folder of a package", no_file]),
        (vec!["log", "here"], 2, ["here: ", "the package must record where it comes from", RECORD]),
        (vec!["diff", "v1"], 2, ["\"v1\"", "is no package that records its upstream", "`B` must be given"]),
        (vec!["extract", "v1"], 2, ["<DEST>", "were not provided", "Usage: kubectl krm-merge extract"]),
        (vec!["live", "-f", "nope"], 2, ["`--filename` \"nope\": ", "there must be a file or a folder", no_file]),
        (vec!["live"], 2, ["--filename <PATH>", "were not provided", "Usage: kubectl krm-merge live"]),
        // Conflicts.
        (
            vec!["resolve", "here", "--take", "mine"],
            2,
            ["--take", "invalid value 'mine'", "[possible values: ours, theirs"],
        ),
        (vec!["resolve", "here", "--answers", "nope"], 2, ["`--answers` \"nope\": ", "there must be a file", no_file]),
        (
            vec!["resolve", "marked"],
            2,
            [
                "marked/c.yaml:1",
                "cannot ask about conflicts",
                "Pass `--take ours`, `--take theirs` or `--answers FILE`",
            ],
        ),
        (
            vec!["resolve", "marked", "--record", "--take", "ours"],
            2,
            ["`--record`", "no package here records its upstream", "must name a file"],
        ),
        // Types.
        (vec!["explain", "deploymnt"], 2, ["\"deploymnt\"", "no type", "Did you mean `Deployment`?"]),
        (vec!["explain", "Rolout.argoproj.io"], 2, ["\"Rolout.argoproj.io\"", "no type", "Did you mean `rollout`?"]),
        (vec!["explain", "xxxxxxxx"], 2, ["\"xxxxxxxx\"", "no type", "With `--live`, write KIND.VERSION.GROUP\n"]),
        (
            vec!["explain", "deployment", "spec.templat"],
            2,
            ["`PATH`", "must be that of a list of `apps/v1 Deployment`", "without it, all lists are printed"],
        ),
    ];
    let all = told(&folder, &mistakes);
    assert_eq!((mistakes.len(), all), (59, 56));
}

#[test]
fn a_mistake_with_git_is_told_with_what_to_do() {
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
        (vec!["git-install"], 2, ["repository here", "git must find", "begin one with `git init`, or add `--global`"]),
        (vec!["git-install", "--pattern", ""], 2, ["'--pattern <PATTERN>'", "a value is required for", ""]),
        (vec!["git-history"], 2, ["a repository here", "git must find", "go to the folder of one"]),
    ];
    assert_eq!(told(&folder, &outside), 2);

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
    let changes =
        ["package: ", "uncommitted changes in ", "Commit all changes first, so that you can undo the upgrade"];
    assert_eq!(told(&folder, &[(vec!["upgrade", "package"], 2, changes)]), 1);
    folder.write("package/c.yaml", map("c", &[("x", "7"), ("own", "0")]));
    commit(".");
    let [no_tag, no_folder, gate] = [at("gate@v9"), at("gat@v1"), at("gate")];
    let mistakes: Vec<Mistake<'_>> = vec![
        (
            vec!["get", &no_tag, "new"],
            2,
            ["\"v9\"", "has no tag, branch or whole commit", "newest releases are v2, v1"],
        ),
        (vec!["get", &no_folder, "new"], 2, ["\"gat\" in v1", "must have", "if it moved, name the new directory"]),
        (vec!["upgrade", "package", "--to", "v9"], 2, ["package: ", "\"v9\"", "the newest releases are v2, v1"]),
        (
            vec!["upgrade", "here", "--upstream", &gate],
            2,
            [
                "here: ",
                "cannot tell which release of",
                "The closest is v1 (0 of 1 resources are equal). If that is right, run again with `--from v1`",
            ],
        ),
        (
            vec!["upgrade", "here", "--upstream", "nope/x.git/gate", "--from", "v1"],
            2,
            ["nope/x\"", "must be a git repository", "that `git ls-remote` reaches from here"],
        ),
        (
            vec!["upgrade", "here", "--from", "v1"],
            2,
            ["here: ", "must record where it comes from", "pass `--upstream REPO.git/DIRECTORY --from REF`"],
        ),
        // The first one writes markers.
        (
            vec!["upgrade", "package"],
            1,
            ["c.yaml:", "conflict: ", "decide them with `kubectl krm-merge resolve package`"],
        ),
        (
            vec!["upgrade", "package"],
            2,
            ["package/c.yaml: ", "conflicts must be resolved", "by `resolve` of krm-merge or in an editor"],
        ),
    ];
    assert_eq!((mistakes.len(), told(&folder, &mistakes)), (8, 8));
}

#[test]
fn a_mistake_with_the_function_is_told_with_what_to_do() {
    let item = "- apiVersion: v1\n  kind: ConfigMap\n  metadata: {name: c}\n  data: {x: \"1\"}\n";
    let list = |rest: &str| format!("apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n{item}{rest}");
    let merge = |spec: &str| {
        let spec: String = spec.lines().map(|line| format!("    {line}\n")).collect();
        list(&format!("functionConfig:\n  apiVersion: krm-merge.dev/v1alpha1\n  kind: Merge\n  spec:\n{spec}"))
    };
    let data =
        |data: &str| list(&format!("functionConfig:\n  apiVersion: v1\n  kind: ConfigMap\n  data:\n    {data}\n"));
    let old = "updated: [{yaml: \"{apiVersion: v1, kind: ConfigMap, metadata: {name: c}}\"}]";
    let mistakes: Vec<(String, Says<'_>)> = vec![
        (String::new(), ["stdin", "is empty", "must hold a ResourceList"]),
        (
            map("c", &[]),
            [
                "stdin 2:7: ",
                "its kind is \"ConfigMap\"",
                "name the file of the functionConfig: `krm-merge merge.yaml < file.yaml`",
            ],
        ),
        (list(""), ["`functionConfig`", "must be given", "For kpt, add `--fn-config FILE`"]),
        (
            list("functionConfig:\n  apiVersion: krm-merge.dev/v1\n  kind: Merge\n"),
            ["stdin 9:15: ", "not \"Merge\" of \"krm-merge.dev/v1\"", "apiVersion `krm-merge.dev/v1alpha1`"],
        ),
        (
            list("functionConfig:\n  spec: {}\n"),
            ["stdin 9:3: `functionConfig`", ", but has neither", "must be of kind"],
        ),
        (
            list("functionConfig:\n  kind: Merge\n"),
            ["stdin 9:3: `functionConfig`", ", but has no apiVersion", "must be of"],
        ),
        (
            list("functionConfig:\n  apiVersion: krm-merge.dev/v1alpha1\n  kind: Merge\n"),
            ["stdin 9:3: ", "`functionConfig`", "must have the field `spec`"],
        ),
        (
            merge("mode: TwoWay\nsources: []"),
            ["stdin 13:5: ", "`spec` must not have the field \"sources\"", "; allowed: `mode`"],
        ),
        (merge("onConflict: Fail"), ["stdin 12:5: ", "`spec.mode` must be given", ": `TwoWay`, `ThreeWay` or"]),
        (
            merge("mode: three-way"),
            ["stdin 12:11: `spec.mode`", "not \"three-way\"", "must be `TwoWay`, `ThreeWay` or"],
        ),
        (
            merge(&format!("mode: ThreeWay\n{old}")),
            ["`spec.original`", "must be given", "or items must have the annotation"],
        ),
        (
            merge("mode: ThreeWay\noriginal: [{path: a/}]\nupdated: [{path: b/}]"),
            ["`spec.original[0].path`", "no item of the package is in \"a\"", "must select at least one item"],
        ),
        (
            merge("mode: ThreeWay\nsource: [{path: a/}]"),
            ["`spec.source`", "must not be given", "mode `ThreeWay` has `original` and `updated`"],
        ),
        (
            merge("mode: TwoWay\nonConflict: Fail"),
            ["stdin 13:17: ", "`spec.onConflict` must not be given", "only mode `ThreeWay` has conflicts"],
        ),
        (
            merge("mode: ThreeWay\nrules: [{take: Mine}]"),
            ["`spec.rules[0].take`", "not \"Mine\"", "must be `Dest`, `Updated`, `Newest` or `Fail`"],
        ),
        (
            merge("mode: ThreeWay\nrules: [{take: Dest, path: spec..x}]"),
            ["`spec.rules[0].path`", "not \"spec..x\"", "must be a path, as `spec.replicas`"],
        ),
        (merge("mode: TwoWay\nsource: a/"), ["stdin 13:13: `spec.source`", "not \"a/\"", "must be a list"]),
        (
            merge("mode: TwoWay\nsource: [{yaml: \"a: [\"}]"),
            ["`spec.source[0].yaml` 1:4: ", "the text must be YAML: unclosed bracket '['", ""],
        ),
        (
            merge("mode: TwoWay\nsource: [{yaml: \"data: {x: 2}\"}]"),
            ["`spec.source[0].yaml`", "must have `apiVersion` to be merged", "or a `target` that says which items"],
        ),
        (
            merge("mode: TwoWay\nsource: [{target: {kind: Pod}, yaml: \"a: 2\"}]"),
            ["`spec.source[0].target`: ", "no resource matches `kind: Pod`", "A pattern must match the whole value"],
        ),
        (
            merge("mode: TwoWay\nsource: [{target: {kinds: Pod}, yaml: \"a: 2\"}]"),
            ["`spec.source[0].target`", "must not have the field \"kinds\"", "allowed: `group`"],
        ),
        (
            merge("mode: TwoWay\nsource: [{yaml: \"a: 2\", path: b/}]"),
            [
                "`spec.source[0]`",
                "not `yaml` and `path`",
                "must have exactly one of `resources`, `yaml`, `edits` and `path`",
            ],
        ),
        (
            merge("mode: TwoWay\nmergeKeys: [{kind: A, path: b, keys: [c]}]"),
            ["`spec.mergeKeys[0]`", "`apiVersion`", "must have the field"],
        ),
        (
            data("mode: threeway"),
            ["stdin 12:11: `data.mode`", "not \"threeway\"", "must be `two-way`, `three-way` or `strategic`"],
        ),
        (data("rules: x"), ["stdin 12:5: ", "`data` must not have the field \"rules\"", "allowed: `mode`"]),
        (
            "kind: ResourceList\n\titems: []\n".to_owned(),
            ["stdin 1:7: ", "not with tabs", "YAML is indented with blanks"],
        ),
    ];
    let said = |(stdin, says): &&(String, Says<'_>)| {
        let told = krm_merge_function::run(stdin).stderr.join("\n");
        assert!(told.starts_with("error: "), "{stdin}{told}");
        says_all(&told, *says)
    };
    let all = mistakes.iter().filter(said).count();
    assert_eq!((mistakes.len(), all), (26, 25));
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
    assert!(ran.failed(2).contains("no resource matches `secret/b`"));
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
