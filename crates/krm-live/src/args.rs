//! The flags of `live`, and those that say which cluster is asked.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use krm_merge_core::policy;
use krm_show::args::{Color, MaxOutput, Output};
use krm_show::screen::Reader;

/// What is merged into a cluster.
#[derive(Debug, Args)]
pub struct Live {
    /// The resources: a file, a folder with all below it, or `-` for stdin; may be given several times
    #[arg(long, short = 'f', value_name = "PATH", required_unless_present = "kustomize")]
    pub filename: Vec<String>,
    /// The resources that `kubectl kustomize` builds from a folder
    #[arg(long, short = 'k', value_name = "DIR", conflicts_with = "filename")]
    pub kustomize: Option<String>,
    /// Read a folder with all below it. This is the default; the flag exists because scripts for kubectl may pass it
    #[arg(long, short = 'R', num_args = 0)]
    pub recursive: bool,
    /// Only the resources whose labels match this selector, such as `app=web,tier in (a, b)`
    #[arg(long, short = 'l', value_name = "SELECTOR")]
    pub selector: Option<String>,
    /// The cluster.
    #[command(flatten)]
    pub connection: Connection,
    /// The namespace of resources that name none; a resource that names another one is an error
    #[arg(long, short = 'n', value_name = "NAME")]
    pub namespace: Option<String>,
    /// Who wins if the files and the cluster both changed something; each case is reported [default: take-updated, the files]
    #[arg(long, value_enum, ignore_case = true)]
    pub on_conflict: Option<OnConflict>,
    /// The limit on the output.
    #[command(flatten)]
    pub max_output: MaxOutput,
    /// Send the changes, after the server has checked them in a dry run
    #[arg(long)]
    pub apply: bool,
    /// With `--apply`: wait until the resources of the files are ready, at most as long as `--timeout` says
    #[arg(long, requires = "apply")]
    pub wait: bool,
    /// Show which members of the ApplySet the files dropped, and delete them with `--apply`, as `kubectl apply --prune --applyset`
    #[arg(long, requires = "applyset", conflicts_with_all = ["adopt", "selector"])]
    pub prune: bool,
    /// The object that keeps track of the ApplySet: NAME or secrets/NAME, configmaps/NAME, or RESOURCE.GROUP/NAME
    #[arg(long, value_name = "PARENT", requires = "prune")]
    pub applyset: Option<String>,
    /// Write what someone changed in the cluster into the files, which keep their comments and layout. With `-o`, show it and write nothing.
    /// The cluster is updated then, and the files are dest
    #[arg(long, conflicts_with_all = ["apply", "take"])]
    pub adopt: bool,
    /// With `--adopt`: a file with a functionConfig, whose rules say who wins where, instead of `--on-conflict`
    #[arg(long, value_name = "FILE", requires = "adopt", conflicts_with_all = ["on_conflict", "max_output"])]
    pub config: Option<PathBuf>,
    /// Use server-side apply, which leaves each field to its owner. Fields that the server will refuse are reported before anything is sent
    #[arg(long, conflicts_with = "on_conflict")]
    pub server_side: bool,
    /// Take over a field that someone else owns, such as `.spec.replicas`, with all below it; may be given several times
    #[arg(long, value_name = "FIELD", requires = "server_side")]
    pub take: Vec<String>,
    /// The name under which the cluster records who set the fields
    #[arg(long, value_name = "NAME", default_value = "krm-merge")]
    pub field_manager: String,
    /// What is printed [default: diff; with --apply, what was sent; with --adopt, what was written]
    #[arg(long, short = 'o', value_enum)]
    pub output: Option<Output>,
    /// Exit with 1 if anything differs
    #[arg(long)]
    pub exit_code: bool,
    /// After everything is done, exit with 1 if anything was in conflict, whoever won
    #[arg(long)]
    pub conflicts_exit_code: bool,
    /// Whether the output has colours
    #[arg(long, value_enum, value_name = "WHEN", default_value_t = Color::Auto)]
    pub color: Color,
}

/// Which cluster is asked, and how long it may take to answer.
#[derive(Clone, Debug, Args)]
pub struct Connection {
    /// The context of the kubeconfig
    #[arg(long, value_name = "NAME")]
    pub context: Option<String>,
    /// The kubeconfig, instead of that of `KUBECONFIG` or ~/.kube/config
    #[arg(long, value_name = "FILE")]
    pub kubeconfig: Option<PathBuf>,
    /// The cluster of the kubeconfig, instead of that of the context
    #[arg(long, value_name = "NAME")]
    pub cluster: Option<String>,
    /// The user of the kubeconfig, instead of that of the context
    #[arg(long, value_name = "NAME")]
    pub user: Option<String>,
    /// The address of the API server, instead of that of the kubeconfig
    #[arg(long, short = 's', value_name = "URL")]
    pub server: Option<String>,
    /// Act as this user, if the user of the kubeconfig may do so
    #[arg(long = "as", value_name = "NAME")]
    pub as_user: Option<String>,
    /// Act as a member of this group; may be given several times
    #[arg(long, value_name = "NAME", requires = "as_user")]
    pub as_group: Vec<String>,
    /// How many seconds the cluster may take for an answer, including the time that it asks to wait if it is too busy; at most 31536000, a
    /// year. The user's `exec` or `tokenFile` may take as long, and with `--wait`, the resources to be ready [default: 30; 300 for `--wait`]
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=31_536_000))]
    timeout: Option<u64>,
}

impl Connection {
    /// How long an answer may take.
    pub fn answers_within(&self) -> Duration {
        Duration::from_secs(self.timeout.unwrap_or(30))
    }

    /// How long it may take until all resources are ready.
    pub fn ready_within(&self) -> Duration {
        Duration::from_secs(self.timeout.unwrap_or(300))
    }
}

/// Who wins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum OnConflict {
    /// Updated's value is taken
    #[value(aliases = ["TakeUpdated", "updated", "theirs"])]
    TakeUpdated,
    /// Dest's value stays
    #[value(aliases = ["KeepDest", "dest", "ours"])]
    KeepDest,
    /// Nothing is merged; exit 1
    #[value(alias = "Fail")]
    Fail,
}

impl OnConflict {
    /// The policy that this flag value means.
    pub fn policy(self) -> policy::OnConflict {
        match self {
            Self::TakeUpdated => policy::OnConflict::TakeUpdated,
            Self::KeepDest => policy::OnConflict::KeepDest,
            Self::Fail => policy::OnConflict::Fail,
        }
    }
}

/// Whether a cluster is asked for a definition, and which.
#[derive(Debug, Args)]
pub struct Ask {
    /// Ask the cluster for the definition of the type
    #[arg(long, conflicts_with = "openapi")]
    live: bool,
    #[command(flatten)]
    pub(crate) connection: Connection,
}

impl Ask {
    /// Whether the user wants it.
    pub fn is_meant(&self) -> bool {
        self.live
    }
}

impl Live {
    /// Who reads the output. Data in a pipe are for a program, unless the user asks for colours: a pipe that only the environment colours is
    /// not a person.
    pub fn reader(&self) -> Reader {
        match (self.output, self.color) {
            (Some(Output::Yaml | Output::Json), Color::Auto) => Reader::of_data(),
            (_, color) => Reader::of_stdout(color),
        }
    }
}
