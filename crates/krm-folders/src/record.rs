//! The record of a package: where it comes from, and which release it has.
//!
//! It stands in the Kptfile, as kpt reads and writes it. A package without a Kptfile, or with an upstream that is not in git, has it in its
//! `.krm-merge.yaml`, in `spec`. It is written by edits of the text, so comments and everything else stay.

use crate::config_file::NEW;
use anyhow::{Context, Result, anyhow, bail};
use krm_git::address::{Chart, LATEST, REF, ReleaseAddress, Repo, check_name, is_digest};
use krm_git::refs::{RefKind, State, is_commit};
use krm_merge_core::merge::Merging;
use krm_merge_core::policy::Policy;
use krm_package::resource::{Origin, Resource};
use krm_package::rules::{Named, Rules};
use krm_schema::mode::Mode;
use krm_schema::schema::{Inference, Types};
use krm_tree::limit::Budget;
use krm_tree::splice;
use krm_tree::tree::Tree;
use krm_yaml::{Document, NodeRef, plain_or_quoted};

use crate::selection::PATHS;

mod render;

pub use render::{RENDER, Render, is_of_package};

/// Where a package comes from, and which release it has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// Where it comes from.
    pub upstream: Upstream,
    /// How helm makes the release of a chart; `None` if the release is the files of upstream.
    pub render: Option<Render>,
    /// The release that it has; `None` if it has none yet.
    pub lock: Option<Lock>,
}

/// Where a package comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Upstream {
    /// A directory of what has releases, at the recorded version, tag, branch, commit or digest.
    Releases(ReleaseAddress),
    /// The output of a command, in which `{ref}` stands for the release.
    Run {
        /// The program and its arguments.
        run: Vec<String>,
        /// The release.
        reference: Option<String>,
    },
}

/// The release that a package has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lock {
    /// Its version, tag, branch, commit or digest, or the release of a command.
    pub reference: String,
    /// Its commit, its digest, or the SHA-256 of the output of the command.
    pub exact: String,
    /// Where it comes from, which may be another place than that of the next release; `None` for a command.
    pub address: Option<ReleaseAddress>,
    /// The SHA-256 of what helm made of the chart, if helm made the release.
    pub rendered: Option<String>,
}

impl Lock {
    /// The release of a command, which nobody has rendered.
    pub fn state(&self) -> State {
        let (name, reference) = (self.reference.clone(), self.reference.clone());
        State { name, reference, commit: self.exact.clone(), kind: RefKind::Commit }
    }
}

/// The fields of the record.
const UPSTREAM: &str = "upstream";
const LOCK: &str = "upstreamLock";

/// The document in which a record stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordDocument {
    /// The Kptfile.
    Kptfile,
    /// `.krm-merge.yaml`.
    Rules,
}

impl RecordDocument {
    /// The map that has the fields of the record.
    fn parent<'a>(self, root: NodeRef<'a>) -> Option<NodeRef<'a>> {
        match self {
            Self::Kptfile => Some(root),
            Self::Rules => root.get("spec"),
        }
    }

    /// Whether a document has a record, even an invalid one.
    pub fn has_record(self, document: &Document<'_>) -> bool {
        let parent = document.roots().next().and_then(|root| self.parent(root));
        parent.and_then(|parent| parent.get(UPSTREAM)).is_some_and(|upstream| !upstream.is_null())
    }
}

impl Record {
    /// The record of a package that gets a state of a directory. `wish` says what the package wants: this state, or a range that it is in.
    pub fn of_release(wish: &ReleaseAddress, state: &State) -> Self {
        let locked = Some(ReleaseAddress { reference: Some(state.reference.clone()), ..wish.clone() });
        let (reference, exact) = (state.reference.clone(), state.commit.clone());
        let lock = Lock { reference, exact, address: locked, rendered: None };
        Self { upstream: Upstream::Releases(wish.clone()), render: None, lock: Some(lock) }
    }

    /// The document for it. A Kptfile can say git alone. `wanted` is the document that the package has for records.
    pub fn document(&self, wanted: Option<RecordDocument>) -> RecordDocument {
        let is_git = matches!(&self.upstream, Upstream::Releases(address) if address.repo.is_git());
        wanted.filter(|_| is_git && self.render.is_none()).unwrap_or(RecordDocument::Rules)
    }

