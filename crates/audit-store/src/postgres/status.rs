//! The state of a PostgreSQL database and its server.

use super::PostgresSession;
use crate::columns::read_id;
use crate::error::Result;
use crate::status::{KindSettings, StorageStatus};
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Binary, Bool, Nullable};

/// Rows of the backlog among which the oldest event is searched for.
const OLDEST_OF_ROWS_MAX: usize = 1_000;

#[derive(QueryableByName)]
struct Sizes {
    #[diesel(sql_type = BigInt)]
    database_bytes: i64,
    #[diesel(sql_type = BigInt)]
    backlog_events: i64,
    #[diesel(sql_type = Nullable<Binary>)]
    oldest_id: Option<Vec<u8>>,
    #[diesel(sql_type = Bool)]
    sees_wal: bool,
}

#[derive(QueryableByName)]
struct WalSize {
    #[diesel(sql_type = BigInt)]
    bytes: i64,
}

pub(crate) fn storage(session: &mut PostgresSession) -> Result<StorageStatus> {
    let query = format!(
        "SELECT pg_database_size(current_database()) AS database_bytes,
             (SELECT coalesce(sum(end_seq - first_seq), 0)::bigint FROM event_backlog) AS backlog_events,
             (SELECT events.id FROM (SELECT ledger_id, first_seq, month FROM event_backlog LIMIT {OLDEST_OF_ROWS_MAX}) AS first
                  JOIN events ON events.ledger_id = first.ledger_id AND events.seq = first.first_seq
                      AND events.month = first.month
              ORDER BY events.id LIMIT 1) AS oldest_id,
             has_function_privilege('pg_ls_waldir()', 'execute') AS sees_wal"
    );
    let sizes: Sizes = diesel::sql_query(query).get_result(&mut session.connection)?;
    // The right is checked when the statement begins, so that it needs one of its own.
    let wal_bytes = match sizes.sees_wal {
        true => {
            let query = "SELECT coalesce(sum(size), 0)::bigint AS bytes FROM pg_ls_waldir()";
            let size: WalSize = diesel::sql_query(query).get_result(&mut session.connection)?;
            Some(size.bytes)
        }
        false => None,
    };
    Ok(StorageStatus {
        database_bytes: sizes.database_bytes,
        wal_bytes,
        index_bytes: None,
        backlog_events: sizes.backlog_events,
        backlog_since: sizes.oldest_id.map(read_id).transpose()?.map(|id| id.time()),
    })
}

pub(crate) fn settings(session: &mut PostgresSession) -> Result<KindSettings> {
    // Statement-level settings of the session do not change any of these.
    let query = "SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint AS clock_micros,
            current_setting('server_version_num')::int AS server_version_num,
            current_setting('server_version') AS server_version,
            current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int
                - coalesce(current_setting('reserved_connections', true)::int, 0) AS connections_max,
            current_setting('fsync') AS fsync,
            current_setting('full_page_writes') AS full_page_writes,
            current_setting('synchronous_commit') AS synchronous_commit,
            current_setting('autovacuum') AS autovacuum,
            current_setting('archive_mode') AS archive_mode,
            coalesce((SELECT last_failed_time > coalesce(last_archived_time, '-infinity') FROM pg_stat_archiver), false)
                AS archiving_fails,
            pg_size_bytes(current_setting('max_wal_size')) AS max_wal_bytes,
            pg_is_in_recovery() AS is_standby,
            (SELECT rolsuper FROM pg_roles WHERE rolname = current_user) AS is_superuser,
            (SELECT client_addr IS NOT NULL AND NOT client_addr <<= ANY('{127.0.0.0/8,::1}'::inet[])
                 AND NOT coalesce((SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()), false)
             FROM pg_stat_activity WHERE pid = pg_backend_pid()) AS is_plain";
    let settings = diesel::sql_query(query).get_result(&mut session.connection)?;
    Ok(KindSettings::Postgres(Box::new(settings)))
}
