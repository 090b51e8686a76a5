//! Documents against the running server: everything that they list exists, and every example matches the server's
//! response.

mod attacks;
mod dependencies;
mod deployment;
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
