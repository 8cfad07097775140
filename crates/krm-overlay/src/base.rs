//! [`built`]: the objects that a kustomization takes from its `resources`, and [`steps`]: what it does to them, in kustomize's order.
//!
//! The caller gives the files: those of a tree, or of a release of a repository. What cannot be read is noted, so that an object that is not
//! found is not called gone.

use std::cell::Cell;
use std::ops::Range;
use std::rc::Rc;

use krm_job::name::Name;
use krm_job::target::{Target, TargetField};
use krm_yaml::Document;

use crate::json_patch::Operation;
use crate::layer_place::LayerPlace;
use crate::objects::{Object, identity};
use crate::resources::KUSTOMIZATIONS;
use crate::strategic;
use crate::texts::{At, folder, joined};
use crate::unread::{Unread, Why};
use crate::values::Value;

/// The files that kustomizations name.
pub trait BaseFiles {
    /// A file; `None` if there is none.
    ///
    /// # Errors
    /// It cannot be read, or is not YAML; the message says why.
    fn document(&self, path: &str) -> Result<Option<Rc<Document<'static>>>, String>;

    /// What an address names, which a kustomization has at a place.
    ///
    /// # Errors
    /// It cannot be had; the message says why.
    fn release(&self, address: &Address) -> Result<Released, String>;
}

/// An address of another repository in a kustomization.
#[derive(Clone, Debug)]
pub struct Address {
    /// The address.
    pub text: String,
    /// The file that has it.
    pub file: String,
    /// The bytes of the scalar, with its quotes.
    pub range: Range<usize>,
}

/// The files of a release, and what is meant in them.
pub struct Released {
    /// The files of the repository.
    pub files: Rc<dyn BaseFiles>,
    /// The folder or file that the address names.
    pub path: String,
    /// The name of the release for the caller, which the objects get.
    pub name: Rc<str>,
}

/// The objects that a kustomization builds.
#[derive(Clone, Debug, Default)]
pub struct Built {
    /// The objects.
    pub objects: Vec<Object>,
    /// What could not be read of the kustomizations, so that objects may be missing.
    pub unread: Vec<Unread>,
}

/// What a kustomization does to its objects.
#[derive(Debug)]
pub enum BuildStep {
    /// A patch.
    Patch(Box<Patch>),
    /// An entry of `images`.
    Image(At),
    /// An entry of `replicas`.
    Replicas(At),
    /// Another name for each object.
    Prefix(String),
    Suffix(String),
    Namespace(String),
    /// Labels for each object.
    Labels(At),
    Annotations(At),
}

/// A patch of objects.
#[derive(Debug)]
pub struct Patch {
    /// The patch: a map is strategic, and a list has the operations of a JSON patch.
    pub place: LayerPlace,
    /// The objects that it is for; `None` for the one that it names itself.
    pub target: Option<Target>,
}

/// The deepest that kustomizations may name each other.
const DEEPEST: usize = 40;

/// How many kustomizations are read for one. Each may name others more than once.
const MOST: usize = 1_000;

/// What generates objects that are not read.
pub const GENERATING: [&str; 6] = [
    "configMapGenerator",
    "secretGenerator",
    "generators",
    "helmCharts",
    "helmChartInflationGenerator",
    "transformers",
];

/// The files of a release or tree, and the release's name.
struct Reading<'f> {
    files: &'f dyn BaseFiles,
    release: Option<Rc<str>>,
    /// How many kustomizations name this one.
    depth: usize,
    /// How many more are read.
    left: &'f Cell<usize>,
}

/// Whether an entry of a kustomization is the address of another repository, rather than a path.
pub fn is_address(entry: &str) -> bool {
    ["://", "git@", "github.com/", "?ref="].iter().any(|sign| entry.contains(sign))
}

/// Takes one of what is left; `None` if nothing is.
fn take(left: &Cell<usize>) -> Option<()> {
    left.set(left.get().checked_sub(1)?);
    Some(())
}

/// The objects that a kustomization takes from its `resources` and from those of its components, before it does anything to them.
pub fn built(kustomization: &At, files: &dyn BaseFiles) -> Built {
    let mut built = Built::default();
    Reading { files, release: None, depth: 0, left: &Cell::new(MOST) }.resources(kustomization, &mut built);
    built
}

/// The kustomization in a folder; `None` if it has none.
///
/// # Errors
/// It cannot be read.
pub fn kustomization(folder: &str, files: &dyn BaseFiles) -> Result<Option<At>, Why> {
    for name in KUSTOMIZATIONS {
        let path = joined(folder, name).unwrap_or_default();
        if let Some(document) = files.document(&path).map_err(Why::NotRead)? {
            return Ok(Some(At::root(&path, &document, 0)));
        }
    }
    Ok(None)
}

