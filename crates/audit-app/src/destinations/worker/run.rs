//! A leased run: it sends batches until none is left, its time has expired, or an attempt has failed.
//!
//! 1. The plan of a batch is committed, with what the batch is made of.
//! 2. The batch is sent.
//! 3. Its outcome is committed, and the plan is removed.
//!
//! A process that ends between 1 and 3 has perhaps sent it. The next lease makes the same batch of the plan. Each commit names the lease: a
//! node that was slow, and whose run another node has leased since, changes nothing.

use super::batch::{NOTE_SET_ASIDE_MAX, Next, Prepared, Stream};
use super::outcome::{Failed, Lease, Outcome, set_aside};
use super::plan::{self, Circumstances};
use super::planned::{Plan, planned};
use super::{Transport, Worker};
use crate::destinations::filter::fingerprint_of;
use crate::destinations::{damaged, open_config};
use crate::error::{AppError, Result};
use crate::self_audit::{Changed, Requester};
use crate::service::AuditLog;
use crate::turns::{CredentialOwner, Member};
use audit_destinations::{Attempt, RunState, Verdict, too_large};
use audit_domain::{OrganizationId, ProjectId, Timestamp};
use audit_store::{DestinationRunRow, DueRun, Reader, StoreError};
use std::time::{Duration, Instant};
use tokio::runtime::{Builder, Runtime};

/// How long a run is leased, in seconds. Each commit renews it. An attempt takes at most twice the timeout of the sender.
const LEASE_SECONDS: i64 = 60;
const _: () = assert!(LEASE_SECONDS < audit_store::TIME_AHEAD_SECONDS_MAX);
/// How long a run goes on before others get its lane.
const RUN_TIME: Duration = Duration::from_secs(20);
/// The delay of a batch that was not sent because too many names are being looked up, in seconds.
const POSTPONED_SECONDS: i64 = 5;
/// While events are stored, a run pauses for this many times the duration of its last read.
const PAUSE_FACTOR: u32 = 4;
/// The longest of these pauses: the lease goes on.
const PAUSE_MAX: Duration = Duration::from_secs(5);

/// A run that this node has leased.
pub(super) struct LeasedRun<'a> {
    service: &'a AuditLog,
    worker: &'a Worker,
    transport: &'a dyn Transport,
    /// Waits for turns.
    runtime: Runtime,
    project_id: ProjectId,
    owner: CredentialOwner,
    destination_id: String,
    number: i64,
    lease: Lease,
    until: Instant,
    /// The duration of the last attempt.
    took: Duration,
    /// The number of events that this process had stored at the last read.
    stored_events: u64,
}

/// An attempt that decides what follows.
struct Sent {
    attempt: Attempt,
    /// The attempt before it: the receiver has refused the present credentials, and taken the batch with the previous ones.
    refusal: Option<Attempt>,
    /// Whether the present configuration has worked, and replaces the previous one.
    is_confirmed: bool,
}

/// Leases a due run and delivers its events. Does nothing if another node is faster. Returns the duration of the last attempt.
pub(super) fn deliver(service: &AuditLog, transport: &dyn Transport, due: &DueRun) -> Result<Duration> {
    let Some(mut run) = LeasedRun::lease(service, transport, due)? else {
        return Ok(Duration::ZERO);
    };
    match run.deliver() {
        Ok(()) => Ok(run.took),
        Err(error) => {
            run.fail(&error)?;
            Err(error)
        }
    }
}

impl<'a> LeasedRun<'a> {
    fn lease(service: &'a AuditLog, transport: &'a dyn Transport, due: &DueRun) -> Result<Option<Self>> {
        let project_id: ProjectId = due.destination.project_id.parse().map_err(|_| damaged())?;
        let organization_id: OrganizationId = due.organization_id.parse().map_err(|_| damaged())?;
        let runtime = Builder::new_current_thread().enable_time().build();
        let (lease, now): (Lease, _) = (service.entropy.bytes(), service.clock.now());
        let (id, number) = (due.destination.id.clone(), due.run.number);
        let run = Self {
            service,
            worker: &service.destination_worker,
            transport,
            runtime: runtime.map_err(AppError::internal)?,
            project_id,
            owner: CredentialOwner {
                organization_id,
                member: Member::Tenant(project_id, id.as_str().into()),
            },
            destination_id: id.clone(),
            number,
            lease,
            until: Instant::now() + RUN_TIME,
            took: Duration::ZERO,
            stored_events: service.store.statistics().events,
        };
        let until = now.plus_seconds(LEASE_SECONDS);
        let leased = service.store.write_for(project_id, move |writer| {
            writer.lease_destination_run(&id, number, now, until, &lease)
        });
        Ok(leased?.then_some(run))
    }

