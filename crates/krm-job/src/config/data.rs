//! The functionConfig in a ConfigMap: all values are strings, for `kpt fn eval -- mode=…`.

use std::rc::Rc;

use krm_merge_core::policy::{ConflictLevel, NewElements, OnConflict, Renames};
use krm_tree::limit::Asked;
use krm_yaml::{Error, NodeRef};

use super::written::SIZE;
use super::{
    Config, From, Input, Keep, Mode, Role, Settings, Task, check_role, check_three_way, folder_at, limit, one_of,
    path_at,
};
use crate::aim::Aim;
use crate::name::Name;

/// The fields that `data` may have.
const FIELDS: [&str; 11] = [
    "mode",
    "source",
    "original",
    "updated",
    "into",
    "onConflict",
    "conflictLevel",
    "renames",
    "newElements",
    "inferMergeKeys",
    "maxOutput",
];

const SHORT: [&str; 3] = ["two-way", "three-way", "strategic"];

const MODES: [(&str, Mode); 6] = [
    (SHORT[0], Mode::TwoWay),
    (SHORT[1], Mode::ThreeWay),
    (SHORT[2], Mode::Strategic),
    ("TwoWay", Mode::TwoWay),
    ("ThreeWay", Mode::ThreeWay),
    ("Strategic", Mode::Strategic),
];

const ON_CONFLICT: [(&str, OnConflict); 5] = [
    ("TakeUpdated", OnConflict::TakeUpdated),
    ("theirs", OnConflict::TakeUpdated),
    ("KeepDest", OnConflict::KeepDest),
    ("ours", OnConflict::KeepDest),
    ("Fail", OnConflict::Fail),
];

/// The entries of `data`.
struct Data<'a>(Vec<(NodeRef<'a>, NodeRef<'a>)>);

/// Reads a ConfigMap.
///
/// # Errors
/// An unknown field, or a value that is not allowed.
pub(super) fn read<'a>(node: NodeRef<'a>) -> Result<Config<'a>, Error> {
    let place = node.get("data").filter(|d| !d.is_null());
    let data = Data::of(place)?;
    let Some(mode) = data.pick_among("mode", &MODES, &SHORT)? else {
        return Err(place.unwrap_or(node).error(format!("`data.mode` must be given: {}", one_of(&SHORT))));
    };
    let (source, original) = (data.role(mode, Role::Source)?, data.role(mode, Role::Original)?);
    let updated = data.role(mode, Role::Updated)?;
    if let Some(at) = data.get("into").filter(|_| source.is_none()) {
        return Err(at.error("`data.into` must not be given without `data.source`, whose partners are in that folder"));
    }
    let on_conflict = data.pick_among("onConflict", &ON_CONFLICT, &["TakeUpdated", "KeepDest", "Fail"])?;
    let conflict_level =
        data.pick("conflictLevel", &[("Line", ConflictLevel::Line), ("Value", ConflictLevel::Value)])?;
    let renames = data.pick("renames", &[("Follow", Renames::Follow), ("Ignore", Renames::Ignore)])?;
    check_three_way(mode, "data", SHORT[1], |name| data.get(name))?;
    let task = match mode {
        Mode::TwoWay => Task::Overlay { source },
        Mode::ThreeWay => Task::Upgrade {
            original,
            updated,
            on_conflict: on_conflict.unwrap_or_default(),
            rules: Vec::new(),
            conflict_level: conflict_level.unwrap_or_default(),
            renames: renames.unwrap_or_default(),
        },
        Mode::Strategic => Task::Patch { source },
    };
    let asked = data.get("maxOutput").map(|at| {
        let wrong = || at.error(format!("`data.maxOutput` must be {SIZE}, not \"{}\"", at.string()));
        Asked::parse(at.string()).ok_or_else(wrong)
    });
    let new = [("Append", NewElements::Append), ("Prepend", NewElements::Prepend)];
    let settings = Settings {
        new_elements: data.pick("newElements", &new)?.unwrap_or_default(),
        infer_merge_keys: data.pick("inferMergeKeys", &[("true", true), ("false", false)])?,
        merge_keys: Vec::new(),
        openapi: None,
        limit: limit(node, asked.transpose()?, "data.maxOutput"),
    };
    Config::new(task, settings)
}

impl<'a> Data<'a> {
    fn of(data: Option<NodeRef<'a>>) -> Result<Self, Error> {
        let entries: Vec<(NodeRef<'a>, NodeRef<'a>)> = data.into_iter().flat_map(NodeRef::fields).collect();
        for (key, value) in &entries {
            if !FIELDS.contains(&key.string()) {
                let allowed = one_of(&FIELDS);
                let message = format!("`data` must not have the field \"{}\"; allowed: {allowed}", key.string());
                return Err(key.error(message));
            }
            if value.is_container() {
                return Err(value.error(format!("`data.{}` must be a string", key.string())));
            }
        }
        Ok(Self(entries))
    }

    fn get(&self, name: &str) -> Option<NodeRef<'a>> {
        self.0.iter().find(|(key, _)| key.string() == name).map(|(_, value)| *value)
    }

    /// The value that the name in a field stands for; `None` if the field is missing.
    fn pick<T: Copy>(&self, field: &str, names: &[(&str, T)]) -> Result<Option<T>, Error> {
        let allowed: Vec<&str> = names.iter().map(|(name, _)| *name).collect();
        self.pick_among(field, names, &allowed)
    }

    /// Does what `pick` does, but the error message names only the values of `told`, not all that are allowed.
    fn pick_among<T: Copy>(&self, field: &str, names: &[(&str, T)], told: &[&str]) -> Result<Option<T>, Error> {
        let Some(node) = self.get(field) else { return Ok(None) };
        match names.iter().find(|(name, _)| *name == node.string()) {
            Some((_, value)) => Ok(Some(*value)),
            None => Err(node.error(format!("`data.{field}` must be {}, not \"{}\"", one_of(told), node.string()))),
        }
    }

    /// The input of a role: YAML text, or the path of a file or folder.
    fn role(&self, mode: Mode, role: Role) -> Result<Option<Vec<Input<'a>>>, Error> {
        let Some(value) = self.get(role.name()) else { return Ok(None) };
        check_role(mode, role, "data", value)?;
        let field = format!("data.{}", role.name());
        let text = value.string();
        let is_yaml = text.contains('\n') || text.contains(": ") || text.starts_with(['{', '[']);
        let from =
            if is_yaml { From::Yaml(text) } else { From::Path { path: path_at(value, &field)?, keep: Keep::Stay } };
        let into = self.get("into").filter(|_| role == Role::Source);
        let into = into.map(|at| folder_at(at, "data.into")).transpose()?;
        let aim = Rc::new(Aim { into, ..Aim::at_identity(Name::Field(field.clone())) });
        Ok(Some(vec![Input { field, node: value, from, aim }]))
    }
}
