//! What a real API server said, replayed: each recorded scenario ends as it did there.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Mutex;

use serde_json::Value;

use super::kept::LAST_APPLIED;
use super::replay::{Recording, Scenario};
use super::{folder, run};
use crate::support::{root, skipped};

/// The recordings: those of the repository, and all where they are beside it.
pub fn recordings() -> Vec<Recording> {
    let above = root().ancestors().skip(1);
    let beside = above.into_iter().find_map(|folder| Recording::read(&folder.join("shared/live"), "jsonl.gz"));
    if beside.is_none() {
        skipped("recordings", "of a real API server are not here");
    }
    let own = Recording::read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/live"), "jsonl")
        .expect("the crafted scenarios");
    [Some(own), beside].into_iter().flatten().collect()
}

/// Why some scenarios end otherwise: `WHAT ID: REASON`, a line each.
fn deviations(what: &str) -> BTreeMap<String, String> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/live-deviations.txt");
    let text = std::fs::read_to_string(file).expect("the deviations");
    let of_what = text.lines().filter_map(|line| line.strip_prefix(what)?.strip_prefix(' ')?.split_once(": "));
    of_what.map(|(id, reason)| (id.to_owned(), reason.to_owned())).collect()
}

/// Checks all scenarios; each fault must be among the deviations, and each deviation must be one.
fn check(what: &str, recordings: &[Recording], fault: impl Fn(&Recording, &Scenario) -> Vec<String> + Sync) {
    let known = deviations(what);
    let failed = Mutex::new(Vec::new());
    for recording in recordings {
        let scenarios = Mutex::new(recording.scenarios.iter());
        let one = || {
            while let Some(scenario) = { scenarios.lock().expect("no panic").next() } {
                let faults = fault(recording, scenario);
                match (faults.is_empty(), known.contains_key(scenario.id())) {
                    (false, false) => failed.lock().expect("no panic").push(format!(
                        "{what} {}:\n  {}",
                        scenario.id(),
                        faults.join("\n  ")
                    )),
                    (true, true) => failed
                        .lock()
                        .expect("no panic")
                        .push(format!("{what} {}: it is no deviation any more", scenario.id())),
                    _ => {}
                }
            }
        };
        std::thread::scope(|scope| (0..2).for_each(|_| drop(scope.spawn(one))));
    }
    let failed = failed.into_inner().expect("no panic");
    assert!(failed.is_empty(), "{} scenarios\n{}", failed.len(), failed.join("\n"));
}

/// Where applying the files of a scenario ends otherwise than `kubectl apply` did, or a second run is not the end of it.
fn ends(recording: &Recording, scenario: &Scenario) -> Vec<String> {
    let replay = recording.server(scenario);
    let folder = folder(&replay.server, &[("all.yaml", scenario.files())]);
    let ran = run(&folder, &["-f", "all.yaml", "--apply"]);
    let recorded = scenario.result("kubectl_apply");
    if recorded.is_refused() {
        return Vec::new();
    }
    if ran.code != Some(0) {
        return vec![format!("{ran:?}")];
    }
    let mut faults = Vec::new();
    let all = replay.objects();
    for want in recorded.objects() {
        let is_it = |o: &&Value| o["kind"] == want["kind"] && o["metadata"]["name"] == want["metadata"]["name"];
        compare(all.iter().find(is_it).unwrap_or(&Value::Null), want, "", &mut faults);
    }
    let before = replay.server.sent().len();
    let again = run(&folder, &["-f", "all.yaml", "--apply"]);
    let sent = replay.server.sent().split_off(before);
    if again.code != Some(0) || !sent.is_empty() {
        faults.push(format!("the second run sends {sent:?}: {again:?}"));
    }
    faults
}

#[test]
fn every_scenario_ends_in_the_object_that_kubectl_apply_got() {
    check("apply", &recordings(), ends);
}

