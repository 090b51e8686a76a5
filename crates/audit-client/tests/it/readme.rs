//! The example of the README is `examples/two_minutes.rs`, and prints what the README says.

use crate::real_server::RealServer;
use std::path::PathBuf;
use std::process::Command;

const README: &str = include_str!("../../README.md");
const EXAMPLE: &str = include_str!("../../examples/two_minutes.rs");

/// The first block of the README that begins with this line.
fn block(fence: &str) -> &'static str {
    let (_, rest) = README.split_once(&format!("```{fence}\n")).expect("a block");
    rest.split_once("```").expect("its end").0
}

/// `target/debug/examples/two_minutes` for `target/debug/deps/it-…`. `cargo test` builds it.
fn program() -> PathBuf {
    let test = std::env::current_exe().expect("this program");
    let folder = test.ancestors().nth(2).expect("a folder of the build");
    folder.join("examples/two_minutes")
}

#[test]
fn the_example_of_the_readme_runs_as_written() {
    let start = EXAMPLE.find("use audit_client").expect("the example");
    assert_eq!(block("rust,no_run"), &EXAMPLE[start..]);
    let server = RealServer::start();
    let directory = tempfile::tempdir().expect("a directory");
    let output = Command::new(program())
        .current_dir(directory.path())
        .env("AUDIT_URL", &server.base_url)
        .env("AUDIT_KEY", &server.project_key)
        .output()
        .expect("cargo test without --test has built the example");
    assert!(output.status.success(), "{output:?}");
    assert_eq!(String::from_utf8_lossy(&output.stdout), block("text"));
}
