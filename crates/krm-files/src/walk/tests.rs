use std::collections::BTreeSet;
use std::os::unix::fs::symlink;
use std::process::Command;

use krm_names::file_path::{JOURNAL, LOCK};

use super::*;
use crate::temporary::TemporaryFolder;

/// A folder with these files, each with its text.
fn with(files: &[(&str, &str)]) -> TemporaryFolder {
    let made = TemporaryFolder::new("test-of-walk").expect("a folder");
    files.iter().for_each(|(path, text)| write(&made, path, text));
    made
}

fn write(folder: &TemporaryFolder, path: &str, text: &str) {
    let file = folder.path().join(path);
    fs::create_dir_all(file.parent().expect("a folder")).expect("made");
    fs::write(file, text).expect("written");
}

fn read(folder: &TemporaryFolder) -> Vec<String> {
    Tree::read(folder.path()).expect("read").files
}

fn refused(folder: &TemporaryFolder) -> String {
    format!("{:#}", Tree::read(folder.path()).expect_err("refused"))
}

/// A package with these rules, and with the same files in each of its folders; and the files that are read of it.
fn with_rules(rules: &[(&str, &str)]) -> (TemporaryFolder, BTreeSet<String>) {
    let made = with(rules);
    for folder in ["", "sub/", "sub/deep/", "sub/deeper/", "dir/", "other/"] {
        for name in ["a.tmp.yaml", "keep.tmp.yaml", "shown.yaml", "nested.yaml", "rooted.yaml"] {
            write(&made, &format!("{folder}{name}"), "");
        }
    }
    let files = read(&made).into_iter().filter(|path| path.ends_with(".yaml")).collect();
    (made, files)
}

const RULES: [(&str, &str); 4] = [
    (".krmignore", "*.tmp.yaml\n!shown.yaml\n/sub/rooted.yaml\ndir/\n"),
    ("sub/.krmignore", "!keep.tmp.yaml\nshown.yaml\nnested.yaml\n/deep/rooted.yaml\n"),
    ("sub/deep/.krmignore", "!nested.yaml\nkeep.tmp.yaml\n"),
    ("dir/.krmignore", "!*.yaml\n"),
];

/// The same rules as those of a release, whose files nobody has on disk.
fn of_release(rules: &[(&str, &str)]) -> Tree {
    Tree::rules_in(rules.iter().map(|(path, text)| (*path, text.as_bytes()))).expect("rules")
}

/// git has the same rules under the name that it is told.
#[test]
fn the_krmignore_next_to_a_file_has_the_last_word() {
    let (folder, read) = with_rules(&RULES);
    for path in ["sub/keep.tmp.yaml", "sub/deep/nested.yaml", "sub/deeper/keep.tmp.yaml", "shown.yaml"] {
        assert!(read.contains(path) && !of_release(&RULES).ignores(path), "{path} {read:?}");
    }
    for path in ["sub/shown.yaml", "sub/deep/shown.yaml", "sub/deep/keep.tmp.yaml", "sub/rooted.yaml", "dir/shown.yaml"]
    {
        assert!(!read.contains(path) && of_release(&RULES).ignores(path), "{path} {read:?}");
    }
    let git = |args: &[&str]| Command::new("git").args(args).current_dir(folder.path()).output();
    if git(&["init", "-q"]).is_err() {
        return;
    }
    let listed = git(&["ls-files", "--others", "--exclude-per-directory=.krmignore"]).expect("git runs").stdout;
    let listed = String::from_utf8(listed).expect("UTF-8");
    let theirs = listed.lines().filter(|line| line.ends_with(".yaml")).map(str::to_owned).collect();
    assert_eq!(read, theirs);
}

