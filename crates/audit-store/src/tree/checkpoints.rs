//! The latest signed checkpoint of each ledger.
//!
//! Signing locks no head. It reads head and checkpoint in one statement, and replaces the checkpoint only if that is still
//! the stored one ([`Writer::publish_checkpoints`]). So a checkpoint always continues the one it replaces.

use crate::access::{Reader, Writer};
use crate::database::{AnySession, on_database, on_either};
use crate::error::Result;
use crate::ids::LedgerId;
use crate::ledgers::heads::{SEALED_COLUMNS, SealedColumns, name_of};
use crate::ledgers::heads_of;
use crate::schema::{ledgers, log_checkpoints, log_cosigned};
use audit_domain::Timestamp;
use audit_ledger::Frontier;
use diesel::dsl::sql;
use diesel::prelude::*;
use diesel::sql_types::Bool;
use std::collections::BTreeSet;

/// The fewest ledgers that one call of [`Reader::unsigned_ledgers`] looks at.
const SCANNED_LEDGERS_MIN: i64 = 2_000;
/// The most calls of [`Reader::unsigned_ledgers`] for all ledgers.
const SCAN_PARTS_MAX: i64 = 60;

/// A stored checkpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckpointRow {
    /// The size of the tree it signs, as the note says; 0 where it is not a note.
    pub size: u64,
    /// The signed note.
    pub note: String,
    /// When it was signed.
    pub signed_at: Timestamp,
}

/// Head and latest checkpoint of a ledger in one snapshot.
#[derive(Clone, Debug)]
pub struct SigningState {
    /// The ledger.
    pub ledger_id: LedgerId,
    /// Project and environment.
    pub name: String,
    /// The right edge of its tree; `None` where the service did not write it.
    pub frontier: Option<Frontier>,
    /// Its latest checkpoint.
    pub checkpoint: Option<CheckpointRow>,
}

/// A checkpoint to publish.
#[derive(Clone, Debug)]
pub struct NewCheckpoint {
    /// The ledger.
    pub ledger_id: LedgerId,
    /// The checkpoint that it continues.
    pub last: Option<CheckpointRow>,
    /// The checkpoint.
    pub checkpoint: CheckpointRow,
}

/// What a look at a part of all ledgers found.
#[derive(Clone, Debug)]
pub struct ScannedLedgers {
    /// In order.
    pub ledger_ids: Vec<LedgerId>,
    /// The last ledger that was looked at, unless there are none behind it.
    pub last: Option<LedgerId>,
}

impl ScannedLedgers {
    pub(super) fn of(ids: Vec<i64>, part: &ScannedPart) -> Self {
        Self {
            ledger_ids: ids.into_iter().map(LedgerId).collect(),
            last: part.next(),
        }
    }
}

type Columns = (log_checkpoints::note, log_checkpoints::signed_at);
const COLUMNS: Columns = (log_checkpoints::note, log_checkpoints::signed_at);

/// Whether the size in the note is not that of the ledger. The column `size` is for queries by hand.
const IS_OF_ANOTHER_SIZE: &str =
    "replace(log_checkpoints.note, '\n' || ledgers.size || '\n', '') = log_checkpoints.note";

fn read_checkpoint((note, signed_at): (String, i64)) -> CheckpointRow {
    let size = note.lines().nth(1).and_then(|line| line.parse().ok());
    CheckpointRow {
        size: size.unwrap_or(0),
        note,
        signed_at: Timestamp::from_micros(signed_at),
    }
}

/// A part of all ledgers that one call looks at.
pub(super) struct ScannedPart {
    /// The ledger before the part.
    pub(super) after: i64,
    /// The last ledger of the part.
    pub(super) last: i64,
    newest: i64,
}

impl ScannedPart {
    /// The ledger before the next part, unless this is the last one.
    pub(super) fn next(&self) -> Option<LedgerId> {
        (self.last < self.newest).then_some(LedgerId(self.last))
    }
}

/// The part behind `after`. At most [`SCAN_PARTS_MAX`] parts are all ledgers.
pub(super) fn scanned_part(session: &mut AnySession, after: Option<LedgerId>) -> Result<ScannedPart> {
    let newest: Option<i64> = ledgers::table
        .select(ledgers::id)
        .order(ledgers::id.desc())
        .limit(1)
        .get_result(session)
        .optional()?;
    let newest = newest.unwrap_or(0);
    let after = after.map_or(0, |ledger_id| ledger_id.0);
    Ok(ScannedPart {
        after,
        last: after + SCANNED_LEDGERS_MIN.max(newest / SCAN_PARTS_MAX + 1),
        newest,
    })
}

