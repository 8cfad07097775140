//! `resolve --record`: what was decided once is not asked again.

use std::collections::BTreeSet;
use std::process::Command;

use crate::support::{Folder, has, map};

/// An upgrade from one folder to another, with the recorded decisions if there are any: whether conflicts are left.
fn upgrade(folder: &Folder, from: &str, to: &str) -> bool {
    let mut args = vec!["three-way", "--original", from, "--updated", to, "--dest", "here", "--in-place"];
    args.extend(["--on-conflict", "mark"]);
    if folder.path("decisions.yaml").exists() {
        args.extend(["--config", "decisions.yaml"]);
    }
    let ran = folder.run(&args);
    assert!(matches!(ran.code, Some(0 | 1)), "{ran:?}");
    let has_markers = folder.files("here").values().any(|bytes| String::from_utf8_lossy(bytes).contains("<<<<<<< "));
    assert_eq!(ran.code == Some(1), has_markers, "{ran:?}");
    has_markers
}

/// Answers the conflicts of the package in their order, and records that: what is told.
fn resolve(folder: &Folder, answers: &[&str]) -> String {
    let lines: String = answers.iter().enumerate().map(|(i, answer)| format!("{} {answer}\n", i + 1)).collect();
    folder.write("answers", lines);
    let ran = folder.run(&["resolve", "--answers", "answers", "--record", "decisions.yaml", "here"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    ran.stdout + &ran.stderr
}

/// The places that are asked for, as `resolve` lists them.
fn asked(folder: &Folder) -> Vec<String> {
    let listed = folder.run(&["resolve", "here"]).stdout;
    listed.lines().filter_map(|line| Some(line.split_once(' ')?.1.split_once(' ')?.1.to_owned())).collect()
}

/// Puts files back into dest as they were.
fn restore(folder: &Folder, files: &std::collections::BTreeMap<String, Vec<u8>>) {
    for (path, bytes) in files {
        folder.write(&format!("here/{path}"), bytes);
    }
}

fn deployment(replicas: &str, image: &str, tier: &str) -> String {
    format!(
        "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\n  labels:\n    tier: {tier}\nspec:\n  replicas: {replicas}\n  template:\n    spec:\n      containers:\n      - name: app\n        image: {image}\n"
    )
}

#[test]
fn an_upgrade_with_five_conflicts_asks_for_three_and_the_next_one_only_for_new_ones() {
    let folder = Folder::new();
    let sides = [("v1", "1", "0"), ("v2", "2", "1"), ("here", "9", "8")];
    for (side, n, m) in sides {
        folder.write(&format!("{side}/web.yaml"), deployment(n, &format!("web:{n}"), &format!("t{n}")));
        folder.write(&format!("{side}/c.yaml"), map("c", &[("x", &format!("'{n}'")), ("y", &format!("'{m}'"))]));
    }
    folder.write(
        "decisions.yaml",
        "apiVersion: krm-merge.dev/v1alpha1\nkind: Merge\nspec:\n  # once and for all\n  rules:\n  - {path: spec.replicas, take: Dest}\n  - {path: 'spec.template.spec.containers[*].image', take: Updated}\n",
    );
    let before = folder.files("here");
    assert!(upgrade(&folder, "v1", "v2"));
    assert_eq!(asked(&folder), ["ConfigMap c data.x", "ConfigMap c data.y", "Deployment web metadata.labels.tier"]);
    let told = resolve(&folder, &["ours", "ours", "theirs"]);
    assert!(told.ends_with("recorded 3 decisions in decisions.yaml\n"), "{told}");
    let decided = folder.files("here");
    assert_eq!(folder.read("here/web.yaml"), deployment("9", "web:2", "t2"));
    assert_eq!(folder.read("here/c.yaml"), map("c", &[("x", "'9'"), ("y", "'8'")]));
    let rules = folder.read("decisions.yaml");
    // What was decided comes first, for the first rule that fits decides.
    assert!(rules.contains("  # once and for all\n  rules:\n  - target:\n"), "{rules}");
    assert!(rules.contains("      updated: \"t2\"\n  - {path: spec.replicas, take: Dest}\n"), "{rules}");
    let rule = "  - target:\n      group: \"\"\n      kind: ConfigMap\n      namespace: \"\"\n      name: c\n    path: data.x\n    take: Dest\n    when:\n      original: \"1\"\n      updated: \"2\"\n";
    assert!(rules.contains(rule), "{rules}");
    // The same merge asks for nothing, whether it was done or not.
    for dest in [&before, &decided] {
        restore(&folder, dest);
        assert!(!upgrade(&folder, "v1", "v2"));
        assert_eq!(folder.files("here"), decided);
    }
    // At the next upgrade upstream changes what a rule decides, what was decided by hand, and leaves the rest alone.
    folder.write("v3/web.yaml", deployment("3", "web:2", "t2"));
    folder.write("v3/c.yaml", map("c", &[("x", "'3'"), ("y", "'1'")]));
    assert!(upgrade(&folder, "v2", "v3"));
    assert_eq!(asked(&folder), ["ConfigMap c data.x"]);
    resolve(&folder, &["theirs"]);
    assert_eq!(folder.read("here/c.yaml"), map("c", &[("x", "'3'"), ("y", "'8'")]));
    assert_eq!(folder.read("here/web.yaml"), deployment("9", "web:2", "t2"));
}

#[test]
fn over_ten_upgrades_each_decision_is_asked_once() {
    // Values of fields that upstream takes back and forth, each with its own rhythm; dest changed all of them.
    let version = |n: usize| {
        let fields: Vec<(String, String)> = (0..6)
            .map(|field| (format!("f{field}"), format!("'{}'", (n / (field % 3 + 1)) % (field % 2 + 2))))
            .collect();
        let fields: Vec<(&str, &str)> = fields.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        map("c", &fields)
    };
    let value = |text: &str, field: &str| {
        let line = text.lines().find(|line| line.trim().starts_with(field)).expect("a field");
        line.split_once(": ").expect("a value").1.to_owned()
    };
    let folder = Folder::new();
    (0..=10).for_each(|n| folder.write(&format!("v{n}/c.yaml"), version(n)));
    let all: Vec<(String, &str)> = (0..6).map(|field| (format!("f{field}"), "'dest'")).collect();
    let own: Vec<(&str, &str)> = all.iter().map(|(name, value)| (name.as_str(), *value)).collect();
    folder.write("here/c.yaml", map("c", &own));
    let (mut known, mut states, mut count) = (BTreeSet::new(), Vec::new(), 0);
    for n in 0..10 {
        let before = folder.files("here");
        let (was, now) = (version(n), version(n + 1));
        let is_new = |field: usize| {
            let name = format!("f{field}");
            let pair = (field, value(&was, &name), value(&now, &name));
            (pair.1 != pair.2 && !known.contains(&pair)).then_some(pair)
        };
        let new: Vec<_> = (0..6).filter_map(is_new).collect();
        assert_eq!(upgrade(&folder, &format!("v{n}"), &format!("v{}", n + 1)), !new.is_empty(), "{n}");
        if !new.is_empty() {
            let text = folder.read("here/c.yaml");
            count += new.len();
            let blocks = text.matches("<<<<<<< ").count();
            // Ours, so that the next upgrade is in conflict again.
            resolve(&folder, &vec!["ours"; blocks]);
        }
        known.extend(new);
        let after = folder.files("here");
        assert_eq!(after, before, "ours is what was there");
        states.push(before);
    }
    assert_eq!(known.len(), count);
    assert_eq!(folder.read("decisions.yaml").matches("  when:").count(), count, "each is there once");
    for (n, before) in states.iter().enumerate() {
        restore(&folder, before);
        assert!(!upgrade(&folder, &format!("v{n}"), &format!("v{}", n + 1)), "{n} is asked again");
    }
}

#[test]
fn texts_lists_and_whole_resources_are_recorded() {
    let script = |lines: &[&str]| lines.iter().map(|line| format!("          {line}\n")).collect::<String>();
    let text = |args: &[&str], lines: &[&str]| {
        let args: String = args.iter().map(|arg| format!("        - {arg}\n")).collect();
        format!(
            "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\nspec:\n  template:\n    spec:\n      containers:\n      - name: app\n        args:\n{args}        workingDir: |\n{}",
            script(lines)
        )
    };
    let gone = |value: &str| format!("---\n{}", map("gone", &[("x", value)]));
    let sides = [
        ("v1", text(&["a", "b", "c"], &["one", "two", "three", "four"]) + &gone("'1'")),
        ("v2", text(&["a", "B2", "c", "e"], &["one", "2", "three", "four"])),
        ("here", text(&["0", "a", "b9", "c"], &["one", "9", "three", "vier"]) + &gone("'9'")),
    ];
    for takes in [["ours", "theirs", "ours"], ["theirs", "ours", "theirs"]] {
        let folder = Folder::new();
        for (side, text) in &sides {
            folder.write(&format!("{side}/web.yaml"), text);
        }
        let before = folder.files("here");
        assert!(upgrade(&folder, "v1", "v2"));
        let told = resolve(&folder, &takes);
        assert!(told.ends_with("recorded 3 decisions in decisions.yaml\n"), "{told}");
        let decided = folder.files("here");
        restore(&folder, &before);
        assert!(!upgrade(&folder, "v1", "v2"), "{}\n{}", folder.read("here/web.yaml"), folder.read("decisions.yaml"));
        assert_eq!(folder.read("here/web.yaml"), String::from_utf8_lossy(&decided["web.yaml"]));
    }
}

#[test]
fn what_no_rule_can_say_is_told() {
    let secret =
        |value: &str| format!("apiVersion: v1\nkind: Secret\nmetadata:\n  name: s\nstringData:\n  x: {value}\n");
    let folder = Folder::new();
    for (side, n) in [("v1", "1"), ("v2", "2"), ("here", "9")] {
        folder.write(&format!("{side}/a.yaml"), map("a", &[("x", &format!("|\n    {n}"))]));
        folder.write(&format!("{side}/b.txt"), format!("{n}\n"));
        folder.write(&format!("{side}/s.yaml"), secret(&format!("top{n}")));
    }
    assert!(upgrade(&folder, "v1", "v2"));
    let told = resolve(&folder, &["both", "ours", "ours"]);
    for want in [
        "warning: here/a.yaml:7: recorded for this value, which is neither side's",
        "warning: here/b.txt:1: not recorded, because it decides no value of a resource",
        "warning: here/s.yaml:6: not recorded, because the file would then show values of a Secret",
        "recorded 1 decision in decisions.yaml",
    ] {
        assert!(told.lines().any(|line| line.starts_with(want)), "{told}");
    }
    assert!(!folder.read("decisions.yaml").contains("top"));
    let rules = folder.read("decisions.yaml");
    assert!(rules.contains("    take: Dest\n") && rules.contains("      dest: \"9\\n2\\n\"\n"), "{rules}");
    // A dest that has it keeps it, and another one is asked.
    for (own, is_asked) in [("|\n    9\n    2", false), ("|\n    9", true)] {
        folder.write("here/a.yaml", map("a", &[("x", own)]));
        upgrade(&folder, "v1", "v2");
        assert_eq!(folder.read("here/a.yaml").contains("<<<<<<<"), is_asked);
        folder.run(&["resolve", "--take", "ours", "here"]).passed();
    }
}

fn pod(args: &[&str], effects: &[&str]) -> String {
    let args: String = args.iter().map(|arg| format!("    - {arg}\n")).collect();
    let effects: String =
        effects.iter().zip(["a", "b"]).map(|(effect, key)| format!("  - key: {key}\n    effect: {effect}\n")).collect();
    format!(
        "apiVersion: v1\nkind: Pod\nmetadata:\n  name: web\nspec:\n  containers:\n  - name: app\n    args:\n{args}  tolerations:\n{effects}"
    )
}

#[test]
fn elements_of_a_list_without_keys_are_recorded_one_by_one() {
    let sides = [
        ("v1", pod(&["a", "k", "l", "b"], &["x1", "y1"])),
        ("v2", pod(&["a2", "k", "l", "b2"], &["x2", "y2"])),
        ("here", pod(&["a9", "k", "l", "b9"], &["x9", "y9"])),
    ];
    let folder = Folder::new();
    sides.iter().for_each(|(side, text)| folder.write(&format!("{side}/web.yaml"), text));
    let before = folder.files("here");
    assert!(upgrade(&folder, "v1", "v2"));
    assert_eq!(asked(&folder).len(), 4);
    let told = resolve(&folder, &["ours", "theirs", "theirs", "ours"]);
    assert!(told.ends_with("recorded 4 decisions in decisions.yaml\n") && !told.contains("warning"), "{told}");
    let decided = pod(&["a9", "k", "l", "b2"], &["x2", "y9"]);
    assert_eq!(folder.read("here/web.yaml"), decided);
    restore(&folder, &before);
    assert!(!upgrade(&folder, "v1", "v2"), "{}", folder.read("decisions.yaml"));
    assert_eq!(folder.read("here/web.yaml"), decided);
}

#[test]
fn answers_that_no_rule_tells_apart_have_a_reason_and_leave_a_valid_file() {
    let folder = Folder::new();
    for (side, n) in [("v1", "1"), ("v2", "2"), ("here", "9")] {
        folder.write(&format!("{side}/web.yaml"), pod(&["a"], &[&format!("x{n}"), &format!("x{n}")]));
    }
    assert!(upgrade(&folder, "v1", "v2"));
    let told = resolve(&folder, &["ours", "theirs"]);
    let why = "not recorded, because the elements of the list have no keys, so no rule can say which of them take ours and which take theirs";
    assert_eq!(
        told.lines().filter(|line| line.starts_with("warning: here/web.yaml:") && line.ends_with(why)).count(),
        2,
        "{told}"
    );
    assert!(told.contains("recorded no decision: decisions.yaml is not written\n"), "{told}");
    assert!(!folder.path("decisions.yaml").exists());
    assert!(!upgrade(&folder, "v2", "v2"));
    // A file that is there stays.
    let text = "apiVersion: krm-merge.dev/v1alpha1\nkind: Merge\nspec:\n  mode: ThreeWay # mine\n";
    folder.write("decisions.yaml", text);
    folder.write("here/web.yaml", pod(&["a"], &["x9", "x9"]));
    assert!(upgrade(&folder, "v1", "v2"));
    let told = resolve(&folder, &["ours", "theirs"]);
    assert!(told.contains("recorded no decision: decisions.yaml stays as it is\n"), "{told}");
    assert_eq!(folder.read("decisions.yaml"), text);
}

#[test]
fn resources_of_one_name_get_no_rule_that_decides_the_other_one() {
    let text =
        |x: &str, namespace: &str| map("c", &[("x", x)]).replace("  name: c\n", &format!("  name: c\n{namespace}"));
    let upgrade_of = |files: [(&str, &str); 2]| {
        let folder = Folder::new();
        for (side, x) in [("v1", "'1'"), ("v2", "'2'"), ("here", "'3'")] {
            for (path, namespace) in files {
                folder.write(&format!("{side}/{path}"), text(x, namespace));
            }
        }
        assert!(upgrade(&folder, "v1", "v2"));
        folder
    };
    // A namespace tells them apart, and so does none.
    let files = [("a.yaml", ""), ("b.yaml", "  namespace: prod\n")];
    let folder = upgrade_of(files);
    let told = resolve(&folder, &["ours", "theirs"]);
    assert!(told.ends_with("recorded 2 decisions in decisions.yaml\n"), "{told}");
    for (path, namespace) in files {
        folder.write(&format!("here/{path}"), text("'3'", namespace));
    }
    assert!(!upgrade(&folder, "v1", "v2"));
    assert_eq!(folder.read("here/a.yaml"), text("'3'", ""));
    assert_eq!(folder.read("here/b.yaml"), text("'2'", "  namespace: prod\n"));
    // Overlays have one name in several files, and a rule names no file.
    let folder = upgrade_of([("dev/c.yaml", ""), ("prod/c.yaml", "")]);
    let told = resolve(&folder, &["theirs", "ours"]);
    let why =
        "not recorded, because another file has a resource of the same name, with the same values and another answer";
    assert_eq!(told.matches(why).count(), 2, "{told}");
    assert!(!folder.path("decisions.yaml").exists(), "{told}");
    let folder = upgrade_of([("dev/c.yaml", ""), ("prod/c.yaml", "")]);
    assert!(resolve(&folder, &["ours", "ours"]).contains("recorded 1 decision "));
    assert_eq!(folder.read("decisions.yaml").matches("target:").count(), 1);
}

#[test]
fn nothing_is_written_where_the_file_cannot_hold_decisions() {
    let folder = Folder::new();
    for (side, n) in [("v1", "1"), ("v2", "2"), ("here", "9")] {
        folder.write(&format!("{side}/a.yaml"), map("a", &[("x", n)]));
    }
    assert!(upgrade(&folder, "v1", "v2"));
    let marked = folder.read("here/a.yaml");
    folder.write("other.yaml", map("a", &[("mode", "three-way")]));
    let error = folder.run(&["resolve", "--take", "ours", "--record", "other.yaml", "here"]).failed(2);
    assert!(error.starts_with("error: other.yaml: rules must be recorded in a `Merge` of mode `ThreeWay`"), "{error}");
    assert_eq!(folder.read("here/a.yaml"), marked);
}

#[test]
fn the_original_comes_from_git_where_the_markers_have_none() {
    if !has("git") {
        return;
    }
    let folder = Folder::new();
    let git = |args: &[&str]| {
        let who = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "core.hooksPath=/dev/null"];
        let mut git = Command::new("git");
        git.args(who).args(["-c", "merge.conflictStyle=merge"]).args(args);
        git.current_dir(&folder.0).output().expect("git runs").status.success()
    };
    let commit = |n: &str| {
        folder.write("here/a.yaml", map("a", &[("x", n), ("y", "0")]));
        assert!(git(&["add", "here"]) && git(&["commit", "-q", "-m", n]));
    };
    assert!(git(&["init", "-q", "-b", "main"]));
    commit("1");
    assert!(git(&["checkout", "-q", "-b", "topic"]));
    commit("2");
    assert!(git(&["checkout", "-q", "main"]));
    commit("9");
    assert!(!git(&["merge", "-q", "topic"]));
    let ran = folder.run(&["resolve", "--take", "theirs", "--record", "decisions.yaml"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let rules = folder.read("decisions.yaml");
    assert!(rules.contains("    take: Updated\n    when:\n      original: 1\n      updated: 2\n"), "{rules}");
}

/// A decisions file is written again as a whole, so it must be one.
#[cfg(target_os = "linux")]
#[test]
fn a_decisions_file_that_never_ends_is_not_read() {
    use std::os::unix::fs::symlink;
    use std::time::Duration;

    let folder = Folder::with(&[("c.yaml", "<<<<<<< a\nx: 1\n=======\nx: 2\n>>>>>>> b\n")]);
    assert!(Command::new("mkfifo").arg(folder.path("fifo")).status().expect("mkfifo").success());
    symlink("/dev/zero", folder.path("link.yaml")).expect("a link");
    for (record, what) in
        [("/dev/zero", "a device"), ("/dev/null", "a device"), ("fifo", "a FIFO"), ("link.yaml", "a device")]
    {
        let args = ["resolve", "--take", "ours", "--record", record, "c.yaml"];
        let error = folder.run_within(&args, Duration::from_secs(20)).failed(2);
        let want = format!("error: `--record` \"{record}\": it must be a regular file, but it is {what}; ");
        assert!(error.starts_with(&want), "{error}");
    }
    assert!(folder.read("c.yaml").contains("<<<<<<<"));
    // A link to a file is the user's own.
    folder.write("real.yaml", "");
    symlink("real.yaml", folder.path("own.yaml")).expect("a link");
    folder.run(&["resolve", "--take", "ours", "--record", "own.yaml", "c.yaml"]).passed();
}

/// The text of a list without keys, with a conflict in the first and in the last element, and what is recorded of these answers.
fn recorded(answers: &[&str]) -> (String, Vec<String>) {
    let element =
        |name: &str| format!("<<<<<<< o\n  - {name}: 1\n||||||| b\n  - {name}: 0\n=======\n  - {name}: 2\n>>>>>>> t\n");
    let text = format!(
        "apiVersion: a/v1\nkind: A\nmetadata:\n  name: a\nspec:\n  list:\n{}  - m: 1\n{}",
        element("a"),
        element("z")
    );
    let folder = Folder::with(&[("here/a.yaml", &text)]);
    let lines: String = answers.iter().enumerate().map(|(i, answer)| format!("{} {answer}\n", i + 1)).collect();
    folder.write("answers", lines);
    let ran = folder.run(&["resolve", "--answers", "answers", "--record", "decisions.yaml", "here"]);
    let rules = std::fs::read_to_string(folder.path("decisions.yaml")).unwrap_or_default();
    let rules = rules.split("- target").skip(1).map(|rule| {
        let part = |name: &str| rule.lines().find_map(|line| line.trim().strip_prefix(name)).expect(name).to_owned();
        format!("{} {} {}", part("path: "), part("take: "), part("updated: "))
    });
    (ran.stderr, rules.collect())
}

#[test]
fn an_answer_of_both_sides_drops_no_other_answer() {
    let dest = |name: &str| format!("spec.list[*] Dest {{\"{name}\":2}}");
    let updated = |name: &str| format!("spec.list[*] Updated {{\"{name}\":2}}");
    for (answers, rules) in [
        (["both", "ours"], vec![dest("z")]),
        (["both", "theirs"], vec![updated("z")]),
        (["ours", "both"], vec![dest("a")]),
        (["theirs", "both"], vec![updated("a")]),
        (["both", "both"], vec![]),
        (["theirs", "ours"], vec![updated("a"), dest("z")]),
    ] {
        let (told, found) = recorded(&answers);
        assert_eq!(found, rules, "{answers:?} {told}");
        assert_eq!(told.matches("not recorded").count(), 2 - rules.len(), "{told}");
    }
}

/// Nobody checks whether such a file is YAML, for it has another name.
#[test]
fn an_answer_that_leaves_no_yaml_drops_no_other_answer() {
    let block = |name: &str| format!("<<<<<<< o\n  {name}: \"1\"\n=======\n  {name}: \"2\"\n>>>>>>> t\n");
    for first in [block("a"), "<<<<<<< o\n  a: [1\n=======\n  a: [2\n>>>>>>> t\n  ]\n".to_owned()] {
        let text = format!("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: c\ndata:\n{first}{}", block("z"));
        let folder = Folder::with(&[("c.conf", &text), ("answers", "1 both\n2 ours\n")]);
        let ran = folder.run(&["resolve", "--answers", "answers", "--record", "d.yaml", "c.conf"]);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        assert!(ran.stderr.starts_with("warning: c.conf:6: not recorded, "), "{ran:?}");
        assert_eq!(ran.stderr.lines().count(), 1, "{ran:?}");
        let rules = folder.read("d.yaml");
        assert!(rules.matches("take: Dest").count() == 1 && rules.contains("path: data.z\n"), "{rules}");
    }
}
