//! Events that are stored and not in the index yet, as far as this process has in memory what they are filed under.

use super::{RowKey, row_key};
use crate::append::LedgerId;
use crate::append::plan::NewRow;
use crate::error::Result;
use crate::index::KEPT_BYTES_MAX;
use crate::index::filed::Filed;
use crate::query::postgres::logged_each;
use crate::tokens::push_facet_tokens;
use audit_domain::StoredEvent;
use audit_index::Term;
use diesel::PgConnection;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Events that are made of the stored ones at once.
const MADE_EVENTS_MAX: i64 = 1_000;

/// Neighbouring events of one ledger.
#[derive(Debug)]
pub(crate) struct Piece {
    /// Which ones. Of those that somebody removed there is nothing.
    pub(crate) seqs: Range<i64>,
    pub(crate) events: Filed<RowKey>,
}

/// The pieces of the tail that this process has in memory.
#[derive(Debug, Default)]
pub(crate) struct KeptTail(Mutex<Kept>);

#[derive(Debug, Default)]
struct Kept {
    /// By ledger and first event.
    pieces: BTreeMap<(LedgerId, i64), Arc<Piece>>,
    bytes: usize,
}

impl Kept {
    fn keep(&mut self, ledger_id: LedgerId, piece: Arc<Piece>) {
        let bytes = piece.events.bytes();
        if self.bytes + bytes <= KEPT_BYTES_MAX {
            self.bytes += bytes;
            let before = self.pieces.insert((ledger_id, piece.seqs.start), piece);
            self.bytes -= before.map_or(0, |before| before.events.bytes());
        }
    }

    /// The piece that has an event, or where the next piece of its ledger begins.
    fn at(&self, ledger_id: LedgerId, seq: i64) -> Result<Arc<Piece>, Option<i64>> {
        let before = self.pieces.range(..=(ledger_id, seq)).next_back();
        if let Some((_, piece)) = before.filter(|((of, _), piece)| *of == ledger_id && piece.seqs.end > seq) {
            return Ok(Arc::clone(piece));
        }
        let after = self.pieces.range((ledger_id, seq)..(ledger_id, i64::MAX)).next();
        Err(after.map(|((_, start), _)| *start))
    }
}

impl KeptTail {
    /// The lock is never held while anything can panic, so a poisoned one is as good as new.
    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes note of what this process has committed.
    pub(crate) fn committed(&self, rows: &[NewRow]) {
        let mut rows: Vec<&NewRow> = rows.iter().collect();
        rows.sort_by_key(|row| (row.ledger_id, row.seq));
        let follows =
            |one: &&NewRow, next: &&NewRow| one.ledger_id == next.ledger_id && one.seq + 1 == next.seq;
        for run in rows.chunk_by(follows) {
            let mut events = Filed::default();
            for row in run {
                let key = row_key(row.record.occurred_at(), row.record.stamp().id);
                events.add(key, row.tokens.facets());
            }
            let piece = Piece {
                seqs: run[0].seq..run[0].seq + run.len() as i64,
                events,
            };
            self.lock().keep(run[0].ledger_id, Arc::new(piece));
        }
    }

    /// Forgets everything: what was committed may have been lost with the server that connections broke with, where another one
    /// takes its place.
    pub(crate) fn clear(&self) {
        *self.lock() = Kept::default();
    }

    /// The ledgers of which there is something.
    pub(crate) fn ledgers(&self) -> Vec<i64> {
        let kept = self.lock();
        let mut ledgers: Vec<i64> = kept.pieces.keys().map(|(ledger_id, _)| ledger_id.0).collect();
        ledgers.dedup();
        ledgers
    }

    /// Lets go of what is in the index, which has the first `indexed` events of a ledger.
    pub(crate) fn forget(&self, ledger_id: LedgerId, indexed: i64) {
        let mut kept = self.lock();
        let pieces = kept.pieces.range((ledger_id, i64::MIN)..(ledger_id, indexed));
        let filed = pieces.filter(|(_, piece)| piece.seqs.end <= indexed);
        for place in filed.map(|(place, _)| *place).collect::<Vec<_>>() {
            let forgotten = kept.pieces.remove(&place);
            kept.bytes -= forgotten.map_or(0, |piece| piece.events.bytes());
        }
    }
}

/// Calls `see` with all pieces that have events of the tail, in their order, until it has seen enough and says `false`.
pub(crate) fn for_each(
    connection: &mut PgConnection,
    kept: &KeptTail,
    ledger_id: LedgerId,
    mut tail: Range<i64>,
    mut see: impl FnMut(Arc<Piece>) -> bool,
) -> Result<()> {
    while !tail.is_empty() {
        let found = kept.lock().at(ledger_id, tail.start);
        let piece = match found {
            Ok(piece) => piece,
            Err(next) => {
                let end = next.map_or(tail.end, |next| next.min(tail.end));
                let Some(piece) = make(connection, ledger_id, tail.start..end)? else {
                    tail.start = end;
                    continue;
                };
                let piece = Arc::new(piece);
                kept.lock().keep(ledger_id, Arc::clone(&piece));
                piece
            }
        };
        tail.start = piece.seqs.end;
        if !see(piece) {
            break;
        }
    }
    Ok(())
}

/// The rows of the tail within `range` that fulfil all conditions, in no order.
pub(crate) fn rows(
    connection: &mut PgConnection,
    kept: &KeptTail,
    ledger_id: LedgerId,
    tail: Range<i64>,
    terms: &[Term],
    range: &Range<RowKey>,
) -> Result<Vec<RowKey>> {
    let mut found = Vec::new();
    for_each(connection, kept, ledger_id, tail, |piece| {
        found.extend(piece.events.matching(terms, range));
        true
    })?;
    Ok(found)
}

/// Makes a piece of the first of some events that are stored: a head may claim more of them than there are.
fn make(connection: &mut PgConnection, ledger_id: LedgerId, seqs: Range<i64>) -> Result<Option<Piece>> {
    let mut events = Filed::default();
    let mut tokens = String::new();
    let mut end = seqs.start;
    for (seq, row, event) in logged_each(connection, ledger_id, seqs.clone(), MADE_EVENTS_MAX)? {
        end = seq + 1;
        tokens.clear();
        match event.and_then(|event| push_tokens(&mut tokens, ledger_id, &event)) {
            Ok(()) => {}
            // Who stores events now is not to be kept from it, and whoever verifies the log is told.
            Err(error) => log::error!("an event that was to be indexed is damaged: {error}"),
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
