//! The fields that a server-side apply would claim: which of them the server will refuse, who owns those, and which ones the user takes
//! over.
//!
//! Only fields that the user names are taken over. The server can only take over all refused fields or none. So a patch is forced only if
//! the user takes each of them. The patch is also valid only for the object as it was checked.

use anyhow::Result;
use krm_merge_function::results::{Outcome, Severity};
use serde_json::Value;

use crate::address::Address;
use crate::args::Live;
use crate::cluster::{Cluster, Takes};
use crate::fields::refused;
use crate::local::Local;
use crate::openapi::Schema;

/// The fields that a manager would claim in an object.
#[derive(Debug)]
pub struct Claim {
    /// The address of the object.
    pub address: Address,
    /// Whether the patch may take over fields of other managers.
    pub takes: Takes,
    /// Whether the manager already owns everything that it would apply.
    pub is_owner: bool,
    /// The fields that the server will refuse, with their owners.
    pub refused: Vec<(String, String)>,
}

/// The claim for each object that exists.
///
/// # Errors
/// The cluster refuses, or does not answer.
pub async fn claims(cluster: &mut Cluster, locals: &[Local], args: &Live) -> Result<Vec<Claim>> {
    let is_there = |local: &&Local| local.live.is_some();
    cluster.learn(locals.iter().filter(is_there).map(|local| local.address.api_version()).collect()).await?;
    let mut claims = Vec::new();
    for local in locals {
        let Some(live) = &local.live else { continue };
        let (api_version, kind) = (local.applied.api_version(), local.applied.kind());
        let schema = cluster.schema(api_version).and_then(|schema| Schema::of_type(schema, api_version, kind));
        let others = local.owners.but(&args.field_manager);
        let found = refused(&local.written, live, schema, &others);
        let is_taken = |place: &str| is_taken(place, &args.take);
        let takes = if found.iter().any(|r| is_taken(&r.place)) { Takes::Differing } else { Takes::Nothing };
        let left = found.iter().filter(|r| !is_taken(&r.place));
        claims.push(Claim {
            address: local.address.clone(),
            takes,
            is_owner: local
                .owners
                .applied_under(&args.field_manager)
                .is_some_and(|owner| owner.owns(&ownable(local.applied.clone().into_json()), schema)),
            refused: left.map(|r| (r.place.clone(), r.owner.to_string())).collect(),
        });
    }
    Ok(claims)
}

/// Whether the user takes over the field at a place.
pub fn is_taken(place: &str, takes: &[String]) -> bool {
    takes.iter().any(|take| lies_in(place, take))
}

/// Whether a place is the place that the user named, or is inside of it.
fn lies_in(place: &str, take: &str) -> bool {
    let rest = place.trim_start_matches('.').strip_prefix(take.trim_start_matches('.'));
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
}

/// The part of a resource that can be owned: without its identity and its status.
fn ownable(mut resource: Value) -> Value {
    if let Some(root) = resource.as_object_mut() {
        root.retain(|name, _| !matches!(name.as_str(), "apiVersion" | "kind" | "status"));
        if let Some(metadata) = root.get_mut("metadata").and_then(Value::as_object_mut) {
            metadata.retain(|name, _| !matches!(name.as_str(), "name" | "namespace"));
            if metadata.is_empty() {
                root.shift_remove("metadata");
            }
        }
    }
    resource
}

impl Claim {
    /// The results for the fields that the server will refuse: errors if the object is to be sent.
    pub fn told(&self, severity: Severity) -> Vec<Outcome> {
        let one = |(place, owner): &(String, String)| {
            let how = "leave it out of the files, or take it over with `--take`";
            let message =
                format!("{}: the server will refuse `{place}` (409), which was set by {owner}: {how}", self.address);
            Outcome::new(severity, message)
        };
        self.refused.iter().map(one).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::owners::Owners;
    use serde_json::json;

    #[test]
    fn a_place_that_is_named_has_all_below_it() {
        for (place, take, want) in [
            (".spec.replicas", ".spec.replicas", true),
            (".spec.replicas", "spec.replicas", true),
            (".spec.replicas", "spec", true),
            (".spec.replicas", ".spec.rep", false),
            (".spec", ".spec.replicas", false),
            (".spec.containers[name=\"a\"].image", "spec.containers[name=\"a\"]", true),
            (".spec.containers[name=\"a\"].image", "spec.containers", true),
        ] {
            assert_eq!(lies_in(place, take), want, "{place} {take}");
        }
    }

    #[test]
    fn what_was_applied_as_string_data_is_owned_under_that_name() {
        let live = json!({"apiVersion": "v1", "kind": "Secret", "data": {"a": "YQ==", "b": "Yg=="}, "metadata": {"managedFields": [
            {"manager": "me", "operation": "Apply", "fieldsV1": {"f:stringData": {".": {}, "f:a": {}}, "f:data": {"f:b": {}}}},
        ]}});
        let owners = Owners::of(&live, None, "me");
        let owner = owners.applied_under("me").expect("an owner");
        for (applied, want) in [
            (json!({"stringData": {"a": "a"}}), true),
            (json!({"stringData": {"a": "a"}, "data": {"b": "Yg=="}}), true),
            (json!({"stringData": {"b": "b"}}), false),
            (json!({"data": {"a": "YQ=="}}), false),
        ] {
            assert_eq!(owner.owns(&applied, None), want, "{applied}");
        }
    }

    /// The server does not keep what is false or empty, and it notes who applied it.
    #[test]
    fn what_is_applied_again_is_owned() {
        let applied = json!({"apiVersion": "v1", "kind": "K", "metadata": {"name": "n", "labels": {}}, "spec": {"a": false, "b": [], "c": [1], "d": null}});
        let is_owned = |fields: Value| {
            let live =
                json!({"metadata": {"managedFields": [{"manager": "me", "operation": "Apply", "fieldsV1": fields}]}});
            Owners::of(&live, None, "me").applied_under("me").expect("an owner").owns(&ownable(applied.clone()), None)
        };
        assert!(is_owned(json!({"f:metadata": {"f:labels": {}}, "f:spec": {"f:a": {}, "f:b": {}, "f:c": {}}})));
        assert!(!is_owned(json!({"f:metadata": {"f:x": {}}, "f:spec": {"f:a": {}, "f:b": {}, "f:c": {}}})));
        assert!(!is_owned(json!({"f:metadata": {"f:labels": {}}, "f:spec": {"f:b": {}, "f:c": {}}})));
    }
}
