//! `live --adopt`: writes into the files what someone changed in the cluster.
//!
//! It is a three-way merge like any other. Original is the applied state, updated is this state with the changes that someone made since,
//! and dest is the file. A resource that nobody changed takes no part, so its text stays. An object that is gone from the cluster is
//! reported. Its file stays, because only a person knows whether the object was deleted for good.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use k8s_openapi::ByteString;
use krm_files::disk;
use krm_files::signals::Signals;
use krm_folders::config_file::ConfigFile;
use krm_folders::end::End;
use krm_folders::merge::{Merge, merge};
use krm_folders::replaced::replacements;
use krm_folders::side::{Root, Side, SidePart};
use krm_folders::told::whereabouts;
use krm_job::config::{Config, Given, Mode, Task};
use krm_job::event::{Event, Severity};
use krm_job::results;
use krm_job::role::Role;
use krm_merge_core::policy::{ConflictLevel, Renames};
use krm_show::args::Output;
use krm_show::output::Printed;
use krm_show::page::{self, Told, report};
use krm_show::screen::{Page, Reader};
use krm_tree::limit::Limit;
use krm_yaml::{Document, NodeRef};
use serde_json::Value;

use crate::adopted::{self, RESTARTED, adopted};
use crate::args::{Live, OnConflict};
use crate::cluster::Cluster;
use crate::drift;
use crate::local::{Local, Models, config, document, models_of};
use crate::marks;
use crate::object::Object;
use crate::openapi::Schema;
use crate::remarks::{being_deleted, of_unknown_origin};
use crate::retold::retold;
use crate::secret;

/// The error for `--adopt` with a kustomization.
pub const NO_FILES: &str = "`--adopt` must be given with `-f`, because the output of a kustomization has no files. Adopt into its bases and patches by hand";

/// Two states of a resource, in the form of its file: as it was applied, and as it is in the cluster.
struct AppliedAndLive<'l> {
    local: &'l Local,
    original: Object,
    updated: Object,
}

/// Writes what someone changed in the cluster into the files. With `-o`, only shows it.
///
/// # Errors
/// A file cannot be written, or the functionConfig does not fit `--adopt`.
pub fn adopt(args: &Live, sides: &[Side], cluster: &Cluster, locals: &[Local], models: &Models) -> Result<End> {
    let said = document(models)?;
    let states = states(cluster, locals, &said)?;
    let rules = args.config.as_deref().map(ConfigFile::of_flag).transpose()?;
    let limit = args.max_output.limit();
    let (mut merges, mut results) = (Vec::new(), Vec::new());
    for (number, dest) in sides.iter().enumerate() {
        let of_side: Vec<&AppliedAndLive<'_>> = states.iter().filter(|s| s.local.place.side == number).collect();
        let given = given(dest, &of_side)?;
        let mut merged = merge(dest, &given, || how(args, rules.as_ref(), &said, limit))?;
        sign(&mut merged.results, dest, &of_side)?;
        merged.results.iter_mut().for_each(secret::mask_fields);
        let of_side = locals.iter().filter(|local| local.place.side == number);
        merged.results.extend(of_side.flat_map(|local| [told_apart(local), restarted(local)]).flatten());
        results::finish(&mut merged.results);
        results.extend(merged.results.iter().cloned());
        merges.push((dest, merged));
    }
    results::finish(&mut results);
    let has_failed = merges.iter().any(|(_, merge)| merge.has_failed());
    let writes = args.output.is_none() && !has_failed;
    if writes {
        write(&merges)?;
    }
    report(&results, args.output, &mut Told::default());
    print(args, &merges, has_failed)?.print()?;
    if let Some(end) = merges.iter().filter_map(|(_, merge)| merge.failure()).max_by_key(|end| *end == End::Bad) {
        return Ok(end);
    }
    let differs = args.exit_code && merges.iter().any(|(_, merge)| !merge.changes.is_empty());
    let is_in_conflict = args.conflicts_exit_code && merges.iter().any(|(_, merge)| merge.is_in_conflict());
    Ok(if differs || is_in_conflict { End::Differs } else { End::Done })
}

/// Checks that all resources come from files that can be written. With `-o`, nothing is written, so there is nothing to check.
///
/// # Errors
/// Resources come from a source that is not a file or folder.
pub fn check(args: &Live, sides: &[Side]) -> Result<()> {
    let is_file = |side: &&Side| matches!(side.root, Root::Folder(_) | Root::File(_));
    if args.output.is_none()
        && let Some(other) = sides.iter().find(|side| !is_file(side))
    {
        bail!("{}: `--adopt` must have files or folders to write, or `-o` to only print the changes", other.name);
    }
    if sides.len() > 1 && !matches!(args.output, None | Some(Output::Diff | Output::Name | Output::Github)) {
        bail!("`--adopt` must be given with one `-f` if its `-o` is not `diff`, `name` or `github`");
    }
    Ok(())
}

