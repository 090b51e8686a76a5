//! The raw rows of a ledger, damaged ones included, for `log verify`. Nothing in them is trusted.

mod removals;

pub use removals::StoredRemoval;

use crate::access::Reader;
use crate::alerts::AlertColumns;
use crate::append::idempotency::hash_of_key;
use crate::database::{Database, DatabaseUrl, on_database, on_either};
use crate::error::{Result, StoreError};
use crate::head_keys::{StoredHeadKey, stored_head_key};
use crate::ids::LedgerId;
use crate::ledgers::heads::{SEALED_COLUMNS, SealedColumns, name_of, sealed};
use crate::row_code::{CodedRow, RowCodes};
use crate::schema::{alerts, ledgers, log_tiles};
use crate::search::verification::IndexReport;
use crate::tree::{CheckpointRow, TreeSession};
use audit_alerts::Alert;
use audit_domain::{ContentHash, LogName, Month, ProjectId, StoredSalt, Timestamp};
use audit_ledger::HeadKey;
use diesel::dsl::sql;
use diesel::prelude::*;
use diesel::sql_types::Bool;
use std::collections::HashMap;
use std::ops::Range;

/// The levels of tiles that a tree of less than 2^56 leaves has.
const STORED_LEVELS: u8 = 7;

/// The row of a ledger.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredLedger {
    /// Its number.
    pub ledger_id: LedgerId,
    /// Its project.
    pub project_id: String,
    /// `live` or `test`.
    pub environment: String,
    /// The number of events, according to the row.
    pub size: i64,
    /// The right edge of its tree.
    pub frontier: Option<Vec<u8>>,
    /// The position of the newest lifecycle event.
    pub lifecycle_seq: Option<i64>,
    /// The latest id.
    pub last_event_id: Option<Vec<u8>>,
    /// The latest time of receipt, in microseconds.
    pub last_received_at: Option<i64>,
    /// The code of its head.
    pub head_code: Option<Vec<u8>>,
    /// Its last checkpoint.
    pub checkpoint: Option<CheckpointRow>,
    /// The size beside its last checkpoint.
    pub checkpoint_size: Option<i64>,
}

/// A stored event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredRow {
    /// Its position in the log.
    pub seq: i64,
    /// Its id, 16 bytes unless it was changed.
    pub id: Vec<u8>,
    /// Its content hash, 32 bytes unless it was changed.
    pub content_hash: Vec<u8>,
    /// The salt in its content hash, 16 bytes; longer where parts of the event were erased.
    pub content_salt: Vec<u8>,
    /// Its canonical text.
    pub body: String,
    /// The hash of its idempotency key.
    pub idempotency_hash: Option<Vec<u8>>,
    /// The digest of the event as sent.
    pub(crate) sent_digest: Option<Vec<u8>>,
    /// Whether something was removed before it was stored.
    pub(crate) redacted: bool,
    /// The number of its sender.
    pub sender: Option<i64>,
    /// The code of the row.
    pub(crate) row_code: Vec<u8>,
    /// The month that its ledger has for its position. It is not before the month in which it was received.
    pub month: Month,
    /// A column that is inconsistent with the row, so that queries find another event or none.
    pub inconsistent: Option<&'static str>,
    /// Its stored position in the order of time; its unit depends on the database.
    pub(crate) time_position: i64,
}

/// An event outside of its ledger's range.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StrayEvent {
    /// The id in its row.
    pub id: Vec<u8>,
    /// The position in its row, if any.
    pub seq: Option<i64>,
}

impl StoredLedger {
    /// Its name in content hashes. `None` where project or environment were made invalid.
    pub fn log_name(&self) -> Option<LogName> {
        LogName::parse(&self.project_id, &self.environment)
    }

    /// Whether its head was written with this key.
    pub fn is_sealed(&self, key: &HeadKey) -> bool {
        let name = name_of(&self.project_id, &self.environment);
        let columns: SealedColumns = (
            self.size,
            self.last_event_id.clone(),
            self.last_received_at,
            self.frontier.clone(),
            self.lifecycle_seq,
            self.head_code.clone(),
        );
        let head = sealed(self.ledger_id.0, &name, &columns);
        let code = self.head_code.as_deref().unwrap_or_default();
        head.is_some_and(|head| key.verifies(&head, code))
    }
}

impl StoredRow {
    /// The content hash that its text and salt have in a log. `None` where they are not those of an event.
    pub fn computed_hash(&self, log: Option<&LogName>) -> Option<ContentHash> {
        StoredSalt::read(&self.content_salt)?.content_hash(&self.body, log?)
    }

