//! Verifies one ledger event by event.

mod head;

use super::finding::{Finding, Findings, Problem};
use super::maps::{Labels, MapWalk, TenantEvent, TenantWalk};
use super::removals::{PageRecords, Recorded, RemovalWalk, lifecycle_event};
use super::tree::Tree;
use crate::error::{AppError, Result};
use audit_domain::{ContentHash, Envelope, EventId, LogName, Month, PartMask, Stamp, StoredSalt, Timestamp};
use audit_ledger::{Hash, HeadKey, Tile, TileId};
use audit_store::{LedgerId, Reader, RowCodes, StoreError, StoredLedger, StoredRow, StoredSender};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::ops::Range;
use std::panic::resume_unwind;
use std::thread::{self, ScopedJoinHandle};

/// The number of events of one read: a multiple of the tile width.
const PAGE_EVENTS: u64 = 2 * TileId::WIDTH_MAX as u64;
/// The most pages that are computed at once. With the one that is read they take 288 MiB, if every event is as large as it may be.
const PENDING_PAGES_MAX: usize = 8;

/// A stored event, with what is computed from it alone.
struct Computed {
    row: StoredRow,
    hash: Option<ContentHash>,
    envelope: Option<Envelope>,
    /// The members of a lifecycle event.
    lifecycle: Option<Map<String, Value>>,
    /// The parts that were erased, each with the position of the erasure.
    erased: Vec<(u64, PartMask)>,
    /// Whether the service wrote what stands beside the text; also where that cannot be known.
    is_coded: bool,
}

/// Verifies the codes of the rows of a log.
#[derive(Clone)]
struct LogCodes {
    codes: RowCodes,
    log: String,
}

/// Hashes and reads the events of a page, which is most of the work.
fn compute(rows: Vec<StoredRow>, log: Option<&LogName>, codes: Option<&LogCodes>) -> Vec<Computed> {
    let compute = |row: StoredRow| Computed {
        hash: row.computed_hash(log),
        envelope: Envelope::read(&row.body).ok(),
        lifecycle: lifecycle_event(&row.body),
        erased: match StoredSalt::read(&row.content_salt) {
            Some(StoredSalt::Parts(parts)) => parts.masks().collect(),
            Some(StoredSalt::Whole(_)) | None => Vec::new(),
        },
        is_coded: codes.is_none_or(|own| row.is_coded(&own.codes, &own.log)),
        row,
    };
    rows.into_iter().map(compute).collect()
}

/// A page whose events are being computed on another thread.
struct Pending<'scope> {
    seqs: Range<u64>,
    events: ScopedJoinHandle<'scope, Vec<Computed>>,
    records: PageRecords,
}

/// The verification of one ledger.
pub(super) struct Walk<'a, 'b> {
    pub(super) reader: &'a mut Reader<'b>,
    pub(super) ledger_id: LedgerId,
    /// The name of the log in content hashes, unless it was made invalid.
    pub(super) log: Option<LogName>,
    /// None where the key of the heads is not at hand.
    codes: Option<LogCodes>,
    /// The senders of the events, by number.
    senders: HashMap<i64, StoredSender>,
    size: u64,
    /// The tree over the appended events, as far as it can be reconstructed. `None` after an event whose leaf hash is lost.
    tree: Option<Tree>,
    pub(super) findings: Findings,
    /// The sizes of signed heads, each with the tree's root there.
    signed_roots: BTreeMap<u64, Option<Hash>>,
    /// The latest id and time of receipt; none where an event is missing or cannot be read.
    last: Option<Stamp>,
    is_complete: bool,
    /// The removals of its events.
    pub(super) removals: RemovalWalk,
    /// The labels of tenants, where the secret of the maps is known.
    pub(super) labels: Option<Labels>,
    /// The logs of tenants, where the ledger has a map of them.
    pub(super) tenants: Option<TenantWalk>,
    /// The maps of tenants at earlier sizes, where anchors have them.
    pub(super) maps: Option<MapWalk>,
    /// When each event at a size of `signed_roots` was received: the first one that is not signed.
    logged_at: BTreeMap<u64, Timestamp>,
}

