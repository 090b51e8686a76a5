//! Tests of the public API.

// The lint's exemption for tests does not cover functions that tests share.
#![allow(clippy::unwrap_used)]

mod distinct;
mod encoding;
mod matching;
mod reference;
mod windows;
