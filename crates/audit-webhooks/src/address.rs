//! The addresses that a webhook may reach.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The addresses that webhooks may reach. The operator configures the policy for the whole service.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum AddressPolicy {
    /// Only addresses of the public internet: see [`is_public`].
    #[default]
    Public,
    /// Every address, for receivers in the operator's own network.
    AllowPrivate,
}

impl AddressPolicy {
    /// Whether a webhook may reach `address`.
    pub fn allows(self, address: IpAddr) -> bool {
        match self {
            Self::Public => is_public(address),
            Self::AllowPrivate => true,
        }
    }
}

/// IPv4 ranges that are not public, as address and prefix length in bits: the IANA IPv4 Special-Purpose Address Registry
/// (RFC 6890 and updates), multicast and reserved ranges.
const SPECIAL_V4: [(Ipv4Addr, u32); 15] = [
    (Ipv4Addr::new(0, 0, 0, 0), 8), // this network; many systems take 0.0.0.0 for the loopback
    (Ipv4Addr::new(10, 0, 0, 0), 8), // private
    (Ipv4Addr::new(100, 64, 0, 0), 10), // shared behind a provider's translation
    (Ipv4Addr::new(127, 0, 0, 0), 8), // loopback
    (Ipv4Addr::new(169, 254, 0, 0), 16), // link-local, with the metadata services of clouds
    (Ipv4Addr::new(172, 16, 0, 0), 12), // private
    (Ipv4Addr::new(192, 0, 0, 0), 24), // protocol assignments
    (Ipv4Addr::new(192, 0, 2, 0), 24), // documentation
    (Ipv4Addr::new(192, 88, 99, 0), 24), // 6to4 relays, deprecated
    (Ipv4Addr::new(192, 168, 0, 0), 16), // private
    (Ipv4Addr::new(198, 18, 0, 0), 15), // benchmarks
    (Ipv4Addr::new(198, 51, 100, 0), 24), // documentation
    (Ipv4Addr::new(203, 0, 113, 0), 24), // documentation
    (Ipv4Addr::new(224, 0, 0, 0), 4), // multicast
    (Ipv4Addr::new(240, 0, 0, 0), 4), // reserved, with the broadcast address
];

/// IPv6 ranges that are not public: the IANA IPv6 Special-Purpose Address Registry. Ranges that embed IPv4 addresses are
/// refused completely, because a translator on the path decides what the embedded address means.
const SPECIAL_V6: [(Ipv6Addr, u32); 14] = [
    (Ipv6Addr::new(0, 0, 0, 0, 0, 0, 0, 0), 8), // unspecified, loopback, IPv4 mapped and compatible
    (Ipv6Addr::new(0x64, 0xff9b, 0, 0, 0, 0, 0, 0), 96), // translation to IPv4
    (Ipv6Addr::new(0x64, 0xff9b, 1, 0, 0, 0, 0, 0), 48), // translation to IPv4, local
    (Ipv6Addr::new(0x100, 0, 0, 0, 0, 0, 0, 0), 64), // discard
    (Ipv6Addr::new(0x100, 0, 0, 1, 0, 0, 0, 0), 64), // dummy addresses of RFC 9780
    (Ipv6Addr::new(0x2001, 0, 0, 0, 0, 0, 0, 0), 23), // protocol assignments, Teredo among them
    (Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 0), 32), // documentation
    (Ipv6Addr::new(0x2002, 0, 0, 0, 0, 0, 0, 0), 16), // 6to4
    (Ipv6Addr::new(0x3fff, 0, 0, 0, 0, 0, 0, 0), 20), // documentation
    (Ipv6Addr::new(0x5f00, 0, 0, 0, 0, 0, 0, 0), 16), // segment routing
    (Ipv6Addr::new(0xfc00, 0, 0, 0, 0, 0, 0, 0), 7), // unique local
    (Ipv6Addr::new(0xfe80, 0, 0, 0, 0, 0, 0, 0), 10), // link-local
    (Ipv6Addr::new(0xfec0, 0, 0, 0, 0, 0, 0, 0), 10), // site-local, deprecated
    (Ipv6Addr::new(0xff00, 0, 0, 0, 0, 0, 0, 0), 8), // multicast
];

