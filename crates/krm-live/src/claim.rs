//! What the server answers to the dry runs of patches: what would change, which fields it refuses, and whose they are.
//!
//! Only the server knows which values it leaves out, how it writes them, and which fields it counts as owned, so nothing of this is predicted,
//! as in `kubectl diff`. An object is not asked for if it plainly is as the files say: the merge changes nothing, and with server-side apply,
//! the manager owns each field of the files.
//!
//! With server-side apply, only fields that the user names are taken over. The server can only take over all refused fields or none. So a patch is forced only if
//! the user takes each of them.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use anyhow::{Error, Result};
use krm_folders::change::Change;
use krm_folders::merge::Merge;
use krm_job::event::{Event, Severity};
use serde_json::Value;

use crate::cluster::{Run, Send, owned_by_others, owner_of};
use crate::http::{all, code};
use crate::local::Local;
use crate::object::{self, Object};
use crate::openapi::Schema;
use crate::order;
use crate::owners::Owners;
use crate::send::{NOT_TAKEN, Sender, applied, noted};
use crate::text;

/// The answer of the server for an object that exists.
pub struct Claim<'l> {
    local: &'l Local,
    /// The patch, with what it may take over.
    send: Send,
    answer: Answer,
}

enum Answer {
    /// The object and what the manager owns stay as they are.
    Same,
    /// The object becomes this one.
    Becomes(Object),
    /// It takes the patch. What the handover before it lets go, no dry run shows, so the change is that of the merge.
    Taken,
    /// Nobody asked, because this run changes the definition of its type first.
    Unasked,
    /// It refuses these fields.
    Fields(Vec<HeldField>),
    /// It refuses the patch.
    Refused(Error),
}

/// A field that the server refuses.
struct HeldField {
    place: String,
    /// Who owns it, and since when.
    owner: String,
}

/// What to ask the server for with server-side apply: the patch of each object that is new or not plainly as the files say. Of a new one, the
/// server says what it does not take.
pub fn apply_patches<'l>(sender: &Sender<'_>, locals: &'l [Local], merge: &Merge) -> Vec<(&'l Local, Send)> {
    let changed = changed(merge);
    let is_meant =
        |local: &&Local| changed.contains(local.address.to_string().as_str()) || !is_plainly_owned(sender, local);
    locals.iter().filter(is_meant).map(|local| (local, applied(local))).collect()
}

/// What to ask the server for with client-side apply: of the patches, those of objects that exist and that the merge changes.
pub fn merge_patches<'l>(patches: &[(&'l Local, Send)], merge: &Merge) -> Vec<(&'l Local, Send)> {
    let changed = changed(merge);
    let is_asked =
        |(local, _): &&(&Local, Send)| local.live.is_some() && changed.contains(local.address.to_string().as_str());
    patches.iter().filter(is_asked).cloned().collect()
}

/// The addresses of the objects that the merge changes.
fn changed(merge: &Merge) -> HashSet<&str> {
    merge.changes.iter().map(|change| change.path.as_str()).collect()
}

