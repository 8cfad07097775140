//! The commands of git that run the driver, beside merge and rebase, and what they hand it: stashes, picks, files that moved, line breaks.

use super::{Half, Repository, WEB, resolved};
use crate::support::has;

/// Neighbouring changes of both sides, and what they are together.
fn neighbours() -> [String; 3] {
    let ours = WEB.replace("replicas: 1", "replicas: 3") + "        - name: B\n          value: b\n";
    let theirs = WEB.replace("  template:", "  paused: true\n  template:") + "        - name: C\n          value: c\n";
    let both = ours.replace("  template:", "  paused: true\n  template:") + "        - name: C\n          value: c\n";
    [ours, theirs, both]
}

fn images() -> [String; 2] {
    ["ours", "theirs"].map(|image| WEB.replace("web:1", &format!("web:{image}")))
}

fn block(ours: &str, theirs: &str) -> String {
    let image = |name: &str| format!("        image: web:{name}\n");
    format!("<<<<<<< {ours}\n{}=======\n{}>>>>>>> {theirs}\n", image("ours"), image("theirs"))
}

#[test]
fn a_pick_is_merged() {
    if !has("git") {
        return;
    }
    let [ours, theirs, both] = neighbours();
    let repository = Repository::new("web.yaml", WEB);
    repository.branch("web.yaml", &ours, &theirs);
    repository.git(&["cherry-pick", "topic"]);
    assert_eq!(repository.0.read("web.yaml"), both);
    // And taken back.
    repository.git(&["revert", "--no-edit", "HEAD~1"]);
    assert_eq!(repository.0.read("web.yaml"), theirs);
    let [ours, theirs] = images();
    let repository = Repository::new("web.yaml", WEB);
    repository.branch("web.yaml", &ours, &theirs);
    let told = repository.fails(&["cherry-pick", "topic"]).stderr;
    let id = repository.git(&["rev-parse", "--short", "topic"]);
    let label = format!("{} (theirs)", id.trim());
    let want = WEB.replace("        image: web:1\n", &block("HEAD", &label));
    assert_eq!(repository.0.read("web.yaml"), want);
    assert!(told.contains(": ours (HEAD) has \"web:ours\", theirs ("), "{told}");
    repository.git(&["cherry-pick", "--abort"]);
    assert_eq!(repository.0.read("web.yaml"), ours);
}

#[test]
fn a_stash_is_merged() {
    if !has("git") {
        return;
    }
    let stashed = |ours: &str, theirs: &str| {
        let repository = Repository::new("web.yaml", WEB);
        repository.0.write("web.yaml", theirs);
        repository.git(&["stash", "-q"]);
        repository.0.write("web.yaml", ours);
        repository.commit("ours");
        repository
    };
    let [ours, theirs, both] = neighbours();
    let repository = stashed(&ours, &theirs);
    repository.git(&["stash", "pop", "-q"]);
    assert_eq!(repository.0.read("web.yaml"), both);
    assert_eq!(repository.git(&["stash", "list"]), "");
    let [ours, theirs] = images();
    let repository = stashed(&ours, &theirs);
    repository.fails(&["stash", "pop"]);
    let want = WEB.replace("        image: web:1\n", &block("Updated upstream", "Stashed changes"));
    assert_eq!(repository.0.read("web.yaml"), want);
    assert_ne!(repository.git(&["stash", "list"]), "", "git keeps what is in conflict");
}

/// git finds the file again; the driver finds the resource.
#[test]
fn a_file_that_moved_is_merged_where_it_went() {
    if !has("git") {
        return;
    }
    let [ours, theirs, both] = neighbours();
    for is_ours in [true, false] {
        let repository = Repository::new("web.yaml", WEB);
        let write = |text: &str, is_moved: bool| {
            if is_moved {
                std::fs::create_dir_all(repository.0.path("apps/web")).expect("a folder");
                repository.git(&["mv", "web.yaml", "apps/web/deployment.yaml"]);
            }
            repository.0.write(if is_moved { "apps/web/deployment.yaml" } else { "web.yaml" }, text);
            repository.commit("changed");
        };
        repository.git(&["checkout", "-q", "-b", "topic"]);
        write(&theirs, !is_ours);
        repository.git(&["checkout", "-q", "main"]);
        write(&ours, is_ours);
        repository.git(&["merge", "-q", "topic", "-m", "merge"]);
        assert_eq!(repository.0.read("apps/web/deployment.yaml"), both);
        assert!(!repository.0.path("web.yaml").exists());
    }
}

