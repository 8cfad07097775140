//! `krm-merge`, as cargo builds and installs it: starts `kubectl-krm_merge` in the same folder, which is the same program, by the name
//! `krm-merge`. The packages of a release have one file under both names, and not this one.

use std::env::{self, consts};
use std::ffi::OsString;
use std::io;
use std::process::{Command, ExitCode};

fn main() -> ExitCode {
    run().unwrap_or_else(|error| {
        #[expect(clippy::disallowed_methods, reason = "there is nothing else to tell it by")]
        let _ = io::Write::write_fmt(
            &mut io::stderr(),
            format_args!("error: kubectl-krm_merge must be in the folder of krm-merge: {error}\n"),
        );
        ExitCode::from(2)
    })
}

fn run() -> io::Result<ExitCode> {
    let own = env::current_exe()?.canonicalize()?;
    let mut program = Command::new(own.with_file_name(format!("kubectl-krm_merge{}", consts::EXE_SUFFIX)));
    let mut args = env::args_os();
    let called = args.next().unwrap_or_else(|| OsString::from("krm-merge"));
    start(program.args(args), called)
}

#[cfg(unix)]
fn start(program: &mut Command, called: OsString) -> io::Result<ExitCode> {
    use std::os::unix::process::CommandExt;
    Err(program.arg0(called).exec())
}

#[cfg(not(unix))]
fn start(program: &mut Command, called: OsString) -> io::Result<ExitCode> {
    let ended = program.env("KRM_MERGE_CALLED", called).status()?;
    Ok(ended.code().and_then(|code| u8::try_from(code).ok()).map_or(ExitCode::FAILURE, ExitCode::from))
}
