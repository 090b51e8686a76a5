//! The programs of `clients/conformance`: servers that judge a client. `clients/conformance/README.md` describes the protocol.

use serde_json::Value;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};

fn program(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../clients/conformance")
        .join(name)
}

/// What a program prints before it ends; `None` without an interpreter, which is an error where one is required.
#[expect(clippy::disallowed_methods, reason = "a test reads its environment")]
pub(crate) fn output(name: &str, arguments: &[&str]) -> Option<Vec<u8>> {
    match Command::new("python3")
        .arg(program(name))
        .args(arguments)
        .output()
    {
        Ok(output) => {
            assert!(output.status.success(), "{output:?}");
            Some(output.stdout)
        }
        Err(error) => {
            let is_required = std::env::var("AUDIT_TEST_REQUIRE_PYTHON").is_ok();
            assert!(
                !is_required,
                "Python is required but python3 does not run: {error}"
            );
            let line = format!("SKIPPED: Python: {name}: python3 does not run: {error}\n");
            std::io::stderr()
                .write_all(line.as_bytes())
                .expect("write to standard error");
            None
        }
    }
}

/// A running program, which ends with this value.
pub(crate) struct Server {
    process: Child,
    pub(crate) base_url: String,
    /// The line that it prints when it listens.
    pub(crate) hello: Value,
}

impl Server {
    /// `None` without an interpreter.
    pub(crate) fn start(name: &str, arguments: &[&str]) -> Option<Self> {
        output(name, &["--help"])?;
        let child = Command::new("python3")
            .arg(program(name))
            .args(arguments)
            .stdout(Stdio::piped())
            .spawn();
        let mut process = child.expect("the server starts");
        let mut line = String::new();
        let stdout = process.stdout.take().expect("standard output");
        BufReader::new(stdout).read_line(&mut line).expect("a line");
        let hello: Value = serde_json::from_str(&line).expect("JSON");
        let base_url = hello["base_url"].as_str().expect("an address").to_owned();
        Some(Self {
            process,
            base_url,
            hello,
        })
    }

    /// Reports what the client did. Returns the verdict.
    pub(crate) fn report(&self, outcome: &Value) -> Value {
        let agent = ureq::Agent::new_with_defaults();
        let response = agent
            .post(format!("{}/__report", self.base_url))
            .header("content-type", "application/json")
            .send(outcome.to_string().as_bytes());
        let text = response
            .expect("a response")
            .body_mut()
            .read_to_string()
            .expect("a body");
        serde_json::from_str(&text).expect("JSON")
    }

    /// The end of the program, after its report.
    pub(crate) fn wait(&mut self) -> ExitStatus {
        self.process.wait().expect("the server ends")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It has ended by itself, unless the test failed.
        drop(self.process.kill());
        drop(self.process.wait());
    }
}
