//! The real server, which `cargo build` has put beside the tests.

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

/// A server over a new SQLite database. It ends with this value.
pub(crate) struct RealServer {
    process: Child,
    pub(crate) base_url: String,
    pub(crate) project_key: String,
    /// Its database.
    _directory: tempfile::TempDir,
}

/// `target/debug/audit-server` for `target/debug/deps/it-…`.
#[expect(clippy::disallowed_methods, reason = "a test reads its environment")]
fn program() -> PathBuf {
    if let Ok(path) = std::env::var("AUDIT_SERVER_BIN") {
        return path.into();
    }
    let test = std::env::current_exe().expect("this program");
    let folder = test.ancestors().nth(2).expect("a folder of the build");
    let program = folder.join("audit-server");
    assert!(
        program.exists(),
        "cargo build -p audit-server, or set AUDIT_SERVER_BIN: there is no {}",
        program.display()
    );
    program
}

impl RealServer {
    /// Starts it on a free port.
    pub(crate) fn start() -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        let database = directory.path().join("audit.db");
        let child = Command::new(program())
            .args(["serve", "--listen", "127.0.0.1:0"])
            .current_dir(directory.path())
            .env("AUDIT_DATABASE_URL", format!("sqlite:{}", database.display()))
            // The tests count events.
            .env("AUDIT_SELF_AUDIT", "off")
            .env("RUST_LOG", "warn")
            .stdout(Stdio::piped())
            .spawn();
        let mut process = child.expect("the server starts");
        let stdout = process.stdout.take().expect("standard output");
        let mut project_key = None;
        let mut lines = BufReader::new(stdout).lines();
        let base_url = loop {
            let line = lines.next().expect("the server listens").expect("a line");
            let words = || line.split_whitespace();
            project_key = project_key.or(words()
                .find(|word| word.starts_with("pk_live_"))
                .map(str::to_owned));
            if let Some(url) = words().find(|word| line.contains("listening") && word.starts_with("http://"))
            {
                break url.to_owned();
            }
        };
        // A server that writes to a closed pipe would end.
        std::thread::spawn(move || lines.map_while(Result::ok).for_each(drop));
        Self {
            process,
            base_url,
            project_key: project_key.expect("the first start prints a key"),
            _directory: directory,
        }
    }
}

impl Drop for RealServer {
    fn drop(&mut self) {
        drop(self.process.kill());
        drop(self.process.wait());
    }
}
