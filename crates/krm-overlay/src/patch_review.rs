//! [`review_kustomization`]: what a new release of its bases does to each thing that a kustomization and its components say.
//!
//! Both releases are built without the kustomization's own patches. Then each patch is compared with the objects that it finds in both, and is
//! applied, because a later patch sees what an earlier one left.

use std::collections::BTreeMap;
use std::rc::Rc;

use krm_tree::path::{FieldPath, KeyStep, Step};
use krm_yaml::NodeRef;

use crate::base::{
    BaseFiles, BuildStep, Built, GENERATING, ImageEntry, Patch, SCALED, built, each_image, is_address, operated,
    replicas, split_image, steps,
};
use crate::json_patch::Operation;
use crate::objects::{Object, identity};
use crate::resources::KUSTOMIZATIONS;
use crate::strategic::{Said, compared};
use crate::texts::{At, Texts, folder, joined, name};
use crate::unread::{Spot, Unread, Why};
use crate::values::Value;
use crate::verdict::{Finding, KnownBy, Unknown, Verdict};
use crate::{operations, strategic};

/// What a new release of its bases does to a kustomization.
#[derive(Debug)]
pub struct PatchReview {
    /// What it does to each thing that the kustomization says, in the order in which it is applied.
    pub findings: Vec<PatchFinding>,
    /// What could not be read of the kustomization and its bases.
    pub unread: Vec<Unread>,
    /// Whether the bases build something else than before.
    pub is_changed: bool,
}

/// Something that a kustomization says, and what the new release does to it.
#[derive(Debug)]
pub struct PatchFinding {
    /// Where it stands.
    pub at: Spot,
    /// The release with the object, by the name that the caller gave; `None` for an object of the tree.
    pub release: Option<Rc<str>>,
    /// What the new release does.
    pub finding: Finding,
}

/// A kustomization of a tree that lays something over its bases.
#[derive(Clone, Debug)]
pub struct Patched {
    /// Its file.
    pub file: String,
    /// Where it begins.
    pub at: Spot,
    /// Its file, and those of its patches.
    pub files: Vec<String>,
    /// Whether it may name a base by an address.
    pub has_address: bool,
}

/// What a kustomization may say about its objects.
const SAYING: [&str; 6] = ["patches", "patchesStrategicMerge", "patchesJson6902", "images", "replicas", "components"];

/// The kustomizations among some files that have bases. A component is no overlay of its own.
pub fn patched(files: &BTreeMap<String, String>) -> Vec<Patched> {
    let texts = Texts::new(files);
    let roots = texts.iter().filter(|(path, _)| KUSTOMIZATIONS.contains(&name(path)));
    let roots = roots.filter_map(|(path, _)| texts.roots(path).ok()?.into_iter().next());
    let roots = roots.filter(|root| root.text(&["kind"]).as_deref() != Some("Component"));
    let all = roots.filter_map(|root| {
        let bases = ["resources", "bases"].map(|field| root.elements(&[field])).concat();
        let has_address = bases.iter().any(|entry| entry.text(&[]).is_some_and(|text| is_address(&text)));
        let says = SAYING.iter().any(|field| root.get(&[field]).is_some());
        let patches = SAYING.iter().flat_map(|field| root.elements(&[field]));
        let path = |entry: At| joined(folder(&root.file), &entry.text(&["path"]).or_else(|| entry.text(&[]))?);
        let files = std::iter::once(root.file.clone()).chain(patches.filter_map(path)).collect();
        let is_over = !bases.is_empty() && (says || has_address);
        is_over.then(|| Patched { file: root.file.clone(), at: root.spot(), files, has_address })
    });
    all.collect()
}

/// The files before and now.
pub struct BothFiles<'f> {
    /// The files of the old release.
    pub old: &'f dyn BaseFiles,
    /// The files of the new release.
    pub new: &'f dyn BaseFiles,
}

