//! A wheel: `pip install krm-merge` puts the program on PATH, by both names. It has no code of Python.
//!
//! Source: the binary distribution format of Python packages. Files below `.data/scripts` go where programs go.

use super::files::{Entry, zip};
use super::{Built, Dist};
use crate::digest;

/// Makes the wheel of a platform.
///
/// # Errors
/// It cannot be written.
pub fn make(dist: &Dist, built: &Built) -> Result<(), String> {
    let Dist { version, .. } = dist;
    let (info, tag) = (format!("krm_merge-{version}.dist-info"), format!("py3-none-{}", built.platform.wheel));
    let scripts = format!("krm_merge-{version}.data/scripts/");
    let mut entries: Vec<Entry> =
        built.programs.iter().map(|program| program.entry(built.platform, &scripts)).collect();
    let tags: String = tags(built.platform.wheel).iter().map(|tag| format!("Tag: {tag}\n")).collect();
    entries.push(Entry::text(format!("{info}/METADATA"), metadata(version)));
    entries.push(Entry::text(
        format!("{info}/WHEEL"),
        format!("Wheel-Version: 1.0\nGenerator: krm-merge\nRoot-Is-Purelib: false\n{tags}"),
    ));
    let notices = dist.notices.iter().cloned();
    entries.extend(notices.map(|notice| Entry { path: format!("{info}/licenses/{}", notice.path), ..notice }));
    let line =
        |entry: &Entry| format!("{},sha256={},{}\n", entry.path, digest::base64(&entry.bytes), entry.bytes.len());
    let record: String = entries.iter().map(line).collect();
    entries.push(Entry::text(format!("{info}/RECORD"), format!("{record}{info}/RECORD,,\n")));
    dist.put(&format!("krm_merge-{version}-{tag}.whl"), &zip(&entries)?)
}

/// The tags that the short form of several platforms stands for.
fn tags(platforms: &str) -> Vec<String> {
    platforms.split('.').map(|platform| format!("py3-none-{platform}")).collect()
}

fn metadata(version: &str) -> String {
    format!(
        "Metadata-Version: 2.4
Name: krm-merge
Version: {version}
Summary: Merges Kubernetes YAML by field, and keeps every other byte
Project-URL: Homepage, https://github.com/krm-merge/krm-merge
License-Expression: Apache-2.0
License-File: LICENSE
License-File: THIRD-PARTY-LICENSES.txt
Description-Content-Type: text/markdown

Installs one program: `krm-merge`, with commands for packages, files, git and a cluster. Without a command it is a function for kpt and kustomize. As
`kubectl-krm_merge` it is `kubectl krm-merge`.
"
    )
}

#[cfg(test)]
mod tests {
    #[test]
    fn each_platform_has_a_tag() {
        assert_eq!(super::tags("a.b"), ["py3-none-a", "py3-none-b"]);
    }
}
