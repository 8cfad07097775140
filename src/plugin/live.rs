//! `live`: the three-way merge against a cluster, where original is what was applied last, updated the files, dest the live objects.
//!
//! kubectl apply sets what the files say and tells nobody what it overwrote. Here what someone changed in the cluster since is shown: it
//! stays where the files still say what they said, and is a conflict where they do not. Nothing is sent without `--apply`.

mod cluster;
mod drift;
mod object;
mod openapi;
mod secret;

use std::collections::BTreeMap;
use std::io::{self, Write};

use anyhow::{Context, Result, anyhow, bail};
use krm_merge::config::{API_VERSION, Config, KIND, Role};
use krm_merge::results::{self, Outcome};
use krm_merge::schema::builtin;
use krm_merge::splice::to_json;
use krm_merge::yaml::Document;
use serde_json::{Value, json};

use crate::End;
use crate::cli::{Live, OnConflict, Output};
use crate::diff::{self, Paint};
use crate::merge::{Merge, is_conflict, leave_open, merge};
use crate::output;
use crate::progress::Progress;
use crate::run::report;
use crate::side::{Part, Side};
use cluster::{Address, Cluster, Run, Send};
use object::Object;

/// A resource of the files, with what the cluster has of it.
struct Local {
    /// Where it is read from, for messages.
    name: String,
    /// What the files say, to the word.
    applied: Object,
    /// What that is in the cluster.
    updated: Object,
    /// Where it lies in the cluster.
    address: Address,
    /// The live object, whole; `None` where there is none.
    live: Option<Value>,
    /// What was applied last.
    original: Option<Object>,
}

/// Shows what would change, and with `--apply` sends it.
///
/// # Errors
/// Files that cannot be read, and whatever the cluster does not answer; nothing is sent then.
pub fn live(args: &Live) -> Result<End> {
    let progress = Progress::begin("reading");
    let sides = args.filename.iter().map(|path| Side::read(path)?.not_empty()).collect::<Result<Vec<_>>>()?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    progress.set("asking the cluster");
    let (cluster, locals, rules) = runtime.block_on(read(args, &sides))?;
    progress.set("merging");
    let paint = Paint::of_stdout();
    let (dest, merge, told) = merged(args, &locals, &rules, paint)?;
    let sent = if args.apply && !merge.has_failed() {
        progress.set("sending");
        runtime.block_on(send(args, &cluster, &locals, &merge))
    } else {
        Ok(String::new())
    };
    drop(progress);
    let format = args.output.or((!args.apply).then_some(Output::Diff));
    report(&merge.results, format);
    let shown = Merge { changes: secret::without_values(&merge.changes), results: Vec::new() };
    let text = match format {
        None => String::new(),
        Some(Output::Yaml | Output::Json) if merge.has_failed() => String::new(),
        Some(Output::Yaml) => output::yaml(&dest, &shown),
        Some(Output::Json) => output::json(&dest, &shown)?,
        Some(Output::Name) => output::names(&merge)?,
        Some(Output::Results) => output::results(&merge.results)?,
        Some(Output::Diff) => {
            diff::diff(&secret::masked(&merge.changes), paint) + &told + &diff::conflicts(&merge.results, paint)
        }
    };
    io::stdout().lock().write_all((text + &sent?).as_bytes())?;
    if let Some(end) = merge.failure() {
        return Ok(end);
    }
    Ok(if args.exit_code && !merge.changes.is_empty() { End::Differs } else { End::Done })
}

/// Reads what the cluster has of each resource of the files, and what it knows of their types.
async fn read(args: &Live, sides: &[Side]) -> Result<(Cluster, Vec<Local>, Vec<Value>)> {
    let mut cluster = Cluster::connect(args).await?;
    let mut locals: Vec<Local> = Vec::new();
    let mut rules: BTreeMap<(String, String), Vec<Value>> = BTreeMap::new();
    for (_, resource) in sides.iter().flat_map(|side| side.resources(Part::Role)) {
        let name = resource.whereabouts();
        if let Some(field) = resource.missing() {
            bail!("{name}: the resource must have `{field}`");
        }
        let mut applied = Object::parse(&to_json(resource.node)).with_context(|| name.clone())?;
        let address = cluster.address(&applied).await.with_context(|| name.clone())?;
        applied.settle(&address);
        let updated = applied.stored();
        if let Some(twice) = locals.iter().find(|l| l.address == address) {
            bail!("{address} must be given once, not in {} and {name}", twice.name);
        }
        let live = cluster.get(&address).await.with_context(|| format!("{address} ({name})"))?;
        let original = live.as_ref().and_then(object::last_applied).map(Object::parse).transpose();
        let mut original = original.with_context(|| format!("{address}: the annotation `{}`", object::LAST_APPLIED))?;
        if let Some(original) = &mut original {
            original.settle(&address);
        }
        let of_type = (updated.api_version().to_owned(), updated.kind().to_owned());
        if builtin::root(&of_type.0, &of_type.1).is_none() && !rules.contains_key(&of_type) {
            let schema = cluster.schema(&of_type.0).await.with_context(|| format!("the types of {}", of_type.0))?;
            let of_lists = schema.map(|s| openapi::rules(&s, &of_type.0, &of_type.1)).unwrap_or_default();
            rules.insert(of_type, of_lists);
        }
        locals.push(Local { name, applied, updated, address, live, original });
    }
    Ok((cluster, locals, rules.into_values().flatten().collect()))
}

