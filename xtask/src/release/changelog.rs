//! The heading of a release in the changelog.

const UNRELEASED: &str = "\n## Unreleased\n";

/// The changelog in which the unreleased changes become those of a version, released on this day.
///
/// # Errors
/// There are no changes, or the version has a heading already.
pub fn released(text: &str, version: &str, day: &str) -> Result<String, String> {
    if text.lines().any(|line| line.strip_prefix("## ").is_some_and(|rest| rest.split(' ').next() == Some(version))) {
        return Err(format!("CHANGELOG.md: `## {version}` must not be there yet"));
    }
    let (before, after) =
        text.split_once(UNRELEASED).ok_or("CHANGELOG.md: it must have the heading `## Unreleased`")?;
    let own = after.split("\n## ").next().unwrap_or_default();
    if !own.lines().any(|line| line.starts_with("* ")) {
        return Err("CHANGELOG.md: there must be changes below `## Unreleased`".to_owned());
    }
    Ok(format!("{before}{UNRELEASED}\n## {version} - {day}\n{after}"))
}

/// The date of a number of seconds after 1970, in UTC, as `2026-11-22`. Source: `civil_from_days` of Howard Hinnant's "chrono-Compatible
/// Low-Level Date Algorithms".
pub fn day(seconds: u64) -> String {
    let days = seconds / 86_400 + 719_468;
    let (era, of_era) = (days / 146_097, days % 146_097);
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let (month, next) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    format!("{:04}-{month:02}-{day:02}", year + era * 400 + next)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_is_that_of_the_calendar() {
        for (seconds, want) in [
            (0, "1970-01-01"),
            (86_399, "1970-01-01"),
            (951_782_400, "2000-02-29"),
            (951_868_800, "2000-03-01"),
            (1_735_689_599, "2024-12-31"),
            (4_107_542_400, "2100-03-01"),
        ] {
            assert_eq!(day(seconds), want);
        }
    }

    #[test]
    fn changes_get_a_heading_once() {
        let text = "# Changelog\n\n## Unreleased\n\n* a\n\n## 0.1.0 - 2026-01-01\n\n* b\n";
        let want = "# Changelog\n\n## Unreleased\n\n## 0.2.0 - 2026-11-22\n\n* a\n\n## 0.1.0 - 2026-01-01\n\n* b\n";
        let made = released(text, "0.2.0", "2026-11-22").expect("a changelog");
        assert_eq!(made, want);
        assert!(released(text, "0.1.0", "2026-11-22").is_err_and(|e| e.contains("0.1.0")));
        assert!(released(&made, "0.3.0", "2026-11-22").is_err_and(|e| e.contains("there must be changes")));
        assert!(released("# Changelog\n", "0.3.0", "2026-11-22").is_err());
    }
}
