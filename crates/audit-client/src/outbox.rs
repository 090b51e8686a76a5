//! The outbox: a table of the application's database. An event that is recorded in it exists exactly when the transaction commits.
//!
//! The application runs [`INSERT`] with the three values of an [`OutboxRow`] in its own transaction, by any driver. One process relays:
//! [`Client::relay`] sends the oldest rows, and deletes them after the service has acknowledged them. The Python and the TypeScript
//! client use the same table. `docs/outbox.md` says when an outbox is better than a spool.
//!
//! Invariants:
//! - A row is sent with the same bytes each time, idempotency key included. A relay that dies between the acknowledgement and the deletion
//!   repeats events, which the service recognises.
//! - Rows are deleted by their ids, not up to a position. Ids are given before the commit: a row may become visible after a higher id was sent.
//! - A row is sent only after, or together with, all visible rows before it. So relays that run at the same time repeat events but do not
//!   reorder them, and need no lock.
//! - A refused event is set aside with its error, and does not block those behind it. So is a row that is not exactly one JSON object.
//!
//! ```
//! use audit_client::outbox::{INSERT, OutboxRow};
//! use audit_client::{ActorType, Category, NewEvent};
//!
//! let event = NewEvent::builder("invoice.paid", Category::Mutation, "acme", ("user_1", ActorType::User)).build()?;
//! let row = OutboxRow::new(event)?;
//! // diesel: sql_query(INSERT).bind::<Text, _>(row.tenant_id).bind::<Text, _>(row.idempotency_key).bind::<Text, _>(row.event)
//! // sqlx: query(INSERT).bind(row.tenant_id).bind(row.idempotency_key).bind(row.event)
//! # assert!(INSERT.ends_with("($1, $2, $3)") && row.tenant_id == "acme");
//! # Ok::<(), audit_client::Error>(())
//! ```

use crate::ambient;
use crate::buffer::{Entry, REQUEST_EVENTS_MAX, body_of, first_of};
use crate::client::Client;
use crate::error::Error;
use crate::event::NewEvent;
use crate::policy::{concerns_events, concerns_request};
use crate::transport::{json_of, outcomes_of};
use serde_json::Value;
use std::collections::VecDeque;
use std::fmt;
use std::time::Duration;

/// Creates the table on PostgreSQL: two statements.
pub const CREATE_POSTGRESQL: &str = "\
CREATE TABLE audit_outbox (
    id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant_id TEXT NOT NULL,
    idempotency_key TEXT NOT NULL,
    event TEXT NOT NULL,
    recorded_at TIMESTAMPTZ NOT NULL DEFAULT CURRENT_TIMESTAMP,
    error TEXT
);
CREATE INDEX audit_outbox_waiting ON audit_outbox (id) WHERE error IS NULL;
";

/// Creates the table on SQLite: two statements.
pub const CREATE_SQLITE: &str = "\
CREATE TABLE audit_outbox (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    tenant_id TEXT NOT NULL,
    idempotency_key TEXT NOT NULL,
    event TEXT NOT NULL,
    recorded_at TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP,
    error TEXT
);
CREATE INDEX audit_outbox_waiting ON audit_outbox (id) WHERE error IS NULL;
";

/// Records an event: `tenant_id`, `idempotency_key` and `event` of an [`OutboxRow`].
pub const INSERT: &str = "INSERT INTO audit_outbox (tenant_id, idempotency_key, event) VALUES ($1, $2, $3)";

/// The oldest rows that wait, as many as one request may have.
pub const OLDEST: &str = "SELECT id, event FROM audit_outbox WHERE error IS NULL ORDER BY id LIMIT 100";

/// Removes one row by its id.
pub const DELETE: &str = "DELETE FROM audit_outbox WHERE id = $1";

/// Sets one row aside: the error and the id.
pub const SET_ASIDE: &str = "UPDATE audit_outbox SET error = $1 WHERE id = $2";

/// The values of [`INSERT`], in its order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutboxRow {
    /// `tenant_id` of the event, for the application's own queries.
    pub tenant_id: String,
    /// `idempotency_key` of the event.
    pub idempotency_key: String,
    /// The event as JSON.
    pub event: String,
}

impl OutboxRow {
    /// Checks the event, and fixes its idempotency key and its time, as [`Client::record`] does. An event with a key of the caller gets no
    /// time: give it one, because it may be sent much later.
    ///
    /// # Errors
    /// [`Error::Argument`] names every field that the service would refuse. Roll back the transaction.
    pub fn new(event: NewEvent) -> Result<Self, Error> {
        let event = event.completed();
        event.check()?;
        let text = |field: &str| {
            let value = event.as_object().get(field).and_then(Value::as_str);
            value.unwrap_or_default().to_owned()
        };
        Ok(Self {
            tenant_id: text("tenant_id"),
            idempotency_key: text("idempotency_key"),
            event: Value::Object(event.as_object().clone()).to_string(),
        })
    }
}

/// What the relay needs of the application's database. Each call is a transaction of its own; none is open while events are sent.
pub trait Outbox {
    /// The error of the driver.
    type Error: fmt::Display;

    /// [`OLDEST`]: id and event of each row, in this order.
    ///
    /// # Errors
    /// Those of the database.
    fn oldest(&mut self) -> Result<Vec<(i64, String)>, Self::Error>;

    /// [`DELETE`] of these ids, and commit.
    ///
    /// # Errors
    /// Those of the database.
    fn delete(&mut self, ids: &[i64]) -> Result<(), Self::Error>;

    /// [`SET_ASIDE`], and commit.
    ///
    /// # Errors
    /// Those of the database.
    fn set_aside(&mut self, id: i64, error: &str) -> Result<(), Self::Error>;
}

