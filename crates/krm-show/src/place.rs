//! Finds the place of a result for programs that show results next to files: the file relative to the working directory, and the line.

use std::path::{Component, Path};

use krm_folders::held::Held;
use krm_folders::side::{Root, Side};
use krm_job::event::{Event, Severity};
use krm_yaml::{Document, Position};

/// A place in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Whereabouts {
    /// The path of the file, with `/`.
    pub file: String,
    /// The line and column.
    pub position: Position,
}

/// Whether a result is shown next to a file. Infos that are about no file are not.
pub fn is_shown(result: &Event) -> bool {
    result.severity != Severity::Info || result.file.is_some()
}

/// The place of a result in dest's file, or in the file that cannot be read. A result about a whole file gets the first line.
pub fn of(dest: &Side, result: &Event) -> Option<Whereabouts> {
    if let Some(at) = result.at() {
        return Some(Whereabouts { file: from_here(Path::new(&at.text)), position: at.position });
    }
    let path = &result.file.as_ref()?.path;
    let (file, held) = match &dest.root {
        Root::Folder(_) => (Path::new(&dest.name).join(path), dest.at(path)),
        Root::File(_) => (Path::new(&dest.name).to_owned(), dest.files.first()),
        Root::Release(_) | Root::Stdin | Root::Stream | Root::Text | Root::Cluster => return None,
    };
    let start = Position { line: 1, column: 1 };
    let here = result.here.unwrap_or_default();
    let position = match held.map(|held| (held, held.document())) {
        Some((_, Some(document))) => position(document, here),
        // A file without resources was not kept as a document.
        Some((held, None)) if here > 0 => of_text(held).map_or(start, |document| position(&document, here)),
        Some((_, None)) | None => start,
    };
    Some(Whereabouts { file: from_here(&file), position })
}

fn of_text(held: &Held) -> Option<Document<'static>> {
    let text = String::from_utf8(held.bytes().ok()?.into_owned()).ok()?;
    Document::parse(text).ok()
}

/// The place where a person looks for a value. If the value begins below its key, that is the place of the key.
fn position(document: &Document<'_>, value: usize) -> Position {
    let own = document.position(value);
    let above = document.source().get(..value).unwrap_or_default();
    // A line may be long, and have many values.
    if above.trim_end_matches([' ', '\t']).ends_with(|c| c != '\n' && c != '\r') {
        return own;
    }
    let mut above = above.trim_end();
    let line = loop {
        let line = above.rsplit(['\n', '\r']).next().unwrap_or_default();
        if !line.trim_start().starts_with('#') {
            break line;
        }
        above = above[..above.len() - line.len()].trim_end();
    };
    let key = document.position(above.len());
    let code = line.split(" #").next().unwrap_or_default();
    let indent = line.len() - line.trim_start().len();
    if key.line < own.line && code.trim_end().ends_with(':') { Position { column: indent + 1, ..key } } else { own }
}

/// A path with `/` and without `.`, relative to the working directory if it is inside of it.
pub fn from_here(path: &Path) -> String {
    let here = std::env::current_dir().unwrap_or_default();
    let path = path.strip_prefix(&here).unwrap_or(path);
    let mut parts: Vec<String> = Vec::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::RootDir => parts.push(String::new()),
            Component::ParentDir if parts.last().is_some_and(|last| last != "..") => _ = parts.pop(),
            other => parts.push(other.as_os_str().to_string_lossy().into_owned()),
        }
    }
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_below_its_key_is_at_the_key() {
        let text = "# head\na: 1\nb: # why\n  # what\n  - x\nc:\n  d: 1\n";
        let document = Document::parse(text).expect("YAML");
        for (value, want) in [("1\nb", (2, 4)), ("- x", (3, 1)), ("d: 1", (6, 1)), ("a: 1", (2, 1))] {
            let at = position(&document, text.find(value).expect("in the text"));
            assert_eq!((at.line, at.column), want, "{value}");
        }
    }

    #[test]
    fn files_are_named_from_the_working_directory() {
        let here = std::env::current_dir().expect("a folder");
        for (path, want) in [
            (Path::new("./a/../b/c.yaml"), "b/c.yaml"),
            (Path::new("../x/c.yaml"), "../x/c.yaml"),
            (Path::new("/srv/c.yaml"), "/srv/c.yaml"),
            (&here.join("d/c.yaml"), "d/c.yaml"),
        ] {
            assert_eq!(from_here(path), want);
        }
    }
}
