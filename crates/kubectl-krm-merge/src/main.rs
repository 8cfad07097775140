//! `kubectl krm-merge`: the merges of the function on files, folders, git and a cluster.

mod bounded;
mod cache;
mod cli;
mod compare;
mod complete;
mod difference;
mod explain;
mod extract;
mod helm;
mod likeness;
mod manual;
mod merge;
#[cfg(not(feature = "live"))]
mod no_cluster;
mod pairs;
mod plain;
mod review;
mod run;
mod setting;
mod upgrade;

use std::ffi::OsString;
use std::io;
use std::process::ExitCode;

use anyhow::Result;
use clap::FromArgMatches;
use clap::error::{ContextKind, ContextValue};
use krm_driver::{driver, history, install, resolve};
use krm_files::command::{called, is_plugin, program};
use krm_folders::end::End;
use krm_folders::sources;
use krm_job::config::Mode;
use krm_show::args::Color;
use krm_words::Word;
use krm_yaml::shown;

use cli::{Cli, Command};

fn main() -> ExitCode {
    let args: Vec<OsString> = std::env::args_os().skip(1).collect();
    if is_function(&args) {
        return krm_merge_function::program::main(
            "to merge files, name a command, such as `krm-merge upgrade my-package` or `krm-merge three-way`",
        );
    }
    let end = match try_main() {
        Ok(end) => end,
        // If the reader of our output has closed it, nobody needs the rest, so this is no error.
        Err(e) if e.downcast_ref::<io::Error>().is_some_and(|e| e.kind() == io::ErrorKind::BrokenPipe) => End::Done,
        Err(e) => {
            krm_show::screen::tell(Word::Error, &krm_files::errors::chain(&e));
            End::of(&e)
        }
    };
    krm_git::cache::trim();
    match end {
        End::Done => ExitCode::SUCCESS,
        End::Differs => ExitCode::from(1),
        End::Bad => ExitCode::from(2),
        End::Stopped(code) => ExitCode::from(code),
        End::StopsGit => ExitCode::from(255),
    }
}

/// Whether the program is the function, and not the commands: without arguments, or with the file of a functionConfig. As kubectl's plugin it
/// never is.
fn is_function(args: &[OsString]) -> bool {
    if is_plugin() {
        return false;
    }
    match args {
        [] => true,
        [one] => {
            let word = one.to_string_lossy();
            let is_path = word.contains(['/', '\\', '.']) || std::path::Path::new(one).is_file();
            is_path && !word.starts_with('-') && command().find_subcommand(one).is_none()
        }
        _ => false,
    }
}

fn try_main() -> Result<End> {
    if program() == complete::COMPLETER {
        let words: Vec<String> = std::env::args_os().skip(1).map(|a| a.to_string_lossy().into_owned()).collect();
        return print(&complete::candidates(&command(), &words));
    }
    let args: Vec<OsString> = std::env::args_os().collect();
    let matches = match command().try_get_matches_from(&args) {
        Ok(matches) => matches,
        Err(e) => return refused(e, &args),
    };
    let asked = Cli::from_arg_matches(&matches)?.command;
    let color = matches.subcommand().and_then(|(_, of)| of.try_get_one::<Color>("color").ok().flatten());
    krm_show::screen::choose(color.copied().unwrap_or(Color::Auto));
    if matches.subcommand().is_some_and(|(_, of)| matches!(of.try_get_one::<bool>("quiet"), Ok(Some(true)))) {
        krm_show::screen::be_quiet();
    }
    if matches.subcommand().is_some_and(|(_, of)| matches!(of.try_get_one::<bool>("plain_http"), Ok(Some(true)))) {
        sources::use_plain_http();
    }
    match asked {
        Command::TwoWay { source, dest, common } => {
            let ended = run::run(&dest.dest, &common, || setting::of_source(Mode::TwoWay, &source, &common));
            krm_show::github::shown(common.output, ended)
        }
        Command::Strategic { source, dest, common } => {
            let ended = run::run(&dest.dest, &common, || setting::of_source(Mode::Strategic, &source, &common));
            krm_show::github::shown(common.output, ended)
        }
        Command::ThreeWay { releases, deciding, dest, common } => {
            let ended = run::run(&dest.dest, &common, || setting::of_releases(&releases, &deciding, &common));
            krm_show::github::shown(common.output, ended)
        }
        Command::Merge => merge::of_stdin(),
        Command::Upgrade(args) => krm_show::github::shown(args.common.output, upgrade::upgrade(&args)),
        Command::Review(args) => review::review(&args),
        Command::Get(args) => upgrade::get(&args),
        Command::List(args) => upgrade::list(&args),
        Command::Log(args) => upgrade::log(&args),
        Command::Cache(args) => cache::cache(&args),
        #[cfg(feature = "live")]
        Command::Live(args) => krm_show::github::shown(args.output, krm_live::live::live(&args)),
        Command::Diff(args) => compare::diff(&args),
        Command::Extract(args) => extract::extract(&args),
        Command::Explain(args) => explain::explain(&args),
        Command::GitInstall(args) => install::install(&args),
        Command::GitHistory(args) => history::history(&args),
        Command::GitDriver(args) => Ok(driver::drive(&args)),
        Command::Resolve(args) => resolve::resolve(&args),
        Command::Completion { shell } => print(&complete::script(shell, &command())),
        Command::Man { command: name } => print(&man(name.as_deref())?),
        Command::Help { command: name } => said(name.iter().map(String::as_str).chain(["--help"])),
        Command::Version => said(["--version"]),
        Command::Complete { words } => print(&complete::candidates(&command(), &words)),
    }
}

