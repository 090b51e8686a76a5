//! The binary under test: as a running server, and as a command line.

use crate::authority::authority;
use crate::client::Client;
use crate::clock::Clock;
use crate::database::{Database, DatabaseKind};
use crate::edge::{Deadline, environment, temporary_directory};
use crate::process::{Exit, Process};
use rustix::process::Signal;
use serde_json::Value;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::OnceLock;

/// Long enough for a debug build on a busy machine; a server that needs more has a fault.
pub(crate) const START_SECONDS_MAX: u64 = 60;
/// See [`Server::stop`].
const STOP_SECONDS_MAX: u64 = 50;

/// The environment variable with which the projects of the shared server on PostgreSQL are in a cell of their own.
const IN_A_CELL: &str = "AUDIT_TEST_IN_A_CELL";

/// The daily limits of the shared servers. Only tests about limits and plans create organizations on these plans.
const SHARED_ENVIRONMENT: &[(&str, &str)] = &[
    ("AUDIT_DAILY_LIMIT_FREE", "10"),
    ("AUDIT_DAILY_LIMIT_PRO", "20"),
    // So that each test can send to streams from an address of its own.
    ("AUDIT_TRUSTED_PROXIES", "127.0.0.1"),
    ("RUST_LOG", "warn"),
];

/// The time of the shared servers whose clock stands still.
const NOON: &str = "2026-03-10T12:00:00Z";

/// Settings with which a server delivers to the receivers of these tests.
pub fn webhook_environment() -> [(&'static str, &'static str); 2] {
    let authority = authority().file.to_str().expect("a path in UTF-8");
    [
        ("AUDIT_WEBHOOK_ALLOW_PRIVATE", "true"),
        ("AUDIT_WEBHOOK_CA_FILE", authority),
    ]
}

/// The binary that `AUDIT_SERVER_BIN` names, or else the one that cargo builds, once per test process.
pub fn program() -> &'static str {
    static BINARY: OnceLock<String> = OnceLock::new();
    BINARY.get_or_init(|| environment("AUDIT_SERVER_BIN").unwrap_or_else(build))
}

fn build() -> String {
    let cargo = environment("CARGO").unwrap_or_else(|| "cargo".to_owned());
    let mut command = Command::new(cargo);
    // Cargo describes the package of a test to it. Build scripts that look at these variables would run again, in this build and
    // in the next one, and everything that depends on `ring` would be compiled twice for each run of the tests.
    for (name, _) in std::env::vars_os() {
        let name = name.to_string_lossy();
        if name.starts_with("CARGO_MANIFEST_") || name.starts_with("CARGO_PKG_") || name == "OUT_DIR" {
            command.env_remove(&*name);
        }
    }
    let output = command
        .args([
            "build",
            "-p",
            "audit-server",
            "--bin",
            "audit-server",
            "--features=as-tested",
            "--message-format=json",
        ])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .stderr(Stdio::inherit())
        .output()
        .expect("run cargo");
    assert!(output.status.success(), "cargo cannot build audit-server");
    let messages = String::from_utf8_lossy(&output.stdout).into_owned();
    let artifacts = messages
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let executable = artifacts
        .filter_map(|message| Some(message["executable"].as_str()?.to_owned()))
        .next_back();
    executable.expect("cargo names the executable it has built")
}

/// The exit and the output of a command.
#[derive(Debug)]
pub struct Finished {
    /// Code or signal.
    pub exit: Exit,
    /// Without the last line break.
    pub stdout: String,
    /// Without the last line break.
    pub stderr: String,
}

impl Finished {
    /// Asserts success and returns standard output.
    pub fn success(self) -> String {
        assert_eq!(self.exit, Exit::Code(0), "{}\n{}", self.stdout, self.stderr);
        self.stdout
    }

    /// Asserts success and reads standard output as JSON.
    pub fn json(self) -> Value {
        let stdout = self.success();
        serde_json::from_str(&stdout).unwrap_or_else(|error| panic!("{error} in {stdout:?}"))
    }

