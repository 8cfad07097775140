//! The command line: its commands and flags, and their texts in `--help`.

use std::path::PathBuf;

use clap::{Arg, Args, CommandFactory, Parser, Subcommand, ValueEnum};
use krm_driver::args::{GitDriver, GitHistory, GitInstall, Resolve};
use krm_git::store::Network;
#[cfg(feature = "live")]
use krm_live::args::{Ask, Live};
use krm_merge_core::policy;
use krm_show::args::{Color, MaxOutput, Output, Reviewed};

use crate::manual;
#[cfg(not(feature = "live"))]
use crate::no_cluster::Ask;

/// Merge Kubernetes resources in files, folders, git and a cluster, and leave every other byte as it was.
#[derive(Debug, Parser)]
#[command(version, after_help = manual::of("plugin"), max_term_width = 120, disable_help_subcommand = true)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

// The flag of all commands, but for those whose output is for programs. clap would take a doc comment for what each of them does.
#[derive(Debug, Args)]
struct OfAll {
    /// Whether the output has colours
    #[arg(long, value_enum, value_name = "WHEN", default_value_t = Color::Auto)]
    color: Color,
}

// The same for commands that have the first one already.
#[derive(Debug, Args)]
struct OfEach {
    /// Print no list of what was done, no `info` and no `next`: only data, errors, conflicts and warnings
    #[arg(long, short)]
    quiet: bool,
}

// The same for commands that may ask a registry.
#[derive(Debug, Args)]
struct OfRegistries {
    /// Ask OCI registries without TLS, for a registry of your own. One on this machine needs no flag
    #[arg(long)]
    plain_http: bool,
}

/// The command line, with the flags of all commands at each.
pub fn command() -> clap::Command {
    const OF_REGISTRIES: [&str; 7] = ["get", "upgrade", "list", "log", "diff", "extract", "three-way"];
    const FOR_PROGRAMS: [&str; 4] = ["completion", "man", "git-driver", "complete"];
    Cli::command().mut_subcommands(|command| {
        let name = command.get_name().to_owned();
        let command = command.after_help(manual::of(&name)).mut_args(|arg| of_command(&name, arg));
        let asks = OF_REGISTRIES.contains(&&*name);
        let command = if asks { OfRegistries::augment_args(command) } else { command };
        let has_it = command.get_arguments().any(|arg| arg.get_id() == "color");
        match FOR_PROGRAMS.contains(&command.get_name()) {
            true => command,
            false if has_it => OfEach::augment_args(command),
            false => OfEach::augment_args(OfAll::augment_args(command)),
        }
    })
}

/// A flag that several commands have, as it is in one of them.
fn of_command(command: &str, flag: Arg) -> Arg {
    let help = flag.get_help().map(ToString::to_string).unwrap_or_default();
    match (command, flag.get_id().as_str()) {
        ("upgrade", "on_conflict") => flag.help(help.replace("[default: take-updated]", "[default: mark]")),
        ("upgrade", "output") => flag.help("What is printed [default: nothing; diff with --dry-run]"),
        ("upgrade", "in_place") => flag.help(help.replace("that change.", "that change also with `-o` or `--stat`.")),
        ("strategic", "infer_merge_keys") => flag.help(help.replace("true", "false")),
        ("extract", "infer_merge_keys") => flag.help(help.replace("true", "true; with `--mode strategic`: false")),
        // A patch is never in conflict.
        ("two-way" | "strategic", "conflicts_exit_code") => flag.hide(true),
        _ => flag,
    }
}

