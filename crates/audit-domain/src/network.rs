//! IP addresses and networks of them.

use ipnet::{IpNet, Ipv4Net};
use std::net::IpAddr;
use std::str::FromStr;

/// The address that a text is; `None` if it is none. An IPv4 address written as IPv6, such as `::ffff:203.0.113.7` (RFC 4291, section
/// 2.5.5.2), is the IPv4 address.
pub fn read_address(text: &str) -> Option<IpAddr> {
    text.parse::<IpAddr>().ok().map(|address| address.to_canonical())
}

/// A network in CIDR notation (RFC 4632, RFC 4291), or a single address. Bits of the address behind the prefix do not count:
/// `203.0.113.7/24` is `203.0.113.0/24`. A network of IPv4 addresses written as IPv6 is the network of IPv4.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Network(IpNet);

/// The text is no network.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be a network such as 10.0.0.0/8, or an address")]
pub struct NetworkError;

impl Network {
    /// Bits of an IPv6 address before the IPv4 address that it is.
    const MAPPED_PREFIX_BITS: u8 = 96;

    /// Whether all of another network is in it.
    #[must_use]
    pub fn includes(&self, other: &Self) -> bool {
        self.0.contains(&other.0)
    }

    /// Whether the address is in it. An IPv4 address written as IPv6 counts as IPv4.
    #[must_use]
    pub fn contains(&self, address: IpAddr) -> bool {
        self.0.contains(&address.to_canonical())
    }

    /// The first address.
    #[must_use]
    pub fn first(&self) -> IpAddr {
        self.0.network()
    }

    /// The number of bits that all its addresses share.
    #[must_use]
    pub fn prefix_bits(&self) -> u8 {
        self.0.prefix_len()
    }

    /// Whether it is one address.
    #[must_use]
    pub fn is_address(&self) -> bool {
        self.0.prefix_len() == self.0.max_prefix_len()
    }
}

impl FromStr for Network {
    type Err = NetworkError;

    fn from_str(text: &str) -> Result<Self, NetworkError> {
        let single = || read_address(text).map(IpNet::from);
        let network = text.parse::<IpNet>().ok().or_else(single).ok_or(NetworkError)?;
        let network = network.trunc();
        let IpNet::V6(mapped) = network else {
            return Ok(Self(network));
        };
        let address = mapped.addr().to_ipv4_mapped();
        let bits = mapped.prefix_len().checked_sub(Self::MAPPED_PREFIX_BITS);
        let of_ipv4 = address
            .zip(bits)
            .and_then(|(address, bits)| Ipv4Net::new(address, bits).ok());
        Ok(Self(of_ipv4.map_or(network, IpNet::from)))
    }
}

impl std::fmt::Display for Network {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(formatter)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_network_has_the_addresses_that_begin_like_it() {
        for (network, inside, outside) in [
            ("203.0.113.0/24", "203.0.113.255", "203.0.112.255"),
            ("203.0.113.7", "203.0.113.7", "203.0.113.8"),
            ("203.0.113.7/31", "203.0.113.6", "203.0.113.8"),
            ("0.0.0.0/0", "255.255.255.255", "::"),
            ("::/0", "2001:db8::1", "0.0.0.1"),
            ("2001:DB8:0::/33", "2001:db8:7fff::1", "2001:db8:8000::"),
            ("2001:db8::1/128", "2001:db8:0:0::1", "2001:db8::2"),
            ("::ffff:203.0.113.0/120", "203.0.113.9", "203.0.114.0"),
            ("203.0.113.9", "::ffff:203.0.113.9", "::203.0.113.9"),
        ] {
            let network: Network = network.parse().unwrap();
            let has = |text| network.contains(read_address(text).unwrap());
            assert_eq!((has(inside), has(outside)), (true, false), "{network}");
        }
    }

    #[test]
    fn equal_networks_have_one_text() {
        for (text, canonical) in [
            ("203.0.113.77/24", "203.0.113.0/24"),
            ("203.0.113.7", "203.0.113.7/32"),
            ("::FFFF:cb00:7107", "203.0.113.7/32"),
            ("::ffff:203.0.113.7/128", "203.0.113.7/32"),
            ("::ffff:0:0/96", "0.0.0.0/0"),
            ("::ffff:0:0/95", "::fffe:0:0/95"),
            ("2001:0db8::0001/32", "2001:db8::/32"),
        ] {
            let network: Network = text.parse().unwrap();
            assert_eq!(network.to_string(), canonical, "{text}");
            assert_eq!(canonical.parse(), Ok(network), "{text}");
        }
    }

    #[test]
    fn other_texts_are_no_networks() {
        for text in [
            "",
            "/8",
            "10.0.0.0/",
            "10.0.0.0/33",
            "10.0.0.0/+8",
            "10.0.0.0/8/8",
            "10.0.0/8",
            "10.0.0.0/8 ",
            "10.0.0.0/255.0.0.0",
            "::/129",
            "fe80::1%eth0",
            "010.0.0.1",
            "example.com",
        ] {
            assert_eq!(text.parse::<Network>(), Err(NetworkError), "{text}");
        }
    }
}