/// What the new release of its bases does to the kustomization in a file; `None` if one side has no such kustomization.
pub fn review_kustomization(file: &str, files: &BothFiles<'_>) -> Option<PatchReview> {
    let root = |files: &dyn BaseFiles| Some(At::root(file, &files.document(file).ok()??, 0));
    let (was, kustomization) = (root(files.old)?, root(files.new)?);
    let (steps, mut unread) = steps(&kustomization, files.new);
    let mut builds = Builds { old: built(&was, files.old), new: built(&kustomization, files.new) };
    let is_changed = {
        let content = |built: &'_ Built| built.objects.iter().map(|one| one.text().to_owned()).collect::<Vec<_>>();
        content(&builds.old) != content(&builds.new)
    };
    // What both releases leave out is told once.
    unread.extend(builds.new.unread.clone());
    let of_old = builds.old.unread.iter().filter(|old| builds.new.unread.iter().all(|new| new.why != old.why));
    unread.extend(of_old.cloned());
    // What is generated matters only to a patch that is for it.
    unread.retain(|unread| !matches!(&unread.why, Why::Field(field) if GENERATING.contains(&field.as_str())));
    let mut findings = Vec::new();
    for step in &steps {
        match step {
            BuildStep::Patch(patch) => builds.patch(patch, &mut findings),
            BuildStep::Image(entry) => builds.image(entry, &mut findings),
            BuildStep::Replicas(entry) => builds.replicas(entry, &mut findings),
            _ => {}
        }
        step.apply(&mut builds.old.objects);
        step.apply(&mut builds.new.objects);
    }
    Some(PatchReview { findings, unread, is_changed })
}

/// An entry of `images` or `replicas`.
struct ListEntry<'e> {
    list: &'e str,
    /// The field that replaces something of an object.
    field: &'e str,
    name: &'e str,
}

/// What both releases build.
struct Builds {
    old: Built,
    new: Built,
}

/// An object that something is for.
struct Subject<'o> {
    called: String,
    object: Option<&'o Object>,
}

impl<'o> From<&'o Object> for Subject<'o> {
    fn from(object: &'o Object) -> Self {
        Self { called: object.called(), object: Some(object) }
    }
}

impl Subject<'_> {
    fn found(&self, at: Spot, said: Said) -> PatchFinding {
        let Said { place, span, verdict } = said;
        let release = self.object.and_then(|object| object.release.clone());
        PatchFinding {
            at,
            release,
            finding: Finding { layer: 0, object: Some(self.called.clone()), place, span, verdict },
        }
    }
}

impl Builds {
    fn patch(&self, patch: &Patch, out: &mut Vec<PatchFinding>) {
        let Some(node) = patch.place.node() else { return };
        let at =
            |said: &Said| Spot { file: patch.place.file().to_owned(), offset: patch.place.offset(said.span.start) };
        let for_it =
            |built: &'_ Built| built.objects.iter().filter(|object| patch.is_for(object)).cloned().collect::<Vec<_>>();
        let (olds, news) = (for_it(&self.old), for_it(&self.new));
        let whole = |verdict| Said { place: FieldPath::default(), span: node.start()..node.end(), verdict };
        if news.is_empty() {
            let may_be_generated = ["ConfigMap", "Secret"].iter().any(|kind| match &patch.target {
                Some(target) => target.names_kind(kind),
                None => identity(node).is_some_and(|own| own.kind == *kind),
            });
            let said = whole(self.missing(!olds.is_empty(), may_be_generated));
            let own = || identity(node).map_or_else(|| "the target".to_owned(), |own| own.called());
            let subject = olds.first().map_or_else(|| Subject { called: own(), object: None }, Subject::from);
            out.push(subject.found(at(&said), said));
            return;
        }
        for new in &news {
            let namesake = olds.iter().find(|old| old.is_namesake(new));
            let only = || if let ([old], [_]) = (&olds[..], &news[..]) { Some(old) } else { None };
            let old = namesake.or_else(only);
            let all = if node.is_list() { of_operations(node, old, new) } else { strategic::review(node, old, new) };
            let all = all.unwrap_or_else(|why| vec![whole(Verdict::Unknown(Unknown::NoPatch(why)))]);
            out.extend(all.into_iter().map(|said| Subject::from(new).found(at(&said), said)));
        }
    }

