//! Merges into a file: `cargo run --package krm-merge --example three_way ORIGINAL UPDATED DEST`.

#![allow(clippy::disallowed_methods, reason = "it writes where its user says")]

use std::{env, error::Error, fs};

use krm_merge::{Merge, Package, Pick, Reveal};

fn main() -> Result<(), Box<dyn Error>> {
    let paths: Vec<String> = env::args().skip(1).collect();
    let [original, updated, dest] = paths.as_slice() else { return Err("three files must be given".into()) };
    let read = |path| Ok::<_, Box<dyn Error>>(Package::of_text(fs::read_to_string(path)?)?);
    let (original, updated, own) = (read(original)?, read(updated)?, read(dest)?);
    let merge = Merge::three_way(&original, &updated, &own);
    let merged = merge.run()?;
    for conflict in merged.conflicts() {
        eprintln!("{}: {:?}", conflict.path(), conflict.values(Reveal::Public));
    }
    Ok(fs::write(dest, merged.text(Pick::Updated)?)?)
}
