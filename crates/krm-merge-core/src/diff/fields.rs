//! [`FieldsByName`]: the fields of a map on one side, found by their names in dest.

use krm_yaml::NodeRef;
use krm_yaml::hashed::HashMap;

/// The fields of a map; most are found where they are expected.
pub(super) struct FieldsByName<'a> {
    pub fields: Vec<(NodeRef<'a>, NodeRef<'a>)>,
    index: Option<HashMap<&'a str, usize>>,
    /// Fields that have another name in dest, with that name.
    called: Vec<(&'a str, usize)>,
    /// Whether the map has a `<<` entry.
    pub has_merges: bool,
}

impl<'a> FieldsByName<'a> {
    pub fn of(map: Option<NodeRef<'a>>, is_merged: impl Fn(&str) -> bool) -> Self {
        let all = map.map(NodeRef::spelled_out).unwrap_or_default();
        let mut fields = Vec::with_capacity(all.len());
        for (_, key, value) in all {
            if !key.is_container() && is_merged(key.string()) {
                fields.push((key, value));
            }
        }
        let index = (fields.len() > 16).then(|| fields.iter().enumerate().map(|(i, f)| (f.0.string(), i)).collect());
        Self { fields, index, called: Vec::new(), has_merges: map.is_some_and(NodeRef::has_merge_entry) }
    }

    /// Whether it has a field that the other map lacks.
    pub fn is_beyond(&self, other: &Self) -> bool {
        self.fields.iter().enumerate().any(|(i, (key, _))| other.get(key.string(), i).is_none())
    }

    pub fn named(&self) -> Vec<(&'a str, NodeRef<'a>)> {
        self.fields.iter().map(|(key, value)| (key.string(), *value)).collect()
    }

    /// Lets a field also be found by another name.
    pub fn call(&mut self, name: &'a str, other: &'a str) {
        if name != other
            && let Some(at) = self.fields.iter().position(|field| field.0.string() == name)
        {
            self.called.push((other, at));
        }
    }

    pub fn get(&self, name: &str, expected: usize) -> Option<(NodeRef<'a>, NodeRef<'a>)> {
        if let Some(field) = self.fields.get(expected).filter(|f| f.0.string() == name) {
            return Some(*field);
        }
        let found = match &self.index {
            Some(index) => index.get(name).map(|&i| self.fields[i]),
            None => self.fields.iter().find(|f| f.0.string() == name).copied(),
        };
        let called = || self.called.iter().find(|(other, _)| *other == name).map(|(_, at)| self.fields[*at]);
        found.or_else(called)
    }
}
