//! The middleware records what `clients/conformance/tables/middleware.json` says.

use crate::tables::cases;
use audit_client::{ActorType, Category, EventBuilder, NewEvent, RecordedEvents};
#[cfg(feature = "actix")]
use audit_client::{Error, Record};
#[cfg(feature = "actix")]
use parking_lot::Mutex;
use serde_json::Value;
use std::net::{IpAddr, Ipv4Addr};
#[cfg(feature = "actix")]
use std::sync::mpsc::{Receiver, Sender, channel};

const LOCALHOST: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

fn text(value: &Value) -> String {
    value.as_str().expect("a text").to_owned()
}

fn actor_of(actor: &Value) -> Option<(String, ActorType)> {
    let kind = actor["type"].as_str()?.parse().expect("a kind");
    Some((text(&actor["id"]), kind))
}

fn throws(case: &Value, callback: &str) -> bool {
    let throwing = case["throws"].as_array();
    throwing.is_some_and(|throwing| throwing.iter().any(|name| name == callback))
}

/// A callback of the application, or one that panics.
fn callback<T>(case: &Value, name: &str, value: Option<T>) -> impl Fn() -> Option<T> + Send + Sync + use<T>
where
    T: Clone + Send + Sync,
{
    let throws = throws(case, name);
    move || {
        assert!(!throws, "the callback is broken");
        value.clone()
    }
}

/// The event that the handler of a case adds.
fn event_of(case: &Value) -> Option<EventBuilder> {
    let annotation = case["annotation"].as_object()?;
    let category: Category = text(&annotation["category"]).parse().expect("a category");
    let mut event = EventBuilder::of_request(text(&annotation["action"]), category);
    if let Some(action) = annotation.get("failed_action") {
        event = event.failed_action(text(action));
    }
    // No callback here: the handler gives the target itself.
    if let Some(kind) = annotation.get("target_type").filter(|_| !throws(case, "target")) {
        event = event.target("42", text(kind));
    }
    let adds = &case["adds"];
    if let Some((id, kind)) = actor_of(&adds["actor"]) {
        event = event.actor(id, kind);
    }
    if let Some(tenant_id) = adds["tenant_id"].as_str() {
        event = event.tenant_id(tenant_id);
    }
    if let Some(key) = adds["idempotency_key"].as_str() {
        event = event.idempotency_key(key);
    }
    for change in adds["changes"].as_array().into_iter().flatten() {
        event = event.change(
            text(&change["field"]),
            change["before"].clone(),
            change["after"].clone(),
        );
    }
    for (name, value) in adds["metadata"].as_object().into_iter().flatten() {
        event = event.metadata(name, value.clone());
    }
    if adds["metadata"].is_string() {
        event = with_metadata(event, &adds["metadata"]);
    }
    Some(event)
}

/// The event with metadata that an application's own type may have.
fn with_metadata(event: EventBuilder, metadata: &Value) -> EventBuilder {
    let event = event.tenant_id("acme").actor("user_1", ActorType::User).build();
    let mut event = event.expect("an event").as_object().clone();
    event.insert("metadata".to_owned(), metadata.clone());
    NewEvent::from_serialize(&event).expect("an object").into()
}

/// These tests abort no request, but drop its handler: the table has to say why.
fn assert_has_reason(case: &Value, framework: &str) {
    assert!(case["aborted"].is_null() || case["not_aborted_in"][framework].is_string());
    assert!(case["not_dropped_in"][framework].is_null());
}

/// Errors that are counted where the application has these callbacks.
fn errors_of(case: &Value, callbacks: &[&str]) -> u64 {
    let throwing = callbacks.iter().filter(|name| throws(case, name)).count() as u64;
    // A tenant that is not known is an error too.
    throwing + u64::from(case["expect"] == "reported")
}

/// Tells when an event is recorded, in whatever thread.
#[cfg(feature = "actix")]
struct Signalling {
    recorded: RecordedEvents,
    signal: Mutex<Sender<()>>,
}

