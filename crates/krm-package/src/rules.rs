//! [`Rules`]: how the resources of a run merge, and the merge of one resource by them.
//!
//! A merge gives a tree that keeps its conflicts. The winner is decided later, once or several times.

use krm_merge_core::change::Wants;
use krm_merge_core::diff::diff;
use krm_merge_core::host::KPT_NOTE;
use krm_merge_core::merge::{Merging, Walked, merge};
use krm_merge_core::patch::{self, Edit, Lowered, PATCH, lower, lower_edit};
use krm_merge_core::policy::{Policy, Renames};
use krm_merge_core::refine::refine;
use krm_merge_core::warning::Warning;
use krm_schema::mode::Mode;
use krm_schema::schema::{Cursor, Types};
use krm_tree::child::Value as _;
use krm_tree::limit::Budget;
use krm_tree::path::FieldPath;
use krm_tree::sides::Sides;
use krm_tree::tree::{Tree, View};
use krm_yaml::{Error, NodeRef};

use crate::layout::Upstream;
use crate::resource::{IDENTITY, Resource};
use crate::transport;

/// Everything that decides how a resource merges.
#[derive(Clone, Copy, Debug)]
pub struct Rules<'a> {
    /// The known types, which say how lists merge.
    pub types: &'a Types<'a>,
    /// The mode in which they merge.
    pub mode: Mode,
    /// What the user chose.
    pub policy: Policy,
    /// The budget for new text.
    pub budget: &'a Budget,
}

/// What a user should know of a source that was merged into a resource.
#[derive(Debug, Default)]
pub struct Patched<'a> {
    /// What may be wrong.
    pub warnings: Vec<Warning<'a>>,
    /// The places that the resource lacks and that the source does not make.
    pub left: Vec<FieldPath<'a>>,
}

/// Who says which resource a source is merged into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Named {
    /// The source itself, which has the identity of the resource.
    ByIdentity,
    /// Others, so the resource keeps its identity.
    ByOthers,
}

/// A resource that cannot be merged.
#[derive(Debug)]
pub struct Unmergeable<'a> {
    /// The resource.
    pub resource: Resource<'a>,
    /// The reason, and its place in the text.
    pub error: Error,
}

