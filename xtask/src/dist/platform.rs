//! The platforms of a release, and what each kind of package calls them.

/// A platform that a release has programs for.
#[derive(Debug)]
pub struct Platform {
    /// As Rust calls it.
    pub target: &'static str,
    /// As Go, krew and the names of the archives call it.
    pub name: &'static str,
    /// As wheels call it.
    pub wheel: &'static str,
    /// The operating system, as Node.js calls it.
    pub npm_os: &'static str,
    /// The processor, as Node.js calls it.
    pub npm_cpu: &'static str,
    /// The processor, as Debian calls it; `None` for other systems.
    pub deb: Option<&'static str>,
    /// The processor, as RPM calls it; `None` for other systems.
    pub rpm: Option<&'static str>,
}

/// All platforms. A static program of Linux runs with every C library, so its wheel has the oldest tags.
pub const PLATFORMS: [Platform; 5] = [
    Platform {
        target: "x86_64-unknown-linux-musl",
        name: "linux-amd64",
        wheel: "manylinux2014_x86_64.musllinux_1_1_x86_64",
        npm_os: "linux",
        npm_cpu: "x64",
        deb: Some("amd64"),
        rpm: Some("x86_64"),
    },
    Platform {
        target: "aarch64-unknown-linux-musl",
        name: "linux-arm64",
        wheel: "manylinux2014_aarch64.musllinux_1_1_aarch64",
        npm_os: "linux",
        npm_cpu: "arm64",
        deb: Some("arm64"),
        rpm: Some("aarch64"),
    },
    Platform {
        target: "x86_64-apple-darwin",
        name: "darwin-amd64",
        wheel: "macosx_10_12_x86_64",
        npm_os: "darwin",
        npm_cpu: "x64",
        deb: None,
        rpm: None,
    },
    Platform {
        target: "aarch64-apple-darwin",
        name: "darwin-arm64",
        wheel: "macosx_11_0_arm64",
        npm_os: "darwin",
        npm_cpu: "arm64",
        deb: None,
        rpm: None,
    },
    Platform {
        target: "x86_64-pc-windows-gnu",
        name: "windows-amd64",
        wheel: "win_amd64",
        npm_os: "win32",
        npm_cpu: "x64",
        deb: None,
        rpm: None,
    },
];

impl Platform {
    /// What the name of a program ends with.
    pub fn suffix(&self) -> &'static str {
        if self.npm_os == "win32" { ".exe" } else { "" }
    }
}

/// The platform of a target.
///
/// # Errors
/// A release has no such platform.
pub fn of_target(target: &str) -> Result<&'static Platform, String> {
    let known = || PLATFORMS.iter().map(|platform| platform.target).collect::<Vec<_>>().join(", ");
    let found = PLATFORMS.iter().find(|platform| platform.target == target);
    found.ok_or_else(|| format!("the target must be one of {}, not \"{target}\"", known()))
}

/// The platform of this machine.
///
/// # Errors
/// A release has no such platform.
pub fn here() -> Result<&'static Platform, String> {
    let name = crate::machine::host()?;
    let found = PLATFORMS.iter().find(|platform| platform.name == name);
    found.ok_or_else(|| format!("a release has no programs for {name}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cargo_binstall_knows_the_archive_of_each_platform() {
        let file = crate::machine::root().expect("a checkout").join("crates/kubectl-krm-merge/Cargo.toml");
        let text = crate::machine::read(&file).expect("a manifest");
        for platform in &PLATFORMS {
            // It knows Windows by the other compiler.
            let target = platform.target.replace("windows-gnu", "windows-msvc");
            let archive = format!("/krm-merge-{}.tar.gz", platform.name);
            let line = text.lines().find(|line| line.starts_with(&format!("{target} = ")));
            assert!(line.is_some_and(|line| line.contains(&archive)), "{target}");
        }
    }
}
