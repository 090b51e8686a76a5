//! The awaitable flush.

use crate::service::Service;
use audit_client::{ActorType, Category, Client, NewEvent};
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::Thread;
use std::time::Duration;

/// Runs a future in this thread, which sleeps until it is woken.
struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    let waker = Waker::from(Arc::new(Unpark(std::thread::current())));
    loop {
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(result) => return result,
            Poll::Pending => std::thread::park(),
        }
    }
}

fn event() -> NewEvent {
    let event = NewEvent::builder(
        "invoice.updated",
        Category::Mutation,
        "acme",
        ("u1", ActorType::User),
    );
    event.metadata("n", 1).build().expect("a valid event")
}

#[test]
fn events_are_stored_when_the_future_is_ready() {
    let service = Service::start();
    let client = Client::builder(&service.base_url)
        .api_key("pk_test")
        .build()
        .expect("a client");
    assert!(block_on(client.flushed()), "there is nothing to wait for");
    client.record(event()).expect("recorded");
    assert!(block_on(client.flushed()));
    assert_eq!(service.numbers(), [1]);
}

#[test]
fn a_client_that_is_closed_ends_the_wait() {
    // It accepts connections and does not respond.
    let silent = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}", silent.local_addr().expect("an address"));
    let builder = Client::builder(url)
        .api_key("pk_test")
        .timeout(Duration::from_millis(200));
    let client = builder.build().expect("a client");
    client.record(event()).expect("recorded");
    let flushed = client.flushed();
    let waiting = std::thread::spawn(move || block_on(flushed));
    assert!(!client.close(Duration::ZERO));
    assert!(!waiting.join().expect("no panic"), "the event was not sent");
}
