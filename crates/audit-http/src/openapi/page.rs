//! The document as one page to read: no script, no network, nothing but text and a style sheet.

mod operation;
mod prose;
mod schema;

use super::credential_kind::CredentialKind;
use super::model::{Document, Named, Operation};
use crate::error_code::ErrorCode;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use prose::{escape, inline, prose};
use sha2::{Digest, Sha256};

const STYLE: &str = include_str!("page/style.css");

/// The page, and its content security policy.
pub(crate) struct Page {
    pub(crate) html: String,
    /// The header `Content-Security-Policy`: the style sheet, known by its hash, and nothing else.
    pub(crate) policy: String,
}

/// Makes the page.
pub(super) fn render(document: &Document) -> Page {
    let hash = STANDARD.encode(Sha256::digest(STYLE));
    let policy = format!(
        "default-src 'none'; style-src 'sha256-{hash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    );
    let mut html = head(document);
    html.push_str(&contents(document));
    html.push_str("<main id=\"content\">\n<section id=\"conventions\">\n<h2>Conventions</h2>\n");
    html.push_str(&prose(document.info.description));
    html.push_str("</section>\n");
    html.push_str(&credentials());
    for tag in &document.tags {
        html.push_str(&format!(
            "<section id=\"tag-{0}\">\n<h2>{0}</h2>\n{1}",
            escape(tag.name),
            prose(tag.description)
        ));
        for (path, method, operation) in operations_of(&document.paths, tag.name) {
            html.push_str(&operation::article(&document.components, path, method, operation));
        }
        html.push_str("</section>\n");
    }
    html.push_str("<section id=\"messages\">\n<h2>Messages to webhooks</h2>\n");
    for (name, methods) in document.webhooks.iter() {
        for (method, operation) in methods.iter() {
            html.push_str(&operation::article(&document.components, name, method, operation));
        }
    }
    html.push_str("</section>\n");
    html.push_str(&errors());
    html.push_str("<section id=\"schemas\">\n<h2>Schemas</h2>\n");
    for (name, value) in document.components.schemas.iter() {
        html.push_str(&schema::component(name, value));
    }
    html.push_str("</section>\n</main>\n</body>\n</html>\n");
    Page { html, policy }
}

/// The operations about a subject, with path and method.
fn operations_of<'a>(
    paths: &'a Named<Named<Operation>>,
    tag: &str,
) -> impl Iterator<Item = (&'a str, &'a str, &'a Operation)> {
    let of_path = |(path, methods): (&'a str, &'a Named<Operation>)| {
        methods
            .iter()
            .map(move |(method, operation)| (path, method, operation))
    };
    paths
        .iter()
        .flat_map(of_path)
        .filter(move |(_, _, operation)| operation.tags.contains(&tag))
}

fn head(document: &Document) -> String {
    let info = &document.info;
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n<title>{title}: HTTP API {version}</title>\n\
         <style>{STYLE}</style>\n</head>\n<body>\n<a class=\"skip\" href=\"#content\">Skip to the content</a>\n\
         <header>\n<h1>{title} <small>HTTP API {version}</small></h1>\n<p>{summary}</p>\n\
         <p>For programs: <a href=\"api/v1/openapi.json\">the OpenAPI {openapi} document</a>, of which this is a \
         page.</p>\n</header>\n",
        title = escape(info.title),
        version = escape(info.version),
        summary = escape(info.summary),
        openapi = document.openapi,
    )
}

fn contents(document: &Document) -> String {
    let link = |id: &str, text: &str| format!("<li><a href=\"#{id}\">{text}</a></li>\n");
    let mut html = String::from("<nav aria-label=\"Contents\">\n<ul>\n");
    html.push_str(&link("conventions", "Conventions"));
    html.push_str(&link("credentials", "Credentials"));
    for tag in &document.tags {
        let name = escape(tag.name);
        html.push_str(&format!("<li><a href=\"#tag-{name}\">{name}</a>\n<ul>\n"));
        for (_, _, operation) in operations_of(&document.paths, tag.name) {
            html.push_str(&link(operation.operation_id, &escape(operation.summary)));
        }
        html.push_str("</ul>\n</li>\n");
    }
    html.push_str(&link("messages", "Messages to webhooks"));
    html.push_str(&link("errors", "Errors"));
    html.push_str(&link("schemas", "Schemas"));
    html.push_str("</ul>\n</nav>\n");
    html
}

fn credentials() -> String {
    let mut rows = String::new();
    for kind in CredentialKind::ALL {
        let scheme = kind.security_scheme();
        rows.push_str(&format!(
            "<tr><th scope=\"row\">{}</th><td>{}</td><td>{}</td></tr>\n",
            kind.title(),
            escape(scheme.bearer_format),
            inline(scheme.description)
        ));
    }
    let about = "A request carries its credential in the header `Authorization: Bearer …` and nowhere else. Every \
                 endpoint says which kinds it takes; another kind is 403 `forbidden`.";
    format!(
        "<section id=\"credentials\">\n<h2>Credentials</h2>\n{}{}</section>\n",
        prose(about),
        table(&["Credential", "Text", "Reaches"], &rows)
    )
}

fn errors() -> String {
    let mut rows = String::new();
    for code in ErrorCode::ALL {
        rows.push_str(&format!(
            "<tr><td>{}</td><th scope=\"row\"><code>{code}</code></th><td>{}</td></tr>\n",
            code.status().as_u16(),
            inline(code.when())
        ));
    }
    let about = "Every answer that is no success has the form of `Error`.";
    format!(
        "<section id=\"errors\">\n<h2>Errors</h2>\n{}{}</section>\n",
        prose(about),
        table(&["Status", "Code", "When"], &rows)
    )
}

/// A table of rows that are HTML already. Narrow screens scroll it, so it can be reached with the keyboard.
fn table(headings: &[&str], rows: &str) -> String {
    let headings: String = headings
        .iter()
        .map(|heading| format!("<th scope=\"col\">{heading}</th>"))
        .collect();
    format!(
        "<div class=\"table\" tabindex=\"0\">\n<table>\n<thead><tr>{headings}</tr></thead>\n<tbody>\n{rows}</tbody>\n\
         </table>\n</div>\n"
    )
}

#[cfg(test)]
mod tests;
