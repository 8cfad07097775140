//! One program under two names: `krm-merge` is the function, and with a command what `kubectl krm-merge` is.

use std::fs;
use std::io::Write;
use std::process::{Command, Stdio};

use crate::function;
use crate::run::root;
use crate::support::{Folder, Ran, map};
use crate::upgrade::repository::{Upstream, commit, git};

/// Runs `krm-merge` by this path in a folder.
fn run_as(program: &std::path::Path, folder: &Folder, args: &[&str], stdin: &str) -> Ran {
    let mut command = Command::new(program);
    command.args(args).current_dir(&folder.0).env("XDG_CACHE_HOME", folder.path(".cache"));
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it runs");
    // Who prints help does not read.
    let _ = child.stdin.take().expect("piped").write_all(stdin.as_bytes());
    Ran::of(child.wait_with_output().expect("it ends"))
}

fn krm_merge(folder: &Folder, args: &[&str], stdin: &str) -> Ran {
    run_as(function::program().as_ref(), folder, args, stdin)
}

#[test]
fn without_a_command_it_is_the_function() {
    let folder = Folder::new();
    let list = fs::read_to_string(root().join("examples/merge-two-way/resource-list.yaml")).expect("an example");
    let (config, items) = ("merge.yaml", map("a", &[("v", "'1'")]));
    folder.write(
        config,
        "apiVersion: krm-merge.dev/v1alpha1\nkind: Merge\nmetadata: {name: m}\nspec:\n  mode: TwoWay\n  source:\n  - resources:\n    - {apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {v: '2'}}\n",
    );
    for (stdin, code) in [(list.as_str(), 0), ("", 1), ("no list", 1), ("a: [", 1)] {
        let want = krm_merge_function::run(stdin);
        let ran = krm_merge(&folder, &[], stdin);
        assert_eq!((ran.code, &ran.stdout), (Some(code), &want.stdout), "{stdin}: {ran:?}");
        assert_eq!(ran.stderr, want.stderr.iter().map(|line| format!("{line}\n")).collect::<String>(), "{stdin}");
    }
    let merged = krm_merge(&folder, &[config], &items).passed();
    assert_eq!(merged, items.replace("'1'", "'2'"));
    // kustomize's legacy plugin is a link with another name.
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(function::program(), folder.path("Merge")).expect("a link");
        let path = folder.path(config);
        assert_eq!(run_as(&folder.path("Merge"), &folder, &[&path.to_string_lossy()], &items).passed(), merged);
        assert_eq!(run_as(&folder.path("Merge"), &folder, &[], &list).code, Some(0));
    }
    let told = krm_merge(&folder, &["gone.yaml"], &items).failed(1);
    assert!(told.contains("not \"gone.yaml\"; to merge files, name a command, such as `krm-merge upgrade"), "{told}");
    // As kubectl's plugin it is no function.
    let told = folder.run_with(&list, &[]).failed(2);
    assert!(told.contains("Usage: kubectl krm-merge"), "{told}");
}

#[test]
fn with_a_command_it_names_itself_as_it_was_called() {
    let folder = Folder::new();
    let upstream = Upstream::new(&folder, "up.git");
    for value in ["1", "2"] {
        upstream.release(&[("p/a.yaml".to_owned(), map("a", &[("v", &format!("'{value}'"))]))], &format!("v{value}"));
    }
    // A file with the name of a command is no functionConfig.
    folder.write("upgrade", "x");
    let told = krm_merge(&folder, &["get", &upstream.source("p@v1"), "mine/p q"], "");
    assert!(
        told.stderr.contains("run `krm-merge upgrade 'mine/p q'`")
            || told.stdout.contains("run `krm-merge upgrade 'mine/p q'`"),
        "{told:?}"
    );
    folder.write("mine/p q/a.yaml", map("a", &[("v", "ours")]));
    commit(&folder.path("mine"), "mine");
    let told = krm_merge(&folder, &["upgrade", "mine/p q"], "").failed(1);
    for command in ["`krm-merge resolve 'mine/p q'`", "`krm-merge upgrade --abort 'mine/p q'`"] {
        assert!(told.contains(command), "{told}");
    }
    krm_merge(&folder, &["upgrade", "--abort", "mine/p q"], "").passed();
    let page = krm_merge(&folder, &["upgrade", "mine/p q", "-o", "html"], "");
    assert!(page.stdout.contains("<code>krm-merge resolve</code>"), "{page:?}");
    assert!(page.stdout.contains("would change. Nothing was written."), "{page:?}");
    for (args, want) in [
        (&["--help"][..], "Usage: krm-merge <COMMAND>"),
        (&["help", "upgrade"], "Usage: krm-merge upgrade"),
        (&["--help"], "  krm-merge git-install"),
        (&["completion", "bash"], "_krm__merge"),
        (&["--version"], "krm-merge "),
    ] {
        let said = krm_merge(&folder, args, "").passed();
        assert!(said.contains(want) && !said.contains("kubectl krm-merge upgrade"), "{args:?}: {said}");
    }
    let told = krm_merge(&folder, &["upgrad"], "").failed(2);
    assert!(told.contains("Usage: krm-merge") && told.contains("'upgrade'"), "{told}");
}

