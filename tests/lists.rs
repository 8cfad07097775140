//! Lists of resources among the items: what stands in one is merged there, and stays in it.

mod support;

use support::{fails, indent, items_of, passes, resource_list, results};

/// A list of this kind with these elements, as an item of a package.
fn list(kind: &str, path: &str, elements: &[String]) -> String {
    let elements: String = elements.iter().map(|e| format!("  - {}", indent(e, 4).trim_start())).collect();
    format!(
        "# head\n- apiVersion: v1\n  kind: {kind}\n  metadata:\n    annotations:\n      config.kubernetes.io/path: {path}\n      config.kubernetes.io/index: '0'\n  items: # all\n{elements}"
    )
}

fn map(name: &str, data: &str) -> String {
    format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}}}\ndata:\n  k:   {data} # why\n")
}

/// An element that leaves its type to its list.
fn bare(name: &str, data: &str) -> String {
    map(name, data).replace("apiVersion: v1\nkind: ConfigMap\n", "")
}

fn source(data: &str) -> String {
    format!(
        "mode: TwoWay\nsource:\n- resources:\n  - {{apiVersion: v1, kind: ConfigMap, metadata: {{name: b}}, data: {{k: {data}}}}}\n"
    )
}

#[test]
fn an_element_is_merged_where_it_stands() {
    for kind in ["List", "ConfigMapList", "ThingList"] {
        let inner = format!("apiVersion: v1\nkind: List\nitems:\n- {}", indent(&map("b", "1"), 2).trim_start());
        for elements in [vec![map("a", "1"), map("b", "1")], vec![map("a", "1"), inner]] {
            let items = format!("{}- {}", list(kind, "all.yaml", &elements), indent(&map("z", "1"), 2).trim_start());
            let at = items.find("name: b}").expect("b");
            let want = format!("{}{}", &items[..at], items[at..].replacen("k:   1", "k:   2", 1));
            let output = passes(&resource_list(&items, &source("2"))).stdout;
            assert_eq!(items_of(&output), want);
            assert_eq!(results(&output), []);
        }
    }
    let items = list("ConfigMapList", "all.yaml", &[bare("a", "1"), bare("b", "1")]);
    let output = passes(&resource_list(&items, &source("2").replace("TwoWay", "Strategic"))).stdout;
    let at = items.find("name: b}").expect("b");
    let says = "      kind: ConfigMap\n    apiVersion: v1\n";
    assert_eq!(items_of(&output), format!("{}{}", &items[..at], items[at..].replacen("k:   1", "k:   2", 1)), "{says}");
}

#[test]
fn a_target_selects_elements_by_the_type_that_their_list_gives() {
    let items = list("ConfigMapList", "all.yaml", &[bare("a", "1"), bare("b", "1")]);
    for (kind, name) in [("ConfigMap", "b"), ("Config.*", "b"), ("ConfigMap", "[^a]")] {
        let target = format!("target: {{version: v1, kind: {kind}, name: '{name}'}}");
        let spec = format!("mode: Strategic\nsource:\n- {target}\n  yaml: |\n    data: {{k: 2}}\n");
        let at = items.find("name: b}").expect("b");
        let want = format!("{}{}", &items[..at], items[at..].replacen("k:   1", "k:   2", 1));
        assert_eq!(items_of(&passes(&resource_list(&items, &spec)).stdout), want, "{target}");
    }
}

#[test]
fn an_element_that_goes_leaves_the_others_and_the_last_one_takes_its_list_along() {
    let delete = "mode: TwoWay\nsource:\n- resources:\n  - {apiVersion: v1, kind: ConfigMap, metadata: {name: b}, $patch: delete}\n";
    let items = list("List", "all.yaml", &[map("a", "1"), map("b", "1"), map("c", "1")]);
    let output = passes(&resource_list(&items, delete)).stdout;
    assert_eq!(items_of(&output), list("List", "all.yaml", &[map("a", "1"), map("c", "1")]));
    let other = "- apiVersion: v1\n  kind: ConfigMap\n  metadata: {name: z}\n";
    let items = format!("{}{other}", list("List", "all.yaml", &[map("b", "1")]));
    assert_eq!(items_of(&passes(&resource_list(&items, delete)).stdout), other);
}

#[test]
fn a_list_plays_the_role_of_its_file() {
    let upstream = |release: &str, data: &str, more: &[String]| {
        list("ConfigMapList", &format!("up/{release}/all.yaml"), &[&[bare("b", data)], more].concat())
    };
    let here = list("ConfigMapList", "all.yaml", &[bare("a", "9"), bare("b", "1")]);
    let sides = format!("{}{}", upstream("v1", "1", &[]), upstream("v2", "2", &[bare("n", "1")]));
    let spec = "mode: ThreeWay\noriginal: [{path: up/v1}]\nupdated: [{path: up/v2}]\n";
    let output = passes(&resource_list(&format!("{here}{sides}"), spec)).stdout;
    assert_eq!(
        results(&output),
        [("info".to_owned(), "1 merged, 1 added, 0 deleted, 1 unchanged; 0 conflicts".to_owned())]
    );
    // What is new says itself what it is, for it stands in no list.
    let new = "- apiVersion: v1\n  kind: ConfigMap\n  metadata: {name: n, annotations: {internal.config.kubernetes.io/path: all.yaml}}\n  data:\n    k:   1 # why\n";
    let want = format!("{}{sides}{new}", list("ConfigMapList", "all.yaml", &[bare("a", "9"), bare("b", "2")]));
    assert_eq!(items_of(&output), want);
    // Consumed with all that is in it, by its path and by its annotation.
    let consumed = spec.replace("}]", ", keep: false}]");
    let output = passes(&resource_list(&format!("{here}{sides}"), &consumed)).stdout;
    assert!(!output.contains("up/v1/all.yaml"), "{output}");
    let marked = |role: &str, text: String| {
        text.replace("annotations:\n", &format!("annotations:\n      config.kubernetes.io/merge-source: {role}\n"))
    };
    let items = format!(
        "{here}{}{}",
        marked("original", upstream("v1", "1", &[])),
        marked("updated", upstream("v2", "2", &[]))
    );
    let output = passes(&resource_list(&items, "mode: ThreeWay\n")).stdout;
    assert_eq!(items_of(&output), list("ConfigMapList", "all.yaml", &[bare("a", "9"), bare("b", "2")]));
}

#[test]
fn a_source_may_be_a_list() {
    let dest = format!("- {}", indent(&map("b", "1"), 2).trim_start());
    let yaml = "mode: TwoWay\nsource:\n- yaml: |\n    apiVersion: v1\n    kind: ConfigMapList\n    items:\n    - metadata: {name: b}\n      data: {k: '2'}\n";
    let output = passes(&resource_list(&dest, yaml)).stdout;
    assert_eq!(items_of(&output), dest.replace("k:   1", "k:   '2'"));
    let objects = "mode: TwoWay\nsource:\n- resources:\n  - {apiVersion: v1, kind: List, items: [{apiVersion: v1, kind: ConfigMap, metadata: {name: b}, data: {k: 2}}]}\n";
    let output = passes(&resource_list(&dest, objects)).stdout;
    assert_eq!(items_of(&output), dest.replace("k:   1", "k:   2"));
}

#[test]
fn a_place_in_a_list_is_named_by_its_field() {
    let items = list("List", "all.yaml", &[map("a", "1"), map("b", "1"), map("b", "2")]);
    let error = fails(&resource_list(&items, &source("3")));
    for part in ["`items[0].items[1]` (all.yaml)", "`items[0].items[2]` (all.yaml)"] {
        assert!(error.contains(part), "{error}");
    }
}
