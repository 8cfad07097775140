//! Look-ups, and that the table for the program equals the table for people.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::*;

const TEXT: &str = include_str!("../builtin.txt");

/// A field down from the root of a resource; elements and values of maps are passed through by the name of their field.
fn field(api_version: &str, kind: &str, path: &str) -> Option<FieldRef> {
    let (way, last) = path.rsplit_once('.').map_or((None, path), |(way, last)| (Some(way), last));
    let root = root(api_version, kind)?;
    way.into_iter().flat_map(|way| way.split('.')).try_fold(root, |ty, name| ty.field(name)?.ty())?.field(last)
}

fn lists(api_version: &str, kind: &str, path: &str) -> (ListKind<&'static str>, ListKind<&'static str>) {
    let list = field(api_version, kind, path)
        .and_then(FieldRef::list)
        .unwrap_or_else(|| panic!("{kind} {path} is a known list"));
    (list.in_patch(), list.in_merge())
}

#[test]
fn lists_merge_as_kubernetes_says() {
    use ListKind::{Atomic, Map, Set};
    for (api_version, kind, path, patch, merge) in [
        ("apps/v1", "Deployment", "spec.template.spec.containers", Map(vec!["name"]), Map(vec!["name"])),
        ("apps/v1", "Deployment", "spec.template.spec.containers.env", Map(vec!["name"]), Map(vec!["name"])),
        (
            "apps/v1",
            "Deployment",
            "spec.template.spec.containers.ports",
            Map(vec!["containerPort", "protocol"]),
            Map(vec!["containerPort", "protocol"]),
        ),
        (
            "apps/v1",
            "Deployment",
            "spec.template.spec.containers.volumeMounts",
            Map(vec!["mountPath"]),
            Map(vec!["mountPath"]),
        ),
        ("apps/v1", "Deployment", "spec.template.spec.containers.envFrom", Atomic, Atomic),
        ("apps/v1", "Deployment", "spec.template.spec.containers.args", Atomic, Atomic),
        ("apps/v1", "Deployment", "spec.template.spec.tolerations", Atomic, Atomic),
        ("apps/v1", "Deployment", "spec.template.spec.volumes", Map(vec!["name"]), Map(vec!["name"])),
        ("apps/v1", "Deployment", "spec.template.spec.volumes.projected.sources", Atomic, Atomic),
        (
            "v1",
            "Pod",
            "spec.topologySpreadConstraints",
            Map(vec!["topologyKey", "whenUnsatisfiable"]),
            Map(vec!["topologyKey", "whenUnsatisfiable"]),
        ),
        ("v1", "Pod", "status.hostIPs", Map(vec!["ip"]), Map(vec!["ip"])),
        ("v1", "Pod", "metadata.finalizers", Set, Set),
        ("v1", "Pod", "metadata.ownerReferences", Map(vec!["uid"]), Map(vec!["uid"])),
        ("v1", "Service", "spec.ports", Map(vec!["port", "protocol"]), Map(vec!["port", "protocol"])),
        ("v1", "ServiceAccount", "secrets", Map(vec!["name"]), Map(vec!["name"])),
        ("v1", "ServiceAccount", "imagePullSecrets", Atomic, Atomic),
        ("v1", "Node", "spec.podCIDRs", Set, Set),
        (
            "batch/v1",
            "CronJob",
            "spec.jobTemplate.spec.template.spec.initContainers.env",
            Map(vec!["name"]),
            Map(vec!["name"]),
        ),
        ("batch/v1", "Job", "status.conditions", Map(vec!["type"]), Map(vec!["type"])),
        ("rbac.authorization.k8s.io/v1", "Role", "rules", Atomic, Atomic),
        ("rbac.authorization.k8s.io/v1", "Role", "rules.verbs", Atomic, Atomic),
        ("networking.k8s.io/v1", "Ingress", "spec.rules", Atomic, Atomic),
        // A patch replaces this list, and the server merges it.
        ("v1", "Pod", "spec.containers.resources.claims", Atomic, Map(vec!["name"])),
        // Lists below a list that is replaced whole are known, because a rule of the user may make it merge.
        ("apps/v1", "StatefulSet", "spec.volumeClaimTemplates", Atomic, Atomic),
        ("apps/v1", "StatefulSet", "spec.volumeClaimTemplates.metadata.finalizers", Set, Set),
        // These types are removed from Kubernetes, but users still have them in their folders.
        ("extensions/v1beta1", "Deployment", "spec.template.spec.containers", Map(vec!["name"]), Map(vec!["name"])),
        ("policy/v1beta1", "PodSecurityPolicy", "spec.volumes", Atomic, Atomic),
    ] {
        assert_eq!(lists(api_version, kind, path), (patch, merge), "{kind} {path}");
    }
}

