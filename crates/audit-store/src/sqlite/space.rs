//! Giving free pages of a file back, overwriting what SQLite leaves in the others, and emptying the write-ahead log.

use super::{SqliteSession, wal};
use crate::error::{Result, StoreError};
use diesel::connection::SimpleConnection;
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Binary, Integer};
use std::collections::{BTreeMap, HashSet};
use std::ops::{Range, RangeInclusive};
use std::path::Path;

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
    /// `PRAGMA auto_vacuum` of a file with [`super::connection::FREE_PAGES`].
    const INCREMENTAL: i64 = 2;
    let pages = counts(connection)?;
    let kept = pages.page_count * kept_percent / 100;
    if pages.auto_vacuum != INCREMENTAL || pages.freelist_count <= kept {
        return Ok(false);
    }
    connection.batch_execute(&format!("PRAGMA main.incremental_vacuum({PAGES})"))?;
    Ok(true)
}

#[derive(QueryableByName)]
struct Counts {
    #[diesel(sql_type = BigInt)]
    page_count: i64,
    #[diesel(sql_type = BigInt)]
    freelist_count: i64,
    #[diesel(sql_type = BigInt)]
    auto_vacuum: i64,
}

/// The pages of a file.
fn counts(connection: &mut SqliteConnection) -> Result<Counts> {
    let counts = "SELECT page_count, freelist_count, auto_vacuum \
                  FROM pragma_page_count, pragma_freelist_count, pragma_auto_vacuum";
    Ok(diesel::sql_query(counts).get_result(connection)?)
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

/// Warns of a file of which [`overwrite_unused`] overwrites nothing.
pub(super) fn warn_if_not_overwritten(connection: &mut SqliteConnection, path: &Path) -> Result<()> {
    if counts(connection)?.auto_vacuum == 0 {
        log::warn!(
            "{} was created without auto_vacuum, by a development version: an erasure does not overwrite the copies of rows that SQLite \
             has left in its pages; a backup that is restored has none",
            path.display()
        );
    }
    Ok(())
}

/// Where unused space is overwritten next: in one of the files, from this page down.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    pub(crate) is_index: bool,
    pub(crate) last_page: i64,
}

/// The last page of a file, however long it is.
pub(crate) const LAST_PAGE: i64 = i64::MAX;

impl Place {
    /// The first place of all.
    pub(crate) const FIRST: Self = Self {
        is_index: false,
        last_page: LAST_PAGE,
    };
}

/// Pages that [`overwrite_unused`] looks at in one call.
const STEP_PAGES: i64 = 16 * BATCH_PAGES;
/// Pages that are read, and where needed overwritten, in one transaction.
const BATCH_PAGES: i64 = 64;
/// The pages of a write-ahead log that are not in the file yet, above which nothing is overwritten, in bytes.
const LOG_BYTES_MAX: i64 = 256 << 20;
/// Page 1 begins with the header of the file (<https://www.sqlite.org/fileformat2.html>).
const FILE_HEADER_BYTES: usize = 100;
/// The bytes of an entry of a pointer map: the kind of a page, and its parent.
const POINTER_BYTES: i64 = 5;
/// The kinds of pages: roots of b-trees, free ones, and others of b-trees.
const ROOT: u8 = 1;
const FREE: u8 = 2;
const BTREE: u8 = 5;

/// Overwrites the unused space of some pages of a file, and its free pages, from `last_page` down. Returns the last page of the next step; `None` at the end.
///
/// No other file may be attached: to change a page, SQLite begins to write all of them.
///
/// `secure_delete` overwrites what is deleted. But where SQLite balances the pages of a tree, because rows have grown or gone, copies of the
/// rows that it moves stay in the unused space between the cell pointers and the cells of a page, and are not found when their row is
/// deleted later. And `FAST` leaves whole pages as they are. A file that was created without `auto_vacuum` does not say which pages are
/// those of trees, and stays as it is.
///
/// The way is down, because a file that gives pages back moves its last pages to the place of free ones before them.
///
/// # Errors
/// [`StoreError::InUse`] while others read the file for so long that its write-ahead log has become long.
pub(super) fn overwrite_unused(connection: &mut SqliteConnection, last_page: i64) -> Result<Option<i64>> {
    if wal::unmoved_bytes(connection)? > LOG_BYTES_MAX {
        return Err(StoreError::InUse(
            "other sessions read the database, and its write-ahead log is long: unused space is overwritten later".to_owned(),
        ));
    }
    let mut next = Some(last_page);
    for _ in 0..STEP_PAGES / BATCH_PAGES {
        let Some(last_page) = next else {
            break;
        };
        // Most have nothing to overwrite, and need no write lock.
        let mut batch = connection.transaction(|connection| Batch::read(connection, last_page))?;
        if !batch.overwritten.is_empty() {
            batch = connection.immediate_transaction(|connection| {
                let batch = Batch::read(connection, last_page)?;
                batch.write(connection)?;
                Ok::<_, StoreError>(batch)
            })?;
        }
        next = batch.next;
    }
    Ok(next)
}

