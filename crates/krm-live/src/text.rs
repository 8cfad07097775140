//! Writes an object of a cluster as YAML that the merge reads as the same object.
//!
//! The values that the merge reads from this text are sent. So each string is quoted by the merge's own rules: other printers write a bare
//! `1_000`, which is a number here.

use krm_yaml::{plain_or_quoted, quoted_json};
use serde_json::Value;

/// A value as block YAML, in kubectl's layout. Texts of several lines are written line by line, because people read them in a diff.
pub fn yaml(value: &Value) -> String {
    let mut out = String::new();
    match is_block(value) {
        true => block(value, 0, &mut out),
        false => inline(value, 0, &mut out),
    }
    out
}

/// The longest key that can be written without a `?`, in characters. Source: YAML 1.2.2, "Implicit keys".
const LONG: usize = 1000;

fn is_block(value: &Value) -> bool {
    value.as_object().is_some_and(|map| !map.is_empty()) || value.as_array().is_some_and(|list| !list.is_empty())
}

/// Writes a map or a list. The caller has already indented the first line.
fn block(value: &Value, depth: usize, out: &mut String) {
    let mut is_first = true;
    let mut begin = |out: &mut String| {
        if !std::mem::take(&mut is_first) {
            out.push_str(&"  ".repeat(depth));
        }
    };
    for (key, value) in value.as_object().into_iter().flatten() {
        begin(out);
        let key = plain_or_quoted(key);
        if key.chars().count() > LONG {
            out.push_str(&format!("? {key}\n{}", "  ".repeat(depth)));
        } else {
            out.push_str(&key);
        }
        out.push(':');
        match value {
            Value::Object(map) if !map.is_empty() => {
                out.push_str(&format!("\n{}", "  ".repeat(depth + 1)));
                block(value, depth + 1, out);
            }
            Value::Array(list) if !list.is_empty() => {
                out.push_str(&format!("\n{}", "  ".repeat(depth)));
                block(value, depth, out);
            }
            _ => {
                out.push(' ');
                inline(value, depth + 1, out);
            }
        }
    }
    for value in value.as_array().into_iter().flatten() {
        begin(out);
        out.push_str("- ");
        match is_block(value) {
            true => block(value, depth + 1, out),
            false => inline(value, depth + 1, out),
        }
    }
}

/// Writes a value that begins on the line of its key or dash. `depth` is the indentation of the lines of a text.
fn inline(value: &Value, depth: usize, out: &mut String) {
    match value {
        Value::String(text) if is_text(text) => {
            let body = text.trim_end_matches('\n');
            let keep = match text.len() - body.len() {
                0 => "-",
                1 => "",
                _ => "+",
            };
            out.push_str(&format!("|{keep}\n"));
            for line in text.split_inclusive('\n') {
                let bare = line.trim_end_matches('\n');
                out.push_str(&if bare.is_empty() { String::new() } else { "  ".repeat(depth) });
                out.push_str(&format!("{bare}\n"));
            }
        }
        Value::String(text) if text.contains('\n') => out.push_str(&format!("{}\n", quoted_json(text))),
        Value::String(text) => out.push_str(&format!("{}\n", plain_or_quoted(text))),
        other => out.push_str(&format!("{other}\n")),
    }
}

/// Whether a string can be written line by line: its first line sets the indentation, and no character needs an escape.
fn is_text(text: &str) -> bool {
    let is_bare = |c: char| match c {
        '\n' | '\t' | '"' | '\\' => true,
        c => quoted_json(c.encode_utf8(&mut [0; 4])).len() == c.len_utf8() + 2,
    };
    text.contains('\n') && !text.starts_with(char::is_whitespace) && text.chars().all(is_bare)
}

