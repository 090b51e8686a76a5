//! The thread of the removals.

use super::authorise::{self, Delayed, Next};
use super::counts::{Measured, RemovalStatistics};
use super::delete::Verified;
use super::due::{self, Due};
use super::guards::{ClockGuard, DAY_SECONDS};
use super::taken::{LEASE_SECONDS, Outcome, RemovalAlarm, Taken, of_read};
use super::{clean, collect, delete};
use crate::error::{AppError, Result};
use crate::lifecycle::WaitingFor;
use crate::lifecycle::known::PLANNED_EVENTS_MAX;
use crate::service::{AuditLog, Scope, ledger_of};
use audit_domain::{Environment, Lifecycle, Month, ProjectId, Timestamp};
use audit_ledger::RemovalKind;
use audit_store::{LedgerId, RemovalRow, RemovalState};
use std::collections::{BTreeSet, HashMap, HashSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// How often it is looked for work that no signal reports.
const POLL: Duration = Duration::from_secs(60);
/// How often it is looked at whether a removal of a log is due.
const LOOK_INTERVAL: Duration = Duration::from_secs(600);
/// How often the months are read in which the database received events.
const MONTHS_INTERVAL: Duration = Duration::from_secs(DAY_SECONDS.unsigned_abs());
/// How long a log is not looked at of which a removal would take nothing.
const EMPTY_INTERVAL: Duration = Duration::from_secs(DAY_SECONDS.unsigned_abs());
/// The most open removals of a round.
const OPEN_REMOVALS_MAX: i64 = 20_000;
/// The errors that are remembered, so that each is logged once.
const REPORTED_MAX: usize = 1_000;

/// Handle of the thread that removes events. Stop it with [`Removals::stop`].
pub struct Removals {
    service: Arc<AuditLog>,
    thread: JoinHandle<()>,
}

impl Removals {
    /// Lets no more step begin. Does not wait.
    pub fn request_stop(&self) {
        self.service.removal_worker.wake.stop();
    }

    /// Lets no more step begin, and waits for the present one.
    pub fn stop(self) {
        self.request_stop();
        if self.thread.join().is_err() {
            log::error!("the thread of the removals panicked");
        }
    }
}

impl AuditLog {
    /// Starts to remove the events of this cell that the policies of its logs no longer keep. Call it before the first request: the
    /// newest event of the database tells whether the clock may be wrong.
    ///
    /// # Errors
    /// When the database cannot be read, or the thread cannot be started.
    pub fn start_removals(self: &Arc<Self>) -> std::io::Result<Removals> {
        let thread = RemovalThread::new(self).map_err(std::io::Error::other)?;
        let builder = std::thread::Builder::new().name("removals".to_owned());
        Ok(Removals {
            service: Arc::clone(self),
            thread: builder.spawn(move || thread.run())?,
        })
    }

    /// Has the thread of the removals look for work now.
    pub(crate) fn wake_removals(&self) {
        self.removal_worker.wake.due();
    }

    /// The removals of all open cells.
    pub fn removal_statistics(&self) -> RemovalStatistics {
        let cells = self.cells.opened();
        let of_cells = cells.iter().map(|cell| cell.removal_worker.statistics());
        of_cells.fold(self.removal_worker.statistics(), RemovalStatistics::plus)
    }
}

/// A ledger that has lifecycle events.
type Place = (LedgerId, ProjectId, Environment);

/// The last look at whether a removal of a log is due.
struct Look {
    /// The newest lifecycle event of the log.
    lifecycle_seq: Option<u64>,
    /// When the next look is, since the start.
    next: Duration,
    waiting: Option<WaitingFor>,
}

pub(super) struct RemovalThread {
    service: Arc<AuditLog>,
    started: Instant,
    pub(super) guard: ClockGuard,
    /// The token of the leases of this process.
    /// The months in which the database received events, and when they are read again, since the start.
    pub(super) months: BTreeSet<Month>,
    months_until: Duration,
    lease: [u8; 16],
    verified: Verified,
    delayed: Delayed,
    looks: HashMap<LedgerId, Look>,
    reported: HashSet<String>,
}

impl RemovalThread {
    pub(super) fn new(service: &Arc<AuditLog>) -> Result<Self> {
        let newest = service.store.read(|reader| reader.newest_receipt())?;
        Ok(Self {
            guard: ClockGuard::new(service.clock.now(), newest),
            started: Instant::now(),
            months: BTreeSet::new(),
            months_until: Duration::ZERO,
            lease: service.entropy.bytes(),
            service: Arc::clone(service),
            verified: Verified::new(),
            delayed: Delayed::new(),
            looks: HashMap::new(),
            reported: HashSet::new(),
        })
    }

    fn run(mut self) {
        let service = Arc::clone(&self.service);
        let mut wait = Duration::ZERO;
        while !service.removal_worker.wake.wait(wait).is_stopping {
            let round = catch_unwind(AssertUnwindSafe(|| self.round()));
            wait = match round {
                Ok(Ok(true)) => Duration::ZERO,
                Ok(Ok(false)) => POLL,
                Ok(Err(error)) => {
                    log::warn!("cannot look for removals: {error}");
                    POLL
                }
                Err(_) => {
                    log::error!("the thread of the removals panicked and continues");
                    POLL
                }
            };
        }
    }

    /// Gives each open removal its turn, and begins others. Returns whether there is more to do at once.
    pub(super) fn round(&mut self) -> Result<bool> {
        self.now();
        self.read_months()?;
        let places = self
            .service
            .store
            .read(|reader| reader.ledgers_with_lifecycle())?;
        // Without rows that the service did not write, which the store reports: those removals stop.
        let mut rows = self
            .service
            .store
            .read(|reader| reader.open_removals(OPEN_REMOVALS_MAX))?;
        rows.sort_by_key(|row| row.changed_at);
        let mut measured = Measured::default();
        let (mut has_more, mut busy) = (false, HashSet::new());
        for row in rows {
            if self.service.removal_worker.is_stopping() {
                return Ok(false);
            }
            *measured.open.entry(row.state).or_default() += 1;
            if row.kind != RemovalKind::Retention {
                continue;
            }
            busy.insert(row.ledger_id);
            let ledger_id = row.ledger_id;
            let outcome = self.carry_on(&places, row);
            let outcome = self.noted(ledger_id, outcome);
            has_more |= matches!(outcome, Outcome::Later | Outcome::Ended);
            measured.count(outcome.waiting_for());
        }
        for place in places.iter().filter(|(ledger_id, ..)| !busy.contains(ledger_id)) {
            if self.service.removal_worker.is_stopping() {
                return Ok(false);
            }
            let begun = self.begin(*place);
            measured.count(self.noted(place.0, begun).waiting_for());
        }
        *self.service.removal_worker.measured.lock() = measured;
        Ok(has_more)
    }

    /// The time, which is compared with the monotonic clock.
    fn now(&mut self) -> Timestamp {
        let now = self.service.clock.now();
        if let Some(seconds) = self.guard.observe(now, self.started.elapsed()) {
            log::error!("the clock jumped by {seconds} s: no removal is planned or carried out for 24 hours");
        }
        now
    }

    fn read_months(&mut self) -> Result<()> {
        let elapsed = self.started.elapsed();
        if elapsed >= self.months_until {
            self.months = self.service.store.query(|reader| reader.stored_months())?;
            self.months_until = elapsed + MONTHS_INTERVAL;
        }
        Ok(())
    }

    /// Tells requests what a removal waits for. An error is logged once, and does not end the round.
    fn noted(&mut self, ledger_id: LedgerId, outcome: Result<Outcome>) -> Outcome {
        let outcome = outcome.unwrap_or_else(|error| {
            self.report(ledger_id, &error);
            Outcome::Waits(None)
        });
        self.service
            .lifecycles
            .note_waiting(ledger_id, outcome.waiting_for());
        outcome
    }

    fn report(&mut self, ledger_id: LedgerId, error: &AppError) {
        if let AppError::Unavailable(error) = error {
            return log::debug!("a removal of ledger {} goes on later: {error}", ledger_id.0);
        }
        let cause = std::error::Error::source(error).map_or_else(|| error.to_string(), ToString::to_string);
        if self.reported.len() >= REPORTED_MAX {
            self.reported.clear();
        }
        if !self.reported.insert(format!("{} {cause}", ledger_id.0)) {
            return;
        }
        match error {
            AppError::LogInconsistent(_) => {
                self.service.removal_worker.counters.note_alarm();
                log::error!(
                    "no events of ledger {} are removed: {cause}; `audit-server log verify` has details",
                    ledger_id.0
                );
            }
            _ => log::warn!("cannot remove events of ledger {}: {cause}", ledger_id.0),
        }
    }

    fn scope(&self, (ledger_id, project_id, environment): Place) -> Result<Scope> {
        let service = &self.service;
        let project = service.store.read(|reader| {
            let mut present = service.directory.present();
            present.project(reader, &service.settings, project_id)
        })?;
        let project = project.ok_or(AppError::NotFound("project"))?;
        match ledger_of(&project, environment)? == ledger_id {
            true => Ok(Scope {
                project,
                environment,
                ledger_id,
            }),
            false => Err(AppError::NotFound("project")),
        }
    }

    /// The turn of an open removal.
    fn carry_on(&mut self, places: &[Place], row: RemovalRow) -> Result<Outcome> {
        let place = places.iter().find(|(ledger_id, ..)| *ledger_id == row.ledger_id);
        let place = place.ok_or_else(|| RemovalAlarm::OtherRow(row.seqs.clone()))?;
        let scope = self.scope(*place)?;
        // A plan in its grace needs no lease.
        if row.state == RemovalState::Planned
            && let Next::Waits(reason) = self.next(&scope, &row)?
        {
            return Ok(Outcome::Waits(reason));
        }
        let service = Arc::clone(&self.service);
        let (now, lease) = (service.clock.now(), self.lease);
        let until = now.plus_seconds(LEASE_SECONDS);
        let (ledger_id, number) = (row.ledger_id, row.number);
        let is_leased = service.store.write_for(place.1, move |writer| {
            writer.lease_removal(ledger_id, number, &lease, now, until)
        })?;
        if !is_leased {
            return Ok(Outcome::Waits(None));
        }
        let mut taken = Taken::new(&service, &scope, row, lease);
        let outcome = self.work(&mut taken);
        released(taken, outcome)
    }

    fn next(&mut self, scope: &Scope, row: &RemovalRow) -> Result<Next> {
        let lifecycle = self.service.lifecycle(scope)?;
        // A round can take hours.
        let now = self.now();
        let known = (&self.guard, &mut self.delayed);
        authorise::next(&self.service, scope, row, &lifecycle.fold, known, now)
    }

    /// Takes the steps of a leased removal until it waits or its turn is over.
    fn work(&mut self, taken: &mut Taken<'_>) -> Result<Outcome> {
        loop {
            let outcome = match taken.row.state {
                // Another process has begun it, and knows what it has decided.
                RemovalState::Collecting => taken.enter(RemovalState::Cancelled)?,
                RemovalState::Planned => match self.next(taken.scope, &taken.row)? {
                    Next::Waits(reason) => Outcome::Waits(reason),
                    Next::Cancelled => taken.enter(RemovalState::Cancelled)?,
                    Next::Event {
                        event,
                        expected,
                        state,
                    } => taken.append(expected, *event, state)?,
                },
                RemovalState::Removing => delete::delete(taken, &mut self.verified)?,
                RemovalState::Cleaning => clean::clean(taken)?,
                RemovalState::Cancelled => clean::discard(taken)?,
                RemovalState::Listed | RemovalState::Done => Outcome::Ended,
            };
            if outcome != Outcome::Moved {
                return Ok(outcome);
            }
        }
    }

    /// Begins a removal of a log, if one is due.
    fn begin(&mut self, place: Place) -> Result<Outcome> {
        let (ledger_id, elapsed) = (place.0, self.started.elapsed());
        let service = Arc::clone(&self.service);
        let newest = service.store.read(|reader| reader.lifecycle_seq(ledger_id))?;
        if let Some(look) = self.looks.get(&ledger_id)
            && look.lifecycle_seq == newest
            && elapsed < look.next
        {
            return Ok(Outcome::Waits(look.waiting));
        }
        let scope = self.scope(place)?;
        let lifecycle = service.lifecycle(&scope)?;
        lifecycle.check_room(PLANNED_EVENTS_MAX)?;
        let fold = &lifecycle.fold;
        check_rows(&service, ledger_id, fold)?;
        let now = self.now();
        let due = due::due(&service, &scope, fold, (&self.guard, &self.months), now)?;
        let (due, waiting) = match due {
            Due::Events(due) => (Some(due), None),
            Due::Waits(reason) => (None, Some(reason)),
            Due::No => (None, None),
        };
        let mut look = Look {
            lifecycle_seq: fold.last_seq(),
            // A log is signed within seconds.
            next: match waiting {
                Some(WaitingFor::Signature) => elapsed,
                _ => elapsed + LOOK_INTERVAL,
            },
            waiting,
        };
        let mut outcome = Ok(Outcome::Waits(waiting));
        if let Some(due) = due
            && let Some(mut taken) = self.begun(&service, &scope, &due)?
        {
            let collected = collect::collect(&mut taken, fold, &due);
            outcome = released(taken, collected);
            if matches!(outcome, Ok(Outcome::Ended) | Err(AppError::LogInconsistent(_))) {
                look.next = elapsed + EMPTY_INTERVAL;
            }
        }
        self.looks.insert(ledger_id, look);
        outcome
    }

    /// Stores the row of a removal that begins; `None` where another node is faster.
    pub(super) fn begun<'a>(
        &self,
        service: &'a AuditLog,
        scope: &'a Scope,
        due: &due::DueEvents,
    ) -> Result<Option<Taken<'a>>> {
        let ledger_id = scope.ledger_id;
        let rows = rows_of(service, ledger_id)?;
        let is_open =
            |row: &RemovalRow| row.kind == RemovalKind::Retention && row.state != RemovalState::Done;
        if rows.iter().any(is_open) {
            return Ok(None);
        }
        let now = service.clock.now();
        let row = RemovalRow {
            ledger_id,
            number: rows.iter().map(|row| row.number).max().unwrap_or(0) + 1,
            kind: RemovalKind::Retention,
            state: RemovalState::Collecting,
            event_seq: None,
            seqs: due.seqs.clone(),
            cursor_seq: due.seqs.start,
            records: 0,
            changed_at: now,
        };
        let (new, lease, until) = (row.clone(), self.lease, now.plus_seconds(LEASE_SECONDS));
        let is_begun = service.store.write_for(scope.project.project.id, move |writer| {
            writer.begin_removal(&new, &lease, until)
        })?;
        Ok(is_begun.then(|| Taken::new(service, scope, row, self.lease)))
    }
}