/// The subcommands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Copy a release of upstream into a new folder, and record where it comes from
    Get(Get),
    /// Upgrade packages to a new release of their upstreams, which the packages record, and keep local edits
    Upgrade(Box<Upgrade>),
    /// Resolve conflicts between the markers of git or any other tool: one by one in the terminal, or all at once
    Resolve(Resolve),
    /// List the packages below a folder: what each has, wants and could get, how far it is behind, and how much of it you changed
    List(List),
    /// Compare two files or folders by resource and field, not by line; or a package with a release of its upstream
    Diff(Diff),
    /// Review your values over charts, and your patches over kustomize bases, before you raise these: what a new version does not read or
    /// have, what hides a change, and what can go. It finds them in HelmReleases, Applications, kustomizations, `Chart.yaml` files, helmfiles
    /// and packages
    Review(Review),
    /// Print upstream's commits of a package's folder, from the release that it has to the one that an upgrade would take
    Log(Log),
    /// Apply to dest what changed from original to updated: an upgrade that keeps local edits
    ThreeWay {
        #[command(flatten)]
        releases: Releases,
        #[command(flatten)]
        deciding: Deciding,
        #[command(flatten)]
        dest: Dest,
        #[command(flatten)]
        common: Common,
    },
    /// Set the values of a source in dest; null removes
    TwoWay {
        #[command(flatten)]
        source: Source,
        #[command(flatten)]
        dest: Dest,
        #[command(flatten)]
        common: Common,
    },
    /// Apply patches with directives by the merge keys of the types, as `kubectl patch` does
    Strategic {
        #[command(flatten)]
        source: Source,
        #[command(flatten)]
        dest: Dest,
        #[command(flatten)]
        common: Common,
    },
    /// Merge texts for a program: it gives JSON on stdin and gets JSON on stdout; `three-way` merges files
    Merge,
    /// Print the smallest patch that turns original into dest, to the byte: the changes of a fork as an overlay
    Extract(Extract),
    /// Print how each list of a type merges, and who says so
    Explain(Explain),
    #[cfg(feature = "live")]
    /// Show what applying files would change in a cluster, and what someone changed there since the last apply; `--apply` sends the changes
    Live(Live),
    /// Make git merge Kubernetes YAML by field: write the configuration of this clone, and lines of `.gitattributes`, which you commit;
    /// `--uninstall` removes both
    GitInstall(GitInstall),
    /// Merge once more what this repository merged, with git alone and with the driver, and count the conflicts; nothing is changed
    GitHistory(GitHistory),
    /// Merge a file for git, which runs `git-driver %O %A %B %P`
    GitDriver(GitDriver),
    /// Print what was fetched and is kept: the address, the size and the last use of each repository; `--clear` removes it
    Cache(Cache),
    /// Print a script that completes this program in a shell, or the program that completes `kubectl krm-merge` in kubectl
    Completion {
        /// The shell; for `kubectl`, the output is the program `kubectl_complete-krm_merge`, which kubectl runs to complete
        /// `kubectl krm-merge`
        shell: Shell,
    },
    /// Print the man page of the plugin, or of one of its commands, for `man -l -`
    Man {
        /// The command; without one, the page is that of the plugin
        command: Option<String>,
    },
    /// Print help, or that of a command, as `--help` does
    Help {
        /// The command; without one, the help is that of the plugin
        command: Option<String>,
    },
    /// Print the version, as `--version` does
    Version,
    /// Print the possible values of the last word, for kubectl
    #[command(hide = true)]
    Complete {
        /// The words of the command line
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        words: Vec<String>,
    },
}

/// Where sources come from.
#[derive(Debug, Args)]
pub struct Source {
    /// What is merged into dest: a file, a folder, a release in git, or `-` for stdin; may be given several times
    #[arg(long, short = 's', value_name = "PATH")]
    pub source: Vec<String>,
    /// A source, as for `--source`, or the patch itself as YAML or JSON text
    #[arg(long, short = 'p', value_name = "PATH|TEXT")]
    pub patch: Vec<String>,
    /// Apply the sources to every resource of dest that this selects, instead of the resources with their identity: `deployment/web`, or
    /// `kind=Deployment,name=web-.*`. The fields are `group`, `version`, `kind`, `name`, `namespace`, `labelSelector`,
    /// `annotationSelector` and `path`
    #[arg(long, value_name = "KIND/NAME|FIELD=VALUE,...")]
    pub target: Option<String>,
}

/// The two states of upstream.
#[derive(Debug, Args)]
pub struct Releases {
    /// The state of upstream that dest comes from: a file, a folder, a release in git, such as `.git/deploy@v1`, or `-` for stdin
    #[arg(long, value_name = "PATH", required_unless_present = "config")]
    pub original: Option<String>,
    /// The new state of upstream; it must hold at least one resource if original does
    #[arg(long, value_name = "PATH", required_unless_present = "config")]
    pub updated: Option<String>,
}

