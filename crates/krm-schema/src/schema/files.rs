//! Files that have no apiVersion and kind, and that their names tell apart: what names the elements of their lists.
//!
//! As in a resource, only a three-way merge asks for the names, only for a list that both sides changed, and where a name repeats, the list has
//! none. Each row says where it is from.

use super::KUSTOMIZATION;
use super::additive::{AdditivePlace, Names, list, map};

/// What stands for the apiVersion of such a file. Its kind is the name of its type.
const FILE: &str = "file";

/// A type of file.
struct FileType {
    /// Its name.
    kind: &'static str,
    /// The names of such files: the last part of a path, or a part with folders. A `*` is any text within a name.
    names: &'static [&'static str],
    root: AdditivePlace,
}

/// The values of a set name themselves.
const SET: AdditivePlace = list(Names::But(&[]));

/// Texts such as `A=1`, which the part before the `=` names.
const PAIRS: AdditivePlace = list(Names::Pair);

/// Mounts and ports: what is inside of the container names them.
const MAPPINGS: AdditivePlace = list(Names::Inside("target"));

/// Source: the "services" of the Compose specification, `compose-spec.json`.
const COMPOSE: AdditivePlace = map(&[(
    "services",
    map(&[(
        "*",
        map(&[
            ("cap_add", SET),
            ("cap_drop", SET),
            ("command", list(Names::Flags)),
            ("configs", list(Names::OneOf(&["source"]))),
            ("depends_on", SET),
            ("devices", MAPPINGS),
            ("dns", SET),
            ("environment", PAIRS),
            ("expose", SET),
            ("extra_hosts", list(Names::Pair)),
            ("labels", PAIRS),
            ("networks", SET),
            ("ports", MAPPINGS),
            ("profiles", SET),
            ("secrets", list(Names::OneOf(&["source"]))),
            ("sysctls", PAIRS),
            ("tmpfs", SET),
            ("volumes", MAPPINGS),
        ]),
    )]),
)]);

/// Source: "Workflow syntax for GitHub Actions": the `id` of a step is unique in its job.
const STEPS: AdditivePlace = list(Names::Step);

/// Source: "Workflow syntax for GitHub Actions".
const WORKFLOW: AdditivePlace = map(&[(
    "jobs",
    map(&[(
        "*",
        map(&[
            ("needs", SET),
            ("steps", STEPS),
            ("strategy", map(&[("matrix", map(&[("*", SET), ("exclude", SET), ("include", SET)]))])),
        ]),
    )]),
)]);

/// Source: "Metadata syntax" of GitHub Actions.
const ACTION: AdditivePlace = map(&[("runs", map(&[("steps", STEPS)]))]);

/// Source: "CI/CD YAML syntax reference" of GitLab: the first rule that matches is taken, so that a condition stands once.
const JOB_OF_GITLAB: AdditivePlace = map(&[
    ("dependencies", SET),
    ("needs", list(Names::OneOf(&["job"]))),
    ("rules", list(Names::OneOf(&["if"]))),
    ("tags", SET),
]);

const GITLAB: AdditivePlace = map(&[
    ("include", list(Names::OneOf(&["local", "component", "remote", "template"]))),
    ("stages", SET),
    ("workflow", map(&[("rules", list(Names::OneOf(&["if"])))])),
    ("*", JOB_OF_GITLAB),
]);

/// Source: "Configuration" of Prometheus: "The job name assigned to scraped metrics by default", unique across all configs.
const PROMETHEUS: AdditivePlace = map(&[("rule_files", SET), ("scrape_configs", list(Names::OneOf(&["job_name"])))]);

/// Source: Helm, `Dependency` in `pkg/chart`: an alias, if there is one, is what the chart is called.
const CHART: AdditivePlace = map(&[
    ("dependencies", list(Names::OneOf(&["alias", "name"]))),
    ("keywords", SET),
    ("maintainers", list(Names::OneOf(&["name"]))),
]);

/// Source: Helm, `IndexFile` in `pkg/repo`: the versions of each chart.
const INDEX: AdditivePlace = map(&[("entries", map(&[("*", list(Names::OneOf(&["version"])))]))]);

/// Source: "Dependabot options reference" of GitHub: one entry for each ecosystem and directory.
const DEPENDABOT: AdditivePlace = map(&[(
    "updates",
    AdditivePlace {
        list: Some(Names::All(&["package-ecosystem", "directory", "target-branch"])),
        fields: &[
            ("allow", list(Names::OneOf(&["dependency-name", "dependency-type"]))),
            ("assignees", SET),
            ("ignore", list(Names::OneOf(&["dependency-name"]))),
            ("labels", SET),
            ("reviewers", SET),
        ],
    },
)]);

