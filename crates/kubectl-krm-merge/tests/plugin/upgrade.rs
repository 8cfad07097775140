//! `upgrade` and `get` on real git repositories, with the real git and kpt.

mod abort;
mod aims;
mod attacks;
mod cache;
mod charts;
mod combined;
mod committed;
mod fleet;
mod killed;
mod kpt;
mod parts;
mod programs;
mod random;
pub mod registry;
mod remote;
mod rendered;
pub mod repository;
mod rules;
mod servers;
mod sides;
mod sources;
#[cfg(debug_assertions)]
mod stopped;
mod tokens;
mod unmerged;

use crate::support::{Folder, Ran, map};
use repository::{Upstream, commit, git};

/// An upstream with one release of a package in `d`.
fn good(folder: &Folder) -> Upstream {
    let upstream = Upstream::new(folder, "up.git");
    upstream.release(&[("d/a.yaml".to_owned(), map("a", &[("v", "'1'")]))], "v1");
    upstream
}

/// A package of twelve ConfigMaps in a release: `upgraded` of them are those of the release, and each has a comment.
fn release(number: usize) -> Vec<(String, String)> {
    let file = |at: usize| {
        let changed = if at < number { number } else { 0 };
        let text = map(&format!("c{at}"), &[("a", &format!("'{changed}' # upstream's")), ("b", "x"), ("c", "'1'")]);
        (format!("deploy/c{at:02}.yaml"), text)
    };
    (0..12).map(file).collect()
}

#[test]
fn a_package_over_ten_releases_takes_one_command_each_and_keeps_six_edits() {
    let folder = Folder::new();
    let upstream = Upstream::new(&folder, "up.git");
    for number in 0..10 {
        upstream.release(&release(number), &format!("v1.{number}.0"));
    }
    let source = upstream.source("deploy@v1.0.0");
    folder.run(&["get", &source, "mine/web"]).passed();
    for at in 0..6 {
        let path = format!("mine/web/c{at:02}.yaml");
        folder.write(&path, folder.read(&path).replace("b: x", "b: ours # why"));
    }
    commit(&folder.path("mine"), "edits");
    for number in 1..10 {
        let ran = folder.run(&["upgrade", "mine/web", "--to", &format!("v1.{number}.0")]);
        assert!(ran.stderr.is_empty(), "{ran:?}");
        ran.passed();
        let record = folder.read("mine/web/.krm-merge.yaml");
        assert_eq!(record.matches(&format!("ref: v1.{number}.0\n")).count(), 2, "{record}");
        assert!(record.contains(&upstream.commit(&format!("v1.{number}.0"))), "{record}");
        commit(&folder.path("mine"), "upgraded");
        let before = folder.files("mine/web");
        folder.run(&["upgrade", "mine/web", "--to", &format!("v1.{number}.0")]).passed();
        assert_eq!(folder.files("mine/web"), before);
    }
    for at in 0..12 {
        let text = folder.read(&format!("mine/web/c{at:02}.yaml"));
        let changed = if at < 9 { 9 } else { 0 };
        assert!(text.contains(&format!("a: '{changed}' # upstream's\n")), "{text}");
        assert_eq!(text.contains("b: ours # why\n"), at < 6, "{text}");
    }
}

#[test]
fn without_a_release_it_takes_the_newest_one() {
    let folder = Folder::new();
    let upstream = Upstream::new(&folder, "up.git");
    let text = |value: &str| vec![("d/a.yaml".to_owned(), map("a", &[("v", value)]))];
    for (value, tag) in [("'1'", "v1.9.0"), ("'2'", "v1.10.0"), ("'3'", "v2.0.0-rc1"), ("'4'", "other-9.0.0")] {
        upstream.release(&text(value), tag);
    }
    for (from, want) in [("v1.9.0", "v1.10.0"), ("v1.10.0", "v1.10.0"), ("v2.0.0-rc1", "v2.0.0-rc1"), ("main", "main")]
    {
        let name = format!("p-{from}");
        folder.run(&["get", &upstream.source(&format!("d@{from}")), &name]).passed();
        let is_behind = from != want;
        let told = folder.run(&["upgrade", "--check", &name]);
        assert_eq!(told.code, Some(i32::from(is_behind)), "{told:?}");
        folder.run(&["upgrade", &name]).passed();
        let record = folder.read(&format!("{name}/.krm-merge.yaml"));
        assert_eq!(record.matches(&format!("ref: {want}\n")).count(), 2, "{record}");
    }
    // A branch that goes on is newer; so is a pre-release for a package that has one.
    upstream.release(&text("'5'"), "v2.0.0-rc2");
    folder.run(&["upgrade", "p-main", "p-v2.0.0-rc1", "p-v1.9.0"]).passed();
    assert!(folder.read("p-main/a.yaml").contains("v: '5'"));
    assert!(folder.read("p-v2.0.0-rc1/.krm-merge.yaml").contains("ref: v2.0.0-rc2"));
    assert!(folder.read("p-v1.9.0/a.yaml").contains("v: '2'"));
}

