//! `git-install`: registers the driver with git for the files that match some patterns.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use krm_files::command::is_plugin;
use krm_files::credentials;
use krm_files::disk::{self, Replacement};
use krm_files::regular;
use krm_files::signals::Signals;
use krm_files::walk::{c_quoted, path_of, shown};
use krm_folders::end::End;
use krm_git::program::{self, In};
use krm_git::tracked;
use krm_names::file_path::RULES;
use krm_show::args::Color;
use krm_show::screen::{self, Page, Reader};
use krm_words::Word;
use krm_yaml::shown::misleads;

use crate::args::GitInstall;
use crate::repository::CACHE;
use crate::resolve::with_newest;

/// The names of this program: as kubectl's plugin, and its own.
const NAMES: [&str; 2] = ["kubectl-krm_merge", "krm-merge"];

/// The name of the driver in git's configuration.
const DRIVER: &str = "krm-merge";

/// The name of the driver that merges common ancestors. git has a setting for such a driver, and every git knows it. An old git does not
/// tell a driver by labels that it merges ancestors.
const ANCESTORS: &str = "krm-merge-ancestors";

/// Writes the missing configuration and attributes, and reports them.
///
/// # Errors
/// There is no repository here; or git or the disk refuses a change.
pub fn install(args: &GitInstall) -> Result<End> {
    if !args.global {
        check_repository(
            "go to the folder of one, begin one with `git init`, or add `--global` for all repositories of this user",
        )?;
    }
    if args.uninstall {
        return uninstall(args);
    }
    let scope = if args.global { "--global" } else { "--local" };
    let attributes = if args.global { global_attributes()? } else { attributes_of_repository()? };
    let old = read(&attributes)?;
    let text = old.as_deref().unwrap_or_default();
    let missing: Vec<String> = args
        .pattern
        .iter()
        .map(|pattern| attribute(pattern))
        .filter(|line| !text.lines().any(|l| l.split_whitespace().eq(line.split_whitespace())))
        .collect();
    let mut page = Page::new(Reader::of_stdout(Color::Auto));
    let is_set = |key: &str, value: &str| git(&["config", scope, "--get", key]).is_ok_and(|there| there == value);
    let mut settings = settings().to_vec();
    if args.tools {
        settings.extend(tools());
    }
    let open: Vec<_> = settings.iter().filter(|(key, value)| !is_set(key, value)).collect();
    let rules = if args.newest { NewRules::of_repository()? } else { None };
    let files_too = || {
        if let Some(NewRules { file, old, new }) = &rules {
            replace(file, old.as_deref(), Some(new), args)?;
        }
        if missing.is_empty() {
            return Ok(());
        }
        let end = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
        let new = format!("{text}{end}{}\n", missing.join("\n"));
        replace(&attributes, old.as_deref(), Some(&new), args)
    };
    match args.dry_run {
        true => files_too()?,
        false => configure(scope, &open, files_too)?,
    }
    for (key, value) in &open {
        page.line(&format!("git config {scope} {key} '{value}'"));
    }
    if open.is_empty() && missing.is_empty() && rules.is_none() {
        page.line(&format!("nothing changed: git's configuration and {} have it already", shown(&attributes)));
    }
    for line in &missing {
        page.line(&format!("{}: {line}", shown(&attributes)));
    }
    if let Some(NewRules { file, .. }) = &rules {
        page.line(&format!("{}: take: Newest", shown(file)));
    }
    if !args.global && !args.dry_run && (rules.is_some() || !missing.is_empty()) {
        page.message(Word::Next, "commit these files; each clone of the repository needs `git-install` once");
    }
    page.print()?;
    Ok(End::Done)
}

/// The rules of a repository that lack the one for newer versions.
struct NewRules {
    file: PathBuf,
    old: Option<String>,
    /// The text with this rule.
    new: String,
}

impl NewRules {
    /// Those of the repository here; `None` if they have the rule.
    fn of_repository() -> Result<Option<Self>> {
        let file = path_of(&git_bytes(&["rev-parse", "--show-toplevel"])?).join(RULES);
        regular::own(&file).with_context(|| shown(&file))?;
        let old = read(&file)?;
        let new = with_newest(&shown(&file), old.clone())?;
        Ok(new.map(|new| Self { file, old, new }))
    }
}

