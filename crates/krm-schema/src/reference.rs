//! The resources that a resource refers to by name, and the resources that a controller makes of it.
//!
//! A reference to a name that is gone breaks late, when a pod starts or a route is resolved. Nothing in a schema says which fields are
//! names, so they are a table here. Most fields have one meaning in all types: `configMapRef`, `serviceAccountName` and `imagePullSecrets`
//! mean the same in a Deployment, a CronJob and the custom resources of operators. So these fields are found anywhere in a resource.
//! Source: the API reference of Kubernetes and of the Gateway API.

mod names;

use std::borrow::Cow;

use krm_tree::child::{By, ChildId, MergeKey, Value};
use krm_tree::path::FieldPath;
use krm_tree::tree::View;

pub use names::Names;

/// The identity by which others refer to a resource. An empty namespace stands for the namespace of the package.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NamedResource<'a> {
    /// Its group; empty for the core group.
    pub group: Cow<'a, str>,
    /// Its kind.
    pub kind: Cow<'a, str>,
    /// Its namespace.
    pub namespace: Cow<'a, str>,
    /// Its name.
    pub name: Cow<'a, str>,
}

/// A field that names another resource.
#[derive(Clone, Debug)]
pub struct Reference<'a> {
    /// The path of the field.
    pub path: FieldPath<'a>,
    /// The resource that it names.
    pub to: NamedResource<'a>,
    /// The keys that the data of that resource must have.
    pub keys: Vec<Cow<'a, str>>,
}

/// Fields that name a resource.
struct Way {
    /// The types that have these fields; empty if the fields mean the same in all types.
    of: &'static [(&'static str, &'static str)],
    /// The path to the map that holds the name: from the root of the resource, or from any map in it if `of` is empty. `[]` is each element
    /// of a list.
    at: &'static [&'static str],
    /// The group and kind of the named resource.
    to: To,
    /// The field with the name of the resource.
    name: &'static str,
    /// The path to the keys that its data must have; `[]` is each element of a list. Empty if it needs no keys.
    keys: &'static [&'static str],
}

