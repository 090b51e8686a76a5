use super::*;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64URL;
use hmac::{Hmac, KeyInit, Mac};
use serde_json::{Value, json};
use sha2::{Digest, Sha256, Sha384};

pub(super) const NOW: Timestamp = Timestamp::from_seconds(1_768_473_000);

pub(super) fn secret() -> ViewerSecret {
    ViewerSecret::from_parts("2026", [0xab; 32])
}

pub(super) fn claims() -> ViewerClaims {
    let project = "67e55044-10b1-426f-9247-bb680e5fe0c8".parse().unwrap();
    ViewerClaims::issue(
        project,
        "acme".into(),
        ("standard".into(), Timestamp::from_micros(1_768_000_000_000_001)),
        NOW,
        TokenLifetime::default(),
        [7; 16],
    )
}

fn wire_claims() -> Value {
    serde_json::to_value(WireClaims::from(&claims())).unwrap()
}

fn wire_header() -> Value {
    json!({ "typ": "JWT", "alg": "HS256", "kid": "2026" })
}

/// HMAC (RFC 2104), implemented from the hash function alone, independent of the code under test.
fn hmac_sha256(key: &[u8; 32], message: &[u8]) -> Vec<u8> {
    let pad = |with: u8| -> [u8; 64] {
        std::array::from_fn(|index| key.get(index).copied().unwrap_or_default() ^ with)
    };
    let inner = Sha256::new()
        .chain_update(pad(0x36))
        .chain_update(message)
        .finalize();
    Sha256::new()
        .chain_update(pad(0x5c))
        .chain_update(inner)
        .finalize()
        .to_vec()
}

fn assemble(header: &str, claims: &str, signature: impl Fn(&[u8]) -> Vec<u8>) -> String {
    let message = format!("{}.{}", BASE64URL.encode(header), BASE64URL.encode(claims));
    let signature = BASE64URL.encode(signature(message.as_bytes()));
    format!("vt_{message}.{signature}")
}

/// A token with this content, validly signed with HS256 and [`secret`].
fn signed(header: &Value, claims: &Value) -> String {
    assemble(&header.to_string(), &claims.to_string(), |message| {
        hmac_sha256(secret().as_bytes(), message)
    })
}

pub(super) fn verify_text(text: &str, now: Timestamp) -> Result<ViewerClaims, TokenError> {
    let token = ViewerTokenText::parse(text).map_err(|_| TokenError::Invalid)?;
    verify(&token, &[secret()], now)
}

#[test]
fn tokens_agree_with_a_recorded_example() {
    // Computed with an independent implementation (Python's hmac and base64).
    let expected = concat!(
        "vt_eyJ0eXAiOiJKV1QiLCJhbGciOiJIUzI1NiIsImtpZCI6IjIwMjYifQ.",
        "eyJpc3MiOiJhdWRpdC1sb2ciLCJhdWQiOiJhdWRpdC12aWV3ZXIiLCJzdWIiOiI2N2U1NTA0NC0xMGIxLTQyNmYtOTI0Ny1iYjY4MGU1ZmUwYz",
        "giLCJ0ZW5hbnRfaWQiOiJhY21lIiwidGllciI6InN0YW5kYXJkIiwidGllcl9hdCI6MTc2ODAwMDAwMDAwMDAwMSwiaWF0IjoxNzY4NDczMDAw",
        "LCJleHAiOjE3Njg0NzY2MDAsImp0aSI6IjA3MDcwNzA3LTA3MDctMDcwNy0wNzA3LTA3MDcwNzA3MDcwNyJ9.",
        "qaon-_yy6mKRO20tL6EDLr_-rRMhBpp7b-nWgLQqcus",
    );
    assert_eq!(sign(&claims(), &secret()).unwrap().as_str(), expected);
    assert_eq!(verify_text(expected, NOW), Ok(claims()));
}

#[test]
fn the_signature_is_the_hmac_of_header_and_claims() {
    let token = sign(&claims(), &secret()).unwrap();
    let (message, signature) = token.jwt().rsplit_once('.').unwrap();
    let expected = hmac_sha256(secret().as_bytes(), message.as_bytes());
    assert_eq!(BASE64URL.decode(signature).unwrap(), expected);
    let (header, payload) = message.split_once('.').unwrap();
    let read = |part: &str| serde_json::from_slice::<Value>(&BASE64URL.decode(part).unwrap()).unwrap();
    assert_eq!(read(header), wire_header());
    assert_eq!(
        read(payload),
        json!({
            "iss": "audit-log", "aud": "audit-viewer", "sub": claims().project_id.to_string(), "tenant_id": "acme",
            "tier": "standard", "tier_at": 1_768_000_000_000_001_i64, "iat": 1_768_473_000, "exp": 1_768_476_600, "jti": "07070707-0707-0707-0707-070707070707",
        })
    );
    assert_eq!(
        verify_text(&signed(&wire_header(), &wire_claims()), NOW),
        Ok(claims())
    );
}

