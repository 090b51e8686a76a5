//! Who sent events: a key, from an address.
//!
//! An event's row has the number of its sender, 8 bytes, and each ledger has a row for each of its senders. The number is computed
//! from key and address, so a writer needs no look-up. The code of the event's row covers it ([`crate::row_code`]), and the content
//! hash does not: it is for the operator, who traces what a leaked key has sent, and no reader of events sees it.

use audit_domain::KeyId;
use std::net::IpAddr;

/// The number of a sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct SenderId(pub(crate) i64);

impl SenderId {
    /// Of a key and a canonical address; `None` where it is not known.
    pub(crate) fn of(key_id: KeyId, address: Option<IpAddr>) -> Self {
        let (v4, v6);
        let octets: &[u8] = match address {
            Some(IpAddr::V4(address)) => {
                v4 = address.octets();
                &v4
            }
            Some(IpAddr::V6(address)) => {
                v6 = address.octets();
                &v6
            }
            None => &[],
        };
        let digest = audit_sha256::digest(&[key_id.as_uuid().as_ref(), octets]);
        let mut first = [0; 8];
        first.copy_from_slice(&digest[..8]);
        Self(i64::from_be_bytes(first))
    }
}

/// A key that events are sent with, and the address of the client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventSender {
    id: SenderId,
    pub(crate) key_id: KeyId,
    pub(crate) address: Option<IpAddr>,
}

impl EventSender {
    /// Of a key and an address; `None` where it is not known.
    pub fn new(key_id: KeyId, address: Option<IpAddr>) -> Self {
        let address = address.map(|address| address.to_canonical());
        Self {
            id: SenderId::of(key_id, address),
            key_id,
            address,
        }
    }

    pub(crate) const fn id(&self) -> SenderId {
        self.id
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(key: u8, address: Option<&str>) -> SenderId {
        let address = address.map(|address| address.parse().unwrap());
        EventSender::new(KeyId::from_random([key; 16]), address).id()
    }

    #[test]
    fn a_sender_is_a_key_and_an_address() {
        let one = id(1, Some("192.0.2.7"));
        assert_eq!(one, id(1, Some("::ffff:192.0.2.7")), "the same address");
        for other in [id(2, Some("192.0.2.7")), id(1, Some("192.0.2.8")), id(1, None)] {
            assert_ne!(one, other);
        }
    }
}