/// Nulls, empty values, other spellings, unions and lists without keys, as a real API server of 1.36 and kubectl 1.32 had them: the diff shows
/// what kubectl changed, and is empty after that.
#[test]
fn every_odd_shape_ends_as_under_kubectl_and_is_shown_as_it_was() {
    let folder_of_shapes = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/live-shapes");
    let shapes = Recording::read(&folder_of_shapes, "jsonl").expect("the shapes");
    assert!(shapes.scenarios.len() > 76 + 55);
    check("apply", &[shapes], |recording, scenario| {
        let mut faults = ends(recording, scenario);
        let replay = recording.server(scenario);
        let folder = folder(&replay.server, &[("all.yaml", scenario.files())]);
        let run = |args: &[&str]| run(&folder, &[&["-f", "all.yaml"], args].concat());
        let shown = run(&["--exit-code"]);
        let recorded = scenario.result("kubectl_apply").objects();
        let without_note = |object: &Value| {
            let mut object = object.clone();
            object["metadata"]["annotations"][LAST_APPLIED] = Value::Null;
            object
        };
        for after in recorded {
            let mut changes = Vec::new();
            compare(&without_note(after), &without_note(&scenario.live()[0]), "", &mut changes);
            if shown.code != Some(i32::from(!changes.is_empty())) || !shown.stderr.is_empty() {
                faults.push(format!("kubectl changed {changes:?}, and it shows {shown:?}"));
            }
        }
        let _ = run(&["--apply"]);
        let left = run(&["--exit-code"]);
        if !recorded.is_empty() && (left.code, left.stdout.as_str(), left.stderr.as_str()) != (Some(0), "", "") {
            faults.push(format!("it shows {left:?} for ever"));
        }
        faults
    });
}

fn crafted(id: &str) -> (Recording, Scenario) {
    let own =
        Recording::read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/live"), "jsonl").expect("the scenarios");
    let scenario = own.scenarios.iter().find(|s| s.id() == id).expect("a scenario").clone();
    (own, scenario)
}

/// Whoever wins conflicts: there is none.
#[test]
fn what_nobody_set_is_in_nobody_s_way() {
    for id in ["crafted/1a", "crafted/2a", "crafted/2a-2c", "crafted/3a", "crafted/5a", "crafted/e4a", "crafted/wa"] {
        let (recording, scenario) = crafted(id);
        for policy in ["take-updated", "keep-dest", "fail"] {
            let replay = recording.server(&scenario);
            let folder = folder(&replay.server, &[("all.yaml", scenario.files())]);
            let ran = run(&folder, &["-f", "all.yaml", "--apply", "--on-conflict", policy]);
            assert!(ran.code == Some(0) && ran.stderr.is_empty(), "{id} {policy}: {ran:?}");
            let mut faults = Vec::new();
            compare(&replay.objects()[0], &scenario.result("kubectl_apply").objects()[0], "", &mut faults);
            assert!(faults.is_empty(), "{id} {policy}: {faults:?}");
        }
    }
}

/// What someone else set is in the way, and it is said who it was.
#[test]
fn what_someone_set_is_a_conflict_of_theirs() {
    let someone = |fields: Value| serde_json::json!({"manager": "console", "operation": "Update", "time": "2026-01-02T03:04:05Z", "fieldsV1": fields});
    let strategy = serde_json::json!({"f:spec": {"f:strategy": {"f:rollingUpdate": {"f:maxSurge": {}}}}});
    let limit = serde_json::json!({"f:spec": {"f:revisionHistoryLimit": {}}});
    for (id, fields, place) in
        [("crafted/2a", strategy, "spec.strategy.rollingUpdate"), ("crafted/1a", limit, "spec.revisionHistoryLimit")]
    {
        let (recording, mut scenario) = crafted(id);
        scenario.managed_by(someone(fields));
        let replay = recording.server(&scenario);
        let folder = folder(&replay.server, &[("all.yaml", scenario.files())]);
        let err = run(&folder, &["-f", "all.yaml", "--apply", "--on-conflict", "fail"]).failed(1);
        assert!(err.contains(place) && err.contains("set by \"console\" at 2026-01-02T03:04:05Z"), "{err}");
        assert_eq!(replay.server.sent().len(), 0);
    }
}

#[test]
fn every_refusal_of_the_server_is_known_beforehand() {
    for (what, way) in [("as-other", "server_side_apply_as_other"), ("as-owner", "server_side_apply_as_owner")] {
        check(what, &recordings(), |recording, scenario| {
            let replay = recording.server(scenario);
            let folder = folder(&replay.server, &[("all.yaml", scenario.files())]);
            let manager = if what == "as-other" { "another" } else { scenario.creator() };
            let ran = run(&folder, &["-f", "all.yaml", "--server-side", "--field-manager", manager, "-o", "name"]);
            if ran.code != Some(0) {
                return vec![format!("{ran:?}")];
            }
            let told: BTreeSet<(String, String)> = ran.stderr.lines().filter_map(refusal).collect();
            let mut want = scenario.result(way).refused();
            // What the same manager applied on the client's side is handed over before.
            want.retain(|(_, owner)| owner != manager);
            let mut faults = Vec::new();
            if told != want {
                faults.push(format!("{told:?} instead of {want:?}"));
            }
            if replay.server.sent().iter().any(|(line, _)| !line.contains("dryRun=All")) {
                faults.push("it was sent, though nothing may be".to_owned());
            }
            faults
        });
    }
}

