//! PostgreSQL for the tests: the server at `AUDIT_TEST_POSTGRES_URL`, or a temporary cluster of the machine's `initdb` and
//! `postgres`.

use crate::cluster::Cluster;
use crate::edge::{Deadline, environment};
use crate::prerequisite::Prerequisite;
use diesel::connection::SimpleConnection;
use diesel::{Connection, PgConnection};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

/// Where databases are created.
struct Postgres {
    /// Of the database that `CREATE DATABASE` is sent to.
    admin_url: String,
    /// Held so that the cluster lives as long as the test process.
    _cluster: Option<Cluster>,
}

fn postgres() -> Result<&'static Postgres, &'static str> {
    static POSTGRES: OnceLock<Result<Postgres, String>> = OnceLock::new();
    let postgres = POSTGRES.get_or_init(|| match environment("AUDIT_TEST_POSTGRES_URL") {
        Some(admin_url) => Ok(Postgres {
            admin_url,
            _cluster: None,
        }),
        None => Cluster::create(&[]).map(|cluster| Postgres {
            admin_url: cluster.url("postgres"),
            _cluster: Some(cluster),
        }),
    });
    postgres.as_ref().map_err(String::as_str)
}

/// See [`crate::DatabaseKind::is_available`].
pub(crate) fn is_available() -> bool {
    Prerequisite::Postgres.check(postgres()).is_some()
}

/// Creates an empty database and returns its URL.
pub(crate) fn create_database() -> String {
    create(|name| format!("CREATE DATABASE {name}"))
}

/// Creates a copy of the database of this URL and returns its URL.
pub(crate) fn copy_database(url: &str) -> String {
    let original = url.split('?').next().and_then(|url| url.rsplit('/').next());
    let original = original.expect("the URL names a database");
    create(|name| format!("CREATE DATABASE {name} TEMPLATE {original}"))
}

fn create(statement: impl Fn(&str) -> String) -> String {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let postgres = postgres().expect("tests ask first whether PostgreSQL is available");
    let name = format!(
        "audit_test_{}_{}",
        std::process::id(),
        COUNT.fetch_add(1, Ordering::Relaxed)
    );
    let mut connection = PgConnection::establish(&postgres.admin_url).expect("connect to PostgreSQL");
    // Sessions of a stopped server may take a moment to end.
    let is_created = || connection.batch_execute(&statement(&name)).ok();
    Deadline::seconds(30).poll(("CREATE DATABASE", &name), is_created);
    with_database_name(&postgres.admin_url, &name)
}

/// The URL with another database name, which is the part between the authority and the parameters.
fn with_database_name(url: &str, name: &str) -> String {
    let (base, parameters) = url
        .split_once('?')
        .map_or((url, None), |(base, rest)| (base, Some(rest)));
    let (scheme, rest) = base.split_once("://").expect("a database URL has a scheme");
    let authority = rest.split('/').next().unwrap_or_default();
    let parameters = parameters
        .map(|parameters| format!("?{parameters}"))
        .unwrap_or_default();
    format!("{scheme}://{authority}/{name}{parameters}")
}

#[cfg(test)]
mod tests {
    use super::with_database_name;

    #[test]
    fn the_database_of_a_url_is_exchanged_and_the_rest_kept() {
        for (url, expected) in [
            (
                "postgres://me:pw@localhost:5432/postgres",
                "postgres://me:pw@localhost:5432/new",
            ),
            ("postgres://localhost", "postgres://localhost/new"),
            (
                "postgres:///postgres?host=/tmp/a&user=b",
                "postgres:///new?host=/tmp/a&user=b",
            ),
            (
                "postgresql://localhost/?sslmode=disable",
                "postgresql://localhost/new?sslmode=disable",
            ),
        ] {
            assert_eq!(with_database_name(url, "new"), expected);
        }
    }
}
