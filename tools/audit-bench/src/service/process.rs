//! Child processes and folders that are removed with this process, even if it is killed.
//!
//! Each child runs under a shell whose standard input is a pipe from this process. When this process ends, the kernel closes
//! the pipe, and the shell ends the child.

use anyhow::{Context, bail};
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

/// Arguments: the signal that ends the child, then its command line. The inner shell prints its process id before it
/// executes the child. The watching subshell ends with the child; otherwise it could later signal another process that
/// reuses the id.
const WATCHDOG: &str = r#"
ulimit -n "$(ulimit -Hn)"
signal=$1; shift
exec 3<&0
sh -c 'echo "pid $$"; exec "$@"' sh "$@" 3<&- &
child=$!
( cat <&3; kill -"$signal" "$child" ) >/dev/null 2>&1 &
watcher=$!
exec 3<&-
wait "$child"
status=$?
kill "$watcher" 2>/dev/null
exit "$status"
"#;

/// Removes a folder once the pipe closes. Retries, because servers that are still shutting down may write into it.
const JANITOR: &str = r#"
trap '' INT TERM HUP
cat >/dev/null
tries=0
while ! rm -rf -- "$1" 2>/dev/null && [ "$tries" -lt 50 ]; do tries=$((tries + 1)); sleep 0.2; done
"#;

/// A child that ends with this process.
#[derive(Debug)]
pub(crate) struct Process {
    shell: Child,
    lifeline: Option<ChildStdin>,
    lines: Receiver<String>,
    log: PathBuf,
    pid: u32,
}

impl Process {
    /// Starts `command_line` with standard error redirected to the file `log`. `end_signal` (`KILL`, `QUIT`) ends it.
    pub(crate) fn start(command_line: &[String], log: &Path, end_signal: &str) -> anyhow::Result<Self> {
        let errors = File::create(log).with_context(|| format!("cannot create {}", log.display()))?;
        let mut command = Command::new("sh");
        command
            .args(["-c", WATCHDOG, "sh", end_signal])
            .args(command_line);
        remove_settings(&mut command);
        command.env("RUST_LOG", "warn").env("LC_ALL", "C");
        // Several servers on one machine need a state directory each.
        command.env("AUDIT_STATE_DIR", log.with_extension("state"));
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(errors);
        let mut shell = command.spawn().context("cannot start a shell")?;
        let lifeline = shell.stdin.take();
        let stdout = shell.stdout.take().context("standard output is no pipe")?;
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            // Reads on after the receiver is dropped: a full pipe would block the child.
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                drop(sender.send(line));
            }
        });
        let mut process = Self {
            shell,
            lifeline,
            lines,
            log: log.to_owned(),
            pid: 0,
        };
        let pid = process.wait_for_line("pid ", Duration::from_secs(30))?;
        process.pid = pid.parse().context("the shell did not print a process id")?;
        Ok(process)
    }

    pub(crate) fn pid(&self) -> u32 {
        self.pid
    }

    /// Waits for a line with this prefix on standard output, and returns the rest of the line.
    pub(crate) fn wait_for_line(&self, prefix: &str, timeout: Duration) -> anyhow::Result<String> {
        let deadline = Instant::now() + timeout;
        loop {
            let remaining = deadline.saturating_duration_since(Instant::now());
            let Ok(line) = self.lines.recv_timeout(remaining) else {
                bail!(
                    "no line starts with \"{prefix}\"; the end of the log:\n{}",
                    self.log_tail()
                );
            };
            if let Some(rest) = line.strip_prefix(prefix) {
                return Ok(rest.trim().to_owned());
            }
        }
    }

    /// Waits until the log contains `text`.
    pub(crate) fn wait_for_log(&self, text: &str, timeout: Duration) -> anyhow::Result<()> {
        let deadline = Instant::now() + timeout;
        while !self.log().contains(text) {
            if Instant::now() > deadline {
                bail!(
                    "the log does not contain \"{text}\"; its end:\n{}",
                    self.log_tail()
                );
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        Ok(())
    }

    /// The standard error output; empty if it cannot be read.
    pub(crate) fn log(&self) -> String {
        std::fs::read_to_string(&self.log).unwrap_or_default()
    }

    fn log_tail(&self) -> String {
        let log = self.log();
        let lines: Vec<&str> = log.lines().collect();
        lines[lines.len().saturating_sub(20)..].join("\n")
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        drop(self.lifeline.take());
        // The exit status is that of the signal.
        drop(self.shell.wait());
    }
}

/// A temporary folder, removed on drop and when this process ends.
#[derive(Debug)]
pub(crate) struct Folder {
    path: PathBuf,
    janitor: Child,
    lifeline: Option<ChildStdin>,
}

impl Folder {
    /// Default of `parent`: the directory for temporary files.
    pub(crate) fn create(parent: Option<&Path>) -> anyhow::Result<Self> {
        let parent = parent.map_or_else(std::env::temp_dir, Path::to_owned);
        let folder = tempfile::Builder::new()
            .prefix("audit-bench-")
            .tempdir_in(&parent);
        let folder = folder.with_context(|| format!("cannot create a folder in {}", parent.display()))?;
        let path = folder.keep();
        let mut janitor = Command::new("sh")
            .args(["-c", JANITOR, "sh"])
            .arg(&path)
            .current_dir("/")
            .stdin(Stdio::piped())
            .spawn()
            .context("cannot start a shell")?;
        let lifeline = janitor.stdin.take();
        Ok(Self {
            path,
            janitor,
            lifeline,
        })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        drop(self.lifeline.take());
        drop(self.janitor.wait());
    }
}

/// Keeps `AUDIT_*` variables of the environment from configuring the server.
pub(crate) fn remove_settings(command: &mut Command) {
    // One head key for all processes of a run.
    let name = format!("audit-bench-{}.head-key", std::process::id());
    command.env("AUDIT_HEAD_KEY_FILE", std::env::temp_dir().join(name));
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("AUDIT_") {
            command.env_remove(name);
        }
    }
    // The log has the events of the load and no others.
    command.env("AUDIT_SELF_AUDIT", "off");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_and_its_processes_are_removed_on_drop() {
        let folder = Folder::create(None).unwrap();
        let path = folder.path().to_owned();
        let script = ["sh", "-c", "echo ready; echo problem >&2; exec sleep 600"];
        let process = Process::start(&script.map(str::to_owned), &path.join("log"), "KILL").unwrap();
        process.wait_for_line("rea", Duration::from_secs(10)).unwrap();
        process.wait_for_log("problem", Duration::from_secs(10)).unwrap();
        assert!(process.pid() > 0 && path.is_dir());
        drop(process);
        drop(folder);
        assert!(!path.exists());
    }
}
