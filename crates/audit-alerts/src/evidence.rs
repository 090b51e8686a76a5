//! Whether an alert is one that its events raised.

use crate::alert::Alert;
use crate::alert_id::AlertId;
use crate::group::{DistinctField, Group, compared};
use crate::rule::AlertRuleId;
use crate::watch::alert_id_of;
use crate::window::Firing;
use audit_domain::{EventId, Facet, Facets};
use std::cmp::Ordering;
use std::collections::BTreeSet;

/// The fields of a stored event that its alert depends on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SampleEvent {
    /// Its id.
    pub id: EventId,
    /// The fields by which rules find and group it.
    pub fields: Facets<'static>,
}

impl Alert {
    /// The first field that the sample events contradict. `samples` are the stored events of
    /// [`Self::sample_event_ids`], in that order.
    ///
    /// An alert's id is derived from its rule, its group and the event that reached the threshold ([`Watch::alert`]), so a changed
    /// rule, group, time or sample does not fit the id. `rule_name` and `severity` of a custom rule are not checked, because the
    /// rule may have changed since, and neither is the state, which clients change.
    ///
    /// [`Watch::alert`]: crate::Watch::alert
    pub fn contradiction(&self, samples: &[SampleEvent]) -> Option<&'static str> {
        let Some(first) = samples.first() else {
            return Some("sample_event_ids");
        };
        if first.tenant_id() != Some(&self.tenant_id) {
            return Some("tenant_id");
        }
        let is_other = |sample: &SampleEvent| sample.tenant_id() != first.tenant_id();
        if samples.len() > Firing::SAMPLE_EVENTS_MAX || samples.iter().any(is_other) {
            return Some("sample_event_ids");
        }
        let is_counted = match samples.len().cmp(&Firing::SAMPLE_EVENTS_MAX) {
            Ordering::Less => self.event_count == samples.len() as u64,
            _ => self.event_count >= samples.len() as u64,
        };
        if !is_counted {
            return Some("event_count");
        }
        if self
            .count_distinct
            .is_some_and(|field| !are_distinct(field, samples))
        {
            return Some("count_distinct or sample_event_ids");
        }
        if let Some(column) = self.contradiction_of_builtin_rule(samples) {
            return Some(column);
        }
        let groups: Option<Vec<Group<'_>>> = samples.iter().map(|sample| self.group_of(sample)).collect();
        let is_of_group = |groups: Vec<Group<'_>>| {
            let is_member = |group: &Group<'_>| group.group_key() == self.group_key;
            groups.iter().all(is_member) && self.has_id_of(&groups, samples)
        };
        match groups.is_some_and(is_of_group) {
            true => None,
            false => Some("id, rule_id, group_by, group_key, count_distinct, fired_at or sample_event_ids"),
        }
    }

    /// The group of a sample; `None` if it lacks the field.
    fn group_of<'a>(&self, sample: &'a SampleEvent) -> Option<Group<'a>> {
        Group::of(self.group_by, &sample.fields)
    }

    fn contradiction_of_builtin_rule(&self, samples: &[SampleEvent]) -> Option<&'static str> {
        let AlertRuleId::Builtin(rule) = self.rule_id else {
            return None;
        };
        let definition = rule.definition();
        if self.rule_name != definition.name {
            return Some("rule_name");
        }
        if self.severity != definition.severity {
            return Some("severity");
        }
        if self.group_by != definition.group_by {
            return Some("group_by");
        }
        if self.count_distinct != definition.count_distinct {
            return Some("count_distinct");
        }
        let is_counted = |sample: &SampleEvent| rule.counts(&sample.fields);
        (!samples.iter().all(is_counted)).then_some("rule_id")
    }

    /// Whether the id is that of this group and one of the samples. The event that reached the threshold occurred within the window,
    /// and may be older than ten others of it.
    fn has_id_of(&self, groups: &[Group<'_>], samples: &[SampleEvent]) -> bool {
        let rule_id = self.rule_id.to_string();
        let is_of = |(group, sample): (&Group<'_>, &SampleEvent)| {
            alert_id_of(&rule_id, group, self.count_distinct, sample.id, self.fired_at) == self.id
        };
        let may_be_of_another = self.event_count > Firing::SAMPLE_EVENTS_MAX as u64
            && self.id.to_bytes()[..6] == AlertId::new(self.fired_at, [0; 10]).to_bytes()[..6];
        groups.iter().zip(samples).any(is_of) || may_be_of_another
    }
}

/// Whether each sample has another value of the field.
fn are_distinct(field: DistinctField, samples: &[SampleEvent]) -> bool {
    let values: Option<BTreeSet<_>> = samples
        .iter()
        .map(|sample| compared(&sample.fields, field.facet()))
        .collect();
    values.is_some_and(|values| values.len() == samples.len())
}

