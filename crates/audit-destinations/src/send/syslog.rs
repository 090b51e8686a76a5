//! Syslog over TLS: messages of RFC 5424 in the framing of RFC 5425.
//!
//! Syslog has no receipts. A batch counts as delivered when all of it was written, the receiver has kept the connection open for some round
//! trips, and has not broken it until it closed it, or for a second. What a receiver loses after that is lost; after a broken
//! connection the whole batch is sent again, so that records may repeat. Positions in each message show both.

use super::{Attempt, Batch, DestinationSender, Verdict, failed, failure, text, tls_error};
use crate::config::{Described, Syslog};
use crate::{Encoded, Kind, Severity};
use audit_webhooks::{TooManyLookups, VettingResolver, only_roots};
use rustls::pki_types::ServerName;
use rustls::sign::SingleCertAndKey;
use rustls::{AlertDescription, ClientConfig, ClientConnection, StreamOwned};
use serde_json::{Map, Value};
use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::{Duration, Instant};
use ureq::Error;

/// How long the receiver must keep the connection open after the last message, in times of the handshake and at least. A receiver that refuses
/// the client after the handshake, as rsyslog does, or that stops, closes it within a round trip, and has read nothing.
const OPEN_HANDSHAKES: u32 = 4;
const OPEN_MIN: Duration = Duration::from_millis(100);
/// How long the receiver may take to close the connection after the last message.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(1);
/// The private enterprise number of documentation (RFC 5612), in the name of the structured data.
const ENTERPRISE_NUMBER: u32 = 32_473;
/// More than the header of a message has, apart from the record.
const HEADER_BYTES_MAX: usize = 256;
/// Members that a record keeps when it is cut, in OCSF those of [`UNMAPPED`]: they identify it, or are worthless in part.
const KEPT: [&str; 8] = [
    "id",
    "content_hash",
    "stream",
    "type",
    "note",
    "through_position",
    "through_seq",
    "truncated",
];
/// The member of a record in OCSF that has the place in the stream and what proves it.
const UNMAPPED: &str = "unmapped";
/// What a record in OCSF keeps itself: `metadata` has the id of the event.
const KEPT_IN_OCSF: [&str; 3] = [UNMAPPED, "metadata", "truncated"];

/// Makes one attempt over a connection of its own.
pub(super) fn send(
    sender: &DestinationSender,
    resolver: &VettingResolver,
    target: &Syslog,
    batch: &Batch,
) -> Result<Attempt, TooManyLookups> {
    let payload = payload(target, batch);
    let origin = format!("syslog+tls://{}:{}", target.host(), target.port);
    let request = text::request("SEND", &origin, batch.records.len(), payload.len());
    match exchange(sender, resolver, target, payload.as_bytes()) {
        Ok(()) => Ok(Attempt {
            verdict: Verdict::Delivered,
            status: None,
            request,
            response: String::new(),
        }),
        Err(Error::Other(cause)) if cause.is::<TooManyLookups>() => Err(TooManyLookups),
        Err(error) if refuses_certificate(&error) => Ok(Attempt {
            verdict: Verdict::Credentials,
            status: None,
            request,
            response: failure(&error),
        }),
        Err(error) => Ok(failed(request, &error)),
    }
}

/// The messages of a batch, each after its length in bytes and a space (RFC 5425 section 4.3).
pub(super) fn payload(target: &Syslog, batch: &Batch) -> String {
    let mut payload = String::new();
    for (position, record) in batch.positioned() {
        let message = message(target, batch, position, record);
        payload.push_str(&format!("{} {message}", message.len()));
    }
    payload
}

/// One message (RFC 5424 section 6). There is no host name: the service is not one host. The record is without a byte order mark,
/// which would hide its JSON from receivers.
fn message(target: &Syslog, batch: &Batch, position: u64, record: &Encoded) -> String {
    let severity = match record.severity {
        Severity::Informational => 6,
        Severity::Warning => 4,
    };
    let header = format!(
        "<{}>1 {} - {} - - [stream@{ENTERPRISE_NUMBER} destination=\"{}\" run=\"{}\" position=\"{position}\"] ",
        u32::from(target.facility) * 8 + severity,
        record.time,
        target.app_name,
        batch.id.destination,
        batch.id.run,
    );
    let bytes_max = Kind::Syslog.limits().record_bytes_max - HEADER_BYTES_MAX;
    header + &cut(&record.text, bytes_max)
}

