//! What the owner of a merged resource should look at: values of another kind than before, unions with several members, new elements that
//! lack fields that their type requires, and lists that merged by a guess. One walk finds them all.
//!
//! A union is a map in which only one field may be set. If each side sets a different member, there is no conflict, because they
//! change no common field; only the API server refuses the result. So a settled tree is checked, as far as a merge changed it. Source: the
//! patch strategy `retainKeys`, semantics.md section 2.
//!
//! A patch that changes a container names it, and may leave out all other fields. If dest has no container of this name, the patch adds one
//! that the API server refuses. So a patch whose new element lacks a required field is mostly a patch with a wrong merge key. In a three-way
//! merge, the new elements are whole elements of upstream.

use std::cell::LazyCell;

use krm_schema::grounds::{Ground, ground, grounds};
use krm_schema::mode::Mode;
use krm_schema::schema::{Cursor, Members, list_kind};
use krm_tree::child::{By, ChildId, Value};
use krm_tree::path::Trail;
use krm_tree::tree::{Branch, Tree, View};
use krm_yaml::hashed::{Empty, HashMap};
use krm_yaml::{NodeRef, WrittenChild};

use crate::warning::{Notice, Warning};

/// What was found in the merge result for a resource.
#[derive(Debug, Default)]
pub struct Reviewed<'a> {
    /// What may be wrong.
    pub warnings: Vec<Warning<'a>>,
    /// The lists that merged by a guess, and in which the merge changed something.
    pub grounds: Vec<Ground>,
}

/// Checks the merge result for a resource of dest.
pub fn review<'a>(tree: &Tree<'a>, cursor: Cursor<'a>, dest: NodeRef<'a>) -> Reviewed<'a> {
    let elements = if cursor.mode() == Mode::ThreeWay { New::Whole } else { New::OfPatch };
    let mut look = Review { dest, trail: Trail::default(), elements, found: Reviewed::default() };
    match tree {
        Tree::Node(node) if dest.is(*node) => {}
        Tree::Branch(branch) => look.touched(branch, cursor),
        tree => look.arrived(tree.view(), cursor),
    }
    look.found
}

/// Where new elements of lists come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum New {
    /// From a patch, which may mean elements that dest has.
    OfPatch,
    /// From a whole resource.
    Whole,
}

struct Review<'a> {
    dest: NodeRef<'a>,
    trail: Trail<'a>,
    elements: New,
    found: Reviewed<'a>,
}

impl<'a> Review<'a> {
    /// Checks a map or list of dest in which something changed.
    fn touched(&mut self, branch: &Branch<'a>, cursor: Cursor<'a>) {
        let view = View::Branch(branch);
        if view.is_list() {
            self.found.grounds.extend(ground(branch, cursor, &self.trail));
        } else {
            self.check(view, cursor, Some(branch.like));
        }
        let merged =
            LazyCell::new(|| if branch.like.has_merge_entry() { fields_of(branch.like) } else { HashMap::new() });
        for (number, entry) in branch.numbered() {
            let Some(value) = &entry.value else { continue };
            if entry.was.is_some_and(|was| value.is(was.value())) {
                continue;
            }
            let Some(id) = branch.id_of(number, entry) else { continue };
            self.trail.push(id.step(&branch.by), entry.place());
            if branch.by != By::Index {
                // The fields of a `<<` entry have no place of their own.
                let brought_in = || merged.get(entry.key?.name()).copied();
                self.clash(entry.was.map(WrittenChild::value).or_else(brought_in), value);
            }
            match value {
                Tree::Branch(inner) if self.is_of_dest(inner.like) => self.touched(inner, cursor.below(entry)),
                Tree::Node(node) if self.is_of_dest(*node) => {}
                value if !value.view().is_some_and(View::is_container) => {}
                value => {
                    let cursor = cursor.below(entry);
                    if let Tree::Branch(inner) = value {
                        self.found.grounds.extend(grounds(inner, cursor, &mut self.trail));
                    }
                    if let (By::Keys(_), None, Some(element)) = (&branch.by, entry.was, value.view()) {
                        self.check_element(element, cursor);
                    }
                    self.arrived(value.view(), cursor);
                }
            }
            self.trail.pop();
        }
    }

    /// Whether a node is a part of dest's resource. Other resources may be in the same document.
    fn is_of_dest(&self, node: NodeRef<'_>) -> bool {
        self.dest.holds(node)
    }

