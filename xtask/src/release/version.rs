//! The number of a version, as Semantic Versioning has it, without build metadata.

use std::fmt;

/// A version that can be compared with another one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Version {
    numbers: [u64; 3],
    /// `rc.1` of `1.0.0-rc.1`; empty for a release.
    pre: String,
}

impl Version {
    /// Reads `1.2.3` or `1.2.3-rc.1`.
    ///
    /// # Errors
    /// The text has another form; the message says which form it must have.
    pub fn parse(text: &str) -> Result<Self, String> {
        let wrong = || format!("the version must be like `1.2.3` or `1.2.3-rc.1`, not \"{text}\"");
        let (numbers, pre) = text.split_once('-').map_or((text, None), |(numbers, pre)| (numbers, Some(pre)));
        let number = |part: &str| {
            let is_canonical = part == "0" || !part.starts_with('0') && part.chars().all(|c| c.is_ascii_digit());
            part.parse().ok().filter(|_: &u64| is_canonical)
        };
        let numbers: Vec<u64> = numbers.split('.').map(number).collect::<Option<_>>().ok_or_else(wrong)?;
        let is_part = |part: &str| !part.is_empty() && part.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
        if pre.is_some_and(|pre| !pre.split('.').all(is_part)) {
            return Err(wrong());
        }
        Ok(Self { numbers: numbers.try_into().map_err(|_| wrong())?, pre: pre.unwrap_or_default().to_owned() })
    }

    /// Whether it comes before another version. A release comes after its pre-releases, which have a part after a `-`. The pre-releases of one
    /// version are not ordered.
    pub fn is_before(&self, other: &Self) -> bool {
        self.numbers < other.numbers || (self.numbers == other.numbers && !self.pre.is_empty() && other.pre.is_empty())
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [major, minor, patch] = self.numbers;
        write!(f, "{major}.{minor}.{patch}")?;
        if self.pre.is_empty() { Ok(()) } else { write!(f, "-{}", self.pre) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_and_ordered() {
        for text in ["0.1.0", "1.20.3", "1.0.0-rc.1", "1.0.0-x-y"] {
            assert_eq!(Version::parse(text).expect("a version").to_string(), text);
        }
        for text in
            ["", "1", "1.2", "1.2.3.4", "v1.2.3", "01.2.3", "1.2.x", "1.2.+3", "1.2.3-", "1.2.3-a..b", "1.2.3-a b"]
        {
            assert!(Version::parse(text).is_err_and(|e| e.contains(text)), "{text}");
        }
        let is_before = |a: &str, b: &str| Version::parse(a).expect("a").is_before(&Version::parse(b).expect("b"));
        assert!(is_before("0.9.0", "0.10.0") && is_before("1.0.0-rc.1", "1.0.0"));
        assert!(!is_before("1.0.0", "1.0.0") && !is_before("1.0.0", "1.0.0-rc.1") && !is_before("0.2.0", "0.1.9"));
    }
}
