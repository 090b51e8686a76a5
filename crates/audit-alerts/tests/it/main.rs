//! Tests of the crate as its users see it.

// The exemption of tests does not reach the functions that tests share.
#![allow(clippy::unwrap_used)]

mod encoding;
mod matching;
mod reference;
mod windows;
