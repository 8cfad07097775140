#!/usr/bin/env python3
"""conflicts.py PLUGIN [--part K/N] [--at-most N] [--show]: pairs of edits at one place, one of upstream and one of dest, judged without git.

Each place of PLACES is a piece of a resource: a field, an element, a map. Both sides edit it: they change, delete, rename, replace it, put
something beside it. A pair is right if `three-way` reports a conflict, or if the result is what oracle.py allows, and valid where
kubernetes-validate (PyPI) has the type. Exit 1 if more than N pairs are wrong (0 where it is not given)."""
import argparse
import collections
import concurrent.futures
import itertools
import os
import sys

import merge
import oracle

try:
    import kubernetes_validate
except ImportError:
    kubernetes_validate = None

PACKAGE = {
    "deployment.yaml": """apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  labels:
    app: web
    tier: front
spec:
  replicas: 1
  selector:
    matchLabels:
      app: web
  strategy:
    type: RollingUpdate
    rollingUpdate:
      maxSurge: 1
  template:
    metadata:
      labels:
        app: web
    spec:
      serviceAccountName: web
      initContainers:
      - name: migrate
        image: registry.example.com/tools:1.0.0
        command: ["/bin/migrate", "--up"]
        env:
        - name: MODE
          value: once
      containers:
      - name: app
        image: registry.example.com/web:1.0.0
        command: ["/bin/web"]
        args:
        - --listen=:8080
        - --log-level=info
        - --workers=4
        env:
        - name: LOG_LEVEL
          value: info
        - name: DB_HOST
          value: db
        - name: TIMEOUT
          value: 30s
        ports:
        - name: http
          containerPort: 8080
        - name: metrics
          containerPort: 9090
        resources:
          requests:
            cpu: 100m
            memory: 128Mi
        livenessProbe:
          httpGet:
            path: /healthz
            port: http
          initialDelaySeconds: 5
        lifecycle:
          preStop:
            exec:
              command: ["sleep", "5"]
        volumeMounts:
        - name: config
          mountPath: /etc/web
        - name: data
          mountPath: /data
      volumes:
      - name: config
        configMap:
          name: web-config
      - name: data
        emptyDir: {}
      tolerations:
      - key: dedicated
        operator: Equal
        value: web
        effect: NoSchedule
      - key: spot
        operator: Exists
""",
    "service.yaml": """apiVersion: v1
kind: Service
metadata:
  name: web
spec:
  selector:
    app: web
  ports:
  - name: http
    port: 80
    targetPort: http
  - name: metrics
    port: 9090
    targetPort: metrics
  type: ClusterIP
""",
    "ingress.yaml": """apiVersion: networking.k8s.io/v1
kind: Ingress
metadata:
  name: web
spec:
  ingressClassName: nginx
  tls:
  - hosts:
    - web.example.com
    secretName: web-tls
  rules:
  - host: web.example.com
    http:
      paths:
      - path: /
        pathType: Prefix
        backend:
          service:
            name: web
            port:
              name: http
      - path: /api
        pathType: Prefix
        backend:
          service:
            name: api
            port:
              name: http
""",
    "policy.yaml": """apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata:
  name: web
spec:
  podSelector:
    matchLabels:
      app: web
  ingress:
  - from:
    - namespaceSelector:
        matchLabels:
          name: ingress
    ports:
    - protocol: TCP
      port: 8080
""",
    "budget.yaml": """apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  name: web
spec:
  minAvailable: 1
  selector:
    matchLabels:
      app: web
""",
    "config.yaml": """apiVersion: v1
kind: ConfigMap
metadata:
  name: web-config
data:
  LOG_FORMAT: json
  COLOR: blue
  app.properties: |
    color=blue
    size=10
    debug=false
  run.sh: |
    set -e
    retry 3
    start
""",
    "role.yaml": """apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata:
  name: web
rules:
- apiGroups: [""]
  resources: ["configmaps"]
  verbs: ["get", "list"]
- apiGroups: [""]
  resources: ["secrets"]
  verbs: ["get"]
""",
    "rules.yaml": """apiVersion: monitoring.coreos.com/v1
kind: PrometheusRule
metadata:
  name: web
spec:
  groups:
  - name: web
    rules:
    - alert: Down
      expr: up{job="web"} == 0
      for: 5m
    - alert: Slow
      expr: latency > 1
      for: 10m
""",
    "release.yaml": """apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata:
  name: db
spec:
  interval: 5m
  chart:
    spec:
      chart: postgresql
      version: 12.1.0
  values:
    auth:
      database: web
      username: web
    persistence:
      size: 8Gi
""",
    "scaler.yaml": """apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata:
  name: web
spec:
  scaleTargetRef:
    apiVersion: apps/v1
    kind: Deployment
    name: web
  minReplicas: 1
  maxReplicas: 5
  metrics:
  - type: Resource
    resource:
      name: cpu
      target:
        type: Utilization
        averageUtilization: 80
""",
    "route.yaml": """apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata:
  name: web
spec:
  parentRefs:
  - name: gateway
  hostnames:
  - web.example.com
  rules:
  - matches:
    - path:
        type: PathPrefix
        value: /api
    backendRefs:
    - name: api
      port: 80
  - matches:
    - path:
        type: PathPrefix
        value: /
    backendRefs:
    - name: web
      port: 80
""",
    "binding.yaml": """apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata:
  name: web
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: Role
  name: web
subjects:
- kind: ServiceAccount
  name: web
  namespace: default
- kind: ServiceAccount
  name: job
  namespace: default
""",
    "certificate.yaml": """apiVersion: cert-manager.io/v1
kind: Certificate
metadata:
  name: web
spec:
  secretName: web-tls
  dnsNames:
  - web.example.com
  - api.example.com
  issuerRef:
    name: letsencrypt
    kind: ClusterIssuer
""",
    "application.yaml": """apiVersion: argoproj.io/v1alpha1
kind: Application
metadata:
  name: web
spec:
  project: default
  source:
    repoURL: https://charts.example.com
    chart: web
    targetRevision: 1.2.0
  destination:
    name: here
    namespace: web
""",
    "compose.yaml": """services:
  web:
    image: registry.example.com/web:1.0.0
    command: serve --fast
    ports:
    - "80:8080"
    environment:
      LEVEL: info
      MODE: fast
  db:
    image: postgres:16
    volumes:
    - data:/var/lib/postgresql
volumes:
  data: {}
""",
    "kustomization.yaml": """apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
namespace: web
resources:
- app.yaml
- net.yaml
images:
- name: registry.example.com/web
  newTag: 1.0.0
""",
    "values.yaml": """replicaCount: 1
image:
  repository: registry.example.com/web
  tag: 1.0.0
ingress:
  enabled: false
  className: nginx
extraEnv:
- name: A
  value: "1"
- name: B
  value: "2"
""",
}


