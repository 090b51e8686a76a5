//! What clients in other languages send although nobody asked them to, and what they expect of HTTP.

use crate::access::{Objects, ROUTES};
use audit_tests::{DatabaseKind, Organization, event, gunzip, gzip, merge, on_both_databases};
use serde_json::{Value, json};

on_both_databases! {
    dates_are_taken_as_clients_write_them,
    null_stands_for_an_absent_field,
    a_repeat_with_null_is_no_conflict,
    a_whole_number_may_have_a_fraction_of_zeros,
    bodies_arrive_as_gzip,
    large_responses_are_gzip_for_clients_that_take_it,
    an_export_is_gzip_for_clients_that_take_it,
    head_is_get_without_its_body,
    a_field_that_a_rule_of_this_type_does_not_have_is_invalid,
    the_openapi_document_is_sent_again_only_when_it_has_changed,
}

fn at(time: &str) -> Value {
    merge(event(), json!({"occurred_at": time}))
}

fn dates_are_taken_as_clients_write_them(database: DatabaseKind) {
    let project = Organization::fresh(database).project();
    let times = [
        "2026-01-14T23:59:59.999Z",
        "2026-01-15T00:00:00.000Z",
        "2026-01-15T23:59:59.999Z",
        "2026-01-16T00:00:00.000Z",
    ];
    let ids = project.store_all(times.map(at).to_vec());
    let between = |start: &str, end: &str| {
        let mut found = project.find_ids(&[("start_date", start), ("end_date", end)]);
        found.reverse();
        found
    };
    for (start, end) in [
        ("2026-01-15", "2026-01-15"),
        ("2026-01-15T00:00Z", "2026-01-15T23:59:59.999Z"),
        (
            "2026-01-15T00:00:00.000000+0000",
            "2026-01-15T23:59:59.999000+0000",
        ),
        ("2026-01-15 02:00:00+02:00", "2026-01-15 23:59:59.999 00:00"),
        ("2026-01-14T19:00-05", "2026-01-15T18:59:59,999-0500"),
    ] {
        assert_eq!(between(start, end), ids[1..3], "{start} to {end}");
    }
    assert_eq!(between("0001-01-01", "9999-12-31"), ids);
    assert_eq!(between("2026-01-16", "+275760-09-13T00:00:00.000Z"), ids[3..]);
    for wrong in ["2026-01-15T00:00:00", "2026-13-01", "15.01.2026", "yesterday"] {
        let request = project.get("/events").query("start_date", wrong);
        request.send().expect_invalid(&["start_date"]);
    }
    // Written into a query string by hand.
    let by_hand = project.get("/events?start_date=2026-01-15T01:00:00+01:00&end_date=2026-01-15");
    assert_eq!(by_hand.send().expect_status(200).list("events").len(), 2);
    project
        .get("/alerts?start_date=2026-01-15&end_date=2026-01-15")
        .send()
        .expect_status(200);
}

fn null_stands_for_an_absent_field(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let project = organization.project();
    let nulls = json!({
        "actor": {"id": "a", "type": "user", "name": null, "email": null}, "target": null, "context": null,
        "metadata": null, "changes": null, "idempotency_key": null, "occurred_at": null,
    });
    let stored = project.event(&project.store(merge(event(), nulls)));
    for field in ["target", "context", "metadata", "changes", "idempotency_key"] {
        assert!(stored.get(field).is_none(), "{field}: {stored}");
    }
    let token = json!({"tenant_id": "t", "tier": null, "expires_in": null});
    project
        .post("/viewer-tokens")
        .json(token)
        .send()
        .expect_status(201);
    let rule = json!({"type": "pattern", "name": "n", "pattern": "x1", "behavior": null, "enabled": null, "fields": null});
    let made = organization.master().post("/redaction/rules").json(rule).send();
    made.expect_status(400);
    let required = merge(event(), json!({"action": null}));
    project
        .post("/events")
        .json(required)
        .send()
        .expect_invalid(&["action"]);
}

