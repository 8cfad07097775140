//! `live`: the three-way merge against a cluster. Original is the last applied state, updated is the files, dest is the live objects.
//!
//! `kubectl apply` sets what the files say and does not report what it overwrote. `live` shows what someone changed in the cluster since
//! the last apply. Such a change stays if the files still have the old value, and is a conflict if they have a new one. Nothing is sent
//! without `--apply`.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};
use krm_files::credentials;
use krm_files::disk;
use krm_folders::end::End;
use krm_folders::given;
use krm_folders::merge::{Merge, drawn, merge};
use krm_folders::side::Side;
use krm_git::tracked;
use krm_job::config::{Mode, Task};
use krm_job::event::{Event, Severity};
use krm_job::forms::no_yaml;
use krm_job::results;
use krm_job::role::Role;
use krm_merge_core::policy::{ConflictLevel, Renames};
use krm_schema::schema::Types;
use krm_show::args::Output;
use krm_show::diff;
use krm_show::output::Printed;
use krm_show::page::{self, Told, report};
use krm_show::progress::Progress;
use krm_show::screen::{self, Page, Reader};
use krm_tree::tree::Pick;
use krm_words::Message;
use krm_yaml::Document;

use crate::address::Address;
use crate::adopt;
use crate::applyset::ApplySet;
use crate::args::{Ask, Live, OnConflict};
use crate::claim::{self, Claim, Keeps};
use crate::cluster::Cluster;
use crate::drift::{self, Drift};
use crate::local::{Local, Models, config, document, read};
use crate::object::Object;
use crate::remarks::{being_deleted, of_unknown_origin};
use crate::send::{Sender, Sending, patches};
use crate::text::{self, read_back};
use crate::{openapi, order, ready, secret};

impl Ask {
    /// The models of the types of an apiVersion, as an OpenAPI document of the cluster; `None` if the cluster does not know the type.
    ///
    /// # Errors
    /// The cluster does not answer, or refuses.
    pub fn definitions(&self, api_version: &str, kind: &str) -> Result<Option<Document<'static>>> {
        let _progress = Progress::begin("asking the cluster");
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        runtime.block_on(async {
            let mut cluster = Cluster::connect(&self.connection, None).await?;
            cluster.learn(BTreeSet::from([api_version.to_owned()])).await?;
            let models = cluster.schema(api_version).and_then(|schema| openapi::models(schema, api_version, kind));
            models.map(document).transpose()
        })
    }
}

/// Shows what would change, and sends it with `--apply`.
///
/// # Errors
/// The files cannot be read; or the cluster does not answer, or refuses. Then nothing is sent.
pub fn live(args: &Live) -> Result<End> {
    let progress = Progress::begin("reading");
    let limit = args.max_output.limit();
    let sides = sides(args)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    progress.set(|| "asking the cluster".to_owned());
    let (cluster, locals, models, mut set) = runtime.block_on(async {
        let mut cluster = Cluster::connect(&args.connection, args.namespace.clone()).await?;
        let mut set = match &args.applyset {
            Some(parent) => Some(ApplySet::read(&mut cluster, parent, args.namespace.as_deref()).await?),
            None => None,
        };
        let limit = limit.with_input(sides.iter().map(Side::size).sum());
        let (locals, models) = read(&mut cluster, &sides, args, limit, set.as_ref().map(ApplySet::id)).await?;
        if let Some(set) = &mut set {
            set.compare(&mut cluster, &locals).await?;
        }
        anyhow::Ok((cluster, locals, models, set))
    })?;
    progress.set(|| format!("merging {} objects", locals.len()));
    if args.adopt {
        drop(progress);
        let end = adopt::adopt(args, &sides, &cluster, &locals, &models);
        screen::tell_each(cluster.warnings().iter().map(Message::of));
        return end;
    }
    let reader = args.reader();
    let (dest, mut merge, told) = merged(args, &locals, &models, reader)?;
    merge.results.extend(no_yaml(sides.iter().flat_map(|side| &side.files)));
    let sender = Sender { cluster: &cluster, manager: &args.field_manager, take: &args.take };
    // The patches are those of the merge, before the server answers.
    let patches = if args.server_side || merge.has_failed() { Vec::new() } else { patches(&locals, &merge)? };
    let asked = match merge.has_failed() {
        true => Vec::new(),
        false if args.server_side => claim::apply_patches(&sender, &locals, &merge),
        false => claim::merge_patches(&patches, &merge),
    };
    progress.set(|| "asking the cluster what would change".to_owned());
    let claims = runtime.block_on(claim::claims(&sender, asked, &merge))?;
    let keeps = if args.on_conflict == Some(OnConflict::KeepDest) { Keeps::Dest } else { Keeps::Updated };
    claim::settle(&claims, &mut merge, if args.apply { Severity::Error } else { Severity::Warning }, keeps);
    if let Some(set) = set.as_ref().filter(|_| !merge.has_failed()) {
        merge.changes.extend(set.changes());
        merge.results.extend(set.told());
        merge.changes.sort_by(|a, b| a.path.cmp(&b.path));
    }
    merge.results.extend(cluster.warnings());
    results::finish(&mut merge.results);
    drop(progress);
    let format = args.output.or((!args.apply).then_some(Output::Diff));
    let sending = match args.apply && !merge.has_failed() {
        true if args.server_side => Some(claim::applying(&locals, &claims)),
        true => Some(claim::patching(patches, &claims)),
        false => None,
    };
    let checked = claim::checked(&claims);
    let sending = sending.map(|all| anyhow::Ok(Sending::new(all, &merge)?.without_check(checked))).transpose()?;
    let mut infos = sending.as_ref().map(Sending::unchecked).unwrap_or_default();
    infos.extend(claims.iter().filter_map(Claim::of_handover));
    report(&merge.results, format, &mut Told::default());
    screen::tell_each(infos.iter().map(Message::of));
    merge.results.extend(infos);
    if let Some(format) = format {
        page(format, &dest, &merge, told, reader)?.print()?;
    }
    if let Some(mut sending) = sending {
        let addresses = sending.addresses();
        let sent = runtime.block_on(async {
            sending.check(&sender).await?;
            if let Some(set) = &mut set
                && let Some(parent) = set.begin(&cluster).await?
            {
                sending.after(set.parent(), &parent);
            }
            sending.send(&sender).await?;
            if let Some(set) = &mut set {
                set.end(&cluster).await?;
            }
            if args.wait {
                ready::wait(&cluster, &locals, &addresses, args.connection.ready_within()).await?;
            }
            anyhow::Ok(())
        });
        screen::tell_each(cluster.warnings().iter().map(Message::of));
        sent?;
    }
    if let Some(end) = merge.failure() {
        return Ok(end);
    }
    let differs = args.exit_code && !merge.changes.is_empty();
    Ok(if differs || (args.conflicts_exit_code && merge.is_in_conflict()) { End::Differs } else { End::Done })
}

