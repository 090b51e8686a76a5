//! Below the routes of a service: sockets, TLS, and connections with limits.
//!
//! [`start`] runs actix-web's own server with connections that time out when a client does not read, shares of addresses, and TLS whose
//! certificate is replaced while it runs. The limits are in docs/design/limits.md.

pub mod listener;
mod patience;
mod server;
mod signals;
mod status;
pub mod tls;

pub use patience::{Patience, STALL_SECONDS_MAX};
pub use server::{Connections, Encryption, Service, Timeouts, start};
pub use signals::EndSignals;
pub use status::TlsStatus;
