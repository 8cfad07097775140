//! Any pairs of texts as a file before and after: the diff that the plugin prints, applied by `git apply`, gives the file after.
//!
//! The plugin runs as a program of its own, because it is too large to be built with the fuzzer. One run takes many files, so that its
//! start is cheap.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use super::bytes::Bytes;

/// Checks the plugin that the environment variable `KRM_MERGE_PLUGIN` names.
pub fn check(bytes: &[u8]) {
    let plugin = std::env::var_os("KRM_MERGE_PLUGIN").expect("`KRM_MERGE_PLUGIN` must be the path of the plugin");
    check_plugin(Path::new(&plugin), bytes);
}

const PIECES: [&str; 24] = [
    "a",
    "b",
    "a: 1",
    "  a: 2",
    "",
    "-",
    "--- a",
    "+++ b",
    "@@ -1 +1 @@",
    "\\ No newline at end of file",
    "diff --git a/x b/x",
    " ",
    "\t",
    "\r",
    "c\r",
    "\u{2028}",
    "é",
    "\u{1b}[0m",
    "index 0..1",
    "-- ",
    "kind: X",
    "{",
    "key: |",
    "#",
];

/// The lines of a file, and a file with changes of them.
fn texts(bytes: &mut Bytes<'_>) -> [String; 2] {
    let line = |bytes: &mut Bytes<'_>| format!("{}\n", bytes.pick(&PIECES));
    let (mut old, mut new) = (String::new(), String::new());
    for _ in 0..bytes.below(40) {
        match bytes.below(12) {
            11 => new.push_str(&line(bytes)),
            10 => old.push_str(&line(bytes)),
            9 => {
                old.push_str(&line(bytes));
                new.push_str(&line(bytes));
            }
            _ => {
                let line = line(bytes);
                old.push_str(&line);
                new.push_str(&line);
            }
        }
    }
    for text in [&mut old, &mut new] {
        if bytes.one_in(4) {
            text.pop();
        }
    }
    [old, new]
}

/// Checks a plugin.
pub fn check_plugin(plugin: &Path, bytes: &[u8]) {
    let folder = Folder::new();
    let bytes = &mut Bytes::new(bytes);
    let count = 1 + bytes.below(24);
    for number in 0..count {
        let [old, new] = texts(bytes);
        for (side, text) in [("original", &old), ("dest", &old), ("updated", &new)] {
            // An empty side may have no file.
            if !text.is_empty() || number % 3 > 0 {
                folder.write(&format!("{side}/{number}.txt"), text);
            }
        }
    }
    for side in ["original", "dest", "updated"] {
        folder.write(&format!("{side}/kept.txt"), "");
    }
    let mut command = Command::new(plugin);
    command.args(["three-way", "--original", "original", "--updated", "updated", "--dest", "dest", "-o", "diff"]);
    let diff = command.current_dir(&folder.0).output().expect("the plugin runs");
    assert!(diff.status.success(), "the plugin prints a diff: {}", String::from_utf8_lossy(&diff.stderr));
    let shown = String::from_utf8_lossy(&diff.stdout);
    if !diff.stdout.is_empty() {
        let applied = apply(&folder.0.join("dest"), &diff.stdout);
        assert!(applied.status.success(), "git takes the diff: {}\n{shown}", String::from_utf8_lossy(&applied.stderr));
    }
    for number in 0..count {
        let read = |side: &str| fs::read(folder.0.join(format!("{side}/{number}.txt"))).ok();
        assert_eq!(read("dest"), read("updated"), "the diff has all that changed in {number}.txt\n{shown}");
    }
}

fn apply(folder: &Path, diff: &[u8]) -> Output {
    let mut git = Command::new("git");
    git.args(["apply", "--whitespace=nowarn"]).current_dir(folder).env("GIT_CEILING_DIRECTORIES", "/");
    let mut git = git.stdin(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("git runs");
    git.stdin.take().expect("stdin").write_all(diff).expect("git reads");
    git.wait_with_output().expect("git ends")
}

/// A folder in memory, if there is one; removed at its end.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        use std::sync::atomic::{AtomicUsize, Ordering};
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let memory = Path::new("/dev/shm");
        let parent = if memory.is_dir() { memory.to_owned() } else { std::env::temp_dir() };
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        Self(parent.join(format!("krm-merge-diff-{}-{number}", std::process::id())))
    }

    fn write(&self, path: &str, text: &str) {
        let file = self.0.join(path);
        fs::create_dir_all(file.parent().expect("a folder")).expect("a folder");
        fs::write(file, text).expect("written");
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
