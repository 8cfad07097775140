//! Builds the programs of a platform, and what only they can print: their man pages and completions.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use super::files::Entry;
use super::platform::{self, Platform};
use super::{Built, Dist};
use crate::machine::{call, output, target_folder};
use crate::release::{NAMES, PACKAGE, PLUGIN};

/// The shells that the plugin completes.
const SHELLS: [&str; 3] = ["bash", "fish", "zsh"];

/// Where the programs of a platform are built.
pub fn folder(root: &Path, platform: &Platform) -> PathBuf {
    target_folder(root).join("dist-build").join(platform.target).join("release")
}

/// Builds the program of a platform: one file under both names.
///
/// # Errors
/// The target is not installed, or nothing can link for it.
pub fn program(root: &Path, platform: &Platform) -> Result<(), String> {
    let (builder, flags) = (builder(root, platform)?, flags(root, platform)?);
    let target = target_folder(root).join("dist-build");
    let args = [builder, "--release", "--locked", "--target", platform.target, "--package", PACKAGE, "--bin", PLUGIN];
    call(root, &target, Command::new("cargo").args(args).env("RUSTFLAGS", &flags))?;
    let folder = folder(root, platform);
    let [own, plugin] = NAMES.map(|name| folder.join(format!("{name}{}", platform.suffix())));
    fs::copy(&plugin, own).map(drop).map_err(|e| format!("{}: {e}", plugin.display()))
}

/// The command of cargo that can link for a platform: its own where this is the platform, else the one of cargo-zigbuild, which brings a C
/// compiler for each.
fn builder(root: &Path, platform: &Platform) -> Result<&'static str, String> {
    if platform.npm_os == "darwin" {
        return Ok("build");
    }
    let zig = Command::new("cargo-zigbuild").arg("--version").current_dir(root).output();
    if zig.is_ok_and(|ran| ran.status.success()) {
        return Ok("zigbuild");
    }
    if platform::here().is_ok_and(|here| here.target == platform.target) {
        return Ok("build");
    }
    Err(format!("cargo-zigbuild must be there to build for {}: pip install cargo-zigbuild", platform.target))
}

/// The flags of the compiler. The paths of this machine would stand in the messages of panics. On Linux the programs lie at a fixed address, as
/// Go programs do: one that can be loaded anywhere corrects its addresses at each start, which takes the git driver half a millisecond a file.
fn flags(root: &Path, platform: &Platform) -> Result<String, String> {
    let crates = env::var("CARGO_HOME").or_else(|_| env::var("HOME").map(|home| format!("{home}/.cargo")));
    let crates = crates.or_else(|_| env::var("USERPROFILE").map(|home| format!("{home}/.cargo")));
    let crates = crates.map_err(|e| format!("CARGO_HOME: {e}"))?;
    let sysroot = output(root, "rustc", &["--print", "sysroot"])?;
    let paths = [(root.display().to_string(), "/krm-merge"), (crates, "/cargo"), (sysroot.trim().to_owned(), "/rust")];
    let paths = paths.map(|(from, to)| format!("--remap-path-prefix={from}={to}")).join(" ");
    Ok(match platform.npm_os {
        "linux" => format!("-C target-feature=+crt-static -C relocation-model=static {paths}"),
        "win32" => format!("-C target-feature=+crt-static {paths}"),
        _ => paths,
    })
}

/// The man pages and completions of both names: those of the program for this machine, because it must run to print them.
///
/// # Errors
/// There is no program for this machine, or it fails.
pub fn manual(dist: &Dist) -> Result<Vec<Entry>, String> {
    let here = platform::here()?;
    let Some(Built { platform, .. }) = dist.platforms.iter().find(|built| built.platform.name == here.name) else {
        return Err(format!(
            "the programs of this machine must also be built, because they print the manual: name {}",
            here.target
        ));
    };
    let mut all = Vec::new();
    for name in NAMES {
        let program = folder(&dist.root, platform).join(format!("{name}{}", platform.suffix())).display().to_string();
        let print = |args: &[&str]| output(&dist.root, &program, args);
        let page = name.replace('_', "-");
        all.push(Entry::text(format!("man/{page}.1"), print(&["man"])?));
        for command in commands(&print(&["--help"])?) {
            all.push(Entry::text(format!("man/{page}-{command}.1"), print(&["man", &command])?));
        }
        for shell in SHELLS {
            all.push(Entry::text(format!("completions/{name}.{shell}"), print(&["completion", shell])?));
        }
        if name == PLUGIN {
            all.push(Entry::text("completions/kubectl_complete-krm_merge", print(&["completion", "kubectl"])?));
        }
    }
    Ok(all)
}

/// The commands that a help lists.
fn commands(help: &str) -> Vec<String> {
    let listed = help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    let named = listed.filter_map(|line| line.strip_prefix("  ").filter(|rest| !rest.starts_with(' ')));
    named.filter_map(|line| line.split_whitespace().next()).filter(|name| *name != "help").map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_commands_stand_in_the_help() {
        let help = "Merge.\n\nCommands:\n  upgrade   Upgrade\n            packages\n  help      Print\n  two-way   Merge\n\nOptions:\n  -h\n";
        assert_eq!(super::commands(help), ["upgrade", "two-way"]);
    }
}
