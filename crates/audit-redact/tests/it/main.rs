//! Tests of the crate as its users see it.

// The exemption of tests does not reach the functions that tests share.
#![allow(clippy::unwrap_used)]

mod corpus;
mod idempotence;
mod labelled;
mod performance;
mod rules;
mod shapes;
