//! Nothing is quadratic: `live` does work in proportion to an object, where its conflicts are many.

use serde_json::{Map, Value, json};

use super::{Answer, Answers, Server, folder, types};
use crate::counts::{Run, grows_with_the_input};
use crate::support::{PLUGIN, has};

/// A ConfigMap with one field in conflict for each number below `n`.
fn map(n: usize, value: &str) -> Value {
    let data: Map<String, Value> = (0..n).map(|i| (format!("k{i}"), json!(value))).collect();
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "m", "namespace": "prod"}, "data": data})
}

#[test]
fn conflicts_in_one_object() {
    if !has("valgrind") {
        return;
    }
    // With fewer, the lines that differ are found by a search that is quadratic on purpose.
    let n = 125;
    let clusters = [n, 2 * n, 4 * n].map(|n| {
        let mut live = map(n, "live");
        let applied = map(n, "original").to_string();
        live["metadata"]["resourceVersion"] = json!("1");
        live["metadata"]["annotations"] = json!({"kubectl.kubernetes.io/last-applied-configuration": applied});
        let server = Server::new(Answers::from([
            ("GET /api/v1".to_owned(), types(&[("ConfigMap", "configmaps", true)])),
            ("GET /api/v1/namespaces/prod/configmaps/m".to_owned(), Answer::Json(200, live)),
        ]));
        let folder = folder(&server, &[("m.yaml", &map(n, "updated").to_string())]);
        let conflicts = super::run(&folder, &["-f", "m.yaml"]).passed().matches("conflict: ").count();
        assert_eq!(conflicts, n);
        (n, folder)
    });
    grows_with_the_input(n, |n| Run {
        program: PLUGIN,
        args: ["live", "-f", "m.yaml", "--kubeconfig", "kubeconfig", "--timeout", "600"].map(str::to_owned).to_vec(),
        folder: clusters.iter().find(|(size, _)| *size == n).map(|(_, folder)| folder.0.clone()),
        stdin: String::new(),
        code: 0,
    });
}