/// What a kustomization and its components do to its objects, in order, and what of that cannot be read.
pub fn steps(kustomization: &At, files: &dyn BaseFiles) -> (Vec<BuildStep>, Vec<Unread>) {
    let (mut steps, mut unread) = (Vec::new(), Vec::new());
    Steps { files, depth: 0, left: &Cell::new(MOST) }.add(kustomization, &mut steps, &mut unread);
    (steps, unread)
}

impl Reading<'_> {
    fn resources(&self, kustomization: &At, built: &mut Built) {
        for field in GENERATING {
            built.unread.extend(kustomization.get(&[field]).map(|at| at.unread(Why::Field(field.to_owned()))));
        }
        for field in ["resources", "bases", "components"] {
            for entry in kustomization.elements(&[field]) {
                if let Err(why) = self.entry(&entry, field, built) {
                    built.unread.push(entry.unread(why));
                }
            }
        }
    }

    fn entry(&self, entry: &At, field: &str, built: &mut Built) -> Result<(), Why> {
        let text = entry.text(&[]).ok_or_else(|| Why::Field(field.to_owned()))?;
        let local = joined(folder(&entry.file), &text);
        if let Some(path) = local.filter(|_| !text.contains("://"))
            && self.path(&path, built)?
        {
            return Ok(());
        }
        if !is_address(&text) {
            return Err(Why::NoFile(text));
        }
        let range = entry.node().map_or(0..0, |node| node.resolve().start()..node.resolve().end());
        let address = Address { text, file: entry.file.clone(), range };
        let Released { files, path, name } = self.files.release(&address).map_err(Why::NotRead)?;
        let release = Some(self.release.clone().unwrap_or(name));
        let inner = Reading { files: &*files, release, ..*self };
        let mut below = Built::default();
        let is_there = inner.path(&path, &mut below);
        built.objects.append(&mut below.objects);
        // What a release leaves out is told where somebody can look.
        built.unread.extend(below.unread.into_iter().map(|unread| entry.unread(unread.why)));
        if is_there? { Ok(()) } else { Err(Why::NoFile(path)) }
    }

    /// Adds the objects of a file, or of the kustomization in a folder; `false` if there is none.
    fn path(&self, path: &str, built: &mut Built) -> Result<bool, Why> {
        if let Some(document) = self.files.document(path).map_err(Why::NotRead)? {
            for root in 0..document.roots().len() {
                built.objects.extend(Object::all(&At::root(path, &document, root), self.release.as_ref()));
            }
            return Ok(true);
        }
        let Some(kustomization) = kustomization(path, self.files)? else { return Ok(false) };
        let inner = Reading { release: self.release.clone(), depth: self.depth + 1, ..*self };
        if self.depth > DEEPEST || take(self.left).is_none() {
            return Err(Why::Field("resources".to_owned()));
        }
        // Patches of this kustomization are for its own objects.
        let mut own = Built::default();
        let is_component = kustomization.text(&["kind"]).as_deref() == Some("Component");
        inner.resources(&kustomization, &mut own);
        if !is_component {
            let mut steps = Vec::new();
            let all = Steps { files: self.files, depth: 0, left: self.left };
            all.add(&kustomization, &mut steps, &mut own.unread);
            for step in &steps {
                step.apply(&mut own.objects);
            }
        }
        built.objects.extend(own.objects);
        built.unread.extend(own.unread);
        Ok(true)
    }
}

/// A walk through a kustomization and its components.
struct Steps<'f> {
    files: &'f dyn BaseFiles,
    depth: usize,
    left: &'f Cell<usize>,
}

