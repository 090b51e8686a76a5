//! `/api/v1/events/export`.

use super::{About, Plain, Tag};

pub(crate) fn export() -> About {
    About {
        description: "Every event that a query finds, newest first, as one response of any length: a JSON object on each \
                      line, or CSV (RFC 4180). Each event is as `GET /events` shows it. What was stored when the export \
                      began is in it exactly once.\n\n\
                      In CSV the first line has the names of the columns, `metadata` and `changes` are JSON, and a text \
                      that a spreadsheet would take for a formula has a `'` before it.\n\n\
                      A body that ends as HTTP says is whole; when something goes wrong on the way the connection is cut \
                      instead. Up to 4 exports of an organization run at once, 8 of a server; one more is 503 \
                      `unavailable`.",
        outcome: "The events.",
        plain: Some(Plain {
            status: 200,
            content_types: &["application/x-ndjson", "text/csv"],
            json_type: "string",
        }),
        is_additive: true,
        ..About::new("export_events", Tag::Events, "Export events")
    }
}
