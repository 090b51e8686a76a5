//! The fields of an event by which it can be found.

use crate::{DamagedEvent, Event, StoredEvent};
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

impl Facets<'_> {
    /// The texts that full-text search looks at.
    pub fn searched_texts(&self) -> impl Iterator<Item = &str> + Clone {
        [
            Some(&self.action),
            self.actor_name.as_ref(),
            self.target_name.as_ref(),
        ]
        .into_iter()
        .flatten()
        .map(AsRef::as_ref)
    }
}

impl Event {
    /// The fields by which this event can be found.
    pub fn facets(&self) -> Facets<'_> {
        let target = self.target.as_ref();
        Facets {
            action: self.action.as_str().into(),
            category: self.category.as_str().into(),
            tenant_id: self.tenant_id.as_str().into(),
            actor_id: Some(self.actor.id.as_str().into()),
            actor_type: Some(self.actor.actor_type.as_str().into()),
            actor_name: self.actor.name.as_deref().map(Cow::Borrowed),
            target_id: target.map(|target| target.id.as_str().into()),
            target_type: target.map(|target| target.target_type.as_str().into()),
            target_name: target
                .and_then(|target| target.name.as_deref())
                .map(Cow::Borrowed),
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
        let fields: StoredFields<'_> =
            serde_json::from_str(&self.canonical).map_err(|source| self.damaged(source))?;
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
