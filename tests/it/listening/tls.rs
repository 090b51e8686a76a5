//! TLS of the server itself.

use super::Files;
use audit_tests::{
    CertificateAuthority, Database, DatabaseKind, Organization, Server, event, serve_refused,
    temporary_directory, trusted_identity,
};
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ClientConnection, RootCertStore};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;
use time::OffsetDateTime;

const NAMES: &[&str] = &["localhost", "127.0.0.1"];

fn connect(server: &Server) -> TcpStream {
    let address = server.base_url().trim_start_matches("https://");
    let stream = TcpStream::connect(address).expect("connect");
    // It only bounds a hang.
    let bound = Some(Duration::from_secs(120));
    stream.set_read_timeout(bound).expect("set a timeout");
    stream
}

/// Everything that the server sends until it closes the connection.
fn rest(stream: &mut TcpStream) -> Vec<u8> {
    let mut bytes = Vec::new();
    match stream.read_to_end(&mut bytes) {
        Ok(_) => {}
        Err(error) => assert_eq!(error.kind(), std::io::ErrorKind::ConnectionReset, "{error}"),
    }
    bytes
}

#[test]
fn clients_reach_the_server_over_https_by_the_names_of_its_certificate() {
    let server = Files::new(&trusted_identity(NAMES)).serve(&[]);
    assert!(
        server.base_url().starts_with("https://127.0.0.1:"),
        "{}",
        server.base_url()
    );
    assert!(server.stdout().contains("curl -sS https://127.0.0.1:"));
    let project = Organization::create(&server, "enterprise").project();
    let id = project.store(event());
    let by_name = server.base_url().replace("127.0.0.1", "localhost");
    assert_eq!(project.at(&by_name).find_ids(&[]), [id]);
    // A response of several pieces, and one of which the size is not known before.
    let large = audit_tests::event_with(serde_json::json!({"metadata": {"padding": "x".repeat(60_000)}}));
    project.store_all(vec![large; 12]);
    assert_eq!(project.find(&[("limit", "200")]).len(), 13);
    let export = project.get("/events/export").send_raw();
    assert_eq!(export.bytes.iter().filter(|byte| **byte == b'\n').count(), 13);
}

#[test]
fn a_certificate_of_another_name_or_of_another_authority_is_refused_by_clients() {
    let other_name = Files::new(&trusted_identity(&["other.example"])).serve(&[]);
    let other_authority = CertificateAuthority::create("another authority");
    let other_authority = Files::new(&other_authority.server(NAMES)).serve(&[]);
    for (server, reason) in [
        (&other_name, "not valid for"),
        (&other_authority, "UnknownIssuer"),
    ] {
        let refused = server.client().request("GET", "/healthz").try_send();
        let refused = refused.expect_err("the client does not trust the server");
        assert!(refused.to_string().contains(reason), "{refused}");
    }
}

#[test]
fn plain_http_gets_a_response_that_says_what_is_wrong() {
    let server = Files::new(&trusted_identity(NAMES)).serve(&[]);
    let mut stream = connect(&server);
    stream
        .write_all(b"POST /api/v1/events HTTP/1.1\r\nHost: test\r\nContent-Length: 2\r\n\r\n{}")
        .expect("send a request");
    stream
        .shutdown(std::net::Shutdown::Write)
        .expect("end the request");
    let response = String::from_utf8(rest(&mut stream)).expect("text");
    assert!(response.starts_with("HTTP/1.1 400 "), "{response}");
    assert!(response.contains("Use https://"), "{response}");
    // Neither HTTP nor TLS.
    let mut stream = connect(&server);
    stream.write_all(&[0; 100]).expect("send bytes");
    assert_eq!(rest(&mut stream), b"");
}

