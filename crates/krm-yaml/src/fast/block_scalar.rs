//! Block scalars (`|`, `>`): their header, their indentation, and the text of their lines.

use super::{Last, Reader};
use crate::block_scalar::Chomping;
use crate::node::{Kind, Style};

/// The header of a block scalar.
struct Header {
    chomping: Chomping,
    /// How much deeper than its parent the content is; `None` if the header does not say it.
    increment: Option<usize>,
    end: usize,
}

/// Where the content of a block scalar begins.
struct Content {
    line: usize,
    /// How many blank lines are before it.
    breaks: usize,
    indent: usize,
}

impl Reader<'_> {
    /// Reads the block scalar whose `|` or `>` is at an offset. Returns the offset of the line after it.
    pub(super) fn block_scalar(&mut self, at: usize) -> Option<usize> {
        let parent = self.indent()?;
        let style = if self.text.at(at) == b'|' { Style::Literal } else { Style::Folded };
        let header = self.header(at)?;
        let first = self.rest(header.end)?;
        let content = self.first_content(first, parent, header.increment)?;
        self.doc.blocks.push((self.next_id(), content.indent as u32));
        let from = self.doc.buffer.len();
        let (end, next) = self.lines(&content, style, header.chomping);
        let link = self.decoded(from);
        self.push(at, end, Kind::Scalar, style, link);
        self.cursor = end;
        self.last = Last::Whole;
        Some(next)
    }

    fn header(&self, at: usize) -> Option<Header> {
        let mut header = Header { chomping: Chomping::Clip, increment: None, end: at + 1 };
        loop {
            match self.text.at(header.end) {
                b'-' if header.chomping == Chomping::Clip => header.chomping = Chomping::Strip,
                b'+' if header.chomping == Chomping::Clip => header.chomping = Chomping::Keep,
                digit @ b'1'..=b'9' if header.increment.is_none() => header.increment = Some(usize::from(digit - b'0')),
                b'+' | b'-' | b'0'..=b'9' => return None,
                _ => return Some(header),
            }
            header.end += 1;
        }
    }

    /// The start of the content, at a line or after it. `None` if there is no content; then the library reads the text.
    fn first_content(&self, mut line: usize, parent: usize, increment: Option<usize>) -> Option<Content> {
        let text = self.text;
        let (mut breaks, mut deepest) = (0, 0);
        while line < text.len() {
            let at = text.skip_blanks(line);
            let width = at - line;
            if text.at(at) != b'\n' {
                let indent = increment.map_or(width, |increment| parent + increment);
                // No blank line before the content may be deeper, because then that line would be content.
                let is_content = width > parent && width >= indent && deepest <= indent && text.at(at) != b'\t';
                return is_content.then_some(Content { line, breaks, indent });
            }
            deepest = deepest.max(width);
            breaks += 1;
            line = at + 1;
        }
        None
    }

    /// Reads the content and puts its text into the buffer. Returns the offset of its end, and that of the next line.
    fn lines(&mut self, content: &Content, style: Style, chomping: Chomping) -> (usize, usize) {
        let text = self.text;
        let buffer = &mut self.doc.buffer;
        let Content { mut line, mut breaks, indent } = *content;
        // Whether the line before, if there is one, begins with a blank: such a line is not folded.
        let mut before: Option<bool> = None;
        let mut end = line;
        while line < text.len() {
            let at = text.skip_blanks(line);
            if text.at(at) == b'\n' && at - line <= indent {
                if chomping == Chomping::Keep {
                    end = at;
                }
                breaks += 1;
                line = at + 1;
                continue;
            }
            if at - line < indent {
                break;
            }
            let content = line + indent;
            let is_deeper = matches!(text.at(content), b' ' | b'\t');
            match before {
                Some(false) if style == Style::Folded && !is_deeper => buffer.extend((breaks == 0).then_some(' ')),
                Some(_) => buffer.push('\n'),
                None => {}
            }
            buffer.extend(std::iter::repeat_n('\n', breaks));
            breaks = 0;
            before = Some(is_deeper);
            end = text.line_end(at);
            buffer.push_str(text.slice(content..end));
            line = end + 1;
        }
        match chomping {
            Chomping::Strip => {}
            Chomping::Clip => buffer.push('\n'),
            Chomping::Keep => buffer.extend(std::iter::repeat_n('\n', breaks + 1)),
        }
        (end, line)
    }
}
