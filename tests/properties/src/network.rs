//! Texts and bytes that decide where the service connects, and what it accepts from there.

use crate::{seeds, text};
use audit_timestamp::{TimeStamp, TimeStampRoots};
use audit_webhooks::{AddressPolicy, WebhookUrl, is_public};
use sha2::{Digest, Sha256};
use std::net::IpAddr;

/// A response of a time-stamp authority, made with `openssl ts` for [`DOCUMENT`].
const TIME_STAMP: &[u8] = include_bytes!("../seeds/time_stamp.tsr");
const DOCUMENT: &[u8] = b"the document";
/// The root of its certificate. Its key is lost.
const TIME_STAMP_ROOT: &[u8] = include_bytes!("../seeds/time_stamp_root.pem");

/// An address of a webhook that is accepted is one of HTTPS, and the host to which the sender connects is no address that is not public,
/// however it is written.
pub fn webhook_url(bytes: &[u8]) -> bool {
    let Some(text) = text(bytes) else { return false };
    let Ok(url) = WebhookUrl::parse(text, AddressPolicy::Public) else {
        return false;
    };
    assert_eq!(url.as_str(), text);
    let host = url.host();
    assert!(!host.is_empty(), "{text}");
    let address = host.trim_start_matches('[').trim_end_matches(']');
    if let Ok(address) = address.parse::<IpAddr>() {
        assert!(is_public(address), "{text}: {address}");
    }
    assert!(
        !host.contains(['@', '/', '\\', '?', '#', '%']) && !host.chars().any(char::is_whitespace),
        "{text}: {host}"
    );
    assert_eq!(
        WebhookUrl::parse(text, AddressPolicy::AllowPrivate).as_ref(),
        Ok(&url),
        "a wider policy accepts more"
    );
    true
}

/// Inputs of [`webhook_url`].
pub fn webhook_url_seeds() -> Vec<Vec<u8>> {
    seeds(&[
        "https://example.com/hooks?a=b%20c",
        "HTTPS://hooks.Example.COM.:8443/a/../b",
        "https://8.8.8.8/",
        "https://0x08080808/x",
        "https://[2600::1]:443/",
        "https://xn--bcher-kva.example/\u{fc}",
    ])
}

/// A time stamp that leads to the root is the one that its authority signed: no changed one has another digest or time.
pub fn time_stamp(bytes: &[u8]) -> bool {
    let Ok(stamp) = TimeStamp::parse(bytes) else {
        return false;
    };
    let roots = TimeStampRoots::from_pem(TIME_STAMP_ROOT).expect("a root");
    if stamp.verify(&roots).is_ok() {
        let signed = TimeStamp::parse(TIME_STAMP).expect("a time stamp");
        assert_eq!(stamp.check_digest(&Sha256::digest(DOCUMENT).into()), Ok(()));
        assert_eq!(stamp.time(), signed.time());
    }
    true
}

/// Inputs of [`time_stamp`].
pub fn time_stamp_seeds() -> Vec<Vec<u8>> {
    vec![TIME_STAMP.to_vec()]
}
