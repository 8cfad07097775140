use krm_yaml::{Document, NodeRef};

use super::*;

fn root<'d>(doc: &'d Document<'_>) -> NodeRef<'d> {
    doc.roots().next().expect("a root")
}

/// What a resource refers to, with the keys that it needs.
fn found(head: &str, rest: &str) -> Vec<String> {
    let doc = Document::parse(format!("{{{head}, metadata: {{name: own, namespace: n}}, {rest}}}")).expect("valid");
    let shown = |r: &Reference<'_>| {
        let NamedResource { group, kind, namespace, name } = &r.to;
        let keys: String = r.keys.iter().map(|key| format!(" {key}")).collect();
        format!("{} {group}/{kind} {namespace}/{name}{keys}", r.path.shown())
    };
    references(View::Node(root(&doc))).iter().map(shown).collect()
}

#[test]
fn a_pod_refers_to_what_it_needs_in_whatever_it_stands() {
    let pod = "{serviceAccountName: sa, priorityClassName: high, imagePullSecrets: [{name: pull}], containers: [{name: c, \
        envFrom: [{configMapRef: {name: a}}, {secretRef: {name: b}}, {configMapRef: {name: no, optional: true}}], \
        env: [{name: X, valueFrom: {configMapKeyRef: {name: c, key: k}}}, {name: Y, valueFrom: {secretKeyRef: {name: d, key: l}}}]}], \
        volumes: [{name: v, configMap: {name: e, items: [{key: m, path: p}, {key: o, path: q}]}}, {name: w, secret: {secretName: f}}, \
        {name: x, persistentVolumeClaim: {claimName: g}}, {name: y, projected: {sources: [{configMap: {name: h}}, {secret: {name: i, optional: true}}]}}]}";
    let of = |path: &str| {
        [
            "imagePullSecrets[name=pull].name /Secret n/pull",
            "volumes[name=v].configMap.name /ConfigMap n/e m o",
            "volumes[name=w].secret.secretName /Secret n/f",
            "serviceAccountName /ServiceAccount n/sa",
            "priorityClassName scheduling.k8s.io/PriorityClass n/high",
            "containers[name=c].envFrom[0].configMapRef.name /ConfigMap n/a",
            "containers[name=c].envFrom[1].secretRef.name /Secret n/b",
            "containers[name=c].env[name=X].valueFrom.configMapKeyRef.name /ConfigMap n/c k",
            "containers[name=c].env[name=Y].valueFrom.secretKeyRef.name /Secret n/d l",
            "volumes[name=x].persistentVolumeClaim.claimName /PersistentVolumeClaim n/g",
            "volumes[name=y].projected.sources[0].configMap.name /ConfigMap n/h",
        ]
        .map(|shown| format!("{path}.{shown}"))
    };
    for (head, path, rest) in [
        ("apiVersion: v1, kind: Pod", "spec", format!("spec: {pod}")),
        ("apiVersion: apps/v1, kind: Deployment", "spec.template.spec", format!("spec: {{template: {{spec: {pod}}}}}")),
        (
            "apiVersion: batch/v1, kind: CronJob",
            "spec.jobTemplate.spec.template.spec",
            format!("spec: {{jobTemplate: {{spec: {{template: {{spec: {pod}}}}}}}}}"),
        ),
        ("apiVersion: e.com/v1, kind: Farm", "spec.workers.pod", format!("spec: {{workers: {{pod: {pod}}}}}")),
    ] {
        assert_eq!(found(head, &rest), of(path), "{head}");
    }
}

