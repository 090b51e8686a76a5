//! Tests of the crate's public interface.

// Clippy's exemption for tests does not cover functions shared by tests.
#![allow(clippy::unwrap_used)]

mod corpus;
mod idempotence;
mod innocent;
mod labelled;
mod rules;
mod shapes;
