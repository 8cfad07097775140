//! The wait until what was sent is ready.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::stand_in::StandIn;
use super::{folder, run};

fn web(image: &str) -> Value {
    json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web", "namespace": "prod"}, "spec": {"replicas": 1, "image": image}})
}

fn map() -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "m", "namespace": "prod"}, "data": {"a": "b"}})
}

/// The status of a Deployment with so many Pods that are ready.
fn status(ready: u8) -> Value {
    let available = if ready > 0 { "True" } else { "False" };
    json!({"replicas": 1, "updatedReplicas": 1, "readyReplicas": ready, "availableReplicas": ready, "conditions": [{"type": "Available", "status": available}]})
}

const WAIT: [&str; 6] = ["-f", "all.yaml", "--apply", "--wait", "--timeout", "5"];

#[test]
fn what_was_sent_is_read_until_it_is_ready() {
    let server = StandIn::new(&[]);
    let folder = folder(&server.server, &[("all.yaml", &format!("{}\n---\n{}\n", map(), web("1")))]);
    let ran = std::thread::scope(|scope| {
        let running = scope.spawn(|| run(&folder, &WAIT));
        let begin = Instant::now();
        while server.object("Deployment", "web").is_none() && begin.elapsed() < Duration::from_secs(20) {
            std::thread::sleep(Duration::from_millis(20));
        }
        std::thread::sleep(Duration::from_millis(600));
        server.edit("Deployment", "web", "kube-controller-manager", |web| web["status"] = status(1));
        running.join().expect("it ends")
    });
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), "info: ready: 2 resources\n"), "{ran:?}");
    let read = |name: &str| {
        let asked = server.server.asked();
        let sent = asked.iter().rposition(|asked| !asked.line.starts_with("GET")).expect("it was sent");
        asked[sent..].iter().filter(|asked| asked.line.ends_with(name)).count()
    };
    // A ConfigMap is ready as it is. The Deployment is read at once, after half a second, and after one more.
    assert_eq!(read("/m"), 0);
    assert!((2..=3).contains(&read("/web")), "{}", read("/web"));
    // What is ready and was not sent is not read again.
    let before = server.server.asked().len();
    assert_eq!(run(&folder, &WAIT).passed(), "");
    let again = server.server.asked().split_off(before);
    assert_eq!(again.iter().filter(|asked| asked.line.contains("/namespaces/")).count(), 2, "{again:?}");
}

#[test]
fn the_end_names_what_is_not_ready() {
    let failed = json!({"conditions": [{"type": "Progressing", "status": "False", "reason": "ProgressDeadlineExceeded", "message": "no image"}]});
    for (status, want) in [
        (
            status(0),
            "what was sent must become ready within 1 seconds (`--timeout`), but 1 of 2 are not: prod/deployment.apps/web: availableReplicas: 0 of 1",
        ),
        (
            failed,
            "what was sent must become ready, but 1 of 2 are not: prod/deployment.apps/web: failed: Progressing is False: no image",
        ),
    ] {
        let mut live = web("1");
        live["status"] = status;
        let server = StandIn::new(&[live]);
        let folder = folder(&server.server, &[("all.yaml", &format!("{}\n---\n{}\n", map(), web("2")))]);
        let ran = run(
            &folder,
            &["-f", "all.yaml", "--apply", "--server-side", "--take", ".spec", "--wait", "--timeout", "1"],
        );
        assert!(ran.stdout.contains("prod/deployment.apps/web applied"), "{ran:?}");
        assert_eq!(ran.failed(2).trim_end(), format!("error: {want}"));
    }
    let server = StandIn::new(&[]);
    let folder = folder(&server.server, &[("all.yaml", &map().to_string())]);
    assert!(run(&folder, &["-f", "all.yaml", "--wait"]).failed(2).contains("--apply"));
}
