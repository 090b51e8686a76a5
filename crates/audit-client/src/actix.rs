//! For actix-web: a handler says what it does, and the middleware records it with what it knows of the request.

use crate::double::Record;
use crate::event::EventBuilder;
use crate::middleware::{ActorOf, Seen, events_of, given, record_all, unknown_actor};
use actix_web::body::MessageBody;
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::middleware::Next;
use actix_web::{HttpMessage, HttpRequest, web};
use audit_domain::ActorType;
use std::fmt;
use std::sync::Arc;
use std::time::Instant;

/// The events of a request.
#[derive(Default)]
struct Annotations(Vec<EventBuilder>);

/// Adds an event to what the middleware records: if this request succeeds, or under its [`EventBuilder::failed_action`] if it fails.
pub fn annotate(request: &HttpRequest, event: impl Into<EventBuilder>) {
    let event = event.into();
    let mut extensions = request.extensions_mut();
    if let Some(Annotations(events)) = extensions.get_mut() {
        events.push(event);
        return;
    }
    extensions.insert(Annotations(vec![event]));
}

/// A function of a request that was handled.
type Of<T> = Box<dyn Fn(&HttpRequest) -> Option<T> + Send + Sync>;

/// Whose requests these are, and who sends them: given once, as `web::Data<Identity>` among the application's data. A handler that says
/// another tenant or actor comes first.
pub struct Identity {
    tenant: Of<String>,
    actor: Of<ActorOf>,
}

impl Identity {
    /// The tenant of a request. Without one its event is not recorded, which is an error in the log.
    pub fn of_tenant(of: impl Fn(&HttpRequest) -> Option<String> + Send + Sync + 'static) -> Self {
        Self {
            tenant: Box::new(of),
            actor: Box::new(|_| None),
        }
    }

    /// The id and kind of the actor of a request. Without one it is `anonymous`.
    #[must_use]
    pub fn and_actor(
        mut self,
        of: impl Fn(&HttpRequest) -> Option<(String, ActorType)> + Send + Sync + 'static,
    ) -> Self {
        self.actor = Box::new(of);
        self
    }
}

impl fmt::Debug for Identity {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Identity").finish_non_exhaustive()
    }
}

fn seen(request: &HttpRequest, began: Instant) -> Seen {
    let header = |name: &str| Some(request.headers().get(name)?.to_str().ok()?.to_owned());
    let identity = request.app_data::<web::Data<Identity>>();
    Seen {
        began,
        method: request.method().to_string(),
        route: request.match_pattern(),
        address: request.peer_addr().map(|address| address.ip()),
        user_agent: header("user-agent"),
        request_id: header("x-request-id"),
        tenant_id: identity.and_then(|identity| given("tenant", None, || (identity.tenant)(request))),
        actor: identity
            .and_then(|identity| given("actor", Some(unknown_actor()), || (identity.actor)(request))),
    }
}

/// The middleware, for `actix_web::middleware::from_fn`. It completes the events of the handler's [`annotate`] (tenant, actor, context,
/// and the method, route, status and duration in `metadata`), and records them before the response is sent, in a thread for blocking
/// work. An event that cannot be recorded is an error in the log; the response stays.
///
/// The application's data have to have the client, as `web::Data<Arc<dyn Record>>`, and may have an [`Identity`].
///
/// ```
/// use actix_web::{App, HttpRequest, HttpResponse, middleware::from_fn, web};
/// use audit_client::actix::{Identity, annotate, record};
/// use audit_client::{ActorType, Category, EventBuilder, Record, RecordedEvents};
/// use std::sync::Arc;
///
/// async fn delete_invoice(request: HttpRequest) -> HttpResponse {
///     let event = EventBuilder::of_request("invoice.deleted", Category::Mutation);
///     annotate(&request, event.failed_action("invoice.delete_failed").target("invoice_7", "invoice"));
///     HttpResponse::NoContent().finish()
/// }
///
/// let audit: Arc<dyn Record> = Arc::new(RecordedEvents::default());
/// let identity = Identity::of_tenant(|_| Some("acme".to_owned()))
///     .and_actor(|_| Some(("user_1".to_owned(), ActorType::User)));
/// let app = App::new()
///     .app_data(web::Data::new(audit))
///     .app_data(web::Data::new(identity))
///     .wrap(from_fn(record))
///     .route("/invoices/7", web::delete().to(delete_invoice));
/// ```
///
/// # Errors
/// Those of the handler.
pub async fn record<B: MessageBody>(
    request: ServiceRequest,
    next: Next<B>,
) -> Result<ServiceResponse<B>, actix_web::Error> {
    let began = Instant::now();
    let response = next.call(request).await?;
    let Some(Annotations(annotated)) = response.request().extensions_mut().remove::<Annotations>() else {
        return Ok(response);
    };
    let seen = seen(response.request(), began);
    let events = events_of(&seen, response.status().as_u16(), annotated);
    if events.is_empty() {
        return Ok(response);
    }
    let Some(audit) = response
        .request()
        .app_data::<web::Data<Arc<dyn Record>>>()
        .cloned()
    else {
        log::error!(
            "{} events were not recorded: the application's data have no client",
            events.len()
        );
        return Ok(response);
    };
    #[expect(clippy::disallowed_methods, reason = "a thread of the application")]
    let recording = web::block(move || record_all(&***audit, events));
    if recording.await.is_err() {
        log::error!("events were not recorded: the runtime has no thread for them");
    }
    Ok(response)
}
