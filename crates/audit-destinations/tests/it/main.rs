//! Attempts against receivers on loopback addresses that speak TLS with certificates of their own.

mod addresses;
mod receiver;
mod requests;
mod responses;
mod syslog;
