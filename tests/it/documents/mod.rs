//! Documents against the running server: what they list exists, and what they show is what the server sends.

mod dependencies;
mod examples;
mod recipes;
mod routes;
mod shape;

use std::path::Path;

/// A document of the repository.
fn read(path: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(path);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}