#[test]
fn a_handshake_that_does_not_end_is_closed() {
    let server = Files::new(&trusted_identity(NAMES)).serve(&[]);
    let mut silent = connect(&server);
    let mut half = connect(&server);
    // The beginning of a record of 512 bytes.
    half.write_all(&[22, 3, 1, 2, 0, 1]).expect("send a beginning");
    let mut slow = connect(&server);
    slow.write_all(&[22, 3, 1, 2, 0]).expect("send a beginning");
    let mut dripping = slow.try_clone().expect("another handle");
    let drip = std::thread::spawn(move || {
        while dripping.write_all(&[1]).is_ok() {
            std::thread::sleep(Duration::from_millis(500));
        }
    });
    for stream in [&mut silent, &mut half, &mut slow] {
        assert_eq!(rest(stream), b"");
    }
    drip.join().expect("a thread of the test");
    server.wait_for_metric("audit_tls_handshake_failures_total", 3);
    assert_eq!(server.client().request("GET", "/healthz").send_raw().status, 200);
}

/// A `ClientHello` of this version (RFC 5246, section 7.4.1.2) for one cipher suite, TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256.
fn client_hello(version: [u8; 2]) -> Vec<u8> {
    const GROUPS: &[u8] = &[0, 10, 0, 4, 0, 2, 0, 23];
    const POINT_FORMATS: &[u8] = &[0, 11, 0, 2, 1, 0];
    const SIGNATURES: &[u8] = &[0, 13, 0, 4, 0, 2, 4, 3];
    const EXTENDED_MASTER_SECRET: &[u8] = &[0, 23, 0, 0];
    let extensions = [GROUPS, POINT_FORMATS, SIGNATURES, EXTENDED_MASTER_SECRET].concat();
    let mut hello = version.to_vec();
    hello.extend([7; 32]);
    // No session, the cipher suite, no compression.
    hello.extend([0, 0, 2, 0xc0, 0x2b, 1, 0]);
    hello.extend([0, u8::try_from(extensions.len()).expect("few extensions")]);
    hello.extend(extensions);
    let length = u8::try_from(hello.len()).expect("a short message");
    let mut record = vec![22, 3, 1, 0, length + 4, 1, 0, 0, length];
    record.extend(hello);
    record
}

#[test]
fn versions_before_1_2_are_refused() {
    let server = Files::new(&trusted_identity(NAMES)).serve(&[]);
    let response_to = |version| {
        let mut stream = connect(&server);
        stream.write_all(&client_hello(version)).expect("send a message");
        let mut response = [0; 7];
        stream.read_exact(&mut response).expect("a record");
        response
    };
    for version in [[3, 1], [3, 2]] {
        // A fatal alert: protocol_version (RFC 8446, section 6.2).
        let [kind, .., level, description] = response_to(version);
        assert_eq!([kind, level, description], [21, 2, 70], "{version:?}");
    }
    assert_eq!(
        response_to([3, 3])[0],
        22,
        "the same message of version 1.2 is answered"
    );
}

