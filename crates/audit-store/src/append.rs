//! Appending events to ledgers: one commit for many requests, planned before anything is written.

pub(crate) mod alert_groups;
// Compressions are counted in builds with debug assertions.
#[cfg(all(test, debug_assertions))]
mod hashing_cost;
pub(crate) mod idempotency;
pub(crate) mod inline;
pub(crate) mod key_probe;
pub(crate) mod known_senders;
pub(crate) mod months;
pub(crate) mod plan;
pub(crate) mod request;
pub(crate) mod senders;

use crate::append::alert_groups::AlertGroups;
use crate::database::transaction::{WriteTransactions, write_transaction};
use crate::error::{Result, StoreError};
use crate::ids::LedgerId;
use crate::ledgers::head::{Head, LedgerMonth, NewHead};
use crate::ledgers::heads::{HeadRow, Heads};
use crate::queue::{Queue, WaitingAppend};
use crate::tree::{self, TreeSession};
use audit_alerts::GroupHash;
use audit_domain::IdempotencyWindow;
use audit_ledger::SealedHead;
use idempotency::KnownKeys;
use plan::{Before, Plan, RefusedHead};
use request::AppendRequest;
use std::collections::{BTreeSet, HashMap};

/// The steps of an append that differ between the databases, in their order within a transaction.
pub(crate) trait AppendSession: WriteTransactions + TreeSession {
    /// The window in which an idempotency key is known.
    fn idempotency_window(&self) -> IdempotencyWindow;

    /// The heads of ledgers, locked until the end of the transaction. They are locked in the order of their ids, so that two
    /// nodes that need the same heads cannot deadlock.
    fn lock_heads(&mut self, ledgers: &BTreeSet<LedgerId>) -> Result<Vec<(i64, HeadRow, Vec<LedgerMonth>)>>;

    /// The idempotency keys of `requests` that are stored already within the window, each with its newest event. Some outside of
    /// the window may be among them.
    fn find_keys(&mut self, requests: &[AppendRequest], heads: &HashMap<LedgerId, Head>)
    -> Result<KnownKeys>;

    /// The stored states of groups of alert rules.
    fn find_alert_groups(&mut self, groups: &BTreeSet<(LedgerId, GroupHash)>) -> Result<AlertGroups>;

    /// Writes the rows of a plan, their actions, the months that their ledgers enter, and the heads of their ledgers.
    fn write_events(&mut self, plan: &Plan, heads: &[NewHead]) -> Result<()>;

    /// Writes the states of groups, alerts and deliveries of a plan.
    fn write_alerts(&mut self, plan: &Plan) -> Result<()>;
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

/// Plans requests and writes the plan, within a transaction, after [`read_before`].
pub(crate) fn append<S: AppendSession>(
    session: &mut S,
    requests: Vec<AppendRequest>,
    mut before: Before,
) -> Result<Plan> {
    before.keys = session.find_keys(&requests, &before.heads)?;
    before.alert_groups = session.find_alert_groups(&alert_groups::of_requests(&requests))?;
    let mut plan = plan::plan(requests, before, session.idempotency_window());
    if plan.rows.is_empty() {
        return Ok(plan);
    }
    let heads = grow(session, &mut plan)?;
    session.write_events(&plan, &heads)?;
    write_tiles_and_alerts(session, &plan, &heads)?;
    Ok(plan)
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
            lifecycle: head.lifecycle,
            last: Some((growth.last.id.to_bytes(), growth.last.received_at.as_micros())),
        });
        head.frontier = Some(frontier);
        heads.push(NewHead {
            ledger_id,
            configuration_version: head.configuration_version,
            size: head.size,
            last: growth.last,
            frontier: encoded,
            lifecycle: head.lifecycle,
            code,
            day: head.day,
            day_events: i64::try_from(head.day_events).unwrap_or(i64::MAX),
            tiles,
        });
    }
    heads.sort_unstable_by_key(|head| head.ledger_id);
    Ok(heads)
}

/// Writes the tiles, alerts and deliveries of a plan. The heads of its ledgers are locked.
pub(crate) fn write_tiles_and_alerts<S: AppendSession>(
    session: &mut S,
    plan: &Plan,
    heads: &[NewHead],
) -> Result<()> {
    for head in heads {
        for tile in &head.tiles {
            tree::store_tile(session, head.ledger_id, tile)?;
        }
    }
    session.write_alerts(plan)
}

/// A commit that failed.
pub(crate) struct FailedCommit {
    pub(crate) error: StoreError,
    /// Whether it was rolled back for certain and the requests are still there, so that they can be committed again.
    pub(crate) can_repeat: bool,
}

impl FailedCommit {
    /// A failure after which the requests are still there.
    pub(crate) const fn of_copied_requests(error: StoreError) -> Self {
        let is_unknown = matches!(error, StoreError::OutcomeUnknown(_));
        Self {
            error,
            can_repeat: !is_unknown,
        }
    }

    /// A failure that is not repeated.
    pub(crate) const fn final_error(error: StoreError) -> Self {
        Self {
            error,
            can_repeat: false,
        }
    }
}

/// Appends waiting requests to these ledgers in one transaction. Requests that arrive for the same ledgers until their heads
/// are locked join. With `is_copied` the planner gets copies of the requests, so that they can be committed again when this
/// commit is rolled back.
pub(crate) fn commit_waiting<S: AppendSession>(
    session: &mut S,
    waiting: &mut Vec<WaitingAppend>,
    ledgers: &BTreeSet<LedgerId>,
    queue: &Queue,
    day: i64,
    is_copied: bool,
) -> Result<Plan, FailedCommit> {
    let outcome = write_transaction(session, |session| {
        let before = read_before(session, ledgers, day)?;
        queue.join(waiting, |ledger_id| before.heads.contains_key(&ledger_id));
        append(session, requests_of(waiting, is_copied), before)
    });
    outcome.map_err(match is_copied {
        true => FailedCommit::of_copied_requests,
        false => FailedCommit::final_error,
    })
}

/// The ledgers of waiting requests.
pub(crate) fn ledgers_of(waiting: &[WaitingAppend]) -> BTreeSet<LedgerId> {
    waiting.iter().map(WaitingAppend::ledger_id).collect()
}

/// The requests, for the planner, in the order of their arrival. In another order, requests would need new stamps, and
/// with them new hashes.
pub(crate) fn requests_of(waiting: &mut [WaitingAppend], is_copied: bool) -> Vec<AppendRequest> {
    waiting.sort_by_key(|waiting| waiting.request.first_id());
    waiting
        .iter_mut()
        .map(|waiting| waiting.hand_over(is_copied))
        .collect()
}
