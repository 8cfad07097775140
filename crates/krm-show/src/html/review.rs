//! The page of a review of values: a table, and the changed defaults folded below it.

use super::head;
use super::markup::Markup;

/// What the page shows.
pub struct Content {
    /// The title.
    pub title: String,
    /// How much there is.
    pub total: String,
    /// The rows of the table: where, the verdict, what the new version does, and the chart.
    pub rows: Vec<[String; 4]>,
    /// Where more is said, as sentences.
    pub notes: Vec<String>,
    /// The changed defaults.
    pub defaults: Vec<Folded>,
}

/// The defaults that a version changes.
pub struct Folded {
    /// The line that is always shown.
    pub summary: String,
    /// The place, the old and the new default of each.
    pub rows: Vec<[String; 3]>,
    /// The tags of images among them.
    pub images: Option<String>,
}

/// Makes the page.
pub fn page(content: &Content) -> String {
    let mut page = Markup::default();
    head(&mut page, &content.title);
    page.raw("<body>\n<header>\n<h1>").text(&content.title).raw("</h1>\n<p>").text(&content.total);
    page.raw("</p>\n</header>\n<main>\n");
    if content.rows.is_empty() {
        page.raw("<p>No value is affected.</p>\n");
    } else {
        page.raw("<table>\n<tr><th>place</th><th>verdict</th><th>what the new version does</th><th>chart</th></tr>\n");
        for [at, verdict, what, chart] in &content.rows {
            page.raw("<tr><td>").code(at).raw("</td><td>").text(verdict).raw("</td><td>").text(what);
            page.raw("</td><td>").text(chart).raw("</td></tr>\n");
        }
        page.raw("</table>\n");
    }
    content.notes.iter().for_each(|note| _ = page.raw("<p>").text(note).raw("</p>\n"));
    content.defaults.iter().for_each(|folded| folded.write(&mut page));
    page.raw("</main>\n<footer><p>Made by krm-merge ").text(env!("CARGO_PKG_VERSION")).raw(".</p></footer>\n");
    page.raw("</body>\n</html>\n");
    page.into_string()
}

impl Folded {
    fn write(&self, page: &mut Markup) {
        page.raw("<details>\n<summary>").text(&self.summary).raw("</summary>\n");
        if !self.rows.is_empty() {
            page.raw("<table>\n<tr><th>place</th><th>old default</th><th>new default</th></tr>\n");
            for [place, old, new] in &self.rows {
                page.raw("<tr><td>").code(place).raw("</td><td>").code(old).raw("</td><td>").code(new);
                page.raw("</td></tr>\n");
            }
            page.raw("</table>\n");
        }
        self.images.iter().for_each(|images| _ = page.raw("<p>").text(images).raw("</p>\n"));
        page.raw("</details>\n");
    }
}
