//! Sends the changed objects to a cluster. Before that, a dry run checks all of them.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Error, Result, bail};
use krm_merge::yaml::Document;
use krm_merge_function::results::{Outcome, Severity};
use serde_json::Value;

use super::claim::Claim;
use super::cluster::{Cluster, Run, Send, Takes, is_conflict};
use super::http::{all, all_that_begin};
use super::local::{DEFINITION, Local};
use super::object::{self, Object};
use crate::merge::Merge;

/// How often to send an object again if someone changed only fields that the server populates.
const TRIES: u32 = 5;

/// The objects to send, in this order.
pub struct Sending<'l>(Vec<(&'l Local, Send)>);

/// The objects to send for the changes of a merge: first those that others need, otherwise in the order of the files.
///
/// # Errors
/// An object cannot be read.
pub fn sending<'l>(locals: &'l [Local], merge: &Merge) -> Result<Sending<'l>> {
    let mut all = Vec::new();
    for local in locals {
        let change = merge.changes.iter().find(|c| c.path == local.address.to_string());
        let merged: Option<Value> = match change.and_then(|c| c.new.as_deref()) {
            Some(new) => {
                let text = Document::parse(std::str::from_utf8(new)?.to_owned())?;
                let root = text.roots().next().context("a resource must be a map")?;
                Some(object::value(root)?)
            }
            None => None,
        };
        let send = match (local.live.as_ref().zip(local.dest.as_ref()), merged) {
            (None, None) => continue,
            (None, Some(merged)) => Send::Create(object::with_last_applied(merged, &local.note)),
            (Some((live, dest)), Some(merged)) => Send::Patch(object::patch(live, &local.note, dest, &merged)),
            // Even if the fields already agree, the note has to be updated for the next run. The notes are compared as they are read: a
            // note has `1` for `1.0`, and `{}` for annotations that are null.
            (Some(_), None) if local.noted.is_some() && local.noted == Object::parse(&local.note).ok() => continue,
            (Some((live, dest)), None) => {
                Send::Patch(object::patch(live, &local.note, dest, &dest.clone().into_json()))
            }
        };
        all.push((local, send));
    }
    all.sort_by_key(|(local, _)| stage(local));
    Ok(Sending(all))
}

/// The objects to send with `--server-side`. An object is left out if nothing changes and the manager already owns all of its applied
/// fields.
pub fn applying<'l>(locals: &'l [Local], merge: &Merge, claims: &[Claim]) -> Sending<'l> {
    let claim = |local: &Local| claims.iter().find(|claim| claim.address == local.address);
    let is_idle = |local: &Local| {
        local.live.is_some()
            && !merge.changes.iter().any(|c| c.path == local.address.to_string())
            && claim(local).is_none_or(|claim| claim.is_owner)
    };
    let apply = |local: &'l Local| {
        let mut object = local.written.clone();
        let takes = claim(local).map_or(Takes::Nothing, |claim| claim.takes);
        if let Some(live) = &local.live {
            object["metadata"]["resourceVersion"] = live["metadata"]["resourceVersion"].clone();
        }
        (local, Send::Apply(object, takes))
    };
    let mut all: Vec<_> = locals.iter().filter(|local| !is_idle(local)).map(apply).collect();
    all.sort_by_key(|(local, _)| stage(local));
    Sending(all)
}

/// The kinds that the server must have before it accepts others, in the order in which they are sent. A Pod needs the objects that it
/// names, such as its ServiceAccount and its PriorityClass. A binding needs its role. Source: the admission plugins of kube-apiserver, and
/// its check of role bindings against escalation.
const FIRST: [&[(&str, &str)]; 4] = [
    &[("", "Namespace")],
    &[DEFINITION],
    &[
        ("", "ConfigMap"),
        ("", "LimitRange"),
        ("", "ResourceQuota"),
        ("", "Secret"),
        ("", "ServiceAccount"),
        ("networking.k8s.io", "IngressClass"),
        ("node.k8s.io", "RuntimeClass"),
        ("rbac.authorization.k8s.io", "ClusterRole"),
        ("rbac.authorization.k8s.io", "Role"),
        ("scheduling.k8s.io", "PriorityClass"),
        ("storage.k8s.io", "StorageClass"),
    ],
    &[("rbac.authorization.k8s.io", "ClusterRoleBinding"), ("rbac.authorization.k8s.io", "RoleBinding")],
];

/// The group of webhooks and policies. They come last, so that they do not check the other objects of this run.
const JUDGES: &str = "admissionregistration.k8s.io";