enum To {
    /// This type.
    Type(&'static str, &'static str),
    /// The type is in the map with the name: the field that `group` names has its group or apiVersion, and the field `kind` has its kind.
    /// `or` has the values of fields that are not set.
    Said { group: &'static str, or: (&'static str, &'static str) },
}

const CONFIG_MAP: To = To::Type("", "ConfigMap");
const SECRET: To = To::Type("", "Secret");
const SERVICE: To = To::Type("", "Service");
const STORAGE_CLASS: To = To::Type("storage.k8s.io", "StorageClass");
const WAY: Way = Way { of: &[], at: &[], to: SECRET, name: "name", keys: &[] };

const RBAC: &str = "rbac.authorization.k8s.io";
const NETWORKING: &str = "networking.k8s.io";
const GATEWAY: &str = "gateway.networking.k8s.io";
const INGRESS: &[(&str, &str)] = &[(NETWORKING, "Ingress")];
const BINDINGS: &[(&str, &str)] = &[(RBAC, "RoleBinding"), (RBAC, "ClusterRoleBinding")];
const ROUTES: &[(&str, &str)] = &[
    (GATEWAY, "GRPCRoute"),
    (GATEWAY, "HTTPRoute"),
    (GATEWAY, "TCPRoute"),
    (GATEWAY, "TLSRoute"),
    (GATEWAY, "UDPRoute"),
];
const WEBHOOKS: &[(&str, &str)] = &[
    ("admissionregistration.k8s.io", "MutatingWebhookConfiguration"),
    ("admissionregistration.k8s.io", "ValidatingWebhookConfiguration"),
];

const WAYS: &[Way] = &[
    Way { at: &["configMapRef"], to: CONFIG_MAP, ..WAY },
    Way { at: &["secretRef"], ..WAY },
    Way { at: &["configMapKeyRef"], to: CONFIG_MAP, keys: &["key"], ..WAY },
    Way { at: &["secretKeyRef"], keys: &["key"], ..WAY },
    Way { at: &["imagePullSecrets", "[]"], ..WAY },
    Way { at: &["volumes", "[]", "configMap"], to: CONFIG_MAP, keys: &["items", "[]", "key"], ..WAY },
    Way { at: &["volumes", "[]", "secret"], name: "secretName", keys: &["items", "[]", "key"], ..WAY },
    Way { at: &["volumes", "[]", "csi", "nodePublishSecretRef"], ..WAY },
    Way { at: &["projected", "sources", "[]", "configMap"], to: CONFIG_MAP, keys: &["items", "[]", "key"], ..WAY },
    Way { at: &["projected", "sources", "[]", "secret"], keys: &["items", "[]", "key"], ..WAY },
    Way { at: &["persistentVolumeClaim"], to: To::Type("", "PersistentVolumeClaim"), name: "claimName", ..WAY },
    Way { to: To::Type("", "ServiceAccount"), name: "serviceAccountName", ..WAY },
    Way { to: To::Type("scheduling.k8s.io", "PriorityClass"), name: "priorityClassName", ..WAY },
    Way { to: To::Type("node.k8s.io", "RuntimeClass"), name: "runtimeClassName", ..WAY },
    Way { to: STORAGE_CLASS, name: "storageClassName", ..WAY },
    Way { to: To::Type("resource.k8s.io", "ResourceClaim"), name: "resourceClaimName", ..WAY },
    Way { to: To::Type("resource.k8s.io", "ResourceClaimTemplate"), name: "resourceClaimTemplateName", ..WAY },
    Way { of: &[("", "ServiceAccount")], at: &["secrets", "[]"], ..WAY },
    Way { of: &[("apps", "StatefulSet")], at: &["spec"], to: SERVICE, name: "serviceName", ..WAY },
    Way {
        of: &[("", "PersistentVolumeClaim")],
        at: &["spec"],
        to: To::Type("", "PersistentVolume"),
        name: "volumeName",
        ..WAY
    },
    Way { of: INGRESS, at: &["spec", "defaultBackend", "service"], to: SERVICE, ..WAY },
    Way { of: INGRESS, at: &["spec", "rules", "[]", "http", "paths", "[]", "backend", "service"], to: SERVICE, ..WAY },
    Way { of: INGRESS, at: &["spec", "tls", "[]"], name: "secretName", ..WAY },
    Way { of: INGRESS, at: &["spec"], to: To::Type(NETWORKING, "IngressClass"), name: "ingressClassName", ..WAY },
    Way {
        of: &[("autoscaling", "HorizontalPodAutoscaler")],
        at: &["spec", "scaleTargetRef"],
        to: To::Said { group: "apiVersion", or: ("", "") },
        ..WAY
    },
    Way {
        of: &[("autoscaling.k8s.io", "VerticalPodAutoscaler")],
        at: &["spec", "targetRef"],
        to: To::Said { group: "apiVersion", or: ("", "") },
        ..WAY
    },
    Way { of: BINDINGS, at: &["roleRef"], to: To::Said { group: "apiGroup", or: (RBAC, "") }, ..WAY },
    Way { of: BINDINGS, at: &["subjects", "[]"], to: To::Said { group: "apiGroup", or: ("", "") }, ..WAY },
    Way { of: WEBHOOKS, at: &["webhooks", "[]", "clientConfig", "service"], to: SERVICE, ..WAY },
    Way {
        of: &[("apiextensions.k8s.io", "CustomResourceDefinition")],
        at: &["spec", "conversion", "webhook", "clientConfig", "service"],
        to: SERVICE,
        ..WAY
    },
    Way { of: &[("apiregistration.k8s.io", "APIService")], at: &["spec", "service"], to: SERVICE, ..WAY },
    Way {
        of: ROUTES,
        at: &["spec", "parentRefs", "[]"],
        to: To::Said { group: "group", or: (GATEWAY, "Gateway") },
        ..WAY
    },
    Way {
        of: ROUTES,
        at: &["spec", "rules", "[]", "backendRefs", "[]"],
        to: To::Said { group: "group", or: ("", "Service") },
        ..WAY
    },
    Way {
        of: ROUTES,
        at: &["spec", "rules", "[]", "filters", "[]", "requestMirror", "backendRef"],
        to: To::Said { group: "group", or: ("", "Service") },
        ..WAY
    },
    Way {
        of: &[(GATEWAY, "Gateway")],
        at: &["spec"],
        to: To::Type(GATEWAY, "GatewayClass"),
        name: "gatewayClassName",
        ..WAY
    },
    Way {
        of: &[(GATEWAY, "Gateway")],
        at: &["spec", "listeners", "[]", "tls", "certificateRefs", "[]"],
        to: To::Said { group: "group", or: ("", "Secret") },
        ..WAY
    },
];

/// The rule that resources of some types make another resource, which is of the core group.
struct Maker {
    /// The types that make it.
    of: &'static [(&'static str, &'static str)],
    /// The path to the map that has the name of the made resource.
    at: &'static [&'static str],
    /// The field with the name.
    name: &'static str,
    /// The kind that is made.
    kind: &'static str,
}

const MAKER: Maker = Maker { of: &[], at: &["metadata"], name: "name", kind: "Secret" };

