//! A scripted receiver, and functions that send to it.

use audit_domain::Timestamp;
use audit_webhooks::{
    AddressPolicy, MessageId, Outcome, OutgoingRequest, Sender, SenderOptions, SignatureHeaders,
    WebhookSecret, WebhookUrl,
};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair};
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::mpsc::{self, Receiver as Inbox};
use std::sync::{Arc, LazyLock};
use std::thread;
use std::time::Duration;

pub(crate) const BODY: &[u8] = br#"{"type":"alert.fired","data":{}}"#;
pub(crate) const SECRET: WebhookSecret = WebhookSecret::from_bytes([7; 32]);
pub(crate) const NOW: Timestamp = Timestamp::from_seconds(1_768_473_000);
pub(crate) static MESSAGE: LazyLock<MessageId> = LazyLock::new(|| MessageId::new(NOW, [9; 10]));
pub(crate) const USER_AGENT: &str = "audit-server/0.0.0 (test)";

/// A timeout that does not expire even on a busy machine.
pub(crate) const LONG: Duration = Duration::from_secs(60);
/// A timeout that the attempt is expected to reach.
pub(crate) const SHORT: Duration = Duration::from_millis(400);

/// The certificate authority that the senders of these tests trust.
pub(crate) static TRUSTED: LazyLock<Authority> = LazyLock::new(Authority::new);

pub(crate) struct Authority(CertifiedIssuer<'static, KeyPair>);

impl Authority {
    pub(crate) fn new() -> Self {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params
            .distinguished_name
            .push(DnType::CommonName, "authority of a test");
        let key = KeyPair::generate().expect("a key");
        Self(CertifiedIssuer::self_signed(params, key).expect("an authority"))
    }

    pub(crate) fn pem(&self) -> String {
        self.0.pem()
    }

    /// A server with a valid certificate for `name`.
    pub(crate) fn server(&self, name: &str) -> Arc<ServerConfig> {
        self.server_with(&CertificateParams::new([name.to_owned()]).expect("a name"))
    }

    pub(crate) fn server_with(&self, params: &CertificateParams) -> Arc<ServerConfig> {
        let key = KeyPair::generate().expect("a key");
        let certificate = params.signed_by(&key, &self.0).expect("a certificate");
        let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(key.serialize_der()));
        let config = ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
            .with_safe_default_protocol_versions()
            .expect("versions")
            .with_no_client_auth()
            .with_single_cert(vec![certificate.der().clone()], key)
            .expect("a certificate with its key");
        Arc::new(config)
    }
}

pub(crate) type Stream = StreamOwned<ServerConnection, TcpStream>;

/// A received request.
pub(crate) struct Received {
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

/// Accepts one connection after the other until the tests end.
pub(crate) struct Receiver {
    pub(crate) address: SocketAddr,
    accepted: Inbox<SocketAddr>,
    requests: Inbox<Received>,
}

impl Receiver {
    /// Reads each request and calls `answer`. When that returns, the connection ends without a TLS close.
    pub(crate) fn start(response: impl Fn(&mut Stream) -> io::Result<()> + Send + 'static) -> Self {
        Self::with_tls(TRUSTED.server("127.0.0.1"), response)
    }

    pub(crate) fn with_tls(
        tls: Arc<ServerConfig>,
        response: impl Fn(&mut Stream) -> io::Result<()> + Send + 'static,
    ) -> Self {
        let (request_sender, requests) = mpsc::channel();
        let serve = move |tcp| {
            let connection = ServerConnection::new(Arc::clone(&tls)).expect("a configuration that works");
            let mut stream = StreamOwned::new(connection, tcp);
            request_sender
                .send(read_request(&mut stream)?)
                .map_err(io::Error::other)?;
            response(&mut stream)
        };
        Self::listen(requests, serve)
    }

    /// Calls `serve` with each TCP connection, without TLS.
    pub(crate) fn raw(serve: impl Fn(TcpStream) -> io::Result<()> + Send + 'static) -> Self {
        Self::listen(mpsc::channel().1, serve)
    }

