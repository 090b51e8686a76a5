//! Black-box tests of the running server. `routes` mirrors the paths of the interface; the other modules hold what is
//! true of all routes, and of the program as a whole.

mod access;
mod alerts;
mod command_line;
mod conformance;
mod content_hash;
mod cors;
mod daily_limits;
mod dependencies;
mod documents;
mod durability;
mod environments;
mod errors;
mod event_fields;
mod export;
mod feed;
mod hostile;
mod import;
mod log;
mod logs;
mod migrations;
mod operations;
mod overload;
mod postgres;
mod postgres_index;
mod rate_limit;
mod routes;
mod skips;
mod start;
mod streams;
mod webhooks;
