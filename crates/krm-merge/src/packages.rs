//! [`Merge`]: merges packages whose files a program holds as texts.
//!
//! It is a host of the engine like the function and the plugin: it reads files into resources, merges them, and makes texts of files.

mod error;
mod side;

use std::collections::BTreeMap;

use krm_merge_core::patch;
use krm_merge_core::policy::{ConflictLevel, NewElements, OnConflict, Policy, Renames, Treatment};
use krm_schema::mode::Mode;
use krm_schema::schema::{Inference, ListRule, Types};
use krm_tree::limit::{Asked, Budget, Limit};
use krm_tree::sides::Sides;
use krm_tree::tree::{Pick, Tree};
use krm_yaml::{Document, same};

pub use error::Error;
use krm_names::file_path;
use krm_package::documents::Item;
use krm_package::package::{
    Conflict, FileChange, FileMerge, Files, Merged, NewResource, Note, Sourcing, TextFile, Written, lost, members,
    one_by_one,
};
use krm_package::resource::{Resource, mark_as_secret};
use krm_package::rules::{Named, Rules};
pub use side::{Package, PackageSide};

/// A merge of packages, before it runs: what is merged, and how.
///
/// The CustomResourceDefinitions among the resources of all sides say how lists of their types merge.
///
/// # Examples
/// ```
/// use krm_merge::{FileChange, Merge, Package, Pick};
///
/// let map = |size: u32, color: &str| {
///     format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: a}}\ndata:\n  size: '{size}' # big\n  color: {color}\n")
/// };
/// let [original, updated, dest] = [map(1, "red"), map(2, "blue"), map(1, "green")].map(Package::of_text);
/// let (original, updated, dest) = (original?, updated?, dest?);
/// let merge = Merge::three_way(&original, &updated, &dest);
/// let merged = merge.run()?;
/// merged.conflicts(|conflict| {
///     assert_eq!(conflict.path(), "data.color");
///     assert_eq!(conflict.json().updated.as_deref(), Some("\"blue\""));
/// });
/// assert_eq!(merged.text(Pick::Updated)?, map(2, "blue"));
/// assert_eq!(merged.decide(|_| Some(Pick::Dest)).text(Pick::Updated)?, map(2, "green"));
/// # Ok::<(), krm_merge::Error>(())
/// ```
#[derive(Debug)]
pub struct Merge<'a> {
    mode: Mode,
    /// The resources of each side. In a merge of sources, updated's are the sources.
    sides: Sides<PackageSide<'a>>,
    types: Types<'a>,
    policy: Policy,
    limit: Limit,
    budget: Budget,
}

/// The merge of packages, whose conflicts are open until [`MergedPackage::decide`] decides them.
#[derive(Debug)]
pub struct MergedPackage<'m> {
    merge: &'m Merge<'m>,
    merged: Merged<'m, 'm>,
}

impl<'a> Merge<'a> {
    /// Merges the changes from original to updated into dest.
    pub fn three_way(original: &'a Package, updated: &'a Package, dest: &'a Package) -> Self {
        let mut sides = Sides {
            original: PackageSide::of("original", original),
            updated: PackageSide::of("updated", updated),
            dest: PackageSide::of("dest", dest),
        };
        mark_as_secret(sides.as_mut().map(|side| &mut side.resources[..]));
        Self::new(Mode::ThreeWay, sides)
    }

    /// Merges a source into dest: its values are set, a null removes a field, and a resource that dest lacks is added.
    ///
    /// # Examples
    /// ```
    /// use krm_merge::{Merge, Package, Pick};
    ///
    /// let map = |data: &str| format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: a}}\ndata: {{{data}}}\n");
    /// let (source, dest) = (Package::of_text(map("b: null, c: '3'"))?, Package::of_text(map("a: '1', b: '2'"))?);
    /// assert_eq!(Merge::two_way(&source, &dest).run()?.text(Pick::Updated)?, map("a: '1', c: '3'"));
    /// # Ok::<(), krm_merge::Error>(())
    /// ```
    pub fn two_way(source: &'a Package, dest: &'a Package) -> Self {
        Self::of_source(Mode::TwoWay, source, dest)
    }

