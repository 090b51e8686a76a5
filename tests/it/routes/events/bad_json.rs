use audit_tests::{Client, DatabaseKind, Organization, event, event_with, on_both_databases};
use serde_json::json;

/// A valid event whose metadata is this text.
fn with_metadata(text: &str) -> Vec<u8> {
    event_with(json!({"metadata": "HERE"}))
        .to_string()
        .replace("\"HERE\"", text)
        .into_bytes()
}

/// Asserts that the body is refused with a clear error, alone and in a batch, and that nothing is stored.
fn assert_refused(client: &Client, body: &[u8]) {
    let shown = String::from_utf8_lossy(&body[..body.len().min(200)]).into_owned();
    let response = client.post("/events").raw_json(body).send();
    assert_eq!(
        (response.status(), response.code()),
        (400, "validation_error"),
        "{shown}: {response:?}"
    );
    assert!(
        !response.fields().is_empty(),
        "{shown}: the error names a field: {response:?}"
    );
    let batch = [b"[".as_slice(), body, b"]"].concat();
    let response = client.post("/events").raw_json(batch).send();
    assert_eq!(
        (response.status(), response.code()),
        (400, "validation_error"),
        "[{shown}]: {response:?}"
    );
    assert_eq!(client.count(), 0, "{shown}");
}

on_both_databases! {
    a_body_that_is_no_json_is_refused,
    text_that_is_no_utf_8_is_refused,
    lone_surrogates_are_refused,
    nul_characters_are_refused_wherever_they_stand,
    duplicate_members_are_refused_at_every_level,
    numbers_beyond_a_double_are_refused,
    nesting_without_end_is_refused,
}

fn a_body_that_is_no_json_is_refused(database: DatabaseKind) {
    let project = Organization::fresh(database).project();
    let whole = event().to_string();
    let bodies: Vec<Vec<u8>> = vec![
        whole[..whole.len() - 1].into(),
        format!("{whole}{whole}").into(),
        format!("{whole} x").into(),
        whole.replace('"', "'").into(),
        whole.replacen('{', "{,", 1).into(),
        format!("{},}}", &whole[..whole.len() - 1]).into(),
        format!("// comment\n{whole}").into(),
        "{action:1}".into(),
        "}".into(),
        with_metadata("{\"n\":NaN}"),
        with_metadata("{\"n\":Infinity}"),
        with_metadata("{\"n\":01}"),
        with_metadata("{\"n\":.5}"),
        with_metadata("{\"n\":0x10}"),
        with_metadata("{\"s\":\"line\nbreak\"}"),
        with_metadata("{\"s\":\"\\x41\"}"),
    ];
    for body in bodies {
        assert_refused(&project, &body);
        project
            .post("/events")
            .raw_json(body)
            .send()
            .expect_invalid(&["body"]);
    }
    project
        .post("/events")
        .raw_json("")
        .send()
        .expect_invalid(&["body"]);
}

fn text_that_is_no_utf_8_is_refused(database: DatabaseKind) {
    let project = Organization::fresh(database).project();
    let mut body = with_metadata("{\"s\":\"HERE\"}");
    let at = body
        .windows(4)
        .position(|window| window == b"HERE")
        .expect("the mark is there");
    for bytes in [
        [0xff, 0xfe, 0xfd, 0xfc],
        [0xc0, 0x80, b'a', b'b'],
        [0xed, 0xa0, 0x80, b'a'],
    ] {
        body[at..at + 4].copy_from_slice(&bytes);
        assert_refused(&project, &body);
    }
}

fn lone_surrogates_are_refused(database: DatabaseKind) {
    let project = Organization::fresh(database).project();
    for text in [
        r#"{"s":"\ud800"}"#,
        r#"{"s":"\udc00x"}"#,
        r#"{"s":"\ud800\ud800"}"#,
        r#"{"\udfff":1}"#,
    ] {
        assert_refused(&project, &with_metadata(text));
    }
    let pair = with_metadata(r#"{"s":"\ud83d\ude00"}"#);
    let id = project
        .post("/events")
        .raw_json(pair)
        .send()
        .expect_status(201)
        .ids()
        .remove(0);
    assert_eq!(project.event(&id)["metadata"]["s"], "😀");
}

fn nul_characters_are_refused_wherever_they_stand(database: DatabaseKind) {
    let project = Organization::fresh(database).project();
    assert_refused(&project, &with_metadata(r#"{"s":"a\u0000b"}"#));
    assert_refused(&project, &with_metadata(r#"{"a\u0000b":1}"#));
    assert_refused(&project, &with_metadata(r#"{"deep":[{"s":["\u0000"]}]}"#));
    let changes = [
        json!({"tenant_id": "a\0b"}),
        json!({"actor": {"id": "a\0b"}}),
        json!({"actor": {"name": "\0"}}),
        json!({"actor": {"email": "\0"}}),
        json!({"target": {"id": "\0", "type": "doc"}}),
        json!({"target": {"id": "1", "type": "\0"}}),
        json!({"context": {"user_agent": "\0"}}),
        json!({"idempotency_key": "\0"}),
        json!({"changes": [{"field": "\0", "before": 1, "after": 2}]}),
        json!({"changes": [{"field": "x", "before": "\0", "after": 2}]}),
    ];
    for change in changes {
        assert_refused(&project, event_with(change).to_string().as_bytes());
    }
}

fn duplicate_members_are_refused_at_every_level(database: DatabaseKind) {
    let project = Organization::fresh(database).project();
    let whole = event().to_string();
    let again = |member: &str| format!("{},{member}}}", &whole[..whole.len() - 1]).into_bytes();
    assert_refused(&project, &again(r#""action":"user.deleted""#));
    assert_refused(&project, &again(r#""tenant_id":"tenant-2""#));
    assert_refused(
        &project,
        whole.replace(r#""id":"#, r#""id":"x","id":"#).as_bytes(),
    );
    assert_refused(&project, &with_metadata(r#"{"a":1,"a":1}"#));
    assert_refused(&project, &with_metadata(r#"{"a":1,"\u0061":2}"#));
    assert_refused(
        &project,
        &with_metadata(r#"{"deep":[{"b":{"a":1,"x":0,"a":2}}]}"#),
    );
}

fn numbers_beyond_a_double_are_refused(database: DatabaseKind) {
    let project = Organization::fresh(database).project();
    for number in [
        "1e400",
        "-1e400",
        "1e999999999",
        "0.1000000000000000055511151231257827",
        "1.00000000000000000001",
    ] {
        assert_refused(&project, &with_metadata(&format!("{{\"n\":{number}}}")));
        assert_refused(
            &project,
            &with_metadata(&format!("{{\"n\":[[{{\"x\":{number}}}]]}}")),
        );
    }
    let before = format!(r#"[{{"field":"x","before":{},"after":1}}]"#, "1e400");
    let body = event_with(json!({"changes": "HERE"}))
        .to_string()
        .replace("\"HERE\"", &before);
    assert_refused(&project, body.as_bytes());
}

fn nesting_without_end_is_refused(database: DatabaseKind) {
    let project = Organization::fresh(database).project();
    for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
        let depth = 50_000;
        let deep = format!("{}1{}", open.repeat(depth), close.repeat(depth));
        assert_refused(&project, &with_metadata(&deep));
        assert_refused(&project, open.repeat(depth).as_bytes());
    }
}
