//! `resolve` merges what git merged by line: it leaves what the driver would have left, wherever git stopped.

use std::process::Command;

use super::{Repository, WEB};
use crate::support::{Folder, Ran, has, skipped};

/// Both add to one list, and change neighbouring lines.
fn sides() -> [String; 3] {
    let ours = WEB.replace("replicas: 1", "replicas: 3 # ours") + "        - name: B\n          value: b\n";
    let theirs = WEB.replace("spec:\n  replicas", "spec:\n  paused: true\n  replicas")
        + "        - name: C\n          value: c\n";
    [WEB.to_owned(), ours, theirs]
}

/// The same sides, but each set another tag.
fn sides_in_conflict() -> [String; 3] {
    let [original, ours, theirs] = sides();
    let tag = |text: String, tag: &str| text.replace("image: web:1", &format!("image: web:{tag}"));
    [tag(original, "1.0"), tag(ours, "1.1"), tag(theirs, "1.2")]
}

/// What the driver leaves, with these labels.
fn by_driver([original, ours, theirs]: &[String; 3], [ours_label, theirs_label]: [&str; 2]) -> String {
    let folder = Folder::with(&[("o", original), ("a", ours), ("b", theirs)]);
    let labels = [format!("--ours-label={ours_label}"), format!("--theirs-label={theirs_label}")];
    folder.run(&["git-driver", &labels[0], &labels[1], "o", "a", "b", "web.yaml"]);
    folder.read("a")
}

/// A repository in which git merges by line, with the original in its first commit.
fn without_driver(original: &str) -> Repository {
    let repository = Repository::new("web.yaml", original);
    repository.0.run(&["git-install", "--uninstall"]).passed();
    repository.git(&["add", "-A"]);
    repository.git(&["commit", "-q", "--amend", "-m", "first"]);
    repository
}

/// The same, in a merge that git stopped.
fn stopped(sides: &[String; 3]) -> Repository {
    let repository = without_driver(&sides[0]);
    repository.branch("web.yaml", &sides[1], &sides[2]);
    repository.fails(&["merge", "-q", "topic"]);
    repository
}

impl Repository {
    fn merged_by_field(&self, more: &[&str]) -> Ran {
        self.0.run(&[&["resolve", "--take", "merged"], more].concat())
    }
}

#[test]
fn wherever_git_stops_the_result_is_that_of_the_driver() {
    if !has("git") {
        return;
    }
    let sides = sides();
    let [original, ours, theirs] = &sides;
    let want = by_driver(&sides, ["HEAD", "topic"]);
    assert!(!want.contains("<<<<"), "{want}");
    let commit = |repository: &Repository, text: &str, message: &str| {
        repository.0.write("web.yaml", text);
        repository.commit(message);
    };
    type Stop<'s> = &'s dyn Fn(&Repository);
    let branched = |repository: &Repository| repository.branch("web.yaml", ours, theirs);
    let ways: [(&str, Stop<'_>); 7] = [
        ("merge", &|repository| {
            branched(repository);
            repository.fails(&["merge", "-q", "topic"]);
        }),
        ("rebase", &|repository| {
            branched(repository);
            repository.git(&["checkout", "-q", "topic"]);
            repository.fails(&["rebase", "-q", "main"]);
        }),
        ("cherry-pick", &|repository| {
            branched(repository);
            repository.fails(&["cherry-pick", "topic"]);
        }),
        ("revert", &|repository| {
            commit(repository, theirs, "what the revert brings back");
            commit(repository, original, "what is reverted");
            commit(repository, ours, "ours");
            repository.fails(&["revert", "--no-edit", "HEAD~1"]);
        }),
        ("stash pop", &|repository| {
            repository.0.write("web.yaml", theirs);
            repository.git(&["stash", "-q"]);
            commit(repository, ours, "ours");
            repository.fails(&["stash", "pop", "-q"]);
        }),
        ("checkout -m", &|repository| {
            repository.git(&["branch", "-q", "old"]);
            commit(repository, ours, "ours");
            repository.git(&["checkout", "-q", "old"]);
            repository.0.write("web.yaml", theirs);
            let _ = repository.command(&["checkout", "-q", "-m", "main"]).output().expect("git");
        }),
        ("merge-tree", &|repository| {
            branched(repository);
            let merged = repository.command(&["merge-tree", "--write-tree", "main", "topic"]).output().expect("git");
            let tree = String::from_utf8_lossy(&merged.stdout).lines().next().unwrap_or_default().to_owned();
            if tree.len() < 40 || !tree.chars().all(|c| c.is_ascii_hexdigit()) {
                skipped("git", "has no `merge-tree --write-tree`");
                return repository.0.write("web.yaml", &want);
            }
            repository.0.write("web.yaml", repository.git(&["show", &format!("{tree}:web.yaml")]));
        }),
    ];
    for (way, stop) in ways {
        let repository = without_driver(original);
        stop(&repository);
        let ran = repository.merged_by_field(&["--git-add"]);
        assert_eq!((ran.code, repository.0.read("web.yaml")), (Some(0), want.clone()), "{way}: {ran:?}");
        assert_eq!(repository.git(&["ls-files", "--unmerged"]), "", "{way}");
    }
}

#[test]
fn what_both_changed_is_left_as_the_driver_leaves_it() {
    if !has("git") {
        return;
    }
    let sides = sides_in_conflict();
    let want = by_driver(&sides, ["HEAD", "topic"]);
    let repository = stopped(&sides);
    let before = repository.0.read("web.yaml");
    let ran = repository.merged_by_field(&["--git-add"]);
    let line = want.lines().position(|line| line.starts_with("<<<<<<<")).expect("a marker") + 1;
    let conflicts = before.matches("<<<<<<<").count();
    assert!(conflicts > 1, "{before}");
    let told = format!(
        "merged web.yaml by field: {conflicts} conflicts, 1 left\n1 web.yaml:{line} Deployment web spec.template.spec.containers[name=app].image\n"
    );
    assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr.as_str()), (Some(1), told.as_str(), ""), "{ran:?}");
    assert_eq!(repository.0.read("web.yaml"), want);
    assert_ne!(repository.git(&["ls-files", "--unmerged"]), "");
    // A second run changes nothing, and a side is taken as before.
    assert_eq!(repository.merged_by_field(&[]).code, Some(1));
    assert_eq!(repository.0.read("web.yaml"), want);
    repository.0.run(&["resolve", "--take", "theirs"]).passed();
    assert!(repository.0.read("web.yaml").contains("image: web:1.2"));
    // git brings its markers back.
    repository.git(&["checkout", "-q", "--merge", "--", "web.yaml"]);
    assert_eq!(repository.0.read("web.yaml").matches("<<<<<<<").count(), conflicts);
}

