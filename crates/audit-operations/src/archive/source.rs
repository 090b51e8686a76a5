//! Events that retention has removed from a log, out of an older archive of it.

use super::{CreateOptions, LogArchive};
use crate::key_sources::{HashKeyOptions, hash_key, warn_of_access};
use anyhow::{Context, anyhow, bail};
use audit_app::{
    ArchiveErasure, AuditLog, Authorities, ErasureId, Identifiers, LoggedPosition, RemovedEvidence,
    RetiredEvent, Settings, SignedLog,
};
use audit_archive::layout::{self, Part, log_directory};
use audit_archive::{ArchiveError, ArchivedEvent, Chain, Manifest, read_events};
use audit_cli::small_file;
use audit_domain::json::{self, Json};
use audit_domain::{
    Environment, ErasedParts, Fields, LogName, Month, ProjectId, StoredEvent, Timestamp, erase_parts,
};
use clap::Args;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread::JoinHandle;

/// Positions whose records are read at once.
const RECORDS_SEQS: u64 = 4_096;
/// Events that are read ahead.
const AHEAD_EVENTS: usize = 64;

/// Where removed events are taken from.
#[derive(Debug, Args)]
pub struct SourceOptions {
    /// Older archive to take the events from that retention has removed from the log since.
    #[arg(long, value_name = "DIR")]
    from: Option<PathBuf>,
    /// Erasure that was carried out in the log, to be carried out in the events that are taken.
    #[arg(long, value_name = "ID", requires_all = ["from", "identifiers"])]
    erasure: Option<ErasureId>,
    /// File with the identifiers of that erasure: the value of the member `identifiers` of its request. Needs the hash keys of the server.
    #[arg(long, value_name = "FILE", requires = "erasure")]
    identifiers: Option<PathBuf>,
    #[command(flatten)]
    hash_keys: HashKeyOptions,
}

/// An archive to take events from.
pub(super) struct Older {
    pub(super) directory: PathBuf,
    pub(super) erasure: Option<(String, Identifiers)>,
    has_hash_keys: bool,
}

/// How many events were taken.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counts {
    events: u64,
    /// Of these, those that have lost parts.
    masked: u64,
    /// Those that have gone as a whole.
    whole: u64,
}

/// The older archive of one log, read in step with the log.
pub(super) struct Source<'a> {
    service: &'a AuditLog,
    ids: (ProjectId, Environment),
    log: SignedLog,
    directory: PathBuf,
    parts: BTreeMap<u64, Part>,
    erasure: Option<ArchiveErasure>,
    authorities: Authorities,
    records: BTreeMap<u64, Option<RetiredEvent>>,
    reading: Option<Reading>,
    /// What was found at a position.
    found: Option<(u64, Found)>,
    /// Of the file that is being written.
    pending: Counts,
    /// Of those that were written.
    pub(super) written: Counts,
}

enum Found {
    Event {
        event: StoredEvent,
        at: Timestamp,
        is_masked: bool,
    },
    Erased(RemovedEvidence),
    Nothing,
}

/// A file of the older archive that is being read.
struct Reading {
    part: Part,
    events: Receiver<ArchivedEvent>,
    thread: Option<JoinHandle<Result<(), ArchiveError>>>,
    next: Option<ArchivedEvent>,
}

impl SourceOptions {
    /// The settings of the service: what an erasure finds depends on the hash keys.
    pub(super) fn settings(&self) -> anyhow::Result<Settings> {
        let keys = match self.erasure {
            Some(_) => self.hash_keys.keys()?,
            None => return Ok(Settings::default()),
        };
        Ok(Settings {
            hash_key: keys.current.as_ref().map(hash_key),
            hash_keys_previous: keys.previous,
            ..Settings::default()
        })
    }
}

impl Older {
    /// The archive that the options name. Nothing is written yet.
    pub(super) fn open(options: &CreateOptions, settings: &Settings) -> anyhow::Result<Option<Self>> {
        let Some(from) = &options.source.from else {
            return Ok(None);
        };
        let directory = from.canonicalize();
        let directory = directory.with_context(|| format!("--from {}", from.display()))?;
        let to = std::path::absolute(&options.to)?;
        let to = to.ancestors().find_map(|existing| existing.canonicalize().ok());
        if to.is_some_and(|to| to.starts_with(&directory)) {
            bail!("--to must be another directory than --from, and not in it");
        }
        let erasure = match (&options.source.erasure, &options.source.identifiers) {
            (Some(id), Some(path)) => Some((
                id.to_string(),
                identifiers_in(path).with_context(|| format!("--identifiers {}", path.display()))?,
            )),
            _ => None,
        };
        Ok(Some(Self {
            directory,
            erasure,
            has_hash_keys: settings.hash_key.is_some() || !settings.hash_keys_previous.is_empty(),
        }))
    }