    /// Reads the record in a document; `None` if there is none. `name` is the name of the file.
    ///
    /// # Errors
    /// The record is invalid. The error has the place in the file.
    pub fn read(document: &Document<'_>, place: RecordDocument, name: &str) -> Result<Option<Self>> {
        let parent = document.roots().next().and_then(|root| place.parent(root));
        let Some(upstream) = parent.and_then(|parent| parent.get(UPSTREAM)).filter(|node| !node.is_null()) else {
            return Ok(None);
        };
        let lock = parent.and_then(|parent| parent.get(LOCK)).filter(|node| !node.is_null());
        let read = || {
            let lock = lock.map(|lock| of_lock(lock, place)).transpose()?;
            Ok(Self { upstream: of_upstream(upstream, place)?, render: of_render(upstream, place)?, lock })
        };
        read().map(Some).map_err(|fault: RecordFault| anyhow!("{name}:{}: {:#}", fault.at, fault.why))
    }

    /// The fields as YAML. `strategy` is the line with kpt's strategy, if it is missing.
    fn yaml(&self, strategy: &str) -> String {
        let Self { upstream, render, lock } = self;
        let render = render.as_ref().map_or_else(String::new, Render::yaml);
        let rendered = lock.as_ref().and_then(|lock| lock.rendered.as_deref());
        let rendered = rendered.map(|hash| format!("  {RENDER}:\n    sha256: {}\n", exact(hash))).unwrap_or_default();
        let address = match upstream {
            Upstream::Run { run, reference } => {
                let run: Vec<String> =
                    run.iter().map(|word| serde_json::Value::from(word.as_str()).to_string()).collect();
                let reference = reference.iter().map(|reference| format!("  ref: {}\n", plain_or_quoted(reference)));
                let lock = lock.iter().map(|lock| {
                    format!("{LOCK}:\n  ref: {}\n  sha256: {}\n", plain_or_quoted(&lock.reference), exact(&lock.exact))
                });
                let reference: String = reference.collect();
                return format!("{UPSTREAM}:\n  run: [{}]\n{reference}{}", run.join(", "), lock.collect::<String>());
            }
            Upstream::Releases(address) => address,
        };
        if !address.repo.is_git() {
            let wish = address.reference.as_deref().unwrap_or_default();
            let mut yaml = format!("{UPSTREAM}:\n{}{render}", source_yaml(address, wish));
            if let Some(Lock { reference, exact, address: locked, .. }) = lock {
                let source = source_yaml(locked.as_ref().unwrap_or(address), reference);
                yaml.push_str(&format!("{LOCK}:\n{source}    digest: {DIGEST}{exact}\n{rendered}"));
            }
            return yaml;
        }
        let git = |at: &ReleaseAddress, reference: &str| {
            let directory = plain_or_quoted(&format!("/{}", at.directory));
            let [repo, reference] = [plain_or_quoted(&at.repo.to_string()), plain_or_quoted(reference)];
            format!("  type: git\n  git:\n    repo: {repo}\n    directory: {directory}\n    ref: {reference}\n")
        };
        let mut yaml = format!("{UPSTREAM}:\n{}", git(address, address.reference.as_deref().unwrap_or_default()));
        yaml.push_str(strategy);
        yaml.push_str(&render);
        if let Some(lock) = lock {
            let git = git(lock.address.as_ref().unwrap_or(address), &lock.reference);
            yaml.push_str(&format!("{LOCK}:\n{git}    commit: {}\n{rendered}", exact(&lock.exact)));
        }
        yaml
    }
}

/// What stands before a digest in a record.
const DIGEST: &str = "sha256:";

/// The fields of a record for a release that is not in git.
fn source_yaml(ReleaseAddress { repo, directory, .. }: &ReleaseAddress, reference: &str) -> String {
    let tag = if is_digest(reference) { format!("{DIGEST}{reference}") } else { reference.to_owned() };
    let fields = match repo {
        Repo::Chart(Chart { repo, name }) => {
            vec![("chart", ""), ("repo", repo), ("name", name), ("version", reference)]
        }
        Repo::Oci(image) => vec![("oci", ""), ("image", image), ("tag", &tag)],
        Repo::Http(url) if url.contains(REF) => vec![("http", ""), ("url", url), ("ref", reference)],
        Repo::Http(url) => vec![("http", ""), ("url", url)],
        Repo::Here | Repo::Remote(_) => Vec::new(),
    };
    let mut fields = fields.into_iter();
    let kind = fields.next().map_or("", |(kind, _)| kind);
    let directory = Some(("directory", directory.as_str())).filter(|(_, directory)| !directory.is_empty());
    let field = |(name, value): (&str, &str)| format!("    {name}: {}\n", plain_or_quoted(value));
    format!("  {kind}:\n{}", fields.chain(directory).map(field).collect::<String>())
}

