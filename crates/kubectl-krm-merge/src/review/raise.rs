//! `review --in-place`: raises the versions where they are written, and edits the values.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use anyhow::{Context, Result, anyhow};
use krm_driver::{driver, mark};
use krm_files::disk::{self, Replacement};
use krm_files::signals::Signals;
use krm_git::versions::{self, version};
use krm_overlay::{Below, OverlayKind};
use krm_tree::sides::{Side, Sides};
use krm_yaml::{Document, Edit, TextEdits};

use super::charts::Release;
use super::tree::Tree;

/// The edits of the files of a tree.
#[derive(Default)]
pub struct Edits(BTreeMap<String, FileEdits>);

/// The edits of a file, for each side that may win what is in conflict.
#[derive(Default)]
struct FileEdits {
    edits: Sides<Vec<Edit>>,
    /// The places that are in conflict.
    places: Vec<Range<usize>>,
    /// The releases that lie below, as a person names them: the old ones and the new ones.
    releases: [BTreeSet<String>; 2],
}

/// The files that changed.
#[derive(Debug, Default)]
pub struct Changed {
    /// Their paths.
    pub files: Vec<String>,
    /// Those that have conflicts between markers.
    pub marked: Vec<String>,
}

impl Edits {
    /// Adds an edit of a file, whichever side wins.
    pub fn add(&mut self, file: &str, edit: &Edit) {
        Side::ALL.into_iter().for_each(|side| self.add_for(file, side, edit.clone()));
    }

    /// Adds an edit of a file if a side wins.
    pub fn add_for(&mut self, file: &str, side: Side, edit: Edit) {
        let edits = &mut self.0.entry(file.to_owned()).or_default().edits[side];
        if !edits.contains(&edit) {
            edits.push(edit);
        }
    }

    /// Notes a place of a file that is in conflict.
    pub fn dispute(&mut self, file: &str, place: Range<usize>) {
        self.0.entry(file.to_owned()).or_default().places.push(place);
    }

    /// Notes the releases below the values of a file.
    pub fn name(&mut self, file: &str, releases: [String; 2]) {
        if let Some(edits) = self.0.get_mut(file) {
            edits.releases.iter_mut().zip(releases).for_each(|(all, release)| _ = all.insert(release));
        }
    }

    /// Writes all files or none.
    ///
    /// # Errors
    /// Edits of a file are in each other's place, a new text is not YAML, or a file cannot be written.
    pub fn write(self, tree: &Tree) -> Result<Changed> {
        let (mut files, mut changed) = (Vec::new(), Changed::default());
        for (path, edits) in self.0 {
            let text = tree.texts.get(&path).with_context(|| path.clone())?;
            let (new, is_marked) = edits.text(&path, text).with_context(|| path.clone())?;
            if is_marked {
                changed.marked.push(path.clone());
            }
            if new != *text {
                files.push((path, text, new));
            }
        }
        let replacement = |(path, old, new): &(String, &String, String)| Replacement {
            file: tree.top.join(path),
            old: Some(Cow::Owned(old.as_bytes().to_vec())),
            new: Some(Cow::Owned(new.as_bytes().to_vec())),
            executable: None,
        };
        let replacements: Vec<Replacement<'_>> = files.iter().map(replacement).collect();
        if !replacements.is_empty() {
            let signals = Signals::hold()?;
            disk::write(&tree.top, &replacements, || signals.check())?;
        }
        changed.files = files.into_iter().map(|(path, ..)| path).collect();
        Ok(changed)
    }
}

impl FileEdits {
    /// The new text of a file, and whether it has markers.
    fn text(self, path: &str, text: &str) -> Result<(String, bool)> {
        let mut edits = Sides::default();
        for side in Side::DEST_FIRST {
            edits[side] = TextEdits::of(self.edits[side].clone())?;
            // Without a conflict, all drafts are one.
            if side == Side::Dest || edits[side] != edits.dest {
                let new = edits[side].apply(text, 0..text.len());
                Document::parse(new).map_err(|e| anyhow!("the new text must be YAML: {e}"))?;
            }
        }
        if edits.dest == edits.updated {
            return Ok((edits.dest.apply(text, 0..text.len()), false));
        }
        let label = |side: Side, named: &str| format!("{} ({named})", side.name());
        let all = |releases: &BTreeSet<String>| releases.iter().map(String::as_str).collect::<Vec<_>>().join(", ");
        let labels = Sides {
            original: label(Side::Original, &all(&self.releases[0])),
            updated: label(Side::Updated, &all(&self.releases[1])),
            dest: label(Side::Dest, path),
        };
        let edits = edits.map(TextEdits::into_vec);
        Ok((mark::text(text, &edits, &self.places, &labels, driver::style())?, true))
    }
}

/// Why a version stays as it is written.
pub enum Kept {
    /// A range has the new version already, or nothing names a version.
    Floats,
    /// Somebody must do it, as this says.
    ByHand(String),
}

/// The text of a version, raised to a release.
pub fn raised(kind: OverlayKind, below: &Below, old: &Release, new: &Release) -> Result<(String, Edit), Kept> {
    let Some(place) = &below.version else { return Err(Kept::Floats) };
    if kind == OverlayKind::Record {
        return Err(Kept::ByHand("`upgrade` raises the version of a package".to_owned()));
    }
    let written = place.text.trim();
    let with_v = |text: &str, name: &str| match (text.starts_with('v'), name.strip_prefix('v')) {
        // A repository has `v1.2.3` where the file has `1.2.3`.
        (false, Some(bare)) if old.version.starts_with('v') => bare.to_owned(),
        (true, None) if !old.version.starts_with('v') => format!("v{name}"),
        _ => name.to_owned(),
    };
    let text = if let Some((tag, _)) = written.split_once("sha256:") {
        let Some(digest) = new.digest().filter(|_| tag.ends_with('@') || tag.is_empty()) else {
            return Err(Kept::ByHand(format!("the version is pinned by a digest, \"{written}\"")));
        };
        let tag = tag.trim_end_matches('@');
        let name = if tag.is_empty() { String::new() } else { format!("{}@", with_v(tag, &new.version)) };
        format!("{name}sha256:{digest}")
    } else if let Some(range) = versions::Range::read(written) {
        if version(&new.version).is_some_and(|version| range.has(&version)) {
            return Err(Kept::Floats);
        }
        let operator: String = written.chars().take_while(|c| "^~".contains(*c)).collect();
        let rest = &written[operator.len()..];
        if operator.len() != 1 || version(rest).is_none() {
            return Err(Kept::ByHand(format!("the range \"{written}\" does not have {}", new.version)));
        }
        format!("{operator}{}", with_v(rest, &new.version))
    } else {
        with_v(written, &new.version)
    };
    Ok((place.file.clone(), Edit { range: place.range.clone(), text: place.written(&text) }))
}

/// The folder of the chart whose lock file has the old version, after the version of a dependency is raised.
pub fn locked(kind: OverlayKind, below: &Below) -> Option<String> {
    let place = below.version.as_ref().filter(|_| kind == OverlayKind::Dependency && below.locked.is_some())?;
    Some(place.file.rsplit_once('/').map_or(".", |(folder, _)| folder).to_owned())
}
