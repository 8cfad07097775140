//! A file or an archive at an address.

use anyhow::{Result, bail};
use krm_names::shown;

use crate::digest;
use crate::login::{Login, Logins};
use crate::unpack::{LIMITS, Packing, Root, unpack};
use crate::upstream::{Fetched, REF, ReleaseFile};
use crate::url::{Url, value};
use crate::web::{Ask, Web};

/// The name of a file whose address has no other.
const UNNAMED: &str = "release.yaml";

/// What is at an address, with `{ref}` for the name of the release.
///
/// # Errors
/// The server does not answer, refuses, or has nothing there; or it is larger than a release may be.
pub fn bytes(web: &Web, logins: &Logins, address: &str, name: &str) -> Result<Vec<u8>> {
    if address.contains(REF) && name.chars().all(|c| c == '.') {
        bail!("\"{}\" must be the name of a release, for `{REF}` of the address", shown::line(name));
    }
    // A name can be no other path, host or query.
    let url = Url::read(&address.replace(REF, &value(name)))?;
    let authorization = logins.of_host(&url)?.as_ref().and_then(Login::as_basic);
    let answer = web.ask(&Ask { authorization: authorization.as_ref(), ..Ask::at(&url) })?;
    let is_page = answer.header("content-type").is_some_and(|kind| kind.starts_with("text/html"));
    let bytes = answer.bytes(LIMITS.all)?;
    let start = &bytes[..bytes.len().min(256)];
    if Packing::of(&bytes) == Packing::Bare && (is_page || start.trim_ascii_start().starts_with(b"<")) {
        bail!("{url} must be a file or an archive, but the server sent a page for browsers, as for a login");
    }
    Ok(bytes)
}

/// The files of what is at an address.
///
/// # Errors
/// It holds what a release must not hold.
pub fn files(address: &str, bytes: Vec<u8>) -> Result<Fetched> {
    let digest = digest::of(&bytes);
    if Packing::of(&bytes) != Packing::Bare || is_of_archive(address) {
        return Ok(Fetched { digest, files: unpack(&bytes, Root::Wrapper, LIMITS)? });
    }
    if bytes.len() > LIMITS.file {
        bail!("a file of a release must have at most {} bytes, but it has {}", LIMITS.file, bytes.len());
    }
    Ok(Fetched { digest, files: vec![ReleaseFile { path: file_name(address), bytes, is_executable: false }] })
}

/// Whether an address is that of an archive.
fn is_of_archive(address: &str) -> bool {
    let address = address.to_ascii_lowercase();
    [".tgz", ".tar.gz", ".tar", ".zip"].iter().any(|end| address.ends_with(end))
}

/// The name of the file at an address. Each release has the same, so it has no `{ref}`, and nothing that would join it to the rest.
fn file_name(address: &str) -> String {
    let last = address.rsplit('/').next().unwrap_or_default();
    let joint = |c: char| "-_.@".contains(c);
    let name = match last.split_once(REF) {
        Some((before, after)) => {
            let before =
                before.strip_suffix('v').filter(|rest| rest.is_empty() || rest.ends_with(joint)).unwrap_or(before);
            let after =
                if before.is_empty() && !after.starts_with('.') { after.trim_start_matches(joint) } else { after };
            format!("{}{}", before.trim_end_matches(joint), after.replace(REF, ""))
        }
        None => last.to_owned(),
    };
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    if name.starts_with('.') || name.is_empty() || !name.chars().all(is_plain) { UNNAMED.to_owned() } else { name }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_has_one_name_in_all_releases() {
        for (address, want) in [
            ("https://h/{ref}/install.yaml", "install.yaml"),
            ("https://h/install-{ref}.yaml", "install.yaml"),
            ("https://h/install-v{ref}.yaml", "install.yaml"),
            ("https://h/{ref}-crds.yaml", "crds.yaml"),
            ("https://h/web-{ref}-crds.yaml", "web-crds.yaml"),
            ("https://h/{ref}.yaml", UNNAMED),
            ("https://h/{ref}", UNNAMED),
            ("https://h/a%20b.yaml", UNNAMED),
            ("https://h/.git", UNNAMED),
        ] {
            assert_eq!(file_name(address), want, "{address}");
        }
    }
}
