//! A sign of life on a terminal's stderr, for runs that take over a second.

use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::{JoinHandle, spawn};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::screen::is_told_to_someone;

/// A progress bar that appears after a second and stays until it is dropped.
#[derive(Debug)]
pub struct Progress(Option<(ProgressBar, Sender<()>, JoinHandle<()>)>);

impl Progress {
    /// Begins; `message` says what is being done.
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

    /// Says what is being done now; the message is built only if someone sees it.
    pub fn set(&self, message: impl FnOnce() -> String) {
        if let Self(Some((bar, ..))) = self {
            bar.set_message(message());
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some((bar, done, thread)) = self.0.take() {
            // The thread may have ended already, after it showed the bar.
            let _ = done.send(());
            let _ = thread.join();
            bar.finish_and_clear();
        }
    }
}
