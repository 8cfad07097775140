//! What the driver knows of the repository: the definitions in git's index, and `.krm-merge.yaml` at its root.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::Command;

use super::{Repository, WEB};
use crate::support::{Ran, has, root};

/// A definition whose list has keys that nobody would guess.
const DEFINITION: &str = "\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: gates.example.com
spec:
  group: example.com
  names: {kind: Gate, plural: gates}
  versions:
  - name: v1
    schema:
      openAPIV3Schema:
        properties:
          spec:
            properties:
              doors:
                type: array
                x-kubernetes-list-type: map
                x-kubernetes-list-map-keys: [room]
";

/// Where the cache lies.
const CACHE: &str = ".git/krm-merge/definitions";

/// A resource of the type, with doors of these rooms.
fn gate(rooms: &str) -> String {
    let doors: String = rooms.chars().map(|room| format!("  - room: {room}\n    color: {room}1\n")).collect();
    format!("apiVersion: example.com/v1\nkind: Gate\nmetadata:\n  name: g\nspec:\n  doors:\n{doors}")
}

/// A door, another one on each side, and all of them. Without keys, what both sides add in one place is a conflict.
fn gates() -> [String; 4] {
    ["a", "ab", "ac", "abc"].map(gate)
}

/// A repository with these files in its first commit, of which both sides change the gates.
fn repository(files: &[(&str, &str)], gates: &[&str]) -> Repository {
    let repository = Repository::new("x.txt", "x\n");
    files.iter().for_each(|(path, text)| repository.0.write(path, text));
    let [original, ours, theirs, _] = self::gates();
    let write = |text: &str| gates.iter().for_each(|path| repository.0.write(path, text));
    write(&original);
    repository.commit("gates");
    repository.git(&["checkout", "-q", "-b", "topic"]);
    write(&theirs);
    repository.commit("theirs");
    repository.git(&["checkout", "-q", "main"]);
    write(&ours);
    repository.commit("ours");
    repository
}

impl Repository {
    /// Goes back to before the merge.
    fn back(&self) {
        self.git(&["reset", "-q", "--hard", "ORIG_HEAD"]);
    }
}

#[test]
fn lists_merge_as_a_definition_in_the_index_says() {
    if !has("git") {
        return;
    }
    let alone = repository(&[], &["g.yaml"]);
    alone.fails(&["merge", "topic"]);
    assert!(alone.0.read("g.yaml").contains("<<<<<<<"));
    let merged = gates()[3].clone();
    // Where it lies, and what lies beside it, is no matter; nor is a list that it stands in.
    let list = format!("apiVersion: v1\nkind: List\nitems:\n- {}", DEFINITION.trim_end().replace('\n', "\n  ") + "\n");
    for (path, text) in [("crds/gate.yaml", DEFINITION), ("a b/é.yml", &list)] {
        let broken = ("broken.yaml", "{{ CustomResourceDefinition }}: [\n");
        let repository = repository(&[(path, text), broken], &["g.yaml"]);
        repository.git(&["merge", "-q", "topic", "-m", "merge"]);
        assert_eq!(repository.0.read("g.yaml"), merged, "{path}");
    }
    // What is not in the index is not known, and what is there is, whatever became of the file.
    let absent = repository(&[], &["g.yaml"]);
    absent.0.write("crds/gate.yaml", DEFINITION);
    absent.fails(&["merge", "topic"]);
    let gone = repository(&[("crds/gate.yaml", DEFINITION)], &["g.yaml"]);
    fs::remove_file(gone.0.path("crds/gate.yaml")).expect("removed");
    gone.git(&["merge", "-q", "topic", "-m", "merge"]);
    assert_eq!(gone.0.read("g.yaml"), merged);
}

