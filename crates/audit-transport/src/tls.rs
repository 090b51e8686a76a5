//! The server's own TLS. Certificate and key are read again when their files change.

mod pair;
mod validity;
mod watch;

use crate::TlsStatus;
use pair::PairFiles;
use parking_lot::RwLock;
use rustls::ServerConfig;
use rustls::crypto::ring::{Ticketer, default_provider};
use rustls::server::{ClientHello, NoServerSessionStorage, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use std::path::Path;
use std::sync::Arc;
use watch::Watch;
pub use watch::Watching;

/// HTTP/2 is not offered: its streams would share the limits that each connection has for one request at a time.
const PROTOCOL: &[u8] = b"http/1.1";

/// The certificate that new connections get.
#[derive(Debug)]
struct InUse(RwLock<Arc<CertifiedKey>>);

impl ResolvesServerCert for InUse {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(Arc::clone(&self.0.read()))
    }
}

/// How connections are encrypted.
#[derive(Clone)]
pub struct Tls {
    /// What each handshake uses.
    pub config: Arc<ServerConfig>,
    /// What metrics say of it.
    pub status: Arc<TlsStatus>,
}

/// Reads certificate and key, which are followed as long as the second value lives.
///
/// # Errors
/// When they cannot be read, or are not a pair that TLS can use.
pub fn open(certificate: &Path, key: &Path) -> anyhow::Result<(Tls, Watching)> {
    let provider = Arc::new(default_provider());
    let files = PairFiles::new(certificate, key);
    let contents = files.read()?;
    let pair = files.parse(&contents, &provider)?;
    let in_use = Arc::new(InUse(RwLock::new(Arc::clone(&pair.key))));
    let status = Arc::new(TlsStatus::default());
    let mut config = ServerConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()?
        .with_no_client_auth()
        .with_cert_resolver(Arc::clone(&in_use) as Arc<dyn ResolvesServerCert>);
    config.alpn_protocols = vec![PROTOCOL.to_vec()];
    // Clients keep their sessions, sealed with a key that changes every few hours. The server holds nothing for them.
    config.session_storage = Arc::new(NoServerSessionStorage {});
    config.ticketer = Ticketer::new()?;
    let digest = contents.digest();
    let watching = Watch::new(files, digest, pair, provider, in_use, Arc::clone(&status)).start()?;
    let tls = Tls {
        config: Arc::new(config),
        status,
    };
    Ok((tls, watching))
}

/// Checks a pair as a start would. Returns what to tell the operator at this time.
///
/// # Errors
/// As [`open`].
pub fn examine(certificate: &Path, key: &Path, now_seconds: i64) -> anyhow::Result<Option<String>> {
    let files = PairFiles::new(certificate, key);
    let pair = files.parse(&files.read()?, &default_provider())?;
    Ok(pair.validity.warning(now_seconds))
}

/// TLS with a new certificate for `localhost`, and that certificate.
#[cfg(test)]
pub fn open_new() -> (Tls, Watching, rustls::pki_types::CertificateDer<'static>) {
    let directory = tempfile::tempdir().unwrap();
    let identity = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let (certificate, key) = (directory.path().join("certificate"), directory.path().join("key"));
    std::fs::write(&certificate, identity.cert.pem()).unwrap();
    std::fs::write(&key, identity.signing_key.serialize_pem()).unwrap();
    let (tls, watching) = open(&certificate, &key).unwrap();
    (tls, watching, identity.cert.der().clone())
}
