//! Work that may block, off the threads that serve connections.

use crate::error::ApiError;
use actix_web::rt::time::timeout;
use actix_web::web;
use audit_app::AppError;
use std::time::Duration;

/// How long a request waits for work that may block. A query takes a few statements of up to 10 s each.
const BLOCKING_MAX: Duration = Duration::from_secs(30);

/// Runs `work` on a thread that may block, for the operator's paths and with a turn that the caller holds. A read of a database that hangs
/// can block forever; its client gets a response.
#[expect(
    clippy::disallowed_methods,
    reason = "the operator's paths are private, and an inflater has its turn"
)]
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, AppError> + Send + 'static,
) -> Result<T, ApiError> {
    match timeout(BLOCKING_MAX, web::block(work)).await {
        Ok(Ok(outcome)) => outcome.map_err(ApiError::from),
        Ok(Err(error)) => Err(AppError::Internal(Box::new(error)).into()),
        Err(_) => Err(AppError::no_response().into()),
    }
}