#[test]
fn other_types_refer_by_their_own_fields() {
    const GW: &str = "gateway.networking.k8s.io";
    const RBAC: &str = "rbac.authorization.k8s.io";
    for (head, rest, want) in [
        (
            "apiVersion: networking.k8s.io/v1, kind: Ingress",
            "spec: {ingressClassName: nginx, tls: [{secretName: t}], defaultBackend: {service: {name: a}}, rules: [{http: {paths: [{backend: {service: {name: b}}}]}}]}",
            &[
                "spec.defaultBackend.service.name /Service n/a",
                "spec.rules[0].http.paths[0].backend.service.name /Service n/b",
                "spec.tls[0].secretName /Secret n/t",
                "spec.ingressClassName networking.k8s.io/IngressClass n/nginx",
            ][..],
        ),
        (
            "apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler",
            "spec: {scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: d}}",
            &["spec.scaleTargetRef.name apps/Deployment n/d"],
        ),
        (
            "apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding",
            "roleRef: {kind: Role, name: r}, subjects: [{kind: ServiceAccount, name: s, namespace: m}]",
            &[&format!("roleRef.name {RBAC}/Role n/r"), "subjects[name=s].name /ServiceAccount m/s"],
        ),
        ("apiVersion: apps/v1, kind: StatefulSet", "spec: {serviceName: s}", &["spec.serviceName /Service n/s"]),
        (
            "apiVersion: apps/v1, kind: StatefulSet",
            "spec: {volumeClaimTemplates: [{metadata: {name: d}, spec: {storageClassName: fast}}]}",
            &["spec.volumeClaimTemplates[0].spec.storageClassName storage.k8s.io/StorageClass n/fast"],
        ),
        (
            "apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingWebhookConfiguration",
            "webhooks: [{name: w, clientConfig: {service: {name: s, namespace: m}}}]",
            &["webhooks[name=w].clientConfig.service.name /Service m/s"],
        ),
        (
            "apiVersion: gateway.networking.k8s.io/v1, kind: HTTPRoute",
            "spec: {parentRefs: [{name: g}], rules: [{backendRefs: [{name: s, port: 80}]}]}",
            &[
                &format!("spec.parentRefs[name=g].name {GW}/Gateway n/g"),
                "spec.rules[0].backendRefs[name=s].name /Service n/s",
            ],
        ),
        ("apiVersion: v1, kind: PersistentVolumeClaim", "spec: {storageClassName: ''}", &[]),
        ("apiVersion: v1, kind: ConfigMap", "data: {serviceAccountName: a}", &[]),
        ("apiVersion: e.com/v1, kind: StatefulSet", "spec: {serviceName: s}", &[]),
    ] {
        assert_eq!(found(head, rest), want, "{head} {rest}");
    }
}

#[test]
fn what_a_resource_makes_is_there_with_it() {
    for (text, want) in [
        (
            "{apiVersion: kustomize.config.k8s.io/v1beta1, kind: Kustomization, configMapGenerator: [{name: a}], secretGenerator: [{name: b}]}",
            "ConfigMap /a, Secret /b",
        ),
        ("{apiVersion: bitnami.com/v1alpha1, kind: SealedSecret, metadata: {name: a, namespace: n}}", "Secret n/a"),
        ("{configMapGenerator: [{name: a}], namespace: n}", "ConfigMap /a"),
        ("{kind: Other, configMapGenerator: [{name: a}]}", ""),
        (
            "{apiVersion: cert-manager.io/v1, kind: Certificate, metadata: {name: a}, spec: {secretName: b}}",
            "Secret /b",
        ),
        (
            "{apiVersion: external-secrets.io/v1, kind: ExternalSecret, metadata: {name: a}, spec: {target: {name: b}}}",
            "Secret /a, Secret /b",
        ),
        ("{apiVersion: v1, kind: Secret, metadata: {name: a}}", ""),
    ] {
        let doc = Document::parse(text).expect("valid");
        let made = made_of(View::Node(root(&doc)));
        let made: Vec<String> = made.iter().map(|n| format!("{} {}/{}", n.kind, n.namespace, n.name)).collect();
        assert_eq!(made.join(", "), want, "{text}");
    }
}

#[test]
fn a_namespace_that_is_not_written_may_be_any() {
    let named = |namespace: &'static str, name: &'static str| NamedResource {
        group: "".into(),
        kind: "Secret".into(),
        namespace: namespace.into(),
        name: name.into(),
    };
    for (one, other, want) in [
        (named("n", "a"), named("n", "a"), true),
        (named("n", "a"), named("", "a"), true),
        (named("", "a"), named("n", "a"), true),
        (named("n", "a"), named("m", "a"), false),
        (named("n", "a"), named("n", "b"), false),
    ] {
        assert_eq!(one.may_be(&other), want, "{one:?} {other:?}");
    }
}
