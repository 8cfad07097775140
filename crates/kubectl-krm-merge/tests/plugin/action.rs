//! The scripts of the action, as a runner starts them, and the actions that the workflows of this repository use.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use krm_yaml::{Document, NodeRef};

use crate::server::Server;
use crate::support::{Folder, PLUGIN, Ran, has, map, root};
use crate::upgrade::registry;
use crate::upgrade::repository::{Upstream, commit, git};

fn file(path: &str) -> Document<'static> {
    let text = fs::read_to_string(root().join(path)).expect(path);
    Document::parse(text).expect("YAML")
}

fn text<'d>(node: NodeRef<'d>, path: &[&str]) -> &'d str {
    node.at(path).map(NodeRef::string).unwrap_or_default()
}

/// Runs the step with this name in a workspace, with the inputs in the environment, as the action sets it.
fn step(name: &str, workspace: &Folder, inputs: &[(&str, &str)]) -> Ran {
    step_at(name, workspace, &workspace.0, inputs)
}

/// The same, in a folder of the workspace. Programs in its `bin` come first.
fn step_at(name: &str, workspace: &Folder, at: &Path, inputs: &[(&str, &str)]) -> Ran {
    let action = file("action.yml");
    let root = action.roots().next().expect("a map");
    let steps = root.at(&["runs", "steps"]).expect("steps");
    let step = steps.elements().find(|step| text(*step, &["name"]) == name).expect(name);
    let mut bash = Command::new("bash");
    bash.args(["--noprofile", "--norc", "-eo", "pipefail", "-c", text(step, &["run"])]).current_dir(at);
    environment(&mut bash, workspace);
    bash.env("GITHUB_STEP_SUMMARY", workspace.path("summary")).env("GITHUB_OUTPUT", workspace.path("output"));
    bash.env("GITHUB_ACTION_PATH", crate::support::root()).env("GITHUB_PATH", workspace.path("path"));
    bash.env("KRM_MERGE_FROM", format!("file://{}", workspace.path("release").display()));
    for (key, value) in step.get("env").into_iter().flat_map(NodeRef::entries) {
        let value = value.string();
        let of_runner = value.strip_prefix("${{ ").and_then(|rest| rest.strip_suffix(" }}"));
        let input = of_runner.map(|name| name.strip_prefix("inputs.").unwrap_or(name));
        let given = input.map_or(value, |input| {
            let default = text(root, &["inputs", input, "default"]);
            inputs.iter().find(|(name, _)| *name == input).map_or(default, |(_, given)| given)
        });
        bash.env(key.string(), given);
    }
    Ran::of(bash.output().expect("bash"))
}

/// The programs, the cache and the configuration of git that a workspace has.
fn environment(command: &mut Command, workspace: &Folder) {
    let plugin = PathBuf::from(PLUGIN).parent().expect("a folder").to_owned();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let first = [workspace.path("bin"), plugin];
    let path = std::env::join_paths(first.into_iter().chain(std::env::split_paths(&path))).expect("a PATH");
    command.env("PATH", path).env("XDG_CACHE_HOME", workspace.path(".cache")).env("GIT_CONFIG_GLOBAL", "/dev/null");
}

const SIDES: [(&str, &str); 3] = [("original", "v1"), ("updated", "v2"), ("dest", "here")];

fn package() -> Folder {
    let folder = Folder::new();
    for (side, x) in [("v1", "'1'"), ("v2", "'2'"), ("here", "'3'")] {
        folder.write(&format!("{side}/c.yaml"), map("c", &[("x", x)]));
    }
    folder
}

fn check(inputs: &[(&str, &str)]) -> Ran {
    step("Check the inputs", &Folder::new(), inputs)
}

#[test]
fn the_action_takes_true_and_false_alone() {
    if !has("bash") {
        return;
    }
    let check = |value: &str| check(&[&[("fail-on-conflict", value)], &SIDES[..]].concat());
    for value in ["true", "false"] {
        assert_eq!(check(value).passed(), "");
    }
    for value in ["True", "yes", "", "1", "false ", "true\nfalse", "\n::warning::x"] {
        let ran = check(value);
        let want = "::error title=krm-merge::`fail-on-conflict` must be `true` or `false`, not ";
        assert!(ran.code == Some(1) && ran.stdout.starts_with(want), "{ran:?}");
        assert_eq!(ran.stdout.lines().count(), 1, "{ran:?}");
    }
}

#[test]
fn the_action_installs_a_release_whose_checksums_are_right() {
    if !["bash", "curl", "tar", "sha256sum"].into_iter().all(has) {
        return;
    }
    let workspace = Folder::new();
    fs::create_dir(workspace.path("release")).expect("made");
    let platform = if cfg!(target_arch = "aarch64") { "linux-arm64" } else { "linux-amd64" };
    workspace.write("krm-merge", "#!/bin/sh\necho released\n");
    let tar = format!(
        "chmod +x krm-merge && ln -s krm-merge kubectl-krm_merge && tar -czf release/krm-merge-{platform}.tar.gz krm-merge kubectl-krm_merge"
    );
    assert!(Command::new("sh").args(["-c", &tar]).current_dir(&workspace.0).status().expect("sh").success());
    let sum = "cd release && sha256sum -- *.tar.gz >checksums.txt";
    assert!(Command::new("sh").args(["-c", sum]).current_dir(&workspace.0).status().expect("sh").success());
    step("Install the plugin", &workspace, &[]).passed();
    let bin = PathBuf::from(workspace.read("path").trim());
    let told = Command::new(bin.join("kubectl-krm_merge")).output().expect("the installed program").stdout;
    assert_eq!(told, b"released\n");
    fs::remove_dir_all(bin).expect("removed");
    let sums = workspace.read("release/checksums.txt");
    workspace.write("release/checksums.txt", sums.replace(&sums[..8], "00000000"));
    fs::remove_file(workspace.path("path")).expect("removed");
    let ran = step("Install the plugin", &workspace, &[]);
    assert!(ran.code != Some(0) && ran.stderr.contains("nothing was installed"), "{ran:?}");
    assert!(!workspace.path("path").exists());
}

