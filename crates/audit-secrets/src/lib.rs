//! Secrets at rest: sealed with the operator's encryption key, and bound to their place in the database.
//!
//! A [`KeyRing`] has the key that seals, and others that open. So a key can be rotated while several nodes run: every node gets
//! both, every secret is sealed again, and then the old key is removed.
//!
//! ```
//! use audit_secrets::{EncryptionKey, KeyRing, OpenError, Place, Secret};
//!
//! let key: EncryptionKey = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f".parse()?;
//! let keys = KeyRing::new(key, [])?;
//! let place = Place::new("webhook_secrets", "secret", ["wh_1", "1"]);
//! let stored = keys.seal(&[7; 32], &place, [9; 12]);
//! assert_eq!(keys.open_secret(&stored, &place), Ok(Secret::new([7; 32])));
//!
//! let other = Place::new("webhook_secrets", "secret", ["wh_1", "2"]);
//! assert!(matches!(keys.open(&stored, &other), Err(OpenError::Refused(_))));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Invariants
//! - A sealed secret opens at its place only: table, column and row are authenticated with it.
//! - With an encryption key, a secret in plain text is refused, unless the caller accepts it explicitly. Otherwise a writer of
//!   the database could replace a sealed secret by one that he knows.
//! - The `Debug` of keys and secrets shows no byte of them, and their memory is zeroed when they are dropped. Not zeroed are the
//!   expanded keys that `ring` makes for one operation, and what callers copy.
//! - The crate reads neither clock nor randomness.

mod key;
mod place;
mod ring;
mod sealed;
mod secret;

pub use key::{EncryptionKey, EncryptionKeyError, KeyId};
pub use place::Place;
pub use ring::{KeyRing, RepeatedKey};
pub use sealed::{Form, NONCE_BYTES, OpenError};
pub use secret::{Secret, SecretText};
pub use zeroize::Zeroizing;
