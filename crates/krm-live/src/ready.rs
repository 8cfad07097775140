//! Whether objects of a cluster are ready, by the fields and conditions from which kstatus tells it, and the wait until they are.
//!
//! Each rule is named after the function of `pkg/kstatus/status` of sigs.k8s.io/cli-utils 0.37 that is its source. As there, a Job is ready as
//! soon as it has started.

use std::collections::BTreeSet;
use std::time::Duration;

use anyhow::{Result, bail};
use k8s_openapi::jiff::Timestamp;
use krm_show::progress::Progress;
use krm_show::screen;
use krm_words::Word;
use serde_json::Value;
use tokio::time::{Instant, sleep_until, timeout_at};

use crate::address::Address;
use crate::cluster::Cluster;
use crate::http::all;
use crate::local::Local;

/// How long to wait before objects are read again: first, and at most.
const FIRST: Duration = Duration::from_millis(500);
const MOST: Duration = Duration::from_secs(2);

/// How long before the end of the time objects are read for the last time; of a short time, a tenth.
const LAST: Duration = Duration::from_millis(500);

/// How many seconds a Pod may find no node before that is a failure.
const UNSCHEDULABLE: i64 = 15;

/// Why an object is not ready.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Lack {
    /// It is on its way.
    Going(String),
    /// Its controller gave up.
    Failed(String),
}

type Check = fn(&Value) -> Result<(), Lack>;

/// The rules, by group and kind.
const RULES: [(&str, &str, Check); 13] = [
    // alwaysReady
    ("", "ConfigMap", always),
    ("", "Secret", always),
    ("batch", "CronJob", always),
    // pdbConditions
    ("policy", "PodDisruptionBudget", always),
    // serviceConditions
    ("", "Service", service),
    // podConditions
    ("", "Pod", pod),
    // pvcConditions
    ("", "PersistentVolumeClaim", claim),
    // deploymentConditions
    ("apps", "Deployment", deployment),
    // replicasetConditions
    ("apps", "ReplicaSet", replica_set),
    // stsConditions
    ("apps", "StatefulSet", stateful_set),
    // daemonsetConditions
    ("apps", "DaemonSet", daemon_set),
    // jobConditions
    ("batch", "Job", job),
    // CRDConditions
    ("apiextensions.k8s.io", "CustomResourceDefinition", definition),
];

/// Waits until all objects are ready. An object that was not sent and was ready when it was read is not read again.
///
/// # Errors
/// An object is not ready in time, or those that are not have failed.
pub async fn wait(cluster: &Cluster, locals: &[Local], sent: &BTreeSet<String>, within: Duration) -> Result<()> {
    let deadline = Instant::now() + within;
    let last = deadline - LAST.min(within / 10);
    let progress = Progress::begin("waiting");
    let was_ready = |local: &&Local| {
        let live = local.live.as_ref().filter(|_| !sent.contains(&local.address.to_string()));
        live.is_some_and(|live| of(&local.address, live).is_ok())
    };
    let is_always_ready =
        |local: &&Local| rule(&local.address).is_some_and(|rule| std::ptr::fn_addr_eq(rule, always as Check));
    let mut left: Vec<(&Address, Lack)> = locals
        .iter()
        .filter(|local| !is_always_ready(local) && !was_ready(local))
        .map(|local| (&local.address, Lack::Going("nobody read it".to_owned())))
        .collect();
    let mut pause = FIRST;
    loop {
        let asked = left.iter().map(async |(address, before)| {
            let answer = timeout_at(deadline, cluster.get(address)).await;
            let state = match answer {
                Ok(Ok(Some(live))) => of(address, &live),
                Ok(Ok(None)) => Err(Lack::Going("it is not there".to_owned())),
                Ok(Err(e)) => Err(Lack::Going(format!("{e:#}"))),
                Err(_) => Err(before.clone()),
            };
            anyhow::Ok(state.err().map(|lack| (*address, lack)))
        });
        left = all(asked).await?.into_iter().flatten().collect();
        let Some((address, lack)) = left.first() else { break };
        progress.set(|| format!("waiting for {} of {}: {}", left.len(), locals.len(), lacking(address, lack)));
        let has_failed = left.iter().all(|(_, lack)| matches!(lack, Lack::Failed(_)));
        let is_over = Instant::now() >= last;
        if has_failed || is_over {
            let named: Vec<String> = left.iter().map(|(address, lack)| lacking(address, lack)).collect();
            let when =
                if has_failed { String::new() } else { format!(" within {} seconds (`--timeout`)", within.as_secs()) };
            bail!(
                "what was sent must become ready{when}, but {} of {} are not: {}",
                left.len(),
                locals.len(),
                named.join("; ")
            );
        }
        sleep_until(last.min(Instant::now() + pause)).await;
        pause = (2 * pause).min(MOST);
    }
    drop(progress);
    screen::tell(Word::Info, &format!("ready: {}", krm_words::counted(locals.len(), "resource")));
    Ok(())
}

