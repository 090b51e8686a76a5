//! Lifecycle events as events of the log have them: `metadata`, and `changes` of a hold.

use super::{
    Archived, Erasure, ErasurePlan, Hold, LifecycleEvent, ReceivedBefore, Removal, Restored, RetentionPlan,
    RetentionPolicy, Undelivered,
};
use crate::{SERVICE_TENANT_ID, Timestamp};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::fmt::Display;
use std::ops::Range;
use std::str::FromStr;

/// The actions of the chain.
const ACTIONS: [&str; 12] = [
    "audit.retention.changed",
    "audit.retention.confirmed",
    "audit.retention.planned",
    "audit.retention.cancelled",
    "audit.events.removed",
    "audit.erasure.planned",
    "audit.erasure.cancelled",
    "audit.events.erased",
    "audit.events.archived",
    "audit.events.restored",
    "audit.hold.placed",
    "audit.hold.released",
];

impl LifecycleEvent {
    /// Whether events of the service with this action form the chain.
    pub fn is_action(action: &str) -> bool {
        ACTIONS.contains(&action)
    }

    /// The action of the event.
    pub const fn action(&self) -> &'static str {
        let index = match self {
            Self::RetentionChanged(_) => 0,
            Self::RetentionConfirmed { .. } => 1,
            Self::Planned(_) => 2,
            Self::Cancelled { .. } => 3,
            Self::Removed(_) => 4,
            Self::ErasurePlanned(_) => 5,
            Self::ErasureCancelled { .. } => 6,
            Self::Erased(_) => 7,
            Self::Archived(_) => 8,
            Self::Restored(_) => 9,
            Self::HoldPlaced(_) => 10,
            Self::HoldReleased { .. } => 11,
        };
        ACTIONS[index]
    }

    /// Whether an event as a full read returns it, or as it is stored, is one of the chain.
    pub fn is_lifecycle(event: &Map<String, Value>) -> bool {
        let text = |name: &str| event.get(name).and_then(Value::as_str);
        text("tenant_id") == Some(SERVICE_TENANT_ID) && text("action").is_some_and(Self::is_action)
    }

    /// Reads an event of the chain, with the position of the one before it. `None` where it is none, or lacks a member. Unknown members
    /// of `metadata` do not matter.
    pub fn read(event: &Map<String, Value>) -> Option<(Option<u64>, Self)> {
        if !Self::is_lifecycle(event) {
            return None;
        }
        let members = Members(event.get("metadata")?.as_object()?);
        let previous = match members.0.get("previous")? {
            Value::Null => None,
            seq => Some(seq.as_u64()?),
        };
        let read = match event.get("action")?.as_str()? {
            "audit.retention.changed" => Self::RetentionChanged(members.policy()?),
            "audit.retention.confirmed" => Self::RetentionConfirmed {
                until: members.time("until")?,
            },
            "audit.retention.planned" => Self::Planned(members.plan()?),
            "audit.retention.cancelled" => Self::Cancelled {
                plan: members.number("plan")?,
                reason: members.parsed("reason")?,
            },
            "audit.events.removed" => Self::Removed(members.removal()?),
            "audit.erasure.planned" => Self::ErasurePlanned(members.erasure_plan()?),
            "audit.erasure.cancelled" => Self::ErasureCancelled {
                erasure: members.text("erasure")?,
                plan: members.number("plan")?,
                reason: members.parsed("reason")?,
            },
            "audit.events.erased" => Self::Erased(members.erasure()?),
            "audit.events.archived" => Self::Archived(Archived {
                end_seq: members.number("end_seq")?,
                manifest: members.parsed("manifest")?,
            }),
            "audit.events.restored" => Self::Restored(Restored {
                seqs: members.seqs()?,
                events: members.number("events")?,
                archive: members.parsed("archive")?,
                hold: members.text("hold")?,
            }),
            "audit.hold.placed" => Self::HoldPlaced(members.hold(event)?),
            "audit.hold.released" => Self::HoldReleased {
                hold: members.text("hold")?,
                placed: members.number("placed")?,
                reason: members.text("reason")?,
            },
            _ => return None,
        };
        Some((previous, read))
    }

    /// The `metadata` of the event.
    pub fn metadata(&self, previous: Option<u64>) -> Map<String, Value> {
        let members = match self {
            Self::RetentionChanged(policy) => json!({
                "days": policy.days, "categories": policy.categories, "preset": policy.preset,
                "archive": policy.archive.then_some(true),
            }),
            Self::RetentionConfirmed { until } => json!({"until": text(until)}),
            Self::Planned(plan) => json!({
                "policy": plan.policy, "first_seq": plan.seqs.start, "end_seq": plan.seqs.end,
                "received_before": times(&plan.received_before), "events": plan.events, "held": plan.held,
                "kept": plan.kept, "digest": text(plan.digest), "not_before": text(plan.not_before),
            }),
            Self::Cancelled { plan, reason } => json!({"plan": plan, "reason": text(reason)}),
            Self::Removed(removal) => json!({
                "plan": removal.plan, "policy": removal.policy, "holds": removal.holds,
                "first_seq": removal.seqs.start, "end_seq": removal.seqs.end, "events": removal.events,
                "digest": text(removal.digest), "received_before": times(&removal.received_before),
                "archive": removal.archive.map(text), "undelivered": undelivered(&removal.undelivered),
            }),
            Self::ErasurePlanned(plan) => json!({
                "erasure": plan.erasure, "basis": plan.basis, "ticket": plan.ticket, "extent": plan.extent,
                "events": plan.events, "rows": plan.rows, "held": plan.held, "read_to": plan.read_to,
                "digest": text(plan.digest), "not_before": text(plan.not_before),
            }),
            Self::ErasureCancelled {
                erasure,
                plan,
                reason,
            } => json!({"erasure": erasure, "plan": plan, "reason": text(reason)}),
            Self::Erased(erasure) => json!({
                "erasure": erasure.erasure, "plan": erasure.plan, "basis": erasure.basis, "ticket": erasure.ticket,
                "events": erasure.events, "rows": erasure.rows, "digest": text(erasure.digest),
            }),
            Self::Archived(archived) => json!({
                "end_seq": archived.end_seq, "manifest": text(archived.manifest),
            }),
            Self::Restored(restored) => json!({
                "first_seq": restored.seqs.start, "end_seq": restored.seqs.end, "events": restored.events,
                "archive": text(restored.archive), "hold": restored.hold,
            }),
            Self::HoldPlaced(hold) => json!({"hold": hold.hold, "reason": hold.reason}),
            Self::HoldReleased { hold, placed, reason } => {
                json!({"hold": hold, "placed": placed, "reason": reason})
            }
        };
        let mut metadata = Map::from_iter([("previous".to_owned(), previous.into())]);
        let members = members.as_object().cloned().unwrap_or_default();
        // `days` is null where events are kept for ever; any other member that is null is left out.
        metadata.extend(
            members
                .into_iter()
                .filter(|(name, value)| name == "days" || !value.is_null()),
        );
        metadata
    }

    /// The `changes` of a placed hold: what it covers. Empty for all other events, whose changes nothing is read from.
    pub fn changes(&self) -> Vec<Value> {
        let Self::HoldPlaced(hold) = self else {
            return Vec::new();
        };
        let ids = |ids: &Vec<String>| (!ids.is_empty()).then(|| json!(ids));
        let fields = [
            ("tenant_id", ids(&hold.tenant_id)),
            ("actor_id", ids(&hold.actor_id)),
            ("target_id", ids(&hold.target_id)),
            ("from", hold.from.map(|at| text(at).into())),
            ("to", hold.to.map(|at| text(at).into())),
        ];
        let change = |(field, after): (&str, Option<Value>)| Some(json!({"field": field, "after": after?}));
        fields.into_iter().filter_map(change).collect()
    }
}

