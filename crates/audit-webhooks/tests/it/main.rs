//! Attempts against receivers on loopback addresses that speak TLS with certificates of their own.

mod answers;
mod connections;
mod environment;
mod failures;
mod receiver;
