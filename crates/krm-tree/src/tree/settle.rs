//! [`settle()`]: who wins the conflicts of a tree, with all that depends on it: comments, the order of elements, and `<<` entries.

use krm_yaml::hashed::{HashMap, HashSet};

use super::{Asked, Branch, Comments, Conflict, Contested, Entry, Layout, Pick, Taking, Tree, fields_in};
use crate::child::{By, ChildId};

/// Decides the conflicts of a tree. Where updated does not win, its comments at that place are not taken. Those at the places around it are.
pub fn settle<'a>(tree: Tree<'a>, pick: &mut dyn FnMut(&Conflict<'a>) -> Pick) -> Option<Tree<'a>> {
    decide(tree, &mut |conflict| Some(pick(conflict)))
}

/// Decides some conflicts of a tree, and leaves the others in it.
pub fn decide<'a>(tree: Tree<'a>, pick: &mut dyn FnMut(&Conflict<'a>) -> Option<Pick>) -> Option<Tree<'a>> {
    match tree {
        Tree::Conflict(conflict) => match pick(&conflict) {
            Some(picked) => conflict.outcome(picked, pick),
            None => Some(Tree::Conflict(conflict)),
        },
        Tree::Branch(mut branch) => {
            for entry in &mut branch.entries {
                let Some(value) = entry.value.take() else { continue };
                entry.settle(value, pick);
            }
            branch.reorder(|mut entries| {
                entries.retain(|entry| entry.was.is_some() || entry.value.is_some());
                entries
            });
            branch.fold_merges();
            match branch.contested.take() {
                Some(contested) => branch.decided(*contested, pick),
                None => Some(branch.into_tree()),
            }
        }
        tree => Some(tree),
    }
}

impl<'a> Entry<'a> {
    /// Sets a value whose conflicts are decided, and decides the conflict about comments.
    fn settle(&mut self, value: Tree<'a>, pick: &mut dyn FnMut(&Conflict<'a>) -> Option<Pick>) {
        // The comments may come with the winner of the value.
        let is_alone = !matches!(&value, Tree::Conflict(conflict) if conflict.comments.is_some());
        let contested = self.comments.take_conflict().filter(|_| is_alone);
        self.settle_value(value, pick);
        if let Some(conflict) = contested {
            self.settle_comments(conflict, pick);
        }
    }

    fn settle_comments(&mut self, conflict: Conflict<'a>, pick: &mut dyn FnMut(&Conflict<'a>) -> Option<Pick>) {
        let own = *self.comments;
        self.comments = match (pick(&conflict), &conflict.comments) {
            (None, _) => Asked::contested(own, Some(conflict)),
            (Some(Pick::Updated | Pick::Both), Some(comments)) => own.with(*comments.updated).into(),
            (Some(Pick::Original), Some(comments)) => own.with(*comments.original).into(),
            (Some(Pick::Dest), _) | (Some(_), None) => own.into(),
        };
    }

    /// Sets a value whose conflicts are decided, with the comments of the side that wins.
    fn settle_value(&mut self, value: Tree<'a>, pick: &mut dyn FnMut(&Conflict<'a>) -> Option<Pick>) {
        let Tree::Conflict(conflict) = value else {
            self.value = decide(value, pick);
            return;
        };
        let Some(picked) = pick(&conflict) else {
            self.value = Some(Tree::Conflict(conflict));
            return;
        };
        self.is_contested = conflict.dest.is_none() || conflict.taken.is_none();
        match (picked, &conflict.comments) {
            (Pick::Updated | Pick::Both, Some(comments)) => self.set_comments(*comments.updated),
            (Pick::Updated | Pick::Both, None) => {}
            (Pick::Original, Some(comments)) => self.set_comments(*comments.original),
            (Pick::Original, None) | (Pick::Dest, _) => self.set_comments(Comments::default()),
        }
        if picked == Pick::Updated {
            self.source = conflict.key.or(self.source);
            self.layout = conflict.layout_of_taken();
        }
        self.value = conflict.outcome(picked, pick);
    }

    /// Sets the comments that belong to the child. The lines above them belong to no value, so they do not depend on who wins it.
    fn set_comments(&mut self, comments: Comments<'a>) {
        self.comments = Comments { gap: self.comments.gap, ..comments }.into();
    }
}

