//! Anchors: the documents that were made, and how far they were sent.
//!
//! A row is inserted with the finished document. Number and interval are unique, so of several nodes that make the same anchor
//! one succeeds. A node sends an anchor while it has claimed it; a claim ends by itself.

use crate::access::{Reader, Writer};
use crate::database::{insert_or_ignore, on_either};
use crate::error::Result;
use crate::ids::LedgerId;
use crate::ledgers::heads::name_of;
use crate::schema::{anchors, ledgers, log_checkpoints, tenant_maps};
use audit_domain::Timestamp;
use diesel::dsl::max;
use diesel::prelude::*;

/// A stored anchor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredAnchor {
    /// The number in its chain.
    pub number: i64,
    /// The start of its interval.
    pub due_at: Timestamp,
    /// The signed note.
    pub document: String,
    /// The response of a time-stamp authority.
    pub time_stamp: Option<Vec<u8>>,
}

/// How far an anchor was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AnchorState {
    /// The number in its chain.
    pub number: i64,
    /// The start of its interval.
    pub due_at: Timestamp,
    /// Whether an authority has given a time stamp.
    pub is_stamped: bool,
    /// What the webhook has.
    pub webhook: AnchorStage,
    /// What the bucket has.
    pub bucket: AnchorStage,
    /// Until when a node sends it.
    pub claimed_until: Timestamp,
}

/// What a place has of an anchor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum AnchorStage {
    /// Nothing.
    #[default]
    Nothing,
    /// The document.
    Document,
    /// The document and its time stamp.
    Stamped,
}

/// The latest checkpoint of a ledger.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublishedCheckpoint {
    /// The ledger.
    pub ledger_id: LedgerId,
    /// Project and environment.
    pub name: String,
    /// The signed note.
    pub note: String,
    /// Whether the ledger has a map of tenants.
    pub has_map: bool,
}

impl AnchorStage {
    const fn read(stage: i64) -> Self {
        match stage {
            i64::MIN..=0 => Self::Nothing,
            1 => Self::Document,
            2..=i64::MAX => Self::Stamped,
        }
    }
}

type StoredColumns = (
    anchors::number,
    anchors::due_at,
    anchors::document,
    anchors::time_stamp,
);
const STORED: StoredColumns = (
    anchors::number,
    anchors::due_at,
    anchors::document,
    anchors::time_stamp,
);

type StateRow = (i64, i64, bool, i64, i64, i64);
type StateColumns = (
    anchors::number,
    anchors::due_at,
    diesel::dsl::IsNotNull<anchors::time_stamp>,
    anchors::webhook_stage,
    anchors::bucket_stage,
    anchors::claimed_until,
);

fn state_columns() -> StateColumns {
    (
        anchors::number,
        anchors::due_at,
        anchors::time_stamp.is_not_null(),
        anchors::webhook_stage,
        anchors::bucket_stage,
        anchors::claimed_until,
    )
}

fn read_state((number, due_at, is_stamped, webhook, bucket, claimed_until): StateRow) -> AnchorState {
    AnchorState {
        number,
        due_at: Timestamp::from_micros(due_at),
        is_stamped,
        webhook: AnchorStage::read(webhook),
        bucket: AnchorStage::read(bucket),
        claimed_until: Timestamp::from_micros(claimed_until),
    }
}

fn read_stored((number, due_at, document, time_stamp): (i64, i64, String, Option<Vec<u8>>)) -> StoredAnchor {
    StoredAnchor {
        number,
        due_at: Timestamp::from_micros(due_at),
        document,
        time_stamp,
    }
}

type CheckpointColumns = (i64, String, String, String, Option<i64>);

