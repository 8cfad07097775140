//! `live` over real HTTP, against a server on loopback that the test starts.

mod adopt;
mod answered;
mod appliers;
mod kept;
mod laws;
mod nulls;
mod order;
mod ready;
mod recorded;
#[cfg(unix)]
mod refused;
mod replay;
mod requests;
mod sent;
mod sets;
mod shown;
mod spelling;
mod stand_in;
mod steps;
mod turns;

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::{Folder, Ran, has};

/// What the server answers.
#[derive(Clone)]
enum Answer {
    Json(u16, Value),
    /// Bytes as they are, and then the end.
    Raw(&'static str),
    Late(Duration),
    /// Blanks for ever.
    Endless,
    /// These bytes first, each once, and then the rest.
    First(Vec<&'static str>, Box<Answer>),
}

impl Answer {
    /// What is answered after so many times.
    fn after(self, before: usize) -> Self {
        match self {
            Self::First(first, rest) => first.get(before).map_or(*rest, |text| Self::Raw(text)),
            other => other,
        }
    }
}

/// An answer as it goes over the wire.
fn wire(status: u16, body: &Value) -> &'static str {
    let body = body.to_string();
    Box::leak(
        format!("HTTP/1.1 {status} X\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{body}", body.len())
            .into_boxed_str(),
    )
}

/// A request as it came.
#[derive(Clone, Debug)]
struct Asked {
    line: String,
    user: String,
    /// As whom it asks to act: the user, and then the groups.
    acts_as: Vec<String>,
    kind: String,
    body: String,
}

impl Asked {
    /// The method and the path, without the query.
    fn path(&self) -> &str {
        self.line.split('?').next().unwrap_or_default()
    }

    /// Whether the server must not keep what is sent.
    fn is_dry(&self) -> bool {
        self.line.contains("dryRun=All")
    }
}

struct Server {
    port: u16,
    asked: Arc<Mutex<Vec<Asked>>>,
    flight: Arc<Flight>,
}

/// How many requests wait for an answer: now, and at most so far.
#[derive(Default)]
struct Flight {
    now: AtomicUsize,
    most: AtomicUsize,
}

type Answers = BTreeMap<String, Answer>;

impl Server {
    /// Answers by method and path, without the query; anything else with 404. It lives as long as the test.
    fn new(answers: Answers) -> Self {
        Self::answering(move |asked, before| {
            let path = asked.path();
            let dry = answers.get(&format!("{path} dry")).filter(|_| asked.is_dry());
            Some(dry.or_else(|| answers.get(path))?.clone().after(before))
        })
    }

    /// Answers as a function does of a request and of how often the same was asked before; `None` is a 404.
    fn answering(answer: impl Fn(&Asked, usize) -> Option<Answer> + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let asked: Arc<Mutex<Vec<Asked>>> = Arc::default();
        let flight: Arc<Flight> = Arc::default();
        let (log, answer, counted) = (asked.clone(), Arc::new(answer), flight.clone());
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let (log, answer, flight) = (log.clone(), answer.clone(), counted.clone());
                std::thread::spawn(move || serve(stream, &*answer, &log, &flight));
            }
        });
        Self { port, asked, flight }
    }

    /// How many requests waited for an answer at the same time, at most, since this was asked before.
    fn most_in_flight(&self) -> usize {
        self.flight.most.swap(0, Ordering::SeqCst)
    }

    fn asked(&self) -> Vec<Asked> {
        self.asked.lock().expect("no panic").clone()
    }

    /// What came that is no question.
    fn sent(&self) -> Vec<(String, Value)> {
        let all = self.asked().into_iter().filter(|a| !a.line.starts_with("GET "));
        all.map(|a| (a.line, serde_json::from_str(&a.body).unwrap_or_default())).collect()
    }
}

fn serve(
    stream: TcpStream,
    answer: &dyn Fn(&Asked, usize) -> Option<Answer>,
    log: &Mutex<Vec<Asked>>,
    flight: &Flight,
) -> Option<()> {
    let mut reader = BufReader::new(stream.try_clone().ok()?);
    let mut stream = stream;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).ok()? == 0 {
            return None;
        }
        let line = line.trim_end().trim_end_matches(" HTTP/1.1").to_owned();
        let (mut length, mut kind, mut user, mut acts_as) = (0, String::new(), String::new(), Vec::new());
        loop {
            let mut header = String::new();
            reader.read_line(&mut header).ok()?;
            let Some((name, value)) = header.trim_end().split_once(':') else { break };
            match name.to_ascii_lowercase().as_str() {
                "content-length" => length = value.trim().parse().ok()?,
                "content-type" => kind = value.trim().to_owned(),
                "impersonate-user" | "impersonate-group" => acts_as.push(value.trim().to_owned()),
                "authorization" | "proxy-authorization" => user = value.trim().to_owned(),
                _ => {}
            }
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body).ok()?;
        flight.most.fetch_max(flight.now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
        let asked = Asked { line, user, acts_as, kind, body: String::from_utf8(body).ok()? };
        let before = {
            let mut log = log.lock().ok()?;
            log.push(asked.clone());
            log.iter().filter(|a| a.line == asked.line).count() - 1
        };
        let answer = answer(&asked, before);
        flight.now.fetch_sub(1, Ordering::SeqCst);
        let (status, body) = match answer {
            Some(Answer::Raw(text)) => {
                stream.write_all(text.as_bytes()).ok()?;
                return None;
            }
            Some(Answer::Endless) => {
                stream.write_all(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n").ok()?;
                let blanks = vec![b' '; 1 << 20];
                loop {
                    stream.write_all(&blanks).ok()?;
                }
            }
            Some(Answer::Late(wait)) => {
                std::thread::sleep(wait);
                (200, json!({}))
            }
            Some(Answer::Json(status, body)) => (status, body),
            Some(Answer::First(..)) | None => (404, status(404, "not found")),
        };
        let body = body.to_string();
        let head =
            format!("HTTP/1.1 {status} X\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n", body.len());
        stream.write_all((head + &body).as_bytes()).ok()?;
    }
}

fn status(code: u16, message: &str) -> Value {
    json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "message": message, "reason": "X", "code": code})
}

