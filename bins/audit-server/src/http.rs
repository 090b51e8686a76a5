//! The HTTP server: what actix-web's own makes, over connections that are read in portions.
//!
//! actix-http reads whatever a connection has before it looks at it, up to 128 KiB, into a buffer that grows to 256: with 512
//! connections that send large bodies, 133 MiB. What it has read it hands on at once, so less at a time costs nothing.

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

/// Bytes that are read from a connection before what was read is looked at.
const PORTION_BYTES: u64 = 16 * 1024;

/// How long the server waits for others.
pub(crate) struct Patience {
    /// An idle connection is kept.
    pub(crate) keep_alive: Duration,
    /// The head of a request may take to arrive.
    pub(crate) request_head: Duration,
    /// Requests that were accepted may take once the server is told to stop, in seconds.
    pub(crate) shutdown_seconds: u64,
}

/// A server of applications that `application` makes, one for each of the `workers`; as many as there are processors when not
/// given. It handles no signals.
pub(crate) fn start<A, I, S, B>(
    listener: TcpListener,
    workers: Option<usize>,
    patience: Patience,
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
        .shutdown_timeout(patience.shutdown_seconds)
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
            .keep_alive(KeepAlive::Timeout(patience.keep_alive))
            .client_request_timeout(patience.request_head)
            .client_disconnect_timeout(Duration::from_secs(1))
            .local_addr(address)
            .h1(map_config(application, |()| AppConfig::default()));
        fn_service(|stream: TcpStream| {
            let peer = stream.peer_addr().ok();
            ready(Ok::<_, DispatchError>((Portioned::new(stream), peer)))
        })
        .and_then(http)
    })?;
    Ok(builder.run())
}

/// A connection that says, after each portion that was read, that there is no more for now, and to ask again at once.
struct Portioned {
    /// Limited to what is left of the portion: a read fills whatever room it is given.
    stream: Take<TcpStream>,
}

impl Portioned {
    fn new(stream: TcpStream) -> Self {
        Self {
            stream: stream.take(PORTION_BYTES),
        }
    }
}

impl AsyncRead for Portioned {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let is_over = self.stream.limit() == 0;
        let outcome = if is_over {
            context.waker().wake_by_ref();
            Poll::Pending
        } else {
            Pin::new(&mut self.stream).poll_read(context, buffer)
        };
        if outcome.is_pending() {
            self.stream.set_limit(PORTION_BYTES);
        }
        outcome
    }
}

impl AsyncWrite for Portioned {
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
    async fn a_connection_is_read_in_portions_to_its_end() {
        const BYTES: usize = 3 * PORTION_BYTES as usize + 1;
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut sender = std::net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let stream = listener.accept().unwrap().0;
        stream.set_nonblocking(true).unwrap();
        let mut connection = Portioned::new(TcpStream::from_std(stream).unwrap());
        let sent = std::thread::spawn(move || sender.write_all(&[7; BYTES]));
        let mut portion = vec![0; PORTION_BYTES as usize];
        connection.read_exact(&mut portion).await.unwrap();
        let next = poll_fn(|context| {
            let mut room = [0; 1];
            let mut room = ReadBuf::new(&mut room);
            Poll::Ready(Pin::new(&mut connection).poll_read(context, &mut room))
        });
        assert!(
            next.await.is_pending(),
            "what was read is looked at before there is more"
        );
        let mut rest = Vec::new();
        connection.read_to_end(&mut rest).await.unwrap();
        sent.join().unwrap().unwrap();
        assert_eq!(portion.len() + rest.len(), BYTES);
        assert!(rest.iter().all(|byte| *byte == 7));
    }
}
