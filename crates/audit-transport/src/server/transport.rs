//! The transport of a connection: TCP, a Unix socket, or TLS.
//!
//! TLS is around the connection with its limits, so that they hold for the bytes that the network carries, during the
//! handshake too.

use super::connection::Connection;
use crate::Patience;
use actix_web::rt::net::{TcpStream, UnixStream};
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Connections;
    use rustls::crypto::ring::default_provider;
    use rustls::pki_types::ServerName;
    use rustls::{ClientConfig, RootCertStore};
    use std::sync::Arc;
    use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};
    use tokio_rustls::{TlsAcceptor, TlsConnector};

    #[actix_web::test]
    async fn a_client_that_takes_nothing_is_given_up_with_tls_too() {
        tokio::time::pause();
        let (tls, _watching, certificate) = crate::tls::open_new();
        let mut roots = RootCertStore::empty();
        roots.add(certificate).unwrap();
        let client = ClientConfig::builder_with_provider(Arc::new(default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(roots)
            .with_no_client_auth();
        let (server, socket) = duplex(8 * 1024);
        let slot = Connections::new(10, |_| false).admit(None).unwrap();
        let connector = TlsConnector::from(Arc::new(client));
        let (server, client) = tokio::join!(
            TlsAcceptor::from(tls.config).accept(Connection::new(server, slot)),
            connector.connect(ServerName::try_from("localhost").unwrap(), socket),
        );
        let (mut server, mut client) = (server.unwrap(), client.unwrap());
        // As long as the client reads, nothing is missing.
        let mut read = vec![0; 200_000];
        let write = async {
            server.write_all(&[7; 200_000]).await?;
            server.flush().await
        };
        let (written, all) = tokio::join!(write, client.read_exact(&mut read));
        written.unwrap();
        all.unwrap();
        assert!(read.iter().all(|byte| *byte == 7));
        // What fits into the buffers of TLS counts too: a flush does not wait forever.
        server.write_all(&[7; 12_000]).await.unwrap();
        let error = server.flush().await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
    }
}
