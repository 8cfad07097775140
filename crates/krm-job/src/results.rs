//! [`Results`]: the events of a run, as many as the budget allows, and their order.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use krm_tree::limit::{Budget, Kind as Written};

use crate::event::{Event, ResourceRef, Severity, What};
use crate::name::Name;

/// Whether a run went through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// No result is an error.
    Passed,
    /// Some result is an error, and nothing is changed.
    Failed,
}

impl Verdict {
    /// The verdict on a run with these results.
    pub fn of(results: &[Event]) -> Self {
        if has_failed(results) { Self::Failed } else { Self::Passed }
    }
}

/// Whether any result is an error.
pub fn has_failed(results: &[Event]) -> bool {
    results.iter().any(|result| result.severity == Severity::Error)
}

/// The results of a run so far, as many as the budget allows.
#[derive(Debug)]
pub struct Results<'b> {
    all: Vec<Event>,
    budget: &'b Budget,
}

impl<'b> Results<'b> {
    /// An empty list of results.
    pub fn new(budget: &'b Budget) -> Self {
        Self { all: Vec::new(), budget }
    }

    /// The budget that the values of results come off.
    pub fn budget(&self) -> &'b Budget {
        self.budget
    }

    /// Adds results.
    ///
    /// # Errors
    /// They take more than is left of the budget.
    pub fn tell(&mut self, results: impl IntoIterator<Item = Event>) -> Result<(), Box<Event>> {
        for mut result in results {
            self.budget.take(size(&result));
            if let Err(exceeded) = self.budget.check(Written::Results) {
                let told = Event::new(Severity::Error, exceeded.to_string());
                return Err(Box::new(Event { resource_ref: result.resource_ref, file: result.file, ..told }));
            }
            if let Some(last) = self.all.last() {
                result.share(last);
            }
            self.all.push(result);
        }
        Ok(())
    }

    /// Adds results that are already counted in the same budget.
    pub fn append(&mut self, more: impl IntoIterator<Item = Event>) {
        self.all.extend(more);
    }

    /// How many results match.
    pub fn count(&self, is_meant: impl Fn(&Event) -> bool) -> usize {
        self.all.iter().filter(|result| is_meant(result)).count()
    }

    /// All of them.
    pub fn into_vec(self) -> Vec<Event> {
        self.all
    }
}

/// Drops the results that say of these rules that they decided nothing: they decided a conflict of a file without resources.
pub fn drop_idle(results: &mut Vec<Event>, decided: &[Name]) {
    results.retain(|result| result.idle().is_none_or(|rule| !decided.contains(rule)));
}

/// The results of a run as they are told: worst first, and what is unresolved, then by file, resource and place, so that kpt shows the
/// important ones. A run that fails did nothing, so nothing is told as done.
pub fn finish(results: &mut Vec<Event>) {
    if has_failed(results) {
        results.retain(|result| !result.what.is_done());
    }
    let key = |r: &Event| {
        let of =
            |r: &Option<Arc<ResourceRef>>| r.as_ref().map(|r| (r.kind.clone(), r.namespace.clone(), r.name.clone()));
        (
            // A wrong original makes conflicts that are none, and a host may show only the first results.
            !matches!(r.what, What::OtherOriginal { .. }),
            r.severity,
            !r.is_open(),
            r.file.as_ref().map(|f| (f.path.clone(), f.index)),
            of(&r.resource_ref),
            r.field.as_ref().map(|f| f.path.clone()),
            r.is_conflict(),
        )
    };
    results.sort_by_cached_key(key);
}

/// The length of a sentence without what it shows.
const SENTENCE: usize = 100;

/// The size of an event in bytes, as its sentence and its other fields have it, without its values, which come off the budget when they are read.
fn size(event: &Event) -> usize {
    let mut bytes = Bytes(SENTENCE);
    let path = event.field.as_ref().map(|field| &field.path);
    (&event.what, &event.resource_ref, path, &event.file).hash(&mut bytes);
    bytes.0
}

/// Counts the bytes of what it hashes: all that a value owns.
struct Bytes(usize);

impl Hasher for Bytes {
    fn write(&mut self, bytes: &[u8]) {
        self.0 += bytes.len();
    }

    fn finish(&self) -> u64 {
        self.0 as u64
    }
}
