//! Maps of the built-in types in which some fields exclude others. If the files choose one member, the fields of other members must be
//! removed.
//!
//! The API server refuses or drops the fields of a member that is not chosen, even if it set them itself. For some types, the patch
//! strategy `retainKeys` says so; for the others no schema does. Source: the validation of each type in kubernetes/pkg/apis.

use krm_schema::schema::{Cursor, Members};
use krm_yaml::NodeRef;

/// Groups of fields. Only one field of a group may be set in a map with one of these names.
const ONE_OF: [(&[&str], &[&str]); 5] = [
    (
        &["livenessProbe", "readinessProbe", "startupProbe", "postStart", "preStop"],
        &["exec", "grpc", "httpGet", "sleep", "tcpSocket"],
    ),
    (&["env"], &["value", "valueFrom"]),
    (&["envFrom"], &["configMapRef", "secretRef"]),
    (&["valueFrom"], &["configMapKeyRef", "fieldRef", "fileKeyRef", "resourceFieldRef", "secretKeyRef"]),
    (&["backend", "defaultBackend"], &["resource", "service"]),
];

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
        let is_other = |members: &&[&str]| members.contains(&field) && members.iter().any(|member| sets(member));
        let of_name = ONE_OF.iter().filter(|(names, _)| names.contains(&self.name)).map(|(_, members)| *members);
        of_name.into_iter().any(|members| is_other(&members))
            || self.is_not_chosen(said, live, field)
            || self.is_beside(said, field)
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

    /// Whether a field is excluded in an element of a list of unions, such as a volume. Such an element has one member besides its key.
    fn is_beside(self, said: NodeRef<'_>, field: &str) -> bool {
        let Members::OneBeside(key) = self.cursor.members() else { return false };
        field != key && said.fields().any(|(name, value)| name.string() != key && !value.is_null())
    }
}
