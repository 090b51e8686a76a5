//! The chain of the files of a log: each is verified where the one before it ends.

use crate::error::{ArchiveError, Result};
use crate::layout::Part;
use crate::manifest::Manifest;
use crate::reader::{ArchivedEvent, read_events};
use audit_domain::{
    EventField, LogName, Month, PartMask, SERVICE_TENANT_ID, Sha256Digest, StoredSalt, Timestamp,
};
use audit_ledger::{Frontier, Hash, SignedCheckpoint, TreeHead};
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::Path;

/// The events that authorise removals and erasures.
const REMOVALS: [&str; 2] = ["\"audit.events.removed\"", "\"audit.events.erased\""];

/// What was verified of a log.
#[derive(Clone, Debug)]
pub struct Chain {
    log: LogName,
    frontier: Frontier,
    previous: Option<Sha256Digest>,
    last_at: Option<Timestamp>,
    month: Option<Month>,
    file_digest: Option<Sha256Digest>,
    /// Positions of events that removals and erasures name, and that have not been read yet.
    removals: BTreeSet<u64>,
    /// The events that are there.
    pub events: u64,
    /// Of these, the events of which parts were erased.
    pub erased: u64,
    /// The events that were removed.
    pub removed: u64,
    /// Their positions.
    pub gone: Vec<Range<u64>>,
    /// What was erased of the events that are there: position, position of the erasure, and the parts.
    pub masked: Vec<(u64, u64, PartMask)>,
}

impl Chain {
    /// The beginning of a log.
    pub fn new(log: LogName) -> Self {
        Self::continued(log, Frontier::new(), None)
    }

    /// Behind a manifest with this digest, whose file was verified when it was written. The frontier is that of the log there.
    pub fn continued(log: LogName, frontier: Frontier, previous: Option<Sha256Digest>) -> Self {
        Self {
            log,
            frontier,
            previous,
            last_at: None,
            month: None,
            file_digest: None,
            removals: BTreeSet::new(),
            events: 0,
            erased: 0,
            removed: 0,
            gone: Vec::new(),
            masked: Vec::new(),
        }
    }

    /// The number of positions so far: where the next file begins.
    pub const fn size(&self) -> u64 {
        self.frontier.size()
    }

    /// The month of the newest file.
    pub const fn month(&self) -> Option<Month> {
        self.month
    }

    /// The digest of the newest file.
    pub const fn file_digest(&self) -> Option<Sha256Digest> {
        self.file_digest
    }

    /// Whether removals or erasures are stated whose events are behind the end of the chain, where only the log shows them.
    pub fn waits_for_removals(&self) -> bool {
        !self.removals.is_empty()
    }

    /// The digest of the newest manifest.
    pub const fn manifest(&self) -> Option<Sha256Digest> {
        self.previous
    }

    /// [`Self::add`] of a part in the directory of its log, which must have the names of its positions and month.
    ///
    /// # Errors
    /// As that.
    pub fn add_part(
        &mut self,
        part: &Part,
        log_directory: &Path,
        open: impl FnOnce(&str) -> Result<SignedCheckpoint>,
    ) -> Result<SignedCheckpoint> {
        let start = self.size();
        if part.seqs.start != start {
            return Err(ArchiveError::Range(format!(
                "the events from {start} on are missing"
            )));
        }
        let text = part.read_manifest(log_directory)?;
        let signed = self.add(&text, part.open(log_directory)?, open)?;
        match (self.month == Some(part.month), self.size() == part.seqs.end) {
            (true, true) => Ok(signed),
            (false, _) => Err(ArchiveError::Chain(
                "it is in the directory of another month".to_owned(),
            )),
            (true, false) => Err(ArchiveError::Chain("its name has other positions".to_owned())),
        }
    }

    /// Verifies the next file with the text of its manifest. `open` verifies the signature of its checkpoint. Returns the checkpoint.
    ///
    /// # Errors
    /// [`ArchiveError`] names what is wrong. The chain is of no use then.
    pub fn add(
        &mut self,
        text: &str,
        mut file: File,
        open: impl FnOnce(&str) -> Result<SignedCheckpoint>,
    ) -> Result<SignedCheckpoint> {
        let manifest = Manifest::parse(text)?;
        self.check_place(&manifest)?;
        let signed = open(&manifest.checkpoint)?;
        if LogName::of_origin(signed.checkpoint().origin().as_str()) != Some(self.log) {
            return Err(ArchiveError::member("checkpoint", "it is of another log"));
        }
        check_file(&mut file, &manifest)?;
        self.read(&manifest, file, signed.head().size)?;
        if self.frontier.root() != manifest.root {
            return Err(ArchiveError::member("root", "it is not that of the events"));
        }
        manifest
            .consistency
            .verify(&self.frontier.head(), signed.head())?;
        self.previous = Some(Manifest::digest(text));
        self.month = Some(manifest.month);
        self.file_digest = Some(manifest.file_digest);
        Ok(signed)
    }

    /// The size and the root of the log up to here.
    pub fn head(&self) -> TreeHead {
        self.frontier.head()
    }