    /// Whether its columns are those of an event of this tenant with this idempotency key.
    pub fn is_of_key(&self, tenant_id: &str, key: Option<&str>) -> bool {
        let hash = key.map(|key| hash_of_key(tenant_id, key));
        self.idempotency_hash.as_deref() == hash.as_ref().map(<[u8; 16]>::as_slice)
            && self.sent_digest.is_some() == key.is_some()
    }

    /// Whether it has an idempotency key, or a part of one.
    pub const fn has_key(&self) -> bool {
        self.idempotency_hash.is_some() || self.sent_digest.is_some()
    }

    /// Whether the service wrote what stands beside its text. `log` is project and environment.
    pub fn is_coded(&self, codes: &RowCodes, log: &str) -> bool {
        let row = CodedRow {
            log,
            id: &self.id,
            month: self.month,
            idempotency_hash: self.idempotency_hash.as_deref(),
            sent_digest: self.sent_digest.as_deref(),
            redacted: self.redacted,
            sender: self.sender,
        };
        codes.verifies(&row, &self.row_code)
    }
}

/// A stored alert.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredAlert {
    /// Its id, 16 bytes unless it was changed.
    pub id: Vec<u8>,
    /// The alert; `None` if its row cannot be read.
    pub alert: Option<Alert>,
}

type LedgerRow = (String, String, SealedColumns);

/// The ledgers of findings in the index: project and environment.
pub type LedgerNames = HashMap<LedgerId, (String, String)>;