#[test]
fn a_token_expires_at_its_second_without_leeway() {
    let token = sign(&claims(), &secret()).unwrap();
    let expires_at = claims().expires_at;
    assert_eq!(expires_at, NOW.plus_seconds(3_600));
    let last_moment = Timestamp::from_micros(expires_at.as_micros() - 1);
    assert_eq!(verify(&token, &[secret()], last_moment), Ok(claims()));
    assert_eq!(verify(&token, &[secret()], expires_at), Err(TokenError::Expired));
    assert_eq!(
        verify(&token, &[secret()], expires_at.plus_seconds(1)),
        Err(TokenError::Expired)
    );
}

#[test]
fn a_token_of_a_node_whose_clock_is_ahead_is_accepted() {
    assert!(verify_text(sign(&claims(), &secret()).unwrap().as_str(), NOW.plus_seconds(-5)).is_ok());
}

#[test]
fn fractions_of_a_second_are_dropped() {
    let now = Timestamp::from_micros(NOW.as_micros() + 999_999);
    let lifetime = TokenLifetime::from_seconds(60).unwrap();
    let issued = ViewerClaims::issue(
        claims().project_id,
        "acme".into(),
        ("full".into(), now),
        now,
        lifetime,
        [0; 16],
    );
    assert_eq!((issued.issued_at, issued.expires_at), (NOW, NOW.plus_seconds(60)));
    assert_eq!(
        verify(&sign(&issued, &secret()).unwrap(), &[secret()], now),
        Ok(issued)
    );
}

#[test]
fn a_token_that_outlives_the_longest_lifetime_is_invalid() {
    let with_lifetime = |seconds| {
        let mut claims = claims();
        claims.expires_at = claims.issued_at.plus_seconds(seconds);
        verify(&sign(&claims, &secret()).unwrap(), &[secret()], NOW).map(|_| ())
    };
    assert_eq!(with_lifetime(TokenLifetime::SECONDS_MAX), Ok(()));
    assert_eq!(
        with_lifetime(TokenLifetime::SECONDS_MAX + 1),
        Err(TokenError::Invalid)
    );
}

#[test]
fn a_rotated_secret_still_verifies_and_a_deleted_one_does_not() {
    let (old, new) = (ViewerSecret::generate([1; 40]), ViewerSecret::generate([2; 40]));
    let token = sign(&claims(), &old).unwrap();
    assert_eq!(verify(&token, &[new.clone(), old.clone()], NOW), Ok(claims()));
    assert_eq!(
        verify(&token, std::slice::from_ref(&new), NOW),
        Err(TokenError::Invalid)
    );
    assert_eq!(verify(&token, &[], NOW), Err(TokenError::Invalid));
    let namesake = ViewerSecret::from_parts(old.kid(), *new.as_bytes());
    assert_eq!(verify(&token, &[namesake], NOW), Err(TokenError::Invalid));
}

#[test]
fn an_expired_token_with_an_invalid_signature_is_invalid() {
    let token = sign(&claims(), &ViewerSecret::from_parts("2026", [0xac; 32])).unwrap();
    assert_eq!(
        verify(&token, &[secret()], NOW.plus_seconds(100_000)),
        Err(TokenError::Invalid)
    );
}

#[test]
fn no_other_algorithm_is_accepted() {
    for algorithm in [
        "none", "None", "HS384", "HS512", "RS256", "PS256", "ES256", "EdDSA", "hs256", "",
    ] {
        let mut header = wire_header();
        header["alg"] = json!(algorithm);
        assert_eq!(
            verify_text(&signed(&header, &wire_claims()), NOW),
            Err(TokenError::Invalid),
            "{algorithm}"
        );
    }
    let (header, payload) = (
        wire_header().to_string().replace("HS256", "HS384"),
        wire_claims().to_string(),
    );
    let hs384 = assemble(&header, &payload, |message| {
        let mac = Hmac::<Sha384>::new_from_slice(secret().as_bytes()).unwrap();
        mac.chain_update(message).finalize().into_bytes().to_vec()
    });
    assert_eq!(
        verify_text(&hs384, NOW),
        Err(TokenError::Invalid),
        "rightly signed with HS384"
    );
    let none = assemble(
        &wire_header().to_string().replace("HS256", "none"),
        &payload,
        |_| Vec::new(),
    );
    assert_eq!(
        ViewerTokenText::parse(&none).unwrap_err(),
        CredentialError::MalformedToken,
        "unsigned"
    );
    let unsigned = assemble(&wire_header().to_string(), &payload, |_| vec![0; 32]);
    assert_eq!(
        verify_text(&unsigned, NOW),
        Err(TokenError::Invalid),
        "signature of zeros"
    );
}