#[test]
fn unions_are_known_with_and_without_a_list() {
    let strategy = |kind, path| field("apps/v1", kind, path).map(FieldRef::strategy);
    assert_eq!(strategy("Deployment", "spec.strategy"), Some(Strategy::RetainKeys));
    assert_eq!(field("apps/v1", "Deployment", "spec.strategy").and_then(FieldRef::list), None);
    assert_eq!(strategy("Deployment", "spec.template.spec.volumes"), Some(Strategy::MergeRetainKeys));
    assert_eq!(strategy("Deployment", "spec.template.spec.containers"), Some(Strategy::Merge));
    assert_eq!(
        field("policy/v1", "PodDisruptionBudget", "spec.selector").map(FieldRef::strategy),
        Some(Strategy::Replace)
    );
}

#[test]
fn objects_must_have_fields() {
    let required = |api_version, kind, path: &str| {
        let ty = match path {
            "" => root(api_version, kind),
            path => field(api_version, kind, path).and_then(FieldRef::ty),
        };
        ty.into_iter().flat_map(TypeRef::required).collect::<Vec<_>>().join(" ")
    };
    let pod = "spec.template.spec";
    for (api_version, kind, path, want) in [
        ("apps/v1", "Deployment", "spec", "selector template"),
        // The API server requires an image, although its documents do not.
        ("apps/v1", "Deployment", &*format!("{pod}.containers"), "image name"),
        ("apps/v1", "Deployment", &format!("{pod}.containers.volumeMounts"), "mountPath name"),
        ("apps/v1", "Deployment", &format!("{pod}.containers.env"), "name"),
        ("apps/v1", "Deployment", &format!("{pod}.containers.env.valueFrom.configMapKeyRef"), "key name"),
        ("apps/v1", "Deployment", &format!("{pod}.containers.ports"), "containerPort"),
        ("apps/v1", "Deployment", &format!("{pod}.containers.livenessProbe"), ""),
        ("apps/v1", "Deployment", &format!("{pod}.containers.livenessProbe.httpGet"), "port"),
        ("apps/v1", "Deployment", &format!("{pod}.volumes"), "name"),
        ("apps/v1", "Deployment", &format!("{pod}.volumes.hostPath"), "path"),
        ("batch/v1", "CronJob", "spec", "jobTemplate schedule"),
        ("v1", "Service", "spec.ports", "port"),
        ("networking.k8s.io/v1", "Ingress", "spec.rules.http.paths", "backend pathType"),
        ("rbac.authorization.k8s.io/v1", "RoleBinding", "", "roleRef"),
        ("rbac.authorization.k8s.io/v1", "RoleBinding", "roleRef", "kind name"),
        ("rbac.authorization.k8s.io/v1", "Role", "rules", "verbs"),
        ("extensions/v1beta1", "Deployment", &format!("{pod}.containers"), "image name"),
        // A map from any name is not an object.
        ("apiextensions.k8s.io/v1", "CustomResourceDefinition", "spec.versions.schema.openAPIV3Schema.properties", ""),
    ] {
        assert_eq!(required(api_version, kind, path), want, "{kind} {path}");
    }
}

#[test]
fn maps_have_any_field() {
    let api = "apiextensions.k8s.io/v1";
    let schema = "spec.versions.schema.openAPIV3Schema";
    assert_eq!(
        lists(api, "CustomResourceDefinition", &format!("{schema}.properties.any.properties.thing.required")),
        (ListKind::Atomic, ListKind::Atomic)
    );
    assert_eq!(
        field(api, "CustomResourceDefinition", &format!("{schema}.properties.any")).and_then(FieldRef::list),
        None
    );
    let extra = field("certificates.k8s.io/v1", "CertificateSigningRequest", "spec.extra").expect("known");
    assert_eq!(extra.list(), None);
    let any = extra.ty().and_then(|ty| ty.field("any")).expect("known");
    assert_eq!((any.list().map(BuiltinList::in_merge), any.ty()), (Some(ListKind::Atomic), None));
}

