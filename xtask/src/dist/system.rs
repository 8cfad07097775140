//! Packages for systems: Debian and RPM by their own programs, and a formula for Homebrew.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use super::files::{Entry, Mode, gz};
use super::platform::Platform;
use super::{Built, Dist};
use crate::machine::{read, start};

/// Makes the packages of a platform's systems. Without the program that makes a package, it says so.
///
/// # Errors
/// A package cannot be made.
pub fn make(dist: &Dist, built: &Built) -> Result<(), String> {
    let Platform { deb: Some(deb), rpm: Some(rpm), .. } = built.platform else { return Ok(()) };
    let (tree, files) = laid_out(dist, built)?;
    let Dist { version, out, .. } = dist;
    if is_there("dpkg-deb") {
        let control = read(&dist.root.join("packaging/control"))?;
        let size = files.iter().map(|entry| entry.bytes.len()).sum::<usize>() / 1024;
        let control = filled(&control, &[("VERSION", version), ("CPU", deb), ("SIZE", &size.to_string())]);
        place(&tree, &[Entry::text("DEBIAN/control", control)])?;
        let file = out.join(format!("krm-merge_{version}_{deb}.deb")).display().to_string();
        let mut command = Command::new("dpkg-deb");
        command.args(["--root-owner-group", "-Zxz", "--build", &tree.display().to_string(), &file]);
        made(dist, &mut command)?;
        fs::remove_dir_all(tree.join("DEBIAN")).map_err(|e| format!("{}: {e}", tree.display()))?;
    } else {
        println!("skipped: without dpkg-deb there is no package for Debian");
    }
    if !is_there("rpmbuild") {
        println!("skipped: without rpmbuild there is no package for RPM");
        return Ok(());
    }
    let list: String = files.iter().map(|entry| format!("/{}\n", entry.path)).collect();
    let spec = read(&dist.root.join("packaging/krm-merge.spec"))?;
    let spec = filled(&spec, &[("VERSION", version), ("TREE", &tree.display().to_string()), ("FILES", &list)]);
    let top = tree.with_extension("rpm");
    place(&top, &[Entry::text("krm-merge.spec", spec)])?;
    let mut command = Command::new("rpmbuild");
    command.args(["-bb", "--quiet", "--target", rpm, "--define", &format!("_topdir {}", top.display())]);
    command.args(["--define", &format!("_rpmdir {}", out.display())]);
    made(dist, command.arg(top.join("krm-merge.spec")))
}

/// Lays out the files as they are installed. Returns the folder, and the files.
fn laid_out(dist: &Dist, built: &Built) -> Result<(std::path::PathBuf, Vec<Entry>), String> {
    let tree = dist.out.with_file_name("dist-tree").join(built.platform.name);
    if tree.exists() {
        fs::remove_dir_all(&tree).map_err(|e| format!("{}: {e}", tree.display()))?;
    }
    let mut files: Vec<Entry> = built.programs("usr/bin/").into();
    let notice = |notice: &Entry| Entry { path: format!("usr/share/doc/krm-merge/{}", notice.path), ..notice.clone() };
    files.extend(dist.notices.iter().map(notice));
    files.push(notice(&Entry::text("copyright", read(&dist.root.join("packaging/copyright"))?)));
    for Entry { path, bytes, .. } in &dist.manual {
        let (path, mode) = (place_of(path), mode_of(path));
        files.push(match path.contains("/man/") {
            true => Entry { path: format!("{path}.gz"), bytes: gz(bytes)?, mode },
            false => Entry { path, bytes: bytes.clone(), mode },
        });
    }
    place(&tree, &files)?;
    Ok((tree, files))
}

/// Where a page or a completion is installed.
fn place_of(path: &str) -> String {
    let name = path.rsplit('/').next().unwrap_or(path);
    match name.rsplit_once('.') {
        Some((_, "1")) => format!("usr/share/man/man1/{name}"),
        Some((program, "bash")) => format!("usr/share/bash-completion/completions/{program}"),
        Some((_, "fish")) => format!("usr/share/fish/vendor_completions.d/{name}"),
        Some((program, "zsh")) => format!("usr/share/zsh/vendor-completions/_{program}"),
        _ => format!("usr/bin/{name}"),
    }
}

fn mode_of(path: &str) -> Mode {
    if place_of(path).starts_with("usr/bin/") { Mode::Program } else { Mode::Text }
}

/// Writes files below a folder.
fn place(folder: &Path, files: &[Entry]) -> Result<(), String> {
    for Entry { path, bytes, mode } in files {
        let file = folder.join(path);
        let above = file.parent().unwrap_or(folder);
        let written = fs::create_dir_all(above).and_then(|()| match mode {
            Mode::Link => link(&file, bytes),
            Mode::Program | Mode::Text => fs::write(&file, bytes).and_then(|()| set_mode(&file, *mode)),
        });
        written.map_err(|e| format!("{}: {e}", file.display()))?;
    }
    Ok(())
}

#[cfg(unix)]
fn link(file: &Path, target: &[u8]) -> std::io::Result<()> {
    std::os::unix::fs::symlink(String::from_utf8_lossy(target).as_ref(), file)
}

#[cfg(not(unix))]
fn link(_: &Path, _: &[u8]) -> std::io::Result<()> {
    Err(std::io::Error::other("a package with links is made on a system that has them"))
}

#[cfg(unix)]
fn set_mode(file: &Path, mode: Mode) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(file, fs::Permissions::from_mode(mode.bits()))
}

#[cfg(not(unix))]
fn set_mode(_: &Path, _: Mode) -> std::io::Result<()> {
    Ok(())
}

fn is_there(program: &str) -> bool {
    Command::new(program).arg("--version").output().is_ok_and(|ran| ran.status.success())
}

/// Runs a program that makes a package whose dates are the one of the commit.
fn made(dist: &Dist, command: &mut Command) -> Result<(), String> {
    start(
        command
            .current_dir(&dist.root)
            .env("SOURCE_DATE_EPOCH", dist.date.to_string())
            .stdout(std::process::Stdio::null()),
    )
}

/// A template with its `@NAMES@` filled in.
fn filled(template: &str, values: &[(&str, &str)]) -> String {
    values.iter().fold(template.to_owned(), |text, (name, value)| text.replace(&format!("@{name}@"), value))
}

/// The formula of Homebrew, with the digests of the archives; `None` if a platform that it has was not built.
///
/// # Errors
/// The template cannot be read.
pub fn formula(dist: &Dist, digests: &BTreeMap<String, String>) -> Result<Option<String>, String> {
    let mut text = filled(&read(&dist.root.join("packaging/krm-merge.rb"))?, &[("VERSION", &dist.version)]);
    for (file, digest) in digests {
        text = filled(&text, &[(file, digest)]);
    }
    let is_whole = !text.contains('@');
    if !is_whole {
        println!("skipped: without the programs of each platform there is no formula for Homebrew");
    }
    Ok(is_whole.then_some(text))
}