fn types(kinds: &[(&str, &str, bool)]) -> Answer {
    let of = |(kind, name, namespaced): &(&str, &str, bool)| json!({"name": name, "singularName": "", "namespaced": namespaced, "kind": kind, "verbs": ["get"]});
    let all: Vec<Value> = kinds.iter().map(of).collect();
    Answer::Json(200, json!({"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": "v1", "resources": all}))
}

fn deployment(replicas: u8, image: &str) -> Value {
    json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}, "spec": {"replicas": replicas, "template": {"spec": {"containers": [{"name": "app", "image": image, "ports": [{"containerPort": 80}]}]}}}})
}

/// As the server gives it back: with defaults, a sidecar that a webhook put in, and what the server populates.
fn live(applied: &Value, replicas: u8, image: &str) -> Value {
    let mut live = deployment(replicas, image);
    live["metadata"] = json!({
        "name": "web", "namespace": "prod", "uid": "u", "resourceVersion": "41", "generation": 7, "creationTimestamp": "2026-01-01T00:00:00Z",
        "managedFields": [{"manager": "kubectl"}],
        "annotations": {"kubectl.kubernetes.io/last-applied-configuration": applied.to_string(), "deployment.kubernetes.io/revision": "3"},
    });
    live["spec"]["revisionHistoryLimit"] = json!(10);
    let containers = live["spec"]["template"]["spec"]["containers"].as_array_mut().expect("a list");
    containers[0]["imagePullPolicy"] = json!("IfNotPresent");
    containers[0]["ports"][0]["protocol"] = json!("TCP");
    containers.push(json!({"name": "sidecar", "image": "sidecar"}));
    live["status"] = json!({"replicas": replicas});
    live
}

const WEB: &str = "/apis/apps/v1/namespaces/prod/deployments/web";

/// A cluster with a Deployment that was applied with 3 replicas and image `web:1`.
fn cluster(live_replicas: u8, live_image: &str) -> Answers {
    let applied = deployment(3, "web:1");
    BTreeMap::from([
        ("GET /apis/apps/v1".to_owned(), types(&[("Deployment", "deployments", true)])),
        ("GET /api/v1".to_owned(), types(&[("ConfigMap", "configmaps", true), ("Namespace", "namespaces", false)])),
        (format!("GET {WEB}"), Answer::Json(200, live(&applied, live_replicas, live_image))),
        (format!("PATCH {WEB}"), Answer::Json(200, json!({}))),
        ("POST /api/v1/namespaces/prod/configmaps".to_owned(), Answer::Json(201, json!({}))),
    ])
}

fn folder(server: &Server, files: &[(&str, &str)]) -> Folder {
    let folder = Folder::with(files);
    let context = |name: &str, namespace: &str, port: u16| {
        (
            json!({"name": name, "context": {"cluster": name, "user": "u", "namespace": namespace}}),
            json!({"name": name, "cluster": {"server": format!("http://127.0.0.1:{port}")}}),
        )
    };
    let (here, of_here) = context("here", "prod", server.port);
    let (closed, of_closed) = context("closed", "prod", 1);
    let kubeconfig = json!({
        "apiVersion": "v1", "kind": "Config", "current-context": "here",
        "contexts": [here, closed], "clusters": [of_here, of_closed], "users": [{"name": "u", "user": {"token": "t"}}],
    });
    folder.write("kubeconfig", kubeconfig.to_string());
    folder
}

fn run(folder: &Folder, args: &[&str]) -> Ran {
    let mut command = folder.command(&["live"]);
    command.args(args).env("KUBECONFIG", folder.path("kubeconfig"));
    Ran::of(command.output().expect("the plugin runs"))
}

#[test]
fn what_would_change_and_what_someone_changed_is_shown_and_nothing_is_sent() {
    // Someone scaled to 5; the files still say 3, and have a new image and a new ConfigMap.
    let server = Server::new(cluster(5, "web:1"));
    let folder = folder(
        &server,
        &[
            ("all/web.yaml", &format!("# the shop\n{}", deployment(3, "web:2"))),
            ("all/map.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: m\ndata: {x: z}\n"),
        ],
    );
    let out = run(&folder, &["-f", "all"]).passed();
    assert!(out.contains("--- a/prod/deployment.apps/web\n+++ b/prod/deployment.apps/web\n"), "{out}");
    assert!(out.contains("@@ Deployment prod/web spec.template.spec.containers[name=app].image\n"), "{out}");
    assert!(
        out.contains("\n-      - image: web:1\n+      - image: web:2\n")
            || out.contains("-        image: web:1\n+        image: web:2\n"),
        "{out}"
    );
    assert!(out.contains("--- /dev/null\n+++ b/prod/configmap/m\n"), "{out}");
    assert!(
        out.contains("changed in the cluster: prod/deployment.apps/web: spec.replicas\n  original: 3\n  live:     5\n"),
        "{out}"
    );
    for populated in [
        "uid",
        "resourceVersion",
        "managedFields",
        "status",
        "generation",
        "creationTimestamp",
        "last-applied",
        "imagePullPolicy\n+",
    ] {
        assert!(!out.contains(populated), "{populated}\n{out}");
    }
    assert!(!out.contains("conflict"), "{out}");
    assert!(server.asked().iter().all(|asked| asked.line.starts_with("GET ") || asked.is_dry()));
    assert_eq!(run(&folder, &["-f", "all", "--exit-code"]).code, Some(1));
    assert_eq!(run(&folder, &["-f", "all", "-o", "name"]).passed(), "configmap/m\ndeployment.apps/web\n");
}

#[test]
fn what_both_changed_is_a_conflict() {
    let server = Server::new(cluster(5, "web:hotfix"));
    let folder = folder(&server, &[("web.yaml", &deployment(4, "web:2").to_string())]);
    let ran = run(&folder, &["-f", "web.yaml"]);
    assert!(ran.stdout.contains("conflict: Deployment prod/web (prod/deployment.apps/web): spec.replicas\n  original: 3\n  dest:     5\n  updated:  4\n  outcome:  took updated's\n"), "{ran:?}");
    assert!(
        ran.stdout.contains("containers[name=app].image\n  original: \"web:1\"\n  dest:     \"web:hotfix\"\n"),
        "{ran:?}"
    );
    assert!(!ran.stdout.contains("changed in the cluster"), "it is told once\n{ran:?}");
    let err = run(&folder, &["-f", "web.yaml", "--on-conflict", "fail", "--apply"]).failed(1);
    assert!(err.contains("spec.replicas"), "{err}");
    assert!(server.asked().iter().all(|asked| asked.line.starts_with("GET ") || asked.is_dry()));
    let out = run(&folder, &["-f", "web.yaml", "--on-conflict", "keep-dest"]).passed();
    assert!(!out.contains("+++"), "{out}");
}

