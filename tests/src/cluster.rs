//! A PostgreSQL cluster of the machine's programs.

mod archive;

pub use archive::ArchivedCluster;

use crate::edge::{Deadline, environment, temporary_directory};
use crate::prerequisite::Prerequisite;
use crate::process::Process;
use diesel::connection::SimpleConnection;
use diesel::{Connection, PgConnection, QueryableByName, RunQueryDsl, sql_query, sql_types};
use rustix::process::Signal;
use std::path::{Path, PathBuf};
use std::process::Command;

/// No test kills the machine, so syncing its disk would prove nothing and cost much. Six tests at once, each with two servers for three
/// cells, have more than 600 sessions. Autovacuum visits every database in turn within its pause: with the hundreds that tests leave, it would
/// start ten workers a second.
const SETTINGS: &str = "-c listen_addresses= -c fsync=off -c max_connections=1000 -c shared_buffers=64MB -c autovacuum_naptime=1h";

/// A cluster on a Unix socket in its own directory: it needs no port, and no other process finds it. It ends with the test
/// process.
#[derive(Debug)]
pub struct Cluster {
    directory: PathBuf,
    process: Process,
}

#[derive(QueryableByName)]
struct Holds {
    #[diesel(sql_type = sql_types::Bool)]
    holds: bool,
}

impl Cluster {
    /// A cluster of a test's own, or none where PostgreSQL's programs are missing (see the prerequisites of the tests).
    pub fn start() -> Option<Self> {
        Prerequisite::Postgres.check(Self::create(&[]))
    }

    /// An empty cluster with these settings.
    pub(crate) fn create(settings: &[&str]) -> Result<Self, String> {
        Self::create_prepared(settings, |_| Ok(()))
    }

    /// An empty cluster, whose data directory is changed before its first start.
    pub(crate) fn create_prepared(
        settings: &[&str],
        prepare: impl FnOnce(&Path) -> Result<(), String>,
    ) -> Result<Self, String> {
        let initdb = program("initdb")?;
        let prefix = ordinary_user()?;
        let directory = directory(&prefix)?;
        let mut create = prefix;
        create.extend([initdb, "-D".into(), data(&directory)]);
        create.extend(words("-U audit -A trust -E UTF8 --no-sync --no-instructions"));
        // A linguistic collation, so that a comparison which forgot COLLATE "C" shows; builds without ICU take the plain one.
        let mut linguistic = create.clone();
        linguistic.extend(words("--locale-provider=icu --icu-locale=en --locale=C.UTF-8"));
        create.push("--locale=C.UTF-8".into());
        run(&linguistic).or_else(|_| run(&create))?;
        prepare(&directory.join("data"))?;
        Self::serve(directory, settings)
    }

    /// A standby that streams from this cluster. Commits of this cluster wait for it from now on.
    pub fn standby(&self) -> Self {
        let prefix = ordinary_user().expect("the cluster has a user");
        let directory = directory(&prefix).expect("create a directory");
        let mut copy = prefix;
        copy.push(program("pg_basebackup").expect("it comes with the server"));
        copy.extend(["-D".into(), data(&directory), "-h".into(), self.host()]);
        copy.extend(words("-U audit -R -X stream -c fast --no-sync"));
        run(&copy).expect("copy the cluster");
        let standby = Self::serve(directory, &[]).expect("start the standby");
        let streams = "count(*) = 1 FROM pg_stat_replication WHERE state = 'streaming'";
        Deadline::seconds(60).poll("the standby streams", || self.holds(streams).then_some(()));
        self.configure("synchronous_standby_names", "*");
        let waits = "count(*) = 1 FROM pg_stat_replication WHERE sync_state = 'sync'";
        Deadline::seconds(60).poll("commits wait for the standby", || self.holds(waits).then_some(()));
        standby
    }

    fn serve(directory: PathBuf, settings: &[&str]) -> Result<Self, String> {
        let mut serve = ordinary_user()?;
        serve.extend([program("postgres")?, "-D".into(), data(&directory), "-k".into()]);
        serve.push(directory.display().to_string());
        serve.extend(words(SETTINGS));
        for setting in settings {
            serve.extend(["-c".into(), (*setting).to_owned()]);
        }
        let process = Process::start(&serve, &[("LC_ALL".to_owned(), "C".to_owned())], "QUIT");
        let ready = |line: &str| {
            let is_ready = line.contains("ready to accept connections")
                || line.contains("ready to accept read-only connections");
            is_ready.then_some(())
        };
        let started = process.stderr.wait_for(Deadline::seconds(60), ready);
        started.ok_or_else(|| format!("the cluster did not start: {}", process.stderr.text()))?;
        Ok(Self { directory, process })
    }

    /// The directory of its socket, as a host of a URL.
    pub fn host(&self) -> String {
        self.directory.display().to_string()
    }

