//! What servers lack or do wrong, and what users are told.

use std::collections::BTreeMap;
use std::fs;

use super::charts::{chart, edited, three};
use super::repository::commit;
use crate::server::Server;
use crate::support::{Folder, map};

fn record(folder: &Folder, package: &str) -> String {
    folder.read(&format!("{package}/.krm-merge.yaml"))
}

#[test]
fn an_address_without_a_place_for_the_release_has_one_release() {
    let (folder, server) = (Folder::new(), Server::new());
    server.put("stable/install.yaml", map("a", &[("v", "'1'")]));
    folder.run(&["get", &format!("{}/stable/install.yaml", server.url()), "p"]).passed();
    commit(&folder.0, "got");
    server.put("stable/install.yaml", map("a", &[("v", "'2'")]));
    let (before, want) = (folder.files("p"), "has no place for the release \"v2\". Write `{ref}` where");
    for args in [&["--to", "v2"][..], &["--from", "v2"]] {
        let told = folder.run(&[&["upgrade", "p"][..], args].concat()).failed(2);
        assert!(told.contains(want), "{told}");
    }
    assert_eq!(folder.files("p"), before);
    server.all_asked();
    folder.run(&["upgrade", "p"]).passed();
    assert!(folder.read("p/install.yaml").contains("v: '2'"));
    // What was needed for the digest is the release.
    assert_eq!(server.all_asked(), ["stable/install.yaml"]);
    commit(&folder.0, "upgraded");
    let (line, other) = ("/stable/install.yaml\n", "/stable/install.yaml\n      ref: v2\n");
    folder.write("p/.krm-merge.yaml", record(&folder, "p").replacen(line, other, 1));
    let told = folder.run(&["list", "p"]).failed(2);
    assert!(told.contains(want), "{told}");
}

#[test]
fn a_tag_of_an_image_is_a_version_in_each_form() {
    let (folder, server) = (Folder::new(), Server::new());
    let [a, b] = [chart("1.1.0", 1, ""), chart("1.2.0", 1, "  # more\n")];
    server.image("team/web", &[("1.1.0_b1", &a), ("1.2.0", &b), ("1.2.0.1", &b), ("latest", &a)]);
    let image = server.url().replace("http", "oci") + "/team/web";
    folder.run(&["get", &format!("{image}:1.1.0_b1"), "p"]).passed();
    assert!(record(&folder, "p").contains("tag: \"1.1.0+b1\"\n"), "{}", record(&folder, "p"));
    commit(&folder.0, "got");
    let line = folder.run(&["upgrade", "p", "--check"]);
    assert!(line.stdout.starts_with("p: has 1.1.0+b1, newest is 1.2.0.1;"), "{line:?}");
    folder.run(&["upgrade", "p", "--to", "1.2.0"]).passed();
    folder.run(&["upgrade", "p", "--to", "1.1.0_b1", "--allow-dirty"]).passed();
    // A record that a person wrote says the same.
    folder.write("p/.krm-merge.yaml", record(&folder, "p").replace("1.1.0+b1", "1.1.0_b1"));
    let told = folder.run(&["list", "p"]).passed();
    assert!(told.contains("p        1.1.0+b1  1.1.0+b1  1.2.0.1  2 "), "{told}");
    let told = folder.run(&["upgrade", "p", "--check", "--offline"]);
    assert!(told.stdout.starts_with("p: has 1.1.0+b1, newest is 1.2.0.1;"), "{told:?}");
}

#[test]
fn a_chart_in_its_short_form_needs_no_server_offline() {
    let (folder, server) = (Folder::new(), three());
    let address = |version: &str| format!("{}//web@{version}", server.url());
    folder.run(&["get", &address("1.0.0"), "p"]).passed();
    server.all_asked();
    folder.run(&["get", &address("1.0.0"), "q", "--offline"]).passed();
    assert!(record(&folder, "q").contains("chart:"));
    let told = folder.run(&["get", &address("2.0.0"), "r", "--offline"]).failed(2);
    assert!(told.contains("it was not fetched before, and `--offline` is given"), "{told}");
    assert!(server.all_asked().is_empty());
}

