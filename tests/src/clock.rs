//! A clock for a server that stands still until a test moves it, made with libfaketime (the Debian package
//! `libfaketime`). With `AUDIT_TEST_REQUIRE_FAKETIME` set, not having the library is a failure.

use crate::edge::temporary_directory;
use crate::prerequisite::Prerequisite;
use std::path::{Path, PathBuf};
use time::format_description::well_known::Rfc3339;
use time::{Duration, OffsetDateTime};

/// The variant for programs with threads.
const LIBRARY: &str = "libfaketimeMT.so.1";

/// A clock that stands still until it is moved. Any number of servers may run on it. Their monotonic timers are not
/// affected.
#[derive(Debug)]
pub struct Clock {
    library: PathBuf,
    file: PathBuf,
    now: OffsetDateTime,
}

impl Clock {
    /// A clock that shows this RFC 3339 time. `None` without the library.
    pub fn at(moment: &str) -> Option<Self> {
        let clock = Self {
            library: library()?,
            file: temporary_directory("clock-").join("now"),
            now: parse(moment),
        };
        clock.write();
        Some(clock)
    }

    /// Moves it to this RFC 3339 time.
    pub fn set(&mut self, moment: &str) {
        self.now = parse(moment);
        self.write();
    }

    /// Advances it by this many milliseconds.
    pub fn advance_millis(&mut self, milliseconds: i64) {
        self.now += Duration::milliseconds(milliseconds);
        self.write();
    }

    /// The time that it shows, moved by `seconds`, as RFC 3339.
    pub fn plus(&self, seconds: i64) -> String {
        let moment = self.now + Duration::seconds(seconds);
        moment
            .format(&Rfc3339)
            .expect("a date of this century has a text form")
    }

    /// The time that it shows, in milliseconds since the Unix epoch.
    pub fn millis(&self) -> i64 {
        i64::try_from(self.now.unix_timestamp_nanos() / 1_000_000).expect("a time of this century")
    }

    /// Prefix of the command line of a program that runs on this clock. `env` execs the program, so that the library is
    /// loaded into no other process.
    pub(crate) fn prefix(&self) -> Vec<String> {
        let assignment = |name: &str, path: &Path| format!("{name}={}", path.display());
        vec![
            "env".to_owned(),
            "TZ=UTC".to_owned(),
            assignment("LD_PRELOAD", &self.library),
            assignment("FAKETIME_TIMESTAMP_FILE", &self.file),
            "FAKETIME_NO_CACHE=1".to_owned(),
            "FAKETIME_DONT_FAKE_MONOTONIC=1".to_owned(),
            "NO_FAKE_STAT=1".to_owned(),
        ]
    }

    /// Replaces the file atomically, because the library reads it on every call. The library parses the fraction as a
    /// binary number, which may round down below the millisecond; hence the additional tenth.
    fn write(&self) {
        let shown = self.now + Duration::microseconds(100);
        let text = shown
            .format(&Rfc3339)
            .expect("a date of this century has a text form");
        let text = text.trim_end_matches('Z').replace('T', " ");
        let next = self.file.with_extension("next");
        std::fs::write(&next, text).expect("write the time");
        std::fs::rename(&next, &self.file).expect("exchange the time");
    }
}

fn parse(moment: &str) -> OffsetDateTime {
    OffsetDateTime::parse(moment, &Rfc3339).unwrap_or_else(|error| panic!("{error}: {moment}"))
}

/// Looks where Debian and a build from source install the library.
fn library() -> Option<PathBuf> {
    let multiarch = std::fs::read_dir("/usr/lib").into_iter().flatten().flatten();
    let directories = multiarch
        .map(|entry| entry.path())
        .chain(["/usr/lib".into(), "/usr/local/lib".into()]);
    let found = directories
        .map(|directory| directory.join("faketime").join(LIBRARY))
        .find(|path| path.is_file());
    Prerequisite::Libfaketime.check(found.ok_or("it is not installed"))
}
