//! The harness of the black-box tests: it starts the real `audit-server` on a real database, creates organizations
//! through the command line, and talks to the server over HTTP as any client would.
//!
//! ```no_run
//! use audit_tests::{DatabaseKind, Organization, event};
//!
//! let organization = Organization::fresh(DatabaseKind::Sqlite);
//! let id = organization.project().store(event());
//! assert_eq!(organization.project().event(&id)["action"], "user.created");
//! ```
//!
//! # Layout
//!
//! All tests are one binary, `tests/it`:
//! - `routes/` mirrors the paths of the interface: `routes/alerts/webhooks.rs` tests `/api/v1/alerts/webhooks`.
//! - A directory or file beside it tests behavior that several routes share (`access`, `feed`, `export`, `log`,
//!   `streams`, `alerts`, `webhooks`, `destination_delivery`, `errors`) or the program as a whole (`command_line`, `start`, `listening`, `operations`,
//!   `durability`, `overload`, `lost_changes`, `faults`).
//! - `migrations`, `dependencies`, `skips`, `documents` and `conformance` test the repository.
//!
//! Programs beside it (`log_pymerkle.py`, `log_sumdb`, `verify_webhook.py`, `schemathesis.sh`) check the service with
//! independent libraries. A test without its prerequisites is skipped and reports it as `SKIPPED`; `.ci/run` requires them.
//!
//! # Invariants
//!
//! - No test links the server's crates: a test knows only as much as a client. Tests of the log link `audit-ledger`, as
//!   auditors do, and forge trees with it.
//! - No child outlives the test process: each has a pipe that closes with it (see [`process`]).
//! - Every JSON response is checked for its `request_id`, whatever the test is about (see [`Client`]).
//! - Every test has an organization of its own. Only tests that stop or configure a server start one.
//! - No test decides by wall time. A test waits for a signal (a line of output, a metric, a request to its receiver, a lock
//!   of the database) and a [`Deadline`] only bounds a hang. Days, windows and cooldowns run on a [`Clock`].

#![allow(
    clippy::disallowed_types,
    reason = "a test that panics has failed; a poisoned lock adds nothing"
)]

mod alerts;
mod authority;
mod certificates;
mod citus;
mod client;
mod clock;
mod cluster;
mod commit_proxy;
mod database;
mod documented;
mod edge;
mod ending;
mod events;
mod faults;
mod gzip;
mod live;
mod organization;
mod pgbouncer;
mod postgres;
mod prerequisite;
pub mod process;
mod python;
mod receiver;
mod response;
mod server;
mod signature;
mod softhsm;
mod streams;
mod stuck_session;
mod third_parties;
mod tls_cluster;
mod webhooks;
mod witness;

pub use alerts::{alert_rule, door_opened};
pub use authority::trusted_identity;
pub use certificates::{CertificateAuthority, Identity};
pub use citus::{Citus, CitusServer};
pub use client::{Client, Request};
pub use clock::Clock;
pub use cluster::{ArchivedCluster, Cluster};
pub use commit_proxy::CommitProxy;
pub use database::{Database, DatabaseKind};
pub use documented::run_documented;
pub use edge::{Deadline, allow_many_open_files, environment, moment, now_plus, temporary_directory};
pub use ending::{AnnounceOnDrop, Ending};
pub use events::{content_hash, event, event_with, merge};
pub use faults::{FaultyDisk, MemoryGroup, SmallDisk, few_open_files};
pub use gzip::{gunzip, gzip};
pub use live::{EventStream, Live, Next, SentEvent};
pub use organization::Organization;
pub use pgbouncer::PgBouncer;
pub use prerequisite::has_curl;
pub use python::{example, run_example, verify_with_library};
pub use receiver::{Received, Receiver, Reply};
pub use response::{RawResponse, Response};
pub use server::{
    Finished, Server, assert_settings_refused, command_line, command_line_on, command_line_with, finished,
    program, serve_refused, shared_head_key, start_command_line, start_command_line_at, webhook_environment,
};
pub use signature::{assert_signed, signature, signatures};
pub use softhsm::{HsmKey, SoftHsm};
pub use streams::{Stream, address, claim_token, move_by};
pub use stuck_session::StuckSession;
pub use third_parties::{aics_witness, build_go, go, python, run, run_log_sumdb, run_python};
pub use tls_cluster::TlsCluster;
pub use webhooks::Subscription;
pub use witness::Witness;

/// The built-in redaction rules, by the name behind `builtin_`, in the order of the list.
pub const BUILTIN_REDACTIONS: [&str; 15] = [
    "credit_card",
    "ssn",
    "email",
    "phone",
    "jwt",
    "bearer_token",
    "aws_key",
    "ipv4",
    "secret",
    "iban",
    "ipv6",
    "uk_nino",
    "br_cpf",
    "in_aadhaar",
    "in_pan",
];

/// Makes two tests of each function, `name::sqlite` and `name::postgres`. The functions take a [`DatabaseKind`]; one that
/// is not in the list is dead code, which the compiler reports.
#[macro_export]
macro_rules! on_both_databases {
    ($($name:ident),+ $(,)?) => {$(
        mod $name {
            #[test]
            fn sqlite() {
                super::$name($crate::DatabaseKind::Sqlite);
            }

            #[test]
            fn postgres() {
                if $crate::DatabaseKind::Postgres.is_available() {
                    super::$name($crate::DatabaseKind::Postgres);
                }
            }
        }
    )+};
}