/// Who wins, and what counts as a conflict.
#[derive(Debug, Default, Args)]
pub struct Deciding {
    /// Who wins if dest and updated both changed something; each case is reported [default: take-updated]. With `--config`, only
    /// `mark` is allowed
    #[arg(long, value_enum, ignore_case = true)]
    pub on_conflict: Option<InConflict>,
    /// Whether both sides may change the same list without keys, or the same text, without a conflict [default: line]
    #[arg(long, value_enum, ignore_case = true, conflicts_with = "config")]
    pub conflict_level: Option<ConflictLevel>,
    /// Whether a resource that has another name or namespace on a side is found again [default: follow]
    #[arg(long, value_enum, ignore_case = true, conflicts_with = "config")]
    pub renames: Option<Renames>,
}

/// How lists merge.
#[derive(Clone, Debug, Default, Args)]
pub struct Lists {
    /// Whether lists of unknown types merge by their elements' keys [default: true]
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub infer_merge_keys: Option<bool>,
    /// How a list merges, ahead of every schema: `apiVersion=example.com/v1,kind=Rollout,path=spec.steps,keys=name`. Several keys are
    /// `keys=port,protocol`. A list without keys has `set=true` or `atomic=true` instead. It may also be a line of `mergeKeys`, as a warning shows
    /// it. May be given several times
    #[arg(long, value_name = "FIELD=VALUE,...")]
    pub merge_keys: Vec<String>,
    /// An OpenAPI v2 document with further types
    #[arg(long, value_name = "FILE")]
    pub openapi: Option<PathBuf>,
}

/// What is merged into.
#[derive(Debug, Args)]
pub struct Dest {
    /// The resources to merge into: a file, a folder (a package: .yaml, .yml, .json, Kptfile and Kustomization; `.krmignore` is
    /// honoured), or `-` for stdin
    #[arg(long, short = 'd', value_name = "PATH")]
    pub dest: String,
}

/// What becomes of the cache.
#[derive(Debug, Args)]
pub struct Cache {
    /// Remove all that no other run uses
    #[arg(long)]
    pub clear: bool,
}

/// Where releases come from.
#[derive(Debug, Args)]
pub struct Reach {
    /// Do not use the network: only what was fetched before
    #[arg(long)]
    pub offline: bool,
}

impl Reach {
    /// Whether git may use the network.
    pub fn network(&self) -> Network {
        if self.offline { Network::Offline } else { Network::Online }
    }
}

/// Which packages are upgraded, and to what.
#[derive(Debug, Args)]
pub struct Upgrade {
    /// The folders of the packages [default: the current folder]
    #[arg(value_name = "PACKAGE")]
    pub packages: Vec<PathBuf>,
    /// Upgrade all packages below these folders that record their upstream, those that lie in others first
    #[arg(long)]
    pub all: bool,
    /// The release to upgrade to: a tag, branch or commit [default: what the record wants, if the package has another one; or the branch that
    /// it records; or else the newest release by its version]. A range, such as `^1.4`, takes the newest release in it, also later. A
    /// pre-release is taken by itself only if the package has another one of the same release
    #[arg(long, value_name = "REF")]
    pub to: Option<String>,
    /// Where the package comes from, if it does not record it or that changed: REPO.git/DIRECTORY, with every address that git can fetch
    #[arg(long, value_name = "SOURCE")]
    pub upstream: Option<String>,
    /// The release that the package has, if it does not record it
    #[arg(long, value_name = "REF")]
    pub from: Option<String>,
    /// Write nothing, and print a line for each package: what it has, what is newest, how many local changes there are, and how many
    /// conflicts to expect; as data with `-o json`. Exit with 1 if something is newer or wanted
    #[arg(long, conflicts_with_all = ["stat", "in_place", "dry_run"])]
    pub check: bool,
    /// Put the packages, their records and git's index back as they were before the last run on them, which nobody committed: an upgrade, a
    /// merge `--in-place`, and what `resolve` decided of it. It names what you changed since. With `--dry-run`, it does only that
    #[arg(long, conflicts_with_all = ["to", "upstream", "from", "check", "offline", "allow_dirty", "allow_exec", "helm", "Deciding", "config", "new_elements", "Lists", "max_output", "output", "without_local_config", "stat", "in_place", "exit_code", "conflicts_exit_code"])]
    pub abort: bool,
    #[command(flatten)]
    pub reach: Reach,
    /// Also upgrade packages that are not committed as a whole, or where git cannot say so
    #[arg(long)]
    pub allow_dirty: bool,
    /// Run the commands that packages record as their upstream
    #[arg(long)]
    pub allow_exec: bool,
    /// Run `helm` to render the charts of packages that record `render`
    #[arg(long)]
    pub helm: bool,
    #[command(flatten)]
    pub deciding: Deciding,
    #[command(flatten)]
    pub common: Common,
}

