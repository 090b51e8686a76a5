//! Text for people: paragraphs, lists, `code` and **strong** words, the subset of CommonMark that the document's
//! descriptions use.

/// The text with the special characters of HTML escaped.
pub(super) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            other => escaped.push(other),
        }
    }
    escaped
}

/// Text within a line.
pub(super) fn inline(text: &str) -> String {
    let mut html = String::new();
    for (index, piece) in text.split('`').enumerate() {
        if index % 2 == 1 {
            html.push_str(&format!("<code>{}</code>", escape(piece)));
            continue;
        }
        for (index, piece) in piece.split("**").enumerate() {
            match index % 2 {
                1 => html.push_str(&format!("<strong>{}</strong>", escape(piece))),
                _ => html.push_str(&escape(piece)),
            }
        }
    }
    html
}

/// Paragraphs between blank lines.
pub(super) fn prose(text: &str) -> String {
    text.split("\n\n")
        .map(str::trim)
        .filter(|paragraph| !paragraph.is_empty())
        .map(|paragraph| format!("<p>{}</p>\n", inline(paragraph)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_a_text_becomes_html() {
        assert_eq!(
            prose("a <b> & `c < d`\n\n**e** 'f' \"g\""),
            "<p>a &lt;b&gt; &amp; <code>c &lt; d</code></p>\n<p><strong>e</strong> &#39;f&#39; &quot;g&quot;</p>\n"
        );
    }
}