/// Asks the server what some patches would do.
///
/// # Errors
/// The server does not answer.
pub async fn claims<'l>(sender: &Sender<'_>, asked: Vec<(&'l Local, Send)>, merge: &Merge) -> Result<Vec<Claim<'l>>> {
    let changed = changed(merge);
    let asked = asked.into_iter().map(async |(local, mut send)| {
        if local.needs.as_ref().is_some_and(|needs| changed.contains(needs.to_string().as_str())) {
            return Ok(Claim { local, send, answer: Answer::Unasked });
        }
        let answer = match sender.one(local, &mut send, Run::Dry).await {
            Ok(answer) => answered(local, &answer, sender.manager)?,
            Err(e) if !owned_by_others(&e).is_empty() => Answer::Fields(held(sender, local, &e)),
            Err(e) if code(&e).is_some() => Answer::Refused(e),
            Err(e) => return Err(e.context(format!("{}: {NOT_TAKEN}", local.address))),
        };
        Ok(Claim { local, send, answer })
    });
    all(asked).await
}

/// Whether a manager owns each field that it would apply, and there is nothing to hand over to it.
fn is_plainly_owned(sender: &Sender<'_>, local: &Local) -> bool {
    let (api_version, kind) = (local.applied.api_version(), local.applied.kind());
    let schema = sender.cluster.schema(api_version).and_then(|schema| Schema::of_type(schema, api_version, kind));
    let owner = local.owners.applied_under(sender.manager);
    local.handover.is_none()
        && owner.is_some_and(|owner| owner.owns(&object::ownable(local.applied.clone().into_json()), schema))
}

/// What an answer says about an object.
fn answered(local: &Local, answer: &str, manager: &str) -> Result<Answer> {
    let becomes: Value = serde_json::from_str(answer)?;
    let live = local.live.as_ref().filter(|_| becomes["metadata"]["name"].is_string() && local.handover.is_none());
    let Some(live) = live else { return Ok(Answer::Taken) };
    let owned = |object: &Value| {
        let entries = object["metadata"]["managedFields"].as_array().into_iter().flatten();
        let mut own = entries.filter(|entry| entry["manager"] == manager && entry["operation"] == "Apply");
        own.find(|entry| entry["subresource"].as_str().is_none_or(str::is_empty)).map(|entry| entry["fieldsV1"].clone())
    };
    let is_same = owned(live) == owned(&becomes)
        && object::last_applied(live) == object::last_applied(&becomes)
        && Object::compared(live.clone()) == Object::compared(becomes.clone());
    Ok(if is_same { Answer::Same } else { Answer::Becomes(Object::compared(becomes)) })
}

/// The fields that a refusal names and the user does not take over, with their owners.
fn held(sender: &Sender<'_>, local: &Local, refused: &Error) -> Vec<HeldField> {
    let owners = local.live.as_ref().map(|live| Owners::of(live, None, sender.manager)).unwrap_or_default();
    let fields = owned_by_others(refused).into_iter().filter(|cause| {
        let is_handed_over = local.handover.is_some() && owner_of(cause) == sender.manager;
        !is_handed_over && !sender.takes(&cause.field)
    });
    fields.map(|cause| HeldField { place: cause.field.clone(), owner: owners.named(owner_of(cause)) }).collect()
}

impl Claim<'_> {
    /// The path of the object, with its change if there is one; `None` if the answer does not say how it changes.
    fn settled(&self) -> Option<(String, Option<Change>)> {
        let becomes = match &self.answer {
            Answer::Same => None,
            Answer::Becomes(object) => Some(object),
            Answer::Taken | Answer::Unasked | Answer::Fields(_) | Answer::Refused(_) => return None,
        };
        let (path, old) = (self.local.address.to_string(), self.local.dest.clone()?.into_json());
        let new = becomes.map(|object| order::like(&object.clone().into_json(), &old)).filter(|new| *new != old);
        let change = new.map(|new| Change {
            path: path.clone(),
            old: Some(text::yaml(&old).into_bytes()),
            new: Some(text::yaml(&new).into_bytes()),
            executable: None,
        });
        Some((path, change))
    }

    /// Whether the user may not patch the object.
    fn may_not_ask(&self) -> bool {
        matches!(&self.answer, Answer::Refused(e) if code(e) == Some(403))
    }

    /// Whether the server has checked the patch.
    fn is_checked(&self) -> bool {
        matches!(self.answer, Answer::Becomes(_) | Answer::Taken)
    }

    /// An info about the handover of fields to server-side apply, which no dry run shows.
    pub fn of_handover(&self) -> Option<Event> {
        let is_handed_over = matches!(self.answer, Answer::Taken) && self.local.handover.is_some();
        let what = "its fields go over from client-side to server-side apply, and the note of kubectl is removed";
        is_handed_over.then(|| Event::new(Severity::Info, format!("{}: {what}", self.local.address)))
    }

    /// The results for what the server refuses: errors if the object is to be sent.
    fn told(&self, severity: Severity) -> Vec<Event> {
        let address = &self.local.address;
        let of_field = |HeldField { place, owner }: &HeldField| {
            let how = "leave it out of the files, or take it over with `--take`";
            let message = format!("{address}: the server will refuse `{place}` (409), which was set by {owner}: {how}");
            Event::new(severity, message)
        };
        match &self.answer {
            Answer::Fields(fields) => fields.iter().map(of_field).collect(),
            Answer::Refused(_) if self.may_not_ask() && severity != Severity::Error => Vec::new(),
            Answer::Refused(e) => vec![Event::new(severity, format!("{address}: {NOT_TAKEN}: {e:#}"))],
            _ => Vec::new(),
        }
    }
}

