//! [`merge`]: merges packages whose files are texts.
//!
//! It is a host of the merge like the plugin: it runs a `Job` of `krm-job` on the resources of the texts, and makes texts of files of what it writes. A
//! conflict that nobody decided leaves dest's value in the result, so that one sees the rest of the merge meanwhile.
//!
//! What is no resource is one document under its path, as for the plugin: the values of a chart, or a text alone that holds none.

use std::collections::BTreeMap;

use krm_job::decision::ConflictView;
use krm_job::event::{Clash, ClashPlace, Event, ResourceRef, Severity};
use krm_job::recorded::Case;
use krm_job::results;
use krm_merge::packages::{Decided, EmptyUpdated};
use krm_merge::{Error, FileChange, Merge, Package, Pick};
use krm_merge_core::policy::{Settled, Treatment};
use krm_package::resource::Identity;
use krm_schema::mode::Mode;
use krm_tree::limit::Budget;
use krm_tree::sides::{Side, Sides};
use krm_tree::splice;
use krm_tree::tree::Tree;
use krm_yaml::Document;
use serde::Serialize;
use serde_json::Value;

use crate::decide::ConflictCase;
use crate::files::{Files, FilesByPath, fields, must_be, no_field, text};

/// What is merged, and how.
#[derive(Clone, Debug, Default)]
pub struct MergeInput {
    /// What is merged into.
    pub dest: Files,
    /// The common earlier state of dest and updated, in a three-way merge.
    pub original: Option<Files>,
    /// The new state of original.
    pub updated: Option<Files>,
    /// The source of a two-way merge, or the strategic merge patch.
    pub source: Option<Files>,
    /// The functionConfig, as YAML. It may leave out the mode.
    pub function_config: Option<String>,
    /// The mode, if the functionConfig does not name it: `TwoWay`, `ThreeWay` or `Strategic`.
    pub mode: Option<String>,
    /// What an updated side without resources means.
    pub empty_updated: EmptyUpdated,
}

/// A merge, with the conflicts that someone may decide.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct MergeOutput {
    /// Whether no result is an error. If one is, the files are dest's, as they came.
    pub passed: bool,
    /// The files of dest after the merge.
    pub files: FilesByPath,
    /// The files that change, in the order of their paths.
    pub changes: Vec<Change>,
    /// What happened, the most severe first; the conflicts are not among them.
    pub results: Vec<ToldResult>,
    /// The conflicts, also those that a rule decided.
    pub conflicts: Vec<ToldConflict>,
}

/// What happens to a file of dest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase", tag = "kind")]
pub enum Change {
    /// It is new.
    Added {
        /// Its path.
        path: String,
    },
    /// It has another text.
    Changed {
        /// Its path.
        path: String,
    },
    /// It is at another path.
    Moved {
        /// The new path.
        path: String,
        /// The old path.
        from: String,
    },
    /// It goes.
    Removed {
        /// Its path.
        path: String,
    },
}

/// A result that is no conflict.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ToldResult {
    /// How severe it is.
    pub severity: Severity,
    /// One line, without the place.
    pub message: String,
    /// What kind of result it is, for programs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<&'static str>,
    /// The resource that it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resource: Option<ResourceRef>,
    /// Where it is.
    #[serde(flatten)]
    pub place: Place,
}

/// A place in a text of the input.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Place {
    /// The text: `dest`, `updated/web.yaml`, `functionConfig`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The line, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
    /// The column, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<usize>,
}

/// A conflict, with the values of the sides.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ToldConflict {
    /// What the sides did.
    pub what: String,
    /// Who won, or that nobody did.
    pub outcome: String,
    /// Whether it is unresolved.
    pub open: bool,
    /// Who won, if it is one side as it is: `dest` or `updated`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub taken: Option<&'static str>,
    /// The resource.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resource: Option<ResourceRef>,
    /// Where the field is in dest.
    #[serde(flatten)]
    pub place: Place,
    /// The field, elements by key; empty for the resource as a whole.
    pub path: String,
    /// Original's value as YAML, unless it is secret.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub original: Option<String>,
    /// Updated's value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub updated: Option<String>,
    /// Dest's value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dest: Option<String>,
    /// Whether the values are secret, so that nobody should see them.
    pub secret: bool,
    /// What a rule must name to decide it; `None` if no rule can decide it alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub case: Option<ConflictCase>,
}

