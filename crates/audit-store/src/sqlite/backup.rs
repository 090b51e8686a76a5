//! Copies of a database that a server may be using.

use super::connection::{overwrite_deleted, unreachable_file};
use super::read_only::open_read_only;
use crate::error::{Result, StoreError};
use crate::migrate;
use diesel::connection::SimpleConnection;
use diesel::prelude::*;
use diesel::sql_types::Text;
use std::path::Path;

/// The page cache of a copy, in KiB, on each side.
const CACHE_KIB: u32 = 8 * 1024;

/// The schema that the source of a copy must have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SourceSchema {
    /// The one of this version.
    Current,
    /// That, or an earlier one: the copy is migrated.
    CurrentOrEarlier,
}

/// Copies what is committed in the SQLite database at `source` to the empty file at `target`, without free pages and without the
/// index. The file is not synced.
///
/// `VACUUM INTO` reads one snapshot and locks nothing that a commit needs. The backup API of SQLite begins again after each commit
/// of another process, so beside steady writes it does not end. The write-ahead log of the source keeps what is committed meanwhile
/// until the copy ends, and is checkpointed and restarted after it.
///
/// # Errors
/// When the source is no database of this program, has another schema, or cannot be read, and when the target cannot be written.
pub fn copy_snapshot(source: &Path, target: &Path, schema: SourceSchema) -> Result<()> {
    let mut connection = open_read_only(source)?;
    migrate::check_sqlite(&mut connection, schema == SourceSchema::CurrentOrEarlier)?;
    connection
        .batch_execute(&format!("PRAGMA cache_size = -{CACHE_KIB}"))
        .map_err(|error| failed(source, &error))?;
    // An absolute path is never taken for a URI.
    let absolute = std::path::absolute(target).map_err(|error| failed(source, &error))?;
    diesel::sql_query("VACUUM INTO ?")
        .bind::<Text, _>(absolute.to_string_lossy())
        .execute(&mut connection)
        .map_err(|error| failed(source, &error))?;
    drop(connection);
    match schema {
        SourceSchema::Current => Ok(()),
        SourceSchema::CurrentOrEarlier => migrate::sqlite(&mut open_file_alone(&absolute)?),
    }
}

/// Opens a file that no other process knows, without a write-ahead log.
fn open_file_alone(path: &Path) -> Result<SqliteConnection> {
    let mut connection = SqliteConnection::establish(&path.to_string_lossy())
        .map_err(|error| unreachable_file(path, &error))?;
    connection
        .batch_execute(&format!(
            "PRAGMA synchronous = FULL; PRAGMA temp_store = MEMORY; PRAGMA cache_size = -{CACHE_KIB}"
        ))
        .map_err(|error| unreachable_file(path, &error))?;
    overwrite_deleted(&mut connection).map_err(|error| unreachable_file(path, &error))?;
    Ok(connection)
}

/// Checks that every page of a copy is used once, every row is well-formed, and every index has the rows of its table.
///
/// # Errors
/// When the copy is damaged, or cannot be read.
pub fn check_copy(path: &Path) -> Result<()> {
    #[derive(QueryableByName)]
    struct Check {
        #[diesel(sql_type = Text)]
        integrity_check: String,
    }
    let mut connection = open_read_only(path)?;
    let checked: Check = diesel::sql_query("PRAGMA integrity_check(1)").get_result(&mut connection)?;
    match checked.integrity_check.as_str() {
        "ok" => Ok(()),
        problem => Err(StoreError::CopyFailed(format!(
            "the database is damaged: {problem}"
        ))),
    }
}

