//! Legal holds of a ledger: the events that one covers are not removed while it is in force.

use super::known::{ChainEvent, LedgerLifecycle};
use crate::error::{AppError, Result};
use crate::self_audit::{Requester, ServiceEvent};
use crate::service::{AuditLog, Selection};
use audit_auth::MasterKey;
use audit_domain::{Hold, LifecycleEvent, Timestamp, Violations};
use std::collections::HashMap;

/// The maximum number of holds in force of a ledger.
pub const HOLDS_MAX: usize = 100;
/// How old a key must be, in seconds, that was created after a hold with a second key and releases it: whoever has one key can create
/// another, and must not release the hold before others have seen that.
const SECOND_KEY_SECONDS_MIN: i64 = 86_400;

audit_domain::ulid_id!(
    /// A legal hold.
    HoldId, "hld_", "a hold id"
);

/// Which events a hold covers: those that meet every condition that is given, and all of them without one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HeldFor {
    /// Of this tenant.
    pub tenant_id: Option<String>,
    /// Of this actor, as it was sent. Redaction may have stored it in other forms.
    pub actor_id: Option<String>,
    /// With this target among its targets, as it was sent.
    pub target_id: Option<String>,
    /// Received by the log at this time or later.
    pub from: Option<Timestamp>,
    /// Received by the log before this time.
    pub to: Option<Timestamp>,
}

/// A new hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewHold {
    /// Why.
    pub reason: String,
    /// Which events it covers.
    pub covers: HeldFor,
    /// Whether it can be released only with another key than the one that placed it, which was there before it or is a day old.
    pub second_key: bool,
}

/// A legal hold, in force or released.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LegalHold {
    /// Its id.
    pub id: String,
    /// Why.
    pub reason: String,
    /// The tenant whose events it covers; empty for any.
    pub tenant_id: Vec<String>,
    /// The stored forms of the id of the actor whose events it covers; empty for any.
    pub actor_id: Vec<String>,
    /// The stored forms of the id of the target whose events it covers; empty for any.
    pub target_id: Vec<String>,
    /// It covers events that the log received at this time or later.
    pub from: Option<Timestamp>,
    /// It covers events that the log received before this time.
    pub to: Option<Timestamp>,
    /// When it was placed.
    pub placed_at: Timestamp,
    /// The key that placed it.
    pub placed_by: String,
    /// The position of its event.
    pub seq: u64,
    /// Whether it can be released only with another key than the one that placed it.
    pub second_key: bool,
    /// Its release.
    pub released: Option<HoldRelease>,
}

/// The release of a hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HoldRelease {
    /// The position of its event.
    pub seq: u64,
    /// When.
    pub at: Timestamp,
    /// The key that released it.
    pub by: String,
    /// Why.
    pub reason: String,
}

impl AuditLog {
    /// The holds of a project and environment, oldest first; with `released` also those that were released.
    ///
    /// # Errors
    /// When the principal has no access to the project; [`AppError::LogInconsistent`] when the log was tampered with.
    pub fn holds(&self, master: &MasterKey, selection: Selection, released: bool) -> Result<Vec<LegalHold>> {
        let scope = self.lifecycle_scope(master, selection)?;
        let mut holds = self.lifecycle(&scope)?.all_holds();
        holds.retain(|hold| released || hold.released.is_none());
        Ok(holds)
    }

    /// Places a hold. A plan of retention is cancelled by it.
    ///
    /// # Errors
    /// As [`Self::holds`]; [`AppError::Invalid`] for a time that ends before it begins; [`AppError::Forbidden`] when the ledger has
    /// [`HOLDS_MAX`] holds in force.
    pub fn place_hold(&self, master: &MasterKey, selection: Selection, new: &NewHold) -> Result<LegalHold> {
        let scope = self.lifecycle_scope(master, selection)?;
        let id = HoldId::new(self.clock.now(), self.entropy.bytes()).to_string();
        let (hold, log) = (self.hold_of(&id, new)?, scope.log());
        self.add_lifecycle_event(&scope, &Requester::from(master), |present| {
            if present.fold.holds().count() >= HOLDS_MAX {
                let message = format!("a log has at most {HOLDS_MAX} holds in force");
                return Err(AppError::Forbidden(message));
            }
            let previous = present.lifecycle_seq;
            let event = ServiceEvent::hold_placed(hold.clone(), new.second_key, previous, &log);
            Ok(Some(event))
        })?;
        self.lifecycle(&scope)?.one_hold(&id)
    }

    /// Releases a hold.
    ///
    /// # Errors
    /// As [`Self::holds`]; [`AppError::NotFound`]; [`AppError::Conflict`] when it was released before; [`AppError::Forbidden`] when it
    /// asks for another key.
    pub fn release_hold(
        &self,
        master: &MasterKey,
        selection: Selection,
        id: HoldId,
        reason: &str,
    ) -> Result<LegalHold> {
        let scope = self.lifecycle_scope(master, selection)?;
        let (id, log) = (id.to_string(), scope.log());
        let key = self.key_of_cells(master.key_id)?;
        let created_at = key.map_or(Timestamp::MAX, |key| key.created_at);
        self.add_lifecycle_event(&scope, &Requester::from(master), |present| {
            let hold = present.one_hold(&id)?;
            if hold.released.is_some() {
                return Err(AppError::Conflict(format!("the hold {id} was released")));
            }
            hold.check_second_key(&master.key_id.to_string(), created_at, self.clock.now())?;
            let (placed, previous) = ((id.clone(), hold.seq), present.lifecycle_seq);
            Ok(Some(ServiceEvent::hold_released(placed, reason, previous, &log)))
        })?;
        self.lifecycle(&scope)?.one_hold(&id)
    }

