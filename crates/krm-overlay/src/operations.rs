//! The operations of a JSON patch over an object: what a new release does to each of them.
//!
//! An operation names an element of a list by its number. So the element there is compared in both releases: an operation that hits another
//! element than before is the worst, because nobody tells.

use krm_schema::mode::Mode;
use krm_schema::schema::{Cursor, Inference, ListKind, Named, Types, list_kind};
use krm_tree::child::element_key;
use krm_tree::path::{FieldPath, Step};
use krm_tree::tree::View;
use krm_yaml::NodeRef;

use crate::json_patch::{Does, Operation, index, new_index};
use crate::objects::{Object, identity};
use crate::strategic::{Said, compared};
use crate::values::Value;
use crate::verdict::{KnownBy, Verdict};

/// What a new release does to an operation. `old` is the object of the old release, if it has it.
pub fn review(operation: &Operation<'_>, old: Option<&Object>, new: &Object) -> Said {
    let types = Types::new([], Inference::On);
    let updated = new.node();
    let of_type = updated.and_then(identity).map(|of| types.root(of.api_version, of.kind, Mode::ThreeWay));
    let cursor = of_type.unwrap_or_else(|| Cursor::unknown(Inference::On));
    let sides = Sides { original: old.and_then(Object::node), updated, cursor };
    let (mut place, verdict) = sides.verdict(operation);
    if place.is_empty() {
        operation.path.iter().for_each(|name| place.push(Step::Field(name.clone().into()), None));
    }
    Said { place, span: operation.node.start()..operation.node.end(), verdict }
}

/// A place in both releases.
#[derive(Clone, Copy)]
struct Sides<'a> {
    original: Option<NodeRef<'a>>,
    updated: Option<NodeRef<'a>>,
    cursor: Cursor<'a>,
}

/// A way down failed: what the verdict is then.
enum Ends {
    /// Neither release has the place.
    Nowhere,
    /// The new release does not have it.
    Gone,
    /// It is in another element now: the names of both.
    InAnother([String; 2]),
}

impl From<Ends> for Verdict {
    fn from(ends: Ends) -> Self {
        match ends {
            Ends::Nowhere => Self::Nowhere,
            Ends::Gone => Self::Gone { moved_to: None, known_by: KnownBy::Chart },
            Ends::InAnother([original, updated]) => Self::AnotherElement { original, updated },
        }
    }
}

impl<'a> Sides<'a> {
    fn verdict(self, operation: &Operation<'_>) -> (FieldPath<'static>, Verdict) {
        let mut place = FieldPath::default();
        let verdict = self.judged(operation, &mut place).unwrap_or_else(Verdict::from);
        (place, verdict)
    }

    fn judged(self, operation: &Operation<'_>, place: &mut FieldPath<'static>) -> Result<Verdict, Ends> {
        let path = &operation.path;
        let from = match &operation.does {
            Does::Add(value) => return self.added(path, value, OnList::Insert, place),
            Does::Replace(value) => return self.added(path, value, OnList::Replace, place),
            Does::Remove => return self.at(path, place).map(|_| Verdict::Holds),
            Does::Test(value) if value.is_null() => return Ok(Verdict::Holds),
            Does::Test(value) => {
                let there = self.at(path, place)?;
                return Ok(match there.compared(value, path) {
                    // A test fails with another value, and passes with its own.
                    Verdict::Same | Verdict::NewlySame { .. } => Verdict::Holds,
                    verdict => verdict,
                });
            }
            Does::Move(from) | Does::Copy(from) => self.at(from, &mut FieldPath::default())?,
        };
        let Some(value) = from.updated.map(Value::of) else { return Ok(Verdict::Holds) };
        self.added(path, &value, OnList::Insert, place)
    }

    fn compared(self, value: &Value, path: &[String]) -> Verdict {
        let [original, updated] = [self.original, self.updated].map(|node| node.map(Value::of));
        compared(original.as_ref(), updated.as_ref(), value, path.last().map_or("", String::as_str))
    }

    /// The place of a path, which must be there.
    fn at(self, path: &[String], place: &mut FieldPath<'static>) -> Result<Self, Ends> {
        path.iter().try_fold(self, |sides, name| sides.down(name, place))
    }

    /// A step down. The element of a list must be the same in both releases.
    fn down(self, name: &str, place: &mut FieldPath<'static>) -> Result<Self, Ends> {
        let is_list = self.nodes().any(NodeRef::is_list);
        place.push(self.step(name), None);
        let below = Self {
            original: self.original.and_then(|node| child(node, name)),
            updated: self.updated.and_then(|node| child(node, name)),
            cursor: if is_list { self.cursor } else { self.cursor.child(name, self.nodes()) },
        };
        match (below.original, below.updated) {
            (None, None) if self.original.is_some() => Err(Ends::Nowhere),
            // Without the place, kustomize fails.
            (_, None) => Err(Ends::Gone),
            (Some(was), Some(is)) if is_list => match self.other_element(was, is) {
                Some(names) => Err(Ends::InAnother(names)),
                None => Ok(below),
            },
            _ => Ok(below),
        }
    }

