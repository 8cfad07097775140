//! The values of scalars: typed as go-yaml v3 does, compared by type and value, never through a float.
//!
//! The Go tools (kyaml, kpt, kustomize) read with go-yaml v3, so its table decides what is a change: `0x10` and `16` are the same number,
//! `1` and `"1"` are different values. A number is kept as decimal digits and an exponent; a float would call two different 20-digit
//! integers the same.

use std::borrow::Cow;

/// The typed value of a scalar.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Scalar<'a> {
    /// `null`, `~`, or an empty value.
    Null,
    /// `true` or `false` in the three case forms; `yes` and `on` are strings here.
    Bool(bool),
    /// An integer or a float: `1e3` and `1000` are one value.
    Number(Number),
    /// A date or a time, by its text.
    Timestamp(Cow<'a, str>),
    /// Text.
    String(Cow<'a, str>),
    /// A scalar with any other tag, such as `!!binary` or `!custom`: the tag and the text.
    Tagged(Cow<'a, str>, Cow<'a, str>),
}

/// A number as sign, decimal digits and exponent, so that equal values have one form.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Number {
    /// `digits` times ten to the power of `exponent`; no leading or trailing zeros. Zero has no digits.
    Decimal {
        /// Below zero.
        negative: bool,
        /// The significant digits.
        digits: String,
        /// The power of ten.
        exponent: i64,
    },
    /// `.inf`, or `-.inf` if negative.
    Infinity {
        /// Below zero.
        negative: bool,
    },
    /// `.nan`. It is equal to itself here, so an unchanged `.nan` is no change.
    NotANumber,
}

impl Number {
    /// Makes a number of a sign, of digits with at most one point, and of an exponent.
    fn decimal(negative: bool, mantissa: &str, exponent: i64) -> Self {
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let digits = if fraction.is_empty() { Cow::Borrowed(whole) } else { Cow::Owned([whole, fraction].concat()) };
        let significant = digits.trim_end_matches('0');
        let zeros = (digits.len() - significant.len()) as i64;
        let exponent = exponent.saturating_sub(fraction.len() as i64).saturating_add(zeros);
        let digits = significant.trim_start_matches('0').to_owned();
        if digits.is_empty() {
            return Self::Decimal { negative: false, digits, exponent: 0 };
        }
        Self::Decimal { negative, digits, exponent }
    }

    /// The number as plain decimal text if that is short, for messages, merge keys and JSON.
    pub fn to_decimal(&self) -> Option<String> {
        let Self::Decimal { negative, digits, exponent } = self else {
            return None;
        };
        let sign = if *negative { "-" } else { "" };
        if digits.is_empty() {
            return Some("0".into());
        }
        let point = digits.len() as i64 + exponent;
        Some(match *exponent {
            0..=40 => [sign, digits, &"0".repeat(*exponent as usize)].concat(),
            -40..0 if point > 0 => {
                let (whole, fraction) = digits.split_at(point as usize);
                format!("{sign}{whole}.{fraction}")
            }
            -40..0 => format!("{sign}0.{}{digits}", "0".repeat(-point as usize)),
            _ => format!("{sign}{digits}e{exponent}"),
        })
    }
}

impl<'a> Scalar<'a> {
    /// The typed value of a plain token without a tag. Source: `resolve` in go-yaml v3's resolve.go.
    pub fn plain(token: &'a str) -> Self {
        // Of most texts, the first byte shows at once that they are none of these.
        let Some(first) = token.as_bytes().first() else { return Self::Null };
        match (first, token) {
            (b'~' | b'n' | b'N', "~" | "null" | "Null" | "NULL") => return Self::Null,
            (b't' | b'T', "true" | "True" | "TRUE") => return Self::Bool(true),
            (b'f' | b'F', "false" | "False" | "FALSE") => return Self::Bool(false),
            (b'.', ".nan" | ".NaN" | ".NAN") => return Self::Number(Number::NotANumber),
            (b'.' | b'+', ".inf" | ".Inf" | ".INF" | "+.inf" | "+.Inf" | "+.INF") => {
                return Self::Number(Number::Infinity { negative: false });
            }
            (b'-', "-.inf" | "-.Inf" | "-.INF") => return Self::Number(Number::Infinity { negative: true }),
            _ => {}
        }
        let number = match first {
            b'.' => float(token),
            b'0'..=b'9' | b'+' | b'-' => {
                if timestamp(token) {
                    return Self::Timestamp(Cow::Borrowed(token));
                }
                let plain = if token.contains('_') { Cow::Owned(token.replace('_', "")) } else { Cow::Borrowed(token) };
                integer(&plain).or_else(|| float(&plain))
            }
            _ => None,
        };
        number.map_or(Self::String(Cow::Borrowed(token)), Self::Number)
    }

