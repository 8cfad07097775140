//! [`LayerPlace`]: where the values of a layer stand, as nodes of a file or as a text in one, and edits of them as edits of the file.

use std::ops::Range;
use std::rc::Rc;

use krm_yaml::{BlockScalar, Document, Edit, NodeRef, Overlap, Style, TextEdits, next_line};

use crate::texts::{At, Texts};
use crate::unread::Why;

/// The values of a layer.
#[derive(Clone, Debug)]
pub struct LayerPlace {
    /// The values, in the document that has them: that of the file, or that of a text in it.
    values: At,
    /// The keys below which they lie.
    pub prefix: Vec<String>,
    /// How the document stands in the file.
    written: Written,
}

/// How a document stands in a file.
#[derive(Clone, Debug)]
enum Written {
    /// It is that of the file.
    Itself,
    /// It is the text of a block scalar.
    Block(Block),
    /// It is a scalar with escapes, or one whose lines are folded.
    Scalar(Range<usize>),
}

/// The lines of a literal block scalar.
#[derive(Clone, Debug)]
struct Block {
    lines: Vec<Line>,
    /// The offset after the last line with its line break.
    end: usize,
    /// What stands before each line.
    indent: usize,
    /// The length of the inner text.
    len: usize,
}

/// A line of a block scalar.
#[derive(Clone, Debug)]
struct Line {
    /// Where it begins in the inner text.
    inner: usize,
    /// Where it begins in the file.
    start: usize,
    /// Its place in the file, without its indentation.
    content: Range<usize>,
}

impl LayerPlace {
    /// Values that are nodes of a file.
    ///
    /// # Errors
    /// They are no map.
    pub(crate) fn of_node(values: At) -> Result<Self, Why> {
        Self::checked(Self { values, prefix: Vec::new(), written: Written::Itself })
    }

    /// A value at a path of the values.
    pub(crate) fn of_value(values: At, prefix: Vec<String>) -> Self {
        Self { values, prefix, written: Written::Itself }
    }

    /// All of a file; `None` if it has no values.
    ///
    /// # Errors
    /// It is not there, not YAML, or no map.
    pub(crate) fn of_file(texts: &Texts<'_>, file: &str) -> Result<Option<Self>, Why> {
        match texts.roots(file)?.into_iter().next().filter(|root| root.node().is_some_and(|node| !node.is_null())) {
            Some(root) => Self::of_node(root).map(Some),
            None => Ok(None),
        }
    }

    /// Values that are a text in a scalar of a file; `None` if it has none.
    ///
    /// # Errors
    /// The text is not YAML, or no map.
    pub(crate) fn of_text(scalar: &At) -> Result<Option<Self>, Why> {
        let node = scalar.node().ok_or(Why::NotValues)?.resolve();
        let text = node.as_str().ok_or(Why::NotValues)?;
        let document = Document::parse(text.to_owned()).map_err(|e| Why::NotYaml(e.to_string()))?;
        let values = At::root(&scalar.file, &Rc::new(document), 0);
        if values.node().is_none_or(NodeRef::is_null) {
            return Ok(None);
        }
        let written = Block::of(node, text).map_or(Written::Scalar(node.start()..node.end()), Written::Block);
        Self::checked(Self { values, prefix: Vec::new(), written }).map(Some)
    }

    /// Each document of a file, whatever is in it.
    pub(crate) fn of_documents(file: &str, document: &Rc<Document<'static>>) -> Vec<Self> {
        let roots = (0..document.roots().len()).map(|root| At::root(file, document, root));
        roots.map(|values| Self { values, prefix: Vec::new(), written: Written::Itself }).collect()
    }

    /// Each document of a text in a scalar, whatever is in it.
    ///
    /// # Errors
    /// It is no text, or not YAML.
    pub(crate) fn of_documents_in(scalar: &At) -> Result<Vec<Self>, Why> {
        let node = scalar.node().ok_or(Why::NotValues)?.resolve();
        let text = node.as_str().ok_or(Why::NotValues)?;
        let document = Rc::new(Document::parse(text.to_owned()).map_err(|e| Why::NotYaml(e.to_string()))?);
        let written = Block::of(node, text).map_or(Written::Scalar(node.start()..node.end()), Written::Block);
        let all = Self::of_documents(&scalar.file, &document).into_iter();
        Ok(all.map(|place| Self { written: written.clone(), ..place }).collect())
    }

