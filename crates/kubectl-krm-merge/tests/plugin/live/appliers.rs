//! Appliers take turns at one object: what it has after three of them, beside what it has where kubectl takes each turn of `live`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use super::stand_in::{StandIn, State};
use super::{folder, run};
use crate::support::{Folder, Ran, has};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Applier {
    /// `kubectl create`.
    Create,
    /// `helm install` of Helm 3.
    Helm,
    /// `kubectl apply` under a name of its own.
    Ci,
    /// `kubectl apply`.
    Kubectl,
    /// `kubectl apply --server-side`.
    KubectlServer,
    Live,
    /// `live --server-side`.
    LiveServer,
    /// A controller that applies the whole object on the server's side.
    Flux,
    /// A controller that applies one label.
    Injector,
}

use Applier::{Ci, Create, Flux, Helm, Injector, Kubectl, KubectlServer, Live, LiveServer};

const FIRST: [Applier; 8] = [Create, Helm, Ci, Kubectl, KubectlServer, Live, LiveServer, Flux];
const LATER: [Applier; 6] = [Kubectl, KubectlServer, Live, LiveServer, Flux, Injector];

impl Applier {
    fn name(self) -> &'static str {
        match self {
            Create => "create",
            Helm => "helm",
            Ci => "ci",
            Kubectl => "kubectl",
            KubectlServer => "kubectl-server",
            Live => "live",
            LiveServer => "live-server",
            Flux => "flux",
            Injector => "injector",
        }
    }

    fn is_live(self) -> bool {
        matches!(self, Live | LiveServer)
    }
}

fn named(turns: &[Applier]) -> String {
    turns.iter().map(|turn| turn.name()).collect::<Vec<_>>().join(" ")
}

/// What is applied in a turn: some fields change in each, some are only in one, and one is in the first two.
fn version(turn: usize) -> Value {
    let own = format!("only{turn}");
    let mut object = json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web", "namespace": "prod", "labels": {"app": "web", &own: "x"}},
        "spec": {"replicas": turn, "template": {"spec": {"containers": [
            {"name": "app", "image": format!("app:{turn}"), "args": ["-v", turn.to_string()]}, {"name": own, "image": "x"},
        ]}}},
    });
    if turn < 3 {
        object["metadata"]["labels"]["old"] = json!("x");
    }
    object
}

/// What an object has, in few words: the turn whose values it has, and what is left of other turns.
fn seen(object: &Value, turn: usize) -> String {
    let spec = &object["spec"];
    let containers = spec["template"]["spec"]["containers"].as_array().cloned().unwrap_or_default();
    let app = containers.iter().find(|c| c["name"] == "app").cloned().unwrap_or_default();
    let labels = object["metadata"]["labels"].as_object().cloned().unwrap_or_default();
    let only = |name: &str| name.strip_prefix("only").map(str::to_owned);
    let of_labels: BTreeSet<String> = labels.keys().filter_map(|name| only(name)).collect();
    let of_containers: BTreeSet<String> = containers.iter().filter_map(|c| only(c["name"].as_str()?)).collect();
    // An injector has no turn of its own.
    let has = spec["replicas"].as_u64().unwrap_or_default().to_string();
    assert_eq!((&app["image"], &app["args"]), (&json!(format!("app:{has}")), &json!(["-v", has])), "{object}");
    let mut left: Vec<&str> = of_labels.iter().map(String::as_str).filter(|only| *only != has).collect();
    assert_eq!(of_labels, of_containers, "{object}");
    left.extend((turn == 3 && has == "3" && labels.contains_key("old")).then_some("old"));
    let left = if left.is_empty() { String::new() } else { format!(", left {}", left.join("+")) };
    let injected = if labels.contains_key("injected") { ", injected" } else { "" };
    format!("{has}{left}{injected}")
}

/// Who owns what was applied last.
fn owners(object: &Value) -> String {
    let entries = object["metadata"]["managedFields"].as_array().into_iter().flatten();
    let owns = |entry: &&Value| !entry["fieldsV1"]["f:spec"]["f:replicas"].is_null();
    let all: BTreeSet<&str> = entries
        .filter(owns)
        .map(|entry| match (entry["manager"].as_str().unwrap_or_default(), entry["operation"].as_str()) {
            ("krm-merge", Some("Apply")) => "live-server",
            ("krm-merge", _) => "live",
            ("kubectl", _) => "kubectl-server",
            ("kubectl-client-side-apply", _) => "kubectl",
            (other, _) => other,
        })
        .collect();
    all.into_iter().collect::<Vec<_>>().join("+")
}

/// Which program takes the turns of `live`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Program {
    Live,
    /// kubectl, under the name of `live`.
    Kubectl,
}

struct Bench {
    program: Program,
    server: StandIn,
    folder: Folder,
    ends: BTreeMap<Vec<Applier>, String>,
}

impl Bench {
    fn new(program: Program) -> Self {
        let server = StandIn::new(&[]);
        let folder = folder(&server.server, &[]);
        Self { program, server, folder, ends: BTreeMap::new() }
    }