#[test]
fn apply_sends_a_dry_run_of_all_and_then_what_changes() {
    let server = Server::new(cluster(5, "web:1"));
    let map = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: m\ndata: {x: z}\n";
    let mut updated = deployment(3, "web:2");
    updated["spec"]["paused"] = json!(true);
    let folder = folder(&server, &[("all.yaml", &format!("{map}---\n{updated}\n"))]);
    let out = run(&folder, &["-f", "all.yaml", "--apply", "--field-manager", "me"]).passed();
    assert_eq!(out, "prod/configmap/m created\nprod/deployment.apps/web configured\n");
    let mut sent = server.sent();
    // Dry runs are asked for at the same time.
    sent[..2].sort_by(|a, b| b.0.cmp(&a.0));
    let lines: Vec<&str> = sent.iter().map(|s| s.0.as_str()).collect();
    let post = "POST /api/v1/namespaces/prod/configmaps?";
    assert_eq!(
        lines,
        [
            format!("{post}&dryRun=All&fieldManager=me&fieldValidation=Strict"),
            format!("PATCH {WEB}?&dryRun=All&fieldManager=me&fieldValidation=Strict"),
            format!("{post}&fieldManager=me&fieldValidation=Strict"),
            format!("PATCH {WEB}?&fieldManager=me&fieldValidation=Strict"),
        ]
    );
    let kinds: Vec<String> =
        server.asked().into_iter().filter(|a| a.line.starts_with("PATCH")).map(|a| a.kind).collect();
    assert_eq!(kinds, ["application/merge-patch+json"; 2]);
    let patch = &sent[3].1;
    assert_eq!(patch["metadata"]["resourceVersion"], "41", "it holds for the state that was read");
    assert_eq!(patch["spec"]["paused"], true);
    assert_eq!(patch["spec"].get("replicas"), None, "what someone scaled stays");
    let containers = patch["spec"]["template"]["spec"]["containers"].as_array().expect("a list");
    assert_eq!(
        (containers.len(), &containers[0]["image"], &containers[1]["name"]),
        (2, &json!("web:2"), &json!("sidecar"))
    );
    let applied = |value: &Value| {
        let text = value["metadata"]["annotations"]["kubectl.kubernetes.io/last-applied-configuration"]
            .as_str()
            .expect("applied");
        serde_json::from_str::<Value>(text).expect("JSON")
    };
    updated["metadata"]["namespace"] = json!("prod");
    updated["metadata"]["annotations"] = json!({});
    assert_eq!(applied(patch), updated);
    assert_eq!(applied(&sent[2].1)["data"], json!({"x": "z"}));
    assert_eq!(sent[2].1["data"], json!({"x": "z"}));
    // What is there already is not sent.
    let server = Server::new(cluster(5, "web:1"));
    let folder = self::folder(&server, &[("web.yaml", &deployment(3, "web:1").to_string())]);
    assert_eq!(run(&folder, &["-f", "web.yaml", "--apply"]).passed(), "");
    assert_eq!(server.sent().len(), 0);
}

#[test]
fn a_conflict_of_writers_and_a_refusal_of_the_dry_run_send_nothing_more() {
    let map = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: m\ndata: {x: z}\n";
    let both = format!("{map}---\n{}\n", deployment(3, "web:2"));
    let mut answers = cluster(3, "web:1");
    answers.insert(format!("PATCH {WEB} dry"), Answer::Json(422, status(422, "replicas: not allowed")));
    let server = Server::new(answers);
    let err = run(&folder(&server, &[("all.yaml", &both)]), &["-f", "all.yaml", "--apply"]).failed(2);
    assert!(
        err.contains("prod/deployment.apps/web")
            && err.contains("replicas: not allowed")
            && err.contains("nothing was sent"),
        "{err}"
    );
    assert!(server.sent().iter().all(|s| s.0.contains("dryRun=All")), "{:?}", server.sent());

    let mut answers = cluster(3, "web:1");
    answers.insert(format!("PATCH {WEB}"), Answer::Json(409, status(409, "the object has been modified")));
    answers.insert(format!("PATCH {WEB} dry"), Answer::Json(200, json!({})));
    let server = Server::new(answers);
    let ran = run(&folder(&server, &[("all.yaml", &both)]), &["-f", "all.yaml", "--apply"]);
    assert_eq!(ran.stdout, "prod/configmap/m created\n");
    let err = ran.failed(2);
    assert!(err.contains("run this again") && err.contains("409"), "{err}");
    assert!(err.trim_end().ends_with("; of 2 objects: 1 sent, 1 not taken"), "{err}");
}

#[test]
fn bad_answers_are_errors_that_name_the_resource() {
    let web = deployment(3, "web:2").to_string();
    let get = format!("GET {WEB}");
    for (answer, wants) in [
        (Answer::Json(401, status(401, "Unauthorized")), &["401", "Check your credentials: `kubectl auth whoami`"][..]),
        (Answer::Json(403, status(403, "forbidden")), &["403", "not allowed in the cluster"]),
        (Answer::Json(500, status(500, "etcd is gone")), &["500", "etcd is gone"]),
        (Answer::Late(Duration::from_secs(5)), &["within 1 seconds"]),
        (Answer::Raw("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{\"kind\":"), &["cannot be asked"]),
        (Answer::Raw("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{\"kind\": "), &["must be JSON"]),
        (Answer::Raw("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nnull"), &["an object"]),
        (Answer::Raw("SSH-2.0-x\r\n"), &["cannot be asked"]),
        (Answer::Raw("HTTP/1.1 502 Bad\r\nContent-Length: 6\r\n\r\n<html>"), &["502", "<html>"]),
    ] {
        let mut answers = cluster(3, "web:1");
        answers.insert(get.clone(), answer);
        let server = Server::new(answers);
        let err =
            run(&folder(&server, &[("web.yaml", &web)]), &["-f", "web.yaml", "--timeout", "1", "--apply"]).failed(2);
        assert!(err.starts_with("error: prod/deployment.apps/web (web.yaml:1:1): "), "{err}");
        for want in wants {
            assert!(err.contains(want), "{want}\n{err}");
        }
        assert_eq!(server.sent().len(), 0);
    }
}

