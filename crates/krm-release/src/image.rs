//! The names of a registry: images and tags.

use std::fmt;

use anyhow::{Context, Result, bail};
use krm_files::credentials::hidden;
use krm_names::shown;

use crate::digest;
use crate::url::Url;

/// An image of a registry.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Image {
    /// The host, with its port.
    pub host: String,
    /// The path.
    pub path: String,
}

impl Image {
    /// Reads an image: `HOST/PATH`.
    ///
    /// # Errors
    /// It has no host, or a part that is no name.
    pub fn read(text: &str) -> Result<Self> {
        let told = || shown::quoted(&hidden(&format!("oci://{text}")));
        let (host, path) = text.split_once('/').unwrap_or((text, ""));
        let url = Url::read(&format!("https://{host}")).with_context(told)?;
        let is_end = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
        let is_name = |name: &str| {
            name.starts_with(is_end) && name.ends_with(is_end) && name.chars().all(|c| is_end(c) || "._-".contains(c))
        };
        if !path.split('/').all(is_name) || path.len() > 255 {
            bail!(
                "{}: an image must be a host and names of small letters, digits, `.`, `_` and `-`, as `oci://ghcr.io/org/charts/web`",
                told()
            );
        }
        let is_hub = ["docker.io", "index.docker.io", "registry-1.docker.io"].contains(&url.authority());
        let host = if is_hub { "registry-1.docker.io" } else { url.authority() };
        let path = if is_hub && !path.contains('/') { format!("library/{path}") } else { path.to_owned() };
        Ok(Self { host: host.to_owned(), path })
    }
}

/// The tag of a name. As for helm, `_` is the `+` of a version.
///
/// # Errors
/// It cannot be a tag.
pub fn tag(name: &str) -> Result<String> {
    if name.starts_with("sha256:") {
        let hex = digest::read(name).with_context(|| format!("\"{}\" must have 64 hex digits", shown::line(name)))?;
        return Ok(format!("sha256:{hex}"));
    }
    let tag = name.replace('+', "_");
    let is_first = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if !tag.starts_with(is_first) || tag.len() > 128 || !tag.chars().all(|c| is_first(c) || c == '.' || c == '-') {
        bail!("\"{}\": a tag must have letters, digits, `_`, `.` and `-` only, at most 128 of them", shown::line(name));
    }
    Ok(tag)
}

impl fmt::Display for Image {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"oci://{}/{}\"", self.host, self.path)
    }
}

#[cfg(test)]
mod tests {
    use krm_git::address::name_of_tag;

    use super::*;

    #[test]
    fn an_image_has_a_host_and_a_path() {
        for (text, want) in [
            ("ghcr.io/org/charts/web", "\"oci://ghcr.io/org/charts/web\""),
            ("LOCALHOST:5000/a__b/c-d.e", "\"oci://localhost:5000/a__b/c-d.e\""),
            ("docker.io/nginx", "\"oci://registry-1.docker.io/library/nginx\""),
            ("docker.io/org/nginx", "\"oci://registry-1.docker.io/org/nginx\""),
        ] {
            assert_eq!(Image::read(text).expect(text).to_string(), want);
        }
        for text in [
            "",
            "ghcr.io",
            "ghcr.io/",
            "ghcr.io/A",
            "ghcr.io/a//b",
            "ghcr.io/../a",
            "me:tok@h/a",
            "h/a?b",
            "h/a:1",
            "/a",
            "h/-a",
        ] {
            Image::read(text).expect_err(text);
        }
    }

    #[test]
    fn a_tag_is_a_version_with_another_sign() {
        for (tag, want) in [("1.2.3_b1", "1.2.3+b1"), ("v1.2.3_b1", "v1.2.3+b1"), ("a_b", "a_b"), ("1.2.3", "1.2.3")] {
            assert_eq!(name_of_tag(tag), want);
            assert_eq!(super::tag(want).expect("a tag"), tag);
        }
        for name in ["", "../x", "a/b", ".a", "a:b", "sha256:12", &"a".repeat(129)] {
            super::tag(name).expect_err(name);
        }
    }
}
