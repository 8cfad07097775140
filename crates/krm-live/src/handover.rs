//! Hands the fields of client-side apply over to server-side apply.
//!
//! Client-side apply leaves its fields to a manager of updates, even if the manager has the same name. Server-side apply would be refused by
//! it, and would not remove what the files drop. So fields go over to the manager that applies, as kubectl does it
//! (k8s.io/client-go/util/csaupgrade): of the managers of client-side apply those that the note or the files name, and of other managers of
//! updates those that still are as the note says.
//!
//! A manager of updates also owns the defaults around its fields. They stay with it where the files keep the map or element around them.
//! Where the files drop the map or element, they go over with it.

use serde_json::{Map, Value, json};

use crate::object::{self, LAST_APPLIED, covers};

/// The managers of client-side apply whose note another one may have replaced since: kubectl's, the fields that were there before the server
/// noted managers, and this program's. Source: `apply.go` of k8s.io/kubectl, and `buildmanagerinfo.go` of k8s.io/apimachinery.
const CLIENTS: [&str; 3] = ["before-first-apply", "krm-merge", "kubectl-client-side-apply"];

/// The `managedFields` of a live object after its handover to a manager of server-side apply, which will apply a resource; `None` if there is
/// nothing to hand over. The note goes, too: the server removes it with the next apply, because it would be out of date then.
pub fn handed_over(live: &Value, written: &Value, manager: &str) -> Option<Value> {
    let note = object::last_applied(live)?;
    let mut noted: Value = serde_json::from_str(note).ok()?;
    // Anyone can write the annotation, so it need not be an object.
    object::note(&mut noted, note)?;
    let entries = live["metadata"]["managedFields"].as_array()?;
    let is_of_object = |entry: &Value| entry["subresource"].as_str().is_none_or(str::is_empty);
    let is_its = |entry: &Value| is_of_object(entry) && entry["manager"] == manager && entry["operation"] == "Apply";
    let is_client = |entry: &Value| {
        let notes = entry["fieldsV1"]["f:metadata"]["f:annotations"].get(format!("f:{LAST_APPLIED}")).is_some();
        let name = entry["manager"].as_str().unwrap_or_default();
        notes || name == manager || CLIENTS.contains(&name)
    };
    let is_update = |entry: &Value| is_of_object(entry) && entry["operation"] == "Update";
    // An applier has one entry, whose fields have the names of one version. The server converts them.
    let client = || entries.iter().find(|entry| is_update(entry) && is_client(entry));
    let mut version = entries.iter().find(|entry| is_its(entry)).or_else(client).map(|entry| &entry["apiVersion"]);
    let (mut moved, mut kept) = (Map::new(), Vec::new());
    let mut first = None;
    for entry in entries {
        let Some(fields) = entry["fieldsV1"].as_object().filter(|_| is_update(entry)) else {
            kept.push(entry.clone());
            continue;
        };
        let whose = if is_client(entry) { Whose::AClient } else { Whose::Another { live } };
        let (goes, stays) = split(fields, Named { noted: &noted, written, whose });
        if !goes.is_empty() {
            first = first.or(Some(entry));
            // As under kubectl, nobody owns fields of another version then.
            if *version.get_or_insert(&entry["apiVersion"]) == &entry["apiVersion"] {
                join(&mut moved, goes);
            }
        }
        if !stays.is_empty() {
            let mut rest = entry.clone();
            rest["fieldsV1"] = stays.into();
            kept.push(rest);
        }
    }
    let first = first.filter(|_| !is_note(&moved))?;
    match kept.iter_mut().find(|entry| is_its(entry)).and_then(|entry| entry.get_mut("fieldsV1")?.as_object_mut()) {
        Some(fields) => join(fields, moved),
        None => kept.push(json!({
            "manager": manager, "operation": "Apply", "apiVersion": version, "time": first["time"],
            "fieldsType": "FieldsV1", "fieldsV1": moved,
        })),
    }
    Some(kept.into())
}

