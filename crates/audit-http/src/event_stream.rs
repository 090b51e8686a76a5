//! Server-sent events, as the HTML standard defines `text/event-stream`.
//!
//! The id of each event is the cursor behind it, so that a client that reconnects with `Last-Event-ID` continues
//! exactly there. An id can also be sent alone: it advances the cursor without an event, past events that the reader
//! may not see.

use crate::error::item_error;
use audit_app::{AppError, FeedPage};

/// The media type.
pub(crate) const EVENT_STREAM: &str = "text/event-stream";
/// The delay before a client reconnects.
const RETRY_MS: u32 = 1_000;

/// A stream that is being written.
#[derive(Debug, Default)]
pub(crate) struct EventStream {
    /// The last id that was sent.
    last_id: Option<String>,
}

impl EventStream {
    /// The text of a page; that of a page without events keeps the connection alive.
    pub(crate) fn page(&mut self, page: &FeedPage) -> String {
        let mut text = String::new();
        if self.last_id.is_none() {
            text.push_str(&format!("retry: {RETRY_MS}\n\n"));
        }
        for event in &page.events {
            // Canonical JSON is a single line.
            text.push_str(&format!(
                "id: {}\nevent: audit\ndata: {}\n\n",
                event.cursor, event.json
            ));
        }
        let sent = page.events.last().map(|event| &event.cursor);
        if sent.or(self.last_id.as_ref()) != Some(&page.cursor) {
            text.push_str(&format!("id: {}\n", page.cursor));
        }
        if sent != Some(&page.cursor) {
            text.push_str(": nothing new\n\n");
        }
        self.last_id = Some(page.cursor.clone());
        text
    }

    /// The comment of a stream that currently cannot check for new events.
    pub(crate) fn still_here() -> &'static str {
        ": still here\n\n"
    }

    /// The last event of a stream that the server ends, with the reason.
    pub(crate) fn end(error: &AppError) -> String {
        let reason = serde_json::to_string(&item_error(error)).unwrap_or_default();
        format!("event: end\ndata: {reason}\n\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use audit_app::FeedEvent;
    use audit_domain::EventJson;

    fn page(events: &[(&str, &str)], cursor: &str) -> FeedPage {
        FeedPage {
            events: events
                .iter()
                .map(|(json, cursor)| FeedEvent {
                    json: EventJson::parse((*json).to_owned()).unwrap(),
                    cursor: (*cursor).to_owned(),
                })
                .collect(),
            cursor: cursor.to_owned(),
            has_more: false,
            removed_before: None,
        }
    }

    #[test]
    fn each_event_has_the_cursor_behind_it_for_an_id() {
        let mut stream = EventStream::default();
        let first = stream.page(&page(
            &[(r#"{"id":"evt_1"}"#, "c1"), (r#"{"id":"evt_2"}"#, "c2")],
            "c2",
        ));
        let events = "id: c1\nevent: audit\ndata: {\"id\":\"evt_1\"}\n\nid: c2\nevent: audit\ndata: {\"id\":\"evt_2\"}\n\n";
        assert_eq!(first, format!("retry: 1000\n\n{events}"));
        assert_eq!(stream.page(&page(&[], "c2")), ": nothing new\n\n");
        let third = stream.page(&page(&[("{}", "c3")], "c3"));
        assert_eq!(third, "id: c3\nevent: audit\ndata: {}\n\n");
    }

    #[test]
    fn a_place_that_moves_without_an_event_is_told_alone() {
        let mut stream = EventStream::default();
        assert_eq!(
            stream.page(&page(&[], "c1")),
            "retry: 1000\n\nid: c1\n: nothing new\n\n"
        );
        assert_eq!(stream.page(&page(&[], "c1")), ": nothing new\n\n");
        assert_eq!(stream.page(&page(&[], "c2")), "id: c2\n: nothing new\n\n");
        let behind = stream.page(&page(&[("{}", "c3")], "c5"));
        assert_eq!(
            behind,
            "id: c3\nevent: audit\ndata: {}\n\nid: c5\n: nothing new\n\n"
        );
    }

    #[test]
    fn the_last_event_says_why() {
        let text = EventStream::end(&AppError::KeyRevoked);
        assert_eq!(
            text,
            "event: end\ndata: {\"code\":\"key_revoked\",\"message\":\"the API key was revoked\"}\n\n"
        );
    }
}
