//! Makes the files texts that a three-way merge of folders merges as texts although they hold resources: `krm_job::forms` says which.

use crate::held::Content;
use crate::side::Side;
use anyhow::Result;
use krm_job::forms::as_texts;
use krm_job::role::Role;
use krm_tree::sides::Sides;

/// In a three-way merge of folders, makes files texts on all sides.
///
/// # Errors
/// A file cannot be read.
pub fn agree(dest: &mut Side, given: &mut [(Role, Vec<Side>)]) -> Result<()> {
    let side = |role| given.iter().find(|(r, _)| *r == role).and_then(|(_, sides)| sides.first());
    let (Some(original), Some(updated)) = (side(Role::Original), side(Role::Updated)) else { return Ok(()) };
    let sides = Sides { original, updated, dest: &*dest };
    if !sides.iter().all(|(_, side)| side.is_folder()) {
        return Ok(());
    }
    let why = as_texts(sides.map(|side| &side.files[..]))?;
    let texts = given.iter_mut().flat_map(|(_, sides)| sides).chain([dest]);
    for held in texts.flat_map(|side| &mut side.files) {
        held.content = match std::mem::replace(&mut held.content, Content::Other) {
            Content::Resources(document) => match why.get(&held.path) {
                Some(why) => Content::AsText(*why, document),
                None => Content::Resources(document),
            },
            other => other,
        };
    }
    Ok(())
}
