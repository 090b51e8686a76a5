//! The rows of removals.

use super::ErasureRequest;
use crate::access::{Reader, Writer};
use crate::columns::stored;
use crate::database::{insert_or_ignore, on_either};
use crate::error::{Result, StoreError};
use crate::ids::LedgerId;
use crate::ledgers::heads_of;
use crate::schema::removals;
use audit_domain::{Timestamp, write_with_length};
use audit_ledger::{HeadKey, RemovalKind};
use diesel::dsl::sql;
use diesel::prelude::*;
use diesel::sql_types::Bool;
use std::ops::Range;
use subtle::ConstantTimeEq;

/// The context of the codes of rows.
const CODE_CONTEXT: &str = "audit removal row 1";
/// The longest lease of a removal, in seconds. One that ends later was written by a clock that was ahead, and is free.
pub const REMOVAL_LEASE_SECONDS_MAX: i64 = 1_200;
/// In place of the position of an event that a row does not have.
const NO_EVENT: i64 = -1;
/// The states from the event on that says that the events go.
const CARRIED_OUT: [&str; 3] = [
    RemovalState::Removing.as_str(),
    RemovalState::Cleaning.as_str(),
    RemovalState::Done.as_str(),
];

audit_domain::words! {
    /// How far a removal is.
    pub enum RemovalState {
        /// Its records are being written. No event names it yet.
        Collecting = "collecting",
        /// Its records are complete, and wait to be confirmed: an erasure.
        Listed = "listed",
        /// Its plan is in the log.
        Planned = "planned",
        /// The event that authorises it is in the log. Events are deleted once it is signed.
        Removing = "removing",
        /// The events are deleted; what hangs on them is not yet.
        Cleaning = "cleaning",
        /// Nothing is left to do.
        Done = "done",
        /// The plan was cancelled. Its records are being deleted, then the row.
        Cancelled = "cancelled",
    }
}

/// The row of a removal, without its lease.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemovalRow {
    /// The ledger.
    pub ledger_id: LedgerId,
    /// From 1, within the ledger.
    pub number: u32,
    /// Why events are removed.
    pub kind: RemovalKind,
    /// How far it is.
    pub state: RemovalState,
    /// The position of the event that authorises it: the plan, then the removal or erasure; `None` before the plan.
    pub event_seq: Option<u64>,
    /// The range of the log that it was collected from.
    pub seqs: Range<u64>,
    /// The position to continue at, in the present state. The code does not cover it.
    pub cursor_seq: u64,
    /// The number of its records.
    pub records: u64,
    /// When the row was last changed.
    pub changed_at: Timestamp,
    /// The request of an erasure; `None` for retention.
    pub request: Option<ErasureRequest>,
}

impl RemovalRow {
    /// Whether it is the list of an erasure that can be confirmed: its digest is known.
    pub fn is_complete_list(&self) -> bool {
        let digest = self.request.as_ref().and_then(|request| request.digest);
        self.state == RemovalState::Listed && digest.is_some()
    }
}

#[derive(Queryable, Selectable, Insertable, AsChangeset)]
#[diesel(
    table_name = removals,
    primary_key(ledger_id, number),
    treat_none_as_null = true,
    treat_none_as_default_value = false
)]
struct Columns {
    ledger_id: i64,
    number: i64,
    kind: String,
    state: String,
    event_seq: Option<i64>,
    first_seq: i64,
    end_seq: i64,
    cursor_seq: i64,
    records: i64,
    request: Option<String>,
    code: Vec<u8>,
    changed_at: i64,
    leased_until: i64,
    lease: Option<Vec<u8>>,
}

impl Columns {
    fn of(row: &RemovalRow, lease: &[u8; 16], until: Timestamp, key: &HeadKey) -> Self {
        let mut columns = Self {
            ledger_id: row.ledger_id.0,
            number: row.number.into(),
            kind: row.kind.to_string(),
            state: row.state.to_string(),
            event_seq: row.event_seq.map(u64::cast_signed),
            first_seq: row.seqs.start.cast_signed(),
            end_seq: row.seqs.end.cast_signed(),
            cursor_seq: row.cursor_seq.cast_signed(),
            records: row.records.cast_signed(),
            request: row.request.as_ref().map(ErasureRequest::to_text),
            code: Vec::new(),
            changed_at: row.changed_at.as_micros(),
            leased_until: until.as_micros(),
            lease: Some(lease.to_vec()),
        };
        columns.code = columns.code_with(key).to_vec();
        columns
    }

    /// HMAC-SHA256 with the head key over ledger and number, kind and state (each with its length), the position of the event or -1, the
    /// range, the number of records, and the request with its length (empty for none). Numbers are 64 bits, big endian.
    fn code_with(&self, key: &HeadKey) -> [u8; HeadKey::CODE_BYTES] {
        let mut record = Vec::with_capacity(96);
        record.extend_from_slice(&self.ledger_id.to_be_bytes());
        record.extend_from_slice(&self.number.to_be_bytes());
        for word in [&self.kind, &self.state] {
            write_with_length(word.as_bytes(), |part| record.extend_from_slice(part));
        }
        let event_seq = self.event_seq.unwrap_or(NO_EVENT);
        for number in [event_seq, self.first_seq, self.end_seq, self.records] {
            record.extend_from_slice(&number.to_be_bytes());
        }
        let request = self.request.as_deref().unwrap_or_default();
        write_with_length(request.as_bytes(), |part| record.extend_from_slice(part));
        key.code_of_record(CODE_CONTEXT, &record)
    }

