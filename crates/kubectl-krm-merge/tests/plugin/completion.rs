//! Completion as a user has it: in the real shells, of the plugin alone and below the real kubectl.

use std::ffi::OsString;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::{Command, Stdio};

use crate::support::{Folder, PLUGIN, Ran, has};

/// What bash calls to complete a line, with what it tells the function then; prints the candidates in one line.
const BASH: &str = r#"
words=()
for word in $1; do words+=("${word%%=*}"); [[ $word == *=* ]] && words+=("=" "${word#*=}"); done
[[ $1 == *[\ =] ]] && words+=("")
COMP_LINE=$1 COMP_POINT=${#1} COMP_TYPE=9 COMP_WORDS=("${words[@]}") COMP_CWORD=$((${#words[@]} - 1))
compopt() { :; }
[[ $(complete -p "${words[0]}") =~ -F\ ([^ ]+) ]]
"${BASH_REMATCH[1]}" "${words[0]}" "${words[COMP_CWORD]}" "${words[COMP_CWORD - 1]}"
echo "${COMPREPLY[@]}"
"#;

/// Types a line into an interactive zsh, completes it there, and prints what has become of it.
const ZSH: &str = r#"
zmodload zsh/zpty
zpty terminal zsh -f -i
zpty -w terminal 'PS1=; fpath=($PWD $fpath); autoload -Uz compinit; compinit -u -D; [[ -e kubectl.zsh ]] && source ./kubectl.zsh
told() { zle complete-word; print -r -- $BUFFER >line; exit }; zle -N told; bindkey "^T" told; : >ready'
repeat 300; do [[ -e ready ]] && break; sleep 0.1; done
zpty -w -n terminal "$1"$'\x14'
repeat 300; do [[ -s line ]] && break; sleep 0.1; done
cat line
rm line ready
"#;

/// The plugin and its completer first on PATH, in a home of their own.
struct Home {
    folder: Folder,
    path: OsString,
}

impl Home {
    fn new() -> Self {
        let folder = Folder::new();
        symlink(PLUGIN, folder.path("kubectl-krm_merge")).expect("a link");
        let completer = folder.run(&["completion", "kubectl"]).passed();
        folder.write("kubectl_complete-krm_merge", completer);
        let file = folder.path("kubectl_complete-krm_merge");
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).expect("set");
        let path = folder.first_on_path();
        Self { folder, path }
    }

    fn run(&self, program: &str, args: &[&str]) -> String {
        let mut command = Command::new(program);
        command.args(args).current_dir(&self.folder.0).stdin(Stdio::null());
        command.env("PATH", &self.path).env("HOME", &self.folder.0).env_remove("XDG_CONFIG_HOME");
        let out = Ran::of(command.output().unwrap_or_else(|e| panic!("{program}: {e}")));
        assert_eq!(out.stderr, "", "{program} {args:?}");
        out.passed().trim_end().to_owned()
    }
}

/// The script of the plugin, and what it makes of a line.
fn in_bash(home: &Home, line: &str) -> String {
    home.run("bash", &["--norc", "-c", &format!("source ./plugin.bash{BASH}"), "bash", line])
}

fn in_bash_below_kubectl(home: &Home, line: &str) -> String {
    let sources = format!("source {BASH_COMPLETION}; source ./kubectl.bash");
    home.run("bash", &["--norc", "-c", &format!("{sources}{BASH}"), "bash", line])
}

fn in_zsh(home: &Home, line: &str) -> String {
    home.run("zsh", &["-f", "-c", ZSH, "zsh", line])
}

/// Without what is said about each candidate.
fn in_fish(home: &Home, line: &str) -> String {
    let said = home.run("fish", &["-c", "complete -C $argv[1]", line]);
    said.lines().map(|line| line.split('\t').next().unwrap_or_default()).collect::<Vec<_>>().join(" ")
}

const BASH_COMPLETION: &str = "/usr/share/bash-completion/bash_completion";