#[cfg(feature = "actix")]
impl Signalling {
    fn of(recorded: &RecordedEvents) -> (Self, Receiver<()>) {
        let (signal, is_recorded) = channel();
        let signalling = Self {
            recorded: recorded.clone(),
            signal: Mutex::new(signal),
        };
        (signalling, is_recorded)
    }
}

#[cfg(feature = "actix")]
impl Record for Signalling {
    fn record(&self, event: NewEvent) -> Result<bool, Error> {
        let is_taken = self.recorded.record(event)?;
        self.signal.lock().send(()).expect("the test waits");
        Ok(is_taken)
    }

    fn note_middleware_error(&self) {
        self.recorded.note_middleware_error();
    }
}

fn status_of(case: &Value) -> u16 {
    let status = case["response"]["status"].as_u64().unwrap_or(500);
    status.try_into().expect("a status")
}

fn check(case: &Value, recorded: &RecordedEvents, callbacks: &[&str]) {
    let errors = recorded.middleware_errors();
    assert_eq!(errors, errors_of(case, callbacks), "{}", case["name"]);
    let mut events: Vec<Value> = recorded
        .events()
        .iter()
        .map(|event| event.as_object().clone().into())
        .collect();
    let expected: Vec<Value> = case["expect"]
        .is_object()
        .then(|| case["expect"].clone())
        .into_iter()
        .collect();
    for (event, wanted) in events.iter_mut().zip(&expected) {
        if wanted["metadata"]["duration_ms"] == true {
            assert!(event["metadata"]["duration_ms"].is_u64(), "{event}");
            event["metadata"]["duration_ms"] = true.into();
        }
    }
    assert_eq!(events, expected, "{}", case["name"]);
}

#[cfg(feature = "actix")]
mod actix {
    use super::{
        LOCALHOST, Signalling, actor_of, assert_has_reason, callback, cases, check, event_of, status_of,
        text, throws,
    };
    use actix_web::dev::Service;
    use actix_web::http::Method;
    use actix_web::middleware::from_fn;
    use actix_web::test::{TestRequest, call_service, init_service};
    use actix_web::{App, HttpRequest, HttpResponse, error, web};
    use audit_client::actix::{Identity, annotate, record};
    use audit_client::{Record, RecordedEvents};
    use serde_json::Value;
    use std::future::{Future, pending};
    use std::net::SocketAddr;
    use std::sync::Arc;
    use std::task::{Context, Waker};

    async fn handler(request: HttpRequest, case: web::Data<Value>) -> actix_web::Result<HttpResponse> {
        if let Some(event) = event_of(&case) {
            annotate(&request, event);
        }
        if case["dropped"] == true {
            pending::<()>().await;
        }
        if case["response"]["raises"] == true {
            return Err(error::ErrorInternalServerError("broken"));
        }
        let status = status_of(&case).try_into().expect("a status");
        Ok(HttpResponse::build(status).finish())
    }

    async fn run(case: &Value) -> RecordedEvents {
        let recorded = RecordedEvents::default();
        let (audit, is_recorded) = Signalling::of(&recorded);
        let audit: Arc<dyn Record> = Arc::new(audit);
        let tenant = callback(
            case,
            "tenant",
            case["settings"]["tenant_id"].as_str().map(str::to_owned),
        );
        let actor = callback(case, "actor", actor_of(&case["settings"]["actor"]));
        let identity = Identity::of_tenant(move |_| tenant()).and_actor(move |_| actor());
        let app = App::new()
            .app_data(web::Data::new(audit))
            .app_data(web::Data::new(identity))
            .app_data(web::Data::new(case.clone()))
            .wrap(from_fn(record))
            .service(web::scope("/invoices").route("/{id:[^/]+}", web::to(handler)));
        let app = init_service(app).await;
        let request = &case["request"];
        let method: Method = text(&request["method"]).parse().expect("a method");
        let mut sent = TestRequest::with_uri(request["path"].as_str().expect("a path")).method(method);
        // No callback here either.
        if !throws(case, "address") {
            sent = sent.peer_addr(SocketAddr::new(LOCALHOST, 1));
        }
        for (name, value) in request["headers"].as_object().expect("headers") {
            sent = sent.append_header((name.as_str(), text(value)));
        }
        let sent = sent.set_payload(request["body"].to_string()).to_request();
        if case["dropped"] == true {
            let mut handling = Box::pin(app.call(sent));
            let poll = handling.as_mut().poll(&mut Context::from_waker(Waker::noop()));
            assert!(poll.is_pending(), "the handler waits");
            recorded.assert_nothing_recorded();
            drop(handling);
            is_recorded.recv().expect("it is recorded");
            return recorded;
        }
        let response = call_service(&app, sent).await;
        assert_eq!(response.status().as_u16(), status_of(case), "the response stays");
        recorded
    }