/// git starts a process for each file.
#[test]
fn the_index_is_read_once_for_all_files_of_a_merge() {
    if !has("git") {
        return;
    }
    let repository = repository(&[("crds/gate.yaml", DEFINITION)], &["1.yaml", "2.yaml", "3.yaml", "4.yaml"]);
    let traced = |args: &[&str]| {
        let trace = repository.0.path("trace");
        let _ = fs::remove_file(&trace);
        let ran = repository.command(args).env("GIT_TRACE", &trace).output().expect("git");
        assert!(ran.status.success(), "{ran:?}");
        let trace = fs::read_to_string(&trace).expect("a trace");
        let count = |word: &str| trace.lines().filter(|l| l.contains("built-in: git") && l.contains(word)).count();
        (count("git merge-file"), count("git ls-files"), count("git cat-file"))
    };
    // One look for what defines anything, and each file reads its one definition.
    assert_eq!(traced(&["merge", "-q", "topic", "-m", "merge"]), (4, 1, 5));
    for path in ["1.yaml", "4.yaml"] {
        assert_eq!(repository.0.read(path), gates()[3]);
    }
    repository.back();
    assert_eq!(traced(&["merge", "-q", "topic", "-m", "merge"]).0, 4);
    // Of types that are built in nothing is looked for.
    fs::remove_file(repository.0.path(CACHE)).expect("removed");
    let web = Repository::new("web.yaml", WEB);
    web.branch("web.yaml", &WEB.replace("web:1", "web:2"), &WEB.replace("replicas: 1", "replicas: 2"));
    web.git(&["merge", "-q", "topic"]);
    assert!(!web.0.path(CACHE).exists());
}

/// The index changes with each commit of a rebase.
#[test]
fn a_definition_that_changes_is_read_again() {
    if !has("git") {
        return;
    }
    let repository = repository(&[("crds/gate.yaml", DEFINITION)], &["g.yaml"]);
    repository.git(&["merge", "-q", "topic", "-m", "merge"]);
    let kept = repository.0.read(CACHE);
    assert!(kept.contains(" example.com/Gate\n"), "{kept}");
    repository.back();
    // No room is a key any more.
    repository.0.write("crds/gate.yaml", DEFINITION.replace("type: map", "type: atomic"));
    repository.commit("atomic");
    repository.fails(&["merge", "topic"]);
    assert!(repository.0.read("g.yaml").contains("<<<<<<<"));
    repository.git(&["merge", "--abort"]);
    let now = repository.0.read(CACHE);
    assert!(now != kept && now.lines().count() == kept.lines().count(), "the old one is gone:\n{kept}{now}");
}

#[test]
fn what_is_kept_is_believed_in_nothing() {
    if !has("git") {
        return;
    }
    let repository = repository(&[("crds/gate.yaml", DEFINITION)], &["g.yaml"]);
    let cache = repository.0.path(CACHE);
    let merges = |about: &str| {
        repository.git(&["merge", "-q", "topic", "-m", "merge"]);
        assert_eq!(repository.0.read("g.yaml"), gates()[3], "{about}");
        let kept = fs::symlink_metadata(&cache).is_ok_and(|found| found.is_file());
        repository.back();
        kept
    };
    assert!(merges("at first"));
    // git refreshes its index, so a cache for it is made from one that was just kept.
    let blob = repository.git(&["rev-parse", "HEAD:crds/gate.yaml"]);
    let other = repository.git(&["rev-parse", "HEAD:g.yaml"]);
    let kept = repository.0.read(CACHE);
    let (blob, other, unknown) = (blob.trim(), other.trim(), "0".repeat(39) + "1");
    for text in [
        String::new(),
        "\0\u{fffd}".to_owned(),
        kept[..kept.len() / 2].to_owned(),
        kept.replace("definitions 2", "definitions 3"),
        kept.replace(blob, other),
        kept.replace(blob, &unknown),
        kept.replace(blob, "--help"),
        kept.replace("example.com/Gate", "example.com/Gate example.com/Door"),
        kept.replace("\nend\n", &format!("\n{other} example.com/Gate\nend\n")),
    ] {
        repository.0.write(CACHE, &text);
        assert!(merges(&text));
    }
    // No file, or one that leads elsewhere.
    let outside = crate::support::Folder::with(&[("file", "x\n")]);
    fs::remove_file(&cache).expect("removed");
    symlink(outside.path("file"), &cache).expect("a link");
    assert!(merges("a link"));
    assert_eq!(outside.read("file"), "x\n");
    fs::remove_file(&cache).expect("removed");
    assert!(Command::new("mkfifo").arg(&cache).status().expect("mkfifo").success());
    assert!(merges("a FIFO"));
    fs::remove_dir_all(cache.parent().expect("a folder")).expect("removed");
    symlink(&outside.0, cache.parent().expect("a folder")).expect("a link");
    assert!(!merges("a link in the place of the folder"));
    assert_eq!(outside.files("").len(), 1);
    fs::remove_file(cache.parent().expect("a folder")).expect("removed");
    repository.0.write(".git/krm-merge", "");
    assert!(!merges("a file in the place of the folder"));
}

