//! The address of a release. One in git is `REPO[.git]/DIRECTORY@REF`, as kpt writes it; one of a chart `REPO//NAME@VERSION`; one of a
//! registry `oci://HOST/PATH:TAG`; and one of a file or an archive is its address.
//!
//! What people paste is understood, too: a page of GitHub, GitLab, Gitea or Bitbucket, and kustomize's `REPO//DIRECTORY?ref=REF`.
//!
//! An address may come from a file of a package, so nothing of it may be an option of git or start a program: no `-` at the beginning, no
//! `ext::`, no control characters. A password or token is refused, because the address is written into a file of the package, and no error
//! repeats one.

use std::borrow::Cow;
use std::path::{Component, Path, PathBuf};
use std::{fmt, fs, io};

use anyhow::{Result, bail};
use krm_files::credentials;
use semver::Version;

use crate::versions::{Range, split as version_in, unread};

/// The form of an address, for messages.
pub const FORM: &str = "REPO.git/DIRECTORY@REF, such as `https://example.com/team/repo.git/deploy@v2`, or `.git/deploy@v2` for the repository of the current directory; or a chart, as `REPO//NAME@VERSION` or `oci://HOST/PATH:TAG`; or the address of a file or an archive";

/// The error for an address with a password or token.
const NO_SECRET: &str = "the address of a repository must not hold a password, token or query, because the address is written into the package. Let a credential helper of git supply the password, and write `@` before the release";

/// What stands for the release in the address of a file.
pub const REF: &str = "{ref}";

/// The name of the one release of a file whose address names none.
pub const LATEST: &str = "latest";

/// A folder, or a file, of a repository in one of its states.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReleaseAddress {
    /// The repository.
    pub repo: Repo,
    /// The path in it, without `/` at its ends; empty for the root.
    pub directory: String,
    /// The version, tag, branch, commit or digest; `None` for the default branch, or the newest release.
    pub reference: Option<String>,
}

/// What has releases.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Repo {
    /// The repository that one stands in, `.git`.
    Here,
    /// A repository with an address that git can fetch.
    Remote(String),
    /// A chart of an HTTP repository of charts.
    Chart(Chart),
    /// An image of a registry, `HOST/PATH`.
    Oci(String),
    /// A file or an archive, in whose address `{ref}` stands for the release.
    Http(String),
}

/// A chart.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Chart {
    /// The address of the repository, which has an `index.yaml`.
    pub repo: String,
    /// Its name in the repository.
    pub name: String,
}

impl ReleaseAddress {
    /// Reads an address.
    ///
    /// # Errors
    /// It has another form, or must not be used.
    pub fn parse(text: &str) -> Result<Self> {
        let text = &*pasted(text);
        let is_url = text.contains("://");
        if is_url && credentials::are_in(text) {
            bail!(NO_SECRET);
        }
        if let Some(image) = text.strip_prefix("oci://") {
            return Self::of_image(image);
        }
        if let Some(file) = file(text) {
            return Self::of_file(&file);
        }
        let of_path = || text.split_once("//").filter(|_| !is_url);
        let Some((repo, rest)) = split(text).or_else(of_path) else {
            bail!("\"{}\" must be {FORM}", credentials::hidden(text))
        };
        let (directory, reference) = match rest.split_once('@') {
            Some((directory, reference)) => (directory, Some(reference)),
            None => (rest, None),
        };
        Self::new(Repo::parse(repo)?, directory, reference)
    }

    /// The address of these parts.
    ///
    /// # Errors
    /// One of them must not be used.
    pub fn new(repo: Repo, directory: &str, reference: Option<&str>) -> Result<Self> {
        if [directory, reference.unwrap_or_default()].into_iter().any(credentials::are_in_query) {
            bail!(NO_SECRET);
        }
        let directory = directory.trim_matches('/');
        let is_name = |name: &str| !name.is_empty() && name != "." && name != "..";
        if directory.contains(char::is_control) || !(directory.is_empty() || directory.split('/').all(is_name)) {
            bail!("the directory must be a path in the repository, without `.` and `..`, not \"{directory}\"");
        }
        let bare = Self { repo, directory: directory.to_owned(), reference: None };
        match reference {
            Some(reference) => check_reference(reference).and_then(|()| bare.named(reference)),
            None => Ok(bare),
        }
    }

    /// The address with another release.
    ///
    /// # Errors
    /// It is that of a file, without a place for the release.
    pub fn named(&self, name: &str) -> Result<Self> {
        let name = match &self.repo {
            Repo::Http(url) if !url.contains(REF) && name != LATEST => bail!(
                "the address \"{url}\" has no place for the release \"{name}\". Write `{REF}` where the address has the release, for `upgrade` with `--upstream`"
            ),
            Repo::Oci(_) => name_of_tag(name),
            _ => name.to_owned(),
        };
        Ok(Self { reference: Some(name), ..self.clone() })
    }

