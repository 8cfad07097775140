//! [`Resources`]: the resources of a tree by kind and name, as far as they say something of charts and their values.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};

use crate::texts::{At, Texts, folder, joined, name};
use crate::unread::{Spot, Unread, Why};

/// The kinds that are looked for. Those of the last one are many, so they are read only if somebody asks.
const KINDS: [&str; 8] = [
    "HelmRelease",
    "HelmRepository",
    "OCIRepository",
    "HelmChart",
    "GitRepository",
    "Application",
    "ApplicationSet",
    "HelmChartInflationGenerator",
];

/// The groups of these kinds.
const GROUPS: [&str; 4] = ["helm.toolkit.fluxcd.io", "source.toolkit.fluxcd.io", "argoproj.io", "builtin"];

/// The names of a kustomization.
pub const KUSTOMIZATIONS: [&str; 3] = ["kustomization.yaml", "kustomization.yml", "Kustomization"];

/// A resource.
#[derive(Clone, Debug)]
pub struct Resource {
    /// Its kind.
    pub kind: String,
    /// Its name.
    pub name: String,
    namespace: Option<String>,
    /// Where it stands.
    pub at: At,
}

/// The resources of a tree.
pub struct Resources<'f> {
    texts: &'f Texts<'f>,
    found: BTreeMap<String, Vec<Resource>>,
    config_maps: OnceCell<Vec<Resource>>,
    kustomizations: Vec<At>,
    /// The files with one of these kinds, or of a kustomization, that are not YAML.
    unread: Vec<Unread>,
}

impl Resource {
    fn read(at: At) -> Option<Self> {
        let (kind, name) = (at.text(&["kind"])?, at.text(&["metadata", "name"])?);
        Some(Self { kind, name, namespace: at.text(&["metadata", "namespace"]), at })
    }

    /// Its namespace, if it names one.
    pub fn namespace(&self) -> Option<&str> {
        self.namespace.as_deref()
    }

    /// Its name with its namespace.
    pub fn called(&self) -> String {
        let namespace = self.namespace.as_ref().map(|namespace| format!("{namespace}/"));
        namespace.unwrap_or_default() + &self.name
    }

    /// Whether it can be meant by a name in a namespace: a file may leave the namespace to a kustomization.
    pub fn may_be(&self, name: &str, namespace: Option<&str>) -> bool {
        let [own, other] = [self.namespace(), namespace];
        self.name == name && (own.is_none() || other.is_none() || own == other)
    }
}

impl<'f> Resources<'f> {
    pub fn read(texts: &'f Texts<'f>) -> Self {
        let mut found: BTreeMap<String, Vec<Resource>> = BTreeMap::new();
        let (mut kustomizations, mut unread) = (Vec::new(), Vec::new());
        for (path, text) in texts.iter() {
            let is_kustomization = KUSTOMIZATIONS.contains(&name(path));
            let has_kinds =
                || GROUPS.iter().any(|group| text.contains(group)) && KINDS.iter().any(|kind| text.contains(kind));
            if !is_kustomization && !has_kinds() {
                continue;
            }
            match texts.roots(path) {
                Ok(roots) if is_kustomization => kustomizations.extend(roots),
                Ok(roots) => {
                    let all = roots.into_iter().filter_map(Resource::read).filter(Resource::is_of_group);
                    all.for_each(|resource| found.entry(resource.kind.clone()).or_default().push(resource));
                }
                // A template of a chart is no YAML, and lays nothing over a chart by itself.
                Err(_) if text.contains("{{") => {}
                Err(why) => unread.push(Unread { at: Spot { file: path.to_owned(), offset: 0 }, why }),
            }
        }
        Self { texts, found, config_maps: OnceCell::new(), kustomizations, unread }
    }

    /// The files.
    pub fn texts(&self) -> &'f Texts<'f> {
        self.texts
    }

    /// The resources of a kind.
    pub fn of_kind(&self, kind: &str) -> impl Iterator<Item = &Resource> {
        self.found.get(kind).into_iter().flatten()
    }

    /// The files that could not be read.
    pub fn unread(&self) -> &[Unread] {
        &self.unread
    }

