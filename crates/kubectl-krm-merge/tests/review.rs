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
use support::{Folder, Ran, has};

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
    assert_eq!(ran.stdout, want);
    let told = ran.failed(2);
    let want =
        "error: none of the values could be reviewed: repo/apps/web.yaml:12: no file has the HelmRepository `charts`";
    assert!(told.contains(want), "{told}");
    // One that is read is enough.
    folder.write("other.yaml", folder.read("repo/apps/web.yaml"));
    let told = Folder::with(&[("a.yaml", "a: 1\n")]).run(&["review"]).failed(2);
    assert!(told.contains("there must be values over a chart"), "{told}");
}

/// A chart of these texts: its defaults and its template, and fields of its `Chart.yaml`.
fn chart_of(version: &str, values: &str, template: &str, more: &str) -> Vec<(String, String)> {
    let files = [
        ("Chart.yaml", format!("apiVersion: v2\nname: web\nversion: {version}\n{more}")),
        ("values.yaml", values.to_owned()),
        ("templates/web.yaml", template.to_owned()),
    ];
    files.map(|(path, text)| (path.to_owned(), text)).to_vec()
}

/// Values over version 1.0.0 of a chart of a server.
fn over(server: &Server, values: &str) -> Folder {
    let chart =
        format!("helmCharts:\n- name: web\n  repo: {}\n  version: 1.0.0\n  valuesFile: values.yaml\n", server.url());
    Folder::with(&[("kustomization.yaml", &chart), ("values.yaml", values)])
}

/// What the review of two charts says of values.
fn reviewed(charts: [&[(String, String)]; 2], values: &str, args: &[&str]) -> Ran {
    let server = Server::new();
    server.index(&[("1.0.0", charts[0]), ("2.0.0", charts[1])]);
    over(&server, values).run(&[&["review"], args].concat())
}

const FORMATS: [&str; 6] = ["text", "json", "github", "sarif", "markdown", "html"];

const MODES: &str = "kind: Web\nspec:\n  port: {{ .Values.port }}\n{{- if eq .Values.mode \"simple\" }}\n  level: {{ .Values.level }}\n{{- end }}\n";

#[test]
fn helm_says_what_the_templates_leave_open() {
    if !has("helm") {
        return;
    }
    let old = chart_of("1.0.0", "mode: simple\nlevel: 1\nport: 80\n", MODES, "");
    let new = chart_of("2.0.0", "mode: full\nlevel: 1\nport: 80\n", MODES, "");
    let charts = [&old[..], &new];
    let without = reviewed(charts, "level: 5\nport: 8080\n", &[]).passed();
    assert!(!without.contains("gone"), "{without}");
    let ran = reviewed(charts, "level: 5\nport: 8080\n", &["--helm"]);
    let want = "values.yaml:1: gone: `level`: with your values, the old chart uses this value, the new chart does not (web 1.0.0 to 2.0.0)\n";
    assert!(ran.stdout.starts_with(want), "{ran:?}");
    assert_eq!(ran.failed(1), "");
    let json: serde_json::Value =
        serde_json::from_str(&reviewed(charts, "level: 5\n", &["--helm", "-o", "json"]).stdout).expect("JSON");
    assert_eq!(json[0]["findings"][0]["knownBy"], "helm");
    // A template may have by itself what somebody sets.
    let on = |default: &str| format!("kind: Web\nspec:\n  on: {{{{ dig \"on\" {default} .Values.m }}}}\n");
    let [off, on] = [("1.0.0", "false"), ("2.0.0", "true")]
        .map(|(version, on_by_itself)| chart_of(version, "m: {}\n", &on(on_by_itself), ""));
    let told = reviewed([&off, &on], "m: {on: true}\n", &["--helm"]).passed();
    let want = "values.yaml:1: newly the same: `m.on`: with your values, the new chart renders the same without this value, so you can remove it (web";
    assert!(told.starts_with(want), "{told}");
    // With other values the chart may read it again, so it stays.
    let server = Server::new();
    server.index(&[("1.0.0", &old), ("2.0.0", &new)]);
    let folder = over(&server, "level: 5\nport: 8080\n");
    folder.run(&["review", "--helm", "--in-place", "--drop-gone"]).failed(1);
    assert_eq!(folder.read("values.yaml"), "level: 5\nport: 8080\n");
    assert!(folder.read("kustomization.yaml").contains("version: 2.0.0"));
    // A chart that renders something else each time says nothing.
    let random = format!("{MODES}  password: {{{{ randAlphaNum 12 }}}}\n");
    let new = chart_of("2.0.0", "mode: full\nlevel: 1\nport: 80\n", &random, "");
    reviewed([&old, &new], "level: 5\n", &["--helm"]).passed();
}

