//! `review`: values over charts of a repository that the tests serve.

#![allow(clippy::disallowed_methods, reason = "a test makes its own files")]
#![allow(dead_code, reason = "other tests use more of what supports them")]

#[path = "plugin/upgrade/repository.rs"]
mod repository;
#[path = "../../../tests/support/run.rs"]
mod run;
#[path = "support/server.rs"]
mod server;
#[path = "plugin/support.rs"]
#[allow(unused_imports, reason = "other tests use them")]
mod support;

use repository::{commit, git};
use server::Server;
use support::Folder;

/// The files of a chart whose one template reads some values.
fn chart(version: &str, values: &str, reads: &[&str]) -> Vec<(String, String)> {
    let template: String = reads.iter().map(|read| format!("{read}: {{{{ .Values.{read} }}}}\n")).collect();
    let files = [
        ("Chart.yaml", format!("apiVersion: v2\nname: web\nversion: {version}\n")),
        ("values.yaml", values.to_owned()),
        ("templates/web.yaml", format!("kind: ConfigMap\n{template}")),
    ];
    files.map(|(path, text)| (path.to_owned(), text)).to_vec()
}

/// A repository with two versions of a chart: a default changes, a value goes, and one becomes what a team has.
fn served() -> Server {
    let server = Server::new();
    let old =
        chart("1.0.0", "replicas: 1\nsize: small\ntheme: dark\nport: 80\n", &["replicas", "size", "theme", "port"]);
    let new = chart("2.0.0", "replicas: 3\ntheme: light\nport: 80\n", &["replicas", "theme", "port"]);
    server.index(&[("1.0.0", &old), ("2.0.0", &new)]);
    server
}

const VALUES: &str = "replicas: 2 # ours\nsize: large\ntheme: light\nport: 8080\n";

/// A repository of Flux with a release of the chart.
fn with_flux(server: &Server) -> Folder {
    let folder = Folder::new();
    let values: String = VALUES.lines().map(|line| format!("    {line}\n")).collect();
    folder.write(
        "repo/apps/web.yaml",
        format!("apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata:\n  name: web\n  namespace: apps\nspec:\n  chart:\n    spec:\n      chart: web\n      version: 1.0.0 # renovate\n      sourceRef:\n        kind: HelmRepository\n        name: charts\n  values:\n{values}"),
    );
    folder.write(
        "repo/sources/charts.yaml",
        format!("apiVersion: source.toolkit.fluxcd.io/v1\nkind: HelmRepository\nmetadata:\n  name: charts\nspec:\n  url: {}\n", server.url()),
    );
    commit(&folder.path("repo"), "begin");
    folder
}

/// What is told of the values above, if the first of them is in a line.
fn told(file: &str, first: usize) -> String {
    let at = |line: usize| format!("{file}:{}", first + line);
    format!(
        "{}: gone: `size`: the old chart reads this value, the new chart does not (web 1.0.0 to 2.0.0)\n{}: hides: `replicas`: the default changed from 1 to 3, you set 2 (web 1.0.0 to 2.0.0)\n{}: newly the same: `theme`: the new default is your value, so you can remove it (web 1.0.0 to 2.0.0)\ntotal: 1 overlay of 1 chart, 1 with another version; 1 gone, 1 hides, 1 newly the same\n",
        at(1),
        at(0),
        at(2)
    )
}

#[test]
fn a_newer_chart_is_reviewed_from_anywhere() {
    let server = served();
    let folder = with_flux(&server);
    let ran = folder.run(&["review", "repo"]);
    assert_eq!((ran.stdout.as_str(), ran.stderr.as_str()), (told("repo/apps/web.yaml", 15).as_str(), ""));
    ran.failed(1);
    // The source of the chart is elsewhere in the repository.
    assert_eq!(folder.run(&["review", "repo/apps/web.yaml", "--to", "2.0.0"]).stdout, told("repo/apps/web.yaml", 15));
    let ran = folder.run(&["review", "repo", "--to", "1.0.0"]);
    assert_eq!(ran.passed(), "total: 1 overlay of 1 chart, 0 with another version\n");
    let told = folder.run(&["review", "repo", "--to", "9.0.0"]);
    assert!(
        told.stdout.contains("not read: HelmRelease apps/web: ") && told.stdout.contains("the newest releases are"),
        "{told:?}"
    );
}

