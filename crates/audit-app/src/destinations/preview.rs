//! The next records of a destination, as it would send them.

use super::sending::Encoder;
use super::{Destination, damaged};
use crate::error::{AppError, Result};
use crate::service::{AuditLog, Selection};
use audit_auth::DestinationOwner;
use audit_destinations::{DestinationId, RecordFormat, check_format};
use audit_domain::Violations;
use audit_store::{LedgerId, MAIN_RUN};
use serde_json::value::{RawValue, to_raw_value};

/// The maximum number of records of a preview.
const PREVIEW_RECORDS_MAX: usize = 10;
/// The maximum number of events that it reads to find as many that the filter lets pass. They take the turn of a query.
const PREVIEW_EVENTS_MAX: usize = 1_000;
/// The number of events of one read.
const READ_EVENTS: usize = 100;

/// The next records of a destination.
#[derive(Debug)]
pub struct DestinationPreview {
    /// Their format.
    pub format: RecordFormat,
    /// The records in order: JSON objects, or a string each in CEF.
    pub records: Vec<Box<RawValue>>,
}

impl AuditLog {
    /// The next records of a destination, in its format or another one. Where fewer events wait, those of the latest events, with the
    /// positions that they would have if they came next. Sends nothing.
    ///
    /// # Errors
    /// [`AppError::NotFound`]; [`AppError::Invalid`] when the kind of destination does not have the format.
    pub fn preview_destination(
        &self,
        owner: &DestinationOwner,
        selection: Selection,
        id: DestinationId,
        format: Option<RecordFormat>,
    ) -> Result<DestinationPreview> {
        let now = self.clock.now();
        self.store.query(|reader| {
            let access = self.destination_access(reader, owner, selection)?;
            let row = access.destination(reader, id)?;
            let destination = Destination::open(&row, &self.settings.encryption)?;
            let format = format.unwrap_or(destination.format);
            check_format(destination.kind, format).map_err(|message| Violations::one("format", message))?;
            let runs = reader.destination_runs(&row.id)?;
            let main = runs
                .iter()
                .find(|run| run.number == MAIN_RUN)
                .ok_or_else(damaged)?;
            let ledger_id = LedgerId(main.ledger_id);
            let size = reader.ledger_size(ledger_id)?;
            let latest = size.saturating_sub(PREVIEW_RECORDS_MAX as u64);
            let mut next = main.cursor_seq.cast_unsigned().min(latest);
            let end = size.min(next + PREVIEW_EVENTS_MAX as u64);
            let mut position = main.position.cast_unsigned();
            let encoder = Encoder::of(&destination, access.project_id, now).in_format(format);
            let mut records = Vec::new();
            while next < end && records.len() < PREVIEW_RECORDS_MAX {
                let found = reader.logged_events(ledger_id, next, READ_EVENTS)?;
                let Some(last) = found.last() else { break };
                next = last.seq + 1;
                for logged in &found {
                    if records.len() < PREVIEW_RECORDS_MAX && destination.filter.matches(&logged.event)? {
                        position += 1;
                        let text = encoder.event(logged, 0, position)?.text;
                        records.push(json_of(format, text)?);
                    }
                }
            }
            Ok(DestinationPreview { format, records })
        })
    }
}

fn json_of(format: RecordFormat, text: String) -> Result<Box<RawValue>> {
    let json = match format {
        RecordFormat::Json | RecordFormat::Ocsf => RawValue::from_string(text),
        RecordFormat::Cef => to_raw_value(&text),
    };
    json.map_err(AppError::internal)
}
