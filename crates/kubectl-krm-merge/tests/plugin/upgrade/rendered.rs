//! Packages whose release the real helm makes of a chart.

use std::fs;

use super::charts::three;
use super::repository::{Upstream, commit};
use crate::server::Server;
use crate::support::{Folder, has};

/// The files of a chart with a Deployment, a Secret that is made anew, and a CustomResourceDefinition.
fn chart(version: &str) -> Vec<(String, String)> {
    let deployment = "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: {{ .Release.Name }}\n  namespace: {{ .Release.Namespace }}\nspec:\n  replicas: {{ .Values.replicas }}\n  minReadySeconds: 1\n  paused: false\n";
    let secret = format!(
        "apiVersion: v1\nkind: Secret\nmetadata:\n  name: {{{{ .Release.Name }}}}\nstringData:\n  password: {{{{ randAlphaNum 12 }}}}\n  version: \"{version}\"\n"
    );
    let crd =
        "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata:\n  name: foos.example.com\n";
    [
        ("Chart.yaml", format!("apiVersion: v2\nname: web\nversion: {version}\n")),
        ("values.yaml", "replicas: 1\n".to_owned()),
        ("templates/deployment.yaml", deployment.replace("Seconds: 1", &format!("Seconds: {}", &version[..1]))),
        ("templates/secret.yaml", secret),
        ("crds/foo.yaml", crd.to_owned()),
    ]
    .map(|(path, text)| (path.to_owned(), text))
    .to_vec()
}

fn served() -> Server {
    let server = Server::new();
    let [a, b, c] = ["1.0.0", "2.0.0", "3.0.0"].map(chart);
    server.index(&[("1.0.0", &a), ("2.0.0", &b), ("3.0.0", &c)]);
    server
}

const DEPLOYMENT: &str = "p/shop/deployment_web.yaml";
const RECORD: &str = "p/.krm-merge.yaml";

/// A package of version 1.0.0 with values, that a team edited.
fn edited(address: &[&str]) -> Folder {
    let folder = Folder::new();
    folder.write("own/values.yaml", "replicas: 3\n");
    let render = ["p", "--render", "web", "--namespace", "shop", "-f", "own/values.yaml"];
    let told = folder.run(&[&["get"][..], address, &render].concat()).passed();
    assert!(told.contains("upgrade p --helm` for each new release"), "{told}");
    folder.write(DEPLOYMENT, folder.read(DEPLOYMENT).replace("paused: false", "paused: true # ours"));
    commit(&folder.path("p"), "got");
    folder
}

fn without_cache(folder: &Folder) {
    fs::remove_dir_all(folder.path(".cache")).expect("removed");
}

#[test]
fn what_helm_makes_of_a_chart_is_upgraded_twice_and_keeps_edits() {
    if !has("helm") {
        return;
    }
    let server = served();
    let folder = edited(&[&server.url(), "web@1.0.0"]);
    let files: Vec<String> = folder.files("p").into_keys().filter(|path| !path.starts_with(".git/")).collect();
    assert_eq!(files, [".krm-merge.yaml", "secret_web.yaml", "shop/deployment_web.yaml", "values.yaml"]);
    let record = folder.read(RECORD);
    let want =
        "    render:\n      release: web\n      namespace: shop\n      values:\n      - values.yaml\n  upstreamLock:";
    assert!(record.contains(want), "{record}");
    let secret = folder.read("p/secret_web.yaml");
    let listed = |version: &str, behind: usize| {
        let told = folder.run(&["list", "."]).passed();
        let want = format!("p        {version}  {version}  3.0.0   {behind}       1 ");
        assert!(told.contains(&want), "{told}");
    };
    listed("1.0.0", 2);
    // Without the flag, helm does not run.
    for args in [&["upgrade", "p"][..], &["upgrade", "p", "--check"], &["diff", "p", "--to", "2.0.0"]] {
        let told = folder.run(args).failed(2);
        assert!(told.contains("Pass `--helm` to allow it to run `helm`"), "{told}");
    }
    for (number, version) in ["2.0.0", "3.0.0"].into_iter().enumerate() {
        let told = folder.run(&["upgrade", "p", "--helm", "--check"]);
        assert!(told.code == Some(1) && told.stdout.contains("1 local change, 0 conflicts"), "{told:?}");
        let told = folder.run(&["upgrade", "p", "--helm", "--to", version]);
        let want = "p: its chart makes Secret web: stringData.password anew";
        assert!(told.code == Some(0) && told.stderr.contains(want), "{told:?}");
        let want = format!(
            "replicas: 3\n  minReadySeconds: {}\n  paused: true # ours\n",
            version.split('.').next().unwrap_or_default()
        );
        assert!(folder.read(DEPLOYMENT).contains(&want), "{}", folder.read(DEPLOYMENT));
        // What the chart makes anew stays.
        assert_eq!(folder.read("p/secret_web.yaml"), secret.replace("1.0.0", version));
        assert_eq!(folder.read("p/values.yaml"), "replicas: 3\n");
        if number == 0 {
            let upgraded = folder.files("p");
            folder.run(&["upgrade", "p", "--abort"]).passed();
            assert!(folder.read(RECORD) == record && folder.read("p/secret_web.yaml") == secret);
            folder.run(&["upgrade", "p", "--helm", "--to", version]).passed();
            assert_eq!(folder.read(RECORD).as_bytes(), upgraded[".krm-merge.yaml"]);
        }
        commit(&folder.path("p"), version);
        listed(version, 1 - number);
        let told = folder.run(&["upgrade", "p", "--helm", "--to", version]).passed();
        assert!(told.contains(&format!("it has {version} already")), "{told}");
        // The release that the package has is known without helm, and a password is no difference.
        let told = folder.run(&["diff", "p"]);
        assert!(told.stdout.contains("spec.paused") && !told.stdout.contains("password"), "{told:?}");
    }
}

