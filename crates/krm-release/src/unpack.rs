//! The files of an archive. An archive with anything but plain files and folders is an error, and so is one that is too large.
//!
//! Nothing is written: the files are bytes in memory, and their paths are checked before anybody uses them.

use std::collections::HashMap;
use std::io::{self, Cursor, ErrorKind, Read};

use anyhow::{Context, Error, Result, anyhow, bail};
use flate2::bufread::GzDecoder;
use krm_git::source::ReleaseFile;
use krm_names::file_path::{is_git, is_within};
use krm_names::shown;
use tar::EntryType;
use zip::ZipArchive;
use zip::result::ZipError;

/// How much a release may have.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Bytes of a file.
    pub file: usize,
    /// Bytes of all files, and of the archive.
    pub all: usize,
    /// Files and folders.
    pub count: usize,
}

/// The limits that releases in git have, too.
pub const LIMITS: Limits = Limits { file: 1 << 26, all: 1 << 28, count: 100_000 };

/// How deep the folders of a release may be.
const DEEPEST: usize = 100;

/// How many bytes the names and other facts of a file may have.
const MOST_OF_HEADER: u64 = 1 << 20;

/// How many parts a gzip may have: `bgzip` makes one for each 64 KiB.
const MOST_PARTS: usize = 10_000;

/// How long a path may be.
const LONGEST: usize = 4096;

/// What the first folder of an archive is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Root {
    /// A part of the release.
    Kept,
    /// The name of the chart, below which the chart is.
    Chart,
    /// A name that has nothing to say, if it holds all files.
    Wrapper,
}

/// What bytes are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Packing {
    /// A tar in gzip.
    TarGz,
    /// A tar.
    Tar,
    /// A zip.
    Zip,
    /// No archive that is known.
    Bare,
}

impl Packing {
    /// What the first bytes say.
    pub fn of(bytes: &[u8]) -> Self {
        match bytes {
            [0x1f, 0x8b, ..] => Self::TarGz,
            [b'P', b'K', 3 | 5, 4 | 6, ..] => Self::Zip,
            _ if bytes.get(257..262) == Some(b"ustar") => Self::Tar,
            _ => Self::Bare,
        }
    }
}

/// The files of a packed chart, such as one that another chart has in `charts/`. The paths begin at the folder of the chart.
///
/// # Errors
/// It is broken or too large, or it is no chart.
pub fn packed_chart(bytes: &[u8]) -> Result<Vec<ReleaseFile>> {
    unpack(bytes, Root::Chart, LIMITS)
}

/// The files of an archive, in the order of their paths.
///
/// # Errors
/// It is broken or too large, or it holds what a release must not hold.
pub fn unpack(bytes: &[u8], root: Root, limits: Limits) -> Result<Vec<ReleaseFile>> {
    let mut files = Files { limits, all: 0, names: HashMap::new(), files: Vec::new() };
    match Packing::of(bytes) {
        Packing::TarGz => files.add_tar(|| Parts { part: GzDecoder::new(bytes), left: MOST_PARTS })?,
        Packing::Tar => files.add_tar(|| bytes)?,
        Packing::Zip => files.add_zip(bytes)?,
        Packing::Bare => bail!("the archive must be a `.tar.gz`, a `.tar` or a `.zip`"),
    }
    let mut files = files.files;
    if files.is_empty() {
        bail!("the archive must hold a file");
    }
    let first = files[0].path.split_once('/').map(|(first, _)| format!("{first}/"));
    let first = first.filter(|first| files.iter().all(|file| file.path.starts_with(first.as_str())));
    match (root, first) {
        (Root::Chart, None) => bail!("the archive must have all files in one folder, as `helm package` makes it"),
        (Root::Kept, _) | (Root::Wrapper, None) => {}
        (Root::Chart | Root::Wrapper, Some(first)) => {
            files.iter_mut().for_each(|file| _ = file.path.drain(..first.len()))
        }
    }
    if root == Root::Chart && !files.iter().any(|file| file.path == "Chart.yaml") {
        bail!("the archive must have a `Chart.yaml` in its folder, as `helm package` makes it");
    }
    files.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(files)
}

/// The files so far.
struct Files {
    limits: Limits,
    all: usize,
    /// Each file and folder: its own number, its name, and whether it is a file, by the number of its folder and its name in lower case.
    names: HashMap<(usize, String), Named>,
    files: Vec<ReleaseFile>,
}

struct Named {
    number: usize,
    name: String,
    is_file: bool,
}

