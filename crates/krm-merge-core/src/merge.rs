//! The walker: a [`Change`] applied to dest gives a [`Tree`], with conflicts as values in it.
//!
//! It knows no mode, no directive, no text and no winner, and it visits only what the change names. So each merge rule is here once, and
//! the winner of a conflict is decided later.

mod comments;
mod list;
mod merged;
mod merging;
pub mod order;

use std::cell::LazyCell;

use krm_tree::child::{By, ChildId, Keyed, MergeKey};
use krm_tree::path::{FieldPath, Trail};
use krm_tree::remarks::{Remarks, gap_of};
use krm_tree::sides::Sides;
use krm_tree::tree::{Asked, Branch, Comments, Conflict, Entry, Key, Layout, Pick, Taking, Tree, View, settle};
use krm_yaml::hashed::{Empty, HashMap};
use krm_yaml::{Error, Kind, NodeRef, Place, Style, WrittenChild, can_end_with_comments, comment_text};

use crate::apart::each_way;
use crate::change::{Change, Child, Emptied, Expects, Inside, Notes, Order, Others, Wants};
use crate::policy::NewElements;
use crate::warning::{CommentOf, Notice, Warning};
pub use comments::{changed_upstream, contested, contradiction, wanted};
use comments::{comments_of_sides, conflict_of, taken};
use list::Coming;
pub use merging::Merging;
use order::{arrange, elements_as_ordered};

/// The outcome of a walk.
#[derive(Debug)]
pub struct Walked<'a> {
    /// The new state of dest; `None` if it is removed.
    pub tree: Option<Tree<'a>>,
    /// What the user should know, apart from conflicts.
    pub warnings: Vec<Warning<'a>>,
}

impl<'a> Walked<'a> {
    /// Puts the warnings of earlier steps first.
    #[must_use]
    pub fn behind(self, mut warnings: Vec<Warning<'a>>) -> Self {
        warnings.extend(self.warnings);
        Self { warnings, ..self }
    }
}

/// Applies a change to dest: a node of a text, or the tree that another merge left.
///
/// # Errors
/// A map of dest that the change goes into repeats a key: it is ambiguous which of the two fields is meant.
pub fn merge<'a>(dest: Option<Tree<'a>>, change: &Change<'a>, new: NewElements) -> Result<Walked<'a>, Error> {
    merge_at(FieldPath::default(), dest, change, new)
}

/// Applies a change to a node of dest at a path.
///
/// # Errors
/// Same as [`merge`].
pub fn merge_at<'a>(
    path: FieldPath<'a>,
    dest: Option<Tree<'a>>,
    change: &Change<'a>,
    new: NewElements,
) -> Result<Walked<'a>, Error> {
    let mut merging = Merging::of(dest);
    let warnings = merging.apply(path, change, new)?;
    Ok(Walked { tree: merging.finish(), warnings })
}

/// Where a new field goes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum NewFields {
    /// Beside the field that is its neighbour on the other side.
    BesideSiblings,
    /// Last: the patch has several elements of one merge key, and this is not the first.
    Last,
}

struct Walk<'a> {
    new: NewElements,
    new_fields: NewFields,
    trail: Trail<'a>,
    /// For each child of the maps and lists around: whether the change names it. Those of the innermost map or list come last.
    asked: Vec<bool>,
    warnings: Vec<Warning<'a>>,
}

impl<'a> Walk<'a> {
    fn new(path: FieldPath<'a>, new: NewElements) -> Self {
        Self { new, new_fields: NewFields::BesideSiblings, trail: path.into(), asked: Vec::new(), warnings: Vec::new() }
    }

