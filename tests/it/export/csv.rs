//! CSV: the form (RFC 4180), every field in its column, and nothing that a spreadsheet would run.

use super::{export, exported, store_variety};
use audit_tests::{DatabaseKind, Organization, Stream, event, event_with, on_both_databases};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Texts that a spreadsheet evaluates as formulas.
const FORMULAS: [&str; 10] = [
    "=HYPERLINK(\"https://example.com\")",
    "+1+1",
    "-1+1",
    "@SUM(A1)",
    "\t=1",
    "\r=1",
    "\n=1",
    "＝1",
    "＋1",
    "＠1",
];

/// The records of a text in CSV, read as section 2 of RFC 4180 says.
fn records(text: &str) -> Vec<Vec<String>> {
    let (mut records, mut record, mut field) = (Vec::new(), Vec::new(), String::new());
    let mut is_quoted = false;
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        match (character, is_quoted) {
            ('"', true) if characters.peek() == Some(&'"') => {
                characters.next();
                field.push('"');
            }
            ('"', true) => is_quoted = false,
            ('"', false) if field.is_empty() => is_quoted = true,
            (',', false) => record.push(std::mem::take(&mut field)),
            ('\r', false) => {
                assert_eq!(characters.next(), Some('\n'), "a line ends in CRLF");
                record.push(std::mem::take(&mut field));
                records.push(std::mem::take(&mut record));
            }
            ('"' | '\n', false) => panic!("{character:?} outside of quotes in {text}"),
            (character, _) => field.push(character),
        }
    }
    assert!(
        record.is_empty() && field.is_empty(),
        "the last line ends in a line break as well"
    );
    records
}

/// The rows by the names of the columns.
fn rows(text: &str) -> Vec<BTreeMap<String, String>> {
    let mut records = records(text);
    let header = records.remove(0);
    let row = |record: Vec<String>| {
        assert_eq!(record.len(), header.len(), "{record:?}");
        header.iter().cloned().zip(record).collect()
    };
    records.into_iter().map(row).collect()
}

/// The expected text of a column for an event.
fn expected(event: &Value, column: &str) -> String {
    let pointer = match column {
        "ip_address" | "user_agent" | "location" | "session_id" => format!("/context/{column}"),
        _ => match column.split_once('_') {
            Some((party @ ("actor" | "target"), field)) => format!("/{party}/{field}"),
            _ => format!("/{column}"),
        },
    };
    match event.pointer(&pointer) {
        None => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    }
}

on_both_databases! {
    a_summary_says_what_the_reader_sees_in_its_language,
    every_field_stands_in_its_column,
    the_columns_are_those_of_the_documentation,
    what_stands_between_fields_and_lines_is_quoted,
    what_looks_like_a_formula_is_text,
    excel_keeps_ids_and_reads_times,
    a_separator_and_an_offset_select_csv,
    times_are_those_of_a_zone_in_summer_and_winter,
    texts_with_a_decimal_comma_stay_texts,
}

fn every_field_stands_in_its_column(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let project = organization.project();
    store_variety(&project);
    let stream = Stream::fresh(database);
    stream.store(event());
    stream.move_to(&organization.master());
    let rows = rows(&export(&project, &[("format", "csv")]));
    let events = exported(&project, &[]);
    assert_eq!(rows.len(), events.len());
    for (row, event) in rows.iter().zip(&events) {
        for (column, text) in row {
            assert_eq!(*text, expected(event, column), "{column} of {event}");
        }
    }
    let has_text = |column: &String| rows.iter().any(|row| !row[column].is_empty());
    let unused: Vec<_> = rows[0].keys().filter(|column| !has_text(column)).collect();
    assert_eq!(unused, ["erased"], "no event has these");
}

fn the_columns_are_those_of_the_documentation(database: DatabaseKind) {
    let project = Organization::fresh(database).project();
    let text = export(&project, &[("format", "csv")]);
    let columns = "id,occurred_at,received_at,claimed_at,action,category,tenant_id,actor_id,actor_type,actor_name,actor_email,\
                   target_id,target_type,target_name,ip_address,user_agent,location,session_id,idempotency_key,metadata,\
                   changes,redacted,content_hash,content_salt,outcome,actor_on_behalf_of,targets,erased\r\n";
    assert_eq!(text, columns, "an empty export consists of the header line");
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/feed.md");
    let documentation = std::fs::read_to_string(path).expect("read the documentation");
    let columns = columns.trim_end();
    assert!(documentation.lines().any(|line| line == columns), "{columns}");
}

