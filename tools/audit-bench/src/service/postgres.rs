//! The PostgreSQL server: the one at `--postgres-url`, or a temporary cluster of the installed version.

use super::process::Process;
use anyhow::{Context, bail};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

const START_TIME_MAX: Duration = Duration::from_secs(60);
const STATEMENT_STATISTICS: [&str; 2] = ["-c", "shared_preload_libraries=pg_stat_statements"];

/// A server on which databases are created.
#[derive(Debug)]
pub(crate) struct Cluster {
    /// Of the database that takes `CREATE DATABASE`.
    pub(crate) admin_url: String,
    /// Whether `pg_stat_statements` is loaded.
    pub(crate) has_statement_statistics: bool,
    /// Stops on drop. None for the server of `--postgres-url`.
    process: Option<Process>,
}

impl Cluster {
    /// The server at `url`, or a temporary cluster in `folder`.
    pub(crate) fn start(url: Option<&str>, folder: &Path) -> anyhow::Result<Self> {
        match url {
            Some(url) => Ok(Self {
                admin_url: url.to_owned(),
                has_statement_statistics: false,
                process: None,
            }),
            None => Self::create(folder, false),
        }
    }

    /// The same, with `pg_stat_statements` in a temporary cluster if the extension is installed.
    pub(crate) fn start_with_statistics(url: Option<&str>, folder: &Path) -> anyhow::Result<Self> {
        match url {
            Some(_) => Self::start(url, folder),
            None => Self::create(folder, true),
        }
    }

    /// The process id of the postmaster; none for the server of `--postgres-url`.
    pub(crate) fn pid(&self) -> Option<u32> {
        self.process.as_ref().map(Process::pid)
    }

    /// Keeps the settings of `initdb`, which sync every commit. Listens on a socket in `folder` only, so no port can be in
    /// use already.
    fn create(folder: &Path, with_statistics: bool) -> anyhow::Result<Self> {
        let (Some(initdb), Some(server)) = (find_program("initdb"), find_program("postgres")) else {
            bail!("initdb is not installed");
        };
        let has_statement_statistics = with_statistics && has_statement_statistics(&server);
        let prefix = ordinary_user()?;
        let folder = folder.join("postgres");
        std::fs::create_dir(&folder)?;
        let path = folder.display().to_string();
        if let Some(user) = prefix.get(1).and_then(|option| option.strip_prefix("--reuid=")) {
            open_to_others(folder.parent().unwrap_or(&folder))?;
            run(&["chown".into(), user.into(), path.clone()])?;
        }
        let data = format!("{path}/data");
        let mut create = prefix.clone();
        create.extend([initdb, "-D".into(), data.clone()]);
        let options = "-U audit -A trust -E UTF8 --locale=C.UTF-8 --no-instructions";
        create.extend(options.split(' ').map(str::to_owned));
        run(&create)?;
        let mut serve = prefix;
        serve.extend([server, "-D".into(), data, "-k".into(), path.clone()]);
        serve.extend(["-c".to_owned(), "listen_addresses=".to_owned()]);
        if has_statement_statistics {
            serve.extend(STATEMENT_STATISTICS.map(str::to_owned));
        }
        let log = folder.with_file_name("postgres.log");
        let process = Process::start(&serve, &log, "QUIT")?;
        process.wait_for_log("ready to accept connections", START_TIME_MAX)?;
        Ok(Self {
            admin_url: format!("postgres:///postgres?host={path}&user=audit"),
            has_statement_statistics,
            process: Some(process),
        })
    }
}

/// Whether the extension is installed beside the program, which may be a link.
fn has_statement_statistics(server: &str) -> bool {
    let program = Path::new(server).canonicalize().unwrap_or_default();
    program.with_file_name("../lib/pg_stat_statements.so").exists()
}

/// Lets the user that PostgreSQL runs as reach its folder.
fn open_to_others(folder: &Path) -> anyhow::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    let permissions = std::fs::Permissions::from_mode(0o711);
    std::fs::set_permissions(folder, permissions)
        .with_context(|| format!("cannot change the permissions of {}", folder.display()))
}

/// Searches `PATH`, then Debian's directories of each version, the latest first.
fn find_program(name: &str) -> Option<String> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut versions: Vec<PathBuf> = std::fs::read_dir("/usr/lib/postgresql")
        .map(|entries| entries.flatten().map(|entry| entry.path()).collect())
        .unwrap_or_default();
    let number = |path: &PathBuf| {
        path.file_name()
            .and_then(|name| name.to_str()?.parse::<u32>().ok())
    };
    versions.sort_by_key(number);
    let installed = versions.into_iter().rev().map(|version| version.join("bin"));
    let mut candidates = std::env::split_paths(&path)
        .chain(installed)
        .map(|directory| directory.join(name));
    let found = candidates.find(|path| path.is_file())?;
    Some(found.display().to_string())
}

/// The command prefix that changes the user, because PostgreSQL refuses to run as root. `setpriv` executes the command in
/// its own process, so signals reach it; `su` would start a child.
fn ordinary_user() -> anyhow::Result<Vec<String>> {
    if !rustix::process::geteuid().is_root() {
        return Ok(Vec::new());
    }
    let mut users = ["postgres", "nobody"].into_iter();
    let user = users.find(|user| run(&["id".into(), (*user).into()]).is_ok());
    let user = user.context("it refuses to run as root, and neither user postgres nor nobody exists")?;
    let setpriv =
        find_program("setpriv").context("it refuses to run as root, and setpriv is not installed")?;
    Ok(vec![setpriv, format!("--reuid={user}"), "--clear-groups".into()])
}

fn run(command_line: &[String]) -> anyhow::Result<()> {
    let output = Command::new(&command_line[0])
        .args(&command_line[1..])
        // The user that PostgreSQL runs as may have no access to the current directory.
        .current_dir("/")
        .output()
        .with_context(|| format!("cannot run {}", command_line[0]))?;
    if !output.status.success() {
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        bail!("{} failed: {}", command_line.join(" "), errors.trim());
    }
    Ok(())
}
