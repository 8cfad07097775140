//! What is sent, applied to the live object by the rules of the patch type, is what was shown.

use serde_json::{Value, json};

use super::kept::{Kept, LAST_APPLIED, noted};
use super::{Answers, folder, run};

/// The files drop all annotations, in each way in which one can drop them.
#[test]
fn annotations_that_the_files_drop_go() {
    let map = |annotations: Value| json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "m", "namespace": "prod", "annotations": annotations}, "data": {"a": "b"}});
    let without = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "m", "namespace": "prod"}, "data": {"a": "b"}});
    let applied = map(json!({"a": "1", "b": "2"}));
    for (file, left) in [
        (without, &[][..]),
        (map(json!({})), &[]),
        (map(Value::Null), &[]),
        (map(json!({"a": null, "b": null})), &[]),
        (map(json!({"b": "2"})), &["b"]),
    ] {
        for others in [&[][..], &["other"]] {
            let mut live = noted(applied.clone(), &applied);
            others.iter().for_each(|name| live["metadata"]["annotations"][name] = json!("theirs"));
            let kept = Kept::new(Answers::new(), &[live]);
            let folder = folder(&kept.server, &[("m.yaml", &file.to_string())]);
            let shown = run(&folder, &["-f", "m.yaml"]).passed();
            assert!(
                shown.lines().any(|line| line.starts_with('-') && line.trim_start_matches('-').trim() == "a: \"1\""),
                "{shown}"
            );
            let ran = run(&folder, &["-f", "m.yaml", "--apply"]);
            assert_eq!(ran.passed(), "prod/configmap/m configured\n", "{file}");
            let now = kept.objects().remove(0);
            let names = now["metadata"]["annotations"].as_object().expect("a map").keys();
            let mut names: Vec<&str> = names.map(String::as_str).filter(|name| *name != LAST_APPLIED).collect();
            names.sort_unstable();
            // What someone else annotated stays, except under a null, which clears all and shows it.
            let clears = file["metadata"].get("annotations").is_some_and(Value::is_null);
            assert_eq!(names, [left, if clears { &[] } else { others }].concat(), "{file} {others:?}");
            assert_eq!(shown.contains("\n-    other: theirs\n"), clears && !others.is_empty(), "{shown}");
            let sent = kept.server.sent().len();
            assert_eq!(run(&folder, &["-f", "m.yaml", "--apply"]).passed(), "", "{file}");
            assert_eq!((run(&folder, &["-f", "m.yaml"]).passed(), kept.server.sent().len()), (String::new(), sent));
        }
    }
}

/// What kubectl noted is read as it was applied: `1` is `1.0`.
#[test]
fn a_note_that_says_the_same_in_other_words_is_not_sent_again() {
    let thing = json!({"apiVersion": "example.com/v1", "kind": "Thing", "metadata": {"name": "t", "namespace": "prod"}, "spec": {"f": 1}});
    let text = thing.to_string().replace("\"f\":1", "\"f\":1.0");
    let kept = Kept::new(Answers::new(), &[thing]);
    let folder = folder(&kept.server, &[("t.yaml", &text)]);
    assert_eq!(run(&folder, &["-f", "t.yaml", "--apply"]).passed(), "prod/thing.example.com/t configured\n");
    assert_eq!(run(&folder, &["-f", "t.yaml", "--apply"]).passed(), "");
}
