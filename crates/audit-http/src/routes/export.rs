//! `/api/v1/events/export`.

mod file_name;

use super::filter::HistoryQuery;
use crate::caller::Caller;
use crate::csv::{self, Form, UtcOffset};
use crate::error::ApiError;
use crate::input::{Fielded, Parameters};
use crate::reply::removed_before;
use crate::schema::{LanguageText, TimeZoneName, UtcOffsetText, Word, absent_not_null, words_of};
use crate::streaming::{Gone, Pieces, streamed};
use crate::time_zones::{TIME_ZONE, read_time_zone};
use crate::xlsx::{self, Workbook};
use actix_web::http::Version;
use actix_web::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use actix_web::web::Bytes;
use actix_web::{HttpRequest, HttpResponse, rt};
use audit_app::{AppError, Export, LabelsByAction};
use audit_auth::Readers;
use audit_csv::{Dialect, Separator};
use audit_domain::{EventFilter, EventJson, Fields, LanguageTag, TimeZone, Violations};
use parking_lot::Mutex;
use schemars::JsonSchema;
use std::error::Error;
use std::sync::Arc;

audit_domain::words! {
    /// The format of an export.
    pub enum ExportFormat {
        /// One JSON object on each line.
        JsonLines = "jsonl",
        /// Comma-separated values.
        Csv = "csv",
        /// A workbook of Excel.
        Xlsx = "xlsx",
    }
}

audit_domain::words! {
    /// The program that opens an export.
    pub enum ExportReader {
        /// Microsoft Excel.
        Excel = "excel",
    }
}

audit_domain::words! {
    /// What separates the columns of CSV.
    pub enum ExportSeparator {
        /// `,`
        Comma = "comma",
        /// `;`
        Semicolon = "semicolon",
    }
}

words_of! {
    ExportFormat: "ExportFormat", as_str, "The format of an export.";
    ExportReader: "ExportReader", as_str, "The program that opens an export.";
    ExportSeparator: "ExportSeparator", as_str, "What separates the columns of CSV.";
}

/// The format of an export, with what belongs to it.
#[derive(Clone)]
pub(super) enum Output {
    JsonLines,
    Csv(Form),
    /// The state of the workbook between two pages.
    Xlsx(Arc<Mutex<Workbook>>),
}

impl Output {
    const fn format(&self) -> ExportFormat {
        match self {
            Self::JsonLines => ExportFormat::JsonLines,
            Self::Csv(_) => ExportFormat::Csv,
            Self::Xlsx(_) => ExportFormat::Xlsx,
        }
    }

    const fn content_type(&self) -> &'static str {
        match self {
            Self::JsonLines => "application/x-ndjson",
            Self::Csv(_) => "text/csv; charset=utf-8; header=present",
            Self::Xlsx(_) => xlsx::CONTENT_TYPE,
        }
    }

    fn set_labels(&mut self, labels: Arc<LabelsByAction>) {
        match self {
            Self::JsonLines => {}
            Self::Csv(form) => form.labels = Some(labels),
            Self::Xlsx(workbook) => workbook.lock().form.labels = Some(labels),
        }
    }

    fn header(&self) -> Vec<u8> {
        let mut lines = Vec::new();
        match self {
            // A workbook begins with its first sheet.
            Self::JsonLines | Self::Xlsx(_) => {}
            Self::Csv(form) => csv::write_header(&mut lines, form),
        }
        lines
    }

    fn write(&self, lines: &mut Vec<u8>, events: &[EventJson], is_last: bool) -> Result<(), AppError> {
        match self {
            Self::JsonLines => {
                for event in events {
                    lines.extend_from_slice(event.get().as_bytes());
                    lines.push(b'\n');
                }
            }
            Self::Csv(form) => {
                for event in events {
                    csv::write_event(lines, event, form).map_err(internal)?;
                }
            }
            Self::Xlsx(workbook) => {
                let written = workbook.lock().write(events, is_last).map_err(internal)?;
                lines.extend(written);
            }
        }
        Ok(())
    }
}

fn internal(error: impl Error + Send + Sync + 'static) -> AppError {
    AppError::Internal(Box::new(error))
}