    /// Warns if a value replaced one of another kind. A null is of no kind.
    fn clash(&mut self, was: Option<NodeRef<'a>>, value: &Tree<'a>) {
        let Some(was) = was.filter(|was| !was.is_null()) else { return };
        if value.view().is_some_and(|value| !value.is_null() && value.kind() != was.resolve().kind()) {
            let (path, notice) = (self.trail.path(), Notice::Clash);
            self.found.warnings.push(Warning { path, notice, dest: Some(was), proposed: value.like() });
        }
    }

    /// Checks a value that dest lacked.
    fn arrived(&mut self, view: Option<View<'_, 'a>>, cursor: Cursor<'a>) {
        let Some(view) = view.filter(|view| view.is_container()) else { return };
        if !view.is_list() {
            self.check(view, cursor, None);
            for (name, value) in view.fields().into_iter().filter(|(_, value)| value.is_container()) {
                self.trail.push(ChildId::Field(name).step(&By::Field), None);
                self.arrived(Some(value), cursor.child(name, [value]));
                self.trail.pop();
            }
            return;
        }
        let elements = view.elements();
        let by = list_kind(cursor, std::slice::from_ref(&elements)).map_or(By::Index, By::from);
        for element in elements.into_iter().filter(|element| element.is_container()) {
            let Some(id) = by.id_of(element) else { continue };
            self.trail.push(id.step(&by), None);
            self.check_element(element, cursor);
            self.arrived(Some(element), cursor);
            self.trail.pop();
        }
    }

    /// Warns if a new element of a patch lacks fields that its type requires. `cursor` is at its list.
    fn check_element(&mut self, element: View<'_, 'a>, cursor: Cursor<'a>) {
        if self.elements == New::Whole || element.is_list() {
            return;
        }
        let is_missing = |name: &&str| element.field(name).is_none_or(View::is_null);
        let lacks: Vec<String> = cursor.required_of_user().filter(is_missing).map(|name| format!("`{name}`")).collect();
        if !lacks.is_empty() {
            let notice = Notice::Incomplete(lacks.join(" and "));
            self.found.warnings.push(Warning { path: self.trail.path(), notice, dest: None, proposed: None });
        }
    }

    fn check(&mut self, map: View<'_, 'a>, cursor: Cursor<'a>, dest: Option<NodeRef<'a>>) {
        let members = cursor.members();
        if members == Members::Any {
            return;
        }
        if let Some(names) = members_of(members, map) {
            let (path, notice) = (self.trail.path(), Notice::Union(names));
            self.found.warnings.push(Warning { path, notice, dest, proposed: None });
        }
    }
}

/// The fields of a map by their names.
fn fields_of<'a>(map: NodeRef<'a>) -> HashMap<&'a str, NodeRef<'a>> {
    let mut fields = HashMap::new();
    for (key, value) in map.fields().filter(|(key, _)| !key.is_container()) {
        fields.entry(key.string()).or_insert(value);
    }
    fields
}

/// The members of a union that are set together, if there are several.
fn members_of(members: Members<'_>, map: View<'_, '_>) -> Option<String> {
    let beside = match members {
        Members::Any => return None,
        Members::OneBeside(key) => key,
        Members::NamedByType => "type",
    };
    let mut fields = map.fields();
    if let View::Branch(branch) = map {
        let is_new =
            |name: &str| branch.entries.iter().any(|e| e.was.is_none() && e.key.is_some_and(|k| k.name() == name));
        fields.sort_by_key(|(name, _)| is_new(name));
    }
    // A directive is no member. Dest may hold some as data.
    let fields = fields.into_iter().filter(|(name, value)| !value.is_null() && !name.starts_with('$'));
    let (key, mut set): (Vec<_>, Vec<_>) = fields.partition(|(name, _)| *name == beside);
    let mut names: Vec<String> = Vec::new();
    if members == Members::NamedByType {
        let named = key.first()?.1.text()?;
        let mut rest = named.chars();
        let field: String = rest.next().into_iter().flat_map(char::to_lowercase).chain(rest).collect();
        set.retain(|(name, _)| *name != field);
        names.push(format!("`type: {named}`"));
    }
    names.extend(set.iter().map(|(name, _)| format!("`{name}`")));
    (names.len() > 1).then(|| names.join(" and "))
}
