//! The middleware for actix-web records what handlers say, if their requests succeed.

use actix_web::body::BoxBody;
use actix_web::dev::{Service, ServiceRequest, ServiceResponse};
use actix_web::error::ErrorForbidden;
use actix_web::middleware::{Next, from_fn};
use actix_web::test::{TestRequest, call_service, init_service};
use actix_web::{App, HttpRequest, HttpResponse, web};
use audit_client::actix::{annotate, record};
use audit_client::{ActorType, Category, EventBuilder, NewEvent, Record, RecordedEvents};
use std::sync::Arc;

/// Responds with the status in the path, after it has said what happened, once or twice.
async fn handler(request: HttpRequest, path: web::Path<(u16, u16)>) -> HttpResponse {
    let (status, count) = path.into_inner();
    for number in 0..count {
        let event = NewEvent::builder(
            "invoice.deleted",
            Category::Mutation,
            "acme",
            ("u1", ActorType::User),
        );
        annotate(
            &request,
            event.metadata("n", number).build().expect("a valid event"),
        );
    }
    HttpResponse::build(status.try_into().expect("a status")).finish()
}

/// The number of events after a request.
async fn recorded_by(path: &str) -> usize {
    let events = RecordedEvents::default();
    let audit: Arc<dyn Record> = Arc::new(events.clone());
    let app = App::new()
        .app_data(web::Data::new(audit))
        .wrap(from_fn(record))
        .route("/{status}/{count}", web::get().to(handler));
    let app = init_service(app).await;
    call_service(&app, TestRequest::get().uri(path).to_request()).await;
    events.events().len()
}

#[actix_web::test]
async fn the_events_of_a_successful_request_are_recorded_before_its_response() {
    assert_eq!(recorded_by("/200/1").await, 1);
    assert_eq!(recorded_by("/303/2").await, 2);
    assert_eq!(recorded_by("/204/0").await, 0);
}

#[actix_web::test]
async fn those_of_another_request_are_not() {
    for path in ["/400/1", "/403/1", "/500/1"] {
        assert_eq!(recorded_by(path).await, 0, "{path}");
    }
}

#[actix_web::test]
async fn an_error_of_a_middleware_within_is_the_end_of_the_request() {
    let events = RecordedEvents::default();
    let audit: Arc<dyn Record> = Arc::new(events.clone());
    let app = App::new()
        .app_data(web::Data::new(audit))
        .wrap(from_fn(
            async |request: ServiceRequest,
                   next: Next<BoxBody>|
                   -> Result<ServiceResponse, actix_web::Error> {
                next.call(request).await?;
                Err(ErrorForbidden("too late"))
            },
        ))
        .wrap(from_fn(record))
        .route("/", web::get().to(failing));
    let app = init_service(app).await;
    let request = TestRequest::get().uri("/").to_request();
    assert!(app.call(request).await.is_err());
    events.assert_recorded(&[("action", "invoice.delete_failed"), ("outcome", "denied")]);
}

type Handled = Result<ServiceResponse, actix_web::Error>;

fn of_middleware(action: &str) -> EventBuilder {
    EventBuilder::of_request(action, Category::Mutation).tenant_id("acme")
}

async fn annotates_first(request: ServiceRequest, next: Next<BoxBody>) -> Handled {
    annotate(request.request(), of_middleware("request.authenticated"));
    next.call(request).await
}

async fn annotates_last(request: ServiceRequest, next: Next<BoxBody>) -> Handled {
    let response = next.call(request).await?;
    annotate(response.request(), of_middleware("request.billed"));
    Ok(response)
}

#[actix_web::test]
async fn what_a_middleware_outside_annotates_is_recorded() {
    let events = RecordedEvents::default();
    let audit: Arc<dyn Record> = Arc::new(events.clone());
    let app = App::new()
        .app_data(web::Data::new(audit))
        .wrap(from_fn(record))
        .wrap(from_fn(annotates_first))
        .route("/{status}/{count}", web::get().to(handler));
    let app = init_service(app).await;
    call_service(&app, TestRequest::get().uri("/200/1").to_request()).await;
    assert_eq!(events.events().len(), 2);
    events.assert_recorded(&[("action", "request.authenticated"), ("outcome", "success")]);
}

#[actix_web::test]
async fn two_registrations_record_each_event_once() {
    let events = RecordedEvents::default();
    let audit: Arc<dyn Record> = Arc::new(events.clone());
    let app = App::new()
        .app_data(web::Data::new(audit))
        .wrap(from_fn(record))
        .wrap(from_fn(annotates_first))
        .wrap(from_fn(annotates_last))
        .wrap(from_fn(record))
        .route("/{status}/{count}", web::get().to(handler));
    let app = init_service(app).await;
    call_service(&app, TestRequest::get().uri("/200/1").to_request()).await;
    assert_eq!(events.events().len(), 3);
    for action in ["request.authenticated", "invoice.deleted", "request.billed"] {
        events.assert_recorded(&[("action", action)]);
    }
}

async fn failing(request: HttpRequest) -> HttpResponse {
    let event = EventBuilder::of_request("invoice.deleted", Category::Mutation).tenant_id("acme");
    annotate(&request, event.failed_action("invoice.delete_failed"));
    HttpResponse::Ok().finish()
}

#[actix_web::test]
async fn a_response_does_not_depend_on_the_client() {
    let app = App::new()
        .wrap(from_fn(record))
        .route("/{status}/{count}", web::get().to(handler));
    let app = init_service(app).await;
    let response = call_service(&app, TestRequest::get().uri("/200/1").to_request()).await;
    assert_eq!(response.status(), 200);
}
