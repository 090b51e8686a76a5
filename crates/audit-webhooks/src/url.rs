//! URLs of receivers.

use crate::AddressPolicy;
use std::fmt;
use std::net::IpAddr;
use ureq::http::Uri;
use url::{Host, Url};

/// The receiver of a webhook's messages: an `https` URL.
///
/// It is parsed once, by the [WHATWG URL Standard](https://url.spec.whatwg.org/). The same parse result is checked and
/// connected to, so that no two parsers can disagree about the host. `Display` and [`Self::as_str`] return the text as
/// written; `Debug` shows only the host, because receivers put tokens into paths and queries.
#[derive(Clone, PartialEq, Eq)]
pub struct WebhookUrl {
    text: String,
    uri: Uri,
}

/// The text is not a valid URL for a webhook. The messages follow the name of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UrlError {
    /// It is longer than [`WebhookUrl::CHARS_MAX`].
    #[error("must have at most {} characters", WebhookUrl::CHARS_MAX)]
    TooLong,
    /// It has another scheme or none.
    #[error("must begin with https://")]
    NotHttps,
    /// The text has characters that parsers silently drop or replace.
    #[error("must not contain spaces, control characters or backslashes")]
    Blank,
    /// It is no URL for another reason.
    #[error("must be a valid URL")]
    Invalid,
    /// It has a user name or a password.
    #[error("must not contain a user name or password")]
    Credentials,
    /// It has a fragment, which is never sent.
    #[error("must not contain a fragment (#…)")]
    Fragment,
    /// The host cannot be a name in DNS.
    #[error("must have a host of letters, digits, hyphens and dots, or an IP address")]
    Host,
    /// The policy forbids the host.
    #[error("must not lead to a loopback, private or otherwise special address")]
    AddressNotAllowed,
}

impl WebhookUrl {
    /// The longest URL, in characters.
    pub const CHARS_MAX: usize = 2_048;

    /// The longest name in DNS and the longest of its parts, in characters (RFC 1035 section 2.3.4).
    const NAME_CHARS_MAX: usize = 253;
    const LABEL_CHARS_MAX: usize = 63;

    /// Parses a URL. Checks a host that is an address, in any notation, against `policy`.
    ///
    /// A name is not resolved here: its addresses can change, so they are checked at every attempt. Parse a stored URL under
    /// [`AddressPolicy::AllowPrivate`], so that one written under a wider policy can still be shown;
    /// [`Sender`](crate::Sender) also checks literal addresses.
    ///
    /// # Errors
    /// [`UrlError`] names the rule that the text violates.
    pub fn parse(text: &str, policy: AddressPolicy) -> Result<Self, UrlError> {
        if text.chars().count() > Self::CHARS_MAX {
            return Err(UrlError::TooLong);
        }
        let is_https = text
            .get(..8)
            .is_some_and(|scheme| scheme.eq_ignore_ascii_case("https://"));
        if !is_https {
            return Err(UrlError::NotHttps);
        }
        if text.contains(|c: char| c.is_whitespace() || c.is_control() || c == '\\') {
            return Err(UrlError::Blank);
        }
        let url = Url::parse(text).map_err(|_| UrlError::Invalid)?;
        if !url.username().is_empty() || url.password().is_some() {
            return Err(UrlError::Credentials);
        }
        if url.fragment().is_some() {
            return Err(UrlError::Fragment);
        }
        check_host(url.host().ok_or(UrlError::Host)?, policy)?;
        let uri = Uri::try_from(url.as_str()).map_err(|_| UrlError::Invalid)?;
        Ok(Self {
            text: text.to_owned(),
            uri,
        })
    }

    /// The URL as written.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The host: a name, or an address.
    pub fn host(&self) -> &str {
        self.uri.host().unwrap_or_default()
    }

    /// The parsed URL, to which a sender connects.
    pub fn uri(&self) -> &Uri {
        &self.uri
    }
}

fn check_host(host: Host<&str>, policy: AddressPolicy) -> Result<(), UrlError> {
    let address: IpAddr = match host {
        Host::Ipv4(address) => address.into(),
        Host::Ipv6(address) => address.into(),
        Host::Domain(name) => return check_name(name, policy),
    };
    policy
        .allows(address)
        .then_some(())
        .ok_or(UrlError::AddressNotAllowed)
}

