//! Runs one function over many values on all cores.
//!
//! The results are in the order of the values, so what a run says and writes does not depend on which thread is first.

use rayon::iter::{IntoParallelIterator, IntoParallelRefIterator, ParallelIterator};

/// The result of a function for each value, in the order of the values. A single value needs no thread.
pub fn map<'v, T: Sync, R: Send>(values: &'v [T], function: impl Fn(&'v T) -> R + Send + Sync) -> Vec<R> {
    match values {
        [] | [_] => values.iter().map(function).collect(),
        _ => values.par_iter().map(function).collect(),
    }
}

/// Does what [`map`] does, for values that the function takes.
pub fn map_each<T: Send, R: Send>(values: Vec<T>, function: impl Fn(T) -> R + Send + Sync) -> Vec<R> {
    values.into_par_iter().map(function).collect()
}
