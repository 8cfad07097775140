//! Releases that a command prints.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::Stdio;
use std::thread::sleep;
use std::time::{Duration, Instant};

use super::repository::{commit, git};
use crate::support::{Folder, Ran, has, map};

const RULES: &str = "apiVersion: krm-merge.dev/v1alpha1\nkind: Merge\nspec:\n  upstream: # the chart\n    run: [render, \"{ref}\", -f, values.yaml]\n";

/// A program that prints a ConfigMap with its release, and with the values of the package.
fn with_program() -> Folder {
    let folder = Folder::new();
    let script = "#!/bin/sh\necho ran >> \"$0.ran\"\n[ \"$1\" = bad ] && { echo 'no such chart' >&2; exit 3; }\nprintf 'apiVersion: v1\\nkind: ConfigMap\\nmetadata:\\n  name: web\\ndata:\\n  release: %s\\n  value: \\047%s\\047\\n  more: x\\n' \"$1$(cat \"$0.more\" 2>/dev/null)\" \"$(cat \"$3\")\"\n";
    folder.write("render", script);
    fs::set_permissions(folder.path("render"), fs::Permissions::from_mode(0o755)).expect("allowed");
    folder.write("p/.krm-merge.yaml", RULES);
    folder.write("p/values.yaml", "a: 1");
    folder
}

fn run(folder: &Folder, args: &[&str]) -> Ran {
    let mut command = folder.command(args);
    Ran::of(command.env("PATH", folder.first_on_path()).output().expect("the plugin runs"))
}

#[test]
fn a_command_runs_only_if_it_is_allowed() {
    let folder = with_program();
    let told = run(&folder, &["upgrade", "p", "--to", "r1"]).failed(2);
    assert!(told.contains("runs the program `render`") && told.contains("Pass `--allow-exec`"), "{told}");
    assert!(!folder.path("render.ran").exists());
    let told = run(&folder, &["upgrade", "p", "--allow-exec"]).failed(2);
    assert!(told.contains("`--to` must name the release"), "{told}");
    let told = run(&folder, &["upgrade", "p", "--allow-exec", "--to", "bad"]).failed(2);
    assert!(told.contains("`render` failed with exit status: 3: no such chart"), "{told}");
    for release in ["-x", "a b", "a\nb"] {
        let told = run(&folder, &["upgrade", "p", "--allow-exec", &format!("--to={release}")]).failed(2);
        assert!(told.contains("a release must be the name"), "{told}");
    }
}

#[test]
fn releases_of_a_command_are_merged_and_local_files_stay() {
    let folder = with_program();
    run(&folder, &["upgrade", "p", "--allow-exec", "--to", "r1"]).passed();
    let file = "p/configmap_web.yaml";
    assert_eq!(folder.read(file), map("web", &[("release", "r1"), ("value", "'a: 1'"), ("more", "x")]));
    let record = folder.read("p/.krm-merge.yaml");
    assert!(
        record.starts_with(RULES) && record.contains("    ref: r1\n  upstreamLock:\n    ref: r1\n    sha256: "),
        "{record}"
    );
    folder.write(file, folder.read(file).replace("more: x", "more: ours # why"));
    // No repository has the edit.
    run(&folder, &["upgrade", "p", "--allow-exec", "--to", "r2"]).failed(2);
    run(&folder, &["upgrade", "p", "--allow-exec", "--allow-dirty", "--to", "r2"]).passed();
    assert_eq!(folder.read(file), map("web", &[("release", "r2"), ("value", "'a: 1'"), ("more", "ours # why")]));
    assert_eq!(folder.read("p/values.yaml"), "a: 1");
    // New values of the same release come by the same command.
    folder.write("p/values.yaml", "a: 2");
    let ran = run(&folder, &["upgrade", "p", "--allow-exec", "--allow-dirty"]);
    assert!(ran.stderr.is_empty(), "{ran:?}");
    assert!(folder.read(file).contains("value: 'a: 2'\n"));
    assert!(run(&folder, &["upgrade", "p", "--allow-exec"]).passed().contains("has r2 already"));
}

/// Takes the cache away, as on another machine.
fn without_cache(folder: &Folder) {
    fs::remove_dir_all(folder.path(".cache")).expect("removed");
}