    /// Applies a change to a node. `identity` has the merge keys that identify the node as an element of its list.
    fn node(
        &mut self,
        dest: Option<Tree<'a>>,
        change: &Change<'a>,
        identity: &[MergeKey<'a>],
    ) -> Result<Option<Tree<'a>>, Error> {
        if let Some(Tree::Conflict(conflict)) = dest {
            return self.both_sides(*conflict, change, identity);
        }
        let view = dest.as_ref().and_then(Tree::view);
        let (kind, is_null) = (view.map(View::kind), view.is_some_and(View::is_null));
        let updated = match &change.wants {
            Wants::Same => return Ok(dest),
            Wants::Text(node) => return Ok(Some(Tree::Node(*node))),
            Wants::Made(made) => return Ok(Some(Tree::Made(made.clone()))),
            Wants::Nothing => None,
            Wants::Value(node) => Some(*node),
            Wants::Inside(inside) => match dest {
                None => return self.absent(inside, change, identity),
                // To a patch, a null is the same as no value.
                Some(_) if is_null && matches!(change.expects, Expects::Anything) => {
                    return self.absent(inside, change, identity);
                }
                // If only comments change, no alias is written out, and a value of another kind stays.
                Some(dest) if !change.asks_for_values() && (is_alias(&dest) || kind != Some(kind_of(inside.like))) => {
                    return Ok(Some(dest));
                }
                Some(dest) if kind == Some(kind_of(inside.like)) => {
                    return if inside.emptied == Emptied::Goes {
                        self.dropped(dest, inside, change)
                    } else {
                        self.apart(dest, inside, change)
                    };
                }
                Some(_) if inside.emptied == Emptied::Goes => None,
                Some(_) => Some(inside.like),
            },
        };
        self.replace(dest, updated, change, identity)
    }

    /// Applies a change to a value that is already in conflict: to the value of each side that may win.
    fn both_sides(
        &mut self,
        conflict: Conflict<'a>,
        change: &Change<'a>,
        identity: &[MergeKey<'a>],
    ) -> Result<Option<Tree<'a>>, Error> {
        let (dest, taken) = (conflict.dest.clone(), conflict.taken.clone());
        let (dest, taken) = (self.node(dest, change, identity)?, self.node(taken, change, identity)?);
        Ok(Some(Conflict { dest, taken, ..conflict }.into()))
    }