/// Which events, and how they are written.
#[derive(JsonSchema)]
#[schemars(transform = absent_not_null)]
#[expect(dead_code, reason = "describes what is read")]
pub(super) struct ExportQuery {
    /// The format.
    #[schemars(extend("default" = ExportFormat::JsonLines.as_str()), example = &"csv")]
    format: Option<Word<ExportFormat>>,
    /// With `excel` the CSV is for Microsoft Excel: it begins with a byte order mark, times are as Excel reads them, to the second, and a
    /// text that Excel would convert to a number or a date is written as `="…"`. `for`, `separator`, `utc_offset` and `time_zone`
    /// select CSV where there is no `format`, and do not change the lines of JSON. `for` and `separator` do not change XLSX.
    #[schemars(rename = "for", extend("x-additive" = true), example = &"excel")]
    reader: Option<Word<ExportReader>>,
    /// What separates the columns of CSV. Excel expects a semicolon where the comma is the decimal separator.
    #[schemars(extend("x-additive" = true, "default" = ExportSeparator::Comma.as_str()), example = &"semicolon")]
    separator: Option<Word<ExportSeparator>>,
    /// The offset of the times in CSV and XLSX from UTC, `-14:00` to `+14:00`; a `+` is `%2B` in a URL. All times have the same offset, in summer and
    /// in winter. In all formats a date alone in `start_date` and `end_date`, and a date in the file name, is a day with it. By default
    /// `+00:00`. Not together with `time_zone`.
    #[schemars(extend("x-additive" = true), example = &"+02:00")]
    utc_offset: Option<UtcOffsetText>,
    /// The time zone of the times in CSV and XLSX, each with the offset that the zone has then. In all formats a date alone in `start_date` and
    /// `end_date`, and a date in the file name, is a day of this zone. A name of the IANA database, in upper or lower case.
    #[schemars(extend("x-additive" = true), example = &"Europe/Berlin")]
    time_zone: Option<TimeZoneName>,
    /// Adds the column `summary` to CSV and XLSX: the sentence about the event in this language, a tag (BCP 47), or else the label of its action, or
    /// else the action. Selects CSV where there is no `format`.
    #[schemars(extend("x-additive" = true), example = &"de")]
    labels: Option<LanguageText>,
    #[schemars(flatten)]
    history: HistoryQuery,
}

impl Fielded for ExportQuery {
    /// With the time zone of the dates, and the language of the labels.
    type Read = (Output, TimeZone, EventFilter, Option<LanguageTag>);

    fn read(fields: &mut Fields<'_>) -> Option<Self::Read> {
        let is_csv = ["for", "separator", UTC_OFFSET, TIME_ZONE, LABELS]
            .iter()
            .any(|name| fields.has(name));
        let format = fields.optional_parsed("format");
        let form = read_form(fields);
        let language = fields.optional_parsed(LABELS);
        let zone = form.zone.clone();
        let filter = HistoryQuery::read_in(fields, &zone)?;
        let output = match format {
            Some(ExportFormat::Csv) => Output::Csv(form),
            None if is_csv => Output::Csv(form),
            Some(ExportFormat::Xlsx) => Output::Xlsx(Arc::new(Mutex::new(Workbook::new(form)))),
            None | Some(ExportFormat::JsonLines) => Output::JsonLines,
        };
        Some((output, zone, filter, language))
    }

    fn is_repeatable(parameter: &str) -> bool {
        HistoryQuery::is_repeatable(parameter)
    }
}

const UTC_OFFSET: &str = "utc_offset";
const LABELS: &str = "labels";

/// Reads the time zone, by name or offset.
fn read_zone(fields: &mut Fields<'_>) -> Option<TimeZone> {
    let are_both = fields.has(UTC_OFFSET) && fields.has(TIME_ZONE);
    let offset: Option<UtcOffset> = fields.optional_parsed(UTC_OFFSET);
    let named = read_time_zone(fields);
    match are_both {
        true => fields.violate(TIME_ZONE, "must not be given together with utc_offset"),
        false => named.or_else(|| offset.map(UtcOffset::zone)),
    }
}