    /// The address of a chart. `chart` is `NAME[@VERSION]`, with perhaps a path in the chart behind the name.
    ///
    /// # Errors
    /// One of them must not be used.
    pub fn of_chart(repo: &str, chart: &str) -> Result<Self> {
        let (path, version) = chart.split_once('@').map_or((chart, None), |(path, version)| (path, Some(version)));
        Self::in_chart(repo, path, version)
    }

    /// The address of a version of a chart. `path` is the name of the chart, with perhaps a path in it.
    ///
    /// # Errors
    /// One of them must not be used.
    pub fn in_chart(repo: &str, path: &str, version: Option<&str>) -> Result<Self> {
        let (name, directory) = path.split_once('/').unwrap_or((path, ""));
        Self::new(Repo::chart(repo, name)?, directory, version)
    }

    /// Reads `HOST/PATH[//DIRECTORY]`, and the tag after `:` or `@`. A digest is a release, too.
    fn of_image(text: &str) -> Result<Self> {
        let (image, directory) = text.split_once("//").unwrap_or((text, ""));
        let last = text.rfind('/').map_or(0, |at| at + 1);
        let Some(at) = text[last..].find(['@', ':']).map(|at| last + at) else {
            return Self::new(Repo::image(image)?, directory, None);
        };
        // A digest says more than the tag before it.
        let tag = text.find("@sha256:").map_or(&text[at + 1..], |at| &text[at + "@sha256:".len()..]);
        let end = |part: &str| part.len().saturating_sub(text.len() - at);
        let (image, directory) = match directory {
            "" => (&image[..end(image)], ""),
            directory => (image, &directory[..end(directory)]),
        };
        Self::new(Repo::image(image)?, directory, Some(tag))
    }

    fn of_file(file: &FileAddress<'_>) -> Result<Self> {
        let FileAddress { url, directory, reference } = *file;
        let (url, reference) = match (reference, url.contains(REF)) {
            (None, false) => with_ref(url),
            (reference, _) => (url.to_owned(), reference),
        };
        let repo = Repo::file(&url)?;
        let reference = if url.contains(REF) { reference } else { Some(reference.unwrap_or(LATEST)) };
        Self::new(repo, directory, reference)
    }

    /// Whether a text has the form of an address, rather than that of a path on disk.
    pub fn is_meant(text: &str) -> bool {
        text.contains("://") || split(text).is_some()
    }
}

/// The release of a tag of an image. As for helm, `_` is the `+` of a version, which no tag can have.
pub fn name_of_tag(tag: &str) -> String {
    let version = tag.replacen('_', "+", 1);
    let bare = version.strip_prefix('v').unwrap_or(&version);
    if version != tag && Version::parse(bare).is_ok() { version } else { tag.to_owned() }
}

/// The values after `?` of an address that people paste and that say nothing about what is meant.
const IDLE: [&str; 7] = ["at", "depth", "plain", "ref_type", "submodules", "tab", "timeout"];

/// An address that was copied from a browser or a kustomization, in the form of this program. Any other text stays as it is.
fn pasted(text: &str) -> Cow<'_, str> {
    let bare = text.strip_prefix("git::").filter(|rest| !rest.contains("::")).unwrap_or(text);
    let (address, values) = bare.split_once('?').unwrap_or((bare, ""));
    // A line of a page is no part of the address.
    let bare_of_line = |part| str::split(part, '#').next().unwrap_or_default();
    let page = page(bare_of_line(address));
    let values = if page.is_some() { bare_of_line(values) } else { values };
    let mut reference = None;
    for value in values.split('&').filter(|value| !value.is_empty()) {
        match value.split_once('=') {
            Some(("ref" | "version", named)) => reference = Some(named),
            Some((name, _)) if IDLE.contains(&name) => {}
            // It may be a secret, so nothing is understood.
            _ => return Cow::Borrowed(text),
        }
    }
    match (page, reference) {
        (None, None) => Cow::Borrowed(text),
        (Some(page), None) => Cow::Owned(page),
        (Some(page), Some(reference)) => Cow::Owned(format!("{page}@{reference}")),
        (None, Some(reference)) => {
            let scheme = if address.starts_with("github.com/") { "https://" } else { "" };
            Cow::Owned(format!("{scheme}{address}@{reference}"))
        }
    }
}

