//! A text as the library reads it where a line of a quoted text is indented less than YAML 1.2 asks for.
//!
//! libyaml and go-yaml look at no indentation between quotes. So kubectl and kustomize read such lines, and formatters leave them. The library
//! refuses them. It gets a copy in which the quoted text is one line, as long as before, so that all offsets hold. What the quoted text means
//! is read from the text itself, beginning at its quote: there nothing is around it that a line could be indented less than.

use std::borrow::Cow;

use granit_parser::{ErrorKind, Event, ScanError};

use super::{Seen, events, offset_of};

/// How many bytes may be read again for one text.
const MAX_AGAIN: usize = 1 << 26;

/// A text, and the copy of it that the library reads.
pub(super) struct Joined<'t> {
    text: &'t str,
    copy: Cow<'t, str>,
    /// The quoted texts that are one line in the copy, in order: where each begins, and what it means.
    quoted: Vec<(usize, String)>,
    /// How many bytes may still be read again.
    again: usize,
}

impl<'t> Joined<'t> {
    pub fn of(text: &'t str) -> Self {
        Self { text, copy: Cow::Borrowed(text), quoted: Vec::new(), again: MAX_AGAIN }
    }

    /// The library's events. Their ranges are offsets of the text.
    pub fn events(&self) -> impl Iterator<Item = Result<Seen<'_>, ScanError>> {
        events(&self.copy, 0..self.copy.len()).map(|seen| {
            let (mut event, range, tag) = seen?;
            if let Event::Scalar(value, ..) = &mut event
                && let Ok(found) = self.quoted.binary_search_by_key(&range.start, |(start, _)| *start)
            {
                *value = Cow::Borrowed(&self.quoted[found].1);
            }
            Ok((event, range, tag))
        })
    }

    /// Makes one line of the quoted text that the library refuses. `false` if it refuses something else, or if no reader takes the quoted text.
    pub fn joins(&mut self, refused: &ScanError) -> bool {
        self.one_line(refused).is_some()
    }

    fn one_line(&mut self, refused: &ScanError) -> Option<()> {
        if !matches!(refused.kind(), ErrorKind::InvalidQuotedScalarIndent | ErrorKind::TabInIndentation) {
            return None;
        }
        self.again = self.again.checked_sub(self.text.len())?;
        // What is before the line break ends within the quoted text. A blank takes the place of the break, which may be escaped.
        let before = self.copy.get(..offset_of(refused)?)?.trim_end_matches([' ', '\t', '\n', '\r']).to_owned() + " ";
        let open = events(&before, 0..before.len()).find_map(Result::err)?;
        let start = offset_of(&open).filter(|_| matches!(open.kind(), ErrorKind::UnclosedQuotedScalar))?;
        let mut alone = events(self.text, start..self.text.len());
        let (value, range) = alone.find_map(|seen| match seen.ok()? {
            (Event::Scalar(value, ..), range, _) => Some((value, range)),
            _ => None,
        })?;
        self.quoted.push((start, value.into_owned()));
        let one_line = self.text[range.clone()].replace(['\n', '\r', '\t'], " ");
        self.copy.to_mut().replace_range(range, &one_line);
        Some(())
    }
}
