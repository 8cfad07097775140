//! Values as YAML text with anchors, aliases and `<<` entries in any place: what a reader takes for the same value without them.
//!
//! Every choice is drawn from a string of bytes, so that proptest can shrink it.

use serde_json::{Map, Value, json};

/// A value behind its key or dash: what stands on the line, and the lines below, from column 0.
struct Text {
    head: String,
    body: Vec<String>,
}

/// A part of a `<<` entry.
enum Part {
    Alias(String),
    Map(Map<String, Value>),
}

/// The choices of one document, and the anchors that it has so far.
pub struct Sharing<'b> {
    bytes: std::iter::Cycle<std::slice::Iter<'b, u8>>,
    list_offset: usize,
    anchors: Vec<(String, Value)>,
    /// Anchors that an entry which is not written yet will ask for, so that none of their names may be given anew.
    promised: Vec<String>,
    count: usize,
    /// How many `<<` entries stand around what is written.
    depth: usize,
}

impl<'b> Sharing<'b> {
    /// From at least one byte.
    pub fn new(bytes: &'b [u8]) -> Self {
        let mut sharing = Self {
            bytes: bytes.iter().cycle(),
            list_offset: 0,
            anchors: Vec::new(),
            promised: Vec::new(),
            count: 0,
            depth: 0,
        };
        sharing.list_offset = if sharing.one_in(2) { 2 } else { 0 };
        sharing
    }

    fn byte(&mut self) -> usize {
        // A string that is too short must not give the same choice at each turn.
        self.count += 1;
        self.bytes.next().map_or(0, |b| usize::from(*b) + self.count / 7)
    }

    fn one_in(&mut self, n: usize) -> bool {
        self.byte().is_multiple_of(n)
    }

    /// A map as a block document.
    pub fn document(&mut self, value: &Value) -> String {
        let Value::Object(map) = value else { return format!("{value}\n") };
        let text = self.map(map, false);
        if text.body.is_empty() { format!("{}\n", text.head) } else { text.body.join("\n") + "\n" }
    }

    fn node(&mut self, value: &Value, flow: bool) -> Text {
        let known: Vec<String> = self.anchors.iter().filter(|(_, v)| v == value).map(|(n, _)| n.clone()).collect();
        if !known.is_empty() && !self.one_in(3) {
            let name = &known[self.byte() % known.len()];
            return Text { head: format!("*{name}"), body: Vec::new() };
        }
        let is_container = value.is_object() || value.is_array();
        let name = self.one_in(if is_container { 2 } else { 8 }).then(|| self.name());
        let mut text = match value {
            Value::Object(map) => self.map(map, flow),
            Value::Array(list) => self.list(list, flow),
            Value::String(s) if !s.is_empty() && s.bytes().all(|b| b.is_ascii_lowercase()) && s != "y" => {
                Text { head: s.clone(), body: Vec::new() }
            }
            scalar => Text { head: scalar.to_string(), body: Vec::new() },
        };
        if let Some(name) = name {
            text.head = format!("&{name} {}", text.head).trim_end().to_owned();
            // An anchor of that name further in stands behind this one, and counts.
            if !self.anchors.iter().any(|(n, _)| *n == name) {
                self.anchors.push((name, value.clone()));
            }
        }
        text
    }

    /// A name for an anchor: a new one, or one that means something else from here on.
    fn name(&mut self) -> String {
        let free: Vec<String> =
            self.anchors.iter().map(|(n, _)| n.clone()).filter(|n| !self.promised.contains(n)).collect();
        if free.is_empty() || !self.one_in(6) {
            self.count += 1;
            return format!("a{}", self.count);
        }
        let name = free[self.byte() % free.len()].clone();
        self.anchors.retain(|(n, _)| *n != name);
        name
    }

