//! [`Tags`]: the tags of a result for programs. A result has one or two, and there may be thousands of results, so a map would be mostly empty.

use std::collections::BTreeMap;

use serde::{Serialize, Serializer};

/// Tags, each with its value.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tags(Vec<(&'static str, String)>);

impl Tags {
    /// Whether it has no tags.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds a tag, or gives it another value.
    pub fn insert(&mut self, name: &'static str, value: String) {
        match self.get_mut(name) {
            Some(own) => *own = value,
            None => {
                self.0.reserve_exact(1);
                self.0.push((name, value));
            }
        }
    }

    /// The value of a tag.
    pub fn get(&self, name: &str) -> Option<&String> {
        self.0.iter().find(|(own, _)| *own == name).map(|(_, value)| value)
    }

    /// The value of a tag, to be changed.
    pub fn get_mut(&mut self, name: &str) -> Option<&mut String> {
        self.0.iter_mut().find(|(own, _)| *own == name).map(|(_, value)| value)
    }
}

impl Serialize for Tags {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let sorted: BTreeMap<&str, &str> = self.0.iter().map(|(name, value)| (*name, value.as_str())).collect();
        sorted.serialize(serializer)
    }
}