fn lacking(address: &Address, lack: &Lack) -> String {
    match lack {
        Lack::Going(why) => format!("{address}: {why}"),
        Lack::Failed(why) => format!("{address}: failed: {why}"),
    }
}

fn rule(address: &Address) -> Option<Check> {
    let is_of = |(group, kind, _): &&(&str, &str, Check)| address.group_kind() == (group, kind);
    RULES.iter().find(is_of).map(|(.., check)| *check)
}

/// Whether an object is ready. Source: checkGenericProperties, and checkReadyCondition for kinds without a rule.
fn of(address: &Address, live: &Value) -> Result<(), Lack> {
    if let Some(since) = live["metadata"]["deletionTimestamp"].as_str() {
        return going(format!("it is being deleted since {since}"));
    }
    let [wanted, seen] = [&live["metadata"]["generation"], &live["status"]["observedGeneration"]].map(Value::as_i64);
    if let (Some(wanted), Some(seen)) = (wanted, seen)
        && wanted != seen
    {
        return going(format!("its controller saw generation {seen}, not {wanted}"));
    }
    if let Some(condition) = condition(live, "Reconciling").filter(|c| c.is("True")) {
        return going(condition.told());
    }
    if let Some(condition) = condition(live, "Stalled").filter(|c| c.is("True")) {
        return Err(Lack::Failed(condition.told()));
    }
    match rule(address) {
        Some(rule) => rule(live),
        None => match condition(live, "Ready") {
            Some(condition) if !condition.is("True") => going(condition.told()),
            _ => Ok(()),
        },
    }
}

fn going(why: impl Into<String>) -> Result<(), Lack> {
    Err(Lack::Going(why.into()))
}

fn failed(why: impl Into<String>) -> Result<(), Lack> {
    Err(Lack::Failed(why.into()))
}

/// A condition of a status.
#[derive(Clone, Copy)]
struct Condition<'v>(&'v Value);

fn condition<'v>(live: &'v Value, named: &str) -> Option<Condition<'v>> {
    live["status"]["conditions"].as_array()?.iter().find(|condition| condition["type"] == named).map(Condition)
}

impl Condition<'_> {
    fn is(self, status: &str) -> bool {
        self.0["status"] == status
    }

    fn is_because(self, reason: &str) -> bool {
        self.0["reason"] == reason
    }

    /// `Ready is False: the message`.
    fn told(self) -> String {
        let text = |field: &str| self.0[field].as_str().unwrap_or_default();
        let why = if text("message").is_empty() { text("reason") } else { text("message") };
        let colon = if why.is_empty() { "" } else { ": " };
        format!("{} is {}{colon}{why}", text("type"), text("status"))
    }
}

/// The number at a place of `spec`, or its default.
fn wanted(live: &Value, pointer: &str, default: i64) -> i64 {
    live["spec"].pointer(pointer).and_then(Value::as_i64).unwrap_or(default)
}

