//! `/console/session`: how the console stays signed in over a reload, without a key in its page.
//!
//! The session is a cookie that scripts cannot read (`HttpOnly`) and that no other site sends (`SameSite=Strict`; RFC 6265bis). It counts
//! only in requests that name it in the header [`CONSOLE`]: a page of another origin, also one of the same site, cannot send that without a
//! preflight (Fetch standard, CORS protocol), which no route grants. And a page that signed in with one key never acts with another one, when
//! another tab has signed in, or when a sibling host has set a cookie of its own. A request with an `Authorization` header has no session.

use crate::caller::{Caller, credential_text};
use crate::error::ApiError;
use crate::own_url::OwnUrl;
use crate::public_url::PublicUrl;
use crate::reply::{Created, Reply};
use crate::routes::MatchedRoute;
use crate::state::HttpState;
use actix_web::dev::ServiceRequest;
use actix_web::http::StatusCode;
use actix_web::http::header::{AUTHORIZATION, COOKIE, HeaderName, HeaderValue, SET_COOKIE};
use actix_web::{Either, HttpMessage, HttpRequest, HttpResponse, ResponseError, web};
use audit_app::{AppError, ConsoleSession};
use audit_auth::{AnyKey, Credential, KeyKind};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::Serialize;
use sha2::{Digest, Sha256};

const PATH: &str = "/console/session";
const METHODS: &str = "DELETE, GET, POST";
/// The id of the session that a page has; [`CURRENT`] when it asks which one the browser has.
const CONSOLE: HeaderName = HeaderName::from_static("x-audit-console");
const CURRENT: &str = "current";
/// Bytes of the hash of a sealed session that are its id.
const ID_BYTES: usize = 12;
/// What the browser says about the page that sends a request (Fetch Metadata Request Headers).
const FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// Adds the routes. They are the console's own, and no part of the interface.
pub(crate) fn register(config: &mut web::ServiceConfig) {
    let refuse = || async {
        let allow = METHODS.to_owned();
        Err::<&str, _>(ApiError::MethodNotAllowed { allow })
    };
    config.service(
        web::resource(PATH)
            .app_data(MatchedRoute::at(PATH))
            .route(web::post().to(begin))
            .route(web::get().to(show))
            .route(web::delete().to(end))
            .default_service(web::route().to(refuse)),
    );
}

/// A session that a request has named, and its id.
#[derive(Clone)]
struct Named {
    session: ConsoleSession,
    id: String,
}

/// Gives a request that names its session the credential of the key.
pub(crate) fn present(request: &mut ServiceRequest, state: &HttpState) {
    let headers = request.headers();
    let Some(wanted) = headers.get(CONSOLE).filter(|_| !state.without_pages) else {
        return;
    };
    let is_of_other_page = headers.get(FETCH_SITE).is_some_and(|site| site != "same-origin");
    if headers.contains_key(AUTHORIZATION) || is_of_other_page {
        return;
    }
    let is_wanted = |id: &str| match wanted.as_bytes() == CURRENT.as_bytes() {
        true => request.path() == PATH,
        false => wanted.as_bytes() == id.as_bytes(),
    };
    let Some(named) = named_of(request.request(), state, is_wanted) else {
        return;
    };
    let credential = format!("{} {}", Credential::SCHEME, named.session.key.as_str());
    if let Ok(mut value) = HeaderValue::try_from(credential) {
        value.set_sensitive(true);
        request.headers_mut().insert(AUTHORIZATION, value);
        request.extensions_mut().insert(named);
    }
}

/// The session in which the credential of a request is presented.
pub(crate) fn session(request: &HttpRequest) -> Option<ConsoleSession> {
    named(request).map(|named| named.session)
}

fn named(request: &HttpRequest) -> Option<Named> {
    request.extensions().get::<Named>().cloned()
}

fn named_of(request: &HttpRequest, state: &HttpState, is_wanted: impl Fn(&str) -> bool) -> Option<Named> {
    let name = Cookie::of(request).name;
    let lines = request.headers().get_all(COOKIE);
    lines
        .filter_map(|line| line.to_str().ok())
        .flat_map(|line| line.split(';'))
        .filter_map(|pair| pair.trim().split_once('='))
        .filter(|(found, _)| *found == name)
        .find_map(|(_, sealed)| {
            let id = id_of(sealed);
            let session = is_wanted(&id).then(|| state.service.open_console_session(sealed));
            session.flatten().map(|session| Named { session, id })
        })
}