    /// The verdict if the new release lacks what something is for.
    fn missing(&self, was_there: bool, may_be_generated: bool) -> Verdict {
        let generators = ["configMapGenerator", "secretGenerator"];
        let is_of_generator = |why: &Why| matches!(why, Why::Field(field) if generators.contains(&field.as_str()));
        let unread = self.new.unread.iter().chain(&self.old.unread).map(|unread| &unread.why);
        match unread.into_iter().find(|why| may_be_generated || !is_of_generator(why)) {
            Some(why) => Verdict::Unknown(Unknown::NotRead(why.clone())),
            None if was_there => Verdict::Gone { moved_to: None, known_by: KnownBy::Chart },
            None => Verdict::Nowhere,
        }
    }

    fn image(&self, entry: &At, out: &mut Vec<PatchFinding>) {
        let Some(image) = ImageEntry::read(entry) else { return };
        let version = |object: &Object| {
            let mut found = None;
            each_image(&mut Value::of(object.node()?), &mut |one| {
                let text = one.text().unwrap_or_default();
                let (name, version) = split_image(&text);
                if name == image.name && found.is_none() {
                    found = Some(Value::string(version.trim_start_matches(':')));
                }
            });
            found
        };
        let ours = image.version.as_ref().map(|version| Value::string(version.trim_start_matches(':')));
        let of = ListEntry { list: "images", field: "newTag", name: &image.name };
        self.entry(entry, of, ours.as_ref(), version, out);
    }

    fn replicas(&self, entry: &At, out: &mut Vec<PatchFinding>) {
        let Some((name, count)) = replicas(entry) else { return };
        let own = |object: &Object| {
            let null = || Value::Scalar(krm_yaml::Scalar::Null);
            object.is_called(&name, &SCALED).then(|| {
                let count = object.node().and_then(|node| node.at(&["spec", "replicas"]));
                count.map_or_else(null, Value::of)
            })
        };
        let of = ListEntry { list: "replicas", field: "count", name: &name };
        self.entry(entry, of, Some(&count), own, out);
    }

    /// Adds the verdict on an entry of a list, which replaces a value that objects have.
    fn entry(
        &self,
        entry: &At,
        of: ListEntry<'_>,
        ours: Option<&Value>,
        value: impl Fn(&Object) -> Option<Value>,
        out: &mut Vec<PatchFinding>,
    ) {
        let first = |built: &'_ Built| built.objects.iter().find_map(|object| Some((object.clone(), value(object)?)));
        let (old, new) = (first(&self.old), first(&self.new));
        let verdict = match (&old, &new, ours) {
            (_, None, _) => self.missing(old.is_some(), false),
            (_, Some(_), None) => return,
            (old, Some((_, updated)), Some(ours)) => {
                compared(old.as_ref().map(|old| &old.1), Some(updated), ours, of.field)
            }
        };
        let mut place = FieldPath::default();
        let key = KeyStep { name: "name".into(), value: of.name.to_owned().into(), default: None };
        place.push(Step::Field(of.list.to_owned().into()), None);
        place.push(Step::Element(vec![key]), None);
        place.push(Step::Field(of.field.to_owned().into()), None);
        let spot = entry.spot();
        let subject = new.as_ref().or(old.as_ref()).map(|(object, _)| Subject::from(object));
        let subject = subject.unwrap_or_else(|| Subject { called: "no object".to_owned(), object: None });
        let span = entry.node().map_or(0..0, |node| node.start()..node.end());
        out.push(subject.found(spot, Said { place, span, verdict }));
    }
}

/// What the new release does to the operations of a JSON patch. Each sees what those before it left.
fn of_operations(patch: NodeRef<'_>, old: Option<&Object>, new: &Object) -> Result<Vec<Said>, String> {
    let (mut old, mut new) = (old.cloned(), new.clone());
    let mut all = Vec::new();
    for operation in Operation::all(patch)? {
        all.push(operations::review(&operation, old.as_ref(), &new));
        old = old.map(|old| operated(&operation, old));
        new = operated(&operation, new);
    }
    Ok(all)
}

#[cfg(test)]
mod tests;