    /// Checks, before anything is written, that the archive has one of the logs, and one of them the erasure.
    pub(super) fn check(&self, logs: &[(Arc<AuditLog>, ProjectId, Environment)]) -> anyhow::Result<()> {
        if layout::is_unfinished(&self.directory)? {
            bail!(
                "--from: {} is unfinished: `archive create --from` has not ended there",
                self.directory.display()
            );
        }
        let (archived, _) = layout::logs(&self.directory)?;
        let is_archived =
            |(_, project, environment): &&(_, _, _)| archived.contains(&LogName::new(*project, *environment));
        if !logs.iter().any(|log| is_archived(&log)) {
            bail!("--from: {} has none of these logs", self.directory.display());
        }
        let Some((id, _)) = &self.erasure else {
            return Ok(());
        };
        for (service, project_id, environment) in logs {
            if let Some(signed) = service.signed_log(*project_id, *environment)?
                && self
                    .erasure_in(service, (*project_id, *environment), &signed)?
                    .is_some()
            {
                return Ok(());
            }
        }
        bail!("--erasure: no event `audit.events.erased` of these logs is of {id}")
    }

    fn erasure_in(
        &self,
        service: &AuditLog,
        ids: (ProjectId, Environment),
        log: &SignedLog,
    ) -> anyhow::Result<Option<ArchiveErasure>> {
        let Some((id, identifiers)) = &self.erasure else {
            return Ok(None);
        };
        let erasure = service.archive_erasure(log, ids, id, identifiers);
        erasure.context("--erasure")
    }

    /// What the older archive has of the log of a new one.
    pub(super) fn source<'a>(&self, archive: &LogArchive<'a>) -> anyhow::Result<Source<'a>> {
        let (service, log) = (archive.service, &archive.log);
        let directory = log_directory(&self.directory, &log.log);
        let parts = layout::list(&directory)?.parts;
        let mut end = 0;
        for part in parts.values() {
            if part.seqs.start != end {
                bail!("{}: the events from {end} on are missing", directory.display());
            }
            end = part.seqs.end;
        }
        let source = Source {
            service,
            ids: archive.ids,
            log: log.clone(),
            directory,
            parts,
            erasure: self.erasure_in(service, archive.ids, log)?,
            authorities: Authorities::default(),
            records: BTreeMap::new(),
            reading: None,
            found: None,
            pending: Counts::default(),
            written: Counts::default(),
        };
        if let Some((_, last)) = source.parts.last_key_value() {
            // It shows that the archive is of this log before anything is written.
            source.proven_manifest(last)?;
        }
        Ok(source)
    }

    /// What to say of the events that were taken.
    pub(super) fn summary(&self, counts: Counts) -> String {
        let Counts {
            events,
            masked,
            whole,
        } = counts;
        let directory = self.directory.display();
        let keys = match self.erasure.is_some() && !self.has_hash_keys {
            true => "; there was no hash key, so identifiers that redaction hashed with one were not found",
            false => "",
        };
        format!(
            "; {events} of them from {directory}: {masked} lost parts, and {whole} more were erased as a whole{keys}"
        )
    }
}

/// Reads identifiers. What is wrong is said without the text.
fn identifiers_in(path: &Path) -> anyhow::Result<Identifiers> {
    warn_of_access(path, &fs::metadata(path)?);
    let bytes = small_file::read(path)?;
    let value = json::parse(&bytes).ok();
    let is_known = |name: &str| ["ids", "texts"].contains(&name);
    let value = value.filter(|value| match value {
        Json::Object(members) => members.iter().all(|(name, _)| is_known(name)),
        _ => false,
    });
    let value = value.context("it is not a JSON object with `ids`, `texts` or both")?;
    let members = vec![("identifiers".into(), value)];
    Fields::read(Json::Object(members), Identifiers::read).map_err(|violations| {
        let wrong = violations.as_slice().iter();
        let wrong: Vec<String> = wrong
            .map(|one| format!("{} {}", one.field, one.message))
            .collect();
        anyhow!(wrong.join("; "))
    })
}

