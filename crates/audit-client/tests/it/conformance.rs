//! The cases of `clients/conformance`: what a client does when the service refuses, delays, breaks the connection or sends
//! nonsense. `clients/conformance/README.md` describes the protocol.

use crate::kit::{self, Server};
use audit_client::{Client, ClientBuilder, Error, NewEvent, Overflow, RetryPolicy, Spool};
use parking_lot::Mutex;
use serde_json::{Value, json};
use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

const SECONDS_MAX: u64 = 60;
/// How many cases run at once.
const THREADS: usize = 4;

/// What the client reports, in the form of the kit.
#[derive(Default)]
struct Outcome {
    stored: Vec<String>,
    errors: Vec<Value>,
    dropped: u64,
    raised: u64,
    pending: u64,
    flushes: Vec<bool>,
}

impl Outcome {
    fn add(&mut self, result: Result<String, Error>) {
        match result {
            Ok(id) => self.stored.push(id),
            Err(error) => self
                .errors
                .push(json!({"status": error.status(), "code": error.code()})),
        }
    }

    fn client_ended(&mut self, client: &Client) {
        let stats = client.stats();
        self.dropped += stats.dropped;
        self.pending = stats.pending;
    }

    fn to_json(&self) -> Value {
        json!({
            "stored": self.stored, "errors": self.errors, "dropped": self.dropped,
            "raised": self.raised, "pending": self.pending, "flushes": self.flushes,
        })
    }
}

type Shared = Arc<Mutex<Outcome>>;

/// The client's options for those of a case. An unknown one is a fault of this runner.
fn builder(options: &Value, base_url: &str, spool: &Path, outcome: &Shared) -> ClientBuilder {
    let outcome = Arc::clone(outcome);
    let mut retry = RetryPolicy::default();
    let mut builder =
        Client::builder(base_url).on_result(move |recorded| outcome.lock().add(recorded.result.clone()));
    for (name, value) in options.as_object().expect("options") {
        let text = || value.as_str().expect("a text");
        let number = || value.as_u64().expect("a number");
        let count = || usize::try_from(number()).expect("a small number");
        builder = match name.as_str() {
            "api_key" => builder.api_key(text()),
            "mode" if text() == "stream" => builder.stream(),
            "mode" => builder,
            "claim_token" => builder.claim_token(text()),
            "batch_events" => builder.batch_events(count()),
            "flush_interval_ms" => builder.flush_interval(Duration::from_millis(number())),
            "queue_events_max" => builder.queue_events_max(count()),
            "overflow" => builder.overflow(match text() {
                "block" => Overflow::Block,
                "drop_newest" => Overflow::DropNewest,
                "error" => Overflow::Error,
                other => panic!("an unknown overflow {other}"),
            }),
            "block_ms_max" => builder.block_max(Duration::from_millis(number())),
            "timeout_ms" => builder.timeout(Duration::from_millis(number())),
            "backoff_ms" => {
                retry.backoff = Duration::from_millis(number());
                builder
            }
            "backoff_ms_max" => {
                retry.backoff_max = Duration::from_millis(number());
                builder
            }
            "retry_after_seconds_max" => {
                retry.retry_after_max = Duration::from_secs(number());
                builder
            }
            "keep_unauthorized" => builder.keep_unauthorized(value == true),
            "spool" if value == true => builder.spool(Spool::new(spool)),
            "spool" if value.is_string() => builder.spool(Spool::new(text())),
            "spool" => builder,
            other => panic!("an option {other} that this runner does not know"),
        };
    }
    builder.retry(retry)
}

fn record(client: &Client, events: &[NewEvent], outcome: &Shared) {
    for event in events {
        match client.record(event.clone()) {
            Ok(_) => {}
            Err(Error::QueueFull { .. } | Error::Spool(_)) => outcome.lock().raised += 1,
            Err(error) => panic!("{error}"),
        }
    }
}

fn control(agent: &ureq::Agent, url: String, is_post: bool) {
    let response = if is_post {
        agent.post(url).send_empty()
    } else {
        agent.get(url).call()
    };
    assert_eq!(response.expect("a response").status(), 200);
}