#[test]
fn an_upstream_that_is_gone_is_left_with_and_without_its_last_release() {
    let (old, new) = (three(), three());
    // The chart has another name there.
    let index = |server: &Server, name: &str| {
        server.put("index.yaml", format!("apiVersion: v1\nentries:\n  {name}:\n  - {{version: 1.1.0, urls: [web-1.1.0.tgz]}}\n  - {{version: 1.0.0, urls: [web-1.0.0.tgz]}}\n"));
    };
    for (to, server) in [("moved", &new), ("renamed", &old)] {
        let folder = Folder::new();
        let chart = if to == "moved" { "web" } else { "api" };
        let address = format!("{}//{chart}@1.1.0", server.url());
        index(&old, "web");
        edited(&folder, &[&old.url(), "web@1.0.0"]);
        match to {
            "moved" => old.answers(Some("")),
            _ => index(&old, "api"),
        }
        let back = folder.read("team/web/.krm-merge.yaml");
        folder.run(&["upgrade", "team/web", "--upstream", &address]).passed();
        assert!(folder.read("team/web/values.yaml").contains("replicaCount: 5 # ours"));
        assert!(folder.read("team/web/templates/service.yaml").ends_with("# more\n"));
        assert!(record(&folder, "team/web").contains(&format!("name: {chart}\n")));
        folder.run(&["upgrade", "team/web", "--abort"]).passed();
        assert_eq!(record(&folder, "team/web"), back);
        // Without the cache, nobody has the old release.
        fs::remove_dir_all(folder.path(".cache")).expect("removed");
        let told = folder.run(&["upgrade", "team/web", "--upstream", &address]).failed(2);
        assert!(told.contains(&format!("is gone from \"{}//web\" (", old.url())), "{told}");
        assert!(
            told.contains(if to == "moved" { "did not answer" } else { "has no chart \"web\"; it has api" }),
            "{told}"
        );
        assert!(told.contains("Run again with `--from` and the version that it comes from"), "{told}");
        folder.run(&["upgrade", "team/web", "--upstream", &address, "--from", "1.0.0"]).passed();
        assert!(folder.read("team/web/values.yaml").contains("replicaCount: 5 # ours"));
        assert!(folder.read("team/web/templates/service.yaml").ends_with("# more\n"));
        old.answers(None);
    }
}

#[test]
fn what_nobody_knows_of_a_package_stops_no_other() {
    let (folder, server) = (Folder::new(), three());
    let image = server.url().replace("http", "oci") + "/web";
    let [a, b] = [chart("1.0.0", 1, ""), chart("1.1.0", 1, "  # more\n")];
    server.image("web", &[("1.0.0", &a), ("1.1.0", &b)]);
    server.put("v1.2.0/install.yaml", map("a", &[("v", "'1'")]));
    let digest = {
        folder.run(&["get", &format!("{image}:1.0.0"), "team/image"]).passed();
        let record = record(&folder, "team/image");
        record.split("digest: ").nth(1).expect("a digest").trim().to_owned()
    };
    folder.run(&["get", &format!("{image}@{digest}"), "team/digest"]).passed();
    folder.run(&["get", &server.url(), "web@1.0.0", "team/chart"]).passed();
    folder.run(&["get", &format!("{}/v1.2.0/install.yaml", server.url()), "team/file"]).passed();
    commit(&folder.path("team"), "got");
    server.index(&[("1.1.0", &b)]);
    let listed = folder.run(&["list", "team"]).passed();
    let short = &digest["sha256:".len()..];
    for line in [
        "team/chart   1.0.0 1.0.0 1.1.0 1 0".to_owned(),
        "team/file    v1.2.0 v1.2.0 - - 0".to_owned(),
        "team/image   1.0.0 1.0.0 1.1.0 1 0".to_owned(),
        format!("team/digest  {short} {short} - - 0"),
    ] {
        let words = |text: &str| text.split_whitespace().take(6).map(str::to_owned).collect::<Vec<_>>();
        assert!(listed.lines().any(|other| words(other) == words(&line)), "{line}: {listed}");
    }
    let told = folder.run(&["upgrade", "--all", "team", "--check"]);
    assert_eq!(told.code, Some(1), "{told:?}");
    for want in [
        "team/chart: has 1.0.0, newest is 1.1.0; ".to_owned(),
        "team/file: has v1.2.0. krm-merge cannot look for newer releases, because its server has no list of them. Name the release with `--to`\n".to_owned(),
        "team/image: has 1.0.0, newest is 1.1.0; ".to_owned(),
        format!("team/digest: has {short}. krm-merge cannot look for newer releases, because a digest has no place among versions."),
    ] {
        assert!(told.stdout.contains(&want), "{want}: {told:?}");
    }
    folder.run(&["upgrade", "--all", "team"]).passed();
    for package in ["chart", "image"] {
        assert!(folder.read(&format!("team/{package}/templates/service.yaml")).ends_with("# more\n"), "{package}");
    }
    // A server that is down costs its packages alone, and each says why.
    let other = three();
    folder.run(&["get", &other.url(), "web@1.0.0", "team/other"]).passed();
    commit(&folder.path("team"), "other");
    server.answers(Some("500 Oops"));
    let told = folder.run(&["list", "team"]);
    assert!(told.code == Some(2) && told.stdout.contains("team/other   1.0.0"), "{told:?}");
    assert_eq!(told.stderr.matches("must answer with HTTP 200, not 500").count(), 3, "{told:?}");
}

