//! The dispatcher thread.

use super::attempt::attempt;
use super::results::{DeliveryResult, Lease};
use super::transaction::{Transaction, TransactionResult};
use super::wake::{EndedAttempt, LaneGuard, Wake};
use crate::error::Result;
use crate::secrets;
use crate::self_audit::{Changed, Requester, ServiceEvent};
use crate::service::AuditLog;
use crate::webhooks::{WEBHOOKS_MAX, Webhook};
use audit_domain::{ProjectId, Timestamp};
use audit_secrets::KeyRing;
use audit_store::{ConfigurationVersion, LeasedDelivery, LedgerId, ReadyWebhook, StoreError};
use audit_webhooks::{AddressPolicy, Endpoint, Lanes, NextStep, Sender, Waiting, WebhookUrl};
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// The minimum remainder of a lease after the timeout of an attempt, to write the result.
const LEASE_MARGIN_MS: i64 = 5_000;
/// The interval at which the queue is polled without a wake-up, for deliveries of other nodes.
const POLL_MS: u64 = 1_000;
/// The minimum interval, for due deliveries that another node may be about to lease.
const POLL_MS_MIN: u64 = 20;
/// The time that running attempts get when the service stops.
const STOP_WAIT_MS: u64 = 2_000;
/// Fallback interval for releasing held deliveries; normally a change that may put a webhook into use triggers it. Covers a node that died
/// before reacting to one.
const RELEASE_SECONDS_MAX: u64 = 60;

/// The maximum number of ledgers whose alerts get deliveries in one transaction.
const LEDGERS_OF_ALERTS_MAX: usize = 25;
/// The maximum number of deliveries of alerts that one transaction writes. The share of a ledger has room for an alert to each
/// webhook of its project.
const ALERT_DELIVERIES_MAX: usize = 500;
const _: () = assert!(ALERT_DELIVERIES_MAX / LEDGERS_OF_ALERTS_MAX >= WEBHOOKS_MAX);

/// Handle of the delivery threads of this process. Stop them with [`Deliveries::stop`].
#[derive(Debug)]
pub struct Deliveries {
    wake: Arc<Wake>,
    thread: JoinHandle<()>,
}

impl Deliveries {
    /// Starts no more attempts, and waits up to two seconds for running ones. A delivery whose attempt does not end in time
    /// is due again when its lease expires.
    pub fn stop(self) {
        self.wake.stop();
        if self.thread.join().is_err() {
            log::error!("the delivery thread panicked");
        }
    }
}

impl AuditLog {
    /// Starts the dispatcher thread.
    ///
    /// # Errors
    /// When the thread cannot be started.
    pub fn start_deliveries(self: &Arc<Self>, sender: Sender) -> std::io::Result<Deliveries> {
        let wake = Arc::clone(&self.wake);
        let dispatcher = Dispatcher {
            service: Arc::clone(self),
            sender,
            lanes: Lanes::default(),
            unwritten: Vec::new(),
            nothing_released: None,
            delivered_last: None,
        };
        let thread = std::thread::Builder::new().name("deliveries".to_owned());
        let thread = thread.spawn(move || dispatcher.run())?;
        Ok(Deliveries { wake, thread })
    }

    /// Wakes the dispatcher, because a delivery may be due.
    pub(crate) fn wake_deliveries(&self) {
        self.wake.due();
    }
}

struct Dispatcher {
    service: Arc<AuditLog>,
    sender: Sender,
    lanes: Lanes,
    /// Results that are not written yet.
    unwritten: Vec<DeliveryResult>,
    /// The version of the deployment at which no held delivery could be released, and the time of that check.
    nothing_released: Option<(ConfigurationVersion, Instant)>,
    /// The ledger whose alerts got deliveries last. Those after it come next.
    delivered_last: Option<LedgerId>,
}

/// The state of the delivery queue.
struct Queue {
    deployment_version: ConfigurationVersion,
    next_due_at: Option<Timestamp>,
    ready: Vec<ReadyWebhook>,
}