/// Merges texts.
pub fn merge(input: &MergeInput) -> MergeOutput {
    merged(input).unwrap_or_else(|error| {
        let events = match error {
            Error::Failed(events) => events,
            Error::Text { file, error } => vec![Event::unreadable(&file, &error)],
            other => vec![Event::new(Severity::Error, other.to_string())],
        };
        let results = events.into_iter().map(|event| told(event, None)).collect();
        MergeOutput { files: input.dest.to_owned(), results, ..MergeOutput::default() }
    })
}

/// The fields of [`MergeInput`] in JSON.
const FIELDS: &str = "dest, original, updated, source, functionConfig, mode, allowEmptyUpdated";

fn merged(input: &MergeInput) -> Result<MergeOutput, Error> {
    let dest = package("dest", Some(&input.dest))?;
    let merge = input.merge(&dest)?;
    let (mut conflicts, documents) = (Vec::new(), dest.documents());
    let see = |view: &ConflictView<'_, '_>, event: &Event, budget: &Budget| {
        conflicts.extend(event.clash().map(|clash| conflict(view, event, clash, &documents, budget)));
    };
    let undecided = merge.undecided(Treatment::Open(Pick::Dest))?;
    let (of_files, plan) = merge.with_drawn(undecided, Decided::default(), see, |drawn| {
        let of_files: Vec<ToldConflict> =
            drawn.of_files.iter().filter_map(|event| conflict_of_file(event, &dest.documents())).collect();
        Ok((of_files, drawn.plan()?))
    })?;
    conflicts.extend(of_files);
    let passed = !results::has_failed(&plan.events);
    let results = plan.events.into_iter().filter(|event| event.clash().is_none());
    let results = results.map(|event| told(event, Some(&dest.documents()))).collect();
    let changes = plan.changes.iter().map(Change::of).collect();
    Ok(MergeOutput { passed, files: dest.with(plan.changes), changes, results, conflicts })
}

impl MergeInput {
    /// The merge of the sides, in the mode that the functionConfig, or the user, or the sides call for.
    fn merge(&self, dest: &Package) -> Result<Merge, Error> {
        let sides = [("original", &self.original), ("updated", &self.updated), ("source", &self.source)];
        let [original, updated, source] = sides.map(|(role, files)| package(role, files.as_ref()));
        let (original, updated, source) = (original?, updated?, source?);
        let of_mode = |mode| match mode {
            Mode::ThreeWay => Merge::three_way(&original, &updated, dest),
            Mode::TwoWay => Merge::two_way(&source, dest),
            Mode::Strategic => Merge::strategic(&source, dest),
        };
        let mut merge = of_mode(self.mode()?);
        let text = self.function_config.as_deref();
        let mode = text.map(|text| merge.mode_of(text)).transpose()?.unwrap_or_else(|| merge.mode());
        if mode != merge.mode() {
            merge = of_mode(mode);
        }
        let fault = |told: String| Error::from(Box::new(Event::new(Severity::Error, told)));
        let (side, needed, others) = match mode {
            Mode::ThreeWay => ("updated", &self.updated, &sides[2..]),
            Mode::TwoWay | Mode::Strategic => ("source", &self.source, &sides[..2]),
        };
        if let Some((other, _)) = others.iter().find(|(_, files)| files.is_some()) {
            return Err(fault(format!("`{other}` must not be given in a merge of mode `{mode:?}`")));
        }
        if needed.is_none() {
            return Err(fault(format!("`{side}` must be given; `{{}}` is a side without files")));
        }
        let merge = merge.empty_updated(self.empty_updated);
        text.map_or_else(|| merge.clone().config_of_dest(), |text| merge.clone().config(text))
    }

