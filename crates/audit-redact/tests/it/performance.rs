//! Time is linear in the text, whatever the text and whatever the patterns.

use std::time::{Duration, Instant};

use audit_redact::{Behavior, Builtin, Engine, Pattern};

use crate::corpus::redacted;

const SHORT_BYTES: usize = 20_000;
const FACTOR: usize = 8;

/// Pieces that make a careless scanner start over at every one of them.
const PIECES: &[&str] = &[
    "eyJ",
    "_eyJ",
    "eyJ.",
    "_eyJ.eyJ.",
    "4111 ",
    "4111-",
    "4111111111111111",
    "@",
    "a@",
    "a.b@c.",
    "a=b+c@",
    "\"",
    "%40",
    "Bearer ",
    "bearer+",
    "AKIA",
    "1-",
    "+1 ",
    "+",
    "(",
    "DE89",
    "DE89 3704 0044 ",
    "A",
    "aB1",
    "0-",
    "phone ",
    "phone 1 ",
    "ssn ",
    "*",
    "[REDACTED]",
    "[REDACTED] a@b.co ",
    "sha256:",
    "10.0.",
    "123-45-6789 ",
    "é",
    "\u{2011}1",
    "%2",
    "\\n",
    "\\u00e9",
    "\\u003ca@",
    "bearer a1234567=\\",
    "://a?b@",
    "tel:",
    "IQoJb3JpZ2lu/",
    "secret ",
];

fn time(engine: &Engine, text: &str) -> Duration {
    let start = Instant::now();
    // A dot at the very end turns a run of anything into the first part of something.
    redacted(engine, "phone", &format!("{text}.x"));
    start.elapsed()
}

fn assert_linear(engine: &Engine, piece: &str) {
    let short = piece.repeat(SHORT_BYTES / piece.len());
    let long = short.repeat(FACTOR);
    let short_time = (0..3).map(|_| time(engine, &short)).min().unwrap_or_default();
    let long_time = (0..3).map(|_| time(engine, &long)).min().unwrap_or_default();
    // Three times the linear time and some noise, for busy machines; quadratic would be eight times the linear time.
    let limit = short_time * 3 * FACTOR as u32 + Duration::from_millis(15);
    assert!(
        long_time < limit,
        "{piece:?}: {short_time:?} became {long_time:?}"
    );
}

#[test]
fn built_in_rules_take_linear_time() {
    let engine = Builtin::ALL
        .iter()
        .fold(Engine::builder(), |builder, kind| {
            builder.builtin(*kind, Behavior::Mask)
        })
        .build();
    for piece in PIECES {
        assert_linear(&engine, piece);
    }
}

#[test]
fn patterns_take_linear_time() {
    for pattern in [".*[^A-Z]|[A-Z]", "(a|b)*c|a", r"\w+\d", "x{1,200}y|x"] {
        let engine = Engine::builder()
            .pattern("slow", Pattern::parse(pattern).unwrap(), Behavior::Replace)
            .build();
        for piece in ["A", "ab", "x", "a1 "] {
            assert_linear(&engine, piece);
        }
    }
}
