//! Packages from a repository of charts and from files of a server, which the tests start.

use super::repository::{Upstream, commit};
use krm_files::disk::hash;

use crate::server::{Server, packed};
use crate::support::{Folder, map};

/// The files of a chart.
pub fn chart(version: &str, replicas: u8, more: &str) -> Vec<(String, String)> {
    let chart = format!("apiVersion: v2\nname: web\nversion: {version}\n");
    let values = format!("# How many pods run.\nreplicaCount: {replicas}\nimage:\n  tag: \"{version}\"\n");
    let template = "apiVersion: v1\nkind: Service\nmetadata:\n  name: {{ .Release.Name }}\nspec:\n  type: ClusterIP\n";
    [
        ("Chart.yaml", chart),
        ("values.yaml", values),
        ("templates/service.yaml", format!("{template}  ports:\n  - port: 80\n{more}")),
        ("templates/NOTES.txt", format!("This is {version}.\n")),
    ]
    .map(|(path, text)| (path.to_owned(), text))
    .to_vec()
}

/// A repository with three versions of a chart.
pub fn three() -> Server {
    let server = Server::new();
    let [a, b, c] = [chart("1.0.0", 1, ""), chart("1.1.0", 1, "  # more\n"), chart("2.0.0", 2, "  # other\n")];
    server.index(&[("1.0.0", &a), ("2.0.0", &c), ("1.1.0", &b)]);
    server
}

/// A package of version 1.0.0 that a team edited.
pub fn edited(folder: &Folder, address: &[&str]) {
    folder.run(&[&["get"][..], address, &["team/web"]].concat()).passed();
    edit(folder);
}

fn edit(folder: &Folder) {
    for (path, old, new) in [
        ("team/web/values.yaml", "replicaCount: 1", "replicaCount: 5 # ours"),
        ("team/web/templates/service.yaml", "type: ClusterIP", "type: LoadBalancer"),
    ] {
        folder.write(path, folder.read(path).replace(old, new));
    }
    commit(&folder.path("team"), "edits");
}

#[test]
fn a_chart_is_upgraded_twice_and_keeps_edits() {
    let (folder, server) = (Folder::new(), three());
    edited(&folder, &[&server.url(), "web@1.0.0"]);
    let record = folder.read("team/web/.krm-merge.yaml");
    assert!(record.contains(&format!("chart:\n      repo: {}\n      name: web\n      version: 1.0.0\n", server.url())));
    let listed = folder.run(&["list", "team"]).passed();
    assert!(
        listed.lines().nth(1).is_some_and(|line| line.starts_with("team/web  1.0.0  1.0.0  2.0.0   2       2 ")),
        "{listed}"
    );
    let told = folder.run(&["log", "team/web"]).passed();
    assert_eq!(told, "team/web: 1.0.0 to 2.0.0, 2 releases\n2.0.0\n1.1.0\n");
    let told = folder.run(&["log", "team/web", "--to", "1.1.0", "-o", "markdown"]).passed();
    let want = "<code>1.0.0</code> to <code>1.1.0</code>, 1 release\n\n* <code>1.1.0</code>\n";
    assert_eq!(told, want);
    for (to, version, replicas) in [(&["--to", "^1"][..], "1.1.0", 1), (&["--to", "2.0.0"], "2.0.0", 2)] {
        // Both sides changed the number of replicas at last.
        let own = if replicas == 1 { &[][..] } else { &["--on-conflict", "keep-dest"] };
        let told = folder.run(&[&["upgrade", "team/web"][..], to, own].concat());
        assert!(told.code == Some(0), "{told:?}");
        let files = chart(version, replicas, if replicas == 1 { "  # more\n" } else { "  # other\n" });
        for (path, text) in &files {
            let want = text
                .replace(&format!("replicaCount: {replicas}"), "replicaCount: 5 # ours")
                .replace("type: ClusterIP", "type: LoadBalancer");
            assert_eq!(folder.read(&format!("team/web/{path}")), want, "{path}");
        }
        commit(&folder.path("team"), version);
        let told = folder.run(&[&["upgrade", "team/web"][..], if replicas == 1 { &[] } else { to }].concat()).passed();
        assert!(told.contains(&format!("it has {version} already")), "{told}");
    }
}