/// A commit or hash as kpt writes it: in quotes only if it would be a number.
fn exact(text: &str) -> String {
    let is_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let is_number = text.split_once('e').map_or(is_digits(text), |(one, other)| is_digits(one) && is_digits(other));
    if is_number { format!("\"{text}\"") } else { text.to_owned() }
}

/// A wrong field of a record, with its place.
#[derive(Debug)]
struct RecordFault {
    at: krm_yaml::Position,
    why: anyhow::Error,
}

/// The text at a field, which must be there.
fn text(node: NodeRef<'_>, path: &[&str]) -> Result<String, RecordFault> {
    let found =
        node.at(path).filter(|found| !found.is_map() && !found.is_list() && !found.is_null()).map(NodeRef::string);
    let missing = || RecordFault { at: node.position(), why: anyhow!("there must be the field `{}`", path.join(".")) };
    found.map(str::to_owned).ok_or_else(missing)
}

fn of_upstream(node: NodeRef<'_>, place: RecordDocument) -> Result<Upstream, RecordFault> {
    let fault = |why| RecordFault { at: node.position(), why };
    if let Some(run) = node.get("run").filter(|_| place == RecordDocument::Rules) {
        let words: Vec<String> = run
            .elements()
            .filter(|word| !word.is_map() && !word.is_list())
            .map(|word| word.string().to_owned())
            .collect();
        if words.is_empty() || words.len() != run.elements().count() {
            let why = anyhow!(
                "`{UPSTREAM}.run` must be a program and its arguments, such as `[helm, template, \"{{ref}}\"]`"
            );
            return Err(RecordFault { at: run.position(), why });
        }
        let reference = node.get("ref").map(|_| text(node, &["ref"])).transpose()?;
        reference.as_deref().map_or(Ok(()), check_name).map_err(fault)?;
        return Ok(Upstream::Run { run: words, reference });
    }
    let source = source(node).filter(|_| place == RecordDocument::Rules);
    source.map_or_else(|| of_git(node), |kind| of_source(node, kind)).map(Upstream::Releases)
}

