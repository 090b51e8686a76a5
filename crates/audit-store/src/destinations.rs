//! The runs of destinations, and the events that their receivers refuse.
//!
//! A node leases a run before it delivers, under a random token, and each later write of the run names the token. When the node
//! dies, the lease expires. When it was only slow and another node has leased the run since, it changes nothing.
//!
//! A transaction that writes a destination and its runs writes the destination first, so a change and a delivery cannot deadlock.

use crate::access::{Reader, Writer};
use crate::database::insert_or_ignore;
use crate::error::Result;
use crate::schema::{destination_runs, destination_set_aside as set_aside};
use audit_domain::Timestamp;
use diesel::prelude::*;

/// The run of a destination that delivers the log without an end. Every other one is a replay.
pub const MAIN_RUN: i64 = 0;
/// How long after a checkpoint record the next one is due, if something was delivered since, in seconds.
pub const STREAM_CHECKPOINT_SECONDS: i64 = 300;

/// How far after the present time of a run can be that a clock has written which is right, in seconds: more than a lease, and more than
/// clocks of nodes differ. A time further ahead was written before a clock was set back, and has no effect.
pub const TIME_AHEAD_SECONDS_MAX: i64 = 300;
/// The longest delay of an attempt, in seconds. `next_attempt_at` can be as much further ahead.
pub const ATTEMPT_DELAY_SECONDS_MAX: i64 = 3_600;

/// The run delivers, or waits for events.
pub(crate) const ACTIVE: &str = "active";
/// The last attempt has failed, and a later one can succeed.
pub(crate) const DELAYED: &str = "delayed";
/// The receiver has refused the credentials.
pub(crate) const CREDENTIALS: &str = "credentials";

/// A stored run. The state is text; the application parses it. Times are microseconds since the Unix epoch.
#[derive(Clone, Debug, PartialEq, Eq, Queryable, Selectable, Insertable, AsChangeset)]
#[diesel(
    table_name = destination_runs,
    primary_key(destination_id, number),
    treat_none_as_null = true,
    treat_none_as_default_value = false
)]
#[expect(missing_docs, reason = "the fields are the columns")]
pub struct DestinationRunRow {
    pub destination_id: String,
    /// [`MAIN_RUN`], or that of a replay.
    pub number: i64,
    pub ledger_id: i64,
    /// The `seq` to read next.
    pub cursor_seq: i64,
    /// The first `seq` that is not delivered; `None` for a run without an end.
    pub end_seq: Option<i64>,
    /// The number of the last record that was delivered; 0 at first.
    pub position: i64,
    /// The hash chain over the delivered records.
    pub chain: Vec<u8>,
    /// The batch in flight, as JSON.
    pub planned: Option<String>,
    /// The most records of the next batch.
    pub batch_max: i64,
    /// `active`, `delayed`, `credentials` or `parked`.
    pub state: String,
    /// Attempts since the last success.
    pub attempts: i64,
    pub next_attempt_at: i64,
    pub leased_until: i64,
    /// The token of the node that delivers.
    pub lease: Option<Vec<u8>>,
    /// Events that were set aside since the last success.
    pub set_aside_in_a_row: i64,
    /// When the last checkpoint record was delivered.
    pub checkpoint_at: i64,
    /// The last position that it covers.
    pub checkpoint_position: i64,
    pub last_success_at: Option<i64>,
    /// The last failure, as JSON.
    pub last_error: Option<String>,
    /// Records delivered.
    pub delivered: i64,
}

/// An event that the receiver refuses for good.
#[derive(Clone, Debug, PartialEq, Eq, Queryable, Selectable, Insertable)]
#[diesel(table_name = set_aside)]
#[expect(missing_docs, reason = "the fields are the columns")]
pub struct SetAsideRow {
    pub destination_id: String,
    /// The number of the run.
    pub run: i64,
    /// The number of its record.
    pub position: i64,
    pub seq: i64,
    pub event_id: Vec<u8>,
    pub content_hash: Vec<u8>,
    /// When it was set aside, in microseconds since the Unix epoch.
    pub at: i64,
    /// What the receiver has responded.
    pub reason: String,
}

