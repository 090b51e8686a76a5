//! The OpenAPI document, made from the table of routes and the types of its handlers, and a page that shows it.
//!
//! - [`crate::ENDPOINTS`] lists the endpoints, [`facts`] has the facts of their types, and the module `about` beside each
//!   handler its [description](crate::about).
//! - [`document`] is built once, on first use. It depends on nothing but the code.

mod components;
mod credential_kind;
mod document;
mod facts;
mod model;
mod outbound;
mod page;
#[cfg(test)]
mod tests;

pub(crate) use credential_kind::CredentialKind;
pub(crate) use facts::{Describe, Facts, Input, Response, SchemaOf, facts_of};
pub(crate) use model::{JSON, LINES};
pub(crate) use page::{LIBRARY, page};

use model::Document;
use std::sync::LazyLock;

/// The document.
fn document() -> &'static Document {
    static DOCUMENT: LazyLock<Document> = LazyLock::new(document::build);
    &DOCUMENT
}

/// The document as it is served.
pub(crate) fn json() -> &'static str {
    static JSON: LazyLock<String> = LazyLock::new(|| {
        let text = serde_json::to_string_pretty(document()).expect("texts, numbers and lists become JSON");
        text + "\n"
    });
    &JSON
}
