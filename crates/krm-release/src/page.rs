//! A file or an archive at an address.

use anyhow::{Result, bail};
use krm_git::address::REF;
use krm_git::source::ReleaseFile;
use krm_names::shown;

use crate::login::{Login, Logins};
use crate::unpack::{LIMITS, Packing, Root, unpack};
use crate::url::{Url, value};
use crate::web::{Ask, Web};

/// The name of a file whose address has no other.
const UNNAMED: &str = "release.yaml";

/// What is at an address, with `{ref}` for the name of the release; `None` if the server has no such release.
///
/// # Errors
/// The server does not answer, refuses, or has nothing at an address that is the same for all releases; or it is larger than a release may be.
pub fn bytes(web: &Web, logins: &Logins, address: &str, name: &str) -> Result<Option<Vec<u8>>> {
    if address.contains(REF) && name.chars().all(|c| c == '.') {
        bail!("\"{}\" must be the name of a release, for `{REF}` of the address", shown::line(name));
    }
    // A name can be no other path, host or query.
    let url = Url::read(&address.replace(REF, &value(name)))?;
    let authorization = logins.of_host(&url)?.as_ref().and_then(Login::as_basic);
    let answer = web.ask(&Ask { authorization: authorization.as_ref(), ..Ask::at(&url) })?;
    if answer.is_nothing() && address.contains(REF) {
        return Ok(None);
    }
    let is_page = answer.header("content-type").is_some_and(|kind| kind.starts_with("text/html"));
    // Servers call an archive packed, too, and mean the archive itself.
    let bytes = if is_of_archive(address) { answer.bytes(LIMITS.all)? } else { answer.text(LIMITS.all)? };
    let start = &bytes[..bytes.len().min(256)];
    if Packing::of(&bytes) == Packing::Bare && (is_page || start.trim_ascii_start().starts_with(b"<")) {
        bail!("{url} must be a file or an archive, but the server sent a page for browsers, as for a login");
    }
    Ok(Some(bytes))
}

/// The files of what is at an address.
///
/// # Errors
/// It holds what a release must not hold.
pub fn files(address: &str, bytes: Vec<u8>) -> Result<Vec<ReleaseFile>> {
    if Packing::of(&bytes) != Packing::Bare || is_of_archive(address) {
        return unpack(&bytes, Root::Wrapper, LIMITS);
    }
    if bytes.len() > LIMITS.file {
        bail!("a file of a release must have at most {} bytes, but it has {}", LIMITS.file, bytes.len());
    }
    Ok(vec![ReleaseFile { path: file_name(address), bytes, is_executable: false }])
}

/// The git repository whose tags are the releases of an address: that of a release, an archive or a file of GitHub, GitLab or Gitea.
/// `None` if the address has no `{ref}`, or another form.
pub fn repository(url: &str) -> Option<String> {
    let before = url.split_once(REF)?.0;
    // GitLab has groups in groups.
    if let Some((repository, _)) = before.split_once("/-/") {
        return Some(repository.to_owned());
    }
    let (scheme, rest) = before.split_once("://")?;
    let mut parts = rest.split('/');
    let [host, owner, name, kind] = [parts.next()?, parts.next()?, parts.next()?, parts.next()?];
    let host = match host {
        "raw.githubusercontent.com" | "codeload.github.com" => "github.com",
        host if matches!(kind, "releases" | "archive" | "raw") => host,
        _ => return None,
    };
    Some(format!("{scheme}://{host}/{owner}/{name}"))
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
    fn the_tags_of_a_repository_are_the_releases_of_its_files() {
        for (url, want) in [
            ("https://github.com/o/r/releases/download/{ref}/install.yaml", Some("https://github.com/o/r")),
            ("https://github.com/o/r/archive/refs/tags/{ref}.tar.gz", Some("https://github.com/o/r")),
            ("https://raw.githubusercontent.com/o/r/{ref}/a/b.yaml", Some("https://github.com/o/r")),
            ("https://codeload.github.com/o/r/tar.gz/refs/tags/{ref}", Some("https://github.com/o/r")),
            ("https://gitlab.com/g/h/r/-/archive/{ref}/r-{ref}.tar.gz", Some("https://gitlab.com/g/h/r")),
            ("https://gitea.test:3000/o/r/raw/tag/{ref}/a.yaml", Some("https://gitea.test:3000/o/r")),
            ("https://github.com/o/r/releases/download/v1/install.yaml", None),
            ("https://example.com/{ref}/install.yaml", None),
            ("https://example.com/a/b/c/{ref}/install.yaml", None),
        ] {
            assert_eq!(repository(url).as_deref(), want, "{url}");
        }
    }

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
