//! What the documentation says about these endpoints.

use crate::about::{About, Sample, Tag};
use crate::routes::destinations::about::id;

pub(crate) fn test() -> About {
    About {
        description: "Sends a made-up record (`stream.test` is true) at once, also to a paused destination, and waits for the \
                      receiver. Needs a paid plan. At most two tests and resends of an organization run at once (429).",
        path: id(),
        outcome: "What became of it.",
        responses: &[Sample(
            "example",
            r#"{
                "verdict": "credentials", "status": 401,
                "request": "POST https://siem.example.com/… 1 record, 412 bytes", "response": "unknown token"
            }"#,
        )],
        is_additive: true,
        ..About::new(
            "test_destination",
            Tag::Destinations,
            "Send a test record to a destination",
        )
    }
}

pub(crate) fn preview() -> About {
    About {
        description: "The next ten records, as the destination would send them. Where fewer events wait, the latest ten of the \
                      log, with the positions that they would have if they came next. Sends nothing. On every plan.",
        path: id(),
        outcome: "The records.",
        responses: &[Sample(
            "example",
            r#"{"format": "json", "records": [{
                "id": "evt_01M7YB69J3GMC5VKW830MM535B", "action": "user.created", "tenant_id": "acme",
                "stream": {
                    "destination": "dst_01M7YBWVWMHR5F0HZ7FNJ76A1V",
                    "log": "8aefe29f-cd1a-4802-85e0-718cd30d0f63/live", "run": 0, "position": 12, "seq": 345
                }
            }]}"#,
        )],
        is_additive: true,
        ..About::new(
            "preview_destination",
            Tag::Destinations,
            "Read the next records of a destination",
        )
    }
}

pub(crate) fn set_aside() -> About {
    About {
        description: "The events that the receiver refused, by run and position. On every plan.",
        path: id(),
        outcome: "One page of them.",
        responses: &[Sample(
            "example",
            r#"{
                "events": [{
                    "run": 0, "position": 12, "seq": 345, "event_id": "evt_01M7YB69J3GMC5VKW830MM535B",
                    "at": "2026-01-15T10:30:00.268Z", "reason": "400 field too long"
                }],
                "cursor": null, "has_more": false
            }"#,
        )],
        is_additive: true,
        ..About::new(
            "list_set_aside",
            Tag::Destinations,
            "Read the events that a receiver refused",
        )
    }
}

pub(crate) fn resend() -> About {
    About {
        description: "Sends them at once, one by one, with their positions. Events that the filter leaves out now are not sent: a \
                      position of one is 400. Ends early where the receiver takes nothing now or responds slowly. Needs a paid plan. \
                      At most two tests and resends of an organization run at once (429).",
        path: id(),
        requests: &[Sample("example", r#"{"run": 0, "positions": [12]}"#)],
        outcome: "What became of each.",
        responses: &[Sample(
            "example",
            r#"{
                "events": [{
                    "run": 0, "position": 12, "verdict": "delivered", "status": 200,
                    "request": "POST https://siem.example.com/… 1 record, 812 bytes", "response": "ok"
                }],
                "remaining": 0
            }"#,
        )],
        is_additive: true,
        ..About::new(
            "resend_set_aside",
            Tag::Destinations,
            "Send events again that a receiver refused",
        )
    }
}