/// With rules at the root of the repository, and what the merge of this file leaves and tells.
fn with_rules(rules: &str, path: &str, [original, ours, theirs]: [&str; 3]) -> (Option<i32>, String, String) {
    let repository = Repository::new(path, original);
    repository.0.write(".krm-merge.yaml", rules);
    repository.commit("rules");
    repository.branch(path, ours, theirs);
    let ran = crate::support::Ran::of(repository.command(&["merge", "topic", "-m", "merge"]).output().expect("git"));
    (ran.code, repository.0.read(path), ran.stderr)
}

fn rules(spec: &str) -> String {
    format!("apiVersion: krm-merge.dev/v1alpha1\nkind: Merge\nspec:\n{spec}")
}

/// Both sides changed the image and the replicas, with comments of their own.
fn webs() -> [String; 3] {
    let web = |x: &str, comment: &str| {
        let replicas = format!("replicas: {}{comment}", x.len());
        WEB.replace("web:1", &format!("web:{x}")).replace("replicas: 1", &replicas)
    };
    [WEB.to_owned(), web("ours", " # our own"), web("theirs", " # their own")]
}

#[test]
fn rules_of_the_repository_decide_conflicts() {
    if !has("git") {
        return;
    }
    let [original, ours, theirs] = webs();
    let sides = [&*original, &ours, &theirs];
    let both = rules(
        "  rules:\n  - {target: {kind: Deployment}, path: spec.replicas, take: Dest}\n  - {path: 'spec.template.spec.containers[*].image', take: Updated}\n",
    );
    let (code, text, told) = with_rules(&both, "web.yaml", sides);
    assert_eq!((code, text), (Some(0), ours.replace("web:ours", "web:theirs")), "{told}");
    let want = "info: Deployment web: both sides changed `spec.replicas`; took ours, as `spec.rules[0]` of .krm-merge.yaml says\n";
    assert!(told.contains(want), "{told}");
    // What no rule decides is for someone.
    let (code, text, told) =
        with_rules(&rules("  rules:\n  - {path: spec.replicas, take: Updated}\n"), "web.yaml", sides);
    let block = "<<<<<<< HEAD\n        image: web:ours\n=======\n        image: web:theirs\n>>>>>>> topic\n";
    let want = theirs.replace("        image: web:theirs\n", block);
    assert_eq!((code, text), (Some(1), want), "{told}");
    // The first rule that fits counts.
    let first = rules("  rules:\n  - {path: spec.replicas, take: Fail}\n  - {take: Dest}\n");
    let (code, text, _) = with_rules(&first, "web.yaml", sides);
    let block = "<<<<<<< HEAD\n  replicas: 4 # our own\n=======\n  replicas: 6 # their own\n>>>>>>> topic\n";
    assert_eq!((code, text), (Some(1), ours.replace("  replicas: 4 # our own\n", block)));
    let (code, text, _) = with_rules(&rules("  onConflict: TakeUpdated\n"), "web.yaml", sides);
    assert_eq!((code, text), (Some(0), theirs.clone()));
    // The mode may be said.
    let (code, text, _) = with_rules(&rules("  mode: ThreeWay\n  onConflict: KeepDest\n"), "web.yaml", sides);
    assert_eq!((code, text), (Some(0), ours.clone()));
}