    fn listen(
        requests: Inbox<Received>,
        serve: impl Fn(TcpStream) -> io::Result<()> + Send + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address");
        let (accepted_sender, accepted) = mpsc::channel();
        thread::spawn(move || {
            while let Ok((tcp, peer)) = listener.accept() {
                if accepted_sender.send(peer).is_err() {
                    return;
                }
                // The sender may close the connection at any time, so an error is an expected end.
                drop(serve(tcp));
            }
        });
        Self {
            address,
            accepted,
            requests,
        }
    }

    pub(crate) fn url(&self) -> WebhookUrl {
        allowing_private(&format!("https://{}/hook?a=b", self.address))
    }

    pub(crate) fn request(&self) -> Received {
        self.requests.recv_timeout(LONG).expect("a request")
    }

    /// The peer of the next connection.
    pub(crate) fn next_peer(&self) -> SocketAddr {
        self.accepted.recv_timeout(LONG).expect("a connection")
    }

    /// Asserts that nothing has connected: connections are accepted in the order in which they were made, so the next one
    /// accepted is the one made here.
    pub(crate) fn assert_untouched(&self) {
        let ours = TcpStream::connect(self.address).expect("a connection");
        assert_eq!(self.next_peer(), ours.local_addr().expect("an address"));
    }
}

/// Responds with `text` and closes the TLS connection.
pub(crate) fn response(text: impl Into<Vec<u8>>) -> impl Fn(&mut Stream) -> io::Result<()> + Send + 'static {
    let text = text.into();
    move |stream| {
        stream.write_all(&text)?;
        stream.conn.send_close_notify();
        stream.flush()
    }
}

/// Waits until the sender closes the connection.
pub(crate) fn wait_for_end(mut stream: impl Read) -> io::Result<()> {
    io::copy(&mut stream, &mut io::sink()).map(|_| ())
}

pub(crate) fn allowing_private(url: &str) -> WebhookUrl {
    WebhookUrl::parse(url, AddressPolicy::AllowPrivate).expect("a URL")
}

/// Options that reach and trust the receivers of these tests.
pub(crate) fn options(timeout: Duration) -> SenderOptions {
    SenderOptions {
        policy: AddressPolicy::AllowPrivate,
        extra_ca: Some(TRUSTED.pem().into_bytes()),
        timeout,
        user_agent: USER_AGENT.into(),
    }
}

pub(crate) fn send(sender: &Sender, url: &WebhookUrl) -> Outcome {
    send_body(sender, url, BODY)
}

pub(crate) fn send_body(sender: &Sender, url: &WebhookUrl, body: &[u8]) -> Outcome {
    let signature = SignatureHeaders::sign(*MESSAGE, NOW, body, &SECRET, &[]);
    let outcome = sender.send(&OutgoingRequest {
        url,
        signature: &signature,
        body,
    });
    outcome.expect("a permit for the lookup")
}

/// Sends once to `receiver`, with a timeout that does not expire.
pub(crate) fn deliver(receiver: &Receiver) -> Outcome {
    deliver_within(receiver, LONG)
}

pub(crate) fn deliver_within(receiver: &Receiver, timeout: Duration) -> Outcome {
    let sender = Sender::new(&options(timeout)).expect("options that work");
    send(&sender, &receiver.url())
}

fn read_request(stream: &mut Stream) -> io::Result<Received> {
    let mut read = Vec::new();
    let head_end = loop {
        if let Some(at) = read.windows(4).position(|window| window == b"\r\n\r\n") {
            break at + 4;
        }
        let mut byte = [0];
        stream.read_exact(&mut byte)?;
        read.push(byte[0]);
    };
    let head = String::from_utf8(read[..head_end].to_vec()).map_err(io::Error::other)?;
    let length = head
        .lines()
        .find_map(|line| {
            line.to_ascii_lowercase()
                .strip_prefix("content-length: ")?
                .parse()
                .ok()
        })
        .unwrap_or(0);
    let mut body = vec![0; length];
    stream.read_exact(&mut body)?;
    Ok(Received { head, body })
}
