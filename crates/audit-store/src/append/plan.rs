//! What one commit writes. Pure: the databases supply what is there, and write what comes out.

use super::{AppendOutcome, AppendRequest, Appended, Destination, Idempotency, KeyHash, LedgerId, Tokens};
use crate::error::StoreError;
use audit_domain::{Comparison, Environment, EventId, ProjectId, Record, SentDigest, Stamp};
use std::collections::HashMap;

/// The end of a ledger.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Head {
    /// How many events it holds.
    pub(crate) size: i64,
    /// The stamp of the newest.
    pub(crate) last: Option<Stamp>,
}

/// An event with a key that is stored already.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KnownKey {
    pub(crate) id: EventId,
    pub(crate) digest: SentDigest,
}

/// What is in the database, as far as the requests of a commit depend on it.
#[derive(Debug, Default)]
pub(crate) struct Before {
    /// The current version of the configuration.
    pub(crate) configuration_version: i64,
    /// The heads of the ledgers that are appended to.
    pub(crate) heads: HashMap<LedgerId, Head>,
    /// Live events stored on the day of the commit, for the projects that are appended to.
    pub(crate) usage: HashMap<ProjectId, u64>,
    /// The idempotency keys of the requests that are taken.
    pub(crate) keys: HashMap<(LedgerId, KeyHash), KnownKey>,
}

/// One row to write.
#[derive(Debug)]
pub(crate) struct NewRow {
    pub(crate) ledger_id: LedgerId,
    pub(crate) seq: i64,
    pub(crate) record: Record,
    pub(crate) action: String,
    pub(crate) tokens: Tokens,
    pub(crate) idempotency: Option<Idempotency>,
}

/// Everything to write, and the answers to give once it is committed.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) rows: Vec<NewRow>,
    pub(crate) outcomes: Vec<AppendOutcome>,
    /// The state after the commit.
    pub(crate) after: Before,
}

/// Decides what becomes of every event of every request, in their order.
pub(crate) fn plan(requests: Vec<AppendRequest>, before: Before) -> Plan {
    let mut plan = Plan {
        rows: Vec::new(),
        outcomes: Vec::with_capacity(requests.len()),
        after: before,
    };
    for request in requests {
        let outcome = plan.add(request);
        plan.outcomes.push(outcome);
    }
    plan
}

impl Plan {
    /// Adds all of a request or, when it is refused, nothing of it.
    fn add(&mut self, request: AppendRequest) -> AppendOutcome {
        let AppendRequest { destination, events } = request;
        let ledger_id = destination.ledger_id;
        if destination.configuration_version != self.after.configuration_version {
            return Err(StoreError::Stale);
        }
        let Some(&head) = self.after.heads.get(&ledger_id) else {
            return Err(StoreError::Damaged {
                what: "reference to a ledger",
            });
        };
        let first_row = self.rows.len();
        let mut keys_added = Vec::new();
        let mut next = head;
        let mut appended = Vec::with_capacity(events.len());
        for event in events {
            if let Some(repeat) = event
                .idempotency
                .and_then(|idempotency| self.known(ledger_id, &idempotency))
            {
                appended.push(repeat);
                continue;
            }
            let mut record = event.record;
            let stamp = record.stamp().following(next.last);
            if stamp != record.stamp() {
                record.restamp(stamp);
            }
            if let Some(idempotency) = event.idempotency {
                let key = (ledger_id, idempotency.hash);
                self.after.keys.insert(
                    key,
                    KnownKey {
                        id: stamp.id,
                        digest: idempotency.digest,
                    },
                );
                keys_added.push(key);
            }
            appended.push(Appended::Stored(stamp.id));
            let (action, tokens, idempotency) = (event.action, event.tokens, event.idempotency);
            self.rows.push(NewRow {
                ledger_id,
                seq: next.size,
                record,
                action,
                tokens,
                idempotency,
            });
            next = Head {
                size: next.size + 1,
                last: Some(stamp),
            };
        }
        if let Err(error) = self.use_up(&destination, (self.rows.len() - first_row) as u64) {
            self.rows.truncate(first_row);
            for key in keys_added {
                self.after.keys.remove(&key);
            }
            return Err(error);
        }
        self.after.heads.insert(ledger_id, next);
        Ok(appended)
    }

    /// Counts events that are about to be stored, unless that would pass the project's limit.
    fn use_up(&mut self, destination: &Destination, stored: u64) -> Result<(), StoreError> {
        if destination.environment != Environment::Live {
            return Ok(());
        }
        let used = self.after.usage.entry(destination.project_id).or_default();
        match destination
            .daily_events_max
            .filter(|limit| stored > 0 && *used + stored > *limit)
        {
            Some(limit) => Err(StoreError::DailyLimit { limit }),
            None => {
                *used += stored;
                Ok(())
            }
        }
    }

