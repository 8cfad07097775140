//! [`Reads`]: which places in the values of a chart its templates read.
//!
//! The templates are walked with sets of things that each expression may be ([`run`]). What cannot be known counts as read.

mod functions;
mod places;
mod run;
mod template;

use places::Places;
pub use places::Says;

use crate::values::Value;

/// The templates of a chart, and those of the charts in it.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    /// The files that helm renders.
    pub rendered: Vec<Source>,
    /// The files that only define templates.
    pub definitions: Vec<Source>,
    /// Texts that a template may read and run: files beside the templates, and defaults with actions.
    pub texts: Vec<String>,
    /// Places that `Chart.yaml` names, such as the condition of a dependency.
    pub named: Vec<Vec<String>>,
    /// The charts in it, each with the field of its values.
    pub subcharts: Vec<(String, Sources)>,
    /// A chart that it needs, and whose files are missing.
    pub missing: Option<String>,
}

/// A file with a template.
#[derive(Clone, Debug)]
pub struct Source {
    /// Its path from the folder of the outermost chart on.
    pub file: String,
    /// Its text.
    pub text: String,
}

/// Which places in the values of a chart its templates read.
#[derive(Clone, Debug)]
pub struct Reads {
    places: Places,
    /// Why it is not known what they read; then all of it counts as read.
    pub unknown: Option<Blind>,
    /// Places whose values a template also takes as those of the whole: `common` of a library that merges its own defaults into the values.
    pub at_the_root: Vec<Vec<String>>,
}

/// Why it is not known what templates read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Blind {
    /// The files of this chart are missing.
    NoSubchart(String),
    /// A template of this file uses all values at once.
    All(String),
    /// The template in this file is broken.
    Broken(String),
    /// The templates take too many steps.
    TooLarge,
    /// Nobody gave the templates.
    NoTemplates,
}

impl Reads {
    /// What these templates read.
    pub fn of(sources: &Sources) -> Self {
        run::Run::all(sources)
    }

    /// What templates read of which nothing is known, and why.
    pub fn not_known(why: Blind) -> Self {
        Self { places: Places::new(), unknown: Some(why), at_the_root: Vec::new() }
    }

    /// Whether a place is read. The defaults are those of the chart.
    pub fn read(&self, path: &[String], says: Says, defaults: &Value) -> bool {
        self.unknown.is_some() || self.places.are_read(path, says, defaults)
    }
}

/// The places that a text names in its actions, such as `{{ .Values.host }}`; `None` if it takes more than places with names.
pub fn named_in(text: &str) -> Option<Vec<Vec<String>>> {
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    let mut found = Vec::new();
    if !text.contains("{{") {
        return Some(found);
    }
    for (at, values) in text.match_indices(".Values") {
        let mut rest = &text[at + values.len()..];
        let mut path = Vec::new();
        while let Some(field) = rest.strip_prefix('.') {
            let end = field.find(|c| !is_name(c)).unwrap_or(field.len());
            path.extend(Some(field[..end].to_owned()).filter(|name| !name.is_empty()));
            rest = &field[end..];
        }
        found.push(Some(path).filter(|path| !path.is_empty())?);
    }
    Some(found)
}

/// Places of values that others than the templates of the chart read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Named {
    /// These places.
    Places(Vec<Vec<String>>),
    /// They may read any.
    Any,
}

impl Default for Named {
    fn default() -> Self {
        Self::Places(Vec::new())
    }
}

impl Named {
    /// Adds a place.
    pub fn add(&mut self, place: Vec<String>) {
        if let Self::Places(places) = self {
            places.push(place);
        }
    }

    /// Adds the places that a text names in its actions.
    pub fn add_text(&mut self, text: &str) {
        match named_in(text) {
            Some(places) => places.into_iter().for_each(|place| self.add(place)),
            None => *self = Self::Any,
        }
    }

    /// Those in the values of a dependency, whose values have this key in those of the chart. All charts see the `global` ones.
    pub fn below(&self, key: &str, global: &str) -> Self {
        let Self::Places(places) = self else { return Self::Any };
        let below = places.iter().filter_map(|place| match place.split_first() {
            Some((first, rest)) if first == key => Some(rest.to_vec()),
            Some((first, _)) if first != global => None,
            _ => Some(place.clone()),
        });
        Self::Places(below.collect())
    }