#[test]
fn the_unknown_is_none() {
    assert_eq!(root("example.com/v1", "Deployment"), None);
    assert_eq!(root("apps/v1", "Pod"), None);
    assert_eq!(root("v1", "PodList"), None);
    assert_eq!(root("", ""), None);
    assert_eq!(field("v1", "ConfigMap", "data"), None);
    assert_eq!(field("v1", "Pod", "spec.nodeName"), None);
    assert_eq!(field("v1", "Pod", "spec.notYet"), None);
    assert_eq!(VERSIONS, "1.11 to 1.37");
}

/// A line of `builtin.txt` below `type`: the written form of the value, and its extensions.
type Line<'t> = (&'t str, BTreeMap<&'t str, &'t str>);

type Kinds<'t> = BTreeMap<(&'t str, &'t str), &'t str>;
type Types<'t> = BTreeMap<&'t str, BTreeMap<&'t str, Line<'t>>>;
type Required<'t> = BTreeMap<&'t str, Vec<&'t str>>;

/// The content of `builtin.txt`.
fn text() -> (Kinds<'static>, Types<'static>, Required<'static>) {
    let (mut kinds, mut types, mut required) = (Kinds::new(), Types::new(), Required::new());
    let mut current = "";
    for line in TEXT.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words[..] {
            ["kind", api_version, kind, ty] => _ = kinds.insert((api_version, kind), ty),
            ["type", ty, ref rest @ ..] => {
                current = ty;
                types.entry(ty).or_default();
                let fields = rest.iter().flat_map(|word| word.strip_prefix("required=").expect("fields").split(','));
                required.insert(ty, fields.collect());
            }
            [field, value, ref rest @ ..] if line.starts_with("  ") => {
                let rest = rest.iter().map(|word| word.split_once('=').expect("an extension")).collect();
                types.entry(current).or_default().insert(field, (value, rest));
            }
            _ => assert!(
                line.is_empty()
                    || line.starts_with('#')
                    || line.starts_with("source ")
                    || line.starts_with("versions "),
                "{line}"
            ),
        }
    }
    (kinds, types, required)
}

#[test]
fn the_packed_table_is_the_text() {
    let (kinds, types, required) = text();
    assert_eq!((KINDS.len(), TYPE_STARTS.len() - 1), (kinds.len(), types.len()));
    assert_eq!(FIELDS.len(), types.values().map(BTreeMap::len).sum::<usize>());
    assert!(TEXT.contains(&format!("\nversions {VERSIONS}\n")));
    let names: Vec<&str> = types.keys().copied().collect();
    let ty = |name: &str| TypeRef {
        target: u16::try_from(names.iter().position(|n| *n == name).expect(name)).expect("small"),
        map_to: None,
    };
    for ((api_version, kind), name) in kinds {
        assert_eq!(root(api_version, kind), Some(ty(name)));
    }
    for (name, fields) in types {
        assert_eq!(ty(name).required().collect::<Vec<_>>(), required[name], "{name}");
        assert_eq!(
            ty(name).rows().iter().map(|[name, ..]| NAMES.get(*name)).collect::<Vec<_>>(),
            fields.keys().copied().collect::<Vec<_>>()
        );
        for (field, (value, extensions)) in fields {
            let found = ty(name).field(field).expect(field);
            let [strategy, list_type, _, map_keys @ ..] = *found.rule;
            let (strategy, list_type) = (u16::from_le_bytes(strategy), u16::from_le_bytes(list_type));
            let keys: Vec<&str> = map_keys.iter().map(|key| NAMES.get(*key)).filter(|key| !key.is_empty()).collect();
            let words = [
                ("patch", ["", "merge", "replace", "retainKeys", "merge,retainKeys"][usize::from(strategy)].to_owned()),
                ("key", BuiltinList(found.rule).merge_key().unwrap_or_default().to_owned()),
                ("list", ["", "atomic", "set", "map"][usize::from(list_type)].to_owned()),
                ("keys", keys.join(",")),
            ];
            let want: Vec<_> = words
                .iter()
                .map(|(word, _)| (*word, extensions.get(word).copied().unwrap_or_default().to_owned()))
                .collect();
            assert_eq!(words.to_vec(), want, "{name} {field}");
            let (start, end) = [("", ""), ("[", "]"), ("{", "}"), ("{[", "]}")][found.shape as usize];
            let target = value.strip_prefix(start).and_then(|v| v.strip_suffix(end)).expect(value);
            assert_eq!(
                found.target,
                if matches!(target, "" | "-") { NOTHING } else { ty(target).target },
                "{name} {field} {value}"
            );
        }
    }
    for rule in RULES {
        let [_, list_type, merge_key, first, ..] = *rule;
        assert_eq!(u16::from_le_bytes(list_type) == 3, !NAMES.get(first).is_empty(), "{rule:?}");
        assert!(NAMES.get(first).is_empty() || NAMES.get(merge_key).is_empty() || first == merge_key, "{rule:?}");
    }
}

