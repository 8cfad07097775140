//! `review --in-place`: raises the versions where they are written, and edits the values.

use std::borrow::Cow;
use std::collections::BTreeMap;

use anyhow::{Context, Result, anyhow};
use krm_files::disk::{self, Replacement};
use krm_files::signals::Signals;
use krm_git::versions::{Range, version};
use krm_overlay::{Below, OverlayKind};
use krm_yaml::{Document, Edit, TextEdits};

use super::charts::Release;
use super::tree::Tree;

/// The edits of the files of a tree.
#[derive(Default)]
pub struct Edits(BTreeMap<String, Vec<Edit>>);

impl Edits {
    /// Adds an edit of a file.
    pub fn add(&mut self, file: &str, edit: Edit) {
        let edits = self.0.entry(file.to_owned()).or_default();
        if !edits.contains(&edit) {
            edits.push(edit);
        }
    }

    /// Writes all files or none. Returns the files that changed.
    ///
    /// # Errors
    /// Edits of a file are in each other's place, a new text is not YAML, or a file cannot be written.
    pub fn write(self, tree: &Tree) -> Result<Vec<String>> {
        let mut files = Vec::new();
        for (path, edits) in self.0 {
            let text = tree.texts.get(&path).with_context(|| path.clone())?;
            let edits = TextEdits::of(edits).map_err(|e| anyhow!("{path}: {e}"))?;
            let new = edits.apply(text, 0..text.len());
            Document::parse(new.as_str()).map_err(|e| anyhow!("{path}: the new text must be YAML: {e}"))?;
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
        Ok(files.into_iter().map(|(path, ..)| path).collect())
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
    } else if let Some(range) = Range::read(written) {
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
