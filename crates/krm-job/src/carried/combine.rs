//! Merges a file without resources that both sides changed. The engine merges it by line, or as the document that it is.
//!
//! The rules decide the conflicts of a document. A file that is merged in another way has no fields, so no rule looks into it.

use krm_merge_core::policy::{OnConflict, Policy, Treatment};
use krm_merge_core::refine::{Additions, ByConflict, DocumentNote, DocumentOwner, RefinedText, refine_text};
use krm_merge_core::warning::{Combined as How, Notice};
use krm_package::list;
use krm_package::package::Conflict;
use krm_package::resource::{Identity, Located, Origin, Resource, is_kustomization};
use krm_schema::mode::Mode;
use krm_schema::schema::{Cursor, KUSTOMIZATION, Types, files};
use krm_tree::limit::Budget;
use krm_tree::sides::{Side, Sides};
use krm_tree::tree::Pick;
use krm_yaml::{Document, NodeRef};

use super::related::text;
use super::{CarriedSide, Has};
use crate::decision::{ConflictView, Decision, Decisions, Take};
use crate::event::{About, Event};
use crate::name::Name;
use crate::role::Role;

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

/// A merged file, and what its owner hears of it, as of a resource.
pub struct Combined {
    /// The text.
    pub text: RefinedText,
    /// The conflicts of a document.
    pub conflicts: Vec<ToldConflict>,
    /// What else happened in a document.
    pub notes: Vec<Event>,
}

/// A conflict of a document.
pub struct ToldConflict {
    /// The rule that fits it.
    pub rule: Option<Name>,
    /// The place, as a text with conflicts names it.
    pub place: String,
    /// The result.
    pub told: Event,
}

impl Combiner<'_> {
    /// Merges the versions of a file in original, updated and dest: as the document that its name stands for, or line by line without a
    /// name. `None` if a version is not text, or if no part of the conflict can be avoided.
    pub fn combined(&self, path: &str, name: Option<&str>, sides: [&[u8]; 3]) -> Option<Combined> {
        let [original, updated, dest] = sides.map(text);
        let cursor = self.cursor(path);
        let decisions = Decisions::new(self.rules, self.on_conflict);
        let mut file = DocumentFile { path, combiner: self, decisions, conflicts: Vec::new(), notes: Vec::new() };
        let text = refine_text(name, [original?, updated?, dest?], cursor, self.policy, self.budget, &mut file)?;
        let DocumentFile { mut conflicts, mut notes, .. } = file;
        // The merge of the lines was taken, with what it decides by itself.
        if text.how != How::Document {
            conflicts.clear();
            notes.clear();
        }
        // Where the merge of the lines means the same, it may keep comments that the merge of the document loses.
        let result = if self.winner() == Side::Dest { &text.dest } else { &text.updated };
        let is_lost =
            |comments: &[String]| comments.is_empty() || comments.iter().any(|comment| !result.contains(comment));
        let notes = notes.into_iter().filter(|(comments, _)| is_lost(comments)).map(|(_, told)| told).collect();
        Some(Combined { text, conflicts, notes })
    }

    /// The side that wins the conflicts that no rule decides.
    fn winner(&self) -> Side {
        if self.on_conflict.pick() == Pick::Dest { Side::Dest } else { Side::Updated }
    }

    /// The schema of the file, which its name says.
    fn cursor(&self, path: &str) -> Cursor<'_> {
        let [api_version, kind] = files::of_file(path);
        self.types.root(api_version, kind, Mode::ThreeWay)
    }

    /// The rules that select a version of a file, or a resource in it.
    pub fn rules_for<'r>(&'r self, path: &str, sides: [CarriedSide<'_>; 3]) -> Vec<&'r Decision<'r>> {
        let selects = |rule: &Decision<'_>, side: &CarriedSide<'_>| {
            let is_meant = |resource: &Resource<'_>| rule.target.as_ref().is_none_or(|target| target.selects(resource));
            match side.document {
                Some(document) => {
                    let all = document.roots().flat_map(list::resources);
                    all.map(|listed| in_file(Resource::listed(listed, Origin::Item(0)), path)).any(|one| is_meant(&one))
                }
                None => {
                    Document::parse("{}").is_ok_and(|empty| empty.roots().any(|root| is_meant(&nameless(root, path))))
                }
            }
        };
        let there = sides.iter().filter(|side| side.has != Has::Nothing);
        let is_for = |rule: &&Decision<'_>| there.clone().any(|side| selects(rule, side));
        self.rules.iter().filter(is_for).collect()
    }

    /// Who wins a conflict of a file that one side broke. No rule can look into it, so a person decides if a rule for it has `take: Fail`.
    pub fn on_broken(&self, path: &str, sides: [CarriedSide<'_>; 3]) -> Treatment {
        let fails = |rule: &&Decision<'_>| rule.take == Take::Policy(OnConflict::Fail);
        match self.on_conflict {
            Treatment::By(_) if self.rules_for(path, sides).iter().any(fails) => OnConflict::Fail.into(),
            treatment => treatment,
        }
    }
}

