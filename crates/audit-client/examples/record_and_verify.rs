//! Records an event through a spool, reads it back, and verifies that it is in the log.
//!
//! ```sh
//! cargo run -p audit-client --example record_and_verify -- http://127.0.0.1:8080 pk_live_… audit-spool
//! ```

#![allow(clippy::print_stdout, reason = "an example prints what it has done")]

use audit_client::{ActorType, Category, Client, EventQuery, NewEvent, Spool, verify_proof};
use std::time::Duration;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [url, key, spool] = arguments.as_slice() else {
        return Err("usage: record_and_verify URL KEY SPOOL".into());
    };
    let audit = Client::builder(url)
        .api_key(key)
        .spool(Spool::new(spool))
        .build()?;
    let event = NewEvent::builder(
        "invoice.sent",
        Category::Mutation,
        "acme",
        ("billing", ActorType::Service),
    )
    .target("invoice_7", "invoice")
    .metadata("total", 12.5)
    .build()?;
    // From here on the event is safe, whatever happens to this process or to the service.
    audit.record(event)?;
    if !audit.flush(Duration::from_secs(30)) {
        println!("the service cannot be reached; the next start sends the event");
        return Ok(());
    }
    // In production the operator gives you this key over another channel.
    let log_key = audit.log().key()?;
    for event in audit.events(EventQuery::new().tenant_id("acme").action("invoice.*")) {
        let event = event?;
        let id = event["id"].as_str().unwrap_or_default();
        let head = verify_proof(&event, &audit.proof(id)?, &log_key, None)?;
        println!("{id} is in the log of {} events", head.head().size);
    }
    Ok(())
}
