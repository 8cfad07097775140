//! `review` of kustomizations: what a new release of their bases does to their patches, images and replicas.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use krm_git::store::Network;
use krm_overlay::{BothFiles, OverlayKind, PatchFinding, PatchReview, Patched, Verdict, patched, review_kustomization};
use krm_show::review::{Found, Missed, Over};
use krm_yaml::Edit;

use super::bases::{Has, Releases, TreeFiles};
use super::tree::Tree;
use crate::cli::Review;

/// What was found of the kustomizations of a tree.
#[derive(Default)]
pub struct Reviewed {
    /// The kustomizations, once for each repository below them.
    pub overlays: Vec<Over>,
    /// The edits that raise addresses, each with its file.
    pub edits: Vec<(String, Edit)>,
    /// What is left to the user.
    pub by_hand: BTreeSet<String>,
    /// The names of the repositories below.
    pub repositories: BTreeSet<String>,
}

/// Reviews the kustomizations of a tree that are in some paths, or have patches there. With `base`, it compares the bases with those of that
/// tree, and otherwise with their next releases.
pub fn review(args: &Review, tree: &Tree, base: Option<&Tree>, within: &[PathBuf]) -> Reviewed {
    let mut reviewed = Reviewed::default();
    let all = patched(&tree.texts);
    // Without an address, there is no other release.
    if base.is_none() && !all.iter().any(|one| one.has_address) {
        return reviewed;
    }
    let network: Network = args.reach.network();
    let releases = Releases::new(tree.top.clone(), network, args.to.clone());
    let old = TreeFiles::new(base.unwrap_or(tree), &releases, Has::Named);
    let new = TreeFiles::new(tree, &releases, if base.is_some() { Has::Named } else { Has::Next });
    let mut run = Run { tree, base: args.base.as_deref(), told: BTreeSet::new() };
    let is_in = |file: &String| within.iter().any(|path| Path::new(file).starts_with(path));
    for one in all.iter().filter(|one| one.files.iter().any(is_in)) {
        let found = review_kustomization(&one.file, &BothFiles { old: &old, new: &new });
        let versions = Versions { from: old.asked(), to: new.asked() };
        let (edits, by_hand) = new.raised();
        let Some(found) = found else { continue };
        reviewed.repositories.extend(versions.from.keys().map(|name| last(name).to_owned()));
        let is_told = if base.is_some() { found.is_changed || versions.differ() } else { !versions.from.is_empty() };
        if is_told || base.is_none() && !found.unread.is_empty() {
            reviewed.overlays.extend(run.overs(one, found, &versions));
        }
        reviewed.edits.extend(edits);
        reviewed.by_hand.extend(by_hand);
    }
    reviewed
}

/// The versions of the repositories below a kustomization.
struct Versions {
    from: BTreeMap<Rc<str>, String>,
    to: BTreeMap<Rc<str>, String>,
}

impl Versions {
    fn differ(&self) -> bool {
        self.from != self.to
    }

    /// The repositories whose version is another one; all of them, if none is.
    fn names(&self) -> Vec<Rc<str>> {
        let all: BTreeSet<&Rc<str>> = self.from.keys().chain(self.to.keys()).collect();
        let differs = |name: &&&Rc<str>| self.from.get(**name) != self.to.get(**name);
        all.iter().filter(|name| differs(name)).map(|name| Rc::clone(name)).collect()
    }
}

/// The last part of an address or path.
fn last(path: &str) -> &str {
    let path = path.trim_end_matches('/').trim_end_matches(".git");
    path.rsplit(['/', ':']).next().unwrap_or(path)
}

struct Run<'r> {
    tree: &'r Tree,
    base: Option<&'r str>,
    /// What was told already: several kustomizations may have one component.
    told: BTreeSet<String>,
}

impl Run<'_> {
    /// What was found of a kustomization, for each repository below it.
    fn overs(&mut self, one: &Patched, found: PatchReview, versions: &Versions) -> Vec<Over> {
        let folder = one.file.rsplit_once('/').map_or("", |(folder, _)| folder);
        let over = |name: Option<&str>, from: Option<String>, to: Option<String>| Over {
            kind: OverlayKind::Kustomization,
            name: if folder.is_empty() { ".".to_owned() } else { folder.to_owned() },
            at: self.tree.place(&one.at),
            chart: name.map(|name| last(name).to_owned()),
            from,
            to,
            found: Vec::new(),
            changed: Vec::new(),
            notes: None,
            is_read: true,
            unread: Vec::new(),
        };
        let names = versions.names();
        let mut overs: Vec<(Option<Rc<str>>, Over)> = Vec::new();
        for name in &names {
            let (from, to) = (versions.from.get(name).cloned(), versions.to.get(name).cloned());
            overs.push((Some(Rc::clone(name)), over(Some(name), from, to)));
        }
        // What neither release has is of no release.
        let is_of_tree = |found: &PatchFinding| {
            let is_idle = matches!(found.finding.verdict, Verdict::Nowhere | Verdict::Same | Verdict::Holds);
            found.release.is_none() && !is_idle
        };
        if names.is_empty() || self.base.is_some() && found.findings.iter().any(is_of_tree) {
            let name = versions.from.keys().next().map_or_else(|| folder.to_owned(), |name| name.to_string());
            let to = self.base.filter(|_| found.is_changed).map(|_| "the work tree".to_owned());
            let from = self.base.map(str::to_owned).or_else(|| versions.from.values().next().cloned());
            overs.push((None, over(Some(&name), from, to)));
        }
        for unread in &found.unread {
            let missed = Missed::of(self.tree.place(&unread.at), unread);
            if self.told.insert(format!("{:?}", missed))
                && let Some((_, over)) = overs.first_mut()
            {
                over.unread.push(missed);
            }
        }
        for patch in found.findings {
            let at = self.tree.place(&patch.at);
            let own = overs.iter().position(|(name, _)| *name == patch.release).unwrap_or(0);
            let Some((_, over)) = overs.get_mut(own) else { continue };
            if self.told.insert(format!("{at:?} {:?} {:?} {:?}", patch.finding, over.from, over.to)) {
                over.found.push(Found { at, finding: patch.finding });
            }
        }
        overs.into_iter().map(|(_, over)| over).collect()
    }
}
