//! Which lists merge, and by which keys: what is known about a type, by path from its root.
//!
//! A [`Cursor`] goes down a type in step with a walk down a resource, so nothing is looked up by path twice. It asks the sources in the
//! order of [`Basis`]; if none of them has an answer, [`list_kind`] may infer the kind from the elements of all sides, as kyaml does.

mod additive;
mod alternatives;
pub mod atlas;
mod basis;
pub mod builtin;
mod crd;
pub mod explain;
pub mod files;
mod openapi;
mod packed;
mod shape;

use std::borrow::Cow;
use std::fmt;
use std::sync::LazyLock;

use krm_tree::child::{By, Elements, Keyed, MergeKey, Value, element_key, key_text};
use krm_tree::path::{ElementKey, KeyDefault};
use krm_tree::tree::{Branch, Entry, Tree, View};
use krm_yaml::NodeRef;
use krm_yaml::hashed::{Empty, HashMap, HashSet};

use crate::mode::Mode;
pub use additive::{Named, Names};
pub use alternatives::Alternatives;
pub use basis::Basis;
pub use openapi::NoTypes;
use openapi::{Models, Schema};

/// How a list merges, in the words of `x-kubernetes-list-type`. The keys are owned in a user's declaration, and borrowed in the answer for
/// a list.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ListKind<K> {
    /// Replaced whole.
    Atomic,
    /// Scalars, each at most once; merged by value.
    Set,
    /// Maps, identified by the values of these keys; the first one is required.
    Map(Vec<K>),
}

/// How elements are identified in a list of this kind.
impl<'a> From<ListKind<MergeKey<'a>>> for By<'a> {
    fn from(kind: ListKind<MergeKey<'a>>) -> Self {
        match kind {
            ListKind::Atomic => Self::Index,
            ListKind::Set => Self::Value,
            ListKind::Map(keys) => Self::Keys(keys),
        }
    }
}

impl<K> ListKind<K> {
    /// The same kind, with the keys in another form.
    fn with_keys<'k, T>(&'k self, key: impl FnMut(&'k K) -> T) -> ListKind<T> {
        match self {
            Self::Atomic => ListKind::Atomic,
            Self::Set => ListKind::Set,
            Self::Map(keys) => ListKind::Map(keys.iter().map(key).collect()),
        }
    }
}

/// Which fields of a map may be set at once, in the words of the patch strategy `retainKeys`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Members<'t> {
    /// Any fields.
    Any,
    /// One field besides this merge key: the map is an element of a list of unions, such as a volume. The API server refuses two, so a
    /// merge that leaves two gives a warning. Only the user knows which one to drop.
    OneBeside(&'t str),
    /// The field that `type` names, `rollingUpdate` for `RollingUpdate`: the map is a union with a `type`, such as a Deployment's strategy.
    NamedByType,
}

impl<'t> Members<'t> {
    /// The rule for a field with the patch strategy `retainKeys`. A list gives its merge key, if it has one; a map gives `None`.
    fn of(merge_key_of_list: Option<Option<&'t str>>) -> Self {
        match merge_key_of_list {
            Some(Some(key)) => Self::OneBeside(key),
            Some(None) => Self::Any,
            None => Self::NamedByType,
        }
    }
}

/// Whether the kind of a list without a known schema is inferred from its elements.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Inference {
    /// A list merges by the first of kyaml's seven associative keys, such as `name`, that all of its elements have. kyaml does this on
    /// request, and custom resources without a schema need it. The result is wrong if `name` has another meaning, and different elements on
    /// two sides have the same `name`.
    #[default]
    On,
    /// Unknown lists are replaced whole, as `kubectl patch` does.
    Off,
    /// A list is replaced, even if its elements look like those of a built-in type: so does a program that reads values over others, as helm.
    Never,
}

/// The keys that are tried when the merge key is inferred, in this order. Source: `AssociativeSequenceKeys` in kyaml.
pub const ASSOCIATIVE_KEYS: [&str; 7] =
    ["mountPath", "devicePath", "ip", "type", "topologyKey", "name", "containerPort"];

/// The user's own rule for one list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListRule {
    /// The type's apiVersion.
    pub api_version: String,
    /// The type's kind.
    pub kind: String,
    /// The fields from the root to the list. Lists on the way do not need a step of their own.
    pub path: Vec<String>,
    /// How the list merges.
    pub list: ListKind<String>,
}

/// The rules about the list at one field and the lists below it: the user's rules, and kustomize's for its own types.
#[derive(Debug, Default)]
struct ListRules {
    list: Option<(Basis, ListKind<String>)>,
    fields: HashMap<String, ListRules>,
}

/// The apiVersion and kind of a kustomization. Its file may leave them out, because kustomize knows it by the name of the file.
pub const KUSTOMIZATION: [&str; 2] = ["kustomize.config.k8s.io/v1beta1", "Kustomization"];

/// The lists of a Kustomization that merge. Source: the swagger of kustomize's own types, which kyaml carries.
fn kustomization() -> impl Iterator<Item = ListRule> {
    let kinds = [("v1beta1", "Kustomization"), ("v1alpha1", "Component")];
    let fields = ["configMapGenerator", "secretGenerator"];
    kinds.into_iter().flat_map(move |(version, kind)| {
        fields.map(|field| ListRule {
            api_version: format!("kustomize.config.k8s.io/{version}"),
            kind: kind.into(),
            path: vec![field.into()],
            list: ListKind::Map(vec!["name".into()]),
        })
    })
}