    /// Applies a strategic merge patch to dest, as `kubectl patch` does. Lists of unknown types are replaced, unless
    /// [`Merge::inference`] says otherwise.
    ///
    /// # Examples
    /// ```
    /// use krm_merge::{Merge, Package, Pick};
    ///
    /// let pod = |containers: &str| format!("apiVersion: v1\nkind: Pod\nmetadata: {{name: a}}\nspec:\n  containers: [{containers}]\n");
    /// let patch = Package::of_text(pod("{name: b, $patch: delete}"))?;
    /// let dest = Package::of_text(pod("{name: a}, {name: b}"))?;
    /// assert_eq!(Merge::strategic(&patch, &dest).run()?.text(Pick::Updated)?, pod("{name: a}"));
    /// # Ok::<(), krm_merge::Error>(())
    /// ```
    pub fn strategic(patch: &'a Package, dest: &'a Package) -> Self {
        Self::of_source(Mode::Strategic, patch, dest).inference(Inference::Off)
    }

    fn of_source(mode: Mode, source: &'a Package, dest: &'a Package) -> Self {
        let (updated, dest) = (PackageSide::of("source", source), PackageSide::of("dest", dest));
        Self::new(mode, Sides { original: PackageSide::default(), updated, dest })
    }

    fn new(mode: Mode, sides: Sides<PackageSide<'a>>) -> Self {
        // The newest definition of a type counts, and that is updated's.
        let all = [&sides.dest, &sides.original, &sides.updated].into_iter().flat_map(|side| &side.resources);
        let definitions = all.filter(|resource| resource.is_definition()).map(Resource::node);
        let types = Types::new([], Inference::On).with_definitions(definitions);
        let limit = sides.iter().fold(Limit::default(), |limit, (_, side)| limit.with_input(side.size()));
        Self { mode, types, policy: Policy::default(), limit, budget: Budget::new(limit), sides }
    }

    /// Says by an OpenAPI document how lists of its types merge, as the API server gives it, in version 2 or 3.
    ///
    /// # Errors
    /// The document describes no resource.
    pub fn openapi(mut self, document: &'a Document<'a>) -> Result<Self, Error> {
        let Some(root) = document.roots().next() else {
            return Err(Error::of_openapi(document.error(0, error::NO_TYPES)));
        };
        self.types = self.types.with_openapi(root).map_err(Error::no_types)?;
        Ok(self)
    }

    /// Says how some lists merge. These rules come before all others.
    #[must_use]
    pub fn list_rules(self, rules: impl IntoIterator<Item = ListRule>) -> Self {
        Self { types: self.types.with_rules(rules), ..self }
    }

    /// Whether lists of unknown types merge by keys that their elements have.
    #[must_use]
    pub fn inference(self, inference: Inference) -> Self {
        Self { types: self.types.with_inference(inference), ..self }
    }

    /// The size of the parts that both sides may change without a conflict.
    #[must_use]
    pub fn conflict_level(mut self, conflict_level: ConflictLevel) -> Self {
        self.policy.conflict_level = conflict_level;
        self
    }

    /// Whether a resource with another name in updated or dest is found again.
    #[must_use]
    pub fn renames(mut self, renames: Renames) -> Self {
        self.policy.renames = renames;
        self
    }

    /// Where new elements of a list go.
    #[must_use]
    pub fn new_elements(mut self, new_elements: NewElements) -> Self {
        self.policy.new_elements = new_elements;
        self
    }

    /// How many bytes of new text the merge may write. Without it, this is 20 times the input.
    #[must_use]
    pub fn limit(self, bytes: u64) -> Self {
        let limit = Limit::new(0, Some(Asked::bytes(bytes)), "limit");
        Self { limit, budget: Budget::new(limit), ..self }
    }

