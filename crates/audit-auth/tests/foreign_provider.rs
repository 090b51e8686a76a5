//! `jsonwebtoken` has one provider per process. The crate must not panic if other code has set one.
//! This test is a file of its own, so that it runs in a process of its own.

use audit_auth::{
    SignError, TokenError, TokenLifetime, ViewerClaims, ViewerSecret, ViewerTokenText, viewer_token,
};
use audit_domain::{ProjectId, Timestamp};
use jsonwebtoken::crypto::{CryptoProvider, KeyUtils};
use jsonwebtoken::errors::ErrorKind;

static WITHOUT_HS256: CryptoProvider = CryptoProvider {
    signer_factory: |_, _| Err(ErrorKind::UnsupportedAlgorithm.into()),
    verifier_factory: |_, _| Err(ErrorKind::UnsupportedAlgorithm.into()),
    key_utils: KeyUtils::new_unimplemented(),
};

/// Signed with the secret of the test.
const TOKEN: &str = concat!(
    "vt_eyJ0eXAiOiJKV1QiLCJhbGciOiJIUzI1NiIsImtpZCI6IjIwMjYifQ.",
    "eyJpc3MiOiJhdWRpdC1sb2ciLCJhdWQiOiJhdWRpdC12aWV3ZXIiLCJzdWIiOiI2N2U1NTA0NC0xMGIxLTQyNmYtOTI0Ny1iYjY4MGU1Zm",
    "UwYzgiLCJ0ZW5hbnRfaWQiOiJhY21lIiwidGllciI6InN0YW5kYXJkIiwiaWF0IjoxNzY4NDczMDAwLCJleHAiOjE3Njg0NzY2MDAsImp0",
    "aSI6IjA3MDcwNzA3LTA3MDctMDcwNy0wNzA3LTA3MDcwNzA3MDcwNyJ9.",
    "UnkoXmKC6377IpJqxM9WLtelqB-9-m-Vx7giIYrS20g",
);

#[test]
fn a_provider_set_by_other_code_without_hs256_makes_errors_not_panics() {
    assert!(WITHOUT_HS256.install_default().is_ok());
    let secret = ViewerSecret::from_parts("2026", [0xab; 32]);
    let (project, now) = (
        ProjectId::from_random([1; 16]),
        Timestamp::from_seconds(1_768_473_000),
    );
    let lifetime = TokenLifetime::default();
    let claims = ViewerClaims::issue(
        project,
        "acme".into(),
        ("standard".into(), now),
        now,
        lifetime,
        [7; 16],
    );

    assert!(matches!(
        viewer_token::sign(&claims, &secret),
        Err(SignError::Provider(_))
    ));
    let token = ViewerTokenText::parse(TOKEN).unwrap();
    assert_eq!(
        viewer_token::verify(&token, &[secret], now),
        Err(TokenError::Invalid)
    );
}