    /// What a map may take from `<<`.
    fn parts(&mut self, map: &Map<String, Value>) -> Vec<Part> {
        let mut parts = Vec::new();
        if map.is_empty() || self.depth > 2 || self.one_in(2) {
            return parts;
        }
        for _ in 0..=self.byte() % 3 {
            let fits = |value: &Value| {
                value.as_object().is_some_and(|m| !m.is_empty() && m.keys().all(|k| map.contains_key(k)))
            };
            let known: Vec<String> = self.anchors.iter().filter(|(_, v)| fits(v)).map(|(n, _)| n.clone()).collect();
            if !known.is_empty() && !self.one_in(4) {
                parts.push(Part::Alias(known[self.byte() % known.len()].clone()));
                continue;
            }
            let mut part = Map::new();
            for (key, value) in map {
                if self.one_in(2) {
                    let value = if self.one_in(6) { json!("other") } else { value.clone() };
                    part.insert(key.clone(), value);
                }
            }
            if !part.is_empty() {
                parts.push(Part::Map(part));
            }
        }
        parts
    }

    fn map(&mut self, map: &Map<String, Value>, flow: bool) -> Text {
        let parts = self.parts(map);
        let kept = self.promised.len();
        let mut brought: Map<String, Value> = Map::new();
        for part in parts.iter().rev() {
            match part {
                Part::Alias(name) => {
                    self.promised.push(name.clone());
                    let of_name = self.anchors.iter().find(|(n, _)| n == name).map(|(_, v)| v.clone());
                    brought.extend(of_name.and_then(|v| v.as_object().cloned()).into_iter().flatten());
                }
                Part::Map(part) => brought.extend(part.clone()),
            }
        }
        let own: Vec<(&String, &Value)> =
            map.iter().filter(|(k, v)| brought.get(*k) != Some(v) || self.one_in(6)).collect();
        let at = self.byte() % (own.len() + 1);
        let flow = flow || map.is_empty() || self.one_in(5);
        let mut entries = Vec::new();
        for i in 0..=own.len() {
            if i == at && !parts.is_empty() {
                entries.push(("<<", self.merge_value(&parts, flow), 2));
            }
            if let Some((key, value)) = own.get(i) {
                let offset = if value.is_array() { self.list_offset } else { 2 };
                entries.push((key.as_str(), self.node(value, flow), offset));
            }
        }
        self.promised.truncate(kept);
        if flow {
            let entries: Vec<String> = entries.iter().map(|(k, t, _)| format!("{k}: {}", t.head)).collect();
            return Text { head: format!("{{{}}}", entries.join(", ")), body: Vec::new() };
        }
        let mut body = Vec::new();
        for (key, text, offset) in entries {
            body.push(format!("{key}: {}", text.head).trim_end().to_owned());
            body.extend(text.body.iter().map(|l| format!("{}{l}", " ".repeat(offset))));
        }
        Text { head: String::new(), body }
    }

    fn merge_value(&mut self, parts: &[Part], flow: bool) -> Text {
        if parts.len() == 1 && !self.one_in(4) {
            return self.part(&parts[0], flow);
        }
        let flow = flow || self.one_in(2);
        let parts: Vec<Text> = parts.iter().map(|p| self.part(p, flow)).collect();
        elements(&parts, flow)
    }

    fn part(&mut self, part: &Part, flow: bool) -> Text {
        match part {
            Part::Alias(name) => Text { head: format!("*{name}"), body: Vec::new() },
            Part::Map(map) => {
                let name = self.one_in(2).then(|| self.name());
                self.depth += 1;
                let mut text = self.map(map, flow);
                self.depth -= 1;
                if let Some(name) = name {
                    text.head = format!("&{name} {}", text.head).trim_end().to_owned();
                    if !self.anchors.iter().any(|(n, _)| *n == name) {
                        self.anchors.push((name, Value::Object(map.clone())));
                    }
                }
                text
            }
        }
    }

    fn list(&mut self, list: &[Value], flow: bool) -> Text {
        let flow = flow || list.is_empty() || self.one_in(5);
        let list: Vec<Text> = list.iter().map(|v| self.node(v, flow)).collect();
        elements(&list, flow)
    }
}

fn elements(list: &[Text], flow: bool) -> Text {
    if flow {
        let list: Vec<&str> = list.iter().map(|t| t.head.as_str()).collect();
        return Text { head: format!("[{}]", list.join(", ")), body: Vec::new() };
    }
    let mut body = Vec::new();
    for text in list {
        let mut lines = text.body.iter();
        let first = if text.head.is_empty() { lines.next() } else { Some(&text.head) };
        body.push(format!("- {}", first.map_or("", String::as_str)));
        body.extend(lines.map(|l| format!("  {l}")));
    }
    Text { head: String::new(), body }
}