    /// Merges, and leaves all conflicts open.
    ///
    /// # Errors
    /// A resource cannot be merged; resources cannot be told apart; or a patch is for no resource of dest.
    pub fn run(&self) -> Result<MergedPackage<'_>, Error> {
        let Self { mode, sides, types, policy, budget, .. } = self;
        let rules = Rules { types, mode: *mode, policy: *policy, budget };
        let dest = &sides.dest.resources[..];
        let merged = match mode {
            Mode::ThreeWay => {
                let members = members(Sides::of(|side| &sides[side].resources[..]), policy.renames)?;
                Merged::three_way(dest, members, rules, one_by_one)?
            }
            Mode::TwoWay | Mode::Strategic => self.of_sources(rules)?,
        };
        Ok(MergedPackage { merge: self, merged })
    }

    /// Merges the sources into dest.
    fn of_sources(&self, rules: Rules<'a>) -> Result<Merged<'_, 'a>, Error>
where {
        let mut sourcing = Sourcing::of(&self.sides.dest.resources, rules);
        for source in &self.sides.updated.resources {
            match sourcing.partner(source).map_err(Error::Partner)? {
                Some(number) => drop(sourcing.merge(number, source, Named::ByIdentity)?),
                None if self.mode != Mode::Strategic => sourcing.add(source)?,
                // What is gone already need not go again.
                None if patch::deletes(source.node()) => {}
                None => {
                    let identity = source.named();
                    let message = format!("a patch must be for a resource of dest, and none is `{identity}`");
                    return Err(Error::Partner(message));
                }
            }
        }
        Ok(sourcing.finish())
    }
}

impl<'m> MergedPackage<'m> {
    /// Visits the open conflicts, in the order of the resources.
    pub fn conflicts(&self, mut visit: impl FnMut(&Conflict<'_, 'm, 'm>)) {
        self.merged.settle(&mut |conflict| {
            visit(&conflict);
            Treatment::default()
        });
    }

    /// Decides conflicts. One for which `pick` gives no side stays open, so this may be called again. A conflict about a whole resource stays
    /// open for [`Pick::Original`], too.
    #[must_use]
    pub fn decide(self, mut pick: impl FnMut(&Conflict<'_, 'm, 'm>) -> Option<Pick>) -> Self {
        Self { merged: self.merged.decide(&mut |conflict| pick(&conflict)), ..self }
    }

    /// What the owner of dest should know apart from conflicts: what was combined, renamed or moved, and which comments go. Where a conflict
    /// is open, updated wins.
    ///
    /// # Errors
    /// The errors of [`MergedPackage::write`].
    pub fn notes(&self) -> Result<Vec<Note<'_, 'm>>, Error> {
        let budget = Budget::new(self.merge.limit);
        let written = self.written(Pick::Updated, &budget)?;
        let missed = missed(&self.merge.sides).map(Note::NoResource);
        let mut notes: Vec<Note<'_, 'm>> =
            self.merged.notes().chain(missed).chain(self.merged.notes_of(&written)).collect();
        if self.merge.mode == Mode::ThreeWay {
            for (resource, effect) in self.merged.resources.iter().zip(&written.effects) {
                let sides = resource.member.sides;
                let lost = lost(resource, &written.items, &effect.replaced, self.merged.rules);
                let secret = Resource::secret(sides);
                let note = |warning| Some(Note::Warning { about: sides.dest?, secret, warning });
                notes.extend(lost.into_iter().filter_map(note));
            }
        }
        Ok(notes)
    }

    /// The files of dest that change. `undecided` wins the conflicts that are open, but a null of dest wins over updated's value.
    ///
    /// # Errors
    /// The result cannot be written: it exceeds the limit, or JSON cannot hold it, or a file of dest that holds no resources is in the way.
    ///
    /// # Examples
    /// ```
    /// use krm_merge::{FileChange, Merge, Package, Pick};
    ///
    /// let map = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n";
    /// let file = |path: &str| Package::of_files([(path.to_owned(), map.to_owned())]);
    /// let (original, updated, dest) = (file("a.yaml")?, file("b.yaml")?, file("a.yaml")?);
    /// for change in Merge::three_way(&original, &updated, &dest).run()?.write(Pick::Updated)? {
    ///     let FileChange::Moved { from, to, text, .. } = change else { panic!("{change:?}") };
    ///     assert_eq!([&from[..], &to, &text], ["a.yaml", "b.yaml", map]);
    /// }
    /// # Ok::<(), krm_merge::Error>(())
    /// ```
    pub fn write(&self, undecided: Pick) -> Result<Vec<FileChange>, Error> {
        let budget = Budget::new(self.merge.limit);
        let written = self.written(undecided, &budget)?;
        changes(&self.merge.sides, &written, &budget)
    }

    /// The files of dest after the merge, by their paths.
    ///
    /// # Errors
    /// The errors of [`MergedPackage::write`].
    pub fn files(&self, undecided: Pick) -> Result<BTreeMap<String, String>, Error> {
        Ok(self.merge.sides.dest.with(self.write(undecided)?))
    }

    /// The text of dest after the merge, if it is one text; empty if no resource is left.
    ///
    /// # Errors
    /// The errors of [`MergedPackage::write`].
    pub fn text(&self, undecided: Pick) -> Result<String, Error> {
        Ok(self.files(undecided)?.remove("").unwrap_or_default())
    }

    fn written<'w>(&self, undecided: Pick, budget: &'w Budget) -> Result<Written<'w, 'w>, Error>
    where
        'm: 'w,
    {
        let treatment = match undecided {
            Pick::Updated | Pick::Both => OnConflict::TakeUpdated.into(),
            Pick::Dest => OnConflict::KeepDest.into(),
            Pick::Original => Treatment::Open(Pick::Original),
        };
        let merged: &Merged<'_, 'w> = &self.merged;
        let decided = merged.settle(&mut |conflict| {
            let dest = conflict.values().dest;
            treatment.over(dest.as_ref().and_then(Tree::view), conflict.taking())
        });
        let items = vec![Item::Stays; merged.dest.len()];
        Ok(merged.write(decided, items, budget)?)
    }
}

/// The documents without identity of updated, or of the source, that upstream changed and that dest does not get.
pub fn missed<'s, 'a>(sides: &'s Sides<PackageSide<'a>>) -> impl Iterator<Item = &'s Resource<'a>> {
    let Sides { original, updated, dest } = sides;
    let is_known = |side: &PackageSide<'_>, resource: &Resource<'_>| {
        side.unnamed().any(|other| same(other.node(), resource.node()))
    };
    // A file that dest left alone becomes updated's.
    let is_left_alone = |resource: &Resource<'_>| {
        let text = |side: &PackageSide<'a>| side.text_at(resource.path.unwrap_or_default());
        text(original).is_some_and(|was| text(dest) == Some(was))
    };
    updated.unnamed().filter(move |r| !is_known(original, r) && !is_known(dest, r) && !is_left_alone(r))
}

