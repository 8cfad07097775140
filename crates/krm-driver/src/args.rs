//! The flags of `git-install`, `git-history`, `git-driver` and `resolve`.

use std::path::PathBuf;

use clap::builder::{NonEmptyStringValueParser, OsStringValueParser, TypedValueParser};
use clap::{Args, ValueEnum};
use krm_job::marked::Answer;

/// The files that git merges by field, as patterns of `.gitattributes`.
pub const PATTERNS: [&str; 4] = ["*.yaml", "*.yml", "Kptfile", "Kustomization"];

/// Where the merge driver is installed.
#[derive(Debug, Args)]
pub struct GitInstall {
    /// For all repositories of this user, instead of this one
    #[arg(long)]
    pub global: bool,
    /// Which files git merges by field; may be given several times
    #[arg(long, value_name = "PATTERN", default_values = PATTERNS, value_parser = NonEmptyStringValueParser::new())]
    pub pattern: Vec<String>,
    /// Let the newer version win where both sides set another one: write this rule into `.krm-merge.yaml` of the repository, which you commit
    #[arg(long, conflicts_with_all = ["global", "uninstall"])]
    pub newest: bool,
    /// Register `resolve` as `git mergetool --tool=krm-merge`, and `diff` as `git difftool --tool=krm-merge`, too
    #[arg(long, conflicts_with = "uninstall")]
    pub tools: bool,
    /// Remove the driver and the tools from the configuration, and the driver from the attributes. A rule of `--newest` stays
    #[arg(long, conflicts_with = "pattern")]
    pub uninstall: bool,
    /// Say what would be written, and write nothing
    #[arg(long)]
    pub dry_run: bool,
}

/// Which merges are replayed.
#[derive(Debug, Args)]
pub struct GitHistory {
    /// The commits, as `git log` takes them, such as `v1..main` [default: the history of HEAD]
    #[arg(value_name = "RANGE")]
    pub range: Vec<String>,
    /// Only commits after this date, such as `2024-01-01` or `1.year`
    #[arg(long, value_name = "DATE")]
    pub since: Option<String>,
    /// The commits of all branches and tags
    #[arg(long, conflicts_with = "range")]
    pub all: bool,
    /// What is printed
    #[arg(long, short = 'o', value_enum, default_value_t = HistoryOutput::Text)]
    pub output: HistoryOutput,
}

/// How the counts of a history are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum HistoryOutput {
    /// The counts, and the files in which git and the driver differ, or that are not as committed
    Text,
    /// The counts and every file that both sides changed, for programs
    Json,
    /// The same as `text`, as a comment of a pull request
    Markdown,
    /// Each of these files as git and the driver merge it, beside what was committed
    Diff,
}

/// What git tells a merge driver.
#[derive(Clone, Debug, Args)]
pub struct GitDriver {
    /// %O: the version that both sides come from
    pub original: PathBuf,
    /// %A: our version; the result is written here
    pub ours: PathBuf,
    /// %B: their version
    pub theirs: PathBuf,
    /// %P: the path of the file in the repository
    pub path: Option<PathBuf>,
    /// %L: how long conflict markers are
    #[arg(long, value_name = "LENGTH", default_value_t = 7, value_parser = clap::value_parser!(u16).range(1..))]
    pub marker_size: u16,
    /// %S: the label of the original version
    #[arg(long, value_name = "LABEL", default_value = "original", value_parser = label())]
    pub original_label: String,
    /// %X: the label of our version
    #[arg(long, value_name = "LABEL", default_value = "ours", value_parser = label())]
    pub ours_label: String,
    /// %Y: the label of their version
    #[arg(long, value_name = "LABEL", default_value = "theirs", value_parser = label())]
    pub theirs_label: String,
    /// Merge common ancestors of the sides, as git does first where branches merged each other: no rule decides, and nothing is printed
    #[arg(long)]
    pub common_ancestor: bool,
}

/// A label of a version, such as the first line of a commit message, which need not be UTF-8.
fn label() -> impl TypedValueParser<Value = String> {
    OsStringValueParser::new().map(|label| String::from_utf8_lossy(label.as_encoded_bytes()).into_owned())
}

/// Which conflicts are resolved, and how.
#[derive(Debug, Args)]
pub struct Resolve {
    /// Files and folders with conflict markers [default: the files below the current folder that git lists as unmerged; if there are none,
    /// all files there that git does not ignore]
    pub files: Vec<PathBuf>,
    /// Take one side in each conflict that `--answers` does not answer, and do not ask. `merged` takes neither: it merges by field, and leaves what
    /// both sides changed
    #[arg(long, value_enum, ignore_case = true)]
    pub take: Option<TakeSide>,
    /// A file with answers, one per line, such as `web.yaml:12 ours`, `3 theirs`, `4 both` or `5 newest`. A number alone is the conflict's number in
    /// the list that is printed if nobody can be asked
    #[arg(long, value_name = "FILE")]
    pub answers: Option<PathBuf>,
    /// Write the decisions as rules into this functionConfig, with the values that they were made for. The file may be new. The
    /// same upgrade with `--config FILE` does not ask for them again. Without FILE, it is the `.krm-merge.yaml` of the package, which needs
    /// no `--config`
    #[arg(long, value_name = "FILE")]
    pub record: Option<Option<PathBuf>>,
    /// Run `git add` for the files in which no conflict is left
    #[arg(long)]
    pub git_add: bool,
}

/// Whose lines are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum TakeSide {
    /// Those of the first half
    #[value(alias = "dest")]
    Ours,
    /// Those of the last half
    #[value(alias = "updated")]
    Theirs,
    /// What a merge by field takes, as the merge driver does it
    Merged,
}

impl TakeSide {
    /// The answer to each conflict, if it is the same one.
    pub(crate) const fn answer(self) -> Option<Answer> {
        match self {
            Self::Ours => Some(Answer::Ours),
            Self::Theirs => Some(Answer::Theirs),
            Self::Merged => None,
        }
    }
}