    fn deliver(&mut self) -> Result<()> {
        while let Some(stream) = self.load()? {
            let is_leased = match stream.destination.paused {
                true => self.commit(stream.run, Outcome::default(), false)?,
                false => self.advance(stream)?,
            };
            if !is_leased {
                return Ok(());
            }
        }
        Ok(())
    }

    /// The run as it is now; `None` when it was deleted or another node has leased it.
    fn load(&self) -> Result<Option<Stream>> {
        self.service.store.read(|reader| {
            let runs = reader.destination_runs(&self.destination_id)?;
            let is_leased = |run: &DestinationRunRow| {
                run.number == self.number && run.lease.as_deref() == Some(self.lease.as_slice())
            };
            let run = runs.into_iter().find(is_leased);
            let destination = reader.destination(self.project_id, &self.destination_id)?;
            let Some((destination, run)) = destination.zip(run) else {
                return Ok(None);
            };
            let after = Some((run.number, run.checkpoint_position));
            let mut set_aside = reader.set_aside(&destination.id, after, NOTE_SET_ASIDE_MAX as i64)?;
            set_aside.retain(|row| row.run == run.number && row.position <= run.position);
            let keys = &self.service.settings.encryption;
            let config = open_config(&destination.config, &destination, keys);
            Ok(Some(Stream {
                kind: destination.kind.parse().map_err(|_| damaged())?,
                set_aside,
                settings: config.ok().map(|config| fingerprint_of(&config.settings())),
                destination,
                run,
            }))
        })
    }

    /// Whether the run may go on with another batch.
    fn has_time(&self) -> bool {
        Instant::now() < self.until && !self.worker.wake.is_stopping()
    }

    /// Delivers one batch. Returns whether the run is still leased, to go on.
    fn advance(&mut self, mut stream: Stream) -> Result<bool> {
        let now = self.service.clock.now();
        let next = match planned(&stream.run) {
            None => Some(self.plan(&mut stream, now)?),
            Some(plan) => self.plan_again(&stream, plan)?,
        };
        match next {
            Some(Next::Send(prepared)) => self.attempt(&stream, &prepared),
            Some(Next::Skip { next_seq, has_more }) => self.skip(stream.run, next_seq, has_more),
            Some(Next::Missing { seq }) => {
                log::error!(
                    "events are missing from the log of destination {} at {seq}",
                    self.destination_id
                );
                let reason = format!("not sent: events are missing from the log at position {seq}");
                let error = plan::described(&not_sent(Verdict::Refused, reason), now);
                let outcome = Outcome {
                    notices: vec![plan::park(&mut stream.run, error)],
                    ..Outcome::default()
                };
                self.commit(stream.run, outcome, false)
            }
            None => {
                log::warn!(
                    "a batch of destination {} is planned anew: its settings or its events are others",
                    self.destination_id
                );
                stream.run.planned = None;
                self.commit(stream.run, Outcome::default(), true)
            }
        }
    }

    /// Goes on behind events that the filter leaves out.
    fn skip(&self, mut run: DestinationRunRow, next_seq: u64, has_more: bool) -> Result<bool> {
        let is_further = next_seq.cast_signed() > run.cursor_seq;
        run.cursor_seq = next_seq.cast_signed();
        let mut outcome = Outcome::default();
        if !has_more {
            run.planned = None;
            outcome.notices.extend(plan::caught_up(&mut run));
        }
        let needs_checkpoint = plan::is_checkpoint_due(&run, self.service.clock.now());
        let goes_on = is_further && (has_more || needs_checkpoint) && self.has_time();
        self.commit(run, outcome, goes_on)
    }

