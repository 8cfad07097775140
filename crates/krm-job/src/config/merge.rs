//! Reads a [`Merge`]: what was written becomes a [`Config`], or an error at the place of the fault.

use std::rc::Rc;

use krm_merge_core::patch::Missing;
use krm_tree::path::PathPattern;
use krm_tree::sides::{Side, Sides};
use krm_yaml::{Error, NodeRef};

use super::checked::{Wrong, shown_fields, target};
use super::deserialize::{from_node, one_of};
use super::edits::edits_in;
use super::written::{Element, Merge, OF_SOURCE, WrittenDecision, WrittenInput, WrittenTarget};
use super::{
    Config, From, Given, Input, Keep, Mode, NamedRule, Role, Settings, Task, check_role, check_three_way, folder_at,
    limit, path_at,
};
use crate::aim::{Aim, Need};
use crate::decision::Decision;
use crate::name::Name;
use crate::target::Target;

const MODES: [&str; 3] = ["TwoWay", "ThreeWay", "Strategic"];

/// Reads a `Merge` that may leave out the settings in `given`.
///
/// # Errors
/// Same as [`Config::read`].
pub(super) fn read<'a>(node: NodeRef<'a>, given: Given<'a>) -> Result<Config<'a>, Error> {
    let written: Merge = from_node(node, "functionConfig")?;
    let spec = written.spec;
    let spec_node = node.get("spec").unwrap_or(node);
    let Some(mode) = spec.mode.or(given.mode) else {
        return Err(spec_node.error(format!("`spec.mode` must be given: {}", one_of(&MODES))));
    };
    let read = |role: Role, inputs: Option<Vec<Element>>| {
        let Some(inputs) = inputs else { return Ok(None) };
        let at = spec_node.get(role.name()).unwrap_or(spec_node);
        check_role(mode, role, "spec", at)?;
        if inputs.is_empty() {
            return Err(at.error(format!("`spec.{}` must hold at least one input, or be left out", role.name())));
        }
        let inputs = inputs.into_iter().zip(at.elements()).enumerate();
        inputs
            .map(|(i, (written, node))| input(written, node, format!("spec.{}[{i}]", role.name())))
            .collect::<Result<_, _>>()
            .map(Some)
    };
    let source: Option<Vec<Input<'a>>> = read(Role::Source, spec.source)?;
    let (original, updated) = (read(Role::Original, spec.original)?, read(Role::Updated, spec.updated)?);
    check_three_way(mode, "spec", "ThreeWay", |name| spec_node.get(name).filter(|given| !given.is_null()))?;
    let task = match mode {
        Mode::TwoWay => Task::Overlay { source },
        Mode::ThreeWay => Task::Upgrade {
            original,
            updated,
            on_conflict: spec.on_conflict.unwrap_or(given.on_conflict),
            rules: decisions(spec.rules, spec_node)?,
            conflict_level: spec.conflict_level.unwrap_or_default(),
            renames: spec.renames.unwrap_or_default(),
        },
        Mode::Strategic => Task::Patch { source },
    };
    let rules = spec_node.get("mergeKeys").into_iter().flat_map(NodeRef::elements);
    let rules = spec.merge_keys.unwrap_or_default().into_iter().zip(rules).enumerate();
    let merge_keys = rules.map(|(i, (rule, at))| {
        let in_rule = |wrong: Wrong| at.get(wrong.part).unwrap_or(at).error(wrong.message);
        NamedRule::new(Name::Field(format!("spec.mergeKeys[{i}]")), rule).map_err(in_rule)
    });
    let openapi = given.openapi.or(spec_node.get("openapi").filter(|_| spec.openapi.is_some()));
    let settings = Settings {
        new_elements: spec.new_elements.unwrap_or_default(),
        infer_merge_keys: spec.infer_merge_keys,
        merge_keys: merge_keys.collect::<Result<_, _>>()?,
        openapi: openapi.map(|at| (Name::Field("spec.openapi".to_owned()), at)),
        limit: limit(node, spec.max_output.map(|size| size.0), "spec.maxOutput"),
    };
    Config::new(task, settings)
}

fn input<'a>(element: Element, node: NodeRef<'a>, field: String) -> Result<Input<'a>, Error> {
    let Element::Input(input) = element else {
        let aim = Rc::new(Aim::at_identity(Name::Field(field.clone())));
        return Ok(Input { field, node, from: From::Itself(node), aim });
    };
    let given = [
        ("resources", input.resources.is_some()),
        ("yaml", input.yaml.is_some()),
        ("edits", input.edits.is_some()),
        ("path", input.path.is_some()),
    ];
    let given: Vec<&str> = given.iter().filter(|g| g.1).map(|g| g.0).collect();
    let [kind] = given.as_slice() else {
        let found = if given.is_empty() {
            "none".into()
        } else {
            given.iter().map(|g| format!("`{g}`")).collect::<Vec<_>>().join(" and ")
        };
        return Err(
            node.error(format!("`{field}` must have exactly one of `resources`, `yaml`, `edits` and `path`, not {found}; or it is a resource, as `{{apiVersion: v1, kind: ConfigMap, metadata: {{name: a}}}}`"))
        );
    };
    if let Some(at) = node.get("keep").filter(|_| input.keep.is_some() && *kind != "path") {
        return Err(at.error(format!("`{field}.keep` must not be given without `path`")));
    }
    let of_source = OF_SOURCE.iter().find_map(|name| Some((name, node.get(name)?)));
    if let Some((name, at)) = of_source.filter(|_| !field.starts_with("spec.source")) {
        return Err(at.error(format!("`{field}.{name}` must not be given: only a source has it")));
    }
    let aim = Rc::new(aim(&field, node, &input)?);
    let value = node.get(kind).unwrap_or(node);
    let field = format!("{field}.{kind}");
    let from = match *kind {
        "resources" => {
            if let Some(other) = value.elements().find(|e| !e.is_map()) {
                return Err(other.error(format!("`{field}` must hold maps only")));
            }
            From::Resources(value.elements().collect())
        }
        "yaml" => From::Yaml(value.string()),
        "edits" => {
            if value.elements().next().is_none() {
                return Err(value.error(format!("`{field}` must hold at least one edit")));
            }
            From::Edits(edits_in(value, &field)?)
        }
        _ => From::Path {
            path: path_at(value, &field)?,
            keep: if input.keep == Some(false) { Keep::Consumed } else { Keep::Stay },
        },
    };
    Ok(Input { field, node: value, from, aim })
}

