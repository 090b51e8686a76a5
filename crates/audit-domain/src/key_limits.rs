//! What limits a key besides its kind: scopes, networks, an end.

use crate::{Network, Timestamp, words};
use std::net::IpAddr;

words! {
    /// Something that a key may do. A key without a list of scopes may do everything that its kind may.
    pub enum KeyScope {
        /// Send events.
        EventsWrite = "events:write",
        /// Read events, the feed, exports, the log and its proofs.
        EventsRead = "events:read",
        /// Read and change alerts, alert rules and webhooks.
        Alerts = "alerts",
        /// Make viewer tokens, which read the events of one tenant.
        ViewerTokens = "viewer-tokens",
        /// Everything else: keys, projects, redaction rules, viewer tiers, claims of streams.
        Admin = "admin",
    }
}

/// A set of scopes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyScopes(u8);

impl KeyScopes {
    /// All scopes, those of later versions included.
    pub const ALL: Self = Self(u8::MAX);

    /// Whether the scope is among them.
    #[must_use]
    pub const fn contain(self, scope: KeyScope) -> bool {
        self.0 & Self::bit(scope) != 0
    }

    const fn bit(scope: KeyScope) -> u8 {
        1 << scope as u8
    }

    /// The scopes, in the order of [`KeyScope::ALL`].
    pub fn iter(self) -> impl Iterator<Item = KeyScope> {
        KeyScope::ALL
            .iter()
            .copied()
            .filter(move |scope| self.contain(*scope))
    }
}

impl FromIterator<KeyScope> for KeyScopes {
    fn from_iter<I: IntoIterator<Item = KeyScope>>(scopes: I) -> Self {
        Self(scopes.into_iter().fold(0, |bits, scope| bits | Self::bit(scope)))
    }
}

/// What limits a key besides its kind. The default limits nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeyLimits {
    /// From this time on, the key is not valid.
    pub expires_at: Option<Timestamp>,
    /// What the key may do; `None` for everything that its kind may.
    pub scopes: Option<KeyScopes>,
    /// Where the key may be used from; `None` for everywhere.
    pub networks: Option<Vec<Network>>,
}

/// A limit of a key that is wider than that of the key which makes or changes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WiderLimit {
    /// `expires_at`.
    #[error("must not be later than that of the key that makes or changes it")]
    ExpiresAt,
    /// `networks`.
    #[error("must be within those of the key that makes or changes it")]
    Networks,
}

impl WiderLimit {
    /// The field.
    #[must_use]
    pub const fn field(self) -> &'static str {
        match self {
            Self::ExpiresAt => "expires_at",
            Self::Networks => "networks",
        }
    }
}

impl KeyLimits {
    /// The maximum number of networks.
    pub const NETWORKS_MAX: usize = 32;

    /// The scopes, or all.
    #[must_use]
    pub fn scopes(&self) -> KeyScopes {
        self.scopes.unwrap_or(KeyScopes::ALL)
    }

    /// These limits for a key that a key with the limits `maker` makes: a key is used from no other networks and for no longer than the
    /// one that made it. What is not limited gets the limits of the maker.
    ///
    /// # Errors
    /// [`WiderLimit`] names the limit that is wider.
    pub fn within(self, maker: &Self) -> Result<Self, WiderLimit> {
        let is_later = |end: Timestamp| maker.expires_at.is_some_and(|last| end > last);
        if self.expires_at.is_some_and(is_later) {
            return Err(WiderLimit::ExpiresAt);
        }
        let networks = match (self.networks, &maker.networks) {
            (Some(own), Some(outer)) => {
                let is_inside = |network: &Network| outer.iter().any(|outer| outer.includes(network));
                if !own.iter().all(is_inside) {
                    return Err(WiderLimit::Networks);
                }
                Some(own)
            }
            (own, outer) => own.or_else(|| outer.clone()),
        };
        Ok(Self {
            expires_at: self.expires_at.or(maker.expires_at),
            networks,
            ..self
        })
    }

    /// Fails unless a key with these limits is used from no other networks and for no longer than one with the limits `outer`.
    ///
    /// # Errors
    /// [`WiderLimit`] names the limit that is wider.
    pub fn check_within(&self, outer: &Self) -> Result<(), WiderLimit> {
        let within = self.clone().within(outer)?;
        if within.expires_at != self.expires_at {
            return Err(WiderLimit::ExpiresAt);
        }
        match within.networks == self.networks {
            true => Ok(()),
            false => Err(WiderLimit::Networks),
        }
    }

    /// Whether the key has expired.
    #[must_use]
    pub fn have_expired(&self, now: Timestamp) -> bool {
        self.expires_at.is_some_and(|end| end <= now)
    }

