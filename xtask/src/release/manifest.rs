//! The krew manifest, and the workflow that builds the archives that it names.

use std::collections::BTreeMap;

use yaml_serde::Value;

/// The start of the name of an archive of the plugin.
const ARCHIVE: &str = "kubectl-krm_merge-";

/// The platforms for which the workflow of a release builds, as krew calls them, each with its target.
///
/// # Errors
/// The workflow has no such list.
pub fn targets(workflow: &str) -> Result<BTreeMap<String, String>, String> {
    let workflow: Value = yaml_serde::from_str(workflow).map_err(|e| format!("release.yml: {e}"))?;
    let listed = workflow["jobs"]["programs"]["strategy"]["matrix"]["include"].as_sequence();
    let listed = listed.ok_or("release.yml: `jobs.programs.strategy.matrix.include` must be a list")?;
    let target = |entry: &Value| Some((entry["name"].as_str()?.to_owned(), entry["target"].as_str()?.to_owned()));
    let targets: Option<_> = listed.iter().map(target).collect();
    targets.ok_or_else(|| "release.yml: each entry of the matrix must have `name` and `target`".to_owned())
}

/// The contradictions between the manifest and the targets of the workflow. `version` is the version of the release.
///
/// # Errors
/// The manifest is not YAML.
pub fn faults(manifest: &str, targets: &BTreeMap<String, String>, version: &str) -> Result<Vec<String>, String> {
    let manifest: Value = yaml_serde::from_str(manifest).map_err(|e| format!("plugin.yaml: {e}"))?;
    let mut faults = Vec::new();
    if manifest["spec"]["version"].as_str() != Some(&format!("v{version}")) {
        faults.push(format!("plugin.yaml: `spec.version` must be `v{version}`"));
    }
    let platforms = manifest["spec"]["platforms"].as_sequence().cloned().unwrap_or_default();
    let mut named = Vec::new();
    for platform in &platforms {
        let label = |name: &str| platform["selector"]["matchLabels"][name].as_str().unwrap_or_default();
        let (os, arch) = (label("os"), label("arch"));
        let name = format!("{os}-{arch}");
        let end = format!("/releases/download/v{version}/{ARCHIVE}{name}.tar.gz");
        if !platform["uri"].as_str().is_some_and(|uri| uri.ends_with(&end)) {
            faults.push(format!("plugin.yaml: the `uri` of {name} must end with `{end}`"));
        }
        match targets.get(&name) {
            None => faults.push(format!("plugin.yaml: release.yml builds nothing for {name}")),
            Some(target) if !is_for(target, os, arch) => {
                faults.push(format!("release.yml: the target of {name} must be one for it, not `{target}`"));
            }
            Some(_) => {}
        }
        named.push(name);
    }
    // The manifest may leave Windows out, because nobody has tested the plugin there yet; users there take the archive themselves.
    let forgotten = targets.keys().filter(|name| !named.contains(name) && !name.starts_with("windows-"));
    faults
        .extend(forgotten.map(|name| format!("plugin.yaml: it must have a platform {name}, which release.yml builds")));
    Ok(faults)
}

/// Whether a target of Rust is for a platform, as Go calls it.
fn is_for(target: &str, os: &str, arch: &str) -> bool {
    let arch = match arch {
        "amd64" => "x86_64",
        "arm64" => "aarch64",
        other => other,
    };
    target.starts_with(&format!("{arch}-")) && target.contains(&format!("-{os}"))
}

/// The manifest with the digests of archives, by the names of their files. Platforms without an archive keep their digests.
pub fn with_digests(manifest: &str, digests: &BTreeMap<String, String>) -> String {
    let mut archive = None;
    let mut line = |line: &str| {
        if let Some(uri) = line.trim_start().strip_prefix("uri: ") {
            archive = uri.trim_end().rsplit('/').next().map(str::to_owned);
        }
        let digest = archive.as_ref().and_then(|archive| digests.get(archive));
        match (line.split_once("sha256: "), digest) {
            (Some((indent, _)), Some(digest)) => format!("{indent}sha256: \"{digest}\"\n"),
            _ => line.to_owned(),
        }
    };
    manifest.split_inclusive('\n').map(&mut line).collect()
}

