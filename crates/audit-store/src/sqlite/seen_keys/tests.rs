//! Tests of the stored filter: processes that start, stop, roll back and take turns.

use super::*;
use crate::configuration::ConfigurationVersion;
use crate::ledgers::head::LedgerMonth;
use diesel::connection::SimpleConnection;
use sha2::{Digest, Sha256};

const LEDGER: LedgerId = LedgerId(3);

fn key(number: i64) -> KeyHash {
    Sha256::digest(number.to_be_bytes())[..16].try_into().unwrap()
}

/// The month of an event: a thousand of them, or all, are in one.
fn month_of(seq: i64, of_month: i64) -> Month {
    Month::from_number(600 + i32::try_from(seq / of_month).unwrap())
}

/// The head of the ledger with so many events.
fn head(size: i64, of_month: i64) -> Head {
    let months = (0..size).step_by(usize::try_from(of_month.min(size.max(1))).unwrap());

    Head {
        name: "project/live".into(),
        group_id: 0,
        configuration_version: ConfigurationVersion(0),
        size,
        last: None,
        frontier: None,
        lifecycle: None,
        day: 0,
        day_events: 0,
        months: months
            .filter(|seq| seq % of_month == 0)
            .map(|first_seq| LedgerMonth {
                month: month_of(first_seq, of_month),
                first_seq,
            })
            .collect(),
    }
}

/// A database of keys, and one process that writes it.
struct Process {
    connection: SqliteConnection,
    seen: SeenKeys,
    /// Events in one month.
    of_month: i64,
}

impl Process {
    fn open(folder: &tempfile::TempDir, dropped_from: i64) -> Self {
        Self::with_window(folder, dropped_from, IdempotencyWindow::default(), i64::MAX)
    }

    fn with_window(
        folder: &tempfile::TempDir,
        dropped_from: i64,
        window: IdempotencyWindow,
        of_month: i64,
    ) -> Self {
        let path = folder.path().join("a.db");
        let mut connection = SqliteConnection::establish(path.to_str().unwrap()).unwrap();
        crate::migrate::sqlite(&mut connection).unwrap();
        connection.batch_execute("PRAGMA synchronous = OFF").unwrap();
        let seen = SeenKeys {
            dropped_from,
            ..SeenKeys::new(window)
        };
        Self {
            connection,
            seen,
            of_month,
        }
    }

    /// The head of the ledger, and the first month of the window of its next event.
    fn since(&self, size: i64) -> (Head, Month) {
        let month = month_of(size, self.of_month);
        (head(size, self.of_month), self.seen.window.first_month(month))
    }

    fn may_hold(&mut self, size: i64, number: i64) -> bool {
        let (head, first_month) = self.since(size);
        self.seen
            .may_hold(&mut self.connection, LEDGER, &head, first_month, &key(number))
            .unwrap()
    }

    /// Stores events with the keys `start` to `end`, in one transaction. Returns how many of them the filter took for known.
    fn commit(&mut self, start: i64, end: i64) -> usize {
        self.seen.rolled_back();
        self.connection.batch_execute("BEGIN IMMEDIATE").unwrap();
        let known = (start..end)
            .filter(|number| self.may_hold(start, *number))
            .count();
        self.write(start, end);
        self.connection.batch_execute("COMMIT").unwrap();
        self.seen
            .committed((start..end).map(|seq| (LEDGER, seq, month_of(seq, self.of_month), Some(key(seq)))));
        known
    }

    fn write(&mut self, start: i64, end: i64) {
        let hashes: Vec<u8> = (start..end).flat_map(key).collect();
        diesel::insert_into(event_keys::table)
            .values((
                event_keys::first_entry.eq(entry(LEDGER, start)),
                event_keys::hashes.eq(hashes),
            ))
            .execute(&mut self.connection)
            .unwrap();
        self.seen.store(&mut self.connection).unwrap();
    }

    /// The events whose keys a process that starts now reads.
    fn uncovered(&mut self, size: i64) -> i64 {
        let covered = key_filter_ledgers::table
            .find(LEDGER.0)
            .select(key_filter_ledgers::seq_end);
        size - covered
            .get_result(&mut self.connection)
            .optional()
            .unwrap()
            .unwrap_or(0)
    }

    /// Asserts that a process that starts now knows every key in the window of a ledger of this size. It leaves no trace.
    fn assert_known_after_a_start(&mut self, size: i64, step: usize) {
        self.connection.batch_execute("BEGIN IMMEDIATE").unwrap();
        let mut seen = SeenKeys {
            dropped_from: self.seen.dropped_from,
            ..SeenKeys::new(self.seen.window)
        };
        let (head, first_month) = self.since(size);
        let first = head.first_seq_since(first_month).unwrap_or(size);
        for number in (first..size).step_by(step) {
            let known = seen.may_hold(&mut self.connection, LEDGER, &head, first_month, &key(number));
            assert!(known.unwrap(), "{number} of {size}");
        }
        self.connection.batch_execute("ROLLBACK").unwrap();
    }
}

#[test]
fn every_key_is_known_whenever_a_process_starts_and_few_are_read_then() {
    let folder = tempfile::tempdir().unwrap();
    let mut process = Process::open(&folder, LARGEST);
    for round in 0..60 {
        process.commit(round * 100, round * 100 + 100);
        let size = round * 100 + 100;
        process.assert_known_after_a_start(size, 7);
        // Two sweeps of sixteen blocks.
        let uncovered = process.uncovered(size);
        assert!(uncovered <= 2_600, "{uncovered} of {size}");
    }
}

