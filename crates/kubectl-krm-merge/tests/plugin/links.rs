//! A repository full of symbolic links with the names that this program uses: nothing outside of it and of the cache is written, made, removed
//! or changed, as strace sees it.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::support::{Folder, PLUGIN, Ran, has, map};
use crate::upgrade::repository::{Upstream, commit, git};

const CALLS: &str = "trace=open,openat,openat2,creat,truncate,rename,renameat,renameat2,unlink,unlinkat,rmdir,mkdir,mkdirat,link,linkat,\
    symlink,symlinkat,mknod,mknodat,chmod,fchmodat,chown,lchown,fchownat,utimensat";

/// The names of links in a folder: of the lock, the journal, and temporary files.
fn names() -> Vec<String> {
    let numbered = (0..40).map(|number| format!(".krm-merge-{number}-{}.tmp", number % 2));
    [".krm-merge-lock.tmp", ".krm-merge-journal.tmp"].map(str::to_owned).into_iter().chain(numbered).collect()
}

/// A home folder with a file, and a repository `r` with links to that file in these folders.
fn hostile(folders: &[&str]) -> Folder {
    let folder = Folder::with(&[("home/.profile", "mine\n"), ("tmp/mine", "mine\n")]);
    fs::set_permissions(folder.path("home/.profile"), fs::Permissions::from_mode(0o640)).expect("set");
    fs::create_dir(folder.path("r")).expect("made");
    git(&folder.path("r"), &["init", "--quiet"]);
    link(&folder, folders);
    folder
}

fn link(folder: &Folder, folders: &[&str]) {
    for of in folders {
        fs::create_dir_all(folder.path(of)).expect("made");
        for name in names() {
            symlink(folder.path("home/.profile"), folder.path(of).join(name)).expect("a link");
        }
    }
}

/// Runs a program in the repository, and checks what it changed.
fn traced(folder: &Folder, program: &str, args: &[&str]) -> Ran {
    let trace = folder.path("trace");
    let mut strace = Command::new("strace");
    strace.args(["-f", "-y", "-qq", "-s", "4096", "-e", CALLS, "-o"]).arg(&trace).arg(program).args(args);
    strace.current_dir(folder.path("r")).env("XDG_CACHE_HOME", folder.path(".cache")).env("TMPDIR", folder.path("tmp"));
    strace.env("HOME", folder.path("home")).env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_SYSTEM", "/dev/null");
    let who = [("GIT_AUTHOR_NAME", "me"), ("GIT_AUTHOR_EMAIL", "m@example.com"), ("GIT_COMMITTER_NAME", "me")];
    let output: Output = strace.envs(who).env("GIT_COMMITTER_EMAIL", "m@example.com").output().expect("strace runs");
    let ran = Ran::of(output);
    let top = fs::canonicalize(&folder.0).expect("there");
    let text = String::from_utf8_lossy(&fs::read(&trace).expect("a trace")).into_owned();
    let changed: Vec<PathBuf> = text.lines().flat_map(|line| changed_by(line, &top.join("r"))).collect();
    let is_allowed =
        |path: &PathBuf| [top.join("r"), top.join(".cache"), "/dev".into()].iter().any(|own| path.starts_with(own));
    let outside: Vec<_> = changed.iter().filter(|path| !is_allowed(path)).collect();
    assert!(outside.is_empty(), "{args:?}: {outside:?}\n{ran:?}");
    assert!(changed.iter().any(|path| path.starts_with(top.join("r"))), "{args:?} changes something: {ran:?}\n{text}");
    assert_eq!(folder.read("home/.profile"), "mine\n", "{args:?}");
    let mode = fs::metadata(folder.path("home/.profile")).expect("there").permissions().mode() & 0o777;
    assert_eq!((mode, fs::read_dir(folder.path("tmp")).expect("there").count()), (0o640, 1), "{args:?}");
    ran
}

