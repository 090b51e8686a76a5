//! Delivering: taking what is due, attempting it, and writing what came of it.
//!
//! One thread decides, and each attempt has a thread of its own, because it may hang for its whole timeout. How many run
//! at once, in all and for one webhook, is what [`Lanes`] say, so that no webhook keeps another's deliveries waiting.
//! Everything is in the database: a process that dies in the middle of an attempt loses its lease, and the delivery is
//! due again, here or on another node.

use crate::alerts::alert_from_row;
use crate::deliveries::{DeliveryKind, message_id};
use crate::error::{AppError, Result};
use crate::service::AuditLog;
use crate::webhooks::open_secret;
use audit_domain::Timestamp;
use audit_store::{AfterAttempt, AttemptRow, LeasedDelivery, StoreError};
use audit_webhooks::{
    DeliveryStatus, FailureKind, Lanes, NextStep, Outcome, OutgoingRequest, Persistence, Sender,
    SignatureHeaders, WebhookUrl, next_step,
};
use serde_json::json;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// How long a delivery that was taken is left to whoever took it. Longer than an attempt can last.
const LEASE_MS: i64 = 30_000;
/// How often the queue is looked at when nobody says that there is something in it: what other nodes left.
const POLL_MS: u64 = 1_000;
/// How long attempts that have begun may take once the service stops.
const STOP_WAIT_MS: u64 = 2_000;

/// What attempts have led to, in this process.
#[derive(Debug, Default)]
pub(crate) struct DeliveryCounters {
    delivered: AtomicU64,
    retried: AtomicU64,
    failed: AtomicU64,
}

/// What attempts have led to, in this process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DeliveryStatistics {
    /// Answered with 2xx.
    pub delivered: u64,
    /// Not, and there will be another attempt.
    pub retried: u64,
    /// Not, and there will be none.
    pub failed: u64,
}

impl DeliveryCounters {
    fn count(&self, step: NextStep) {
        let counter = match step {
            NextStep::Delivered => &self.delivered,
            NextStep::RetryAt(_) => &self.retried,
            NextStep::Failed | NextStep::Gone => &self.failed,
        };
        counter.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn read(&self) -> DeliveryStatistics {
        DeliveryStatistics {
            delivered: self.delivered.load(Ordering::Relaxed),
            retried: self.retried.load(Ordering::Relaxed),
            failed: self.failed.load(Ordering::Relaxed),
        }
    }
}

/// What the deciding thread waits for.
#[derive(Debug, Default)]
pub(crate) struct Wake {
    news: Mutex<News>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct News {
    /// Something may be due.
    is_due: bool,
    is_stopping: bool,
    /// The webhooks of attempts that have ended, and whether they were answered with 2xx.
    ended: Vec<(String, bool)>,
}

impl Wake {
    /// Says that something may be due.
    pub(crate) fn due(&self) {
        self.tell(|news| news.is_due = true);
    }

    fn tell(&self, change: impl FnOnce(&mut News)) {
        change(&mut self.lock());
        self.changed.notify_all();
    }

    /// News are changed by single assignments, which leave them whole even in a panic.
    fn lock(&self) -> MutexGuard<'_, News> {
        self.news.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for news, at most for `time`.
    fn wait(&self, time: Duration) -> News {
        let is_quiet = |news: &mut News| !news.is_due && !news.is_stopping && news.ended.is_empty();
        let waited = self.changed.wait_timeout_while(self.lock(), time, is_quiet);
        let (mut news, _) = waited.unwrap_or_else(PoisonError::into_inner);
        News {
            is_due: std::mem::take(&mut news.is_due),
            is_stopping: news.is_stopping,
            ended: std::mem::take(&mut news.ended),
        }
    }
}

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
        self.wake.tell(|news| news.is_stopping = true);
        if self.thread.join().is_err() {
            log::error!("the thread that delivers ended in a panic");
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
    lanes: Lanes<String>,
}

impl Dispatcher {
    fn run(mut self) {
        let wake = Arc::clone(&self.service.wake);
        let mut wait = Duration::ZERO;
        loop {
            let news = wake.wait(wait);
            self.note_ended(news.ended);
            if news.is_stopping {
                return self.finish(&wake);
            }
            wait = match self.take_due() {
                // There may be more.
                Ok(Round { taken: 1.., .. }) => Duration::ZERO,
                Ok(Round { next_due_at, .. }) => self.time_until(next_due_at),
                Err(error) => {
                    log::warn!("what is to be delivered could not be read: {error}");
                    Duration::from_millis(POLL_MS)
                }
            };
        }
    }

