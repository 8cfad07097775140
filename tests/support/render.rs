//! Values as YAML text in many styles: what a person, kpt, kustomize or a JSON tool might have written.
//!
//! Every choice is drawn from a string of bytes, so that proptest can shrink it.

use serde_json::Value;

/// The choices of one document.
pub struct Style<'b> {
    bytes: std::iter::Cycle<std::slice::Iter<'b, u8>>,
    indent: usize,
    list_offset: usize,
    comments: usize,
}

impl<'b> Style<'b> {
    /// From at least one byte.
    pub fn new(bytes: &'b [u8]) -> Self {
        let mut style = Self { bytes: bytes.iter().cycle(), indent: 2, list_offset: 0, comments: 0 };
        style.indent = if style.one_in(3) { 4 } else { 2 };
        style.list_offset = if style.one_in(2) { 2 } else { 0 };
        style
    }

    fn one_in(&mut self, n: u8) -> bool {
        self.bytes.next().is_some_and(|b| b % n == 0)
    }

    fn comment(&mut self) -> String {
        self.comments += 1;
        format!("# c{}", self.comments)
    }

    /// A map as a block document.
    pub fn document(&mut self, value: &Value) -> String {
        let mut out = String::new();
        self.block(value, 0, &mut out);
        out
    }

    fn block(&mut self, value: &Value, column: usize, out: &mut String) {
        let pad = " ".repeat(column);
        let children: Vec<(Option<&String>, &Value)> = match value {
            Value::Object(map) => map.iter().map(|(k, v)| (Some(k), v)).collect(),
            Value::Array(list) => list.iter().map(|v| (None, v)).collect(),
            _ => Vec::new(),
        };
        let mut inline = out.ends_with("- ");
        for (key, value) in children {
            if !inline {
                if self.one_in(7) {
                    out.push('\n');
                }
                if self.one_in(5) {
                    out.push_str(&format!("{pad}{}\n", self.comment()));
                }
                out.push_str(&pad);
            }
            inline = false;
            match key {
                Some(key) => out.push_str(&format!("{key}:")),
                None => out.push('-'),
            }
            let is_container =
                matches!(value, Value::Object(m) if !m.is_empty()) || matches!(value, Value::Array(l) if !l.is_empty());
            if is_container && !self.one_in(5) {
                if key.is_none() && !self.one_in(4) {
                    out.push(' ');
                    self.block(value, column + 2, out);
                    continue;
                }
                if self.one_in(4) {
                    out.push(' ');
                    out.push_str(&self.comment());
                }
                out.push('\n');
                let deeper = match value {
                    _ if key.is_none() => 2,
                    Value::Array(_) => self.list_offset,
                    _ => self.indent,
                };
                self.block(value, column + deeper, out);
                if self.one_in(6) {
                    out.push_str(&format!("{}{}\n", " ".repeat(column + deeper + 1), self.comment()));
                }
                continue;
            }
            let text = match value {
                Value::String(s) if s.contains('\n') => {
                    let chomp = if s.ends_with('\n') { "" } else { "-" };
                    let body: String = s
                        .trim_end_matches('\n')
                        .split('\n')
                        .map(|l| format!("\n{pad}{}{l}", " ".repeat(self.indent)))
                        .collect();
                    format!("|{chomp}{body}")
                }
                other => self.flow(other),
            };
            let behind =
                if text.contains('\n') || !self.one_in(4) { String::new() } else { format!(" {}", self.comment()) };
            out.push_str(&format!(" {text}{behind}\n"));
        }
    }

    fn flow(&mut self, value: &Value) -> String {
        match value {
            Value::Object(map) => {
                let children: Vec<String> = map.iter().map(|(k, v)| format!("{k}: {}", self.flow(v))).collect();
                format!("{{{}}}", children.join(if self.one_in(3) { "," } else { ", " }))
            }
            Value::Array(list) => {
                let children: Vec<String> = list.iter().map(|v| self.flow(v)).collect();
                format!("[{}]", children.join(", "))
            }
            Value::String(s) => {
                let bare = !s.is_empty()
                    && s.bytes().all(|b| b.is_ascii_lowercase())
                    && !["y", "n", "no", "on"].contains(&s.as_str());
                match () {
                    () if bare && !self.one_in(4) => s.clone(),
                    () if !s.contains('\n') && self.one_in(2) => format!("'{}'", s.replace('\'', "''")),
                    () => value.to_string(),
                }
            }
            Value::Null if self.one_in(2) => "~".into(),
            other => other.to_string(),
        }
    }
}
