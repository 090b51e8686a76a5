//! One connection to a receiver: one request, one reply.

use super::{Received, Reply, Shared};
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

type Stream = BufReader<StreamOwned<ServerConnection, TcpStream>>;

/// Far more often than any timeout for a connection that looks dead.
const DRIP_INTERVAL: Duration = Duration::from_millis(500);
/// More than a client needs to learn the result.
const BODY_CHUNK_BYTES: usize = 16 << 10;

/// Serves the connection to its end. A client may disconnect at any point: tests inspect the recorded requests.
pub(super) fn serve(shared: &Shared, tls: Arc<ServerConfig>, stream: TcpStream) {
    let session = ServerConnection::new(tls).expect("a TLS session can begin");
    let mut stream = BufReader::new(StreamOwned::new(session, stream));
    let Ok(request) = read(&mut stream) else { return };
    let path = request.path.clone();
    // The reply is chosen before the request becomes visible, so that a test that sees the request may change the next
    // reply.
    let reply = shared.next_reply(&path);
    shared.update(|state| state.requests.push(request));
    let is_endless = matches!(reply, Reply::Stall | Reply::Drip | Reply::EndlessBody);
    let ended = response(&mut stream, reply);
    if is_endless && ended.is_err() {
        shared.update(|state| state.given_up.push(path));
    }
}

fn read(stream: &mut Stream) -> io::Result<Received> {
    let first = line(stream)?;
    let mut words = first.split(' ');
    let mut word = || words.next().unwrap_or_default().to_owned();
    let (method, path) = (word(), word());
    let mut headers = Vec::new();
    loop {
        let line = line(stream)?;
        let Some((name, value)) = line.split_once(':') else {
            break;
        };
        headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
    let length = headers.iter().find(|(name, _)| name == "content-length");
    let length = length.map_or(0, |(_, value)| value.parse().expect("a length is a number"));
    let mut body = vec![0; length];
    stream.read_exact(&mut body)?;
    Ok(Received {
        method,
        path,
        headers,
        body: String::from_utf8(body).expect("a body in UTF-8"),
        arrived_at: Instant::now(),
    })
}

/// The next line without its end.
fn line(stream: &mut Stream) -> io::Result<String> {
    let mut line = String::new();
    if stream.read_line(&mut line)? == 0 {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(line.trim_end().to_owned())
}

/// Endless replies return an error when the client disconnects.
fn response(stream: &mut Stream, reply: Reply) -> io::Result<()> {
    match reply {
        Reply::Status(status) => finish(stream, &head(status, "")),
        Reply::Header(status, name, value) => finish(stream, &head(status, &format!("{name}: {value}\r\n"))),
        Reply::Drop => stream.get_ref().sock.shutdown(Shutdown::Both),
        Reply::Stall => {
            stream.read_exact(&mut [0])?;
            panic!("a client has nothing to say before it is answered");
        }
        Reply::Drip => {
            write(stream, b"HTTP/1.1 200 OK\r\nx-drip: ")?;
            loop {
                write(stream, b"a")?;
                thread::sleep(DRIP_INTERVAL);
            }
        }
        Reply::EndlessBody => {
            write(stream, b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n\r\n")?;
            loop {
                write(stream, &[b'a'; BODY_CHUNK_BYTES])?;
            }
        }
    }
}

fn head(status: u16, header: &str) -> String {
    format!("HTTP/1.1 {status} Status\r\n{header}content-length: 0\r\nconnection: close\r\n\r\n")
}

fn write(stream: &mut Stream, bytes: &[u8]) -> io::Result<()> {
    stream.get_mut().write_all(bytes)?;
    stream.get_mut().flush()
}

fn finish(stream: &mut Stream, head: &str) -> io::Result<()> {
    write(stream, head.as_bytes())?;
    stream.get_mut().conn.send_close_notify();
    stream.get_mut().flush()
}
