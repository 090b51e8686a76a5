//! Finds sensitive text in JSON and replaces, hashes or masks it: payment cards, social security numbers, e-mail
//! addresses, phone numbers, tokens and keys, and the text that custom patterns and field paths name.
//!
//! The crate works on any [`serde_json::Value`]. It does no I/O, reads no clock and no randomness, and depends on no
//! other crate of the service.
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
//! A caller with a typed event passes its parts to an [`Engine::session`].
//!
//! # Invariants
//!
//! - **Redaction is idempotent.** A changed text is scanned again until a pass changes nothing. A text that reaches no
//!   fixed point is replaced as a whole. `[REDACTED]` and both hash forms are never changed again.
//! - **[`Engine::redact`] and a [`Session`] have the same result.**
//! - **Structure never changes,** whatever a rule names; see [`Shape`].
//! - **Identifiers stay distinguishable:** an identifier is hashed as a whole or left unchanged.
//! - **Every rule scans the original text,** and the report lists every rule that hits. Overlapping hits are merged. If
//!   the hit of the first rule covers the merged span, that rule's behaviour applies. Otherwise the strictest behaviour
//!   applies (replace before hash before mask). A value that a field rule names gets that rule's behaviour.
//! - **Time is linear in the length of the text,** for every text and every pattern. All patterns together take at most
//!   [`PATTERN_STEPS_PER_BYTE`] for each byte that they scan, plus [`PATTERN_STEPS_PER_DOCUMENT`]. Where that is too little,
//!   the rest of the text is replaced.
//! - **A clean document costs no allocation.**
//! - **A report contains nothing sensitive:** its paths have keys in their redacted form.

mod behavior;
mod builtin;
mod canonical;
mod engine;
mod hash;
mod keys;
mod mask;
mod outputs;
mod path;
mod paths;
mod pattern;
mod report;
mod rewrite;
mod scan;
mod session;
mod shape;
mod small;
mod work;

pub use behavior::{Behavior, BehaviorError};
pub use builtin::Builtin;
pub use engine::{Engine, EngineBuilder};
pub use hash::HashKey;
pub use path::{FieldPath, FieldPathError};
pub use pattern::{
    PATTERN_COMPILED_BYTES_MAX, PATTERN_STEPS_PER_BYTE, PATTERN_STEPS_PER_DOCUMENT, Pattern, PatternError,
    STATES_KEPT_BYTES_MAX,
};
pub use report::Report;
pub use session::Session;
pub use shape::Shape;

/// Compiles and runs the example in the readme.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
