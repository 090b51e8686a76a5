//! `/api/v1/events/export`.

use super::events::{read_filter, read_times_and_search};
use crate::caller::{Caller, Readers, credential_of};
use crate::csv;
use crate::error::ApiError;
use crate::input::{read_query, selection};
use crate::state::HttpState;
use crate::streaming::{Gone, Pieces, streamed};
use actix_web::http::Version;
use actix_web::http::header::{CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_TYPE};
use actix_web::web::Bytes;
use actix_web::{HttpRequest, HttpResponse, rt, web};
use audit_app::{AppError, Export, Selection};
use audit_domain::{EventFilter, Fields, Violations};
use serde_json::value::RawValue;

audit_domain::words! {
    /// How an export is written.
    pub enum Format {
        /// One JSON object on each line.
        JsonLines = "jsonl",
        /// Comma-separated values.
        Csv = "csv",
    }
}

impl Format {
    const fn content_type(self) -> &'static str {
        match self {
            Self::JsonLines => "application/x-ndjson",
            Self::Csv => "text/csv; charset=utf-8; header=present",
        }
    }

    fn header(self) -> Vec<u8> {
        let mut lines = Vec::new();
        match self {
            Self::JsonLines => {}
            Self::Csv => csv::write_header(&mut lines),
        }
        lines
    }

    fn write(self, lines: &mut Vec<u8>, events: &[Box<RawValue>]) -> Result<(), AppError> {
        for event in events {
            match self {
                Self::JsonLines => {
                    lines.extend_from_slice(event.get().as_bytes());
                    lines.push(b'\n');
                }
                Self::Csv => {
                    csv::write_event(lines, event).map_err(|error| AppError::Internal(Box::new(error)))?
                }
            }
        }
        Ok(())
    }
}

/// Every event that a query finds, as one answer of any length.
pub(super) async fn export(
    caller: Caller<Readers>,
    request: HttpRequest,
    state: web::Data<HttpState>,
) -> Result<HttpResponse, ApiError> {
    let (selection, format, filter) = read_query(&request, |fields| read_export_query(&request, fields))?;
    if request.version() < Version::HTTP_11 {
        let message = "must be HTTP/1.1: in an older one nobody can tell a broken export from a whole one";
        return Err(Violations::one("version", message).into());
    }
    let credential = credential_of(&request)?;
    let mut export = state
        .service
        .export(caller.proof(), credential, selection, filter)?;
    // What is wrong shows with the first page, while there still is a status to say it with.
    let first = next_lines(&mut export, format, format.header()).await?;
    let (pieces, body) = streamed();
    rt::spawn(send_lines(pieces, export, format, first));
    let disposition = format!("attachment; filename=\"audit-events.{format}\"");
    Ok(HttpResponse::Ok()
        .insert_header((CONTENT_TYPE, format.content_type()))
        .insert_header((CONTENT_DISPOSITION, disposition))
        .insert_header((CACHE_CONTROL, "no-store"))
        .body(body))
}

fn read_export_query(
    request: &HttpRequest,
    fields: &mut Fields<'_>,
) -> Option<(Selection, Format, EventFilter)> {
    let format = fields.optional_parsed("format");
    let selection = selection(request, fields);
    let filter = read_filter(fields);
    Some((
        selection,
        format.unwrap_or(Format::JsonLines),
        read_times_and_search(fields, filter),
    ))
}

/// The lines of the next events behind `lines`; `None` after the last.
async fn next_lines(
    export: &mut Export,
    format: Format,
    mut lines: Vec<u8>,
) -> Result<Option<Bytes>, AppError> {
    let write = move |events: &[Box<RawValue>]| {
        format.write(&mut lines, events)?;
        Ok(Bytes::from(lines))
    };
    export.next(write).await
}

/// Sends page after page. Whatever goes wrong, the body is not ended, so nobody takes a part for the whole.
async fn send_lines(pieces: Pieces, mut export: Export, format: Format, first: Option<Bytes>) {
    let mut lines = first;
    while let Some(page) = lines {
        if let Err(Gone) = pieces.send(page).await {
            log::info!("an export was given up by its client");
            return;
        }
        let next = pieces
            .unless_gone(next_lines(&mut export, format, Vec::new()))
            .await;
        lines = match next {
            Ok(Ok(next)) => next,
            Ok(Err(error)) => {
                log::warn!("an export breaks off: {error}");
                return;
            }
            Err(Gone) => return,
        };
    }
    // The place among the exports is free before the client can ask for the next.
    drop(export);
    if let Err(Gone) = pieces.end().await {
        log::info!("an export was given up by its client");
    }
}