    fn note_ended(&mut self, ended: Vec<(String, bool)>) {
        for (webhook_id, succeeded) in ended {
            self.lanes.finish(&webhook_id, succeeded);
        }
    }

    /// Waits for attempts that have begun.
    fn finish(&mut self, wake: &Wake) {
        let end = Instant::now() + Duration::from_millis(STOP_WAIT_MS);
        let is_running = |dispatcher: &Self| dispatcher.lanes.free() < Lanes::<String>::IN_FLIGHT_MAX;
        let mut ended = wake.lock();
        loop {
            self.note_ended(std::mem::take(&mut ended.ended));
            let left = end.saturating_duration_since(Instant::now());
            if !is_running(self) || left.is_zero() {
                return;
            }
            let waited = wake.changed.wait_timeout(ended, left);
            ended = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    fn time_until(&self, due_at: Option<Timestamp>) -> Duration {
        let poll = Duration::from_millis(POLL_MS);
        let now = self.service.clock.now().as_micros();
        let until = due_at.map(|due_at| (due_at.as_micros() - now).max(0).unsigned_abs());
        until.map_or(poll, |micros| Duration::from_micros(micros).min(poll))
    }

    /// Takes one delivery to each webhook to which one is due and may be attempted now, and begins the attempts.
    fn take_due(&mut self) -> Result<Round> {
        let now = self.service.clock.now();
        let due = self.service.store.read(|rows| rows.due_webhooks())?;
        let at_limit = self.lanes.at_limit();
        let (ready, later): (Vec<_>, Vec<_>) = due
            .into_iter()
            .filter(|due| !at_limit.contains(&due.webhook_id))
            .partition(|due| due.due_at <= now.as_micros());
        let mut round = Round {
            taken: 0,
            next_due_at: later.first().map(|due| Timestamp::from_micros(due.due_at)),
        };
        let webhook_ids: Vec<String> = ready.into_iter().map(|due| due.webhook_id).collect();
        let webhook_ids: Vec<String> = webhook_ids.into_iter().take(self.lanes.free()).collect();
        if webhook_ids.is_empty() {
            return Ok(round);
        }
        let lease: [u8; 16] = self.service.entropy.bytes();
        let leased_until = Timestamp::from_millis(now.as_millis() + LEASE_MS);
        let taken = self.service.store.write(move |rows| {
            let mut taken = Vec::with_capacity(webhook_ids.len());
            for webhook_id in webhook_ids {
                taken.extend(rows.lease_deliveries(&webhook_id, now, leased_until, &lease, 1)?);
            }
            Ok::<_, StoreError>(taken)
        })?;
        for leased in taken {
            round.taken += usize::from(self.begin(leased, lease));
        }
        Ok(round)
    }

    /// Begins an attempt; whether there was a thread for it.
    fn begin(&mut self, leased: LeasedDelivery, lease: [u8; 16]) -> bool {
        let webhook_id = leased.webhook.id.clone();
        if !self.lanes.start(webhook_id.clone()) {
            log::error!("more deliveries were taken than may run; one waits for its lease to end");
            return false;
        }
        let ended = Ended {
            wake: Arc::clone(&self.service.wake),
            webhook_id,
            succeeded: false,
        };
        let (service, sender) = (Arc::clone(&self.service), self.sender.clone());
        let thread = std::thread::Builder::new().name("delivery".to_owned());
        let spawned = thread.spawn(move || {
            // All of it, so that it is dropped at the end of this thread.
            let mut ended: Ended = ended;
            match attempt(&service, &sender, &leased, &lease) {
                Ok(succeeded) => ended.succeeded = succeeded,
                Err(error) => log::error!(
                    "a delivery to webhook {} could not be attempted or noted, and will be again: {error}",
                    leased.webhook.id
                ),
            }
        });
        match spawned {
            Ok(_) => true,
            // The lane is free again: what tells of the end was dropped with the closure.
            Err(error) => {
                log::error!("no thread to deliver: {error}");
                false
            }
        }
    }
}

/// What came of looking at what is due.
struct Round {
    /// Attempts that were begun.
    taken: usize,
    /// When the first of the others is due.
    next_due_at: Option<Timestamp>,
}

/// Tells of the end of an attempt, however it ends.
struct Ended {
    wake: Arc<Wake>,
    webhook_id: String,
    succeeded: bool,
}

impl Drop for Ended {
    fn drop(&mut self) {
        let webhook_id = std::mem::take(&mut self.webhook_id);
        self.wake
            .tell(|news| news.ended.push((webhook_id, self.succeeded)));
    }
}

/// Attempts a delivery and writes what came of it; whether it was answered with 2xx.
fn attempt(service: &AuditLog, sender: &Sender, leased: &LeasedDelivery, lease: &[u8; 16]) -> Result<bool> {
    let started_at = service.clock.now();
    let outcome = send(service, sender, leased, started_at)?;
    let now = service.clock.now();
    let number = leased.delivery.attempts + 1;
    let persistence = match leased.delivery.is_retried {
        true => Persistence::Schedule,
        false => Persistence::Once,
    };
    let jitter = u32::from_be_bytes(service.entropy.bytes());
    let attempts_made = u32::try_from(number).unwrap_or(u32::MAX);
    let step = next_step(&outcome, attempts_made, persistence, now, jitter);
    let (status_code, failure) = match outcome {
        Outcome::Answered { status, .. } => (Some(i64::from(status)), None),
        Outcome::Failed(kind) => (None, Some(kind.as_str().to_owned())),
    };
    let row = AttemptRow {
        delivery_id: leased.delivery.id.clone(),
        number,
        started_at: started_at.as_micros(),
        duration_ms: now.as_millis() - started_at.as_millis(),
        status_code,
        failure,
    };
    note(service, leased, row, step, now, *lease)?;
    service.deliveries.count(step);
    Ok(step == NextStep::Delivered)
}

/// Writes what came of an attempt.
fn note(
    service: &AuditLog,
    leased: &LeasedDelivery,
    row: AttemptRow,
    step: NextStep,
    now: Timestamp,
    lease: [u8; 16],
) -> Result<()> {
    let (status, due_at) = match step {
        NextStep::Delivered => (DeliveryStatus::Delivered, None),
        NextStep::RetryAt(at) => (DeliveryStatus::Pending, Some(at)),
        NextStep::Failed | NextStep::Gone => (DeliveryStatus::Failed, None),
    };
    let after = AfterAttempt {
        status: status.as_str().to_owned(),
        due_at,
        finished_at: due_at.is_none().then_some(now),
    };
    let webhook_id = leased.webhook.id.clone();
    let held = if step == NextStep::Gone {
        log::warn!("webhook {webhook_id} answered 410 and is disabled");
        service.store.configure(move |rows| {
            let held = rows.finish_attempt(&row, &lease, &after)?;
            rows.disable_webhook(&webhook_id)?;
            Ok::<_, StoreError>(held)
        })?
    } else {
        service
            .store
            .write(move |rows| rows.finish_attempt(&row, &lease, &after))?
    };
    if !held {
        log::info!(
            "a delivery to webhook {} was deleted or taken over meanwhile",
            leased.webhook.id
        );
    }
    Ok(())
}

fn send(service: &AuditLog, sender: &Sender, leased: &LeasedDelivery, now: Timestamp) -> Result<Outcome> {
    let Ok(url) = WebhookUrl::parse(&leased.webhook.url, service.settings.webhook_addresses) else {
        // It could be called when it was written; the operator has decided otherwise since.
        return Ok(Outcome::Failed(FailureKind::AddressNotAllowed));
    };
    let key = service.settings.encryption_key.as_ref();
    let open = |row: &audit_store::WebhookSecretRow| open_secret(&row.secret, key, &leased.webhook.id);
    let secrets = leased.secrets.iter().map(open).collect::<Result<Vec<_>>>()?;
    let damaged = || AppError::from(StoreError::Damaged { what: "webhook" });
    let (newest, older) = secrets.split_first().ok_or_else(damaged)?;
    let body = body(leased)?;
    let message_id = message_id(&leased.delivery)?;
    let signature = SignatureHeaders::sign(message_id, now, body.as_bytes(), newest, older);
    Ok(sender.send(&OutgoingRequest {
        url: &url,
        signature: &signature,
        body: body.as_bytes(),
    }))
}

/// What is sent: the same at every attempt, however the alert has fared since.
fn body(leased: &LeasedDelivery) -> Result<String> {
    let damaged = || AppError::from(StoreError::Damaged { what: "delivery" });
    let kind: DeliveryKind = leased.delivery.kind.parse().map_err(|_| damaged())?;
    let (timestamp, data) = match kind {
        DeliveryKind::AlertFired => {
            let alert = alert_from_row(leased.alert.clone().ok_or_else(damaged)?)?.as_fired();
            (
                alert.fired_at,
                serde_json::to_value(alert).map_err(AppError::internal)?,
            )
        }
        DeliveryKind::WebhookTest => {
            let created_at = Timestamp::from_micros(leased.delivery.created_at);
            (created_at, json!({"webhook_id": leased.webhook.id}))
        }
    };
    Ok(json!({"type": kind.as_str(), "timestamp": timestamp.to_string(), "data": data}).to_string())
}
