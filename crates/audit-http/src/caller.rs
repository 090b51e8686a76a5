//! The caller of an endpoint. The policy of the endpoint is in the type of its first argument.

use crate::error::ApiError;
use crate::error_code::ErrorCode;
use crate::input::selected_project;
use crate::openapi::{CredentialKind, Describe, Facts};
use crate::state::HttpState;
use actix_web::dev::Payload;
use actix_web::http::header::AUTHORIZATION;
use actix_web::rt::time::timeout;
use actix_web::{FromRequest, HttpRequest, web};
use audit_app::{AppError, AuditLog, Presented};
use audit_auth::{Credential, Policy};
use std::convert::Infallible;
use std::future::{Future, Ready, ready};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

/// How long a request waits for work that may block. A query takes a few statements of up to 10 s each.
const BLOCKING_MAX: Duration = Duration::from_secs(30);

/// A caller whose credential the policy admits.
pub(crate) struct Caller<P: Policy> {
    home: Arc<AuditLog>,
    presented: Presented<P>,
    proof: P::Proof,
}

impl<P: Policy> Caller<P> {
    /// Runs `work`, which may block, on behalf of the caller, in the cell of the project that the request names.
    pub(crate) async fn run<T: Send + 'static>(
        self,
        work: impl FnOnce(&Arc<AuditLog>, P::Proof) -> Result<T, AppError> + Send + 'static,
    ) -> Result<T, ApiError> {
        let Self { presented, proof, .. } = self;
        blocking(move || work(presented.cell(), proof)).await
    }

    /// Runs `work`, which may block, on behalf of the caller, in the home cell: for what concerns several projects, or a
    /// project that the request names in another way.
    pub(crate) async fn run_at_home<T: Send + 'static>(
        self,
        work: impl FnOnce(&Arc<AuditLog>, P::Proof) -> Result<T, AppError> + Send + 'static,
    ) -> Result<T, ApiError> {
        let Self { home, proof, .. } = self;
        blocking(move || work(&home, proof)).await
    }

    /// The credential and its principal, for work that continues after the start of the response and must look the
    /// credential up again.
    pub(crate) fn into_parts(self) -> (Presented<P>, P::Proof) {
        (self.presented, self.proof)
    }
}

/// Runs `work` on a thread that may block. A read of a database that hangs can block for ever; its client gets a response.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, AppError> + Send + 'static,
) -> Result<T, ApiError> {
    match timeout(BLOCKING_MAX, web::block(work)).await {
        Ok(Ok(outcome)) => outcome.map_err(ApiError::from),
        Ok(Err(error)) => Err(AppError::Internal(Box::new(error)).into()),
        Err(_) => Err(AppError::no_response().into()),
    }
}

/// The text of a request's credential of any kind.
pub(crate) fn credential_text(request: &HttpRequest) -> Option<&str> {
    request.headers().get(AUTHORIZATION)?.to_str().ok()
}

/// The service of the home cell, and the credential of a request under a policy, not looked up yet.
fn presented<P: Policy>(request: &HttpRequest) -> Result<(Arc<AuditLog>, Presented<P>), ApiError> {
    let text = credential_text(request).ok_or(AppError::Unauthorized)?;
    let credential = Credential::from_authorization_header(text).map_err(AppError::from)?;
    let state = request
        .app_data::<web::Data<HttpState>>()
        .ok_or(ApiError::NoRoute)?;
    let home = Arc::clone(&state.service);
    let presented = home.present(credential, selected_project(request));
    Ok((home, presented))
}

impl<P: Policy> Describe for Caller<P> {
    fn describe(facts: &mut Facts) {
        let kinds = CredentialKind::admitted_by::<P>();
        facts.codes.extend(ErrorCode::OF_CREDENTIALS);
        facts.codes.extend(ErrorCode::OF_THE_SERVICE);
        if kinds.len() < CredentialKind::ALL.len() {
            facts.codes.insert(ErrorCode::Forbidden);
        }
        facts.credentials = Some(kinds);
    }
}

/// A caller whose credential the service looks up itself, together with its other work. The policy decides there: see
/// [`Presented`].
pub(crate) struct Bearer<P: Policy>(Result<Presented<P>, ApiError>);

impl<P: Policy> Bearer<P> {
    /// The credential, and the rest of the input. A credential that is missing or of an unknown form is reported first.
    /// When the input is bad, the credential is looked up now: a caller without access learns only that, and nothing
    /// about the input. A request that the service has no memory for is refused without a look-up.
    pub(crate) async fn with<T>(self, input: Result<T, ApiError>) -> Result<(Presented<P>, T), ApiError> {
        let presented = self.0?;
        match input {
            Ok(input) => Ok((presented, input)),
            Err(ApiError::Overloaded) => Err(ApiError::Overloaded),
            Err(error) => {
                blocking(move || presented.authenticate()).await?;
                Err(error)
            }
        }
    }
}

impl<P: Policy> FromRequest for Bearer<P> {
    type Error = Infallible;
    type Future = Ready<Result<Self, Infallible>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        ready(Ok(Self(presented(request).map(|(_, presented)| presented))))
    }
}

impl<P: Policy> Describe for Bearer<P> {
    fn describe(facts: &mut Facts) {
        Caller::<P>::describe(facts);
    }
}

impl<P: Policy> FromRequest for Caller<P> {
    type Error = ApiError;
    type Future = Pin<Box<dyn Future<Output = Result<Self, ApiError>>>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        let presented = presented(request);
        let selected = selected_project(request);
        Box::pin(async move {
            let (home, presented) = presented?;
            let (presented, proof) = blocking(move || presented.locate(selected)).await?;
            Ok(Self {
                home,
                presented,
                proof,
            })
        })
    }
}
