//! Shares of bounded resources: what one client may hold while others need the same ([`Budget`]), and whose turn it is
//! ([`Turns`]). An owner without a credential is the address of its client ([`TrustedProxies`], [`subscriber`]).
//!
//! ```
//! use audit_admission::Budget;
//!
//! let bodies = Budget::<&str>::new(12_000);
//! let mut first = bodies.hold("first");
//! assert!(first.grow(8_000), "alone, an owner may hold two thirds");
//! assert!(!first.grow(1));
//! assert!(bodies.hold("second").grow(2_000), "something is left for the next one");
//! ```

mod address;
mod budget;
mod turns;

pub use address::{TrustedProxies, subscriber};
pub use budget::{Budget, Held};
pub use turns::{Busy, Turn, Turns, TurnsOptions};