    /// Replaces a value by another one, or removes it.
    fn replace(
        &mut self,
        dest: Option<Tree<'a>>,
        updated: Option<NodeRef<'a>>,
        change: &Change<'a>,
        identity: &[MergeKey<'a>],
    ) -> Result<Option<Tree<'a>>, Error> {
        let view = dest.as_ref().and_then(Tree::view);
        let agrees = match (&change.wants, view, updated) {
            (_, None, None) => true,
            (Wants::Value(_), Some(d), Some(u)) => d.same(u),
            _ => false,
        };
        if agrees {
            return self.agreed(dest, updated, change.expects);
        }
        let original = change.expects.finds_another(view).then(|| change.expects.value());
        // A patch without a tag speaks of the elements alone.
        let is_for = |old: View<'_, '_>, new: NodeRef<'_>| {
            old.is_kind_of(new) || matches!(change.expects, Expects::Anything) && new.container_tag().is_none()
        };
        let lists = view.filter(|old| old.is_list()).zip(updated.filter(|new| new.is_list()));
        let is_list_for_list =
            matches!(change.wants, Wants::Value(_)) && lists.is_some_and(|(old, new)| is_for(old, new));
        let kept = if original.is_some() { dest.clone() } else { None };
        let taken = match updated {
            None => None,
            Some(updated) if is_list_for_list => {
                let coming = Coming::of(change.expects, original.is_some());
                dest.map(|dest| self.list_over_list(dest, updated, coming)).transpose()?
            }
            // A map that replaces another kind is taken whole; a patch's map is taken without its directives and nulls.
            Some(updated) => match (&change.wants, change.expects) {
                (Wants::Inside(inside), Expects::Anything) => Some(self.cut_down(inside, identity)?),
                _ => Some(Tree::Node(updated)),
            },
        };
        let Some(original) = original else { return Ok(taken) };
        let taking = if updated.is_some() { Taking::Value } else { Taking::Deletion };
        let path = self.trail.path();
        let (dest, key, comments, required) = (kept, None, None, None);
        Ok(Some(Conflict { path, original, updated, dest, taken, key, comments, taking, required }.into()))
    }

    /// Leaves a value that dest has already. A patch may have comments in its list.
    fn agreed(
        &mut self,
        dest: Option<Tree<'a>>,
        updated: Option<NodeRef<'a>>,
        expects: Expects<'a>,
    ) -> Result<Option<Tree<'a>>, Error> {
        match (dest, updated, expects) {
            (Some(dest), Some(list), Expects::Anything) if list.is_list() => {
                self.list_over_list(dest, list, Coming::OfPatch).map(Some)
            }
            (dest, ..) => Ok(dest),
        }
    }

    /// Applies changes inside of a map or list that dest lacks: it is added with the requested values. If dest deleted it and the change adds
    /// values, the whole map or list is in conflict.
    fn absent(
        &mut self,
        inside: &Inside<'a>,
        change: &Change<'a>,
        identity: &[MergeKey<'a>],
    ) -> Result<Option<Tree<'a>>, Error> {
        let was_deleted = change.expects.finds_another(None);
        if inside.emptied == Emptied::Goes || was_deleted && !change.adds_values() {
            return Ok(None);
        }
        let taken = self.cut_down(inside, identity)?;
        if !was_deleted {
            return Ok(Some(taken));
        }
        let taken = take_all(taken);
        let is_all = taken.as_ref().and_then(Tree::view).is_some_and(|taken| taken.same(inside.like));
        let conflict = Conflict {
            path: self.trail.path(),
            original: change.expects.value(),
            updated: Some(inside.like),
            dest: None,
            taken,
            key: None,
            comments: None,
            taking: if is_all { Taking::Value } else { Taking::Delta },
            required: None,
        };
        Ok(Some(conflict.into()))
    }

    /// Removes a map or list that the other side dropped whole, except for dest's own values in it. If dest added or changed values in it,
    /// the whole map or list is in conflict.
    fn dropped(&mut self, dest: Tree<'a>, inside: &Inside<'a>, change: &Change<'a>) -> Result<Option<Tree<'a>>, Error> {
        let left = self.inside(dest.clone(), inside)?.and_then(take_all);
        let is_empty = |tree: &Tree<'a>| matches!(tree, Tree::Branch(branch) if branch.children().next().is_none());
        let taken = left.filter(|tree| !is_empty(tree));
        let Expects::Exactly(original) = change.expects else { return Ok(taken) };
        let taking = if taken.is_none() { Taking::Deletion } else { Taking::CutDown };
        let conflict = Conflict {
            path: self.trail.path(),
            original,
            updated: None,
            dest: Some(dest),
            taken,
            key: None,
            comments: None,
            taking,
            required: None,
        };
        Ok(Some(conflict.into()))
    }

    /// Reduces the other side's map or list to the requested children: without the directives and nulls of a patch, or down to what changed
    /// upstream. If it is an element of a list, the merge keys in `identity` stay.
    fn cut_down(&mut self, inside: &Inside<'a>, identity: &[MergeKey<'a>]) -> Result<Tree<'a>, Error> {
        let mut branch = Branch::with(inside.like, inside.by.clone(), Vec::new());
        branch.prepare(&inside.by, inside.children.len());
        let mut children = inside.children.iter().peekable();
        for (was, key, value) in children_of(inside.like) {
            let is_identity = key.is_some_and(|k| identity.iter().any(|i| i.name == k.string()));
            let mut was_put = false;
            while let Some(child) = children.next_if(|c| c.node.is_some_and(|n| n.1.is(value))) {
                was_put |= self.put(&mut branch, child, was)?;
            }
            if !was_put && is_identity && !value.is_null() {
                branch.push(Entry { was, ..Entry::new(key.map(Key::Node), Tree::Node(value)) });
            }
        }
        for child in children {
            self.put(&mut branch, child, None)?;
        }
        if let Order::Asked(order) = &inside.order {
            let known = branch.entries.len();
            elements_as_ordered(&mut branch, known, &inside.by, order);
        }
        Ok(branch.into())
    }

    /// Adds a child to a map or list that dest lacks, and returns whether it did. A child that the other side lacks, too, is not added. An
    /// element whose key already exists is merged into the existing one.
    fn put(
        &mut self,
        branch: &mut Branch<'a>,
        child: &Child<'a>,
        was: Option<WrittenChild<'a>>,
    ) -> Result<bool, Error> {
        let found = branch.find(&child.id).next();
        if let Some(found) = found {
            self.trail.push(child.id.step(&branch.by), None);
            let like = branch.like;
            self.again(&mut branch.entries[found], Some(like), child)?;
            self.trail.pop();
            return Ok(false);
        }
        let Some(entry) = self.new_entry(child, &branch.by.clone(), was)? else { return Ok(false) };
        branch.push(entry);
        Ok(true)
    }

    /// The new entry for a child that dest lacks; its value may be a conflict.
    fn new_entry(
        &mut self,
        child: &Child<'a>,
        by: &By<'a>,
        was: Option<WrittenChild<'a>>,
    ) -> Result<Option<Entry<'a>>, Error> {
        let Some((key, node)) = child.node else { return Ok(None) };
        self.trail.push(child.id.step(by), None);
        let value = self.node(None, &child.change, by.keys())?;
        self.trail.pop();
        let own = key.map_or_else(|| Place::of_any_element(node), |k| Some(Place::of_entry(k, node)));
        let own = own.and_then(|place| comment_text(&place, node)).unwrap_or_default();
        let behind = child.change.notes.behind.map(|note| note.wants).filter(|wanted| *wanted != own);
        let above = child.change.notes.above.map(|note| note.wants);
        let asked = Comments { gap: child.change.gap_to_be(), above, behind, ..Comments::default() };
        // What has the anchor of an alias has comments of its own.
        let is_elsewhere = |like: NodeRef<'_>| node.kind() == Kind::Alias && !like.is(node);
        let comments = match value.as_ref().and_then(Tree::like).filter(|like| is_elsewhere(*like)) {
            Some(_) => Remarks::of((key, node)).along_with_value("").with(asked),
            None => asked,
        };
        Ok(value.map(|value| Entry { was, comments: comments.into(), ..Entry::new(key.map(Key::Node), value) }))
    }

    fn warn(&mut self, notice: Notice, dest: Option<NodeRef<'a>>, proposed: Option<NodeRef<'a>>) {
        self.warnings.push(Warning { path: self.trail.path(), notice, dest, proposed });
    }

    /// Applies changes inside of a map or list of which some may be one conflict.
    fn apart(&mut self, dest: Tree<'a>, inside: &Inside<'a>, change: &Change<'a>) -> Result<Option<Tree<'a>>, Error> {
        if inside.apart.is_empty() {
            return self.inside(dest, inside);
        }
        let [of_dest, taken] = each_way(inside);
        let told = self.warnings.len();
        let taken = self.inside(dest.clone(), &taken)?;
        self.warnings.truncate(told);
        let dest = self.inside(dest, &of_dest)?;
        let (path, original, updated) = (self.trail.path(), change.expects.value(), Some(inside.like));
        let (key, comments, taking, required) = (None, None, Taking::Overlap, None);
        Ok(Some(Conflict { path, original, updated, dest, taken, key, comments, taking, required }.into()))
    }

    /// Applies changes inside of a map or list that dest and the other side both have.
    fn inside(&mut self, dest: Tree<'a>, inside: &Inside<'a>) -> Result<Option<Tree<'a>>, Error> {
        if let Tree::Node(node) = &dest
            && let Some(key) = node.resolve().duplicate_key()
        {
            return Err(key.error(format!(
                "the key `{}` must be in a map only once if the map is merged: delete the other one",
                key.string()
            )));
        }
        let Some(mut branch) = dest.into_branch(&inside.by, inside.children.len()) else { return Ok(None) };
        let merges = self.merges(&mut branch, inside)?;
        let outer = self.asked.len();
        self.asked.resize(outer + branch.entries.len(), false);
        let mut new: Vec<(&ChildId<'a>, Entry<'a>)> = Vec::new();
        // The index in `new` of each child that dest lacks; `None` if there is nothing to add for it.
        let mut new_by_id: HashMap<&ChildId<'a>, Option<usize>> = HashMap::new();
        // Both sides mostly have their fields in one order, so a search begins after the last field that was found.
        let mut next = 0;
        for child in inside.children.iter().filter(|child| !merges.brings_in(&child.id)) {
            let known = new_by_id.get(&child.id).copied();
            let first = if known.is_some() { None } else { branch.find_from(next, &child.id) };
            let Some(first) = first else {
                if let Some(at) = known.flatten().filter(|at| new[*at].1.value.is_some()) {
                    self.trail.push(child.id.step(&inside.by), None);
                    self.again(&mut new[at].1, None, child)?;
                    self.trail.pop();
                } else {
                    let entry = self.new_entry(child, &inside.by, None)?;
                    new_by_id.insert(&child.id, entry.is_some().then_some(new.len()));
                    new.extend(entry.map(|entry| (&child.id, entry)));
                }
                continue;
            };
            next = first + 1;
            // No field is there twice. Elements may repeat one key on both sides. So all of them are looked at once, and then no more than
            // needed.
            let more: Vec<usize> = match inside.by {
                By::Field => Vec::new(),
                _ if !self.asked[outer + first] || child.change.removes() => branch.find(&child.id).skip(1).collect(),
                _ => branch.find(&child.id).skip(1).take(1).collect(),
            };
            let new_fields = if self.asked[outer + first] { NewFields::Last } else { self.new_fields };
            std::iter::once(&first).chain(&more).for_each(|at| self.asked[outer + at] = true);
            self.placing(new_fields, |walk| walk.found(&mut branch, inside, child, first, &more))?;
        }
        if !inside.names.is_empty() || inside.children.iter().any(|child| child.is_renamed(&inside.by)) {
            let keys = new_keys(inside);
            branch.rename(|written| keys.get(&ChildId::of_field(written)?).copied());
        }
        self.others(&mut branch, inside.others, outer);
        self.settle_merges(&mut branch, &merges, inside);
        new.retain(|(_, entry)| entry.value.is_some());
        let is_empty = || new.is_empty() && branch.entries.iter().all(|entry| entry.value.is_none());
        if inside.emptied == Emptied::Goes && is_empty() {
            return Ok(None);
        }
        let known = branch.entries.len();
        branch.entries.reserve_exact(new.len());
        new.into_iter().for_each(|(_, entry)| branch.push(entry));
        if inside.by != By::Field || self.new_fields == NewFields::BesideSiblings {
            arrange(&mut branch, known, inside, self.new, &self.trail);
        }
        Ok(Some(branch.into()))
    }

    /// Makes the change of a child in dest: in the first child with its identity, or in all of them if the change removes them. `more` are
    /// the places of the further ones.
    fn found(
        &mut self,
        branch: &mut Branch<'a>,
        inside: &Inside<'a>,
        child: &Child<'a>,
        first: usize,
        more: &[usize],
    ) -> Result<(), Error> {
        let removes = child.change.removes();
        let is_repeated =
            !more.is_empty() && child.change.asks_for_values() && !removes && inside.others != Others::Once;
        for &at in std::iter::once(&first).chain(more.iter().filter(|_| removes)) {
            let entry = &branch.entries[at];
            self.trail.push(child.id.step(&inside.by), entry.place());
            let dest = entry.value.as_ref().and_then(Tree::like);
            self.child(branch, at, child)?;
            if is_repeated {
                self.warn(Notice::Repeated, dest, None);
            }
            self.trail.pop();
        }
        Ok(())
    }

    /// Makes the change of a further element with the same merge key.
    fn again(&mut self, entry: &mut Entry<'a>, parent: Option<NodeRef<'a>>, child: &Child<'a>) -> Result<(), Error> {
        self.placing(NewFields::Last, |walk| walk.merge_into(entry, parent, child))
    }

    /// Continues the walk with another rule for the place of new fields.
    fn placing<T>(&mut self, new_fields: NewFields, walk_on: impl FnOnce(&mut Self) -> T) -> T {
        let outer = std::mem::replace(&mut self.new_fields, new_fields);
        let done = walk_on(self);
        self.new_fields = outer;
        done
    }

    fn child(&mut self, branch: &mut Branch<'a>, at: usize, child: &Child<'a>) -> Result<(), Error> {
        let like = branch.like;
        self.merge_into(&mut branch.entries[at], Some(like), child)
    }

    /// Makes a change in one child, and in its comments.
    fn merge_into(
        &mut self,
        entry: &mut Entry<'a>,
        parent: Option<NodeRef<'a>>,
        child: &Child<'a>,
    ) -> Result<(), Error> {
        let before = entry.value.as_ref().and_then(Tree::like);
        let old_key = entry.key_of_value();
        entry.value = self.node(entry.value.take(), &child.change, &[])?;
        if let (Wants::Text(_), Some((key, node))) = (&child.change.wants, child.node) {
            *entry = as_written(entry, key, node);
            entry.comments = Comments { gap: child.change.gap_to_be(), ..*entry.comments }.into();
            return Ok(());
        }
        if entry.value.is_none() && child.change.removes() {
            entry.comments = Comments { gap: child.change.gap_to_be(), ..Comments::default() }.into();
        }
        self.annotate(entry, (old_key, before), parent, child);
        Ok(())
    }

    /// Changes the comments of one child. `was` is its key and its value before the change.
    fn annotate(
        &mut self,
        entry: &mut Entry<'a>,
        was: (Option<NodeRef<'a>>, Option<NodeRef<'a>>),
        parent: Option<NodeRef<'a>>,
        child: &Child<'a>,
    ) {
        let before = was.1;
        let place = LazyCell::new(|| place_of(was, parent?));
        let written = || place.map(|(place, value)| Remarks::at(&place, value));
        let gap = || place.map_or("", |(place, value)| gap_of(&place, value.document()));
        // A `{}` or `[]` that gets children becomes a block.
        let has_room = || {
            before.is_some_and(is_empty_flow) || place.is_some_and(|(place, old)| can_end_with_comments(&place, old))
        };
        let notes = *child.change.notes;
        let mut is_replaced = false;
        let new_key = child.node.and_then(|(key, _)| key);
        let stays = match &mut entry.value {
            None => return,
            // Parts of the map are in conflict, and not what stands beside it.
            Some(Tree::Conflict(conflict)) if matches!(conflict.taking, Taking::Overlap) => CommentOf::Dest,
            Some(Tree::Conflict(conflict)) => {
                conflict.key = new_key;
                let both = written().zip(child.node);
                let of_sides = both.map(|(written, node)| comments_of_sides(written, gap(), node, notes));
                let without_below = |comments: Comments<'a>| Comments { below: None, ..comments };
                let of_sides = if has_room() { of_sides } else { of_sides.map(|all| all.map(without_below)) };
                conflict.comments = of_sides.map(|all| all.map(Into::into));
                CommentOf::Winner
            }
            Some(tree) if before.zip(tree.like()).is_some_and(|(old, new)| !old.is(new)) => {
                entry.source = new_key.or(entry.source);
                is_replaced = true;
                CommentOf::Dest
            }
            Some(_) => CommentOf::Dest,
        };
        if notes.is_empty() && !is_replaced {
            return;
        }
        let (written, asked) = (written().unwrap_or_default(), *entry.comments);
        // The comments in a block come with the block that replaces it.
        let is_inside = !is_replaced && has_room();
        let (below, opening) = (notes.below.filter(|_| is_inside), notes.opening.filter(|_| !is_replaced));
        // An empty block has no comments, but it has room for them.
        let own = Remarks { below: written.below.or(Some("")), ..written };
        let notes = Notes { below, opening: opening.filter(|_| own.opening.is_some()), ..notes };
        // What dest has there, or gets by an earlier change.
        let has = Comments { gap: notes.gap.map(|_| gap()), ..own.slots().with(asked) };
        let contested = notes.zip(has).map(|(note, has)| contested(note, has.unwrap_or_default()));
        // If the value is in conflict as a whole, its winner's comments come with it.
        if stays == CommentOf::Winner {
            for texts in contested.iter().flatten() {
                let Sides { original, updated, dest } = texts.map(str::to_owned);
                self.warn(Notice::Contradiction { original, updated, dest, stays }, None, None);
            }
        }
        let conflict = conflict_of(contested, || self.trail.path());
        // The comments on the line stay, even if the value is replaced.
        let stays = |comment| Some(comment).filter(|_| is_replaced && place.is_some());
        let is_new = entry.was.is_none();
        let taken = taken(notes, own, asked);
        let comments = Comments {
            gap: child.change.gap_to_be().filter(|_| !child.change.removes()).or(asked.gap),
            above: taken.above.or_else(|| stays(own.above).filter(|_| is_new)),
            behind: taken.behind.or_else(|| stays(own.behind)),
            below: taken.below.filter(|_| is_inside),
            opening: taken.opening.filter(|_| !is_replaced),
        };
        entry.comments = Asked::contested(comments, conflict);
    }

    /// Removes the children without a request that `others` does not let stay. Takes their marks, which begin at `outer`.
    fn others(&mut self, branch: &mut Branch<'a>, others: Others, outer: usize) {
        let asked = self.asked.drain(outer..);
        if others == Others::Stay || others == Others::Once && branch.keyed() == Keyed::Unique {
            return;
        }
        for (at, is_asked) in asked.enumerate() {
            let goes = match others {
                Others::Stay => false,
                Others::Once => {
                    branch.id(at).is_some_and(|id| branch.find(&id).next().is_some_and(|first| first != at))
                }
                Others::Go => !is_asked && !branch.entries[at].is_merge(),
            };
            if goes {
                branch.entries[at].value = None;
            }
        }
    }
}

