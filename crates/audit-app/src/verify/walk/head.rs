//! Compares the head of a ledger, its checkpoints and other signed heads with the tree over its events.

use super::Walk;
use crate::error::Result;
use crate::verify::finding::{FINDINGS_MAX, Finding, Problem};
use audit_domain::Timestamp;
use audit_ledger::{Frontier, Hash, TreeHead};
use audit_store::StoredLedger;

impl Walk<'_, '_> {
    /// Compares the columns of the head with the events, from which the next event continues.
    pub(in super::super) fn check_head(&mut self, ledger: &StoredLedger) {
        if !self.is_complete {
            return;
        }
        let id = self.last.map(|last| last.id.to_bytes().to_vec());
        if ledger.last_event_id != id {
            self.findings.add(Finding::log(Problem::Head("last_event_id")));
        }
        let received_at = self.last.map(|last| last.received_at.as_micros());
        if ledger.last_received_at != received_at {
            self.findings.add(Finding::log(Problem::Head("last_received_at")));
        }
        if ledger.lifecycle_seq != self.removals.last_seq.map(u64::cast_signed) {
            self.findings.add(Finding::log(Problem::Head("lifecycle_seq")));
        }
    }

    /// Finds events that were received before a time and are not signed up to now, at this size.
    pub(in super::super) fn check_unsigned(&mut self, signed: u64, received_before: Timestamp) {
        let first = self.logged_at.get(&signed);
        if first.is_some_and(|first| *first < received_before) {
            self.findings
                .add(Finding::events(signed..self.size, Problem::Unsigned));
        }
    }

    /// Finds tiles that the tree does not have.
    pub(in super::super) fn check_stray_tiles(&mut self) -> Result<()> {
        let strays = self.reader.stray_tiles(self.ledger_id, FINDINGS_MAX as i64)?;
        for (level, index) in strays {
            self.findings
                .add(Finding::log(Problem::StrayTile { level, index }));
        }
        Ok(())
    }

    /// Compares the tree with the stored frontier, from which appends continue. Returns the head of the tree.
    pub(in super::super) fn check_frontier(&mut self, ledger: &StoredLedger) -> Result<Option<TreeHead>> {
        let stored = match ledger.frontier.as_deref() {
            Some(bytes) => Frontier::decode(bytes).ok(),
            None => Some(Frontier::new()),
        };
        let Some(stored) = stored.filter(|stored| stored.size() > 0 || self.size == 0) else {
            self.findings.add(Finding::log(Problem::Frontier));
            return Ok(None);
        };
        if stored.size() != self.size {
            let (tree, ledger) = (stored.size(), self.size);
            self.findings
                .add(Finding::log(Problem::FrontierSize { tree, ledger }));
            return Ok(None);
        }
        let Some(tree) = &self.tree else { return Ok(None) };
        let computed = tree.frontier()?;
        for ((subtree, computed), (_, stored)) in computed.edge().zip(stored.edge()) {
            if computed != stored {
                let problem = match subtree.level() {
                    0 => Problem::NotAppended,
                    _ => Problem::OneOfThem,
                };
                self.findings.add(Finding::events(subtree.leaves(), problem));
            }
        }
        Ok(Some(computed.head()))
    }

    /// The root of the tree at the size of a signed head, if it could be computed.
    pub(in super::super) fn root_at(&self, size: u64) -> Option<Hash> {
        self.signed_roots.get(&size).copied().flatten()
    }

    /// Compares the tree with a head that it must continue. The problems are those of a tree that is smaller, and of another one.
    pub(in super::super) fn check_continues(
        &mut self,
        head: &TreeHead,
        smaller: Problem,
        different: Problem,
    ) {
        let root = self.root_at(head.size);
        if head.size > self.size {
            self.findings.add(Finding::events(self.size..head.size, smaller));
        } else if root.is_some_and(|root| root != head.root) {
            self.findings.add(Finding::events(0..head.size, different));
        }
    }
}
