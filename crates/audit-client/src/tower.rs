//! For tower, and so for axum, tonic and hyper: a handler says what it does, and the layer records it with what it knows of the request.

use crate::double::Record;
use crate::event::EventBuilder;
use crate::middleware::{
    ActorOf, ERROR_STATUS, End, Seen, events_of, finish, given, start_recording, unknown_actor,
};
use audit_domain::ActorType;
use parking_lot::Mutex;
use std::fmt;
use std::future::Future;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Instant;
use tokio::task::JoinHandle;
use tower_layer::Layer;
use tower_service::Service;
use ureq::http::request::Parts;
use ureq::http::{Request, Response};

/// The events of one request, in its extensions. Clones share one list. With axum the argument
/// `Extension(annotations): Extension<Annotations>` of a handler is it.
#[derive(Clone, Debug, Default)]
pub struct Annotations(Arc<Mutex<Vec<EventBuilder>>>);

impl Annotations {
    /// Adds an event to what the layer records: if this request succeeds, or under its [`EventBuilder::failed_action`] if it fails.
    pub fn add(&self, event: impl Into<EventBuilder>) {
        self.0.lock().push(event.into());
    }

    fn take(&self) -> Vec<EventBuilder> {
        std::mem::take(&mut *self.0.lock())
    }
}

/// A function of the head of a request, before it is handled.
type Of<T> = Arc<dyn Fn(&Parts) -> Option<T> + Send + Sync>;

#[derive(Clone)]
struct Settings {
    audit: Arc<dyn Record>,
    tenant: Of<String>,
    actor: Of<ActorOf>,
    route: Of<String>,
    address: Of<IpAddr>,
}

impl Settings {
    fn see(&self, head: &Parts) -> Seen {
        let header = |name: &str| Some(head.headers.get(name)?.to_str().ok()?.to_owned());
        let audit = Some(&*self.audit);
        Seen {
            began: Instant::now(),
            method: head.method.to_string(),
            route: given(audit, "route", None, || (self.route)(head)),
            address: given(audit, "address", None, || (self.address)(head)),
            user_agent: header("user-agent"),
            request_id: header("x-request-id"),
            // Counted as an event that is not recorded, unless the handler says the tenant.
            tenant_id: given(None, "tenant", None, || (self.tenant)(head)),
            actor: given(audit, "actor", Some(unknown_actor()), || (self.actor)(head)),
        }
    }
}

/// The layer. It gives each request its [`Annotations`], completes what the handler adds (tenant, actor, context, and the method, route,
/// status and duration in `metadata`), and records it before the response is returned, in a thread for blocking work of the tokio
/// runtime. An event that cannot be recorded is an error in the log; the response stays. When the server drops the handler, because its client
/// has gone, what it has added is recorded without a status, with `"aborted": true` in `metadata`.
///
/// Its functions see the request as it comes to this layer: put the layer inside of the one that signs in.
///
/// ```
/// use audit_client::tower::{Annotations, AuditLayer};
/// use audit_client::{ActorType, Category, EventBuilder, RecordedEvents};
/// use std::sync::Arc;
///
/// // With axum: async fn delete_invoice(Extension(annotations): Extension<Annotations>) -> StatusCode
/// fn delete_invoice(annotations: &Annotations) {
///     let event = EventBuilder::of_request("invoice.deleted", Category::Mutation);
///     annotations.add(event.failed_action("invoice.delete_failed").target("invoice_7", "invoice"));
/// }
///
/// // With axum: Router::new().route("/invoices/{id}", delete(delete_invoice)).layer(layer)
/// let layer = AuditLayer::new(Arc::new(RecordedEvents::default()))
///     .tenant(|_| Some("acme".to_owned()))
///     .actor(|_| Some(("user_1".to_owned(), ActorType::User)));
/// ```
#[derive(Clone)]
pub struct AuditLayer(Settings);