/// Completes a handshake as a client that prefers HTTP/2 and offers these versions.
fn handshake(server: &Server, versions: &[&'static rustls::SupportedProtocolVersion]) -> ClientConnection {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(versions)
        .expect("versions of TLS")
        .with_root_certificates(RootCertStore { roots: vec![] })
        .with_no_client_auth();
    config
        .dangerous()
        .set_certificate_verifier(Arc::new(super::reload::AnyCertificate));
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    let name = ServerName::try_from("localhost").expect("a name");
    let mut connection = ClientConnection::new(Arc::new(config), name).expect("a connection");
    let mut stream = connect(server);
    while connection.is_handshaking() {
        connection.complete_io(&mut stream).expect("a handshake");
    }
    connection
}

#[test]
fn both_versions_of_tls_are_served_and_http_2_is_not_offered() {
    let server = Files::new(&trusted_identity(NAMES)).serve(&[]);
    for version in [&rustls::version::TLS12, &rustls::version::TLS13] {
        let connection = handshake(&server, &[version]);
        assert_eq!(connection.protocol_version(), Some(version.version));
        assert_eq!(connection.alpn_protocol(), Some(&b"http/1.1"[..]));
    }
}

#[test]
fn a_certificate_that_expires_is_reported_and_its_end_is_a_metric() {
    let now = OffsetDateTime::parse(
        &audit_tests::now_plus(0),
        &time::format_description::well_known::Rfc3339,
    );
    let now = now
        .expect("a time")
        .replace_nanosecond(0)
        .expect("a whole second");
    let authority = CertificateAuthority::create("authority");
    for (until, report) in [
        (now - time::Duration::hours(1), Some("the certificate expired at")),
        (now + time::Duration::days(3), Some("the certificate expires at")),
        (now + time::Duration::days(15), None),
        // Written as GeneralizedTime.
        (now + time::Duration::days(40 * 365), None),
    ] {
        let files = Files::new(&authority.server_until(NAMES, until));
        let server = files.serve(&[("AUDIT_METRICS_LISTEN", "127.0.0.1:0")]);
        let text = server
            .metrics_client()
            .request("GET", "/metrics")
            .send_raw()
            .bytes;
        let text = String::from_utf8(text).expect("metrics are text");
        let expected = format!(
            "\naudit_tls_certificate_not_after_seconds {}\n",
            until.unix_timestamp()
        );
        assert!(text.contains(&expected), "{expected} in {text}");
        let log = server.stop().stderr;
        match report {
            Some(report) => assert!(log.contains(report), "{log}"),
            None => assert!(!log.contains("the certificate exp"), "{log}"),
        }
    }
}

#[test]
fn files_that_cannot_be_used_are_refused_at_start() {
    let files = Files::new(&trusted_identity(NAMES));
    let other = trusted_identity(NAMES);
    files.write("other.pem", &other.key);
    files.write("empty.pem", "");
    files.write("text.pem", "secret-text\n");
    files.write(
        "damaged.pem",
        "-----BEGIN PRIVATE KEY-----\nsecret-text!\n-----END PRIVATE KEY-----\n",
    );
    let legacy = "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00\n\nc2VjcmV0\n\
                  -----END RSA PRIVATE KEY-----\n";
    files.write("legacy.pem", legacy);
    encrypt(&files.path("key.pem"), &files.path("encrypted.pem"));
    let database = Database::create(DatabaseKind::Sqlite);
    for (certificate, key, reason) in [
        (
            "certificate.pem",
            "other.pem",
            "does not belong to the first certificate",
        ),
        ("certificate.pem", "encrypted.pem", "the key is encrypted"),
        ("certificate.pem", "legacy.pem", "the key is encrypted"),
        ("certificate.pem", "empty.pem", "no private key in PEM"),
        ("certificate.pem", "text.pem", "no private key in PEM"),
        ("certificate.pem", "damaged.pem", "the private key is not in PEM"),
        ("certificate.pem", "missing.pem", "cannot read"),
        ("key.pem", "key.pem", "no certificate in PEM"),
        ("missing.pem", "key.pem", "cannot read"),
    ] {
        let (certificate, key) = (files.path(certificate), files.path(key));
        let settings = [("AUDIT_TLS_CERTIFICATE", &*certificate), ("AUDIT_TLS_KEY", &key)];
        let refusal = serve_refused(&database, &settings);
        assert!(refusal.contains(reason), "{reason}: {refusal}");
        assert_eq!(refusal.lines().count(), 1, "{refusal}");
        assert!(!refusal.contains("secret"), "{refusal}");
    }
    let certificate = files.path("certificate.pem");
    let refusal = serve_refused(&database, &[("AUDIT_TLS_CERTIFICATE", &certificate)]);
    assert!(refusal.contains("--tls-key"), "{refusal}");
    let socket = temporary_directory("socket-").join("audit.sock");
    let socket = format!("unix:{}", socket.display());
    let settings = [
        ("AUDIT_TLS_CERTIFICATE", &*certificate),
        ("AUDIT_TLS_KEY", &files.path("key.pem")),
    ];
    let arguments = ["serve", "--listen", &socket, "--database-url", database.url()];
    let refusal = audit_tests::command_line_with(&arguments, &settings).refusal();
    assert!(refusal.contains("--listen unix:"), "{refusal}");
}

/// Encrypts a key with OpenSSL.
fn encrypt(key: &str, encrypted: &str) {
    let mut openssl = Command::new("openssl");
    let arguments = [
        "pkey", "-in", key, "-aes128", "-passout", "pass:x", "-out", encrypted,
    ];
    let status = openssl.args(arguments).status().expect("run openssl");
    assert!(status.success());
}