    fn check_place(&self, manifest: &Manifest) -> Result<()> {
        let chain = |problem: &str| Err(ArchiveError::Chain(problem.to_owned()));
        if manifest.log != self.log {
            return chain("it is of another log");
        }
        if manifest.previous != self.previous {
            return chain("it names another manifest before it");
        }
        if manifest.frontier != self.frontier {
            return chain("the events before it are others");
        }
        if manifest.seqs.is_empty() {
            return chain("it has no positions");
        }
        Ok(())
    }

    /// Reads the events of the file, and the removed ones between them.
    fn read(&mut self, manifest: &Manifest, file: File, signed: u64) -> Result<()> {
        let mut removed = Vec::new();
        for run in &manifest.removed {
            let is_later = run.removal >= run.seqs().end && run.removal < signed;
            if run.first_seq < self.size() + removed.len() as u64 || !is_later {
                return Err(ArchiveError::member("removed", "a run is not where it can be"));
            }
            // The events that authorise removals stay in the log.
            if self.removals.range(run.seqs()).next().is_some() {
                return Err(ArchiveError::member(
                    "removed",
                    "it has an event that authorises a removal",
                ));
            }
            removed.extend(run.seqs().zip(&run.content_hashes));
            match self.gone.last_mut().filter(|last| last.end == run.first_seq) {
                Some(last) => last.end = run.seqs().end,
                None => self.gone.push(run.seqs()),
            }
            self.removals.insert(run.removal);
        }
        if removed.len() as u64 + manifest.events != manifest.seqs.end - manifest.seqs.start {
            return Err(ArchiveError::Range(format!(
                "{} events and {} removed ones are not those of the {} positions from {} to {}",
                manifest.events,
                removed.len(),
                manifest.seqs.end - manifest.seqs.start,
                manifest.seqs.start,
                manifest.seqs.end
            )));
        }
        self.removed += removed.len() as u64;
        let mut removed = removed.into_iter().peekable();
        let before = self.events;
        let log = self.log;
        read_events(file, &log, |event| {
            while let Some((seq, hash)) = removed.next_if(|(seq, _)| *seq < event.seq) {
                self.append(seq, Hash::of_event(hash))?;
            }
            self.append(event.seq, Hash::of_event(&event.content_hash))?;
            self.check_event(&event, manifest.month, signed)
        })?;
        for (seq, hash) in removed {
            self.append(seq, Hash::of_event(hash))?;
        }
        match (
            self.events - before == manifest.events,
            self.size() == manifest.seqs.end,
        ) {
            (true, true) => Ok(()),
            _ => Err(ArchiveError::Range(format!(
                "the file has {} events and not {}",
                self.events - before,
                manifest.events
            ))),
        }
    }

    /// Appends the leaf at the next position.
    fn append(&mut self, seq: u64, leaf: Hash) -> Result<()> {
        let expected = self.frontier.append(leaf);
        match seq == expected {
            true => Ok(()),
            false => Err(ArchiveError::Range(format!(
                "where event {expected} belongs is event {seq}"
            ))),
        }
    }

    /// Checks what the content hash of an event does not prove.
    fn check_event(&mut self, event: &ArchivedEvent, month: Month, signed: u64) -> Result<()> {
        let refused = |problem| {
            Err(ArchiveError::Event {
                seq: event.seq,
                problem,
            })
        };
        let Some(at) = event.logged_at() else {
            return refused("has no time");
        };
        if self.last_at.is_some_and(|last| at < last) {
            return refused("was received before the event that precedes it in the log");
        }
        if Month::of(at) != month {
            return refused("was received in another month");
        }
        self.last_at = Some(at);
        let fields = event.fields();
        let tenant = fields.get(EventField::TenantId).trim_matches('"');
        if self.removals.remove(&event.seq)
            && (tenant != SERVICE_TENANT_ID || !REMOVALS.contains(&fields.get(EventField::Action)))
        {
            return refused("authorises no removal, as events before it state");
        }
        if let StoredSalt::Parts(parts) = &event.content_salt {
            self.erased += 1;
            if parts
                .erasures()
                .iter()
                .any(|erasure| *erasure <= event.seq || *erasure >= signed)
            {
                return refused("names an erasure where none can be");
            }
            self.removals.extend(parts.erasures());
            let masks = parts.masks().map(|(erasure, mask)| (event.seq, erasure, mask));
            self.masked.extend(masks);
        }
        self.events += 1;
        Ok(())
    }
}

/// Checks that the file is the one that the manifest names.
fn check_file(file: &mut File, manifest: &Manifest) -> Result<()> {
    let (digest, bytes) = file_digest(file)?;
    match digest == manifest.file_digest && bytes == manifest.file_bytes {
        true => Ok(()),
        false => Err(ArchiveError::member("file_sha256", "the file is another one")),
    }
}

/// The SHA-256 and the length of a file.
///
/// # Errors
/// When it cannot be read.
pub fn file_digest(file: &mut File) -> Result<(Sha256Digest, u64)> {
    file.seek(SeekFrom::Start(0))?;
    let (mut digest, mut bytes, mut length) = (Sha256::new(), vec![0; 64 * 1024], 0);
    loop {
        match file.read(&mut bytes)? {
            0 => return Ok((Sha256Digest::from_bytes(digest.finalize().into()), length)),
            read => {
                digest.update(&bytes[..read]);
                length += read as u64;
            }
        }
    }
}
