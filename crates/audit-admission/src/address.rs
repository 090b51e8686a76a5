//! The address of a client, which owns what it makes the server hold without a credential.

use ipnet::IpNet;
use std::net::{IpAddr, Ipv6Addr, SocketAddr};

/// The proxies whose `X-Forwarded-For` and `X-Forwarded-Proto` are trusted.
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

    /// The client's address: the peer's, or, if that is a trusted proxy, the last address in the lines of `X-Forwarded-For` that
    /// is not one. The client may have forged everything before it. `None` if it is unknown, as on a Unix socket without a
    /// trusted proxy.
    ///
    /// The lines are bytes, because a client may send bytes that are no text and a proxy appends its address to them: a line
    /// that were left out would take the proxy's address with it, and the line before it would be believed.
    pub fn client<'a>(
        &self,
        peer: Option<IpAddr>,
        forwarded_for: impl DoubleEndedIterator<Item = &'a [u8]>,
    ) -> Option<IpAddr> {
        let mut client = peer.map(|address| address.to_canonical());
        let hops = forwarded_for
            .rev()
            .flat_map(|line| line.rsplit(|byte| *byte == b','))
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
fn read_address(text: &[u8]) -> Option<IpAddr> {
    let text = str::from_utf8(text).ok()?.trim();
    let bare = text.trim_start_matches('[').trim_end_matches(']');
    let parsed = bare.parse::<IpAddr>();
    let with_port = || text.parse::<SocketAddr>().map(|address| address.ip());
    parsed
        .or_else(|_| with_port())
        .ok()
        .map(|address| address.to_canonical())
}

/// What one subscriber has: an IPv4 address, or the first 64 bits of an IPv6 address.
#[must_use]
pub fn subscriber(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => IpAddr::V6(Ipv6Addr::from(u128::from(address) >> 64 << 64)),
        address => address,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn proxies(unix: bool) -> TrustedProxies {
        let networks = ["10.0.0.0/8", "fd00::/8"].map(|network| network.parse().unwrap());
        TrustedProxies::new(networks.to_vec(), unix)
    }

    fn client(peer: &str, forwarded_for: &[&[u8]]) -> String {
        let client = proxies(false).client(Some(peer.parse().unwrap()), forwarded_for.iter().copied());
        client.unwrap().to_string()
    }

    #[test]
    fn a_peer_of_a_unix_socket_is_believed_if_it_is_trusted() {
        let client = |unix, forwarded_for: &[&str]| {
            let lines = forwarded_for.iter().map(|line| line.as_bytes());
            let client = proxies(unix).client(None, lines);
            client.map(|address| address.to_string())
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
        assert_eq!(client("203.0.113.9", &[b"198.51.100.1"]), "203.0.113.9");
        assert_eq!(client("10.0.0.1", &[b"198.51.100.1"]), "198.51.100.1");
        assert_eq!(client("::ffff:10.0.0.1", &[b"198.51.100.1"]), "198.51.100.1");
        assert_eq!(client("10.0.0.1", &[]), "10.0.0.1");
    }

    #[test]
    fn what_the_client_wrote_itself_is_not_believed() {
        assert_eq!(
            client("10.0.0.1", &[b"1.1.1.1, 198.51.100.1, 10.0.0.2"]),
            "198.51.100.1"
        );
        assert_eq!(client("10.0.0.1", &[b"1.1.1.1", b"198.51.100.1"]), "198.51.100.1");
        assert_eq!(client("10.0.0.1", &[b"1.1.1.1, nonsense"]), "10.0.0.1");
    }

    #[test]
    fn bytes_that_are_no_text_hide_no_address_that_a_proxy_appended() {
        for forged in [&b"\xe9"[..], b"\x00", b"\xff, 1.1.1.1", b""] {
            let line = [forged, b", 198.51.100.1"].concat();
            assert_eq!(client("10.0.0.1", &[b"1.1.1.1", &line]), "198.51.100.1");
        }
        assert_eq!(client("10.0.0.1", &[b"1.1.1.1", b"\xe9"]), "10.0.0.1");
    }

    #[test]
    fn addresses_are_read_as_proxies_write_them() {
        assert_eq!(client("10.0.0.1", &[b"198.51.100.1:4711"]), "198.51.100.1");
        assert_eq!(client("10.0.0.1", &[b"[2001:db8::1]:4711"]), "2001:db8::1");
        assert_eq!(
            client("fd00::1", &[b"2001:db8:1:2:3:4:5:6"]),
            "2001:db8:1:2:3:4:5:6"
        );
    }

    #[test]
    fn a_subscriber_has_64_bits_of_an_address() {
        for (address, of) in [
            ("198.51.100.1", "198.51.100.1"),
            ("::ffff:198.51.100.1", "198.51.100.1"),
            ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::"),
        ] {
            let address: IpAddr = address.parse().unwrap();
            assert_eq!(subscriber(address).to_string(), of);
        }
    }
}