def lines(indent, text):
    return "".join(" " * indent + line + "\n" for line in text.splitlines())


def place(file, block, edits, name=None, new=None):
    """The variants of a piece of a file. `edits` are pairs of a text of the piece and a text for it, with None for the whole piece; `name` is the
    text that names the piece and two other names; `new` are two texts of one new neighbour, which have the same name."""
    variants = {"delete": ""}
    for number, (old, to) in enumerate(edits):
        variants["edit %d" % number] = to if old is None else block.replace(old, to, 1)
    if name:
        old, *others = name
        for number, other in enumerate(others):
            variants["rename %d" % number] = block.replace(old, other, 1)
        first, to = edits[0]
        variants["rename and edit"] = (block.replace(first, to, 1) if first else to).replace(old, others[0], 1)
    for number, text in enumerate(new or ()):
        variants["before %d" % number] = text + block
        variants["after %d" % number] = block + text
    if new:
        variants["instead"] = new[0]
    return file, block, {what: text for what, text in variants.items() if text != block}


D = "deployment.yaml"
PLACES = [
    place(D, "  replicas: 1\n", [("1", "2"), ("1", "3")], new=["  paused: true\n", "  paused: false\n"]),
    place(D, "    tier: front\n", [("front", "web"), ("front", "edge")], ("tier", "layer", "role"), ["    team: a\n", "    team: b\n"]),
    place(D, "    rollingUpdate:\n      maxSurge: 1\n", [("1", "2"), ("maxSurge: 1", "maxUnavailable: 1"), (None, "    rollingUpdate: {}\n")]),
    place(D, "  strategy:\n    type: RollingUpdate\n    rollingUpdate:\n      maxSurge: 1\n", [("1", "2"), (None, "  strategy:\n    type: Recreate\n")], new=["  minReadySeconds: 5\n", "  minReadySeconds: 9\n"]),
    place(D, lines(6, "- name: migrate\n  image: registry.example.com/tools:1.0.0\n  command: [\"/bin/migrate\", \"--up\"]\n  env:\n  - name: MODE\n    value: once"),
          [("1.0.0", "1.1.0"), ("1.0.0", "1.2.0"), ("--up", "--down"), ("once", "twice"), ("MODE", "KIND")], ("migrate", "prepare", "setup"),
          [lines(6, "- name: wait\n  image: registry.example.com/wait:1"), lines(6, "- name: wait\n  image: registry.example.com/wait:2")]),
    place(D, lines(8, "- name: LOG_LEVEL\n  value: info"), [("info", "debug"), ("info", "warn"), ("value: info", "valueFrom:\n            configMapKeyRef:\n              name: web\n              key: level"),
          ("value: info", "valueFrom:\n            secretKeyRef:\n              name: web\n              key: level")], ("LOG_LEVEL", "LEVEL", "WEB_LOG"),
          [lines(8, "- name: REGION\n  value: eu"), lines(8, "- name: REGION\n  value: us")]),
    place(D, lines(8, "- name: DB_HOST\n  value: db"), [("value: db", "value: pg"), ("value: db", "value: sql"), ("value: db", "valueFrom:\n            secretKeyRef:\n              name: db\n              key: host")],
          ("DB_HOST", "PGHOST", "DATABASE_HOST"), [lines(8, "- name: DB_PORT\n  value: \"1\""), lines(8, "- name: DB_PORT\n  valueFrom:\n    fieldRef:\n      fieldPath: metadata.name")]),
    place(D, "        command: [\"/bin/web\"]\n", [("/bin/web", "/bin/app"), ('["/bin/web"]', '["/bin/sh", "-c", "web"]'), (None, "        command:\n        - /bin/web\n        - serve\n")]),
    place(D, "        - --log-level=info\n", [("info", "debug"), ("info", "warn"), ("--log-level=info", "--v=2")], ("--log-level", "--log.level", "--verbosity"),
          ["        - --trace\n", "        - --trace=on\n"]),
    place(D, "        - --listen=:8080\n        - --log-level=info\n        - --workers=4\n", [("8080", "8081"), (None, "        - serve\n        - fast\n"), (None, "        - run\n        - slow\n"), ("4", "8")]),
    place(D, lines(8, "- name: http\n  containerPort: 8080"), [("8080", "8081"), ("8080", "8082"), ("8080\n", "8080\n          protocol: UDP\n")], ("http", "web", "https"),
          [lines(8, "- name: grpc\n  containerPort: 7000"), lines(8, "- name: grpc\n  containerPort: 7001")]),
    place(D, "          httpGet:\n            path: /healthz\n            port: http\n", [("/healthz", "/live"), ("/healthz", "/alive"), ("http\n", "8080\n"),
          (None, "          exec:\n            command: [\"check\"]\n"), (None, "          grpc:\n            port: 8080\n"), (None, "          tcpSocket:\n            port: http\n")]),
    place(D, "        livenessProbe:\n          httpGet:\n            path: /healthz\n            port: http\n          initialDelaySeconds: 5\n",
          [("5", "10"), ("5", "20"), ("/healthz", "/live"), ("livenessProbe", "readinessProbe")], new=["        stdin: true\n", "        stdin: false\n"]),
    place(D, "            exec:\n              command: [\"sleep\", \"5\"]\n", [('"5"', '"9"'), (None, "            sleep:\n              seconds: 5\n"), (None, "            httpGet:\n              path: /stop\n              port: 80\n")]),
    place(D, "          requests:\n            cpu: 100m\n            memory: 128Mi\n", [("100m", "200m"), ("100m", "300m"), ("            memory: 128Mi\n", ""), ("128Mi\n", "128Mi\n          limits:\n            cpu: 1\n"), (None, "          requests: {}\n")]),
    place(D, lines(8, "- name: data\n  mountPath: /data"), [("/data", "/var/data"), ("/data", "/srv"), ("/data\n", "/data\n          readOnly: true\n")], ("name: data", "name: files", "name: store"),
          [lines(8, "- name: tmp\n  mountPath: /tmp"), lines(8, "- name: cache\n  mountPath: /tmp")]),
    place(D, lines(6, "- name: data\n  emptyDir: {}"), [("emptyDir: {}", "persistentVolumeClaim:\n          claimName: web"), ("emptyDir: {}", "hostPath:\n          path: /data"),
          ("emptyDir: {}", "emptyDir:\n          medium: Memory"), ("emptyDir: {}", "emptyDir:\n          sizeLimit: 1Gi")], ("name: data", "name: files", "name: store"),
          [lines(6, "- name: tmp\n  emptyDir: {}"), lines(6, "- name: tmp\n  hostPath:\n    path: /tmp")]),
    place(D, lines(6, "- key: dedicated\n  operator: Equal\n  value: web\n  effect: NoSchedule"), [("value: web", "value: app"), ("value: web", "value: shop"), ("NoSchedule", "NoExecute")], ("dedicated", "pool", "group"),
          [lines(6, "- key: arch\n  operator: Equal\n  value: arm64"), lines(6, "- key: arch\n  operator: Equal\n  value: amd64")]),
    place("service.yaml", lines(2, "- name: metrics\n  port: 9090\n  targetPort: metrics"), [("9090", "9091"), ("9090", "9092"), ("targetPort: metrics", "targetPort: 9090")], ("name: metrics", "name: stats", "name: prom"),
          [lines(2, "- name: grpc\n  port: 7000"), lines(2, "- name: grpc\n  port: 7001"), lines(2, "- name: rpc\n  port: 7000")]),
    place("service.yaml", "  type: ClusterIP\n", [("ClusterIP", "NodePort"), ("ClusterIP", "LoadBalancer")], new=["  sessionAffinity: None\n", "  sessionAffinity: ClientIP\n"]),
    place("ingress.yaml", lines(6, "- path: /api\n  pathType: Prefix\n  backend:\n    service:\n      name: api\n      port:\n        name: http"),
          [("name: api", "name: rest"), ("name: api", "name: graph"), ("Prefix", "Exact"), ("name: http", "number: 80"), ("          service:\n            name: api\n            port:\n              name: http\n", "          resource:\n            kind: Bucket\n            name: api\n")],
          ("/api", "/v1", "/v2"), [lines(6, "- path: /new\n  pathType: Prefix\n  backend:\n    service:\n      name: a\n      port:\n        name: http"),
                                   lines(6, "- path: /new\n  pathType: Prefix\n  backend:\n    service:\n      name: b\n      port:\n        name: http")]),
    place("ingress.yaml", "  tls:\n  - hosts:\n    - web.example.com\n    secretName: web-tls\n", [("web-tls", "a-tls"), ("web-tls", "b-tls"), ("    - web.example.com\n", "    - web.example.com\n    - www.example.com\n"), (None, "  tls: []\n")]),
    place("policy.yaml", "  - from:\n    - namespaceSelector:\n        matchLabels:\n          name: ingress\n    ports:\n    - protocol: TCP\n      port: 8080\n",
          [("8080", "8081"), ("8080", "8082"), ("name: ingress", "name: nginx"), ("TCP", "UDP")], new=[lines(2, "- from:\n  - podSelector: {}"), lines(2, "- ports:\n  - port: 1")]),
    place("budget.yaml", "  minAvailable: 1\n", [("1", "2"), ("1", "50%"), (None, "  maxUnavailable: 1\n"), (None, "  maxUnavailable: 2\n"), (None, "  unhealthyPodEvictionPolicy: AlwaysAllow\n")]),
    place("config.yaml", "  COLOR: blue\n", [("blue", "red"), ("blue", "green"), ("blue", "|\n    a\n    b")], ("COLOR", "COLOUR", "PAINT"), ["  SIZE: \"1\"\n", "  SIZE: \"2\"\n"]),
    place("config.yaml", lines(2, "app.properties: |\n  color=blue\n  size=10\n  debug=false"), [("size=10", "size=20"), ("size=10", "size=30"), ("    debug=false\n", ""), ("debug=false\n", "debug=false\n    fast=true\n")],
          ("app.properties", "web.properties", "application.properties"), [lines(2, "log.properties: |\n  a=1"), lines(2, "log.properties: |\n  a=2")]),
    place("config.yaml", "    retry 3\n", [("3", "5"), ("3", "7"), ("retry 3", "retry 3\n    retry 3"), ("retry 3", "retry 3\n    # again\n    retry 3")], new=["    prepare\n", "    prepare --all\n"]),
    place("role.yaml", "- apiGroups: [\"\"]\n  resources: [\"secrets\"]\n  verbs: [\"get\"]\n", [('["get"]', '["get", "list"]'), ('["get"]', '["get", "watch"]'), ("secrets", "pods"), ('[""]', '["apps"]')],
          new=["- apiGroups: [\"apps\"]\n  resources: [\"deployments\"]\n  verbs: [\"get\"]\n", "- apiGroups: [\"apps\"]\n  resources: [\"deployments\"]\n  verbs: [\"list\"]\n"]),
    place("rules.yaml", lines(4, "- alert: Slow\n  expr: latency > 1\n  for: 10m"), [("> 1", "> 2"), ("> 1", "> 3"), ("10m", "20m")], ("Slow", "TooSlow", "Latency"),
          [lines(4, "- alert: Full\n  expr: disk > 0.9"), lines(4, "- alert: Full\n  expr: disk > 0.8")]),
    place("release.yaml", "  chart:\n    spec:\n      chart: postgresql\n      version: 12.1.0\n", [("12.1.0", "12.2.0"), ("12.1.0", "13.0.0"), ("postgresql", "mysql"),
          (None, "  chartRef:\n    kind: OCIRepository\n    name: db\n"), (None, "  chartRef:\n    kind: HelmChart\n    name: db\n")]),
    place("release.yaml", "    persistence:\n      size: 8Gi\n", [("8Gi", "10Gi"), ("8Gi", "20Gi"), ("size: 8Gi", "size: 8Gi\n      class: fast"), (None, "    persistence: {}\n")], ("persistence", "storage", "volume"),
          ["    metrics:\n      enabled: true\n", "    metrics:\n      enabled: false\n"]),
    place("scaler.yaml", lines(2, "- type: Resource\n  resource:\n    name: cpu\n    target:\n      type: Utilization\n      averageUtilization: 80"), [("80", "70"), ("80", "60"), ("cpu", "memory"), ("type: Utilization\n        averageUtilization: 80", "type: AverageValue\n        averageValue: 1")],
          new=[lines(2, "- type: Pods\n  pods:\n    metric:\n      name: rate\n    target:\n      type: AverageValue\n      averageValue: 1"), lines(2, "- type: Pods\n  pods:\n    metric:\n      name: rate\n    target:\n      type: AverageValue\n      averageValue: 2")]),
    place("scaler.yaml", "  maxReplicas: 5\n", [("5", "10"), ("5", "20")]),
    place("route.yaml", lines(2, "- matches:\n  - path:\n      type: PathPrefix\n      value: /api\n  backendRefs:\n  - name: api\n    port: 80"), [("port: 80", "port: 8080"), ("port: 80", "port: 8081"), ("/api", "/v1"), ("PathPrefix", "Exact")], ("name: api", "name: rest", "name: graph"),
          [lines(2, "- backendRefs:\n  - name: new\n    port: 1"), lines(2, "- backendRefs:\n  - name: new\n    port: 2")]),
    place("binding.yaml", "- kind: ServiceAccount\n  name: job\n  namespace: default\n", [("default", "web"), ("default", "jobs"), ("ServiceAccount\n  name: job\n  namespace: default", "User\n  name: job")], ("name: job", "name: cron", "name: worker"),
          ["- kind: Group\n  name: admins\n", "- kind: User\n  name: admins\n"]),
    place("certificate.yaml", "  - api.example.com\n", [("api", "www"), ("api", "v1")], new=["  - new.example.com\n", "  - old.example.com\n"]),
    place("certificate.yaml", "    name: letsencrypt\n    kind: ClusterIssuer\n", [("letsencrypt", "corp"), ("letsencrypt", "test"), ("Cluster", ""), ("Issuer\n", "Issuer\n    group: cert-manager.io\n")]),
    place("application.yaml", "  source:\n    repoURL: https://charts.example.com\n    chart: web\n    targetRevision: 1.2.0\n", [("1.2.0", "1.3.0"), ("1.2.0", "2.0.0"), ("chart: web", "chart: shop"), ("charts.", "mirror."),
          (None, "  sources:\n  - repoURL: https://charts.example.com\n    chart: web\n    targetRevision: 1.2.0\n"), (None, "  sources:\n  - repoURL: https://git.example.com/web\n    path: deploy\n    targetRevision: main\n")]),
    place("compose.yaml", "  db:\n    image: postgres:16\n    volumes:\n    - data:/var/lib/postgresql\n", [("16", "17"), ("16", "18"), ("- data:", "- files:"), ("postgres:16\n", "postgres:16\n    restart: always\n")], ("  db:", "  database:", "  postgres:"),
          ["  cache:\n    image: redis:7\n", "  cache:\n    image: redis:8\n"]),
    place("compose.yaml", "      LEVEL: info\n", [("info", "debug"), ("info", "warn")], ("LEVEL", "LOG", "VERBOSITY"), ["      REGION: eu\n", "      REGION: us\n"]),
    place("compose.yaml", "    command: serve --fast\n", [("--fast", "--slow"), ("serve --fast", "[serve]"), ("command", "entrypoint"), ("--fast", "--fast --all")], new=["    restart: always\n", "    restart: never\n"]),
    place("kustomization.yaml", "- name: registry.example.com/web\n  newTag: 1.0.0\n", [("1.0.0", "1.1.0"), ("1.0.0", "2.0.0"), ("newTag: 1.0.0", "newName: mirror/web\n  newTag: 1.0.0"), ("newTag: 1.0.0", "digest: sha256:" + "a" * 64)], ("registry.example.com/web", "web", "shop"),
          ["- name: proxy\n  newTag: \"1\"\n", "- name: proxy\n  newTag: \"2\"\n"]),
    place("kustomization.yaml", "- net.yaml\n", [("net", "network"), ("net", "service")], new=["- extra.yaml\n", "- ../base\n"]),
    place("values.yaml", "image:\n  repository: registry.example.com/web\n  tag: 1.0.0\n", [("1.0.0", "1.1.0"), ("1.0.0", "1.2.0"), ("registry.example.com", "mirror.example.com"), ("tag: 1.0.0", "tag: 1.0.0\n  digest: sha256:" + "b" * 64),
          (None, "image: registry.example.com/web:1.0.0\n")], ("image", "container", "webImage")),
    place("values.yaml", "ingress:\n  enabled: false\n  className: nginx\n", [("false", "true"), ("nginx", "traefik"), ("nginx", "haproxy"), (None, "ingress: {}\n")], ("ingress", "route", "gateway"),
          ["resources: {}\n", "resources:\n  cpu: 1\n"]),
    place("values.yaml", "- name: B\n  value: \"2\"\n", [('"2"', '"3"'), ('"2"', '"4"')], ("name: B", "name: C", "name: D"), ["- name: E\n  value: \"5\"\n", "- name: E\n  value: \"6\"\n"]),
]