#[test]
fn what_a_person_edited_stays() {
    if !has("git") {
        return;
    }
    let sides = sides_in_conflict();
    let repository = stopped(&sides);
    // One conflict is decided, and a line outside of them is new.
    let text = repository.0.read("web.yaml");
    let (before, rest) = text.split_once("<<<<<<<").expect("a conflict");
    let (_, after) = rest.split_once(">>>>>>> topic\n").expect("its end");
    let edited = format!("# edited\n{before}  replicas: 7 # by hand\n{after}");
    repository.0.write("web.yaml", &edited);
    let ran = repository.merged_by_field(&[]);
    let text = repository.0.read("web.yaml");
    assert!(text.starts_with("# edited\n") && text.contains("  replicas: 7 # by hand\n"), "{ran:?}\n{text}");
    assert!(text.matches("<<<<<<<").count() <= edited.matches("<<<<<<<").count(), "{text}");
    for name in ["name: B\n", "name: C\n"] {
        assert_eq!(text.matches(name).count(), 1, "{text}");
    }
}

/// Without a repository, the original between the markers tells the sides.
#[test]
fn markers_alone_are_enough_if_they_have_the_original() {
    if !has("git") {
        return;
    }
    let sides = sides();
    let want = by_driver(&sides, ["a", "b"]);
    let marked = |more: &[&str], sides: &[String; 3]| {
        let folder = Folder::with(&[("o", &*sides[0]), ("a", &sides[1]), ("b", &sides[2])]);
        let args = [&["merge-file", "-p", "-q"], more, &["a", "o", "b"]].concat();
        let output = Command::new("git").args(args).current_dir(&folder.0).output().expect("git");
        String::from_utf8(output.stdout).expect("UTF-8")
    };
    let merged = |text: &str| {
        let folder = Folder::with(&[("web.yaml", text)]);
        let ran = folder.run(&["resolve", "--take", "merged"]);
        (ran.code, folder.read("web.yaml"), ran.stderr)
    };
    for more in [&["--diff3"][..], &["--diff3", "--marker-size=12"]] {
        assert_eq!(merged(&marked(more, &sides)), (Some(0), want.clone(), String::new()), "{more:?}");
    }
    let crlf = sides.clone().map(|text| text.replace('\n', "\r\n"));
    assert_eq!(merged(&marked(&["--diff3"], &crlf)).1, want.replace('\n', "\r\n"));
    // Without the original, nobody knows which side changed what.
    let text = marked(&[], &sides);
    let (code, left, told) = merged(&text);
    assert_eq!((code, left), (Some(1), text));
    assert!(
        told.starts_with("warning: web.yaml: not merged by field, because neither git's index nor the markers have"),
        "{told}"
    );
}

