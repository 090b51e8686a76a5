use super::*;
use crate::workload::{BodyOptions, Epoch};
use std::net::{SocketAddr, TcpListener};

const HEALTHY: &str = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}";
const STORED: &str = "HTTP/1.1 201 Created\r\ncontent-length: 17\r\n\r\n{\"ids\":[\"evt_1\"]}";
const STORED_NOTHING: &str = "HTTP/1.1 201 Created\r\ncontent-length: 10\r\n\r\n{\"ids\":[]}";
const REFUSED: &str = "HTTP/1.1 503 Service Unavailable\r\ncontent-length: 2\r\n\r\n{}";
const FAILED: &str = "HTTP/1.1 500 Internal Server Error\r\ncontent-length: 2\r\n\r\n{}";

/// A server that answers the requests of each connection with these answers in turn, and then hangs up if it is told to.
fn server(answers: &'static [&'static str], then_hang_up: bool) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            std::thread::spawn(move || {
                let mut turns =
                    answers
                        .iter()
                        .cycle()
                        .take(if then_hang_up { answers.len() } else { usize::MAX });
                let mut buffer = [0; READ_BYTES];
                // A request here is small enough to arrive in one piece.
                while stream.read(&mut buffer).is_ok_and(|bytes| bytes > 0) {
                    let Some(answer) = turns.next() else { return };
                    if stream.write_all(answer.as_bytes()).is_err() {
                        return;
                    }
                }
            });
        }
    });
    address
}

fn order(address: SocketAddr, traffic: Traffic, end: End) -> FloodOrder {
    FloodOrder {
        address,
        project_key: "pk_live_0".to_owned(),
        connections: 3,
        traffic,
        end,
        window_events: None,
        is_overload: false,
    }
}

fn single_events() -> Traffic {
    Traffic::Events(BodyOptions {
        batch: 1,
        first_number: 100,
        epoch: Epoch { began_ms: 0 },
        has_rare: false,
        has_imports: false,
        padding_bytes: 0,
    })
}

const SHORT: End = End::AfterMs {
    warm_up_ms: 20,
    measured_ms: 400,
};

#[test]
fn requests_are_counted_in_the_measured_time() {
    let report = flood(&order(server(&[HEALTHY], false), Traffic::Health, SHORT)).unwrap();
    assert!(report.requests > 0 && report.events == 0, "{report:?}");
    assert!(report.seconds > 0.0 && report.seconds <= 0.4, "{report:?}");
    assert!(report.latency.p99_us >= report.latency.p50_us);
}

#[test]
fn as_many_events_are_sent_as_were_ordered() {
    let mut order = order(server(&[STORED], false), single_events(), End::AfterEvents(50));
    order.window_events = Some(20);
    let report = flood(&order).unwrap();
    assert_eq!(
        (report.events, report.events_stored, report.requests),
        (50, 50, 50)
    );
    assert_eq!(report.next_number, 150);
    let windows: Vec<u64> = report.windows.iter().map(|window| window.events).collect();
    assert_eq!(windows, [20, 40]);
}

#[test]
fn refusals_are_counted_and_are_no_events() {
    let address = server(&[STORED, REFUSED], false);
    let report = flood(&order(address, single_events(), End::AfterEvents(60))).unwrap();
    assert!(
        report.refused[&503] > 0 && report.events == report.requests,
        "{report:?}"
    );
}

#[test]
fn an_answer_that_should_not_be_ends_the_flood() {
    for answers in [&[FAILED][..], &[STORED_NOTHING]] {
        let refused = flood(&order(
            server(answers, false),
            single_events(),
            End::AfterEvents(60),
        ));
        assert!(refused.is_err(), "{answers:?}");
    }
}

#[test]
fn under_overload_every_refusal_is_counted_by_its_status() {
    let address = server(&[STORED, REFUSED, FAILED], false);
    let mut order = order(address, single_events(), End::AfterEvents(60));
    order.is_overload = true;
    let report = flood(&order).unwrap();
    assert_eq!(report.refused.keys().collect::<Vec<_>>(), [&500, &503]);
}

#[test]
fn only_under_overload_the_service_may_hang_up() {
    let mut order = order(server(&[STORED], true), single_events(), End::AfterEvents(60));
    assert!(flood(&order).is_err());
    order.is_overload = true;
    let report = flood(&order).unwrap();
    assert!(report.broken > 0 && report.events > 0, "{report:?}");
}
