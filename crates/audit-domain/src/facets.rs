//! The fields of an event by which it can be found: [`Facet`] by value, [`SearchedText`] by words.

use crate::{DamagedEvent, Event, EventField, SearchedText, StoredEvent, words};
use serde::Deserialize;
use std::borrow::Cow;
use std::mem::take;

words! {
    /// A field by which events can be filtered, by the name of the query parameter. What differs by facet is decided in a `match`
    /// over this list, so that a new one does not compile until each place has a decision; everything else follows by loops.
    pub enum Facet {
        /// The customer.
        TenantId = "tenant_id",
        /// Identifies the actor.
        ActorId = "actor_id",
        /// The kind of actor.
        ActorType = "actor_type",
        /// What was done.
        Action = "action",
        /// The kind of event.
        Category = "category",
        /// Identifies the target.
        TargetId = "target_id",
        /// The kind of target.
        TargetType = "target_type",
        /// The network address from which it was done.
        IpAddress = "ip_address",
        /// The session in which it was done.
        SessionId = "session_id",
        /// How it ended.
        Outcome = "outcome",
    }
}

/// The values that a facet can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FacetValues {
    /// Identifiers, which redaction may have replaced by their hashes.
    Identifier,
    /// Texts.
    Text,
    /// The words of [`crate::ActorType`].
    ActorType,
    /// The words of [`crate::Category`].
    Category,
    /// Actions; a filter may ask for their beginning.
    Action,
    /// The words of [`crate::Outcome`].
    Outcome,
    /// Addresses; a filter may ask for a network. Other texts are possible.
    Address,
}

impl Facet {
    /// The field of the event, which a tier can hide.
    pub const fn field(self) -> EventField {
        match self {
            Self::TenantId => EventField::TenantId,
            Self::ActorId => EventField::ActorId,
            Self::ActorType => EventField::ActorType,
            Self::Action => EventField::Action,
            Self::Category => EventField::Category,
            Self::TargetId => EventField::TargetId,
            Self::TargetType => EventField::TargetType,
            Self::IpAddress => EventField::IpAddress,
            Self::SessionId => EventField::SessionId,
            Self::Outcome => EventField::Outcome,
        }
    }

    /// The query parameter that excludes values.
    pub const fn exclusion(self) -> &'static str {
        match self {
            Self::TenantId => "not_tenant_id",
            Self::ActorId => "not_actor_id",
            Self::ActorType => "not_actor_type",
            Self::Action => "not_action",
            Self::Category => "not_category",
            Self::TargetId => "not_target_id",
            Self::TargetType => "not_target_type",
            Self::IpAddress => "not_ip_address",
            Self::SessionId => "not_session_id",
            Self::Outcome => "not_outcome",
        }
    }

    /// What its values are.
    pub const fn values(self) -> FacetValues {
        match self {
            Self::ActorId | Self::TargetId | Self::SessionId => FacetValues::Identifier,
            Self::TenantId | Self::TargetType => FacetValues::Text,
            Self::IpAddress => FacetValues::Address,
            Self::ActorType => FacetValues::ActorType,
            Self::Category => FacetValues::Category,
            Self::Action => FacetValues::Action,
            Self::Outcome => FacetValues::Outcome,
        }
    }

    /// The path of its further values, which a tier can hide without the first; `None` if an event has one value at most.
    pub const fn further_path(self) -> Option<&'static str> {
        match self {
            Self::TargetId => Some("targets.*.id"),
            Self::TargetType => Some("targets.*.type"),
            Self::TenantId
            | Self::ActorId
            | Self::ActorType
            | Self::Action
            | Self::Category
            | Self::IpAddress
            | Self::SessionId
            | Self::Outcome => None,
        }
    }
}

/// The fields of an event by which it can be found, borrowed from it. A field that the event lacks, or that is hidden
/// from the reader, is absent and matches no filter.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Facets<'a> {
    values: [Option<Cow<'a, str>>; Facet::ALL.len()],
    /// Those of the targets after the first.
    further: Vec<(Facet, Cow<'a, str>)>,
    only_searched: OnlySearched<'a>,
}

/// The texts that only search looks at.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
struct OnlySearched<'a> {
    actor_name: Option<Cow<'a, str>>,
    target_name: Option<Cow<'a, str>>,
    actor_email: Option<Cow<'a, str>>,
    /// The id of the party that the actor acts for.
    party_id: Option<Cow<'a, str>>,
}

