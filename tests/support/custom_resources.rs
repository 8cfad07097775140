//! Custom resources whose lists users ask about, and how their maintainers say that these merge. No package here has a definition.
#![allow(dead_code, reason = "each test file uses its part")]

/// A resource, and what is made of it.
pub struct Case {
    /// apiVersion and kind.
    pub of: &'static str,
    /// Who says how its lists merge.
    pub source: &'static str,
    /// The `spec` that a patch meets, and that both sides come from.
    pub original: &'static str,
    /// A patch.
    pub patch: &'static str,
    /// What TwoWay makes of the two.
    pub two_way: &'static str,
    /// What Strategic makes of them.
    pub strategic: &'static str,
    /// Lists that Strategic replaces with a warning, each with the key by which it would merge.
    pub warned: &'static [(&'static str, &'static str)],
    /// What dest made of the original.
    pub ours: &'static str,
    /// What upstream made of it.
    pub theirs: &'static str,
    /// What a three-way merge makes of both.
    pub merged: &'static str,
}

/// A list that merges in every mode.
const fn keyed(
    of: &'static str,
    source: &'static str,
    [original, patch, patched]: [&'static str; 3],
    [ours, theirs, merged]: [&'static str; 3],
) -> Case {
    Case { of, source, original, patch, two_way: patched, strategic: patched, warned: &[], ours, theirs, merged }
}

pub const CASES: &[Case] = &[
    keyed(
        "argoproj.io/v1alpha1 Rollout",
        "argo-rollouts manifests/crds: containers and env have the map keys `name`",
        [
            "{template: {spec: {containers: [{name: app, image: 'app:1', env: [{name: A, value: a}]}, {name: proxy, image: 'proxy:1'}]}}}",
            "{template: {spec: {containers: [{name: app, image: 'app:2', env: [{name: B, value: b}]}]}}}",
            "{template: {spec: {containers: [{name: app, image: 'app:2', env: [{name: A, value: a}, {name: B, value: b}]}, {name: proxy, image: 'proxy:1'}]}}}",
        ],
        [
            "{template: {spec: {containers: [{name: log, image: 'log:1'}, {name: app, image: 'app:1', env: [{name: A, value: a}]}, {name: proxy, image: 'proxy:1'}]}}}",
            "{template: {spec: {containers: [{name: app, image: 'app:2', env: [{name: A, value: a}]}, {name: proxy, image: 'proxy:2'}]}}}",
            "{template: {spec: {containers: [{name: log, image: 'log:1'}, {name: app, image: 'app:2', env: [{name: A, value: a}]}, {name: proxy, image: 'proxy:2'}]}}}",
        ],
    ),
    keyed(
        "keda.sh/v1alpha1 ScaledJob",
        "keda.sh: `jobTargetRef` is the spec of a Job, whose containers merge by `name`",
        [
            "{jobTargetRef: {template: {spec: {containers: [{name: job, image: 'job:1', volumeMounts: [{name: a, mountPath: /a}]}, {name: proxy, image: 'proxy:1'}]}}}}",
            "{jobTargetRef: {template: {spec: {containers: [{name: job, volumeMounts: [{name: b, mountPath: /b}]}]}}}}",
            "{jobTargetRef: {template: {spec: {containers: [{name: job, image: 'job:1', volumeMounts: [{name: a, mountPath: /a}, {name: b, mountPath: /b}]}, {name: proxy, image: 'proxy:1'}]}}}}",
        ],
        [
            "{jobTargetRef: {template: {spec: {containers: [{name: job, image: 'job:1', volumeMounts: [{name: a, mountPath: /a}]}, {name: proxy, image: 'proxy:2'}]}}}}",
            "{jobTargetRef: {template: {spec: {containers: [{name: job, image: 'job:2', volumeMounts: [{name: a, mountPath: /a}]}, {name: proxy, image: 'proxy:1'}]}}}}",
            "{jobTargetRef: {template: {spec: {containers: [{name: job, image: 'job:2', volumeMounts: [{name: a, mountPath: /a}]}, {name: proxy, image: 'proxy:2'}]}}}}",
        ],
    ),
    Case {
        of: "monitoring.coreos.com/v1 PrometheusRule",
        source: "prometheus-operator prometheusrule_types.go: groups have the map key `name`, rules have none",
        original: "{groups: [{name: a, rules: [{alert: X, expr: x}, {alert: Y, expr: y}]}, {name: b, rules: [{record: r, expr: z}]}]}",
        patch: "{groups: [{name: a, rules: [{alert: X, expr: x2}]}]}",
        two_way: "{groups: [{name: a, rules: [{alert: X, expr: x2}]}, {name: b, rules: [{record: r, expr: z}]}]}",
        strategic: "{groups: [{name: a, rules: [{alert: X, expr: x2}]}, {name: b, rules: [{record: r, expr: z}]}]}",
        warned: &[("spec.groups.rules", "alert")],
        ours: "{groups: [{name: a, rules: [{alert: X, expr: x}, {alert: Y, expr: y}]}, {name: b, rules: [{record: r, expr: ours}]}]}",
        theirs: "{groups: [{name: a, rules: [{alert: X, expr: theirs}, {alert: Y, expr: y}]}, {name: b, rules: [{record: r, expr: z}]}]}",
        merged: "{groups: [{name: a, rules: [{alert: X, expr: theirs}, {alert: Y, expr: y}]}, {name: b, rules: [{record: r, expr: ours}]}]}",
    },
    Case {
        of: "operator.victoriametrics.com/v1beta1 VMRule",
        source: "VictoriaMetrics operator config/crd: groups have the map key `name`, rules have none",
        original: "{groups: [{name: a, rules: [{alert: X, expr: x}, {alert: Y, expr: y}]}, {name: b, rules: []}]}",
        patch: "{groups: [{name: a, rules: [{alert: X, expr: x2}]}]}",
        two_way: "{groups: [{name: a, rules: [{alert: X, expr: x2}]}, {name: b, rules: []}]}",
        strategic: "{groups: [{name: a, rules: [{alert: X, expr: x2}]}, {name: b, rules: []}]}",
        warned: &[("spec.groups.rules", "alert")],
        ours: "{groups: [{name: new, rules: []}, {name: a, rules: [{alert: X, expr: x}, {alert: Y, expr: y}]}, {name: b, rules: []}]}",
        theirs: "{groups: [{name: a, rules: [{alert: X, expr: theirs}, {alert: Y, expr: y}]}, {name: b, rules: []}]}",
        merged: "{groups: [{name: new, rules: []}, {name: a, rules: [{alert: X, expr: theirs}, {alert: Y, expr: y}]}, {name: b, rules: []}]}",
    },
    keyed(
        "leaderworkerset.x-k8s.io/v1 LeaderWorkerSet",
        "lws api/leaderworkerset/v1: both templates are pod templates",
        [
            "{leaderWorkerTemplate: {leaderTemplate: {metadata: {}, spec: {containers: [{name: l, image: 'l:1'}, {name: s, image: 's:1'}]}}, workerTemplate: {spec: {containers: [{name: w, image: 'w:1', ports: [{containerPort: 80}]}]}}}}",
            "{leaderWorkerTemplate: {leaderTemplate: {spec: {containers: [{name: l, image: 'l:2'}]}}, workerTemplate: {spec: {containers: [{name: w, ports: [{containerPort: 81}]}]}}}}",
            "{leaderWorkerTemplate: {leaderTemplate: {metadata: {}, spec: {containers: [{name: l, image: 'l:2'}, {name: s, image: 's:1'}]}}, workerTemplate: {spec: {containers: [{name: w, image: 'w:1', ports: [{containerPort: 80}, {containerPort: 81}]}]}}}}",
        ],
        [
            "{leaderWorkerTemplate: {leaderTemplate: {metadata: {}, spec: {containers: [{name: l, image: 'l:ours'}, {name: s, image: 's:1'}]}}}}",
            "{leaderWorkerTemplate: {leaderTemplate: {metadata: {}, spec: {containers: [{name: l, image: 'l:1'}, {name: s, image: 's:theirs'}]}}, workerTemplate: {spec: {containers: [{name: w, image: 'w:1', ports: [{containerPort: 80}]}]}}}}",
            "{leaderWorkerTemplate: {leaderTemplate: {metadata: {}, spec: {containers: [{name: l, image: 'l:ours'}, {name: s, image: 's:theirs'}]}}}}",
        ],
    ),
    keyed(
        "gateway.networking.k8s.io/v1 Gateway",
        "gateway-api gateway_types.go: listeners have the map key `name`, addresses are atomic",
        [
            "{listeners: [{name: http, port: 80, protocol: HTTP}, {name: https, port: 443, protocol: HTTPS}], addresses: [{type: IPAddress, value: a}, {type: Hostname, value: b}]}",
            "{listeners: [{name: https, hostname: a.example.com}], addresses: [{type: IPAddress, value: c}]}",
            "{listeners: [{name: http, port: 80, protocol: HTTP}, {name: https, port: 443, protocol: HTTPS, hostname: a.example.com}], addresses: [{type: IPAddress, value: c}]}",
        ],
        [
            "{listeners: [{name: http, port: 8080, protocol: HTTP}, {name: https, port: 443, protocol: HTTPS}], addresses: [{type: IPAddress, value: a}, {type: Hostname, value: b}]}",
            "{listeners: [{name: tcp, port: 1, protocol: TCP}, {name: http, port: 80, protocol: HTTP}, {name: https, port: 8443, protocol: HTTPS}], addresses: [{type: IPAddress, value: a}, {type: Hostname, value: b}]}",
            "{listeners: [{name: tcp, port: 1, protocol: TCP}, {name: http, port: 8080, protocol: HTTP}, {name: https, port: 8443, protocol: HTTPS}], addresses: [{type: IPAddress, value: a}, {type: Hostname, value: b}]}",
        ],
    ),
    keyed(
        "cert-manager.io/v1 Certificate",
        "cert-manager deploy/crds: additionalOutputFormats is atomic, so `type` is no key of it",
        [
            "{secretName: a, additionalOutputFormats: [{type: DER}, {type: CombinedPEM}]}",
            "{additionalOutputFormats: [{type: CombinedPEM}], duration: 1h}",
            "{secretName: a, additionalOutputFormats: [{type: CombinedPEM}], duration: 1h}",
        ],
        [
            "{secretName: a, additionalOutputFormats: [{type: DER}, {type: CombinedPEM}], duration: 1h}",
            "{secretName: a, additionalOutputFormats: [{type: CombinedPEM}]}",
            "{secretName: a, additionalOutputFormats: [{type: CombinedPEM}], duration: 1h}",
        ],
    ),
    Case {
        of: "external-secrets.io/v1 ExternalSecret",
        source: "external-secrets deploy/crds: data declares nothing, so the API server replaces it",
        original: "{data: [{secretKey: a, remoteRef: {key: x}}, {secretKey: b, remoteRef: {key: y}}]}",
        patch: "{data: [{secretKey: a, remoteRef: {key: z}}]}",
        two_way: "{data: [{secretKey: a, remoteRef: {key: z}}]}",
        strategic: "{data: [{secretKey: a, remoteRef: {key: z}}]}",
        warned: &[("spec.data", "secretKey")],
        ours: "{data: [{secretKey: a, remoteRef: {key: ours}}, {secretKey: b, remoteRef: {key: y}}]}",
        theirs: "{data: [{secretKey: a, remoteRef: {key: x}}, {secretKey: b, remoteRef: {key: y}}], refreshInterval: 1h}",
        merged: "{data: [{secretKey: a, remoteRef: {key: ours}}, {secretKey: b, remoteRef: {key: y}}], refreshInterval: 1h}",
    },
    Case {
        of: "helm.toolkit.fluxcd.io/v2 HelmRelease",
        source: "fluxcd.io: values are merged as Helm merges them, maps by field and lists whole; valuesFrom declares nothing",
        original: "{valuesFrom: [{kind: ConfigMap, name: a}], values: {replicas: 1, ingress: {hosts: [{host: a}, {host: b}], enabled: false}}}",
        patch: "{values: {ingress: {hosts: [{host: c}], enabled: true}}}",
        two_way: "{valuesFrom: [{kind: ConfigMap, name: a}], values: {replicas: 1, ingress: {hosts: [{host: c}], enabled: true}}}",
        strategic: "{valuesFrom: [{kind: ConfigMap, name: a}], values: {replicas: 1, ingress: {hosts: [{host: c}], enabled: true}}}",
        warned: &[("spec.values.ingress.hosts", "host")],
        ours: "{valuesFrom: [{kind: ConfigMap, name: a}], values: {replicas: 3, ingress: {hosts: [{host: a}, {host: b}], enabled: false}}}",
        theirs: "{valuesFrom: [{kind: ConfigMap, name: a}], values: {replicas: 1, ingress: {hosts: [{host: a}, {host: b}], enabled: true}}}",
        merged: "{valuesFrom: [{kind: ConfigMap, name: a}], values: {replicas: 3, ingress: {hosts: [{host: a}, {host: b}], enabled: true}}}",
    },
];

impl Case {
    /// A resource with this spec.
    pub fn resource(&self, spec: &str) -> String {
        let (api_version, kind) = self.of.split_once(' ').expect("apiVersion and kind");
        format!("apiVersion: {api_version}\nkind: {kind}\nmetadata:\n  name: a\nspec: {spec}\n")
    }
}