#[test]
fn a_word_of_another_program_gets_a_tip_by_its_meaning() {
    for (word, want) in [
        ("undo", "tip: 'upgrade --abort'"),
        ("status", "tip: 'list'"),
        ("init", "tip: 'get'"),
        ("patch", "tip: 'strategic'"),
        ("pull", "tip: 'upgrade'"),
    ] {
        let told = Folder::new().run(&[word]).failed(2);
        assert!(told.contains(want) && told.matches("tip:").count() == 1, "{told}");
    }
    // `merge` is a command for programs. Someone who means a merge of files hears which one that is.
    let told = Folder::new().run(&["merge"]).failed(2);
    assert!(told.contains("stdin must be JSON") && told.contains("`three-way` and `two-way` merge files"), "{told}");
}

#[test]
fn a_quiet_run_tells_only_what_someone_must_look_at() {
    let folder = Folder::new();
    for (side, value) in [("o", "'1'"), ("u", "'2'"), ("d", "'1'"), ("e", "'3'")] {
        folder.write(&format!("{side}/a.yaml"), map("a", &[("v", value)]));
    }
    let merge = |dest: &'static str| ["three-way", "--original", "o", "--updated", "u", "--dest", dest, "--in-place"];
    for (dest, more, code) in [("d", &["-q"][..], 0), ("e", &["--quiet", "--on-conflict", "mark"], 1)] {
        let ran = folder.run(&[&merge(dest), more].concat());
        assert!(ran.code == Some(code) && ran.stdout.is_empty(), "{ran:?}");
        assert!(ran.stderr.lines().all(|line| line.starts_with("conflict: ")), "{ran:?}");
    }
    assert!(folder.read("d/a.yaml").contains("'2'") && folder.read("e/a.yaml").contains("<<<<<<<"));
}

#[test]
fn the_driver_is_off_in_a_run_that_wants_git_s_own_merge() {
    let folder = Folder::new();
    let list = |ports: &[(&str, u16)]| {
        let ports: String = ports
            .iter()
            .map(|(name, port)| {
                format!(
                    "  - name: {name}
    port: {port}
"
                )
            })
            .collect();
        format!(
            "apiVersion: v1
kind: Service
metadata:
  name: web
spec:
  ports:
{ports}"
        )
    };
    let (http, admin, metrics) = (("http", 80), ("admin", 81), ("metrics", 90));
    for (side, ports) in [("o", &[http][..]), ("a", &[http, admin]), ("b", &[http, metrics])] {
        folder.write(side, list(ports));
    }
    let args = ["git-driver", "o", "a", "b", "web.yaml"];
    let mut off = folder.command(&args);
    let told = Ran::of(off.env("KRM_MERGE_DRIVER", "off").output().expect("it runs")).failed(1);
    assert!(told.contains("git merged its lines") && folder.read("a").contains("<<<<<<<"), "{told}");
    folder.write("a", list(&[http, admin]));
    folder.run(&args).passed();
    assert!(!folder.read("a").contains("<<<<<<<"));
}