#[test]
fn what_was_upgraded_is_to_be_committed_with_its_new_files() {
    let folder = Folder::new();
    let upstream = Upstream::new(&folder, "up.git");
    upstream.release(&[("d/a.yaml".to_owned(), map("a", &[("v", "'1'")]))], "v1");
    let second = [("d/a.yaml".to_owned(), map("a", &[("v", "'2'")])), ("d/b.yaml".to_owned(), map("b", &[]))];
    upstream.release(&second, "v2");
    let next = "commit the package, new files too: `git add --all d && git commit`";
    for (value, told) in
        [("'1'", format!("upgraded d from v1 to v2\nnext: {next}\n")), ("ours", format!("; then {next}. "))]
    {
        folder.run(&["get", &upstream.source("d@v1"), "team/d"]).passed();
        folder.write("team/d/a.yaml", map("a", &[("v", value)]));
        commit(&folder.path("team"), "edit");
        let ran =
            Ran::of(folder.command(&["upgrade", "d"]).current_dir(folder.path("team")).output().expect("it runs"));
        assert!(format!("{}{}", ran.stdout, ran.stderr).contains(&told), "{told}: {ran:?}");
        std::fs::remove_dir_all(folder.path("team")).expect("removed");
    }
}

#[test]
fn a_conflict_is_marked_and_asked_once() {
    let folder = Folder::new();
    let upstream = Upstream::new(&folder, "up.git");
    let text = |value: &str| vec![("d/a.yaml".to_owned(), map("a", &[("v", value), ("w", "'0'")]))];
    ["'1'", "'2'", "'3'"].iter().zip(["v1", "v2", "v3"]).for_each(|(value, tag)| upstream.release(&text(value), tag));
    folder.run(&["get", &upstream.source("d@v1"), "mine/d"]).passed();
    folder.write("mine/d/a.yaml", map("a", &[("v", "ours"), ("w", "'0'")]));
    commit(&folder.path("mine"), "edit");
    let check = folder.run(&["upgrade", "--check", "mine/d"]);
    assert_eq!(check.code, Some(1));
    assert_eq!(check.stdout, "mine/d: has v1, newest is v3; 1 local change, 1 conflict to expect\n");
    let ran = folder.run(&["upgrade", "mine/d", "--to", "v2"]);
    let told = ran.failed(1);
    let next = told.lines().rev().take(2).collect::<Vec<_>>();
    assert!(next[1].ends_with("upgraded mine/d from v1 to v2, with conflicts in 1 file"), "{told}");
    assert!(next[0].starts_with("next: decide them with `kubectl krm-merge resolve mine/d`"), "{told}");
    assert!(!told.contains("git add"), "the repository is not here: {told}");
    assert!(folder.read("mine/d/.krm-merge.yaml").contains("ref: v2"), "the record is that of the new release");
    assert!(
        folder.read("mine/d/a.yaml").contains("<<<<<<< dest (mine/d)\n  v: ours\n"),
        "{}",
        folder.read("mine/d/a.yaml")
    );
    // A second upgrade does not start from a file with markers.
    let again = folder.run(&["upgrade", "mine/d", "--allow-dirty"]).failed(2);
    assert!(again.contains("a.yaml"), "{again}");
    folder.run(&["resolve", "--take", "ours", "mine/d"]).passed();
    commit(&folder.path("mine"), "resolved");
    // Upstream changed the value again, so that is asked again; with --to v2 nothing is.
    folder.run(&["upgrade", "mine/d", "--to", "v2"]).passed();
    folder.run(&["upgrade", "mine/d"]).failed(1);
}

