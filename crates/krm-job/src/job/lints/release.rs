//! Warns if the Kptfiles show that a release does not fit dest: it is one folder deeper, or dest did not come from it.
//!
//! `kpt pkg get` into a folder that exists makes a folder in it, so new files would go to `web/web/`. kpt also notes the commit of each
//! release. A merge with any other original undoes what upstream did between the two commits. If dest has the commit of updated, the result
//! is an `info`: it may be a pipeline that runs again after an upgrade, which looks like releases that are swapped.

use krm_package::resource::Resource;

use super::{Package, Told};
use crate::event::{Event, What};
use crate::results::Results;
use crate::role::Role;
use crate::roles::Roles;

/// The name, and also the kind, of the file in which kpt describes a package.
const KPTFILE: &str = "Kptfile";

/// A result for each release that does not fit dest.
pub(super) fn releases(Package { roles, .. }: Package<'_, '_>, results: &mut Results<'_>) -> Told {
    let Some(dest) = kptfile(&roles.dest, KPTFILE) else { return Ok(()) };
    for side in [Role::Original, Role::Updated] {
        if let Some(folder) = folder_of(side, roles)
            && let Some(about) = kptfile(roles.of(side), &format!("{folder}/{KPTFILE}"))
            && kptfile(&roles.dest, &format!("{folder}/{KPTFILE}")).is_none()
        {
            results.tell([Event::of(What::Deeper { side, folder: folder.to_owned() }).about(about)])?;
        }
    }
    let lock = |side: Role| kptfile(roles.of(side), KPTFILE).and_then(Lock::of);
    if let (Some(original), Some(here)) = (lock(Role::Original), Lock::of(dest))
        && original.is_of_one_package(&here)
        && original.commit != here.commit
    {
        let is_updated = lock(Role::Updated).is_some_and(|updated| updated == here);
        let [commit, original] = [here.commit, original.commit].map(str::to_owned);
        let what = if is_updated { What::HasUpdated(commit) } else { What::OtherOriginal { commit, original } };
        results.tell([Event::of(what).about(dest)])?;
    }
    Ok(())
}

/// The top folder that holds all files of a release; `None` if there is no such folder.
fn folder_of<'a>(side: Role, roles: &Roles<'a>) -> Option<&'a str> {
    let apart = roles.apart.iter().filter(|(role, _)| *role == side).map(|(_, item)| item);
    let mut paths = roles.of(side).iter().chain(apart).map(|resource| resource.relative_path);
    let (folder, _) = paths.next()??.split_once('/')?;
    let is_there =
        |path: Option<&str>| path.and_then(|path| path.split_once('/')).is_some_and(|(own, _)| own == folder);
    paths.all(is_there).then_some(folder)
}

/// The Kptfile at a path.
fn kptfile<'r, 'a>(resources: &'r [Resource<'a>], path: &str) -> Option<&'r Resource<'a>> {
    let is_kptfile = |resource: &&Resource<'_>| {
        resource.relative_path == Some(path)
            && resource.identity.is_some_and(|i| i.kind == KPTFILE && i.api_version.starts_with("kpt.dev/"))
    };
    resources.iter().find(is_kptfile)
}

/// The release that a package came from, as kpt notes it in the Kptfile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Lock<'a> {
    repo: &'a str,
    directory: &'a str,
    commit: &'a str,
}

impl<'a> Lock<'a> {
    fn of(kptfile: &Resource<'a>) -> Option<Self> {
        let text = |field: &str| kptfile.node().at(&["upstreamLock", "git", field])?.as_str();
        Some(Self { repo: text("repo")?, directory: text("directory")?, commit: text("commit")? })
    }

    fn is_of_one_package(&self, other: &Self) -> bool {
        (self.repo, self.directory) == (other.repo, other.directory)
    }
}
