//! The caller of an endpoint. The policy of the endpoint is in the type of its first argument.

use crate::body::Room;
use crate::client_address::{address_of, client_of};
use crate::console_session;
use crate::error::ApiError;
use crate::error_code::ErrorCode;
use crate::input::selected_project;
use crate::openapi::{CredentialKind, Describe, Facts};
use crate::owner::Owner;
use crate::state::HttpState;
use actix_web::dev::Payload;
use actix_web::http::header::AUTHORIZATION;
use actix_web::{FromRequest, HttpMessage, HttpRequest, web};
use audit_app::{AppError, AuditLog, Presented};
use audit_auth::{Credential, Policy};
use std::convert::Infallible;
use std::future::{Future, Ready, ready};
use std::pin::Pin;
use std::sync::Arc;

/// A caller whose credential the policy admits.
pub(crate) struct Caller<P: Policy> {
    state: web::Data<HttpState>,
    presented: Presented<P>,
    proof: P::Proof,
    owner: Owner,
}

impl<P: Policy> Caller<P> {
    /// The room for the body of the request.
    pub(crate) fn room(&self) -> Room {
        Room {
            memory: self.state.bodies.clone(),
            owner: self.owner.clone(),
            inflaters: Arc::clone(&self.state.inflaters),
        }
    }

    /// Runs `work`, which may block, on behalf of the caller, in the cell of the project that the request names.
    pub(crate) async fn run<T: Send + 'static>(
        self,
        work: impl FnOnce(&Arc<AuditLog>, P::Proof) -> Result<T, AppError> + Send + 'static,
    ) -> Result<T, ApiError> {
        let Self { presented, proof, .. } = self;
        let cell = Arc::clone(presented.cell());
        Ok(presented.request(move || work(&cell, proof)).await?)
    }

    /// As [`Self::run`], for work that reads pages or proofs: it takes a turn of the reading sessions.
    pub(crate) async fn read<T: Send + 'static>(
        self,
        work: impl FnOnce(&Arc<AuditLog>, P::Proof) -> Result<T, AppError> + Send + 'static,
    ) -> Result<T, ApiError> {
        let Self { presented, proof, .. } = self;
        let cell = Arc::clone(presented.cell());
        Ok(presented.read(move || work(&cell, proof)).await?)
    }

    /// As [`Self::run`], for work that waits for a receiver on the network: it takes a turn of its own kind.
    pub(crate) async fn send<T: Send + 'static>(
        self,
        work: impl FnOnce(&Arc<AuditLog>, P::Proof) -> Result<T, AppError> + Send + 'static,
    ) -> Result<T, ApiError> {
        let Self { presented, proof, .. } = self;
        let cell = Arc::clone(presented.cell());
        Ok(presented.send(move || work(&cell, proof)).await?)
    }

    /// As [`Self::read`], for work that may need a map of tenants.
    pub(crate) async fn read_with_map<T: Send + 'static>(
        self,
        work: impl Fn(&Arc<AuditLog>, &P::Proof) -> Result<T, AppError> + Send + Sync + 'static,
    ) -> Result<T, ApiError>
    where
        P::Proof: Sync,
    {
        let Self { presented, proof, .. } = self;
        let cell = Arc::clone(presented.cell());
        Ok(presented.read_with_map(move || work(&cell, &proof)).await?)
    }

    /// Runs `work`, which may block, on behalf of the caller, in the home cell: for what concerns several projects, or a
    /// project that the request names in another way.
    pub(crate) async fn run_at_home<T: Send + 'static>(
        self,
        work: impl FnOnce(&Arc<AuditLog>, P::Proof) -> Result<T, AppError> + Send + 'static,
    ) -> Result<T, ApiError> {
        let Self {
            state,
            presented,
            proof,
            ..
        } = self;
        let home = Arc::clone(&state.service);
        Ok(presented.request(move || work(&home, proof)).await?)
    }

    /// The credential and its principal, for work that continues after the start of the response and must look the
    /// credential up again.
    pub(crate) fn into_parts(self) -> (Presented<P>, P::Proof) {
        (self.presented, self.proof)
    }
}

/// The client on whose behalf a credential is looked up that the service has not seen before.
fn client_of_request(request: &HttpRequest) -> String {
    let state = request.app_data::<web::Data<HttpState>>();
    state.map_or_else(String::new, |state| client_of(request, &state.trusted_proxies))
}

/// The text of a request's credential of any kind.
pub(crate) fn credential_text(request: &HttpRequest) -> Option<&str> {
    request.headers().get(AUTHORIZATION)?.to_str().ok()
}