/// The address of what a page of a forge shows; `None` if the address is not that of such a page.
fn page(address: &str) -> Option<String> {
    let (scheme, rest) = address.split_once("://").filter(|(scheme, _)| scheme.starts_with("http"))?;
    let names: Vec<&str> = rest.trim_end_matches('/').split('/').collect();
    if let ["raw.githubusercontent.com", owner, repo, reference, path @ ..] = names.as_slice()
        && *reference != "refs"
    {
        return Some(format!("{scheme}://github.com/{owner}/{repo}//{}@{reference}", path.join("/")));
    }
    // The names between the repository and the release.
    let (at, between) = match names.iter().position(|name| *name == "-") {
        Some(0) => return None,
        Some(at) => (at, 2),
        None => {
            (3, if names.get(3) == Some(&"src") && ["branch", "tag", "commit"].contains(names.get(4)?) { 2 } else { 1 })
        }
    };
    let is_page = match names.get(at..at + between)? {
        ["-", shows] | [shows] => ["tree", "blob", "raw", "src"].contains(shows),
        ["src", _] => true,
        _ => false,
    };
    let (reference, directory) = names.get(at + between..)?.split_first().filter(|_| is_page)?;
    if names[at - 1].ends_with(".git") {
        return None;
    }
    let directory = directory.join("/").replace("%20", " ");
    let reference = reference.replace("%2F", "/").replace("%2f", "/");
    Some(format!("{scheme}://{}//{directory}@{reference}", names[..at].join("/")))
}

/// How the name of a file ends that is a release by itself.
const DOCUMENTS: [&str; 3] = [".yaml", ".yml", ".json"];

/// How the name of an archive ends.
const ARCHIVES: [&str; 4] = [".tgz", ".tar.gz", ".tar", ".zip"];

/// What stands after the scheme in an address of the web; `None` if it is no such address.
fn after_scheme(text: &str) -> Option<&str> {
    ["https://", "http://"].into_iter().find_map(|scheme| text.strip_prefix(scheme))
}

/// Whether a text is an address of the web.
pub fn is_web(text: &str) -> bool {
    after_scheme(text).is_some()
}

/// The parts of the address of a file: `URL[//DIRECTORY][@REF]`.
struct FileAddress<'a> {
    url: &'a str,
    directory: &'a str,
    reference: Option<&'a str>,
}

/// The address of a file or of an archive; `None` if it is one of git.
fn file(text: &str) -> Option<FileAddress<'_>> {
    let scheme = text.len() - after_scheme(text)?.len();
    let last = text.rfind('/')?;
    let (all, reference) = match text[last..].split_once('@') {
        Some((_, reference)) => (&text[..text.len() - reference.len() - 1], Some(reference)),
        None => (text, None),
    };
    let (url, directory) = match all[scheme..].find("//") {
        Some(at) => (&all[..scheme + at], &all[scheme + at + 2..]),
        None => (all, ""),
    };
    let is_archive = ARCHIVES.iter().any(|end| url.ends_with(end));
    let is_document = DOCUMENTS.iter().any(|end| url.ends_with(end));
    let is_file = (is_archive || is_document) && url[scheme..].contains('/');
    // On GitHub, everything else is a path in a repository.
    let of_github = url[scheme..].strip_prefix("github.com/");
    let is_download = |path: &str| match path.split('/').skip(2).collect::<Vec<_>>()[..] {
        ["releases", "download" | "latest", ..] => true,
        ["archive", ..] => is_archive,
        _ => false,
    };
    let is_git = of_github.is_some_and(|path| !is_download(path)) || url.contains(".git/");
    // Only an archive has directories.
    let is_git = is_git || !directory.is_empty() && !is_archive;
    (is_file && !is_git).then_some(FileAddress { url, directory, reference })
}

/// An address with `{ref}` where it has a version, and the version: a folder of this name, or the end of the name of the file. Of several, it is
/// the one with the most parts.
fn with_ref(url: &str) -> (String, Option<&str>) {
    let path = url.find("://").and_then(|at| Some(at + 3 + url[at + 3..].find('/')?)).unwrap_or(url.len());
    let (folders, file) = url[path..].rsplit_once('/').unwrap_or_default();
    let is_version = |name: &&str| name.contains('.') && version_in(name).is_some();
    let ends = DOCUMENTS.into_iter().chain(ARCHIVES);
    let end = ends.filter_map(|end| file.strip_suffix(end)).min_by_key(|bare| bare.len());
    let of_file = || {
        let bare = end.filter(is_version)?;
        Some(&bare[version_in(bare)?.0.len()..])
    };
    let all: Vec<&str> = folders.split('/').filter(is_version).chain(of_file()).collect();
    match all.into_iter().rev().max_by_key(|version| version.matches('.').count()) {
        Some(version) => (url[..path].to_owned() + &with_ref_for(version, &url[path..]), Some(version)),
        None => (url.to_owned(), None),
    }
}

