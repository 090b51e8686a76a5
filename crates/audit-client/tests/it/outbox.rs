//! The outbox and its relay, over a table in memory. The Python and the TypeScript client run the same statements on SQLite and PostgreSQL.

use crate::service::Service;
use audit_client::outbox::{
    CREATE_POSTGRESQL, CREATE_SQLITE, DELETE, INSERT, OLDEST, Outbox, OutboxRow, SET_ASIDE,
};
use audit_client::{ActorType, Category, Client, Error, NewEvent, RetryPolicy};
use serde_json::{Value, json};
use std::cell::Cell;
use std::time::Duration;

const DOCUMENT: &str = include_str!("../../../../docs/outbox.md");
/// A port on which nothing listens.
const UNREACHABLE: &str = "http://127.0.0.1:9";

fn client(base_url: &str, api_key: &str) -> Client {
    let retry = RetryPolicy {
        backoff: Duration::from_millis(1),
        ..RetryPolicy::default()
    };
    let builder = Client::builder(base_url).api_key(api_key).retry(retry);
    builder.build().expect("a client")
}

fn row(number: u64) -> OutboxRow {
    let actor = ("u1", ActorType::User);
    let event = NewEvent::builder("invoice.updated", Category::Mutation, "acme", actor);
    let event = event.metadata("n", number).build().expect("a valid event");
    OutboxRow::new(event).expect("a row")
}

/// Id, event and error of each row.
#[derive(Default)]
struct Table {
    rows: Vec<(i64, String, Option<String>)>,
    /// Deletions fail: as if the process died before.
    is_read_only: bool,
}

impl Table {
    fn with(numbers: std::ops::Range<u64>) -> Self {
        let mut table = Self::default();
        numbers.for_each(|number| table.insert(row(number).event));
        table
    }

    fn insert(&mut self, event: String) {
        let id = 1 + self.rows.last().map_or(0, |(id, _, _)| *id);
        self.rows.push((id, event, None));
    }
}

impl Outbox for Table {
    type Error = &'static str;

    fn oldest(&mut self) -> Result<Vec<(i64, String)>, Self::Error> {
        let waiting = self.rows.iter().filter(|(_, _, error)| error.is_none());
        Ok(waiting
            .take(100)
            .map(|(id, event, _)| (*id, event.clone()))
            .collect())
    }

    fn delete(&mut self, ids: &[i64]) -> Result<(), Self::Error> {
        if self.is_read_only {
            return Err("read-only");
        }
        self.rows.retain(|(id, _, _)| !ids.contains(id));
        Ok(())
    }

    fn set_aside(&mut self, id: i64, error: &str) -> Result<(), Self::Error> {
        if error.contains('\0') {
            return Err("no NUL, as in PostgreSQL");
        }
        let mut rows = self.rows.iter_mut();
        rows.find(|row| row.0 == id).ok_or("no such row")?.2 = Some(error.to_owned());
        Ok(())
    }
}

#[test]
fn the_document_has_these_statements() {
    for statement in [
        CREATE_POSTGRESQL,
        CREATE_SQLITE,
        INSERT,
        OLDEST,
        DELETE,
        SET_ASIDE,
    ] {
        assert!(DOCUMENT.contains(statement), "{statement}");
    }
}

#[test]
fn a_row_has_the_key_and_the_time_of_its_event_and_is_checked() {
    let row = row(1);
    let event: Value = serde_json::from_str(&row.event).expect("JSON");
    assert_eq!(
        (&event["tenant_id"], &event["idempotency_key"]),
        (&json!(row.tenant_id), &json!(row.idempotency_key))
    );
    assert!(event["occurred_at"].is_string());
    let invalid = NewEvent::from_serialize(&json!({"action": "Bad", "category": "auth"})).expect("an object");
    let error = OutboxRow::new(invalid).expect_err("invalid").to_string();
    for field in ["action", "tenant_id", "actor"] {
        assert!(error.contains(field), "{error}");
    }
}

