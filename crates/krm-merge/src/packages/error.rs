//! [`Error`]: why packages cannot be merged.

use std::fmt;

use krm_job::event::Event;
use krm_names::file_path;
use krm_package::package::FileFault;
use krm_schema::schema::NoTypes;
use krm_tree::splice::Unwritable;
use krm_words::Message;

/// Why packages cannot be merged.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// A text is not YAML, or a field of the functionConfig is wrong.
    Text {
        /// The path of the file, or the name of the text.
        file: String,
        /// What is wrong, and where.
        error: krm_yaml::Error,
    },
    /// Two files of a package have this path.
    Twice(String),
    /// An object has no JSON. The text says why.
    Object(String),
    /// The merge stopped. Each event says what, where, and about which resource.
    Failed(Vec<Event>),
    /// A new resource has a path at which no file may be.
    Misplaced {
        /// The path.
        path: String,
        /// What it must do.
        fault: file_path::PathFault,
    },
    /// A new resource goes to a file of dest that holds something else.
    InTheWay {
        /// The path of the file.
        path: String,
    },
    /// The result exceeds the limit, or JSON lacks one of its values.
    Unwritable(Unwritable),
    /// The file of this name is JSON, which holds one resource, and it would get another one.
    Json(String),
}

/// What an OpenAPI document lacks.
pub(super) const NO_TYPES: &str = "an OpenAPI document must have `definitions`, or `components.schemas`";

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text { file, error } if file.is_empty() => error.fmt(f),
            Self::Text { file, error } => write!(f, "{file}:{error}"),
            Self::Twice(path) => write!(f, "{path:?} must be the path of one file of the package, not of two"),
            Self::Object(why) => write!(f, "an object must have JSON: {why}"),
            Self::Failed(events) => {
                let lines: Vec<String> = events.iter().map(|event| Message::of(event).text).collect();
                f.write_str(&lines.join("; "))
            }
            Self::Misplaced { path, fault } => write!(f, "the path {path:?} of a new resource must {fault}"),
            Self::InTheWay { path } => {
                write!(f, "the file {path:?} of dest must hold resources, or nothing, because it gets a new resource")
            }
            Self::Unwritable(error) => error.fmt(f),
            Self::Json(name) => FileFault::Json(name.clone()).fmt(f),
        }
    }
}

impl std::error::Error for Error {}

pub(super) fn no_types(none: NoTypes<'_>) -> krm_yaml::Error {
    match none {
        NoTypes::NoDefinitions(at) => at.error(NO_TYPES),
        NoTypes::NoResource(at) => at.error(
            "an OpenAPI document must have a definition with `x-kubernetes-group-version-kind`, which says of which resource it is",
        ),
    }
}

impl Error {
    pub(super) fn of_config(error: krm_yaml::Error) -> Self {
        Self::Text { file: "functionConfig".to_owned(), error }
    }

    pub(super) fn misplaced(path: &str, fault: file_path::PathFault) -> Self {
        Self::Misplaced { path: path.to_owned(), fault }
    }
}

impl From<Box<Event>> for Error {
    fn from(event: Box<Event>) -> Self {
        Self::Failed(vec![*event])
    }
}

impl From<Unwritable> for Error {
    fn from(unwritable: Unwritable) -> Self {
        Self::Unwritable(unwritable)
    }
}

impl From<FileFault> for Error {
    fn from(fault: FileFault) -> Self {
        match fault {
            FileFault::Json(name) => Self::Json(name),
            FileFault::Unwritable(unwritable) => Self::Unwritable(unwritable),
            FileFault::Unreadable(error) => Self::Text { file: String::new(), error },
        }
    }
}