    /// Asserts the refusal that the operating contract promises: exit code 1 or 2, one clear line on standard error
    /// (the parser of the command line may add its usage), no panic. Returns standard error.
    pub fn refusal(self) -> String {
        assert!(matches!(self.exit, Exit::Code(1 | 2)), "{self:?}");
        assert!(!self.stderr.is_empty(), "a refusal gives a reason: {self:?}");
        for word in ["panicked", "RUST_BACKTRACE", "stack backtrace"] {
            assert!(!self.stderr.contains(word), "{self:?}");
        }
        self.stderr
    }
}

/// Runs `audit-server` with these arguments to its end.
pub fn command_line(arguments: &[&str]) -> Finished {
    command_line_with(arguments, &[])
}

/// The same with `--database-url` of `database` appended.
pub fn command_line_on(database: &Database, arguments: &[&str]) -> Finished {
    on_url(database.url(), arguments)
}

pub(crate) fn on_url(database_url: &str, arguments: &[&str]) -> Finished {
    let mut arguments = arguments.to_vec();
    arguments.extend(["--database-url", database_url]);
    command_line(&arguments)
}

/// Runs `audit-server` with these arguments and environment variables to its end.
pub fn command_line_with(arguments: &[&str], environment: &[(&str, &str)]) -> Finished {
    finished(
        start_process(arguments, environment, None),
        Deadline::seconds(START_SECONDS_MAX),
    )
}

/// What a process of `audit-server` has done when it ends.
pub fn finished(mut process: Process, deadline: Deadline) -> Finished {
    let exit = process.wait(deadline);
    let stdout = process.stdout.text();
    // The first line is the harness's own.
    let stdout = stdout.split_once('\n').map_or("", |(_, rest)| rest).to_owned();
    Finished {
        exit,
        stdout,
        stderr: process.stderr.text(),
    }
}

/// Starts `audit-server` with these arguments and environment variables, and does not wait for its end.
pub fn start_command_line(arguments: &[&str], environment: &[(&str, &str)]) -> Process {
    start_process(arguments, environment, None)
}

/// The same on this clock.
pub fn start_command_line_at(arguments: &[&str], clock: &Clock) -> Process {
    start_process(arguments, &[], Some(clock))
}

/// The refusal of `serve` with these environment variables.
pub fn serve_refused(database: &Database, environment: &[(&str, &str)]) -> String {
    let serve = [
        "serve",
        "--listen",
        "127.0.0.1:0",
        "--database-url",
        database.url(),
    ];
    command_line_with(&serve, environment).refusal()
}

/// Asserts that `serve` refuses each of these environment variables, and names it and the wrong value.
pub fn assert_settings_refused(settings: &[(&str, &str)]) {
    let database = Database::create(DatabaseKind::Sqlite);
    for (name, value) in settings {
        let refusal = serve_refused(&database, &[(name, value)]);
        assert!(
            refusal.contains(value) && refusal.contains(name),
            "{name}: {refusal}"
        );
    }
}

pub(crate) fn start_process(
    arguments: &[&str],
    environment: &[(&str, &str)],
    clock: Option<&Clock>,
) -> Process {
    // libfaketime removes its shared memory when the process ends by SIGTERM.
    let end_signal = if clock.is_some() { "TERM" } else { "KILL" };
    let prefix = clock.map(Clock::prefix).unwrap_or_default();
    start_under(&prefix, end_signal, arguments, environment)
}

