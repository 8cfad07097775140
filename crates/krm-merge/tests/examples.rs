//! The programs that stand on this library alone: a bot, an editor, a controller, a linter and a helper for tests.

#![allow(clippy::disallowed_methods, reason = "it makes the files of the programs")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::{env, fs};

/// A folder of its own for a test.
fn scratch(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("library").join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("a folder");
    folder
}

/// Runs an example, which cargo builds with the tests.
fn run(example: &str, folder: &Path, args: &[&str]) -> Output {
    let own = env::current_exe().expect("a program");
    let programs = own.parent().and_then(Path::parent).expect("a folder").join("examples");
    let program = programs.join(format!("{example}{}", env::consts::EXE_SUFFIX));
    Command::new(&program)
        .args(args)
        .current_dir(folder)
        .output()
        .unwrap_or_else(|e| panic!("{}: {e}", program.display()))
}

fn text(bytes: &[u8]) -> &str {
    str::from_utf8(bytes).expect("UTF-8")
}

fn write(folder: &Path, files: &[(&str, &str)]) {
    for (path, text) in files {
        let path = folder.join(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, text).expect("written");
    }
}

fn secret(token: &str) -> String {
    format!("apiVersion: v1\nkind: Secret\nmetadata: {{name: s}}\nstringData: {{token: {token}}}\n")
}

#[test]
fn a_bot_merges_all_files_and_shows_no_secret() {
    let folder = scratch("bot");
    let (old, new, own) = (secret("old-token"), secret("new-token"), secret("own-token"));
    write(
        &folder,
        &[
            ("1/s.yaml", &old),
            ("2/s.yaml", &new),
            ("here/s.yaml", &own),
            ("1/README.md", "# Web\n\nold\n\nlast\n"),
            ("2/README.md", "# Web\n\nnew\n\nlast\n"),
            ("here/README.md", "# Web\n\nold\n\nlast\n\nours\n"),
            ("2/templates/web.yaml", "{{- if .Values.web }}\na: 1\n{{- end }}\n"),
        ],
    );
    let ran = run("bot", &folder, &["1", "2", "here"]);
    let told = text(&ran.stdout);
    assert!(ran.status.success(), "{ran:?}");
    assert!(told.contains("- [ ] s.yaml: `stringData.token`"), "{told}");
    assert!(!told.contains("-token"), "{told}");
    let read = |path: &str| fs::read_to_string(folder.join(path)).expect("a file");
    assert_eq!(read("here/README.md"), "# Web\n\nnew\n\nlast\n\nours\n");
    assert_eq!(read("here/templates/web.yaml"), read("2/templates/web.yaml"));
    assert_eq!(read("here/s.yaml"), own);
}

#[test]
fn a_bot_shows_no_text_beside_a_secret_of_a_values_file_and_loses_no_file_that_moves() {
    let folder = scratch("bot_moves");
    let values = |comment: &str| {
        format!(
            "extra:\n- apiVersion: v1\n  kind: Secret\n  metadata: {{name: a}}\n  stringData:\n    password: x # was {comment}\n"
        )
    };
    let map =
        |name: &str| format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}}}\ndata: {{of: {name}}}\n");
    for (side, first, second, comment) in [("1", "a", "b", "AAA"), ("2", "b", "a", "BBB"), ("here", "a", "b", "CCC")] {
        write(
            &folder.join(side),
            &[("a.yaml", &map(first)), ("b.yaml", &map(second)), ("values.yaml", &values(comment))],
        );
    }
    let ran = run("bot", &folder, &["1", "2", "here"]);
    assert!(ran.status.success(), "{ran:?}");
    for comment in ["AAA", "BBB", "CCC"] {
        assert!(!text(&ran.stdout).contains(comment), "{}", text(&ran.stdout));
    }
    let read = |path: &str| fs::read_to_string(folder.join("here").join(path)).expect("a file");
    assert_eq!([read("a.yaml"), read("b.yaml")], [map("b"), map("a")]);
}

