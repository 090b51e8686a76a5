//! Destinations: `/destinations`.

mod changes;
mod limits;
mod sends;
mod tenants;

use audit_tests::{Client, Organization, Response};
use serde_json::{Value, json};

/// A receiver that nothing is sent to, because its destinations are paused.
const URL: &str = "https://siem.example.com/ingest";

/// The properties of a paused destination of the kind `https`.
fn https(url: &str) -> Value {
    json!({"name": "a SIEM", "kind": "https", "settings": {"url": url}, "paused": true})
}

fn post(client: &Client, body: Value) -> Response {
    client.post("/destinations").json(body).send()
}

fn create(organization: &Organization, body: Value) -> Value {
    post(&organization.master(), body).expect_status(201)["destination"].clone()
}

fn path_of(destination: &Value) -> String {
    format!("/destinations/{}", destination["id"].as_str().expect("an id"))
}

fn change(organization: &Organization, destination: &Value, change: Value) -> Value {
    let request = organization.master().patch(&path_of(destination)).json(change);
    request.send().expect_status(200)["destination"].clone()
}

fn read(organization: &Organization, destination: &Value) -> Value {
    organization.master().one(&path_of(destination), "destination")
}
