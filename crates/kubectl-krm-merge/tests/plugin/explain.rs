//! `explain`: how each list of a type merges, and who says so.

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
        (&["nothing"][..], "\"nothing\" must be a type that is known"),
        (&["event"], "must name one type, and there are `event`, `event.events.k8s.io`"),
        (&["rollout", "spec.nowhere"], "`PATH` must be that of a list of `argoproj.io/v1alpha1 rollout`"),
    ] {
        let error = folder.run(&[&["explain"], args].concat()).failed(2);
        assert!(error.contains(want), "{error}");
    }
}