/// Reports why nothing can be adopted from an object; `None` if it can.
fn told_apart(local: &Local) -> Option<Event> {
    match (&local.live, &local.original) {
        (None, _) => {
            let why = "it is not in the cluster: it was deleted there, or never applied; its file stays";
            Some(Event::new(Severity::Warning, format!("{}: {why}", local.address)))
        }
        (Some(_), None) => Some(of_unknown_origin(local)),
        (Some(_), Some(_)) => being_deleted(local),
    }
}

/// Reports that someone restarted the pods, which is not adopted.
fn restarted(local: &Local) -> Option<Event> {
    let at = |object: &Value| object["spec"]["template"]["metadata"]["annotations"].get(RESTARTED).cloned();
    let when = local.live.as_ref().and_then(at).filter(|_| at(&local.written).is_none())?;
    let why = format!("`kubectl rollout restart` at {when} is not adopted, because it is an event and not a state");
    Some(Event::new(Severity::Info, format!("{}: {why}", local.address)))
}

/// The states of the resources that someone changed.
fn states<'l>(cluster: &Cluster, locals: &'l [Local], said: &Document<'_>) -> Result<Vec<AppliedAndLive<'l>>> {
    let types = config(Task::of(Mode::ThreeWay), said, Limit::default())?.types;
    let mut all = Vec::new();
    for local in locals {
        let (Some(original), Some(dest), Some(live)) = (&local.original, &local.dest, &local.live) else { continue };
        let live_json = live;
        let live = &Object::live(marks::removed(&marks::of(live, &local.written), dest.clone().into_json()));
        let schema = cluster.schema(live.api_version());
        let schema = schema.and_then(|schema| Schema::of_type(schema, live.api_version(), live.kind()));
        // An applier on the server's side owns nothing of a list that someone else took.
        let original = &match local.noted {
            Some(_) => original.clone(),
            None => {
                Object::live(with_taken(original.clone().into_json(), &local.updated.clone().into_json(), live_json))
            }
        };
        let compared = adopted::States { applied: original, file: &local.updated, live };
        let updated = adopted(compared, &local.owners, &types, schema)?;
        if updated != *original {
            let [original, updated] = [original.clone(), updated].map(|object| in_file(object, local));
            all.push(AppliedAndLive { local, original, updated });
        }
    }
    Ok(all)
}

/// What was applied, with the lists that someone else took over: in the files and in the cluster, but not applied any more. The state of the
/// files stands for what was applied, so such a list is taken from the cluster as a whole, and never becomes one of both.
fn with_taken(mut applied: Value, file: &Value, live: &Value) -> Value {
    for (name, file) in file.as_object().into_iter().flatten() {
        let Some(map) = applied.as_object_mut() else { continue };
        match (map.get_mut(name), live.get(name)) {
            (None, Some(Value::Array(_))) if file.is_array() => drop(map.insert(name.clone(), file.clone())),
            (Some(below @ Value::Object(_)), Some(live)) => *below = with_taken(below.take(), file, live),
            (None, Some(live @ Value::Object(_))) if file.is_object() => {
                let below = with_taken(Value::Object(serde_json::Map::new()), file, live);
                if below.as_object().is_some_and(|below| !below.is_empty()) {
                    map.insert(name.clone(), below);
                }
            }
            _ => {}
        }
    }
    applied
}

/// An object in the form of its file: with the namespace of the file, and with the texts of a Secret in `stringData` if the file has them
/// there.
fn in_file(object: Object, local: &Local) -> Object {
    let mut object = object.into_json();
    if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.shift_remove("namespace");
        metadata.extend(local.place.namespace.iter().map(|name| ("namespace".to_owned(), name.as_str().into())));
    }
    if local.applied.is_secret() {
        with_texts(&mut object, &local.written);
    }
    Object::live(object)
}

/// Moves values of `data` to `stringData`, if the file has them there or has no `data` at all. Bytes that are not text stay in `data`.
fn with_texts(secret: &mut Value, written: &Value) {
    let Some(texts) = written["stringData"].as_object() else { return };
    let has_data = written["data"].as_object().is_some_and(|data| !data.is_empty());
    let Some(data) = secret.get_mut("data").and_then(Value::as_object_mut) else { return };
    let mut moved = serde_json::Map::new();
    data.retain(|name, value| {
        let text = || {
            let ByteString(bytes) = serde_json::from_value(value.clone()).ok()?;
            String::from_utf8(bytes).ok()
        };
        let is_there = texts.contains_key(name) || !has_data;
        let text = if is_there { text() } else { None };
        let stays = text.is_none();
        moved.extend(text.map(|text| (name.clone(), text.into())));
        stays
    });
    if data.is_empty() {
        secret.as_object_mut().map(|secret| secret.shift_remove("data"));
    }
    if !moved.is_empty() {
        secret["stringData"] = moved.into();
    }
}

