//! [`Groups`]: sources by what they are for.

use krm_yaml::hashed::HashMap;

use super::Sourced;
use crate::resource::{Identity, Resource};

/// The resource that a source is for.
#[derive(Clone, Copy, Debug)]
pub enum Hit<'a> {
    /// Dest's resource with this number.
    Item(usize),
    /// One that dest lacks: no resource has this identity.
    None(Identity<'a>),
}

/// The sources by the resource of dest, or by the resource that dest lacks, in their order.
#[derive(Debug, Default)]
pub struct Groups<'r, 'a> {
    /// The groups, in the order of their first sources.
    pub all: Vec<Group<'r, 'a>>,
    by_dest: HashMap<usize, usize>,
    by_identity: HashMap<Identity<'a>, usize>,
}

/// The sources for one resource.
#[derive(Debug)]
pub struct Group<'r, 'a> {
    /// The number of dest's resource; `None` if dest lacks it.
    pub dest: Option<usize>,
    /// The sources.
    pub sources: Vec<&'r Resource<'a>>,
}

impl<'r, 'a> Groups<'r, 'a> {
    /// Adds a source.
    pub fn add(&mut self, hit: Hit<'a>, source: &'r Resource<'a>) {
        let next = self.all.len();
        let (dest, at) = match hit {
            Hit::Item(i) => (Some(i), *self.by_dest.entry(i).or_insert(next)),
            Hit::None(identity) => (None, *self.by_identity.entry(identity).or_insert(next)),
        };
        if at == next {
            self.all.push(Group { dest, sources: Vec::new() });
        }
        self.all[at].sources.push(source);
    }

    /// All resources of dest that have no source.
    pub fn without_source<'s>(
        &'s self,
        dest: &'r [Resource<'a>],
    ) -> impl Iterator<Item = Sourced<'r, 'a>> + use<'s, 'r, 'a> {
        let stays = dest.iter().enumerate().filter(|(number, _)| !self.by_dest.contains_key(number));
        stays.map(|(_, item)| Sourced { dest: Some(item), sources: Vec::new() })
    }
}
