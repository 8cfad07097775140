//! Edits by path: a value is set, appended or deleted at each place that a pattern names. An edit is one more way to make a [`Change`].
//!
//! What is missing on the way is made as the pattern says: maps, and elements with their keys. A pattern that stands for all fields or
//! elements, or for a place in a list, makes nothing. A path may lead on into the text of a field, which is read as the document that it is.

use krm_schema::schema::{Cursor, Inference, ListKind, Named, Names, list_kind};
use krm_tree::child::{By, ChildId, Value as _, element_key, key_text};
use krm_tree::limit::Budget;
use krm_tree::path::PatternStep;
use krm_tree::splice::edits;
use krm_tree::tree::{List, Made, Quotes, Tree, View};
use krm_yaml::{Document, Error, NodeRef, Place, comment_text};

use super::directive::OnList;
use super::edit::{Does, Edit, Missing};
use super::embedded;
use super::{Lowered, Lowering};
use crate::change::{Change, Child, Expects, Inside, Notes, Order, Others, Wants, notes_of_line};
use crate::host::{is_protected, must_stay};
use crate::merge::merge;
use crate::policy::NewElements;

/// The change that an edit asks for; `None` if it finds no place.
///
/// # Errors
/// A place is of another kind than the path needs; it is missing and must be there; a test fails; or a text on the way is no document.
pub fn lower_edit<'a>(
    edit: &Edit<'a>,
    dest: Option<View<'_, 'a>>,
    cursor: Cursor<'a>,
    budget: &Budget,
) -> Result<Option<Lowered<'a>>, Error> {
    let mut editing = Editing { edit, budget, lowering: Lowering::of_data() };
    let change = editing.step(0, dest, edit.skeleton, cursor)?;
    if change.is_none() && edit.missing == Missing::Refused {
        return Err(edit.at.error(format!("`{}` must be there, and it is not", edit.path)));
    }
    let Lowering { warnings, left, .. } = editing.lowering;
    Ok(change.map(|change| Lowered { change, warnings, left }))
}

struct Editing<'e, 'a> {
    edit: &'e Edit<'a>,
    budget: &'e Budget,
    lowering: Lowering<'a>,
}

/// A child of dest that a step leads to.
struct Target<'t, 'a> {
    id: ChildId<'a>,
    /// Its value; `None` if dest lacks it.
    there: Option<View<'t, 'a>>,
    /// Its key and value in the skeleton, if it is made.
    made: Option<(Option<NodeRef<'a>>, NodeRef<'a>)>,
    cursor: Cursor<'a>,
}