    /// The hold with its ids in all stored forms. No rule redacts the id of a tenant.
    fn hold_of(&self, id: &str, new: &NewHold) -> Result<Hold> {
        let HeldFor {
            tenant_id,
            actor_id,
            target_id,
            from,
            to,
        } = &new.covers;
        let [from, to] = [from, to].map(|at| at.map(Timestamp::truncated_to_millis));
        if from.zip(to).is_some_and(|(from, to)| to <= from) {
            return Err(Violations::one("to", "must be later than from").into());
        }
        let forms = |sent: &Option<String>| {
            let sent = sent.as_deref();
            sent.map_or_else(Vec::new, |sent| self.stream_engine.identifier_forms(sent))
        };
        Ok(Hold {
            hold: id.to_owned(),
            reason: new.reason.clone(),
            tenant_id: tenant_id.iter().cloned().collect(),
            actor_id: forms(actor_id),
            target_id: forms(target_id),
            from,
            to,
        })
    }
}

impl LedgerLifecycle {
    /// All holds, oldest first.
    pub(super) fn all_holds(&self) -> Vec<LegalHold> {
        let mut holds = Vec::new();
        // By position of the event that placed the hold.
        let mut releases = HashMap::new();
        for event in &self.events {
            match LifecycleEvent::read(&event.event) {
                Some((_, LifecycleEvent::HoldPlaced(hold))) => holds.push(LegalHold::placed(hold, event)),
                Some((_, LifecycleEvent::HoldReleased { placed, .. })) => {
                    releases.insert(placed, HoldRelease::of(event));
                }
                _ => {}
            }
        }
        for hold in &mut holds {
            hold.released = releases.remove(&hold.seq);
        }
        holds
    }

    fn one_hold(&self, id: &str) -> Result<LegalHold> {
        let mut holds = self.all_holds().into_iter();
        holds.find(|hold| hold.id == id).ok_or(AppError::NotFound("hold"))
    }
}

impl LegalHold {
    fn placed(hold: Hold, event: &ChainEvent) -> Self {
        let second_key = event.metadata("second_key");
        Self {
            id: hold.hold,
            reason: hold.reason,
            tenant_id: hold.tenant_id,
            actor_id: hold.actor_id,
            target_id: hold.target_id,
            from: hold.from,
            to: hold.to,
            placed_at: event.at,
            placed_by: event.by().to_owned(),
            seq: event.seq,
            second_key: second_key.and_then(serde_json::Value::as_bool).unwrap_or(false),
            released: None,
        }
    }

    /// Checks that a key that was created at this time may release the hold.
    fn check_second_key(&self, key_id: &str, created_at: Timestamp, now: Timestamp) -> Result<()> {
        let was_there = created_at.truncated_to_millis() <= self.placed_at;
        let is_old = created_at <= now.plus_seconds(-SECOND_KEY_SECONDS_MIN);
        let message = match self.second_key {
            true if self.placed_by == key_id => "the hold asks for another key than the one that placed it",
            true if !was_there && !is_old => {
                "the hold asks for a key that is older than the hold, or a day old"
            }
            _ => return Ok(()),
        };
        Err(AppError::Forbidden(message.to_owned()))
    }
}

impl HoldRelease {
    fn of(event: &ChainEvent) -> Self {
        Self {
            seq: event.seq,
            at: event.at,
            by: event.by().to_owned(),
            reason: event.text("reason").unwrap_or_default().to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Map;

    #[test]
    fn a_key_that_was_created_for_it_does_not_release_a_hold_with_a_second_key() {
        let placed_at = Timestamp::from_seconds(1_800_000_000);
        let event = |second_key: bool| ChainEvent {
            seq: 7,
            at: placed_at,
            event: Map::from_iter([
                ("actor".to_owned(), serde_json::json!({"id": "one"})),
                (
                    "metadata".to_owned(),
                    serde_json::json!({"second_key": second_key}),
                ),
            ]),
        };
        let hold = LegalHold::placed(Hold::default(), &event(true));
        let now = placed_at.plus_seconds(10 * SECOND_KEY_SECONDS_MIN);
        let is_refused = |key: &str, age: i64| {
            let created_at = now.plus_seconds(-age);
            hold.check_second_key(key, created_at, now).is_err()
        };
        for (age, refused) in [
            (0, true),
            (SECOND_KEY_SECONDS_MIN - 1, true),
            (SECOND_KEY_SECONDS_MIN, false),
        ] {
            assert_eq!(is_refused("two", age), refused, "{age}");
            assert!(is_refused("one", age));
        }
        // At once, with a key that was there before.
        assert!(hold.check_second_key("two", placed_at, placed_at).is_ok());
        let new = placed_at.plus_seconds(1);
        assert!(hold.check_second_key("two", new, new).is_err());
        let hold = LegalHold::placed(Hold::default(), &event(false));
        assert!(hold.check_second_key("one", now, now).is_ok());
    }
}
