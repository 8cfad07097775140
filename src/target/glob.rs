//! [`expression()`]: a path with wildcards as a regular expression. The wildcards are those of `.gitignore`.

use std::iter::Peekable;
use std::str::Chars;

/// The regular expression for a path and all that is below it. `*` and `?` stand for no `/`, `**` for any number of folders, and `[a-c]`
/// for one of these characters.
///
/// # Errors
/// A `[` is not closed; the message says so.
pub(super) fn expression(path: &str) -> Result<String, String> {
    let path = path.strip_prefix("./").unwrap_or(path).trim_end_matches('/');
    if path.is_empty() || path.starts_with('/') {
        return Err("it begins at the root of the package, without a `/`".to_owned());
    }
    let (mut out, mut rest) = (String::from("^"), path.chars().peekable());
    while let Some(c) = rest.next() {
        match c {
            '*' if rest.next_if_eq(&'*').is_some() => match rest.next_if_eq(&'/') {
                Some(_) => out.push_str("(?:.*/)?"),
                None => out.push_str(".*"),
            },
            '*' => out.push_str("[^/]*"),
            '?' => out.push_str("[^/]"),
            '[' => out.push_str(&class(&mut rest)?),
            c => out.push_str(&regex_lite::escape(c.encode_utf8(&mut [0; 4]))),
        }
    }
    Ok(out + "(?:/.*)?$")
}

/// A set of characters, behind its `[`.
fn class(rest: &mut Peekable<Chars<'_>>) -> Result<String, String> {
    let mut out = String::from("[");
    if rest.next_if(|c| matches!(c, '!' | '^')).is_some() {
        out.push('^');
    }
    for c in rest {
        match c {
            ']' => return Ok(out + "]"),
            '-' => out.push('-'),
            c => out.push_str(&regex_lite::escape(c.encode_utf8(&mut [0; 4]))),
        }
    }
    Err("a `[` must have its `]`".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use regex_lite::Regex;

    #[test]
    fn wildcards_stand_for_what_git_ignores_by_them() {
        for (pattern, path, want) in [
            ("Chart.yaml", "Chart.yaml", true),
            ("Chart.yaml", "charts/Chart.yaml", false),
            ("Chart.yaml", "Chartxyaml", false),
            ("./charts/a", "charts/a/Chart.yaml", true),
            ("charts/", "charts/a/Chart.yaml", true),
            ("charts", "charts.yaml", false),
            ("charts/*/Chart.yaml", "charts/a/Chart.yaml", true),
            ("charts/*/Chart.yaml", "charts/a/b/Chart.yaml", false),
            ("charts/**/Chart.yaml", "charts/a/b/Chart.yaml", true),
            ("charts/**/Chart.yaml", "charts/Chart.yaml", true),
            ("**/Chart.yaml", "Chart.yaml", true),
            ("**/Chart.yaml", "a/b/Chart.yaml", true),
            ("**/Chart.yaml", "a/bChart.yaml", false),
            ("charts/**", "charts/a", true),
            ("*.yaml", "a.yaml", true),
            ("*.yaml", "a/b.yaml", false),
            ("?.yaml", "ab.yaml", false),
            ("[a-c]?.yaml", "b1.yaml", true),
            ("[!a-c].yaml", "b.yaml", false),
            ("[!a-c].yaml", "d.yaml", true),
            ("[.].yaml", "a.yaml", false),
        ] {
            let expression = Regex::new(&expression(pattern).expect(pattern)).expect(pattern);
            assert_eq!(expression.is_match(path), want, "{pattern} {path}");
        }
        for wrong in ["", "/", "/a", "a[b"] {
            assert!(expression(wrong).is_err(), "{wrong}");
        }
    }
}
