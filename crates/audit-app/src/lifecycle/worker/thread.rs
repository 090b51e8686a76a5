//! The thread of the removals.

use super::authorise::{self, Delayed, Next};
use super::counts::{Measured, RemovalStatistics};
use super::delete::Verified;
use super::due::{self, Due};
use super::guards::{ClockGuard, DAY_SECONDS};
use super::rows::{beginning, rows_of};
use super::taken::{LEASE_SECONDS, LISTING_LEASE_SECONDS, Outcome, RemovalAlarm, Taken};
use super::{clean, collect, delete, list_erasure};
use crate::error::{AppError, Result};
use crate::lifecycle::WaitingFor;
use crate::lifecycle::known::{PLANNED_EVENTS_MAX, Waiting};
use crate::service::{AuditLog, Scope};
use audit_domain::{Environment, Month, ProjectId, Timestamp};
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
/// The turns in a row for which a removal finds the database busy, after which the log says so.
const BUSY_TURNS: u32 = 10;

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
    /// newest event of the database tells whether the clock may be wrong. `None` where [`Settings::removes_events`](crate::Settings) is `false`.
    ///
    /// # Errors
    /// When the database cannot be read, or the thread cannot be started.
    pub fn start_removals(self: &Arc<Self>) -> std::io::Result<Option<Removals>> {
        if !self.settings.removes_events {
            return Ok(None);
        }
        let thread = RemovalThread::new(self).map_err(std::io::Error::other)?;
        let builder = std::thread::Builder::new().name("removals".to_owned());
        Ok(Some(Removals {
            service: Arc::clone(self),
            thread: builder.spawn(move || thread.run())?,
        }))
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
    /// The months in which the database received events, and when they are read again, since the start.
    pub(super) months: BTreeSet<Month>,
    months_until: Duration,
    /// The token of the leases of this process.
    lease: [u8; 16],
    verified: Verified,
    delayed: Delayed,
    looks: HashMap<LedgerId, Look>,
    reported: HashSet<String>,
    /// The turns in a row for which removals have found the database busy.
    busy_turns: HashMap<Waiting, u32>,
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
            busy_turns: HashMap::new(),
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
            let of = match row.kind {
                RemovalKind::Retention => (row.ledger_id, None),
                RemovalKind::Erasure => (row.ledger_id, Some(row.number)),
            };
            let outcome = self.carry_on(row);
            let outcome = self.noted(of, outcome);
            if of.1.is_none() {
                busy.insert(of.0);
            }
            has_more |= matches!(outcome, Outcome::Later | Outcome::Ended);
            measured.count(outcome.waiting_for());
        }
        for place in places.iter().filter(|(ledger_id, ..)| !busy.contains(ledger_id)) {
            if self.service.removal_worker.is_stopping() {
                return Ok(false);
            }
            let begun = self.begin(*place);
            measured.count(self.noted((place.0, None), begun).waiting_for());
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
    fn noted(&mut self, of: Waiting, outcome: Result<Outcome>) -> Outcome {
        if !matches!(outcome, Err(AppError::Unavailable(_))) {
            self.busy_turns.remove(&of);
        }
        let outcome = outcome.unwrap_or_else(|error| {
            self.report(of, &error);
            Outcome::Waits(None)
        });
        self.service.lifecycles.note_waiting(of, outcome.waiting_for());
        outcome
    }

    fn report(&mut self, of: Waiting, error: &AppError) {
        let ledger_id = of.0;
        if let AppError::Unavailable(error) = error {
            let turns = self.busy_turns.entry(of).or_default();
            *turns += 1;
            let level = match *turns {
                BUSY_TURNS => log::Level::Warn,
                _ => log::Level::Debug,
            };
            return log::log!(
                level,
                "a removal of ledger {} goes on later: {error}",
                ledger_id.0
            );
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
        let scope = self.service.scope_of(project_id, environment)?;
        match scope.ledger_id == ledger_id {
            true => Ok(scope),
            false => Err(AppError::NotFound("project")),
        }
    }

    /// The place of a ledger, which has no lifecycle events before its first erasure is confirmed.
    fn place(&self, ledger_id: LedgerId) -> Result<Option<Place>> {
        let name = self.service.store.read(|reader| reader.ledger_name(ledger_id))?;
        let parts = name.split_once('/');
        Ok(parts.and_then(|(project, environment)| {
            Some((ledger_id, project.parse().ok()?, environment.parse().ok()?))
        }))
    }

    /// The turn of an open removal.
    pub(super) fn carry_on(&mut self, row: RemovalRow) -> Result<Outcome> {
        let place = self.place(row.ledger_id)?;
        let place = place.ok_or_else(|| RemovalAlarm::OtherRow(row.seqs.clone()))?;
        let scope = self.scope(place)?;
        let service = Arc::clone(&self.service);
        // A plan in its grace needs no lease, nor does a list that an operator has to decide on.
        match row.state {
            RemovalState::Planned => {
                if let Next::Waits(reason) = self.next(&scope, &row)? {
                    return Ok(Outcome::Waits(reason));
                }
            }
            RemovalState::Listed if list_erasure::is_undecided(&row, service.clock.now()) => {
                return Ok(Outcome::Waits(None));
            }
            _ => {}
        }
        let now = service.clock.now();
        let listings = &service.removal_worker.listings;
        let of_listing = listings.lease(&row);
        let lease = of_listing.unwrap_or(self.lease);
        let until = now.plus_seconds(of_listing.map_or(LEASE_SECONDS, |_| LISTING_LEASE_SECONDS));
        let (ledger_id, number) = (row.ledger_id, row.number);
        let is_leased = service.store.write_for(place.1, move |writer| {
            writer.lease_removal(ledger_id, number, &lease, now, until)
        })?;
        // A request may have put it there since.
        let listing = of_listing.and_then(|_| listings.take(&row));
        if !is_leased {
            return Ok(Outcome::Waits(None));
        }
        let mut taken = Taken::new(&service, &scope, row, lease);
        let outcome = match listing {
            Some(listing) if taken.is_listing() => list_erasure::list(&mut taken, listing),
            _ => self.work(&mut taken),
        };
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
                RemovalState::Collecting => taken.cancel()?,
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
                RemovalState::Listed => list_erasure::decide(taken)?,
                RemovalState::Done => Outcome::Ended,
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
        service.check_removal_rows(ledger_id, fold)?;
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
        let row = beginning(&rows, (ledger_id, RemovalKind::Retention), due.seqs.clone(), now);
        let (new, lease, until) = (row.clone(), self.lease, now.plus_seconds(LEASE_SECONDS));
        let is_begun = service.store.write_for(scope.project.project.id, move |writer| {
            writer.begin_removal(&new, &lease, until)
        })?;
        Ok(is_begun.then(|| Taken::new(service, scope, row, self.lease)))
    }
}

/// Gives the lease of a removal back, unless the removal is gone, or this process alone can go on with it.
fn released(taken: Taken<'_>, outcome: Result<Outcome>) -> Result<Outcome> {
    // One whose list goes on in the next turn stays leased.
    let is_kept = taken.service.removal_worker.listings.lease(&taken.row).is_some();
    if !matches!(outcome, Ok(Outcome::Ended))
        && !is_kept
        && let Err(error) = taken.release()
    {
        log::debug!("a lease of a removal expires by itself: {error}");
    }
    outcome
}
