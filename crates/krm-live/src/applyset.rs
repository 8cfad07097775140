//! An ApplySet: a parent object that names the kinds and namespaces of its members, so that the members that the files dropped are found.
//!
//! The rules, what is written and the words of refusals are those of `kubectl apply --prune --applyset`, so that both can take turns. A member
//! has the id of its set as a label. An object with the label of another set is neither taken over nor pruned. Source: KEP-3659, and
//! `applyset.go` of k8s.io/kubectl 0.34.

use std::collections::BTreeSet;

use anyhow::{Context, Error, Result, anyhow, bail};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use krm_folders::change::Change;
use krm_job::event::{Event, Severity};
use krm_show::screen;
use kube::core::GroupVersionKind;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::address::Address;
use crate::cluster::{Cluster, Run, Send, Served, Takes, is_conflict};
use crate::http::{all, all_that_begin, found, may_be_done};
use crate::local::{DEFINITION, Local};
use crate::marks::{ID, KINDS, NAMESPACES, PART_OF, TOOLING};
use crate::object::{self, Object};

/// The label of a CustomResourceDefinition whose objects may be parents.
const PARENT_TYPE: &str = "applyset.kubernetes.io/is-parent-type";

/// The tool whose sets these are, and the version whose rules hold here. Each kubectl writes its own version.
const KUBECTL: &str = "kubectl";
const VERSION: &str = "v1.34.0";
/// The name under which kubectl applies parents.
const MANAGER: &str = "kubectl-applyset";

/// How often to read an object again that changed before it was deleted.
const TRIES: u32 = 5;

/// A set, as its parent says what it was, and as the files say what it will be.
pub struct ApplySet {
    parent: Address,
    id: String,
    /// What the parent says; `None` if there is no parent yet.
    was: Option<Extent>,
    tooling: String,
    will_be: Extent,
    /// The members that the files dropped.
    dropped: Vec<Member>,
}

/// Where the members of a set may be.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Extent {
    /// The kinds, as `Deployment.apps`.
    kinds: BTreeSet<String>,
    /// The namespaces, without that of the parent.
    namespaces: BTreeSet<String>,
}

/// An object of the cluster.
struct Member {
    address: Address,
    live: Value,
}

impl ApplySet {
    /// The set that `--applyset` names, `[RESOURCE[.GROUP]/]NAME`. `namespace` is that of `-n`.
    ///
    /// # Errors
    /// There cannot be such a set, or another tool has it; or the cluster does not answer.
    pub async fn read(cluster: &mut Cluster, reference: &str, namespace: Option<&str>) -> Result<Self> {
        let (resource, name) = reference.split_once('/').unwrap_or(("secrets", reference));
        if name.is_empty() {
            bail!("invalid parent reference {reference:?}: name cannot be blank");
        }
        let (plural, group) = resource.split_once('.').unwrap_or((resource, ""));
        let called = |served: &Served| served.plural == plural || served.kind.to_lowercase() == plural;
        let Some(served) = cluster.find(group, called).await? else {
            bail!("invalid parent reference {reference:?}: the cluster must have a resource {resource:?}");
        };
        if served.namespaced && namespace.is_none() {
            bail!("namespace is required to use namespace-scoped ApplySet: name it with `-n`");
        }
        let parent = served.address(name, namespace)?;
        let is_built_in = matches!(parent.group_kind(), ("", "Secret" | "ConfigMap"));
        if !is_built_in && !is_parent_type(cluster, &parent).await? {
            let type_of = format!("{}, Resource={}", served.api_version, served.plural);
            bail!("resource {type_of:?} is not permitted as an ApplySet parent");
        }
        let live = cluster.get(&parent).await.with_context(|| parent.to_string())?;
        if live.is_none() && !is_built_in {
            bail!("custom resource ApplySet parents cannot be created automatically");
        }
        let id = id(&parent);
        let was = live.as_ref().map(|live| extent(live, &parent, &id)).transpose()?;
        let tooling = live.as_ref().and_then(|live| live["metadata"]["annotations"][TOOLING].as_str());
        let tooling = tooling.map_or_else(|| format!("{KUBECTL}/{VERSION}"), str::to_owned);
        Ok(Self { parent, id, was, tooling, will_be: Extent::default(), dropped: Vec::new() })
    }

    /// The address of its parent.
    pub fn parent(&self) -> &Address {
        &self.parent
    }

