//! The heads that the service has written, and their columns.

use super::head::{Head, LedgerMonth};
use crate::columns::read_frontier;
use crate::configuration::owner::ConfigurationVersion;
use crate::ids::LedgerId;
use crate::row_code::RowCodes;
use crate::schema::ledgers;
use crate::unsigned::Unsigned;
use audit_domain::{EventId, Month, Stamp, Timestamp};
use audit_ledger::{Frontier, HeadKey, SealedHead, TileId};
use parking_lot::Mutex;
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// The columns of a head, as [`HEAD_COLUMNS`] selects them.
pub(crate) type HeadRow = ((String, String), i64, i64, SealedColumns, i64, i64);

/// The columns that the code of a head covers, and the code.
pub(crate) type SealedColumns = (
    i64,
    Option<Vec<u8>>,
    Option<i64>,
    Option<Vec<u8>>,
    Option<i64>,
    Option<Vec<u8>>,
);

/// The columns of a head.
pub(crate) const HEAD_COLUMNS: (
    (ledgers::project_id, ledgers::environment),
    ledgers::group_id,
    ledgers::configuration_version,
    SealedColumnNames,
    ledgers::day,
    ledgers::day_events,
) = (
    (ledgers::project_id, ledgers::environment),
    ledgers::group_id,
    ledgers::configuration_version,
    SEALED_COLUMNS,
    ledgers::day,
    ledgers::day_events,
);

/// The columns that the code of a head covers, and the code.
pub(crate) type SealedColumnNames = (
    ledgers::size,
    ledgers::last_event_id,
    ledgers::last_received_at,
    ledgers::frontier,
    ledgers::lifecycle_seq,
    ledgers::head_code,
);
pub(crate) const SEALED_COLUMNS: SealedColumnNames = (
    ledgers::size,
    ledgers::last_event_id,
    ledgers::last_received_at,
    ledgers::frontier,
    ledgers::lifecycle_seq,
    ledgers::head_code,
);

/// The name of a ledger within its deployment.
pub(crate) fn name_of(project_id: &str, environment: &str) -> String {
    format!("{project_id}/{environment}")
}

/// The heads that an open store may continue: those that were written with its key.
#[derive(Debug)]
pub(crate) struct Heads {
    key: HeadKey,
    /// Those that are not signed.
    pub(crate) unsigned: Unsigned,
    /// The ledgers whose heads were not.
    forged: Mutex<BTreeSet<i64>>,
    /// The ledgers in which the row of an idempotency key was not.
    with_forged_rows: Mutex<BTreeSet<i64>>,
    /// How often such a row was found, or a tile or the row of a removal that the service did not write.
    row_alarms: AtomicU64,
}

impl Heads {
    pub(crate) fn new(key: HeadKey, unsigned_max: Option<Duration>) -> Self {
        Self {
            key,
            unsigned: Unsigned::new(unsigned_max),
            forged: Mutex::default(),
            with_forged_rows: Mutex::default(),
            row_alarms: AtomicU64::new(0),
        }
    }

    /// The key of the heads.
    pub(crate) const fn key(&self) -> &HeadKey {
        &self.key
    }

    /// The codes of the rows of events.
    pub(crate) fn row_codes(&self) -> RowCodes {
        RowCodes::new(&self.key)
    }

    /// Counts a row that the service did not write. The first one of a ledger is logged.
    pub(crate) fn note_forged_row(&self, ledger_id: LedgerId, log: &str) {
        self.row_alarms.fetch_add(1, Ordering::Relaxed);
        if self.with_forged_rows.lock().insert(ledger_id.0) {
            log::error!(
                "the row of an idempotency key in the log {log} (ledger {}) was not written by this service: events with this key are \
                 refused; `audit-server log verify` names the rows",
                ledger_id.0
            );
        }
    }

    /// Counts a tile that the service did not write, and that stood where a tree had not grown to yet.
    pub(crate) fn note_planted_tile(&self, ledger_id: LedgerId, tile: TileId) {
        self.row_alarms.fetch_add(1, Ordering::Relaxed);
        log::error!(
            "the database had another {tile} of the ledger {}, which this service did not write: it was replaced",
            ledger_id.0
        );
    }

    /// Counts a row of a removal that the service did not write.
    pub(crate) fn note_forged_removal(&self, ledger_id: LedgerId, number: i64) {
        self.row_alarms.fetch_add(1, Ordering::Relaxed);
        log::error!(
            "the row of the removal {number} of the ledger {} was not written by this service: it is not carried out",
            ledger_id.0
        );
    }