impl<'a> Rules<'a> {
    /// The root of a resource's type.
    pub fn cursor(&self, resource: &Resource<'_>) -> Cursor<'a> {
        let identity = resource.named();
        self.types.root(identity.api_version, identity.kind, self.mode)
    }

    /// Merges a source into a resource, which `about` names, and returns what the user should know.
    ///
    /// # Errors
    /// The source asks for something impossible, or removes a part of the resource's identity.
    pub fn patched(
        &self,
        about: &Resource<'a>,
        resource: &mut Merging<'a>,
        source: &Resource<'a>,
        named: Named,
    ) -> Result<Patched<'a>, Box<Unmergeable<'a>>> {
        if self.mode != Mode::Strategic && is_added(source, resource.tree()) {
            return Ok(Patched::default());
        }
        let dest = resource.tree().and_then(Tree::view);
        let lowered = lower(source.node(), dest, self.cursor(about), source.missing);
        let Lowered { mut change, mut warnings, mut left } = lowered.map_err(|e| unmergeable(source, e))?;
        if named == Named::ByOthers {
            change.keep_fields(&IDENTITY);
            left.retain(|place| !IDENTITY.iter().any(|field| place.is_fields(field)));
        }
        if !matches!(change.wants, Wants::Nothing) {
            transport::leave_type(&mut change, about, source);
        }
        let applied = resource.apply(FieldPath::default(), &change, self.policy.new_elements);
        warnings.extend(applied.map_err(|e| unmergeable(about, e))?);
        Ok(Patched { warnings, left })
    }

    /// Makes an edit in a resource, which `about` names, and returns what the user should know; `None` if the resource lacks the place.
    ///
    /// # Errors
    /// The edit asks for something impossible.
    pub fn edited(
        &self,
        about: &Resource<'a>,
        resource: &mut Merging<'a>,
        source: &Resource<'a>,
        edit: &Edit<'a>,
    ) -> Result<Option<Vec<Warning<'a>>>, Box<Unmergeable<'a>>> {
        let dest = resource.tree().and_then(Tree::view);
        let type_of = about.named();
        // What a list is, its type says in every mode.
        let cursor = self.types.root(type_of.api_version, type_of.kind, Mode::ThreeWay);
        let lowered = lower_edit(edit, dest, cursor, self.budget).map_err(|e| unmergeable(source, e))?;
        let Some(Lowered { change, mut warnings, .. }) = lowered else { return Ok(None) };
        let applied = resource.apply(FieldPath::default(), &change, self.policy.new_elements);
        warnings.extend(applied.map_err(|e| unmergeable(about, e))?);
        Ok(Some(warnings))
    }

    /// Merges the change from original to updated into dest, and returns what upstream did to the text, too. Without an original, both
    /// sides added the resource.
    ///
    /// # Errors
    /// Same as [`Rules::patched`].
    pub fn upgraded(
        &self,
        original: Option<&Resource<'a>>,
        updated: &Resource<'a>,
        dest: &Resource<'a>,
    ) -> Result<(Walked<'a>, Upstream), Box<Unmergeable<'a>>> {
        let upstream = Upstream::between(original.map(Resource::node), updated.node(), self.budget);
        if upstream == Upstream::Same
            && original.is_some_and(|original| is_idle(original.node(), updated.node(), dest.node()))
        {
            return Ok((Walked { tree: Some(Tree::Node(dest.node())), warnings: Vec::new() }, upstream));
        }
        Ok((self.walked(original, [updated, dest], &[])?, upstream))
    }

    /// Merges what a list of resources says besides its items, which are resources of their own.
    ///
    /// # Errors
    /// Same as [`Rules::patched`].
    pub fn upgraded_list(&self, lists: Sides<&Resource<'a>>) -> Result<Walked<'a>, Box<Unmergeable<'a>>> {
        self.walked(Some(lists.original), [lists.updated, lists.dest], &[&["items"]])
    }

    /// Merges the change from original to updated into dest, but keeps some fields as dest has them.
    fn walked(
        &self,
        original: Option<&Resource<'a>>,
        [updated, dest]: [&Resource<'a>; 2],
        kept: &[&[&'static str]],
    ) -> Result<Walked<'a>, Box<Unmergeable<'a>>> {
        let nodes = [updated, dest].map(Resource::node);
        let found =
            diff(original.map(Resource::node), nodes[0], Some(nodes[1]), self.cursor(updated), self.policy.renames);
        let found = found.map_err(|e| unmergeable(blamed(&e, original.into_iter().chain([dest]), updated), e))?;
        let mut change = found.change.unwrap_or_else(|| transport::no_change(dest.node()));
        change.keep_fields(kept);
        let tree = Tree::Node(dest.node());
        if !matches!(change.wants, Wants::Nothing) {
            transport::leave_type(&mut change, dest, updated);
        }
        let merged = merge(Some(tree), &change, self.policy.new_elements).map_err(|e| unmergeable(dest, e))?;
        Ok(refine(merged.behind(found.warnings), self.cursor(updated), self.policy, self.budget))
    }

    /// The resource to add for a source that dest lacks, as it is written but for the annotations of the host; `None` if the source only
    /// deletes.
    ///
    /// # Errors
    /// Same as [`patch::added`].
    pub fn added(&self, source: &Resource<'a>) -> Result<Option<Tree<'a>>, Box<Unmergeable<'a>>> {
        let tree = patch::added(source.node()).map_err(|e| unmergeable(source, e))?;
        Ok(tree.map(|tree| transport::with_type(transport::without_host(tree), source)))
    }

    /// The resource to add for a new one of upstream.
    ///
    /// # Errors
    /// A map of the resource has a repeated key.
    pub fn arrived(&self, updated: &Resource<'a>) -> Result<Option<Tree<'a>>, Box<Unmergeable<'a>>> {
        let found = diff(None, updated.node(), None, self.cursor(updated), Renames::Ignore)
            .map_err(|e| unmergeable(updated, e))?;
        // The tree is of upstream's node, so that a document keeps its text.
        let own = || transport::with_type(transport::without_host(Tree::Node(updated.node())), updated);
        Ok(found.change.map(|_| own()))
    }

    /// A resource without the annotations of the host.
    ///
    /// # Errors
    /// Same as [`Rules::arrived`].
    pub fn own(&self, resource: &Resource<'a>) -> Result<Tree<'a>, Box<Unmergeable<'a>>> {
        let own = self.arrived(resource)?;
        Ok(own.unwrap_or(Tree::Node(resource.node())))
    }

    /// The paths at which two states of a resource differ in more than comments and the annotations of the host. kpt's note of where a
    /// resource comes from does not count, because `kpt pkg get` writes it into each resource.
    ///
    /// # Errors
    /// Same as [`Rules::arrived`].
    pub fn differs(&self, old: &Resource<'a>, new: &Resource<'a>) -> Result<Vec<String>, Box<Unmergeable<'a>>> {
        let found = diff(Some(old.node()), new.node(), None, self.cursor(new), Renames::Ignore)
            .map_err(|e| unmergeable(blamed(&e, [old], new), e))?;
        let Some(mut change) = found.change else { return Ok(Vec::new()) };
        change.keep_fields(&[&["metadata", "annotations", KPT_NOTE]]);
        Ok(change.places())
    }
}

/// Whether a walk would find nothing in a resource with the same text in original and updated. It could find a mistake on a side, or an anchor
/// that means something else on each side.
fn is_idle<'a>(original: NodeRef<'a>, updated: NodeRef<'a>, dest: NodeRef<'a>) -> bool {
    let may_mean_more = [original, updated, dest].iter().any(|side| side.has_props_within());
    // The host may write different annotations on each side, so a walk goes into the metadata.
    let walked = |side: NodeRef<'a>| [Some(side), side.get("metadata"), side.at(&["metadata", "annotations"])];
    let mut walked = [original, updated].into_iter().flat_map(walked).flatten().chain([dest]);
    !may_mean_more && walked.all(|map| map.is_map() && map.duplicate_key().is_none())
}

/// Whether a source with directives is there as an earlier run added it. Then these are data, which a second run keeps. Nulls alone show no
/// such thing: dest may have a null, and one of a source removes it.
fn is_added(source: &Resource<'_>, there: Option<&Tree<'_>>) -> bool {
    // Most patches say less than dest has, which shows at once. The metadata may have annotations of the host.
    let has = |(key, value): (NodeRef<'_>, NodeRef<'_>)| match key.string() {
        "metadata" | PATCH => true,
        name => there.and_then(Tree::view).and_then(|there| there.field(name)).is_some_and(|own| own.same(value)),
    };
    let meaning = |tree: Tree<'_>| transport::without_host(tree).view().map(View::meaning);
    let added = || patch::added(source.node()).ok().flatten();
    source.node().fields().all(has)
        && patch::has_directives(source.node())
        && added().is_some_and(|added| there.is_some_and(|there| meaning(added) == meaning(there.clone())))
}

/// The resource with the error: the one that has a key at the place of the error that cannot be merged, or else the `otherwise`.
pub fn blamed<'r, 'a>(
    error: &Error,
    resources: impl IntoIterator<Item = &'r Resource<'a>>,
    otherwise: &'r Resource<'a>,
) -> &'r Resource<'a> {
    let has_it = |resource: &&Resource<'_>| {
        let mut todo = vec![resource.node()];
        while let Some(node) = todo.pop() {
            if node.check_keys().is_err_and(|key| key.position == error.position) {
                return true;
            }
            todo.extend(node.elements().chain(node.entries().map(|(_, value)| value)));
        }
        false
    };
    resources.into_iter().find(has_it).unwrap_or(otherwise)
}

fn unmergeable<'a>(resource: &Resource<'a>, error: Error) -> Box<Unmergeable<'a>> {
    Box::new(Unmergeable { resource: resource.clone(), error })
}