/// What has become of the rows of one request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Relayed {
    /// Events that the service has stored. Their rows are deleted.
    pub stored: u64,
    /// Events that the service has refused, and rows that are not exactly one JSON object. Their rows are set aside.
    pub refused: u64,
    /// Whether more rows may wait.
    pub has_more: bool,
}

impl Client {
    /// Sends the oldest rows in one request, and settles them.
    ///
    /// # Errors
    /// [`Error::Outbox`] for errors of the database. Errors of the service that do not concern the events: network, 5xx, 429, a refused key.
    /// The rows then wait for the next call.
    pub fn relay_once(&self, outbox: &mut impl Outbox) -> Result<Relayed, Error> {
        let wait = |wait| {
            std::thread::sleep(wait);
            true
        };
        self.relay_oldest(outbox, &wait)
    }

    /// Sends the rows of an outbox until `wait` returns `false`. Looks for rows every `interval`, and without a wait while there are more.
    /// During an outage the rows wait, in order, and are sent again after pauses that grow to 30 s; each is a warning of the crate `log`.
    /// A refused event is an error of the crate `log`.
    ///
    /// `wait` sleeps and returns whether to continue. With a channel, for example, a message or the end of the sender stops the relay:
    /// `|wait| stop.recv_timeout(wait) == Err(RecvTimeoutError::Timeout)`.
    pub fn relay(&self, outbox: &mut impl Outbox, interval: Duration, wait: impl Fn(Duration) -> bool) {
        let mut failures = 0;
        loop {
            let pause = match self.relay_oldest(outbox, &wait) {
                Ok(relayed) => {
                    failures = 0;
                    if relayed.has_more {
                        Duration::ZERO
                    } else {
                        interval
                    }
                }
                // `wait` said so between two attempts.
                Err(Error::NotSent) => return,
                Err(error) => {
                    failures += 1;
                    let seed = u64::from_le_bytes(ambient::random());
                    let pause = self.shared.transport.retry.pause(failures, &error, seed);
                    log::warn!(
                        "the outbox waits, next attempt in {:.1} s: {error}",
                        pause.as_secs_f64()
                    );
                    pause
                }
            };
            if !wait(pause) {
                return;
            }
        }
    }

    fn relay_oldest(
        &self,
        outbox: &mut impl Outbox,
        wait: &dyn Fn(Duration) -> bool,
    ) -> Result<Relayed, Error> {
        let rows = outbox.oldest().map_err(failed)?;
        let is_full = rows.len() >= REQUEST_EVENTS_MAX;
        let mut relayed = Relayed::default();
        let (mut ids, mut entries) = (Vec::new(), VecDeque::new());
        for (id, event) in rows {
            if is_object(&event) {
                ids.push(id);
                entries.push_back(Entry::new(event.into_bytes()));
            } else {
                set_aside(outbox, id, NOT_AN_OBJECT, &mut relayed)?;
            }
        }
        let sent = first_of(&entries);
        relayed.has_more = is_full || ids.len() > sent.len();
        ids.truncate(sent.len());
        if !ids.is_empty() {
            self.relay_rows(outbox, (&ids, &sent), wait, &mut relayed)?;
        }
        Ok(relayed)
    }

    /// Sends rows and settles them. An error leaves the rest as it is.
    fn relay_rows(
        &self,
        outbox: &mut impl Outbox,
        (ids, entries): (&[i64], &[Entry]),
        wait: &dyn Fn(Duration) -> bool,
        relayed: &mut Relayed,
    ) -> Result<(), Error> {
        let call = self.ingest_call(body_of(entries));
        let parse = |body: &[u8]| outcomes_of(&json_of(body)?, entries.len());
        let sleep = |time, _: &Error| if wait(time) { Ok(()) } else { Err(Error::NotSent) };
        let outcomes = match self.shared.transport.send(&call, parse, sleep) {
            Ok(outcomes) => outcomes,
            Err(error) if ids.len() > 1 && concerns_request(&error) => {
                let half = ids.len() / 2;
                let (first, second) = (ids.split_at(half), entries.split_at(half));
                self.relay_rows(outbox, (first.0, second.0), wait, relayed)?;
                return self.relay_rows(outbox, (first.1, second.1), wait, relayed);
            }
            Err(error) if matches!(error, Error::Api(_)) && concerns_events(&error) => {
                vec![Err(error); ids.len()]
            }
            Err(error) => return Err(error),
        };
        let mut stored = Vec::new();
        for (id, outcome) in ids.iter().zip(outcomes) {
            match outcome {
                Ok(_) => stored.push(*id),
                Err(error) => set_aside(outbox, *id, &error.to_string(), relayed)?,
            }
        }
        if !stored.is_empty() {
            outbox.delete(&stored).map_err(failed)?;
            relayed.stored += stored.len() as u64;
        }
        Ok(())
    }
}

/// What the error of a row says that the service could not even count as one event.
const NOT_AN_OBJECT: &str = "event: must be exactly one JSON object";

/// Whether a text is one event, however invalid. Any other would make the array another one than the rows.
fn is_object(event: &str) -> bool {
    matches!(serde_json::from_str(event), Ok(Value::Object(_)))
}

/// Writes the error into the row, which then blocks no other.
fn set_aside(outbox: &mut impl Outbox, id: i64, error: &str, relayed: &mut Relayed) -> Result<(), Error> {
    log::error!("event {id} of the outbox was refused and is set aside: {error}");
    // PostgreSQL has no NUL, and the error may quote one of the event.
    let text = error.replace('\0', "\u{fffd}");
    outbox.set_aside(id, &text).map_err(failed)?;
    relayed.refused += 1;
    Ok(())
}

fn failed(error: impl fmt::Display) -> Error {
    Error::Outbox(error.to_string())
}