/// Ours moved a map, and has another one in its place. git puts the field that theirs adds to it into the other one, and the markers do not tell.
#[test]
fn markers_alone_put_no_field_into_another_map() {
    if !has("git") {
        return;
    }
    let map = |name: &str, fields: &str| format!("  {name}:\n    kind: map\n    fields:\n{fields}");
    let (moved, added) = ("      labels: a\n      tolerations: b\n      affinity: c\n", "      envFrom: d\n");
    let ports: String = (1..7).map(|n| format!("      port{n}: {n}\n")).collect();
    let (client, service) = (map("client", "      a: 1\n"), map("service", &ports));
    let of = |maps: &[&str]| format!("properties:\n{}", maps.concat());
    let deployment = map("deployment", moved);
    let folder = Folder::with(&[
        ("o", &of(&[&client, &deployment, &service])),
        ("a", &of(&[&client, &map("init", "      limits: a\n"), &service, &deployment])),
        ("b", &of(&[&client, &deployment, added, &service])),
    ]);
    let args = ["merge-file", "-p", "-q", "--diff3", "--diff-algorithm=histogram", "a", "o", "b"];
    let marked = Command::new("git").args(args).current_dir(&folder.0).output().expect("git").stdout;
    folder.write("web.yaml", &marked);
    let ran = folder.run(&["resolve", "--take", "merged", "web.yaml"]);
    assert_eq!((ran.code, folder.read("web.yaml").as_bytes()), (Some(1), &*marked), "{ran:?}");
}

/// What a run leaves between markers, a second one leaves as it is.
#[test]
fn a_second_run_changes_nothing() {
    if !has("git") {
        return;
    }
    let job = |name: &str, stage: &str, when: &str| format!("{name}:\n  stage: {stage}\n  when: {when}\n\n");
    let [one, two, three, four] = ["one", "two", "three", "four"].map(|name| job(name, "deploy", "manual"));
    let text = |jobs: &[&str]| jobs.concat().trim_end().to_owned() + "\n";
    let sides = [
        text(&[&one, &two, &three, &four]),
        text(&[&one, &job("two", "unit", "manual"), &three, &job("four", "deploy", "never")]),
        text(&[&one, &three, &job("four", "deploy", "always")]),
    ];
    let repository = stopped(&sides);
    let run = || {
        assert_eq!(repository.merged_by_field(&[]).code, Some(1));
        repository.0.read("web.yaml")
    };
    let (first, second) = (run(), run());
    assert_eq!(second, first);
}

/// Without git, nothing is merged by field, and the conflicts are those that are there.
#[test]
fn without_git_the_conflicts_are_left_as_they_are() {
    let text = "a: 1\n<<<<<<< ours\nb: 1\n||||||| o\nb: 0\n=======\nb: 2\n>>>>>>> theirs\n";
    let folder = Folder::with(&[("web.yaml", text)]);
    let mut resolve = Command::new(crate::support::PLUGIN);
    resolve.args(["resolve", "--take", "merged"]).current_dir(&folder.0).env("PATH", "");
    let ran = Ran::of(resolve.output().expect("runs"));
    assert_eq!((ran.code, folder.read("web.yaml").as_str()), (Some(1), text), "{ran:?}");
    assert!(ran.stderr.starts_with("warning: web.yaml: not merged by field, because git must be on PATH"), "{ran:?}");
}

#[test]
fn a_template_stays_and_json_is_merged() {
    if !has("git") {
        return;
    }
    let text = |a: &str, b: &str| format!("{{\n  \"a\": {a},\n  \"b\": {b}\n}}\n");
    let [original, ours, theirs] = [text("1", "1"), text("2", "1"), text("1", "2")];
    let conflict = |name: &str, [original, ours, theirs]: [&str; 3]| {
        let folder = Folder::with(&[("o", original), ("a", ours), ("b", theirs)]);
        let output =
            Command::new("git").args(["merge-file", "-p", "--diff3", "a", "o", "b"]).current_dir(&folder.0).output();
        let folder = Folder::with(&[(name, &*String::from_utf8(output.expect("git").stdout).expect("UTF-8"))]);
        let before = folder.read(name);
        (folder.run(&["resolve", "--take", "merged"]).code, before, folder.read(name))
    };
    let (code, _, after) = conflict("a.json", [&original, &ours, &theirs]);
    assert_eq!((code, after), (Some(0), text("2", "2")));
    let template = [
        "{{ if a }}\nx: 1\ny: 1\n{{ end }}\n",
        "{{ if a }}\nx: 2\ny: 1\n{{ end }}\n",
        "{{ if a }}\nx: 1\ny: 2\n{{ end }}\n",
    ];
    let (code, before, after) = conflict("a.yaml", template);
    assert_eq!((code, after), (Some(1), before));
}

