//! [`ComparedFiles`]: the files of a three-way merge of packages, with the texts by which the engine compares them.
//!
//! These are not always the texts of the files: a file that holds no resources has one only if it gets some, and upstream's versions of a file
//! have dest's line ends.

use std::collections::{BTreeMap, BTreeSet};

use krm_package::package::{Files, TextFile};
use krm_tree::sides::Sides;

use crate::forms::{SideFile, at};
use crate::line_end::LineEnd;

/// Texts by the paths of their files.
type Texts = BTreeMap<String, String>;

/// The texts of files, where the engine compares other texts than those of their documents.
#[derive(Debug, Default)]
pub struct ComparedTexts(Sides<Texts>);

impl ComparedTexts {
    /// Reads them. `receiving` are the paths of the files of dest that get resources.
    ///
    /// # Errors
    /// A file cannot be read.
    pub fn of<F: SideFile>(sides: Sides<&[F]>, receiving: &BTreeSet<&str>) -> Result<Self, F::Unread> {
        let text = |file: &F| Ok::<_, F::Unread>(String::from_utf8_lossy(&file.bytes()?).into_owned());
        let plain = |side: &[F]| {
            let plain = receiving.iter().filter_map(|path| at(side, path)).filter(|file| file.document().is_none());
            plain.map(|file| Ok((file.path().to_owned(), text(file)?))).collect::<Result<Texts, F::Unread>>()
        };
        let mut texts = Sides { original: plain(sides.original)?, updated: Texts::new(), dest: plain(sides.dest)? };
        let is_compared = |own: &&F| own.document().is_some() || texts.dest.contains_key(own.path());
        for own in sides.dest.iter().filter(is_compared) {
            let [original, updated] = [sides.original, sides.updated].map(|side| at(side, own.path()));
            let Some(upstream) = original.or(updated) else { continue };
            let Some(end) = LineEnd::of_dest(&upstream.bytes()?, &own.bytes()?) else { continue };
            let ended = |file: &F| {
                let text = String::from_utf8_lossy(&end.end_all(&file.bytes()?)).into_owned();
                Ok::<_, F::Unread>((own.path().to_owned(), text))
            };
            texts.original.extend(original.map(ended).transpose()?);
            texts.updated.extend(updated.map(ended).transpose()?);
        }
        Ok(Self(texts))
    }

    /// The files of each side with these texts. `sources` are the files that new resources may come from.
    pub fn files<'s, F: SideFile>(
        &'s self,
        sides: Sides<&'s [F]>,
        sources: impl Iterator<Item = &'s F>,
    ) -> ComparedFiles<'s> {
        let of = |texts: &'s Texts, file: &'s F| text_file(file, texts.get(file.path()).map(String::as_str));
        ComparedFiles {
            sides: Sides::of(|side| sides[side].iter().map(|file| of(&self.0[side], file)).collect()),
            sources: sources.map(|file| of(&self.0.updated, file)).collect(),
        }
    }
}

/// A file as the engine sees it. `text` is its text if that is not the one of its document.
pub fn text_file<'f, F: SideFile>(file: &'f F, text: Option<&'f str>) -> TextFile<'f> {
    let document = file.document();
    let text = text.or(document.map(krm_yaml::Document::source)).unwrap_or_default();
    TextFile { path: file.path(), name: file.name(), text, document }
}

/// The files of all sides as the engine sees them.
#[derive(Debug)]
pub struct ComparedFiles<'s> {
    /// Those of each side, in the order of their paths.
    pub sides: Sides<Vec<TextFile<'s>>>,
    sources: Vec<TextFile<'s>>,
}

impl ComparedFiles<'_> {
    /// A view of them.
    pub fn view(&self) -> Files<'_> {
        Files { sides: Sides::of(|side| &self.sides[side][..]), sources: &self.sources }
    }
}
