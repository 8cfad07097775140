//! git's own merge of three texts.

#![allow(clippy::disallowed_methods, reason = "a test makes its own files")]

use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

use krm_tree::sides::{Side, Sides};

/// git's merge of the lines of three texts; `None` if git finds a conflict.
pub fn merge_file(texts: &Sides<String>) -> Option<String> {
    static NUMBER: AtomicUsize = AtomicUsize::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let path = |name: &str| std::env::temp_dir().join(format!("krm-merge-{}-{number}-{name}", std::process::id()));
    let files = [(Side::Dest, path("dest")), (Side::Original, path("original")), (Side::Updated, path("updated"))];
    for (side, path) in &files {
        std::fs::write(path, &texts[*side]).expect("a file");
    }
    let files = files.map(|(_, path)| path);
    let output = Command::new("git").args(["merge-file", "-p", "-q"]).args(&files).output().expect("git");
    for path in files {
        std::fs::remove_file(path).expect("a file");
    }
    output.status.success().then(|| String::from_utf8(output.stdout).expect("UTF-8"))
}