/// The record in at most `bytes_max` bytes. A JSON object loses its longest members, whose names are then in `truncated`
/// (`unmapped.changes`); those of [`KEPT`] stay, even if the result is longer. CEF loses its end.
fn cut(record: &str, bytes_max: usize) -> String {
    if record.len() <= bytes_max {
        return record.to_owned();
    }
    match serde_json::from_str(record) {
        Ok(Value::Object(members)) => without_longest(members, bytes_max),
        _ => without_end(record, bytes_max),
    }
}

fn without_longest(mut members: Map<String, Value>, bytes_max: usize) -> String {
    let unmapped = members.get(UNMAPPED).and_then(Value::as_object);
    let kept = unmapped.map_or(&KEPT[..], |_| &KEPT_IN_OCSF);
    let mut by_length = lengths(&members, kept, "");
    by_length.extend(
        unmapped
            .into_iter()
            .flat_map(|unmapped| lengths(unmapped, &KEPT, "unmapped.")),
    );
    by_length.sort();
    let mut removed = Vec::new();
    loop {
        let text = Value::Object(members.clone()).to_string();
        let Some((_, name)) = by_length.pop().filter(|_| text.len() > bytes_max) else {
            return text;
        };
        match (name.strip_prefix("unmapped."), members.get_mut(UNMAPPED)) {
            (Some(name), Some(Value::Object(unmapped))) => unmapped.remove(name),
            _ => members.remove(&name),
        };
        removed.push(name);
        members.insert("truncated".into(), removed.clone().into());
    }
}

/// The members that may be removed, the last one first once they are sorted. The salt goes before all others: with it, verifiers
/// would take the members that stay for the whole event, and the event for changed.
fn lengths(members: &Map<String, Value>, kept: &[&str], prefix: &str) -> Vec<(usize, String)> {
    let removable = members.iter().filter(|(name, _)| !kept.contains(&name.as_str()));
    let length = |name: &str, value: &Value| match name {
        "content_salt" => usize::MAX,
        _ => value.to_string().len(),
    };
    removable
        .map(|(name, value)| (length(name, value), format!("{prefix}{name}")))
        .collect()
}

/// A CEF record up to the end of a word, so that no escape sequence is cut.
fn without_end(record: &str, bytes_max: usize) -> String {
    const MARK: &str = " truncated=true";
    let mut end = bytes_max - MARK.len();
    while !record.is_char_boundary(end) {
        end -= 1;
    }
    let end = record[..end].rfind(' ').unwrap_or(end);
    format!("{}{MARK}", &record[..end])
}

/// Connects, writes everything, and waits until the receiver has closed the connection.
fn exchange(
    sender: &DestinationSender,
    resolver: &VettingResolver,
    target: &Syslog,
    payload: &[u8],
) -> Result<(), Error> {
    let until = Instant::now() + sender.timeout;
    let config = client_config(sender, target)?;
    let addresses = resolver.addresses(target.host(), target.port, sender.timeout)?;
    let connection = ClientConnection::new(Arc::new(config), server_name(target)?).map_err(Error::Rustls)?;
    let tcp = connect(&addresses, until)?;
    let mut stream = StreamOwned::new(connection, Timed { tcp, until });
    let begun = Instant::now();
    let written = stream.conn.complete_io(&mut stream.sock);
    let open_for = OPEN_MIN.max(begun.elapsed() * OPEN_HANDSHAKES);
    if let Err(error) = written.and_then(|_| write(&mut stream, payload, open_for)) {
        // With TLS 1.3, a receiver refuses a client certificate after the handshake. Its alert says more than the broken
        // connection.
        return Err(Error::Io(
            wait_for_close(&mut stream).err().filter(is_tls).unwrap_or(error),
        ));
    }
    wait_for_close(&mut stream).map_err(Error::Io)
}

fn write(
    stream: &mut StreamOwned<ClientConnection, Timed>,
    payload: &[u8],
    open_for: Duration,
) -> io::Result<()> {
    stream.write_all(payload)?;
    stream.flush()?;
    require_open(stream, open_for)?;
    stream.conn.send_close_notify();
    stream.flush()?;
    stream.sock.tcp.shutdown(Shutdown::Write)
}

