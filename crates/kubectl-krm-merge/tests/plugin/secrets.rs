//! What is secret is decided from the document, and no message, page or recorded decision shows it.

use crate::support::{Folder, has};

/// The start of every value and comment that must not be shown.
const VALUE: &str = "hunter-";

/// Documents that hold values of Secrets, each with the name of its file. `#` is the number of the side.
const SHAPES: [(&str, &str); 14] = [
    ("x.yaml", "apiVersion: v1\nkind: Secret\nmetadata:\n  name: a\n"),
    ("x.yaml", "apiVersion: v1\nkind: Secret\nmetadata:\n  generateName: a-\n"),
    ("x.yaml", "apiVersion: v1\nkind: Secret\n"),
    ("x.yaml", "kind: Secret\nmetadata:\n  name: a\n"),
    ("x.yaml", "apiVersion: v1\nkind: Secret\nmetadata:\n  name: {{ .Release.Name }}\n"),
    ("x.yaml", "apiVersion: v1\nkind: Secret\nmetadata:\n  name: {{ .Release.Name }}-db\n"),
    ("x.yaml", "apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: Secret\n  metadata: {name: a}\n  DATA"),
    ("x.yaml", "apiVersion: v1\nkind: SecretList\nitems:\n- metadata: {name: a}\n  DATA"),
    ("kustomization.yaml", "secretGenerator:\n- name: a\n  literals:\n  - p=hunter-#\n"),
    (
        "kustomization.yaml",
        "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nmetadata:\n  name: k\nsecretGenerator:\n- name: a\n  literals:\n  - p=hunter-#\n",
    ),
    (
        "x.json",
        "{\"apiVersion\":\"v1\",\"kind\":\"Secret\",\"metadata\":{\"name\":\"a\"},\"data\":{\"p\":\"hunter-#\"}}\n",
    ),
    ("x.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: b\n---\nkind: Secret\n"),
    ("values.yaml", "extra:\n- apiVersion: v1\n  kind: Secret\n  metadata: {name: a}\n  DATA"),
    (
        "kustomization.yaml",
        "patches:\n- patch: |-\n    kind: Secret\n    metadata: {name: a}\n    data: {p: hunter-#}\n",
    ),
];

/// The document on a side, with its values.
fn text(shape: &str, side: &str) -> String {
    let data = "stringData:\n  # hunter-c#\n  p: hunter-# # hunter-t#\n";
    let text = match shape {
        shape if shape.contains("DATA") => shape.replace("DATA", &data.replace('\n', "\n  ")),
        shape if shape.contains(VALUE) => shape.to_owned(),
        shape => shape.to_owned() + data,
    };
    text.replace("hunter-#", &format!("{VALUE}{side}"))
        .replace("hunter-c#", &format!("{VALUE}c{side}"))
        .replace("hunter-t#", &format!("{VALUE}t{side}"))
}

/// All that a person reads of a merge of these files: each output, the driver, the questions, and what is recorded.
fn outputs(path: &str, [original, updated, dest]: [&str; 3]) -> Vec<(String, String)> {
    let files = [("v1", original), ("v2", updated), ("here", dest)];
    let folder = Folder::new();
    files.iter().for_each(|(side, text)| folder.write(&format!("{side}/{path}"), text));
    let mut all = Vec::new();
    let mut told = |name: String, args: &[&str]| {
        let ran = folder.run(args);
        assert!(matches!(ran.code, Some(0..=2)), "{name}: {ran:?}");
        all.push((name, ran.stdout + &ran.stderr));
    };
    let sides = ["three-way", "--original", "v1", "--updated", "v2", "--dest", "here"];
    for output in ["html", "markdown", "github", "sarif"] {
        for policy in ["take-updated", "keep-dest", "fail"] {
            let more = ["-o", output, "--dry-run", "--on-conflict", policy];
            told(format!("{output} {policy}"), &[&sides[..], &more].concat());
        }
    }
    for output in ["fields", "json", "results", "markdown"] {
        told(format!("diff {output}"), &["diff", "v1", "v2", "-o", output]);
    }
    if has("git") {
        files.iter().for_each(|(side, text)| folder.write(&format!("of-{side}"), text));
        told("driver".to_owned(), &["git-driver", "of-v1", "of-here", "of-v2", path]);
    }
    told("mark".to_owned(), &[&sides[..], &["--in-place", "--on-conflict", "mark"]].concat());
    told("resolve".to_owned(), &["resolve", "--take", "ours", "--record", "decisions.yaml", "here"]);
    let recorded = folder.path("decisions.yaml").exists().then(|| folder.read("decisions.yaml"));
    all.push(("record".to_owned(), recorded.unwrap_or_default()));
    all
}