/// The keys by which a patch merges a list: all keys by which the server identifies its elements, if these begin with the patch's own keys.
/// Otherwise 53/TCP and 53/UDP would be one port.
fn merge_keys<'k, K: PartialEq>(patch: &'k [K], map_keys: &'k [K]) -> &'k [K] {
    if map_keys.starts_with(patch) { map_keys } else { patch }
}

/// Values by apiVersion, and then by kind.
type ByType<T> = HashMap<String, HashMap<String, T>>;

/// Everything that is known about types in one run.
#[derive(Debug, Default)]
pub struct Types<'t> {
    rules: ByType<ListRules>,
    openapi: Models<'t>,
    definitions: ByType<Schema<'t>>,
    inference: Inference,
}

impl<'t> Types<'t> {
    /// The user's rules and the built-in types. The user's rules take precedence. Of two rules for one list, the later one holds.
    pub fn new(rules: impl IntoIterator<Item = ListRule>, inference: Inference) -> Self {
        let mut types = Self::default().with_inference(inference);
        types.add(Basis::Kustomize, kustomization());
        types.with_rules(rules)
    }

    /// Adds rules of the user. Of two rules for one list, the later one holds.
    #[must_use]
    pub fn with_rules(mut self, rules: impl IntoIterator<Item = ListRule>) -> Self {
        self.add(Basis::MergeKeys, rules);
        self
    }

    /// Says whether lists of unknown types merge by inferred keys.
    #[must_use]
    pub fn with_inference(self, inference: Inference) -> Self {
        Self { inference, ..self }
    }

    fn add(&mut self, basis: Basis, rules: impl IntoIterator<Item = ListRule>) {
        for rule in rules {
            let root = self.rules.entry(rule.api_version).or_default().entry(rule.kind).or_default();
            let end = rule.path.into_iter().fold(root, |node, field| node.fields.entry(field).or_default());
            end.list = Some((basis, rule.list));
        }
    }

    /// Adds the models of an OpenAPI document. They come after the user's rules and before the definitions of the package.
    ///
    /// # Errors
    /// The document has no models, or no model of a resource.
    pub fn with_openapi(mut self, document: NodeRef<'t>) -> Result<Self, NoTypes<'t>> {
        self.openapi = Models::read(document)?;
        Ok(self)
    }

    /// Adds the CustomResourceDefinitions of the package. They come before the built-in types. Of two definitions of one type, the later
    /// one holds.
    #[must_use]
    pub fn with_definitions(mut self, definitions: impl IntoIterator<Item = NodeRef<'t>>) -> Self {
        for ((api_version, kind), schema) in definitions.into_iter().flat_map(crd::schemas) {
            self.definitions.entry(api_version).or_default().insert(kind, schema);
        }
        self
    }

    /// Whether anything is known about a type except its metadata.
    pub fn know(&self, api_version: &str, kind: &str) -> bool {
        let root = self.root(api_version, kind, Mode::ThreeWay);
        root.rules.is_some()
            || root.openapi.is_some()
            || root.definition.is_some()
            || root.below.is_some()
            || root.atlas.is_some()
    }

    /// The version that the atlas has instead of the requested one, if the atlas is asked at all.
    pub fn instead(&self, api_version: &str, kind: &str) -> Option<&'static str> {
        self.in_atlas(api_version, kind)?.instead
    }

    /// The entry of the atlas for a type. `None` if `openapi` or a definition has a schema of the type, even one that says nothing about
    /// lists.
    fn in_atlas(&self, api_version: &str, kind: &str) -> Option<atlas::Root> {
        let is_known =
            self.openapi.root(api_version, kind).is_some() || of_type(&self.definitions, api_version, kind).is_some();
        if is_known { None } else { atlas::root(api_version, kind) }
    }

    /// The root of a type. Some built-in lists merge by their list type only. Strategic replaces these, as `kubectl patch` does by the
    /// patch strategy alone; the other modes merge them, as the server does.
    pub fn root<'s>(&'s self, api_version: &str, kind: &str, mode: Mode) -> Cursor<'s> {
        let below = builtin::root(api_version, kind);
        let is_replaced = mode != Mode::ThreeWay && files::is_of_file(api_version);
        Cursor {
            rules: of_type(&self.rules, api_version, kind),
            openapi: self.openapi.root(api_version, kind),
            definition: of_type(&self.definitions, api_version, kind).copied(),
            here: None,
            below,
            sureness: Sureness::Said,
            metadata: object_meta(),
            atlas: if below.is_some() { None } else { self.in_atlas(api_version, kind).map(|root| root.place) },
            additive: additive::root(api_version, kind).or_else(|| files::root(api_version, kind)),
            alternatives: alternatives::of_type(api_version, kind),
            named: None,
            inference: if is_replaced { Inference::Never } else { self.inference },
            mode,
            // Strategic replaces these lists only because kubectl does so, and kubectl knows only its own types, not the user's.
            mode_of_openapi: if below.is_some() { mode } else { Mode::ThreeWay },
        }
    }
}

