//! Documents with comments at their places, in several styles, and each change of one place.

use std::fmt::Write as _;

/// How a document is written.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Style {
    Block,
    /// As `kubectl -o kyaml` writes it: brackets, quotes, and a comma after each child.
    Kyaml,
    /// Brackets, and no comma after the last child.
    Json,
    /// A block, and brackets in the maps below the second level.
    Mixed,
}

/// A value.
#[derive(Clone)]
pub enum Value {
    Scalar(String),
    Map(Vec<Child>),
    List(Vec<Child>),
}

/// A child of a map or list, with its comments.
#[derive(Clone)]
pub struct Child {
    /// The key; empty for an element and for the document.
    key: String,
    value: Value,
    /// A comment that a blank line sets apart from the child below.
    apart: String,
    above: String,
    behind: String,
    foot: String,
}

fn child(key: &str, value: Value) -> Child {
    let none = String::new;
    Child { key: key.to_owned(), value, apart: none(), above: none(), behind: none(), foot: none() }
}

fn scalar(key: &str, value: &str) -> Child {
    child(key, Value::Scalar(value.to_owned()))
}

fn map<const N: usize>(key: &str, children: [Child; N]) -> Child {
    child(key, Value::Map(children.into()))
}

fn list<const N: usize>(key: &str, children: [Child; N]) -> Child {
    child(key, Value::List(children.into()))
}

/// A document without comments, and one with a comment at each place.
pub fn documents() -> [Child; 2] {
    let container = |name: &str| map("", [scalar("name", name), scalar("image", name), scalar("tty", "true")]);
    let bare = map(
        "",
        [
            scalar("apiVersion", "v1"),
            scalar("kind", "Pod"),
            map(
                "metadata",
                [scalar("name", "p"), map("labels", [scalar("la", "1"), scalar("lb", "2"), scalar("lc", "3")])],
            ),
            map(
                "spec",
                [
                    scalar("hostname", "h"),
                    list("containers", [container("one"), container("two")]),
                    list("other", [scalar("", "ea"), scalar("", "eb"), scalar("", "ec")]),
                ],
            ),
        ],
    );
    let mut full = bare.clone();
    for number in 0..bare.count() {
        full.visit(&mut 0, &mut |at, child| {
            if at == number {
                child.comment(&format!("o{number}"))
            }
        });
    }
    [bare, full]
}

impl Child {
    fn children(&self) -> &[Self] {
        match &self.value {
            Value::Scalar(_) => &[],
            Value::Map(children) | Value::List(children) => children,
        }
    }

    fn children_mut(&mut self) -> Option<&mut Vec<Self>> {
        match &mut self.value {
            Value::Scalar(_) => None,
            Value::Map(children) | Value::List(children) => Some(children),
        }
    }

    fn count(&self) -> usize {
        1 + self.children().iter().map(Self::count).sum::<usize>()
    }

    /// Visits each child of the document with its number, in the order of the text; the document comes first.
    fn visit(&mut self, number: &mut usize, visit: &mut impl FnMut(usize, &mut Self)) {
        visit(*number, self);
        *number += 1;
        for child in self.children_mut().into_iter().flatten() {
            child.visit(number, visit);
        }
    }

    /// Gives the child a comment at each of its places.
    fn comment(&mut self, text: &str) {
        self.above = format!("# above {text}");
        let is_document = self.key.is_empty() && matches!(self.value, Value::Map(_));
        if !is_document {
            self.behind = format!("# behind {text}");
        }
        if self.children_mut().is_some() {
            self.foot = format!("# foot {text}");
        }
    }

    /// The document with one change, for each place and each change of it. The texts that are new have the name of a side.
    pub fn changed(&self, side: &str) -> Vec<Self> {
        let mut all = Vec::new();
        let mut add = |number: usize, change: &dyn Fn(&mut Self)| {
            let mut document = self.clone();
            document.visit(&mut 0, &mut |at, child| {
                if at == number {
                    change(child);
                }
            });
            // Some changes change nothing.
            if document.written(Style::Kyaml) != self.written(Style::Kyaml) {
                all.push(document);
            }
        };
        for number in 0..self.count() {
            let name = format!("{side}{number}");
            add(number, &|child| child.above = format!("# above {name}"));
            add(number, &|child| child.above.clear());
            add(number, &|child| child.apart = format!("# apart {name}"));
            add(number, &|child| child.apart.clear());
            add(number, &|child| {
                if let Some(children) = child.children_mut().filter(|children| children.len() > 1 && number > 0) {
                    children.swap(0, 1);
                }
            });
            add(number, &|child| {
                if number > 3 && child.key.starts_with(['l', 'c', 'i', 'h']) {
                    let value = match child.value {
                        Value::Scalar(_) => Value::Map(vec![scalar("inner", &name)]),
                        Value::Map(_) | Value::List(_) => Value::Scalar(name.clone()),
                    };
                    *child = Self { value, foot: String::new(), ..child.clone() };
                }
            });
            add(number, &|child| {
                if !child.behind.is_empty() || matches!(child.value, Value::Scalar(_)) || !child.key.is_empty() {
                    child.behind = format!("# behind {name}");
                }
            });
            add(number, &|child| child.behind.clear());
            add(number, &|child| {
                if child.children_mut().is_some() && (number > 0) {
                    child.foot = format!("# foot {name}");
                }
            });
            add(number, &|child| child.foot.clear());
            add(number, &|child| {
                if let Value::Scalar(value) = &mut child.value
                    && !["apiVersion", "kind", "name"].contains(&child.key.as_str())
                {
                    *value = name.clone();
                }
            });
            for at in 0..4 {
                add(number, &|child| {
                    if let Some(children) = child.children_mut()
                        && at < children.len()
                        && children.len() > 1
                        && number > 0
                        && children[at].key != "name"
                    {
                        children.remove(at);
                    }
                });
                add(number, &|child| {
                    let is_map = matches!(child.value, Value::Map(_));
                    let Some(children) = child.children_mut().filter(|children| at <= children.len()) else { return };
                    let is_of_maps = children.iter().any(|child| matches!(child.value, Value::Map(_))) && !is_map;
                    let mut new = if is_of_maps {
                        map("", [scalar("name", &name), scalar("image", &name)])
                    } else if is_map {
                        scalar(&format!("new{name}"), "1")
                    } else {
                        scalar("", &format!("new{name}"))
                    };
                    new.comment(&format!("new {name}"));
                    children.insert(at, new);
                });
            }
        }
        all
    }

