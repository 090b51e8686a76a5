//! The beginning of a connection with TLS.

use super::connection::Connection;
use super::share::Slot;
use actix_web::rt::net::TcpStream;
use rustls::ServerConfig;
use std::io;
use std::sync::Arc;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

/// The first byte of a client that speaks TLS: the type of a record with a handshake (RFC 8446, section 5.1).
const HANDSHAKE: u8 = 22;
/// Bytes that TLS encrypts ahead of a client that does not read.
const BUFFER_BYTES_MAX: usize = 32 * 1024;
/// The response to plain HTTP. Nothing of the request is read, so it has no request id.
const PLAIN_HTTP: &[u8] = b"HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain\r\nContent-Length: 53\r\n\
    Connection: close\r\n\r\nThis port takes HTTPS only. Use https:// in the URL.\n";

/// Completes the handshake with a client. Its slot counts meanwhile; the caller limits the time.
pub(super) async fn handshake(
    stream: TcpStream,
    slot: Slot,
    config: &Arc<ServerConfig>,
) -> io::Result<Box<TlsStream<Connection<TcpStream>>>> {
    let mut first = [0];
    let first = match stream.peek(&mut first).await? {
        0 => return Err(io::ErrorKind::UnexpectedEof.into()),
        _ => first[0],
    };
    if first != HANDSHAKE {
        refuse(stream, first).await?;
        drop(slot);
        return Err(io::Error::new(io::ErrorKind::InvalidData, "not TLS"));
    }
    let acceptor = TlsAcceptor::from(Arc::clone(config));
    let limit = |session: &mut rustls::ServerConnection| session.set_buffer_limit(Some(BUFFER_BYTES_MAX));
    let stream = acceptor.accept_with(Connection::new(stream, slot), limit).await?;
    Ok(Box::new(stream))
}

/// Tells a client that speaks plain HTTP what is wrong, and closes the connection.
async fn refuse(mut stream: TcpStream, first: u8) -> io::Result<()> {
    // Methods are upper case.
    if !first.is_ascii_uppercase() {
        return Ok(());
    }
    stream.write_all(PLAIN_HTTP).await?;
    stream.shutdown().await?;
    // A connection that is closed with unread bytes is reset, and the client could miss the response.
    let mut discarded = [0; 1024];
    while stream.read(&mut discarded).await? > 0 {}
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_response_to_plain_http_has_its_length() {
        let text = std::str::from_utf8(PLAIN_HTTP).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        assert!(
            head.contains(&format!("Content-Length: {}\r\n", body.len())),
            "{text}"
        );
    }
}