#[test]
fn the_values_are_those_of_the_old_release_on_each_machine() {
    if !has("helm") {
        return;
    }
    let server = served();
    let folder = edited(&[&server.url(), "web@1.0.0"]);
    // Other values and another namespace are a change of the release, also of the same version.
    folder.write("p/values.yaml", "replicas: 4\n");
    folder.write(RECORD, folder.read(RECORD).replace("namespace: shop", "namespace: store"));
    commit(&folder.path("p"), "other values");
    without_cache(&folder);
    folder.run(&["diff", "p"]).failed(2);
    let told = folder.run(&["diff", "p", "--helm"]);
    assert!(told.code == Some(1) && told.stdout.contains("spec.paused: false -> true"), "{told:?}");
    assert!(!told.stdout.contains("replicas"), "{told:?}");
    without_cache(&folder);
    folder.run(&["upgrade", "p", "--helm", "--to", "1.0.0"]).passed();
    let deployment = folder.read(DEPLOYMENT);
    assert!(deployment.contains("namespace: store\n") && deployment.contains("replicas: 4\n"), "{deployment}");
    assert!(deployment.contains("paused: true # ours"), "{deployment}");
    commit(&folder.path("p"), "upgraded");
    without_cache(&folder);
    folder.run(&["upgrade", "p", "--helm"]).passed();
    let deployment = folder.read(DEPLOYMENT);
    assert!(deployment.contains("replicas: 4\n  minReadySeconds: 3\n  paused: true # ours"), "{deployment}");
}

#[test]
fn a_chart_in_git_and_one_of_a_repository_give_the_same() {
    if !has("helm") {
        return;
    }
    let (server, other) = (served(), Folder::new());
    let upstream = Upstream::new(&other, "up.git");
    for version in ["1.0.0", "2.0.0"] {
        let files = chart(version).into_iter().map(|(path, text)| (format!("charts/web/{path}"), text));
        upstream.release(&files.collect::<Vec<_>>(), &format!("web-{version}"));
    }
    let made = |address: &[&str], to: &str| {
        let folder = edited(address);
        folder.run(&["upgrade", "p", "--helm", "--to", to]).passed();
        let mut files = folder.files("p");
        files.retain(|path, _| !path.starts_with(".git/") && !path.contains("secret") && path != ".krm-merge.yaml");
        files
    };
    let from_git = made(&[&upstream.source("charts/web@web-1.0.0")], "web-2.0.0");
    assert_eq!(made(&[&server.url(), "web@1.0.0"], "2.0.0"), from_git);
}

