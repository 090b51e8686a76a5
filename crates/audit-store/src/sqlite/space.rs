//! Giving free pages of a file back, overwriting what SQLite leaves in the others, and emptying the write-ahead log.

use super::SqliteSession;
use crate::error::{Result, StoreError};
use diesel::connection::SimpleConnection;
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Binary, Integer};
use std::ops::Range;

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

/// Refuses a SQLite with which [`overwrite_unused`] would fail: an erasure would never end.
pub(super) fn require_page_table(connection: &mut SqliteConnection) -> Result<()> {
    #[derive(QueryableByName)]
    struct Found {
        #[diesel(sql_type = BigInt)]
        modules: i64,
    }
    let count = "SELECT count(*) AS modules FROM pragma_module_list WHERE name = 'sqlite_dbpage'";
    match diesel::sql_query(count).get_result::<Found>(connection)?.modules {
        0 => Err(StoreError::Unsupported(
            "SQLite was compiled without sqlite_dbpage, which erasures need: build with the flags of .cargo/config.toml".to_owned(),
        )),
        _ => Ok(()),
    }
}

/// The first page of [`overwrite_unused`].
pub(crate) const FIRST_PAGE: i64 = 1;
/// Page 1 begins with the header of the file (<https://www.sqlite.org/fileformat2.html>).
const FILE_HEADER_BYTES: usize = 100;
/// The bytes of an entry of a pointer map: the kind of a page, and its parent.
const POINTER_BYTES: i64 = 5;
/// The kinds of pages of b-trees: roots and others.
const ROOT: u8 = 1;
const BTREE: u8 = 5;

/// Overwrites the unused space of some pages of a file, in a transaction. Returns the first page of the next step; `None` at the end.
///
/// No other file may be attached: to change a page, SQLite begins to write all of them.
///
/// `secure_delete` overwrites what is deleted. But where SQLite balances the pages of a tree, because rows have grown or gone, copies of the
/// rows that it moves stay in the unused space between the cell pointers and the cells of a page, and are not found when their row is
/// deleted later. A file that was created without `auto_vacuum` does not say which pages are those of trees, and stays as it is.
pub(super) fn overwrite_unused(connection: &mut SqliteConnection, first_page: i64) -> Result<Option<i64>> {
    connection.immediate_transaction(|connection| overwrite_in(connection, first_page))
}

fn overwrite_in(connection: &mut SqliteConnection, first_page: i64) -> Result<Option<i64>> {
    #[derive(QueryableByName)]
    struct Page {
        #[diesel(sql_type = BigInt)]
        pgno: i64,
        #[diesel(sql_type = Binary)]
        data: Vec<u8>,
    }
    let read = "WITH RECURSIVE numbers (number) AS (VALUES (?) UNION ALL SELECT number + 1 FROM numbers WHERE number < ?) \
                SELECT pgno, data FROM numbers CROSS JOIN sqlite_dbpage WHERE pgno = number";
    let mut pages = |first: i64, last: i64| {
        let read = diesel::sql_query(read).bind::<BigInt, _>(first);
        read.bind::<BigInt, _>(last).load::<Page>(connection)
    };
    let header = pages(FIRST_PAGE, FIRST_PAGE)?;
    let Some(header) = header.first() else {
        return Ok(None);
    };
    let (page_bytes, reserved) = (header.data.len(), usize::from(header.data[20]));
    let usable = page_bytes - reserved;
    if header.data[52..56] == [0; 4] {
        return Ok(None);
    }
    // A page of the pointer map is followed by those that it describes.
    let group = usable as i64 / POINTER_BYTES + 1;
    let begin = (first_page - 2).max(0) / group * group + 2;
    // The page with the bytes of locks is never used.
    let map = begin + i64::from(begin == 0x4000_0000 / page_bytes as i64 + 1);
    let found = pages(begin, begin + group - 1)?;
    let kinds = found.iter().find(|page| page.pgno == map);
    let kind = |pgno: i64| {
        let entry = usize::try_from((pgno - map - 1) * POINTER_BYTES).ok()?;
        kinds?.data.get(entry).copied()
    };
    let is_tree = |page: &&Page| matches!(kind(page.pgno), Some(ROOT | BTREE));
    let first = Some(header).filter(|_| first_page == FIRST_PAGE);
    let mut overwritten = Vec::new();
    for page in found.iter().filter(is_tree).chain(first) {
        let at = if page.pgno == FIRST_PAGE {
            FILE_HEADER_BYTES
        } else {
            0
        };
        if let Some(unused) = unused(&page.data[..usable], at)
            && page.data[unused.clone()].iter().any(|byte| *byte != 0)
        {
            let mut data = page.data.clone();
            data[unused].fill(0);
            overwritten.push((page.pgno, data));
        }
    }
    let next = (found.len() as i64 == group).then_some(begin + group);
    for (pgno, data) in overwritten {
        diesel::sql_query("UPDATE sqlite_dbpage SET data = ? WHERE pgno = ?")
            .bind::<Binary, _>(data)
            .bind::<BigInt, _>(pgno)
            .execute(connection)?;
    }
    Ok(next)
}

