//! Merges a file without resources that both sides changed. The engine merges it by line, or as the document that it is.

use std::collections::BTreeMap;

use krm_files::held::{is_kustomization, text};
use krm_merge_core::policy::{Policy, Treatment};
use krm_merge_core::refine::{RefinedText, refine_text};
use krm_schema::mode::Mode;
use krm_schema::schema::{Cursor, KUSTOMIZATION, Types};
use krm_tree::limit::Budget;

/// The user's settings for merging such files.
pub struct Combiner<'b> {
    /// Who wins a conflict.
    pub on_conflict: Treatment,
    /// Who wins a conflict of a file that holds resources on one side only.
    pub on_broken: Treatment,
    /// The rules that cannot decide the conflicts of a file although they select a resource in it, by the path of the file: one side broke
    /// the file, a resource in it has no name, or it is a kustomization without a name.
    pub unreached: &'b BTreeMap<String, Vec<String>>,
    /// How texts and lists merge.
    pub policy: Policy,
    /// Which lists merge.
    pub types: &'b Types<'static>,
    /// The budget for new text.
    pub budget: &'b Budget,
}

impl Combiner<'_> {
    /// Merges the versions of a file in original, updated and dest: as the document that its name stands for, or line by line without a
    /// name. `None` if a version is not text, or if no part of the conflict can be avoided.
    pub fn combined(&self, name: Option<&str>, sides: [&[u8]; 3]) -> Option<RefinedText> {
        let [original, updated, dest] = sides.map(text);
        refine_text(name, [original?, updated?, dest?], self.cursor(name.unwrap_or_default()), self.policy, self.budget)
    }

    /// The schema of the file. kustomize recognises its own files by name, because they need not have an apiVersion and kind.
    fn cursor(&self, path: &str) -> Cursor<'_> {
        let [api_version, kind] = if is_kustomization(path) { KUSTOMIZATION } else { [""; 2] };
        self.types.root(api_version, kind, Mode::ThreeWay)
    }
}