#[test]
fn a_rule_takes_the_newer_version_of_both_branches() {
    if !has("git") {
        return;
    }
    let newest = rules("  rules:\n  - {take: Newest}\n");
    let web = |tag: &str| WEB.replace("web:1", &format!("web:{tag}"));
    for (ours, theirs, want) in [("1.2.0", "1.10.0", "1.10.0"), ("1.10.0", "1.2.0", "1.10.0")] {
        let (code, text, told) = with_rules(&newest, "web.yaml", [&web("1.1.0"), &web(ours), &web(theirs)]);
        assert_eq!((code, text), (Some(0), web(want)), "{told}");
        assert!(told.contains(", the newer version, as `spec.rules[0]` of .krm-merge.yaml says\n"), "{told}");
    }
    let (code, ..) = with_rules(&newest, "web.yaml", [&web("1.1.0"), &web("1.2.0"), &web("1.3.0-alpine")]);
    assert_eq!(code, Some(1));
}

/// Two branches that merged each other, and that both set this, each to its own value.
fn crossed(rules: &str, line: &str, [old, ours, theirs]: [&str; 3]) -> Repository {
    let web = |value: &str| WEB.replace(line, &line.replace(old, value));
    let repository = Repository::new("web.yaml", &web(old));
    repository.0.write(".krm-merge.yaml", rules);
    repository.commit("rules");
    repository.branch("web.yaml", &web(ours), &web(theirs));
    repository.git(&["branch", "ours"]);
    for (branch, other, value) in [("main", "topic", ours), ("topic", "ours", theirs)] {
        repository.git(&["checkout", "-q", branch]);
        // Each branch keeps its own value, whatever the merge says.
        repository.command(&["merge", "-q", "--no-commit", other]).output().expect("git");
        repository.0.write("web.yaml", web(value));
        repository.commit("merged");
    }
    repository.git(&["checkout", "-q", "main"]);
    repository
}

/// git merges the ancestors of such branches first. If a rule decided there, one side's value would be the original of the merge.
#[test]
fn rules_decide_nothing_in_common_ancestors() {
    if !has("git") {
        return;
    }
    for take in ["Dest", "Updated"] {
        let rules = rules(&format!("  rules:\n  - {{path: spec.replicas, take: {take}}}\n"));
        let repository = crossed(&rules, "replicas: 1", ["1", "2", "3"]);
        let ran = repository.fails(&["merge", "topic"]);
        assert!(!ran.stderr.contains("took"), "{ran:?}");
        let text = repository.0.read("web.yaml");
        assert!(text.contains("<<<<<<< HEAD\n  replicas: 2\n=======\n  replicas: 3\n>>>>>>> topic\n"), "{text}");
    }
}

#[test]
fn nobody_is_told_to_decide_in_common_ancestors() {
    if !has("git") {
        return;
    }
    let repository = crossed(&rules("  conflictLevel: Value\n"), "replicas: 1", ["1", "2", "3"]);
    let web = WEB.replace("replicas: 1", "replicas: 5");
    for (branch, image) in [("topic", "web:1"), ("main", "web:2")] {
        repository.git(&["checkout", "-q", branch]);
        repository.0.write("web.yaml", web.replace("web:1", image));
        repository.commit("decided");
    }
    let ran = Ran::of(repository.command(&["merge", "-q", "topic", "-m", "last"]).output().expect("git"));
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""), "{ran:?}");
    assert_eq!(repository.0.read("web.yaml"), web.replace("web:1", "web:2"));
}