def valid(text):
    """What is wrong with each document of a type that kubernetes-validate knows."""
    found = []
    for document in oracle.read(text)[0]:
        if kubernetes_validate and isinstance(document, dict) and "apiVersion" in document and "." not in str(document.get("apiVersion")).split("/")[0].replace(".k8s.io", ""):
            try:
                kubernetes_validate.validate(document, "1.31", strict=True)
            except kubernetes_validate.ValidationError as error:
                found.append("not valid: %s" % str(error).splitlines()[0])
            except kubernetes_validate.SchemaNotFoundError:
                pass
    return found


def judged(plugin, file, block, upstream, team):
    original = PACKAGE[file]
    assert original.count(block) == 1, (file, block)
    updated, dest = original.replace(block, upstream), original.replace(block, team)
    done = merge.three_way(plugin, {file: original}, {file: updated}, {file: dest})
    result = done.files.get(file, "")
    if done.code not in (0, 1):
        return "wrong", ["exit %d: %s" % (done.code, done.errors)], (original, updated, dest, result)
    if done.conflicts:
        return "conflict", [], None
    try:
        found = oracle.faults(original, updated, dest, result, done.told)
        if not valid(updated) and not valid(dest):
            found += valid(result)
    except oracle.yaml.YAMLError as error:
        found = [str(error)]
    return ("wrong" if found else "clean"), found, (original, updated, dest, result)


