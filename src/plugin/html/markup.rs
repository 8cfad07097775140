//! HTML in the making: what is written in this program goes in as it is, everything else only as text.
//!
//! The types see to it. [`Markup::raw`] takes nothing that was put together while the program runs, so a name or a value can get in by
//! [`Markup::text`] alone, which escapes it for the inside of elements and of quoted attributes.

use crate::markdown::escaped;

/// A piece of HTML.
#[derive(Debug, Default)]
pub struct Markup(String);

impl Markup {
    /// Adds tags of this program.
    pub fn raw(&mut self, html: &'static str) -> &mut Self {
        self.0.push_str(html);
        self
    }

    /// Adds text from anywhere, on one line.
    pub fn text(&mut self, text: &str) -> &mut Self {
        self.0.push_str(&escaped(text));
        self
    }

    /// Adds text as code.
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