/// A path with `{ref}` for each version that is no part of a longer name or number.
fn with_ref_for(version: &str, path: &str) -> String {
    let is_of_name = |c: char| c.is_ascii_alphanumeric();
    let (mut out, mut end) = (String::new(), 0);
    for (at, _) in path.match_indices(version) {
        let (before, after) = (&path[..at], &path[at + version.len()..]);
        let is_begun = before.ends_with(|c| is_of_name(c) || c == '.');
        let is_number = |rest: &str| rest.starts_with(|c: char| c.is_ascii_digit());
        let goes_on = after.starts_with(is_of_name) || after.strip_prefix('.').is_some_and(is_number);
        if !is_begun && !goes_on {
            out += &path[end..at];
            out += REF;
            end = at + version.len();
        }
    }
    out + &path[end..]
}

/// Checks the name of a tag, branch or commit, or a range of versions.
///
/// # Errors
/// It cannot be one.
pub fn check_reference(name: &str) -> Result<()> {
    if Range::read(name).is_some() { Ok(()) } else { check_name(name) }
}

/// Checks the name of a tag, branch or commit.
///
/// # Errors
/// It cannot be one.
pub fn check_name(name: &str) -> Result<()> {
    let is_foreign = |c: char| c.is_control() || c.is_whitespace() || ":?*[\\".contains(c);
    if name.is_empty() || name.starts_with('-') || name.contains(is_foreign) || name.contains("..") {
        if let Some(why) = unread(name) {
            return Err(why);
        }
        bail!("a release must be the name of a tag, branch or commit, without `-` at its beginning, not \"{name}\"");
    }
    Ok(())
}

/// The repository, and the rest of the address after `/`.
fn split(text: &str) -> Option<(&str, &str)> {
    let after = |at: usize| {
        let rest = &text[at + ".git".len()..];
        (rest.is_empty() || rest.starts_with(['/', '@'])).then(|| (&text[..at + ".git".len()], rest))
    };
    if let Some(found) = text.match_indices(".git").find_map(|(at, _)| after(at)) {
        return Some(found);
    }
    let scheme = text.find("://").map(|at| at + "://".len())?;
    // A repository whose name does not end with `.git`: two slashes end it.
    if let Some(at) = text[scheme..].find("//") {
        return Some((&text[..scheme + at], &text[scheme + at + 2..]));
    }
    // On GitHub, each repository has an owner and a name.
    let path = text[scheme..].strip_prefix("github.com/")?;
    let end = path.match_indices(['/', '@']).map(|(at, _)| at).nth(1).unwrap_or(path.len());
    let at = text.len() - path.len() + end;
    Some((&text[..at], &text[at..]))
}

impl Repo {
    /// Reads the address of a repository.
    ///
    /// # Errors
    /// git must not be given it.
    pub fn parse(text: &str) -> Result<Self> {
        if text == ".git" || text == "./.git" {
            return Ok(Self::Here);
        }
        if credentials::are_in(text) {
            bail!(NO_SECRET);
        }
        let (scheme, rest) = match text.split_once("://") {
            Some((scheme, rest)) => (Some(scheme), rest),
            None => (None, text),
        };
        if text.is_empty() || text.starts_with('-') || text.contains(char::is_control) || text.contains("::") {
            bail!("a repository must be an address or a path, without `-` at its beginning and `::`, not \"{text}\"");
        }
        let schemes = ["https", "http", "ssh", "git", "file"];
        if scheme.is_some_and(|scheme| !schemes.contains(&scheme)) {
            bail!(
                "the address of a repository must begin with `https://`, `ssh://`, `git://` or `file://`, not \"{text}\""
            );
        }
        let host = rest.split('/').next().unwrap_or_default();
        let (user, host) = host.rsplit_once('@').map_or((None, host), |(user, host)| (Some(user), host));
        if host.starts_with('-') || user.is_some_and(|user| user.starts_with('-')) {
            bail!("the host of a repository must not begin with `-`, as in \"{text}\"");
        }
        Ok(Self::Remote(text.to_owned()))
    }

    /// A chart of a repository.
    ///
    /// # Errors
    /// Nobody must be asked for it.
    pub fn chart(repo: &str, name: &str) -> Result<Self> {
        let repo = repo.trim_end_matches('/');
        check_web(repo)?;
        let is_name = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
        if name.is_empty() || name.starts_with('.') || !name.chars().all(is_name) {
            bail!("a chart must have a name of letters, digits, `-`, `_` and `.`, not \"{name}\"");
        }
        Ok(Self::Chart(Chart { repo: repo.to_owned(), name: name.to_owned() }))
    }