#[test]
fn an_answer_that_does_not_end_is_cut() {
    let mut answers = cluster(3, "web:1");
    answers.insert(format!("GET {WEB}"), Answer::Endless);
    let server = Server::new(answers);
    let err =
        run(&folder(&server, &[("web.yaml", &deployment(3, "web:2").to_string())]), &["-f", "web.yaml"]).failed(2);
    let at = format!("http://127.0.0.1:{}/", server.port);
    for want in ["must not be longer than 64 MiB", WEB, &at] {
        assert!(err.contains(want), "{want}\n{err}");
    }
}

#[test]
fn a_busy_cluster_is_asked_again_when_it_says_and_not_for_ever() {
    let web = deployment(3, "web:2").to_string();
    let busy = |answers: &[&'static str], rest: Answer| {
        let mut all = cluster(3, "web:1");
        all.insert(format!("GET {WEB}"), Answer::First(answers.to_vec(), Box::new(rest)));
        let server = Server::new(all);
        let started = Instant::now();
        let ran = run(&folder(&server, &[("web.yaml", &web)]), &["-f", "web.yaml", "--timeout", "8"]);
        let asked = server.asked().iter().filter(|a| a.line == format!("GET {WEB}")).count();
        (ran, asked, started.elapsed())
    };
    let fine = || Answer::Json(200, live(&deployment(3, "web:1"), 3, "web:1"));
    let (ran, asked, took) = busy(
        &[
            "HTTP/1.1 429 Busy\r\nConnection: close\r\nRetry-After: 1\r\nContent-Length: 0\r\n\r\n",
            "HTTP/1.1 503 Busy\r\nConnection: close\r\nRetry-After: 0\r\nContent-Length: 0\r\n\r\n",
            "HTTP/1.1 503 Busy\r\nConnection: close\r\nRetry-After: Fri, 01 Jan 2021 00:00:00 GMT\r\nContent-Length: 0\r\n\r\n",
        ],
        fine(),
    );
    assert!(ran.passed().contains("web:2"));
    assert!(asked == 4 && took >= Duration::from_secs(1), "{asked} {took:?}");

    let slow_down = "HTTP/1.1 429 Busy\r\nConnection: close\r\nRetry-After: 0\r\nContent-Length: 9\r\n\r\nslow down";
    let (ran, asked, _) = busy(&[], Answer::Raw(slow_down));
    let err = ran.failed(2);
    assert!(err.contains("429 slow down (it was asked 5 times, and asks to wait 0 seconds"), "{err}");
    assert_eq!(asked, 5);

    let later = "HTTP/1.1 429 Busy\r\nConnection: close\r\nRetry-After: 3600\r\nContent-Length: 0\r\n\r\n";
    let (ran, asked, took) = busy(&[], Answer::Raw(later));
    let err = ran.failed(2);
    assert!(err.contains("asked once, and asks to wait 3600 seconds before the next time"), "{err}");
    assert!(asked == 1 && took < Duration::from_secs(5), "{asked} {took:?}");

    for gone in [
        "HTTP/1.1 503 Gone\r\nConnection: close\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 404 Gone\r\nConnection: close\r\nRetry-After: 0\r\nContent-Length: 0\r\n\r\n",
    ] {
        assert_eq!(busy(&[], Answer::Raw(gone)).1, 1, "{gone}");
    }
}

#[test]
fn types_contexts_and_namespaces_are_the_cluster_s_and_the_kubeconfig_s() {
    let server = Server::new(cluster(3, "web:1"));
    let thing = "apiVersion: example.com/v1\nkind: Thing\nmetadata: {name: t}\n";
    let folder = folder(
        &server,
        &[
            ("thing.yaml", thing),
            ("other.yaml", "apiVersion: apps/v1\nkind: Other\nmetadata: {name: t}\n"),
            ("map.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: m}\n"),
            ("ns.yaml", "apiVersion: v1\nkind: Namespace\nmetadata: {name: \"n\", namespace: x}\n"),
        ],
    );
    assert!(run(&folder, &["-f", "thing.yaml"]).failed(2).contains("the cluster must know `example.com/v1`"));
    assert!(run(&folder, &["-f", "other.yaml"]).failed(2).contains("the kind `Other` of `apps/v1`"));
    assert!(run(&folder, &["-f", "map.yaml", "-n", "dev"]).passed().contains("+++ b/dev/configmap/m\n"));
    let out = run(&folder, &["-f", "ns.yaml"]).passed();
    assert!(out.contains("+++ b/namespace/n\n") && !out.contains("+  namespace"), "{out}");
    assert!(run(&folder, &["-f", "map.yaml", "--context", "none"]).failed(2).contains("none"));
    let err = run(&folder, &["-f", "map.yaml", "--context", "closed"]).failed(2);
    let unreachable = "the cluster of the context \"closed\" at http://127.0.0.1:1/ cannot be asked";
    assert!(err.contains("map.yaml:1") && err.contains(unreachable), "{err}");
    let err = run(&folder, &["-f", "map.yaml", "-f", "map.yaml"]).failed(2);
    assert!(err.contains("prod/configmap/m must be given once"), "{err}");
    assert!(run(&folder, &["-f", "map.yaml", "--kubeconfig", "none"]).failed(2).contains("none"));
    let kubeconfig = folder.path("kubeconfig");
    let mut command = folder.command(&["live", "-f", "map.yaml", "--kubeconfig"]);
    assert!(
        Ran::of(command.arg(kubeconfig).env("KUBECONFIG", "/nowhere").output().expect("runs"))
            .passed()
            .contains("configmap/m")
    );
}

