//! Verifies messages of webhooks: Standard Webhooks, version 1, with symmetric secrets.

use crate::ambient;
use crate::error::Error;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit, Mac};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::Sha256;

/// Seconds by which the time of a message may differ from the clock.
const TOLERANCE_SECONDS: u64 = 300;
const SECRET_PREFIX: &str = "whsec_";
/// A shorter secret is not one of the service.
const SECRET_BYTES_MIN: usize = 16;

/// The headers of a webhook's request.
#[derive(Clone, Copy, Debug)]
pub struct WebhookHeaders<'a> {
    /// `webhook-id`. A message can come more than once: drop those whose id you have seen.
    pub id: &'a str,
    /// `webhook-timestamp`.
    pub timestamp: &'a str,
    /// `webhook-signature`.
    pub signature: &'a str,
}

/// The message of a webhook, as its `type` says.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(tag = "type")]
#[non_exhaustive]
pub enum WebhookMessage {
    /// An alert has fired.
    #[serde(rename = "alert.fired")]
    AlertFired {
        /// When it fired, RFC 3339.
        timestamp: String,
        /// The alert as it fired.
        data: Box<FiredAlert>,
    },
    /// A test message was requested.
    #[serde(rename = "webhook.test")]
    Test {
        /// When it was requested, RFC 3339.
        timestamp: String,
        /// The webhook.
        data: TestedWebhook,
    },
    /// A type that this version does not know. Ignore it: the service adds types without a new version.
    #[serde(other)]
    Other,
}

/// An alert as it fired.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[non_exhaustive]
pub struct FiredAlert {
    /// `alt_…`.
    pub id: String,
    /// The rule that fired.
    pub rule_id: String,
    /// The name of the rule.
    pub rule_name: String,
    /// `low`, `medium`, `high` or `critical`.
    pub severity: String,
    /// `open`.
    pub status: String,
    /// The tenant of the events.
    pub tenant_id: String,
    /// The field by which the rule groups events: `actor_id`, `tenant_id`, `ip_address`, `session_id` or `target_id`.
    pub group_by: String,
    /// The value of that field.
    pub group_key: String,
    /// The field whose distinct values the rule counts; `None` if it counts events.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub count_distinct: Option<String>,
    /// How many events matched in the window of the rule, or how many values.
    pub event_count: u64,
    /// Some of them.
    pub sample_event_ids: Vec<String>,
    /// When it fired, RFC 3339.
    pub fired_at: String,
    /// `None`: no alert is acknowledged when it fires.
    pub acknowledged_at: Option<String>,
    /// `None`: no alert is resolved when it fires.
    pub resolved_at: Option<String>,
    /// The project.
    pub project_id: String,
    /// The name of the project.
    pub project_name: String,
    /// `live`.
    pub environment: String,
    /// The name of the actor, of a rule that groups by actor.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub actor_name: Option<String>,
    /// Where the console shows the alert, if the operator has set `AUDIT_PUBLIC_URL`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
}

/// The webhook of a test message.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct TestedWebhook {
    /// `wh_…`.
    pub webhook_id: String,
}

impl WebhookMessage {
    /// The message that [`verify_webhook`] has returned.
    ///
    /// # Errors
    /// [`Error::Verification`] if a field is missing.
    pub fn of(message: &Value) -> Result<Self, Error> {
        Self::deserialize(message).map_err(|error| Error::Verification(format!("the message: {error}")))
    }
}

/// The message of a webhook; [`WebhookMessage::of`] reads it. `body` is the request's body as it came, before any parsing. One of the `secrets` (`whsec_…`) has to
/// match.
///
/// # Errors
/// [`Error::Verification`] if the message is not signed by a secret, or not of the last five minutes. [`Error::Argument`] if a
/// secret is not complete.
pub fn verify_webhook(body: &[u8], headers: &WebhookHeaders<'_>, secrets: &[&str]) -> Result<Value, Error> {
    verify_webhook_at(body, headers, secrets, ambient::now().as_micros() / 1_000_000)
}

/// As [`verify_webhook`], at this time in seconds since 1970: for tests.
///
/// # Errors
/// As [`verify_webhook`].
pub fn verify_webhook_at(
    body: &[u8],
    headers: &WebhookHeaders<'_>,
    secrets: &[&str],
    now_seconds: i64,
) -> Result<Value, Error> {
    let invalid = |reason: &str| Error::Verification(reason.to_owned());
    let is_number =
        !headers.timestamp.is_empty() && headers.timestamp.bytes().all(|byte| byte.is_ascii_digit());
    let sent_at = headers.timestamp.parse::<i64>().ok().filter(|_| is_number);
    let sent_at = sent_at.ok_or_else(|| invalid("the header webhook-timestamp is not a number"))?;
    if now_seconds.abs_diff(sent_at) > TOLERANCE_SECONDS {
        return Err(invalid("the message is more than 300 s old, or from the future"));
    }
    let given = headers
        .signature
        .split(' ')
        .filter_map(|entry| entry.strip_prefix("v1,"));
    let given: Vec<Vec<u8>> = given.filter_map(|text| STANDARD.decode(text).ok()).collect();
    let mut is_signed = false;
    for secret in secrets {
        let mut mac = Hmac::<Sha256>::new_from_slice(&key_of(secret)?)
            .map_err(|error| Error::argument("secret", error))?;
        mac.update(format!("{}.{}.", headers.id, headers.timestamp).as_bytes());
        mac.update(body);
        // `verify_slice` compares in constant time. All pairs are compared.
        for signature in &given {
            is_signed |= mac.clone().verify_slice(signature).is_ok();
        }
    }
    if !is_signed {
        return Err(invalid("no signature of the message is valid"));
    }
    match serde_json::from_slice(body) {
        Ok(message @ Value::Object(_)) => Ok(message),
        _ => Err(invalid("the message is not a JSON object")),
    }
}

