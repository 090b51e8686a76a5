//! Alert webhooks: whom they may reach, how they are signed, sent and tried again.
//!
//! Deliveries follow the [Standard Webhooks](https://github.com/standard-webhooks/standard-webhooks) specification,
//! version 1. All of it is values and functions of values, except [`Sender`], which makes one attempt and blocks until
//! it has an [`Outcome`]. Nothing here stores, schedules or starts anything.
//!
//! ```
//! use audit_domain::Timestamp;
//! use audit_webhooks::{AddressPolicy, MessageId, NextStep, Outcome, Persistence, SignatureHeaders};
//! use audit_webhooks::{UrlError, WebhookSecret, WebhookUrl, next_step};
//!
//! let now = Timestamp::from_seconds(1_768_473_000);
//! assert_eq!(WebhookUrl::parse("https://2130706433/", AddressPolicy::Public), Err(UrlError::AddressNotAllowed));
//!
//! let secret = WebhookSecret::from_bytes([7; WebhookSecret::BYTES]); // In earnest, from the operating system.
//! let headers = SignatureHeaders::sign(MessageId::new(now, [8; 10]), now, br#"{"type":"test"}"#, &secret, &[]);
//! assert_eq!(headers.pairs()[1], ("webhook-timestamp", "1768473000"));
//!
//! let outcome = Outcome::Answered { status: 503, retry_after: None };
//! let step = next_step(&outcome, 1, Persistence::Schedule, now, 0);
//! assert_eq!(step, NextStep::RetryAt(now.plus_seconds(5)));
//! ```
//!
//! # Invariants
//! - No secret is printed: the `Debug` of [`WebhookSecret`] and [`EncryptionKey`] hides it, that of [`WebhookUrl`] shows
//!   the host alone, since receivers put tokens into paths. None of them has serde.
//! - A sealed secret opens in the row it was sealed for and nowhere else: see [`sealing`].
//! - What was parsed is what is connected to: a [`WebhookUrl`] carries the one parse that checking and sending use.
//! - Under [`AddressPolicy::Public`] no packet leaves for an address that [`is_public`] refuses, whatever the name
//!   resolved to before: every attempt resolves anew, checks all addresses, and connects to those it checked.
//! - [`Sender::send`] follows no redirect, uses no proxy, keeps no connection, and ends within its timeout.
//! - The status decides: nothing that happens to a response's body turns a 2xx into a failure.
//! - Nothing here reads a clock or makes randomness, but for the deadlines that the HTTP client measures and the clock
//!   by which TLS judges certificates and makes its keys.

mod address;
mod failure;
mod ids;
mod lanes;
mod outcome;
mod resolver;
mod retry;
mod retry_after;
mod roots;
pub mod sealing;
mod secret;
mod sender;
mod signature;
mod status;
mod url;

pub use address::{AddressPolicy, is_public};
pub use failure::FailureKind;
pub use ids::{DeliveryId, MessageId, WebhookId};
pub use lanes::{Course, Endpoint, Lane, Lanes, Waiting};
pub use outcome::Outcome;
pub use resolver::{Lookup, TooManyLookups};
pub use retry::{ATTEMPTS_MAX, NextStep, Persistence, RETRY_DELAYS_SECONDS, next_step, step_after_failure};
pub use retry_after::RetryAfter;
pub use roots::CertificatesError;
pub use sealing::{EncryptionKey, EncryptionKeyError, OpenError};
pub use secret::{SecretError, WebhookSecret};
pub use sender::{OutgoingRequest, RESPONSE_BYTES_MAX, Sender, SenderError, SenderOptions};
pub use signature::{SignatureHeaders, signature};
pub use status::DeliveryStatus;
pub use url::{UrlError, WebhookUrl};

/// The readme's example compiles and holds.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
