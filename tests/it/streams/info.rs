//! `GET /streams/:token/info`.

use super::moment;
use audit_tests::{DatabaseKind, Organization, Stream, event_with, now_plus, on_both_databases};
use serde_json::json;
use std::collections::BTreeSet;
use time::Duration;

on_both_databases! {
    a_stream_shows_what_the_interface_lists_and_nothing_else,
    asking_begins_no_stream,
    a_claimed_stream_is_still_shown,
    it_takes_no_parameters,
}

fn a_stream_shows_what_the_interface_lists_and_nothing_else(database: DatabaseKind) {
    let stream = Stream::fresh(database);
    let before = now_plus(0);
    let secret = event_with(json!({"actor": {"name": "Nameword"}, "metadata": {"note": "Noteword"}}));
    let id = stream.store(secret.clone());
    let after = now_plus(0);
    stream.store_all(vec![secret; 2]);
    let info = stream.info().expect_status(200);
    let members: BTreeSet<&str> = info
        .body()
        .as_object()
        .expect("an object")
        .keys()
        .map(String::as_str)
        .collect();
    let expected = [
        "claim_token",
        "created_at",
        "event_count",
        "expires_at",
        "request_id",
        "status",
    ];
    assert_eq!(members, BTreeSet::from(expected));
    assert_eq!(info["claim_token"], json!(stream.token));
    assert_eq!(info["event_count"], 3);
    assert_eq!(info["status"], "active");
    let text = info.body().to_string();
    for word in ["Nameword", "Noteword", "user.created", "tenant-1", id.as_str()] {
        assert!(!text.contains(word), "{word} in {text}");
    }
    let created = info.text("created_at");
    assert_eq!(created.len(), "2026-01-15T10:30:00.000Z".len());
    assert!(
        (moment(&before)..=moment(&after)).contains(&moment(&created)),
        "{before} {created} {after}"
    );
    assert_eq!(
        moment(&info.text("expires_at")) - moment(&created),
        Duration::days(7)
    );
}

fn asking_begins_no_stream(database: DatabaseKind) {
    let stream = Stream::fresh(database);
    for _ in 0..2 {
        stream.info().expect_error(404, "stream_not_found");
    }
}

fn a_claimed_stream_is_still_shown(database: DatabaseKind) {
    let stream = Stream::fresh(database);
    stream.store_all(vec![audit_tests::event(); 4]);
    let mut expected = stream.info().expect_status(200).body().clone();
    stream.move_to(&Organization::fresh(database).master());
    let info = stream.info().expect_status(200);
    expected["status"] = json!("claimed");
    expected["request_id"] = info["request_id"].clone();
    assert_eq!(info.body(), &expected);
}

fn it_takes_no_parameters(database: DatabaseKind) {
    let stream = Stream::fresh(database);
    stream.store(audit_tests::event());
    let client = Organization::fresh(database).anonymous().clone();
    let request = client.get(&format!("/streams/{}/info", stream.token));
    request.query("limit", "1").send().expect_invalid(&["limit"]);
}
