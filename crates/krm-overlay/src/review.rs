//! [`review`]: the verdict on each place of the layers over a release.

use std::ops::Range;

use krm_tree::path::{FieldPath, Step};
use krm_yaml::{NodeRef, Scalar};

use crate::chart::{Chart, Files};
use crate::compared::Compared;
use crate::moved::moved;
use crate::reads::{Blind, Named, Says};
use crate::values::{Value, laid_over};
use crate::verdict::{Finding, KnownBy, MovedTo, Unknown, Verdict};

/// Values that lie over a chart. The node may be any part of a document: a whole file, `spec.values` of a HelmRelease, or the field of an
/// alias in the values of another chart.
#[derive(Clone, Debug)]
pub struct Layer<'a> {
    /// The values.
    pub values: NodeRef<'a>,
    /// The place in the values of the chart at which the node lies, such as `["global"]`; empty for all values of the chart.
    pub at: Vec<String>,
}

impl<'a> Layer<'a> {
    /// All values of a chart.
    pub fn of(values: NodeRef<'a>) -> Self {
        Self { values, at: Vec::new() }
    }

    /// Its values, as those of the chart.
    pub(crate) fn value(&self) -> Value {
        let inner = Value::of(self.values);
        self.at.iter().rev().fold(inner, |value, name| Value::Map([(name.clone(), value)].into()))
    }
}

/// The verdict on each place of the layers, in the order of the layers and of their texts. A later layer lies over an earlier one. What others
/// read stays, too.
pub fn review(old: &Chart, new: &Chart, layers: &[Layer<'_>], others: &Named) -> Vec<Finding> {
    let values: Vec<Value> = layers.iter().map(Layer::value).collect();
    let mut named = others.clone();
    values.iter().for_each(|value| add_named(value, &mut named));
    let (mut below, mut findings) = ([old.defaults.clone(), new.defaults.clone()], Vec::new());
    for (number, layer) in layers.iter().enumerate() {
        let later = &values[number + 1..];
        let mut found = Vec::new();
        leaves(layer.values, &mut layer.at.clone(), None, &mut found);
        for leaf in found {
            let place = Place { old, new, below: &below, later, named: &named, leaf: &leaf };
            let verdict = place.verdict();
            findings.push(Finding {
                layer: number,
                object: None,
                place: path_of(&leaf.path),
                span: leaf.span,
                verdict,
            });
        }
        if !later.is_empty() {
            below = below.map(|below| laid_over(&below, &values[number]));
        }
    }
    follow(old, new, &mut findings);
    findings
}

/// Says of what is gone where it went.
fn follow(old: &Chart, new: &Chart, findings: &mut [Finding]) {
    let is_gone = |finding: &&Finding| matches!(finding.verdict, Verdict::Gone { .. });
    let gone: Vec<Vec<String>> = findings.iter().filter(is_gone).filter_map(|finding| finding.place.names()).collect();
    if gone.is_empty() {
        return;
    }
    let moved = moved(old, new, &gone);
    for finding in findings {
        if let Verdict::Gone { moved_to, .. } = &mut finding.verdict {
            let to = finding.place.names().and_then(|from| moved.get(&from));
            *moved_to = to.map(|to| MovedTo { place: path_of(to) });
        }
    }
}

/// A path of fields.
pub(crate) fn path_of(names: &[String]) -> FieldPath<'static> {
    let mut path = FieldPath::default();
    names.iter().for_each(|name| path.push(Step::Field(name.clone().into()), None));
    path
}

/// A value of a layer that is not a map with fields.
struct Leaf {
    path: Vec<String>,
    span: Range<usize>,
    value: Value,
}

fn leaves(node: NodeRef<'_>, path: &mut Vec<String>, key: Option<NodeRef<'_>>, found: &mut Vec<Leaf>) {
    let mut fields = node.fields().filter(|(key, _)| !key.is_container()).peekable();
    if node.is_map() && fields.peek().is_some() {
        for (key, value) in fields {
            path.push(key.string().to_owned());
            leaves(value, path, Some(key), found);
            path.pop();
        }
    } else if !path.is_empty() {
        let span = key.map_or(node.start(), NodeRef::start)..node.end();
        found.push(Leaf { path: path.clone(), span, value: Value::of(node) });
    }
}