#[test]
fn lists_of_custom_resources_merge_by_the_keys_that_the_cluster_knows() {
    let thing = |items: Value| json!({"apiVersion": "example.com/v1", "kind": "Thing", "metadata": {"name": "t", "namespace": "prod"}, "spec": {"parts": items}});
    let mut live = thing(json!([{"id": "a", "x": 1}, {"id": "mine", "x": 1}]));
    live["metadata"]["resourceVersion"] = json!("1");
    live["metadata"]["annotations"] =
        json!({"kubectl.kubernetes.io/last-applied-configuration": thing(json!([{"id": "a", "x": 1}])).to_string()});
    let updated = thing(json!([{"id": "a", "x": 2}]));
    let mut answers = cluster(3, "web:1");
    answers.insert("GET /apis/example.com/v1".into(), types(&[("Thing", "things", true)]));
    answers.insert("GET /apis/example.com/v1/namespaces/prod/things/t".into(), Answer::Json(200, live));
    let without = Server::new(answers.clone());
    let schema = json!({"components": {"schemas": {"t": {
        "x-kubernetes-group-version-kind": [{"group": "example.com", "version": "v1", "kind": "Thing"}],
        "properties": {"spec": {"properties": {"parts": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["id"], "items": {"type": "object"}}}}},
    }}}});
    answers.insert("GET /openapi/v3/apis/example.com/v1".into(), Answer::Json(200, schema));
    let with = Server::new(answers);
    let out = run(&folder(&with, &[("t.yaml", &updated.to_string())]), &["-f", "t.yaml", "-o", "json"]).passed();
    let parts = |out: &str| serde_json::from_str::<Value>(out).expect("JSON")["spec"]["parts"].clone();
    assert_eq!(parts(&out), json!([{"id": "a", "x": 2}, {"id": "mine", "x": 1}]));
    let out = run(&folder(&without, &[("t.yaml", &updated.to_string())]), &["-f", "t.yaml", "-o", "json"]).passed();
    assert_eq!(parts(&out), json!([{"id": "a", "x": 2}]), "nothing is known of the list");
    // `explain` asks the same cluster.
    let explained = |server: &Server| {
        let folder = folder(server, &[]);
        let mut command = folder.command(&["explain", "Thing.v1.example.com", "spec", "--live"]);
        let ran = command.env("KUBECONFIG", folder.path("kubeconfig")).output();
        Ran::of(ran.expect("the plugin runs"))
    };
    let out = explained(&with).passed();
    let lists: Vec<Vec<&str>> = out.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(lists, [&["example.com/v1", "Thing"][..], &["spec.parts", "by", "id", "the", "cluster"]], "{out}");
    let _ = explained(&without).failed(2);
}

/// A list of `parts`, which a cluster merges by the id, below this path; original, dest and updated differ in it.
fn with_models(path: &[&str], models: Value) -> Ran {
    let thing = |parts: Value| {
        let spec = path.iter().rev().fold(json!({"parts": parts}), |below, name| json!({*name: below}));
        json!({"apiVersion": "example.com/v1", "kind": "Thing", "metadata": {"name": "t", "namespace": "prod"}, "spec": spec})
    };
    let mut live = thing(json!([{"id": "a", "x": 1}, {"id": "mine", "x": 1}]));
    live["metadata"]["resourceVersion"] = json!("1");
    live["metadata"]["annotations"] =
        json!({"kubectl.kubernetes.io/last-applied-configuration": thing(json!([{"id": "a", "x": 1}])).to_string()});
    let mut answers = cluster(3, "web:1");
    answers.insert("GET /apis/example.com/v1".into(), types(&[("Thing", "things", true)]));
    answers.insert("GET /apis/example.com/v1/namespaces/prod/things/t".into(), Answer::Json(200, live));
    answers.insert("GET /openapi/v3/apis/example.com/v1".into(), Answer::Json(200, models));
    let updated = thing(json!([{"id": "a", "x": 2}]));
    run(&folder(&Server::new(answers), &[("t.yaml", &updated.to_string())]), &["-f", "t.yaml", "-o", "json"])
}

/// A walk over all paths of such a type would have no end: ten to the power of its depth.
#[test]
fn a_type_may_have_many_fields_of_its_own_type() {
    let itself = json!({"$ref": "#/components/schemas/spec"});
    let mut fields: serde_json::Map<String, Value> = (0..10).map(|i| (format!("f{i}"), itself.clone())).collect();
    let parts = json!({
        "type": "array",
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["id"],
        // What YAML has no place for, and JSON has.
        "description": "a\u{feff}b\u{85}c: #d",
        "items": {"type": "object"},
    });
    fields.insert("parts".into(), parts);
    let models = json!({"components": {"schemas": {
        "thing": {
            "x-kubernetes-group-version-kind": [{"group": "example.com", "version": "v1", "kind": "Thing"}],
            "properties": {"spec": itself},
        },
        "spec": {"properties": fields},
    }}});
    let path = ["f9", "f0", "f5", "f5", "f1"];
    let started = Instant::now();
    let merged: Value = serde_json::from_str(&with_models(&path, models).passed()).expect("JSON");
    assert!(started.elapsed() < Duration::from_secs(20), "{:?}", started.elapsed());
    let spec = path.iter().fold(&merged["spec"], |value, name| &value[*name]);
    assert_eq!(spec["parts"], json!([{"id": "a", "x": 2}, {"id": "mine", "x": 1}]));
}

#[test]
fn what_was_not_applied_by_kubectl_is_set_and_told() {
    let mut answers = cluster(3, "web:1");
    let mut live = live(&json!({}), 5, "web:1");
    live["metadata"].as_object_mut().expect("a map").remove("annotations");
    answers.insert(format!("GET {WEB}"), Answer::Json(200, live));
    let server = Server::new(answers);
    let ran = run(&folder(&server, &[("web.yaml", &deployment(3, "web:1").to_string())]), &["-f", "web.yaml"]);
    assert!(
        ran.stderr.contains("warning: prod/deployment.apps/web: it has no last-applied-configuration annotation"),
        "{ran:?}"
    );
    assert!(ran.stdout.contains("-  replicas: 5\n+  replicas: 3\n") && !ran.stdout.contains("conflict"), "{ran:?}");
}

