//! Ledgers: their heads, and the actions that occur in them.

mod actions;

pub(crate) use actions::{KnownActions, StoredActions, actions_with_prefix};

use crate::access::Reader;
use crate::append::plan::{Before, Head, LedgerMonth, Plan, RefusedHead};
use crate::append::{AppendSession, LedgerId};
use crate::configuration::ConfigurationVersion;
use crate::database::{AnySession, on_database, on_either};
use crate::error::{Result, StoreError};
use crate::replica::LogEnd;
use crate::row_code::RowCodes;
use crate::schema::ledgers;
use crate::tree::{self, TreeSession};
use crate::unsigned::Unsigned;
use audit_domain::{Environment, EventId, Month, ProjectId, Stamp, Timestamp};
use audit_ledger::{Frontier, HeadKey, SealedHead, Tile, TileId};
use diesel::prelude::*;
use parking_lot::Mutex;
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
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
    Option<Vec<u8>>,
);

/// Creates the ledgers of a new project.
pub(crate) fn create_ledgers(session: &mut AnySession, project_id: ProjectId) -> Result<()> {
    let group_id = on_database!(session, append::group_of(project_id))?;
    let version = ConfigurationVersion::random(session)?;
    for environment in Environment::ALL {
        // Numbers and not random ids, because they are in every row and token.
        let id = on_database!(session, append::next_ledger_number())?;
        let code = heads_of(session)?.key.code(&SealedHead {
            ledger_id: id,
            name: &name_of(&project_id.to_string(), environment.as_str()),
            size: 0,
            frontier: &[],
            last: None,
        });
        diesel::insert_into(ledgers::table)
            .values((
                ledgers::id.eq(id),
                ledgers::project_id.eq(project_id.to_string()),
                ledgers::environment.eq(environment.as_str()),
                ledgers::group_id.eq(group_id),
                ledgers::configuration_version.eq(version.0),
                ledgers::size.eq(0_i64),
                ledgers::head_code.eq(code.as_slice()),
            ))
            .execute(session)?;
    }
    Ok(())
}

/// The ledger of each environment of a project.
pub(crate) fn ledgers_of(
    session: &mut AnySession,
    project_id: ProjectId,
) -> Result<HashMap<Environment, LedgerId>> {
    let rows = ledgers::table
        .filter(ledgers::project_id.eq(project_id.to_string()))
        .select((ledgers::id, ledgers::environment))
        .load::<(i64, String)>(session)?;
    rows.into_iter()
        .map(|(id, environment)| {
            let environment = environment
                .parse()
                .map_err(|_| StoreError::Damaged { what: "environment" })?;
            Ok((environment, LedgerId(id)))
        })
        .collect()
}

/// The number of events of a ledger.
pub(crate) fn ledger_size(session: &mut AnySession, ledger_id: LedgerId) -> Result<i64> {
    Ok(ledgers::table
        .find(ledger_id.0)
        .select(ledgers::size)
        .get_result(session)?)
}

/// How many events a ledger has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LedgerCount {
    /// All of them.
    pub size: u64,
    /// Those that count to the limit of the day.
    pub day_events: u64,
}

impl Reader<'_> {
    /// How many events a ledger has, and how many of them count to the limit of `day`.
    ///
    /// # Errors
    /// When the database cannot be queried, or has no such ledger.
    pub fn ledger_count(&mut self, ledger_id: LedgerId, day: i64) -> Result<LedgerCount> {
        let (size, stored_day, day_events): (i64, i64, i64) = ledgers::table
            .find(ledger_id.0)
            .select((ledgers::size, ledgers::day, ledgers::day_events))
            .get_result(self.session())?;
        let continues = Head::counts_to(stored_day, day);
        Ok(LedgerCount {
            size: size.cast_unsigned(),
            day_events: if continues { day_events.cast_unsigned() } else { 0 },
        })
    }
}

/// The end of a ledger's log.
pub(crate) fn log_end(session: &mut AnySession, ledger_id: LedgerId) -> Result<LogEnd> {
    let (size, frontier) = ledgers::table
        .find(ledger_id.0)
        .select((ledgers::size, ledgers::frontier))
        .get_result(session)?;
    Ok(LogEnd::new(size, frontier))
}

/// Reads the state that every request to these ledgers depends on, and locks their heads until the end of the transaction.
pub(crate) fn read_before<S: AppendSession>(
    session: &mut S,
    ledgers: &BTreeSet<LedgerId>,
    day: i64,
) -> Result<Before> {
    let mut before = Before::default();
    let heads = session.heads()?;
    // Changes of the configuration lock heads in the same order.
    before.add_heads(&heads, session.lock_heads(ledgers)?, day);
    Ok(before)
}