    /// An image of a registry, `HOST/PATH`.
    ///
    /// # Errors
    /// Nobody must be asked for it.
    pub fn image(text: &str) -> Result<Self> {
        let text = text.trim_end_matches('/');
        let is_name = |name: &str| !name.is_empty() && name != "." && name != "..";
        let is_foreign = |c: char| !c.is_ascii_alphanumeric() && !"-_./:[]".contains(c);
        let (host, path) = text.split_once('/').unwrap_or((text, ""));
        if text.contains(is_foreign) || path.contains(':') || ![host].into_iter().chain(path.split('/')).all(is_name) {
            bail!(
                "the address of a registry must be `oci://HOST/PATH:TAG`, not \"oci://{}\"",
                credentials::hidden(text)
            );
        }
        Ok(Self::Oci(text.to_owned()))
    }

    /// A file or an archive at an address.
    ///
    /// # Errors
    /// Nobody must be asked for it.
    pub fn file(url: &str) -> Result<Self> {
        check_web(url)?;
        if url.ends_with('/') || url.split('/').count() < 4 {
            bail!("the address must be that of a file, not \"{url}\"");
        }
        // The name of a release must not choose the server.
        if url.split('/').take(3).any(|part| part.contains(REF)) {
            bail!("`{REF}` must come after the host of the address, not as in \"{url}\"");
        }
        Ok(Self::Http(url.to_owned()))
    }

    /// Whether git fetches it.
    pub fn is_git(&self) -> bool {
        matches!(self, Self::Here | Self::Remote(_))
    }

    /// A commit or a digest of it, for messages.
    pub fn exact(&self, commit: &str) -> String {
        if self.is_git() { format!("commit {commit}") } else { format!("digest sha256:{commit}") }
    }

    /// What a release of it has for a name, for messages.
    pub fn names(&self) -> &'static str {
        match self {
            Self::Here | Self::Remote(_) => "tag, branch or whole commit",
            Self::Chart(_) => "version",
            Self::Oci(_) => "tag or digest",
            Self::Http(_) => "release",
        }
    }

    /// The repository as kpt records it: without `.git` at its end. A path on disk is absolute.
    ///
    /// # Errors
    /// The current folder is not known.
    pub fn recorded(&self) -> Result<Self> {
        let Self::Remote(text) = self else { return Ok(self.clone()) };
        let text = if self.is_path() { absolute(text)? } else { text.trim_end_matches('/').to_owned() };
        // On disk, git prefers the folder without `.git`, which may be another repository.
        let is_other = |bare: &&str| self.is_path() && Path::new(bare).exists();
        let bare = text.strip_suffix(".git").filter(|bare| !bare.is_empty() && !bare.ends_with('/') && !is_other(bare));
        Ok(Self::Remote(bare.unwrap_or(&text).to_owned()))
    }

    /// Whether another address is that of the same repository, as far as the addresses tell.
    pub fn is_same(&self, other: &Self) -> bool {
        self == other || self.recorded().ok().zip(other.recorded().ok()).is_some_and(|(own, other)| own == other)
    }

    /// Whether it is a path on disk.
    pub fn is_path(&self) -> bool {
        match self {
            Self::Here => true,
            // `host:path` is an address for ssh.
            Self::Remote(text) => !text.contains("://") && !text.split('/').next().unwrap_or_default().contains(':'),
            Self::Chart(_) | Self::Oci(_) | Self::Http(_) => false,
        }
    }
}

/// Checks the address of a server.
fn check_web(url: &str) -> Result<()> {
    if credentials::are_in(url) {
        bail!(NO_SECRET);
    }
    if after_scheme(url).is_none_or(|host| host.starts_with(['/', '-']))
        || url.contains(|c: char| c.is_control() || c == ' ')
    {
        bail!("the address must begin with `https://` or `http://` and a host, and have no space, not \"{url}\"");
    }
    Ok(())
}

/// The absolute path of a repository on disk. Without `.` and `..`, unless a symbolic link before `..` leads elsewhere.
///
/// # Errors
/// The current folder is not known.
pub fn absolute(path: &str) -> io::Result<String> {
    let path = std::path::absolute(path)?;
    let mut clean = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => _ = clean.pop(),
            part => clean.push(part),
        }
    }
    // The repository may have `.git` at its end, which the path lacks.
    let folder = |path: &Path| path.parent().and_then(|above| fs::canonicalize(above).ok());
    let is_same = path.file_name().is_some() && folder(&clean) == folder(&path);
    Ok(if is_same { clean } else { path }.to_string_lossy().into_owned())
}

