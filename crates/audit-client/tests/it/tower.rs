//! The layer for tower records what handlers say, if their requests succeed.

use audit_client::tower::{Annotations, AuditLayer};
use audit_client::{ActorType, Category, Error, EventBuilder, NewEvent, Record, RecordedEvents};
use parking_lot::Mutex;
use std::convert::Infallible;
use std::future::{Future, Ready, ready};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::task::{Context, Poll, Waker};
use tower_layer::Layer;
use tower_service::Service;
use ureq::http::{Request, Response};

fn event() -> NewEvent {
    let event = NewEvent::builder(
        "invoice.deleted",
        Category::Mutation,
        "acme",
        ("u1", ActorType::User),
    );
    event.build().expect("a valid event")
}

/// Responds with a status, after it has said what happened.
#[derive(Clone)]
struct Handler {
    status: u16,
    events: usize,
}

impl Service<Request<()>> for Handler {
    type Response = Response<()>;
    type Error = Infallible;
    type Future = Ready<Result<Response<()>, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<()>) -> Self::Future {
        let annotations = request.extensions().get::<Annotations>().expect("the layer's");
        (0..self.events).for_each(|_| annotations.add(event()));
        let response = Response::builder().status(self.status).body(());
        ready(Ok(response.expect("a response")))
    }
}

type Responding = Pin<Box<dyn Future<Output = Result<Response<()>, Infallible>> + Send>>;

fn respond(audit: Arc<dyn Record>, status: u16, events: usize) -> Responding {
    let mut service = AuditLayer::new(audit).layer(Handler { status, events });
    service.call(Request::new(()))
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread()
        .build()
        .expect("a runtime")
}

/// The number of events after a request.
fn recorded_by(status: u16, count: usize) -> usize {
    let events = RecordedEvents::default();
    let response = runtime().block_on(respond(Arc::new(events.clone()), status, count));
    assert_eq!(response.expect("a response").status(), status);
    events.events().len()
}

#[test]
fn the_events_of_a_successful_request_are_recorded_before_its_response() {
    for (status, count) in [(200, 1), (303, 2), (204, 0)] {
        assert_eq!(recorded_by(status, count), count, "{status}");
    }
}

#[test]
fn those_of_another_request_are_not() {
    for status in [400, 403, 500] {
        assert_eq!(recorded_by(status, 1), 0, "{status}");
    }
}

#[test]
fn without_a_tokio_runtime_they_are_recorded_too() {
    let events = RecordedEvents::default();
    let mut response = respond(Arc::new(events.clone()), 200, 2);
    let poll = response.as_mut().poll(&mut Context::from_waker(Waker::noop()));
    assert!(matches!(poll, Poll::Ready(Ok(_))));
    assert_eq!(events.events().len(), 2);
}

/// A client that waits until it may record, and says when it has.
struct Slow {
    may_record: Mutex<Receiver<()>>,
    recorded: Mutex<Sender<NewEvent>>,
}

impl Record for Slow {
    fn record(&self, event: NewEvent) -> Result<bool, Error> {
        self.may_record.lock().recv().expect("the test allows it");
        self.recorded.lock().send(event).expect("the test waits");
        Ok(true)
    }
}

#[test]
fn a_client_that_disconnects_after_its_request_was_handled_does_not_prevent_the_record() {
    let (allow, may_record) = channel();
    let (recorded, events) = channel();
    let audit = Arc::new(Slow {
        may_record: Mutex::new(may_record),
        recorded: Mutex::new(recorded),
    });
    let runtime = runtime();
    let mut response = respond(audit, 200, 1);
    let poll = {
        let _context = runtime.enter();
        response.as_mut().poll(&mut Context::from_waker(Waker::noop()))
    };
    assert!(poll.is_pending(), "it records before it responds");
    drop(response);
    allow.send(()).expect("the client waits");
    let recorded = events.recv().expect("recorded");
    assert_eq!(recorded.as_object()["action"], event().as_object()["action"]);
}

#[test]
fn a_handler_that_is_dropped_in_a_runtime_is_recorded_by_another_thread() {
    let (allow, may_record) = channel();
    let (recorded, events) = channel();
    let audit = Arc::new(Slow {
        may_record: Mutex::new(may_record),
        recorded: Mutex::new(recorded),
    });
    let runtime = runtime();
    let response = respond(audit, 200, 1);
    {
        let _context = runtime.enter();
        // Not even once polled: the handler has said in its call what it does.
        drop(response);
    }
    allow.send(()).expect("the client waits");
    let recorded = events.recv().expect("recorded");
    assert_eq!(recorded.as_object()["metadata"]["aborted"], true);
    assert!(!recorded.as_object().contains_key("outcome"));
}

#[test]
fn a_handler_that_panics_has_failed() {
    let events = RecordedEvents::default();
    let mut service = AuditLayer::new(Arc::new(events.clone())).layer(Panicking);
    let mut response = service.call(Request::new(()));
    let polled = catch_unwind(AssertUnwindSafe(|| {
        drop(response.as_mut().poll(&mut Context::from_waker(Waker::noop())));
    }));
    assert!(polled.is_err());
    let event = events.assert_recorded(&[("action", "invoice.delete_failed"), ("outcome", "failure")]);
    assert_eq!(event.as_object()["metadata"]["status"], 500);
}

struct Panicking;

impl Service<Request<()>> for Panicking {
    type Response = Response<()>;
    type Error = Infallible;
    type Future = Responding;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<()>) -> Self::Future {
        let annotations = request.extensions().get::<Annotations>().expect("the layer's");
        annotations.add(EventBuilder::from(event()).failed_action("invoice.delete_failed"));
        Box::pin(async { panic!("the handler is broken") })
    }
}