#[test]
fn outputs_work_as_in_three_way_and_write_nothing_by_themselves() {
    let folder = Folder::new();
    let upstream = Upstream::new(&folder, "up.git");
    let text = |value: &str| vec![("d/a.yaml".to_owned(), map("a", &[("v", value)]))];
    ["'1'", "'2'"].iter().zip(["v1", "v2"]).for_each(|(value, tag)| upstream.release(&text(value), tag));
    folder.run(&["get", &upstream.source("d@v1"), "mine/d"]).passed();
    let before = folder.files("mine");
    for (args, want) in [
        (&["-o", "diff"][..], "+  v: '2'"),
        (&["--dry-run"], "+  v: '2'"),
        (&["-o", "yaml"], "v: '2'"),
        (&["-o", "json"], "\"v\": \"2\""),
        (&["-o", "name"], "configmap/a"),
        (&["-o", "html"], "<html"),
        (&["-o", "markdown"], "1 merged"),
        (&["--stat"], "a.yaml          |   2 +-"),
    ] {
        let ran = folder.run(&[&["upgrade", "mine/d"], args].concat());
        assert!(ran.stdout.contains(want), "{args:?}: {ran:?}");
        ran.passed();
        assert_eq!(folder.files("mine"), before, "{args:?}");
    }
    // With both, it prints and writes: for a job that opens a pull request.
    assert!(folder.run(&["upgrade", "mine/d", "-o", "markdown", "--in-place"]).passed().contains("1 merged"));
    assert!(folder.read("mine/d/a.yaml").contains("v: '2'"));
}

#[test]
fn a_checkout_with_line_ends_of_windows_is_upgraded_as_any_other() {
    let folder = Folder::new();
    let upstream = Upstream::new(&folder, "up.git");
    let files = |value: &str, more: &str| {
        let text = format!("# by us\n\n{}", map("a", &[("v", value)]));
        vec![("d/a.yaml".to_owned(), text), ("d/README.md".to_owned(), format!("one\ntwo\n{more}"))]
    };
    upstream.release(&files("'1'", ""), "v1.0.0");
    upstream.release(&files("'2'", "three\n"), "v2.0.0");
    let mine = folder.path("mine");
    folder.run(&["get", &upstream.source("d@v1.0.0"), "mine"]).passed();
    commit(&mine, "got");
    git(&mine, &["config", "core.autocrlf", "true"]);
    git(&mine, &["rm", "--quiet", "--cached", "-r", "."]);
    git(&mine, &["reset", "--quiet", "--hard"]);
    assert!(folder.read("mine/README.md").ends_with("two\r\n"));
    folder.run(&["upgrade", "mine"]).passed();
    for (path, text) in files("'2'", "three\n") {
        assert_eq!(folder.read(&path.replace("d/", "mine/")), text.replace('\n', "\r\n"));
    }
    assert_eq!(git(&mine, &["diff", "--stat"]).lines().count(), 4);
}

#[test]
fn a_package_with_changes_that_are_not_committed_is_refused() {
    let folder = Folder::new();
    let upstream = Upstream::new(&folder, "up.git");
    let text = |value: &str| vec![("d/a.yaml".to_owned(), map("a", &[("v", value)]))];
    ["'1'", "'2'"].iter().zip(["v1", "v2"]).for_each(|(value, tag)| upstream.release(&text(value), tag));
    folder.run(&["get", &upstream.source("d@v1"), "mine/d"]).passed();
    commit(&folder.path("mine"), "got");
    for (file, text) in
        [("mine/d/new.txt", "x"), ("mine/d/a.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n")]
    {
        folder.write(file, text);
        let before = folder.files("mine/d");
        let told = folder.run(&["upgrade", "mine/d"]).failed(2);
        assert!(told.contains("Commit all changes first") && told.contains("--allow-dirty"), "{told}");
        assert_eq!(folder.files("mine/d"), before);
        folder.run(&["upgrade", "mine/d", "-o", "diff", "--on-conflict", "keep-dest"]).passed();
    }
    folder.run(&["upgrade", "mine/d", "--allow-dirty", "--on-conflict", "keep-dest"]).passed();
    // A file elsewhere in the repository does not matter.
    commit(&folder.path("mine"), "upgraded");
    folder.write("mine/other.txt", "x");
    folder.run(&["upgrade", "mine/d", "--to", "v1", "--on-conflict", "keep-dest"]).passed();
}