/// Whose value a conflict keeps.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Keeps {
    Dest,
    Updated,
}

/// Puts what the server answered into a merge: its changes in place of those that the merge foresaw, and what it refuses.
pub fn settle(claims: &[Claim<'_>], merge: &mut Merge, severity: Severity, keeps: Keeps) {
    let settled: BTreeMap<String, Option<Change>> = claims.iter().filter_map(Claim::settled).collect();
    merge.changes.retain(|change| !settled.contains_key(&change.path));
    merge.made.retain(|path, _| !settled.contains_key(path));
    // What the merge foresaw is no remark about what the server answers. If the winner of a conflict changes nothing, both sides said the same.
    let is_told = |result: &Event| match result.file.as_ref().and_then(|file| settled.get(&file.path)) {
        None => true,
        Some(Some(_)) => result.is_conflict(),
        Some(None) => result.is_conflict() && keeps == Keeps::Dest,
    };
    merge.results.retain(is_told);
    merge.changes.extend(settled.into_values().flatten());
    merge.changes.sort_by(|a, b| a.path.cmp(&b.path));
    merge.results.extend(claims.iter().flat_map(|claim| claim.told(severity)));
    if severity != Severity::Error {
        merge.results.extend(unasked(claims));
    }
}

/// A warning about the objects that the user may not patch; the diff of them is that of the merge.
fn unasked(claims: &[Claim<'_>]) -> Option<Event> {
    let mut all = claims.iter().filter(|claim| claim.may_not_ask());
    let (first, more) = (&all.next()?.local.address, all.count());
    let more = if more == 0 { String::new() } else { format!(" and {more} more") };
    let why = "the cluster does not allow you to ask what a patch would do (403), so what the merge foresees is shown";
    Some(Event::new(Severity::Warning, format!("{first}{more}: {why}")))
}

/// The objects to send with `--server-side`: the new ones, and those that the server would change.
pub fn applying<'l>(locals: &'l [Local], claims: &[Claim<'l>]) -> Vec<(&'l Local, Send)> {
    let changed = claims.iter().filter(|claim| !matches!(claim.answer, Answer::Same));
    let changed: HashMap<String, &Claim<'_>> = changed.map(|claim| (claim.local.address.to_string(), claim)).collect();
    let sent = |local: &Local| match local.live {
        None => Some(applied(local)),
        Some(_) => changed.get(&local.address.to_string()).map(|claim| claim.send.clone()),
    };
    locals.iter().filter_map(|local| Some((local, sent(local)?))).collect()
}

/// The objects to send without it: of those that the merge changes and that the server would not, the note alone.
pub fn patching<'l>(patches: Vec<(&'l Local, Send)>, claims: &[Claim<'l>]) -> Vec<(&'l Local, Send)> {
    let claims: HashMap<String, &Claim<'_>> =
        claims.iter().map(|claim| (claim.local.address.to_string(), claim)).collect();
    let sent = |(local, send): (&'l Local, Send)| {
        let Some(claim) = claims.get(&local.address.to_string()) else { return Some((local, send)) };
        let is_same = claim.settled().is_some_and(|(_, change)| change.is_none());
        Some((local, if is_same { noted(local)? } else { claim.send.clone() }))
    };
    patches.into_iter().filter_map(sent).collect()
}

/// The addresses of the objects whose patch the server has checked and that are sent with it.
pub fn checked(claims: &[Claim<'_>]) -> BTreeSet<String> {
    claims.iter().filter(|claim| claim.is_checked()).map(|claim| claim.local.address.to_string()).collect()
}

#[cfg(test)]
mod tests {
    use kube::core::GroupVersionKind;
    use serde_json::json;

    use super::*;
    use crate::address::Address;
    use crate::local::Place;

    /// An object of the files that lives.
    fn local(live: &Value, handover: Option<Value>) -> Local {
        let written = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "m", "namespace": "n"}});
        let object = Object::live(written.clone());
        let kind = GroupVersionKind::gvk("", "v1", "ConfigMap");
        let (namespace, name) = (Some("n".to_owned()), "m".to_owned());
        Local {
            name: "m.yaml:1:1".to_owned(),
            place: Place { side: 0, file: 0, namespace: None },
            applied: object.clone(),
            written,
            note: String::new(),
            updated: object,
            address: Address { namespace, name, defined_by: None, kind, plural: "configmaps".to_owned() },
            dest: Some(Object::live(live.clone())),
            live: Some(live.clone()),
            noted: None,
            original: None,
            owners: Owners::default(),
            handover,
            needs: None,
        }
    }

    fn live(data: Value, day: u8, owned: Value) -> Value {
        let entry = json!({"manager": "me", "operation": "Apply", "time": format!("2026-01-0{day}T00:00:00Z"), "fieldsV1": owned});
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "m", "namespace": "n", "resourceVersion": day.to_string(), "managedFields": [entry]}, "data": data})
    }

    fn claim(local: &Local, answer: Answer) -> Claim<'_> {
        Claim { local, send: applied(local), answer }
    }

    #[test]
    fn an_answer_is_what_changes_of_the_object_and_of_what_is_owned() {
        let own = json!({"f:data": {"f:a": {}}});
        let before = live(json!({"b": "1", "a": "1"}), 1, own.clone());
        let local = local(&before, None);
        let path = "n/configmap/m".to_owned();
        let settled = |becomes: &Value| {
            let answer = answered(&local, &becomes.to_string(), "me").expect("JSON");
            let is_same = matches!(answer, Answer::Same);
            let (path, change) = claim(&local, answer).settled().expect("it says how it changes");
            (path, is_same, change.map(|change| String::from_utf8(change.new.expect("a text")).expect("UTF-8")))
        };
        // Only the time and the version are others.
        assert_eq!(settled(&live(json!({"a": "1", "b": "1"}), 2, own.clone())), (path.clone(), true, None));
        // More is owned, which is sent, and nothing to show.
        let more = json!({"f:data": {"f:a": {}, "f:b": {}}});
        assert_eq!(settled(&live(json!({"b": "1", "a": "1"}), 2, more)), (path.clone(), false, None));
        // What changes stands in the order of the object.
        let (_, is_same, text) = settled(&live(json!({"a": "2", "b": "1"}), 2, own));
        assert!(!is_same);
        assert!(text.expect("a change").ends_with("data:\n  b: \"1\"\n  a: \"2\"\n"));
    }

    #[test]
    fn an_answer_after_a_handover_or_of_something_else_says_only_that_it_is_taken() {
        let before = live(json!({"a": "1"}), 1, json!({}));
        let with = local(&before, Some(json!([])));
        let without = local(&before, None);
        for (local, answer, is_handed_over) in [(&without, &json!({}), false), (&with, &before, true)] {
            let claim = claim(local, answered(local, &answer.to_string(), "me").expect("JSON"));
            assert!(claim.settled().is_none() && claim.is_checked() && claim.told(Severity::Error).is_empty());
            let info = claim.of_handover().map(|info| krm_words::message(&info));
            assert_eq!(info.is_some_and(|info| info.starts_with("n/configmap/m: its fields go over")), is_handed_over);
        }
        assert!(answered(&without, "no JSON", "me").is_err());
    }

    #[test]
    fn what_is_refused_is_told_and_not_sent_unchecked() {
        let local = local(&live(json!({}), 1, json!({})), None);
        let field = HeldField { place: ".data.a".to_owned(), owner: "\"other\"".to_owned() };
        for (answer, want) in [
            (Answer::Fields(vec![field]), "the server will refuse `.data.a` (409), which was set by \"other\""),
            (Answer::Refused(anyhow::anyhow!("422")), "the server does not take it, and nothing was sent: 422"),
        ] {
            let claim = claim(&local, answer);
            assert!(claim.settled().is_none() && !claim.is_checked());
            for severity in [Severity::Error, Severity::Warning] {
                let told = claim.told(severity);
                assert_eq!((told.len(), told[0].severity), (1, severity));
                assert!(
                    krm_words::message(&told[0]).starts_with("n/configmap/m: ")
                        && krm_words::message(&told[0]).contains(want),
                    "{told:?}"
                );
            }
        }
        assert!(
            !claim(&local, Answer::Unasked).is_checked()
                && claim(&local, Answer::Unasked).told(Severity::Error).is_empty()
        );
    }
}
