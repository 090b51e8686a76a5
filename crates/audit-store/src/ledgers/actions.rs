//! The actions that are known to be stored.

use crate::append::plan::Plan;
use crate::error::Result;
use crate::ids::LedgerId;
use parking_lot::Mutex;
use quick_cache::unsync::Cache;
use std::collections::HashSet;
use std::sync::Arc;

/// Cached stored actions, which the writers of a process share, so that each is written once.
#[derive(Debug)]
pub(crate) struct StoredActions(Mutex<Cache<LedgerId, HashSet<String>>>);

impl Default for StoredActions {
    fn default() -> Self {
        Self(Mutex::new(Cache::new(KNOWN_ACTION_LEDGERS_MAX)))
    }
}

/// A writer's view of the stored actions.
#[derive(Debug, Default)]
pub(crate) struct KnownActions {
    known: Arc<StoredActions>,
    /// Those that the present commit stores.
    pending: Vec<(LedgerId, String)>,
}

/// Actions of one ledger that are cached, at most. Beyond that some are written again, which has no effect.
const KNOWN_ACTIONS_MAX: usize = 10_000;
/// Ledgers whose actions are cached, at most.
const KNOWN_ACTION_LEDGERS_MAX: usize = 10_000;

impl KnownActions {
    /// The actions that other writers cache too.
    pub(crate) fn shared(known: &Arc<StoredActions>) -> Self {
        Self {
            known: Arc::clone(known),
            pending: Vec::new(),
        }
    }

    /// Whether the action is known to be stored.
    pub(crate) fn contains(&self, ledger_id: LedgerId, action: &str) -> bool {
        let known = self.known.0.lock();
        known.get(&ledger_id).is_some_and(|known| known.contains(action))
    }

    /// Calls `insert` with every action of the plan that is not known to be stored.
    pub(crate) fn write_new(
        &mut self,
        plan: &Plan,
        mut insert: impl FnMut(LedgerId, &str) -> Result<()>,
    ) -> Result<()> {
        self.pending.clear();
        let mut seen = HashSet::new();
        for row in &plan.rows {
            let is_known = self.contains(row.ledger_id, &row.event.action);
            if !is_known && seen.insert((row.ledger_id, row.event.action.as_str())) {
                insert(row.ledger_id, &row.event.action)?;
                self.pending.push((row.ledger_id, row.event.action.clone()));
            }
        }
        Ok(())
    }

    /// Drops the actions of a transaction that was rolled back.
    pub(crate) fn rolled_back(&mut self) {
        self.pending.clear();
    }

    /// Caches the actions of a transaction that was committed.
    pub(crate) fn committed(&mut self) {
        if self.pending.is_empty() {
            return;
        }
        let mut ledgers = self.known.0.lock();
        for (ledger_id, action) in self.pending.drain(..) {
            match ledgers.get_mut(&ledger_id) {
                Some(mut known) if known.len() < KNOWN_ACTIONS_MAX => drop(known.insert(action)),
                Some(_) => {}
                None => ledgers.insert(ledger_id, HashSet::from([action])),
            }
        }
    }
}
