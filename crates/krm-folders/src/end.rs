//! How a run ends, and so its exit code.

use krm_files::signals::Stopped;

/// How a run ends; the worst comes last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum End {
    /// Exit 0.
    Done,
    /// Open conflicts, or differences if the user asked about them: exit 1.
    Differs,
    /// Bad usage or input: exit 2.
    Bad,
    /// A signal arrived before anything was written: exit with 128 plus its number.
    Stopped(u8),
    /// git must stop its merge: exit 255. git takes each code up to 128 for a conflict.
    StopsGit,
}

impl End {
    /// How a run with this error ends.
    pub fn of(error: &anyhow::Error) -> Self {
        match error.downcast_ref::<Stopped>() {
            Some(stopped) => Self::Stopped(stopped.exit_code()),
            None => Self::Bad,
        }
    }
}
