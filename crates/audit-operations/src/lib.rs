//! What an operator runs beside a server: administration, backups, checks of a deployment, import, copies, keys and the log.
//!
//! Each command is a module with its options and a function that runs it, and prints for people or as JSON. [`options`] are those that
//! several commands share, [`serve_options`] those of a server; [`service`] opens the service by them.

#![expect(
    clippy::missing_errors_doc,
    reason = "a command fails with what its operator has to know"
)]
#![expect(
    missing_docs,
    reason = "options that are flattened are documented where they are"
)]

pub mod administration;
mod anchor_options;
#[cfg(feature = "archive")]
pub mod archive;
pub mod backup;
pub mod cells;
mod clock_watch;
pub mod copy;
pub mod doctor;
mod head_keys;
pub mod health;
pub mod import;
pub mod index;
pub mod init;
mod key_files;
pub mod key_sources;
pub mod keys;
pub mod ledger;
pub mod options;
pub mod otlp_options;
mod programs;
pub mod schema;
pub mod secrets;
pub mod serve_options;
pub mod service;
pub mod shrink;
mod signing_program;

/// A lower limit of open files is reported: 512 are for the database and outgoing connections, and as many for clients.
pub const OPEN_FILES_MIN: u64 = 1_024;

/// The heading of the options that matter first: `-h` shows these, and those that have no heading.
pub const MAIN_HEADING: &str = "Main options";