/// Source: "Configuration Options" of Renovate.
const RENOVATE: AdditivePlace =
    map(&[("enabledManagers", SET), ("extends", SET), ("ignoreDeps", SET), ("ignorePaths", SET), ("labels", SET)]);

/// Source: Taskfile's schema: `deps` run in any order.
const TASKFILE: AdditivePlace = map(&[("tasks", map(&[("*", map(&[("deps", list(Names::OneOf(&["task"])))]))]))]);

/// Source: Ansible's "Playbook Keywords": a task is known by its name.
const TASKS: AdditivePlace = AdditivePlace {
    list: Some(Names::OneOf(&["name"])),
    fields: &[("always", NAMED), ("block", NAMED), ("rescue", NAMED)],
};

const NAMED: AdditivePlace = list(Names::OneOf(&["name"]));

const TYPES: [FileType; 11] = [
    FileType {
        kind: "Compose",
        names: &[
            "compose.yaml",
            "compose.yml",
            "compose.*.yaml",
            "compose.*.yml",
            "docker-compose*.yaml",
            "docker-compose*.yml",
        ],
        root: COMPOSE,
    },
    FileType { kind: "Workflow", names: &[".github/workflows/*.yaml", ".github/workflows/*.yml"], root: WORKFLOW },
    FileType { kind: "Action", names: &["action.yaml", "action.yml"], root: ACTION },
    FileType { kind: "GitLabCI", names: &[".gitlab-ci.yml", ".gitlab-ci.yaml", "*.gitlab-ci.yml"], root: GITLAB },
    FileType { kind: "Prometheus", names: &["prometheus.yaml", "prometheus.yml"], root: PROMETHEUS },
    FileType { kind: "Chart", names: &["Chart.yaml", "requirements.yaml"], root: CHART },
    FileType { kind: "ChartIndex", names: &["index.yaml"], root: INDEX },
    FileType { kind: "Dependabot", names: &["dependabot.yml", "dependabot.yaml"], root: DEPENDABOT },
    FileType { kind: "Renovate", names: &["renovate.json", ".renovaterc.json", ".renovaterc"], root: RENOVATE },
    FileType {
        kind: "Taskfile",
        names: &["Taskfile.yaml", "Taskfile.yml", "Taskfile.dist.yaml", "Taskfile.dist.yml"],
        root: TASKFILE,
    },
    FileType {
        kind: "AnsibleTasks",
        names: &["tasks/*.yaml", "tasks/*.yml", "handlers/*.yaml", "handlers/*.yml"],
        root: TASKS,
    },
];

/// What stands for the apiVersion and kind of a file that its name tells apart; `None` for other files. kustomize, too, knows its files by name.
pub fn type_of(path: &str) -> Option<[&'static str; 2]> {
    if is_kustomization(path) {
        return Some(KUSTOMIZATION);
    }
    TYPES.iter().find(|of| of.names.iter().any(|name| is_named(path, name))).map(|of| [FILE, of.kind])
}

/// What stands for the kind of a file of no known type.
const DOCUMENT: &str = "document";

/// The same for any file, so that rules can name it: `{apiVersion: file, kind: document, …}`.
pub fn of_file(path: &str) -> [&'static str; 2] {
    type_of(path).unwrap_or([FILE, DOCUMENT])
}

/// Whether this stands for the apiVersion of a file.
pub fn is_of_file(api_version: &str) -> bool {
    api_version == FILE
}

/// Whether kustomize reads a file with this name as a kustomization.
pub fn is_kustomization(path: &str) -> bool {
    ["kustomization.yaml", "kustomization.yml", "Kustomization"].iter().any(|name| is_named(path, name))
}

/// What is known of a type of file.
pub(super) fn root(api_version: &str, kind: &str) -> Option<&'static AdditivePlace> {
    TYPES.iter().find(|of| api_version == FILE && of.kind == kind).map(|of| &of.root)
}

/// Whether the last parts of a path are those of a name.
fn is_named(path: &str, name: &str) -> bool {
    let mut parts = path.rsplit('/');
    name.rsplit('/').all(|name| {
        let Some(part) = parts.next() else { return false };
        match name.split_once('*') {
            Some((before, behind)) => part.strip_prefix(before).and_then(|rest| rest.strip_suffix(behind)).is_some(),
            None => part == name,
        }
    })
}

#[cfg(test)]
mod tests {
    use krm_tree::tree::View;
    use krm_yaml::Document;

    use super::*;
    use crate::mode::Mode;
    use crate::schema::{Named, Types};