#[test]
fn the_cause_is_told_if_a_server_does_not_give_a_release() {
    let (folder, server) = (Folder::new(), three());
    server.image("web", &[("1.0.0", &chart("1.0.0", 1, ""))]);
    server.put("v2/shut/manifests/1.0.0", "x");
    let short = format!("{}//web@1.0.0", server.url());
    let image = |rest: &str| server.url().replace("http", "oci") + "/web" + rest;
    let file = format!("{}/v1.2.0/install.yaml", server.url());
    for (status, want) in [(Some("500 Oops"), "must answer with HTTP 200, not 500"), (Some(""), "did not answer")] {
        server.answers(status);
        for address in [&short, &image(":1.0.0"), &image(":^1"), &file] {
            let told = folder.run(&["get", address, "p"]).failed(2);
            assert!(told.contains(want), "{address}: {told}");
        }
        let told = folder.run(&["get", &short, "p"]).failed(2);
        assert!(told.contains("must be a repository of charts or of git. As one of charts: "), "{told}");
    }
    server.answers(None);
    for (address, want) in [
        (image(":9.9.9"), "has no tag or digest \"9.9.9\"; the newest releases are 1.0.0"),
        (file.clone(), "has no release \"v1.2.0\""),
        (
            format!("{}//web@9.9.9", server.url()),
            "has no version \"9.9.9\"; the newest releases are 2.0.0, 1.1.0, 1.0.0",
        ),
        (image("-gone:1.0.0"), "has no tag or digest \"1.0.0\": \"oci://"),
        (image("-gone"), "the registry must have this image, but it has not"),
    ] {
        let told = folder.run(&["get", &address, "p"]).failed(2);
        assert!(told.contains(want), "{address}: {told}");
    }
    server.put("index.yaml", "<!doctype html><title>Log in</title>");
    let told = folder.run(&["get", &short, "p"]).failed(2);
    assert!(told.contains("the list of the charts must be YAML as `helm repo index` writes it"), "{told}");
    let told = folder.run(&["get", &server.url(), "web@1.0.0", "p"]).failed(2);
    assert!(told.contains("the list of the charts must be YAML as `helm repo index` writes it"), "{told}");
}

#[test]
fn a_version_that_is_listed_twice_or_moved_under_a_range() {
    let (folder, server) = (Folder::new(), three());
    let index = |entries: &str| server.put("index.yaml", format!("\u{feff}entries:\n  web:\n{entries}"));
    let entry = |version: &str| format!("  - {{version: 1.1.0, urls: [web-{version}.tgz]}}\n");
    index(&(entry("1.1.0") + &entry("2.0.0")));
    folder.run(&["get", &server.url(), "web@^1", "p"]).passed();
    assert!(folder.read("p/Chart.yaml").contains("version: 1.1.0"));
    commit(&folder.0, "got");
    index(&entry("2.0.0"));
    let told = folder.run(&["upgrade", "p", "--check"]);
    assert!(
        told.stderr.contains("`--to 1.1.0` takes the new one, and then `--to ^1` follows the range again\n"),
        "{told:?}"
    );
    for to in ["1.1.0", "^1"] {
        folder.run(&["upgrade", "p", "--to", to]).passed();
        commit(&folder.0, to);
    }
    assert!(folder.read("p/Chart.yaml").contains("version: 2.0.0"));
    assert!(record(&folder, "p").contains("version: ^1\n"), "{}", record(&folder, "p"));
}