#[test]
fn the_action_either_upgrades_or_checks() {
    if !has("bash") {
        return;
    }
    let [original, updated, dest] = SIDES;
    for good in
        [&[("upgrade", ".")][..], &[("upgrade", "apps\nweb"), ("group", "upstream")], &[("review", "true")], &SIDES]
    {
        assert_eq!(check(good).passed(), "");
    }
    for (wrong, want) in [
        (&[][..], "there must be either `upgrade`"),
        (&[original, updated], "there must be either `upgrade`"),
        (&[("upgrade", "."), dest], "`upgrade` must stand without"),
        (&[("upgrade", "."), ("config", "rules.yaml")], "`upgrade` must stand without"),
        (&[("upgrade", "."), ("review", "true")], "`review` must stand without"),
        (&[("review", "yes")], "`review` must be `true` or `false`, not "),
        (&[("upgrade", "."), ("helm", "yes")], "`helm` must be `true` or `false`, not "),
        (&[("upgrade", "."), ("group", "repo\n::debug::x")], "`group` must be `package` or `upstream`, not "),
    ] {
        let ran = check(wrong);
        assert!(ran.code == Some(1) && ran.stdout.starts_with(&format!("::error title=krm-merge::{want}")), "{ran:?}");
        assert_eq!(ran.stdout.lines().count(), 1, "{ran:?}");
    }
    let action = file("action.yml");
    let steps = action.roots().next().and_then(|root| root.at(&["runs", "steps"])).expect("steps");
    let runs_if = |name: &str| {
        let step = steps.elements().find(|step| text(*step, &["name"]) == name).expect(name);
        text(step, &["if"]).to_owned()
    };
    assert_eq!(runs_if("Open pull requests"), "inputs.upgrade != ''");
    assert_eq!(runs_if("Merge without writing"), "inputs.upgrade == '' && inputs.review != 'true'");
    assert_eq!(runs_if("Review values"), "inputs.review == 'true'");
}

/// Stands in for GitHub's program: it keeps the comments of one pull request in a file.
const GH_OF_COMMENTS: &str = r#"#!/usr/bin/env bash
set -euo pipefail
comments=$(dirname "$0")/../comments.json
shift
while [ $# != 0 ]; do
    case $1 in
        --jq) filter=$2; shift ;;
        --method) method=$2; shift ;;
        --field) body=${2#body=@}; shift ;;
        --paginate | --silent) ;;
        *) place=$1 ;;
    esac
    shift
done
case ${method:-GET} in
    GET) [ "$place" = repos/team/fleet/issues/7/comments ] && jq -r "$filter" "$comments" ;;
    POST) [ "$place" = repos/team/fleet/issues/7/comments ] && change='. + [{id: 42, user: {type: "Bot"}, body: $b}]' ;;
    PATCH) [ "$place" = repos/team/fleet/issues/comments/42 ] && change='map(if .id == 42 then .body = $b else . end)' ;;
esac
if [ -n "${change:-}" ]; then
    if [ -e "$comments.closed" ]; then exit 1; fi
    jq --rawfile b "$body" "$change" "$comments" > "$comments.new"
    mv "$comments.new" "$comments"
fi
"#;

