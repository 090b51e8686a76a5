//! The document against the reviewed copy in the repository.

use super::json;
use std::path::Path;

/// Its changes are changes of the interface, so they appear in a commit and are reviewed.
#[test]
#[expect(clippy::disallowed_methods, reason = "a test's own switch")]
fn the_document_is_the_one_in_the_repository() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/openapi.json");
    if std::env::var("AUDIT_UPDATE_SNAPSHOT").is_ok_and(|value| value == "1") {
        std::fs::write(&path, json()).unwrap();
    }
    let stored = std::fs::read_to_string(&path).unwrap_or_default();
    let differing = stored
        .lines()
        .zip(json().lines())
        .position(|(stored, made)| stored != made);
    assert!(
        stored == json(),
        "docs/openapi.json is not what the code says (first in line {}). If that is meant: \
         AUDIT_UPDATE_SNAPSHOT=1 cargo test -p audit-http openapi, and look at the difference",
        differing.map_or(stored.lines().count(), |line| line + 1)
    );
}