#[test]
fn a_package_that_was_copied_by_hand_names_its_release_the_first_time() {
    let folder = Folder::new();
    let upstream = Upstream::new(&folder, "up.git");
    for number in 0..4 {
        upstream.release(&release(number), &format!("v1.{number}.0"));
    }
    folder.run(&["get", &upstream.source("deploy@v1.2.0"), "web"]).passed();
    std::fs::remove_file(folder.path("web/.krm-merge.yaml")).expect("removed");
    folder.write("web/c11.yaml", map("c11", &[("a", "ours")]));
    let before = folder.files("web");
    let told = folder.run(&["upgrade", "web"]).failed(2);
    assert!(told.contains("`--upstream REPO.git/DIRECTORY --from REF`"), "{told}");
    let told = folder.run(&["upgrade", "web", "--upstream", &upstream.source("deploy")]).failed(2);
    assert!(
        told.contains("The closest is v1.2.0 (11 of 12 resources are equal)") && told.contains("--from v1.2.0"),
        "{told}"
    );
    assert_eq!(folder.files("web"), before);
    folder.run(&["upgrade", "web", "--upstream", &upstream.source("deploy"), "--from", "v1.2.0"]).passed();
    assert!(folder.read("web/.krm-merge.yaml").contains("ref: v1.3.0"));
    assert!(folder.read("web/c02.yaml").contains("a: '3'"));
    assert!(folder.read("web/c11.yaml").contains("a: ours"));
    assert!(folder.run(&["upgrade", "web"]).passed().contains("has v1.3.0 already"));
}

#[test]
fn a_commit_that_is_gone_from_upstream_is_told_with_the_nearest_release() {
    let folder = Folder::new();
    let upstream = Upstream::new(&folder, "up.git");
    for number in 0..3 {
        upstream.release(&release(number), &format!("v1.{number}.0"));
    }
    folder.run(&["get", &upstream.source("deploy@v1.1.0"), "web"]).passed();
    let record = folder.read("web/.krm-merge.yaml");
    folder.write("web/.krm-merge.yaml", record.replace(&upstream.commit("v1.1.0"), &"d".repeat(40)));
    let told = folder.run(&["upgrade", "web"]).failed(2);
    assert!(
        told.contains("is gone from") && told.contains("The closest is v1.1.0 (12 of 12 resources are equal)"),
        "{told}"
    );
    folder.run(&["upgrade", "web", "--from", "v1.1.0"]).passed();
    assert!(folder.read("web/.krm-merge.yaml").contains("ref: v1.2.0"));
}

#[test]
fn each_of_several_packages_is_whole_or_untouched() {
    let folder = Folder::new();
    let upstream = Upstream::new(&folder, "up.git");
    for (value, tag) in [("'1'", "v1"), ("'2'", "v2")] {
        let files = ["a", "b", "c"].map(|name| (format!("{name}/{name}.yaml"), map(name, &[("v", value)])));
        upstream.release(&files, tag);
    }
    for name in ["a", "b", "c"] {
        folder.run(&["get", &upstream.source(&format!("{name}@v1")), name]).passed();
    }
    folder.write("b/b.yaml", map("b", &[("v", "ours")]));
    folder.write("c/c.yaml", "<<<<<<< a\na: 1\n=======\na: 2\n>>>>>>> b\n");
    let before = folder.files("c");
    let ran = folder.run(&["upgrade", "a", "b", "c", "gone", "--allow-dirty"]);
    assert_eq!(ran.code, Some(2));
    let last = ran.stderr.lines().last().expect("a summary");
    assert_eq!(last, "4 packages: 1 upgraded, 1 upgraded with conflicts, 2 failed and untouched", "{ran:?}");
    assert!(folder.read("a/a.yaml").contains("v: '2'") && folder.read("b/b.yaml").contains("<<<<<<<"));
    assert_eq!(folder.files("c"), before);
    assert!(ran.stderr.contains("error: gone: "), "{ran:?}");
}