#[test]
fn a_field_that_the_server_does_not_change_is_told_before_anything_is_sent() {
    let with = |app: &str| {
        let mut web = deployment(3, "web:1");
        web["spec"]["selector"]["matchLabels"]["app"] = app.into();
        web
    };
    let told = "warning: Deployment prod/web (prod/deployment.apps/web): `spec.selector";
    let refuses = "the API server does not allow this change of an existing object";
    let mut applied = live(&with("web"), 3, "web:1");
    applied["spec"]["selector"] = with("web")["spec"]["selector"].clone();
    // Of this one, nobody knows what was applied to it.
    let mut bare = applied.clone();
    bare["metadata"]["annotations"] = json!({});
    for (live, is_known) in [(applied, true), (bare, false)] {
        let mut answers = cluster(3, "web:1");
        answers.insert(format!("GET {WEB}"), Answer::Json(200, live));
        answers.insert(format!("PATCH {WEB} dry"), Answer::Json(422, status(422, "field is immutable")));
        let server = Server::new(answers);
        let of = |app: &str| folder(&server, &[("web.yaml", &with(app).to_string())]);
        let ran = run(&of("shop"), &["-f", "web.yaml"]);
        let refusal = "the server does not take it, and nothing was sent: the cluster answered: 422 field is immutable";
        assert!(ran.code == Some(0) && ran.stderr.contains(refusal), "{ran:?}");
        assert_eq!(ran.stderr.contains(told), is_known, "{ran:?}");
        let err = run(&of("shop"), &["-f", "web.yaml", "--apply"]).failed(2);
        assert!(err.contains(refusal) && err.contains(refuses) == is_known, "{err}");
        assert!(server.asked().iter().all(|asked| asked.line.starts_with("GET ") || asked.is_dry()));
        assert!(!format!("{:?}", run(&of("web"), &["-f", "web.yaml"])).contains(refuses));
    }
}

#[test]
fn secrets_are_not_shown() {
    let secret = |password: &str| json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s", "namespace": "prod"}, "data": {"same": "c2FtZQ==", "password": password}});
    let mut answers = cluster(3, "web:1");
    let mut live = secret("bGl2ZQ==");
    live["data"]["same"] = json!("b3RoZXI=");
    live["metadata"]["resourceVersion"] = json!("1");
    live["metadata"]["annotations"] =
        json!({"kubectl.kubernetes.io/last-applied-configuration": secret("b2xk").to_string()});
    answers.insert("GET /api/v1".into(), types(&[("Secret", "secrets", true)]));
    answers.insert("GET /api/v1/namespaces/prod/secrets/s".into(), Answer::Json(200, live));
    let server = Server::new(answers);
    let folder = folder(&server, &[("s.yaml", &secret("bmV3").to_string())]);
    for format in ["diff", "results"] {
        let ran = run(&folder, &["-f", "s.yaml", "-o", format]);
        let all = format!("{}{}", ran.stdout, ran.stderr);
        assert!(all.contains("data.password") && all.contains("***"), "{ran:?}");
        for value in ["bGl2ZQ", "b2xk", "bmV3", "c2FtZQ", "b3RoZXI"] {
            assert!(!all.contains(value), "{value}\n{ran:?}");
        }
    }
    // A program gets the object that it can pass on; someone at a terminal does not see it.
    let merged = |ran: Ran| yaml_serde::from_str::<Value>(&ran.passed()).expect("YAML")["data"].clone();
    let data = json!({"same": "b3RoZXI=", "password": "bmV3"});
    for format in ["yaml", "json"] {
        assert_eq!(merged(run(&folder, &["-f", "s.yaml", "-o", format])), data);
        if crate::support::has("script") {
            let words = format!("'{}' live -f s.yaml -o {format} --color never 2>told", crate::support::PLUGIN);
            let mut command = std::process::Command::new("script");
            command
                .args(["-qec", &words, "/dev/null"])
                .current_dir(&folder.0)
                .env("KUBECONFIG", folder.path("kubeconfig"));
            let seen = merged(Ran::of(command.output().expect("runs")));
            assert_eq!(seen, json!({"same": "***", "password": "***"}));
        }
    }
    let out = run(&folder, &["-f", "s.yaml"]).passed();
    assert!(out.contains("-  password: '*** (before)'\n+  password: '*** (after)'\n"), "{out}");
    assert!(out.contains("changed in the cluster: prod/secret/s: data.same\n  original: \"***\"\n"), "{out}");
}

/// The cluster with this Secret, which the server keeps as `live`.
fn with_secret(live: Value) -> Server {
    let mut answers = cluster(3, "web:1");
    answers.insert("GET /api/v1".into(), types(&[("Secret", "secrets", true)]));
    answers.insert("GET /api/v1/namespaces/prod/secrets/s".into(), Answer::Json(200, live));
    answers.insert("PATCH /api/v1/namespaces/prod/secrets/s".into(), Answer::Json(200, json!({})));
    Server::new(answers)
}

fn secret(rest: Value) -> Value {
    let mut secret = json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s", "namespace": "prod", "resourceVersion": "5"}});
    rest.as_object().expect("a map").iter().for_each(|(name, value)| secret[name] = value.clone());
    secret
}

#[test]
fn no_form_of_a_secret_is_shown() {
    let server = with_secret(secret(json!({"data": {"a": "bGl2ZQ=="}})));
    for (rest, shown) in [
        (json!({"data": "SECRET"}), true),
        (json!({"data": ["SECRET"], "stringData": "SECRET"}), true),
        (json!({"data": {"a": {"b": "SECRET"}}}), true),
        (json!({"stringData": {"a": "SECRET", "b": 1234321}}), true),
        (json!({"data": {"a": "bGl2ZQ=="}}), false),
    ] {
        let folder = folder(&server, &[("s.yaml", &secret(rest).to_string())]);
        for format in ["diff", "results", "name"] {
            let ran = run(&folder, &["-f", "s.yaml", "-o", format]);
            let all = format!("{}{}", ran.stdout, ran.stderr);
            assert!(ran.code == Some(0) && (format != "diff" || shown == all.contains("***")), "{ran:?}");
            for value in ["SECRET", "bGl2ZQ", "U0VDUkVU", "1234321"] {
                assert!(!all.contains(value), "{value}\n{ran:?}");
            }
        }
    }
}