/// Verifies the index of an existing database against its events, and changes nothing. Reads one snapshot, beside a running
/// server as well. Calls `progress` with the number of verified rows and of all rows.
///
/// # Errors
/// [`StoreError::Unverifiable`] when there is no index of this format, and when the database cannot be read.
pub fn verify_index(
    url: &DatabaseUrl,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<(IndexReport, LedgerNames)> {
    let database = Database::existing(url)?;
    database.require_index()?;
    let mut session = database.open_reader()?;
    let report = on_database!(&mut session, index_verification::verify_index(progress))?;
    let mut names = LedgerNames::new();
    if !report.findings.is_empty() {
        let rows: Vec<(i64, String, String)> = ledgers::table
            .select((ledgers::id, ledgers::project_id, ledgers::environment))
            .load(&mut session)?;
        names.extend(
            rows.into_iter()
                .map(|(id, project_id, environment)| (LedgerId(id), (project_id, environment))),
        );
    }
    Ok((report, names))
}

/// Runs `work` on an existing database, and changes nothing: the database is neither migrated nor repaired, and its index is not
/// opened.
///
/// # Errors
/// Those of `work`, and when the database cannot be opened.
pub fn inspect<T, E: From<StoreError>>(
    url: &DatabaseUrl,
    work: impl FnOnce(&mut Reader<'_>) -> Result<T, E>,
) -> Result<T, E> {
    let mut session = Database::existing(url)?.open_inspector()?;
    work(&mut Reader::new(&mut session))
}

#[expect(
    clippy::missing_errors_doc,
    reason = "all fail only when the database cannot be queried"
)]
impl Reader<'_> {
    /// The ledgers of a project, or all of them.
    pub fn stored_ledgers(&mut self, project_id: Option<ProjectId>) -> Result<Vec<StoredLedger>> {
        let mut ids = ledgers::table.select(ledgers::id).order(ledgers::id).into_boxed();
        if let Some(project_id) = project_id {
            ids = ids.filter(ledgers::project_id.eq(project_id.to_string()));
        }
        let ids: Vec<i64> = ids.load(self.session())?;
        ids.into_iter()
            .map(|id| self.stored_ledger(LedgerId(id)))
            .collect()
    }

    /// The project and the number of events of every ledger.
    pub fn ledger_sizes(&mut self) -> Result<Vec<(String, u64)>> {
        let rows: Vec<(String, i64)> = ledgers::table
            .select((ledgers::project_id, ledgers::size))
            .load(self.session())?;
        let size = |(project_id, size): (String, i64)| (project_id, size.max(0).unsigned_abs());
        Ok(rows.into_iter().map(size).collect())
    }

    fn stored_ledger(&mut self, ledger_id: LedgerId) -> Result<StoredLedger> {
        // The checkpoint first: read second, it could include events that were committed in between.
        let (checkpoint, checkpoint_size) = self.log_checkpoint_and_size(ledger_id)?;
        let columns = (ledgers::project_id, ledgers::environment, SEALED_COLUMNS);
        let row = ledgers::table.find(ledger_id.0).select(columns);
        let (project_id, environment, columns): LedgerRow = row.get_result(self.session())?;
        let (size, last_event_id, last_received_at, frontier, lifecycle_seq, head_code) = columns;
        Ok(StoredLedger {
            ledger_id,
            project_id,
            environment,
            size,
            frontier,
            lifecycle_seq,
            last_event_id,
            last_received_at,
            head_code,
            checkpoint,
            checkpoint_size,
        })
    }

    /// What the database has of the key that authenticates the heads.
    pub fn stored_head_key(&mut self) -> Result<StoredHeadKey> {
        stored_head_key(self.session())
    }

    /// The stored tiles of a ledger that its tree does not have, `limit` at most: level and index.
    #[expect(clippy::disallowed_methods, reason = "only `log verify` asks")]
    pub fn stray_tiles(&mut self, ledger_id: LedgerId, limit: i64) -> Result<Vec<(i64, i64)>> {
        let leaves_of = |level: u8| format!("WHEN {level} THEN {}", 1_i64 << (8 * (level + 1)));
        let leaves: Vec<String> = (0..STORED_LEVELS).map(leaves_of).collect();
        // No tree has tiles above these levels. One statement: tiles that are stored meanwhile are of the size that it sees.
        let is_stray = format!(
            "(log_tiles.tile_index < 0 OR log_tiles.tile_index >= ledgers.size / \
             CASE log_tiles.level {} ELSE {} END)",
            leaves.join(" "),
            i64::MAX
        );
        Ok(log_tiles::table
            .inner_join(ledgers::table.on(ledgers::id.eq(log_tiles::ledger_id)))
            .filter(log_tiles::ledger_id.eq(ledger_id.0))
            .filter(sql::<Bool>(&is_stray))
            .select((log_tiles::level, log_tiles::tile_index))
            .order((log_tiles::level, log_tiles::tile_index))
            .limit(limit)
            .load(self.session())?)
    }

    /// The alerts of a ledger behind the id `after`, in order, `limit` at most.
    pub fn stored_alerts(
        &mut self,
        ledger_id: LedgerId,
        after: &[u8],
        limit: i64,
    ) -> Result<Vec<StoredAlert>> {
        let rows: Vec<AlertColumns> = alerts::table
            .filter(alerts::ledger_id.eq(ledger_id.0))
            .filter(alerts::id.gt(after))
            .order(alerts::id)
            .limit(limit)
            .select(AlertColumns::as_select())
            .load(self.session())?;
        let read = |row: AlertColumns| StoredAlert {
            id: row.id.clone(),
            alert: row.read().ok(),
        };
        Ok(rows.into_iter().map(read).collect())
    }

    /// The events of a ledger from the position `start` on, in the order of the log, `limit` at most. Missing ones are
    /// skipped.
    pub fn stored_rows(&mut self, ledger_id: LedgerId, start: u64, limit: usize) -> Result<Vec<StoredRow>> {
        let (start, limit) = (start.cast_signed(), i64::try_from(limit).unwrap_or(i64::MAX));
        on_database!(self.session(), inspection::stored_rows(ledger_id, start, limit))
    }

    /// Whether a query finds the event at the time at which it occurred.
    pub fn is_in_order_of_time(&mut self, row: &StoredRow, occurred_at: Timestamp) -> Result<bool> {
        on_database!(
            self.session(),
            inspection::is_at_time(row.time_position, occurred_at)
        )
    }

    /// Whether [`Self::stray_events`] finds nothing, provided that every event up to its ledger's size was read at its
    /// position: each order has as many events as all ledgers together. It counts events and reads none; after `false`,
    /// [`Self::stray_events`] is needed. Where events were removed, the numbers differ, and it is always `false`.
    pub fn has_no_strays(&mut self) -> Result<bool> {
        on_database!(self.session(), inspection::has_no_strays())
    }

    /// Events of a ledger outside of its range, `limit` at most. On SQLite this reads every event.
    pub fn stray_events(&mut self, ledger_id: LedgerId, limit: i64) -> Result<Vec<StrayEvent>> {
        on_database!(self.session(), inspection::stray_events(ledger_id, limit))
    }

    /// The stored full tiles of one level: index and bytes.
    pub fn stored_tiles(
        &mut self,
        ledger_id: LedgerId,
        level: u8,
        indexes: Range<u64>,
    ) -> Result<Vec<(u64, Vec<u8>)>> {
        let indexes = indexes.start.cast_signed()..indexes.end.cast_signed();
        let rows = on_either!(self.session(), session => session.stored_tiles(ledger_id, level, indexes))?;
        Ok(rows
            .into_iter()
            .map(|(index, hashes)| (index.cast_unsigned(), hashes))
            .collect())
    }
}
