//! What the server listens on: an address, or a Unix socket.

use anyhow::{Context, bail};
use rustix::fs::Mode;
use rustix::net::sockopt;
use rustix::process::umask;
use std::fmt;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// The length of a socket's accept queue.
const BACKLOG_CONNECTIONS_MAX: i32 = 4_096;
/// Bytes of a response that the kernel takes from the server before the client does; Linux reserves twice as much. It is also
/// how finely the server sees that a client reads.
const SEND_BUFFER_BYTES: usize = 128 * 1024;
/// The kernel closes a connection when bytes that it took wait this long for the client, longer than the server waits.
const UNACKNOWLEDGED_MS_MAX: u32 = 75_000;
/// Others than owner and group have no access to a Unix socket: mode 660.
const SOCKET_UMASK: Mode = Mode::from_raw_mode(0o117);

/// Where to listen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ListenAddress {
    /// `HOST:PORT`.
    Tcp(String),
    /// `unix:PATH`.
    Unix(PathBuf),
}

impl FromStr for ListenAddress {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.strip_prefix("unix:") {
            Some("") => Err("unix: needs the path of a socket"),
            Some(path) => Ok(Self::Unix(path.into())),
            None => Ok(Self::Tcp(text.to_owned())),
        }
    }
}

/// As it is written on the command line.
impl fmt::Display for ListenAddress {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp(address) => formatter.write_str(address),
            Self::Unix(path) => write!(formatter, "unix:{}", path.display()),
        }
    }
}

/// A bound socket.
pub enum Listener {
    /// Of an address.
    Tcp(TcpListener),
    /// A Unix socket.
    Unix(UnixListener),
}

/// The file of a Unix socket, which is removed when this is dropped, unless another process has replaced it.
#[derive(Debug)]
pub struct SocketFile {
    path: PathBuf,
    device_and_inode: (u64, u64),
}

/// A bound socket, and what it is.
pub struct Bound {
    /// The socket.
    pub listener: Listener,
    /// Where it is.
    pub place: Place,
    /// Keeps the file of a Unix socket.
    pub file: Option<SocketFile>,
}

/// Where a bound socket is.
#[derive(Clone, Debug)]
pub enum Place {
    /// An address, with the port that was chosen.
    Tcp(SocketAddr),
    /// The file of a Unix socket.
    Unix(PathBuf),
}

impl Place {
    /// As a URL, or `unix:PATH`, which has none.
    pub fn url(&self, is_tls: bool) -> String {
        match self {
            Self::Tcp(address) if is_tls => format!("https://{address}"),
            Self::Tcp(address) => format!("http://{address}"),
            Self::Unix(path) => format!("unix:{}", path.display()),
        }
    }

    /// The arguments with which curl reaches it, up to the path of a URL.
    pub fn curl_arguments(&self, is_tls: bool) -> String {
        match self {
            Self::Tcp(_) => self.url(is_tls),
            Self::Unix(path) => format!("--unix-socket '{}' http://localhost", path.display()),
        }
    }
}

impl ListenAddress {
    /// Binds the address.
    ///
    /// # Errors
    /// When it is in use, or cannot be bound.
    pub fn bind(&self) -> anyhow::Result<Bound> {
        let bound = match self {
            Self::Tcp(address) => bind_tcp(address),
            Self::Unix(path) => bind_unix(path),
        };
        bound.with_context(|| format!("cannot listen on {self}"))
    }
}

fn bind_tcp(address: &str) -> anyhow::Result<Bound> {
    let listener = TcpListener::bind(address)?;
    // The standard library sets a short accept queue. A second listen(2) on the same socket lengthens it.
    rustix::net::listen(&listener, BACKLOG_CONNECTIONS_MAX)?;
    set_options_of_connections(&listener)?;
    listener.set_nonblocking(true)?;
    Ok(Bound {
        place: Place::Tcp(listener.local_addr()?),
        listener: Listener::Tcp(listener),
        file: None,
    })
}

