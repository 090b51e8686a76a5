//! The certificate authority that is trusted by the client of the tests, and by servers configured with it.

use crate::certificates::{CertificateAuthority, Identity};
use crate::edge::temporary_directory;
use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

/// Names and addresses of receivers.
const NAMES: [&str; 3] = ["localhost", "127.0.0.1", "::1"];

pub(crate) struct Authority {
    authority: CertificateAuthority,
    /// Its certificate in PEM, for `AUDIT_WEBHOOK_CA_FILE`.
    pub(crate) file: PathBuf,
    /// TLS for receivers, with a certificate that it has signed.
    pub(crate) tls: Arc<ServerConfig>,
}

/// The one of this test process.
pub(crate) fn authority() -> &'static Authority {
    static AUTHORITY: OnceLock<Authority> = OnceLock::new();
    AUTHORITY.get_or_init(create)
}

impl Authority {
    /// Its certificate in PEM.
    pub(crate) fn pem(&self) -> &str {
        self.authority.pem()
    }
}

/// A certificate for a server with these names and addresses that the client of the tests trusts.
pub fn trusted_identity(names: &[&str]) -> Identity {
    authority().authority.server(names)
}

fn create() -> Authority {
    let authority = CertificateAuthority::create("authority of receivers");
    let file = temporary_directory("authority-").join("ca.pem");
    std::fs::write(&file, authority.pem()).expect("write a certificate");

    let receiver = authority.server(&NAMES);
    let certificate = CertificateDer::from_pem_slice(receiver.certificate.as_bytes()).expect("a certificate");
    let key = PrivateKeyDer::from_pem_slice(receiver.key.as_bytes()).expect("a key");
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let tls = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("the usual versions of TLS")
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key)
        .expect("a key that fits its certificate");
    Authority {
        authority,
        file,
        tls: Arc::new(tls),
    }
}