/// Who has many packages of few upstreams asks each of these once.
#[test]
fn a_list_of_300_packages_is_one_question_for_each_upstream() {
    let folder = Folder::new();
    let (charts, others): (Vec<Server>, Server) = ((0..5).map(|_| Server::new()).collect(), Server::new());
    let host = others.url().replace("http://", "");
    let mut upstreams: Vec<String> = Vec::new();
    let mut questions: Vec<(&Server, String)> = Vec::new();
    let files = chart("1.0.0", 1, "");
    let versions: Vec<_> = ["1.0.0", "1.1.0", "2.0.0"].map(|version| (version, files.as_slice())).into();
    for server in &charts {
        server.list(&[("web", &versions), ("api", &versions)]);
        for name in ["web", "api"] {
            upstreams.push(format!("chart: {{repo: '{}', name: {name}, version: 1.0.0, digest: D}}", server.url()));
        }
        questions.push((server, "index.yaml".to_owned()));
    }
    for number in 0..10 {
        others.image(&format!("i{number}"), &[("1.0.0", &[]), ("1.1.0", &[])]);
        upstreams.push(format!("oci: {{image: '{host}/i{number}', tag: 1.0.0, digest: D}}"));
        questions.push((&others, format!("v2/i{number}/tags/list?n=1000")));
        others.put(&format!("f{number}/install.yaml"), "a: 1\n");
        upstreams.push(format!("http: {{url: '{}/f{number}/install.yaml', digest: D}}", others.url()));
        questions.push((&others, format!("f{number}/install.yaml")));
    }
    for number in 0..5 {
        // Nobody lists these, so nobody is asked.
        upstreams
            .push(format!("http: {{url: '{}/g{number}/{{ref}}/install.yaml', ref: v1.0.0, digest: D}}", others.url()));
        let tags = format!("{}\trefs/tags/v1.0.0\n{}\trefs/tags/v1.1.0\n", "1".repeat(40), "2".repeat(40));
        others.put(&format!("o/r{number}/info/refs?service=git-upload-pack"), tags);
        others.put(&format!("o/r{number}/HEAD"), "ref: refs/heads/main\n");
        for file in ["install", "crds"] {
            let url = format!("{}/o/r{number}/releases/download/{{ref}}/{file}.yaml", others.url());
            upstreams.push(format!("http: {{url: '{url}', ref: v1.0.0, digest: D}}"));
        }
        questions.push((&others, format!("o/r{number}/info/refs?service=git-upload-pack")));
    }
    // Two files of a release are of one upstream, as two charts of a repository are.
    assert_eq!((upstreams.len(), questions.len()), (45, 30));
    let digest = format!("sha256:{}", "a".repeat(64));
    for number in 0..300 {
        let upstream = &upstreams[number % upstreams.len()];
        let wants = upstream.replace(", digest: D", "");
        let has = upstream.replace("digest: D", &format!("digest: '{digest}'"));
        let text = format!(
            "apiVersion: krm-merge.dev/v1alpha1\nkind: Merge\nmetadata: {{name: p}}\nspec:\n  upstream:\n    {wants}\n  upstreamLock:\n    {has}\n"
        );
        folder.write(&format!("team/p{number:03}/.krm-merge.yaml"), text);
    }
    let told = folder.run(&["list", "team", "-o", "json"]).passed();
    let rows: serde_json::Value = serde_json::from_str(&told).expect("JSON");
    let rows = rows.as_array().expect("a list");
    let count = |newest: Option<&str>| rows.iter().filter(|row| row["newest"].as_str() == newest).count();
    // Each has 6 or 7 packages.
    assert_eq!(
        [count(Some("2.0.0")), count(Some("1.1.0")), count(Some("latest")), count(Some("v1.1.0"))].map(|n| n >= 30),
        [true; 4],
        "{told}"
    );
    assert!(rows.len() == 300 && count(None) >= 30 && rows.iter().all(|row| row["error"].is_null()), "{told}");
    let mut asked: BTreeMap<(String, String), usize> = BTreeMap::new();
    for server in charts.iter().chain([&others]) {
        for path in server.all_asked() {
            // git asks for the default branch where a server has only files.
            if !path.ends_with("/HEAD") {
                *asked.entry((server.url(), path)).or_default() += 1;
            }
        }
    }
    let want: BTreeMap<(String, String), usize> =
        questions.into_iter().map(|(server, path)| ((server.url(), path), 1)).collect();
    assert_eq!(asked, want);
}
