//! [`Matched`]: the children of a map or list on three sides, and which of them are one.
//!
//! The comparison of original and updated reads it, and so do the halves of conflict markers. A child that a side renamed is one row, with the
//! name that dest has.

use krm_tree::child::{By, ChildId, ChildIndex};
use krm_tree::sides::{Side, Sides};
use krm_yaml::hashed::{Empty, HashMap};
use krm_yaml::{NodeRef, Place, WrittenChild};

use crate::policy::Renames;
use crate::renamed::{Renamed, renamed};

/// The children of a map or list, matched by their identities.
#[derive(Debug)]
pub struct Matched<'a> {
    /// The map or list on each side that has it.
    pub containers: Sides<Option<NodeRef<'a>>>,
    /// How children are identified.
    pub by: By<'a>,
    /// Dest's children come first, in their order, then updated's and then original's that no side before has.
    pub rows: Vec<Row<'a>>,
    /// The identities of each child that has several: one for each side.
    pub renamed: Vec<Sides<ChildId<'a>>>,
    /// The children that are in conflict because two of them have one name.
    pub(crate) of_one_name: Vec<ChildId<'a>>,
    /// The number of each in `renamed`, by its identity in dest.
    by_dest: HashMap<ChildId<'a>, usize>,
    /// Whether a side is a map with a `<<`.
    has_merges: bool,
    /// Whether a child has no row of its own, because it has no identity, or the one of a child before it.
    pub has_others: bool,
}

/// One child, as each side that has it writes it.
#[derive(Debug, Default)]
pub struct Row<'a> {
    /// Each with its place among its siblings. If a side has several children of one identity, it is the first one.
    pub on: Sides<Option<WrittenChild<'a>>>,
    /// Whether dest has further children of this identity.
    pub is_repeated: bool,
}

impl<'a> Row<'a> {
    /// The name of a field in dest, or on the side that has it.
    pub fn field(&self) -> Option<&'a str> {
        Side::DEST_FIRST.into_iter().find_map(|side| self.on[side]?.key()).map(NodeRef::string)
    }
}

impl<'a> Matched<'a> {
    /// Matches the children that `children` gives for a side.
    pub fn of<I: Iterator<Item = WrittenChild<'a>>>(
        containers: Sides<Option<NodeRef<'a>>>,
        by: By<'a>,
        renames: Renames,
        children: impl Fn(NodeRef<'a>) -> I,
    ) -> Self {
        let has_merges =
            by == By::Field && containers.iter().any(|(_, side)| side.is_some_and(NodeRef::has_merge_entry));
        let none = Self {
            containers,
            by,
            rows: Vec::new(),
            renamed: Vec::new(),
            of_one_name: Vec::new(),
            by_dest: HashMap::new(),
            has_merges,
            has_others: false,
        };
        let matched = none.with_rows(&children);
        let can_be_renamed = renames == Renames::Follow && matches!(matched.by, By::Field | By::Keys(_));
        if !can_be_renamed || !matched.has_changed_names() || matched.has_merges() {
            return matched;
        }
        let Renamed { found, of_one_name } = renamed(&Sides::of(|side| matched.named(side)));
        let matched = Self { of_one_name, ..matched };
        if found.is_empty() {
            return matched;
        }
        let by_dest = found.iter().enumerate().map(|(at, names)| (names.dest.clone(), at)).collect();
        Self { renamed: found, by_dest, ..matched }.with_rows(&children)
    }

