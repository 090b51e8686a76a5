//! The example of the README, which `tests/it/readme.rs` compares and runs.

#![allow(
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "an example prints, and reads its environment"
)]

use audit_client::{ActorType, Category, Client, EventQuery, NewEvent, Spool};
use std::time::Duration;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let audit = Client::builder(std::env::var("AUDIT_URL")?)
        .api_key(std::env::var("AUDIT_KEY")?)
        .spool(Spool::new("audit-spool"))
        .build()?;
    let actor = ("user_1", ActorType::User);
    let event = NewEvent::builder("user.role.updated", Category::Admin, "initech", actor)
        .actor_name("Jane Doe")
        .target("user_2", "user")
        .change("role", "member", "admin")
        .build()?;
    audit.record(event)?;
    println!("stored: {}", audit.flush(Duration::from_secs(30)));
    for event in audit.events(EventQuery::new().tenant_id("initech").action("user.role.updated")) {
        let event = event?;
        println!("{} by {}", event["action"], event["actor"]["name"]);
    }
    Ok(())
}