#[test]
fn rules_of_the_repository_decide_what_one_side_deleted() {
    if !has("git") {
        return;
    }
    let map = |name: &str, x: &str| crate::support::map(name, &[("x", x)]);
    let file = |all: &[String]| all.join("---\n");
    let original = file(&[map("a", "'1'"), map("b", "'1'")]);
    let changed = file(&[map("a", "'1'"), map("b", "'2' # why")]);
    let gone = map("a", "'1'");
    for (take, ours, theirs, want) in [
        ("Dest", &changed, &gone, &changed),
        ("Updated", &changed, &gone, &gone),
        ("Dest", &gone, &changed, &gone),
        // What dest deleted stays deleted: upstream's change has nothing to be made in.
        ("Updated", &gone, &changed, &gone),
    ] {
        let rules = rules(&format!("  rules:\n  - {{target: {{kind: ConfigMap}}, take: {take}}}\n"));
        let (code, text, told) = with_rules(&rules, "all.yaml", [&original, ours, theirs]);
        assert_eq!((code, &text), (Some(0), want), "{told}");
    }
    // A field and an element.
    let element = |value: &str| WEB.replace("          value: a\n", value);
    let [changed, gone] = [element("          value: b # why\n"), element("")];
    let of = |take: &str| rules(&format!("  rules:\n  - {{path: 'spec.template', take: {take}}}\n"));
    for (take, ours, theirs, want) in [
        ("Dest", &changed, &gone, &changed),
        ("Updated", &changed, &gone, &gone),
        ("Dest", &gone, &changed, &gone),
        ("Updated", &gone, &changed, &changed),
    ] {
        let (code, text, told) = with_rules(&of(take), "web.yaml", [WEB, ours, theirs]);
        assert_eq!((code, &text), (Some(0), want), "{take} {told}");
    }
}

#[test]
fn settings_of_the_repository_say_how_lists_and_texts_merge() {
    if !has("git") {
        return;
    }
    let [original, ours, theirs, merged] = gates();
    let sides = [&*original, &ours, &theirs];
    let keys = rules("  mergeKeys:\n  - {apiVersion: example.com/v1, kind: Gate, path: spec.doors, keys: [room]}\n");
    let (code, text, told) = with_rules(&keys, "g.yaml", sides);
    assert_eq!((code, text), (Some(0), merged.clone()), "{told}");
    let schema = "definitions: {g: {x-kubernetes-group-version-kind: [{group: example.com, version: v1, kind: Gate}], \
                  properties: {spec: {properties: {doors: {type: array, x-kubernetes-list-type: map, \
                  x-kubernetes-list-map-keys: [room]}}}}}}";
    let (code, text, told) = with_rules(&rules(&format!("  openapi: {{{schema}}}\n")), "g.yaml", sides);
    assert_eq!((code, text), (Some(0), merged.clone()), "{told}");
    // In a file of the repository.
    let by_path = repository(
        &[(".krm-merge.yaml", &rules("  openapi: {path: api/schema.json}\n")), ("api/schema.json", schema)],
        &["g.yaml"],
    );
    by_path.git(&["merge", "-q", "topic", "-m", "merge"]);
    assert_eq!(by_path.0.read("g.yaml"), merged);
    // Elements by name are guessed to be one.
    let named = |text: &str| text.replace("room:", "name:");
    let guessed = [&*named(&original), &named(&ours), &named(&theirs)];
    let (code, text, _) = with_rules(&rules("  newElements: Append\n"), "g.yaml", guessed);
    assert_eq!((code, text), (Some(0), named(&merged)));
    let (code, text, _) = with_rules(&rules("  inferMergeKeys: false\n"), "g.yaml", guessed);
    assert!(code == Some(1) && text.contains("<<<<<<<"), "{text}");
    // What git merges line by line is a conflict of the text.
    let script = |first: &str, last: &str| {
        let lines = format!("|\n    {first}\n    a\n    b\n    c\n    {last}");
        crate::support::map("s", &[("x", &lines)])
    };
    let texts = [script("1", "1"), script("2", "1"), script("1", "2")];
    let texts = texts.each_ref().map(String::as_str);
    assert_eq!(with_rules(&rules("  conflictLevel: Line\n"), "s.yaml", texts).0, Some(0));
    let (code, text, told) = with_rules(&rules("  conflictLevel: Value\n"), "s.yaml", texts);
    assert!(
        code == Some(1) && text.contains("<<<<<<<") && told.contains("both sides changed `data.x`"),
        "{told}{text}"
    );
}

