//! [`PathPattern`]: places that a user names, in the form in which messages and results write them.
//!
//! | written | matches |
//! |---|---|
//! | `spec.replicas` | the field, and everything below it |
//! | `metadata.annotations["a.b/c"]` | a field whose name would break the path |
//! | `containers[name=app]`, `ports[port=80,protocol=TCP]` | the element with these merge keys |
//! | `finalizers[=a]` | the element of a set |
//! | `containers[0]` | the element at this place in dest |
//! | `containers[*]`, `data.*` | every element, every field |
//! | `args[--port]` | the flag of a command, with its value; only for edits |

use std::fmt;

use krm_yaml::{Document, NodeRef};
use krm_yaml::{plain_or_quoted, quoted_json};

use super::{FieldPath, KeyStep, Step, Stride};

/// A pattern for places in a resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathPattern {
    written: String,
    parts: Vec<PatternStep>,
}

/// A pattern for one step of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PatternStep {
    /// Every field, and every element.
    Any,
    /// The field of this name.
    Field(String),
    /// The elements with these fields, each with its value.
    Element(Vec<(String, String)>),
    /// The element with this value.
    Value(String),
    /// The element at this place.
    Index(usize),
    /// The field of this name or, in a list, the element at this place; `-` is the place behind all elements. It is a step of a JSON pointer.
    Member(String),
    /// The flag of a command.
    Flag(String),
}

/// What is at the end of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SkeletonEnd {
    /// A value.
    Value,
    /// A list with an element.
    List,
}

impl PathPattern {
    /// Reads a pattern.
    ///
    /// # Errors
    /// The text is not a path; the message says what it must be.
    pub fn parse(written: &str) -> Result<Self, String> {
        let mut parts = Vec::new();
        let mut rest = written;
        while !rest.is_empty() {
            let (part, behind) = match rest.strip_prefix('[') {
                Some(inner) => bracketed(inner)?,
                None => {
                    let name = if parts.is_empty() {
                        rest
                    } else {
                        rest.strip_prefix('.').ok_or_else(|| must_follow(rest))?
                    };
                    let end = name.find(['.', '[']).unwrap_or(name.len());
                    (field(&name[..end])?, &name[end..])
                }
            };
            parts.push(part);
            rest = behind;
        }
        if parts.is_empty() {
            return Err("it must name a field".to_owned());
        }
        Ok(Self { written: written.to_owned(), parts })
    }

    /// Reads a JSON pointer, as `/spec/ports/0`. Source: RFC 6901.
    ///
    /// # Errors
    /// The text is no pointer to a part of a resource; the message says what it must be.
    pub fn of_pointer(written: &str) -> Result<Self, String> {
        let Some(rest) = written.strip_prefix('/') else { return Err("it must begin with `/`".to_owned()) };
        let step = |token: &str| PatternStep::Member(token.replace("~1", "/").replace("~0", "~"));
        Ok(Self { written: written.to_owned(), parts: rest.split('/').map(step).collect() })
    }

    /// Its steps from the root.
    pub fn steps(&self) -> &[PatternStep] {
        &self.parts
    }

    /// A text with the maps and lists on the way to the place, for what must be made there. What cannot be made has a field `*` in its place.
    pub fn skeleton(&self, end: SkeletonEnd) -> String {
        let (mut out, mut indent, mut is_behind_key) = (String::new(), 0, false);
        for part in &self.parts {
            if is_behind_key {
                out.push('\n');
            }
            // The first line of an element continues behind its dash.
            let mut line = |text: String| {
                if is_behind_key || out.is_empty() {
                    out.push_str(&" ".repeat(indent));
                }
                out.push_str(&text);
            };
            match part {
                PatternStep::Field(name) | PatternStep::Member(name) => line(format!("{}:", key_text(name))),
                PatternStep::Element(keys) => {
                    line("- ".to_owned());
                    indent += 2;
                    for (name, value) in keys {
                        out.push_str(&format!(
                            "{}: {}\n{}",
                            key_text(name),
                            value_text(name, value),
                            " ".repeat(indent)
                        ));
                    }
                    is_behind_key = false;
                    continue;
                }
                PatternStep::Flag(_) => {
                    line("- ~\n".to_owned());
                    return out;
                }
                PatternStep::Any | PatternStep::Value(_) | PatternStep::Index(_) => line("\"*\":".to_owned()),
            }
            indent += 2;
            is_behind_key = true;
        }
        match end {
            SkeletonEnd::Value if is_behind_key => out.push_str(" ~\n"),
            SkeletonEnd::List if is_behind_key => out.push_str(&format!("\n{}- ~\n", " ".repeat(indent))),
            SkeletonEnd::Value | SkeletonEnd::List => {}
        }
        out
    }