    /// Makes a batch and commits its plan.
    fn plan(&mut self, stream: &mut Stream, now: Timestamp) -> Result<Next> {
        let mut checkpoint = None;
        if plan::is_checkpoint_due(&stream.run, now) {
            let next = self.read(|reader| stream.read_next(reader, 1))?;
            checkpoint = stream.prepare_checkpoint(self.service, next, now)?;
        }
        let next = match checkpoint {
            Some(prepared) => Next::Send(Box::new(prepared)),
            None => {
                let records = stream.batch_max();
                let found = self.read(|reader| stream.read_next(reader, records))?;
                stream.prepare(found, now)?
            }
        };
        if let Next::Send(prepared) = &next {
            stream.run.planned = Some(prepared.plan.to_text());
            if !self.commit(stream.run.clone(), Outcome::default(), true)? {
                return Err(AppError::Unavailable(StoreError::Stale));
            }
        }
        Ok(next)
    }

    /// Makes the batch of a plan; `None` where it must be planned anew.
    fn plan_again(&mut self, stream: &Stream, plan: Option<Plan>) -> Result<Option<Next>> {
        let Some(plan) = plan.filter(|plan| stream.has_settings_of(plan)) else {
            return Ok(None);
        };
        let found = self.read(|reader| stream.read_planned(reader, &plan))?;
        let prepared = stream.prepare_again(plan, found)?;
        Ok(prepared.map(|prepared| Next::Send(Box::new(prepared))))
    }

