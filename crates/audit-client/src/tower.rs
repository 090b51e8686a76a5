//! For tower, and so for axum, tonic and hyper: a handler says what happened, and the layer records it when the request has succeeded.

use crate::double::Record;
use crate::event::NewEvent;
use crate::middleware::record_all;
use parking_lot::Mutex;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio::runtime::Handle;
use tower_layer::Layer;
use tower_service::Service;
use ureq::http::{Request, Response};

/// The events of one request, in its extensions. Clones share one list. With axum the argument
/// `Extension(annotations): Extension<Annotations>` of a handler is it.
#[derive(Clone, Debug, Default)]
pub struct Annotations(Arc<Mutex<Vec<NewEvent>>>);

impl Annotations {
    /// Adds an event to what the layer records if this request succeeds.
    pub fn add(&self, event: NewEvent) {
        self.0.lock().push(event);
    }

    fn take(&self) -> Vec<NewEvent> {
        std::mem::take(&mut *self.0.lock())
    }
}

/// The layer. It gives each request its [`Annotations`], and records them before a response with a status below 400 is returned, in a
/// thread for blocking work of the tokio runtime. An event that cannot be recorded is an error in the log; the response stays.
///
/// ```
/// use audit_client::tower::{Annotations, AuditLayer};
/// use audit_client::{ActorType, Category, NewEvent, RecordedEvents};
/// use std::sync::Arc;
///
/// // With axum: async fn delete_invoice(Extension(annotations): Extension<Annotations>) -> StatusCode
/// fn delete_invoice(annotations: &Annotations) -> Result<(), audit_client::Error> {
///     let event = NewEvent::builder("invoice.deleted", Category::Mutation, "acme", ("user_1", ActorType::User));
///     annotations.add(event.target("invoice_7", "invoice").build()?);
///     Ok(())
/// }
///
/// // With axum: Router::new().route("/invoices/{id}", delete(delete_invoice)).layer(layer)
/// let layer = AuditLayer::new(Arc::new(RecordedEvents::default()));
/// ```
#[derive(Clone)]
pub struct AuditLayer {
    audit: Arc<dyn Record>,
}

impl AuditLayer {
    /// A layer that records with this client.
    pub fn new(audit: Arc<dyn Record>) -> Self {
        Self { audit }
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
            audit: Arc::clone(&self.audit),
        }
    }
}

/// A service with an [`AuditLayer`].
#[derive(Clone)]
pub struct AuditService<S> {
    inner: S,
    audit: Arc<dyn Record>,
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

    fn call(&mut self, mut request: Request<RequestBody>) -> Self::Future {
        let annotations = Annotations::default();
        request.extensions_mut().insert(annotations.clone());
        let response = self.inner.call(request);
        let audit = Arc::clone(&self.audit);
        Box::pin(async move {
            let response = response.await?;
            let status = response.status();
            let events = annotations.take();
            if !events.is_empty() && !status.is_client_error() && !status.is_server_error() {
                record(audit, events).await;
            }
            Ok(response)
        })
    }
}

/// Records the events. When this future is dropped after its first poll, because the client of the request has gone, they are recorded too.
async fn record(audit: Arc<dyn Record>, events: Vec<NewEvent>) {
    match Handle::try_current() {
        Ok(runtime) => {
            #[expect(clippy::disallowed_methods, reason = "a thread of the application")]
            let recording = runtime.spawn_blocking(move || record_all(&*audit, events));
            if recording.await.is_err() {
                log::error!("events were not recorded: recording panicked, or the runtime ended");
            }
        }
        // Another runtime: its thread waits for the disk, if the client has a spool.
        Err(_) => record_all(&*audit, events),
    }
}