impl<'a> Conflict<'a> {
    /// The layout of the result if updated wins. Where updated's whole map or list takes the place of original's, its own layout comes with
    /// it: in dest's layout, a part could look as in original, and a second run would take such a part for one that dest left alone.
    fn layout_of_taken(&self) -> Layout {
        match (&self.taken, self.updated, self.original) {
            (Some(Tree::Node(taken)), Some(updated), Some(original))
                if taken.is(updated) && updated.resolve().kind() == original.resolve().kind() =>
            {
                Layout::Value
            }
            _ => Layout::Host,
        }
    }

    /// The result if this side wins.
    fn outcome(self, side: Pick, pick: &mut dyn FnMut(&Conflict<'a>) -> Option<Pick>) -> Option<Tree<'a>> {
        match (side, self.taking) {
            (Pick::Original, _) => self.original.map(Tree::Node),
            (Pick::Both, Taking::Both(both)) => decide(both, pick),
            (Pick::Dest, _) => decide(self.dest?, pick),
            (Pick::Updated | Pick::Both, _) => decide(self.taken?, pick),
        }
    }
}

impl<'a> Branch<'a> {
    /// Restores `<<` entries that were written out, if the result has all their fields as they bring them in.
    fn fold_merges(&mut self) {
        let is_gone = |entry: &Entry<'a>| entry.is_merge() && entry.value.is_none();
        if !self.like.document().has_merge_keys() || !self.entries.iter().any(is_gone) {
            return;
        }
        let whole = Branch::of(self.like, By::Field);
        let is_same = |entry: &Entry<'a>, other: &Entry<'a>| {
            let is_key = entry.key.zip(other.key).is_some_and(|(a, b)| a.name() == b.name());
            let value = other.value.as_ref().and_then(Tree::like);
            is_key
                && entry.comments.is_nothing()
                && value.is_some_and(|v| entry.value.as_ref().is_some_and(|e| e.is(v)))
        };
        let brought_in = whole.brought_in();
        // A restored entry would bring back a field that is removed from the map itself.
        let hidden: HashSet<&str> = whole.merge_entries().flat_map(fields_in).map(|(key, _)| key.string()).collect();
        let is_lost = |entry: &Entry<'a>| entry.may_go() && entry.key.is_some_and(|key| hidden.contains(key.name()));
        if self.entries.iter().any(is_lost) {
            return;
        }
        let new: Vec<&Entry<'a>> = self.entries.iter().filter(|entry| entry.was.is_none()).collect();
        if new.len() == brought_in.len() && new.iter().zip(&brought_in).all(|(a, b)| is_same(a, b)) {
            self.reorder(|mut entries| {
                entries.retain(|entry| entry.was.is_some());
                for entry in entries.iter_mut().filter(|entry| is_gone(entry)) {
                    entry.value = entry.was.map(|was| Tree::Node(was.value()));
                }
                entries
            });
        }
    }

    /// Puts the children in the order of these identities. Any other child stays after its predecessor.
    fn ordered(mut self, order: &[ChildId<'a>]) -> Self {
        let ranks: HashMap<&ChildId<'a>, usize> = order.iter().enumerate().map(|(rank, id)| (id, rank)).collect();
        let mut last = None;
        let mut ranked = Vec::with_capacity(self.entries.len());
        for id in self.ids() {
            last = id.and_then(|id| ranks.get(&id).copied()).or(last);
            ranked.push(last);
        }
        self.reorder(|entries| {
            let mut ranked: Vec<_> = ranked.into_iter().zip(entries).collect();
            ranked.sort_by_key(|(rank, _)| *rank);
            ranked.into_iter().map(|(_, entry)| entry).collect()
        });
        self
    }

    /// Decides the order of its children.
    fn decided(
        mut self,
        contested: Contested<'a>,
        pick: &mut dyn FnMut(&Conflict<'a>) -> Option<Pick>,
    ) -> Option<Tree<'a>> {
        let conflict = Conflict {
            path: contested.path.clone(),
            original: contested.original,
            updated: Some(contested.updated),
            dest: Some(self.clone().into_tree()),
            taken: Some(self.clone().ordered(&contested.taken).into_tree()),
            key: None,
            comments: None,
            taking: Taking::Order(contested.moved.clone()),
            required: None,
        };
        match pick(&conflict) {
            Some(Pick::Dest) => conflict.dest,
            Some(Pick::Updated | Pick::Both) => conflict.taken,
            Some(Pick::Original) => Some(self.ordered(&contested.was).into_tree()),
            None => {
                self.contested = Some(Box::new(contested));
                Some(self.into_tree())
            }
        }
    }
}