#[test]
fn a_record_goes_to_the_package_below_and_a_kind_may_be_kubectl_s_word() {
    let folder = Folder::new();
    let upstream = Upstream::new(&folder, "up.git");
    for value in ["1", "2"] {
        upstream.release(&[("p/a.yaml".to_owned(), map("a", &[("v", &format!("'{value}'"))]))], &format!("v{value}"));
    }
    for package in ["mine/p", "mine/q"] {
        folder.run(&["get", &upstream.source("p@v1"), package]).passed();
        folder.write(&format!("{package}/a.yaml"), map("a", &[("v", "ours")]));
    }
    commit(&folder.path("mine"), "mine");
    let resolve = |folder: &Folder| {
        let mut command = folder.command(&["resolve", "--take", "ours", "--record"]);
        Ran::of(command.current_dir(folder.path("mine")).output().expect("it runs"))
    };
    folder.run(&["upgrade", "mine/p"]).failed(1);
    assert!(resolve(&folder).passed().contains("recorded 1 decision in p/.krm-merge.yaml"));
    git(&folder.path("mine"), &["add", "--all"]);
    folder.run(&["upgrade", "mine/p", "mine/q", "--allow-dirty", "--to", "v2"]).failed(1);
    git(&folder.path("mine"), &["commit", "--quiet", "-m", "p", "--", "p"]);
    assert!(resolve(&folder).passed().contains("recorded 1 decision in q/.krm-merge.yaml"));
    folder.write("d.yaml", "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\nspec:\n  replicas: 1\n");
    for kind in ["deployment", "deploy", "Deployment", "deployments"] {
        let target = format!("kind={kind}");
        let merged = folder.run(&["two-way", "-p", "spec: {replicas: 3}", "--target", &target, "--dest", "d.yaml"]);
        assert!(merged.passed().contains("replicas: 3"), "{kind}");
    }
}

#[test]
fn the_nearest_release_of_a_package_with_a_mirror_has_its_tags() {
    let folder = Folder::new();
    let upstream = Upstream::new(&folder, "up.git");
    let web = |image: &str, more: &str| {
        format!(
            "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\nspec:\n  template:\n    spec:\n      containers:\n      - name: web\n        image: {image}\n{more}"
        )
    };
    for version in ["1.0", "1.1", "1.2"] {
        let image = format!("registry.example.com/team/web:{version}");
        upstream.release(&[("p/web.yaml".to_owned(), web(&image, ""))], &format!("v{version}"));
    }
    let digest = "0123456789abcdef".repeat(4);
    for (image, want) in [
        ("mirror.example.com/copies/web:1.0".to_owned(), "v1.0"),
        (format!("mirror.example.com/copies/web:1.1@sha256:{digest}"), "v1.1"),
        (format!("registry.example.com/team/web:1.2@sha256:{digest}"), "v1.2"),
        ("mirror.example.com/copies/other:1.1".to_owned(), "v1.1"),
    ] {
        folder.write("mine/p/web.yaml", web(&image, "        args: [serve]\n"));
        commit(&folder.path("mine"), "mine");
        let told = folder.run(&["upgrade", "mine/p", "--upstream", &upstream.source("p")]).failed(2);
        assert!(told.contains(&format!("The closest is {want} (")), "{image}: {told}");
    }
}

