//! A wheel: `pip install krm-merge` puts the program on PATH, by both names. A wheel has no links, so an entry point starts the program as
//! kubectl's plugin.
//!
//! Source: the binary distribution format of Python packages. Files below `.data/scripts` go where programs go.

use super::files::{Entry, zip};
use super::{Built, Dist};
use crate::digest;
use crate::release::NAMES;

/// The module whose entry point is kubectl's plugin.
const PLUGIN_STARTER: &str = r#""""Starts krm-merge, which is in the folder of this program, as kubectl's plugin."""

import os
import subprocess
import sys


def plugin():
    folder = os.path.dirname(os.path.realpath(sys.argv[0]))
    if os.name == "nt":
        called = dict(os.environ, KRM_MERGE_CALLED="kubectl-krm_merge")
        sys.exit(subprocess.call([os.path.join(folder, "krm-merge.exe"), *sys.argv[1:]], env=called))
    os.execv(os.path.join(folder, "krm-merge"), ["kubectl-krm_merge", *sys.argv[1:]])
"#;

/// Makes the wheel of a platform.
///
/// # Errors
/// It cannot be written.
pub fn make(dist: &Dist, built: &Built) -> Result<(), String> {
    let Dist { version, .. } = dist;
    let (info, tag) = (format!("krm_merge-{version}.dist-info"), format!("py3-none-{}", built.platform.wheel));
    let scripts = format!("krm_merge-{version}.data/scripts/");
    let [own, plugin] = NAMES;
    let mut entries = vec![built.program(own, &scripts), Entry::text("krm_merge.py", PLUGIN_STARTER)];
    entries.push(Entry::text(
        format!("{info}/entry_points.txt"),
        format!("[console_scripts]\n{plugin} = krm_merge:plugin\n"),
    ));
    let tags: String = tags(built.platform.wheel).iter().map(|tag| format!("Tag: {tag}\n")).collect();
    entries.push(Entry::text(format!("{info}/METADATA"), metadata(version) + &dist.front));
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
