//! The document, and the list of routes in `docs/api.md`, against the reviewed copies in the repository. Their changes are changes of
//! the interface, so they appear in a commit and are reviewed.

use super::{document, json};
use crate::openapi::model::Operation;
use std::path::{Path, PathBuf};

/// Around the list of routes.
const BEGIN: &str =
    "<!-- The list of routes: AUDIT_UPDATE_SNAPSHOT=1 cargo test -p audit-http openapi writes it. -->\n";
const END: &str = "<!-- The end of the list of routes. -->\n";

fn path_of(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(file)
}

/// Asserts that a file has this text, which it first gets if that is asked for.
#[expect(clippy::disallowed_methods, reason = "a test's own switch")]
fn assert_stored(file: &str, text: &str) {
    let path = path_of(file);
    if std::env::var("AUDIT_UPDATE_SNAPSHOT").is_ok_and(|value| value == "1") {
        std::fs::write(&path, text).unwrap();
    }
    let stored = std::fs::read_to_string(&path).unwrap_or_default();
    let mut lines = stored.lines().zip(text.lines());
    let differing = lines.position(|(stored, made)| stored != made);
    assert!(
        stored == text,
        "{file} is not what the code says (first in line {}). If that is meant: \
         AUDIT_UPDATE_SNAPSHOT=1 cargo test -p audit-http openapi, and look at the difference",
        differing.map_or(stored.lines().count(), |line| line + 1)
    );
}

/// The anchor of a heading, as GitHub makes it.
fn anchor(heading: &str) -> String {
    let is_kept = |letter: &char| letter.is_alphanumeric() || matches!(letter, ' ' | '-' | '_');
    let kept: String = heading.to_lowercase().chars().filter(is_kept).collect();
    kept.replace(' ', "-")
}

/// Where a route is described: the section with its name, or else where its row in the list has led.
fn link(method: &str, path: &str, text: &str) -> Option<String> {
    let name = format!("{method} {}", path.trim_start_matches("/api/v1"));
    if text
        .lines()
        .any(|line| line.strip_prefix("### ") == Some(name.as_str()))
    {
        return Some(format!("#{}", anchor(&name)));
    }
    let (_, rest) = text.split_once(&format!("| {method} | [`{path}`]("))?;
    rest.split_once(')').map(|(link, _)| link.to_owned())
}

fn row(method: &str, path: &str, operation: &Operation, text: &str) -> String {
    let (method, path) = (method.to_uppercase(), path.replace('{', ":").replace('}', ""));
    let cell = match link(&method, &path, text) {
        Some(link) => format!("[`{path}`]({link})"),
        None => format!("`{path}`"),
    };
    let credentials = match operation.credentials.as_slice() {
        [] => "none".to_owned(),
        names => names.join(", ").replace('_', " "),
    };
    let mut statuses = operation.responses.iter().map(|(status, _)| status);
    let success = statuses.find(|status| status.starts_with('2')).unwrap();
    format!(
        "| {method} | {cell} | {} | {credentials} | {success} |\n",
        operation.summary
    )
}

/// The text of `docs/api.md` with the list of routes as the document has them.
fn with_routes(text: &str) -> String {
    let (before, rest) = text.split_once(BEGIN).expect("the mark before the routes");
    let (_, after) = rest.split_once(END).expect("the mark behind the routes");
    let operations = document().paths.iter().flat_map(|(path, operations)| {
        let operations = operations.iter();
        operations.map(move |(method, operation)| row(method, path, operation, text))
    });
    let rows: String = operations.collect();
    format!(
        "{before}{BEGIN}\n| Method | Path | Operation | Credential | Success |\n|---|---|---|---|---|\n{rows}\n{END}{after}"
    )
}

#[test]
fn the_document_is_the_one_in_the_repository() {
    assert_stored("docs/openapi.json", json());
}

#[test]
fn the_list_of_routes_is_the_one_in_the_documentation() {
    let text = std::fs::read_to_string(path_of("docs/api.md")).unwrap();
    assert_stored("docs/api.md", &with_routes(&text));
}
