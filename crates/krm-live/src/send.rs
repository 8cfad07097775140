//! Sends the changed objects to a cluster. Before that, a dry run checks all of them.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use anyhow::{Context, Error, Result, anyhow, bail};
use krm_folders::change::Change;
use krm_folders::merge::Merge;
use krm_job::event::{Event, Severity};
use krm_show::progress::Progress;
use krm_show::screen;
use krm_yaml::Document;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use crate::address::Address;
use crate::cluster::{Cluster, POLL, Run, Send, Takes, is_conflict, owned_by_others, owner_of};
use crate::handover::handed_over;
use crate::http::{all, all_that_begin, causes, code, may_be_done};
use crate::local::{DEFINITION, Local};
use crate::object::{self, Object};
use crate::text::read_back;

/// How often to send an object again if someone changed only fields that the server populates.
const TRIES: u32 = 5;

/// What is said of an object that the server refuses in a dry run.
pub const NOT_TAKEN: &str = "the server does not take it, and nothing was sent";

/// How long a server may refuse an object by the definition that its type had before.
const SETTLES: Duration = Duration::from_secs(5);

/// The objects to send, in this order.
pub struct Sending<'l> {
    all: Vec<(&'l Local, Send)>,
    /// The addresses of the Namespaces and CustomResourceDefinitions that this run creates or changes.
    new: BTreeSet<String>,
    /// The addresses of the objects for which the server has already answered a dry run.
    checked: BTreeSet<String>,
}

impl<'l> Sending<'l> {
    /// Some objects to send, in the order in which the server can take them.
    ///
    /// # Errors
    /// The cluster does not know the type of an object, and nothing that is sent defines it.
    pub fn new(mut all: Vec<(&'l Local, Send)>, merge: &Merge) -> Result<Self> {
        all.sort_by_key(|(local, _)| stage(local));
        let redefines = |change: &&Change| {
            let spec = |text: &Option<Vec<u8>>| read_back(text).map(|object| object["spec"].clone());
            change.old.is_none() || spec(&change.old) != spec(&change.new)
        };
        let new = merge.changes.iter().filter(redefines).map(|c| c.path.clone()).collect();
        let sending = Self { all, new, checked: BTreeSet::new() };
        for (local, _) in sending.all.iter().filter(|(local, _)| local.address.defined_by.is_some()) {
            if sending.needs(local).is_none() {
                let first = local.needs.as_ref().map(|needs| format!("; apply {needs} first")).unwrap_or_default();
                bail!("{}: the cluster must know `{}`{first}", local.name, local.address.api_version());
            }
        }
        Ok(sending)
    }

    /// The same, without a dry run of the objects at these addresses.
    #[must_use]
    pub fn without_check(self, checked: BTreeSet<String>) -> Self {
        Self { checked, ..self }
    }

    /// The addresses of what is sent.
    pub fn addresses(&self) -> BTreeSet<String> {
        self.all.iter().map(|(local, _)| local.address.to_string()).collect()
    }

    /// What this run sends before an object, because the server cannot take the object without it.
    fn needs(&self, local: &'l Local) -> Option<&'l Address> {
        local.needs.as_ref().filter(|needs| self.new.contains(&needs.to_string()))
    }
}

/// What client-side apply sends for the changes of a merge, in the order of the files.
///
/// # Errors
/// An object cannot be read.
pub fn patches<'l>(locals: &'l [Local], merge: &Merge) -> Result<Vec<(&'l Local, Send)>> {
    let changes: BTreeMap<&str, &Change> = merge.changes.iter().map(|change| (change.path.as_str(), change)).collect();
    let mut all = Vec::new();
    for local in locals {
        let change = changes.get(local.address.to_string().as_str());
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
            (Some(_), None) => match noted(local) {
                Some(note) => note,
                None => continue,
            },
        };
        all.push((local, send));
    }
    Ok(all)
}

/// The patch of the note alone; `None` if the note is up to date. Even if the fields already agree, the note has to be updated for the next run.
/// The notes are compared as they are read: a note has `1` for `1.0`, and `{}` for annotations that are null.
pub fn noted(local: &Local) -> Option<Send> {
    let is_up_to_date = local.noted.is_some() && local.noted == Object::parse(&local.note).ok();
    let (live, dest) = local.live.as_ref().zip(local.dest.as_ref()).filter(|_| !is_up_to_date)?;
    Some(Send::Patch(object::patch(live, &local.note, dest, &dest.clone().into_json())))
}