/// Content is compared as the service reads it, and reads `null` and nothing alike.
fn a_repeat_with_null_is_no_conflict(database: DatabaseKind) {
    let project = Organization::fresh(database).project();
    let sent = merge(event(), json!({"idempotency_key": "k"}));
    let first = project.store(sent.clone());
    let mut repeated = sent;
    repeated["metadata"] = Value::Null;
    repeated["actor"]["name"] = Value::Null;
    assert_eq!(project.store(repeated), first);
}

fn a_whole_number_may_have_a_fraction_of_zeros(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let token = r#"{"tenant_id": "t", "expires_in": 3600.0}"#;
    organization
        .project()
        .post("/viewer-tokens")
        .raw_json(token)
        .send()
        .expect_status(201);
    let token = r#"{"tenant_id": "t", "expires_in": 3600.5}"#;
    let refused = organization
        .project()
        .post("/viewer-tokens")
        .raw_json(token)
        .send();
    refused.expect_invalid(&["expires_in"]);
    organization
        .project()
        .get("/events?limit=2.0")
        .send()
        .expect_status(200);
    organization
        .project()
        .get("/events?limit=2.5")
        .send()
        .expect_invalid(&["limit"]);
}

fn bodies_arrive_as_gzip(database: DatabaseKind) {
    let project = Organization::fresh(database).project();
    let send = |coding: &str, body: Vec<u8>| {
        let request = project.post("/events").raw_json(body);
        request.header("content-encoding", coding).send()
    };
    let text = event().to_string().into_bytes();
    for coding in ["gzip", "GZIP", "x-gzip"] {
        send(coding, gzip(&text)).expect_status(201);
    }
    send("identity", text.clone()).expect_status(201);
    let token = "67e55044-10b1-426f-9247-bb680e5fe0c8";
    let stream = project
        .post(&format!("/streams/{token}/events"))
        .raw_json(gzip(&text));
    stream
        .header("content-encoding", "gzip")
        .send()
        .expect_status(201);
    for coding in ["br", "gzip, gzip", "deflate"] {
        let refused = send(coding, gzip(&text)).expect_error(415, "unsupported_media_type");
        assert_eq!(
            refused.header("accept-encoding"),
            Some("gzip, identity"),
            "{coding}"
        );
    }
    let whole = gzip(&text);
    send("gzip", whole[..whole.len() - 1].to_vec()).expect_error(400, "validation_error");
    send("gzip", text).expect_error(400, "validation_error");
    assert_eq!(project.count(), 4);
}

fn large_responses_are_gzip_for_clients_that_take_it(database: DatabaseKind) {
    let project = Organization::fresh(database).project();
    let small = project
        .get("/events")
        .header("accept-encoding", "gzip")
        .send_raw();
    assert_eq!(small.header("content-encoding"), None);
    project.store_all(vec![
        merge(
            event(),
            json!({"metadata": {"text": "x".repeat(2_000)}})
        );
        50
    ]);
    let get = |accepted: &str| {
        project
            .get("/events")
            .header("accept-encoding", accepted)
            .send_raw()
    };
    let plain = get("identity");
    assert_eq!(plain.header("content-encoding"), None);
    let compressed = get("gzip, deflate, br");
    assert_eq!(compressed.header("content-encoding"), Some("gzip"));
    assert!(
        compressed.bytes.len() * 10 < plain.bytes.len(),
        "{}",
        compressed.bytes.len()
    );
    let events = |bytes: &[u8]| serde_json::from_slice::<Value>(bytes).expect("JSON")["events"].clone();
    assert_eq!(events(&gunzip(&compressed.bytes)), events(&plain.bytes));
    for response in [plain, compressed] {
        assert_eq!(response.header("vary"), Some("Accept-Encoding, Origin"));
    }
}

fn an_export_is_gzip_for_clients_that_take_it(database: DatabaseKind) {
    let project = Organization::fresh(database).project();
    project.store_all(vec![event(); 100]);
    let export = || project.get("/events/export");
    let compressed = export().header("accept-encoding", "gzip").send_raw();
    assert_eq!(compressed.header("content-encoding"), Some("gzip"));
    let plain = export().header("accept-encoding", "identity").send_raw();
    assert_eq!(gunzip(&compressed.bytes), plain.bytes);
}

