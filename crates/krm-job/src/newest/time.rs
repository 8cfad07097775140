//! [`Time`]: a point in time, as RFC 3339 writes it, with a blank or a `T` between the day and the hour.

use std::cmp::Ordering;

/// A point in time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Time<'t> {
    /// Whether it says how far its clock is from UTC.
    has_zone: bool,
    /// The seconds since the beginning of the year 0.
    seconds: i64,
    /// The digits of the fraction of a second, without zeros at the end.
    fraction: &'t str,
}

impl<'t> Time<'t> {
    /// Reads a point in time; `None` if the text is none.
    pub fn read(text: &'t str) -> Option<Self> {
        let (day, clock) = text.split_at_checked(10)?;
        let clock = clock.strip_prefix(['T', 't', ' '])?;
        let [year, month, day] = numbers(day, '-', [4, 2, 2])?;
        let (clock, rest) = clock.split_at_checked(8)?;
        let [hour, minute, second] = numbers(clock, ':', [2, 2, 2])?;
        let (fraction, zone) = match rest.strip_prefix('.') {
            Some(rest) => rest.split_at(rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len())),
            None => ("", rest),
        };
        let offset = match zone {
            "" | "Z" | "z" => 0,
            _ => {
                let sign = if zone.starts_with('-') { -1 } else { 1 };
                let [hours, minutes] = numbers(zone.strip_prefix(['+', '-'])?, ':', [2, 2])?;
                sign * (hours * 60 + minutes)
            }
        };
        let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
        let lengths = [31, if is_leap { 29 } else { 28 }, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
        let before = usize::try_from(month).ok()?.checked_sub(1)?;
        let length = lengths.get(before)?;
        let is_time = (1..=*length).contains(&day) && hour < 24 && minute < 60 && second <= 60;
        let leaps = if year == 0 { 0 } else { (year - 1) / 4 - (year - 1) / 100 + (year - 1) / 400 + 1 };
        let days = year * 365 + leaps + lengths[..before].iter().sum::<i64>() + day;
        let seconds = ((days * 24 + hour) * 60 + minute - offset) * 60 + second;
        let fraction = fraction.trim_end_matches('0');
        is_time.then_some(Self { has_zone: !zone.is_empty(), seconds, fraction })
    }

    /// The order of two points in time; `None` if they are one, or if only one of them says how far its clock is from UTC.
    pub fn order(&self, other: &Self) -> Option<Ordering> {
        let order = self.seconds.cmp(&other.seconds).then_with(|| self.fraction.cmp(other.fraction));
        (self.has_zone == other.has_zone && order.is_ne()).then_some(order)
    }
}

/// Numbers of these lengths with a sign between them; `None` if the text is anything else.
fn numbers<const N: usize>(text: &str, between: char, lengths: [usize; N]) -> Option<[i64; N]> {
    let mut pieces = text.split(between);
    let mut all = [0; N];
    for (number, length) in all.iter_mut().zip(lengths) {
        let piece = pieces.next()?;
        *number = piece.parse().ok().filter(|_| piece.len() == length && piece.bytes().all(|b| b.is_ascii_digit()))?;
    }
    pieces.next().is_none().then_some(all)
}
