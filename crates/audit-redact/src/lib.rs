//! Finds and removes sensitive text in JSON: payment cards, social security numbers, e-mail addresses, phone
//! numbers, tokens and keys, and whatever a user's own patterns and field paths name.
//!
//! The crate is a library and nothing else: no I/O, no clock, no randomness, and no knowledge of the service
//! around it. It works on any [`serde_json::Value`].
//!
//! ```
//! use audit_redact::{Behavior, Builtin, Engine, Pattern, Shape};
//! use serde_json::json;
//!
//! let engine = Engine::builder()
//!     .builtin(Builtin::Email, Behavior::Mask)
//!     .builtin(Builtin::CreditCard, Behavior::Replace)
//!     .pattern("employees", Pattern::parse("EMP-[0-9]{4}")?, Behavior::Replace)
//!     .build();
//! let mut event = json!({"actor": {"email": "jane@example.com"}, "metadata": {"note": "EMP-1234 paid"}});
//! let report = engine.redact(&mut event, &Shape::audit_event());
//! assert_eq!(event["actor"]["email"], "j***@example.com");
//! assert_eq!(event["metadata"]["note"], "[REDACTED] paid");
//! assert_eq!(report.fields(), ["actor.email", "metadata.note"]);
//! assert_eq!(report.rules(), ["custom:employees", "builtin:email"]);
//! # Ok::<(), audit_redact::PatternError>(())
//! ```
//!
//! A caller whose event is a typed struct hands over its parts with [`Engine::session`].
//!
//! # Invariants
//!
//! - **Redacting twice is redacting once.** A text is looked at again after it changed until nothing more is
//!   found; what never settles is replaced as a whole. `[REDACTED]` and both hash forms are never touched again.
//! - **One piece or part by part:** [`Engine::redact`] and a [`Session`] give the same outcome.
//! - **Structure is never touched,** whatever a rule says; see [`Shape`].
//! - **Identifiers stay distinguishable:** they are hashed as a whole or left alone.
//! - **Every rule looks at the original text,** and all rules that hit are listed. Hits that overlap are merged:
//!   the first of their rules says what they become if it covers the whole; otherwise the strictest behaviour
//!   wins (replace before hash before mask). Where a field rule names a value, it alone decides.
//! - **Time is linear in the text,** whatever the text and whatever the patterns.
//! - **A clean document costs no allocation.**
//! - **A report shows nothing sensitive:** paths contain keys as rewritten.

mod behavior;
mod builtin;
mod canonical;
mod engine;
mod hash;
mod keys;
mod mask;
mod outputs;
mod path;
mod pattern;
mod report;
mod rewrite;
mod scan;
mod session;
mod shape;
mod small;

pub use behavior::{Behavior, BehaviorError};
pub use builtin::Builtin;
pub use engine::{Engine, EngineBuilder};
pub use hash::HashKey;
pub use path::{FieldPath, FieldPathError};
pub use pattern::{PATTERN_COMPILED_BYTES_MAX, Pattern, PatternError};
pub use report::Report;
pub use session::Session;
pub use shape::Shape;

/// The readme's example compiles and holds.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