/// A name comes in lower case and in the form it has in DNS. It may end in a dot.
fn check_name(name: &str, policy: AddressPolicy) -> Result<(), UrlError> {
    let name = name.strip_suffix('.').unwrap_or(name);
    let is_label = |label: &str| {
        let is_label_char = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        (1..=WebhookUrl::LABEL_CHARS_MAX).contains(&label.len()) && label.chars().all(is_label_char)
    };
    if name.len() > WebhookUrl::NAME_CHARS_MAX || !name.split('.').all(is_label) {
        return Err(UrlError::Host);
    }
    // RFC 6761 section 6.3: these names resolve to loopback addresses, so every attempt would be refused.
    let is_local = name == "localhost" || name.ends_with(".localhost");
    if is_local && policy == AddressPolicy::Public {
        return Err(UrlError::AddressNotAllowed);
    }
    Ok(())
}

impl fmt::Display for WebhookUrl {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.text)
    }
}

impl fmt::Debug for WebhookUrl {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("WebhookUrl")
            .field("host", &self.uri.host())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn parse(text: &str) -> Result<WebhookUrl, UrlError> {
        WebhookUrl::parse(text, AddressPolicy::Public)
    }

    #[test]
    fn the_text_is_kept_and_the_parse_is_used() {
        for (text, uri) in [
            ("https://example.com", "https://example.com/"),
            (
                "HTTPS://Example.COM:443/Path?a=b%20c",
                "https://example.com/Path?a=b%20c",
            ),
            ("https://example.com:8443/a/../b", "https://example.com:8443/b"),
            (
                "https://bücher.example/ü?ö",
                "https://xn--bcher-kva.example/%C3%BC?%C3%B6",
            ),
            ("https://example.com./", "https://example.com./"),
            ("https://my_host.example.com/", "https://my_host.example.com/"),
            ("https://%65xample.com/", "https://example.com/"),
            ("https://8.8.8.8/hook", "https://8.8.8.8/hook"),
            ("https://134744072/", "https://8.8.8.8/"),
            (
                "https://[2606:4700:4700:0::1111]:444/",
                "https://[2606:4700:4700::1111]:444/",
            ),
        ] {
            let url = parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
            assert_eq!((url.as_str(), url.to_string().as_str()), (text, text));
            assert_eq!(url.uri().to_string(), uri);
        }
    }

    #[test]
    fn only_https_urls_without_credentials_and_fragment_are_accepted() {
        for (text, error) in [
            ("", UrlError::NotHttps),
            ("example.com", UrlError::NotHttps),
            ("http://example.com/", UrlError::NotHttps),
            ("https:/example.com/", UrlError::NotHttps),
            (" https://example.com/", UrlError::NotHttps),
            ("ftp://example.com/", UrlError::NotHttps),
            ("https://", UrlError::Invalid),
            ("https://?", UrlError::Invalid),
            ("https://example.com:99999/", UrlError::Invalid),
            ("https://exa<mple.com/", UrlError::Invalid),
            ("https://[::1", UrlError::Invalid),
            ("https://256.256.256.256/", UrlError::Invalid),
            ("https://example.com/a b", UrlError::Blank),
            ("https://example.com/\n", UrlError::Blank),
            ("https://exam\tple.com/", UrlError::Blank),
            ("https://example.com\\@other.example/", UrlError::Blank),
            ("https://user@example.com/", UrlError::Credentials),
            ("https://:secret@example.com/", UrlError::Credentials),
            ("https://example.com/#", UrlError::Fragment),
            ("https://example.com/#part", UrlError::Fragment),
            ("https://exa!mple.com/", UrlError::Host),
            ("https://example..com/", UrlError::Host),
            ("https://.example.com/", UrlError::Host),
            ("https://./", UrlError::Host),
        ] {
            assert_eq!(parse(text), Err(error), "{text}");
        }
    }

