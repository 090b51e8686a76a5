//! The HTTP server: actix-web's own, but with connections that limit each read.
//!
//! actix-http drains a connection before it parses, up to 128 KiB into a buffer that grows to 256 KiB. With 512
//! connections that send large bodies that is 133 MiB. It passes on the data of each read at once, so smaller reads
//! cost nothing.

use actix_http::error::DispatchError;
use actix_http::{HttpService, KeepAlive, Request, Response};
use actix_server::{Server, ServerBuilder};
use actix_service::{IntoServiceFactory, ServiceFactory, ServiceFactoryExt, fn_service, map_config};
use actix_web::Error;
use actix_web::body::MessageBody;
use actix_web::dev::{AppConfig, ServiceResponse};
use actix_web::rt::net::TcpStream;
use std::future::ready;
use std::io;
use std::io::IoSlice;
use std::net::TcpListener;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, ReadBuf, Take};

/// Bytes that are read from a connection before actix-http parses them.
const READ_BYTES_MAX: u64 = 16 * 1024;

/// Timeouts of the server.
pub(crate) struct Timeouts {
    /// Of an idle connection.
    pub(crate) keep_alive: Duration,
    /// Of the head of a request.
    pub(crate) request_head: Duration,
    /// Of accepted requests after a shutdown signal, in seconds.
    pub(crate) shutdown_seconds: u64,
}

/// Starts a server with one application for each worker, by default one worker per processor. It handles no signals.
pub(crate) fn start<A, I, S, B>(
    listener: TcpListener,
    workers: Option<usize>,
    timeouts: Timeouts,
    application: A,
) -> io::Result<Server>
where
    A: Fn() -> I + Send + Clone + 'static,
    I: IntoServiceFactory<S, Request>,
    S: ServiceFactory<
            Request,
            Config = AppConfig,
            Response = ServiceResponse<B>,
            Error = Error,
            InitError = (),
        > + 'static,
    S::Future: 'static,
    B: MessageBody + 'static,
{
    let mut builder = ServerBuilder::new()
        .shutdown_timeout(timeouts.shutdown_seconds)
        .disable_signals();
    if let Some(workers) = workers {
        builder = builder.workers(workers);
    }
    let stopping = builder.graceful_shutdown_signal();
    let address = listener.local_addr()?;
    let builder = builder.listen("http", listener, move || {
        let stopping = stopping.clone();
        let application = application()
            .into_factory()
            .map_err(|error| Response::from(error.error_response()));
        let http = HttpService::build()
            .graceful_shutdown_signal(move || {
                let stopping = stopping.clone();
                async move { stopping.notified().await }
            })
            .keep_alive(KeepAlive::Timeout(timeouts.keep_alive))
            .client_request_timeout(timeouts.request_head)
            .client_disconnect_timeout(Duration::from_secs(1))
            .local_addr(address)
            .h1(map_config(application, |()| AppConfig::default()));
        fn_service(|stream: TcpStream| {
            let peer = stream.peer_addr().ok();
            ready(Ok::<_, DispatchError>((LimitedReads::new(stream), peer)))
        })
        .and_then(http)
    })?;
    Ok(builder.run())
}

/// A connection that reports "pending" after [`READ_BYTES_MAX`] bytes, and wakes its reader at once.
struct LimitedReads {
    /// Limited to the rest of the current read, since a read fills the whole buffer.
    stream: Take<TcpStream>,
}

impl LimitedReads {
    fn new(stream: TcpStream) -> Self {
        Self {
            stream: stream.take(READ_BYTES_MAX),
        }
    }
}

impl AsyncRead for LimitedReads {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let is_at_limit = self.stream.limit() == 0;
        let outcome = if is_at_limit {
            context.waker().wake_by_ref();
            Poll::Pending
        } else {
            Pin::new(&mut self.stream).poll_read(context, buffer)
        };
        if outcome.is_pending() {
            self.stream.set_limit(READ_BYTES_MAX);
        }
        outcome
    }
}

impl AsyncWrite for LimitedReads {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(self.stream.get_mut()).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(self.stream.get_mut()).poll_write_vectored(context, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.get_ref().is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(self.stream.get_mut()).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(self.stream.get_mut()).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::future::poll_fn;
    use std::io::Write;

    #[actix_web::test]
    async fn a_connection_is_read_to_its_end_in_limited_reads() {
        const BYTES: usize = 3 * READ_BYTES_MAX as usize + 1;
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut sender = std::net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let stream = listener.accept().unwrap().0;
        stream.set_nonblocking(true).unwrap();
        let mut connection = LimitedReads::new(TcpStream::from_std(stream).unwrap());
        let sent = std::thread::spawn(move || sender.write_all(&[7; BYTES]));
        let mut first = vec![0; READ_BYTES_MAX as usize];
        connection.read_exact(&mut first).await.unwrap();
        let next = poll_fn(|context| {
            let mut buffer = [0; 1];
            let mut buffer = ReadBuf::new(&mut buffer);
            Poll::Ready(Pin::new(&mut connection).poll_read(context, &mut buffer))
        });
        assert!(
            next.await.is_pending(),
            "the first read is parsed before the second"
        );
        let mut rest = Vec::new();
        connection.read_to_end(&mut rest).await.unwrap();
        sent.join().unwrap().unwrap();
        assert_eq!(first.len() + rest.len(), BYTES);
        assert!(rest.iter().all(|byte| *byte == 7));
    }
}
