//! Signatures of the [Standard Webhooks](https://github.com/standard-webhooks/standard-webhooks) specification, version
//! 1, symmetric scheme (`v1`).

use crate::{MessageId, WebhookSecret};
use audit_domain::Timestamp;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

/// The headers by which a receiver verifies a message: its id, its time and its signatures.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignatureHeaders {
    id: String,
    timestamp: String,
    signature: String,
}

impl SignatureHeaders {
    /// The header with the message id, which is the same on every attempt.
    pub const ID: &'static str = "webhook-id";
    /// The header with the time of the attempt, in seconds since the Unix epoch.
    pub const TIMESTAMP: &'static str = "webhook-timestamp";
    /// The header with one signature per active secret, separated by spaces.
    pub const SIGNATURE: &'static str = "webhook-signature";

    /// Signs an attempt made at `now`. `older` are rotated secrets that are still active, newest first. A receiver accepts the
    /// message if any signature is valid, so it can change its secret at any time in between.
    pub fn sign(
        message: MessageId,
        now: Timestamp,
        body: &[u8],
        newest: &WebhookSecret,
        older: &[WebhookSecret],
    ) -> Self {
        let (id, seconds) = (message.to_string(), now.as_seconds());
        let mut signatures = signature(newest.as_bytes(), &id, seconds, body);
        for secret in older {
            signatures.push(' ');
            signatures.push_str(&signature(secret.as_bytes(), &id, seconds, body));
        }
        Self {
            id,
            timestamp: seconds.to_string(),
            signature: signatures,
        }
    }

    /// The names and values of the headers.
    pub fn pairs(&self) -> [(&'static str, &str); 3] {
        [
            (Self::ID, &self.id),
            (Self::TIMESTAMP, &self.timestamp),
            (Self::SIGNATURE, &self.signature),
        ]
    }
}

/// One signature: `v1,` and base64 of HMAC-SHA256 under `secret` of `{id}.{unix_seconds}.{body}`.
///
/// `secret` is the bytes, not the text. The id must not contain a full stop, because it separates the signed parts; a
/// [`MessageId`] has none.
pub fn signature(secret: &[u8], id: &str, unix_seconds: i64, body: &[u8]) -> String {
    let mac = <Hmac<Sha256> as KeyInit>::new_from_slice(secret).expect("HMAC takes keys of every length");
    let signed_before_body = format!("{id}.{unix_seconds}.");
    let code = mac.chain_update(signed_before_body).chain_update(body).finalize();
    format!("v1,{}", STANDARD.encode(code.into_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn published(secret: &str, id: &str, unix_seconds: i64, body: &str) -> String {
        signature(
            &STANDARD.decode(secret).unwrap(),
            id,
            unix_seconds,
            body.as_bytes(),
        )
    }

    /// From the tests of the specification's reference libraries.
    #[test]
    fn the_vector_of_the_reference_libraries_is_met() {
        assert_eq!(
            published(
                "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
                "msg_p5jXN8AQM9LWM0D4loKWxJek",
                1_614_265_330,
                r#"{"test": 2432232314}"#,
            ),
            "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
        );
    }

    /// From the documentation of Svix on verifying manually, the scheme from which the specification comes.
    #[test]
    fn the_vector_for_manual_verification_is_met() {
        assert_eq!(
            published(
                "plJ3nmyCDGBKInavdOK15jsl",
                "msg_loFOjxBNrRLzqYUf",
                1_731_705_121,
                r#"{"event_type":"ping","data":{"success":true}}"#,
            ),
            "v1,rAvfW3dJ/X/qxhsaXPOyyCGmRKsaKWcsNccKXlIktD0="
        );
    }

    #[test]
    fn every_secret_in_force_signs_the_newest_first() {
        let (now, message) = (
            Timestamp::from_micros(1_768_473_000_999_999),
            MessageId::from_bytes([9; 16]),
        );
        let [newest, older, oldest] = [1, 2, 3].map(|byte| WebhookSecret::from_bytes([byte; 32]));
        let headers = SignatureHeaders::sign(message, now, b"{}", &newest, &[older.clone(), oldest.clone()]);
        let expected = [newest, older, oldest]
            .map(|secret| signature(secret.as_bytes(), &message.to_string(), 1_768_473_000, b"{}"))
            .join(" ");
        assert_eq!(
            headers.pairs(),
            [
                ("webhook-id", message.to_string().as_str()),
                ("webhook-timestamp", "1768473000"),
                ("webhook-signature", expected.as_str()),
            ]
        );
    }

    proptest! {
        #[test]
        fn headers_are_visible_ascii_and_every_part_counts(
            id in any::<[u8; 16]>(), seconds in 0i64..4_000_000_000, body in prop::collection::vec(any::<u8>(), 0..200),
        ) {
            let (message, now) = (MessageId::from_bytes(id), Timestamp::from_seconds(seconds));
            let secret = WebhookSecret::from_bytes([7; 32]);
            let headers = SignatureHeaders::sign(message, now, &body, &secret, &[]);
            for (_, value) in headers.pairs() {
                prop_assert!(value.bytes().all(|byte| byte.is_ascii_graphic()));
            }
            let longer = [&body[..], b" "].concat();
            for other in [
                SignatureHeaders::sign(message, now, &longer, &secret, &[]),
                SignatureHeaders::sign(message, now.plus_seconds(1), &body, &secret, &[]),
                SignatureHeaders::sign(message, now, &body, &WebhookSecret::from_bytes([8; 32]), &[]),
            ] {
                prop_assert_ne!(&other.signature, &headers.signature);
            }
        }
    }
}