#[test]
fn a_release_that_changed_under_its_name_is_an_error_that_says_how_to_go_on() {
    let folder = with_program();
    run(&folder, &["upgrade", "p", "--allow-exec", "--to", "r1"]).passed();
    commit(&folder.path("p"), "r1");
    folder.write("render.more", "-again");
    without_cache(&folder);
    let before = folder.files("p");
    let told = run(&folder, &["upgrade", "p", "--allow-exec", "--to", "r2"]).failed(2);
    assert!(told.contains("with the files of commit ") && told.contains("`--from r1` takes what it prints"), "{told}");
    assert_eq!(folder.files("p"), before);
    run(&folder, &["upgrade", "p", "--allow-exec", "--from", "r1", "--to", "r2"]).failed(1);
    assert!(folder.read("p/configmap_web.yaml").contains("  release: r2-again\n"), "between markers");
}

#[test]
fn a_release_is_made_again_with_the_files_that_the_package_had() {
    let folder = with_program();
    // The package is a folder of its repository.
    let record = |name: &str| folder.read(&format!("{name}/.krm-merge.yaml"));
    run(&folder, &["upgrade", "p", "--allow-exec", "--to", "r1"]).passed();
    commit(&folder.0, "r1");
    folder.write("p/values.yaml", "a: 2");
    folder.write("p/configmap_web.yaml", folder.read("p/configmap_web.yaml").replace("more: x", "more: ours"));
    commit(&folder.0, "values");
    for cache in ["here", "gone"] {
        if cache == "gone" {
            git(&folder.0, &["checkout", "--quiet", "p"]);
            without_cache(&folder);
        }
        let ran = run(&folder, &["upgrade", "p", "--allow-exec", "--to", "r2"]);
        assert!(ran.stderr.is_empty(), "{cache}: {ran:?}");
        let want = map("web", &[("release", "r2"), ("value", "'a: 2'"), ("more", "ours")]);
        assert_eq!(folder.read("p/configmap_web.yaml"), want, "{cache}");
        assert!(record("p").contains("ref: r2"), "{cache}");
    }
}

/// A program that makes a password at each run.
const VOLATILE: &str = "#!/bin/sh\nfor a; do :; done\nprintf 'apiVersion: v1\\nkind: Secret\\nmetadata:\\n  name: web\\nstringData:\\n  release: %s\\n  password: p%s\\n  other: x\\n' \"$1\" \"$$\"\n";

#[test]
fn what_a_chart_makes_anew_stays_as_the_package_has_it() {
    let folder = with_program();
    folder.write("render", VOLATILE);
    run(&folder, &["upgrade", "p", "--allow-exec", "--to", "r1"]).passed();
    commit(&folder.path("p"), "r1");
    let file = "p/secret_web.yaml";
    let old = folder.read(file);
    for (release, cache) in [("r2", "here"), ("r3", "gone")] {
        if cache == "gone" {
            without_cache(&folder);
        }
        let told = run(&folder, &["upgrade", "p", "--allow-exec", "--to", release]);
        assert_eq!(folder.read(file), old.replace("release: r1", &format!("release: {release}")), "{cache}");
        let want = "info: p: its command makes Secret web: stringData.password anew at each rendering, so the package keeps its own\n";
        assert_eq!(told.stderr, want);
        told.passed();
        commit(&folder.path("p"), release);
    }
    // Nobody made the same release again.
    assert!(run(&folder, &["upgrade", "p", "--allow-exec"]).passed().contains("has r3 already"));
}

/// Has a release, and upgrades to the next one with the cache and, in another folder, without it. Returns what the package had and has.
/// `script` is the part of a shell script that prints a release, with the variables `v` for the release and `x` for a random value.
fn upgraded(script: &str) -> [[String; 2]; 2] {
    ["here", "gone"].map(|cache| {
        let folder = with_program();
        folder.write("render", format!("#!/bin/sh\nv=$1 x=x$$\n{script}\n"));
        run(&folder, &["upgrade", "p", "--allow-exec", "--to", "1"]).passed();
        commit(&folder.path("p"), "1");
        let file = |at: usize| {
            let files = folder.files("p").into_iter().filter(|(name, _)| name.starts_with("foo_"));
            let texts = files.map(|(_, text)| String::from_utf8(text).expect("UTF-8")).collect::<String>();
            assert!(!texts.is_empty(), "{at}");
            texts
        };
        let old = file(1);
        if cache == "gone" {
            without_cache(&folder);
        }
        run(&folder, &["upgrade", "p", "--allow-exec", "--to", "2"]).passed();
        [old, file(2)]
    })
}

const FOO: &str = "echo 'kind: Foo\napiVersion: a/v1\nmetadata: {name: x}'\n";