#[test]
fn a_branch_of_renovate_is_compared_with_its_base() {
    let server = served();
    let folder = with_flux(&server);
    let repo = folder.path("repo");
    git(&repo, &["switch", "--quiet", "--create", "renovate/web-2.x"]);
    let ran = folder.run(&["review", "repo", "--base", "main"]);
    assert_eq!(ran.passed(), "total: 0 overlays of 0 charts, 0 with another version\n");
    let web = folder.read("repo/apps/web.yaml");
    folder.write("repo/apps/web.yaml", web.replace("1.0.0", "2.0.0"));
    commit(&repo, "Update web");
    // The base went on, and another release came there.
    git(&repo, &["switch", "--quiet", "main"]);
    folder.write("repo/apps/other.yaml", web.replace("name: web", "name: other").replace("1.0.0", "2.0.0"));
    commit(&repo, "other");
    git(&repo, &["switch", "--quiet", "renovate/web-2.x"]);
    let ran = folder.run(&["review", "repo", "--base", "main"]);
    assert_eq!(ran.stdout, told("repo/apps/web.yaml", 15), "{ran:?}");
    ran.failed(1);
    let ran = folder.run(&["review", "repo", "--base", "none"]).failed(2);
    assert!(ran.contains("`--base` \"none\" must be a branch"), "{ran}");
}

#[test]
fn each_form_of_values_is_read_where_it_stands() {
    let server = served();
    let url = server.url();
    let folder = Folder::new();
    let text: String = VALUES.lines().map(|line| format!("        {line}\n")).collect();
    let app = format!(
        "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {{name: web}}\nspec:\n  source:\n    repoURL: {url}\n    chart: web\n    targetRevision: 1.0.0\n    helm:\n      values: |\n{text}"
    );
    folder.write("app/app.yaml", app);
    folder.write(
        "kustomize/kustomization.yaml",
        format!("helmCharts:\n- name: web\n  repo: {url}\n  version: 1.0.0\n  valuesFile: values.yaml\n"),
    );
    folder.write("kustomize/values.yaml", VALUES);
    let below: String = VALUES.lines().map(|line| format!("  {line}\n")).collect();
    folder.write(
        "chart/Chart.yaml",
        format!("name: shop\nversion: 0.1.0\ndependencies:\n- name: web\n  version: 1.0.0\n  repository: {url}\n"),
    );
    folder.write("chart/values.yaml", format!("web:\n{below}"));
    for (path, file, line) in
        [("app", "app/app.yaml", 11), ("kustomize", "kustomize/values.yaml", 1), ("chart", "chart/values.yaml", 2)]
    {
        let ran = folder.run(&["review", path]);
        assert_eq!((ran.stdout.as_str(), ran.stderr.as_str()), (told(file, line).as_str(), ""), "{path}");
    }
    server.asked("");
    let all = folder.run(&["review", "."]);
    assert!(
        all.stdout
            .ends_with("total: 3 overlays of 1 chart, 3 with another version; 3 gone, 3 hides, 3 newly the same\n"),
        "{all:?}"
    );
    assert_eq!(server.asked("web-2.0.0.tgz"), 0, "it is in the cache");
}

