//! Signatures of Standard Webhooks 1, computed from the text of the specification.

use crate::receiver::Received;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

/// The signatures of a request, each of which must be `v1,` and base64.
pub fn signatures(request: &Received) -> Vec<&str> {
    let signatures: Vec<&str> = request.header("webhook-signature").split(' ').collect();
    for signature in &signatures {
        assert!(signature.starts_with("v1,"), "{signature} in {request:?}");
    }
    signatures
}

/// The signature that a request must have when it was signed with `secret`.
pub fn signature(request: &Received, secret: &str) -> String {
    let key = secret
        .strip_prefix("whsec_")
        .unwrap_or_else(|| panic!("{secret} is no secret"));
    let key = STANDARD.decode(key).expect("a secret is base64");
    let mut mac = Hmac::<Sha256>::new_from_slice(&key).expect("any key will do");
    let content = format!(
        "{}.{}.{}",
        request.message_id(),
        request.header("webhook-timestamp"),
        request.body
    );
    mac.update(content.as_bytes());
    format!("v1,{}", STANDARD.encode(mac.finalize().into_bytes()))
}

/// Asserts that there is one signature for each of these secrets, the newest secret first, and no other.
pub fn assert_signed(request: &Received, secrets: &[&str]) {
    let expected: Vec<String> = secrets.iter().map(|secret| signature(request, secret)).collect();
    assert_eq!(signatures(request), expected, "{request:?}");
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Instant;

    #[test]
    fn the_example_of_the_specification_comes_out() {
        let header = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let request = Received {
            method: "POST".to_owned(),
            path: "/".to_owned(),
            headers: vec![
                header("webhook-id", "msg_p5jXN8AQM9LWM0D4loKWxJek"),
                header("webhook-timestamp", "1614265330"),
                header(
                    "webhook-signature",
                    "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
                ),
            ],
            body: r#"{"test": 2432232314}"#.to_owned(),
            arrived_at: Instant::now(),
        };
        assert_signed(&request, &["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"]);
    }
}
