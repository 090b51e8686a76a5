//! A leased run: batch after batch until nothing is left, its time is over, or it has to wait.
//!
//! 1. The plan of a batch is committed, with what the batch is made of.
//! 2. The batch is sent.
//! 3. Its outcome is committed, and the plan is removed.
//!
//! A process that ends between 1 and 3 has perhaps sent it. The next lease makes the same batch of the plan. Each commit names the lease: a
//! node that was slow, and whose run another node has leased since, changes nothing.

use super::batch::{Next, Prepared, Stream};
use super::plan::{self, Circumstances, Notice, Plan, Step};
use super::{Transport, Worker};
use crate::destinations::{damaged, open_config};
use crate::error::{AppError, Result};
use crate::self_audit::{Changed, Requester, ServiceAction, ServiceEvent};
use crate::service::AuditLog;
use crate::turns::{CredentialOwner, Member};
use audit_destinations::{Attempt, RunState, Verdict, too_large};
use audit_domain::{OrganizationId, ProjectId, Timestamp};
use audit_store::{DestinationRow, DestinationRunRow, DueRun, Reader, SetAsideRow, StoreError, Writer};
use serde_json::json;
use std::time::{Duration, Instant};
use tokio::runtime::{Builder, Runtime};

/// How long a run is leased, in seconds. Each commit renews it. An attempt takes at most twice the timeout of the sender.
const LEASE_SECONDS: i64 = 60;
/// How long a run goes on before others get its lane.
const RUN_TIME: Duration = Duration::from_secs(20);
/// The delay of a batch that was not sent because too many names are being looked up, in seconds.
const POSTPONED_SECONDS: i64 = 5;
/// While events are stored, a run pauses for this many times the duration of its last read.
const PAUSE_FACTOR: u32 = 4;
/// The longest of these pauses: the lease goes on.
const PAUSE_MAX: Duration = Duration::from_secs(5);

type Lease = [u8; 16];

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
    /// The number of events that this process had stored at the last read.
    stored_events: u64,
}

/// What is written with a run after an attempt.
#[derive(Default)]
struct Outcome {
    set_aside: Vec<SetAsideRow>,
    events: Vec<ServiceEvent>,
    /// The configuration that is known to work now.
    confirmed: Option<Vec<u8>>,
}

/// An attempt, and whether the present configuration has worked.
struct Sent {
    attempt: Attempt,
    is_confirmed: bool,
}