#[test]
fn string_data_that_is_stored_is_no_drift_and_no_change() {
    let file = secret(json!({"stringData": {"a": "live"}}));
    let mut live = secret(json!({"data": {"a": "bGl2ZQ=="}}));
    let mut applied = file.clone();
    applied["metadata"]["annotations"] = json!({});
    applied["metadata"].as_object_mut().expect("a map").remove("resourceVersion");
    live["metadata"]["annotations"] = json!({"kubectl.kubernetes.io/last-applied-configuration": applied.to_string()});
    let server = with_secret(live);
    let same = folder(&server, &[("s.yaml", &file.to_string())]);
    assert_eq!(run(&same, &["-f", "s.yaml", "--exit-code"]).passed(), "");
    assert_eq!(run(&same, &["-f", "s.yaml", "--apply"]).passed(), "");
    assert_eq!(server.sent().len(), 0);
    let other = folder(&server, &[("s.yaml", &secret(json!({"stringData": {"a": "new"}})).to_string())]);
    assert_eq!(run(&other, &["-f", "s.yaml", "--apply"]).passed(), "prod/secret/s configured\n");
    let patch = &server.sent()[1].1;
    assert_eq!((&patch["data"], patch.get("stringData")), (&json!({"a": "bmV3"}), None));
}

/// The server keeps the values in `data`, and their owner owns them as `stringData`.
#[test]
fn string_data_that_is_applied_on_the_server_s_side_is_sent_once() {
    let mut live = secret(json!({"data": {"a": "bGl2ZQ=="}}));
    let fields = json!({"f:stringData": {".": {}, "f:a": {}}});
    live["metadata"]["managedFields"] = json!([{"manager": "krm-merge", "operation": "Apply", "fieldsV1": fields}]);
    let server = with_secret(live);
    for (text, count) in [("live", 0), ("new", 2)] {
        let files = secret(json!({"stringData": {"a": text}}));
        let folder = folder(&server, &[("s.yaml", &files.to_string())]);
        let _ = run(&folder, &["-f", "s.yaml", "--server-side", "--apply"]).passed();
        assert_eq!(server.sent().len(), count, "{text}");
    }
}

#[test]
fn what_was_applied_is_noted_even_where_the_fields_agree() {
    let web = deployment(3, "web:1");
    let mut adopted = live(&web, 3, "web:1");
    adopted["metadata"].as_object_mut().expect("a map").remove("annotations");
    for live in [adopted, live(&deployment(2, "web:1"), 3, "web:1")] {
        let mut answers = cluster(3, "web:1");
        answers.insert(format!("GET {WEB}"), Answer::Json(200, live));
        let server = Server::new(answers);
        let folder = folder(&server, &[("web.yaml", &web.to_string())]);
        assert!(!run(&folder, &["-f", "web.yaml"]).passed().contains("+++"));
        assert_eq!(run(&folder, &["-f", "web.yaml", "--apply"]).passed(), "prod/deployment.apps/web configured\n");
        let mut applied = web.clone();
        applied["metadata"]["namespace"] = json!("prod");
        applied["metadata"]["annotations"] = json!({});
        let sent = server.sent();
        let metadata = &sent[1].1["metadata"];
        let noted = metadata["annotations"]["kubectl.kubernetes.io/last-applied-configuration"].as_str();
        assert_eq!(serde_json::from_str::<Value>(noted.expect("noted")).expect("JSON"), applied);
        assert_eq!((sent.len(), &metadata["resourceVersion"], sent[1].1.get("spec")), (2, &json!("41"), None));
    }
}

#[test]
fn an_answer_that_is_another_object_is_refused() {
    let of = |field: &str, value: Value| {
        let mut object = live(&deployment(3, "web:1"), 3, "web:1");
        *object.pointer_mut(field).expect(field) = value;
        object
    };
    for (answer, want) in [
        (
            json!({"apiVersion": "apps/v1", "kind": "DeploymentList", "items": []}),
            "`kind` \"Deployment\", not \"DeploymentList\"",
        ),
        (status(200, "fine"), "`apiVersion` \"apps/v1\", not \"v1\""),
        (of("/kind", json!("Other")), "not \"Other\""),
        (of("/metadata/name", json!("api")), "`metadata.name` \"web\", not \"api\""),
        (of("/metadata/namespace", json!("dev")), "`metadata.namespace` \"prod\", not \"dev\""),
        (of("/metadata", Value::Null), "`metadata.name`"),
        (of("/metadata/resourceVersion", json!("")), "`metadata.resourceVersion`"),
        (of("/metadata/resourceVersion", Value::Null), "`metadata.resourceVersion`"),
    ] {
        let mut answers = cluster(3, "web:1");
        answers.insert(format!("GET {WEB}"), Answer::Json(200, answer));
        let server = Server::new(answers);
        let web = deployment(3, "web:2").to_string();
        let err = run(&folder(&server, &[("web.yaml", &web)]), &["-f", "web.yaml", "--apply"]).failed(2);
        assert!(err.starts_with("error: prod/deployment.apps/web (web.yaml:1:1): ") && err.contains(want), "{err}");
        assert_eq!(server.sent().len(), 0);
    }
}

#[test]
fn flags_say_more_than_the_kubeconfig() {
    let server = Server::new(cluster(3, "web:1"));
    let folder = folder(&server, &[("web.yaml", &deployment(3, "web:2").to_string())]);
    let address = format!("http://127.0.0.1:{}", server.port);
    for args in [&["--cluster", "here"][..], &["--server", &address], &["-s", &address, "--user", "u"]] {
        let out = run(&folder, &[&["-f", "web.yaml", "--context", "closed"], args].concat()).passed();
        assert!(out.contains("web:2"), "{args:?}");
    }
    let _ = run(&folder, &["-f", "web.yaml", "--as", "jane", "--as-group", "dev", "--as-group", "ops"]).passed();
    assert_eq!(server.asked().pop().expect("asked").acts_as, ["jane", "dev", "ops"]);
    for (args, want) in [
        (&["--server", "nowhere"][..], "`--server` must be an address"),
        (&["--as", "a\nb"], "`--as` must be a name"),
        (&["--cluster", "none"], "none"),
        (&["--user", "none"], "none"),
        (&["--as-group", "dev"], "--as"),
    ] {
        let err = run(&folder, &[&["-f", "web.yaml"], args].concat()).failed(2);
        assert!(err.contains(want), "{err}");
    }
}