impl<'a> Editing<'_, 'a> {
    /// The change of the value to which the steps before this one lead. `skeleton` is the same place in the skeleton.
    fn step(
        &mut self,
        at: usize,
        there: Option<View<'_, 'a>>,
        skeleton: NodeRef<'a>,
        cursor: Cursor<'a>,
    ) -> Result<Option<Change<'a>>, Error> {
        let there = there.filter(|there| at < self.edit.path.steps().len() || !there.is_null() || self.is_over());
        let steps = self.edit.path.steps();
        let Some(step) = steps.get(at) else { return self.end(there, skeleton, cursor) };
        let present = there.filter(|there| !there.is_null());
        if let Some(text) = present.filter(|there| !there.is_container()) {
            return self.within(at, text, skeleton);
        }
        if present.is_none() && !self.makes() {
            return Ok(None);
        }
        if let (Does::Insert(value), None, Some(list)) =
            (self.edit.does, steps.get(at + 1), present.filter(|p| p.is_list()))
        {
            return self.inserted(step, value, list, cursor);
        }
        if let PatternStep::Flag(name) = step {
            return self.flag(name, present, skeleton);
        }
        let by = match present.map_or(is_list_step(step), View::is_list) {
            true => By::Index,
            false => By::Field,
        };
        let targets = self.targets(step, present, skeleton, cursor)?;
        let mut children = Vec::with_capacity(targets.len());
        for Target { id, there, made, cursor } in targets {
            if let ChildId::Field(name) = &id
                && is_protected(&self.lowering.trail, name)
            {
                continue;
            }
            let below = made.map_or_else(|| first_of(skeleton), |(_, value)| value);
            self.lowering.trail.push(id.step(&by), None);
            let change = self.step(at + 1, there, below, cursor)?;
            self.lowering.trail.pop();
            let Some(mut change) = change else { continue };
            if let (PatternStep::Element(keys), None, Wants::Inside(inside)) = (step, there, &mut change.wants) {
                add_keys(inside, below, keys);
            }
            children.push(Child { id, node: made.filter(|_| there.is_none()), change });
        }
        if children.is_empty() {
            return Ok(None);
        }
        let like = present.and_then(View::like).map_or(skeleton, NodeRef::resolve);
        Ok(Some(Change::patch(Inside::of(like, by, children).into(), None)))
    }

    /// Whether a null at the end of the path counts as a value: what is deleted or tested there.
    fn is_over(&self) -> bool {
        matches!(self.edit.does, Does::Delete | Does::Test(_))
    }

    /// Whether it makes what is missing.
    fn makes(&self) -> bool {
        self.edit.missing == Missing::Made && !matches!(self.edit.does, Does::Delete | Does::Test(_))
    }

    /// The children that a step leads to: those of dest, or one that is made.
    fn targets<'t>(
        &mut self,
        step: &PatternStep,
        present: Option<View<'t, 'a>>,
        skeleton: NodeRef<'a>,
        cursor: Cursor<'a>,
    ) -> Result<Vec<Target<'t, 'a>>, Error> {
        let is_list = present.is_some_and(View::is_list);
        // The keys of an element come first.
        let entry = skeleton.entries().last();
        let below = |name: &str, there: Option<View<'t, 'a>>| cursor.child(name, there);
        let field = |there: Option<View<'t, 'a>>| {
            let (key, value) = entry?;
            let name = key.string();
            let is_asked = there.is_some() || self.makes();
            is_asked.then(|| Target {
                id: ChildId::Field(name),
                there,
                made: Some((Some(key), value)),
                cursor: below(name, there),
            })
        };
        let element = |(at, there): (usize, View<'t, 'a>)| Target {
            id: ChildId::Index(at),
            there: Some(there),
            made: None,
            cursor,
        };
        let elements = || present.map(View::elements).unwrap_or_default().into_iter().enumerate();
        Ok(match step {
            PatternStep::Field(name) | PatternStep::Member(name) if !is_list => {
                let there = present.and_then(|map| map.field(name));
                field(there).into_iter().collect()
            }
            PatternStep::Field(name) => {
                return Err(self.of_kind(&format!(
                    "it is a list in dest, which has no field `{name}`: name its elements, as `[*]` or `[name=…]`"
                )));
            }
            PatternStep::Member(name) => {
                let place = name.parse().ok();
                elements().filter(|(at, _)| Some(*at) == place).map(element).collect()
            }
            PatternStep::Any if is_list => elements().map(element).collect(),
            PatternStep::Any => {
                let all = present.map(View::fields).unwrap_or_default();
                let one = |(name, there): (&'a str, View<'t, 'a>)| Target {
                    id: ChildId::Field(name),
                    there: Some(there),
                    made: None,
                    cursor: below(name, Some(there)),
                };
                all.into_iter().map(one).collect()
            }
            _ if present.is_some() && !is_list => {
                return Err(self.of_kind("it is a map in dest, which has no elements: name its fields"));
            }
            PatternStep::Index(index) => elements().filter(|(at, _)| at == index).map(element).collect(),
            PatternStep::Value(value) => {
                elements().filter(|(_, own)| !own.is_container() && own.string() == *value).map(element).collect()
            }
            // What becomes of a flag depends on its list.
            PatternStep::Flag(_) => Vec::new(),
            PatternStep::Element(keys) => {
                let has = |own: View<'_, 'a>, (name, value): &(String, String)| {
                    own.field(name).and_then(key_text).is_some_and(|own| own == *value)
                };
                let found: Vec<_> =
                    elements().filter(|(_, own)| keys.iter().all(|key| has(*own, key))).map(element).collect();
                let new = skeleton.elements().next().filter(|_| found.is_empty() && self.makes());
                let new = new.map(|new| Target {
                    id: ChildId::Index(elements().count()),
                    there: None,
                    made: Some((None, new)),
                    cursor,
                });
                found.into_iter().chain(new).collect()
            }
        })
    }

    /// The change at the end of the path.
    fn end(
        &mut self,
        there: Option<View<'_, 'a>>,
        skeleton: NodeRef<'a>,
        cursor: Cursor<'a>,
    ) -> Result<Option<Change<'a>>, Error> {
        if there.is_none() && !self.makes() {
            return Ok(None);
        }
        match self.edit.does {
            Does::Delete if self.lowering.trail.is_fields(&["metadata"]) => {
                Err(must_stay(&self.lowering.trail, self.edit.at))
            }
            Does::Delete => {
                Ok(Some(Change::patch(Wants::nothing_at(&self.lowering.trail, there, Expects::Anything), None)))
            }
            Does::Test(value) if there.is_some_and(|there| there.same(value)) => {
                Ok(Some(Change::patch(Wants::Same, None)))
            }
            Does::Test(value) => {
                Err(value.error(format!("`{}` must have this value, or the patch is not for it", self.lowering.trail)))
            }
            Does::Set(value) | Does::Insert(value) => {
                let mut change = self.lowering.node(value, OnList::default(), there, cursor, Others::Go)?;
                change.notes = self.comment_of(value).into();
                Ok(Some(change))
            }
            Does::Append(value) => self.appended(value, there, skeleton, cursor).map(Some),
        }
    }

    /// The comment behind a value of the edit.
    fn comment_of(&self, value: NodeRef<'a>) -> Notes<'a> {
        let key = self.edit.at.entries().find(|(_, own)| own.is(value));
        notes_of_line(key.and_then(|(key, value)| comment_text(&Place::of_entry(key, value), value)))
    }

    /// Adds an element to a list that may have it: as an element of the same key or name, or as an equal one.
    fn appended(
        &mut self,
        value: NodeRef<'a>,
        there: Option<View<'_, 'a>>,
        skeleton: NodeRef<'a>,
        cursor: Cursor<'a>,
    ) -> Result<Change<'a>, Error> {
        if let Some(other) = there.filter(|there| !there.is_list()) {
            let what = if other.is_map() { "a map" } else { "a scalar" };
            return Err(self.of_kind(&format!("it is {what} in dest, and only a list gets elements")));
        }
        let own = there.map(View::elements).unwrap_or_default();
        let (found, others) = found(value, &own, cursor);
        let like = there.and_then(View::like).map_or(skeleton, NodeRef::resolve);
        let children = match found.first() {
            Some(&at) if own[at].same(value) => Vec::new(),
            Some(&first) => {
                let replaced = self.child(ChildId::Index(first), value, own.get(first).copied(), cursor, others)?;
                let gone = |at: &usize| Child {
                    id: ChildId::Index(*at),
                    node: None,
                    change: Change::patch(Wants::Nothing, None),
                };
                std::iter::once(replaced).chain(found[1..].iter().map(gone)).collect()
            }
            None => {
                let made = skeleton.elements().next().unwrap_or(value);
                let new = self.child(ChildId::Index(own.len()), value, None, cursor, others)?;
                vec![Child { node: Some((None, made)), ..new }]
            }
        };
        if children.is_empty() {
            return Ok(Change::patch(Wants::Same, None));
        }
        Ok(Change::patch(Inside::of(like, By::Index, children).into(), None))
    }

    /// Inserts an element before the one at the place of a step, unless the list has it.
    fn inserted(
        &mut self,
        step: &PatternStep,
        value: NodeRef<'a>,
        list: View<'_, 'a>,
        cursor: Cursor<'a>,
    ) -> Result<Option<Change<'a>>, Error> {
        let own = list.elements();
        let place = match step {
            PatternStep::Member(name) if name == "-" => own.len(),
            PatternStep::Member(name) => match name.parse::<usize>() {
                Ok(place) if place <= own.len() => place,
                _ => {
                    return Err(
                        self.of_kind(&format!("it is a list of {} in dest, so `{name}` is no place in it", own.len()))
                    );
                }
            },
            _ => own.len(),
        };
        let (found, others) = found(value, &own, cursor);
        let like = list.like().map_or(self.edit.skeleton, NodeRef::resolve);
        let (child, order) = match found.first() {
            Some(&at) => (self.child(ChildId::Index(at), value, own.get(at).copied(), cursor, others)?, Order::OfDest),
            None => {
                let new = self.child(ChildId::Index(own.len()), value, None, cursor, others)?;
                let ids = (0..place).chain([own.len()]).chain(place..own.len()).map(ChildId::Index).collect();
                (Child { node: Some((None, value)), ..new }, Order::Asked(ids))
            }
        };
        Ok(Some(Change::patch(Inside { order, ..Inside::of(like, By::Index, vec![child]) }.into(), None)))
    }

    /// The change that makes an element of this value.
    fn child(
        &mut self,
        id: ChildId<'a>,
        value: NodeRef<'a>,
        there: Option<View<'_, 'a>>,
        cursor: Cursor<'a>,
        others: Others,
    ) -> Result<Child<'a>, Error> {
        self.lowering.trail.push(id.step(&By::Index), None);
        let change = self.lowering.node(value, OnList::default(), there, cursor, others);
        self.lowering.trail.pop();
        let mut change = change?;
        change.notes = self.comment_of(value).into();
        Ok(Child { id, node: None, change })
    }

    /// Sets or removes a flag of a command, which may have its value in the next element.
    fn flag(
        &mut self,
        name: &str,
        list: Option<View<'_, 'a>>,
        skeleton: NodeRef<'a>,
    ) -> Result<Option<Change<'a>>, Error> {
        let own = list.map(View::elements).unwrap_or_default();
        if list.is_some_and(|list| !list.is_list()) {
            return Err(self.of_kind("it is no list in dest, so it has no flags"));
        }
        let names = Names::Flags.of_list(&own).unwrap_or_default();
        let is_meant = |named: &Named| matches!(named, Named::Flag(own) | Named::FlagWithValue(own) | Named::FlagBefore(own) if own == name);
        let at = names.iter().position(is_meant);
        let like = list.and_then(View::like).map_or(skeleton, NodeRef::resolve);
        let change =
            |at: usize, node, wants| Child { id: ChildId::Index(at), node, change: Change::patch(wants, None) };
        let children = match (self.edit.does, at) {
            (Does::Delete, Some(at)) => {
                let behind = (names[at] == Named::FlagBefore(name.to_owned())).then_some(at + 1);
                [at].into_iter().chain(behind).map(|at| change(at, None, Wants::Nothing)).collect()
            }
            (Does::Set(value), at) if !value.is_container() => {
                let text = value.string();
                let (place, text) = match at.map(|at| (at, &names[at])) {
                    Some((at, Named::FlagBefore(_))) => (at + 1, text.to_owned()),
                    Some((at, _)) => (at, format!("{name}={text}")),
                    None if !self.makes() => return Ok(None),
                    None => (own.len(), format!("{name}={text}")),
                };
                let there = own.get(place);
                if there.is_some_and(|there| there.string() == *text) {
                    return Ok(Some(Change::patch(Wants::Same, None)));
                }
                let quotes = there.and_then(|there| there.like()).map_or(Quotes::Needed, Quotes::As);
                let node = there.is_none().then(|| skeleton.elements().next().map(|made| (None, made))).flatten();
                vec![change(place, node, Wants::Made(Box::new(Made { value: text.into(), quotes })))]
            }
            (Does::Delete, None) => return Ok(None),
            _ => {
                return Err(self
                    .edit
                    .at
                    .error(format!("`{}` must be set to a scalar, or deleted, because it is a flag", self.edit.path)));
            }
        };
        Ok(Some(Change::patch(Inside::of(like, By::Index, children).into(), None)))
    }

    /// The change of a text, into which the path leads on.
    fn within(&mut self, at: usize, text: View<'_, 'a>, skeleton: NodeRef<'a>) -> Result<Option<Change<'a>>, Error> {
        let quotes = match text {
            View::Node(node) => Quotes::As(node),
            View::Made(made) => made.quotes.clone(),
            View::Branch(_) => return Ok(None),
        };
        let steps = self.edit.path.steps();
        let name = steps[..at].iter().rev().find_map(|step| match step {
            PatternStep::Field(name) | PatternStep::Member(name) => Some(name.as_str()),
            _ => None,
        });
        let old = text.string();
        let wants = if embedded::has_lines(name.unwrap_or_default()) {
            embedded::edited(&old, name.unwrap_or_default(), &steps[at..], self.edit)
        } else {
            match self.within_document(at, &old, skeleton)? {
                Within::NoDocument => embedded::edited(&old, name.unwrap_or_default(), &steps[at..], self.edit),
                Within::NoPlace => return Ok(None),
                Within::Text(text) => Some(text),
            }
        };
        let Some(new) = wants else {
            return Err(self.of_kind("it is a text in dest that is no YAML, no JSON and no lines of keys and values, so the path cannot lead on into it"));
        };
        let wants = if new == *old { Wants::Same } else { Wants::Made(Box::new(Made { value: new.into(), quotes })) };
        Ok(Some(Change::patch(wants, None)))
    }

    /// The text after the change of the document in it.
    fn within_document(&self, at: usize, text: &str, skeleton: NodeRef<'_>) -> Result<Within, Error> {
        let Ok(document) = Document::parse(text) else { return Ok(Within::NoDocument) };
        let mut roots = document.roots();
        let Some(root) = roots.next().filter(|root| root.is_container() && roots.len() == 0) else {
            return Ok(Within::NoDocument);
        };
        let mut editing = Editing { edit: self.edit, budget: self.budget, lowering: Lowering::of_data() };
        let Some(change) = editing.step(at, Some(View::Node(root)), skeleton, Cursor::unknown(Inference::Off))? else {
            return Ok(Within::NoPlace);
        };
        let tree = merge(Some(Tree::Node(root)), &change, NewElements::Append)?.tree;
        let new = tree.map(|tree| edits(root, &tree, self.budget).map(|edits| edits.apply(text, 0..text.len())));
        match new {
            Some(Ok(new)) => Ok(Within::Text(new)),
            Some(Err(error)) => Err(self.edit.at.error(error.to_string())),
            None => Ok(Within::NoPlace),
        }
    }

    /// The error for a place of another kind.
    fn of_kind(&self, why: &str) -> Error {
        self.edit.at.error(format!(
            "`{}` must lead to a place in dest, but of `{}`, {why}",
            self.edit.path, self.lowering.trail
        ))
    }
}