/// Reads the parameters of CSV.
fn read_form(fields: &mut Fields<'_>) -> Form {
    let reader: Option<ExportReader> = fields.optional_parsed("for");
    let separator = match fields.optional_parsed("separator") {
        None | Some(ExportSeparator::Comma) => Separator::Comma,
        Some(ExportSeparator::Semicolon) => Separator::Semicolon,
    };
    Form {
        dialect: Dialect {
            separator,
            is_for_excel: reader == Some(ExportReader::Excel),
        },
        zone: read_zone(fields).unwrap_or_else(TimeZone::utc),
        labels: None,
    }
}

/// Every event that a query finds, as one response of any length.
pub(super) async fn export(
    caller: Caller<Readers>,
    parameters: Parameters<ExportQuery>,
    request: HttpRequest,
) -> Result<HttpResponse, ApiError> {
    let (selection, (mut output, zone, filter, language)) = parameters.read()?;
    if request.version() < Version::HTTP_11 {
        let message =
            "must be HTTP/1.1 or later: in an older version a broken export looks like a complete one";
        return Err(Violations::one("version", message).into());
    }
    let (presented, principal) = caller.into_parts();
    let disposition = file_name::disposition(&principal, &filter, &zone, output.format());
    if let Some(language) = language {
        let (cell, principal) = (Arc::clone(presented.cell()), principal.clone());
        let labels = presented.request(move || cell.labels(&principal, selection, &language));
        output.set_labels(Arc::new(labels.await?));
    }
    let mut export = presented.export(&principal, selection, filter)?;
    // Read the first page before the response begins: an error still gets a status then.
    let first = next_lines(&mut export, &output, output.header()).await?;
    let content_type = output.content_type();
    let removed_before = removed_before(export.removed_before());
    let (pieces, body) = streamed();
    rt::spawn(send_lines(pieces, export, output, first));
    let mut response = HttpResponse::Ok();
    for header in removed_before {
        response.insert_header(header);
    }
    Ok(response
        .insert_header((CONTENT_TYPE, content_type))
        .insert_header(disposition)
        .insert_header((CACHE_CONTROL, "no-store"))
        .body(body))
}

/// The lines of the next events behind `lines`; `None` after the last.
async fn next_lines(
    export: &mut Export,
    output: &Output,
    mut lines: Vec<u8>,
) -> Result<Option<Bytes>, AppError> {
    let output = output.clone();
    let write = move |events: &[EventJson], is_last| {
        output.write(&mut lines, events, is_last)?;
        Ok(Bytes::from(lines))
    };
    export.next(write).await
}

/// Sends page after page. On an error the body is not ended, so that a client cannot mistake a part for the whole.
async fn send_lines(pieces: Pieces, mut export: Export, output: Output, first: Option<Bytes>) {
    let mut lines = first;
    while let Some(page) = lines {
        if let Err(Gone) = pieces.send(page).await {
            log::info!("a client disconnected during an export");
            return;
        }
        let next = pieces
            .unless_gone(next_lines(&mut export, &output, Vec::new()))
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
    use crate::xlsx;

    pub(crate) fn export() -> About {
        About {
            description: "Every event that a query finds, newest first, as one response of any length: a JSON object \
                          on each line, CSV (RFC 4180) or a workbook of Excel (XLSX). Each event is as `GET /events` shows it. What was stored \
                          when the export began is in it exactly once. \
                          `metadata.<path>` and `not_metadata.<path>` filter by what the project has in \
                          `metadata_filter_paths`.\n\n\
                          In CSV the first line has the names of the columns, `metadata` and `changes` are JSON, and \
                          a text that a spreadsheet would take for a formula has a `'` before it. `for=excel` writes it for Microsoft \
                          Excel. XLSX has the same columns; times are dates, everything else is text.\n\n\
                          `Content-Disposition` has a file name with the tenant, if it is one, and the period.\n\n\
                          A body that ends as HTTP says is whole; when something goes wrong on the way the \
                          connection is cut instead. Up to 4 exports of an organization run at once, 8 of a server; \
                          one more is 503 `unavailable`.",
            outcome: "The events.",
            plain: Some(Plain {
                status: 200,
                content_types: &["application/x-ndjson", "text/csv", xlsx::CONTENT_TYPE],
                json_type: "string",
            }),
            is_additive: true,
            ..About::new("export_events", Tag::Events, "Export events")
        }
    }
}
