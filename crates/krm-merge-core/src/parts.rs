//! Values that have parts: references to images, and remote bases of kustomize.
//!
//! A mirror changes the repository of an image and upstream its tag, so the parts merge each for itself. A text is taken apart only if it
//! surely is such a value: by the field or the list that holds it, and by its form. Sources: the grammar of a reference in `distribution`
//! (`reference/reference.go`), and of a repository in kustomize (`api/internal/git/repospec.go`).

use krm_tree::path::{FieldPath, Step};
use krm_tree::sides::{Side, Sides};

/// A kind of value that has parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Composed {
    /// A reference to an image: a repository with its registry, and a tag, a digest, or both.
    Image,
    /// A remote base: an address and a query with its version.
    Base,
}

/// The two parts of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parts<'t> {
    kind: Composed,
    /// Where it is.
    place: &'t str,
    /// Which version of it, with the sign before it; may be empty.
    version: &'t str,
}

/// A value merged by its parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MergedParts {
    /// The value if dest wins a part that both sides changed, in different ways.
    pub dest: String,
    /// The value if updated wins it; the same as dest's if there is no such part.
    pub updated: String,
    /// The side whose place it has.
    pub place: Side,
}

impl Composed {
    /// The kind of value that may be at a place: an image in a field of this name, and a base among the elements of a list.
    pub fn of_place(path: &FieldPath<'_>) -> Option<Self> {
        match path.steps().last()? {
            Step::Field(name) => (name == "image").then_some(Self::Image),
            Step::Element(_) => None,
            Step::Index(_) | Step::Value(_) => Some(Self::Base),
        }
    }

    /// The parts of a text; `None` if it is not surely such a value.
    pub fn parts(self, text: &str) -> Option<Parts<'_>> {
        let (place, version) = match self {
            Self::Image => image(text)?,
            Self::Base => base(text)?,
        };
        Some(Parts { kind: self, place, version })
    }

    /// The name of the part that says where it is.
    pub fn place(self) -> &'static str {
        match self {
            Self::Image => "repository",
            Self::Base => "address",
        }
    }

    /// The name of the part that says which version it is.
    pub fn version(self) -> &'static str {
        match self {
            Self::Image => "tag",
            Self::Base => "ref",
        }
    }

    /// Merges the parts of three versions; `None` if both sides changed each part, in different ways, or if they name different things: the
    /// version of one image says nothing of another one.
    pub fn merged(self, texts: Sides<&str>) -> Option<MergedParts> {
        let [original, updated, dest] = [texts.original, texts.updated, texts.dest].map(|text| self.parts(text));
        let sides = Sides { original: original?, updated: updated?, dest: dest? };
        if sides.iter().any(|(_, parts)| parts.name() != sides.original.name()) {
            return None;
        }
        let [place, version] = [taken(sides.map(|parts| parts.place)), taken(sides.map(|parts| parts.version))];
        let won_by = |winner: Side| {
            let [place, version] = [place, version].map(|side| side.unwrap_or(winner));
            format!("{}{}", sides[place].place, sides[version].version)
        };
        place.or(version)?;
        Some(MergedParts {
            dest: won_by(Side::Dest),
            updated: won_by(Side::Updated),
            place: place.unwrap_or(Side::Dest),
        })
    }

    /// The versions of three texts; `None` if a text is no such value, or if updated and dest name different places.
    pub fn versions(self, texts: Sides<Option<&str>>) -> Option<Sides<Option<&str>>> {
        let [original, updated, dest] = [texts.original, texts.updated, texts.dest].map(|text| self.parts(text?));
        let sides = Sides { original: original?, updated: updated?, dest: dest? };
        (sides.updated.place == sides.dest.place).then(|| sides.map(|parts| Some(parts.version)))
    }

    /// The names of the parts that both sides changed, in different ways; `None` if a text has no parts.
    pub fn apart(self, texts: Sides<&str>) -> Option<Vec<&'static str>> {
        let [original, updated, dest] = [texts.original, texts.updated, texts.dest].map(|text| self.parts(text));
        let sides = Sides { original: original?, updated: updated?, dest: dest? };
        let of_version = match self {
            Self::Image if sides.iter().any(|(_, parts)| parts.version.contains('@')) => "digest",
            _ => self.version(),
        };
        let names = [(sides.map(|parts| parts.place), self.place()), (sides.map(|parts| parts.version), of_version)];
        Some(names.into_iter().filter(|(values, _)| taken(*values).is_none()).map(|(_, name)| name).collect())
    }
}