/// Whether `address` is public: not loopback, private, link-local, multicast, documentation or otherwise special, and not an
/// IPv6 form of an IPv4 address.
pub fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => !SPECIAL_V4.iter().any(|&(network, prefix_bits)| {
            (address.to_bits() ^ network.to_bits()).leading_zeros() >= prefix_bits
        }),
        IpAddr::V6(address) => !SPECIAL_V6.iter().any(|&(network, prefix_bits)| {
            (address.to_bits() ^ network.to_bits()).leading_zeros() >= prefix_bits
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// First and last address of each range, and whether the addresses directly before and after it are public. Written out,
    /// so that the test does not repeat an error in a prefix length.
    const RANGES: [(&str, &str, bool, bool); 29] = [
        ("0.0.0.0", "0.255.255.255", false, true),
        ("10.0.0.0", "10.255.255.255", true, true),
        ("100.64.0.0", "100.127.255.255", true, true),
        ("127.0.0.0", "127.255.255.255", true, true),
        ("169.254.0.0", "169.254.255.255", true, true),
        ("172.16.0.0", "172.31.255.255", true, true),
        ("192.0.0.0", "192.0.0.255", true, true),
        ("192.0.2.0", "192.0.2.255", true, true),
        ("192.88.99.0", "192.88.99.255", true, true),
        ("192.168.0.0", "192.168.255.255", true, true),
        ("198.18.0.0", "198.19.255.255", true, true),
        ("198.51.100.0", "198.51.100.255", true, true),
        ("203.0.113.0", "203.0.113.255", true, true),
        // One reserved range follows the other, and nothing follows the last.
        ("224.0.0.0", "239.255.255.255", true, false),
        ("240.0.0.0", "255.255.255.255", false, false),
        // ::/8 is followed by the range for discarding; both ranges for translation lie in it.
        ("::", "ff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", false, false),
        ("64:ff9b::", "64:ff9b::ffff:ffff", false, false),
        ("64:ff9b:1::", "64:ff9b:1:ffff:ffff:ffff:ffff:ffff", false, false),
        ("100::", "100::ffff:ffff:ffff:ffff", false, false),
        ("100:0:0:1::", "100::1:ffff:ffff:ffff:ffff", false, true),
        ("2001::", "2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff", true, true),
        ("2001:db8::", "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff", true, true),
        ("2002::", "2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff", true, true),
        ("3fff::", "3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff", true, true),
        ("5f00::", "5f00:ffff:ffff:ffff:ffff:ffff:ffff:ffff", true, true),
        ("fc00::", "fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", true, true),
        ("fe80::", "febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff", true, false),
        ("fec0::", "feff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", false, false),
        ("ff00::", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", false, false),
    ];

    /// The address `steps` further on, or `None` past the end of all addresses.
    fn moved(address: IpAddr, steps: i32) -> Option<IpAddr> {
        match address {
            IpAddr::V4(address) => address
                .to_bits()
                .checked_add_signed(steps)
                .map(|bits| Ipv4Addr::from_bits(bits).into()),
            IpAddr::V6(address) => address
                .to_bits()
                .checked_add_signed(steps.into())
                .map(|bits| Ipv6Addr::from_bits(bits).into()),
        }
    }

    #[test]
    fn every_special_range_has_its_exact_bounds() {
        for (first, last, before_is_public, after_is_public) in RANGES {
            let (first, last): (IpAddr, IpAddr) = (first.parse().unwrap(), last.parse().unwrap());
            assert!(!is_public(first), "{first}");
            assert!(!is_public(last), "{last}");
            let before = moved(first, -1);
            assert_eq!(before.is_some_and(is_public), before_is_public, "before {first}");
            let after = moved(last, 1);
            assert_eq!(after.is_some_and(is_public), after_is_public, "after {last}");
        }
        assert_eq!(RANGES.len(), SPECIAL_V4.len() + SPECIAL_V6.len());
    }

    #[test]
    fn well_known_addresses_are_classified() {
        for public in [
            "1.1.1.1",
            "8.8.8.8",
            "93.184.215.14",
            "2606:4700:4700::1111",
            "2a00:1450:4001::",
        ] {
            assert!(is_public(public.parse().unwrap()), "{public}");
        }
        for special in [
            "127.0.0.1",
            "169.254.169.254",
            "255.255.255.255",
            "::1",
            "::ffff:8.8.8.8",
            "::8.8.8.8",
            "64:ff9b::808:808",
            "2002:7f00:1::",
            "fd00:ec2::254",
        ] {
            let special = special.parse().unwrap();
            assert!(!is_public(special), "{special}");
            assert!(!AddressPolicy::Public.allows(special), "{special}");
            assert!(AddressPolicy::AllowPrivate.allows(special), "{special}");
        }
        assert_eq!(AddressPolicy::default(), AddressPolicy::Public);
    }

    proptest! {
        #[test]
        fn an_address_is_special_exactly_within_a_range(bits in any::<u32>(), wide in any::<u128>()) {
            for address in [IpAddr::from(Ipv4Addr::from_bits(bits)), Ipv6Addr::from_bits(wide).into()] {
                let within = RANGES.iter().any(|(first, last, ..)| {
                    let (first, last): (IpAddr, IpAddr) = (first.parse().unwrap(), last.parse().unwrap());
                    first.is_ipv4() == address.is_ipv4() && first <= address && address <= last
                });
                prop_assert_eq!(is_public(address), !within, "{}", address);
            }
        }
    }
}