#[test]
fn an_editor_keeps_its_merge_while_its_user_decides() {
    let folder = scratch("editor");
    let map = |x: u8, y: u8| {
        format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: a}}\ndata: {{x: '{x}', y: '{y}'}}\n")
    };
    write(&folder, &[("1", &map(1, 1)), ("2", &map(2, 2)), ("here", &map(3, 3))]);
    let ran = run("editor", &folder, &["1", "2", "here", "updated", "dest"]);
    let want =
        "# data.x: updated \"2\", dest \"3\": took updated's\n# data.y: updated \"2\", dest \"3\": took dest's\n";
    assert_eq!(text(&ran.stdout), want.to_owned() + &map(2, 3), "{ran:?}");
}

#[test]
fn a_controller_keeps_what_others_set_and_sends_nothing_twice() {
    let folder = scratch("controller");
    let object = |replicas: u8, more: &str| {
        format!(
            "{{\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\",\"metadata\":{{\"name\":\"w\"}},\"spec\":{{\"replicas\":{replicas}{more}}}}}\n"
        )
    };
    let live = object(1, ",\"paused\":true");
    write(&folder, &[("last", &object(1, "")), ("wanted", &object(2, "")), ("live", &live)]);
    let ran = run("controller", &folder, &["last", "wanted", "live"]);
    let sent = object(2, ",\"paused\":true");
    assert_eq!(text(&ran.stdout), sent, "{ran:?}");
    write(&folder, &[("live", &sent)]);
    assert_eq!(text(&run("controller", &folder, &["last", "wanted", "live"]).stdout), "unchanged\n");
}

#[test]
fn a_linter_says_what_a_patch_does_not_do() {
    let folder = scratch("linter");
    let pod = |containers: &str| {
        format!("apiVersion: v1\nkind: Pod\nmetadata: {{name: a}}\nspec: {{containers: [{containers}]}}\n")
    };
    write(
        &folder,
        &[
            ("base", &pod("{name: a, image: a:1}")),
            ("right", &pod("{name: a, image: a:2}")),
            ("misspelled", &pod("{name: aa, image: a:2}").replace("name: a}\n", "name: b}\n")),
        ],
    );
    assert!(run("linter", &folder, &["right", "base"]).status.success());
    let ran = run("linter", &folder, &["misspelled", "base"]);
    let want = "error: no resource matches the patch for `v1 Pod b`. Did you mean `v1 Pod a`, the only Pod?\n";
    assert_eq!((ran.status.success(), text(&ran.stdout)), (false, want));
    assert_eq!(text(&run("linter", &folder, &["base", "base"]).stdout), "the patch changes nothing\n");
}

#[test]
fn a_helper_compares_what_texts_mean() {
    let folder = scratch("test_helper");
    let map = |data: &str| format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: a}}\ndata: {data}\n");
    write(
        &folder,
        &[("1", &map("{x: a, y: b}")), ("same", &map("# why\n  y: \"b\"\n  x: a")), ("other", &map("{x: a, y: c}"))],
    );
    assert!(run("test_helper", &folder, &["1", "same"]).status.success());
    let ran = run("test_helper", &folder, &["1", "other"]);
    assert!(!ran.status.success() && text(&ran.stderr).contains("a: data.y"), "{ran:?}");
}

/// A merge is owned: a function can return it, and a thread can have it.
#[test]
fn a_merge_goes_to_a_thread() {
    fn merged() -> Result<krm_merge::MergedPackage, krm_merge::Error> {
        let map = |x: u8| {
            krm_merge::Package::of_text(format!(
                "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: a}}\ndata: {{x: {x}}}\n"
            ))
        };
        krm_merge::Merge::three_way(&map(1)?, &map(2)?, &map(3)?).run()
    }
    let merged = merged().expect("merged");
    let count = std::thread::spawn(move || merged.conflicts().count()).join().expect("a thread");
    assert_eq!(count, 1);
}