fn text(value: impl Display) -> String {
    value.to_string()
}

fn times(before: &ReceivedBefore) -> Map<String, Value> {
    let time = |(category, at): (&String, &Timestamp)| (category.clone(), text(at).into());
    before.iter().map(time).collect()
}

/// `None` where there are none.
fn undelivered(all: &[Undelivered]) -> Option<Vec<Value>> {
    let entry = |one: &Undelivered| json!({"destination": one.destination, "from_seq": one.from_seq});
    (!all.is_empty()).then(|| all.iter().map(entry).collect())
}

/// The metadata of an event of the chain. `None` of a reader: the member is missing, or is no such value.
struct Members<'a>(&'a Map<String, Value>);

impl Members<'_> {
    fn number(&self, name: &str) -> Option<u64> {
        self.0.get(name)?.as_u64()
    }

    fn text(&self, name: &str) -> Option<String> {
        self.0.get(name)?.as_str().map(str::to_owned)
    }

    fn parsed<T: FromStr>(&self, name: &str) -> Option<T> {
        self.0.get(name)?.as_str()?.parse().ok()
    }

    fn time(&self, name: &str) -> Option<Timestamp> {
        time(self.0.get(name)?)
    }

    /// A member that may be missing.
    fn optional<T>(&self, name: &str, read: impl FnOnce(&Self, &str) -> Option<T>) -> Option<Option<T>> {
        match self.0.get(name) {
            None | Some(Value::Null) => Some(None),
            Some(_) => read(self, name).map(Some),
        }
    }

    fn seqs(&self) -> Option<Range<u64>> {
        let seqs = self.number("first_seq")?..self.number("end_seq")?;
        (seqs.start <= seqs.end).then_some(seqs)
    }

    fn policy(&self) -> Option<RetentionPolicy> {
        let days = |value: &Value| value.as_u64().and_then(|days| u32::try_from(days).ok());
        let mut categories = BTreeMap::new();
        for (category, of_category) in self
            .0
            .get("categories")
            .and_then(Value::as_object)
            .into_iter()
            .flatten()
        {
            categories.insert(category.clone(), days(of_category)?);
        }
        Some(RetentionPolicy {
            days: match self.0.get("days")? {
                Value::Null => None,
                value => Some(days(value)?),
            },
            categories,
            preset: self.optional("preset", Self::text)?,
            archive: self.0.get("archive") == Some(&Value::Bool(true)),
        })
    }

    fn received_before(&self) -> Option<ReceivedBefore> {
        let times = self.0.get("received_before")?.as_object()?;
        let entry = |(category, at): (&String, &Value)| Some((category.clone(), time(at)?));
        times.iter().map(entry).collect()
    }

    fn plan(&self) -> Option<RetentionPlan> {
        Some(RetentionPlan {
            policy: self.number("policy")?,
            seqs: self.seqs()?,
            received_before: self.received_before()?,
            events: self.number("events")?,
            held: self.number("held")?,
            kept: self.number("kept")?,
            digest: self.parsed("digest")?,
            not_before: self.time("not_before")?,
        })
    }

    fn removal(&self) -> Option<Removal> {
        let undelivered = self.0.get("undelivered").and_then(Value::as_array);
        let entry = |entry: &Value| {
            Some(Undelivered {
                destination: entry["destination"].as_str()?.to_owned(),
                from_seq: entry["from_seq"].as_u64()?,
            })
        };
        Some(Removal {
            plan: self.number("plan")?,
            policy: self.number("policy")?,
            holds: self
                .0
                .get("holds")?
                .as_array()?
                .iter()
                .map(Value::as_u64)
                .collect::<Option<_>>()?,
            seqs: self.seqs()?,
            events: self.number("events")?,
            digest: self.parsed("digest")?,
            received_before: self.received_before()?,
            archive: self.optional("archive", Self::parsed)?,
            undelivered: undelivered
                .into_iter()
                .flatten()
                .map(entry)
                .collect::<Option<_>>()?,
        })
    }

    fn erasure_plan(&self) -> Option<ErasurePlan> {
        Some(ErasurePlan {
            erasure: self.text("erasure")?,
            basis: self.text("basis")?,
            ticket: self.optional("ticket", Self::text)?,
            extent: self.text("extent")?,
            events: self.number("events")?,
            rows: self.number("rows")?,
            held: self.number("held")?,
            read_to: self.number("read_to")?,
            digest: self.parsed("digest")?,
            not_before: self.time("not_before")?,
        })
    }

    fn erasure(&self) -> Option<Erasure> {
        Some(Erasure {
            erasure: self.text("erasure")?,
            plan: self.number("plan")?,
            basis: self.text("basis")?,
            ticket: self.optional("ticket", Self::text)?,
            events: self.number("events")?,
            rows: self.number("rows")?,
            digest: self.parsed("digest")?,
        })
    }

    /// What a hold covers stands in `changes`, so that an erasure can remove it once the hold is released. Without it a hold covers
    /// everything: an erasure while it is in force must not take what it keeps.
    fn hold(&self, event: &Map<String, Value>) -> Option<Hold> {
        let mut hold = Hold {
            hold: self.text("hold")?,
            reason: self.text("reason")?,
            ..Hold::default()
        };
        for change in event
            .get("changes")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
        {
            let after = &change["after"];
            match change["field"].as_str()? {
                "tenant_id" => hold.tenant_id = texts(after)?,
                "actor_id" => hold.actor_id = texts(after)?,
                "target_id" => hold.target_id = texts(after)?,
                "from" => hold.from = Some(time(after)?),
                "to" => hold.to = Some(time(after)?),
                _ => {}
            }
        }
        Some(hold)
    }
}

fn time(value: &Value) -> Option<Timestamp> {
    let at = Timestamp::parse_rfc3339(value.as_str()?).ok()?;
    // Times of events are written to the millisecond.
    Some(at.truncated_to_millis())
}

fn texts(value: &Value) -> Option<Vec<String>> {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    value.as_array()?.iter().map(text).collect()
}