    /// The nodes on the way from a node down to the first place that matches, as far as they exist: each with its name, if it is a field.
    pub fn trail<'a>(&self, root: NodeRef<'a>) -> Vec<(Option<String>, NodeRef<'a>)> {
        let mut trail: Vec<(Option<String>, NodeRef<'a>)> = Vec::new();
        for part in &self.parts {
            let node = trail.last().map_or(root, |(_, node)| *node);
            let has = |element: NodeRef<'a>, (name, value): &(String, String)| {
                element.get(name).is_some_and(|v| v.string() == value)
            };
            let below = match part {
                PatternStep::Field(name) => node.get(name).map(|node| (Some(name.clone()), node)),
                PatternStep::Any | PatternStep::Member(_) | PatternStep::Flag(_) => None,
                PatternStep::Element(keys) => {
                    node.elements().find(|e| keys.iter().all(|key| has(*e, key))).map(|e| (None, e))
                }
                PatternStep::Value(value) => node.elements().find(|e| e.string() == value).map(|e| (None, e)),
                PatternStep::Index(index) => node.elements().nth(*index).map(|e| (None, e)),
            };
            let Some(below) = below else { break };
            trail.push(below);
        }
        trail
    }

    /// The names and values that the steps of a matching place have, each with the number of its step.
    pub fn words(&self) -> impl Iterator<Item = (usize, &str)> {
        self.parts.iter().enumerate().filter_map(|(number, part)| Some((number, part.word()?)))
    }

    /// Whether a place matches, or is below a place that matches.
    pub fn fits(&self, path: &FieldPath<'_>) -> bool {
        self.place(path).is_some()
    }

    /// The place that matches: this place, or one above it.
    pub fn place<'p>(&self, path: &FieldPath<'p>) -> Option<FieldPath<'p>> {
        let strides = path.strides();
        let fits = strides.len() >= self.parts.len()
            && self.parts.iter().zip(&strides).all(|(part, stride)| part.fits(stride));
        let mut place = path.clone();
        (self.parts.len()..strides.len()).for_each(|_| place.pop());
        fits.then_some(place)
    }
}

impl fmt::Display for PathPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.written)
    }
}

impl PatternStep {
    /// A name or a value that each step has that fits.
    fn word(&self) -> Option<&str> {
        match self {
            Self::Any | Self::Index(_) | Self::Member(_) | Self::Flag(_) => None,
            Self::Field(word) | Self::Value(word) => Some(word),
            Self::Element(keys) => keys.first().map(|(_, value)| value.as_str()),
        }
    }

    fn fits(&self, stride: &Stride<'_>) -> bool {
        let has = |keys: &[KeyStep<'_>], (name, value): &(String, String)| {
            keys.iter().any(|key| key.name == *name && key.value == *value)
        };
        match (self, &stride.step) {
            (Self::Any, _) => true,
            (Self::Field(name), Step::Field(field)) => name == field,
            (Self::Element(wanted), Step::Element(keys)) => wanted.iter().all(|one| has(keys, one)),
            (Self::Value(value), Step::Value(own)) => value == own,
            (Self::Index(index), Step::Index(own)) => stride.index.unwrap_or(*own) == *index,
            (Self::Index(index), Step::Element(_) | Step::Value(_)) => stride.index == Some(*index),
            _ => false,
        }
    }
}

/// The key of a field, as text.
fn key_text(name: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '/');
    let is_bare = name.starts_with(|c: char| c.is_ascii_alphabetic()) && name.chars().all(is_plain);
    if is_bare { plain_or_quoted(name) } else { quoted_json(name) }
}

/// The value of a key of an element, as text. Where keys are numbers, they are ports. Source: the merge keys of all built-in types.
fn value_text(name: &str, value: &str) -> String {
    let is_port = name.ends_with("port") || name.ends_with("Port");
    if is_port && value.parse::<u32>().is_ok() { value.to_owned() } else { plain_or_quoted(value) }
}

fn must_follow(rest: &str) -> String {
    format!("`.` or `[` must stand before {rest:?}")
}

fn field(name: &str) -> Result<PatternStep, String> {
    match name {
        "" => Err("a field must have a name between two dots".to_owned()),
        "*" => Ok(PatternStep::Any),
        name => Ok(PatternStep::Field(name.to_owned())),
    }
}