/// A merge goes on without rules that cannot be read, and says so: conflicts are left to someone then.
#[test]
fn rules_that_cannot_be_read_are_told_and_left_out() {
    if !has("git") {
        return;
    }
    let [original, ours, theirs] = webs();
    let sides = [&*original, &ours, &theirs];
    let marked = "<<<<<<< HEAD\n  onConflict: KeepDest\n=======\n  onConflict: TakeUpdated\n>>>>>>> topic\n";
    for (text, why) in [
        (rules(marked), ".krm-merge.yaml: it must have no conflict markers; decide what it says first"),
        (rules("  onConflict: [\n"), ".krm-merge.yaml:"),
        (String::new(), ".krm-merge.yaml: there must be a functionConfig"),
        ("a: 1\n".to_owned(), "must be of kind `Merge`"),
        (
            "apiVersion: v1\nkind: ConfigMap\ndata: {mode: ThreeWay}\n".to_owned(),
            ".krm-merge.yaml:2:7: it must be of kind `Merge`",
        ),
        (rules("  mode: TwoWay\n"), ".krm-merge.yaml:4:9: `spec.mode` must be `ThreeWay`"),
        (
            rules("  original: [{path: a}]\n"),
            "`spec.original` must not be given: the command gives the sides of a merge",
        ),
        (rules("  replicas: 3\n"), "replicas"),
        (
            rules("  openapi: {path: ../schema.json}\n"),
            ".krm-merge.yaml:4:19: `spec.openapi.path`: it must be a path below",
        ),
        (rules("  openapi: {path: /etc/passwd}\n"), "it must be a path below the folder of the file"),
        (rules("  openapi: {path: schema.json}\n"), "there must be a file \"schema.json\""),
        (rules("  openapi: {path: web.yaml}\n"), "/web.yaml:3:1: there must be `definitions`"),
    ] {
        let (code, merged, told) = with_rules(&text, "web.yaml", sides);
        assert!(told.contains("warning: .krm-merge.yaml") && told.contains(why), "{text}\n{told}");
        assert!(told.contains(": this file is merged without these rules\n"), "{told}");
        assert!(code == Some(1) && merged.matches("<<<<<<<").count() == 2, "{merged}");
    }
}

/// What came with a clone must not make the driver wait, or read what lies elsewhere.
#[test]
fn rules_that_are_no_file_of_the_repository_are_not_read() {
    if !has("git") {
        return;
    }
    let [original, ours, theirs] = webs();
    let outside = crate::support::Folder::with(&[("rules", &rules("  onConflict: KeepDest\n")), ("schema", "{}")]);
    for (path, rules) in [(".krm-merge.yaml", None), ("schema.json", Some(rules("  openapi: {path: schema.json}\n")))] {
        for is_link in [true, false] {
            let repository = Repository::new("web.yaml", &original);
            repository.branch("web.yaml", &ours, &theirs);
            rules.iter().for_each(|rules| repository.0.write(".krm-merge.yaml", rules));
            if is_link {
                symlink(outside.path(if rules.is_none() { "rules" } else { "schema" }), repository.0.path(path))
                    .expect("a link");
            } else {
                assert!(Command::new("mkfifo").arg(repository.0.path(path)).status().expect("mkfifo").success());
            }
            let told = repository.fails(&["merge", "topic"]).stderr;
            let why = if is_link { "a symbolic link that leads out of it" } else { "it is a FIFO" };
            assert!(told.contains(why) && told.contains("is merged without these rules"), "{told}");
        }
    }
}

#[test]
fn the_rules_that_the_docs_print_are_true() {
    if !has("git") {
        return;
    }
    let page = fs::read_to_string(root().join("docs/src/git.md")).expect("a page");
    let rules = page.split("```yaml\n").find(|block| block.starts_with("# .krm-merge.yaml")).expect("a block");
    let rules = rules.split("```").next().expect("an end");
    let schema =
        "{definitions: {g: {x-kubernetes-group-version-kind: [{group: example.com, version: v1, kind: Door}]}}}";
    let [original, ours, theirs] = webs();
    let repository =
        repository(&[(".krm-merge.yaml", rules), ("api/openapi.json", schema), ("web.yaml", &original)], &["g.yaml"]);
    for (branch, text) in [("topic", &theirs), ("main", &ours)] {
        repository.git(&["checkout", "-q", branch]);
        repository.0.write("web.yaml", text);
        repository.commit("webs");
    }
    repository.git(&["merge", "-q", "topic", "-m", "merge"]);
    assert_eq!(repository.0.read("web.yaml"), ours.replace("web:ours", "web:theirs"));
    assert_eq!(repository.0.read("g.yaml"), gates()[3]);
}

