//! `/api/v1/alerts`.

use crate::caller::{Caller, Keys};
use crate::error::ApiError;
use crate::input::{JsonBody, read_query, read_selection, selection};
use crate::parameters::{read_limit, read_time};
use crate::reply::Reply;
use actix_web::{HttpRequest, web};
use audit_app::{
    Alert, AlertAction, AlertFilter, AlertId, AlertStatus, AlertsRequest, AppError, Selection, Severity,
};
use audit_domain::{Fields, limits};
use serde::Serialize;

/// Alerts of a page, at most.
const ALERTS_MAX: usize = 100;

#[derive(Serialize)]
pub(super) struct AlertsBody {
    alerts: Vec<Alert>,
    cursor: Option<String>,
    has_more: bool,
}

#[derive(Serialize)]
pub(super) struct OneAlertBody {
    alert: Alert,
}

fn read_alerts_query(request: &HttpRequest, fields: &mut Fields<'_>) -> Option<(Selection, AlertsRequest)> {
    let selection = selection(request, fields);
    let filter = AlertFilter {
        rule_id: fields.optional_text("rule_id", 1, limits::ID_CHARS_MAX),
        severity: fields
            .optional_parsed::<Severity>("severity")
            .map(|severity| severity.to_string()),
        status: fields
            .optional_parsed::<AlertStatus>("status")
            .map(|status| status.to_string()),
        start: read_time(fields, "start_date"),
        end: read_time(fields, "end_date"),
    };
    let cursor = fields.optional_text("cursor", 0, usize::MAX);
    let limit = read_limit(fields, ALERTS_MAX)?;
    Some((
        selection,
        AlertsRequest {
            filter,
            cursor,
            limit,
        },
    ))
}

/// One page of alerts.
pub(super) async fn list(caller: Caller<Keys>, request: HttpRequest) -> Result<Reply<AlertsBody>, ApiError> {
    let (selection, query) = read_query(&request, |fields| read_alerts_query(&request, fields))?;
    let answer = caller
        .run(move |service, principal| service.alerts(&principal, selection, &query))
        .await?;
    Ok(Reply::ok(AlertsBody {
        has_more: answer.cursor.is_some(),
        alerts: answer.alerts,
        cursor: answer.cursor,
    }))
}

/// Acknowledges or resolves an alert.
pub(super) async fn change(
    caller: Caller<Keys>,
    request: HttpRequest,
    id: web::Path<String>,
    body: JsonBody,
) -> Result<Reply<OneAlertBody>, ApiError> {
    let selection = read_selection(&request)?;
    let action = body.read(|fields| fields.required_parsed::<AlertAction>("status"))?;
    let id: AlertId = id.parse().map_err(|_| AppError::NotFound("alert"))?;
    let alert = caller
        .run(move |service, principal| service.change_alert(&principal, selection, id, action))
        .await?;
    Ok(Reply::ok(OneAlertBody { alert }))
}
