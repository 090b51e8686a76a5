//! `log repair`: writes the heads again that the service did not write, after it has verified their events, and the tiles that are not
//! those of a head that it wrote.

use super::removals::lifecycle_event;
use super::tree::Tree;
use super::{Verification, VerifyOptions, head_key, trusted_keys};
use crate::error::{AppError, Result};
use crate::log::Remembered;
use crate::log::tenants::StoredMapSecret;
use crate::service::AuditLog;
use audit_domain::{Envelope, LogName, ProjectId, Stamp};
use audit_ledger::{Frontier, Hash, HeadKey, Tile, TreeHead};
use audit_store::{LedgerId, Reader, RepairedHead, StoreError, StoredLedger, StoredRow};
use std::collections::HashMap;

/// The number of events of one read.
const PAGE_EVENTS: usize = 4_096;

/// The ledgers to repair, and what is known from sources other than the database.
#[derive(Clone, Debug, Default)]
pub struct RepairOptions {
    /// Only the ledgers of this project.
    pub project_id: Option<ProjectId>,
    /// What this node knows of each log, by origin.
    pub known: HashMap<Box<str>, Remembered>,
    /// The key of heads of this node.
    pub head_key: Option<HeadKey>,
    /// Accept events that no checkpoint covers.
    pub accepts_unsigned: bool,
}

/// What was found of a head that the service did not write, or of a log with other tiles than those of its head.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RepairReport {
    /// Project and environment.
    pub name: String,
    /// The number of its events.
    pub events: u64,
    /// The size of the last checkpoint that its events were compared with.
    pub signed: u64,
    /// The columns that were not those of the events, or the tiles.
    pub found: String,
    /// Why nothing was repaired.
    pub refused: Option<String>,
}

/// What is to be written again.
enum Repair {
    Head(RepairedHead),
    /// The tiles of a ledger.
    Tiles(LedgerId),
}

/// What is wrong and can be computed from the events.
#[derive(Default)]
struct Repairs {
    repaired: Vec<(RepairReport, Repair)>,
    refused: Vec<RepairReport>,
}

/// The events of a ledger, as their texts say.
struct Events {
    tree: TreeHead,
    /// The roots at the sizes of signed heads.
    roots: HashMap<u64, Hash>,
    last: Option<Stamp>,
    /// The position of the newest lifecycle event.
    lifecycle_seq: Option<u64>,
    /// The stored tiles are those of the tree.
    are_tiles_right: bool,
}

impl AuditLog {
    /// Writes the heads again that the service did not write, if their events continue the last checkpoint, and tiles that are not
    /// those of a head that it wrote, if the events are.
    ///
    /// # Errors
    /// When the database cannot be read or written.
    pub fn repair_log(&self, options: &RepairOptions) -> Result<Vec<RepairReport>> {
        let mut reports = Vec::new();
        let Repairs { repaired, refused } = self.store.query(|reader| self.repairs(reader, options))?;
        reports.extend(refused);
        let now = self.clock.now();
        for (report, repair) in repaired {
            let found = report.found.clone();
            self.store.write(move |writer| {
                let repaired = match &repair {
                    Repair::Head(head) => writer.repair_head(head, now),
                    Repair::Tiles(ledger_id) => writer.repair_tiles(*ledger_id, &found, now),
                };
                repaired.map_err(AppError::from)
            })?;
            reports.push(report);
        }
        Ok(reports)
    }

    fn repairs(&self, reader: &mut Reader<'_>, options: &RepairOptions) -> Result<Repairs> {
        let scope = VerifyOptions {
            encryption: self.settings.encryption.clone(),
            known: options.known.clone(),
            ..VerifyOptions::default()
        };
        let (keys, _) = trusted_keys(reader, &scope)?;
        let Some(of_heads) = head_key(reader, options.head_key.as_ref(), &self.settings.encryption)? else {
            return Ok(Repairs::default());
        };
        let verification = Verification {
            options: &scope,
            keys: &keys,
            key_problem: None,
            head_key: None,
            tenant_map_secret: StoredMapSecret::Missing,
            is_complete: true,
            total: 0,
            done: 0,
            progress: &mut |_, _| {},
        };
        let mut repairs = Repairs::default();
        for ledger in reader.stored_ledgers(options.project_id)? {
            let signed = verification.signed_heads(&ledger);
            match ledger.is_sealed(&of_heads) {
                true => repairs.add_tiles(reader, &ledger, &signed)?,
                false => repairs.add(reader, &ledger, &signed, options.accepts_unsigned)?,
            }
        }
        Ok(repairs)
    }
}

