//! The texts of an event that a search looks at.

use super::{FoldedText, SearchScope};
use crate::{EventField, words};

words! {
    /// A text that full-text search looks at, by its dot path. As in [`Facet`](crate::Facet), what differs by text is decided in a `match`.
    pub enum SearchedText {
        /// The action.
        Action = "action",
        /// The actor's name.
        ActorName = "actor.name",
        /// The target's name.
        TargetName = "target.name",
        /// The actor's id.
        ActorId = "actor.id",
        /// The id of the party that the actor acts for.
        PartyId = "actor.on_behalf_of.id",
        /// The target's id.
        TargetId = "target.id",
        /// The ids of the targets behind the first one.
        FurtherTargetIds = "targets.*.id",
        /// The actor's e-mail address.
        ActorEmail = "actor.email",
    }
}

impl SearchedText {
    /// The longest id that has words, in characters. Longer ones, such as UUIDs, are random for the most part, and each would add an
    /// entry to the index for every word.
    pub const ID_CHARS_MAX: usize = 32;
    /// The longest word of an id that has words, in characters.
    pub const ID_WORD_CHARS_MAX: usize = 16;

    /// The field that holds the text.
    pub const fn field(self) -> EventField {
        match self {
            Self::Action => EventField::Action,
            Self::ActorName => EventField::ActorName,
            Self::TargetName => EventField::TargetName,
            Self::ActorId => EventField::ActorId,
            Self::PartyId => EventField::OnBehalfOf,
            Self::TargetId => EventField::TargetId,
            Self::FurtherTargetIds => EventField::Targets,
            Self::ActorEmail => EventField::ActorEmail,
        }
    }

    /// The scope that a search must have to look at the text.
    pub const fn scope(self) -> SearchScope {
        match self {
            Self::Action | Self::ActorName | Self::TargetName => SearchScope::Names,
            Self::ActorId | Self::PartyId | Self::TargetId | Self::FurtherTargetIds => SearchScope::Ids,
            Self::ActorEmail => SearchScope::Email,
        }
    }

    /// Whether a value of the text is also found as a whole, exactly as it is stored.
    pub const fn is_found_as_a_whole(self) -> bool {
        matches!(self.scope(), SearchScope::Ids | SearchScope::Email)
    }

    /// A value of the text, folded, if its words are found.
    pub fn folded(self, value: &str) -> Option<FoldedText<'_>> {
        match self.scope() {
            SearchScope::Names | SearchScope::Metadata => Some(FoldedText::new(value)),
            SearchScope::Email => None,
            SearchScope::Ids => {
                if has_more_chars(value, Self::ID_CHARS_MAX) {
                    return None;
                }
                let folded = FoldedText::new(value);
                let is_long = folded
                    .words()
                    .any(|word| has_more_chars(word.text, Self::ID_WORD_CHARS_MAX));
                (!is_long).then_some(folded)
            }
        }
    }
}

/// Bytes are at least as many as characters.
fn has_more_chars(text: &str, chars: usize) -> bool {
    text.len() > chars && text.chars().nth(chars).is_some()
}