#[test]
fn the_log_has_what_the_releases_of_a_chart_say_of_themselves() {
    let (folder, server) = (Folder::new(), Server::new());
    let with = |version: &str, more: &str| {
        let mut files = chart(version, 1, "");
        files[0].1.push_str(more);
        files
    };
    let changes =
        "annotations:\n  artifacthub.io/changes: |\n    - plain\n    - kind: added\n      description: '<b> @you'\n";
    let [a, b, c] = [
        with("1.0.0", "appVersion: v7\nannotations: {artifacthub.io/changes: '- old'}\n"),
        with("1.1.0", &format!("appVersion: v8\n{changes}")),
        with("1.2.0", "appVersion: v8\n"),
    ];
    server.index(&[("1.0.0", &a), ("1.1.0", &b), ("1.2.0", &c)]);
    folder.run(&["get", &server.url(), "web@1.0.0", "p"]).passed();
    let told = folder.run(&["log", "p"]).passed();
    let want =
        "p: 1.0.0 to 1.2.0, 2 releases\n1.2.0 (appVersion v8)\n1.1.0 (appVersion v8)\n  plain\n  added: <b> @you\n";
    assert_eq!(told, want);
    let told = folder.run(&["log", "p", "-o", "markdown"]).passed();
    let app = "<code>appVersion</code>";
    let want = format!(
        "<code>1.0.0</code> to <code>1.2.0</code>, 2 releases; {app} <code>v7</code> to <code>v8</code>\n\n* <code>1.2.0</code>, {app} <code>v8</code>\n* <code>1.1.0</code>, {app} <code>v8</code>\n  * <code>plain</code>\n  * <code>added</code>: <code>&lt;b&gt; @you</code>\n"
    );
    assert_eq!(told, want);
    let told = folder.run(&["log", "p", "-o", "json"]).passed();
    let told: serde_json::Value = serde_json::from_str(&told).expect("JSON");
    assert_eq!(told["charts"][1]["changes"][1]["kind"], "added", "{told}");
    assert_eq!(told["releases"], serde_json::json!(["1.2.0", "1.1.0"]));
}

#[test]
fn a_chart_and_the_same_files_in_git_give_the_same() {
    let (folder, server) = (Folder::new(), three());
    let upstream = Upstream::new(&folder, "up.git");
    upstream.release(&chart("1.0.0", 1, ""), "1.0.0");
    upstream.release(&chart("1.1.0", 1, "  # more\n"), "1.1.0");
    let result = |address: &str| {
        edited(&folder, &[address]);
        folder.run(&["upgrade", "team/web", "--to", "1.1.0"]).passed();
        let mut files = folder.files("team/web");
        files.remove(".krm-merge.yaml").expect("the record");
        std::fs::remove_dir_all(folder.path("team")).expect("removed");
        files
    };
    assert_eq!(result(&format!("{}//web@1.0.0", server.url())), result(&upstream.source("@1.0.0")));
}

#[test]
fn one_file_of_a_chart_is_a_package_and_a_release_is_a_side() {
    let (folder, server) = (Folder::new(), three());
    folder.run(&["get", &server.url(), "web@^1", "team/values", "--path", "values.yaml"]).passed();
    let files: Vec<String> = folder.files("team/values").into_keys().collect();
    assert_eq!(files, [".krm-merge.yaml", "values.yaml"]);
    assert!(folder.read("team/values/.krm-merge.yaml").contains("version: ^1\n"));
    commit(&folder.path("team"), "got");
    let told = folder.run(&["upgrade", "team/values", "--check"]).passed();
    assert!(told.contains("has 1.1.0, which is the newest in ^1"), "{told}");
    let address = |version: &str| format!("{}//web/values.yaml@{version}", server.url());
    let told = folder.run(&["diff", &address("1.1.0"), &address("2.0.0")]);
    assert!(told.code == Some(1) && told.stdout.contains("replicaCount"), "{told:?}");
}

