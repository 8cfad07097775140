//! `kubectl krm-merge`: the merges of the function on files, folders, git and a cluster.

mod carry;
mod cli;
mod complete;
mod diff;
mod disk;
mod edit;
mod git;
mod live;
mod merge;
mod moved;
mod output;
mod progress;
mod run;
mod setting;
mod side;
mod spot;
mod told;
mod walk;

use std::io::{self, Write};
use std::process::ExitCode;

use anyhow::{Result, bail};
use clap::{CommandFactory, FromArgMatches};
use krm_merge::config::Mode;

use cli::{Cli, Command};

/// How a run ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    /// Exit 0.
    Done,
    /// Conflicts that nobody settled, or differences where these were asked for: exit 1.
    Differs,
    /// Bad usage or input: exit 2.
    Bad,
}

fn main() -> ExitCode {
    let end = match try_main() {
        Ok(end) => end,
        // Whoever read our output has read enough.
        Err(e) if e.downcast_ref::<io::Error>().is_some_and(|e| e.kind() == io::ErrorKind::BrokenPipe) => End::Done,
        Err(e) => {
            // There is no one left to tell when stderr is closed.
            let _ = writeln!(io::stderr(), "error: {}", told(&e));
            End::Bad
        }
    };
    match end {
        End::Done => ExitCode::SUCCESS,
        End::Differs => ExitCode::from(1),
        End::Bad => ExitCode::from(2),
    }
}

/// An error with its causes; some libraries say the cause in the error already.
fn told(error: &anyhow::Error) -> String {
    error.chain().map(ToString::to_string).fold(String::new(), |told, cause| match told.as_str() {
        "" => cause,
        said if said.contains(&cause) => told,
        said => format!("{said}: {cause}"),
    })
}

fn try_main() -> Result<End> {
    if program() == complete::COMPLETER {
        let words: Vec<String> = std::env::args_os().skip(1).map(|a| a.to_string_lossy().into_owned()).collect();
        return print(complete::candidates(&command(), &words).as_bytes());
    }
    let matches = match command().try_get_matches() {
        Ok(matches) => matches,
        Err(e) => {
            // `--help` and `--version` come as errors, too, which go to stdout.
            let _ = e.print();
            return Ok(if e.use_stderr() { End::Bad } else { End::Done });
        }
    };
    match Cli::from_arg_matches(&matches)?.command {
        Command::TwoWay { source, common } => run::run(&common, || setting::of_source(Mode::TwoWay, &source, &common)),
        Command::Strategic { source, common } => {
            run::run(&common, || setting::of_source(Mode::Strategic, &source, &common))
        }
        Command::ThreeWay { upgrade, common } => run::run(&common, || setting::of_upgrade(&upgrade, &common)),
        Command::Live(args) => live::live(&args),
        Command::GitInstall(args) => git::install(&args),
        Command::GitDriver(args) => git::drive(&args),
        Command::Completion { shell } => print(complete::script(shell, &command()).as_bytes()),
        Command::Man { command: name } => print(&man(name.as_deref())?),
        Command::Complete { words } => print(complete::candidates(&command(), &words).as_bytes()),
    }
}

/// The command line, under the name that the user knows it by.
fn command() -> clap::Command {
    let file = program();
    let name = if file.starts_with("kubectl") || file.is_empty() { "kubectl krm-merge".to_owned() } else { file };
    Cli::command().name("kubectl-krm_merge").bin_name(name)
}

/// The name that this program was called by.
fn program() -> String {
    let arg0 = std::env::args_os().next().unwrap_or_default();
    std::path::Path::new(&arg0).file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

const VERSION: &str = env!("CARGO_PKG_VERSION");

fn man(name: Option<&str>) -> Result<Vec<u8>> {
    let mut command = command();
    command.build();
    let page = match name {
        None => command.display_name("kubectl-krm-merge"),
        Some(name) => match command.find_subcommand(name).filter(|c| !c.is_hide_set()) {
            Some(found) => found.clone().display_name(format!("kubectl-krm-merge-{name}")).version(VERSION),
            None => bail!("there must be a command of that name, not \"{name}\""),
        },
    };
    let mut out = Vec::new();
    clap_mangen::Man::new(page).source(format!("kubectl-krm-merge {VERSION}")).render(&mut out)?;
    Ok(out)
}

fn print(text: &[u8]) -> Result<End> {
    io::stdout().lock().write_all(text)?;
    Ok(End::Done)
}
