//! The months of ledgers on PostgreSQL, and giving the space of a month back.
//!
//! Events are removed by deletes, because a month has those of all projects. A month without events is then dropped; one that has lost
//! many of them is copied to a new table, which takes the place of its partition in the same transaction. Nothing else changes the
//! month meanwhile: its row in `event_months` is locked, and every transaction that deletes events holds it
//! (`removals.rs`). Only the exchange needs a lock that others wait for, and it gives up after some attempts of
//! [`LOCK_TIMEOUT_MS`].

use super::Shared;
use super::connection::Purpose;
use super::partitions::{self, partition_of, values_of};
use super::schema::event_months;
use crate::error::{Result, StoreError};
use crate::ids::LedgerId;
use crate::ledgers::head::LedgerMonth;
use crate::ledgers::heads::read_month;
use crate::schema::ledger_months;
use audit_domain::{Month, Timestamp};
use diesel::PgConnection;
use diesel::connection::SimpleConnection;
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Bool, Integer};
use std::collections::{BTreeSet, HashMap};
use std::time::{Duration, Instant};

/// The share of the events of a month that are left, in percent, up to which it is written anew.
const LEFT_PERCENT: i64 = 70;
/// How long an exchange of partitions waits for readers and writers of `events`. Those that come meanwhile wait as long.
const LOCK_TIMEOUT_MS: u32 = 200;
/// How often an exchange is tried, and the pause after each attempt.
const ATTEMPTS_MAX: u32 = 20;
const ATTEMPT_PAUSE: Duration = Duration::from_secs(1);
/// How much the clocks of nodes may differ, in seconds.
const CLOCKS_DIFFER_SECONDS: i64 = 60;
/// The pause after the last of these attempts, for all months: whoever reads `events` has locked all of them.
const IN_USE_PAUSE: Duration = Duration::from_secs(600);

/// The months of ledgers, ascending. After the heads are locked, in a statement of its own, which sees what was committed while
/// the lock was waited for.
pub(crate) fn months_of(
    connection: &mut PgConnection,
    ledgers: &BTreeSet<LedgerId>,
) -> Result<HashMap<LedgerId, Vec<LedgerMonth>>> {
    let ids: Vec<i64> = ledgers.iter().map(|ledger_id| ledger_id.0).collect();
    let rows: Vec<(i64, i32, i64)> = ledger_months::table
        .filter(ledger_months::ledger_id.eq_any(ids))
        .order((ledger_months::ledger_id, ledger_months::month))
        .load(connection)?;
    let mut months: HashMap<LedgerId, Vec<LedgerMonth>> = HashMap::with_capacity(ledgers.len());
    for (ledger_id, month, first_seq) in rows {
        let of_ledger = months.entry(LedgerId(ledger_id)).or_default();
        of_ledger.push(read_month((month, first_seq)));
    }
    Ok(months)
}

/// Inserts the months that ledgers enter. A row that is there already is of events that were removed by hand.
pub(crate) fn insert_months(
    connection: &mut PgConnection,
    entered: &[(LedgerId, LedgerMonth)],
) -> Result<()> {
    for (ledger_id, entered) in entered {
        diesel::insert_into(ledger_months::table)
            .values((
                ledger_months::ledger_id.eq(ledger_id.0),
                ledger_months::month.eq(entered.month.number()),
                ledger_months::first_seq.eq(entered.first_seq),
            ))
            .on_conflict((ledger_months::ledger_id, ledger_months::month))
            .do_update()
            .set(ledger_months::first_seq.eq(entered.first_seq))
            .execute(connection)?;
    }
    Ok(())
}

/// [`crate::Store::give_back_space`]: gives the space of the first of these months back that has some. Returns whether others may have
/// some. With `erased`, each of them is written anew whatever it has lost, unless it was since that time.
pub(super) fn give_back(
    shared: &Shared,
    months: &BTreeSet<Month>,
    now: Timestamp,
    erased: Option<Timestamp>,
) -> Result<bool> {
    // Events are stored in the present month, or in the one before by a clock that is behind. Keys are looked up in those of the window.
    let present = Month::of(now);
    let first_kept = match shared.window.first_month(present) {
        Month::MIN => present.plus(-1),
        first => first.min(present.plus(-1)),
    };
    let due: Vec<Month> = months.range(..first_kept).copied().collect();
    if due.is_empty() {
        return Ok(false);
    }
    let is_paused = |until: Instant| Instant::now() < until;
    if shared.space_in_use.lock().is_some_and(is_paused) {
        return Err(in_use());
    }
    // A session of its own: a writer never waits for a copy.
    let (mut connection, _) = shared.place.connect(Purpose::Migrate)?;
    for (month, later) in due.iter().zip(1..) {
        match give_back_month(&mut connection, *month, now, erased)? {
            None => {}
            Some(GivenBack::Later) => {
                *shared.space_in_use.lock() = Some(Instant::now() + IN_USE_PAUSE);
                return Err(in_use());
            }
            Some(given_back) => {
                if given_back == GivenBack::Dropped {
                    shared.commits().partitions.remove(*month);
                }
                return Ok(later < due.len());
            }
        }
    }
    Ok(false)
}

