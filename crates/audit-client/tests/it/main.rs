//! The client against the programs of `clients/conformance`, its spool and its middleware.

#[cfg(feature = "actix")]
mod actix;
#[cfg(feature = "verify")]
mod completeness;
mod conformance;
#[cfg(feature = "verify")]
mod erased;
mod errors;
mod flushed;
mod kit;
#[cfg(any(feature = "actix", feature = "tower"))]
mod middleware;
mod outbox;
#[cfg(all(feature = "actix", feature = "verify"))]
mod readme;
#[cfg(all(feature = "actix", feature = "verify"))]
mod real_server;
mod routes;
mod service;
mod spool;
mod tables;
#[cfg(all(feature = "actix", feature = "verify"))]
mod todo_actix;
#[cfg(feature = "tower")]
mod tower;