#[test]
fn the_action_comments_once_on_what_a_pull_request_raises() {
    if !["bash", "git", "jq"].into_iter().all(has) {
        return;
    }
    let server = Server::new();
    let chart = |version: &str, replicas: u8| {
        let files = [
            ("Chart.yaml", format!("apiVersion: v2\nname: web\nversion: {version}\n")),
            ("values.yaml", format!("replicas: {replicas}\n")),
            ("templates/web.yaml", "replicas: {{ .Values.replicas }}\n".to_owned()),
        ];
        files.map(|(path, text)| (path.to_owned(), text)).to_vec()
    };
    let versions = [("1.0.0", chart("1.0.0", 1)), ("1.1.0", chart("1.1.0", 3)), ("1.2.0", chart("1.2.0", 2))];
    server.index(&versions.each_ref().map(|(version, files)| (*version, &files[..])));
    let workspace = Folder::new();
    workspace.write("bin/gh", GH_OF_COMMENTS);
    crate::run::executable(&workspace.path("bin/gh"));
    workspace.write("comments.json", r#"[{"id": 1, "user": {"type": "User"}, "body": "<!-- krm-merge review -->"}]"#);
    let charts = |version: &str| {
        format!(
            "helmCharts:\n- name: web\n  repo: {}\n  version: {version}\n  valuesInline: {{replicas: 2}}\n",
            server.url()
        )
    };
    workspace.write("fleet/kustomization.yaml", charts("1.0.0"));
    let fleet = workspace.path("fleet");
    commit(&fleet, "begin");
    let base = git(&fleet, &["rev-parse", "HEAD"]);
    let run = |given: &[(&str, &str)]| {
        let pull = [("github.event.pull_request.number", "7"), ("github.repository", "team/fleet"), ("review", "true")];
        let base = [("github.event.pull_request.base.sha", base.trim())];
        step_at("Review values", &workspace, &fleet, &[given, &pull, &base].concat())
    };
    let comments = || serde_json::from_str::<serde_json::Value>(&workspace.read("comments.json")).expect("JSON");
    // Nothing is raised, so nobody is told.
    run(&[]).passed();
    assert_eq!(comments().as_array().map(Vec::len), Some(1));
    workspace.write("fleet/kustomization.yaml", charts("1.1.0"));
    run(&[]).failed(1);
    let first = comments();
    let body = first[1]["body"].as_str().expect("a comment");
    assert!(body.contains("1.0.0") && body.contains("the default changed from 1 to 3, you set 2"), "{body}");
    assert!(workspace.read("summary").contains(body), "{body}");
    // The comment of the first run is changed, also by one that finds less.
    workspace.write("fleet/kustomization.yaml", charts("1.2.0"));
    run(&[]).passed();
    let second = comments();
    let body = second[1]["body"].as_str().expect("a comment");
    assert!(body.contains("newly the same") && !body.contains("hides"), "{body}");
    assert_eq!(second.as_array().map(Vec::len), Some(2));
    // Where the job may only read, as for a fork, the summary has it, and a warning says so.
    workspace.write("comments.json.closed", "");
    workspace.write("fleet/kustomization.yaml", charts("1.1.0"));
    let ran = run(&[("fail-on-conflict", "false")]);
    assert_eq!(ran.passed(), "::warning title=krm-merge::the comment could not be changed\n");
    let ran = step_at("Review values", &workspace, &fleet, &[("github.event.pull_request.base.sha", "")]);
    assert_eq!((ran.code, &*ran.stdout), (Some(1), "::error title=krm-merge::`review` must run for a pull request\n"));
}

/// Stands in for GitHub's program: it keeps each request in a file that is named as its branch, and writes down what it changes.
const GH: &str = r#"#!/usr/bin/env bash
set -euo pipefail
folder=$(cd "$(dirname "$0")/../requests" && pwd)
command="$1 $2"
shift 2
number=
while [ $# != 0 ]; do
    case $1 in
        --head) branch=$2 ;;
        --base) base=$2 ;;
        --title) title=$2 ;;
        --body-file) body=$2 ;;
        --state | --limit | --json) ;;
        *) number=$1; shift; continue ;;
    esac
    shift 2
