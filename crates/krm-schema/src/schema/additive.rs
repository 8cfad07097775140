//! What names the elements of a list that has no merge key, so that both sides may add to it.
//!
//! Two files that two sides append to `resources` do not exclude each other, and two alerts do not either. The names are no merge keys: the
//! API server knows nothing of them, and the elements may have none. So only a three-way merge of a list that both sides changed merges by
//! them. An edit finds an element by its name, and a warning counts by names what a patch takes from a list. Two elements of one name are one
//! element.
//!
//! Each row says where it is from. A field counts as a name only if that is certain: where a value repeats on a side, the list has no names.

use std::borrow::Cow;
use std::sync::LazyLock;

use krm_tree::child::Value as _;
use krm_tree::tree::View;
use krm_yaml::Scalar;

use super::builtin::{self, TypeRef};

/// A place in a custom resource that has lists with names.
#[derive(Debug)]
pub struct AdditivePlace {
    /// How the elements are named, if this place is a list with names.
    pub(super) list: Option<Names>,
    /// The places of its fields; `*` is any other field.
    pub(super) fields: &'static [(&'static str, AdditivePlace)],
}

/// What names an element of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Names {
    /// A reference to a file, base or function without its version: the first of these fields that it has, or the scalar itself.
    Reference(&'static [&'static str]),
    /// The first of these fields that it has.
    OneOf(&'static [&'static str]),
    /// The values at these paths, of which it has the first one and another one.
    All(&'static [&'static str]),
    /// This field; an element without it is one of its own.
    Perhaps(&'static str),
    /// All of it but these fields: a set, if there are none.
    But(&'static [&'static str]),
    /// The flag of a command, with the next word as its value if that is no flag.
    Flags,
    /// The key of a text such as `KEY=VALUE` or `KEY:VALUE`.
    Pair,
    /// The place inside of a container: this field of a map, or the last part of a text such as `8080:80/tcp` or `./data:/data:ro` that is a
    /// path or a number.
    Inside(&'static str),
    /// The `id` or `name` of a step, or else the action that it `uses`, without its version.
    Step,
}

pub(super) const fn list(names: Names) -> AdditivePlace {
    AdditivePlace { list: Some(names), fields: &[] }
}

pub(super) const fn map(fields: &'static [(&'static str, AdditivePlace)]) -> AdditivePlace {
    AdditivePlace { list: None, fields }
}

/// A list of scalars.
const SCALARS: AdditivePlace = list(Names::Reference(&[]));

const OF_PATH: AdditivePlace = list(Names::Reference(&["path"]));

/// The sources of a ConfigMap or Secret that kustomize generates.
const GENERATOR: AdditivePlace = map(&[("envs", SCALARS), ("files", SCALARS), ("literals", SCALARS)]);

/// Source: `Kustomization` in kustomize's `api/types`.
const KUSTOMIZATION: AdditivePlace = map(&[
    ("bases", SCALARS),
    ("components", SCALARS),
    ("configMapGenerator", GENERATOR),
    ("configurations", SCALARS),
    ("crds", SCALARS),
    ("generators", SCALARS),
    ("patches", OF_PATH),
    ("patchesJson6902", OF_PATH),
    ("patchesStrategicMerge", SCALARS),
    ("replacements", OF_PATH),
    ("resources", SCALARS),
    ("secretGenerator", GENERATOR),
    ("transformers", SCALARS),
    ("validators", SCALARS),
]);

const FUNCTIONS: AdditivePlace = list(Names::Reference(&["name", "image", "exec"]));

/// Source: the design "Pipeline Merge" of kpt, which names a function by `name`, or by its image without the version, and runs the
/// functions that upstream added after the local ones.
const KPTFILE: AdditivePlace = map(&[("pipeline", map(&[("mutators", FUNCTIONS), ("validators", FUNCTIONS)]))]);

/// The rules of Prometheus. Source: "Alerting rules" and "Recording rules" of Prometheus' documentation; `PrometheusRule` of the Prometheus
/// operator, `AlertingRule` and `RecordingRule` of the Loki operator, and `VMRule` of the VictoriaMetrics operator have the same rules.
const ALERTS: Names = Names::OneOf(&["alert", "record"]);