#[test]
fn no_output_shows_a_value_of_a_secret_whatever_its_name_looks_like() {
    for (path, shape) in SHAPES {
        let sides = ["1", "2", "3"].map(|side| text(shape, side));
        for (output, told) in outputs(path, sides.each_ref().map(String::as_str)) {
            assert!(!told.contains(VALUE), "{output} of\n{shape}\n{told}");
        }
    }
}

/// A ConfigMap that a side turned into a Secret has the values of the Secret.
#[test]
fn what_is_a_secret_on_one_side_is_one() {
    let [map, secret] =
        ["ConfigMap", "Secret"].map(|kind| format!("apiVersion: v1\nkind: {kind}\nmetadata:\n  name: a\n"));
    for [original, updated, dest] in [[&map, &secret, &map], [&map, &map, &secret], [&map, &secret, &secret]] {
        let sides = [text(original, "1"), text(updated, "2"), text(dest, "3")];
        for (output, told) in outputs("x.yaml", sides.each_ref().map(String::as_str)) {
            // Two ConfigMaps are no Secret.
            let is_meant = original != updated || !output.starts_with("diff");
            assert!(!told.contains(VALUE) || !is_meant, "{output} of {original} {updated} {dest}\n{told}");
        }
    }
}

/// Nobody can read dest's version, and it does not name the kind.
#[test]
fn a_version_that_nobody_can_read_is_a_secret_if_another_one_is() {
    let secret = |side: &str| text(SHAPES[0].1, side);
    let dest = secret("3").replace("kind: Secret", "kind: [Sec").replace("stringData", "  ]stringData");
    for (output, told) in outputs("x.yaml", [&secret("1"), &secret("2"), &dest]) {
        // `diff` compares the releases, which are Secrets.
        assert!(!told.contains(VALUE), "{output}\n{told}");
    }
}

/// What is no Secret is shown: a ConfigMap beside a Secret of its name, and what a kustomization says besides its Secrets.
#[test]
fn all_else_is_shown() {
    let map =
        |value: &str| format!("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  x: shown-{value}\n");
    let both = |value: &str| map(value) + "---\n" + &text(SHAPES[0].1, "1");
    let kustomization =
        |value: &str| format!("{}images:\n- name: a\n  newTag: shown-{value}\n", text(SHAPES[9].1, "1"));
    for (path, sides) in
        [("x.yaml", ["1", "2", "3"].map(both)), ("kustomization.yaml", ["1", "2", "3"].map(kustomization))]
    {
        let told = outputs(path, sides.each_ref().map(String::as_str));
        for (output, told) in
            told.iter().filter(|(output, _)| ["markdown fail", "diff fields", "driver"].contains(&&**output))
        {
            assert!(told.contains("shown-2") && !told.contains(VALUE), "{path} {output}: {told}");
        }
    }
}

/// A resource with values, after a ConfigMap that has none, in one of the layouts of a file.
fn laid_out(layout: &str, resource: Option<&str>, side: &str) -> String {
    let beside = format!("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: beside\ndata:\n  x: shown-{side}\n");
    let own = resource.map(|head| text(head, side).replace("stringData", "data"));
    let item = |text: &str| format!("- {}\n", text.trim_end().replace('\n', "\n  "));
    match layout {
        "alone" => own.unwrap_or_default(),
        "documents" => own.map_or(beside.clone(), |own| format!("{beside}---\n{own}")),
        _ => {
            let items = [Some(&beside), own.as_ref()].into_iter().flatten();
            format!("apiVersion: v1\nkind: List\nitems:\n{}", items.map(|text| item(text)).collect::<String>())
        }
    }
}