/// The id of a sealed session, which is no secret.
fn id_of(sealed: &str) -> String {
    URL_SAFE_NO_PAD.encode(&Sha256::digest(sealed)[..ID_BYTES])
}

/// The cookie of a server.
struct Cookie {
    name: &'static str,
    security: &'static str,
}

impl Cookie {
    /// Over TLS the cookie has the prefix that binds it to this host: no sibling host can set one of this name.
    fn of(request: &HttpRequest) -> Self {
        match OwnUrl::of(request).is_none_or(|url: PublicUrl| url.is_plain()) {
            true => Self {
                name: "audit_console",
                security: "",
            },
            false => Self {
                name: "__Host-audit_console",
                security: "; Secure",
            },
        }
    }

    /// The header that sets it until the browser ends, or for `Max-Age` seconds.
    fn set(&self, value: &str, max_age: Option<u32>) -> HeaderValue {
        let age = max_age.map_or_else(String::new, |seconds| format!("; Max-Age={seconds}"));
        let Self { name, security } = self;
        let text = format!("{name}={value}; Path=/; HttpOnly; SameSite=Strict{security}{age}");
        HeaderValue::try_from(text).expect("a sealed session is base64")
    }
}

/// What the page learns of its session.
#[derive(Serialize)]
struct SessionBody {
    /// What the page names its session by.
    id: String,
    /// `master` or `project`.
    key_type: &'static str,
    /// The environment of a project key.
    environment: Option<&'static str>,
    expires_at: String,
}

impl From<Named> for SessionBody {
    fn from(Named { session, id }: Named) -> Self {
        let (key_type, environment) = match session.key.kind() {
            KeyKind::Master => ("master", None),
            KeyKind::Project(environment) => ("project", Some(environment.as_str())),
        };
        Self {
            id,
            key_type,
            environment,
            expires_at: session.expires_at().to_string(),
        }
    }
}

/// Begins a session with the key of the request. A session begins no other one, so that none lasts longer than its time.
async fn begin(
    request: HttpRequest,
    caller: Caller<AnyKey>,
) -> Result<Reply<SessionBody, Created>, ApiError> {
    let text = credential_text(&request).filter(|_| named(&request).is_none());
    let credential = Credential::from_authorization_header(text.ok_or(AppError::Unauthorized)?);
    let Credential::Key(key) = credential.map_err(AppError::from)? else {
        return Err(AppError::Unauthorized.into());
    };
    let began = caller.run_at_home(move |service, holder| service.begin_console_session(&holder, key));
    let (sealed, session) = began.await?;
    let cookie = Cookie::of(&request).set(&sealed, None);
    let id = id_of(&sealed);
    Ok(Reply::created(SessionBody::from(Named { session, id })).with_header(SET_COOKIE, cookie))
}

/// The session of the browser, 204 without one. Whether its key is still valid is found out by the first request with it.
async fn show(request: HttpRequest) -> Either<Reply<SessionBody>, HttpResponse> {
    match named(&request) {
        Some(named) => Either::Left(Reply::ok(named.into())),
        None => Either::Right(HttpResponse::NoContent().finish()),
    }
}

/// Ends all sessions of the key, and removes the cookie. One that does not count any more, or not from this network, is removed too.
async fn end(
    request: HttpRequest,
    caller: Result<Caller<AnyKey>, ApiError>,
) -> Result<HttpResponse, ApiError> {
    if let Some(session) = session(&request) {
        let ended = async {
            let ended =
                caller?.run_at_home(move |service, holder| service.end_console_sessions(&holder, &session));
            ended.await
        };
        let is_worthless = |error: &ApiError| {
            [StatusCode::UNAUTHORIZED, StatusCode::FORBIDDEN].contains(&error.status_code())
        };
        if let Err(error) = ended.await
            && !is_worthless(&error)
        {
            return Err(error);
        }
    }
    let removed = Cookie::of(&request).set("", Some(0));
    Ok(HttpResponse::NoContent()
        .insert_header((SET_COOKIE, removed))
        .finish())
}