impl Files {
    fn add_tar<R: Read>(&mut self, reader: impl Fn() -> R) -> Result<()> {
        // Headers and what fills a block up count, too, but not as files.
        let bounded = || Bounded { reader: reader(), left: self.limits.all.saturating_mul(2) };
        // The reader keeps a long name in memory, before anybody sees it.
        for entry in tar::Archive::new(bounded()).entries()?.raw(true) {
            let entry = entry.map_err(broken)?;
            let has_bytes = !matches!(entry.header().entry_type(), EntryType::Regular | EntryType::Continuous);
            if has_bytes && entry.size() > MOST_OF_HEADER {
                bail!("the names and other facts of a file in an archive must have at most {MOST_OF_HEADER} bytes");
            }
        }
        let mut reader = bounded();
        for entry in tar::Archive::new(&mut reader).entries()? {
            self.add_entry(&mut entry.map_err(broken)?)?;
        }
        // The end of gzip has a checksum of all.
        io::copy(&mut reader, &mut io::sink()).map_err(broken)?;
        Ok(())
    }

    fn add_entry(&mut self, entry: &mut tar::Entry<'_, impl Read>) -> Result<()> {
        let kind = entry.header().entry_type();
        // It has the commit of `git archive`, for example.
        if kind == EntryType::XGlobalHeader {
            return Ok(());
        }
        let name = entry.path_bytes().into_owned();
        let path = path(&name)?;
        // An old tar has no kind for folders.
        let is_folder = kind == EntryType::Directory || (kind == EntryType::Regular && name.ends_with(b"/"));
        match kind {
            _ if is_folder => self.add_folder(&path),
            EntryType::Regular | EntryType::Continuous => {
                let is_executable = entry.header().mode().map_err(broken)? & 0o100 != 0;
                self.add_file(&path, entry.size(), is_executable, entry)
            }
            kind => bail!("{}: an archive must hold files and folders only, not {}", shown::name(&path), said(kind)),
        }
    }

    fn add_zip(&mut self, bytes: &[u8]) -> Result<()> {
        // The reader would keep what the directory says of each file, before anybody counts.
        let in_directory = bytes.windows(4).filter(|window| window == b"PK\x01\x02");
        if in_directory.take(self.limits.count + 1).count() > self.limits.count {
            return Err(self.many());
        }
        let mut archive = ZipArchive::new(Cursor::new(bytes)).map_err(broken_zip)?;
        for number in 0..archive.len() {
            let mut entry = archive.by_index(number).map_err(broken_zip)?;
            let path = path(entry.name_raw())?;
            // The kind of a file in the modes of Unix.
            let kind = entry.unix_mode().map_or(0, |mode| mode & 0o170_000);
            match kind {
                _ if entry.is_dir() => self.add_folder(&path)?,
                0 | 0o100_000 => {
                    let is_executable = entry.unix_mode().is_some_and(|mode| mode & 0o100 != 0);
                    let size = entry.size();
                    self.add_file(&path, size, is_executable, &mut entry)?;
                }
                _ => bail!("{}: an archive must hold files and folders only, not links or devices", shown::name(&path)),
            }
        }
        Ok(())
    }

    fn add_file(&mut self, path: &str, size: u64, is_executable: bool, reader: &mut impl Read) -> Result<()> {
        self.take_name(path, true)?;
        let Limits { file: most, all, .. } = self.limits;
        let named = || shown::name(path).into_owned();
        let large = || anyhow!("{}: a file of a release must have at most {most} bytes", named());
        if size > most as u64 {
            return Err(large());
        }
        // What an archive says of a size may be a lie.
        let mut bytes = Vec::new();
        reader.take(most as u64 + 1).read_to_end(&mut bytes).map_err(broken).with_context(named)?;
        if bytes.len() > most {
            return Err(large());
        }
        if bytes.len() as u64 != size {
            bail!("{}: the archive must be whole, but it has {} bytes of this file, not {size}", named(), bytes.len());
        }
        self.all += bytes.len();
        if self.all > all {
            bail!(
                "{}: the files of a release must have at most {all} bytes together, and with this one they have more",
                named()
            );
        }
        self.files.push(ReleaseFile { path: path.to_owned(), bytes, is_executable });
        Ok(())
    }

    fn many(&self) -> Error {
        anyhow!("a release must have at most {} files and folders", self.limits.count)
    }

    fn add_folder(&mut self, path: &str) -> Result<()> {
        // `./` is the archive itself.
        if path.is_empty() { Ok(()) } else { self.take_name(path, false) }
    }