/// Which items an input is for.
fn aim(field: &str, node: NodeRef<'_>, input: &WrittenInput) -> Result<Aim, Error> {
    let one = input.target.as_ref().zip(node.get("target"));
    let one = one.map(|(written, at)| target_at(at, written, Name::Field(format!("{field}.target")))).transpose()?;
    let several = |name: &str, written: &Option<Vec<WrittenTarget>>| {
        let Some((written, list)) = written.as_ref().zip(node.get(name)) else { return Ok(Vec::new()) };
        if written.is_empty() {
            return Err(list.error(format!("`{field}.{name}` must hold at least one target, or be left out")));
        }
        let all = written.iter().zip(list.elements()).enumerate();
        all.map(|(i, (written, at))| target_at(at, written, Name::Field(format!("{field}.{name}[{i}]")))).collect()
    };
    let [targets, exclude] = [several("targets", &input.targets)?, several("exclude", &input.exclude)?];
    let not_both = |name: &str, why: &str| {
        let at = node.get(name).unwrap_or(node);
        Err(at.error(format!("`{field}.{name}` must not be given {why}")))
    };
    if one.is_some() && !targets.is_empty() {
        return not_both("targets", "with `target`: write all targets into it");
    }
    let targets: Vec<Target> = one.into_iter().chain(targets).collect();
    if targets.is_empty() && !exclude.is_empty() {
        return not_both("exclude", "without `target` or `targets`, which say what it is taken from");
    }
    if !targets.is_empty() && input.into.is_some() {
        return not_both("into", "with a target, which may have a `path`");
    }
    let into = match node.get("into").filter(|_| input.into.is_some()) {
        Some(at) => Some(folder_at(at, &format!("{field}.into"))?),
        None => None,
    };
    let of_target = ["target", "targets"].into_iter().find(|name| node.get(name).is_some_and(|at| !at.is_null()));
    let name = of_target.map_or_else(|| field.to_owned(), |target| format!("{field}.{target}"));
    Ok(Aim {
        name: Name::Field(name),
        targets,
        exclude,
        into,
        missing: if input.create == Some(false) { Missing::Left } else { Missing::Made },
        need: if input.optional == Some(true) { Need::Optional } else { Need::Hit },
    })
}

/// Reads `spec.rules`, which say who wins the conflicts at some places.
fn decisions<'a>(written: Option<Vec<WrittenDecision>>, spec: NodeRef<'a>) -> Result<Vec<Decision<'a>>, Error> {
    let Some((written, rules)) = written.zip(spec.get("rules")) else { return Ok(Vec::new()) };
    if written.is_empty() {
        return Err(rules.error("`spec.rules` must hold at least one rule, or be left out"));
    }
    let decision = |(i, (written, node)): (usize, (WrittenDecision, NodeRef<'a>))| {
        let name = Name::Field(format!("spec.rules[{i}]"));
        let take = written.take.ok_or_else(|| {
            node.error(format!("{} must be given: {}", name.of("take"), one_of(&["Dest", "Updated", "Newest", "Fail"])))
        })?;
        let path = written.path.map(|path| {
            let at = node.get("path").unwrap_or(node);
            let wrong = |why| {
                at.error(format!("{} must be a path, as `spec.replicas`, not \"{path}\": {why}", name.of("path")))
            };
            PathPattern::parse(&path).map_err(wrong)
        });
        let target = match (node.get("target"), written.target) {
            (Some(at), Some(written)) => Some(target_at(at, &written, Name::Field(format!("spec.rules[{i}].target")))?),
            _ => None,
        };
        let when = node.get("when").filter(|_| written.when.is_some());
        if let Some(at) = when.filter(|at| at.fields().next().is_none()) {
            let sides = one_of(&Side::ALL.map(Side::name));
            return Err(at.error(format!("{} must have a value of {sides}", name.of("when"))));
        }
        let when = Sides::of(|side| when.and_then(|when| when.get(side.name())));
        Ok(Decision { path: path.transpose()?, target, take: take.meant(), when, name })
    };
    written.into_iter().zip(rules.elements()).enumerate().map(decision).collect()
}

/// The target that the user wrote at a place; errors point into it.
fn target_at(at: NodeRef<'_>, written: &WrittenTarget, name: Name) -> Result<Target, Error> {
    let in_target = |wrong: Wrong| at.get(wrong.part).unwrap_or(at).error(wrong.message);
    target(name, written, shown_fields(at)).map_err(in_target)
}