#[derive(QueryableByName)]
struct Page {
    #[diesel(sql_type = BigInt)]
    pgno: i64,
    #[diesel(sql_type = Binary)]
    data: Vec<u8>,
}

/// Pages as they are, in the order of their numbers.
fn pages(connection: &mut SqliteConnection, numbers: RangeInclusive<i64>) -> Result<Vec<Page>> {
    let read = "WITH RECURSIVE numbers (number) AS (VALUES (?) UNION ALL SELECT number + 1 FROM numbers WHERE number < ?) \
                SELECT pgno, data FROM numbers CROSS JOIN sqlite_dbpage WHERE pgno = number";
    let read = diesel::sql_query(read).bind::<BigInt, _>(numbers.start());
    Ok(read.bind::<BigInt, _>(numbers.end()).load(connection)?)
}

/// Pages of a file that are looked at in one transaction.
#[derive(Default)]
struct Batch {
    /// Those that have something in their unused space, without it.
    overwritten: Vec<Page>,
    /// The last page of the next batch.
    next: Option<i64>,
}

impl Batch {
    /// The batch that ends at `last_page`, within a transaction.
    fn read(connection: &mut SqliteConnection, last_page: i64) -> Result<Self> {
        let counts = counts(connection)?;
        let last = last_page.min(counts.page_count);
        if last < 1 || counts.auto_vacuum == 0 {
            return Ok(Self::default());
        }
        let header = pages(connection, 1..=1)?;
        let Some(header) = header.first().map(|page| &page.data) else {
            return Ok(Self::default());
        };
        let (page_bytes, reserved) = (header.len(), usize::from(header[20]));
        let usable = page_bytes - reserved;
        // A page of the pointer map is followed by those that it describes. Page 1 is before the first.
        let group = usable as i64 / POINTER_BYTES + 1;
        let begin = (last - 2).max(0) / group * group + 2;
        // The page with the bytes of locks is never used.
        let map = begin + i64::from(begin == 0x4000_0000 / page_bytes as i64 + 1);
        let first = (last - BATCH_PAGES + 1).max(if last == 1 { 1 } else { begin });
        let mut found = pages(connection, first..=last)?;
        let kinds = pages(connection, map..=map)?;
        let kind = |pgno: i64| {
            let entry = usize::try_from((pgno - map - 1) * POINTER_BYTES).ok()?;
            kinds.first()?.data.get(entry).copied()
        };
        let is_used = |page: &Page| page.data.iter().any(|byte| *byte != 0);
        let has_free = found
            .iter()
            .any(|page| kind(page.pgno) == Some(FREE) && is_used(page));
        let free = match has_free {
            true => free_pages(connection, header, first..=last)?,
            false => BTreeMap::new(),
        };
        found.retain_mut(|page| {
            let unused = match (page.pgno, kind(page.pgno)) {
                (1, _) => unused(&page.data[..usable], FILE_HEADER_BYTES),
                (_, Some(ROOT | BTREE)) => unused(&page.data[..usable], 0),
                (pgno, Some(FREE)) => free.get(&pgno).map(|used| (*used).min(usable)..usable),
                _ => None,
            };
            let unused = unused.map_or(&mut [][..], |unused| &mut page.data[unused]);
            let has_rest = unused.iter().any(|byte| *byte != 0);
            unused.fill(0);
            has_rest
        });
        Ok(Self {
            overwritten: found,
            next: (first > 1).then(|| first - 1),
        })
    }

    fn write(&self, connection: &mut SqliteConnection) -> Result<()> {
        for page in &self.overwritten {
            diesel::sql_query("UPDATE sqlite_dbpage SET data = ? WHERE pgno = ?")
                .bind::<Binary, _>(&page.data)
                .bind::<BigInt, _>(page.pgno)
                .execute(connection)?;
        }
        Ok(())
    }
}

