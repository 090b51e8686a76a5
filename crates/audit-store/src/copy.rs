//! Copies a database to another one, with ids, positions and signatures (`audit-server db copy`).
//!
//! Events and tiles never change, so they are copied while a server runs on the source, in batches, each in a transaction.
//! The target itself is the record of the progress: the events of a ledger are there up to some `seq`, without a gap but for removed
//! ones. The other tables change; they are copied last, in one transaction, while the source is locked against every other process.
//!
//! The steps are types. A [`DatabaseCopy`] copies events; [`DatabaseCopy::lock_source`] gives a [`FinalCopy`], which copies the
//! rest and ends the copy. The source is marked as moved before the target may be served, so that at no moment both can be.

pub(crate) mod record;
pub(crate) mod rows;

use crate::access::Reader;
use crate::database::copied_tables::COPIED_TABLES;
use crate::database::copy::{LockedSource, Source, SourceReader, Target, open_source, open_target, refused};
use crate::database::{Database, DatabaseUrl};
use crate::error::{Result, StoreError};
use crate::ledgers::head::LedgerMonth;
use audit_domain::{Envelope, LogName, StoredSalt, Timestamp};
use record::{COMPLETE, CopyRecord, MOVED, UNFINISHED};
use rows::{BatchLimits, CheckedEvent, SourceEvent, SourceLedger};
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;

/// Events of one batch, at most: a multiple of the width of a tile.
const BATCH_EVENTS_MAX: i64 = 4_096;
/// Text of the events of one batch, in bytes. The event that exceeds it is the last one.
const BATCH_BYTES_MAX: usize = 8 << 20;
/// Text of the rows of other tables that one statement inserts, in bytes.
const ROWS_BYTES_MAX: usize = 1 << 20;
/// Levels of tiles: 256^5 = 2^40 events are the most of a ledger.
const TILE_LEVELS: u32 = 5;
/// Bits of the width of a tile.
const TILE_WIDTH_BITS: u32 = 8;

/// Reads a secret from what is stored of it. Otherwise it says why it cannot.
pub type OpenSecret<'a> = dyn Fn(&[u8]) -> Result<Vec<u8>, String> + 'a;

/// What a copy is called with.
#[derive(Clone, Copy)]
pub struct CopyOptions<'a> {
    /// The source.
    pub from: &'a DatabaseUrl,
    /// The target.
    pub to: &'a DatabaseUrl,
    /// The name of a secret of the source that never changes, and how to read what is stored: the secret identifies the deployment.
    pub identifying_secret: (&'a str, &'a OpenSecret<'a>),
    /// Random, for a copy that begins.
    pub copy_id: [u8; 16],
}

/// A copy, as it is found.
pub enum FoundCopy {
    /// It begins or continues.
    Unfinished(Box<DatabaseCopy>),
    /// It was completed before.
    Complete,
}

/// A copy whose source may be written meanwhile.
pub struct DatabaseCopy {
    source: Source,
    ends: Ends,
}

/// A copy whose source is locked against every other process.
pub struct FinalCopy {
    source: LockedSource,
    ends: Ends,
}

/// What both steps have.
struct Ends {
    target: Target,
    to: DatabaseUrl,
    record: CopyRecord,
    /// [`MOVED`] in the source already: the copy was interrupted after that.
    is_moved: bool,
}

impl DatabaseCopy {
    /// Opens both databases, begins a copy or finds the one that was begun.
    ///
    /// # Errors
    /// [`StoreError::CopyRefused`] when the source cannot be copied, or the target has anything else than this copy.
    pub fn open(options: &CopyOptions<'_>, now: Timestamp) -> Result<FoundCopy> {
        let mut source = open_source(options.from)?;
        let (name, open) = options.identifying_secret;
        let stored = source.secret(name)?;
        let stored = stored.ok_or_else(|| refused("the source was never served: it has nothing to copy"))?;
        let deployment_id = Sha256::digest(open(&stored).map_err(|why| refused(&why))?);
        let moved = source.record()?.filter(|record| record.is(MOVED));
        let mut target = open_target(options.to)?;
        let record = match target.record()? {
            Some(found) => continued(found, &deployment_id, moved.as_ref())?,
            None => {
                if let Some(moved) = moved {
                    return Err(StoreError::Moved(moved.other_url));
                }
                let from = options.from.to_string();
                let now = now.as_micros();
                let record = CopyRecord::new(UNFINISHED, &options.copy_id, &deployment_id, from, now);
                target.begin(&record)?;
                record
            }
        };
        if record.is(COMPLETE) {
            return Ok(FoundCopy::Complete);
        }
        let ends = Ends {
            target,
            to: options.to.clone(),
            record,
            is_moved: moved.is_some(),
        };
        Ok(FoundCopy::Unfinished(Box::new(Self { source, ends })))
    }

