//! PostgreSQL for the tests: the server at `AUDIT_TEST_POSTGRES_URL`, or a temporary cluster of the machine's `initdb` and
//! `postgres`.

use crate::edge::{Deadline, environment, temporary_directory};
use crate::prerequisite::Prerequisite;
use crate::process::Process;
use diesel::connection::SimpleConnection;
use diesel::{Connection, PgConnection};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

/// Where databases are created.
struct Postgres {
    /// Of the database that `CREATE DATABASE` is sent to.
    admin_url: String,
    /// Held so that the cluster lives as long as the test process.
    _cluster: Option<Process>,
}

fn postgres() -> Result<&'static Postgres, &'static str> {
    static POSTGRES: OnceLock<Result<Postgres, String>> = OnceLock::new();
    let postgres = POSTGRES.get_or_init(|| match environment("AUDIT_TEST_POSTGRES_URL") {
        Some(admin_url) => Ok(Postgres {
            admin_url,
            _cluster: None,
        }),
        None => start_cluster(),
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

/// A cluster on a Unix socket in its own directory: it needs no port, and no other process finds it.
fn start_cluster() -> Result<Postgres, String> {
    let initdb = find_program("initdb").ok_or("there is no initdb (set AUDIT_TEST_POSTGRES_URL instead)")?;
    let server =
        find_program("postgres").ok_or("there is no postgres (set AUDIT_TEST_POSTGRES_URL instead)")?;
    let prefix = ordinary_user()?;
    let directory = temporary_directory("postgres-");
    if let Some(user) = prefix.get(1).and_then(|option| option.strip_prefix("--reuid=")) {
        run(&["chown".into(), user.into(), directory.display().to_string()])?;
    }
    let data = directory.join("data").display().to_string();
    let mut create = prefix.clone();
    create.extend([initdb, "-D".into(), data.clone()]);
    create.extend(
        "-U audit -A trust -E UTF8 --no-sync --no-instructions"
            .split(' ')
            .map(str::to_owned),
    );
    // A linguistic collation, so that a comparison which forgot COLLATE "C" shows; builds without ICU take the plain one.
    let mut linguistic = create.clone();
    linguistic.extend(
        "--locale-provider=icu --icu-locale=en --locale=C.UTF-8"
            .split(' ')
            .map(str::to_owned),
    );
    create.push("--locale=C.UTF-8".into());
    run(&linguistic).or_else(|_| run(&create))?;

    let socket = directory.display().to_string();
    let mut serve = prefix;
    serve.extend([server, "-D".into(), data, "-k".into(), socket.clone()]);
    // No test kills the cluster itself, so syncing its disk would prove nothing and cost much.
    let settings = "-c listen_addresses= -c fsync=off -c max_connections=400 -c shared_buffers=64MB";
    serve.extend(settings.split(' ').map(str::to_owned));
    let cluster = Process::start(&serve, &[("LC_ALL".to_owned(), "C".to_owned())], "QUIT");
    let ready = |line: &str| line.contains("ready to accept connections").then_some(());
    let started = cluster.stderr.wait_for(Deadline::seconds(60), ready);
    started.ok_or_else(|| format!("the cluster did not start: {}", cluster.stderr.text()))?;
    let admin_url = format!("postgres:///postgres?host={socket}&user=audit");
    Ok(Postgres {
        admin_url,
        _cluster: Some(cluster),
    })
}

/// Searches `PATH`, then Debian's directories of each version, the latest first.
fn find_program(name: &str) -> Option<String> {
    let on_path: Vec<PathBuf> = environment("PATH")
        .map(|path| std::env::split_paths(&path).collect())
        .unwrap_or_default();
    let mut versions: Vec<PathBuf> = std::fs::read_dir("/usr/lib/postgresql")
        .map(|entries| entries.flatten().map(|entry| entry.path()).collect())
        .unwrap_or_default();
    versions.sort_by_key(|path| {
        path.file_name()
            .and_then(|name| name.to_str()?.parse::<u32>().ok())
    });
    let installed = versions.iter().rev().map(|version| version.join("bin"));
    let mut candidates = on_path
        .into_iter()
        .chain(installed)
        .map(|directory| directory.join(name));
    candidates
        .find(|path| path.is_file())
        .map(|path| path.display().to_string())
}

/// The command prefix that changes the user, because PostgreSQL refuses to run as root. `setpriv` executes the command
/// in its own process, so signals reach it; `runuser` and `su` would start a child.
fn ordinary_user() -> Result<Vec<String>, String> {
    if !rustix::process::geteuid().is_root() {
        return Ok(Vec::new());
    }
    let exists = |user: &&str| run(&["id".into(), (*user).into()]).is_ok();
    let user = ["postgres", "nobody"]
        .iter()
        .find(|user| exists(user))
        .ok_or("there is no user to run it as")?;
    let setpriv = find_on_path("setpriv").ok_or("setpriv is missing, and PostgreSQL does not run as root")?;
    Ok(vec![setpriv, format!("--reuid={user}"), "--clear-groups".into()])
}

fn find_on_path(name: &str) -> Option<String> {
    let path = environment("PATH")?;
    let found = std::env::split_paths(&path)
        .map(|directory| directory.join(name))
        .find(|path| path.is_file());
    found.map(|path| path.display().to_string())
}

fn run(arguments: &[String]) -> Result<(), String> {
    let mut command = Command::new(&arguments[0]);
    // The user that PostgreSQL runs as may lack access to the current directory.
    let output = command
        .args(&arguments[1..])
        .current_dir(Path::new("/"))
        .output()
        .map_err(|error| error.to_string())?;
    if output.status.success() {
        return Ok(());
    }
    Err(format!(
        "{} failed: {}",
        arguments[0],
        String::from_utf8_lossy(&output.stderr).trim()
    ))
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
