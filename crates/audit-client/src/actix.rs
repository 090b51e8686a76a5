//! For actix-web: a handler says what it does, and the middleware records it with what it knows of the request.

use crate::double::Record;
use crate::event::EventBuilder;
use crate::middleware::{ActorOf, End, Seen, events_of, finish, given, start_recording, unknown_actor};
use actix_web::body::MessageBody;
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::middleware::Next;
use actix_web::{HttpMessage, HttpRequest, web};
use audit_domain::ActorType;
use std::cell::RefCell;
use std::fmt;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;
use tokio::task::JoinHandle;

/// The events of a request, `None` as soon as it has ended. In its extensions, and with the middleware that records them.
#[derive(Clone)]
struct Annotations(Rc<RefCell<Option<Annotated>>>);

struct Annotated {
    began: Instant,
    /// Whether a middleware records the events. Without one they are an error when the request is dropped.
    is_watched: bool,
    events: Vec<EventBuilder>,
    /// The client and the request, as of the latest [`annotate`]: when the handler is dropped, its request is gone. The middleware cannot hold the
    /// request, whose routing needs it for itself.
    known: Option<(Arc<dyn Record>, Seen)>,
}

impl Annotations {
    fn begin() -> Self {
        let annotated = Annotated {
            began: Instant::now(),
            is_watched: false,
            events: Vec::new(),
            known: None,
        };
        Self(Rc::new(RefCell::new(Some(annotated))))
    }

    /// Those of this request. They begin with its first [`annotate`] or its first middleware, whichever comes first.
    fn of(request: &HttpRequest) -> Self {
        request.extensions_mut().get_or_insert_with(Self::begin).clone()
    }

    /// `false` if another middleware records the events, or the request has ended.
    fn watch(&self) -> bool {
        let mut annotated = self.0.borrow_mut();
        annotated
            .as_mut()
            .is_some_and(|annotated| !std::mem::replace(&mut annotated.is_watched, true))
    }

    /// `false` if the request has ended.
    fn add(&self, request: &HttpRequest, event: EventBuilder) -> bool {
        // At the end the functions of the application are called again, and only then their errors counted.
        self.see(request, false);
        let mut annotated = self.0.borrow_mut();
        let Some(annotated) = annotated.as_mut() else {
            return false;
        };
        annotated.events.push(event);
        true
    }

    /// Notes the client and the request as they are now.
    fn see(&self, request: &HttpRequest, is_end: bool) {
        let Some(began) = self.0.borrow().as_ref().map(|annotated| annotated.began) else {
            return;
        };
        // Not borrowed: these are functions of the application.
        let known = request.app_data::<web::Data<Arc<dyn Record>>>().map(|audit| {
            let audit = Arc::clone(audit.get_ref());
            let seen = seen(is_end.then_some(&*audit), request, began);
            (audit, seen)
        });
        if let Some(annotated) = &mut *self.0.borrow_mut() {
            annotated.known = known;
        }
    }

    fn has_events(&self) -> bool {
        let annotated = self.0.borrow();
        annotated
            .as_ref()
            .is_some_and(|annotated| !annotated.events.is_empty())
    }

    /// Starts to record the events, once.
    fn end(&self, end: End) -> Option<JoinHandle<()>> {
        let mut annotated = self.0.take()?;
        let events = std::mem::take(&mut annotated.events);
        let Some((audit, seen)) = annotated.known.take() else {
            if !events.is_empty() {
                log::error!(
                    "{} events were not recorded: the application's data have no client",
                    events.len()
                );
            }
            return None;
        };
        let events = events_of(&*audit, &seen, end, events);
        start_recording(audit, events)
    }
}

impl Drop for Annotated {
    fn drop(&mut self) {
        if !self.is_watched {
            log::error!(
                "{} events were not recorded: annotate needs the middleware",
                self.events.len()
            );
        }
    }
}

/// Records the events of a handler that the server drops.
struct DropGuard(Annotations);

impl Drop for DropGuard {
    fn drop(&mut self) {
        drop(self.0.end(End::of_dropped()));
    }
}

/// Adds an event to what the middleware records: if this request succeeds, or under its [`EventBuilder::failed_action`] if it fails. It also calls
/// the functions of [`Identity`], for the case that the server drops the handler because its client has gone. A middleware that gets the request
/// before [`record`] may annotate it too.
pub fn annotate(request: &HttpRequest, event: impl Into<EventBuilder>) {
    if !Annotations::of(request).add(request, event.into()) {
        log::error!("an event was not recorded: annotate comes before the response");
    }
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

fn seen(audit: Option<&dyn Record>, request: &HttpRequest, began: Instant) -> Seen {
    let header = |name: &str| Some(request.headers().get(name)?.to_str().ok()?.to_owned());
    let identity = request.app_data::<web::Data<Identity>>();
    Seen {
        began,
        method: request.method().to_string(),
        route: request.match_pattern(),
        address: request.peer_addr().map(|address| address.ip()),
        user_agent: header("user-agent"),
        request_id: header("x-request-id"),
        // Counted as an event that is not recorded, unless the handler says the tenant.
        tenant_id: identity.and_then(|identity| given(None, "tenant", None, || (identity.tenant)(request))),
        actor: identity.and_then(|identity| {
            given(audit, "actor", Some(unknown_actor()), || {
                (identity.actor)(request)
            })
        }),
    }
}

/// The middleware, for `actix_web::middleware::from_fn`. It completes the events of the handler's [`annotate`] (tenant, actor, context,
/// and the method, route, status and duration in `metadata`), and records them before the response is sent, in a thread for blocking
/// work. An event that cannot be recorded is an error in the log; the response stays. When the server drops the handler, because its client has
/// gone, what it has annotated is recorded without a status, with `"aborted": true` in `metadata`. If it is registered more than once, the outermost
/// one records.
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
    let annotations = Annotations::of(request.request());
    if !annotations.watch() {
        return next.call(request).await;
    }
    let _guard = DropGuard(annotations.clone());
    match next.call(request).await {
        Ok(response) => {
            if annotations.has_events() {
                annotations.see(response.request(), true);
                finish(annotations.end(End::Responded(response.status().as_u16()))).await;
            }
            Ok(response)
        }
        Err(error) => {
            let status = error.as_response_error().status_code().as_u16();
            finish(annotations.end(End::Responded(status))).await;
            Err(error)
        }
    }
}
