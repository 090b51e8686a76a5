//! A certificate authority that is trusted only by servers configured with it.

use crate::edge::temporary_directory;
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair, KeyUsagePurpose};
use rustls::ServerConfig;
use rustls::pki_types::PrivatePkcs8KeyDer;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

/// Names and addresses of receivers.
const NAMES: [&str; 3] = ["localhost", "127.0.0.1", "::1"];

pub(crate) struct Authority {
    /// Its certificate in PEM, for `AUDIT_WEBHOOK_CA_FILE`.
    pub(crate) file: PathBuf,
    /// TLS for receivers, with a certificate that it has signed.
    pub(crate) tls: Arc<ServerConfig>,
}

/// The one of this test process.
pub(crate) fn authority() -> &'static Authority {
    static AUTHORITY: OnceLock<Authority> = OnceLock::new();
    AUTHORITY.get_or_init(|| create().expect("create a certificate authority"))
}

fn create() -> Result<Authority, rcgen::Error> {
    let mut parameters = CertificateParams::new(Vec::new())?;
    parameters.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    parameters.key_usages = vec![KeyUsagePurpose::KeyCertSign];
    let key = KeyPair::generate()?;
    let certificate = parameters.self_signed(&key)?;
    let file = temporary_directory("authority-").join("ca.pem");
    std::fs::write(&file, certificate.pem()).expect("write a certificate");

    let receiver_key = KeyPair::generate()?;
    let names = NAMES.map(str::to_owned);
    let receiver = CertificateParams::new(names)?.signed_by(&receiver_key, &Issuer::new(parameters, key))?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let tls = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("the usual versions of TLS")
        .with_no_client_auth()
        .with_single_cert(
            vec![receiver.der().clone()],
            PrivatePkcs8KeyDer::from(receiver_key.serialize_der()).into(),
        )
        .expect("a key that fits its certificate");
    Ok(Authority {
        file,
        tls: Arc::new(tls),
    })
}
