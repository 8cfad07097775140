//! Quantities of Kubernetes as numbers: `1000m`, `1` and `1e0` are equal.

use serde_json::Value;

/// The server keeps at least one nano and at most 2^63-1: it rounds a finer value away from zero, and caps a larger one. Source:
/// `ParseQuantity` of k8s.io/apimachinery/pkg/api/resource.
const NANO: i128 = 1_000_000_000;
const GREATEST: i128 = i64::MAX as i128 * NANO;

/// A quantity in nanos; `None` if it is invalid, or has more digits than 128 bits hold.
pub fn nanos(value: &Value) -> Option<i128> {
    match value {
        Value::String(text) => parsed(text.trim()),
        Value::Number(number) => parsed(&number.to_string()),
        _ => None,
    }
}

fn parsed(text: &str) -> Option<i128> {
    let (is_negative, unsigned) = match text.as_bytes().first()? {
        b'-' => (true, &text[1..]),
        b'+' => (false, &text[1..]),
        _ => (false, text),
    };
    let end = unsigned.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(unsigned.len());
    let (number, suffix) = unsigned.split_at(end);
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if fraction.contains('.') || whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let fraction = fraction.trim_end_matches('0');
    let digits = format!("0{}{fraction}", whole.trim_start_matches('0')).parse::<i128>().ok()?;
    let (tens, twos) = exponents(suffix)?;
    let tens = tens.checked_add(9)?.checked_sub(i32::try_from(fraction.len()).ok()?)?;
    let scaled = digits.checked_mul(1 << twos)?;
    let nanos = match u32::try_from(tens) {
        _ if scaled == 0 => 0,
        Ok(up) => 10_i128.checked_pow(up).and_then(|power| scaled.checked_mul(power)).unwrap_or(GREATEST),
        Err(_) => match 10_i128.checked_pow(tens.unsigned_abs()) {
            Some(power) => scaled / power + i128::from(scaled % power != 0),
            None => 1,
        },
    };
    let nanos = nanos.min(GREATEST);
    Some(if is_negative { -nanos } else { nanos })
}

/// The exponents of ten and of two that a suffix stands for.
fn exponents(suffix: &str) -> Option<(i32, u32)> {
    Some(match suffix {
        "n" => (-9, 0),
        "u" => (-6, 0),
        "m" => (-3, 0),
        "" => (0, 0),
        "k" => (3, 0),
        "M" => (6, 0),
        "G" => (9, 0),
        "T" => (12, 0),
        "P" => (15, 0),
        "E" => (18, 0),
        "Ki" => (0, 10),
        "Mi" => (0, 20),
        "Gi" => (0, 30),
        "Ti" => (0, 40),
        "Pi" => (0, 50),
        "Ei" => (0, 60),
        _ => (suffix.strip_prefix(['e', 'E'])?.parse().ok()?, 0),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_is_one_quantity_is_one_number() {
        for same in [
            &[json!("1000m"), json!("1"), json!(1), json!(1.0), json!("+1."), json!("1e0"), json!("01.00")][..],
            &[json!("1024Mi"), json!("1Gi"), json!("1073741824"), json!(1_073_741_824), json!("1048576Ki")],
            &[json!("0.5"), json!("500m"), json!(".5"), json!(0.5), json!("5E-1")],
            &[json!("1k"), json!("1000"), json!("1e3"), json!("1E3")],
            &[json!("0"), json!("-0"), json!("0Ei"), json!("0e99")],
            &[json!("0.1n"), json!("1n"), json!("1e-99")],
            &[json!("-1500m"), json!(-1.5)],
            &[json!("1E"), json!("1000P"), json!("1e18")],
            &[json!("16Ei"), json!("9223372036854775807"), json!("1e99")],
        ] {
            let all: Vec<_> = same.iter().map(nanos).collect();
            assert!(all[0].is_some() && all.iter().all(|n| n == &all[0]), "{same:?}: {all:?}");
        }
    }

    #[test]
    fn what_differs_in_the_last_digit_differs() {
        for (a, b) in [
            ("1", "1001m"),
            ("1Gi", "1G"),
            ("1Gi", "1073741825"),
            ("9007199254740993", "9007199254740992"),
            ("1", "-1"),
            ("0.1", "0.100000001"),
            ("1m", "1M"),
        ] {
            assert!(nanos(&json!(a)).is_some() && nanos(&json!(a)) != nanos(&json!(b)), "{a} {b}");
        }
    }

    #[test]
    fn what_is_no_quantity_is_none() {
        let long = "1".repeat(60);
        for text in
            ["", "-", ".", "1.2.3", "1K", "1mi", "1 Gi", "Gi", "e3", "1e", "1e1.5", "abc", "--1", "1ſ", "é", &long]
        {
            assert_eq!(nanos(&json!(text)), None, "{text}");
        }
        for value in [json!(null), json!(true), json!([]), json!({})] {
            assert_eq!(nanos(&value), None);
        }
    }
}