done
if [ -n "$number" ]; then file=$(grep -l "/pull/$number\"" "$folder"/*.json); else file=$folder/${branch//\//_}.json; fi
case $command in
    'pr list') if [ -e "$file" ]; then cat "$file"; else echo '[]'; fi ;;
    'pr create')
        number=$(($(ls "$folder" | wc -l) + 1))
        echo "create $number $branch on $base" >> "$folder/../changes"
        url=https://example.com/pull/$number
        jq -n --argjson n "$number" --arg t "$title" --rawfile b "$body" --arg u "$url" \
            '[{number: $n, state: "OPEN", title: $t, body: $b, url: $u, isCrossRepository: false}]' > "$file"
        echo "$url"
        ;;
    'pr edit')
        echo "edit $number" >> "$folder/../changes"
        jq --arg t "$title" --rawfile b "$body" '.[0].title = $t | .[0].body = $b' "$file" > "$file.new"
        mv "$file.new" "$file"
        ;;
    *) exit 1 ;;
esac
"#;

/// A repository of a team on a server, with its packages, and a clone of it as a job has it.
struct Team {
    folder: Folder,
    web: Upstream,
    db: Upstream,
}

impl Team {
    fn new() -> Self {
        let folder = Folder::new();
        let [web, db, gone] = ["web.git", "db.git", "gone.git"].map(|name| Upstream::new(&folder, name));
        for upstream in [&web, &db, &gone] {
            upstream.release(&Self::files(1), "v1");
        }
        git(&folder.0, &["init", "--quiet", "--bare", "server.git"]);
        git(&folder.0, &["clone", "--quiet", "server.git", "clone"]);
        git(&folder.path("clone"), &["switch", "--quiet", "--create", "main"]);
        for (upstream, package) in [(&web, "apps/web"), (&db, "apps/db"), (&gone, "gone")] {
            folder.run(&["get", &upstream.source("d@v1"), &format!("clone/{package}")]).passed();
        }
        fs::remove_dir_all(&gone.bare).expect("removed");
        // A value of ours, which every release of upstream changes, too.
        folder.write("clone/apps/db/c.yaml", map("c", &[("x", "ours")]));
        folder.write("clone/.gitignore", "*.log\n");
        let team = Self { folder, web, db };
        team.push();
        for place in ["bin", "requests"] {
            fs::create_dir_all(team.folder.path(place)).expect("a folder");
        }
        team.folder.write("bin/gh", GH);
        crate::run::executable(&team.folder.path("bin/gh"));
        team
    }

    /// Commits what is in the clone, and pushes it.
    fn push(&self) {
        commit(&self.folder.path("clone"), "change");
        git(&self.folder.path("clone"), &["push", "--quiet", "origin", "main"]);
    }

    /// The files of a release: each has a change, and a new file beside what the repository of the team ignores.
    fn files(number: usize) -> Vec<(String, String)> {
        let text = |name: &str| map(name, &[("x", &format!("'{number}'"))]);
        let mut files = vec![("d/c.yaml".to_owned(), text("c"))];
        if number > 1 {
            files.extend([("d/new.yaml".to_owned(), text("new")), ("d/new.log".to_owned(), "x\n".to_owned())]);
        }
        files
    }

    /// Makes a release of both upstreams.
    fn release(&self, number: usize) {
        for upstream in [&self.web, &self.db] {
            upstream.state(&Self::files(number), &format!("Set x to {number}"));
            upstream.tag(&format!("v{number}"));
        }
    }

    fn open(&self, inputs: &[(&str, &str)]) -> Ran {
        step_at("Open pull requests", &self.folder, &self.folder.path("clone"), inputs)
    }

    /// The branches of the server, each with its commit.
    fn branches(&self) -> String {
        git(
            &self.folder.path("server.git"),
            &["for-each-ref", "--format=%(refname:lstrip=2) %(objectname)", "refs/heads"],
        )
    }

    fn on_server(&self, args: &[&str]) -> String {
        git(&self.folder.path("server.git"), args)
    }

    /// What the stand-in changed since this was asked.
    fn changes(&self) -> String {
        let changes = fs::read_to_string(self.folder.path("changes")).unwrap_or_default();
        self.folder.write("changes", "");
        changes
    }
}

fn has_all() -> bool {
    ["bash", "git", "jq"].into_iter().all(has)
}

/// The files of a chart with a ConfigMap.
fn chart(version: &str) -> Vec<(String, String)> {
    let about = format!(
        "apiVersion: v2\nname: web\nversion: {version}\nappVersion: v{version}\nannotations:\n  artifacthub.io/changes: |\n    - kind: added\n      description: what {version} has\n"
    );
    [
        ("Chart.yaml", about),
        ("values.yaml", format!("x: \"{version}\"\n")),
        ("templates/c.yaml", map("c", &[("x", "{{ .Values.x }}")])),
    ]
    .map(|(path, text)| (path.to_owned(), text))
    .to_vec()
}

#[test]
fn a_request_for_a_chart_has_what_its_releases_say() {
    if !has_all() {
        return;
    }
    let (team, server) = (Team::new(), Server::new());
    let all = ["1.0.0", "1.1.0", "1.2.0"].map(|version| (version, chart(version)));
    server.index(&all.iter().map(|(version, files)| (*version, files.as_slice())).collect::<Vec<_>>());
    let folder = &team.folder;
    folder.run(&["get", &server.url(), "web@1.0.0", "clone/charts/files"]).passed();
    let mut packages = vec!["files"];
    let registry = (has("helm") && has("docker-registry")).then(|| registry::start(folder, "127.0.0.1"));
    if let Some(registry) = &registry {
        for (version, files) in &all {
            files.iter().for_each(|(path, text)| folder.write(&format!("web/{path}"), text));
            registry::helm(folder, &["package", "web"]);
            let to = format!("oci://{}/charts", registry.authority);
            registry::helm(folder, &["push", &format!("web-{version}.tgz"), &to, "--plain-http"]);
        }
        let image = format!("oci://{}/charts/web:1.0.0", registry.authority);
        folder.run(&["get", &image, "clone/charts/image"]).passed();
        folder.run(&["get", &server.url(), "web@1.0.0", "clone/charts/rendered", "--render", "web"]).passed();
        packages.push("image");
    }
    team.push();
    let ran = team.open(&[("upgrade", "charts")]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let left_out = "charts/rendered is left out, because helm renders it, which needs `KRM_MERGE_HELM=true`";
    assert_eq!(ran.stderr.contains(left_out), registry.is_some(), "{ran:?}");
    assert!(!folder.path("requests/krm-merge_charts-rendered.json").exists());
    if registry.is_some() {
        let ran = team.open(&[("upgrade", "charts"), ("helm", "true")]);
        assert!(ran.code == Some(0) && !ran.stderr.contains("left out"), "{ran:?}");
        packages.push("rendered");
        let text = team.on_server(&["show", "krm-merge/charts-rendered:charts/rendered/configmap_c.yaml"]);
        assert!(text.contains("1.2.0"), "{text}");
    }
    for package in packages {
        let request = folder.read(&format!("requests/krm-merge_charts-{package}.json"));
        for part in [
            &format!("Upgrade charts/{package} from 1.0.0 to 1.2.0"),
            "<code>appVersion</code> <code>v1.0.0</code> to <code>v1.2.0</code>",
            "<code>added</code>: <code>what 1.1.0 has</code>",
            "<code>added</code>: <code>what 1.2.0 has</code>",
        ] {
            assert!(request.contains(part), "{part}: {request}");
        }
        assert!(!request.contains("what 1.0.0 has"), "{request}");
    }
}

#[test]
fn a_package_that_is_behind_gets_one_branch_and_one_request() {
    if !has_all() {
        return;
    }
    let team = Team::new();
    let ran = team.open(&[("upgrade", "apps")]);
    assert_eq!((ran.code, team.changes()), (Some(0), String::new()), "nothing is behind: {ran:?}");
    team.release(2);
    let ran = team.open(&[("upgrade", ".")]);
    // One upstream is gone, which stops no other package, and is told.
    assert_eq!(ran.code, Some(2), "{ran:?}");
    let obeyed_lines = obeyed(&ran.stdout);
    assert_eq!(obeyed_lines.len(), 2, "{ran:?}");
    assert!(obeyed_lines.iter().any(|line| line.starts_with("::error title=krm-merge::gone: ")), "{ran:?}");
    assert!(obeyed_lines.iter().any(|line| line.starts_with("::error file=apps/db/c.yaml,line=")), "{ran:?}");
    let created = "create 1 krm-merge/apps-db on main\ncreate 2 krm-merge/apps-web on main\n";
    assert_eq!(team.changes(), created, "{ran:?}");
    let files = team.on_server(&["diff", "--name-status", "main", "krm-merge/apps-web"]);
    let want = ["M\tapps/web/.krm-merge.yaml", "M\tapps/web/c.yaml", "A\tapps/web/new.log", "A\tapps/web/new.yaml"];
    assert_eq!(files.lines().collect::<Vec<_>>(), want);
    assert!(team.on_server(&["show", "krm-merge/apps-db:apps/db/c.yaml"]).contains("<<<<<<< "));
    let request = team.folder.read("requests/krm-merge_apps-web.json");
    for part in ["Upgrade apps/web from v1 to v2", "`v1` to `v2`", "Set x to 2"] {
        assert!(request.contains(part), "{part}: {request}");
    }
    assert!(!request.contains("Set x to 3") && !request.contains("apps/db"), "{request}");
    let pages = team.folder.read("output");
    let pages = pages.lines().last().and_then(|line| line.strip_prefix("pages=")).expect("a folder");
    for page in ["apps-web.html", "apps-db.html"] {
        assert!(fs::read_to_string(Path::new(pages).join(page)).expect(page).contains("</html>"), "{page}");
    }
    // The clone is as it was.
    assert_eq!(git(&team.folder.path("clone"), &["status", "--porcelain", "--ignored"]), "");

    let (branches, requests) = (team.branches(), team.folder.files("requests"));
    assert_eq!(team.open(&[("upgrade", ".")]).code, Some(2));
    assert_eq!((team.branches(), team.folder.files("requests")), (branches.clone(), requests));
    assert_eq!(team.changes(), "");

    team.release(3);
    assert_eq!(team.open(&[("upgrade", "apps")]).code, Some(1), "a conflict fails the job");
    assert_eq!(team.open(&[("upgrade", "apps"), ("fail-on-conflict", "false")]).code, Some(0));
    assert_eq!(team.changes(), "edit 1\nedit 2\n");
    let request = team.folder.read("requests/krm-merge_apps-web.json");
    assert!(request.contains("Upgrade apps/web from v1 to v3") && request.contains("Set x to 3"), "{request}");
    let [old, new] = [branches, team.branches()];
    let names =
        |all: &str| all.lines().map(|line| line.split(' ').next().unwrap_or_default().to_owned()).collect::<Vec<_>>();
    assert_eq!(names(&new), names(&old));
    assert_eq!(team.on_server(&["rev-list", "--count", "main..krm-merge/apps-web"]), "1");

    // The branch follows its base, and the text stays.
    team.folder.write("clone/README", "x");
    team.push();
    assert_eq!(team.open(&[("upgrade", "apps/web")]).code, Some(0));
    let [base, parent] = ["main", "krm-merge/apps-web^"].map(|name| team.on_server(&["rev-parse", name]));
    assert_eq!((parent, team.changes()), (base, String::new()));
}

#[test]
fn what_someone_committed_on_a_branch_or_closed_stays() {
    if !has_all() {
        return;
    }
    let team = Team::new();
    team.release(2);
    team.open(&[("upgrade", "apps"), ("fail-on-conflict", "false")]).passed();
    team.changes();
    git(&team.folder.0, &["clone", "--quiet", "--branch", "krm-merge/apps-db", "server.git", "person"]);
    team.folder.write("person/apps/db/c.yaml", map("c", &[("x", "decided")]));
    // The message, the name and the address may be those of the bot: the files are not.
    let person = team.folder.path("person");
    let message = git(&person, &["log", "-1", "--format=%B"]);
    let names = ["-c", "user.name=krm-merge", "-c", "user.email=krm-merge@localhost"];
    git(&person, &[&names[..], &["commit", "--quiet", "--all", "-m", &message]].concat());
    git(&team.folder.path("person"), &["push", "--quiet"]);
    let request = "requests/krm-merge_apps-web.json";
    team.folder.write(request, team.folder.read(request).replace("OPEN", "CLOSED"));
    let branches = team.branches();
    let ran = team.open(&[("upgrade", "apps"), ("fail-on-conflict", "false")]);
    assert!(ran.stderr.contains("krm-merge/apps-db stays as it is"), "{ran:?}");
    assert_eq!((ran.code, team.branches(), team.changes()), (Some(0), branches, String::new()));
    // Its conflicts are decided, so they fail no job.
    let ran = team.open(&[("upgrade", "apps/db")]);
    assert!(ran.code == Some(0) && !ran.stderr.contains("conflict"), "{ran:?}");
    // The next release is another question.
    team.release(3);
    team.open(&[("upgrade", "apps"), ("fail-on-conflict", "false")]).passed();
    assert!(team.on_server(&["show", "krm-merge/apps-db:apps/db/c.yaml"]).contains("decided"));
    assert_eq!(team.changes(), "create 3 krm-merge/apps-web on main\n");
}

#[test]
fn a_branch_that_someone_deleted_stays_deleted_until_the_next_release() {
    if !has_all() {
        return;
    }
    let team = Team::new();
    team.release(2);
    team.open(&[("upgrade", "apps/web")]).passed();
    team.on_server(&["update-ref", "-d", "refs/heads/krm-merge/apps-web"]);
    team.changes();
    let ran = team.open(&[("upgrade", "apps/web")]);
    assert!(ran.code == Some(0) && !team.branches().contains("apps-web"), "{ran:?}");
    assert_eq!(team.changes(), "");
    team.release(3);
    team.open(&[("upgrade", "apps/web")]).passed();
    assert!(team.branches().contains("krm-merge/apps-web"));
}

#[test]
fn a_host_that_fails_is_no_conflict() {
    if !has_all() {
        return;
    }
    let team = Team::new();
    team.release(2);
    team.folder.write("bin/gh", "#!/bin/sh\necho 'HTTP 401: Bad credentials' >&2\nexit 1\n");
    crate::run::executable(&team.folder.path("bin/gh"));
    let ran = team.open(&[("upgrade", "apps/web"), ("fail-on-conflict", "false")]);
    let want = "krm-merge: error: apps/web: the request of the branch krm-merge/apps-web cannot be made\n  HTTP 401: Bad credentials\n";
    assert!(ran.code == Some(2) && ran.stderr.contains(want), "{ran:?}");
    assert_eq!(ran.stderr.matches("HTTP 401").count(), 1, "{ran:?}");
}

/// A `glab` that answers as GitLab's interface for merge requests does. It keeps them in a file, the newest first.
const GLAB: &str = r#"#!/usr/bin/env bash
set -euo pipefail
[ -f all ] || echo '[]' >all
[ "$1" = api ]
case "$*" in
"api projects/:id/merge_requests?source_branch=krm-merge%2Fa&target_branch=main&state=all&"*) cat all ;;
"api --method POST projects/:id/merge_requests --header Content-Type: application/json --input -")
    jq --slurpfile new /dev/stdin '[$new[0] + {iid: (length + 1), state: "opened", source_project_id: 1, target_project_id: 1, web_url: "u\(length + 1)"}] + .' all >new
    mv new all
    jq '.[0]' all ;;
"api --method PUT projects/:id/merge_requests/"*)
    iid=${4##*/}
    jq --argjson iid "$iid" --slurpfile new /dev/stdin 'map(if .iid == $iid then . + $new[0] else . end)' all >new
    mv new all
    jq --argjson iid "$iid" 'map(select(.iid == $iid))[0]' all ;;