/// The configuration of git that registers the commands for conflicts and differences.
fn tools() -> [(String, String); 3] {
    let program = program();
    [
        (format!("mergetool.{DRIVER}.cmd"), format!("{program} resolve \"$MERGED\"")),
        (format!("mergetool.{DRIVER}.trustExitCode"), "true".to_owned()),
        (format!("difftool.{DRIVER}.cmd"), format!("{program} diff \"$LOCAL\" \"$REMOTE\"")),
    ]
}

/// The configuration of git that registers the driver.
pub fn settings() -> [(String, String); 5] {
    let settings = [
        (DRIVER, "name", "merge of Kubernetes resources by field".to_owned()),
        (DRIVER, "driver", command("git-driver")),
        (DRIVER, "recursive", ANCESTORS.to_owned()),
        (ANCESTORS, "name", "merge of common ancestors by field".to_owned()),
        (ANCESTORS, "driver", command("git-driver --common-ancestor")),
    ];
    settings.map(|(driver, key, value)| (format!("merge.{driver}.{key}"), value))
}

/// The line of `.gitattributes` that names the driver for the files of a pattern.
pub fn attribute(pattern: &str) -> String {
    format!("{} merge={DRIVER}", quoted(pattern))
}

/// Writes settings of git, and then what belongs to them.
///
/// # Errors
/// One of both cannot be written; then neither is.
fn configure(scope: &str, open: &[&(String, String)], rest: impl FnOnce() -> Result<()>) -> Result<()> {
    let mut done = Vec::new();
    let mut settings = open.iter().map(|(key, value)| {
        let was = git(&["config", scope, "--get", key]).ok();
        git(&["config", scope, key, value])?;
        done.push((key, was));
        Ok(())
    });
    let written = settings.by_ref().collect::<Result<()>>();
    drop(settings);
    let Err(e) = written.and_then(|()| rest()) else { return Ok(()) };
    for (key, was) in done.iter().rev() {
        let undone = match was {
            Some(was) => git(&["config", scope, key, was]),
            None => git(&["config", scope, "--unset-all", key]),
        };
        undone.with_context(|| format!("{key} could not be put back"))?;
    }
    Err(e)
}

/// Removes the driver from the configuration and the attributes, and reports what was removed.
fn uninstall(args: &GitInstall) -> Result<End> {
    let scope = if args.global { "--global" } else { "--local" };
    let attributes = if args.global { global_attributes()? } else { attributes_of_repository()? };
    let mut page = Page::new(Reader::of_stdout(Color::Auto));
    let old = read(&attributes)?;
    let text = old.as_deref().unwrap_or_default();
    let (new, went) = without_driver(text);
    if !went.is_empty() {
        replace(&attributes, old.as_deref(), Some(new.as_str()).filter(|new| !new.is_empty()), args)?;
    }
    let is_set = |section: &String| {
        git(&["config", scope, "--get-regexp", &format!("^{}\\.", section.replace('.', "\\."))]).is_ok()
    };
    let sections = [("merge", DRIVER), ("merge", ANCESTORS), ("mergetool", DRIVER), ("difftool", DRIVER)];
    let set: Vec<String> = sections.map(|(kind, name)| format!("{kind}.{name}")).into_iter().filter(is_set).collect();
    for section in &set {
        if !args.dry_run {
            git(&["config", scope, "--remove-section", section])?;
        }
        page.line(&format!("git config {scope} --remove-section {section}"));
    }
    if !args.global && !args.dry_run {
        forget();
    }
    if set.is_empty() && went.is_empty() {
        page.line(&format!(
            "nothing changed: neither the configuration of git nor {} names the driver",
            shown(&attributes)
        ));
    }
    for line in went {
        page.line(&format!("{}: without {line}", shown(&attributes)));
    }
    page.print()?;
    Ok(End::Done)
}

/// Removes the kept list of definitions from the git directory. A failure is ignored, because the list can be rebuilt.
fn forget() {
    let Ok(cache) = git_bytes(&["rev-parse", "--git-path", CACHE]) else { return };
    let cache = path_of(&cache);
    let _ = fs::remove_file(&cache);
    let _ = cache.parent().map(fs::remove_dir);
}

