//! [`Trail`]: the path of a walk, which goes to many places and keeps few of them.

use std::cell::OnceCell;
use std::fmt;
use std::sync::Arc;

use super::{FieldPath, Step, Stride};

/// The path of a walk. A step needs no allocation of its own until a path with it is kept. All kept paths share their common steps.
#[derive(Debug, Default)]
pub struct Trail<'a> {
    /// Where the walk began.
    start: FieldPath<'a>,
    paces: Vec<Pace<'a>>,
}

/// A step of a walk.
#[derive(Debug)]
struct Pace<'a> {
    step: Step<'a>,
    index: Option<usize>,
    /// The path to here, once it is kept.
    kept: OnceCell<FieldPath<'a>>,
}

impl<'a> Trail<'a> {
    /// Goes down one step; `index` is the element's place in dest.
    pub fn push(&mut self, step: Step<'a>, index: Option<usize>) {
        self.paces.push(Pace { step, index, kept: OnceCell::new() });
    }

    /// Goes up one step, but not above the start of the walk.
    pub fn pop(&mut self) {
        self.paces.pop();
    }

    /// The path to this place.
    pub fn path(&self) -> FieldPath<'a> {
        let kept = self.paces.iter().rposition(|pace| pace.kept.get().is_some());
        let mut path = kept.and_then(|at| self.paces[at].kept.get()).unwrap_or(&self.start).clone();
        for pace in &self.paces[kept.map_or(0, |at| at + 1)..] {
            let (step, index, above) = (pace.step.clone(), pace.index, path.0.take());
            path = pace.kept.get_or_init(|| FieldPath(Some(Arc::new(Stride { step, index, above })))).clone();
        }
        path
    }

    /// The last field: the one of the map here, or of the list that the map is in.
    pub fn field(&self) -> Option<&str> {
        self.paces.iter().rev().find_map(|pace| pace.step.field()).or_else(|| self.start.field())
    }

    /// Whether it is the root of the resource.
    pub fn is_empty(&self) -> bool {
        self.paces.is_empty() && self.start.is_empty()
    }

    /// Whether the path consists of exactly these fields from the root.
    #[inline]
    pub fn is_fields(&self, names: &[&str]) -> bool {
        let Some(first) = names.len().checked_sub(self.paces.len()) else { return false };
        let (start, names) = names.split_at(first);
        let is_called = |(pace, name): (&Pace<'_>, &&str)| matches!(&pace.step, Step::Field(field) if field == name);
        self.paces.iter().zip(names).rev().all(is_called) && self.start.is_fields(start)
    }
}

impl<'a> From<FieldPath<'a>> for Trail<'a> {
    fn from(start: FieldPath<'a>) -> Self {
        Self { start, paces: Vec::new() }
    }
}

impl fmt::Display for Trail<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.path().fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kept_path_stays_where_the_walk_goes_on() {
        let field = |name: &'static str| Step::Field(name.into());
        let mut trail = Trail::from(FieldPath::from(field("a")));
        assert!(trail.is_fields(&["a"]) && !trail.is_fields(&[]) && !trail.is_empty());
        trail.push(field("b"), None);
        trail.push(Step::Index(0), Some(1));
        let kept = trail.path();
        trail.push(field("c"), None);
        assert!(!trail.is_fields(&["a", "b", "c"]));
        assert_eq!((trail.path().keyed(), trail.path().indexed()), ("a.b[0].c".into(), "a.b[1].c".into()));
        assert!(Arc::ptr_eq(
            trail.path().0.as_ref().and_then(|last| last.above.as_ref()).expect("a step"),
            kept.0.as_ref().expect("a step")
        ));
        trail.pop();
        trail.pop();
        trail.push(field("d"), None);
        assert!(
            trail.is_fields(&["a", "b", "d"])
                && !trail.is_fields(&["b", "d"])
                && !trail.is_fields(&["x", "a", "b", "d"])
        );
        assert_eq!((kept.keyed(), trail.to_string()), ("a.b[0]".into(), "a.b.d".into()));
        (0..3).for_each(|_| trail.pop());
        assert_eq!(trail.path().keyed(), "a");
        assert!(Trail::default().is_empty() && Trail::default().is_fields(&[]));
    }
}