impl Repairs {
    /// Decides on the head of a ledger that the service did not write.
    fn add(
        &mut self,
        reader: &mut Reader<'_>,
        ledger: &StoredLedger,
        signed: &[TreeHead],
        accepts_unsigned: bool,
    ) -> Result<()> {
        let largest = signed.iter().map(|head| head.size).max().unwrap_or(0);
        let mut report = RepairReport {
            name: format!("{}/{}", ledger.project_id, ledger.environment),
            events: 0,
            signed: largest,
            found: String::new(),
            refused: None,
        };
        let events = match read_events(reader, ledger, signed)? {
            Ok(events) => events,
            Err(why) => {
                report.refused = Some(why);
                self.refused.push(report);
                return Ok(());
            }
        };
        report.events = events.tree.size;
        report.found = differences(ledger, &events);
        report.refused = why_not(&events, signed, largest, accepts_unsigned);
        if report.refused.is_some() {
            self.refused.push(report);
            return Ok(());
        }
        let head = RepairedHead {
            ledger_id: ledger.ledger_id,
            tree: events.tree,
            last: events.last,
            lifecycle_seq: events.lifecycle_seq,
            found: report.found.clone(),
        };
        self.repaired.push((report, Repair::Head(head)));
        Ok(())
    }

    /// Decides on the tiles of a ledger whose head the service wrote. Other faults are those of `log verify`.
    fn add_tiles(
        &mut self,
        reader: &mut Reader<'_>,
        ledger: &StoredLedger,
        signed: &[TreeHead],
    ) -> Result<()> {
        let largest = signed.iter().map(|head| head.size).max().unwrap_or(0);
        let Ok(events) = read_events(reader, ledger, signed)? else {
            return Ok(());
        };
        let is_whole = wrong_columns(ledger, &events).is_empty();
        if is_whole && !events.are_tiles_right && why_not(&events, signed, largest, true).is_none() {
            let report = RepairReport {
                name: format!("{}/{}", ledger.project_id, ledger.environment),
                events: events.tree.size,
                signed: largest,
                found: "not those of the events: tiles".to_owned(),
                refused: None,
            };
            self.repaired.push((report, Repair::Tiles(ledger.ledger_id)));
        }
        Ok(())
    }
}

