//! Mistakes that people make. Each message names the file or the flag, what must hold, and what to do.

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

#[test]
fn each_mistake_is_told_with_what_to_do() {
    let folder = releases();
    folder.write("empty/.keep", "");
    folder.write("twice.yaml", map("c", &[("x", "1"), ("x", "2")]));
    folder.write("chart.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {{ .Release.Name }}\n");
    folder.write("if.yaml", "apiVersion: v1\n{{- if .on }}\nkind: A\n{{- end }}\n");
    let three = ["three-way", "--original", "v1", "--updated", "v2", "--dest"];
    let two = ["two-way", "--patch", "{data: {y: b}}", "--target", "kind=ConfigMap", "--dest"];
    let render = "it is a template: render it first, as `helm template` does";
    for (args, code, parts) in [
        (
            vec!["three-way", "--original", "v2", "--updated", "v1", "--dest", "here"],
            0,
            vec!["`--original` and `--updated` are swapped"],
        ),
        ([&three[..], &[""]].concat(), 2, vec!["`--dest` must name a file or a folder, but it is empty"]),
        (
            [&three[..], &["empty"]].concat(),
            0,
            vec!["empty: dest holds no resource", "look whether `--dest` is the folder of the package"],
        ),
        ([&two[..], &["chart.yaml"]].concat(), 2, vec!["chart.yaml:4:", render]),
        ([&two[..], &["if.yaml"]].concat(), 2, vec!["if.yaml:2:", render]),
        (
            [&two[..], &["twice.yaml"]].concat(),
            2,
            vec!["twice.yaml:7:3: ", "the key `x` must be in a map only once", "delete the other one"],
        ),
        (
            vec!["upgrade", "nope"],
            2,
            vec!["`PACKAGE` \"nope\": there must be the folder of a package, but nothing is there; correct the path"],
        ),
        (vec!["log", "nope"], 2, vec!["`PACKAGE` \"nope\": there must be the folder of a package"]),
        (vec!["git-install"], 2, vec!["not a git repository", "begin one with `git init`, or add `--global`"]),
        (
            vec!["explain", "deploymnt"],
            2,
            vec!["\"deploymnt\" must be a type that is known", "like it is `Deployment`"],
        ),
        (vec!["explain", "Rolout.argoproj.io"], 2, vec!["like it is `rollout`"]),
        (vec!["explain", "xxxxxxxx"], 2, vec!["`--filename`; with `--live`, say KIND.VERSION.GROUP\n"]),
        (
            vec!["two-way", "-p", "v1", "-d", "here", "--target", "deployment"],
            2,
            vec!["as `kind=Deployment,name=web`, or as `deployment/web`"],
        ),
        (vec!["help", "upgrad"], 2, vec!["a similar subcommand exists: 'upgrade'"]),
    ] {
        if args[0] == "git-install" && !has("git") {
            return skipped("git", "is not on PATH");
        }
        let ran = folder.run(&args);
        assert_eq!(ran.code, Some(code), "{args:?}: {ran:?}");
        says(&ran, &parts);
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
