//! Signing checkpoints.
//!
//! The process that stored events signs them: each second it signs the ledgers that its own commits have extended. Ledgers
//! that a process left unsigned when it died are found by a scan of all ledgers, which every process does at its start and
//! then once a minute ([`AuditLog::sign_unsigned`]).
//!
//! A new checkpoint continues the last one that this node has signed or seen published ([`SignerMemory`]), and the one in the
//! database. The database is not trusted: a checkpoint that was removed from it or replaced by an older one is published again.
//!
//! The proof that it continues them comes from the stored rows, or from the trees of this process's own commits
//! ([`Evidence`]).
//!
//! Signing locks nothing that a commit needs. Head and published checkpoint are read in one snapshot; the new checkpoint is
//! proven, signed, remembered on disk, and stored only if the published one is still the same. A checkpoint that loses this
//! race is discarded unpublished.

mod evidence;
pub(super) mod process;

use super::head_of;
use super::memory::{Change, Remembered, Signed};
use super::signer::LogSigner;
use crate::error::{AppError, Result};
use crate::service::AuditLog;
use audit_domain::Timestamp;
use audit_ledger::{Checkpoint, Frontier, Origin, SignedCheckpoint, TreeHead};
use audit_store::{CheckpointRow, LedgerId, NewCheckpoint, SigningState, StoreError};
use evidence::Evidence;
use std::collections::BTreeSet;
use std::sync::atomic::Ordering;

/// The maximum number of checkpoints that one transaction stores.
const TRANSACTION_CHECKPOINTS_MAX: usize = 100;
/// The maximum number of checkpoints that are remembered with one sync of the state file.
const ROUND_CHECKPOINTS_MAX: usize = 1_000;
/// How often a checkpoint is signed on demand while other processes replace the one that it continues.
const ATTEMPTS_MAX: u32 = 10;

/// What to do for a log.
enum Next {
    Step(Box<Step>),
    /// The log does not continue its last checkpoint.
    Refused(AppError),
}

/// How a log gets its latest checkpoint.
struct Step {
    ledger_id: LedgerId,
    /// To be remembered, before it is published.
    remembered: Option<Change>,
    /// To be published.
    published: Option<NewCheckpoint>,
    /// The latest checkpoint afterwards.
    checkpoint: CheckpointRow,
}

impl AuditLog {
    /// Signs a checkpoint of every log that this process has extended since the last call. Call it every second, and once
    /// more after the last request.
    ///
    /// # Errors
    /// When the database or the state file cannot be used. The remaining checkpoints are then signed by the next call.
    pub fn sign_checkpoints(&self) -> Result<()> {
        let extended = self.store.take_extended_ledgers();
        let ledger_ids: Vec<LedgerId> = extended.iter().copied().collect();
        let read = self.signing.turns.next(&ledger_ids);
        let outcome = self.sign_ledgers(&ledger_ids, |ledger_id| match read.contains(&ledger_id) {
            true => Evidence::Rows,
            false => Evidence::Memory,
        });
        match outcome {
            Ok(()) => {
                let now = self.clock.now().as_seconds();
                self.signing.last_round_seconds.store(now, Ordering::Relaxed);
            }
            Err(_) => self.store.return_extended_ledgers(extended),
        }
        self.signing.rounds.send_modify(|rounds| *rounds += 1);
        outcome
    }

