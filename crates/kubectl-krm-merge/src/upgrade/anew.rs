//! What a command makes anew at each rendering, such as passwords and certificates.
//!
//! Nobody changed these values between two releases, so an upgrade must not put new ones into a package. Two renderings of one release show
//! them: they are the scalars that differ. Their release is known by what stays, and they keep the value that the package's release has.

use std::ops::Range;

use anyhow::Result;
use krm_merge::resource::{Identity, Origin, Resource};
use krm_yaml::{Document, NodeRef, Style};

/// A value that differs between two renderings, and where it stands in the first one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Anew {
    range: Range<usize>,
    /// Its place for messages: the resource and the field.
    pub place: String,
    /// The value that an older release has there, as YAML; `None` if it has none.
    kept: Option<String>,
}

impl Anew {
    /// Whether the older release has a value there.
    pub fn is_kept(&self) -> bool {
        self.kept.is_some()
    }
}

/// The values of a text that are others in a second rendering of it. `old` is an older release, whose values are kept.
///
/// # Errors
/// A text is not YAML.
pub fn anew(text: &str, again: &str, old: Option<&str>) -> Result<Vec<Anew>> {
    let parsed = |text: &str| Document::parse(text.to_owned());
    let (first, second, old) = (parsed(text)?, parsed(again)?, old.map(parsed).transpose()?);
    let mut found = Vec::new();
    for (a, b) in first.roots().zip(second.roots()) {
        let own = identity(a);
        let old = old.iter().flat_map(Document::roots).find(|root| own.is_some() && identity(*root) == own);
        let name = |path: &[&str]| a.at(path).map_or("", NodeRef::string);
        let place = format!("{} {}:", name(&["kind"]), name(&["metadata", "name"]));
        Renderings { a, b, old }.walk(&place, &mut found);
    }
    Ok(found)
}

/// The text with a value in place of each one that is made anew; without a value, it is left out.
fn with(text: &str, all: &[Anew], value: impl Fn(&Anew) -> Option<String>) -> String {
    let mut out = String::new();
    let mut at = 0;
    for anew in all {
        out.push_str(&text[at..anew.range.start]);
        out.push_str(&value(anew).unwrap_or_default());
        at = anew.range.end;
    }
    out + &text[at..]
}

/// The part of a text that each rendering of it has.
pub fn stable(text: &str, all: &[Anew]) -> String {
    with(text, all, |_| None)
}

/// The text with the values of the older release.
pub fn kept(text: &str, all: &[Anew]) -> String {
    with(text, all, |anew| Some(anew.kept.clone().unwrap_or_else(|| text[anew.range.clone()].to_owned())))
}

/// One place in two renderings, and in an older release.
#[derive(Clone, Copy)]
struct Renderings<'a> {
    a: NodeRef<'a>,
    b: NodeRef<'a>,
    old: Option<NodeRef<'a>>,
}

impl Renderings<'_> {
    /// Finds what differs here and below. What has another shape is no value that is made anew.
    fn walk(self, place: &str, found: &mut Vec<Anew>) {
        let Self { a, b, old } = self;
        if a.text() == b.text() {
            return;
        }
        if a.is_map() && b.is_map() {
            let separator = if place.ends_with(':') { " " } else { "." };
            for (key, value) in a.entries().filter(|(key, _)| !key.is_container()) {
                let Some(other) = b.get(key.string()) else { continue };
                let old = old.and_then(|old| old.get(key.string()));
                let place = format!("{place}{separator}{}", key.string());
                Self { a: value, b: other, old }.walk(&place, found);
            }
        } else if a.is_list() && b.is_list() {
            let count = a.elements().count();
            let old = old.filter(|old| old.elements().count() == count);
            for (at, (value, other)) in a.elements().zip(b.elements()).enumerate() {
                let old = old.and_then(|old| old.elements().nth(at));
                Self { a: value, b: other, old }.walk(&format!("{place}[{at}]"), found);
            }
        } else if !a.is_container() && !b.is_container() {
            found.push(Anew { range: a.start()..a.end(), place: place.to_owned(), kept: old.and_then(written) });
        }
    }
}

/// A value as YAML in one line.
fn written(value: NodeRef<'_>) -> Option<String> {
    let value = value.resolve();
    if value.is_container() {
        return None;
    }
    let text = value.text();
    let is_plain = !text.contains('\n') && !matches!(value.style(), Style::Literal | Style::Folded);
    Some(if is_plain { text.to_owned() } else { serde_json::Value::from(value.string()).to_string() })
}

fn identity(root: NodeRef<'_>) -> Option<Identity<'_>> {
    Resource::read(root, Origin::Item(0)).identity
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A release of a Secret.
    fn secret(version: &str, password: &str) -> String {
        format!(
            "kind: Secret\napiVersion: v1\nmetadata: {{name: a}}\ndata:\n  v: {version}\n  list: [x, {password}]\n  pem: |\n    {password}\n    end\nmore: x\n"
        )
    }

    #[test]
    fn what_two_renderings_do_not_share_keeps_the_old_value() {
        let [one, two] = ["p1", "p2"].map(|password| secret("2", password));
        let all = anew(&one, &two, Some(&secret("1", "old"))).expect("YAML");
        let places: Vec<&str> = all.iter().map(|anew| anew.place.as_str()).collect();
        assert_eq!(places, ["Secret a: data.list[1]", "Secret a: data.pem"]);
        let want = secret("2", "old").replace("|\n    old\n    end\n", "\"old\\nend\\n\"\n");
        assert_eq!(kept(&one, &all), want);
    }

    #[test]
    fn a_release_is_known_by_what_stays() {
        let [one, two] = ["p1", "p2"].map(|password| secret("2", password));
        let of = |text: &str, again: &str| stable(text, &anew(text, again, None).expect("YAML"));
        assert_eq!(of(&one, &two), of(&two, &secret("2", "p3")));
        assert_ne!(of(&one, &two), of(&secret("3", "p1"), &secret("3", "p2")));
        assert_eq!(of(&one, &one), one);
    }

    #[test]
    fn a_value_that_the_old_release_lacks_is_the_new_one() {
        let all = anew("kind: A\na: 1\n", "kind: A\na: 2\n", Some("kind: A\n")).expect("YAML");
        assert_eq!(kept("kind: A\na: 1\n", &all), "kind: A\na: 1\n");
    }
}