/// The stage in which an object is sent. The objects of a stage are sent at the same time.
fn stage(local: &Local) -> usize {
    let kind = local.address.group_kind();
    let of_others = FIRST.len();
    let of_first = FIRST.iter().position(|kinds| kinds.contains(&kind));
    of_first.unwrap_or(if kind.0 == JUDGES { of_others + 1 } else { of_others })
}

impl Sending<'_> {
    /// An info for each object that the server cannot check in the dry run.
    pub fn unchecked(&self) -> Vec<Outcome> {
        let info = |(local, _): &(&Local, Send)| {
            let needs = local.needs.as_ref()?;
            let why = format!("no dry run can check it, for {needs} is new, too");
            Some(Outcome::new(Severity::Info, format!("{}: {why}", local.address)))
        };
        self.0.iter().filter_map(info).collect()
    }

    /// Sends everything, first as a dry run, which the server checks but does not keep. Returns one line for each object, which says what
    /// was done.
    ///
    /// # Errors
    /// The server refuses an object. The error also says what was sent before.
    pub async fn send(mut self, cluster: &Cluster, manager: &str) -> Result<Vec<String>> {
        let checked = self.0.iter_mut().filter(|(local, _)| local.needs.is_none()).map(async |(local, send)| {
            let refused = || format!("{}: the server does not take it, and nothing was sent", local.address);
            one(cluster, local, send, Run::Dry, manager).await.with_context(refused)
        });
        all(checked).await?;
        let mut sent: Vec<String> = Vec::new();
        for stage in self.0.chunk_by_mut(|(a, _), (b, _)| stage(a) == stage(b)) {
            let mut failed = Vec::new();
            if let Err((address, e)) = until_served(cluster, stage).await {
                failed.push((address, e));
            } else {
                let tasks = stage.iter_mut().map(async |(local, send)| {
                    let refused = |e| (local.address.to_string(), e);
                    one(cluster, local, send, Run::Real, manager).await.map_err(refused)?;
                    Ok(format!("{} {}", local.address, did(local, send)))
                });
                for result in all_that_begin(tasks).await {
                    match result {
                        Ok(line) => sent.push(line),
                        Err(refusal) => failed.push(refusal),
                    }
                }
            }
            if let Some(((address, e), others)) = failed.split_first() {
                let before = if sent.is_empty() { "nothing".to_owned() } else { sent.join(", ") };
                let others: String = others.iter().map(|(address, e)| format!("; {address}: {e:#}")).collect();
                bail!("{address}: sent before it: {before}: {e:#}{others}");
            }
        }
        Ok(sent)
    }
}

/// The word for what sending an object did to it.
fn did(local: &Local, send: &Send) -> &'static str {
    match send {
        Send::Create(_) => "created",
        Send::Apply(..) if local.live.is_none() => "created",
        Send::Apply(..) => "applied on the server's side",
        Send::Patch(_) => "configured",
    }
}

/// Waits until the server serves the types that definitions of the files add, once for each apiVersion.
async fn until_served(cluster: &Cluster, sending: &[(&Local, Send)]) -> Result<(), (String, Error)> {
    let mut new: BTreeMap<String, (&Local, BTreeSet<&str>)> = BTreeMap::new();
    for (local, _) in sending.iter().filter(|(local, _)| local.address.defined_by.is_some()) {
        let (_, kinds) = new.entry(local.address.api_version()).or_insert((local, BTreeSet::new()));
        kinds.insert(local.address.group_kind().1);
    }
    let waiting = new.iter().map(async |(api_version, (local, kinds))| {
        cluster.until_served(api_version, kinds).await.map_err(|e| (local.address.to_string(), e))
    });
    all(waiting).await.map(drop)
}

/// Sends one object. If only a controller wrote the status meanwhile, sends it again.
async fn one(cluster: &Cluster, local: &Local, send: &mut Send, run: Run, manager: &str) -> Result<()> {
    let mut tries = 0;
    loop {
        let error = match cluster.send(&local.address, send, run, manager).await {
            Err(e) if is_conflict(&e) => e,
            other => return other,
        };
        tries += 1;
        let (Send::Patch(patch) | Send::Apply(patch, _), true) = (&mut *send, tries < TRIES) else {
            return Err(changed(error));
        };
        let now = cluster.get(&local.address).await?;
        let is_as_read = |now: &Value| {
            let is_same = |live: &Value| {
                object::last_applied(now) == object::last_applied(live)
                    && Object::live(now.clone()) == Object::live(live.clone())
            };
            local.live.as_ref().is_some_and(is_same)
        };
        let Some(now) = now.filter(is_as_read) else { return Err(changed(error)) };
        patch["metadata"]["resourceVersion"] = now["metadata"]["resourceVersion"].clone();
    }
}

fn changed(error: Error) -> Error {
    error.context("it changed in the cluster since it was read; run this again to merge with what is there now")
}