/// Sets what connections inherit from their listener.
fn set_options_of_connections(listener: &TcpListener) -> rustix::io::Result<()> {
    sockopt::set_socket_send_buffer_size(listener, SEND_BUFFER_BYTES)?;
    sockopt::set_tcp_user_timeout(listener, UNACKNOWLEDGED_MS_MAX)?;
    // A response is written in pieces. Otherwise the last one would wait until the client's kernel has acknowledged the one
    // before it, which it delays by 40 ms (Nagle's algorithm).
    sockopt::set_tcp_nodelay(listener, true)
}

fn bind_unix(path: &Path) -> anyhow::Result<Bound> {
    remove_stale(path)?;
    // The socket never exists with wider permissions. No other thread runs yet that creates files.
    let before = umask(SOCKET_UMASK);
    let listener = UnixListener::bind(path);
    umask(before);
    let listener = listener?;
    rustix::net::listen(&listener, BACKLOG_CONNECTIONS_MAX)?;
    listener.set_nonblocking(true)?;
    Ok(Bound {
        listener: Listener::Unix(listener),
        place: Place::Unix(path.to_owned()),
        file: Some(SocketFile {
            path: path.to_owned(),
            device_and_inode: device_and_inode(path)?,
        }),
    })
}

/// Removes a socket that no process listens on.
fn remove_stale(path: &Path) -> anyhow::Result<()> {
    let metadata = match path.symlink_metadata() {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error.into()),
    };
    if !metadata.file_type().is_socket() {
        bail!("the file exists and is not a socket");
    }
    match UnixStream::connect(path) {
        Ok(_) => bail!("another process listens on it"),
        Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
            std::fs::remove_file(path).context("cannot remove the socket of a process that has ended")
        }
        Err(error) => Err(error).context("cannot tell whether another process listens on it"),
    }
}

fn device_and_inode(path: &Path) -> io::Result<(u64, u64)> {
    let metadata = path.symlink_metadata()?;
    Ok((metadata.dev(), metadata.ino()))
}

impl Drop for SocketFile {
    fn drop(&mut self) {
        if !device_and_inode(&self.path).is_ok_and(|now| now == self.device_and_inode) {
            return;
        }
        if let Err(error) = std::fs::remove_file(&self.path) {
            log::warn!("cannot remove {}: {error}", self.path.display());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpStream;

    #[test]
    fn connections_have_the_options_of_their_listener() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        set_options_of_connections(&listener).unwrap();
        let _client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (connection, _) = listener.accept().unwrap();
        assert!(sockopt::tcp_nodelay(&connection).unwrap());
        assert_eq!(
            sockopt::tcp_user_timeout(&connection).unwrap(),
            UNACKNOWLEDGED_MS_MAX
        );
        // Linux doubles it for its own use.
        assert_eq!(
            sockopt::socket_send_buffer_size(&connection).unwrap(),
            2 * SEND_BUFFER_BYTES
        );
    }

    #[test]
    fn an_address_is_one_of_the_network_or_a_path() {
        assert_eq!(
            "127.0.0.1:0".parse(),
            Ok(ListenAddress::Tcp("127.0.0.1:0".to_owned()))
        );
        assert_eq!("unix:a.sock".parse(), Ok(ListenAddress::Unix("a.sock".into())));
        assert!("unix:".parse::<ListenAddress>().is_err());
    }

    #[test]
    fn the_socket_of_another_process_is_not_removed() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.sock");
        let first = bind_unix(&path).unwrap();
        assert!(bind_unix(&path).is_err(), "a process listens on it");
        std::fs::remove_file(&path).unwrap();
        let second = bind_unix(&path).unwrap();
        drop(first);
        assert!(path.exists(), "it is the socket of the second one");
        drop(second);
        assert!(!path.exists());
    }
}
