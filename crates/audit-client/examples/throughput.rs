//! Measures how many events per second the client records and the server stores. Each line is the median of five runs.
//!
//! ```sh
//! cargo run --release -p audit-client --example throughput -- http://127.0.0.1:8080 pk_live_… [EVENTS]
//! ```

#![allow(clippy::print_stdout, reason = "an example prints what it has measured")]

use audit_client::{ActorType, Category, Client, ClientBuilder, NewEvent, Spool};
use std::time::{Duration, Instant};

const RUNS: usize = 5;
const EVENTS: u64 = 20_000;
const MAX: Duration = Duration::from_secs(600);

type Failure = Box<dyn std::error::Error>;

fn event(number: u64) -> Result<NewEvent, audit_client::Error> {
    let actor = (format!("user_{}", number % 1000), ActorType::User);
    NewEvent::builder(
        "invoice.updated",
        Category::Mutation,
        format!("tenant_{}", number % 50),
        actor,
    )
    .actor_name("Jane Doe")
    .target(number.to_string(), "invoice")
    .ip_address([203, 0, 113, 7].into())
    .user_agent("Mozilla/5.0")
    .metadata("note", "a short text")
    .metadata("total", number)
    .change("total", number.saturating_sub(1), number)
    .build()
}

/// Events per second, from the first `record` to the response to the last batch.
fn measure(builder: ClientBuilder, events: u64) -> Result<f64, Failure> {
    let audit = builder.build()?;
    // The connection and the thread are there already in an application that runs.
    audit.record(event(0)?)?;
    audit.flush(MAX);
    let start = Instant::now();
    for number in 0..events {
        audit.record(event(number)?)?;
    }
    if !audit.flush(MAX) || audit.stats().failed > 0 {
        return Err(format!("not everything was stored: {:?}", audit.stats()).into());
    }
    Ok(events as f64 / start.elapsed().as_secs_f64())
}

fn report(name: &str, run: impl Fn() -> Result<f64, Failure>) -> Result<(), Failure> {
    let mut runs = Vec::new();
    for _ in 0..RUNS {
        runs.push(run()?);
    }
    runs.sort_by(f64::total_cmp);
    let (least, median, most) = (runs[0], runs[RUNS / 2], runs[RUNS - 1]);
    println!("{name}: {median:.0} events/s ({least:.0} to {most:.0})");
    Ok(())
}

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [url, key, rest @ ..] = arguments.as_slice() else {
        return Err("usage: throughput URL KEY [EVENTS]".into());
    };
    let events = rest.first().map_or(Ok(EVENTS), |events| events.parse())?;
    let client = || Client::builder(url).api_key(key);
    report("defaults", || measure(client(), events))?;
    report("batches of 100", || measure(client().batch_events(100), events))?;
    report("batches of 100, spool", || {
        let directory = std::env::temp_dir().join(format!("audit-throughput-{}", std::process::id()));
        let rate = measure(
            client().batch_events(100).spool(Spool::new(&directory)),
            events / 4,
        );
        std::fs::remove_dir_all(&directory)?;
        rate
    })
}