/// The JSON value of a text that this program wrote; `None` if it is none.
pub fn read_back(text: &Option<Vec<u8>>) -> Option<serde_json::Value> {
    yaml_serde::from_slice(text.as_deref()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use krm_tree::limit::Budget;
    use krm_tree::splice::to_json;
    use krm_yaml::Document;
    use serde_json::json;

    fn check(value: &Value) {
        let text = yaml(value);
        let document = Document::parse(text.as_str()).unwrap_or_else(|e| panic!("{e}\n{text}"));
        let read = to_json(document.roots().next().expect("a root"), &Budget::default()).expect("a small text");
        assert_eq!(&serde_json::from_str::<Value>(&read).expect("JSON"), value, "{text}");
    }

    #[test]
    fn it_is_laid_out_as_kubectl_does_it() {
        let value =
            json!({"a": {"b": [{"c": 1, "d": []}, [true, null], "yes"]}, "e": "x\n\n  y\n", "f": ["- z\nz"], "g": {}});
        let want = "a:\n  b:\n  - c: 1\n    d: []\n  - - true\n    - null\n  - \"yes\"\ne: |\n  x\n\n    y\nf:\n- |-\n  - z\n  z\ng: {}\n";
        assert_eq!(yaml(&value), want);
        check(&value);
    }

    /// A map of labels or of data may have such a key where nobody validates it, as in a custom resource.
    #[test]
    fn a_long_key_is_read_as_it_is() {
        for key in ["k".repeat(2000), "\"é\n".repeat(500), format!("{}: #", "k".repeat(1000))] {
            for value in [json!("x"), json!("x\ny\n"), json!({"a": 1}), json!([1, {"b": 2}]), json!({}), json!(null)] {
                check(&json!({"spec": {"first": 1, key.clone(): value, "last": [{key.clone(): value}]}}));
            }
        }
    }

    /// The merge reads what is written for it, and what it reads is sent.
    #[test]
    fn it_is_read_as_the_same_value() {
        let texts = [
            "",
            " ",
            "~",
            "null",
            "Null",
            "true",
            "yes",
            "No",
            "on",
            "off",
            "y",
            "n",
            "0",
            "00",
            "012",
            "0o12",
            "0x1F",
            "0b1",
            "1_000",
            "+1",
            "-1",
            "1.",
            ".5",
            "1.0",
            "1e3",
            "1E+3",
            "1e",
            ".inf",
            "-.Inf",
            ".nan",
            "NaN",
            "12:30",
            "1:2:3",
            "190:20:30.15",
            "2001-01-01",
            "2001-01-01T00:00:00Z",
            "=",
            "<<",
            "-",
            "- a",
            "?",
            "? a",
            ":",
            "a: b",
            "a:",
            ":a",
            "#",
            "a #b",
            "#a",
            "@a",
            "`a",
            "%a",
            "&a",
            "*a",
            "!a",
            "!!str",
            "|",
            ">",
            "|-",
            "'",
            "\"",
            "''",
            "[a",
            "{a",
            "]",
            "}",
            ",",
            "a,b",
            "---",
            "...",
            "--- a",
            "a\nb",
            "a\nb\n",
            "a\n\n",
            "\n",
            "\na",
            "\n\n a\n",
            " a\nb\n",
            "\ta\nb\n",
            "a\n b",
            "a \nb\n",
            "a\n \nb\n",
            "a\n\t\nb",
            "a\rb",
            "a\r\nb\r\n",
            "\r",
            "\t",
            "a\t",
            "\ta",
            "\u{85}",
            "a\u{85}b\nc\n",
            "\u{2028}",
            "a\u{2028}b\nc\n",
            "\u{feff}",
            "\u{feff}a\nb\n",
            "\u{0}",
            "a\u{7}b",
            "\u{7f}",
            "\u{a0}",
            "\u{fffe}",
            "\u{1f600}",
            "é\n",
            "a\n---\nb\n",
            "a\n...\n",
            "---\na\n",
            "...\n",
            "# a\nb\n",
            "%a\nb\n",
            "\\",
            "a\\nb",
            "\u{1b}[31m",
            "9223372036854775808",
            "1e400",
            "0.1e-400",
        ];
        let long = "word ".repeat(60);
        for text in texts.into_iter().chain([long.as_str()]) {
            check(&json!({text: text, "map": {text: text}, "list": [text, [text, text], {text: [text]}], "end": text}));
        }
        for number in
            ["1", "-1", "0", "1.5", "1e300", "9223372036854775807", "18446744073709551615", "0.1", "1e-7", "1e20"]
        {
            let number: Value = serde_json::from_str(number).expect("a number");
            check(&json!({"a": number, "b": [number]}));
        }
        check(&json!({}));
    }
}
