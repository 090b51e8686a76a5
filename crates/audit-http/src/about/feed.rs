//! `/api/v1/events/feed`.

use super::{About, HeaderParameter, Plain, Sample, Tag};
use crate::event_stream::EVENT_STREAM;
use schemars::json_schema;

pub(crate) fn follow() -> About {
    About {
        description: "Events in the order in which they were committed, each once and none left out, whichever node \
                      stored them. Store `cursor` and send it as `after` to continue. With `wait` the response \
                      comes as soon as there is an event. A response without events is no error.\n\n\
                      With `Accept: text/event-stream` the response is a stream of server-sent events that does not end: \
                      `event: audit` with an event as `data`, and as `id` the cursor behind it, which a client that \
                      comes back sends in `Last-Event-ID`. `event: end` says why the server ends a stream; its `data` \
                      has `code` and `message`. Lines that begin with `:` keep the connection alive.\n\n\
                      With a viewer token the feed has the live events of its tenant that its tier shows.",
        headers: &[HeaderParameter {
            name: "Last-Event-ID",
            description: "The `id` of the last event that a stream brought; it goes before `after`. Only streams look \
                          at it.",
            schema: |_| json_schema!({"type": "string"}),
            example: "Am3Qv1kBvOJ6cD2PqFQk7v1vKq1J",
            is_required: false,
        }],
        outcome: "The events behind the cursor.",
        answers: &[Sample(
            "page",
            r#"{"events": [{
                "id": "evt_01M7Y455KA2AA367HSAWZTY9SY", "action": "auth.failed", "category": "auth",
                "tenant_id": "acme", "actor": {"id": "user_1", "type": "user"},
                "occurred_at": "2026-01-15T10:31:00.000Z", "received_at": "2026-01-15T10:31:00.012Z",
                "redacted": false,
                "content_hash": "sha256:a1ebdad9f621be1e8fc041d2095f5cc8942ee3780da10f1ae303346b635b0b21",
                "content_salt": "c5a9e2c0f1b04d7f8a6d3c2b1e0f9a87"
            }], "cursor": "Am3Qv1kBvOJ6cD2PqFQk7v1vKq1J", "has_more": false}"#,
        )],
        plain: Some(Plain {
            status: 200,
            content_types: &[EVENT_STREAM],
            json_type: "string",
        }),
        is_additive: true,
        ..About::new("follow_events", Tag::Events, "Follow events")
    }
}