*) echo "no such call: $*" >&2; exit 1 ;;
esac
"#;

#[test]
fn gitlab_gets_requests_as_github_does() {
    if !has_all() {
        return;
    }
    let folder = Folder::with(&[("bin/glab", GLAB), ("text", "@all \\\"x\"\n")]);
    crate::run::executable(&folder.path("bin/glab"));
    let ask = |title: &str| {
        let mut bash = Command::new("bash");
        bash.arg(root().join("bots/forge-gitlab")).args(["krm-merge/a", "main", title, "text"]).current_dir(&folder.0);
        environment(&mut bash, &folder);
        Ran::of(bash.output().expect("bash")).passed()
    };
    let all = || serde_json::from_str::<serde_json::Value>(&folder.read("all")).expect("JSON");
    assert_eq!(ask("one"), "u1\n");
    assert_eq!(all()[0]["description"], "@all \\\"x\"\n");
    assert_eq!(ask("one"), "u1\n");
    // A draft stays a draft.
    folder.write("all", folder.read("all").replace("\"one\"", "\"Draft: one\""));
    assert_eq!(ask("two"), "u1\n");
    assert_eq!(all()[0]["title"], "Draft: two");
    // A closed request stays closed until the title changes.
    folder.write("all", folder.read("all").replace("opened", "closed"));
    assert_eq!(ask("two"), "u1, which is closed\n");
    assert_eq!(ask("three"), "u2\n");
    // A request of a fork is someone else's.
    folder.write("all", folder.read("all").replace("\"source_project_id\": 1", "\"source_project_id\": 7"));
    assert_eq!(ask("three"), "u3\n");
}

