//! [`parse`]: a text with actions in `{{ }}`, as Go's `text/template` reads it.
//!
//! A text that Go refuses may be taken here: helm says what is wrong with it. The depth is bounded, because a chart is a stranger's.

/// How deep blocks and parentheses may be in each other.
const MOST_DEEP: usize = 100;

/// A part of a template.
#[derive(Debug)]
pub enum Node {
    /// A text that is not blank.
    Text,
    /// What an action prints.
    Print(Pipe),
    /// `if`: its condition, and what comes of both answers.
    If(Pipe, Vec<Node>, Vec<Node>),
    /// `with`, as `if`, but the condition becomes the dot.
    With(Pipe, Vec<Node>, Vec<Node>),
    /// `range`: its body for each element, and what comes if there is none.
    Range(Pipe, Vec<Node>, Vec<Node>),
    /// `template`: the name of a definition, and what becomes its dot.
    Template(String, Option<Pipe>),
}

/// Commands, each of which gets the result of the one before it as its last argument, and the variables that the result is assigned to.
#[derive(Debug, Default)]
pub struct Pipe {
    /// The variables.
    pub variables: Vec<String>,
    /// Whether the variables are new (`:=`), or are there already (`=`).
    pub assigned: Assigned,
    /// The commands.
    pub commands: Vec<Vec<Operand>>,
}

/// How a pipe assigns its variables.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Assigned {
    /// `:=`
    #[default]
    New,
    /// `=`
    Again,
}

/// A word of a command, with the fields that it goes down.
#[derive(Debug)]
pub struct Operand {
    /// The word.
    pub word: Word,
    /// The fields after it: `.b.c` of `$a.b.c`.
    pub fields: Vec<String>,
    /// Its offset in the text, which tells it from all others.
    pub at: usize,
}

/// A word of a command.
#[derive(Debug)]
pub enum Word {
    /// `.`
    Dot,
    /// `$name`; the name is empty for `$`.
    Variable(String),
    /// The name of a function.
    Function(String),
    /// A text or a number.
    Text(String),
    /// A boolean, `nil` or a character.
    Other,
    /// A pipe in parentheses.
    Pipe(Box<Pipe>),
}

/// A template: what it prints, and what it defines.
#[derive(Debug, Default)]
pub struct Template {
    /// What it prints itself.
    pub body: Vec<Node>,
    /// The templates that it defines, by their names.
    pub defined: Vec<(String, Vec<Node>)>,
}

/// Reads a template; `None` if it is broken or too deep.
pub fn parse(text: &str) -> Option<Template> {
    let mut blocks = vec![Block { kind: BlockKind::Root, body: Vec::new(), otherwise: None }];
    let mut defined = Vec::new();
    let mut rest = 0;
    while let Some(found) = text[rest..].find("{{") {
        let open = rest + found;
        let last = blocks.last_mut()?;
        if !text[rest..open].trim().is_empty() {
            last.nodes().push(Node::Text);
        }
        let inside = open + 2;
        let trimmed = &text[inside..];
        let trimmed = trimmed.strip_prefix('-').filter(|rest| rest.starts_with(char::is_whitespace)).unwrap_or(trimmed);
        if trimmed.trim_start().starts_with("/*") {
            let from = text.len() - trimmed.trim_start().len();
            let end = from + 2 + text.get(from + 2..)?.find("*/")? + 2;
            rest = end + text[end..].find("}}")? + 2;
            continue;
        }
        let (tokens, end) = tokens(text, text.len() - trimmed.len())?;
        rest = end;
        action(&tokens, &mut blocks, &mut defined)?;
        if blocks.len() > MOST_DEEP {
            return None;
        }
    }
    let mut root = blocks.pop().filter(|_| blocks.is_empty())?;
    if !text[rest..].trim().is_empty() {
        root.nodes().push(Node::Text);
    }
    Some(Template { body: root.body, defined })
}

