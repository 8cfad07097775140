//! [`Difference`]: where two packages mean something else.

use std::collections::{BTreeMap, BTreeSet};

use krm_job::event::{Event, ResourceRef};
use krm_merge_core::policy::Policy;
use krm_package::resource::{Identity, Resource};
use krm_package::rules::Rules;
use krm_schema::mode::Mode;
use krm_schema::schema::{Inference, Types};
use krm_tree::limit::{Budget, Limit};

use super::Error;
use super::side::{Package, PackageSide};

/// A resource, or a file without resources, that two packages do not have alike.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The resource; `None` for a file without resources.
    pub resource: Option<ResourceRef>,
    /// The path of the file, if the package has files.
    pub file: Option<String>,
    /// The places where the resources differ; empty if only one package has it.
    pub places: Vec<String>,
}

impl Package {
    /// Where another package means something else. Comments, the order of fields, quotes and other spelling do not count. Elements of lists are found
    /// by their keys, and their order counts.
    ///
    /// # Errors
    /// A resource has a key twice, or its lists have elements that nobody can tell apart.
    ///
    /// # Examples
    /// ```
    /// use krm_merge::Package;
    ///
    /// let service = |ports: &str| Package::of_text(format!("apiVersion: v1\nkind: Service\nmetadata: {{name: a}}\nspec: {{ports: [{ports}]}}\n"));
    /// let (one, same) = (service("{port: 80}, {port: 81, name: b}")?, service("{\"port\": 80}, {name: b, port: 81}")?);
    /// assert_eq!(one.differences(&same)?, []);
    /// let other = one.differences(&service("{port: 80}, {port: 81, name: c}")?)?;
    /// assert_eq!(other[0].places, ["spec.ports[port=81,protocol=TCP].name"]);
    /// # Ok::<(), krm_merge::Error>(())
    /// ```
    pub fn differences(&self, other: &Self) -> Result<Vec<Difference>, Error> {
        let sides = [PackageSide::of("one", self), PackageSide::of("other", other)];
        let limit = Limit::default().with_input(self.size() + other.size());
        let budget = Budget::new(limit);
        let all = sides.iter().flat_map(|side| &side.resources);
        let definitions = all.filter(|resource| resource.is_definition()).map(Resource::node);
        let types = Types::new([], Inference::On).with_definitions(definitions);
        let rules = Rules { types: &types, mode: Mode::ThreeWay, policy: Policy::default(), budget: &budget };
        let [ones, others] = sides.each_ref().map(by_name);
        let mut found = Vec::new();
        for (name, one) in &ones {
            let places = match others.get(name) {
                Some(other) => rules.differs(one, other).map_err(|error| Event::unmergeable(&error))?,
                None => Vec::new(),
            };
            if !places.is_empty() || !others.contains_key(name) {
                found.push(Difference::of(one, places));
            }
        }
        let new = others.iter().filter(|(name, _)| !ones.contains_key(*name));
        found.extend(new.map(|(_, other)| Difference::of(other, Vec::new())));
        let nameless = sides.each_ref().map(PackageSide::nameless);
        let paths: BTreeSet<&str> = nameless.iter().flat_map(BTreeMap::keys).copied().collect();
        let differ = paths.into_iter().filter(|path| {
            let [one, other] = nameless.each_ref().map(|files| files.get(path));
            !one.zip(other).is_some_and(|(one, other)| one.means(other))
        });
        found.extend(differ.map(|path| {
            let file = Some(path.to_owned()).filter(|path| !path.is_empty());
            Difference { resource: None, file, places: Vec::new() }
        }));
        Ok(found)
    }
}

impl Difference {
    fn of(resource: &Resource<'_>, places: Vec<String>) -> Self {
        let file = resource.path.map(str::to_owned);
        Self { resource: resource.identity.map(ResourceRef::from), file, places }
    }
}

/// The resources of a side by their identities, and by their number among those of one identity.
fn by_name<'s, 'a>(side: &'s PackageSide<'a>) -> BTreeMap<(Option<Identity<'a>>, usize), &'s Resource<'a>> {
    let mut counts: BTreeMap<Option<Identity<'a>>, usize> = BTreeMap::new();
    let named = side.resources.iter().filter(|resource| resource.identity.is_some()).map(|resource| {
        let count = counts.entry(resource.identity).or_default();
        *count += 1;
        ((resource.identity, *count), resource)
    });
    named.collect()
}
