//! The client against the scripted server of `clients/conformance`, and its spool.

#[cfg(feature = "actix")]
mod actix;
mod conformance;
mod flushed;
mod service;
mod spool;