/// A block that has begun.
struct Block {
    kind: BlockKind,
    body: Vec<Node>,
    /// What follows `else`.
    otherwise: Option<Vec<Node>>,
}

enum BlockKind {
    Root,
    If(Pipe),
    With(Pipe),
    Range(Pipe),
    Define(String),
    /// `block`: a definition that is used where it stands.
    Block(String, Option<Pipe>),
    /// `else if` and `else with`: a block in the `else` of the one above it, which ends with it.
    Inner(Box<BlockKind>),
}

impl Block {
    fn of(kind: BlockKind) -> Self {
        Self { kind, body: Vec::new(), otherwise: None }
    }

    /// The nodes to which the next one is added.
    fn nodes(&mut self) -> &mut Vec<Node> {
        self.otherwise.as_mut().unwrap_or(&mut self.body)
    }
}

/// Carries out one action.
fn action(tokens: &[Token], blocks: &mut Vec<Block>, defined: &mut Vec<(String, Vec<Node>)>) -> Option<()> {
    let word = match tokens.first().map(|token| &token.what) {
        Some(What::Word(word)) => word.as_str(),
        _ => "",
    };
    let rest = tokens.get(1..).unwrap_or_default();
    match word {
        "if" => blocks.push(Block::of(BlockKind::If(pipe(rest)?))),
        "with" => blocks.push(Block::of(BlockKind::With(pipe(rest)?))),
        "range" => blocks.push(Block::of(BlockKind::Range(pipe(rest)?))),
        "define" | "block" | "template" => {
            let What::Text(name) = &rest.first()?.what else { return None };
            let name = name.clone();
            let data = if rest.len() > 1 { Some(pipe(&rest[1..])?) } else { None };
            match word {
                "define" => blocks.push(Block::of(BlockKind::Define(name))),
                "block" => blocks.push(Block::of(BlockKind::Block(name, data))),
                _ => blocks.last_mut()?.nodes().push(Node::Template(name, data)),
            }
        }
        "else" => {
            blocks.last_mut()?.otherwise = Some(Vec::new());
            let inner = match rest.first().map(|token| &token.what) {
                Some(What::Word(word)) if word == "if" => Some(BlockKind::If(pipe(&rest[1..])?)),
                Some(What::Word(word)) if word == "with" => Some(BlockKind::With(pipe(&rest[1..])?)),
                Some(_) => return None,
                None => None,
            };
            blocks.extend(inner.map(|kind| Block::of(BlockKind::Inner(Box::new(kind)))));
        }
        "end" => loop {
            let block = blocks.pop()?;
            let (kind, is_inner) = match block.kind {
                BlockKind::Inner(kind) => (*kind, true),
                kind => (kind, false),
            };
            let (body, otherwise) = (block.body, block.otherwise.unwrap_or_default());
            let node = match kind {
                BlockKind::If(pipe) => Some(Node::If(pipe, body, otherwise)),
                BlockKind::With(pipe) => Some(Node::With(pipe, body, otherwise)),
                BlockKind::Range(pipe) => Some(Node::Range(pipe, body, otherwise)),
                BlockKind::Define(name) => {
                    defined.push((name, body));
                    None
                }
                BlockKind::Block(name, data) => {
                    defined.push((name.clone(), body));
                    Some(Node::Template(name, data))
                }
                BlockKind::Root | BlockKind::Inner(_) => return None,
            };
            blocks.last_mut()?.nodes().extend(node);
            if !is_inner {
                break;
            }
        },
        "break" | "continue" => {}
        _ if tokens.is_empty() => {}
        _ => {
            let pipe = pipe(tokens)?;
            blocks.last_mut()?.nodes().push(Node::Print(pipe));
        }
    }
    Some(())
}

/// A piece of an action.
struct Token {
    what: What,
    at: usize,
    /// Whether a space is before it: `$a .b` are two words.
    is_apart: bool,
}