#[test]
fn a_server_is_asked_once_for_all_packages_and_never_offline() {
    let (folder, server) = (Folder::new(), three());
    for name in ["a", "b", "c"] {
        folder.run(&["get", &server.url(), "web@1.0.0", &format!("team/{name}")]).passed();
    }
    server.asked("");
    folder.run(&["list", "team"]).passed();
    assert_eq!(server.asked("index.yaml"), 1);
    let told = folder.run(&["list", "team", "--offline"]).passed();
    assert_eq!(told.matches("1.0.0  1.0.0  2.0.0").count(), 3, "{told}");
    folder.run(&["get", &server.url(), "web@1.0.0", "off", "--offline"]).passed();
    let told = folder.run(&["get", &server.url(), "web@2.0.0", "off2", "--offline"]).failed(2);
    assert!(told.contains("it was not fetched before, and `--offline` is given"), "{told}");
    assert!(server.is_idle());
}

#[test]
fn a_version_that_is_gone_or_has_another_digest_is_told() {
    let (folder, server) = (Folder::new(), three());
    edited(&folder, &[&server.url(), "web@1.0.0"]);
    let [old, new, other] =
        [chart("1.0.0", 1, ""), chart("1.0.0", 1, "  # changed\n"), chart("1.1.0", 1, "  # more\n")];
    server.index(&[("1.0.0", &new), ("1.1.0", &other)]);
    let digest = |files: &[(String, String)]| hash(&packed("web/", files));
    let want = format!(
        "the version 1.0.0 of \"{}//web\" now has digest sha256:{}, but the package has digest sha256:{}: `--to 1.0.0` takes the new one",
        server.url(),
        digest(&new),
        digest(&old)
    );
    let told = folder.run(&["upgrade", "team/web", "--check"]);
    assert!(told.stderr.contains(&want), "{told:?}");
    folder.run(&["upgrade", "team/web", "--to", "1.0.0"]).passed();
    assert!(folder.read("team/web/templates/service.yaml").contains("# changed"));
    assert!(folder.read("team/web/values.yaml").contains("replicaCount: 5 # ours"));
    commit(&folder.path("team"), "changed");
    // Nobody has the old one any more, and the one that the package has is gone from the list.
    server.index(&[("1.1.0", &other)]);
    folder.run(&["upgrade", "team/web"]).passed();
    assert!(folder.read("team/web/.krm-merge.yaml").contains("version: 1.1.0\n"));
}

#[test]
fn a_file_of_a_server_is_a_release() {
    let (folder, server) = (Folder::new(), three());
    for (version, value) in [("v1.2.0", "'1'"), ("v1.3.0", "'2'")] {
        server.put(&format!("{version}/install.yaml"), map("a", &[("v", value), ("w", "x")]));
    }
    folder.run(&["get", &format!("{}/v1.2.0/install.yaml", server.url()), "team/web"]).passed();
    assert!(folder.read("team/web/.krm-merge.yaml").contains("/{ref}/install.yaml\n      ref: v1.2.0\n"));
    folder.write("team/web/install.yaml", folder.read("team/web/install.yaml").replace("w: x", "w: ours"));
    commit(&folder.path("team"), "got");
    folder.run(&["upgrade", "team/web", "--to", "v1.3.0"]).passed();
    assert_eq!(folder.read("team/web/install.yaml"), map("a", &[("v", "'2'"), ("w", "ours")]));
    commit(&folder.path("team"), "upgraded");
    // Nobody knows which releases there are.
    let told = folder.run(&["upgrade", "team/web"]).passed();
    let want = "team/web: it has v1.3.0 already. krm-merge cannot look for newer releases, because its server has no list of them. Name the release with `--to`\n";
    assert_eq!(told, want);
}