    /// Signs the logs that no living process signs: those whose process ended before it signed its last commits. Looks at a
    /// part of all ledgers, behind `after`; returns where the next part begins, `None` when this was the last one. Logs that
    /// received an event less than `settled_seconds` ago are left to the process that stored it; `None` leaves out none.
    ///
    /// # Errors
    /// When the database or the state file cannot be used.
    pub fn sign_unsigned(
        &self,
        after: Option<LedgerId>,
        settled_seconds: Option<u32>,
    ) -> Result<Option<LedgerId>> {
        let now = self.clock.now();
        let received_before = settled_seconds.map(|seconds| now.plus_seconds(-i64::from(seconds)));
        let unsigned = self
            .store
            .read(|reader| reader.unsigned_ledgers(after, received_before))?;
        let mut ledger_ids: BTreeSet<LedgerId> = unsigned.ledger_ids.into_iter().collect();
        if after.is_none() {
            // The size of a log that does not continue its checkpoint may be that of the checkpoint.
            ledger_ids.extend(self.signing.refused.lock().iter());
        }
        self.sign_ledgers(&ledger_ids.into_iter().collect::<Vec<_>>(), |_| Evidence::Leaves)?;
        Ok(unsigned.last)
    }

    /// Stops logs that are smaller than they were when they could not be signed, before the first request. Call it before
    /// that.
    ///
    /// # Errors
    /// When the database cannot be used.
    pub fn load_remembered(&self) -> Result<()> {
        let memory = self.signing.memory().ok().filter(|memory| !memory.is_new());
        let (Some(memory), Some(signer)) = (memory, self.stored_log_signer()?) else {
            return Ok(());
        };
        for (ledger_id, name) in self.store.read(|reader| reader.ledger_names())? {
            let known = memory.get(signer.origin(&name)?.as_str());
            self.store.note_size(ledger_id, known.unsigned_size());
        }
        Ok(())
    }

    /// Checks that each log still continues the checkpoint that this node knows, whether or not the log has grown. Without this
    /// check, a database that lost its latest commits would look consistent: its older checkpoints match its older rows. Call it
    /// at the start. Looks at a part of all ledgers, behind `after`; returns where the next part begins, `None` when this was the
    /// last one.
    ///
    /// # Errors
    /// When the database or the state file cannot be used.
    pub fn check_remembered(&self, after: Option<LedgerId>) -> Result<Option<LedgerId>> {
        if self.signing.memory()?.is_new() {
            return Ok(None);
        }
        let scanned = self.store.read(|reader| reader.ledgers_with_events(after))?;
        for ledger_ids in scanned.ledger_ids.chunks(TRANSACTION_CHECKPOINTS_MAX) {
            // The first use creates the key of a log, so that a log without events has none.
            let (signer, now) = (self.log_signer()?, self.clock.now());
            for state in self.store.read(|reader| reader.signing_states(ledger_ids))? {
                let known = self.signing.memory()?.get(signer.origin(&state.name)?.as_str());
                if known.size() > 0 {
                    // It notes what it finds. What has grown is signed by the next round.
                    self.next_checkpoint(&state, signer, now, Evidence::Leaves)?;
                }
            }
        }
        Ok(scanned.last)
    }

    /// When this process last had every log signed that it has extended, in seconds since the Unix epoch; 0 for never. Logs that
    /// are not signed because they are inconsistent do not count.
    pub fn last_signing_seconds(&self) -> i64 {
        let of = |service: &Self| service.signing.last_round_seconds.load(Ordering::Relaxed);
        let cells = self.cells.opened();
        cells.iter().map(|cell| of(cell)).fold(of(self), i64::min)
    }

    /// The number of logs that are not signed, because they do not continue their last checkpoint.
    pub fn inconsistent_logs(&self) -> usize {
        let of_cells = self.cells.opened();
        let of_cells: usize = of_cells.iter().map(|cell| cell.inconsistent_logs()).sum();
        self.signing.refused.lock().len() + of_cells
    }

    /// The number of logs that take no events, because the service did not write their heads.
    pub fn forged_heads(&self) -> usize {
        let of_cells = self.cells.opened();
        let of_cells: usize = of_cells.iter().map(|cell| cell.forged_heads()).sum();
        self.store.forged_heads() + of_cells
    }

    /// How often a log was found not to continue its last checkpoint, or without the checkpoint that it should have, or with a row of
    /// an idempotency key that the service did not write, or missing in the cell of its project.
    pub fn log_alarms(&self) -> u64 {
        let of_cells = self.cells.opened();
        let of_cells: u64 = of_cells.iter().map(|cell| cell.log_alarms()).sum();
        self.signing.alarms.load(Ordering::Relaxed)
            + self.store.row_alarms()
            + self.cells.missing()
            + of_cells
    }

