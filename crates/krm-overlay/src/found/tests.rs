//! What is found in files as teams have them.

use super::*;

/// The overlays of some files, a line each: kind, name, chart, version, and the layers, of which those of another overlay are in brackets.
fn found(files: &[(&str, &str)]) -> Vec<String> {
    let files = files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect();
    overlays(&files).iter().map(shown).collect()
}

fn shown(overlay: &Overlay) -> String {
    let layer = |(number, layer): (usize, &LayerPlace)| {
        let keys: Vec<&str> =
            layer.node().map(|node| node.entries().map(|(key, _)| key.string()).collect()).unwrap_or_default();
        let prefix: String = layer.prefix.iter().map(|key| format!("{key}.")).collect();
        let text =
            if keys.is_empty() { layer.node().map_or("", |node| node.string()).to_owned() } else { keys.join(",") };
        let text = format!("{}:{prefix}{text}", layer.file());
        if number < overlay.shared { format!("({text})") } else { text }
    };
    let layers: Vec<String> = overlay.layers.iter().enumerate().map(layer).collect();
    let unread: Vec<String> = overlay.unread.iter().map(|unread| format!("{:?}", unread.why)).collect();
    let below = match &overlay.below {
        Ok(Below { source, version, locked }) => {
            let source = match source {
                ChartSource::Repository { url, name } => format!("{url} {name}"),
                ChartSource::Oci(image) => format!("oci://{image}"),
                ChartSource::Git { url, path } => format!("git {url} {path}"),
                ChartSource::Folder(path) => format!("./{path}"),
                ChartSource::Packed(path) => format!("tgz {path}"),
            };
            let version = version.as_ref().map_or("newest", |version| version.text.as_str());
            let locked = locked.as_ref().map(|locked| format!(" locked {locked}")).unwrap_or_default();
            format!("{source} {version}{locked}")
        }
        Err(unread) => format!("{:?}", unread.why),
    };
    let parts = [format!("{} {}", overlay.kind.name(), overlay.name), below, layers.join(" "), unread.join(" ")];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" | ")
}

const REPOSITORY: &str = "apiVersion: source.toolkit.fluxcd.io/v1\nkind: HelmRepository\nmetadata: {name: charts, namespace: flux-system}\nspec:\n  url: https://charts.example.com/\n";

fn release(spec: &str) -> String {
    format!(
        "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {{name: &app web, namespace: apps}}\nspec:\n{spec}"
    )
}

const OF_REPOSITORY: &str = "  chart:\n    spec:\n      chart: web\n      version: 1.4.0\n      sourceRef: {kind: HelmRepository, name: charts, namespace: flux-system}\n";

#[test]
fn a_helm_release_has_values_over_the_chart_of_its_repository() {
    let text = release(&format!(
        "{OF_REPOSITORY}  valuesFrom:\n  - {{kind: ConfigMap, name: base}}\n  - {{kind: Secret, name: s}}\n  values:\n    name: *app\n    a: 1\n"
    ));
    let map =
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: base, namespace: apps}\ndata:\n  values.yaml: |\n    b: 1\n";
    assert_eq!(
        found(&[("web.yaml", &text), ("sources/charts.yaml", REPOSITORY), ("map.yaml", map)]),
        ["HelmRelease apps/web | https://charts.example.com web 1.4.0 | map.yaml:b web.yaml:name,a | Secret(\"s\")"]
    );
    // A registry is a repository, too.
    let registry = REPOSITORY.replace("https://charts.example.com/", "oci://ghcr.io/org/charts");
    assert_eq!(
        found(&[("web.yaml", &release(OF_REPOSITORY)), ("charts.yaml", &registry)]),
        ["HelmRelease apps/web | oci://ghcr.io/org/charts/web 1.4.0"]
    );
}

#[test]
fn a_config_map_of_a_kustomization_is_its_file() {
    let text =
        release(&format!("{OF_REPOSITORY}  valuesFrom:\n  - {{kind: ConfigMap, name: base, valuesKey: v.yaml}}\n"));
    let generator = "configMapGenerator:\n- name: base\n  files: [v.yaml=./helm/values.yaml, other]\n";
    assert_eq!(
        found(&[
            ("a/web.yaml", &text),
            ("charts.yaml", REPOSITORY),
            ("a/kustomization.yaml", generator),
            ("a/helm/values.yaml", "c: 1\n"),
        ]),
        ["HelmRelease apps/web | https://charts.example.com web 1.4.0 | a/helm/values.yaml:c"]
    );
}

