//! Tests of the crate as its users see it.

// The exemption of tests does not reach the functions that tests share.
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