    /// The label of its members.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Finds the members that the files dropped.
    ///
    /// # Errors
    /// An object of the files is a member of another set; or the cluster does not know a kind of the set, or does not answer.
    pub async fn compare(&mut self, cluster: &mut Cluster, locals: &[Local]) -> Result<()> {
        for local in locals {
            let other = local.live.as_ref().and_then(set_of).filter(|set| *set != self.id);
            if let Some(other) = other {
                bail!(
                    "{}: it is a member of another ApplySet, {other:?}: leave it out of the files, or remove its label `{PART_OF}` first",
                    local.address
                );
            }
            self.will_be.kinds.insert(group_kind(&local.address));
            let namespace = local.address.namespace.iter();
            self.will_be.namespaces.extend(namespace.filter(|n| Some(*n) != self.parent.namespace.as_ref()).cloned());
        }
        let Some(was) = &self.was else { return Ok(()) };
        let mut places = Vec::new();
        for name in &was.kinds {
            let (kind, group) = name.split_once('.').unwrap_or((name, ""));
            let Some(served) = cluster.find(group, |served| served.kind == kind).await? else {
                bail!("could not find mapping for kind in {KINDS:?} annotation: the cluster must have {name:?}");
            };
            let namespaces = was.namespaces.iter().chain(&self.parent.namespace).map(|n| Some(n.as_str()));
            let namespaces = if served.namespaced { namespaces.collect() } else { vec![None] };
            places.extend(namespaces.into_iter().map(|namespace| (served.clone(), namespace)));
        }
        let selector = format!("{PART_OF}={}", self.id);
        let lists = places.iter().map(async |(served, namespace)| {
            let found = cluster.list(served, *namespace, &selector).await;
            let found = found.with_context(|| format!("listing {} objects for pruning", served.kind))?;
            let member = |live: Value| {
                let address = served.address(live["metadata"]["name"].as_str().unwrap_or_default(), *namespace)?;
                anyhow::Ok(Member { address, live })
            };
            found.into_iter().map(member).collect::<Result<Vec<_>>>()
        });
        // Two groups may serve the same object.
        let of_files: BTreeSet<String> = locals.iter().map(|local| local.address.to_string()).collect();
        let uids: BTreeSet<&str> = locals.iter().filter_map(|local| uid(local.live.as_ref()?)).collect();
        let is_dropped = |member: &Member| {
            let is_of_files = of_files.contains(&member.address.to_string())
                || uid(&member.live).is_some_and(|uid| uids.contains(uid));
            let is_going = !member.live["metadata"]["deletionTimestamp"].is_null();
            !is_of_files && !is_going && member.address != self.parent && set_of(&member.live) == Some(&self.id)
        };
        self.dropped = all(lists).await?.into_iter().flatten().filter(is_dropped).collect();
        Ok(())
    }

    /// The deletions of the members that the files dropped.
    pub fn changes(&self) -> impl Iterator<Item = Change> {
        self.dropped.iter().map(|member| Change {
            path: member.address.to_string(),
            old: Some(Object::live(member.live.clone()).yaml().into_bytes()),
            new: None,
            executable: None,
        })
    }

    /// An info for each of these members.
    pub fn told(&self) -> impl Iterator<Item = Event> {
        let info =
            |member: &Member| format!("{}: the files dropped it, so it is pruned from the ApplySet", member.address);
        self.dropped.iter().map(move |member| Event::new(Severity::Info, info(member)))
    }

    /// Has the server check the deletions, and then writes a parent that names old and new members. So a run that is interrupted loses none.
    /// Returns the parent as it is then; `None` if it is as it was read.
    ///
    /// # Errors
    /// The server refuses.
    pub async fn begin(&mut self, cluster: &Cluster) -> Result<Option<Value>> {
        let checks = self.dropped.iter().map(async |member| {
            let checked = member.delete(cluster, &self.id, Run::Dry).await;
            checked.with_context(|| format!("{}: it cannot be pruned, and nothing was sent", member.address))
        });
        all(checks).await?;
        let old = self.was.clone().unwrap_or_default();
        let both = |old: &BTreeSet<String>, new: &BTreeSet<String>| old.union(new).cloned().collect();
        let extent = Extent {
            kinds: both(&old.kinds, &self.will_be.kinds),
            namespaces: both(&old.namespaces, &self.will_be.namespaces),
        };
        self.write(cluster, extent).await.context("failed to update ApplySet, and nothing was sent")
    }

