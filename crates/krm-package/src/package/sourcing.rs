//! [`Sourcing`]: merges sources into the resources of dest, one source after the other. Each source sees what the sources before it made.

use std::borrow::Cow;

use krm_merge_core::merge::{Merging, Walked};
use krm_merge_core::patch::{self, Edit};
use krm_schema::mode::Mode;
use krm_tree::child::Value as _;
use krm_tree::path::FieldPath;
use krm_tree::sides::Sides;
use krm_tree::tree::{Tree, View};
use krm_yaml::hashed::{Empty, HashMap};

use super::fault::Fault;
use super::merged::{Merged, MergedResource, Note};
use super::{Becomes, Member, Move};
use crate::layout::Upstream;
use crate::resource::{Identity, Resource, all_whereabouts};
use crate::rules::{Named, Patched, Rules};

/// The merge of sources, in progress.
#[derive(Debug)]
pub struct Sourcing<'r, 'a> {
    dest: &'r [Resource<'a>],
    rules: Rules<'a>,
    /// Dest's resources, by their numbers, and then those that sources added.
    slots: Vec<Slot<'r, 'a>>,
    by_identity: HashMap<Identity<'a>, Vec<usize>>,
}

/// A resource, with the sources so far.
#[derive(Debug)]
struct Slot<'r, 'a> {
    /// Dest's resource, or the source that added it.
    about: &'r Resource<'a>,
    /// Whether dest has it.
    origin: SlotOrigin,
    /// What it is by now.
    merging: Merging<'a>,
    /// The sources that were merged into it, in their order.
    sources: Vec<&'r Resource<'a>>,
    /// Its identity, if an edit changed it; what it lacks is empty.
    identity: Option<Identity<'a>>,
    notes: Vec<Note<'r, 'a>>,
}

impl<'r, 'a> Slot<'r, 'a> {
    /// The merge of the resource.
    fn merged(self) -> MergedResource<'r, 'a> {
        let Self { about, origin, merging, sources, notes, .. } = self;
        let dest = Some(about).filter(|_| origin == SlotOrigin::Dest);
        let updated = Some(about).filter(|_| origin == SlotOrigin::Source);
        let member = Member { sides: Sides { original: None, updated, dest }, moves: Move::Stays };
        let tree = merging.finish();
        let becomes = match origin {
            SlotOrigin::Dest if tree.is_none() => Becomes::Deleted(Vec::new()),
            SlotOrigin::Dest if sources.is_empty() => Becomes::Kept,
            SlotOrigin::Dest => Becomes::Merged(Walked { tree, warnings: Vec::new() }, Upstream::Unknown),
            SlotOrigin::Source => Becomes::Arrived(tree),
        };
        MergedResource::of_sources(member, becomes, sources).noting(notes)
    }
}

/// Where a resource came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SlotOrigin {
    /// Dest has it.
    Dest,
    /// A source added it.
    Source,
}

/// A resource as the sources so far left it.
#[derive(Clone, Copy, Debug)]
pub struct Present<'s, 'r, 'a> {
    /// Dest's resource, or the source that added it.
    pub resource: &'r Resource<'a>,
    /// The identity that it has by now; what it lacks is empty.
    pub identity: Identity<'a>,
    /// What it is by now.
    pub view: View<'s, 'a>,
}

/// Whether a resource has the place of an edit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// It has the place, or got it.
    Place,
    /// It has no such place.
    Nothing,
}

