//! What an anchor states of the logs: their heads and their maps of tenants.

use crate::error::Result;
use crate::log::{LogSigner, head_of};
use crate::service::AuditLog;
use audit_ledger::{AnchoredMap, TreeHead};
use audit_store::{CellId, PublishedCheckpoint, StoredAnchor};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The checkpoints that one statement reads.
const PAGE_CHECKPOINTS: i64 = 1_000;

/// Heads and maps by project and environment.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct AnchoredLogs {
    pub(super) heads: BTreeMap<String, TreeHead>,
    pub(super) maps: BTreeMap<String, AnchoredMap>,
}

impl AnchoredLogs {
    /// Those of the last anchor. None where its log was renamed since, or it was tampered with.
    fn before(signer: &LogSigner, last: &StoredAnchor) -> Self {
        match signer.open_anchor(&last.document) {
            Ok(opened) => Self {
                heads: opened.anchor().heads.clone(),
                maps: opened.anchor().maps.clone(),
            },
            Err(error) => {
                let number = last.number;
                log::warn!(
                    "anchor {number} in the database is not one that the log's key has signed: {error}"
                );
                Self::default()
            }
        }
    }

    /// Adds the head of a log, unless there is a larger one.
    fn add_head(&mut self, name: &str, head: TreeHead) {
        let is_larger = self.heads.get(name).is_none_or(|before| before.size < head.size);
        if head.size > 0 && is_larger {
            self.heads.insert(name.to_owned(), head);
        }
    }

    /// Adds the map of a log, and the head over its events, unless there are larger ones.
    fn add_map(&mut self, name: &str, head: TreeHead, map: AnchoredMap) {
        self.add_head(name, head);
        let is_larger = self.maps.get(name).is_none_or(|before| before.size < map.size);
        if map.size > 0 && is_larger {
            self.maps.insert(name.to_owned(), map);
        }
    }

    /// Whether the map of a log is to be brought up to date: a client has requested it once, and it does not have all events.
    fn lacks_events_of(&self, log: &PublishedCheckpoint) -> bool {
        let size = self.maps.get(&log.name).map(|map| map.size);
        let is_used = log.has_map || size.is_some();
        is_used && size < self.heads.get(&log.name).map(|head| head.size)
    }
}

impl AuditLog {
    /// Every log that has had an event. No head and no map is behind that of the last anchor.
    pub(super) fn logs_to_anchor(
        self: &Arc<Self>,
        signer: &LogSigner,
        last: Option<&StoredAnchor>,
    ) -> Result<AnchoredLogs> {
        let mut logs = last.map_or_else(AnchoredLogs::default, |last| AnchoredLogs::before(signer, last));
        self.add_logs(signer, &mut logs)?;
        for cell in self.cells()?.iter().filter(|cell| cell.id != CellId::HOME) {
            let added = self
                .cell(cell.id)
                .and_then(|service| service.add_logs(signer, &mut logs));
            if let Err(error) = added {
                log::warn!(
                    "the anchor has the former heads of the cell {}, which cannot be read: {error}",
                    cell.name
                );
            }
        }
        Ok(logs)
    }

    /// Signs what this cell has not signed yet, and adds its logs.
    fn add_logs(&self, signer: &LogSigner, logs: &mut AnchoredLogs) -> Result<()> {
        let mut after = None;
        loop {
            after = self.sign_unsigned(after, None)?;
            if after.is_none() {
                break;
            }
        }
        let mut after = None;
        loop {
            let page = self
                .store
                .read(|reader| reader.published_checkpoints(after, PAGE_CHECKPOINTS))?;
            for row in &page {
                for head in self.signed_heads(signer, &row.name, &row.note)? {
                    logs.add_head(&row.name, head);
                }
                if logs.lacks_events_of(row) {
                    self.add_map(logs, row);
                }
            }
            match page.last() {
                Some(last) if page.len() as i64 == PAGE_CHECKPOINTS => after = Some(last.ledger_id),
                _ => return Ok(()),
            }
        }
    }

    /// The heads of a log that this deployment has signed, as far as this node can tell: the published one, and the one that it
    /// remembers. A published one that was tampered with does not count.
    fn signed_heads(&self, signer: &LogSigner, name: &str, published: &str) -> Result<Vec<TreeHead>> {
        let origin = signer.origin(name)?;
        let known = self.signing.known(&origin);
        let mut heads = Vec::new();
        if let Some(known) = known.as_deref() {
            heads.push(head_of(known)?);
        }
        if known.as_deref() != Some(published) {
            heads.extend(signer.open(published, &origin).ok().map(|opened| *opened.head()));
        }
        Ok(heads)
    }

    /// Adds the map of a log. The former one stays where it cannot be brought up to date: one log must not keep the others from
    /// their anchor.
    fn add_map(&self, logs: &mut AnchoredLogs, log: &PublishedCheckpoint) {
        let name = &log.name;
        match self.map_to_anchor(log.ledger_id, name) {
            Ok((head, map)) => logs.add_map(name, head, map),
            Err(error) => log::warn!("the anchor has the former map of the tenants of {name}: {error}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use audit_ledger::Hash;

    fn head(size: u64) -> TreeHead {
        TreeHead {
            size,
            root: Hash::of_leaf(&[]),
        }
    }

    fn map(size: u64) -> AnchoredMap {
        AnchoredMap {
            size,
            root: Hash::of_leaf(&[1]),
            binding: Hash::of_leaf(&[2]),
        }
    }

    #[test]
    fn the_larger_head_is_anchored() {
        let mut logs = AnchoredLogs::default();
        for size in [0, 3, 2, 5, 4] {
            logs.add_head("p/live", head(size));
        }
        logs.add_head("p/test", head(0));
        assert_eq!(logs.heads, BTreeMap::from([("p/live".to_owned(), head(5))]));
    }

    #[test]
    fn the_larger_map_is_anchored_and_no_head_is_behind_it() {
        let mut logs = AnchoredLogs::default();
        logs.add_head("p/live", head(4));
        for size in [3, 2, 5, 5, 4] {
            logs.add_map("p/live", head(size), map(size));
        }
        assert_eq!(logs.heads, BTreeMap::from([("p/live".to_owned(), head(5))]));
        assert_eq!(logs.maps, BTreeMap::from([("p/live".to_owned(), map(5))]));
    }

    #[test]
    fn a_map_is_needed_where_one_is_in_use_and_the_log_has_grown() {
        let mut logs = AnchoredLogs::default();
        let log = |has_map| PublishedCheckpoint {
            ledger_id: audit_store::LedgerId(1),
            name: "p/live".to_owned(),
            note: String::new(),
            has_map,
        };
        logs.add_head("p/live", head(4));
        assert!(!logs.lacks_events_of(&log(false)));
        assert!(logs.lacks_events_of(&log(true)));
        logs.add_map("p/live", head(4), map(4));
        assert!(!logs.lacks_events_of(&log(true)));
        // The database has lost the map, which the anchor before has.
        logs.add_head("p/live", head(5));
        assert!(logs.lacks_events_of(&log(false)));
    }
}