    /// Reads what a program gives. A field that is null is not given.
    ///
    /// # Errors
    /// A field has another name or type, or dest is not given.
    pub fn of(value: Value) -> Result<Self, String> {
        let (mut input, mut dest) = (Self::default(), None);
        for (name, value) in fields("input", value)? {
            let files = |value: Value| match value {
                Value::Null => Ok(None),
                given => Files::of(&name, given).map(Some),
            };
            match name.as_str() {
                "dest" => dest = files(value)?,
                "original" => input.original = files(value)?,
                "updated" => input.updated = files(value)?,
                "source" => input.source = files(value)?,
                "functionConfig" => input.function_config = text(&name, value)?,
                "mode" => input.mode = text(&name, value)?,
                "allowEmptyUpdated" => match value {
                    Value::Bool(true) => input.empty_updated = EmptyUpdated::Deletes,
                    Value::Bool(false) | Value::Null => {}
                    other => return Err(must_be("a boolean", &name, &other)),
                },
                _ => return Err(no_field(&name, "input", FIELDS)),
            }
        }
        let dest = dest.ok_or("`dest` must be given; `{}` is a package without files")?;
        Ok(Self { dest, ..input })
    }

    /// The mode that the user, or the sides, call for.
    fn mode(&self) -> Result<Mode, Box<Event>> {
        match self.mode.as_deref() {
            Some("TwoWay") => Ok(Mode::TwoWay),
            Some("ThreeWay") => Ok(Mode::ThreeWay),
            Some("Strategic") => Ok(Mode::Strategic),
            Some(other) => Err(Box::new(Event::new(
                Severity::Error,
                format!("`mode` must be `TwoWay`, `ThreeWay` or `Strategic`, not \"{other}\""),
            ))),
            None if self.source.is_some() => Ok(Mode::TwoWay),
            None => Ok(Mode::ThreeWay),
        }
    }
}

/// The package of a side.
fn package(role: &str, files: Option<&Files>) -> Result<Package, Error> {
    let files = files.map(Files::to_owned).unwrap_or_default();
    Package::of_files(files).map_err(|error| match error {
        Error::Text { file, error } if file.is_empty() => Error::Text { file: role.to_owned(), error },
        other => other,
    })
}

/// The documents of dest, by the paths of their files.
type Documents<'d> = BTreeMap<&'d str, &'d Document<'static>>;

/// A conflict, with its event.
fn conflict(
    view: &ConflictView<'_, '_>,
    event: &Event,
    clash: &Clash,
    dest: &Documents<'_>,
    budget: &Budget,
) -> ToldConflict {
    let json = |tree: &Tree<'_>| splice::json_of(tree, budget).ok();
    let values = Sides::of(|side| view.values[side].as_ref().and_then(json));
    let secret = event.is_secret;
    let shown = |side: Side| values[side].as_deref().filter(|_| !secret).and_then(yaml);
    let case = view.resource.identity.and_then(|identity| case(view, identity, &values, secret));
    ToldConflict {
        what: krm_words::what(clash),
        outcome: krm_words::outcome(clash),
        open: clash.settled == Settled::Open,
        taken: taken(clash),
        resource: event.resource_ref.as_deref().cloned(),
        place: place(event, Some(dest)),
        path: view.path.keyed(),
        original: shown(Side::Original),
        updated: shown(Side::Updated),
        dest: shown(Side::Dest),
        secret,
        case,
    }
}

