//! Stores a record of each event that a removal takes, and plans a removal of retention.
//!
//! An event that is not the one that was signed ends it: a removal must not make a change of the database look like one.

use super::due::{DueEvents, of_category};
use super::taken::{Outcome, RemovalAlarm, Taken, is_allowed, of_read, tile_of};
use crate::error::{AppError, Result};
use crate::service::{AuditLog, Scope};
use audit_domain::{
    ContentHash, Facet, HeldFields, Hold, Lifecycle, LifecycleEvent, LogName, PartMask, RetentionPlan,
    Sha256Digest,
};
use audit_ledger::{
    RemovalDigest, RemovalKind, RemovalRecord, TenantLabel, TenantMapKey, Tile, TileId, TreeHead,
};
use audit_redact::Engine;
use audit_store::{LoggedEvent, RemovalRow, RemovalState, StoreError};
use std::collections::{BTreeMap, BTreeSet};

/// The most events of one read.
const READ_ROWS_MAX: usize = 512;

/// What becomes of an event.
pub(super) enum Fate {
    /// It is not old enough, or has no identifier of the person.
    Stays,
    /// It is permanent.
    Kept,
    /// A hold covers it.
    Held,
    /// This of it goes.
    Goes(PartMask),
}

/// What is read for one step.
#[derive(Default)]
struct Page {
    records: Vec<RemovalRecord>,
    labels: BTreeMap<u64, TenantLabel>,
    held: u64,
    kept: u64,
    /// The first position behind it.
    next: u64,
}

/// What was collected so far.
#[derive(Clone)]
pub(super) struct Collected {
    digest: RemovalDigest,
    pub(super) held: u64,
    kept: u64,
    /// Whole rows among the records.
    pub(super) rows: u64,
}

impl Collected {
    pub(super) fn new(kind: RemovalKind, log: &LogName) -> Self {
        Self {
            digest: RemovalDigest::new(kind, log),
            held: 0,
            kept: 0,
            rows: 0,
        }
    }

    fn add(&mut self, page: &Page) {
        self.held += page.held;
        self.kept += page.kept;
        for record in &page.records {
            self.digest.add(record, &page.labels[&record.slot]);
            self.rows += u64::from(record.mask.is_row());
        }
    }

    /// The digest of the stored records and their number. What is stored is what was collected.
    pub(super) fn finish(&self, taken: &Taken<'_>) -> Result<(Sha256Digest, u64)> {
        let (digest, events) = taken.digest()?;
        let collected = self.digest.clone().finish();
        match events == taken.row.records && digest.as_bytes() == collected.as_bytes() {
            true => Ok((digest, events)),
            false => Err(RemovalAlarm::ChangedRecords(taken.row.seqs.clone()).into()),
        }
    }
}

/// Reads events, and checks those that go.
pub(super) struct Collection<'a> {
    service: &'a AuditLog,
    scope: &'a Scope,
    holds: Vec<Hold>,
    key: TenantMapKey,
    /// A signed head that covers them all.
    head: TreeHead,
}

/// Stores the records of a removal that has just begun, and appends its plan to the log. Ends the removal where it takes nothing.
pub(super) fn collect(taken: &mut Taken<'_>, fold: &Lifecycle, due: &DueEvents) -> Result<Outcome> {
    let collected = collect_all(taken, fold, due);
    or_cancelled(taken, collected)
}

/// Has what was collected discarded where the database has changed.
pub(super) fn or_cancelled(taken: &mut Taken<'_>, collected: Result<Outcome>) -> Result<Outcome> {
    if let Err(AppError::LogInconsistent(_)) = &collected
        && let Err(failed) = taken.enter(RemovalState::Cancelled)
    {
        log::warn!("cannot cancel a removal: {failed}");
    }
    collected
}