/// What comes of an edit within a text.
enum Within {
    /// The text is no document.
    NoDocument,
    /// It lacks the place.
    NoPlace,
    /// It is now this text.
    Text(String),
}

/// The elements of a list that an element to be appended is: of the same merge key, or equal, or the flag or reference of the same name. A flag
/// may have its value in the next element. With it comes what happens to the other fields of the element.
fn found<'a>(value: NodeRef<'a>, own: &[View<'_, 'a>], cursor: Cursor<'a>) -> (Vec<usize>, Others) {
    let sides = [List::Views(vec![View::Node(value)]), List::Views(own.to_vec())];
    if let Ok(ListKind::Map(keys)) = list_kind(cursor, &sides) {
        let key = element_key(value, &keys);
        let at = own.iter().position(|element| element_key(*element, &keys) == key);
        return (at.into_iter().collect(), Others::Stay);
    }
    if let Some(at) = own.iter().position(|element| element.same(value)) {
        return (vec![at], Others::Go);
    }
    // Two maps of one name may both be meant: what the other one has besides must not go.
    if value.is_container() {
        return (Vec::new(), Others::Go);
    }
    let all: Vec<View<'_, 'a>> = own.iter().copied().chain([View::Node(value)]).collect();
    let names = cursor.names_of(&[own, &all[own.len()..]]).and_then(|names| names.of_list(&all)).unwrap_or_default();
    let word = |named: &Named| match named {
        Named::Yes(name) | Named::Flag(name) | Named::FlagWithValue(name) | Named::FlagBefore(name) => {
            Some(name.clone())
        }
        Named::No | Named::ValueOf(_) => None,
    };
    let meant = names.last().and_then(word);
    let at = names.iter().take(own.len()).position(|named| meant.is_some() && word(named) == meant);
    let behind = at.filter(|at| matches!(names[*at], Named::FlagBefore(_))).map(|at| at + 1);
    (at.into_iter().chain(behind).collect(), Others::Go)
}

/// Adds the keys of a new element to what is asked of it.
fn add_keys<'a>(inside: &mut Inside<'a>, element: NodeRef<'a>, keys: &[(String, String)]) {
    let is_key = |name: &str| keys.iter().any(|(key, _)| key == name);
    let own = element.entries().filter(|(key, _)| is_key(key.string()));
    let own = own.map(|(key, value)| Child {
        id: ChildId::Field(key.string()),
        node: Some((Some(key), value)),
        change: Change::patch(Wants::Value(value), None),
    });
    let children: Vec<Child<'a>> = own.chain(std::mem::take(&mut inside.children)).collect();
    inside.children = children;
}

/// The value below a map or list of a skeleton, which has one.
fn first_of(skeleton: NodeRef<'_>) -> NodeRef<'_> {
    let field = skeleton.entries().last().map(|(_, value)| value);
    field.or_else(|| skeleton.elements().next()).unwrap_or(skeleton)
}

/// Whether a step makes an element of a list.
fn is_list_step(step: &PatternStep) -> bool {
    matches!(step, PatternStep::Element(_) | PatternStep::Flag(_))
}
