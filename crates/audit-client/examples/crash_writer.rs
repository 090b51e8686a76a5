//! The process that `clients/python/tests/crash.py --writer` kills: records events through a spool with several threads, and prints the
//! name of each recorded one.
//!
//! ```sh
//! crash_writer URL KEY SPOOL PREFIX COUNT    # records at most COUNT events with each thread
//! crash_writer URL KEY SPOOL drain           # sends what the spool has
//! ```
//!
//! It prints `ready`, then a line for each event after `record` has returned.

use audit_client::{ActorType, Category, Client, NewEvent, RetryPolicy, Spool};
use std::io::Write;
use std::time::Duration;

const THREADS: usize = 4;
const DRAIN_SECONDS_MAX: u64 = 1800;

/// One write, so that lines of several threads do not mix.
fn say(line: &str) -> std::io::Result<()> {
    std::io::stdout().write_all(format!("{line}\n").as_bytes())
}

fn record(audit: &Client, prefix: &str, count: usize) -> Result<(), Box<dyn std::error::Error>> {
    for number in 0..count {
        let name = format!("{prefix}-{number}");
        let event = NewEvent::builder(
            "crash.tested",
            Category::System,
            "crash",
            ("writer", ActorType::Service),
        );
        audit.record(event.metadata("name", name.as_str()).build()?)?;
        say(&name)?;
    }
    Ok(())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [url, key, spool, prefix, rest @ ..] = arguments.as_slice() else {
        return Err("usage: crash_writer URL KEY SPOOL (PREFIX COUNT | drain)".into());
    };
    let retry = RetryPolicy {
        backoff: Duration::from_millis(10),
        backoff_max: Duration::from_millis(500),
        ..RetryPolicy::default()
    };
    let builder = Client::builder(url).api_key(key).retry(retry);
    let audit = builder.spool(Spool::new(spool)).build()?;
    say("ready")?;
    if prefix == "drain" {
        let max = Duration::from_secs(DRAIN_SECONDS_MAX);
        let is_done = audit.flush(max) && audit.close(max);
        return match is_done && audit.stats().failed == 0 {
            true => Ok(()),
            false => Err(format!("not everything is stored: {:?}", audit.stats()).into()),
        };
    }
    let count: usize = rest.first().map_or(Ok(0), |count| count.parse())?;
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let (audit, prefix) = (&audit, format!("{prefix}.{thread}"));
            // An error ends the output of the thread, which the program that reads it counts.
            scope.spawn(move || record(audit, &prefix, count).map_err(|error| log::error!("{error}")));
        }
    });
    // Not closed: the end of this process is as sudden as a kill.
    std::process::exit(0);
}