/// A test of the plugin compares it with kpt.
#[test]
fn the_rules_of_a_package_end_where_a_sub_package_begins() {
    let mut rules = ["Kptfile", "sub/Kptfile", "dir/Kptfile", "other/Kptfile"].map(|path| (path, "")).to_vec();
    rules.extend(RULES);
    rules.push(("other/.krmignore", "nested.yaml\n"));
    let (_folder, read) = with_rules(&rules);
    for (path, is_read) in [
        ("other/a.tmp.yaml", true),
        ("other/nested.yaml", false),
        ("sub/rooted.yaml", true),
        ("sub/a.tmp.yaml", true),
        ("dir/shown.yaml", false),
        ("a.tmp.yaml", false),
    ] {
        assert_eq!(read.contains(path), is_read, "{path} {read:?}");
        assert_eq!(of_release(&rules).ignores(path), !is_read, "{path}");
    }
    // A name that begins like that of a sub-package is none of its files.
    let (_folder, read) = with_rules(&[("sub/Kptfile", ""), (".krmignore", "*.tmp.yaml\n"), ("subs/x.tmp.yaml", "")]);
    assert!(read.contains("sub/a.tmp.yaml") && !read.contains("subs/x.tmp.yaml"), "{read:?}");
}

/// Rules come with a package, so they are read only if that has an end, and if they are the package's.
#[test]
fn rules_that_are_no_file_of_the_package_are_refused() {
    let ends = |folder: &TemporaryFolder, what: &str| {
        let told = refused(folder);
        assert!(told.ends_with(&format!("/p/sub/.krmignore: it must {what}")), "{told}");
    };
    let replace = "put a copy of what it leads to in its place, or remove it";
    for to in ["/dev/null", "../../outside", "nowhere"] {
        let folder = with(&[("outside", "*.yaml\n"), ("p/sub/a.yaml", "")]);
        symlink(to, folder.path().join("p/sub/.krmignore")).expect("a link");
        let told = format!("{:#}", Tree::read(&folder.path().join("p")).expect_err("refused"));
        let want = format!(
            "/sub/.krmignore: it must be in the package, but it is a symbolic link that leads out of it; {replace}"
        );
        assert!(told.ends_with(&want), "{told}");
    }
    let no_file = "put a file of rules in its place, or remove it";
    ends(&with(&[("p/sub/.krmignore/x", "")]), &format!("be a regular file, but it is a folder; {no_file}"));
    let huge = "\n".repeat((1 << 20) + 1);
    let told = "have at most 1048576 bytes, but it has 1048577; remove rules, or the file";
    ends(&with(&[("p/sub/.krmignore", &huge)]), told);
    assert_eq!(read(&with(&[("sub/.krmignore", &huge[1..])])), ["sub/.krmignore"]);
    let fifo = with(&[("p/sub/a", "")]);
    let made = Command::new("mkfifo").arg(fifo.path().join("p/sub/.krmignore")).status();
    assert!(made.expect("mkfifo").success());
    ends(&fifo, &format!("be a regular file, but it is a FIFO; {no_file}"));
    // A link to rules of the package is one more place for them.
    let linked = with(&[("rules", "a.yaml\n"), ("sub/a.yaml", ""), ("c.yaml", "")]);
    symlink("../rules", linked.path().join("sub/.krmignore")).expect("a link");
    assert_eq!(read(&linked), ["c.yaml", "rules"]);
}

#[test]
fn rules_that_cannot_be_compiled_name_the_line() {
    let rules = |line: &str| format!("# first\nok\n{line}\nlast\n");
    for (line, why) in [("[z-a]", "invalid range"), (&*"*?".repeat(200_000), "NFA")] {
        let told = refused(&with(&[("sub/.krmignore", &rules(line))]));
        assert!(told.contains("sub/.krmignore: line 3: ") && told.contains(why), "{told}");
    }
    let told = Tree::rules_in([("sub/.krmignore", rules("[z-a]").as_bytes())].into_iter()).expect_err("refused");
    assert!(format!("{told:#}").starts_with("sub/.krmignore: line 3: "), "{told:#}");
}

#[test]
fn a_link_is_not_followed_and_one_that_leads_out_is_told() {
    let folder = with(&[("p/a", ""), ("p/sub/b", ""), ("outside", "")]);
    for (to, name) in [("../outside", "p/out"), ("a", "p/in"), ("sub", "p/folder"), ("nothing", "p/sub/nowhere")] {
        symlink(to, folder.path().join(name)).expect("a link");
    }
    let tree = Tree::read(&folder.path().join("p")).expect("read");
    assert_eq!(
        (tree.files, tree.links),
        (vec!["a".to_owned(), "sub/b".to_owned()], vec!["out".to_owned(), "sub/nowhere".to_owned()])
    );
    symlink("..", folder.path().join("p/sub/above")).expect("a link");
    let told = format!("{:#}", Tree::read(&folder.path().join("p")).expect_err("it never ends"));
    assert!(told.ends_with("above: a symbolic link must not lead back to a folder that it lies in"), "{told}");
    // Who looks for packages below a folder is none of them.
    let tree = Tree::around_packages(folder.path()).expect("read");
    assert_eq!((tree.files.len(), tree.links.len()), (3, 0));
}