#[test]
fn the_header_must_be_exactly_the_one_that_sign_writes() {
    let additions = [
        ("kid", json!("2025")),
        ("kid", json!(null)),
        ("kid", json!(2026)),
        ("typ", json!("at+jwt")),
        ("crit", json!(["exp"])),
        ("crit", json!([])),
        ("b64", json!(false)),
        ("zip", json!("DEF")),
        ("cty", json!("JWT")),
        ("jku", json!("https://example.com/keys")),
        ("jwk", json!({ "kty": "oct", "k": BASE64URL.encode([0xab; 32]) })),
        ("other", json!(1)),
    ];
    for (name, value) in additions {
        let mut header = wire_header();
        header[name] = value;
        assert_eq!(
            verify_text(&signed(&header, &wire_claims()), NOW),
            Err(TokenError::Invalid),
            "{header}"
        );
    }
    for name in ["kid", "typ", "alg"] {
        let mut header = wire_header();
        header.as_object_mut().unwrap().remove(name);
        assert_eq!(
            verify_text(&signed(&header, &wire_claims()), NOW),
            Err(TokenError::Invalid),
            "no {name}"
        );
    }
    assert_eq!(
        verify_text(&signed(&json!([]), &wire_claims()), NOW),
        Err(TokenError::Invalid)
    );
}

#[test]
fn every_claim_is_required() {
    for name in [
        "iss",
        "aud",
        "sub",
        "tenant_id",
        "tier",
        "tier_at",
        "iat",
        "exp",
        "jti",
    ] {
        let mut claims = wire_claims();
        claims.as_object_mut().unwrap().remove(name);
        assert_eq!(
            verify_text(&signed(&wire_header(), &claims), NOW),
            Err(TokenError::Invalid),
            "no {name}"
        );
        claims[name] = Value::Null;
        assert_eq!(
            verify_text(&signed(&wire_header(), &claims), NOW),
            Err(TokenError::Invalid),
            "null {name}"
        );
    }
}

#[test]
fn claims_of_the_wrong_type_are_refused() {
    let replacements = [
        ("iss", json!("another-service")),
        ("iss", json!(["audit-log"])),
        ("aud", json!("another-audience")),
        ("aud", json!(["audit-viewer", "another-audience"])),
        ("sub", json!("default")),
        ("sub", json!("67e5504410b1426f9247bb680e5fe0c8")),
        ("tenant_id", json!(7)),
        ("tier", json!(["full"])),
        ("tier_at", json!("1768000000000001")),
        ("iat", json!("1768473000")),
        ("exp", json!("1768476600")),
        ("exp", json!(1_768_476_600.5)),
        ("exp", json!(i64::MAX)),
        ("exp", json!(u64::MAX)),
        ("iat", json!(i64::MIN)),
        ("jti", json!("07070707070707070707070707070707")),
        ("jti", json!("")),
    ];
    for (name, value) in replacements {
        let mut claims = wire_claims();
        claims[name] = value;
        assert_eq!(
            verify_text(&signed(&wire_header(), &claims), NOW),
            Err(TokenError::Invalid),
            "{claims}"
        );
    }
    let doubled = wire_claims()
        .to_string()
        .replacen('{', "{\"tenant_id\":\"other\",", 1);
    let doubled = assemble(&wire_header().to_string(), &doubled, |message| {
        hmac_sha256(secret().as_bytes(), message)
    });
    assert_eq!(
        verify_text(&doubled, NOW),
        Err(TokenError::Invalid),
        "two tenants"
    );
}

#[test]
fn the_outer_form_is_three_parts_of_base64url() {
    assert_eq!(
        ViewerTokenText::parse("mk_a.b.c").unwrap_err(),
        CredentialError::UnknownForm
    );
    assert_eq!(
        ViewerTokenText::parse("VT_a.b.c").unwrap_err(),
        CredentialError::UnknownForm
    );
    for text in [
        "vt_",
        "vt_a",
        "vt_a.b",
        "vt_a.b.",
        "vt_.b.c",
        "vt_a..c",
        "vt_a.b.c.d",
        "vt_a.b.c=",
        "vt_a.b.é",
    ] {
        assert_eq!(
            ViewerTokenText::parse(text).unwrap_err(),
            CredentialError::MalformedToken,
            "{text}"
        );
    }
}

#[test]
fn a_token_has_at_most_4096_bytes() {
    let longest = format!("vt_a.b.{}", "c".repeat(ViewerTokenText::TOKEN_BYTES_MAX - 7));
    assert!(ViewerTokenText::parse(&longest).is_ok());
    assert_eq!(
        ViewerTokenText::parse(&format!("{longest}c")).unwrap_err(),
        CredentialError::MalformedToken
    );
}

#[test]
fn the_longest_tenant_and_tier_fit_and_longer_ones_are_not_signed() {
    let secret = ViewerSecret::generate([0xff; 40]);
    // A control character takes six bytes in JSON, more than any other character.
    let mut claims = claims();
    (claims.tenant_id, claims.tier) = ("\u{1}".repeat(256), "\u{1}".repeat(100));
    let token = sign(&claims, &secret).unwrap();
    assert!(ViewerTokenText::parse(token.as_str()).is_ok());
    assert_eq!(
        verify(&token, std::slice::from_ref(&secret), NOW).as_ref(),
        Ok(&claims)
    );

    claims.tenant_id = "a".repeat(ViewerTokenText::TOKEN_BYTES_MAX);
    assert!(matches!(sign(&claims, &secret), Err(SignError::TooLong)));
}

#[test]
fn debug_shows_nothing_of_a_token() {
    assert_eq!(
        format!("{:?}", sign(&claims(), &secret()).unwrap()),
        "ViewerTokenText(..)"
    );
}
