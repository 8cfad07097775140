//! The KRM function: reads a ResourceList, merges its items as its functionConfig says, and writes it again.
//!
//! The merge itself is the crate `krm_job`. This crate has what is around it: the envelope, the JSON of the results, and the program. [`run`] is the whole function, text in and text out:
//!
//! ```
//! let stdin = "\
//! apiVersion: config.kubernetes.io/v1
//! kind: ResourceList
//! items:
//! - apiVersion: v1
//!   kind: ConfigMap
//!   metadata: {name: settings}
//!   data:
//!     level:   info   # as the docs say
//! functionConfig:
//!   apiVersion: krm-merge.dev/v1alpha1
//!   kind: Merge
//!   spec:
//!     mode: TwoWay
//!     source:
//!     - resources:
//!       - {apiVersion: v1, kind: ConfigMap, metadata: {name: settings}, data: {level: debug}}
//! ";
//! let output = krm_merge_function::run(stdin);
//! assert_eq!(output.verdict, krm_merge_function::Verdict::Passed);
//! assert_eq!(output.stdout, stdin.replace("level:   info", "level:   debug"));
//! ```
//!
//! Nothing is lost: on an error the items go out as they came, with the reason among the results. Only [`program`] reads stdin and prints.
//!
//! The modules in reading order, from the whole down to the bytes:

pub mod program;

pub mod exec_plugin;

pub mod function;

pub mod resource_list;

pub mod results;

pub use function::{Output, edited, run};
pub use krm_job::results::Verdict;
