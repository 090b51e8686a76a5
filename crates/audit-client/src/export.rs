//! Exports: all events that match, in one response that is read piece by piece.

use crate::administration::Object;
use crate::client::Client;
use crate::error::Error;
use crate::pages::with_query;
use crate::reading::EventQuery;
use crate::transport::Call;
use serde_json::Value;
use std::io::{BufRead, BufReader, Read};
use ureq::BodyReader;

/// A longer line is not read. The largest event of the service has less than a quarter of it.
const LINE_BYTES_MAX: u64 = 4 * 1024 * 1024;

impl Client {
    /// All events that match, newest first, in one response. An interruption ends the iterator with an error; without one it is complete.
    ///
    /// # Errors
    /// [`Error::Api`], [`Error::Network`] if the export does not begin.
    pub fn export(&self, query: &EventQuery) -> Result<Export, Error> {
        let body = self.export_as(query, "jsonl", "application/x-ndjson")?;
        Ok(Export {
            lines: Some(BufReader::new(body)),
        })
    }

    /// The same as CSV, for Excel with the parameter `for` set to `excel`, and with the times of a zone with `time_zone`. An interruption is an
    /// error of the reader.
    ///
    /// # Errors
    /// As [`Self::export`].
    pub fn export_csv(&self, query: &EventQuery) -> Result<impl Read + Send + use<>, Error> {
        self.export_as(query, "csv", "text/csv")
    }

    /// The same as a workbook of Excel, with the times of a zone with `time_zone`. An interruption is an error of the reader.
    ///
    /// # Errors
    /// As [`Self::export`].
    pub fn export_xlsx(&self, query: &EventQuery) -> Result<impl Read + Send + use<>, Error> {
        const XLSX: &str = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet";
        self.export_as(query, "xlsx", XLSX)
    }

    fn export_as(
        &self,
        query: &EventQuery,
        format: &str,
        accept: &'static str,
    ) -> Result<BodyReader<'static>, Error> {
        let path = with_query("/events/export", query.pairs().chain([("format", format)]));
        let call = Call::new("GET", self.in_environment(&path)).accept(accept);
        self.shared.transport.stream(&call)
    }
}

/// The events of an export. Ends after an error.
#[must_use]
pub struct Export {
    /// `None` after the end.
    lines: Option<BufReader<BodyReader<'static>>>,
}

impl std::fmt::Debug for Export {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Export").finish_non_exhaustive()
    }
}

impl Iterator for Export {
    type Item = Result<Object, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        let event = read_event(self.lines.as_mut()?).transpose();
        if !matches!(event, Some(Ok(_))) {
            self.lines = None;
        }
        event
    }
}

/// The event on the next line; `None` at the end.
fn read_event(lines: &mut impl BufRead) -> Result<Option<Object>, Error> {
    let mut line = Vec::new();
    let read = lines.take(LINE_BYTES_MAX).read_until(b'\n', &mut line);
    read.map_err(|error| Error::network(format!("the export was interrupted: {error}")))?;
    if line.is_empty() {
        return Ok(None);
    }
    match (line.ends_with(b"\n"), serde_json::from_slice(&line)) {
        (true, Ok(Value::Object(event))) => Ok(Some(event)),
        _ => Err(Error::network("the export has a line that is not an event")),
    }
}