    /// Takes the last one of some turns, and then those that may follow.
    fn turns(&mut self, turns: &[Applier], before: &State) {
        self.server.go_back(before);
        let refused = if self.turn(turns[turns.len() - 1], turns.len()) { "refused, then forced: " } else { "" };
        let object = self.server.object("Deployment", "web").expect("it");
        self.ends.insert(turns.to_vec(), format!("{refused}{}, of {}", seen(&object, turns.len()), owners(&object)));
        if turns.len() < 3 {
            let now = self.server.state();
            let is_ours = turns.iter().any(|turn| turn.is_live());
            let next = LATER.iter().filter(|next| turns.len() < 2 || is_ours || next.is_live());
            next.for_each(|next| self.turns(&[turns, &[*next]].concat(), &now));
        }
    }

    /// Takes a turn. Says whether it was refused at first.
    fn turn(&self, applier: Applier, turn: usize) -> bool {
        let object = version(turn);
        self.folder.write("web.yaml", object.to_string());
        match applier {
            Create => self.server.create(&object, "kubectl-create"),
            Helm => {
                let mut marked = object;
                marked["metadata"]["annotations"] = json!({"meta.helm.sh/release-name": "web"});
                self.server.create(&marked, "helm");
            }
            Flux => self.server.apply(&object, "kustomize-controller"),
            Injector => {
                let label = json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web", "namespace": "prod", "labels": {"injected": "yes"}}});
                self.server.apply(&label, "injector");
            }
            Ci => return self.kubectl(&["--field-manager", "ci"]),
            Kubectl => return self.kubectl(&[]),
            KubectlServer => return self.kubectl(&["--server-side"]),
            Live | LiveServer if self.program == Program::Kubectl => {
                let way = ["--field-manager", "krm-merge", "--server-side"];
                return self.kubectl(if applier == Live { &way[..2] } else { &way });
            }
            Live => self.live(&[]),
            LiveServer => {
                let ran = run(&self.folder, &["-f", "web.yaml", "--server-side", "--apply"]);
                let is_refused = ran.stderr.contains("(409)");
                assert_eq!(ran.code, Some(if is_refused { 2 } else { 0 }), "{ran:?}");
                let take = ["--server-side", "--take", "spec", "--take", "metadata"];
                self.live(if is_refused { &take } else { &take[..1] });
                return is_refused;
            }
        }
        false
    }

    fn kubectl(&self, way: &[&str]) -> bool {
        let ran = self.ran_by_kubectl(way);
        let is_refused = ran.stderr.contains("--force-conflicts");
        let ran = if is_refused { self.ran_by_kubectl(&[way, &["--force-conflicts"]].concat()) } else { ran };
        assert_eq!(ran.code, Some(0), "{ran:?}");
        is_refused
    }

    fn ran_by_kubectl(&self, way: &[&str]) -> Ran {
        let mut command = Command::new(std::env::var("KUBECTL").unwrap_or_else(|_| "kubectl".to_owned()));
        command.args(["apply", "--validate=false", "--kubeconfig"]).arg(self.folder.path("kubeconfig")).args(way);
        command.arg("--cache-dir").arg(self.folder.path("cache")).arg("-f").arg(self.folder.path("web.yaml"));
        Ran::of(command.output().expect("kubectl runs"))
    }

    /// Applies with `live`, and once more, which sends nothing.
    fn live(&self, way: &[&str]) {
        let ran = run(&self.folder, &[&["-f", "web.yaml", "--apply"], way].concat());
        assert_eq!(ran.code, Some(0), "{ran:?}");
        let before = self.server.server.sent().len();
        let again = run(&self.folder, &[&["-f", "web.yaml", "--apply", "--exit-code"], way].concat());
        let sent = self.server.server.sent().split_off(before);
        assert_eq!((again.code, again.stdout.as_str(), sent), (Some(0), "", Vec::new()), "{ran:?} {again:?}");
    }
}

/// Each line of the table has the turns, what came of them, and, if kubectl in place of `live` makes something else, that and the name of a
/// reason. The reasons come first.
#[test]
fn three_appliers_take_turns_as_with_kubectl_alone() {
    if !has("kubectl") {
        return;
    }
    let of = |program| {
        let mut bench = Bench::new(program);
        let nothing = bench.server.state();
        FIRST.iter().for_each(|first| bench.turns(&[*first], &nothing));
        bench.ends
    };
    let (ends, beside) = std::thread::scope(|scope| {
        let beside = scope.spawn(|| of(Program::Kubectl));
        (of(Program::Live), beside.join().expect("no panic"))
    });
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/live-appliers.txt");
    let text = std::fs::read_to_string(file).expect("the table");
    let known: BTreeMap<&str, &str> = text.lines().filter_map(|line| line.split_once(": ")).collect();
    let mut wrong = Vec::new();
    let of_three = |turns: &&Vec<Applier>| turns.len() == 3 && turns.iter().any(|turn| turn.is_live());
    for turns in ends.keys().filter(of_three) {
        let (ours, theirs) = (&ends[turns], &beside[turns]);
        let found = if ours == theirs { ours.clone() } else { format!("{ours} | {theirs} | ") };
        let (turns, line) = (named(turns), known.get(named(turns).as_str()).copied().unwrap_or_default());
        let is_reason = |reason: &str| reason.is_empty() || reason.split(' ').all(|one| known.contains_key(one));
        let is_known = line.strip_prefix(&found).is_some_and(is_reason);
        if !is_known || (ours == theirs) != (line == found) {
            wrong.push(format!("{turns}: {found}"));
        }
    }
    assert!(wrong.is_empty(), "{} lines\n{}", wrong.len(), wrong.join("\n"));
    assert!(known.len() > ends.len() / 2, "{}", known.len());
}
