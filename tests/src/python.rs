//! The published library that verifies webhooks, and the examples of the documentation, run in Python.

use crate::receiver::Received;
use serde_json::{Map, Value, json};
use std::io::Write;
use std::process::{Command, Stdio};

const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/verify_webhook.py");

/// Runs an example of the documentation to its end and returns its standard error; panics when it fails.
pub fn run_example(python: &str, script: &str, arguments: &[&str], variables: &[(&str, &str)]) -> String {
    let output = example(python, script, arguments, variables)
        .output()
        .unwrap_or_else(|error| panic!("AUDIT_TEST_PYTHON: {python}: {error}"));
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{script}: {stderr}");
    stderr
}

/// An example of the documentation that is about to run.
pub fn example(python: &str, script: &str, arguments: &[&str], variables: &[(&str, &str)]) -> Command {
    let path = format!("{}/../docs/examples/{script}", env!("CARGO_MANIFEST_DIR"));
    let mut command = Command::new(python);
    command.arg(path).args(arguments).envs(variables.iter().copied());
    command
}

/// The result of the library for each request with its secret: `ok`, or `refused: …`.
pub fn verify_with_library(python: &str, requests: &[(&str, &Received)]) -> Vec<String> {
    let line = |(secret, request): &(&str, &Received)| {
        let headers: Map<String, Value> = request
            .headers
            .iter()
            .map(|(name, value)| (name.clone(), json!(value)))
            .collect();
        json!({"secret": secret, "headers": headers, "body": request.body}).to_string()
    };
    let input = requests.iter().map(line).collect::<Vec<_>>().join("\n");
    let mut child = Command::new(python)
        .arg(SCRIPT)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap_or_else(|error| panic!("AUDIT_TEST_PYTHON: {python}: {error}"));
    let mut stdin = child.stdin.take().expect("standard input is a pipe");
    stdin.write_all(input.as_bytes()).expect("write to Python");
    drop(stdin);
    let output = child.wait_with_output().expect("read from Python");
    assert!(output.status.success(), "the script ends well");
    let text = String::from_utf8(output.stdout).expect("Python writes UTF-8");
    text.lines().map(str::to_owned).collect()
}
