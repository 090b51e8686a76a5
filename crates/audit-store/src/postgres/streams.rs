//! Streams on PostgreSQL.

use super::PostgresSession;
use crate::error::Result;
use crate::schema::stream_clients;
use diesel::connection::SimpleConnection;
use diesel::prelude::*;

/// How long a claim may redact events between two statements.
const CLAIM_IDLE_TIMEOUT_MS: u32 = 10_000;

/// A client of streams: requests, day and new streams, locked until the end of the transaction. Its first request creates
/// an empty row. One statement does both, so that the row cannot be removed before it is locked.
pub(crate) fn lock_client(session: &mut PostgresSession, client: &str) -> Result<(Vec<u8>, i64, i64)> {
    Ok(diesel::insert_into(stream_clients::table)
        .values((
            stream_clients::client.eq(client),
            stream_clients::requests.eq(Vec::new()),
            stream_clients::day.eq(0),
            stream_clients::new_streams.eq(0),
            stream_clients::last_seen_at.eq(0),
        ))
        .on_conflict(stream_clients::client)
        .do_update()
        .set(stream_clients::client.eq(client))
        .returning((
            stream_clients::requests,
            stream_clients::day,
            stream_clients::new_streams,
        ))
        .get_result(&mut session.connection)?)
}

/// Allows the transaction to be idle while a claim redacts up to 500 events, which takes longer than other work between
/// two statements.
pub(crate) fn begin_claim(session: &mut PostgresSession) -> Result<()> {
    let allow = format!("SET LOCAL idle_in_transaction_session_timeout = {CLAIM_IDLE_TIMEOUT_MS}");
    Ok(session.connection.batch_execute(&allow)?)
}