/// The files of dest that change when a merge of these sides is written. In a merge of sources, updated's are the sources.
///
/// # Errors
/// The errors of [`MergedPackage::write`].
pub fn changes(
    sides: &Sides<PackageSide<'_>>,
    written: &Written<'_, '_>,
    budget: &Budget,
) -> Result<Vec<FileChange>, Error> {
    let files = Sides::of(|side| sides[side].text_files());
    let new = placed(sides, written, &files.dest, budget)?;
    let items = sides.dest.items(written);
    let view = Files { sides: Sides::of(|side| &files[side][..]), sources: &files.updated };
    Ok(FileMerge::of(view, items, new, budget)?.changes()?)
}

/// The new resources by the files of dest that get them.
fn placed(
    sides: &Sides<PackageSide<'_>>,
    written: &Written<'_, '_>,
    dest: &[TextFile<'_>],
    budget: &Budget,
) -> Result<BTreeMap<String, Vec<NewResource>>, Error> {
    let mut placed: BTreeMap<String, Vec<NewResource>> = BTreeMap::new();
    for added in &written.added {
        let new = added.in_file(budget)?;
        let path = match dest {
            [only] if only.path.is_empty() => String::new(),
            _ => {
                let path = new.path.clone().or_else(|| new.default_path()).unwrap_or_default();
                let path = file_path::of_new_file(&path).map_err(|fault| Error::misplaced(&path, fault))?;
                path.to_owned()
            }
        };
        let is_in_the_way = |file: &&TextFile<'_>| file.path == path && file.document.is_none();
        if dest.iter().find(is_in_the_way).is_some_and(|file| !is_free(sides, file)) {
            return Err(Error::InTheWay { path });
        }
        placed.entry(path).or_default().push(new);
    }
    Ok(placed)
}

/// Whether a file without resources may get some: it is original's, or holds only comments.
fn is_free(sides: &Sides<PackageSide<'_>>, file: &TextFile<'_>) -> bool {
    sides.original.text_at(file.path) == Some(file.text)
        || Document::parse(file.text).is_ok_and(|document| document.roots().all(|root| root.is_null()))
}
