//! Certificate and key are read again when their files change.

use super::{Files, identity_into};
use audit_tests::{Database, DatabaseKind, Organization, Server, event, trusted_identity};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::ring::default_provider;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, ClientConnection, DigitallySignedStruct, Error, SignatureScheme};
use std::net::TcpStream;
use std::os::unix::fs::symlink;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

const NAMES: &[&str] = &["localhost", "127.0.0.1"];

/// Accepts every certificate, for tests that look at it.
#[derive(Debug)]
pub(super) struct AnyCertificate;

impl ServerCertVerifier for AnyCertificate {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn verify_tls13_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        default_provider()
            .signature_verification_algorithms
            .supported_schemes()
    }
}

/// The certificate that a new connection gets, in DER.
fn certificate(server: &Server) -> Vec<u8> {
    let config = ClientConfig::builder_with_provider(Arc::new(default_provider()))
        .with_safe_default_protocol_versions()
        .expect("the usual versions of TLS")
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(AnyCertificate))
        .with_no_client_auth();
    let name = ServerName::try_from("localhost").expect("a name");
    let mut connection = ClientConnection::new(Arc::new(config), name).expect("a connection");
    let address = server.base_url().trim_start_matches("https://");
    let mut stream = TcpStream::connect(address).expect("connect");
    while connection.is_handshaking() {
        connection.complete_io(&mut stream).expect("a handshake");
    }
    let chain = connection.peer_certificates().expect("a certificate");
    chain[0].to_vec()
}

/// As Kubernetes does: the files are links through a link to a directory, which is replaced by renaming another one.
#[test]
fn a_certificate_is_replaced_under_load_without_a_failed_request() {
    let files = Files::new(&trusted_identity(NAMES));
    let directory = &files.directory;
    for generation in ["first", "second"] {
        std::fs::create_dir(directory.join(generation)).expect("create a directory");
        identity_into(&directory.join(generation), &trusted_identity(NAMES));
    }
    symlink("first", directory.join("data")).expect("create a link");
    for name in ["certificate.pem", "key.pem"] {
        std::fs::remove_file(directory.join(name)).expect("remove a file");
        symlink(format!("data/{name}"), directory.join(name)).expect("create a link");
    }
    let server = files.serve(&[("RUST_LOG", "info,audit_http=warn")]);
    let organization = Organization::create(&server, "enterprise");
    let project = organization.project();
    let before = certificate(&server);
    let is_done = AtomicBool::new(false);
    let requests = AtomicUsize::new(0);
    thread::scope(|scope| {
        for is_reusing in [false, false, true] {
            let (project, is_done, requests) = (project.clone(), &is_done, &requests);
            scope.spawn(move || {
                while !is_done.load(Ordering::Relaxed) {
                    // A request that fails panics.
                    match is_reusing {
                        true => project.store(event()),
                        false => project.with_own_connections().store(event()),
                    };
                    requests.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        symlink("second", directory.join("next")).expect("create a link");
        std::fs::rename(directory.join("next"), directory.join("data")).expect("replace a link");
        server.wait_for_log("the new certificate is in use");
        let after = certificate(&server);
        is_done.store(true, Ordering::Relaxed);
        assert_ne!(before, after);
    });
    assert_eq!(project.count(), requests.load(Ordering::Relaxed));
    let log = server.stop().stderr;
    assert_eq!(log.matches("the new certificate is in use").count(), 1, "{log}");
}

#[test]
fn a_broken_pair_leaves_the_one_before_it_in_use_until_it_is_repaired() {
    let files = Files::new(&trusted_identity(NAMES));
    let server = files.serve(&[]);
    let before = certificate(&server);
    let next = trusted_identity(NAMES);
    // The certificate alone, as if its key did not follow.
    files.write("certificate.pem", &next.certificate);
    server.wait_for_log("the certificate before it stays in use");
    server.wait_for_log("does not belong to the first certificate");
    assert_eq!(server.metric("audit_tls_reload_failing"), 1);
    assert_eq!(certificate(&server), before);
    files.write("key.pem", &next.key);
    server.wait_for_log("the new certificate is in use");
    assert_eq!(server.metric("audit_tls_reload_failing"), 0);
    assert_ne!(certificate(&server), before);
    std::fs::remove_file(files.path("key.pem")).expect("remove a file");
    server.wait_for_log("cannot read");
    assert_eq!(server.metric("audit_tls_reload_failing"), 1);
}

/// A server that stops while handshakes hang does not wait for them.
#[test]
fn a_hanging_handshake_does_not_delay_the_stop() {
    let files = Files::new(&trusted_identity(NAMES));
    let server = files.serve_on(&Database::create(DatabaseKind::Sqlite), &[]);
    let address = server.base_url().trim_start_matches("https://").to_owned();
    let hanging: Vec<_> = (0..5)
        .map(|_| TcpStream::connect(&address).expect("connect"))
        .collect();
    // They were accepted before this one.
    assert!(!certificate(&server).is_empty());
    let finished = server.stop();
    assert_eq!(finished.exit, audit_tests::process::Exit::Code(0));
    assert!(finished.stderr.contains("stopped"), "{}", finished.stderr);
    drop(hanging);
}
