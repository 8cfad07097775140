//! Says a value in the words of a file: with its comments, its order and its layout, as far as the file says the same.
//!
//! A merge replaces an element of a list without keys as a whole. If both states of the cluster are in the words of the file, such an element
//! keeps its lines, and only what differs changes.

use anyhow::Result;
use krm_tree::child::By;
use krm_tree::limit::Budget;
use krm_tree::splice;
use krm_tree::tree::{Branch, Entry, Key, Made, Quotes, Tree};
use krm_yaml::{Document, NodeRef};
use serde_json::Value;

use crate::object::{Object, value};

/// An object in the words of a resource of a file; `None` if they cannot say it.
pub fn retold(file: NodeRef<'_>, object: &Object) -> Option<String> {
    let budget = Budget::default();
    let file = Document::parse(splice::standalone(&Tree::Node(file), &budget).ok()?).ok()?;
    let object = Document::parse(object.yaml()).ok()?;
    let (root, object) = (file.roots().next()?, object.roots().next()?);
    let tree = said(root, object).ok()?;
    let text = file.source();
    Some(splice::edits(root, &tree, &budget).ok()?.apply(text, 0..text.len()))
}

/// A node of the file, with the value of another node.
fn said<'a>(file: NodeRef<'a>, other: NodeRef<'a>) -> Result<Tree<'a>> {
    Ok(if value(file)? == value(other)? {
        Tree::Node(file)
    } else if file.is_map() && other.is_map() {
        fields(file, other)?
    } else if file.is_list() && other.is_list() {
        elements(file, other)?
    } else {
        Tree::Node(other)
    })
}

/// A node with the quotes of a text of the file; the node as it is if one of them is no text.
fn quoted_like<'a>(file: NodeRef<'a>, other: NodeRef<'a>) -> Result<Tree<'a>> {
    Ok(match (value(file)?, value(other)?) {
        (Value::String(_), Value::String(text)) => {
            Tree::Made(Box::new(Made { value: text.into(), quotes: Quotes::As(file) }))
        }
        _ => Tree::Node(other),
    })
}

fn fields<'a>(file: NodeRef<'a>, other: NodeRef<'a>) -> Result<Tree<'a>> {
    let mut branch = Branch::of(file, By::Field);
    for (at, (key, child)) in file.entries().enumerate() {
        branch.entries[at].value = other.get(key.string()).map(|other| said(child, other)).transpose()?;
    }
    for (key, child) in other.entries().filter(|(key, _)| file.get(key.string()).is_none()) {
        branch.push(Entry::new(Some(Key::Node(key)), Tree::Node(child)));
    }
    Ok(branch.into_tree())
}

fn elements<'a>(file: NodeRef<'a>, other: NodeRef<'a>) -> Result<Tree<'a>> {
    let partners = partners(&file.elements().collect::<Vec<_>>(), &other.elements().collect::<Vec<_>>())?;
    let mut told = Vec::new();
    let first = file.elements().next();
    for (partner, element) in partners.iter().zip(other.elements()) {
        let tree = match partner.and_then(|at| file.elements().nth(at)) {
            Some(own) => said(own, element)?,
            // What is new in a list of texts is quoted as they are.
            None => first.map_or(Ok(Tree::Node(element)), |first| quoted_like(first, element))?,
        };
        told.push((*partner, tree));
    }
    let mut branch = Branch::of(file, By::Index);
    branch.reorder(|entries| {
        let mut entries: Vec<Option<Entry<'a>>> = entries.into_iter().map(Some).collect();
        let mut out = Vec::new();
        for (partner, tree) in told {
            match partner.and_then(|at| entries[at].take()) {
                Some(entry) => out.push(Entry { value: Some(tree), ..entry }),
                None => out.push(Entry::new(None, tree)),
            }
        }
        out.extend(entries.into_iter().flatten().map(|entry| Entry { value: None, ..entry }));
        out
    });
    Ok(branch.into_tree())
}

/// For each element of another list the place of its partner in the file: the one that says the same, else a map at the same place, counted
/// from the begin or from the end, with which it has a value in common.
fn partners(file: &[NodeRef<'_>], other: &[NodeRef<'_>]) -> Result<Vec<Option<usize>>> {
    let values = |nodes: &[NodeRef<'_>]| nodes.iter().map(|node| value(*node)).collect::<Result<Vec<_>>>();
    let (file, other) = (values(file)?, values(other)?);
    let mut is_free = vec![true; file.len()];
    let mut found = vec![None; other.len()];
    for (at, element) in other.iter().enumerate() {
        found[at] = (0..file.len()).find(|place| is_free[*place] && file[*place] == *element);
        if let Some(place) = found[at] {
            is_free[place] = false;
        }
    }
    let is_like =
        |a: &Value, b: &Value| a.as_object().into_iter().flatten().any(|(name, value)| b.get(name) == Some(value));
    for (at, element) in other.iter().enumerate() {
        let places = [Some(at), (at + file.len()).checked_sub(other.len())];
        let mut free = places.into_iter().flatten().filter(|place| is_free.get(*place) == Some(&true));
        if found[at].is_none() {
            found[at] = free.find(|place| is_like(&file[*place], element));
        }
        if let Some(place) = found[at] {
            is_free[place] = false;
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_file_says_stays_in_its_words() {
        for (file, object, want) in [
            ("# head\na: [x] # c\nb: 1\n", "b: 1\na: [x, z]\n", "# head\na: [x, z] # c\nb: 1\n"),
            (
                "l:\n# one\n- v: [\"get\"]\n  g: [\"\"] # core\n- g: [a]\n",
                "l:\n- g: ['']\n  v: [get, watch]\n- g: [a]\n",
                "l:\n# one\n- v: [\"get\", \"watch\"]\n  g: [\"\"] # core\n- g: [a]\n",
            ),
            ("l:\n- a: 1 # one\n  b: 1\n- a: 2 # two\n", "l:\n- a: 2\n", "l:\n- a: 2 # two\n"),
            (
                "l:\n- a: 1 # one\n  b: 1\n- a: 2 # two\n",
                "l:\n- c: 3\n- a: 1\n  b: 2\n- a: 2\n",
                "l:\n- c: 3\n- a: 1 # one\n  b: 2\n- a: 2 # two\n",
            ),
            ("a: {b: 1} # c\nd: 2\n", "d: 2\n", "d: 2\n"),
        ] {
            let file = Document::parse(file).expect("YAML");
            let object = Object::live(yaml_serde::from_str(object).expect("YAML"));
            assert_eq!(retold(file.roots().next().expect("a root"), &object).as_deref(), Some(want));
        }
    }
}