    #[test]
    fn lengths_are_bounded() {
        let of_length = |chars: usize| format!("https://example.com/{}", "é".repeat(chars - 20));
        assert!(parse(&of_length(2_048)).is_ok());
        assert_eq!(parse(&of_length(2_049)), Err(UrlError::TooLong));
        assert!(parse(&format!("https://{}.com/", "a".repeat(63))).is_ok());
        assert_eq!(
            parse(&format!("https://{}.com/", "a".repeat(64))),
            Err(UrlError::Host)
        );
        let name = |chars: usize| format!("https://{}a/", "a.".repeat(chars / 2));
        assert!(parse(&name(253)).is_ok());
        assert_eq!(parse(&name(255)), Err(UrlError::Host));
    }

    #[test]
    fn special_addresses_are_refused_in_every_notation() {
        for host in [
            "127.0.0.1",
            "127.1",
            "127.0.1",
            "2130706433",
            "0x7f000001",
            "0x7f.0.0.1",
            "0177.0.0.1",
            "017700000001",
            "127.0.0.1.",
            "0",
            "0.0.0.0",
            "%31%32%37.0.0.1",
            "①②⑦.⓪.⓪.①",
            "127。0。0。1",
            "10.0.0.1",
            "0xa.1",
            "169.254.169.254",
            "2852039166",
            "[::1]",
            "[::]",
            "[0:0:0:0:0:0:0:1]",
            "[::ffff:127.0.0.1]",
            "[::ffff:8.8.8.8]",
            "[::ffff:7f00:1]",
            "[64:ff9b::7f00:1]",
            "[fe80::1]",
            "[fd00::1]",
            "localhost",
            "LOCALHOST.",
            "a.localhost",
            "%6cocalhost",
            "ⓛocalhost",
        ] {
            let text = format!("https://{host}/");
            assert_eq!(parse(&text), Err(UrlError::AddressNotAllowed), "{text}");
            let allowed = WebhookUrl::parse(&text, AddressPolicy::AllowPrivate);
            assert!(allowed.is_ok(), "{text}");
        }
    }

    #[test]
    fn messages_follow_the_name_of_a_field() {
        assert_eq!(UrlError::TooLong.to_string(), "must have at most 2048 characters");
        assert_eq!(UrlError::NotHttps.to_string(), "must begin with https://");
    }

    #[test]
    fn debug_shows_only_the_host() {
        let url = parse("https://example.com/services/T00/secret?token=x").unwrap();
        assert_eq!(
            format!("{url:?}"),
            "WebhookUrl { host: Some(\"example.com\"), .. }"
        );
    }

    proptest! {
        /// The checked host is the one connected to, and no text makes parsing panic.
        #[test]
        fn both_parses_agree_on_the_host(
            authority in prop_oneof![
                "[a-zA-Z0-9.:@%_~!$&'()*+,;=\\[\\]-]{0,24}",
                "[a-zA-Z0-9é。-]{1,8}([.][a-zA-Z0-9é-]{1,8}){0,3}(:[0-9]{1,5})?",
                "\\[[0-9a-f:]{2,12}\\](:[0-9]{1,5})?",
            ],
            rest in "[/?][!-~é]{0,20}",
        ) {
            let text = format!("https://{authority}{rest}");
            if let Ok(url) = WebhookUrl::parse(&text, AddressPolicy::AllowPrivate) {
                let parsed = Url::parse(&text).unwrap();
                prop_assert_eq!(url.uri().host(), parsed.host_str());
                prop_assert_eq!(url.uri().port_u16(), parsed.port());
                prop_assert_eq!(url.uri().path(), parsed.path());
                prop_assert_eq!(url.uri().query(), parsed.query());
                prop_assert_eq!(url.uri().scheme_str(), Some("https"));
            }
        }

        #[test]
        fn an_accepted_address_is_public(bits in any::<u32>(), wide in any::<u128>()) {
            let (v4, v6) = (std::net::Ipv4Addr::from_bits(bits), std::net::Ipv6Addr::from_bits(wide));
            for (text, address) in [
                (format!("https://{bits}/"), IpAddr::from(v4)),
                (format!("https://0x{bits:x}/"), v4.into()),
                (format!("https://0{bits:o}/"), v4.into()),
                (format!("https://[{v6}]/"), v6.into()),
            ] {
                prop_assert_eq!(parse(&text).is_ok(), crate::is_public(address), "{}", text);
            }
        }
    }
}
