//! The transport of a connection: TCP, a Unix socket, or TLS.
//!
//! TLS is around the connection with its limits, so that they hold for the bytes that the network carries, during the
//! handshake too.

use super::connection::Connection;
use actix_web::rt::net::{TcpStream, UnixStream};
use audit_http::Patience;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_rustls::server::TlsStream;

/// A connection that is ready for requests.
pub(super) enum Transport {
    Tcp(Connection<TcpStream>),
    Unix(Connection<UnixStream>),
    /// Boxed: it is ten times as large as the others.
    Tls(Box<TlsStream<Connection<TcpStream>>>),
}

impl Transport {
    /// How long the connection waits for its client.
    pub(super) fn patience(&self) -> &Patience {
        match self {
            Self::Tcp(connection) => connection.patience(),
            Self::Unix(connection) => connection.patience(),
            Self::Tls(stream) => stream.get_ref().0.patience(),
        }
    }
}

/// Calls a method of the stream that the transport is.
macro_rules! delegate {
    ($transport:expr, $stream:ident => $call:expr) => {
        match $transport {
            Transport::Tcp($stream) => $call,
            Transport::Unix($stream) => $call,
            Transport::Tls($stream) => $call,
        }
    };
}

impl AsyncRead for Transport {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        delegate!(self.get_mut(), stream => Pin::new(stream).poll_read(context, buffer))
    }
}

impl AsyncWrite for Transport {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        delegate!(self.get_mut(), stream => Pin::new(stream).poll_write(context, bytes))
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        delegate!(self.get_mut(), stream => Pin::new(stream).poll_write_vectored(context, slices))
    }

    fn is_write_vectored(&self) -> bool {
        delegate!(self, stream => stream.is_write_vectored())
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        delegate!(self.get_mut(), stream => Pin::new(stream).poll_flush(context))
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        delegate!(self.get_mut(), stream => Pin::new(stream).poll_shutdown(context))
    }
}