/// The outcome of a merge of live objects, in the format that the user chose.
fn page(format: Output, dest: &Side, merge: &Merge, told: Page, reader: Reader) -> Result<Page> {
    let hidden = match format {
        // A program that reads the output needs the whole object. At a terminal, other people may see the screen.
        Output::Yaml | Output::Json if reader != Reader::Program => secret::without_values(&merge.changes),
        Output::Diff | Output::Html => secret::masked(&merge.changes),
        _ => return page::of(dest, merge, format, Printed::All, reader),
    };
    let shown = merge.with_changes(hidden);
    if format != Output::Diff {
        return page::of(dest, &shown, format, Printed::All, reader);
    }
    let mut page = Page::new(reader);
    page.append(diff::diff(&shown.changes, &merge.types(dest), reader));
    page.append(told);
    page.append(diff::conflicts(dest, merge, reader));
    Ok(page)
}

/// The sides with the resources that the user names.
///
/// # Errors
/// A side cannot be read, or `--adopt` cannot write it.
fn sides(args: &Live) -> Result<Vec<Side>> {
    let sides = match &args.kustomize {
        Some(_) if args.adopt => bail!(adopt::NO_FILES),
        Some(folder) => vec![kustomized(folder)?.not_empty()?],
        None => {
            if args.adopt && args.output.is_none() {
                for path in args.filename.iter().filter(|path| *path != "-") {
                    screen::tell_repaired(&disk::repair(Path::new(path), tracked::refuse)?);
                }
            }
            args.filename
                .iter()
                .map(|path| given::side("--filename", path, &[])?.not_empty())
                .collect::<Result<Vec<_>>>()?
        }
    };
    if args.adopt {
        adopt::check(args, &sides)?;
    }
    Ok(sides)
}

/// The resources that `kubectl kustomize` builds from a folder.
///
/// # Errors
/// kubectl is missing, or refuses the folder.
fn kustomized(folder: &str) -> Result<Side> {
    let output =
        Command::new("kubectl").args(["kustomize", folder]).output().context("kubectl must be on PATH for `-k`")?;
    // The folder may be an address.
    let folder = credentials::hidden(folder);
    if !output.status.success() {
        bail!(
            "`kubectl kustomize {folder}` must pass: {}",
            credentials::hidden(String::from_utf8_lossy(&output.stderr).trim())
        );
    }
    Side::of_text(&format!("the kustomization {folder}"), &String::from_utf8(output.stdout)?)
}

/// Adds to each conflict who set the live value.
fn sign_conflicts(args: &Live, locals: &[Local], merged: &mut Merge) -> Result<()> {
    if args.on_conflict == Some(OnConflict::Fail) {
        merged.results.iter_mut().filter(|r| r.is_conflict()).for_each(Event::leave_open);
    }
    for (local, dest) in locals.iter().filter_map(|local| Some((local, local.dest.as_ref()?))) {
        let path = local.address.to_string();
        let is_of_it = |r: &&mut Event| r.is_conflict() && r.file.as_ref().is_some_and(|f| f.path == path);
        drift::sign_conflicts(merged.results.iter_mut().filter(is_of_it), dest, &local.owners)?;
    }
    merged.results.iter_mut().for_each(secret::mask_fields);
    Ok(())
}

