//! What the owner of a merged resource should look at: values of another kind than before, unions with several members, new elements that
//! lack fields that their type requires, and lists that merged by a guess. One walk finds them all.
//!
//! A union is a map in which only one field may be set. A patch that sets another member changes no common field; only the API server refuses
//! the result. So a settled tree is checked, as far as a merge changed it. Source: semantics.md section 2.
//!
//! A patch that changes a container names it, and may leave out all other fields. If dest has no container of this name, the patch adds one
//! that the API server refuses. So a patch whose new element lacks a required field is mostly a patch with a wrong merge key. In a three-way
//! merge, the new elements are whole elements of upstream.

use std::cell::LazyCell;

use krm_schema::grounds::{Ground, ground, grounds};
use krm_schema::mode::Mode;
use krm_schema::schema::{Cursor, Members, list_kind};
use krm_tree::child::{By, ChildId, Value};
use krm_tree::path::{KeyStep, Step, Trail};
use krm_tree::tree::{Branch, Tree, View};
use krm_yaml::hashed::{Empty, HashMap};
use krm_yaml::{NodeRef, WrittenChild};

use crate::apart::is_set;
use crate::warning::{EditLine, Notice, Warning};

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
            self.namesakes(branch);
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

    /// Warns if a patch adds a port that has the name of another one. A list of ports merges by their numbers, and the API server takes each
    /// name once. Source: `ServicePort.name`, "All ports within a ServiceSpec must have unique names", and `ContainerPort.name`.
    fn namesakes(&mut self, branch: &Branch<'a>) {
        let By::Keys(keys) = &branch.by else { return };
        let Some(key) = keys.first().map(|key| key.name).filter(|name| ["port", "containerPort"].contains(name)) else {
            return;
        };
        if self.elements == New::Whole {
            return;
        }
        let elements = branch.numbered().filter_map(|(number, entry)| {
            let view = entry.value.as_ref()?.view()?;
            Some((entry, view, view.field("name")?.text()?, branch.id_of(number, entry)?.step(&branch.by)))
        });
        let (new, old): (Vec<_>, Vec<_>) = elements.partition(|(entry, ..)| entry.was.is_none());
        // Of several elements of one name, the first one counts.
        let old: HashMap<_, _> = old.into_iter().rev().map(|(_, _, name, step)| (name, step)).collect();
        for (_, view, name, step) in &new {
            let Some(other) = old.get(name) else { continue };
            let [path, other] = [step, other].map(|step| {
                let mut path = self.trail.path();
                path.push(step.clone(), None);
                path
            });
            let named = KeyStep { name: "name".into(), value: name.clone(), default: None };
            let mut place = self.trail.path();
            place.push(Step::Element(vec![named]), None);
            place.push(Step::Field(key.into()), None);
            let value = view.field(key).and_then(View::text).unwrap_or_default().into_owned();
            let instead = EditLine { does: "set", place: place.keyed(), value };
            let notice = Notice::Namesake { name: name.clone().into_owned(), other: other.shown(), instead };
            self.found.warnings.push(Warning { path, notice, dest: None, proposed: view.like() });
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
            // What a side wrote is not what the merge left.
            let is_written = self.elements == New::Whole && matches!(view, View::Node(_));
            self.check(view, cursor, view.like().filter(|_| is_written));
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

    /// Warns if a merge left several fields side by side of which one may be set. `dest` is dest's map, which may have had them before.
    fn check(&mut self, map: View<'_, 'a>, cursor: Cursor<'a>, dest: Option<NodeRef<'a>>) {
        let found = match cursor.members() {
            Members::NamedByType => beside_type(map),
            Members::Any | Members::OneBeside(_) => {
                // Each map that changed comes here, and hardly any is a union.
                let fields = LazyCell::new(|| map.fields());
                let mut groups = cursor.alternatives(self.trail.field().unwrap_or_default());
                groups.find_map(|group| {
                    let members = fields.iter().filter(|(name, value)| group.has(name) && sets(name, *value));
                    let members: Vec<&str> = members.map(|(name, _)| *name).collect();
                    let had = |name: &&str| dest.and_then(|dest| dest.get(name)).is_some_and(|v| is_set(View::Node(v)));
                    (members.len() > 1 && !members.iter().all(had)).then(|| listed(members, map))
                })
            }
        };
        if let Some(names) = found {
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

/// The fields of a map that are set.
fn set_in<'a>(map: View<'_, 'a>) -> Vec<&'a str> {
    map.fields().into_iter().filter(|(name, value)| sets(name, *value)).map(|(name, _)| name).collect()
}

/// Whether a field is set by its value. A directive is no field. Dest may hold some as data.
fn sets(name: &str, value: View<'_, '_>) -> bool {
    !name.starts_with('$') && is_set(value)
}

/// The `type` of a union with its other fields, if it has fields that the type does not name.
fn beside_type(map: View<'_, '_>) -> Option<String> {
    let named = map.field("type")?.text()?;
    let mut rest = named.chars();
    let field: String = rest.next().into_iter().flat_map(char::to_lowercase).chain(rest).collect();
    let others: Vec<&str> = set_in(map).into_iter().filter(|name| *name != "type" && *name != field).collect();
    (!others.is_empty()).then(|| format!("`type: {named}` and {}", listed(others, map)))
}

/// Fields of a map in words: those that it had come first.
fn listed(mut names: Vec<&str>, map: View<'_, '_>) -> String {
    if let View::Branch(branch) = map {
        let is_new =
            |name: &str| branch.entries.iter().any(|e| e.was.is_none() && e.key.is_some_and(|k| k.name() == name));
        names.sort_by_key(|name| is_new(name));
    }
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(" and ")
}