    /// The decimal form of a text that would be a number if it were bare, so that the merge keys `80` and `"80"` agree.
    pub fn plain_number(text: &str) -> Option<String> {
        match Scalar::plain(text) {
            Scalar::Number(n) => n.to_decimal(),
            _ => None,
        }
    }

    /// The typed value of a token with a core tag (`!!str`, `!!int`, …); `None` for any other tag.
    pub(crate) fn tagged(core: &str, text: &'a str) -> Option<Self> {
        Some(match core {
            "str" => Self::String(Cow::Borrowed(text)),
            "null" | "bool" | "int" | "float" | "timestamp" => Self::plain(text),
            _ => return None,
        })
    }
}

/// Whether a text is its own merge key, bare or in quotes: it is no null, and no number that [`Number::to_decimal`] writes otherwise. `false`
/// proves nothing.
pub fn is_canonical(text: &str) -> bool {
    match text.as_bytes() {
        // A number with up to 18 digits fits in 64 bits.
        [b'1'..=b'9', rest @ ..] => rest.len() < 18 && rest.iter().all(u8::is_ascii_digit),
        [] | [b'~' | b'n' | b'N' | b'.' | b'+' | b'-' | b'0', ..] => false,
        _ => true,
    }
}

/// An integer in any base that Go's `strconv.ParseInt(s, 0, 64)` takes, and YAML 1.2's `0o`.
fn integer(token: &str) -> Option<Number> {
    let (negative, rest) = match token.as_bytes().first()? {
        b'-' => (true, &token[1..]),
        b'+' => (false, &token[1..]),
        _ => (false, token),
    };
    let (base, digits) = match rest.get(..2) {
        Some("0x" | "0X") => (16, &rest[2..]),
        Some("0o" | "0O") => (8, &rest[2..]),
        Some("0b" | "0B") => (2, &rest[2..]),
        _ if rest.len() > 1 && rest.starts_with('0') => (8, &rest[1..]),
        _ => (10, rest),
    };
    if digits.is_empty() || !digits.chars().all(|c| c.is_digit(base)) {
        return None;
    }
    let value = u64::from_str_radix(digits, base).ok()?;
    let fits = !negative || value <= i64::MIN.unsigned_abs();
    let digits = if base == 10 { Cow::Borrowed(digits) } else { Cow::Owned(value.to_string()) };
    fits.then(|| Number::decimal(negative, &digits, 0))
}

/// A float as go-yaml's `yamlStyleFloat` has it: `[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?`.
fn float(token: &str) -> Option<Number> {
    let negative = token.starts_with('-');
    let rest = token.strip_prefix(['-', '+']).unwrap_or(token);
    let (mantissa, exponent) = match rest.find(['e', 'E']) {
        Some(i) => (&rest[..i], Some(&rest[i + 1..])),
        None => (rest, None),
    };
    let (whole, fraction) = match mantissa.split_once('.') {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (mantissa, None),
    };
    let digits = |s: &str| s.bytes().all(|b| b.is_ascii_digit());
    if !digits(whole) || !digits(fraction.unwrap_or("")) || (whole.is_empty() && fraction.is_none_or(str::is_empty)) {
        return None;
    }
    if let Some(e) = exponent {
        let e = e.strip_prefix(['-', '+']).unwrap_or(e);
        if e.is_empty() || !digits(e) {
            return None;
        }
    }
    // Go reads a number that does not fit a float64 as a string. Only the range comes from the float, never the value.
    if !rest.parse::<f64>().is_ok_and(f64::is_finite) {
        return None;
    }
    let exponent = exponent.map_or(Some(0), |e| e.parse().ok()).unwrap_or(i64::MIN / 2);
    Some(Number::decimal(negative, mantissa, exponent))
}

