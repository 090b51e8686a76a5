//! Who calls. The policy of an endpoint is in the type of its first argument.

use crate::error::ApiError;
use crate::error_code::ErrorCode;
use crate::openapi::{CredentialKind, Describe, Facts};
use crate::state::HttpState;
use actix_web::dev::Payload;
use actix_web::http::header::AUTHORIZATION;
use actix_web::{FromRequest, HttpRequest, web};
use audit_app::{AppError, AuditLog};
use audit_auth::{Credential, MasterKey, Principal, ProjectKey};
use std::convert::Infallible;
use std::future::{Future, Ready, ready};
use std::marker::PhantomData;
use std::pin::Pin;
use std::sync::Arc;

/// Which credentials an endpoint takes.
pub(crate) trait Policy: 'static {
    /// What a credential that is taken proves.
    type Proof: Clone + Send + Sync + 'static;

    /// The proof, or `None` when the endpoint is not for this kind of credential.
    fn admit(principal: Principal) -> Option<Self::Proof>;

    /// What to say then.
    const REFUSAL: &'static str;
}

/// Master keys.
pub(crate) struct Master;
/// Master and project keys.
pub(crate) struct Keys;
/// Project keys.
pub(crate) struct Project;
/// Master keys, project keys and viewer tokens.
pub(crate) struct Readers;

impl Policy for Master {
    type Proof = MasterKey;
    const REFUSAL: &'static str = "this needs a master key";

    fn admit(principal: Principal) -> Option<MasterKey> {
        match principal {
            Principal::Master(key) => Some(key),
            Principal::Project(_) | Principal::Viewer(_) => None,
        }
    }
}

impl Policy for Keys {
    type Proof = Principal;
    const REFUSAL: &'static str =
        "this needs a master key or a project key; a viewer token can only read events";

    fn admit(principal: Principal) -> Option<Principal> {
        (!matches!(principal, Principal::Viewer(_))).then_some(principal)
    }
}

impl Policy for Project {
    type Proof = ProjectKey;
    const REFUSAL: &'static str = "this needs a live project key";

    fn admit(principal: Principal) -> Option<ProjectKey> {
        match principal {
            Principal::Project(key) => Some(key),
            Principal::Master(_) | Principal::Viewer(_) => None,
        }
    }
}

impl Policy for Readers {
    type Proof = Principal;
    const REFUSAL: &'static str = "this needs a key or a viewer token";

    fn admit(principal: Principal) -> Option<Principal> {
        Some(principal)
    }
}

/// A caller whose credential the policy takes.
pub(crate) struct Caller<P: Policy> {
    service: Arc<AuditLog>,
    proof: P::Proof,
    credential: Credential,
    policy: PhantomData<P>,
}

impl<P: Policy> Caller<P> {
    /// Runs `work`, which may block, on behalf of the caller.
    pub(crate) async fn run<T: Send + 'static>(
        self,
        work: impl FnOnce(&Arc<AuditLog>, P::Proof) -> Result<T, AppError> + Send + 'static,
    ) -> Result<T, ApiError> {
        let Self { service, proof, .. } = self;
        blocking(move || work(&service, proof)).await
    }
}

impl<P: Policy> Caller<P> {
    /// The service, what the credential proves, and the credential: for work that goes on after the answer has begun,
    /// and must look at the credential again.
    pub(crate) fn into_parts(self) -> (Arc<AuditLog>, P::Proof, Credential) {
        (self.service, self.proof, self.credential)
    }

    /// Whether the policy takes the credential.
    async fn check(service: Arc<AuditLog>, credential: Credential) -> Result<Self, ApiError> {
        let (asked, presented) = (Arc::clone(&service), credential.clone());
        let principal = blocking(move || asked.authenticate(&presented)).await?;
        let proof = P::admit(principal).ok_or_else(|| AppError::Forbidden(P::REFUSAL.to_owned()))?;
        Ok(Self {
            service,
            proof,
            credential,
            policy: PhantomData,
        })
    }
}

/// Runs `work` on a thread that may block.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, AppError> + Send + 'static,
) -> Result<T, ApiError> {
    match web::block(work).await {
        Ok(outcome) => outcome.map_err(ApiError::from),
        Err(error) => Err(AppError::Internal(Box::new(error)).into()),
    }
}

/// The text of a request's credential, whatever it is.
pub(crate) fn credential_text(request: &HttpRequest) -> Option<&str> {
    request.headers().get(AUTHORIZATION)?.to_str().ok()
}

/// The credential of a request, not looked up yet.
fn credential_of(request: &HttpRequest) -> Result<Credential, ApiError> {
    let text = credential_text(request).ok_or(AppError::Unauthorized)?;
    Credential::from_authorization_header(text).map_err(|error| AppError::from(error).into())
}

fn service_of(request: &HttpRequest) -> Result<Arc<AuditLog>, ApiError> {
    let state = request.app_data::<web::Data<HttpState>>();
    Ok(Arc::clone(&state.ok_or(ApiError::NoRoute)?.service))
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

/// A caller of an endpoint whose credential is looked up by the service itself, together with what else it does.
pub(crate) struct Bearer<P: Policy> {
    credential: Result<Credential, ApiError>,
    service: Result<Arc<AuditLog>, ApiError>,
    policy: PhantomData<P>,
}

/// A credential of a known form that has not been looked up.
pub(crate) struct Presented<P: Policy> {
    pub(crate) service: Arc<AuditLog>,
    pub(crate) credential: Credential,
    policy: PhantomData<P>,
}

impl<P: Policy> Bearer<P> {
    /// The credential, if there is one of a known form.
    pub(crate) fn present(self) -> Result<Presented<P>, ApiError> {
        Ok(Presented {
            credential: self.credential?,
            service: self.service?,
            policy: self.policy,
        })
    }
}

impl<P: Policy> Presented<P> {
    /// What came with the credential, if it could be read. Whoever may not call learns that, and not what is wrong with it.
    /// Where there is no room for the request there is none to look its credential up either.
    pub(crate) async fn with<T>(&self, input: Result<T, ApiError>) -> Result<T, ApiError> {
        if let Err(error) = &input
            && !matches!(error, ApiError::Overloaded)
        {
            Caller::<P>::check(Arc::clone(&self.service), self.credential.clone()).await?;
        }
        input
    }
}

impl Presented<Readers> {
    /// Runs `work`, which may block and looks the credential up. Whoever has one may read.
    pub(crate) async fn run<T: Send + 'static>(
        self,
        work: impl FnOnce(&AuditLog, &Credential) -> Result<T, AppError> + Send + 'static,
    ) -> Result<T, ApiError> {
        blocking(move || work(&self.service, &self.credential)).await
    }
}

impl<P: Policy> FromRequest for Bearer<P> {
    type Error = Infallible;
    type Future = Ready<Result<Self, Infallible>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        ready(Ok(Self {
            credential: credential_of(request),
            service: service_of(request),
            policy: PhantomData,
        }))
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
        let (credential, service) = (credential_of(request), service_of(request));
        Box::pin(async move { Self::check(service?, credential?).await })
    }
}