#[test]
fn the_version_is_raised_in_place_and_nothing_else_changes() {
    let server = served();
    let folder = with_flux(&server);
    let before = folder.read("repo/apps/web.yaml");
    let ran = folder.run(&["review", "repo", "--in-place"]);
    assert!(ran.stdout.ends_with("newly the same\nchanged repo/apps/web.yaml\n"), "{ran:?}");
    ran.failed(1);
    assert_eq!(folder.read("repo/apps/web.yaml"), before.replace("version: 1.0.0 #", "version: 2.0.0 #"));
    let again = folder.run(&["review", "repo", "--in-place"]);
    assert_eq!(again.passed(), "total: 1 overlay of 1 chart, 0 with another version\n");
    // A lock file is left to helm, and a range that has the version stays.
    let lock = "dependencies:\n- {name: web, version: 1.0.0}\n";
    for (range, want) in [("^1.0.0", "^2.0.0"), (">=1", ">=1"), ("'1.0.0'", "'2.0.0'")] {
        let chart = |version: &str| {
            format!(
                "name: shop\ndependencies:\n- name: web # why\n  version: {version}\n  repository: {}\n",
                server.url()
            )
        };
        let folder =
            Folder::with(&[("Chart.yaml", &chart(range)), ("Chart.lock", lock), ("values.yaml", "web: {port: 1}\n")]);
        let ran = folder.run(&["review", "--in-place"]);
        assert_eq!(ran.stderr.contains("run `helm dependency update "), range != ">=1", "{ran:?}");
        assert_eq!(folder.read("Chart.yaml"), chart(want));
    }
}

#[test]
fn values_that_may_go_are_removed_on_request() {
    let server = served();
    let folder = with_flux(&server);
    let before = folder.read("repo/apps/web.yaml");
    let drop = ["review", "repo", "--in-place", "--drop-same", "--drop-gone"];
    folder.run(&drop).failed(1);
    let want = before.replace("version: 1.0.0 #", "version: 2.0.0 #");
    let want = want.replace("    size: large\n", "").replace("    theme: light\n", "");
    assert_eq!(folder.read("repo/apps/web.yaml"), want);
    folder.run(&drop).passed();
    assert_eq!(folder.read("repo/apps/web.yaml"), want);
    // The same of values in a text, of which only what is gone may go.
    let url = server.url();
    let app = |version: &str, values: &str| {
        format!(
            "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {{name: web}}\nspec:\n  source:\n    repoURL: {url}\n    chart: web\n    targetRevision: {version}\n    helm:\n      values: |\n{values}      releaseName: web\n"
        )
    };
    let all = "        # ours\n        port: 8080\n        size: large # why\n        theme: light\n";
    let folder = Folder::with(&[("app.yaml", &app("1.0.0", all))]);
    folder.run(&["review", "--in-place", "--drop-gone"]).failed(1);
    assert_eq!(folder.read("app.yaml"), app("2.0.0", &all.replace("        size: large # why\n", "")));
}

