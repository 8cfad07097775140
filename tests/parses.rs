//! No text is parsed twice in a run: each one of the user once, and each new one once, to read again what was written.

use krm_merge_function::{Verdict, run};
use krm_yaml::parsed;

/// How many texts a run of the function parses, which must pass.
fn parses(items: &str, spec: &str) -> usize {
    let stdin = format!(
        "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n{items}functionConfig:\n  \
         apiVersion: krm-merge.dev/v1alpha1\n  kind: Merge\n  spec:\n{spec}"
    );
    let before = parsed();
    let output = run(&stdin);
    assert_eq!(output.verdict, Verdict::Passed, "{:?}", output.stderr);
    assert_ne!(output.stdout, stdin);
    parsed() - before
}

const DEST: &str = "\
- apiVersion: apps/v1
  kind: Deployment
  metadata: {name: web}
  spec:
    template:
      spec:
        containers:
        - &c
          name: a
          image: a:1
          args: &x [a]

        initContainers:
        - name: b
          args: *x
";

/// Sources of the same resource, the last of which brings another one.
const SOURCES: &str = "    source:
    - resources:
      - {apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {template: {spec: {containers: [{name: a, image: 'a:2'}, {name: n, image: n}]}}}}
      - {apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {template: {spec: {initContainers: [{name: b, args: [b]}]}}}}
      - {apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {template: {spec: {containers: [{name: a, $patch: delete}]}}}}
";

#[test]
fn stdin_and_what_is_new_are_parsed_once_whatever_is_merged() {
    // The item is new.
    for mode in ["TwoWay", "Strategic"] {
        assert_eq!(parses(DEST, &format!("    mode: {mode}\n{SOURCES}")), 1 + 1, "{mode}");
    }
    let new = "      - {apiVersion: v1, kind: Secret, metadata: {name: new}}\n";
    // Results are a text of the function's own, and the ResourceList is new with them. What comes below the item could change it.
    assert_eq!(parses(DEST, &format!("    mode: TwoWay\n{SOURCES}{new}")), 2 + 3);
}

#[test]
fn each_text_of_a_role_is_parsed_once() {
    let item =
        |value: &str| format!("- apiVersion: v1\n  kind: ConfigMap\n  metadata: {{name: c}}\n  data: {{a: {value}}}\n");
    let text =
        |value: &str| format!("{{apiVersion: v1, kind: ConfigMap, metadata: {{name: c}}, data: {{a: {value}}}}}");
    let spec = |original: &str, updated: &str| {
        format!(
            "    mode: ThreeWay\n    original:\n    - yaml: '{}'\n    updated:\n    - yaml: '{}'\n",
            text(original),
            text(updated)
        )
    };
    // A run of ThreeWay always has results, a text of the function's own, which is read alone, below all else. The item is new.
    assert_eq!(parses(&item("x"), &spec("x", "y")), 4 + 1);
    assert_eq!(
        parses(&item("z"), &spec("x", "y").replacen("ThreeWay\n", "ThreeWay\n    onConflict: TakeUpdated\n", 1)),
        4 + 1
    );
}