/// The rules of a repository are for the command line, too, where someone names them.
#[test]
fn the_command_line_takes_the_rules_of_a_repository() {
    let [original, ours, theirs] = webs();
    let rules = rules("  rules:\n  - {path: spec.replicas, take: Dest}\n  openapi: {path: schema.json}\n");
    let schema =
        "{definitions: {g: {x-kubernetes-group-version-kind: [{group: example.com, version: v1, kind: Gate}]}}}";
    let folder = crate::support::Folder::with(&[
        ("rules/.krm-merge.yaml", &rules),
        ("rules/schema.json", schema),
        ("original.yaml", &original),
        ("ours.yaml", &ours),
        ("theirs.yaml", &theirs),
    ]);
    let sides = ["three-way", "--original", "original.yaml", "--updated", "theirs.yaml", "--dest", "ours.yaml"];
    let with = folder.run(&[&sides[..], &["--config", "rules/.krm-merge.yaml"]].concat()).passed();
    assert_eq!(with, ours.replace("web:ours", "web:theirs"));
    // Nobody named them.
    folder.write(".krm-merge.yaml", rules);
    assert_eq!(folder.run(&sides).passed(), theirs);
}

/// A partial clone of a repository, without the files outside of `app`.
fn partial(of: &Repository) -> Repository {
    let clone = Repository(crate::support::Folder::new());
    of.git(&["config", "uploadpack.allowFilter", "true"]);
    let url = format!("file://{}", of.0.0.display());
    clone.git(&["clone", "-q", "--filter=blob:none", "--sparse", &url, "."]);
    clone.git(&["sparse-checkout", "set", "app"]);
    clone.0.run(&["git-install"]).passed();
    clone.git(&["branch", "-q", "topic", "origin/topic"]);
    clone
}

#[test]
fn definitions_that_are_not_in_a_partial_clone_are_told_once() {
    if !has("git") {
        return;
    }
    let gates = ["app/1.yaml", "app/2.yaml", "app/3.yaml"];
    let other = DEFINITION.replace("Gate", "Door");
    let whole = repository(&[("crds/gate.yaml", DEFINITION), ("crds/door.yaml", &other)], &gates);
    let clone = partial(&whole);
    if clone.is_old() {
        // Such a git fetches the files, whatever the driver asks for.
        return;
    }
    let told = |ran: &Ran| ran.stderr.matches("warning: 2 YAML or JSON files of git's index cannot be read").count();
    for _ in 0..2 {
        let ran = clone.fails(&["merge", "topic"]);
        assert_eq!(told(&ran), 1, "{ran:?}");
        assert_eq!(clone.git(&["status", "--porcelain"]).matches("UU app/").count(), 3);
        clone.git(&["merge", "--abort"]);
    }
    // As the message says.
    let patterns = ["*.yaml", "*.yml", "*.json"].map(|pattern| format!(":(top){pattern}"));
    let args = [&["grep", "--cached", "CustomResourceDefinition", "--"], &patterns.each_ref().map(String::as_str)[..]];
    clone.git(&args.concat());
    let ran = Ran::of(clone.command(&["merge", "-q", "topic", "-m", "m"]).output().expect("git"));
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""));
    gates.iter().for_each(|gate| assert_eq!(clone.0.read(gate), self::gates()[3]));
    // Where all that is wanted is here, the rest is no matter.
    let whole = repository(&[("app/gate.yaml", DEFINITION), ("crds/door.yaml", &other)], &gates);
    let ran = Ran::of(partial(&whole).command(&["merge", "-q", "topic", "-m", "m"]).output().expect("git"));
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""));
}
