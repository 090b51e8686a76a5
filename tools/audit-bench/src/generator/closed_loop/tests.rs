use super::*;
use crate::workload::{BodyOptions, RunTimes};
use std::collections::BTreeSet;
use std::net::{SocketAddr, TcpListener};

const HEALTHY: &str = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}";
const STORED: &str = "HTTP/1.1 201 Created\r\ncontent-length: 17\r\n\r\n{\"ids\":[\"evt_1\"]}";
const STORED_NOTHING: &str = "HTTP/1.1 201 Created\r\ncontent-length: 10\r\n\r\n{\"ids\":[]}";
const REFUSED: &str = "HTTP/1.1 503 Service Unavailable\r\ncontent-length: 2\r\n\r\n{}";
const FAILED: &str = "HTTP/1.1 500 Internal Server Error\r\ncontent-length: 2\r\n\r\n{}";

/// A server that gives each connection these responses in turn: repeatedly, or once before it closes the connection.
fn server(responses: &'static [&'static str], then_close: bool) -> SocketAddr {
    slow_server(responses, then_close, Duration::ZERO)
}

/// The same, each response after `work`.
fn slow_server(responses: &'static [&'static str], then_close: bool, work: Duration) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            std::thread::spawn(move || {
                let mut turns =
                    responses
                        .iter()
                        .cycle()
                        .take(if then_close { responses.len() } else { usize::MAX });
                let mut buffer = [0; READ_BYTES];
                // A request of these tests arrives in one piece.
                while stream.read(&mut buffer).is_ok_and(|bytes| bytes > 0) {
                    let Some(response) = turns.next() else { return };
                    std::thread::sleep(work);
                    if stream.write_all(response.as_bytes()).is_err() {
                        return;
                    }
                }
            });
        }
    });
    address
}

fn job(address: SocketAddr, traffic: Traffic, end: End) -> ClosedLoopJob {
    ClosedLoopJob {
        addresses: vec![address],
        project_keys: vec!["pk_live_0".to_owned()],
        connections: 3,
        interval_ns: None,
        traffic,
        end,
        window_events: None,
        counts_errors: false,
    }
}

fn single_events() -> Traffic {
    Traffic::Events(BodyOptions {
        batch: 1,
        first_number: 100,
        times: RunTimes { began_ms: 0 },
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
    let report = run(&job(server(&[HEALTHY], false), Traffic::Health, SHORT)).unwrap();
    assert!(report.requests > 0 && report.events == 0, "{report:?}");
    assert!(report.seconds > 0.0 && report.seconds <= 0.4, "{report:?}");
    assert!(report.latency.p99_us >= report.latency.p50_us);
}

#[test]
fn the_job_sets_the_number_of_events() {
    let mut job = job(server(&[STORED], false), single_events(), End::AfterEvents(50));
    job.window_events = Some(20);
    let report = run(&job).unwrap();
    assert_eq!(
        (report.events, report.events_stored, report.requests),
        (50, 50, 50)
    );
    assert_eq!(report.next_number, 150);
    let windows: Vec<u64> = report.windows.iter().map(|window| window.events).collect();
    assert_eq!(windows, [20, 40]);
}

#[test]
fn with_an_interval_requests_start_when_they_are_due() {
    let mut job = job(server(&[STORED], false), single_events(), End::AfterEvents(41));
    job.interval_ns = Some(5_000_000);
    let began = Instant::now();
    let report = run(&job).unwrap();
    assert_eq!(report.events_stored, 41);
    assert!(began.elapsed() >= Duration::from_millis(200), "{report:?}");
}

#[test]
fn a_request_that_no_connection_could_send_in_time_counts_from_when_it_was_due() {
    // Ten requests are due at once, so one of the three connections sends four of them, one after another.
    let work = Duration::from_millis(50);
    let address = slow_server(&[STORED], false, work);
    let mut job = job(address, single_events(), End::AfterEvents(10));
    job.interval_ns = Some(1);
    let report = run(&job).unwrap();
    assert!(
        u128::from(report.latency.max_us) >= 4 * work.as_micros(),
        "{report:?}"
    );
}

#[test]
fn refused_requests_count_as_errors_and_store_no_events() {
    let address = server(&[STORED, REFUSED], false);
    let report = run(&job(address, single_events(), End::AfterEvents(60))).unwrap();
    assert!(
        report.errors[&503] > 0 && report.events == report.requests,
        "{report:?}"
    );
}

#[test]
fn an_unexpected_response_fails_the_job() {
    for responses in [&[FAILED][..], &[STORED_NOTHING]] {
        let outcome = run(&job(
            server(responses, false),
            single_events(),
            End::AfterEvents(60),
        ));
        assert!(outcome.is_err(), "{responses:?}");
    }
}

#[test]
fn under_overload_errors_are_counted_by_status() {
    let address = server(&[STORED, REFUSED, FAILED], false);
    let mut job = job(address, single_events(), End::AfterEvents(60));
    job.counts_errors = true;
    let report = run(&job).unwrap();
    assert_eq!(report.errors.keys().collect::<Vec<_>>(), [&500, &503]);
}

#[test]
fn the_service_may_close_connections_under_overload_only() {
    let mut job = job(server(&[STORED], true), single_events(), End::AfterEvents(60));
    assert!(run(&job).is_err());
    job.counts_errors = true;
    let report = run(&job).unwrap();
    assert!(report.closed_connections > 0 && report.events > 0, "{report:?}");
}

#[test]
fn connections_are_distributed_over_the_nodes_and_requests_over_the_keys() {
    let (sender, received) = std::sync::mpsc::channel();
    let node = |sender: std::sync::mpsc::Sender<(SocketAddr, String)>| {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let (mut stream, sender) = (stream.unwrap(), sender.clone());
                std::thread::spawn(move || {
                    let mut buffer = [0; READ_BYTES];
                    while let Ok(bytes @ 1..) = stream.read(&mut buffer) {
                        let request = String::from_utf8_lossy(&buffer[..bytes]).into_owned();
                        let (_, key) = request.split_once("Bearer ").unwrap();
                        sender.send((address, key[..1].to_owned())).unwrap();
                        stream.write_all(STORED.as_bytes()).unwrap();
                    }
                });
            }
        });
        address
    };
    let addresses = vec![node(sender.clone()), node(sender)];
    let mut job = job(addresses[0], single_events(), End::AfterEvents(200));
    job.addresses = addresses.clone();
    job.project_keys = ["a", "b"].map(str::to_owned).into();
    run(&job).unwrap();
    let (nodes, keys): (BTreeSet<SocketAddr>, BTreeSet<String>) = received.try_iter().unzip();
    assert_eq!(nodes, addresses.into_iter().collect());
    assert_eq!(keys, ["a", "b"].map(str::to_owned).into());
}