#[expect(
    clippy::missing_errors_doc,
    reason = "all fail only when the database cannot be queried"
)]
impl Reader<'_> {
    /// The latest checkpoint of a ledger.
    pub fn log_checkpoint(&mut self, ledger_id: LedgerId) -> Result<Option<CheckpointRow>> {
        let row = log_checkpoints::table
            .find(ledger_id.0)
            .select(COLUMNS)
            .get_result(self.session())
            .optional()?;
        Ok(row.map(read_checkpoint))
    }

    /// The latest checkpoint of a ledger and the size that its row states. One statement: a server that signs replaces both.
    pub(crate) fn log_checkpoint_and_size(
        &mut self,
        ledger_id: LedgerId,
    ) -> Result<(Option<CheckpointRow>, Option<i64>)> {
        let row = log_checkpoints::table
            .find(ledger_id.0)
            .select((COLUMNS, log_checkpoints::size))
            .get_result(self.session())
            .optional()?;
        Ok(row
            .map(|(columns, size)| (read_checkpoint(columns), size))
            .unzip())
    }

    /// Head and latest checkpoint of these ledgers, in order, by one statement, hence in one snapshot.
    pub fn signing_states(&mut self, ledger_ids: &[LedgerId]) -> Result<Vec<SigningState>> {
        type Row = (i64, (String, String), SealedColumns, Option<(String, i64)>);
        let ids: Vec<i64> = ledger_ids.iter().map(|ledger_id| ledger_id.0).collect();
        let states = ledgers::table
            .left_join(log_checkpoints::table.on(log_checkpoints::ledger_id.eq(ledgers::id)))
            .filter(ledgers::id.eq_any(ids))
            .order(ledgers::id)
            .select((
                ledgers::id,
                (ledgers::project_id, ledgers::environment),
                SEALED_COLUMNS,
                COLUMNS.nullable(),
            ));
        let rows: Vec<Row> = on_either!(self.session(), session => states.load(session))?;
        let heads = heads_of(self.session())?;
        let read = |(id, (project_id, environment), sealed, checkpoint): Row| {
            let name = name_of(&project_id, &environment);
            SigningState {
                ledger_id: LedgerId(id),
                frontier: heads.edge(id, &name, &sealed),
                name,
                checkpoint: checkpoint.map(read_checkpoint),
            }
        };
        Ok(rows.into_iter().map(read).collect())
    }

    /// The ledgers behind `after` that have grown since their latest checkpoint and whose latest event was received before
    /// `received_before`. Looks at a part of all ledgers: at most 60 calls go through all of them.
    #[expect(clippy::disallowed_methods, reason = "asked once a second")]
    pub fn unsigned_ledgers(
        &mut self,
        after: Option<LedgerId>,
        received_before: Option<Timestamp>,
    ) -> Result<ScannedLedgers> {
        let received_before = received_before.map_or(i64::MAX, Timestamp::as_micros);
        let part = scanned_part(self.session(), after)?;
        let ids: Vec<i64> = ledgers::table
            .left_join(log_checkpoints::table.on(log_checkpoints::ledger_id.eq(ledgers::id)))
            .filter(ledgers::id.gt(part.after))
            .filter(ledgers::id.le(part.last))
            .filter(ledgers::size.gt(0))
            .filter(ledgers::last_received_at.lt(received_before))
            .filter(
                log_checkpoints::note
                    .nullable()
                    .is_null()
                    .or(sql::<Bool>(IS_OF_ANOTHER_SIZE)),
            )
            .select(ledgers::id)
            .order(ledgers::id)
            .load(self.session())?;
        Ok(ScannedLedgers::of(ids, &part))
    }

    /// All ledgers, and their names within the deployment.
    pub fn ledger_names(&mut self) -> Result<Vec<(LedgerId, String)>> {
        let rows: Vec<(i64, String, String)> = ledgers::table
            .select((ledgers::id, ledgers::project_id, ledgers::environment))
            .load(self.session())?;
        let named = |(id, project_id, environment): (i64, String, String)| {
            (LedgerId(id), name_of(&project_id, &environment))
        };
        Ok(rows.into_iter().map(named).collect())
    }

    /// The ledgers behind `after` that have events. Looks at a part of all ledgers, as [`Self::unsigned_ledgers`] does.
    pub fn ledgers_with_events(&mut self, after: Option<LedgerId>) -> Result<ScannedLedgers> {
        let part = scanned_part(self.session(), after)?;
        let ids: Vec<i64> = ledgers::table
            .filter(ledgers::id.gt(part.after))
            .filter(ledgers::id.le(part.last))
            .filter(ledgers::size.gt(0))
            .select(ledgers::id)
            .order(ledgers::id)
            .load(self.session())?;
        Ok(ScannedLedgers::of(ids, &part))
    }
}

#[expect(
    clippy::missing_errors_doc,
    reason = "all fail only when the database cannot be written"
)]
impl Writer<'_> {
    /// Stores each of these checkpoints, sorted by ledger, if the checkpoint that it continues is still the stored one.
    /// Returns the ledgers whose checkpoints were stored.
    pub fn publish_checkpoints(&mut self, checkpoints: &[NewCheckpoint]) -> Result<BTreeSet<LedgerId>> {
        on_database!(self.session(), tree::publish_checkpoints(checkpoints))
    }

    /// Deletes every checkpoint, because the log continues under another origin.
    pub fn delete_log_checkpoints(&mut self) -> Result<()> {
        diesel::delete(log_cosigned::table).execute(self.session())?;
        diesel::delete(log_checkpoints::table).execute(self.session())?;
        Ok(())
    }
}
