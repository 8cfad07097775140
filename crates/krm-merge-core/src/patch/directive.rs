//! Directives: the words with which a patch says more than a map of values can.
//!
//! kyaml and kubectl differ as readers of a patch only in which directives count and what they refer to; the meaning is the same.

use krm_schema::mode::Mode;
use krm_tree::child::{By, ChildId};
use krm_tree::path::Trail;
use krm_yaml::{Error, NodeRef};

/// The directive that says how a map is patched; in an element of a list, how the list is patched.
pub const PATCH: &str = "$patch";
/// The directive that names the fields of a map that stay.
pub(super) const RETAIN_KEYS: &str = "$retainKeys";
/// The prefix of the directive that removes values from a list of scalars; the field's name follows.
pub const DELETE_FROM: &str = "$deleteFromPrimitiveList/";
/// The prefix of the directive that gives a list its order; the field's name follows.
pub const ORDER: &str = "$setElementOrder/";

/// How a mode reads a source.
///
/// Strategic reads it as kubectl reads a patch: all four directives count, and an element with `$patch: replace` refers to its list,
/// even if the element has other fields. Nulls mean "clear" everywhere. An element that lacks its key is an error: a patch must be right.
///
/// The other modes read it as kyaml does: `$patch` is the only directive, and it refers to a list if it is alone in an element. Nulls in a
/// list that is replaced are values. A list whose elements lack their key is replaced with a warning: an overlay is mostly right.
///
/// The value of an edit is data, with all that is in it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Reading {
    /// As kyaml reads it.
    Overlay,
    /// As kubectl reads it.
    Strategic,
    /// As data.
    Data,
}

impl From<Mode> for Reading {
    fn from(mode: Mode) -> Self {
        match mode {
            Mode::TwoWay | Mode::ThreeWay => Self::Overlay,
            Mode::Strategic => Self::Strategic,
        }
    }
}

impl Reading {
    /// The `$patch` of a map, if it has one.
    pub(super) fn directive(self, map: NodeRef<'_>) -> Result<Option<Directive>, Error> {
        if self == Self::Data { Ok(None) } else { directive(map) }
    }

    /// Whether a field is a directive, not data.
    pub(super) fn is_directive(self, name: &str) -> bool {
        name.starts_with('$')
            && self != Self::Data
            && (name == PATCH
                || self == Self::Strategic
                    && (name == RETAIN_KEYS || name.starts_with(DELETE_FROM) || name.starts_with(ORDER)))
    }

    /// Whether a field is meant as a directive, but the mode knows no such directive: it would be merged as data.
    pub(super) fn is_unknown_directive(self, name: &str) -> bool {
        let begins = ["$patch", "$retainkey", "$setelementorder", "$deletefromprimitivelist"];
        let is_meant = |begin: &&str| name.get(..begin.len()).is_some_and(|head| head.eq_ignore_ascii_case(begin));
        name.starts_with('$') && self != Self::Data && !self.is_directive(name) && begins.iter().any(is_meant)
    }

    /// The error for a field that is an [unknown directive](Self::is_unknown_directive).
    pub(super) fn unknown_directive(self, key: NodeRef<'_>) -> Error {
        let name = key.string();
        if self != Self::Strategic && Self::Strategic.is_directive(name) {
            return key.error(format!(
                "a directive must be `{PATCH}`, not \"{name}\", which only mode Strategic reads: use that mode, or remove it"
            ));
        }
        let others = format!(", `{RETAIN_KEYS}`, `{ORDER}…` or `{DELETE_FROM}…`");
        let others = if self == Self::Strategic { &others } else { "" };
        key.error(format!("a directive must be `{PATCH}`{others}, not \"{name}\""))
    }

