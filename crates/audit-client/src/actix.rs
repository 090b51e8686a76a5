//! For actix-web: a handler says what happened, and the middleware records it when the request has succeeded.

use crate::double::Record;
use crate::event::NewEvent;
use crate::middleware::record_all;
use actix_web::body::MessageBody;
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::middleware::Next;
use actix_web::{HttpMessage, HttpRequest, web};
use std::sync::Arc;

/// The events of a request.
#[derive(Default)]
struct Annotations(Vec<NewEvent>);

/// Adds an event to what the middleware records if this request succeeds.
pub fn annotate(request: &HttpRequest, event: NewEvent) {
    let mut extensions = request.extensions_mut();
    if let Some(Annotations(events)) = extensions.get_mut() {
        events.push(event);
        return;
    }
    extensions.insert(Annotations(vec![event]));
}

/// The middleware, for `actix_web::middleware::from_fn`. It records the events of the handler's [`annotate`] before a response with a status
/// below 400 is sent, in a thread for blocking work. An event that cannot be recorded is an error in the log; the response stays.
///
/// The application's data have to have the client, as `web::Data<Arc<dyn Record>>`.
///
/// ```
/// use actix_web::{App, HttpRequest, HttpResponse, middleware::from_fn, web};
/// use audit_client::actix::{annotate, record};
/// use audit_client::{ActorType, Category, NewEvent, Record, RecordedEvents};
/// use std::sync::Arc;
///
/// async fn delete_invoice(request: HttpRequest) -> Result<HttpResponse, Box<dyn std::error::Error>> {
///     let event = NewEvent::builder("invoice.deleted", Category::Mutation, "acme", ("user_1", ActorType::User));
///     annotate(&request, event.target("invoice_7", "invoice").build()?);
///     Ok(HttpResponse::NoContent().finish())
/// }
///
/// let audit: Arc<dyn Record> = Arc::new(RecordedEvents::default());
/// let app = App::new()
///     .app_data(web::Data::new(audit))
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
    let response = next.call(request).await?;
    let status = response.status();
    let annotations = response.request().extensions_mut().remove::<Annotations>();
    let Some(Annotations(events)) =
        annotations.filter(|_| !status.is_client_error() && !status.is_server_error())
    else {
        return Ok(response);
    };
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