#[expect(
    clippy::missing_errors_doc,
    reason = "all fail only when the database cannot be queried"
)]
impl Reader<'_> {
    /// The runs of a destination: the main one, then the replay if there is one.
    pub fn destination_runs(&mut self, id: &str) -> Result<Vec<DestinationRunRow>> {
        Ok(destination_runs::table
            .filter(destination_runs::destination_id.eq(id))
            .order(destination_runs::number)
            .select(DestinationRunRow::as_select())
            .load(self.session())?)
    }

    /// Up to `limit` events that were set aside, by run and position: those after `after`, a run and a position.
    pub fn set_aside(&mut self, id: &str, after: Option<(i64, i64)>, limit: i64) -> Result<Vec<SetAsideRow>> {
        let mut query = set_aside::table
            .filter(set_aside::destination_id.eq(id))
            .order((set_aside::run, set_aside::position))
            .limit(limit)
            .select(SetAsideRow::as_select())
            .into_boxed();
        if let Some((run, position)) = after {
            let same_run = set_aside::run.eq(run).and(set_aside::position.gt(position));
            query = query.filter(set_aside::run.gt(run).or(same_run));
        }
        Ok(query.load(self.session())?)
    }

    /// The number of events that were set aside.
    pub fn set_aside_count(&mut self, id: &str) -> Result<i64> {
        Ok(set_aside::table
            .filter(set_aside::destination_id.eq(id))
            .count()
            .get_result(self.session())?)
    }

    /// The events of a run that were set aside at the positions after `after_position`, up to and with `to_position`.
    pub fn set_aside_between(
        &mut self,
        id: &str,
        run: i64,
        after_position: i64,
        to_position: i64,
    ) -> Result<Vec<SetAsideRow>> {
        Ok(set_aside::table
            .filter(set_aside::destination_id.eq(id))
            .filter(set_aside::run.eq(run))
            .filter(set_aside::position.gt(after_position))
            .filter(set_aside::position.le(to_position))
            .order(set_aside::position)
            .select(SetAsideRow::as_select())
            .load(self.session())?)
    }
}

#[expect(
    clippy::missing_errors_doc,
    reason = "all fail only when the database cannot be written"
)]
impl Writer<'_> {
    /// Leases a run from `now` until `leased_until`, at most [`TIME_AHEAD_SECONDS_MAX`] later, under the token `lease`. Returns `false`,
    /// and changes nothing, while another lease has not expired, or the destination is paused or deleted.
    pub fn lease_destination_run(
        &mut self,
        id: &str,
        number: i64,
        now: Timestamp,
        leased_until: Timestamp,
        lease: &[u8; 16],
    ) -> Result<bool> {
        if !self.is_delivered_to(id)? {
            return Ok(false);
        }
        let far_ahead = now.plus_seconds(TIME_AHEAD_SECONDS_MAX).as_micros();
        let is_free = destination_runs::leased_until
            .le(now.as_micros())
            .or(destination_runs::leased_until.gt(far_ahead));
        let free = destination_runs::table.find((id, number)).filter(is_free);
        let leased = diesel::update(free)
            .set((
                destination_runs::leased_until.eq(leased_until.as_micros()),
                destination_runs::lease.eq(Some(lease.as_slice())),
            ))
            .execute(self.session())?;
        Ok(leased > 0)
    }

    /// Writes a run that is leased under the token `before_lease`, with the lease that `row` has. Returns `false`, and changes
    /// nothing, when another node has leased it since, or it is deleted: the caller then rolls its transaction back.
    pub fn update_destination_run(
        &mut self,
        before_lease: &[u8; 16],
        row: &DestinationRunRow,
    ) -> Result<bool> {
        let leased = destination_runs::table
            .find((&row.destination_id, row.number))
            .filter(destination_runs::lease.eq(before_lease.as_slice()));
        let updated = diesel::update(leased).set(row).execute(self.session())?;
        Ok(updated > 0)
    }

    /// Removes a run: a replay that has ended or was stopped.
    pub fn delete_destination_run(&mut self, id: &str, number: i64) -> Result<()> {
        diesel::delete(destination_runs::table.find((id, number))).execute(self.session())?;
        Ok(())
    }

    /// Sets an event aside, unless it is.
    pub fn insert_set_aside(&mut self, row: &SetAsideRow) -> Result<()> {
        insert_or_ignore!(self.session(), set_aside::table, row.clone())?;
        Ok(())
    }

    /// Removes an event that was set aside.
    pub fn delete_set_aside(&mut self, id: &str, run: i64, position: i64) -> Result<()> {
        diesel::delete(set_aside::table.find((id, run, position))).execute(self.session())?;
        Ok(())
    }
}
