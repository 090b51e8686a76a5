//! One attempt at a delivery, and its result.

use super::message::body;
use super::results::{AttemptReport, Attempted, DeliveryResult, Lease};
use crate::deliveries::message_id;
use crate::error::{AppError, Result};
use crate::service::AuditLog;
use crate::webhooks::{open_secret, open_url};
use audit_domain::Timestamp;
use audit_store::{AfterAttempt, AttemptRow, LeasedDelivery, StoreError};
use audit_webhooks::{
    Course, DeliveryStatus, FailureKind, NextStep, Outcome, OutgoingRequest, Persistence, Sender,
    SignatureHeaders, TooManyLookups, WebhookUrl, next_step, step_after_failure,
};

/// The delay of a delivery that could not be attempted because too many DNS lookups are in flight, in seconds.
const POSTPONED_SECONDS: i64 = 5;

/// Attempts a delivery. Returns the course of the attempt (`None` if there was none) and the result to write.
pub(super) fn attempt(
    service: &AuditLog,
    sender: &Sender,
    leased: &LeasedDelivery,
    lease: Lease,
) -> (Option<Course>, DeliveryResult) {
    let started_at = service.clock.now();
    let sent = send(service, sender, leased, started_at);
    let now = service.clock.now();
    let result = |report| DeliveryResult {
        delivery_id: leased.delivery.id.clone(),
        webhook_id: leased.webhook.id.clone(),
        project_id: leased.webhook.project_id.clone(),
        url: leased.webhook.url.clone(),
        lease,
        report,
    };
    let Ok(outcome) = sent else {
        log::warn!("a delivery is postponed: too many DNS lookups are in flight");
        let until = now.plus_seconds(POSTPONED_SECONDS);
        return (None, result(AttemptReport::NotAttempted { until }));
    };
    let duration_ms = now.as_millis() - started_at.as_millis();
    let (status_code, failure) = match outcome {
        Outcome::Answered { status, .. } => (Some(i64::from(status)), None),
        Outcome::Failed(kind) => (None, Some(kind.as_str().to_owned())),
    };
    let row = AttemptRow {
        delivery_id: leased.delivery.id.clone(),
        number: leased.delivery.attempts + 1,
        started_at: started_at.as_micros(),
        duration_ms,
        status_code,
        failure,
    };
    let jitter = u32::from_be_bytes(service.entropy.bytes());
    let report = RetryState::of(leased, started_at).report(row, outcome, now, jitter);
    let course = Course::of(outcome.is_delivered(), duration_ms);
    (Some(course), result(report))
}

/// The position of a delivery in its retry schedule.
struct RetryState {
    persistence: Persistence,
    /// Attempts of the schedule so far, including this one if it is scheduled.
    scheduled_attempts: i64,
}

impl RetryState {
    fn of(leased: &LeasedDelivery, started_at: Timestamp) -> Self {
        let delivery = &leased.delivery;
        // A requested attempt that begins after the time of the scheduled one replaces it.
        let scheduled_at = delivery.scheduled_at.map(Timestamp::from_micros);
        let extra = scheduled_at.filter(|at| delivery.is_retried && *at > started_at);
        let persistence = match (extra, delivery.is_retried) {
            (Some(at), _) => Persistence::Extra(at),
            (None, true) => Persistence::Schedule,
            (None, false) => Persistence::Once,
        };
        Self {
            persistence,
            scheduled_attempts: delivery.scheduled_attempts + i64::from(extra.is_none()),
        }
    }

    fn report(&self, row: AttemptRow, outcome: Outcome, now: Timestamp, jitter: u32) -> AttemptReport {
        let attempts_made = u32::try_from(self.scheduled_attempts).unwrap_or(u32::MAX);
        let step = next_step(&outcome, attempts_made, self.persistence, now, jitter);
        let after = self.after(step, now);
        let if_retry_requested = match step {
            NextStep::RetryAt(_) | NextStep::Failed => Some(self.after_retry_request(step, now)),
            NextStep::Delivered | NextStep::Gone => None,
        };
        let if_moved = (step == NextStep::Gone).then(|| {
            let step = step_after_failure(None, attempts_made, self.persistence, now, jitter);
            (step, self.after(step, now))
        });
        AttemptReport::Attempted(Box::new(Attempted {
            row,
            step,
            after,
            if_retry_requested,
            if_moved,
        }))
    }

    fn after(&self, step: NextStep, now: Timestamp) -> AfterAttempt {
        let (status, due_at) = match step {
            NextStep::Delivered => (DeliveryStatus::Delivered, None),
            NextStep::RetryAt(at) => (DeliveryStatus::Pending, Some(at)),
            NextStep::Failed | NextStep::Gone => (DeliveryStatus::Failed, None),
        };
        AfterAttempt {
            status: status.as_str().to_owned(),
            scheduled_attempts: self.scheduled_attempts,
            is_retried: self.persistence != Persistence::Once,
            due_at,
            scheduled_at: None,
            finished_at: due_at.is_none().then_some(now),
        }
    }

    /// The delivery after this failed attempt, if another attempt was requested meanwhile.
    fn after_retry_request(&self, step: NextStep, now: Timestamp) -> AfterAttempt {
        let scheduled_at = match step {
            NextStep::RetryAt(at) => Some(at),
            NextStep::Delivered | NextStep::Failed | NextStep::Gone => None,
        };
        AfterAttempt {
            status: DeliveryStatus::Pending.as_str().to_owned(),
            is_retried: scheduled_at.is_some(),
            due_at: Some(now),
            scheduled_at,
            finished_at: None,
            ..self.after(step, now)
        }
    }
}

