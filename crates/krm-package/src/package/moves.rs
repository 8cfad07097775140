//! Moves resources of dest after upstream moved them to another file: to the same file, unless dest moved them, too.
//!
//! A file that upstream moved whole takes along the resources that only dest has in it, as git does. Upstream's references to the file, as
//! in a `kustomization.yaml`, name only the new file.

use krm_yaml::hashed::{Empty, HashMap};

use super::triples::{Resources, Triple};
use crate::resource::{Located, Resource};
use crate::transport::path_in_package;

/// What happens to the place of a resource of dest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Move<'a> {
    /// It stays.
    Stays,
    /// It moves to this file.
    To(&'a str),
    /// Upstream moved it from the first file to the second one, and dest moved it to a third one.
    Apart([&'a str; 2]),
    /// Upstream moved it to this file, but its host cannot move it there: the file is in another package, or something is in the way.
    Barred(&'a str),
}

/// The files that upstream moved whole, each with its new path.
pub(super) struct MovedFiles<'a>(HashMap<&'a str, &'a str>);

impl<'a> MovedFiles<'a> {
    /// Finds the files of original whose remaining resources are all in one other file of updated.
    pub(super) fn of(triples: &[Triple], sides: Resources<'_, 'a>) -> Self {
        let mut moved: HashMap<&str, Option<&str>> = HashMap::new();
        for triple in triples {
            let (Some(o), Some(u)) = (triple.original, triple.updated) else { continue };
            let (Some(from), to) = (sides.original[o].place(), sides.updated[u].place()) else { continue };
            if Some(from) != to {
                let known = moved.entry(from).or_insert(to);
                *known = known.filter(|known| Some(*known) == to);
            }
        }
        // A file that updated still has did not move.
        for left in sides.updated.iter().filter_map(Resource::place) {
            if moved.is_empty() {
                break;
            }
            moved.remove(left);
        }
        Self(moved.into_iter().filter_map(|(from, to)| Some((from, to?))).collect())
    }

    /// The move of a resource of dest, given the same resource in original and updated.
    pub(super) fn of_resource(
        &self,
        original: Option<&Resource<'a>>,
        updated: Option<&Resource<'a>>,
        dest: &Resource<'a>,
    ) -> Move<'a> {
        match self.asked(original, updated, dest) {
            Move::To(path) if dest.located == Located::ByAnnotation && path_in_package(dest, path).is_none() => {
                Move::Barred(path)
            }
            asked => asked,
        }
    }

    fn asked(&self, original: Option<&Resource<'a>>, updated: Option<&Resource<'a>>, dest: &Resource<'a>) -> Move<'a> {
        let Some(here) = dest.place() else { return Move::Stays };
        let place = |side: Option<&Resource<'a>>| side.and_then(Resource::place);
        let with_file = self.0.get(here).copied();
        match (place(original), place(updated)) {
            (_, Some(to)) if here == to => Move::Stays,
            (Some(from), Some(to)) if from != to && from == here => Move::To(to),
            (Some(from), Some(to)) if from != to => Move::Apart([from, to]),
            // Both sides added it, to different files.
            (None, Some(to)) if with_file != Some(to) => Move::Stays,
            _ => with_file.map_or(Move::Stays, Move::To),
        }
    }
}
