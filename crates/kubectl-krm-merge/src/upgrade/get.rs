//! `get`: copies a release into a new folder, with the record of where it comes from.
//!
//! The files are written into a folder beside the new one, which then gets its name, so the new folder is whole from its first moment. A
//! killed run leaves at worst the other folder, which the next one removes.

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use anyhow::{Context, Result, anyhow, bail};
use krm_files::command::{argument, own};
use krm_files::disk::{self, Replacement};
use krm_files::signals::Signals;
use krm_files::walk::shown;
use krm_folders::change::Change;
use krm_folders::end::End;
use krm_folders::held::Held;
use krm_folders::package::KPTFILE;
use krm_folders::record::{Record, RecordDocument, as_in_dest, with_paths, with_record};
use krm_folders::release;
use krm_folders::selection::{FitsNothing, Selection};
use krm_folders::side::Side;
use krm_folders::sources;
use krm_git::address::{ReleaseAddress, is_web};
use krm_git::tracked;
use krm_names::file_path::{self, RULES};
use krm_overlay::{ChartSource, pasted};
use krm_show::args::Color;
use krm_show::progress::Progress;
use krm_show::screen::{self, Page, Reader};
use krm_words::{Word, counted};
use krm_yaml::{plain_or_quoted, shown as escaped};

use super::aim::DirectoryAt;
use super::chart::{address as address_of, meant};
use super::first::{First, first};
use super::plan::Release;
use crate::cli::Get;

/// Copies a release into a new folder.
///
/// # Errors
/// The release cannot be fetched or read; or the folder is not new.
pub fn get(args: &Get) -> Result<End> {
    let Asked { address: given, name: source, folder } =
        if args.source == "-" { of_stdin(args)? } else { asked(args)? };
    let folder = folder.map_or_else(|| name_of(&given), Ok)?;
    check_new(&folder)?;
    let progress = Progress::begin("fetching");
    let store = Rc::new(release::open(&given.repo, Path::new("."), args.reach.network())?);
    let state = store.state(&given)?;
    progress.measure(store.meter());
    let wish = store.refs()?.wish(&given, &state);
    let record = Record::of_release(&ReleaseAddress { repo: given.repo.recorded()?, ..wish }, &state);
    if let Some(release) = &args.rendering.render {
        let exact = given.repo.exact(&state.commit);
        let chart = Release::of(&DirectoryAt { store, address: given }, state);
        let First { files, record } = first(&args.rendering, release, chart, record, &progress)?;
        let record = with_record(None, RecordDocument::Rules, &record)?.into_bytes();
        let record = New { path: RULES.to_owned(), bytes: record, executable: None };
        let files: Vec<New> = files.into_iter().map(New::of).chain([record]).collect();
        write(&folder, &files)?;
        drop(progress);
        return told(&folder, files.len(), &exact, &["--helm"]);
    }
    let mut side = release::package(&store, &given, &state, source.clone(), &[])?;
    let selection = Selection::of_paths(&args.path).context("`--path`")?;
    let unfit = selection.fitting_nothing(&[&side]);
    selection.part_of_release(&mut side);
    if side.files.is_empty() {
        bail!("{source}: it must have a file that `--path` takes");
    }
    side.leave_out_of_package(&[]);
    let files = files(&side, &folder, &record, &args.path)?;
    write(&folder, &files)?;
    drop(progress);
    unfit.iter().for_each(|FitsNothing { path, .. }| {
        screen::tell(Word::Warning, &format!("`--path` {} fits no file of the release", escaped::quoted(path)))
    });
    side.links().for_each(|link| {
        screen::tell(Word::Warning, &format!("{link}: not copied, because links and submodules are not followed"))
    });
    told(&folder, files.len(), &given.repo.exact(&state.commit), &[])
}

/// Says what was got, and what comes next.
fn told(folder: &Path, files: usize, exact: &str, flags: &[&str]) -> Result<End> {
    let mut page = Page::new(Reader::of_stdout(Color::Auto));
    page.line(&format!("got {} with {}, at {exact}", shown(folder), counted(files, "file")));
    page.message(
        Word::Next,
        &format!(
            "commit it, edit it, and run `{}` for each new release",
            own(&[&["upgrade", &argument(folder)], flags].concat())
        ),
    );
    page.print()?;
    Ok(End::Done)
}

/// What is copied, and where to.
struct Asked {
    address: ReleaseAddress,
    /// The address as the user wrote it.
    name: String,
    folder: Option<PathBuf>,
}

/// What the user means: an address and a folder, or a repository of charts, a chart and a folder.
fn asked(args: &Get) -> Result<Asked> {
    let given = ReleaseAddress::parse(&args.source);
    let chart =
        args.folder.as_ref().filter(|_| given.is_err() && is_web(&args.source)).and_then(|chart| chart.to_str());
    match chart {
        Some(chart) => Ok(Asked {
            address: ReleaseAddress::of_chart(&args.source, chart)?,
            name: format!("{}//{chart}", args.source.trim_end_matches('/')),
            folder: args.folder_of_chart.clone(),
        }),
        None if args.folder_of_chart.is_some() => {
            bail!("`get` takes three arguments only for a chart: the repository, NAME@VERSION and the folder")
        }
        None => {
            let address = sources::settled(given?, args.reach.network())?;
            Ok(Asked { address, name: args.source.clone(), folder: args.folder.clone() })
        }
    }
}