fn of_type<'m, T>(map: &'m ByType<T>, api_version: &str, kind: &str) -> Option<&'m T> {
    map.get(api_version)?.get(kind)
}

/// What is known about `metadata` for every type: it is an ObjectMeta, as in any built-in type.
fn object_meta() -> Option<builtin::FieldRef> {
    static OBJECT_META: LazyLock<Option<builtin::FieldRef>> =
        LazyLock::new(|| builtin::root("v1", "ConfigMap").and_then(|ty| ty.field("metadata")));
    *OBJECT_META
}

/// How certain it is that a place has the built-in type that is assumed for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sureness {
    /// The apiVersion and kind of the resource say so.
    Said,
    /// Its schema has the shape of the type.
    ShownBySchema,
    /// Its values have the shape of the type.
    ShownByValues,
}

/// A place in a type. Lists are passed through: what is known below a list is known about its elements.
#[derive(Clone, Copy, Debug)]
pub struct Cursor<'t> {
    rules: Option<&'t ListRules>,
    openapi: Option<Schema<'t>>,
    definition: Option<Schema<'t>>,
    here: Option<builtin::FieldRef>,
    below: Option<builtin::TypeRef>,
    /// How certain it is that `here` and `below` belong to this place.
    sureness: Sureness,
    /// At the root of a resource: `metadata`, which is known for every type.
    metadata: Option<builtin::FieldRef>,
    /// The place in the atlas, for a type that no other source knows.
    atlas: Option<atlas::Place>,
    /// The lists with names at this place and below it, in a custom type.
    additive: Option<&'static additive::AdditivePlace>,
    /// The fields of which the type of the resource allows one.
    alternatives: &'static [alternatives::Row],
    /// The list here, if its elements may be named, in a built-in type.
    named: Option<additive::NamedField>,
    inference: Inference,
    mode: Mode,
    mode_of_openapi: Mode,
}

impl<'t> Cursor<'t> {
    /// A place in an unknown type.
    pub fn unknown(inference: Inference) -> Self {
        Self {
            rules: None,
            openapi: None,
            definition: None,
            here: None,
            below: None,
            sureness: Sureness::Said,
            metadata: None,
            atlas: None,
            additive: None,
            alternatives: &[],
            named: None,
            inference,
            mode: Mode::ThreeWay,
            mode_of_openapi: Mode::ThreeWay,
        }
    }

    /// The mode in which the resource merges.
    pub fn mode(self) -> Mode {
        self.mode
    }

    /// A place in an unknown type, with the same setting for inference.
    #[must_use]
    pub fn untyped(self) -> Self {
        Self::unknown(self.inference)
    }

    /// Goes down to a field. If its type is unknown, its values on the sides may show the type.
    #[must_use]
    pub fn child<'v, V: Value<'v>>(self, name: &str, values: impl IntoIterator<Item = V>) -> Self {
        let child = self.field(name);
        if self.is_of_builtin() || child.here.is_some() || self.inference == Inference::Never {
            return child;
        }
        match shape::of_values(name, values) {
            Some(here) => Self { here: Some(here), below: here.ty(), sureness: Sureness::ShownByValues, ..child },
            None => child,
        }
    }

    /// Whether this place surely has a built-in type, not just the shape of one.
    fn is_of_builtin(self) -> bool {
        self.below.is_some() && self.sureness == Sureness::Said
    }

    /// Goes down to a child of a tree. What is known about a list is known about its elements.
    #[must_use]
    pub fn below(self, entry: &Entry<'_>) -> Self {
        let values = entry.value.as_ref().map(Tree::views).into_iter().flatten();
        entry.key.map_or(self, |key| self.child(key.name(), values))
    }

    /// Replaces the children of a map or list that may hold conflicts, each with its place in the type.
    pub fn replace_below<'a>(self, branch: &mut Branch<'a>, mut replace: impl FnMut(Tree<'a>, Self) -> Tree<'a>) {
        for entry in branch.entries.iter_mut().filter(|entry| entry.may_hold_conflicts()) {
            let below = self.below(entry);
            entry.value = entry.value.take().map(|value| replace(value, below));
        }
    }

    /// Goes down to a field, by its name alone.
    #[must_use]
    pub fn field(self, name: &str) -> Self {
        let rules = self.rules.and_then(|r| r.fields.get(name));
        let openapi = self.openapi.and_then(|s| s.field(name));
        let definition = self.definition.and_then(|s| s.field(name));
        let schemas = || [openapi, definition].into_iter().flatten();
        let shown = || if self.is_of_builtin() { None } else { schemas().find_map(|s| shape::of_schema(name, s)) };
        let (here, sureness) = match shown() {
            Some(shown) => (Some(shown), Sureness::ShownBySchema),
            None => {
                let known = self.below.and_then(|ty| ty.field(name));
                (known.or_else(|| self.metadata.filter(|_| name == "metadata")), self.sureness)
            }
        };
        let below = here.and_then(builtin::FieldRef::ty);
        let metadata = if schemas().any(Schema::is_embedded_resource) { object_meta() } else { None };
        let atlas = self.atlas.and_then(|place| place.field(name));
        let additive = self.additive.and_then(|place| place.field(name));
        let named = self.below.and_then(|of| additive::NamedField::of(of, name));
        Self { rules, openapi, definition, here, below, sureness, metadata, atlas, additive, named, ..self }
    }