impl Upgrade {
    /// Whether packages are written.
    pub fn writes(&self) -> bool {
        let Common { in_place, dry_run, output, stat, .. } = &self.common;
        !self.check && !dry_run && (*in_place || output.is_none() && !stat)
    }
}

/// Which packages are listed.
#[derive(Debug, Args)]
pub struct List {
    /// The folder below which packages are looked for [default: the current folder]
    #[arg(value_name = "FOLDER")]
    pub root: Option<PathBuf>,
    /// What is printed
    #[arg(long, short = 'o', value_enum, default_value_t = Listed::Table)]
    pub output: Listed,
    #[command(flatten)]
    pub reach: Reach,
}

/// How packages are listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Listed {
    /// A line for each package
    Table,
    /// The same with the directory and the commit
    Wide,
    /// The folders
    Name,
    /// A list with all that is known, for programs
    Json,
}

/// Which values are reviewed, and against what.
#[derive(Debug, Args)]
pub struct Review {
    /// The files and folders with values, or with what lays them over a chart [default: the current folder]
    #[arg(value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    /// The version of the chart to compare with [default: the newest]
    #[arg(long, value_name = "VERSION", conflicts_with = "base")]
    pub to: Option<String>,
    /// Compare the versions in the files with those in this branch, tag or commit, as for a pull request of Renovate
    #[arg(long, value_name = "REF")]
    pub base: Option<String>,
    /// What is printed
    #[arg(long, short = 'o', value_enum, default_value_t = Reviewed::Text)]
    pub output: Reviewed,
    /// Run `helm` to render both versions of each chart with your values: it tells whether the new version still renders, and of more values that
    /// they are gone
    #[arg(long)]
    pub helm: bool,
    /// The version of Kubernetes that the charts see [default: the newest one that helm knows]
    #[arg(long, value_name = "VERSION", requires = "helm")]
    pub kube_version: Option<String>,
    /// An API version that the charts see. May be given several times
    #[arg(long, value_name = "VERSION", requires = "helm")]
    pub api_versions: Vec<String>,
    /// Raise each version where it is written, and move values whose place has another name
    #[arg(long, short = 'i')]
    pub in_place: bool,
    /// Remove values that are the default of the new version
    #[arg(long, requires = "in_place")]
    pub drop_same: bool,
    /// Remove values that the new version does not read
    #[arg(long, requires = "in_place")]
    pub drop_gone: bool,
    /// What becomes of a value that hides a default which the new version changes
    #[arg(long, value_enum, value_name = "CHOICE", default_value_t = InConflict::KeepDest, requires = "in_place")]
    pub on_conflict: InConflict,
    /// Also print values that no version reads, and values that are the default of both versions
    #[arg(long)]
    pub all: bool,
    #[command(flatten)]
    pub reach: Reach,
}

/// Whose commits are printed.
#[derive(Debug, Args)]
pub struct Log {
    /// The folder of the package
    #[arg(default_value = ".")]
    pub package: PathBuf,
    /// The release after which the commits begin [default: the one that the package has]
    #[arg(long, value_name = "REF")]
    pub from: Option<String>,
    /// The last release [default: the one that an upgrade would take]
    #[arg(long, value_name = "REF")]
    pub to: Option<String>,
    /// What is printed
    #[arg(long, short = 'o', value_enum, default_value_t = Logged::Text)]
    pub output: Logged,
    #[command(flatten)]
    pub reach: Reach,
}

/// How commits are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Logged {
    /// A line for each commit
    Text,
    /// A list for the text of a pull request
    Markdown,
    /// A list with all that is known, for programs
    Json,
}

/// What is copied, and where to.
#[derive(Debug, Args)]
pub struct Get {
    /// The release: REPO.git/DIRECTORY@REF, as for `kpt pkg get`, with every address that git can fetch. It may be one file. Without `@REF`, it
    /// is the default branch. REF may be a range, such as `^1.4`. A chart is `REPO NAME@VERSION` or `oci://HOST/PATH:VERSION`, and a file or an
    /// archive is its address. `-` reads from stdin what names a chart in a file, such as a HelmRelease with its source, an Application or an entry
    /// of `helmCharts`
    pub source: String,
    /// The folder, which must be new or empty [default: the name of the directory, or of the repository]; after a repository of charts, the
    /// chart, NAME@VERSION
    pub folder: Option<PathBuf>,
    /// The folder of a chart
    #[arg(value_name = "FOLDER")]
    pub folder_of_chart: Option<PathBuf>,
    /// Take only this file or folder of it; with `!` before it, do not take it. May be given several times, and may have `*`. The package records
    /// it
    #[arg(long, value_name = "PATH")]
    pub path: Vec<String>,
    #[command(flatten)]
    pub rendering: Rendering,
    #[command(flatten)]
    pub reach: Reach,
}