#[test]
fn a_chart_that_does_not_render_any_more_is_said_first() {
    if !has("helm") {
        return;
    }
    let old = chart_of("1.0.0", "replicas: 1\nmode: a\n", "a: {{ .Values.replicas }}{{ .Values.mode }}", "");
    let fails = "a: {{ .Values.replicas }}{{ if .Values.mode }}{{ fail \"set <b>`modes`</b>\" }}{{ end }}";
    let new = chart_of("2.0.0", "replicas: 3\nmode: ''\n", fails, "");
    let values = "replicas: 2\nmode: b\n";
    let said =
        "with these values, helm renders the old chart, but not the new chart: execution error at (web/templates";
    for format in FORMATS {
        let ran = reviewed([&old, &new], values, &["--helm", "-o", format]);
        let out = ran.stdout.clone();
        let verdict = if ["json", "sarif"].contains(&format) { "does-not-render" } else { "does not render" };
        let is_page = ["html", "markdown"].contains(&format);
        assert!(out.contains(if is_page { "): set &lt;b&gt;" } else { "): set <b>" }), "{format}: {out}");
        let at = out.find(said).unwrap_or_else(|| panic!("{format}: {out}"));
        assert!(out.contains(verdict) && out.find("`replicas`").is_some_and(|hides| at < hides), "{format}: {out}");
        ran.failed(1);
    }
    let ran = reviewed([&old, &new], values, &["--helm"]);
    assert!(ran.stdout.starts_with("kustomization.yaml:4: does not render: with these values"), "{ran:?}");
    let ran = reviewed([&new, &old], "mode: b\n", &["--helm"]);
    let want = "not read: helmCharts web: helm does not render the old chart with these values: execution error at";
    assert!(ran.stdout.contains(want), "{ran:?}");
    // A chart may ask which Kubernetes there is.
    let later = chart_of("2.0.0", "replicas: 3\n", "a: {{ .Values.replicas }}", "kubeVersion: '>=1.99'\n");
    let of = |args: &[&str]| reviewed([&old, &later], "replicas: 2\n", &[&["--helm"], args].concat()).stdout;
    assert!(of(&[]).contains("does not render: with these values"));
    assert!(!of(&["--kube-version", "1.99.0"]).contains("does not render"));
    // What is missing, nobody gets from the network.
    let needs = "dependencies: [{name: db, version: 1.0.0, repository: https://charts.example.com}]\n";
    let new = chart_of("2.0.0", "replicas: 3\n", "a: {{ .Values.replicas }}", needs);
    let ran = reviewed([&old, &new], "replicas: 2\n", &["--helm"]);
    assert!(ran.stdout.contains("helm is not asked: the files of the chart `db` are missing"), "{ran:?}");
}

#[test]
fn helm_must_be_there() {
    let server = served();
    let folder = over(&server, VALUES);
    for (helm, want) in [
        (None, "error: the program `helm` must be on PATH: install helm 3 or 4\n"),
        (Some("#!/bin/sh\necho v2.17.0\n"), "error: `helm` must be of version 3 or 4, not \"v2.17.0\"\n"),
    ] {
        let bin = Folder::new();
        if let Some(script) = helm {
            bin.write("helm", script);
            #[cfg(unix)]
            std::fs::set_permissions(bin.path("helm"), std::os::unix::fs::PermissionsExt::from_mode(0o755))
                .expect("set");
        }
        let ran = Ran::of(folder.command(&["review", "--helm"]).env("PATH", &bin.0).output().expect("it runs"));
        assert_eq!(ran.failed(2), want);
    }
}

