//! The versions of a file, place by place: what stands at one path in each of them.
//!
//! Elements of lists are told apart by their keys, as the engine does it, for neither lines nor indices say which one is which.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

use krm_merge::child::{By, ChildId};
use krm_merge::path::FieldPath;
use krm_merge::resource::{Identity, Origin, Resource};
use krm_merge::schema::{Cursor, Dialect, Inference, Types, list_kind};
use krm_merge::yaml::{Document, Kind, NodeRef, Place, Style, extent};
use krm_merge_function::results::{Outcome, ResourceRef};

/// Some versions of a file that holds resources.
pub struct Versions<'d, const N: usize> {
    /// Each of them.
    pub documents: [&'d Document<'static>; N],
    types: Types<'static>,
}

/// What stands at one path in each version that has it: a resource, a field or an element.
#[derive(Clone)]
pub struct Spot<'a, const N: usize> {
    /// By version.
    pub here: [Option<Here<'a>>; N],
    /// The path in the resource; empty for the resource itself.
    pub path: FieldPath<'a>,
    /// The merge keys by which it is an element of its list.
    pub keys: Vec<Cow<'a, str>>,
    cursor: Cursor<'a>,
}

/// What stands there in one version.
#[derive(Clone, Copy)]
pub struct Here<'a> {
    /// Its number among its siblings.
    pub index: usize,
    /// Its key, where it is a field.
    pub key: Option<NodeRef<'a>>,
    /// Its value.
    pub value: NodeRef<'a>,
    /// Where it lies; a resource lies in its document.
    pub place: Option<Place>,
}

/// The name of a spot, the same in all versions.
#[derive(Clone, Debug, PartialEq)]
pub struct Address {
    /// The resource.
    pub resource: ResourceRef,
    /// The path in it, by key; empty for the resource itself.
    pub path: String,
}

/// How a spot lies to some paths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// It is one of them.
    Here,
    /// It leads to one of them.
    Below,
    /// Neither.
    Not,
}

impl Wanted {
    /// How a path lies to others.
    pub fn of(path: &str, paths: &[String]) -> Self {
        match () {
            () if paths.iter().any(|p| p == path) => Self::Here,
            () if paths.iter().any(|p| is_below(p, path)) => Self::Below,
            () => Self::Not,
        }
    }
}

/// Whether a path leads through another one.
fn is_below(path: &str, above: &str) -> bool {
    let rest = path.strip_prefix(above);
    rest.is_some_and(|rest| !rest.is_empty() && (above.is_empty() || rest.starts_with(['.', '['])))
}

/// Addresses without those that lie below another one.
pub fn outermost(mut all: Vec<Address>) -> Vec<Address> {
    let copy = all.clone();
    all.retain(|a| !copy.iter().any(|b| a.resource == b.resource && is_below(&a.path, &b.path)));
    all.dedup();
    all
}

impl<'d, const N: usize> Versions<'d, N> {
    /// Of these texts.
    pub fn new(documents: [&'d Document<'static>; N]) -> Self {
        Self { documents, types: Types::new([], Inference::On, Dialect::Server) }
    }

    /// The resources of all versions.
    pub fn resources(&self) -> Vec<Spot<'_, N>> {
        let mut found: Vec<Spot<'_, N>> = Vec::new();
        let mut numbers: HashMap<Identity<'_>, usize> = HashMap::new();
        for (version, document) in self.documents.iter().enumerate() {
            for (index, root) in document.roots().enumerate() {
                let resource = Resource::read(root, Origin::Item(0));
                let Some(identity) = resource.package_identity() else { continue };
                let at = *numbers.entry(identity).or_insert_with(|| {
                    let cursor = self.types.root(identity.api_version, identity.kind);
                    found.push(Spot { here: [None; N], path: FieldPath::default(), keys: Vec::new(), cursor });
                    found.len() - 1
                });
                let here = &mut found[at].here[version];
                *here = here.or(Some(Here { index, key: None, value: root, place: None }));
            }
        }
        found
    }
}