    /// # Errors
    /// [`StoreError::Damaged`] where the service did not write the row.
    fn read(self, key: &HeadKey) -> Result<RemovalRow> {
        let what = "row of a removal";
        if !bool::from(self.code_with(key).as_slice().ct_eq(&self.code)) {
            return Err(StoreError::Damaged { what });
        }
        let read = |text: &String| ErasureRequest::read(text).ok_or(StoreError::Damaged { what });
        Ok(RemovalRow {
            request: self.request.as_ref().map(read).transpose()?,
            ledger_id: LedgerId(self.ledger_id),
            number: u32::try_from(self.number).map_err(|_| StoreError::Damaged { what })?,
            kind: stored(&self.kind, what)?,
            state: stored(&self.state, what)?,
            event_seq: self.event_seq.map(i64::cast_unsigned),
            seqs: self.first_seq.cast_unsigned()..self.end_seq.cast_unsigned(),
            cursor_seq: self.cursor_seq.cast_unsigned(),
            records: self.records.cast_unsigned(),
            changed_at: Timestamp::from_micros(self.changed_at),
        })
    }
}

#[expect(
    clippy::missing_errors_doc,
    reason = "all fail only when the database cannot be queried, and those that say so"
)]
impl Reader<'_> {
    /// The removals of a ledger, by number. Fails with [`StoreError::Damaged`] where the service did not write a row.
    pub fn removals(&mut self, ledger_id: LedgerId) -> Result<Vec<RemovalRow>> {
        let rows: Vec<Columns> = removals::table
            .filter(removals::ledger_id.eq(ledger_id.0))
            .order(removals::number)
            .select(Columns::as_select())
            .load(self.session())?;
        let heads = heads_of(self.session())?;
        rows.into_iter().map(|row| row.read(heads.key())).collect()
    }

    /// The row of an erasure by its id. Fails as [`Self::removals`].
    pub fn erasure(&mut self, ledger_id: LedgerId, id: &str) -> Result<Option<RemovalRow>> {
        let is_wanted = |row: &RemovalRow| row.request.as_ref().is_some_and(|request| request.id == id);
        Ok(self.removals(ledger_id)?.into_iter().find(is_wanted))
    }

    /// Up to `limit` removals that are not done, of all ledgers. Plans in their grace and lists that wait to be confirmed come last: they
    /// must not keep the others from being carried out. A row that the service did not write is left out, and counted in
    /// [`crate::Store::row_alarms`].
    #[expect(
        clippy::disallowed_methods,
        reason = "once in each round of the removals; the index has this condition"
    )]
    pub fn open_removals(&mut self, limit: i64) -> Result<Vec<RemovalRow>> {
        let rows: Vec<Columns> = removals::table
            .filter(sql::<Bool>("state <> 'done'"))
            .order((
                removals::state
                    .eq(RemovalState::Planned.as_str())
                    .or(removals::state.eq(RemovalState::Listed.as_str())),
                removals::leased_until,
            ))
            .limit(limit)
            .select(Columns::as_select())
            .load(self.session())?;
        let heads = heads_of(self.session())?;
        let mut open = Vec::with_capacity(rows.len());
        for row in rows {
            let (ledger_id, number) = (LedgerId(row.ledger_id), row.number);
            match row.read(heads.key()) {
                Ok(row) => open.push(row),
                Err(_) => heads.note_forged_removal(ledger_id, number),
            }
        }
        Ok(open)
    }

    /// The number of the newest removal by retention of a ledger that is or was carried out; 0 without one.
    pub fn newest_removal(&mut self, ledger_id: LedgerId) -> Result<u32> {
        let newest = removals::table
            .filter(removals::ledger_id.eq(ledger_id.0))
            .filter(removals::kind.eq(RemovalKind::Retention.as_str()))
            .filter(removals::state.eq_any(CARRIED_OUT))
            .order(removals::number.desc())
            .limit(1)
            .select(removals::number);
        let newest: Option<i64> =
            on_either!(self.session(), session => newest.get_result(session).optional())?;
        u32::try_from(newest.unwrap_or(0)).map_err(|_| StoreError::Damaged {
            what: "row of a removal",
        })
    }

    /// Whether events at or behind a position may have been removed by retention, in a removal with a greater number. Who has read a log
    /// has what an erasure takes from it.
    pub fn missed_removal(&mut self, ledger_id: LedgerId, after_number: u32, from_seq: u64) -> Result<bool> {
        let missed = removals::table
            .filter(removals::ledger_id.eq(ledger_id.0))
            .filter(removals::number.gt(i64::from(after_number)))
            .filter(removals::end_seq.gt(from_seq.cast_signed()))
            .filter(removals::kind.eq(RemovalKind::Retention.as_str()))
            .filter(removals::state.eq_any(CARRIED_OUT))
            .select(removals::number)
            .limit(1);
        let missed: Option<i64> =
            on_either!(self.session(), session => missed.get_result(session).optional())?;
        Ok(missed.is_some())
    }

    /// The numbers of the removals of a ledger in these states.
    pub(super) fn removals_in(&mut self, ledger_id: LedgerId, states: &[RemovalState]) -> Result<Vec<i64>> {
        let states: Vec<&str> = states.iter().map(|state| state.as_str()).collect();
        let numbers = removals::table
            .filter(removals::ledger_id.eq(ledger_id.0))
            .filter(removals::state.eq_any(states))
            .select(removals::number);
        Ok(on_either!(self.session(), session => numbers.load(session))?)
    }
}

