//! Holds back the signals that ask this program to end, while it writes files.
//!
//! SIGINT, SIGTERM and SIGHUP end the program at once as long as no work is half done. While a [`Signals`] lives, they only leave a note.
//! The writer checks the note, and then undoes or finishes its work. A signal that the program was started to ignore, such as SIGHUP under
//! `nohup`, stays ignored. Only Linux tells which signals these are.
//!
//! SIGXFSZ no longer ends the program: a file over the limit of `ulimit -f` is an error of the write, which names the file.

use std::fmt;
use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use anyhow::{Context, Result};
use signal_hook::consts;
#[cfg(unix)]
use signal_hook::flag::register;
use signal_hook::flag::{register_conditional_default, register_usize};
use signal_hook::low_level::signal_name;

#[cfg(unix)]
const ALL: [i32; 3] = [consts::SIGINT, consts::SIGTERM, consts::SIGHUP];
#[cfg(not(unix))]
const ALL: [i32; 2] = [consts::SIGINT, consts::SIGTERM];

/// Holds signals back for as long as it lives.
#[derive(Debug)]
pub struct Signals {
    came: Arc<AtomicUsize>,
    /// Whether signals end the program at once again.
    ends: Arc<AtomicBool>,
    /// Whether SIGHUP ends the program at once, as when the terminal goes away.
    hangup_ends: Arc<AtomicBool>,
    /// Whether the writer has seen a signal.
    is_told: AtomicBool,
}

/// The error for a signal that arrived before anything was written.
#[derive(Debug)]
pub struct Stopped(usize);

impl Signals {
    /// Holds signals back.
    ///
    /// # Errors
    /// The system does not allow it.
    pub fn hold() -> Result<Self> {
        let held = Self {
            came: Arc::default(),
            ends: Arc::default(),
            hangup_ends: Arc::default(),
            is_told: AtomicBool::default(),
        };
        let ignored = ignored();
        for signal in ALL.into_iter().filter(|signal| ignored >> (signal - 1) & 1 == 0) {
            let name = || format!("{} must have a handler", signal_name(signal).unwrap_or_default());
            register_conditional_default(signal, Arc::clone(&held.ends)).with_context(name)?;
            #[cfg(unix)]
            if signal == consts::SIGHUP {
                register_conditional_default(signal, Arc::clone(&held.hangup_ends)).with_context(name)?;
            }
            register_usize(signal, Arc::clone(&held.came), usize::try_from(signal)?).with_context(name)?;
        }
        #[cfg(unix)]
        register(consts::SIGXFSZ, Arc::default()).context("SIGXFSZ must have a handler")?;
        Ok(held)
    }

    /// Asks the user at a terminal, before anything is written. If the terminal goes away, the program ends at once, because nobody checks
    /// the note while `ask` waits for keys.
    pub fn asking<T>(&self, ask: impl FnOnce() -> T) -> T {
        self.hangup_ends.store(true, Ordering::SeqCst);
        let answer = ask();
        self.hangup_ends.store(false, Ordering::SeqCst);
        answer
    }

    /// Waits for another program at the terminal. If the terminal goes away meanwhile, this program does not end at once as in
    /// [`Signals::asking`], because it must remove a file after the wait.
    pub fn waiting<T>(&self, wait: impl FnOnce() -> T) -> T {
        let ends = self.hangup_ends.swap(false, Ordering::SeqCst);
        let answer = wait();
        self.hangup_ends.store(ends, Ordering::SeqCst);
        answer
    }

    /// Checks that no signal arrived. Ctrl-C does not count, because it is meant for the other program at the terminal.
    ///
    /// # Errors
    /// The signal that arrived.
    pub fn check_beside(&self) -> Result<()> {
        let is_key = usize::try_from(consts::SIGINT).is_ok_and(|key| self.came.load(Ordering::SeqCst) == key);
        if is_key { Ok(()) } else { self.check() }
    }

    /// Checks that no signal arrived.
    ///
    /// # Errors
    /// The signal that arrived.
    pub fn check(&self) -> Result<()> {
        match self.came.load(Ordering::SeqCst) {
            0 => Ok(()),
            signal => {
                self.is_told.store(true, Ordering::SeqCst);
                Err(Stopped(signal).into())
            }
        }
    }
}

impl Drop for Signals {
    fn drop(&mut self) {
        // If the writer has seen the signal, the program only reports it and then ends anyway.
        self.ends.store(!self.is_told.load(Ordering::SeqCst), Ordering::SeqCst);
    }
}

/// The signals that this program was started to ignore, as a bit mask.
fn ignored() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or_default()
}

impl Stopped {
    /// The error for Ctrl-C as a key: in raw mode, a terminal does not turn it into a signal.
    pub fn by_key() -> Self {
        Self(usize::try_from(consts::SIGINT).unwrap_or_default())
    }

    /// The exit code that shells use for a program that a signal ended.
    pub fn exit_code(&self) -> u8 {
        u8::try_from(128 + self.0).unwrap_or(u8::MAX)
    }
}

impl fmt::Display for Stopped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = i32::try_from(self.0).ok().and_then(signal_name).unwrap_or("a signal");
        write!(f, "stopped by {name}, and nothing is written")
    }
}

impl std::error::Error for Stopped {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ctrl_c_at_another_program_does_not_stop_the_work() {
        let after = |signal: i32| {
            let came = Arc::new(AtomicUsize::new(usize::try_from(signal).expect("a signal")));
            let signals =
                Signals { came, ends: Arc::default(), hangup_ends: Arc::default(), is_told: AtomicBool::default() };
            [signals.check_beside(), signals.check()].map(|checked| checked.err().map(|e| e.to_string()))
        };
        let told = |name: &str| Some(format!("stopped by {name}, and nothing is written"));
        assert_eq!(after(0), [None, None]);
        assert_eq!(after(consts::SIGINT), [None, told("SIGINT")]);
        assert_eq!(after(consts::SIGTERM), [told("SIGTERM"), told("SIGTERM")]);
        assert_eq!((Stopped::by_key().exit_code(), Stopped(15).exit_code()), (130, 143));
    }
}