#[test]
fn a_package_on_a_branch_goes_from_commit_to_commit() {
    if !has_all() {
        return;
    }
    let team = Team::new();
    team.folder.run(&["get", &team.web.source("d@main"), "clone/next"]).passed();
    team.push();
    assert_eq!(team.open(&[("upgrade", "next")]).code, Some(0));
    assert_eq!(team.changes(), "");
    for number in [2, 3] {
        let new = team.web.state(&Team::files(number), &format!("Set x to {number}"));
        assert_eq!(team.open(&[("upgrade", "next")]).code, Some(0));
        let request = team.folder.read("requests/krm-merge_next.json");
        assert!(request.contains(&format!("to main at {}\"", &new[..8])), "{request}");
    }
    assert_eq!(team.changes(), "create 1 krm-merge/next on main\nedit 1\n");
}

#[test]
fn a_bot_runs_nothing_of_a_repository_and_upgrades_no_pull_request() {
    if !has_all() {
        return;
    }
    let team = Team::new();
    let command = "apiVersion: krm-merge.dev/v1alpha1\nkind: Merge\nmetadata:\n  name: package\nspec:\n  mode: ThreeWay\n  \
                   upstream:\n    run: [bash, -c, \"touch RAN\"]\n    ref: v2\n  upstreamLock:\n    ref: v1\n    sha256: HASH\n";
    let command = command.replace("RAN", &team.folder.path("ran").to_string_lossy()).replace("HASH", &"a1".repeat(32));
    team.folder.write("clone/chart/.krm-merge.yaml", command);
    let hook = team.folder.path("clone/.git/hooks/post-checkout");
    team.folder.write("clone/.git/hooks/post-checkout", format!("#!/bin/sh\ntouch {:?}\n", team.folder.path("ran")));
    crate::run::executable(&hook);
    team.push();
    team.release(2);
    // A request of a fork, whose branch has the name of the bot's.
    let fork = r#"[{"number": 9, "state": "OPEN", "title": "x", "body": "", "url": "x", "isCrossRepository": true}]"#;
    team.folder.write("requests/krm-merge_apps-web.json", fork);
    let ran = team.open(&[("upgrade", "chart\napps/web")]);
    assert!(ran.code == Some(0) && ran.stderr.contains("chart is left out"), "{ran:?}");
    assert_eq!(team.changes(), "create 2 krm-merge/apps-web on main\n");
    assert!(!team.folder.path("ran").exists());
    // A runner checks out the merge of a pull request without a branch.
    git(&team.folder.path("clone"), &["-c", "core.hooksPath=/dev/null", "switch", "--quiet", "--detach"]);
    let branches = team.branches();
    let ran = team.open(&[("upgrade", ".")]);
    assert!(ran.code == Some(2) && ran.stderr.contains("a branch must be checked out"), "{ran:?}");
    for outside in ["/", "..", "apps/../../person"] {
        git(&team.folder.path("clone"), &["-c", "core.hooksPath=/dev/null", "switch", "--quiet", "main"]);
        let ran = team.open(&[("upgrade", outside)]);
        assert!(ran.code == Some(2) && ran.stderr.contains("by its path in the repository"), "{ran:?}");
    }
    assert_eq!(team.branches(), branches);
}