#[expect(
    clippy::missing_errors_doc,
    reason = "all fail only when the database cannot be written"
)]
impl Writer<'_> {
    /// Inserts a removal with a lease. Returns `false`, and changes nothing, where the ledger has one of this number: another node was
    /// faster.
    pub fn begin_removal(&mut self, row: &RemovalRow, lease: &[u8; 16], until: Timestamp) -> Result<bool> {
        let heads = heads_of(self.session())?;
        let columns = Columns::of(row, lease, until, heads.key());
        Ok(insert_or_ignore!(self.session(), removals::table, columns)? > 0)
    }

    /// Leases a removal from `now` until `until`, at most [`REMOVAL_LEASE_SECONDS_MAX`] later, or renews its lease. Returns `false`, and changes nothing, while another lease has not
    /// expired.
    pub fn lease_removal(
        &mut self,
        ledger_id: LedgerId,
        number: u32,
        lease: &[u8; 16],
        now: Timestamp,
        until: Timestamp,
    ) -> Result<bool> {
        let far_ahead = now.plus_seconds(REMOVAL_LEASE_SECONDS_MAX).as_micros();
        let is_free = removals::leased_until
            .le(now.as_micros())
            .or(removals::leased_until.gt(far_ahead))
            .or(removals::lease.eq(lease.as_slice()));
        let free = removals::table
            .find((ledger_id.0, i64::from(number)))
            .filter(is_free);
        let leased = diesel::update(free)
            .set((
                removals::leased_until.eq(until.as_micros()),
                removals::lease.eq(Some(lease.as_slice())),
            ))
            .execute(self.session())?;
        Ok(leased > 0)
    }

    /// Writes `after` in place of `before`, and renews the lease. Returns `false`, and changes nothing, when another node has leased the
    /// removal since or moved it on: the caller then rolls its transaction back.
    pub fn change_removal(
        &mut self,
        before: &RemovalRow,
        after: &RemovalRow,
        lease: &[u8; 16],
        until: Timestamp,
    ) -> Result<bool> {
        let heads = heads_of(self.session())?;
        let columns = Columns::of(after, lease, until, heads.key());
        let own = removals::table
            .find((before.ledger_id.0, i64::from(before.number)))
            .filter(removals::lease.eq(lease.as_slice()))
            .filter(removals::state.eq(before.state.as_str()))
            .filter(removals::cursor_seq.eq(before.cursor_seq.cast_signed()));
        Ok(diesel::update(own).set(&columns).execute(self.session())? > 0)
    }

    /// Deletes the row of a removal that has no records any more.
    pub fn delete_removal(&mut self, ledger_id: LedgerId, number: u32) -> Result<()> {
        diesel::delete(removals::table.find((ledger_id.0, i64::from(number)))).execute(self.session())?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row() -> RemovalRow {
        RemovalRow {
            ledger_id: LedgerId(1),
            number: 2,
            kind: RemovalKind::Retention,
            state: RemovalState::Planned,
            event_seq: Some(70),
            seqs: 3..40,
            cursor_seq: 5,
            records: 6,
            changed_at: Timestamp::from_seconds(7),
            request: None,
        }
    }

    #[test]
    fn the_code_of_a_row_covers_all_that_steers_a_removal() {
        let key = HeadKey::new(&[7; 32]);
        let columns = |row: &RemovalRow| Columns::of(row, &[1; 16], Timestamp::from_seconds(9), &key);
        assert_eq!(columns(&row()).read(&key).expect("its own code"), row());
        let changes: [fn(&mut Columns); 10] = [
            |row| row.ledger_id = 2,
            |row| row.number = 3,
            |row| row.kind = "erasure".to_owned(),
            |row| row.state = "removing".to_owned(),
            |row| row.event_seq = None,
            |row| row.event_seq = Some(71),
            |row| row.first_seq = 2,
            |row| row.end_seq = 41,
            |row| row.records = 7,
            |row| row.request = Some("{}".to_owned()),
        ];
        for change in changes {
            let mut changed = columns(&row());
            change(&mut changed);
            let read = changed.read(&key);
            assert!(matches!(read, Err(StoreError::Damaged { .. })), "{read:?}");
        }
        let other = columns(&row()).read(&HeadKey::new(&[8; 32]));
        assert!(matches!(other, Err(StoreError::Damaged { .. })), "{other:?}");
    }
}