impl AuditLayer {
    /// A layer that records with this client.
    pub fn new(audit: Arc<dyn Record>) -> Self {
        Self(Settings {
            audit,
            tenant: Arc::new(|_| None),
            actor: Arc::new(|_| None),
            route: Arc::new(|_| None),
            address: Arc::new(|_| None),
        })
    }

    /// The tenant of an event whose handler says none. Without one it is not recorded, which is an error in the log.
    #[must_use]
    pub fn tenant(mut self, of: impl Fn(&Parts) -> Option<String> + Send + Sync + 'static) -> Self {
        self.0.tenant = Arc::new(of);
        self
    }

    /// The id and kind of the actor of an event whose handler says none. Without one it is `anonymous`.
    #[must_use]
    pub fn actor(
        mut self,
        of: impl Fn(&Parts) -> Option<(String, ActorType)> + Send + Sync + 'static,
    ) -> Self {
        self.0.actor = Arc::new(of);
        self
    }

    /// The template of the path, such as `/invoices/{id}`. With axum the text of its `MatchedPath` in the extensions.
    #[must_use]
    pub fn route(mut self, of: impl Fn(&Parts) -> Option<String> + Send + Sync + 'static) -> Self {
        self.0.route = Arc::new(of);
        self
    }

    /// The address of the client. With axum that of its `ConnectInfo` in the extensions.
    #[must_use]
    pub fn address(mut self, of: impl Fn(&Parts) -> Option<IpAddr> + Send + Sync + 'static) -> Self {
        self.0.address = Arc::new(of);
        self
    }
}

impl fmt::Debug for AuditLayer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("AuditLayer").finish_non_exhaustive()
    }
}

impl<S> Layer<S> for AuditLayer {
    type Service = AuditService<S>;

    fn layer(&self, inner: S) -> AuditService<S> {
        AuditService {
            inner,
            settings: self.0.clone(),
        }
    }
}

/// A service with an [`AuditLayer`].
#[derive(Clone)]
pub struct AuditService<S> {
    inner: S,
    settings: Settings,
}

impl<S> fmt::Debug for AuditService<S> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("AuditService").finish_non_exhaustive()
    }
}

impl<S, RequestBody, ResponseBody> Service<Request<RequestBody>> for AuditService<S>
where
    S: Service<Request<RequestBody>, Response = Response<ResponseBody>>,
    S::Future: Send + 'static,
    S::Error: Send,
    ResponseBody: Send,
{
    type Response = S::Response;
    type Error = S::Error;
    type Future = Pin<Box<dyn Future<Output = Result<S::Response, S::Error>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: Request<RequestBody>) -> Self::Future {
        let annotations = Annotations::default();
        let (mut head, body) = request.into_parts();
        let seen = self.settings.see(&head);
        head.extensions.insert(annotations.clone());
        let response = self.inner.call(Request::from_parts(head, body));
        let mut unanswered = Unanswered(Some(Annotated {
            audit: Arc::clone(&self.settings.audit),
            seen,
            annotations,
        }));
        Box::pin(async move {
            let response = response.await;
            let status = response
                .as_ref()
                .map_or(ERROR_STATUS, |response| response.status().as_u16());
            finish(unanswered.end(End::Responded(status))).await;
            response
        })
    }
}

struct Annotated {
    audit: Arc<dyn Record>,
    seen: Seen,
    annotations: Annotations,
}

/// A request whose handler has not responded. If the server drops it, because its client has gone, its events are recorded then.
struct Unanswered(Option<Annotated>);

impl Unanswered {
    /// Starts to record the events, once.
    fn end(&mut self, end: End) -> Option<JoinHandle<()>> {
        let annotated = self.0.take()?;
        let events = events_of(
            &*annotated.audit,
            &annotated.seen,
            end,
            annotated.annotations.take(),
        );
        start_recording(annotated.audit, events)
    }
}

impl Drop for Unanswered {
    fn drop(&mut self) {
        drop(self.end(End::of_dropped()));
    }
}
