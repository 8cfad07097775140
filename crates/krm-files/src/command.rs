//! Commands that a message shows, so that somebody can paste them into a shell.

use std::path::Path;

use krm_yaml::shown::misleads;

/// A command of these words, for a POSIX shell. A word that a shell would read in another way stands in quotes.
pub fn command(words: &[&str]) -> String {
    words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
}

/// A path as an argument that is no flag. It must be UTF-8 to be exact.
pub fn argument(path: &Path) -> String {
    let path = path.to_string_lossy();
    if path.starts_with('-') { format!("./{path}") } else { path.into_owned() }
}

fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "_-./:@%+=,^".contains(c);
    if !word.is_empty() && word.chars().all(|c| is_plain(c) && !misleads(c)) {
        return word.to_owned();
    }
    if !word.contains(misleads) {
        return format!("'{}'", word.replace('\'', "'\\''"));
    }
    // Octal escapes of bytes, which each shell with `$'…'` reads.
    let escaped = word.chars().map(|c| match c {
        '\'' | '\\' => format!("\\{c}"),
        c if misleads(c) => c.encode_utf8(&mut [0; 4]).bytes().map(|byte| format!("\\{byte:03o}")).collect(),
        c => c.to_string(),
    });
    format!("$'{}'", escaped.collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shell_reads_each_word_as_it_is() {
        for (word, want) in [
            ("apps/web-1_2", "apps/web-1_2"),
            ("", "''"),
            ("my pkg", "'my pkg'"),
            ("$(touch x)", "'$(touch x)'"),
            ("it's", r"'it'\''s'"),
            ("~", "'~'"),
            ("a*?[b]", "'a*?[b]'"),
            ("größe", "größe"),
            ("a\nb'", r"$'a\012b\''"),
            ("a\u{202e}b", r"$'a\342\200\256b'"),
        ] {
            assert_eq!(command(&["resolve", word]), format!("resolve {want}"));
        }
        assert_eq!(argument(Path::new("-x")), "./-x");
    }
}
