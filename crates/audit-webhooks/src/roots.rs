//! Trusted root certificates.

use rustls::RootCertStore;
use rustls::pki_types::CertificateDer;
use ureq::tls::{Certificate, PemItem, RootCerts, parse_pem};
use webpki_root_certs::TLS_SERVER_ROOT_CERTS;

/// The operator's certificates cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum CertificatesError {
    /// The file is not PEM (RFC 7468).
    #[error("the certificates are not valid PEM")]
    NotPem(#[source] Box<ureq::Error>),
    /// There is no `BEGIN CERTIFICATE` in it.
    #[error("there is no certificate in the PEM")]
    None,
    /// A certificate cannot be a root.
    #[error("certificate {position} of the PEM is not usable as a root")]
    Unusable {
        /// The number of the certificate, from 1.
        position: usize,
        /// The cause.
        #[source]
        source: rustls::Error,
    },
}

/// The public roots and the certificates of `extra_pem`.
pub(crate) fn trusted(extra_pem: Option<&[u8]>) -> Result<RootCerts, CertificatesError> {
    let Some(pem) = extra_pem else {
        return Ok(RootCerts::WebPki);
    };
    let (extra, _) = certificates(pem)?;
    let public = TLS_SERVER_ROOT_CERTS
        .iter()
        .map(|certificate| Certificate::from_der(certificate));
    Ok(public.chain(extra).collect::<Vec<_>>().into())
}

/// The public roots and the certificates of `extra_pem`, for connections without HTTP.
///
/// # Errors
/// [`CertificatesError`] if `extra_pem` cannot be used.
pub fn root_store(extra_pem: Option<&[u8]>) -> Result<RootCertStore, CertificatesError> {
    let mut roots = match extra_pem {
        Some(pem) => only_roots(pem)?,
        None => RootCertStore::empty(),
    };
    roots.add_parsable_certificates(TLS_SERVER_ROOT_CERTS.iter().cloned());
    Ok(roots)
}

/// The certificates of `pem` and no others.
///
/// # Errors
/// [`CertificatesError`] if they cannot be used.
pub fn only_roots(pem: &[u8]) -> Result<RootCertStore, CertificatesError> {
    Ok(certificates(pem)?.1)
}

/// The certificates in `pem`, each verified to be usable as a root: the HTTP client skips unusable ones silently, and every
/// delivery would fail without an explanation. Keys in the same file are ignored.
fn certificates(pem: &[u8]) -> Result<(Vec<Certificate<'static>>, RootCertStore), CertificatesError> {
    let mut certificates = Vec::new();
    let mut store = RootCertStore::empty();
    for item in parse_pem(pem) {
        let item = item.map_err(|error| CertificatesError::NotPem(Box::new(error)))?;
        let PemItem::Certificate(certificate) = item else {
            continue;
        };
        let position = certificates.len() + 1;
        store
            .add(CertificateDer::from(certificate.der()))
            .map_err(|source| CertificatesError::Unusable { position, source })?;
        certificates.push(certificate);
    }
    if certificates.is_empty() {
        return Err(CertificatesError::None);
    }
    Ok((certificates, store))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn own_certificate() -> String {
        let made = rcgen::generate_simple_self_signed(["receiver.example".to_owned()]).unwrap();
        made.cert.pem()
    }

    #[test]
    fn own_certificates_join_the_public_ones() {
        let pem = format!("# ours\n{}{}", own_certificate(), own_certificate());
        let RootCerts::Specific(together) = trusted(Some(pem.as_bytes())).unwrap() else {
            panic!("roots of our choice");
        };
        assert_eq!(together.len(), TLS_SERVER_ROOT_CERTS.len() + 2);
        assert!(TLS_SERVER_ROOT_CERTS.len() > 100);
        let mut store = RootCertStore::empty();
        let (_, ignored) = store.add_parsable_certificates(
            together
                .iter()
                .map(|certificate| CertificateDer::from(certificate.der())),
        );
        assert_eq!(ignored, 0);
        assert_eq!(root_store(Some(pem.as_bytes())).unwrap().len(), together.len());
        assert_eq!(only_roots(pem.as_bytes()).unwrap().len(), 2);
        assert!(matches!(trusted(None), Ok(RootCerts::WebPki)));
    }

    #[test]
    fn unusable_certificates_are_reported() {
        let message = |pem: &str| trusted(Some(pem.as_bytes())).map(|_| ()).unwrap_err().to_string();
        let none = "there is no certificate in the PEM";
        assert_eq!(message(""), none);
        assert_eq!(message("ca.pem"), none);
        let key = rcgen::KeyPair::generate().unwrap().serialize_pem();
        assert_eq!(message(&key), none);
        let cut = &own_certificate()[..200];
        assert_eq!(message(cut), "the certificates are not valid PEM");
        let garbled = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
        assert_eq!(
            message(&format!("{}{garbled}", own_certificate())),
            "certificate 2 of the PEM is not usable as a root"
        );
    }
}
