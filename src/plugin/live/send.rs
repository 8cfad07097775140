//! What is sent to a cluster: the objects that change, all of them first in a dry run.

use anyhow::{Context, Result};
use krm_merge::splice::to_json;
use krm_merge::yaml::Document;
use serde_json::Value;

use super::cluster::{Cluster, Run, Send};
use super::local::Local;
use super::object::{self, Object};
use crate::merge::Merge;

/// Sends what changes: all of it first as a dry run, which the server checks and does not keep.
///
/// # Errors
/// What the server does not take.
pub async fn send(cluster: &Cluster, locals: &[Local], merge: &Merge, manager: &str) -> Result<String> {
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
            (Some(_), None) if local.noted.as_ref() == Some(&local.applied) => continue,
            (Some(live), None) => {
                let same = Object::live(live.clone()).stored().into_json();
                Send::Patch(object::patch(live, &local.applied, &same))
            }
        };
        all.push((local, send));
    }
    for (local, send) in &all {
        cluster
            .send(&local.address, send, Run::Dry, manager)
            .await
            .with_context(|| format!("{}: the server does not take it, and nothing was sent", local.address))?;
    }
    let mut sent = String::new();
    for (local, send) in &all {
        let result = cluster.send(&local.address, send, Run::Real, manager).await;
        if let Err(e) = result {
            let before = if sent.is_empty() { "nothing".to_owned() } else { sent.trim_end().replace('\n', ", ") };
            return Err(e).with_context(|| format!("{}: sent before it: {before}", local.address));
        }
        let did = if matches!(send, Send::Create(_)) { "created" } else { "configured" };
        sent.push_str(&format!("{} {did}\n", local.address));
    }
    Ok(sent)
}