fn what_stands_between_fields_and_lines_is_quoted(database: DatabaseKind) {
    let project = Organization::fresh(database).project();
    let texts = ["a,b", "say \"hi\"", "\"", "two\r\nlines", "a;b\tc", "é, ☃", " a "];
    for text in texts {
        project.store(event_with(
            json!({"actor": {"name": text}, "target": {"id": text, "type": "t"}}),
        ));
    }
    let mut names: Vec<String> = rows(&export(&project, &[("format", "csv")]))
        .into_iter()
        .map(|row| {
            assert_eq!(row["actor_name"], row["target_id"]);
            row["actor_name"].clone()
        })
        .collect();
    names.reverse();
    assert_eq!(names, texts);
}

fn what_looks_like_a_formula_is_text(database: DatabaseKind) {
    let project = Organization::fresh(database).project();
    for formula in FORMULAS {
        project.store(event_with(json!({
            "tenant_id": formula,
            "actor": {"id": formula, "name": formula},
            "target": {"id": formula, "type": formula, "name": formula},
            "context": {"user_agent": formula, "location": formula, "session_id": formula},
            "idempotency_key": formula,
        })));
    }
    let mut rows = rows(&export(&project, &[("format", "csv")]));
    rows.reverse();
    for (row, formula) in rows.iter().zip(FORMULAS) {
        for column in [
            "tenant_id",
            "actor_id",
            "actor_name",
            "target_id",
            "target_type",
            "target_name",
            "user_agent",
            "location",
            "session_id",
            "idempotency_key",
        ] {
            // What follows a tab or a line break begins a field for some programs.
            let guarded = format!("'{formula}").replace("\t=", "\t'=");
            let guarded = guarded.replace("\r=", "\r'=").replace("\n=", "\n'=");
            assert_eq!(row[column], guarded, "{column}");
        }
    }
    let stored = exported(&project, &[("format", "jsonl")]);
    assert_eq!(
        stored.last().expect("an event")["actor"]["name"],
        FORMULAS[0],
        "only CSV is for spreadsheets"
    );
}

fn excel_keeps_ids_and_reads_times(database: DatabaseKind) {
    let project = Organization::fresh(database).project();
    // None that redaction takes for a telephone number or a card.
    let kept = ["123456789012345678901234567890", "007", "1E5", "MAR1", "1-2"];
    for text in kept {
        project.store(event_with(json!({
            "occurred_at": "2026-01-15T22:30:00.999Z",
            "actor": {"id": text, "name": text},
            "target": {"id": "=1+1", "type": text},
        })));
    }
    let text = export(
        &project,
        &[("format", "csv"), ("for", "excel"), ("utc_offset", "+02:00")],
    );
    let text = text.strip_prefix('\u{feff}').expect("a byte order mark");
    let mut found = rows(text);
    found.reverse();
    assert_eq!(found.len(), kept.len());
    for (row, text) in found.iter().zip(kept) {
        let formula = format!("=\"{text}\"");
        let ids = ["actor_id", "actor_name", "target_type"].map(|column| row[column].as_str());
        assert_eq!(ids, [formula.as_str(); 3]);
        assert_eq!(row["target_id"], "'=1+1");
        assert_eq!(row["occurred_at"], "2026-01-16 00:30:00");
    }
}

fn times_are_those_of_a_zone_in_summer_and_winter(database: DatabaseKind) {
    let project = Organization::fresh(database).project();
    for time in ["2025-01-15T22:30:00Z", "2025-07-15T22:30:00Z"] {
        project.store(event_with(json!({"occurred_at": time})));
    }
    let zone = ("time_zone", "Europe/Berlin");
    let times = |text: &str| -> Vec<String> {
        let rows = rows(text.trim_start_matches('\u{feff}'));
        rows.into_iter().map(|row| row["occurred_at"].clone()).collect()
    };
    let excel = export(&project, &[("for", "excel"), zone]);
    assert_eq!(times(&excel), ["2025-07-16 00:30:00", "2025-01-15 23:30:00"]);
    let plain = export(&project, &[zone]);
    assert_eq!(
        times(&plain),
        ["2025-07-16T00:30:00.000+02:00", "2025-01-15T23:30:00.000+01:00"]
    );
    let day = export(
        &project,
        &[zone, ("start_date", "2025-07-16"), ("end_date", "2025-07-16")],
    );
    assert_eq!(
        times(&day),
        ["2025-07-16T00:30:00.000+02:00"],
        "a date alone is a day of the zone"
    );
}

