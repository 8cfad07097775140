//! Each usual edit of a team beside each usual edit of upstream, in one file: in block style, between brackets, and as KYAML. Where git merges
//! the lines, three-way and the driver make the same of them, to the byte; a second run changes nothing.

use std::process::Command;

use crate::support::{Folder, PLUGIN, has};

/// A file, and its edits: what each replaces, and what comes instead.
struct Edited {
    name: &'static str,
    text: &'static str,
    edits: &'static [[&'static str; 2]],
}

const FILES: [Edited; 8] = [
    Edited {
        name: "workload.yaml",
        text: include_str!("pairs/workload.yaml"),
        edits: &[
            ["replicas: 3", "replicas: 5"],
            ["  serviceName: queue\n", "  serviceName: queue\n  podManagementPolicy: Parallel\n"],
            ["image: queue:1", "image: queue:2"],
            ["image: queue:1", "image: mirror.corp/queue:1"],
            ["- name: broker", "- name: server"],
            ["        - containerPort: 5672\n", "        - containerPort: 5673\n"],
            ["        - containerPort: 5672\n", "        - containerPort: 5672\n        - containerPort: 15672\n"],
            ["storage: 10Gi", "storage: 100Gi"],
            ["      storageClassName: fast\n", ""],
            ["          value: \"4\"\n", "          value: \"4\"\n        - name: TRACE\n          value: \"1\"\n"],
            ["          value: \"4\"\n", "          value: \"8\"\n"],
            ["schedule: \"0 3 * * *\"", "schedule: \"30 4 * * *\""],
            ["          restartPolicy: Never\n", "          restartPolicy: OnFailure\n"],
            ["            - --keep=7\n", "            - --keep=30\n"],
            ["            - --keep=7\n", "            - --keep=7\n            - --verbose\n"],
            ["  concurrencyPolicy: Forbid\n", "  concurrencyPolicy: Forbid\n  suspend: true\n"],
        ],
    },
    Edited {
        name: "mesh.yaml",
        text: include_str!("pairs/mesh.yaml"),
        edits: &[
            ["  - shop.example.com\n", "  - shop.corp\n"],
            ["  - shop.example.com\n", "  - shop.example.com\n  - www.example.com\n"],
            ["prefix: /v1", "prefix: /api"],
            ["      weight: 90\n", "      weight: 80\n"],
            ["        subset: canary\n      weight: 10\n", "        subset: canary\n      weight: 20\n"],
            ["    timeout: 5s\n", "    timeout: 10s\n"],
            ["    timeout: 5s\n", "    timeout: 5s\n    retries:\n      attempts: 3\n"],
            [
                "  - name: default\n",
                "  - match:\n    - uri:\n        prefix: /old\n    redirect:\n      uri: /\n  - name: default\n",
            ],
            [
                "  - name: stable\n    labels:\n      version: v1\n",
                "  - name: stable\n    labels:\n      version: v2\n",
            ],
            [
                "  - name: canary\n    labels:\n",
                "  - name: test\n    labels:\n      version: v3\n  - name: canary\n    labels:\n",
            ],
            ["maxConnections: 100", "maxConnections: 500"],
            ["      mode: STRICT\n", "      mode: PERMISSIVE\n"],
        ],
    },
    Edited {
        name: "workflow.yaml",
        text: include_str!("pairs/workflow.yaml"),
        edits: &[
            ["entrypoint: main", "entrypoint: all"],
            ["      - name: build\n", "      - name: lint\n        template: step\n      - name: build\n"],
            ["image: golang:1.22", "image: golang:1.23"],
            ["      args: [\"./...\"]\n", "      args: [\"./...\", \"-race\"]\n"],
            ["        dependencies: [build]\n", "        dependencies: [build, lint]\n"],
            ["      - name: test\n        template: step\n        dependencies: [build]\n", ""],
            ["  - name: step\n", "  - name: notify\n    container:\n      image: curl\n  - name: step\n"],
            ["    - name: revision\n      value: main\n", "    - name: revision\n      value: release\n"],
            [
                "    - name: revision\n      value: main\n",
                "    - name: revision\n      value: main\n    - name: depth\n      value: \"1\"\n",
            ],
            ["  ttlStrategy:\n", "  # for the audit\n  ttlStrategy:\n"],
        ],
    },
    Edited {
        name: "ci.yml",
        text: include_str!("pairs/ci.yml"),
        edits: &[
            ["  push:\n    branches: [main]\n", "  push:\n    branches: [main, release]\n"],
            ["runs-on: ubuntu-22.04", "runs-on: ubuntu-24.04"],
            ["runs-on: ubuntu-22.04", "runs-on: [self-hosted, linux]"],
            ["    - uses: actions/checkout@v3\n", "    - uses: actions/checkout@v4\n"],
            ["    - run: make test\n", "    - run: make test lint\n"],
            ["    - run: make test\n", "    - run: make test\n    - run: make cover\n"],
            ["    - name: Cache\n", "    - name: Setup\n      uses: actions/setup-go@v5\n    - name: Cache\n"],
            ["        key: go\n", "        key: go-${{ runner.os }}\n"],
            ["  release:\n", "  docs:\n    runs-on: ubuntu-22.04\n    steps:\n    - run: make docs\n  release:\n"],
            ["    needs: test\n", "    needs: [test, docs]\n"],
            ["      TOKEN: ${{ secrets.TOKEN }}\n", "      TOKEN: ${{ secrets.OURS }}\n"],
        ],
    },
    Edited {
        name: "values.yaml",
        text: include_str!("pairs/values.yaml"),
        edits: &[
            ["    - host: shop.example.com\n", "    - host: shop.corp\n"],
            ["    - host: api.example.com\n", "    - host: api.corp\n"],
            ["        - path: /v1\n", "        - path: /v2\n"],
            ["        - path: /v1\n", "        - path: /v1\n        - path: /health\n"],
            ["    - host: api.example.com\n      paths:\n        - path: /v1\n", ""],
            ["  tls: []\n", "  tls:\n    - secretName: shop\n      hosts: [shop.example.com]\n"],
            ["  tag: \"\"\n", "  tag: \"1.2\"\n"],
            ["resources: {}\n", "resources:\n  limits:\n    cpu: 1\n"],
            ["# How many.\nreplicas: 1\n", "# How many.\nreplicas: 2\n"],
            ["# How many.\nreplicas: 1\n", "# How many; see the runbook.\nreplicas: 1\n"],
            ["extra: []\n", "extra: []\naffinity: {}\n"],
            ["    - LOG=info\n", "    - LOG=debug\n"],
            ["    - LOG=info\n", "    - LOG=info\n    - COLOR=1\n"],
        ],
    },
    Edited {
        name: "policy.yaml",
        text: include_str!("pairs/policy.yaml"),
        edits: &[
            ["validationFailureAction: Audit", "validationFailureAction: Enforce"],
            ["  - name: limits\n", "  - name: need-limits\n"],
            ["          kinds:\n          - Pod\n", "          kinds:\n          - Pod\n          - Job\n"],
            ["      message: limits are required\n", "      message: set limits\n"],
            ["                memory: \"?*\"\n", "                memory: \"?*\"\n                cpu: \"?*\"\n"],
            [
                "  - name: tags\n",
                "  - name: probes\n    match:\n      any:\n      - resources:\n          kinds:\n          - Pod\n  - name: tags\n",
            ],
            ["image: \"!*:latest\"", "image: \"!*:latest & *:*\""],
            ["  background: true\n", "  background: false\n"],
            ["  background: true\n", "  background: true\n  failurePolicy: Ignore\n"],
        ],
    },
    Edited {
        name: "flow.yaml",
        text: include_str!("pairs/flow.yaml"),
        edits: &[
            ["{app: shop, tier: front}", "{app: shop, tier: front, team: a}"],
            ["replicas: 2", "replicas: 4"],
            [
                "- {name: web, image: web:1, ports: [{containerPort: 80}]}",
                "- {name: web, image: web:2, ports: [{containerPort: 80}]}",
            ],
            [
                "- {name: web, image: web:1, ports: [{containerPort: 80}]}\n",
                "- {name: web, image: web:1, ports: [{containerPort: 80}]}\n      - {name: log, image: log:1}\n",
            ],
            ["- {name: tmp, emptyDir: {}}", "- {name: tmp, emptyDir: {medium: Memory}}"],
            ["- {name: tmp, emptyDir: {}}\n", "- {name: tmp, emptyDir: {}}\n      - { name: 'data',  emptyDir: {} }\n"],
            ["args: [\"-a\", \"-b\"]", "args: [\"-a\", \"-b\", \"-c\"]"],
            ["args: [\"-a\", \"-b\"]", "args: [\"-x\", \"-b\"]"],
            ["policyTypes: [Ingress]", "policyTypes: [Ingress, Egress]"],
            [
                "  - from: [{podSelector: {matchLabels: {app: shop}}}]\n",
                "  - from: [{podSelector: {matchLabels: {app: web}}}]\n",
            ],
        ],
    },
    Edited {
        name: "kyaml.yaml",
        text: include_str!("pairs/kyaml.yaml"),
        edits: &[
            ["    replicas: 2,\n", "    replicas: 4,\n"],
            ["      app: \"shop\",\n", "      app: \"shop\",\n      team: \"a\",\n"],
            ["          image: \"web:1\",\n", "          image: \"web:2\",\n"],
            ["            value: \"info\",\n          }],\n", "            value: \"debug\",\n          }],\n"],
            [
                "            value: \"info\",\n          }],\n",
                "            value: \"info\",\n          }, {\n            name: \"COLOR\",\n            value: \"1\",\n          }],\n",
            ],
            ["    paused: false,\n", "    # for now\n    paused: true,\n"],
            ["    paused: false,\n", ""],
            ["    paused: false,\n", "    paused: false,\n    minReadySeconds: 5,\n"],
        ],
    },
];

