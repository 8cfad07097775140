//! The file with recorded rules.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow};
use krm_files::disk::Replacement;
use krm_files::regular;
use krm_files::walk::{shown, there};
use krm_folders::config_file::{ConfigFile, NEW};
use krm_job::config::{API_VERSION, Given, KIND, Mode};
use krm_job::recorded::{self, Rule};
use krm_names::file_path::RULES;
use krm_words::counted;

/// The file for recorded rules.
#[derive(Debug)]
pub struct Book {
    name: String,
    disk: PathBuf,
    old: Option<String>,
    /// The text of a new file with the rules of a package.
    new: Option<String>,
}

impl Book {
    /// Opens a file, which need not exist yet.
    ///
    /// # Errors
    /// The file cannot be read, or is not a file for rules.
    pub fn open(file: &Path) -> Result<Self> {
        let name = shown(file);
        regular::own(file).with_context(|| format!("`--record` \"{name}\""))?;
        let old = match fs::read_to_string(file) {
            Ok(text) => Some(text),
            Err(e) if e.kind() == io::ErrorKind::NotFound => None,
            Err(e) => return Err(e).context(name),
        };
        let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let file_name = file.file_name().ok_or_else(|| anyhow!("{name}: it must be a file"))?;
        there("--record", "a folder for it", folder)?;
        let new = || Ok::<_, anyhow::Error>(fs::canonicalize(folder).with_context(|| shown(folder))?.join(file_name));
        let disk = if old.is_some() { fs::canonicalize(file).with_context(|| name.clone())? } else { new()? };
        let is_empty = |text: &String| text.trim().is_empty();
        let is_rules = file_name == RULES && old.as_ref().is_none_or(is_empty);
        with_rules(&name, old.clone(), &[])?;
        if old.as_ref().is_some_and(|text| !text.trim().is_empty()) {
            let given = Given { mode: Some(Mode::ThreeWay), ..Given::default() };
            ConfigFile::read(name.clone(), file)?.config(given)?;
        }
        Ok(Self { name, disk, old, new: is_rules.then(|| NEW.to_owned()) })
    }

    /// The change that adds rules to the file; `None` if nothing changes.
    ///
    /// # Errors
    /// The errors of [`with_rules`].
    pub fn with(&self, rules: &[Rule]) -> Result<Option<Replacement<'static>>> {
        if rules.is_empty() {
            return Ok(None);
        }
        let new = with_rules(&self.name, self.new.clone().or_else(|| self.old.clone()), rules)?;
        let is_same = self.old.as_ref() == Some(&new);
        let old = self.old.clone().map(|text| text.into_bytes().into());
        let replacement =
            Replacement { file: self.disk.clone(), old, new: Some(new.into_bytes().into()), executable: None };
        Ok((!is_same).then_some(replacement))
    }

    /// The message with the number of recorded rules.
    pub fn told(&self, rules: &[Rule]) -> String {
        match (rules, &self.old) {
            ([], None) => format!("recorded no decision: {} is not written", self.name),
            ([], Some(_)) => format!("recorded no decision: {} stays as it is", self.name),
            (rules, _) => format!("recorded {} in {}", counted(rules.len(), "decision"), self.name),
        }
    }
}

/// The text of a functionConfig with additional rules. If `old` is missing or empty, the functionConfig is new.
///
/// # Errors
/// The text is not a functionConfig of a three-way merge.
fn with_rules(name: &str, old: Option<String>, rules: &[Rule]) -> Result<String> {
    let head = "# Decisions of `krm-merge resolve`: the same upgrade with `three-way --config` and this file does not ask for them again.";
    let new = format!(
        "{head}\napiVersion: {API_VERSION}\nkind: {KIND}\nmetadata:\n  name: decisions\nspec:\n  mode: ThreeWay\n"
    );
    let old = old.filter(|text| !text.trim().is_empty()).unwrap_or(new);
    recorded::with_rules(name, old, rules)
}

/// The text of the rules of a repository, with one that takes the newer version of each place. It comes last, because the first rule that fits
/// decides, but before a rule for all places. `None` if the repository has it.
///
/// # Errors
/// The text is not a functionConfig of a three-way merge.
pub fn with_newest(name: &str, old: Option<String>) -> Result<Option<String>> {
    const NEW: &str = "# How `git merge` decides conflicts in this repository: see `krm-merge git-install --help`.\napiVersion: krm-merge.dev/v1alpha1\nkind: Merge\nmetadata:\n  name: repository\n  annotations:\n    config.kubernetes.io/local-config: \"true\"\nspec:\n";
    let old = old.filter(|text| !text.trim().is_empty());
    let text = match &old {
        // A map without a field is no map.
        None => return Ok(Some(format!("{NEW}  rules:\n  - take: Newest\n"))),
        Some(old) => recorded::with_last_rules(name, old.clone(), &[Rule::newest_of_all()])?,
    };
    Ok((old.as_ref() != Some(&text)).then_some(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_stand_in_a_new_config() {
        let text = with_rules("x", None, &[Rule::newest_of_all()]).expect("written");
        assert!(text.starts_with("# Decisions of `krm-merge resolve`"), "{text}");
        let without = with_rules("x", None, &[]).expect("written");
        assert_eq!(text, format!("{without}  rules:\n  - take: Newest\n"));
    }

    #[test]
    fn the_rule_for_newer_versions_is_written_once() {
        let text = with_newest("x", None).expect("written").expect("a text");
        assert!(text.ends_with("spec:\n  rules:\n  - take: Newest\n"), "{text}");
        assert_eq!(with_newest("x", Some(text)).expect("written"), None);
        let none = with_newest(
            "x",
            Some("apiVersion: krm-merge.dev/v1alpha1\nkind: Merge\nspec:\n  renames: Ignore\n".to_owned()),
        );
        assert!(none.expect("written").expect("a text").ends_with("  renames: Ignore\n  rules:\n  - take: Newest\n"));
    }
}