fn collect_all(taken: &mut Taken<'_>, fold: &Lifecycle, due: &DueEvents) -> Result<Outcome> {
    let service = taken.service;
    let holds = fold.holds();
    let holds = holds.map(|(_, hold)| in_present_forms(&service.stream_engine, hold));
    let collection = Collection::new(taken, holds.collect())?;
    let mut collected = Collected::new(taken.row.kind, &taken.scope.log());
    while taken.row.cursor_seq < taken.row.seqs.end {
        if taken.is_stopping() {
            return Ok(Outcome::Later);
        }
        collection.step(taken, &mut collected, |logged| collection.fate(due, logged))?;
    }
    if taken.row.records == 0 {
        return taken.drop_row();
    }
    let (digest, events) = collected.finish(taken)?;
    let grace = service.settings.removal_grace_seconds;
    let plan = RetentionPlan {
        policy: due.policy,
        seqs: due.seqs.clone(),
        received_before: due.received_before.clone(),
        events,
        held: collected.held,
        kept: collected.kept,
        digest,
        not_before: service.clock.now().plus_seconds(grace),
    };
    let plan = LifecycleEvent::Planned(plan);
    if !is_allowed(fold, &plan, service.clock.now()) {
        return Err(StoreError::Stale.into());
    }
    // Refused where a hold was placed or the policy changed meanwhile.
    taken.append(fold.last_seq(), plan, RemovalState::Planned)
}

/// A hold with its ids in the forms of the present hash keys as well: a key may have changed since it was placed.
pub(super) fn in_present_forms(engine: &Engine, hold: &Hold) -> Hold {
    let forms = |ids: &[String]| -> Vec<String> {
        let forms: BTreeSet<String> = ids.iter().flat_map(|id| engine.identifier_forms(id)).collect();
        forms.into_iter().collect()
    };
    Hold {
        actor_id: forms(&hold.actor_id),
        target_id: forms(&hold.target_id),
        ..hold.clone()
    }
}

/// What becomes of an event of which this goes unless a hold covers it.
pub(super) fn unless_held(holds: &[Hold], fields: &HeldFields<'_>, mask: PartMask) -> Fate {
    match holds.iter().any(|hold| hold.covers(fields)) {
        true => Fate::Held,
        false => Fate::Goes(mask),
    }
}

impl<'a> Collection<'a> {
    pub(super) fn new(taken: &Taken<'a>, holds: Vec<Hold>) -> Result<Self> {
        let (service, scope) = (taken.service, taken.scope);
        Ok(Self {
            service,
            scope,
            holds,
            key: service.tenant_map_key(&scope.log_name())?,
            head: service.signed_head(scope, taken.row.seqs.end)?,
        })
    }

    /// Decides on the next events of a removal, and stores the records of those that go. `fate` is `None` of what is no event.
    pub(super) fn step(
        &self,
        taken: &mut Taken<'_>,
        collected: &mut Collected,
        fate: impl Fn(&LoggedEvent) -> Option<Fate>,
    ) -> Result<()> {
        let page = self.read(taken.row.cursor_seq, taken.row.seqs.end, fate)?;
        let mut with_page = collected.clone();
        with_page.add(&page);
        let after = RemovalRow {
            records: taken.row.records + page.records.len() as u64,
            ..taken.at(page.next)
        };
        let (ledger_id, number) = (taken.row.ledger_id, taken.row.number);
        taken.step(after, move |writer| {
            Ok(writer.put_records(ledger_id, number, &page.records, &page.labels)?)
        })?;
        *collected = with_page;
        Ok(())
    }

    fn read(&self, start: u64, end: u64, fate: impl Fn(&LoggedEvent) -> Option<Fate>) -> Result<Page> {
        let ledger_id = self.scope.ledger_id;
        let rows = self
            .service
            .store
            .query(|reader| reader.logged_events(ledger_id, start, READ_ROWS_MAX))
            .map_err(of_read)?;
        let is_last = rows.len() < READ_ROWS_MAX;
        let mut page = Page {
            next: rows
                .last()
                .filter(|_| !is_last)
                .map_or(end, |last| end.min(last.seq + 1)),
            ..Page::default()
        };
        for logged in rows.iter().take_while(|logged| logged.seq < end) {
            match fate(logged).ok_or(RemovalAlarm::ChangedEvent(logged.seq))? {
                Fate::Stays => {}
                Fate::Kept => page.kept += 1,
                Fate::Held => page.held += 1,
                Fate::Goes(mask) => self.add(&mut page, logged, mask)?,
            }
        }
        for records in page
            .records
            .chunk_by(|one, next| tile_of(one.seq) == tile_of(next.seq))
        {
            self.check(records)?;
        }
        Ok(page)
    }

