//! The names of bytes: sha256 in 64 hex digits.

use anyhow::{Result, bail};
use sha2::{Digest, Sha256};

/// The digest of bytes.
pub fn of(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The digest in a text, with or without `sha256:`; `None` if it is none.
pub fn read(text: &str) -> Option<String> {
    let hex = text.trim().strip_prefix("sha256:").unwrap_or(text.trim());
    (hex.len() == 64 && hex.bytes().all(|b| b.is_ascii_hexdigit())).then(|| hex.to_ascii_lowercase())
}

/// Checks that bytes are those that somebody named. `what` is what they are, and `by` who named them.
///
/// # Errors
/// They are others.
pub fn check(found: &str, wanted: &str, what: &str, by: &str) -> Result<()> {
    if found != wanted {
        bail!("{what} must have the digest sha256:{wanted}, which {by}, but it has sha256:{found}");
    }
    Ok(())
}
