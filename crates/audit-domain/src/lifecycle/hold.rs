//! Legal holds: what no removal takes.

use crate::{Timestamp, logged_at};
use serde_json::{Map, Value};

/// A hold covers the events that have one of the ids of each list that is not empty, and entered the log within its time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hold {
    /// Its id, `hld_…`.
    pub hold: String,
    /// Why it was placed, as the operator says.
    pub reason: String,
    /// The tenant, in all forms in which events have it; any where empty.
    pub tenant_id: Vec<String>,
    /// The actor, in all forms in which events have it; any where empty.
    pub actor_id: Vec<String>,
    /// A target, in all forms in which events have it; any where empty.
    pub target_id: Vec<String>,
    /// The first time, as the log received events.
    pub from: Option<Timestamp>,
    /// The time behind the last one.
    pub to: Option<Timestamp>,
}

/// What of an event a hold is compared with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeldFields<'a> {
    /// Its tenant.
    pub tenant_id: &'a str,
    /// Its actor.
    pub actor_id: &'a str,
    /// Each of its targets.
    pub target_id: Vec<&'a str>,
    /// When it entered the log.
    pub logged_at: Timestamp,
}

impl Hold {
    /// Whether it covers an event.
    pub fn covers(&self, event: &HeldFields<'_>) -> bool {
        let has = |ids: &[String], id: &str| ids.iter().any(|one| one == id);
        let is_of = |ids: &[String], id: &str| ids.is_empty() || has(ids, id);
        let mut targets = event.target_id.iter();
        is_of(&self.tenant_id, event.tenant_id)
            && is_of(&self.actor_id, event.actor_id)
            && (self.target_id.is_empty() || targets.any(|id| has(&self.target_id, id)))
            && self.from.is_none_or(|from| from <= event.logged_at)
            && self.to.is_none_or(|to| event.logged_at < to)
    }
}

impl<'a> HeldFields<'a> {
    /// Those of an event as a full read returns it. `None` where it has no time. A field that was erased is empty.
    pub fn of(event: &'a Map<String, Value>) -> Option<Self> {
        let id = |party: &'a Value| party["id"].as_str();
        let targets = event.get("targets").and_then(Value::as_array);
        // `target` is the first of `targets`.
        let targets = targets.into_iter().flatten().chain(event.get("target"));
        Some(Self {
            tenant_id: event.get("tenant_id").and_then(Value::as_str).unwrap_or_default(),
            actor_id: event.get("actor").and_then(id).unwrap_or_default(),
            target_id: targets.filter_map(id).collect(),
            logged_at: logged_at(event)?,
        })
    }
}