/// A file of a package after an edit.
fn after(file: &Edited, [from, to]: [&str; 2]) -> String {
    assert_eq!(file.text.matches(from).count(), 1, "{}: {from:?}", file.name);
    file.text.replacen(from, to, 1)
}

/// git's merge of the lines, if it is clean.
fn of_git(folder: &Folder, [original, updated, dest]: [&str; 3]) -> Option<String> {
    for (name, text) in [("o", original), ("u", updated), ("d", dest)] {
        folder.write(name, text);
    }
    let ran =
        Command::new("git").args(["merge-file", "-p", "d", "o", "u"]).current_dir(&folder.0).output().expect("git");
    ran.status.success().then(|| String::from_utf8(ran.stdout).expect("UTF-8"))
}

/// What the driver makes of a file, if it is clean.
fn of_driver(folder: &Folder, name: &str) -> Option<String> {
    folder.write("ours", folder.read("d"));
    let ran = Command::new(PLUGIN).args(["git-driver", "o", "ours", "u", name]).current_dir(&folder.0).output();
    ran.expect("the driver").status.success().then(|| folder.read("ours"))
}

#[test]
fn what_git_merges_comes_out_as_git_has_it() {
    if !has("git") {
        return;
    }
    let (folder, mut gains, mut wrong) = (Folder::in_memory(), 0, Vec::new());
    for file in &FILES {
        for (i, upstream) in file.edits.iter().enumerate() {
            for (_, team) in file.edits.iter().enumerate().filter(|(j, _)| *j != i) {
                let [updated, dest] = [upstream, team].map(|edit| after(file, *edit));
                let git = of_git(&folder, [file.text, &updated, &dest]);
                let driver = of_driver(&folder, file.name);
                for (side, text) in [("v1", file.text), ("v2", &updated), ("here", &dest)] {
                    folder.write(&format!("{side}/{}", file.name), text);
                }
                let args = "three-way --original v1 --updated v2 --dest here --in-place".split(' ');
                let run = || folder.run(&args.clone().collect::<Vec<_>>());
                let (ran, out) = (run(), folder.read(&format!("here/{}", file.name)));
                let mut counts =
                    ran.stdout.lines().filter(|line| line.ends_with(" conflict") || line.ends_with(" conflicts"));
                let is_clean = ran.code == Some(0) && counts.all(|line| line.ends_with("; 0 conflicts"));
                gains += usize::from(git.is_none() && is_clean);
                let again = (run().code, folder.read(&format!("here/{}", file.name)));
                let faults = [
                    (git.is_some() && !is_clean, "a conflict"),
                    (git.as_ref().is_some_and(|git| *git != out), "not as git"),
                    (git.is_some() && driver != git, "the driver is not as git"),
                    (again != (ran.code, out.clone()), "a second run changes something"),
                ];
                let found = faults.into_iter().filter(|(is_found, _)| *is_found);
                wrong.extend(found.map(|(_, fault)| format!("{fault}: {}: {upstream:?} | {team:?}", file.name)));
            }
        }
    }
    assert!(wrong.is_empty(), "{}\n{}", wrong.len(), wrong.join("\n"));
    assert!(gains > 30, "{gains} pairs that git leaves to a person");
}