/// How helm makes the release of a chart.
#[derive(Debug, Args)]
pub struct Rendering {
    /// Take what `helm` renders of the chart, as a release of this name, instead of the chart. The package records it
    #[arg(long, value_name = "RELEASE", conflicts_with = "path")]
    pub render: Option<String>,
    /// The namespace of the release
    #[arg(long, value_name = "NAME", requires = "render")]
    pub namespace: Option<String>,
    /// A values file, which is copied into the package. May be given several times
    #[arg(long, short = 'f', value_name = "FILE", requires = "render")]
    pub values: Vec<PathBuf>,
    /// Render the CustomResourceDefinitions in the chart's directory `crds`, too
    #[arg(long, requires = "render")]
    pub include_crds: bool,
    /// The version of Kubernetes that the chart sees [default: the newest one that helm knows]
    #[arg(long, value_name = "VERSION", requires = "render")]
    pub kube_version: Option<String>,
    /// An API version that the chart sees. May be given several times
    #[arg(long, value_name = "VERSION", requires = "render")]
    pub api_versions: Vec<String>,
}

/// The flags that all merges have.
#[derive(Clone, Debug, Default, Args)]
pub struct Common {
    /// A file with a functionConfig (`kind: Merge` or a ConfigMap) instead of the flags below, such as the `.krm-merge.yaml` of a
    /// repository. Its paths are paths in dest. The path of `openapi` is relative to the folder of the file and stays inside it
    #[arg(long, value_name = "FILE", conflicts_with_all = ["new_elements", "infer_merge_keys", "merge_keys", "openapi", "max_output"])]
    pub config: Option<PathBuf>,
    /// Where new elements of a merged list go [default: append]
    #[arg(long, value_enum, ignore_case = true)]
    pub new_elements: Option<NewElements>,
    #[command(flatten)]
    pub lists: Lists,
    #[command(flatten)]
    pub max_output: MaxOutput,
    /// What is printed [default: yaml; nothing with --in-place, diff with --dry-run]
    #[arg(long, short = 'o', value_enum)]
    pub output: Option<Output>,
    /// With `-o yaml` or `-o json`: leave out Kptfiles and resources with the annotation `config.kubernetes.io/local-config`, because they
    /// are not for a cluster
    #[arg(long)]
    pub without_local_config: bool,
    /// Print how many lines change in each file, instead of the diff, or after it with `-o diff`
    #[arg(long)]
    pub stat: bool,
    /// Write the files that change. Each file is replaced as a whole, in one step. Either all files are written or none
    #[arg(long, short = 'i')]
    pub in_place: bool,
    /// Do everything except writing
    #[arg(long)]
    pub dry_run: bool,
    /// Exit with 1 if anything differs
    #[arg(long)]
    pub exit_code: bool,
    /// After everything is done, exit with 1 if anything was in conflict, whoever won
    #[arg(long)]
    pub conflicts_exit_code: bool,
}

/// Who wins in files. In a file, a conflict can also stay between markers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum InConflict {
    /// Updated's value is taken; `theirs` says the same
    #[value(aliases = ["TakeUpdated", "updated", "theirs"])]
    TakeUpdated,
    /// Dest's value stays; `ours` says the same
    #[value(aliases = ["KeepDest", "dest", "ours"])]
    KeepDest,
    /// Nothing is merged; exit 1
    #[value(alias = "Fail")]
    Fail,
    /// The file holds both values between conflict markers, for `resolve` or an editor; exit 1
    Mark,
}

impl InConflict {
    /// The policy that this flag value means; `None` for markers.
    pub fn policy(self) -> Option<policy::OnConflict> {
        match self {
            Self::TakeUpdated => Some(policy::OnConflict::TakeUpdated),
            Self::KeepDest => Some(policy::OnConflict::KeepDest),
            Self::Fail => Some(policy::OnConflict::Fail),
            Self::Mark => None,
        }
    }
}