#[derive(Debug, PartialEq)]
enum What {
    Word(String),
    Variable(String),
    /// `.name`, or `.` with an empty name.
    Field(String),
    Text(String),
    Other,
    Open,
    Close,
    Pipe,
    Comma,
    Assign(Assigned),
}

/// The pieces from an offset up to `}}`, and the offset behind it.
fn tokens(text: &str, from: usize) -> Option<(Vec<Token>, usize)> {
    let bytes = text.as_bytes();
    let mut found: Vec<Token> = Vec::new();
    let (mut at, mut is_apart) = (from, true);
    let name_end = |from: usize| {
        let name = |c: char| c.is_alphanumeric() || c == '_';
        from + text[from..].find(|c| !name(c)).unwrap_or(text.len() - from)
    };
    loop {
        let byte = *bytes.get(at)?;
        let start = at;
        let what = match byte {
            b'}' if text[at..].starts_with("}}") => return Some((found, at + 2)),
            b'-' if is_apart && text[at..].starts_with("-}}") => return Some((found, at + 3)),
            _ if byte.is_ascii_whitespace() => {
                (at, is_apart) = (at + 1, true);
                continue;
            }
            b'"' => {
                let end = at + 1 + end_of_text(&bytes[at + 1..])?;
                at = end + 1;
                What::Text(unescaped(&text[start + 1..end]))
            }
            b'`' => {
                let end = at + 1 + text[at + 1..].find('`')?;
                at = end + 1;
                What::Text(text[start + 1..end].to_owned())
            }
            b'\'' => {
                let skip = if bytes.get(at + 1) == Some(&b'\\') { 3 } else { 2 };
                let end = at + skip + text.get(at + skip..)?.find('\'')?;
                at = end + 1;
                What::Other
            }
            b'.' => {
                at = name_end(at + 1);
                What::Field(text[start + 1..at].to_owned())
            }
            b'$' => {
                at = name_end(at + 1);
                What::Variable(text[start + 1..at].to_owned())
            }
            b'(' | b')' | b'|' | b',' | b'=' => {
                at += 1;
                match byte {
                    b'(' => What::Open,
                    b')' => What::Close,
                    b'|' => What::Pipe,
                    b',' => What::Comma,
                    _ => What::Assign(Assigned::Again),
                }
            }
            b':' if bytes.get(at + 1) == Some(&b'=') => {
                at += 2;
                What::Assign(Assigned::New)
            }
            b'0'..=b'9' | b'-' | b'+' => {
                at += 1;
                at += text[at..].find(|c: char| !(c.is_alphanumeric() || c == '.' || c == '_')).unwrap_or(0);
                What::Text(text[start..at].to_owned())
            }
            _ => {
                at = name_end(at);
                match &text[start..at] {
                    "" => return None,
                    "true" | "false" | "nil" => What::Other,
                    word => What::Word(word.to_owned()),
                }
            }
        };
        found.push(Token { what, at: start, is_apart });
        is_apart = false;
    }
}

/// The offset of the quote that ends a text.
fn end_of_text(bytes: &[u8]) -> Option<usize> {
    let mut at = 0;
    loop {
        match bytes.get(at)? {
            b'"' => return Some(at),
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
}

/// The text of a quoted one. The escapes of bytes by their numbers stay as they are: no name of a field needs them.
fn unescaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut all = text.chars();
    while let Some(c) = all.next() {
        match (c, if c == '\\' { all.next() } else { None }) {
            ('\\', Some('n')) => out.push('\n'),
            ('\\', Some('t')) => out.push('\t'),
            ('\\', Some(c @ ('"' | '\\'))) => out.push(c),
            ('\\', Some(c)) => out.extend(['\\', c]),
            _ => out.push(c),
        }
    }
    out
}

/// The pipe that these pieces are.
fn pipe(tokens: &[Token]) -> Option<Pipe> {
    let mut reader = Reader { tokens, next: 0, depth: 0 };
    let pipe = reader.pipe()?;
    (reader.next == tokens.len()).then_some(pipe)
}

struct Reader<'t> {
    tokens: &'t [Token],
    next: usize,
    depth: usize,
}

