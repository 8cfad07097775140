//! [`changed_defaults`]: the defaults that a new release changes, and that no layer hides.

use krm_tree::path::FieldPath;

use crate::chart::Chart;
use crate::compared::hidden_as;
use crate::reads::Says;
use crate::review::{Layer, path_of};
use crate::values::Value;
use crate::verdict::HiddenAs;

/// A default that a new release changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangedDefault {
    /// The place in the values of the chart. A list is one place, and so is a map that only one release has.
    pub place: FieldPath<'static>,
    /// The default of the old release; `None` if it has none.
    pub original: Option<Value>,
    /// The default of the new release; `None` if it has none.
    pub updated: Option<Value>,
    /// What kind of value it is.
    pub changed_as: HiddenAs,
}

/// The defaults that the new release changes where no layer says anything, in the order of their names. What no template reads is left out.
pub fn changed_defaults(old: &Chart, new: &Chart, layers: &[Layer<'_>]) -> Vec<ChangedDefault> {
    let layers: Vec<Value> = layers.iter().map(Layer::value).collect();
    let mut walk = Walk { charts: [old, new], path: Vec::new(), found: Vec::new() };
    walk.compare([Some(&old.defaults), Some(&new.defaults)], &layers.iter().collect::<Vec<_>>());
    walk.found
}

struct Walk<'c> {
    charts: [&'c Chart; 2],
    path: Vec<String>,
    found: Vec<ChangedDefault>,
}

impl Walk<'_> {
    /// Compares the defaults of a place. `ours` is what the layers say there.
    fn compare(&mut self, defaults: [Option<&Value>; 2], ours: &[&Value]) {
        let has_fields = |value: &&Value| matches!(value, Value::Map(fields) if !fields.is_empty());
        if defaults[0] == defaults[1] || !ours.iter().all(|value| matches!(value, Value::Map(_))) {
            return;
        }
        let fields = defaults.map(|value| match value {
            Some(Value::Map(fields)) => Some(fields),
            _ => None,
        });
        let (is_told_in_parts, [before, after]) = (ours.iter().any(has_fields), fields);
        if !(is_told_in_parts || (before.is_some() && after.is_some())) {
            self.add(defaults);
            return;
        }
        let mut names: Vec<&String> = before.into_iter().chain(after).flat_map(|fields| fields.keys()).collect();
        names.sort_unstable();
        names.dedup();
        for name in names {
            let below: Vec<&Value> = ours.iter().filter_map(|value| value.field(name)).collect();
            self.path.push(name.clone());
            self.compare(defaults.map(|value| value.and_then(|value| value.field(name))), &below);
            self.path.pop();
        }
    }

    fn add(&mut self, defaults: [Option<&Value>; 2]) {
        let is_read = |chart: &&Chart| chart.reads.read(&self.path, Says::Value, &chart.defaults);
        let Some(shown) = defaults[1].or(defaults[0]).filter(|_| self.charts.iter().any(is_read)) else { return };
        self.found.push(ChangedDefault {
            place: path_of(&self.path),
            original: defaults[0].cloned(),
            updated: defaults[1].cloned(),
            changed_as: hidden_as(self.path.last().map_or("", String::as_str), shown),
        });
    }
}

#[cfg(test)]
mod tests {
    use krm_yaml::Document;

    use super::*;

    fn chart(defaults: &str) -> Chart {
        let template = "{{ .Values.a }}{{ toYaml .Values.m }}{{ toYaml .Values.n }}{{ toYaml .Values.image }}";
        let files = [("Chart.yaml", "name: web"), ("values.yaml", defaults), ("templates/a.yaml", template)];
        Chart::read(&files.map(|(path, text)| (path.to_owned(), text.as_bytes().to_vec())).into()).expect("a chart")
    }

    #[test]
    fn a_default_that_nobody_hides_is_told_once() {
        for (old, new, ours, expected) in [
            ("a: 1", "a: 1", "{}", &[][..]),
            ("a: 1", "a: 2", "{}", &["a: 1 > 2"]),
            ("a: 1", "a: 2", "a: 3", &[]),
            ("a: [1]", "a: [2]", "b: 3", &["a: [1] > [2]"]),
            // Nobody reads it.
            ("x: 1", "x: 2", "{}", &[]),
            ("m: {x: 1, y: {z: 1}}", "m: {x: 2, y: {z: 1, w: 2}}", "m: {x: 3}", &["m.y.w: - > 2"]),
            // What is new or gone as a whole is one place, unless somebody says a part of it.
            ("", "m: {x: 1, y: 2}", "{}", &["m: - > {\"x\": 1, \"y\": 2}"]),
            ("m: {x: 1, y: 2}", "", "m: {}", &["m: {\"x\": 1, \"y\": 2} > -"]),
            ("", "m: {x: 1, y: 2}", "m: {x: 5}", &["m.y: - > 2"]),
            ("m: {x: 1}", "m: a", "{}", &["m: {\"x\": 1} > \"a\""]),
            ("m: {x: 1}", "m: {x: 2}", "m: null", &[]),
            ("image: {tag: 1}", "image: {tag: 2}", "{}", &["image.tag: 1 > 2, image"]),
        ] {
            let document = Document::parse(ours).expect("YAML");
            let layers = [Layer::of(document.roots().next().expect("a document"))];
            let shown = |value: &Option<Value>| value.as_ref().map_or("-".to_owned(), Value::to_string);
            let told = changed_defaults(&chart(old), &chart(new), &layers).into_iter().map(|one| {
                let image = if one.changed_as == HiddenAs::Image { ", image" } else { "" };
                format!("{}: {} > {}{image}", one.place, shown(&one.original), shown(&one.updated))
            });
            assert_eq!(told.collect::<Vec<_>>(), expected, "{old} {new} {ours}");
        }
    }
}