#[test]
fn bash_completes_the_plugin() {
    if !has("bash") {
        return;
    }
    let home = Home::new();
    home.folder.write("plugin.bash", home.folder.run(&["completion", "bash"]).passed());
    for (line, offered) in [
        ("kubectl-krm_merge thr", "three-way"),
        ("kubectl-krm_merge comp", "completion"),
        ("kubectl-krm_merge three-way --on", "--on-conflict"),
        ("kubectl-krm_merge three-way --on-conflict ", "take-updated keep-dest fail mark"),
        ("kubectl-krm_merge git-install --g", "--global"),
        ("kubectl-krm_merge completion ", "-h --help bash zsh fish kubectl"),
    ] {
        assert_eq!(in_bash(&home, line), offered, "{line}");
    }
}

#[test]
fn zsh_completes_the_plugin() {
    if !has("zsh") {
        return;
    }
    let home = Home::new();
    home.folder.write("_kubectl-krm_merge", home.folder.run(&["completion", "zsh"]).passed());
    home.folder.write("package/a.yaml", "");
    for (line, completed) in [
        ("kubectl-krm_merge thr", "kubectl-krm_merge three-way"),
        ("kubectl-krm_merge comp", "kubectl-krm_merge completion"),
        ("kubectl-krm_merge three-way --on", "kubectl-krm_merge three-way --on-conflict="),
        ("kubectl-krm_merge three-way --on-conflict k", "kubectl-krm_merge three-way --on-conflict keep-dest"),
        ("kubectl-krm_merge three-way --dest pa", "kubectl-krm_merge three-way --dest package/"),
    ] {
        assert_eq!(in_zsh(&home, line), completed, "{line}");
    }
}

#[test]
fn fish_completes_the_plugin() {
    if !has("fish") {
        return;
    }
    let home = Home::new();
    let script = home.folder.run(&["completion", "fish"]).passed();
    home.folder.write(".config/fish/completions/kubectl-krm_merge.fish", script);
    home.folder.write("package/a.yaml", "");
    for (line, offered) in [
        ("kubectl-krm_merge thr", "three-way"),
        ("kubectl-krm_merge comp", "completion"),
        ("kubectl-krm_merge three-way --on", "--on-conflict"),
        ("kubectl-krm_merge three-way --on-conflict ", "fail keep-dest mark take-updated"),
        ("kubectl-krm_merge three-way --dest pa", "package/"),
    ] {
        assert_eq!(in_fish(&home, line), offered, "{line}");
    }
}

#[test]
fn bash_completes_the_plugin_below_kubectl() {
    if !has("bash") || !has("kubectl") {
        return;
    }
    if !Path::new(BASH_COMPLETION).exists() {
        crate::support::skipped("bash-completion", "is not installed");
        return;
    }
    let home = Home::new();
    home.folder.write("kubectl.bash", home.run("kubectl", &["completion", "bash"]));
    for (line, offered) in [
        ("kubectl krm-merge thr", "three-way"),
        ("kubectl krm-merge comp", "completion"),
        ("kubectl krm-merge three-way --on", "--on-conflict"),
        ("kubectl krm-merge three-way --on-conflict ", "take-updated keep-dest fail mark"),
        ("kubectl krm-merge three-way --on-conflict=k", "keep-dest"),
        // Files are bash's own.
        ("kubectl krm-merge three-way --dest pa", ""),
    ] {
        assert_eq!(in_bash_below_kubectl(&home, line), offered, "{line}");
    }
}

#[test]
fn zsh_completes_the_plugin_below_kubectl() {
    if !has("zsh") || !has("kubectl") {
        return;
    }
    let home = Home::new();
    home.folder.write("kubectl.zsh", home.run("kubectl", &["completion", "zsh"]));
    home.folder.write("package/a.yaml", "");
    for (line, completed) in [
        ("kubectl krm-merge thr", "kubectl krm-merge three-way"),
        ("kubectl krm-merge three-way --on", "kubectl krm-merge three-way --on-conflict"),
        ("kubectl krm-merge three-way --on-conflict=k", "kubectl krm-merge three-way --on-conflict=keep-dest"),
        ("kubectl krm-merge three-way --dest pa", "kubectl krm-merge three-way --dest package/"),
    ] {
        assert_eq!(in_zsh(&home, line), completed, "{line}");
    }
}

