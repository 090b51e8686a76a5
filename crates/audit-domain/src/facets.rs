//! The fields of an event by which it can be found.

use crate::event::{Actor, Target};
use crate::{DamagedEvent, Event, EventField, StoredEvent, words};
use serde::Deserialize;
use std::borrow::Cow;

/// The fields of an event by which it can be found, borrowed from it. A field that the event lacks, or that is hidden
/// from the reader, is `None` and matches no filter.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
#[expect(missing_docs, reason = "the fields of an event, by the names they have there")]
pub struct Facets<'a> {
    pub action: Cow<'a, str>,
    pub category: Cow<'a, str>,
    pub tenant_id: Cow<'a, str>,
    pub actor_id: Option<Cow<'a, str>>,
    pub actor_type: Option<Cow<'a, str>>,
    pub actor_name: Option<Cow<'a, str>>,
    pub target_id: Option<Cow<'a, str>>,
    pub target_type: Option<Cow<'a, str>>,
    pub target_name: Option<Cow<'a, str>>,
}

words! {
    /// A text that full-text search looks at.
    pub enum SearchedText {
        /// The action.
        Action = "action",
        /// The actor's name.
        ActorName = "actor.name",
        /// The target's name.
        TargetName = "target.name",
    }
}

impl SearchedText {
    /// The field that holds the text.
    pub const fn field(self) -> EventField {
        match self {
            Self::Action => EventField::Action,
            Self::ActorName => EventField::ActorName,
            Self::TargetName => EventField::TargetName,
        }
    }
}

impl Facets<'_> {
    /// One of the texts that full-text search looks at.
    pub fn searched_text(&self, text: SearchedText) -> Option<&str> {
        match text {
            SearchedText::Action => Some(&self.action),
            SearchedText::ActorName => self.actor_name.as_deref(),
            SearchedText::TargetName => self.target_name.as_deref(),
        }
    }

    /// The texts that full-text search looks at.
    pub fn searched_texts(&self) -> impl Iterator<Item = &str> + Clone {
        SearchedText::ALL
            .iter()
            .filter_map(|text| self.searched_text(*text))
    }
}

impl Event {
    /// The fields by which this event can be found.
    pub fn facets(&self) -> Facets<'_> {
        let Self {
            action,
            category,
            tenant_id,
            actor,
            target,
            context: _,
            metadata: _,
            changes: _,
            idempotency_key: _,
            occurred_at: _,
        } = self;
        let Actor {
            id: actor_id,
            actor_type,
            name: actor_name,
            email: _,
        } = actor;
        let (target_id, target_type, target_name) = match target {
            Some(Target {
                id,
                target_type,
                name,
            }) => (Some(id), Some(target_type), name.as_ref()),
            None => (None, None, None),
        };
        Facets {
            action: action.as_str().into(),
            category: category.as_str().into(),
            tenant_id: tenant_id.into(),
            actor_id: Some(actor_id.into()),
            actor_type: Some(actor_type.as_str().into()),
            actor_name: actor_name.as_ref().map(Into::into),
            target_id: target_id.map(Into::into),
            target_type: target_type.map(Into::into),
            target_name: target_name.map(Into::into),
        }
    }
}

#[derive(Deserialize)]
struct StoredFields<'a> {
    #[serde(borrow)]
    action: Cow<'a, str>,
    #[serde(borrow)]
    category: Cow<'a, str>,
    #[serde(borrow)]
    tenant_id: Cow<'a, str>,
    #[serde(borrow)]
    actor: StoredParty<'a>,
    #[serde(borrow)]
    target: Option<StoredParty<'a>>,
}

#[derive(Deserialize)]
struct StoredParty<'a> {
    #[serde(borrow)]
    id: Cow<'a, str>,
    #[serde(borrow, rename = "type")]
    kind: Cow<'a, str>,
    #[serde(borrow)]
    name: Option<Cow<'a, str>>,
}

impl StoredEvent {
    /// The fields by which this event can be found.
    ///
    /// # Errors
    /// [`DamagedEvent`] when the stored text is not an event.
    pub fn facets(&self) -> Result<Facets<'_>, DamagedEvent> {
        Facets::read(&self.canonical).map_err(|source| self.damaged(source))
    }
}

impl<'a> Facets<'a> {
    /// The fields by which an event with this canonical text can be found.
    ///
    /// # Errors
    /// When the text is not an event.
    pub fn read(canonical: &'a str) -> serde_json::Result<Self> {
        let fields: StoredFields<'_> = serde_json::from_str(canonical)?;
        let (target_id, target_type, target_name) = match fields.target {
            Some(target) => (Some(target.id), Some(target.kind), target.name),
            None => (None, None, None),
        };
        Ok(Facets {
            action: fields.action,
            category: fields.category,
            tenant_id: fields.tenant_id,
            actor_id: Some(fields.actor.id),
            actor_type: Some(fields.actor.kind),
            actor_name: fields.actor.name,
            target_id,
            target_type,
            target_name,
        })
    }
}