fn in_use() -> StoreError {
    StoreError::InUse(
        "other sessions use the events all the time: the space of removed events is given back later"
            .to_owned(),
    )
}

/// The outcome for a month.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum GivenBack {
    Dropped,
    Rewritten,
    /// Others use the partitions all the time.
    Later,
}

/// How many events a month has, and has had.
#[derive(QueryableByName)]
struct Counted {
    #[diesel(sql_type = BigInt)]
    present: i64,
    /// Those that were ever stored in it.
    #[diesel(sql_type = BigInt)]
    stored: i64,
    /// Those that it had when it was last written anew; 0 before.
    #[diesel(sql_type = BigInt)]
    rewritten: i64,
}

impl Counted {
    /// Whether it has lost so many events since it was last written that it is written anew.
    fn is_due(&self) -> bool {
        let before = match self.rewritten {
            0 => self.stored,
            rewritten => rewritten,
        };
        self.present * 100 <= before * LEFT_PERCENT
    }
}

/// The number of events that were ever stored in a month: an event that is stored in it changes the number.
const STORED: &str = "(SELECT coalesce(sum(coalesce( \
         (SELECT min(later.first_seq) FROM ledger_months AS later \
          WHERE later.ledger_id = own.ledger_id AND later.month > own.month), \
         ledgers.size) - own.first_seq), 0)::bigint \
      FROM ledger_months AS own JOIN ledgers ON ledgers.id = own.ledger_id WHERE own.month = $1) AS stored";

/// Whether `events` has a partition of this name.
fn is_there(connection: &mut PgConnection, name: &str) -> Result<bool> {
    #[derive(QueryableByName)]
    struct Found {
        #[diesel(sql_type = Bool)]
        is_there: bool,
    }
    let found = format!(
        "SELECT EXISTS (SELECT FROM pg_inherits JOIN pg_class ON oid = inhrelid \
             WHERE inhparent = 'events'::regclass AND relname = '{name}') AS is_there"
    );
    let found: Found = diesel::sql_query(found).get_result(connection)?;
    Ok(found.is_there)
}

/// Gives the space of a month back; `None` if it has none to give, and nothing that was `erased` by this time either.
fn give_back_month(
    connection: &mut PgConnection,
    month: Month,
    now: Timestamp,
    erased: Option<Timestamp>,
) -> Result<Option<GivenBack>> {
    let name = partition_of(month);
    if !is_there(connection, &name)? {
        return Ok(None);
    }
    let number = month.number();
    // Committed before the lock, so that a transaction that deletes events finds the row.
    connection.batch_execute(&format!(
        "INSERT INTO event_months (month, event_count, rewritten_at) VALUES ({number}, 0, 0) ON CONFLICT DO NOTHING"
    ))?;
    // A failure ends the connection, and the transaction with it.
    connection.batch_execute(
        "BEGIN; SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0; \
         SET LOCAL citus.propagate_set_commands = 'local'",
    )?;
    connection.batch_execute(&format!(
        "SELECT month FROM event_months WHERE month = {number} FOR UPDATE"
    ))?;
    // The node that wrote it last may have a clock that is ahead.
    let rewritten_from = erased.map(|erased| erased.plus_seconds(CLOCKS_DIFFER_SECONDS));
    // Another node may have dropped or written it while the lock was waited for.
    let is_due = is_there(connection, &name)?
        && match rewritten_from {
            Some(from) => !is_written_since(connection, month, from)?,
            None => true,
        };
    let counted = match is_due {
        true => Some(count(connection, month)?),
        false => None,
    };
    let outcome = match counted {
        Some(counted) if counted.present == 0 => drop_month(connection, month, &counted)?,
        Some(counted) if erased.is_some() || counted.is_due() => {
            // No earlier than what is asked for, so that it is not written twice.
            let at = rewritten_from.map_or(now, |from| now.max(from));
            rewrite_month(connection, month, &counted, at)?
        }
        _ => {
            connection.batch_execute("ROLLBACK")?;
            return Ok(None);
        }
    };
    connection.batch_execute(match outcome {
        GivenBack::Later => "ROLLBACK",
        GivenBack::Dropped | GivenBack::Rewritten => "COMMIT",
    })?;
    if outcome == GivenBack::Rewritten {
        connection.batch_execute(&format!("ANALYZE {name}"))?;
    }
    Ok(Some(outcome))
}