/// Sources: kustomize's generators, and the definitions of the operators.
const MAKERS: &[Maker] = &[
    Maker { of: KUSTOMIZATION, at: &["configMapGenerator", "[]"], kind: "ConfigMap", ..MAKER },
    Maker { of: KUSTOMIZATION, at: &["secretGenerator", "[]"], ..MAKER },
    Maker { of: &[("bitnami.com", "SealedSecret"), ("onepassword.com", "OnePasswordItem")], ..MAKER },
    Maker { of: &[("external-secrets.io", "ExternalSecret")], ..MAKER },
    Maker { of: &[("external-secrets.io", "ExternalSecret")], at: &["spec", "target"], ..MAKER },
    Maker { of: &[("cert-manager.io", "Certificate")], at: &["spec"], name: "secretName", ..MAKER },
    Maker { of: &[("secrets.hashicorp.com", "VaultStaticSecret")], at: &["spec", "destination"], ..MAKER },
];

const KUSTOMIZATION: &[(&str, &str)] =
    &[("kustomize.config.k8s.io", "Kustomization"), ("kustomize.config.k8s.io", "Component")];

/// The types whose data others refer to.
const DATA: &[(&str, &str)] = &[("", "ConfigMap"), ("", "Secret")];

impl<'a> NamedResource<'a> {
    /// The name of a resource; `None` if it lacks its kind or name.
    pub fn of(resource: View<'_, 'a>) -> Option<Self> {
        let metadata = resource.field("metadata")?;
        Some(Self {
            group: resource.field("apiVersion").and_then(View::text).map_or(Cow::Borrowed(""), group_of),
            kind: resource.field("kind").and_then(View::text)?,
            namespace: metadata.field("namespace").and_then(View::text).unwrap_or_default(),
            name: metadata.field("name").and_then(View::text)?,
        })
    }

    /// Whether both may be one resource. A package may get its namespace only when it is applied, so an absent namespace may be any.
    pub fn may_be(&self, other: &Self) -> bool {
        let any = self.namespace.is_empty() || other.namespace.is_empty();
        (&self.group, &self.kind, &self.name) == (&other.group, &other.kind, &other.name)
            && (any || self.namespace == other.namespace)
    }
}

fn group_of(api_version: Cow<'_, str>) -> Cow<'_, str> {
    match api_version {
        Cow::Borrowed(text) => Cow::Borrowed(text.split_once('/').map_or("", |(group, _)| group)),
        Cow::Owned(text) => Cow::Owned(text.split_once('/').map_or("", |(group, _)| group).to_owned()),
    }
}

/// The keys of a ConfigMap or a Secret; empty for any other resource.
pub fn keys_of<'a>(resource: View<'_, 'a>) -> Vec<&'a str> {
    let has_keys = Type::of(resource).is_some_and(|own| own.is_one_of(DATA));
    let data = ["data", "binaryData", "stringData"].into_iter().filter(|_| has_keys);
    data.filter_map(|name| resource.field(name)).flat_map(View::fields).map(|(name, _)| name).collect()
}

/// The resources that a controller, or kustomize, makes of a resource. A kustomization may lack its apiVersion and kind.
pub fn made_of<'a>(resource: View<'_, 'a>) -> Vec<NamedResource<'a>> {
    let own = Type::of(resource);
    let is_made_by = |types: &[(&str, &str)]| match &own {
        Some(own) => own.is_one_of(types),
        None => types == KUSTOMIZATION && resource.field("kind").is_none(),
    };
    let mut found = Vec::new();
    for maker in MAKERS.iter().filter(|maker| is_made_by(maker.of)) {
        // A kustomization may set the namespace of the resources that it makes, so their namespace is unknown.
        let own = own.as_ref().filter(|_| maker.of != KUSTOMIZATION);
        walk(resource, maker.at, &mut FieldPath::default(), &mut |map, _| {
            found.extend(map.field(maker.name).and_then(View::text).map(|name| NamedResource {
                group: Cow::Borrowed(""),
                kind: Cow::Borrowed(maker.kind),
                namespace: own.map(|own| own.namespace.clone()).unwrap_or_default(),
                name,
            }));
        });
    }
    found
}

/// The references of a resource. A reference that is marked as `optional` is left out, because the resource works without it.
pub fn references<'a>(resource: View<'_, 'a>) -> Vec<Reference<'a>> {
    let Some(own) = Type::of(resource) else { return Vec::new() };
    let mut found = Vec::new();
    let mut path = FieldPath::default();
    for way in WAYS.iter().filter(|way| own.is_one_of(way.of)) {
        walk(resource, way.at, &mut path, &mut |map, path| found.extend(way.read(map, path, &own.namespace)));
    }
    // The content of a ConfigMap or a Secret is text for others, not references.
    if !own.is_one_of(DATA) {
        anywhere(resource, &mut path, &mut |way, map, path| found.extend(way.read(map, path, &own.namespace)));
    }
    found
}

/// The type and the namespace of a resource.
struct Type<'a> {
    group: Cow<'a, str>,
    kind: Cow<'a, str>,
    namespace: Cow<'a, str>,
}

