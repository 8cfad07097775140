//! Values as YAML text in many styles: what a person, kpt, kustomize or a JSON tool might have written.
//!
//! Every choice is drawn from a string of bytes, so that proptest can shrink it.

use serde_json::Value;

/// Texts of each shape: of several lines with each end, with tabs and line breaks of other readers, and what must be quoted.
#[allow(dead_code, reason = "each test file uses its part")]
pub const TEXTS: [&str; 28] = [
    "a",
    "b",
    "web",
    "two\nlines\n",
    "no\nend",
    "kept\n\n",
    "one\n\n two\n",
    " lead\nx\n",
    "\n",
    "\n\n",
    "\tx\ny",
    "a\tb",
    "yes",
    "1",
    "",
    "~",
    "# c",
    "x # y",
    "a: b",
    "- a",
    "it's",
    "\"",
    "x\u{2028}y",
    "x\u{85}\u{2029}",
    "é",
    "\u{feff}x",
    "---",
    "x\r\ny",
];

/// The choices of one document.
pub struct Style<'b> {
    bytes: std::iter::Cycle<std::slice::Iter<'b, u8>>,
    indent: usize,
    list_offset: usize,
    comments: usize,
    /// Whether a blank line here would belong to the text before it.
    is_kept: bool,
}

/// The most characters of a key without a `?`.
const KEY: usize = 1000;

impl<'b> Style<'b> {
    /// From at least one byte.
    pub fn new(bytes: &'b [u8]) -> Self {
        let mut style = Self { bytes: bytes.iter().cycle(), indent: 2, list_offset: 0, comments: 0, is_kept: false };
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
                if self.one_in(7) && !self.is_kept {
                    out.push_str(if self.one_in(3) { "  \n" } else { "\n" });
                }
                self.is_kept = false;
                if self.one_in(5) {
                    out.push_str(&format!("{pad}{}\n", self.comment()));
                }
                out.push_str(&pad);
            }
            inline = false;
            self.is_kept = false;
            match key {
                Some(key) if key.len() > KEY => out.push_str(&format!("? {}\n{pad}:", self.key(key))),
                Some(key) => out.push_str(&format!("{}:", self.key(key))),
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
                // The parser refuses a comment at this column after a text of blank lines.
                if self.one_in(6) && !self.is_kept {
                    out.push_str(&format!("{}{}\n", " ".repeat(column + deeper + 1), self.comment()));
                }
                continue;
            }
            match value {
                Value::String(text) if fits_block(text) && !self.one_in(6) => self.lines(text, &pad, out),
                scalar => {
                    let blank = if key.is_some() && self.one_in(16) { '\t' } else { ' ' };
                    let text = self.flow(scalar);
                    out.push_str(&format!("{blank}{text}"));
                    if self.one_in(4) {
                        let blank = if self.one_in(4) { '\t' } else { ' ' };
                        out.push_str(&format!("{blank}{}", self.comment()));
                    }
                    out.push('\n');
                }
            }
        }
    }

    /// A text as a block scalar, with each header that it may have and each end.
    fn lines(&mut self, text: &str, pad: &str, out: &mut String) {
        let content = text.trim_end_matches('\n');
        let breaks = text.len() - content.len();
        let keeps = breaks != 0 && (breaks > 1 || content.is_empty() || self.one_in(4));
        let chomping = if keeps { "+" } else { ["-", ""][breaks.min(1)] };
        let is_folded = content.split('\n').all(|line| !line.starts_with([' ', '\t'])) && self.one_in(4);
        let needs_digit = content.trim_start_matches('\n').starts_with([' ', '\t']);
        let digit = if needs_digit || self.one_in(5) { self.indent.to_string() } else { String::new() };
        let marks = if self.one_in(2) { [digit.as_str(), chomping] } else { [chomping, &digit] }.concat();
        out.push_str(&format!(" {}{marks}", if is_folded { '>' } else { '|' }));
        if self.one_in(6) {
            out.push_str(&format!(" {}", self.comment()));
        }
        out.push('\n');
        let mut is_first = true;
        for line in content.split('\n').filter(|_| !content.is_empty()) {
            if line.is_empty() {
                out.push('\n');
                continue;
            }
            // A line break alone would be folded.
            if is_folded && !is_first {
                out.push('\n');
            }
            is_first = false;
            out.push_str(&format!("{pad}{}{line}\n", " ".repeat(self.indent)));
        }
        match keeps {
            true => out.push_str(&"\n".repeat(if content.is_empty() { breaks } else { breaks - 1 })),
            false if self.one_in(5) => out.push_str("\n\n"),
            false => {}
        }
        self.is_kept = keeps;
    }

    fn key(&mut self, key: &str) -> String {
        let is_bare = !key.is_empty() && key.chars().all(|c| c.is_ascii_alphanumeric() || "$/.-_".contains(c));
        if is_bare && !self.one_in(12) { key.to_owned() } else { Value::from(key).to_string() }
    }

    fn flow(&mut self, value: &Value) -> String {
        match value {
            Value::Object(map) => {
                let entry = |(key, value): (&String, &Value)| match key.len() > KEY {
                    true => format!("? {} : {}", self.key(key), self.flow(value)),
                    false => format!("{}: {}", self.key(key), self.flow(value)),
                };
                let children: Vec<String> = map.iter().map(entry).collect();
                format!("{{{}}}", children.join(if self.one_in(3) { "," } else { ", " }))
            }
            Value::Array(list) => {
                let children: Vec<String> = list.iter().map(|v| self.flow(v)).collect();
                format!("[{}]", children.join(", "))
            }
            Value::String(s) => {
                // With a tab, too, between two words.
                let bare = !s.is_empty()
                    && s.split('\t').all(|word| !word.is_empty() && word.bytes().all(|b| b.is_ascii_lowercase()))
                    && !["y", "n", "no", "on", "yes", "off", "true", "false", "null"].contains(&s.as_str());
                match () {
                    () if bare && !self.one_in(4) => s.clone(),
                    () if !s.contains(['\n', '\r']) && self.one_in(2) => format!("'{}'", s.replace('\'', "''")),
                    () => value.to_string(),
                }
            }
            Value::Null if self.one_in(2) => "~".into(),
            other => other.to_string(),
        }
    }
}

/// Whether a text of several lines can be a block scalar: other readers end a line at the last three of these characters.
fn fits_block(text: &str) -> bool {
    text.contains('\n') && !text.contains(['\r', '\u{85}', '\u{2028}', '\u{2029}'])
}

/// For [`odd`]: the line breaks of Windows.
pub const OF_WINDOWS: u8 = 1;

/// For [`odd`]: no line break at the end.
pub const NO_LINE_BREAK: u8 = 2;

/// For [`odd`]: a byte order mark at the beginning.
pub const MARK: u8 = 4;

/// A document of the same meaning in another shape, by the bits of a byte.
#[allow(dead_code, reason = "each test file uses its part")]
pub fn odd(text: String, how: u8) -> String {
    let has = |bit| how & bit == bit;
    let mut text = if has(OF_WINDOWS) { text.replace('\n', "\r\n") } else { text };
    // Without its line break, a block scalar at the end means something else.
    if has(NO_LINE_BREAK) && !text.contains(['|', '>']) {
        text.truncate(text.trim_end_matches(['\r', '\n']).len());
    }
    if has(MARK) { format!("\u{feff}{text}") } else { text }
}
