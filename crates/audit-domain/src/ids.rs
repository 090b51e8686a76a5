//! Identifiers. Each kind has a type of its own, so that one cannot be passed for another.

use crate::Timestamp;
use crate::ulid_id;
use serde::{Serialize, Serializer};
use sha2::{Digest, Sha256};
use std::fmt;
use std::str::FromStr;
use uuid::Uuid;

/// The text is not an identifier of the expected form.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("must be {expected}")]
pub struct IdError {
    expected: &'static str,
}

impl IdError {
    /// The error for a text that is not `expected` ("a UUID").
    pub const fn new(expected: &'static str) -> Self {
        Self { expected }
    }
}

macro_rules! uuid_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(Uuid);

        impl $name {
            /// A random (version 4) id from 16 unpredictable bytes.
            pub const fn from_random(bytes: [u8; 16]) -> Self {
                Self(uuid::Builder::from_random_bytes(bytes).into_uuid())
            }

            /// The UUID itself.
            pub const fn as_uuid(&self) -> &Uuid {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.as_hyphenated().fmt(formatter)
            }
        }

        impl FromStr for $name {
            type Err = IdError;

            /// Accepts the hyphenated form only, in either case.
            fn from_str(text: &str) -> Result<Self, IdError> {
                let error = IdError::new("a UUID");
                if text.len() != 36 {
                    return Err(error);
                }
                Uuid::try_parse(text).map(Self).map_err(|_| error)
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }
    };
}

uuid_id!(
    /// An organization: the owner of projects, master keys and a plan.
    OrganizationId
);
uuid_id!(
    /// A project: the owner of events, project keys, rules and tiers.
    ProjectId
);
uuid_id!(
    /// A master or project key (not its secret text).
    KeyId
);
uuid_id!(
    /// A custom redaction or alert rule.
    RuleId
);

/// The token of an anonymous stream: a UUID of version 4, in its hyphenated form, made by its sender. Its holder
/// may send to the stream, so it is stored only as a hash.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct ClaimToken(Uuid);

impl ClaimToken {
    /// The SHA-256 of the lower-case text.
    pub fn sha256(&self) -> [u8; 32] {
        Sha256::digest(self.to_string().as_bytes()).into()
    }
}

impl FromStr for ClaimToken {
    type Err = IdError;

    fn from_str(text: &str) -> Result<Self, IdError> {
        let error = IdError::new("a UUID of version 4");
        if text.len() != 36 {
            return Err(error);
        }
        let uuid = Uuid::try_parse(text).map_err(|_| error.clone())?;
        let is_random = uuid.get_version_num() == 4 && uuid.get_variant() == uuid::Variant::RFC4122;
        is_random.then_some(Self(uuid)).ok_or(error)
    }
}

impl fmt::Display for ClaimToken {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.as_hyphenated().fmt(formatter)
    }
}

/// Without the token.
impl fmt::Debug for ClaimToken {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("ClaimToken(…)")
    }
}

impl Serialize for ClaimToken {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

ulid_id!(
    /// An event. The upper 48 bits are the milliseconds at which it was received, so ids sort as received.
    EventId, "evt_", "an event id"
);

impl EventId {
    /// The next id in order. Ids of one log increase strictly; this is the smallest that follows `self`.
    pub fn successor(self) -> Self {
        Self(self.0.successor())
    }

    /// The time at which it was received, to the millisecond, or that of the id that it follows.
    pub fn time(self) -> Timestamp {
        self.0.time()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn event_ids_read_like_the_interface_says() {
        let id = EventId::new(Timestamp::from_millis(1_768_473_000_000), [7; 10]);
        let text = id.to_string();
        assert_eq!(text.len(), EventId::CHARS);
        assert!(text.starts_with("evt_01"), "{text}");
        assert_eq!(text.parse(), Ok(id));
        assert!(text.to_lowercase().parse::<EventId>().is_err());
        assert!("evt_".parse::<EventId>().is_err());
        assert!(
            "evt_8ZZZZZZZZZZZZZZZZZZZZZZZZZ".parse::<EventId>().is_err(),
            "more than 128 bits"
        );
    }

    #[test]
    fn a_claim_token_is_a_random_uuid() {
        let token: ClaimToken = "67E55044-10b1-426f-9247-bb680e5fe0c8".parse().unwrap();
        assert_eq!(token.to_string(), "67e55044-10b1-426f-9247-bb680e5fe0c8");
        assert_eq!(format!("{token:?}"), "ClaimToken(…)");
        for text in [
            "",
            "67e5504410b1426f9247bb680e5fe0c8",
            "00000000-0000-0000-0000-000000000000",
            "67e55044-10b1-126f-9247-bb680e5fe0c8",
            "67e55044-10b1-426f-c247-bb680e5fe0c8",
        ] {
            assert!(text.parse::<ClaimToken>().is_err(), "{text}");
        }
    }

    #[test]
    fn only_hyphenated_uuids_are_ids() {
        assert!(
            "67e55044-10b1-426f-9247-bb680e5fe0c8"
                .parse::<ProjectId>()
                .is_ok()
        );
        for text in [
            "",
            "67e5504410b1426f9247bb680e5fe0c8",
            "{67e55044-10b1-426f-9247-bb680e5fe0c8}",
            "default",
        ] {
            assert!(text.parse::<ProjectId>().is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn event_ids_sort_as_text_and_bytes_alike(a in any::<u128>(), b in any::<u128>()) {
            let (a, b) = (EventId::from_bytes(a.to_be_bytes()), EventId::from_bytes(b.to_be_bytes()));
            prop_assert_eq!(a.cmp(&b), a.to_string().cmp(&b.to_string()));
            prop_assert_eq!(a.cmp(&b), a.to_bytes().cmp(&b.to_bytes()));
            prop_assert_eq!(a.to_string().parse(), Ok(a));
        }
    }
}