/// A file that is merged as a document.
struct DocumentFile<'f, 'b> {
    path: &'f str,
    combiner: &'f Combiner<'b>,
    decisions: Decisions<'b>,
    conflicts: Vec<ToldConflict>,
    /// What else happened, each with the comments that the merge loses.
    notes: Vec<(Vec<String>, Event)>,
}

impl DocumentOwner for DocumentFile<'_, '_> {
    fn decide<'a>(&mut self, roots: Sides<NodeRef<'a>>, by_conflict: &mut ByConflict<'_, 'a>) {
        let own = roots.map(|root| nameless(root, self.path));
        let sides = Sides::of(|side| Some(&own[side]));
        by_conflict(&mut |conflict| {
            let ruling = self.decisions.of(&ConflictView::of_place(conflict, sides, &own.dest));
            let place = conflict.path.shown();
            let conflict = Conflict::Place { sides, dest: &own.dest, conflict };
            // The file has no name.
            let told = Event::of_conflict(&conflict, String::new(), ruling, self.combiner.budget);
            let told = Event { resource_ref: None, ..told };
            self.conflicts.push(ToldConflict { rule: ruling.rule.map(|rule| rule.name.clone()), place, told });
            // Of two comments dest's stays, and so does a null of dest, whoever wins all else.
            let is_apart =
                matches!(ruling.treatment, Treatment::By(_)) && ruling.treatment != self.combiner.on_conflict;
            let is_decided = (ruling.rule.is_some() || is_apart) && ruling.treatment.policy() != OnConflict::Fail;
            is_decided.then(|| ruling.treatment.pick())
        });
    }

    fn note<'a>(&mut self, roots: Sides<NodeRef<'a>>, notes: Vec<DocumentNote<'a>>) {
        let own = roots.map(|root| nameless(root, self.path));
        let about = About { resource: &own.dest, secret: Resource::secret(Sides::of(|side| Some(&own[side]))) };
        for DocumentNote { warning, winner } in notes {
            if winner.is_some_and(|winner| winner != self.combiner.winner()) {
                continue;
            }
            let comments = match &warning.notice {
                Notice::CommentsLost(comments) | Notice::CommentsNotTaken(comments) => comments.clone(),
                _ => Vec::new(),
            };
            let told = Event::of_warning(&warning, about, Role::Updated, self.combiner.budget);
            self.notes.push((comments, Event { resource_ref: None, ..told }));
        }
    }

    fn additions(&self) -> Additions {
        match self.combiner.on_conflict {
            Treatment::Open(_) => Additions::OfWinner,
            Treatment::By(_) | Treatment::Both => Additions::Stay,
        }
    }
}

/// A file without a name, as the rules look at it.
fn nameless<'a>(root: NodeRef<'a>, path: &'a str) -> Resource<'a> {
    let [api_version, kind] = KUSTOMIZATION;
    let own = Resource::read(root, Origin::Item(0));
    let kustomization = Identity { api_version, kind, namespace: "", name: "" };
    let identity = own.identity.or(is_kustomization(path).then_some(kustomization));
    in_file(own, path).known_in_file(identity)
}

fn in_file<'a>(resource: Resource<'a>, path: &'a str) -> Resource<'a> {
    Resource { path: Some(path), index: None, relative_path: Some(path), located: Located::ByFile, ..resource }
}