    fn with_rows<I: Iterator<Item = WrittenChild<'a>>>(self, children: &impl Fn(NodeRef<'a>) -> I) -> Self {
        let mut rows: Vec<Row<'a>> = Vec::new();
        let mut index = ChildIndex::of(&self.by, std::iter::empty());
        let mut has_others = false;
        for side in Side::DEST_FIRST {
            let Some(container) = self.containers[side] else { continue };
            let count = container.written().size_hint().0;
            index.expect(count);
            rows.reserve(if rows.is_empty() { count } else { 0 });
            let in_dest: HashMap<&ChildId<'a>, &ChildId<'a>> =
                self.renamed.iter().map(|names| (&names[side], &names.dest)).collect();
            for child in children(container) {
                let Some(id) = id_of(&self.by, child) else {
                    has_others = true;
                    continue;
                };
                let id = in_dest.get(&id).map_or(id, |in_dest| (*in_dest).clone());
                let known = index.find(&id).next();
                let at = known.unwrap_or(rows.len());
                if known.is_none() {
                    index.push(Some(id));
                    rows.push(Row::default());
                }
                let row = &mut rows[at];
                match &mut row.on[side] {
                    Some(_) => {
                        has_others = true;
                        row.is_repeated |= side == Side::Dest;
                    }
                    first => *first = Some(child),
                }
            }
        }
        Self { rows, has_others, ..self }
    }

    /// Whether updated or dest lacks a child of original and has one that original lacks.
    pub(crate) fn has_changed_names(&self) -> bool {
        [Side::Updated, Side::Dest].into_iter().any(|side| {
            let is_gone = |row: &Row<'a>| row.on.original.is_some() && row.on[side].is_none();
            let is_new = |row: &Row<'a>| row.on.original.is_none() && row.on[side].is_some();
            self.rows.iter().any(is_gone) && self.rows.iter().any(is_new)
        })
    }

    fn named(&self, side: Side) -> Vec<(ChildId<'a>, NodeRef<'a>)> {
        let children = self.rows_of(side).filter_map(|row| row.on[side]);
        children.filter_map(|child| Some((id_of(&self.by, child)?, child.value()))).collect()
    }

    /// The children of a side, in its order.
    pub fn rows_of(&self, side: Side) -> impl DoubleEndedIterator<Item = &Row<'a>> {
        let place = |row: &&Row<'a>| row.on[side].map(WrittenChild::place);
        let mut rows: Vec<&Row<'a>> = self.rows.iter().filter(|row| row.on[side].is_some()).collect();
        rows.sort_by_key(place);
        rows.into_iter()
    }

    /// The identity of a child in dest, or on the side that has it.
    pub fn id(&self, row: &Row<'a>) -> Option<ChildId<'a>> {
        Side::DEST_FIRST.into_iter().find_map(|side| id_of(&self.by, row.on[side]?))
    }

    /// The identity of a child on each side, if it has several.
    pub fn names(&self, row: &Row<'a>) -> Option<&Sides<ChildId<'a>>> {
        // Mostly no child has several, and an identity need not be made.
        self.renamed.first()?;
        let id = self.id(row)?;
        self.by_dest.get(&id).map(|at| &self.renamed[*at])
    }

    /// Whether a side is a map with a `<<`: what that brings in has its text in another map.
    pub fn has_merges(&self) -> bool {
        self.has_merges
    }

    /// Where a child is in the text of a side that has it.
    pub fn place(&self, side: Side, child: WrittenChild<'a>) -> Option<Place> {
        Some(Place::of_child(self.containers[side]?, (child.key(), child.value())))
    }
}

fn id_of<'a>(by: &By<'a>, child: WrittenChild<'a>) -> Option<ChildId<'a>> {
    child.key().map_or_else(|| by.id_of(child.value()), |key| Some(ChildId::Field(key.string())))
}

#[cfg(test)]
mod tests {
    use krm_tree::path::FieldPath;
    use krm_yaml::Document;

    use super::*;

    /// Each row as its name and its values in original, updated and dest.
    fn rows(sides: [&str; 3], by: &By<'static>) -> Vec<String> {
        let documents = sides.map(|text| Document::parse(text).expect("valid"));
        let [original, updated, dest] = documents.each_ref().map(|document| document.roots().next());
        let matched = Matched::of(Sides { original, updated, dest }, by.clone(), Renames::Follow, |container| {
            container.written().enumerate().map(|(place, (key, value))| WrittenChild::new(place, key, value))
        });
        let text = |row: &Row<'_>| {
            let values = row.on.map(|child| child.map_or("-", |child| child.value().text()));
            let repeated = if row.is_repeated { " again" } else { "" };
            let id = matched.id(row).map(|id| FieldPath::from(id.step(&matched.by)).shown()).unwrap_or_default();
            format!("{id} {} {} {}{repeated}", values.original, values.updated, values.dest)
        };
        let rows = matched.rows.iter().map(text);
        rows.chain(matched.has_others.then(|| "others".to_owned())).collect()
    }

    #[test]
    fn children_of_three_sides_are_one_by_their_identity() {
        let names = By::Keys(vec!["n".into()]);
        for (sides, by, want) in [
            // Dest's come first, then those that only updated has, then original's.
            (["{a: 1, b: 2}", "{c: 3, a: 4}", "{b: 5, a: 6}"], &By::Field, vec!["b 2 - 5", "a 1 4 6", "c - 3 -"]),
            (["{a: 1}", "{}", "{}"], &By::Field, vec!["a 1 - -"]),
            (["[x, y]", "[y]", "[y, z]"], &By::Value, vec!["[=y] y y y", "[=z] - - z", "[=x] x - -"]),
            // The first one of an identity counts.
            (["[x]", "[x]", "[x, x]"], &By::Value, vec!["[=x] x x x again", "others"]),
            (["[x, x]", "[x]", "[x]"], &By::Value, vec!["[=x] x x x", "others"]),
            // What has no identity has no row.
            (["[{n: a}]", "[{m: a}]", "[{n: a}]"], &names, vec!["[n=a] {n: a} - {n: a}", "others"]),
            // A child that a side renamed is one row, with dest's name.
            (
                ["{a: {p: 1, q: 2, r: 3}}", "{b: {p: 1, q: 2, r: 4}}", "{a: {p: 1, q: 2, r: 3}}"],
                &By::Field,
                vec!["a {p: 1, q: 2, r: 3} {p: 1, q: 2, r: 4} {p: 1, q: 2, r: 3}"],
            ),
        ] {
            assert_eq!(rows(sides, by), want, "{sides:?}");
        }
    }
}