#[test]
fn what_a_package_has_is_what_its_record_says() {
    if !has("helm") {
        return;
    }
    let (folder, server) = (Folder::new(), served());
    folder.run(&["get", &server.url(), "web@1.0.0", "p"]).passed();
    let record = folder.read(RECORD);
    let render = "    render: # ours\n      release: web # its name\n      includeCRDs: true\n  upstreamLock:";
    folder.write(RECORD, record.replace("  upstreamLock:", render));
    commit(&folder.path("p"), "got");
    for args in [&["upgrade", "p", "--helm"][..], &["diff", "p", "--helm"]] {
        let told = folder.run(args).failed(2);
        assert!(told.contains("the package has the files of the chart"), "{told}");
    }
    // Who has manifests of helm says of which version.
    folder.run(&["get", &server.url(), "web@1.0.0", "q", "--render", "web", "--include-crds"]).passed();
    folder.write("q/.krm-merge.yaml", folder.read(RECORD));
    commit(&folder.path("q"), "manifests");
    folder.run(&["upgrade", "q", "--helm", "--from", "1.0.0"]).passed();
    let record = folder.read("q/.krm-merge.yaml");
    assert!(record.contains("render: # ours\n      release: web # its name\n"), "{record}");
    assert!(record.matches("version: 3.0.0").count() == 2 && record.contains("sha256: "), "{record}");
    let render = "    render: # ours\n      release: web # its name\n      includeCRDs: true\n";
    folder.write("q/.krm-merge.yaml", record.replace(render, ""));
    let told = folder.run(&["upgrade", "q", "--allow-dirty"]).failed(2);
    assert!(told.contains("`render` is not in its record"), "{told}");
}

#[test]
fn a_new_version_that_renders_the_same_is_recorded() {
    if !has("helm") {
        return;
    }
    let (folder, server) = (Folder::new(), Server::new());
    let with = |version: &str| {
        let template = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: same\n";
        vec![
            ("Chart.yaml".to_owned(), format!("apiVersion: v2\nname: web\nversion: {version}\n")),
            ("templates/a.yaml".to_owned(), template.to_owned()),
        ]
    };
    let [a, b] = ["1.0.0", "1.1.0"].map(with);
    server.index(&[("1.0.0", &a), ("1.1.0", &b)]);
    folder.run(&["get", &server.url(), "web@1.0.0", "p", "--render", "web"]).passed();
    commit(&folder.path("p"), "got");
    folder.run(&["upgrade", "p", "--helm"]).passed();
    assert_eq!(folder.read(RECORD).matches("version: 1.1.0").count(), 2);
    commit(&folder.path("p"), "upgraded");
    let told = folder.run(&["upgrade", "p", "--helm"]).passed();
    assert!(told.contains("it has 1.1.0 already"), "{told}");
}

#[test]
fn what_helm_cannot_render_is_told_and_nothing_is_written() {
    if !has("helm") {
        return;
    }
    let server = served();
    let folder = edited(&[&server.url(), "web@1.0.0"]);
    let before = folder.files("p");
    let fails = |record: Option<(&str, &str)>, values: Option<&str>, want: &str| {
        record.into_iter().for_each(|(old, new)| folder.write(RECORD, folder.read(RECORD).replace(old, new)));
        match values {
            Some(text) => folder.write("p/values.yaml", text),
            None => fs::remove_file(folder.path("p/values.yaml")).expect("removed"),
        }
        let told = folder.run(&["upgrade", "p", "--helm", "--allow-dirty"]).failed(2);
        assert!(told.contains(want), "{want}: {told}");
        for (path, bytes) in before.iter().filter(|(path, _)| !path.starts_with(".git/")) {
            folder.write(&format!("p/{path}"), bytes);
        }
        assert_eq!(folder.files("p"), before);
    };
    fails(None, Some("replicas: [\n"), "p: 3.0.0 with helm v");
    fails(None, Some("replicas: [\n"), "values.yaml");
    fails(None, None, "p/values.yaml: there must be the values file that `render.values` names");
    fails(
        Some(("- values.yaml", "- ../values.yaml")),
        Some(""),
        "must be paths in the package, not \"../values.yaml\"",
    );
    fails(Some(("namespace: shop", "nameSpace: shop")), Some(""), "only, not \"nameSpace\"");
    fails(Some(("release: web", "release: -x")), Some(""), "release name");
    let told = folder.run(&["get", &server.url(), "web@1.0.0", "q", "--render", "Web!"]).failed(2);
    assert!(told.contains("release name") && !folder.path("q").exists(), "{told}");
    let told =
        folder.run(&["get", &server.url(), "web@1.0.0", "q", "--render", "a", "--path", "values.yaml"]).failed(2);
    assert!(told.contains("cannot be used with"), "{told}");
    // What is no chart helm refuses, too.
    let bare = three();
    bare.index(&[("1.0.0", &[("values.yaml".to_owned(), "a: 1\n".to_owned())])]);
    let told = folder.run(&["get", &bare.url(), "web@1.0.0", "q", "--render", "a"]).failed(2);
    assert!(told.contains("Chart.yaml"), "{told}");
}
