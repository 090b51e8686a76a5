//! Filters: which events a query selects.

use crate::{
    Condition, DamagedEvent, EventField, Facet, Facets, MetadataPath, Search, StoredEvent, Timestamp,
    ValuePattern, ViewerTier, Violations, VisibleMetadata, canonical, words,
};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// Which events a query selects. An event must meet every condition that is given.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EventFilter {
    /// Of the facets.
    pub conditions: BTreeMap<Facet, Condition>,
    /// Of the members of the metadata at these paths.
    pub metadata: BTreeMap<MetadataPath, Condition>,
    /// Not before this time.
    pub start: Option<Timestamp>,
    /// Not after this time.
    pub end: Option<Timestamp>,
    /// Words that must be there.
    pub search: Option<Search>,
}

impl EventFilter {
    /// The events with this value of a facet.
    pub fn of(facet: Facet, value: impl Into<String>) -> Self {
        Self {
            conditions: BTreeMap::from([(facet, Condition::is(value))]),
            ..Self::default()
        }
    }

    /// The values of a facet one of which it demands; `None` if it allows others as well.
    pub fn values(&self, facet: Facet) -> Option<Vec<&str>> {
        let patterns = self.conditions.get(&facet)?.any_of.iter();
        let values: Option<Vec<&str>> = patterns.map(ValuePattern::value).collect();
        values.filter(|values| !values.is_empty())
    }

    /// The values of a facet that it excludes.
    pub fn excluded_values(&self, facet: Facet) -> Vec<&str> {
        let condition = self.conditions.get(&facet).into_iter();
        let patterns = condition.flat_map(|condition| &condition.none_of);
        patterns.filter_map(ValuePattern::value).collect()
    }

    /// Whether it looks at the metadata of events.
    pub fn reads_metadata(&self) -> bool {
        !self.metadata.is_empty() || self.search.as_ref().is_some_and(Search::reads_metadata)
    }

    /// Whether the filter selects the event, of which the reader sees the `visible` facets, and this metadata if the filter [reads
    /// it](Self::reads_metadata). This is the definition; indexes only find candidates.
    pub fn matches(&self, event: &StoredEvent, visible: &Facets<'_>, seen: &VisibleMetadata) -> bool {
        let Self {
            conditions,
            metadata,
            start,
            end,
            search,
        } = self;
        let is_met = |(facet, condition): (&Facet, &Condition)| {
            condition.matches(visible.get(*facet).into_iter().chain(visible.further(*facet)))
        };
        let has_member = |(path, condition): (&MetadataPath, &Condition)| {
            condition.matches(seen.values(path).iter().map(AsRef::as_ref))
        };
        let has_words = |search: &Search| {
            let texts = search.reads_metadata().then(|| seen.texts());
            search.matches(visible, &texts.unwrap_or_default())
        };
        start.is_none_or(|start| event.occurred_at >= start)
            && end.is_none_or(|end| event.occurred_at <= end)
            && conditions.iter().all(is_met)
            && metadata.iter().all(has_member)
            && search.as_ref().is_none_or(has_words)
    }

    /// Whether `tier` hides a field on which the filter has a condition, or every text that it searches. Then no event
    /// matches.
    pub fn is_hidden_by(&self, tier: &ViewerTier) -> bool {
        let Self {
            conditions,
            metadata,
            start,
            end,
            search,
        } = self;
        let has_time = start.is_some() || end.is_some();
        let searches_nothing = |search: &Search| {
            let hides_metadata = !search.reads_metadata() || tier.hides(EventField::Metadata);
            hides_metadata && search.texts().all(|text| tier.hides_path(text.as_str()))
        };
        conditions.keys().any(|facet| tier.hides(facet.field()))
            || metadata.keys().any(|path| tier.hides_path(path.as_str()))
            || has_time && tier.hides(EventField::OccurredAt)
            || search.as_ref().is_some_and(searches_nothing)
    }

