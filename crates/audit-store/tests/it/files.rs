//! The files of the store, read and changed without it.

use audit_index::{Block, BlockId, Blocks, Damaged, Roots, Segment};
use diesel::connection::SimpleConnection;
use diesel::prelude::*;
use diesel::sql_types::BigInt;
use std::path::Path;

#[derive(QueryableByName)]
struct Count {
    #[diesel(sql_type = BigInt)]
    count: i64,
}

/// Opens a file of the store.
pub(crate) fn connect(folder: &Path, name: &str) -> SqliteConnection {
    let path = folder.join(name);
    SqliteConnection::establish(path.to_str().expect("a path in UTF-8")).expect("the database opens")
}

diesel::table! {
    index_segments (id) {
        id -> BigInt,
        level -> BigInt,
        row_count -> BigInt,
        first_position -> BigInt,
        last_position -> BigInt,
        leaves -> BigInt,
        directories -> BigInt,
        roots -> Binary,
        is_complete -> Bool,
    }
}

diesel::table! {
    index_blocks (id) { id -> BigInt, bytes -> Binary, }
}

struct Stored(SqliteConnection);

impl Blocks for Stored {
    type Error = Damaged;

    fn read(&mut self, block: BlockId) -> Result<Option<Block>, Damaged> {
        let bytes = index_blocks::table.find(block.key()).select(index_blocks::bytes);
        let bytes: Option<Vec<u8>> = bytes
            .get_result(&mut self.0)
            .optional()
            .expect("the index is read");
        bytes.map(|bytes| Block::check(block, bytes)).transpose()
    }
}

type SegmentRow = (i64, i64, i64, i64, i64, i64, i64, Vec<u8>, bool);

/// The segments of the index. Panics when a merge has not finished.
pub(crate) fn segments(index: &mut SqliteConnection) -> Vec<Segment> {
    let rows: Vec<SegmentRow> = index_segments::table
        .load(index)
        .expect("the segments are listed");
    let read = |row: SegmentRow| {
        let small = |number: i64| u32::try_from(number).expect("a small number");
        assert!(row.8, "an unfinished segment");
        let segment = Segment {
            id: small(row.0),
            level: small(row.1),
            rows: small(row.2),
            first: row.3,
            last: row.4,
            leaves: small(row.5),
            directories: small(row.6),
            roots: Roots::default(),
        };
        segment
            .with_stored_roots(&row.7)
            .expect("the descriptor is as it was stored")
    };
    rows.into_iter().map(read).collect()
}

/// The number of rows: `rows` follows `SELECT count(*) FROM`.
pub(crate) fn count_rows(connection: &mut SqliteConnection, rows: &str) -> i64 {
    let query = diesel::sql_query(format!("SELECT count(*) AS count FROM {rows}"));
    let counted: Count = query.get_result(connection).expect("the rows are counted");
    counted.count
}

/// The postings of the index: each token with each of its rows.
pub(crate) fn indexed_tokens(folder: &Path) -> Vec<(String, i64)> {
    let mut connection = connect(folder, "audit.db-index");
    let (segments, mut blocks, mut postings) = (segments(&mut connection), Stored(connection), Vec::new());
    for segment in segments {
        let see = |token: &[u8], rows: &[i64]| {
            let token = String::from_utf8(token.to_vec()).expect("a token in UTF-8");
            postings.extend(rows.iter().map(|row| (token.clone(), *row)));
        };
        segment.for_each(see, &mut blocks).expect("the segment is sound");
    }
    postings.sort_unstable();
    postings
}

/// The number of commits in the backlog.
pub(crate) fn unindexed_commits(folder: &Path) -> i64 {
    let mut connection = connect(folder, "audit.db");
    connection
        .batch_execute(&format!(
            "ATTACH DATABASE '{}' AS search",
            folder.join("audit.db-index").display()
        ))
        .expect("the index is attached");
    count_rows(
        &mut connection,
        "event_backlog WHERE id > (SELECT last_commit FROM search.indexed)",
    )
}

/// A copy of the files as a crash of the process leaves them.
pub(crate) fn crashed_copy(folder: &Path) -> tempfile::TempDir {
    let copy = tempfile::tempdir().expect("a folder");
    // Each write-ahead log before its database, which has the pages that a checkpoint moves meanwhile. The index before the
    // database, because it is never ahead of it.
    for name in ["audit.db-index-wal", "audit.db-index", "audit.db-wal", "audit.db"] {
        std::fs::copy(folder.join(name), copy.path().join(name)).expect("a file of the database");
    }
    copy
}