/// A date, or a date and time, in the forms of go-yaml's `allowedTimestampFormats`.
fn timestamp(token: &str) -> bool {
    fn digits(s: &str, min: usize, max: usize) -> Option<(u32, &str)> {
        let n = s.bytes().take(max).take_while(u8::is_ascii_digit).count();
        (n >= min).then(|| (s[..n].parse().unwrap_or(0), &s[n..]))
    }
    fn parse(s: &str) -> Option<()> {
        let (_, s) = digits(s, 4, 4)?;
        let (month, s) = digits(s.strip_prefix('-')?, 1, 2)?;
        let (day, s) = digits(s.strip_prefix('-')?, 1, 2)?;
        if !(1..=12).contains(&month) || !(1..=31).contains(&day) {
            return None;
        }
        if s.is_empty() {
            return Some(());
        }
        let (s, zoned) = match s.as_bytes()[0] {
            b'T' | b't' => (&s[1..], true),
            b' ' => (&s[1..], false),
            _ => return None,
        };
        let (hour, s) = digits(s, 1, 2)?;
        let (minute, s) = digits(s.strip_prefix(':')?, 1, 2)?;
        let (second, s) = digits(s.strip_prefix(':')?, 1, 2)?;
        if hour > 23 || minute > 59 || second > 59 {
            return None;
        }
        let s = match s.strip_prefix('.') {
            Some(fraction) => digits(fraction, 1, 18)?.1,
            None => s,
        };
        match s {
            "" => (!zoned).then_some(()),
            "Z" => zoned.then_some(()),
            _ if zoned => {
                let s = s.strip_prefix(['+', '-'])?;
                let (_, s) = digits(s, 2, 2)?;
                let (_, s) = digits(s.strip_prefix(':')?, 2, 2)?;
                s.is_empty().then_some(())
            }
            _ => None,
        }
    }
    // `2001-1-1`: the shortest form has eight characters, and the fifth is a dash.
    token.len() >= 8 && token.as_bytes()[4] == b'-' && parse(token).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn show(token: &str) -> String {
        match Scalar::plain(token) {
            Scalar::Null => "null".into(),
            Scalar::Bool(b) => b.to_string(),
            Scalar::Number(n) => n.to_decimal().unwrap_or_else(|| format!("{n:?}")),
            Scalar::Timestamp(t) => format!("time {t}"),
            Scalar::String(s) => format!("{s:?}"),
            Scalar::Tagged(..) => "tagged".into(),
        }
    }

    /// The middle column has the results of go-yaml v3. The tokens are the ones on which readers disagree.
    #[test]
    fn a_plain_token_is_typed_as_go_yaml_v3_does() {
        for (token, want) in [
            ("", "null"),
            ("~", "null"),
            ("Null", "null"),
            ("nULL", "\"nULL\""),
            ("True", "true"),
            ("FALSE", "false"),
            ("yes", "\"yes\""),
            ("on", "\"on\""),
            ("y", "\"y\""),
            ("0123", "83"),
            ("08", "8"),
            ("0o17", "15"),
            ("1_000", "1000"),
            ("-_1", "-1"),
            ("0b11", "3"),
            ("0x10", "16"),
            ("-0x10", "-16"),
            ("+5", "5"),
            ("1e3", "1000"),
            ("1.10", "1.1"),
            (".5", "0.5"),
            ("5.", "5"),
            ("1:30", "\"1:30\""),
            ("1.2.3", "\"1.2.3\""),
            ("-", "\"-\""),
            ("+", "\"+\""),
            (".", "\".\""),
            ("123456789012345678901234567890", "123456789012345678901234567890"),
            ("18446744073709551615", "18446744073709551615"),
            ("1e400", "\"1e400\""),
            ("1e", "\"1e\""),
            ("0x", "\"0x\""),
            ("-9223372036854775808", "-9223372036854775808"),
            ("0", "0"),
            ("-0", "0"),
            ("0.0", "0"),
            ("2001-01-01", "time 2001-01-01"),
            ("2001-13-01", "\"2001-13-01\""),
            ("2001-12-14T21:59:43.10-05:00", "time 2001-12-14T21:59:43.10-05:00"),
            ("2001-12-14 21:59:43", "time 2001-12-14 21:59:43"),
            ("=", "\"=\""),
            ("<<", "\"<<\""),
            ("0xffffffffffffffffff", "\"0xffffffffffffffffff\""),
        ] {
            assert_eq!(show(token), want, "{token}");
            let is_other = matches!(Scalar::plain(token), Scalar::Null | Scalar::Number(_)) && want != token;
            assert!(!is_canonical(token) || !is_other, "{token}");
        }
    }

    #[test]
    fn numbers_are_compared_by_value_and_exactly() {
        let number = |t| Scalar::plain(t);
        for (a, b) in [
            ("0x10", "16"),
            ("1e3", "1000"),
            ("1.10", "1.1"),
            ("017", "15"),
            ("1_000", "1000"),
            ("-0", "0"),
            ("100e-2", "1"),
        ] {
            assert_eq!(number(a), number(b), "{a} {b}");
        }
        for (a, b) in [
            ("12345678901234567890123", "12345678901234567890124"),
            ("9007199254740993", "9007199254740992"),
            ("1", "-1"),
            ("0.1", "0.10000000000000001"),
        ] {
            assert_ne!(number(a), number(b), "{a} {b}");
        }
    }
}
