//! Tests of the crate's public interface.

// Clippy's exemption for tests does not cover functions shared by tests.
#![allow(clippy::unwrap_used)]

mod following;
mod frontier;
mod growth;
mod keys;
mod log;
mod oracles;
mod proofs;
mod reference;
mod tiles;
mod vectors;
