//! [`Names`]: the names that are looked for in the references of many resources.
//!
//! Few resources refer to one of them, and to look for the texts costs far less than to find the references.

use krm_tree::tree::View;
use krm_yaml::hashed::HashSet;

/// Names that are looked for in many resources.
#[derive(Debug)]
pub struct Names {
    all: HashSet<String>,
    /// A bit for each first byte and length that a name has. Most texts have others, so they need no hash. Empty if there is no name.
    shapes: Vec<u64>,
}

impl Names {
    /// Whether a text is one of them.
    pub fn contains(&self, text: &str) -> bool {
        self.may_have(first_of(text), text.len()) && self.all.contains(text)
    }

    /// Whether a resource may refer to one of them, because it has the name as a text anywhere.
    pub fn are_in(&self, value: View<'_, '_>) -> bool {
        match value {
            // An alias may bring in text from outside of the node.
            View::Node(node) => {
                let mut alike = node.strings_like(|first, length| self.may_have(first, length));
                node.has_aliases() || alike.any(|text| self.contains(text))
            }
            View::Made(_) => value.text().is_some_and(|text| self.contains(&text)),
            View::Branch(branch) => {
                branch.children().filter_map(|(_, tree)| tree.view()).any(|value| self.are_in(value))
            }
        }
    }

    /// Whether a text of this first byte and length may be one of them.
    fn may_have(&self, first: u8, length: usize) -> bool {
        let shape = shape(first, length);
        self.shapes.get(shape / 64).is_some_and(|shapes| shapes >> (shape % 64) & 1 == 1)
    }
}

impl<'n> FromIterator<&'n str> for Names {
    fn from_iter<I: IntoIterator<Item = &'n str>>(names: I) -> Self {
        let all: HashSet<String> = names.into_iter().map(str::to_owned).collect();
        let mut shapes = if all.is_empty() { Vec::new() } else { vec![0; (1 << 16) / 64] };
        for name in &all {
            let shape = shape(first_of(name), name.len());
            shapes[shape / 64] |= 1 << (shape % 64);
        }
        Self { all, shapes }
    }
}

/// A number below 2^16 for the first byte and the length of a text; long ones share a number.
fn shape(first: u8, length: usize) -> usize {
    usize::from(first) << 8 | length.min(255)
}

/// The first byte of a text, or 0.
fn first_of(text: &str) -> u8 {
    text.bytes().next().unwrap_or_default()
}
