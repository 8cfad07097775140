//! What the server answers to the dry runs of apply patches: what would change, which fields it refuses, and whose they are.
//!
//! Only the server knows which values it leaves out and which fields it counts as owned, so nothing of this is predicted. An object is not
//! asked for if it plainly is as the files say: the merge changes nothing, and the manager owns each field of the files.
//!
//! Only fields that the user names are taken over. The server can only take over all refused fields or none. So a patch is forced only if
//! the user takes each of them.

use std::collections::{BTreeMap, HashMap, HashSet};

use anyhow::{Error, Result};
use krm_files::change::Change;
use krm_folders::merge::Merge;
use krm_merge_function::results::{Outcome, Severity};
use serde_json::Value;

use crate::cluster::{Run, Send, owned_by_others, owner_of};
use crate::http::{all, code};
use crate::local::Local;
use crate::object::{self, Object};
use crate::openapi::Schema;
use crate::order;
use crate::owners::Owners;
use crate::send::{NOT_TAKEN, Sender, Sending, applied};
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

/// Asks the server about each object that exists and is not plainly as the files say.
///
/// # Errors
/// The server does not answer.
pub async fn claims<'l>(sender: &Sender<'_>, locals: &'l [Local], merge: &Merge) -> Result<Vec<Claim<'l>>> {
    if merge.has_failed() {
        return Ok(Vec::new());
    }
    let changed: HashSet<&str> = merge.changes.iter().map(|change| change.path.as_str()).collect();
    let changes = |path: &str| changed.contains(path);
    let is_meant = |local: &&Local| {
        local.live.is_some() && (changes(&local.address.to_string()) || !is_plainly_owned(sender, local))
    };
    let asked = locals.iter().filter(is_meant).map(async |local| {
        let mut send = applied(local);
        if local.needs.as_ref().is_some_and(|needs| changes(&needs.to_string())) {
            return Ok(Claim { local, send, answer: Answer::Unasked });
        }
        let answer = match sender.one(local, &mut send, Run::Dry).await {
            Ok(answer) => answered(local, &answer, sender.manager)?,
            Err(e) if !owned_by_others(&e).is_empty() => Answer::Fields(held(sender, local, &e)),
            Err(e) if code(&e).is_some() => Answer::Refused(e),
            Err(e) => return Err(e),
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
        && Object::live(live.clone()) == Object::live(becomes.clone());
    Ok(if is_same { Answer::Same } else { Answer::Becomes(Object::live(becomes).stored()) })
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
    /// The path of the object, with its change if there is one; `None` if the answer does not say what becomes of it.
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

    /// Whether the server has checked the patch.
    fn is_checked(&self) -> bool {
        matches!(self.answer, Answer::Becomes(_) | Answer::Taken)
    }

    /// The results for what the server refuses: errors if the object is to be sent.
    fn told(&self, severity: Severity) -> Vec<Outcome> {
        let address = &self.local.address;
        let of_field = |HeldField { place, owner }: &HeldField| {
            let how = "leave it out of the files, or take it over with `--take`";
            let message = format!("{address}: the server will refuse `{place}` (409), which was set by {owner}: {how}");
            Outcome::new(severity, message)
        };
        match &self.answer {
            Answer::Fields(fields) => fields.iter().map(of_field).collect(),
            Answer::Refused(e) => vec![Outcome::new(severity, format!("{address}: {NOT_TAKEN}: {e:#}"))],
            _ => Vec::new(),
        }
    }
}

/// Puts what the server answered into a merge: its changes in place of those that the merge foresaw, and what it refuses.
pub fn settle(claims: &[Claim<'_>], merge: &mut Merge, severity: Severity) {
    let settled: BTreeMap<String, Option<Change>> = claims.iter().filter_map(Claim::settled).collect();
    merge.changes.retain(|change| !settled.contains_key(&change.path));
    merge.made.retain(|path, _| !settled.contains_key(path));
    // What the merge foresaw is no remark about what the server answers.
    merge.results.retain(|result| result.file.as_ref().is_none_or(|file| !settled.contains_key(&file.path)));
    merge.changes.extend(settled.into_values().flatten());
    merge.changes.sort_by(|a, b| a.path.cmp(&b.path));
    merge.results.extend(claims.iter().flat_map(|claim| claim.told(severity)));
}

/// The objects to send with `--server-side`: the new ones, and those that the server would change.
///
/// # Errors
/// The cluster does not know the type of an object.
pub fn applying<'l>(locals: &'l [Local], merge: &Merge, claims: &[Claim<'l>]) -> Result<Sending<'l>> {
    let changed = claims.iter().filter(|claim| !matches!(claim.answer, Answer::Same));
    let changed: HashMap<String, &Claim<'_>> = changed.map(|claim| (claim.local.address.to_string(), claim)).collect();
    let sent = |local: &Local| match local.live {
        None => Some(applied(local)),
        Some(_) => changed.get(&local.address.to_string()).map(|claim| claim.send.clone()),
    };
    let all = locals.iter().filter_map(|local| Some((local, sent(local)?))).collect();
    let checked = claims.iter().filter(|claim| claim.is_checked()).map(|claim| claim.local.address.to_string());
    Ok(Sending::new(all, merge)?.without_check(checked.collect()))
}
