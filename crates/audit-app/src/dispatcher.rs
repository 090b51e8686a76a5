//! Delivering: taking what is ready, attempting it, and writing what came of it.
//!
//! One thread decides and writes, and each attempt has a thread of its own, because it may hang for its whole timeout. How
//! many run at once, and whose come first, is what [`Lanes`] say, so that no webhook keeps another's deliveries waiting.
//! What attempts led to is written together with what is taken next, so that a backlog needs few transactions. Everything
//! is in the database: a process that dies in the middle of an attempt loses its lease, and the delivery is ready again,
//! here or on another node.

mod attempt;
mod results;
mod step;
mod wake;

pub(crate) use results::DeliveryCounters;
pub use results::DeliveryStatistics;
pub(crate) use wake::Wake;

use crate::error::Result;
use crate::service::AuditLog;
use audit_domain::Timestamp;
use audit_store::{LeasedDelivery, ReadyWebhook, StoreError};
use audit_webhooks::{AddressPolicy, Endpoint, Lanes, NextStep, Sender, Waiting, WebhookUrl};
use results::{Finished, Lease};
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use step::{Done, Step};
use wake::{Ended, Running};

/// What is to be left of a lease beyond the time that an attempt may take: for writing what came of it.
const LEASE_MARGIN_MS: i64 = 5_000;
/// How often the queue is looked at when nobody says that there is something in it: what other nodes left.
const POLL_MS: u64 = 1_000;
/// How soon it is looked at again for what another node is about to take.
const POLL_MS_MIN: u64 = 20;
/// How long attempts that have begun may take once the service stops.
const STOP_WAIT_MS: u64 = 2_000;
/// How often held deliveries are looked for at the latest. They are whenever the configuration has changed; this is for
/// what a node put aside that was about to see the change when it died.
const RELEASE_SECONDS_MAX: u64 = 60;

/// The delivering threads of this process. Ends with [`Deliveries::stop`].
#[derive(Debug)]
pub struct Deliveries {
    wake: Arc<Wake>,
    thread: JoinHandle<()>,
}

impl Deliveries {
    /// Takes no more deliveries, and waits a moment for attempts that have begun. What is not finished then is due again
    /// when its lease ends.
    pub fn stop(self) {
        self.wake.stop();
        if self.thread.join().is_err() {
            log::error!("the delivery thread panicked");
        }
    }
}

impl AuditLog {
    /// Begins to deliver what is due, with `sender`.
    ///
    /// # Errors
    /// When there is no thread to be had.
    pub fn start_deliveries(self: &Arc<Self>, sender: Sender) -> std::io::Result<Deliveries> {
        let wake = Arc::clone(&self.wake);
        let dispatcher = Dispatcher {
            service: Arc::clone(self),
            sender,
            lanes: Lanes::default(),
            unwritten: Vec::new(),
            released: None,
        };
        let thread = std::thread::Builder::new().name("deliveries".to_owned());
        let thread = thread.spawn(move || dispatcher.run())?;
        Ok(Deliveries { wake, thread })
    }

    /// Says that something may be due.
    pub(crate) fn wake_deliveries(&self) {
        self.wake.due();
    }
}

struct Dispatcher {
    service: Arc<AuditLog>,
    sender: Sender,
    lanes: Lanes,
    /// What attempts that have ended led to.
    unwritten: Vec<Finished>,
    /// At which version of the configuration nothing held could be released, and when that was.
    released: Option<(i64, Instant)>,
}

/// What the queue is like.
struct Queue {
    configuration_version: i64,
    next_due_at: Option<Timestamp>,
    ready: Vec<ReadyWebhook>,
}

impl Dispatcher {
    fn run(mut self) {
        let wake = Arc::clone(&self.service.wake);
        let mut wait = Duration::ZERO;
        loop {
            let news = wake.wait(wait);
            let is_stopping = news.is_stopping;
            wait = guarded(|| {
                self.note_ended(news.ended);
                if is_stopping {
                    return Ok(Duration::ZERO);
                }
                self.round()
            });
            if is_stopping {
                return self.finish(&wake);
            }
        }
    }

    fn note_ended(&mut self, ended: Vec<Ended>) {
        for Ended {
            lane,
            course,
            finished,
        } in ended
        {
            match course {
                Some(course) => self.lanes.finish(lane, course),
                None => self.lanes.cancel(&lane),
            }
            self.unwritten.extend(finished);
        }
    }