    /// How the elements of the list here are named, although no merge key identifies them. A rule of the user for the list speaks first.
    pub fn names(self) -> Option<Names> {
        let is_said = self.rules.is_some_and(|rules| rules.list.is_some());
        let of_built_in = || self.named.and_then(additive::NamedField::names);
        if is_said { None } else { self.additive.and_then(additive::AdditivePlace::list).or_else(of_built_in) }
    }

    /// The same, for a list with these elements on the sides. They may show what names them.
    pub fn names_of(self, sides: &[&[View<'_, '_>]]) -> Option<Names> {
        let is_said = self.rules.is_some_and(|rules| rules.list.is_some());
        self.names().or_else(|| if is_said { None } else { additive::shown(sides) })
    }

    /// Whether the map here is replaced whole: a schema says that it is atomic, or in Strategic it has the patch strategy `replace`, which
    /// only `kubectl patch` knows.
    pub fn is_replaced(self) -> bool {
        let replaces = |f: builtin::FieldRef| f.list().is_none() && f.strategy() == builtin::Strategy::Replace;
        let by_strategy = || self.here.is_some_and(replaces) || self.openapi.is_some_and(Schema::is_replaced);
        let by_schema = self.openapi.filter(|_| self.mode_of_openapi != Mode::Strategic);
        by_schema.is_some_and(Schema::is_atomic_map)
            || self.definition.is_some_and(Schema::is_atomic_map)
            || self.mode == Mode::Strategic && by_strategy()
    }

    /// Whether the built-in type of this place has no list of this name, and no other source has one.
    pub fn lacks_list(self, name: &str) -> bool {
        let field = self.field(name);
        self.is_of_builtin()
            && field.here.is_none()
            && field.rules.is_none()
            && field.openapi.is_none()
            && field.definition.is_none()
    }

    /// Whether the OpenAPI document or a definition has a schema of this place.
    pub fn has_schema(self) -> bool {
        self.openapi.is_some() || self.definition.is_some()
    }

    /// The paths from here to fields that the OpenAPI document or a definition does not let change; an empty path is this place itself.
    pub fn fixed(self) -> Vec<Vec<&'t str>> {
        [self.openapi, self.definition].into_iter().flatten().flat_map(Schema::fixed).collect()
    }

    /// The fields that the map here requires, or each element of the list here, from any source.
    pub fn required(self) -> impl Iterator<Item = &'t str> {
        let schemas = [self.openapi, self.definition].into_iter().flatten();
        let builtin = self.below.into_iter().flat_map(|ty| ty.required().map(|name| -> &'t str { name }));
        schemas.flat_map(Schema::required).chain(builtin)
    }

    /// The required fields that the API server does not fill in.
    pub fn required_of_user(self) -> impl Iterator<Item = &'t str> {
        self.required().filter(move |name| self.default_of(name).is_none())
    }

    /// Which fields of the map here, or of each element of the list here, may be set at once.
    pub fn members(self) -> Members<'t> {
        if let Some(schema) = self.openapi {
            return schema.members();
        }
        let Some(here) = self.here.filter(|f| f.strategy().retains_keys()) else { return Members::Any };
        Members::of(here.list().map(builtin::BuiltinList::merge_key))
    }

    /// The fields of which one may be set in the map here, in groups. `within` is the field of the map, or of the list that the map is in.
    pub fn alternatives(self, within: &str) -> impl Iterator<Item = Alternatives<'t>> {
        let by_strategy = match self.members() {
            Members::OneBeside(key) => Some(Alternatives::Beside(key)),
            Members::Any | Members::NamedByType => None,
        };
        let schemas = [self.openapi, self.definition].into_iter().flatten();
        let of_schema = schemas.flat_map(Schema::alternatives);
        by_strategy.into_iter().chain(of_schema).chain(alternatives::within(within, self.alternatives))
    }

    /// The default of a field that an element of the list here leaves out, if its type has one. Source: the API server, which identifies
    /// elements by the defaults of their schema.
    fn default_of(self, key: &str) -> Option<KeyDefault<'t>> {
        let schemas = [self.openapi, self.definition].into_iter().flatten();
        let by_schema = schemas.filter_map(|schema| schema.field(key)?.default()).next();
        let built_in = self.here.and_then(|here| here.default_of(key)).map(Cow::Borrowed);
        match built_in {
            // A schema of a built-in type says no more than the type.
            Some(text) if self.sureness == Sureness::Said => Some(KeyDefault::BuiltIn(by_schema.unwrap_or(text))),
            like => by_schema
                .or(like)
                .or_else(|| Some(Cow::Borrowed(self.atlas?.default_of(key)?)))
                .map(KeyDefault::Declared),
        }
    }

    /// What each source says about the list here, in the order of the sources. If a schema has the list but does not declare how it merges,
    /// the list is replaced whole, unless the schema has the shape of a built-in type.
    fn answers(self) -> impl Iterator<Item = (Basis, ListKind<&'t str>)> {
        let by_rule =
            self.rules.and_then(|r| r.list.as_ref()).map(|(basis, list)| (*basis, list.with_keys(String::as_str)));
        let of_schema =
            |schema: Option<Schema<'t>>, mode, basis| Some((basis, schema?.list(mode)?, schema?.declares()));
        let by_schema = of_schema(self.openapi, self.mode_of_openapi, Basis::OpenApi)
            .or_else(|| of_schema(self.definition, Mode::ThreeWay, Basis::Definition))
            .map(|(basis, list, declares)| ((basis, list), declares));
        let shown = self.here.filter(|_| self.sureness != Sureness::Said).and_then(builtin::FieldRef::list);
        let by_shape = shown.map(|list| (Basis::Shape, list.in_merge()));
        let answers = match (by_rule, by_schema) {
            (Some(rule), _) => [Some(rule), None],
            (None, Some((said, true))) => [Some(said), None],
            (None, Some((said, false))) => [by_shape.filter(|_| self.sureness == Sureness::ShownBySchema), Some(said)],
            (None, None) if self.sureness == Sureness::Said => {
                let by_type = self.here.and_then(builtin::FieldRef::list).map(|list| match self.mode {
                    Mode::TwoWay | Mode::ThreeWay => list.in_merge(),
                    Mode::Strategic => list.in_patch(),
                });
                [by_type.map(|list| (Basis::BuiltIn, list)), self.by_atlas()]
            }
            (None, None) => [self.by_atlas(), by_shape],
        };
        answers.into_iter().flatten()
    }

    fn by_atlas(self) -> Option<(Basis, ListKind<&'t str>)> {
        Some((Basis::Atlas, self.atlas?.list()?))
    }
}