#[test]
fn a_full_layer_leaves_the_memory_and_is_read_from_the_database() {
    let folder = tempfile::tempdir().unwrap();
    let mut process = Process::open(&folder, 0);
    let (mut size, mut known) = (0, 0);
    while size < 60_000 {
        known += process.commit(size, size + 1_000);
        size += 1_000;
        if size % 10_000 == 0 {
            process.assert_known_after_a_start(size, 101);
        }
    }
    assert!(known < 60, "{known} of 60,000 new keys were taken for known");
    let in_memory = |process: &Process| {
        let filter = process.seen.filter.as_ref().unwrap();
        let layers: Vec<_> = filter.layers.iter().map(|layer| layer.number).collect();
        (
            layers,
            filter.stored.iter().map(|layer| layer.number).collect::<Vec<_>>(),
        )
    };
    assert_eq!(in_memory(&process), (vec![1], vec![0]));
    assert!(
        (0..size)
            .step_by(101)
            .all(|number| process.may_hold(size, number))
    );
    let mut restarted = Process::open(&folder, 0);
    assert!(restarted.may_hold(size, 5));
    assert_eq!(in_memory(&restarted), (vec![1], vec![0]));
    // A damaged block may have any key.
    restarted
        .connection
        .batch_execute("UPDATE key_filter_blocks SET bits = x'00'")
        .unwrap();
    assert!(restarted.may_hold(size, size));
}

#[test]
fn a_rolled_back_transaction_leaves_no_trace_in_the_filter() {
    let folder = tempfile::tempdir().unwrap();
    let mut process = Process::open(&folder, LARGEST);
    // The first transaction claims the filter, and the later ones take steps of a sweep.
    let mut size = 0;
    for _ in 0..40 {
        process.seen.rolled_back();
        process.connection.batch_execute("BEGIN IMMEDIATE").unwrap();
        assert!((size..size + 100).all(|number| !process.may_hold(size, number)));
        process.write(size, size + 100);
        process.connection.batch_execute("ROLLBACK").unwrap();
        process.commit(size, size + 100);
        size += 100;
        process.assert_known_after_a_start(size, 7);
    }
    assert!(process.uncovered(size) <= 2_600);
}

#[test]
fn two_processes_in_turns_know_the_keys_of_both() {
    let folder = tempfile::tempdir().unwrap();
    let mut processes = [Process::open(&folder, LARGEST), Process::open(&folder, LARGEST)];
    let mut size = 0;
    for round in 0..90 {
        let process = &mut processes[round / 3 % 2];
        process.commit(size, size + 100);
        size += 100;
        assert!((0..size).step_by(13).all(|number| process.may_hold(size, number)));
        process.assert_known_after_a_start(size, 13);
    }
    let uncovered = processes[0].uncovered(size);
    assert!(uncovered < 8_000, "{uncovered} of {size}");
}

#[test]
fn the_filter_has_the_keys_of_the_window_and_the_database_no_others() {
    const OF_MONTH: i64 = 3_000;
    let folder = tempfile::tempdir().unwrap();
    for dropped_from in [0, LARGEST] {
        let window = IdempotencyWindow::of_months(2);
        let mut process = Process::with_window(&folder, dropped_from, window, OF_MONTH);
        process
            .connection
            .batch_execute(
                "DELETE FROM event_keys; DELETE FROM key_filter; DELETE FROM key_filter_layers;
                 DELETE FROM key_filter_blocks; DELETE FROM key_filter_ledgers",
            )
            .unwrap();
        let mut size = 0;
        while size < 10 * OF_MONTH {
            process.commit(size, size + 100);
            size += 100;
            process.assert_known_after_a_start(size, 37);
            let (_, first_month) = process.since(size - 1);
            let filter = process.seen.filter.as_ref().unwrap();
            assert!(filter.layers.iter().all(|layer| layer.month >= first_month));
            assert!(filter.stored.iter().all(|layer| layer.month >= first_month));
            let blocks: i64 = key_filter_blocks::table
                .count()
                .get_result(&mut process.connection)
                .unwrap();
            // Two months of one layer, and one that was dropped and whose blocks are deleted with the next commit.
            assert!(blocks <= 3 * 16, "{blocks} blocks at {size}");
        }
        let (head, first_month) = process.since(size);
        let mut holds = |first_month, number| {
            let (seen, connection) = (&mut process.seen, &mut process.connection);
            seen.may_hold(connection, LEDGER, &head, first_month, &key(number))
                .unwrap()
        };
        assert!(!holds(first_month, 5), "the key is outside of the window");
        assert!(holds(first_month.plus(-3), 5), "the filter cannot tell");
    }
}

#[test]
fn a_filter_of_another_window_is_built_again() {
    const OF_MONTH: i64 = 1_000;
    let folder = tempfile::tempdir().unwrap();
    let mut size = 0;
    for months in [2, 5, 0, 1, 0] {
        let window = IdempotencyWindow::of_months(months);
        let mut process = Process::with_window(&folder, LARGEST, window, OF_MONTH);
        while size % 3_500 != 0 || size == 0 {
            process.commit(size, size + 100);
            size += 100;
        }
        process.commit(size, size + 100);
        size += 100;
        process.assert_known_after_a_start(size, 11);
        let (head, first_month) = process.since(size);
        let first = head.first_seq_since(first_month).unwrap_or(size);
        assert!(
            (first..size)
                .step_by(7)
                .all(|number| process.may_hold(size, number))
        );
    }
}
