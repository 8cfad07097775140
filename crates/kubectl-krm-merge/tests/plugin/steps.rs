//! Nothing is quadratic: the plugin does work in proportion to its input, where conflicts and elements are many.

use std::cell::RefCell;

use crate::counts::{Run, grows_with_the_input};
use crate::support::{Folder, PLUGIN, has};

/// Checks the growth of a run of the plugin that ends with this exit code; `files` makes the files of a size.
fn check(n: usize, args: &[&str], code: i32, files: impl Fn(usize) -> Vec<(&'static str, String)>) {
    if !has("valgrind") {
        return;
    }
    // They go when the last run has ended.
    let folders = RefCell::new(Vec::new());
    grows_with_the_input(n, |n| {
        let folder = Folder::new();
        files(n).iter().for_each(|(name, text)| folder.write(name, text));
        let path = folder.0.clone();
        folders.borrow_mut().push(folder);
        let args = args.iter().map(|arg| (*arg).to_owned()).collect();
        Run { program: PLUGIN, args, folder: Some(path), stdin: String::new(), code }
    });
}

/// One text for each number below `n`.
fn each(n: usize, text: impl Fn(usize) -> String) -> String {
    (0..n).map(text).collect()
}

/// A wide map. Its names are of one length, because to hash a longer name takes more steps.
fn map(n: usize, value: &str) -> String {
    format!(
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: m\ndata:\n{}",
        each(n, |i| format!("  k{i:03}: {value}\n"))
    )
}

#[test]
fn conflicts_in_one_file_of_git() {
    if !has("git") {
        return;
    }
    check(60, &["git-driver", "o", "a", "b", "m.yaml"], 1, |n| {
        vec![("o", map(n, "o")), ("a", map(n, "a")), ("b", map(n, "b"))]
    });
}

fn pod(n: usize, image: &str) -> String {
    let containers = each(n, |i| format!("  - name: c{i}\n    image: {image}\n"));
    format!("apiVersion: v1\nkind: Pod\nmetadata:\n  name: p\nspec:\n  containers:\n{containers}")
}

/// A list without keys, of which each eighth element has a value of its own.
fn thing(n: usize, value: &str) -> String {
    let elements = each(n, |i| if i % 8 == 0 { format!("  - {value}{i}\n") } else { format!("  - v{i}\n") });
    format!("apiVersion: example.com/v1\nkind: Thing\nmetadata:\n  name: x\nspec:\n  l:\n{elements}")
}

#[test]
fn differences_of_long_lists() {
    for (command, code) in [("diff", 1), ("extract", 0)] {
        let args = [command, "a.yaml", "b.yaml"];
        // Most names have four bytes: a hash reads shorter ones in another way.
        check(250, &args, code, |n| vec![("a.yaml", pod(n, "a")), ("b.yaml", pod(n, "b"))]);
        // Below some hundred elements, the search for what both sides have is quadratic on purpose.
        check(2000, &args, code, |n| vec![("a.yaml", thing(n, "a")), ("b.yaml", thing(n, "b"))]);
    }
}

/// A document for each number below `n`.
fn documents(n: usize, value: &str) -> String {
    each(n, |i| format!("---\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: c{i}\ndata:\n  x: {value}\n"))
}

const NAMES: [&str; 9] = ["three-way", "--original", "o", "--updated", "u", "--dest", "d", "-o", "name"];

/// `helm template` prints a document of comments for a template that gives nothing.
#[test]
fn documents_of_comments() {
    let comment = |i: usize, mark: &str| format!("# {mark}: web/t{i:04}.yaml\n---\n");
    let resource = |i: usize, u: &str, d: &str| {
        format!(
            "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: c{i:04}\ndata:\n  k: '{u}'\n  m: q\n  z: '{d}'\n---\n"
        )
    };
    let file = |n: usize, mark: &str, u: &str, d: &str| each(n, |i| comment(i, mark) + &resource(i, u, d));
    check(60, &NAMES, 0, |n| {
        let sides = [file(n, "Source", "1", "1"), file(n, "Source", "2", "1"), file(n, "Source", "1", "2")];
        ["o/a.yaml", "u/a.yaml", "d/a.yaml"].into_iter().zip(sides).collect()
    });
    // All of them are new.
    check(60, &NAMES, 0, |n| {
        let bare = |u: &str, d: &str| each(n, |i| resource(i, u, d));
        let sides = [bare("1", "1"), file(n, "Source", "2", "1"), bare("1", "2")];
        ["o/a.yaml", "u/a.yaml", "d/a.yaml"].into_iter().zip(sides).collect()
    });
}

#[test]
fn documents_that_both_sides_add() {
    let file = |n: usize, side: &str| documents(1, "base") + &documents(n, "x").replace(": c", &format!(": {side}"));
    check(60, &NAMES, 0, |n| {
        vec![("o/a.yaml", documents(1, "base")), ("u/a.yaml", file(n, "u")), ("d/a.yaml", file(n, "d"))]
    });
}

#[test]
fn elements_that_both_sides_add_between_markers() {
    let args = ["three-way", "--original", "o", "--updated", "u", "--dest", "d", "--in-place", "--on-conflict", "mark"];
    let list = |n: usize, side: &str| {
        let added = each(n, |i| format!("  - {side}{i:04}\n"));
        format!("apiVersion: example.com/v1\nkind: Thing\nmetadata:\n  name: x\nspec:\n  l:\n  - base\n{added}")
    };
    check(500, &args, 1, |n| vec![("o/a.yaml", list(0, "o")), ("u/a.yaml", list(n, "u")), ("d/a.yaml", list(n, "d"))]);
}

fn conflict(key: &str) -> String {
    format!("<<<<<<< ours\n  {key}: '3'\n=======\n  {key}: '2'\n>>>>>>> theirs\n")
}

#[test]
fn documents_in_conflict_in_one_file_of_git() {
    if !has("git") {
        return;
    }
    check(40, &["git-driver", "o", "a", "b", "m.yaml"], 1, |n| {
        vec![("o", documents(n, "o")), ("a", documents(n, "a")), ("b", documents(n, "b"))]
    });
}

#[test]
fn conflicts_between_markers() {
    let many = |n: usize| documents(n, "X").replace("  x: X\n", &conflict("x"));
    let wide = |n: usize| map(0, "") + &each(n, |i| conflict(&format!("k{i}")) + &format!("  m{i}: x\n"));
    let keyed = |n: usize| pod(n, "X").replace("    image: X\n", &conflict("  image"));
    for text in [&many as &dyn Fn(usize) -> String, &wide, &keyed] {
        let files = |n| vec![("m.yaml", text(n))];
        check(150, &["resolve", "m.yaml"], 2, files);
        check(100, &["resolve", "--take", "ours", "--record", "r.yaml", "m.yaml"], 0, files);
    }
}

#[test]
fn conflicts_on_one_line_in_each_output() {
    let line = |n: usize, value: &str| {
        let fields = each(n, |i| format!(", \"k{i:04}\": \"{value}\""));
        let head = r#""apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "m"}"#;
        format!("{{{head}, \"data\": {{{}}}}}\n", &fields[2..])
    };
    for output in ["diff", "html", "github", "results"] {
        let args = ["three-way", "--original", "o", "--updated", "b", "--dest", "a", "-o", output];
        check(250, &args, 0, |n| vec![("o", line(n, "o")), ("a", line(n, "a")), ("b", line(n, "b"))]);
    }
}

/// A rule for each conflict, as `resolve --record` writes them.
#[test]
fn recorded_decisions() {
    let list = |n: usize, side: &str| thing(n, side);
    let rules = |n: usize| {
        let changed = (0..n).filter(|i| i % 8 == 0);
        let rule =
            |i: usize| format!("  - {{path: 'spec.l[*]', take: Dest, when: {{original: o{i}, updated: u{i}}}}}\n");
        let head = "apiVersion: krm-merge.dev/v1alpha1\nkind: Merge\nspec:\n  mode: ThreeWay\n  rules:\n";
        format!("{head}{}", changed.map(rule).collect::<String>())
    };
    let args = ["three-way", "--original", "o", "--updated", "u", "--dest", "d", "-o", "name", "--config", "r.yaml"];
    check(800, &args, 0, |n| {
        vec![("o/a.yaml", list(n, "o")), ("u/a.yaml", list(n, "u")), ("d/a.yaml", list(n, "d")), ("r.yaml", rules(n))]
    });
}

/// The same where all conflicts have the same values: in the fields of a map, in the elements of a list, and in many resources.
#[test]
fn recorded_decisions_of_the_same_values() {
    const WHEN: &str = "take: Dest, when: {original: o, updated: u}}\n";
    let field = |i: usize| format!("  - {{path: data.k{i:03}, {WHEN}");
    let element = |i: usize| format!("  - {{path: 'spec.containers[name=c{i}].image', {WHEN}");
    let resource = |i: usize| format!("  - {{path: data.x, target: {{kind: ConfigMap, name: c{i}}}, {WHEN}");
    type Text = dyn Fn(usize, &str) -> String;
    type Rule = dyn Fn(usize) -> String;
    let shapes: [(&Text, &Rule); 3] = [(&map, &field), (&pod, &element), (&documents, &resource)];
    let head = "apiVersion: krm-merge.dev/v1alpha1\nkind: Merge\nspec:\n  mode: ThreeWay\n  rules:\n";
    let args = ["three-way", "--original", "o", "--updated", "u", "--dest", "d", "-o", "name", "--config", "r.yaml"];
    for (text, rule) in shapes {
        // So many rules fill half of a table. In a full one, the steps of a look-up depend on the seed of the hash.
        check(130, &args, 0, |n| {
            vec![
                ("o", text(n, "o")),
                ("u", text(n, "u")),
                ("d", text(n, "d")),
                ("r.yaml", format!("{head}{}", each(n, rule))),
            ]
        });
    }
}

#[test]
fn hunks_in_a_wide_map() {
    let seventh = |n: usize| {
        let lines = map(n, "o");
        lines
            .lines()
            .enumerate()
            .map(|(i, line)| if i % 20 == 7 { format!("{line}x\n") } else { format!("{line}\n") })
            .collect()
    };
    let args = ["three-way", "--original", "o", "--updated", "b", "--dest", "a", "-o", "diff"];
    check(1000, &args, 0, |n| vec![("o", map(n, "o")), ("a", map(n, "o")), ("b", seventh(n))]);
}
