//! Connections that do not change the file of the database.

use super::connection::{BUSY_TIMEOUT_MS, unreachable_file};
use crate::error::Result;
use diesel::connection::SimpleConnection;
use diesel::{Connection, SqliteConnection};
use std::path::Path;

/// Opens the database at `path` to read it. The file is not changed, not even by the end of the connection, which would empty
/// the write-ahead log.
pub(crate) fn connect_read_only(path: &Path) -> Result<SqliteConnection> {
    let mut connection = open_read_only(path)?;
    connection
        .batch_execute("PRAGMA query_only = ON")
        .map_err(|error| unreachable_file(path, &error))?;
    Ok(connection)
}

/// The same, for a connection that may write other files.
pub(crate) fn open_read_only(path: &Path) -> Result<SqliteConnection> {
    let open = |mode: &str| -> Result<SqliteConnection> {
        let uri = format!("file:{}?{mode}", uri_path(path));
        let mut connection =
            SqliteConnection::establish(&uri).map_err(|error| unreachable_file(path, &error))?;
        connection
            .batch_execute(&format!(
                "PRAGMA busy_timeout = {BUSY_TIMEOUT_MS}; PRAGMA temp_store = MEMORY;
                 SELECT count(*) FROM sqlite_schema"
            ))
            .map_err(|error| unreachable_file(path, &error))?;
        Ok(connection)
    };
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    match open("mode=ro") {
        // In a directory that cannot be written, SQLite needs to know that no process writes to the file.
        Err(_) if !Path::new(&log).exists() => open("mode=ro&immutable=1"),
        opened => opened,
    }
}

/// A path within a URI.
fn uri_path(path: &Path) -> String {
    let escape = |character: char| match character {
        '%' | '?' | '#' => format!("%{:02X}", u32::from(character)),
        other => other.to_string(),
    };
    path.to_string_lossy().chars().map(escape).collect()
}