#[test]
fn what_is_of_git_or_of_a_run_is_no_file_of_a_package() {
    let run = [".krm-merge-1-0.tmp", JOURNAL, LOCK];
    let folder = with(&[("a", ""), (".git/config", ""), (".GIT/x", ""), ("sub/.git", ""), (".gitignore", "")]);
    run.iter().for_each(|name| write(&folder, name, ""));
    write(&folder, ".p.krm-merge-get-1/x", "");
    write(&folder, "sub/.krm-merge-notes.tmp", "");
    let tree = Tree::read(folder.path()).expect("read");
    assert_eq!(tree.files, [".gitignore", "a", "sub/.krm-merge-notes.tmp"]);
    let left: BTreeSet<_> = tree.leftovers.iter().filter_map(|left| left.file_name()?.to_str()).collect();
    assert_eq!(left, run.into_iter().chain([".p.krm-merge-get-1"]).collect());
    // The kinds must fit.
    fs::remove_dir_all(folder.path().join(".p.krm-merge-get-1")).expect("removed");
    write(&folder, ".p.krm-merge-get-1", "");
    fs::create_dir(folder.path().join(".krm-merge-2-0.tmp")).expect("made");
    let tree = Tree::read(folder.path()).expect("read");
    assert!(tree.files.contains(&".p.krm-merge-get-1".to_owned()) && tree.leftovers.len() == 3, "{tree:?}");
}

/// Other systems refuse such names.
#[cfg(target_os = "linux")]
#[test]
fn names_that_no_package_may_have_are_refused() {
    use std::os::unix::ffi::OsStrExt;
    for (name, told) in [
        (&b"caf\xe9.yaml"[..], "/caf\\xe9.yaml\": a file name must be UTF-8"),
        (b"a\nb", "/a\\nb\": a file name must have no line break"),
        (b"a\rb", "/a\\rb\": a file name must have no line break"),
    ] {
        let folder = with(&[("a", "")]);
        fs::write(folder.path().join(OsStr::from_bytes(name)), "").expect("written");
        assert!(refused(&folder).ends_with(told), "{}", refused(&folder));
        assert_eq!(Tree::around_packages(folder.path()).expect("left out").files, ["a"]);
        // What is ignored may have any name.
        write(&folder, ".krmignore", "a?b\n");
        assert_eq!(Tree::read(folder.path()).is_ok(), name.len() == 3);
    }
}

#[test]
fn an_error_of_a_path_of_the_command_line_names_the_flag() {
    let folder = with(&[("a", "")]);
    let told = |path: &str| file_there("--config", &folder.path().join(path)).map_err(|e| format!("{e:#}"));
    assert_eq!(told("a"), Ok(()));
    for (path, want) in [
        ("", "there must be a file, but a folder is there; name a file in it"),
        ("x", "there must be a file, but nothing is there; correct the path"),
        ("a/x", "Not a directory"),
    ] {
        let told = told(path).expect_err("not a file");
        assert!(told.starts_with("`--config` \"") && told.contains(want), "{told}");
    }
    let told = there("DEST", "a folder", Path::new("")).expect_err("empty").to_string();
    assert_eq!(told, "`DEST` must name a folder, but it is empty: a variable of the shell may not be set");
}

#[test]
fn a_path_is_told_in_the_forms_that_programs_read() {
    let odd = path_of(b"a\xe9\"b");
    assert_eq!((text(&odd).as_str(), shown(&odd).as_str()), ("a\\xe9\"b", "\"a\\xe9\\\"b\""));
    assert_eq!(c_quoted("a\t\"é\\", char::is_alphanumeric), "\"a\\t\\\"é\\\\\"");
    assert_eq!(c_quoted("é \u{7f}", |c| c.is_ascii_alphanumeric() || c == ' '), "\"\\303\\251 \\177\"");
}