fn key_of(secret: &str) -> Result<Vec<u8>, Error> {
    let text = secret.strip_prefix(SECRET_PREFIX);
    let text = text.ok_or_else(|| Error::argument("secret", "must begin with whsec_"))?;
    match STANDARD.decode(text) {
        // An empty key would accept what anybody can sign. The text of a hidden secret in a list is such a case.
        Ok(key) if key.len() >= SECRET_BYTES_MIN => Ok(key),
        _ => Err(Error::argument(
            "secret",
            "is not complete; it is shown only when it is made",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    // The vector of the reference libraries of Standard Webhooks.
    const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
    const BODY: &[u8] = br#"{"test": 2432232314}"#;
    const TIME: i64 = 1_614_265_330;
    const HEADERS: WebhookHeaders<'_> = WebhookHeaders {
        id: "msg_p5jXN8AQM9LWM0D4loKWxJek",
        timestamp: "1614265330",
        signature: "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
    };

    #[test]
    fn the_vector_of_the_reference_libraries_is_valid() {
        let message = verify_webhook_at(BODY, &HEADERS, &[SECRET], TIME + 300).unwrap();
        assert_eq!(message["test"], 2_432_232_314_u64);
        let other = "whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
        assert!(verify_webhook_at(BODY, &HEADERS, &[other, SECRET], TIME).is_ok());
        let signature = format!("v1,AAAA v1a,BBBB {}", HEADERS.signature);
        let headers = WebhookHeaders {
            signature: &signature,
            ..HEADERS
        };
        assert!(verify_webhook_at(BODY, &headers, &[SECRET], TIME).is_ok());
    }

    fn names(object: &Value) -> BTreeSet<&String> {
        object.as_object().unwrap().keys().collect()
    }

    #[test]
    fn a_message_is_what_its_type_says() {
        let document = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/openapi.json");
        let document: Value = serde_json::from_slice(&std::fs::read(document).unwrap()).unwrap();
        let operation = &document["components"]["pathItems"]["AlertFired"]["post"];
        let alert = &operation["requestBody"]["content"]["application/json"]["examples"]["example"]["value"];
        let WebhookMessage::AlertFired { data, .. } = WebhookMessage::of(alert).unwrap() else {
            panic!("an alert: {alert}")
        };
        // The example has every field of the schema.
        let fields = serde_json::to_value(&data).unwrap();
        assert_eq!(fields, alert["data"]);
        let described = &document["components"]["schemas"]["Alert"]["properties"];
        assert_eq!(names(&fields), names(described));
        let test =
            serde_json::json!({"type": "webhook.test", "timestamp": "x", "data": {"webhook_id": "wh_1"}});
        assert!(matches!(
            WebhookMessage::of(&test).unwrap(),
            WebhookMessage::Test { .. }
        ));
        let other = serde_json::json!({"type": "alert.new", "data": 1});
        assert_eq!(WebhookMessage::of(&other).unwrap(), WebhookMessage::Other);
        assert!(WebhookMessage::of(&serde_json::json!({"type": "alert.fired"})).is_err());
    }

    #[test]
    fn nothing_else_is_valid() {
        let check = |body: &[u8], headers: &WebhookHeaders<'_>, now| {
            let error = verify_webhook_at(body, headers, &[SECRET], now).unwrap_err();
            assert!(matches!(error, Error::Verification(_)), "{error}");
        };
        check(br#"{"test": 2432232315}"#, &HEADERS, TIME);
        check(BODY, &HEADERS, TIME + 301);
        check(BODY, &HEADERS, TIME - 301);
        check(
            BODY,
            &WebhookHeaders {
                id: "msg_2",
                ..HEADERS
            },
            TIME,
        );
        check(
            BODY,
            &WebhookHeaders {
                timestamp: "1614265331",
                ..HEADERS
            },
            TIME,
        );
        check(
            BODY,
            &WebhookHeaders {
                timestamp: "+1614265330",
                ..HEADERS
            },
            TIME,
        );
        check(
            BODY,
            &WebhookHeaders {
                timestamp: "-9223372036854775808",
                ..HEADERS
            },
            TIME,
        );
        check(
            BODY,
            &WebhookHeaders {
                signature: "",
                ..HEADERS
            },
            TIME,
        );
        check(
            BODY,
            &WebhookHeaders {
                signature: &HEADERS.signature[3..],
                ..HEADERS
            },
            TIME,
        );
        assert!(verify_webhook_at(BODY, &HEADERS, &[], TIME).is_err());
    }

    #[test]
    fn an_incomplete_secret_is_an_error() {
        for secret in [
            "",
            "whsec_",
            "whsec_********",
            "whsec_AAAA",
            "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
        ] {
            let error = verify_webhook_at(BODY, &HEADERS, &[secret], TIME).unwrap_err();
            assert!(matches!(error, Error::Argument { .. }), "{error}");
        }
    }
}