    /// Deletes the members that the files dropped, with a line for each, and then writes a parent that names what is left.
    ///
    /// # Errors
    /// The server refuses. The parent still names all members then.
    pub async fn end(&mut self, cluster: &Cluster) -> Result<()> {
        let tasks = self.dropped.iter().map(async |member| {
            let pruned = member.delete(cluster, &self.id, Run::Real).await;
            pruned.with_context(|| format!("pruning {}", member.address))?;
            anyhow::Ok(screen::say(&format!("{} pruned", member.address)))
        });
        let (mut told, mut failed) = (Vec::new(), Vec::new());
        for result in all_that_begin(tasks).await {
            result.map_or_else(|e| failed.push(e), |line| told.push(line));
        }
        if !failed.is_empty() {
            return Err(interrupted(&failed, told.len(), self.dropped.len()));
        }
        told.into_iter().collect::<Result<()>>()?;
        let extent = self.will_be.clone();
        self.write(cluster, extent).await.context("apply and prune succeeded, but ApplySet update failed").map(drop)
    }

    /// Writes the parent, unless it says this already. As under kubectl, fields that others set in it are taken over.
    async fn write(&mut self, cluster: &Cluster, extent: Extent) -> Result<Option<Value>> {
        if self.was.as_ref() == Some(&extent) {
            return Ok(None);
        }
        let joined = |names: &BTreeSet<String>| names.iter().map(String::as_str).collect::<Vec<_>>().join(",");
        let annotations =
            json!({TOOLING: self.tooling, KINDS: joined(&extent.kinds), NAMESPACES: joined(&extent.namespaces)});
        let mut parent = json!({
            "apiVersion": self.parent.api_version(), "kind": self.parent.kind.kind,
            "metadata": {"name": self.parent.name, "annotations": annotations, "labels": {ID: self.id}},
        });
        object::place(&mut parent, &self.parent);
        let parent = cluster.send(&self.parent, &Send::Apply(parent, Takes::Differing), Run::Real, MANAGER).await?;
        self.was = Some(extent);
        Ok(Some(serde_json::from_str(&parent)?))
    }
}

/// The error of a run that did not prune everything: what failed and why, and how many members are gone, left, and unknown.
fn interrupted(failed: &[Error], gone: usize, all: usize) -> Error {
    let unknown = failed.iter().filter(|e| may_be_done(e)).count();
    let told: Vec<String> = failed.iter().map(|e| format!("{e:#}")).collect();
    let left = all - gone - unknown;
    anyhow!("{}; of {all} members to prune: {gone} gone, {left} left, {unknown} unknown", told.join("; "))
}

impl Member {
    /// Deletes it, if it still is a member of its set.
    async fn delete(&self, cluster: &Cluster, id: &str, run: Run) -> Result<()> {
        let mut now = Some(self.live.clone());
        for _ in 0..TRIES {
            let Some(live) = now.filter(|live| set_of(live) == Some(id) && uid(live) == uid(&self.live)) else { break };
            match found(cluster.delete(&self.address, &live, run).await) {
                Err(e) if is_conflict(&e) => now = cluster.get(&self.address).await?,
                other => return other.map(drop),
            }
        }
        bail!("it changed in the cluster since it was read; run this again")
    }
}

fn set_of(live: &Value) -> Option<&str> {
    live["metadata"]["labels"][PART_OF].as_str()
}

fn uid(live: &Value) -> Option<&str> {
    live["metadata"]["uid"].as_str()
}

/// The id of a set: the hash of what names its parent.
fn id(parent: &Address) -> String {
    let (group, kind) = parent.group_kind();
    let named = [&parent.name, parent.namespace.as_deref().unwrap_or_default(), kind, group].join(".");
    format!("applyset-{}-v1", URL_SAFE_NO_PAD.encode(Sha256::digest(named)))
}

/// A kind with its group, as the parent names it.
fn group_kind(address: &Address) -> String {
    match address.group_kind() {
        ("", kind) => kind.to_owned(),
        (group, kind) => format!("{kind}.{group}"),
    }
}

