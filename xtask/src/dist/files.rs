//! Archives whose bytes depend on their files alone.

use std::fs;
use std::io::{self, Cursor, Write};
use std::path::Path;

use flate2::{Compression, GzBuilder};
use zip::write::SimpleFileOptions;

/// A file of an archive.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Its path in the archive, with `/`.
    pub path: String,
    pub bytes: Vec<u8>,
    pub mode: Mode,
}

/// Who may do what with a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Anyone may execute it.
    Program,
    /// Anyone may read it.
    Text,
    /// It is a symbolic link, and its bytes are the file beside it that it leads to.
    Link,
}

impl Mode {
    pub fn bits(self) -> u32 {
        match self {
            Self::Program => 0o755,
            Self::Text => 0o644,
            Self::Link => 0o777,
        }
    }
}

impl Entry {
    pub fn text(path: impl Into<String>, text: impl Into<Vec<u8>>) -> Self {
        Self { path: path.into(), bytes: text.into(), mode: Mode::Text }
    }
}

/// The files of a folder, in the order of their names, below a path of an archive.
///
/// # Errors
/// The folder, or a file in it, cannot be read.
pub fn of_folder(folder: &Path, below: &str) -> Result<Vec<Entry>, String> {
    let on = |path: &Path, e: io::Error| format!("{}: {e}", path.display());
    let files = fs::read_dir(folder).and_then(Iterator::collect::<io::Result<Vec<_>>>).map_err(|e| on(folder, e))?;
    let entry = |file: &fs::DirEntry| {
        let bytes = fs::read(file.path()).map_err(|e| on(&file.path(), e))?;
        Ok(Entry::text(format!("{below}/{}", file.file_name().display()), bytes))
    };
    let mut entries = files.iter().map(entry).collect::<Result<Vec<_>, String>>()?;
    entries.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(entries)
}

/// A file as `gzip` packs it.
///
/// # Errors
/// It cannot be packed.
pub fn gz(bytes: &[u8]) -> Result<Vec<u8>, String> {
    let mut gz = GzBuilder::new().mtime(0).write(Vec::new(), Compression::best());
    gz.write_all(bytes).and_then(|()| gz.finish()).map_err(|e| e.to_string())
}

/// A `.tar.gz` of files, all of this date.
///
/// # Errors
/// A path is too long for an archive.
pub fn tar_gz(entries: &[Entry], date: u64) -> Result<Vec<u8>, String> {
    let gz = GzBuilder::new().mtime(0).write(Vec::new(), Compression::best());
    let mut tar = tar::Builder::new(gz);
    for Entry { path, bytes, mode } in entries {
        let mut header = tar::Header::new_ustar();
        header.set_size(bytes.len() as u64);
        header.set_mode(mode.bits());
        header.set_mtime(date);
        let added = if *mode == Mode::Link {
            header.set_entry_type(tar::EntryType::Symlink);
            header.set_size(0);
            tar.append_link(&mut header, path, String::from_utf8_lossy(bytes).as_ref())
        } else {
            tar.append_data(&mut header, path, bytes.as_slice())
        };
        added.map_err(|e| format!("{path}: {e}"))?;
    }
    tar.into_inner().and_then(flate2::write::GzEncoder::finish).map_err(|e| e.to_string())
}

/// A zip of files, all of the oldest date that a zip can have.
///
/// # Errors
/// A path is wrong for an archive.
pub fn zip(entries: &[Entry]) -> Result<Vec<u8>, String> {
    let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for Entry { path, bytes, mode } in entries {
        let options = SimpleFileOptions::default().unix_permissions(mode.bits()).compression_level(Some(9));
        let options = options.last_modified_time(zip::DateTime::default());
        let made = zip
            .start_file(path, options)
            .map_err(|e| e.to_string())
            .and_then(|()| zip.write_all(bytes).map_err(|e| e.to_string()));
        made.map_err(|e| format!("{path}: {e}"))?;
    }
    zip.finish().map(Cursor::into_inner).map_err(|e| e.to_string())
}
