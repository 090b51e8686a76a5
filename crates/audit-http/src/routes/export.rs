//! `/api/v1/events/export`.

use super::filter::HistoryQuery;
use crate::caller::Caller;
use crate::csv;
use crate::error::ApiError;
use crate::input::{Fielded, Parameters};
use crate::schema::{Word, absent_not_null, words_of};
use crate::streaming::{Gone, Pieces, streamed};
use actix_web::http::Version;
use actix_web::http::header::{CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_TYPE};
use actix_web::web::Bytes;
use actix_web::{HttpRequest, HttpResponse, rt};
use audit_app::{AppError, Export};
use audit_auth::Readers;
use audit_domain::{EventFilter, Fields, Violations};
use schemars::JsonSchema;
use serde_json::value::RawValue;

audit_domain::words! {
    /// The format of an export.
    pub enum ExportFormat {
        /// One JSON object on each line.
        JsonLines = "jsonl",
        /// Comma-separated values.
        Csv = "csv",
    }
}

words_of! {
    ExportFormat: "ExportFormat", as_str, "The format of an export.";
}

impl ExportFormat {
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

/// Which events, and how they are written.
#[derive(JsonSchema)]
#[schemars(transform = absent_not_null)]
#[expect(dead_code, reason = "describes what is read")]
pub(super) struct ExportQuery {
    /// The format.
    #[schemars(extend("default" = ExportFormat::JsonLines.as_str()), example = &"csv")]
    format: Option<Word<ExportFormat>>,
    #[schemars(flatten)]
    history: HistoryQuery,
}

impl Fielded for ExportQuery {
    type Read = (ExportFormat, EventFilter);

    fn read(fields: &mut Fields<'_>) -> Option<Self::Read> {
        let format = fields
            .optional_parsed("format")
            .unwrap_or(ExportFormat::JsonLines);
        Some((format, HistoryQuery::read(fields)?))
    }

    fn is_repeatable(parameter: &str) -> bool {
        HistoryQuery::is_repeatable(parameter)
    }
}

/// Every event that a query finds, as one response of any length.
pub(super) async fn export(
    caller: Caller<Readers>,
    parameters: Parameters<ExportQuery>,
    request: HttpRequest,
) -> Result<HttpResponse, ApiError> {
    let (selection, (format, filter)) = parameters.read()?;
    if request.version() < Version::HTTP_11 {
        let message =
            "must be HTTP/1.1 or later: in an older version a broken export looks like a complete one";
        return Err(Violations::one("version", message).into());
    }
    let (presented, principal) = caller.into_parts();
    let mut export = presented.export(&principal, selection, filter)?;
    // Read the first page before the response begins: an error still gets a status then.
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

/// The lines of the next events behind `lines`; `None` after the last.
async fn next_lines(
    export: &mut Export,
    format: ExportFormat,
    mut lines: Vec<u8>,
) -> Result<Option<Bytes>, AppError> {
    let write = move |events: &[Box<RawValue>]| {
        format.write(&mut lines, events)?;
        Ok(Bytes::from(lines))
    };
    export.next(write).await
}

/// Sends page after page. On an error the body is not ended, so that a client cannot mistake a part for the whole.
async fn send_lines(pieces: Pieces, mut export: Export, format: ExportFormat, first: Option<Bytes>) {
    let mut lines = first;
    while let Some(page) = lines {
        if let Err(Gone) = pieces.send(page).await {
            log::info!("a client disconnected during an export");
            return;
        }
        let next = pieces
            .unless_gone(next_lines(&mut export, format, Vec::new()))
            .await;
        lines = match next {
            Ok(Ok(next)) => next,
            Ok(Err(error)) => {
                log::warn!("an export was aborted: {error}");
                return;
            }
            Err(Gone) => return,
        };
    }
    // Free the slot before the client can start its next export.
    drop(export);
    if let Err(Gone) = pieces.end().await {
        log::info!("a client disconnected during an export");
    }
}

/// The documentation of the endpoints, by the names of their handlers.
pub(super) mod about {
    use crate::about::{About, Plain, Tag};

    pub(crate) fn export() -> About {
        About {
            description: "Every event that a query finds, newest first, as one response of any length: a JSON object \
                          on each line, or CSV (RFC 4180). Each event is as `GET /events` shows it. What was stored \
                          when the export began is in it exactly once.\n\n\
                          In CSV the first line has the names of the columns, `metadata` and `changes` are JSON, and \
                          a text that a spreadsheet would take for a formula has a `'` before it.\n\n\
                          A body that ends as HTTP says is whole; when something goes wrong on the way the \
                          connection is cut instead. Up to 4 exports of an organization run at once, 8 of a server; \
                          one more is 503 `unavailable`.",
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
}
