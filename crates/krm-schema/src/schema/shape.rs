//! Kubernetes types that are recognised by their shape if no schema names them, such as a pod template in a custom resource.
//!
//! Operators put Kubernetes' own types into theirs, and many declare no keys for the lists in them. The name of a field shows which type it
//! is, together with the fields below it: those of its schema, or of its values. Its lists then merge as they do in the built-in type. That
//! is a guess: declarations of the user or of a schema come first, and a list whose elements lack the keys of the type is treated as
//! unknown.
//!
//! A shape is here only if definitions that declare the same list agree with it (see `README.md` for the figures). So there is no shape for
//! `volumes` or `volumeMounts` outside of a pod or container: authors declare these in several ways.

use krm_tree::child::Value;

use super::builtin::{FieldRef, root};
use super::openapi::Schema;

/// A built-in type, and how to recognise it in a value or a schema.
struct Shape {
    /// The names that its field may have.
    name: ShapeName,
    /// Whether it is a map, a list or either.
    form: Form,
    /// The fields that it must have.
    marks: &'static [ShapeMark],
    /// It must have at least one of these fields, unless this list is empty.
    one_of: &'static [&'static str],
    /// It may have only these fields, unless this list is empty.
    only: &'static [&'static str],
    /// The built-in field whose value is of that type: apiVersion, kind, and the path to it.
    like: (&'static str, &'static str, &'static [&'static str]),
}

/// Which names a field may have.
enum ShapeName {
    Any,
    Is(&'static [&'static str]),
    EndsIn(&'static [&'static str]),
}

/// A field that a map, or an element of a list, must have.
struct ShapeMark {
    path: &'static [&'static str],
    form: Form,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Any,
    Map,
    List,
}

/// A field that must be there, with any value.
const fn has(path: &'static [&'static str]) -> ShapeMark {
    ShapeMark { path, form: Form::Any }
}

/// The fields of a container that hardly anything else has.
const OF_CONTAINER: &[&str] = &[
    "args",
    "command",
    "env",
    "envFrom",
    "imagePullPolicy",
    "lifecycle",
    "livenessProbe",
    "ports",
    "readinessProbe",
    "securityContext",
    "startupProbe",
    "workingDir",
];

const TEMPLATE: Shape = Shape {
    name: ShapeName::EndsIn(&["template", "Template"]),
    form: Form::Map,
    marks: &[
        ShapeMark { path: &["metadata"], form: Form::Map },
        ShapeMark { path: &["spec", "containers"], form: Form::List },
    ],
    one_of: &[],
    only: &[],
    like: ("v1", "PodTemplate", &["template"]),
};

const POD: Shape = Shape {
    name: ShapeName::Any,
    marks: &[
        ShapeMark { path: &["containers"], form: Form::List },
        has(&["containers", "name"]),
        has(&["containers", "image"]),
    ],
    like: ("v1", "PodTemplate", &["template", "spec"]),
    ..TEMPLATE
};

const CONTAINERS: Shape = Shape {
    name: ShapeName::Is(&["containers", "initContainers", "ephemeralContainers"]),
    form: Form::List,
    marks: &[has(&["name"]), has(&["image"])],
    like: ("v1", "Pod", &["spec", "containers"]),
    ..TEMPLATE
};

/// A list whose elements have a name and little else.
const NAMED: Shape = Shape { marks: &[has(&["name"])], ..CONTAINERS };

