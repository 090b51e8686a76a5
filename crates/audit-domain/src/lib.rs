//! The language of the audit log: events, ids, filters, cursors, tiers, the canonical form and the hash over it.
//!
//! Everything here is a value or a function of values. There is no I/O; the current time and randomness come in as
//! arguments. Other services may link this crate to make, check or re-hash events.
//!
//! ```
//! use audit_domain::{ContentHash, ContentSalt, Environment, Event, EventId, LogName, ProjectId, Record, Stamp, Timestamp, json};
//!
//! let now = Timestamp::parse_rfc3339("2026-01-15T10:30:00Z")?;
//! let body = br#"{"action":"user.created","category":"mutation","tenant_id":"acme","actor":{"id":"u1","type":"user"}}"#;
//! let event = Event::from_json(json::parse(body)?, now)?;
//! let record = Record::new(&event, false, Stamp { id: EventId::new(now, [7; 10]), received_at: now });
//! let log = LogName::new(ProjectId::from_random([1; 16]), Environment::Live);
//! let salt = ContentSalt::from_bytes([9; 16]);
//! let hashed = record.hashed(salt, &log);
//! assert_eq!(Some(hashed.content_hash()), ContentHash::of(hashed.canonical(), &salt, &log));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Invariants:
//! - An [`Event`] is valid in every field; nothing else constructs one from outside.
//! - [`Record::canonical`] is RFC 8785 canonical JSON, and [`HashedRecord::content_hash`] covers every byte of it, the salt and the log.
//! - [`EventField`] lists the fields of an event, and [`Facet`] those by which it is filtered. Whatever decides something by field
//!   matches over one of the lists, or destructures [`Event`] or [`EventFilter`] without `..`: a new field does not compile until it
//!   is decided everywhere, and a tier that hides it hides it from filters and searches, too.
//! - [`Lifecycle`] decides whether a removal is one that policy, holds and grace allow. Service and verifiers ask the same fold.
//! - [`EventFilter::matches`] defines a query's result; whatever finds candidates faster must agree with it.

#[doc(hidden)]
pub use serde;

mod account;
mod action_label;
pub mod canonical;
mod condition;
mod content_hash;
mod cursor;
mod digest;
mod disclosed;
mod envelope;
mod erasure;
mod event;
mod event_field;
mod event_json;
mod event_part;
mod event_reader;
mod event_text;
mod facets;
mod field_texts;
mod fields;
mod filter;
mod glob;
mod ids;
mod interval;
mod iso8601;
pub mod json;
mod key_limits;
mod length_prefix;
mod lifecycle;
mod log_name;
mod metadata;
mod month;
mod network;
mod part_mask;
mod record;
mod search;
mod service_event;
mod stored_salt;
mod tier;
mod time;
mod time_ordered;
mod time_zone;
mod top_field;
mod violation;
mod words;

pub use account::{Environment, Name, NameError, Plan};
pub use action_label::{
    ActionIcon, ActionLabel, ActionText, LanguageTag, LanguageTagError, SentenceTemplate,
    SentenceTemplateError,
};
pub use condition::{ActionPatternError, AddressPatternError, Condition, ValuePattern};
pub use content_hash::{ContentSalt, ContentSaltError, PartProofs};
pub use cursor::{CursorError, CursorKey, FeedPosition, Position};
pub use digest::{Comparison, ContentHash, ContentHashError, DigestKey, SentDigest, Sha256Digest};
pub use disclosed::DisclosedEvent;
pub use envelope::{Envelope, EnvelopeError, logged_at};
pub use erasure::{Basis, ERASED_TEXT, Extent, erase_parts};
pub use event::{
    Action, ActionError, Actor, ActorType, Category, Change, Context, Event, OnBehalfOf, Outcome, Target,
};
pub use event_field::EventField;
pub use event_json::EventJson;
pub use event_part::{EventPart, HashedIn};
pub use event_reader::{check_free_form, limits};
pub use event_text::EventText;
pub use facets::{Facet, FacetValues, Facets};
pub use field_texts::FieldTexts;
pub use fields::Fields;
pub use filter::{EventFilter, EventOrder, PageLimit};
pub use glob::{ActionGlob, ActionGlobError};
pub use ids::{ClaimToken, EventId, IdError, KeyId, OrganizationId, ProjectId, RuleId};
pub use interval::{BUCKETS_MAX, Buckets, Interval, TooManyBuckets};
pub use key_limits::{KeyLimits, KeyScope, KeyScopes, WiderLimit};
pub use length_prefix::write_with_length;
pub use lifecycle::{
    Archived, CancelReason, DEFAULT_DAYS, Erasure, ErasurePlan, HeldFields, Hold, Lifecycle, LifecycleError,
    LifecycleEvent, ReceivedBefore, Removal, Restored, RetentionPlan, RetentionPolicy, Undelivered,
    before_of,
};
pub use log_name::LogName;
pub use metadata::{MetadataPath, MetadataPathError, VisibleMetadata};
pub use month::{IdempotencyWindow, Month};
pub use network::{Network, NetworkError, read_address};
pub use part_mask::PartMask;
pub use record::{DamagedEvent, HashedRecord, Record, Stamp, StoredEvent};
pub use search::{
    FoldedText, Lookup, Search, SearchMode, SearchScope, SearchWord, SearchedText, Word, WordExtent, Words,
};
pub use service_event::{
    SERVICE_ACTION_PREFIX, SERVICE_TENANT_ID, is_service_event, resembles_service_event,
};
pub use stored_salt::{ErasedParts, StoredSalt};
pub use tier::{
    DEFAULT_TIER, HiddenField, HiddenFieldError, TierName, TierNameError, ViewerRoute, ViewerTier,
};
pub use time::{Bound, Clock, DateError, Entropy, InstantError, Timestamp, TimestampError};
pub use time_ordered::TimeOrdered;
pub use time_zone::TimeZone;
pub use top_field::TopField;
pub use violation::{Violation, Violations};
pub use words::UnknownWord;
