//! [`Places`]: the places in the values of a chart that its templates speak of, and what they do with each.

use krm_yaml::hashed::{Empty, HashMap};

use crate::values::Value;

/// The number of a place.
pub type PlaceId = u32;

/// The values as a whole.
pub const ALL_VALUES: PlaceId = 0;

/// How long the path of a place may be.
const MOST_STEPS: usize = 16;

/// What a template does with a place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Use {
    /// Nothing.
    #[default]
    Nothing,
    /// It asks whether something is there.
    Tested,
    /// It uses all of it.
    Whole,
}

/// What values say at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Says {
    /// A value.
    Value,
    /// A null, which removes the default.
    Null,
}

/// The number of a name.
type NameId = u32;

/// A field of each name, as in a loop over a map, or an element of a list.
const ANY: NameId = 0;

/// Places by their paths.
#[derive(Clone, Debug)]
pub struct Places {
    all: Vec<Place>,
    children: HashMap<(PlaceId, NameId), PlaceId>,
    names: HashMap<Box<str>, NameId>,
}

#[derive(Clone, Debug)]
struct Place {
    above: PlaceId,
    name: NameId,
    steps: usize,
    used: Use,
    children: Vec<PlaceId>,
}

impl Places {
    /// The values as a whole, and nothing in it.
    pub fn new() -> Self {
        let root = Place { above: ALL_VALUES, name: ANY, steps: 0, used: Use::Nothing, children: Vec::new() };
        Self { all: vec![root], children: HashMap::new(), names: HashMap::new() }
    }

    /// The place of a field; of any field if there is no name. `None` if the path is too long.
    pub fn child(&mut self, above: PlaceId, name: Option<&str>) -> Option<PlaceId> {
        let name = name.map_or(ANY, |name| {
            let next = self.names.len() as NameId + 1;
            self.names.get(name).copied().unwrap_or_else(|| *self.names.entry(name.into()).or_insert(next))
        });
        if let Some(found) = self.children.get(&(above, name)) {
            return Some(*found);
        }
        let steps = self.all[above as usize].steps + 1;
        let id = u32::try_from(self.all.len()).ok().filter(|_| steps <= MOST_STEPS)?;
        self.all.push(Place { above, name, steps, used: Use::Nothing, children: Vec::new() });
        self.all[above as usize].children.push(id);
        self.children.insert((above, name), id);
        Some(id)
    }

    /// Whether a place is a field of the values with this name.
    pub fn is_field(&self, place: PlaceId, name: &str) -> bool {
        let place = &self.all[place as usize];
        place.steps == 1 && self.names.get(name) == Some(&place.name)
    }

    /// Notes a use of a place.
    pub fn note(&mut self, place: PlaceId, used: Use) {
        let known = &mut self.all[place as usize].used;
        *known = used.max(*known);
    }

    /// The names from the values down to a place; `None` if one of them may be any.
    pub fn path(&self, place: PlaceId) -> Option<Vec<String>> {
        let mut path = Vec::new();
        let mut at = &self.all[place as usize];
        while at.steps > 0 {
            let (name, _) = self.names.iter().find(|(_, id)| **id == at.name)?;
            path.push(name.to_string());
            at = &self.all[at.above as usize];
        }
        path.reverse();
        Some(path)
    }

    /// Whether two places may be one.
    pub fn meet(&self, one: PlaceId, other: PlaceId) -> bool {
        let (mut one, mut other) = (&self.all[one as usize], &self.all[other as usize]);
        if one.steps != other.steps {
            return false;
        }
        while one.steps > 0 {
            if one.name != other.name && one.name != ANY && other.name != ANY {
                return false;
            }
            (one, other) = (&self.all[one.above as usize], &self.all[other.above as usize]);
        }
        true
    }

    /// Whether a place may be in another one.
    pub fn is_below(&self, place: PlaceId, above: PlaceId) -> bool {
        let (mut place, steps) = (place, self.all[above as usize].steps);
        if self.all[place as usize].steps <= steps {
            return false;
        }
        while self.all[place as usize].steps > steps {
            place = self.all[place as usize].above;
        }
        self.meet(place, above)
    }

    /// Whether a place with this path is read: the templates use it, something in it, or a whole that it is in.
    ///
    /// What only asks whether a map is there reads no field of it, as long as the defaults have the map, and do not lose their only field.
    pub fn are_read(&self, path: &[String], says: Says, defaults: &Value) -> bool {
        let mut now = vec![ALL_VALUES];
        for (number, name) in path.iter().enumerate() {
            let stays = match (defaults.at(&path[..number]), says) {
                (Some(Value::Map(fields)), Says::Value) => !fields.is_empty(),
                (Some(Value::Map(fields)), Says::Null) => fields.keys().any(|key| key != name),
                _ => false,
            };
            let least = if stays { Use::Whole } else { Use::Tested };
            if now.iter().any(|place| self.all[*place as usize].used >= least) {
                return true;
            }
            let child = |place: PlaceId, name: NameId| self.children.get(&(place, name)).copied();
            let named = self.names.get(name.as_str()).copied();
            let below = |place| [named.and_then(|name| child(place, name)), child(place, ANY)];
            now = now.into_iter().flat_map(below).flatten().collect();
        }
        self.have_uses(now)
    }

    /// Whether these places, or any in them, are used.
    fn have_uses(&self, mut todo: Vec<PlaceId>) -> bool {
        while let Some(place) = todo.pop() {
            let place = &self.all[place as usize];
            if place.used > Use::Nothing {
                return true;
            }
            todo.extend(&place.children);
        }
        false
    }
}
