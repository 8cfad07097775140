//! A bot: merges a release into a package on disk, and prints what a pull request should say.
//!
//! `cargo run -p krm-merge --example bot ORIGINAL UPDATED DEST`

#![expect(clippy::print_stdout, reason = "it prints the text of a pull request")]
#![allow(clippy::disallowed_methods, reason = "it writes the files of its user")]

use std::error::Error;
use std::path::Path;
use std::{env, fs};

use krm_merge::words::line;
use krm_merge::{FileChange, Merge, Package, Pick, Reveal, Treatment};

fn main() -> Result<(), Box<dyn Error>> {
    let folders: Vec<String> = env::args().skip(1).collect();
    let [original, updated, dest] = folders.as_slice() else { return Err("three folders must be given".into()) };
    let root = Path::new(dest);
    let mut merge = Merge::three_way(&read(original)?, &read(updated)?, &read(dest)?);
    if let Ok(rules) = fs::read_to_string(root.join(".krm-merge.yaml")) {
        merge = merge.config(&rules)?;
    }
    let merged = merge.run()?;
    // What nobody has decided keeps dest's value, and the text of the pull request says so.
    let plan = merged.plan(Treatment::Open(Pick::Dest))?;
    // The changes hold together: a file may come to the path that another one leaves. So what goes is removed first.
    for change in &plan.changes {
        if let FileChange::Moved { from: path, .. } | FileChange::Removed { path } = change {
            fs::remove_file(root.join(path))?;
        }
    }
    for change in &plan.changes {
        if let FileChange::Added { path, text, .. }
        | FileChange::Changed { path, text, .. }
        | FileChange::Moved { to: path, text, .. } = change
        {
            write(root, path, text)?;
        }
    }
    println!("{} files changed\n", plan.changes.len());
    for conflict in merged.conflicts() {
        // The values of a Secret are for nobody who reads a pull request.
        let values = conflict.values(Reveal::Public);
        println!("- [ ] {}: `{}`", conflict.file().unwrap_or_default(), conflict.path());
        for (side, value) in [("upstream", values.updated), ("here", values.dest)] {
            println!("      {side}: {}", value.unwrap_or("nothing that is shown"));
        }
    }
    for event in plan.events.iter().filter(|event| !event.is_conflict()) {
        println!("- {}", line(event));
    }
    Ok(())
}

/// The files of a folder, with what is below it.
fn read(folder: &str) -> Result<Package, Box<dyn Error>> {
    fn collect(folder: &Path, before: &str, files: &mut Vec<(String, String)>) -> Result<(), Box<dyn Error>> {
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            let name = entry.file_name().into_string().map_err(|_| "a name must be UTF-8")?;
            match entry.file_type()? {
                _ if name == ".git" => {}
                kind if kind.is_dir() => collect(&entry.path(), &format!("{before}{name}/"), files)?,
                // What is no text stays as it is.
                _ => files.extend(fs::read_to_string(entry.path()).ok().map(|text| (format!("{before}{name}"), text))),
            }
        }
        Ok(())
    }
    let mut files = Vec::new();
    collect(Path::new(folder), "", &mut files)?;
    Ok(Package::of_files(files)?)
}

fn write(root: &Path, path: &str, text: &str) -> Result<(), Box<dyn Error>> {
    let path = root.join(path);
    fs::create_dir_all(path.parent().unwrap_or(root))?;
    Ok(fs::write(path, text)?)
}