#[test]
fn a_page_and_a_diff_of_files_with_markers_name_owners_and_fields() {
    let folder = Folder::new();
    let text = |web: &str, api: &str, more: &str| {
        ["web", "api"].into_iter().zip([web, api]).map(|(name, image)| {
            let more = if name == "api" { more } else { "" };
            format!("apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: {name}\nspec:\n{more}  template:\n    spec:\n      containers:\n      - name: app\n        image: {image}\n")
        }).collect::<Vec<_>>().join("---\n")
    };
    let paused = "  paused: true\n";
    for (side, all) in [
        ("o", text("web:1", "api:1", paused)),
        ("u", text("web:2", "api:2", "")),
        ("d", text("web:1-fix", "api:1", paused)),
    ] {
        folder.write(&format!("{side}/all.yaml"), all);
    }
    let run = |output| {
        folder.run(&[
            "three-way",
            "--original",
            "o",
            "--updated",
            "u",
            "--dest",
            "d",
            "--on-conflict",
            "mark",
            "-o",
            output,
        ])
    };
    let page = run("html").stdout;
    let card = |name: &str| {
        let at = page.find(&format!("<code>Deployment {name}</code></h3>")).expect(name);
        page[at..].split("</article>").next().expect("a card").to_owned()
    };
    assert!(
        card("api").contains(">changed<") && card("api").contains("1 line added, 2 lines removed"),
        "{}",
        card("api")
    );
    assert!(
        card("web").contains(">changed<") && card("web").contains("&lt;&lt;&lt;&lt;&lt;&lt;&lt; dest"),
        "{}",
        card("web")
    );
    assert!(!page.contains(">deleted<") && !page.contains("data-kind=\"(file)\""), "{page}");
    let diff = run("diff").stdout;
    let header = diff.lines().find(|line| line.starts_with("@@")).expect("a header");
    assert!(
        header.contains("Deployment web spec.template.spec.containers[name=app]; Deployment api spec.paused"),
        "{header}"
    );
    // A Secret on the other side of the markers stays hidden.
    for (side, kind, value) in
        [("o", "ConfigMap", "hidden-o"), ("u", "Secret", "hidden-u"), ("d", "ConfigMap", "hidden-d")]
    {
        folder.write(
            &format!("{side}/all.yaml"),
            format!(
                "apiVersion: v1\nkind: {kind}\nmetadata:\n  name: s\n{}:\n  p: {value}\n",
                if kind == "Secret" { "stringData" } else { "data" }
            ),
        );
    }
    let page = run("html").stdout;
    assert!(!page.contains("hidden-u"), "{page}");
}

/// A shell that stood in the folder would else be in a deleted one.
#[cfg(unix)]
#[test]
fn a_release_comes_into_the_empty_folder_in_which_one_stands() {
    use std::os::unix::fs::MetadataExt;
    let folder = Folder::new();
    let upstream = Upstream::new(&folder, "up.git");
    upstream.release(&[("p/a.yaml".to_owned(), map("a", &[("v", "'1'")]))], "v1");
    let mine = folder.path("mine");
    fs::create_dir(&mine).expect("made");
    let number = || fs::metadata(&mine).expect("there").ino();
    let before = number();
    let unclean = format!("{}/x/../up.git/p@v1", folder.0.display());
    fs::create_dir(folder.path("x")).expect("made");
    let mut get = folder.command(&["get", &unclean, "."]);
    Ran::of(get.current_dir(&mine).output().expect("it runs")).passed();
    assert_eq!((number(), folder.read("mine/a.yaml")), (before, map("a", &[("v", "'1'")])));
    // The record has the path as one reads it.
    let record = folder.read("mine/.krm-merge.yaml");
    assert!(record.contains("/up\n") && !record.contains(".."), "{record}");
}

#[test]
fn each_name_is_said_wherever_a_command_is() {
    let folder = Folder::new();
    for (side, value) in [("o", "'1'"), ("u", "'2'"), ("d", "'3'"), ("p/d", "'3'")] {
        folder.write(&format!("{side}/a.yaml"), map("a", &[("v", value)]));
    }
    let merge =
        |dest| ["three-way", "--original", "o", "--updated", "u", "--dest", dest, "-i", "--on-conflict", "mark"];
    // Where git does not know what was before, there is no way back.
    let told = krm_merge(&folder, &merge("d"), "").failed(1);
    assert!(told.contains("`krm-merge resolve d`") && !told.contains("--abort"), "{told}");
    commit(&folder.path("p"), "mine");
    let told = krm_merge(&folder, &merge("p/d"), "").failed(1);
    assert!(told.contains(", or take all of it back with `krm-merge upgrade --abort p/d`"), "{told}");
    krm_merge(&folder, &["upgrade", "--abort", "p/d"], "").passed();
    assert_eq!(folder.read("p/d/a.yaml"), map("a", &[("v", "'3'")]));
    // The pages of the manual.
    let page = krm_merge(&folder, &["man", "upgrade"], "").passed();
    assert!(page.contains(".TH krm-merge-upgrade 1") && !page.contains("kubectl krm"), "{page}");
    let page = folder.run(&["man", "upgrade"]).passed();
    assert!(page.contains(".TH kubectl-krm-merge-upgrade 1") && page.contains("kubectl krm\\-merge upgrade"), "{page}");
}