/// Another table of the same documents, made by others. It has fewer fields: it has a list that is replaced whole only on the way to one
/// that merges. It also has maps that are replaced whole, which this table does not cover.
#[test]
fn another_table_says_the_same() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/schema/k8s-merge-schema.json");
    let Ok(json) = std::fs::read(path) else {
        eprintln!("skipped: there is no ../shared/schema/k8s-merge-schema.json to compare with");
        return;
    };
    let other: Value = serde_json::from_slice(&json).expect("JSON");
    let short = |name: &str| name.rmatch_indices('.').nth(2).map_or(name, |(at, _)| &name[at + 1..]).to_owned();
    let (kinds, types, _) = text();
    let mut differences = Vec::new();

    let sources = other["sources"].as_array().expect("sources").iter();
    let sources: Vec<String> = sources
        .map(|s| format!("source {} {}", s["label"].as_str().expect("label"), s["sha256"].as_str().expect("sha256")))
        .collect();
    differences
        .extend(sources.iter().filter(|s| !TEXT.lines().any(|line| line == *s)).map(|s| format!("not here: {s}")));

    let theirs: BTreeMap<String, String> = other["gvk"]
        .as_object()
        .expect("gvk")
        .iter()
        .map(|(k, v)| (k.clone(), short(v.as_str().expect("type"))))
        .collect();
    let ours: BTreeMap<String, String> =
        kinds.into_iter().map(|((api_version, kind), ty)| (format!("{api_version}/{kind}"), ty.to_owned())).collect();
    let both: BTreeSet<&String> = theirs.keys().chain(ours.keys()).collect();
    differences.extend(
        both.into_iter()
            .filter(|k| theirs.get(*k) != ours.get(*k))
            .map(|k| format!("{k}: {:?}, {:?}", ours.get(k), theirs.get(k))),
    );

    let mut compared = 0;
    let mut seen = BTreeSet::new();
    for (name, fields) in other["types"].as_object().expect("types") {
        // The nameless field is the type itself: a map that is replaced whole.
        for (field, said) in fields.as_object().expect("fields").iter().filter(|(field, _)| !field.is_empty()) {
            let (name, word) = (short(name), |key: &str| said[key].as_str().unwrap_or_default().to_owned());
            let keys: Vec<&str> = said["K"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
            let theirs = [word("s"), word("k"), word("t"), keys.join(",")];
            let target = ["r", "l", "m"].iter().find_map(|key| said[key].as_str()).map(short).unwrap_or_default();
            compared += 1;
            seen.insert((name.clone(), field.clone()));
            let Some((value, extensions)) = types.get(name.as_str()).and_then(|fields| fields.get(field.as_str()))
            else {
                let says_more = theirs.iter().any(|word| !word.is_empty())
                    || said["l"].is_string()
                    || types.contains_key(target.as_str());
                differences.extend(says_more.then(|| format!("not here: {name} {field} {said}")));
                continue;
            };
            let ours = ["patch", "key", "list", "keys"]
                .map(|word| extensions.get(word).copied().unwrap_or_default().to_owned());
            // The other table leaves out `list-type: atomic` if a list has no other declaration.
            let silent = ours == ["", "", "atomic", ""] && theirs.iter().all(String::is_empty);
            let inner = value.trim_matches(|c| "[]{}-".contains(c));
            let same_target =
                inner == target || target.is_empty() || inner.is_empty() && !types.contains_key(target.as_str());
            let same_shape =
                value.starts_with('[') == said["l"].is_string() && value.starts_with('{') == said["m"].is_string();
            if !(ours == theirs || silent) || !same_target || !same_shape {
                differences.push(format!("{name} {field} {value} {extensions:?}: {said}"));
            }
        }
    }
    for (name, fields) in &types {
        for (field, (value, extensions)) in
            fields.iter().filter(|(field, _)| !seen.contains(&((*name).to_owned(), (**field).to_owned())))
        {
            if extensions.iter().any(|(word, said)| (*word, *said) != ("list", "atomic")) {
                differences.push(format!("only here: {name} {field} {value} {extensions:?}"));
            }
        }
    }
    assert!(compared > 900);
    assert!(differences.is_empty(), "{}", differences.join("\n"));
    eprintln!("compared {compared} fields: no difference");
}
