//! `/api/v1/log/report`.

mod body;

use crate::caller::Caller;
use crate::error::ApiError;
use crate::input::{Fielded, Parameters};
use crate::openapi::{Describe, Facts};
use crate::reply::Reply;
use crate::report_html::{CONTENT_POLICY, report_html};
use crate::schema::{Word, absent_not_null, words_of};
use actix_web::body::BoxBody;
use actix_web::http::header::{CONTENT_SECURITY_POLICY, CONTENT_TYPE, REFERRER_POLICY};
use actix_web::{HttpRequest, HttpResponse, Responder};
use audit_app::LogReport;
use audit_auth::{EventsRead, Keys};
use audit_domain::Fields;
use body::ReportBody;
use schemars::JsonSchema;
use serde_json::Value;

audit_domain::words! {
    /// The format of a report.
    pub enum ReportFormat {
        /// For programs.
        Json = "json",
        /// A document to read and print.
        Html = "html",
    }
}

words_of! {
    ReportFormat: "ReportFormat", as_str, "The format of a report.";
}

/// How the report is written.
#[derive(JsonSchema)]
#[schemars(transform = absent_not_null)]
#[expect(dead_code, reason = "describes what is read")]
pub(super) struct ReportQuery {
    /// The format.
    #[schemars(extend("default" = ReportFormat::Json.as_str()), example = &"html")]
    format: Option<Word<ReportFormat>>,
}

impl Fielded for ReportQuery {
    type Read = ReportFormat;

    fn read(fields: &mut Fields<'_>) -> Option<ReportFormat> {
        match fields.has("format") {
            true => fields.optional_parsed("format"),
            false => Some(ReportFormat::Json),
        }
    }
}

/// The report as JSON or as a document.
pub(super) enum ReportResponse {
    Json(Box<Reply<ReportBody>>),
    Html(String),
}

impl Responder for ReportResponse {
    type Body = BoxBody;

    fn respond_to(self, request: &HttpRequest) -> HttpResponse {
        match self {
            Self::Json(reply) => reply.respond_to(request),
            Self::Html(html) => HttpResponse::Ok()
                .insert_header((CONTENT_TYPE, "text/html; charset=utf-8"))
                .insert_header((CONTENT_SECURITY_POLICY, CONTENT_POLICY.as_str()))
                .insert_header((REFERRER_POLICY, "no-referrer"))
                .body(html),
        }
    }
}

impl Describe for ReportResponse {
    fn describe(facts: &mut Facts) {
        Reply::<ReportBody>::describe(facts);
    }
}

/// A report as the endpoint sends it, without `request_id`.
pub fn report_json(report: LogReport) -> Value {
    to_json(&report.into())
}

fn to_json(body: &ReportBody) -> Value {
    serde_json::to_value(body).expect("texts, numbers and lists become JSON")
}

/// Policies, holds, removals and erasures of a log.
pub(super) async fn get(
    caller: Caller<Keys<EventsRead>>,
    parameters: Parameters<ReportQuery>,
) -> Result<ReportResponse, ApiError> {
    let (selection, format) = parameters.read()?;
    let (body, html) = caller
        .read(move |service, principal| {
            let body = ReportBody::from(service.log_report(&principal, selection)?);
            let html = (format == ReportFormat::Html).then(|| report_html(&to_json(&body)));
            Ok((body, html))
        })
        .await?;
    Ok(match html {
        Some(html) => ReportResponse::Html(html),
        None => ReportResponse::Json(Box::new(Reply::ok(body))),
    })
}

/// The documentation of the endpoints, by the names of their handlers.
pub(super) mod about {
    use crate::about::{About, Plain, Sample, Tag};
    use crate::error_code::ErrorCode;

    pub(crate) fn get() -> About {
        About {
            description: "For auditors: the policy since when, what was removed or erased under which event, what is held and why. It \
                          is made of the lifecycle events, whose inclusion in the log is verified; only the command \
                          `audit-server log report` verifies all events. It has no id of a tenant, actor or target. `format=html` is \
                          the same as a document to print.",
            outcome: "The report.",
            responses: &[Sample("example", EXAMPLE)],
            plain: Some(Plain {
                status: 200,
                content_types: &["text/html"],
                json_type: "string",
            }),
            errors: &[ErrorCode::LogInconsistent],
            is_additive: true,
            ..About::new("get_log_report", Tag::Log, "Read the report for auditors")
        }
    }

    const EXAMPLE: &str = r#"{
        "log": "e08c3d15-61b1-4005-9dc1-2205d270c86f/live", "made_at": "2026-11-02T09:00:00.000Z", "size": 1204331, "signed": 1204331,
        "checkpoint": "audit-log-33ea0d660239eab4/e08c3d15-61b1-4005-9dc1-2205d270c86f/live\n1204331\n…",
        "policy": {"days": 365, "categories": {"security": 2190}, "preset": null, "archive": false, "since": "2026-01-15T10:30:00.000Z", "seq": 812},
        "policies": [{
            "seq": 812, "at": "2026-01-15T10:30:00.000Z", "by": {"id": "67e55044-10b1-426f-9247-bb680e5fe0c8", "name": "operations"},
            "metadata": {"days": 365, "categories": {"security": 2190}}
        }],
        "confirmed": [], "planned": [], "cancelled": [],
        "removals": [{
            "seq": 1203, "at": "2026-11-01T02:00:00.000Z", "by": {"id": "audit-server", "name": null},
            "metadata": {
                "plan": 1187, "policy": 812, "holds": [], "first_seq": 0, "end_seq": 900, "events": 871,
                "digest": "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
                "received_before": {"default": "2025-10-31T00:00:00.000Z", "security": "2020-11-01T00:00:00.000Z"}
            }
        }],
        "erasures": [],
        "archives": [{
            "seq": 1190, "at": "2026-10-02T03:00:00.000Z", "by": {"id": "operator", "name": null},
            "metadata": {"end_seq": 1100, "manifest": "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"}
        }],
        "restored": [],
        "holds": [{
            "placed": {
                "seq": 1204, "at": "2026-11-01T10:30:00.000Z", "by": {"id": "67e55044-10b1-426f-9247-bb680e5fe0c8", "name": "operations"},
                "metadata": {"hold": "hld_01KF15PHN8E1V6GK2Q6JQ5N9Y1", "reason": "Case 2026-117"}
            },
            "names": 1, "from": "2026-01-01T00:00:00.000Z", "to": null, "released": null
        }],
        "more": false,
        "counts": {"positions": 1204331, "removed": 871, "erased": 0, "stored": 1203460, "unexplained": null}, "verified": null
    }"#;
}

#[cfg(test)]
mod tests;
