//! A to-do API in actix-web that logs who did what, and shows each customer its own log. `README.md` beside this file describes it.

#![allow(clippy::print_stdout, reason = "an example prints where it listens")]

mod app;

use actix_web::{App, HttpServer, web};
use app::Todos;
use audit_client::{Client, Spool};
use std::time::Duration;

#[expect(clippy::disallowed_methods, reason = "a program reads its environment")]
fn setting(name: &str) -> Result<String, String> {
    std::env::var(name).map_err(|_| format!("set {name}"))
}

#[actix_web::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let base_url = setting("AUDIT_URL")?;
    let audit = Client::builder(&base_url)
        .api_key(setting("AUDIT_KEY")?)
        // An event is on the disk before its request gets a response, and survives a crash and an outage of the service.
        .spool(Spool::new(
            setting("SPOOL").unwrap_or_else(|_| "spool".to_owned()),
        ))
        .build()?;
    // The operator of the audit service gave this key to the operator of this application, once.
    let todos = web::Data::new(Todos::new(audit.clone(), base_url, setting("AUDIT_LOG_KEY")?));
    let server = HttpServer::new(move || {
        let todos = todos.clone();
        App::new().configure(|config| app::configure(config, todos))
    });
    let server = server.bind(("127.0.0.1", 0))?;
    for address in server.addrs() {
        println!("http://{address}");
    }
    server.run().await?;
    // The requests have ended. What they have recorded is sent, or stays in the spool.
    #[expect(clippy::disallowed_methods, reason = "a thread of the application")]
    let closing = web::block(move || audit.close(Duration::from_secs(10)));
    closing.await?;
    Ok(())
}