    /// Whether one of them is this place, something in it, or something that it is in.
    pub fn meets(&self, path: &[String]) -> bool {
        match self {
            Self::Places(places) => places.iter().any(|named| named.iter().zip(path).all(|(one, other)| one == other)),
            Self::Any => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(text: &str) -> Source {
        Source { file: "templates/a.yaml".to_owned(), text: text.to_owned() }
    }

    /// What is read of these places: one template, one library, and defaults that have all maps.
    fn read(template: &str, library: &str) -> Vec<&'static str> {
        let sources =
            Sources { rendered: vec![source(template)], definitions: vec![source(library)], ..Sources::default() };
        let reads = Reads::of(&sources);
        let map =
            |names: &[&str]| Value::Map(names.iter().map(|name| ((*name).to_owned(), Value::string("1"))).collect());
        let defaults = Value::Map(["a", "m"].map(|name| (name.to_owned(), map(&["x", "y"]))).into());
        let all = ["a.x", "a.y", "m.x", "m.y", "b"];
        let path = |place: &str| place.split('.').map(str::to_owned).collect::<Vec<_>>();
        all.into_iter().filter(|place| reads.read(&path(place), Says::Value, &defaults)).collect()
    }

    #[test]
    fn a_place_is_read_if_a_template_uses_it_or_what_it_is_in() {
        let all = ["a.x", "a.y", "m.x", "m.y", "b"];
        for (template, library, expected) in [
            ("a", "", &[][..]),
            ("{{ .Values.b }}", "", &["b"]),
            ("{{ .Values.a.x }}", "", &["a.x"]),
            ("{{ $.Values.a.x | quote }}", "", &["a.x"]),
            ("{{ index .Values \"a\" \"x\" }}", "", &["a.x"]),
            ("{{ (index .Values \"a\").x }}", "", &["a.x"]),
            ("{{ toYaml .Values.a | nindent 2 }}", "", &["a.x", "a.y"]),
            // A condition reads no field of a map.
            ("{{ if .Values.a }}a{{ end }}", "", &[]),
            ("{{ if .Values.b }}a{{ end }}", "", &["b"]),
            ("{{ if .Values.c }}{{ else if .Values.b }}{{ end }}", "", &["b"]),
            ("{{ with .Values.a }}{{ .x }}{{ end }}", "", &["a.x"]),
            ("{{ with .Values.a }}{{ else }}{{ .Values.b }}{{ end }}", "", &["b"]),
            ("{{ range .Values.a }}{{ end }}", "", &["a.x", "a.y"]),
            ("{{ range $k, $v := .Values.a }}{{ $v }}{{ end }}", "", &["a.x", "a.y"]),
            ("{{ range .Values }}{{ .x }}{{ end }}", "", &["a.x", "m.x", "b"]),
            // A variable and a map of the template lead on.
            ("{{ $a := .Values.a }}{{ $a.y }}", "", &["a.y"]),
            ("{{ $a := .Values.a }}", "", &[]),
            ("{{ $a := dict }}{{ if .c }}{{ $a = .Values.a }}{{ end }}{{ $a.y }}", "", &["a.y"]),
            ("{{ $d := dict \"v\" .Values.a }}{{ $d.v.x }}", "", &["a.x"]),
            ("{{ $d := dict }}{{ $_ := set $d \"v\" .Values.a }}{{ $d.v.x }}", "", &["a.x"]),
            ("{{ (index (list 1 .Values.a) 1).x }}", "", &["a.x"]),
            ("{{ (merge (deepCopy .Values.a) .Values.m).x }}", "", &["a.x", "m.x"]),
            ("{{ (.Values.c | default .Values.a).x }}", "", &["a.x"]),
            ("{{ dig \"a\" \"x\" 1 .Values }}", "", &["a.x"]),
            ("{{ get .Values.a \"x\" }}{{ hasKey .Values.m \"y\" }}", "", &["a.x", "m.y"]),
            ("{{ range $n := list \"x\" }}{{ index $.Values.a $n }}{{ end }}", "", &["a.x"]),
            ("{{ index .Values.a .Chart.Name }}", "", &["a.x", "a.y"]),
            ("{{ (.Values.a | toYaml | fromYaml).x }}", "", &["a.x"]),
            ("{{ tpl \"{{ .Values.a.x }}\" . }}", "", &["a.x"]),
            ("{{ $_ := set . \"Values\" (merge .Values.a .Values) }}{{ .Values.x }}", "", &["a.x"]),
            // A template is followed where it is used.
            ("{{ include \"f\" . }}", "{{ define \"f\" }}{{ .Values.a.x }}{{ end }}", &["a.x"]),
            ("{{ include \"g\" . }}", "{{ define \"f\" }}{{ .Values.a.x }}{{ end }}", &[]),
            ("{{ include \"f\" .Values.a }}", "{{ define \"f\" }}{{ .x }}{{ end }}", &["a.x"]),
            ("{{ template \"f\" .Values.a }}", "{{ define \"f\" }}{{ .x }}{{ end }}", &["a.x"]),
            ("{{ include (printf \"%s.g\" \"f\") . }}", "{{ define \"f.g\" }}{{ .Values.b }}{{ end }}", &["b"]),
            ("{{ include (printf \"%s.g\" .Chart.Name) . }}", "{{ define \"f.g\" }}{{ .Values.b }}{{ end }}", &["b"]),
            ("{{ (include \"f\" . | fromYaml).y }}", "{{ define \"f\" }}{{ toYaml .Values.a }}{{ end }}", &["a.y"]),
            (
                "{{ (include \"f\" . | fromYaml).y }}",
                "{{ define \"f\" }}k: {{ toYaml .Values.a }}{{ end }}",
                &["a.x", "a.y"],
            ),
            ("{{ include \"f\" .Values.a }}", "{{ define \"f\" }}{{ .y }}{{ include \"f\" .c }}{{ end }}", &["a.y"]),
            // What cannot be known counts as read.
            ("{{ toYaml .Values }}", "", &all),
            ("{{ . }}", "", &all),
            ("{{ include .Values.b . }}", "", &all),
            ("{{ if }}", "", &all),
            ("{{ .Subcharts.a }}", "", &all),
        ] {
            assert_eq!(read(template, library), expected, "{template} {library}");
        }
    }

    #[test]
    fn a_condition_reads_a_map_that_the_defaults_lack() {
        let sources = Sources { rendered: vec![source("{{ if .Values.n }}a{{ end }}")], ..Sources::default() };
        assert!(Reads::of(&sources).read(&["n".to_owned(), "x".to_owned()], Says::Value, &Value::empty()));
    }

    #[test]
    fn no_text_panics() {
        let text = "{{- /* é */ -}}{{ define \"f\" }}{{ $é, $b := .Values.a }}{{ end }}{{ range $k, $v := `x` }}{{ 'é' | printf \"\\\"%s é\" 1.5 -2 }}\
            {{ else if and (.a.b) $.c }}{{ include \"f\" (dict \"é\" . \"\\n\" 1) | nindent 2 }}{{- end -}}";
        let letters: Vec<char> = text.chars().collect();
        for at in 0..letters.len() {
            for other in ['{', '}', '"', '`', '\\', '(', ')', '.', '$', '|', ' ', '-', '\'', 'é', '\u{1}'] {
                let changed: String =
                    letters.iter().enumerate().map(|(i, c)| if i == at { other } else { *c }).collect();
                Reads::of(&Sources { rendered: vec![source(&changed)], texts: vec![changed], ..Sources::default() });
            }
            Reads::of(&Sources {
                rendered: vec![source(&letters[at..].iter().collect::<String>())],
                ..Sources::default()
            });
        }
    }

    #[test]
    fn a_hostile_chart_takes_few_steps() {
        let calls = (0..2000).map(|n| {
            format!(
                "{{{{ define \"{n}\" }}}}{0}{0}{{{{ end }}}}",
                format!("{{{{ include \"{}\" (dict \"a\" .) }}}}", n + 1)
            )
        });
        let sources = Sources {
            rendered: vec![source("{{ include \"0\" . }}")],
            definitions: vec![source(&calls.collect::<String>())],
            ..Sources::default()
        };
        assert_eq!(Reads::of(&sources).unknown, Some(Blind::TooLarge));
        let itself =
            "{{ define \"f\" }}{{ include \"f\" (dict \"a\" .a \"b\" .) }}{{ include \"f\" (list . .b) }}{{ end }}";
        let sources = Sources {
            rendered: vec![source("{{ include \"f\" .Values }}")],
            definitions: vec![source(itself)],
            ..Sources::default()
        };
        assert_eq!(Reads::of(&sources).unknown, None);
    }
}
