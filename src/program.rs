//! The function as a program: stdin, stdout, stderr and the exit code. Two programs run it: the small one of the image, and the one that has
//! commands, too.

use std::fs;
use std::io::{self, ErrorKind, IoSlice, IsTerminal, Read, Write};
use std::process::ExitCode;
#[cfg(unix)]
use std::sync::{Arc, atomic::AtomicBool};

use anyhow::{Context, Result, anyhow, bail};
use krm_yaml::shown;

use crate::exec_plugin;
use crate::function::{Output, edited};
use krm_job::results::Verdict;

const USAGE: &str = include_str!("usage.txt");

/// Runs the function with the arguments and the streams of this process. `commands` says where the commands are, for whoever wants one.
pub fn main(commands: &str) -> ExitCode {
    #[cfg(unix)]
    if std::process::id() == 1 {
        // If a handler cannot be set, signals do nothing, as for any process 1.
        let _ = end_on_signals();
    }
    match try_main(commands) {
        Ok(code) => code,
        // A host that closed our stdout did not get the resources, so this is a failure. Nobody would read an error message.
        Err(e) if e.downcast_ref::<io::Error>().is_some_and(|e| e.kind() == ErrorKind::BrokenPipe) => ExitCode::FAILURE,
        Err(e) => {
            // If stderr is closed, nobody would read an error.
            let _ = tell(vec![format!("error: {e:#}")]);
            ExitCode::FAILURE
        }
    }
}

/// Ends the program at once on SIGINT and SIGTERM, with the exit code that shells use for it. The kernel does nothing with such a signal to
/// process 1, as which the function runs in a container, unless there is a handler.
#[cfg(unix)]
fn end_on_signals() -> io::Result<()> {
    use signal_hook::{consts, flag};
    for signal in [consts::SIGINT, consts::SIGTERM] {
        flag::register_conditional_shutdown(signal, 128 + signal, Arc::new(AtomicBool::new(true)))?;
    }
    Ok(())
}

fn try_main(commands: &str) -> Result<ExitCode> {
    let mut config = None;
    let args: Vec<String> = std::env::args_os().skip(1).map(|a| a.to_string_lossy().into_owned()).collect();
    match args.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        [] => {}
        ["-h" | "--help"] => {
            print([USAGE])?;
            return Ok(ExitCode::SUCCESS);
        }
        ["-V" | "--version"] => {
            let types = krm_schema::schema::builtin::VERSIONS;
            print([&*format!("krm-merge {} (types of Kubernetes {types})\n", env!("CARGO_PKG_VERSION"))])?;
            return Ok(ExitCode::SUCCESS);
        }
        // kustomize runs a legacy exec plugin with a config file as its only argument, too.
        [file] if !file.starts_with('-') => {
            let bytes = fs::read(file).with_context(|| {
                format!(
                    "the only argument must be `--help`, `--version` or the file of a functionConfig, not \"{file}\"; {commands}"
                )
            })?;
            config = Some(utf_8(bytes, "functionConfig")?);
        }
        [first, ..] => bail!(
            "there must be no arguments but `--help`, `--version` or the file of a functionConfig, not \"{first}\": a ResourceList is read from stdin; {commands}"
        ),
    }
    if io::stdin().is_terminal() {
        bail!("stdin must be a ResourceList, not a terminal; {commands}; see `krm-merge --help`");
    }
    let mut bytes = Vec::new();
    stdin().and_then(|mut stdin| stdin.read_to_end(&mut bytes)).context("stdin must be readable")?;
    let text = utf_8(bytes, "stdin")?;
    let output = match config {
        Some(config) => {
            let Output { stdout, stderr, verdict } = exec_plugin::run(&config, &text);
            Output { stdout: stdout.into(), stderr, verdict }
        }
        None => edited(&text),
    };
    print(output.stdout.pieces())?;
    tell(output.stderr)?;
    Ok(match output.verdict {
        Verdict::Passed => ExitCode::SUCCESS,
        Verdict::Failed => ExitCode::FAILURE,
    })
}

