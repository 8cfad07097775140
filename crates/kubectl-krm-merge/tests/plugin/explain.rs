//! `explain`: how each list of a type merges, and who says so.

use std::collections::BTreeSet;

use krm_schema::schema::{Inference, Types, builtin};
use krm_yaml::Document;
use serde_json::{Value, json};

use crate::shared::value_of;
use crate::support::Folder;

const DEFINITION: &str = "\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: things.example.com
spec:
  group: example.com
  names:
    kind: Thing
  versions:
  - name: v1
    served: true
    schema:
      openAPIV3Schema:
        properties:
          spec:
            properties:
              keyed:
                type: array
                x-kubernetes-list-type: map
                x-kubernetes-list-map-keys: [id]
              silent:
                type: array
                items: {type: string}
";

/// The lines that `explain` prints, without blanks that align them.
fn told(folder: &Folder, args: &[&str]) -> Vec<String> {
    let printed = folder.run(&[&["explain"], args].concat()).passed();
    printed.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
}

#[test]
fn each_list_has_its_kind_and_its_source() {
    let folder = Folder::with(&[
        ("here/crd.yaml", DEFINITION),
        (
            "here/thing.yaml",
            "apiVersion: example.com/v1\nkind: Thing\nmetadata:\n  name: a\nspec:\n  free:\n  - name: a\n  env:\n  - name: A\n    value: a\n  other:\n  - x: 1\n",
        ),
    ]);
    assert_eq!(
        told(
            &folder,
            &[
                "thing",
                "spec",
                "-f",
                "here",
                "--merge-keys",
                "apiVersion=example.com/v1,kind=Thing,path=spec.ruled,set=true"
            ]
        ),
        [
            "example.com/v1 Thing",
            "spec.env by name the built-in type that it looks like",
            "spec.free by name inferred from its elements; a patch replaces it",
            "spec.keyed by id the CustomResourceDefinition of the files",
            "spec.other replaced; three-way: element by element no source names it",
            "spec.ruled by value `--merge-keys`",
            "spec.silent replaced; three-way: element by element the CustomResourceDefinition of the files",
        ]
    );
    assert_eq!(
        told(&folder, &["rollout", "spec.template.spec.containers.ports"]),
        [
            "argoproj.io/v1alpha1 rollout",
            "spec.template.spec.containers.ports by containerPort, protocol its public definition",
        ]
    );
    assert_eq!(
        // Kubernetes serves no group `extensions` any more.
        told(&folder, &["deployment", "spec.template.spec.containers.resources"]),
        [
            "apps/v1 Deployment",
            "spec.template.spec.containers.resources.claims by name; in a patch: replaced Kubernetes"
        ]
    );
    assert_eq!(told(&folder, &["kustomization", "configMapGenerator"])[1], "configMapGenerator by name kustomize");
    assert_eq!(
        told(&folder, &["deployment.extensions", "spec.template.spec.containers.args"])[0],
        "extensions/v1beta1 Deployment"
    );
    assert_eq!(
        told(&folder, &["Rollout.v1.argoproj.io", "spec.template.spec.hostAliases"])[1],
        "spec.template.spec.hostAliases by ip its public definition of v1alpha1, the nearest version that is known"
    );
}

/// kubectl takes the built-in type where a stranger's has its name, too.
#[test]
fn a_kind_alone_is_the_built_in_type_or_that_of_another_project_of_kubernetes() {
    let folder = Folder::new();
    for (kind, want) in [
        ("Secret", "v1 Secret"),
        ("role", "rbac.authorization.k8s.io/v1 Role"),
        ("Job", "batch/v1 Job"),
        ("HTTPRoute", "gateway.networking.k8s.io/v1 HTTPRoute"),
        ("HTTPRoute.policy.linkerd.io", "policy.linkerd.io/v1 HTTPRoute"),
        ("Kptfile", "kpt.dev/v1 Kptfile"),
        ("kustomization.kustomize.config.k8s.io", "kustomize.config.k8s.io/v1beta1 Kustomization"),
    ] {
        assert_eq!(told(&folder, &[kind])[0], want, "{kind}");
    }
}