#[test]
fn a_relay_that_dies_before_the_deletion_repeats_the_same_events() {
    let (service, mut table) = (Service::start(), Table::with(0..250));
    let client = client(&service.base_url, "pk_test");
    table.is_read_only = true;
    let error = client.relay_once(&mut table).expect_err("read-only");
    assert!(
        matches!(&error, Error::Outbox(message) if message == "read-only"),
        "{error}"
    );
    assert_eq!((service.numbers().len(), table.rows.len()), (100, 250));
    table.is_read_only = false;
    let waits = Cell::new(0);
    client.relay(&mut table, Duration::from_secs(1), |_| {
        waits.set(waits.get() + 1);
        waits.get() < 3
    });
    // The service compares the content of a repeat.
    assert_eq!(service.numbers(), Vec::from_iter(0..250));
    assert!(table.rows.is_empty());
}

#[test]
fn an_outage_keeps_the_rows_and_ends_with_the_wait() {
    let mut table = Table::with(0..3);
    let client = client(UNREACHABLE, "pk_test");
    let error = client
        .relay_once(&mut table)
        .expect_err("the connection is refused");
    assert!(matches!(error, Error::Network { .. }), "{error}");
    let waits = Cell::new(0);
    client.relay(&mut table, Duration::from_secs(1), |_| {
        waits.set(waits.get() + 1);
        waits.get() < 10
    });
    assert_eq!((waits.get(), table.rows.len()), (10, 3));
    assert!(table.rows.iter().all(|(_, _, error)| error.is_none()));
}

#[test]
fn rows_that_are_not_exactly_one_object_are_set_aside_and_do_not_stop_the_relay() {
    let (service, mut table) = (Service::start(), Table::with(0..1));
    let (first, second) = (row(7).event, row(8).event);
    let wrong = [
        format!("{first},{second}"),
        format!("[{first}]"),
        "null".to_owned(),
        String::new(),
        first[1..].to_owned(),
        format!("{first} {second}"),
    ];
    wrong.iter().for_each(|event| table.insert(event.clone()));
    table.insert(format!("\n{} ", row(1).event));
    let relayed = client(&service.base_url, "pk_test")
        .relay_once(&mut table)
        .expect("relayed");
    assert_eq!((relayed.stored, relayed.refused, relayed.has_more), (2, 6, false));
    assert_eq!(service.numbers(), [0, 1]);
    let errors: Vec<Option<&str>> = table.rows.iter().map(|(_, _, error)| error.as_deref()).collect();
    assert_eq!(errors, [Some("event: must be exactly one JSON object"); 6]);
}

#[cfg(all(feature = "actix", feature = "verify"))]
#[test]
fn the_server_stores_each_event_once_in_order_and_a_refused_one_is_set_aside() {
    let server = crate::real_server::RealServer::start();
    let mut table = Table::with(0..3);
    table.insert(json!({"action": "Bad"}).to_string());
    table.insert(json!({"action": "a.b", "a\0b": "\0"}).to_string());
    table.insert("not JSON".to_owned());
    for number in 3..5 {
        table.insert(row(number).event);
    }
    let refused = client(&server.base_url, "pk_live_wrong");
    assert_eq!(
        refused.relay_once(&mut table).expect_err("a key").status(),
        Some(401)
    );
    let client = client(&server.base_url, &server.project_key);
    let relayed = client.relay_once(&mut table).expect("relayed");
    let expected = audit_client::outbox::Relayed {
        stored: 5,
        // The row that is not JSON was set aside before.
        refused: 2,
        has_more: false,
    };
    assert_eq!(relayed, expected);
    let errors: Vec<bool> = table.rows.iter().map(|(_, _, error)| error.is_some()).collect();
    assert_eq!(errors, [true, true, true]);
    let events = client.events(audit_client::EventQuery::new().tenant_id("acme"));
    let numbers: Vec<Value> = events
        .map(|event| event.expect("an event")["metadata"]["n"].clone())
        .collect();
    assert_eq!(numbers, [4, 3, 2, 1, 0].map(Value::from));
}