impl<'a> Facets<'a> {
    fn new(mut value: impl FnMut(Facet) -> Option<Cow<'a, str>>, only_searched: OnlySearched<'a>) -> Self {
        Self {
            values: std::array::from_fn(|index| value(Facet::ALL[index])),
            further: Vec::new(),
            only_searched,
        }
    }

    /// The value of a facet, of targets that of the first.
    pub fn get(&self, facet: Facet) -> Option<&str> {
        self.values[facet as usize].as_deref()
    }

    /// The values of a facet beside that of [`Self::get`].
    pub fn further(&self, facet: Facet) -> impl Iterator<Item = &str> {
        let of_facet = self.further.iter().filter(move |(of, _)| *of == facet);
        of_facet.map(|(_, value)| value.as_ref())
    }

    /// With a target after the first.
    #[must_use]
    fn with_further_target(mut self, id: Cow<'a, str>, target_type: Cow<'a, str>) -> Self {
        self.further
            .extend([(Facet::TargetId, id), (Facet::TargetType, target_type)]);
        self
    }

    /// Takes the value of a facet; empty if there is none.
    pub fn take(&mut self, facet: Facet) -> Cow<'a, str> {
        self.values[facet as usize].take().unwrap_or_default()
    }

    /// With this value of a facet.
    #[must_use]
    pub fn with(mut self, facet: Facet, value: impl Into<Cow<'a, str>>) -> Self {
        self.values[facet as usize] = Some(value.into());
        self
    }

    /// With this text for full-text search.
    #[must_use]
    pub fn with_text(mut self, text: SearchedText, value: impl Into<Cow<'a, str>>) -> Self {
        let texts = &mut self.only_searched;
        let place = match text {
            SearchedText::Action => return self.with(Facet::Action, value),
            SearchedText::ActorId => return self.with(Facet::ActorId, value),
            SearchedText::TargetId => return self.with(Facet::TargetId, value),
            SearchedText::ActorName => &mut texts.actor_name,
            SearchedText::TargetName => &mut texts.target_name,
            SearchedText::ActorEmail => &mut texts.actor_email,
            SearchedText::PartyId => &mut texts.party_id,
            SearchedText::FurtherTargetIds => {
                self.further.push((Facet::TargetId, value.into()));
                return self;
            }
        };
        *place = Some(value.into());
        self
    }

    /// Without the fields that are hidden. `is_hidden` gets a dot path; in that of further values `*` is every item.
    #[must_use]
    pub fn without(mut self, is_hidden: impl Fn(&str) -> bool) -> Self {
        self.further
            .retain(|(facet, _)| facet.further_path().is_some_and(|path| !is_hidden(path)));
        for (value, facet) in self.values.iter_mut().zip(Facet::ALL) {
            value.take_if(|_| is_hidden(facet.field().as_str()));
        }
        let texts = &mut self.only_searched;
        for (text, value) in [
            (SearchedText::ActorName, &mut texts.actor_name),
            (SearchedText::TargetName, &mut texts.target_name),
            (SearchedText::ActorEmail, &mut texts.actor_email),
            (SearchedText::PartyId, &mut texts.party_id),
        ] {
            value.take_if(|_| is_hidden(text.as_str()));
        }
        self
    }

    /// One of the texts that full-text search looks at, the first if it has several values.
    pub fn searched_text(&self, text: SearchedText) -> Option<&str> {
        self.searched_values(text).next()
    }

    /// The values of one of the texts that full-text search looks at.
    pub fn searched_values(&self, text: SearchedText) -> impl Iterator<Item = &str> {
        let texts = &self.only_searched;
        let one = match text {
            SearchedText::Action => self.get(Facet::Action),
            SearchedText::ActorId => self.get(Facet::ActorId),
            SearchedText::TargetId => self.get(Facet::TargetId),
            SearchedText::ActorName => texts.actor_name.as_deref(),
            SearchedText::TargetName => texts.target_name.as_deref(),
            SearchedText::ActorEmail => texts.actor_email.as_deref(),
            SearchedText::PartyId => texts.party_id.as_deref(),
            SearchedText::FurtherTargetIds => None,
        };
        let has_further = text == SearchedText::FurtherTargetIds;
        let further = self.further(Facet::TargetId).filter(move |_| has_further);
        one.into_iter().chain(further)
    }
}

