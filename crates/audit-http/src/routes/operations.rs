//! `/healthz`, `/readyz`, `/metrics`: for operators; no credential.

use crate::blocking::blocking;
use crate::error::ApiError;
use crate::reply::Reply;
use crate::state::HttpState;
use actix_web::http::header::ContentType;
use actix_web::{HttpResponse, web};
use audit_app::AppError;
use schemars::JsonSchema;
use serde::Serialize;
use std::sync::Arc;

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Health")]
pub(super) struct StatusBody {
    /// A word for people; what counts is the status of the response.
    status: &'static str,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Readiness")]
pub(super) struct ReadinessBody {
    /// A word for people; what counts is the status of the response.
    status: &'static str,
    /// The logs that this process does not sign, because they contradict their last checkpoint: the operator has to act.
    // The status stays 200: a log of one project must not take a node out of rotation.
    logs_inconsistent: usize,
    /// The logs that take no events, because this service did not write their heads.
    logs_forged: usize,
    /// The logs whose latest checkpoint was published by this process without a quorum of witnesses, more than a second ago.
    logs_without_quorum: usize,
}

/// The process is up.
pub(super) async fn healthz() -> Reply<StatusBody> {
    Reply::ok(StatusBody { status: "ok" })
}

/// The database accepts writes.
pub(super) async fn readyz(state: web::Data<HttpState>) -> Result<Reply<ReadinessBody>, ApiError> {
    if state.is_draining() {
        return Err(ApiError::Stopping);
    }
    let service = Arc::clone(&state.service);
    blocking(move || service.check_ready()).await?;
    let logs_inconsistent = state.service.inconsistent_logs();
    Ok(Reply::ok(ReadinessBody {
        status: "ready",
        logs_inconsistent,
        logs_forged: state.service.forged_heads(),
        logs_without_quorum: state.service.logs_without_quorum(),
    }))
}

/// Counters and histograms.
pub(super) async fn metrics(state: web::Data<HttpState>) -> Result<HttpResponse, ApiError> {
    let render = move || {
        let text = state.metrics.render(&state.service);
        text.map_err(|error| AppError::Internal(Box::new(error)))
    };
    let text = blocking(render).await?;
    Ok(HttpResponse::Ok()
        .insert_header(ContentType(prometheus_mime()))
        .body(text))
}

fn prometheus_mime() -> actix_web::mime::Mime {
    "text/plain; version=0.0.4; charset=utf-8"
        .parse()
        .unwrap_or(actix_web::mime::TEXT_PLAIN_UTF_8)
}

/// The documentation of the endpoints, by the names of their handlers.
pub(super) mod about {
    use crate::about::{About, Plain, Sample, Tag};
    use crate::error_code::ErrorCode;

    pub(crate) fn healthz() -> About {
        About {
            outcome: "The process is up.",
            responses: &[Sample("example", r#"{"status": "ok"}"#)],
            is_additive: true,
            ..About::new("get_health", Tag::Operations, "Check that the process is up")
        }
    }

    pub(crate) fn readyz() -> About {
        About {
            outcome: "The database accepts writes.",
            responses: &[Sample(
                "example",
                r#"{"status": "ready", "logs_inconsistent": 0, "logs_forged": 0, "logs_without_quorum": 0}"#,
            )],
            errors: &[ErrorCode::InternalError, ErrorCode::Unavailable],
            is_additive: true,
            ..About::new(
                "get_readiness",
                Tag::Operations,
                "Check that the database accepts writes",
            )
        }
    }

    pub(crate) fn metrics() -> About {
        About {
            description: "Of this process, since its start.",
            outcome: "Counters and histograms in Prometheus' text format.",
            plain: Some(Plain::TEXT),
            errors: &[ErrorCode::InternalError],
            is_additive: true,
            ..About::new("get_metrics", Tag::Operations, "Read metrics")
        }
    }
}