#[test]
fn packages_of_one_upstream_fetch_it_once() {
    let folder = Folder::new();
    let upstream = Upstream::new(&folder, "up.git");
    let names: Vec<String> = (0..30).map(|at| format!("p{at:02}")).collect();
    for (value, tag) in [("'1'", "v1"), ("'2'", "v2")] {
        let files: Vec<_> =
            names.iter().map(|name| (format!("{name}/{name}.yaml"), map(name, &[("v", value)]))).collect();
        upstream.release(&files, tag);
    }
    for name in &names {
        folder.run(&["get", &upstream.source(&format!("{name}@v1")), name]).passed();
    }
    let trace = folder.path("trace");
    let mut command = folder.command(&["upgrade"]);
    command.args(&names).env("GIT_TRACE", &trace);
    let ran = crate::support::Ran::of(command.output().expect("the plugin runs"));
    assert!(ran.stderr.ends_with("30 packages: 30 upgraded\n"), "{ran:?}");
    let trace = std::fs::read_to_string(trace).expect("a trace");
    let asked = trace
        .lines()
        .filter(|line| line.contains("built-in: git upload-pack") || line.contains("run_command: git-upload-pack"))
        .count();
    // The list of tags, the commits, and the files; each line twice, for git runs itself.
    assert!(asked <= 6, "{asked}: {trace}");
}

#[test]
fn without_the_network_it_uses_what_was_fetched() {
    let folder = Folder::new();
    let upstream = Upstream::new(&folder, "up.git");
    let text = |value: &str| vec![("d/a.yaml".to_owned(), map("a", &[("v", value)]))];
    ["'1'", "'2'"].iter().zip(["v1", "v2"]).for_each(|(value, tag)| upstream.release(&text(value), tag));
    let source = upstream.source("d@v1");
    let told = folder.run(&["get", &source, "early", "--offline"]).failed(2);
    assert!(told.contains("must have been fetched before"), "{told}");
    folder.run(&["get", &source, "d"]).passed();
    std::fs::rename(folder.path("up.git"), folder.path("away")).expect("moved");
    folder.run(&["get", &source, "again", "--offline"]).passed();
    let told = folder.run(&["upgrade", "d", "--offline"]).failed(2);
    assert!(told.contains("was not fetched before, and `--offline` is given"), "{told}");
    let told = folder.run(&["upgrade", "d"]).failed(2);
    assert!(told.contains("must be a git repository") && told.contains("git: fatal: "), "{told}");
}

#[test]
fn a_package_with_an_upstream_and_nothing_else_gets_its_first_release() {
    let folder = Folder::new();
    let upstream = Upstream::new(&folder, "up.git");
    let text = |value: &str| vec![("d/a.yaml".to_owned(), map("a", &[("v", value)]))];
    ["'1'", "'2'"].iter().zip(["v1", "v2"]).for_each(|(value, tag)| upstream.release(&text(value), tag));
    let repo = upstream.source("");
    let kptfile = format!(
        "apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: p\nupstream:\n  type: git\n  git: {{repo: '{}', directory: d, ref: v1}}\n",
        repo.trim_end_matches('/')
    );
    folder.write("p/Kptfile", &kptfile);
    folder.run(&["upgrade", "p", "--to", "v1"]).passed();
    assert!(folder.read("p/a.yaml").contains("v: '1'") && folder.read("p/Kptfile").contains(&upstream.commit("v1")));
    let yaml = folder.run(&["upgrade", "p", "--to", "v1", "-o", "yaml", "--without-local-config"]).passed();
    assert_eq!(yaml, map("a", &[("v", "'1'")]));
    // With files of its own, nobody knows where they come from.
    folder.write("p/Kptfile", &kptfile);
    let told = folder.run(&["upgrade", "p"]).failed(2);
    assert!(told.contains("The closest is v1 (1 of 1 resources are equal)"), "{told}");
}
