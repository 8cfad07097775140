//! The first release of a new package that helm makes of a chart. Its files are those that `upgrade` would add to an empty package.

use std::path::Path;

use anyhow::{Context, Result, bail};
use krm_files::temporary::TemporaryFolder;
use krm_files::walk::shown;
use krm_files::{errors, regular};
use krm_folders::change::Change;
use krm_folders::given;
use krm_folders::record::{Record, Render};
use krm_folders::side::{Side, Unread};
use krm_job::role::Role;
use krm_names::file_path;
use krm_show::progress::Progress;

use super::plan::Release;
use super::rendered::{MayRender, Renderer};
use crate::cli::{Common, Deciding, Rendering};
use crate::{run, setting};

/// A new package.
pub struct First {
    /// Its files, without the record.
    pub files: Vec<Change>,
    /// What it records.
    pub record: Record,
}

/// What helm makes of a release of a chart.
///
/// # Errors
/// A values file cannot be read; helm refuses the chart; or what it makes are not resources.
pub fn first(
    args: &Rendering,
    release: &str,
    chart: Release,
    mut record: Record,
    progress: &Progress,
) -> Result<First> {
    let folder = TemporaryFolder::new("first")?;
    let mut files = Vec::new();
    for file in &args.values {
        let values = values(file).with_context(|| format!("`--values` {}", shown(file)))?;
        folder.add(&values.path, values.new.as_deref().unwrap_or_default()).map_err(|why| {
            let told = errors::chain(&why);
            anyhow::anyhow!("two values files must not have the name {}: {told}", values.path)
        })?;
        files.push(values);
    }
    let render = Render {
        release: release.to_owned(),
        namespace: args.namespace.clone(),
        values: files.iter().map(|values| values.path.clone()).collect(),
        include_crds: args.include_crds,
        kube_version: args.kube_version.clone(),
        api_versions: args.api_versions.clone(),
    };
    let chart = chart.made_by(Renderer::new(&render, folder.path(), MayRender::Yes))?;
    let updated = chart.side(None, &[])?;
    let mut dest = given::side("FOLDER", &folder.path().to_string_lossy(), &[])?;
    dest.files.clear();
    let original = Side::of_release("nothing".to_owned(), Vec::new(), Unread::default(), &[])?;
    let mut setting = setting::of_upgrade(&Deciding::default(), &Common::default())?;
    setting.given = vec![(Role::Original, vec![original]), (Role::Updated, vec![updated])];
    let merge = run::merged(&mut dest, &mut setting, progress)?;
    if merge.has_failed() {
        let told: Vec<String> = merge.results.iter().map(krm_words::message).collect();
        bail!("{}", told.join("; "));
    }
    if let Some(taken) = merge.changes.iter().find(|change| render.reads(&change.path)) {
        bail!("`--values` must have another name than {}, which is a file of the release", taken.path);
    }
    files.extend(merge.changes);
    if let Some(lock) = &mut record.lock {
        lock.rendered = Some(chart.state.commit.clone());
    }
    Ok(First { files, record: Record { render: Some(render), ..record } })
}

/// A values file of the user, as a new file of the package.
fn values(file: &Path) -> Result<Change> {
    let bytes = regular::read(file)?;
    let name = file.file_name().and_then(|name| name.to_str()).context("it must have a name in UTF-8")?;
    if let Err(fault) = file_path::of_new_file(name) {
        bail!("its name must {fault}");
    }
    Ok(Change { path: name.to_owned(), old: None, new: Some(bytes), executable: None })
}