/// Where a conflict is: at the nearest spot that can be told in all versions.
pub fn address<const N: usize>(resources: &[Spot<'_, N>], conflict: &Outcome) -> Option<Address> {
    let resource = conflict.resource_ref.clone()?;
    let spot = resources.iter().find(|spot| spot.is(&resource))?;
    // A conflict of the whole resource has no field, and its place is a list of what changed.
    let path = match (&conflict.field, &conflict.clash) {
        (Some(_), Some(clash)) => spot.clone().nearest(&clash.place).path.keyed(),
        _ => String::new(),
    };
    Some(Address { resource, path })
}

impl<'a, const N: usize> Spot<'a, N> {
    /// Whether it is this resource, or lies in it.
    pub fn is(&self, resource: &ResourceRef) -> bool {
        let wanted = [&*resource.api_version, &*resource.kind, &*resource.namespace, &*resource.name];
        let is = |i: Identity<'_>| [i.api_version, i.kind, i.namespace, i.name] == wanted;
        self.here.iter().flatten().any(|here| Resource::read(here.value, Origin::Item(0)).identity.is_some_and(is))
    }

    /// The children of all versions: in the order of the first one that has any, then what further ones have besides. None where not all of
    /// them can be told apart in the same way.
    pub fn children(&self) -> Vec<Self> {
        let values: Vec<NodeRef<'a>> = self.here.iter().flatten().map(|here| here.value).collect();
        let (by, cursor) = match values.first().map(|value| value.kind()) {
            Some(kind) if values.iter().any(|value| value.kind() != kind) => return Vec::new(),
            Some(Kind::Map) if !self.cursor.is_replaced() => (By::Field, None),
            Some(Kind::List) => {
                let lists: Vec<Vec<NodeRef<'a>>> = values.iter().map(|value| value.elements().collect()).collect();
                match list_kind(self.cursor, &lists) {
                    Ok(kind) => (By::list(kind), Some(self.cursor)),
                    Err(_) => return Vec::new(),
                }
            }
            _ => return Vec::new(),
        };
        let mut children: Vec<(ChildId<'a>, Self)> = Vec::new();
        for (version, here) in self.here.iter().enumerate() {
            let Some(container) = here.map(|here| here.value) else { continue };
            let places = Place::of_children(container);
            let entries = container.entries().map(|(key, value)| (Some(key), value));
            for ((index, (key, value)), place) in
                entries.chain(container.elements().map(|e| (None, e))).enumerate().zip(places)
            {
                let id = match key {
                    Some(key) => Some(ChildId::Field(key.string())),
                    None => by.id_of(value),
                };
                let Some(id) = id else { return Vec::new() };
                let at = children.iter().position(|(other, _)| *other == id).unwrap_or_else(|| {
                    let mut path = self.path.clone();
                    path.push(id.step(&by), None);
                    let keys = by.keys().iter().map(|key| Cow::Borrowed(key.name)).collect();
                    let cursor = match (&id, cursor) {
                        (ChildId::Field(name), _) => self.cursor.field(name),
                        (_, cursor) => cursor.unwrap_or(self.cursor),
                    };
                    children.push((id, Self { here: [None; N], path, keys, cursor }));
                    children.len() - 1
                });
                let child = &mut children[at].1.here[version];
                if child.is_some() {
                    return Vec::new();
                }
                *child = Some(Here { index, key, value, place: Some(place) });
            }
        }
        children.into_iter().map(|(_, child)| child).collect()
    }

    /// The spot at a path, or the nearest one above it.
    pub fn nearest(self, path: &str) -> Self {
        let mut spot = self;
        let leads = |child: &Self| child.path.keyed() == path || is_below(path, &child.path.keyed());
        while let Some(child) = spot.children().into_iter().find(leads) {
            spot = child;
        }
        spot
    }

    /// The lines that are its own in a version; `None` where it is not, or shares them with its siblings.
    pub fn lines(&self, version: usize) -> Option<Range<usize>> {
        let here = self.here[version]?;
        let document = here.value.document();
        let Some(place) = here.place else { return Some(extent(here.value)) };
        let top = line_start(document.source(), place.top(document));
        Some(top..place.bottom(document))
    }

    /// Whether it is a text in all versions, whose lines are one apart from the other.
    pub fn is_text(&self) -> bool {
        let header =
            |here: &Option<Here<'a>>| here.filter(|h| h.value.style() == Style::Literal)?.value.text().lines().next();
        let headers = self.here.each_ref().map(header);
        headers.iter().all(|header| header.is_some() && *header == headers[0])
    }

    /// The spot at a path, if no version has it within brackets, where several children may share a line.
    pub fn in_block(self, path: &str) -> Option<Self> {
        let mut spot = self;
        while spot.path.keyed() != path {
            let leads = |child: &Self| child.path.keyed() == path || is_below(path, &child.path.keyed());
            let is_flow = spot.here.iter().flatten().any(|here| here.value.style() == Style::Flow);
            spot = spot.children().into_iter().find(leads).filter(|_| !is_flow)?;
        }
        Some(spot)
    }
}

/// The identity of a resource.
pub fn identity(root: NodeRef<'_>) -> Option<ResourceRef> {
    let i = Resource::read(root, Origin::Item(0)).identity?;
    Some(ResourceRef {
        api_version: i.api_version.into(),
        kind: i.kind.into(),
        namespace: i.namespace.into(),
        name: i.name.into(),
    })
}

/// Where the line of an offset begins.
pub fn line_start(text: &str, at: usize) -> usize {
    text[..at].rfind('\n').map_or(0, |i| i + 1)
}
