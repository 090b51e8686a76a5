//! Alert webhooks: address policy, signatures, sending and retry policy.
//!
//! Deliveries follow the [Standard Webhooks](https://github.com/standard-webhooks/standard-webhooks) specification,
//! version 1. Everything is a value or a pure function, except [`Sender`], which makes one attempt and blocks until it has an
//! [`Outcome`]. The crate stores and schedules nothing.
//!
//! ```
//! use audit_domain::Timestamp;
//! use audit_webhooks::{AddressPolicy, MessageId, NextStep, Outcome, Persistence, SignatureHeaders};
//! use audit_webhooks::{UrlError, WebhookSecret, WebhookUrl, next_step};
//!
//! let now = Timestamp::from_seconds(1_768_473_000);
//! assert_eq!(WebhookUrl::parse("https://2130706433/", AddressPolicy::Public), Err(UrlError::AddressNotAllowed));
//!
//! let secret = WebhookSecret::from_bytes([7; WebhookSecret::BYTES]); // Use random bytes of the operating system.
//! let headers = SignatureHeaders::sign(MessageId::new(now, [8; 10]), now, br#"{"type":"test"}"#, &secret, &[]);
//! assert_eq!(headers.pairs()[1], ("webhook-timestamp", "1768473000"));
//!
//! let outcome = Outcome::Answered { status: 503, retry_after: None };
//! let step = next_step(&outcome, 1, Persistence::Schedule, now, 0);
//! assert_eq!(step, NextStep::RetryAt(now.plus_seconds(5)));
//! ```
//!
//! # Invariants
//! - No secret is printed: the `Debug` of [`WebhookSecret`] hides it, and its memory is zeroed. That of [`WebhookUrl`] shows only
//!   the host, because receivers put tokens into paths. None of them implements serde's traits.
//! - Checking and sending use one parse result: that of [`WebhookUrl`].
//! - Under [`AddressPolicy::Public`] no packet is sent to an address that [`is_public`] refuses: every attempt resolves the
//!   name, checks all addresses, and connects to the addresses it checked.
//! - [`Sender::send`] follows no redirect, uses no proxy, reuses no connection, and ends within its timeout. Other senders get
//!   the same from [`guarded_agent`], and for protocols other than HTTP from [`VettingResolver`] and [`root_store`].
//! - The status decides: no error in a response's body turns a 2xx into a failure.
//! - The crate reads neither clock nor randomness, except through the HTTP client (timeouts) and TLS (validity of certificates,
//!   session keys).

mod address;
mod failure;
mod ids;
mod lanes;
mod outcome;
mod resolver;
mod retry;
mod retry_after;
mod roots;
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
pub use resolver::{Lookup, TooManyLookups, VettingResolver, system_lookup};
pub use retry::{ATTEMPTS_MAX, NextStep, Persistence, RETRY_DELAYS_SECONDS, next_step, step_after_failure};
pub use retry_after::RetryAfter;
pub use roots::{CertificatesError, only_roots, root_store};
pub use secret::{SecretError, WebhookSecret};
pub use sender::{OutgoingRequest, RESPONSE_BYTES_MAX, Sender, SenderError, SenderOptions, guarded_agent};
pub use signature::{SignatureHeaders, signature};
pub use status::DeliveryStatus;
pub use url::{UrlError, WebhookUrl};

/// Compiles and runs the example in the readme.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