/// Whether a month was written anew at this time or later. After its row is locked.
fn is_written_since(connection: &mut PgConnection, month: Month, from: Timestamp) -> Result<bool> {
    let rewritten_at: i64 = event_months::table
        .find(month.number())
        .select(event_months::rewritten_at)
        .get_result(connection)?;
    Ok(rewritten_at >= from.as_micros())
}

/// Counts the events of a month, and those that it has had.
fn count(connection: &mut PgConnection, month: Month) -> Result<Counted> {
    let name = partition_of(month);
    let counts = format!(
        "SELECT (SELECT count(*) FROM {name}) AS present, {STORED}, \
             coalesce((SELECT event_count FROM event_months WHERE month = $1), 0) AS rewritten"
    );
    Ok(diesel::sql_query(counts)
        .bind::<Integer, _>(month.number())
        .get_result(connection)?)
}

/// Drops the partition of a month without events.
fn drop_month(connection: &mut PgConnection, month: Month, counted: &Counted) -> Result<GivenBack> {
    let (name, number) = (partition_of(month), month.number());
    let drop = format!("DROP TABLE {name}; DELETE FROM event_months WHERE month = {number}");
    Ok(match exchange(connection, month, counted, Some(&drop))? {
        true => GivenBack::Dropped,
        false => GivenBack::Later,
    })
}

/// Copies the events of a month that are left to a new partition.
fn rewrite_month(
    connection: &mut PgConnection,
    month: Month,
    counted: &Counted,
    now: Timestamp,
) -> Result<GivenBack> {
    if !exchange(connection, month, counted, None)? {
        return Ok(GivenBack::Later);
    }
    let (name, values) = (partition_of(month), values_of(month));
    let new = format!("{name}_new");
    let (first, end) = (month.number(), month.plus(1).number());
    partitions::create_detached(connection, &new)?;
    // With the condition PostgreSQL need not read the table when it is attached, under a lock.
    connection.batch_execute(&format!(
        "INSERT INTO {new} SELECT * FROM {name};
         ALTER TABLE {new} ADD CONSTRAINT of_month CHECK (month >= {first} AND month < {end})"
    ))?;
    let (present, now) = (counted.present, now.as_micros());
    let replace = format!(
        "ALTER TABLE events ATTACH PARTITION {new} {values};
         DROP TABLE {name}; ALTER TABLE {new} RENAME TO {name};
         ALTER TABLE {name} DROP CONSTRAINT of_month;
         UPDATE event_months SET event_count = {present}, rewritten_at = {now} WHERE month = {first}"
    );
    Ok(match exchange(connection, month, counted, Some(&replace))? {
        true => GivenBack::Rewritten,
        false => GivenBack::Later,
    })
}

/// Detaches the partition of a month within a transaction, and runs the statements `then`. Without them it only tries, and changes nothing.
/// Returns `false`, and has changed nothing, when others have used the partitions in each attempt, or have stored an event in the month
/// since it was counted.
fn exchange(
    connection: &mut PgConnection,
    month: Month,
    counted: &Counted,
    then: Option<&str>,
) -> Result<bool> {
    for attempt in 1..=ATTEMPTS_MAX {
        connection.batch_execute(&format!(
            "SAVEPOINT exchange; SET LOCAL lock_timeout = {LOCK_TIMEOUT_MS}"
        ))?;
        let exchanged = exchange_once(connection, month, counted, then);
        if then.is_some() && matches!(exchanged, Ok(true)) {
            return Ok(true);
        }
        connection.batch_execute("ROLLBACK TO SAVEPOINT exchange")?;
        match exchanged {
            Ok(is_unchanged) => return Ok(is_unchanged),
            Err(error) if attempt == ATTEMPTS_MAX => {
                log::warn!("cannot give the space of {month} back yet: {error}");
            }
            Err(error) => {
                log::debug!("attempt {attempt} to exchange a partition: {error}");
                std::thread::sleep(ATTEMPT_PAUSE);
            }
        }
    }
    Ok(false)
}

/// An attempt of [`exchange`].
fn exchange_once(
    connection: &mut PgConnection,
    month: Month,
    counted: &Counted,
    then: Option<&str>,
) -> Result<bool> {
    #[derive(QueryableByName)]
    struct Found {
        #[diesel(sql_type = BigInt)]
        stored: i64,
    }
    let (name, lock) = (partition_of(month), partitions::LOCK);
    connection.batch_execute(&format!(
        "SELECT pg_advisory_xact_lock({lock}); ALTER TABLE events DETACH PARTITION {name}"
    ))?;
    // Its lock keeps others from storing events in it. A statement of its own, which sees those that were stored before the lock.
    let found: Found = diesel::sql_query(format!("SELECT {STORED}"))
        .bind::<Integer, _>(month.number())
        .get_result(connection)?;
    if found.stored != counted.stored {
        log::warn!("an event was stored in {month}: a node's clock is behind");
        return Ok(false);
    }
    if let Some(then) = then {
        connection.batch_execute(then)?;
    }
    Ok(true)
}
