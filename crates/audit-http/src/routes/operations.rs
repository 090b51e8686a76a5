//! `/healthz`, `/readyz`, `/metrics`: for operators; no credential.

use crate::caller::blocking;
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
pub(super) struct StatusBody {
    /// A word for people; what counts is the status of the response.
    status: &'static str,
}

/// The process is up.
pub(super) async fn healthz() -> Reply<StatusBody> {
    Reply::ok(StatusBody { status: "ok" })
}

/// The database accepts writes.
pub(super) async fn readyz(state: web::Data<HttpState>) -> Result<Reply<StatusBody>, ApiError> {
    let service = Arc::clone(&state.service);
    blocking(move || service.check_ready()).await?;
    Ok(Reply::ok(StatusBody { status: "ready" }))
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