impl SampleEvent {
    /// A stored event with these fields.
    pub fn of(id: EventId, fields: &Facets<'_>) -> Self {
        let with = |all: Facets<'static>, facet: &Facet| match fields.get(*facet) {
            Some(value) => all.with(*facet, value.to_owned()),
            None => all,
        };
        Self {
            id,
            fields: Facet::ALL.iter().fold(Facets::default(), with),
        }
    }

    fn tenant_id(&self) -> Option<&str> {
        self.fields.get(Facet::TenantId)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::group::GroupBy;
    use crate::rule::AlertRule;
    use crate::{BuiltinRule, CountedEvent, GroupState, Observed, RuleSet, Severity};
    use audit_domain::Timestamp;

    const NOW: Timestamp = Timestamp::from_seconds(1_768_473_000);

    type Change<'a, T> = &'a dyn Fn(&mut T);

    /// The alert of five failed logins of one actor, and its events.
    fn raised() -> (Alert, Vec<SampleEvent>) {
        raised_by(BuiltinRule::AuthBruteForce, ["u1"; 5])
    }

    /// The alert of five failed logins of these actors from one address, and its events.
    fn raised_by(rule: BuiltinRule, actors: [&'static str; 5]) -> (Alert, Vec<SampleEvent>) {
        let rules = RuleSet::new([AlertRule::builtin(rule)]);
        let mut state = GroupState::default();
        let mut stored = Vec::new();
        for (number, actor) in (0_u8..).zip(actors) {
            // One address, in both its forms.
            let address = ["203.0.113.7", "::ffff:203.0.113.7"][usize::from(number % 2)];
            let fields = [
                (Facet::Action, "auth.failed"),
                (Facet::TenantId, "acme"),
                (Facet::ActorId, actor),
                (Facet::IpAddress, address),
            ];
            let with = |all: Facets<'static>, (facet, value)| all.with(facet, value);
            let fields = fields.into_iter().fold(Facets::default(), with);
            let event = CountedEvent {
                id: EventId::new(NOW, [number; 10]),
                arrived_at: NOW,
                occurred_at: NOW,
            };
            stored.push(SampleEvent::of(event.id, &fields));
            let watches = rules.watches(&fields, NOW, NOW);
            if let Observed::Fired(firing) = watches[0].observe(&mut state, event) {
                let alert = watches[0].alert(event.id, firing);
                stored.reverse();
                return (alert, stored);
            }
        }
        panic!("five failed logins raise an alert")
    }

    #[test]
    fn the_samples_of_an_alert_of_distinct_values_have_distinct_values() {
        let actors = ["u1", "u2", "u3", "u4", "u5"];
        let (alert, mut samples) = raised_by(BuiltinRule::PasswordSpraying, actors);
        assert_eq!(alert.contradiction(&samples), None);
        let mut counted = alert.clone();
        counted.count_distinct = None;
        assert!(counted.contradiction(&samples).is_some());
        samples[1].fields = samples[0].fields.clone();
        assert_eq!(
            alert.contradiction(&samples),
            Some("count_distinct or sample_event_ids")
        );
    }

    #[test]
    fn an_alert_that_was_raised_is_not_contradicted() {
        let (alert, samples) = raised();
        assert_eq!(alert.contradiction(&samples), None);
    }

    #[test]
    fn every_changed_field_is_contradicted() {
        let (alert, samples) = raised();
        let later = Timestamp::from_millis(NOW.as_millis() + 1);
        let rule = BuiltinRule::RapidApiKeyCreation;
        let changes: [(&str, Change<'_, Alert>); 12] = [
            ("distinct", &|alert| {
                alert.count_distinct = Some(DistinctField::IpAddress);
            }),
            ("id", &|alert| alert.id = AlertId::new(NOW, [9; 10])),
            ("rule", &|alert| alert.rule_id = AlertRuleId::Builtin(rule)),
            ("name", &|alert| {
                alert.rule_name = "Another".parse().expect("a name");
            }),
            ("severity", &|alert| alert.severity = Severity::Low),
            ("tenant", &|alert| alert.tenant_id = "other".to_owned()),
            ("group by", &|alert| alert.group_by = GroupBy::TenantId),
            ("group", &|alert| alert.group_key = "u2".to_owned()),
            ("count", &|alert| alert.event_count = 4),
            ("larger count", &|alert| alert.event_count = 6),
            ("time", &|alert| alert.fired_at = later),
            ("custom rule", &|alert| {
                alert.rule_id = "01890000-0000-7000-8000-000000000000".parse().expect("a rule id");
            }),
        ];
        for (name, change) in changes {
            let mut changed = alert.clone();
            change(&mut changed);
            assert!(changed.contradiction(&samples).is_some(), "{name}");
        }
        let set = |sample: &mut SampleEvent, facet, value: &'static str| {
            sample.fields = sample.fields.clone().with(facet, value);
        };
        let changes: [(&str, Change<'_, SampleEvent>); 3] = [
            ("action", &|sample| set(sample, Facet::Action, "user.created")),
            ("tenant", &|sample| set(sample, Facet::TenantId, "other")),
            ("actor", &|sample| set(sample, Facet::ActorId, "u2")),
        ];
        for (name, change) in changes {
            let mut changed = samples.clone();
            change(&mut changed[2]);
            assert!(alert.contradiction(&changed).is_some(), "{name}");
        }
        assert!(alert.contradiction(&samples[..4]).is_some());
        assert!(alert.contradiction(&[]).is_some());
    }
}
