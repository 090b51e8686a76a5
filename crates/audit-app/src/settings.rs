//! What the operator has decided.

use crate::streams::StreamLimits;
use audit_domain::{DigestKey, Plan};
use audit_redact::HashKey;
use audit_webhooks::{AddressPolicy, EncryptionKey};

/// What the operator has decided.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Keys the hashes that redaction writes, so that short secrets cannot be guessed from them.
    pub hash_key: Option<HashKey>,
    /// Keys the digests by which repeats are told from conflicts.
    pub digest_key: Option<DigestKey>,
    /// Where webhooks may lead.
    pub webhook_addresses: AddressPolicy,
    /// Seals the secrets of webhooks in the database.
    pub encryption_key: Option<EncryptionKey>,
    /// What anonymous streams may take up.
    pub stream_limits: StreamLimits,
    /// Events a day on the free plan; `None` for no limit.
    pub daily_events_max_free: Option<u64>,
    /// Events a day on the pro plan; `None` for no limit.
    pub daily_events_max_pro: Option<u64>,
    /// Events a day on the enterprise plan; `None` for no limit.
    pub daily_events_max_enterprise: Option<u64>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            hash_key: None,
            digest_key: None,
            webhook_addresses: AddressPolicy::Public,
            encryption_key: None,
            stream_limits: StreamLimits::default(),
            daily_events_max_free: Some(1_000),
            daily_events_max_pro: Some(1_000_000),
            daily_events_max_enterprise: None,
        }
    }
}

impl Settings {
    /// Events a project of this plan may store on one UTC day.
    pub fn daily_events_max(&self, plan: Plan) -> Option<u64> {
        match plan {
            Plan::Free => self.daily_events_max_free,
            Plan::Pro => self.daily_events_max_pro,
            Plan::Enterprise => self.daily_events_max_enterprise,
        }
    }
}
