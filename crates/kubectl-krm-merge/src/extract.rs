//! `extract`: the smallest patch that turns original into dest, byte for byte.
//!
//! The engine makes a patch from the differences. Then the plugin merges the patch as a user would, and compares the result with dest. It
//! names each remaining difference. So every printed patch is known to give dest.

mod left;
mod patch;

use anyhow::{Result, bail};
use krm_folders::documents;
use krm_folders::end::End;
use krm_folders::given;
use krm_folders::side::Side;
use krm_merge::extract::Extent;
use krm_schema::mode::Mode;
use krm_show::screen;
use krm_tree::limit::Budget;
use krm_words::{Word, counted};

use crate::cli::{Extract, PatchMode};
use crate::setting;
use left::Left;
use patch::Patch;

/// Prints the patch between two states, or names the differences that no patch can express.
///
/// # Errors
/// A side cannot be read, compared or merged.
pub fn extract(args: &Extract) -> Result<End> {
    let [mut original, mut dest] = given::both_sides(["ORIGINAL", "DEST"], [&args.original, &args.dest])?;
    if original.is_folder() != dest.is_folder() {
        bail!("original and dest must both be folders, or neither: {} and {}", original.name, dest.name);
    }
    documents::pair([&mut original, &mut dest]);
    let mode = match args.mode {
        PatchMode::TwoWay => Mode::TwoWay,
        PatchMode::Strategic => Mode::Strategic,
    };
    let extent = if args.values { Extent::Values } else { Extent::Text };
    let setting = setting::of_lists(mode, &args.lists)?;
    let config = setting.config()?;
    let budget = Budget::new(config.limit.with_input(original.size() + dest.size()));
    let types = config.types.with_definitions([&original, &dest].into_iter().flat_map(Side::definitions));
    let patch = Patch::between(&original, &dest, &types, mode, extent, &budget)?;
    let all = match patch.unnamed.is_empty() {
        true => Left::of(&patch.merged(&original, &setting)?, &dest, &types, mode, extent)?,
        false => patch.unnamed,
    };
    let (nulls, all): (Vec<Left>, Vec<Left>) = all.into_iter().partition(|left| args.values && left.is_null());
    if all.is_empty() {
        let renamed = if patch.text.is_empty() { Vec::new() } else { patch::renamed(&original, &dest) };
        patch.held.iter().chain(&renamed).chain(&nulls).for_each(|held| screen::tell(Word::Info, &held.to_string()));
        screen::print(&patch.text)?;
        return Ok(End::Done);
    }
    all.iter().for_each(|left| screen::tell(Word::Error, &left.to_string()));
    let helps = !args.values && all.iter().all(Left::is_of_text);
    let more = if helps { "; `--values` makes one of the values alone" } else { "" };
    screen::tell(Word::Plain, &format!("a patch cannot express {}{more}", counted(all.len(), "difference")));
    Ok(End::Differs)
}
