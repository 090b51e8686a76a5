//! The HTTP server: actix-web's own, but with connections that have limits of their own, and shares of addresses.

mod connection;
mod share;

pub(crate) use share::Connections;

use actix_http::error::DispatchError;
use actix_http::{HttpService, KeepAlive, Request, Response};
use actix_server::{Server, ServerBuilder};
use actix_service::{IntoServiceFactory, ServiceFactory, ServiceFactoryExt, fn_service, map_config};
use actix_web::Error;
use actix_web::body::MessageBody;
use actix_web::dev::{AppConfig, ServiceResponse};
use actix_web::rt::net::TcpStream;
use connection::Connection;
use std::future::ready;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::time::Duration;

/// Connections that one worker of actix takes before it stops accepting: more than [`Connections`] admits.
const WORKER_CONNECTIONS_MAX: usize = 64 * 1024;
/// After a response to a request whose body was not read, the rest is discarded for so long. A connection that were closed
/// at once would be reset, and the client could miss the response (RFC 9112, section 9.6).
const UNREAD_BODY_SECONDS_MAX: u64 = 3;

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
    connections: Connections,
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
        .max_concurrent_connections(WORKER_CONNECTIONS_MAX)
        .shutdown_timeout(timeouts.shutdown_seconds)
        .disable_signals();
    if let Some(workers) = workers {
        builder = builder.workers(workers);
    }
    let stopping = builder.graceful_shutdown_signal();
    let address = listener.local_addr()?;
    let builder = builder.listen("http", listener, move || {
        let (stopping, connections) = (stopping.clone(), connections.clone());
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
            .client_disconnect_timeout(Duration::from_secs(UNREAD_BODY_SECONDS_MAX))
            .local_addr(address)
            .on_connect_ext(|connection: &Connection<TcpStream>, data| {
                data.insert(connection.patience().clone());
            })
            .h1(map_config(application, |()| AppConfig::default()));
        fn_service(move |stream: TcpStream| ready(admit(stream, &connections))).and_then(http)
    })?;
    Ok(builder.run())
}

/// The connection, unless its address has its share: it is then closed.
fn admit(
    stream: TcpStream,
    connections: &Connections,
) -> Result<(Connection<TcpStream>, Option<SocketAddr>), DispatchError> {
    let peer = stream.peer_addr()?;
    let slot = connections.admit(peer.ip());
    let slot = slot.ok_or_else(|| io::Error::other("the address has its share of the connections"))?;
    Ok((Connection::new(stream, slot), Some(peer)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use actix_web::rt::net::TcpStream;
    use actix_web::{App, HttpResponse, web};
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    /// Sends a request on a new connection. Returns the connection if it gets a response.
    async fn request(address: SocketAddr) -> Option<TcpStream> {
        let mut stream = TcpStream::connect(address).await.unwrap();
        let mut beginning = [0; 12];
        // The connection may be closed before, during or after this.
        let sent = stream.write_all(b"GET / HTTP/1.1\r\nHost: test\r\n\r\n").await;
        let read = stream.read_exact(&mut beginning).await;
        (sent.is_ok() && read.is_ok() && &beginning == b"HTTP/1.1 200").then_some(stream)
    }

    #[actix_web::test]
    async fn a_connection_beyond_the_share_of_its_address_is_closed() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let address = listener.local_addr().unwrap();
        let timeouts = Timeouts {
            keep_alive: Duration::from_secs(60),
            request_head: Duration::from_secs(60),
            shutdown_seconds: 0,
        };
        let application = || App::new().default_service(web::to(HttpResponse::Ok));
        let connections = Connections::new(3, |_| false);
        let server = start(listener, Some(1), timeouts, connections, application).unwrap();
        let handle = server.handle();
        actix_web::rt::spawn(server);
        let first = request(address).await.expect("a connection of two");
        let second = request(address).await.expect("a connection of two");
        assert!(request(address).await.is_none(), "two thirds of three are taken");
        drop(first);
        // The server notices the end of the first one at some time.
        while request(address).await.is_none() {}
        drop(second);
        handle.stop(false).await;
    }
}
