//! `log repair`: writes the heads again that the service did not write, after it has verified their events.

use super::{Verification, VerifyOptions, head_key, trusted_keys};
use crate::error::{AppError, Result};
use crate::log::{Remembered, StoredMapSecret};
use crate::service::AuditLog;
use audit_domain::{Envelope, ProjectId, Stamp};
use audit_ledger::{Frontier, Hash, HeadKey, TreeHead};
use audit_store::{Reader, RepairedHead, StoredLedger};
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
    /// The keys of heads that are at hand.
    pub head_keys: Vec<HeadKey>,
    /// Accept events that no checkpoint covers.
    pub accepts_unsigned: bool,
}

/// What was found of a head that the service did not write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RepairReport {
    /// Project and environment.
    pub name: String,
    /// The number of its events.
    pub events: u64,
    /// The size of the last checkpoint that its events were compared with.
    pub signed: u64,
    /// The columns that were not those of the events.
    pub found: String,
    /// Why the head was not repaired.
    pub refused: Option<String>,
}

/// The heads that the service did not write.
#[derive(Default)]
struct Repairs {
    /// To be written again.
    repaired: Vec<(RepairReport, RepairedHead)>,
    refused: Vec<RepairReport>,
}

/// The events of a ledger, as their texts say.
struct Events {
    tree: TreeHead,
    /// The roots at the sizes of signed heads.
    roots: HashMap<u64, Hash>,
    last: Option<Stamp>,
}

impl AuditLog {
    /// Writes the heads again that the service did not write, if their events continue the last checkpoint.
    ///
    /// # Errors
    /// When the database cannot be read or written.
    pub fn repair_log(&self, options: &RepairOptions) -> Result<Vec<RepairReport>> {
        let mut reports = Vec::new();
        let Repairs { repaired, refused } =
            self.store.query(|reader| self.heads_to_repair(reader, options))?;
        reports.extend(refused);
        let now = self.clock.now();
        for (report, head) in repaired {
            self.store
                .write(move |writer| writer.repair_head(&head, now).map_err(AppError::from))?;
            reports.push(report);
        }
        Ok(reports)
    }

    fn heads_to_repair(&self, reader: &mut Reader<'_>, options: &RepairOptions) -> Result<Repairs> {
        let scope = VerifyOptions {
            encryption: self.settings.encryption.clone(),
            known: options.known.clone(),
            ..VerifyOptions::default()
        };
        let (keys, _) = trusted_keys(reader, &scope)?;
        let Some(of_heads) = head_key(reader, &options.head_keys, &self.settings.encryption)? else {
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
            if !ledger.is_sealed(&of_heads) {
                let signed = verification.signed_heads(&ledger);
                repairs.add(reader, &ledger, &signed, options.accepts_unsigned)?;
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
            found: report.found.clone(),
        };
        self.repaired.push((report, head));
        Ok(())
    }
}

/// Reads all events of a ledger; why it cannot be repaired.
fn read_events(
    reader: &mut Reader<'_>,
    ledger: &StoredLedger,
    signed: &[TreeHead],
) -> Result<Result<Events, String>> {
    let log = ledger.log_name();
    let mut tree = Frontier::new();
    let mut roots = HashMap::new();
    let mut last: Option<Stamp> = None;
    loop {
        let note_root = |tree: &Frontier, roots: &mut HashMap<u64, Hash>| {
            if signed.iter().any(|head| head.size == tree.size()) {
                roots.insert(tree.size(), tree.root());
            }
        };
        note_root(&tree, &mut roots);
        let rows = reader.stored_rows(ledger.ledger_id, tree.size(), PAGE_EVENTS)?;
        if rows.is_empty() {
            break;
        }
        for row in rows {
            let seq = tree.size();
            let own = row.computed_hash(log.as_ref()).filter(|own| {
                row.seq == seq.cast_signed() && row.content_hash.as_slice() == own.as_bytes().as_slice()
            });
            let envelope = Envelope::read(&row.body).ok();
            let envelope = envelope.filter(|envelope| row.id == envelope.id.to_bytes());
            let (Some(content_hash), Some(envelope)) = (own, envelope) else {
                return Ok(Err(format!("event {seq} is missing or was changed")));
            };
            let stamp = Stamp {
                id: envelope.id,
                received_at: envelope.received_at,
            };
            last = Some(stamp.latest(last));
            tree.append(Hash::of_event(&content_hash));
            note_root(&tree, &mut roots);
        }
    }
    Ok(Ok(Events {
        tree: tree.head(),
        roots,
        last,
    }))
}

/// The columns of a head that are not those of the events.
fn differences(ledger: &StoredLedger, events: &Events) -> String {
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
    ];
    let wrong = columns.iter().filter(|(_, is_own)| !is_own);
    let wrong: Vec<&str> = wrong.map(|(name, _)| *name).collect();
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