impl<'a> Type<'a> {
    fn of(resource: View<'_, 'a>) -> Option<Self> {
        let namespace =
            resource.field("metadata").and_then(|metadata| metadata.field("namespace")).and_then(View::text);
        Some(Self {
            group: group_of(resource.field("apiVersion").and_then(View::text)?),
            kind: resource.field("kind").and_then(View::text)?,
            namespace: namespace.unwrap_or_default(),
        })
    }

    fn is_one_of(&self, types: &[(&str, &str)]) -> bool {
        types.iter().any(|of| *of == (&*self.group, &*self.kind))
    }
}

impl Way {
    /// The reference in a map; `None` if the map names no resource.
    fn read<'a>(&self, map: View<'_, 'a>, path: &FieldPath<'a>, own: &Cow<'a, str>) -> Option<Reference<'a>> {
        let text = |name: &str| map.field(name).and_then(View::text);
        let name = text(self.name).filter(|name| !name.is_empty())?;
        if text("optional").is_some_and(|optional| optional == "true") {
            return None;
        }
        let (group, kind) = match self.to {
            To::Type(group, kind) => (Cow::Borrowed(group), Cow::Borrowed(kind)),
            To::Said { group, or } => {
                let said = text(group).filter(|said| !said.is_empty());
                let said = if group == "apiVersion" { said.map(group_of) } else { said };
                (said.unwrap_or(Cow::Borrowed(or.0)), text("kind").unwrap_or(Cow::Borrowed(or.1)))
            }
        };
        let mut keys = Vec::new();
        if let Some((key, way)) = self.keys.split_last() {
            walk(map, way, &mut FieldPath::default(), &mut |item, _| keys.extend(item.field(key).and_then(View::text)));
        }
        let namespace = text("namespace").unwrap_or_else(|| own.clone());
        let mut path = path.clone();
        path.push(ChildId::Field(self.name).step(&By::Field), None);
        Some(Reference { path, to: NamedResource { group, kind, namespace, name }, keys })
    }
}

/// Visits the maps at the end of a way.
fn walk<'t, 'a>(
    view: View<'t, 'a>,
    way: &[&'static str],
    path: &mut FieldPath<'a>,
    visit: &mut dyn FnMut(View<'t, 'a>, &FieldPath<'a>),
) {
    match way.split_first() {
        None => visit(view, path),
        Some((&"[]", rest)) => each(view, path, &mut |element, path| walk(element, rest, path, visit)),
        Some((name, rest)) => {
            let Some(child) = view.field(name) else { return };
            path.push(ChildId::Field(name).step(&By::Field), None);
            walk(child, rest, path, visit);
            path.pop();
        }
    }
}

/// Visits the elements of a list. If an element has a name, the path identifies it by this name.
fn each<'t, 'a>(list: View<'t, 'a>, path: &mut FieldPath<'a>, visit: &mut dyn FnMut(View<'t, 'a>, &mut FieldPath<'a>)) {
    let by = By::Keys(vec![MergeKey::from("name")]);
    for (index, element) in list.elements().into_iter().enumerate() {
        let step = by.id_of(element).map_or_else(|| ChildId::Index(index).step(&By::Index), |id| id.step(&by));
        path.push(step, Some(index));
        visit(element, path);
        path.pop();
    }
}

/// Visits each map that has a field with one meaning in all types.
fn anywhere<'t, 'a>(
    view: View<'t, 'a>,
    path: &mut FieldPath<'a>,
    visit: &mut dyn FnMut(&Way, View<'t, 'a>, &FieldPath<'a>),
) {
    if view.is_list() {
        return each(view, path, &mut |element, path| anywhere(element, path, visit));
    }
    if !view.is_map() {
        return;
    }
    let fields = view.fields();
    // Most maps have the first field of no way, which shows without a look-up for each.
    let is_here = |way: &&Way| fields.iter().any(|(name, _)| name == way.at.first().unwrap_or(&way.name));
    for way in WAYS.iter().filter(|way| way.of.is_empty()).filter(is_here) {
        walk(view, way.at, path, &mut |map, path| visit(way, map, path));
    }
    let below = fields.into_iter().filter(|(name, child)| *name != "metadata" && child.is_container());
    for (name, child) in below {
        path.push(ChildId::Field(name).step(&By::Field), None);
        anywhere(child, path, visit);
        path.pop();
    }
}

#[cfg(test)]
mod tests;
