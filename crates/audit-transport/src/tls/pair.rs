//! A certificate and its key, as files have them.

use super::validity::Validity;
use anyhow::{Context, anyhow, bail};
use audit_cli::small_file;
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::{self, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::sign::CertifiedKey;
use rustls::{Error, InconsistentKeys};
use sha2::{Digest, Sha256};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The files of a certificate and its key.
#[derive(Debug)]
pub(super) struct PairFiles {
    certificate: PathBuf,
    key: PathBuf,
}

/// What is in both files.
pub(super) struct Contents {
    certificate: Vec<u8>,
    key: Vec<u8>,
}

impl Contents {
    /// Tells contents apart without a copy of the key.
    pub(super) fn digest(&self) -> [u8; 32] {
        let certificate = Sha256::digest(&self.certificate);
        let both = Sha256::new().chain_update(certificate).chain_update(&self.key);
        both.finalize().into()
    }
}

/// A certificate with the chain above it, and its key.
pub(super) struct Pair {
    pub(super) key: Arc<CertifiedKey>,
    pub(super) validity: Validity,
}

/// The file of the certificate, which names the pair in the log.
impl fmt::Display for PairFiles {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}", self.certificate.display())
    }
}

impl PairFiles {
    pub(super) fn new(certificate: &Path, key: &Path) -> Self {
        Self {
            certificate: certificate.to_owned(),
            key: key.to_owned(),
        }
    }

    /// Reads both files.
    pub(super) fn read(&self) -> anyhow::Result<Contents> {
        Ok(Contents {
            certificate: read(&self.certificate).context("--tls-certificate")?,
            key: read(&self.key).context("--tls-key")?,
        })
    }

    /// The pair in both files.
    pub(super) fn parse(&self, contents: &Contents, provider: &CryptoProvider) -> anyhow::Result<Pair> {
        let (certificate, key) = (self.certificate.display(), self.key.display());
        let chain =
            chain(&contents.certificate).with_context(|| format!("--tls-certificate: {certificate}"))?;
        let validity = Validity::of(chain.first().context("no certificate")?)
            .map_err(|error| anyhow!("--tls-certificate: {certificate}: not a certificate: {error}"))?;
        let private = private_key(&contents.key).with_context(|| format!("--tls-key: {key}"))?;
        match CertifiedKey::from_der(chain, private, provider) {
            Ok(pair) => Ok(Pair {
                key: Arc::new(pair),
                validity,
            }),
            Err(Error::InconsistentKeys(InconsistentKeys::KeyMismatch)) => bail!(
                "--tls-key: {key}: the key does not belong to the first certificate in {certificate}; intermediate \
                 certificates follow the one of the server"
            ),
            Err(error) => bail!("--tls-key: {key}: cannot use the key with {certificate}: {error}"),
        }
    }
}

fn read(path: &Path) -> anyhow::Result<Vec<u8>> {
    small_file::read(path).with_context(|| format!("cannot read {}", path.display()))
}

fn chain(text: &[u8]) -> anyhow::Result<Vec<CertificateDer<'static>>> {
    let chain = CertificateDer::pem_slice_iter(text).collect::<Result<Vec<_>, _>>();
    let chain = chain.map_err(|error| anyhow!("not in PEM: {error}"))?;
    match chain.is_empty() {
        true => bail!("no certificate in PEM (-----BEGIN CERTIFICATE-----)"),
        false => Ok(chain),
    }
}

/// Never shows a part of the text, which may be a key.
fn private_key(text: &[u8]) -> anyhow::Result<PrivateKeyDer<'static>> {
    let is_encrypted = text.windows(b"ENCRYPTED".len()).any(|part| part == b"ENCRYPTED");
    if is_encrypted {
        bail!("the key is encrypted; decrypt it with `openssl pkey`, and protect the file by its mode");
    }
    match PrivateKeyDer::from_pem_slice(text) {
        Ok(key) => Ok(key),
        Err(pem::Error::NoItemsFound) => bail!("no private key in PEM (-----BEGIN PRIVATE KEY-----)"),
        Err(_) => bail!("the private key is not in PEM"),
    }
}
