//! The limits of keys, of projects and master keys alike.

use crate::parameters::read_instant;
use crate::schema::{AnyTime, Nullable, Time, Word};
use audit_app::KeyChange;
use audit_domain::{Fields, KeyLimits, KeyScope, Network};
use schemars::JsonSchema;
use serde::Serialize;

/// What limits a new key.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "describes what is read")]
pub(super) struct LimitsInput {
    /// When the key expires. By default it does not.
    #[schemars(extend("x-additive" = true))]
    expires_at: Option<AnyTime>,
    /// What the key may do. By default everything that its type may.
    #[schemars(length(min = 1, max = KeyScope::ALL.len()), extend("x-additive" = true))]
    scopes: Option<Vec<Word<KeyScope>>>,
    /// Networks such as `10.0.0.0/8`, or addresses, from which the key may be used. By default all.
    #[schemars(length(min = 1, max = KeyLimits::NETWORKS_MAX), extend("x-additive" = true))]
    networks: Option<Vec<String>>,
}

/// Networks of a key.
#[derive(JsonSchema)]
#[schemars(inline)]
#[expect(dead_code, reason = "describes what is read")]
pub(super) struct NetworkList(#[schemars(length(min = 1, max = KeyLimits::NETWORKS_MAX))] Vec<String>);

/// What can be changed of the limits of a key.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "describes what is read")]
pub(super) struct LimitsChangeInput {
    /// When the key expires; `null` for never.
    expires_at: Option<Nullable<AnyTime>>,
    /// Networks such as `10.0.0.0/8`, or addresses, from which the key may be used; `null` for everywhere.
    networks: Option<Nullable<NetworkList>>,
}

/// The limits of a key.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct LimitsBody {
    /// `null` for a key that does not expire.
    #[schemars(with = "Option<Time>", extend("x-additive" = true))]
    expires_at: Option<String>,
    /// `null` for everything that a key of its type may do.
    #[schemars(with = "Option<Vec<Word<KeyScope>>>", extend("x-additive" = true))]
    scopes: Option<Vec<&'static str>>,
    /// `null` for everywhere.
    #[schemars(extend("x-additive" = true))]
    networks: Option<Vec<String>>,
}

impl From<KeyLimits> for LimitsBody {
    fn from(limits: KeyLimits) -> Self {
        let texts = |networks: Vec<Network>| networks.iter().map(ToString::to_string).collect();
        Self {
            expires_at: limits.expires_at.map(|time| time.to_string()),
            scopes: limits
                .scopes
                .map(|scopes| scopes.iter().map(KeyScope::as_str).collect()),
            networks: limits.networks.map(texts),
        }
    }
}

/// The limits of a new key.
pub(super) fn read_limits(fields: &mut Fields<'_>) -> KeyLimits {
    let expires_at = read_instant(fields, "expires_at");
    // An empty list would limit nothing or everything, depending on who reads it.
    let scopes = fields.optional_filled_list::<KeyScope>("scopes", KeyScope::ALL.len());
    KeyLimits {
        expires_at,
        scopes: scopes.map(FromIterator::from_iter),
        networks: read_networks(fields),
    }
}

fn read_networks(fields: &mut Fields<'_>) -> Option<Vec<Network>> {
    fields.optional_filled_list("networks", KeyLimits::NETWORKS_MAX)
}

/// A change of the limits of a key, without its name.
pub(super) fn read_limits_change(fields: &mut Fields<'_>) -> KeyChange {
    let expires_at = match fields.take_null("expires_at") {
        true => Some(None),
        false => read_instant(fields, "expires_at").map(Some),
    };
    let networks = match fields.take_null("networks") {
        true => Some(None),
        false => read_networks(fields).map(Some),
    };
    KeyChange {
        name: None,
        expires_at,
        networks,
    }
}