fn start_under(
    prefix: &[String],
    end_signal: &str,
    arguments: &[&str],
    environment: &[(&str, &str)],
) -> Process {
    let mut all = prefix.to_vec();
    all.push(program().to_owned());
    all.extend(arguments.iter().map(|&argument| argument.to_owned()));
    all.extend(patience(arguments).iter().map(|&argument| argument.to_owned()));
    let mut environment: Vec<_> = environment
        .iter()
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .collect();
    environment.extend(state_directory(arguments, &environment));
    give_head_key(&mut environment);
    // Tests count events. Those of the service's own events ask for them.
    if !environment.iter().any(|(name, _)| name == "AUDIT_SELF_AUDIT") {
        environment.push(("AUDIT_SELF_AUDIT".to_owned(), "off".to_owned()));
    }
    Process::start(&all, &environment, end_signal)
}

/// Verification and audit report events that were not signed within a minute. On a busy machine a log that a test has left unsigned
/// may be older when the command reads it, so they wait for a day, unless the test gives the time.
fn patience(arguments: &[&str]) -> &'static [&'static str] {
    const NAME: &str = "--max-unsigned";
    match arguments {
        ["log", "verify" | "audit", options @ ..] if !options.contains(&NAME) => &[NAME, "24h"],
        _ => &[],
    }
}

/// A state directory for a server that is given none and cannot have the default one: on PostgreSQL, where several on one machine
/// need one each, and beside an SQLite database that another server has.
fn state_directory(arguments: &[&str], environment: &[(String, String)]) -> Option<(String, String)> {
    const NAME: &str = "AUDIT_STATE_DIR";
    let values = environment.iter().map(|(_, value)| value.as_str());
    let mut texts = arguments.iter().copied().chain(values);
    let is_free = |path: &str| {
        let lock = std::fs::File::open(format!("{path}.signed.lock"));
        lock.is_ok_and(|lock| lock.try_lock().is_ok()) || !Path::new(&format!("{path}.signed.lock")).exists()
    };
    let is_default = texts
        .find_map(|text| text.strip_prefix("sqlite:"))
        .is_some_and(is_free);
    let is_given = environment.iter().any(|(name, _)| name == NAME);
    if arguments.first() != Some(&"serve") || is_default || is_given {
        return None;
    }
    let path = temporary_directory("state-");
    Some((
        NAME.to_owned(),
        path.to_str().expect("a path in UTF-8").to_owned(),
    ))
}

/// The file of the head key that all processes share.
pub fn shared_head_key() -> &'static str {
    static FILE: OnceLock<String> = OnceLock::new();
    FILE.get_or_init(|| {
        let path = temporary_directory("head-key-").join("head-key");
        path.to_str().expect("a path in UTF-8").to_owned()
    })
}

/// The same head key for all processes, unless they are given another one; an empty variable gives none.
pub(crate) fn give_head_key(environment: &mut Vec<(String, String)>) {
    const NAME: &str = "AUDIT_HEAD_KEY_FILE";
    if environment.iter().any(|(name, _)| name == NAME) {
        environment.retain(|(name, value)| name != NAME || !value.is_empty());
        return;
    }
    environment.push((NAME.to_owned(), shared_head_key().to_owned()));
}

fn serve_on(database: &Database) -> [&str; 5] {
    [
        "serve",
        "--listen",
        "127.0.0.1:0",
        "--database-url",
        database.url(),
    ]
}

/// A running server. It is killed when dropped, and when the test process ends.
#[derive(Debug)]
pub struct Server {
    process: Process,
    base_url: String,
    database_url: String,
    /// Its encryption keys, which commands on its database need too.
    encryption: Vec<(String, String)>,
}

fn encryption_of(environment: &[(&str, &str)]) -> Vec<(String, String)> {
    let keys = environment
        .iter()
        .filter(|(name, _)| name.starts_with("AUDIT_ENCRYPTION_KEY"));
    keys.map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .collect()
}

impl Server {
    /// Starts one on `database` with these environment variables, and waits until it listens.
    pub fn start(database: &Database, environment: &[(&str, &str)]) -> Self {
        Self::start_with(database, &serve_on(database), environment)
    }

