//! Refuses a connection pooler that does not keep a session on one server connection.
//!
//! With transaction pooling, consecutive transactions of a client run on any server connection, and those of different
//! clients on the same one. The settings of a session (timeouts, isolation, read-only) and its advisory locks then belong
//! to whichever client comes next.

use super::connection::{self, Purpose};
use crate::error::{Result, StoreError};
use diesel::connection::SimpleConnection;
use diesel::sql_types::{Nullable, Text};
use diesel::{PgConnection, QueryResult, QueryableByName, RunQueryDsl, sql_query};

/// Marks that are compared. A pooler that takes its server connections in turn may return one to its last client by chance.
const ROUNDS: usize = 4;

#[derive(QueryableByName)]
struct Mark {
    #[diesel(sql_type = Nullable<Text>)]
    mark: Option<String>,
}

fn query(connection: &mut PgConnection, expression: &str) -> QueryResult<Option<String>> {
    let found: Mark = sql_query(format!("SELECT {expression} AS mark")).get_result(connection)?;
    Ok(found.mark)
}

/// Fails if two sessions share a server connection, or one session uses several.
pub(crate) fn refuse_shared_sessions(url: &str) -> Result<()> {
    const READ_MARK: &str = "current_setting('audit.session', true)";
    let mut first = connection::connect(url, Purpose::Write)?;
    let mut second = connection::connect(url, Purpose::Write)?;
    for _ in 0..ROUNDS {
        // The server makes the mark, so it is unique among all nodes.
        let set = "set_config('audit.session', md5(clock_timestamp()::text || random()::text), false)";
        let mark = query(&mut first, set)?;
        // The open transaction holds the server connection that the first session has just released, if it has released it.
        second.batch_execute("BEGIN")?;
        let is_shared = query(&mut second, READ_MARK)? == mark;
        let is_shared = is_shared || query(&mut first, READ_MARK)? != mark;
        second.batch_execute("ROLLBACK")?;
        if is_shared {
            return Err(StoreError::Unsupported(
                "a connection pooler before the database pools transactions: sessions lose their settings. Set pool_mode = \
                 session for this database in PgBouncer, or connect to PostgreSQL directly"
                    .to_owned(),
            ));
        }
    }
    Ok(())
}
