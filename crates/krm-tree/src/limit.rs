//! The limit on the bytes that a run writes, and the part of it that is left.
//!
//! A short text can mean a long one: an alias of ten bytes can have a value of megabytes, a line that moves into a deep map gets hundreds
//! of blanks, and each of a thousand conflicts names the key above it. So bytes are counted where they are made, and the first byte too
//! many ends the run, before the memory is taken.
//!
//! The rule: a run must not write more than `MULTIPLE` times its input, and may always write `FLOOR` bytes; `maxOutput` of the
//! functionConfig sets another limit. The bytes that the run makes count: the text of what is new in resources, and results with their
//! values. Text that a merge leaves as it was is copied and does not count. If the same bytes are written again in another form, such as
//! results into the ResourceList, each form is counted separately under the same limit.

use std::fmt;
use std::io;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

/// How many times the input a run may write. The densest intended input is a conflict between values of one letter: it has a result of some
/// 600 bytes for three lines of some 16 bytes each, about 12 times the input.
const MULTIPLE: u64 = 20;

/// How many bytes a run may always write, even for a small input: ten times the largest request that an API server takes.
const FLOOR: u64 = 32 << 20;

/// How many bytes a run may write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit {
    input: u64,
    asked: Option<Asked>,
    field: &'static str,
}

/// The limit that a user asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Asked(u64);

impl Limit {
    /// The limit for an input of this many bytes, or the one that the user asked for. `field` is the setting that messages name for it.
    pub fn new(input: usize, asked: Option<Asked>, field: &'static str) -> Self {
        Self { input: input as u64, asked, field }
    }

    /// Adds bytes of input to this limit.
    #[must_use]
    pub fn with_input(self, more: usize) -> Self {
        Self { input: self.input.saturating_add(more as u64), ..self }
    }

    fn bytes(self) -> u64 {
        self.asked.map_or(self.input.saturating_mul(MULTIPLE).max(FLOOR), |asked| asked.0)
    }
}

impl Default for Limit {
    /// The limit without any input, for hosts that have no setting for another limit.
    fn default() -> Self {
        Self::new(0, None, "maxOutput")
    }
}

impl Asked {
    /// This many bytes.
    pub fn bytes(bytes: u64) -> Self {
        Self(bytes)
    }

    /// A number of bytes as Kubernetes writes quantities: `64Mi`, `1Gi`, `500M` or `1048576`; `None` for anything else.
    pub fn parse(text: &str) -> Option<Self> {
        let digits = text.bytes().take_while(u8::is_ascii_digit).count();
        let (number, unit) = text.split_at(digits);
        let unit: u64 = match unit {
            "" => 1,
            "k" => 1000,
            "M" => 1_000_000,
            "G" => 1_000_000_000,
            _ => UNITS.iter().find(|(name, _)| *name == unit)?.1,
        };
        number.parse::<u64>().ok()?.checked_mul(unit).map(Self)
    }
}

/// The units in which sizes are shown, the largest first.
const UNITS: [(&str, u64); 3] = [("Gi", 1 << 30), ("Mi", 1 << 20), ("Ki", 1 << 10)];

/// A size as [`Asked::parse`] takes it.
fn shown(bytes: u64) -> String {
    let exact = UNITS.iter().find(|(_, unit)| bytes >= *unit && bytes.is_multiple_of(*unit));
    let (name, unit) = exact.copied().unwrap_or(("", 1));
    format!("{}{name}", bytes / unit)
}

/// The kind of output that exceeds a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The text of resources.
    Text,
    /// Results.
    Results,
    /// The functionConfig, with the values of its aliases.
    FunctionConfig,
}

/// The output would exceed the limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exceeded {
    limit: Limit,
    kind: Kind,
}

impl fmt::Display for Exceeded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Limit { asked, field, .. } = self.limit;
        let (what, hint) = match self.kind {
            Kind::Text => (
                "the new text of resources",
                "the value of an alias counts each time that it is written out, and so do the spaces that indent a line",
            ),
            Kind::Results => (
                "the results",
                "each result has the path and the values of its field, so long keys and values count once for each conflict",
            ),
            Kind::FunctionConfig => {
                ("the functionConfig", "the value of an alias counts each time that the alias is used")
            }
        };
        let limit = shown(self.limit.bytes());
        let why = match asked {
            Some(_) => format!("the {limit} of `{field}`"),
            None if self.limit.bytes() == FLOOR => format!("{limit}, because the input is small"),
            None => format!("{}, which is {MULTIPLE} times the input", shown(self.limit.bytes() >> 20 << 20)),
        };
        let next = shown((self.limit.bytes().saturating_mul(4) >> 20).max(1) << 20);
        write!(
            f,
            "{what} must not take more bytes than {why}: {hint}; if they are meant to, set `{field}` to more, as `{next}`"
        )
    }
}

impl std::error::Error for Exceeded {}

/// The part of a limit that is left. Several threads may share it: if they exceed it, all of them find it exceeded.
#[derive(Debug)]
pub struct Budget {
    limit: Limit,
    /// How many bytes are left; [`EXCEEDED`] after a request for more than that. Then nothing more is written.
    left: AtomicU64,
}

/// What is left after a request for more than was left. No budget is as large as this.
const EXCEEDED: u64 = u64::MAX;

impl Default for Budget {
    fn default() -> Self {
        Self::new(Limit::default())
    }
}

impl Budget {
    /// A budget of which nothing is spent yet.
    pub fn new(limit: Limit) -> Self {
        Self { limit, left: AtomicU64::new(limit.bytes().min(EXCEEDED - 1)) }
    }

