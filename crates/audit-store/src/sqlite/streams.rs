//! Streams on SQLite.

use super::SqliteSession;
use crate::error::Result;
use crate::schema::stream_clients;
use diesel::prelude::*;

/// A client of streams: requests, day and new streams. Its first request creates an empty row.
pub(crate) fn lock_client(session: &mut SqliteSession, client: &str) -> Result<(Vec<u8>, i64, i64)> {
    diesel::insert_or_ignore_into(stream_clients::table)
        .values((
            stream_clients::client.eq(client),
            stream_clients::requests.eq(Vec::new()),
            stream_clients::day.eq(0),
            stream_clients::new_streams.eq(0),
            stream_clients::last_seen_at.eq(0),
        ))
        .execute(&mut session.connection)?;
    Ok(stream_clients::table
        .find(client)
        .select((
            stream_clients::requests,
            stream_clients::day,
            stream_clients::new_streams,
        ))
        .get_result(&mut session.connection)?)
}

/// A transaction may be idle.
#[expect(clippy::unnecessary_wraps, reason = "PostgreSQL's can fail")]
pub(crate) fn begin_claim(_: &mut SqliteSession) -> Result<()> {
    Ok(())
}
