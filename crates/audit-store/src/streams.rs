//! Anonymous streams, their clients and their events.

use crate::access::{Reader, Writer};
use crate::append::idempotency::Idempotency;
use crate::columns::{read_digest, read_id};
use crate::database::{insert_or_ignore, on_database, select_for_update};
use crate::error::{Result, StoreError};
use crate::ids::StreamTokenHash;
use crate::schema::{stream_clients, stream_events, streams};
use audit_domain::{Comparison, EventId, Record, SentDigest, Stamp, Timestamp};
use diesel::prelude::*;

/// A stored stream.
#[derive(Clone, Debug, PartialEq, Eq, Queryable, Selectable, Insertable, AsChangeset)]
#[diesel(table_name = streams, treat_none_as_null = true, treat_none_as_default_value = false)]
#[expect(missing_docs, reason = "the fields are the columns")]
pub struct StreamRow {
    pub token_hash: Vec<u8>,
    pub created_at: i64,
    pub expires_at: i64,
    pub claimed_at: Option<i64>,
    /// Events accepted in all.
    pub event_count: i64,
    /// The UTC day of `day_events`.
    pub day: i64,
    pub day_events: i64,
    /// Whether its events were removed.
    pub is_empty: bool,
}

/// A stored client of streams.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StreamClientRow {
    /// The times of its latest requests, oldest first.
    pub requests: Vec<Timestamp>,
    /// The UTC day of `new_streams`.
    pub day: i64,
    /// Streams it created on that day.
    pub new_streams: i64,
}

/// An event to store in a stream.
#[derive(Clone, Debug)]
pub struct NewStreamEvent {
    pub(crate) record: Record,
    pub(crate) idempotency: Option<Idempotency>,
}

impl NewStreamEvent {
    /// A redacted event, its tenant, and its idempotency key with the digest of the event as it was sent.
    pub fn new(record: Record, tenant_id: &str, idempotency: Option<(&str, SentDigest)>) -> Self {
        Self {
            record,
            idempotency: idempotency.map(|key| Idempotency::of(tenant_id, key)),
        }
    }

    /// Compares the event with the one that was sent before under the same key.
    pub fn compare(&self, before: &SentDigest) -> Comparison {
        match &self.idempotency {
            Some(idempotency) => idempotency.digest.compare(before),
            None => Comparison::Different,
        }
    }
}

/// A stored event of a stream.
#[derive(Clone, Debug)]
pub struct StreamEvent {
    /// Its id and the time of its receipt.
    pub stamp: Stamp,
    /// When it happened.
    pub occurred_at: Timestamp,
    /// Whether redaction changed it.
    pub redacted: bool,
    /// Its canonical JSON. It has no content hash before it is in a log.
    pub canonical: String,
    /// Digest of the event as it was sent; only with an idempotency key.
    pub sent_digest: Option<SentDigest>,
}

#[derive(Queryable, Selectable, Insertable)]
#[diesel(table_name = stream_events, treat_none_as_default_value = false)]
struct EventColumns {
    token_hash: Vec<u8>,
    number: i64,
    id: Vec<u8>,
    occurred_at: i64,
    received_at: i64,
    idempotency_hash: Option<Vec<u8>>,
    sent_digest: Option<Vec<u8>>,
    redacted: bool,
    body: String,
}

const TIME_BYTES: usize = 8;

/// Streams and their clients.
#[expect(
    clippy::missing_errors_doc,
    reason = "all fail only when the database cannot be queried"
)]
impl Reader<'_> {
    /// A stream.
    pub fn stream(&mut self, token_hash: &StreamTokenHash) -> Result<Option<StreamRow>> {
        Ok(streams::table
            .find(token_hash.as_slice())
            .select(StreamRow::as_select())
            .get_result(self.session())
            .optional()?)
    }

    /// The event of a stream with the same idempotency key, and the digest of that event as it was sent.
    pub fn stream_event_by_key(
        &mut self,
        stream: &StreamRow,
        event: &NewStreamEvent,
    ) -> Result<Option<(EventId, SentDigest)>> {
        let Some(idempotency) = &event.idempotency else {
            return Ok(None);
        };
        let found = stream_events::table
            .filter(stream_events::token_hash.eq(&stream.token_hash))
            .filter(stream_events::idempotency_hash.eq(idempotency.hash.as_slice()))
            .select((stream_events::id, stream_events::sent_digest))
            .get_result::<(Vec<u8>, Option<Vec<u8>>)>(self.session())
            .optional()?;
        match found {
            Some((id, Some(digest))) => Ok(Some((read_id(id)?, read_digest(digest)?))),
            _ => Ok(None),
        }
    }

    /// The events of a stream, in the order they were sent, for its claim.
    pub fn stream_events(&mut self, stream: &StreamRow) -> Result<Vec<StreamEvent>> {
        on_database!(self.session(), streams::begin_claim())?;
        let rows = stream_events::table
            .filter(stream_events::token_hash.eq(&stream.token_hash))
            .order(stream_events::number)
            .select(EventColumns::as_select())
            .load(self.session())?;
        let read = |row: EventColumns| {
            Ok(StreamEvent {
                stamp: Stamp {
                    id: read_id(row.id)?,
                    received_at: Timestamp::from_micros(row.received_at),
                },
                occurred_at: Timestamp::from_micros(row.occurred_at),
                redacted: row.redacted,
                canonical: row.body,
                sent_digest: row.sent_digest.map(read_digest).transpose()?,
            })
        };
        rows.into_iter().map(read).collect::<Result<_, StoreError>>()
    }
}