#[test]
fn fish_completes_the_plugin_below_kubectl() {
    if !has("fish") || !has("kubectl") {
        return;
    }
    let home = Home::new();
    home.folder.write(".config/fish/completions/kubectl.fish", home.run("kubectl", &["completion", "fish"]));
    home.folder.write("package/a.yaml", "");
    for (line, offered) in [
        ("kubectl krm-merge thr", "three-way"),
        ("kubectl krm-merge three-way --on", "--on-conflict"),
        ("kubectl krm-merge three-way --on-conflict ", "fail keep-dest mark take-updated"),
        ("kubectl krm-merge three-way --on-conflict=k", "--on-conflict=keep-dest"),
        ("kubectl krm-merge three-way --dest pa", "package/"),
    ] {
        assert_eq!(in_fish(&home, line), offered, "{line}");
    }
}

#[test]
fn the_completer_may_be_the_plugin_itself() {
    let home = Home::new();
    let args = ["two-way", "--new-elements", ""];
    let candidates = "append\tAfter dest's\nprepend\tBefore dest's\n:4";
    assert_eq!(home.run("kubectl_complete-krm_merge", &args), candidates);
    std::fs::remove_file(home.folder.path("kubectl_complete-krm_merge")).expect("removed");
    symlink(PLUGIN, home.folder.path("kubectl_complete-krm_merge")).expect("a link");
    assert_eq!(home.run("kubectl_complete-krm_merge", &args), candidates);
}

#[test]
fn kubectl_completes_the_values_of_its_own_options() {
    if !has("kubectl") {
        return;
    }
    let config = |names: [&str; 2]| {
        let context = |name: &str| format!("- {{name: {name}, context: {{cluster: c-{name}, user: u-{name}}}}}\n");
        let cluster = |name: &str| format!("- {{name: c-{name}, cluster: {{server: 'http://127.0.0.1:1'}}}}\n");
        let user = |name: &str| format!("- {{name: u-{name}, user: {{}}}}\n");
        let all = |of: &dyn Fn(&str) -> String| names.map(of).concat();
        let parts = [("contexts", all(&context)), ("clusters", all(&cluster)), ("users", all(&user))];
        let parts = parts.map(|(name, list)| format!("{name}:\n{list}")).concat();
        format!("apiVersion: v1\nkind: Config\ncurrent-context: {}\n{parts}", names[0])
    };
    let folder = Folder::with(&[("one", &config(["dev", "prod"])), ("other", &config(["east", "west"]))]);
    let complete = |words: &[&str]| {
        let mut command = folder.command(&["complete", "--", "live"]);
        let ran = command.args(words).env("KUBECONFIG", folder.path("one")).output();
        // kubectl offers the names in any order.
        let out = Ran::of(ran.expect("runs")).passed();
        let mut lines: Vec<&str> = out.lines().collect();
        lines.sort_unstable_by_key(|line| (line.starts_with(':'), *line));
        lines.join("\n") + "\n"
    };
    assert_eq!(complete(&["-f", "x", "--context", ""]), "dev\nprod\n:4\n");
    assert_eq!(complete(&["--context", "p"]), "prod\n:4\n");
    assert_eq!(complete(&["--kubeconfig", "other", "--context="]), "east\nwest\n:4\n");
    assert_eq!(complete(&["--kubeconfig=other", "--cluster", "c-w"]), "c-west\n:4\n");
    assert_eq!(complete(&["--user", ""]), "u-dev\nu-prod\n:4\n");
    // No cluster answers, so there is nothing to offer.
    assert_eq!(complete(&["-n", ""]), ":4\n");
}