    /// A value as helm's `--set` reads it: a text is a number, a boolean or null if it is written so.
    pub(crate) fn of_set(scalar: At, prefix: Vec<String>) -> Self {
        let text = scalar.text(&[]).unwrap_or_default();
        let is_typed = ["true", "false", "null"].contains(&text.as_str()) || text.parse::<i64>().is_ok();
        let range = scalar.node().map(|node| node.start()..node.end()).filter(|_| is_typed);
        match (Document::parse(text), range) {
            (Ok(document), Some(range)) => {
                let values = At::root(&scalar.file, &Rc::new(document), 0);
                Self { values, prefix, written: Written::Scalar(range) }
            }
            _ => Self::of_value(scalar, prefix),
        }
    }

    /// The values below a key, as those of a dependency see them. `is_shared` keeps the key.
    pub(crate) fn narrowed(&self, key: &str, is_shared: bool) -> Option<Self> {
        let kept = || if is_shared { vec![key.to_owned()] } else { Vec::new() };
        match self.prefix.split_first() {
            Some((first, rest)) => {
                (first == key).then(|| Self { prefix: [kept(), rest.to_vec()].concat(), ..self.clone() })
            }
            None => {
                let values = self.values.get(&[key]).filter(|values| values.node().is_some_and(NodeRef::is_map))?;
                Some(Self { values, prefix: kept(), written: self.written.clone() })
            }
        }
    }

    fn checked(self) -> Result<Self, Why> {
        if self.node().is_some_and(NodeRef::is_map) { Ok(self) } else { Err(Why::NotValues) }
    }

    /// The file.
    pub fn file(&self) -> &str {
        &self.values.file
    }

    /// The values.
    pub fn node(&self) -> Option<NodeRef<'_>> {
        self.values.node()
    }

    /// The place in the file of an offset in the document of the values.
    pub fn offset(&self, inner: usize) -> usize {
        match &self.written {
            Written::Itself => inner,
            Written::Block(block) => block.offset(inner),
            Written::Scalar(range) => range.start,
        }
    }

    /// Whether edits of the values can be written into the file.
    pub fn is_editable(&self) -> bool {
        !matches!(self.written, Written::Scalar(_))
    }

    /// Edits of the document of the values as edits of the file; `None` if they cannot be written there.
    ///
    /// # Errors
    /// The edits are in each other's place.
    pub fn edits(&self, edits: &TextEdits) -> Result<Option<TextEdits>, Overlap> {
        match &self.written {
            Written::Itself => Ok(Some(edits.clone())),
            Written::Block(block) => TextEdits::of(edits.iter().map(|edit| block.edit(edit)).collect()).map(Some),
            Written::Scalar(_) => Ok(None),
        }
    }
}

impl Block {
    /// The lines of a scalar with this text; `None` unless each line stands in the file as it is.
    fn of(node: NodeRef<'_>, inner: &str) -> Option<Self> {
        if node.style() != Style::Literal {
            return None;
        }
        let file = node.document().source();
        let indent = BlockScalar::of(node)?.indent;
        let (mut at, mut line, mut lines) = (0, next_line(file, node.start()), Vec::new());
        for text in inner.split_inclusive('\n') {
            let next = next_line(file, line);
            let whole = file[line..next].trim_end_matches(['\n', '\r']);
            let content = line + indent.min(whole.len())..line + whole.len();
            if file.get(content.clone())? != text.trim_end_matches('\n') {
                return None;
            }
            lines.push(Line { inner: at, start: line, content });
            (at, line) = (at + text.len(), next);
        }
        Some(Self { lines, end: line, indent, len: inner.len() })
    }

    fn offset(&self, inner: usize) -> usize {
        let line = self.lines[..self.lines.partition_point(|line| line.inner <= inner)].last();
        match line {
            Some(line) if inner < self.len || inner - line.inner <= line.content.len() => {
                (line.content.start + inner - line.inner).min(line.content.end)
            }
            _ => self.end,
        }
    }