    /// Signs these ledgers, which are in order, if they have grown.
    fn sign_ledgers(&self, ledger_ids: &[LedgerId], evidence: impl Fn(LedgerId) -> Evidence) -> Result<()> {
        for ledger_ids in ledger_ids.chunks(ROUND_CHECKPOINTS_MAX) {
            let mut steps = Vec::new();
            for ledger_ids in ledger_ids.chunks(TRANSACTION_CHECKPOINTS_MAX) {
                let states = self.store.read(|reader| reader.signing_states(ledger_ids))?;
                let (signer, now) = (self.log_signer()?, self.clock.now());
                for state in states {
                    let evidence = evidence(state.ledger_id);
                    if let Next::Step(step) = self.next_checkpoint(&state, signer, now, evidence)? {
                        self.tenant_maps.note_signed(step.ledger_id, step.checkpoint.size);
                        steps.push(*step);
                    }
                }
            }
            // Another process or thread was faster. Its checkpoint may cover less.
            let missed = self.carry_out(steps)?;
            self.store.return_extended_ledgers(missed);
        }
        Ok(())
    }

    /// A checkpoint that covers at least the first `size` events of the log with this name (project and environment): the
    /// last one, or a new one. The last one may be remembered and not stored yet: a request does not wait for the writer with a thread
    /// of this process that does.
    ///
    /// # Errors
    /// [`AppError::LogInconsistent`] when the log does not continue its last checkpoint.
    pub(super) fn covering_checkpoint(
        &self,
        ledger_id: LedgerId,
        name: &str,
        size: u64,
    ) -> Result<CheckpointRow> {
        let signer = self.log_signer()?;
        let origin = signer.origin(name)?;
        for _ in 0..ATTEMPTS_MAX {
            let states = self.store.read(|reader| reader.signing_states(&[ledger_id]))?;
            let state = states.into_iter().next();
            let state = state.ok_or_else(|| AppError::from(StoreError::Damaged { what: "ledger" }))?;
            if state.name != name {
                let what = "name of a ledger";
                return Err(AppError::inconsistent(StoreError::Damaged { what }));
            }
            // Another process or thread may have signed it meanwhile.
            let known = self.signing.known(&origin);
            let current = |last: &&CheckpointRow| last.size >= size && signer.has_signed(&last.note);
            if let Some(last) = state.checkpoint.as_ref().filter(current)
                && known.as_deref() == Some(&last.note)
            {
                return Ok(last.clone());
            }
            let now = self.clock.now();
            let known = known.filter(|note| self.signing.is_in_hand(ledger_id) && signer.has_signed(note));
            if let Some(note) = known {
                let covered = head_of(&note)?.size;
                if covered >= size {
                    let note = note.to_string();
                    return Ok(CheckpointRow {
                        size: covered,
                        note,
                        signed_at: now,
                    });
                }
            }
            let step = match self.next_checkpoint(&state, signer, now, Evidence::Rows)? {
                Next::Refused(error) => return Err(error),
                Next::Step(step) => *step,
            };
            let checkpoint = step.checkpoint.clone();
            if self.carry_out(vec![step])?.is_empty() {
                return Ok(checkpoint);
            }
        }
        Err(StoreError::Stale.into())
    }