/// The attributes without the driver, and the lines that named it. If a line has other attributes, they stay.
fn without_driver(text: &str) -> (String, Vec<&str>) {
    let attribute = format!("merge={DRIVER}");
    let (mut out, mut went) = (String::new(), Vec::new());
    for line in text.split_inclusive('\n') {
        let bare = line.trim();
        let is_one = !bare.starts_with('#') && attributes_of(bare).split_whitespace().any(|word| word == attribute);
        if !is_one {
            out.push_str(line);
            continue;
        }
        went.push(bare);
        let at = line.rfind(&attribute).unwrap_or_default();
        let rest = format!("{}{}", line[..at].trim_end(), &line[at + attribute.len()..]);
        if !attributes_of(&rest).trim().is_empty() {
            out.push_str(&rest);
        }
    }
    (out, went)
}

/// The attributes in a line of `.gitattributes`, after the pattern. The pattern may be a C string with spaces.
fn attributes_of(line: &str) -> &str {
    let line = line.trim_start();
    let Some(quoted) = line.strip_prefix('"') else {
        return line.split_once([' ', '\t']).map_or("", |(_, rest)| rest);
    };
    let mut is_escaped = false;
    let end = quoted.find(|c| {
        let ends = c == '"' && !is_escaped;
        is_escaped = c == '\\' && !is_escaped;
        ends
    });
    end.map_or("", |end| &quoted[end + 1..])
}

fn read(attributes: &Path) -> Result<Option<String>> {
    match fs::read_to_string(attributes) {
        Ok(text) => Ok(Some(text)),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(e) => Err(e).with_context(|| shown(attributes)),
    }
}

/// Replaces the text of the attributes file.
fn replace<'t>(attributes: &Path, old: Option<&'t str>, new: Option<&'t str>, args: &GitInstall) -> Result<()> {
    let bytes = |text: &'t str| text.as_bytes().into();
    let (folder, name) = attributes.parent().zip(attributes.file_name()).context("the attributes must be a file")?;
    // The folder may be a symbolic link: several worktrees may share one repository, and a user may keep settings elsewhere.
    let folder = &fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned());
    let replacement =
        Replacement { file: folder.join(name), old: old.map(bytes), new: new.map(bytes), executable: None };
    if args.dry_run {
        return disk::look(folder, &[replacement]);
    }
    screen::tell_repaired(&disk::repair_beside(folder, tracked::refuse)?);
    let signals = Signals::hold()?;
    disk::write(folder, &[replacement], || signals.check())
}

/// A pattern as `.gitattributes` requires it: a C string if it has white space or invisible characters.
fn quoted(pattern: &str) -> String {
    let is_bare = !pattern.starts_with('"') && !pattern.contains(|c: char| c.is_whitespace() || misleads(c));
    if is_bare { pattern.to_owned() } else { c_quoted(pattern, |c| !misleads(c)) }
}

/// The command that git gives to a shell. If the program is not there, or does not know these arguments, git's own merge by line takes its
/// place: git takes each exit code up to 128 for a conflict that is marked in the file, and nobody would see what theirs had.
///
/// An old git does not know the labels, and leaves `%X` as it is. It also knows only one algorithm for a file: see `driver.rs`.
fn command(driver: &str) -> String {
    let merged = format!(
        "{} {driver} --marker-size=%L --original-label=%S --ours-label=%X --theirs-label=%Y -- %O %A %B %P",
        program()
    );
    let steps = [
        &*merged,
        "code=$?",
        "[ $code -gt 1 ] && [ $code -lt 128 ] || exit $code",
        "x=%X s=%S y=%Y",
        r#"[ "$x" != %%X ] || { x=ours s=original y=theirs; }"#,
        r#"lines() { git merge-file -q "$@" --marker-size=%L -L "$x" -L "$s" -L "$y" %A %O %B; }"#,
        "lines --diff-algorithm=histogram",
        "code=$?",
        "[ $code -ne 129 ] || { lines; code=$?; }",
        // git cannot merge the lines of a file that is not text, and leaves ours.
        "[ $code -lt 128 ] || code=1",
        "exit $code",
    ];
    steps.join("; ")
}

