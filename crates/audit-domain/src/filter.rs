//! Filters: which events a query selects.

use crate::event::{ActorType, Category};
use crate::{
    DamagedEvent, EventField, Facets, Search, SearchedText, StoredEvent, Timestamp, ViewerTier, Violations,
    canonical,
};
use serde_json::{Value, json};

/// Which actions a query selects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ActionFilter {
    /// This action.
    Exact(String),
    /// Every action that begins like this.
    Prefix(String),
}

impl ActionFilter {
    /// Reads `user.created`, or `user.*` for a prefix.
    ///
    /// # Errors
    /// When the text has a character that no action has, or a `*` anywhere but at the end.
    pub fn parse(text: &str) -> Result<Self, Violations> {
        let (literal, is_prefix) = match text.strip_suffix('*') {
            Some(prefix) => (prefix, true),
            None => (text, false),
        };
        let in_alphabet = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_' | b'.');
        if text.is_empty() || text.len() > crate::Action::CHARS_MAX || !literal.bytes().all(in_alphabet) {
            let message = "must be an action such as user.created, or its beginning and a * such as user.*";
            return Err(Violations::one("action", message));
        }
        Ok(if is_prefix {
            Self::Prefix(literal.to_owned())
        } else {
            Self::Exact(literal.to_owned())
        })
    }

    /// Whether the filter selects this action.
    pub fn matches(&self, action: &str) -> bool {
        match self {
            Self::Exact(exact) => action == exact,
            Self::Prefix(prefix) => action.starts_with(prefix),
        }
    }

    fn to_json(&self) -> Value {
        match self {
            Self::Exact(exact) => json!(exact),
            Self::Prefix(prefix) => json!([prefix]),
        }
    }
}

/// Which events a query selects. An event must meet every condition that is given.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EventFilter {
    /// The customer.
    pub tenant_id: Option<String>,
    /// Any of these actor ids. Several, because redaction may have stored an id in the form of its hash.
    pub actor_ids: Option<Vec<String>>,
    /// The kind of actor.
    pub actor_type: Option<ActorType>,
    /// The action or its beginning.
    pub action: Option<ActionFilter>,
    /// The category.
    pub category: Option<Category>,
    /// Any of these target ids; see [`Self::actor_ids`].
    pub target_ids: Option<Vec<String>>,
    /// The kind of target.
    pub target_type: Option<String>,
    /// Not before this time.
    pub start: Option<Timestamp>,
    /// Not after this time.
    pub end: Option<Timestamp>,
    /// Words that must be there.
    pub search: Option<Search>,
}

impl EventFilter {
    /// Whether the filter selects the event, of which the reader sees the `visible` facets. This is the definition;
    /// indexes only find candidates.
    pub fn matches(&self, event: &StoredEvent, visible: &Facets<'_>) -> bool {
        let Self {
            tenant_id,
            actor_ids,
            actor_type,
            action,
            category,
            target_ids,
            target_type,
            start,
            end,
            search,
        } = self;
        let Facets {
            action: of_action,
            category: of_category,
            tenant_id: of_tenant,
            actor_id: by_actor,
            actor_type: by_type,
            actor_name: _, // Only searched.
            target_id: to_target,
            target_type: to_type,
            target_name: _, // Only searched.
        } = visible;
        let one_of = |wanted: &Option<Vec<String>>, actual: Option<&str>| {
            wanted
                .as_ref()
                .is_none_or(|wanted| actual.is_some_and(|actual| wanted.iter().any(|id| id == actual)))
        };
        let equal =
            |wanted: Option<&str>, actual: Option<&str>| wanted.is_none_or(|wanted| actual == Some(wanted));
        start.is_none_or(|start| event.occurred_at >= start)
            && end.is_none_or(|end| event.occurred_at <= end)
            && equal(tenant_id.as_deref(), Some(of_tenant))
            && one_of(actor_ids, by_actor.as_deref())
            && equal(actor_type.map(ActorType::as_str), by_type.as_deref())
            // A hidden action is empty, and would match the empty prefix of `*`.
            && action
                .as_ref()
                .is_none_or(|action| !of_action.is_empty() && action.matches(of_action))
            && equal(category.map(Category::as_str), Some(of_category))
            && one_of(target_ids, to_target.as_deref())
            && equal(target_type.as_deref(), to_type.as_deref())
            && search
                .as_ref()
                .is_none_or(|search| search.matches(visible.searched_texts()))
    }

