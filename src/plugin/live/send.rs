//! Sends the changed objects to a cluster, all of them first in a dry run.

use anyhow::{Context, Error, Result};
use krm_merge::yaml::Document;
use krm_merge_function::results::{Outcome, Severity};
use serde_json::Value;

use super::claim::Claim;
use super::cluster::{Cluster, Run, Send, Takes, is_conflict};
use super::local::{DEFINITION, Local};
use super::object::{self, Object};
use crate::merge::Merge;

/// How often to send an object if only what the server populates changed since it was read.
const TRIES: u32 = 5;

/// What to send, in this order.
pub struct Sending<'l>(Vec<(&'l Local, Send)>);

/// What to send for the changes of a merge: first what others need, in the order of kustomize, otherwise in the order of the files.
///
/// # Errors
/// Objects that cannot be read.
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
            // Even if the fields already agree, the next run has to know what was applied.
            (Some(_), None) if local.noted.as_ref() == Some(&local.applied) => continue,
            (Some((live, dest)), None) => {
                Send::Patch(object::patch(live, &local.note, dest, &dest.clone().into_json()))
            }
        };
        all.push((local, send));
    }
    all.sort_by_key(|(local, _)| rank(local));
    Ok(Sending(all))
}

/// What to send if the server merges: what a manager already applies is not sent again.
///
/// # Errors
/// None for what a merge makes.
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
    all.sort_by_key(|(local, _)| rank(local));
    Sending(all)
}

/// Namespaces and types come before what uses them; webhooks come last, so that they do not judge what is sent with them.
fn rank(local: &Local) -> u8 {
    match local.address.group_kind() {
        ("", "Namespace") => 0,
        kind if kind == DEFINITION => 1,
        ("admissionregistration.k8s.io", _) => 3,
        _ => 2,
    }
}

impl Sending<'_> {
    /// What the server cannot check in the dry run, one info each.
    pub fn unchecked(&self) -> Vec<Outcome> {
        let info = |(local, _): &(&Local, Send)| {
            let needs = local.needs.as_ref()?;
            let why = format!("no dry run can check it, for {needs} is new, too");
            Some(Outcome::new(Severity::Info, format!("{}: {why}", local.address)))
        };
        self.0.iter().filter_map(info).collect()
    }

    /// Sends everything, first as a dry run, which the server checks but does not keep. Returns what was done, one line each.
    ///
    /// # Errors
    /// What the server refuses, with what was sent before it.
    pub async fn send(mut self, cluster: &Cluster, manager: &str) -> Result<Vec<String>> {
        for (local, send) in self.0.iter_mut().filter(|(local, _)| local.needs.is_none()) {
            one(cluster, local, send, Run::Dry, manager)
                .await
                .with_context(|| format!("{}: the server does not take it, and nothing was sent", local.address))?;
        }
        let mut sent: Vec<String> = Vec::new();
        for (local, send) in &mut self.0 {
            if let Err(e) = one(cluster, local, send, Run::Real, manager).await {
                let before = if sent.is_empty() { "nothing".to_owned() } else { sent.join(", ") };
                return Err(e).with_context(|| format!("{}: sent before it: {before}", local.address));
            }
            let did = match send {
                Send::Create(_) => "created",
                Send::Apply(..) if local.live.is_none() => "created",
                Send::Apply(..) => "applied on the server's side",
                Send::Patch(_) => "configured",
            };
            sent.push(format!("{} {did}", local.address));
        }
        Ok(sent)
    }
}

/// Sends one object. If only a controller wrote its status meanwhile, the object is sent anyway.
async fn one(cluster: &Cluster, local: &Local, send: &mut Send, run: Run, manager: &str) -> Result<()> {
    if run == Run::Real && local.address.defined_by.is_some() {
        cluster.until_served(&local.address).await?;
    }
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
