//! Commands that a message shows, so that somebody can paste them into a shell.

use std::ffi::OsString;
use std::path::Path;
use std::sync::LazyLock;

use krm_names::shown::misleads;

/// The name of the file by which this program was started. On Windows a program that starts another one says it.
pub fn program() -> String {
    let given = if cfg!(unix) { None } else { std::env::var_os("KRM_MERGE_CALLED") };
    let called: OsString = given.or_else(|| std::env::args_os().next()).unwrap_or_default();
    Path::new(&called).file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

/// Whether this program was started as kubectl's plugin. Without a name, it was.
pub fn is_plugin() -> bool {
    let program = program();
    program.is_empty() || program.starts_with("kubectl")
}

/// How the user calls this program: `kubectl krm-merge`, or the name of its file, which is `krm-merge`.
pub fn called() -> &'static str {
    static CALLED: LazyLock<String> =
        LazyLock::new(|| if is_plugin() { "kubectl krm-merge".to_owned() } else { quoted(&program()) });
    &CALLED
}

/// A command of this program, as the user calls it.
pub fn own(words: &[&str]) -> String {
    format!("{} {}", called(), command(words))
}

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
