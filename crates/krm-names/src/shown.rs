//! Text for people: characters that could mislead them are written as escapes.
//!
//! Names, paths, keys and arguments may hold anything. A line break in one of them would begin a line of its own, which `git apply` takes
//! for a part of a patch; a terminal obeys control characters; and characters that turn the direction of writing, or are invisible, make
//! one name look like another. Escapes are those of JSON, so text in quotes can be read back.
//!
//! The runners of CI read commands in the middle of a line, too, such as `##[stop-commands]x` and `##vso[task.complete]`: the second `#` of
//! these is written as an escape.

use std::borrow::Cow;

/// Whether a character could mislead a reader: controls (C0, DEL, C1), separators of lines and paragraphs, and invisible characters, such
/// as marks of direction, joiners and the byte order mark. Source: `Default_Ignorable_Code_Point` of Unicode's DerivedCoreProperties.txt,
/// and the categories Cc, Zl and Zp; also the marks of annotations.
pub fn misleads(c: char) -> bool {
    // Most text is ASCII, and is told at once.
    if c.is_ascii() {
        return c.is_ascii_control();
    }
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}' | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}'
            | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}')
}

/// Where commands of a runner stand in a text: the offset of the second `#` of `##[` or `##word[`. Source: `ActionCommand.TryParse` of
/// github.com/actions/runner, and "Logging commands" of Azure Pipelines; TeamCity has `##teamcity[`.
fn commands(text: &str) -> impl Iterator<Item = usize> {
    let is_command =
        |at: &usize| text[at + 1..].trim_start_matches(|c: char| c.is_ascii_alphanumeric()).starts_with('[');
    text.bytes()
        .zip(text.bytes().skip(1))
        .enumerate()
        .filter(|(_, two)| *two == (b'#', b'#'))
        .map(|(at, _)| at + 1)
        .filter(is_command)
}

/// A text as one line: line breaks are escaped, too.
pub fn line(text: &str) -> Cow<'_, str> {
    escaped(text, misleads, json)
}

/// A text of several lines: line breaks and tabs are not escaped.
pub fn lines(text: &str) -> Cow<'_, str> {
    let is_escaped = |c| misleads(c) && !matches!(c, '\n' | '\t');
    if !text.contains('\r') {
        return escaped(text, is_escaped, json);
    }
    // A carriage return inside of a line moves the cursor back, so that later text hides earlier text.
    let shown: Vec<_> = text.split("\r\n").map(|part| escaped(part, is_escaped, json)).collect();
    Cow::Owned(shown.join("\r\n"))
}

/// A name among other words. It is in quotes if it needs an escape, or begins with a quote itself: so no two names look the same.
pub fn name(text: &str) -> Cow<'_, str> {
    let is_plain = !text.starts_with('"') && !text.chars().any(misleads) && commands(text).next().is_none();
    if is_plain { Cow::Borrowed(text) } else { Cow::Owned(quoted(text)) }
}

/// A name that need not be UTF-8, such as a file name. If it is not UTF-8, it is quoted, and each invalid byte becomes an escape such as
/// `\xe9`.
pub fn name_of_bytes(bytes: &[u8]) -> String {
    if let Ok(text) = std::str::from_utf8(bytes) {
        return name(text).into_owned();
    }
    let part = |chunk: std::str::Utf8Chunk<'_>| {
        let bytes: String = chunk.invalid().iter().map(|byte| format!("\\x{byte:02x}")).collect();
        format!("{}{bytes}", escaped(chunk.valid(), must_be_escaped, json))
    };
    format!("\"{}\"", bytes.utf8_chunks().map(part).collect::<String>())
}

/// A text as a JSON string.
pub fn quoted(text: &str) -> String {
    format!("\"{}\"", escaped(text, must_be_escaped, json))
}

/// A text as a YAML scalar in double quotes.
pub fn quoted_yaml(text: &str) -> String {
    format!("\"{}\"", escaped(text, must_be_escaped, yaml))
}

fn must_be_escaped(c: char) -> bool {
    misleads(c) || matches!(c, '"' | '\\')
}

/// The escape of a character in JSON, in units of sixteen bits.
fn json(c: char) -> String {
    c.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}")).collect()
}

/// The escape of a character in YAML, which has no surrogates.
fn yaml(c: char) -> String {
    if u32::from(c) > 0xffff { format!("\\U{:08x}", u32::from(c)) } else { json(c) }
}

