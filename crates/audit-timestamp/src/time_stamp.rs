//! Time stamps: RFC 3161.

use crate::token::{Token, oid};
use audit_domain::Timestamp;
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, TrustAnchor, UnixTime};
use sha2::{Digest, Sha256, Sha384, Sha512};
use std::time::Duration;
use webpki::{ALL_VERIFICATION_ALGS, EndEntityCert, KeyUsage, anchor_from_trusted_cert};

/// A request for a time stamp over a SHA-256.
#[derive(Clone, Debug)]
pub struct TimeStampRequest {
    digest: [u8; 32],
    nonce: [u8; 8],
    der: Vec<u8>,
}

/// A response with a time stamp, parsed. Nothing of it is verified before [`Self::verify`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimeStamp(Token);

/// The certificates of trusted authorities.
#[derive(Clone, Debug)]
pub struct TimeStampRoots(Vec<TrustAnchor<'static>>);

/// The certificates of authorities cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RootsError {
    /// The file is not PEM.
    #[error("the certificates are not valid PEM")]
    NotPem,
    /// There is no `BEGIN CERTIFICATE` in it.
    #[error("there is no certificate in the PEM")]
    None,
    /// A certificate cannot be a root.
    #[error("certificate {position} of the PEM is not usable as a root: {source}")]
    Unusable {
        /// The number of the certificate, from 1.
        position: usize,
        /// The cause.
        source: webpki::Error,
    },
}

/// A response is not a time stamp, not the one that was asked for, or not by a trusted authority.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TimeStampError {
    /// The authority refuses, with this status.
    #[error("the authority gives no time stamp (status {0})")]
    NotGranted(u8),
    /// The response is not one.
    #[error("the response is malformed: {0}")]
    Malformed(&'static str),
    /// The time stamp is over a digest of another algorithm.
    #[error("it is not over a SHA-256")]
    OtherDigest,
    /// The time stamp is over another digest.
    #[error("it is that of another document")]
    OtherDocument,
    /// The time stamp has another nonce, or none.
    #[error("it does not have the nonce of the request")]
    OtherNonce,
    /// The signed digest is not that of the signed content.
    #[error("its content was changed after it was signed")]
    Changed,
    /// The digest algorithm of the signature is not supported.
    #[error("its signature has a digest other than SHA-256, SHA-384 and SHA-512")]
    Algorithm,
    /// No certificate in the token verifies the signature.
    #[error("no certificate in it verifies its signature")]
    Signature,
    /// The certificate does not lead to a trusted root, was not valid at that time, or is not for time stamps.
    #[error("its certificate is not trusted: {0}")]
    Certificate(webpki::Error),
}

impl TimeStampRequest {
    /// A request for a time stamp over this digest. Use random bytes for the nonce.
    pub fn new(digest: [u8; 32], mut nonce: [u8; 8]) -> Self {
        // A positive INTEGER of exactly eight bytes.
        nonce[0] = nonce[0] & 0x7f | 0x40;
        let mut der = vec![0x30, 67, 2, 1, 1, 0x30, 49, 0x30, 13, 6, 9];
        der.extend(oid::SHA256);
        der.extend([5, 0, 4, 32]);
        der.extend(digest);
        der.extend([2, 8]);
        der.extend(nonce);
        // With the certificate of the authority, so that the time stamp can be verified offline.
        der.extend([1, 1, 0xff]);
        Self { digest, nonce, der }
    }

    /// The encoded `TimeStampReq`.
    pub fn der(&self) -> &[u8] {
        &self.der
    }
}

impl TimeStamp {
    /// Reads an encoded `TimeStampResp`.
    ///
    /// # Errors
    /// [`TimeStampError`] when there is no time stamp in it.
    pub fn parse(response: &[u8]) -> Result<Self, TimeStampError> {
        Token::parse(response).map(Self)
    }

    /// The time that the authority states.
    pub const fn time(&self) -> Timestamp {
        self.0.time
    }

    /// Checks that it responds to a request.
    ///
    /// # Errors
    /// [`TimeStampError`] names the difference.
    pub fn check(&self, request: &TimeStampRequest) -> Result<(), TimeStampError> {
        self.check_digest(&request.digest)?;
        match self.0.nonce.as_deref() == Some(&request.nonce) {
            true => Ok(()),
            false => Err(TimeStampError::OtherNonce),
        }
    }

    /// Checks that the stamped digest is this one (SHA-256).
    ///
    /// # Errors
    /// [`TimeStampError::OtherDocument`] when it is not.
    pub fn check_digest(&self, digest: &[u8; 32]) -> Result<(), TimeStampError> {
        match self.0.digest == *digest {
            true => Ok(()),
            false => Err(TimeStampError::OtherDocument),
        }
    }

    /// Verifies the signature, and that a root had certified its key for time stamps at the time of the stamp. Revocation is
    /// not checked.
    ///
    /// # Errors
    /// [`TimeStampError`] names the check that failed.
    pub fn verify(&self, roots: &TimeStampRoots) -> Result<(), TimeStampError> {
        let token = &self.0;
        let digest = match token.digest_oid.as_slice() {
            oid::SHA256 => Sha256::digest(&token.content).to_vec(),
            oid::SHA384 => Sha384::digest(&token.content).to_vec(),
            oid::SHA512 => Sha512::digest(&token.content).to_vec(),
            _ => return Err(TimeStampError::Algorithm),
        };
        if digest != token.content_digest {
            return Err(TimeStampError::Changed);
        }
        let certificates: Vec<CertificateDer<'_>> = token
            .certificates
            .iter()
            .map(|certificate| certificate.as_slice().into())
            .collect();
        let signers = certificates
            .iter()
            .filter_map(|certificate| EndEntityCert::try_from(certificate).ok());
        let is_signed = |signer: &EndEntityCert<'_>| {
            ALL_VERIFICATION_ALGS.iter().any(|algorithm| {
                let verified =
                    signer.verify_signature(*algorithm, &token.signed_attributes, &token.signature);
                verified.is_ok()
            })
        };
        let signer = signers
            .into_iter()
            .find(is_signed)
            .ok_or(TimeStampError::Signature)?;
        let seconds = u64::try_from(token.time.as_seconds()).unwrap_or_default();
        let verified = signer.verify_for_usage(
            ALL_VERIFICATION_ALGS,
            &roots.0,
            &certificates,
            UnixTime::since_unix_epoch(Duration::from_secs(seconds)),
            KeyUsage::required(oid::TIME_STAMPING),
            None,
            None,
        );
        verified.map(|_| ()).map_err(TimeStampError::Certificate)
    }
}

impl TimeStampRoots {
    /// The certificates in a PEM file.
    ///
    /// # Errors
    /// [`RootsError`] when one cannot be used, or there is none.
    pub fn from_pem(pem: &[u8]) -> Result<Self, RootsError> {
        let mut roots = Vec::new();
        for certificate in CertificateDer::pem_slice_iter(pem) {
            let certificate = certificate.map_err(|_| RootsError::NotPem)?;
            let position = roots.len() + 1;
            let root = anchor_from_trusted_cert(&certificate);
            let root = root.map_err(|source| RootsError::Unusable { position, source })?;
            roots.push(root.to_owned());
        }
        match roots.is_empty() {
            true => Err(RootsError::None),
            false => Ok(Self(roots)),
        }
    }
}
