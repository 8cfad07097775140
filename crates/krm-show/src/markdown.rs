//! Results as a comment of a pull request: the outcome of the merge, and a collapsible block for each conflict.
//!
//! All text from the user is escaped HTML, as code. So it cannot act as Markdown, mention a person, or become a link.

use krm_folders::side::Side;
use krm_job::event::Event;
use krm_words::Message;
use krm_yaml::shown;

use crate::clash::{Shown, Values, public_values};
use crate::place;

/// The longest comment to write, in bytes. GitHub takes 65,536 characters.
pub const LONGEST: usize = 60_000;

/// Writes the comment.
pub fn markdown(dest: &Side, results: &[Event]) -> String {
    let conflicts: Vec<&Event> = results.iter().filter(|r| r.is_conflict()).collect();
    let mut out = format!("### krm-merge: {}\n", headline(results));
    let infos = results.iter().filter(|r| !place::is_shown(r));
    push_list(&mut out, infos.map(|info| code(&krm_words::message(info))));
    let others = results.iter().filter(|r| !r.is_conflict() && place::is_shown(r));
    push_list(&mut out, others.map(|other| code(&Message::of(other).to_string())));
    for (i, conflict) in conflicts.iter().enumerate() {
        let block = block(dest, conflict);
        if out.len() + block.len() > LONGEST {
            out.push_str(&format!("\n… and {} more, which are in the log of the run\n", conflicts.len() - i));
            break;
        }
        out.push_str(&block);
    }
    out
}

/// The number of conflicts, and whether they are unresolved.
pub fn headline(results: &[Event]) -> String {
    let conflicts = || results.iter().filter(|r| r.is_conflict());
    let open = conflicts().filter(|r| r.is_open()).count();
    match (conflicts().count(), open) {
        (0, _) => "no conflicts".to_owned(),
        (1, 0) => "1 conflict".to_owned(),
        (1, _) => "1 unresolved conflict".to_owned(),
        (all, 0) => format!("{all} conflicts"),
        (all, _) => format!("{all} conflicts, {open} unresolved"),
    }
}

/// Writes a list. Entries that do not fit are counted.
fn push_list(out: &mut String, items: impl Iterator<Item = String>) {
    let (mut list, mut left) = (String::new(), 0);
    for item in items {
        match out.len() + list.len() + item.len() < LONGEST / 2 {
            true => list.push_str(&format!("<li>{item}</li>\n")),
            false => left += 1,
        }
    }
    if left > 0 {
        list.push_str(&format!("<li>… and {left} more</li>\n"));
    }
    if !list.is_empty() {
        out.push_str(&format!("\n<ul>\n{list}</ul>\n"));
    }
}

fn block(dest: &Side, result: &Event) -> String {
    let Some(clash) = result.clash() else { return String::new() };
    let spot = place::of(dest, result).map(|at| code(&format!("{}:{}", at.file, at.position.line)));
    let about = result.resource_ref.as_ref().map(|r| code(&r.identity().called()));
    let head = [spot, about, Some(code(&krm_words::place(clash)))].into_iter().flatten().collect::<Vec<_>>().join(" ");
    let settled = krm_words::outcome(clash);
    let mut out = format!("\n<details>\n<summary>{head}: {settled}</summary>\n");
    match public_values(result) {
        Some(Values { original, dest, updated }) => {
            for (side, value) in [("original", original), ("dest", dest), ("updated", updated)] {
                out.push_str(&format!("\n{side}:\n\n{}\n", value_of(&value)));
            }
        }
        None => out.push_str(&format!("\n<pre>{}</pre>\n", escaped(&krm_words::what(clash)))),
    }
    out + "\n</details>\n"
}

fn value_of(value: &Shown) -> String {
    match value {
        Shown::Whole(text) => format!("<pre>{}</pre>", escaped(text)),
        Shown::Against(lines) => {
            let lines: Vec<String> = lines.iter().map(|line| escaped(&line.marked())).collect();
            format!("<pre lang=\"diff\">{}</pre>", lines.join("\n"))
        }
    }
}

/// A text as code, which mentions nobody and is no link.
pub fn code(text: &str) -> String {
    format!("<code>{}</code>", escaped(text))
}

/// A text as HTML, on one line. Misleading characters are escaped, too.
pub fn escaped(text: &str) -> String {
    let mut out = String::new();
    for c in shown::line(text).chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use krm_job::event::{Clash, ClashPlace, Dispute, File, Severity};
    use krm_merge_core::policy::Settled;

    #[test]
    fn nothing_of_the_user_is_markdown_or_html() {
        let dispute = Dispute::Additions { at: "</pre><script>\n\n# @someone *b* [a](b)".to_owned() };
        let (place, settled) = (ClashPlace::Field("data.<b>".to_owned()), Settled::Dest);
        let clash = Clash { place, settled, ..Clash::open(dispute) };
        let file = Some(File { path: "a&b.yaml".into(), index: None }.into());
        let result = Event { file, ..Event::conflict(Severity::Warning, clash) };
        let dest =
            Side { root: krm_folders::side::Root::File("x".into()), ..Side::of_text("a&b.yaml", "").expect("a side") };
        let want = "### krm-merge: 1 conflict\n\n<details>\n<summary><code>a&amp;b.yaml:1</code> <code>data.&lt;b&gt;</code>: kept dest&#39;s</summary>\n\n<pre>both sides added elements to `&lt;/pre&gt;&lt;script&gt;\\n\\n# @someone *b* [a](b)` at the same position</pre>\n\n</details>\n";
        assert_eq!(markdown(&dest, &[result]), want.replace("&#39;s<", "'s<"));
        assert_eq!(markdown(&dest, &[]), "### krm-merge: no conflicts\n");
    }

    #[test]
    fn a_comment_is_not_longer_than_a_host_takes() {
        let (place, settled) = (ClashPlace::Field("x".repeat(600)), Settled::Updated);
        let clash = Clash { place, settled, ..Clash::open(Dispute::Additions { at: "y".repeat(2950) }) };
        let many = vec![Event::conflict(Severity::Warning, clash); 100];
        let dest = Side::of_text("dest", "").expect("a side");
        let text = markdown(&dest, &many);
        assert!(text.len() < 65_536 && text.contains("… and 84 more"), "{} {}", text.len(), &text[text.len() - 80..]);
        assert_eq!(text.matches("<details>").count(), text.matches("</details>").count());
    }
}