const RULES: AdditivePlace = map(&[("spec", map(&[("groups", map(&[("rules", list(ALERTS))]))]))]);

/// Source: `HTTPRoute` in Istio's `VirtualService`: "The name assigned to the route for debugging purposes".
const VIRTUAL_SERVICE: AdditivePlace = map(&[("spec", map(&[("http", list(Names::OneOf(&["name"])))]))]);

/// Source: `HTTPRouteRule` and `GRPCRouteRule` of the Gateway API: "Name is the name of the route rule. This name MUST be unique within a
/// Route if it is set."
const ROUTE: AdditivePlace = map(&[("spec", map(&[("rules", list(Names::OneOf(&["name"])))]))]);

/// The custom types that have lists with names: the newest apiVersion, and the kind.
const ROOTS: &[(&str, &str, &AdditivePlace)] = &[
    ("gateway.networking.k8s.io/v1", "GRPCRoute", &ROUTE),
    ("gateway.networking.k8s.io/v1", "HTTPRoute", &ROUTE),
    ("kpt.dev/v1", "Kptfile", &KPTFILE),
    ("kustomize.config.k8s.io/v1alpha1", "Component", &KUSTOMIZATION),
    ("kustomize.config.k8s.io/v1beta1", "Kustomization", &KUSTOMIZATION),
    ("loki.grafana.com/v1", "AlertingRule", &RULES),
    ("loki.grafana.com/v1", "RecordingRule", &RULES),
    ("monitoring.coreos.com/v1", "PrometheusRule", &RULES),
    ("networking.istio.io/v1", "VirtualService", &VIRTUAL_SERVICE),
    ("operator.victoriametrics.com/v1beta1", "VMRule", &RULES),
];

/// The root of a custom type that has lists with names, in any version.
pub fn root(api_version: &str, kind: &str) -> Option<&'static AdditivePlace> {
    let (group, _) = api_version.split_once('/')?;
    let is_of = |own: &str| own.strip_prefix(group).is_some_and(|rest| rest.starts_with('/'));
    ROOTS.iter().find(|(own, name, _)| *name == kind && is_of(own)).map(|(_, _, place)| *place)
}

/// These types: apiVersion and kind.
pub fn kinds() -> impl Iterator<Item = (&'static str, &'static str)> {
    ROOTS.iter().map(|(api_version, kind, _)| (*api_version, *kind))
}

/// A list of a built-in type: the resources that have the type, the way to it, the field, and what names the elements.
struct Row {
    of: &'static [(&'static str, &'static str)],
    way: &'static [&'static str],
    field: &'static str,
    names: Names,
}

const fn row(
    of: &'static [(&'static str, &'static str)],
    way: &'static [&'static str],
    field: &'static str,
    names: Names,
) -> Row {
    Row { of, way, field, names }
}

const DEFINITIONS: &[(&str, &str)] = &[
    ("apiextensions.k8s.io/v1", "CustomResourceDefinition"),
    ("apiextensions.k8s.io/v1beta1", "CustomResourceDefinition"),
];

/// The way to a schema, which is of the same type as all schemas in it.
const SCHEMA: &[&str] = &["spec", "versions", "schema", "openAPIV3Schema"];

const INGRESSES: &[(&str, &str)] =
    &[("networking.k8s.io/v1", "Ingress"), ("networking.k8s.io/v1beta1", "Ingress"), ("extensions/v1beta1", "Ingress")];

const ROLES: &[(&str, &str)] = &[
    ("rbac.authorization.k8s.io/v1", "Role"),
    ("rbac.authorization.k8s.io/v1", "ClusterRole"),
    ("rbac.authorization.k8s.io/v1beta1", "Role"),
    ("rbac.authorization.k8s.io/v1beta1", "ClusterRole"),
    ("rbac.authorization.k8s.io/v1alpha1", "Role"),
    ("rbac.authorization.k8s.io/v1alpha1", "ClusterRole"),
];

