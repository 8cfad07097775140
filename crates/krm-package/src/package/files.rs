//! [`FileMerge`]: from what happens to each resource to the changes of dest's files.
//!
//! It reads and writes nothing: a host gives it the texts of the files, and gets the new ones. The changes of one file do not depend on
//! those of another, so a host may make them at the same time.

use std::collections::{BTreeMap, BTreeSet};

use krm_tree::limit::Budget;
use krm_tree::sides::Sides;
use krm_yaml::TextEdits;

use super::comment_documents::CommentDocuments;
use super::file::{EditedFile, created, edited, joined};
use super::moved::{ItemsOfFiles, Moved, left};
use super::text_file::{FileFault, FileItem, Files, NewResource, TextFile};
use crate::documents::{Item, append};

/// What a merge does to a file of dest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileChange {
    /// It has another text.
    Changed {
        /// Its path.
        path: String,
        /// Its new text.
        text: String,
        /// The edits that turn the old text into the new one, if edits in place can do it.
        edits: Option<TextEdits>,
    },
    /// It is at another path.
    Moved {
        /// The old path.
        from: String,
        /// The new path.
        to: String,
        /// Its new text.
        text: String,
        /// Edits of the old text that give it the same resources, if edits in place can do it.
        edits: Option<TextEdits>,
        /// The name of the file that it is like, dest's or updated's, for what it has beside its text.
        like: String,
    },
    /// It is new, or comes to the path of a file that moves away.
    Added {
        /// Its path.
        path: String,
        /// Its text.
        text: String,
        /// The name of the file that it comes from, if it is one.
        like: Option<String>,
    },
    /// It has no resources left.
    Removed {
        /// Its path.
        path: String,
    },
}

/// The merge of the files of a package.
#[derive(Debug)]
pub struct FileMerge<'f> {
    files: Files<'f>,
    moved: Moved<'f>,
    /// The files of dest.
    pub parts: Vec<FilePart<'f>>,
    /// The resources of each file that dest lacks, in their order.
    new: BTreeMap<String, Vec<NewResource>>,
    /// The files of dest whose resources all leave.
    left: BTreeSet<&'f str>,
    budget: &'f Budget,
}

/// What a merge does to one file of dest.
#[derive(Debug)]
pub struct FilePart<'f> {
    file: TextFile<'f>,
    /// Its resources.
    items: Vec<FileItem<'f>>,
    /// The path to which it moves as a whole.
    to: Option<&'f str>,
    /// The resources that are new in it, in their order.
    new: Vec<NewResource>,
}

impl<'f> FileMerge<'f> {
    /// Prepares the merge of files. `items` are all resources of dest, by the numbers of their files, and `new` the resources that dest
    /// gets, by the paths of their files.
    ///
    /// # Errors
    /// A text takes more than is left of the budget.
    pub fn of(
        files: Files<'f>,
        mut items: ItemsOfFiles<'f>,
        mut new: BTreeMap<String, Vec<NewResource>>,
        budget: &'f Budget,
    ) -> Result<Self, FileFault> {
        let mut moved = Moved::of(&files, &items, budget)?;
        let left = left(files.sides.dest, &items);
        for (path, pieces) in std::mem::take(&mut moved.pieces) {
            new.entry(path).or_default().extend(pieces);
        }
        new.values_mut().for_each(|new| new.sort_by_key(|new| new.spot));
        let parts = files.sides.dest.iter().enumerate().map(|(number, file)| {
            let to = moved.renamed.get(&number).copied();
            let own = Some(file.path).filter(|path| !moved.renamed.values().any(|to| to == path));
            let new = to.or(own).and_then(|path| new.remove(path)).unwrap_or_default();
            FilePart { file: *file, items: items.remove(&number).unwrap_or_default(), to, new }
        });
        let parts = parts.collect();
        Ok(Self { files, moved, parts, new, left, budget })
    }

    /// The paths of the files that get new resources, or resources of other files.
    pub fn receiving(&self) -> BTreeSet<&str> {
        let own = self.parts.iter().filter(|part| !part.new.is_empty()).map(|part| part.to.unwrap_or(part.file.path));
        self.new.keys().map(String::as_str).chain(own).chain(self.moved.sources.keys().copied()).collect()
    }

