//! The scripts of the action, as a runner starts them, and the actions that the workflows of this repository use.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use krm_yaml::{Document, NodeRef};

use crate::support::{Folder, PLUGIN, Ran, has, map, root};

fn file(path: &str) -> Document<'static> {
    let text = fs::read_to_string(root().join(path)).expect(path);
    Document::parse(text).expect("YAML")
}

fn text<'d>(node: NodeRef<'d>, path: &[&str]) -> &'d str {
    node.at(path).map(NodeRef::string).unwrap_or_default()
}

/// Runs the step with this name in a workspace, with the inputs in the environment, as the action sets it.
fn step(name: &str, workspace: &Folder, inputs: &[(&str, &str)]) -> Ran {
    let action = file("action.yml");
    let root = action.roots().next().expect("a map");
    let steps = root.at(&["runs", "steps"]).expect("steps");
    let step = steps.elements().find(|step| text(*step, &["name"]) == name).expect(name);
    let mut bash = Command::new("bash");
    bash.args(["--noprofile", "--norc", "-eo", "pipefail", "-c", text(step, &["run"])]).current_dir(&workspace.0);
    let folder = PathBuf::from(PLUGIN).parent().expect("a folder").to_owned();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths([folder].into_iter().chain(std::env::split_paths(&path))).expect("a PATH");
    bash.env("PATH", path).env("GITHUB_STEP_SUMMARY", workspace.path("summary"));
    for (key, value) in step.get("env").into_iter().flat_map(NodeRef::entries) {
        let input = value.string().trim_start_matches("${{ inputs.").trim_end_matches(" }}").to_owned();
        let default = text(root, &["inputs", &input, "default"]);
        let given = inputs.iter().find(|(name, _)| *name == input).map_or(default, |(_, given)| given);
        bash.env(key.string(), given);
    }
    Ran::of(bash.output().expect("bash"))
}

const SIDES: [(&str, &str); 3] = [("original", "v1"), ("updated", "v2"), ("dest", "here")];

fn package() -> Folder {
    let folder = Folder::new();
    for (side, x) in [("v1", "'1'"), ("v2", "'2'"), ("here", "'3'")] {
        folder.write(&format!("{side}/c.yaml"), map("c", &[("x", x)]));
    }
    folder
}

#[test]
fn the_action_takes_true_and_false_alone() {
    if !has("bash") {
        return;
    }
    let check = |value: &str| step("Check the inputs", &Folder::new(), &[("fail-on-conflict", value)]);
    for value in ["true", "false"] {
        assert_eq!(check(value).passed(), "");
    }
    for value in ["True", "yes", "", "1", "false ", "true\nfalse", "\n::warning::x"] {
        let ran = check(value);
        let want = "::error title=krm-merge::`fail-on-conflict` must be `true` or `false`, not ";
        assert!(ran.code == Some(1) && ran.stdout.starts_with(want), "{ran:?}");
        assert_eq!(ran.stdout.lines().count(), 1, "{ran:?}");
    }
}

#[test]
fn the_action_fails_where_it_should() {
    if !has("bash") {
        return;
    }
    let merge = |more: &[(&str, &str)]| {
        let folder = package();
        let ran = step("Merge without writing", &folder, &[more, &SIDES].concat());
        assert_eq!(folder.read("here/c.yaml"), map("c", &[("x", "'3'")]));
        (ran.code, ran.stdout, folder.read("summary"))
    };
    for (given, code) in [("true", 1), ("false", 0)] {
        let (ended, out, summary) = merge(&[("fail-on-conflict", given)]);
        assert_eq!(ended, Some(code), "{out}");
        assert!(out.contains("::warning file=here/c.yaml,line=") && summary.contains("data.x"), "{out}{summary}");
    }
    // Whatever becomes of conflicts, a side that is not there is an error.
    for wrong in [("original", "no such\nfolder"), ("updated", "v3"), ("dest", "there"), ("config", "none.yaml")] {
        let (ended, out, _) = merge(&[wrong, ("fail-on-conflict", "false")]);
        assert_eq!(ended, Some(2), "{out}");
        let obeyed = obeyed(&out);
        assert!(obeyed.len() == 1 && obeyed[0].starts_with("::error title=krm-merge::"), "{out}");
    }
}