impl Steps<'_> {
    fn add(&self, kustomization: &At, steps: &mut Vec<BuildStep>, unread: &mut Vec<Unread>) {
        let Self { files, depth, left } = *self;
        for entry in kustomization.elements(&["components"]) {
            let path = entry.text(&[]).and_then(|text| joined(folder(&entry.file), &text));
            let may = depth < DEEPEST && take(left).is_some();
            let component = path.filter(|_| may).and_then(|path| self::kustomization(&path, files).ok()?);
            match component {
                Some(component) => Self { depth: depth + 1, ..*self }.add(&component, steps, unread),
                // The patches of another repository are not this overlay's.
                None => unread.push(entry.unread(Why::Field("components".to_owned()))),
            }
        }
        let mut patches = |field: &str| {
            let mut found = Vec::new();
            for entry in kustomization.elements(&[field]) {
                match patches_of(&entry, files) {
                    Ok(patches) => found.extend(patches.into_iter().map(|patch| BuildStep::Patch(Box::new(patch)))),
                    Err(why) => unread.push(entry.unread(why)),
                }
            }
            found
        };
        let [first, second, json] = ["patchesStrategicMerge", "patches", "patchesJson6902"].map(&mut patches);
        let text = |field: &str| kustomization.text(&[field]).filter(|text| !text.is_empty());
        let map = |field: &str| kustomization.get(&[field]);
        let labels = kustomization.elements(&["labels"]).into_iter().filter_map(|labels| labels.get(&["pairs"]));
        steps.extend(first.into_iter().chain(second));
        steps.extend(text("namespace").map(BuildStep::Namespace));
        steps.extend(text("namePrefix").map(BuildStep::Prefix));
        steps.extend(text("nameSuffix").map(BuildStep::Suffix));
        steps.extend(map("commonLabels").into_iter().chain(labels).map(BuildStep::Labels));
        steps.extend(map("commonAnnotations").map(BuildStep::Annotations));
        steps.extend(json);
        steps.extend(kustomization.elements(&["replicas"]).into_iter().map(BuildStep::Replicas));
        steps.extend(kustomization.elements(&["images"]).into_iter().map(BuildStep::Image));
    }
}

/// The patches of an entry: each document of its file or text is one.
fn patches_of(entry: &At, files: &dyn BaseFiles) -> Result<Vec<Patch>, Why> {
    let target = entry.get(&["target"]).map(|target| target_of(&target)).transpose()?;
    let file = |path: At| {
        let named = path.text(&[]).unwrap_or_default();
        let path = joined(folder(&entry.file), &named).ok_or(Why::NoFile(named))?;
        match files.document(&path).map_err(Why::NotRead)? {
            Some(document) => Ok(LayerPlace::of_documents(&path, &document)),
            None => Err(Why::NoFile(path)),
        }
    };
    let places = match (entry.get(&["path"]), entry.get(&["patch"])) {
        (Some(path), _) => file(path)?,
        (None, Some(text)) => LayerPlace::of_documents_in(&text)?,
        // An entry of `patchesStrategicMerge` is a path or a text.
        (None, None) if entry.text(&[]).is_some_and(|text| !text.contains('\n')) => file(entry.clone())?,
        (None, None) => LayerPlace::of_documents_in(entry)?,
    };
    Ok(places.into_iter().map(|place| Patch { place, target: target.clone() }).collect())
}

/// A target. kustomize ignores what is empty in it.
fn target_of(written: &At) -> Result<Target, Why> {
    const FIELDS: [(&str, TargetField); 5] = [
        ("group", TargetField::Group),
        ("version", TargetField::Version),
        ("kind", TargetField::Kind),
        ("name", TargetField::Name),
        ("namespace", TargetField::Namespace),
    ];
    let wrong = |field: &str| Why::Field(format!("target.{field}"));
    let text = |field: &str| written.text(&[field]).filter(|text| !text.is_empty());
    let mut target = Target::new(Name::Field("target".to_owned()), "");
    for (field, of) in FIELDS {
        if let Some(pattern) = text(field) {
            target = target.with_pattern(of, &pattern).map_err(|_| wrong(field))?;
        }
    }
    if let Some(selector) = text("labelSelector") {
        target = target.with_labels(&selector).map_err(|_| wrong("labelSelector"))?;
    }
    if let Some(selector) = text("annotationSelector") {
        target = target.with_annotations(&selector).map_err(|_| wrong("annotationSelector"))?;
    }
    Ok(target)
}

impl Patch {
    /// Whether it is for an object.
    pub fn is_for(&self, object: &Object) -> bool {
        let own = || self.place.node().and_then(identity);
        match &self.target {
            Some(target) => object.fits(target),
            None => own().is_some_and(|own| object.is(own)),
        }
    }

    /// Applies it to the objects that it is for. Those stay as they are for which it fails.
    fn apply(&self, objects: &mut Vec<Object>) {
        let Some(node) = self.place.node() else { return };
        let mut patched = Vec::with_capacity(objects.len());
        for object in objects.drain(..) {
            if !self.is_for(&object) {
                patched.push(object);
            } else if node.is_list() {
                let operations = Operation::all(node).unwrap_or_default();
                patched.push(operations.iter().fold(object, |object, operation| operated(operation, object)));
            } else {
                match strategic::patched(&object, node) {
                    Ok(after) => patched.extend(after),
                    Err(_) => patched.push(object),
                }
            }
        }
        *objects = patched;
    }
}