/// Why a list that merges by its schema is still replaced whole.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Unkeyed {
    /// An element lacks its key, or has the same key as another element. This is a mistake of its author.
    Element(String),
    /// A set of maps or lists, whose elements only the API server distinguishes by their whole content. This is not a mistake.
    SetOfContainers,
}

impl fmt::Display for Unkeyed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Element(reason) => f.write_str(reason),
            Self::SetOfContainers => f.write_str("the elements of its set are not scalars"),
        }
    }
}

/// How the list at `cursor` merges, given the elements of all sides that have it.
///
/// The first source with an answer decides, in the order of [`Basis`]. Otherwise, with inference on, the list merges by the first of
/// [`ASSOCIATIVE_KEYS`] that every element of every side has as a scalar, with values unique within each side. Source: semantics.md section
/// 3, kyaml's `GetAssociativeKey`.
///
/// # Errors
/// [`Unkeyed`] if the elements lack the keys by which the schema identifies them. Then the list is atomic, and the user should know.
pub fn list_kind<'t: 'a, 'a, L: Elements<'a>>(
    cursor: Cursor<'t>,
    sides: &[L],
) -> Result<ListKind<MergeKey<'t>>, Unkeyed> {
    decided(cursor, sides).map(|(_, kind)| kind)
}

/// Whether a source that does not guess says how the list at `cursor` merges.
pub fn is_said(cursor: Cursor<'_>) -> bool {
    cursor.answers().next().is_some_and(|(basis, _)| !basis.is_guess())
}

/// Which source decides how the list at `cursor` merges, given the elements of all sides that have it; `None` if no source does.
pub fn list_basis<'t: 'a, 'a, L: Elements<'a>>(cursor: Cursor<'t>, sides: &[L]) -> Option<Basis> {
    decided(cursor, sides).ok()?.0
}

/// Whether nothing is known about the list at `cursor`, given the elements of all sides that have it.
pub fn is_unknown<'t: 'a, 'a, L: Elements<'a>>(cursor: Cursor<'t>, sides: &[L]) -> bool {
    decided(cursor, sides).is_ok_and(|(basis, _)| matches!(basis, None | Some(Basis::Inferred)))
}

fn decided<'t: 'a, 'a, L: Elements<'a>>(
    cursor: Cursor<'t>,
    sides: &[L],
) -> Result<(Option<Basis>, ListKind<MergeKey<'t>>), Unkeyed> {
    for (basis, list) in cursor.answers() {
        // Even if another source names the keys, their defaults come from the type.
        let known = list.with_keys(|name| MergeKey { name, default: cursor.default_of(name) });
        match told_apart(&known, sides) {
            Ok(()) => return Ok((Some(basis), known)),
            // The type was a guess, and this list shows that the guess is wrong.
            Err(_) if basis.is_guess() => {}
            Err(unkeyed) => return Err(unkeyed),
        }
    }
    // The `type` of a mount says nothing about which one it is.
    let may_infer = cursor.inference == Inference::On && !matches!(cursor.names(), Some(Names::Inside(_)));
    let inferred = if may_infer { infer(sides) } else { ListKind::Atomic };
    Ok((matches!(inferred, ListKind::Map(_)).then_some(Basis::Inferred), inferred))
}