/// Whether fields are those of kubectl's note alone. Then there is nothing that the files could drop.
fn is_note(fields: &Map<String, Value>) -> bool {
    let note = format!("f:{LAST_APPLIED}");
    let alone = [json!({&note: {}}), json!({".": {}, &note: {}})];
    alone.into_iter().any(|annotations| json!(fields) == json!({"f:metadata": {"f:annotations": annotations}}))
}

/// A place in the note and in the files. A field that is not there is null.
#[derive(Clone, Copy)]
struct Named<'v> {
    noted: &'v Value,
    written: &'v Value,
    whose: Whose<'v>,
}

/// Whose fields are split.
#[derive(Clone, Copy)]
enum Whose<'v> {
    AClient,
    /// Another manager's, at the same place of the live object.
    Another {
        live: &'v Value,
    },
}

impl Named<'_> {
    fn below(self, name: &str) -> Self {
        let below = |value| named(value, name).unwrap_or(&Value::Null);
        let whose = match self.whose {
            Whose::AClient => Whose::AClient,
            Whose::Another { live } => Whose::Another { live: below(live) },
        };
        Self { noted: below(self.noted), written: below(self.written), whose }
    }

    /// Whether the field here goes over. A field of a client goes if the note or the files name it. A field of another manager goes if the
    /// note names it and the live value still is as the note says.
    fn goes(self) -> bool {
        match self.whose {
            Whose::AClient => !(self.noted.is_null() && self.written.is_null()),
            Whose::Another { live } => !self.noted.is_null() && covers(live, self.noted),
        }
    }
}

/// The fields that go over, and the others. A map or list that has both is in both. Defaults go with the map or element that the files drop.
fn split(fields: &Map<String, Value>, at: Named<'_>) -> (Map<String, Value>, Map<String, Value>) {
    let (mut goes, mut stays) = (Map::new(), Map::new());
    for (name, below) in fields.iter().filter(|(name, _)| *name != ".") {
        let at = at.below(name);
        let some = |part: Map<String, Value>| (!part.is_empty()).then_some(Value::Object(part));
        let inside = below.as_object().filter(|below| !below.is_empty()).map(|below| split(below, at));
        let (part, rest) = match inside {
            Some((part, _)) if at.written.is_null() && at.goes() && !part.is_empty() => (Some(below.clone()), None),
            Some((part, rest)) => (some(part), some(rest)),
            None if at.goes() => (Some(below.clone()), None),
            None => (None, Some(below.clone())),
        };
        goes.extend(part.map(|part| (name.clone(), part)));
        stays.extend(rest.map(|rest| (name.clone(), rest)));
    }
    if let Some(itself) = fields.get(".") {
        let is_ours = match at.whose {
            Whose::AClient => at.goes(),
            // While another manager keeps a field in the map or element, it keeps the map or element, too.
            Whose::Another { .. } => stays.is_empty() && (!goes.is_empty() || at.goes()),
        };
        let holder = if is_ours { &mut goes } else { &mut stays };
        holder.insert(".".to_owned(), itself.clone());
    }
    (goes, stays)
}

/// The part of a value that an entry of FieldsV1 names.
fn named<'v>(value: &'v Value, name: &str) -> Option<&'v Value> {
    match name.split_at_checked(2)? {
        ("f:", field) => value.get(field),
        ("k:", keys) => element(value, keys),
        ("v:", json) => {
            let of = serde_json::from_str::<Value>(json).ok()?;
            value.as_array()?.iter().find(|element| **element == of)
        }
        _ => None,
    }
}

/// The element of a list that has these keys. A key that it lacks has its default.
fn element<'v>(list: &'v Value, keys: &str) -> Option<&'v Value> {
    let keys: Map<String, Value> = serde_json::from_str(keys).ok()?;
    let fits = |element: &&Value| keys.iter().all(|(name, value)| element.get(name).is_none_or(|own| own == value));
    list.as_array()?.iter().find(fits)
}

