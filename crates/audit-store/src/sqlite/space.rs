//! Giving free pages of a file back.

use super::SqliteSession;
use crate::error::Result;
use diesel::connection::SimpleConnection;
use diesel::prelude::*;
use diesel::sql_types::BigInt;

/// Pages that one step gives back. It takes some milliseconds.
const PAGES: i64 = 100;
/// The share of free pages that a file keeps, in percent: the next events use them.
const KEPT_PERCENT: i64 = 25;

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sqlite::connection::{FileOptions, open_file};

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
