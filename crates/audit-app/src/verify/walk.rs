//! One ledger, event by event.

use super::finding::{Finding, Findings, Problem};
use super::tree::Tree;
use crate::error::{AppError, Result};
use audit_domain::{ContentHash, Envelope, EventId};
use audit_ledger::{Frontier, Hash, SignedCheckpoint, Tile, TileId, TreeHead};
use audit_store::{LedgerId, Reader, StoreError, StoredLedger, StoredRow};
use std::collections::HashMap;
use std::ops::Range;

/// Events that are read at once: whole tiles.
const PAGE_EVENTS: u64 = 16 * TileId::WIDTH_MAX as u64;

/// The walk through one ledger.
pub(super) struct Walk<'a, 'b> {
    pub(super) reader: &'a mut Reader<'b>,
    ledger_id: LedgerId,
    size: u64,
    /// The tree over what was appended, as far as can be told; none behind an event of which nothing is left.
    tree: Option<Tree>,
    pub(super) findings: Findings,
    /// The size of the last checkpoint, and the tree's root there.
    checkpoint_size: Option<u64>,
    checkpoint_root: Option<Hash>,
}

impl<'a, 'b> Walk<'a, 'b> {
    pub(super) fn new(reader: &'a mut Reader<'b>, ledger_id: LedgerId, size: u64) -> Self {
        Self {
            reader,
            ledger_id,
            size,
            tree: Some(Tree::default()),
            findings: Findings::default(),
            checkpoint_size: None,
            checkpoint_root: None,
        }
    }

    /// Looks at every event; `done` is told how many there were after each page.
    pub(super) fn events(
        &mut self,
        checkpoint: Option<&SignedCheckpoint>,
        done: &mut dyn FnMut(u64),
    ) -> Result<()> {
        self.checkpoint_size = checkpoint.map(|checkpoint| checkpoint.head().size);
        self.note_root()?;
        let mut start = 0;
        while start < self.size {
            let mut end = self.size.min(start + PAGE_EVENTS);
            let rows = self.read(start..end)?;
            if rows.is_empty() && self.reader.stored_rows(self.ledger_id, end, 1)?.is_empty() {
                // However large a size somebody wrote into the head, there is nothing more to look at.
                self.findings.add(Finding::event(start, None, Problem::Removed));
                self.findings
                    .add(Finding::events(start..self.size, Problem::Removed));
                self.tree = None;
                end = self.size;
            } else {
                self.page(start..end, rows)?;
            }
            done(end - start);
            start = end;
        }
        Ok(())
    }

    fn page(&mut self, seqs: Range<u64>, rows: Vec<StoredRow>) -> Result<()> {
        let tiles = self.leaf_tiles(&seqs)?;
        let mut rows = rows.into_iter().peekable();
        for seq in seqs {
            let (tile, place) = (
                seq / u64::from(TileId::WIDTH_MAX),
                seq % u64::from(TileId::WIDTH_MAX),
            );
            let kept = tiles.get(&tile).map(|tile| tile.hashes()[place as usize]);
            let leaf = match rows.next_if(|row| row.seq == seq.cast_signed()) {
                Some(row) => Some(self.check(&row, seq, kept)?),
                None => {
                    self.findings.add(Finding::event(seq, None, Problem::Removed));
                    kept
                }
            };
            match leaf {
                Some(leaf) => self.append(leaf)?,
                None => self.tree = None,
            }
        }
        Ok(())
    }

    /// Reads the events of a page, one by one where they cannot be read together.
    fn read(&mut self, seqs: Range<u64>) -> Result<Vec<StoredRow>> {
        let together = (seqs.end - seqs.start) as usize;
        let mut rows = Vec::new();
        let mut next = seqs.clone();
        let mut limit = together;
        while next.start < next.end {
            match self.reader.stored_rows(self.ledger_id, next.start, limit) {
                Ok(read) => {
                    let last = read.last().map(|row| row.seq.cast_unsigned());
                    rows.extend(read);
                    next.start = match last {
                        Some(last) if limit < together => last + 1,
                        _ => next.end,
                    };
                }
                Err(StoreError::Database(_)) if limit > 1 => limit = 1,
                Err(StoreError::Database(error)) => {
                    log::debug!("event {} cannot be read: {error}", next.start);
                    let unreadable = Finding::event(next.start, None, Problem::Unreadable);
                    self.findings.add(unreadable);
                    next.start += 1;
                }
                Err(error) => return Err(error.into()),
            }
        }
        Ok(rows)
    }

    /// The full tiles of leaves of a page that are there.
    fn leaf_tiles(&mut self, seqs: &Range<u64>) -> Result<HashMap<u64, Tile>> {
        let width = u64::from(TileId::WIDTH_MAX);
        let indexes = seqs.start / width..seqs.end / width;
        let mut stored: HashMap<u64, Vec<u8>> = self
            .reader
            .stored_tiles(self.ledger_id, 0, indexes.clone())?
            .into_iter()
            .collect();
        let mut tiles = HashMap::new();
        for index in indexes {
            let id = TileId::new(0, index, TileId::WIDTH_MAX).map_err(AppError::internal)?;
            let seqs = index * width..(index + 1) * width;
            match stored.remove(&index).map(|bytes| Tile::decode(id, &bytes)) {
                Some(Ok(tile)) => drop(tiles.insert(index, tile)),
                Some(Err(_)) => self.findings.add(Finding::events(seqs, Problem::TileChanged(id))),
                None => self.findings.add(Finding::events(seqs, Problem::TileMissing(id))),
            }
        }
        Ok(tiles)
    }