/// What others changed in the objects that `kubectl apply` made, with the address of each.
fn drifts<'l>(locals: &'l [Local], types: &Types) -> Result<Vec<(&'l Address, Vec<Drift>)>> {
    let mut drifts = Vec::new();
    for local in locals {
        let (Some(original), Some(live)) = (&local.original, &local.dest) else { continue };
        if original == live {
            continue;
        }
        let mut found = drift::drifts(original, live, types)?;
        drift::leave_out_agreed(&mut found, &local.updated, live, types)?;
        drift::sign(&mut found, live, &local.owners)?;
        secret::mask_drift(local.updated.kind(), &mut found);
        drifts.push((&local.address, found));
    }
    Ok(drifts)
}

/// Merges all resources, with objects that lack the fields that the server populates. An object that was not applied by `kubectl apply` has
/// no original. The values of the files are set in it, and nobody can tell who changed it.
fn merged(args: &Live, locals: &[Local], models: &Models, reader: Reader) -> Result<(Side, Merge, Page)> {
    // An object that is as it was applied, and as the files say, takes no part.
    let is_same = |l: &Local| l.dest.is_some() && l.original == l.dest && l.original.as_ref() == Some(&l.updated);
    let is_upgrade = |l: &&Local| !is_same(l) && (l.live.is_none() || l.original.is_some());
    let original = |l: &Local| l.original.clone();
    let side = |pick: &dyn Fn(&Local) -> Option<Object>, of: &dyn Fn(&&Local) -> bool| {
        let files = locals.iter().filter(|l| of(l)).filter_map(|l| {
            let name = if pick(l)? == l.updated { l.name.clone() } else { l.address.to_string() };
            Some((l.address.to_string(), name, pick(l)?.yaml()))
        });
        Side::of_cluster(files)
    };
    let updated = |l: &Local| Some(l.updated.clone());
    let dest = |l: &Local| l.dest.clone();
    // Only code below knows which conflicts count, so that code handles `--on-conflict fail`.
    let keeps = args.on_conflict == Some(OnConflict::KeepDest);
    let on_conflict = if keeps { OnConflict::KeepDest } else { OnConflict::TakeUpdated }.policy();
    let said = document(models)?;
    let config = |task| config(task, &said, args.max_output.limit());
    let conflict_level = ConflictLevel::Value;
    // Renames are ignored, because an object in a cluster cannot change its name.
    let renames = Renames::Ignore;
    let upgrade = || {
        config(Task::Upgrade { original: None, updated: None, on_conflict, rules: Vec::new(), conflict_level, renames })
    };
    let config_of_upgrade = upgrade()?;
    let drifts = drifts(locals, &config_of_upgrade.types)?;
    let given =
        [(Role::Original, vec![side(&original, &is_upgrade)?]), (Role::Updated, vec![side(&updated, &is_upgrade)?])];
    let mut merged = drawn(&side(&dest, &is_upgrade)?, &given, upgrade, |open| {
        // With `--server-side`, the server decides by owners: see `claim.rs`.
        open.decide(|_| args.server_side.then_some(Pick::Updated)).draw_once()
    })?;
    let others = |l: &&Local| !is_same(l) && !is_upgrade(l);
    if locals.iter().any(|l| others(&l)) {
        let given = [(Role::Source, vec![side(&updated, &others)?])];
        let more = merge(&side(&dest, &others)?, &given, || config(Task::of(Mode::TwoWay)))?;
        merged.changes.extend(more.changes);
        merged.results.extend(more.results);
        if !args.server_side {
            merged.results.extend(locals.iter().filter(others).map(of_unknown_origin));
        }
    }
    merged.results.extend(locals.iter().filter_map(being_deleted));
    sign_conflicts(args, locals, &mut merged)?;
    let conflicts: Vec<&Event> = merged.results.iter().filter(|r| r.is_conflict()).collect();
    let mut told = Page::new(reader);
    drifts.iter().for_each(|(address, found)| drift::show(&address.to_string(), found, &conflicts, &mut told));
    if merged.has_failed() {
        merged.changes.clear();
    }
    merged.changes.sort_by(|a, b| a.path.cmp(&b.path));
    // In a cluster, the order of fields has no meaning.
    merged.changes.retain_mut(|change| {
        let (Some(old), Some(new)) = (read_back(&change.old), read_back(&change.new)) else { return true };
        let ordered = text::yaml(&order::like(&new, &old));
        // What stands in the order of the object already keeps its text.
        if ordered != text::yaml(&new) {
            change.new = Some(ordered.into_bytes());
        }
        old != new
    });
    results::finish(&mut merged.results);
    let shown = |l: &Local| {
        let dest = l.dest.clone()?;
        Some(if reader == Reader::Program { dest } else { Object::live(secret::hidden(dest.into_json())) })
    };
    Ok((side(&shown, &|_| true)?, merged, told))
}
