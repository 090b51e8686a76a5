//! Scripted receivers, and configurations and batches to send to them.

use audit_destinations::{Attempt, Batch, BatchId, Config, DestinationSender, Encoded, Kind, Severity};
use audit_domain::Timestamp;
use audit_webhooks::{AddressPolicy, SenderOptions};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair};
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig, ServerConnection, StreamOwned};
use serde_json::{Value, json};
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::mpsc::{self, Receiver as Inbox};
use std::sync::{Arc, LazyLock};
use std::thread;
use std::time::Duration;

pub(crate) const NOW: Timestamp = Timestamp::from_seconds(1_768_473_000);
pub(crate) const SIGNING_SECRET: &str = "whsec_q6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6s=";

/// A timeout that does not expire even on a busy machine.
pub(crate) const LONG: Duration = Duration::from_secs(60);
/// A timeout that the attempt is expected to reach.
pub(crate) const SHORT: Duration = Duration::from_millis(400);

/// The certificate authority that the senders of these tests trust.
pub(crate) static TRUSTED: LazyLock<Authority> = LazyLock::new(|| Authority::new("the trusted one"));

pub(crate) struct Authority(CertifiedIssuer<'static, KeyPair>);

impl Authority {
    pub(crate) fn new(name: &str) -> Self {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.distinguished_name.push(DnType::CommonName, name);
        let key = KeyPair::generate().expect("a key");
        Self(CertifiedIssuer::self_signed(params, key).expect("an authority"))
    }

    pub(crate) fn pem(&self) -> String {
        self.0.pem()
    }

    /// A certificate for `name` and its key, in PEM.
    pub(crate) fn client(&self, name: &str) -> (String, String) {
        let key = KeyPair::generate().expect("a key");
        let params = CertificateParams::new([name.to_owned()]).expect("a name");
        let certificate = params.signed_by(&key, &self.0).expect("a certificate");
        (certificate.pem(), key.serialize_pem())
    }

    /// A server with a certificate for 127.0.0.1, which demands clients' certificates of `clients`.
    pub(crate) fn server(&self, clients: Option<&Self>) -> Arc<ServerConfig> {
        let key = KeyPair::generate().expect("a key");
        let params = CertificateParams::new(["127.0.0.1".to_owned()]).expect("a name");
        let certificate = params.signed_by(&key, &self.0).expect("a certificate");
        let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(key.serialize_der()));
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder = ServerConfig::builder_with_provider(Arc::clone(&provider))
            .with_safe_default_protocol_versions()
            .expect("versions");
        let builder = match clients {
            None => builder.with_no_client_auth(),
            Some(authority) => {
                let mut roots = RootCertStore::empty();
                roots.add(authority.0.der().clone()).expect("a root");
                let verifier = WebPkiClientVerifier::builder_with_provider(roots.into(), provider).build();
                builder.with_client_cert_verifier(verifier.expect("a verifier"))
            }
        };
        let config = builder.with_single_cert(vec![certificate.der().clone()], key);
        Arc::new(config.expect("a certificate with its key"))
    }
}

pub(crate) type Stream = StreamOwned<ServerConnection, TcpStream>;

/// A received request.
pub(crate) struct Received {
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

impl Received {
    /// The value of a header.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let lines = self.head.lines().filter_map(|line| line.split_once(": "));
        let mut values = lines.filter(|(other, _)| other.eq_ignore_ascii_case(name));
        values.next().map(|(_, value)| value)
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).expect("a body of JSON")
    }
}

/// Accepts one connection after the other until the tests end.
pub(crate) struct Receiver {
    pub(crate) address: SocketAddr,
    accepted: Inbox<SocketAddr>,
    requests: Inbox<Received>,
}

impl Receiver {
    /// Reads each request over TLS and calls `respond`. When that returns, the connection ends.
    pub(crate) fn start(respond: impl Fn(&mut Stream) -> io::Result<()> + Send + 'static) -> Self {
        let tls = TRUSTED.server(None);
        let (sender, requests) = mpsc::channel();
        Self::listen(requests, move |tcp| {
            let mut stream = accept(&tls, tcp);
            sender
                .send(read_request(&mut stream)?)
                .map_err(io::Error::other)?;
            respond(&mut stream)
        })
    }

    /// Responds with a status, headers and a body.
    pub(crate) fn responding(status: u16, headers: &str, body: &str) -> Self {
        let length = body.len();
        let text = format!("HTTP/1.1 {status} Whatever\r\n{headers}Content-Length: {length}\r\n\r\n{body}");
        Self::start(move |stream| close_after(stream, text.as_bytes()))
    }