/// How large the parts are that only one side may change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ConflictLevel {
    /// Elements of lists without keys, and lines of texts; each value that is merged in this way is reported
    Line,
    /// Values: a list without keys or a text is in conflict as a whole
    Value,
}

/// Whether a resource is found again under another name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Renames {
    /// It is one resource if it is in the same place, or if at least half of its text is the same; local edits are kept
    Follow,
    /// The old one is deleted, the new one added
    Ignore,
}

/// Where new elements go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum NewElements {
    /// After dest's
    Append,
    /// Before dest's
    Prepend,
}

/// The shells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Shell {
    /// For ~/.bashrc
    Bash,
    /// For a folder of $fpath
    Zsh,
    /// For ~/.config/fish/completions
    Fish,
    /// The program `kubectl_complete-krm_merge` on PATH
    Kubectl,
}

/// What is compared.
#[derive(Debug, Args)]
pub struct Diff {
    /// The first state: a file, a folder, a release in git, such as `.git/deploy@v1`, or `-` for stdin. Alone, it is a package that records its
    /// upstream, which is compared with the release that it has
    #[arg(value_name = "A|PACKAGE")]
    pub a: String,
    /// The second state: a file, a folder, a release in git, or `-` for stdin
    pub b: Option<String>,
    /// The release of upstream with which a package is compared [default: the one that it has]
    #[arg(long, value_name = "REF", conflicts_with = "b")]
    pub to: Option<String>,
    /// Run `helm` to render the chart of a package that records `render`
    #[arg(long)]
    pub helm: bool,
    #[command(flatten)]
    pub lists: Lists,
    /// What is printed
    #[arg(long, short = 'o', value_enum, default_value_t = Compared::Fields)]
    pub output: Compared,
    /// Exit with 1 if anything differs, as `diff` does; `--exit-code=false` exits with 0
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_value_t = true, default_missing_value = "true", action = clap::ArgAction::Set)]
    pub exit_code: bool,
}

/// Which type is explained, and who is asked.
#[derive(Debug, Args)]
pub struct Explain {
    /// The type: KIND, KIND.GROUP or KIND.VERSION.GROUP, such as `Rollout` or `Rollout.v1alpha1.argoproj.io`; or the name of a file that has no
    /// kind, such as `Chart.yaml`
    pub kind: String,
    /// Only the lists at this path or below it, such as `spec.template`
    pub path: Option<String>,
    /// CustomResourceDefinitions, and resources whose values show what no definition says: a file, a folder, or `-` for stdin; may be given
    /// several times
    #[arg(long, short = 'f', value_name = "PATH")]
    pub filename: Vec<String>,
    /// How a list merges, as in `--merge-keys` of a merge; may be given several times
    #[arg(long, value_name = "FIELD=VALUE,...")]
    pub merge_keys: Vec<String>,
    /// An OpenAPI v2 document with further types
    #[arg(long, value_name = "FILE")]
    pub openapi: Option<PathBuf>,
    #[command(flatten)]
    pub cluster: Ask,
}

/// How differences are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Compared {
    /// Each field with both of its values, and texts by line
    Fields,
    /// The lines that differ, with the resource and the field of each hunk
    Diff,
    /// The resources that differ, and the files without a name
    Name,
    /// A list with each field and both of its values, for programs
    Json,
    /// Each field with both of its values, as KRM results
    Results,
    /// The fields as a comment of a pull request
    Markdown,
}

/// The states between which a patch is made.
#[derive(Debug, Args)]
pub struct Extract {
    /// What the patch is for: a file, a folder, a release in git, such as `.git/deploy@v1`, or `-` for stdin
    pub original: String,
    /// What the patch must turn original into: a file, a folder, a release in git, or `-` for stdin
    pub dest: String,
    /// Which command takes the patch
    #[arg(long, value_enum, ignore_case = true, default_value_t = PatchMode::TwoWay)]
    pub mode: PatchMode,
    /// Only the values must agree: comments, layout, and the order of fields and documents may differ
    #[arg(long)]
    pub values: bool,
    #[command(flatten)]
    pub lists: Lists,
}

/// Which command takes a patch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum PatchMode {
    /// `two-way`, and kustomize's `patches`; new resources are whole documents
    #[value(alias = "TwoWay")]
    TwoWay,
    /// `strategic`, and `kubectl patch`: directives also say the order of lists, and the patch adds no resources
    #[value(alias = "Strategic")]
    Strategic,
}
