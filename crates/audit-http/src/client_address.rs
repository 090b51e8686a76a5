//! What proxies report of a client: its address, for the limits of anonymous streams and for look-ups of credentials, and the scheme
//! that it has used.

use actix_web::HttpRequest;
use actix_web::http::header::HeaderName;
use audit_admission::{TrustedProxies, subscriber};
use std::net::{IpAddr, Ipv6Addr};

const FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");
const FORWARDED_PROTO: HeaderName = HeaderName::from_static("x-forwarded-proto");

/// Identifies the client of a request: an IPv4 address, or the first 64 bits of an IPv6 address, the prefix of one
/// subscriber.
pub(crate) fn client_of(request: &HttpRequest, proxies: &TrustedProxies) -> String {
    name(address_of(request, proxies).unwrap_or(IpAddr::V6(Ipv6Addr::UNSPECIFIED)))
}

/// The address of the client of a request; `None` if it is unknown.
pub(crate) fn address_of(request: &HttpRequest, proxies: &TrustedProxies) -> Option<IpAddr> {
    let peer = request.peer_addr().map(|peer| peer.ip());
    // The lines of a header cannot be read from the end.
    let forwarded_for: Vec<&[u8]> = request
        .headers()
        .get_all(FORWARDED_FOR)
        .map(|value| value.as_bytes())
        .collect();
    proxies.client(peer, forwarded_for.into_iter())
}

/// The scheme that the client of a request has used, as a trusted proxy reports it; `None` if none does. Of several, the first one: that of
/// the outermost proxy. A client can forge it where proxies append to it, as it can the `Host`: only its own response has it.
pub(crate) fn scheme_of(request: &HttpRequest, proxies: &TrustedProxies) -> Option<&'static str> {
    let peer = request.peer_addr().map(|peer| peer.ip().to_canonical());
    let reported = request.headers().get(FORWARDED_PROTO)?.to_str().ok()?;
    let scheme = reported.split(',').next()?.trim();
    let known = ["https", "http"]
        .into_iter()
        .find(|known| scheme.eq_ignore_ascii_case(known))?;
    proxies.trust(peer).then_some(known)
}

fn name(address: IpAddr) -> String {
    match subscriber(address) {
        IpAddr::V4(address) => address.to_string(),
        IpAddr::V6(network) => format!("{network}/64"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use actix_web::http::header::HeaderValue;
    use actix_web::test::TestRequest;

    #[test]
    fn the_client_is_read_from_the_bytes_of_every_line() {
        let proxies = TrustedProxies::new(vec!["10.0.0.0/8".parse().unwrap()], false);
        let client = |lines: &[&[u8]]| {
            let request = TestRequest::default().peer_addr("10.0.0.1:80".parse().unwrap());
            let request = lines.iter().fold(request, |request, line| {
                request.append_header(("X-Forwarded-For", HeaderValue::from_bytes(line).unwrap()))
            });
            client_of(&request.to_http_request(), &proxies)
        };
        assert_eq!(client(&[]), "10.0.0.1");
        assert_eq!(client(&[b"1.1.1.1", b"198.51.100.1, 10.0.0.2"]), "198.51.100.1");
        assert_eq!(client(&[b"2001:db8:1:2:3:4:5:6"]), "2001:db8:1:2::/64");
        // A client sent the first line and the byte; a proxy appended the address to the last line.
        assert_eq!(client(&[b"1.1.1.1", b"\xe9, 198.51.100.1"]), "198.51.100.1");
    }
}