#[test]
fn a_password_keeps_its_place_in_a_list_whose_order_changes() {
    let script = r#"
pass="- {name: PASS, value: $x}"; host='- {name: HOST, value: db}'
[ $v = 1 ] && l="$pass
$host" || l="$host
$pass"
echo "env:
$l""#;
    for [old, new] in upgraded(&format!("{FOO}{script}")) {
        let line = |of: &str| of.lines().find(|line| line.contains("PASS")).expect("a line").to_owned();
        assert_eq!(line(&old), line(&new));
        assert!(new.contains("{name: HOST, value: db}\n- {name: PASS"), "{new}");
    }
}

#[test]
fn a_value_that_becomes_volatile_is_no_older_value() {
    let script = r#"[ $v = 1 ] && l='{name: MODE, value: prod}' || l="{name: SALT, value: $x}"; echo "env: [$l]""#;
    for [_, new] in upgraded(&format!("{FOO}{script}")) {
        assert!(new.contains("name: SALT, value: x"), "{new}");
    }
}

#[test]
fn documents_and_elements_in_any_order_bring_their_changes() {
    // The number of the process decides about the order, and two runs follow each other.
    let script = r#"
one() { printf -- '---\nkind: Foo\napiVersion: a/v1\nmetadata: {name: %s}\nimage: %s\nenv: [%s]\n' "$1" "$1:$v" "$2"; }
e1="{name: A, value: a$v}"; e2="{name: B, value: b$v}"; n=$(cat "$0.n" 2>/dev/null || echo 0); echo $((n + 1)) > "$0.n"
if [ $((n % 2)) = 0 ]; then one a "$e1, $e2"; one b "$e1, $e2"; else one b "$e2, $e1"; one a "$e2, $e1"; fi"#;
    for [_, new] in upgraded(script) {
        for want in ["image: a:2", "image: b:2", "{name: A, value: a2}", "{name: B, value: b2}"] {
            assert!(new.contains(want), "{want}: {new}");
        }
        assert!(!new.contains("a1") && !new.contains(":1"), "{new}");
    }
}

#[test]
fn items_of_a_list_keep_their_passwords() {
    let script = r#"echo "kind: List
apiVersion: v1
items:
- {kind: Foo, apiVersion: a/v1, metadata: {name: x}, pw: $x, v: $v}""#;
    for [old, new] in upgraded(script) {
        assert_eq!(old.replace("v: 1", "v: 2"), new);
    }
}

#[test]
fn of_a_text_with_a_password_the_other_lines_change() {
    let script = r#"echo "conf: |
  version: $v
  host: db
  pw: $x
  port: 1
  tls: $v""#;
    for [old, new] in upgraded(&format!("{FOO}{script}")) {
        assert_eq!(old.replace("version: 1", "version: 2").replace("tls: 1", "tls: 2"), new);
    }
}

#[test]
fn an_old_value_is_valid_in_a_new_form() {
    let script = r#"[ $v = 1 ] && printf 'd:\n  pw: %s, b\n  f: 1\n' $x || echo "d: {pw: $x, f: 2}""#;
    for [old, new] in upgraded(&format!("{FOO}{script}")) {
        let password = old.lines().find_map(|line| line.strip_prefix("  pw: ")).expect("a password");
        let forms = [format!("{{pw: '{password}', f: 2}}\n"), format!("\n  pw: {password}\n  f: 2\n")];
        assert!(forms.iter().any(|form| new.contains(form)), "{old}{new}");
    }
}

#[test]
fn a_comment_that_changes_is_no_part_of_a_release() {
    for [old, new] in upgraded(&format!("echo \"# made at $x\"\n{FOO}echo \"v: v$v\"")) {
        assert!(!old.contains('#') && old.replace("v: v1", "v: v2") == new, "{old}{new}");
    }
}

#[test]
fn releases_that_differ_in_volatile_values_alone_leave_those_of_the_package() {
    let folder = with_program();
    let script = "#!/bin/sh\nprintf 'apiVersion: v1\\nkind: Secret\\nmetadata:\\n  name: web\\nstringData:\\n  user: me\\n'\n[ \"$1\" = r3 ] || echo \"  password: p$$\"\n";
    folder.write("render", script);
    let read = || folder.read("p/secret_web.yaml");
    run(&folder, &["upgrade", "p", "--allow-exec", "--to", "r1"]).passed();
    commit(&folder.path("p"), "r1");
    let old = read();
    run(&folder, &["upgrade", "p", "--allow-exec", "--to", "r2"]).passed();
    commit(&folder.path("p"), "r2");
    assert_eq!(read(), old);
    // The field goes without a conflict, for the package has the value of its release.
    run(&folder, &["upgrade", "p", "--allow-exec", "--to", "r3"]).passed();
    assert!(!read().contains("password"), "{}", read());
}

