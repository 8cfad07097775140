//! [`Alternatives`]: fields of a map of which a type allows one.
//!
//! The API server refuses a map that sets two of them, or drops one. For the lists of unions of the built-in types, such as volumes, the
//! patch strategy `retainKeys` says so; a CustomResourceDefinition says it with `oneOf`; for all others this table does. Each row names its
//! source. A null or an empty text sets nothing.

use std::borrow::Cow;

/// Fields of which one may be set in a map.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Alternatives<'t> {
    /// These fields.
    Of(Cow<'t, [&'t str]>),
    /// All fields but this merge key: the map is an element of a list of unions.
    Beside(&'t str),
}

impl Alternatives<'_> {
    /// Whether a field is one of them.
    pub fn has(&self, field: &str) -> bool {
        match self {
            Self::Of(fields) => fields.contains(&field),
            Self::Beside(key) => field != *key,
        }
    }
}

/// Alternatives of the maps in some fields, and of the elements of the lists in them.
#[derive(Debug)]
pub struct Row {
    /// The fields; none for every map.
    within: &'static [&'static str],
    fields: &'static [&'static str],
}

/// The alternatives of every type. Source of those without a note: the validation of each type in kubernetes/pkg/apis.
const OF_ALL: [Row; 12] = [
    Row {
        within: &["livenessProbe", "readinessProbe", "startupProbe", "postStart", "preStop"],
        fields: &["exec", "grpc", "httpGet", "sleep", "tcpSocket"],
    },
    Row { within: &[], fields: &["value", "valueFrom"] },
    Row { within: &["envFrom"], fields: &["configMapRef", "secretRef"] },
    Row {
        within: &["valueFrom"],
        fields: &["configMapKeyRef", "fieldRef", "fileKeyRef", "resourceFieldRef", "secretKeyRef"],
    },
    Row { within: &["volumes"], fields: VOLUME_SOURCES },
    // A volume that is projected.
    Row {
        within: &["sources"],
        fields: &["clusterTrustBundle", "configMap", "downwardAPI", "podCertificate", "secret", "serviceAccountToken"],
    },
    Row { within: &[], fields: &["maxUnavailable", "minAvailable"] },
    Row { within: &["backend", "defaultBackend"], fields: &["resource", "service"] },
    Row { within: &["clientConfig"], fields: &["service", "url"] },
    Row { within: &["from", "to"], fields: &["ipBlock", "podSelector"] },
    Row { within: &["from", "to"], fields: &["ipBlock", "namespaceSelector"] },
    // kustomize, `Patch` in `api/types/patch.go`.
    Row { within: &["patches"], fields: &["patch", "path"] },
];

/// kubernetes, `VolumeSource` and `PersistentVolumeSource` in `core/v1/types.go`.
const VOLUME_SOURCES: &[&str] = &[
    "awsElasticBlockStore",
    "azureDisk",
    "azureFile",
    "cephfs",
    "cinder",
    "configMap",
    "csi",
    "downwardAPI",
    "emptyDir",
    "ephemeral",
    "fc",
    "flexVolume",
    "flocker",
    "gcePersistentDisk",
    "gitRepo",
    "glusterfs",
    "hostPath",
    "image",
    "iscsi",
    "local",
    "nfs",
    "persistentVolumeClaim",
    "photonPersistentDisk",
    "portworxVolume",
    "projected",
    "quobyte",
    "rbd",
    "scaleIO",
    "secret",
    "storageos",
    "vsphereVolume",
];

const PERSISTENT_VOLUME: [Row; 1] = [Row { within: &["spec"], fields: VOLUME_SOURCES }];
/// kubernetes, `ServiceBackendPort` in `networking/v1/types.go`: "mutually exclusive".
const INGRESS: [Row; 1] = [Row { within: &["port"], fields: &["name", "number"] }];
/// Flux, `HelmReleaseSpec`: "either `chart` or `chartRef`".
const HELM_RELEASE: [Row; 1] = [Row { within: &["spec"], fields: &["chart", "chartRef"] }];
/// Argo CD, `ApplicationSpec`: `sources` overrides `source`.
const APPLICATION: [Row; 1] = [Row { within: &["spec"], fields: &["source", "sources"] }];
/// cert-manager, `IssuerConfig`: "only one can be set".
const ISSUER: [Row; 1] = [Row { within: &["spec"], fields: &["acme", "ca", "selfSigned", "vault", "venafi"] }];

/// The alternatives of a type besides those of every type.
pub(super) fn of_type(api_version: &str, kind: &str) -> &'static [Row] {
    let group = api_version.split_once('/').map_or("", |(group, _)| group);
    match (group, kind) {
        ("", "PersistentVolume") => &PERSISTENT_VOLUME,
        ("networking.k8s.io", "Ingress") => &INGRESS,
        ("helm.toolkit.fluxcd.io", "HelmRelease") => &HELM_RELEASE,
        ("argoproj.io", "Application" | "ApplicationSet") => &APPLICATION,
        ("cert-manager.io", "Issuer" | "ClusterIssuer") => &ISSUER,
        _ => &[],
    }
}

/// The alternatives of a map in this field. `own` are those of its type.
pub(super) fn within<'t>(field: &str, own: &'static [Row]) -> impl Iterator<Item = Alternatives<'t>> {
    let is_here = move |row: &&Row| row.within.is_empty() || row.within.contains(&field);
    let rows = own.iter().chain(&OF_ALL).filter(is_here);
    rows.map(|row| Alternatives::Of(Cow::Borrowed(row.fields)))
}
