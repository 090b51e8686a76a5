use audit_tests::{DatabaseKind, Organization, event, event_with, now_plus, on_both_databases};
use serde_json::json;

const DAY_SECONDS: i64 = 24 * 60 * 60;

on_both_databases! {
    any_offset_is_read_and_utc_is_returned,
    what_is_no_time_is_refused,
    an_event_without_a_time_occurred_when_it_was_received,
    a_clock_may_be_up_to_a_day_ahead,
}

fn any_offset_is_read_and_utc_is_returned(database: DatabaseKind) {
    let project = Organization::fresh(database).project();
    let cases = [
        ("2026-01-15T10:30:00Z", "2026-01-15T10:30:00.000Z"),
        ("2026-01-15T10:30:00.5Z", "2026-01-15T10:30:00.500Z"),
        ("2026-01-15T10:30:00.123456789Z", "2026-01-15T10:30:00.123Z"),
        ("2026-01-15T10:30:00+00:00", "2026-01-15T10:30:00.000Z"),
        ("2026-01-15T10:30:00+05:30", "2026-01-15T05:00:00.000Z"),
        ("2026-01-01T00:30:00.25+02:00", "2025-12-31T22:30:00.250Z"),
        ("2026-01-15T20:30:00-08:00", "2026-01-16T04:30:00.000Z"),
        ("2024-02-29T12:00:00Z", "2024-02-29T12:00:00.000Z"),
        // As `strftime`, Python's `str()` and `Instant.toString()` of Java write it; queries read these too.
        ("2026-01-15T16:00:00+0530", "2026-01-15T10:30:00.000Z"),
        ("2026-01-15 10:30:00.123456+00:00", "2026-01-15T10:30:00.123Z"),
        ("2026-01-15T10:30Z", "2026-01-15T10:30:00.000Z"),
    ];
    for (sent, returned) in cases {
        let id = project.store(event_with(json!({"occurred_at": sent})));
        assert_eq!(project.event(&id)["occurred_at"], returned, "{sent}");
    }
}

fn what_is_no_time_is_refused(database: DatabaseKind) {
    let project = Organization::fresh(database).project();
    let cases = [
        "",
        "now",
        "2026-01-15",
        "2026-01-15T10:30:00",
        "2026-02-30T10:30:00Z",
        "2026-01-15T25:00:00Z",
        "2026-01-15T10:61:00Z",
        "2026-1-15T10:30:00Z",
        "1768473000",
        "2026-01-15T10:30:00+25:00",
    ];
    for text in cases {
        let response = project
            .post("/events")
            .json(event_with(json!({"occurred_at": text})))
            .send();
        assert_eq!(
            response.fields().into_iter().collect::<Vec<_>>(),
            ["occurred_at"],
            "{text:?}: {response:?}"
        );
    }
    assert_eq!(project.count(), 0);
}

fn an_event_without_a_time_occurred_when_it_was_received(database: DatabaseKind) {
    let project = Organization::fresh(database).project();
    let before = now_plus(-5);
    let id = project.store(event());
    let stored = project.event(&id);
    assert_eq!(stored["occurred_at"], stored["received_at"]);
    let received_at = stored["received_at"].as_str().expect("received_at is a string");
    assert_eq!(
        received_at.len(),
        "2026-01-15T10:30:00.000Z".len(),
        "{received_at}"
    );
    assert!(
        before.as_str() < received_at && received_at < now_plus(5).as_str(),
        "{received_at}"
    );
}

fn a_clock_may_be_up_to_a_day_ahead(database: DatabaseKind) {
    let project = Organization::fresh(database).project();
    let at = |seconds: i64| event_with(json!({"occurred_at": now_plus(seconds)}));
    project.store(at(DAY_SECONDS - 60));
    let response = project.post("/events").json(at(DAY_SECONDS + 60)).send();
    response.expect_invalid(&["occurred_at"]);
    assert_eq!(project.count(), 1);
}
