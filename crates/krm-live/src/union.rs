//! Maps of the built-in types in which some fields exclude others. If the files choose one member, the fields of other members must be
//! removed.
//!
//! The API server refuses or drops the fields of a member that is not chosen, even if it set them itself. krm-schema knows which fields
//! exclude each other. For what the value of a field excludes, no schema says so. Source: the validation of each type in kubernetes/pkg/apis.

use krm_schema::schema::{Alternatives, Cursor};
use krm_yaml::NodeRef;

/// A field whose value decides which other fields may be set.
struct Discriminator {
    /// The kind of the object, if the name of the map is not enough.
    kind: Option<&'static str>,
    /// The name of the map.
    map: &'static str,
    /// The field that chooses.
    by: &'static str,
    /// Fields, each with the values that allow it.
    allowed: &'static [(&'static str, &'static [&'static str])],
    /// A field that allows all these fields if it is set.
    unless: Option<&'static str>,
}

const CHOICES: [Discriminator; 6] = [
    Discriminator {
        kind: None,
        map: "strategy",
        by: "type",
        allowed: &[("rollingUpdate", &["RollingUpdate"])],
        unless: None,
    },
    Discriminator {
        kind: None,
        map: "updateStrategy",
        by: "type",
        allowed: &[("rollingUpdate", &["RollingUpdate"])],
        unless: None,
    },
    Discriminator {
        kind: Some("Service"),
        map: "spec",
        by: "type",
        allowed: &[
            ("allocateLoadBalancerNodePorts", &["LoadBalancer"]),
            ("externalTrafficPolicy", &["LoadBalancer", "NodePort"]),
            ("healthCheckNodePort", &["LoadBalancer"]),
            ("loadBalancerClass", &["LoadBalancer"]),
        ],
        unless: Some("externalIPs"),
    },
    Discriminator {
        kind: Some("Service"),
        map: "spec",
        by: "sessionAffinity",
        allowed: &[("sessionAffinityConfig", &["ClientIP"])],
        unless: None,
    },
    Discriminator {
        kind: Some("PriorityLevelConfiguration"),
        map: "spec",
        by: "type",
        allowed: &[("exempt", &["Exempt"]), ("limited", &["Limited"])],
        unless: None,
    },
    Discriminator {
        kind: Some("PriorityLevelConfiguration"),
        map: "limitResponse",
        by: "type",
        allowed: &[("queuing", &["Queue"])],
        unless: None,
    },
];

/// A map: the kind of its object, its name or the name of its list, and its schema.
#[derive(Clone, Copy)]
pub struct Map<'a> {
    /// The kind of the object.
    pub kind: &'a str,
    /// The name of the field that contains the map; for an element, of its list.
    pub name: &'a str,
    /// The schema of the map.
    pub cursor: Cursor<'a>,
}

impl Map<'_> {
    /// Whether the files exclude a field of the live object that they do not mention.
    pub fn rules_out(self, said: NodeRef<'_>, live: NodeRef<'_>, field: &str) -> bool {
        if said.get(field).is_some() {
            return false;
        }
        let sets = |name: &str| said.get(name).is_some_and(|value| !value.is_null());
        let excludes =
            |group: &Alternatives<'_>| said.fields().any(|(key, _)| group.has(key.string()) && sets(key.string()));
        self.cursor.alternatives(self.name).any(|group| group.has(field) && excludes(&group))
            || self.is_not_chosen(said, live, field)
    }

    fn is_not_chosen(self, said: NodeRef<'_>, live: NodeRef<'_>, field: &str) -> bool {
        let is_of_map =
            |choice: &&Discriminator| choice.map == self.name && choice.kind.is_none_or(|kind| kind == self.kind);
        let sets = |name: &&str| [said, live].iter().any(|map| map.get(name).is_some_and(|value| !value.is_null()));
        CHOICES.iter().filter(is_of_map).filter(|choice| !choice.unless.iter().any(sets)).any(|choice| {
            let chosen = said.get(choice.by).and_then(NodeRef::as_str);
            let allowed = choice.allowed.iter().find(|(name, _)| *name == field);
            chosen.zip(allowed).is_some_and(|(chosen, (_, values))| !values.contains(&chosen))
        })
    }
}