#[expect(
    clippy::missing_errors_doc,
    reason = "all fail only when the database cannot be written"
)]
impl Writer<'_> {
    /// A client, locked until the end of the transaction. Its first request creates an empty row.
    pub fn lock_stream_client(&mut self, client: &str) -> Result<StreamClientRow> {
        let (requests, day, new_streams): (Vec<u8>, i64, i64) =
            on_database!(self.session(), streams::lock_client(client))?;
        let (times, _) = requests.as_chunks::<TIME_BYTES>();
        let requests = times
            .iter()
            .map(|bytes| Timestamp::from_millis(i64::from_be_bytes(*bytes)))
            .collect();
        Ok(StreamClientRow {
            requests,
            day,
            new_streams,
        })
    }

    /// Writes a client.
    pub fn update_stream_client(
        &mut self,
        client: &str,
        row: &StreamClientRow,
        now: Timestamp,
    ) -> Result<()> {
        let requests: Vec<u8> = row
            .requests
            .iter()
            .flat_map(|time| time.as_millis().to_be_bytes())
            .collect();
        diesel::update(stream_clients::table.find(client))
            .set((
                stream_clients::requests.eq(requests),
                stream_clients::day.eq(row.day),
                stream_clients::new_streams.eq(row.new_streams),
                stream_clients::last_seen_at.eq(now.as_micros()),
            ))
            .execute(self.session())?;
        Ok(())
    }

    /// A stream, locked until the end of the transaction.
    pub fn lock_stream(&mut self, token_hash: &StreamTokenHash) -> Result<Option<StreamRow>> {
        let row = streams::table.find(token_hash.as_slice());
        Ok(select_for_update!(self.session(), row.select(StreamRow::as_select()), get_result).optional()?)
    }

    /// Creates a stream; `false` when one of this token exists.
    pub fn insert_stream(&mut self, stream: &StreamRow) -> Result<bool> {
        Ok(insert_or_ignore!(self.session(), streams::table, stream.clone())? > 0)
    }

    /// Removes a stream that has no events.
    pub fn delete_stream(&mut self, stream: &StreamRow) -> Result<()> {
        diesel::delete(streams::table.find(&stream.token_hash)).execute(self.session())?;
        Ok(())
    }

    /// Writes a stream.
    pub fn update_stream(&mut self, stream: &StreamRow) -> Result<()> {
        diesel::update(streams::table.find(&stream.token_hash))
            .set(stream)
            .execute(self.session())?;
        Ok(())
    }

    /// Stores an event as the `number`th of a stream, with a stamp that follows those before it; its id.
    pub fn insert_stream_event(
        &mut self,
        stream: &StreamRow,
        number: i64,
        event: NewStreamEvent,
    ) -> Result<EventId> {
        let last = stream_events::table
            .filter(stream_events::token_hash.eq(&stream.token_hash))
            .order(stream_events::number.desc())
            .select((stream_events::id, stream_events::received_at))
            .limit(1)
            .get_result::<(Vec<u8>, i64)>(self.session())
            .optional()?;
        let last = match last {
            Some((id, micros)) => Some(Stamp {
                id: read_id(id)?,
                received_at: Timestamp::from_micros(micros),
            }),
            None => None,
        };
        let mut record = event.record;
        let stamp = record.stamp().following(last);
        if stamp != record.stamp() {
            record.restamp(stamp);
        }
        let idempotency = event.idempotency.as_ref();
        diesel::insert_into(stream_events::table)
            .values(EventColumns {
                token_hash: stream.token_hash.clone(),
                number,
                id: stamp.id.to_bytes().to_vec(),
                occurred_at: record.occurred_at().as_micros(),
                received_at: stamp.received_at.as_micros(),
                idempotency_hash: idempotency.map(|key| key.hash.to_vec()),
                sent_digest: idempotency.map(|key| key.digest.as_bytes().to_vec()),
                redacted: record.redacted(),
                body: record.canonical().to_owned(),
            })
            .execute(self.session())?;
        Ok(stamp.id)
    }

    /// Removes the events of a stream.
    pub fn delete_stream_events(&mut self, stream: &StreamRow) -> Result<()> {
        self.delete_stream_events_from(stream, 0)
    }

    /// Removes the events of a stream from the `number`th on.
    pub fn delete_stream_events_from(&mut self, stream: &StreamRow, number: i64) -> Result<()> {
        let of_stream = stream_events::table
            .filter(stream_events::token_hash.eq(&stream.token_hash))
            .filter(stream_events::number.ge(number));
        diesel::delete(of_stream).execute(self.session())?;
        Ok(())
    }
}
