//! Shell completion: prints scripts for shells, and the candidates that kubectl gets from `kubectl_complete-krm_merge`.

use std::process;

use clap::builder::StyledStr;
use clap::{Arg, Command};

use crate::cli::Shell;

/// The program that kubectl runs to complete `kubectl krm-merge`.
pub const COMPLETER: &str = "kubectl_complete-krm_merge";

/// The name of the plugin's program, and of the program that is completed.
const PROGRAM: &str = "kubectl-krm_merge";

/// Directives for the shell: offer no files, or let the shell offer files. Source: cobra's ShellCompDirective.
const NO_FILES: &str = ":4\n";
const FILES: &str = ":0\n";

/// The options that kubectl has, too. kubectl knows their values from the kubeconfig; it knows namespaces from the cluster.
const OF_KUBECTL: [&str; 4] = ["context", "cluster", "user", "namespace"];

/// The options that choose the kubeconfig and the cluster from which kubectl takes these values.
const WHERE: [&str; 4] = ["kubeconfig", "context", "cluster", "user"];

/// The script or program that completes the command line in a shell.
pub fn script(shell: Shell, command: &Command) -> String {
    let generator = match shell {
        Shell::Bash => clap_complete::Shell::Bash,
        Shell::Zsh => clap_complete::Shell::Zsh,
        Shell::Fish => clap_complete::Shell::Fish,
        Shell::Kubectl => {
            return format!(
                "#!/bin/sh\n# Put this on PATH as {COMPLETER} and make it executable: kubectl completes `kubectl krm-merge` with it.\nexec {PROGRAM} complete -- \"$@\"\n"
            );
        }
    };
    let mut out = Vec::new();
    let program = command.get_name();
    clap_complete::generate(generator, &mut shown(command), program, &mut out);
    let script = String::from_utf8_lossy(&out);
    // In its script for bash, clap_complete (4.6.11) spells the hyphen of the program's name in two ways. The script then finds no
    // subcommand.
    script.replace(&program.replace('-', "__subcmd__"), &program.replace('-', "__"))
}

/// The command line without hidden commands, because clap_complete would offer them.
fn shown(command: &Command) -> Command {
    let subcommands = command.get_subcommands().filter(|c| !c.is_hide_set()).cloned();
    Command::new(command.get_name().to_owned())
        .version(env!("CARGO_PKG_VERSION"))
        .disable_help_subcommand(true)
        .args(command.get_arguments().cloned())
        .subcommands(subcommands)
}

/// The candidates for the last word, one on a line with its meaning, and a directive for the shell.
pub fn candidates(command: &Command, words: &[String]) -> String {
    let Some((current, before)) = words.split_last() else { return candidates(command, &[String::new()]) };
    let named = before.iter().enumerate().find_map(|(i, word)| Some((i, command.find_subcommand(word)?)));
    let Some((at, sub)) = named else {
        let subcommands = command.get_subcommands().filter(|c| !c.is_hide_set());
        let mut all: Vec<(String, String)> =
            subcommands.map(|c| (c.get_name().to_owned(), line_of(c.get_about()))).collect();
        if current.starts_with('-') {
            all = flags(command, &[]);
            all.push(("--version".to_owned(), "Print version".to_owned()));
        }
        return lines(all, current) + NO_FILES;
    };
    let before = &before[at + 1..];
    let takes_value = |arg: &&Arg| arg.get_action().takes_values() && !arg.is_require_equals_set();
    if let Some(arg) = before.last().and_then(|word| flag(sub, word)).filter(takes_value) {
        return values(arg, before, current);
    }
    if let Some((name, value)) = current.split_once('=')
        && let Some(arg) = flag(sub, name)
    {
        // The candidates lack the name of the flag, because kubectl's scripts put it in front again.
        return values(arg, before, value);
    }
    if current.starts_with('-') {
        return lines(flags(sub, before), current) + NO_FILES;
    }
    match sub.get_positionals().next() {
        Some(arg) => values(arg, before, current),
        None => lines(flags(sub, before), current) + FILES,
    }
}

/// The option that a word names.
fn flag<'c>(command: &'c Command, word: &str) -> Option<&'c Arg> {
    let short = word.strip_prefix('-').filter(|w| w.chars().count() == 1).and_then(|w| w.chars().next());
    let long = word.strip_prefix("--");
    command
        .get_opts()
        .find(|arg| (long.is_some() && arg.get_long() == long) || (short.is_some() && arg.get_short() == short))
}