    /// The same on this clock instead of the machine's.
    pub fn start_at(database: &Database, environment: &[(&str, &str)], clock: &Clock) -> Self {
        let process = start_process(&serve_on(database), environment, Some(clock));
        Self::listening(database, process, environment)
    }

    /// The same with a command line of one's own.
    pub fn start_with(database: &Database, arguments: &[&str], environment: &[(&str, &str)]) -> Self {
        Self::listening(database, start_process(arguments, environment, None), environment)
    }

    /// The same, executed by this command.
    pub fn start_under(database: &Database, environment: &[(&str, &str)], prefix: &[String]) -> Self {
        let process = start_under(prefix, "KILL", &serve_on(database), environment);
        Self::listening(database, process, environment)
    }

    fn listening(database: &Database, process: Process, environment: &[(&str, &str)]) -> Self {
        let listening = |line: &str| {
            line.strip_prefix("listening on ")
                .map(|url| url.trim().to_owned())
        };
        let stdout = &process.stdout;
        let base_url = stdout
            .wait_for(Deadline::seconds(START_SECONDS_MAX), listening)
            .unwrap_or_else(|| {
                panic!(
                    "the server does not listen; it wrote:\n{}\n{}",
                    process.stdout.text(),
                    process.stderr.text()
                )
            });
        let is_known = ["http://127.0.0.1:", "https://127.0.0.1:", "unix:/"]
            .iter()
            .any(|beginning| base_url.starts_with(beginning));
        assert!(is_known, "{base_url}");
        Self {
            process,
            base_url,
            database_url: database.url().to_owned(),
            encryption: encryption_of(environment),
        }
    }