/// A line under which a caret marks a column. What misleads becomes a blank or U+FFFD, so no column moves.
pub fn columns(line: &str) -> String {
    let mut commands = commands(line).peekable();
    let column = |(at, c): (usize, char)| match c {
        _ if commands.next_if_eq(&at).is_some() => char::REPLACEMENT_CHARACTER,
        c if !misleads(c) => c,
        c if c.is_whitespace() => ' ',
        _ => char::REPLACEMENT_CHARACTER,
    };
    line.char_indices().map(column).collect()
}

fn escaped(text: &str, is_escaped: impl Fn(char) -> bool, escape: fn(char) -> String) -> Cow<'_, str> {
    let mut commands = commands(text).peekable();
    if commands.peek().is_none() && !text.chars().any(&is_escaped) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 8);
    for (at, c) in text.char_indices() {
        match c {
            c if commands.next_if_eq(&at).is_some() => out.push_str(&escape(c)),
            c if !is_escaped(c) => out.push(c),
            '"' | '\\' => out.extend(['\\', c]),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c => out.push_str(&escape(c)),
        }
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_misleads_is_escaped_and_nothing_else_is() {
        for (text, want) in [
            ("web", "web"),
            ("a b\"c\\d", "a b\"c\\d"),
            ("é 日本 עברית 🦀", "é 日本 עברית 🦀"),
            ("a\nb\r\tc", "a\\nb\\r\\tc"),
            ("\0\u{7}\u{1b}[31m\u{7f}", "\\u0000\\u0007\\u001b[31m\\u007f"),
            ("\u{80}\u{85}\u{9b}31m\u{9f}", "\\u0080\\u0085\\u009b31m\\u009f"),
            ("\u{2028}\u{2029}", "\\u2028\\u2029"),
            (
                "\u{61c}\u{200e}\u{200f}\u{202a}\u{202e}\u{2066}\u{2069}",
                "\\u061c\\u200e\\u200f\\u202a\\u202e\\u2066\\u2069",
            ),
            (
                "\u{ad}\u{200b}\u{200c}\u{200d}\u{2060}\u{feff}\u{3164}",
                "\\u00ad\\u200b\\u200c\\u200d\\u2060\\ufeff\\u3164",
            ),
            ("\u{e0041}", "\\udb40\\udc41"),
            ("a: ##[stop-commands]x", "a: #\\u0023[stop-commands]x"),
            ("##vso[task.complete]##VSO[x", "#\\u0023vso[task.complete]#\\u0023VSO[x"),
            ("####[é", "###\\u0023[é"),
            ("## [a] # [b] ##-[c] ##", "## [a] # [b] ##-[c] ##"),
        ] {
            assert_eq!(line(text), want, "{text:?}");
            assert_eq!(line(&line(text)), want, "what is shown is shown once: {text:?}");
        }
    }

    #[test]
    fn a_name_is_quoted_only_where_it_could_be_taken_for_another_one() {
        for (text, want) in [
            ("web", "web"),
            ("a\"b\\n", "a\"b\\n"),
            ("##[x]", "\"#\\u0023[x]\""),
            ("", ""),
            ("a\nb", "\"a\\nb\""),
            ("\"a\\nb\"", "\"\\\"a\\\\nb\\\"\""),
            ("\u{202e}\"\\", "\"\\u202e\\\"\\\\\""),
        ] {
            assert_eq!(name(text), want, "{text:?}");
        }
        for (bytes, want) in [
            (&b"web"[..], "web"),
            ("é\n".as_bytes(), "\"é\\n\""),
            (b"caf\xe9.yaml", "\"caf\\xe9.yaml\""),
            (b"\xff\xc3(\"\\xe9", "\"\\xff\\xc3(\\\"\\\\xe9\""),
        ] {
            assert_eq!(name_of_bytes(bytes), want, "{bytes:?}");
        }
        // The escapes are valid in JSON and in YAML.
        let all: String = ('\0'..=char::MAX).filter(|c| misleads(*c) || "\"\\a".contains(*c)).collect();
        assert_eq!(serde_json::from_str::<String>(&quoted(&all)).expect("JSON"), all);
        assert_eq!(yaml_serde::from_str::<String>(&quoted_yaml(&all)).expect("YAML"), all);
    }

    #[test]
    fn breaks_of_lines_stay_where_lines_are_shown() {
        assert_eq!(lines("a\tb\nc\r\nd\u{9b}\n"), "a\tb\nc\r\nd\\u009b\n");
        assert_eq!(lines("a\rb\r\n\u{1b}"), "a\\rb\r\n\\u001b");
    }
}
