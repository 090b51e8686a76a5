//! `/api/v1/events`.

use super::{About, HeaderParameter, PathParameter, Sample, Tag};
use crate::error_code::ErrorCode;
use crate::schema::Id;
use audit_domain::EventId;
use schemars::json_schema;

pub(crate) fn ingest() -> About {
    About {
        description: "One event, or an array of 1 to 100. 201 means durable: the events are committed and synced \
                      before the response leaves.\n\n\
                      Each event of an array is checked on its own. When at least one can be stored the response is 201, \
                      and `errors` names the others by `index`. When none can, it is 400, and `details[].field` begins \
                      with the index (`[3].actor.type`), or 409 if idempotency keys are the only reason. Nothing of a \
                      request is stored when the response is 4xx; after a 5xx or a broken connection send it again with \
                      the same idempotency keys.\n\n\
                      A request that would pass the project's daily limit is refused whole.",
        headers: &[HeaderParameter {
            name: "Prefer",
            description: "`receipt`: the response waits until the log is signed, about a second, and has `receipts` and \
                          the header `Preference-Applied: receipt`. Without that header the events are stored and have \
                          no receipts yet.",
            schema: |_| json_schema!({"type": "string"}),
            example: "receipt",
            is_required: false,
        }],
        requests: REQUESTS,
        outcome: "The events are stored.",
        answers: ANSWERS,
        errors: &[ErrorCode::Conflict, ErrorCode::DailyEventLimitReached],
        ..About::new("ingest_events", Tag::Events, "Store events")
    }
}

pub(crate) fn list() -> About {
    About {
        description: "One page of events, `occurred_at` descending, then id descending. An event must meet every \
                      parameter that is given.\n\n\
                      With a viewer token only the live events of its tenant are found, as its tier shows them: what \
                      is hidden can be neither read nor searched for. A web page may call this path and the feed, \
                      with a viewer token.",
        outcome: "One page of events.",
        answers: &[Sample(
            "last_page",
            r#"{"events": [{
                "id": "evt_01M7Y455JZBGQAZY8DYSMCQVZN", "action": "user.role.updated", "category": "admin",
                "tenant_id": "acme",
                "actor": {"id": "user_1", "type": "user", "name": "Jane Doe", "email": "[REDACTED]"},
                "target": {"id": "user_2", "type": "user", "name": "John Roe"},
                "context": {"ip_address": "203.0.113.7", "session_id": "s_9f2c"},
                "metadata": {"ticket": "OPS-17", "note": "paid with [REDACTED]"},
                "changes": [{"field": "role", "before": "member", "after": "admin"}],
                "idempotency_key": "a3f1", "occurred_at": "2026-01-15T10:30:00.000Z",
                "received_at": "2026-01-15T10:30:00.734Z", "redacted": true,
                "content_hash": "sha256:b5939fc5b90fec88a7db5e6912fd79a932652749f7a46469b7da460bd01d84a5",
                "content_salt": "c5a9e2c0f1b04d7f8a6d3c2b1e0f9a87"
            }], "cursor": null, "has_more": false}"#,
        )],
        ..About::new("list_events", Tag::Events, "Read events")
    }
}

pub(crate) fn get() -> About {
    About {
        description: "A project key finds the events of its own environment only.",
        path: Some(PathParameter {
            description: "The id of the event.",
            schema: |generator| generator.subschema_for::<Id<EventId>>(),
            example: "evt_01M7Y455JZBGQAZY8DYSMCQVZN",
            refusal: ErrorCode::NotFound,
        }),
        outcome: "The event.",
        answers: &[Sample(
            "example",
            r#"{"event": {
                "id": "evt_01M7Y455KA2AA367HSAWZTY9SY", "action": "auth.failed", "category": "auth",
                "tenant_id": "acme", "actor": {"id": "user_1", "type": "user"},
                "occurred_at": "2026-01-15T10:31:00.000Z", "received_at": "2026-01-15T10:31:00.012Z",
                "redacted": false,
                "content_hash": "sha256:a1ebdad9f621be1e8fc041d2095f5cc8942ee3780da10f1ae303346b635b0b21",
                "content_salt": "c5a9e2c0f1b04d7f8a6d3c2b1e0f9a87"
            }}"#,
        )],
        is_additive: true,
        ..About::new("get_event", Tag::Events, "Read one event")
    }
}

pub(super) const REQUESTS: &[Sample] = &[
    Sample(
        "one_event",
        r#"{
            "action": "user.role.updated", "category": "admin", "tenant_id": "acme",
            "actor": {"id": "user_1", "type": "user", "name": "Jane Doe", "email": "jane@example.com"},
            "target": {"id": "user_2", "type": "user", "name": "John Roe"},
            "context": {
                "ip_address": "203.0.113.7", "user_agent": "Mozilla/5.0", "location": "Utrecht", "session_id": "s_9f2c"
            },
            "metadata": {"ticket": "OPS-17", "note": "paid with 4111 1111 1111 1111"},
            "changes": [{"field": "role", "before": "member", "after": "admin"}],
            "idempotency_key": "a3f1", "occurred_at": "2026-01-15T11:30:00+01:00"
        }"#,
    ),
    Sample(
        "array",
        r#"[
            {"action": "auth.failed", "category": "auth", "tenant_id": "acme", "actor": {"id": "user_1", "type": "user"}},
            {"action": "auth.succeeded", "category": "auth", "tenant_id": "acme", "actor": {"id": "user_1", "type": "user"}}
        ]"#,
    ),
];

pub(super) const ANSWERS: &[Sample] = &[
    Sample(
        "stored",
        r#"{"ids": ["evt_01M7Y455JZBGQAZY8DYSMCQVZN"], "redacted_count": 2}"#,
    ),
    Sample(
        "array_with_a_refused_event",
        r#"{
            "ids": ["evt_01M7Y455KA2AA367HSAWZTY9SY", "evt_01M7Y455KA2AA367HSAWZTY9SY"],
            "redacted_count": 0, "repeated_count": 1,
            "errors": [{
                "index": 1, "code": "validation_error", "message": "the request is not valid",
                "details": [{"field": "actor.type", "message": "must be one of user, api_key, service, system"}]
            }]
        }"#,
    ),
];