fn counted(live: &Value, field: &str) -> i64 {
    live["status"][field].as_i64().unwrap_or_default()
}

/// Checks that a number of the status is at least another one.
fn reaches(live: &Value, field: &str, wanted: i64) -> Result<(), Lack> {
    let count = counted(live, field);
    if count < wanted { going(format!("{field}: {count} of {wanted}")) } else { Ok(()) }
}

fn has_no_more(live: &Value, field: &str, wanted: i64) -> Result<(), Lack> {
    let count = counted(live, field);
    if count > wanted {
        going(format!("{field}: {count}, waiting for {} old to terminate", count - wanted))
    } else {
        Ok(())
    }
}

fn always(_: &Value) -> Result<(), Lack> {
    Ok(())
}

fn service(live: &Value) -> Result<(), Lack> {
    let spec = &live["spec"];
    let has_address = spec["clusterIP"].as_str().is_some_and(|address| !address.is_empty());
    if spec["type"] == "LoadBalancer" && !has_address { going("it has no `spec.clusterIP`") } else { Ok(()) }
}

fn pod(live: &Value) -> Result<(), Lack> {
    match live["status"]["phase"].as_str() {
        // A Pod that has ended is as ready as it will be.
        Some("Succeeded" | "Failed") => Ok(()),
        Some("Running") if condition(live, "Ready").is_some_and(|c| c.is("True")) => Ok(()),
        Some("Running") => {
            let containers = live["status"]["containerStatuses"].as_array().into_iter().flatten();
            let mut loops = containers.filter(|c| c["state"]["waiting"]["reason"] == "CrashLoopBackOff");
            match loops.next() {
                Some(container) => failed(format!("the container {} crashes again and again", container["name"])),
                None => going("it runs, but is not ready"),
            }
        }
        Some("Pending") => {
            let is_homeless = |c: &Condition<'_>| c.is("False") && c.is_because("Unschedulable");
            match condition(live, "PodScheduled").filter(is_homeless) {
                Some(condition) if is_old(live, UNSCHEDULABLE) => failed(condition.told()),
                _ => going("it is pending"),
            }
        }
        other => going(format!("its phase is {}", other.unwrap_or("not known"))),
    }
}

/// Whether an object was created so many seconds ago.
fn is_old(live: &Value, seconds: i64) -> bool {
    let created = live["metadata"]["creationTimestamp"].as_str().and_then(|time| time.parse::<Timestamp>().ok());
    created.is_some_and(|created| Timestamp::now().as_second() - created.as_second() >= seconds)
}

fn claim(live: &Value) -> Result<(), Lack> {
    match live["status"]["phase"].as_str() {
        Some("Bound") => Ok(()),
        other => going(format!("its phase is {}, not Bound", other.unwrap_or("not known"))),
    }
}

fn deployment(live: &Value) -> Result<(), Lack> {
    let progressing = condition(live, "Progressing");
    if let Some(condition) = progressing.filter(|c| c.is_because("ProgressDeadlineExceeded")) {
        return failed(condition.told());
    }
    let all = wanted(live, "/replicas", 1);
    reaches(live, "replicas", all)?;
    reaches(live, "updatedReplicas", all)?;
    has_no_more(live, "replicas", all)?;
    reaches(live, "availableReplicas", counted(live, "updatedReplicas"))?;
    reaches(live, "readyReplicas", all)?;
    // Without a deadline, the controller says nothing of the progress.
    let has_deadline = wanted(live, "/progressDeadlineSeconds", i64::from(i32::MAX)) != i64::from(i32::MAX);
    let is_done = progressing.is_some_and(|c| c.is("True") && c.is_because("NewReplicaSetAvailable"));
    if has_deadline && !is_done {
        return going("its new ReplicaSet is not available");
    }
    match condition(live, "Available").is_some_and(|c| c.is("True")) {
        true => Ok(()),
        false => going("it is not available"),
    }
}

