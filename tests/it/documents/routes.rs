//! The table of routes in `docs/api.md` against the OpenAPI document.

use super::read;
use audit_tests::{DatabaseKind, Server};
use std::collections::BTreeSet;

/// Method, path, and the link of its description, if it has one.
fn documented(document: &str) -> Vec<(String, String, Option<String>)> {
    let rows = document.lines().filter_map(|line| {
        let mut cells = line.strip_prefix("| ")?.split(" | ");
        let (method, path) = (cells.next()?, cells.next()?);
        let is_method = !method.is_empty() && method.chars().all(|letter| letter.is_ascii_uppercase());
        is_method.then(|| {
            let name = path.split('`').nth(1).unwrap_or_default().to_owned();
            let link = path
                .split_once("](")
                .map(|(_, link)| link.trim_end_matches(')').to_owned());
            (method.to_owned(), name, link)
        })
    });
    rows.collect()
}

/// The anchors of a document's headings, as GitHub makes them.
pub(super) fn anchors(document: &str) -> BTreeSet<String> {
    let headings = document.lines().filter(|line| line.starts_with('#'));
    let anchor = |heading: &str| -> String {
        let text = heading.trim_start_matches('#').trim().to_lowercase();
        let kept = text
            .chars()
            .filter(|letter| letter.is_alphanumeric() || matches!(letter, ' ' | '-' | '_'));
        kept.map(|letter| if letter == ' ' { '-' } else { letter })
            .collect()
    };
    headings.map(anchor).collect()
}

#[test]
fn every_route_has_a_row_and_every_row_a_route() {
    let client = Server::shared(DatabaseKind::Sqlite).client();
    let openapi = client.get("/openapi.json").send_raw();
    let openapi: serde_json::Value = serde_json::from_slice(&openapi.bytes).expect("a JSON document");
    let paths = openapi["paths"].as_object().expect("paths").iter();
    let served: BTreeSet<(String, String)> = paths
        .flat_map(|(path, item)| {
            let methods = item.as_object().expect("operations").keys();
            let path = path.replace('{', ":").replace('}', "");
            methods.map(move |method| (method.to_uppercase(), path.clone()))
        })
        .filter(|(method, _)| method != "PARAMETERS")
        .collect();
    assert!(served.len() > 40, "{served:?}");
    let rows = documented(&read("docs/api.md"));
    let listed: BTreeSet<(String, String)> = rows
        .iter()
        .map(|(method, path, _)| (method.clone(), path.clone()))
        .collect();
    assert_eq!(listed.len(), rows.len(), "a route has one row");
    let missing: Vec<_> = served.difference(&listed).collect();
    assert!(missing.is_empty(), "not in docs/api.md: {missing:?}");
    let gone: Vec<_> = listed.difference(&served).collect();
    assert!(gone.is_empty(), "only in docs/api.md: {gone:?}");
}

#[test]
fn every_link_of_the_table_leads_to_a_section() {
    for (method, path, link) in documented(&read("docs/api.md")) {
        let Some(link) = link else {
            assert!(
                ["/api/v1/openapi.json", "/docs", "/docs/scalar.js"].contains(&path.as_str()),
                "{method} {path} has no section"
            );
            continue;
        };
        let (file, anchor) = link.split_once('#').expect("a link to a section");
        let file = if file.is_empty() { "api.md" } else { file };
        let anchors = anchors(&read(&format!("docs/{file}")));
        assert!(anchors.contains(anchor), "{method} {path}: there is no {link}");
    }
}
