//! Child processes that end with the test process, however it ends.
//!
//! Rust drops no statics, and a test process can be killed. So each child runs under a small shell whose standard input
//! is a pipe from here. When this process is gone the pipe closes, and the shell kills the child.

use crate::edge::Deadline;
use rustix::process::{Pid, Signal, kill_process};
use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};

/// Arguments: the name of the signal that ends the child, then its command line. The inner shell prints its process id
/// before it executes the child, so the id is always the first line. The subshell ends with the child; otherwise it
/// could later signal another process that reuses the id.
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

/// The text that a child has written so far to one of its outputs.
#[derive(Debug, Default)]
pub struct Output {
    state: Mutex<Lines>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Lines {
    lines: Vec<String>,
    closed: bool,
}

impl Output {
    fn read(stream: impl Read + Send + 'static) -> Arc<Self> {
        let output = Arc::new(Self::default());
        let writer = Arc::clone(&output);
        std::thread::spawn(move || {
            let mut reader = BufReader::new(stream);
            let mut line = Vec::new();
            while reader.read_until(b'\n', &mut line).is_ok_and(|length| length > 0) {
                writer.update(|state| {
                    state
                        .lines
                        .push(String::from_utf8_lossy(&line).trim_end().to_owned())
                });
                line.clear();
            }
            writer.update(|state| state.closed = true);
        });
        output
    }

    fn update(&self, change: impl FnOnce(&mut Lines)) {
        change(&mut self.lock());
        self.changed.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, Lines> {
        self.state
            .lock()
            .expect("the lock of a child's output is never poisoned")
    }

    /// Waits until `find` finds something in a line. `None`: the output has ended, or the deadline has passed, without it.
    pub fn wait_for<T>(&self, deadline: Deadline, find: impl Fn(&str) -> Option<T>) -> Option<T> {
        let mut seen = 0;
        let mut state = self.lock();
        loop {
            if let Some(found) = state.lines[seen..].iter().find_map(|line| find(line)) {
                return Some(found);
            }
            seen = state.lines.len();
            if state.closed {
                return None;
            }
            state = self
                .changed
                .wait_timeout(state, deadline.left()?)
                .expect("the lock is never poisoned")
                .0;
        }
    }

    /// Everything so far, as text.
    pub fn text(&self) -> String {
        self.lock().lines.join("\n")
    }

    fn wait_until_closed(&self, deadline: Deadline) -> bool {
        let mut state = self.lock();
        while !state.closed {
            let Some(left) = deadline.left() else { return false };
            state = self
                .changed
                .wait_timeout(state, left)
                .expect("the lock is never poisoned")
                .0;
        }
        true
    }
}

/// How a child ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// By itself, with this code.
    Code(i32),
    /// By this signal.
    Signal(i32),
}

/// A child that ends with this process.
#[derive(Debug)]
pub struct Process {
    watchdog: Child,
    lifeline: Option<ChildStdin>,
    pid: Pid,
    /// Its standard output.
    pub stdout: Arc<Output>,
    /// Its standard error.
    pub stderr: Arc<Output>,
}

impl Process {
    /// Starts `arguments` (the program first); `end_signal` (`KILL`, `QUIT`) ends it if this process goes first.
    pub fn start(arguments: &[String], environment: &[(String, String)], end_signal: &str) -> Self {
        let mut command = Command::new("sh");
        command.args(["-c", WATCHDOG, "sh", end_signal]).args(arguments);
        // The settings of the shell that runs the tests must not reach the server under test.
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("AUDIT_") || name == "RUST_LOG" {
                command.env_remove(name);
            }
        }
        command.envs(environment.iter().map(|(name, value)| (name, value)));
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut watchdog = command.spawn().expect("start a shell");
        let lifeline = watchdog.stdin.take();
        let stdout = Output::read(watchdog.stdout.take().expect("standard output is a pipe"));
        let stderr = Output::read(watchdog.stderr.take().expect("standard error is a pipe"));
        let pid = stdout.wait_for(Deadline::seconds(30), |line| {
            line.strip_prefix("pid ").map(str::to_owned)
        });
        let pid = pid.and_then(|text| text.parse().ok()).and_then(Pid::from_raw);
        Self {
            watchdog,
            lifeline,
            pid: pid.expect("the shell says the child's process id"),
            stdout,
            stderr,
        }
    }

    /// Sends a signal to the child itself.
    pub fn signal(&self, signal: Signal) {
        kill_process(self.pid, signal).expect("signal a child that is running");
    }

    /// SIGSTOP, and waits until every thread of the child has stopped: one that runs on another processor stops a moment after the
    /// signal was sent. The child may have ended.
    pub fn stop(&self) {
        let signalled = kill_process(self.pid, Signal::STOP);
        let has_ended = signalled == Err(rustix::io::Errno::SRCH);
        assert!(signalled.is_ok() || has_ended, "stop a child: {signalled:?}");
        Deadline::seconds(60).poll("a child that stands still", || self.is_stopped().then_some(()));
    }

