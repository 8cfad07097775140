//! A program that this one starts for its output, with bounds on what it prints and on how long it runs.
//!
//! What is printed beyond the bound is no use to anyone, and a program that never ends must not hold up the run. So it is killed then, and the
//! one who started it gets an [`Unfinished`].

use std::io::{self, Read};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

/// The largest output of a program, in bytes.
pub const MOST: u64 = 1 << 28;

/// How much of what a program says on stderr is read, in bytes.
const MOST_SAID: u64 = 1 << 16;

/// How a program ended.
#[derive(Debug)]
pub struct Ended {
    /// What it printed on stdout.
    pub printed: Vec<u8>,
    /// What it said on stderr, up to a bound.
    pub said: Vec<u8>,
    /// Its exit code.
    pub status: ExitStatus,
}

/// Why a program has no output.
#[derive(Debug)]
pub enum Unfinished {
    /// It cannot be started.
    NotStarted(io::Error),
    /// Its output cannot be read.
    Unread(io::Error),
    /// It printed more than [`MOST`] bytes.
    TooLarge,
    /// It ran for longer than it may.
    TookTooLong,
}

/// Runs a program without stdin, for at most this time, if one is given.
///
/// # Errors
/// The errors of [`Unfinished`]. The program has ended then, or is killed.
pub fn run(command: &mut Command, most_time: Option<Duration>) -> Result<Ended, Unfinished> {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(Unfinished::NotStarted)?;
    let ended = read(&mut child, most_time);
    if ended.is_err() {
        let _ = child.kill();
        let _ = child.wait();
    }
    ended
}

fn read(child: &mut Child, most_time: Option<Duration>) -> Result<Ended, Unfinished> {
    let until = most_time.map(|most| Instant::now() + most);
    // Both pipes must move at the same time. What the program started may hold them longer than it, so nobody waits for these threads.
    let printed = read_aside(child.stdout.take(), |from| {
        let mut printed = Vec::new();
        from.take(MOST + 1).read_to_end(&mut printed).map(|_| printed)
    });
    let said = read_aside(child.stderr.take(), |mut from| {
        let mut said = Vec::new();
        from.by_ref().take(MOST_SAID).read_to_end(&mut said)?;
        // It must be able to say the rest, or it would wait for ever.
        io::copy(&mut from, &mut io::sink()).map(|_| said)
    });
    let printed = received(&printed, until)?;
    if printed.len() as u64 > MOST {
        return Err(Unfinished::TooLarge);
    }
    let said = received(&said, until)?;
    let status = child.wait().map_err(Unfinished::Unread)?;
    Ok(Ended { printed, said, status })
}

/// Reads a pipe in a thread of its own.
fn read_aside<R: Read + Send + 'static>(
    pipe: Option<R>,
    read: impl FnOnce(R) -> io::Result<Vec<u8>> + Send + 'static,
) -> Receiver<io::Result<Vec<u8>>> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || sender.send(pipe.map_or(Ok(Vec::new()), read)));
    receiver
}

fn received(from: &Receiver<io::Result<Vec<u8>>>, until: Option<Instant>) -> Result<Vec<u8>, Unfinished> {
    let read = match until {
        Some(until) => from.recv_timeout(until.saturating_duration_since(Instant::now())),
        None => from.recv().map_err(RecvTimeoutError::from),
    };
    match read {
        Ok(read) => read.map_err(Unfinished::Unread),
        Err(RecvTimeoutError::Timeout) => Err(Unfinished::TookTooLong),
        Err(RecvTimeoutError::Disconnected) => Err(Unfinished::Unread(io::Error::other("nothing reads the output"))),
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn sh(script: &str) -> Command {
        let mut sh = Command::new("sh");
        sh.args(["-c", script]);
        sh
    }

    #[test]
    fn a_program_is_read_to_its_end_and_no_further() {
        let ended = run(&mut sh("echo out; echo err >&2; exit 3"), Some(Duration::from_secs(60))).expect("it ends");
        assert_eq!((&*ended.printed, &*ended.said, ended.status.code()), (&b"out\n"[..], &b"err\n"[..], Some(3)));
        let ended = run(&mut sh("yes | head -c 300000 >&2; echo out"), None).expect("it ends");
        assert_eq!((&*ended.printed, ended.said.len() as u64), (&b"out\n"[..], MOST_SAID));
        let too_large = run(&mut sh("yes"), Some(Duration::from_secs(600)));
        assert!(matches!(too_large, Err(Unfinished::TooLarge)), "{:?}", too_large.map(|ended| ended.status));
        // What it started holds the pipes.
        let (start, short) = (Instant::now(), Some(Duration::from_millis(200)));
        for script in ["exec sleep 60", "sleep 60", "sleep 60 & exit 0"] {
            let unfinished = run(&mut sh(script), short);
            assert!(matches!(unfinished, Err(Unfinished::TookTooLong)), "{script}: {unfinished:?}");
        }
        assert!(start.elapsed() < Duration::from_secs(30));
        let missing = run(&mut Command::new("/no/such/program"), short);
        assert!(matches!(missing, Err(Unfinished::NotStarted(_))), "{missing:?}");
    }
}
