//! The client against the scripted server of `clients/conformance`, and its spool.

mod conformance;
mod service;
mod spool;
