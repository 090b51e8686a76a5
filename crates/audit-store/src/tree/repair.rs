//! Writing a head again whose code is wrong, after its events were verified, and tiles that are not those of a right head.

use super::{TreeSession, content_hashes, full_tiles_of, store_tile};
use crate::access::Writer;
use crate::database::{on_either, select_for_update};
use crate::error::{Result, StoreError};
use crate::ids::LedgerId;
use crate::ledgers::heads::{SEALED_COLUMNS, SealedColumns, name_of};
use crate::ledgers::heads_of;
use crate::schema::{ledgers, log_repairs, log_tiles};
use audit_domain::{Stamp, Timestamp};
use audit_ledger::{Frontier, Growth, Hash, SealedHead, TreeHead};
use diesel::prelude::*;

/// Leaves that are read at once.
const READ_LEAVES_MAX: u64 = 20_000;

/// A head to write.
#[derive(Clone, Debug)]
pub struct RepairedHead {
    /// The ledger.
    pub ledger_id: LedgerId,
    /// The tree over its events, as it was verified.
    pub tree: TreeHead,
    /// The latest id and time of receipt.
    pub last: Option<Stamp>,
    /// The position of the newest lifecycle event.
    pub lifecycle_seq: Option<u64>,
    /// What was wrong with the head, for the record.
    pub found: String,
}

impl Writer<'_> {
    /// Writes the head and the tiles of a ledger again, from the content hashes of its events, and records it.
    ///
    /// # Errors
    /// [`StoreError::Damaged`] when the events are not those of the tree; when the database cannot be written.
    pub fn repair_head(&mut self, repaired: &RepairedHead, now: Timestamp) -> Result<()> {
        let ledger_id = repaired.ledger_id;
        let row = ledgers::table
            .find(ledger_id.0)
            .select((ledgers::project_id, ledgers::environment));
        let (project_id, environment): (String, String) =
            select_for_update!(self.session(), row, get_result)?;
        let frontier = self.rebuild_tiles(ledger_id, repaired.tree.size)?;
        if frontier.head() != repaired.tree {
            return Err(StoreError::Damaged { what: "log" });
        }
        let (encoded, size) = (frontier.encode(), repaired.tree.size.cast_signed());
        let last = repaired
            .last
            .map(|last| (last.id.to_bytes(), last.received_at.as_micros()));
        let lifecycle = repaired.lifecycle_seq.map(u64::cast_signed);
        let code = heads_of(self.session())?.code(&SealedHead {
            ledger_id: ledger_id.0,
            name: &name_of(&project_id, &environment),
            size,
            frontier: if size == 0 { &[][..] } else { encoded.as_slice() },
            lifecycle,
            last,
        });
        diesel::update(ledgers::table.find(ledger_id.0))
            .set((
                ledgers::size.eq(size),
                ledgers::last_event_id.eq(last.map(|(id, _)| id.to_vec())),
                ledgers::last_received_at.eq(last.map(|(_, micros)| micros)),
                ledgers::frontier.eq((size > 0).then_some(encoded)),
                ledgers::lifecycle_seq.eq(lifecycle),
                ledgers::head_code.eq(code.as_slice()),
            ))
            .execute(self.session())?;
        self.record_repair(ledger_id, size, &repaired.found, now)?;
        // It may be that of other events, and is computed again when it is needed.
        self.delete_tenant_map(ledger_id)
    }

    /// Writes the tiles of a ledger again, from the content hashes of its events, and records it. The ledger takes no events meanwhile.
    ///
    /// # Errors
    /// [`StoreError::ForgedHead`] when the service did not write its head, [`StoreError::Damaged`] when the events are not those of
    /// the head; when the database cannot be written.
    pub fn repair_tiles(&mut self, ledger_id: LedgerId, found: &str, now: Timestamp) -> Result<()> {
        type Row = ((String, String), SealedColumns);
        let row = ledgers::table
            .find(ledger_id.0)
            .select(((ledgers::project_id, ledgers::environment), SEALED_COLUMNS));
        let ((project_id, environment), sealed): Row = select_for_update!(self.session(), row, get_result)?;
        let name = name_of(&project_id, &environment);
        let edge = heads_of(self.session())?.edge(ledger_id.0, &name, &sealed);
        let edge = edge.ok_or(StoreError::ForgedHead {
            ledger_id: ledger_id.0,
        })?;
        if self.rebuild_tiles(ledger_id, edge.size())? != edge {
            return Err(StoreError::Damaged { what: "log" });
        }
        self.record_repair(ledger_id, edge.size().cast_signed(), found, now)
    }

    /// Replaces all tiles of a ledger, whose head is locked, by those of the tree over its first events, and returns that tree.
    fn rebuild_tiles(&mut self, ledger_id: LedgerId, size: u64) -> Result<Frontier> {
        diesel::delete(log_tiles::table.filter(log_tiles::ledger_id.eq(ledger_id.0)))
            .execute(self.session())?;
        on_either!(self.session(), session => build(session, ledger_id, size))
    }

    fn record_repair(&mut self, ledger_id: LedgerId, size: i64, found: &str, now: Timestamp) -> Result<()> {
        diesel::insert_into(log_repairs::table)
            .values((
                log_repairs::ledger_id.eq(ledger_id.0),
                log_repairs::repaired_at.eq(now.as_micros()),
                log_repairs::size.eq(size),
                log_repairs::found.eq(found),
            ))
            .execute(self.session())?;
        Ok(())
    }
}

/// Builds the tree over the first events of a ledger that has no tiles, and stores its tiles.
fn build<S: TreeSession>(session: &mut S, ledger_id: LedgerId, size: u64) -> Result<Frontier> {
    let mut frontier = Frontier::new();
    while frontier.size() < size {
        let end = size.min(frontier.size() + READ_LEAVES_MAX);
        let mut growth = Growth::new(frontier.clone());
        growth.extend(&Hash::of_events(content_hashes(
            session,
            ledger_id,
            frontier.size()..end,
        )?));
        let tiles;
        (frontier, tiles) = full_tiles_of(session, ledger_id, &growth, None)?;
        for tile in &tiles {
            store_tile(session, ledger_id, tile)?;
        }
    }
    Ok(frontier)
}
