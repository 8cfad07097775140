//! Archives whose bytes depend on their files alone.

use std::io::{Cursor, Write};

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
}

impl Mode {
    pub fn bits(self) -> u32 {
        match self {
            Self::Program => 0o755,
            Self::Text => 0o644,
        }
    }
}

impl Entry {
    pub fn text(path: impl Into<String>, text: impl Into<Vec<u8>>) -> Self {
        Self { path: path.into(), bytes: text.into(), mode: Mode::Text }
    }
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
        tar.append_data(&mut header, path, bytes.as_slice()).map_err(|e| format!("{path}: {e}"))?;
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
