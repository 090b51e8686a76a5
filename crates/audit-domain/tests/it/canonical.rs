//! The canonical form, held against implementations of RFC 8785 that nobody here wrote: the crates
//! `serde_json_canonicalizer` and `serde_jcs`, and `rfc8785` from PyPI.
//!
//! [`VALUES`] random values each; `AUDIT_TEST_CANONICAL_VALUES` names another number:
//! `AUDIT_TEST_CANONICAL_VALUES=1000000 cargo test -p audit-domain --test it canonical`.
//! A million take a minute.
//! Integers beyond ±(2^53−1) are left out: RFC 8785 rounds them to doubles, and here they keep their digits.

use crate::values::Values;
use audit_domain::canonical;
use serde_json::Value;
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::process::{Command, Stdio};

const VALUES: u64 = 50_000;
const SEED: u64 = 0x8785;
const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/canonical_rfc8785.py");

#[expect(
    clippy::disallowed_methods,
    reason = "tests are configured by the environment"
)]
fn environment(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

fn count() -> u64 {
    environment("AUDIT_TEST_CANONICAL_VALUES")
        .map_or(VALUES, |text| text.parse().expect("a number of values"))
}

fn parsed(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error} in {text}"))
}

fn compare(canonicalize: impl Fn(&Value) -> String) {
    let mut values = Values::new(SEED);
    for number in 0..count() {
        let text = values.next();
        let value = parsed(&text);
        assert_eq!(
            canonical::to_string(&value),
            canonicalize(&value),
            "value {number}: {text}"
        );
    }
}

#[test]
fn it_is_that_of_serde_json_canonicalizer() {
    compare(|value| serde_json_canonicalizer::to_string(value).expect("JSON has a canonical form"));
}

#[test]
fn it_is_that_of_serde_jcs() {
    compare(|value| serde_jcs::to_string(value).expect("JSON has a canonical form"));
}

/// The interpreter that has `rfc8785`; where there is none this says so, or panics when it is required.
fn python() -> Option<String> {
    let python = environment("AUDIT_TEST_PYTHON");
    if python.is_none() {
        let required = environment("AUDIT_TEST_REQUIRE_PYTHON").is_some();
        assert!(!required, "AUDIT_TEST_PYTHON is required but not set");
        let line = b"SKIPPED: Python: the canonical form: AUDIT_TEST_PYTHON is not set\n";
        std::io::stderr()
            .write_all(line)
            .expect("write to standard error");
    }
    python
}

#[test]
fn it_is_that_of_rfc8785_in_python() {
    let Some(python) = python() else { return };
    let mut child = Command::new(&python)
        .arg(SCRIPT)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap_or_else(|error| panic!("AUDIT_TEST_PYTHON: {python}: {error}"));
    let stdin = child.stdin.take().expect("standard input is a pipe");
    let writer = std::thread::spawn(move || {
        let mut stdin = BufWriter::new(stdin);
        let mut values = Values::new(SEED);
        for _ in 0..count() {
            writeln!(stdin, "{}", values.next()).expect("write to Python");
        }
        stdin.flush().expect("write to Python");
    });
    let mut lines = BufReader::new(child.stdout.take().expect("standard output is a pipe")).lines();
    let mut values = Values::new(SEED);
    for number in 0..count() {
        let text = values.next();
        let theirs = lines.next().expect("a line for each").expect("UTF-8");
        assert_eq!(
            canonical::to_string(&parsed(&text)),
            theirs,
            "value {number}: {text}"
        );
    }
    writer.join().expect("everything was written");
    assert!(child.wait().expect("wait for Python").success());
}

#[test]
fn integers_that_no_double_holds_keep_the_digits_they_were_sent_with() {
    for digits in [
        "9007199254740992",
        "9007199254740993",
        "-9007199254740993",
        "123456789012345678901234567890",
    ] {
        assert_eq!(canonical::to_string(&parsed(digits)), digits);
    }
    // The one difference from RFC 8785, by which the others round.
    let theirs = serde_json_canonicalizer::to_string(&parsed("9007199254740993")).expect("a form");
    assert_eq!(theirs, "9007199254740992");
}