    /// Whether a reader gets the event with this filter. The fields that `tier` hides are removed first, so that no
    /// filter finds an event by them. Without a tier everything is visible.
    ///
    /// # Errors
    /// [`DamagedEvent`] when the stored text is not an event.
    pub fn shows(&self, event: &StoredEvent, tier: Option<&ViewerTier>) -> Result<bool, DamagedEvent> {
        let facets = event.facets()?;
        let metadata = match self.reads_metadata() {
            true => event.metadata(tier)?,
            false => VisibleMetadata::default(),
        };
        let Some(tier) = tier else {
            return Ok(self.matches(event, &facets, &metadata));
        };
        Ok(!self.is_hidden_by(tier)
            && tier.shows(&facets)
            && self.matches(event, &tier.restrict(facets), &metadata))
    }

    /// A text that is equal for equal filters and different for different ones; cursors are bound to it.
    pub fn fingerprint(&self) -> String {
        let Self {
            conditions,
            metadata,
            start,
            end,
            search,
        } = self;
        let conditions = conditions
            .iter()
            .map(|(facet, condition)| (facet.as_str(), condition));
        // No facet has the name of a path.
        let metadata = metadata
            .iter()
            .map(|(path, condition)| (path.as_str(), condition));
        let conditions: Map<String, Value> = conditions
            .chain(metadata)
            .map(|(name, condition)| (name.to_owned(), condition.to_json()))
            .collect();
        canonical::to_string(&json!([
            conditions,
            start.map(Timestamp::as_micros),
            end.map(Timestamp::as_micros),
            search.as_ref().map(Search::to_json),
        ]))
    }
}

words! {
    /// The order of events, by `occurred_at` and then by id.
    pub enum EventOrder {
        /// Newest first.
        Descending = "desc",
        /// Oldest first.
        Ascending = "asc",
    }
}

/// The number of events of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageLimit(usize);

impl PageLimit {
    /// The most events of a page.
    pub const EVENTS_MAX: usize = 200;
    /// The events of a page unless the request says.
    pub const DEFAULT: Self = Self(50);
    /// The most events of a page of an export.
    pub const EXPORT_EVENTS_MAX: usize = 500;

    /// A page of `events` events.
    ///
    /// # Errors
    /// When the number is not from 1 to 200.
    pub fn new(events: usize) -> Result<Self, Violations> {
        if (1..=Self::EVENTS_MAX).contains(&events) {
            return Ok(Self(events));
        }
        Err(Violations::one(
            "limit",
            format_args!("must be from 1 to {}", Self::EVENTS_MAX),
        ))
    }

    /// A page of an export: `events`, or the nearest number that may be read at once.
    pub fn for_export(events: usize) -> Self {
        Self(events.clamp(1, Self::EXPORT_EVENTS_MAX))
    }