    /// Remembers and publishes checkpoints. Returns the ledgers for which another process or thread was faster.
    fn carry_out(&self, steps: Vec<Step>) -> Result<BTreeSet<LedgerId>> {
        let (changing, current): (Vec<Step>, Vec<Step>) =
            steps.into_iter().partition(|step| step.remembered.is_some());
        let changes: Vec<Change> = changing
            .iter()
            .filter_map(|step| step.remembered.clone())
            .collect();
        let in_hand = changing.iter().map(|step| step.ledger_id).collect();
        let _in_hand = self.signing.take_in_hand(in_hand);
        let is_first = |step: &&Step| {
            step.remembered
                .as_ref()
                .is_some_and(|change| change.before.signed.is_none())
        };
        let first = changing.iter().filter(is_first).map(|step| step.ledger_id);
        self.signing.begin_publishing(first);
        let remembered = self.signing.memory()?.commit(&changes);
        let remembered = remembered.map_err(AppError::internal)?;
        let overtaken = changing.iter().zip(&remembered);
        let overtaken = overtaken.filter(|(step, is_remembered)| !**is_remembered && is_first(step));
        self.signing
            .end_publishing(overtaken.map(|(step, _)| step.ledger_id));
        let mut missed = BTreeSet::new();
        let mut published = Vec::new();
        let remembered = remembered.into_iter().chain(current.iter().map(|_| true));
        for (step, is_remembered) in changing.iter().chain(&current).zip(remembered) {
            match is_remembered {
                true => {
                    self.store
                        .forget_smaller_trees(step.ledger_id, step.checkpoint.size);
                    published.extend(step.published.clone());
                }
                false => drop(missed.insert(step.ledger_id)),
            }
        }
        for new in published.chunks(TRANSACTION_CHECKPOINTS_MAX) {
            missed.extend(new.iter().map(|new| new.ledger_id));
            let stored = new.to_vec();
            let done = self
                .store
                .write(move |writer| writer.publish_checkpoints(&stored).map_err(AppError::from))?;
            missed.retain(|ledger_id| !done.contains(ledger_id));
            // Where it was not stored, another one is there already.
            self.signing.end_publishing(new.iter().map(|new| new.ledger_id));
            let published = new.iter().filter(|new| done.contains(&new.ledger_id));
            self.witnessing.submit(published);
        }
        let signed = changing.iter().chain(&current).map(|step| step.ledger_id);
        signed
            .filter(|ledger_id| !missed.contains(ledger_id))
            .for_each(|ledger_id| self.store.note_signed(ledger_id));
        Ok(missed)
    }

    /// What to do for the log in this state. Notes whether it continues its last checkpoint.
    fn next_checkpoint(
        &self,
        state: &SigningState,
        signer: &LogSigner,
        now: Timestamp,
        evidence: Evidence,
    ) -> Result<Next> {
        let memory = self.signing.memory()?;
        let origin = signer.origin(&state.name)?;
        let known = memory.get(origin.as_str());
        // One that is being published need not be there yet.
        let lacks_known = |state: &SigningState| {
            let note = known.note().map(|note| &**note);
            note.is_some()
                && state.checkpoint.as_ref().is_none_or(|row| {
                    note != Some(row.note.as_str()) && signer.open(&row.note, &origin).is_err()
                })
                && !self.signing.is_publishing(state.ledger_id)
        };
        // The rows of a log that was refused must be right again.
        let is_refused = self.signing.refused.lock().contains(&state.ledger_id);
        let evidence = match evidence {
            Evidence::Memory if is_refused => Evidence::Rows,
            evidence => evidence,
        };
        let step_of = |state: &SigningState| self.step(state, &origin, signer, known.clone(), now, evidence);
        let mut step = step_of(state);
        let mut is_lost = lacks_known(state);
        let mut sealed = state.frontier.as_ref().map(Frontier::head);
        if is_lost || matches!(step, Err(AppError::LogInconsistent(_))) {
            // Another thread may have signed a later head after `state` was read. One read now is not older than `known`.
            let ledger_ids = [state.ledger_id];
            let states = self.store.read(|reader| reader.signing_states(&ledger_ids))?;
            if let [state] = states.as_slice() {
                step = step_of(state);
                is_lost = lacks_known(state);
                sealed = state.frontier.as_ref().map(Frontier::head);
            }
        }
        if is_lost {
            self.signing.note_lost(&origin);
        }
        let next = match step {
            // A log that was tampered with must not prevent signing the others.
            Err(AppError::LogInconsistent(error) | AppError::Internal(error)) => {
                Next::Refused(AppError::LogInconsistent(error))
            }
            step => Next::Step(Box::new(step?)),
        };
        if matches!(next, Next::Refused(_)) {
            // One that was refused before this process began has had its time.
            let stops_now = !is_refused && !known.unsigned.is_empty();
            self.store.note_refused(state.ledger_id, stops_now);
            // Its rows are read until they are right again.
            self.store.forget_smaller_trees(state.ledger_id, u64::MAX);
            // The service wrote this head, and may have acknowledged its events.
            let sealed = sealed.map(|head| memory.acknowledge(origin.as_str(), head));
            sealed.transpose().map_err(AppError::internal)?;
            let unsigned_size = memory.get(origin.as_str()).unsigned_size();
            self.store.note_size(state.ledger_id, unsigned_size);
        }
        let refusal = match &next {
            Next::Refused(error) => Some(error),
            Next::Step(_) => None,
        };
        self.signing.note(state.ledger_id, &origin, refusal);
        Ok(next)
    }