    /// What retention does with an event; `None` where it is none.
    fn fate(&self, due: &DueEvents, logged: &LoggedEvent) -> Option<Fate> {
        let event = logged.event.to_stored_object().ok()?;
        let fields = HeldFields::of(&event)?;
        let category = event.get("category")?.as_str()?;
        let before = of_category(&due.received_before, category)?;
        if fields.logged_at >= *before {
            return Some(Fate::Stays);
        }
        if LifecycleEvent::is_lifecycle(&event) {
            return Some(Fate::Kept);
        }
        Some(unless_held(&self.holds, &fields, PartMask::ROW))
    }

    /// Adds the record of an event, whose content must have its hash.
    fn add(&self, page: &mut Page, logged: &LoggedEvent, mask: PartMask) -> Result<()> {
        let LoggedEvent { seq, event } = logged;
        let hash: ContentHash = event.content_hash;
        if event.computed_hash(&self.scope.log()) != Some(hash) {
            return Err(RemovalAlarm::ChangedEvent(*seq).into());
        }
        let label = self.key.label(&event.facets()?.take(Facet::TenantId));
        page.labels.insert(label.slot(), label);
        page.records.push(RemovalRecord {
            seq: *seq,
            mask,
            content_hash: hash,
            slot: label.slot(),
        });
        Ok(())
    }

    /// Checks that the leaves of records of one tile are those of the tile, and that the tile is in the signed tree.
    fn check(&self, records: &[RemovalRecord]) -> Result<()> {
        let Some(first) = records.first() else {
            return Ok(());
        };
        let width = u64::from(TileId::WIDTH_MAX);
        let index = tile_of(first.seq);
        let width = width.min(self.head.size.saturating_sub(index * width));
        let id = TileId::new(0, index, u16::try_from(width).unwrap_or_default());
        let id = id.map_err(AppError::inconsistent)?;
        let ledger_id = self.scope.ledger_id;
        let tile = self
            .service
            .store
            .query(|reader| reader.log_tile_of_tree(ledger_id, id))?;
        let leaves = tile.as_ref().map(Tile::hashes).unwrap_or_default();
        let is_leaf = |record: &&RemovalRecord| {
            let offset = usize::try_from(record.seq % u64::from(TileId::WIDTH_MAX)).unwrap_or_default();
            leaves.get(offset) == Some(&record.leaf())
        };
        if let Some(changed) = records.iter().find(|record| !is_leaf(record)) {
            return Err(RemovalAlarm::ChangedEvent(changed.seq).into());
        }
        // It leads from all leaves of the tile to the signed root.
        self.service
            .prove_inclusion(self.scope, first.seq, &first.content_hash, &self.head)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use audit_domain::Timestamp;
    use audit_redact::HashKey;

    #[test]
    fn a_hold_covers_events_that_were_stored_under_a_later_hash_key() {
        let engine = |key: &[u8]| {
            let key = HashKey::new(key.to_vec());
            Engine::builder().hash_key(Some(key)).build()
        };
        let (before, later) = (engine(b"old"), engine(b"new"));
        let placed = Hold {
            actor_id: before.identifier_forms("jane"),
            ..Hold::default()
        };
        let covers = |hold: &Hold, actor_id: &str| {
            hold.covers(&HeldFields {
                tenant_id: "t",
                actor_id,
                target_id: Vec::new(),
                logged_at: Timestamp::from_seconds(0),
            })
        };
        let present = in_present_forms(&later, &placed);
        for id in before
            .identifier_forms("jane")
            .iter()
            .chain(&later.identifier_forms("jane"))
        {
            assert!(covers(&present, id), "{id}");
        }
        assert!(!covers(&placed, &later.identifier_forms("jane")[1]));
        assert!(!covers(&present, "john"));
        let everybody = in_present_forms(&later, &Hold::default());
        assert!(covers(&everybody, "john"));
    }
}
