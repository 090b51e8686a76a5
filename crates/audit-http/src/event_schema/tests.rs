//! Events as they are described against events as the domain reads and writes them.

use audit_app::BATCH_EVENTS_MAX;
use audit_domain::{Event, Timestamp, Violations};
use serde_json::Value;

const NOW: Timestamp = Timestamp::from_seconds(1_768_473_000);

/// Reads an event or an array of them as the service does.
pub(super) fn check_events(value: Value) -> Result<(), Violations> {
    let read = |event| Event::from_json(event, NOW).map(|_| ());
    match value {
        Value::Array(events) if (1..=BATCH_EVENTS_MAX).contains(&events.len()) => {
            events.into_iter().try_for_each(read)
        }
        Value::Array(_) => Err(Violations::one("body", "must hold 1 to 100 events")),
        event => read(event),
    }
}