const BINDINGS: &[(&str, &str)] = &[
    ("rbac.authorization.k8s.io/v1", "RoleBinding"),
    ("rbac.authorization.k8s.io/v1", "ClusterRoleBinding"),
    ("rbac.authorization.k8s.io/v1beta1", "RoleBinding"),
    ("rbac.authorization.k8s.io/v1beta1", "ClusterRoleBinding"),
    ("rbac.authorization.k8s.io/v1alpha1", "RoleBinding"),
    ("rbac.authorization.k8s.io/v1alpha1", "ClusterRoleBinding"),
];

const POLICIES: &[(&str, &str)] = &[("networking.k8s.io/v1", "NetworkPolicy"), ("extensions/v1beta1", "NetworkPolicy")];

const AUTOSCALERS: &[(&str, &str)] =
    &[("autoscaling/v2", "HorizontalPodAutoscaler"), ("autoscaling/v2beta2", "HorizontalPodAutoscaler")];

const PODS: &[(&str, &str)] = &[("v1", "Pod")];

/// The values of a set name themselves.
const ITSELF: Names = Names::But(&[]);

/// Sources: the comments of the types in `k8s.io/api`, and what is named below.
const BUILT_IN: &[Row] = &[
    // The API server refuses two versions of one name: `ValidateCustomResourceDefinitionSpec`.
    row(DEFINITIONS, &["spec"], "versions", Names::OneOf(&["name"])),
    // JSON Schema, "required": "Elements of this array […] MUST be unique"; "enum": "Elements in the array SHOULD be unique".
    row(DEFINITIONS, SCHEMA, "required", ITSELF),
    row(DEFINITIONS, SCHEMA, "enum", ITSELF),
    // `IngressRule`: "the rule applies to all inbound HTTP traffic" without a host.
    row(INGRESSES, &["spec"], "rules", Names::Perhaps("host")),
    row(INGRESSES, &["spec"], "tls", Names::OneOf(&["secretName"])),
    // `PolicyRule`: rules are "purely additive (there are no \"deny\" rules)".
    row(ROLES, &[], "rules", Names::But(&["verbs"])),
    row(ROLES, &["rules"], "verbs", ITSELF),
    row(ROLES, &["rules"], "apiGroups", ITSELF),
    row(ROLES, &["rules"], "resources", ITSELF),
    row(ROLES, &["rules"], "resourceNames", ITSELF),
    row(ROLES, &["rules"], "nonResourceURLs", ITSELF),
    // `Subject` has nothing but what identifies it.
    row(BINDINGS, &[], "subjects", ITSELF),
    // `NetworkPolicySpec`: "if the traffic matches at least one" rule; peers and ports are "combined using a logical OR".
    row(POLICIES, &["spec"], "ingress", ITSELF),
    row(POLICIES, &["spec"], "egress", ITSELF),
    row(POLICIES, &["spec", "ingress"], "from", ITSELF),
    row(POLICIES, &["spec", "ingress"], "ports", ITSELF),
    row(POLICIES, &["spec", "egress"], "to", ITSELF),
    row(POLICIES, &["spec", "egress"], "ports", ITSELF),
    // `Toleration.MatchToleration` compares all fields but this one.
    row(PODS, &["spec"], "tolerations", Names::But(&["tolerationSeconds"])),
    // `EnvFromSource` is a prefix and the name of an object.
    row(PODS, &["spec", "containers"], "envFrom", ITSELF),
    row(PODS, &["spec", "ephemeralContainers"], "envFrom", ITSELF),
    // "Utility Syntax Guidelines" of POSIX, and GNU's long options.
    row(PODS, &["spec", "containers"], "command", Names::Flags),
    row(PODS, &["spec", "containers"], "args", Names::Flags),
    row(PODS, &["spec", "ephemeralContainers"], "command", Names::Flags),
    row(PODS, &["spec", "ephemeralContainers"], "args", Names::Flags),
    // `MetricSpec`: the type, and what identifies a metric of this type.
    row(AUTOSCALERS, &["spec"], "metrics", METRIC),
];

const METRIC: Names = Names::All(&[
    "type",
    "resource.name",
    "containerResource.name",
    "containerResource.container",
    "pods.metric.name",
    "external.metric.name",
    "object.metric.name",
    "object.describedObject.kind",
    "object.describedObject.name",
]);

