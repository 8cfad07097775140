//! Shows progress on a terminal's stderr if a run takes more than a second.

use std::fmt;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::{JoinHandle, spawn};
use std::time::Duration;

use indicatif::{HumanBytes, ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};

use crate::screen::is_told_to_someone;

/// A progress display that appears after a second and stays until it is dropped.
#[derive(Debug)]
pub struct Progress(Option<(ProgressBar, Sender<()>, JoinHandle<()>)>);

impl Progress {
    /// Starts the display. `message` says what the run does now.
    pub fn begin(message: &'static str) -> Self {
        if !is_told_to_someone() {
            return Self(None);
        }
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
        if let Ok(style) = ProgressStyle::with_template("{spinner} {msg} {elapsed}") {
            bar.set_style(style);
        }
        bar.set_message(message);
        let (done, is_done) = channel();
        let shown = bar.clone();
        let thread = spawn(move || {
            if is_done.recv_timeout(Duration::from_secs(1)) == Err(RecvTimeoutError::Timeout) {
                shown.set_draw_target(ProgressDrawTarget::stderr());
                shown.enable_steady_tick(Duration::from_millis(100));
            }
        });
        Self(Some((bar, done, thread)))
    }

    /// Shows beside the message how many bytes have come from now on. `count` counts all that are there.
    pub fn measure(&self, count: impl Fn() -> u64 + Clone + Send + Sync + 'static) {
        let Self(Some((bar, ..))) = self else { return };
        let before = count();
        let come = move |_: &ProgressState, out: &mut dyn fmt::Write| {
            let come = count().saturating_sub(before);
            let _ = if come == 0 { Ok(()) } else { write!(out, "{} ", HumanBytes(come)) };
        };
        if let Ok(style) = ProgressStyle::with_template("{spinner} {msg} {come}{elapsed}") {
            bar.set_style(style.with_key("come", come));
        }
    }

    /// Changes the message. It is built only if the display exists.
    pub fn set(&self, message: impl FnOnce() -> String) {
        if let Self(Some((bar, ..))) = self {
            bar.set_message(message());
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some((bar, done, thread)) = self.0.take() {
            // The thread may have ended already, because it showed the display.
            let _ = done.send(());
            let _ = thread.join();
            bar.finish_and_clear();
        }
    }
}
