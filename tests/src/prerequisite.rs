//! Programs and libraries that tests need besides the workspace. A test that lacks one is skipped and reports it on
//! standard error, past the capture of the test runner; with `AUDIT_TEST_REQUIRE_…` of the prerequisite set, it fails.
//! `.ci/steps/tests` sets all of them (`skips` in `tests/it`).

use crate::edge::environment;
use std::fmt::Display;
use std::io::Write;
use std::process::{Command, Stdio};

/// Something that a machine may lack.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Prerequisite {
    /// A PostgreSQL server, or the programs to start one.
    Postgres,
    /// A clock that a test can set.
    Libfaketime,
    /// An interpreter with `tests/requirements.txt`.
    Python,
    /// The `go` command with golang.org/x/mod.
    Go,
    /// The `curl` command.
    Curl,
    /// The connection pooler.
    PgBouncer,
    /// A cluster of PostgreSQL servers with the extension Citus, which no test starts.
    Citus,
    /// An HSM in software, and the program that uses it.
    SoftHsm,
    /// A witness that others wrote: `aics-witness`, for Python 3.12.
    Witness,
    /// Root, a C compiler and `prlimit`, for faults of the machine.
    Faults,
}

impl Prerequisite {
    fn name(self) -> &'static str {
        match self {
            Self::Postgres => "PostgreSQL",
            Self::Libfaketime => "libfaketime",
            Self::Python => "Python",
            Self::Go => "Go",
            Self::Curl => "curl",
            Self::PgBouncer => "PgBouncer",
            Self::Citus => "Citus",
            Self::SoftHsm => "SoftHSM",
            Self::Witness => "aics-witness",
            Self::Faults => "fault injection",
        }
    }

    /// The variable that makes a test fail instead of skipping it.
    fn required_by(self) -> &'static str {
        match self {
            Self::Postgres => "AUDIT_TEST_REQUIRE_POSTGRES",
            Self::Libfaketime => "AUDIT_TEST_REQUIRE_FAKETIME",
            Self::Python => "AUDIT_TEST_REQUIRE_PYTHON",
            Self::Go => "AUDIT_TEST_REQUIRE_GO",
            Self::Curl => "AUDIT_TEST_REQUIRE_CURL",
            Self::PgBouncer => "AUDIT_TEST_REQUIRE_PGBOUNCER",
            Self::Citus => "AUDIT_TEST_REQUIRE_CITUS",
            Self::SoftHsm => "AUDIT_TEST_REQUIRE_SOFTHSM",
            Self::Witness => "AUDIT_TEST_REQUIRE_WITNESS",
            Self::Faults => "AUDIT_TEST_REQUIRE_FAULTS",
        }
    }

    /// Returns the value in `found`. If it is missing, the calling test is about to be skipped: reports the skip with
    /// its reason, or panics if the prerequisite is required.
    pub(crate) fn check<T>(self, found: Result<T, impl Display>) -> Option<T> {
        let reason = match found {
            Ok(found) => return Some(found),
            Err(reason) => reason,
        };
        let name = self.name();
        let is_required = environment(self.required_by()).is_some();
        assert!(!is_required, "{name} is required but {reason}");
        let test = std::thread::current().name().unwrap_or("a test").to_owned();
        let line = format!("SKIPPED: {name}: {test}: {reason}\n");
        std::io::stderr()
            .write_all(line.as_bytes())
            .expect("write to standard error");
        None
    }
}

/// Whether `curl` is installed.
pub fn has_curl() -> bool {
    let mut version = Command::new("curl");
    let found = version.arg("--version").stdout(Stdio::null()).status();
    Prerequisite::Curl
        .check(found.map_err(|error| format!("it does not run: {error}")))
        .is_some()
}