fn replica_set(live: &Value) -> Result<(), Lack> {
    if let Some(condition) = condition(live, "ReplicaFailure").filter(|c| c.is("True")) {
        return going(condition.told());
    }
    let all = wanted(live, "/replicas", 1);
    reaches(live, "fullyLabeledReplicas", all)?;
    reaches(live, "availableReplicas", all)?;
    reaches(live, "readyReplicas", all)?;
    has_no_more(live, "replicas", all)
}

fn stateful_set(live: &Value) -> Result<(), Lack> {
    // Its user deletes the Pods.
    if live["spec"]["updateStrategy"]["type"] == "OnDelete" {
        return Ok(());
    }
    let all = wanted(live, "/replicas", 1);
    reaches(live, "replicas", all)?;
    reaches(live, "readyReplicas", all)?;
    has_no_more(live, "replicas", all)?;
    match wanted(live, "/updateStrategy/rollingUpdate/partition", -1) {
        -1 => reaches(live, "currentReplicas", all)?,
        partition => return reaches(live, "updatedReplicas", all - partition),
    }
    let status = &live["status"];
    match status["currentRevision"] == status["updateRevision"] {
        true => Ok(()),
        false => going("its Pods are not all of the new revision"),
    }
}

fn daemon_set(live: &Value) -> Result<(), Lack> {
    let status = &live["status"];
    let Some(all) = status["desiredNumberScheduled"].as_i64().filter(|_| status["observedGeneration"].is_i64()) else {
        return going("its controller did not see it yet");
    };
    let counts = ["currentNumberScheduled", "updatedNumberScheduled", "numberAvailable", "numberReady"];
    counts.into_iter().try_for_each(|field| reaches(live, field, all))
}

fn job(live: &Value) -> Result<(), Lack> {
    let holds = |named: &str| condition(live, named).filter(|c| c.is("True"));
    if let Some(condition) = holds("Failed") {
        return failed(condition.told());
    }
    let is_suspended = holds("Suspended").is_some() && live["spec"]["suspend"] == true;
    let has_started = live["status"]["startTime"].as_str().is_some_and(|time| !time.is_empty());
    if holds("Complete").is_some() || is_suspended || has_started { Ok(()) } else { going("it has not started") }
}

fn definition(live: &Value) -> Result<(), Lack> {
    let is_refused = |c: &Condition<'_>| c.is("False") && !c.is_because("Installing");
    let names = condition(live, "NamesAccepted").filter(|c| c.is("False"));
    let established = condition(live, "Established");
    if let Some(condition) = names.or(established.filter(is_refused)) {
        return failed(condition.told());
    }
    match established.is_some_and(|c| c.is("True")) {
        true => Ok(()),
        false => going("it is not established"),
    }
}

#[cfg(test)]
mod tests {
    use kube::core::GroupVersionKind;
    use serde_json::json;

    use super::*;