#[test]
fn what_hides_a_changed_default_is_a_conflict_on_request() {
    let server = served();
    let folder = with_flux(&server);
    let before = folder.read("repo/apps/web.yaml");
    let raised = before.replace("version: 1.0.0 #", "version: 2.0.0 #");
    let mark = ["review", "repo", "--in-place", "--drop-gone", "--on-conflict", "mark"];
    let ran = folder.run(&mark);
    assert_eq!(ran.stderr, "next: run `kubectl krm-merge resolve repo/apps/web.yaml`\n", "{ran:?}");
    ran.failed(1);
    let conflict = "<<<<<<< dest (apps/web.yaml)\n    replicas: 2 # ours\n||||||| original (web 1.0.0)\n    replicas: 1 # ours\n=======\n    replicas: 3 # ours\n>>>>>>> updated (web 2.0.0)\n";
    let want = raised.replace("    size: large\n", "");
    assert_eq!(folder.read("repo/apps/web.yaml"), want.replace("    replicas: 2 # ours\n", conflict));
    // A second run leaves the markers to `resolve`.
    let ran = folder.run(&mark);
    let told = "repo/apps/web.yaml:1: not read: file apps/web.yaml: the text must be YAML: 15:1: conflicts must be resolved before";
    assert!(ran.stdout.starts_with(told), "{ran:?}");
    folder.run(&["resolve", "--take", "theirs", "repo"]).passed();
    assert_eq!(folder.read("repo/apps/web.yaml"), want.replace("replicas: 2", "replicas: 3"));
    // Values in a text, where the markers stand at the margin, and a default that is removed.
    let chart_of = |values: &str| chart("1.0.0", values, &["list", "gone", "port"]);
    let (old, new) = (chart_of("list: [a]\ngone: 1\n"), chart_of("list: [a, {b: 1}]\n"));
    server.index(&[("1.0.0", &old), ("2.0.0", &new)]);
    let url = server.url();
    let app = |version: &str, values: &str| {
        format!(
            "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {{name: web}}\nspec:\n  source:\n    repoURL: {url}\n    chart: web\n    targetRevision: {version}\n    helm:\n      values: |\n{values}      releaseName: web\n"
        )
    };
    let values = "        gone: 2 # why\n        list:\n        - mine\n        port: 1\n";
    for (choice, want) in [
        ("keep-dest", values.to_owned()),
        ("take-updated", "        list:\n        - a\n        - b: 1\n        port: 1\n".to_owned()),
        (
            "mark",
            format!(
                "<<<<<<< dest (app.yaml)\n        gone: 2 # why\n||||||| original (web 1.0.0)\n        gone: 1 # why\n=======\n>>>>>>> updated (web 2.0.0)\n{}",
                "        list:\n<<<<<<< dest (app.yaml)\n        - mine\n||||||| original (web 1.0.0)\n        - a\n=======\n        - a\n        - b: 1\n>>>>>>> updated (web 2.0.0)\n        port: 1\n"
            ),
        ),
    ] {
        let folder = Folder::with(&[("app.yaml", &app("1.0.0", values))]);
        folder.run(&["review", "--in-place", "--on-conflict", choice]).failed(1);
        assert_eq!(folder.read("app.yaml"), app("2.0.0", &want), "{choice}");
    }
    let folder = Folder::with(&[("app.yaml", &app("1.0.0", values))]);
    folder.run(&["review", "--in-place", "--on-conflict", "fail"]).failed(1);
    assert_eq!(folder.read("app.yaml"), app("1.0.0", values));
}

#[test]
fn a_value_stays_that_somebody_else_needs() {
    let server = served();
    let url = server.url();
    let chart = |name: &str, version: &str, more: &str| {
        format!(
            "- name: web\n  repo: {url}\n  version: {version}\n  releaseName: {name}\n  valuesFile: values.yaml\n{more}"
        )
    };
    let drop = ["review", "--in-place", "--drop-same", "--drop-gone", "--on-conflict", "mark"];
    // Another release has the new version already, and a layer below has another theme.
    for (charts, values, want) in [
        (
            chart("a", "1.0.0", "") + &chart("b", "2.0.0", ""),
            "size: large\ntheme: light\n",
            "size: large\ntheme: light\n",
        ),
        (chart("a", "1.0.0", "  valuesInline: {theme: light}\n"), "theme: dim\nport: 1\n", "theme: dim\nport: 1\n"),
        // What one release hides, the other does not.
        (chart("a", "1.0.0", "") + &chart("b", "2.0.0", ""), "replicas: 2\n", "replicas: 2\n"),
        (chart("a", "1.0.0", "") + &chart("b", "1.0.0", ""), "size: large\ntheme: light\nport: 1\n", "port: 1\n"),
    ] {
        let folder =
            Folder::with(&[("kustomization.yaml", &format!("helmCharts:\n{charts}")), ("values.yaml", values)]);
        folder.run(&drop);
        assert_eq!(folder.read("values.yaml"), want);
        let new = format!("helmCharts:\n{}", charts.replace("1.0.0", "2.0.0"));
        assert_eq!(folder.read("kustomization.yaml"), new);
    }
}