    /// Whether the state of each thread is `T` (proc_pid_stat(5)). A child that has ended is stopped as well.
    fn is_stopped(&self) -> bool {
        let threads = format!("/proc/{}/task", self.pid.as_raw_nonzero());
        let Ok(threads) = std::fs::read_dir(threads) else {
            return true;
        };
        threads.flatten().all(|thread| {
            let status = std::fs::read_to_string(thread.path().join("stat")).unwrap_or_default();
            // The name before the state, in parentheses, may contain anything.
            let state = status.rsplit_once(") ").and_then(|(_, rest)| rest.chars().next());
            state.is_none_or(|state| matches!(state, 'T' | 'Z' | 'X'))
        })
    }

    /// Sends a signal to the child and to the processes that it has started.
    pub fn signal_with_children(&self, signal: Signal) {
        let pid = self.pid.as_raw_nonzero();
        // The child first, so that a stopped one starts no more.
        self.signal(signal);
        let path = format!("/proc/{pid}/task/{pid}/children");
        let children = std::fs::read_to_string(path).expect("list the processes of a child that is running");
        for child in children.split_whitespace() {
            let child = child.parse().ok().and_then(Pid::from_raw).expect("a process id");
            let signalled = kill_process(child, signal);
            let has_ended = signalled == Err(rustix::io::Errno::SRCH);
            assert!(signalled.is_ok() || has_ended, "signal a process: {signalled:?}");
        }
    }

    /// Whether the child runs or is stopped.
    pub fn is_running(&self) -> bool {
        rustix::process::test_kill_process(self.pid).is_ok()
    }

    /// The memory that the child itself holds, in bytes.
    pub fn memory_bytes(&self) -> u64 {
        let path = format!("/proc/{}/status", self.pid.as_raw_nonzero());
        let status = std::fs::read_to_string(path).expect("read the state of a child that is running");
        let resident = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let kib = resident.and_then(|text| text.trim().strip_suffix(" kB"));
        kib.and_then(|text| text.parse::<u64>().ok())
            .expect("a size in kB")
            * 1_024
    }

    /// Waits for the end; panics at the deadline.
    pub fn wait(&mut self, deadline: Deadline) -> Exit {
        let ended = self.stdout.wait_until_closed(deadline) && self.stderr.wait_until_closed(deadline);
        assert!(
            ended,
            "the process did not end in time; it wrote:\n{}\n{}",
            self.stdout.text(),
            self.stderr.text()
        );
        let status = self.watchdog.wait().expect("wait for a child");
        match status.code() {
            // The shell reports a child killed by signal N as 128 + N.
            Some(code) if code > 128 => Exit::Signal(code - 128),
            Some(code) => Exit::Code(code),
            None => Exit::Signal(status.signal().expect("no code means a signal")),
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // The closing pipe makes the watchdog end the child; when it has ended already, the watchdog has, too.
        drop(self.lifeline.take());
        let ended = self.watchdog.wait();
        assert!(
            ended.is_ok() || std::thread::panicking(),
            "wait for a child: {ended:?}"
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::process::test_kill_process;

    fn shell(script: &str) -> Process {
        Process::start(
            &["sh".to_owned(), "-c".to_owned(), script.to_owned()],
            &[],
            "KILL",
        )
    }

    #[test]
    fn the_end_of_a_process_is_reported_with_what_it_wrote() {
        let mut process = shell("echo out; echo err >&2; exit 3");
        assert_eq!(process.wait(Deadline::seconds(30)), Exit::Code(3));
        assert!(
            process.stdout.text().ends_with("\nout"),
            "{}",
            process.stdout.text()
        );
        assert_eq!(process.stderr.text(), "err");
    }

    #[test]
    fn a_killed_process_is_reported_by_its_signal() {
        let mut process = shell("exec sleep 600");
        process.signal(Signal::KILL);
        assert_eq!(process.wait(Deadline::seconds(30)), Exit::Signal(9));
    }

    #[test]
    fn a_stopped_process_does_nothing_until_it_continues() {
        let process = shell("while :; do echo line; done");
        process
            .stdout
            .wait_for(Deadline::seconds(30), |line| (line == "line").then_some(()))
            .unwrap();
        process.stop();
        assert!(process.is_stopped() && process.is_running());
        process.signal(Signal::CONT);
        Deadline::seconds(30).poll("it continues", || (!process.is_stopped()).then_some(()));
    }

    #[test]
    fn a_process_ends_when_its_pipe_closes() {
        let process = shell("echo ready; exec sleep 600");
        process
            .stdout
            .wait_for(Deadline::seconds(30), |line| (line == "ready").then_some(()))
            .unwrap();
        let pid = process.pid;
        assert!(test_kill_process(pid).is_ok(), "it runs");
        drop(process);
        assert!(test_kill_process(pid).is_err(), "it is gone");
    }
}
