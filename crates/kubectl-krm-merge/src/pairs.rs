//! Pairs the resources of two states. Resources with the same identity are the same; if a state has several of them, the path decides.

use std::collections::HashMap;

use krm_package::resource::{Identity, Located, Origin, Resource};
use krm_yaml::{Document, NodeRef};

/// A resource in two states; at least one of them has it.
#[derive(Clone, Debug)]
pub struct Pair<'a> {
    /// The resource in the old state.
    pub old: Option<Resource<'a>>,
    /// The resource in the new state.
    pub new: Option<Resource<'a>>,
}

/// Pairs resources. The pairs are in the order of the old resources, followed by resources that only the new state has. Resources without
/// an identity, such as kustomizations, are paired by path and order.
pub fn pairs<'a>(old: Vec<Resource<'a>>, new: Vec<Resource<'a>>) -> Vec<Pair<'a>> {
    let mut groups: HashMap<Option<Identity<'a>>, [Vec<usize>; 2]> = HashMap::new();
    for (side, resources) in [&old, &new].into_iter().enumerate() {
        for (i, resource) in resources.iter().enumerate() {
            groups.entry(resource.identity).or_default()[side].push(i);
        }
    }
    let mut partner: HashMap<usize, usize> = HashMap::new();
    for (identity, [of_old, mut of_new]) in groups {
        let mut alone = Vec::new();
        for i in of_old {
            match of_new.iter().position(|j| new[*j].place() == old[i].place()) {
                Some(at) => _ = partner.insert(i, of_new.remove(at)),
                None => alone.push(i),
            }
        }
        // If each state has one resource of the identity left, the two are paired, even if their paths differ.
        if let ([i], [j], true) = (&alone[..], &of_new[..], identity.is_some()) {
            partner.insert(*i, *j);
        }
    }
    let mut new: Vec<Option<Resource<'a>>> = new.into_iter().map(Some).collect();
    let of_old = old.into_iter().enumerate().map(|(i, old)| {
        let new = partner.get(&i).and_then(|j| new.get_mut(*j)?.take());
        Pair { old: Some(old), new }
    });
    let mut pairs: Vec<Pair<'a>> = of_old.collect();
    pairs.extend(new.into_iter().flatten().map(|new| Pair { old: None, new: Some(new) }));
    pairs
}

/// The documents of a file that are lists or scalars, which may stand beside resources. They have no identity.
pub fn others<'a>(document: &'a Document<'_>, path: &'a str, name: &'a str) -> impl Iterator<Item = Resource<'a>> {
    document.roots().filter(|root| !root.is_map() && !root.is_null()).map(move |root| unnamed(root, path, name))
}

/// A document without an identity: only its file and its order say which one it is.
pub fn unnamed<'a>(root: NodeRef<'a>, path: &'a str, name: &str) -> Resource<'a> {
    let origin = Origin::File { name: name.to_owned(), item: None };
    let resource = Resource::read(root, origin);
    let identity = resource.identity;
    let resource = resource.known_in_file(identity);
    Resource { path: Some(path), relative_path: Some(path), located: Located::ByFile, ..resource }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The pairs of resources that are given as `name@path`.
    fn paired(old: &[&'static str], new: &[&'static str]) -> Vec<String> {
        let text = |written: &str| match written.split('@').next() {
            Some("") | None => "{apiVersion: v1, kind: A}".to_owned(),
            Some(name) => format!("{{apiVersion: v1, kind: A, metadata: {{name: {name}}}}}"),
        };
        let documents = [old, new]
            .map(|side| side.iter().map(|written| Document::parse(text(written)).expect("valid")).collect::<Vec<_>>());
        let read = |(written, document): (&&'static str, &'static Document<'static>)| {
            let resource = Resource::read(document.roots().next().expect("a root"), Origin::Item(0));
            let path = written.split_once('@').map(|(_, path)| path);
            Resource { path: Some(written), relative_path: path, located: Located::ByFile, ..resource }
        };
        let [of_old, of_new]: [&'static Vec<Document<'static>>; 2] = documents.map(|all| &*Box::leak(Box::new(all)));
        let (old, new) = (old.iter().zip(of_old).map(read).collect(), new.iter().zip(of_new).map(read).collect());
        let shown = |resource: Option<Resource<'_>>| resource.and_then(|r| r.path).unwrap_or("-").to_owned();
        pairs(old, new).into_iter().map(|pair| format!("{} {}", shown(pair.old), shown(pair.new))).collect()
    }

    #[test]
    fn one_identity_is_one_resource_and_of_several_the_path_decides() {
        for (old, new, want) in [
            (&["a@x", "b@x"][..], &["b@x", "c@x"][..], &["a@x -", "b@x b@x", "- c@x"][..]),
            (&["a@x"], &["a@y"], &["a@x a@y"]),
            (&["a@x", "a@y"], &["a@y", "a@z"], &["a@x a@z", "a@y a@y"]),
            (&["a@x", "a@y"], &["a@z"], &["a@x -", "a@y -", "- a@z"]),
            (&["a", "a"], &["a"], &["a a", "a -"]),
            // Without an identity, only the file says which resource it is.
            (&["@x", "@y"], &["@y", "@z"], &["@x -", "@y @y", "- @z"]),
        ] {
            assert_eq!(paired(old, new), want, "{old:?} {new:?}");
        }
    }
}