#[test]
fn labels_say_which_resources_are_meant() {
    let server = Server::new(cluster(3, "web:1"));
    let mut web = deployment(3, "web:2");
    web["metadata"]["labels"] = json!({"app": "web"});
    let other = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c", "labels": {"app": "c"}}});
    let folder = folder(&server, &[("web.yaml", &format!("{web}\n---\n{other}\n"))]);
    let out = run(&folder, &["-f", "web.yaml", "-l", "app in (web)", "-R"]).passed();
    assert!(out.contains("web:2"), "{out}");
    let asked = server.asked();
    assert!(asked.iter().any(|a| a.line == format!("GET {WEB}")), "{asked:?}");
    assert!(asked.iter().all(|a| !a.line.contains("configmaps")), "{asked:?}");
    let err = run(&folder, &["-f", "web.yaml", "-l", "app=none"]).failed(2);
    assert!(err.contains("a resource must fit `-l app=none`, but none does"), "{err}");
    let err = run(&folder, &["-f", "web.yaml", "-l", "app=(a"]).failed(2);
    assert!(err.contains("`--selector` \"app=(a\": "), "{err}");
}

#[test]
fn a_kustomization_is_built_by_kubectl() {
    if !has("kubectl") {
        return;
    }
    let server = Server::new(cluster(3, "web:1"));
    let files = [
        ("here/kustomization.yaml", "resources: [web.yaml]\nimages: [{name: web, newTag: '2'}]\n"),
        ("here/web.yaml", &*deployment(3, "web:1").to_string()),
        ("bad/kustomization.yaml", "resources: [gone.yaml]\n"),
    ];
    let folder = folder(&server, &files);
    let out = run(&folder, &["-k", "here"]).passed();
    assert!(out.contains("web:2"), "{out}");
    let err = run(&folder, &["-k", "bad"]).failed(2);
    assert!(err.contains("`kubectl kustomize bad` must pass: ") && err.contains("gone.yaml"), "{err}");
    run(&folder, &["-k", "here", "-f", "here/web.yaml"]).failed(2);
    run(&folder, &[]).failed(2);
}

#[test]
fn files_of_kubeconfig_that_are_not_there_say_nothing() {
    let server = Server::new(cluster(3, "web:1"));
    let folder = folder(&server, &[("web.yaml", &deployment(3, "web:2").to_string())]);
    let mut command = folder.command(&["live", "-f", "web.yaml"]);
    let files = std::env::join_paths([folder.path("missing"), folder.path("kubeconfig")]).expect("paths");
    assert!(Ran::of(command.env("KUBECONFIG", files).output().expect("runs")).passed().contains("web:2"));
}

#[test]
fn a_default_that_the_server_added_is_no_conflict() {
    let thing = |parts: Value| json!({"apiVersion": "example.com/v1", "kind": "Thing", "metadata": {"name": "t", "namespace": "prod"}, "spec": {"parts": parts}});
    let applied = thing(json!([{"x": 1}])).to_string();
    let run_with = |live_parts: Value| {
        let mut live = thing(live_parts);
        live["metadata"]["resourceVersion"] = json!("1");
        live["metadata"]["annotations"] = json!({"kubectl.kubernetes.io/last-applied-configuration": applied});
        let answers = BTreeMap::from([
            ("GET /apis/example.com/v1".to_owned(), types(&[("Thing", "things", true)])),
            ("GET /apis/example.com/v1/namespaces/prod/things/t".to_owned(), Answer::Json(200, live)),
        ]);
        let server = Server::new(answers);
        let folder = folder(&server, &[("t.yaml", &thing(json!([{"x": 2}])).to_string())]);
        run(&folder, &["-f", "t.yaml", "--on-conflict", "fail"])
    };
    let ran = run_with(json!([{"x": 1, "mode": "default"}]));
    assert!(ran.code == Some(0) && ran.stdout.contains("+  - x: 2\n"), "{ran:?}");
    let err = run_with(json!([{"x": 7}])).failed(1);
    assert!(err.contains("both sides changed `spec.parts`: dest has") && err.contains("unresolved"), "{err}");
}

/// The bare word `1_000` is a number to some readers, and it must not be sent as one.
#[test]
fn a_text_that_looks_like_a_number_stays_a_text() {
    let thing = |rest: Value| json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "m", "namespace": "prod"}, "data": rest});
    let mut live = thing(json!({"n": "1_000", "1_000": "n", "x": "1"}));
    live["metadata"]["resourceVersion"] = json!("1");
    let mut applied = thing(json!({"x": "1"}));
    live["metadata"]["annotations"] = json!({"kubectl.kubernetes.io/last-applied-configuration": applied.to_string()});
    let mut answers = cluster(3, "web:1");
    answers.insert("GET /api/v1/namespaces/prod/configmaps/m".to_owned(), Answer::Json(200, live));
    answers.insert("PATCH /api/v1/namespaces/prod/configmaps/m".to_owned(), Answer::Json(200, json!({})));
    let server = Server::new(answers);
    applied["data"] = json!({"x": "2"});
    let folder = folder(&server, &[("m.yaml", &applied.to_string())]);
    assert_eq!(run(&folder, &["-f", "m.yaml", "--apply"]).passed(), "prod/configmap/m configured\n");
    let sent = server.sent();
    assert_eq!(sent[1].1["data"], json!({"x": "2"}), "{sent:?}");
}

/// Every policy settles a conflict before anything is sent, and what is sent is what was settled.
#[test]
fn apply_settles_conflicts_as_it_is_told() {
    for (policy, replicas) in [("take-updated", Some(4)), ("keep-dest", None), ("fail", None)] {
        let server = Server::new(cluster(5, "web:1"));
        let folder = folder(&server, &[("web.yaml", &deployment(4, "web:2").to_string())]);
        let ran = run(&folder, &["-f", "web.yaml", "--apply", "--on-conflict", policy]);
        let sent = server.sent();
        if policy == "fail" {
            let err = ran.failed(1);
            assert!(
                err.contains("both sides changed `spec.replicas`: dest has 5") && sent.is_empty(),
                "{err} {sent:?}"
            );
            continue;
        }
        assert!(ran.stderr.contains("both sides changed `spec.replicas`: dest has 5"), "{ran:?}");
        assert_eq!(ran.passed(), "prod/deployment.apps/web configured\n");
        assert_eq!(sent.len(), 2);
        let spec = &sent[1].1["spec"];
        assert_eq!(spec.get("replicas"), replicas.map(|n| json!(n)).as_ref(), "{policy}: {spec}");
        assert_eq!(spec["template"]["spec"]["containers"][0]["image"], "web:2");
    }
}