fn texts_with_a_decimal_comma_stay_texts(database: DatabaseKind) {
    let project = Organization::fresh(database).project();
    for (name, written) in [
        ("1,5", "=\"1,5\""),
        ("1'000,50", "=\"1'000,50\""),
        ("1,-5", "1,-5"),
    ] {
        project.store(event_with(json!({"actor": {"name": name}})));
        let text = export(&project, &[("for", "excel")]);
        let rows = rows(text.trim_start_matches('\u{feff}'));
        assert_eq!(rows[0]["actor_name"], written);
    }
}

fn a_separator_and_an_offset_select_csv(database: DatabaseKind) {
    let project = Organization::fresh(database).project();
    project.store(event_with(json!({"occurred_at": "2026-01-15T22:30:00.999Z"})));
    let separated = export(&project, &[("separator", "semicolon")]);
    assert!(separated.starts_with("id;occurred_at;"), "{separated}");
    assert!(separated.contains(";2026-01-15T22:30:00.999Z;"), "{separated}");
    let local = rows(&export(&project, &[("utc_offset", "-03:30")]));
    assert_eq!(local[0]["occurred_at"], "2026-01-15T19:00:00.999-03:30");
    let excel = export(&project, &[("for", "excel")]);
    assert!(excel.starts_with("\u{feff}id,"), "{excel}");
    let lines = exported(&project, &[("format", "jsonl"), ("for", "excel")]);
    assert_eq!(lines[0]["occurred_at"], "2026-01-15T22:30:00.999Z");
}

fn a_summary_says_what_the_reader_sees_in_its_language(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let (master, project) = (organization.master(), organization.project());
    let label = json!({"languages": {
        "en": {"label": "Role changed", "template": "{actor} changed the role of {target} to {after.role}"},
        "de": {"label": "=Rolle"},
    }});
    master
        .put("/actions/user.role.updated")
        .json(label)
        .send()
        .expect_status(200);
    project.store(event_with(json!({"action": "auth.failed"})));
    project.store(event_with(json!({
        "action": "user.role.updated", "tenant_id": "tenant-1", "actor": {"id": "u_1", "type": "user", "name": "Jane"},
        "target": {"id": "u_2", "type": "user"}, "changes": [{"field": "role", "before": "member", "after": "admin"}],
    })));
    let summaries = |client: &audit_tests::Client, parameters: &[(&str, &str)]| {
        let text = export(client, parameters);
        let header = text.lines().next().expect("a header").trim_end().to_owned();
        let last = rows(&text)
            .iter()
            .map(|row| row.get("summary").cloned())
            .collect::<Vec<_>>();
        (header.ends_with(",erased,summary"), last)
    };
    let of = |texts: [&str; 2]| (true, texts.map(|text| Some(text.to_owned())).to_vec());
    let sentence = "Jane changed the role of u_2 to admin";
    assert_eq!(
        summaries(&project, &[("labels", "en-GB")]),
        of([sentence, "auth.failed"])
    );
    // A label is a text of people, and no formula.
    assert_eq!(
        summaries(&project, &[("labels", "de")]),
        of(["'=Rolle", "auth.failed"])
    );
    assert_eq!(
        summaries(&project, &[("format", "csv")]),
        (false, vec![None, None])
    );
    let lines = [("format", "jsonl"), ("labels", "en")];
    assert_eq!(export(&project, &lines), export(&project, &[]));
    organization.create_tier(json!({"name": "bare", "hidden_fields": ["actor.name", "actor.id", "changes"]}));
    let viewer = organization.viewer("tenant-1", "bare");
    let hidden = "– changed the role of u_2 to –";
    assert_eq!(
        summaries(&viewer, &[("labels", "en")]).1[0].as_deref(),
        Some(hidden)
    );
    let refused = project.get("/events/export?labels=e").send();
    refused.expect_invalid(&["labels"]);
}