/// The command by which git calls this program: the name by which it was called if `PATH` finds this program by it, or its other name, otherwise
/// its path.
fn program() -> String {
    let called = if is_plugin() { NAMES } else { [NAMES[1], NAMES[0]] };
    let Ok(own) = std::env::current_exe() else { return called[0].to_owned() };
    let own = fs::canonicalize(&own).unwrap_or(own);
    let path = std::env::var_os("PATH").unwrap_or_default();
    let is_own = |name: &str| {
        let found = std::env::split_paths(&path).map(|folder| folder.join(name)).find(|file| file.is_file());
        found.and_then(|file| fs::canonicalize(file).ok()).is_some_and(|found| found == own)
    };
    match called.into_iter().find(|name| is_own(name)) {
        Some(name) => name.to_owned(),
        None => format!("'{}'", own.to_string_lossy().replace('\'', "'\\''").replace('%', "%%")),
    }
}

/// The attributes file of the repository. git does not follow a symbolic link there, so it must not be one.
fn attributes_of_repository() -> Result<PathBuf> {
    let file = path_of(&git_bytes(&["rev-parse", "--show-toplevel"])?).join(".gitattributes");
    regular::itself(&file).with_context(|| shown(&file))?;
    Ok(file)
}

/// The attributes file of this user. A symbolic link is followed, because it is the user's own.
fn global_attributes() -> Result<PathBuf> {
    let named = named_attributes()?;
    let file = fs::canonicalize(&named).unwrap_or(named);
    regular::itself(&file).with_context(|| shown(&file))?;
    Ok(file)
}

fn named_attributes() -> Result<PathBuf> {
    if let Ok(file) = git_bytes(&["config", "--global", "--type=path", "core.attributesFile"]) {
        return Ok(path_of(&file));
    }
    let folder = |name| std::env::var_os(name).filter(|v: &std::ffi::OsString| !v.is_empty());
    let config = folder("XDG_CONFIG_HOME").map(PathBuf::from);
    let config = config.or_else(|| folder("HOME").map(|home| Path::new(&home).join(".config")));
    Ok(config.context("`HOME` must be set")?.join("git").join("attributes"))
}

fn git(args: &[&str]) -> Result<String> {
    Ok(String::from_utf8_lossy(&git_bytes(args)?).into_owned())
}

/// Checks that the current folder is in a repository. `to_do` is what a user does who stands in none.
///
/// # Errors
/// It is in none.
pub fn check_repository(to_do: &str) -> Result<()> {
    git_bytes(&["rev-parse", "--git-dir"])
        .map(drop)
        .with_context(|| format!("git must find a repository here: {to_do}"))
}

/// git's output, without the line break at its end.
fn git_bytes(args: &[&str]) -> Result<Vec<u8>> {
    let output = program::git(In::Environment).args(args).output().context("git must be on PATH")?;
    if !output.status.success() {
        let told = String::from_utf8_lossy(&output.stderr);
        bail!("git {}: {}", args.join(" "), credentials::hidden(&told.trim().lines().collect::<Vec<_>>().join("; ")));
    }
    let breaks = output.stdout.iter().rev().take_while(|byte| **byte == b'\n').count();
    Ok(output.stdout[..output.stdout.len() - breaks].to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_driver_goes_from_the_attributes() {
        for (text, left, went) in [
            ("*.yaml merge=krm-merge\n*.yml merge=krm-merge\n", "", 2),
            ("# merge=krm-merge\n*.go text\n*.yaml merge=krm-merge\n", "# merge=krm-merge\n*.go text\n", 1),
            ("*.yaml text merge=krm-merge eol=lf\n", "*.yaml text eol=lf\n", 1),
            ("*.yaml merge=krm-merge text\r\n", "*.yaml text\r\n", 1),
            ("\"a b\\\" c.yaml\" merge=krm-merge\n\"a merge=krm-merge\" text\n", "\"a merge=krm-merge\" text\n", 1),
            ("*.yaml merge=krm-merge-2\n*.yml merge=union", "*.yaml merge=krm-merge-2\n*.yml merge=union", 0),
        ] {
            let (out, lines) = without_driver(text);
            assert_eq!((out.as_str(), lines.len()), (left, went), "{text}");
        }
    }
}
