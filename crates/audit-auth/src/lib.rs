//! API keys and viewer tokens: generation, parsing, signing and verification. No HTTP, no database.
//!
//! A request presents a [`Credential`]: a key, which is looked up by its [`KeyHash`], or a viewer token, which is
//! verified with the [`ViewerSecret`]s. The holder of a valid credential is a [`Principal`], which the [`Policy`] of an
//! endpoint admits or refuses.
//!
//! ```
//! use audit_auth::{Credential, KeyKind, KeyText, TokenLifetime, ViewerClaims, ViewerSecret, viewer_token};
//! use audit_domain::{ProjectId, Timestamp};
//!
//! // In production, the random bytes come from the operating system.
//! let key = KeyText::generate(KeyKind::Master, [7; KeyText::RANDOM_BYTES]);
//! let header = format!("Bearer {}", key.as_str());
//! let Credential::Key(presented) = Credential::from_authorization_header(&header)? else { unreachable!() };
//! assert_eq!(presented.hash(), key.hash());
//!
//! let (secret, now) = (ViewerSecret::generate([8; ViewerSecret::RANDOM_BYTES]), Timestamp::from_seconds(1_768_473_000));
//! let (project, lifetime) = (ProjectId::from_random([1; 16]), TokenLifetime::default());
//! let claims = ViewerClaims::issue(project, "acme".into(), ("standard".into(), now), now, lifetime, [2; 16]);
//! let token = viewer_token::sign(&claims, &secret)?;
//! assert_eq!(viewer_token::verify(&token, &[secret], now)?, claims);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Invariants
//! - No secret is printed: the `Debug` of [`KeyText`], [`KeyHash`], [`ViewerTokenText`] and [`ViewerSecret`] hides it. None of
//!   them implements `Display` or serde's traits.
//! - A [`KeyText`] has a valid checksum: a mistyped key never reaches the database.
//! - Key hashes and signatures are compared in constant time.
//! - A token verifies only with HS256, a known `kid` and exactly the header that [`viewer_token::sign`] writes. Every claim is
//!   required.
//! - No token outlives [`TokenLifetime::SECONDS_MAX`], so a rotated secret verifies no token after that time.
//! - The crate reads neither clock nor randomness: both are arguments.
//!
//! The only state is the process-wide provider that `jsonwebtoken` requires. It is set at the first use, unless other
//! code has set one.

mod credential;
mod hs256;
mod key;
mod policy;
mod principal;
mod viewer_secret;
pub mod viewer_token;

pub use credential::{Credential, CredentialError};
pub use key::{KeyHash, KeyKind, KeyText};
pub use policy::{
    Admin, Alerts, AnyKey, DestinationOwner, DestinationOwners, EventsRead, EventsWrite, KeyHolder, Keys,
    Master, Policy, Project, Readers, Refused, Scoped, SessionHolder,
};
pub use principal::{MasterKey, Principal, ProjectKey, Viewer};
pub use viewer_secret::{TokenLifetime, TokenLifetimeError, ViewerSecret};
pub use viewer_token::{SignError, TokenError, ViewerClaims, ViewerTokenText};