impl Reader<'_> {
    fn what(&self, ahead: usize) -> Option<&What> {
        self.tokens.get(self.next + ahead).map(|token| &token.what)
    }

    fn pipe(&mut self) -> Option<Pipe> {
        let mut pipe = Pipe::default();
        if let Some(What::Variable(first)) = self.what(0) {
            match (self.what(1), self.what(2), self.what(3)) {
                (Some(What::Assign(assigned)), ..) => {
                    (pipe.variables, pipe.assigned) = (vec![first.clone()], *assigned);
                    self.next += 2;
                }
                (Some(What::Comma), Some(What::Variable(second)), Some(What::Assign(assigned))) => {
                    (pipe.variables, pipe.assigned) = (vec![first.clone(), second.clone()], *assigned);
                    self.next += 4;
                }
                _ => {}
            }
        }
        loop {
            let mut command = Vec::new();
            while let Some(operand) = self.operand()? {
                command.push(operand);
            }
            match (command.is_empty(), pipe.commands.is_empty()) {
                (false, _) => pipe.commands.push(command),
                (true, true) => return None,
                // Go lets a pipe end with `|`.
                (true, false) => {}
            }
            match self.what(0) {
                Some(What::Pipe) => self.next += 1,
                _ => return Some(pipe),
            }
        }
    }

    /// The next word; `Some(None)` if the command ends here, and `None` if it is broken.
    #[allow(clippy::option_option, reason = "the outer one is an error")]
    fn operand(&mut self) -> Option<Option<Operand>> {
        let Some(token) = self.tokens.get(self.next) else { return Some(None) };
        let mut fields = Vec::new();
        let word = match &token.what {
            What::Pipe | What::Close => return Some(None),
            What::Comma | What::Assign(_) => return None,
            What::Word(name) => Word::Function(name.clone()),
            What::Variable(name) => Word::Variable(name.clone()),
            What::Text(text) => Word::Text(text.clone()),
            What::Other => Word::Other,
            What::Field(name) => {
                fields.extend(Some(name.clone()).filter(|name| !name.is_empty()));
                Word::Dot
            }
            What::Open => {
                self.next += 1;
                self.depth += 1;
                if self.depth > MOST_DEEP {
                    return None;
                }
                let pipe = self.pipe()?;
                self.depth -= 1;
                if self.what(0) != Some(&What::Close) {
                    return None;
                }
                Word::Pipe(Box::new(pipe))
            }
        };
        let at = token.at;
        self.next += 1;
        while let Some(Token { what: What::Field(name), is_apart: false, .. }) = self.tokens.get(self.next) {
            fields.push(name.clone());
            self.next += 1;
        }
        Some(Some(Operand { word, fields, at }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_broken_template_is_none() {
        for text in
            ["{{", "{{ if }}", "{{ if .a }}", "{{ end }}", "{{ (.a }}", "{{ \"a }}", "{{ | }}", "{{/* a", "{{ '"]
        {
            assert!(parse(text).is_none(), "{text}");
        }
        for text in ["", "a", "{{ .a }}", "{{- /* a */ -}}", "{{ if .a | }}{{ end }}"] {
            assert!(parse(text).is_some(), "{text}");
        }
        assert!(parse(&"{{ if .a }}".repeat(1000)).is_none());
        assert!(parse(&format!("{{{{ {}.a{} }}}}", "(".repeat(1000), ")".repeat(1000))).is_none());
    }

    #[test]
    fn a_chain_of_else_ends_with_one_end() {
        let template = parse("{{ if .a }}a{{ else if .b }}b{{ else }}c{{ end }}d").expect("a template");
        let [Node::If(_, then, otherwise), Node::Text] = &template.body[..] else { panic!("{template:?}") };
        let [Node::If(_, _, last)] = &otherwise[..] else { panic!("{template:?}") };
        assert_eq!((then.len(), last.len()), (1, 1));
    }
}
