//! Receives alert webhooks: verifies them, drops repeats, responds at once.
//!
//! Run:  WEBHOOK_SECRET=whsec_… TLS_CERT=../receiver.pem TLS_KEY=../receiver.key cargo run --locked
//!
//! Without TLS_CERT it speaks plain HTTP on the loopback interface, for a reverse proxy that terminates TLS.

use axum::Router;
use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, State};
use axum::http::{HeaderMap, StatusCode};
use axum::routing::post;
use axum_server::tls_rustls::RustlsConfig;
use serde_json::Value;
use standardwebhooks::{HEADER_WEBHOOK_ID, Webhook};
use std::collections::HashSet;
use std::env;
use std::error::Error;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex};

const BODY_BYTES_MAX: usize = 64 * 1024;

struct Receiver {
    webhook: Webhook,
    /// In production, a database table of messages with the id as its key, committed before the response: the service
    /// does not send a message again after a 2xx.
    seen: Mutex<HashSet<String>>,
}

/// `Bytes` is the raw body: parsed and re-serialized JSON would have another signature.
async fn receive(State(receiver): State<Arc<Receiver>>, headers: HeaderMap, body: Bytes) -> StatusCode {
    if let Err(error) = receiver.webhook.verify(&body, &headers) {
        println!("refused: {error}");
        return StatusCode::UNAUTHORIZED;
    }
    let id = headers[HEADER_WEBHOOK_ID].to_str().unwrap_or_default().to_owned();
    if receiver.seen.lock().expect("not poisoned").insert(id) {
        // Slow work runs after the response.
        tokio::spawn(async move { work(&body) });
    }
    StatusCode::NO_CONTENT
}

fn work(body: &[u8]) {
    let message: Value = serde_json::from_slice(body).expect("what is signed is JSON");
    let (kind, data) = (&message["type"], &message["data"]);
    if kind == "alert.fired" {
        let text = |field: &str| data[field].as_str().unwrap_or_default().to_owned();
        println!(
            "{} alert {}: {}, {}",
            text("severity"),
            text("id"),
            text("rule_name"),
            text("group_key")
        );
    } else {
        println!("{}: {data}", kind.as_str().unwrap_or_default());
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let receiver = Receiver {
        webhook: Webhook::new(&env::var("WEBHOOK_SECRET")?)?,
        seen: Mutex::default(),
    };
    let app = Router::new()
        .fallback(post(receive))
        .layer(DefaultBodyLimit::max(BODY_BYTES_MAX))
        .with_state(Arc::new(receiver));
    let port = env::var("PORT").unwrap_or_else(|_| "8443".to_owned()).parse()?;
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    println!("receiving on port {port}");
    match env::var("TLS_CERT") {
        Ok(certificate) => {
            rustls::crypto::ring::default_provider()
                .install_default()
                .expect("no provider is installed yet");
            let tls = RustlsConfig::from_pem_file(certificate, env::var("TLS_KEY")?).await?;
            axum_server::bind_rustls(address, tls)
                .serve(app.into_make_service())
                .await?;
        }
        Err(_) => axum_server::bind(address).serve(app.into_make_service()).await?,
    }
    Ok(())
}
