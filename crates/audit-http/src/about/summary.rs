//! `/api/v1/events/summary`.

use super::{About, Sample, Tag};

pub(crate) fn summarize() -> About {
    About {
        description: "The number of matching events by time, and the most frequent values of the newest ones. The \
                      numbers are \
                      exact, and agree with the pages of `GET /events` with the same parameters. `top` counts the newest \
                      10,000 events only; `top.looked_at` is their number.\n\n\
                      There are at most 1,000 buckets; a shorter `interval` than the range of time allows is 400. So is a \
                      query that only the events themselves can answer, if it finds more than 100,000 of them: a \
                      prefix of an action that does not end with `.*` and of which there are more than 64, or a word of 64 \
                      characters or more. While the index is rebuilt, more than 100,000 events are 503 `unavailable`.\n\n\
                      With a viewer token only what its tier shows is counted, and hidden fields have no values. A web page \
                      may call this path with a viewer token.",
        outcome: "The summary.",
        answers: &[Sample(
            "by_category",
            r#"{
                "interval": "day",
                "buckets": [
                    {"start": "2026-01-15T00:00:00.000Z", "count": 3, "categories": {"admin": 1, "auth": 2}},
                    {"start": "2026-01-16T00:00:00.000Z", "count": 0, "categories": {}}
                ],
                "total": 3,
                "top": {
                    "looked_at": 3,
                    "actor_id": [{"value": "user_1", "count": 3}],
                    "action": [{"value": "auth.failed", "count": 2}, {"value": "user.role.updated", "count": 1}],
                    "category": [{"value": "auth", "count": 2}, {"value": "admin", "count": 1}],
                    "target_type": [{"value": "user", "count": 1}],
                    "tenant_id": [{"value": "acme", "count": 3}]
                }
            }"#,
        )],
        is_additive: true,
        ..About::new("summarize_events", Tag::Events, "Count events")
    }
}