    fn state(group: &str, kind: &str, live: &Value) -> &'static str {
        let kind = GroupVersionKind::gvk(group, "v1", kind);
        let address = Address { namespace: None, name: "a".to_owned(), defined_by: None, kind, plural: String::new() };
        match of(&address, live) {
            Ok(()) => "ready",
            Err(Lack::Going(_)) => "going",
            Err(Lack::Failed(_)) => "failed",
        }
    }

    fn conditions(all: &[(&str, &str, &str)]) -> Value {
        all.iter().map(|(named, status, reason)| json!({"type": named, "status": status, "reason": reason})).collect()
    }

    #[test]
    fn what_all_kinds_have_in_common_comes_first() {
        let held = |named: &str, status: &str| json!({"status": {"conditions": conditions(&[(named, status, "x")])}});
        for (live, want) in [
            (json!({}), "ready"),
            (held("Ready", "True"), "ready"),
            (held("Ready", "False"), "going"),
            (held("Ready", "Unknown"), "going"),
            (held("Other", "False"), "ready"),
            (held("Reconciling", "True"), "going"),
            (held("Reconciling", "False"), "ready"),
            (held("Stalled", "True"), "failed"),
            (json!({"metadata": {"generation": 2}, "status": {"observedGeneration": 1}}), "going"),
            (json!({"metadata": {"generation": 2}, "status": {"observedGeneration": 2}}), "ready"),
            (json!({"metadata": {"generation": 2}}), "ready"),
            (json!({"metadata": {"deletionTimestamp": "2026-01-01T00:00:00Z"}}), "going"),
        ] {
            assert_eq!(state("example.com", "Thing", &live), want, "{live}");
        }
        assert_eq!(state("", "ConfigMap", &json!({})), "ready");
        assert_eq!(state("apps", "Deployment", &held("Stalled", "True")), "failed");
    }

    /// The status of a workload of which all is as it should be, with one field as it is given.
    fn workload(spec: Value, field: &str, value: Value) -> Value {
        let mut status = json!({
            "observedGeneration": 1, "replicas": 2, "updatedReplicas": 2, "readyReplicas": 2, "availableReplicas": 2, "currentReplicas": 2,
            "fullyLabeledReplicas": 2, "currentRevision": "r", "updateRevision": "r", "desiredNumberScheduled": 2, "currentNumberScheduled": 2,
            "updatedNumberScheduled": 2, "numberAvailable": 2, "numberReady": 2,
            "conditions": conditions(&[("Available", "True", "x"), ("Progressing", "True", "NewReplicaSetAvailable")]),
        });
        status[field] = value;
        json!({"metadata": {"generation": 1}, "spec": spec, "status": status})
    }

    #[test]
    fn a_workload_is_ready_if_each_number_is() {
        let spec = || json!({"replicas": 2, "progressDeadlineSeconds": 600});
        for (kind, fields) in [
            ("Deployment", &["replicas", "updatedReplicas", "availableReplicas", "readyReplicas"][..]),
            ("ReplicaSet", &["fullyLabeledReplicas", "availableReplicas", "readyReplicas"]),
            ("StatefulSet", &["replicas", "readyReplicas", "currentReplicas"]),
            ("DaemonSet", &["currentNumberScheduled", "updatedNumberScheduled", "numberAvailable", "numberReady"]),
        ] {
            assert_eq!(state("apps", kind, &workload(spec(), "other", json!(0))), "ready", "{kind}");
            for field in fields {
                assert_eq!(state("apps", kind, &workload(spec(), field, json!(1))), "going", "{kind} {field}");
                assert_eq!(state("apps", kind, &workload(spec(), field, Value::Null)), "going", "{kind} {field}");
            }
            if kind != "DaemonSet" {
                assert_eq!(state("apps", kind, &workload(spec(), "replicas", json!(3))), "going", "{kind}");
            }
        }
        for (kind, spec, field, value, want) in [
            ("Deployment", spec(), "conditions", json!([]), "going"),
            ("Deployment", spec(), "conditions", conditions(&[("Available", "True", "x")]), "going"),
            ("Deployment", json!({"replicas": 2}), "conditions", conditions(&[("Available", "True", "x")]), "ready"),
            ("Deployment", json!({"replicas": 2}), "conditions", conditions(&[("Available", "False", "x")]), "going"),
            (
                "Deployment",
                spec(),
                "conditions",
                conditions(&[("Progressing", "False", "ProgressDeadlineExceeded")]),
                "failed",
            ),
            ("ReplicaSet", spec(), "conditions", conditions(&[("ReplicaFailure", "True", "x")]), "going"),
            ("StatefulSet", spec(), "updateRevision", json!("s"), "going"),
            (
                "StatefulSet",
                json!({"replicas": 2, "updateStrategy": {"type": "OnDelete"}}),
                "readyReplicas",
                json!(0),
                "ready",
            ),
            (
                "StatefulSet",
                json!({"replicas": 2, "updateStrategy": {"rollingUpdate": {"partition": 1}}}),
                "updatedReplicas",
                json!(1),
                "ready",
            ),
            (
                "StatefulSet",
                json!({"replicas": 2, "updateStrategy": {"rollingUpdate": {"partition": 0}}}),
                "updatedReplicas",
                json!(1),
                "going",
            ),
            ("DaemonSet", json!({}), "desiredNumberScheduled", Value::Null, "going"),
            ("DaemonSet", json!({}), "observedGeneration", Value::Null, "going"),
        ] {
            assert_eq!(state("apps", kind, &workload(spec, field, value.clone())), want, "{kind} {field} {value}");
        }
    }

    #[test]
    fn each_other_kind_has_its_own_rule() {
        let pod = |phase: &str, all: &[(&str, &str, &str)]| json!({"metadata": {"creationTimestamp": "2026-01-01T00:00:00Z"}, "status": {"phase": phase, "conditions": conditions(all)}});
        let mut crashing = pod("Running", &[]);
        crashing["status"]["containerStatuses"] =
            json!([{"name": "c", "state": {"waiting": {"reason": "CrashLoopBackOff"}}}]);
        let mut new = pod("Pending", &[("PodScheduled", "False", "Unschedulable")]);
        new["metadata"]["creationTimestamp"] = json!(Timestamp::now().to_string());
        let held = |all: &[(&str, &str, &str)]| json!({"status": {"conditions": conditions(all)}});
        for (group, kind, live, want) in [
            ("", "Pod", pod("Running", &[("Ready", "True", "x")]), "ready"),
            ("", "Pod", pod("Running", &[("Ready", "False", "x")]), "going"),
            ("", "Pod", crashing, "failed"),
            ("", "Pod", pod("Pending", &[]), "going"),
            ("", "Pod", pod("Pending", &[("PodScheduled", "False", "Unschedulable")]), "failed"),
            ("", "Pod", new, "going"),
            ("", "Pod", pod("Succeeded", &[]), "ready"),
            ("", "Pod", json!({}), "going"),
            ("", "PersistentVolumeClaim", json!({"status": {"phase": "Bound"}}), "ready"),
            ("", "PersistentVolumeClaim", json!({"status": {"phase": "Pending"}}), "going"),
            ("", "Service", json!({"spec": {"type": "ClusterIP"}}), "ready"),
            ("", "Service", json!({"spec": {"type": "LoadBalancer"}}), "going"),
            ("", "Service", json!({"spec": {"type": "LoadBalancer", "clusterIP": "10.0.0.1"}}), "ready"),
            ("batch", "Job", json!({}), "going"),
            ("batch", "Job", json!({"status": {"startTime": "2026-01-01T00:00:00Z"}}), "ready"),
            ("batch", "Job", held(&[("Failed", "True", "x")]), "failed"),
            ("batch", "Job", held(&[("Complete", "True", "x")]), "ready"),
            (
                "batch",
                "Job",
                json!({"spec": {"suspend": true}, "status": {"conditions": conditions(&[("Suspended", "True", "x")])}}),
                "ready",
            ),
            ("apiextensions.k8s.io", "CustomResourceDefinition", json!({}), "going"),
            ("apiextensions.k8s.io", "CustomResourceDefinition", held(&[("Established", "True", "x")]), "ready"),
            (
                "apiextensions.k8s.io",
                "CustomResourceDefinition",
                held(&[("Established", "False", "Installing")]),
                "going",
            ),
            ("apiextensions.k8s.io", "CustomResourceDefinition", held(&[("Established", "False", "x")]), "failed"),
            ("apiextensions.k8s.io", "CustomResourceDefinition", held(&[("NamesAccepted", "False", "x")]), "failed"),
        ] {
            assert_eq!(state(group, kind, &live), want, "{kind} {live}");
        }
    }
}
