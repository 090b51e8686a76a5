//! Black-box tests of the running server. The documentation of the package describes their layout.

#![allow(
    clippy::disallowed_types,
    reason = "a test that panics has failed; a poisoned lock adds nothing"
)]

mod access;
mod alerts;
mod archive;
mod backup;
mod cells;
mod clients;
mod command_line;
mod conformance;
mod content_hash;
mod copy;
mod cors;
mod daily_limits;
mod dependencies;
mod destination_delivery;
mod doctor;
mod documents;
mod durability;
mod environments;
mod erasure;
mod errors;
mod event_fields;
mod export;
mod failover;
mod faults;
mod feed;
mod hostile;
mod import;
mod index_verify;
mod init;
mod key_trace;
mod listening;
mod log;
mod logs;
mod lost_changes;
mod migrations;
mod months;
mod ocsf;
mod operations;
mod otlp;
mod overload;
mod pages;
mod pooler;
mod postgres;
mod postgres_index;
mod postgres_outcomes;
mod postgres_tls;
mod private_files;
mod rate_limit;
mod replica;
mod retention;
mod routes;
mod rust_client;
mod schema_check;
mod secrets;
mod self_audit;
mod shippers;
mod skips;
mod slow_clients;
mod start;
mod streams;
mod stuck_sessions;
mod terminal;
mod three_nodes;
mod webhooks;