#[test]
fn packages_of_one_upstream_may_share_a_request_of_another_host() {
    if !has_all() {
        return;
    }
    let team = Team::new();
    team.folder.run(&["get", &team.web.source("d@v1"), "clone/apps-web"]).passed();
    team.push();
    team.release(2);
    team.folder.write(
        "bin/host",
        "#!/usr/bin/env bash\nprintf '%s\\n' \"$1\" \"$2\" \"$3\" >> \"$TOLD\"\ncat \"$4\" >> \"$TOLD\"\n",
    );
    crate::run::executable(&team.folder.path("bin/host"));
    let open = |group: &str, folders: &[&str]| {
        let mut bash = Command::new("bash");
        bash.arg(root().join("bots/upgrade-pull-requests")).args(folders).current_dir(team.folder.path("clone"));
        environment(&mut bash, &team.folder);
        bash.env("KRM_MERGE_GROUP", group).env("KRM_MERGE_FORGE", "host").env("TOLD", team.folder.path("told"));
        Ran::of(bash.output().expect("bash"))
    };
    open("upstream", &["apps", "apps-web"]);
    let told = team.folder.read("told");
    let titles: Vec<&str> = told.lines().filter(|line| line.starts_with("Upgrade ")).collect();
    assert!(titles.len() == 2 && titles.contains(&"Upgrade apps-web from v1 to v2, apps/web from v1 to v2"), "{told}");
    let branches = team.branches();
    assert_eq!(branches.lines().filter(|line| line.starts_with("krm-merge/")).count(), 2, "{branches}");
    let branch = branches.lines().find(|line| line.contains("web")).and_then(|line| line.split(' ').next());
    let files = team.on_server(&["diff", "--name-only", "main", branch.expect("a branch")]);
    assert!(["apps/web/new.yaml", "apps-web/new.yaml"].iter().all(|file| files.contains(file)), "{files}");
    // Two packages whose branches would have one name get two.
    open("package", &["apps-web", "apps/web"]);
    let branches = team.branches();
    assert_eq!(branches.lines().filter(|line| line.starts_with("krm-merge/apps-web-")).count(), 2, "{branches}");
}

#[test]
fn a_pod_of_the_fleet_upgrades_its_repository() {
    if !has_all() {
        return;
    }
    let team = Team::new();
    team.release(2);
    git(&team.folder.path("server.git"), &["symbolic-ref", "HEAD", "refs/heads/main"]);
    let manifests = root().join("bots/fleet");
    let manifests = manifests.to_str().expect("UTF-8");
    // The program reads them, and finds nothing to change.
    let sides = ["--original", manifests, "--updated", manifests, "--dest", manifests, "-o", "name"];
    assert_eq!(team.folder.run(&[&["three-way", "--dry-run"], &sides[..]].concat()).passed(), "");
    let job = file("bots/fleet/cronjob.yaml");
    let pod = job.roots().next().and_then(|root| root.at(&["spec", "jobTemplate", "spec", "template", "spec"]));
    let container = pod.and_then(|pod| pod.get("containers")).and_then(|all| all.elements().next()).expect("a pod");
    let command: Vec<&str> = container.get("command").expect("a command").elements().map(NodeRef::string).collect();
    let lists = team.folder.path("fleet");
    team.folder.write("fleet/repositories", format!("/no/such\nfile://{}\n", team.folder.path("server.git").display()));
    let run = |index: &str| {
        let script = command[2].replace("/bots/", &format!("{}/bots/", root().display()));
        let mut pod = Command::new(command[0]);
        pod.args([command[1], &script.replace("/fleet/", &format!("{}/", lists.display()))]).current_dir(&lists);
        environment(&mut pod, &team.folder);
        Ran::of(pod.env("JOB_COMPLETION_INDEX", index).output().expect("bash"))
    };
    assert_eq!(run("0").code, Some(2), "no such repository");
    // One upstream is gone, which is told at the end.
    assert_eq!(run("1").code, Some(2));
    assert_eq!(team.changes(), "create 1 krm-merge/apps-db on main\ncreate 2 krm-merge/apps-web on main\n");
}

#[test]
fn the_action_fails_where_it_should() {
    if !has("bash") {
        return;
    }
    let merge = |more: &[(&str, &str)]| {
        let folder = package();
        let ran = step("Merge without writing", &folder, &[more, &SIDES].concat());
        assert_eq!(folder.read("here/c.yaml"), map("c", &[("x", "'3'")]));
        (ran.code, ran.stdout, folder.read("summary"))
    };
    for (given, code) in [("true", 1), ("false", 0)] {
        let (ended, out, summary) = merge(&[("fail-on-conflict", given)]);
        assert_eq!(ended, Some(code), "{out}");
        assert!(out.contains("::warning file=here/c.yaml,line=") && summary.contains("data.x"), "{out}{summary}");
    }
    // Whatever becomes of conflicts, a side that is not there is an error.
    for wrong in [("original", "no such\nfolder"), ("updated", "v3"), ("dest", "there"), ("config", "none.yaml")] {
        let (ended, out, _) = merge(&[wrong, ("fail-on-conflict", "false")]);
        assert_eq!(ended, Some(2), "{out}");
        let obeyed = obeyed(&out);
        assert!(obeyed.len() == 1 && obeyed[0].starts_with("::error title=krm-merge::"), "{out}");
    }
}