/// Stdin as a file. If stdin is a regular file, it knows its size, so reading needs only one allocation.
#[cfg(any(unix, windows))]
fn stdin() -> io::Result<fs::File> {
    #[cfg(unix)]
    let stdin = std::os::fd::AsFd::as_fd(&io::stdin()).try_clone_to_owned();
    #[cfg(windows)]
    let stdin = std::os::windows::io::AsHandle::as_handle(&io::stdin()).try_clone_to_owned();
    stdin.map(fs::File::from)
}

#[cfg(not(any(unix, windows)))]
fn stdin() -> io::Result<io::Stdin> {
    Ok(io::stdin())
}

/// The most pieces of the output that one call writes: Linux takes no more.
const AT_ONCE: usize = 1024;

/// Prints resources and our own help to stdout. Nothing is escaped, because the host reads resources as data.
fn print<'p>(pieces: impl IntoIterator<Item = &'p str>) -> Result<()> {
    write_pieces(pieces).context("stdout must be writable")
}

#[expect(clippy::disallowed_methods, reason = "this is where the function prints")]
fn write_pieces<'p>(pieces: impl IntoIterator<Item = &'p str>) -> io::Result<()> {
    let mut out = io::stdout().lock();
    let mut pieces = pieces.into_iter().map(|piece| IoSlice::new(piece.as_bytes()));
    loop {
        let mut batch: Vec<IoSlice<'_>> = pieces.by_ref().take(AT_ONCE).collect();
        if batch.is_empty() {
            return out.flush();
        }
        write_all(&mut out, &mut batch)?;
    }
}

/// Writes pieces without a copy of them.
fn write_all(out: &mut impl Write, mut pieces: &mut [IoSlice<'_>]) -> io::Result<()> {
    // Skips empty pieces at the beginning: a call that writes no byte would look like an error.
    IoSlice::advance_slices(&mut pieces, 0);
    while !pieces.is_empty() {
        match out.write_vectored(pieces) {
            Ok(0) => return Err(ErrorKind::WriteZero.into()),
            Ok(written) => IoSlice::advance_slices(&mut pieces, written),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Prints lines on stderr, all at once; misleading characters are escaped.
#[expect(clippy::disallowed_methods, reason = "this is where the function tells")]
fn tell(lines: Vec<String>) -> io::Result<()> {
    let mut text = String::new();
    for line in lines {
        text.extend([&*shown::line(&line), "\n"]);
    }
    io::stderr().write_all(text.as_bytes())
}

fn utf_8(bytes: Vec<u8>, name: &str) -> Result<String> {
    if let Some(encoding) = krm_yaml::utf_16_or_32(&bytes) {
        bail!("{name}: the text must be UTF-8, not {encoding}: save it again as UTF-8");
    }
    String::from_utf8(bytes).map_err(|e| {
        let at = e.utf8_error().valid_up_to();
        let valid = String::from_utf8_lossy(&e.as_bytes()[..at]);
        let place = krm_yaml::Position::of(&valid, at);
        anyhow!("{name} {place}: the text must be UTF-8, but the byte at offset {at} is not")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Takes three bytes at a time, and is interrupted before each of them.
    #[derive(Default)]
    struct Slow {
        taken: Vec<u8>,
        was_interrupted: bool,
    }

    impl Write for Slow {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.write_vectored(&[IoSlice::new(bytes)])
        }

        fn write_vectored(&mut self, pieces: &[IoSlice<'_>]) -> io::Result<usize> {
            self.was_interrupted = !self.was_interrupted;
            if self.was_interrupted {
                return Err(ErrorKind::Interrupted.into());
            }
            let bytes = pieces.iter().flat_map(|piece| piece.iter()).take(3);
            let before = self.taken.len();
            self.taken.extend(bytes);
            Ok(self.taken.len() - before)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn all_pieces_are_written_even_a_few_bytes_at_a_time() {
        let mut out = Slow::default();
        let mut pieces = ["", "a", "", "bcdefg", "hi", ""].map(|piece| IoSlice::new(piece.as_bytes()));
        write_all(&mut out, &mut pieces).expect("written");
        assert_eq!(String::from_utf8(out.taken).as_deref(), Ok("abcdefghi"));
    }
}