const SHAPES: &[Shape] = &[
    TEMPLATE,
    POD,
    CONTAINERS,
    Shape { name: ShapeName::EndsIn(&["ontainers", "idecars"]), one_of: OF_CONTAINER, ..CONTAINERS },
    Shape {
        name: ShapeName::EndsIn(&["container", "Container"]),
        form: Form::Map,
        marks: &[has(&["image"])],
        one_of: OF_CONTAINER,
        ..CONTAINERS
    },
    // The schema of a container under any name. No other type has `volumeDevices`.
    Shape {
        name: ShapeName::Any,
        form: Form::Map,
        marks: &[
            ShapeMark { path: &["volumeDevices"], form: Form::List },
            has(&["volumeDevices", "devicePath"]),
            ShapeMark { path: &["volumeMounts"], form: Form::List },
        ],
        ..CONTAINERS
    },
    Shape {
        name: ShapeName::Is(&["env"]),
        one_of: &["value", "valueFrom"],
        only: &["name", "value", "valueFrom"],
        like: ("v1", "Pod", &["spec", "containers", "env"]),
        ..NAMED
    },
    Shape {
        name: ShapeName::Is(&["conditions"]),
        marks: &[has(&["type"]), has(&["status"])],
        only: &[
            "lastHeartbeatTime",
            "lastTransitionTime",
            "lastUpdateTime",
            "message",
            "observedGeneration",
            "reason",
            "severity",
            "status",
            "type",
        ],
        like: ("apps/v1", "Deployment", &["status", "conditions"]),
        ..NAMED
    },
    Shape {
        name: ShapeName::Is(&["ports"]),
        marks: &[has(&["port"])],
        one_of: &["nodePort", "targetPort"],
        only: &["appProtocol", "name", "nodePort", "port", "protocol", "targetPort"],
        like: ("v1", "Service", &["spec", "ports"]),
        ..NAMED
    },
    Shape {
        name: ShapeName::Is(&["topologySpreadConstraints"]),
        marks: &[has(&["maxSkew"]), has(&["topologyKey"]), has(&["whenUnsatisfiable"])],
        like: ("v1", "Pod", &["spec", "topologySpreadConstraints"]),
        ..NAMED
    },
    Shape {
        name: ShapeName::Is(&["imagePullSecrets"]),
        only: &["name"],
        like: ("v1", "Pod", &["spec", "imagePullSecrets"]),
        ..NAMED
    },
    Shape {
        name: ShapeName::Is(&["schedulingGates"]),
        only: &["name"],
        like: ("v1", "Pod", &["spec", "schedulingGates"]),
        ..NAMED
    },
    Shape {
        name: ShapeName::Is(&["resourceClaims"]),
        one_of: &["resourceClaimName", "resourceClaimTemplateName", "source"],
        like: ("v1", "Pod", &["spec", "resourceClaims"]),
        ..NAMED
    },
    Shape {
        name: ShapeName::Is(&["claims"]),
        only: &["name", "request"],
        like: ("v1", "Pod", &["spec", "containers", "resources", "claims"]),
        ..NAMED
    },
    Shape {
        name: ShapeName::Is(&["matchConditions"]),
        marks: &[has(&["expression"]), has(&["name"])],
        only: &["expression", "name"],
        like: ("admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicy", &["spec", "matchConditions"]),
        ..NAMED
    },
    Shape {
        name: ShapeName::Is(&["variables"]),
        marks: &[has(&["expression"]), has(&["name"])],
        only: &["expression", "name"],
        like: ("admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicy", &["spec", "variables"]),
        ..NAMED
    },
];

/// The built-in field that a field is like, by its name and its values on the sides. One value must have what the shape requires, and no
/// value may have fields that the shape does not allow.
pub(super) fn of_values<'a, V: Value<'a>>(name: &str, values: impl IntoIterator<Item = V>) -> Option<FieldRef> {
    let mut values = values.into_iter().filter(|value| value.is_container()).peekable();
    values.peek()?;
    let values: Vec<V> = values.collect();
    let is_of = |shape: &&Shape| {
        shape.name.fits(name)
            && values.iter().any(|value| shape.is_shown_by(SideValue(*value)))
            && values.iter().all(|value| shape.allows(SideValue(*value)))
    };
    SHAPES.iter().find(is_of)?.built_in()
}

/// The built-in field that a field is like, by its name and its schema.
pub(super) fn of_schema(name: &str, schema: Schema<'_>) -> Option<FieldRef> {
    SHAPES.iter().find(|shape| shape.name.fits(name) && shape.is_shown_by(schema) && shape.allows(schema))?.built_in()
}

impl ShapeName {
    fn fits(&self, name: &str) -> bool {
        match self {
            Self::Any => true,
            Self::Is(names) => names.contains(&name),
            Self::EndsIn(ends) => ends.iter().any(|end| name.ends_with(end)),
        }
    }
}

/// A value or a schema that can be compared with a shape.
trait Look: Copy {
    fn form(self) -> Form;
    /// Whether a value of this form is at the path. In a list, one of the elements must have it.
    fn reaches(self, path: &[&str], form: Form) -> bool;
    /// Whether all fields have one of these names.
    fn has_only(self, names: &[&str]) -> bool;
}