/// The apply patch of a resource. It is valid only for the version of the object that was read.
pub fn applied(local: &Local) -> Send {
    let mut object = local.written.clone();
    if let Some(live) = &local.live {
        object["metadata"]["resourceVersion"] = live["metadata"]["resourceVersion"].clone();
    }
    Send::Apply(object, Takes::Nothing)
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
    pub fn unchecked(&self) -> Vec<Event> {
        let info = |(local, _): &(&Local, Send)| {
            let needs = self.needs(local)?;
            let what = if self.is_created(needs) { "is new, too" } else { "changes, too" };
            let why = format!("no dry run can check it, because {needs} {what}");
            Some(Event::new(Severity::Info, format!("{}: {why}", local.address)))
        };
        self.all.iter().filter_map(info).collect()
    }

    fn is_created(&self, address: &Address) -> bool {
        self.all.iter().any(|(local, _)| local.address == *address && local.live.is_none())
    }

    /// Has the server check everything by dry runs, which it does not keep.
    ///
    /// # Errors
    /// The server refuses something.
    pub async fn check(&mut self, sender: &Sender<'_>) -> Result<()> {
        let _progress = Progress::begin("checking");
        let needs: Vec<bool> = self.all.iter().map(|(local, _)| self.needs(local).is_some()).collect();
        let is_left = |local: &Local| !self.checked.contains(&local.address.to_string());
        let left = self.all.iter_mut().zip(needs).filter(|((local, _), needs)| !needs && is_left(local));
        let left = left.map(async |((local, send), _)| {
            let refused = || format!("{}: {NOT_TAKEN}", local.address);
            sender.one(local, send, Run::Dry).await.with_context(refused)
        });
        all(left).await.map(drop)
    }

    /// Takes note that this run wrote the object at an address, which may be among those that are sent.
    pub fn after(&mut self, address: &Address, now: &Value) {
        for (_, send) in self.all.iter_mut().filter(|(local, _)| local.address == *address) {
            let (Send::Create(object) | Send::Patch(object) | Send::Apply(object, _)) = &mut *send;
            object["metadata"]["resourceVersion"] = now["metadata"]["resourceVersion"].clone();
            if let Send::Create(object) = send {
                *send = Send::Patch(object.take());
            }
        }
    }

    /// Sends everything. Prints a line for each object as soon as the server took it, because the run may be interrupted.
    ///
    /// # Errors
    /// Not everything was sent, or stdout cannot be written.
    pub async fn send(mut self, sender: &Sender<'_>) -> Result<()> {
        let needs: Vec<Option<&Address>> = self.all.iter().map(|(local, _)| self.needs(local)).collect();
        let count = self.all.len();
        let mut sent = 0;
        let mut begin = 0;
        for stage in self.all.chunk_by_mut(|(a, _), (b, _)| stage(a) == stage(b)) {
            let of_stage = &needs[begin..begin + stage.len()];
            begin += stage.len();
            let mut printed = Ok(());
            let mut failed = Vec::new();
            for result in stage_sent(sender, stage, of_stage).await {
                match result {
                    Ok(line) => {
                        sent += 1;
                        printed = printed.and(line);
                    }
                    Err(one) => failed.push(one),
                }
            }
            if !failed.is_empty() {
                return Err(failure(failed, sent, count));
            }
            printed?;
        }
        Ok(())
    }
}

/// Sends the objects of a stage. Returns for each one that the server took whether its line could be printed, and the objects that it did not
/// take, with the reasons.
async fn stage_sent(
    sender: &Sender<'_>,
    stage: &mut [(&Local, Send)],
    needs: &[Option<&Address>],
) -> Vec<Result<Result<()>, (String, Error)>> {
    if let Err(failed) = until_served(sender.cluster, stage).await {
        return vec![Err(failed)];
    }
    let tasks = stage.iter_mut().zip(needs).map(async |((local, send), needs)| {
        let failed = |e| (local.address.to_string(), e);
        let is_redefined = needs.is_some_and(|needs| needs.group_kind() == DEFINITION);
        let settled = Instant::now() + if is_redefined { SETTLES } else { Duration::ZERO };
        sender.settled(local, send, settled).await.map_err(failed)?;
        Ok(screen::say(&format!("{} {}", local.address, did(local, send))))
    });
    all_that_begin(tasks).await
}

/// The error of a run that did not send everything: what failed and why, and how many objects were sent, failed and were not tried.
fn failure(failed: Vec<(String, Error)>, sent: usize, all: usize) -> Error {
    let left = all - sent - failed.len();
    let [lost, refused] = [true, false].map(|is_lost| failed.iter().filter(|(_, e)| may_be_done(e) == is_lost).count());
    let one = |(address, e): &(String, Error)| {
        let lost = if may_be_done(e) { "it may have been sent: " } else { "" };
        format!("{address}: {lost}{e:#}")
    };
    let told: Vec<String> = failed.iter().map(one).collect();
    let counts = [(sent, "sent"), (refused, "not taken"), (lost, "maybe sent"), (left, "not tried")];
    let counts: Vec<String> = counts
        .iter()
        .filter(|(count, what)| *count > 0 || *what == "sent")
        .map(|(n, what)| format!("{n} {what}"))
        .collect();
    anyhow!("{}; of {all} objects: {}", told.join("; "), counts.join(", "))
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

/// Sends objects to a cluster.
pub struct Sender<'s> {
    pub cluster: &'s Cluster,
    /// The name of the manager.
    pub manager: &'s str,
    /// The fields that the user takes over.
    pub take: &'s [String],
}