    /// Whether the key may be used from this address. Without an address, it may if it may be used from everywhere.
    #[must_use]
    pub fn allow_from(&self, address: Option<IpAddr>) -> bool {
        match (&self.networks, address) {
            (None, _) => true,
            (Some(_), None) => false,
            (Some(networks), Some(address)) => networks.iter().any(|network| network.contains(address)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn networks(texts: &[&str]) -> KeyLimits {
        KeyLimits {
            networks: Some(texts.iter().map(|text| text.parse().unwrap()).collect()),
            ..KeyLimits::default()
        }
    }

    #[test]
    fn a_set_of_scopes_has_what_it_was_made_of() {
        let some: KeyScopes = [KeyScope::Alerts, KeyScope::EventsWrite].into_iter().collect();
        assert_eq!(
            some.iter().collect::<Vec<_>>(),
            [KeyScope::EventsWrite, KeyScope::Alerts]
        );
        for scope in KeyScope::ALL {
            assert!(KeyScopes::ALL.contain(*scope));
            let one: KeyScopes = [*scope].into_iter().collect();
            assert_eq!(one.iter().collect::<Vec<_>>(), [*scope]);
        }
        assert!(!some.contain(KeyScope::Admin));
    }

    #[test]
    fn a_key_is_used_from_its_networks_only() {
        let limits = networks(&["10.1.2.3/8", "192.0.2.7", "2001:db8::/32"]);
        for (address, is_allowed) in [
            ("10.200.0.1", true),
            ("::ffff:10.0.0.1", true),
            ("192.0.2.7", true),
            ("192.0.2.8", false),
            ("2001:db8:1::1", true),
            ("2001:db9::1", false),
            ("::1", false),
        ] {
            assert_eq!(limits.allow_from(address.parse().ok()), is_allowed, "{address}");
        }
        assert!(!limits.allow_from(None));
        assert!(KeyLimits::default().allow_from(None));
        assert_eq!(limits.networks.unwrap()[0].to_string(), "10.0.0.0/8");
    }

    #[test]
    fn a_key_is_no_wider_than_the_one_that_makes_it() {
        let end = |micros| KeyLimits {
            expires_at: Some(Timestamp::from_micros(micros)),
            ..KeyLimits::default()
        };
        let maker = KeyLimits {
            expires_at: Some(Timestamp::from_micros(5)),
            ..networks(&["10.0.0.0/8", "2001:db8::/32"])
        };
        assert_eq!(KeyLimits::default().within(&maker), Ok(maker.clone()));
        assert_eq!(end(6).within(&maker), Err(WiderLimit::ExpiresAt));
        assert_eq!(end(5).within(&maker).unwrap().networks, maker.networks);
        let narrow = networks(&["10.1.0.0/16", "2001:db8::1"]);
        assert_eq!(narrow.clone().within(&maker).unwrap().networks, narrow.networks);
        for wide in ["10.0.0.0/7", "192.0.2.7", "::/0"] {
            assert_eq!(
                networks(&[wide]).within(&maker),
                Err(WiderLimit::Networks),
                "{wide}"
            );
        }
        assert_eq!(narrow.clone().within(&KeyLimits::default()), Ok(narrow));
    }

    #[test]
    fn a_limit_that_another_key_has_must_not_be_missing() {
        let limits = |end: Option<i64>, texts: &[&str]| KeyLimits {
            expires_at: end.map(Timestamp::from_micros),
            networks: networks(texts).networks.filter(|networks| !networks.is_empty()),
            scopes: None,
        };
        let outer = limits(Some(5), &["10.0.0.0/8"]);
        for (inner, outcome) in [
            (outer.clone(), Ok(())),
            (limits(Some(4), &["10.1.0.0/16"]), Ok(())),
            (limits(None, &["10.1.0.0/16"]), Err(WiderLimit::ExpiresAt)),
            (limits(Some(6), &["10.1.0.0/16"]), Err(WiderLimit::ExpiresAt)),
            (limits(Some(4), &[]), Err(WiderLimit::Networks)),
            (limits(Some(4), &["192.0.2.7"]), Err(WiderLimit::Networks)),
        ] {
            assert_eq!(inner.check_within(&outer), outcome, "{inner:?}");
            assert_eq!(inner.check_within(&KeyLimits::default()), Ok(()), "{inner:?}");
        }
    }

    #[test]
    fn a_key_is_valid_before_its_end() {
        let end = Timestamp::from_micros(5);
        let limits = KeyLimits {
            expires_at: Some(end),
            ..KeyLimits::default()
        };
        assert!(!limits.have_expired(Timestamp::from_micros(4)));
        assert!(limits.have_expired(end));
        assert!(!KeyLimits::default().have_expired(end));
    }
}