/// What is a Secret on any side is one: where its kind, its name or both change on a side, and where a side lacks it.
#[test]
fn what_is_a_secret_on_any_side_is_one_whatever_becomes_of_it() {
    let head = |kind: &str, name: &str| format!("apiVersion: v1\nkind: {kind}\nmetadata:\n  name: {name}\n");
    let [secret, other, map, renamed] =
        [("Secret", "s"), ("Secret", "t"), ("ConfigMap", "s"), ("ConfigMap", "t")].map(|(kind, name)| head(kind, name));
    let heads = [Some(&secret), Some(&other), Some(&map), Some(&renamed), None];
    let has_secret = |sides: &[Option<&String>]| sides.iter().flatten().any(|head| head.contains("Secret"));
    // All of them are many.
    let step = if std::env::var_os("KRM_MERGE_LAWS").is_some() { 1 } else { 3 };
    for layout in ["alone", "documents", "list"] {
        for sides in (0..125).step_by(step).map(|n| [heads[n % 5], heads[n / 5 % 5], heads[n / 25]]) {
            if !has_secret(&sides) || layout == "alone" && sides.contains(&None) {
                continue;
            }
            let names = ["v1", "v2", "here"];
            let folder = Folder::new();
            for (name, (side, own)) in names.iter().zip(["1", "2", "3"].iter().zip(sides)) {
                folder.write(&format!("{name}/x.yaml"), laid_out(layout, own.map(String::as_str), side));
            }
            let merge = ["three-way", "--original", "v1", "--updated", "v2", "--dest", "here"];
            let check = |what: &str, told: String| assert!(!told.contains(VALUE), "{layout} {sides:?} {what}: {told}");
            for output in ["html", "markdown", "github"] {
                let ran =
                    folder.run(&[&merge[..], &["-o", output, "--dry-run", "--on-conflict", "take-updated"]].concat());
                check(output, ran.stdout + &ran.stderr);
            }
            let ran = folder.run(&[&merge[..], &["--in-place", "--on-conflict", "mark"]].concat());
            check("mark", ran.stdout + &ran.stderr);
            let ran = folder.run(&["resolve", "--take", "theirs", "--record", "decisions.yaml", "here"]);
            check("resolve", ran.stdout + &ran.stderr);
            if layout == "alone" {
                check(
                    "record",
                    folder
                        .files(".")
                        .remove("decisions.yaml")
                        .map(|t| String::from_utf8_lossy(&t).into_owned())
                        .unwrap_or_default(),
                );
            } else {
                // The ConfigMap beside it is no Secret.
                let recorded = folder.files(".").remove("decisions.yaml").unwrap_or_default();
                let recorded = String::from_utf8_lossy(&recorded).into_owned();
                assert!(recorded.contains("shown-2"), "{layout} {sides:?}: {recorded} {}", folder.read("here/x.yaml"));
                check("record", recorded);
            }
        }
    }
}

/// The label says that lines are of a Secret only where the text does not say it.
#[test]
fn a_label_names_a_secret_only_if_the_text_does_not() {
    for (updated, is_labelled) in [("Secret", false), ("ConfigMap", true)] {
        let folder = Folder::new();
        for (name, side, kind) in [("v1", "1", "Secret"), ("v2", "2", updated), ("here", "3", "Secret")] {
            let head = format!("apiVersion: v1\nkind: {kind}\nmetadata:\n  name: s\n");
            folder.write(&format!("{name}/x.yaml"), laid_out("documents", Some(&head), side));
        }
        let sides = ["three-way", "--original", "v1", "--updated", "v2", "--dest", "here"];
        folder.run(&[&sides[..], &["--in-place", "--on-conflict", "mark"]].concat()).failed(1);
        let text = folder.read("here/x.yaml");
        let labels = ["<<<<<<< dest (here), of a Secret\n", ">>>>>>> updated (v2), of a Secret\n"];
        labels.iter().for_each(|label| assert_eq!(text.contains(*label), is_labelled, "{text}"));
        // The ConfigMap beside it has plain labels.
        assert!(text.contains("<<<<<<< dest (here)\n") && text.contains(">>>>>>> updated (v2)\n"), "{text}");
        // The next run knows markers of an earlier one.
        let told = folder.run(&[&sides[..], &["--in-place", "--on-conflict", "mark"]].concat()).failed(2);
        assert!(told.contains("resolve"), "{told}");
    }
}

/// git's own markers may be around the kind, or the name.
#[test]
fn a_secret_is_known_between_markers() {
    let of = |kind: &str, name: &str, value: &str| {
        let [kind, name, value] = [kind, name, value].map(|text| match text.split_once('|') {
            Some((ours, theirs)) => format!("<<<<<<< ours\n{ours}\n=======\n{theirs}\n>>>>>>> theirs\n"),
            None => format!("{text}\n"),
        });
        format!("apiVersion: v1\n{kind}metadata:\n{name}data:\n{value}  other: x\n  more: \"y\"\n")
    };
    let value = "  password: hunter-1|  password: hunter-2";
    for text in [
        of("kind: Secret", "  name: s", value),
        of("kind: Secret|kind: ConfigMap", "  name: s", value),
        of("kind: ConfigMap|kind: Secret", "  name: s", value),
        of("kind: ConfigMap|kind: Secret", "  name: s|  name: t", value),
        of("kind: Secret|kind: ConfigMap", "  name: s|  name: t", value),
    ] {
        for take in ["ours", "theirs"] {
            for layout in [
                "",
                "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: beside\ndata:\n<<<<<<< ours\n  x: shown-1\n=======\n  x: shown-2\n>>>>>>> theirs\n---\n",
            ] {
                let folder = Folder::new();
                folder.write("x.yaml", format!("{layout}{text}"));
                let ran = folder.run(&["resolve", "--take", take, "--record", "decisions.yaml", "x.yaml"]);
                assert!(!ran.stdout.contains(VALUE) && !ran.stderr.contains(VALUE), "{ran:?}");
                let recorded = folder.files(".").remove("decisions.yaml").unwrap_or_default();
                let recorded = String::from_utf8_lossy(&recorded);
                assert!(
                    !recorded.contains(VALUE) && recorded.contains("shown-2") != layout.is_empty(),
                    "{text}{recorded}"
                );
            }
        }
    }
}