/// The free pages with these numbers, each with the bytes at its begin that are used: those that list others have the number of the next
/// such page, a count, and as many numbers.
fn free_pages(
    connection: &mut SqliteConnection,
    header: &[u8],
    numbers: RangeInclusive<i64>,
) -> Result<BTreeMap<i64, usize>> {
    let number = |bytes: &[u8]| {
        bytes
            .iter()
            .fold(0, |number, byte| number << 8 | i64::from(*byte))
    };
    let (mut free, mut lists) = (BTreeMap::new(), HashSet::new());
    let mut next = number(&header[32..36]);
    // A list of a damaged file may be endless.
    while next != 0 && lists.insert(next) {
        let list = pages(connection, next..=next)?;
        let Some(list) = list.first() else {
            break;
        };
        let (head, listed) = list.data.split_at(8);
        let listed = listed.chunks_exact(4).take(number(&head[4..]) as usize);
        if numbers.contains(&next) {
            free.insert(next, head.len() + 4 * listed.len());
        }
        free.extend(
            listed
                .map(number)
                .filter(|listed| numbers.contains(listed))
                .map(|listed| (listed, 0)),
        );
        next = number(&head[..4]);
    }
    Ok(free)
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
        grow(&mut file);
        let is_in_file = |file: &mut SqliteConnection| {
            empty_log(file).unwrap();
            let bytes = std::fs::read(&path).unwrap();
            bytes.windows(12).any(|window| window == b"confidential")
        };
        assert!(is_in_file(&mut file), "SQLite overwrites this itself");
        let mut writer = open_file(&path, options).unwrap();
        writer.batch_execute("BEGIN IMMEDIATE").unwrap();
        let locked = overwrite_unused(&mut file, LAST_PAGE);
        assert!(locked.is_err(), "{locked:?}");
        writer.batch_execute("ROLLBACK").unwrap();
        let steps = overwrite_all(&mut file);
        assert!(!is_in_file(&mut file));
        assert!(steps > 1, "{steps}");
        // Only what has something to overwrite needs the lock.
        writer.batch_execute("BEGIN IMMEDIATE").unwrap();
        assert_eq!(overwrite_all(&mut file), steps);
        let check = "SELECT integrity_check || (SELECT count(*) FROM grown WHERE x LIKE 'erased%') AS result FROM pragma_integrity_check";
        assert_eq!(text(&mut file, check), "ok16000");
    }

    /// Makes a table of 16,000 rows that grow. They have no confidential text any more.
    fn grow(file: &mut SqliteConnection) {
        file.batch_execute(
            "CREATE TABLE grown (id INTEGER PRIMARY KEY, x TEXT);
             WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 16000)
             INSERT INTO grown SELECT i, 'confidential' || hex(zeroblob(i * 31 % 200)) FROM n;
             BEGIN",
        )
        .unwrap();
        for id in 1..=16_000 {
            let erase = "UPDATE grown SET x = 'erased' || hex(zeroblob(id * 101 % 300)) WHERE id = ";
            file.batch_execute(&format!("{erase}{id}")).unwrap();
        }
        file.batch_execute("COMMIT").unwrap();
    }

    /// Overwrites the unused space of a file. Returns the number of steps.
    fn overwrite_all(file: &mut SqliteConnection) -> usize {
        let (mut next, mut steps) = (Some(LAST_PAGE), 0);
        while let Some(page) = next {
            next = overwrite_unused(file, page).unwrap();
            steps += 1;
        }
        steps
    }

    fn text(file: &mut SqliteConnection, query: &str) -> String {
        #[derive(QueryableByName)]
        struct Found {
            #[diesel(sql_type = diesel::sql_types::Text)]
            result: String,
        }
        let found: Found = diesel::sql_query(query).get_result(file).unwrap();
        found.result
    }

    /// As those of the index, whose pages are given back while others are overwritten.
    #[test]
    fn free_pages_are_overwritten_wherever_the_file_moves_others() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.db");
        let mut file = super::super::index::connect(&path).unwrap();
        let file_path = super::super::index::file::path(&path);
        file.batch_execute(
            "CREATE TABLE a (id INTEGER PRIMARY KEY, x BLOB);
             WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 9000)
             INSERT INTO a SELECT i, 'confidential' || zeroblob(3500) FROM n",
        )
        .unwrap();
        grow(&mut file);
        file.batch_execute("DELETE FROM a WHERE id % 3 > 0; UPDATE a SET x = 'erased' || zeroblob(3500)")
            .unwrap();
        let is_in_file = |file: &mut SqliteConnection| {
            empty_log(file).unwrap();
            let bytes = std::fs::read(&file_path).unwrap();
            bytes.windows(12).any(|window| window == b"confidential")
        };
        assert!(is_in_file(&mut file), "free pages stay as they are");
        let free = "SELECT CAST(freelist_count AS TEXT) AS result FROM pragma_freelist_count";
        // More than one page lists them.
        assert!(text(&mut file, free).parse::<u32>().unwrap() > 2_000);
        let mut next = overwrite_unused(&mut file, LAST_PAGE).unwrap();
        // The last pages go to the place of free ones.
        for _ in 0..5 {
            assert!(give_back_pages(&mut file, 0).unwrap());
        }
        while let Some(page) = next {
            next = overwrite_unused(&mut file, page).unwrap();
        }
        assert!(!is_in_file(&mut file));
        assert!(text(&mut file, free).parse::<u32>().unwrap() > 2_000);
        let check =
            "SELECT integrity_check || (SELECT count(*) FROM a) AS result FROM pragma_integrity_check";
        assert_eq!(text(&mut file, check), "ok3000");
        // The lists are as before.
        while give_back_pages(&mut file, 0).unwrap() {}
        assert_eq!(text(&mut file, check), "ok3000");
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
