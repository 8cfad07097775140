//! A controller: changes of the wanted state go into an object of the cluster, and what others set in it stays.
//!
//! `cargo run -p krm-merge --example controller LAST WANTED LIVE`: three JSON objects. It prints the object to be sent, or `unchanged`.

#![expect(clippy::print_stdout, reason = "it prints what it would send")]

use std::error::Error;
use std::{env, fs};

use krm_merge::{Merge, Package, Pick};

/// The object to be sent; `None` if the cluster has all of it. Where somebody else changed the same field, the controller's value counts.
fn reconcile(last: &Package, wanted: &Package, live: &Package) -> Result<Option<String>, krm_merge::Error> {
    let merged = Merge::three_way(last, wanted, live).run()?.text(Pick::Updated)?;
    let is_there = Package::of_text(merged.clone())?.differences(live)?.is_empty();
    Ok((!is_there).then_some(merged))
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = env::args().skip(1);
    let mut object = || -> Result<Package, Box<dyn Error>> {
        Ok(Package::of_text(fs::read_to_string(args.next().ok_or("three files must be given")?)?)?)
    };
    let (last, wanted, live) = (object()?, object()?, object()?);
    match reconcile(&last, &wanted, &live)? {
        Some(object) => print!("{object}"),
        None => println!("unchanged"),
    }
    Ok(())
}