/// A conflict of a file without resources. Rules decide it by its path.
fn conflict_of_file(event: &Event, dest: &Documents<'_>) -> Option<ToldConflict> {
    let clash = event.clash()?;
    let shown = |value: Option<&krm_job::event::Value>| {
        value
            .filter(|_| !event.is_secret)
            .and_then(|value| yaml_serde::to_string(&krm_merge_function::results::yaml_of(value)).ok())
    };
    let field = event.field.as_ref();
    let original = clash.original.as_ref().filter(|_| !event.is_secret);
    Some(ToldConflict {
        what: krm_words::what(clash),
        outcome: krm_words::outcome(clash),
        open: clash.settled == Settled::Open,
        taken: taken(clash),
        resource: None,
        place: place(event, Some(dest)),
        path: if let ClashPlace::Field(path) = &clash.place { path.clone() } else { String::new() },
        original: original.and_then(|json| yaml(json)),
        updated: shown(field.and_then(|field| field.proposed_value.as_ref())),
        dest: shown(field.and_then(|field| field.current_value.as_ref())),
        secret: event.is_secret,
        case: None,
    })
}

/// The side that won a conflict, if it is one side as it is.
fn taken(clash: &Clash) -> Option<&'static str> {
    match clash.settled {
        Settled::Dest | Settled::StaysDeleted | Settled::StaysInPlace | Settled::OverlapOfDest => Some("dest"),
        Settled::Updated | Settled::Deleted | Settled::OverlapOfUpdated => Some("updated"),
        _ => None,
    }
}

/// What a rule must name to decide a conflict and no other one.
fn case(
    view: &ConflictView<'_, '_>,
    identity: Identity<'_>,
    values: &Sides<Option<String>>,
    secret: bool,
) -> Option<ConflictCase> {
    let null = || Some("null".to_owned());
    let json = |side: Side| values[side].clone().or_else(null);
    let when = match (view.path.is_empty(), &values.updated, &values.dest) {
        // The side that deleted the resource has no value, and that says enough.
        (true, None, _) => Sides { updated: null(), ..Sides::default() },
        (true, _, None) => Sides { dest: null(), ..Sides::default() },
        // Both sides moved the resource; a rule for that would be for all its fields, too.
        (true, ..) => return None,
        (false, ..) if secret => Sides::default(),
        (false, ..) => Sides { original: json(Side::Original), updated: json(Side::Updated), dest: None },
    };
    Some(Case::new(identity, &view.path, when).into())
}

/// A value as YAML.
fn yaml(json: &str) -> Option<String> {
    let value: serde_json::Value = serde_json::from_str(json).ok()?;
    yaml_serde::to_string(&value).ok()
}

fn told(event: Event, dest: Option<&Documents<'_>>) -> ToldResult {
    let place = place(&event, dest);
    let (message, reason) = (krm_words::without_place(&event), event.reason());
    ToldResult { severity: event.severity, message, reason, resource: event.resource_ref.as_deref().cloned(), place }
}

/// The place of a result: in a text that cannot be read, or in dest.
fn place(event: &Event, dest: Option<&Documents<'_>>) -> Place {
    if let Some(at) = event.at() {
        return Place { file: Some(at.text.clone()), line: Some(at.position.line), column: Some(at.position.column) };
    }
    let path = event.file.as_ref().map(|file| file.path.as_str());
    let Some(dest) = dest.filter(|_| path.is_some() || event.here.is_some()) else { return Place::default() };
    let path = path.unwrap_or_default();
    let position = dest.get(path).zip(event.here).map(|(document, here)| document.position(here));
    let name = if path.is_empty() { "dest".to_owned() } else { format!("dest/{path}") };
    Place {
        file: Some(name),
        line: position.map(|position| position.line),
        column: position.map(|position| position.column),
    }
}

impl Change {
    fn of(change: &FileChange) -> Self {
        match change {
            FileChange::Added { path, .. } => Self::Added { path: path.clone() },
            FileChange::Changed { path, .. } => Self::Changed { path: path.clone() },
            FileChange::Moved { from, to, .. } => Self::Moved { path: to.clone(), from: from.clone() },
            FileChange::Removed { path } => Self::Removed { path: path.clone() },
        }
    }
}

#[cfg(test)]
mod tests {
    use krm_names::file_path::RULES;

    use super::*;