impl Event {
    /// The fields by which this event can be found.
    pub fn facets(&self) -> Facets<'_> {
        let (target, context) = (self.target.as_ref(), self.context.as_ref());
        let value = |facet| -> Option<Cow<'_, str>> {
            match facet {
                Facet::TenantId => Some((&self.tenant_id).into()),
                Facet::ActorId => Some((&self.actor.id).into()),
                Facet::ActorType => Some(self.actor.actor_type.as_str().into()),
                Facet::Action => Some(self.action.as_str().into()),
                Facet::Category => Some(self.category.as_str().into()),
                Facet::TargetId => target.map(|target| (&target.id).into()),
                Facet::TargetType => target.map(|target| (&target.target_type).into()),
                Facet::IpAddress => context.and_then(|context| context.ip_address.as_ref().map(Into::into)),
                Facet::SessionId => context.and_then(|context| context.session_id.as_ref().map(Into::into)),
                Facet::Outcome => self.outcome.map(|outcome| outcome.as_str().into()),
            }
        };
        let only_searched = OnlySearched {
            actor_name: self.actor.name.as_ref().map(Into::into),
            target_name: target.and_then(|target| target.name.as_ref()).map(Into::into),
            actor_email: self.actor.email.as_ref().map(Into::into),
            party_id: self.actor.on_behalf_of.as_ref().map(|party| (&party.id).into()),
        };
        let facets = Facets::new(value, only_searched);
        let further = self.targets.iter().flatten().skip(1);
        further.fold(facets, |facets, target| {
            facets.with_further_target((&target.id).into(), (&target.target_type).into())
        })
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
    actor: StoredActor<'a>,
    #[serde(borrow)]
    target: Option<StoredTarget<'a>>,
    #[serde(borrow, default)]
    targets: Vec<StoredTarget<'a>>,
    #[serde(borrow, default)]
    context: StoredContext<'a>,
    #[serde(borrow)]
    outcome: Option<Cow<'a, str>>,
}

#[derive(Deserialize)]
struct StoredActor<'a> {
    /// Empty where it was erased.
    #[serde(borrow, default)]
    id: Cow<'a, str>,
    #[serde(borrow, rename = "type")]
    kind: Cow<'a, str>,
    #[serde(borrow)]
    name: Option<Cow<'a, str>>,
    #[serde(borrow)]
    email: Option<Cow<'a, str>>,
    #[serde(borrow)]
    on_behalf_of: Option<StoredId<'a>>,
}

#[derive(Deserialize)]
struct StoredTarget<'a> {
    /// Empty where it was erased.
    #[serde(borrow, default)]
    id: Cow<'a, str>,
    #[serde(borrow, rename = "type")]
    kind: Cow<'a, str>,
    #[serde(borrow)]
    name: Option<Cow<'a, str>>,
}

/// A party of which only the id is read.
#[derive(Deserialize)]
struct StoredId<'a> {
    #[serde(borrow)]
    id: Cow<'a, str>,
}

#[derive(Default, Deserialize)]
struct StoredContext<'a> {
    #[serde(borrow)]
    ip_address: Option<Cow<'a, str>>,
    #[serde(borrow)]
    session_id: Option<Cow<'a, str>>,
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
        let StoredFields {
            mut action,
            mut category,
            mut tenant_id,
            mut actor,
            target,
            targets,
            mut context,
            mut outcome,
        } = serde_json::from_str(canonical)?;
        let (mut target_id, mut target_type, target_name) = match target {
            Some(target) => (unless_erased(target.id), Some(target.kind), target.name),
            None => (None, None, None),
        };
        let only_searched = OnlySearched {
            actor_name: actor.name.take(),
            target_name,
            actor_email: actor.email.take(),
            party_id: actor.on_behalf_of.take().map(|party| party.id),
        };
        let value = |facet| match facet {
            Facet::TenantId => Some(take(&mut tenant_id)),
            Facet::ActorId => unless_erased(take(&mut actor.id)),
            Facet::ActorType => Some(take(&mut actor.kind)),
            Facet::Action => Some(take(&mut action)),
            Facet::Category => Some(take(&mut category)),
            Facet::TargetId => target_id.take(),
            Facet::TargetType => target_type.take(),
            Facet::IpAddress => context.ip_address.take(),
            Facet::SessionId => context.session_id.take(),
            Facet::Outcome => outcome.take(),
        };
        let further = targets.into_iter().skip(1);
        Ok(further.fold(Self::new(value, only_searched), |facets, target| {
            facets.with_further_target(target.id, target.kind)
        }))
    }
}

/// The id of an event has a character at least; that of an erased event can be missing.
fn unless_erased(id: Cow<'_, str>) -> Option<Cow<'_, str>> {
    Some(id).filter(|id| !id.is_empty())
}