    /// Waits for attempts that have begun, and writes what came of them.
    fn finish(&mut self, wake: &Wake) {
        let end = Instant::now() + Duration::from_millis(STOP_WAIT_MS);
        while self.lanes.free() < Lanes::IN_FLIGHT_MAX {
            let ended = wake.wait_for_ends(end);
            if ended.is_empty() {
                break;
            }
            self.note_ended(ended);
        }
        let results = std::mem::take(&mut self.unwritten);
        let (gone, others): (Vec<_>, Vec<_>) = results.into_iter().partition(Finished::is_gone);
        self.write_gone(gone);
        self.write_one_by_one(others);
    }

    /// One look at the queue: writes what has ended, takes what may be attempted, and begins the attempts. How long to
    /// wait for the next one, unless there are news.
    fn round(&mut self) -> Result<Duration> {
        let (gone, results): (Vec<_>, Vec<_>) = std::mem::take(&mut self.unwritten)
            .into_iter()
            .partition(Finished::is_gone);
        self.unwritten = results;
        self.write_gone(gone);
        let queue = self.read_queue()?;
        let now = self.service.clock.now();
        let (in_use, unused): (Vec<_>, Vec<_>) = queue.ready.into_iter().partition(|ready| ready.is_in_use);
        let mut running = self.choose(in_use);
        let is_known = |(version, at): (i64, Instant)| {
            version == queue.configuration_version && at.elapsed() < Duration::from_secs(RELEASE_SECONDS_MAX)
        };
        let step = Step {
            results: self.unwritten.clone(),
            is_due: queue.next_due_at.is_some_and(|due_at| due_at <= now),
            unused: unused.into_iter().map(|ready| ready.webhook_id).collect(),
            is_releasing: !self.released.is_some_and(is_known),
            wanted: running
                .iter()
                .map(|(webhook_id, lanes)| (webhook_id.clone(), lanes.len()))
                .collect(),
            lease: self.service.entropy.bytes(),
        };
        if step.is_nothing() {
            return Ok(self.time_until(queue.next_due_at));
        }
        let lease = step.lease;
        let is_releasing = step.is_releasing;
        let done = self.write(step)?;
        if is_releasing && done.released == 0 {
            self.released = Some((queue.configuration_version, Instant::now()));
        }
        let mut begun = 0;
        for leased in done.leased {
            let lanes = running.get_mut(&leased.webhook.id);
            if let Some(lane) = lanes.and_then(Vec::pop) {
                begun += usize::from(self.begin(lane, leased, lease, done.leased_until));
            }
        }
        if begun + done.moved > 0 {
            // There may be more.
            return Ok(Duration::ZERO);
        }
        Ok(self.time_until(queue.next_due_at))
    }

    fn read_queue(&self) -> Result<Queue> {
        let is_free = self.lanes.free() > 0;
        self.service.store.read(|reader| {
            Ok(Queue {
                configuration_version: reader.configuration_version()?,
                next_due_at: reader.next_due_at()?,
                ready: match is_free {
                    true => reader.ready_webhooks()?,
                    false => Vec::new(),
                },
            })
        })
    }

    /// Lanes for what may be attempted now, by webhook.
    fn choose(&mut self, ready: Vec<ReadyWebhook>) -> BTreeMap<String, Vec<Running>> {
        let waiting = ready.into_iter().map(waiting).collect();
        let mut chosen: BTreeMap<String, Vec<Running>> = BTreeMap::new();
        for lane in self.lanes.choose(waiting) {
            let webhook_id = lane.endpoint().webhook_id.clone();
            let running = Running::new(&self.service.wake, lane);
            chosen.entry(webhook_id).or_default().push(running);
        }
        chosen
    }

    /// Runs `step` in one transaction. Its results are written afterwards, or will be the next time.
    fn write(&mut self, step: Step) -> Result<Done> {
        let clock = Arc::clone(&self.service.clock);
        let written = self
            .service
            .store
            .write(move |writer| step.run(writer, clock.as_ref()));
        match written {
            Ok(done) => {
                self.unwritten.clear();
                done.outcomes
                    .iter()
                    .for_each(|step| self.service.deliveries.count(*step));
                Ok(done)
            }
            Err(error) => {
                // Should one of them be the reason, the others must not wait for it.
                if !is_passing(&error) {
                    let results = std::mem::take(&mut self.unwritten);
                    self.write_one_by_one(results);
                }
                Err(error.into())
            }
        }
    }

