//! Whether a text is a template, which becomes YAML only when it is rendered.
//!
//! Most of such texts are no YAML, but `{{ .Name }}` alone can be read as a map whose key is a map. The text of a resource may have `{{`, too, as
//! a workflow of Argo does. So this is asked only of a text with which something is wrong.

/// What to do with a template.
pub const RENDER: &str = "it is a template: render it first, as `helm template` does, and use what that prints";

/// Whether an action of a template stands where YAML has a line, a value or an element.
pub fn is_template(text: &str) -> bool {
    text.contains("{{") && text.lines().any(|line| is_action(line.trim_start()))
}

fn is_action(line: &str) -> bool {
    let value = || line.split_once(": ").map(|(_, value)| value.trim_start());
    let element = line.strip_prefix("- ").map(str::trim_start);
    !line.starts_with('#')
        && (line.starts_with("{{") || element.is_some_and(is_action) || value().is_some_and(|v| v.starts_with("{{")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_action_of_its_own_makes_a_template() {
        for (text, want) in [
            ("a: {{ .Name }}\n", true),
            ("a:\n{{- if .on }}\n", true),
            ("- {{ .x }}\n", true),
            ("- a: {{ .x }}\n", true),
            ("a: \"{{ .x }}\"\n", false),
            ("# {{ x }}\n#a: {{ x }}\n", false),
            ("a: {b: 1}\n", false),
        ] {
            assert_eq!(is_template(text), want, "{text}");
        }
    }
}
