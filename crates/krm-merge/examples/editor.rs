//! An editor: keeps a merge while its user decides one conflict after the other.
//!
//! `cargo run -p krm-merge --example editor ORIGINAL UPDATED DEST updated dest …`: the words are the answers of the user, in the order of the
//! conflicts.

#![expect(clippy::print_stdout, reason = "it shows what its user sees")]

use std::error::Error;
use std::{env, fs};

use krm_merge::{Merge, MergedPackage, Package, Pick, Reveal};

/// The state of the editor. It owns the merge, so it can stand in any struct, and go to any thread.
struct Session {
    merged: MergedPackage,
}

impl Session {
    fn open(texts: [String; 3]) -> Result<Self, krm_merge::Error> {
        let [original, updated, dest] = texts.map(Package::of_text);
        Ok(Self { merged: Merge::three_way(&original?, &updated?, &dest?).run()? })
    }

    /// The place of the conflict that its user sees now, with the values of the sides.
    fn shown(&self) -> Option<String> {
        let conflict = self.merged.conflicts().next()?;
        let values = conflict.values(Reveal::Secrets);
        let [updated, dest] = [values.updated, values.dest].map(|value| value.unwrap_or("(none)"));
        Some(format!("{}: updated {updated}, dest {dest}", conflict.path()))
    }

    /// The user decides the conflict that is shown.
    fn take(&mut self, pick: Pick) {
        let mut first = Some(pick);
        self.merged = self.merged.clone().decide(|_| first.take());
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = env::args().skip(1);
    let mut text = || Ok::<_, Box<dyn Error>>(fs::read_to_string(args.next().ok_or("three files must be given")?)?);
    let mut session = Session::open([text()?, text()?, text()?])?;
    for answer in args {
        let Some(shown) = session.shown() else { break };
        println!("# {shown}: took {answer}'s");
        session.take(if answer == "dest" { Pick::Dest } else { Pick::Updated });
    }
    print!("{}", session.merged.text(Pick::Dest)?);
    Ok(())
}