    /// The server shared by all tests that neither stop nor configure one.
    pub fn shared(kind: DatabaseKind) -> &'static Self {
        static SERVERS: [OnceLock<Server>; 2] = [OnceLock::new(), OnceLock::new()];
        let index = match kind {
            DatabaseKind::Sqlite => 0,
            DatabaseKind::Postgres => 1,
        };
        SERVERS[index].get_or_init(|| {
            let environment = [SHARED_ENVIRONMENT, &webhook_environment()].concat();
            let database = Database::create(kind);
            if kind == DatabaseKind::Postgres && crate::edge::environment(IN_A_CELL).is_some() {
                command_line_on(&database, &["db", "cells", "create", "other"]).success();
                command_line_on(&database, &["db", "cells", "place", "other"]).success();
            }
            Self::start(&database, &environment)
        })
    }

    /// Another shared server, whose clock stands still: a limit of a minute or of a day stays used up, at midnight and on a slow
    /// machine too. `None` without libfaketime.
    pub fn shared_on_stopped_clock(kind: DatabaseKind) -> Option<&'static Self> {
        static SERVERS: [OnceLock<Option<Server>>; 2] = [OnceLock::new(), OnceLock::new()];
        let index = match kind {
            DatabaseKind::Sqlite => 0,
            DatabaseKind::Postgres => 1,
        };
        let server = SERVERS[index].get_or_init(|| {
            let clock = Clock::at(NOON)?;
            Some(Self::start_at(
                &Database::create(kind),
                SHARED_ENVIRONMENT,
                &clock,
            ))
        });
        server.as_ref()
    }

    /// The address of its metrics.
    pub fn metrics_url(&self) -> String {
        let stdout = self.stdout();
        let mut lines = stdout.lines();
        let url = lines.find_map(|line| line.strip_prefix("metrics on "));
        url.unwrap_or_else(|| panic!("no address of metrics in {stdout}"))
            .to_owned()
    }

    /// A client of the address of its metrics.
    pub fn metrics_client(&self) -> Client {
        Client::new(&self.metrics_url())
    }

    /// Where it listens: `http://127.0.0.1:PORT`, `https://127.0.0.1:PORT` or `unix:PATH`.
    pub fn base_url(&self) -> &str {
        &self.base_url
    }

    /// The database it runs on.
    pub fn database_url(&self) -> &str {
        &self.database_url
    }

    /// A client without a credential.
    pub fn client(&self) -> Client {
        Client::new(&self.base_url)
    }

    /// Runs a command on this server's database while it runs, with its encryption keys.
    pub fn command_line(&self, arguments: &[&str]) -> Finished {
        self.command_line_with(arguments, &[])
    }

    /// The same with these environment variables too.
    pub fn command_line_with(&self, arguments: &[&str], environment: &[(&str, &str)]) -> Finished {
        let own = self.encryption.iter();
        let own = own.map(|(name, value)| (name.as_str(), value.as_str()));
        let is_given = |name: &str| environment.iter().any(|(given, _)| *given == name);
        let own = own.filter(|(name, _)| !is_given(name));
        let environment: Vec<_> = environment.iter().copied().chain(own).collect();
        let arguments = [arguments, &["--database-url", &self.database_url]].concat();
        command_line_with(&arguments, &environment)
    }

    /// Its standard output so far.
    pub fn stdout(&self) -> String {
        self.process.stdout.text()
    }

    /// Waits for a line of its log that contains `text`. What it has written a moment ago may not have arrived here yet.
    pub fn wait_for_log(&self, text: &str) {
        let contains = |line: &str| line.contains(text).then_some(());
        let found = self
            .process
            .stderr
            .wait_for(Deadline::seconds(START_SECONDS_MAX), contains);
        assert!(found.is_some(), "no {text:?} in:\n{}", self.process.stderr.text());
    }

    /// Its standard error so far, for what it must not contain; see [`Self::wait_for_log`].
    pub fn stderr(&self) -> String {
        self.process.stderr.text()
    }

    /// The value of a gauge or counter without labels, as `/metrics` has it.
    pub fn metric(&self, name: &str) -> u64 {
        let response = self.client().request("GET", "/metrics").send_raw();
        let text = String::from_utf8(response.bytes).expect("metrics are text");
        let mut lines = text.lines();
        let value = lines.find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        let value = value.unwrap_or_else(|| panic!("no {name} in {text}"));
        value.parse().expect("a whole number")
    }

    /// Waits until a gauge or counter has reached `least`, which signals the server's progress.
    pub fn wait_for_metric(&self, name: &str, least: u64) {
        let deadline = Deadline::seconds(START_SECONDS_MAX);
        deadline.poll((name, least), || (self.metric(name) >= least).then_some(()));
    }

    /// The memory that it holds, in bytes.
    pub fn memory_bytes(&self) -> u64 {
        self.process.memory_bytes()
    }

    /// `kill -9`, and wait until it is gone.
    pub fn kill(mut self) {
        self.process.signal(Signal::KILL);
        let exit = self.process.wait(Deadline::seconds(30));
        assert_eq!(
            exit,
            Exit::Signal(Signal::KILL.as_raw()),
            "it was running until then"
        );
    }

    /// SIGSTOP, until it stands still: its connections stay open, and no more data arrives over them.
    pub fn freeze(&self) {
        self.process.stop();
    }

    /// SIGCONT, after [`Self::freeze`].
    pub fn thaw(&self) {
        self.process.signal(Signal::CONT);
    }

    /// SIGTERM, without waiting.
    pub fn terminate(&self) {
        self.process.signal(Signal::TERM);
    }

    /// SIGTERM, and waits for the end. The server promises ten seconds; the bound is generous, so that a busy machine
    /// does not fail a test, and shorter than a minute, the time for which only polls and stalled readers wait.
    pub fn stop(self) -> Finished {
        self.terminate();
        self.wait(Deadline::seconds(STOP_SECONDS_MAX))
    }

    /// Waits for its end; returns its exit and output.
    pub fn wait(mut self, deadline: Deadline) -> Finished {
        let exit = self.process.wait(deadline);
        Finished {
            exit,
            stdout: self.stdout(),
            stderr: self.stderr(),
        }
    }
}
