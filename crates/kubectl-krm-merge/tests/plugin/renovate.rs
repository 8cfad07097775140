//! The preset for Renovate: what the real Renovate finds with it, and what its command does after Renovate's edit of a record.

use std::process::Command;

use serde_json::Value;

use crate::support::{Folder, PLUGIN, Ran, has, map, root};
use crate::upgrade::repository::{Upstream, commit};

fn preset() -> Value {
    let text = std::fs::read_to_string(root().join("bots/renovate.json")).expect("a preset");
    serde_json::from_str(&text).expect("JSON")
}

/// An upstream with three kinds of tags, and a repository with a package of each, at its first release. One has its record in a Kptfile.
fn packages() -> (Folder, Upstream) {
    let folder = Folder::new();
    let upstream = Upstream::new(&folder, "up.git");
    for number in 1..=3 {
        let text = |name: &str| map(name, &[("x", &format!("'{number}'"))]);
        let mut files: Vec<(String, String)> =
            ["apps/db", "web", "kpt"].map(|at| (format!("{at}/c.yaml"), text("c"))).into();
        files.push((
            "kpt/Kptfile".to_owned(),
            "apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: kpt\n".to_owned(),
        ));
        if number > 1 {
            files.push((format!("apps/db/new-{number}.yaml"), text("new")));
        }
        upstream.release(&files, &format!("v1.{number}.0"));
        upstream.tag(&format!("web-v1.{number}.0"));
        // The newest release has no tag of the folder, which is not for its package.
        if number < 3 {
            upstream.tag(&format!("apps/db/v1.{number}.0"));
        }
    }
    upstream.tag("v2.0.0-rc1");
    for (source, package) in
        [("apps/db@v1.1.0", "apps/db"), ("web@web-v1.1.0", "web"), ("kpt@v1.1.0", "kpt"), ("web@main", "branch")]
    {
        folder.run(&["get", &upstream.source(source), &format!("mine/{package}")]).passed();
    }
    commit(&folder.path("mine"), "begin");
    (folder, upstream)
}

/// What is expected for each package: the file with its record, and the release that it goes to.
const WANTED: [(&str, &str, &str); 3] =
    [("apps/db", ".krm-merge.yaml", "v1.2.0"), ("web", ".krm-merge.yaml", "web-v1.3.0"), ("kpt", "Kptfile", "v1.3.0")];

/// Renovate writes the new release into `upstream`, starts the command in the folder of the package, and commits what then is new, changed
/// or gone.
#[test]
fn what_renovate_runs_goes_where_the_record_wants() {
    if !has("git") {
        return;
    }
    let (folder, upstream) = packages();
    let task = &preset()["packageRules"][0]["postUpgradeTasks"];
    assert_eq!(
        (&task["workingDirTemplate"], &task["fileFilters"]),
        (&"{{{packageFileDir}}}".into(), &vec!["**/*"].into())
    );
    let command = task["commands"][0].as_str().expect("a command");
    let mut words = command.split(' ');
    assert_eq!(words.next(), Some("kubectl-krm_merge"), "no shell runs it");
    for (package, file, wanted) in WANTED {
        let record = format!("mine/{package}/{file}");
        let old = folder.read(&record);
        let at = old.find("ref: ").expect("a release");
        let end = at + old[at..].find('\n').expect("a line");
        folder.write(&record, format!("{}ref: {wanted}{}", &old[..at], &old[end..]));
        let mut plugin = Command::new(PLUGIN);
        plugin.args(words.clone()).current_dir(folder.path(&format!("mine/{package}")));
        plugin.env("XDG_CACHE_HOME", folder.path(".cache"));
        Ran::of(plugin.output().expect("the plugin runs")).passed();
        let number = if wanted.ends_with(".2.0") { 2 } else { 3 };
        assert_eq!(folder.read(&format!("mine/{package}/c.yaml")), map("c", &[("x", &format!("'{number}'"))]));
        let tag = if package == "apps/db" { format!("apps/db/{wanted}") } else { wanted.to_owned() };
        let record = folder.read(&record);
        for part in [format!("ref: {wanted}\n"), format!("ref: {tag}\n"), upstream.commit(&tag)] {
            assert!(record.contains(&part), "{part}: {record}");
        }
    }
    assert!(folder.path("mine/apps/db/new-2.yaml").exists());
}

#[test]
fn renovate_finds_each_package_and_its_next_release() {
    if !has("git") || !has("renovate") {
        return;
    }
    let (folder, _) = packages();
    let mut renovate = Command::new("renovate");
    renovate.args(["--platform=local", "--report-type=file"]).arg("--report-path").arg(folder.path("report.json"));
    renovate.arg("--base-dir").arg(folder.path("base")).current_dir(folder.path("mine"));
    renovate.env("RENOVATE_CONFIG_FILE", root().join("bots/renovate.json"));
    renovate.env("RENOVATE_ENABLED_MANAGERS", "[\"custom.jsonata\"]");
    Ran::of(renovate.output().expect("renovate runs")).passed();
    let report: Value = serde_json::from_str(&folder.read("report.json")).expect("JSON");
    let files = &report["repositories"]["local"]["packageFiles"]["jsonata"];
    let files = files.as_array().unwrap_or_else(|| panic!("{report:#}"));
    assert_eq!(files.len(), WANTED.len() + 1, "{report:#}");
    let updates = |path: &str| -> Vec<String> {
        let file = files.iter().find(|file| file["packageFile"] == path).expect(path);
        let updates = file["deps"][0]["updates"].as_array().cloned().unwrap_or_default();
        updates.iter().map(|update| update["newValue"].as_str().unwrap_or_default().to_owned()).collect()
    };
    for (package, file, wanted) in WANTED {
        assert_eq!(updates(&format!("{package}/{file}")), [wanted], "{package}: {report:#}");
    }
    assert_eq!(updates("branch/.krm-merge.yaml"), [""; 0], "a branch has no releases");
}
