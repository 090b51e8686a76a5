//! The HTTP server: actix-web's own, but with connections that have limits of their own, shares of addresses, and TLS.

mod connection;
mod handshake;
mod share;
mod transport;

pub use share::Connections;

use crate::listener::Listener;
use crate::tls::Tls;
use actix_http::error::DispatchError;
use actix_http::{HttpService, KeepAlive, Request, Response};
use actix_server::{GracefulShutdownSignal, Server, ServerBuilder};
use actix_service::{IntoServiceFactory, ServiceFactory, ServiceFactoryExt, fn_service, map_config};
use actix_web::Error;
use actix_web::body::MessageBody;
use actix_web::dev::{AppConfig, ServiceResponse};
use actix_web::rt::net::{TcpStream, UnixStream};
use actix_web::rt::time::timeout;
use connection::Connection;
use handshake::handshake;
use share::Slot;
use std::future::ready;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;
use transport::Transport;

/// Connections that one worker of actix takes before it stops accepting: more than [`Connections`] admits.
const WORKER_CONNECTIONS_MAX: usize = 64 * 1024;
/// After a response to a request whose body was not read, the rest is discarded for so long. A connection that were closed
/// at once would be reset, and the client could miss the response (RFC 9112, section 9.6).
const UNREAD_BODY_SECONDS_MAX: u64 = 3;

/// Timeouts of the server.
#[derive(Clone, Copy)]
pub struct Timeouts {
    /// Of an idle connection.
    pub keep_alive: Duration,
    /// Of the head of a request.
    pub request_head: Duration,
    /// Of a TLS handshake.
    pub handshake: Duration,
    /// Of accepted requests after a shutdown signal, in seconds.
    pub shutdown_seconds: u64,
}

/// A socket, and what is served on it.
pub struct Service<A> {
    /// The bound socket.
    pub listener: Listener,
    /// Encrypts the connections of a TCP listener.
    pub encryption: Option<Encryption>,
    /// The connections that are open, with the share of each address.
    pub connections: Connections,
    /// Makes the application of a worker.
    pub application: A,
}

/// How connections are encrypted.
#[derive(Clone)]
pub struct Encryption {
    /// The certificate, and what metrics say of it.
    pub tls: Tls,
    /// The connections whose handshake is not complete, each of which may hold a message of 64 KiB.
    pub handshakes: Connections,
}

/// Starts a server with one application for each service and worker, by default one worker per processor. It handles no
/// signals.
///
/// # Errors
/// When a socket cannot be used.
pub fn start<A, I, S, B>(
    services: Vec<Service<A>>,
    workers: Option<usize>,
    timeouts: Timeouts,
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
    for service in services {
        builder = listen(builder, service, timeouts)?;
    }
    Ok(builder.run())
}

/// Adds a service to a server.
fn listen<A, I, S, B>(
    builder: ServerBuilder,
    service: Service<A>,
    timeouts: Timeouts,
) -> io::Result<ServerBuilder>
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
    let Service {
        listener,
        encryption,
        connections,
        application,
    } = service;
    let stopping = builder.graceful_shutdown_signal();
    let address = match &listener {
        Listener::Tcp(listener) => Some(listener.local_addr()?),
        Listener::Unix(_) => None,
    };
    let signal = stopping.clone();
    let http = move || {
        let signal = signal.clone();
        let application = application()
            .into_factory()
            .map_err(|error| Response::from(error.error_response()));
        let http = HttpService::build()
            .graceful_shutdown_signal(move || {
                let signal = signal.clone();
                async move { signal.notified().await }
            })
            .keep_alive(KeepAlive::Timeout(timeouts.keep_alive))
            .client_request_timeout(timeouts.request_head)
            .client_disconnect_timeout(Duration::from_secs(UNREAD_BODY_SECONDS_MAX))
            .on_connect_ext(|transport: &Transport, data| {
                data.insert(transport.patience().clone());
            });
        let http = match address {
            Some(address) => http.local_addr(address),
            None => http,
        };
        http.h1(map_config(application, |()| AppConfig::default()))
    };
    match listener {
        Listener::Tcp(listener) => builder.listen("http", listener, move || {
            let (connections, encryption, stopping) =
                (connections.clone(), encryption.clone(), stopping.clone());
            let open = move |stream: TcpStream| {
                let (connections, encryption, stopping) =
                    (connections.clone(), encryption.clone(), stopping.clone());
                async move {
                    let peer = stream.peer_addr()?;
                    let slot = admit(&connections, Some(peer.ip()))?;
                    let transport = match encryption {
                        None => Transport::Tcp(Connection::new(stream, slot)),
                        Some(encryption) => {
                            encrypted(stream, slot, &encryption, timeouts.handshake, &stopping).await?
                        }
                    };
                    Ok((transport, Some(peer)))
                }
            };
            fn_service(open).and_then(http())
        }),
        Listener::Unix(listener) => builder.listen_uds("unix", listener, move || {
            let connections = connections.clone();
            let open = move |stream: UnixStream| {
                let slot = admit(&connections, None);
                let transport = slot.map(|slot| Transport::Unix(Connection::new(stream, slot)));
                ready(transport.map(|transport| (transport, None::<SocketAddr>)))
            };
            fn_service(open).and_then(http())
        }),
    }
}