/// Leases a due run and delivers its events. Does nothing if another node is faster.
pub(super) fn deliver(service: &AuditLog, transport: &dyn Transport, due: &DueRun) -> Result<()> {
    let Some(mut run) = LeasedRun::lease(service, transport, due)? else {
        return Ok(());
    };
    let outcome = run.deliver();
    if outcome.is_err() {
        // Otherwise the run waits for the end of the lease.
        run.release()?;
    }
    outcome
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
            let (after, to) = (run.checkpoint_position, run.position);
            Ok(Some(Stream {
                kind: destination.kind.parse().map_err(|_| damaged())?,
                set_aside: reader.set_aside_between(&destination.id, run.number, after, to)?,
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
        let next = match stream.run.planned.as_deref().map(Plan::parse) {
            None => self.plan(&mut stream, now)?,
            Some(plan) => self.plan_again(&stream, plan)?,
        };
        match next {
            Some(Next::Send(prepared)) => self.attempt(&stream, &prepared),
            Some(Next::Skip { next_seq, has_more }) => {
                let is_further = next_seq.cast_signed() > stream.run.cursor_seq;
                stream.run.cursor_seq = next_seq.cast_signed();
                let goes_on = has_more && is_further && self.has_time();
                let notice = if has_more {
                    None
                } else {
                    plan::caught_up(&mut stream.run)
                };
                let outcome = Outcome {
                    events: events(&stream.destination, notice.as_slice()),
                    ..Outcome::default()
                };
                self.commit(stream.run, outcome, goes_on)
            }
            None => {
                log::error!(
                    "the events of a batch of destination {} that was planned are no longer the same; it is planned anew",
                    self.destination_id
                );
                stream.run.planned = None;
                self.commit(stream.run, Outcome::default(), true)
            }
        }
    }

    /// Makes a batch and commits its plan.
    fn plan(&mut self, stream: &mut Stream, now: Timestamp) -> Result<Option<Next>> {
        let found = self.read(|reader| stream.read_next(reader, now))?;
        let next = stream.prepare(self.service, found, now)?;
        if let Next::Send(prepared) = &next {
            stream.run.planned = Some(prepared.plan.to_text());
            if !self.commit(stream.run.clone(), Outcome::default(), true)? {
                return Err(AppError::Unavailable(StoreError::Stale));
            }
        }
        Ok(Some(next))
    }

    fn plan_again(&mut self, stream: &Stream, plan: Option<Plan>) -> Result<Option<Next>> {
        let Some(plan) = plan else {
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
    fn attempt(&self, stream: &Stream, prepared: &Prepared) -> Result<bool> {
        let Some(Sent {
            attempt,
            is_confirmed,
        }) = self.send(stream, prepared)
        else {
            log::warn!("a batch is postponed: too many DNS lookups are in flight");
            let now = self.service.clock.now();
            let run = DestinationRunRow {
                next_attempt_at: now.plus_seconds(POSTPONED_SECONDS).as_micros(),
                ..stream.run.clone()
            };
            return self.commit(run, Outcome::default(), false);
        };
        let now = self.service.clock.now();
        let facts = Circumstances {
            now,
            created_at: Timestamp::from_micros(stream.destination.created_at),
            records_max: stream.records_max(),
            has_set_aside: !stream.set_aside.is_empty(),
        };
        let mut step = plan::after(&stream.run, &prepared.batched, &attempt.verdict, &facts);
        if attempt.verdict != Verdict::Delivered {
            step.run.last_error = Some(described(&attempt, now));
        }
        let outcome = Outcome {
            set_aside: set_aside(stream, prepared, &step, &attempt, now)?,
            events: events(&stream.destination, &step.notices),
            confirmed: is_confirmed.then(|| stream.destination.config.clone()),
        };
        self.worker.counters.note(&stream.run, &step);
        // Without progress the batch is planned anew.
        let has_more = prepared.batched.has_more || step.run.position == stream.run.position;
        let needs_checkpoint = plan::is_at_end(&step.run) && plan::is_checkpoint_due(&step.run, now);
        let can_go_on = plan::state(&step.run) != RunState::Parked && step.run.planned.is_none();
        let goes_on = can_go_on && (has_more || needs_checkpoint) && self.has_time();
        self.commit(step.run, outcome, goes_on)
    }

    /// `None` when nothing was sent for a reason that is not the receiver's.
    fn send(&self, stream: &Stream, prepared: &Prepared) -> Option<Sent> {
        let destination = &stream.destination;
        let attempt = self.send_with(stream, prepared, &destination.config)?;
        let is_replaced = destination.previous_config.is_some();
        if let (Verdict::Credentials, Some(previous)) = (&attempt.verdict, &destination.previous_config) {
            let other = self.send_with(stream, prepared, previous)?;
            if other.verdict != Verdict::Credentials {
                return Some(Sent {
                    attempt: other,
                    is_confirmed: false,
                });
            }
        }
        let is_delivered = matches!(attempt.verdict, Verdict::Delivered | Verdict::DeliveredExcept(_));
        Some(Sent {
            attempt,
            is_confirmed: is_replaced && is_delivered,
        })
    }

    fn send_with(&self, stream: &Stream, prepared: &Prepared, config: &[u8]) -> Option<Attempt> {
        let failed = |verdict, response| Attempt {
            verdict,
            status: None,
            request: String::new(),
            response,
        };
        let mut records = prepared.batch.records.iter();
        if let Some(record) = records.find(|record| too_large(stream.kind, record)) {
            // Some receivers would cut it and say nothing.
            let bytes = record.text.len();
            let response = format!("not sent: a record of {bytes} bytes is too large for the receiver");
            return Some(failed(Verdict::Refused, response));
        }
        let keys = &self.service.settings.encryption;
        match open_config(config, &stream.destination, keys) {
            Ok(config) => self
                .transport
                .send(&config, &prepared.batch, self.service.clock.now())
                .ok(),
            Err(error) => Some(failed(
                Verdict::Retry { after: None },
                format!("not sent: {error}"),
            )),
        }
    }

    /// Writes the run, and what belongs to it, if this node still has the lease. `keeps` renews the lease; otherwise it ends with this.
    /// Returns whether this node has the lease now. The row of a replay that has nothing left to do is deleted.
    fn commit(&self, mut run: DestinationRunRow, outcome: Outcome, keeps: bool) -> Result<bool> {
        let (lease, is_finished) = (self.lease, plan::is_finished(&run));
        let keeps = keeps && !is_finished;
        let until = self.service.clock.now().plus_seconds(LEASE_SECONDS);
        run.leased_until = if keeps { until.as_micros() } else { 0 };
        run.lease = keeps.then(|| lease.to_vec());
        let Outcome {
            set_aside,
            events,
            confirmed,
        } = outcome;
        let is_written = match events.is_empty() && !is_finished {
            true => self.service.store.write_for(self.project_id, move |writer| {
                write(writer, &lease, &run, &set_aside, confirmed.as_deref())
            })?,
            false => {
                self.service
                    .change_project(self.project_id, &Requester::Service, move |configurator| {
                        if !write(configurator, &lease, &run, &set_aside, confirmed.as_deref())? {
                            return Ok(Changed::nothing(false));
                        }
                        if is_finished {
                            configurator.delete_destination_run(&run.destination_id, run.number)?;
                        }
                        Ok(Changed::by_all(true, events))
                    })?
            }
        };
        Ok(is_written && keeps)
    }

    /// Ends the lease, if this node still has it.
    fn release(&self) -> Result<()> {
        if let Some(stream) = self.load()? {
            self.commit(stream.run, Outcome::default(), false)?;
        }
        Ok(())
    }
}

/// Writes a run under its lease. Returns `false`, and writes nothing, when another node has leased it since.
fn write(
    writer: &mut Writer<'_>,
    lease: &Lease,
    run: &DestinationRunRow,
    set_aside: &[SetAsideRow],
    confirmed: Option<&[u8]>,
) -> Result<bool, StoreError> {
    if !writer.update_destination_run(lease, run)? {
        return Ok(false);
    }
    for row in set_aside {
        writer.insert_set_aside(row)?;
    }
    if let Some(config) = confirmed {
        writer.confirm_destination_config(&run.destination_id, config)?;
    }
    Ok(true)
}

/// The rows of the events that are set aside.
fn set_aside(
    stream: &Stream,
    prepared: &Prepared,
    step: &Step,
    attempt: &Attempt,
    now: Timestamp,
) -> Result<Vec<SetAsideRow>> {
    let row = |index: &usize| {
        let logged = prepared.events.get(*index).ok_or_else(damaged)?;
        let position = prepared.batch.id.first_position + *index as u64;
        Ok(SetAsideRow {
            destination_id: stream.destination.id.clone(),
            run: stream.run.number,
            position: position.cast_signed(),
            seq: logged.seq.cast_signed(),
            event_id: logged.event.id.to_bytes().to_vec(),
            content_hash: logged.event.content_hash.as_bytes().to_vec(),
            at: now.as_micros(),
            reason: attempt.response.clone(),
        })
    };
    step.set_aside.iter().map(row).collect()
}

/// The events of the service that tell the operator.
fn events(destination: &DestinationRow, notices: &[Notice]) -> Vec<ServiceEvent> {
    let event = |notice: &Notice| {
        let action = match notice {
            Notice::Delayed => ServiceAction::DestinationDelayed,
            Notice::Recovered => ServiceAction::DestinationRecovered,
            Notice::Parked => ServiceAction::DestinationParked,
            Notice::CredentialsRefused => ServiceAction::DestinationRefusedCredentials,
            Notice::EventSetAside => ServiceAction::DestinationEventSetAside,
        };
        ServiceEvent::destination_noted(action, destination)
    };
    notices.iter().map(event).collect()
}

/// A failed attempt, as it is stored.
fn described(attempt: &Attempt, now: Timestamp) -> String {
    json!({
        "at": now.to_string(), "status": attempt.status, "request": attempt.request, "response": attempt.response,
    })
    .to_string()
}
