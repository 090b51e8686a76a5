//! Neither redacted values nor tokens of streams appear in files, logs or metrics.

use super::UNLIMITED;
use audit_tests::{
    Database, DatabaseKind, Deadline, Organization, Server, Stream, event_with, on_both_databases,
};
use serde_json::{Value, json};

const SENSITIVE: [&str; 5] = [
    "jane@example.com",
    "4111 1111 1111 1111",
    "123-45-6789",
    "AKIAIOSFODNN7EXAMPLE",
    "Keyword@example.com",
];

fn sensitive() -> Value {
    event_with(json!({
        "actor": {"email": SENSITIVE[0], "id": SENSITIVE[0]},
        "target": {"id": "t", "type": "card", "name": SENSITIVE[1]},
        "context": {"user_agent": SENSITIVE[2]},
        "metadata": {"note": SENSITIVE[3], SENSITIVE[4]: true},
        "changes": [{"field": "email", "before": null, "after": SENSITIVE[0]}],
        "idempotency_key": "k",
    }))
}

/// A token in four forms: text, upper case, without hyphens, bytes.
fn shapes(token: &str) -> [Vec<u8>; 4] {
    let bare = token.replace('-', "");
    let number = u128::from_str_radix(&bare, 16).expect("a token is hexadecimal");
    [
        token.as_bytes().to_vec(),
        token.to_uppercase().into_bytes(),
        bare.into_bytes(),
        number.to_be_bytes().to_vec(),
    ]
}

fn contains(haystack: &[u8], needle: &[u8]) -> bool {
    haystack.windows(needle.len()).any(|window| window == needle)
}

on_both_databases! {
    a_token_is_neither_logged_nor_measured,
    nothing_that_is_redacted_is_stored,
    text_that_a_claim_removes_is_not_in_the_index,
}

#[test]
fn neither_what_is_redacted_nor_the_token_reaches_the_files() {
    let database = Database::create(DatabaseKind::Sqlite);
    let server = Server::start(&database, UNLIMITED);
    let organization = Organization::create(&server, "enterprise");
    let [kept, claimed] = [(); 2].map(|()| Stream::of(&server.client()));
    let assert_clean = |when: &str| {
        let files = database.files();
        assert!(
            files.iter().any(|(_, bytes)| contains(bytes, b"tenant-1")),
            "the files contain the events"
        );
        for (path, bytes) in files {
            for text in SENSITIVE {
                assert!(
                    !contains(&bytes, text.as_bytes()),
                    "{when}: {text} in {}",
                    path.display()
                );
            }
            for shape in [&kept, &claimed].iter().flat_map(|stream| shapes(&stream.token)) {
                assert!(!contains(&bytes, &shape), "{when}: a token in {}", path.display());
            }
        }
    };
    kept.store(sensitive());
    claimed.store_all(vec![
        sensitive(),
        event_with(json!({"metadata": {"note": SENSITIVE[0]}})),
    ]);
    kept.info().expect_status(200);
    assert_clean("before the claim");
    assert_eq!(claimed.move_to(&organization.master()), 2);
    assert_clean("after the claim");
    server.stop().success();
    assert_clean("after the end");
}

/// A deleted row stays in a free page of the file unless SQLite overwrites it (`secure_delete`).
#[test]
fn text_that_a_claim_removes_is_in_no_file_afterwards() {
    const REMOVED: &str = "Zanzibarite";
    let database = Database::create(DatabaseKind::Sqlite);
    let server = Server::start(&database, UNLIMITED);
    let organization = Organization::create(&server, "enterprise");
    // The rule itself does not have the text.
    organization.create_rule(json!({"type": "pattern", "name": "removed", "pattern": "Zan[z]ibarite"}));
    // Long enough that each event has pages of its own, which are free after its deletion.
    let text = format!("{REMOVED} {}", "x".repeat(40_000));
    let stream = Stream::of(&server.client());
    let event = || {
        event_with(
            json!({"actor": {"id": "u1", "type": "user", "name": REMOVED}, "metadata": {"note": text}}),
        )
    };
    for _ in 0..4 {
        stream.store_all((0..10).map(|_| event()).collect());
    }
    let holders = || {
        let files = database.files().into_iter();
        // The index has words in lower case.
        let word = REMOVED.to_lowercase();
        let found = files
            .filter(|(_, bytes)| contains(bytes, REMOVED.as_bytes()) || contains(bytes, word.as_bytes()));
        found.map(|(path, _)| path).collect::<Vec<_>>()
    };
    assert!(!holders().is_empty(), "before the claim the events have the text");
    assert_eq!(stream.move_to(&organization.master()), 40);
    server.stop().success();
    assert_eq!(holders(), Vec::<std::path::PathBuf>::new());
}