    #[test]
    fn names_tell_files_apart() {
        for (path, want) in [
            ("compose.yaml", Some("Compose")),
            ("a/docker-compose.override.yml", Some("Compose")),
            ("compose.prod.yaml", Some("Compose")),
            (".github/workflows/ci.yml", Some("Workflow")),
            ("workflows/ci.yml", None),
            (".gitlab-ci.yml", Some("GitLabCI")),
            ("charts/a/Chart.yaml", Some("Chart")),
            ("roles/a/tasks/main.yml", Some("AnsibleTasks")),
            ("tasks/a/main.yml", None),
            ("base/kustomization.yaml", Some("Kustomization")),
            ("values.yaml", None),
            ("", None),
        ] {
            assert_eq!(type_of(path).map(|[_, kind]| kind), want, "{path}");
        }
    }

    /// The names of the elements of a list in a file; `-` for an element without one.
    fn named(path: &str, text: &str, list: &str) -> Option<Vec<String>> {
        let document = Document::parse(text).expect("valid");
        let mut node = document.roots().next().expect("a root");
        let types = Types::default();
        let [api_version, kind] = type_of(path).expect("a type");
        let mut cursor = types.root(api_version, kind, Mode::ThreeWay);
        for name in list.split('.').filter(|name| !name.is_empty()) {
            cursor = cursor.child(name, node.get(name));
            node = node.get(name).or_else(|| node.elements().find_map(|e| e.get(name))).expect("a field");
        }
        let elements: Vec<View<'_, '_>> = node.elements().map(View::Node).collect();
        let names = cursor.names_of(&[&elements])?.of_list(&elements)?;
        let shown = |named| match named {
            Named::Yes(name) => name,
            _ => "-".to_owned(),
        };
        Some(names.into_iter().map(shown).collect())
    }

    #[test]
    fn each_row_names_the_elements_of_a_file() {
        for (path, text, list, want) in [
            (
                "compose.yaml",
                "services: {a: {environment: [A=1, 'B=x:y/z', C, {d: e}]}}",
                "services.a.environment",
                &["A", "B", "C", "-"][..],
            ),
            (
                "compose.yaml",
                "services: {a: {ports: ['80', '8080:80', '127.0.0.1:53:53/udp', {target: 90, published: '9'}]}}",
                "services.a.ports",
                &["80", "80", "53/udp", "90"],
            ),
            (
                "compose.yaml",
                "services: {a: {volumes: ['data:/d', './x:/x:ro', /y, {type: bind, source: a, target: /z}, name]}}",
                "services.a.volumes",
                &["/d", "/x", "/y", "/z", "-"],
            ),
            (
                "compose.yaml",
                "services: {a: {extra_hosts: ['h:1.2.3.4', 'i=::1']}}",
                "services.a.extra_hosts",
                &["h", "i"],
            ),
            (
                ".github/workflows/a.yaml",
                "jobs: {j: {steps: [{id: i, name: n}, {name: 'n: m'}, {uses: a/b@v1}, {uses: ./c}, {run: x}]}}",
                "jobs.j.steps",
                &["id=i", "name=n: m", "uses=a/b", "uses=./c", "-"],
            ),
            (".gitlab-ci.yml", "j: {rules: [{if: $A}, {when: never}]}", "j.rules", &["if=$A", "-"]),
            ("prometheus.yml", "scrape_configs: [{job_name: a}]", "scrape_configs", &["job_name=a"]),
            ("Chart.yaml", "dependencies: [{name: a}, {name: a, alias: b}]", "dependencies", &["name=a", "alias=b"]),
            (
                "index.yaml",
                "entries: {c: [{name: c, version: 1.0.0}, {name: c, version: 1.1.0}]}",
                "entries.c",
                &["version=1.0.0", "version=1.1.0"],
            ),
            (
                "dependabot.yml",
                "updates: [{package-ecosystem: npm, directory: /}, {package-ecosystem: npm, directory: /a}]",
                "updates",
                &["package-ecosystem=npm directory=/", "package-ecosystem=npm directory=/a"],
            ),
            ("tasks/main.yml", "[{name: a, block: [{name: b}]}, {debug: {}}]", "", &["name=a", "-"]),
            ("tasks/main.yml", "[{name: a, block: [{name: b}]}]", "block", &["name=b"]),
            ("Taskfile.yml", "tasks: {a: {deps: [b, {task: c}]}}", "tasks.a.deps", &["-", "task=c"]),
        ] {
            let want: Vec<String> = want.iter().map(|name| (*name).to_owned()).collect();
            assert_eq!(named(path, text, list), Some(want), "{path} {list}");
        }
    }
}