/// The part inside of brackets, of which the first one is already read, and the rest of the text.
fn bracketed(inner: &str) -> Result<(PatternStep, &str), String> {
    let closed = |rest: &str| rest.starts_with(']');
    let behind = |part: PatternStep, rest: &'_ str| -> Result<PatternStep, String> {
        if closed(rest) { Ok(part) } else { Err("`[` must have its `]`".to_owned()) }
    };
    if inner.starts_with('"') {
        let (name, rest) = text(inner)?;
        return Ok((behind(PatternStep::Field(name), rest)?, &rest[1..]));
    }
    if let Some(value) = inner.strip_prefix('=') {
        let (value, rest) = text(value)?;
        return Ok((behind(PatternStep::Value(value), rest)?, &rest[1..]));
    }
    let end = inner.find(['=', ']']).ok_or("`[` must have its `]`")?;
    if inner[end..].starts_with(']') {
        let part = match &inner[..end] {
            "*" => PatternStep::Any,
            flag if flag.starts_with('-') => PatternStep::Flag(flag.to_owned()),
            number => PatternStep::Index(number.parse().map_err(|_| {
                format!("brackets must hold a number, `*`, `key=value` or a quoted name, not {number:?}")
            })?),
        };
        return Ok((part, &inner[end + 1..]));
    }
    let (mut keys, mut rest) = (Vec::new(), inner);
    loop {
        let (name, value) = rest.split_once('=').ok_or("a merge key must have its `=`")?;
        let (value, behind_value) = text(value)?;
        keys.push((name.to_owned(), value));
        match behind_value.strip_prefix(',') {
            Some(next) => rest = next,
            None => return Ok((behind(PatternStep::Element(keys), behind_value)?, &behind_value[1..])),
        }
    }
}