/// The problems that the server has with the client.
fn run(name: &str) -> Value {
    let mut server = Server::start("server.py", &["--case", name]).expect("an interpreter");
    let (base_url, case) = (server.base_url.clone(), server.hello["case"].clone());
    let base_url = base_url.as_str();
    let agent = ureq::Agent::new_with_defaults();
    let directory = tempfile::tempdir().expect("a directory");
    let outcome = Shared::default();
    let make = || {
        let builder = builder(&case["client"], base_url, directory.path(), &outcome);
        builder.build().expect("a client")
    };
    let mut client = make();
    let mut threads: Vec<JoinHandle<()>> = Vec::new();
    for step in case["do"].as_array().expect("steps") {
        let deadline = Duration::from_millis(step["deadline_ms"].as_u64().unwrap_or(SECONDS_MAX * 1000));
        let events = step["events"].as_array().into_iter().flatten();
        let events: Vec<NewEvent> = events
            .map(|event| NewEvent::from_serialize(event).expect("an event"))
            .collect();
        match step["do"].as_str().expect("a name") {
            "record" if step["background"] == true => {
                let (client, outcome) = (client.clone(), Arc::clone(&outcome));
                threads.push(std::thread::spawn(move || record(&client, &events, &outcome)));
            }
            "record" => record(&client, &events, &outcome),
            "join" => threads
                .drain(..)
                .for_each(|thread| thread.join().expect("no panic")),
            "ingest" => {
                let result = client.ingest(events[0].clone());
                outcome.lock().add(result);
            }
            "flush" => {
                let is_done = client.flush(deadline);
                outcome.lock().flushes.push(is_done);
            }
            "close" => {
                let is_done = client.close(deadline);
                outcome.lock().flushes.push(is_done);
                outcome.lock().client_ended(&client);
            }
            "restart" => {
                client.close(Duration::ZERO);
                outcome.lock().client_ended(&client);
                client = make();
            }
            "control" => {
                let path = step["path"].as_str().expect("a path");
                control(&agent, format!("{base_url}{path}"), step["method"] == "POST");
            }
            other => panic!("a step {other} that this runner does not know"),
        }
    }
    let verdict = server.report(&outcome.lock().to_json());
    assert_eq!(verdict["passed"] == true, server.wait().success());
    verdict["problems"].clone()
}

#[test]
fn the_client_conforms() {
    let Some(cases) = kit::output("server.py", &["--list"]) else {
        return;
    };
    let cases: Vec<Value> = serde_json::from_slice(&cases).expect("a JSON array");
    let offers = kit::output("server.py", &["--offers"]).expect("an interpreter");
    let offers: Vec<String> = serde_json::from_slice(&offers).expect("a JSON array");
    let offered = cases.into_iter().filter(|case| is_offered(case, &offers));
    // The latter stop this process, and with it every other case.
    let (cases, freezing): (Vec<_>, Vec<_>) = offered.partition(|case| !needs(case).contains(&"freeze"));
    assert!(cases.len() > 30, "{} cases", cases.len());
    let (next, problems) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let judge = |case: &Value| {
        let name = case["name"].as_str().expect("a name");
        let found = run(name);
        if found != json!([]) {
            problems.lock().push(format!("{name}: {found}"));
        }
    };
    let work = || {
        while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
            judge(case);
        }
    };
    // Most cases wait for a pause of the client.
    std::thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(work);
        }
    });
    freezing.iter().for_each(judge);
    let problems = problems.into_inner();
    assert!(problems.is_empty(), "{problems:#?}");
}

fn needs(case: &Value) -> Vec<&str> {
    let needs = case["needs"].as_array().expect("needs").iter();
    needs.map(|need| need.as_str().expect("a name")).collect()
}

/// Whether the case can run with this client. `.ci/run` fails for each `SKIPPED`: the machine lacks what the case needs.
fn is_offered(case: &Value, offers: &[String]) -> bool {
    needs(case).into_iter().all(|need| match need {
        "spool" => true,
        // A Rust program with threads cannot go on in a child without exec, so no machine can run these.
        "fork" => false,
        "freeze" if cfg!(target_os = "linux") => true,
        "disk" if offers.iter().any(|offer| offer == need) => true,
        "freeze" | "disk" => {
            let line = format!("SKIPPED: {}: needs {need}\n", case["name"]);
            let mut output = std::io::stderr();
            output
                .write_all(line.as_bytes())
                .expect("write to standard error");
            false
        }
        other => panic!("{case} needs {other}, which this runner does not know"),
    })
}