#[test]
fn each_format_says_the_same() {
    let server = served();
    let folder = with_flux(&server);
    let of = |format: &str| {
        let ran = folder.run(&["review", "repo", "-o", format]);
        assert_eq!(ran.stderr, "", "{format}");
        let out = ran.stdout.clone();
        ran.failed(1);
        out
    };
    let json: serde_json::Value = serde_json::from_str(&of("json")).expect("JSON");
    let findings = json[0]["findings"].as_array().expect("a list");
    let verdicts: Vec<&str> = findings.iter().filter_map(|one| one["verdict"].as_str()).collect();
    assert_eq!(verdicts, ["hides", "gone", "newly-same"], "{json}");
    assert_eq!(
        (&json[0]["from"], &json[0]["to"], &findings[0]["updated"]),
        (&"1.0.0".into(), &"2.0.0".into(), &3.into())
    );
    let github = of("github");
    let want = "::error file=repo/apps/web.yaml,line=16,col=5,title=gone in web 1.0.0 to 2.0.0::`size`: the old chart";
    assert!(github.starts_with(want), "{github}");
    let sarif: serde_json::Value = serde_json::from_str(&of("sarif")).expect("JSON");
    assert_eq!(sarif["runs"][0]["results"][0]["ruleId"], "gone");
    let markdown = of("markdown");
    assert!(markdown.contains("### krm-merge: 1 gone, 1 hides, 1 newly the same\n"), "{markdown}");
    assert!(markdown.contains("<tr><td><code>repo/apps/web.yaml:16</code></td><td>gone</td>"), "{markdown}");
    let html = of("html");
    assert!(html.contains("<title>krm-merge: 1 gone") && html.ends_with("</html>\n"), "{html}");
}

#[test]
fn what_is_pasted_is_got() {
    let server = served();
    let folder = Folder::new();
    let url = server.url();
    let entry = format!("- name: web\n  repo: {url}\n  version: 1.x\n");
    folder.run_with(&entry, &["get", "-"]).passed();
    assert!(folder.read("web/Chart.yaml").contains("version: 1.0.0"));
    assert!(folder.read("web/.krm-merge.yaml").contains("version: \"1.x\""));
    let repository = format!(
        "apiVersion: source.toolkit.fluxcd.io/v1\nkind: HelmRepository\nmetadata: {{name: c}}\nspec: {{url: '{url}'}}\n"
    );
    let told = folder.run_with(&repository, &["get", "-"]).failed(2);
    assert!(told.contains("`get - NAME@VERSION`"), "{told}");
    folder.run_with(&repository, &["get", "-", "web@2.0.0", "named"]).passed();
    assert!(folder.read("named/values.yaml").contains("theme: light"));
    for (text, want) in [
        ("a: 1\n", "stdin must name a chart"),
        ("a: [\n", "stdin"),
        ("- {name: web, repository: '@c'}\n", "charts of `@c` are not read"),
    ] {
        let told = folder.run_with(text, &["get", "-", "other"]).failed(2);
        assert!(told.contains(want), "{told}");
    }
}

#[test]
fn what_cannot_be_read_is_said_and_is_no_guess() {
    let server = served();
    let folder = with_flux(&server);
    folder.write("repo/sources/charts.yaml", "kind: Nothing\n");
    let ran = folder.run(&["review", "repo"]);
    let want = "repo/apps/web.yaml:12: not read: HelmRelease apps/web: no file has the HelmRepository `charts`\ntotal: 1 overlay of 0 charts, 0 with another version; 1 not read\n";
    assert_eq!(ran.passed(), want);
    let told = Folder::with(&[("a.yaml", "a: 1\n")]).run(&["review"]).failed(2);
    assert!(told.contains("there must be values over a chart"), "{told}");
}