def main():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("plugin")
    args.add_argument("--part", default="0/1")
    args.add_argument("--at-most", type=int, default=0)
    args.add_argument("--show", action="store_true", help="print the three sides and the result of what is wrong")
    args = args.parse_args()
    part, parts = map(int, args.part.split("/"))
    plugin = os.path.abspath(args.plugin)
    pairs = [(file, block, one, two, variants) for file, block, variants in PLACES for one, two in itertools.permutations(variants, 2)][part::parts]
    counts = collections.Counter()
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for (file, block, one, two, _), (verdict, found, texts) in zip(pairs, pool.map(lambda p: judged(plugin, p[0], p[1], p[4][p[2]], p[4][p[3]]), pairs)):
            counts[verdict] += 1
            if verdict == "wrong":
                print("%s, %s: upstream %s | dest %s" % (file, block.split("\n")[0].strip(), one, two))
                for line in found:
                    print("    " + line)
                if args.show:
                    for name, text in zip(("original", "updated", "dest", "result"), texts):
                        print("--- %s\n%s" % (name, text))
    print("%d places, %d pairs: %s" % (len(PLACES), len(pairs), ", ".join("%d %s" % (counts[v], v) for v in ("conflict", "clean", "wrong"))))
    return 1 if counts["wrong"] > args.at_most else 0


if __name__ == "__main__":
    sys.exit(main())