/// A field of a built-in type that may be a list with names. A merge goes down many fields, and asks for the names of few.
#[derive(Clone, Copy, Debug)]
pub struct NamedField {
    of: TypeRef,
    field: &'static str,
}

/// The lengths that the fields of the rows have, a bit for each, by their first letters.
const LENGTHS: [u64; 26] = {
    let mut lengths = [0; 26];
    let mut at = 0;
    while at < BUILT_IN.len() {
        let field = BUILT_IN[at].field.as_bytes();
        lengths[(field[0] - b'a') as usize] |= 1 << field.len();
        at += 1;
    }
    lengths
};

impl NamedField {
    /// A field of a type; `None` if no list with names is called so.
    pub fn of(of: TypeRef, field: &str) -> Option<Self> {
        let first = usize::from(field.as_bytes().first()?.wrapping_sub(b'a'));
        let lengths = LENGTHS.get(first)?.checked_shr(u32::try_from(field.len()).ok()?)?;
        let row = BUILT_IN.iter().filter(|_| lengths & 1 == 1).find(|row| row.field == field)?;
        Some(Self { of, field: row.field })
    }

    /// What names its elements.
    pub fn names(self) -> Option<Names> {
        static ROWS: LazyLock<Vec<(TypeRef, &str, Names)>> = LazyLock::new(|| {
            let types = |row: &'static Row| {
                let end = |(api_version, kind): &(&str, &str)| {
                    row.way.iter().try_fold(builtin::root(api_version, kind)?, |of, name| of.field(name)?.ty())
                };
                row.of.iter().filter_map(end).map(|of| (of, row.field, row.names))
            };
            BUILT_IN.iter().flat_map(types).collect()
        });
        ROWS.iter().find(|row| row.0 == self.of && row.1 == self.field).map(|row| row.2)
    }
}

/// What names the elements of a list of an unknown type, if the elements of all sides show it: rules of Prometheus.
pub fn shown(sides: &[&[View<'_, '_>]]) -> Option<Names> {
    let is_text = |value: Option<View<'_, '_>>| value.and_then(View::text).is_some();
    let is_rule = |element: &View<'_, '_>| {
        is_text(element.field("expr")) && is_text(element.field("alert")) != is_text(element.field("record"))
    };
    let is_shown = sides.iter().all(|side| side.iter().all(is_rule)) && sides.iter().any(|side| !side.is_empty());
    is_shown.then_some(ALERTS)
}

impl AdditivePlace {
    /// The place of a field. Lists are passed through.
    pub fn field(&'static self, name: &str) -> Option<&'static Self> {
        let at = |name: &str| self.fields.iter().find(|(field, _)| *field == name).map(|(_, place)| place);
        at(name).or_else(|| at("*"))
    }

    /// How the elements of the list here are named, if it has names.
    pub fn list(&self) -> Option<Names> {
        self.list
    }
}

impl Names {
    /// The name of an element. A flag has a name only among the words of its command.
    pub fn of<'a>(self, element: View<'_, 'a>) -> Option<Cow<'a, str>> {
        let with = |field: &str, value: Cow<'_, str>| format!("{field}={value}").into();
        match self {
            Self::Reference(fields) => {
                let name = fields.iter().find_map(|name| element.field(name)).unwrap_or(element).text()?;
                // A text of several lines is not a name.
                (!name.contains('\n')).then(|| without_version(name))
            }
            Self::OneOf(fields) => {
                let (field, value) = fields.iter().find_map(|field| Some((field, element.field(field)?)))?;
                Some(with(field, value.text()?))
            }
            Self::Perhaps(field) => match element.field(field) {
                Some(value) => Some(with(field, value.text()?)),
                None => element.is_map().then_some("".into()),
            },
            Self::All(paths) => {
                let at = |path: &&str| Some(with(path, path.split('.').try_fold(element, View::field)?.text()?));
                at(paths.first()?)?;
                let all: Vec<Cow<'a, str>> = paths.iter().filter_map(at).collect();
                (all.len() > 1).then(|| all.join(" ").into())
            }
            Self::But(fields) => {
                let mut name = String::new();
                write(element, fields, &mut name);
                Some(name.into())
            }
            Self::Pair => {
                let text = element.text()?;
                Some(text.split(['=', ':']).next().unwrap_or_default().to_owned().into())
            }
            Self::Inside(field) => {
                let text = element.field(field).unwrap_or(element).text()?;
                let is_place = |part: &&str| part.starts_with(|c: char| c.is_ascii_digit() || "/~.".contains(c));
                text.rsplit(':').find(is_place).map(|part| part.to_owned().into())
            }
            Self::Step => {
                match ["id", "name"].into_iter().find_map(|name| Some((name, element.field(name)?.text()?))) {
                    Some((field, value)) => Some(with(field, value)),
                    None => Some(with("uses", without_version(element.field("uses")?.text()?))),
                }
            }
            Self::Flags => None,
        }
    }

