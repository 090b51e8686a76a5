//! The routes.

use actix_web::middleware::from_fn;
use actix_web::{HttpRequest, HttpResponse, error, web};
use audit_client::actix::{annotate, record};
use audit_client::{
    ActorType, Category, Client, Error, EventBuilder, EventQuery, NewEvent, Record, verify_proof,
};
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::Duration;

const TOKEN_LIFETIME: Duration = Duration::from_secs(600);
/// Events that the history shows.
const HISTORY_EVENTS: u32 = 20;

/// A thing to do.
#[derive(Clone, Serialize)]
struct Todo {
    id: u64,
    title: String,
    done: bool,
}

/// What a request says of a thing to do.
#[derive(Deserialize)]
struct Change {
    title: Option<String>,
    done: Option<bool>,
}

/// The things to do of all organizations, and the client that logs what happens to them.
pub(crate) struct Todos {
    audit: Client,
    audit_url: String,
    log_key: String,
    by_organization: Mutex<HashMap<String, BTreeMap<u64, Todo>>>,
}

impl Todos {
    pub(crate) fn new(audit: Client, audit_url: String, log_key: String) -> Self {
        Self {
            audit,
            audit_url,
            log_key,
            by_organization: Mutex::default(),
        }
    }
}

/// The signed-in user.
struct User {
    name: String,
    organization: String,
}

impl User {
    /// A stand-in for the real thing: `alice@acme` in a header.
    fn of(request: &HttpRequest) -> actix_web::Result<Self> {
        let user = request
            .headers()
            .get("x-user")
            .and_then(|user| user.to_str().ok());
        match user.and_then(|user| user.split_once('@')) {
            Some((name, organization)) if !name.is_empty() && !organization.is_empty() => Ok(Self {
                name: name.to_owned(),
                organization: organization.to_owned(),
            }),
            _ => Err(error::ErrorUnauthorized("say who you are: X-User: alice@acme")),
        }
    }

    /// Begins an event of this user.
    fn did(&self, action: &str, todo: u64, request: &HttpRequest) -> EventBuilder {
        let actor = (format!("user_{}", self.name), ActorType::User);
        let event = NewEvent::builder(action, Category::Mutation, &self.organization, actor)
            .actor_name(&self.name)
            .target(todo.to_string(), "todo");
        match request.peer_addr() {
            Some(address) => event.ip_address(address.ip()),
            None => event,
        }
    }
}

type Shared = web::Data<Todos>;

async fn create(
    request: HttpRequest,
    todos: Shared,
    wanted: web::Json<Change>,
) -> actix_web::Result<HttpResponse> {
    let user = User::of(&request)?;
    let todo = {
        let mut all = todos.by_organization.lock();
        let own = all.entry(user.organization.clone()).or_default();
        let id = own.keys().last().map_or(1, |last| last + 1);
        let title = wanted.title.clone().unwrap_or_default();
        let done = wanted.done.unwrap_or(false);
        own.entry(id).or_insert(Todo { id, title, done }).clone()
    };
    let event = user.did("todo.created", todo.id, &request);
    annotate(&request, event.build().map_err(error::ErrorBadRequest)?);
    Ok(HttpResponse::Created().json(todo))
}

async fn update(
    request: HttpRequest,
    todos: Shared,
    id: web::Path<u64>,
    wanted: web::Json<Change>,
) -> actix_web::Result<HttpResponse> {
    let user = User::of(&request)?;
    let (before, after) = {
        let mut all = todos.by_organization.lock();
        let own = all.get_mut(&user.organization);
        let todo = own
            .and_then(|own| own.get_mut(&id))
            .ok_or_else(|| error::ErrorNotFound("no such todo"))?;
        let before = todo.clone();
        todo.title = wanted.title.clone().unwrap_or_else(|| before.title.clone());
        todo.done = wanted.done.unwrap_or(before.done);
        (before, todo.clone())
    };
    let mut event = user.did("todo.updated", *id, &request);
    if before.title != after.title {
        event = event.change("title", before.title, after.title.clone());
    }
    if before.done != after.done {
        event = event.change("done", before.done, after.done);
    }
    annotate(&request, event.build().map_err(error::ErrorBadRequest)?);
    Ok(HttpResponse::Ok().json(after))
}

