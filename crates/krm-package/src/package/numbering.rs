//! The numbers (`config.kubernetes.io/index`) of resources that are put into a file. kpt accepts one item without a number in a file, and
//! refuses a second one. It also refuses two items with the same number.

use std::borrow::Cow;

use krm_yaml::hashed::{Empty, HashMap, HashSet};

use super::{FileOrder, Member, number_of};
use crate::resource::Resource;

/// The next numbers of the files that need some.
#[derive(Clone, Debug)]
pub(super) struct Numbering {
    next: HashMap<String, u64>,
    /// Files to which resources of other files move, unless all come from one file and dest has nothing in the new file.
    mixed: HashSet<String>,
}

impl Numbering {
    /// The numbering for resources that dest lacks, and for resources of dest that move to a file. In a file that gets several of them,
    /// their numbers come after dest's. Resources that move from one file to a new one keep their numbers.
    pub fn of<'m, 'a: 'm>(members: impl Iterator<Item = &'m Member<'m, 'a>> + Clone, dest: &[Resource<'_>]) -> Self {
        let moved: Vec<_> = members.clone().filter_map(|m| m.sides.dest.zip(m.moves_to())).collect();
        let new = members.filter(|m| m.is_new()).filter_map(|m| m.sides.updated);
        let mut count: HashMap<Cow<'_, str>, usize> = HashMap::new();
        for path in new.filter_map(|r| r.path_in_dest()) {
            *count.entry(path).or_default() += 1;
        }
        count.retain(|_, n| *n > 1);
        let mut sources: HashMap<&str, HashSet<Option<&str>>> = HashMap::new();
        for (item, to) in &moved {
            sources.entry(to).or_default().insert(item.path);
        }
        let several = sources.iter().filter(|(_, from)| from.len() > 1).map(|(to, _)| *to);
        let taken = dest.iter().filter_map(|item| item.path).filter(|path| sources.contains_key(path));
        let mixed: HashSet<String> = several.chain(taken).map(str::to_owned).collect();
        let numbered = count.into_keys().map(Cow::into_owned).chain(mixed.iter().cloned());
        let mut next: HashMap<String, u64> = numbered.map(|path| (path, 0)).collect();
        let dest = if next.is_empty() { &[] } else { dest };
        let there = dest.iter().filter_map(|item| Some((item.path?, item)));
        let alone = moved.iter().filter(|(_, to)| !mixed.contains(*to)).map(|(item, to)| (*to, *item));
        for (path, item) in there.chain(alone) {
            if let Some(next) = next.get_mut(path) {
                *next = (*next).max(number_of(item).saturating_add(1));
            }
        }
        Self { next, mixed }
    }

    /// The numbers of the resources of a file in this order, each with its member. A resource that can keep its number is left out.
    pub fn in_order(&self, order: &FileOrder, members: &[Member<'_, '_>]) -> Vec<(usize, u64)> {
        let comes = |member: &Member<'_, '_>| member.moves_to().is_some_and(|to| self.mixed.contains(to));
        let own = |member: &Member<'_, '_>| member.sides.dest.filter(|_| !comes(member)).map(number_of);
        let own: Vec<Option<u64>> = order.iter().map(|number| own(&members[*number])).collect();
        let mut next = 0;
        let fitting = own.iter().map(|own| {
            let number = own.unwrap_or(next);
            let is_free = number >= next;
            next = number.saturating_add(1);
            is_free.then_some(number)
        });
        let numbers = fitting.collect::<Option<Vec<u64>>>().unwrap_or_else(|| (0..).take(own.len()).collect());
        let all = order.iter().zip(own).zip(numbers);
        all.filter(|((_, own), number)| *own != Some(*number)).map(|((member, _), number)| (*member, number)).collect()
    }

    /// The number of a new resource in a file, if it needs one.
    pub fn next(&mut self, path: &str) -> Option<u64> {
        let next = self.next.get_mut(path)?;
        *next += 1;
        Some(*next - 1)
    }

    /// The number of a resource that moves to a file, if it cannot keep its own.
    pub fn of_moved(&mut self, path: &str) -> Option<u64> {
        if self.mixed.contains(path) { self.next(path) } else { None }
    }
}