/// The space between the cell pointers and the cells of a page of a b-tree, whose header is at `at`. `None` of what is no such page.
fn unused(page: &[u8], at: usize) -> Option<Range<usize>> {
    let header_bytes = match page[at] {
        0x0a | 0x0d => 8,
        0x02 | 0x05 => 12,
        _ => return None,
    };
    let number = |offset: usize| usize::from(u16::from_be_bytes([page[at + offset], page[at + offset + 1]]));
    let start = at + header_bytes + 2 * number(3);
    // 0 is 65,536.
    let end = match number(5) {
        0 => 65_536,
        end => end,
    };
    (start <= end && end <= page.len()).then_some(start..end)
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

    /// Rows that grow are moved to other pages, before they are erased in turn.
    #[test]
    fn what_was_moved_before_it_was_deleted_is_overwritten() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.db");
        let options = FileOptions {
            page_bytes: 4_096,
            cache_kib: 1_000,
            checkpoint_kib: 40_960,
        };
        let mut file = open_file(&path, options).unwrap();
        super::super::connection::overwrite_deleted(&mut file).unwrap();
        file.batch_execute(
            "CREATE TABLE a (id INTEGER PRIMARY KEY, x TEXT);
             WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 16000)
             INSERT INTO a SELECT i, 'confidential' || hex(zeroblob(i * 31 % 200)) FROM n;
             BEGIN",
        )
        .unwrap();
        for id in 1..=16_000 {
            let erase = "UPDATE a SET x = 'erased' || hex(zeroblob(id * 101 % 300)) WHERE id = ";
            file.batch_execute(&format!("{erase}{id}")).unwrap();
        }
        file.batch_execute("COMMIT").unwrap();
        let is_in_file = |file: &mut SqliteConnection| {
            empty_log(file).unwrap();
            let bytes = std::fs::read(&path).unwrap();
            bytes.windows(12).any(|window| window == b"confidential")
        };
        assert!(is_in_file(&mut file), "SQLite overwrites this itself");
        let (mut next, mut steps) = (Some(FIRST_PAGE), 0);
        while let Some(page) = next {
            next = overwrite_unused(&mut file, page).unwrap();
            steps += 1;
        }
        assert!(!is_in_file(&mut file));
        assert!(steps > 1, "{steps}");

        #[derive(QueryableByName)]
        struct Found {
            #[diesel(sql_type = diesel::sql_types::Text)]
            result: String,
        }
        let check = "SELECT integrity_check || (SELECT count(*) FROM a WHERE x LIKE 'erased%') AS result FROM pragma_integrity_check";
        let found: Found = diesel::sql_query(check).get_result(&mut file).unwrap();
        assert_eq!(found.result, "ok16000");
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
