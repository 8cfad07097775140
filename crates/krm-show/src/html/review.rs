//! The page of a review of values: a table.

use super::head;
use super::markup::Markup;

/// Makes the page. A row is where, the verdict, what it does, and the chart.
pub fn page(title: &str, total: &str, rows: &[[String; 4]]) -> String {
    let mut page = Markup::default();
    head(&mut page, title);
    page.raw("<body>\n<header>\n<h1>").text(title).raw("</h1>\n<p>").text(total).raw("</p>\n</header>\n<main>\n");
    if rows.is_empty() {
        page.raw("<p>No value is affected.</p>\n");
    } else {
        page.raw("<table>\n<tr><th>place</th><th>verdict</th><th>what the new version does</th><th>chart</th></tr>\n");
        for [at, verdict, what, chart] in rows {
            page.raw("<tr><td>").code(at).raw("</td><td>").text(verdict).raw("</td><td>").text(what);
            page.raw("</td><td>").text(chart).raw("</td></tr>\n");
        }
        page.raw("</table>\n");
    }
    page.raw("</main>\n<footer><p>Made by krm-merge ").text(env!("CARGO_PKG_VERSION")).raw(".</p></footer>\n");
    page.raw("</body>\n</html>\n");
    page.into_string()
}