    /// A secret of the source.
    ///
    /// # Errors
    /// When the source cannot be read.
    pub fn source_secret(&mut self, name: &str) -> Result<Option<Vec<u8>>> {
        self.source.secret(name)
    }

    /// Copies the events that the target does not have yet. Calls `progress` with the number of events in the target and in the
    /// source. Returns the number of events in the target.
    ///
    /// # Errors
    /// [`StoreError::DamagedSource`] at an event whose text does not match its content hash; all before it are copied.
    pub fn copy_events(&mut self, progress: &mut dyn FnMut(u64, u64)) -> Result<u64> {
        copy_events(self.source.reader(), &mut self.ends.target, progress)
    }

    /// Locks the source against every other process, until the end of the copy.
    ///
    /// # Errors
    /// [`StoreError::InUse`] when another process has it open.
    pub fn lock_source(self) -> Result<FinalCopy> {
        Ok(FinalCopy {
            source: self.source.lock()?,
            ends: self.ends,
        })
    }
}

impl FinalCopy {
    /// As [`DatabaseCopy::copy_events`].
    ///
    /// # Errors
    /// As [`DatabaseCopy::copy_events`].
    pub fn copy_events(&mut self, progress: &mut dyn FnMut(u64, u64)) -> Result<u64> {
        copy_events(self.source.reader(), &mut self.ends.target, progress)
    }

    /// Copies all other tables, in one transaction, and deletes the events that the source has removed since they were copied. Returns the
    /// number of rows.
    ///
    /// # Errors
    /// When a database fails.
    pub fn copy_tables(&mut self) -> Result<u64> {
        let source = &mut self.source;
        self.ends.target.replace_tables(|target| {
            let mut copied = 0;
            for table in &COPIED_TABLES {
                let mut insert = |rows: &str| target.insert_rows(table, rows);
                copied += source.rows(table, ROWS_BYTES_MAX, &mut insert)?;
            }
            delete_removed(source.reader(), target)?;
            Ok(copied)
        })
    }

    /// The ledgers of the source.
    ///
    /// # Errors
    /// When the source cannot be read.
    pub fn source_ledgers(&mut self) -> Result<Vec<SourceLedger>> {
        self.source.reader().ledgers()
    }