/// Gives the lease of a removal back, unless the removal is gone.
fn released(taken: Taken<'_>, outcome: Result<Outcome>) -> Result<Outcome> {
    if !matches!(outcome, Ok(Outcome::Ended))
        && let Err(error) = taken.release()
    {
        log::debug!("a lease of a removal expires by itself: {error}");
    }
    outcome
}

/// Checks that each removal in the log, and a plan in its grace, has its row. Otherwise the next removal would get the number of one whose
/// records are stored, and discard them.
fn check_rows(service: &AuditLog, ledger_id: LedgerId, fold: &Lifecycle) -> Result<()> {
    let rows = rows_of(service, ledger_id)?;
    let known: HashSet<u64> = rows.iter().filter_map(|row| row.event_seq).collect();
    let plan = fold.open_plan().map(|(seq, plan)| (seq, &plan.seqs));
    let removals = fold.removals().map(|(seq, _, removal)| (seq, &removal.seqs));
    match removals.chain(plan).find(|(seq, _)| !known.contains(seq)) {
        Some((_, seqs)) => Err(RemovalAlarm::OtherRow(seqs.clone()).into()),
        None => Ok(()),
    }
}

/// The rows of the removals of a ledger, which the service must have written.
fn rows_of(service: &AuditLog, ledger_id: LedgerId) -> Result<Vec<RemovalRow>> {
    let rows = service.store.read(|reader| reader.removals(ledger_id));
    rows.map_err(of_read)
}
