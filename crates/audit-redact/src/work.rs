//! Counts the bytes that scanning reads, so that tests can tell linear work from quadratic work without a clock.
//!
//! Every loop whose length depends on the text reports that length here. A loop bounded by a constant does not.
//! Outside this crate's unit tests [`bytes_read`] compiles to nothing.

#[cfg(not(test))]
#[inline(always)]
pub(crate) fn bytes_read(_count: usize) {}

/// Counts steps of custom patterns.
#[cfg(not(test))]
#[inline(always)]
pub(crate) fn steps_taken(_count: u64) {}

/// Counts steps of custom patterns.
#[cfg(test)]
pub(crate) fn steps_taken(count: u64) {
    bytes_read(usize::try_from(count).unwrap_or(usize::MAX));
}

#[cfg(test)]
pub(crate) use counter::bytes_read;

#[cfg(test)]
pub(crate) mod counter {
    use std::cell::Cell;

    thread_local! {
        static BYTES_READ: Cell<usize> = const { Cell::new(0) };
    }

    pub(crate) fn bytes_read(count: usize) {
        BYTES_READ.with(|total| total.set(total.get() + count));
    }

    /// The bytes that `scan` reads on this thread.
    pub(crate) fn count(scan: impl FnOnce()) -> usize {
        BYTES_READ.with(|total| total.set(0));
        scan();
        BYTES_READ.with(Cell::get)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::counter::count;
    use crate::{Behavior, Builtin, Engine, Pattern, Shape};

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
        "password for x: ",
        "password of ",
        "password=x -> \"",
        "password: [",
        "code 1234 ",
        "code:\n",
        "define('secret', '",
        "<string>",
        "<key name=\"password\">",
        "imap LOGIN ",
        "AUTH PLAIN ",
        "1:AA",
        ".atlasv1.",
        "password=",
        "password: x ",
        "password is ",
        "--token ",
        "=",
        ":",
        "\u{ff1a}",
        "\u{ff11}",
        "1_",
        "ghp_",
        "github_pat_",
        "sk-",
        "xoxb-1",
        "basic a",
        "-----BEGIN ",
        "-----BEGIN PRIVATE KEY-----",
        "://a:b",
        "://a:b@",
        "2001:",
        "AB 12 34 56 ",
        "2341 2341 ",
        "123.456.",
        "curl -u ",
        "curl -u a:\"",
        "mysql -p",
        "sshpass -p '",
        "echo a | ",
        "net use ",
        "htpasswd -b ",
        "1234 is your ",
        "the password for ",
        "password for a is ",
        "sig=",
        "sig=a ",
        "&code=",
        "DB_PASSWORD ",
        "<token>",
        "token(\"",
        "cookie: a=b; ",
        "authorization: a ",
        "identified by '",
        "arn:a:b:c:",
        "\\\\\"token\\\\\":",
    ];

    /// The bytes read while `text` is redacted behind the key `phone`.
    fn work(engine: &Engine, text: &str) -> usize {
        // The dot at the end turns a run of anything into the first part of a token or domain.
        let mut value = json!({"phone": format!("{text}.x")});
        count(|| {
            engine.redact(&mut value, &Shape::free_form());
        })
    }

    fn assert_linear(engine: &Engine, piece: &str) {
        let short = piece.repeat(SHORT_BYTES / piece.len());
        let short_work = work(engine, &short);
        let long_work = work(engine, &short.repeat(FACTOR));
        assert!(short_work >= short.len(), "{piece:?}: the scan is not counted");
        // Quadratic work would be eight times the linear work. A tenth is for the ends of the text.
        assert!(
            long_work * 10 <= short_work * FACTOR * 11,
            "{piece:?}: {short_work} bytes read became {long_work}"
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
}
