//! Prints all events in the order in which they were stored, forever and through outages. The cursor on the last line says where to continue.
//!
//! ```sh
//! cargo run -p audit-client --example follow_feed -- http://127.0.0.1:8080 pk_live_… [CURSOR]
//! ```

#![allow(clippy::print_stdout, reason = "an example prints what it has read")]

use audit_client::{Client, EventQuery};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(url), Some(key)) = (arguments.next(), arguments.next()) else {
        return Err("usage: follow_feed URL KEY [CURSOR]".into());
    };
    let audit = Client::builder(url).api_key(key).build()?;
    for page in audit.follow(EventQuery::new(), arguments.next()) {
        let page = page?;
        for event in &page.events {
            println!("{}", serde_json::to_string(event)?);
        }
        println!("{}", page.cursor);
    }
    Ok(())
}