#[test]
fn a_chart_is_what_a_chart_reference_names() {
    let image = "apiVersion: source.toolkit.fluxcd.io/v1\nkind: OCIRepository\nmetadata: {name: web}\nspec:\n  url: oci://ghcr.io/org/web\n  ref:\n    tag: 1.4.0\n";
    let of_kind = |kind: &str| release(&format!("  chartRef: {{kind: {kind}, name: web}}\n  values: {{a: 1}}\n"));
    assert_eq!(
        found(&[
            ("a/web.yaml", &of_kind("OCIRepository")),
            ("a/oci.yaml", image),
            ("b/oci.yaml", &image.replace("1.4.0", "1.3.0"))
        ]),
        ["HelmRelease apps/web | oci://ghcr.io/org/web 1.4.0 | a/web.yaml:a"]
    );
    let chart = "apiVersion: source.toolkit.fluxcd.io/v1\nkind: HelmChart\nmetadata: {name: web, namespace: apps}\nspec:\n  chart: web\n  version: ^1.4\n  sourceRef: {kind: HelmRepository, name: charts}\n";
    let repository = REPOSITORY.replace(", namespace: flux-system", "");
    assert_eq!(
        found(&[("web.yaml", &of_kind("HelmChart")), ("chart.yaml", chart), ("charts.yaml", &repository)]),
        ["HelmRelease apps/web | https://charts.example.com web ^1.4 | web.yaml:a"]
    );
}

#[test]
fn what_is_not_there_or_not_plain_is_told_and_not_guessed() {
    let web = release(OF_REPOSITORY);
    let missing = "HelmRelease apps/web | Missing { kind: \"HelmRepository\", name: \"charts\" }";
    assert_eq!(found(&[("web.yaml", &web)]), [missing]);
    let other = REPOSITORY.replace("charts.example.com", "other.example.com");
    assert_eq!(
        found(&[("web.yaml", &web), ("x/a.yaml", REPOSITORY), ("y/a.yaml", &other)]),
        ["HelmRelease apps/web | Ambiguous { kind: \"HelmRepository\", name: \"charts\" }"]
    );
    let variable = web.replace("1.4.0", "${VERSION}");
    assert_eq!(
        found(&[("web.yaml", &variable), ("a.yaml", REPOSITORY)]),
        ["HelmRelease apps/web | Variable(\"${VERSION}\")"]
    );
    let bucket = web.replace("HelmRepository", "Bucket");
    assert_eq!(found(&[("web.yaml", &bucket)]), ["HelmRelease apps/web | Source(\"Bucket\")"]);
}

#[test]
fn a_patch_of_a_helm_release_lies_over_its_values() {
    let patch = "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: web, namespace: apps}\nspec:\n  chart: {spec: {version: 1.5.0}}\n  values:\n    b: 2\n";
    let base = release(&format!("{OF_REPOSITORY}  values:\n    a: 1\n"));
    assert_eq!(
        found(&[("base/web.yaml", &base), ("base/charts.yaml", REPOSITORY), ("prod/web.yaml", patch)]),
        [
            "HelmRelease apps/web | https://charts.example.com web 1.4.0 | base/web.yaml:a",
            "HelmRelease apps/web | https://charts.example.com web 1.5.0 | (base/web.yaml:a) prod/web.yaml:b",
        ]
    );
}

