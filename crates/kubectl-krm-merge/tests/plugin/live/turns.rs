//! Several appliers of one object take turns: kubectl on the server's side, `live`, and a controller such as Flux.

use std::process::Command;

use serde_json::{Value, json};

use super::stand_in::StandIn;
use super::{folder, run};
use crate::support::{Folder, Ran, has};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Applier {
    Kubectl,
    Live,
    Flux,
}

use Applier::{Flux, Kubectl, Live};

/// What all of them apply.
fn shared() -> Value {
    json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web", "namespace": "prod", "labels": {"app": "web"}},
        "spec": {"replicas": 2, "containers": [{"name": "app", "image": "web:1", "args": ["-v"]}]},
    })
}

/// The same with what one of them adds.
fn with_own(name: &str, turn: usize) -> Value {
    let mut object = shared();
    object["metadata"]["labels"][name] = json!(turn.to_string());
    let own = json!({"name": name, "image": format!("{name}:{turn}")});
    object["spec"]["containers"].as_array_mut().expect("a list").push(own);
    object
}

fn kubectl(folder: &Folder, object: &Value, way: &[&str]) -> Ran {
    folder.write("kubectl.yaml", object.to_string());
    let mut command = Command::new(std::env::var("KUBECTL").unwrap_or_else(|_| "kubectl".to_owned()));
    command.args(["apply", "--validate=false", "--kubeconfig"]).arg(folder.path("kubeconfig")).args(way);
    command.arg("--cache-dir").arg(folder.path("cache")).arg("-f").arg(folder.path("kubectl.yaml"));
    Ran::of(command.output().expect("kubectl runs"))
}

const ORDERS: [[Applier; 3]; 6] = [
    [Kubectl, Live, Flux],
    [Kubectl, Flux, Live],
    [Live, Kubectl, Flux],
    [Live, Flux, Kubectl],
    [Flux, Kubectl, Live],
    [Flux, Live, Kubectl],
];

#[test]
fn on_the_server_s_side_each_keeps_its_fields() {
    if !has("kubectl") {
        return;
    }
    for (order, is_noted) in ORDERS.into_iter().flat_map(|order| [(order, false), (order, true)]) {
        let server = StandIn::new(&[]);
        let folder = folder(&server.server, &[]);
        if is_noted {
            let _ = kubectl(&folder, &shared(), &[]).passed();
        }
        let mut last: [Option<usize>; 3] = [None; 3];
        for (turn, applier) in (1..=3).flat_map(|turn| order.map(|applier| (turn, applier))) {
            let name = format!("{applier:?}").to_lowercase();
            let object = with_own(&name, turn);
            let ran = match applier {
                Kubectl => Some(kubectl(&folder, &object, &["--server-side"])),
                Live => {
                    folder.write("live.yaml", object.to_string());
                    Some(run(&folder, &["-f", "live.yaml", "--server-side", "--apply"]))
                }
                Flux => {
                    server.apply(&object, "kustomize-controller");
                    None
                }
            };
            if let Some(ran) = ran {
                let goes_over = is_noted && turn == 1 && applier == Live && ran.stderr.contains("its fields go over");
                assert!(
                    ran.code == Some(0) && (ran.stderr.is_empty() || goes_over),
                    "{order:?} {turn} {applier:?} {ran:?}"
                );
            }
            last[applier as usize] = Some(turn);
            if applier == Live {
                let before = server.server.asked().len();
                let ran = run(&folder, &["-f", "live.yaml", "--server-side", "--apply", "--exit-code"]);
                assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr.as_str()), (Some(0), "", ""), "{order:?} {turn}");
                let asked = server.server.asked().split_off(before);
                assert!(asked.iter().all(|asked| asked.line.starts_with("GET ")), "{asked:?}");
            }
            let now = server.object("Deployment", "web").expect("it");
            let containers = now["spec"]["containers"].as_array().expect("a list");
            let image = |name: &str| Some(containers.iter().find(|c| c["name"] == name)?["image"].clone());
            assert_eq!((image("app"), &now["spec"]["replicas"]), (Some(json!("web:1")), &json!(2)));
            for (applier, turn) in [Kubectl, Live, Flux].into_iter().zip(last) {
                let name = format!("{applier:?}").to_lowercase();
                let want = turn.map(|turn| json!(format!("{name}:{turn}")));
                assert_eq!(image(&name), want, "{order:?}: {applier:?} after {turn:?}");
                let label = now["metadata"]["labels"].get(&name);
                assert_eq!(label, turn.map(|turn| json!(turn.to_string())).as_ref());
            }
        }
    }
}

/// Without `--server-side`, all apply the same files, and Flux adds its labels. kubectl removes the note on the server's side, so `live` writes it
/// again, and nothing else.
#[test]
fn without_it_only_the_note_is_sent_again_and_marks_stay() {
    if !has("kubectl") {
        return;
    }
    for order in ORDERS {
        let server = StandIn::new(&[]);
        let folder = folder(&server.server, &[("live.yaml", &shared().to_string())]);
        let mut by_flux = shared();
        by_flux["metadata"]["labels"]["kustomize.toolkit.fluxcd.io/name"] = json!("apps");
        for (turn, applier) in (1..=3).flat_map(|turn| order.map(|applier| (turn, applier))) {
            match applier {
                Kubectl => {
                    let ran = kubectl(&folder, &shared(), &["--server-side"]);
                    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""), "{order:?} {turn} {ran:?}");
                }
                Live => {
                    let before = server.server.sent().len();
                    let ran = run(&folder, &["-f", "live.yaml", "--apply"]);
                    // Where two others applied it and kubectl removed the note, nobody knows what was applied last.
                    let is_known =
                        ran.stderr.is_empty() || ran.stderr.contains("it has no last-applied-configuration annotation");
                    assert!(
                        ran.code == Some(0) && is_known && !ran.stdout.contains("onflict"),
                        "{order:?} {turn} {ran:?}"
                    );
                    let sent = server.server.sent().split_off(before);
                    for (_, patch) in sent.iter().filter(|_| turn > 1) {
                        let fields: Vec<&String> = patch.as_object().expect("a map").keys().collect();
                        let metadata: Vec<&String> = patch["metadata"].as_object().expect("a map").keys().collect();
                        assert_eq!(fields, ["metadata"], "{order:?} {turn} {patch}");
                        assert_eq!(metadata, ["annotations", "resourceVersion"], "{order:?} {turn} {patch}");
                    }
                }
                Flux => server.apply(&by_flux, "kustomize-controller"),
            }
        }
        let now = server.object("Deployment", "web").expect("it");
        assert_eq!(now["spec"], shared()["spec"], "{order:?}");
        assert_eq!(now["metadata"]["labels"], by_flux["metadata"]["labels"], "{order:?}");
    }
}