/// Whether this tile is stored.
fn is_stored(reader: &mut Reader<'_>, ledger_id: LedgerId, tile: &Tile) -> Result<bool> {
    match reader.log_tile_of_tree(ledger_id, tile.id()) {
        Ok(stored) => Ok(stored.as_ref() == Some(tile)),
        Err(StoreError::Damaged { .. }) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// Reads all events of a ledger, and the records of those that removals took; why it cannot be repaired.
fn read_events(
    reader: &mut Reader<'_>,
    ledger: &StoredLedger,
    signed: &[TreeHead],
) -> Result<Result<Events, String>> {
    let mut reading = Reading {
        ledger_id: ledger.ledger_id,
        log: ledger.log_name(),
        signed,
        tree: Frontier::new(),
        full: Tree::default(),
        events: Events {
            tree: Frontier::new().head(),
            roots: HashMap::new(),
            last: None,
            lifecycle_seq: None,
            are_tiles_right: reader.stray_tiles(ledger.ledger_id, 1)?.is_empty(),
        },
    };
    reading.note_root();
    loop {
        let rows = reader.stored_rows(ledger.ledger_id, reading.tree.size(), PAGE_EVENTS)?;
        // Behind the last row no removal took anything: its event is there.
        if rows.is_empty() {
            break;
        }
        for row in rows {
            if !reading.gap(reader, row.seq)? || !reading.row(reader, &row)? {
                let seq = reading.tree.size();
                return Ok(Err(format!("event {seq} is missing or was changed")));
            }
        }
    }
    reading.events.tree = reading.tree.head();
    Ok(Ok(reading.events))
}

/// The events of a ledger, while they are read.
struct Reading<'a> {
    ledger_id: LedgerId,
    log: Option<LogName>,
    signed: &'a [TreeHead],
    tree: Frontier,
    full: Tree,
    events: Events,
}

impl Reading<'_> {
    /// Reads the records of the missing rows before a position. Whether all of them have one.
    fn gap(&mut self, reader: &mut Reader<'_>, seq: i64) -> Result<bool> {
        let end = u64::try_from(seq).unwrap_or(0);
        while self.tree.size() < end {
            let start = self.tree.size();
            let seqs = start..end.min(start + PAGE_EVENTS as u64);
            for record in reader.removed_rows(self.ledger_id, seqs)? {
                if record.seq == self.tree.size() {
                    self.append(reader, record.leaf())?;
                }
            }
            if self.tree.size() == start {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Reads the next row. Whether it is the one that was appended.
    fn row(&mut self, reader: &mut Reader<'_>, row: &StoredRow) -> Result<bool> {
        let own = row.computed_hash(self.log.as_ref()).filter(|own| {
            row.seq == self.tree.size().cast_signed()
                && row.content_hash.as_slice() == own.as_bytes().as_slice()
        });
        let envelope = Envelope::read(&row.body).ok();
        let envelope = envelope.filter(|envelope| row.id == envelope.id.to_bytes());
        let (Some(content_hash), Some(envelope)) = (own, envelope) else {
            return Ok(false);
        };
        let stamp = Stamp {
            id: envelope.id,
            received_at: envelope.logged_at,
        };
        self.events.last = Some(stamp.latest(self.events.last));
        if lifecycle_event(&row.body).is_some() {
            self.events.lifecycle_seq = Some(self.tree.size());
        }
        self.append(reader, Hash::of_event(&content_hash))?;
        Ok(true)
    }

    fn append(&mut self, reader: &mut Reader<'_>, leaf: Hash) -> Result<()> {
        for tile in self.full.append(leaf)? {
            let is_right = self.events.are_tiles_right && is_stored(reader, self.ledger_id, &tile)?;
            self.events.are_tiles_right = is_right;
        }
        self.tree.append(leaf);
        self.note_root();
        Ok(())
    }

    fn note_root(&mut self) {
        let size = self.tree.size();
        if self.signed.iter().any(|head| head.size == size) {
            self.events.roots.insert(size, self.tree.root());
        }
    }
}

/// The columns of a head that are not those of the events.
fn wrong_columns(ledger: &StoredLedger, events: &Events) -> Vec<&'static str> {
    let edge = ledger.frontier.as_deref().map(Frontier::decode);
    let is_own_edge = match edge {
        None => events.tree.size == 0,
        Some(edge) => edge.is_ok_and(|edge| edge.head() == events.tree),
    };
    let columns = [
        ("size", ledger.size == events.tree.size.cast_signed()),
        (
            "last_event_id",
            ledger.last_event_id == events.last.map(|last| last.id.to_bytes().to_vec()),
        ),
        (
            "last_received_at",
            ledger.last_received_at == events.last.map(|last| last.received_at.as_micros()),
        ),
        ("frontier", is_own_edge),
        (
            "lifecycle_seq",
            ledger.lifecycle_seq == events.lifecycle_seq.map(u64::cast_signed),
        ),
    ];
    let wrong = columns.into_iter().filter(|(_, is_own)| !is_own);
    wrong.map(|(name, _)| name).collect()
}

/// What is wrong with a head.
fn differences(ledger: &StoredLedger, events: &Events) -> String {
    let wrong = wrong_columns(ledger, events);
    match wrong.is_empty() {
        true => "its name or its code was changed".to_owned(),
        false => format!("not those of the events: {}", wrong.join(", ")),
    }
}

/// Why a head is not written again.
fn why_not(events: &Events, signed: &[TreeHead], largest: u64, accepts_unsigned: bool) -> Option<String> {
    let size = events.tree.size;
    let contradicts = |head: &TreeHead| events.roots.get(&head.size) != Some(&head.root);
    if let Some(head) = signed.iter().find(|head| contradicts(head)) {
        return Some(match head.size > size {
            true => format!("{} events were signed, and {size} are there", head.size),
            false => format!("the first {} events are not those that were signed", head.size),
        });
    }
    (size > largest && !accepts_unsigned).then(|| {
        format!(
            "events {largest} to {} are not signed, so they may have been added; --accept-unsigned accepts them",
            size - 1
        )
    })
}