/// What a parent says about its members.
///
/// # Errors
/// It is the parent of no set, or of one of another tool, or of one that is too old.
fn extent(live: &Value, parent: &Address, id: &str) -> Result<Extent> {
    let name = format!("{}.{}/{}", parent.plural, parent.kind.group, parent.name);
    let annotation = |name: &str| live["metadata"]["annotations"][name].as_str();
    let Some(tooling) = annotation(TOOLING) else {
        bail!("ApplySet parent object {name:?} already exists and is missing required annotation {TOOLING:?}");
    };
    let tool = tooling.rsplit_once('/').map_or(tooling, |(tool, _)| tool);
    if tool != KUBECTL {
        bail!(
            "ApplySet parent object {name:?} already exists and is managed by tooling {tool:?} instead of {KUBECTL:?}"
        );
    }
    match live["metadata"]["labels"][ID].as_str() {
        None => bail!("ApplySet parent object {name:?} exists and does not have required label {ID}"),
        Some(found) if found != id => {
            bail!(
                "ApplySet parent object {name:?} exists and has incorrect value for label {ID:?} (got: {found}, want: {id})"
            )
        }
        Some(_) => {}
    }
    let Some(kinds) = annotation(KINDS) else {
        bail!(
            "parsing ApplySet annotation on {name:?}: kubectl requires the {KINDS:?} annotation to be set on all ApplySet parent objects"
        );
    };
    let split = |names: &str| names.split(',').filter(|name| !name.is_empty()).map(str::to_owned).collect();
    let mut namespaces: BTreeSet<String> = annotation(NAMESPACES).map(split).unwrap_or_default();
    parent.namespace.iter().for_each(|own| _ = namespaces.remove(own));
    Ok(Extent { kinds: split(kinds), namespaces })
}

/// Whether the definition of a custom resource says that its objects may be parents.
async fn is_parent_type(cluster: &Cluster, parent: &Address) -> Result<bool> {
    let definition = Address {
        namespace: None,
        name: format!("{}.{}", parent.plural, parent.kind.group),
        defined_by: None,
        kind: GroupVersionKind::gvk(DEFINITION.0, "v1", DEFINITION.1),
        plural: "customresourcedefinitions".to_owned(),
    };
    let found = cluster.get(&definition).await.context("identifying allowed custom resource parent types")?;
    Ok(found.is_some_and(|found| found["metadata"]["labels"].get(PARENT_TYPE).is_some()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parent() -> Address {
        let kind = GroupVersionKind::gvk("", "v1", "Secret");
        let (namespace, name) = (Some("prod".to_owned()), "web".to_owned());
        Address { namespace, name, defined_by: None, kind, plural: "secrets".to_owned() }
    }

    #[test]
    fn an_id_is_the_one_of_kubectl() {
        // Taken from a parent that kubectl 1.34 wrote.
        assert_eq!(id(&parent()), "applyset-urL2h4aVg3a_edRtK9aAR8zrSuhnmBmUjQFVaar2EI4-v1");
    }

    #[test]
    fn a_parent_says_where_its_members_are_or_is_refused() {
        let id = id(&parent());
        let live = |annotations: Value, id: &str| json!({"metadata": {"annotations": annotations, "labels": {ID: id}}});
        let good = json!({TOOLING: "kubectl/v1.31.0", KINDS: "ConfigMap,Deployment.apps", NAMESPACES: "a,prod"});
        let found = extent(&live(good.clone(), &id), &parent(), &id).expect("a set");
        assert_eq!(Vec::from_iter(found.kinds), ["ConfigMap", "Deployment.apps"]);
        assert_eq!(Vec::from_iter(found.namespaces), ["a"]);
        let empty = extent(&live(json!({TOOLING: "kubectl/v2", KINDS: "", NAMESPACES: ""}), &id), &parent(), &id);
        assert_eq!(empty.expect("an empty set"), Extent::default());
        let old = json!({TOOLING: "kubectl/v1.27.0", "applyset.kubernetes.io/contains-group-resources": "configmaps"});
        for (live, want) in [
            (
                live(json!({}), &id),
                "already exists and is missing required annotation \"applyset.kubernetes.io/tooling\"",
            ),
            (live(json!({TOOLING: "helm/v3"}), &id), "is managed by tooling \"helm\" instead of \"kubectl\""),
            (live(json!({TOOLING: "a/kubectl/v3"}), &id), "is managed by tooling \"a/kubectl\" instead"),
            (
                json!({"metadata": {"annotations": good.clone()}}),
                "does not have required label applyset.kubernetes.io/id",
            ),
            (live(good, "other"), "(got: other, want: applyset-"),
            (
                live(old, &id),
                "kubectl requires the \"applyset.kubernetes.io/contains-group-kinds\" annotation to be set",
            ),
        ] {
            let refused = extent(&live, &parent(), &id).expect_err("refused").to_string();
            assert!(refused.contains("\"secrets./web\"") && refused.contains(want), "{refused}");
        }
    }
}
