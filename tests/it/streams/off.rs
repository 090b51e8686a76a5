//! Anonymous streams that the operator has switched off.

use audit_tests::{
    Database, DatabaseKind, Organization, Server, Stream, assert_settings_refused, command_line, event,
    on_both_databases,
};
use serde_json::json;

const OFF: &[(&str, &str)] = &[("AUDIT_STREAMS", "off")];

on_both_databases! {
    every_route_of_streams_is_gone_and_nothing_else,
}

/// The method and path of every route below `/api/v1/streams`, as the program lists them.
fn routes_of_streams(token: &str) -> Vec<(String, String)> {
    let listed = command_line(&["routes"]).success();
    let route = |line: &str| {
        let (method, path) = line.split_once(char::is_whitespace)?;
        let path = path.trim().replace("{token}", token);
        path.starts_with("/api/v1/streams")
            .then(|| (method.to_owned(), path))
    };
    listed.lines().filter_map(route).collect()
}

fn every_route_of_streams_is_gone_and_nothing_else(database: DatabaseKind) {
    let database = Database::create(database);
    let server = Server::start(&database, &[]);
    let organization = Organization::create(&server, "enterprise");
    let stream = Stream::of(&server.client());
    stream.store(event());
    server.stop();

    let server = Server::start(&database, OFF);
    let organization = organization.on(&server);
    let routes = routes_of_streams(&stream.token);
    assert_eq!(routes.len(), 3, "{routes:?}");
    for (method, path) in routes {
        for client in [organization.anonymous(), &organization.master()] {
            let mut request = client.request(&method, &path);
            if method == "POST" {
                request = request.json(json!({"claim_token": stream.token}));
            }
            let response = request.send().expect_error(404, "not_found");
            let message = response["error"]["message"].as_str().expect("a message");
            assert!(message.contains("switched off"), "{method} {path}: {message}");
        }
    }
    // Neither the method nor the token is looked at.
    let client = organization.anonymous();
    client
        .request("PUT", "/api/v1/streams/nonsense/events")
        .send()
        .expect_error(404, "not_found");
    organization.project().store(event());
    let document = client.request("GET", "/api/v1/openapi.json").send_raw();
    let document = String::from_utf8(document.bytes).expect("text");
    assert!(
        document.contains("/streams/claim"),
        "the document is that of the interface"
    );
    server.stop();

    // What was sent before can be claimed when streams are on again.
    let server = Server::start(&database, &[("AUDIT_STREAMS", "on")]);
    let claimed = organization
        .on(&server)
        .master()
        .post("/streams/claim")
        .json(json!({"claim_token": stream.token}))
        .send()
        .expect_status(200);
    assert_eq!(claimed["event_count"], 1);
}

#[test]
fn another_value_of_the_switch_is_refused() {
    assert_settings_refused(&[("AUDIT_STREAMS", "maybe"), ("AUDIT_STREAMS", "False")]);
}