/// The state of the service, and the credential of a request under a policy, not looked up yet.
fn presented<P: Policy>(request: &HttpRequest) -> Result<(web::Data<HttpState>, Presented<P>), ApiError> {
    let text = credential_text(request).ok_or(AppError::Unauthorized)?;
    let credential = Credential::from_authorization_header(text).map_err(AppError::from)?;
    let state = request
        .app_data::<web::Data<HttpState>>()
        .ok_or(ApiError::NoRoute)?;
    let presented = state.service.present(
        credential,
        address_of(request, &state.trusted_proxies),
        selected_project(request),
    );
    let presented = match console_session::session(request) {
        Some(session) => presented.in_session(session),
        None => presented,
    };
    request.extensions_mut().insert(presented.identity());
    Ok((state.clone(), presented))
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
pub(crate) struct Bearer<P: Policy> {
    request: HttpRequest,
    presented: Result<(web::Data<HttpState>, Presented<P>), ApiError>,
}

/// A caller whose credential was admitted before its body is read.
pub(crate) struct Admitted<P: Policy> {
    pub(crate) presented: Presented<P>,
    owner: Owner,
    state: web::Data<HttpState>,
    request: HttpRequest,
    /// Whether the credential was not looked up, and may be out of date.
    is_cached: bool,
}

impl<P: Policy> Bearer<P> {
    /// The credential, recognised, and the rest of the input. A credential that is missing or of an unknown form is reported first.
    /// When the input is bad, the credential is looked up now: a caller without access learns only that, and nothing
    /// about the input.
    pub(crate) async fn with<T>(self, input: Result<T, ApiError>) -> Result<(Presented<P>, T), ApiError> {
        let (_, presented) = self.presented?;
        let client = || client_of_request(&self.request);
        match input {
            Ok(input) => {
                presented.recognise(client).await?;
                Owner::Credential(presented.owner()?).note(&self.request);
                Ok((presented, input))
            }
            Err(error) => {
                presented.check(client, Presented::authenticate).await?;
                Err(error)
            }
        }
    }

    /// Admits the caller before its body is read. A cached credential costs neither a look-up nor another thread; any other
    /// one is looked up, and cached if it is a project key.
    pub(crate) async fn admit(self) -> Result<Admitted<P>, ApiError> {
        let (state, presented) = self.presented?;
        let cached = presented.cached_owner();
        let is_cached = cached.is_some();
        let (presented, owner) = match cached {
            Some(owner) => (presented, owner),
            None => {
                let selected = selected_project(&self.request);
                let client = || client_of_request(&self.request);
                let located = presented.check(client, move |presented| presented.locate(selected));
                // Boxed, so that the futures of the other requests have no room for it.
                let (presented, _) = Box::pin(located).await?;
                let owner = presented.owner()?;
                (presented, owner)
            }
        };
        let owner = Owner::Credential(owner);
        owner.clone().note(&self.request);
        Ok(Admitted {
            presented,
            owner,
            state,
            request: self.request,
            is_cached,
        })
    }
}

impl<P: Policy> Admitted<P> {
    /// The room for the body of the request.
    pub(crate) fn room(&self) -> Room {
        Room {
            memory: self.state.bodies.clone(),
            owner: self.owner.clone(),
            inflaters: Arc::clone(&self.state.inflaters),
        }
    }

    /// Refuses a request with a large response that could not be refused later, because it reports what was stored, if the
    /// organization has its share of the responses that clients have not taken.
    pub(crate) fn require_room_for_responses(&self) -> Result<(), ApiError> {
        let owner = self.owner.clone();
        match owner.hold(&self.state.responses).has_room(1) {
            true => Ok(()),
            false => Err(ApiError::Overloaded),
        }
    }

    /// The rest of the input. When it is bad and the credential was not looked up, it is looked up now: see [`Bearer::with`].
    /// A request that the service has no memory for is refused without a look-up.
    pub(crate) async fn checked<T>(&self, input: Result<T, ApiError>) -> Result<T, ApiError> {
        match input {
            Err(error) if self.is_cached && !matches!(error, ApiError::Overloaded) => {
                let client = || client_of_request(&self.request);
                let presented = self.presented.clone();
                Box::pin(presented.check(client, Presented::authenticate)).await?;
                Err(error)
            }
            input => input,
        }
    }
}

impl<P: Policy> FromRequest for Bearer<P> {
    type Error = Infallible;
    type Future = Ready<Result<Self, Infallible>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        ready(Ok(Self {
            request: request.clone(),
            presented: presented(request),
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
        let presented = presented(request);
        let request = request.clone();
        Box::pin(async move {
            let (state, presented) = presented?;
            let selected = selected_project(&request);
            let client = || client_of_request(&request);
            let located = presented.check(client, move |presented| presented.locate(selected));
            let (presented, proof) = located.await?;
            let owner = Owner::Credential(presented.owner()?);
            owner.clone().note(&request);
            Ok(Self {
                state,
                presented,
                proof,
                owner,
            })
        })
    }
}
