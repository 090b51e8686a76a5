//! The address of a client without a known credential: for the limits of anonymous streams, and for look-ups of credentials.

use actix_web::HttpRequest;
use ipnet::IpNet;
use std::net::{IpAddr, Ipv6Addr};

/// The proxies whose `X-Forwarded-For` is trusted.
#[derive(Clone, Debug, Default)]
pub struct TrustedProxies {
    networks: Vec<IpNet>,
    unix: bool,
}

impl TrustedProxies {
    /// The proxies in these networks, and with `unix` every peer of a Unix socket.
    pub const fn new(networks: Vec<IpNet>, unix: bool) -> Self {
        Self { networks, unix }
    }

    /// Whether the peer is a trusted proxy. A peer without an address is that of a Unix socket.
    #[must_use]
    pub fn trust(&self, peer: Option<IpAddr>) -> bool {
        match peer {
            Some(address) => self.networks.iter().any(|network| network.contains(&address)),
            None => self.unix,
        }
    }

    /// The client's address: the peer's, or, if that is a trusted proxy, the last address in `X-Forwarded-For` that is
    /// not one. The client may have forged everything before it. `None` if it is unknown, as on a Unix socket without a
    /// trusted proxy.
    fn client(&self, peer: Option<IpAddr>, forwarded_for: &[&str]) -> Option<IpAddr> {
        let mut client = peer.map(|address| address.to_canonical());
        let hops = forwarded_for
            .iter()
            .rev()
            .flat_map(|line| line.rsplit(','))
            .map(read_address);
        for hop in hops {
            if !self.trust(client) {
                break;
            }
            // Trusted proxies write only addresses, so any other text ends the trusted part.
            let Some(address) = hop else { break };
            client = Some(address);
        }
        client
    }
}

/// An address as proxies write it: perhaps with a port, IPv6 then in brackets.
fn read_address(text: &str) -> Option<IpAddr> {
    let text = text.trim();
    let bare = text.trim_start_matches('[').trim_end_matches(']');
    let parsed = bare.parse::<IpAddr>();
    let with_port = || text.parse::<std::net::SocketAddr>().map(|address| address.ip());
    parsed
        .or_else(|_| with_port())
        .ok()
        .map(|address| address.to_canonical())
}

/// Identifies the client of a request: an IPv4 address, or the first 64 bits of an IPv6 address, the prefix of one
/// subscriber.
pub(crate) fn client_of(request: &HttpRequest, proxies: &TrustedProxies) -> String {
    name(address_of(request, proxies).unwrap_or(IpAddr::V6(Ipv6Addr::UNSPECIFIED)))
}

/// The address of the client of a request; `None` if it is unknown.
pub(crate) fn address_of(request: &HttpRequest, proxies: &TrustedProxies) -> Option<IpAddr> {
    let peer = request.peer_addr().map(|peer| peer.ip());
    let forwarded_for: Vec<&str> = request
        .headers()
        .get_all("x-forwarded-for")
        .filter_map(|value| value.to_str().ok())
        .collect();
    proxies.client(peer, &forwarded_for)
}

fn name(address: IpAddr) -> String {
    match address {
        IpAddr::V4(address) => address.to_string(),
        IpAddr::V6(address) => {
            let network = u128::from(address) >> 64 << 64;
            format!("{}/64", Ipv6Addr::from(network))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn client(peer: &str, forwarded_for: &[&str]) -> String {
        let networks = ["10.0.0.0/8", "fd00::/8"].map(|network| network.parse().unwrap());
        let proxies = TrustedProxies::new(networks.to_vec(), false);
        let client = proxies.client(Some(peer.parse().unwrap()), forwarded_for);
        name(client.unwrap())
    }

    #[test]
    fn a_peer_of_a_unix_socket_is_believed_if_it_is_trusted() {
        let networks = vec!["10.0.0.0/8".parse().unwrap()];
        let client = |unix, forwarded_for: &[&str]| {
            let proxies = TrustedProxies::new(networks.clone(), unix);
            proxies
                .client(None, forwarded_for)
                .map(|address| address.to_string())
        };
        assert_eq!(client(false, &["198.51.100.1"]), None);
        assert_eq!(client(true, &[]), None);
        assert_eq!(client(true, &["nonsense"]), None);
        assert_eq!(
            client(true, &["1.1.1.1, 198.51.100.1"]).as_deref(),
            Some("198.51.100.1")
        );
        assert_eq!(
            client(true, &["198.51.100.1, 10.0.0.2"]).as_deref(),
            Some("198.51.100.1")
        );
    }

    #[test]
    fn only_trusted_proxies_are_believed() {
        assert_eq!(client("203.0.113.9", &["198.51.100.1"]), "203.0.113.9");
        assert_eq!(client("10.0.0.1", &["198.51.100.1"]), "198.51.100.1");
        assert_eq!(client("::ffff:10.0.0.1", &["198.51.100.1"]), "198.51.100.1");
        assert_eq!(client("10.0.0.1", &[]), "10.0.0.1");
    }

    #[test]
    fn what_the_client_wrote_itself_is_not_believed() {
        assert_eq!(
            client("10.0.0.1", &["1.1.1.1, 198.51.100.1, 10.0.0.2"]),
            "198.51.100.1"
        );
        assert_eq!(client("10.0.0.1", &["1.1.1.1", "198.51.100.1"]), "198.51.100.1");
        assert_eq!(client("10.0.0.1", &["1.1.1.1, nonsense"]), "10.0.0.1");
    }

    #[test]
    fn addresses_are_read_as_proxies_write_them() {
        assert_eq!(client("10.0.0.1", &["198.51.100.1:4711"]), "198.51.100.1");
        assert_eq!(client("10.0.0.1", &["[2001:db8::1]:4711"]), "2001:db8::/64");
        assert_eq!(client("fd00::1", &["2001:db8:1:2:3:4:5:6"]), "2001:db8:1:2::/64");
    }
}