#[test]
fn defaults_that_change_where_you_set_nothing_are_folded() {
    let template = "a: {{ toYaml .Values.a }}{{ .Values.b }}{{ toYaml .Values.image }}{{ toYaml .Values.m }}";
    let old = chart_of("1.0.0", "a: {x: 1, y: 1}\nb: 1\nimage: {tag: '1'}\n", template, "");
    let new = chart_of("2.0.0", "a: {x: 2, y: 2}\nb: 1\nimage: {tag: '2'}\nm: {x: 1, y: '<b>'}\n", template, "");
    let of = |format: &str, values: &str| reviewed([&old, &new], values, &["-o", format]).stdout;
    let text = of("text", "a: {x: 3}\n");
    assert!(text.ends_with("with another version; 1 hides; 3 changed defaults that you do not set\n"), "{text}");
    let json: serde_json::Value = serde_json::from_str(&of("json", "a: {x: 3}\n")).expect("JSON");
    let want = serde_json::json!([
        {"place": "a.y", "original": 1, "updated": 2, "isImage": false},
        {"place": "image.tag", "original": "1", "updated": "2", "isImage": true},
        {"place": "m", "original": null, "updated": {"x": 1, "y": "<b>"}, "isImage": false},
    ]);
    assert_eq!(json[0]["changedDefaults"], want);
    for format in ["markdown", "html"] {
        let page = of(format, "a: {x: 3}\n");
        let parts = [
            "<details>\n<summary>",
            "<td><code>a.y</code></td><td><code>1</code></td><td><code>2</code></td>",
            "1 image tag or digests: image.tag",
            "&lt;b&gt;",
        ];
        assert!(parts.iter().all(|part| page.contains(part)), "{format}: {page}");
        assert!(!of(format, "a: {x: 3, y: 3}\nimage: {tag: 1}\nm: 1\n").contains("<details>"), "{format}");
    }
}

#[test]
fn a_map_that_lost_its_defaults_is_one_line() {
    let template = "a: {{ toYaml .Values.m }}{{ .Values.b }}";
    let old = chart_of("1.0.0", "m: {x: 1, y: {z: 1}}\nb: 1\n", template, "");
    let new = chart_of("2.0.0", "b: 1\n", template, "");
    let ran = reviewed([&old, &new], "m:\n  x: 2\n  y: {z: 2}\n", &[]);
    let want = "values.yaml:2: hides: `m`: the defaults of this map were removed, you set `x`, `y.z` in it (web 1.0.0 to 2.0.0)\ntotal: 1 overlay of 1 chart, 1 with another version; 1 hides\n";
    assert_eq!(ran.stdout, want);
    let ran = reviewed([&old, &new], "m:\n  x: 2\n", &[]);
    assert!(ran.stdout.contains("`m.x`: the default 1 was removed, you set 2"), "{ran:?}");
    let json: serde_json::Value =
        serde_json::from_str(&reviewed([&old, &new], "m:\n  x: 2\n  y: {z: 2}\n", &["-o", "json"]).stdout)
            .expect("JSON");
    assert_eq!(json[0]["findings"].as_array().map(Vec::len), Some(2));
}

#[test]
fn a_chart_that_moves_many_places_names_its_notes() {
    let names: Vec<String> = (0..12).map(|n| format!("v{n}")).collect();
    let template: String = names.iter().map(|name| format!("{name}: {{{{ .Values.{name} }}}}\n")).collect();
    let values: String = names.iter().map(|name| format!("{name}: 1\n")).collect();
    let old = chart_of("1.0.0", &values, &template, "");
    for (more, link) in [
        ("home: https://example.com/web\nsources: ['https://example.com/<b>']\n", Some("https://example.com/web")),
        ("home: https://example.com/web\nsources: [https://example.com/code]\n", Some("https://example.com/code")),
        (
            "annotations:\n  artifacthub.io/changes: |\n    - {description: a, links: [{name: b, url: https://example.com/notes}]}\n",
            Some("https://example.com/notes"),
        ),
        ("home: 'javascript:alert(1)'\n", None),
    ] {
        let new = chart_of("2.0.0", "a: 1\n", "a: {{ .Values.a }}\n", more);
        for format in ["text", "markdown", "html"] {
            let out = reviewed([&old, &new], &values.replace(": 1", ": 2"), &["-o", format]).stdout;
            let told = out.contains("The notes of the chart may tell where they went: ");
            assert_eq!((told, link.is_none_or(|link| out.contains(link))), (link.is_some(), true), "{format}: {out}");
        }
        let few = reviewed([&old, &new], "v1: 2\nv2: 2\n", &[]).stdout;
        assert!(!few.contains("notes of the chart"), "{few}");
    }
}