/// An error if the receiver closes the connection within this time. It is not the one to close it.
fn require_open(stream: &mut StreamOwned<ClientConnection, Timed>, open_for: Duration) -> io::Result<()> {
    let until = stream.sock.until;
    stream.sock.until = until.min(Instant::now() + open_for);
    let read = stream.read(&mut [0]);
    stream.sock.until = until;
    match read {
        Ok(0) => Err(io::ErrorKind::ConnectionReset.into()),
        Ok(_) => Ok(()),
        Err(error) => match error.kind() {
            io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock => Ok(()),
            io::ErrorKind::UnexpectedEof => Err(io::ErrorKind::ConnectionReset.into()),
            _ => Err(error),
        },
    }
}

/// Reads until the end. A broken connection and an alert are errors; an end without `close_notify`, and none within the time, are
/// not.
fn wait_for_close(stream: &mut StreamOwned<ClientConnection, Timed>) -> io::Result<()> {
    stream.sock.until = stream.sock.until.min(Instant::now() + CLOSE_TIMEOUT);
    match io::copy(stream, &mut io::sink()) {
        Ok(_) => Ok(()),
        Err(error) => match error.kind() {
            io::ErrorKind::UnexpectedEof | io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock => Ok(()),
            _ => Err(error),
        },
    }
}

fn client_config(sender: &DestinationSender, target: &Syslog) -> Result<ClientConfig, Error> {
    let roots = match &target.ca {
        Some(pem) => Arc::new(only_roots(pem.as_bytes()).map_err(|error| Error::Other(Box::new(error)))?),
        None => Arc::clone(&sender.roots),
    };
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(Error::Rustls)?
        .with_root_certificates(roots);
    let Some(client) = &target.client else {
        return Ok(builder.with_no_client_auth());
    };
    let key = client
        .certified_key()
        .map_err(|(field, message)| Error::Other(format!("{field} {message}").into()))?;
    Ok(builder.with_client_cert_resolver(Arc::new(SingleCertAndKey::from(key))))
}

/// The name in the receiver's certificate.
fn server_name(target: &Syslog) -> Result<ServerName<'static>, Error> {
    let host = target.host().trim_start_matches('[').trim_end_matches([']', '.']);
    ServerName::try_from(host.to_owned()).map_err(|_| Error::HostNotFound)
}

fn connect(addresses: &[SocketAddr], until: Instant) -> Result<TcpStream, Error> {
    let mut last = Error::ConnectionFailed;
    for address in addresses {
        match TcpStream::connect_timeout(address, left(until).map_err(Error::Io)?) {
            Ok(tcp) => {
                // A small record would otherwise wait for the receipt of the handshake.
                tcp.set_nodelay(true).map_err(Error::Io)?;
                return Ok(tcp);
            }
            Err(error) => last = Error::Io(error),
        }
    }
    Err(last)
}

/// Whether the receiver refuses the client's certificate, or that there is none.
fn refuses_certificate(error: &Error) -> bool {
    use AlertDescription as Alert;
    matches!(
        tls_error(error),
        Some(rustls::Error::AlertReceived(
            Alert::NoCertificate
                | Alert::BadCertificate
                | Alert::UnsupportedCertificate
                | Alert::CertificateRevoked
                | Alert::CertificateExpired
                | Alert::CertificateUnknown
                | Alert::CertificateRequired
                | Alert::UnknownCA
                | Alert::AccessDenied
        ))
    )
}

fn is_tls(error: &io::Error) -> bool {
    error.get_ref().is_some_and(|cause| cause.is::<rustls::Error>())
}

/// A connection that ends at a time, however slowly the peer reads or writes.
struct Timed {
    tcp: TcpStream,
    until: Instant,
}

/// The time that is left.
fn left(until: Instant) -> io::Result<Duration> {
    match until.saturating_duration_since(Instant::now()) {
        Duration::ZERO => Err(io::ErrorKind::TimedOut.into()),
        left => Ok(left),
    }
}

impl Read for Timed {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.tcp.set_read_timeout(Some(left(self.until)?))?;
        self.tcp.read(buffer)
    }
}

impl Write for Timed {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.tcp.set_write_timeout(Some(left(self.until)?))?;
        self.tcp.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.tcp.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{OcsfOptions, Payload, Record, RecordFormat, StreamPart, encode};
    use audit_domain::Timestamp;
    use proptest::prelude::*;
    use serde_json::json;

