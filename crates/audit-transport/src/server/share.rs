//! The connections of all clients, and the share of each address.

use audit_admission::{Budget, Held, subscriber};
use std::net::{IpAddr, Ipv6Addr};
use std::sync::Arc;

/// Connections of all addresses together, at most. An idle one costs about 20 KiB.
const CONNECTIONS_MAX: usize = 16_384;
/// Open files that are kept for the database, the log and outgoing connections.
const OTHER_FILES: usize = 512;

/// The connections that are open.
#[derive(Clone)]
pub struct Connections {
    budget: Budget<IpAddr>,
    /// Proxies, behind which all clients have one address.
    is_exempt: Arc<dyn Fn(Option<IpAddr>) -> bool + Send + Sync>,
}

/// One connection of an address. It counts until it is dropped; that of a proxy does not.
pub(super) struct Slot(#[expect(dead_code, reason = "counts until it is dropped")] Option<Held<IpAddr>>);

impl Connections {
    /// At most so many; those of addresses that `is_exempt` names do not count.
    pub fn new(most: usize, is_exempt: impl Fn(Option<IpAddr>) -> bool + Send + Sync + 'static) -> Self {
        Self {
            budget: Budget::new(most),
            is_exempt: Arc::new(is_exempt),
        }
    }

    /// As many as the limit of open files allows.
    pub fn within(
        open_files_max: Option<u64>,
        is_exempt: impl Fn(Option<IpAddr>) -> bool + Send + Sync + 'static,
    ) -> Self {
        let files = open_files_max.map_or(usize::MAX, |files| usize::try_from(files).unwrap_or(usize::MAX));
        // A limit that leaves almost nothing is shared by halves.
        let most = files.saturating_sub(OTHER_FILES).max(files / 2);
        Self::new(most.min(CONNECTIONS_MAX), is_exempt)
    }

    /// A slot for a connection from `address`, or from a Unix socket, which counts as one address; `None` if the address has
    /// its share.
    pub(super) fn admit(&self, address: Option<IpAddr>) -> Option<Slot> {
        let address = address.map(|address| address.to_canonical());
        if (self.is_exempt)(address) {
            return Some(Slot(None));
        }
        let address = address.unwrap_or(IpAddr::V6(Ipv6Addr::UNSPECIFIED));
        let mut held = self.budget.hold(subscriber(address));
        held.grow(1).then_some(Slot(Some(held)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn admitted(connections: &Connections, address: &str) -> Vec<Slot> {
        let address = Some(address.parse().unwrap());
        std::iter::from_fn(|| connections.admit(address)).collect()
    }

    #[test]
    fn an_address_with_its_share_is_refused_and_another_one_is_not() {
        let connections = Connections::new(300, |_| false);
        let first = admitted(&connections, "192.0.2.1");
        assert_eq!(first.len(), 200);
        assert_eq!(admitted(&connections, "::ffff:192.0.2.1").len(), 0);
        let second = admitted(&connections, "2001:db8::1");
        assert_eq!(second.len(), 66);
        assert_eq!(
            admitted(&connections, "2001:db8::2").len(),
            0,
            "the same subscriber"
        );
        assert!(!admitted(&connections, "2001:db8:0:1::1").is_empty());
        drop(first);
        assert!(!admitted(&connections, "192.0.2.1").is_empty());
    }

    #[test]
    fn proxies_are_exempt() {
        let proxy: Option<IpAddr> = Some("10.0.0.1".parse().unwrap());
        let connections = Connections::new(3, move |address| address == proxy);
        let slots: Vec<_> = (0..100).map(|_| connections.admit(proxy).unwrap()).collect();
        assert_eq!(admitted(&connections, "192.0.2.1").len(), 2);
        drop(slots);
    }

    #[test]
    fn files_are_left_for_the_rest_of_the_server() {
        for (files, most) in [
            (Some(256), 128),
            (Some(1_024), 512),
            (Some(4_096), 3_584),
            (Some(1 << 20), CONNECTIONS_MAX),
            (None, CONNECTIONS_MAX),
        ] {
            let connections = Connections::within(files, |_| false);
            assert_eq!(
                admitted(&connections, "192.0.2.1").len(),
                most * 2 / 3,
                "{files:?}"
            );
        }
    }
}