/// Runs `--help` or `--version`, for the commands of these names.
///
/// # Errors
/// Stdout cannot be written.
fn said<'a>(args: impl IntoIterator<Item = &'a str>) -> Result<End> {
    let args: Vec<OsString> = [""].into_iter().chain(args).map(OsString::from).collect();
    command().try_get_matches_from(&args).map_or_else(|e| refused(e, &args), |_| Ok(End::Done))
}

/// Prints clap's message about arguments that it refuses. The message repeats the arguments, so clap parses them again in a form that is
/// safe to show.
fn refused(error: clap::Error, args: &[OsString]) -> Result<End> {
    let shown = args.iter().map(|arg| shown::line(&arg.to_string_lossy()).into_owned());
    let mut error = command().try_get_matches_from(shown).err().unwrap_or(error);
    if let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidSubcommand)
        && let Some((_, meant)) = MEANT.iter().find(|(other, _)| other == word)
    {
        error.remove(ContextKind::SuggestedSubcommand);
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![(*meant).into()]));
    }
    let text = error.render().to_string();
    // `--help` and `--version` also come as errors, but go to stdout.
    if !error.use_stderr() {
        return print(&text);
    }
    krm_show::screen::tell_lines(&text);
    Ok(End::Bad)
}

/// Words of other programs that mean a command of this one, with the tip about it.
const MEANT: [(&str, &str); 11] = [
    ("abort", "'upgrade --abort' takes back the last run on a package"),
    ("apply", "'live --apply' sends files to a cluster, and 'strategic' applies a patch to files"),
    ("clone", "'get' copies a release of upstream into a new folder"),
    ("fetch", "'list' says which releases are there, and 'upgrade' takes one"),
    ("init", "'get' copies a release of upstream into a new folder, and 'git-install' makes git merge by field"),
    ("patch", "'strategic' applies a patch as kubectl does, and 'two-way' sets its values"),
    ("pull", "'upgrade' merges a new release of upstream into a package"),
    ("revert", "'upgrade --abort' takes back the last run on a package"),
    ("status", "'list' says of each package what it has and could get, and 'diff' compares it with its upstream"),
    ("undo", "'upgrade --abort' takes back the last run on a package"),
    ("update", "'upgrade' merges a new release of upstream into a package"),
];

/// The command line, with the name by which the user called the program.
fn command() -> clap::Command {
    cli::command().name(if is_plugin() { "kubectl-krm_merge" } else { "krm-merge" }).bin_name(called())
}

fn man(name: Option<&str>) -> Result<String> {
    let mut command = command();
    command.build();
    manual::page(&command, name)
}

fn print(text: &str) -> Result<End> {
    krm_show::screen::print(text)?;
    Ok(End::Done)
}
