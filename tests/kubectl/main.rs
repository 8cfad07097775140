//! Strategic against the real thing: what `kubectl patch --local --type strategic` makes of generated patches over real kinds.
//!
//! Each of 39 manifests meets all patches that were made for its kind, so that a patch also meets dests which lack what it speaks of.
//! Values are compared; what differs must be one of the disagreements in [`disagree`], and each of those must occur. `kubectl kustomize`
//! is asked about the patches that speak its dialect; see [`kustomize`].

mod disagree;
mod equal;
mod generate;
mod kustomize;
#[path = "../support/render.rs"]
mod render;
#[path = "../support/mod.rs"]
mod support;
mod targets;
mod tools;
mod typed;

use std::collections::{BTreeMap, BTreeSet};

use disagree::{Name, Plain};
use generate::{Case, EDITS, Leaves};
use serde_json::{Value, json};
use tools::{Event, has_kubectl, in_parallel, kubectl_patch, merge};

/// A manifest, as text and as value.
struct Dest {
    text: &'static str,
    value: Value,
}

fn dests() -> Vec<Dest> {
    let documents = include_str!("dest.yaml").split("---\n");
    documents.map(|text| Dest { text, value: yaml_serde::from_str(text).expect("a manifest is YAML") }).collect()
}

/// The patches for each kind.
const PER_KIND: usize = 17;

fn cases(dests: &[Dest]) -> Vec<Case> {
    let values: Vec<Value> = dests.iter().map(|d| d.value.clone()).collect();
    generate::cases(&values, PER_KIND).into_iter().chain(generate::written()).collect()
}

/// One patch on one dest.
struct Trial<'t> {
    case: &'t Case,
    dest: &'t Dest,
    ours: Event,
    theirs: Event,
    plain: Plain,
}

/// Each patch on all dests of its kind.
fn trials<'t>(dests: &'t [Dest], cases: &'t [Case]) -> Vec<Trial<'t>> {
    let numbered: Vec<(usize, &Case)> = cases.iter().enumerate().collect();
    let tried = in_parallel(&numbered, |(i, case)| {
        let own: Vec<&Dest> = dests.iter().filter(|d| d.value["kind"] == *case.kind).collect();
        let theirs = kubectl_patch(&own.iter().map(|d| &d.value).collect::<Vec<_>>(), &case.patch);
        let trial = |(dest, theirs): (&'t Dest, Event)| {
            let ours = merge(dest.text, &tools::named(&dest.value, &case.patch), *i as u64);
            Trial { case, dest, ours, theirs, plain: Plain::of(&dest.value, &case.patch) }
        };
        own.into_iter().zip(theirs).map(trial).collect::<Vec<_>>()
    });
    tried.into_iter().flatten().collect()
}

/// What a trial came to.
enum Verdict {
    Agrees,
    /// They differ by these disagreements, as they must.
    Named(BTreeSet<Name>),
    Wrong(String),
}