    /// The number of events.
    pub const fn get(self) -> usize {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Category;

    fn of_action(text: &str) -> EventFilter {
        EventFilter {
            conditions: BTreeMap::from([(
                Facet::Action,
                Condition::of(ValuePattern::of_action(text).unwrap()),
            )]),
            ..EventFilter::default()
        }
    }

    #[test]
    fn fingerprints_tell_an_action_from_its_prefix() {
        let exact = of_action("user.created").fingerprint();
        assert_ne!(exact, of_action("user.created*").fingerprint());
        assert_ne!(exact, EventFilter::default().fingerprint());
    }

    /// A change refuses every cursor that clients have stored, those of the feed among them.
    #[test]
    fn fingerprints_are_those_of_stored_cursors() {
        assert_eq!(EventFilter::default().fingerprint(), "[{},null,null,null]");
        let prefix = of_action("user.*").fingerprint();
        assert_eq!(prefix, r#"[{"action":["user.*"]},null,null,null]"#);
        let tenant = EventFilter::of(Facet::TenantId, "acme").fingerprint();
        assert_eq!(tenant, r#"[{"tenant_id":["acme"]},null,null,null]"#);
        let mut others = EventFilter::default();
        others
            .conditions
            .insert(Facet::TenantId, Condition::is_not("acme"));
        assert_eq!(
            others.fingerprint(),
            r#"[{"tenant_id":[[],["acme"]]},null,null,null]"#
        );
        let mut of_plan = EventFilter::default();
        of_plan
            .metadata
            .insert("metadata.plan".parse().unwrap(), Condition::is("pro"));
        assert_eq!(
            of_plan.fingerprint(),
            r#"[{"metadata.plan":["pro"]},null,null,null]"#
        );
    }

    #[test]
    fn a_page_has_1_to_200_events() {
        assert!(PageLimit::new(0).is_err() && PageLimit::new(201).is_err());
        assert!(PageLimit::new(1).is_ok() && PageLimit::new(200).is_ok());
    }

    #[test]
    fn a_page_of_an_export_has_1_to_500_events() {
        let events = [0, 1, 200, 500, 501].map(|events| PageLimit::for_export(events).get());
        assert_eq!(events, [1, 1, 200, 500, 500]);
    }

    #[test]
    fn an_event_is_shown_as_far_as_the_tier_does() {
        let canonical = r#"{"action":"user.created","actor":{"id":"a","type":"user"},"category":"mutation","id":"evt_0","occurred_at":"1970-01-01T00:00:00.000Z","received_at":"1970-01-01T00:00:00.000Z","tenant_id":"t"}"#;
        let event = StoredEvent {
            id: crate::EventId::from_bytes([0; 16]),
            occurred_at: Timestamp::from_seconds(0),
            canonical: canonical.to_owned(),
            content_hash: crate::ContentHash::from_bytes([7; 32]),
            content_salt: crate::ContentSalt::from_bytes([7; 16]).into(),
            redacted: false,
        };
        let tier = |hidden: &[&str], categories: Option<&[Category]>| ViewerTier {
            name: "t".parse().unwrap(),
            categories: categories.map(<[Category]>::to_vec),
            actions: None,
            hidden_fields: hidden.iter().map(|path| path.parse().unwrap()).collect(),
            routes: None,
        };
        let everything = EventFilter::default();
        let of_any_action = of_action("*");
        for filter in [&everything, &of_any_action] {
            assert!(filter.shows(&event, None).unwrap());
            assert!(filter.shows(&event, Some(&tier(&["actor"], None))).unwrap());
            let of_security = tier(&[], Some(&[Category::Security]));
            assert!(!filter.shows(&event, Some(&of_security)).unwrap());
        }
        let without_action = tier(&["action"], None);
        assert!(everything.shows(&event, Some(&without_action)).unwrap());
        let mut but_one = EventFilter::default();
        but_one.conditions.insert(Facet::Action, Condition::is_not("x.y"));
        assert!(but_one.shows(&event, None).unwrap());
        assert!(!but_one.shows(&event, Some(&without_action)).unwrap());
        assert!(!of_any_action.shows(&event, Some(&without_action)).unwrap());
    }

    #[test]
    fn a_member_of_the_metadata_that_a_tier_hides_is_not_filtered_by() {
        let event = StoredEvent {
            id: crate::EventId::from_bytes([0; 16]),
            occurred_at: Timestamp::from_seconds(0),
            canonical: r#"{"action":"a.b","actor":{"id":"a","type":"user"},"category":"auth","metadata":{"plan":"pro","tags":["x","y"]},"tenant_id":"t"}"#.to_owned(),
            content_hash: crate::ContentHash::from_bytes([7; 32]),
            content_salt: crate::ContentSalt::from_bytes([7; 16]).into(),
            redacted: false,
        };
        let shows = |path: &str, condition: Condition, hidden: &[&str]| {
            let mut tier = ViewerTier::initial().remove(0);
            tier.hidden_fields = hidden.iter().map(|path| path.parse().unwrap()).collect();
            let mut filter = EventFilter::default();
            filter.metadata.insert(path.parse().unwrap(), condition);
            filter.shows(&event, Some(&tier)).unwrap()
        };
        for (path, value) in [("metadata.plan", "pro"), ("metadata.tags", "y")] {
            assert!(shows(path, Condition::is(value), &["context"]));
            assert!(!shows(path, Condition::is("other"), &[]));
            assert!(shows(path, Condition::is_not("other"), &[]));
            assert!(!shows(path, Condition::is_not(value), &[]));
            for hidden in ["metadata", "metadata.*", path] {
                assert!(!shows(path, Condition::is(value), &[hidden]), "{hidden}");
                assert!(!shows(path, Condition::is_not("other"), &[hidden]), "{hidden}");
            }
        }
        // An item that is hidden is as if it were not there.
        assert!(!shows("metadata.tags", Condition::is("y"), &["metadata.tags.1"]));
        assert!(shows(
            "metadata.tags",
            Condition::is_not("y"),
            &["metadata.tags.1"]
        ));
        assert!(shows("metadata.tags", Condition::is("x"), &["metadata.tags.1"]));
    }
}