#[test]
fn an_application_has_values_in_many_forms() {
    let app = "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: web, namespace: argocd}\nspec:\n  sources:\n  - repoURL: https://charts.example.com\n    chart: web\n    targetRevision: 1.4.0\n    helm:\n      valueFiles: [$here/web/values.yaml, values-prod.yaml]\n      values: |\n        a: 1\n      parameters:\n      - {name: b.c\\.d, value: \"2\"}\n      - {name: 'e[0]', value: x}\n  - repoURL: https://example.com/here.git\n    ref: here\n";
    assert_eq!(
        found(&[("app.yaml", app), ("web/values.yaml", "f: 1\n")]),
        [
            "Application argocd/web | https://charts.example.com web 1.4.0 | web/values.yaml:f app.yaml:a app.yaml:b.c.d.2 | NoFile(\"values-prod.yaml\") Field(\"parameters\")"
        ]
    );
    let one = "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: web}\nspec:\n  source:\n    repoURL: ghcr.io/org/charts\n    chart: web\n    targetRevision: 1.4.0\n    helm: {valuesObject: {a: 1}, values: 'b: 1'}\n";
    assert_eq!(found(&[("app.yaml", one)]), ["Application web | oci://ghcr.io/org/charts/web 1.4.0 | app.yaml:a"]);
    let set = one.replace("kind: Application", "kind: ApplicationSet").replace("spec:\n", "spec: {template: {spec: {").replace("  source:\n    repoURL: ghcr.io/org/charts\n    chart: web\n    targetRevision: 1.4.0\n    helm: {valuesObject: {a: 1}, values: 'b: 1'}\n", "source: {repoURL: ghcr.io/org/charts, chart: web, targetRevision: '{{version}}'}}}}\n");
    assert_eq!(found(&[("set.yaml", &set)]), ["ApplicationSet web | Variable(\"{{version}}\")"]);
}

#[test]
fn the_charts_of_a_kustomization_are_overlays() {
    let text = "helmCharts:\n- name: web\n  repo: https://charts.example.com\n  version: 1.4.0\n  releaseName: shop\n  valuesFile: values.yaml\n  valuesInline: {a: 1}\n  additionalValuesFiles: [more.yaml, none.yaml]\n- {name: db, repo: 'oci://ghcr.io/org', version: 2.0.0, valuesMerge: merge, valuesFile: more.yaml, valuesInline: {a: 1}}\n";
    assert_eq!(
        found(&[("d/kustomization.yaml", text), ("d/values.yaml", "b: 1\n"), ("d/more.yaml", "c: 1\n")]),
        [
            "helmCharts shop | https://charts.example.com web 1.4.0 | d/values.yaml:b d/kustomization.yaml:a d/more.yaml:c | NoFile(\"d/none.yaml\")",
            "helmCharts db | oci://ghcr.io/org/db 2.0.0 | d/kustomization.yaml:a d/more.yaml:c",
        ]
    );
}

#[test]
fn values_below_a_dependency_lie_over_its_chart() {
    let chart = "name: shop\ndependencies:\n- {name: redis, alias: cache, version: ^18, repository: 'https://charts.example.com'}\n- {name: lib, version: 1.0.0}\n- {name: own, version: 1.0.0, repository: 'file://../own'}\n";
    let lock = "dependencies:\n- {name: redis, version: 18.1.2, repository: 'https://charts.example.com'}\n";
    assert_eq!(
        found(&[
            ("shop/Chart.yaml", chart),
            ("shop/Chart.lock", lock),
            ("shop/charts/lib-1.0.0.tgz", ""),
            ("own/Chart.yaml", "name: own\n"),
            ("shop/values.yaml", "cache: {a: 1}\nglobal: {g: 1}\nown: {}\nreplicas: 1\n"),
            ("shop/values-prod.yaml", "cache: {b: 1}\n"),
        ]),
        [
            "dependency cache of shop | https://charts.example.com redis ^18 locked 18.1.2 | shop/values.yaml:a shop/values.yaml:global.g",
            "dependency cache of shop | https://charts.example.com redis ^18 locked 18.1.2 | (shop/values.yaml:a) (shop/values.yaml:global.g) shop/values-prod.yaml:b",
            "dependency lib of shop | tgz shop/charts/lib-1.0.0.tgz 1.0.0 | shop/values.yaml:global.g",
            "dependency own of shop | ./own 1.0.0 | shop/values.yaml: shop/values.yaml:global.g",
        ]
    );
}

#[test]
fn an_application_of_a_chart_in_the_tree_lies_over_its_dependencies() {
    let app = "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: shop}\nspec:\n  source: {repoURL: 'https://example.com/here.git', path: shop, helm: {valueFiles: [prod.yaml]}}\n";
    let chart =
        "name: shop\ndependencies:\n- {name: redis, version: 18.0.0, repository: 'https://charts.example.com'}\n";
    assert_eq!(
        found(&[
            ("app.yaml", app),
            ("shop/Chart.yaml", chart),
            ("shop/values.yaml", "redis: {a: 1}\n"),
            ("shop/prod.yaml", "redis: {b: 1}\n"),
        ]),
        [
            "Application shop | ./shop newest | shop/prod.yaml:redis",
            "Application redis of shop | https://charts.example.com redis 18.0.0 | (shop/values.yaml:a) shop/prod.yaml:b",
            "dependency redis of shop | https://charts.example.com redis 18.0.0 | shop/values.yaml:a",
        ]
    );
}