    /// The paths of the files of dest whose resources all leave: they are deleted, or go to other files.
    pub fn left(&self) -> &BTreeSet<&'f str> {
        &self.left
    }

    /// The changes of all files, one after the other.
    ///
    /// # Errors
    /// A file cannot hold the result; or a text takes more than is left of the budget.
    pub fn changes(&self) -> Result<Vec<FileChange>, FileFault> {
        self.with_added(self.parts.iter().map(|part| self.change(part)))
    }

    /// The changes of the files of dest, in any order, with those that add files.
    ///
    /// # Errors
    /// The errors of [`FileMerge::changes`].
    pub fn with_added(
        &self,
        changes: impl IntoIterator<Item = Result<Option<FileChange>, FileFault>>,
    ) -> Result<Vec<FileChange>, FileFault> {
        let changes = changes.into_iter().filter_map(Result::transpose);
        let mut changes =
            changes.chain(self.new.iter().map(|(path, new)| self.added(path, new))).collect::<Result<Vec<_>, _>>()?;
        // Another file may come to the path of a file whose resources all leave.
        let comes = changes.iter().filter_map(|change| match change {
            FileChange::Moved { to: path, .. } | FileChange::Added { path, .. } => Some(path.clone()),
            FileChange::Changed { .. } | FileChange::Removed { .. } => None,
        });
        let comes: BTreeSet<String> = comes.collect();
        changes.retain(|change| !matches!(change, FileChange::Removed { path } if comes.contains(path)));
        Ok(changes)
    }

    /// A file that dest lacks.
    fn added(&self, path: &str, new: &[NewResource]) -> Result<FileChange, FileFault> {
        let source = self.files.origin_of(new).or_else(|| self.files.updated_at(path));
        let text = created(new, source.as_ref())?;
        let (text, like) = match self.moved.upstream(&self.files, path, &text)? {
            Some(updated) => (updated.text.to_owned(), Some(updated)),
            None => (text, source),
        };
        Ok(FileChange::Added { path: path.to_owned(), text, like: like.map(|like| like.name.to_owned()) })
    }

    /// The change of a file of dest; `None` if it stays as it is.
    ///
    /// # Errors
    /// The errors of [`FileMerge::changes`].
    pub fn change(&self, part: &FilePart<'f>) -> Result<Option<FileChange>, FileFault> {
        let FilePart { file, items, to, new } = part;
        let path = file.path;
        let changed = |text: String, edits| {
            (text != file.text).then_some(FileChange::Changed { path: path.to_owned(), text, edits })
        };
        if let Some(updated) = self.left_alone(part) {
            return Ok(changed(updated.text.to_owned(), None));
        }
        let comments = self.comments(part);
        let is_same = |own: &FileItem<'_>| *own.item == Item::Stays && own.to.is_none() && own.list.is_none();
        if new.is_empty() && comments.is_empty() && items.iter().all(is_same) && items.is_sorted_by_key(|own| own.spot)
        {
            return Ok(None);
        }
        let goes = |own: &FileItem<'f>| if to.is_none() && own.to.is_some() { &Item::Goes } else { own.item };
        let items: Vec<_> = items.iter().map(|own| FileItem { item: goes(own), ..*own }).collect();
        let from_source =
            || Ok(Some(EditedFile { text: created(new, self.files.origin_of(new).as_ref())?, edits: None }));
        let edited = match file.document {
            // An empty file is like a new one.
            Some(document) if document.source().trim().is_empty() && !file.is_json() => from_source(),
            Some(_) => edited(file, &items, new, &comments, self.budget),
            None if self.files.is_original(file) => from_source(),
            None => {
                let mut text = file.text.to_owned();
                let line_break = if text.contains("\r\n") { "\r\n" } else { "\n" };
                append(&mut text, &joined(new.iter()), line_break);
                Ok(Some(EditedFile { text, edits: None }))
            }
        }?;
        let Some(EditedFile { text, edits }) = edited else {
            return Ok(Some(FileChange::Removed { path: path.to_owned() }));
        };
        let Some(to) = *to else { return Ok(changed(text, edits)) };
        let (text, like) = match self.moved.upstream(&self.files, to, &text)? {
            Some(updated) => (updated.text.to_owned(), updated.name),
            None => (text, file.name),
        };
        let (from, to, like) = (path.to_owned(), to.to_owned(), like.to_owned());
        Ok(Some(FileChange::Moved { from, to, text, edits, like }))
    }

    /// What becomes of the documents of comments in a file.
    fn comments(&self, part: &FilePart<'_>) -> CommentDocuments {
        let original = self.files.original_at(part.file.path).and_then(|file| file.document);
        let updated = self.files.updated_at(part.to.unwrap_or(part.file.path)).and_then(|file| file.document);
        match (original, updated, part.file.document) {
            (Some(original), Some(updated), Some(dest)) => {
                CommentDocuments::merged(Sides { original, updated, dest }, &part.items, &part.new)
            }
            _ => CommentDocuments::default(),
        }
    }

    /// The file of updated that replaces a file of dest as a whole. This requires that dest did not change the file, that both files have the
    /// same resources after the merge, and that no resource moves to or from another file.
    fn left_alone(&self, part: &FilePart<'f>) -> Option<TextFile<'f>> {
        let FilePart { file, items, new, .. } = part;
        let updated = self.files.updated_at(file.path)?;
        let count = crate::list::nodes(updated.document?).count();
        let is_meant = file.document.is_some() && self.files.is_original(file);
        let stays = items.iter().filter(|own| *own.item != Item::Goes).count();
        let is_whole = items.iter().all(|own| own.to.is_none())
            && new.iter().all(|new| new.comes_from(&updated))
            && stays + new.len() == count;
        Some(updated).filter(|_| is_meant && is_whole && stays + new.len() > 0)
    }
}

#[cfg(test)]
mod tests {
    use krm_yaml::Document;

    use super::super::Spot;
    use super::*;
    use crate::documents::NewDocument;
    use crate::resource::Origin;

    #[test]
    fn an_empty_json_file_gets_no_yaml() {
        let (document, budget) = (Document::parse("").expect("valid"), Budget::default());
        let dest = [TextFile { path: "x.json", name: "x.json", text: "", document: Some(&document) }];
        let body = "n: 1\n".to_owned();
        let document = NewDocument { body, ..NewDocument::default() };
        let added = NewResource { path: None, origin: Origin::Field(String::new()), document, spot: Spot::last(0) };
        let files = Files { sides: Sides { original: &[], updated: &[], dest: &dest[..] }, sources: &[] };
        let new = BTreeMap::from([("x.json".to_owned(), vec![added])]);
        let merge = FileMerge::of(files, BTreeMap::new(), new, &budget).expect("no resource moves");
        let error = merge.changes().expect_err("refused");
        assert!(matches!(error, FileFault::Json(_)), "{error}");
    }
}