impl Source<'_> {
    /// What is at a position of the log, with the event of the older archive where retention has removed it. Positions ascend.
    pub(super) fn position<'p>(
        &'p mut self,
        seq: u64,
        position: LoggedPosition<'p>,
    ) -> anyhow::Result<LoggedPosition<'p>> {
        let LoggedPosition::Removed(gone) = position else {
            return Ok(position);
        };
        if self.found.as_ref().is_none_or(|(at, _)| *at != seq) {
            self.found = Some((seq, self.find(seq, gone)?));
        }
        Ok(match &self.found {
            Some((_, Found::Event { event, at, .. })) => LoggedPosition::Event(event, *at),
            Some((_, Found::Erased(erased))) => LoggedPosition::Removed(erased),
            Some((_, Found::Nothing)) | None => LoggedPosition::Removed(gone),
        })
    }

    /// Notes that what was found last is in the file.
    pub(super) fn note_written(&mut self, seq: u64) {
        match self.found.as_ref().filter(|(at, _)| *at == seq) {
            Some((_, Found::Event { is_masked, .. })) => {
                self.pending.events += 1;
                self.pending.masked += u64::from(*is_masked);
            }
            Some((_, Found::Erased(_))) => self.pending.whole += 1,
            Some((_, Found::Nothing)) | None => {}
        }
    }

    /// Counts what was noted: the file has its name.
    pub(super) fn count(&mut self) {
        self.written.add(std::mem::take(&mut self.pending));
    }

    fn find(&mut self, seq: u64, gone: &RemovedEvidence) -> anyhow::Result<Found> {
        let Some(retired) = self.retired(seq)? else {
            return Ok(Found::Nothing);
        };
        let Some(archived) = self.event(seq)? else {
            return Ok(Found::Nothing);
        };
        let stored = archived
            .to_stored()
            .filter(|_| archived.content_hash == gone.content_hash);
        let (Some(mut event), Some(at)) = (stored, archived.logged_at()) else {
            bail!("{}: event {seq} is not that of the log", self.directory.display());
        };
        let erasures = event.content_salt.erased().map(ErasedParts::erasures);
        let is_of_log = |erasure: &u64| self.authorities.is_erasure(*erasure);
        if !erasures.unwrap_or_default().iter().all(is_of_log) {
            bail!(
                "{}: event {seq} lacks parts that no erasure of the log took",
                self.directory.display()
            );
        }
        let mut masks = retired.erased;
        // The list of the erasure may have seen the event while it was restored.
        if let Some(erasure) = self.erasure.as_ref().filter(|own| !masks.contains_key(&own.seq))
            && let Some(mask) = erasure.mask(seq, retired.first_removal, &event)?
        {
            if mask.is_row() {
                let removal = erasure.seq;
                return Ok(Found::Erased(RemovedEvidence { removal, ..*gone }));
            }
            masks.insert(erasure.seq, mask);
        }
        for (erasure, mask) in masks {
            let left = erase_parts(&event.canonical, &event.content_salt, mask, erasure);
            (event.canonical, event.content_salt) =
                left.with_context(|| format!("event {seq} has not the text of an event"))?;
        }
        Ok(Found::Event {
            is_masked: event.content_salt != archived.content_salt,
            event,
            at,
        })
    }

    /// What the log knows of a removed event; `None` where an erasure has taken it.
    fn retired(&mut self, seq: u64) -> anyhow::Result<Option<RetiredEvent>> {
        // A removal may have begun since the records were read.
        if !self.records.contains_key(&seq) {
            let (seqs, known) = (seq..seq + RECORDS_SEQS, &mut self.authorities);
            self.records = self.service.retired_events(self.ids, seqs, known)?;
        }
        let record = self.records.get(&seq).cloned();
        record.with_context(|| format!("the log has no record of the removal of event {seq}"))
    }

    fn part_at(&self, seq: u64) -> Option<&Part> {
        let (_, part) = self.parts.range(..=seq).next_back()?;
        Some(part).filter(|part| part.seqs.contains(&seq))
    }

    /// The event at a position of the older archive, if it has it.
    fn event(&mut self, seq: u64) -> anyhow::Result<Option<ArchivedEvent>> {
        let Some(part) = self.part_at(seq).cloned() else {
            return Ok(None);
        };
        let reading = match self.reading.take().filter(|reading| reading.part == part) {
            Some(reading) => self.reading.insert(reading),
            None => {
                let reading = self.read(part, seq)?;
                self.reading.insert(reading)
            }
        };
        let found = reading.event(seq);
        found.with_context(|| reading.part.file(&self.directory).display().to_string())
    }

    /// The manifest of a file, if it is of this log, with the newest checkpoint of the log: the key may have changed since.
    fn proven_manifest(&self, part: &Part) -> anyhow::Result<Manifest> {
        let text = part.read_manifest(&self.directory)?;
        let named = || part.manifest(&self.directory).display().to_string();
        let manifest = Manifest::parse(&text).with_context(named)?;
        if manifest.month != part.month || manifest.seqs != part.seqs {
            return Err(
                anyhow!("it is of another month or of other positions than its name").context(named()),
            );
        }
        if self.log.head().size < part.seqs.end {
            bail!(
                "{}: the log is signed up to {}, so the archive is not of this log",
                named(),
                self.log.head().size
            );
        }
        let (tree, consistency) = self.service.tree_of_log(&self.log, part.seqs.end)?;
        if manifest.log != self.log.log || tree.root() != manifest.root {
            bail!("{}: it has other events than the log", named());
        }
        Ok(Manifest {
            checkpoint: self.log.checkpoint.note().to_owned(),
            consistency,
            ..manifest
        })
    }

    /// Verifies a file, and begins to read it at a position.
    fn read(&self, part: Part, seq: u64) -> anyhow::Result<Reading> {
        let manifest = self.proven_manifest(&part)?;
        let path = part.file(&self.directory);
        let named = || path.display().to_string();
        let (frontier, _) = self.service.tree_of_log(&self.log, part.seqs.start)?;
        let mut chain = Chain::continued(self.log.log, frontier, manifest.previous);
        let opened = |_: &str| Ok(self.log.checkpoint.clone());
        let added = chain.add(
            &manifest.to_string(),
            File::open(&path).with_context(named)?,
            opened,
        );
        added.with_context(named)?;
        let (file, log) = (File::open(&path).with_context(named)?, self.log.log);
        let (sender, events) = sync_channel(AHEAD_EVENTS);
        let thread = std::thread::spawn(move || {
            read_events(file, &log, |event| match event.seq < seq {
                true => Ok(()),
                // The receiver was dropped: no further event is needed.
                false => sender
                    .send(event)
                    .map_err(|_| io::Error::from(io::ErrorKind::BrokenPipe).into()),
            })
        });
        Ok(Reading {
            part,
            events,
            thread: Some(thread),
            next: None,
        })
    }
}