impl Sender<'_> {
    /// Sends one object for the server to keep. Until a moment, a refusal may come from the definition that the type had before, so the
    /// object is sent again.
    async fn settled(&self, local: &Local, send: &mut Send, settled: Instant) -> Result<()> {
        loop {
            match self.one(local, send, Run::Real).await {
                Err(e) if matches!(code(&e), Some(400 | 404 | 422 | 500)) && Instant::now() < settled => {
                    sleep(POLL).await
                }
                other => return other.map(drop),
            }
        }
    }

    /// Sends one object, and returns the server's answer. If only a controller wrote the status meanwhile, sends it again.
    ///
    /// # Errors
    /// The server refuses it, or does not answer.
    pub async fn one(&self, local: &Local, send: &mut Send, run: Run) -> Result<String> {
        let mut tries = 0;
        let mut handover = local.handover.clone();
        loop {
            let error = match self.handed_over(local, send, run, &mut handover).await {
                Err(e) if is_conflict(&e) => e,
                Err(e) if !owned_by_others(&e).is_empty() => {
                    self.take(send, e)?;
                    continue;
                }
                Err(e) => return Err(advised(e, send)),
                Ok(answer) => return Ok(answer),
            };
            tries += 1;
            let (Send::Patch(patch) | Send::Apply(patch, _), true) = (&mut *send, tries < TRIES) else {
                return Err(changed(error));
            };
            let now = self.cluster.get(&local.address).await?;
            let is_as_read = |now: &Value| {
                let is_same = |live: &Value| {
                    object::last_applied(now) == object::last_applied(live)
                        && Object::live(now.clone()) == Object::live(live.clone())
                };
                local.live.as_ref().is_some_and(is_same)
            };
            let Some(now) = now.filter(is_as_read) else { return Err(changed(error)) };
            patch["metadata"]["resourceVersion"] = now["metadata"]["resourceVersion"].clone();
            handover = handover.and_then(|_| handed_over(&now, &local.written, self.manager));
        }
    }

    /// Sends one object, after the handover of its fields to server-side apply if there is one left. A dry run cannot hand over, so it takes
    /// over what this manager set by updates.
    async fn handed_over(
        &self,
        local: &Local,
        send: &mut Send,
        run: Run,
        handover: &mut Option<Value>,
    ) -> Result<String> {
        let (Send::Apply(object, _), Some(fields)) = (&mut *send, handover.as_ref()) else {
            return self.cluster.send(&local.address, send, run, self.manager).await;
        };
        if run == Run::Dry {
            let answer = self.cluster.send(&local.address, send, run, self.manager).await;
            let is_own = |e: &Error| {
                let fields = owned_by_others(e);
                !fields.is_empty() && fields.iter().all(|field| owner_of(field) == self.manager)
            };
            let Some(forced) = answer.as_ref().err().filter(|e| is_own(e)).map(|_| send.forced()) else {
                return answer;
            };
            return self.cluster.send(&local.address, &forced, run, self.manager).await;
        }
        let version = object["metadata"]["resourceVersion"].clone();
        let patch = Send::Patch(json!({"metadata": {"managedFields": fields, "resourceVersion": version}}));
        let now = self.cluster.send(&local.address, &patch, run, self.manager).await?;
        let now: Value = serde_json::from_str(&now).context("the answer of the cluster must be JSON")?;
        object["metadata"]["resourceVersion"] = now["metadata"]["resourceVersion"].clone();
        *handover = None;
        self.cluster.send(&local.address, send, run, self.manager).await
    }

    /// Whether the user takes over the field at a place.
    pub fn takes(&self, place: &str) -> bool {
        self.take.iter().any(|take| lies_in(place, take))
    }

    /// Lets a patch take over the fields that the server refused, if the user takes each of them.
    ///
    /// # Errors
    /// The user does not.
    fn take(&self, send: &mut Send, refused: Error) -> Result<()> {
        let fields = owned_by_others(&refused);
        match send {
            Send::Apply(_, takes)
                if *takes == Takes::Nothing && fields.iter().all(|field| self.takes(&field.field)) =>
            {
                *takes = Takes::Differing;
                Ok(())
            }
            _ => {
                let takes: Vec<String> = fields.iter().map(|field| format!("`--take {}`", field.field)).collect();
                let how = format!("leave it out of the files, or take it over with {}", takes.join(" "));
                Err(refused.context(how))
            }
        }
    }
}

/// Whether a place is the place that the user named, or is inside of it.
fn lies_in(place: &str, take: &str) -> bool {
    let rest = place.trim_start_matches('.').strip_prefix(take.trim_start_matches('.'));
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
}

/// An error with what the user can do about it.
fn advised(error: Error, send: &Send) -> Error {
    let is_client_side = !matches!(send, Send::Apply(..));
    if is_client_side && causes(&error, "FieldValueTooLong").iter().any(|cause| cause.field == "metadata.annotations") {
        let why = format!(
            "`{}` must hold the whole object, and it is too long for that; `--server-side` sends it without",
            object::LAST_APPLIED
        );
        return error.context(why);
    }
    error
}

fn changed(error: Error) -> Error {
    error.context("it changed in the cluster since it was read; run this again to merge with what is there now")
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