fn join(all: &mut Map<String, Value>, more: Map<String, Value>) {
    for (name, below) in more {
        match (all.get_mut(&name), below) {
            (Some(Value::Object(own)), Value::Object(below)) => join(own, below),
            (_, below) => drop(all.insert(name, below)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_note_names_is_handed_over_and_the_rest_stays() {
        let note = json!({"apiVersion": "v1", "kind": "K", "metadata": {"name": "n", "annotations": {}}, "spec": {"a": 1, "list": [{"port": 80}], "set": ["x"]}});
        let annotations = json!({"f:annotations": {".": {}, format!("f:{LAST_APPLIED}"): {}}});
        let live = json!({"apiVersion": "v1", "kind": "K", "metadata": {"annotations": {LAST_APPLIED: note.to_string()}, "managedFields": [
            {"manager": "me", "operation": "Update", "apiVersion": "v1", "time": "t", "fieldsV1": {"f:metadata": annotations, "f:spec": {
                ".": {}, "f:a": {}, "f:default": {}, "f:set": {".": {}, "v:\"x\"": {}},
                "f:list": {".": {}, "k:{\"port\":80,\"protocol\":\"TCP\"}": {".": {}, "f:port": {}, "f:protocol": {}, "f:mode": {}}},
            }}},
            {"manager": "me", "operation": "Update", "subresource": "status", "apiVersion": "v1", "fieldsV1": {"f:status": {}}},
            {"manager": "console", "operation": "Update", "apiVersion": "v1", "fieldsV1": {"f:spec": {"f:b": {}}}},
        ]}});
        let kept = |at: usize| live["metadata"]["managedFields"][at].clone();
        let rest = json!({"manager": "me", "operation": "Update", "apiVersion": "v1", "time": "t", "fieldsV1": {"f:spec": {
            "f:default": {}, "f:list": {"k:{\"port\":80,\"protocol\":\"TCP\"}": {"f:mode": {}}},
        }}});
        let applier = json!({"manager": "me", "operation": "Apply", "apiVersion": "v1", "time": "t", "fieldsType": "FieldsV1", "fieldsV1": {
            "f:metadata": annotations, "f:spec": {
                ".": {}, "f:a": {}, "f:set": {".": {}, "v:\"x\"": {}},
                "f:list": {".": {}, "k:{\"port\":80,\"protocol\":\"TCP\"}": {".": {}, "f:port": {}, "f:protocol": {}}},
            },
        }});
        let mut now = live.clone();
        let written = json!({"spec": {"list": [{"port": 80, "protocol": "TCP"}], "new": 1}});
        now["metadata"]["managedFields"] = handed_over(&live, &written, "me").expect("some");
        assert_eq!(now["metadata"]["managedFields"], json!([rest, kept(1), kept(2), applier]));
        assert_eq!(handed_over(&now, &written, "me"), None, "once");
        assert_eq!(handed_over(&json!({"metadata": {"managedFields": []}}), &written, "me"), None);
    }

    #[test]
    fn fields_keep_the_version_that_names_them() {
        let note = json!({"apiVersion": "k/v1", "kind": "K", "metadata": {"name": "n"}, "spec": {"old": 1}});
        let entry = |manager: &str, operation: &str, version: &str, field: &str| json!({"manager": manager, "operation": operation, "apiVersion": version, "time": "t", "fieldsType": "FieldsV1", "fieldsV1": {"f:spec": {field: {}}}});
        let written = json!({"apiVersion": "k/v2", "kind": "K", "metadata": {"name": "n"}, "spec": {"new": 1}});
        let (client, own) = (entry("krm-merge", "Update", "k/v1", "f:old"), entry("me", "Apply", "k/v2", "f:new"));
        for (entries, want) in [
            (json!([client]), json!([entry("me", "Apply", "k/v1", "f:old")])),
            (json!([own, client]), json!([own])),
            (json!([entry("me", "Apply", "k/v1", "f:old"), client]), json!([entry("me", "Apply", "k/v1", "f:old")])),
        ] {
            let live = json!({"apiVersion": "k/v2", "kind": "K", "metadata": {"annotations": {LAST_APPLIED: note.to_string()}, "managedFields": entries}});
            assert_eq!(handed_over(&live, &written, "me"), Some(want), "{entries}");
        }
    }

    /// The server sets defaults in a probe, and what owns them would hold the probe.
    #[test]
    fn what_the_files_drop_goes_over_with_its_defaults() {
        let probe = |port: u8, delay: Value| json!({"port": port, "delay": delay});
        let note = json!({"kind": "K", "metadata": {"name": "n"}, "spec": {"probe": {"port": 1}, "list": [{"name": "a"}, {"name": "b"}], "kept": {"x": 1}}});
        let fields = json!({"f:spec": {
            "f:kept": {"f:x": {}, "f:default": {}}, "f:probe": {".": {}, "f:port": {}, "f:delay": {}},
            "f:list": {"k:{\"name\":\"a\"}": {".": {}, "f:name": {}, "f:mode": {}}, "k:{\"name\":\"b\"}": {".": {}, "f:name": {}, "f:mode": {}}},
        }});
        let written = json!({"spec": {"kept": {"x": 1}, "list": [{"name": "b"}]}});
        for (manager, port, probe_stays) in [("krm-merge", 1, false), ("ci", 1, false), ("ci", 2, true)] {
            let live = json!({
                "apiVersion": "v1", "kind": "K", "metadata": {"annotations": {LAST_APPLIED: note.to_string()}, "managedFields": [
                    {"manager": manager, "operation": "Update", "apiVersion": "v1", "time": "t", "fieldsV1": fields},
                ]},
                "spec": {"probe": probe(port, json!(5)), "list": [{"name": "a", "mode": 1}, {"name": "b", "mode": 1}], "kept": {"x": 1, "default": 2}},
            });
            let found = handed_over(&live, &written, "me").expect("some");
            let mut left = json!({"f:kept": {"f:default": {}}, "f:list": {"k:{\"name\":\"b\"}": {"f:mode": {}}}});
            if manager == "ci" {
                left["f:list"]["k:{\"name\":\"b\"}"]["."] = json!({});
            }
            if probe_stays {
                left["f:probe"] = fields["f:spec"]["f:probe"].clone();
            }
            assert_eq!(found[0]["fieldsV1"]["f:spec"], left, "{manager} {port}");
            let goes = &found[1]["fieldsV1"]["f:spec"];
            let whole = "k:{\"name\":\"a\"}";
            assert_eq!(goes["f:list"][whole], fields["f:spec"]["f:list"][whole], "{manager} {port}");
            assert_eq!(goes.get("f:probe").is_none(), probe_stays, "{manager} {port}");
        }
    }

    #[test]
    fn an_annotation_that_is_no_note_hands_nothing_over() {
        let entries = json!([{"manager": "krm-merge", "operation": "Update", "apiVersion": "v1", "time": "t", "fieldsV1": {"f:data": {"f:a": {}}}}]);
        for (note, is_note) in [
            ("[]", false),
            ("\"x\"", false),
            ("null", false),
            ("{}", false),
            (r#"{"metadata": []}"#, false),
            (r#"{"metadata": {"annotations": "x"}}"#, false),
            (r#"{"metadata": {"annotations": null}}"#, true),
        ] {
            let live = json!({"metadata": {"annotations": {LAST_APPLIED: note}, "managedFields": entries}});
            assert_eq!(handed_over(&live, &json!({"data": {"a": "1"}}), "me").is_some(), is_note, "{note}");
        }
    }

    /// A map that is empty, or whose fields others own.
    #[test]
    fn a_map_without_fields_goes_over_only_if_it_is_named() {
        let itself = json!({".": {}});
        let entry = |manager: &str, labels: &Value| json!({"manager": manager, "operation": "Update", "apiVersion": "v1", "time": "t", "fieldsV1": {"f:metadata": {"f:labels": labels}}});
        let client = json!({"manager": "krm-merge", "operation": "Update", "apiVersion": "v1", "time": "t", "fieldsV1": {"f:data": {"f:a": {}}}});
        for (manager, labels, noted, live, stays) in [
            ("ci", &itself, json!(null), json!({}), true),
            ("krm-merge", &itself, json!(null), json!({}), true),
            ("ci", &itself, json!({}), json!({}), false),
            ("ci", &itself, json!({"x": "1"}), json!({"x": "2"}), true),
            ("krm-merge", &itself, json!({"x": "1"}), json!({"x": "2"}), false),
            // Of all that the manager owns in the map, nothing stays.
            ("ci", &json!({".": {}, "f:x": {}}), json!({"x": "1", "y": "1"}), json!({"x": "1"}), false),
        ] {
            let note = json!({"metadata": {"name": "n", "labels": noted}, "data": {"a": "1"}});
            let live = json!({"data": {"a": "1"}, "metadata": {"labels": live, "annotations": {LAST_APPLIED: note.to_string()}, "managedFields": [client, entry(manager, labels)]}});
            let found = handed_over(&live, &json!({"data": {"a": "1"}}), "me").expect("some");
            assert_eq!(found[0] == entry(manager, labels), stays, "{manager} {labels} {note} {found}");
            let goes = &found[usize::from(stays)]["fieldsV1"];
            assert_eq!(goes["f:metadata"]["f:labels"] == *labels, !stays, "{manager} {labels} {note} {found}");
        }
    }

    #[test]
    fn what_kubectl_applied_goes_over_whichever_manager_applies() {
        let note = json!({"apiVersion": "v1", "kind": "K", "metadata": {"name": "n", "annotations": {}}, "data": {"a": "1", "gone": "1"}});
        let annotations = json!({"f:annotations": {".": {}, format!("f:{LAST_APPLIED}"): {}}});
        let entry = |fields: Value| json!({"manager": "kubectl-client-side-apply", "operation": "Update", "apiVersion": "v1", "time": "t", "fieldsV1": fields});
        let live = |entries: Value| json!({"apiVersion": "v1", "kind": "K", "metadata": {"annotations": {LAST_APPLIED: note.to_string()}, "managedFields": entries}});
        let all = json!({"f:metadata": annotations, "f:data": {".": {}, "f:a": {}, "f:gone": {}}});
        let written = json!({"data": {"a": "1", "b": "2"}});
        let applier = json!({"manager": "me", "operation": "Apply", "apiVersion": "v1", "time": "t", "fieldsType": "FieldsV1", "fieldsV1": all});
        assert_eq!(handed_over(&live(json!([entry(all.clone())])), &written, "me"), Some(json!([applier])));
        // In any order of the appliers: another one wrote the note last.
        let mut noting = entry(json!({"f:metadata": annotations}));
        noting["manager"] = json!("other");
        let data = json!({"f:data": {".": {}, "f:a": {}, "f:gone": {}}});
        for client in ["kubectl-client-side-apply", "krm-merge", "before-first-apply"] {
            let mut owning = entry(data.clone());
            owning["manager"] = json!(client);
            let found = handed_over(&live(json!([noting, owning])), &written, "me").expect("some");
            assert_eq!((found.as_array().map(Vec::len), &found[0]), (Some(1), &applier), "{client}");
        }
        // Of any other manager, those that are as the note says.
        let mut data = entry(data);
        data["manager"] = json!("ci");
        data["fieldsV1"]["f:data"]["f:own"] = json!({});
        let mut found = live(json!([noting, data]));
        found["data"] = json!({"a": "1", "gone": "2", "own": "3"});
        let left = json!({"f:data": {".": {}, "f:gone": {}, "f:own": {}}});
        let found = handed_over(&found, &written, "me").expect("some");
        assert_eq!((&found[0]["manager"], &found[0]["fieldsV1"]), (&json!("ci"), &left));
        assert_eq!(found[1]["fieldsV1"], json!({"f:metadata": annotations, "f:data": {"f:a": {}}}));
        // The note alone is nothing to hand over.
        let note_alone = entry(json!({"f:metadata": annotations}));
        assert_eq!(handed_over(&live(json!([note_alone])), &written, "me"), None);
        let mut edit = entry(json!({"f:data": {"f:a": {}}}));
        edit["manager"] = json!("kubectl-edit");
        assert_eq!(handed_over(&live(json!([edit])), &written, "me"), None);
    }
}
