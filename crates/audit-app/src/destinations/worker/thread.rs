//! The thread that finds due runs, and the threads that deliver them.

use super::lanes::{Lane, Lanes};
use super::{Transport, run};
use crate::error::Result;
use crate::service::AuditLog;
use audit_store::DueRun;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// How often it is looked for due runs: events that any node has stored, and delays that are over.
const POLL: Duration = Duration::from_secs(1);
/// The most due runs of one look, as many whose receiver has never taken a batch, and as many whose last attempt has failed. More than there are lanes, because some of them may not take
/// one.
const DUE_RUNS_MAX: i64 = 32;
/// An attempt that took as long was slow.
const SLOW: Duration = Duration::from_secs(2);
/// The time that running attempts get when the service stops. A batch that was not committed as delivered is sent again.
const STOP_WAIT: Duration = Duration::from_secs(2);

/// Handle of the threads that deliver to destinations. Stop them with [`Destinations::stop`].
pub struct Destinations {
    service: Arc<AuditLog>,
    thread: JoinHandle<()>,
}

impl Destinations {
    /// Lets no more batch begin. Does not wait.
    pub fn request_stop(&self) {
        self.service.destination_worker.wake.stop();
    }

    /// Lets no more batch begin, and waits up to two seconds for running ones.
    pub fn stop(self) {
        self.request_stop();
        if self.thread.join().is_err() {
            log::error!("the thread of the destinations panicked");
        }
    }
}

impl AuditLog {
    /// Starts to deliver events to the destinations of this cell. `None` in a process that has no sender.
    ///
    /// # Errors
    /// When the thread cannot be started.
    pub fn start_destinations(self: &Arc<Self>) -> std::io::Result<Option<Destinations>> {
        let Some(transport) = self.settings.destination_sender.clone() else {
            return Ok(None);
        };
        let thread = DestinationThread {
            service: Arc::clone(self),
            transport,
            lanes: Lanes::default(),
        };
        let builder = std::thread::Builder::new().name("destinations".to_owned());
        Ok(Some(Destinations {
            service: Arc::clone(self),
            thread: builder.spawn(move || thread.run())?,
        }))
    }

    /// Has the destinations looked at now, because one was changed.
    pub(crate) fn wake_destinations(&self) {
        self.destination_worker.wake.due();
    }
}

struct DestinationThread {
    service: Arc<AuditLog>,
    transport: Arc<dyn Transport>,
    lanes: Lanes,
}

/// A lane that is taken. Gives it back when it is dropped, also after a panic.
struct LaneGuard {
    service: Arc<AuditLog>,
    lane: Option<Lane>,
}

impl LaneGuard {
    /// Notes how long the last attempt took.
    fn note(&mut self, took: Duration) {
        if let Some(lane) = &mut self.lane {
            lane.is_slow = took >= SLOW;
        }
    }
}

impl Drop for LaneGuard {
    fn drop(&mut self) {
        if let Some(lane) = self.lane.take() {
            self.service.destination_worker.wake.end(lane);
        }
    }
}

impl DestinationThread {
    fn run(mut self) {
        let service = Arc::clone(&self.service);
        let wake = &service.destination_worker.wake;
        loop {
            let signals = wake.wait(POLL);
            signals.ended.into_iter().for_each(|lane| self.lanes.finish(lane));
            if signals.is_stopping {
                break;
            }
            guarded(|| self.round());
        }
        let end = Instant::now() + STOP_WAIT;
        while !self.lanes.is_empty() {
            let ended = wake.wait_for_ends(end);
            if ended.is_empty() {
                break;
            }
            ended.into_iter().for_each(|lane| self.lanes.finish(lane));
        }
    }

    /// Starts the due runs that have a lane.
    fn round(&mut self) -> Result<()> {
        if self.lanes.is_full() {
            return Ok(());
        }
        let now = self.service.clock.now();
        let due = self
            .service
            .store
            .query(|reader| reader.due_destination_runs(now, DUE_RUNS_MAX))?;
        for due in due {
            let lane = Lane {
                destination_id: due.destination.id.clone(),
                number: due.run.number,
                organization_id: due.organization_id.clone(),
                is_of_tenant: due.destination.created_by_tenant.is_some(),
                is_failing: due.run.attempts > 0,
                is_untried: due.run.last_success_at.is_none(),
                is_slow: false,
            };
            if let Some(lane) = self.lanes.take(lane) {
                self.start(lane, due);
            }
        }
        Ok(())
    }

    fn start(&self, lane: Lane, due: DueRun) {
        let (service, transport) = (Arc::clone(&self.service), Arc::clone(&self.transport));
        let mut guard = LaneGuard {
            service: Arc::clone(&service),
            lane: Some(lane),
        };
        let thread = std::thread::Builder::new().name("destination".to_owned());
        let spawned = thread.spawn(move || match run::deliver(&service, transport.as_ref(), &due) {
            Ok(took) => guard.note(took),
            Err(error) => log::warn!("cannot deliver to destination {}: {error}", due.destination.id),
        });
        // If the thread does not start, dropping the closure drops the guard, which frees the lane.
        if let Err(error) = spawned {
            log::error!("cannot start a thread for a destination: {error}");
        }
    }
}

/// An error or a panic of a round is followed by others.
fn guarded(round: impl FnOnce() -> Result<()>) {
    match catch_unwind(AssertUnwindSafe(round)) {
        Ok(Ok(())) => {}
        Ok(Err(error)) => log::warn!("cannot read the due destinations: {error}"),
        Err(_) => log::error!("the thread of the destinations panicked and continues"),
    }
}
