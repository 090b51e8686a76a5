//! A proxy before a PostgreSQL server, for a database that hangs in the middle of a `COMMIT`.

use crate::cluster::Cluster;
use crate::edge::{Deadline, temporary_directory};
use std::io::{Read, Write};
use std::net::Shutdown;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

/// Forwards connections to a cluster. It ends with the test process.
#[derive(Debug)]
pub struct CommitProxy {
    directory: PathBuf,
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    armed: Mutex<Option<Armed>>,
    /// Whether a `COMMIT` is held.
    is_held: AtomicBool,
}

/// Holds the next `COMMIT` of a connection over which this text was sent.
#[derive(Debug)]
struct Armed {
    text: &'static str,
    /// Whether the server gets the `COMMIT`, and only its response is held.
    is_forwarded: bool,
}

impl CommitProxy {
    /// A proxy before this cluster.
    pub fn before(cluster: &Cluster) -> Self {
        let directory = temporary_directory("proxy-");
        let listener = UnixListener::bind(socket(&directory)).expect("listen on a socket");
        let shared = Arc::new(Shared::default());
        let (server, own) = (socket(Path::new(&cluster.host())), Arc::clone(&shared));
        thread::spawn(move || {
            for client in listener.incoming() {
                let client = client.expect("accept a connection");
                // Without its server, the proxy refuses connections by closing them.
                if let Ok(server) = UnixStream::connect(&server) {
                    forward(&own, client, server);
                }
            }
        });
        Self { directory, shared }
    }

    /// The URL of a database behind it.
    pub fn url(&self, database: &str) -> String {
        format!(
            "postgres:///{database}?host={}&user=audit",
            self.directory.display()
        )
    }

    /// The `COMMIT` of the transaction that stores this text does not reach the server. Its connection stays open, and nothing
    /// passes it any more.
    pub fn hold_commit(&self, text: &'static str) {
        self.arm(text, false);
    }

    /// The `COMMIT` of the transaction that stores this text reaches the server, and no response passes its connection any more.
    pub fn hold_response(&self, text: &'static str) {
        self.arm(text, true);
    }

    fn arm(&self, text: &'static str, is_forwarded: bool) {
        *self.shared.armed.lock().expect("a lock of a test") = Some(Armed { text, is_forwarded });
    }

    /// Waits until one of them has happened.
    pub fn wait_until_held(&self) {
        let is_held = || self.shared.is_held.swap(false, Ordering::Relaxed).then_some(());
        Deadline::seconds(60).poll("a COMMIT", is_held);
    }
}

fn socket(directory: &Path) -> PathBuf {
    directory.join(".s.PGSQL.5432")
}

/// Forwards one connection, in both directions.
fn forward(shared: &Arc<Shared>, client: UnixStream, server: UnixStream) {
    let clone = |stream: &UnixStream| stream.try_clone().expect("share a socket");
    let (mut requests, mut to_server) = (clone(&client), clone(&server));
    let is_silent = Arc::new(AtomicBool::new(false));
    let (shared, silences) = (Arc::clone(shared), Arc::clone(&is_silent));
    thread::spawn(move || {
        let mut stores_text = false;
        let ended = copy(&mut requests, &mut to_server, |message| {
            let contains = |text: &str| message.windows(text.len()).any(|part| part == text.as_bytes());
            let mut armed = shared.armed.lock().expect("a lock of a test");
            stores_text |= armed.as_ref().is_some_and(|armed| contains(armed.text));
            match armed.take_if(|_| stores_text && contains("COMMIT")) {
                Some(Armed { is_forwarded, .. }) => {
                    silences.store(true, Ordering::Relaxed);
                    shared.is_held.store(true, Ordering::Relaxed);
                    is_forwarded
                }
                None => !silences.load(Ordering::Relaxed),
            }
        });
        close(&to_server, ended);
    });
    let (mut responses, mut to_client) = (server, client);
    thread::spawn(move || {
        let ended = copy(&mut responses, &mut to_client, |_| {
            !is_silent.load(Ordering::Relaxed)
        });
        // The client of a connection that hangs does not learn that the server has closed it.
        if !is_silent.load(Ordering::Relaxed) {
            close(&to_client, ended);
        }
        // Until then, this thread would keep the connection open anyway: it has the last handle.
        while is_silent.load(Ordering::Relaxed) {
            thread::park();
        }
    });
}

/// Copies what `passes` lets through, until the end of the stream.
fn copy(
    from: &mut UnixStream,
    to: &mut UnixStream,
    mut passes: impl FnMut(&[u8]) -> bool,
) -> std::io::Result<()> {
    let mut buffer = vec![0; 64 << 10];
    loop {
        let length = from.read(&mut buffer)?;
        if length == 0 {
            return Ok(());
        }
        if passes(&buffer[..length]) {
            to.write_all(&buffer[..length])?;
        }
    }
}

/// Closes the other side of a connection whose one side has ended, by its end or by an error.
fn close(stream: &UnixStream, _ended: std::io::Result<()>) {
    // It may be closed already.
    stream.shutdown(Shutdown::Both).ok();
}