    /// The kustomizations.
    pub fn kustomizations(&self) -> &[At] {
        &self.kustomizations
    }

    /// The resource that is meant by a kind, a name and a namespace in a file. Of several, it is the one in the nearest folder, because a
    /// repository can have the files of several clusters.
    ///
    /// # Errors
    /// There is none, or several are equally near and not the same.
    pub fn nearest(&self, kind: &str, name: &str, namespace: Option<&str>, file: &str) -> Result<&Resource, Why> {
        let all: Vec<&Resource> = match kind {
            "ConfigMap" => self.config_maps().iter().collect(),
            _ => self.of_kind(kind).collect(),
        };
        let (kind, name_of) = (kind.to_owned(), name.to_owned());
        let fitting: Vec<&Resource> = all.into_iter().filter(|one| one.may_be(name, namespace)).collect();
        let exactly = |one: &&Resource| one.namespace() == namespace;
        let fitting = match fitting.iter().copied().filter(exactly).collect::<Vec<_>>() {
            exact if exact.is_empty() || namespace.is_none() => fitting,
            exact => exact,
        };
        let near = |one: &Resource| common(folder(&one.at.file), folder(file));
        let nearest = fitting.iter().map(|one| near(one)).max();
        let nearest: Vec<&Resource> = fitting.into_iter().filter(|one| Some(near(one)) == nearest).collect();
        let says = |one: &Resource| one.at.node().map(|node| node.text().to_owned());
        match nearest[..] {
            [] => Err(Why::Missing { kind, name: name_of }),
            [first, ref others @ ..] if others.iter().all(|other| says(other) == says(first)) => Ok(first),
            _ => Err(Why::Ambiguous { kind, name: name_of }),
        }
    }

    fn config_maps(&self) -> &[Resource] {
        self.config_maps.get_or_init(|| {
            let files = self.texts.iter().filter(|(_, text)| text.contains("kind: ConfigMap"));
            let roots = files.flat_map(|(path, _)| self.texts.roots(path).unwrap_or_default());
            roots.filter_map(Resource::read).filter(|resource| resource.kind == "ConfigMap").collect()
        })
    }

    /// The file that a kustomization puts at a key of a ConfigMap; `None` if no kustomization makes a ConfigMap of this name.
    pub fn generated(&self, map: &str, key: &str, file: &str) -> Option<Result<String, Why>> {
        let all = self.kustomizations.iter().flat_map(|one| one.elements(&["configMapGenerator"]));
        let all: Vec<At> = all.filter(|one| one.text(&["name"]).as_deref() == Some(map)).collect();
        let near = |one: &At| common(folder(&one.file), folder(file));
        let nearest = all.iter().map(near).max()?;
        let files: BTreeSet<Option<String>> = all
            .iter()
            .filter(|one| near(one) == nearest)
            .map(|one| {
                let files = one.elements(&["files"]);
                let entry = |text: String| match text.split_once('=') {
                    Some((of, path)) => (of == key).then(|| path.to_owned()),
                    None => (name(&text) == key).then_some(text),
                };
                let path = files.iter().filter_map(|at| at.text(&[])).find_map(entry)?;
                joined(folder(&one.file), &path)
            })
            .collect();
        let (kind, name) = ("ConfigMap".to_owned(), map.to_owned());
        Some(match files.into_iter().collect::<Vec<_>>().as_mut_slice() {
            [Some(one)] => Ok(std::mem::take(one)),
            [None] => Err(Why::Lacking { kind, name, field: format!("data.{key}") }),
            _ => Err(Why::Ambiguous { kind, name }),
        })
    }
}

impl Resource {
    /// Whether it is of a group with one of these kinds, and not of another one with the same words.
    fn is_of_group(&self) -> bool {
        let version = self.at.text(&["apiVersion"]).unwrap_or_default();
        GROUPS.contains(&version.split('/').next().unwrap_or_default())
    }
}

/// How many folders two paths have in common from the top.
fn common(a: &str, b: &str) -> usize {
    a.split('/').zip(b.split('/')).take_while(|(a, b)| a == b).count()
}
