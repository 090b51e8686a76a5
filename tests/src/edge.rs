//! The machine that the tests run on: environment, clock, open files, temporary directory.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde_json::Value;
use std::fmt::Debug;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

/// The value of an environment variable; an empty one counts as not set.
#[expect(
    clippy::disallowed_methods,
    reason = "the harness is configured by the environment"
)]
pub fn environment(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// The present moved by `seconds`, as RFC 3339 in UTC with milliseconds.
#[expect(
    clippy::disallowed_methods,
    reason = "the server under test runs on the real clock"
)]
pub fn now_plus(seconds: i64) -> String {
    let moment = OffsetDateTime::now_utc() + time::Duration::seconds(seconds);
    let millisecond = moment
        .replace_millisecond(moment.millisecond())
        .expect("the millisecond it has");
    millisecond
        .format(&Rfc3339)
        .expect("a date of this century has a text form")
}

/// A time of a response.
pub fn moment(value: &Value) -> OffsetDateTime {
    let text = value.as_str().unwrap_or_else(|| panic!("{value} is no time"));
    OffsetDateTime::parse(text, &Rfc3339).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// The longest wait of a test. It only bounds a hang: it is far longer than a busy machine needs.
#[derive(Clone, Copy, Debug)]
pub struct Deadline(Instant);

impl Deadline {
    /// `seconds` from now.
    pub fn seconds(seconds: u64) -> Self {
        Self(Instant::now() + Duration::from_secs(seconds))
    }

    /// The remaining time; `None` when it has passed.
    pub fn left(self) -> Option<Duration> {
        self.0
            .checked_duration_since(Instant::now())
            .filter(|left| !left.is_zero())
    }

    /// Sleeps until it has passed. Only for a client that waits as long as `Retry-After` says.
    pub fn pass(self) {
        while let Some(left) = self.left() {
            std::thread::sleep(left);
        }
    }

    /// Repeats `ask` until it returns something. Only for values that the interface allows to lag, and for states of
    /// the database, which sends no signal.
    pub fn poll<T>(self, what: impl Debug, mut ask: impl FnMut() -> Option<T>) -> T {
        loop {
            if let Some(response) = ask() {
                return response;
            }
            assert!(self.left().is_some(), "waited too long for {what:?}");
            std::thread::sleep(Duration::from_millis(100));
        }
    }
}

/// Raises the limit of open files to the machine's maximum: a thousand connections do not fit into the usual 1,024.
pub fn allow_many_open_files() {
    let limit = getrlimit(Resource::Nofile);
    setrlimit(
        Resource::Nofile,
        Rlimit {
            current: limit.maximum,
            maximum: limit.maximum,
        },
    )
    .expect("raising the limit of open files up to its maximum is always allowed");
}

/// A new directory that is removed when the test process ends. Every user may traverse it, because the
/// PostgreSQL cluster inside may belong to another user.
pub fn temporary_directory(name: &str) -> PathBuf {
    static ROOT: OnceLock<PathBuf> = OnceLock::new();
    let root = ROOT.get_or_init(|| {
        let root = tempfile::Builder::new()
            .prefix("audit-tests-")
            .tempdir()
            .expect("create a temporary directory");
        let path = root.keep();
        open_to_all(&path);
        remove_at_exit(&path);
        path
    });
    let path = tempfile::Builder::new()
        .prefix(name)
        .tempdir_in(root)
        .expect("create a temporary directory")
        .keep();
    open_to_all(&path);
    path
}

fn open_to_all(path: &Path) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755))
        .expect("set permissions of a directory");
}

/// Statics are not dropped, so a shell waits for the end of this process (its pipe closes then) and cleans up. It
/// retries, because the servers that own the files end at the same moment.
fn remove_at_exit(path: &Path) {
    let script = r#"cat; for attempt in 1 2 3 4 5 6 7 8; do rm -rf "$0" && exit; sleep 0.5; done"#;
    let child = Command::new("sh")
        .args(["-c", script])
        .arg(path)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("start a shell that removes the temporary directory");
    // Lives as long as the process: dropping it would close the pipe.
    static JANITOR: OnceLock<std::process::Child> = OnceLock::new();
    JANITOR
        .set(child)
        .expect("the temporary directory is created once");
}