impl Dispatcher {
    fn run(mut self) {
        let wake = Arc::clone(&self.service.wake);
        let mut wait = Duration::ZERO;
        loop {
            let signals = wake.wait(wait);
            let is_stopping = signals.is_stopping;
            wait = guarded(|| {
                self.note_ended(signals.ended);
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

    fn note_ended(&mut self, ended: Vec<EndedAttempt>) {
        for EndedAttempt { lane, course, result } in ended {
            match course {
                Some(course) => self.lanes.finish(lane, course),
                None => self.lanes.cancel(&lane),
            }
            self.unwritten.extend(result);
        }
    }

    /// Waits for running attempts, and writes their results.
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
        let (gone, others): (Vec<_>, Vec<_>) = results.into_iter().partition(DeliveryResult::is_gone);
        self.write_gone(gone);
        self.write_one_by_one(others);
    }

    /// One round: writes results, leases deliveries and starts their attempts. Returns the time until the next round if no
    /// signal comes first.
    fn round(&mut self) -> Result<Duration> {
        let (gone, results): (Vec<_>, Vec<_>) = std::mem::take(&mut self.unwritten)
            .into_iter()
            .partition(DeliveryResult::is_gone);
        self.unwritten = results;
        self.write_gone(gone);
        let has_more_alerts = self.deliver_alerts()?;
        let queue = self.read_queue()?;
        let now = self.service.clock.now();
        let (in_use, unused): (Vec<_>, Vec<_>) = queue.ready.into_iter().partition(|ready| ready.is_in_use);
        let mut guards = self.choose_lanes(in_use);
        let is_current = |(version, at): (ConfigurationVersion, Instant)| {
            version == queue.deployment_version && at.elapsed() < Duration::from_secs(RELEASE_SECONDS_MAX)
        };
        let transaction = Transaction {
            results: self.unwritten.clone(),
            is_due: queue.next_due_at.is_some_and(|due_at| due_at <= now),
            unused: unused.into_iter().map(|ready| ready.webhook_id).collect(),
            is_releasing: !self.nothing_released.is_some_and(is_current),
            wanted: guards
                .iter()
                .map(|(webhook_id, guards)| (webhook_id.clone(), guards.len()))
                .collect(),
            lease: self.service.entropy.bytes(),
        };
        if transaction.is_empty() {
            return Ok(match has_more_alerts {
                true => Duration::ZERO,
                false => self.time_until(queue.next_due_at),
            });
        }
        let lease = transaction.lease;
        let is_releasing = transaction.is_releasing;
        let done = self.write(transaction)?;
        if is_releasing && done.released == 0 {
            self.nothing_released = Some((queue.deployment_version, Instant::now()));
        }
        let mut started = 0;
        for leased in done.leased {
            let lane_guards = guards.get_mut(&leased.webhook.id);
            if let Some(guard) = lane_guards.and_then(Vec::pop) {
                started += usize::from(self.start_attempt(guard, leased, lease, done.leased_until));
            }
        }
        if has_more_alerts || started + done.moved > 0 {
            // The limits of the transaction may have left more deliveries.
            return Ok(Duration::ZERO);
        }
        Ok(self.time_until(queue.next_due_at))
    }

    /// Writes deliveries of alerts, in a transaction of bounded size; ledgers take turns. Returns whether there may be more.
    fn deliver_alerts(&mut self) -> Result<bool> {
        let after = self.delivered_last;
        let store = &self.service.store;
        let ledgers = store.read(|reader| reader.undelivered_ledgers(after, LEDGERS_OF_ALERTS_MAX))?;
        let Some(last) = ledgers.0.last() else {
            return Ok(false);
        };
        self.delivered_last = Some(*last);
        let share = ALERT_DELIVERIES_MAX / ledgers.0.len();
        let delivered = store.write(move |writer| writer.deliver_alerts(&ledgers, share))?;
        // Another node has locked the alerts if there are none.
        Ok(delivered > 0)
    }

    fn read_queue(&self) -> Result<Queue> {
        let is_free = self.lanes.free() > 0;
        self.service.store.read(|reader| {
            Ok(Queue {
                deployment_version: reader.deployment_version()?,
                next_due_at: reader.next_due_at()?,
                ready: match is_free {
                    true => reader.ready_webhooks()?,
                    false => Vec::new(),
                },
            })
        })
    }

    /// Reserves lanes for the attempts that may start now, by webhook.
    fn choose_lanes(&mut self, ready: Vec<ReadyWebhook>) -> BTreeMap<String, Vec<LaneGuard>> {
        let keys = &self.service.settings.encryption;
        let waiting = ready.into_iter().map(|ready| waiting(ready, keys)).collect();
        let mut chosen: BTreeMap<String, Vec<LaneGuard>> = BTreeMap::new();
        for lane in self.lanes.choose(waiting) {
            let webhook_id = lane.endpoint().webhook_id.clone();
            let guard = LaneGuard::new(&self.service.wake, lane);
            chosen.entry(webhook_id).or_default().push(guard);
        }
        chosen
    }

    /// Runs `transaction`. If it fails temporarily, its results stay in `unwritten` for the next round.
    fn write(&mut self, transaction: Transaction) -> Result<TransactionResult> {
        let clock = Arc::clone(&self.service.clock);
        let written = self
            .service
            .store
            .write(move |writer| transaction.run(writer, clock.as_ref()));
        match written {
            Ok(done) => {
                self.unwritten.clear();
                done.outcomes
                    .iter()
                    .for_each(|step| self.service.deliveries.count(*step));
                Ok(done)
            }
            Err(error) => {
                // One result may have caused the error; it must not block the others.
                if !is_temporary(&error) {
                    let results = std::mem::take(&mut self.unwritten);
                    self.write_one_by_one(results);
                }
                Err(error.into())
            }
        }
    }

    /// Writes each result in its own transaction. If that fails, the delivery is attempted again when its lease expires.
    fn write_one_by_one(&self, results: Vec<DeliveryResult>) {
        for result in results {
            let webhook_id = result.webhook_id.clone();
            let written = self.service.store.write(move |writer| result.write(writer));
            self.note_written(&webhook_id, written);
        }
    }

    /// Writes results with status 410. They disable webhooks, which changes the configuration.
    fn write_gone(&self, gone: Vec<DeliveryResult>) {
        for result in gone {
            let webhook_id = result.webhook_id.clone();
            let project_id = result.project_id.parse::<ProjectId>();
            let project_id = project_id.map_err(|_| StoreError::Damaged { what: "project id" });
            let written = project_id.and_then(|project_id| {
                let written = self.write_gone_in(project_id, result);
                written.map_err(|error| StoreError::Unreachable(error.to_string()))
            });
            self.note_written(&webhook_id, written);
        }
    }

    fn write_gone_in(&self, project_id: ProjectId, result: DeliveryResult) -> Result<Option<NextStep>> {
        let keys = self.service.settings.encryption.clone();
        self.service
            .change_project(project_id, &Requester::Service, move |configurator| {
                let before = configurator.webhook(project_id, &result.webhook_id)?;
                let step = result.write_gone(configurator)?;
                let after = configurator.webhook(project_id, &result.webhook_id)?;
                let event = match (before, after) {
                    // Its URL may have been encrypted again meanwhile.
                    (Some(before), Some(after)) if before.enabled != after.enabled => {
                        let (before, after) = (Webhook::open(&before, &keys)?, Webhook::open(&after, &keys)?);
                        ServiceEvent::webhook(Some(&before), Some(&after))
                    }
                    _ => None,
                };
                Ok(Changed::if_some(step, event))
            })
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

    /// Starts an attempt in a thread of its own. Returns whether it started.
    fn start_attempt(
        &self,
        guard: LaneGuard,
        leased: LeasedDelivery,
        lease: Lease,
        leased_until: Timestamp,
    ) -> bool {
        let remaining_ms = leased_until.as_millis() - self.service.clock.now().as_millis();
        let timeout_ms = i64::try_from(self.sender.timeout().as_millis()).unwrap_or(i64::MAX);
        if remaining_ms < timeout_ms.saturating_add(LEASE_MARGIN_MS) {
            log::warn!(
                "the lease of a delivery is too short for an attempt; the delivery is due again when it expires"
            );
            return false;
        }
        let (service, sender) = (Arc::clone(&self.service), self.sender.clone());
        let thread = std::thread::Builder::new().name("delivery".to_owned());
        let spawned = thread.spawn(move || {
            let mut guard = guard;
            guard.begin();
            let (course, result) = attempt(&service, &sender, &leased, lease);
            guard.end(course, result);
        });
        // If the thread does not start, dropping the closure drops the guard, which frees the lane.
        spawned
            .inspect_err(|error| log::error!("cannot start a thread for a delivery: {error}"))
            .is_ok()
    }

    fn time_until(&self, due_at: Option<Timestamp>) -> Duration {
        let (poll_min, poll) = (Duration::from_millis(POLL_MS_MIN), Duration::from_millis(POLL_MS));
        let now = self.service.clock.now().as_micros();
        let until = due_at.map(|due_at| (due_at.as_micros() - now).max(0).unsigned_abs());
        until.map_or(poll, |micros| Duration::from_micros(micros).clamp(poll_min, poll))
    }
}

/// Runs a round and returns the time until the next one. An error or a panic does not stop the dispatcher.
fn guarded(round: impl FnOnce() -> Result<Duration>) -> Duration {
    match catch_unwind(AssertUnwindSafe(round)) {
        Ok(Ok(wait)) => return wait,
        Ok(Err(error)) => log::warn!("cannot read or lease the due deliveries: {error}"),
        Err(_) => log::error!("the delivery thread panicked and continues"),
    }
    Duration::from_millis(POLL_MS)
}

/// Whether a repetition may succeed.
const fn is_temporary(error: &StoreError) -> bool {
    matches!(
        error,
        StoreError::Unreachable(_)
            | StoreError::OutcomeUnknown(_)
            | StoreError::Overloaded
            | StoreError::Stopped
    )
}

fn waiting(ready: ReadyWebhook, keys: &KeyRing) -> Waiting {
    // Only to group webhooks by host. The attempt checks whether the URL opens and the address is allowed.
    let place = secrets::of_webhook_url(&ready.webhook_id, &ready.project_id);
    let url = secrets::open_text(&ready.url, keys, place).ok();
    let url = url.and_then(|url| WebhookUrl::parse(&url, AddressPolicy::AllowPrivate).ok());
    let host = url.map_or_else(|| ready.webhook_id.clone(), |url| url.host().to_owned());
    Waiting {
        endpoint: Endpoint {
            webhook_id: ready.webhook_id,
            organization_id: ready.organization_id,
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