/// A repository with a package whose values changed since its release, and without the cache.
fn with_past() -> Folder {
    let folder = with_program();
    folder.write("w/values.yaml", "a: 1");
    fs::rename(folder.path("p"), folder.path("w/p")).expect("moved");
    fs::remove_file(folder.path("w/p/values.yaml")).expect("removed");
    symlink("../values.yaml", folder.path("w/p/values.yaml")).expect("a link");
    for name in [&b"README"[..], b"readme", b"caf\xe9"] {
        fs::write(folder.path("w").join(OsStr::from_bytes(name)), "x").expect("written");
    }
    run(&folder, &["upgrade", "w/p", "--allow-exec", "--to", "r1"]).passed();
    commit(&folder.path("w"), "r1");
    folder.write("w/values.yaml", "a: 2");
    commit(&folder.path("w"), "values");
    without_cache(&folder);
    folder
}

#[test]
fn a_release_is_made_again_in_any_repository_and_runs_no_filter_of_it() {
    let folder = with_past();
    let evil = format!(": >{}; cat", folder.path("evil").display());
    fs::write(folder.path("w/.git/info/attributes"), "* filter=x\n").expect("written");
    for key in ["filter.x.smudge", "filter.x.process", "core.fsmonitor"] {
        git(&folder.path("w"), &["config", key, &evil]);
    }
    let ran = run(&folder, &["upgrade", "w/p", "--allow-exec", "--allow-dirty", "--to", "r2"]);
    assert!(ran.stderr.is_empty(), "{ran:?}");
    ran.passed();
    assert_eq!(
        folder.read("w/p/configmap_web.yaml"),
        map("web", &[("release", "r2"), ("value", "'a: 2'"), ("more", "x")])
    );
    assert!(!folder.path("evil").exists());
}

#[test]
fn each_error_of_a_release_that_is_made_again_says_how_to_go_on() {
    let hint = "`--from r1` takes what it prints with the files as they are now\n";
    for script in ["exit 3", "case $PWD in */w/p) cat \"$3\";; *) echo no >&2; exit 3;; esac", "echo 'a: 2'"] {
        let folder = with_past();
        folder.write("render", format!("#!/bin/sh\n{script}\n"));
        let told = run(&folder, &["upgrade", "w/p", "--allow-exec", "--to", "r2"]).failed(2);
        assert!(told.ends_with(hint), "{told}");
        // Nobody knows how the files were.
        fs::remove_dir_all(folder.path("w/.git")).expect("removed");
        let told = run(&folder, &["upgrade", "w/p", "--allow-exec", "--to", "r2"]).failed(2);
        assert!(told.ends_with(hint), "{told}");
    }
}

#[test]
fn a_clone_that_lacks_old_files_says_so() {
    let folder = with_past();
    git(&folder.path("w"), &["config", "uploadpack.allowFilter", "true"]);
    let source = format!("file://{}", folder.path("w").display());
    git(&folder.0, &["clone", "--quiet", "--filter=blob:none", &source, "c"]);
    let told = run(&folder, &["upgrade", "c/p", "--allow-exec", "--to", "r2"]).failed(2);
    assert!(told.contains("some of which are missing") && told.contains("`--from r1` takes"), "{told}");
}

#[test]
fn what_a_killed_run_left_among_temporary_files_goes() {
    let folder = with_past();
    fs::create_dir(folder.path("tmp")).expect("made");
    let slow = "case $PWD in */w/p) ;; *) : >\"$0.at\"; sleep \"$(cat \"$0.sleep\")\";; esac\n";
    let script = folder.read("render").replacen("\n", &format!("\n{slow}"), 1);
    folder.write("render", script);
    let left = || fs::read_dir(folder.path("tmp")).expect("a folder").count();
    let command = || {
        let mut command = folder.command(&["upgrade", "w/p", "--allow-exec", "--to", "r2"]);
        command.env("PATH", folder.first_on_path()).env("TMPDIR", folder.path("tmp"));
        command
    };
    folder.write("render.sleep", "2");
    let mut killed = command().stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the plugin runs");
    let start = Instant::now();
    while !folder.path("render.at").exists() && start.elapsed() < Duration::from_secs(60) {
        sleep(Duration::from_millis(5));
    }
    killed.kill().expect("killed");
    killed.wait().expect("ended");
    assert_eq!(left(), 1);
    folder.write("render.sleep", "0");
    Ran::of(command().output().expect("the plugin runs")).passed();
    assert_eq!(left(), 0);
}

