//! Merges a file without resources that both sides changed. The engine merges it by line, or as the document that it is.
//!
//! The rules decide the conflicts of a document. A file that is merged in another way has no fields, so no rule looks into it.

use krm_files::held::{Content, Held, text};
use krm_merge::list;
use krm_merge::package::Conflict;
use krm_merge::resource::{Identity, Located, Origin, Resource, is_kustomization};
use krm_merge_core::policy::{OnConflict, Policy, Treatment};
use krm_merge_core::refine::{ByConflict, RefinedText, refine_text};
use krm_merge_core::warning::Combined as How;
use krm_merge_function::decision::{ConflictView, Decision, Decisions, Take};
use krm_merge_function::name::Name;
use krm_merge_function::report::Report;
use krm_merge_function::results::Outcome;
use krm_schema::mode::Mode;
use krm_schema::schema::{Cursor, KUSTOMIZATION, Types};
use krm_tree::limit::Budget;
use krm_tree::sides::Sides;
use krm_yaml::{Document, NodeRef};

/// The user's settings for merging such files.
pub struct Combiner<'b> {
    /// Who wins a conflict that no rule decides.
    pub on_conflict: Treatment,
    /// The rules that say who wins a conflict.
    pub rules: &'b [Decision<'b>],
    /// How texts and lists merge.
    pub policy: Policy,
    /// Which lists merge.
    pub types: &'b Types<'static>,
    /// The budget for new text.
    pub budget: &'b Budget,
}

/// A merged file, and what the rules decided in it.
pub struct Combined {
    /// The text.
    pub text: RefinedText,
    /// The conflicts that a rule fits.
    pub ruled: Vec<RuledConflict>,
}

/// A conflict that a rule fits.
pub struct RuledConflict {
    /// The rule.
    pub rule: Name,
    /// The place, as a text with conflicts names it.
    pub place: String,
    /// The result.
    pub told: Outcome,
}

impl Combiner<'_> {
    /// Merges the versions of a file in original, updated and dest: as the document that its name stands for, or line by line without a
    /// name. `None` if a version is not text, or if no part of the conflict can be avoided.
    pub fn combined(&self, path: &str, name: Option<&str>, sides: [&[u8]; 3]) -> Option<Combined> {
        let [original, updated, dest] = sides.map(text);
        let cursor = self.cursor(name.unwrap_or_default());
        let mut decisions = Decisions::new(self.rules, self.on_conflict);
        let mut ruled = Vec::new();
        let mut decide = |roots: Sides<NodeRef<'_>>, by_conflict: &mut ByConflict<'_, '_>| {
            let own = roots.map(|root| nameless(root, path));
            let sides = Sides::of(|side| Some(&own[side]));
            by_conflict(&mut |conflict| {
                let ruling = decisions.of(&ConflictView::of_place(conflict, sides, &own.dest));
                let rule = ruling.rule?;
                let place = conflict.path.shown();
                let conflict = Conflict::Place { sides, dest: &own.dest, conflict };
                let report = Report::of_conflict(&conflict, String::new(), ruling);
                let told = Outcome { resource_ref: None, ..Outcome::of(&report, self.budget) };
                ruled.push(RuledConflict { rule: rule.name.clone(), place, told });
                let is_decided = ruling.treatment.policy() != OnConflict::Fail;
                is_decided.then(|| ruling.treatment.pick())
            });
        };
        let text = refine_text(name, [original?, updated?, dest?], cursor, self.policy, self.budget, &mut decide)?;
        // The merge of the lines was taken, with what it decides by itself.
        if text.how != How::Document {
            ruled.clear();
        }
        Some(Combined { text, ruled })
    }

    /// The schema of the file. kustomize recognises its own files by name, because they need not have an apiVersion and kind.
    fn cursor(&self, path: &str) -> Cursor<'_> {
        let [api_version, kind] = if is_kustomization(path) { KUSTOMIZATION } else { [""; 2] };
        self.types.root(api_version, kind, Mode::ThreeWay)
    }

    /// The rules that select a version of a file, or a resource in it.
    pub fn rules_for<'r>(&'r self, path: &str, sides: [Option<&Held>; 3]) -> Vec<&'r Decision<'r>> {
        let selects = |rule: &Decision<'_>, held: &Held| {
            let is_meant = |resource: &Resource<'_>| rule.target.as_ref().is_none_or(|target| target.selects(resource));
            match &held.content {
                Content::AsText(_, document) | Content::Resources(document) => {
                    let all = document.roots().flat_map(list::resources);
                    all.map(|listed| in_file(Resource::listed(listed, Origin::Item(0)), path)).any(|one| is_meant(&one))
                }
                Content::NoYaml(_) | Content::Other => {
                    Document::parse("{}").is_ok_and(|empty| empty.roots().any(|root| is_meant(&nameless(root, path))))
                }
            }
        };
        let is_for = |rule: &&Decision<'_>| sides.into_iter().flatten().any(|held| selects(rule, held));
        self.rules.iter().filter(is_for).collect()
    }

    /// Who wins a conflict of a file that one side broke. No rule can look into it, so a person decides if a rule for it has `take: Fail`.
    pub fn on_broken(&self, path: &str, sides: [Option<&Held>; 3]) -> Treatment {
        let fails = |rule: &&Decision<'_>| rule.take == Take::Policy(OnConflict::Fail);
        match self.on_conflict {
            Treatment::By(_) if self.rules_for(path, sides).iter().any(fails) => OnConflict::Fail.into(),
            treatment => treatment,
        }
    }
}

/// A file without a name, as the rules look at it.
fn nameless<'a>(root: NodeRef<'a>, path: &'a str) -> Resource<'a> {
    let [api_version, kind] = KUSTOMIZATION;
    let own = Resource::read(root, Origin::Item(0));
    let kustomization = Identity { api_version, kind, namespace: "", name: "" };
    let identity = own.identity.or(is_kustomization(path).then_some(kustomization));
    Resource { identity, ..in_file(own, path) }
}

fn in_file<'a>(resource: Resource<'a>, path: &'a str) -> Resource<'a> {
    Resource { path: Some(path), index: None, relative_path: Some(path), located: Located::ByFile, ..resource }
}
