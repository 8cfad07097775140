//! Comments that the merge of the resources does not see: those around all resources, and those that both sides changed.

use super::marks::Hunk;

/// Our text with their comments above and below all resources, where only they changed these. From original, theirs and ours.
pub fn with_margins([original, theirs, ours]: [&str; 3]) -> String {
    let [(top, _, bottom), (their_top, _, their_bottom), (our_top, body, our_bottom)] =
        [original, theirs, ours].map(split);
    let merged = |original: &str, theirs: &str, ours: &str| if ours == original { theirs } else { ours }.to_owned();
    // What is added to either side is between the marks that the other one has.
    format!("{}{body}{}", merged(top, their_top, our_top), merged(bottom, their_bottom, our_bottom))
}

/// The comment block at the top that a blank line or a mark sets apart, the resources, and the comments at the very end.
fn split(text: &str) -> (&str, &str, &str) {
    let (mut at, mut top) = (0, 0);
    for line in text.split_inclusive('\n') {
        let content = line.trim_start_matches('\u{feff}').trim_end();
        if content.is_empty() || content == "---" {
            top = at;
        } else if !content.starts_with('#') {
            break;
        }
        at += line.len();
    }
    let (mut at, mut bottom) = (text.len(), text.len());
    for line in text[top..].split_inclusive('\n').rev() {
        at -= line.len();
        if line.starts_with('#') {
            bottom = at;
        } else if !line.trim().is_empty() {
            break;
        }
    }
    (&text[..top], &text[top..bottom], &text[bottom..])
}

/// The hunks of a merge by line in which the sides agree but for comments, and a comment of theirs is nowhere in the merged text.
pub fn lost<'h, 't>(hunks: &'h [Hunk<'t>], merged: &str) -> Vec<&'h Hunk<'t>> {
    let present: Vec<&str> = merged.lines().filter_map(|line| parts(line).1).collect();
    let is_lost = |hunk: &&Hunk<'_>| {
        let [ours, original, theirs] = [&hunk.ours, &hunk.original, &hunk.theirs].map(|lines| of(lines));
        let new = theirs.1.iter().filter(|comment| !original.1.contains(comment));
        ours.0 == theirs.0 && ours.1 != theirs.1 && new.into_iter().any(|comment| !present.contains(comment))
    };
    hunks.iter().filter(is_lost).collect()
}

/// The lines without comments, and the comments.
fn of<'t>(lines: &[&'t str]) -> (Vec<&'t str>, Vec<&'t str>) {
    let parts: Vec<_> = lines.iter().map(|line| parts(line)).collect();
    let content = parts.iter().map(|(content, _)| *content).filter(|content| !content.is_empty());
    (content.collect(), parts.iter().filter_map(|(_, comment)| *comment).collect())
}

fn parts(line: &str) -> (&str, Option<&str>) {
    let line = line.trim();
    match line.strip_prefix('#').map(|_| 0).or_else(|| line.find(" #")) {
        Some(at) => (line[..at].trim_end(), Some(line[at..].trim_start())),
        None => (line, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_split_at_the_comments_around_its_resources() {
        for (text, want) in [
            ("# a\n\n# of x\nx: 1\n", ("# a\n", "\n# of x\nx: 1\n", "")),
            ("# a\n---\nx: 1\n\n# end\n", ("# a\n", "---\nx: 1\n\n", "# end\n")),
            ("# of x\nx: |\n  # no comment\n", ("", "# of x\nx: |\n  # no comment\n", "")),
            ("# only", ("", "", "# only")),
            ("", ("", "", "")),
        ] {
            assert_eq!(split(text), want);
        }
        assert_eq!(with_margins(["# a\n\nx: 1\n", "# b\n\nx: 1\n# end\n", "# a\n\nx: 2\n"]), "# b\n\nx: 2\n# end\n");
        assert_eq!(with_margins(["# a\n\nx: 1\n", "# b\n\nx: 1\n", "# c\n\nx: 2\n"]), "# c\n\nx: 2\n");
    }
}
