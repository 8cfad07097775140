//! The tests of the real helm, and of what is known of it.

#![allow(clippy::disallowed_methods, reason = "a test makes its own files")]

use super::*;

#[path = "../../../../tests/support/skip.rs"]
mod skip;

#[test]
fn a_message_is_that_of_helm_alone_and_names_the_values() {
    let values = [Values { name: "a.yaml", text: "" }, Values { name: "b\u{1b}.yaml", text: "" }];
    for (said, want) in [
        (
            "walk.go:74: found symbolic link\nError: no image\n\nUse --debug flag to render out invalid YAML\n",
            "no image",
        ),
        ("Error: at values-of-krm-merge-0.yaml and values-of-krm-merge-1.yaml", "at a.yaml and b\\u001b.yaml"),
        ("Error: values don't fit\nweb:\n- at '/n': got string\n", "values don't fit\nweb:\n- at '/n': got string"),
        ("\u{1b}[2J", "\\u001b[2J"),
        ("", ""),
    ] {
        assert_eq!(message(said, &values), want, "{said}");
    }
    assert!(message(&"é".repeat(9000), &[]).len() <= MOST_SHOWN);
}

#[test]
fn a_schema_that_asks_for_others_is_known() {
    for (schema, want) in [
        (
            r##"{"$schema": "https://json-schema.org/draft/2020-12/schema", "properties": {"a": {"$ref": "#/$defs/a"}}}"##,
            false,
        ),
        (
            r#"{"$schema": "http://json-schema.org/draft-07/schema#", "properties": {"$ref": {"type": "string"}}}"#,
            false,
        ),
        (r#"{"properties": {"a": {"$ref": "http://127.0.0.1:1/x.json"}}}"#, true),
        (r#"{"allOf": [{"$ref": "file:///etc/passwd"}]}"#, true),
        (r#"{"allOf": [{"$dynamicRef": "../other.json#/a"}]}"#, true),
        (r#"{"$schema": "http://127.0.0.1:1/meta"}"#, true),
        ("no JSON", false),
    ] {
        assert_eq!(asks_for_others(schema.as_bytes()), want, "{schema}");
    }
}

/// The real helm; `None` if it is not on `PATH`.
fn helm() -> Option<&'static Helm> {
    skip::has("helm").then(|| Helm::on_path().expect("helm 3 or 4"))
}

fn files(all: &[(&str, &str)]) -> BTreeMap<String, Vec<u8>> {
    all.iter().map(|(path, text)| ((*path).to_owned(), text.as_bytes().to_vec())).collect()
}

const TEMPLATE: &str = "kind: Foo\ncount: {{ .Values.count }}\nrelease: {{ .Release.Name }}\nnamespace: {{ .Release.Namespace }}\nkube: {{ .Capabilities.KubeVersion }}\nhas: {{ .Capabilities.APIVersions.Has \"a.b/v1\" }}\nfile: {{ .Files.Get \"own.txt\" }}\n";

#[test]
fn the_real_helm_renders_what_it_is_asked() {
    let Some(helm) = helm() else { return };
    let chart = files(&[
        ("Chart.yaml", "apiVersion: v2\nname: web\nversion: 1.0.0\n"),
        ("values.yaml", "count: 1\n"),
        ("values.schema.json", r#"{"properties": {"count": {"type": "integer"}}}"#),
        ("templates/a.yaml", TEMPLATE),
        ("crds/a.yaml", "kind: CustomResourceDefinition\n"),
        ("own.txt", "mine"),
    ]);
    let chart = helm.chart(&chart).expect("written");
    let asked = Rendering { release: "web", ..Rendering::default() };
    let text = chart.render(&asked).expect("rendered");
    assert!(text.contains("count: 1\nrelease: web\nnamespace: default\n") && text.contains("file: mine"), "{text}");
    assert!(!text.contains("CustomResourceDefinition"), "{text}");
    let values = [Values { name: "a.yaml", text: "count: 2\n" }, Values { name: "b.yaml", text: "count: 3\n" }];
    let all = Rendering {
        namespace: Some("shop"),
        values: &values,
        crds: Crds::Included,
        kube_version: Some("1.29.3"),
        api_versions: &["a.b/v1".to_owned(), "c/v2".to_owned()],
        ..asked
    };
    let text = chart.render(&all).expect("rendered");
    for line in ["count: 3", "namespace: shop", "kube: v1.29.3", "has: true", "kind: CustomResourceDefinition"] {
        assert!(text.contains(&format!("{line}\n")), "{line}: {text}");
    }
    // Its own message, with the name of the values; and no flag is made of a name.
    let refused = |values: &[Values<'_>], release: &str| {
        let told = chart.render(&Rendering { release, values, ..Rendering::default() }).expect_err("refused");
        assert!(matches!(told, HelmError::Refused(_)), "{told:?}");
        told.to_string()
    };
    let told = refused(&[Values { name: "a.yaml", text: "count: [\n" }], "web");
    assert!(told.starts_with("helm: ") && told.contains("a.yaml") && !told.contains("krm-merge"), "{told}");
    assert!(refused(&[Values { name: "a.yaml", text: "count: x\n" }], "web").contains("count"));
    assert!(refused(&[], "--help").contains("release name"));
}

#[test]
fn nothing_of_the_user_and_no_server_takes_part() {
    let Some(helm) = helm() else { return };
    let chart = |more: &[(&str, &str)]| {
        let head = ("Chart.yaml", "apiVersion: v2\nname: web\nversion: 1.0.0\n");
        helm.chart(&files(&[&[head], more].concat()))
    };
    let asked = Rendering { release: "web", ..Rendering::default() };
    // A schema elsewhere is not asked for.
    let elsewhere = r#"{"$ref": "http://127.0.0.1:1/schema.json"}"#;
    let text = chart(&[("values.schema.json", elsewhere), ("templates/a.yaml", "kind: Foo\n")]);
    assert!(text.expect("written").render(&asked).expect("rendered").contains("kind: Foo"));
    let own = "kind: Foo\nenv: {{ lookup \"v1\" \"Secret\" \"a\" \"b\" | toJson }}\nip: {{ getHostByName \"localhost\" | quote }}\n";
    let text = chart(&[("templates/a.yaml", own)]).expect("written").render(&asked).expect("rendered");
    assert!(text.contains("env: {}\nip: \"\"\n"), "{text}");
    for path in ["../a", "/a", "templates/../../a", "C:/a"] {
        let told = chart(&[(path, "x")]).expect_err("outside").to_string();
        assert!(told.contains("must be in its folder"), "{path}: {told}");
    }
}

#[cfg(unix)]
#[test]
fn what_is_no_helm_is_refused() {
    let folder = TemporaryFolder::new("test-of-helm").expect("a folder");
    let program = |name: &str, text: &str| {
        let file = folder.add(name, text.as_bytes()).expect("written");
        fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o755)).expect("set");
        file
    };
    let told = Helm::at(program("two", "#!/bin/sh\necho v2.17.0\n")).expect_err("old");
    assert_eq!(told, HelmError::OtherVersion("v2.17.0".to_owned()));
    let told = Helm::at(program("none", "#!/bin/sh\necho Error: no such thing >&2; exit 1\n")).expect_err("bad");
    assert_eq!(told, HelmError::Refused("no such thing".to_owned()));
    // The variables of the user do not reach it.
    let own = program("own", "#!/bin/sh\necho \"v3.0-$HELM_PLUGINS-$HELM_DEBUG-$HELM_NO_PLUGINS\"\n");
    let told = Helm::at(own).expect("a helm");
    assert!(told.version.contains("/own/plugins--1"), "{told:?}");
}