impl Reading {
    /// The event at a position, which is not before the last one.
    fn event(&mut self, seq: u64) -> anyhow::Result<Option<ArchivedEvent>> {
        while self.next.as_ref().is_none_or(|next| next.seq < seq) {
            self.next = self.events.recv().ok();
            if self.next.is_none() {
                let ended = self.thread.take().map(JoinHandle::join);
                return match ended {
                    Some(Err(_)) => Err(anyhow!("it cannot be read")),
                    Some(Ok(read)) => Ok(read.map(|()| None)?),
                    None => Ok(None),
                };
            }
        }
        Ok(self.next.take_if(|next| next.seq == seq))
    }
}

impl Counts {
    pub(super) fn add(&mut self, more: Self) {
        self.events += more.events;
        self.masked += more.masked;
        self.whole += more.whole;
    }
}

impl LogArchive<'_> {
    /// The month of the file that begins at a position; `None` where the log has no event there or behind it. A removed event is of
    /// the month in which the older archive has it.
    pub(super) fn next_month(&self, seq: u64) -> anyhow::Result<Option<Month>> {
        if let Some(source) = &self.source
            && let Some(part) = source.borrow().part_at(seq)
            && self.is_removed(seq..seq + 1)?
        {
            return Ok(Some(part.month));
        }
        let next = self.service.next_logged_at(&self.log, seq)?;
        Ok(next.map(Month::of))
    }

    fn is_removed(&self, seqs: Range<u64>) -> anyhow::Result<bool> {
        let mut is_removed = false;
        self.service.logged_positions(&self.log, seqs, |_, position| {
            is_removed = matches!(position, LoggedPosition::Removed(_));
            Ok(std::ops::ControlFlow::Continue(()))
        })?;
        Ok(is_removed)
    }
}