    fn of(original: &str, updated: &str, dest: &str) -> MergeOutput {
        let text = |text: &str| Files::Text(text.to_owned());
        merge(&MergeInput {
            dest: text(dest),
            original: Some(text(original)),
            updated: Some(text(updated)),
            ..MergeInput::default()
        })
    }

    #[test]
    fn a_field_of_another_name_or_type_is_named() {
        for (json, want) in [
            (
                r#"{"dest": "", "upated": null}"#,
                "`upated` must be a field of the input: dest, original, updated, source, functionConfig, mode, allowEmptyUpdated",
            ),
            (r#"{"dest": {}, "allowEmptyUpdated": 1}"#, "`allowEmptyUpdated` must be a boolean, not a number"),
            (r#"{"source": ""}"#, "`dest` must be given; `{}` is a package without files"),
            (r#"{"dest": null}"#, "`dest` must be given; `{}` is a package without files"),
            (r#"{"dest": {"a.yaml": null}}"#, "`dest[\"a.yaml\"]` must be a string, not null"),
            (
                r#"{"dest": {}, "updated": []}"#,
                "`updated` must be a string, or an object with a string for each path, not a list",
            ),
            (r#"{"dest": {}, "mode": 1}"#, "`mode` must be a string, not a number"),
            ("true", "`input` must be an object, not a boolean"),
        ] {
            let value = serde_json::from_str(json).expect("JSON");
            assert_eq!(MergeInput::of(value).expect_err(json), want);
        }
        let json = r#"{"dest": "a: 1", "source": null, "functionConfig": null, "mode": null, "original": {}}"#;
        let input = MergeInput::of(serde_json::from_str(json).expect("JSON")).expect("an input");
        let is_given = [input.original.is_some(), input.updated.is_some(), input.source.is_some()];
        assert_eq!((is_given, input.function_config, input.mode), ([true, false, false], None, None));
    }

    #[test]
    fn the_rules_of_the_package_count_and_stay() {
        let map =
            |value: &str| format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: a}}\ndata: {{k: {value}}}\n");
        let rules = |of: &str| format!("apiVersion: krm-merge.dev/v1alpha1\nkind: Merge\nspec: {{{of}}}\n");
        let files = |value: &str, of: &str| {
            let files = [("a.yaml", map(value)), (RULES, rules(of))];
            Files::ByPath(files.map(|(path, text)| (path.to_owned(), text)).into())
        };
        let of = |of: &str, config: Option<&str>| {
            merge(&MergeInput {
                original: Some(files("a", "mode: ThreeWay")),
                updated: Some(files("b", "onConflict: Fail")),
                dest: files("c", of),
                function_config: config.map(rules),
                ..MergeInput::default()
            })
        };
        let taken = |output: &MergeOutput| output.conflicts[0].taken;
        let output = of("rules: [{take: Updated}]", None);
        assert_eq!((taken(&output), &output.files["a.yaml"]), (Some("updated"), &map("b")), "{:?}", output.results);
        assert_eq!(output.files[RULES], rules("rules: [{take: Updated}]"));
        assert_eq!(output.changes, [Change::Changed { path: "a.yaml".to_owned() }]);
        assert_eq!(taken(&of("rules: [{take: Updated}]", Some("rules: [{take: Dest}]"))), Some("dest"));
        let output = of("mode: TwoWay", None);
        let told = &output.results[0];
        assert_eq!((output.passed, told.place.file.as_deref()), (false, Some("dest/.krm-merge.yaml")), "{told:?}");
        // Lists merge as the rules say, also in other modes.
        let list = |names: &str| format!("apiVersion: e.com/v1\nkind: A\nmetadata: {{name: a}}\nl: [{names}]\n");
        let keys = rules("mergeKeys: [{apiVersion: e.com/v1, kind: A, path: l, keys: [k]}]");
        let dest = [("a.yaml".to_owned(), list("{k: 1, v: 1}")), (RULES.to_owned(), keys)];
        let (dest, source) = (Files::ByPath(dest.into()), Some(Files::Text(list("{k: 2}"))));
        let output = merge(&MergeInput { dest, source, ..MergeInput::default() });
        assert_eq!(output.files["a.yaml"], list("{k: 1, v: 1}, {k: 2}"), "{:?}", output.results);
    }

    #[test]
    fn each_mode_has_its_sides() {
        let map =
            |value: u8| format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: a}}\ndata: {{k: '{value}'}}\n");
        let text = |value: u8| Some(Files::Text(map(value)));
        let (dest, original, updated, source) = (text(1).unwrap_or_default(), text(1), text(2), text(3));
        let input = MergeInput { dest, original, updated, source, ..MergeInput::default() };
        let told = |input: &MergeInput| merge(input).results[0].message.clone();
        assert_eq!(told(&input), "`original` must not be given in a merge of mode `TwoWay`");
        let three_way = "apiVersion: krm-merge.dev/v1alpha1\nkind: Merge\nspec: {mode: ThreeWay}\n";
        let input = MergeInput { function_config: Some(three_way.to_owned()), ..input };
        assert_eq!(told(&input), "`source` must not be given in a merge of mode `ThreeWay`");
        let input = MergeInput { source: None, updated: Some(Files::default()), ..input };
        assert_eq!(
            told(&input),
            "updated has no resources, so the merge would delete all resources of original. Check the path"
        );
        let output = merge(&MergeInput { empty_updated: EmptyUpdated::Deletes, ..input });
        assert_eq!((output.passed, output.files.get("").map(String::as_str)), (true, None), "{:?}", output.results);
    }

    #[test]
    fn the_rules_of_dest_name_an_openapi_document_of_dest() {
        let site = |hosts: &str| format!("apiVersion: e.com/v1\nkind: Site\nmetadata: {{name: a}}\nhosts: [{hosts}]\n");
        let schema = "{definitions: {site: {type: object, properties: {hosts: {type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [host], items: {type: object}}}, x-kubernetes-group-version-kind: [{group: e.com, version: v1, kind: Site}]}}}";
        let of = |path: &str| {
            let rules =
                format!("apiVersion: krm-merge.dev/v1alpha1\nkind: Merge\nspec: {{openapi: {{path: {path}}}}}\n");
            let dest = [("a.yaml", site("{host: a, x: 1}")), (RULES, rules), ("schema.json", schema.to_owned())];
            let dest = Files::ByPath(dest.map(|(path, text)| (path.to_owned(), text)).into());
            let source = Some(Files::Text(site("{host: b}")));
            merge(&MergeInput { dest, source, mode: Some("Strategic".to_owned()), ..MergeInput::default() })
        };
        let output = of("schema.json");
        assert_eq!(output.files["a.yaml"], site("{host: a, x: 1}, {host: b}"), "{:?}", output.results);
        let told = &of("other.json").results[0];
        assert_eq!(told.message, "`spec.openapi.path` must be the path of a file of dest, not \"other.json\"");
        assert_eq!((told.place.file.as_deref(), told.place.line), (Some("dest/.krm-merge.yaml"), Some(3)));
    }

    #[test]
    fn what_is_no_resource_is_one_document() {
        let output = of("a: 1\nb: 1\n", "a: 2\nb: 1\n", "a: 1 # own\nb: 2\n");
        assert_eq!((output.passed, &output.files[""][..]), (true, "a: 2 # own\nb: 2\n"));
        let output = of("a: 1\nb: 1\n", "a: 2\nb: 1\n", "a: 3\nb: 1\n");
        assert_eq!((output.passed, &output.files[""][..]), (true, "a: 3\nb: 1\n"));
        let conflict = &output.conflicts[0];
        let values = [&conflict.original, &conflict.updated, &conflict.dest].map(|value| value.as_deref());
        assert_eq!((conflict.open, &conflict.path[..]), (true, "a"));
        assert_eq!(values, [Some("1\n"), Some("2\n"), Some("3\n")]);
        assert_eq!((conflict.place.line, conflict.place.file.as_deref()), (Some(1), Some("dest")));
        // A list has no resources. Several documents may have none.
        let output = of("- a\n- b\n", "- a\n- c\n", "- own\n- a\n- b\n");
        assert_eq!(output.files[""], "- own\n- a\n- c\n");
        let output = of("a: 1\n---\nb: 1\n", "a: 2\n---\nb: 1\n", "a: 1\n---\nb: 2\n");
        assert_eq!((output.passed, &output.files[""][..]), (true, "a: 2\n---\nb: 2\n"));
        // What both sides added is in conflict, and until someone decides it, dest's stays.
        let dest = "a: [x, own]\n";
        let output = of("a: [x]\n", "a: [x, up]\n", dest);
        assert_eq!((&output.files[""][..], output.conflicts[0].open), (dest, true));
        // A side that nobody gave is no empty one, which deletes.
        let dest = Files::Text("a: 1\n".to_owned());
        let output = merge(&MergeInput { original: Some(dest.clone()), dest, ..MergeInput::default() });
        assert_eq!((output.passed, &output.files[""][..]), (false, "a: 1\n"));
        assert_eq!(output.results[0].message, "`updated` must be given; `{}` is a side without files");
        // Lists are replaced, as by helm, and a null removes a field.
        let text = |text: &str| Some(Files::Text(text.to_owned()));
        let dest = text("env: [{name: a, value: x}, {name: b}]\nc: 1\nkind: d # own\n").unwrap_or_default();
        let source = text("env: [{name: a, value: y}]\nc: null\nkind: e\n");
        for mode in ["TwoWay", "Strategic"] {
            let (dest, mode) = (dest.clone(), Some(mode.to_owned()));
            let output = merge(&MergeInput { dest, source: source.clone(), mode, ..MergeInput::default() });
            assert_eq!(output.files[""], "env: [{name: a, value: y}]\nkind: e # own\n", "{:?}", output.results);
        }
        // A text with a resource on a side needs one on each.
        let map = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n";
        let output = of(map, "a: 2\n", map);
        assert_eq!(output.results[0].message, "the resource must have `apiVersion` to be merged");
    }

    #[test]
    fn files_without_resources_merge_by_their_paths() {
        let files = |all: &[(&str, &str)]| {
            Files::ByPath(all.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect())
        };
        let template = "{{- if .Values.a }}\na: b\n{{- end }}\n";
        let original = files(&[("values.yaml", "a: 1\nb: 1\n"), ("README", "1\n"), ("old", ""), ("t.yaml", template)]);
        let updated = files(&[("values.yaml", "a: 2\nb: 1\n"), ("README", "2\n"), ("new", "n"), ("t.yaml", template)]);
        let dest = files(&[("values.yaml", "a: 1\nb: 2\n"), ("README", "1\n"), ("old", ""), ("t.yaml", template)]);
        let output =
            merge(&MergeInput { dest, original: Some(original), updated: Some(updated), ..MergeInput::default() });
        let want = files(&[("values.yaml", "a: 2\nb: 2\n"), ("README", "2\n"), ("new", "n"), ("t.yaml", template)]);
        assert_eq!((output.passed, output.files), (true, want.to_owned()));
        let [changed, added, removed] = ["README", "new", "old"].map(str::to_owned);
        let want =
            [Change::Changed { path: changed }, Change::Added { path: added }, Change::Removed { path: removed }];
        assert_eq!(output.changes[..3], want);
    }

    #[test]
    fn a_document_without_a_name_is_not_left_out_in_silence() {
        // Versions of such a file merge as texts.
        let file = |value: u32| {
            let text = format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: a}}\n---\na: {value}\n");
            Some(Files::ByPath([("a.yaml".to_owned(), text)].into()))
        };
        let dest = file(3).unwrap_or_default();
        let output = merge(&MergeInput { dest, original: file(1), updated: file(2), ..MergeInput::default() });
        let paths: Vec<&str> = output.conflicts.iter().map(|conflict| &conflict.path[..]).collect();
        assert_eq!((output.passed, paths), (true, vec![""]));
    }
}