    /// Takes the name of a file or a folder, and those of the folders above it. No two may differ only by case.
    fn take_name(&mut self, path: &str, is_file: bool) -> Result<()> {
        if path.is_empty() {
            bail!("a file of a release must have a name");
        }
        let (mut folder, mut end) = (0, 0);
        for name in path.split('/') {
            end += name.len() + 1;
            let is_last = end > path.len();
            let next = self.names.len() + 1;
            if next > self.limits.count {
                return Err(self.many());
            }
            let here = || shown::name(&path[..end - 1]).into_owned();
            let known = self.names.entry((folder, name.to_lowercase()));
            let is_new = matches!(known, std::collections::hash_map::Entry::Vacant(_));
            let is_file = is_last && is_file;
            let known = known.or_insert_with(|| Named { number: next, name: name.to_owned(), is_file });
            if known.name != name {
                let other = shown::name(&known.name).into_owned();
                bail!("{}: the names of two files must differ in more than case, but there is {other}, too", here());
            }
            if !is_new && (is_file || known.is_file) {
                bail!("{}: an archive must have only one file of this name", here());
            }
            folder = known.number;
        }
        Ok(())
    }
}

/// The path of an entry, without `./` before it and `/` after it.
fn path(bytes: &[u8]) -> Result<String> {
    let told = || shown::name_of_bytes(&bytes[..bytes.len().min(200)]);
    if bytes.len() > LONGEST {
        bail!("{}…: the path of a file must have at most {LONGEST} bytes", told());
    }
    let Ok(path) = std::str::from_utf8(bytes) else { bail!("{}: a file name must be UTF-8", told()) };
    let path = path.strip_prefix("./").unwrap_or(path);
    let path = if path == "." { "" } else { path.strip_suffix('/').unwrap_or(path) };
    if path.is_empty() {
        return Ok(String::new());
    }
    let is_name = |name: &str| !name.is_empty() && name != "." && !name.contains(|c: char| c == '\\' || c.is_control());
    if !is_within(path) || !path.split('/').all(is_name) {
        bail!(
            "{}: a file of a release must lie within it, and its path must be names with one `/` between them",
            told()
        );
    }
    if path.split('/').any(is_git) {
        bail!("{}: a file of a release must not lie in `.git`, for git runs what stands there", told());
    }
    if path.split('/').count() > DEEPEST {
        bail!("{}: the folders of a release must be at most {DEEPEST} deep", told());
    }
    Ok(path.to_owned())
}

/// What an entry is that a release must not hold.
fn said(kind: EntryType) -> &'static str {
    match kind {
        EntryType::Symlink | EntryType::Link => "links",
        EntryType::Char | EntryType::Block | EntryType::Fifo => "devices",
        EntryType::GNUSparse => "files with holes",
        _ => "entries of another kind",
    }
}

fn broken(error: io::Error) -> Error {
    match error.get_ref().and_then(|inner| inner.downcast_ref::<TooMuch>()) {
        Some(_) => anyhow!("the archive must have at most twice as many bytes as its files may have, and few parts"),
        None if error.kind() == ErrorKind::UnexpectedEof => {
            anyhow!("the archive must be whole, but it ends in the middle")
        }
        None => anyhow!("the archive must be whole: {error}"),
    }
}

fn broken_zip(error: ZipError) -> Error {
    match error {
        ZipError::Io(e) => broken(e),
        ZipError::UnsupportedArchive(why) if why == ZipError::PASSWORD_REQUIRED => {
            anyhow!("the archive must need no password")
        }
        e => anyhow!("the archive must be a zip that can be read: {e}"),
    }
}

/// Unpacks gzip, which may have parts. Empty ones cost time and yield nothing, so there is a bound.
struct Parts<'b> {
    part: GzDecoder<&'b [u8]>,
    left: usize,
}

impl Read for Parts<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let n = self.part.read(buffer)?;
            let rest = *self.part.get_ref();
            if n > 0 || rest.is_empty() || buffer.is_empty() {
                return Ok(n);
            }
            self.left = self.left.checked_sub(1).ok_or_else(|| io::Error::other(TooMuch))?;
            self.part = GzDecoder::new(rest);
        }
    }
}

/// Reads what is left of a bound, and then fails.
struct Bounded<R> {
    reader: R,
    left: usize,
}

/// More came than the bound.
#[derive(Debug)]
struct TooMuch;

impl std::fmt::Display for TooMuch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("too much")
    }
}

impl std::error::Error for TooMuch {}

impl<R: Read> Read for Bounded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.reader.read(buffer)?;
        self.left = self.left.checked_sub(n).ok_or_else(|| io::Error::other(TooMuch))?;
        Ok(n)
    }
}

#[cfg(test)]
mod tests;