/// The side whose part is taken; `None` if both sides changed it, in different ways.
fn taken(Sides { original, updated, dest }: Sides<&str>) -> Option<Side> {
    match (original == updated || updated == dest, original == dest) {
        (true, _) => Some(Side::Dest),
        (false, true) => Some(Side::Updated),
        (false, false) => None,
    }
}

impl<'t> Parts<'t> {
    /// The last word of the place, which a mirror keeps.
    fn name(&self) -> &'t str {
        let place = self.place.trim_end_matches(".git");
        place.rsplit('/').next().unwrap_or(place)
    }

    /// A part by its name: `registry`, `repository`, `tag` and `digest` of an image, `address` and `ref` of a base. `None` if the kind of
    /// value has no part of this name; empty if this value lacks it.
    pub fn named(&self, name: &str) -> Option<&'t str> {
        let (registry, repository) = split_registry(self.place);
        let (tag, digest) = self.version.split_once('@').unwrap_or((self.version, ""));
        match (self.kind, name) {
            (Composed::Image, "registry") => Some(registry),
            (Composed::Image, "repository") => Some(repository),
            (Composed::Image, "tag") => Some(tag.trim_start_matches(':')),
            (Composed::Image, "digest") => Some(digest),
            (Composed::Base, "address") => Some(self.place),
            (Composed::Base, "ref") => self
                .version
                .trim_start_matches('?')
                .split('&')
                .find_map(|pair| VERSIONS.iter().find_map(|v| pair.strip_prefix(v))),
            _ => None,
        }
    }
}

/// Splits a reference to an image into the repository and the rest.
fn image(text: &str) -> Option<(&str, &str)> {
    let (name, digest) = match text.split_once('@') {
        Some((name, digest)) => (name, Some(digest)),
        None => (text, None),
    };
    let last = name.rfind('/').map_or(0, |slash| slash + 1);
    let end = name[last..].find(':').map_or(name.len(), |at| last + at);
    let (place, tag) = name.split_at(end);
    let is_tag = |tag: &str| {
        tag.len() <= 128
            && tag.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_')
            && tag.chars().all(|c| c.is_ascii_alphanumeric() || "_.-".contains(c))
    };
    let is_digest = |digest: &str| {
        digest.split_once(':').is_some_and(|(algorithm, hex)| {
            !algorithm.is_empty()
                && algorithm.chars().all(|c| c.is_ascii_alphanumeric() || "+._-".contains(c))
                && hex.len() >= 32
                && hex.chars().all(|c| c.is_ascii_hexdigit())
        })
    };
    let (registry, path) = split_registry(place);
    let is_path = !path.is_empty() && path.split('/').all(is_component);
    let is_registry = registry.is_empty() || is_host(registry);
    let has_version = !tag.is_empty() || digest.is_some();
    let is_version = tag.strip_prefix(':').is_none_or(is_tag) && digest.is_none_or(is_digest);
    (is_path && is_registry && has_version && is_version).then(|| (place, &text[end..]))
}

/// The registry and the rest of a repository. As in `docker pull`, the first component is a registry only if it looks like a host.
fn split_registry(place: &str) -> (&str, &str) {
    match place.split_once('/') {
        Some((host, rest)) if host.contains(['.', ':']) || host == "localhost" => (host, rest),
        _ => ("", place),
    }
}

fn is_host(host: &str) -> bool {
    let (name, port) = host.split_once(':').unwrap_or((host, "0"));
    !name.is_empty()
        && name.chars().all(|c| c.is_ascii_alphanumeric() || ".-".contains(c))
        && !port.is_empty()
        && port.chars().all(|c| c.is_ascii_digit())
}

/// Whether a text is a component of a repository: lower case letters and digits, with signs between them.
fn is_component(text: &str) -> bool {
    let is_word = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    text.starts_with(is_word) && text.ends_with(is_word) && text.chars().all(|c| is_word(c) || "._-".contains(c))
}

/// The parameters of a base that name its version.
const VERSIONS: [&str; 2] = ["ref=", "version="];