#[test]
fn a_helmfile_and_a_record_name_values() {
    let helmfile = "repositories:\n- {name: charts, url: 'https://charts.example.com'}\nreleases:\n- name: web\n  namespace: apps\n  chart: charts/web\n  version: 1.4.0\n  values: [values.yaml, {a: 1}, x.yaml.gotmpl]\n";
    let record = "apiVersion: krm-merge.dev/v1alpha1\nkind: Merge\nspec:\n  upstream:\n    chart: {repo: 'https://charts.example.com', name: web, version: ^1}\n    render: {values: [values.yaml]}\n  upstreamLock:\n    chart: {version: 1.4.0}\n";
    assert_eq!(
        found(&[
            ("helmfile.yaml", helmfile),
            ("values.yaml", "b: 1\n"),
            ("p/.krm-merge.yaml", record),
            ("p/values.yaml", "c: 1\n")
        ]),
        [
            "helmfile apps/web | https://charts.example.com web 1.4.0 | values.yaml:b helmfile.yaml:a | Variable(\"x.yaml.gotmpl\")",
            "package p | https://charts.example.com web ^1 locked 1.4.0 | p/values.yaml:c",
        ]
    );
}

#[test]
fn what_is_pasted_names_a_chart() {
    let both = format!("{}---\n{REPOSITORY}", release(OF_REPOSITORY));
    for (text, want) in [
        (both.as_str(), "https://charts.example.com web 1.4.0"),
        (REPOSITORY, "https://charts.example.com  newest"),
        (
            "apiVersion: source.toolkit.fluxcd.io/v1\nkind: OCIRepository\nmetadata: {name: web}\nspec: {url: 'oci://ghcr.io/org/web', ref: {tag: 1.4.0}}\n",
            "oci://ghcr.io/org/web 1.4.0",
        ),
        (
            "helmCharts:\n- {name: web, repo: 'https://charts.example.com', version: 1.4.0}\n",
            "https://charts.example.com web 1.4.0",
        ),
        ("- name: web\n  repo: https://charts.example.com\n  version: 1.4.0\n", "https://charts.example.com web 1.4.0"),
        (
            "- name: web\n  repository: https://charts.example.com\n  version: 1.4.0\n",
            "https://charts.example.com web 1.4.0",
        ),
        ("name: web\nrepository: oci://ghcr.io/org\n", "oci://ghcr.io/org/web newest"),
        (
            "dependencies:\n- {name: web, repository: 'https://charts.example.com', version: 1.4.0}\n",
            "https://charts.example.com web 1.4.0",
        ),
    ] {
        let [below] = pasted(text).expect(text).try_into().expect("one chart");
        let unread = Vec::new();
        let (kind, name, at) = (
            crate::overlay::OverlayKind::Record,
            "-".to_owned(),
            crate::unread::Spot { file: String::new(), offset: 0 },
        );
        let overlay = Overlay { kind, name, at, below, layers: Vec::new(), shared: 0, unread, named: Named::default() };
        assert_eq!(shown(&overlay), format!("package - | {want}"), "{text}");
    }
    assert!(pasted("a: 1\n").expect("YAML").is_empty() && pasted("a: [").is_err());
}

#[test]
fn no_text_makes_it_panic() {
    for text in [
        "",
        "---\n---\n",
        "a: [",
        "*a",
        "kind: HelmRelease",
        "kind: [HelmRelease]\napiVersion: helm.toolkit.fluxcd.io/v2\n",
    ] {
        for name in [
            "a.yaml",
            "Chart.yaml",
            "Chart.lock",
            "kustomization.yaml",
            "helmfile.yaml",
            ".krm-merge.yaml",
            "values.yaml",
        ] {
            found(&[(name, text), ("d/Chart.yaml", "dependencies:\n- {name: a, repository: 'file://../../../..'}\n")]);
        }
    }
}