/// The field and its owner, of a line that tells a refusal.
fn refusal(line: &str) -> Option<(String, String)> {
    let (place, rest) = line.split_once("the server will refuse `")?.1.split_once("` (409), which was set by \"")?;
    Some((place.to_owned(), rest.split('"').next()?.to_owned()))
}

/// Nothing is sent that the server would refuse, and nothing is forced that is not named.
#[test]
fn a_field_is_taken_over_where_it_is_named() {
    let (recording, scenario) = crafted("crafted/6a");
    let with = |files: &str, args: &[&str]| {
        let replay = recording.server(&scenario);
        let folder = folder(&replay.server, &[("all.yaml", files)]);
        (run(&folder, &[&["-f", "all.yaml", "--server-side", "--apply"], args].concat()), replay.server)
    };
    for args in [&[][..], &["--take", ".spec.rep"], &["--take", ".spec.template"]] {
        let (ran, server) = with(scenario.files(), args);
        assert!(ran.failed(2).contains("will refuse `.spec.replicas` (409), which was set by \"kubectl\""), "{args:?}");
        assert!(server.asked().iter().all(|asked| asked.line.starts_with("GET") || asked.is_dry()), "{args:?}");
    }
    for (take, manager, force) in [(".spec.replicas", "another", true), ("spec.template", "kubectl", false)] {
        let (ran, server) = with(scenario.files(), &["--take", take, "--field-manager", manager]);
        assert_eq!(ran.passed(), "fuzz/deployment.apps/d6 applied on the server's side\n");
        let asked: Vec<_> = server.asked().into_iter().filter(|a| a.line.starts_with("PATCH")).collect();
        // The first dry run is not forced: it tells what would be taken over.
        let ways = asked.iter().map(|a| (a.is_dry(), a.line.contains("force=true"))).collect::<Vec<_>>();
        assert_eq!(
            ways,
            if force { vec![(true, false), (true, true), (false, true)] } else { vec![(true, false), (false, false)] }
        );
        for asked in asked {
            assert_eq!(asked.kind, "application/apply-patch+yaml");
            assert!(asked.line.contains(&format!("fieldManager={manager}")), "{asked:?}");
            let body: Value = serde_json::from_str(&asked.body).expect("JSON");
            assert_eq!((&body["spec"]["replicas"], body["metadata"].get("annotations")), (&serde_json::json!(3), None));
        }
    }
    // What it applied before is not sent again.
    let (ran, server) = with(scenario.files_before(), &["--field-manager", "kubectl"]);
    assert_eq!((ran.passed(), server.sent().len()), (String::new(), 0));
}

/// Says where an object is not as it should be. What the server counts and keeps for itself is not compared.
pub fn compare(got: &Value, want: &Value, path: &str, faults: &mut Vec<String>) {
    let is_ours = [".metadata.generation", ".metadata.managedFields", ".metadata.resourceVersion", ".status"];
    if is_ours.contains(&path) || got == want {
        return;
    }
    let null = Value::Null;
    // The server leaves out a list that is empty, and writes null where it has nothing.
    let is_nothing = |value: &Value| value.is_null() || value.as_array().is_some_and(Vec::is_empty);
    match (got, want) {
        (got, want) if is_nothing(got) && is_nothing(want) => {}
        (Value::Object(a), Value::Object(b)) => {
            let only_here = a.keys().filter(|name| !b.contains_key(*name));
            for name in b.keys().chain(only_here) {
                let [got, want] = [a, b].map(|map| map.get(name).unwrap_or(&null));
                compare(got, want, &format!("{path}.{name}"), faults);
            }
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            for (at, (got, want)) in a.iter().zip(b).enumerate() {
                compare(got, want, &format!("{path}[{at}]"), faults);
            }
        }
        _ => faults.push(format!("{path}: {got} instead of {want}")),
    }
}
