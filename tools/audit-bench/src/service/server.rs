//! The server under test.

use super::Database;
use super::process::{Process, remove_settings};
use anyhow::{Context, bail};
use serde::Deserialize;
use serde_json::Value;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

const START_TIME_MAX: Duration = Duration::from_secs(60);

/// An organization without a daily event limit, and the live key of its first project.
#[derive(Debug, Deserialize)]
pub(crate) struct Organization {
    pub(crate) master_key: String,
    pub(crate) project_key: String,
}

/// A running server, and a project that it serves.
#[derive(Debug)]
pub(crate) struct Server {
    process: Process,
    address: SocketAddr,
    project_key: String,
}

impl Server {
    /// Starts a server with default settings on an empty database, and waits until it listens.
    pub(crate) fn start(binary: &Path, database: &Database, folder: &Path) -> anyhow::Result<Self> {
        let organization = Organization::create(binary, database.url())?;
        let log = folder.join(format!("server-{}.log", database.kind().name()));
        Self::serve(binary, database, &log, organization.project_key)
    }

    /// Starts a server with default settings on a database that has the project of `project_key`, and waits until it listens.
    pub(crate) fn serve(
        binary: &Path,
        database: &Database,
        log: &Path,
        project_key: String,
    ) -> anyhow::Result<Self> {
        let program = binary.display().to_string();
        let arguments = [
            "serve",
            "--listen",
            "127.0.0.1:0",
            "--database-url",
            database.url(),
        ];
        let mut command_line = vec![program];
        command_line.extend(arguments.map(str::to_owned));
        let process = Process::start(&command_line, log, "KILL")?;
        let address = process.wait_for_line("listening on http://", START_TIME_MAX)?;
        Ok(Self {
            process,
            address: address.parse().context("the server printed no valid address")?,
            project_key,
        })
    }

    pub(crate) fn pid(&self) -> u32 {
        self.process.pid()
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    pub(crate) fn project_key(&self) -> &str {
        &self.project_key
    }

    /// Its warnings and errors.
    pub(crate) fn log(&self) -> String {
        self.process.log()
    }
}

impl Organization {
    /// An organization created on the command line has the enterprise plan, which has no daily limit.
    pub(crate) fn create(binary: &Path, database_url: &str) -> anyhow::Result<Self> {
        let arguments = [
            "org",
            "create",
            "--name",
            "benchmark",
            "--json",
            "--database-url",
            database_url,
        ];
        let mut command = Command::new(binary);
        remove_settings(&mut command);
        let output = command
            .args(arguments)
            .output()
            .context("cannot run audit-server")?;
        serde_json::from_str(&succeeded(output, "audit-server org create")?)
            .context("audit-server org create printed no keys")
    }
}

/// The binary at `path`, or the one that cargo builds.
pub(crate) fn server_binary(path: Option<&Path>) -> anyhow::Result<PathBuf> {
    if let Some(path) = path {
        return path
            .canonicalize()
            .with_context(|| format!("cannot find the server binary {}", path.display()));
    }
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let arguments = [
        "build",
        "--release",
        "-p",
        "audit-server",
        "--bin",
        "audit-server",
    ];
    let output = Command::new(cargo)
        .args(arguments)
        .arg("--message-format=json-render-diagnostics")
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .stderr(Stdio::inherit())
        .output()
        .context("cannot run cargo; pass a server binary instead")?;
    let messages = succeeded(output, "cargo build")?;
    let artifacts = messages
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let executable = artifacts
        .filter_map(|message| message["executable"].as_str().map(PathBuf::from))
        .next_back();
    executable.context("cargo printed no path of the server binary")
}

fn succeeded(output: Output, command: &str) -> anyhow::Result<String> {
    if !output.status.success() {
        bail!(
            "{command} failed: {}",
            String::from_utf8_lossy(&output.stderr).trim()
        );
    }
    String::from_utf8(output.stdout).with_context(|| format!("the output of {command} is not UTF-8"))
}