/// Splits a remote base into the address and the query.
fn base(text: &str) -> Option<(&str, &str)> {
    let at = text.find('?')?;
    let (address, query) = text.split_at(at);
    let is_remote = ["https://", "http://", "ssh://", "git::", "git@", "github.com/", "file://"];
    let is_plain = !text.contains(char::is_whitespace) && !query[1..].contains('?');
    let has_version = query[1..].split('&').any(|pair| VERSIONS.iter().any(|version| pair.starts_with(version)));
    (is_plain && has_version && is_remote.iter().any(|start| address.starts_with(start))).then_some((address, query))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_taken_apart_if_it_surely_has_parts() {
        let digest = format!("sha256:{}", "0a".repeat(32));
        let with_digest = format!("ghcr.io/a/b:1@{digest}");
        for (kind, text, want) in [
            (Composed::Image, "ghcr.io/acme/gateway:1.4.0", Some(("ghcr.io/acme/gateway", ":1.4.0"))),
            (Composed::Image, "nginx:1", Some(("nginx", ":1"))),
            (Composed::Image, "localhost:5000/a:1", Some(("localhost:5000/a", ":1"))),
            (Composed::Image, with_digest.as_str(), Some(("ghcr.io/a/b", &with_digest["ghcr.io/a/b".len()..]))),
            (Composed::Image, "nginx", None),
            (Composed::Image, "localhost:5000/a", None),
            (Composed::Image, "a@sha256:0a", None),
            (Composed::Image, "A/b:1", None),
            (Composed::Image, "a b:1", None),
            (Composed::Image, "a:", None),
            (Composed::Image, "a:-1", None),
            (Composed::Image, "{{ .image }}:1", None),
            (Composed::Image, "$(REPO)/a:1", None),
            (Composed::Image, "https://a.b/c:1", None),
            (Composed::Base, "https://github.com/a/b//c?ref=v1", Some(("https://github.com/a/b//c", "?ref=v1"))),
            (Composed::Base, "git@github.com:a/b?x=1&version=v1", Some(("git@github.com:a/b", "?x=1&version=v1"))),
            (Composed::Base, "https://github.com/a/b", None),
            (Composed::Base, "https://github.com/a/b?timeout=1", None),
            (Composed::Base, "KEY=https://a/b?ref=1", None),
            (Composed::Base, "../base?ref=1", None),
        ] {
            let found = kind.parts(text).map(|parts| (parts.place, parts.version));
            assert_eq!(found, want, "{text}");
        }
    }

    #[test]
    fn parts_merge_each_for_itself() {
        for (kind, original, updated, dest, want, apart) in [
            (Composed::Image, "g.io/a:1", "g.io/a:2", "m.io/a:1", Some(["m.io/a:2"; 2]), &[][..]),
            (Composed::Image, "g.io/a:1", "n.io/a:2", "g.io/a:3", Some(["n.io/a:3", "n.io/a:2"]), &["tag"]),
            (Composed::Image, "g.io/a:1", "g.io/a:2", "m.io/a:3", Some(["m.io/a:3", "m.io/a:2"]), &["tag"]),
            (Composed::Image, "g.io/a:1", "n.io/a:2", "m.io/a:1", Some(["m.io/a:2", "n.io/a:2"]), &["repository"]),
            (Composed::Image, "g.io/a:1", "n.io/a:2", "m.io/a:3", None, &["repository", "tag"]),
            (Composed::Image, "g.io/a:1", "n.io/a:2", "n.io/a:1", Some(["n.io/a:2"; 2]), &[]),
            // Another image.
            (Composed::Image, "g.io/a:1", "g.io/a:2", "g.io/b:1", None, &[]),
            (
                Composed::Base,
                "https://g.io/a?ref=1",
                "https://g.io/a?ref=2",
                "https://m.io/a?ref=1",
                Some(["https://m.io/a?ref=2"; 2]),
                &[],
            ),
        ] {
            let texts = Sides { original, updated, dest };
            let merged = |texts| kind.merged(texts).map(|merged| [merged.dest, merged.updated]);
            assert_eq!(merged(texts), want.map(|both| both.map(str::to_owned)), "{updated} {dest}");
            assert_eq!(kind.apart(texts).as_deref(), Some(apart), "{updated} {dest}");
            let swapped = merged(Sides { original, updated: dest, dest: updated });
            assert_eq!(
                swapped,
                want.map(|[dest, updated]| [updated, dest].map(str::to_owned)),
                "swapped: {updated} {dest}"
            );
            // The winner's value is not merged again.
            for own in want.into_iter().flatten() {
                let again = merged(Sides { original, updated, dest: own });
                assert!(again.is_none_or(|[dest, _]| dest == own), "again: {updated} {dest} {own}");
            }
        }
        assert_eq!(Composed::Image.merged(Sides { original: "a", updated: "a:2", dest: "m/a:1" }), None);
    }

    #[test]
    fn parts_have_names() {
        let image = Composed::Image.parts("ghcr.io/acme/gateway:1.4.0").expect("parts");
        let named = ["registry", "repository", "tag", "digest", "ref"].map(|name| image.named(name));
        assert_eq!(named, [Some("ghcr.io"), Some("acme/gateway"), Some("1.4.0"), Some(""), None]);
        let base = Composed::Base.parts("https://a.b/c?x=1&ref=v1").expect("parts");
        assert_eq!(["address", "ref", "tag"].map(|name| base.named(name)), [Some("https://a.b/c"), Some("v1"), None]);
    }
}