/// The roles original and updated for a side: the resources in files with the same paths as in dest.
fn given(dest: &Side, states: &[&AppliedAndLive<'_>]) -> Result<Vec<(Role, Vec<Side>)>> {
    let resources = dest.resources(SidePart::Role);
    let nodes: BTreeMap<String, NodeRef<'_>> =
        resources.iter().map(|(_, resource)| (whereabouts(resource), resource.node())).collect();
    let told = |states: &AppliedAndLive<'_>, object: &Object| {
        let retold = nodes.get(&states.local.name).and_then(|node| retold(*node, object));
        retold.unwrap_or_else(|| object.yaml())
    };
    let of_files = |name: &str, pick: &dyn Fn(&AppliedAndLive<'_>) -> String| {
        let mut texts: BTreeMap<usize, Vec<String>> = BTreeMap::new();
        states.iter().for_each(|states| texts.entry(states.local.place.file).or_default().push(pick(states)));
        let files = texts.into_iter().map(|(file, texts)| {
            let held = &dest.files[file];
            (held.path.clone(), format!("{} {name}", held.name), texts.join("---\n"))
        });
        Side::of_cluster(files)
    };
    Ok(vec![
        (Role::Original, vec![of_files("as it was applied", &|states| told(states, &states.original))?]),
        (Role::Updated, vec![of_files("as it is in the cluster", &|states| told(states, &states.updated))?]),
    ])
}

/// The config of the merge, from a functionConfig or from the flags. `said` has the models of the cluster's types.
fn how<'c>(args: &Live, rules: Option<&'c ConfigFile>, said: &'c Document<'_>, limit: Limit) -> Result<Config<'c>> {
    let on_conflict = args.on_conflict.unwrap_or(OnConflict::TakeUpdated).policy();
    let Some(rules) = rules else {
        let task = Task::Upgrade {
            original: None,
            updated: None,
            on_conflict,
            rules: Vec::new(),
            conflict_level: ConflictLevel::Line,
            // Renames are ignored, because an object in a cluster cannot change its name.
            renames: Renames::Ignore,
        };
        return config(task, said, limit);
    };
    let config = rules.config(Given { mode: Some(Mode::ThreeWay), on_conflict, openapi: models_of(said) })?;
    let name = rules.name();
    if config.mode() != Mode::ThreeWay {
        bail!("{name}: the mode must be `ThreeWay`, as `--adopt` merges, not `{:?}`", config.mode());
    }
    if let Some((role, _)) = config.task.inputs().next() {
        bail!("{name}: `spec.{}` must be left out with `--adopt`, which takes it from the cluster", role.name());
    }
    Ok(config)
}

/// Adds to each conflict who set the value in the cluster.
fn sign(results: &mut [Event], dest: &Side, states: &[&AppliedAndLive<'_>]) -> Result<()> {
    for states in states {
        let path = &dest.files[states.local.place.file].path;
        let (object, live) = (&states.updated, &states.local.dest);
        let is_of_it = |r: &&mut Event| {
            let is_named = r.resource_ref.as_ref().is_some_and(|r| r.kind == object.kind() && r.name == object.name());
            is_named && r.is_conflict() && r.file.as_ref().is_some_and(|file| file.path == *path)
        };
        if let Some(live) = live {
            drift::sign_conflicts(results.iter_mut().filter(is_of_it), live, &states.local.owners)?;
        }
    }
    Ok(())
}

/// Writes all files, or none.
fn write(merges: &[(&Side, Merge)]) -> Result<()> {
    let mut all = Vec::new();
    let mut root: Option<PathBuf> = None;
    for (dest, merge) in merges {
        let Some((folder, replacements)) = replacements(dest, &merge.changes)? else { continue };
        root = Some(root.map_or_else(|| folder.clone(), |root| common(&root, &folder)));
        all.extend(replacements);
    }
    let Some(root) = root.filter(|_| !all.is_empty()) else { return Ok(()) };
    let signals = Signals::hold()?;
    disk::write(&root, &all, || signals.check())
}

/// The deepest folder that contains both paths.
fn common(a: &Path, b: &Path) -> PathBuf {
    a.components().zip(b.components()).take_while(|(a, b)| a == b).map(|(a, _)| a).collect()
}

fn print(args: &Live, merges: &[(&Side, Merge)], has_failed: bool) -> Result<Page> {
    let reader = args.reader();
    let mut page = Page::new(reader);
    for (dest, merge) in merges {
        let hidden = || merge.with_changes(secret::masked_files(&merge.changes));
        match args.output {
            None if has_failed => {}
            None => page::written(merge, &mut page),
            Some(Output::Diff) => page.append(page::of(dest, &hidden(), Output::Diff, Printed::All, reader)?),
            // A program that reads the output needs the whole file. At a terminal, other people may see the screen.
            Some(format @ (Output::Yaml | Output::Json)) if reader != Reader::Program => {
                page.append(page::of(&secret::hidden_side(dest)?, &hidden(), format, Printed::All, reader)?);
            }
            Some(format) => page.append(page::of(dest, merge, format, Printed::All, reader)?),
        }
    }
    Ok(page)
}
