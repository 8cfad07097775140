//! Places inside a resource, and the two ways to write them.
//!
//! Messages name an element by its merge key (`containers[name=app].image`), because an index says nothing after the list has changed; the
//! `field.path` of a result names it by index, as the KRM functions specification requires.

mod pattern;
mod trail;

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use krm_yaml::shown::{misleads, quoted};

pub use pattern::{PathPattern, PatternStep, SkeletonEnd};
pub use trail::Trail;

/// The values of an element's merge keys. Numbers are in decimal, so `80`, `"80"` and `0x50` are equal.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ElementKey<'a> {
    /// The value of the first key, which every element has.
    pub first: Cow<'a, str>,
    /// The values of the other keys, in their order; `None` for a key that the element lacks and that has no default.
    pub others: Vec<Option<Cow<'a, str>>>,
}

impl<'a> ElementKey<'a> {
    /// The value of a key.
    pub fn value(&self, number: usize) -> Option<&Cow<'a, str>> {
        match number.checked_sub(1) {
            None => Some(&self.first),
            Some(number) => self.others.get(number)?.as_ref(),
        }
    }

    /// The values in the order of the keys.
    pub fn values(&self) -> impl Iterator<Item = Option<&Cow<'a, str>>> {
        (0..=self.others.len()).map(|number| self.value(number))
    }
}

impl fmt::Display for ElementKey<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let values: Vec<&str> = self.values().map(|value| value.map_or("", |value| &**value)).collect();
        f.write_str(&values.join(","))
    }
}

/// A merge key that an element has, explicitly or by its default.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct KeyStep<'a> {
    /// The name of the key.
    pub name: Cow<'a, str>,
    /// The value that the element has.
    pub value: Cow<'a, str>,
    /// The value of elements that leave the key out, if the type has a default.
    pub default: Option<KeyDefault<'a>>,
}

/// The value of a merge key that an element leaves out.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum KeyDefault<'a> {
    /// A definition or a schema declares it. The API server fills in a key that is absent or null, and an empty text is a value.
    Declared(Cow<'a, str>),
    /// The API server's own code sets it. To this code, an empty text is an absent one.
    BuiltIn(Cow<'a, str>),
}

impl<'a> KeyDefault<'a> {
    /// The value.
    pub fn text(&self) -> &Cow<'a, str> {
        let (Self::Declared(text) | Self::BuiltIn(text)) = self;
        text
    }

    /// Whether it stands for this value, which an element has.
    pub fn replaces(&self, own: &str) -> bool {
        own.is_empty() && matches!(self, Self::BuiltIn(_))
    }

    /// The same, without the text that it comes from.
    pub fn owned(&self) -> KeyDefault<'static> {
        let text = Cow::Owned(self.text().clone().into_owned());
        match self {
            Self::Declared(_) => KeyDefault::Declared(text),
            Self::BuiltIn(_) => KeyDefault::BuiltIn(text),
        }
    }
}

impl fmt::Display for KeyStep<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.name, value(&self.value))
    }
}

/// One step down from a map or list.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Step<'a> {
    /// The field of a map.
    Field(Cow<'a, str>),
    /// The element of a list with these merge keys.
    Element(Vec<KeyStep<'a>>),
    /// The element of a set.
    Value(Cow<'a, str>),
    /// The element at this index.
    Index(usize),
}

impl Step<'_> {
    /// The name of the field.
    fn field(&self) -> Option<&str> {
        if let Self::Field(name) = self { Some(name) } else { None }
    }
}

/// A step, with the index of the element in dest if there is one, and the steps before it.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Stride<'a> {
    step: Step<'a>,
    index: Option<usize>,
    above: Option<Arc<Self>>,
}

/// A path from the root of a resource. Paths share their common steps, so that a copy is one word: thousands of conflicts may be below one
/// deep place.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct FieldPath<'a>(Option<Arc<Stride<'a>>>);

/// The longest path that a message shows. The paths of the deepest built-in types, with the longest names that Kubernetes takes, are
/// shorter.
const SHOWN: usize = 600;