    /// The text of the document.
    pub fn written(&self, style: Style) -> String {
        let mut out = String::new();
        let own_line = |out: &mut String, comment: &str| {
            if !comment.is_empty() {
                writeln!(out, "{comment}").expect("a text");
            }
        };
        match style {
            Style::Block | Style::Mixed => {
                out.push_str(&self.apart(0));
                own_line(&mut out, &self.above);
                self.block(style, 0, "", &mut out);
                own_line(&mut out, &self.foot);
            }
            Style::Kyaml | Style::Json => {
                out.push_str(&self.apart(0));
                own_line(&mut out, &self.above);
                self.flow(style, 0, "", &mut out);
                own_line(&mut out, &self.foot);
            }
        }
        out
    }

    /// The children of a block at a column. The first one comes after `lead` on its line.
    fn block(&self, style: Style, column: usize, lead: &str, out: &mut String) {
        let pad = " ".repeat(column);
        let is_map = matches!(self.value, Value::Map(_));
        for (at, child) in self.children().iter().enumerate() {
            // A comment above the first field of an element stands above its dash.
            let has_line = at > 0 || lead.is_empty();
            if has_line {
                out.push_str(&child.apart(column));
            }
            if !child.above.is_empty() && has_line {
                writeln!(out, "{pad}{}", child.above).expect("a text");
            }
            out.push_str(if has_line { &pad } else { lead });
            let behind = if child.behind.is_empty() { String::new() } else { format!(" {}", child.behind) };
            match (&child.value, is_map) {
                (Value::Scalar(value), true) => writeln!(out, "{}: {value}{behind}", child.key).expect("a text"),
                (Value::Scalar(value), false) => writeln!(out, "- {value}{behind}").expect("a text"),
                (_, true) if style == Style::Mixed && column > 0 => {
                    write!(out, "{}: ", child.key).expect("a text");
                    child.flow(Style::Json, column, &behind, out);
                }
                (_, true) => {
                    writeln!(out, "{}:{behind}", child.key).expect("a text");
                    child.block(style, column + 2, "", out);
                    child.write_foot(column + 2, out);
                }
                (_, false) => {
                    child.block(style, column + 2, "- ", out);
                    child.write_foot(column + 2, out);
                }
            }
        }
    }

    fn apart(&self, column: usize) -> String {
        if self.apart.is_empty() { String::new() } else { format!("{}{}\n\n", " ".repeat(column), self.apart) }
    }

    fn write_foot(&self, column: usize, out: &mut String) {
        if !self.foot.is_empty() {
            writeln!(out, "{}{}", " ".repeat(column), self.foot).expect("a text");
        }
    }

    /// A value in brackets, whose line has this indentation. `behind` comes after it.
    fn flow(&self, style: Style, indent: usize, behind: &str, out: &mut String) {
        let quote = |text: &str| if style == Style::Kyaml { format!("\"{text}\"") } else { text.to_owned() };
        let is_map = matches!(self.value, Value::Map(_));
        let column = indent + 2;
        let pad = " ".repeat(column);
        let (open, close) = if is_map { ('{', '}') } else { ('[', ']') };
        writeln!(out, "{open}").expect("a text");
        let children = self.children();
        for (at, child) in children.iter().enumerate() {
            out.push_str(&child.apart(column));
            if !child.above.is_empty() {
                writeln!(out, "{pad}{}", child.above).expect("a text");
            }
            out.push_str(&pad);
            if !child.key.is_empty() {
                write!(out, "{}: ", child.key).expect("a text");
            }
            let comma = if style == Style::Kyaml || at + 1 < children.len() { "," } else { "" };
            let behind = if child.behind.is_empty() { comma.to_owned() } else { format!("{comma} {}", child.behind) };
            match &child.value {
                Value::Scalar(value) => writeln!(out, "{}{behind}", quote(value)).expect("a text"),
                _ => child.flow(style, column, &behind, out),
            }
        }
        self.write_foot_if(indent, out);
        writeln!(out, "{}{close}{behind}", " ".repeat(indent)).expect("a text");
    }

    fn write_foot_if(&self, indent: usize, out: &mut String) {
        // The foot of a document is below its bracket.
        if indent > 0 || !self.key.is_empty() {
            self.write_foot(indent + 2, out);
        }
    }
}