/// An object after an operation; the same if the operation fails.
pub fn operated(operation: &Operation<'_>, object: Object) -> Object {
    let value = object.node().and_then(|node| operation.applied(&Value::of(node)));
    value.and_then(|value| object.with(&value)).unwrap_or(object)
}

impl BuildStep {
    /// Makes the step.
    pub fn apply(&self, objects: &mut Vec<Object>) {
        match self {
            Self::Patch(patch) => patch.apply(objects),
            Self::Image(entry) => {
                let Some(entry) = ImageEntry::read(entry) else { return };
                objects.iter_mut().for_each(|object| object.edit(|value| entry.set(value)));
            }
            Self::Replicas(entry) => {
                let Some((name, count)) = replicas(entry) else { return };
                for object in objects.iter_mut().filter(|object| object.is_called(&name, &SCALED)) {
                    object.edit(|value| {
                        if let Some(Value::Map(spec)) = value.at_mut(&["spec"]) {
                            spec.insert("replicas".to_owned(), count.clone());
                        }
                    });
                }
            }
            Self::Prefix(prefix) => {
                objects.iter_mut().for_each(|object| object.rename(|name| format!("{prefix}{name}")))
            }
            Self::Suffix(suffix) => {
                objects.iter_mut().for_each(|object| object.rename(|name| format!("{name}{suffix}")))
            }
            Self::Namespace(namespace) => objects.iter_mut().for_each(|object| object.move_to(namespace)),
            Self::Labels(labels) => objects.iter_mut().for_each(|object| object.add_metadata("labels", labels)),
            Self::Annotations(all) => objects.iter_mut().for_each(|object| object.add_metadata("annotations", all)),
        }
    }
}

/// The kinds that `replicas` is for. Source: kustomize's `replicas` field specs.
pub const SCALED: [&str; 4] = ["Deployment", "ReplicationController", "ReplicaSet", "StatefulSet"];

/// The name and the number of an entry of `replicas`.
pub fn replicas(entry: &At) -> Option<(String, Value)> {
    Some((entry.text(&["name"])?, Value::of(entry.get(&["count"])?.node()?)))
}

/// An entry of `images`.
#[derive(Debug)]
pub struct ImageEntry {
    /// The name of the image that it is for.
    pub name: String,
    new_name: Option<String>,
    /// The tag and the digest that it sets, as behind the name.
    pub version: Option<String>,
}

impl ImageEntry {
    /// Reads an entry.
    pub fn read(entry: &At) -> Option<Self> {
        let part = |field: &str, sign: &str| Some(format!("{sign}{}", entry.text(&[field])?));
        let (tag, digest) = (part("newTag", ":"), part("digest", "@"));
        let version = (tag.is_some() || digest.is_some()).then(|| tag.into_iter().chain(digest).collect());
        Some(Self { name: entry.text(&["name"])?, new_name: entry.text(&["newName"]), version })
    }

    /// What it makes of an image; `None` if it is not for that.
    fn of(&self, image: &str) -> Option<String> {
        let (name, version) = split_image(image);
        let version = self.version.as_deref().unwrap_or(version);
        (name == self.name).then(|| format!("{}{version}", self.new_name.as_deref().unwrap_or(name)))
    }

    fn set(&self, value: &mut Value) {
        each_image(value, &mut |image| {
            if let Some(new) = image.text().and_then(|text| self.of(&text)) {
                *image = Value::string(&new);
            }
        });
    }
}

/// The name of an image, and its tag and digest with their signs.
pub fn split_image(image: &str) -> (&str, &str) {
    let last = image.rfind('/').map_or(0, |at| at + 1);
    let end = image[last..].find([':', '@']).map_or(image.len(), |at| last + at);
    image.split_at(end)
}

/// Looks at each image of the containers of an object.
pub fn each_image(value: &mut Value, look: &mut impl FnMut(&mut Value)) {
    match value {
        Value::Map(fields) => {
            for (name, value) in fields.iter_mut() {
                match value {
                    Value::List(containers) if name == "containers" || name == "initContainers" => {
                        containers.iter_mut().filter_map(|one| one.at_mut(&["image"])).for_each(&mut *look);
                    }
                    value => each_image(value, look),
                }
            }
        }
        Value::List(elements) => elements.iter_mut().for_each(|element| each_image(element, look)),
        Value::Scalar(_) => {}
    }
}
