//! An HS256-only crypto provider for `jsonwebtoken`.
//!
//! `jsonwebtoken` computes no signature itself: it calls a provider that is set once per process, and panics without one. Its
//! own providers include RSA and elliptic curves. This one implements only HS256 (RFC 7518 section 3.2), so that no other
//! algorithm can verify a token.

use hmac::{Hmac, KeyInit, Mac};
use jsonwebtoken::crypto::{CryptoProvider, JwtSigner, JwtVerifier, KeyUtils};
use jsonwebtoken::errors::{Error, ErrorKind};
use jsonwebtoken::signature::{self, Signer, Verifier};
use jsonwebtoken::{Algorithm, DecodingKey, EncodingKey};
use sha2::Sha256;
use std::sync::OnceLock;

static PROVIDER: CryptoProvider = CryptoProvider {
    signer_factory: |algorithm, key| Ok(Box::new(Hs256::for_signing(*algorithm, key)?)),
    verifier_factory: |algorithm, key| Ok(Box::new(Hs256::for_verifying(*algorithm, key)?)),
    // Used only for JSON Web Keys, which this crate does not use.
    key_utils: KeyUtils::new_unimplemented(),
};

/// Installs the provider. Call it before every use of `jsonwebtoken`.
///
/// A provider that other code of the process has set stays in place; HS256 has the same result there. With a provider without
/// HS256, signing and verifying fail without a panic.
pub(crate) fn ensure_provider() {
    static IS_OURS: OnceLock<bool> = OnceLock::new();
    IS_OURS.get_or_init(|| PROVIDER.install_default().is_ok());
}

struct Hs256(Hmac<Sha256>);

impl Hs256 {
    fn for_signing(algorithm: Algorithm, key: &EncodingKey) -> Result<Self, Error> {
        Self::new(algorithm, key.as_bytes())
    }

    fn for_verifying(algorithm: Algorithm, key: &DecodingKey) -> Result<Self, Error> {
        Self::new(algorithm, key.try_get_as_bytes()?)
    }

    fn new(algorithm: Algorithm, secret: &[u8]) -> Result<Self, Error> {
        if algorithm != Algorithm::HS256 {
            return Err(ErrorKind::UnsupportedAlgorithm.into());
        }
        let mac = Hmac::new_from_slice(secret).map_err(|_| ErrorKind::InvalidKeyFormat)?;
        Ok(Self(mac))
    }
}

impl Signer<Vec<u8>> for Hs256 {
    fn try_sign(&self, message: &[u8]) -> Result<Vec<u8>, signature::Error> {
        Ok(self
            .0
            .clone()
            .chain_update(message)
            .finalize()
            .into_bytes()
            .to_vec())
    }
}

impl Verifier<Vec<u8>> for Hs256 {
    /// Compares in constant time.
    fn verify(&self, message: &[u8], signature: &Vec<u8>) -> Result<(), signature::Error> {
        self.0
            .clone()
            .chain_update(message)
            .verify_slice(signature)
            .map_err(signature::Error::from_source)
    }
}

impl JwtSigner for Hs256 {
    fn algorithm(&self) -> Algorithm {
        Algorithm::HS256
    }
}

impl JwtVerifier for Hs256 {
    fn algorithm(&self) -> Algorithm {
        Algorithm::HS256
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 4231, test case 2.
    #[test]
    fn the_mac_agrees_with_the_rfc() {
        let signer = Hs256::for_signing(Algorithm::HS256, &EncodingKey::from_secret(b"Jefe")).unwrap();
        let mut mac = signer.try_sign(b"what do ya want for nothing?").unwrap();
        assert_eq!(
            base16ct::lower::encode_string(&mac),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        );

        let verifier = Hs256::for_verifying(Algorithm::HS256, &DecodingKey::from_secret(b"Jefe")).unwrap();
        assert!(verifier.verify(b"what do ya want for nothing?", &mac).is_ok());
        assert!(verifier.verify(b"what do ya want for nothing!", &mac).is_err());
        mac.pop();
        assert!(
            verifier.verify(b"what do ya want for nothing?", &mac).is_err(),
            "shortened"
        );
    }

    #[test]
    fn no_other_algorithm_is_supported() {
        let (encoding, decoding) = (EncodingKey::from_secret(b"key"), DecodingKey::from_secret(b"key"));
        for algorithm in [
            Algorithm::HS384,
            Algorithm::HS512,
            Algorithm::RS256,
            Algorithm::ES256,
            Algorithm::EdDSA,
        ] {
            assert!(
                (PROVIDER.signer_factory)(&algorithm, &encoding).is_err(),
                "{algorithm:?}"
            );
            assert!(
                (PROVIDER.verifier_factory)(&algorithm, &decoding).is_err(),
                "{algorithm:?}"
            );
        }
    }
}