    /// The URL of one of its databases.
    pub fn url(&self, database: &str) -> String {
        Self::url_of(&[self], database)
    }

    /// The URL of a database on several clusters, in this order.
    pub fn url_of(clusters: &[&Self], database: &str) -> String {
        let hosts: Vec<String> = clusters.iter().map(|cluster| cluster.host()).collect();
        format!("postgres:///{database}?host={}&user=audit", hosts.join(","))
    }

    /// Creates a database whose tables are in this directory, on a disk that every user may write to.
    pub fn create_on_disk(&self, name: &str, disk: &Path) {
        let directory = disk.join(name);
        let mut create = ordinary_user().expect("the cluster has a user");
        create.extend(["mkdir".into(), directory.display().to_string()]);
        run(&create).expect("create a directory of the cluster's user");
        self.execute(&format!(
            "CREATE TABLESPACE {name} LOCATION '{}'",
            directory.display()
        ));
        self.execute(&format!("CREATE DATABASE {name} TABLESPACE {name}"));
    }

    /// Runs SQL.
    pub fn execute(&self, sql: &str) {
        let executed = self.connect().batch_execute(sql);
        executed.unwrap_or_else(|error| panic!("{sql}: {error}"));
    }

    /// Whether a condition holds; it is the text after `SELECT`.
    pub fn holds(&self, condition: &str) -> bool {
        let (value, from) = condition.split_once(" FROM ").unwrap_or((condition, ""));
        let from = if from.is_empty() {
            String::new()
        } else {
            format!("FROM {from}")
        };
        let found: Holds = sql_query(format!("SELECT {value} AS holds {from}"))
            .get_result(&mut self.connect())
            .unwrap_or_else(|error| panic!("{condition}: {error}"));
        found.holds
    }

    /// Changes a setting of the running cluster, for the sessions that are open as well.
    pub fn configure(&self, name: &str, value: &str) {
        // A statement each, because none of them runs in a transaction.
        self.execute(&format!("ALTER SYSTEM SET {name} = '{value}'"));
        self.execute("SELECT pg_reload_conf()");
        let is_set = format!("current_setting('{name}') = '{value}'");
        Deadline::seconds(60).poll(("set", name), || self.holds(&is_set).then_some(()));
    }

    /// Makes a standby the primary.
    pub fn promote(&self) {
        self.execute("SELECT pg_promote()");
        Deadline::seconds(60).poll("promotion", || {
            self.holds("NOT pg_is_in_recovery()").then_some(())
        });
    }

    /// Ends it at once, as a crash would.
    pub fn kill(mut self) {
        self.process.signal(Signal::QUIT);
        self.process.wait(Deadline::seconds(60));
    }

    /// Stops all its processes. Their connections stay open, new ones are accepted by the kernel, and none is served.
    pub fn freeze(&self) {
        self.process.signal_with_children(Signal::STOP);
    }

    /// Continues all its processes.
    pub fn thaw(&self) {
        self.process.signal_with_children(Signal::CONT);
    }

    fn connect(&self) -> PgConnection {
        PgConnection::establish(&self.url("postgres")).expect("connect to the cluster")
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        // A stopped process does not end.
        if self.process.is_running() {
            self.thaw();
        }
    }
}

/// The directory of PostgreSQL's programs.
pub(crate) fn program_directory() -> Option<String> {
    let directory = PathBuf::from(find_program("initdb")?);
    Some(directory.parent()?.display().to_string())
}

fn words(text: &str) -> impl Iterator<Item = String> {
    text.split(' ').map(str::to_owned)
}

fn data(directory: &Path) -> String {
    directory.join("data").display().to_string()
}

/// A new directory that the user of the prefix owns.
pub(crate) fn directory(prefix: &[String]) -> Result<PathBuf, String> {
    let directory = temporary_directory("postgres-");
    if let Some(user) = prefix.get(1).and_then(|option| option.strip_prefix("--reuid=")) {
        run(&["chown".into(), user.into(), directory.display().to_string()])?;
    }
    Ok(directory)
}

fn program(name: &str) -> Result<String, String> {
    find_program(name).ok_or_else(|| format!("there is no {name} (set AUDIT_TEST_POSTGRES_URL instead)"))
}

/// Searches `PATH`, then Debian's directories of each version, the latest first.
pub(crate) fn find_program(name: &str) -> Option<String> {
    let mut on_path: Vec<PathBuf> = environment("PATH")
        .map(|path| std::env::split_paths(&path).collect())
        .unwrap_or_default();
    // Where Debian installs pgbouncer, which is not on the path of an ordinary user.
    on_path.push("/usr/sbin".into());
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
pub(crate) fn ordinary_user() -> Result<Vec<String>, String> {
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

pub(crate) fn run(arguments: &[String]) -> Result<(), String> {
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