    /// The same without TLS.
    pub(crate) fn responding_plain(status: u16) -> Self {
        let text = format!("HTTP/1.1 {status} Whatever\r\nContent-Length: 0\r\n\r\n");
        let (sender, requests) = mpsc::channel();
        Self::listen(requests, move |mut tcp| {
            sender.send(read_request(&mut tcp)?).map_err(io::Error::other)?;
            tcp.write_all(text.as_bytes())
        })
    }

    /// Calls `serve` with each connection.
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

    pub(crate) fn request(&self) -> Received {
        self.requests.recv_timeout(LONG).expect("a request")
    }

    /// Asserts that nothing has connected: connections are accepted in the order in which they were made, so the next one
    /// accepted is the one made here.
    pub(crate) fn assert_untouched(&self) {
        let ours = TcpStream::connect(self.address).expect("a connection");
        let next = self.accepted.recv_timeout(LONG).expect("a connection");
        assert_eq!(next, ours.local_addr().expect("an address"));
    }
}

pub(crate) fn accept(tls: &Arc<ServerConfig>, tcp: TcpStream) -> Stream {
    let connection = ServerConnection::new(Arc::clone(tls)).expect("a configuration that works");
    StreamOwned::new(connection, tcp)
}

/// Writes `text` and closes the TLS connection.
pub(crate) fn close_after(stream: &mut Stream, text: &[u8]) -> io::Result<()> {
    stream.write_all(text)?;
    stream.conn.send_close_notify();
    stream.flush()
}

fn read_request(stream: &mut impl Read) -> io::Result<Received> {
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
    let mut received = Received {
        head,
        body: Vec::new(),
    };
    let length = received
        .header("content-length")
        .and_then(|length| length.parse().ok());
    received.body = vec![0; length.unwrap_or(0)];
    stream.read_exact(&mut received.body)?;
    Ok(received)
}

/// Options that reach and trust the receivers of these tests.
pub(crate) fn options(policy: AddressPolicy, timeout: Duration) -> SenderOptions {
    SenderOptions {
        policy,
        extra_ca: Some(TRUSTED.pem().into_bytes()),
        timeout,
        user_agent: "audit-server/0.0.0 (test)".into(),
    }
}

/// The configuration of each kind for a receiver at `address`.
pub(crate) fn config(kind: Kind, address: SocketAddr) -> Config {
    let (settings, credentials) = match kind {
        Kind::Https => (
            json!({"url": format!("https://{address}/in?a=b"), "headers": {"x-open": "1"}}),
            json!({"signing_secret": SIGNING_SECRET, "headers": {"authorization": "Bearer hidden-token"}}),
        ),
        Kind::S3 => (
            json!({"url": format!("https://{address}/bucket/prefix"), "region": "eu-central-1"}),
            json!({"access_key": "AKID", "secret_key": "hidden-token"}),
        ),
        Kind::SplunkHec => (
            json!({"url": format!("https://{address}"), "index": "main", "source": "audit"}),
            json!({"token": "hidden-token"}),
        ),
        Kind::Datadog => (
            json!({"url": format!("https://{address}"), "tags": "team:a"}),
            json!({"api_key": "hidden-token"}),
        ),
        Kind::Otlp => (
            json!({"url": format!("https://{address}"), "headers": {"x-open": "1"}}),
            json!({"headers": {"api-key": "hidden-token"}}),
        ),
        Kind::Syslog => (json!({"host": "127.0.0.1", "port": address.port()}), Value::Null),
    };
    of(kind, &settings, &credentials)
}

pub(crate) fn of(kind: Kind, settings: &Value, credentials: &Value) -> Config {
    Config::parse(kind, settings, credentials, AddressPolicy::AllowPrivate).expect("a configuration")
}

/// Events at the positions from 12 on.
pub(crate) fn batch(records: u64) -> Batch {
    let record = |position: u64| Encoded {
        text: json!({"id": format!("evt_{position}"), "text": "a \"quoted\" é"}).to_string(),
        time: Timestamp::from_micros(NOW.as_micros() - 1_500_000),
        id: format!("evt_{position}"),
        severity: if position.is_multiple_of(2) {
            Severity::Informational
        } else {
            Severity::Warning
        },
    };
    Batch {
        id: BatchId {
            destination: "dst_01".into(),
            run: 0,
            first_position: 12,
            records,
            first_seq: 100,
            end_seq: 200,
            at: NOW,
        },
        records: (12..12 + records).map(record).collect(),
    }
}

pub(crate) fn send_within(config: &Config, batch: &Batch, timeout: Duration) -> Attempt {
    let options = options(AddressPolicy::AllowPrivate, timeout);
    let sender = DestinationSender::new(&options).expect("options that work");
    sender.send(config, batch, NOW).expect("a permit for the lookup")
}

pub(crate) fn send(config: &Config, batch: &Batch) -> Attempt {
    send_within(config, batch, LONG)
}