    /// Where the line begins whose text begins at an offset; at the end of the text, where the line below begins.
    fn line_start(&self, inner: usize) -> Option<usize> {
        let end = (inner == self.len).then_some(self.end);
        self.lines.iter().find(|line| line.inner == inner).map(|line| line.start).or(end)
    }

    fn edit(&self, edit: &Edit) -> Edit {
        let is_whole = edit.text.is_empty() || edit.text.ends_with('\n');
        let lines = self.line_start(edit.range.start).zip(self.line_start(edit.range.end));
        if let Some((start, end)) = lines.filter(|_| is_whole) {
            let text = edit.text.split_inclusive('\n').map(|line| self.indented(line)).collect();
            return Edit { range: start..end, text };
        }
        let mut lines = edit.text.split_inclusive('\n');
        let first = lines.next().unwrap_or_default();
        let mut text = first.to_owned();
        text.extend(lines.map(|line| self.indented(line)));
        if edit.text.ends_with('\n') {
            text.push_str(&" ".repeat(self.indent));
        }
        Edit { range: self.offset(edit.range.start)..self.offset(edit.range.end), text }
    }

    fn indented(&self, line: &str) -> String {
        if line.trim().is_empty() { line.to_owned() } else { " ".repeat(self.indent) + line }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(file: &str) -> LayerPlace {
        let document = Rc::new(Document::parse(file.to_owned()).expect("YAML"));
        let scalar = At::root("f.yaml", &document, 0).get(&["values"]).expect("values");
        LayerPlace::of_text(&scalar).expect("a map").expect("values")
    }

    fn edited(file: &str, old: &str, new: &str) -> String {
        let place = of(file);
        let inner = place.node().expect("a node").document().source().to_owned();
        let start = inner.find(old).expect("in the text");
        let edit = Edit { range: start..start + old.len(), text: new.to_owned() };
        let edits = place.edits(&edit.into()).expect("disjoint").expect("a block");
        edits.apply(file, 0..file.len())
    }

    #[test]
    fn an_edit_of_a_text_is_one_of_its_file() {
        let file = "a: 1\nvalues: |\n    b: 1\n\n    c:\n      d: 2\nz: 3\n";
        for (old, new, want) in [
            ("b: 1", "b: 9", "a: 1\nvalues: |\n    b: 9\n\n    c:\n      d: 2\nz: 3\n"),
            ("b: 1\n", "", "a: 1\nvalues: |\n\n    c:\n      d: 2\nz: 3\n"),
            ("  d: 2\n", "", "a: 1\nvalues: |\n    b: 1\n\n    c:\nz: 3\n"),
            ("c:\n  d: 2\n", "e:\n  f: 1\n", "a: 1\nvalues: |\n    b: 1\n\n    e:\n      f: 1\nz: 3\n"),
            ("2", "{}\n  e: 1", "a: 1\nvalues: |\n    b: 1\n\n    c:\n      d: {}\n      e: 1\nz: 3\n"),
        ] {
            assert_eq!(edited(file, old, new), want, "{old} to {new}");
        }
    }

    #[test]
    fn each_place_of_a_text_is_one_of_its_file() {
        for file in [
            "values: |\n    b: 1\n\n    c:\n      d: 2\nz: 3\n",
            "values: |-\r\n  b: 1\r\n\r\n  c:\r\n    d: 2\r\n",
            "values: |2\n  b: 1\n  c:\n    d: 2",
        ] {
            let place = of(file);
            let inner = place.node().expect("a node").document().source().to_owned();
            for (at, c) in inner.char_indices().filter(|(_, c)| !c.is_whitespace()) {
                assert_eq!(file[place.offset(at)..].chars().next(), Some(c), "{at} of {file:?}");
            }
            assert!(place.is_editable() && place.offset(inner.len()) <= file.len());
        }
        let place = of("values: \"b: 1\\nc: 2\"\n");
        assert_eq!((place.offset(5), place.is_editable()), (8, false));
    }
}
