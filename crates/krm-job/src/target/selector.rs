//! Selectors over labels, as `kubectl get -l` takes them.
//!
//! The grammar is that of `labels.Parse` in apimachinery. No crate parses it: kube's `Selector` is built from objects, not from text.

use std::borrow::Cow;

/// Requirements, all of which must be met.
#[derive(Clone, Debug, PartialEq)]
pub struct Selector(Vec<Requirement>);

#[derive(Clone, Debug, PartialEq)]
struct Requirement {
    key: String,
    want: Want,
}

/// The condition for the value of a key.
#[derive(Clone, Debug, PartialEq)]
enum Want {
    Exists,
    DoesNotExist,
    /// The value exists and is one of these.
    In(Vec<String>),
    /// The value does not exist, or is not one of these.
    NotIn(Vec<String>),
    /// An integer above this one.
    Above(i64),
    /// An integer below this one.
    Below(i64),
}

impl Selector {
    /// Reads a selector: `app=web,tier in (a, b),!legacy`. An empty one would select everything: mostly a variable is empty.
    ///
    /// # Errors
    /// A message that says what is wrong. It does not contain the selector, which the caller shows.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut requirements = Vec::new();
        let mut words = Words { rest: text };
        if words.clone().next().is_none() {
            return Err("it is empty, and would select everything".to_owned());
        }
        loop {
            requirements.push(requirement(&mut words)?);
            match words.next() {
                None => return Ok(Self(requirements)),
                Some(",") => {}
                Some(other) => return Err(format!("`,` must stand before \"{other}\"")),
            }
        }
    }

    /// Whether labels meet it; `get` returns the value of a key.
    pub fn fits<'v>(&self, get: impl Fn(&str) -> Option<Cow<'v, str>>) -> bool {
        self.0.iter().all(|Requirement { key, want }| {
            let value = get(key);
            let value = value.as_deref();
            let number = || value.and_then(|v| v.parse::<i64>().ok());
            match want {
                Want::Exists => value.is_some(),
                Want::DoesNotExist => value.is_none(),
                Want::In(values) => value.is_some_and(|v| values.iter().any(|w| w == v)),
                Want::NotIn(values) => value.is_none_or(|v| values.iter().all(|w| w != v)),
                Want::Above(bound) => number().is_some_and(|n| n > *bound),
                Want::Below(bound) => number().is_some_and(|n| n < *bound),
            }
        })
    }
}

fn requirement(words: &mut Words<'_>) -> Result<Requirement, String> {
    let key = |word: Option<&str>| match word {
        Some(word) if is_key(word) => Ok(word.to_owned()),
        Some(word) => Err(format!("a key must stand where \"{word}\" does")),
        None => Err("a key must be given".to_owned()),
    };
    let first = words.next();
    if first == Some("!") {
        return Ok(Requirement { key: key(words.next())?, want: Want::DoesNotExist });
    }
    let key = key(first)?;
    let Some(operator) = words.clone().next().filter(|word| *word != ",") else {
        return Ok(Requirement { key, want: Want::Exists });
    };
    words.next();
    let want = match operator {
        "=" | "==" => Want::In(vec![value(words)?]),
        "!=" => Want::NotIn(vec![value(words)?]),
        "in" => Want::In(values(words)?),
        "notin" => Want::NotIn(values(words)?),
        ">" => Want::Above(number(words)?),
        "<" => Want::Below(number(words)?),
        other => return Err(format!("\"{other}\" must be =, ==, !=, in, notin, > or <")),
    };
    Ok(Requirement { key, want })
}

/// A value, which may be empty.
fn value(words: &mut Words<'_>) -> Result<String, String> {
    let Some(word) = words.clone().next().filter(|word| !word.starts_with(is_mark)) else { return Ok(String::new()) };
    words.next();
    if is_name(word) { Ok(word.to_owned()) } else { Err(format!("\"{word}\" must be a value of a label")) }
}