/// Its name tells the type of a file that has no kind.
#[test]
fn a_file_may_be_asked_for_by_its_name() {
    let folder = Folder::new();
    for (name, kind, list) in [
        (
            "charts/web/Chart.yaml",
            "file Chart",
            "dependencies replaced; three-way: element by element, named by alias or name",
        ),
        ("compose.yaml", "file Compose", "services.*.environment replaced; three-way: element by element, named by"),
        (
            "a/kustomization.yml",
            "kustomize.config.k8s.io/v1beta1 Kustomization",
            "resources replaced; three-way: element by element",
        ),
    ] {
        let lines = told(&folder, &[name]);
        assert_eq!(lines[0], kind);
        assert!(lines[1..].iter().any(|line| line.starts_with(list)), "{name}: {lines:?}");
    }
}

/// A list of a type, as `explain` shows it.
struct Shown {
    path: Vec<String>,
    /// `None` if it has no merge keys; no key is the value itself.
    keys: Option<Vec<String>>,
}

impl Shown {
    fn of(line: &str) -> Self {
        let (path, how) = line.split_once(' ').expect("a path");
        let how = how.trim().split("  ").next().unwrap_or_default();
        let keys = how.split(';').next().and_then(|how| how.strip_prefix("by ")).map(|keys| match keys {
            "value" => Vec::new(),
            keys => keys.split(", ").map(str::to_owned).collect(),
        });
        Self { path: path.split('.').map(str::to_owned).collect(), keys }
    }

    /// Its values on the three sides: dest and updated change one element of original in two fields, and each adds one; updated removes one.
    fn sides(&self) -> [Value; 3] {
        match &self.keys {
            Some(keys) if keys.is_empty() => [json!(["A", "B"]), json!(["C", "A", "B"]), json!(["A", "C", "E"])],
            Some(keys) => {
                let element = |name: &str, own: Value| {
                    let of_keys = keys.iter().map(|key| (key.clone(), name.into()));
                    Value::Object(of_keys.chain(own.as_object().cloned().into_iter().flatten()).collect())
                };
                let plain = |name| element(name, json!({}));
                [
                    json!([element("A", json!({"xa": 1, "xb": 1})), plain("B")]),
                    json!([element("A", json!({"xa": 2, "xb": 1})), plain("B"), plain("C")]),
                    json!([element("A", json!({"xa": 1, "xb": 2})), plain("E")]),
                ]
            }
            None => [json!(["A", "B", "C", "D"]), json!(["A2", "B", "C", "D"]), json!(["A", "B", "C", "D2"])],
        }
    }

    /// Whether a list is what the merge of these values by these keys is, in any order of the elements.
    fn is_merged(&self, list: &Value) -> bool {
        let list = list.as_array().cloned().unwrap_or_default();
        let Some(keys) = &self.keys else { return list == ["A2", "B", "C", "D2"].map(Value::from) };
        let name = |element: &Value| match keys.first() {
            Some(key) => element[key].as_str().unwrap_or_default().to_owned(),
            None => element.as_str().unwrap_or_default().to_owned(),
        };
        let mut names: Vec<String> = list.iter().map(name).collect();
        names.sort();
        let has_both = list.iter().any(|element| [&element["xa"], &element["xb"]] == [&json!(2), &json!(2)]);
        names == ["A", "C", "E"] && (has_both || keys.is_empty())
    }
}

/// The value at a path; in a list that merges, that of the first element, which all sides have.
fn at<'v>(root: &'v mut Value, path: &[String], lists: &[Shown]) -> &'v mut Value {
    let mut value = root;
    for (i, name) in path.iter().enumerate() {
        value = &mut value[if name == "*" { "any" } else { name }];
        if i + 1 < path.len() && lists.iter().any(|list| list.path == path[..=i]) {
            value = &mut value[0];
        }
    }
    value
}