/// The lines that GitHub's runner obeys, of all that a step prints. Source: `ActionCommandManager` and `ActionCommand` of
/// github.com/actions/runner.
fn obeyed(printed: &str) -> Vec<&str> {
    let (mut all, mut stopped) = (Vec::new(), None);
    for line in printed.lines() {
        let command = line.trim_start().strip_prefix("::").and_then(|rest| rest.split_once("::"));
        let is_old = line.find("##[").is_some_and(|at| line[at..].contains(']'));
        match (stopped, command) {
            (Some(token), Some((name, ""))) if name == token => stopped = None,
            (Some(_), _) => {}
            (None, Some(("stop-commands", token))) => stopped = Some(token),
            (None, Some(_)) => all.push(line),
            (None, None) if is_old => all.push(line),
            (None, None) => {}
        }
    }
    all
}

/// Names and values of upstream that a runner would obey.
const COMMANDS: [&str; 4] =
    ["##[stop-commands]x", "##vso[task.complete]x", "::stop-commands::x", "  ::error::x\n::add-mask::a"];

#[test]
fn no_text_of_upstream_is_a_command() {
    if !has("bash") {
        return;
    }
    for command in COMMANDS {
        let folder = package();
        for (side, x) in [("v1", 1), ("v2", 2), ("here", 3)] {
            let value = format!("{:?}", format!("{command}{x}"));
            let map =
                map("c", &[("x", &value)]).replace("data:", &format!("# {command}{x}\ndata:").replace("\n::", "::"));
            folder.write(&format!("{side}/c.yaml"), map);
        }
        let name = command.replace('\n', "");
        folder.write(&format!("v2/{name}.yaml"), format!("{{ \"{command}"));
        folder.write(&format!("v2/{name}.txt"), "new");
        let printed = |ran: &Ran| ran.stdout.clone() + &ran.stderr;
        for policy in ["take-updated", "fail"] {
            let sides = ["three-way", "--original", "v1", "--updated", "v2", "--dest", "here", "--on-conflict", policy];
            let told = folder.run(&[&sides[..], &["-o", "github"]].concat());
            let all = printed(&told);
            let lines = obeyed(&all);
            assert!(lines.iter().all(|line| line.starts_with("::warning ") || line.starts_with("::error ")), "{all}");
            assert!(lines.len() >= 2 && !all.contains("##[") && !all.contains("##vso["), "{all}");
            // What is said as a command is not said again.
            assert!(!told.stderr.contains("warning: ") && !told.stderr.contains("error: "), "{all}");
            let told = folder.run(&[&sides[..], &["--dry-run", "-o", "name"]].concat());
            assert_eq!(obeyed(&printed(&told)), Vec::<&str>::new());
        }
        let ran = step("Merge without writing", &folder, &SIDES);
        let all = printed(&ran);
        let lines = obeyed(&all);
        assert!(lines.len() >= 2 && lines.iter().all(|line| line.starts_with("::warning ")), "{all}");
    }
}

#[test]
fn an_error_is_said_once() {
    let ran = package().run(&["three-way", "--original", "v1", "--updated", "none", "--dest", "here", "-o", "github"]);
    assert_eq!((ran.code, &*ran.stderr), (Some(2), ""), "{ran:?}");
    assert!(ran.stdout.starts_with("::error title=krm-merge::") && ran.stdout.lines().count() == 1, "{ran:?}");
}

/// The workspace is that of a pull request: what stands in it must not say what cargo is.
#[test]
fn the_action_builds_in_its_own_folder() {
    let action = file("action.yml");
    let steps = action.roots().next().and_then(|root| root.at(&["runs", "steps"])).expect("steps");
    let cargo: Vec<_> = steps.elements().filter(|step| text(*step, &["run"]).contains("cargo")).collect();
    assert!(!cargo.is_empty());
    for step in cargo {
        assert_eq!(text(step, &["working-directory"]), "${{ github.action_path }}");
    }
}

#[test]
fn workflows_pin_actions_and_keep_no_credentials() {
    let mut checked = 0;
    for path in [".github/workflows/ci.yml", ".github/workflows/release.yml"] {
        let workflow = file(path);
        let jobs = workflow.roots().next().and_then(|root| root.get("jobs")).expect("jobs");
        let steps = jobs.entries().filter_map(|(_, job)| job.get("steps")).flat_map(NodeRef::elements);
        for step in steps.filter(|step| step.get("uses").is_some()) {
            let uses = text(step, &["uses"]);
            let (action, commit) = uses.split_once('@').expect("a version");
            assert!(commit.len() == 40 && commit.bytes().all(|b| b.is_ascii_hexdigit()), "{path}: {uses}");
            let line = workflow.source().lines().find(|line| line.contains(uses)).expect("a line");
            assert!(line.contains(" # v"), "{path}: {line}");
            if action == "actions/checkout" {
                assert_eq!(text(step, &["with", "persist-credentials"]), "false", "{path}");
            }
            checked += 1;
        }
    }
    assert!(checked > 10, "{checked}");
}