    /// What cannot be written will be attempted again when its lease ends.
    fn write_one_by_one(&self, results: Vec<Finished>) {
        for finished in results {
            let webhook_id = finished.webhook_id.clone();
            let written = self.service.store.write(move |writer| finished.write(writer));
            self.note_written(&webhook_id, written);
        }
    }

    /// Those change what is configured.
    fn write_gone(&self, gone: Vec<Finished>) {
        for finished in gone {
            let webhook_id = finished.webhook_id.clone();
            let written = self
                .service
                .store
                .configure(move |configurator| finished.write_gone(configurator));
            self.note_written(&webhook_id, written);
        }
    }

    fn note_written(&self, webhook_id: &str, written: Result<Option<NextStep>, StoreError>) {
        match written {
            Ok(step) => step
                .into_iter()
                .for_each(|step| self.service.deliveries.count(step)),
            Err(error) => log::error!(
                "cannot record an attempt at a delivery to webhook {webhook_id}, which will be attempted again: {error}"
            ),
        }
    }

    /// Begins an attempt; whether it did.
    fn begin(&self, running: Running, leased: LeasedDelivery, lease: Lease, leased_until: Timestamp) -> bool {
        let left_ms = leased_until.as_millis() - self.service.clock.now().as_millis();
        let timeout_ms = i64::try_from(self.sender.timeout().as_millis()).unwrap_or(i64::MAX);
        if left_ms < timeout_ms.saturating_add(LEASE_MARGIN_MS) {
            log::warn!(
                "the lease of a delivery is too short for an attempt; the delivery is due again when it expires"
            );
            return false;
        }
        let (service, sender) = (Arc::clone(&self.service), self.sender.clone());
        let thread = std::thread::Builder::new().name("delivery".to_owned());
        let spawned = thread.spawn(move || {
            let mut running = running;
            running.begin();
            let (course, finished) = attempt::attempt(&service, &sender, &leased, lease);
            running.end(course, finished);
        });
        // The lane is free again: what tells of the end was dropped with the closure.
        spawned
            .inspect_err(|error| log::error!("cannot start a thread for a delivery: {error}"))
            .is_ok()
    }

    fn time_until(&self, due_at: Option<Timestamp>) -> Duration {
        let (soonest, poll) = (Duration::from_millis(POLL_MS_MIN), Duration::from_millis(POLL_MS));
        let now = self.service.clock.now().as_micros();
        let until = due_at.map(|due_at| (due_at.as_micros() - now).max(0).unsigned_abs());
        until.map_or(poll, |micros| Duration::from_micros(micros).clamp(soonest, poll))
    }
}

/// How long to wait after a round. One that fails, or panics, is followed by others.
fn guarded(round: impl FnOnce() -> Result<Duration>) -> Duration {
    match catch_unwind(AssertUnwindSafe(round)) {
        Ok(Ok(wait)) => return wait,
        Ok(Err(error)) => log::warn!("cannot read or lease the due deliveries: {error}"),
        Err(_) => log::error!("the delivery thread panicked and continues"),
    }
    Duration::from_millis(POLL_MS)
}

/// Whether what failed may succeed the next time, as it is.
const fn is_passing(error: &StoreError) -> bool {
    matches!(
        error,
        StoreError::Unreachable(_) | StoreError::Overloaded | StoreError::Stopped
    )
}

fn waiting(ready: ReadyWebhook) -> Waiting {
    // Whether it may be called is decided in the attempt; here it is only to be told from others.
    let url = WebhookUrl::parse(&ready.url, AddressPolicy::AllowPrivate);
    let host = url.map_or_else(|_| ready.url.clone(), |url| url.host().to_owned());
    Waiting {
        endpoint: Endpoint {
            webhook_id: ready.webhook_id,
            project_id: ready.project_id,
            host,
        },
        due_at: ready.due_at,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::AppError;

    #[test]
    fn a_round_that_fails_or_panics_is_followed_by_others() {
        let soon = Duration::from_millis(7);
        assert_eq!(guarded(|| Ok(soon)), soon);
        assert_eq!(
            guarded(|| Err(AppError::Unauthorized)),
            Duration::from_millis(POLL_MS)
        );
        let panicking = guarded(|| panic!("as the test wants"));
        assert_eq!(panicking, Duration::from_millis(POLL_MS));
    }
}
