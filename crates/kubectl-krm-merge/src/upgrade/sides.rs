//! A release of a package's upstream, beside the package, to be compared.

use std::path::Path;

use anyhow::{Result, bail};
use krm_folders::given;
use krm_folders::package::Package;
use krm_folders::side::Side;
use krm_git::store::Network;

use super::plan::{Plan, Release, Stores};
use super::rendered::MayRender;

/// A release of a package's upstream, and the package, to be compared: the release that the package has, or that `to` names.
///
/// # Errors
/// The package records no release in git, or the release cannot be read.
pub fn with_release(folder: &Path, to: Option<&str>, may_render: MayRender) -> Result<[Side; 2]> {
    let package = Package::open(folder)?;
    if package.record.is_none() {
        bail!("`B` must be given, because \"{}\" is no package that records its upstream", package.name);
    }
    let mut stores = Stores::new(Network::Online, may_render);
    let release = match to {
        Some(to) => Plan::of_record(&package, Some(to), &mut stores)?.to,
        None => Release::of_package(&package, &mut stores)?,
    };
    both(&package, &release)
}

/// The sides of a release and of a package, without what they need not have in common.
///
/// # Errors
/// A side cannot be read.
pub fn both(package: &Package, release: &Release) -> Result<[Side; 2]> {
    let mut dest = given::side("PACKAGE", &package.path.to_string_lossy(), &[])?;
    let mut release = release.side_beside(&dest)?;
    package.part_of(&mut release, &mut dest)?;
    Ok([release, dest])
}