impl Look for Schema<'_> {
    fn form(self) -> Form {
        match (self.is_list(), self.is_scalar()) {
            (true, _) => Form::List,
            (false, true) => Form::Any,
            (false, false) => Form::Map,
        }
    }

    fn reaches(self, path: &[&str], form: Form) -> bool {
        let end = path.iter().try_fold(self, |schema, name| schema.field(name));
        end.is_some_and(|end| form == Form::Any || Look::form(end) == form)
    }

    fn has_only(self, names: &[&str]) -> bool {
        self.names().all(|name| names.contains(&name))
    }
}

/// A value of a side.
#[derive(Clone, Copy)]
struct SideValue<V>(V);

impl<'a, V: Value<'a>> Look for SideValue<V> {
    fn form(self) -> Form {
        match (self.0.is_container(), self.0.is_map()) {
            (true, true) => Form::Map,
            (true, false) => Form::List,
            (false, _) => Form::Any,
        }
    }

    fn reaches(self, path: &[&str], form: Form) -> bool {
        match path {
            [] => form == Form::Any || self.form() == form,
            _ if self.form() == Form::List => self.0.elements().into_iter().any(|e| SideValue(e).reaches(path, form)),
            [name, rest @ ..] => self.0.field(name).is_some_and(|value| SideValue(value).reaches(rest, form)),
        }
    }

    fn has_only(self, names: &[&str]) -> bool {
        match self.form() {
            Form::List => self.0.elements().into_iter().all(|element| SideValue(element).has_only(names)),
            // Directives of a patch are not fields.
            _ => self.0.fields().all(|(name, _)| name.starts_with('$') || names.contains(&name)),
        }
    }
}

impl Shape {
    fn is_shown_by(&self, look: impl Look) -> bool {
        look.form() == self.form
            && self.marks.iter().all(|mark| look.reaches(mark.path, mark.form))
            && (self.one_of.is_empty() || self.one_of.iter().any(|name| look.reaches(&[name], Form::Any)))
    }

    fn allows(&self, look: impl Look) -> bool {
        self.only.is_empty() || look.has_only(self.only)
    }