    /// Reads in the turn of the organization, and pauses while events are stored: exports do the same.
    fn read<T>(&mut self, work: impl FnMut(&mut Reader<'_>) -> Result<T>) -> Result<T> {
        let turn = self.runtime.block_on(self.worker.reads.take(&self.owner))?;
        let session = self
            .runtime
            .block_on(self.service.turns.sessions.take(&self.owner))?;
        let started = Instant::now();
        let found = self.service.store.query(work);
        drop(session);
        let statistics = self.service.store.statistics();
        if statistics.events != self.stored_events || statistics.queue_depth > 0 {
            let pause = started.elapsed() * PAUSE_FACTOR;
            self.worker.wake.pause(pause.min(PAUSE_MAX));
        }
        self.stored_events = statistics.events;
        // Others read only after the pause.
        drop(turn);
        found
    }

    /// Sends a batch whose plan is committed, and commits what follows.
    fn attempt(&mut self, stream: &Stream, prepared: &Prepared) -> Result<bool> {
        let sent = self.send(stream, prepared);
        let now = self.service.clock.now();
        let Some(sent) = sent else {
            log::warn!("a batch is postponed: too many DNS lookups are in flight");
            let run = DestinationRunRow {
                next_attempt_at: now.plus_seconds(POSTPONED_SECONDS).as_micros(),
                ..stream.run.clone()
            };
            return self.commit(run, Outcome::default(), false);
        };
        let (attempt, destination) = (&sent.attempt, &stream.destination);
        let mut step = plan::after(
            &stream.run,
            &prepared.batched,
            &attempt.verdict,
            &facts(stream, now),
        );
        if attempt.verdict != Verdict::Delivered {
            step.run.last_error = Some(plan::described(attempt, now));
        } else if let Some(refusal) = &sent.refusal {
            step.with_refused_credentials(&stream.run, plan::described(refusal, now));
        }
        self.worker.counters.note(&stream.run, &step);
        // The same batch waits, or nothing more is sent.
        let waits = step.run.planned == stream.run.planned || plan::state(&step.run) == RunState::Parked;
        let outcome = Outcome {
            set_aside: match step.is_set_aside {
                true => Some(set_aside(stream, prepared, &attempt.response, now)?),
                false => None,
            },
            notices: step.notices,
            confirmed: sent.is_confirmed.then(|| destination.config.clone()),
            failed: waits.then(|| Failed {
                config: destination.config.clone(),
                before: stream.run.clone(),
                at: now,
            }),
        };
        // Without progress the batch is planned anew.
        let has_more = prepared.batched.has_more || step.run.position == stream.run.position;
        let needs_checkpoint = plan::is_checkpoint_due(&step.run, now);
        let goes_on = !waits && (has_more || needs_checkpoint) && self.has_time();
        self.commit(step.run, outcome, goes_on)
    }

    /// `None` when nothing was sent for a reason that is not the receiver's.
    fn send(&mut self, stream: &Stream, prepared: &Prepared) -> Option<Sent> {
        let destination = &stream.destination;
        let attempt = self.send_with(stream, prepared, &destination.config)?;
        let is_replaced = destination.previous_config.is_some();
        if let (Verdict::Credentials, Some(previous)) = (&attempt.verdict, &destination.previous_config) {
            let other = self.send_with(stream, prepared, previous)?;
            // Anything else says nothing of the present credentials.
            if other.verdict == Verdict::Delivered {
                return Some(Sent {
                    attempt: other,
                    refusal: Some(attempt),
                    is_confirmed: false,
                });
            }
        }
        Some(Sent {
            is_confirmed: is_replaced && attempt.verdict == Verdict::Delivered,
            attempt,
            refusal: None,
        })
    }

    fn send_with(&mut self, stream: &Stream, prepared: &Prepared, config: &[u8]) -> Option<Attempt> {
        let mut records = prepared.batch.records.iter();
        if let Some(record) = records.find(|record| too_large(stream.kind, record)) {
            // Some receivers would cut it and say nothing.
            let bytes = record.text.len();
            let reason = format!("not sent: a record of {bytes} bytes is too large for the receiver");
            return Some(not_sent(Verdict::Refused, reason));
        }
        let keys = &self.service.settings.encryption;
        match open_config(config, &stream.destination, keys) {
            Ok(config) => {
                let started = Instant::now();
                let now = self.service.clock.now();
                let sent = self.transport.send(&config, &prepared.batch, now);
                self.took = started.elapsed();
                sent.ok()
            }
            Err(error) => Some(not_sent(
                Verdict::Retry { after: None },
                format!("not sent: {error}"),
            )),
        }
    }

    /// Waits after an error of the service, as after a failed attempt.
    fn fail(&self, error: &AppError) -> Result<()> {
        let Some(stream) = self.load()? else {
            return Ok(());
        };
        let now = self.service.clock.now();
        let next = self.service.store.query(|reader| stream.read_next(reader, 1));
        let received = next.and_then(|next| next.received()).ok().flatten();
        let mut step = plan::after_error(&stream.run, received, &facts(&stream, now));
        let attempt = not_sent(Verdict::Retry { after: None }, format!("not sent: {error}"));
        step.run.last_error = Some(plan::described(&attempt, now));
        let outcome = Outcome {
            notices: step.notices,
            ..Outcome::default()
        };
        self.commit(step.run, outcome, false)?;
        Ok(())
    }

    /// Writes the run, and what belongs to it, if this node still has the lease. `keeps` renews the lease; otherwise it ends with this.
    /// Returns whether this node has the lease now. The row of a replay that has nothing left to do is deleted.
    fn commit(&self, mut run: DestinationRunRow, mut outcome: Outcome, keeps: bool) -> Result<bool> {
        let (lease, project_id, is_finished) = (self.lease, self.project_id, plan::is_finished(&run));
        let keeps = keeps && !is_finished;
        let until = self.service.clock.now().plus_seconds(LEASE_SECONDS);
        run.leased_until = if keeps { until.as_micros() } else { 0 };
        run.lease = keeps.then(|| lease.to_vec());
        let is_written = match outcome.is_plain() && !is_finished {
            true => self
                .service
                .store
                .write_for(project_id, move |writer| outcome.write(writer, &lease, &run))?,
            false => self
                .service
                .change_project(project_id, &Requester::Service, move |configurator| {
                    let destination = configurator.destination(project_id, &run.destination_id)?;
                    let Some(destination) = destination else {
                        return Ok(Changed::nothing(false));
                    };
                    run = outcome.at_commit(&destination, run);
                    if !outcome.write(configurator, &lease, &run)? {
                        return Ok(Changed::nothing(false));
                    }
                    if is_finished {
                        configurator.delete_destination_run(&run.destination_id, run.number)?;
                    }
                    Ok(Changed::by_all(true, outcome.events(&destination)))
                })?,
        };
        Ok(is_written && keeps)
    }
}

fn facts(stream: &Stream, now: Timestamp) -> Circumstances {
    // Where checkpoints fail, their time goes on without them, and the next notice is due. Beyond what a note names, it stays at one.
    let is_recent = |at: i64| at >= stream.run.checkpoint_at;
    let is_full = stream.set_aside.len() == NOTE_SET_ASIDE_MAX;
    Circumstances {
        now,
        created_at: Timestamp::from_micros(stream.destination.created_at),
        records_max: stream.records_max(),
        has_set_aside: is_full || stream.set_aside.iter().any(|row| is_recent(row.at)),
    }
}

/// An attempt that does not come to the receiver.
fn not_sent(verdict: Verdict, reason: String) -> Attempt {
    Attempt {
        verdict,
        status: None,
        request: String::new(),
        response: reason,
    }
}