fn send(
    service: &AuditLog,
    sender: &Sender,
    leased: &LeasedDelivery,
    now: Timestamp,
) -> Result<Outcome, TooManyLookups> {
    let webhook = &leased.webhook;
    let url = open_url(webhook, &service.settings.encryption);
    let made = url.and_then(|url| Ok((url, message(service, leased, now)?)));
    let (url, (body, signature)) = match made {
        Ok(made) => made,
        Err(error) => {
            log::error!("a delivery to webhook {} cannot be sent: {error}", webhook.id);
            return Ok(Outcome::Failed(FailureKind::NotSendable));
        }
    };
    let Ok(url) = WebhookUrl::parse(&url, service.settings.webhook_addresses) else {
        // The URL was allowed when the webhook was written; the operator has changed the policy since.
        return Ok(Outcome::Failed(FailureKind::AddressNotAllowed));
    };
    sender.send(&OutgoingRequest {
        url: &url,
        signature: &signature,
        body: body.as_bytes(),
    })
}

/// The body and the signature headers.
fn message(
    service: &AuditLog,
    leased: &LeasedDelivery,
    now: Timestamp,
) -> Result<(String, SignatureHeaders)> {
    let keys = &service.settings.encryption;
    let open = |row| open_secret(row, keys, &leased.webhook.id);
    let secrets = leased.secrets.iter().map(open).collect::<Result<Vec<_>>>()?;
    let damaged = || AppError::from(StoreError::Damaged { what: "webhook" });
    let (newest, older) = secrets.split_first().ok_or_else(damaged)?;
    let body = body(service, leased)?;
    let message_id = message_id(&leased.delivery)?;
    let signature = SignatureHeaders::sign(message_id, now, body.as_bytes(), newest, older);
    Ok((body, signature))
}

#[cfg(test)]
mod tests {
    use super::*;
    use audit_store::{DeliveryRow, WebhookRow};

    const NOW: Timestamp = Timestamp::from_seconds(1_768_473_000);
    const LATER: Timestamp = Timestamp::from_seconds(1_768_476_600);

    /// The result of a second attempt with this status, for a delivery with `scheduled_at` in its row.
    fn attempted(is_retried: bool, scheduled_at: Option<Timestamp>, status: u16) -> Attempted {
        let delivery = DeliveryRow {
            attempts: 1,
            scheduled_attempts: 1,
            is_retried,
            scheduled_at: scheduled_at.map(Timestamp::as_micros),
            ..DeliveryRow::single(vec![1; 16], "wh".to_owned(), "webhook.test", NOW)
        };
        let leased = LeasedDelivery {
            delivery,
            webhook: WebhookRow {
                id: "wh".to_owned(),
                project_id: String::new(),
                url: Vec::new(),
                format: "json".to_owned(),
                enabled: true,
                created_at: 0,
            },
            secrets: Vec::new(),
            alert: None,
        };
        let row = AttemptRow {
            delivery_id: vec![1; 16],
            number: 2,
            started_at: 0,
            duration_ms: 0,
            status_code: None,
            failure: None,
        };
        let outcome = Outcome::Answered {
            status,
            retry_after: None,
        };
        match RetryState::of(&leased, NOW).report(row, outcome, NOW, 0) {
            AttemptReport::Attempted(attempted) => *attempted,
            AttemptReport::NotAttempted { .. } => panic!("an attempt"),
        }
    }

    #[test]
    fn a_requested_attempt_does_not_count_for_the_schedule() {
        let extra = attempted(true, Some(LATER), 500).after;
        assert_eq!((extra.due_at, extra.scheduled_attempts), (Some(LATER), 1));
        let scheduled = attempted(true, None, 500).after;
        assert_eq!(
            (scheduled.due_at, scheduled.scheduled_attempts),
            (Some(NOW.plus_seconds(300)), 2)
        );
        let late = attempted(true, Some(NOW), 500).after;
        assert_eq!(late, scheduled, "it replaces the scheduled attempt");
    }

    #[test]
    fn a_retry_that_is_requested_during_an_attempt_follows_its_failure() {
        let requested = attempted(true, None, 500).if_retry_requested.unwrap();
        assert_eq!(
            (requested.due_at, requested.scheduled_at),
            (Some(NOW), Some(NOW.plus_seconds(300)))
        );
        assert_eq!((requested.scheduled_attempts, requested.is_retried), (2, true));
        let single = attempted(false, None, 500);
        assert_eq!(single.after.status, "failed");
        let requested = single.if_retry_requested.unwrap();
        assert_eq!(
            (requested.status.as_str(), requested.due_at, requested.is_retried),
            ("pending", Some(NOW), false)
        );
        assert_eq!(requested.finished_at, None);
        assert_eq!(attempted(true, None, 204).if_retry_requested, None);
        assert_eq!(attempted(true, None, 410).if_retry_requested, None);
    }

    #[test]
    fn a_410_from_a_former_url_is_an_ordinary_failure() {
        let gone = attempted(true, None, 410);
        assert_eq!(
            (gone.step, gone.after.status.as_str()),
            (NextStep::Gone, "failed")
        );
        let (step, after) = gone.if_moved.unwrap();
        assert_eq!(step, NextStep::RetryAt(NOW.plus_seconds(300)));
        assert_eq!(
            (after.status.as_str(), after.due_at),
            ("pending", Some(NOW.plus_seconds(300)))
        );
    }
}