/// The merge over all resources, on objects without what the server populates. What was applied by other means than `kubectl apply` has no
/// original: what the files say is set in it, and nobody can tell who changed it.
fn merged(args: &Live, locals: &[Local], rules: &[Value], paint: Paint) -> Result<(Side, Merge, String)> {
    let is_upgrade = |l: &&Local| l.live.is_none() || l.original.is_some();
    let stored = |l: &Local| l.original.as_ref().map(Object::stored);
    let side = |pick: &dyn Fn(&Local) -> Option<Object>, of: &dyn Fn(&&Local) -> bool| {
        let files = locals.iter().filter(|l| of(l)).filter_map(|l| {
            let name = if pick(l)? == l.updated { l.name.clone() } else { l.address.to_string() };
            Some((l.address.to_string(), name, pick(l)?.yaml()))
        });
        Side::of_cluster(files)
    };
    let dest = |l: &Local| l.live.clone().map(|live| Object::live(live).stored());
    let updated = |l: &Local| Some(l.updated.clone());
    // Whether a conflict is one is seen only below, so what fails is decided there.
    let policy = if args.on_conflict == Some(OnConflict::KeepDest) { "KeepDest" } else { "TakeUpdated" };
    let spec = json!({"mode": "ThreeWay", "onConflict": policy, "mergeKeys": rules});
    let written = Document::parse(json!({"apiVersion": API_VERSION, "kind": KIND, "spec": spec}).to_string())?;
    let read = |document| -> Result<Config<'_>> {
        let root = Document::roots(document).next().context("a map")?;
        Config::read(root).map_err(|e| anyhow!("the types of the cluster: {e}"))
    };
    let config = read(&written)?;
    let mut drifts = Vec::new();
    for local in locals.iter().filter(is_upgrade) {
        let (Some(original), Some(live)) = (stored(local), dest(local)) else { continue };
        let mut found = drift::drifts(&original.yaml(), &live.yaml(), &config.types)?;
        secret::mask_drift(local.updated.kind(), &mut found);
        drifts.push((local.address.to_string(), found));
    }
    let given =
        [(Role::Original, vec![side(&stored, &is_upgrade)?]), (Role::Updated, vec![side(&updated, &is_upgrade)?])];
    let mut merged = merge(&side(&dest, &is_upgrade)?, &given, config)?;
    let others = |l: &&Local| !is_upgrade(l);
    if locals.iter().any(|l| others(&l)) {
        let spec = json!({"mode": "TwoWay", "mergeKeys": rules});
        let written = Document::parse(json!({"apiVersion": API_VERSION, "kind": KIND, "spec": spec}).to_string())?;
        let given = [(Role::Source, vec![side(&updated, &others)?])];
        let more = merge(&side(&dest, &others)?, &given, read(&written)?)?;
        merged.changes.extend(more.changes);
        merged.results.extend(more.results);
        for local in locals.iter().filter(others) {
            let message = "it was not applied by `kubectl apply`, so nobody can tell what changed in it since";
            merged.results.push(Outcome::new(results::Severity::Warning, format!("{}: {message}", local.address)));
        }
    }
    if policy != "KeepDest" {
        merged.results.retain(|r| !(is_conflict(r) && drift::is_default_only(r)));
    }
    if args.on_conflict == Some(OnConflict::Fail) {
        merged.results.iter_mut().filter(|r| is_conflict(r)).for_each(leave_open);
    }
    merged.results.iter_mut().for_each(secret::mask_result);
    let conflicts: Vec<&Outcome> = merged.results.iter().filter(|r| is_conflict(r)).collect();
    let told = drifts.iter().map(|(address, found)| drift::shown(address, found, &conflicts, paint)).collect();
    if merged.has_failed() {
        merged.changes.clear();
    }
    merged.changes.sort_by(|a, b| a.path.cmp(&b.path));
    results::sort(&mut merged.results);
    let shown = |l: &Local| Some(Object::live(secret::hidden(dest(l)?.into_json())));
    Ok((side(&shown, &|_| true)?, merged, told))
}

/// Sends what changes: all of it first as a dry run, which the server checks and does not keep.
async fn send(args: &Live, cluster: &Cluster, locals: &[Local], merge: &Merge) -> Result<String> {
    let mut all = Vec::new();
    for local in locals {
        let change = merge.changes.iter().find(|c| c.path == local.address.to_string());
        let merged: Option<Value> = match change.and_then(|c| c.new.as_deref()) {
            Some(new) => {
                let text = Document::parse(std::str::from_utf8(new)?.to_owned())?;
                let root = text.roots().next().context("a resource must be a map")?;
                Some(serde_json::from_str(&to_json(root))?)
            }
            None => None,
        };
        let send = match (&local.live, merged) {
            (None, None) => continue,
            (None, Some(merged)) => Send::Create(local.applied.with_last_applied(merged)),
            (Some(live), Some(merged)) => Send::Patch(object::patch(live, &local.applied, &merged)),
            // Where the fields agree already, the next run still has to know what was applied.
            (Some(_), None) if local.original.as_ref() == Some(&local.applied) => continue,
            (Some(live), None) => {
                let same = Object::live(live.clone()).stored().into_json();
                Send::Patch(object::patch(live, &local.applied, &same))
            }
        };
        all.push((local, send));
    }
    for (local, send) in &all {
        cluster
            .send(&local.address, send, Run::Dry, &args.field_manager)
            .await
            .with_context(|| format!("{}: the server does not take it, and nothing was sent", local.address))?;
    }
    let mut sent = String::new();
    for (local, send) in &all {
        let result = cluster.send(&local.address, send, Run::Real, &args.field_manager).await;
        if let Err(e) = result {
            let before = if sent.is_empty() { "nothing".to_owned() } else { sent.trim_end().replace('\n', ", ") };
            return Err(e).with_context(|| format!("{}: sent before it: {before}", local.address));
        }
        let did = if matches!(send, Send::Create(_)) { "created" } else { "configured" };
        sent.push_str(&format!("{} {did}\n", local.address));
    }
    Ok(sent)
}
