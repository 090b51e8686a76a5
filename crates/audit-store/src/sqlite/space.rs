//! Giving free pages of a file back, and emptying its write-ahead log.

use super::SqliteSession;
use crate::error::{Result, StoreError};
use diesel::connection::SimpleConnection;
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Integer};

/// Pages that one step gives back. It takes some milliseconds.
const PAGES: i64 = 100;
/// The share of free pages that a file keeps, in percent: the next events use them.
const KEPT_PERCENT: i64 = 25;
/// How long readers of a write-ahead log are waited for. Writers wait as long.
const EMPTY_TIMEOUT_MS: u32 = 200;

/// [`crate::Store::give_back_space`]. A step within the transaction of the writer.
pub(crate) fn give_back(session: &mut SqliteSession) -> Result<bool> {
    give_back_pages(&mut session.connection, KEPT_PERCENT)
}

/// Gives free pages back while more than `kept_percent` of the file are free. Returns whether there are more. A file that was created
/// without `auto_vacuum` stays as it is.
pub(super) fn give_back_pages(connection: &mut SqliteConnection, kept_percent: i64) -> Result<bool> {
    #[derive(QueryableByName)]
    struct Pages {
        #[diesel(sql_type = BigInt)]
        page_count: i64,
        #[diesel(sql_type = BigInt)]
        freelist_count: i64,
        #[diesel(sql_type = BigInt)]
        auto_vacuum: i64,
    }
    /// `PRAGMA auto_vacuum` of a file with [`super::connection::FREE_PAGES`].
    const INCREMENTAL: i64 = 2;
    let pages = "SELECT page_count, freelist_count, auto_vacuum \
                 FROM pragma_page_count, pragma_freelist_count, pragma_auto_vacuum";
    let pages: Pages = diesel::sql_query(pages).get_result(connection)?;
    let kept = pages.page_count * kept_percent / 100;
    if pages.auto_vacuum != INCREMENTAL || pages.freelist_count <= kept {
        return Ok(false);
    }
    connection.batch_execute(&format!("PRAGMA main.incremental_vacuum({PAGES})"))?;
    Ok(true)
}

/// Moves the write-ahead log of a file into it, and empties it.
///
/// # Errors
/// [`StoreError::InUse`] while others read it.
pub(super) fn empty_log(connection: &mut SqliteConnection) -> Result<()> {
    #[derive(QueryableByName)]
    struct Outcome {
        #[diesel(sql_type = Integer)]
        busy: i32,
    }
    // First as far as nobody waits.
    connection.batch_execute(&format!(
        "PRAGMA main.wal_checkpoint(PASSIVE); PRAGMA busy_timeout = {EMPTY_TIMEOUT_MS}"
    ))?;
    let outcome: Outcome =
        diesel::sql_query("PRAGMA main.wal_checkpoint(TRUNCATE)").get_result(connection)?;
    match outcome.busy {
        0 => Ok(()),
        _ => Err(StoreError::InUse(
            "other sessions read the database: its write-ahead log, which has what was erased, is emptied later".to_owned(),
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sqlite::connection::{FileOptions, open_file};

    #[test]
    fn a_log_is_emptied_when_nobody_reads_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.db");
        let options = FileOptions {
            page_bytes: 4_096,
            cache_kib: 1_000,
            checkpoint_kib: 40_960,
        };
        let (mut file, mut reader) = (
            open_file(&path, options).unwrap(),
            open_file(&path, options).unwrap(),
        );
        file.batch_execute("CREATE TABLE a (x TEXT); INSERT INTO a VALUES ('x')")
            .unwrap();
        reader.batch_execute("BEGIN; SELECT * FROM a").unwrap();
        file.batch_execute("DELETE FROM a").unwrap();
        let in_use = empty_log(&mut file);
        assert!(matches!(in_use, Err(StoreError::InUse(_))), "{in_use:?}");
        reader.batch_execute("ROLLBACK").unwrap();
        empty_log(&mut file).unwrap();
        let log_bytes = std::fs::metadata(folder.path().join("a.db-wal")).unwrap().len();
        assert_eq!(log_bytes, 0);
    }

    #[test]
    fn a_file_shrinks_until_the_share_of_free_pages_is_small() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.db");
        let options = FileOptions {
            page_bytes: 4_096,
            cache_kib: 1_000,
            checkpoint_kib: 40_960,
        };
        let mut file = open_file(&path, options).unwrap();
        file.batch_execute(
            "CREATE TABLE a (x BLOB);
             WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 2000)
             INSERT INTO a SELECT randomblob(4000) FROM n;
             DELETE FROM a WHERE rowid <= 1500",
        )
        .unwrap();
        let mut steps = 0;
        let mut shrink = |kept_percent| {
            while file
                .immediate_transaction(|file| give_back_pages(file, kept_percent))
                .unwrap()
            {
                steps += 1;
            }
            file.batch_execute("PRAGMA wal_checkpoint(TRUNCATE)").unwrap();
            (std::fs::metadata(&path).unwrap().len() / 4_096, steps)
        };
        let (pages, steps) = shrink(25);
        assert!((500..700).contains(&pages) && steps > 10, "{pages} {steps}");
        let (pages, _) = shrink(0);
        assert!((500..510).contains(&pages), "{pages}");
        assert_eq!(shrink(0).0, pages);
    }
}