/// The platforms whose digest is still missing.
pub fn without_digest(manifest: &str) -> Vec<String> {
    let lines: Vec<&str> = manifest.lines().collect();
    let uris = lines.windows(2).filter_map(|pair| Some((pair[0].trim().strip_prefix("uri: ")?, pair[1])));
    let lacks =
        uris.filter(|(_, digest)| digest.trim_start_matches(|c: char| !c.is_ascii_digit()).contains(&"0".repeat(64)));
    lacks.map(|(uri, _)| uri.rsplit('/').next().unwrap_or(uri).to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MANIFEST: &str = "spec:\n  version: v0.1.0\n  platforms:\n  - selector: {matchLabels: {os: linux, arch: amd64}}\n    uri: https://x/releases/download/v0.1.0/kubectl-krm_merge-linux-amd64.tar.gz\n    sha256: \"0000000000000000000000000000000000000000000000000000000000000000\"\n  - selector: {matchLabels: {os: darwin, arch: arm64}}\n    uri: https://x/releases/download/v0.1.0/kubectl-krm_merge-darwin-arm64.tar.gz\n    sha256: \"0000000000000000000000000000000000000000000000000000000000000000\"\n";

    fn of(targets: &[(&str, &str)]) -> BTreeMap<String, String> {
        targets.iter().map(|(name, target)| ((*name).to_owned(), (*target).to_owned())).collect()
    }

    #[test]
    fn the_workflow_builds_what_the_manifest_names() {
        let linux = ("linux-amd64", "x86_64-unknown-linux-musl");
        let mac = ("darwin-arm64", "aarch64-apple-darwin");
        let faults = |targets: &[(&str, &str)], version| faults(MANIFEST, &of(targets), version).expect("YAML");
        assert_eq!(faults(&[linux, mac, ("windows-amd64", "x")], "0.1.0"), Vec::<String>::new());
        for (targets, version, want) in [
            (&[linux][..], "0.1.0", "nothing for darwin-arm64"),
            (&[linux, mac, ("linux-arm64", "x")], "0.1.0", "must have a platform linux-arm64"),
            (&[linux, ("darwin-arm64", "x86_64-apple-darwin")], "0.1.0", "not `x86_64-apple-darwin`"),
            (&[linux, mac], "0.2.0", "`spec.version` must be `v0.2.0`"),
            (&[linux, mac], "0.2.0", "must end with `/releases/download/v0.2.0/"),
        ] {
            let found = faults(targets, version).join("\n");
            assert!(found.contains(want), "{want}: {found}");
        }
    }

    #[test]
    fn the_files_of_this_repository_fit() {
        let read = |file: &str| {
            std::fs::read_to_string(std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(file)).expect(file)
        };
        let targets = targets(&read(".github/workflows/release.yml")).expect("targets");
        assert!(targets.len() >= 5, "{targets:?}");
        let version = super::super::current(&read("Cargo.toml")).expect("a version").to_string();
        assert_eq!(faults(&read("plugin.yaml"), &targets, &version).expect("YAML"), Vec::<String>::new());
        assert_eq!(without_digest(&read("plugin.yaml")).len(), 4);
    }

    #[test]
    fn digests_stand_with_their_archives() {
        let digest = "ab".repeat(32);
        let made = with_digests(MANIFEST, &of(&[("kubectl-krm_merge-darwin-arm64.tar.gz", &digest)]));
        let (first, second) =
            MANIFEST.split_at(MANIFEST.find("  - selector: {matchLabels: {os: darwin").expect("there"));
        assert_eq!(made, format!("{first}{}", second.replace(&"0".repeat(64), &digest)));
        assert_eq!(without_digest(&made), ["kubectl-krm_merge-linux-amd64.tar.gz"]);
    }
}
