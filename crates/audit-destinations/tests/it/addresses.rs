//! The addresses that attempts connect to.

use crate::receiver::{Authority, LONG, NOW, Receiver, accept, batch, config, of, options, send};
use audit_destinations::{Attempt, Config, DestinationSender, Kind, Verdict};
use audit_webhooks::AddressPolicy;
use serde_json::json;
use std::sync::Arc;

fn send_public(config: &Config) -> Attempt {
    let sender = DestinationSender::new(&options(AddressPolicy::Public, LONG)).expect("options that work");
    sender
        .send(config, &batch(1), NOW)
        .expect("a permit for the lookup")
}

#[test]
fn a_special_address_is_refused_before_a_connection() {
    let receiver = Receiver::responding(200, "", "");
    for kind in Kind::ALL {
        let attempt = send_public(&config(*kind, receiver.address));
        assert_eq!(attempt.response, "address_not_allowed", "{kind}");
        assert_eq!(attempt.verdict, Verdict::Retry { after: None });
    }
    let at = receiver.address;
    let lookup = Arc::new(move |_: &str, _| Ok(vec![at]));
    let public = options(AddressPolicy::Public, LONG);
    let sender = DestinationSender::with_lookup(&public, lookup).expect("options that work");
    let keys = json!({"access_key": "a", "secret_key": "b"});
    for named in [
        of(Kind::Syslog, &json!({"host": "rebound.example"}), &json!({})),
        of(Kind::Otlp, &json!({"url": "https://rebound.example"}), &json!({})),
        of(
            Kind::S3,
            &json!({"url": "https://rebound.example/b", "region": "r"}),
            &keys,
        ),
    ] {
        let attempt = sender.send(&named, &batch(1), NOW).expect("a permit");
        assert_eq!(attempt.response, "address_not_allowed");
    }
    receiver.assert_untouched();
}

/// A sender that allows private addresses reaches none for a configuration that is limited to public ones.
#[test]
fn a_configuration_can_be_limited_to_public_addresses() {
    let receiver = Receiver::responding(200, "", "");
    for kind in Kind::ALL {
        let limited = config(*kind, receiver.address).on_public_addresses();
        let attempt = send(&limited, &batch(1));
        assert_eq!(attempt.response, "address_not_allowed", "{kind}");
    }
    let plain = of(
        Kind::S3,
        &json!({"url": format!("http://{}/bucket", receiver.address), "region": "us-east-1"}),
        &json!({"access_key": "a", "secret_key": "b"}),
    );
    assert_eq!(
        send(&plain.on_public_addresses(), &batch(1)).response,
        "address_not_allowed"
    );
    receiver.assert_untouched();
}

#[test]
fn http_is_for_buckets_in_private_networks() {
    let receiver = Receiver::responding_plain(200);
    let config = of(
        Kind::S3,
        &json!({"url": format!("http://{}/bucket", receiver.address), "region": "us-east-1"}),
        &json!({"access_key": "a", "secret_key": "b"}),
    );
    assert_eq!(send_public(&config).response, "address_not_allowed");
    assert_eq!(send(&config, &batch(1)).verdict, Verdict::Delivered);
    assert!(receiver.request().head.starts_with("PUT /bucket/destination"));
}

#[test]
fn a_certificate_of_another_authority_is_not_trusted() {
    let tls = Authority::new("another").server(None);
    let receiver =
        Receiver::raw(move |tcp| std::io::copy(&mut accept(&tls, tcp), &mut std::io::sink()).map(|_| ()));
    for kind in Kind::ALL {
        let attempt = send(&config(*kind, receiver.address), &batch(1));
        assert_eq!(attempt.verdict, Verdict::Retry { after: None }, "{kind}");
        assert_eq!(
            attempt.response, "tls_failed: invalid peer certificate: UnknownIssuer",
            "{kind}"
        );
    }
}