/// A value up to `,` or `]`, or in double quotes; and the rest of the text.
fn text(written: &str) -> Result<(String, &str), String> {
    let Some(quoted) = written.strip_prefix('"') else {
        let end = written.find([',', ']']).ok_or("`[` must have its `]`")?;
        return Ok((written[..end].to_owned(), &written[end..]));
    };
    let mut is_escaped = false;
    let is_end = |(_, c): &(usize, char)| {
        let is_end = *c == '"' && !is_escaped;
        is_escaped = *c == '\\' && !is_escaped;
        is_end
    };
    let (end, _) = quoted.char_indices().find(is_end).ok_or("a quoted name must end with `\"`")?;
    let document = Document::parse(&written[..end + 2]).map_err(|e| e.to_string())?;
    let value = document.roots().next().and_then(|root| root.as_str().map(str::to_owned));
    Ok((value.unwrap_or_default(), &quoted[end + 1..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(steps: &[(Step<'static>, Option<usize>)]) -> FieldPath<'static> {
        let mut path = FieldPath::default();
        steps.iter().for_each(|(step, index)| path.push(step.clone(), *index));
        path
    }

    fn field(name: &'static str) -> (Step<'static>, Option<usize>) {
        (Step::Field(name.into()), None)
    }

    fn element(name: &'static str, value: &'static str, index: Option<usize>) -> (Step<'static>, Option<usize>) {
        (Step::Element(vec![KeyStep { name: name.into(), value: value.into(), default: None }]), index)
    }

    #[test]
    fn a_pattern_fits_what_it_names_and_what_is_below() {
        let image = path(&[field("spec"), field("containers"), element("name", "app", Some(1)), field("image")]);
        for (pattern, want) in [
            ("spec", true),
            ("spec.containers", true),
            ("spec.containers[name=app]", true),
            ("spec.containers[name=\"app\"].image", true),
            ("spec.containers[1].image", true),
            ("spec.containers[*].image", true),
            ("spec.containers.*.image", true),
            ("*.containers[*].*", true),
            ("spec.containers[name=web].image", false),
            ("spec.containers[0].image", false),
            ("spec.containers[*].tag", false),
            ("spec.containers[name=app].image.more", false),
            ("image", false),
            ("specs", false),
        ] {
            assert_eq!(PathPattern::parse(pattern).expect(pattern).fits(&image), want, "{pattern}");
        }
        let port = KeyStep { name: "port".into(), value: "80".into(), default: None };
        let protocol = KeyStep { name: "protocol".into(), value: "TCP".into(), default: None };
        let port = path(&[field("ports"), (Step::Element(vec![port, protocol]), None)]);
        for (pattern, want) in [
            ("ports[port=80,protocol=TCP]", true),
            ("ports[port=80]", true),
            ("ports[port=80,protocol=UDP]", false),
            ("ports[0]", false),
        ] {
            assert_eq!(PathPattern::parse(pattern).expect(pattern).fits(&port), want, "{pattern}");
        }
        let set = path(&[field("finalizers"), (Step::Value("a".into()), Some(0))]);
        for (pattern, want) in [("finalizers[=a]", true), ("finalizers[=b]", false), ("finalizers[0]", true)] {
            assert_eq!(PathPattern::parse(pattern).expect(pattern).fits(&set), want, "{pattern}");
        }
    }

    /// A path in a message is a pattern for exactly that place, even if its names have special characters.
    #[test]
    fn a_path_that_a_message_shows_is_a_pattern_for_it() {
        for name in ["a", "a.b/c", "", "a]b", "a\"b\\c", "*", "a\nb", "é\u{202e}", "[0]"] {
            for steps in [
                vec![field("data"), field(Box::leak(name.to_owned().into_boxed_str()))],
                vec![field("l"), element("name", Box::leak(name.to_owned().into_boxed_str()), None)],
                vec![field("s"), (Step::Value(name.to_owned().into()), None)],
            ] {
                let path = path(&steps);
                let pattern = PathPattern::parse(&path.keyed()).unwrap_or_else(|e| panic!("{}: {e}", path.keyed()));
                assert!(pattern.fits(&path), "{}", path.keyed());
            }
        }
    }

    #[test]
    fn a_skeleton_has_the_maps_and_lists_on_the_way() {
        for (pattern, want) in [
            ("spec", "spec: ~\n"),
            ("spec.a", "spec:\n  a: ~\n"),
            ("metadata.annotations[\"a.b/c: d\"]", "metadata:\n  annotations:\n    \"a.b/c: d\": ~\n"),
            ("spec.yes", "spec:\n  \"yes\": ~\n"),
            ("l[name=app].x.y", "l:\n  - name: app\n    x:\n      \"y\": ~\n"),
            ("l[port=80,protocol=TCP].x", "l:\n  - port: 80\n    protocol: TCP\n    x: ~\n"),
            ("l[name=80].m[name=a].x", "l:\n  - name: \"80\"\n    m:\n      - name: a\n        x: ~\n"),
            ("l[*].x.*.y", "l:\n  \"*\":\n    x:\n      \"*\":\n        \"y\": ~\n"),
            ("l[name=a]", "l:\n  - name: a\n    "),
        ] {
            let skeleton = PathPattern::parse(pattern).expect(pattern).skeleton(SkeletonEnd::Value);
            assert_eq!(skeleton, want, "{pattern}");
            Document::parse(skeleton.as_str()).expect(pattern);
        }
        assert_eq!(
            PathPattern::of_pointer("/a~1b/0/-").expect("a pointer").skeleton(SkeletonEnd::Value),
            "a/b:\n  \"0\":\n    \"-\": ~\n"
        );
        assert!(PathPattern::of_pointer("a").is_err());
    }

    #[test]
    fn what_is_no_path_is_an_error_that_says_what_must_hold() {
        for (written, want) in [
            ("", "it must name a field"),
            ("a..b", "a field must have a name"),
            ("a[0]b", "`.` or `[` must stand before \"b\""),
            ("a[", "`[` must have its `]`"),
            ("a[name=x", "`[` must have its `]`"),
            ("a[x]", "brackets must hold a number"),
            ("a[\"b]", "a quoted name must end with"),
            ("a[\"b\"c]", "`[` must have its `]`"),
        ] {
            let error = PathPattern::parse(written).expect_err(written);
            assert!(error.contains(want), "{written}: {error}");
        }
    }

    #[test]
    fn a_trail_has_the_nodes_on_the_way_as_far_as_they_exist() {
        let text = "spec: {parts: [{name: a, port: 80}, {name: b, port: 80, tags: [x, y]}], a.b: {c: 1}}\n";
        let document = Document::parse(text).expect("YAML");
        let root = document.roots().next().expect("a root");
        for (pattern, want) in [
            ("spec.parts[name=b].tags[=y]", &["spec", "parts", "", "tags", ""][..]),
            ("spec.parts[port=80,name=b].tags", &["spec", "parts", "", "tags"]),
            ("spec.parts[1].name", &["spec", "parts", "", "name"]),
            // The first element that fits counts.
            ("spec.parts[port=80].tags", &["spec", "parts", ""]),
            ("spec[\"a.b\"].c", &["spec", "a.b", "c"]),
            ("spec.none.parts", &["spec"]),
            ("spec.parts[name=c].tags", &["spec", "parts"]),
            ("spec.parts[2]", &["spec", "parts"]),
            ("none", &[]),
            // The pattern stands for several places, so the trail ends before it.
            ("spec.*.name", &["spec"]),
        ] {
            let trail = PathPattern::parse(pattern).expect(pattern).trail(root);
            let names: Vec<String> = trail.iter().map(|(name, _)| name.clone().unwrap_or_default()).collect();
            assert_eq!(names, want, "{pattern}");
        }
        let trail = PathPattern::parse("spec.parts[name=b].tags[=y]").expect("a pattern").trail(root);
        let texts: Vec<&str> = trail.iter().map(|(_, node)| node.text()).skip(2).collect();
        assert_eq!(texts, ["{name: b, port: 80, tags: [x, y]}", "[x, y]", "y"]);
    }
}