/// Every list of the built-in types and of a hundred others merges as `explain` says.
#[test]
fn the_merge_does_what_is_said() {
    let folder = Folder::in_memory();
    let types = Types::new([], Inference::On);
    let all: BTreeSet<(String, String)> = types.kinds().iter().flat_map(|kind| types.named(kind)).collect();
    let (built_in, others): (Vec<_>, Vec<_>) =
        all.into_iter().partition(|(api_version, kind)| builtin::root(api_version, kind).is_some());
    let step = others.len() / 100;
    let all: Vec<(String, String)> = built_in.into_iter().chain(others.into_iter().step_by(step)).collect();
    let (mut texts, mut types) = ([const { String::new() }; 3], Vec::new());
    for (number, (api_version, kind)) in all.into_iter().enumerate() {
        let (group, version) = api_version.split_once('/').unwrap_or(("", &api_version));
        let name = format!("{kind}.{version}.{group}");
        let ran = folder.run(&["explain", name.trim_end_matches('.')]);
        if ran.stderr.contains("must be that of a list") {
            continue;
        }
        let printed = ran.passed();
        let lists: Vec<Shown> = printed.lines().skip(1).map(Shown::of).collect();
        let mut lists: Vec<Shown> = lists.into_iter().filter(|list| list.path[0] != "metadata").collect();
        lists.sort_by_key(|list| list.path.len());
        let merges = |path: &[String]| {
            lists.iter().all(|list| list.path != path || list.keys.as_ref().is_some_and(|keys| !keys.is_empty()))
        };
        let is_reached = |list: &&Shown| (1..list.path.len()).all(|end| merges(&list.path[..end]));
        let metadata = json!({"name": format!("n{number}")});
        let mut sides = [(); 3].map(|()| json!({"apiVersion": api_version, "kind": kind, "metadata": metadata}));
        let reached: Vec<usize> = (0..lists.len()).filter(|i| is_reached(&&lists[*i])).collect();
        for i in &reached {
            for (side, value) in sides.iter_mut().zip(lists[*i].sides()) {
                *at(side, &lists[*i].path, &lists) = value;
            }
        }
        for (text, side) in texts.iter_mut().zip(&sides) {
            text.push_str(&format!("---\n{side}\n"));
        }
        types.push((number, name, lists, reached));
    }
    for (side, text) in ["original.yaml", "dest.yaml", "updated.yaml"].into_iter().zip(&texts) {
        folder.write(side, text);
    }
    let merge =
        ["three-way", "--original", "original.yaml", "--updated", "updated.yaml", "--dest", "dest.yaml", "--in-place"];
    assert_eq!(folder.run(&merge).code, Some(0));
    let merged = Document::parse(folder.read("dest.yaml")).expect("YAML");
    let mut merged: Vec<Value> = merged.roots().map(value_of).collect();
    let mut checked = 0;
    for (number, name, lists, reached) in types {
        let own = merged.iter_mut().find(|value| value["metadata"]["name"] == *format!("n{number}")).expect("merged");
        for i in reached {
            let value = at(own, &lists[i].path, &lists).clone();
            assert!(lists[i].is_merged(&value), "{name} {} {value}", lists[i].path.join("."));
            checked += 1;
        }
    }
    assert!(checked > 2000, "{checked}");
}

#[test]
fn a_path_may_be_one_that_messages_print() {
    let folder = Folder::new();
    let args = "spec.template.spec.containers.args";
    for path in [
        args,
        "spec.template.spec.containers[name=app].args",
        "spec.template.spec.containers[0].args[1]",
        "spec.template.spec.containers[*].args",
        "spec.template.spec.*.args",
    ] {
        let lines = told(&folder, &["Deployment", path]);
        assert!(lines[1..].iter().any(|line| line.starts_with(args)), "{path}: {lines:?}");
    }
    let all = told(&folder, &["Deployment", "spec.template.spec.containers[name=app]"]);
    assert!(all[1..].iter().all(|line| line.starts_with("spec.template.spec.containers")), "{all:?}");
    let error = folder.run(&["explain", "Deployment", "spec.[a"]).failed(2);
    assert!(error.contains("`PATH` is no path"), "{error}");
}

#[test]
fn what_is_not_known_is_said() {
    let folder = Folder::new();
    for (args, want) in [
        (&["nothing"][..], "no type \"nothing\" is known"),
        (&["event"], "must name one type, not several: write `event.v1` or `event.events.k8s.io`"),
        (&["rollout", "spec.nowhere"], "`PATH` must be that of a list of `argoproj.io/v1alpha1 rollout`"),
    ] {
        let error = folder.run(&[&["explain"], args].concat()).failed(2);
        assert!(error.contains(want), "{error}");
    }
    assert_eq!(told(&folder, &["event.v1"])[0], "v1 Event");
}
