//! Attempts against receivers on loopback addresses that speak TLS with certificates of their own.

#![allow(
    clippy::disallowed_types,
    reason = "a test that panics has failed; a poisoned lock adds nothing"
)]

mod connections;
mod environment;
mod failures;
mod receiver;
mod responses;