/// The options that the command line does not have yet, or that may be given again.
fn flags(command: &Command, before: &[String]) -> Vec<(String, String)> {
    let is_open = |arg: &&Arg| {
        let again = matches!(arg.get_action(), clap::ArgAction::Append);
        again
            || !before
                .iter()
                .any(|word| flag(command, word.split('=').next().unwrap_or(word)).is_some_and(|a| a == *arg))
    };
    let named = command
        .get_arguments()
        .filter(is_open)
        .filter_map(|arg| Some((format!("--{}", arg.get_long()?), line_of(arg.get_help()))));
    named.chain([("--help".to_owned(), "Print help".to_owned())]).collect()
}

fn values(arg: &Arg, before: &[String], current: &str) -> String {
    if let Some(name) = arg.get_long().filter(|name| OF_KUBECTL.contains(name)) {
        return of_kubectl(name, before, current);
    }
    let possible = arg.get_possible_values();
    if possible.is_empty() {
        return FILES.to_owned();
    }
    let all = possible.iter().filter(|v| !v.is_hide_set());
    let all = all.map(|v| (v.get_name().to_owned(), line_of(v.get_help()))).collect();
    lines(all, current) + NO_FILES
}

/// kubectl's own candidates for the value of an option. `kubectl __complete`, which kubectl's scripts call, prints candidates and a
/// directive.
fn of_kubectl(option: &str, before: &[String], current: &str) -> String {
    let mut kubectl = process::Command::new("kubectl");
    kubectl.args(["__complete", "get"]);
    let mut words = before.iter();
    while let Some(word) = words.next() {
        let (name, value) = word.split_once('=').map_or((&**word, None), |(name, value)| (name, Some(value)));
        if WHERE.iter().any(|known| name.strip_prefix("--") == Some(known)) && name.strip_prefix("--") != Some(option) {
            let value = value.map(str::to_owned).or_else(|| words.next().cloned());
            kubectl.args(value.map(|value| format!("{name}={value}")));
        }
    }
    let output = kubectl.arg(format!("--{option}")).arg(current).output().ok();
    let answer =
        output.filter(|output| output.status.success()).and_then(|output| String::from_utf8(output.stdout).ok());
    answer
        .filter(|answer| answer.lines().last().is_some_and(|line| line.starts_with(':')))
        .unwrap_or(NO_FILES.to_owned())
}

fn lines(all: Vec<(String, String)>, current: &str) -> String {
    let fitting = all.into_iter().filter(|(name, _)| name.starts_with(current));
    fitting
        .map(|(name, help)| if help.is_empty() { format!("{name}\n") } else { format!("{name}\t{help}\n") })
        .collect()
}

/// The first line of a help text.
fn line_of(help: Option<&StyledStr>) -> String {
    let text = help.map(ToString::to_string).unwrap_or_default();
    text.lines().next().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli;

    fn of(words: &[&str]) -> Vec<String> {
        let words: Vec<String> = words.iter().map(|w| (*w).to_owned()).collect();
        candidates(&cli::command(), &words)
            .lines()
            .map(|line| line.split('\t').next().unwrap_or_default().to_owned())
            .collect()
    }

    #[test]
    fn what_fits_is_offered() {
        assert_eq!(of(&["t"]), ["three-way", "two-way", ":4"]);
        assert_eq!(of(&["three-way", "--on"]), ["--on-conflict", ":4"]);
        assert_eq!(of(&["three-way", "--on-conflict", ""]), ["take-updated", "keep-dest", "fail", "mark", ":4"]);
        assert_eq!(of(&["three-way", "--on-conflict=k"]), ["keep-dest", ":4"]);
        assert_eq!(of(&["three-way", "-o", "d"]), ["diff", ":4"]);
        assert_eq!(of(&["three-way", "--dest", "x"]), [":0"]);
        assert_eq!(of(&["completion", ""]), ["bash", "zsh", "fish", "kubectl", ":4"]);
        assert_eq!(of(&["--v"]), ["--version", ":4"]);
        assert!(!of(&["three-way", "--dest", "x", "--"]).contains(&"--dest".to_owned()));
        assert!(of(&["two-way", "--source", "x", "--"]).contains(&"--source".to_owned()), "it may be given again");
        assert_eq!(of(&[]), of(&[""]));
        assert!(!of(&[""]).contains(&"complete".to_owned()));
    }
}
