//! Destinations of audit events: formats of records, and the requests of each kind of receiver.
//!
//! The crate stores and schedules nothing.
//!
//! ```
//! use audit_destinations::{OcsfOptions, Payload, Record, RecordFormat, StreamPart, encode};
//! use audit_domain::Timestamp;
//!
//! let stream = StreamPart { destination: "dst_1", log: "p/live", run: 0, position: 12 };
//! let event = r#"{"action":"user.created","id":"evt_1","occurred_at":"2026-01-15T10:30:00.000Z"}"#;
//! let record = Record { stream, payload: Payload::Event { seq: 345, json: event } };
//! let encoded = encode(&record, RecordFormat::Json, &OcsfOptions::default(), Timestamp::from_seconds(1_768_473_000));
//! assert!(encoded.text.ends_with(
//!     r#""stream":{"destination":"dst_1","log":"p/live","position":12,"run":0,"seq":345}}"#
//! ));
//! ```
//!
//! # Invariants
//! - [`encode`] is total: every event gives a record in every format, which is one line.
//! - The same arguments give the same bytes: no clock, no randomness, no version of the program. So a batch that is sent again after a
//!   crash is the same.
//! - Nothing of an event is lost in JSON and OCSF: what OCSF has no attribute for is below `unmapped`.
//! - The `Debug` of a [`Config`] shows no secret, and [`DestinationSender`] reaches only addresses that the policy of webhooks allows.
//! - Each record says where it is in its stream. The log signs the chain over them (`StreamNote` in `audit-ledger`).

mod action;
mod cef;
mod config;
mod encode;
mod ids;
mod kind;
mod limits;
mod ocsf;
mod record;
mod send;

pub use config::{Config, StoredConfigError};
pub use encode::encode;
pub use ids::DestinationId;
pub use kind::{Kind, RecordFormat, RunState, check_format};
pub use limits::{Limits, too_large};
pub use ocsf::{OcsfClasses, OcsfOptions};
pub use record::{Encoded, Payload, Record, Severity, StreamPart};
pub use send::{Attempt, Batch, BatchId, DestinationSender, Verdict};

/// Compiles and runs the example in the readme.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