/// Whether a word may be the key of a label: a name, with or without a domain and a slash before it.
fn is_key(word: &str) -> bool {
    match word.split_once('/') {
        Some((domain, name)) => {
            let is_label = |l: &str| is_name(l) && !l.contains(|c: char| c.is_ascii_uppercase() || c == '_');
            is_name(name) && domain.len() <= 253 && domain.split('.').all(is_label)
        }
        None => is_name(word),
    }
}

/// Whether a word may be the value of a label, or the name of a key: at most 63 of `A-Za-z0-9-_.`, with a letter or a digit first and last.
fn is_name(word: &str) -> bool {
    let is_letter = |c: char| c.is_ascii_alphanumeric();
    word.len() <= 63
        && word.starts_with(is_letter)
        && word.ends_with(is_letter)
        && word.chars().all(|c| is_letter(c) || matches!(c, '-' | '_' | '.'))
}

fn number(words: &mut Words<'_>) -> Result<i64, String> {
    let value = value(words)?;
    value.parse().map_err(|_| format!("\"{value}\" must be an integer"))
}

fn values(words: &mut Words<'_>) -> Result<Vec<String>, String> {
    if words.next() != Some("(") {
        return Err("`(` must follow `in` and `notin`".into());
    }
    let mut values = Vec::new();
    loop {
        values.push(value(words)?);
        match words.next() {
            Some(",") => {}
            Some(")") => return Ok(values),
            _ => return Err("`)` must end the values".into()),
        }
    }
}

fn is_mark(c: char) -> bool {
    matches!(c, ',' | '(' | ')' | '=' | '!' | '<' | '>')
}

/// The words and marks of a selector.
#[derive(Clone)]
struct Words<'t> {
    rest: &'t str,
}

impl<'t> Iterator for Words<'t> {
    type Item = &'t str;

    fn next(&mut self) -> Option<&'t str> {
        let rest = self.rest.trim_start();
        let first = rest.chars().next()?;
        let end = match first {
            '=' | '!' if rest[1..].starts_with('=') => 2,
            c if is_mark(c) => 1,
            _ => rest.find(|c: char| is_mark(c) || c.is_whitespace()).unwrap_or(rest.len()),
        };
        let (word, rest) = rest.split_at(end);
        self.rest = rest;
        Some(word)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fits(selector: &str) -> bool {
        let labels = [("app", "web"), ("tier", "a"), ("empty", ""), ("n", "5"), ("example.com/x", "y")];
        let selector = Selector::parse(selector).unwrap_or_else(|e| panic!("{selector}: {e}"));
        selector.fits(|key| labels.iter().find(|l| l.0 == key).map(|l| l.1.into()))
    }

    #[test]
    fn requirements_are_read_as_kubectl_reads_them() {
        for (selector, want) in [
            ("app=web", true),
            ("app==web", true),
            ("app = web , tier!=b", true),
            ("app=api", false),
            ("app!=api", true),
            ("other!=x", true),
            ("app", true),
            ("!app", false),
            ("!other", true),
            ("other", false),
            ("app in (api, web)", true),
            ("app in (api)", false),
            ("app notin (api)", true),
            ("other notin (api)", true),
            ("tier in (a,b),app notin (web)", false),
            ("empty=", true),
            ("empty=,app=web", true),
            ("app=", false),
            ("empty in (,x)", true),
            ("n>4,n<6", true),
            ("n>5", false),
            ("app>1", false),
            ("example.com/x=y", true),
            ("in=x", false),
        ] {
            assert_eq!(fits(selector), want, "{selector}");
        }
    }

    #[test]
    fn what_is_no_selector_is_refused() {
        let long = "x".repeat(64);
        for selector in [
            long.as_str(),
            "e=\"\"",
            "app notin ('web')",
            "app=*",
            "-app",
            "n>+4",
            "x.io/y/z=q",
            "X.io/y",
            ",",
            "=web",
            "app=web,",
            "app in web",
            "app in (web",
            "app ~ web",
            "app web",
            "n>x",
            "!",
            "(a)",
            "",
            " ",
        ] {
            assert!(Selector::parse(selector).is_err(), "{selector}");
        }
    }
}