/// Updated's keys for the fields that upstream renamed, by their names in dest.
fn new_keys<'a>(inside: &Inside<'a>) -> HashMap<ChildId<'a>, NodeRef<'a>> {
    let in_dest: HashMap<_, _> = inside.new_names().map(|names| (&names.updated, &names.dest)).collect();
    let keys = inside.like.entries().filter_map(|(key, _)| {
        let dest = in_dest.get(&ChildId::of_field(key)?)?;
        Some(((*dest).clone(), key))
    });
    keys.collect()
}

/// Replaces a child of dest by the text of the other side's child, with its comments.
fn as_written<'a>(entry: &Entry<'a>, key: Option<NodeRef<'a>>, node: NodeRef<'a>) -> Entry<'a> {
    Entry {
        was: entry.was,
        comments: Remarks::of((key, node)).along_with_value("").into(),
        layout: Layout::Own,
        source: key,
        ..Entry::new(entry.key, Tree::Node(node))
    }
}

/// The children of a node as a reader sees them: each as it is written, its key and its value. What a `<<` brings in is written elsewhere.
fn children_of<'a>(node: NodeRef<'a>) -> Vec<(Option<WrittenChild<'a>>, Option<NodeRef<'a>>, NodeRef<'a>)> {
    let child =
        |place: Option<usize>, key, value| (place.map(|place| WrittenChild::new(place, key, value)), key, value);
    if node.is_map() {
        node.spelled_out().into_iter().map(|(place, key, value)| child(place, Some(key), value)).collect()
    } else {
        node.elements().enumerate().map(|(place, element)| child(Some(place), None, element)).collect()
    }
}

fn kind_of(node: NodeRef<'_>) -> Kind {
    node.resolve().kind()
}

/// The place of a child with this key, if it has one, and this value, if both were written together in the map or list.
fn place_of<'a>(
    (key, value): (Option<NodeRef<'a>>, Option<NodeRef<'a>>),
    parent: NodeRef<'a>,
) -> Option<(Place, NodeRef<'a>)> {
    let value = value?;
    let place = key.map_or_else(|| Some(Place::of_element(parent, value)), |key| Place::of_pair(key, value));
    Some((place?, value))
}

/// Whether a node is written as `{}` or `[]`.
fn is_empty_flow(node: NodeRef<'_>) -> bool {
    matches!(node.kind(), Kind::Map | Kind::List) && node.style() == Style::Flow && node.written().next().is_none()
}

fn is_alias(tree: &Tree<'_>) -> bool {
    matches!(tree, Tree::Node(node) if node.kind() == Kind::Alias)
}

/// The result if updated wins every conflict.
fn take_all(tree: Tree<'_>) -> Option<Tree<'_>> {
    settle(tree, &mut |_| Pick::Updated)
}

#[cfg(test)]
mod tests;