#[test]
fn a_package_moves_from_git_to_a_repository_of_charts() {
    let (folder, server) = (Folder::new(), three());
    let upstream = Upstream::new(&folder, "up.git");
    upstream.release(&chart("1.0.0", 1, ""), "1.0.0");
    edited(&folder, &[&upstream.source("@1.0.0")]);
    let address = format!("{}//web@1.1.0", server.url());
    folder.run(&["upgrade", "team/web", "--upstream", &address]).passed();
    assert!(folder.read("team/web/templates/service.yaml").ends_with("# more\n"));
    assert!(folder.read("team/web/values.yaml").contains("replicaCount: 5 # ours"));
    let record = folder.read("team/web/.krm-merge.yaml");
    assert!(!record.contains("git") && record.contains("version: 1.1.0\n      digest: sha256:"), "{record}");
    // A Kptfile has no place for it.
    let kptfile = "apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: web\n";
    folder.write("team/kpt/Kptfile", kptfile);
    folder.write("team/kpt/values.yaml", "a: 1\n");
    commit(&folder.path("team"), "kpt");
    folder.run(&["upgrade", "team/kpt", "--upstream", &upstream.source("@1.0.0"), "--from", "1.0.0"]).passed();
    commit(&folder.path("team"), "recorded");
    let before = folder.files("team/kpt");
    let told = folder.run(&["upgrade", "team/kpt", "--upstream", &address]).failed(2);
    assert!(told.contains("remove `upstream` and `upstreamLock` from the Kptfile"), "{told}");
    assert_eq!(folder.files("team/kpt"), before);
}

/// A Kptfile can record git alone, so the record of a chart that has one is beside it.
#[test]
fn a_chart_may_have_a_kptfile() {
    let kptfile = |more: &str| format!("apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: web\n{more}");
    let with = |version: &str, more: &str| {
        let mut files = chart(version, 1, "");
        files.push(("Kptfile".to_owned(), kptfile(more)));
        files
    };
    let server = Server::new();
    let [a, b] = [with("1.0.0", ""), with("1.1.0", "info:\n  description: new\n")];
    server.index(&[("1.0.0", &a), ("1.1.0", &b)]);
    let folder = Folder::new();
    folder.run(&["get", &server.url(), "web@1.0.0", "mine"]).passed();
    assert_eq!(folder.read("mine/Kptfile"), kptfile("").replace("web", "mine"));
    assert!(folder.read("mine/.krm-merge.yaml").contains("version: 1.0.0\n"));
    commit(&folder.0, "got");
    folder.run(&["upgrade", "mine"]).passed();
    assert_eq!(folder.read("mine/Kptfile"), kptfile("info:\n  description: new\n").replace("web", "mine"));
    assert!(folder.read("mine/.krm-merge.yaml").contains("version: 1.1.0\n"));
}

#[test]
fn a_chart_that_is_not_there_is_answered_by_those_that_are() {
    let (server, folder) = (three(), Folder::new());
    let told = folder.run(&["get", &server.url(), "wep@1.0.0"]).failed(2);
    assert!(told.contains("has no chart \"wep\"; it has web\n"), "{told}");
    server.put("index.yaml", "apiVersion: v1\nentries: {}\n");
    let told = folder.run(&["get", &server.url(), "web@1.0.0"]).failed(2);
    assert!(told.ends_with("has no chart \"web\"\n"), "{told}");
}

/// A version is known with and without `v`, so what changed under it is told in both forms.
#[test]
fn a_version_with_a_v_that_changed_is_told() {
    let (server, folder) = (three(), Folder::new());
    folder.run(&["get", &server.url(), "web@v1.1.0", "mine"]).passed();
    commit(&folder.0, "got");
    server.index(&[("1.1.0", &chart("1.1.0", 7, ""))]);
    let ran = folder.run(&["upgrade", "mine", "--check"]);
    assert!(ran.stderr.contains("now has digest") && ran.stderr.contains("`--to v1.1.0` takes the new one"), "{ran:?}");
}
