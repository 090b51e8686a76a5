//! The indexing backlog: pieces of it, with the tokens of their events, are cached.

use super::{RowKey, row_key};
use crate::append::LedgerId;
use crate::append::plan::NewRow;
use crate::error::Result;
use crate::postgres::events::raw_events;
use crate::search::BACKLOG_BYTES_MAX;
use crate::search::backlog::UnindexedEvents;
use crate::search::tokens::push_facet_tokens;
use audit_domain::StoredEvent;
use audit_index::Term;
use diesel::PgConnection;
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

/// Stored events that are read at once to compute their tokens.
const COMPUTED_EVENTS_MAX: i64 = 1_000;

/// Consecutive events of one ledger.
#[derive(Debug)]
pub(crate) struct Piece {
    /// Their range. Removed events are missing from `events`.
    pub(crate) seqs: Range<i64>,
    pub(crate) events: UnindexedEvents<RowKey>,
}

/// The cached pieces of the backlog.
#[derive(Debug, Default)]
pub(crate) struct BacklogPieces(Mutex<Pieces>);

#[derive(Debug, Default)]
struct Pieces {
    /// By ledger and first event.
    pieces: BTreeMap<(LedgerId, i64), Arc<Piece>>,
    bytes: usize,
}

/// The state of the cache at an event.
enum CachedAt {
    /// The piece that has the event.
    Piece(Arc<Piece>),
    /// No piece has the event; the start of the next piece of its ledger.
    Nothing { next: Option<i64> },
}

impl Pieces {
    fn insert(&mut self, ledger_id: LedgerId, piece: Arc<Piece>) {
        let bytes = piece.events.bytes();
        if self.bytes + bytes <= BACKLOG_BYTES_MAX {
            self.bytes += bytes;
            let before = self.pieces.insert((ledger_id, piece.seqs.start), piece);
            self.bytes -= before.map_or(0, |before| before.events.bytes());
        }
    }

    /// The cached piece at an event.
    fn at(&self, ledger_id: LedgerId, seq: i64) -> CachedAt {
        let before = self.pieces.range(..=(ledger_id, seq)).next_back();
        if let Some((_, piece)) = before.filter(|((of, _), piece)| *of == ledger_id && piece.seqs.end > seq) {
            return CachedAt::Piece(Arc::clone(piece));
        }
        let after = self.pieces.range((ledger_id, seq)..(ledger_id, i64::MAX)).next();
        CachedAt::Nothing {
            next: after.map(|((_, start), _)| *start),
        }
    }
}

impl BacklogPieces {
    /// Adds events that this process has committed.
    pub(crate) fn committed(&self, rows: &[NewRow]) {
        let mut rows: Vec<&NewRow> = rows.iter().collect();
        rows.sort_by_key(|row| (row.ledger_id, row.seq));
        let follows =
            |one: &&NewRow, next: &&NewRow| one.ledger_id == next.ledger_id && one.seq + 1 == next.seq;
        for run in rows.chunk_by(follows) {
            let mut events = UnindexedEvents::default();
            for row in run {
                let key = row_key(row.record.occurred_at(), row.record.stamp().id);
                events.add(key, row.tokens.facets());
            }
            let piece = Piece {
                seqs: run[0].seq..run[0].seq + run.len() as i64,
                events,
            };
            self.0.lock().insert(run[0].ledger_id, Arc::new(piece));
        }
    }

    /// Drops all pieces: after a failover, the new server may have lost commits of the old one.
    pub(crate) fn clear(&self) {
        *self.0.lock() = Pieces::default();
    }

    /// The ledgers of the pieces.
    pub(crate) fn ledgers(&self) -> Vec<i64> {
        let cached = self.0.lock();
        let mut ledgers: Vec<i64> = cached.pieces.keys().map(|(ledger_id, _)| ledger_id.0).collect();
        ledgers.dedup();
        ledgers
    }

    /// Drops indexed pieces: the index has the first `indexed` events of a ledger.
    pub(crate) fn forget(&self, ledger_id: LedgerId, indexed: i64) {
        let mut cached = self.0.lock();
        let pieces = cached.pieces.range((ledger_id, i64::MIN)..(ledger_id, indexed));
        let indexed = pieces.filter(|(_, piece)| piece.seqs.end <= indexed);
        for key in indexed.map(|(key, _)| *key).collect::<Vec<_>>() {
            let indexed = cached.pieces.remove(&key);
            cached.bytes -= indexed.map_or(0, |piece| piece.events.bytes());
        }
    }
}

/// Calls `see` with the pieces that have the events `seqs`, in their order, until it returns `false`.
pub(crate) fn for_each(
    connection: &mut PgConnection,
    cache: &BacklogPieces,
    ledger_id: LedgerId,
    mut seqs: Range<i64>,
    mut see: impl FnMut(Arc<Piece>) -> bool,
) -> Result<()> {
    while !seqs.is_empty() {
        let found = cache.0.lock().at(ledger_id, seqs.start);
        let piece = match found {
            CachedAt::Piece(piece) => piece,
            CachedAt::Nothing { next } => {
                let end = next.map_or(seqs.end, |next| next.min(seqs.end));
                let Some(piece) = compute(connection, ledger_id, seqs.start..end)? else {
                    seqs.start = end;
                    continue;
                };
                let piece = Arc::new(piece);
                cache.0.lock().insert(ledger_id, Arc::clone(&piece));
                piece
            }
        };
        seqs.start = piece.seqs.end;
        if !see(piece) {
            break;
        }
    }
    Ok(())
}

/// The rows of the events `seqs` within `range` that fulfil all terms, in no order.
pub(crate) fn rows(
    connection: &mut PgConnection,
    cache: &BacklogPieces,
    ledger_id: LedgerId,
    seqs: Range<i64>,
    terms: &[Term],
    range: &Range<RowKey>,
) -> Result<Vec<RowKey>> {
    let mut found = Vec::new();
    for_each(connection, cache, ledger_id, seqs, |piece| {
        found.extend(piece.events.matching(terms, range));
        true
    })?;
    Ok(found)
}

/// Computes a piece from the first of these stored events, if any exist: the size in a head may be too large.
fn compute(connection: &mut PgConnection, ledger_id: LedgerId, seqs: Range<i64>) -> Result<Option<Piece>> {
    let mut events = UnindexedEvents::default();
    let mut tokens = String::new();
    let mut end = seqs.start;
    for (seq, row, event) in raw_events(connection, ledger_id, seqs.clone(), COMPUTED_EVENTS_MAX)? {
        end = seq + 1;
        tokens.clear();
        match event.and_then(|event| push_tokens(&mut tokens, ledger_id, &event)) {
            Ok(()) => {}
            // It must not stop the indexer; `log verify` reports it.
            Err(error) => log::error!("cannot index an event: {error}"),
        }
        events.add(row, &tokens);
    }
    let seqs = seqs.start..end;
    Ok((!seqs.is_empty()).then_some(Piece { seqs, events }))
}

fn push_tokens(tokens: &mut String, ledger_id: LedgerId, event: &StoredEvent) -> Result<()> {
    push_facet_tokens(tokens, ledger_id.0, &event.facets()?);
    Ok(())
}