    /// The step to a field, or to an element of a list.
    fn step(&self, name: &str) -> Step<'static> {
        let lists = self.nodes().filter(|node| node.is_list());
        let index = lists.filter_map(|list| new_index(name, list.elements().count())).next();
        index.map_or_else(|| Step::Field(name.to_owned().into()), Step::Index)
    }

    fn nodes(&self) -> impl Iterator<Item = NodeRef<'a>> + use<'a> {
        [self.original, self.updated].into_iter().flatten()
    }

    /// The names of an element of this list, if it has another one in the new release than in the old one.
    fn other_element(&self, was: NodeRef<'a>, is: NodeRef<'a>) -> Option<[String; 2]> {
        let lists = [self.original?, self.updated?];
        if !lists.iter().all(|list| list.is_list()) {
            return None;
        }
        self.names(lists, [was, is]).filter(|[was, is]| was != is)
    }

    /// What tells two elements of a list from others in it, one of each release; `None` if nobody can say, or if it is one element.
    fn names(&self, lists: [NodeRef<'a>; 2], elements: [NodeRef<'a>; 2]) -> Option<[String; 2]> {
        let sides = lists.map(|list| list.elements().collect::<Vec<_>>());
        if let Ok(ListKind::Map(keys)) = list_kind(self.cursor, &sides) {
            let [was, is] = elements.map(|element| element_key(element, &keys).map(|key| key.to_string()));
            return Some([was?, is?]);
        }
        let views = sides.each_ref().map(|side| side.iter().map(|node| View::Node(*node)).collect::<Vec<_>>());
        let at = |side: usize| sides[side].iter().position(|node| node.is(elements[side]));
        let [was, is] = [at(0)?, at(1)?];
        if let Some(names) = self.cursor.names_of(&[&views[0], &views[1]])
            && let (Some(old), Some(new)) = (names.of_list(&views[0]), names.of_list(&views[1]))
            && let (Some(name_was), Some(name_is)) = (named(&old[was]), named(&new[is]))
        {
            // Where neither release has the name of the other elsewhere, the element changed.
            let is_elsewhere = new.contains(&old[was]) || old.contains(&new[is]);
            return is_elsewhere.then_some([name_was, name_is]);
        }
        // Without a name, it is another element if the one of the old release is elsewhere now.
        let [value_was, value_is] = elements.map(Value::of);
        let is_elsewhere = value_was != value_is && sides[1].iter().any(|element| Value::of(*element) == value_was);
        is_elsewhere.then(|| [value_was.to_string(), value_is.to_string()])
    }

    /// The verdict on a value that comes to a place, whose map or list must be there.
    fn added(
        self,
        path: &[String],
        value: &Value,
        on_list: OnList,
        place: &mut FieldPath<'static>,
    ) -> Result<Verdict, Ends> {
        let Some((name, above)) = path.split_last() else { return Ok(Verdict::Holds) };
        let sides = self.at(above, place)?;
        if sides.updated.is_some_and(NodeRef::is_list) && on_list == OnList::Replace {
            return Ok(sides.down(name, place)?.compared(value, path));
        }
        let is_list = sides.updated.is_some_and(NodeRef::is_list);
        place.push(sides.step(name), None);
        let takes = |node: NodeRef<'_>| match node.is_list() {
            true => new_index(name, node.elements().count()).is_some(),
            false => node.is_map(),
        };
        match (sides.original.map(takes), sides.updated.is_some_and(takes)) {
            (Some(false), false) => Ok(Verdict::Nowhere),
            (_, false) => Ok(Verdict::Gone { moved_to: None, known_by: KnownBy::Chart }),
            // It comes beside the others, so it hides none of them.
            _ if is_list => {
                let has = |node: Option<NodeRef<'_>>| {
                    node.is_some_and(|node| node.is_list() && node.elements().any(|one| Value::of(one) == *value))
                };
                Ok(match (has(sides.original), has(sides.updated)) {
                    (true, true) => Verdict::Same,
                    (false, true) => Verdict::NewlySame { known_by: KnownBy::Chart },
                    _ => Verdict::Holds,
                })
            }
            _ => {
                let below = |node: Option<NodeRef<'a>>| node.and_then(|node| node.get(name));
                let sides = Self { original: below(sides.original), updated: below(sides.updated), ..sides };
                Ok(sides.compared(value, path))
            }
        }
    }
}

/// What an operation does in a list.
#[derive(Clone, Copy, PartialEq, Eq)]
enum OnList {
    /// It adds an element.
    Insert,
    /// It replaces one.
    Replace,
}

fn child<'a>(node: NodeRef<'a>, name: &str) -> Option<NodeRef<'a>> {
    match node.is_list() {
        true => node.elements().nth(index(name, node.elements().count())?),
        false => node.get(name),
    }
}

fn named(named: &Named) -> Option<String> {
    match named {
        Named::No => None,
        Named::Yes(name) | Named::Flag(name) | Named::FlagWithValue(name) | Named::FlagBefore(name) => {
            Some(name.clone())
        }
        Named::ValueOf(flag) => Some(format!("{flag} …")),
    }
}