    /// How often a row of an idempotency key, a tile or a removal was found that the service did not write.
    pub(crate) fn row_alarms(&self) -> u64 {
        self.row_alarms.load(Ordering::Relaxed)
    }

    /// The number of ledgers whose heads were found not to be written with the key.
    pub(crate) fn forged(&self) -> usize {
        self.forged.lock().len()
    }

    /// The code of a head.
    pub(crate) fn code(&self, head: &SealedHead<'_>) -> [u8; HeadKey::CODE_BYTES] {
        self.key.code(head)
    }

    /// The edge of the tree in the row of a ledger; none where the service did not write the row, which is logged.
    pub(crate) fn edge(&self, id: i64, name: &str, row: &SealedColumns) -> Option<Frontier> {
        let edge = self.checked_edge(id, name, row);
        let mut forged = self.forged.lock();
        match edge {
            None if forged.insert(id) => log::error!(
                "the head of the log {name} (ledger {id}) was not written by this service: the log takes no events and is not \
                 signed until `audit-server log repair`; `audit-server log verify` has details"
            ),
            Some(_) if forged.remove(&id) => log::warn!("the head of the log {name} is valid again"),
            _ => {}
        }
        edge
    }

    fn checked_edge(&self, id: i64, name: &str, row: &SealedColumns) -> Option<Frontier> {
        let (.., code) = row;
        let is_sealed = self.key.verifies(&sealed(id, name, row)?, code.as_deref()?);
        let edge = read_frontier(row.3.as_deref()).ok()?;
        (is_sealed && edge.size() == row.0.cast_unsigned()).then_some(edge)
    }

    /// Reads the columns of a head; none where the service did not write it.
    pub(crate) fn read(&self, id: i64, row: HeadRow, months: Vec<LedgerMonth>) -> Option<Head> {
        let ((project_id, environment), group_id, configuration_version, sealed, day, day_events) = row;
        let name = name_of(&project_id, &environment);
        let edge = self.edge(id, &name, &sealed)?;
        let (size, last_event_id, last_received_at, _, lifecycle, _) = sealed;
        let last = last_event_id
            .and_then(|id| id.try_into().ok())
            .zip(last_received_at);
        Some(Head {
            name: name.into(),
            group_id,
            configuration_version: ConfigurationVersion(configuration_version),
            size,
            last: last.map(|(id, micros)| Stamp {
                id: EventId::from_bytes(id),
                received_at: Timestamp::from_micros(micros),
            }),
            frontier: Some(edge),
            lifecycle,
            day,
            day_events: day_events.unsigned_abs(),
            months,
        })
    }
}

/// The head in the row of a ledger; none where it has no form that the service writes.
pub(crate) fn sealed<'a>(id: i64, name: &'a str, row: &'a SealedColumns) -> Option<SealedHead<'a>> {
    let (size, last_event_id, last_received_at, frontier, lifecycle, _) = row;
    let last = match (last_event_id, last_received_at) {
        (Some(id), Some(micros)) => Some((id.as_slice().try_into().ok()?, *micros)),
        (None, None) => None,
        _ => return None,
    };
    Some(SealedHead {
        ledger_id: id,
        name,
        size: *size,
        frontier: frontier.as_deref().unwrap_or_default(),
        lifecycle: *lifecycle,
        last,
    })
}

/// Reads a row of `ledger_months`.
pub(crate) const fn read_month((month, first_seq): (i32, i64)) -> LedgerMonth {
    LedgerMonth {
        month: Month::from_number(month),
        first_seq,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_column_of_a_head_is_in_its_code() {
        let key = HeadKey::new(&[7; 32]);
        let row: SealedColumns = (2, Some(vec![1; 16]), Some(3), Some(vec![4, 5]), Some(6), None);
        let verifies = |row: &SealedColumns, code: &[u8]| {
            let head = sealed(1, "p/live", row).unwrap();
            key.verifies(&head, code)
        };
        let code = key.code(&sealed(1, "p/live", &row).unwrap());
        assert!(verifies(&row, &code));
        let changes: [fn(&mut SealedColumns); 7] = [
            |row| row.0 = 3,
            |row| row.1 = Some(vec![2; 16]),
            |row| row.2 = Some(4),
            |row| (row.1, row.2) = (None, None),
            |row| row.3 = None,
            |row| row.4 = Some(7),
            |row| row.4 = None,
        ];
        for change in changes {
            let mut other = row.clone();
            change(&mut other);
            assert!(!verifies(&other, &code), "{other:?}");
        }
    }
}
