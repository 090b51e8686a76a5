//! What the middleware of all frameworks share.

use crate::double::Record;
use crate::event::NewEvent;

/// Records the events of a request. Waits for the disk with a spool, for room with `Overflow::Block`.
///
/// The response is decided already, so an event that cannot be recorded is an error in the log.
pub(crate) fn record_all(audit: &dyn Record, events: Vec<NewEvent>) {
    for event in events {
        match audit.record(event) {
            Ok(true) => {}
            Ok(false) => log::error!("an event was dropped: the queue is full"),
            Err(error) => log::error!("an event was not recorded: {error}"),
        }
    }
}