#[test]
fn nobody_knows_the_newest_release_of_a_command() {
    let folder = with_program();
    run(&folder, &["upgrade", "p", "--allow-exec", "--to", "r1"]).passed();
    fs::remove_file(folder.path("render.ran")).expect("it ran");
    let line = run(&folder, &["upgrade", "p", "--allow-exec", "--check"]).passed();
    assert_eq!(
        line,
        "p: has r1. krm-merge cannot look for newer releases, because a command makes the package. Name the release with `--to`\n"
    );
    assert!(!folder.path("render.ran").exists(), "it need not run");
    assert_eq!(run(&folder, &["upgrade", "p", "--allow-exec", "--check", "--to", "r2"]).code, Some(1));
    // The record wants another release than the package has.
    folder.write("p/.krm-merge.yaml", folder.read("p/.krm-merge.yaml").replacen("ref: r1", "ref: r4", 1));
    let line = run(&folder, &["upgrade", "p", "--allow-exec", "--check"]);
    assert_eq!((line.code, line.stdout.starts_with("p: has r1, wanted is r4;")), (Some(1), true), "{line:?}");
    run(&folder, &["upgrade", "p", "--allow-exec", "--allow-dirty"]).passed();
    assert!(folder.read("p/configmap_web.yaml").contains("release: r4"));
}

#[test]
fn the_output_of_a_command_writes_no_record() {
    let folder = with_program();
    run(&folder, &["upgrade", "p", "--allow-exec", "--to", "r1"]).passed();
    let before = folder.files("p");
    for path in ["Kptfile", "sub/Kptfile", "KPTFILE", "./Kptfile"] {
        let kptfile = format!(
            "apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: x\n  annotations: {{config.kubernetes.io/path: {path}}}\nupstream:\n  git: {{repo: https://example.com/evil, ref: v1}}\n"
        );
        folder.write("render", format!("#!/bin/sh\ncat <<X\n{kptfile}X\n"));
        let told = run(&folder, &["upgrade", "p", "--allow-exec", "--to", "r2"]).failed(2);
        assert!(told.contains("a release must not write a Kptfile from elsewhere"), "{told}");
        assert_eq!(folder.files("p"), before, "{path}");
    }
}

#[test]
fn no_message_repeats_the_arguments_of_a_command() {
    let folder = with_program();
    let rules = RULES.replace("values.yaml", "values.yaml, --password, a-long-password-123, pw=hunter2");
    folder.write("p/.krm-merge.yaml", &rules);
    let without = run(&folder, &["upgrade", "p", "--to", "r1"]);
    let fails = run(&folder, &["upgrade", "p", "--allow-exec", "--to", "bad"]);
    let [repeats, value] = ["$*", "${6#pw=}"].map(|words| {
        folder.write("render", format!("#!/bin/sh\necho \"no {words}\" >&2\nexit 1\n"));
        run(&folder, &["upgrade", "p", "--allow-exec", "--to", "r1"])
    });
    folder.write("p/.krm-merge.yaml", rules.replace("[render,", "[gone-program,"));
    let gone = run(&folder, &["upgrade", "p", "--allow-exec", "--to", "r1"]);
    for ran in [without, fails, repeats, value, gone] {
        assert!(!ran.stderr.contains("password-123") && !ran.stderr.contains("hunter2"), "{ran:?}");
        ran.failed(2);
    }
}

#[test]
fn a_command_that_prints_without_end_is_stopped() {
    let folder = with_program();
    folder.write("render", "#!/bin/sh\nyes '# comment'\n");
    let told = run(&folder, &["upgrade", "p", "--allow-exec", "--to", "r1"]).failed(2);
    assert!(told.contains("`render` must print at most 268435456 bytes"), "{told}");
}

#[test]
fn a_chart_of_helm_is_an_upstream() {
    if !has("helm") {
        return;
    }
    let folder = Folder::new();
    for release in ["1", "2"] {
        folder.write(
            &format!("charts/{release}/Chart.yaml"),
            format!("apiVersion: v2\nname: web\nversion: {release}.0.0\n"),
        );
        let text = map("web", &[("release", &format!("'{release}'")), ("value", "{{ .Values.a | quote }}")]);
        folder.write(&format!("charts/{release}/templates/a.yaml"), text);
    }
    folder.write("p/values.yaml", "a: mine\n");
    folder
        .write("p/.krm-merge.yaml", RULES.replace("[render, \"{ref}\",", "[helm, template, web, \"../charts/{ref}\","));
    for release in ["1", "2"] {
        commit(&folder.path("p"), "before");
        folder.run(&["upgrade", "p", "--allow-exec", "--to", release]).passed();
        let text = folder.read("p/configmap_web.yaml");
        assert!(text.contains(&format!("release: '{release}'")) && text.contains("value: \"mine\""), "{text}");
    }
}