    fn step(
        &self,
        state: &SigningState,
        origin: &Origin,
        signer: &LogSigner,
        before: Remembered,
        now: Timestamp,
        evidence: Evidence,
    ) -> Result<Step> {
        let damaged = || {
            AppError::inconsistent(StoreError::Damaged {
                what: "edge of a tree",
            })
        };
        let tree = state.frontier.as_ref().ok_or_else(damaged)?;
        let head = tree.head();
        let open = |note: &str| signer.open(note, origin).map_err(AppError::inconsistent);
        let known = before.note().map(|note| open(note)).transpose()?;
        let published = match (&state.checkpoint, &known) {
            // Verifying a signature costs more than everything else here.
            (Some(row), Some(known)) if row.note == known.note() => Some(known.clone()),
            // The node knows what it has signed.
            (Some(row), Some(_)) => open(&row.note).ok(),
            (row, None) => row.as_ref().map(|row| open(&row.note)).transpose()?,
            (None, Some(_)) => None,
        };
        let known_head = known.as_ref().map(|known| *known.head());
        let published_head = published.as_ref().map(|published| *published.head());
        let other_published = published_head.filter(|_| published_head != known_head);
        let earlier = known_head.into_iter().chain(other_published);
        let earlier: Vec<TreeHead> = earlier.chain(before.unsigned.iter().copied()).collect();
        let edge = before.signed.as_ref().map(|signed| &signed.tree);
        self.check_continues(state.ledger_id, edge, &earlier, tree, evidence)?;
        // Signed again only when neither is that of the tree, or the key was rotated since.
        let is_current =
            |signed: &SignedCheckpoint| *signed.head() == head && signer.has_signed(signed.note());
        let (is_published, is_known) = (
            published.as_ref().is_some_and(is_current),
            known.as_ref().is_some_and(is_current),
        );
        let signed = match (published, known) {
            (Some(published), _) if is_published => published,
            (_, Some(known)) if is_known => known,
            _ => signer.sign(Checkpoint::new(origin.clone(), head))?,
        };
        let checkpoint = match state.checkpoint.as_ref().filter(|row| row.note == signed.note()) {
            Some(row) => row.clone(),
            None => CheckpointRow {
                size: head.size,
                note: signed.note().to_owned(),
                signed_at: now,
            },
        };
        let change = || Change {
            origin: origin.as_str().into(),
            before,
            signed: Signed {
                note: signed.note().into(),
                tree: tree.clone(),
            },
        };
        Ok(Step {
            ledger_id: state.ledger_id,
            remembered: (!is_known).then(change),
            published: (!is_published).then(|| NewCheckpoint {
                ledger_id: state.ledger_id,
                last: state.checkpoint.clone(),
                checkpoint: checkpoint.clone(),
            }),
            checkpoint,
        })
    }
}
