//! A merge as one HTML file for a review: for each resource its changes, and for each conflict the values of all three sides.
//!
//! The page is complete without scripts; its script only adds filters. The page loads nothing, because style and script are in the file.
//! The policy in its head allows only these two, by their digests. Values of Secrets are not shown, because people pass such a file around.

mod card;
mod markup;
pub mod review;
mod rows;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use krm_files::command::called;
use krm_folders::merge::{Conflicts, Merge};
use krm_folders::side::{Root, Side};
use krm_job::event::{Event, Severity};
use krm_words::{Message, counted};
use sha2::{Digest, Sha256};

use crate::markdown::headline;
use card::{Card, Rank, cards};
use markup::Markup;

const STYLE: &str = include_str!("html/page.css");
const SCRIPT: &str = include_str!("html/page.js");

/// The largest size of all cards together, in bytes. Browsers open a file of this size at once.
const LARGEST: usize = 4 << 20;

/// The largest size of the list of resources without a card, in bytes.
const LARGEST_LIST: usize = 1 << 20;

/// The groups of cards, in their order, each with its identifier and its heading.
const GROUPS: [(Rank, &str, &str); 5] = [
    (Rank::Open, "open", "Unresolved"),
    (Rank::Conflict, "conflicts", "Conflicts with a winner"),
    (Rank::Warning, "warnings", "Warnings"),
    (Rank::Change, "changes", "Changes without conflicts"),
    (Rank::Note, "notes", "Notes"),
];

/// Whether the files are written that the page is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Writing {
    /// They are.
    Done,
    /// They are not.
    Not,
}

/// Makes the page.
pub fn html(dest: &Side, merge: &Merge, writing: Writing) -> String {
    let Merge { changes, results, secrets, .. } = merge;
    let cards = cards(dest, changes, results, secrets, &merge.types(dest));
    let title = format!("krm-merge: {}", headline(results));
    let mut page = Markup::default();
    head(&mut page, &title);
    page.raw("<body>\n<a class=\"skip\" href=\"#resources\">Skip to the resources</a>\n<header>\n<h1>").text(&title);
    page.raw("</h1>\n");
    sides(&mut page, dest, merge, writing);
    next(&mut page, merge);
    run(&mut page, results);
    page.raw("</header>\n");
    contents(&mut page, &cards);
    filters(&mut page);
    page.raw("<main id=\"resources\" tabindex=\"-1\">\n");
    if cards.is_empty() {
        page.raw("<p>Nothing changes, and there is nothing to look at.</p>\n");
    }
    groups(&mut page, &cards);
    page.raw("</main>\n<footer><p>Made by krm-merge ").text(env!("CARGO_PKG_VERSION"));
    page.raw(". Values of Secrets are not shown.</p></footer>\n<script>")
        .raw(SCRIPT)
        .raw("</script>\n</body>\n</html>\n");
    page.into_string()
}

/// The hash by which the policy of the page allows a style or script in it. Source: W3C, Content Security Policy Level 3, "hash-source".
fn digest(text: &str) -> String {
    format!("'sha256-{}'", STANDARD.encode(Sha256::digest(text.as_bytes())))
}

