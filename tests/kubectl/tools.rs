//! The two sides: what `kubectl` makes of a patch, and what the function makes of it.

#[path = "../support/skip.rs"]
mod skip;

use std::io::Write;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};

use krm_merge_function::Verdict;
use krm_yaml::Document;
use serde_json::{Value, json};

use crate::generate::Random;
use crate::render::Style;
use crate::support::{indent, resource_list, side, value_of};
use skip::{has, skipped};

/// What became of one dest.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    Is(Value),
    Gone,
    Refused(String),
}

impl std::fmt::Display for Event {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Is(_) => write!(f, "a result"),
            Self::Gone => write!(f, "gone"),
            Self::Refused(why) => write!(f, "refused ({why})"),
        }
    }
}

/// Whether the tests that hold the function against kubectl can run; skips the test where not.
/// 1.27 replaces a list by the values that `$deleteFromPrimitiveList` takes out of it; 1.28 to 1.33 answer alike.
pub fn has_kubectl() -> bool {
    if !has("kubectl") {
        return false;
    }
    let output = Command::new("kubectl").args(["version", "--client", "-o", "json"]).output().ok();
    let version: Option<Value> = output.and_then(|o| serde_json::from_slice(&o.stdout).ok());
    let minor = version.and_then(|v| v["clientVersion"]["minor"].as_str()?.trim_end_matches('+').parse::<u32>().ok());
    let is_new = minor >= Some(28);
    if !is_new {
        skipped("kubectl", "must be 1.28 or newer");
    }
    is_new
}

/// What `kubectl patch --local --type strategic` makes of each dest. One call serves them all: it prints those that it could patch, and
/// goes on behind one that it refuses. It works on the documents as they are, by the Go types' merge keys, so what comes out needs no
/// normalising: unknown fields stay, and nothing is added.
pub fn kubectl_patch(dests: &[&Value], patch: &Value) -> Vec<Event> {
    let text: String = dests.iter().map(|d| format!("---\n{d}\n")).collect();
    let args = ["patch", "--local", "--type", "strategic", "-o", "json", "-f", "-", "-p", &patch.to_string()];
    let output = kubectl(&args, &text);
    let stderr = String::from_utf8_lossy(&output.stderr);
    let panicked = stderr.contains("\ngoroutine ");
    if panicked && dests.len() > 1 {
        return dests.iter().flat_map(|d| kubectl_patch(&[d], patch)).collect();
    }
    let values = serde_json::Deserializer::from_slice(&output.stdout).into_iter::<Value>();
    let mut values: Vec<Value> = values.collect::<Result<_, _>>().expect("kubectl prints JSON");
    let refused = || Event::Refused(stderr.lines().take(5).collect::<Vec<_>>().join(" / "));
    dests
        .iter()
        .map(|dest| {
            let is_it = |v: &Value| ["kind", "apiVersion"].iter().all(|f| v[*f] == dest[*f]) && name(v) == name(dest);
            values.iter().position(is_it).map_or_else(refused, |i| Event::Is(values.remove(i)))
        })
        .collect()
}

fn name(resource: &Value) -> &Value {
    &resource["metadata"]["name"]
}

pub fn kubectl(args: &[&str], stdin: &str) -> std::process::Output {
    let mut child = Command::new("kubectl")
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("kubectl starts");
    child.stdin.take().expect("a pipe").write_all(stdin.as_bytes()).expect("kubectl reads");
    child.wait_with_output().expect("kubectl ends")
}

/// Asks for each of these at once on as many threads as there are cores; the answers are in order.
pub fn in_parallel<T: Sync, R: Send>(all: &[T], ask: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let mut answers: Vec<(usize, R)> = std::thread::scope(|scope| {
        let work = || {
            let mut own = Vec::new();
            while let Some((i, one)) = Some(next.fetch_add(1, Ordering::Relaxed)).and_then(|i| Some((i, all.get(i)?))) {
                own.push((i, ask(one)));
            }
            own
        };
        let threads: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        threads.into_iter().flat_map(|t| t.join().expect("no panic")).collect()
    });
    answers.sort_by_key(|a| a.0);
    answers.into_iter().map(|a| a.1).collect()
}

/// A patch with the identity of the dest that it is meant for.
pub fn named(dest: &Value, patch: &Value) -> Value {
    let mut named = json!({"apiVersion": dest["apiVersion"], "kind": dest["kind"], "metadata": {"name": name(dest)}});
    if let Some(namespace) = dest["metadata"].get("namespace") {
        named["metadata"]["namespace"] = namespace.clone();
    }
    for (field, value) in patch.as_object().into_iter().flatten() {
        match (field.as_str(), value.as_object()) {
            ("metadata", Some(inner)) => named["metadata"].as_object_mut().expect("a map").extend(inner.clone()),
            _ => named[field] = value.clone(),
        }
    }
    named
}

/// What the function makes of a named patch, which is written in one of many styles.
pub fn merge(dest: &str, patch: &Value, seed: u64) -> Event {
    merge_by(&[], dest, patch, seed)
}

/// The same with rules of the user for lists.
pub fn merge_by(rules: &[Value], dest: &str, patch: &Value, seed: u64) -> Event {
    let source = match seed % 3 {
        0 => format!("source:\n- resources:\n  - {patch}\n"),
        _ => {
            let bytes = Random(seed).bytes(64);
            side("source", &Style::new(&bytes).document(patch))
        }
    };
    let item = format!("- {}", indent(dest.trim_start(), 2).trim_start());
    let output = krm_merge_function::run(&resource_list(
        &item,
        &format!("mode: Strategic\nmergeKeys: {}\n{source}", json!(rules)),
    ));
    if output.verdict == Verdict::Failed {
        return Event::Refused(output.stderr.join(" / "));
    }
    let doc = Document::parse(output.stdout).expect("what comes out is YAML");
    let items = doc.roots().next().and_then(|r| r.get("items")).expect("items");
    items.elements().next().map_or(Event::Gone, |item| Event::Is(value_of(item)))
}