    /// The requests of `$setElementOrder` and `$deleteFromPrimitiveList` in a map, by field.
    pub(super) fn on_lists<'a>(self, map: NodeRef<'a>) -> Result<Vec<(&'a str, OnList<'a>)>, Error> {
        let mut found: Vec<(&'a str, OnList<'a>)> = Vec::new();
        if self != Self::Strategic {
            return Ok(found);
        }
        for (key, value) in map.fields() {
            let name = key.string();
            if !name.starts_with('$') {
                continue;
            }
            let Some(field) = name.strip_prefix(ORDER).or_else(|| name.strip_prefix(DELETE_FROM)) else { continue };
            must_be_list(key, value)?;
            let at = found.iter().position(|(f, _)| *f == field).unwrap_or_else(|| {
                found.push((field, OnList::default()));
                found.len() - 1
            });
            let on_list = &mut found[at].1;
            if name.starts_with(ORDER) {
                on_list.order = Some(value);
                continue;
            }
            if let Some(other) = value.elements().find(|e| e.is_container()) {
                return Err(other.error(format!("`{name}` must hold scalars only")));
            }
            on_list.deleted = Some(value);
        }
        Ok(found)
    }

    /// Whether nulls in a list that is replaced are values.
    pub(super) fn keeps_nulls_of_lists(self) -> bool {
        self != Self::Strategic
    }

    /// Whether a list contains directives, known or not, or nulls that clear, so that it cannot be taken as it is.
    pub(super) fn must_cut(self, node: NodeRef<'_>) -> bool {
        fn any(node: NodeRef<'_>, reading: Reading) -> bool {
            let cut = |(key, value): (NodeRef<'_>, NodeRef<'_>)| {
                let name = key.string();
                reading.is_directive(name)
                    || reading.is_unknown_directive(name)
                    || !reading.keeps_nulls_of_lists() && value.is_null()
                    || any(value, reading)
            };
            node.fields().any(cut) || node.elements().any(|e| any(e, reading))
        }
        let may = node.text().contains('$') || !self.keeps_nulls_of_lists() && node.has_nulls() || node.has_aliases();
        may && any(node, self)
    }

    /// The first directive in a node, with its value. The trail then leads to its map.
    pub(super) fn directive_in<'a>(
        self,
        node: NodeRef<'a>,
        trail: &mut Trail<'a>,
    ) -> Option<(NodeRef<'a>, NodeRef<'a>)> {
        let by = if node.is_map() { By::Field } else { By::Index };
        let fields = node.fields().map(|(key, value)| (ChildId::Field(key.string()), Some(key), value));
        let elements = node.elements().enumerate().map(|(at, element)| (ChildId::Index(at), None, element));
        for (id, key, value) in fields.chain(elements) {
            if let Some(key) = key.filter(|key| self.is_directive(key.string())) {
                return Some((key, value));
            }
            trail.push(id.step(&by), None);
            if let Some(found) = self.directive_in(value, trail) {
                return Some(found);
            }
            trail.pop();
        }
        None
    }

    /// Whether an element is a directive about its list, not a value of the list.
    pub(super) fn speaks_of_list(self, element: NodeRef<'_>) -> bool {
        let Some(said) = element.get(PATCH) else { return false };
        let is_alone = element.fields().nth(1).is_none();
        match self {
            // Source: kyaml's `determineSequenceNodePatchStrategy`.
            Self::Overlay => is_alone,
            // Source: apimachinery's `mergeSliceWithSpecialElements`.
            Self::Strategic => said.string() == "replace" || said.string() == "merge" && is_alone,
            Self::Data => false,
        }
    }
}

/// The requests of a map's directives for a list that is one of its fields.
#[derive(Clone, Copy, Default)]
pub(super) struct OnList<'a> {
    /// The values to remove from it, as a list.
    pub deleted: Option<NodeRef<'a>>,
    /// Its order, as a list.
    pub order: Option<NodeRef<'a>>,
}

/// The values of `$patch`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Directive {
    Merge,
    Replace,
    Delete,
}

/// The `$patch` of a map, if it has one.
pub(super) fn directive(map: NodeRef<'_>) -> Result<Option<Directive>, Error> {
    let Some(value) = map.get(PATCH) else { return Ok(None) };
    match value.as_str() {
        Some("merge") => Ok(Some(Directive::Merge)),
        Some("replace") => Ok(Some(Directive::Replace)),
        Some("delete") => Ok(Some(Directive::Delete)),
        _ => Err(value.error(format!("`$patch` must be `merge`, `replace` or `delete`, not \"{}\"", shown(value)))),
    }
}

/// A directive for a message, with its value if that is short.
pub(super) fn said(key: NodeRef<'_>, value: NodeRef<'_>) -> String {
    let value = if value.is_container() { "" } else { &format!(": {}", value.string()) };
    format!("`{}{value}`", key.string())
}

/// A value for a message: the text of a scalar, or the beginning of a map or list.
fn shown(value: NodeRef<'_>) -> &str {
    let text = if value.is_container() { value.text() } else { value.string() };
    text.lines().next().unwrap_or_default()
}

/// Checks that the value of a directive is a list.
pub(super) fn must_be_list(key: NodeRef<'_>, value: NodeRef<'_>) -> Result<(), Error> {
    if value.is_list() {
        return Ok(());
    }
    Err(value.error(format!("`{}` must be a list, not \"{}\"", key.string(), shown(value))))
}