impl<'r, 'a> Sourcing<'r, 'a> {
    /// Before the first source.
    pub fn of(dest: &'r [Resource<'a>], rules: Rules<'a>) -> Self {
        let mut by_identity: HashMap<Identity<'a>, Vec<usize>> = HashMap::with_capacity(dest.len());
        for (number, resource) in dest.iter().enumerate() {
            if let Some(identity) = resource.identity {
                by_identity.entry(identity).or_default().push(number);
            }
        }
        let slots = dest.iter().map(|own| Slot {
            about: own,
            origin: SlotOrigin::Dest,
            merging: Merging::of(Some(Tree::Node(own.node()))),
            sources: Vec::new(),
            identity: None,
            notes: Vec::new(),
        });
        Self { dest, rules, slots: slots.collect(), by_identity }
    }

    /// The mode in which the sources are merged.
    pub fn mode(&self) -> Mode {
        self.rules.mode
    }

    /// The resources that are there by now, each with its number.
    pub fn present(&self) -> impl Iterator<Item = (usize, Present<'_, 'r, 'a>)> {
        self.slots.iter().enumerate().filter_map(|(number, slot)| {
            let view = slot.merging.tree().and_then(Tree::view)?;
            Some((
                number,
                Present { resource: slot.about, identity: slot.identity.unwrap_or_else(|| slot.about.named()), view },
            ))
        })
    }

    /// The number of the resource with the identity of a source and, if several have it, with the path of the source.
    ///
    /// # Errors
    /// Several have the identity, and not exactly one of them has the path: a message that names their files.
    pub fn partner(&self, source: &Resource<'a>) -> Result<Option<usize>, String> {
        let Some(identity) = source.identity else { return Ok(None) };
        let of_identity = self.by_identity.get(&identity).map_or(&[][..], Vec::as_slice);
        let about = |number: &usize| self.slots[*number].about;
        let is_meant = |number: &&usize| source.into.as_deref().is_none_or(|into| about(number).is_below(into));
        let found: Vec<usize> = of_identity.iter().filter(is_meant).copied().collect();
        match found[..] {
            [] => return Ok(None),
            [only] => return Ok(Some(only)),
            _ => {}
        }
        let path = source.path_in_dest();
        let mut at_path = found.iter().filter(|number| path.is_some() && about(number).path_in_dest() == path);
        if let (Some(only), None) = (at_path.next(), at_path.next()) {
            return Ok(Some(*only));
        }
        let places = all_whereabouts(found.iter().map(about));
        Err(format!(
            "`{identity}` must be one item, or the one with the path of its partner, not {}: {places}; give the source the path of the one that is meant, or `into`, the folder in which its partners are, or a `target` that selects all of them",
            found.len()
        ))
    }

    /// Merges a source into the resource with this number. Returns the places that the resource lacks and that the source does not make.
    ///
    /// # Errors
    /// The source asks for something impossible.
    pub fn merge(
        &mut self,
        number: usize,
        source: &'r Resource<'a>,
        named: Named,
    ) -> Result<Vec<FieldPath<'a>>, Box<Fault<'a>>> {
        let Some(slot) = self.slots.get_mut(number) else { return Ok(Vec::new()) };
        if slot.merging.tree().is_none() {
            match slot.origin {
                SlotOrigin::Source => slot.merging = Merging::of(self.rules.added(source)?),
                // What is gone already need not go again.
                SlotOrigin::Dest if patch::deletes(source.node()) => {}
                SlotOrigin::Dest => slot.notes.push(Note::DeletedBefore(slot.about)),
            }
            return Ok(Vec::new());
        }
        let Patched { warnings, left } = self.rules.patched(slot.about, &mut slot.merging, source, named)?;
        let (about, secret) = (slot.about, slot.about.secret.max(source.secret));
        slot.notes.extend(warnings.into_iter().map(|warning| Note::Warning { about, secret, warning }));
        slot.sources.push(source);
        if slot.merging.tree().is_none() {
            slot.notes.push(Note::Deleted { dest: slot.about, source });
        }
        Ok(left)
    }

    /// Makes an edit in the resource with this number, and says whether the resource has a place for it. `source` has the edit.
    ///
    /// # Errors
    /// The edit asks for something impossible.
    pub fn edit(&mut self, number: usize, source: &'r Resource<'a>, edit: &Edit<'a>) -> Result<Found, Box<Fault<'a>>> {
        let Some(slot) = self.slots.get_mut(number) else { return Ok(Found::Nothing) };
        let (about, secret) = (slot.about, slot.about.secret.max(source.secret));
        let edited = self.rules.edited(about, &mut slot.merging, source, edit)?;
        let Some(warnings) = edited else { return Ok(Found::Nothing) };
        slot.notes.extend(warnings.into_iter().map(|warning| Note::Warning { about, secret, warning }));
        if slot.sources.last().is_none_or(|last| !std::ptr::eq(*last, source)) {
            slot.sources.push(source);
        }
        let was = slot.identity.unwrap_or_else(|| about.named());
        let now = slot.merging.tree().and_then(Tree::view).and_then(identity_of).unwrap_or(was);
        if now != was {
            slot.identity = Some(now);
            self.by_identity.entry(was).or_default().retain(|own| *own != number);
            self.by_identity.entry(now).or_default().push(number);
        }
        Ok(Found::Place)
    }

    /// Merges a resource of dest into another one, in which it then is.
    ///
    /// # Errors
    /// The errors of [`Sourcing::merge`].
    pub fn unite(&mut self, [number, into]: [usize; 2]) -> Result<(), Box<Fault<'a>>> {
        let Some((from, to)) = self.dest.get(number).zip(self.dest.get(into)) else { return Ok(()) };
        self.merge(into, from, Named::ByIdentity)?;
        let slot = &mut self.slots[number];
        slot.merging = Merging::of(None);
        slot.notes.push(Note::United { dest: from, into: to });
        Ok(())
    }

    /// Adds a source that dest lacks.
    ///
    /// # Errors
    /// The source has a repeated key, or a `$patch` that means nothing.
    pub fn add(&mut self, source: &'r Resource<'a>) -> Result<(), Box<Fault<'a>>> {
        let merging = Merging::of(self.rules.added(source)?);
        if let Some(identity) = source.identity {
            self.by_identity.entry(identity).or_default().push(self.slots.len());
        }
        let origin = SlotOrigin::Source;
        self.slots.push(Slot {
            about: source,
            origin,
            merging,
            sources: vec![source],
            identity: None,
            notes: Vec::new(),
        });
        Ok(())
    }

    /// The merge. What has no source stays.
    pub fn finish(self) -> Merged<'r, 'a> {
        let Self { dest, rules, slots, by_identity } = self;
        // It takes as much memory as the resources.
        drop(by_identity);
        Merged::of_resources(dest, slots.into_iter().map(Slot::merged).collect(), rules)
    }
}

/// The identity that a resource has by now; `None` if a part of it is written in a way that no text holds.
fn identity_of<'a>(view: View<'_, 'a>) -> Option<Identity<'a>> {
    let text = |view: Option<View<'_, 'a>>| match view.and_then(View::text) {
        None => Some(""),
        Some(Cow::Borrowed(text)) => Some(text),
        Some(Cow::Owned(_)) => None,
    };
    let metadata = view.field("metadata");
    let of = |name: &str| text(metadata.and_then(|metadata| metadata.field(name)));
    let [api_version, kind] = [text(view.field("apiVersion"))?, text(view.field("kind"))?];
    Some(Identity { api_version, kind, namespace: of("namespace")?, name: of("name")? })
}
