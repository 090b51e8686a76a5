//! Time stamps of OpenSSL, which plays the authority and verifies what this crate accepts.

// Clippy's exemption for tests does not cover functions shared by tests.
#![allow(clippy::unwrap_used)]

use audit_timestamp::{RootsError, TimeStamp, TimeStampError, TimeStampRequest, TimeStampRoots};
use sha2::{Digest, Sha256};
use std::path::Path;
use std::process::Command;
use tempfile::TempDir;

const DOCUMENT: &[u8] = b"the document";
const CONFIGURATION: &str = "[tsa]\ndefault_tsa = one\n[one]\nserial = serial\nsigner_cert = tsa.pem\nsigner_key = tsa.key\n\
signer_digest = DIGEST\ndefault_policy = 1.2.3.4.1\ndigests = sha256\naccuracy = secs:1, millisecs:500\n\
clock_precision_digits = 3\nordering = yes\ntsa_name = yes\n";

const RSA: [&str; 2] = ["-newkey", "rsa:2048"];
const CURVE: [&str; 4] = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"];

fn openssl(directory: &Path, arguments: &[&str]) -> bool {
    let mut command = Command::new("openssl");
    let output = command.args(arguments).current_dir(directory).output();
    output.expect("run openssl").status.success()
}

/// An authority.
struct Authority {
    directory: TempDir,
}

impl Authority {
    fn create(key: &[&str]) -> Self {
        let directory = tempfile::tempdir().unwrap();
        // What *ring* verifies: it has no ECDSA with SHA-512.
        let digest = if key.contains(&"rsa:2048") {
            "sha512"
        } else {
            "sha256"
        };
        let configuration = CONFIGURATION.replace("DIGEST", digest);
        let extensions = "basicConstraints=CA:FALSE\nextendedKeyUsage=critical,timeStamping\n";
        for (name, text) in [
            ("tsa.cnf", configuration.as_str()),
            ("serial", "01\n"),
            ("ext", extensions),
        ] {
            std::fs::write(directory.path().join(name), text).unwrap();
        }
        let root = [
            "req", "-x509", "-days", "3650", "-subj", "/CN=Root", "-keyout", "ca.key", "-out", "ca.pem",
            "-nodes",
        ];
        let request = [
            "req",
            "-new",
            "-subj",
            "/CN=Authority",
            "-keyout",
            "tsa.key",
            "-out",
            "tsa.csr",
            "-nodes",
        ];
        let sign = [
            "x509",
            "-req",
            "-days",
            "3650",
            "-in",
            "tsa.csr",
            "-CA",
            "ca.pem",
            "-CAkey",
            "ca.key",
            "-CAcreateserial",
            "-extfile",
            "ext",
            "-out",
            "tsa.pem",
        ];
        for arguments in [
            [&root[..], key].concat(),
            [&request[..], key].concat(),
            sign.to_vec(),
        ] {
            assert!(openssl(directory.path(), &arguments), "{arguments:?}");
        }
        Self { directory }
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.directory.path().join(name)
    }

    fn roots(&self) -> TimeStampRoots {
        TimeStampRoots::from_pem(&std::fs::read(self.path("ca.pem")).unwrap()).unwrap()
    }

    /// The response to a query.
    fn reply(&self, query: &[u8]) -> Vec<u8> {
        std::fs::write(self.path("query"), query).unwrap();
        let arguments = [
            "ts",
            "-reply",
            "-queryfile",
            "query",
            "-config",
            "tsa.cnf",
            "-out",
            "reply",
        ];
        openssl(self.directory.path(), &arguments);
        std::fs::read(self.path("reply")).unwrap()
    }
}

fn request(document: &[u8], nonce: u8) -> TimeStampRequest {
    TimeStampRequest::new(Sha256::digest(document).into(), [nonce; 8])
}

/// The checks of a stored time stamp.
fn verified(response: &[u8], roots: &TimeStampRoots) -> Result<TimeStamp, TimeStampError> {
    let stamp = TimeStamp::parse(response)?;
    stamp.check_digest(&Sha256::digest(DOCUMENT).into())?;
    stamp.verify(roots)?;
    Ok(stamp)
}

#[test]
fn a_time_stamp_is_accepted_as_openssl_accepts_it() {
    for key in [&RSA[..], &CURVE] {
        let authority = Authority::create(key);
        let request = request(DOCUMENT, 0xff);
        let response = authority.reply(request.der());
        let stamp = verified(&response, &authority.roots()).unwrap();
        stamp.check(&request).unwrap();
        assert!(stamp.time().as_seconds() > 1_700_000_000);
        std::fs::write(authority.path("document"), DOCUMENT).unwrap();
        let verify = [
            "ts", "-verify", "-data", "document", "-in", "reply", "-CAfile", "ca.pem",
        ];
        assert!(openssl(authority.directory.path(), &verify));
    }
}

#[test]
fn a_response_to_another_request_is_refused() {
    let authority = Authority::create(&CURVE);
    let asked = request(DOCUMENT, 7);
    let check = |response: &[u8]| TimeStamp::parse(response)?.check(&asked);
    let of = |document: &[u8], nonce| authority.reply(request(document, nonce).der());
    assert_eq!(check(&of(DOCUMENT, 7)), Ok(()));
    assert_eq!(check(&of(b"other", 7)), Err(TimeStampError::OtherDocument));
    assert_eq!(check(&of(DOCUMENT, 8)), Err(TimeStampError::OtherNonce));
    assert!(matches!(
        check(&authority.reply(b"no query")),
        Err(TimeStampError::NotGranted(2))
    ));
    for garbage in [
        &b""[..],
        b"<html>",
        &[0x30, 0x80, 0, 0],
        &[0x30, 3, 2, 1, 0],
        &[0xff; 70],
    ] {
        let error = check(garbage).unwrap_err();
        assert!(matches!(error, TimeStampError::Malformed(_)), "{error}");
    }
}

#[test]
fn a_time_stamp_by_an_authority_that_is_not_trusted_is_refused() {
    let (one, other) = (Authority::create(&CURVE), Authority::create(&CURVE));
    let response = one.reply(request(DOCUMENT, 7).der());
    let refused = verified(&response, &other.roots()).unwrap_err();
    assert!(matches!(refused, TimeStampError::Certificate(_)), "{refused}");
    // One of several roots suffices.
    let both = [
        std::fs::read(other.path("ca.pem")).unwrap(),
        std::fs::read(one.path("ca.pem")).unwrap(),
    ]
    .concat();
    verified(&response, &TimeStampRoots::from_pem(&both).unwrap()).unwrap();
    assert_eq!(TimeStampRoots::from_pem(b"no PEM").err(), Some(RootsError::None));
}

#[test]
fn every_changed_byte_is_refused_or_changes_nothing() {
    let authority = Authority::create(&CURVE);
    let (roots, response) = (authority.roots(), authority.reply(request(DOCUMENT, 7).der()));
    let original = verified(&response, &roots).unwrap();
    let mut unnoticed = 0;
    for position in 0..response.len() {
        let mut changed = response.clone();
        changed[position] ^= 1;
        if let Ok(stamp) = verified(&changed, &roots) {
            assert_eq!(stamp.time(), original.time(), "byte {position}");
            unnoticed += 1;
        }
    }
    // The status, versions and names that nothing is derived from.
    assert!(
        unnoticed < response.len() / 5,
        "{unnoticed} of {}",
        response.len()
    );
}
