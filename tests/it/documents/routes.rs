//! The list of routes in `docs/api.md`: each has a section. The list itself is written from the OpenAPI document.

use super::read;
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
fn every_link_of_the_table_leads_to_a_section() {
    let rows = documented(&read("docs/api.md"));
    assert!(rows.len() > 40, "only {} rows", rows.len());
    for (method, path, link) in rows {
        let Some(link) = link else {
            assert!(
                ["/api/v1/openapi.json", "/docs", "/docs/scalar.js"].contains(&path.as_str()),
                "{method} {path} has no section: write it, or link the row to another one"
            );
            continue;
        };
        let (file, anchor) = link.split_once('#').expect("a link to a section");
        let file = if file.is_empty() { "api.md" } else { file };
        let anchors = anchors(&read(&format!("docs/{file}")));
        assert!(anchors.contains(anchor), "{method} {path}: there is no {link}");
    }
}
