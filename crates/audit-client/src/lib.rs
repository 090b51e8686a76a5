#![doc = include_str!("../README.md")]

#[cfg(feature = "actix")]
pub mod actix;
mod administration;
mod ambient;
mod buffer;
mod client;
mod double;
mod erasures;
mod error;
mod event;
mod export;
#[cfg(any(feature = "actix", feature = "tower"))]
mod middleware;
pub mod outbox;
mod pages;
mod policy;
#[cfg(feature = "verify")]
mod proof;
mod reading;
mod recorder;
mod retention;
mod spool;
#[cfg(feature = "tower")]
pub mod tower;
mod transport;
mod verifiable_log;
mod webhook;

pub use administration::{Object, Resource};
pub use audit_domain::{ActorType, Category, Environment, Outcome, Timestamp};
#[cfg(feature = "verify")]
pub use audit_ledger::SignedCheckpoint;
pub use client::{Client, ClientBuilder};
pub use double::{Record, RecordedEvents};
pub use error::{ApiError, Detail, Error};
pub use event::{EventBuilder, NewEvent};
pub use export::Export;

pub use pages::Pages;
pub use policy::RetryPolicy;
#[cfg(feature = "verify")]
pub use proof::{
    Completeness, verify_checkpoint, verify_completeness, verify_consistency, verify_proof, verify_receipt,
};
pub use reading::{EventQuery, FeedPage, Follow};
pub use recorder::{Overflow, Recorded, Stats};
pub use spool::Spool;
pub use verifiable_log::Log;
pub use webhook::{
    FiredAlert, TestedWebhook, WebhookHeaders, WebhookMessage, verify_webhook, verify_webhook_at,
};