async fn delete(request: HttpRequest, todos: Shared, id: web::Path<u64>) -> actix_web::Result<HttpResponse> {
    let user = User::of(&request)?;
    let mut all = todos.by_organization.lock();
    let own = all.get_mut(&user.organization);
    own.and_then(|own| own.remove(&id))
        .ok_or_else(|| error::ErrorNotFound("no such todo"))?;
    drop(all);
    let event = user.did("todo.deleted", *id, &request);
    annotate(&request, event.build().map_err(error::ErrorBadRequest)?);
    Ok(HttpResponse::NoContent().finish())
}

/// Runs requests to the audit service in a thread for blocking work.
#[expect(clippy::disallowed_methods, reason = "a thread of the application")]
async fn ask<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Error> + Send + 'static,
) -> actix_web::Result<T> {
    web::block(work).await?.map_err(error::ErrorBadGateway)
}

/// The customer's own log, on the page of the audit service: a link that works for ten minutes. Its browser verifies each event with the key.
async fn history(request: HttpRequest, todos: Shared) -> actix_web::Result<HttpResponse> {
    let user = User::of(&request)?;
    let audit = todos.audit.clone();
    // The token reads the events of this organization, and nothing else.
    let token = ask(move || audit.viewer_token(&user.organization, None, TOKEN_LIFETIME)).await?;
    // A `+` would be read as a space there.
    let key = todos
        .log_key
        .replace('+', "%2B")
        .replace('/', "%2F")
        .replace('=', "%3D");
    let link = format!("{}/portal#token={token}&key={key}", todos.audit_url);
    Ok(HttpResponse::SeeOther()
        .insert_header(("location", link))
        .finish())
}

/// An event of the customer's log, as this application has verified it.
#[derive(Serialize)]
struct Verified {
    id: String,
    what: String,
    who: String,
    /// The number of events in the customer's log, as it was signed with this one.
    log_size: u64,
}

/// The same for a program: the latest events, read with a viewer token and verified here.
async fn verified(request: HttpRequest, todos: Shared) -> actix_web::Result<HttpResponse> {
    let user = User::of(&request)?;
    let events = ask(move || {
        let token = todos
            .audit
            .viewer_token(&user.organization, None, TOKEN_LIFETIME)?;
        let viewer = Client::builder(&todos.audit_url).api_key(token).build()?;
        let mut verified = Vec::new();
        let query = EventQuery::new().limit(HISTORY_EVENTS);
        for event in viewer.events(query).take(HISTORY_EVENTS as usize) {
            let event = event?;
            let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
            let id = text(&event["id"]);
            let head = verify_proof(&event, &viewer.proof(&id)?, &todos.log_key, None)?;
            verified.push(Verified {
                what: text(&event["action"]),
                who: text(&event["actor"]["name"]),
                log_size: head.head().size,
                id,
            });
        }
        Ok(verified)
    });
    Ok(HttpResponse::Ok().json(events.await?))
}

/// The application, for `App::configure`.
pub(crate) fn configure(config: &mut web::ServiceConfig, todos: Shared) {
    let audit: Arc<dyn Record> = Arc::new(todos.audit.clone());
    let audited = web::scope("/todos")
        .wrap(from_fn(record))
        .route("", web::post().to(create))
        .route("/{id}", web::patch().to(update))
        .route("/{id}", web::delete().to(delete));
    config
        .app_data(web::Data::new(audit))
        .app_data(todos)
        .service(audited)
        .route("/history", web::get().to(history))
        .route("/history/verified", web::get().to(verified));
}
