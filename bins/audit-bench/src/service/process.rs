//! Child processes that end with this one, however it ends.
//!
//! Ctrl-C or a crash must not leave a server or gigabytes of events behind. So each child runs under a small shell whose
//! standard input is a pipe from here. When this process is gone the pipe closes, and the shell acts.

use anyhow::{Context, bail};
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

/// Arguments: the name of the signal that ends the child, then its command line. The inner shell says its process id
/// before it becomes the child. The watching subshell is ended with the child, lest it later signal another process that
/// has inherited the id.
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

/// Removes a folder once nobody needs it, as often as it takes: servers in it may still be ending.
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
    /// Starts `command_line`, with standard error going to the file `log`. `end_signal` (`KILL`, `QUIT`) ends it.
    pub(crate) fn start(command_line: &[String], log: &Path, end_signal: &str) -> anyhow::Result<Self> {
        let errors = File::create(log).with_context(|| format!("cannot make {}", log.display()))?;
        let mut command = Command::new("sh");
        command
            .args(["-c", WATCHDOG, "sh", end_signal])
            .args(command_line);
        clear_settings(&mut command);
        command.env("RUST_LOG", "warn").env("LC_ALL", "C");
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(errors);
        let mut shell = command.spawn().context("cannot start a shell")?;
        let lifeline = shell.stdin.take();
        let stdout = shell.stdout.take().context("standard output is no pipe")?;
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            // Whoever no longer listens does not mind; the child must not be stopped by a full pipe.
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
        process.pid = pid.parse().context("the shell does not say a process id")?;
        Ok(process)
    }

    pub(crate) fn pid(&self) -> u32 {
        self.pid
    }

    /// Waits for a line on standard output that begins like this, and gives the rest of it.
    pub(crate) fn wait_for_line(&self, beginning: &str, patience: Duration) -> anyhow::Result<String> {
        let deadline = Instant::now() + patience;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let Ok(line) = self.lines.recv_timeout(left) else {
                bail!("no line {beginning:?} came; the log says:\n{}", self.log_tail());
            };
            if let Some(rest) = line.strip_prefix(beginning) {
                return Ok(rest.trim().to_owned());
            }
        }
    }

    /// Waits for a line in the log that has this in it.
    pub(crate) fn wait_for_log(&self, text: &str, patience: Duration) -> anyhow::Result<()> {
        let deadline = Instant::now() + patience;
        while !self.log().contains(text) {
            if Instant::now() > deadline {
                bail!("no {text:?} came; the log says:\n{}", self.log_tail());
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        Ok(())
    }

    /// What it wrote to standard error; empty when that cannot be read.
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
        // It ends by a signal, which is no news.
        drop(self.shell.wait());
    }
}

/// A new folder that goes when this is dropped, or when this process ends.
#[derive(Debug)]
pub(crate) struct Folder {
    path: PathBuf,
    janitor: Child,
    lifeline: Option<ChildStdin>,
}

impl Folder {
    /// In `parent`, or where temporary files go.
    pub(crate) fn create(parent: Option<&Path>) -> anyhow::Result<Self> {
        let parent = parent.map_or_else(std::env::temp_dir, Path::to_owned);
        let folder = tempfile::Builder::new()
            .prefix("audit-bench-")
            .tempdir_in(&parent);
        let folder = folder.with_context(|| format!("cannot make a folder in {}", parent.display()))?;
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

/// The settings of whoever runs the benchmark must not reach the server.
pub(crate) fn clear_settings(command: &mut Command) {
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("AUDIT_") {
            command.env_remove(name);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_and_the_processes_in_it_go_when_they_are_dropped() {
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