/// The lines that GitHub's runner obeys, of all that a step prints. Source: `ActionCommandManager` and `ActionCommand` of
/// github.com/actions/runner.
fn obeyed(printed: &str) -> Vec<&str> {
    let (mut all, mut stopped) = (Vec::new(), None);
    for line in printed.lines() {
        let command = line.trim_start().strip_prefix("::").and_then(|rest| rest.split_once("::"));
        let is_old = line.find("##[").is_some_and(|at| line[at..].contains(']'));
        match (stopped, command) {
            (Some(token), Some((name, ""))) if name == token => stopped = None,
            (Some(_), _) => {}
            (None, Some(("stop-commands", token))) => stopped = Some(token),
            (None, Some(_)) => all.push(line),
            (None, None) if is_old => all.push(line),
            (None, None) => {}
        }
    }
    all
}

/// Names and values of upstream that a runner would obey.
const COMMANDS: [&str; 4] =
    ["##[stop-commands]x", "##vso[task.complete]x", "::stop-commands::x", "  ::error::x\n::add-mask::a"];

#[test]
fn no_text_of_upstream_is_a_command() {
    if !has("bash") {
        return;
    }
    for command in COMMANDS {
        let folder = package();
        for (side, x) in [("v1", 1), ("v2", 2), ("here", 3)] {
            let value = format!("{:?}", format!("{command}{x}"));
            let map =
                map("c", &[("x", &value)]).replace("data:", &format!("# {command}{x}\ndata:").replace("\n::", "::"));
            folder.write(&format!("{side}/c.yaml"), map);
        }
        let name = command.replace('\n', "");
        folder.write(&format!("v2/{name}.yaml"), format!("{{ \"{command}"));
        folder.write(&format!("v2/{name}.txt"), "new");
        let printed = |ran: &Ran| ran.stdout.clone() + &ran.stderr;
        for policy in ["take-updated", "fail"] {
            let sides = ["three-way", "--original", "v1", "--updated", "v2", "--dest", "here", "--on-conflict", policy];
            let told = folder.run(&[&sides[..], &["-o", "github"]].concat());
            let all = printed(&told);
            let lines = obeyed(&all);
            assert!(lines.iter().all(|line| line.starts_with("::warning ") || line.starts_with("::error ")), "{all}");
            assert!(lines.len() >= 2 && !all.contains("##[") && !all.contains("##vso["), "{all}");
            // What is said as a command is not said again.
            assert!(!told.stderr.contains("warning: ") && !told.stderr.contains("error: "), "{all}");
            let told = folder.run(&[&sides[..], &["--dry-run", "-o", "name"]].concat());
            assert_eq!(obeyed(&printed(&told)), Vec::<&str>::new());
        }
        let ran = step("Merge without writing", &folder, &SIDES);
        let all = printed(&ran);
        let lines = obeyed(&all);
        assert!(lines.len() >= 2 && lines.iter().all(|line| line.starts_with("::warning ")), "{all}");
    }
}

#[test]
fn an_error_is_said_once() {
    let ran = package().run(&["three-way", "--original", "v1", "--updated", "none", "--dest", "here", "-o", "github"]);
    assert_eq!((ran.code, &*ran.stderr), (Some(2), ""), "{ran:?}");
    assert!(ran.stdout.starts_with("::error title=krm-merge::") && ran.stdout.lines().count() == 1, "{ran:?}");
}

/// The workspace is that of a pull request: what stands in it must not say what cargo is.
#[test]
fn the_action_builds_in_its_own_folder() {
    let action = file("action.yml");
    let steps = action.roots().next().and_then(|root| root.at(&["runs", "steps"])).expect("steps");
    let cargo: Vec<_> = steps.elements().filter(|step| text(*step, &["run"]).contains("cargo")).collect();
    assert!(!cargo.is_empty());
    for step in cargo {
        assert_eq!(text(step, &["working-directory"]), "${{ github.action_path }}");
    }
}

#[test]
fn workflows_pin_actions_and_keep_no_credentials() {
    let mut checked = 0;
    for path in [".github/workflows/ci.yml", ".github/workflows/release.yml"] {
        let workflow = file(path);
        let jobs = workflow.roots().next().and_then(|root| root.get("jobs")).expect("jobs");
        let steps = jobs.entries().filter_map(|(_, job)| job.get("steps")).flat_map(NodeRef::elements);
        for step in steps.filter(|step| step.get("uses").is_some()) {
            let uses = text(step, &["uses"]);
            let (action, commit) = uses.split_once('@').expect("a version");
            assert!(commit.len() == 40 && commit.bytes().all(|b| b.is_ascii_hexdigit()), "{path}: {uses}");
            let line = workflow.source().lines().find(|line| line.contains(uses)).expect("a line");
            assert!(line.contains(" # v"), "{path}: {line}");
            if action == "actions/checkout" {
                assert_eq!(text(step, &["with", "persist-credentials"]), "false", "{path}");
            }
            checked += 1;
        }
    }
    assert!(checked > 10, "{checked}");
}