impl<'a, 'b> Walk<'a, 'b> {
    /// `signed_sizes` are the sizes at which the tree is compared with a signed one.
    pub(super) fn new(
        reader: &'a mut Reader<'b>,
        ledger: &StoredLedger,
        size: u64,
        head_key: Option<&HeadKey>,
        removals: RemovalWalk,
        signed_sizes: impl IntoIterator<Item = u64>,
    ) -> Self {
        let codes = head_key.map(|key| LogCodes {
            codes: RowCodes::new(key),
            log: format!("{}/{}", ledger.project_id, ledger.environment),
        });
        Self {
            reader,
            ledger_id: ledger.ledger_id,
            log: ledger.log_name(),
            codes,
            senders: HashMap::new(),
            size,
            tree: Some(Tree::default()),
            findings: Findings::default(),
            signed_roots: signed_sizes.into_iter().map(|size| (size, None)).collect(),
            last: None,
            is_complete: true,
            removals,
            labels: None,
            tenants: None,
            maps: None,
            logged_at: BTreeMap::new(),
        }
    }

    /// Verifies every event. Calls `report_progress` after each page with its number of events. While a page is read, the
    /// events of those before it are computed on other threads, one for each processor.
    pub(super) fn events(&mut self, report_progress: &mut dyn FnMut(u64)) -> Result<()> {
        self.note_root()?;
        // After the head: the senders of its events are there.
        self.senders = self.reader.stored_senders(self.ledger_id)?;
        let (log, codes) = (self.log, self.codes.take());
        let (log, codes) = (log.as_ref(), codes.as_ref());
        thread::scope(|scope| {
            let mut pending = VecDeque::new();
            let pending_max = thread::available_parallelism()
                .map_or(1, usize::from)
                .min(PENDING_PAGES_MAX);
            let mut start = 0;
            while start < self.size {
                let end = self.size.min(start + PAGE_EVENTS);
                let rows = self.read(start..end)?;
                if rows.is_empty() && self.reader.stored_rows(self.ledger_id, end, 1)?.is_empty() {
                    // There are no further rows. A forged size in the head must not cause a long loop.
                    break;
                }
                let events = scope.spawn(move || compute(rows, log, codes));
                let seqs = start..end;
                let records = self.removals.read(self.reader, self.ledger_id, &seqs)?;
                pending.push_back(Pending {
                    seqs,
                    events,
                    records,
                });
                if pending.len() > pending_max
                    && let Some(first) = pending.pop_front()
                {
                    self.page(first, report_progress)?;
                }
                start = end;
            }
            for page in pending {
                self.page(page, report_progress)?;
            }
            if start < self.size {
                self.rest_is_removed(start);
                report_progress(self.size - start);
            }
            Ok(())
        })
    }

    fn rest_is_removed(&mut self, start: u64) {
        self.findings.add(Finding::event(start, None, Problem::Removed));
        self.findings
            .add(Finding::events(start..self.size, Problem::Removed));
        self.tree = None;
        self.is_complete = false;
        self.removals.add_unexplained(self.size - start);
        self.note_tenant(start, None);
    }

    fn page(&mut self, page: Pending<'_>, report_progress: &mut dyn FnMut(u64)) -> Result<()> {
        let Pending {
            seqs,
            events,
            mut records,
        } = page;
        let rows = events.join().unwrap_or_else(|panic| resume_unwind(panic));
        let count = seqs.end - seqs.start;
        let tiles = self.leaf_tiles(&seqs)?;
        let mut rows = rows.into_iter().peekable();
        for seq in seqs {
            let (tile, offset) = (
                seq / u64::from(TileId::WIDTH_MAX),
                seq % u64::from(TileId::WIDTH_MAX),
            );
            let tile_leaf = tiles.get(&tile).map(|tile| tile.hashes()[offset as usize]);
            let recorded = records.take(seq);
            let leaf = match rows.next_if(|event| event.row.seq == seq.cast_signed()) {
                Some(event) => self.check_event(event, seq, tile_leaf, &recorded)?,
                None => self.check_gap(seq, tile_leaf, &recorded),
            };
            match leaf {
                Some(leaf) => self.append(leaf)?,
                None => self.tree = None,
            }
        }
        report_progress(count);
        Ok(())
    }

