//! Anonymous streams and their clients.

use crate::client::{Client, Request};
use crate::database::DatabaseKind;
use crate::response::Response;
use crate::server::Server;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::net::Ipv4Addr;
use std::sync::atomic::{AtomicU32, Ordering};

/// More than enough for a server that is not out of order.
const CLAIM_ATTEMPTS_MAX: usize = 20;

/// A number that is unique in this process.
fn number() -> u32 {
    static COUNT: AtomicU32 = AtomicU32::new(1);
    COUNT.fetch_add(1, Ordering::Relaxed)
}

/// An unused claim token (a UUIDv4).
pub fn claim_token() -> String {
    let digest = Sha256::digest(format!("{} {}", std::process::id(), number()));
    let hex = base16ct::lower::encode_string(&digest);
    format!(
        "{}-{}-4{}-8{}-{}",
        &hex[..8],
        &hex[8..12],
        &hex[12..15],
        &hex[15..18],
        &hex[18..30]
    )
}

/// An unused client address.
pub fn address() -> String {
    Ipv4Addr::from_bits(Ipv4Addr::new(20, 0, 0, 0).to_bits() + number()).to_string()
}

impl Client {
    /// The same client as a proxy shows it that forwards for `address`. For servers that trust proxies on 127.0.0.1, as
    /// the shared ones do.
    pub fn with_address(&self, address: &str) -> Self {
        self.with_header("x-forwarded-for", address)
    }
}

/// A token with a client that holds it.
#[derive(Clone, Debug)]
pub struct Stream {
    client: Client,
    /// The claim token.
    pub token: String,
}

impl Stream {
    /// A new token on the shared server, with an address of its own to send from.
    pub fn fresh(kind: DatabaseKind) -> Self {
        Self::of(&Server::shared(kind).client().with_address(&address()))
    }

    /// A new token for this client.
    pub fn of(client: &Client) -> Self {
        Self {
            client: client.clone(),
            token: claim_token(),
        }
    }

    /// Another token, held by the same client.
    #[must_use]
    pub fn with_token(&self, token: &str) -> Self {
        Self {
            client: self.client.clone(),
            token: token.to_owned(),
        }
    }

    /// The same token, held by another client.
    #[must_use]
    pub fn held_by(&self, client: &Client) -> Self {
        Self {
            client: client.clone(),
            token: self.token.clone(),
        }
    }

    /// The request that sends to it, without a body.
    pub fn post(&self) -> Request {
        self.client.post(&format!("/streams/{}/events", self.token))
    }

    /// Sends one event or an array.
    pub fn send(&self, body: Value) -> Response {
        self.post().json(body).send()
    }

    /// Sends one event, which must be stored, and returns its id.
    pub fn store(&self, event: Value) -> String {
        let ids = self.send(event).expect_status(201).ids();
        assert_eq!(ids.len(), 1, "{ids:?}");
        ids[0].clone()
    }

    /// Sends a batch, all of which must be stored, and returns the ids.
    pub fn store_all(&self, events: Vec<Value>) -> Vec<String> {
        let count = events.len();
        let ids = self.send(Value::Array(events)).expect_status(201).ids();
        assert_eq!(ids.len(), count, "{ids:?}");
        ids
    }

    /// Requests its state.
    pub fn info(&self) -> Response {
        self.client.get(&format!("/streams/{}/info", self.token)).send()
    }

    /// Its status and the number of events that it accepted.
    pub fn state(&self) -> (String, u64) {
        let info = self.info().expect_status(200);
        let count = info["event_count"].as_u64();
        (info.text("status"), count.expect("a number of events"))
    }

    /// The request that claims it.
    pub fn claim(&self, claimant: &Client) -> Request {
        claimant
            .post("/streams/claim")
            .json(json!({"claim_token": self.token}))
    }

    /// Claims it and returns the number of moved events.
    pub fn move_to(&self, claimant: &Client) -> u64 {
        move_by(self.claim(claimant))
    }
}

/// Sends a claim and returns the number of moved events. It is retried when the server is busy, as clients do: on a
/// shared server the configuration changes all the time.
pub fn move_by(claim: Request) -> u64 {
    let mut response = claim.clone().send();
    for _ in 1..CLAIM_ATTEMPTS_MAX {
        if response.status() != 503 {
            break;
        }
        response = claim.clone().send();
    }
    let response = response.expect_status(200);
    response["event_count"].as_u64().expect("a number of events")
}