/// What a text on stdin names: a chart, as files of Flux, Argo CD, kustomize and helm do.
fn of_stdin(args: &Get) -> Result<Asked> {
    let mut text = String::new();
    io::stdin().lock().read_to_string(&mut text).context("stdin")?;
    let form = "stdin must name a chart, such as a HelmRelease with its HelmRepository or OCIRepository, an Application, an entry of `helmCharts` or a dependency of a `Chart.yaml`";
    let mut found = pasted(&text).context("stdin")?.into_iter();
    let (Some(found), None) = (found.next(), found.next()) else { bail!("{form}. It must name one") };
    let below = found.map_err(|unread| anyhow!("stdin: {}", krm_words::overlay::unread(&unread)))?;
    let wish = below.version.as_ref().map(|version| version.text.as_str());
    // A repository alone names no chart.
    let (address, folder) = match (&below.source, args.folder.as_ref().and_then(|chart| chart.to_str())) {
        (ChartSource::Repository { url, name }, Some(chart)) if name.is_empty() => {
            (ReleaseAddress::of_chart(url, chart)?, args.folder_of_chart.clone())
        }
        (ChartSource::Repository { url, name }, None) if name.is_empty() => {
            bail!("the chart of \"{url}\" must be named: `get - NAME@VERSION`")
        }
        _ if args.folder_of_chart.is_some() => bail!("`get -` takes a folder, because stdin names the chart"),
        _ => {
            let address = address_of(&below.source)?;
            let store = release::open(&address.repo, Path::new("."), args.reach.network())?;
            (meant(&store, &address, wish)?.0, args.folder.clone())
        }
    };
    Ok(Asked { name: address.to_string(), address, folder })
}

/// The name of the directory or file, or else of the repository.
fn name_of(address: &ReleaseAddress) -> Result<PathBuf> {
    let repo = address.repo.to_string();
    let repo = repo.trim_end_matches('/').trim_end_matches(".git");
    let names =
        [address.directory.as_str(), repo].map(|path| path.rsplit(['/', ':']).next().unwrap_or_default().to_owned());
    let name = names.into_iter().find(|name| !name.is_empty() && name != "." && name != "..");
    // A package of one file is a folder, too.
    let bare = |name: String| {
        let end = [".yaml", ".yml", ".json"].into_iter().find_map(|end| Some(name.strip_suffix(end)?.to_owned()));
        end.filter(|bare| !bare.is_empty()).unwrap_or(name)
    };
    let name = name.map(bare);
    name.map(PathBuf::from).context("the folder must be named after the address")
}

fn check_new(folder: &Path) -> Result<()> {
    let is_free = match fs::symlink_metadata(folder) {
        Err(_) => true,
        Ok(found) => found.is_dir() && fs::read_dir(folder).with_context(|| shown(folder))?.next().is_none(),
    };
    if !is_free {
        bail!(
            "{}: the folder must be new or empty; `upgrade` brings a release into a package that is there",
            shown(folder)
        );
    }
    Ok(())
}

/// A file to write.
struct New {
    path: String,
    bytes: Vec<u8>,
    executable: Option<bool>,
}

impl New {
    fn of(Change { path, new, executable, .. }: Change) -> Self {
        Self { path, bytes: new.unwrap_or_default(), executable }
    }
}

/// The files of the new package.
fn files(side: &Side, folder: &Path, record: &Record, paths: &[String]) -> Result<Vec<New>> {
    let new = |held: &Held| {
        Ok(New { path: held.path.clone(), bytes: held.bytes()?.into_owned(), executable: held.executable() })
    };
    let mut files = side.files.iter().map(new).collect::<Result<Vec<_>>>()?;
    let name =
        std::path::absolute(folder)?.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let mut rules = if paths.is_empty() { None } else { Some(with_paths(None, paths)?) };
    let kptfile = files.iter_mut().find(|file| file.path == KPTFILE);
    let place = record.document(kptfile.as_ref().map(|_| RecordDocument::Kptfile));
    if let Some(kptfile) = kptfile {
        let text = String::from_utf8(kptfile.bytes.clone()).context("the Kptfile of the release must be UTF-8")?;
        // kpt names a package after its folder.
        let named = format!("metadata:\n  name: {}\n", plain_or_quoted(&name));
        let record = Some(record).filter(|_| place == RecordDocument::Kptfile);
        kptfile.bytes = as_in_dest(&text, &named, record).context("the Kptfile of the release")?.into_bytes();
    }
    if place == RecordDocument::Rules {
        rules = Some(with_record(rules.as_deref(), place, record)?);
    }
    files.extend(rules.map(|text| New { path: RULES.to_owned(), bytes: text.into_bytes(), executable: None }));
    Ok(files)
}

/// Writes the files into a folder, which then gets its name. An empty folder that is there stays the one that it is: somebody may stand in it.
fn write<'f>(folder: &Path, files: &'f [New]) -> Result<()> {
    let folder = std::path::absolute(folder)?;
    let (parent, name) = folder.parent().zip(folder.file_name()).context("the folder must have a name")?;
    fs::create_dir_all(parent).with_context(|| shown(parent))?;
    // Another user's may lie there, too.
    let leftovers = disk::leftovers_in(parent);
    tracked::refuse(parent, &leftovers)?;
    let _ = disk::clean(parent, &leftovers);
    let signals = Signals::hold()?;
    let write_into = |folder: &Path| {
        let new = |file: &'f New| Replacement {
            file: folder.join(&file.path),
            old: None,
            new: Some(file.bytes.as_slice().into()),
            executable: file.executable,
        };
        disk::write(folder, &files.iter().map(new).collect::<Vec<_>>(), || signals.check())
    };
    if folder.exists() {
        return write_into(&folder);
    }
    let other = parent.join(file_path::temporary_folder(std::process::id(), &name.to_string_lossy()));
    fs::create_dir(&other).with_context(|| shown(&other))?;
    let written = write_into(&other).and_then(|()| {
        check_new(&folder)?;
        fs::rename(&other, &folder).with_context(|| shown(&folder))
    });
    if written.is_err() {
        let _ = fs::remove_dir_all(&other);
    }
    written
}
