//! XLSX: what openpyxl, which is not of this project, finds in a workbook.

use super::{exported, store_variety};
use audit_tests::{Client, DatabaseKind, Organization, event_with, on_both_databases, python, run_python};
use serde_json::{Value, json};

/// The rows of an export; `None` without Python.
fn rows(client: &Client, parameters: &[(&str, &str)]) -> Option<Vec<Value>> {
    let python = python()?;
    let request = client.get("/events/export").query("format", "xlsx");
    let response = request.queries(parameters).send_raw();
    assert_eq!(response.status, 200, "{response:?}");
    let file = audit_tests::temporary_directory("xlsx-").join("events.xlsx");
    std::fs::write(&file, response.bytes).expect("write the workbook");
    let output = run_python(
        &python,
        "xlsx_rows.py",
        &[file.to_str().expect("a path in UTF-8")],
    );
    assert!(output.status.success(), "{output:?}");
    Some(serde_json::from_slice(&output.stdout).expect("rows in JSON"))
}

on_both_databases! {
    a_workbook_has_every_event_of_several_pages,
    texts_stay_texts,
    times_are_dates_of_the_zone,
    a_workbook_has_the_summary,
}

fn a_workbook_has_every_event_of_several_pages(database: DatabaseKind) {
    let project = Organization::fresh(database).project();
    let Some(none) = rows(&project, &[]) else { return };
    assert_eq!(none, Vec::<Value>::new());
    store_variety(&project);
    for _ in 0..2 {
        project.store_all(vec![event_with(json!({})); 100]);
    }
    let events = exported(&project, &[]);
    let rows = rows(&project, &[]).expect("Python is there");
    assert_eq!(rows.len(), events.len());
    for (row, event) in rows.iter().zip(&events) {
        for (column, pointer) in [
            ("id", "/id"),
            ("action", "/action"),
            ("tenant_id", "/tenant_id"),
            ("actor_id", "/actor/id"),
            ("target_name", "/target/name"),
            ("user_agent", "/context/user_agent"),
            ("content_hash", "/content_hash"),
        ] {
            assert_eq!(row.get(column), event.pointer(pointer), "{column} of {event}");
        }
        for time in ["occurred_at", "received_at"] {
            assert_eq!(format!("{}Z", row[time].as_str().expect("a time")), event[time]);
        }
        for column in ["metadata", "changes"] {
            let read = |text: &Value| -> Value {
                serde_json::from_str(text.as_str().expect("a text")).expect("JSON")
            };
            assert_eq!(row.get(column).map(read).as_ref(), event.get(column), "{column}");
        }
    }
}

fn texts_stay_texts(database: DatabaseKind) {
    let project = Organization::fresh(database).project();
    let texts = [
        "=HYPERLINK(\"https://example.com\")",
        "+1+1",
        "@SUM(A1)",
        "123456789012345678901234567890",
        "007",
        "1E5",
        "MAR1",
        "a<b> & \"c\"",
        " two\nlines ",
        "é, ☃",
    ];
    for text in texts {
        project.store(event_with(json!({"actor": {"id": text, "name": text}})));
    }
    let Some(mut rows) = rows(&project, &[]) else {
        return;
    };
    rows.reverse();
    let (events, count) = (exported(&project, &[]), texts.len());
    assert_eq!(rows.len(), count);
    for ((row, text), event) in rows.iter().zip(texts).zip(events.iter().rev()) {
        assert_eq!(row["actor_name"], text);
        assert_eq!(row["actor_id"], event["actor"]["id"]);
    }
}

fn times_are_dates_of_the_zone(database: DatabaseKind) {
    let project = Organization::fresh(database).project();
    for time in ["2025-01-15T22:30:00.999Z", "2025-07-15T22:30:00Z"] {
        project.store(event_with(json!({"occurred_at": time})));
    }
    for (parameter, expected) in [
        (
            ("time_zone", "Europe/Berlin"),
            ["2025-07-16T00:30:00.000", "2025-01-15T23:30:00.999"],
        ),
        (
            ("utc_offset", "-03:30"),
            ["2025-07-15T19:00:00.000", "2025-01-15T19:00:00.999"],
        ),
    ] {
        let Some(rows) = rows(&project, &[parameter]) else {
            return;
        };
        let times: Vec<_> = rows.iter().map(|row| &row["occurred_at"]).collect();
        assert_eq!(times, expected);
    }
}

fn a_workbook_has_the_summary(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let project = organization.project();
    let label = json!({"languages": {"en": {"label": "=Opened"}}});
    let put = organization.master().put("/actions/document.opened").json(label);
    put.send().expect_status(200);
    project.store(event_with(json!({"action": "document.opened"})));
    let Some(with) = rows(&project, &[("labels", "en")]) else {
        return;
    };
    assert_eq!(with[0]["summary"], "=Opened");
    let without = rows(&project, &[]).expect("Python is there");
    assert_eq!(without[0].get("summary"), None);
}
