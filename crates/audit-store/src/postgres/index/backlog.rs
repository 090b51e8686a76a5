//! The indexing backlog, as far as this process has the tokens of its events in memory.

use super::{RowKey, row_key};
use crate::append::LedgerId;
use crate::append::plan::NewRow;
use crate::error::Result;
use crate::postgres::events::logged_each;
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

/// Stored events that are read at once to make their tokens.
const MADE_EVENTS_MAX: i64 = 1_000;

/// Consecutive events of one ledger.
#[derive(Debug)]
pub(crate) struct Piece {
    /// Their range. Removed events are missing from `events`.
    pub(crate) seqs: Range<i64>,
    pub(crate) events: UnindexedEvents<RowKey>,
}

/// The pieces of the backlog that this process has in memory.
#[derive(Debug, Default)]
pub(crate) struct BacklogPieces(Mutex<Pieces>);

#[derive(Debug, Default)]
struct Pieces {
    /// By ledger and first event.
    pieces: BTreeMap<(LedgerId, i64), Arc<Piece>>,
    bytes: usize,
}

impl Pieces {
    fn keep(&mut self, ledger_id: LedgerId, piece: Arc<Piece>) {
        let bytes = piece.events.bytes();
        if self.bytes + bytes <= BACKLOG_BYTES_MAX {
            self.bytes += bytes;
            let before = self.pieces.insert((ledger_id, piece.seqs.start), piece);
            self.bytes -= before.map_or(0, |before| before.events.bytes());
        }
    }

    /// The piece that has an event, or the start of the next piece of its ledger.
    fn at(&self, ledger_id: LedgerId, seq: i64) -> Result<Arc<Piece>, Option<i64>> {
        let before = self.pieces.range(..=(ledger_id, seq)).next_back();
        if let Some((_, piece)) = before.filter(|((of, _), piece)| *of == ledger_id && piece.seqs.end > seq) {
            return Ok(Arc::clone(piece));
        }
        let after = self.pieces.range((ledger_id, seq)..(ledger_id, i64::MAX)).next();
        Err(after.map(|((_, start), _)| *start))
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
            self.0.lock().keep(run[0].ledger_id, Arc::new(piece));
        }
    }

    /// Drops all pieces: after a failover, the new server may have lost commits of the old one.
    pub(crate) fn clear(&self) {
        *self.0.lock() = Pieces::default();
    }

    /// The ledgers of the pieces.
    pub(crate) fn ledgers(&self) -> Vec<i64> {
        let kept = self.0.lock();
        let mut ledgers: Vec<i64> = kept.pieces.keys().map(|(ledger_id, _)| ledger_id.0).collect();
        ledgers.dedup();
        ledgers
    }

    /// Drops indexed pieces: the index has the first `indexed` events of a ledger.
    pub(crate) fn forget(&self, ledger_id: LedgerId, indexed: i64) {
        let mut kept = self.0.lock();
        let pieces = kept.pieces.range((ledger_id, i64::MIN)..(ledger_id, indexed));
        let indexed = pieces.filter(|(_, piece)| piece.seqs.end <= indexed);
        for key in indexed.map(|(key, _)| *key).collect::<Vec<_>>() {
            let forgotten = kept.pieces.remove(&key);
            kept.bytes -= forgotten.map_or(0, |piece| piece.events.bytes());
        }
    }
}

/// Calls `see` with the pieces that have the events `seqs`, in their order, until it returns `false`.
pub(crate) fn for_each(
    connection: &mut PgConnection,
    kept: &BacklogPieces,
    ledger_id: LedgerId,
    mut seqs: Range<i64>,
    mut see: impl FnMut(Arc<Piece>) -> bool,
) -> Result<()> {
    while !seqs.is_empty() {
        let found = kept.0.lock().at(ledger_id, seqs.start);
        let piece = match found {
            Ok(piece) => piece,
            Err(next) => {
                let end = next.map_or(seqs.end, |next| next.min(seqs.end));
                let Some(piece) = make(connection, ledger_id, seqs.start..end)? else {
                    seqs.start = end;
                    continue;
                };
                let piece = Arc::new(piece);
                kept.0.lock().keep(ledger_id, Arc::clone(&piece));
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
    kept: &BacklogPieces,
    ledger_id: LedgerId,
    seqs: Range<i64>,
    terms: &[Term],
    range: &Range<RowKey>,
) -> Result<Vec<RowKey>> {
    let mut found = Vec::new();
    for_each(connection, kept, ledger_id, seqs, |piece| {
        found.extend(piece.events.matching(terms, range));
        true
    })?;
    Ok(found)
}

/// Makes a piece from the first of these stored events, if any exist: a head may claim more than there are.
fn make(connection: &mut PgConnection, ledger_id: LedgerId, seqs: Range<i64>) -> Result<Option<Piece>> {
    let mut events = UnindexedEvents::default();
    let mut tokens = String::new();
    let mut end = seqs.start;
    for (seq, row, event) in logged_each(connection, ledger_id, seqs.clone(), MADE_EVENTS_MAX)? {
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
