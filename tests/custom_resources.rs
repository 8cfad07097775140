//! Custom resources merge as their maintainers document, without their definitions in the package: by the atlas, by shape, and with a
//! warning where an unknown list loses elements.

#[path = "support/custom_resources.rs"]
mod custom_resources;
mod support;

use krm_yaml::Document;
use serde_json::Value;

use custom_resources::{CASES, Case};
use support::{items, items_of, passes, resource_list, results, side, value_of};

/// The spec of the only item, as a value.
fn spec_of(stdout: &str) -> Value {
    let document = Document::parse(items_of(stdout)).expect("YAML");
    value_of(document.roots().next().expect("a root"))[0]["spec"].clone()
}

fn value(text: &str) -> Value {
    value_of(Document::parse(text).expect("YAML").roots().next().expect("a root"))
}

#[test]
fn patches_merge_as_the_maintainers_say() {
    for case in CASES {
        let Case { of, source, original, patch, .. } = case;
        for (mode, want) in [("TwoWay", case.two_way), ("Strategic", case.strategic)] {
            let spec = format!("mode: {mode}\n{}", side("source", &case.resource(patch)));
            let stdout = passes(&resource_list(&items(&case.resource(original)), &spec)).stdout;
            assert_eq!(spec_of(&stdout), value(want), "{mode} {of}: {source}\n{stdout}");
            // A list that has no key, as that of the addresses of a Gateway, is told with the edit that adds to it.
            let is_of_keys = |r: &(String, String)| r.0 == "warning" && !r.1.contains("use `edits` with `{append: ");
            let warnings: Vec<String> = results(&stdout).into_iter().filter(is_of_keys).map(|r| r.1).collect();
            assert_eq!(warnings.len(), case.warned.len(), "{mode} {of}: {warnings:?}");
            for (warning, (path, key)) in warnings.iter().zip(case.warned) {
                let (api_version, kind) = of.split_once(' ').expect("apiVersion and kind");
                let line = format!("{{apiVersion: {api_version}, kind: {kind}, path: {path}, keys: [{key}]}}");
                assert!(warning.contains(&line), "{warning}");
            }
        }
    }
}

#[test]
fn upgrades_merge_as_the_maintainers_say() {
    for case in CASES {
        let Case { of, source, original, ours, theirs, merged, .. } = case;
        let sides = [("original", original), ("updated", theirs)].map(|(role, spec)| side(role, &case.resource(spec)));
        let spec = format!("mode: ThreeWay\n{}{}", sides[0], sides[1]);
        let stdout = passes(&resource_list(&items(&case.resource(ours)), &spec)).stdout;
        assert_eq!(spec_of(&stdout), value(merged), "{of}: {source}\n{stdout}");
        assert!(stdout.contains("; 0 conflicts"), "{of}: {stdout}");
    }
}

#[test]
fn a_result_says_once_for_each_type_who_named_the_keys() {
    let rollout = |name: &str, version: &str, spec: &str| {
        format!("apiVersion: argoproj.io/{version}\nkind: Rollout\nmetadata: {{name: {name}}}\nspec: {spec}\n")
    };
    let dest = "{template: {spec: {containers: [{name: app, image: i}], volumes: [{name: v, emptyDir: {}}]}}, list: [{name: a}]}";
    let patch = "{template: {spec: {containers: [{name: app, image: j}], volumes: [{name: w, emptyDir: {}}]}}, list: [{name: b}]}";
    let told = |mode: &str, version: &str, patch: &str| -> Vec<String> {
        let of = |spec: &str| format!("{}---\n{}", rollout("a", version, spec), rollout("b", version, spec));
        let spec = format!("mode: {mode}\n{}", side("source", &of(patch)));
        let output = passes(&resource_list(&items(&of(dest)), &spec));
        results(&output.stdout).into_iter().map(|r| r.1).filter(|m| m.starts_with("lists of")).collect()
    };
    let by_definition = "(`spec.template.spec.containers` by `name`)";
    let by_shape = "as the built-in types that they look like (`spec.template.spec.volumes` by `name`)";
    let name = |version: &str| format!("lists of `argoproj.io/{version} Rollout` merged as");
    assert_eq!(
        told("Strategic", "v1alpha1", patch),
        [format!("{} its public definition declares {by_definition}, and {by_shape}", name("v1alpha1"))]
    );
    assert_eq!(
        told("Strategic", "v1beta7", patch),
        [format!(
            "{} the public definition of v1alpha1 declares, the nearest version that is known {by_definition}, and {by_shape}",
            name("v1beta7")
        )]
    );
    assert_eq!(
        told("TwoWay", "v1alpha1", patch),
        [format!(
            "{} its public definition declares {by_definition}, and {by_shape}, and by a key that all elements have (`spec.list` by `name`)",
            name("v1alpha1")
        )]
    );
    // What every unknown type does is nothing to tell.
    assert_eq!(told("TwoWay", "v1alpha1", "{list: [{name: b}]}"), [""; 0]);
    assert_eq!(told("Strategic", "v1alpha1", "{paused: true}"), [""; 0]);
}