    /// Whether `tier` hides a field on which the filter has a condition, or every text that it searches. Then no event
    /// matches.
    pub fn is_hidden_by(&self, tier: &ViewerTier) -> bool {
        let Self {
            tenant_id,
            actor_ids,
            actor_type,
            action,
            category,
            target_ids,
            target_type,
            start,
            end,
            search,
        } = self;
        let has_condition = [
            (EventField::TenantId, tenant_id.is_some()),
            (EventField::ActorId, actor_ids.is_some()),
            (EventField::ActorType, actor_type.is_some()),
            (EventField::Action, action.is_some()),
            (EventField::Category, category.is_some()),
            (EventField::TargetId, target_ids.is_some()),
            (EventField::TargetType, target_type.is_some()),
            (EventField::OccurredAt, start.is_some() || end.is_some()),
        ];
        let searches_nothing = || SearchedText::ALL.iter().all(|text| tier.hides(text.field()));
        has_condition
            .into_iter()
            .any(|(field, has_condition)| has_condition && tier.hides(field))
            || search.is_some() && searches_nothing()
    }

    /// Whether a reader gets the event with this filter. The fields that `tier` hides are removed first, so that no
    /// filter finds an event by them. Without a tier everything is visible.
    ///
    /// # Errors
    /// [`DamagedEvent`] when the stored text is not an event.
    pub fn shows(&self, event: &StoredEvent, tier: Option<&ViewerTier>) -> Result<bool, DamagedEvent> {
        let facets = event.facets()?;
        let Some(tier) = tier else {
            return Ok(self.matches(event, &facets));
        };
        Ok(tier.shows(&facets) && self.matches(event, &tier.restrict(facets)))
    }

    /// A text that is equal for equal filters and different for different ones; cursors are bound to it.
    pub fn fingerprint(&self) -> String {
        let Self {
            tenant_id,
            actor_ids,
            actor_type,
            action,
            category,
            target_ids,
            target_type,
            start,
            end,
            search,
        } = self;
        let search = search.as_ref().map(|search| {
            search
                .words()
                .iter()
                .map(|word| json!([word.text, word.is_prefix]))
                .collect::<Vec<_>>()
        });
        canonical::to_string(&json!([
            tenant_id,
            actor_ids,
            actor_type.map(ActorType::as_str),
            action.as_ref().map(ActionFilter::to_json),
            category.map(Category::as_str),
            target_ids,
            target_type,
            start.map(Timestamp::as_micros),
            end.map(Timestamp::as_micros),
            search,
        ]))
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

    #[test]
    fn an_action_filter_is_exact_or_a_prefix() {
        assert!(ActionFilter::parse("user.*").unwrap().matches("user.created"));
        assert!(
            ActionFilter::parse("auth.failed*")
                .unwrap()
                .matches("auth.failed_login.twice")
        );
        assert!(!ActionFilter::parse("user.*").unwrap().matches("user"));
        assert!(
            !ActionFilter::parse("user.created")
                .unwrap()
                .matches("user.created.again")
        );
        assert!(ActionFilter::parse("*").unwrap().matches("anything.goes"));
        for text in ["", "*.deleted", "user.*.x", "User.created", "a b"] {
            assert!(ActionFilter::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn fingerprints_tell_an_action_from_its_prefix() {
        let with = |text: &str| EventFilter {
            action: Some(ActionFilter::parse(text).unwrap()),
            ..EventFilter::default()
        };
        assert_ne!(
            with("user.created").fingerprint(),
            with("user.created*").fingerprint()
        );
        assert_ne!(
            with("user.created").fingerprint(),
            EventFilter::default().fingerprint()
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
            content_salt: crate::ContentSalt::from_bytes([7; 16]),
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
        let of_any_action = EventFilter {
            action: Some(ActionFilter::parse("*").unwrap()),
            ..EventFilter::default()
        };
        for filter in [&everything, &of_any_action] {
            assert!(filter.shows(&event, None).unwrap());
            assert!(filter.shows(&event, Some(&tier(&["actor"], None))).unwrap());
            let of_security = tier(&[], Some(&[Category::Security]));
            assert!(!filter.shows(&event, Some(&of_security)).unwrap());
        }
        let without_action = tier(&["action"], None);
        assert!(everything.shows(&event, Some(&without_action)).unwrap());
        assert!(!of_any_action.shows(&event, Some(&without_action)).unwrap());
    }
}