fn head_is_get_without_its_body(database: DatabaseKind) {
    let objects = Objects::of(Organization::fresh(database));
    let organization = &objects.organization;
    let project = organization.project();
    for route in ROUTES.iter().filter(|route| route.method == "GET") {
        let client = objects.client(route);
        let path = route.path_to(&objects.object(route.target));
        let get = client.request("GET", &path).send_raw();
        let head = client.request("HEAD", &path).send_raw();
        assert_eq!((head.status, head.bytes.len()), (200, 0), "{path}");
        assert_eq!(head.header("content-type"), get.header("content-type"), "{path}");
        let length = head.header("content-length").filter(|_| !get.bytes.is_empty());
        if let Some(length) = length {
            assert!(
                length.parse::<usize>().expect("a number") > 20,
                "{path}: {length}"
            );
        }
    }
    let stream = project
        .request("HEAD", "/api/v1/events/feed")
        .header("accept", "text/event-stream");
    assert_eq!(stream.send_raw().bytes.len(), 0, "an event stream that ends");
    let refused = organization
        .anonymous()
        .request("HEAD", "/api/v1/events")
        .send_raw();
    assert_eq!((refused.status, refused.bytes.len()), (401, 0));
    let missing = project
        .request("HEAD", "/api/v1/events/evt_00000000000000000000000000")
        .send_raw();
    assert_eq!(missing.status, 404);
    assert_eq!(
        project.request("HEAD", "/api/v1/viewer-tokens").send_raw().status,
        405
    );
}

fn a_field_that_a_rule_of_this_type_does_not_have_is_invalid(database: DatabaseKind) {
    let master = Organization::fresh(database).master();
    let create = |rule: Value| {
        let made = master
            .post("/redaction/rules")
            .json(rule)
            .send()
            .expect_status(201);
        format!("/redaction/rules/{}", made["rule"]["id"].as_str().expect("an id"))
    };
    let pattern = create(json!({"type": "pattern", "name": "p", "pattern": "x1"}));
    let fields = create(json!({"type": "field_redact", "name": "f", "fields": ["metadata.a"]}));
    let put = |path: &str, change: Value| master.put(path).json(change).send();
    put(&pattern, json!({"fields": ["metadata.b"]})).expect_invalid(&["fields"]);
    put(&fields, json!({"pattern": "x2"})).expect_invalid(&["pattern"]);
    let builtin = "/redaction/rules/builtin_email";
    put(builtin, json!({"name": "x"})).expect_error(403, "forbidden");
    put(builtin, json!({"colour": "x"})).expect_invalid(&["colour"]);
    put(builtin, json!({"behavior": "x"})).expect_invalid(&["behavior"]);
}

fn the_openapi_document_is_sent_again_only_when_it_has_changed(database: DatabaseKind) {
    let client = Organization::fresh(database).anonymous().clone();
    for path in ["/api/v1/openapi.json", "/docs", "/docs/scalar.js"] {
        let get = |known: Option<&str>, accepted: &str| {
            let request = client.request("GET", path).header("accept-encoding", accepted);
            let request = known
                .iter()
                .fold(request, |request, tag| request.header("if-none-match", tag));
            request.send_raw()
        };
        let first = get(None, "identity");
        let tag = first.header("etag").expect("an ETag").to_owned();
        for known in [
            &tag,
            "*",
            &format!("\"other\", {tag}"),
            tag.trim_start_matches("W/"),
        ] {
            let again = get(Some(known), "gzip");
            assert_eq!((again.status, again.bytes.len()), (304, 0), "{path}: {known}");
            assert_eq!(again.header("etag"), Some(&*tag), "{path}");
        }
        assert_eq!(get(Some("\"other\""), "identity").bytes, first.bytes, "{path}");
        let compressed = get(None, "gzip");
        assert_eq!(compressed.header("content-encoding"), Some("gzip"), "{path}");
        assert_eq!(gunzip(&compressed.bytes), first.bytes, "{path}");
    }
}