impl<'a> FieldPath<'a> {
    /// Goes down one step; `index` is the element's place in dest.
    pub fn push(&mut self, step: Step<'a>, index: Option<usize>) {
        self.0 = Some(Arc::new(Stride { step, index, above: self.0.take() }));
    }

    /// Goes up one step.
    pub fn pop(&mut self) {
        self.0 = self.0.take().and_then(|last| last.above.clone());
    }

    /// The steps from the root.
    pub fn steps(&self) -> impl Iterator<Item = &Step<'a>> {
        self.strides().into_iter().map(|stride| &stride.step)
    }

    /// The steps from the root, with an element by its index, if that is known.
    pub fn steps_by_index(&self) -> Vec<Step<'a>> {
        let step = |stride: &Stride<'a>| match (&stride.step, stride.index) {
            (Step::Element(_) | Step::Value(_), Some(index)) => Step::Index(index),
            (step, _) => step.clone(),
        };
        self.strides().into_iter().map(step).collect()
    }

    /// The names and values of its steps, each with the number of its step.
    pub fn words(&self) -> impl Iterator<Item = (usize, &str)> {
        self.steps().enumerate().flat_map(|(number, step)| {
            let (word, keys): (_, &[KeyStep<'_>]) = match step {
                Step::Field(word) | Step::Value(word) => (Some(&**word), &[]),
                Step::Element(keys) => (None, keys),
                Step::Index(_) => (None, &[]),
            };
            word.into_iter().chain(keys.iter().map(|key| &*key.value)).map(move |word| (number, word))
        })
    }

    /// The number of steps.
    pub fn len(&self) -> usize {
        self.upwards().count()
    }

    /// The last field: the one of the map here, or of the list that the map is in.
    pub fn field(&self) -> Option<&str> {
        self.upwards().find_map(|stride| stride.step.field())
    }

    /// The names of its fields from the root; `None` if a step is an element of a list.
    pub fn names(&self) -> Option<Vec<String>> {
        self.steps().map(|step| step.field().map(str::to_owned)).collect()
    }

    /// Whether it consists of exactly these fields from the root.
    pub fn is_fields(&self, names: &[&str]) -> bool {
        let mut names = names.iter().rev();
        self.upwards().all(|stride| match (&stride.step, names.next()) {
            (Step::Field(field), Some(name)) => field == name,
            _ => false,
        }) && names.next().is_none()
    }

    /// The strides from the last one up to the root.
    fn upwards(&self) -> impl Iterator<Item = &Stride<'a>> {
        std::iter::successors(self.0.as_deref(), |stride| stride.above.as_deref())
    }

    fn strides(&self) -> Vec<&Stride<'a>> {
        let mut strides: Vec<_> = self.upwards().collect();
        strides.reverse();
        strides
    }

    /// Whether it is the path of the resource itself.
    pub fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// The path for messages: `spec.template.spec.containers[name=app].image`. If it is long, its middle is left out.
    pub fn shown(&self) -> String {
        cut(self.keyed(), SHOWN)
    }

    /// The whole path by merge keys: `spec.template.spec.containers[name=app].image`.
    pub fn keyed(&self) -> String {
        self.write(|stride, out| by_key(&stride.step, |index| index.to_string(), out))
    }

    /// The path in the form of a rule: by merge keys, and with `[*]` for an element that only its index names.
    pub fn pattern(&self) -> String {
        self.write(|stride, out| by_key(&stride.step, |_| "*".to_owned(), out))
    }

    /// The path by indices, for `field.path`: `spec.template.spec.containers[0].image`. An element that dest lacks is written as in
    /// [`FieldPath::keyed`].
    pub fn indexed(&self) -> String {
        self.write(|stride, out| match stride.index {
            Some(i) => out.push_str(&format!("[{i}]")),
            None => by_key(&stride.step, |index| index.to_string(), out),
        })
    }

    fn write(&self, element: impl Fn(&Stride<'a>, &mut String)) -> String {
        let mut out = String::new();
        for stride in self.strides() {
            match &stride.step {
                Step::Field(name) if must_be_quoted(name) => {
                    out.push_str(&format!("[{}]", quoted(name)));
                }
                Step::Field(name) => {
                    if !out.is_empty() {
                        out.push('.');
                    }
                    out.push_str(name);
                }
                _ => element(stride, &mut out),
            }
        }
        out
    }
}

