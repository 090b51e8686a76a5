//! The client against the programs of `clients/conformance`, its spool and its middleware.

#[cfg(feature = "actix")]
mod actix;
mod conformance;
mod flushed;
mod kit;
mod routes;
mod service;
mod spool;