impl Before {
    /// Adds the heads in these rows.
    pub(crate) fn add_heads(
        &mut self,
        heads: &Heads,
        rows: impl IntoIterator<Item = (i64, HeadRow, Vec<LedgerMonth>)>,
        day: i64,
    ) {
        for (id, row, months) in rows {
            match heads.read(id, row, months) {
                Some(head) if heads.unsigned.is_cut_off(LedgerId(id), head.size.cast_unsigned()) => {
                    self.refused.insert(LedgerId(id), RefusedHead::CutOff);
                }
                Some(mut head) => {
                    head.begin_day(day);
                    self.heads.insert(LedgerId(id), head);
                }
                None => drop(self.refused.insert(LedgerId(id), RefusedHead::Forged)),
            }
        }
    }
}

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
    ledgers::head_code,
);
pub(crate) const SEALED_COLUMNS: SealedColumnNames = (
    ledgers::size,
    ledgers::last_event_id,
    ledgers::last_received_at,
    ledgers::frontier,
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
    /// How often such a row was found, or a tile that the service did not write.
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

    /// How often a row of an idempotency key or a tile was found that the service did not write.
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
        let edge = tree::read_frontier(row.3.as_deref()).ok()?;
        (is_sealed && edge.size() == row.0.cast_unsigned()).then_some(edge)
    }

    /// Reads the columns of a head; none where the service did not write it.
    fn read(&self, id: i64, row: HeadRow, months: Vec<LedgerMonth>) -> Option<Head> {
        let ((project_id, environment), group_id, configuration_version, sealed, day, day_events) = row;
        let name = name_of(&project_id, &environment);
        let edge = self.edge(id, &name, &sealed)?;
        let (size, last_event_id, last_received_at, ..) = sealed;
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
            day,
            day_events: day_events.unsigned_abs(),
            months,
        })
    }
}

/// The head in the row of a ledger; none where it has no form that the service writes.
pub(crate) fn sealed<'a>(id: i64, name: &'a str, row: &'a SealedColumns) -> Option<SealedHead<'a>> {
    let (size, last_event_id, last_received_at, frontier, _) = row;
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

/// The heads of the store that this session belongs to.
pub(crate) fn heads_of(session: &mut AnySession) -> Result<Arc<Heads>> {
    on_either!(session, session => session.heads())
}

/// The head of a ledger as a commit leaves it.
#[derive(Debug)]
pub(crate) struct NewHead {
    pub(crate) ledger_id: LedgerId,
    /// The version of the project's configuration, which the commit does not change.
    pub(crate) configuration_version: ConfigurationVersion,
    pub(crate) size: i64,
    pub(crate) last: Stamp,
    /// Encoded.
    pub(crate) frontier: Vec<u8>,
    pub(crate) code: [u8; HeadKey::CODE_BYTES],
    pub(crate) day: i64,
    pub(crate) day_events: i64,
    /// The tiles that the tree has filled, to be written while the head is locked.
    pub(crate) tiles: Vec<Tile>,
}

/// The heads to write with the rows of a plan, in the order of their ledgers.
pub(crate) fn grow<S: TreeSession>(session: &mut S, plan: &mut Plan) -> Result<Vec<NewHead>> {
    let keeper = session.heads()?;
    let mut heads = Vec::with_capacity(plan.growths.len());
    for (&ledger_id, head) in &mut plan.after.heads {
        let Some(growth) = plan.growths.get(&ledger_id) else {
            // All its events are repeats, or were refused.
            continue;
        };
        let tree = growth.tree.as_ref().ok_or(StoreError::Damaged {
            what: "edge of a tree",
        })?;
        let (frontier, tiles) = tree::finish(session, ledger_id, tree)?;
        let encoded = frontier.encode();
        let code = keeper.code(&SealedHead {
            ledger_id: ledger_id.0,
            name: &head.name,
            size: head.size,
            frontier: &encoded,
            last: Some((growth.last.id.to_bytes(), growth.last.received_at.as_micros())),
        });
        head.frontier = Some(frontier);
        heads.push(NewHead {
            ledger_id,
            configuration_version: head.configuration_version,
            size: head.size,
            last: growth.last,
            frontier: encoded,
            code,
            day: head.day,
            day_events: i64::try_from(head.day_events).unwrap_or(i64::MAX),
            tiles,
        });
    }
    heads.sort_unstable_by_key(|head| head.ledger_id);
    Ok(heads)
}