fn failed(source: &Path, error: &dyn std::fmt::Display) -> StoreError {
    StoreError::CopyFailed(format!("cannot copy {}: {error}", source.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER_BYTES: usize = 100;
    use crate::sqlite::connection::{FileOptions, open_file};

    #[test]
    fn a_database_of_another_program_is_not_copied() {
        let folder = tempfile::tempdir().unwrap();
        let (source, target) = (folder.path().join("a.db"), folder.path().join("b.db"));
        let mut connection = SqliteConnection::establish(&source.to_string_lossy()).unwrap();
        connection.batch_execute("CREATE TABLE a (x TEXT)").unwrap();
        for schema in [SourceSchema::Current, SourceSchema::CurrentOrEarlier] {
            let refused = copy_snapshot(&source, &target, schema).unwrap_err().to_string();
            assert!(refused.contains("not a database of this program"), "{refused}");
            assert!(!target.exists());
        }
    }

    #[test]
    fn an_earlier_schema_is_migrated_only_in_a_copy_that_may_have_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let mut connection = SqliteConnection::establish(&path("a.db").to_string_lossy()).unwrap();
        connection
            .batch_execute(
                "CREATE TABLE __diesel_schema_migrations (version TEXT PRIMARY KEY, run_on TIMESTAMP)",
            )
            .unwrap();
        let copy = |target: &str, schema| copy_snapshot(&path("a.db"), &path(target), schema);
        let refused = copy("b.db", SourceSchema::Current).unwrap_err().to_string();
        assert!(refused.contains("has to migrate it first"), "{refused}");
        copy("c.db", SourceSchema::CurrentOrEarlier).unwrap();
        let mut copied = SqliteConnection::establish(&path("c.db").to_string_lossy()).unwrap();
        copied.batch_execute("SELECT size FROM ledgers").unwrap();
        assert!(connection.batch_execute("SELECT size FROM ledgers").is_err());
    }

    #[test]
    fn the_write_ahead_log_gives_its_space_back_after_a_long_reader() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.db");
        let options = FileOptions {
            page_bytes: 4_096,
            cache_kib: 1_024,
            checkpoint_kib: 512,
        };
        let mut writer = open_file(&path, options).unwrap();
        writer.batch_execute("CREATE TABLE a (x BLOB)").unwrap();
        let mut write = |bytes: u32| {
            let insert = format!("INSERT INTO a VALUES (zeroblob({bytes}))");
            writer.batch_execute(&insert).unwrap();
            path.with_extension("db-wal").metadata().unwrap().len()
        };
        let mut reader = open_read_only(&path).unwrap();
        reader.batch_execute("BEGIN; SELECT count(*) FROM a").unwrap();
        for _ in 0..10 {
            write(400_000);
        }
        assert!(write(1) > 4_000_000, "the reader needs it");
        reader.batch_execute("COMMIT").unwrap();
        // One commit moves the log into the file, and the next one begins it anew.
        write(1);
        let bytes = write(1);
        assert!(bytes <= 512 * 1_024, "{bytes}");
    }

    /// What a migration deletes.
    #[test]
    fn a_copy_that_is_migrated_overwrites_what_it_deletes() {
        #[derive(QueryableByName)]
        struct Found {
            #[diesel(sql_type = diesel::sql_types::Integer)]
            secure_delete: i32,
        }
        let folder = tempfile::tempdir().unwrap();
        let mut connection = open_file_alone(&folder.path().join("copy.db")).unwrap();
        let pragma = diesel::sql_query("PRAGMA main.secure_delete");
        let found: Found = pragma.get_result(&mut connection).unwrap();
        assert_eq!(found.secure_delete, 1);
    }

    /// The first 100 bytes of a file of SQLite say how to read the others.
    #[test]
    fn a_copy_with_any_bit_of_its_header_changed_is_refused_or_reads_the_same() {
        let folder = tempfile::tempdir().unwrap();
        let (source, copy) = (folder.path().join("source.db"), folder.path().join("copy.db"));
        migrate::sqlite(&mut open_file_alone(&source).unwrap()).unwrap();
        copy_snapshot(&source, &copy, SourceSchema::Current).unwrap();
        let bytes = std::fs::read(&copy).unwrap();
        let read = |path: &Path| -> Result<Vec<String>> {
            #[derive(QueryableByName)]
            struct Row {
                #[diesel(sql_type = Text)]
                sql: String,
            }
            check_copy(path)?;
            let mut connection = open_read_only(path)?;
            migrate::check_sqlite(&mut connection, false)?;
            let schema = "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY name";
            let rows: Vec<Row> = diesel::sql_query(schema).load(&mut connection)?;
            Ok(rows.into_iter().map(|row| row.sql).collect())
        };
        let whole = read(&copy).unwrap();
        assert!(whole.len() > 10, "{whole:?}");
        let changed = folder.path().join("changed.db");
        let mut refused = 0;
        for bit in 0..HEADER_BYTES * 8 {
            let mut bytes = bytes.clone();
            bytes[bit / 8] ^= 1 << (bit % 8);
            std::fs::write(&changed, bytes).unwrap();
            match read(&changed) {
                Ok(rows) => assert_eq!(rows, whole, "bit {bit}"),
                Err(_) => refused += 1,
            }
        }
        assert!(refused >= 16 * 8, "the name of the format at least");
    }

    #[test]
    fn a_damaged_structure_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.db");
        let mut connection = SqliteConnection::establish(&path.to_string_lossy()).unwrap();
        connection
            .batch_execute(
                "CREATE TABLE a (x TEXT); CREATE INDEX i ON a (x); INSERT INTO a VALUES ('one'), ('two');
                 PRAGMA writable_schema = ON; DELETE FROM sqlite_schema WHERE name = 'i'",
            )
            .unwrap();
        drop(connection);
        let problem = check_copy(&path).unwrap_err().to_string();
        assert!(problem.contains("damaged"), "{problem}");
    }
}