/// A slot for the connection of an address, unless the address has its share: the connection is then closed.
fn admit(connections: &Connections, address: Option<IpAddr>) -> Result<Slot, DispatchError> {
    let slot = connections.admit(address);
    Ok(slot.ok_or_else(|| io::Error::other("the address has its share of the connections"))?)
}

/// The connection after its handshake, which must be complete within a time and before the server stops.
async fn encrypted(
    stream: TcpStream,
    slot: Slot,
    encryption: &Encryption,
    time: Duration,
    stopping: &GracefulShutdownSignal,
) -> Result<Transport, DispatchError> {
    let Encryption { tls, handshakes } = encryption;
    let peer = stream.peer_addr()?;
    let _handshake = admit(handshakes, Some(peer.ip()))?;
    let handshake = timeout(time, handshake(stream, slot, &tls.config));
    let outcome = tokio::select! {
        outcome = handshake => outcome.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into())),
        () = stopping.notified() => Err(io::Error::other("the server stops")),
    };
    match outcome {
        Ok(stream) => Ok(Transport::Tls(stream)),
        Err(error) => {
            tls.status.handshake_failed();
            log::debug!("the TLS handshake with {peer} failed: {error}");
            Err(error.into())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use actix_web::rt::net::TcpStream;
    use actix_web::{App, HttpResponse, web};
    use std::net::TcpListener;
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

    fn listen() -> (Listener, SocketAddr) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let address = listener.local_addr().unwrap();
        (Listener::Tcp(listener), address)
    }

    /// Serves up to three connections.
    fn serve(listener: Listener, encryption: Option<Encryption>) -> Server {
        let timeouts = Timeouts {
            keep_alive: Duration::from_secs(60),
            request_head: Duration::from_secs(60),
            handshake: Duration::from_secs(60),
            shutdown_seconds: 0,
        };
        let service = Service {
            listener,
            encryption,
            connections: Connections::new(3, |_| false),
            application: || App::new().default_service(web::to(HttpResponse::Ok)),
        };
        start(vec![service], Some(1), timeouts).unwrap()
    }

    #[actix_web::test]
    async fn a_connection_beyond_the_share_of_its_address_is_closed() {
        let (listener, address) = listen();
        let server = serve(listener, None);
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

    /// Whether the server closes a new connection that sends nothing, before another one that it has.
    async fn is_closed(address: SocketAddr, other: &mut TcpStream) -> bool {
        let mut stream = TcpStream::connect(address).await.unwrap();
        let (mut first, mut second) = ([0], [0]);
        tokio::select! {
            read = stream.read(&mut first) => read.map_or(true, |bytes| bytes == 0),
            _ = other.read(&mut second) => false,
        }
    }

    /// TLS with a certificate of its own, with room for so many handshakes.
    fn encryption(handshakes: usize) -> (Encryption, crate::tls::Watching) {
        let (tls, watching, _) = crate::tls::open_new();
        let handshakes = Connections::new(handshakes, |_| false);
        (Encryption { tls, handshakes }, watching)
    }

    #[actix_web::test]
    async fn a_connection_counts_before_its_handshake_is_complete() {
        let (listener, address) = listen();
        let (encryption, _watching) = encryption(100);
        let server = serve(listener, Some(encryption));
        let handle = server.handle();
        actix_web::rt::spawn(server);
        let mut silent = TcpStream::connect(address).await.unwrap();
        let second = TcpStream::connect(address).await.unwrap();
        assert!(
            is_closed(address, &mut silent).await,
            "two thirds of three are taken"
        );
        // The end of one that never spoke frees its slot.
        drop(second);
        let refused = loop {
            let mut stream = TcpStream::connect(address).await.unwrap();
            let sent = stream.write_all(b"GET / HTTP/1.1\r\n\r\n").await;
            let mut response = Vec::new();
            let read = stream.read_to_end(&mut response).await;
            if sent.is_ok() && read.is_ok() && response.starts_with(b"HTTP/1.1 400") {
                break stream;
            }
        };
        // It counts until the client closes it, too.
        assert!(is_closed(address, &mut silent).await);
        drop(refused);
        handle.stop(false).await;
    }
    #[actix_web::test]
    async fn handshakes_have_a_share_of_their_own() {
        let (listener, address) = listen();
        // Of two, one address gets one.
        let (encryption, _watching) = encryption(2);
        let server = serve(listener, Some(encryption));
        let handle = server.handle();
        actix_web::rt::spawn(server);
        let mut silent = TcpStream::connect(address).await.unwrap();
        assert!(is_closed(address, &mut silent).await);
        handle.stop(false).await;
    }
}