    /// The names of the elements of a list, each with how it is written; `None` if the list has none because names repeat or are not sure.
    pub fn of_list(self, elements: &[View<'_, '_>]) -> Option<Vec<Named>> {
        if self == Self::Flags {
            return flags(elements);
        }
        let named = |element: &View<'_, '_>| self.of(*element).map_or(Named::No, |name| Named::Yes(name.into_owned()));
        Some(elements.iter().map(named).collect())
    }

    /// What names an element, in words.
    pub fn shown(self) -> String {
        match self {
            Self::Reference([]) => "the reference without its version".to_owned(),
            Self::Reference(fields) => format!("{} without its version", fields.join(" or ")),
            Self::OneOf(fields) => fields.join(" or "),
            Self::Perhaps(field) => field.to_owned(),
            Self::All(paths) => format!("{} and what it measures", paths.first().copied().unwrap_or_default()),
            Self::But([]) => "the whole element".to_owned(),
            Self::But(fields) => format!("all but {}", fields.join(" and ")),
            Self::Flags => "the flag".to_owned(),
            Self::Pair => "the key".to_owned(),
            Self::Inside(_) => "the port or path in the container".to_owned(),
            Self::Step => "id, name or what it uses".to_owned(),
        }
    }
}

/// The name of an element of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Named {
    /// It has none.
    No,
    /// It has this one.
    Yes(String),
    /// It is a flag without a value.
    Flag(String),
    /// It is a flag with its value in the same word.
    FlagWithValue(String),
    /// It is a flag whose value is the next element.
    FlagBefore(String),
    /// It is the value of the flag before it.
    ValueOf(String),
}

/// The flags of a command; `None` if a word may be a flag and is not surely one.
fn flags(words: &[View<'_, '_>]) -> Option<Vec<Named>> {
    let texts: Vec<Cow<'_, str>> = words.iter().map(|word| word.text()).collect::<Option<_>>()?;
    let is_flag = |at: usize| texts.get(at).is_some_and(|text| text.starts_with('-'));
    let mut out: Vec<Named> = Vec::with_capacity(texts.len());
    for (at, text) in texts.iter().enumerate() {
        let named = match out.last() {
            Some(Named::FlagBefore(flag)) => Named::ValueOf(flag.clone()),
            _ if !is_flag(at) => Named::No,
            _ => {
                let (name, value) = text.split_once('=').map_or((&**text, None), |(name, value)| (name, Some(value)));
                let word = name.trim_start_matches('-');
                let is_name = word.starts_with(|c: char| c.is_ascii_alphabetic())
                    && word.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c))
                    && name.len() - word.len() <= 2;
                if !is_name {
                    return None;
                }
                match value {
                    Some(_) => Named::FlagWithValue(name.to_owned()),
                    None if at + 1 < texts.len() && !is_flag(at + 1) => Named::FlagBefore(name.to_owned()),
                    None => Named::Flag(name.to_owned()),
                }
            }
        };
        out.push(named);
    }
    Some(out)
}