    /// Looks at one event. Gives the leaf that was appended for it, as far as can be told: that of its tile, and where
    /// there is none yet, that of the content hash beside it.
    fn check(&mut self, row: &StoredRow, seq: u64, kept: Option<Hash>) -> Result<Hash> {
        let computed = ContentHash::of(&row.body);
        let leaf = Hash::of_event(&computed);
        let stored = row.content_hash.as_slice().try_into().ok();
        let stored = stored.map(ContentHash::from_bytes);
        let is_of_text = stored == Some(computed);
        let envelope = Envelope::read(&row.body).ok();
        let problem = if !is_of_text {
            Some(Problem::TextOrHash)
        } else if kept.is_some_and(|kept| kept != leaf) {
            Some(Problem::NotAppended)
        } else if let Some(envelope) = &envelope {
            self.misfiled(row, envelope)?.map(Problem::Column)
        } else {
            Some(Problem::Unreadable)
        };
        if let Some(problem) = problem {
            let column = <[u8; 16]>::try_from(row.id.as_slice())
                .map(EventId::from_bytes)
                .ok();
            let id = envelope.map(|envelope| envelope.id).or(column);
            self.findings.add(Finding::event(seq, id, problem));
        }
        Ok(kept.unwrap_or(match stored {
            Some(stored) if !is_of_text => Hash::of_event(&stored),
            _ => leaf,
        }))
    }

    /// The column that says something else than the text.
    fn misfiled(&mut self, row: &StoredRow, envelope: &Envelope) -> Result<Option<&'static str>> {
        if row.id != envelope.id.to_bytes() {
            return Ok(Some("events.id"));
        }
        if row.misfiled.is_some() {
            return Ok(row.misfiled);
        }
        let is_in_order = self.reader.is_in_order_of_time(row, envelope.occurred_at)?;
        Ok((!is_in_order).then_some("the event's place in the order of time"))
    }

    fn append(&mut self, leaf: Hash) -> Result<()> {
        let Some(tree) = &mut self.tree else {
            return Ok(());
        };
        for tile in tree.append(leaf)? {
            // Those of leaves were compared leaf by leaf.
            if tile.id().level() > 0 {
                self.check_tile(&tile)?;
            }
        }
        self.note_root()
    }

    fn check_tile(&mut self, tile: &Tile) -> Result<()> {
        let id = tile.id();
        let indexes = id.index()..id.index() + 1;
        let stored = self.reader.stored_tiles(self.ledger_id, id.level(), indexes)?;
        let problem = match stored.first() {
            Some((_, bytes)) if *bytes == tile.encode() => return Ok(()),
            Some(_) => Problem::TileChanged(id),
            None => Problem::TileMissing(id),
        };
        let (first, last) = (id.subtrees().next(), id.subtrees().last());
        if let (Some(first), Some(last)) = (first, last) {
            let seqs = first.leaves().start..last.leaves().end;
            self.findings.add(Finding::events(seqs, problem));
        }
        Ok(())
    }

    /// Keeps the root at the size of the checkpoint.
    fn note_root(&mut self) -> Result<()> {
        if let Some(tree) = self
            .tree
            .as_ref()
            .filter(|tree| Some(tree.size()) == self.checkpoint_size)
        {
            self.checkpoint_root = Some(tree.frontier()?.root());
        }
        Ok(())
    }

    /// Holds the tree against the edge that appends go on from, and gives its head.
    pub(super) fn check_edge(&mut self, ledger: &StoredLedger) -> Result<Option<TreeHead>> {
        let kept = match ledger.frontier.as_deref() {
            Some(bytes) => Frontier::decode(bytes).ok(),
            None => Some(Frontier::new()),
        };
        let Some(kept) = kept.filter(|kept| kept.size() > 0 || self.size == 0) else {
            self.findings.add(Finding::log(Problem::Edge));
            return Ok(None);
        };
        if kept.size() != self.size {
            let (tree, ledger) = (kept.size(), self.size);
            self.findings
                .add(Finding::log(Problem::EdgeSize { tree, ledger }));
            return Ok(None);
        }
        let Some(tree) = &self.tree else { return Ok(None) };
        let own = tree.frontier()?;
        for ((subtree, own), (_, kept)) in own.edge().zip(kept.edge()) {
            if own != kept {
                let problem = match subtree.level() {
                    0 => Problem::NotAppended,
                    _ => Problem::OneOfThem,
                };
                self.findings.add(Finding::events(subtree.leaves(), problem));
            }
        }
        Ok(Some(own.head()))
    }

    /// Holds the tree against what was signed.
    pub(super) fn check_signed(&mut self, signed: TreeHead) {
        if signed.size > self.size {
            self.findings
                .add(Finding::events(self.size..signed.size, Problem::CutOff));
        } else if self.checkpoint_root.is_some_and(|root| root != signed.root) {
            self.findings
                .add(Finding::events(0..signed.size, Problem::NotSigned));
        }
    }
}