/// Checks that the elements of all sides have the keys or values that identify them in a list of this kind.
fn told_apart<'a, L: Elements<'a>>(kind: &ListKind<MergeKey<'a>>, sides: &[L]) -> Result<(), Unkeyed> {
    match kind {
        ListKind::Map(keys) => {
            for side in sides.iter().filter(|side| side.keyed(keys) < Keyed::Each) {
                if let Some(i) = side.each().position(|e| element_key(e, keys).is_none()) {
                    return Err(Unkeyed::Element(format!("element [{i}] has no merge key `{}`", keys[0].name)));
                }
            }
        }
        ListKind::Set => {
            let mut all = sides.iter().flat_map(L::each).peekable();
            if all.peek().is_some() && all.all(|e| e.is_container()) {
                return Err(Unkeyed::SetOfContainers);
            }
            for side in sides.iter().filter(|side| !side.are_scalars()) {
                if let Some(i) = side.each().position(|e| e.is_container()) {
                    return Err(Unkeyed::Element(format!("element [{i}] is not a scalar, and a set has only scalars")));
                }
            }
        }
        ListKind::Atomic => {}
    }
    Ok(())
}

fn infer<'a, L: Elements<'a>>(sides: &[L]) -> ListKind<MergeKey<'static>> {
    if sides.iter().all(|side| side.each().next().is_none()) {
        return ListKind::Atomic;
    }
    let found = ASSOCIATIVE_KEYS.iter().find(|key| is_key(key, sides));
    found.map_or(ListKind::Atomic, |key| ListKind::Map(vec![(*key).into()]))
}

/// Whether every element of every side has a field as a scalar, with values unique within each side.
pub fn is_key<'a, L: Elements<'a>>(field: &'a str, sides: &[L]) -> bool {
    let keys = [MergeKey::from(field)];
    sides.iter().all(|side| {
        let mut seen = HashSet::new();
        side.keyed(&keys) == Keyed::Unique || side.each().all(|e| element_key(e, &keys).is_some_and(|k| seen.insert(k)))
    })
}

/// Which elements of dest match an element of a patch that leaves out some of its merge keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fit<'a> {
    /// Only the element with these keys.
    Only(ElementKey<'a>),
    /// Several elements, which differ in this key, and no default decides between them.
    Several(&'a str),
    /// No element, or the patch's element gives all of its merge keys.
    None,
}

/// Finds the elements of dest that an element of a patch matches. `key` has the patch's own keys with their defaults. `alike` has the keys
/// of dest's elements with the same first key. `named` has the keys that elements of the patch give in full. If a default decides which
/// element is meant, an element in `named` is excluded: otherwise `{port: 53}` beside `{port: 53, protocol: UDP}` would be the UDP port
/// twice. If several match and exactly one of them is not in `named`, that one is meant.
pub fn fit<'a>(
    element: NodeRef<'a>,
    keys: &[MergeKey<'a>],
    key: &ElementKey<'a>,
    alike: &[ElementKey<'a>],
    named: &HashSet<&ElementKey<'a>>,
) -> Fit<'a> {
    let given: Vec<bool> = keys.iter().map(|k| is_given(element, k)).collect();
    if alike.is_empty() || !given.contains(&false) {
        return Fit::None;
    }
    let open = keys.iter().zip(&given).find(|(key, given)| !**given && key.default.is_none()).map(|(key, _)| key.name);
    let fitting: Vec<_> =
        alike.iter().filter(|d| (0..keys.len()).all(|i| !given[i] || d.value(i) == key.value(i))).collect();
    let unnamed: Vec<_> = fitting.iter().filter(|d| !named.contains(*d)).collect();
    match (&fitting[..], &unnamed[..], open) {
        ([only], _, None) if named.contains(*only) || named.contains(key) => Fit::None,
        ([only], ..) => Fit::Only((*only).clone()),
        // The patch added the other elements when it was applied before.
        (_, [only], Some(_)) => Fit::Only((**only).clone()),
        ([_, _, ..], _, Some(open)) => Fit::Several(open),
        _ => Fit::None,
    }
}

/// Whether an element gives all of its merge keys and leaves none to its default.
pub fn is_named_in_full(element: NodeRef<'_>, keys: &[MergeKey<'_>]) -> bool {
    keys.iter().all(|key| is_given(element, key))
}