    /// Another budget with what is left of this one, for what is written instead.
    #[must_use]
    pub fn again(&self) -> Self {
        Self { limit: self.limit, left: AtomicU64::new(self.left.load(Relaxed)) }
    }

    /// Subtracts the bytes that the caller is about to write. `false` if fewer are left: the caller must not write them, and
    /// [`Budget::check`] fails from then on.
    pub fn take(&self, bytes: usize) -> bool {
        let rest = |left: u64| (left != EXCEEDED).then(|| left.checked_sub(bytes as u64).unwrap_or(EXCEEDED));
        self.left.fetch_update(Relaxed, Relaxed, rest).is_ok() && !self.is_exceeded()
    }

    /// Makes a value of this many bytes, if enough are left; otherwise returns an empty value.
    pub fn paid<T: Default>(&self, bytes: usize, make: impl FnOnce() -> T) -> T {
        if self.take(bytes) { make() } else { T::default() }
    }

    /// Whether a caller asked for more bytes than were left.
    pub fn is_exceeded(&self) -> bool {
        self.left.load(Relaxed) == EXCEEDED
    }

    /// Checks that the whole output was written.
    ///
    /// # Errors
    /// The limit was exceeded, so the output is not complete.
    pub fn check(&self, kind: Kind) -> Result<(), Exceeded> {
        if self.is_exceeded() { Err(Exceeded { limit: self.limit, kind }) } else { Ok(()) }
    }

    /// The text that a serializer writes, counted against the limit.
    ///
    /// # Errors
    /// The limit allows fewer bytes, the text is not UTF-8, or the serializer failed.
    pub fn written<E>(
        &self,
        kind: Kind,
        write: impl FnOnce(&mut dyn io::Write) -> Result<(), E>,
    ) -> Result<String, Exceeded> {
        let mut sink = Sink { budget: self, bytes: Vec::new() };
        let done = write(&mut sink).is_ok();
        let text = String::from_utf8(sink.bytes).ok().filter(|_| done);
        text.ok_or(Exceeded { limit: self.limit, kind })
    }
}

/// A writer that stops at the limit.
struct Sink<'b> {
    budget: &'b Budget,
    bytes: Vec<u8>,
}

impl io::Write for Sink<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if !self.budget.take(bytes.len()) {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limit(input: usize, asked: &str) -> Limit {
        Limit::new(input, Asked::parse(asked), "spec.maxOutput")
    }

    #[test]
    fn a_size_is_written_as_a_quantity() {
        for (text, want) in [
            ("0", Some(0)),
            ("1048576", Some(1 << 20)),
            ("3k", Some(3000)),
            ("3M", Some(3_000_000)),
            ("3G", Some(3_000_000_000)),
            ("3Ki", Some(3 << 10)),
            ("3Mi", Some(3 << 20)),
            ("3Gi", Some(3 << 30)),
            ("18446744073709551615", Some(u64::MAX)),
            ("18446744073709551615Ki", None),
            ("", None),
            ("Mi", None),
            ("-1", None),
            ("1.5Gi", None),
            ("1 Gi", None),
            ("1gi", None),
            ("1MB", None),
        ] {
            assert_eq!(Asked::parse(text), want.map(Asked), "{text}");
        }
    }

    #[test]
    fn the_limit_grows_with_the_input_and_is_never_small_unless_asked_for() {
        assert_eq!(limit(0, "").bytes(), 32 << 20);
        assert_eq!(limit(1 << 20, "").bytes(), 32 << 20);
        assert_eq!(limit(1 << 20, "").with_input(1 << 20).bytes(), 40 << 20);
        assert_eq!(limit(1 << 20, "1Ki").with_input(1 << 20).bytes(), 1 << 10);
    }

    #[test]
    fn what_is_left_shrinks_and_nothing_is_left_once_it_was_too_little() {
        let budget = Budget::new(limit(0, "10"));
        assert_eq!(budget.paid(6, || "six"), "six");
        assert!(budget.take(4) && !budget.is_exceeded());
        assert_eq!(budget.check(Kind::Text), Ok(()));
        assert_eq!(budget.paid(1, || "one"), "");
        assert!(!budget.take(0) && budget.is_exceeded());
        assert!(budget.check(Kind::Text).is_err());
    }

    #[test]
    fn a_writer_stops_at_the_limit() {
        let write = |text: &'static str| move |to: &mut dyn io::Write| to.write_all(text.as_bytes());
        let budget = Budget::new(limit(0, "3"));
        assert_eq!(budget.written(Kind::Results, write("abc")).as_deref(), Ok("abc"));
        assert!(budget.written(Kind::Results, write("d")).is_err());
    }

    #[test]
    fn the_message_says_which_limit_and_how_to_raise_it() {
        for (limit, want) in [
            (limit(0, ""), ["than 32Mi, because the input is small: ", "set `spec.maxOutput` to more, as `128Mi`"]),
            (limit(2 << 20, ""), ["than 40Mi, which is 20 times the input: ", "as `160Mi`"]),
            (limit(0, "1000"), ["than the 1000 of `spec.maxOutput`: ", "as `1Mi`"]),
            (limit(0, "1Gi"), ["than the 1Gi of `spec.maxOutput`: ", "as `4Gi`"]),
        ] {
            for kind in [Kind::Text, Kind::Results, Kind::FunctionConfig] {
                let message = Exceeded { limit, kind }.to_string();
                assert!(want.iter().all(|part| message.contains(part)), "{message}");
            }
        }
    }
}