/// The rules of the repository decide, as they do in the driver.
#[test]
fn rules_of_the_repository_decide() {
    if !has("git") {
        return;
    }
    let sides = sides_in_conflict();
    let repository = stopped(&sides);
    repository.0.run(&["git-install", "--newest"]).passed();
    let ran = repository.merged_by_field(&[]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(
        ran.stderr.contains("took theirs, the newer version, as `spec.rules[0]` of .krm-merge.yaml says"),
        "{ran:?}"
    );
    assert!(repository.0.read("web.yaml").contains("image: web:1.2"));
}

#[test]
fn the_newer_side_is_an_answer_and_a_rule() {
    if !has("git") {
        return;
    }
    let repository = stopped(&sides_in_conflict());
    repository.merged_by_field(&[]);
    let text = repository.0.read("web.yaml");
    repository.0.write("answers", "1 newest\n");
    repository.0.run(&["resolve", "--answers", "answers", "--record", "rules.yaml", "web.yaml"]).passed();
    assert!(repository.0.read("web.yaml").contains("image: web:1.2"));
    let rules = repository.0.read("rules.yaml");
    assert!(rules.ends_with("    path: spec.template.spec.containers[name=app].image\n    take: Newest\n"), "{rules}");
    // It holds for other versions, too.
    let files = [
        ("o", WEB.replace("web:1", "web:1.7")),
        ("u", WEB.replace("web:1", "web:1.8")),
        ("d", WEB.replace("web:1", "web:1.9")),
    ];
    for (side, text) in &files {
        repository.0.write(&format!("{side}/web.yaml"), text);
    }
    let args =
        ["three-way", "--original", "o", "--updated", "u", "--dest", "d", "--config", "rules.yaml", "--in-place"];
    repository.0.run(&args).passed();
    assert_eq!(repository.0.read("d/web.yaml"), files[2].1);
    // Where the sides are no versions, it is no answer.
    repository.0.write("web.yaml", text.replace("web:1.2", "api:1.2"));
    let error = repository.0.run(&["resolve", "--answers", "answers", "web.yaml"]).failed(2);
    assert!(error.contains("because its sides differ in more than a version that can be compared"), "{error}");
}

#[test]
fn git_finds_the_tools() {
    if !has("git") {
        return;
    }
    let repository = stopped(&sides());
    let told = repository.0.run(&["git-install", "--tools"]).passed();
    assert!(told.contains("git config --local mergetool.krm-merge.trustExitCode 'true'\n"), "{told}");
    // Without a terminal, `resolve` cannot ask, and git says that the file is not resolved.
    let ran = Ran::of(repository.command(&["mergetool", "--no-prompt", "--tool=krm-merge"]).output().expect("git"));
    assert!(ran.stderr.contains("Pass `--take ours`, `--take theirs` or `--answers FILE`"), "{ran:?}");
    let shown = repository.git(&["difftool", "--no-prompt", "--tool=krm-merge", "main~1", "main", "--", "web.yaml"]);
    assert!(shown.contains("  ~ spec.replicas: 1 -> 3\n"), "{shown}");
    let told = repository.0.run(&["git-install", "--uninstall"]).passed();
    assert!(
        told.contains("--remove-section mergetool.krm-merge\n")
            && told.contains("--remove-section difftool.krm-merge\n"),
        "{told}"
    );
}

#[test]
fn the_rule_for_newer_versions_is_written_once() {
    if !has("git") {
        return;
    }
    let [original, ours, theirs] = sides_in_conflict();
    let repository = Repository::new("web.yaml", &original);
    let install = |more: &[&str]| repository.0.run(&[&["git-install", "--newest"], more].concat()).passed();
    assert!(install(&["--dry-run"]).ends_with("/.krm-merge.yaml: take: Newest\n"));
    assert!(!repository.0.path(".krm-merge.yaml").exists());
    install(&[]);
    let text = repository.0.read(".krm-merge.yaml");
    assert!(text.ends_with("spec:\n  rules:\n  - take: Newest\n"), "{text}");
    assert!(install(&[]).starts_with("nothing changed"));
    repository.commit("rules");
    repository.branch("web.yaml", &ours, &theirs);
    repository.git(&["merge", "-q", "--no-edit", "topic"]);
    assert!(repository.0.read("web.yaml").contains("image: web:1.2"));
}