    #[actix_web::test]
    async fn actix_records_what_the_table_says() {
        for case in cases("middleware.json") {
            assert_has_reason(&case, "actix");
            check(&case, &run(&case).await, &["actor"]);
        }
    }
}

#[cfg(feature = "tower")]
mod tower {
    use super::{LOCALHOST, actor_of, assert_has_reason, callback, cases, check, event_of, status_of, text};
    use audit_client::RecordedEvents;
    use audit_client::tower::{Annotations, AuditLayer};
    use serde_json::Value;
    use std::future::{Future, pending, ready};
    use std::pin::Pin;
    use std::sync::Arc;
    use std::task::{Context, Poll, Waker};
    use tower_layer::Layer;
    use tower_service::Service;
    use ureq::http::{Request, Response};

    struct Handler(Value);

    impl Service<Request<String>> for Handler {
        type Response = Response<()>;
        type Error = &'static str;
        type Future = Pin<Box<dyn Future<Output = Result<Response<()>, &'static str>> + Send>>;

        fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), &'static str>> {
            Poll::Ready(Ok(()))
        }

        fn call(&mut self, request: Request<String>) -> Self::Future {
            let annotations = request.extensions().get::<Annotations>().expect("the layer's");
            if let Some(event) = event_of(&self.0) {
                annotations.add(event);
            }
            if self.0["dropped"] == true {
                return Box::pin(pending());
            }
            if self.0["response"]["raises"] == true {
                return Box::pin(ready(Err("broken")));
            }
            let response = Response::builder().status(status_of(&self.0)).body(());
            Box::pin(ready(Ok(response.expect("a response"))))
        }
    }

    fn run(case: &Value) -> RecordedEvents {
        let recorded = RecordedEvents::default();
        let tenant = callback(
            case,
            "tenant",
            case["settings"]["tenant_id"].as_str().map(str::to_owned),
        );
        let actor = callback(case, "actor", actor_of(&case["settings"]["actor"]));
        let address = callback(case, "address", Some(LOCALHOST));
        let layer = AuditLayer::new(Arc::new(recorded.clone()))
            .tenant(move |_| tenant())
            .actor(move |_| actor())
            .route(|_| Some("/invoices/{id}".to_owned()))
            .address(move |_| address());
        let sent = &case["request"];
        let mut request = Request::builder()
            .method(sent["method"].as_str().expect("a method"))
            .uri(sent["path"].as_str().expect("a path"));
        for (name, value) in sent["headers"].as_object().expect("headers") {
            request = request.header(name, text(value));
        }
        let request = request.body(sent["body"].to_string()).expect("a request");
        let mut service = layer.layer(Handler(case.clone()));
        let mut response = service.call(request);
        let poll = response.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        if case["dropped"] == true {
            assert!(poll.is_pending(), "the handler waits");
            recorded.assert_nothing_recorded();
            drop(response);
            return recorded;
        }
        let Poll::Ready(response) = poll else {
            panic!("without a runtime it records in this thread");
        };
        let status = response.map_or(500, |response| response.status().as_u16());
        assert_eq!(status, status_of(case), "the response stays");
        recorded
    }

    #[test]
    fn tower_records_what_the_table_says() {
        for case in cases("middleware.json") {
            assert_has_reason(&case, "tower");
            check(&case, &run(&case), &["actor", "address"]);
        }
    }
}
