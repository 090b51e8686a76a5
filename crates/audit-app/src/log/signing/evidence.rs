//! What shows the signer that a tree continues the last signed one.
//!
//! A round signs every log that this process has extended. Reading the last leaves of each of them back would be most of the
//! database's work where hundreds of logs grow. The process has computed the new tree from the old one itself, so it knows that one
//! continues the other. The rows are still read for some logs of each round, in turns: an edit of the latest rows is then
//! noticed by signing as well, and not by the next proof or `log verify` only.
//!
//! The rows that count are the content hashes of the events that are in no full tile of the last signed tree, whose edge the node
//! remembers: they lead to that tree and on to the new one, or the log is not signed. Stored tiles are read only where a node has not signed
//! the log itself, so that somebody who changes or plants a tile does not keep a log from being signed.

use crate::error::{AppError, Result};
use crate::service::AuditLog;
use audit_ledger::{Frontier, Hash, HistoryError, TreeHead};
use audit_store::{LedgerId, Reader};

/// The number of leaves that are read at once.
const READ_LEAVES_MAX: u64 = 20_000;

/// What a tree is compared with the last signed one by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Evidence {
    /// The stored rows.
    Rows,
    /// The stored rows, and all leaves from the first one where tiles do not prove it: seconds for millions of events.
    Leaves,
    /// The trees that this process remembers of its commits; the rows where it does not.
    Memory,
}

impl AuditLog {
    /// Checks that a tree continues earlier ones. `edge` is that of the last tree that this node has signed, if it has signed one.
    pub(super) fn check_continues(
        &self,
        ledger_id: LedgerId,
        edge: Option<&Frontier>,
        earlier: &[TreeHead],
        tree: &Frontier,
        evidence: Evidence,
    ) -> Result<()> {
        let offered = tree.size();
        if let Some(known) = earlier
            .iter()
            .map(|head| head.size)
            .filter(|size| *size > offered)
            .max()
        {
            return Err(AppError::inconsistent(HistoryError::Rollback { known, offered }));
        }
        let is_proven = |head: &TreeHead| {
            (head.size == offered && *head == tree.head())
                || (evidence == Evidence::Memory && self.store.has_grown_tree(ledger_id, head, tree))
        };
        let mut earlier: Vec<TreeHead> = earlier.iter().filter(|head| !is_proven(head)).copied().collect();
        earlier.sort_unstable_by_key(|head| head.size);
        let behind = edge.map_or(earlier.len(), |edge| {
            earlier.partition_point(|head| head.size < edge.size())
        });
        let (before, behind) = earlier.split_at(behind);
        if let (Some(edge), [_, ..]) = (edge, behind) {
            self.check_leaves(ledger_id, edge.full_tiles(), behind, tree)?;
        }
        for head in before {
            match self.check_tiles(ledger_id, head, tree) {
                Err(AppError::LogInconsistent(_)) if evidence == Evidence::Leaves => {
                    self.check_leaves(ledger_id, Frontier::new(), &[*head], tree)?;
                }
                outcome => outcome?,
            }
        }
        Ok(())
    }

    /// Checks that the content hashes behind `edge` lead to each of these heads, which are in order, and to the tree.
    fn check_leaves(
        &self,
        ledger_id: LedgerId,
        mut edge: Frontier,
        heads: &[TreeHead],
        tree: &Frontier,
    ) -> Result<()> {
        let mut leaves = Vec::new().into_iter();
        for head in heads.iter().copied().chain([tree.head()]) {
            while edge.size() < head.size {
                if leaves.len() == 0 {
                    let end = tree.size().min(edge.size() + READ_LEAVES_MAX);
                    let read = |reader: &mut Reader<'_>| reader.content_hashes(ledger_id, edge.size()..end);
                    let hashes = self.store.query(read).map_err(AppError::inconsistent)?;
                    leaves = Hash::of_events(hashes).into_iter();
                }
                let missing = (head.size - edge.size()) as usize;
                edge.extend(&leaves.by_ref().take(missing).collect::<Vec<_>>());
            }
            if head != edge.head() {
                return Err(AppError::inconsistent(HistoryError::Fork { size: head.size }));
            }
        }
        Ok(())
    }

    /// Checks that stored tiles prove that a tree continues a smaller one.
    fn check_tiles(&self, ledger_id: LedgerId, earlier: &TreeHead, tree: &Frontier) -> Result<()> {
        if earlier.size == tree.size() {
            return Err(AppError::inconsistent(HistoryError::Fork { size: earlier.size }));
        }
        let head = tree.head();
        let proof = self.prove_consistency(ledger_id, earlier.size, head.size, &head, Some(tree))?;
        earlier
            .check_successor(&head, &proof)
            .map_err(AppError::inconsistent)
    }
}