fn head(page: &mut Markup, title: &str) {
    page.raw("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
    page.raw("<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; base-uri 'none'; form-action 'none'; style-src ");
    page.text(&digest(STYLE)).raw("; script-src ").text(&digest(SCRIPT)).raw("\">\n");
    page.raw("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n");
    page.raw("<meta name=\"color-scheme\" content=\"light dark\">\n<meta name=\"referrer\" content=\"no-referrer\">\n<title>");
    page.text(title).raw("</title>\n<style>").raw(STYLE).raw("</style>\n</head>\n");
}

/// Writes what was merged into what, and what the words for the sides mean.
fn sides(page: &mut Markup, dest: &Side, merge: &Merge, writing: Writing) {
    page.raw("<p>");
    match (&merge.names.original, &merge.names.updated) {
        (Some(original), Some(updated)) => {
            page.raw("What changed from ").code(original).raw(" to ").code(updated).raw(" was merged into ")
        }
        (None, Some(source)) => page.code(source).raw(" was merged into "),
        (_, None) => page.raw("Merged into "),
    };
    let files = counted(merge.changes.len(), "file");
    let told = match (writing, &dest.root) {
        (Writing::Not, Root::Folder(_) | Root::File(_)) => format!("{files} would change. Nothing was written."),
        _ => format!("{files} changed."),
    };
    page.code(&dest.name).raw(": ").text(&told).raw("</p>\n");
    if merge.names.original.is_some() && merge.results.iter().any(Event::is_conflict) {
        page.raw("<p><code>dest</code> is what you had, <code>updated</code> the new release, and <code>original</code> the release that dest came from.</p>\n");
    }
}

/// Writes what someone should do about the conflicts.
fn next(page: &mut Markup, merge: &Merge) {
    let conflicts = || merge.results.iter().filter(|result| result.is_conflict());
    let resolve = format!("{} resolve", called());
    let [before, command, after] = match () {
        () if merge.conflicts == Conflicts::Marked && conflicts().next().is_some() => {
            ["", &resolve, " asks about each conflict, which has conflict markers in its file."]
        }
        () if conflicts().any(|conflict| conflict.severity == Severity::Error) => [
            "resolve each conflict. With --on-conflict mark, the merge writes conflict markers, and ",
            &resolve,
            " asks about each conflict.",
        ],
        () if conflicts().next().is_some() => [
            "check each conflict, because only one side was taken. A rule in ",
            ".krm-merge.yaml",
            " takes the other side.",
        ],
        () => return,
    };
    page.raw("<p><strong>Next:</strong> ").text(before).code(command).text(after).raw("</p>\n");
}

/// Writes the results that are about the whole run, not about a resource or a file.
fn run(page: &mut Markup, results: &[Event]) {
    let about_all = || results.iter().filter(|result| card::is_about_all(result));
    if about_all().next().is_none() {
        return;
    }
    page.raw("<ul>\n");
    for result in about_all().take(card::MOST) {
        page.raw("<li>").text(&Message::of(result).to_string()).raw("</li>\n");
    }
    card::more(page, about_all().count().saturating_sub(card::MOST));
    page.raw("</ul>\n");
}

/// Writes links to the groups.
fn contents(page: &mut Markup, cards: &[Card<'_>]) {
    page.raw("<nav aria-label=\"Groups\">\n<ul>\n");
    for (rank, id, title) in GROUPS {
        let count = cards.iter().filter(|card| card.rank == rank).count();
        if count > 0 {
            page.raw("<li><a href=\"#").raw(id).raw("\">").raw(title).raw("</a> ");
            page.text(&format!("({count})")).raw("</li>\n");
        }
    }
    page.raw("</ul>\n</nav>\n");
}

/// Writes the filters. They are hidden until the script fills and shows them.
fn filters(page: &mut Markup) {
    page.raw(
        "<form id=\"filters\" role=\"search\" aria-label=\"Filters\" hidden>
<label>Show <select id=\"has\">
<option value=\"\">everything</option>
<option value=\"open\">what is unresolved</option>
<option value=\"conflict\">conflicts</option>
<option value=\"warning\">warnings and errors</option>
<option value=\"changed\">what changes</option>
</select></label>
<label>Kind <select id=\"kind\"><option value=\"\">all</option></select></label>
<label>File <select id=\"file\"><option value=\"\">all</option></select></label>
<button type=\"reset\">Show all</button>
<p id=\"shown\" role=\"status\"></p>
</form>
",
    );
}

/// Writes the cards by group. Cards that do not fit into the page are only listed; cards that do not fit into the list are only counted.
fn groups(page: &mut Markup, cards: &[Card<'_>]) {
    let (mut left, mut is_full) = (LARGEST, false);
    let mut listed = Vec::new();
    for (rank, id, title) in GROUPS {
        let mut group = Markup::default();
        for card in cards.iter().filter(|card| card.rank == rank) {
            let shown = card.markup();
            is_full |= shown.len() > left;
            if is_full {
                listed.push(card);
                continue;
            }
            left -= shown.len();
            group.append(&shown);
        }
        if group.len() > 0 {
            page.raw("<section aria-labelledby=\"").raw(id).raw("\">\n<h2 id=\"").raw(id).raw("\">").raw(title);
            page.raw("</h2>\n").append(&group).raw("</section>\n");
        }
    }
    if listed.is_empty() {
        return;
    }
    page.raw(
        "<section aria-labelledby=\"rest\">\n<h2 id=\"rest\">More</h2>\n<p>The page would be too large with these. ",
    );
    page.raw("<code>-o diff</code> shows them whole.</p>\n<ul>\n");
    let mut list = Markup::default();
    let is_room = |card: &&&Card<'_>| {
        card.line(&mut list);
        list.len() < LARGEST_LIST
    };
    let count = listed.iter().take_while(is_room).count();
    page.append(&list);
    card::more(page, listed.len().saturating_sub(count + 1));
    page.raw("</ul>\n</section>\n");
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use krm_tree::limit::Limit;
    use krm_tree::sides::Sides;

    use super::*;

    /// The relative luminance of a colour such as `#ffffff`. Source: W3C, WCAG 2.2.
    fn luminance(colour: &str) -> f64 {
        let part = |at: usize| f64::from(u8::from_str_radix(&colour[at..at + 2], 16).expect("hexadecimal")) / 255.0;
        let linear = |at: usize| match part(at) {
            low if low <= 0.040_45 => low / 12.92,
            high => ((high + 0.055) / 1.055).powf(2.4),
        };
        0.2126 * linear(1) + 0.7152 * linear(3) + 0.0722 * linear(5)
    }

    #[test]
    fn letters_stand_out_in_light_and_dark() {
        let schemes: Vec<&str> = STYLE.split(":root {").skip(1).collect();
        assert_eq!(schemes.len(), 2);
        for scheme in schemes {
            let lines = scheme.split('}').next().unwrap_or_default().lines();
            let colours: BTreeMap<&str, f64> = lines
                .filter_map(|line| line.trim().strip_prefix("--")?.strip_suffix(';')?.split_once(": "))
                .map(|(name, colour)| (name, luminance(colour)))
                .collect();
            let of_text = ["page", "card", "gone", "gone-mark", "new", "new-mark", "conflict", "won"];
            let of_quiet = ["page", "card", "gone", "new"];
            let pairs = of_text.map(|below| ("text", below)).into_iter().chain(of_quiet.map(|below| ("quiet", below)));
            for (letters, below) in pairs.chain([("link", "page"), ("link", "card")]) {
                let (a, b) = (colours[letters], colours[below]);
                let contrast = (a.max(b) + 0.05) / (a.min(b) + 0.05);
                assert!(contrast >= 4.5, "{letters} on {below}: {contrast}");
            }
        }
    }

    #[test]
    fn the_policy_allows_the_style_and_the_script_of_the_page() {
        // What `openssl dgst -sha256 -binary | base64` says of nothing.
        assert_eq!(digest(""), "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='");
        let dest = Side::of_text("dest", "").expect("a side");
        let merge = Merge {
            changes: Vec::new(),
            results: Vec::new(),
            made: BTreeMap::new(),
            rules: Vec::new(),
            limit: Limit::default(),
            conflicts: Conflicts::Settled,
            secrets: Vec::new(),
            names: Sides::default(),
        };
        let page = html(&dest, &merge, Writing::Done);
        for text in [STYLE, SCRIPT] {
            assert!(page.contains(&digest(text).replace('\'', "&#39;")) && page.contains(text), "{page}");
        }
        assert!(!page.contains("://"), "the page loads nothing: {page}");
    }
}