#[expect(
    clippy::missing_errors_doc,
    reason = "all fail only when the database cannot be queried"
)]
impl Reader<'_> {
    /// The anchor with the highest number.
    pub fn last_anchor(&mut self) -> Result<Option<StoredAnchor>> {
        let row = anchors::table
            .order(anchors::number.desc())
            .limit(1)
            .select(STORED)
            .get_result(self.session())
            .optional()?;
        Ok(row.map(read_stored))
    }

    /// An anchor by its number.
    pub fn anchor(&mut self, number: i64) -> Result<Option<StoredAnchor>> {
        let row = anchors::table
            .find(number)
            .select(STORED)
            .get_result(self.session())
            .optional()?;
        Ok(row.map(read_stored))
    }

    /// How far each stored anchor was sent, the newest first.
    pub fn anchor_states(&mut self) -> Result<Vec<AnchorState>> {
        let rows: Vec<StateRow> = anchors::table
            .order(anchors::number.desc())
            .select(state_columns())
            .load(self.session())?;
        Ok(rows.into_iter().map(read_state).collect())
    }

    /// The latest checkpoints of up to `limit` ledgers behind `after`, in order.
    pub fn published_checkpoints(
        &mut self,
        after: Option<LedgerId>,
        limit: i64,
    ) -> Result<Vec<PublishedCheckpoint>> {
        let rows: Vec<CheckpointColumns> = ledgers::table
            .inner_join(log_checkpoints::table.on(log_checkpoints::ledger_id.eq(ledgers::id)))
            .left_join(tenant_maps::table.on(tenant_maps::ledger_id.eq(ledgers::id)))
            .filter(ledgers::id.gt(after.map_or(0, |ledger_id| ledger_id.0)))
            .order(ledgers::id)
            .limit(limit)
            .select((
                ledgers::id,
                ledgers::project_id,
                ledgers::environment,
                log_checkpoints::note,
                tenant_maps::ledger_id.nullable(),
            ))
            .load(self.session())?;
        let read = |(id, project_id, environment, note, map): CheckpointColumns| PublishedCheckpoint {
            ledger_id: LedgerId(id),
            name: name_of(&project_id, &environment),
            note,
            has_map: map.is_some(),
        };
        Ok(rows.into_iter().map(read).collect())
    }
}

#[expect(
    clippy::missing_errors_doc,
    reason = "all fail only when the database cannot be written"
)]
impl Writer<'_> {
    /// Stores an anchor, to be sent from `now` on. Returns `false`, and stores nothing, when there is one with this number or
    /// for this interval.
    pub fn insert_anchor(
        &mut self,
        number: i64,
        due_at: Timestamp,
        document: &str,
        now: Timestamp,
    ) -> Result<bool> {
        let row = (
            anchors::number.eq(number),
            anchors::due_at.eq(due_at.as_micros()),
            anchors::document.eq(document),
            anchors::webhook_stage.eq(AnchorStage::Nothing as i64),
            anchors::bucket_stage.eq(AnchorStage::Nothing as i64),
            anchors::claimed_until.eq(now.as_micros()),
        );
        let inserted = insert_or_ignore!(self.session(), anchors::table, row)?;
        Ok(inserted == 1)
    }

    /// Claims an anchor until `until`, and returns its state; `None` when another node sends it. A claim beyond `until` is by a
    /// node with a wrong clock, and does not count.
    pub fn claim_anchor(
        &mut self,
        number: i64,
        now: Timestamp,
        until: Timestamp,
    ) -> Result<Option<AnchorState>> {
        let is_free = anchors::claimed_until
            .le(now.as_micros())
            .or(anchors::claimed_until.gt(until.as_micros()));
        let row = anchors::table.find(number).filter(is_free);
        let claimed = on_either!(self.session(), session => diesel::update(row)
            .set(anchors::claimed_until.eq(until.as_micros()))
            .execute(session))?;
        if claimed == 0 {
            return Ok(None);
        }
        let state = anchors::table
            .find(number)
            .select(state_columns())
            .get_result(self.session())?;
        Ok(Some(read_state(state)))
    }

    /// Stores the time stamp of an anchor.
    pub fn store_time_stamp(&mut self, number: i64, time_stamp: &[u8]) -> Result<()> {
        diesel::update(anchors::table.find(number))
            .set(anchors::time_stamp.eq(time_stamp))
            .execute(self.session())?;
        Ok(())
    }

    /// Stores what the places have of an anchor, and until when it is claimed.
    pub fn update_anchor(&mut self, state: &AnchorState) -> Result<()> {
        diesel::update(anchors::table.find(state.number))
            .set((
                anchors::webhook_stage.eq(state.webhook as i64),
                anchors::bucket_stage.eq(state.bucket as i64),
                anchors::claimed_until.eq(state.claimed_until.as_micros()),
            ))
            .execute(self.session())?;
        Ok(())
    }

    /// Removes an anchor, unless it is the last one, which the next one names.
    pub fn delete_anchor(&mut self, number: i64) -> Result<()> {
        let last: Option<i64> = anchors::table
            .select(max(anchors::number))
            .get_result(self.session())?;
        if last != Some(number) {
            diesel::delete(anchors::table.find(number)).execute(self.session())?;
        }
        Ok(())
    }
}