    fn built_in(&self) -> Option<FieldRef> {
        let (api_version, kind, path) = self.like;
        let (last, way) = path.split_last()?;
        way.iter().try_fold(root(api_version, kind)?, |ty, name| ty.field(name)?.ty())?.field(last)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use krm_yaml::{Document, NodeRef};

    /// A field's name, its values, and the built-in field that it is like, if there is one.
    const SHOWN: &[(&str, &[&str], Option<&str>)] = &[
        ("template", &["{metadata: {}, spec: {containers: []}}"], Some("template")),
        ("template", &["{metadata: {}, spec: {containers: [{name: a}], volumes: []}, more: 1}"], Some("template")),
        ("template", &["1", "{metadata: {}, spec: {containers: []}}"], Some("template")),
        ("workerTemplate", &["{metadata: {}, spec: {containers: []}}"], Some("template")),
        ("templates", &["{metadata: {}, spec: {containers: []}}"], None),
        ("template", &["{spec: {containers: []}}"], None),
        ("template", &["{metadata: {}, spec: {}}"], None),
        ("template", &["{metadata: {}, spec: {containers: {}}}"], None),
        ("template", &["{metadata: x, spec: {containers: []}}"], None),
        ("template", &["[]", "null"], None),
        ("template", &[], None),
        ("spec", &["{containers: [{name: a, image: i}]}"], Some("spec")),
        ("pod", &["{volumes: []}", "{containers: [{name: a}, {name: b, image: i}]}"], Some("spec")),
        ("spec", &["{containers: [{name: a}]}"], None),
        ("spec", &["{containers: {name: a, image: i}}"], None),
        ("containers", &["[{name: a}]", "[{name: a, image: i}]"], Some("containers")),
        ("initContainers", &["[{name: a, image: i, more: 1}]"], Some("containers")),
        ("containers", &["{a: {name: a, image: i}}"], None),
        ("containers", &["[{name: a, imageUrl: i}]"], None),
        ("sidecars", &["[{name: a, image: i, env: []}]"], Some("containers")),
        ("extraContainers", &["[{name: a, image: i, command: [a]}]"], Some("containers")),
        ("sidecars", &["[{name: a, image: i}]"], None),
        ("images", &["[{name: a, image: i, env: []}]"], None),
        ("container", &["{image: i, ports: []}"], Some("containers")),
        ("container", &["{image: i}"], None),
        ("any", &["{volumeDevices: [{devicePath: /a}], volumeMounts: []}"], Some("containers")),
        ("any", &["{volumeDevices: [], volumeMounts: []}"], None),
        ("env", &["[{name: A}]", "[{name: B, value: b}]"], Some("env")),
        ("env", &["[{name: A, valueFrom: {}, $patch: replace}]"], Some("env")),
        ("env", &["[{name: A}]"], None),
        ("env", &["[{name: A, value: a}]", "[{name: B, secret: b}]"], None),
        ("env", &["[a]"], None),
        ("env", &["{A: a}"], None),
        ("vars", &["[{name: B, value: b}]"], None),
        ("conditions", &["[{type: Ready, status: 'True', reason: a}]"], Some("conditions")),
        ("conditions", &["[{type: Ready}]"], None),
        ("conditions", &["[{type: Ready, status: 'True', operator: In}]"], None),
        ("ports", &["[{port: 80, targetPort: web}]"], Some("ports")),
        ("ports", &["[{port: 80}]"], None),
        ("ports", &["[{port: 80, targetPort: web, hostPort: 1}]"], None),
        (
            "topologySpreadConstraints",
            &["[{maxSkew: 1, topologyKey: a, whenUnsatisfiable: b}]"],
            Some("topologySpreadConstraints"),
        ),
        ("topologySpreadConstraints", &["[{maxSkew: 1, topologyKey: a}]"], None),
        ("imagePullSecrets", &["[{name: a}]"], Some("imagePullSecrets")),
        ("imagePullSecrets", &["[{name: a, namespace: b}]"], None),
        ("schedulingGates", &["[{name: a}]"], Some("schedulingGates")),
        ("resourceClaims", &["[{name: a, resourceClaimName: b}]"], Some("resourceClaims")),
        ("resourceClaims", &["[{name: a}]"], None),
        ("claims", &["[{name: a, request: b}]"], Some("claims")),
        ("claims", &["[{name: a, value: b}]"], None),
        ("matchConditions", &["[{name: a, expression: b}]"], Some("matchConditions")),
        ("variables", &["[{name: a, expression: b}]"], Some("variables")),
        ("variables", &["[{name: a, value: b}]"], None),
    ];

    #[test]
    fn a_type_is_recognised_by_its_values() {
        for (name, sides, want) in SHOWN {
            let docs: Vec<Document<'_>> = sides.iter().map(|side| Document::parse(*side).expect("valid")).collect();
            let nodes: Vec<NodeRef<'_>> = docs.iter().map(|doc| doc.roots().next().expect("a root")).collect();
            let found = of_values(name, nodes);
            let like = |shape: &&Shape| shape.like.2.last() == want.as_ref();
            assert_eq!(found, want.and_then(|_| SHAPES.iter().find(like)?.built_in()), "{name} {sides:?}");
        }
        assert!(SHAPES.iter().all(|shape| shape.built_in().is_some()));
    }

    /// The schema of a value: for a map, of its fields; for a list, of the fields of its last element.
    fn schema_of(value: NodeRef<'_>) -> String {
        if value.is_list() {
            let items = value.elements().last().map_or_else(|| "{}".into(), schema_of);
            return format!("{{type: array, items: {items}}}");
        }
        if value.is_map() {
            let fields = value.fields().map(|(name, value)| format!("{}: {}", name.string(), schema_of(value)));
            return format!("{{type: object, properties: {{{}}}}}", fields.collect::<Vec<_>>().join(", "));
        }
        "{type: string}".into()
    }

    #[test]
    fn a_type_is_recognised_by_its_schema() {
        for (name, sides, want) in SHOWN.iter().filter(|(_, sides, _)| !sides.iter().any(|side| side.contains('$'))) {
            let Some(side) = sides.last() else { continue };
            let doc = Document::parse(*side).expect("valid");
            let schema = schema_of(doc.roots().next().expect("a root"));
            let doc = Document::parse(schema.as_str()).expect("valid");
            let found = of_schema(name, Schema::structural(doc.roots().next().expect("a root")));
            let like = |shape: &&Shape| shape.like.2.last() == want.as_ref();
            assert_eq!(found, want.and_then(|_| SHAPES.iter().find(like)?.built_in()), "{name} {schema}");
        }
    }
}