/// Adds the places that the texts of a value name in their actions.
fn add_named(value: &Value, named: &mut Named) {
    match value {
        Value::Map(fields) => fields.values().for_each(|value| add_named(value, named)),
        Value::List(elements) => elements.iter().for_each(|value| add_named(value, named)),
        Value::Scalar(Scalar::String(text)) => named.add_text(text),
        Value::Scalar(_) => {}
    }
}

/// A place of a layer, and what is known of it.
struct Place<'r> {
    old: &'r Chart,
    new: &'r Chart,
    /// What lies below the layer, in the old and the new release.
    below: &'r [Value; 2],
    /// The layers over this one.
    later: &'r [Value],
    /// The places that others read, and those that the layers name in their texts.
    named: &'r Named,
    leaf: &'r Leaf,
}

impl Place<'_> {
    fn verdict(&self) -> Verdict {
        let path = &self.leaf.path;
        if let Some(chart) = self.missing() {
            return Verdict::Unknown(Unknown::NoSubchart(chart.to_owned()));
        }
        let [original, updated] = [&self.below[0], &self.below[1]].map(|below| below.at(path));
        let says = if self.leaf.value.is_null() { Says::Null } else { Says::Value };
        let [was_read, is_read] =
            [self.old, self.new].map(|chart| self.named.meets(path) || chart.reads.read(path, says, &chart.defaults));
        if !is_read {
            let was_there = self.old.reads.unknown.is_none() || original.is_some();
            let known_by = KnownBy::Chart;
            return if was_read && was_there { Verdict::Gone { moved_to: None, known_by } } else { Verdict::Nowhere };
        }
        if let (Some(Blind::NoSubchart(chart)), Some(_), None) = (&self.new.reads.unknown, original, updated) {
            return Verdict::Unknown(Unknown::NoSubchart(chart.clone()));
        }
        if self.later.iter().any(|later| later.at(path).is_some()) {
            return Verdict::Holds;
        }
        self.of_other_kind().unwrap_or_else(|| self.by_values(original, updated))
    }

    /// The chart that has this place, and whose files are missing.
    fn missing(&self) -> Option<&str> {
        let needed = self.old.dependencies.iter().chain(&self.new.dependencies);
        let mut missing = needed.filter(|needed| needed.files == Files::Missing);
        missing.find(|needed| Some(&needed.field) == self.leaf.path.first()).map(|needed| needed.name.as_str())
    }

    /// The verdict if the map that the place is in has a list or a scalar below it now.
    fn of_other_kind(&self) -> Option<Verdict> {
        let path = &self.leaf.path;
        let below = |end: usize| self.below.each_ref().map(|below| below.at(&path[..end]));
        let is_map = |value: &Value| matches!(value, Value::Map(_));
        (1..path.len()).find_map(|end| match below(end) {
            [original, Some(updated)] if !is_map(updated) && !updated.is_null() && original.is_none_or(is_map) => {
                Some(Verdict::OtherKind { original: original.cloned(), updated: updated.clone() })
            }
            _ => None,
        })
    }

    fn by_values(&self, original: Option<&Value>, updated: Option<&Value>) -> Verdict {
        let ours = &self.leaf.value;
        let name = self.leaf.path.last().map_or("", String::as_str);
        let compared =
            Compared { original, updated, ours, name, lost_with: self.lost_with(), siblings: self.siblings() };
        match compared.verdict() {
            // An empty map takes nothing away.
            Verdict::Hides(_) | Verdict::Appears { .. } if matches!(ours, Value::Map(_)) => Verdict::Holds,
            verdict => verdict,
        }
    }

    /// The outermost map above this place that only the old release has defaults for.
    fn lost_with(&self) -> Option<FieldPath<'static>> {
        let path = &self.leaf.path;
        let above = (1..path.len()).map(|end| &path[..end]);
        let is_lost = |above: &&[String]| self.below[0].at(above).is_some() && self.below[1].at(above).is_none();
        above.into_iter().find(is_lost).map(path_of)
    }

    /// The fields beside this one that only the new release has.
    fn siblings(&self) -> Vec<String> {
        let Some((_, above)) = self.leaf.path.split_last() else { return Vec::new() };
        match [&self.below[0], &self.below[1]].map(|below| below.at(above)) {
            [Some(Value::Map(old)), Some(Value::Map(new))] => {
                new.keys().filter(|name| !old.contains_key(*name)).cloned().collect()
            }
            _ => Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use krm_yaml::Document;

    use super::*;
    use crate::Copied;
    use crate::rebase::{Choice, rebase};

    /// A chart with a subchart, as texts: its defaults and template, and those of the subchart.
    fn chart(defaults: &str, template: &str, sub: [&str; 2]) -> Chart {
        let files = [
            ("Chart.yaml", "name: web\nversion: 1.0.0\ndependencies: [{name: db, alias: data}]\n"),
            ("values.yaml", defaults),
            ("templates/a.yaml", template),
            ("charts/db/Chart.yaml", "{name: db}"),
            ("charts/db/values.yaml", sub[0]),
            ("charts/db/templates/a.yaml", sub[1]),
        ];
        Chart::read(&files.map(|(path, text)| (path.to_owned(), text.as_bytes().to_vec())).into()).expect("a chart")
    }

    /// A line for each finding that says something: the layer, the place and the verdict.
    fn said(old: &Chart, new: &Chart, layers: &[&str]) -> Vec<String> {
        let documents: Vec<_> = layers.iter().map(|text| Document::parse(*text).expect("YAML")).collect();
        let layers: Vec<_> = documents.iter().map(|doc| Layer::of(doc.roots().next().expect("a document"))).collect();
        let findings = review(old, new, &layers, &Named::default());
        let line = |finding: &Finding| {
            let verdict = match &finding.verdict {
                Verdict::Holds | Verdict::AnotherElement { .. } => return None,
                Verdict::DoesNotRender { .. } => "does not render".to_owned(),
                Verdict::Gone { moved_to: Some(to), .. } => format!("gone to {}", to.place),
                Verdict::Gone { .. } => "gone".to_owned(),
                Verdict::Hides(hidden) => {
                    let value = |value: &Option<Value>| value.as_ref().map_or("-".to_owned(), Value::to_string);
                    let copied = if hidden.copied == Copied::Original { ", copied" } else { "" };
                    format!("hides {} > {}{copied}", value(&hidden.original), value(&hidden.updated))
                }
                Verdict::OtherKind { .. } => "other kind".to_owned(),
                Verdict::Appears { updated } => format!("appears {updated}"),
                Verdict::NewlySame { .. } => "newly same".to_owned(),
                Verdict::Same => "same".to_owned(),
                Verdict::Nowhere => "nowhere".to_owned(),
                Verdict::Unknown(_) => "unknown".to_owned(),
            };
            Some(format!("{} {}: {verdict}", finding.layer, finding.place))
        };
        findings.iter().filter_map(line).collect()
    }

    /// What is said of values over a chart whose template uses each value.
    fn by_values(old: &str, new: &str, layers: &[&str]) -> Vec<String> {
        let all = "{{ range $k, $v := .Values }}{{ toYaml $v }}{{ end }}";
        let [old, new] = [old, new].map(|defaults| chart(defaults, all, ["", ""]));
        said(&old, &new, layers)
    }

    #[test]
    fn a_verdict_compares_both_defaults_with_what_is_over_them() {
        for (old, new, ours, expected) in [
            ("a: 1", "a: 1", "a: 2", &[][..]),
            ("a: 1", "a: 2", "a: 3", &["0 a: hides 1 > 2"]),
            ("a: 1", "a: 2", "a: 1", &["0 a: hides 1 > 2, copied"]),
            ("a: 1", "a: 2", "a: 2", &["0 a: newly same"]),
            ("a: 1", "a: 1", "a: 1", &["0 a: same"]),
            ("a: 1", "", "a: 2", &["0 a: hides 1 > -"]),
            ("", "a: 1", "a: 2", &["0 a: appears 1"]),
            ("", "a: 1", "a: 1", &["0 a: newly same"]),
            ("", "a: null", "a: 1", &[]),
            ("a: 1", "a: {b: 1}", "a: 2", &["0 a: other kind"]),
            ("a: {b: 1}", "a: x", "a: {b: 2}", &["0 a.b: other kind"]),
            ("a: {}", "a: []", "a: {b: {c: 2}}", &["0 a.b.c: other kind"]),
            ("", "a: [1]", "a: {b: 2}", &["0 a.b: other kind"]),
            ("a: [1]", "a: [1]", "a: {b: 2}", &[]),
            ("a: {}", "a: null", "a: {b: 2}", &[]),
            // A list is one place, a map is not.
            ("a: [1]", "a: [1, 2]", "a: [3]", &["0 a: hides [1] > [1, 2]"]),
            ("a: {b: 1}", "a: {b: 1, c: 2}", "a: {d: 3}", &[]),
            ("a: {b: 1}", "a: {b: 2}", "a: {}", &[]),
            // The formatting says nothing.
            ("a: yes", "a: no", "a: true", &["0 a: hides true > false, copied"]),
            ("a: 'x'", "a: \"x\"", "a: y", &[]),
            // A null takes the default away.
            ("a: 1", "a: 2", "a: null", &["0 a: hides 1 > 2"]),
        ] {
            assert_eq!(by_values(old, new, &[ours]), expected, "{old} / {new} / {ours}");
        }
    }

    #[test]
    fn a_layer_lies_over_those_before_it() {
        let both = ["a: 2", "a: 3"];
        assert_eq!(by_values("a: 1", "a: 4", &both), [""; 0]);
        assert_eq!(by_values("a: 1", "a: 2", &["b: 1", "a: 2"]), ["1 a: newly same"]);
        // Without the later layer, the earlier one would show.
        assert_eq!(by_values("a: 1", "a: 3", &both), [""; 0]);
        assert_eq!(by_values("a: 1", "a: 1", &["a: 3", "a: 3"]), ["1 a: same"]);
    }

    #[test]
    fn what_no_template_reads_is_gone_or_nowhere() {
        let [old, new] = ["a: {{ .Values.a }} {{ .Values.m.x }}", "a: {{ .Values.b }} {{ .Values.n.m.x }}"]
            .map(|template| chart("", template, ["", ""]));
        assert_eq!(said(&old, &new, &["a: 1\nb: 1\nc: 1"]), ["0 a: gone", "0 c: nowhere"]);
        let [old, new] = [("m: {x: 1}", &old), ("n: {m: {x: 1}}", &new)]
            .map(|(defaults, _)| chart(defaults, "{{ .Values.m.x }}", ["", ""]));
        // The default went, and the template still reads the place.
        assert_eq!(said(&old, &new, &["m: {x: 2}"]), ["0 m.x: hides 1 > -"]);
        let old = chart("m: {x: 1}", "{{ .Values.m.x }}", ["", ""]);
        let new = chart("n: {m: {x: 1}}", "{{ .Values.n.m.x }}", ["", ""]);
        assert_eq!(said(&old, &new, &["m: {x: 2}"]), ["0 m.x: gone to n.m.x"]);
        // A text of the values is run by `tpl`, so what it names is read.
        assert_eq!(said(&old, &new, &["m: {x: 2}\nt: '{{ .Values.m.x }}'"]), ["0 m.x: hides 1 > -", "0 t: nowhere"]);
        assert_eq!(said(&old, &new, &["m: {x: 2}\nt: '{{ .Values | toYaml }}'"]), ["0 m.x: hides 1 > -"]);
    }

    #[test]
    fn a_subchart_reads_below_its_alias_and_the_global_values() {
        let sub = |template| chart("data: {a: 1}\nglobal: {x: 1}", "", ["a: 0\nb: 0", template]);
        let old = sub("{{ .Values.a }} {{ .Values.b }} {{ .Values.global.x }}");
        let new = sub("{{ .Values.b }}");
        assert_eq!(
            said(&old, &new, &["data: {a: 2, b: 0, c: 1}"]),
            ["0 data.a: gone", "0 data.b: same", "0 data.c: nowhere"]
        );
        assert_eq!(said(&old, &new, &["global: {x: 2}"]), ["0 global.x: gone"]);
        assert_eq!(old.defaults.to_string(), r#"{"data": {"a": 1, "b": 0}, "global": {"x": 1}}"#);
    }

    #[test]
    fn what_others_read_is_not_gone() {
        let [old, new] = ["{{ .Values.a }}{{ .Values.b }}", ""].map(|template| chart("", template, ["", ""]));
        let document = Document::parse("a: 1\nb: 1\n").expect("YAML");
        let gone = |named: &Named| {
            let layer = Layer::of(document.roots().next().expect("a document"));
            let findings = review(&old, &new, &[layer], named);
            let is_gone = |finding: &&Finding| matches!(finding.verdict, Verdict::Gone { .. });
            findings.iter().filter(is_gone).map(|finding| finding.place.to_string()).collect::<Vec<_>>()
        };
        let mut named = Named::default();
        assert_eq!(gone(&named), ["a", "b"]);
        named.add_text("{{ .Values.web.a.x }} {{ .Values.b }}");
        assert_eq!(gone(&named.below("web", "global")), ["b"]);
        named.add_text("{{ toYaml .Values }}");
        assert_eq!(gone(&named.below("web", "global")), [""; 0]);
    }

    #[test]
    fn a_chart_whose_files_are_missing_is_unknown() {
        let files = [("Chart.yaml", "{name: a, dependencies: [{name: db}]}"), ("templates/a.yaml", "{{ .Values.a }}")];
        let files = files.map(|(path, text)| (path.to_owned(), text.as_bytes().to_vec()));
        let chart = Chart::read(&files.into()).expect("a chart");
        assert_eq!(said(&chart, &chart, &["db: {a: 1}\na: 1\nb: 1"]), ["0 db.a: unknown", "0 b: nowhere"]);
    }

    #[test]
    fn a_place_that_the_schema_requires_is_not_gone() {
        let chart = |template: &str| {
            let schema = r#"{"required": ["a"], "properties": {"m": {"required": ["x"]}}}"#;
            let files = [("Chart.yaml", "{name: a}"), ("templates/a.yaml", template), ("values.schema.json", schema)];
            Chart::read(&files.map(|(path, text)| (path.to_owned(), text.as_bytes().to_vec())).into()).expect("a chart")
        };
        let old = chart("{{ .Values.a }}{{ .Values.b }}{{ .Values.m.x }}{{ .Values.m.y }}");
        assert_eq!(said(&old, &chart(""), &["a: 1\nb: 1\nm: {x: 1, y: 1}"]), ["0 b: gone", "0 m.y: gone"]);
    }

    #[test]
    fn a_library_lays_its_defaults_below_the_values() {
        let library =
            r#"{{ define "all" }}{{ $_ := set . "Values" (merge .Values .Values.common) }}{{ .Values.a }}{{ end }}"#;
        let chart = |defaults: &str| {
            let files = [
                ("Chart.yaml", "{name: a, dependencies: [{name: common}]}"),
                ("templates/a.yaml", "{{ include \"all\" . }}"),
                ("charts/common/Chart.yaml", "{name: common, type: library}"),
                ("charts/common/values.yaml", defaults),
                ("charts/common/templates/a.tpl", library),
            ];
            Chart::read(&files.map(|(path, text)| (path.to_owned(), text.as_bytes().to_vec())).into()).expect("a chart")
        };
        assert_eq!(said(&chart("a: 1"), &chart("a: 2"), &["a: 3\nb: 1"]), ["0 a: hides 1 > 2", "0 b: nowhere"]);
    }

    #[test]
    fn a_release_over_itself_changes_nothing() {
        let chart = chart("a: 1\nm: {x: [1]}", "{{ .Values.a }}{{ toYaml .Values.m }}", ["b: 1", "{{ .Values.b }}"]);
        let ours = "a: 2\nm: {x: [1], y: 2}\nz: 1\ndata: {b: {c: 1}, d: 1}\nglobal: null";
        let quiet = |line: &String| line.ends_with(": same") || line.ends_with(": nowhere");
        assert!(said(&chart, &chart, &[ours, ours]).iter().all(quiet));
    }

    #[test]
    fn a_rebase_is_done_once() {
        let old = chart("m: {x: 1}\na: 1", "{{ .Values.m.x }}{{ .Values.a }}", ["", ""]);
        let new = chart("o: {m: {x: 1}}\na: 2", "{{ .Values.o.m.x }}{{ .Values.a }}", ["", ""]);
        let choose = |finding: &Finding| match finding.verdict {
            Verdict::Gone { moved_to: Some(_), .. } => Choice::Move,
            Verdict::NewlySame { .. } => Choice::Drop,
            _ => Choice::Keep,
        };
        let run = |old: &Chart, text: &str| {
            let document = Document::parse(text).expect("YAML");
            let layers = [Layer::of(document.roots().next().expect("a document"))];
            let edits = rebase(&layers, &review(old, &new, &layers, &Named::default()), choose).expect("edits");
            edits[0].apply(text, 0..text.len())
        };
        let text = run(&old, "# ours\na: 2\nm:\n  # why\n  x:   3 # three\n");
        assert_eq!(text, "o:\n  m:\n    # why\n    x: 3 # three\n");
        assert_eq!(run(&new, &text), text);
    }
}
