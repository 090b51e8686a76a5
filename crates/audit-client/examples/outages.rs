//! The program of `clients/conformance/outages.py`: URL KEY EVENTS SECONDS SCALE.

#![allow(clippy::print_stdout, reason = "it prints what it has counted")]

use audit_client::{ActorType, Category, Client, Error, NewEvent, RetryPolicy, Stats};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Events between two looks at the clock and the counts.
const TOGETHER: u32 = 20;
/// Of the service's time.
const CLOSE_SECONDS_MAX: f64 = 60.0;

type Failure = Box<dyn std::error::Error>;

fn event(number: u32) -> Result<NewEvent, Error> {
    let actor = ("user_1", ActorType::User);
    NewEvent::builder("invoice.updated", Category::Mutation, "acme", actor)
        .metadata("n", number)
        .build()
}

fn counts(stats: Stats) -> Value {
    json!({
        "recorded": stats.recorded, "stored": stats.stored, "failed": stats.failed,
        "dropped": stats.dropped, "pending": stats.pending,
    })
}

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [url, key, events, seconds, scale] = arguments.as_slice() else {
        return Err("usage: outages URL KEY EVENTS SECONDS SCALE".into());
    };
    let (events, seconds): (u32, f64) = (events.parse()?, seconds.parse()?);
    let scale: f64 = scale.parse()?;
    let scaled = |seconds: f64| Duration::from_secs_f64(seconds / scale);
    let reported = Arc::new(AtomicU64::new(0));
    let counted = Arc::clone(&reported);
    let retry = RetryPolicy {
        backoff: scaled(0.5),
        backoff_max: scaled(30.0),
        ..RetryPolicy::default()
    };
    let audit = Client::builder(url)
        .api_key(key)
        .timeout(scaled(30.0))
        .flush_interval(scaled(5.0))
        .block_max(scaled(30.0))
        .retry(retry)
        .on_result(move |recorded| {
            counted.fetch_add(u64::from(recorded.result.is_err()), Ordering::Relaxed);
        })
        .build()?;
    let began = Instant::now();
    for number in 0..events {
        match audit.record(event(number)?) {
            Ok(_) | Err(Error::QueueFull { .. }) => {}
            Err(error) => return Err(error.into()),
        }
        if number % TOGETHER == 0 {
            let stats = audit.stats();
            assert_eq!(
                stats.stored + stats.failed + stats.pending,
                stats.recorded,
                "{stats:?}"
            );
            let due = began + Duration::from_secs_f64(seconds * f64::from(number) / f64::from(events));
            std::thread::sleep(due.saturating_duration_since(Instant::now()));
        }
    }
    let before = audit.stats();
    audit.close(scaled(CLOSE_SECONDS_MAX));
    let reported = reported.load(Ordering::Relaxed);
    let line = json!({"before": counts(before), "after": counts(audit.stats()), "reported": reported});
    println!("{line}");
    Ok(())
}