    /// Reads the events of a page. Reads them one by one if a joint read fails.
    fn read(&mut self, seqs: Range<u64>) -> Result<Vec<StoredRow>> {
        let page_len = (seqs.end - seqs.start) as usize;
        let mut rows = Vec::new();
        let mut next = seqs.clone();
        let mut limit = page_len;
        while next.start < next.end {
            match self.reader.stored_rows(self.ledger_id, next.start, limit) {
                Ok(read) => {
                    let last = read.last().map(|row| row.seq.cast_unsigned());
                    rows.extend(read);
                    next.start = match last {
                        Some(last) if limit < page_len => last + 1,
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

    /// The stored full tiles of level 0 that cover a page.
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

    /// Verifies that a missing row is one that a removal took. Returns its leaf hash, if it is known.
    fn check_gap(&mut self, seq: u64, tile_leaf: Option<Hash>, recorded: &[Recorded]) -> Option<Hash> {
        self.removals.add_records(recorded, None);
        let Some(own) = self.removals.gone(seq, recorded) else {
            self.findings.add(Finding::event(seq, None, Problem::Removed));
            self.is_complete = false;
            self.note_tenant(seq, None);
            return tile_leaf;
        };
        let leaf = own.record.leaf();
        let is_appended = tile_leaf.is_none_or(|tile_leaf| tile_leaf == leaf);
        if !is_appended {
            self.findings.add(Finding::event(seq, None, Problem::NotAppended));
        }
        self.note_tenant(seq, is_appended.then_some((own.label, None, leaf)));
        Some(tile_leaf.unwrap_or(leaf))
    }

    /// Verifies one event. Returns the leaf hash that was most probably appended for it: the one in its tile or, if there
    /// is no tile, the one of the stored content hash.
    fn check_event(
        &mut self,
        event: Computed,
        seq: u64,
        tile_leaf: Option<Hash>,
        recorded: &[Recorded],
    ) -> Result<Option<Hash>> {
        let Computed {
            row,
            hash: computed,
            envelope,
            lifecycle,
            erased,
            is_coded,
        } = event;
        let stored = row.content_hash.as_slice().try_into().ok();
        let stored = stored.map(ContentHash::from_bytes);
        let is_of_text = computed.is_some() && stored == computed;
        let leaf = stored.or(computed).map(|hash| Hash::of_event(&hash));
        self.note_stamp(seq, envelope.as_ref());
        self.removals.add_records(recorded, Some(&erased));
        let problem = if !is_of_text {
            Some(Problem::TextOrHash)
        } else if tile_leaf.is_some() && tile_leaf != leaf {
            Some(Problem::NotAppended)
        } else if !self.removals.are_recorded(seq, recorded, &erased) {
            Some(Problem::ErasedPart)
        } else if let Some(envelope) = &envelope {
            let may_lack_key = recorded.iter().any(Recorded::is_of_gone_row);
            match self.wrong_column(&row, envelope, may_lack_key)? {
                Some(column) => Some(Problem::Column(column)),
                None if !is_coded => Some(Problem::ForgedRow),
                None => self.wrong_sender(&row, seq),
            }
        } else {
            Some(Problem::Unreadable)
        };
        let is_appended = matches!(
            problem,
            None | Some(Problem::Column(_) | Problem::ForgedRow | Problem::Sender | Problem::ErasedPart)
        );
        let appended = envelope.as_ref().filter(|_| is_appended);
        self.note_appended(seq, appended.zip(leaf), &row, (lifecycle, recorded));
        if let Some(problem) = problem {
            let column = <[u8; 16]>::try_from(row.id.as_slice())
                .map(EventId::from_bytes)
                .ok();
            let id = envelope.map(|envelope| envelope.id).or(column);
            self.findings.add(Finding::event(seq, id, problem));
        }
        Ok(tile_leaf.or(leaf))
    }

    /// Records an event of a tenant, and what removals need of it; none where it is not the one that was appended.
    fn note_appended(
        &mut self,
        seq: u64,
        appended: Option<(&Envelope, Hash)>,
        row: &StoredRow,
        (lifecycle, recorded): (Option<Map<String, Value>>, &[Recorded]),
    ) {
        if lifecycle.is_some() {
            self.removals.last_seq = Some(seq);
        }
        let Some((envelope, leaf)) = appended else {
            self.note_tenant(seq, None);
            return;
        };
        let members = match (lifecycle, recorded) {
            (Some(members), _) => Some(members),
            (None, []) => None,
            (None, _) => serde_json::from_str(&row.body).ok(),
        };
        if let Some(members) = members {
            self.removals.add_event(seq, envelope.logged_at, &members);
        }
        let tenant_id = envelope.tenant_id.as_str();
        let label = self.labels.as_mut().map(|labels| labels.of(tenant_id));
        self.note_tenant(seq, label.map(|label| (label, Some(tenant_id), leaf)));
    }

    /// The first column that differs from the text of the event. The key of a row that was put back after a removal stays forgotten.
    fn wrong_column(
        &mut self,
        row: &StoredRow,
        envelope: &Envelope,
        may_lack_key: bool,
    ) -> Result<Option<&'static str>> {
        if row.id != envelope.id.to_bytes() {
            return Ok(Some("events.id"));
        }
        if row.inconsistent.is_some() {
            return Ok(row.inconsistent);
        }
        let is_of_key = row.is_of_key(&envelope.tenant_id, envelope.idempotency_key.as_deref());
        if !is_of_key && (!may_lack_key || row.has_key()) {
            return Ok(Some("the hash of the idempotency key"));
        }
        if row.month < Month::of(envelope.received_at) {
            return Ok(Some("the first event of its month in ledger_months"));
        }
        let is_in_order = self.reader.is_in_order_of_time(row, envelope.occurred_at)?;
        Ok((!is_in_order).then_some("the event's position in the order of time"))
    }

    /// Whether `key trace` names another key or address for the event than the one that it was sent with, or does not find it.
    fn wrong_sender(&self, row: &StoredRow, seq: u64) -> Option<Problem> {
        let sender = self.senders.get(&row.sender?);
        let is_own = sender.is_some_and(|sender| sender.is_own && sender.first_seq <= seq.cast_signed());
        (!is_own).then_some(Problem::Sender)
    }

    fn append(&mut self, leaf: Hash) -> Result<()> {
        let Some(tree) = &mut self.tree else {
            return Ok(());
        };
        for tile in tree.append(leaf)? {
            // Tiles of level 0 were compared leaf by leaf.
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

    /// Records the root of the tree when it has the size of a signed head.
    fn note_root(&mut self) -> Result<()> {
        let Some(tree) = &self.tree else { return Ok(()) };
        if let Some(root) = self.signed_roots.get_mut(&tree.size()) {
            *root = Some(tree.frontier()?.root());
        }
        Ok(())
    }

    /// Records the event of a tenant; none where it is missing or cannot be read.
    fn note_tenant(&mut self, seq: u64, event: Option<TenantEvent<'_>>) {
        if let Some(tenants) = &mut self.tenants {
            tenants.append(seq, event);
        }
        if let Some(maps) = &mut self.maps {
            maps.append(event);
        }
    }

    /// Records the stamp of an event.
    fn note_stamp(&mut self, seq: u64, envelope: Option<&Envelope>) {
        let Some(envelope) = envelope else {
            self.is_complete = false;
            return;
        };
        let stamp = Stamp {
            id: envelope.id,
            received_at: envelope.logged_at,
        };
        self.last = Some(stamp.latest(self.last));
        if self.signed_roots.contains_key(&seq) {
            self.logged_at.insert(seq, envelope.logged_at);
        }
    }
}