/// The paths that a line of strace changes: each without links in its folder.
fn changed_by(line: &str, current: &Path) -> Vec<PathBuf> {
    let call = line.trim_start_matches(|c: char| c.is_ascii_digit() || c == ' ');
    let Some((name, rest)) = call.split_once('(') else { return Vec::new() };
    let Some((args, result)) = rest.rsplit_once(" = ") else { return Vec::new() };
    if result.starts_with('-') || result.starts_with('?') {
        return Vec::new();
    }
    if name.starts_with("open") || name == "creat" {
        let writes = ["O_WRONLY", "O_RDWR", "O_CREAT"].iter().any(|flag| args.contains(flag)) || name == "creat";
        let path = result.split_once('<').and_then(|(_, path)| path.strip_suffix('>'));
        return path.filter(|_| writes).map(PathBuf::from).into_iter().collect();
    }
    // Each name in quotes, after the folder that it is relative to.
    let pieces: Vec<&str> = args.split('"').collect();
    let paths = pieces.chunks_exact(2).map(|pair| {
        let folder =
            pair[0].rsplit_once('<').and_then(|(_, path)| path.split_once('>')).map(|(path, _)| Path::new(path));
        let path = folder.unwrap_or(current).join(pair[1]);
        let above = path.parent().and_then(|above| fs::canonicalize(above).ok());
        above.map_or(path.clone(), |above| above.join(path.file_name().unwrap_or_default()))
    });
    paths.collect()
}

#[test]
fn the_driver_and_resolve_write_in_the_repository_alone() {
    if !has("strace") {
        return;
    }
    let folder = hostile(&["r", "r/.x.krm-merge-get-1"]);
    let here = folder.path("r");
    let file = |a: &str, b: &str| {
        folder.write("r/a.yaml", map("a", &[("a", a), ("m", "x"), ("n", "y"), ("b", b)]));
        folder.write(
            "r/b.yaml",
            map("b", &[("a", a), ("m", "x"), ("n", "y"), ("b", b)])
                .replace('\n', if a == "'1'" { "\r\n" } else { "\n" }),
        );
    };
    file("'0'", "'0'");
    traced(&folder, PLUGIN, &["git-install"]).passed();
    commit(&here, "base");
    git(&here, &["branch", "topic"]);
    file("'1'", "'0'");
    commit(&here, "ours");
    git(&here, &["checkout", "--quiet", "topic"]);
    file("'0'", "'2'");
    commit(&here, "theirs");
    git(&here, &["checkout", "--quiet", "-"]);
    traced(&folder, "git", &["merge", "--quiet", "-m", "merged", "topic"]).passed();
    assert_eq!(folder.read("r/a.yaml"), map("a", &[("a", "'1'"), ("m", "x"), ("n", "y"), ("b", "'2'")]));
    git(&here, &["checkout", "--quiet", "topic"]);
    file("'3'", "'2'");
    commit(&here, "theirs again");
    git(&here, &["checkout", "--quiet", "-"]);
    file("'4'", "'2'");
    commit(&here, "ours again");
    assert_eq!(traced(&folder, "git", &["merge", "topic"]).code, Some(1));
    // Links that git tracks beside a file stop a run that would remove them.
    let told = Ran::of(folder.command(&["resolve", "--take", "theirs"]).current_dir(&here).output().expect("it runs"))
        .failed(2);
    assert!(told.contains("git tracks this file"), "{told}");
    git(&here, &["rm", "--quiet", "-r", "--cached", ".krm-merge-*", ".x.krm-merge-get-1"]);
    traced(&folder, PLUGIN, &["resolve", "--take", "theirs"]).passed();
    assert!(folder.read("r/a.yaml").contains("'3'"));
}

#[test]
fn a_merge_in_place_and_an_upgrade_write_in_the_package_alone() {
    if !has("strace") {
        return;
    }
    let folder = hostile(&["r/here", "r/here/sub"]);
    for (side, value) in [("v1", "'1'"), ("v2", "'2'"), ("here", "'1'")] {
        folder.write(&format!("r/{side}/a.yaml"), map("a", &[("x", value)]));
        folder.write(&format!("r/{side}/sub/b.yaml"), map("b", &[("x", value)]));
    }
    traced(&folder, PLUGIN, &["three-way", "--original", "v1", "--updated", "v2", "--dest", "here", "--in-place"])
        .passed();
    assert!(folder.read("r/here/sub/b.yaml").contains("'2'"));
    let upstream = Upstream::new(&folder, "up.git");
    for number in 1..=2 {
        let file = |name: &str| (format!("d/{name}.yaml"), map(name, &[("x", &format!("'{number}'"))]));
        upstream.release(&[file("a"), file("b")], &format!("v{number}"));
    }
    traced(&folder, PLUGIN, &["get", &upstream.source("d@v1"), "p"]).passed();
    commit(&folder.path("r"), "got");
    link(&folder, &["r/p"]);
    traced(&folder, PLUGIN, &["upgrade", "p"]).passed();
    assert!(folder.read("r/p/a.yaml").contains("'2'"));
}
