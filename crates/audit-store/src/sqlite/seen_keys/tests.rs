//! Tests of the stored filter: processes that start, stop, roll back and take turns.

use super::*;
use diesel::connection::SimpleConnection;
use sha2::{Digest, Sha256};

const LEDGER: LedgerId = LedgerId(3);

fn key(number: i64) -> KeyHash {
    Sha256::digest(number.to_be_bytes())[..16].try_into().unwrap()
}

/// A database of keys, and one process that writes it.
struct Process {
    connection: SqliteConnection,
    seen: SeenKeys,
}

impl Process {
    fn open(folder: &tempfile::TempDir, dropped_from: i64) -> Self {
        let path = folder.path().join("a.db");
        let mut connection = SqliteConnection::establish(path.to_str().unwrap()).unwrap();
        crate::migrate::sqlite(&mut connection).unwrap();
        connection.batch_execute("PRAGMA synchronous = OFF").unwrap();
        let seen = SeenKeys {
            dropped_from,
            ..SeenKeys::default()
        };
        Self { connection, seen }
    }

    fn may_hold(&mut self, size: i64, number: i64) -> bool {
        self.seen
            .may_hold(&mut self.connection, LEDGER, size, &key(number))
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
            .committed((start..end).map(|seq| (LEDGER, seq, Some(key(seq)))));
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

    /// Asserts that a process that starts now knows every key of a ledger of this size. It leaves no trace.
    fn assert_known_after_a_start(&mut self, size: i64, step: usize) {
        self.connection.batch_execute("BEGIN IMMEDIATE").unwrap();
        let mut seen = SeenKeys {
            dropped_from: self.seen.dropped_from,
            ..SeenKeys::default()
        };
        for number in (0..size).step_by(step) {
            let known = seen.may_hold(&mut self.connection, LEDGER, size, &key(number));
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
        (layers, filter.stored.clone())
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