/// Writes the step to an element by its merge keys.
fn by_key(step: &Step<'_>, index: impl Fn(usize) -> String, out: &mut String) {
    match step {
        Step::Field(_) => {}
        Step::Element(keys) => out.push_str(&format!("[{}]", shown_keys(keys))),
        Step::Value(v) => out.push_str(&format!("[={}]", value(v))),
        Step::Index(i) => out.push_str(&format!("[{}]", index(*i))),
    }
}

fn shown_keys(keys: &[KeyStep<'_>]) -> String {
    keys.iter().map(KeyStep::to_string).collect::<Vec<_>>().join(",")
}

/// Replaces the middle of a text by `…` if the text is longer than `most` bytes. Keeps more of its beginning than of its end.
pub fn cut(text: String, most: usize) -> String {
    if text.len() <= most {
        return text;
    }
    let boundary = |from: usize| (from..text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(text.len());
    let (head, tail) = (boundary(most * 2 / 3), boundary(text.len() - most / 3));
    format!("{}…{}", &text[..head], &text[tail..])
}

/// Whether a name is ambiguous in a path, or could mislead a reader.
fn must_be_quoted(name: &str) -> bool {
    name.is_empty() || name == "*" || name.contains(|c: char| matches!(c, '.' | '[' | ']' | '"' | ' ') || misleads(c))
}

/// The value of an element, quoted if it would break the path or could mislead a reader.
fn value(text: &str) -> String {
    if text.contains(|c: char| matches!(c, '[' | ']' | ',' | '"') || misleads(c)) {
        quoted(text)
    } else {
        text.to_owned()
    }
}

impl<'a> From<Step<'a>> for FieldPath<'a> {
    fn from(step: Step<'a>) -> Self {
        let mut path = Self::default();
        path.push(step, None);
        path
    }
}

impl fmt::Display for FieldPath<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.shown())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_written_by_key_and_by_index() {
        let mut path = FieldPath::default();
        path.push(Step::Field("spec".into()), None);
        path.push(Step::Field("ports".into()), None);
        let key =
            |name: &'static str, value: &'static str| KeyStep { name: name.into(), value: value.into(), default: None };
        path.push(Step::Element(vec![key("port", "80"), key("protocol", "TCP")]), Some(2));
        path.push(Step::Field("a.b/c".into()), None);
        assert_eq!(path.keyed(), "spec.ports[port=80,protocol=TCP][\"a.b/c\"]");
        assert_eq!(path.indexed(), "spec.ports[2][\"a.b/c\"]");
        assert_eq!(path.names(), None);
        path.pop();
        path.pop();
        assert_eq!(path.names(), Some(vec!["spec".to_owned(), "ports".to_owned()]));
        path.push(Step::Value("x".into()), None);
        assert_eq!((path.keyed(), path.indexed()), ("spec.ports[=x]".into(), "spec.ports[=x]".into()));
    }

    #[test]
    fn a_long_path_is_shown_without_its_middle() {
        let mut path = FieldPath::default();
        path.push(Step::Field("data".into()), None);
        path.push(Step::Field("é".repeat(50_000).into()), None);
        path.push(Step::Field("last".into()), None);
        let shown = path.shown();
        assert!((SHOWN - 4..SHOWN + 8).contains(&shown.len()), "{}", shown.len());
        assert!(shown.starts_with("data.éé") && shown.contains("é…é") && shown.ends_with("é.last"), "{shown}");
        assert_eq!(path.keyed().len(), 100_010);
        assert_eq!(path.to_string(), shown);
    }

    #[test]
    fn a_text_is_cut_only_where_it_is_longer() {
        for (text, want) in [("", ""), ("123456", "123456"), ("1234567", "1234…67"), ("ééééé", "éé…é")] {
            assert_eq!(cut(text.into(), 6), want);
        }
    }
}