    fn known(&self, ledger_id: LedgerId, idempotency: &Idempotency) -> Option<Appended> {
        let known = self.after.keys.get(&(ledger_id, idempotency.hash))?;
        Some(match idempotency.digest.compare(&known.digest) {
            // With another digest key nobody can tell; the sender says that it is the same event.
            Comparison::Same | Comparison::Unknown => Appended::Repeated(known.id),
            Comparison::Different => Appended::Conflicting(known.id),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::append::NewEvent;
    use audit_domain::{Event, Timestamp};
    use serde_json::json;

    const LEDGER: LedgerId = LedgerId(1);

    fn destination(daily_events_max: Option<u64>) -> Destination {
        Destination {
            ledger_id: LEDGER,
            project_id: ProjectId::from_random([1; 16]),
            environment: Environment::Live,
            configuration_version: 5,
            daily_events_max,
        }
    }

    fn event(millis: i64, key: Option<&str>, content: &str) -> NewEvent {
        let value = json!({"action": "a.b", "category": "auth", "tenant_id": content, "actor": {"id": "a", "type": "user"}});
        let received_at = Timestamp::from_millis(millis);
        let event = Event::from_json(value, received_at).unwrap();
        let record = Record::new(
            &event,
            false,
            Stamp {
                id: EventId::new(received_at, [5; 10]),
                received_at,
            },
        );
        NewEvent::new(
            &destination(None),
            record,
            &event.facets(),
            key.map(|key| (key, event.sent_digest(None))),
        )
    }

    fn request(daily_events_max: Option<u64>, events: Vec<NewEvent>) -> AppendRequest {
        AppendRequest {
            destination: destination(daily_events_max),
            events,
        }
    }

    fn before() -> Before {
        let heads = HashMap::from([(LEDGER, Head { size: 10, last: None })]);
        Before {
            configuration_version: 5,
            heads,
            ..Before::default()
        }
    }

    #[test]
    fn sequence_numbers_have_no_gap_and_stamps_never_go_back() {
        let plan = plan(
            vec![
                request(None, vec![event(2_000, None, "a"), event(2_000, None, "b")]),
                request(None, vec![event(1_000, None, "c")]),
                request(None, vec![event(3_000, None, "d")]),
            ],
            before(),
        );
        assert_eq!(
            plan.rows.iter().map(|row| row.seq).collect::<Vec<_>>(),
            [10, 11, 12, 13]
        );
        assert!(plan.rows.is_sorted_by(|a, b| {
            let (a, b) = (a.record.stamp(), b.record.stamp());
            a.id < b.id && a.received_at <= b.received_at
        }));
        assert_eq!(plan.after.heads[&LEDGER].size, 14);
    }

    #[test]
    fn a_repeated_key_is_stored_once_within_and_across_requests() {
        let plan = plan(
            vec![
                request(
                    None,
                    vec![
                        event(1, Some("k"), "a"),
                        event(1, Some("k"), "a"),
                        event(1, Some("k"), "b"),
                    ],
                ),
                request(None, vec![event(2, Some("k"), "a")]),
            ],
            before(),
        );
        let id = plan.rows[0].record.stamp().id;
        assert_eq!(plan.rows.len(), 1);
        let outcomes: Vec<_> = plan.outcomes.into_iter().map(Result::unwrap).collect();
        let first = vec![
            Appended::Stored(id),
            Appended::Repeated(id),
            Appended::Conflicting(id),
        ];
        assert_eq!(outcomes, [first, vec![Appended::Repeated(id)]]);
    }

    #[test]
    fn a_request_past_the_daily_limit_leaves_no_trace() {
        let mut before = before();
        before.usage.insert(destination(None).project_id, 7);
        let plan = plan(
            vec![
                request(
                    Some(9),
                    vec![event(1, Some("k"), "a"), event(1, None, "b"), event(1, None, "c")],
                ),
                request(Some(9), vec![event(1, Some("k"), "other"), event(1, None, "b")]),
                request(Some(9), vec![event(1, Some("k"), "other")]),
                request(Some(9), vec![event(1, None, "d")]),
            ],
            before,
        );
        assert!(matches!(
            plan.outcomes[0],
            Err(StoreError::DailyLimit { limit: 9 })
        ));
        assert!(matches!(
            plan.outcomes[1].as_deref(),
            Ok([Appended::Stored(_), Appended::Stored(_)])
        ));
        assert!(
            matches!(plan.outcomes[2].as_deref(), Ok([Appended::Repeated(_)])),
            "a repeat uses nothing up"
        );
        assert!(matches!(plan.outcomes[3], Err(StoreError::DailyLimit { .. })));
        assert_eq!(plan.rows.iter().map(|row| row.seq).collect::<Vec<_>>(), [10, 11]);
    }

    #[test]
    fn what_was_prepared_with_an_old_configuration_is_refused() {
        let before = Before {
            configuration_version: 6,
            ..before()
        };
        let plan = plan(vec![request(None, vec![event(1, None, "a")])], before);
        assert!(matches!(plan.outcomes[0], Err(StoreError::Stale)));
        assert!(plan.rows.is_empty());
    }
}