/// The field of a release that is not in git; `None` if there is no such field.
fn source(node: NodeRef<'_>) -> Option<&'static str> {
    ["chart", "oci", "http"].into_iter().find(|kind| node.get(kind).is_some())
}

/// The address in the field of a release that is not in git.
fn of_source(node: NodeRef<'_>, kind: &str) -> Result<ReleaseAddress, RecordFault> {
    let at = node.get(kind).unwrap_or(node);
    let text = |field: &str| text(node, &[kind, field]);
    let reference = match kind {
        "chart" => text("version")?,
        "oci" => text("tag")?,
        _ if text("url")?.contains(REF) || at.get("ref").is_some() => text("ref")?,
        _ => LATEST.to_owned(),
    };
    let directory = at.get("directory").map(|_| text("directory")).transpose()?;
    let repo = match kind {
        "chart" => Repo::chart(&text("repo")?, &text("name")?),
        "oci" => Repo::image(&text("image")?),
        _ => Repo::file(&text("url")?),
    };
    let reference = reference.strip_prefix(DIGEST).unwrap_or(&reference);
    let address = repo.and_then(|repo| ReleaseAddress::new(repo, &directory.unwrap_or_default(), Some(reference)));
    address.map_err(|why| RecordFault { at: at.position(), why })
}

/// The address in the field `git`.
fn of_git(node: NodeRef<'_>) -> Result<ReleaseAddress, RecordFault> {
    let [repo, reference] = [text(node, &["git", "repo"])?, text(node, &["git", "ref"])?];
    let directory = node.at(&["git", "directory"]).map(|_| text(node, &["git", "directory"])).transpose()?;
    let address =
        Repo::parse(&repo).and_then(|repo| ReleaseAddress::new(repo, &directory.unwrap_or_default(), Some(&reference)));
    address.map_err(|why| RecordFault { at: node.position(), why })
}

/// How helm makes the release, which only `.krm-merge.yaml` can say, and only of what has releases.
fn of_render(upstream: NodeRef<'_>, place: RecordDocument) -> Result<Option<Render>, RecordFault> {
    if place != RecordDocument::Rules {
        return Ok(None);
    }
    let render = Render::read(upstream)?;
    let is_file = source(upstream) == Some("http");
    if render.is_some() && (upstream.get("run").is_some() || is_file) {
        let why = anyhow!(
            "`{UPSTREAM}.{RENDER}` must be beside `chart`, `oci` or `git`, for helm makes the release of a chart"
        );
        return Err(RecordFault { at: upstream.position(), why });
    }
    Ok(render)
}

fn of_lock(node: NodeRef<'_>, place: RecordDocument) -> Result<Lock, RecordFault> {
    let fault = |why| RecordFault { at: node.position(), why };
    let rendered = node.get(RENDER).filter(|render| place == RecordDocument::Rules && !render.is_null());
    let rendered = rendered.map(|_| text(node, &[RENDER, "sha256"])).transpose()?;
    if let Some(hash) = rendered.as_deref().filter(|hash| !is_digest(hash)) {
        return Err(fault(anyhow!("`{LOCK}.{RENDER}.sha256` must be 64 hexadecimal digits, not \"{hash}\"")));
    }
    if let Some(kind) = source(node) {
        let (address, digest) = (of_source(node, kind)?, text(node, &[kind, "digest"])?);
        let exact = digest.strip_prefix(DIGEST).filter(|digest| is_digest(digest));
        let exact = exact.ok_or_else(|| {
            fault(anyhow!("the digest must be `sha256:` and 64 hexadecimal digits, not \"{digest}\""))
        })?;
        let reference = address.reference.clone().unwrap_or_default();
        return Ok(Lock { reference, exact: exact.to_owned(), address: Some(address), rendered });
    }
    let is_git = node.get("git").is_some();
    let (reference, exact) = match is_git {
        true => (text(node, &["git", "ref"])?, text(node, &["git", "commit"])?),
        false => (text(node, &["ref"])?, text(node, &["sha256"])?),
    };
    check_name(&reference).map_err(fault)?;
    // Without a repository of its own, it is of the upstream.
    let address = node.at(&["git", "repo"]).map(|_| of_git(node)).transpose()?;
    if !is_commit(&exact) {
        return Err(fault(anyhow!("the commit or hash must be a whole one, not \"{exact}\"")));
    }
    Ok(Lock { reference, exact, address, rendered })
}

/// The text of a document with this record in place of the one that it has. Without a text, it is that of a new `.krm-merge.yaml`.
///
/// # Errors
/// The text is not YAML, or has no map for the record.
pub fn with_record(text: Option<&str>, place: RecordDocument, record: &Record) -> Result<String> {
    let text = text.filter(|text| !text.trim().is_empty()).unwrap_or(NEW);
    let document = Document::parse(text.to_owned())?;
    let parent = document.roots().next().and_then(|root| place.parent(root));
    let has_strategy = parent.is_some_and(|parent| parent.at(&[UPSTREAM, "updateStrategy"]).is_some());
    let yaml = record.yaml(match place {
        RecordDocument::Kptfile if !has_strategy => "  updateStrategy: resource-merge\n",
        RecordDocument::Kptfile | RecordDocument::Rules => "",
    });
    let new = Document::parse(yaml.clone())?;
    let old = parent.zip(new.roots().next()).map(|(old, new)| leftovers(old, new, &[UPSTREAM, LOCK]));
    if let Some(old) = old.filter(|old| !old.is_empty()) {
        let patch = if place == RecordDocument::Rules { format!("spec: {{{old}}}") } else { format!("{{{old}}}") };
        return with_record(Some(&patched(&document, &patch)?), place, record);
    }
    let indented: String = yaml.lines().map(|line| format!("  {line}\n")).collect();
    // A new field finds its place by the one before it.
    patched(
        &document,
        &match place {
            RecordDocument::Kptfile if parent.is_some_and(|root| root.get("metadata").is_some()) => {
                format!("metadata: {{}}\n{yaml}")
            }
            RecordDocument::Kptfile => yaml,
            RecordDocument::Rules => format!("spec:\n{indented}"),
        },
    )
}

/// The fields that a record of one upstream has, and that of another one has not.
const OF_SOME: [&str; 10] = ["type", "git", "run", "ref", "sha256", "chart", "oci", "http", "directory", RENDER];

/// A patch, as the inside of a map, that removes what is left of another upstream in a record.
fn leftovers(old: NodeRef<'_>, new: NodeRef<'_>, fields: &[&str]) -> String {
    let patch = |field: &&str| match (old.get(field)?, new.get(field)) {
        (_, None) if OF_SOME.contains(field) => Some(format!("{field}: null")),
        (old, Some(new)) => Some(leftovers(old, new, &OF_SOME))
            .filter(|inside| !inside.is_empty())
            .map(|inside| format!("{field}: {{{inside}}}")),
        _ => None,
    };
    fields.iter().filter_map(patch).collect::<Vec<_>>().join(", ")
}

/// The text of a `.krm-merge.yaml` that says which part of upstream the package takes. Without a text, it is that of a new one.
///
/// # Errors
/// The text is not YAML, or has no map for the list.
pub fn with_paths(text: Option<&str>, paths: &[String]) -> Result<String> {
    let text = text.filter(|text| !text.trim().is_empty()).unwrap_or(NEW);
    let paths: String = paths.iter().map(|path| format!("  - {}\n", plain_or_quoted(path))).collect();
    patched(&Document::parse(text.to_owned())?, &format!("spec:\n  {PATHS}:\n{paths}"))
}

/// The Kptfile of a side, with the record of dest's Kptfile, and its name: neither is taken from upstream.
///
/// # Errors
/// A text is not YAML.
pub fn as_in_dest(text: &str, dest: &str, record: Option<&Record>) -> Result<String> {
    let bare = without_record(text)?;
    let document = Document::parse(dest.to_owned())?;
    let name = document.roots().next().and_then(|root| root.at(&["metadata", "name"])).map(NodeRef::string);
    let named = match name {
        Some(name) => patched(&Document::parse(bare)?, &format!("metadata:\n  name: {}\n", plain_or_quoted(name)))?,
        None => bare,
    };
    record.map_or(Ok(named.clone()), |record| with_record(Some(&named), RecordDocument::Kptfile, record))
}

/// The text of a Kptfile without its record.
///
/// # Errors
/// The text is not YAML, or its record is part of something else.
pub fn without_record(text: &str) -> Result<String> {
    let document = Document::parse(text.to_owned())?;
    if document.roots().filter(|root| !root.is_null()).count() > 1 {
        bail!("a Kptfile must be one document");
    }
    let bare = patched(&document, &format!("{UPSTREAM}: null\n{LOCK}: null\n"))?;
    if RecordDocument::Kptfile.has_record(&Document::parse(bare.clone())?) {
        bail!("a Kptfile must have its own `{UPSTREAM}`, not that of an anchor");
    }
    Ok(bare)
}

/// The text of a document with the values of a patch.
fn patched(document: &Document<'_>, patch: &str) -> Result<String> {
    let patch = Document::parse(patch.to_owned())?;
    let (Some(root), Some(source)) = (document.roots().next(), patch.roots().next()) else {
        bail!("there must be a document with a map");
    };
    if !root.is_map() {
        bail!("{}: it must be a map", root.position());
    }
    let (types, budget) = (Types::new([], Inference::On), Budget::default());
    let rules = Rules { types: &types, mode: Mode::TwoWay, policy: Policy::default(), budget: &budget };
    let [resource, source] = [root, source].map(|node| Resource::read(node, Origin::Item(0)));
    let mut merging = Merging::of(Some(Tree::Node(root)));
    rules.patched(&resource, &mut merging, &source, Named::ByIdentity).map_err(|e| anyhow!("{}", e.error))?;
    let tree = merging.finish().context("a document must not be removed")?;
    let text = document.source();
    Ok(splice::edits(root, &tree, &budget)?.apply(text, 0..text.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_commit_stands_in_quotes_only_if_it_would_be_a_number() {
        for (text, is_quoted) in [("0123", true), ("12e34", true), ("e12", true), ("12a", false), ("1e2e3", false)] {
            assert_eq!(exact(text).starts_with('"'), is_quoted, "{text}");
        }
    }

    const COMMIT: &str = "0123456789012345678901234567890123456789";

    fn record(source: &str) -> Record {
        let address = ReleaseAddress::parse(source).expect(source);
        let locked = ReleaseAddress { reference: Some("deploy/v2".to_owned()), ..address.clone() };
        let lock =
            Lock { reference: "deploy/v2".to_owned(), exact: COMMIT.to_owned(), address: Some(locked), rendered: None };
        Record { upstream: Upstream::Releases(address), render: None, lock: Some(lock) }
    }

    #[test]
    fn a_new_record_stands_where_kpt_writes_it() {
        let text = "apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: web # ours\ninfo:\n  description: x\n";
        let want = format!(
            "apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: web # ours\nupstream:\n  type: git\n  git:\n    repo: https://example.com/r.git\n    directory: /deploy\n    ref: v2\n  updateStrategy: resource-merge\nupstreamLock:\n  type: git\n  git:\n    repo: https://example.com/r.git\n    directory: /deploy\n    ref: deploy/v2\n    commit: \"{COMMIT}\"\ninfo:\n  description: x\n"
        );
        let record = record("https://example.com/r.git/deploy@v2");
        let written = with_record(Some(text), RecordDocument::Kptfile, &record).expect("written");
        assert_eq!(written, want);
        let document = Document::parse(written.clone()).expect("YAML");
        assert_eq!(Record::read(&document, RecordDocument::Kptfile, "x").expect("valid"), Some(record.clone()));
        assert_eq!(with_record(Some(&written), RecordDocument::Kptfile, &record).expect("written"), written);
        assert_eq!(without_record(&written).expect("written"), text);
    }

    #[test]
    fn a_record_is_changed_in_its_place_and_keeps_comments() {
        let text = "upstream: # from the other team\n  git:\n    repo: https://example.com/r\n    directory: deploy\n    ref: v1 # pinned\n  updateStrategy: fast-forward\nkind: Kptfile\n";
        let written = with_record(Some(text), RecordDocument::Kptfile, &record("https://example.com/r//deploy@v2"))
            .expect("written");
        assert!(written.starts_with("upstream: # from the other team\n"), "{written}");
        assert!(written.contains("ref: v2 # pinned\n  updateStrategy: fast-forward\n"), "{written}");
    }

    #[test]
    fn a_package_without_a_kptfile_has_its_record_beside_its_rules() {
        let record = Record {
            upstream: Upstream::Run { run: vec!["helm".into(), "{ref}".into()], reference: Some("1.10".into()) },
            render: None,
            lock: Some(Lock { reference: "1.10".into(), exact: COMMIT.into(), address: None, rendered: None }),
        };
        let new = with_record(None, RecordDocument::Rules, &record).expect("written");
        let want = format!(
            "{NEW}  upstream:\n    run: [\"helm\", \"{{ref}}\"]\n    ref: \"1.10\"\n  upstreamLock:\n    ref: \"1.10\"\n    sha256: \"{COMMIT}\"\n"
        );
        assert_eq!(new, want);
        let document = Document::parse(new).expect("YAML");
        assert_eq!(Record::read(&document, RecordDocument::Rules, "x").expect("valid"), Some(record.clone()));
        let rules = "apiVersion: krm-merge.dev/v1alpha1\nkind: Merge\nspec:\n  rules: # ours\n  - take: Dest\n";
        let written = with_record(Some(rules), RecordDocument::Rules, &record).expect("written");
        assert!(written.starts_with(rules) && written.ends_with(&want[NEW.len()..]), "{written}");
    }

    #[test]
    fn a_release_that_is_not_in_git_has_a_record_of_its_kind() {
        let digest = "0123456789abcdef".repeat(4);
        let of = |wish: ReleaseAddress, reference: &str| {
            let locked = ReleaseAddress { reference: Some(reference.to_owned()), ..wish.clone() };
            let lock =
                Lock { reference: reference.to_owned(), exact: digest.clone(), address: Some(locked), rendered: None };
            Record { upstream: Upstream::Releases(wish), render: None, lock: Some(lock) }
        };
        let parse = |text: &str| ReleaseAddress::parse(text).expect(text);
        let chart = ReleaseAddress::of_chart("https://charts.example.com", "web@^1.4").expect("a chart");
        let mut last =
            with_record(None, RecordDocument::Rules, &record("https://example.com/r.git/deploy@v2")).expect("git");
        for (record, want) in [
            (
                of(chart, "1.10.0"),
                format!(
                    "  upstream:\n    chart:\n      repo: https://charts.example.com\n      name: web\n      version: ^1.4\n  upstreamLock:\n    chart:\n      repo: https://charts.example.com\n      name: web\n      version: 1.10.0\n      digest: sha256:{digest}\n"
                ),
            ),
            (
                of(parse("oci://ghcr.io/o/web:1.4"), "1.4"),
                format!(
                    "  upstream:\n    oci:\n      image: ghcr.io/o/web\n      tag: \"1.4\"\n  upstreamLock:\n    oci:\n      image: ghcr.io/o/web\n      tag: \"1.4\"\n      digest: sha256:{digest}\n"
                ),
            ),
            (
                of(parse(&format!("oci://h/web//d@sha256:{digest}")), &digest),
                format!(
                    "  upstream:\n    oci:\n      image: h/web\n      tag: sha256:{digest}\n      directory: d\n  upstreamLock:\n    oci:\n      image: h/web\n      tag: sha256:{digest}\n      directory: d\n      digest: sha256:{digest}\n"
                ),
            ),
            (
                of(parse("https://h/v1.2.0/install.yaml"), "v1.2.0"),
                format!(
                    "  upstream:\n    http:\n      url: https://h/{{ref}}/install.yaml\n      ref: v1.2.0\n  upstreamLock:\n    http:\n      url: https://h/{{ref}}/install.yaml\n      ref: v1.2.0\n      digest: sha256:{digest}\n"
                ),
            ),
            (
                of(parse("https://h/web.zip"), "latest"),
                format!(
                    "  upstream:\n    http:\n      url: https://h/web.zip\n  upstreamLock:\n    http:\n      url: https://h/web.zip\n      digest: sha256:{digest}\n"
                ),
            ),
        ] {
            let new = with_record(None, RecordDocument::Rules, &record).expect("written");
            assert_eq!(new, format!("{NEW}{want}"));
            // Nothing of another upstream is left.
            let instead = with_record(Some(&last), RecordDocument::Rules, &record).expect("written");
            let of_text = |text: &str| {
                let document = Document::parse(text.to_owned()).expect("YAML");
                Record::read(&document, RecordDocument::Rules, "x").expect("valid").expect("a record")
            };
            assert_eq!((of_text(&new), of_text(&instead)), (record.clone(), record.clone()), "{instead}");
            assert_eq!(instead.lines().count(), new.lines().count(), "{instead}");
            last = new;
        }
    }

    #[test]
    fn how_helm_makes_the_release_is_recorded() {
        let digest = "0".repeat(64);
        let render = "    render:\n      release: web\n      namespace: shop\n      values:\n      - values.yaml\n      - 1.yaml\n      includeCRDs: true\n      kubeVersion: \"1.30\"\n      apiVersions:\n      - a/v1\n";
        let of_git =
            "    type: git\n    git:\n      repo: https://example.com/r.git\n      directory: /web\n      ref: v1\n";
        let commit = COMMIT;
        for (upstream, lock) in [
            (
                "    chart:\n      repo: https://charts.example.com\n      name: web\n      version: 1.0.0\n"
                    .to_owned(),
                format!("      digest: sha256:{digest}\n"),
            ),
            ("    oci:\n      image: h/web\n      tag: 1.0.0\n".to_owned(), format!("      digest: sha256:{digest}\n")),
            (of_git.to_owned(), format!("      commit: \"{commit}\"\n")),
        ] {
            let text = format!(
                "{NEW}  upstream:\n{upstream}{render}  upstreamLock:\n{upstream}{lock}    render:\n      sha256: {}\n",
                "a".repeat(64)
            );
            let read = |text: &str| {
                let document = Document::parse(text.to_owned()).expect("YAML");
                Record::read(&document, RecordDocument::Rules, "x").expect("valid").expect("a record")
            };
            let record = read(&text);
            let made = record.render.clone().expect("render");
            assert!(made.reads("values.yaml") && !made.reads("1") && made.include_crds, "{made:?}");
            assert_eq!(with_record(None, RecordDocument::Rules, &record).expect("written"), text);
            assert_eq!(record.document(Some(RecordDocument::Kptfile)), RecordDocument::Rules);
            // Comments stay, and nothing of it is left if the release is the chart's files.
            let commented = text.replace("release: web\n", "release: web # ours\n");
            assert_eq!(with_record(Some(&commented), RecordDocument::Rules, &record).expect("written"), commented);
            let lock = record.lock.clone().map(|lock| Lock { rendered: None, ..lock });
            let bare = with_record(Some(&text), RecordDocument::Rules, &Record { render: None, lock, ..record });
            assert!(!bare.expect("written").contains("render"));
        }
    }

    #[test]
    fn a_wrong_record_is_an_error_with_its_place() {
        for (text, want) in [
            ("upstream:\n  git:\n    ref: v1\n", "x:2:3: there must be the field `git.repo`"),
            ("upstream: {git: {repo: 'ext::sh', ref: v1}}\n", "x:1:11: a repository must be"),
            ("upstream: {git: {repo: a, ref: -x}}\n", "without `-`"),
            ("upstream: {git: {repo: a, directory: ../b, ref: x}}\n", "without `.` and `..`"),
            ("upstream: {run: [sh]}\n", "there must be the field `git.repo`"),
            (
                "upstream: {git: {repo: a, ref: x}}\nupstreamLock: {git: {ref: x, commit: --help}}\n",
                "x:2:15: the commit or hash",
            ),
        ] {
            let document = Document::parse(text.to_owned()).expect("YAML");
            let error = Record::read(&document, RecordDocument::Kptfile, "x").expect_err(text).to_string();
            assert!(error.contains(want), "{error}");
        }
        for (text, want) in [
            ("upstream: {chart: {repo: a, name: web, version: 1.0.0}}\n", "x:2:21: the address must begin with"),
            ("upstream: {chart: {name: web, version: 1.0.0}}\n", "there must be the field `chart.repo`"),
            ("upstream: {oci: {image: ../x, tag: a}}\n", "must be `oci://HOST/PATH:TAG`"),
            ("upstream: {oci: {image: h/x, tag: a}, render: {}}\n", "x:2:49: there must be the field `release`"),
            ("upstream: {oci: {image: h/x, tag: a}, render: web}\n", "`upstream.render` must be a map"),
            ("upstream: {oci: {image: h/x, tag: a}, render: {release: a, x: 1}}\n", "only, not \"x\""),
            (
                "upstream: {oci: {image: h/x, tag: a}, render: {release: a, values: b}}\n",
                "`upstream.render.values` must be a list",
            ),
            (
                "upstream: {oci: {image: h/x, tag: a}, render: {release: a, values: [/b]}}\n",
                "must be paths in the package",
            ),
            (
                "upstream: {oci: {image: h/x, tag: a}, render: {release: a, includeCRDs: 1}}\n",
                "must be `true` or `false`",
            ),
            (
                "upstream: {http: {url: 'https://h/x'}, render: {release: a}}\n",
                "must be beside `chart`, `oci` or `git`",
            ),
            ("upstream: {run: [sh], render: {release: a}}\n", "must be beside `chart`, `oci` or `git`"),
            (
                "upstream: {oci: {image: h/x, tag: a}}\n  upstreamLock: {oci: {image: h/x, tag: a}, render: {sha256: 1}}\n",
                "`upstreamLock.render.sha256` must be 64 hexadecimal digits",
            ),
            ("upstream: {http: {url: 'https://h/{ref}'}}\n", "there must be the field `http.ref`"),
            ("upstream: {http: {url: 'https://me:secret@h/x'}}\n", "must not hold a password"),
            (
                "upstream: {oci: {image: h/x, tag: a}}\n  upstreamLock: {oci: {image: h/x, tag: a, digest: sha256:0}}\n",
                "x:3:17: the digest must be `sha256:`",
            ),
        ] {
            let document = Document::parse(format!("spec:\n  {text}")).expect("YAML");
            let error = Record::read(&document, RecordDocument::Rules, "x").expect_err(text).to_string();
            assert!(error.contains(want), "{error}");
        }
    }
}
