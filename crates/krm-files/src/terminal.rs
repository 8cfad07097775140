//! Whether a person is at the terminal.

use std::io::{self, IsTerminal};

/// Whether a person sees stdout and can press keys.
#[expect(clippy::disallowed_methods, reason = "nothing is printed")]
pub fn is_someone_there() -> bool {
    io::stdin().is_terminal() && io::stdout().is_terminal()
}