/// Writes a value without some of its fields, in one form for all ways to write it.
fn write(value: View<'_, '_>, without: &[&str], out: &mut String) {
    if let Some(scalar) = value.scalar() {
        out.push_str(&match scalar {
            Scalar::Null => "null".to_owned(),
            Scalar::Bool(value) => value.to_string(),
            Scalar::Number(number) => number.to_decimal().unwrap_or_else(|| format!("{number:?}")),
            Scalar::String(text) => format!("{text:?}"),
            Scalar::Timestamp(text) => format!("time {text:?}"),
            Scalar::Tagged(tag, text) => format!("{tag} {text:?}"),
        });
    } else if value.is_list() {
        out.push('[');
        for (number, element) in value.elements().into_iter().enumerate() {
            out.push_str(if number > 0 { ", " } else { "" });
            write(element, &[], out);
        }
        out.push(']');
    } else {
        let mut fields = value.fields();
        fields.retain(|(name, _)| !without.contains(name));
        fields.sort_by_key(|(name, _)| *name);
        out.push('{');
        for (number, (name, value)) in fields.into_iter().enumerate() {
            out.push_str(&format!("{}{name:?}: ", if number > 0 { ", " } else { "" }));
            write(value, &[], out);
        }
        out.push('}');
    }
}

/// A reference without the part that may change: the query of a URL, the value of a `KEY=VALUE`, the tag or digest of an image.
fn without_version(text: Cow<'_, str>) -> Cow<'_, str> {
    let end = text.find(['?', '=']).unwrap_or(text.len());
    let last = text[..end].rfind('/').map_or(0, |slash| slash + 1);
    let end = text[last..end].find(['@', ':']).map_or(end, |at| last + at);
    match text {
        Cow::Borrowed(text) => Cow::Borrowed(&text[..end]),
        Cow::Owned(mut text) => {
            text.truncate(end);
            Cow::Owned(text)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use krm_yaml::Document;

    #[test]
    fn names_are_without_versions() {
        for (text, want) in [
            ("a.yaml", "a.yaml"),
            ("../base", "../base"),
            ("https://github.com/a/b//c?ref=v1/x", "https://github.com/a/b//c"),
            ("git@github.com:a/b.git?ref=v1", "git@github.com:a/b.git"),
            ("KEY=https://a/b", "KEY"),
            ("localhost:5000/fn/set-labels:v0.1", "localhost:5000/fn/set-labels"),
            ("set-labels@sha256:0a", "set-labels"),
            ("", ""),
        ] {
            assert_eq!(without_version(text.into()), want, "{text}");
        }
    }

    #[test]
    fn a_name_that_is_nearly_the_whole_element_is_written_as_people_read_it() {
        let element = Document::parse("{tolerationSeconds: 5, key: a, n: [1, true, null]}").expect("valid");
        let root = element.roots().next().expect("a root");
        let name = Names::But(&["tolerationSeconds"]).of(View::Node(root));
        assert_eq!(name.as_deref(), Some(r#"{"key": "a", "n": [1, true, null]}"#));
    }

    /// The names of the elements of a list in a manifest.
    fn named(manifest: &str, path: &str) -> Option<Vec<Named>> {
        let document = Document::parse(manifest.to_owned()).expect("valid");
        let root = document.roots().next().expect("a root");
        let text = |name: &str| root.get(name).map(|node| node.string()).unwrap_or_default();
        let types = crate::schema::Types::default();
        let mut cursor = types.root(text("apiVersion"), text("kind"), crate::mode::Mode::ThreeWay);
        let mut node = root;
        for name in path.split('.') {
            cursor = cursor.child(name, node.get(name));
            node = node.get(name).or_else(|| node.elements().find_map(|e| e.get(name))).expect("a field");
        }
        let elements: Vec<View<'_, '_>> = node.elements().map(View::Node).collect();
        cursor.names_of(&[&elements])?.of_list(&elements)
    }

    #[test]
    fn each_row_names_the_elements_of_a_manifest() {
        let pod = "apiVersion: v1\nkind: Pod\nspec:\n";
        let deployment = "apiVersion: apps/v1\nkind: Deployment\nspec:\n  template:\n    spec:\n";
        for (manifest, path, want) in [
            (
                "apiVersion: monitoring.coreos.com/v1\nkind: PrometheusRule\nspec:\n  groups:\n  - name: g\n    rules:\n    - {alert: 'Down:2', expr: up}\n    - {record: 'job:up:sum', expr: sum(up)}\n".to_owned(),
                "spec.groups.rules",
                &["alert=Down:2", "record=job:up:sum"][..],
            ),
            ("apiVersion: loki.grafana.com/v1\nkind: AlertingRule\nspec: {groups: [{rules: [{alert: A}]}]}".to_owned(), "spec.groups.rules", &["alert=A"]),
            ("apiVersion: loki.grafana.com/v1\nkind: RecordingRule\nspec: {groups: [{rules: [{record: a:b}]}]}".to_owned(), "spec.groups.rules", &["record=a:b"]),
            ("apiVersion: operator.victoriametrics.com/v1beta1\nkind: VMRule\nspec: {groups: [{rules: [{alert: A}]}]}".to_owned(), "spec.groups.rules", &["alert=A"]),
            // Rules of Thanos, and of any other kind, are shown by their values.
            ("groups: [{rules: [{alert: A, expr: up}, {record: r, expr: up}]}]".to_owned(), "groups.rules", &["alert=A", "record=r"]),
            ("apiVersion: networking.istio.io/v1\nkind: VirtualService\nspec: {http: [{name: a, route: []}, {route: []}]}".to_owned(), "spec.http", &["name=a", ""]),
            ("apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nspec: {rules: [{name: a}]}".to_owned(), "spec.rules", &["name=a"]),
            ("apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nspec: {versions: [{name: v1}, {name: v2}]}".to_owned(), "spec.versions", &["name=v1", "name=v2"]),
            ("apiVersion: networking.k8s.io/v1\nkind: Ingress\nspec: {rules: [{host: a.b}, {http: {}}], tls: [{secretName: s}]}".to_owned(), "spec.rules", &["host=a.b", "-"]),
            ("apiVersion: networking.k8s.io/v1\nkind: Ingress\nspec: {rules: [], tls: [{secretName: s, hosts: [a]}]}".to_owned(), "spec.tls", &["secretName=s"]),
            ("apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nspec: {metrics: [{type: Resource, resource: {name: cpu, target: {}}}]}".to_owned(), "spec.metrics", &["type=Resource resource.name=cpu"]),
            (format!("{pod}  containers: [{{name: a, image: i, args: [serve, --port=80, -v, --to, x]}}]"), "spec.containers.args", &["", "--port=", "-v", "--to ", " --to"]),
            (format!("{deployment}      containers: [{{name: a, image: i, command: [sh, -c, 'x y']}}]"), "spec.template.spec.containers.command", &["", "-c ", " -c"]),
            // A type that is recognised by its shape.
            ("apiVersion: example.com/v1\nkind: Thing\nspec: {sidecars: [{name: a, image: i, args: [--port=80]}]}".to_owned(), "spec.sidecars.args", &["--port="]),
        ] {
            let shown = |named: Named| match named {
                Named::No => String::new(),
                Named::Yes(name) if name.is_empty() => "-".to_owned(),
                Named::Yes(name) | Named::Flag(name) => name,
                Named::FlagWithValue(name) => format!("{name}="),
                Named::FlagBefore(name) => format!("{name} "),
                Named::ValueOf(name) => format!(" {name}"),
            };
            let found = named(&manifest, path).map(|all| all.into_iter().map(shown).collect::<Vec<_>>());
            assert_eq!(found.as_deref(), Some(&want.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>()[..]), "{manifest}");
        }
    }

    #[test]
    fn elements_are_one_or_two_by_what_names_them() {
        let pod = "apiVersion: v1\nkind: Pod\nspec:\n";
        let policy = "apiVersion: networking.k8s.io/v1\nkind: NetworkPolicy\nspec:\n";
        let role = "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nrules:\n";
        for (manifest, path, is_one) in [
            (format!("{role}- {{apiGroups: [a], resources: [b], verbs: [get]}}\n- {{resources: [b], apiGroups: [a], verbs: [list]}}"), "rules", true),
            (format!("{role}- {{apiGroups: [a], resources: [b], verbs: [get]}}\n- {{apiGroups: [a], resources: [c], verbs: [get]}}"), "rules", false),
            (format!("{role}- {{verbs: [get, list]}}"), "rules.verbs", false),
            ("apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nspec: {versions: [{schema: {openAPIV3Schema: {properties: {a: {required: [x, y]}}}}}]}".to_owned(), "spec.versions.schema.openAPIV3Schema.properties.a.required", false),
            ("apiVersion: apiextensions.k8s.io/v1beta1\nkind: CustomResourceDefinition\nspec: {validation: {openAPIV3Schema: {enum: [1, 1.0]}}}".to_owned(), "spec.validation.openAPIV3Schema.enum", true),
            ("apiVersion: rbac.authorization.k8s.io/v1\nkind: RoleBinding\nsubjects: [{kind: User, name: a}, {kind: Group, name: a}]".to_owned(), "subjects", false),
            (format!("{policy}  egress: [{{to: [{{podSelector: {{}}}}]}}, {{to: [], ports: []}}]"), "spec.egress", false),
            (format!("{policy}  ingress: [{{from: [{{podSelector: {{}}}}, {{namespaceSelector: {{}}}}]}}]"), "spec.ingress.from", false),
            (format!("{pod}  tolerations: [{{key: a, operator: Exists}}, {{key: a, operator: Exists, tolerationSeconds: 1}}]"), "spec.tolerations", true),
            (format!("{pod}  containers: [{{name: a, image: i, envFrom: [{{configMapRef: {{name: a}}}}, {{secretRef: {{name: a}}}}]}}]"), "spec.containers.envFrom", false),
        ] {
            let all = named(&manifest, path).expect("names");
            assert_eq!(all.len(), 2, "{manifest}");
            assert_eq!(all[0] == all[1], is_one, "{manifest}");
        }
    }

    #[test]
    fn a_command_has_names_only_if_each_flag_is_surely_one() {
        for args in ["[-1]", "[--]", "[--a b=1]", "[--3=1]", "[---a]", "[\"-a\\nb\"]", "['-']", "[{a: 1}]", "['--x y']"]
        {
            let pod = format!("apiVersion: v1\nkind: Pod\nspec: {{containers: [{{name: a, image: i, args: {args}}}]}}");
            assert_eq!(named(&pod, "spec.containers.args"), None, "{args}");
        }
        let pod =
            "apiVersion: v1\nkind: Pod\nspec: {containers: [{name: a, image: i, args: [run, --a, b, --c=d, -e]}]}";
        let [a, c, e] = ["--a", "--c", "-e"].map(str::to_owned);
        let want =
            [Named::No, Named::FlagBefore(a.clone()), Named::ValueOf(a), Named::FlagWithValue(c), Named::Flag(e)];
        assert_eq!(named(pod, "spec.containers.args"), Some(want.to_vec()));
        assert!(BUILT_IN.iter().all(is_known), "each row is of a type that is known");
    }

    /// Whether the built-in types have the list of a row.
    fn is_known(row: &Row) -> bool {
        row.of.iter().all(|(api_version, kind)| {
            let end = builtin::root(api_version, kind)
                .and_then(|root| row.way.iter().try_fold(root, |of, name| of.field(name)?.ty()));
            end.is_some_and(|of| {
                of.field(row.field).is_some()
                    && NamedField::of(of, row.field).and_then(NamedField::names) == Some(row.names)
            })
        })
    }

    #[test]
    fn functions_are_named_as_kpt_names_them() {
        let functions =
            root("kpt.dev/v1", "Kptfile").and_then(|kptfile| kptfile.field("pipeline")?.field("mutators")?.list());
        let functions = functions.expect("an additive list");
        for (element, want) in [
            ("{image: 'a/set-labels:v0.1', configPath: a.yaml}", Some("a/set-labels")),
            ("{image: 'a/set-labels:v0.1', name: first}", Some("first")),
            ("{exec: ./set-labels}", Some("./set-labels")),
            ("{configPath: a.yaml}", None),
            ("{name: [a]}", None),
            ("\"kind: Pod\\nmetadata: {}\"", None),
        ] {
            let document = Document::parse(element).expect("valid");
            let name = document.roots().next().and_then(|element| functions.of(View::Node(element)));
            assert_eq!(name.as_deref(), want, "{element}");
        }
    }
}
