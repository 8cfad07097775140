//! The KRMFunctionDefinition: the function as the registry of KRM functions describes it.

use super::{KIND, openapi_schema};

/// The KRMFunctionDefinition of the function: what `functions/merge/function.yaml` holds.
///
/// It has all fields that the KRM functions registry requires of a definition, as its schema lists them.
pub fn definition() -> serde_json::Value {
    let page = |folder: &str| format!("{HOME}/blob/main/{folder}/README.md");
    serde_json::json!({
        "apiVersion": "config.kubernetes.io/v1alpha1",
        "kind": "KRMFunctionDefinition",
        "metadata": {"name": "merge"},
        "spec": {
            "group": "krm-merge.dev",
            "names": {"kind": KIND},
            "description": "Merges Kubernetes resources: two-way, three-way, or by strategic merge patch.",
            "publisher": "krm-merge.dev",
            "home": HOME,
            "maintainers": ["krm-merge maintainers"],
            "tags": ["mutator"],
            "versions": [{
                "name": "v1alpha1",
                // A second run is an error if it selects sides that the first run consumed. It may add a line again that a text has twice.
                "idempotent": false,
                "usage": page("functions/merge"),
                "examples": EXAMPLES.map(|name| page(&format!("examples/merge-{name}"))),
                "license": "Apache 2.0",
                "runtime": {"container": {
                    "image": "ghcr.io/krm-merge/krm-merge",
                    "requireNetwork": false,
                    "requireStorageMount": false,
                }},
                "schema": {"openAPIV3Schema": openapi_schema()},
            }],
        },
    })
}

/// The URL of the repository.
const HOME: &str = env!("CARGO_PKG_REPOSITORY");

/// The packages in examples/, without the prefix that all of them share.
const EXAMPLES: [&str; 8] = [
    "inline",
    "kustomize-legacy-plugin",
    "kustomize-transformer",
    "strategic",
    "strategic-crd",
    "three-way",
    "three-way-conflict",
    "two-way",
];
