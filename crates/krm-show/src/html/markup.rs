//! HTML under construction: literals of this program are added unchanged, all other text only escaped.
//!
//! The types enforce this. [`Markup::raw`] takes no text that was composed at run time. So a name or a value can only be added by
//! [`Markup::text`], which escapes it for the inside of elements and of quoted attributes.

use crate::markdown::escaped;

/// A piece of HTML.
#[derive(Debug, Default)]
pub struct Markup(String);

impl Markup {
    /// Adds a literal of this program, such as tags.
    pub fn raw(&mut self, html: &'static str) -> &mut Self {
        self.0.push_str(html);
        self
    }

    /// Adds any text, escaped and on one line.
    pub fn text(&mut self, text: &str) -> &mut Self {
        self.0.push_str(&escaped(text));
        self
    }

    /// Adds any text as code.
    pub fn code(&mut self, text: &str) -> &mut Self {
        self.raw("<code>").text(text).raw("</code>")
    }

    /// Adds another piece.
    pub fn append(&mut self, other: &Self) -> &mut Self {
        self.0.push_str(&other.0);
        self
    }

    /// Its size in bytes.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// The HTML.
    pub fn into_string(self) -> String {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_cannot_leave_its_element_or_attribute() {
        let mut markup = Markup::default();
        markup.raw("<p title=\"").text("\"><script>").raw("\">").code("'&</code>\n\u{202e}").raw("</p>");
        let want = "<p title=\"&quot;&gt;&lt;script&gt;\"><code>&#39;&amp;&lt;/code&gt;\\n\\u202e</code></p>";
        assert_eq!(markup.into_string(), want);
    }
}