fn judge(trials: &[Trial<'_>]) -> Vec<Verdict> {
    let first: Vec<Result<Verdict, String>> = trials.iter().map(at_first).collect();
    // Dests for which the patch is the same in other words are asked about in one call.
    let mut asked: BTreeMap<(&str, String), Vec<usize>> = BTreeMap::new();
    for (i, _) in first.iter().enumerate().filter(|f| f.1.is_err()) {
        asked.entry((&trials[i].case.kind, trials[i].plain.patch.to_string())).or_default().push(i);
    }
    let asked: Vec<Vec<usize>> = asked.into_values().collect();
    let answers = in_parallel(&asked, |all| {
        let dests: Vec<&Value> = all.iter().map(|i| &trials[*i].plain.dest).collect();
        kubectl_patch(&dests, &trials[all[0]].plain.patch)
    });
    let meant: BTreeMap<usize, Event> = asked.into_iter().flatten().zip(answers.into_iter().flatten()).collect();
    let verdict = |(i, first): (usize, Result<Verdict, String>)| match (first, meant.get(&i)) {
        (Ok(verdict), _) => verdict,
        (Err(_), Some(meant)) => in_other_words(&trials[i], meant),
        (Err(found), None) => Verdict::Wrong(found),
    };
    first.into_iter().enumerate().map(verdict).collect()
}

/// What the answers to the patch as it is written say; where they differ and the patch can be said in other words, how they differ.
fn at_first(trial: &Trial<'_>) -> Result<Verdict, String> {
    let Trial { case, ours, theirs, plain, .. } = trial;
    if !plain.faults.is_empty() {
        return Ok(match (ours, theirs) {
            (Event::Refused(_), Event::Refused(_)) => Verdict::Agrees,
            (Event::Refused(_), _) => Verdict::Named(plain.faults.clone()),
            _ => Verdict::Wrong(format!("must be refused for {:?}, as {theirs} there", plain.faults)),
        });
    }
    let found = match (ours, theirs) {
        (Event::Is(ours), Event::Is(theirs)) => equal::difference(ours, theirs, &case.patch),
        (Event::Refused(_), Event::Refused(_)) => None,
        // kubectl replaces the list and leaves the directives in it, or follows them as if there were no other element.
        (Event::Refused(_), _) if case.edits.contains(&"a replaced list with directives") => {
            return Ok(Verdict::Named(plain.names.clone()));
        }
        _ => Some(format!("{ours} here, {theirs} there")),
    };
    match found {
        None => Ok(Verdict::Agrees),
        Some(found) if plain.names.is_empty() => Ok(Verdict::Wrong(found)),
        Some(found) => Err(found),
    }
}

/// What the answer to the patch in other words says.
fn in_other_words(trial: &Trial<'_>, meant: &Event) -> Verdict {
    let Trial { case, ours, plain, .. } = trial;
    let found = match (ours, meant) {
        (Event::Is(ours), Event::Is(meant)) => equal::difference(ours, &disagree::with_all_keys(meant), &case.patch),
        _ => Some(format!("{ours} here, {meant} there")),
    };
    match found {
        None => Verdict::Named(plain.names.clone()),
        Some(found) => Verdict::Wrong(format!("{found}\n  though {:?}, said as {}", plain.names, plain.patch)),
    }
}

#[test]
fn strategic_does_what_kubectl_does_but_for_named_disagreements() {
    if !has_kubectl() {
        return;
    }
    let dests = dests();
    let cases = cases(&dests);
    assert!(cases.len() >= 300, "{}", cases.len());
    let trials = trials(&dests, &cases);
    let verdicts = judge(&trials);
    let mut wrong = Vec::new();
    let mut count: BTreeMap<Name, usize> = BTreeMap::new();
    let mut agreed = 0;
    for (trial, verdict) in trials.iter().zip(verdicts) {
        let Trial { case, dest, .. } = trial;
        match verdict {
            Verdict::Agrees => agreed += 1,
            Verdict::Named(names) => {
                if let (1, Some(only)) = (names.len(), names.first()) {
                    *count.entry(*only).or_default() += 1;
                }
            }
            Verdict::Wrong(found) => wrong.push(format!(
                "{} {}, {}:\n  {}\n  {found}",
                case.kind,
                dest.value["metadata"]["name"],
                case.edits.join(" + "),
                case.patch
            )),
        }
        if let (Leaves::Typed, Event::Is(ours)) = (case.leaves, &trial.ours)
            && let Err(e) = typed::check(ours)
        {
            wrong.push(format!("{} {:?}: no longer of its type: {e}\n  {}", case.kind, case.edits, case.patch));
        }
    }
    eprintln!(
        "{} patches on {} manifests: {} results, {agreed} alike, {count:?}",
        cases.len(),
        dests.len(),
        trials.len()
    );
    assert!(
        wrong.is_empty(),
        "{} of {} results are wrong:\n{}",
        wrong.len(),
        trials.len(),
        wrong[..wrong.len().min(25)].join("\n")
    );
    let stale: Vec<Name> = disagree::ALL.into_iter().filter(|n| !count.contains_key(n)).collect();
    assert!(stale.is_empty(), "these disagreements never occur: {stale:?}");
    let used: BTreeSet<&str> = cases.iter().flat_map(|c| c.edits.iter().copied()).collect();
    let unused: Vec<&str> = EDITS.iter().map(|e| e.name).filter(|n| !used.contains(n)).collect();
    assert!(unused.is_empty(), "these edits were never made: {unused:?}");
}

#[test]
fn strategic_does_what_kustomize_does_but_for_named_disagreements() {
    if !has_kubectl() {
        return;
    }
    let dests = dests();
    let cases = cases(&dests);
    let mut by_kind: BTreeMap<&str, Vec<(&Case, &Dest)>> = BTreeMap::new();
    for case in cases.iter().filter(|c| kustomize::understands(c)) {
        let own = dests.iter().filter(|d| d.value["kind"] == *case.kind);
        let own = own.filter(|d| Plain::of(&d.value, &case.patch).faults.is_empty());
        by_kind.entry(&case.kind).or_default().extend(own.map(|d| (case, d)));
    }
    let kinds: Vec<Vec<(&Case, &Dest)>> = by_kind.into_values().collect();
    let built = in_parallel(&kinds, |kind| {
        let pairs: Vec<(&Value, &Value)> = kind.iter().map(|(case, dest)| (&dest.value, &case.patch)).collect();
        let ours = kind.iter().enumerate();
        let ours = ours.map(|(i, (case, dest))| merge(dest.text, &tools::named(&dest.value, &case.patch), i as u64));
        ours.zip(kustomize::build(&kind[0].0.kind, &pairs)).collect::<Vec<_>>()
    });
    let mut wrong = Vec::new();
    let mut count: BTreeMap<kustomize::Name, usize> = BTreeMap::new();
    let mut agreed = 0;
    for ((case, dest), (ours, theirs)) in kinds.iter().flatten().zip(built.into_iter().flatten()) {
        let (Event::Is(ours), Event::Is(theirs)) = (&ours, &theirs) else {
            wrong.push(format!("{} {:?}: {}\n  {ours} here, {theirs} there", case.kind, case.edits, case.patch));
            continue;
        };
        let Some(found) = equal::difference(ours, theirs, &case.patch) else {
            agreed += 1;
            continue;
        };
        match kustomize::name(case, &dest.value, ours, theirs) {
            Some(name) => *count.entry(name).or_default() += 1,
            None => {
                let name = &dest.value["metadata"]["name"];
                wrong.push(format!("{} {name} {:?}: {}\n  {found}", case.kind, case.edits, case.patch));
            }
        }
    }
    eprintln!("{agreed} of {} builds alike, {count:?}", kinds.iter().flatten().count());
    assert!(wrong.is_empty(), "{} are wrong:\n{}", wrong.len(), wrong.join("\n"));
    assert!(agreed >= 200, "{agreed}");
    let stale: Vec<_> = kustomize::ALL.into_iter().filter(|n| !count.contains_key(n)).collect();
    assert!(stale.is_empty(), "these disagreements never occur: {stale:?}");
}

/// kubectl cannot be asked about these: it refuses them, or falls over.
#[test]
fn strategic_does_what_kubectl_cannot() {
    if !has_kubectl() {
        return;
    }
    let dest =
        "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec:\n  future: {a: 1, b: 2}\n  tolerations: [{key: a}]\n";
    let value: Value = yaml_serde::from_str(dest).expect("YAML");
    let ask =
        |patch: Value| (kubectl_patch(&[&value], &patch).remove(0), merge(dest, &tools::named(&value, &patch), 0));
    let refused = |outcome: &Event, why: &str| matches!(outcome, Event::Refused(text) if text.contains(why));

    let (theirs, ours) = ask(json!({"$patch": "delete"}));
    assert!(refused(&theirs, "'Kind' is missing"), "{theirs}");
    assert_eq!(ours, Event::Gone);

    let whole = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": {"nodeName": "n"}});
    let mut patch = whole.clone();
    patch["$patch"] = json!("replace");
    let (theirs, ours) = ask(patch);
    assert_eq!((theirs, ours), (Event::Is(whole.clone()), Event::Is(whole)));

    // A field that is newer than the types: kubectl refuses a map that meets a map there. Here it merges, as it would in a label.
    let (theirs, ours) = ask(json!({"spec": {"future": {"b": null, "c": 3}}}));
    assert!(refused(&theirs, "unable to find api field"), "{theirs}");
    let mut want = value.clone();
    want["spec"]["future"] = json!({"a": 1, "c": 3});
    assert_eq!(ours, Event::Is(want));

    // An order of maps that have no key.
    let (theirs, ours) = ask(json!({"spec": {"$setElementOrder/tolerations": [{"key": "a"}]}}));
    assert!(refused(&theirs, "panic: runtime error"), "{theirs}");
    assert!(refused(&ours, "`$setElementOrder` of `spec.tolerations`"), "{ours}");
}