/// The words of names are in the index as they are. Events of a stream are not indexed before their claim has redacted them.
fn text_that_a_claim_removes_is_not_in_the_index(database: DatabaseKind) {
    const REMOVED: &str = "zanzibarite";
    const KEPT: &str = "yttrotantalite";
    const LATER: &str = "xanthoconite";
    let own = Database::create(database);
    let server = Server::start(&own, UNLIMITED);
    let organization = Organization::create(&server, "enterprise");
    organization.create_rule(json!({"type": "pattern", "name": "removed", "pattern": "zan[z]ibarite"}));
    let stream = Stream::of(&server.client());
    stream.store(event_with(json!({
        "actor": {"id": "u1", "type": "user", "name": REMOVED}, "target": {"id": "t1", "type": "stone", "name": KEPT},
    })));
    let is_indexed = |word: &str| match database {
        DatabaseKind::Postgres => {
            let word = own.blob(word.as_bytes());
            own.count(&format!("index_blocks WHERE position({word} IN bytes) > 0")) > 0
        }
        DatabaseKind::Sqlite => {
            let mut index = own.files().into_iter();
            index.any(|(path, bytes)| {
                path.to_string_lossy().contains("-index") && contains(&bytes, word.as_bytes())
            })
        }
    };
    let wait_for = |word: &str| {
        Deadline::seconds(60).poll(word, || is_indexed(word).then_some(()));
    };
    // What was stored after the events of the stream.
    organization.project().store(event_with(json!({
        "actor": {"id": "u2", "type": "user", "name": LATER},
    })));
    wait_for(LATER);
    assert!(!is_indexed(REMOVED) && !is_indexed(KEPT), "before the claim");
    assert_eq!(stream.move_to(&organization.master()), 1);
    wait_for(KEPT);
    assert!(!is_indexed(REMOVED), "the other word of the same event");
}

fn nothing_that_is_redacted_is_stored(database: DatabaseKind) {
    let own = Database::create(database);
    let server = Server::start(&own, UNLIMITED);
    let organization = Organization::create(&server, "enterprise");
    let stream = Stream::of(&server.client());
    stream.store(sensitive());
    let matching = |what: &str| own.count(&format!("stream_events WHERE body LIKE '%{what}%'"));
    assert_eq!(matching("tenant-1"), 1);
    for text in SENSITIVE {
        assert_eq!(matching(text), 0, "{text}");
    }
    stream.move_to(&organization.master());
    assert_eq!(
        own.count("stream_events"),
        0,
        "a claim moves the events and does not copy them"
    );
}

fn a_token_is_neither_logged_nor_measured(database: DatabaseKind) {
    let environment = [UNLIMITED, &[("RUST_LOG", "debug")]].concat();
    let server = Server::start(&Database::create(database), &environment);
    let organization = Organization::create(&server, "enterprise");
    let stream = Stream::of(&server.client());
    stream.info().expect_error(404, "stream_not_found");
    stream.store(sensitive());
    stream
        .send(json!({"claim_token": stream.token}))
        .expect_error(400, "validation_error");
    stream.info().expect_status(200);
    stream
        .claim(&organization.project())
        .send()
        .expect_error(403, "forbidden");
    stream.move_to(&organization.master());
    stream
        .claim(&organization.master())
        .send()
        .expect_error(410, "stream_already_claimed");
    stream
        .send(sensitive())
        .expect_error(410, "stream_already_claimed");
    let mistyped = &stream.token[..35];
    let path = format!("/streams/{mistyped}/info");
    let response = server.client().get(&path).send().expect_invalid(&["token"]);
    assert!(!response.body().to_string().contains(mistyped), "{response:?}");
    let metrics = server.client().request("GET", "/metrics").send_raw();
    let metrics = String::from_utf8(metrics.bytes).expect("metrics are text");
    let log = server.stop().stderr;
    assert!(log.contains("/streams/"), "requests are logged: {log}");
    assert!(metrics.contains("/streams/"), "requests are measured: {metrics}");
    for text in [log.to_lowercase(), metrics.to_lowercase()] {
        assert!(!text.contains(mistyped), "the token in {text}");
        for word in SENSITIVE {
            assert!(!text.contains(&word.to_lowercase()), "{word} in {text}");
        }
    }
}