    /// Reads the target, to verify it.
    ///
    /// # Errors
    /// Those of `work`, and when the target cannot be opened.
    pub fn read_target<T, E: From<StoreError>>(
        &self,
        work: impl FnOnce(&mut Reader<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        let mut session = Database::existing(&self.ends.to)?.open_reader()?;
        work(&mut Reader::new(&mut session))
    }

    /// Marks the source as moved, then the target as complete. A copy that is interrupted in between is continued by the
    /// next call; until then neither database is served.
    ///
    /// # Errors
    /// When a database fails.
    pub fn complete(self, now: Timestamp) -> Result<()> {
        let Self { mut source, ends } = self;
        let Ends {
            mut target,
            to,
            record,
            is_moved,
        } = ends;
        let CopyRecord {
            copy_id,
            deployment_id,
            other_url,
            ..
        } = record;
        let now = now.as_micros();
        if !is_moved {
            let moved = CopyRecord::new(MOVED, &copy_id, &deployment_id, to.to_string(), now);
            source.mark_moved(&moved)?;
        }
        target.replace_record(&CopyRecord::new(
            COMPLETE,
            &copy_id,
            &deployment_id,
            other_url,
            now,
        ))
    }
}

/// The record of the target if it is a copy of this source, which continues or is complete.
fn continued(found: CopyRecord, deployment_id: &[u8], moved: Option<&CopyRecord>) -> Result<CopyRecord> {
    let CopyRecord { other_url, .. } = &found;
    if let Some(moved) = moved.filter(|moved| moved.copy_id != found.copy_id) {
        return Err(StoreError::Moved(moved.other_url.clone()));
    }
    if found.deployment_id != deployment_id {
        return Err(refused(format!(
            "the target is a copy of another deployment, {other_url}"
        )));
    }
    if found.is(UNFINISHED) || (found.is(COMPLETE) && moved.is_some()) {
        return Ok(found);
    }
    Err(refused(format!(
        "the target is a complete copy of {other_url}, and may have changed since"
    )))
}

fn copy_events(
    source: &mut SourceReader,
    target: &mut Target,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<u64> {
    let ledgers = source.ledgers()?;
    let total = ledgers
        .iter()
        .map(|ledger| ledger.size.max(0).unsigned_abs())
        .sum();
    let mut copied = Vec::with_capacity(ledgers.len());
    for ledger in &ledgers {
        copied.push(target.copied_events(ledger.ledger_id)?);
    }
    let mut done = copied.iter().map(|seq| seq.unsigned_abs()).sum();
    progress(done, total);
    for (ledger, mut next) in ledgers.iter().zip(copied) {
        if next > ledger.size {
            return Err(refused(format!(
                "the target has {next} events of {}, and the source {}: it is a copy of another state of this database; \
                 begin again with an empty target",
                ledger.name(),
                ledger.size
            )));
        }
        while next < ledger.size {
            let end = copy_batch(source, target, ledger, next)?;
            done += (end - next).unsigned_abs();
            next = end;
            progress(done, total);
        }
    }
    Ok(done)
}

/// Copies one batch of events, and the tiles that it completes. Events that were removed from the source are skipped. Returns the `seq` after
/// it.
fn copy_batch(
    source: &mut SourceReader,
    target: &mut Target,
    ledger: &SourceLedger,
    start: i64,
) -> Result<i64> {
    let limits = BatchLimits {
        events: BATCH_EVENTS_MAX,
        bytes: BATCH_BYTES_MAX,
    };
    let (events, end) = source.events(ledger.ledger_id, start..ledger.size, limits)?;
    // Read after the events: the records of a removal are complete before its first row is deleted.
    let removed = match events.len() as i64 == end - start {
        true => BTreeSet::new(),
        false => source.removed(ledger.ledger_id, start..end)?,
    };
    // Read after the events: the commit that enters a month writes its row.
    let months = source.months(ledger.ledger_id)?;
    let mut checked = Vec::with_capacity(events.len());
    let mut events = events.into_iter().peekable();
    for seq in start..end {
        match events.next_if(|event| event.seq == seq) {
            Some(event) => checked.push(check(ledger, &months, event)?),
            None if removed.contains(&seq) => {}
            None => return Err(damaged(ledger, seq, "it is missing")),
        }
    }
    let mut tiles = Vec::new();
    for level in 0..TILE_LEVELS {
        let leaves_bits = TILE_WIDTH_BITS * (level + 1);
        let indexes = start >> leaves_bits..end >> leaves_bits;
        if !indexes.is_empty() {
            tiles.extend(source.tiles(ledger.ledger_id, i64::from(level), indexes)?);
        }
    }
    target.append(ledger.ledger_id, checked, tiles)?;
    Ok(end)
}

/// Deletes the events from the target that the source has no more.
fn delete_removed(source: &mut SourceReader, target: &mut Target) -> Result<()> {
    for ledger in source.ledgers()? {
        let mut start = 0;
        while start < ledger.size {
            let end = ledger.size.min(start + BATCH_EVENTS_MAX);
            let removed = source.removed(ledger.ledger_id, start..end)?;
            target.delete_events(ledger.ledger_id, removed.into_iter().collect())?;
            start = end;
        }
    }
    Ok(())
}

/// Compares an event with its text.
fn check(ledger: &SourceLedger, months: &[LedgerMonth], event: SourceEvent) -> Result<CheckedEvent> {
    let seq = event.seq;
    let log = LogName::parse(&ledger.project_id, &ledger.environment);
    let computed = log
        .zip(StoredSalt::read(&event.content_salt))
        .and_then(|(log, salt)| salt.content_hash(&event.body, &log));
    if computed.is_none_or(|computed| computed.as_bytes().as_slice() != event.content_hash) {
        return Err(damaged(
            ledger,
            seq,
            "its text and its content hash do not belong together",
        ));
    }
    let envelope = Envelope::read(&event.body).map_err(|_| damaged(ledger, seq, "it cannot be read"))?;
    if event.id != envelope.id.to_bytes() {
        return Err(damaged(ledger, seq, "its id is not the one in its text"));
    }
    // On SQLite they are in two tables. Without its key an event would be stored again by a retry.
    if event.idempotency_hash.is_some() != event.sent_digest.is_some() {
        return Err(damaged(ledger, seq, "its idempotency key is missing"));
    }
    let month = months.iter().rev().find(|month| month.first_seq <= seq);
    let month = month
        .ok_or_else(|| damaged(ledger, seq, "its month is missing"))?
        .month;
    Ok(CheckedEvent {
        event,
        month,
        occurred_at: envelope.occurred_at,
    })
}

fn damaged(ledger: &SourceLedger, seq: i64, what: &'static str) -> StoreError {
    StoreError::DamagedSource {
        ledger: ledger.name(),
        seq,
        what,
    }
}