fn is_given(element: NodeRef<'_>, key: &MergeKey<'_>) -> bool {
    element.get(key.name).and_then(key_text).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;
    use krm_yaml::Document;

    fn kind(inference: Inference, sides: &[&str]) -> String {
        let docs: Vec<Document<'_>> = sides.iter().map(|s| Document::parse(*s).expect("valid")).collect();
        let roots: Vec<Vec<NodeRef<'_>>> =
            docs.iter().map(|d| d.roots().next().expect("root").elements().collect()).collect();
        match list_kind(Cursor::unknown(inference), &roots) {
            Ok(ListKind::Map(keys)) => keys.iter().map(|k| k.name).collect::<Vec<_>>().join("+"),
            other => format!("{other:?}"),
        }
    }

    #[test]
    fn inference_wants_one_key_in_every_element_of_every_side_and_unique() {
        for (sides, want) in [
            (&["[{name: a}, {name: b}]", "[{name: c}]"][..], "name"),
            (&["[{name: a, ip: x}]", "[{name: a, ip: y}]"], "ip"),
            (&["[{name: a, ip: x}]", "[{name: a}]"], "name"),
            (&["[{name: a}, {name: a}]"], "Ok(Atomic)"),
            (&["[{name: a}]", "[{key: b}]"], "Ok(Atomic)"),
            (&["[{name: {x: 1}}]"], "Ok(Atomic)"),
            (&["[{name: null}]"], "Ok(Atomic)"),
            (&["[a, b]"], "Ok(Atomic)"),
            (&["[{name: a}, b]"], "Ok(Atomic)"),
            (&["[{name: a}]", "[]"], "name"),
            (&["[]", "[]"], "Ok(Atomic)"),
            (&["[{mountPath: a, name: x}, {mountPath: b, name: x}]"], "mountPath"),
        ] {
            assert_eq!(kind(Inference::On, sides), want, "{sides:?}");
            assert_eq!(kind(Inference::Off, sides), "Ok(Atomic)", "{sides:?}");
        }
    }

    #[test]
    fn merge_keys_are_compared_by_value_and_defaulted() {
        let key = |text: &str, [first, second]: [Option<&'static str>; 2]| {
            let doc = Document::parse(text).expect("valid");
            let root = doc.roots().next().expect("root");
            let key = |name, default: Option<&'static str>| MergeKey {
                name,
                default: default.map(|text| KeyDefault::BuiltIn(Cow::Borrowed(text))),
            };
            element_key(root, &[key("port", first), key("protocol", second)]).map(|k| k.to_string())
        };
        for (text, defaults, want) in [
            ("{port: 80}", [None, Some("TCP")], Some("80,TCP")),
            ("{port: '80', protocol: TCP}", [None, Some("TCP")], Some("80,TCP")),
            ("{port: 0x50, protocol: UDP}", [None, Some("TCP")], Some("80,UDP")),
            ("{port: 80}", [None, None], Some("80,")),
            ("{protocol: UDP}", [None, Some("TCP")], None),
            ("{protocol: UDP}", [Some(""), None], Some(",UDP")),
            ("80", [Some(""), None], None),
        ] {
            assert_eq!(key(text, defaults).as_deref(), want, "{text}");
        }
    }

    /// How a list of ports merges in the definition of `example.com/v1` and in the OpenAPI document; `PORTS` is the placeholder for its
    /// schema.
    fn ports(api_version: &str, kind: &str, definition: &str, openapi: &str) -> String {
        let schema = |ports: &str| format!("{{properties: {{spec: {{properties: {{ports: {ports}}}}}}}}}");
        let definition = format!(
            "{{spec: {{group: example.com, names: {{kind: Thing}}, versions: [{{name: v1, schema: {{openAPIV3Schema: {}}}}}]}}}}",
            schema(definition)
        );
        let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
        let gvk = format!("x-kubernetes-group-version-kind: [{{group: '{group}', version: {version}, kind: {kind}}}]");
        let openapi =
            format!("{{definitions: {{t: {{{gvk}, properties: {{spec: {{properties: {{ports: {openapi}}}}}}}}}}}}}");
        let rule = |api_version: &str, kind: &str, path: &str| ListRule {
            api_version: api_version.into(),
            kind: kind.into(),
            path: path.split('.').map(str::to_owned).collect(),
            list: ListKind::Map(vec!["port".into(), "protocol".into()]),
        };
        let rules = [
            rule("example.com/v1", "Thing", "spec.ports"),
            rule("v1", "Service", "spec.ports"),
            rule("networking.k8s.io/v1", "NetworkPolicy", "spec.egress.ports"),
        ];
        let docs = [definition, openapi].map(|text| Document::parse(text).expect("valid"));
        let [definition, openapi] = docs.each_ref().map(|doc| doc.roots().next().expect("root"));
        let types = Types::new(rules, Inference::On).with_definitions([definition]);
        let types = types.with_openapi(openapi).expect("models");
        let path: &[&str] = if kind == "NetworkPolicy" { &["spec", "egress", "ports"] } else { &["spec", "ports"] };
        let cursor = path.iter().fold(types.root(api_version, kind, Mode::ThreeWay), |cursor, name| cursor.field(name));
        let kind = list_kind(cursor, &[Vec::<NodeRef<'_>>::new()]).expect("a kind");
        let ListKind::Map(keys) = kind else { panic!("{kind:?}") };
        let shown = |key: &MergeKey<'_>| {
            format!("{}={}", key.name, key.default.as_ref().map_or("(none)", |default| default.text()))
        };
        keys.iter().map(shown).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn a_default_is_that_of_the_type_whoever_names_the_key() {
        let none = "port=(none) protocol=(none)";
        let says = |default: &str| format!("{{items: {{properties: {{protocol: {{default: {default}}}}}}}}}");
        for (api_version, kind, definition, openapi, want) in [
            ("example.com/v1", "Thing", "{}", "{}", none),
            ("example.com/v1", "Thing", &*says("UDP"), "{}", "port=(none) protocol=UDP"),
            ("example.com/v1", "Thing", &says("UDP"), &says("SCTP"), "port=(none) protocol=SCTP"),
            ("example.com/v1", "Thing", &says("''"), "{}", "port=(none) protocol="),
            ("example.com/v1", "Thing", &says("0x50"), "{}", "port=(none) protocol=80"),
            ("example.com/v1", "Thing", &says("null"), "{}", none),
            (
                "example.com/v2",
                "Thing",
                &says("UDP"),
                "{items: {}, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [port, protocol]}",
                none,
            ),
            ("v1", "Service", "{}", "{}", "port=(none) protocol=TCP"),
            ("v1", "Service", "{}", &says("UDP"), "port=(none) protocol=UDP"),
            ("networking.k8s.io/v1", "NetworkPolicy", "{}", "{}", "port=(none) protocol=TCP"),
        ] {
            assert_eq!(
                ports(api_version, kind, definition, openapi),
                want,
                "{api_version} {kind} {definition} {openapi}"
            );
        }
    }

    /// Which source decides how a list merges in a patch, and by which keys: for a type at this path, with these elements, and with this
    /// definition.
    fn says((of, path): (&str, &str), elements: &str, schema: &str) -> String {
        let (api_version, kind) = of.split_once(' ').expect("apiVersion and kind");
        let (group, version) = api_version.split_once('/').expect("a group");
        let properties =
            path.rsplit('.').fold(schema.to_owned(), |below, name| format!("{{properties: {{{name}: {below}}}}}"));
        let names = format!("group: {group}, names: {{kind: {kind}}}");
        let definition = format!(
            "{{spec: {{{names}, versions: [{{name: {version}, schema: {{openAPIV3Schema: {properties}}}}}]}}}}"
        );
        let docs = [&*definition, elements].map(|text| Document::parse(text).expect("valid"));
        let [definition, list] = docs.each_ref().map(|doc| doc.roots().next().expect("a root"));
        let types = Types::new([], Inference::Off).with_definitions((!schema.is_empty()).then_some(definition));
        let root = types.root(api_version, kind, Mode::Strategic);
        let (way, name) = path.rsplit_once('.').expect("a way");
        let cursor = way.split('.').fold(root, |cursor, name| cursor.field(name)).child(name, [list]);
        let sides = [list.elements().collect::<Vec<_>>()];
        let by = By::from(list_kind(cursor, &sides).expect("a kind"));
        let keys: Vec<&str> = by.keys().iter().map(|key| key.name).collect();
        format!("{:?} {}", list_basis(cursor, &sides), keys.join("+"))
    }

    #[test]
    fn the_atlas_comes_before_shapes_and_behind_what_is_at_hand() {
        let containers = ("argoproj.io/v1alpha1 Rollout", "spec.template.spec.containers");
        let volumes = ("argoproj.io/v1alpha1 Rollout", "spec.template.spec.volumes");
        let formats = ("cert-manager.io/v1 Certificate", "spec.additionalOutputFormats");
        let [env, claims] = ["spec.env", "spec.resources.claims"].map(|path| ("example.com/v1 Thing", path));
        let (named, silent) = ("[{name: a, image: i}]", "{type: array, items: {properties: {name: {}, value: {}}}}");
        for (list, elements, schema, want) in [
            (containers, named, "", "Some(Atlas) name"),
            // The definition takes precedence, even if it does not declare how the list merges.
            (containers, "[{name: a}]", "{type: array}", "Some(Definition) "),
            (containers, named, "{type: array}", "Some(Definition) "),
            // Elements without the keys of a guess have another type.
            (containers, "[{image: i}]", "", "None "),
            (volumes, "[{name: a}]", "", "None "),
            (formats, "[{type: DER}]", "", "Some(Atlas) "),
            (("argoproj.io/v9 Rollout", containers.1), named, "", "Some(Atlas) name"),
            (env, "[{name: A, value: a}]", "", "Some(Shape) name"),
            (env, "[{name: A, more: a}]", "", "None "),
            (env, "[{name: A}]", silent, "Some(Shape) name"),
            (env, "[{value: a}]", silent, "Some(Definition) "),
            (env, "[{name: A, value: a}]", "{type: array}", "Some(Definition) "),
            (
                env,
                "[{name: A}]",
                &silent.replace("array", "array, x-kubernetes-list-type: atomic"),
                "Some(Definition) ",
            ),
            // The list merges as on the server, because kubectl has no rule for types that it does not know.
            (claims, "[{name: a}]", "", "Some(Shape) name"),
        ] {
            assert_eq!(says(list, elements, schema), want, "{list:?} {elements} {schema}");
        }
    }

    #[test]
    fn a_rule_of_the_user_overrules_inference() {
        let rule = |path: &str, list| ListRule {
            api_version: "v1".into(),
            kind: "K".into(),
            path: path.split('.').map(str::to_owned).collect(),
            list,
        };
        let types = Types::new(
            [rule("spec.a", ListKind::Atomic), rule("spec.a.b", ListKind::Map(vec!["id".to_owned()]))],
            Inference::On,
        );
        let doc = Document::parse("[{name: a, id: 1}]").expect("valid");
        let side = [doc.roots().next().expect("root").elements().collect::<Vec<_>>()];
        let a = types.root("v1", "K", Mode::ThreeWay).field("spec").field("a");
        assert_eq!(list_kind(a, &side), Ok(ListKind::Atomic));
        assert_eq!(list_kind(a.field("b"), &side), Ok(ListKind::Map(vec!["id".into()])));
        assert_eq!(
            list_kind(types.root("v2", "K", Mode::ThreeWay).field("spec").field("a"), &side),
            Ok(ListKind::Map(vec!["name".into()]))
        );
        let doc = Document::parse("[{name: a}]").expect("valid");
        let list: Vec<NodeRef<'_>> = doc.roots().next().expect("root").elements().collect();
        assert!(list_kind(a.field("b"), &[list]).is_err());
    }
}
