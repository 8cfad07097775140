//! [`ScannedText`]: the bytes of a usual text, and the scans over them, many at a time.
//!
//! All scans rely on one promise, which [`ScannedText::of`] checks: the text ends with a line break, and every scan stops at one. A byte after the
//! end counts as a line break, too, so a mistake of a reader cannot go further than that.

use std::ops::Range;

use crate::chunk::Chunk;

/// A text in which each byte is printable, a tab or a `\n`, and which ends with a `\n` unless it is empty. Every reader breaks its lines at
/// each `\n`, and nowhere else.
#[derive(Clone, Copy)]
pub struct ScannedText<'t>(&'t str);

impl<'t> ScannedText<'t> {
    /// A text, if it is usual.
    pub fn of(text: &'t str) -> Option<Self> {
        let bytes = text.as_bytes();
        // One is added first. Then control characters, DEL (0x7f) and the bytes beyond ASCII are at most 0x20 as signed numbers. A tab is rare,
        // so it counts as odd, too.
        let is_odd = |byte: u8| byte.wrapping_add(1).cast_signed() <= 0x20 && byte != b'\n';
        let (chunks, rest) = bytes.as_chunks::<64>();
        // Without an early exit from a chunk, the compiler looks at many bytes at once.
        let has_odd = |chunk: &[u8]| chunk.iter().fold(false, |any, byte| any | is_odd(*byte));
        let odd = chunks.iter().enumerate().filter(|(_, chunk)| has_odd(*chunk)).map(|(i, _)| i * 64);
        let odd = odd.chain(Some(bytes.len() - rest.len()));
        let is_usual = odd.map(|at| at..bytes.len().min(at + 64)).all(|range| is_usual(bytes, range));
        (is_usual && bytes.last().is_none_or(|last| *last == b'\n')).then_some(Self(text))
    }

    /// Its length in bytes.
    pub fn len(self) -> usize {
        self.0.len()
    }

    /// The byte at an offset.
    #[inline(always)]
    pub fn at(self, at: usize) -> u8 {
        self.0.as_bytes().get(at).copied().unwrap_or(b'\n')
    }

    /// The text of a range.
    #[inline(always)]
    pub fn slice(self, range: Range<usize>) -> &'t str {
        self.0.get(range).unwrap_or_default()
    }

    /// The bytes of a range.
    #[inline(always)]
    pub fn bytes(self, range: Range<usize>) -> &'t [u8] {
        self.0.as_bytes().get(range).unwrap_or_default()
    }

    /// The offset of the first byte, from `at` on, that may end a plain scalar: a `:`, a `#`, a tab or a line break.
    #[inline(always)]
    pub fn plain_stop(self, at: usize) -> usize {
        // In a usual text, tabs and line breaks are the only bytes below a blank.
        let found = |bytes: Chunk| bytes.controls().or(bytes.equal(b':')).or(bytes.equal(b'#')).first();
        self.find(at, found, |byte| matches!(byte, b':' | b'#' | b'\t' | b'\n'))
    }

    /// The offset of the first byte, from `at` on, that may end the text between these quotes: the quote, a `\`, a tab or a line break.
    #[inline(always)]
    pub fn quoted_stop(self, at: usize, quote: u8) -> usize {
        let found = |bytes: Chunk| bytes.controls().or(bytes.equal(quote)).or(bytes.equal(b'\\')).first();
        self.find(at, found, |byte| byte == quote || matches!(byte, b'\\' | b'\t' | b'\n'))
    }

    /// The offset of the first byte, from `at` on, that is not a blank.
    #[inline(always)]
    pub fn skip_blanks(self, at: usize) -> usize {
        self.find(at, |bytes| bytes.other_than(b' ').first(), |byte| byte != b' ')
    }

    /// The same between two tokens of a line, where most often one blank is.
    #[inline(always)]
    pub fn skip_gap(self, at: usize) -> usize {
        if self.at(at) != b' ' {
            at
        } else if self.at(at + 1) != b' ' {
            at + 1
        } else {
            self.skip_blanks(at + 2)
        }
    }

    /// The offset of the line break that ends the line of an offset.
    #[inline(always)]
    pub fn line_end(self, at: usize) -> usize {
        self.find(at, |bytes| bytes.equal(b'\n').first(), |byte| byte == b'\n')
    }

    /// Goes back from an offset over blanks.
    #[inline(always)]
    pub fn back_over_blanks(self, mut at: usize) -> usize {
        // There is no byte before the first one, so no blank.
        while self.at(at.wrapping_sub(1)) == b' ' {
            at -= 1;
        }
        at
    }

    /// The offset of the first byte that matches: among many bytes, by its number, or one by one.
    #[inline(always)]
    fn find(self, at: usize, among: impl Fn(Chunk) -> Option<usize>, is_found: impl Fn(u8) -> bool) -> usize {
        // Most scans end in their first chunk.
        let Some(chunk) = self.chunk(at) else { return self.find_on(at, among, is_found) };
        match among(chunk) {
            Some(found) => at + found,
            None => self.find_on(at + Chunk::LEN, among, is_found),
        }
    }

    #[inline(never)]
    fn find_on(self, mut at: usize, among: impl Fn(Chunk) -> Option<usize>, is_found: impl Fn(u8) -> bool) -> usize {
        while let Some(chunk) = self.chunk(at) {
            if let Some(found) = among(chunk) {
                return at + found;
            }
            at += Chunk::LEN;
        }
        while !is_found(self.at(at)) {
            at += 1;
        }
        at
    }

    /// The chunk that begins at an offset; `None` at the end of the text.
    #[inline(always)]
    fn chunk(self, at: usize) -> Option<Chunk> {
        // All offsets of a text fit in 32 bits. The compiler must know it: then the sum cannot overflow, and needs no check.
        let at = at as u32 as usize;
        self.0.as_bytes().get(at..at + Chunk::LEN).and_then(<[u8]>::first_chunk).map(Chunk::of)
    }
}

/// Whether all characters that begin in a range are printable, and no reader takes one for a line break. Control characters, the byte order
/// mark and noncharacters are not printable.
#[cold]
fn is_usual(bytes: &[u8], range: Range<usize>) -> bool {
    let behind = |at: usize, n: usize| bytes.get(at + n).copied().unwrap_or_default();
    range.into_iter().all(|at| match bytes[at] {
        b'\n' | b'\t' | b' '..=0x7e => true,
        0..=0x1f | 0x7f => false,
        // U+0080 to U+009F.
        0xc2 => behind(at, 1) >= 0xa0,
        // U+2028 and U+2029.
        0xe2 => !matches!((behind(at, 1), behind(at, 2)), (0x80, 0xa8 | 0xa9)),
        // U+FEFF, U+FFFE and U+FFFF.
        0xef => !matches!((behind(at, 1), behind(at, 2)), (0xbb, 0xbf) | (0xbf, 0xbe | 0xbf)),
        _ => true,
    })
}
