//! The page against the document that it shows.

use crate::openapi::{document, page};
use crate::routes::ENDPOINTS;
use std::collections::BTreeSet;

/// The values of an attribute, in order.
fn values<'a>(html: &'a str, attribute: &str) -> Vec<&'a str> {
    let pieces = html.split(attribute).skip(1);
    pieces.filter_map(|piece| piece.split('"').next()).collect()
}

#[test]
fn every_endpoint_and_every_schema_has_a_place() {
    let html = &page().html;
    for endpoint in ENDPOINTS {
        let about = (endpoint.about)();
        assert!(
            html.contains(&format!("<article id=\"{}\">", about.id)),
            "{}",
            about.id
        );
        assert!(
            html.contains(&format!("<code>{}</code>", endpoint.path)),
            "{}",
            endpoint.path
        );
    }
    for (name, _) in document().components.schemas.iter() {
        assert!(
            html.contains(&format!("<article id=\"schema-{name}\">")),
            "{name}"
        );
    }
}

#[test]
fn every_link_within_the_page_leads_somewhere_and_no_place_is_there_twice() {
    let html = &page().html;
    let ids = values(html, " id=\"");
    let unique: BTreeSet<&str> = ids.iter().copied().collect();
    assert_eq!(unique.len(), ids.len());
    for link in values(html, " href=\"") {
        let is_known = link.strip_prefix('#').is_some_and(|id| unique.contains(id));
        assert!(is_known || link == "api/v1/openapi.json", "{link}");
    }
}

#[test]
fn the_page_needs_no_script_and_no_network() {
    let html = &page().html;
    for forbidden in [
        "<script",
        " src=",
        "<link",
        "@import",
        "url(",
        " style=",
        "javascript:",
        " onclick",
    ] {
        assert!(!html.contains(forbidden), "{forbidden}");
    }
    assert!(
        page()
            .policy
            .starts_with("default-src 'none'; style-src 'sha256-")
    );
}

#[test]
fn what_is_opened_is_closed() {
    let html = &page().html;
    for name in [
        "section", "article", "table", "tbody", "tr", "td", "th", "ul", "li", "p", "pre", "code", "details",
    ] {
        let opened = html.matches(&format!("<{name}>")).count() + html.matches(&format!("<{name} ")).count();
        assert_eq!(opened, html.matches(&format!("</{name}>")).count(), "{name}");
    }
}