    #[test]
    fn a_record_that_fits_stays_as_it_is() {
        let record = r#"{ "id":"evt_1" }"#;
        assert_eq!(cut(record, record.len()), record);
        assert_eq!(cut(record, record.len() - 1), r#"{"id":"evt_1"}"#);
    }

    #[test]
    fn the_longest_members_go_first_and_are_named() {
        let record = json!({
            "id": "evt_1",
            "action": "user.created",
            "metadata": {"a": "x".repeat(500)},
            "changes": {"before": "y".repeat(300)},
            "content_hash": "z".repeat(400),
            "content_salt": "s",
            "stream": {"position": 7},
        })
        .to_string();
        let shorter: Value = serde_json::from_str(&cut(&record, record.len() - 1)).unwrap();
        assert_eq!(shorter["truncated"], json!(["content_salt", "metadata"]));
        assert_eq!(shorter["changes"]["before"], "y".repeat(300));
        let shortest: Value = serde_json::from_str(&cut(&record, 10)).unwrap();
        assert_eq!(
            shortest["truncated"],
            json!(["content_salt", "metadata", "changes", "action"])
        );
        for name in ["id", "content_hash", "stream"] {
            assert!(!shortest[name].is_null(), "{name}");
        }
    }

    #[test]
    fn a_checkpoint_keeps_its_note() {
        let note = "n".repeat(9_000);
        let record = json!({"type": "audit.log.checkpoint", "note": note, "log_checkpoint": "c".repeat(300)});
        let cut: Value = serde_json::from_str(&cut(&record.to_string(), 8_000)).unwrap();
        assert_eq!(
            (&cut["note"], &cut["truncated"]),
            (&json!(note), &json!(["log_checkpoint"]))
        );
    }

    fn in_ocsf(payload: Payload<'_>) -> String {
        let stream = StreamPart {
            destination: "dst_1",
            log: "p/live",
            run: 0,
            position: 7,
        };
        let at = Timestamp::from_seconds(1_768_473_000);
        let options = OcsfOptions {
            include_raw: true,
            ..OcsfOptions::default()
        };
        encode(&Record { stream, payload }, RecordFormat::Ocsf, &options, at).text
    }

    #[test]
    fn a_record_in_ocsf_keeps_its_place_and_its_proof() {
        let event = json!({
            "id": "evt_1",
            "action": "document.viewed",
            "category": "access",
            "metadata": {"a": "x".repeat(9_000)},
            "changes": {"before": "y".repeat(300)},
            "content_hash": "z".repeat(64),
        })
        .to_string();
        let record = in_ocsf(Payload::Event { seq: 3, json: &event });
        let shorter: Value = serde_json::from_str(&cut(&record, 8_000)).unwrap();
        assert_eq!(shorter["truncated"], json!(["raw_data", "unmapped.metadata"]));
        assert_eq!(shorter["unmapped"]["changes"]["before"], "y".repeat(300));
        let shortest: Value = serde_json::from_str(&cut(&record, 10)).unwrap();
        assert!(shortest["unmapped"]["changes"].is_null(), "{shortest}");
        for record in [shorter, shortest] {
            assert_eq!(record["metadata"]["uid"], "evt_1");
            assert_eq!(record["unmapped"]["stream"]["position"], 7);
            assert_eq!(record["unmapped"]["content_hash"], "z".repeat(64));
        }
    }

    #[test]
    fn a_checkpoint_in_ocsf_keeps_its_note() {
        let note = "n".repeat(9_000);
        let record = in_ocsf(Payload::Checkpoint {
            note: &note,
            log_checkpoint: &"c".repeat(300),
            through_position: 6,
            through_seq: 2,
        });
        let cut: Value = serde_json::from_str(&cut(&record, 8_000)).unwrap();
        assert_eq!(cut["truncated"][0], "unmapped.log_checkpoint");
        assert_eq!(cut["unmapped"]["note"], note);
        assert_eq!(cut["unmapped"]["stream"]["position"], 7);
    }

    proptest! {
        #[test]
        fn cef_is_cut_between_words(words in prop::collection::vec("[a-zé=\\\\|]{1,30}", 10..40)) {
            let record = format!("CEF:0|{}", words.join(" "));
            let shorter = cut(&record, 100);
            if record.len() > 100 {
                prop_assert!(shorter.len() <= 100);
                let kept = shorter.strip_suffix(" truncated=true").expect("the mark");
                prop_assert!(record.starts_with(&format!("{kept} ")), "{kept}");
            } else {
                prop_assert_eq!(shorter, record);
            }
        }
    }
}