#[test]
fn line_breaks_are_kept() {
    if !has("git") {
        return;
    }
    let crlf = |text: &str| text.replace('\n', "\r\n");
    let [ours, theirs, both] = neighbours();
    let repository = Repository::new("web.yaml", &crlf(WEB));
    repository.branch("web.yaml", &crlf(&ours), &crlf(&theirs));
    repository.git(&["merge", "-q", "topic", "-m", "merge"]);
    assert_eq!(repository.0.read("web.yaml"), crlf(&both));
    let [ours, theirs] = images();
    for style in ["merge", "diff3", "zdiff3"] {
        let repository = Repository::new("web.yaml", &crlf(WEB));
        repository.branch("web.yaml", &crlf(&ours), &crlf(&theirs));
        repository.git(&["config", "merge.conflictStyle", style]);
        repository.fails(&["merge", "topic"]);
        let text = repository.0.read("web.yaml");
        assert_eq!(text.matches('\n').count(), text.matches("\r\n").count(), "{text:?}");
        assert_eq!(resolved(&text, Half::Ours), crlf(&ours), "{style}");
        assert_eq!(resolved(&text, Half::Theirs), crlf(&theirs), "{style}");
    }
    // In the work tree alone.
    let repository = Repository::new("web.yaml", WEB);
    repository.0.write(".gitattributes", repository.0.read(".gitattributes") + "*.yaml text eol=crlf\n");
    repository.commit("line breaks");
    repository.branch("web.yaml", &crlf(&neighbours()[0]), &crlf(&neighbours()[1]));
    repository.git(&["merge", "-q", "topic", "-m", "merge"]);
    assert_eq!(repository.0.read("web.yaml"), crlf(&both));
    assert_eq!(repository.git(&["show", "HEAD:web.yaml"]), both);
    // Only ours has them: that is no edit, also of a file without resources, which git would put between markers as a whole.
    for (path, original, theirs) in
        [("web.yaml", WEB, &*neighbours()[1]), ("list.yaml", "- a\n- b\n- c\n", "- a\n- b\n- d\n")]
    {
        let repository = Repository::new(path, original);
        repository.branch(path, &crlf(original), theirs);
        repository.git(&["merge", "-q", "topic", "-m", "merge"]);
        assert_eq!(repository.0.read(path), crlf(theirs));
        assert_eq!(repository.git(&["status", "--porcelain"]), "");
    }
}

/// A merge tool is given what git has of each side, and the text of the driver.
#[test]
fn a_merge_tool_is_given_the_sides_and_the_text_with_markers() {
    if !has("git") {
        return;
    }
    let [ours, theirs, both] = neighbours();
    let image = |text: &str, name: &str| text.replace("web:1", name);
    let (ours, theirs) = (image(&ours, "web:ours"), image(&theirs, "web:theirs"));
    for style in ["merge", "zdiff3"] {
        let repository = Repository::new("a b/web.yaml", WEB);
        repository.branch("a b/web.yaml", &ours, &theirs);
        repository.git(&["config", "merge.conflictStyle", style]);
        repository.git(&["config", "merge.tool", "recorder"]);
        let records = repository.0.path(".git/record");
        std::fs::create_dir_all(&records).expect("a folder");
        let records = records.to_string_lossy();
        let copies: String = ["BASE", "LOCAL", "REMOTE", "MERGED"]
            .iter()
            .map(|name| format!("cp \"${name}\" '{records}/{name}' && "))
            .collect();
        repository.git(&["config", "mergetool.recorder.cmd", &format!("{copies}cp '{records}/new' \"$MERGED\"")]);
        repository.git(&["config", "mergetool.recorder.trustExitCode", "true"]);
        repository.git(&["config", "mergetool.keepBackup", "false"]);
        repository.0.write(".git/record/new", image(&both, "web:both"));
        repository.fails(&["merge", "topic"]);
        let marked = repository.0.read("a b/web.yaml");
        repository.git(&["mergetool", "--no-prompt"]);
        let given = |name: &str| repository.0.read(&format!(".git/record/{name}"));
        assert_eq!(given("BASE"), WEB);
        assert_eq!(given("LOCAL"), ours);
        assert_eq!(given("REMOTE"), theirs);
        assert_eq!(given("MERGED"), marked);
        // What the driver could merge is merged on both sides of the one conflict that is left.
        assert_eq!(marked.matches("<<<<<<<").count(), 1, "{marked}");
        assert_eq!(resolved(&marked, Half::Ours), image(&both, "web:ours"));
        assert_eq!(resolved(&marked, Half::Theirs), image(&both, "web:theirs"));
        assert_eq!(repository.0.read("a b/web.yaml"), image(&both, "web:both"));
        assert_eq!(repository.git(&["diff", "--name-only", "--diff-filter=U"]), "", "all is decided");
    }
}