/// Whether a name is that of what a registry or a server gave: its SHA-256.
pub fn is_digest(name: &str) -> bool {
    name.len() == 64 && name.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

impl fmt::Display for Repo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Here => f.write_str(".git"),
            Self::Remote(text) | Self::Http(text) => f.write_str(text),
            Self::Chart(Chart { repo, name }) => write!(f, "{repo}//{name}"),
            Self::Oci(image) => write!(f, "oci://{image}"),
        }
    }
}

impl fmt::Display for ReleaseAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { repo, directory, reference } = self;
        let (end, slash) = match repo {
            Repo::Here | Repo::Remote(_) => (".git", "/"),
            Repo::Chart(_) => ("", "/"),
            Repo::Oci(_) | Repo::Http(_) => ("", "//"),
        };
        // A release stands in the address of its file, if everybody finds it there.
        let of_file = match (repo, reference) {
            (Repo::Http(url), Some(reference)) => Some(url.replace(REF, reference))
                .filter(|of_file| !url.contains(REF) || with_ref(of_file) == (url.clone(), Some(reference))),
            _ => None,
        };
        let repo = of_file.clone().unwrap_or_else(|| repo.to_string());
        write!(f, "{repo}{}", if repo.ends_with(end) { "" } else { end })?;
        if !directory.is_empty() {
            write!(f, "{slash}{directory}")?;
        }
        match (&self.repo, reference) {
            (_, None) => Ok(()),
            _ if of_file.is_some() => Ok(()),
            (Repo::Oci(_), Some(digest)) if is_digest(digest) => write!(f, "@sha256:{digest}"),
            (Repo::Oci(_), Some(tag)) if directory.is_empty() => write!(f, ":{tag}"),
            (_, Some(reference)) => write!(f, "@{reference}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_a_repository_a_directory_and_a_reference() {
        for (text, repo, directory, reference) in [
            ("https://example.com/a/b.git/deploy/web@v1", "https://example.com/a/b.git", "deploy/web", Some("v1")),
            ("https://example.com/a/b.git@v1", "https://example.com/a/b.git", "", Some("v1")),
            ("https://example.com/a/b.git/@v1", "https://example.com/a/b.git", "", Some("v1")),
            ("https://example.com/a/b.git//deploy/", "https://example.com/a/b.git", "deploy", None),
            ("git@example.com:a/b.git/deploy@feature/x", "git@example.com:a/b.git", "deploy", Some("feature/x")),
            ("ssh://git@example.com:22/b.git/d@v1", "ssh://git@example.com:22/b.git", "d", Some("v1")),
            ("/srv/b.git/d@@scope/pkg@1.0.0", "/srv/b.git", "d", Some("@scope/pkg@1.0.0")),
            (".git/deploy@v1", ".git", "deploy", Some("v1")),
            (".git@v1", ".git", "", Some("v1")),
            ("/srv/b//deploy@v1", "/srv/b", "deploy", Some("v1")),
            ("https://github.com/a/b/deploy@v1", "https://github.com/a/b", "deploy", Some("v1")),
            ("https://github.com/a/b@v1", "https://github.com/a/b", "", Some("v1")),
            (
                "https://github.com/a/b/releases/install.yaml@v1",
                "https://github.com/a/b",
                "releases/install.yaml",
                Some("v1"),
            ),
            ("https://github.com/a/b/archive/x.json@v1", "https://github.com/a/b", "archive/x.json", Some("v1")),
            ("https://h/proj.json//d@v1", "https://h/proj.json", "d", Some("v1")),
            ("https://example.com/a/_git/b//deploy@v1", "https://example.com/a/_git/b", "deploy", Some("v1")),
        ] {
            let address = ReleaseAddress::parse(text).expect(text);
            let found = (address.repo.to_string(), address.directory.as_str(), address.reference.as_deref());
            assert_eq!(found, (repo.to_owned(), directory, reference), "{text}");
        }
    }

    #[test]
    fn a_chart_an_image_and_a_file_have_addresses() {
        let digest = "0123456789abcdef".repeat(4);
        for (text, repo, directory, reference) in [
            ("oci://ghcr.io/o/charts/web:1.4.0", "oci://ghcr.io/o/charts/web", "", Some("1.4.0")),
            ("oci://ghcr.io/o/charts/web@1.4.0", "oci://ghcr.io/o/charts/web", "", Some("1.4.0")),
            ("oci://ghcr.io/o/web:^1.4", "oci://ghcr.io/o/web", "", Some("^1.4")),
            ("oci://localhost:5000/web", "oci://localhost:5000/web", "", None),
            ("oci://[::1]:5000/a/web:latest", "oci://[::1]:5000/a/web", "", Some("latest")),
            ("oci://h/web//values.yaml@1.0.0", "oci://h/web", "values.yaml", Some("1.0.0")),
            (&format!("oci://h/a/web@sha256:{digest}"), "oci://h/a/web", "", Some(digest.as_str())),
            (&format!("oci://h/a/web:1.0.0@sha256:{digest}"), "oci://h/a/web", "", Some(digest.as_str())),
            ("https://h/v1.2.0/install.yaml", "https://h/{ref}/install.yaml", "", Some("v1.2.0")),
            ("https://h/{ref}/install.yaml", "https://h/{ref}/install.yaml", "", None),
            ("https://h/{ref}/install.yaml@^1", "https://h/{ref}/install.yaml", "", Some("^1")),
            ("https://h/d/web-1.2.0.tgz", "https://h/d/web-{ref}.tgz", "", Some("1.2.0")),
            ("https://h/1.2.0/web-1.2.0.tar.gz", "https://h/{ref}/web-{ref}.tar.gz", "", Some("1.2.0")),
            ("https://h/a/1.0/b-21.0.3.yaml", "https://h/a/1.0/b-{ref}.yaml", "", Some("21.0.3")),
            ("https://h/1.2/web-1.2.0.yaml", "https://h/1.2/web-{ref}.yaml", "", Some("1.2.0")),
            ("https://h/rel-1.2/v1.2.0/i.yaml", "https://h/rel-1.2/{ref}/i.yaml", "", Some("v1.2.0")),
            ("https://h/1.0/b-21.0.yaml", "https://h/{ref}/b-21.0.yaml", "", Some("1.0")),
            ("https://h/web.zip//deploy", "https://h/web.zip", "deploy", Some("latest")),
            ("http://h:80/install.yaml", "http://h:80/install.yaml", "", Some("latest")),
            (
                "https://github.com/a/b/releases/download/v1.2.0/install.yaml",
                "https://github.com/a/b/releases/download/{ref}/install.yaml",
                "",
                Some("v1.2.0"),
            ),
            (
                "https://github.com/a/b/archive/refs/tags/v1.2.0.tar.gz",
                "https://github.com/a/b/archive/refs/tags/{ref}.tar.gz",
                "",
                Some("v1.2.0"),
            ),
            // A path in a repository of git.
            ("https://github.com/a/b/install.yaml@v1", "https://github.com/a/b", "install.yaml", Some("v1")),
            ("https://h/b.git/install.yaml@v1", "https://h/b.git", "install.yaml", Some("v1")),
            ("https://h/b//install.yaml@v1", "https://h/b", "install.yaml", Some("v1")),
        ] {
            let address = ReleaseAddress::parse(text).expect(text);
            let found = (address.repo.to_string(), address.directory.as_str(), address.reference.as_deref());
            assert_eq!(found, (repo.to_owned(), directory, reference), "{text}");
            let again = ReleaseAddress::parse(&address.to_string()).expect("an address");
            assert!(address.repo.is_git() || again == address, "{again:?}");
        }
        for (chart, directory, reference) in
            [("web", "", None), ("web@^1.4", "", Some("^1.4")), ("web/values.yaml@1.0.0", "values.yaml", Some("1.0.0"))]
        {
            let address = ReleaseAddress::of_chart("https://charts.example.com/", chart).expect(chart);
            let found = (address.repo.to_string(), address.directory.as_str(), address.reference.as_deref());
            assert_eq!(found, ("https://charts.example.com//web".to_owned(), directory, reference), "{chart}");
            assert_eq!(address.to_string(), format!("https://charts.example.com//{chart}"));
        }
    }

    #[test]
    fn what_people_paste_is_understood() {
        for (text, want) in [
            ("https://github.com/a/b/tree/v1/deploy/web", "https://github.com/a/b.git/deploy/web@v1"),
            ("https://github.com/a/b/tree/v1?tab=readme-ov-file", "https://github.com/a/b.git@v1"),
            ("https://github.com/a/b/blob/v1/install.yaml", "https://github.com/a/b.git/install.yaml@v1"),
            ("https://gitlab.com/a/b/c/-/tree/v1/deploy/?ref_type=tags", "https://gitlab.com/a/b/c.git/deploy@v1"),
            ("https://codeberg.org/a/b/src/tag/v1/deploy", "https://codeberg.org/a/b.git/deploy@v1"),
            ("https://codeberg.org/a/b/src/branch/main", "https://codeberg.org/a/b.git@main"),
            ("https://bitbucket.org/a/b/src/v1/deploy", "https://bitbucket.org/a/b.git/deploy@v1"),
            ("https://bitbucket.org/a/b/src/v1/deploy/?at=v1", "https://bitbucket.org/a/b.git/deploy@v1"),
            ("https://github.com/a/b/tree/feature%2Fx/d%20e", "https://github.com/a/b.git/d e@feature/x"),
            ("https://github.com/a/b/blob/v1/a.yaml#L3-L5", "https://github.com/a/b.git/a.yaml@v1"),
            ("https://github.com/a/b//deploy?ref=v1", "https://github.com/a/b.git/deploy@v1"),
            ("https://github.com/a/b//deploy?timeout=90s&ref=v1", "https://github.com/a/b.git/deploy@v1"),
            ("github.com/a/b//deploy?ref=v1", "https://github.com/a/b.git/deploy@v1"),
            ("git@github.com:a/b.git//deploy?ref=v1", "git@github.com:a/b.git/deploy@v1"),
            ("git::https://example.com/a/b.git//deploy?ref=v1", "https://example.com/a/b.git/deploy@v1"),
            ("https://raw.githubusercontent.com/a/b/v1/d/a.yaml", "https://github.com/a/b.git/d/a.yaml@v1"),
            // The folder `tree` of a repository that the address names is a folder.
            ("https://example.com/a/b.git/tree/v1@v2", "https://example.com/a/b.git/tree/v1@v2"),
        ] {
            assert_eq!(ReleaseAddress::parse(text).expect(text).to_string(), want, "{text}");
        }
        let error = ReleaseAddress::parse("https://github.com/a/b//d?ref=v1&token=secret").expect_err("a secret");
        assert!(error.to_string().contains("must not hold a password"), "{error}");
    }

    #[test]
    fn nothing_of_an_address_is_an_option_or_starts_a_program() {
        for (text, want) in [
            ("--upload-pack=x.git/d@v1", "without `-`"),
            ("ext::sh -c id.git/d@v1", "`::`"),
            ("https://-oProxyCommand=x/b.git/d@v1", "must not begin with `-`"),
            ("-x@example.com:b.git/d@v1", "without `-`"),
            ("https://me:secret@example.com/b.git/d@v1", "must not hold a password"),
            ("https://secret@example.com/b", "must not hold a password"),
            ("HTTPS://secret@example.com/b.git", "must not hold a password"),
            ("me:secret@example.com:b.git/d@v1", "must not hold a password"),
            ("me:secret@example.com/b", "must be REPO.git/DIRECTORY@REF"),
            ("https://example.com/b.git/d@v1?private_token=secret", "must not hold a password"),
            ("git@example.com:b.git/d?private_token=secret@v1", "must not hold a password"),
            ("git@example.com:b.git/d@v1#private_token=secret", "must not hold a password"),
            ("ftp://example.com/b.git/d@v1", "must begin with"),
            ("https://example.com/b.git/../x@v1", "without `.` and `..`"),
            ("https://example.com/b.git/d@--help", "without `-`"),
            ("https://example.com/b.git/d@a\nb", "name of a tag"),
            ("https://example.com/b.git/d@", "name of a tag"),
            ("https://example.com/\nb.git/d@v1", "must be an address"),
            ("v1", "must be REPO.git/DIRECTORY@REF"),
            ("oci://me:secret@h/web:1", "must not hold a password"),
            ("oci://h", "must be `oci://HOST/PATH:TAG`"),
            ("oci://h/../web:1", "must be `oci://HOST/PATH:TAG`"),
            ("oci://h/web:a:b", "name of a tag"),
            ("https://secret@h/x.yaml", "must not hold a password"),
            ("https://h/x.yaml?token=secret", "must not hold a password"),
            ("https:///x.yaml", "and a host"),
            ("https://h/v1.2.0/install.yaml@v1.3.0", "has no place for the release"),
            ("https://h/plain.yaml?ref=v1", "has no place for the release"),
        ] {
            let error = ReleaseAddress::parse(text).expect_err(text).to_string();
            assert!(error.contains(want) && !error.contains("secret"), "{error}");
        }
    }

    #[test]
    fn a_repository_is_recorded_as_kpt_does_it() {
        for (text, want) in [
            ("https://example.com/a/b.git", "https://example.com/a/b"),
            ("file:///srv/b.git", "file:///srv/b"),
            ("/srv/b.git", "/srv/b"),
            ("/srv/b/.git", "/srv/b/.git"),
            (".git", ".git"),
        ] {
            assert_eq!(Repo::parse(text).expect(text).recorded().expect(text).to_string(), want);
        }
        let unclean = concat!(env!("CARGO_MANIFEST_DIR"), "/src/.././/src/../b.git");
        let want = concat!(env!("CARGO_MANIFEST_DIR"), "/b");
        assert_eq!(Repo::parse(unclean).expect("a path").recorded().expect("a path").to_string(), want);
        // This folder lies beside it.
        let beside = concat!(env!("CARGO_MANIFEST_DIR"), ".git");
        assert_eq!(Repo::parse(beside).expect("a path").recorded().expect("a path").to_string(), beside);
    }
}
